(* StateGradient.v: the backward pass of gated linear attention and of the delta rule is the derivative of
   their recurrence.

   Over the reals, a head of dk key channels and dv columns: R_t = diag(e^{g_t}) S_{t-1},
   miss_t = v_t - R_t^T e_t, u_t = beta_t miss_t, S_t = R_t + k_t u_t^T, o_t = scale S_t^T q_t. With e = k this
   is ChunkedDelta.v's recurrence, with e = 0 and beta = 1 ChunkedGla.v's (both proved here); the kernel's
   `erase` is e. Given numbers dy_t, the gradient of what is made from the outputs, and B, that of what is made
   from the last state, the reverse recurrence carries B from the last row to the first:
     A_t = B + scale q_t dy_t^T,  du = A_t^T k_t,  dmiss = beta_t du,  dR = A_t - e_t dmiss^T,
     next B = diag(e^{g_t}) dR,   dq_t = scale S_t dy_t,  dk_t = A_t u_t,  de_t = - R_t dmiss,  dv_t = dmiss,
     dbeta_t = du . miss_t,  dg_t = e^{g_t} sum_j dR_j S_{t-1,j}.
   Proved for all lengths, widths, inputs and first states:
   - along any curves of q, k, e, v, g, beta and the first state that have derivatives at a point, the
     derivative of sum_t dy_t . o_t + <B, S_n> there is the sum of these gradients times those derivatives:
     they are the gradient;
   - so entry by entry they are the partial derivatives, written out for a query; for a key that is written
     and erased at (e = k), the sum of both; for one gate for all channels of a row, the sum over channels;
     for the first state.
   That the kernel's chunks compute these gradients: StateGradientChunks.v. Of the C not covered: rounding;
   gates that are shut, e^g = 0; one gate for all rows, whose gradient is summed over them.
   Kernel: state.c (block_bwd). Tested on floats in test_state.c. *)
From Coq Require Import Reals Lra Lia Arith List FunctionalExtensionality.
#[local] Set Warnings "-ambiguous-paths". (* Coquelicot's own *)
From Coquelicot Require Import Coquelicot.
From Seqmix Require Import Attention Derivative.
From Seqmix Require ChunkedDelta ChunkedGla.
Import ListNotations.
Open Scope R_scope.

Local Notation matrix := (nat -> nat -> R).

(* Queries, keys, the keys that are erased at, values, gates as [row][column]; beta by row. *)
Record rows := { q : matrix; k : matrix; e : matrix; v : matrix; g : matrix; beta : nat -> R }.
(* The gradients of one row. *)
Record gradient :=
  { of_q : nat -> R; of_k : nat -> R; of_e : nat -> R; of_v : nat -> R; of_g : nat -> R; of_beta : R }.

Section State.
Variables (dk dv : nat) (scale : R).

(* ---- The recurrence ---- *)

Definition decayed (x : rows) (t : nat) (S : matrix) : matrix := fun c j => exp (g x t c) * S c j.
Definition miss (x : rows) (t : nat) (S : matrix) (j : nat) : R :=
  v x t j - sum dk (fun c => decayed x t S c j * e x t c).
Definition written (x : rows) (t : nat) (S : matrix) (j : nat) : R := beta x t * miss x t S j.
Definition step (x : rows) (t : nat) (S : matrix) : matrix := fun c j =>
  decayed x t S c j + k x t c * written x t S j.
(* The state after rows 0 .. n - 1. *)
Fixpoint after (x : rows) (S0 : matrix) (n : nat) : matrix :=
  match n with O => S0 | S m => step x m (after x S0 m) end.
