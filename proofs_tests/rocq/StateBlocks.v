(* StateBlocks.v: the blocks of state.c and the rows of state_push.c are the recurrence, shut gates included,
   flushing aside.

   S_t = diag(a_t) S_{t-1} + k_t u_t^T, y_t = S_t^T q_t, u_t = beta_t v_t (gated linear attention) or
   beta_t (v_t - (diag(a_t) S_{t-1})^T e_t) (the delta rule; e_t = k_t, or another key that is erased).
   ChunkedGla.v and ChunkedDelta.v write a as e^g, so never 0, and divide by what has decayed; here it is done
   as the kernel does it: keys decay row by row, no sum of gates is subtracted, a gate may be shut, a = 0.
   Proved for every length, every input and every start state, blocks of any length:
   - outputs and the state after a block are those of the recurrence, whatever the factors a; the
     rows that fill up a short last block (a = 1, all else 0) leave the state as it is;
   - solving rows in groups (of 4 in the kernel), each taken from all rows behind at once, is forward
     substitution;
   - row by row, with the block's keys, its u and the state before it carried along, the same outputs;
   - a row with its gates shut at every channel: what was before does not count; where 0 <= a <= 1, no key
     grows;
   - flushing, 0 <= a <= 1: a number below t = 2^-96 in size becomes 0. A key is then at most t a row off,
     what a query reads of it sum |q| t a row, and of the state sum |q| t |S|; where no gate takes a key below
     t (the kernel asks), no key changes; a state that fades once a block is off by t + t |S| more a block.
   Over the real numbers: what binary32 rounds is not in it. a is a number: that the kernel takes e^g below
   e^-87.3 for 0, and the product of a block's first factors from e to the sum of their gates, is not in it.
   Flushing is bounded number by number: what flushed keys and answers together move u, and with it a block's
   outputs and state, is not bounded here.
   Kernel: state.c (pairs, decayed_pairs, solve, write_block, fade), state_push.c (meet_keys, write_row,
   push_row). Tested on floats in test_state.c. *)

From Coq Require Import Reals Lra Lia PeanoNat.
From Seqmix Require Import Attention.
Open Scope R_scope.

Lemma sum_close n f h d : (forall i, (i < n)%nat -> Rabs (f i - h i) <= d i) ->
  Rabs (sum n f - sum n h) <= sum n d.
Proof.
  induction n; simpl; intros H; [rewrite Rminus_0_r, Rabs_R0; lra |].
  replace (sum n f + f n - (sum n h + h n)) with ((sum n f - sum n h) + (f n - h n)) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. apply Rplus_le_compat; auto.
Qed.

Section State.
(* dk key channels; factors of the gates, queries (times scale), keys, keys that are erased, values as
   [row][column]; one beta a row. *)
Variables (dk : nat) (a q k e v : nat -> nat -> R) (beta : nat -> R) (delta : bool).

(* ---- The recurrence ---- *)

Definition state := nat -> nat -> R. (* [key channel][value column] *)
Definition faded (t : nat) (S : state) : state := fun c j => a t c * S c j.
Definition written (t : nat) (S : state) (j : nat) : R :=
  if delta then beta t * (v t j - sum dk (fun c => e t c * faded t S c j)) else beta t * v t j.
Definition step (t : nat) (S : state) : state := fun c j => faded t S c j + k t c * written t S j.
(* The state after rows t0 .. t0 + n - 1. *)
Fixpoint recurrence (t0 : nat) (S0 : state) (n : nat) : state :=
  match n with O => S0 | S m => step (t0 + m) (recurrence t0 S0 m) end.
