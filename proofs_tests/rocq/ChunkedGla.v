(* ChunkedGla.v: gated linear attention in chunks equals its recurrence.

   The core gla (Yang et al. 2023): S_t = diag(e^{g_t}) S_{t-1} + k_t v_t^T, o_t = scale S_t^T q_t, S
   [dk][dv], with a gate for every row and key channel. A chunk that begins at row t0 with the state S0
   multiplies pairs of its rows by e^{G_t - G_s}, G the running sum of g from the chunk's start, and adds
   what S0 contributes. Proved for every length, every input, every start state and every tiling, lengths of
   chunks mixed as one likes:
   - the outputs and the final state of the chunks are those of the recurrence;
   - where g <= 0 every factor e^{G_t - G_s} lies in (0, 1], so none overflows (e^{-G_s} alone would);
   - one gate a head is a factor before the plain product q_t . k_s; one gate for all rows (retention) a
     power.
   Not covered: roundings (real numbers), a gate that is shut, e^g = 0, and the order of state.c, which decays
   keys row by row and flushes small ones (StateBlocks.v), gradients (StateGradientChunks.v).
   Kernel: state.c (gla), which multiplies e^{G_t - G_s} up row by row; without gates linattn.c, before its
   normaliser. Tested on floats in test_state.c, test_linattn.c. *)

From Coq Require Import Reals Lra Lia List.
From Seqmix Require Import Attention.
Import ListNotations.
Open Scope R_scope.

Section Gla.
(* dk key channels; gates, queries, keys and values as [row][column]. *)
Variables (dk : nat) (scale : R) (g q k v : nat -> nat -> R).

(* ---- The recurrence ---- *)

Definition state := nat -> nat -> R. (* [key channel][value column] *)
Definition step (t : nat) (S : state) : state := fun c e => exp (g t c) * S c e + k t c * v t e.
(* The state after rows t0 .. t0 + n - 1. *)
Fixpoint recurrence (t0 : nat) (S0 : state) (n : nat) : state :=
  match n with O => S0 | S m => step (t0 + m) (recurrence t0 S0 m) end.
