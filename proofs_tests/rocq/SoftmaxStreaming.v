(* SoftmaxStreaming.v: the attention kernel computes softmax attention, but for weights below e^-41.5
   of a row's largest.

   The kernel never forms the map. For a row of logits it takes the largest one off, sums the exponentials,
   multiplies the exponentials as they are with the rows of V, and only then multiplies by 1 / sum. A model
   that reads one row at a time keeps the keys and values it has read and computes the newest row from them.
   Under the causal mask a tile of the product reaches past the diagonal, where the weights are 0. Proved
   here, for every length, every input and every mask:
   - the result is softmax attention, whatever number is taken off the logits (the largest, for safety);
   - with the largest taken off, every exponential is at most 1 and their sum at least 1: nothing overflows;
   - exponentials of less than -41.5 are 0 in the kernel: that moves a row that sees n rows by no more than
     2 n e^-41.5 times its largest value, also with a window's mask and the tile past the diagonal;
   - the second pass (gradients) forms each weight again from the saved largest logit and 1 / sum: they are
     the weights of the first, sum to 1, and lie within 2 n e^-41.5 of softmax (so does a map, which saves
     nothing);
   - reading row by row, in any pieces, gives the rows of the full pass, before exponentials are cut: causal,
     over the last W rows, in chunks of M, or both, with a state of no more rows than the newest one sees;
   - the online form, with a running maximum, sum and output, gives the same (our kernel does not use it);
   - weights of 0 past the diagonal change nothing. (That values must be finite there: MaskTimesZero.v.)
   Over the real numbers. Pooled maps are Pooling.v's. Factors and biases are part of a logit, but where rows
   are read one by one logits are scale q . k alone: tables by distance are not covered there. The model's
   state is what the newest row sees. The kernel's has room for a whole chunk or sequence, under a window for
   2 W rows, W rounded up to a multiple of 96, and masks those out of sight. Not covered: caps, sinks, sigmoid
   scores, a NaN among the logits.
   Kernel: attention.c (attention_fwd, attention_push), attention_rows.h (softmax_row, softmax_row_again,
   triangle_times).
   Tested on floats in test_attention.c, test_vectors.c. *)

From Coq Require Import Reals Lra Lia List PeanoNat.
Import ListNotations.
Open Scope R_scope.

(* f 0 + ... + f (n-1) *)
Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => sum m f + f m end.

(* A logit is a number, or None: minus infinity, a masked entry. *)
Definition logit := option R.
Definition masked_exp (l : logit) : R := match l with Some x => exp x | None => 0 end.
Definition minus (l : logit) (c : R) : logit := option_map (fun x => x - c) l.

(* Softmax of a row of n logits, and the attention output: one column of P V. *)
Definition softmax (n : nat) (l : nat -> logit) (j : nat) : R :=
  masked_exp (l j) / sum n (fun i => masked_exp (l i)).
Definition attention (n : nat) (l : nat -> logit) (v : nat -> R) : R :=
  sum n (fun j => softmax n l j * v j).

(* What the kernel computes, c taken off the logits. *)
Definition kernel_sum (n : nat) (l : nat -> logit) (c : R) : R := sum n (fun j => masked_exp (minus (l j) c)).
Definition kernel_row (n : nat) (l : nat -> logit) (v : nat -> R) (c : R) : R :=
  sum n (fun j => masked_exp (minus (l j) c) * v j) * (1 / kernel_sum n l c).

(* ---- Sums ---- *)

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n; simpl; intros H; [easy | rewrite IHn, H; auto]. Qed.

Lemma sum_scale n f a : sum n (fun i => a * f i) = a * sum n f.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n; simpl; intros H; [lra |].
  assert (sum n f <= sum n g) by auto. specialize (H n). assert (f n <= g n) by auto. lra.
Qed.

Lemma sum_const n a : sum n (fun _ => a) = INR n * a.
Proof. induction n; [simpl; ring |]. rewrite S_INR. simpl. rewrite IHn. ring. Qed.

Lemma sum_at_least_term n f j : (forall i, 0 <= f i) -> (j < n)%nat -> f j <= sum n f.
Proof.
  intros P. induction n; simpl; intros H; [lia |].
  assert (0 <= sum n f) by (rewrite <- (Rmult_0_r (INR n)), <- sum_const; apply sum_le; auto).
  specialize (P n). destruct (Nat.eq_dec j n) as [-> |]; [lra |].
  assert (f j <= sum n f) by (apply IHn; lia). lra.