(* Column j of row t's output, S the state after row t. *)
Definition output (t : nat) (S : state) (j : nat) : R := sum dk (fun c => q t c * S c j).

(* ---- A block that begins at row t0 with the state S0: its row s stands at t0 + s ---- *)

(* The product of its first n factors. *)
Fixpoint decay (t0 n c : nat) : R := match n with O => 1 | S m => a (t0 + m) c * decay t0 m c end.
(* The key of row s as it has decayed n rows later. *)
Fixpoint late (t0 s n c : nat) : R :=
  match n with O => k (t0 + s) c | S m => a (t0 + (s + n)) c * late t0 s m c end.
Definition reads (t0 t s : nat) : R := sum dk (fun c => q (t0 + t)%nat c * late t0 s (t - s) c).
Definition answers (t0 t s : nat) : R := sum dk (fun c => e (t0 + t)%nat c * late t0 s (t - s) c).
(* What the state leaves of v. *)
Definition miss (t0 : nat) (S0 : state) (t j : nat) : R :=
  v (t0 + t)%nat j - sum dk (fun c => e (t0 + t)%nat c * decay t0 (S t) c * S0 c j).

(* u is what the first n rows write into column j. *)
Definition solves (t0 : nat) (S0 : state) (j n : nat) (u : nat -> R) : Prop :=
  forall t, (t < n)%nat -> u t =
    if delta then beta (t0 + t)%nat * (miss t0 S0 t j - sum t (fun s => answers t0 t s * u s))
    else beta (t0 + t)%nat * v (t0 + t)%nat j.
Definition block_output (t0 : nat) (S0 : state) (u : nat -> R) (t j : nat) : R :=
  sum dk (fun c => q (t0 + t)%nat c * decay t0 (S t) c * S0 c j) + sum (S t) (fun s => reads t0 t s * u s).
(* n rows, at least one. *)
Definition block_state (t0 : nat) (S0 : state) (u : nat -> R) (n c j : nat) : R :=
  decay t0 n c * S0 c j + sum n (fun s => late t0 s (n - 1 - s) c * u s).

Definition wrote (t0 : nat) (S0 : state) (j s : nat) : R := written (t0 + s) (recurrence t0 S0 s) j.

(* What row t reads before it writes. *)
Lemma unrolled_faded t0 S0 j : forall t c,
  faded (t0 + t) (recurrence t0 S0 t) c j =
  decay t0 (S t) c * S0 c j + sum t (fun s => late t0 s (t - s) c * wrote t0 S0 j s).
Proof.
  intros t c. unfold faded. induction t as [| t IH]; [simpl; ring |].
  cbn [recurrence]. unfold step at 1, faded at 1. rewrite IH. cbn [sum decay].
  rewrite (sum_ext t (fun s => late t0 s (S t - s) c * wrote t0 S0 j s)
             (fun s => a (t0 + S t)%nat c * (late t0 s (t - s) c * wrote t0 S0 j s))).
  - rewrite sum_scal. replace (S t - t)%nat with 1%nat by lia. cbn [late].
    replace (t0 + (t + 1))%nat with (t0 + S t)%nat by lia. unfold wrote. ring.
  - intros s Hs. replace (S t - s)%nat with (S (t - s)) by lia. cbn [late].
    replace (t0 + (s + S (t - s)))%nat with (t0 + S t)%nat by lia. ring.
Qed.

Lemma unrolled t0 S0 j t c :
  recurrence t0 S0 (S t) c j =
  decay t0 (S t) c * S0 c j + sum (S t) (fun s => late t0 s (t - s) c * wrote t0 S0 j s).
Proof.
  cbn [recurrence]. unfold step at 1. rewrite unrolled_faded. cbn [sum]. rewrite Nat.sub_diag. cbn [late].
  unfold wrote. ring.
Qed.

(* A row x against keys of the block, and the state before it. *)
Lemma meets (x : nat -> R) t0 (S0 : state) t n j (y : nat -> R) :
  sum dk (fun c => x c * (decay t0 (S t) c * S0 c j + sum n (fun s => late t0 s (t - s) c * y s))) =
  sum dk (fun c => x c * decay t0 (S t) c * S0 c j)
  + sum n (fun s => sum dk (fun c => x c * late t0 s (t - s) c) * y s).
Proof.
  rewrite (sum_ext dk _ (fun c => x c * decay t0 (S t) c * S0 c j
             + sum n (fun s => x c * late t0 s (t - s) c * y s))).
  - rewrite sum_plus, sum_swap. f_equal. apply sum_ext. intros s _.
    rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros c _. ring.
  - intros c _. rewrite Rmult_plus_distr_l, <- sum_scal. f_equal; [ring |]. apply sum_ext. intros s _. ring.
Qed.

Lemma wrote_solves t0 S0 j n : solves t0 S0 j n (wrote t0 S0 j).
Proof.
  intros t _. unfold wrote at 1, written. destruct delta; [| easy]. f_equal. unfold miss.
  rewrite (sum_ext dk _ (fun c => e (t0 + t)%nat c * (decay t0 (S t) c * S0 c j
             + sum t (fun s => late t0 s (t - s) c * wrote t0 S0 j s))))
    by (intros c _; now rewrite unrolled_faded).
  rewrite meets. unfold answers. ring.
Qed.

Lemma one_solution t0 S0 j n x y :
  solves t0 S0 j n x -> solves t0 S0 j n y -> forall t, (t < n)%nat -> x t = y t.
Proof.
  intros Hx Hy t. induction t as [t IH] using (well_founded_induction Wf_nat.lt_wf). intros Ht.
  rewrite (Hx t Ht), (Hy t Ht). destruct delta; [| easy]. do 2 f_equal. apply sum_ext. intros s Hs.
  rewrite IH by lia. easy.
Qed.

(* What a block writes is what the recurrence writes ... *)
Theorem block_writes_the_recurrence : forall t0 S0 j n u,
  solves t0 S0 j n u -> forall t, (t < n)%nat -> u t = written (t0 + t) (recurrence t0 S0 t) j.
Proof.
  intros t0 S0 j n u H t Ht. exact (one_solution t0 S0 j n u _ H (wrote_solves t0 S0 j n) t Ht).
Qed.

(* ... its outputs are those of the recurrence ... *)
Theorem block_output_is_recurrence : forall t0 S0 j n u,
  solves t0 S0 j n u -> forall t, (t < n)%nat ->
  block_output t0 S0 u t j = output (t0 + t) (recurrence t0 S0 (S t)) j.
Proof.
  intros t0 S0 j n u H t Ht. unfold block_output, output, reads.
  rewrite (sum_ext (S t) _
             (fun s => sum dk (fun c => q (t0 + t)%nat c * late t0 s (t - s) c) * wrote t0 S0 j s))
    by (intros s Hs; now rewrite (block_writes_the_recurrence t0 S0 j n u H s) by lia).
  rewrite <- (meets (q (t0 + t)%nat) t0 S0 t (S t) j (wrote t0 S0 j)).
  apply sum_ext. intros c _. now rewrite unrolled.
Qed.

(* ... and so is the state after it. *)
Theorem block_state_is_recurrence : forall t0 S0 j n u c,
  solves t0 S0 j n u -> (0 < n)%nat -> block_state t0 S0 u n c j = recurrence t0 S0 n c j.
Proof.
  intros t0 S0 j n u c H Hn. destruct n as [| n]; [lia |]. rewrite unrolled. unfold block_state. f_equal.
  apply sum_ext. intros s Hs. rewrite (block_writes_the_recurrence t0 S0 j (S n) u H s Hs).
  now replace (S n - 1 - s)%nat with (n - s)%nat by lia.
Qed.

(* Block after block is the recurrence over all rows. *)
Theorem recurrence_in_blocks : forall t0 S0 m n c j,
  recurrence t0 S0 (m + n) c j = recurrence (t0 + m) (recurrence t0 S0 m) n c j.
Proof.
  intros t0 S0 m n. induction n as [| n IH]; intros c j; [now rewrite Nat.add_0_r |].
  rewrite Nat.add_succ_r. cbn [recurrence]. rewrite Nat.add_assoc.
  unfold step, written, faded. rewrite IH. destruct delta; [| easy]. do 4 f_equal.
  apply sum_ext. intros i _. now rewrite IH.
Qed.

(* The rows that fill up the last block. *)
Theorem an_empty_row_leaves_the_state : forall t S c j,
  (forall i, a t i = 1) -> k t c = 0 -> step t S c j = S c j.
Proof. intros t S c j A K. unfold step, faded. rewrite A, K. ring. Qed.

(* ---- Row by row (state_push.c) ---- *)

(* Lanes of the block's keys when row t has met them: one row's decay for those before, its own key, zeros. *)
Fixpoint met (t0 t : nat) (s c : nat) : R :=
  if (t <? s)%nat then 0
  else if (s =? t)%nat then k (t0 + t)%nat c
  else match t with O => 0 | S r => a (t0 + t)%nat c * met t0 r s c end.

Theorem lanes_are_late_keys : forall t0 t s c, (s <= t)%nat -> met t0 t s c = late t0 s (t - s) c.
Proof.
  intros t0 t. induction t as [| t IH]; intros s c Hs.
  - replace s with O by lia. easy.
  - cbn [met]. destruct (Nat.ltb_spec (S t) s); [lia |]. destruct (Nat.eqb_spec s (S t)) as [-> | N].
    + rewrite Nat.sub_diag. easy.
    + rewrite IH by lia. replace (S t - s)%nat with (S (t - s)) by lia. cbn [late].
      now replace (t0 + (s + S (t - s)))%nat with (t0 + S t)%nat by lia.
Qed.

(* u row by row: from the answers of the lanes to the newest row, and the u before. *)
Fixpoint pushed_u (t0 : nat) (S0 : state) (j t : nat) : nat -> R :=
  match t with
  | O => fun _ => 0
  | S r => let u := pushed_u t0 S0 j r in
           fun i => if (i =? r)%nat then
                      if delta then
                        beta (t0 + r)%nat * (miss t0 S0 r j
                          - sum r (fun s => sum dk (fun c => e (t0 + r)%nat c * met t0 r s c) * u s))
                      else beta (t0 + r)%nat * v (t0 + r)%nat j
                    else u i
  end.
Definition pushed_output (t0 : nat) (S0 : state) (t j : nat) : R :=
  sum dk (fun c => q (t0 + t)%nat c * decay t0 (S t) c * S0 c j)
  + sum (S t) (fun s => sum dk (fun c => q (t0 + t)%nat c * met t0 t s c) * pushed_u t0 S0 j (S t) s).

Lemma pushed_u_stays t0 S0 j m : forall n t, (t < m)%nat -> (m <= n)%nat ->
  pushed_u t0 S0 j n t = pushed_u t0 S0 j m t.
Proof.
  induction n; intros t Ht Hn; [lia |]. destruct (Nat.eq_dec m (S n)) as [-> |]; [easy |].
  cbn [pushed_u]. destruct (Nat.eqb_spec t n); [lia |]. apply IHn; lia.
Qed.

Lemma pushed_u_solves t0 S0 j n : solves t0 S0 j n (pushed_u t0 S0 j n).
Proof.
  intros t Ht. rewrite (pushed_u_stays t0 S0 j (S t) n t) by lia. cbn [pushed_u]. rewrite Nat.eqb_refl.
  destruct delta; [| easy]. do 2 f_equal. apply sum_ext. intros s Hs.
  rewrite (pushed_u_stays t0 S0 j t n s) by lia. f_equal. unfold answers. apply sum_ext. intros c _.
  now rewrite lanes_are_late_keys by lia.
Qed.

Theorem pushed_row_is_recurrence : forall t0 S0 t j,
  pushed_output t0 S0 t j = output (t0 + t) (recurrence t0 S0 (S t)) j.
Proof.
  intros t0 S0 t j.
  rewrite <- (block_output_is_recurrence t0 S0 j (S t) _ (pushed_u_solves t0 S0 j (S t)) t) by lia.
  unfold pushed_output, block_output, reads. f_equal. apply sum_ext. intros s Hs. f_equal.
  apply sum_ext. intros c _. now rewrite lanes_are_late_keys by lia.
Qed.

(* ---- Gates ---- *)

(* A gate that is shut at every channel: what was before does not count. *)
Theorem a_shut_gate_forgets : forall t0 S0 S1 n c j, (forall i, a (t0 + n)%nat i = 0) ->
  recurrence t0 S0 (S n) c j = k (t0 + n)%nat c * (beta (t0 + n)%nat * v (t0 + n)%nat j) /\
  recurrence t0 S0 (S n) c j = recurrence t0 S1 (S n) c j.
Proof.
  intros t0 S0 S1 n c j H.
  assert (E : forall S0, recurrence t0 S0 (S n) c j
                         = k (t0 + n)%nat c * (beta (t0 + n)%nat * v (t0 + n)%nat j)); [| now rewrite !E].
  intros S. cbn [recurrence]. unfold step, written, faded. rewrite H.
  rewrite (sum_ext dk _ (fun _ => 0 * 0)) by (intros; rewrite H; ring). rewrite sum_scal.
  destruct delta; ring.
Qed.

(* Gates that only close: what has decayed is no larger. *)
Theorem keys_do_not_grow : forall t0 s n c, (forall t i, 0 <= a t i <= 1) ->
  Rabs (late t0 s n c) <= Rabs (k (t0 + s)%nat c) /\ 0 <= decay t0 n c <= 1.
Proof.
  intros t0 s n c H. induction n as [| n [IH1 IH2]]; [simpl; lra |]. cbn [late decay]. split.
  - rewrite Rabs_mult. pose proof (H (t0 + (s + S n))%nat c). rewrite (Rabs_pos_eq (a _ _)) by lra.
    pose proof (Rabs_pos (late t0 s n c)). nra.
  - pose proof (H (t0 + n)%nat c). nra.
Qed.

(* ---- Flushing ---- *)

Definition tiny : R := / 2 ^ 96.
Definition settled (x : R) : R := if Rlt_dec (Rabs x) tiny then 0 else x.

Lemma tiny_positive : 0 < tiny.
Proof. unfold tiny. apply Rinv_0_lt_compat, pow_lt. lra. Qed.

Lemma settled_close x : Rabs (settled x - x) <= tiny.
Proof.
  pose proof tiny_positive. unfold settled. destruct (Rlt_dec (Rabs x) tiny).
  - rewrite Rminus_0_l, Rabs_Ropp. lra.
  - rewrite Rminus_diag_eq, Rabs_R0 by easy. lra.
Qed.

Fixpoint settled_late (t0 s n c : nat) : R :=
  match n with O => settled (k (t0 + s)%nat c) | S m => settled (a (t0 + (s + n)) c * settled_late t0 s m c) end.

Theorem flushed_keys : forall t0 s n c, (forall t i, 0 <= a t i <= 1) ->
  Rabs (settled_late t0 s n c - late t0 s n c) <= INR (S n) * tiny.
Proof.
  intros t0 s n c H. induction n as [| n IH].
  { simpl. pose proof (settled_close (k (t0 + s)%nat c)). lra. }
  cbn [settled_late late]. rewrite S_INR. set (f := a (t0 + (s + S n))%nat c) in *.
  replace (settled (f * settled_late t0 s n c) - f * late t0 s n c)
    with ((settled (f * settled_late t0 s n c) - f * settled_late t0 s n c)
          + f * (settled_late t0 s n c - late t0 s n c)) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. pose proof (settled_close (f * settled_late t0 s n c)).
  rewrite Rabs_mult. pose proof (H (t0 + (s + S n))%nat c) as F. fold f in F.
  rewrite (Rabs_pos_eq f) by lra. pose proof (Rabs_pos (settled_late t0 s n c - late t0 s n c)).
  pose proof tiny_positive. pose proof (pos_INR (S n)). nra.
Qed.

(* What a query reads of them. *)
Theorem flushed_reads : forall t0 t s, (forall t i, 0 <= a t i <= 1) ->
  Rabs (sum dk (fun c => q (t0 + t)%nat c * settled_late t0 s (t - s) c) - reads t0 t s)
  <= sum dk (fun c => Rabs (q (t0 + t)%nat c) * (INR (S (t - s)) * tiny)).
Proof.
  intros t0 t s H. apply sum_close. intros c _. rewrite <- Rmult_minus_distr_l, Rabs_mult.
  apply Rmult_le_compat_l; [apply Rabs_pos | now apply flushed_keys].
Qed.

(* What it reads of the state before the block, whose factor is flushed. *)
Theorem flushed_reads_of_the_state : forall t0 (S0 : state) t j,
  Rabs (sum dk (fun c => q (t0 + t)%nat c * settled (decay t0 (S t) c) * S0 c j)
        - sum dk (fun c => q (t0 + t)%nat c * decay t0 (S t) c * S0 c j))
  <= sum dk (fun c => Rabs (q (t0 + t)%nat c) * tiny * Rabs (S0 c j)).
Proof.
  intros t0 S0 t j. apply sum_close. intros c _.
  rewrite <- Rmult_minus_distr_r, <- Rmult_minus_distr_l, !Rabs_mult.
  apply Rmult_le_compat_r; [apply Rabs_pos |]. apply Rmult_le_compat_l; [apply Rabs_pos | apply settled_close].
Qed.

(* Where no key comes below tiny, no key is flushed. The kernel asks for more: m is the least key or query but 0,
   f the product of all factors of a block, and m f at least 2^-90. *)
Theorem a_steady_block_flushes_nothing : forall t0 s n c m f,
  (forall t i, 0 <= a t i <= 1) -> k (t0 + s)%nat c = 0 \/ m <= Rabs (k (t0 + s)%nat c) -> 0 <= m ->
  (forall l, (l <= n)%nat -> f <= decay (t0 + s + 1) l c) -> 0 <= f -> tiny <= m * f ->
  settled_late t0 s n c = late t0 s n c.
Proof.
  intros t0 s n c m f H Hk Hm Hf F0 T.
  assert (L : forall l, late t0 s l c = k (t0 + s)%nat c * decay (t0 + s + 1) l c).
  { induction l as [| l IH]; cbn [late decay]; [ring |]. rewrite IH.
    replace (t0 + (s + S l))%nat with (t0 + s + 1 + l)%nat by lia. ring. }
  assert (Big : forall l, (l <= n)%nat -> late t0 s l c = 0 \/ tiny <= Rabs (late t0 s l c)).
  { intros l Hl. rewrite L. destruct Hk as [-> | Hk]; [left; ring | right].
    specialize (Hf l Hl). rewrite Rabs_mult, (Rabs_pos_eq (decay _ _ _)) by lra.
    eapply Rle_trans; [exact T |]. apply Rmult_le_compat; lra. }
  assert (Kept : forall x, x = 0 \/ tiny <= Rabs x -> settled x = x).
  { intros x Hx. unfold settled. destruct (Rlt_dec (Rabs x) tiny); [| easy]. destruct Hx; [easy | lra]. }
  clear L Hf T. induction n as [| n IH]; cbn [settled_late]; [apply Kept, (Big O (le_n _)) |].
  rewrite IH by (intros l Hl; apply Big; lia). change (a _ c * late t0 s n c) with (late t0 s (S n) c).
  apply Kept, (Big (S n) (le_n _)).
Qed.

(* A state that fades by D, once a block, D itself flushed: off by tiny, tiny times its size, and what it was
   off before. *)
Theorem flushed_state : forall D (S T : R), 0 <= D <= 1 ->
  Rabs (settled (settled D * T) - D * S) <= tiny + tiny * Rabs T + Rabs (T - S).
Proof.
  intros D S T H. pose proof (settled_close (settled D * T)) as A. pose proof (settled_close D) as B.
  replace (settled (settled D * T) - D * S)
    with ((settled (settled D * T) - settled D * T) + (settled D - D) * T + D * (T - S)) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang |].
  rewrite !Rabs_mult, (Rabs_pos_eq D) by lra. pose proof (Rabs_pos T). pose proof (Rabs_pos (T - S)).
  assert (Rabs (settled D - D) * Rabs T <= tiny * Rabs T) by (apply Rmult_le_compat_r; lra). nra.
