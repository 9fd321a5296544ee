(* StateGradientChunks.v: the backward pass of gated linear attention and of the delta rule in chunks is that of
   the recurrence.

   StateGradient.v's reverse recurrence goes row by row through every state. A chunk of n rows with the state S_0
   before it and B, the gradient of the state after it, forms none of them. With G the running sum of g,
   D_ts = e^{G_t - G_s}, and, of s <= t, reads_ts = scale q_t . D_ts k_s, of s < t, answers_ts = e_t . D_ts k_s:
     u_t = beta_t (v_t - (e_t o e^{G_t}) S_0 - sum_{s<t} answers_ts u_s), from the first row on;
     du_s = (D_ns k_s) B + sum_{t>=s} reads_ts dy_t - sum_{t>s} answers_ts beta_t du_t, from the last row back;
   then the gradients of q, k, e from S_0, B and the products dy_t . u_s and beta_t du_t . u_s, that of g_t from all
   that crosses row t, and that of S_0. Proved for every length of a chunk, every input and first state, and for
   chunks in any tiling, B handed on from the last chunk to the first: rows' gradients and the first state's are
   those of the reverse recurrence, which StateGradient.v proves to be the derivative.
   Of the C not covered: rounding; shut gates, and factors and states below 2^-96, set to 0; heads that share
   keys (their gradients are added); one gate for all rows (summed over them); that the sums of dg are made in
   two halves of a block (half_bwd, channels_bwd).
   Kernel: state.c (block_bwd, solve_bwd). Tested on floats in test_state.c. *)
From Coq Require Import Reals Lra Lia Arith List FunctionalExtensionality.
From Seqmix Require Import Attention StateGradient.
From Seqmix Require ChunkedDelta.
Import ListNotations.
Open Scope R_scope.

Local Notation matrix := (nat -> nat -> R).

Section Chunk.
Variables (dk dv : nat) (scale : R).
Local Notation after := (StateGradient.after dk).
Local Notation written := (StateGradient.written dk).
Local Notation miss := (StateGradient.miss dk).
Local Notation step := (StateGradient.step dk).
Local Notation at_row := (StateGradient.at_row scale).
Local Notation back_written := (StateGradient.back_written dk scale).
Local Notation back_miss := (StateGradient.back_miss dk scale).
Local Notation before := (StateGradient.before dk scale).
Local Notation carried := (StateGradient.carried dk scale).
Local Notation back_start := (StateGradient.back_start dk scale).
Local Notation reverse := (StateGradient.reverse dk dv scale).

(* ---- A chunk of n rows: no state but S0 before it, no gradient of a state but B after it ---- *)

Definition G (x : rows) (n c : nat) : R := sum n (fun s => g x s c).
Definition decay (x : rows) (t s c : nat) : R := exp (G x (S t) c - G x (S s) c).
Definition from_start (x : rows) (t c : nat) : R := exp (G x (S t) c).
Definition to_end (x : rows) (n s c : nat) : R := exp (G x n c - G x (S s) c).
Definition reads (x : rows) (t s : nat) : R :=
  if s <=? t then sum dk (fun c => scale * q x t c * k x s c * decay x t s c) else 0.
Definition answers (x : rows) (t s : nat) : R :=
  if s <? t then sum dk (fun c => e x t c * k x s c * decay x t s c) else 0.

(* The rows that are written, by forward substitution; column j. *)
Definition u (x : rows) (S0 : matrix) (n j : nat) : nat -> R :=
  ChunkedDelta.forward (fun t s => beta x t * answers x t s)
    (fun t => beta x t * (v x t j - sum dk (fun c => e x t c * from_start x t c * S0 c j))) n.
Definition chunk_miss (x : rows) (S0 : matrix) (n t j : nat) : R :=
  v x t j - sum dk (fun c => e x t c * from_start x t c * S0 c j) - sum t (fun s => answers x t s * u x S0 n j s).
Definition chunk_state (x : rows) (S0 : matrix) (n : nat) : matrix := fun c j =>
  exp (G x n c) * S0 c j + sum n (fun s => k x s c * to_end x n s c * u x S0 n j s).

