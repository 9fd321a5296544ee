(* ChunkedDelta.v: the delta rule in chunks (WY form) equals its recurrence.

   The core delta (Schlag et al. 2021; Yang et al. 2024; gated: Yang, Kautz & Hatamizadeh 2024; a gate for
   every key channel: Kimi delta attention 2025): R = diag(e^{g_t}) S_{t-1}, S_t = R + k_t (beta_t (v_t -
   R^T k_t))^T, o_t = scale S_t^T q_t. A chunk that begins with the state S0 solves two unit lower
   triangular systems by forward substitution, with M_ts = beta_t sum_c k_t k_s e^{G_t - G_s} below the
   diagonal, G the running sum of g,
     (I + M) U = diag(beta) V,   (I + M) W = diag(beta) (e^G o K),
   and then writes the rows U - W S0 as if they were the values of gated linear attention. Proved for every
   length, every input (keys need not have unit length), every start state and every tiling:
   - forward substitution solves the system, which has one solution (so T = (I + M)^{-1} may be formed any
     way);
   - outputs and final state of the chunks are those of the recurrence;
   - the system of one gate a head, and of none (DeltaNet), written out.
   Not covered: roundings (real numbers), a gate that is shut, e^g = 0, rows solved in groups, keys flushed,
   an erased key of its own (StateBlocks.v), gradients (StateGradientChunks.v).
   Kernel: state.c (delta), which solves one system, for U - W S0. Tested on floats in test_state.c. *)

From Coq Require Import Reals Lra Lia List PeanoNat.
From Seqmix Require Import Attention.
Import ListNotations.
Open Scope R_scope.

(* Forward substitution of (I + M) x = b, M below the diagonal, n rows, in order of t:
   x_t = b_t - sum_{s<t} M_ts x_s. *)
Fixpoint forward (M : nat -> nat -> R) (b : nat -> R) (n : nat) : nat -> R :=
  match n with
  | O => fun _ => 0
  | S m => let x := forward M b m in fun t => if t =? m then b m - sum m (fun s => M m s * x s) else x t
  end.
Definition solves (M : nat -> nat -> R) (b : nat -> R) (n : nat) (x : nat -> R) : Prop :=
  forall t, (t < n)%nat -> x t + sum t (fun s => M t s * x s) = b t.

(* ---- The triangular system ---- *)

Lemma forward_stays M b m : forall n t, (t < m)%nat -> (m <= n)%nat -> forward M b n t = forward M b m t.
Proof.
  induction n; intros t Ht Hn; [now replace m with O by lia |].
  destruct (Nat.eq_dec m (S n)) as [-> |]; [easy |].
  simpl. destruct (Nat.eqb_spec t n); [lia |]. apply IHn; lia.
Qed.

Theorem forward_solves : forall M b n, solves M b n (forward M b n).
Proof.
  intros M b n t Ht. rewrite (forward_stays M b (S t) n t) by lia. simpl. rewrite Nat.eqb_refl.
  rewrite (sum_ext t (fun s => M t s * forward M b n s) (fun s => M t s * forward M b t s)); [ring |].
  intros s Hs. now rewrite (forward_stays M b t n s) by lia.
Qed.

Theorem one_solution : forall M b n x y,
  solves M b n x -> solves M b n y -> forall t, (t < n)%nat -> x t = y t.
Proof.
  intros M b n x y Hx Hy t. induction t as [t IH] using (well_founded_induction Wf_nat.lt_wf). intros Ht.
  specialize (Hx t Ht). specialize (Hy t Ht).
  rewrite (sum_ext t (fun s => M t s * x s) (fun s => M t s * y s)) in Hx
    by (intros s Hs; rewrite IH by lia; easy).
  lra.
Qed.

Section Delta.
(* dk key channels; gates, queries, keys and values as [row][column], one beta a row. *)
Variables (dk : nat) (scale : R) (beta : nat -> R) (g q k v : nat -> nat -> R).