Qed.

Lemma sum_tail_zero n m f : (forall i, (n <= i)%nat -> f i = 0) -> sum (n + m) f = sum n f.
Proof.
  intros Z. induction m; [now rewrite Nat.add_0_r |].
  rewrite Nat.add_succ_r. simpl. rewrite IHm, Z by lia. ring.
Qed.

Lemma sum_split m n f : sum (m + n) f = sum m f + sum n (fun i => f (m + i)%nat).
Proof.
  induction n; [rewrite Nat.add_0_r; simpl; ring |]. rewrite Nat.add_succ_r. simpl. rewrite IHn. ring.
Qed.

Lemma attention_ext n l l' v v' :
  (forall j, (j < n)%nat -> l j = l' j /\ v j = v' j) -> attention n l v = attention n l' v'.
Proof.
  intros H. unfold attention, softmax.
  rewrite (sum_ext n (fun i => masked_exp (l i)) (fun i => masked_exp (l' i)))
    by (intros i Hi; f_equal; now apply H).
  apply sum_ext. intros j Hj. destruct (H j Hj) as [-> ->]. easy.
Qed.

(* ---- Softmax after subtracting, normalised after the product with V ---- *)

Lemma masked_exp_minus l c : masked_exp (minus l c) = exp (- c) * masked_exp l.
Proof. destruct l; simpl; [rewrite <- exp_plus; f_equal; ring | ring]. Qed.

Lemma masked_exp_nonneg l : 0 <= masked_exp l.
Proof. destruct l; simpl; [left; apply exp_pos | lra]. Qed.

Lemma kernel_sum_scaled n l c : kernel_sum n l c = exp (- c) * sum n (fun i => masked_exp (l i)).
Proof. unfold kernel_sum. rewrite <- sum_scale. apply sum_ext. intros. apply masked_exp_minus. Qed.

(* Of a row in which at least one logit is a number. *)
Theorem kernel_row_is_attention : forall n l v c,
  (exists j x, (j < n)%nat /\ l j = Some x) ->
  kernel_row n l v c = attention n l v.
Proof.
  intros n l v c (j & x & Hj & Hl). unfold kernel_row, attention, softmax. rewrite kernel_sum_scaled.
  assert (0 < sum n (fun i => masked_exp (l i))).
  { apply Rlt_le_trans with (masked_exp (l j)); [rewrite Hl; apply exp_pos |].
    apply (sum_at_least_term n (fun i => masked_exp (l i))); [intros; apply masked_exp_nonneg | easy]. }
  set (Z := sum n (fun i => masked_exp (l i))) in *. pose proof (exp_pos (- c)).
  rewrite (sum_ext n _ (fun i => exp (- c) * (masked_exp (l i) * v i)))
    by (intros; rewrite masked_exp_minus; ring).
  rewrite (sum_ext n (fun i => masked_exp (l i) / Z * v i) (fun i => / Z * (masked_exp (l i) * v i)))
    by (intros; unfold Rdiv; ring).
  rewrite !sum_scale. field. lra.
Qed.

(* A row whose logits are all minus infinity: the kernel's exponentials are 0, and so is its row, whatever
   stands for 1 / 0 (in the kernel 0). *)
Theorem masked_row_is_zero : forall n l v c,
  (forall j, (j < n)%nat -> l j = None) -> kernel_row n l v c = 0.
Proof.
  intros n l v c H. unfold kernel_row.
  rewrite (sum_ext n _ (fun _ => 0)) by (intros j Hj; rewrite H by easy; simpl; ring).
  rewrite sum_const. ring.
Qed.

(* With the row's maximum taken off, no exponential exceeds 1, and 1 <= sum <= n. *)
Theorem safe_with_the_maximum : forall n l c j,
  (j < n)%nat -> l j = Some c -> (forall i x, (i < n)%nat -> l i = Some x -> x <= c) ->
  (forall i, (i < n)%nat -> 0 <= masked_exp (minus (l i) c) <= 1) /\ 1 <= kernel_sum n l c <= INR n.
Proof.
  intros n l c j Hj Hl Hmax.
  assert (B : forall i, (i < n)%nat -> 0 <= masked_exp (minus (l i) c) <= 1).
  { intros i Hi. split; [apply masked_exp_nonneg |]. destruct (l i) as [x |] eqn:E; simpl; [| lra].
    rewrite <- exp_0. specialize (Hmax i x Hi E). destruct (Req_dec (x - c) 0) as [-> |]; [lra |].
    left. apply exp_increasing. lra. }
  split; [easy |]. unfold kernel_sum. split.
  - replace 1 with (masked_exp (minus (l j) c)) by (rewrite Hl; simpl; rewrite Rminus_diag_eq, exp_0; auto).
    apply (sum_at_least_term n (fun i => masked_exp (minus (l i) c))); [| easy].
    intros; apply masked_exp_nonneg.
  - rewrite <- (Rmult_1_r (INR n)), <- sum_const. apply sum_le. intros i Hi. apply (B i Hi).
Qed.

(* ---- As the kernel weighs: weights below e^-41.5, the second pass, maps ---- *)

(* Below -41.5 the kernel's exponential is 0. *)
Definition cut_exp (l : logit) : R :=
  match l with Some x => if Rlt_dec x (-41.5) then 0 else exp x | None => 0 end.
Definition cut_sum (n : nat) (l : nat -> logit) (c : R) : R := sum n (fun j => cut_exp (minus (l j) c)).
Definition cut_row (n : nat) (l : nat -> logit) (v : nat -> R) (c : R) : R :=
  sum n (fun j => cut_exp (minus (l j) c) * v j) * (1 / cut_sum n l c).

Lemma cut_exp_close l : 0 <= masked_exp l - cut_exp l <= exp (-41.5).
Proof.
  pose proof (exp_pos (-41.5)). destruct l as [x |]; simpl; [| lra].
  destruct (Rlt_dec x (-41.5)) as [B |]; [| lra]. pose proof (exp_pos x).
  apply exp_increasing in B. lra.
Qed.

Lemma sum_abs_le n f g : (forall i, (i < n)%nat -> Rabs (f i) <= g i) -> Rabs (sum n f) <= sum n g.
Proof.
  induction n; simpl; intros H; [rewrite Rabs_R0; lra |]. eapply Rle_trans; [apply Rabs_triang |].
  apply Rplus_le_compat; auto.
Qed.

(* c is one of n logits; in the kernel the largest. *)
Lemma cut_sum_range n l c j : (j < n)%nat -> l j = Some c ->
  1 <= cut_sum n l c /\ 0 <= kernel_sum n l c - cut_sum n l c <= INR n * exp (-41.5).
Proof.
  intros Hj Hl. assert (P : forall i, 0 <= cut_exp (minus (l i) c)).
  { intros i. destruct (minus (l i) c) as [x |]; simpl; [| lra].
    destruct (Rlt_dec x (-41.5)); [lra | left; apply exp_pos]. }
  split.
  - replace 1 with (cut_exp (minus (l j) c)).
    { apply (sum_at_least_term n (fun i => cut_exp (minus (l i) c))); easy. }
    rewrite Hl. simpl. rewrite Rminus_diag_eq by easy. destruct (Rlt_dec 0 (-41.5)); [lra | apply exp_0].
  - unfold kernel_sum, cut_sum.
    assert (E : sum n (fun i => masked_exp (minus (l i) c)) - sum n (fun i => cut_exp (minus (l i) c))
                = sum n (fun i => masked_exp (minus (l i) c) - cut_exp (minus (l i) c))).
    { clear. induction n; simpl; [ring | rewrite <- IHn; ring]. }
    rewrite E, <- sum_const. split.
    + rewrite <- (Rmult_0_r (INR n)), <- sum_const. apply sum_le. intros i _. apply cut_exp_close.
    + apply sum_le. intros i _. apply cut_exp_close.
Qed.

(* What the cut changes: 2 n e^-41.5, which is n 1.9e-18, of the largest value. *)
Theorem cut_row_is_near_attention : forall n l v c V j,
  (j < n)%nat -> l j = Some c -> (forall i, (i < n)%nat -> Rabs (v i) <= V) ->
  Rabs (cut_row n l v c - attention n l v) <= 2 * INR n * exp (-41.5) * V.
Proof.
  intros n l v c V j Hj Hl HV. rewrite <- (kernel_row_is_attention n l v c) by (exists j, c; easy).
  destruct (cut_sum_range n l c j Hj Hl) as [S1 D]. unfold kernel_row, cut_row.
  assert (V0 : 0 <= V) by (pose proof (HV j Hj); pose proof (Rabs_pos (v j)); lra).
  set (S := kernel_sum n l c) in *. set (S' := cut_sum n l c) in *.
  set (A := sum n (fun i => masked_exp (minus (l i) c) * v i)).
  set (A' := sum n (fun i => cut_exp (minus (l i) c) * v i)).
  assert (B : Rabs (A - A') <= (S - S') * V).
  { unfold A, A', S, S', kernel_sum, cut_sum.
    assert (E : forall f g, sum n f - sum n g = sum n (fun i => f i - g i)).
    { clear. intros f g. induction n; simpl; [ring | rewrite <- IHn; ring]. }
    rewrite !E, Rmult_comm, <- sum_scale. apply sum_abs_le. intros i Hi.
    rewrite <- Rmult_minus_distr_r, Rabs_mult, Rmult_comm.
    pose proof (cut_exp_close (minus (l i) c)). rewrite (Rabs_pos_eq (masked_exp _ - _)) by lra.
    apply Rmult_le_compat_r; [lra | now apply HV]. }
  assert (C : Rabs A' <= S' * V).
  { unfold A', S', cut_sum. rewrite Rmult_comm, <- sum_scale. apply sum_abs_le. intros i Hi.
    assert (P : 0 <= cut_exp (minus (l i) c)).
    { destruct (minus (l i) c) as [x |]; simpl; [| lra].
      destruct (Rlt_dec x (-41.5)); [lra | left; apply exp_pos]. }
    rewrite Rabs_mult, (Rabs_pos_eq _ P), Rmult_comm. apply Rmult_le_compat_r; [easy | now apply HV]. }
  replace (A' * (1 / S') - A * (1 / S)) with (A' / S' * ((S - S') / S) - (A - A') / S) by (field; lra).
  assert (Q : Rabs (A' / S') <= V).
  { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ S')) by (left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_reg_r with S'; [lra |]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (I : 0 < / S <= 1).
  { split; [apply Rinv_0_lt_compat; lra |]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  assert (F : 0 <= (S - S') / S <= INR n * exp (-41.5)).
  { unfold Rdiv. split; [apply Rmult_le_pos; lra |]. nra. }
  unfold Rminus at 1. eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_Ropp, Rabs_mult.
  rewrite (Rabs_pos_eq ((S - S') / S)) by lra. unfold Rdiv at 3. rewrite Rabs_mult, (Rabs_pos_eq (/ S)) by lra.
  assert (G : Rabs (A - A') * / S <= INR n * exp (-41.5) * V).
  { apply Rle_trans with ((S - S') * V * / S); [apply Rmult_le_compat_r; lra |].
    replace ((S - S') * V * / S) with ((S - S') / S * V) by (unfold Rdiv; ring).
    apply Rmult_le_compat_r; lra. }
  assert (Rabs (A' / S') * ((S - S') / S) <= V * (INR n * exp (-41.5)))
    by (apply Rmult_le_compat; try apply Rabs_pos; lra).
  lra.
Qed.

(* The second pass (gradients, and every row of a map) has the largest logit c and 1 / sum of the first, 0 of a
   row without a logit, and forms each weight again. *)
Definition weight_again (l : nat -> logit) (c inverse : R) (j : nat) : R :=
  if Req_EM_T inverse 0 then 0 else cut_exp (minus (l j) c) * inverse.

(* They are the weights that the row was made of, ... *)
Theorem second_pass_weighs_the_same : forall n l v c j, (j < n)%nat -> l j = Some c ->
  sum n (fun i => weight_again l c (1 / cut_sum n l c) i * v i) = cut_row n l v c /\
  sum n (weight_again l c (1 / cut_sum n l c)) = 1.
Proof.
  intros n l v c j Hj Hl. destruct (cut_sum_range n l c j Hj Hl) as [S1 _].
  assert (I : 1 / cut_sum n l c <> 0) by (unfold Rdiv; rewrite Rmult_1_l; apply Rinv_neq_0_compat; lra).
  unfold weight_again. destruct (Req_EM_T (1 / cut_sum n l c) 0) as [E |]; [easy |]. split.
  - unfold cut_row. rewrite Rmult_comm, <- sum_scale. apply sum_ext. intros. ring.
  - rewrite (sum_ext n _ (fun i => 1 / cut_sum n l c * cut_exp (minus (l i) c))) by (intros; ring).
    rewrite sum_scale. fold (cut_sum n l c). field. lra.
Qed.

(* ... each within 2 n e^-41.5 of softmax. *)
Theorem second_pass_is_near_softmax : forall n l c j i, (j < n)%nat -> l j = Some c -> (i < n)%nat ->
  Rabs (weight_again l c (1 / cut_sum n l c) i - softmax n l i) <= 2 * INR n * exp (-41.5).
Proof.
  intros n l c j i Hj Hl Hi. set (v := fun m => if (m =? i)%nat then 1 else 0).
  assert (Pick : forall f : nat -> R, sum n (fun m => f m * v m) = f i).
  { intros f. clear Hj. induction n as [| n IH]; [lia |]. simpl. unfold v at 2.
    destruct (Nat.eqb_spec n i) as [-> | N].
    - rewrite (sum_ext i _ (fun _ => 0)), sum_const; [ring |].
      intros m Hm. unfold v. destruct (Nat.eqb_spec m i); [lia | ring].
    - rewrite IH by lia. ring. }
  assert (V : forall m, (m < n)%nat -> Rabs (v m) <= 1)
    by (intros m _; unfold v; destruct (m =? i)%nat; rewrite ?Rabs_R1, ?Rabs_R0; lra).
  pose proof (cut_row_is_near_attention n l v c 1 j Hj Hl V) as H.
  destruct (second_pass_weighs_the_same n l v c j Hj Hl) as [E _]. rewrite <- E in H.
  unfold attention in H. rewrite !Pick in H. lra.
Qed.

(* ---- Weights of 0 past the diagonal ---- *)

(* A tile multiplies columns 0 .. e-1 where row i sees 0 .. i only and the weights between are 0. *)
Theorem tile_past_the_diagonal : forall i e w v,
  (i < e)%nat -> (forall j, (i < j)%nat -> w j = 0) ->
  sum e (fun j => w j * v j) = sum (S i) (fun j => w j * v j).
Proof.
  intros i e w v He Hw. replace e with (S i + (e - S i))%nat by lia.
  apply sum_tail_zero. intros j Hj. rewrite Hw by lia. ring.
Qed.

(* Row i of the full pass sees rows a .. i of n; the others are masked, and weigh nothing. *)
Definition seen (a i : nat) (s : nat -> R) (j : nat) : logit :=
  if ((a <=? j) && (j <=? i))%nat%bool then Some (s j) else None.

Lemma sum_of_seen a i t f : (a <= i < t)%nat -> (forall j, (j < a \/ i < j)%nat -> f j = 0) ->
  sum t f = sum (S i - a) (fun j => f (a + j)%nat).
Proof.
  intros H Z. replace t with (a + (S i - a) + (t - S i))%nat by lia.
  rewrite sum_tail_zero by (intros; apply Z; lia). rewrite sum_split.
  rewrite (sum_ext a f (fun _ => 0)) by (intros; apply Z; lia). rewrite sum_const. ring.
Qed.

Theorem seen_row : forall n a i s v, (a <= i < n)%nat ->
  attention n (seen a i s) v = attention (S i - a) (fun j => Some (s (a + j)%nat)) (fun j => v (a + j)%nat).
Proof.
  intros n a i s v Hi. unfold attention.
  assert (C : forall j, (a <= j <= i)%nat -> seen a i s j = Some (s j)).
  { intros j Hj. unfold seen. destruct (Nat.leb_spec a j), (Nat.leb_spec j i); simpl; try lia; easy. }
  assert (N : forall j, (j < a \/ i < j)%nat -> seen a i s j = None).
  { intros j Hj. unfold seen. destruct (Nat.leb_spec a j), (Nat.leb_spec j i); simpl; try lia; easy. }
  rewrite (sum_of_seen a i n (fun j => softmax n (seen a i s) j * v j) Hi)
    by (intros j Hj; unfold softmax; rewrite N by easy; simpl; unfold Rdiv; ring).
  apply sum_ext. intros j Hj. unfold softmax.
  rewrite (sum_of_seen a i n (fun j => masked_exp (seen a i s j)) Hi) by (intros m Hm; now rewrite N).
  rewrite C by lia. f_equal. f_equal. apply sum_ext. intros m Hm. now rewrite C by lia.
Qed.

(* The kernel's row i, its exponentials uncut: over 0 .. i, zeros on to the tile's end e, the product with V,
   then 1 / sum. *)
Theorem causal_kernel_row : forall n i e s v c, (i < n)%nat -> (i < e)%nat ->
  sum e (fun j => (if (j <=? i)%nat then exp (s j - c) else 0) * v j)
  * (1 / sum (S i) (fun j => exp (s j - c)))
  = attention n (seen 0 i s) v.
Proof.
  intros n i e s v c Hi He. rewrite seen_row by lia. rewrite Nat.sub_0_r.
  change (attention (S i) _ _) with (attention (S i) (fun j => Some (s j)) v).
  rewrite (tile_past_the_diagonal i e (fun j => if (j <=? i)%nat then exp (s j - c) else 0) v He)
    by (intros m Hm; now destruct (Nat.leb_spec m i); [lia |]).
  rewrite <- (kernel_row_is_attention (S i) (fun j => Some (s j)) v c)
    by (exists O, (s O); split; [lia | easy]).
  unfold kernel_row, kernel_sum. f_equal. apply sum_ext. intros j Hj. simpl.
  now destruct (Nat.leb_spec j i); [| lia].
Qed.

(* The kernel's row i whole: it sees rows a .. i, what lies before them and on to the tile's end e weighs 0,
   and so do exponentials of less than -41.5. c is one of the logits that it sees. *)
Theorem masked_kernel_row_is_near_attention : forall n a i e s v c V j,
  (a <= i < n)%nat -> (i < e)%nat -> (a <= j <= i)%nat -> s j = c ->
  (forall m, (a <= m <= i)%nat -> Rabs (v m) <= V) ->
  Rabs (sum e (fun m => cut_exp (minus (seen a i s m) c) * v m)
        * (1 / sum (S i) (fun m => cut_exp (minus (seen a i s m) c))) - attention n (seen a i s) v)
  <= 2 * INR (S i - a) * exp (-41.5) * V.
Proof.
  intros n a i e s v c V j Hi He Hj Hc HV. set (w := fun m => cut_exp (minus (seen a i s m) c)).
  assert (Z : forall m, (m < a \/ i < m)%nat -> w m = 0).
  { intros m Hm. unfold w, seen. destruct (Nat.leb_spec a m), (Nat.leb_spec m i); simpl; try lia; easy. }
  assert (W : forall m, (m < S i - a)%nat -> w (a + m)%nat = cut_exp (minus (Some (s (a + m)%nat)) c)).
  { intros m Hm. unfold w, seen.
    destruct (Nat.leb_spec a (a + m)), (Nat.leb_spec (a + m) i); simpl; try lia; easy. }
  rewrite seen_row by easy. change (fun m => cut_exp (minus (seen a i s m) c)) with w.
  change (fun m => cut_exp (minus (seen a i s m) c) * v m) with (fun m => w m * v m).
  rewrite (sum_of_seen a i e (fun m => w m * v m)) by (lia || (intros; rewrite Z by easy; ring)).
  rewrite (sum_of_seen a i (S i) w) by (lia || easy).
  rewrite (sum_ext (S i - a) (fun m => w (a + m)%nat * v (a + m)%nat)
             (fun m => cut_exp (minus (Some (s (a + m)%nat)) c) * v (a + m)%nat))
    by (intros m Hm; now rewrite W).
  rewrite (sum_ext (S i - a) (fun m => w (a + m)%nat) (fun m => cut_exp (minus (Some (s (a + m)%nat)) c)))
    by easy.
  apply (cut_row_is_near_attention (S i - a) (fun m => Some (s (a + m)%nat)) (fun m => v (a + m)%nat) c V
           (j - a)).
  - lia.
  - replace (a + (j - a))%nat with j by lia. now f_equal.
  - intros m Hm. apply HV. lia.
Qed.

(* ---- Row by row with a state ---- *)

(* A row of the sequence: query, key and value, of d, d and any number of columns. *)
Record row := { q : nat -> R; k : nat -> R; v : nat -> R }.
Definition nothing : row := {| q := fun _ => 0; k := fun _ => 0; v := fun _ => 0 |}.
Definition score (d : nat) (scale : R) (a b : row) : R := scale * sum d (fun c => q a c * k b c).

Section States.
(* Row i sees the rows from first i on, itself included; what is out of sight stays so. *)
Variables (d : nat) (scale : R) (first : nat -> nat).
Definition sees_itself_and_forgets : Prop := forall i, (first i <= i /\ first i <= first (S i))%nat.

(* Row i, column e of the full pass over a sequence xs. *)
Definition full_pass (xs : list row) (i e : nat) : R :=
  attention (length xs)
    (seen (first i) i (fun j => score d scale (nth i xs nothing) (nth j xs nothing)))
    (fun j => v (nth j xs nothing) e).

(* The state holds rows that have been read. Row i keeps those that it sees, adds itself, and attends to
   them all. *)
Definition last_rows (n : nat) (rows : list row) : list row := skipn (length rows - n) rows.
Definition step (i : nat) (state : list row) (x : row) : list row := last_rows (i - first i) state ++ [x].
Definition newest (state : list row) (x : row) (e : nat) : R :=
  attention (length state)
    (fun j => Some (score d scale x (nth j state nothing)))
    (fun j => v (nth j state nothing) e).

(* Reading xs from row i on: column e of the outputs, and the state left. *)
Fixpoint push (i : nat) (state : list row) (xs : list row) (e : nat) : list R :=
  match xs with
  | [] => []
  | x :: rest => newest (step i state x) x e :: push (S i) (step i state x) rest e
  end.
Fixpoint pushed (i : nat) (state : list row) (xs : list row) : list row :=
  match xs with [] => state | x :: rest => pushed (S i) (step i state x) rest end.

(* Any split gives the same rows. *)
Theorem push_in_pieces : forall xs ys i state e,
  push i state (xs ++ ys) e = push i state xs e ++ push (i + length xs) (pushed i state xs) ys e.
Proof.
  induction xs as [| x xs IH]; intros ys i state e; simpl; [now rewrite Nat.add_0_r |].
  rewrite IH. now replace (i + S (length xs))%nat with (S i + length xs)%nat by lia.
Qed.

Lemma push_row xs : forall i0 state e i, (i < length xs)%nat ->
  nth i (push i0 state xs e) 0 = newest (pushed i0 state (firstn (S i) xs)) (nth i xs nothing) e.
Proof.
  induction xs as [| x xs IH]; intros i0 state e i Hi; [simpl in Hi; lia |].
  destruct i; [easy |]. apply (IH (S i0) (step i0 state x) e i). simpl in Hi. lia.
Qed.

Lemma firstn_snoc (xs : list row) : forall i,
  (i < length xs)%nat -> firstn i xs ++ [nth i xs nothing] = firstn (S i) xs.
Proof.
  induction xs as [| x xs IH]; simpl; intros i Hi; [lia |]. destruct i; [easy |].
  change (x :: (firstn i xs ++ [nth i xs nothing]) = x :: firstn (S i) xs). now rewrite IH by lia.
Qed.

Lemma nth_part (xs : list row) a n j :
  (j < n)%nat -> nth j (skipn a (firstn (a + n) xs)) nothing = nth (a + j) xs nothing.
Proof.
  revert a n j. induction xs as [| x xs IH]; intros a n j Hj.
  - rewrite firstn_nil, skipn_nil. now destruct j, a.
  - destruct a as [| a]; [| now apply IH].
    destruct n as [| n], j as [| j]; try lia; [easy |]. apply (IH O n j). lia.
Qed.

Lemma skipn_snoc (x : row) : forall a rows,
  (a <= length rows)%nat -> skipn a rows ++ [x] = skipn a (rows ++ [x]).
Proof.
  induction a; intros [| y rows] H; simpl in *; try lia; try easy. apply IHa. lia.
Qed.

Lemma skipn_twice n : forall m (rows : list row), skipn m (skipn n rows) = skipn (n + m) rows.
Proof.
  induction n; intros m rows; [easy |]. destruct rows; simpl; [now rewrite skipn_nil | apply IHn].
Qed.

(* After i + 1 rows the state holds rows first i .. i. *)
Lemma pushed_is_part xs : sees_itself_and_forgets -> forall i, (i < length xs)%nat ->
  pushed 0 [] (firstn (S i) xs) = skipn (first i) (firstn (S i) xs).
Proof.
  intros Hf.
  assert (App : forall ys i0 state x,
                pushed i0 state (ys ++ [x]) = step (i0 + length ys) (pushed i0 state ys) x).
  { induction ys as [| y ys IH]; intros i0 state x; simpl; [now rewrite Nat.add_0_r |].
    rewrite IH. now replace (i0 + S (length ys))%nat with (S i0 + length ys)%nat by lia. }
  induction i as [| i IH]; intros Hi; rewrite <- (firstn_snoc xs _ Hi), App, firstn_length_le by lia.
  - destruct (Hf O) as [F _]. now replace (first O) with O by lia.
  - rewrite IH by lia. unfold step, last_rows. rewrite skipn_length, firstn_length_le by lia.
    destruct (Hf i) as [F G], (Hf (S i)) as [F' _]. change (0 + S i)%nat with (S i).
    rewrite skipn_twice, skipn_snoc by (rewrite firstn_length_le; lia). f_equal. lia.
Qed.

(* Row by row equals the full pass. *)
Theorem push_is_full_pass : sees_itself_and_forgets -> forall xs e i, (i < length xs)%nat ->
  nth i (push 0 [] xs e) 0 = full_pass xs i e.
Proof.
  intros Hf xs e i Hi. destruct (Hf i) as [F _].
  rewrite push_row, pushed_is_part by easy. unfold full_pass, newest. rewrite seen_row by lia.
  rewrite skipn_length, firstn_length_le by lia. apply attention_ext. intros j Hj.
  replace (S i) with (first i + (S i - first i))%nat by lia. now rewrite nth_part by lia.
Qed.

(* And the state holds no more than is seen. *)
Theorem state_size : sees_itself_and_forgets -> forall xs i, (i < length xs)%nat ->
  length (pushed 0 [] (firstn (S i) xs)) = (S i - first i)%nat.
Proof.
  intros Hf xs i Hi. rewrite pushed_is_part by easy. now rewrite skipn_length, firstn_length_le by lia.
Qed.
End States.

(* Causal attention, over the last W rows, within chunks of M rows, and over the last W rows of a chunk. *)
Theorem modes_see_themselves_and_forget :
  sees_itself_and_forgets (fun _ => O) /\
  (forall W, (0 < W)%nat -> sees_itself_and_forgets (fun i => S i - W)%nat) /\
  (forall M, (0 < M)%nat -> sees_itself_and_forgets (fun i => i / M * M)%nat) /\
  (forall W M, (0 < W)%nat -> (0 < M)%nat ->
     sees_itself_and_forgets (fun i => Nat.max (i / M * M) (S i - W))).
Proof.
  assert (Chunk : forall M, (0 < M)%nat -> sees_itself_and_forgets (fun i => i / M * M)%nat).
  { intros M HM i. split.
    - rewrite Nat.mul_comm. apply Nat.mul_div_le. lia.
    - apply Nat.mul_le_mono_r, Nat.div_le_mono; lia. }
  split; [| split; [| split; [exact Chunk |]]]; unfold sees_itself_and_forgets in *.
  - lia.
  - lia.
  - intros W M HW HM i. destruct (Chunk M HM i). lia.
Qed.

(* ---- The online form ---- *)

(* After some logits: the maximum so far, the sum of exp (l - maximum), and the same weighted with v. The
   first logit starts it. *)
Record online := { top : R; total : R; weighted : R }.
Definition online_step (o : online) (s x : R) : online :=
  let m := Rmax (top o) s in
  {| top := m;
     total := exp (top o - m) * total o + exp (s - m);
     weighted := exp (top o - m) * weighted o + exp (s - m) * x |}.
Fixpoint online_pass (n : nat) (s x : nat -> R) : online :=
  match n with
  | O => {| top := s O; total := 1; weighted := x O |}
  | S m => online_step (online_pass m s x) (s (S m)) (x (S m))
  end.

Lemma online_invariant n s x :
  let o := online_pass n s x in
  total o = kernel_sum (S n) (fun j => Some (s j)) (top o) /\
  weighted o = sum (S n) (fun j => masked_exp (minus (Some (s j)) (top o)) * x j).
Proof.
  assert (E : forall a b c, exp (a - b) * exp (c - a) = exp (c - b)).
  { intros. rewrite <- exp_plus. f_equal. ring. }
  induction n as [| n [IHt IHw]]; cbn zeta.
  - unfold kernel_sum. simpl. rewrite Rminus_diag_eq, exp_0 by easy. split; ring.
  - simpl online_pass. unfold online_step. cbn [top total weighted]. set (o := online_pass n s x) in *.
    set (m := Rmax (top o) (s (S n))). rewrite IHt, IHw. unfold kernel_sum.
    change (sum (S (S n)) ?f) with (sum (S n) f + f (S n)). cbv beta.
    rewrite <- !sum_scale. simpl minus. simpl masked_exp. split; f_equal; apply sum_ext; intros j _; simpl.
    + apply E.
    + rewrite <- Rmult_assoc. f_equal. apply E.
Qed.

Theorem online_is_attention : forall n s x,
  weighted (online_pass n s x) / total (online_pass n s x) = attention (S n) (fun j => Some (s j)) x.
Proof.
  intros n s x. destruct (online_invariant n s x) as [T W]. cbn zeta in *. rewrite T, W.
  rewrite <- (kernel_row_is_attention (S n) (fun j => Some (s j)) x (top (online_pass n s x))).
  - unfold kernel_row, Rdiv. now rewrite Rmult_1_l.
  - exists O, (s O). split; [lia | easy].
Qed.