(* Column j of row t's output, S the state after row t. *)
Definition output (x : rows) (t : nat) (S : matrix) (j : nat) : R :=
  scale * sum dk (fun c => q x t c * S c j).

(* The number whose gradient is taken. *)
Definition inner (B S : matrix) : R := sum dv (fun j => sum dk (fun c => B c j * S c j)).
Definition total (dy B : matrix) (x : rows) (S0 : matrix) (n : nat) : R :=
  sum n (fun t => dot dv (dy t) (output x t (after x S0 (S t)))) + inner B (after x S0 n).

(* ---- The reverse recurrence: B is the gradient of the state after row t as later rows use it ---- *)

Definition at_row (dy : matrix) (x : rows) (t : nat) (B : matrix) : matrix := fun c j =>
  B c j + scale * q x t c * dy t j.
Definition back_written (dy : matrix) (x : rows) (t : nat) (B : matrix) (j : nat) : R :=
  sum dk (fun c => at_row dy x t B c j * k x t c).
Definition back_miss (dy : matrix) (x : rows) (t : nat) (B : matrix) (j : nat) : R :=
  beta x t * back_written dy x t B j.
Definition back_decayed (dy : matrix) (x : rows) (t : nat) (B : matrix) : matrix := fun c j =>
  at_row dy x t B c j - e x t c * back_miss dy x t B j.
Definition before (dy : matrix) (x : rows) (t : nat) (B : matrix) : matrix := fun c j =>
  exp (g x t c) * back_decayed dy x t B c j.
(* Of n rows: what row t finds, and what goes to the first state. *)
Fixpoint carried (dy : matrix) (x : rows) (B : matrix) (n t : nat) : matrix :=
  match n with O => B | S m => if t =? m then B else carried dy x (before dy x m B) m t end.
Fixpoint back_start (dy : matrix) (x : rows) (B : matrix) (n : nat) : matrix :=
  match n with O => B | S m => back_start dy x (before dy x m B) m end.

(* Row t's gradients from the state S before it and from what it finds. *)
Definition row_gradient (dy : matrix) (x : rows) (t : nat) (S B : matrix) : gradient :=
  {| of_q := fun c => scale * sum dv (fun j => step x t S c j * dy t j);
     of_k := fun c => sum dv (fun j => at_row dy x t B c j * written x t S j);
     of_e := fun c => - sum dv (fun j => decayed x t S c j * back_miss dy x t B j);
     of_v := fun j => back_miss dy x t B j;
     of_g := fun c => exp (g x t c) * sum dv (fun j => back_decayed dy x t B c j * S c j);
     of_beta := sum dv (fun j => back_written dy x t B j * miss x t S j) |}.
Definition reverse (dy B : matrix) (x : rows) (S0 : matrix) (n t : nat) : gradient :=
  row_gradient dy x t (after x S0 t) (carried dy x B n t).
(* A row's gradients times the row's derivatives x'. *)
Definition along (d : gradient) (x' : rows) (t : nat) : R :=
  dot dk (of_q d) (q x' t) + dot dk (of_k d) (k x' t) + dot dk (of_e d) (e x' t) + dot dv (of_v d) (v x' t)
  + dot dk (of_g d) (g x' t) + of_beta d * beta x' t.

(* ---- Derivatives along a curve ---- *)

(* The inputs at x have the derivatives x' there, in rows below n. *)
Definition moves (n : nat) (x : R -> rows) (x' : rows) (z : R) : Prop :=
  forall t, (t < n)%nat ->
    (forall c, (c < dk)%nat ->
       is_derive (fun y : R => q (x y) t c) z (q x' t c) /\
       is_derive (fun y : R => k (x y) t c) z (k x' t c) /\
       is_derive (fun y : R => e (x y) t c) z (e x' t c) /\
       is_derive (fun y : R => g (x y) t c) z (g x' t c)) /\
    (forall j, (j < dv)%nat -> is_derive (fun y : R => v (x y) t j) z (v x' t j)) /\
    is_derive (fun y : R => beta (x y) t) z (beta x' t).

Definition decayed' (x x' : rows) (t : nat) (S S' : matrix) : matrix := fun c j =>
  g x' t c * exp (g x t c) * S c j + exp (g x t c) * S' c j.
Definition miss' (x x' : rows) (t : nat) (S S' : matrix) (j : nat) : R :=
  v x' t j - sum dk (fun c => decayed' x x' t S S' c j * e x t c + decayed x t S c j * e x' t c).
Definition written' (x x' : rows) (t : nat) (S S' : matrix) (j : nat) : R :=
  beta x' t * miss x t S j + beta x t * miss' x x' t S S' j.
Definition step' (x x' : rows) (t : nat) (S S' : matrix) : matrix := fun c j =>
  decayed' x x' t S S' c j + (k x' t c * written x t S j + k x t c * written' x x' t S S' j).
Fixpoint after' (x x' : rows) (S0 S0' : matrix) (n : nat) : matrix :=
  match n with O => S0' | S m => step' x x' m (after x S0 m) (after' x x' S0 S0' m) end.

Lemma derive_after n (x : R -> rows) x' (S0 : R -> matrix) S0' z : moves n x x' z ->
  (forall c j, (c < dk)%nat -> (j < dv)%nat -> is_derive (fun y : R => S0 y c j) z (S0' c j)) ->
  forall m, (m <= n)%nat -> forall c j, (c < dk)%nat -> (j < dv)%nat ->
  is_derive (fun y : R => after (x y) (S0 y) m c j) z (after' (x z) x' (S0 z) S0' m c j).
Proof.
  intros M H0. induction m as [| m IH]; intros Hm c j Hc Hj; [now apply H0 |].
  destruct (M m ltac:(lia)) as (Mc & Mv & Mb).
  assert (D : forall c, (c < dk)%nat -> is_derive (fun y : R => decayed (x y) m (after (x y) (S0 y) m) c j) z
            (decayed' (x z) x' m (after (x z) (S0 z) m) (after' (x z) x' (S0 z) S0' m) c j)).
  { intros i Hi. destruct (Mc i Hi) as (_ & _ & _ & Mg). unfold decayed, decayed'.
    apply (derive_times (fun y => exp (g (x y) m i))); [now apply (derive_exp (fun y => g (x y) m i)) |].
    apply IH; (easy || lia). }
  cbn [after after']. unfold step, step'. apply derive_plus; [now apply D |].
  destruct (Mc c Hc) as (_ & Mk & _ & _).
  apply (derive_times (fun y => k (x y) m c)); [exact Mk |]. unfold written, written'.
  apply (derive_times (fun y => beta (x y) m)); [exact Mb |]. unfold miss, miss'.
  apply derive_minus; [now apply Mv |].
  apply (derive_sum dk (fun i y => decayed (x y) m (after (x y) (S0 y) m) i j * e (x y) m i)).
  intros i Hi. destruct (Mc i Hi) as (_ & _ & Me & _).
  apply (derive_times (fun y => decayed (x y) m (after (x y) (S0 y) m) i j)); [now apply D | exact Me].
Qed.

(* ---- One row: what its state's gradient gives to its inputs and to the state before ---- *)

Lemma gathered_over (n m : nat) (F : matrix) (y : nat -> R) :
  sum n (fun c => sum m (fun j => F c j) * y c) = sum m (fun j => sum n (fun c => F c j * y c)).
Proof.
  rewrite (sum_ext n (fun c => sum m (fun j => F c j) * y c) (fun c => sum m (fun j => F c j * y c)))
    by (intros; now rewrite sum_scal_r).
  apply sum_swap.
Qed.

Lemma row_pullback dy x x' t (S S' B : matrix) :
  let d := row_gradient dy x t S B in
  inner (at_row dy x t B) (step' x x' t S S') =
  dot dk (of_k d) (k x' t) + dot dk (of_e d) (e x' t) + dot dv (of_v d) (v x' t)
  + dot dk (of_g d) (g x' t) + of_beta d * beta x' t + inner (before dy x t B) S'.
Proof.
  intros d. unfold d, inner, dot, row_gradient. cbn [of_k of_e of_v of_g of_beta].
  rewrite (gathered_over dk dv (fun c j => at_row dy x t B c j * written x t S j)).
  rewrite (sum_ext dk (fun c => - sum dv (fun j => decayed x t S c j * back_miss dy x t B j) * e x' t c)
             (fun c => sum dv (fun j => - (decayed x t S c j * back_miss dy x t B j)) * e x' t c))
    by (intros; rewrite (sum_ext dv (fun j => - _) (fun j => -1 * (decayed x t S i j * back_miss dy x t B j)))
          by (intros; ring); rewrite sum_scal; ring).
  rewrite (gathered_over dk dv (fun c j => - (decayed x t S c j * back_miss dy x t B j))).
  rewrite (sum_ext dk (fun c => exp (g x t c) * sum dv (fun j => back_decayed dy x t B c j * S c j) * g x' t c)
             (fun c => sum dv (fun j => back_decayed dy x t B c j * S c j) * (exp (g x t c) * g x' t c)))
    by (intros; ring).
  rewrite (gathered_over dk dv (fun c j => back_decayed dy x t B c j * S c j)).
  rewrite <- sum_scal_r, <- !sum_plus. apply sum_ext. intros j _.
  set (A := at_row dy x t B). set (D := decayed x t S). set (D' := decayed' x x' t S S').
  set (du := back_written dy x t B j). set (u := written x t S j). set (mi := miss x t S j).
  assert (Du : sum dk (fun c => A c j * k x t c) = du) by easy.
  rewrite (sum_ext dk (fun c => A c j * step' x x' t S S' c j)
             (fun c => A c j * D' c j + (A c j * u * k x' t c
                       + A c j * k x t c * written' x x' t S S' j)))
    by (intros; unfold step'; fold D' u; ring).
  rewrite !sum_plus, sum_scal_r, Du.
  rewrite (sum_ext dk (fun c => - (D c j * back_miss dy x t B j) * e x' t c)
             (fun c => - back_miss dy x t B j * (D c j * e x' t c))) by (intros; ring).
  rewrite sum_scal.
  assert (G : sum dk (fun c => back_decayed dy x t B c j * S c j * (exp (g x t c) * g x' t c))
              + sum dk (fun c => before dy x t B c j * S' c j)
              = sum dk (fun c => A c j * D' c j) - back_miss dy x t B j * sum dk (fun c => D' c j * e x t c)).
  { rewrite <- sum_scal, <- sum_plus, <- sum_minus. apply sum_ext. intros c _.
    unfold before, D', decayed', back_decayed. fold A. ring. }
  unfold written', miss'. fold mi D D'. rewrite sum_plus.
  transitivity (sum dk (fun c => A c j * u * k x' t c) + - back_miss dy x t B j * sum dk (fun c => D c j * e x' t c)
                + back_miss dy x t B j * v x' t j + du * mi * beta x' t
                + (sum dk (fun c => back_decayed dy x t B c j * S c j * (exp (g x t c) * g x' t c))
                   + sum dk (fun c => before dy x t B c j * S' c j))); [| ring].
  rewrite G. unfold back_miss. fold du. ring.
Qed.

(* ---- All rows ---- *)

(* The derivative of `total`, as it follows from derive_after. *)
Definition total' (dy B : matrix) (x x' : rows) (S0 S0' : matrix) (n : nat) : R :=
  sum n (fun t => dot dv (dy t) (fun j => scale * sum dk (fun c =>
                  q x' t c * after x S0 (S t) c j + q x t c * after' x x' S0 S0' (S t) c j)))
  + inner B (after' x x' S0 S0' n).

Lemma inner_at_row dy x t B S' :
  inner (at_row dy x t B) S' =
  inner B S' + sum dv (fun j => dy t j * (scale * sum dk (fun c => q x t c * S' c j))).
Proof.
  unfold inner. rewrite <- sum_plus. apply sum_ext. intros j _.
  rewrite (sum_ext dk _ (fun c => B c j * S' c j + dy t j * scale * (q x t c * S' c j)))
    by (intros; unfold at_row; ring).
  rewrite sum_plus, sum_scal. ring.
Qed.

Lemma gathered dy x x' S0 S0' : forall n B,
  total' dy B x x' S0 S0' n =
  sum n (fun t => along (reverse dy B x S0 n t) x' t) + inner (back_start dy x B n) S0'.
Proof.
  induction n as [| n IH]; intros B; [unfold total'; simpl; ring |].
  unfold total'. rewrite !sum_S.
  set (S := after x S0 n). set (S' := after' x x' S0 S0' n).
  change (after x S0 (Datatypes.S n)) with (step x n S).
  change (after' x x' S0 S0' (Datatypes.S n)) with (step' x x' n S S').
  assert (Last : reverse dy B x S0 (Datatypes.S n) n = row_gradient dy x n S B)
    by (unfold reverse; simpl; now rewrite Nat.eqb_refl).
  assert (Rest : sum n (fun t => along (reverse dy B x S0 (Datatypes.S n) t) x' t)
                 = sum n (fun t => along (reverse dy (before dy x n B) x S0 n t) x' t)).
  { apply sum_ext. intros t Ht. unfold reverse. cbn [carried].
    now rewrite (proj2 (Nat.eqb_neq t n)) by lia. }
  rewrite Rest, Last. cbn [back_start]. pose proof (IH (before dy x n B)) as I. unfold total' in I. fold S' in I.
  pose proof (row_pullback dy x x' n S S' B) as P. cbv zeta in P. rewrite inner_at_row in P.
  unfold along at 2.
  assert (Q : dot dk (of_q (row_gradient dy x n S B)) (q x' n)
              = sum dv (fun j => dy n j * (scale * sum dk (fun c => q x' n c * step x n S c j)))).
  { unfold dot, row_gradient. cbn [of_q].
    rewrite (sum_ext dk (fun c => scale * sum dv (fun j => step x n S c j * dy n j) * q x' n c)
               (fun c => sum dv (fun j => step x n S c j * dy n j) * (scale * q x' n c))) by (intros; ring).
    rewrite (gathered_over dk dv (fun c j => step x n S c j * dy n j)). apply sum_ext. intros j _.
    rewrite <- !sum_scal. apply sum_ext. intros. ring. }
  assert (O : dot dv (dy n) (fun j => scale * sum dk (fun c => q x' n c * step x n S c j
                                                        + q x n c * step' x x' n S S' c j))
              = sum dv (fun j => dy n j * (scale * sum dk (fun c => q x' n c * step x n S c j)))
                + sum dv (fun j => dy n j * (scale * sum dk (fun c => q x n c * step' x x' n S S' c j)))).
  { unfold dot. rewrite <- sum_plus. apply sum_ext. intros j _. rewrite sum_plus. ring. }
  rewrite Q, O. unfold along in *. lra.
Qed.

Theorem gradient_is_the_derivative :
  forall (dy B : matrix) (x : R -> rows) (x' : rows) (S0 : R -> matrix) (S0' : matrix) (n : nat) (z : R),
  moves n x x' z ->
  (forall c j, (c < dk)%nat -> (j < dv)%nat -> is_derive (fun y : R => S0 y c j) z (S0' c j)) ->
  is_derive (fun y : R => total dy B (x y) (S0 y) n) z
    (sum n (fun t => along (reverse dy B (x z) (S0 z) n t) x' t) + inner (back_start dy (x z) B n) S0').
Proof.
  intros dy B x x' S0 S0' n z M H0. eapply derive_as; [apply gathered |]. unfold total, total'.
  pose proof (derive_after n x x' S0 S0' z M H0) as D.
  apply derive_plus.
  - apply (derive_sum n (fun t y => dot dv (dy t) (output (x y) t (after (x y) (S0 y) (S t))))). intros t Ht.
    destruct (M t Ht) as (Mc & _ & _).
    apply (derive_sum dv (fun j y => dy t j * output (x y) t (after (x y) (S0 y) (S t)) j)). intros j Hj.
    apply derive_scaled. unfold output. apply derive_scaled.
    apply (derive_sum dk (fun c y => q (x y) t c * after (x y) (S0 y) (S t) c j)). intros c Hc.
    destruct (Mc c Hc) as (Mq & _ & _ & _).
    apply (derive_times (fun y => q (x y) t c)); [exact Mq | apply D; (easy || lia)].
  - apply (derive_sum dv (fun j y => sum dk (fun c => B c j * after (x y) (S0 y) n c j))). intros j Hj.
    apply (derive_sum dk (fun c y => B c j * after (x y) (S0 y) n c j)). intros c Hc.
    apply derive_scaled. apply D; (easy || lia).
Qed.

(* ---- Entry by entry ---- *)

Definition with_q (x : rows) (m : matrix) : rows :=
  {| q := m; k := k x; e := e x; v := v x; g := g x; beta := beta x |}.
(* Keys that are written and erased at. *)
Definition with_keys (x : rows) (m : matrix) : rows :=
  {| q := q x; k := m; e := m; v := v x; g := g x; beta := beta x |}.
(* One gate a row, for all channels. *)
Definition with_gates (x : rows) (a : nat -> R) : rows :=
  {| q := q x; k := k x; e := e x; v := v x; g := fun t _ => a t; beta := beta x |}.
Definition with_number (a : nat -> R) (i : nat) (z : R) : nat -> R := fun t => if t =? i then z else a t.
Definition still : rows :=
  {| q := fun _ _ => 0; k := fun _ _ => 0; e := fun _ _ => 0; v := fun _ _ => 0; g := fun _ _ => 0;
     beta := fun _ => 0 |}.

Ltac each_input := split; [intros ? _; split; [| split; [| split]] | split; [intros ? _ |]].

Lemma dot_zero n (f : nat -> R) : dot n f (fun _ => 0) = 0.
Proof. apply sum_0. intros. ring. Qed.

Lemma inner_still (A : matrix) : inner A (fun _ _ => 0) = 0.
Proof. apply sum_0. intros. apply sum_0. intros. ring. Qed.

Theorem q_is_partial : forall dy B x S0 n i c, (i < n)%nat -> (c < dk)%nat ->
  is_derive (fun z : R => total dy B (with_q x (with_entry (q x) i c z)) S0 n) (q x i c)
    (of_q (reverse dy B x S0 n i) c).
Proof.
  intros dy B x S0 n i c Hi Hc.
  set (x' := {| q := fun a b => one_hot i a * one_hot c b; k := fun _ _ => 0; e := fun _ _ => 0;
                v := fun _ _ => 0; g := fun _ _ => 0; beta := fun _ => 0 |}).
  pose proof (gradient_is_the_derivative dy B (fun z => with_q x (with_entry (q x) i c z)) x' (fun _ => S0)
                (fun _ _ => 0) n (q x i c)) as H.
  eapply derive_as; [| apply H].
  - rewrite inner_still, Rplus_0_r, with_entry_same. replace (with_q x (q x)) with x by now destruct x.
    rewrite <- (sum_entry n dk (fun t => of_q (reverse dy B x S0 n t)) i c Hi Hc). apply sum_ext. intros t _.
    unfold along, x'. cbn [q k e v g beta]. rewrite !dot_zero. ring.
  - intros t Ht. unfold x', with_q. cbn [q k e v g beta].
    each_input; apply derive_const || apply derive_entry.
  - intros. apply derive_const.
Qed.

Theorem tied_keys_are_partial : forall dy B x S0 n i c, e x = k x -> (i < n)%nat -> (c < dk)%nat ->
  is_derive (fun z : R => total dy B (with_keys x (with_entry (k x) i c z)) S0 n) (k x i c)
    (of_k (reverse dy B x S0 n i) c + of_e (reverse dy B x S0 n i) c).
Proof.
  intros dy B x S0 n i c Tied Hi Hc.
  set (x' := {| q := fun _ _ => 0; k := fun a b => one_hot i a * one_hot c b;
                e := fun a b => one_hot i a * one_hot c b;
                v := fun _ _ => 0; g := fun _ _ => 0; beta := fun _ => 0 |}).
  pose proof (gradient_is_the_derivative dy B (fun z => with_keys x (with_entry (k x) i c z)) x' (fun _ => S0)
                (fun _ _ => 0) n (k x i c)) as H.
  eapply derive_as; [| apply H].
  - rewrite inner_still, Rplus_0_r, with_entry_same.
    replace (with_keys x (k x)) with x by (destruct x; cbn in *; now subst).
    rewrite <- (sum_entry n dk (fun t => of_k (reverse dy B x S0 n t)) i c Hi Hc),
      <- (sum_entry n dk (fun t => of_e (reverse dy B x S0 n t)) i c Hi Hc), <- sum_plus.
    apply sum_ext. intros t _. unfold along, x'. cbn [q k e v g beta]. rewrite !dot_zero. ring.
  - intros t Ht. unfold x', with_keys. cbn [q k e v g beta].
    each_input; apply derive_const || apply derive_entry.
  - intros. apply derive_const.
Qed.

Theorem one_gate_is_partial : forall dy B x S0 n i (a : nat -> R), g x = (fun t _ => a t) -> (i < n)%nat ->
  is_derive (fun z : R => total dy B (with_gates x (with_number a i z)) S0 n) (a i)
    (sum dk (of_g (reverse dy B x S0 n i))).
Proof.
  intros dy B x S0 n i a One Hi.
  set (x' := {| q := fun _ _ => 0; k := fun _ _ => 0; e := fun _ _ => 0;
                v := fun _ _ => 0; g := fun t _ => one_hot i t; beta := fun _ => 0 |}).
  pose proof (gradient_is_the_derivative dy B (fun z => with_gates x (with_number a i z)) x' (fun _ => S0)
                (fun _ _ => 0) n (a i)) as H.
  assert (Same : with_number a i (a i) = a).
  { apply functional_extensionality. intros t. unfold with_number. now destruct (Nat.eqb_spec t i); subst. }
  eapply derive_as; [| apply H].
  - rewrite inner_still, Rplus_0_r, Same.
    replace (with_gates x a) with x by (destruct x; cbn in *; now subst).
    rewrite (sum_only n _ i Hi).
    + unfold along, x'. cbn [q k e v g beta]. rewrite !dot_zero. unfold dot, one_hot. rewrite Nat.eqb_refl.
      rewrite sum_scal_r. ring.
    + intros t _ N. unfold along, x'. cbn [q k e v g beta]. rewrite !dot_zero. unfold dot, one_hot.
      rewrite (proj2 (Nat.eqb_neq i t)) by auto. rewrite sum_scal_r. ring.
  - intros t Ht. unfold x', with_gates. cbn [q k e v g beta].
    each_input; try apply derive_const. unfold with_number, one_hot.
    rewrite (Nat.eqb_sym i t). destruct (Nat.eqb_spec t i); [apply derive_id | apply derive_const].
  - intros. apply derive_const.
Qed.

Theorem start_is_partial : forall dy B x S0 n c j, (c < dk)%nat -> (j < dv)%nat ->
  is_derive (fun z : R => total dy B x (with_entry S0 c j z) n) (S0 c j) (back_start dy x B n c j).
Proof.
  intros dy B x S0 n c j Hc Hj.
  pose proof (gradient_is_the_derivative dy B (fun _ => x) still (fun z => with_entry S0 c j z)
                (fun a b => one_hot c a * one_hot j b) n (S0 c j)) as H.
  eapply derive_as; [| apply H].
  - rewrite (sum_0 n), Rplus_0_l.
    + unfold inner. rewrite sum_swap. exact (sum_entry dk dv (back_start dy x B n) c j Hc Hj).
    + intros t _. unfold along, still. cbn [q k e v g beta]. rewrite !dot_zero. ring.
  - intros t Ht. unfold still. cbn [q k e v g beta]. each_input; apply derive_const.
  - intros. apply derive_entry.
Qed.

(* ---- The two kernels' recurrences ---- *)

Theorem delta_is_this_recurrence : forall x S0 n c j, e x = k x ->
  after x S0 n c j = ChunkedDelta.recurrence dk (beta x) (g x) (k x) (v x) 0 S0 n c j.
Proof.
  intros x S0 n c j Tied. revert c j. induction n as [| n IH]; intros c j; [easy |].
  cbn [after ChunkedDelta.recurrence]. unfold step, written, miss, decayed, ChunkedDelta.step, ChunkedDelta.written,
    ChunkedDelta.decayed. rewrite Tied, IH. simpl Nat.add. do 4 f_equal. apply sum_ext. intros i _. now rewrite IH.
Qed.

Theorem gla_is_this_recurrence : forall x S0 n c j,
  (forall t c, e x t c = 0) -> (forall t, beta x t = 1) ->
  after x S0 n c j = ChunkedGla.recurrence (g x) (k x) (v x) 0 S0 n c j.
Proof.
  intros x S0 n c j Z One. revert c j. induction n as [| n IH]; intros c j; [easy |].
  cbn [after ChunkedGla.recurrence]. unfold step, written, miss, decayed, ChunkedGla.step.
  rewrite One, IH, sum_0 by (intros; rewrite Z; ring). simpl Nat.add. ring.
Qed.
End State.