(* ---- The recurrence ---- *)

Definition state := nat -> nat -> R. (* [key channel][value column] *)
Definition decayed (t : nat) (S : state) : state := fun c e => exp (g t c) * S c e.
Definition written (t : nat) (S : state) (e : nat) : R :=
  beta t * (v t e - sum dk (fun c => decayed t S c e * k t c)).
Definition step (t : nat) (S : state) : state := fun c e => decayed t S c e + k t c * written t S e.
(* The state after rows t0 .. t0 + n - 1. *)
Fixpoint recurrence (t0 : nat) (S0 : state) (n : nat) : state :=
  match n with O => S0 | S m => step (t0 + m) (recurrence t0 S0 m) end.
(* Column e of row t's output, S the state after row t. *)
Definition output (t : nat) (S : state) (e : nat) : R := scale * sum dk (fun c => q t c * S c e).

(* ---- A chunk of n rows that begins at row t0: its row s stands at t0 + s ---- *)

(* The sum of its first n gates. *)
Definition G (t0 n c : nat) : R := sum n (fun s => g (t0 + s)%nat c).
Definition decay (t0 t s c : nat) : R := exp (G t0 (S t) c - G t0 (S s) c).
Definition pair (x : nat -> nat -> R) (t0 t s : nat) : R := (* of queries or keys x with keys *)
  sum dk (fun c => x (t0 + t)%nat c * k (t0 + s)%nat c * decay t0 t s c).

(* The system, its two solutions, and the rows that are written. *)
Definition M (t0 t s : nat) : R := beta (t0 + t)%nat * pair k t0 t s.
Definition U (t0 n : nat) (e : nat) : nat -> R :=
  forward (M t0) (fun t => beta (t0 + t)%nat * v (t0 + t)%nat e) n.
Definition W (t0 n : nat) (c : nat) : nat -> R :=
  forward (M t0) (fun t => beta (t0 + t)%nat * (exp (G t0 (S t) c) * k (t0 + t)%nat c)) n.
Definition chunk_written (t0 : nat) (S0 : state) (n t e : nat) : R :=
  U t0 n e t - sum dk (fun c => W t0 n c t * S0 c e).

Definition chunk_output (t0 : nat) (S0 : state) (n t e : nat) : R :=
  scale * (sum dk (fun c => q (t0 + t)%nat c * exp (G t0 (S t) c) * S0 c e)
           + sum (S t) (fun s => pair q t0 t s * chunk_written t0 S0 n s e)).
Definition chunk_state (t0 : nat) (S0 : state) (n : nat) : state := fun c e =>
  exp (G t0 n c) * S0 c e
  + sum n (fun s => k (t0 + s)%nat c * exp (G t0 n c - G t0 (S s) c) * chunk_written t0 S0 n s e).

(* Column e of all outputs, chunk after chunk; the state after them. *)
Fixpoint chunked (t0 : nat) (S0 : state) (chunks : list nat) (e : nat) : list R :=
  match chunks with
  | [] => []
  | n :: rest => map (fun t => chunk_output t0 S0 n t e) (seq 0 n)
                 ++ chunked (t0 + n) (chunk_state t0 S0 n) rest e
  end.
Fixpoint chunked_state (t0 : nat) (S0 : state) (chunks : list nat) : state :=
  match chunks with [] => S0 | n :: rest => chunked_state (t0 + n) (chunk_state t0 S0 n) rest end.

(* ---- The recurrence as gated linear attention of what it writes ---- *)

Definition wrote (t0 : nat) (S0 : state) (s e : nat) : R := written (t0 + s) (recurrence t0 S0 s) e.

Lemma G_next t0 n c : G t0 (S n) c = G t0 n c + g (t0 + n)%nat c.
Proof. easy. Qed.

Lemma unrolled t0 S0 n c e :
  recurrence t0 S0 n c e =
  exp (G t0 n c) * S0 c e
  + sum n (fun s => k (t0 + s)%nat c * exp (G t0 n c - G t0 (S s) c) * wrote t0 S0 s e).
Proof.
  induction n as [| n IH]; [unfold G; simpl; rewrite exp_0; ring |].
  change (recurrence t0 S0 (S n) c e)
    with (exp (g (t0 + n)%nat c) * recurrence t0 S0 n c e + k (t0 + n)%nat c * wrote t0 S0 n e).
  rewrite IH. cbn [sum]. rewrite (Rminus_diag_eq (G t0 (S n) c)), exp_0 by easy.
  rewrite (sum_ext n (fun s => k (t0 + s)%nat c * exp (G t0 (S n) c - G t0 (S s) c) * wrote t0 S0 s e)
             (fun s => exp (g (t0 + n)%nat c) *
                       (k (t0 + s)%nat c * exp (G t0 n c - G t0 (S s) c) * wrote t0 S0 s e))).
  - rewrite sum_scal, G_next, exp_plus. ring.
  - intros s _. rewrite (G_next t0 n).
    replace (G t0 n c + g (t0 + n)%nat c - G t0 (S s) c) with (g (t0 + n)%nat c + (G t0 n c - G t0 (S s) c))
      by ring.
    rewrite exp_plus. ring.
Qed.

(* The same, decayed once more: what row n reads, before it writes. *)
Lemma unrolled_decayed t0 S0 n c e :
  decayed (t0 + n) (recurrence t0 S0 n) c e =
  exp (G t0 (S n) c) * S0 c e
  + sum n (fun s => k (t0 + s)%nat c * decay t0 n s c * wrote t0 S0 s e).
Proof.
  unfold decayed. rewrite unrolled, G_next, exp_plus, Rmult_plus_distr_l, <- sum_scal. f_equal; [ring |].
  apply sum_ext. intros s _. unfold decay. rewrite (G_next t0 n).
  replace (G t0 n c + g (t0 + n)%nat c - G t0 (S s) c) with (g (t0 + n)%nat c + (G t0 n c - G t0 (S s) c))
    by ring.
  rewrite exp_plus. ring.
Qed.

(* Products of a row x with the unrolled state: what S0 gives, and pairs. *)
Lemma read x t0 (S0 : state) t n e (y : nat -> R) :
  sum dk (fun c => x (t0 + t)%nat c * (exp (G t0 (S t) c) * S0 c e
                   + sum n (fun s => k (t0 + s)%nat c * decay t0 t s c * y s))) =
  sum dk (fun c => x (t0 + t)%nat c * exp (G t0 (S t) c) * S0 c e) + sum n (fun s => pair x t0 t s * y s).
Proof.
  rewrite (sum_ext dk _ (fun c => x (t0 + t)%nat c * exp (G t0 (S t) c) * S0 c e
             + sum n (fun s => x (t0 + t)%nat c * k (t0 + s)%nat c * decay t0 t s c * y s))).
  - rewrite sum_plus, sum_swap. f_equal. apply sum_ext. intros s _. unfold pair.
    rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros c _. ring.
  - intros c _. rewrite Rmult_plus_distr_l, <- sum_scal. f_equal; [ring |]. apply sum_ext. intros s _. ring.
Qed.

(* What the recurrence writes solves (I + M) x = diag(beta) (V - (e^G o K) S0). *)
Lemma wrote_solves t0 S0 n e :
  solves (M t0) (fun t => beta (t0 + t)%nat * (v (t0 + t)%nat e
                          - sum dk (fun c => k (t0 + t)%nat c * exp (G t0 (S t) c) * S0 c e)))
         n (fun s => wrote t0 S0 s e).
Proof.
  intros t _. unfold wrote at 1, written.
  rewrite (sum_ext dk _ (fun c => k (t0 + t)%nat c * (exp (G t0 (S t) c) * S0 c e
             + sum t (fun s => k (t0 + s)%nat c * decay t0 t s c * wrote t0 S0 s e))))
    by (intros c _; rewrite unrolled_decayed; ring).
  rewrite read. unfold M.
  rewrite (sum_ext t (fun s => beta (t0 + t)%nat * pair k t0 t s * wrote t0 S0 s e)
             (fun s => beta (t0 + t)%nat * (pair k t0 t s * wrote t0 S0 s e))) by (intros; ring).
  rewrite sum_scal. ring.
Qed.

(* And so does U - W S0. *)
Lemma chunk_written_solves t0 S0 n e :
  solves (M t0) (fun t => beta (t0 + t)%nat * (v (t0 + t)%nat e
                          - sum dk (fun c => k (t0 + t)%nat c * exp (G t0 (S t) c) * S0 c e)))
         n (fun s => chunk_written t0 S0 n s e).
Proof.
  intros t Ht. unfold chunk_written.
  pose proof (forward_solves (M t0) (fun t => beta (t0 + t)%nat * v (t0 + t)%nat e) n t Ht) as HU.
  fold (U t0 n e) in HU. cbv beta in HU.
  assert (HW : forall c, W t0 n c t * S0 c e + sum t (fun s => M t0 t s * (W t0 n c s * S0 c e)) =
                         beta (t0 + t)%nat * (k (t0 + t)%nat c * exp (G t0 (S t) c) * S0 c e)).
  { intros c. pose proof (forward_solves (M t0)
      (fun t => beta (t0 + t)%nat * (exp (G t0 (S t) c) * k (t0 + t)%nat c)) n t Ht) as HW.
    fold (W t0 n c) in HW. cbv beta in HW.
    rewrite (sum_ext t _ (fun s => S0 c e * (M t0 t s * W t0 n c s))) by (intros; ring).
    rewrite sum_scal. rewrite <- (Rmult_comm (S0 c e)), <- Rmult_plus_distr_l, HW. ring. }
  rewrite (sum_ext t (fun s => M t0 t s * (U t0 n e s - sum dk (fun c => W t0 n c s * S0 c e)))
             (fun s => M t0 t s * U t0 n e s - sum dk (fun c => M t0 t s * (W t0 n c s * S0 c e))))
    by (intros; rewrite sum_scal; ring).
  rewrite sum_minus, sum_swap, Rmult_minus_distr_l, <- HU, <- sum_scal.
  rewrite <- (sum_ext dk _ _ (fun c _ => HW c)), sum_plus. ring.
Qed.

Lemma chunk_written_is_wrote t0 S0 n e t :
  (t < n)%nat -> chunk_written t0 S0 n t e = wrote t0 S0 t e.
Proof.
  apply (one_solution _ _ n (fun s => chunk_written t0 S0 n s e) (fun s => wrote t0 S0 s e)
           (chunk_written_solves t0 S0 n e) (wrote_solves t0 S0 n e)).
Qed.

(* ---- Theorems ---- *)

Theorem chunk_state_is_recurrence : forall t0 S0 n c e,
  chunk_state t0 S0 n c e = recurrence t0 S0 n c e.
Proof.
  intros t0 S0 n c e. rewrite unrolled. unfold chunk_state. f_equal. apply sum_ext. intros s Hs.
  now rewrite chunk_written_is_wrote.
Qed.

Theorem chunk_output_is_recurrence : forall t0 S0 n t e,
  (t < n)%nat -> chunk_output t0 S0 n t e = output (t0 + t) (recurrence t0 S0 (S t)) e.
Proof.
  intros t0 S0 n t e Ht. unfold chunk_output, output. f_equal.
  rewrite (sum_ext (S t) _ (fun s => pair q t0 t s * wrote t0 S0 s e))
    by (intros; rewrite chunk_written_is_wrote by lia; easy).
  rewrite <- (read q t0 S0 t (S t) e (fun s => wrote t0 S0 s e)).
  apply sum_ext. intros c _. now rewrite unrolled.
Qed.

Lemma recurrence_ext t0 S0 S1 n :
  (forall c e, S0 c e = S1 c e) -> forall c e, recurrence t0 S0 n c e = recurrence t0 S1 n c e.
Proof.
  intros H. induction n; simpl; intros; [easy |]. unfold step, written, decayed. rewrite IHn. do 4 f_equal.
  apply sum_ext. intros. now rewrite IHn.
Qed.

Lemma recurrence_in_pieces t0 S0 m n : forall c e,
  recurrence t0 S0 (m + n) c e = recurrence (t0 + m) (recurrence t0 S0 m) n c e.
Proof.
  induction n; intros c e; [now rewrite Nat.add_0_r |].
  rewrite Nat.add_succ_r. simpl. unfold step, written, decayed. rewrite IHn, Nat.add_assoc. do 4 f_equal.
  apply sum_ext. intros. now rewrite IHn.
Qed.

(* Every tiling gives the rows of the recurrence ... *)
Theorem chunked_is_recurrence : forall chunks t0 S0 e,
  chunked t0 S0 chunks e =
  map (fun t => output (t0 + t) (recurrence t0 S0 (S t)) e) (seq 0 (list_sum chunks)).
Proof.
  induction chunks as [| n rest IH]; intros t0 S0 e; [easy |].
  simpl list_sum. rewrite seq_app, map_app. simpl chunked. f_equal.
  - apply map_ext_in. intros t Ht. apply in_seq in Ht. apply chunk_output_is_recurrence. lia.
  - rewrite IH, (seq_from (0 + n)), map_map. simpl Nat.add.
    apply map_ext. intros t. rewrite Nat.add_assoc. unfold output.
    f_equal. apply sum_ext. intros c _. f_equal.
    rewrite <- Nat.add_succ_r, recurrence_in_pieces. apply recurrence_ext.
    intros. apply chunk_state_is_recurrence.
Qed.

(* ... and its final state. *)
Theorem chunked_state_is_recurrence : forall chunks t0 S0 c e,
  chunked_state t0 S0 chunks c e = recurrence t0 S0 (list_sum chunks) c e.
Proof.
  induction chunks as [| n rest IH]; intros t0 S0 c e; simpl; [easy |].
  rewrite IH, recurrence_in_pieces. apply recurrence_ext. intros. apply chunk_state_is_recurrence.
Qed.

(* The system with one gate a head: beta_t e^{A_t - A_s} (k_t . k_s), A the running sum of the gate. *)
Theorem system_of_one_gate : forall a t0 t s,
  (forall i c, g i c = a i) ->
  M t0 t s = beta (t0 + t)%nat *
             (exp (sum (S t) (fun i => a (t0 + i)%nat) - sum (S s) (fun i => a (t0 + i)%nat))
              * sum dk (fun c => k (t0 + t)%nat c * k (t0 + s)%nat c)).
Proof.
  intros a t0 t s H. unfold M, pair. f_equal. rewrite <- sum_scal.
  apply sum_ext. intros c _. unfold decay, G.
  rewrite !(sum_ext _ (fun i => g (t0 + i)%nat c) (fun i => a (t0 + i)%nat)) by auto. ring.
Qed.

(* Without gates (DeltaNet): beta_t (k_t . k_s). *)
Theorem system_without_gates : forall t0 t s,
  (forall i c, g i c = 0) ->
  M t0 t s = beta (t0 + t)%nat * sum dk (fun c => k (t0 + t)%nat c * k (t0 + s)%nat c).
Proof.
  intros t0 t s H. rewrite (system_of_one_gate (fun _ => 0)) by auto. f_equal.
  assert (Z : forall n, sum n (fun _ => 0) = 0) by (induction n; simpl; lra).
  rewrite !Z, Rminus_diag_eq, exp_0 by easy. ring.
Qed.
End Delta.