(* Their gradient, by the same substitution from the last row back. *)
Definition from_behind (dy B : matrix) (x : rows) (n j s : nat) : R :=
  sum dk (fun c => to_end x n s c * k x s c * B c j) + sum n (fun t => reads x t s * dy t j).
Definition du (dy B : matrix) (x : rows) (n j s : nat) : R :=
  ChunkedDelta.forward (fun i i' => answers x (n - 1 - i') (n - 1 - i) * beta x (n - 1 - i'))
    (fun i => from_behind dy B x n j (n - 1 - i)) n (n - 1 - s).
Definition dmiss (dy B : matrix) (x : rows) (n t j : nat) : R := beta x t * du dy B x n j t.

Definition dreads (dy : matrix) (x : rows) (S0 : matrix) (n t s : nat) : R :=
  sum dv (fun j => dy t j * u x S0 n j s).
Definition danswers (dy B : matrix) (x : rows) (S0 : matrix) (n t s : nat) : R :=
  sum dv (fun j => dmiss dy B x n t j * u x S0 n j s).

Definition chunk_row (dy B : matrix) (x : rows) (S0 : matrix) (n t : nat) : gradient :=
  {| of_q := fun c => scale * (sum dv (fun j => from_start x t c * S0 c j * dy t j)
               + sum (S t) (fun s => dreads dy x S0 n t s * decay x t s c * k x s c));
     of_k := fun c => sum dv (fun j => to_end x n t c * B c j * u x S0 n j t)
               + sum n (fun r => if t <=? r then decay x r t c * (scale * q x r c) * dreads dy x S0 n r t else 0)
               - sum n (fun r => if t <? r then decay x r t c * e x r c * danswers dy B x S0 n r t else 0);
     of_e := fun c => - (sum dv (fun j => from_start x t c * S0 c j * dmiss dy B x n t j)
               + sum t (fun s => danswers dy B x S0 n t s * decay x t s c * k x s c));
     of_v := fun j => dmiss dy B x n t j;
     (* what crosses row t: from S0 to B, from rows before it to B, from S0 to its row and those behind, and from
        rows before it to these *)
     of_g := fun c => exp (G x n c) * sum dv (fun j => B c j * S0 c j)
               + sum t (fun s => to_end x n s c * k x s c * sum dv (fun j => B c j * u x S0 n j s))
               + sum n (fun r => if t <=? r then
                   from_start x r c * sum dv (fun j => (scale * q x r c * dy r j - e x r c * dmiss dy B x n r j)
                                                       * S0 c j) else 0)
               + sum n (fun r => if t <=? r then
                   sum t (fun s => decay x r s c * k x s c * (scale * q x r c * dreads dy x S0 n r s
                                                              - e x r c * danswers dy B x S0 n r s)) else 0);
     of_beta := sum dv (fun j => du dy B x n j t * chunk_miss x S0 n t j) |}.
Definition chunk_start (dy B : matrix) (x : rows) (n : nat) : matrix := fun c j =>
  exp (G x n c) * B c j
  + sum n (fun r => from_start x r c * (scale * q x r c * dy r j - e x r c * dmiss dy B x n r j)).

(* ---- The state, unrolled ---- *)

Definition wrote (x : rows) (S0 : matrix) (s j : nat) : R := written x s (after x S0 s) j.

Lemma G_next x n c : G x (S n) c = G x n c + g x n c.
Proof. easy. Qed.

Lemma exp_next x n c a : exp (G x (S n) c - a) = exp (g x n c) * exp (G x n c - a).
Proof. rewrite G_next, <- exp_plus. f_equal. ring. Qed.

Lemma unrolled x S0 n c j :
  after x S0 n c j = exp (G x n c) * S0 c j
  + sum n (fun s => k x s c * exp (G x n c - G x (S s) c) * wrote x S0 s j).
Proof.
  induction n as [| n IH]; [unfold G; simpl; rewrite exp_0; ring |].
  change (after x S0 (S n) c j) with (exp (g x n c) * after x S0 n c j + k x n c * wrote x S0 n j).
  rewrite IH, sum_S. rewrite (Rminus_diag_eq (G x (S n) c)), exp_0 by easy.
  rewrite (sum_ext n (fun s => k x s c * exp (G x (S n) c - G x (S s) c) * wrote x S0 s j)
             (fun s => exp (g x n c) * (k x s c * exp (G x n c - G x (S s) c) * wrote x S0 s j)))
    by (intros s _; rewrite exp_next; ring).
  rewrite sum_scal. replace (exp (G x (S n) c)) with (exp (g x n c) * exp (G x n c))
    by (rewrite <- exp_plus; f_equal; rewrite G_next; ring). ring.
Qed.

Lemma decayed_unrolled x S0 t c j :
  decayed x t (after x S0 t) c j = from_start x t c * S0 c j
  + sum t (fun s => k x s c * decay x t s c * wrote x S0 s j).
Proof.
  unfold decayed. rewrite unrolled, Rmult_plus_distr_l, <- sum_scal. f_equal.
  - unfold from_start. rewrite G_next, exp_plus. ring.
  - apply sum_ext. intros s _. unfold decay. rewrite exp_next. ring.
Qed.

Lemma miss_unrolled x S0 t j :
  miss x t (after x S0 t) j = v x t j - sum dk (fun c => e x t c * from_start x t c * S0 c j)
  - sum t (fun s => answers x t s * wrote x S0 s j).
Proof.
  unfold StateGradient.miss. rewrite (sum_ext dk _ (fun c => e x t c * from_start x t c * S0 c j
    + sum t (fun s => k x s c * decay x t s c * wrote x S0 s j * e x t c)))
    by (intros c _; rewrite decayed_unrolled, sum_scal_r; ring).
  rewrite sum_plus, sum_swap.
  rewrite (sum_ext t (fun s => answers x t s * wrote x S0 s j)
             (fun s => sum dk (fun c => k x s c * decay x t s c * wrote x S0 s j * e x t c))); [ring |].
  intros s Hs. unfold answers. rewrite (proj2 (Nat.ltb_lt s t)) by lia. rewrite <- sum_scal_r.
  apply sum_ext. intros. ring.
Qed.

Lemma u_is_wrote x S0 n j s : (s < n)%nat -> u x S0 n j s = wrote x S0 s j.
Proof.
  apply (ChunkedDelta.one_solution _ _ n (u x S0 n j) (fun s => wrote x S0 s j)
           (ChunkedDelta.forward_solves _ _ n)).
  intros t _. unfold wrote at 1, StateGradient.written. rewrite miss_unrolled.
  rewrite (sum_ext t (fun s => beta x t * answers x t s * wrote x S0 s j)
             (fun s => beta x t * (answers x t s * wrote x S0 s j))) by (intros; ring).
  rewrite sum_scal. ring.
Qed.

(* ---- The state's gradient, unrolled ---- *)

Definition missed (dy B : matrix) (x : rows) (n t j : nat) : R := back_miss dy x t (carried dy x B n t) j.

Lemma missed_last dy B x n j : missed dy B x (S n) n j = back_miss dy x n B j.
Proof. unfold missed. cbn [StateGradient.carried]. now rewrite Nat.eqb_refl. Qed.

Lemma missed_before dy B x n r j : (r < n)%nat -> missed dy B x (S n) r j = missed dy (before dy x n B) x n r j.
Proof.
  intros. unfold missed. cbn [StateGradient.carried]. now rewrite (proj2 (Nat.eqb_neq r n)) by lia.
Qed.

Lemma before_is dy x n B c j : before dy x n B c j =
  exp (g x n c) * (B c j + scale * q x n c * dy n j - e x n c * back_miss dy x n B j).
Proof. reflexivity. Qed.

Lemma before_unrolled dy x c j : forall n B t, (t < n)%nat ->
  before dy x t (carried dy x B n t) c j = exp (G x n c - G x t c) * B c j
  + sum n (fun r => if t <=? r then exp (G x (S r) c - G x t c)
                                    * (scale * q x r c * dy r j - e x r c * missed dy B x n r j) else 0).
Proof.
  induction n as [| n IH]; intros B t Ht; [lia |]. cbn [StateGradient.carried]. rewrite sum_S, missed_last.
  rewrite (proj2 (Nat.leb_le t n)), exp_next by lia. destruct (Nat.eqb_spec t n) as [-> | N].
  - rewrite (sum_0 n) by (intros r Hr; now rewrite (proj2 (Nat.leb_gt n r)) by lia).
    rewrite before_is, (Rminus_diag_eq (G x n c)), exp_0 by easy. ring.
  - rewrite IH, before_is by lia.
    rewrite (sum_ext n _ (fun r => if t <=? r then exp (G x (S r) c - G x t c)
      * (scale * q x r c * dy r j - e x r c * missed dy B x (S n) r j) else 0))
      by (intros r Hr; now rewrite missed_before). ring.
Qed.

Lemma at_row_unrolled dy x c j : forall n B t, (t < n)%nat ->
  at_row dy x t (carried dy x B n t) c j = to_end x n t c * B c j
  + sum n (fun r => if t <=? r then decay x r t c * (scale * q x r c) * dy r j else 0)
  - sum n (fun r => if t <? r then decay x r t c * e x r c * missed dy B x n r j else 0).
Proof.
  unfold to_end. induction n as [| n IH]; intros B t Ht; [lia |]. cbn [StateGradient.carried].
  rewrite !sum_S, missed_last. rewrite (proj2 (Nat.leb_le t n)) by lia. unfold decay at 2 4.
  destruct (Nat.eqb_spec t n) as [-> | N].
  - rewrite !(sum_0 n) by (intros r Hr; (now rewrite (proj2 (Nat.leb_gt n r)) by lia)
                           || (now rewrite (proj2 (Nat.ltb_ge n r)) by lia)).
    rewrite Nat.ltb_irrefl, (Rminus_diag_eq (G x (S n) c)), exp_0 by easy. unfold StateGradient.at_row. ring.
  - rewrite (proj2 (Nat.ltb_lt t n)), IH, before_is, exp_next by lia.
    rewrite (sum_ext n (fun r => if t <? r then decay x r t c * e x r c * missed dy (before dy x n B) x n r j else 0)
      (fun r => if t <? r then decay x r t c * e x r c * missed dy B x (S n) r j else 0))
      by (intros r Hr; now rewrite missed_before). ring.
Qed.

Lemma start_unrolled dy x c j : forall n B,
  back_start dy x B n c j = exp (G x n c) * B c j
  + sum n (fun r => from_start x r c * (scale * q x r c * dy r j - e x r c * missed dy B x n r j)).
Proof.
  induction n as [| n IH]; intros B; [unfold G; simpl; rewrite exp_0; ring |]. cbn [StateGradient.back_start].
  rewrite IH, before_is, sum_S, missed_last.
  rewrite (sum_ext n _ (fun r => from_start x r c * (scale * q x r c * dy r j - e x r c * missed dy B x (S n) r j)))
    by (intros r Hr; now rewrite missed_before).
  change (from_start x n c) with (exp (G x (S n) c)). replace (exp (G x (S n) c)) with (exp (g x n c) * exp (G x n c))
    by (rewrite <- exp_plus; f_equal; rewrite G_next; ring). ring.
Qed.

Definition wrote_back (dy B : matrix) (x : rows) (n s j : nat) : R :=
  back_written dy x s (carried dy x B n s) j.

Lemma wrote_back_unrolled dy B x n s j : (s < n)%nat ->
  wrote_back dy B x n s j = from_behind dy B x n j s
  - sum n (fun r => answers x r s * beta x r * wrote_back dy B x n r j).
Proof.
  intros Hs. unfold wrote_back at 1, StateGradient.back_written, from_behind.
  rewrite (sum_ext dk _ (fun c => to_end x n s c * k x s c * B c j
    + sum n (fun r => (if s <=? r then decay x r s c * (scale * q x r c) * dy r j else 0) * k x s c)
    - sum n (fun r => (if s <? r then decay x r s c * e x r c * missed dy B x n r j else 0) * k x s c)))
    by (intros c _; rewrite at_row_unrolled by easy; rewrite !sum_scal_r; ring).
  rewrite sum_minus, sum_plus, (sum_swap dk n), (sum_swap dk n). f_equal; [f_equal |].
  - apply sum_ext. intros r _. unfold reads. destruct (s <=? r).
    + rewrite <- sum_scal_r. apply sum_ext. intros. ring.
    + rewrite sum_0 by (intros; ring). ring.
  - apply sum_ext. intros r _. unfold answers. destruct (s <? r).
    + rewrite Rmult_assoc, <- sum_scal_r. apply sum_ext. intros. unfold missed, StateGradient.back_miss,
        wrote_back. ring.
    + rewrite sum_0 by (intros; ring). ring.
Qed.

Lemma sum_cut n i f : (i <= n)%nat -> (forall r, (i <= r)%nat -> (r < n)%nat -> f r = 0) -> sum n f = sum i f.
Proof.
  intros H Z. replace n with (i + (n - i))%nat by lia. rewrite sum_app, (sum_0 (n - i)); [ring |].
  intros r Hr. apply Z; lia.
Qed.

Lemma du_is_wrote_back dy B x n j t : (t < n)%nat -> du dy B x n j t = wrote_back dy B x n t j.
Proof.
  intros Ht. unfold du. replace t with (n - 1 - (n - 1 - t))%nat at 2 by lia.
  apply (ChunkedDelta.one_solution _ _ n _ (fun i => wrote_back dy B x n (n - 1 - i) j)
           (ChunkedDelta.forward_solves _ _ n)); [| lia].
  intros i Hi. cbv beta.
  rewrite (wrote_back_unrolled dy B x n (n - 1 - i)) by lia.
  rewrite (sum_rev n), (sum_cut n i); [cbv beta; ring | lia |].
  intros r Hr Hn. unfold answers. rewrite (proj2 (Nat.ltb_ge _ _)) by lia. ring.
Qed.

Lemma dmiss_is_missed dy B x n t j : (t < n)%nat -> dmiss dy B x n t j = missed dy B x n t j.
Proof. intros. unfold dmiss. now rewrite du_is_wrote_back. Qed.
(* ---- A chunk is the reverse recurrence ---- *)

Lemma sum_times n (F : matrix) (y : nat -> R) :
  sum dv (fun j => sum n (fun r => F r j) * y j) = sum n (fun r => sum dv (fun j => F r j * y j)).
Proof.
  rewrite (sum_ext dv _ (fun j => sum n (fun r => F r j * y j))) by (intros; now rewrite sum_scal_r).
  apply sum_swap.
Qed.

Theorem chunk_state_is_recurrence : forall x S0 n c j, chunk_state x S0 n c j = after x S0 n c j.
Proof.
  intros x S0 n c j. rewrite unrolled. unfold chunk_state. f_equal. apply sum_ext. intros s Hs.
  now rewrite u_is_wrote.
Qed.

Theorem chunk_start_is_reverse : forall dy B x n c j, chunk_start dy B x n c j = back_start dy x B n c j.
Proof.
  intros dy B x n c j. rewrite start_unrolled. unfold chunk_start. f_equal. apply sum_ext. intros r Hr.
  now rewrite dmiss_is_missed.
Qed.

Lemma chunk_miss_is_miss x S0 n t j : (t <= n)%nat -> chunk_miss x S0 n t j = miss x t (after x S0 t) j.
Proof.
  intros Ht. rewrite miss_unrolled. unfold chunk_miss. f_equal. apply sum_ext. intros s Hs.
  now rewrite u_is_wrote by lia.
Qed.

Lemma state_of_u x S0 n t c j : (t <= n)%nat -> after x S0 t c j = exp (G x t c) * S0 c j
  + sum t (fun s => k x s c * exp (G x t c - G x (S s) c) * u x S0 n j s).
Proof.
  intros Ht. rewrite unrolled. f_equal. apply sum_ext. intros s Hs. now rewrite u_is_wrote by lia.
Qed.

Lemma before_of_du dy B x n t c j : (t < n)%nat ->
  before dy x t (carried dy x B n t) c j = exp (G x n c - G x t c) * B c j
  + sum n (fun r => if t <=? r then exp (G x (S r) c - G x t c)
                                    * (scale * q x r c * dy r j - e x r c * dmiss dy B x n r j) else 0).
Proof.
  intros Ht. rewrite before_unrolled by easy. f_equal. apply sum_ext. intros r Hr.
  now rewrite dmiss_is_missed.
Qed.

Lemma exp_three a b c : exp (a - b) * exp (b - c) = exp (a - c).
Proof. rewrite <- exp_plus. f_equal. ring. Qed.
Lemma exp_back a b : exp (a - b) * exp b = exp a.
Proof. rewrite <- exp_plus. f_equal. ring. Qed.

(* What crosses row t. *)
Lemma crossing dy B x S0 n t c : (t < n)%nat ->
  sum dv (fun j => before dy x t (carried dy x B n t) c j * after x S0 t c j) =
  of_g (chunk_row dy B x S0 n t) c.
Proof.
  intros Ht. unfold chunk_row. cbn [of_g].
  set (w := fun s j => u x S0 n j s).
  set (b := fun r j => scale * q x r c * dy r j - e x r c * dmiss dy B x n r j).
  rewrite (sum_ext dv _ (fun j =>
    exp (G x n c) * (B c j * S0 c j)
    + sum t (fun s => to_end x n s c * k x s c * w s j) * B c j
    + sum n (fun r => if t <=? r then from_start x r c * b r j else 0) * S0 c j
    + sum n (fun r => if t <=? r then sum t (fun s => decay x r s c * k x s c * (b r j * w s j)) else 0))).
  - rewrite !sum_plus, sum_scal, !sum_times. f_equal; [f_equal; [f_equal |] |].
    + apply sum_ext. intros s Hs. rewrite <- sum_scal. apply sum_ext. intros. unfold w. ring.
    + apply sum_ext. intros r _. destruct (t <=? r); [| apply sum_0; intros; ring].
      rewrite <- sum_scal. apply sum_ext. intros. unfold b. ring.
    + rewrite sum_swap. apply sum_ext. intros r _. destruct (t <=? r); [| now apply sum_0].
      rewrite sum_swap. apply sum_ext. intros s _. rewrite sum_scal. f_equal.
      unfold dreads, danswers. rewrite <- !sum_scal, <- sum_minus. apply sum_ext. intros. unfold b, w. ring.
  - intros j _. rewrite before_of_du, (state_of_u x S0 n t) by lia.
    fold (b : matrix). change (fun r => if t <=? r then exp (G x (S r) c - G x t c)
      * (scale * q x r c * dy r j - e x r c * dmiss dy B x n r j) else 0)
      with (fun r => if t <=? r then exp (G x (S r) c - G x t c) * b r j else 0).
    set (P := sum n (fun r => if t <=? r then exp (G x (S r) c - G x t c) * b r j else 0)).
    set (Q := sum t (fun s => k x s c * exp (G x t c - G x (S s) c) * u x S0 n j s)).
    assert (E1 : sum t (fun s => to_end x n s c * k x s c * w s j) = exp (G x n c - G x t c) * Q).
    { unfold Q. rewrite <- sum_scal. apply sum_ext. intros s _. unfold to_end, w.
      rewrite <- (exp_three (G x n c) (G x t c)). ring. }
    assert (E2 : sum n (fun r => if t <=? r then from_start x r c * b r j else 0) = P * exp (G x t c)).
    { unfold P. rewrite <- sum_scal_r. apply sum_ext. intros r _. destruct (t <=? r); [| ring].
      unfold from_start. rewrite <- (exp_back (G x (S r) c) (G x t c)). ring. }
    assert (E3 : sum n (fun r => if t <=? r then sum t (fun s => decay x r s c * k x s c * (b r j * w s j)) else 0)
                 = P * Q).
    { unfold P. rewrite <- sum_scal_r. apply sum_ext. intros r _. destruct (t <=? r); [| ring].
      unfold Q. rewrite <- sum_scal. apply sum_ext. intros s _. unfold decay, w.
      rewrite <- (exp_three (G x (S r) c) (G x t c)). ring. }
    rewrite E1, E2, E3, <- (exp_back (G x n c) (G x t c)). ring.
Qed.

Theorem chunk_is_reverse : forall dy B x S0 n t, (t < n)%nat ->
  chunk_row dy B x S0 n t = reverse dy B x S0 n t.
Proof.
  intros dy B x S0 n t Ht. unfold StateGradient.reverse, row_gradient, chunk_row at 1.
  f_equal.
  - apply functional_extensionality. intros c. f_equal.
    rewrite (sum_ext dv (fun j => step x t (after x S0 t) c j * dy t j)
               (fun j => from_start x t c * S0 c j * dy t j
                         + sum (S t) (fun s => decay x t s c * k x s c * u x S0 n j s) * dy t j)).
    + rewrite sum_plus, sum_times. f_equal. apply sum_ext. intros s _. unfold dreads.
      rewrite Rmult_assoc, <- sum_scal_r. apply sum_ext. intros. ring.
    + intros j _. change (step x t (after x S0 t) c j) with (after x S0 (S t) c j).
      rewrite (state_of_u x S0 n) by lia. unfold from_start. rewrite Rmult_plus_distr_r. f_equal. f_equal.
      apply sum_ext. intros s _. unfold decay. ring.
  - apply functional_extensionality. intros c.
    rewrite (sum_ext dv (fun j => at_row dy x t (carried dy x B n t) c j * written x t (after x S0 t) j)
      (fun j => to_end x n t c * B c j * u x S0 n j t
        + sum n (fun r => if t <=? r then decay x r t c * (scale * q x r c) * dy r j else 0) * u x S0 n j t
        - sum n (fun r => if t <? r then decay x r t c * e x r c * dmiss dy B x n r j else 0) * u x S0 n j t)).
    + rewrite sum_minus, sum_plus, !sum_times. f_equal; [f_equal |].
      * apply sum_ext. intros r _. destruct (t <=? r); [| symmetry; apply sum_0; intros; ring].
        unfold dreads. rewrite <- sum_scal. apply sum_ext. intros. ring.
      * apply sum_ext. intros r _. destruct (t <? r); [| symmetry; apply sum_0; intros; ring].
        unfold danswers. rewrite <- sum_scal. apply sum_ext. intros. ring.
    + intros j _. change (written x t (after x S0 t) j) with (wrote x S0 t j).
      rewrite <- (u_is_wrote x S0 n), at_row_unrolled by easy.
      rewrite (sum_ext n (fun r => if t <? r then decay x r t c * e x r c * dmiss dy B x n r j else 0)
        (fun r => if t <? r then decay x r t c * e x r c * missed dy B x n r j else 0))
        by (intros r Hr; now rewrite dmiss_is_missed). ring.
  - apply functional_extensionality. intros c. f_equal.
    rewrite (sum_ext dv (fun j => decayed x t (after x S0 t) c j * back_miss dy x t (carried dy x B n t) j)
      (fun j => from_start x t c * S0 c j * dmiss dy B x n t j
        + sum t (fun s => decay x t s c * k x s c * u x S0 n j s) * dmiss dy B x n t j)).
    + rewrite sum_plus, sum_times. f_equal. apply sum_ext. intros s _. unfold danswers.
      rewrite Rmult_assoc, <- sum_scal_r. apply sum_ext. intros. ring.
    + intros j _. change (back_miss dy x t (carried dy x B n t) j) with (missed dy B x n t j).
      rewrite <- dmiss_is_missed, decayed_unrolled, Rmult_plus_distr_r by easy. f_equal. f_equal.
      apply sum_ext. intros s Hs. rewrite (u_is_wrote x S0 n) by lia. ring.
  - apply functional_extensionality. intros j. now rewrite dmiss_is_missed.
  - apply functional_extensionality. intros c.
    change (of_g (chunk_row dy B x S0 n t) c = exp (g x t c) * sum dv (fun j =>
      back_decayed dk scale dy x t (carried dy x B n t) c j * after x S0 t c j)).
    rewrite <- crossing, <- sum_scal by easy. apply sum_ext. intros j _. unfold StateGradient.before. ring.
  - apply sum_ext. intros j _. rewrite du_is_wrote_back, chunk_miss_is_miss by lia. easy.
Qed.

(* ---- Chunks, in any tiling ---- *)

(* From row n on. *)
Definition later (n : nat) (x : rows) : rows :=
  {| q := fun t => q x (n + t); k := fun t => k x (n + t); e := fun t => e x (n + t); v := fun t => v x (n + t);
     g := fun t => g x (n + t); beta := fun t => beta x (n + t) |}%nat.
Definition behind (n : nat) (dy : matrix) : matrix := fun t => dy (n + t)%nat.

Fixpoint chunks_start (dy B : matrix) (x : rows) (chunks : list nat) : matrix :=
  match chunks with
  | [] => B
  | n :: rest => chunk_start dy (chunks_start (behind n dy) B (later n x) rest) x n
  end.
Fixpoint chunks_rows (dy B : matrix) (x : rows) (S0 : matrix) (chunks : list nat) : list gradient :=
  match chunks with
  | [] => []
  | n :: rest => map (chunk_row dy (chunks_start (behind n dy) B (later n x) rest) x S0 n) (seq 0 n)
                 ++ chunks_rows (behind n dy) B (later n x) (chunk_state x S0 n) rest
  end.

Lemma after_in_pieces x S0 m n : after x S0 (m + n) = after (later m x) (after x S0 m) n.
Proof. induction n; [now rewrite Nat.add_0_r |]. rewrite Nat.add_succ_r. simpl. now rewrite IHn. Qed.

Lemma start_in_pieces dy x m : forall n B,
  back_start dy x B (m + n) = back_start dy x (back_start (behind m dy) (later m x) B n) m.
Proof. induction n; intros B; [now rewrite Nat.add_0_r |]. rewrite Nat.add_succ_r. simpl. now rewrite IHn. Qed.

Lemma carried_first dy x m t : (t < m)%nat -> forall n B,
  carried dy x B (m + n) t = carried dy x (back_start (behind m dy) (later m x) B n) m t.
Proof.
  intros Ht. induction n; intros B; [now rewrite Nat.add_0_r |]. rewrite Nat.add_succ_r. simpl.
  rewrite (proj2 (Nat.eqb_neq t (m + n))) by lia. now rewrite IHn.
Qed.

Lemma carried_later dy x m t : forall n B, (t < n)%nat ->
  carried dy x B (m + n) (m + t) = carried (behind m dy) (later m x) B n t.
Proof.
  induction n; intros B Ht; [lia |]. rewrite Nat.add_succ_r. simpl.
  destruct (Nat.eqb_spec t n) as [-> | N]; [now rewrite Nat.eqb_refl |].
  rewrite (proj2 (Nat.eqb_neq (m + t) (m + n))) by lia. rewrite IHn by lia. easy.
Qed.

Theorem chunks_start_is_reverse : forall chunks dy B x,
  chunks_start dy B x chunks = back_start dy x B (list_sum chunks).
Proof.
  induction chunks as [| n rest IH]; intros dy B x; [easy |].
  simpl list_sum. rewrite start_in_pieces, <- IH. cbn [chunks_start].
  apply functional_extensionality. intros c. apply functional_extensionality. intros j.
  apply chunk_start_is_reverse.
Qed.

Theorem chunks_are_reverse : forall chunks dy B x S0,
  chunks_rows dy B x S0 chunks = map (reverse dy B x S0 (list_sum chunks)) (seq 0 (list_sum chunks)).
Proof.
  induction chunks as [| n rest IH]; intros dy B x S0; [easy |].
  simpl list_sum. rewrite seq_app, map_app. cbn [chunks_rows]. rewrite chunks_start_is_reverse. f_equal.
  - apply map_ext_in. intros t Ht. apply in_seq in Ht. rewrite chunk_is_reverse by lia.
    unfold StateGradient.reverse. now rewrite carried_first by lia.
  - replace (chunk_state x S0 n) with (after x S0 n).
    + rewrite IH, (seq_from (0 + n)), map_map. apply map_ext_in. intros t Ht. apply in_seq in Ht.
      unfold StateGradient.reverse. simpl (0 + n)%nat. rewrite carried_later, after_in_pieces by lia. easy.
    + apply functional_extensionality. intros c. apply functional_extensionality. intros j.
      symmetry. apply chunk_state_is_recurrence.
Qed.
End Chunk.