Qed.
End State.

(* ---- Rows solved in groups ---- *)

(* x_t = b_t (y_t - sum_{s<t} M_ts x_s), w rows at a time: those of a group among themselves (its first i of
   them; row r of the group stands at p + r), then the group is taken from what is left of all rows behind. *)
Fixpoint group (M : nat -> nat -> R) (b left : nat -> R) (p i : nat) : nat -> R :=
  match i with
  | O => fun _ => 0
  | S j => let x := group M b left p j in
           fun r => if (r =? j)%nat then
                      b (p + j)%nat * (left (p + j)%nat - sum j (fun r => M (p + j)%nat (p + r)%nat * x r))
                    else x r
  end.
(* The solution of the first g groups, and what is left of y. *)
Fixpoint solved (M : nat -> nat -> R) (b y : nat -> R) (w g : nat) : (nat -> R) * (nat -> R) :=
  match g with
  | O => (fun _ => 0, y)
  | S h => let (x, left) := solved M b y w h in
           let z := group M b left (w * h) w in
           (fun t => if (w * h <=? t)%nat then z (t - w * h)%nat else x t,
            fun t => if (w * h + w <=? t)%nat then left t - sum w (fun r => M t (w * h + r)%nat * z r)
                     else left t)
  end.

Lemma group_stays M b y p m : forall n r, (r < m)%nat -> (m <= n)%nat ->
  group M b y p n r = group M b y p m r.
