(* Recall.v: what [CAT] Corollary 1 and Theorems 1 to 3 share: the layer's logits, and how far softmax
   attention is from the one or two keys that it should pick when their logits lead by a margin. No theorem of
   the paper stands here. *)
From Coq Require Import Reals Lra Lia Arith.
From Seqmix Require Import Attention.
Open Scope R_scope.

(* ---- Definitions --------------------------------------------------------------------------------------- *)
(* W_q = c sqrt(d) I, W_k = I, logits by 1/sqrt(d) as everywhere: what con_recall_fwd computes. *)
Definition recall_Wq (d : nat) (c : R) (a b : nat) : R := c * sqrt (INR d) * one_hot a b.
Definition recall_logit (d : nat) (c : R) (q k : nat -> R) : R :=
  dot d (linear d q (recall_Wq d c)) k / sqrt (INR d).

(* The temperature of the theorems: the margin c (1 - max(rho, 0)) is ln(4L / epsilon). A wrong cosine below 0
   counts as 0, since a masked key, and the one before the sequence, has the logit 0. *)
Definition temperature (L : nat) (rho epsilon : R) : R := ln (4 * INR L / epsilon) / (1 - Rmax rho 0).

(* The embeddings E_0 .. E_{V-1}: unit rows. *)
Definition unit_rows (V d : nat) (E : nat -> nat -> R) : Prop := forall a, (a < V)%nat -> norm d (E a) = 1.

(* The first of the largest among f 0 .. f (n-1). *)
Fixpoint argmax (n : nat) (f : nat -> R) : nat :=
  match n with
  | O => O
  | S m => if Rlt_dec (f (argmax m f)) (f m) then m else argmax m f
  end.

(* How a token is read off a row y: embedding a, of V, is nearer to y than every other. *)
Definition nearest (V d : nat) (E : nat -> nat -> R) (y : nat -> R) (a : nat) : Prop :=
  forall b, (b < V)%nat -> b <> a -> norm d (fun c => y c - E a c) < norm d (fun c => y c - E b c).

(* ---- Steps --------------------------------------------------------------------------------------------- *)
Lemma argmax_is n f p : (p < n)%nat -> (forall s, (s < n)%nat -> s <> p -> f s < f p) -> argmax n f = p.
Proof.
  induction n as [|n IH]; intros Hp H; [lia|]. cbn [argmax]. destruct (Nat.eq_dec p n) as [->|E].
  - destruct (Rlt_dec _ _) as [Q|Q]; auto. destruct (Nat.eq_dec (argmax n f) n) as [A|A]; auto. exfalso.
    apply Q.
    apply H; auto. clear. assert (B : forall m, (argmax m f <= m)%nat); [|pose proof (B n); lia].
    induction m; cbn [argmax]; [lia|]. destruct (Rlt_dec _ _); lia.
  - rewrite IH by (try lia; intros; apply H; lia). destruct (Rlt_dec _ _) as [Q|Q]; auto.
    pose proof (H n ltac:(lia) ltac:(auto)). lra.
Qed.

Lemma pow_falls r m n : 0 <= r <= 1 -> (m <= n)%nat -> r ^ n <= r ^ m.
Proof.
  intros Hr H. replace n with (m + (n - m))%nat by lia. rewrite pow_add. rewrite <- (Rmult_1_r (r ^ m)) at 2.
  apply Rmult_le_compat_l; [apply pow_le; lra|]. rewrite <- (pow1 (n - m)). now apply pow_incr.
Qed.

Lemma recall_logit_dot d c q k : (0 < d)%nat -> recall_logit d c q k = c * dot d q k.
Proof.
  intros Hd. unfold recall_logit, dot.
  assert (sqrt (INR d) <> 0) by (apply Rgt_not_eq, sqrt_lt_R0, lt_0_INR; lia).
  rewrite (sum_ext d _ (fun e => c * sqrt (INR d) * (q e * k e))).
  - rewrite sum_scal. field. auto.
  - intros e He. unfold linear, recall_Wq, one_hot. rewrite (sum_only d _ e He); [rewrite Nat.eqb_refl; lra|].
    intros a _ Ha. rewrite (proj2 (Nat.eqb_neq a e)) by auto. lra.
Qed.

Lemma width_pos d x : norm d x = 1 -> (0 < d)%nat.
Proof. intros H. destruct d; [|lia]. unfold norm, dot in H. simpl in H. rewrite sqrt_0 in H. lra. Qed.