(* Column e of row t's output, S the state after row t. *)
Definition output (t : nat) (S : state) (e : nat) : R := scale * sum dk (fun c => q t c * S c e).

(* ---- A chunk ---- *)

(* The sum of the first n gates of the chunk that begins at row t0. Its row s stands at t0 + s. *)
Definition G (t0 n c : nat) : R := sum n (fun s => g (t0 + s)%nat c).
Definition decay (t0 t s c : nat) : R := exp (G t0 (S t) c - G t0 (S s) c).
Definition pair (t0 t s : nat) : R :=
  sum dk (fun c => q (t0 + t)%nat c * k (t0 + s)%nat c * decay t0 t s c).

Definition chunk_output (t0 : nat) (S0 : state) (t e : nat) : R :=
  scale * (sum dk (fun c => q (t0 + t)%nat c * exp (G t0 (S t) c) * S0 c e)
           + sum (S t) (fun s => pair t0 t s * v (t0 + s)%nat e)).
Definition chunk_state (t0 : nat) (S0 : state) (n : nat) : state := fun c e =>
  exp (G t0 n c) * S0 c e
  + sum n (fun s => k (t0 + s)%nat c * exp (G t0 n c - G t0 (S s) c) * v (t0 + s)%nat e).

(* Column e of all outputs, chunk after chunk; the state after them. *)
Fixpoint chunked (t0 : nat) (S0 : state) (chunks : list nat) (e : nat) : list R :=
  match chunks with
  | [] => []
  | n :: rest => map (fun t => chunk_output t0 S0 t e) (seq 0 n)
                 ++ chunked (t0 + n) (chunk_state t0 S0 n) rest e
  end.
Fixpoint chunked_state (t0 : nat) (S0 : state) (chunks : list nat) : state :=
  match chunks with [] => S0 | n :: rest => chunked_state (t0 + n) (chunk_state t0 S0 n) rest end.

(* ---- Theorems ---- *)

Theorem chunk_state_is_recurrence : forall t0 S0 n c e,
  chunk_state t0 S0 n c e = recurrence t0 S0 n c e.
Proof.
  intros t0 S0 n c e. induction n as [| n IH]; simpl.
  - unfold chunk_state, G. simpl. rewrite exp_0. ring.
  - unfold step. rewrite <- IH. unfold chunk_state. set (a := g (t0 + n)%nat c).
    assert (E : forall x, exp (G t0 (S n) c - x) = exp a * exp (G t0 n c - x)).
    { intros x. rewrite <- exp_plus. f_equal. unfold G, a. simpl. ring. }
    replace (exp (G t0 (S n) c)) with (exp a * exp (G t0 n c))
      by (rewrite <- exp_plus; f_equal; unfold G, a; simpl; ring).
    cbn [sum]. rewrite Rminus_diag_eq, exp_0 by easy.
    rewrite (sum_ext n _ (fun s => exp a * (k (t0 + s)%nat c * exp (G t0 n c - G t0 (S s) c)
                                            * v (t0 + s)%nat e))).
    + rewrite sum_scal. ring.
    + intros s _. rewrite E. ring.
Qed.

Theorem chunk_output_is_recurrence : forall t0 S0 t e,
  chunk_output t0 S0 t e = output (t0 + t) (recurrence t0 S0 (S t)) e.
Proof.
  intros t0 S0 t e. unfold chunk_output, output. f_equal.
  rewrite (sum_ext dk (fun c => q (t0 + t)%nat c * recurrence t0 S0 (S t) c e)
             (fun c => q (t0 + t)%nat c * exp (G t0 (S t) c) * S0 c e
                       + sum (S t) (fun s => q (t0 + t)%nat c * k (t0 + s)%nat c * decay t0 t s c
                                             * v (t0 + s)%nat e))).
  - rewrite sum_plus, sum_swap. f_equal. apply sum_ext. intros s _. unfold pair.
    rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros c _. ring.
  - intros c _. rewrite <- chunk_state_is_recurrence. unfold chunk_state.
    rewrite Rmult_plus_distr_l, <- sum_scal. f_equal; [ring |].
    apply sum_ext. intros s _. unfold decay. ring.
Qed.

Lemma recurrence_ext t0 S0 S1 n :
  (forall c e, S0 c e = S1 c e) -> forall c e, recurrence t0 S0 n c e = recurrence t0 S1 n c e.
Proof. intros H. induction n; simpl; intros; [easy |]. unfold step. now rewrite IHn. Qed.

Lemma recurrence_in_pieces t0 S0 m n c e :
  recurrence t0 S0 (m + n) c e = recurrence (t0 + m) (recurrence t0 S0 m) n c e.
Proof.
  revert c e. induction n; intros c e; [now rewrite Nat.add_0_r |].
  rewrite Nat.add_succ_r. simpl. unfold step. now rewrite IHn, Nat.add_assoc.
Qed.

(* Every tiling gives the rows of the recurrence ... *)
Theorem chunked_is_recurrence : forall chunks t0 S0 e,
  chunked t0 S0 chunks e =
  map (fun t => output (t0 + t) (recurrence t0 S0 (S t)) e) (seq 0 (list_sum chunks)).
Proof.
  induction chunks as [| n rest IH]; intros t0 S0 e; [easy |].
  simpl list_sum. rewrite seq_app, map_app. simpl chunked. f_equal.
  - apply map_ext. intros t. apply chunk_output_is_recurrence.
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

(* Gates that only close: no factor of a chunk overflows. *)
Theorem decay_is_at_most_one : forall t0 t s c,
  (forall i, g i c <= 0) -> (s <= t)%nat -> 0 < decay t0 t s c <= 1.
Proof.
  intros t0 t s c Hg Hs. unfold decay. split; [apply exp_pos |].
  assert (D : G t0 (S t) c <= G t0 (S s) c).
  { induction Hs as [| t Hs IH]; [lra |]. unfold G in *. simpl in *. specialize (Hg (t0 + S t)%nat).
    simpl in Hg. lra. }
  destruct (Req_dec (G t0 (S t) c - G t0 (S s) c) 0) as [-> | N]; [rewrite exp_0; lra |].
  left. rewrite <- exp_0. apply exp_increasing. lra.
Qed.

(* One gate a head: the pair is the plain product times one exponential. *)
Theorem pair_of_one_gate : forall a t0 t s,
  (forall i c, g i c = a i) ->
  pair t0 t s = exp (sum (S t) (fun i => a (t0 + i)%nat) - sum (S s) (fun i => a (t0 + i)%nat))
                * sum dk (fun c => q (t0 + t)%nat c * k (t0 + s)%nat c).
Proof.
  intros a t0 t s H. unfold pair. rewrite <- sum_scal. apply sum_ext. intros c _. unfold decay, G.
  rewrite !(sum_ext _ (fun i => g (t0 + i)%nat c) (fun i => a (t0 + i)%nat)) by auto. ring.
Qed.

(* Retention: the gate ln gamma at every row gives gamma^(t-s). *)
Theorem pair_of_retention : forall gamma t0 t s,
  0 < gamma -> (forall i c, g i c = ln gamma) -> (s <= t)%nat ->
  pair t0 t s = gamma ^ (t - s) * sum dk (fun c => q (t0 + t)%nat c * k (t0 + s)%nat c).
Proof.
  intros gamma t0 t s Hp H Hs. rewrite (pair_of_one_gate (fun _ => ln gamma)) by auto. f_equal.
  assert (C : forall n, sum n (fun _ => ln gamma) = INR n * ln gamma).
  { induction n; [simpl; ring |]. rewrite S_INR. simpl. rewrite IHn. ring. }
  rewrite !C, !S_INR.
  replace ((INR t + 1) * ln gamma - (INR s + 1) * ln gamma) with (INR (t - s) * ln gamma)
    by (rewrite minus_INR by easy; ring).
  rewrite <- Rpower_pow by easy. easy.
Qed.
End Gla.