Proof.
  induction n; intros r Hr Hn; [lia |]. destruct (Nat.eq_dec m (S n)) as [-> |]; [easy |].
  cbn [group]. destruct (Nat.eqb_spec r n); [lia |]. apply IHn; lia.
Qed.

Theorem groups_solve : forall M b y w g t, (t < w * g)%nat ->
  let x := fst (solved M b y w g) in x t = b t * (y t - sum t (fun s => M t s * x s)).
Proof.
  intros M b y w g.
  assert (Both : (forall t, (t < w * g)%nat ->
                   fst (solved M b y w g) t = b t * (y t - sum t (fun s => M t s * fst (solved M b y w g) s)))
                 /\ forall t, (w * g <= t)%nat ->
                   snd (solved M b y w g) t = y t - sum (w * g) (fun s => M t s * fst (solved M b y w g) s)).
  { induction g as [| g [IH1 IH2]].
    - split; intros t Ht; [lia |]. rewrite Nat.mul_0_r. simpl. ring.
    - cbn [solved]. destruct (solved M b y w g) as [x left]. cbn [fst snd] in *.
      set (p := (w * g)%nat) in *. set (z := group M b left p w).
      replace (w * S g)%nat with (p + w)%nat by (unfold p; lia).
      set (X := fun t => if (p <=? t)%nat then z (t - p)%nat else x t).
      assert (Old : forall t, (t < p)%nat -> X t = x t)
        by (intros t Ht; unfold X; destruct (Nat.leb_spec p t); [lia | easy]).
      assert (New : forall r, X (p + r)%nat = z r).
      { intros r. unfold X. destruct (Nat.leb_spec p (p + r)); [| lia]. f_equal. lia. }
      assert (Before : forall t, sum p (fun s => M t s * X s) = sum p (fun s => M t s * x s))
        by (intros t; apply sum_ext; intros s Hs; now rewrite Old).
      assert (Within : forall t n, sum n (fun r => M t (p + r)%nat * X (p + r)%nat) =
                                   sum n (fun r => M t (p + r)%nat * z r))
        by (intros t n; apply sum_ext; intros r _; now rewrite New).
      split; intros t Ht.
      + change (X t = b t * (y t - sum t (fun s => M t s * X s))).
        destruct (Nat.lt_ge_cases t p) as [B | B].
        * rewrite Old, IH1 by easy. do 2 f_equal. apply sum_ext. intros s Hs. now rewrite Old by lia.
        * replace t with (p + (t - p))%nat by lia. set (r := (t - p)%nat).
          rewrite New, sum_app, Before, Within. unfold z at 1.
          rewrite (group_stays M b left p (S r) w r) by (unfold r; lia). cbn [group]. rewrite Nat.eqb_refl.
          rewrite IH2 by lia.
          rewrite (sum_ext r (fun i => M (p + r)%nat (p + i)%nat * group M b left p r i)
                     (fun i => M (p + r)%nat (p + i)%nat * z i))
            by (intros i Hi; unfold z; now rewrite (group_stays M b left p r w i) by (unfold r in *; lia)).
          f_equal. ring.
      + destruct (Nat.leb_spec (p + w) t); [| lia].
        change (left t - sum w (fun r => M t (p + r)%nat * z r) = y t - sum (p + w) (fun s => M t s * X s)).
        rewrite IH2 by lia.
        rewrite sum_app, Before, Within. ring. }
  intros t Ht. exact (proj1 Both t Ht).
Qed.