Lemma unit_dot d x : norm d x = 1 -> dot d x x = 1.
Proof. intros H. rewrite <- norm_sq, H. lra. Qed.

Lemma unit_cosine d x y : norm d x <= 1 -> norm d y <= 1 -> dot d x y <= 1.
Proof.
  intros Hx Hy. pose proof (cauchy_schwarz d x y). pose proof (norm_nonneg d x). pose proof (norm_nonneg d y).
  nra.
Qed.

Lemma norm_opp d x : norm d (fun c => - x c) = norm d x.
Proof.
  rewrite (norm_ext d _ (fun c => -1 * x c)) by (intros; lra). rewrite norm_scal, Rabs_left by lra. lra.
Qed.

Lemma norm_sub d x y : norm d (fun c => x c - y c) <= norm d x + norm d y.
Proof.
  rewrite <- (norm_opp d y). rewrite (norm_ext d _ (fun c => x c + - y c)) by (intros; lra).
  apply norm_triangle.
Qed.

Lemma norm_entry d x c : (c < d)%nat -> Rabs (x c) <= norm d x.
Proof.
  intros Hc. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr, dot.
  apply (sum_term_le d (fun c => x c * x c)); auto. intros. apply Rle_0_sqr.
Qed.

(* Another logit that is lower by m has at most e^{-m} of the weight. *)
Lemma softmax_ratio n s p j m : (0 < n)%nat -> s j + m <= s p -> softmax n s j <= exp (- m) * softmax n s p.
Proof.
  intros Hn H. unfold softmax. pose proof (exp_sum_pos n s Hn). unfold Rdiv. rewrite <- Rmult_assoc.
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. rewrite <- exp_plus.
  destruct (Req_dec (s j) (- m + s p)) as [->|]; [lra|]. left. apply exp_increasing. lra.
Qed.

Lemma softmax_le_1 n s p : (p < n)%nat -> softmax n s p <= 1.
Proof.
  intros H. rewrite <- (softmax_sum n s) by lia. apply (sum_term_le n (softmax n s)); auto.
  intros. left. apply softmax_pos. lia.
Qed.

(* the number of terms other than p *)
Lemma sum_other n p a : (p < n)%nat -> sum n (fun j => if Nat.eqb j p then 0 else a) = (INR n - 1) * a.
Proof. intros H. pose proof (sum_pick n (fun _ => a) p H) as E. rewrite sum_const in E. lra. Qed.

(* One key leads by m: the output is its value up to 2 (n - 1) e^{-m}. *)
Lemma one_match n d s p m V :
  (p < n)%nat -> (forall j, (j < n)%nat -> j <> p -> s j + m <= s p) ->
  (forall j, (j < n)%nat -> norm d (V j) <= 1) ->
  norm d (fun c => attention n s (fun j => V j c) - V p c) <= 2 * (INR n - 1) * exp (- m).
Proof.
  intros Hp Hm HV.
  rewrite (norm_ext d _ (fun c => sum n (fun j => softmax n s j * (V j c - V p c)))).
  2:{ intros c _. rewrite attention_softmax. rewrite <- (Rmult_1_l (V p c)) at 1.
  rewrite <- (softmax_sum n s) at 1 by lia.
      rewrite <- sum_scal_r, <- sum_minus. apply sum_ext. intros. lra. }
  eapply Rle_trans; [apply norm_sum|].
  replace (2 * (INR n - 1) * exp (- m)) with ((INR n - 1) * (exp (- m) * 2)) by lra.
  rewrite <- (sum_other n p) by auto.
  apply sum_le. intros j Hj. rewrite norm_scal. destruct (Nat.eqb_spec j p) as [->|E].
  - rewrite (norm_ext d _ (fun _ => 0)) by (intros; lra). rewrite norm_0. lra.
  - pose proof (softmax_pos n s j ltac:(lia)). rewrite Rabs_pos_eq by lra.
    pose proof (softmax_ratio n s p j m ltac:(lia) (Hm j Hj E)). pose proof (softmax_le_1 n s p Hp).
    pose proof (exp_pos (- m)). pose proof (norm_sub d (V j) (V p)). pose proof (HV j Hj).
    pose proof (HV p Hp).
    pose proof (norm_nonneg d (fun c => V j c - V p c)).
    apply Rmult_le_compat; try lra. eapply Rle_trans; [eassumption|]. nra.
Qed.

(* Two keys lead by m with the same logit, the values are twice the rows X and 0 at the second: the output is
   X_p up to 2 n e^{-m}. *)
Lemma two_matches n d s p q m X :
  (p < n)%nat -> (q < n)%nat -> p <> q -> s q = s p ->
  (forall j, (j < n)%nat -> j <> p -> j <> q -> s j + m <= s p) ->
  (forall j, (j < n)%nat -> j <> q -> norm d (X j) <= 1) ->
  norm d (fun c => attention n s (fun j => if Nat.eqb j q then 0 else 2 * X j c) - X p c)
    <= 2 * (INR n - 2) * exp (- m).
Proof.
  intros Hp Hq Hpq Hs Hm HX. set (w := softmax n s).
  assert (W : forall j, 0 < w j) by (intros; apply softmax_pos; lia).
  assert (Wq : w q = w p) by (unfold w, softmax; now rewrite Hs).
  set (z := fun j => if Nat.eqb j p then 0 else if Nat.eqb j q then 0 else w j).
  assert (One : 2 * w p + sum n z = 1).
  { rewrite <- (softmax_sum n s) by lia. fold w. rewrite (sum_pick n w p Hp).
    rewrite (sum_pick n (fun i => if Nat.eqb i p then 0 else w i) q Hq).
    rewrite (proj2 (Nat.eqb_neq q p)) by auto. rewrite Wq.
    assert (sum n z = sum n (fun i => if Nat.eqb i q then 0 else if Nat.eqb i p then 0 else w i)); [|lra].
    apply sum_ext. intros j _. unfold z. destruct (Nat.eqb j p), (Nat.eqb j q); auto. }
  assert (Z : 2 * sum n z <= (INR n - 2) * exp (- m)).
  { pose proof (sum_pick n (fun _ => exp (- m) / 2) p Hp) as A. rewrite sum_const in A.
    rewrite (sum_pick n (fun i => if Nat.eqb i p then 0 else exp (- m) / 2) q Hq) in A.
    rewrite (proj2 (Nat.eqb_neq q p)) in A by auto.
    assert (sum n z <= sum n (fun i => if Nat.eqb i q then 0 else if Nat.eqb i p then 0 else exp (- m) / 2));
      [|lra].
    assert (P2 : w p <= 1 / 2).
    { assert (0 <= sum n z); [|lra]. apply sum_nonneg. intros j _. unfold z. pose proof (W j).
      destruct (Nat.eqb j p), (Nat.eqb j q); lra. }
    apply sum_le. intros j Hj. unfold z. pose proof (exp_pos (- m)).
    destruct (Nat.eqb_spec j p), (Nat.eqb_spec j q); try lra.
    eapply Rle_trans; [apply (softmax_ratio n s p j m); auto; lia|]. fold w. nra. }
  rewrite (norm_ext d _ (fun c => sum n (fun j => z j * (2 * X j c - X p c)))).
  2:{ intros c _. rewrite attention_softmax. fold w.
      rewrite <- (Rmult_1_l (X p c)) at 1. rewrite <- One, Rmult_plus_distr_r.
      rewrite (sum_ext n (fun j => z j * _) (fun j => z j * (2 * X j c) - z j * X p c)) by (intros; lra).
      rewrite sum_minus, sum_scal_r.
      rewrite (sum_pick n (fun j => w j * (if Nat.eqb j q then 0 else 2 * X j c)) p Hp).
      rewrite (proj2 (Nat.eqb_neq p q)) by auto.
      assert (E : sum n (fun i => if Nat.eqb i p then 0 else w i * (if Nat.eqb i q then 0 else 2 * X i c))
        = sum n (fun j => z j * (2 * X j c))); [|lra].
      apply sum_ext. intros j _. unfold z. destruct (Nat.eqb j p), (Nat.eqb j q); lra. }
  eapply Rle_trans; [apply norm_sum|].
  apply Rle_trans with (sum n (fun j => z j * 3)).
  - apply sum_le. intros j Hj. rewrite norm_scal. unfold z.
    destruct (Nat.eqb_spec j p); [rewrite Rabs_R0; lra|].
    destruct (Nat.eqb_spec j q); [rewrite Rabs_R0; lra|].
    pose proof (W j). rewrite Rabs_pos_eq by lra. apply Rmult_le_compat_l; [lra|].
    pose proof (norm_sub d (fun c => 2 * X j c) (X p)) as T. rewrite norm_scal, Rabs_pos_eq in T by lra.
    pose proof (HX j Hj ltac:(auto)). pose proof (HX p Hp ltac:(auto)). lra.
  - rewrite sum_scal_r. assert (0 <= sum n z); [|lra]. apply sum_nonneg. intros j _. unfold z.
    pose proof (W j).
    destruct (Nat.eqb j p), (Nat.eqb j q); lra.
Qed.

(* The temperature gives the margin. *)
Lemma temperature_nonneg L rho epsilon : rho < 1 -> (1 <= L)%nat -> 0 < epsilon <= 4 -> 0
  <= temperature L rho epsilon.
Proof.
  intros Hr HL He. unfold temperature. assert (Rmax rho 0 < 1) by (apply Rmax_lub_lt; lra).
  apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
  rewrite <- ln_1. destruct (Req_dec (4 * INR L / epsilon) 1) as [->|N]; [lra|]. left.
  apply ln_increasing; [lra|].
  apply le_INR in HL. simpl in HL. assert (1 <= 4 * INR L / epsilon); [|lra].
  apply Rmult_le_reg_r with epsilon; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma temperature_margin L rho epsilon cosine :
  rho < 1 -> (1 <= L)%nat -> 0 < epsilon <= 4 -> cosine <= Rmax rho 0 ->
  temperature L rho epsilon * cosine + ln (4 * INR L / epsilon) <= temperature L rho epsilon * 1.
Proof.
  intros Hr HL He Hc. pose proof (temperature_nonneg L rho epsilon Hr HL He).
  assert (Rmax rho 0 < 1) by (apply Rmax_lub_lt; lra).
  assert (E : ln (4 * INR L / epsilon) = temperature L rho epsilon * (1 - Rmax rho 0))
    by (unfold temperature; field; lra).
  rewrite E. nra.
Qed.

Lemma margin_error L n epsilon a : (n <= L)%nat -> (1 <= L)%nat -> 0 < epsilon -> a < INR n ->
  2 * a * exp (- ln (4 * INR L / epsilon)) < epsilon / 2.
Proof.
  intros Hn HL He Ha. apply le_INR in HL, Hn. simpl in HL.
  rewrite exp_Ropp, exp_ln by (apply Rdiv_lt_0_compat; lra).
  replace (/ (4 * INR L / epsilon)) with (epsilon / (4 * INR L)) by (field; lra).
  apply Rmult_lt_reg_r with (4 * INR L); [lra|].
  replace (2 * a * (epsilon / (4 * INR L)) * (4 * INR L)) with (2 * a * epsilon) by (field; lra).
  replace (epsilon / 2 * (4 * INR L)) with (2 * INR L * epsilon) by field. nra.
Qed.

(* Within half of the least distance of two embeddings, the nearest embedding is the answer. *)
Lemma nearest_is_right V d E y answer epsilon :
  norm d (fun c => y c - E answer c) < epsilon / 2 -> (answer < V)%nat ->
  (forall a b, (a < V)%nat -> (b < V)%nat -> a <> b -> epsilon <= norm d (fun c => E a c - E b c)) ->
  nearest V d E y answer.
Proof.
  intros Hy Ha He b Hb Hn. pose proof (He b answer Hb Ha Hn) as D.
  rewrite (norm_ext d _ (fun c => (y c - E answer c) - (y c - E b c))) in D by (intros; lra).
  pose proof (norm_sub d (fun c => y c - E answer c) (fun c => y c - E b c)). cbv beta in *. lra.
Qed.

(* Of two one-hot embeddings the one with the larger entry is no farther. *)
Lemma distance_one_hot d y a :
  (a < d)%nat ->
  dot d (fun c => y c - one_hot a c) (fun c => y c - one_hot a c) = dot d y y - 2 * y a + 1.
Proof.
  intros Ha. replace 1 with (dot d (one_hot a) (one_hot a))
    by (rewrite dot_one_hot by auto; unfold one_hot; now rewrite Nat.eqb_refl).
  rewrite <- (dot_one_hot d y a) by auto. unfold dot. rewrite <- sum_scal, <- sum_minus, <- sum_plus.
  apply sum_ext. intros. ring.
Qed.

Lemma larger_entry_is_nearer d y a b :
  (a < d)%nat -> (b < d)%nat -> y b <= y a ->
  norm d (fun c => y c - one_hot a c) <= norm d (fun c => y c - one_hot b c).
Proof. intros Ha Hb H. unfold norm. rewrite !distance_one_hot by auto. apply sqrt_le_1_alt. lra. Qed.
