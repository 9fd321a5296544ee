(* LasB1.v: [LaS] Theorem B.1, for every length, every causal kernel and every input: one head of softmax
   attention computes the causal convolution with a kernel k >= 0; two heads compute a signed one; no single
   head computes a kernel that has taps of both signs, whatever its weights (erratum 4).
   The construction is con_las_b1 of constructions.c, which proof_las_b1.c tests on floats: row 0 is one extra
   token whose value is 0, row t + 1 carries the one-hot position t + 1 beside the value x_t; W_q holds
   sqrt(d) times the logarithms, W_k picks the position, W_v the value, and W_o multiplies by c = slack + k_0
   + .. + k_{L-1}, slack > 0. ln 0: in the weights it is the finite number -M (con_las_b1 takes M = 1000),
   since 0 times -infinity is no number in Q K^T. las_b1 bounds what that costs, 2 L e^{-M} max|x|, and
   las_b1_limit says that it vanishes as M grows. Where every tap is positive the head is exact
   (las_b1_positive); so it is with true -infinity as a logit (las_b1_masked). *)
From Coq Require Import Reals Lra Lia Arith.
From Seqmix Require Import Attention.
Open Scope R_scope.

(* ---- The construction ---------------------------------------------------------------------------------- *)
(* the logarithm of a weight, -M standing for ln 0 *)
Definition log_weight (M w : R) : R := if Req_EM_T w 0 then - M else ln w.
(* what the extra token has to weigh in row i, so that every row sums to c: slack + k_{i+1} + .. + k_{L-1} *)
Definition rest (L : nat) (k : nat -> R) (slack : R) (i : nat) : R :=
  slack + sum (L - S i) (fun t => k (S i + t)%nat).
Definition total (L : nat) (k : nat -> R) (slack : R) : R := slack + sum L k.

(* Columns of a token: L + 1 for its position, then its value. *)
Definition tokens (L : nat) (x : nat -> R) (t c : nat) : R :=
  if Nat.leb c L then one_hot t c else match t with O => 0 | S i => x i end.
(* The head has d = L + 1 columns. *)
Definition Wq (L : nat) (k : nat -> R) (slack M : R) (r c : nat) : R :=
  match r with
  | O => 0
  | S i =>
      if Nat.leb L i then 0
      else match c with
           | O => sqrt (INR (S L)) * log_weight M (rest L k slack i)
           | S j => if Nat.leb j i then sqrt (INR (S L)) * log_weight M (k (i - j)%nat) else 0
           end
  end.
Definition Wk (L : nat) (r c : nat) : R := if Nat.leb r L then one_hot r c else 0.
Definition Wv (L : nat) (r c : nat) : R := if andb (Nat.eqb r (S L)) (Nat.eqb c 0) then 1 else 0.

(* Row i of the sequence is row i + 1 of the head; W_o multiplies by c. *)
Definition las_b1_head (L : nat) (k : nat -> R) (slack M : R) (x : nat -> R) (i : nat) : R :=
  total L k slack * head (S (S L)) (S L) (Wq L k slack M) (Wk L) (Wv L) (tokens L x) (S i) 0.

(* ---- The logits and values are those intended ---------------------------------------------------------- *)
Lemma tokens_linear L x W t e :
  (t <= L)%nat -> linear (S (S L)) (tokens L x t) W e
    = W t e + match t with O => 0 | S i => x i end * W (S L) e.
Proof.
  intros H. unfold linear. rewrite sum_S. f_equal.
  - rewrite (sum_ext (S L) _ (fun c => one_hot t c * W c e)).
    + fold (linear (S L) (one_hot t) W e). now rewrite linear_one_hot by lia.
    + intros c Hc. unfold tokens. now rewrite leb_correct by lia.
  - unfold tokens. now rewrite leb_correct_conv by lia.
Qed.

Lemma sqrt_S_neq n : sqrt (INR (S n)) <> 0.
Proof. apply Rgt_not_eq, sqrt_lt_R0, lt_0_INR. lia. Qed.

Lemma las_b1_logit L k slack M x i j :
  (i < L)%nat -> (j <= S i)%nat ->
  head_logit (S (S L)) (S L) (Wq L k slack M) (Wk L) (tokens L x) (S i) j
  = log_weight M (match j with O => rest L k slack i | S j => k (i - j)%nat end).
Proof.
  intros Hi Hj. unfold head_logit, dot.
  rewrite (sum_ext (S L) _ (fun c => Wq L k slack M (S i) c * one_hot j c) ).
  - fold (dot (S L) (Wq L k slack M (S i)) (one_hot j)). rewrite dot_one_hot by lia. unfold Wq.
    rewrite leb_correct_conv by lia. destruct j; [|rewrite leb_correct by lia]; field; apply sqrt_S_neq.
  - intros c Hc. rewrite !tokens_linear by lia. unfold Wk. rewrite leb_correct by lia.
    rewrite (leb_correct_conv L (S L)) by lia. cbn [Wq]. rewrite (leb_correct L L) by lia. lra.
Qed.

Lemma las_b1_value L x r :
  (r <= L)%nat -> linear (S (S L)) (tokens L x r) (Wv L) 0 = match r with O => 0 | S j => x j end.
Proof.
  intros H. rewrite tokens_linear by lia. unfold Wv. rewrite !Nat.eqb_refl.
  rewrite (proj2 (Nat.eqb_neq r (S L))) by lia. simpl. destruct r; lra.
Qed.

(* What the head computes, in terms of its weights. *)
Lemma las_b1_form L k slack M x i :
  (i < L)%nat ->
  las_b1_head L k slack M x i =
  total L k slack * (sum (S i) (fun j => exp (log_weight M (k (i - j)%nat)) * x j)
    / (exp (log_weight M (rest L k slack i)) + sum (S i) (fun j => exp (log_weight M (k (i - j)%nat))))).
Proof.
  intros Hi. unfold las_b1_head, head, attention, average. f_equal. rewrite !(sum_first (S i)). f_equal.
  - rewrite las_b1_value by lia. rewrite Rmult_0_r, Rplus_0_l. apply sum_ext. intros j Hj.
    now rewrite las_b1_value, las_b1_logit by lia.
  - f_equal; [|apply sum_ext; intros j Hj]; now rewrite las_b1_logit by lia.
Qed.

Lemma rest_total L k slack i : (i < L)%nat -> rest L k slack i + sum (S i) (fun j => k (i - j)%nat)
  = total L k slack.
Proof.
  intros H. unfold rest, total. rewrite (sum_rev (S i) (fun j => k (i - j)%nat)).
  rewrite (sum_ext (S i) _ k) by (intros j Hj; f_equal; lia).
  replace L with (S i + (L - S i))%nat at 2 by lia. rewrite sum_app. lra.
Qed.

Lemma conv_rev k x i : conv k x i = sum (S i) (fun j => k (i - j)%nat * x j).
Proof.
  unfold conv. rewrite sum_rev. apply sum_ext. intros j Hj.
  replace (S i - 1 - j)%nat with (i - j)%nat by lia. now replace (i - (i - j))%nat with j by lia.
Qed.

Lemma rest_pos L k slack i : (forall t, (t < L)%nat -> 0 <= k t) -> 0 < slack -> (i < L)%nat ->
  0 < rest L k slack i.
Proof.
  intros Hk Hs Hi. unfold rest.
  assert (0 <= sum (L - S i) (fun t => k (S i + t)%nat)) by (apply sum_nonneg; intros; apply Hk; lia). lra.
Qed.

Lemma exp_log_weight M w : 0 <= w -> w <= exp (log_weight M w) <= w + exp (- M).
Proof.
  intros H. unfold log_weight. pose proof (exp_pos (- M)). destruct (Req_EM_T w 0) as [->|E]; [lra|].
  rewrite exp_ln by lra. lra.
Qed.

Lemma exp_log_weight_pos M w : 0 < w -> exp (log_weight M w) = w.
Proof. intros H. unfold log_weight. destruct (Req_EM_T w 0); [lra|]. now apply exp_ln. Qed.

(* Weights raised by at most e each move an average whose weights sum to c by little. *)
Lemma raised_weights n (w u x : nat -> R) r e X :
  0 <= e -> 0 < r -> (forall j, (j < n)%nat -> 0 <= w j <= u j /\ u j <= w j + e) ->
  (forall j, (j < n)%nat -> Rabs (x j) <= X) ->
  Rabs ((r + sum n w) * (sum n (fun j => u j * x j) / (r + sum n u)) - sum n (fun j => w j * x j))
    <= 2 * (INR n * e) * X.
Proof.
  intros He Hr Hu Hx.
  assert (X0 : 0 <= X \/ n = O) by (destruct n;
    [now right|left; eapply Rle_trans; [apply Rabs_pos|apply (Hx O); lia]]).
  destruct X0 as [X0| ->]; [|simpl; rewrite Rminus_0_r; unfold Rdiv; rewrite Rmult_0_l, Rmult_0_r, Rabs_R0;
    lra].
  set (W := sum n w). set (U := sum n u). set (A := sum n (fun j => w j * x j)).
  set (B := sum n (fun j => u j * x j)).
  assert (W0 : 0 <= W) by (apply sum_nonneg; intros j Hj; destruct (Hu j Hj); lra).
  assert (UW : W <= U) by (apply sum_le; intros j Hj; destruct (Hu j Hj); lra).
  assert (UE : U - W <= INR n * e).
  { unfold U, W. rewrite <- sum_minus, <- sum_const. apply sum_le. intros j Hj. destruct (Hu j Hj). lra. }
  assert (BA : Rabs (B - A) <= (U - W) * X).
  { unfold B, A, U, W. rewrite <- !sum_minus, <- sum_scal_r. eapply Rle_trans; [apply sum_abs|]. apply sum_le.
    intros j Hj. destruct (Hu j Hj). replace (u j * x j - w j * x j) with ((u j - w j) * x j) by lra.
    rewrite Rabs_mult, Rabs_pos_eq by lra. apply Rmult_le_compat_l; [lra|auto]. }
  assert (AW : Rabs A <= W * X).
  { unfold A, W. rewrite <- sum_scal_r. eapply Rle_trans; [apply sum_abs|]. apply sum_le.
    intros j Hj. destruct (Hu j Hj). rewrite Rabs_mult, Rabs_pos_eq by lra.
    apply Rmult_le_compat_l; [lra|auto]. }
  replace ((r + W) * (B / (r + U)) - A) with (((r + W) * (B - A) - (U - W) * A) / (r + U)) by (field; lra).
  unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ (r + U))) by (left; apply Rinv_0_lt_compat; lra).
  apply Rmult_le_reg_r with (r + U); [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  eapply Rle_trans; [apply Rabs_triang|].
  rewrite Rabs_Ropp, !Rabs_mult, (Rabs_pos_eq (r + W)), (Rabs_pos_eq (U - W)) by lra.
  assert ((r + W) * Rabs (B - A) <= (r + W) * ((U - W) * X)) by (apply Rmult_le_compat_l; lra).
  assert ((U - W) * Rabs A <= (U - W) * (W * X)) by (apply Rmult_le_compat_l; lra).
  assert ((U - W) * X <= INR n * e * X) by (apply Rmult_le_compat_r; lra).
  assert (P0 : 0 <= (U - W) * X) by (apply Rmult_le_pos; lra).
  assert ((U - W) * X * (r + 2 * W) <= INR n * e * X * (2 * (r + U))).
  { apply Rmult_le_compat; lra. }
  lra.
Qed.

(* ---- The theorem --------------------------------------------------------------------------------------- *)
Theorem las_b1 (L : nat) (k x : nat -> R) (slack M X : R) (i : nat) :
  (forall t, (t < L)%nat -> 0 <= k t) -> 0 < slack -> (forall t, (t < L)%nat -> Rabs (x t) <= X) ->
    (i < L)%nat ->
  Rabs (las_b1_head L k slack M x i - conv k x i) <= 2 * INR L * exp (- M) * X.
Proof.
  intros Hk Hs Hx Hi. rewrite las_b1_form, conv_rev, <- (rest_total L k slack i) by auto.
  pose proof (rest_pos L k slack i Hk Hs Hi). rewrite exp_log_weight_pos by auto.
  eapply Rle_trans.
  - apply raised_weights with (e := exp (- M)) (X := X); auto;
      [left; apply exp_pos| |intros j Hj; apply Hx; lia].
    intros j Hj. pose proof (Hk (i - j)%nat ltac:(lia)). pose proof (exp_log_weight M (k (i - j)%nat)). lra.
  - pose proof (Rabs_pos (x i)). pose proof (Hx i Hi). rewrite <- !Rmult_assoc.
    apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [left; apply exp_pos|].
    apply Rmult_le_compat_l; [lra|]. apply le_INR. lia.
Qed.

(* Where every tap is positive there is no ln 0, and the head is exact, whatever M. *)
Theorem las_b1_positive (L : nat) (k x : nat -> R) (slack M : R) (i : nat) :
  (forall t, (t < L)%nat -> 0 < k t) -> 0 < slack -> (i < L)%nat -> las_b1_head L k slack M x i = conv k x i.
Proof.
  intros Hk Hs Hi. rewrite las_b1_form, conv_rev, <- (rest_total L k slack i) by auto.
  assert (Hr : 0 < rest L k slack i) by (apply rest_pos; auto; intros; left; auto).
  rewrite exp_log_weight_pos by auto.
  rewrite (sum_ext (S i) (fun j => exp (log_weight M (k (i - j)%nat))) (fun j => k (i - j)%nat))
    by (intros; apply exp_log_weight_pos, Hk; lia).
  rewrite (sum_ext (S i) (fun j => exp (log_weight M (k (i - j)%nat)) * x j) (fun j => k (i - j)%nat * x j))
    by (intros; rewrite exp_log_weight_pos; [auto|apply Hk; lia]).
  field. apply Rgt_not_eq. assert (0 < sum (S i) (fun j => k (i - j)%nat)); [|lra].
  apply sum_pos; [lia|]. intros. apply Hk. lia.
Qed.

(* Zero taps included: for every error there is a finite logit from which on the head is that near, at every
   row and for all inputs of a bounded size. *)
Theorem las_b1_limit (L : nat) (k : nat -> R) (slack X epsilon : R) :
  (forall t, (t < L)%nat -> 0 <= k t) -> 0 < slack -> 0 < epsilon ->
  exists M0, forall M x i, M0 <= M -> (forall t, (t < L)%nat -> Rabs (x t) <= X) -> (i < L)%nat ->
  Rabs (las_b1_head L k slack M x i - conv k x i) <= epsilon.
Proof.
  intros Hk Hs He. set (b := 2 * INR L * X). exists (ln ((Rabs b + 1) / epsilon)). intros M x i HM Hx Hi.
  eapply Rle_trans; [apply (las_b1 L k x slack M X); auto|].
  assert (P : 0 < (Rabs b + 1) / epsilon) by (pose proof (Rabs_pos b); apply Rdiv_lt_0_compat; lra).
  assert (E : exp (- M) <= epsilon / (Rabs b + 1)).
  { replace (epsilon / (Rabs b + 1)) with (exp (- ln ((Rabs b + 1) / epsilon))).
    - destruct (Req_dec (- M) (- ln ((Rabs b + 1) / epsilon))) as [->|]; [lra|]. left. apply exp_increasing.
      lra.
    - rewrite exp_Ropp, exp_ln by auto. pose proof (Rabs_pos b). field. lra. }
  pose proof (exp_pos (- M)). pose proof (Rabs_pos b). pose proof (Rle_abs b).
  replace (2 * INR L * exp (- M) * X) with (b * exp (- M)) by (unfold b; lra).
  assert (B : b * exp (- M) <= (Rabs b + 1) * exp (- M)) by (apply Rmult_le_compat_r; lra).
  eapply Rle_trans; [exact B|]. apply Rmult_le_reg_l with (/ (Rabs b + 1)); [apply Rinv_0_lt_compat; lra|].
  rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. unfold Rdiv in E. lra.
Qed.

(* The same row with the logit -infinity in place of ln 0 (None), as a masked entry has it: exact, zero taps
   included, and with slack = 0 as well where the kernel is not 0. *)
Definition log_extended (w : R) : option R := if Req_EM_T w 0 then None else Some (ln w).
Definition exp_extended (l : option R) : R := match l with None => 0 | Some s => exp s end.
Theorem las_b1_masked (L : nat) (k x : nat -> R) (slack : R) (i : nat) :
  (forall t, (t < L)%nat -> 0 <= k t) -> 0 <= slack -> 0 < total L k slack -> (i < L)%nat ->
  total L k slack * average (S (S i))
    (fun j => exp_extended (log_extended (match j with O => rest L k slack i | S j => k (i - j)%nat end)))
    (fun j => match j with O => 0 | S j => x j end)
  = conv k x i.
Proof.
  intros Hk Hs Hc Hi.
  assert (E : forall w, 0 <= w -> exp_extended (log_extended w) = w).
  { intros w Hw. unfold exp_extended, log_extended. destruct (Req_EM_T w 0); [auto|]. apply exp_ln. lra. }
  unfold average. rewrite !(sum_first (S i)), conv_rev.
  assert (R0 : 0 <= rest L k slack i).
  { unfold rest. assert (0 <= sum (L - S i) (fun t => k (S i + t)%nat))
      by (apply sum_nonneg; intros; apply Hk; lia). lra. }
  rewrite (sum_ext (S i) (fun j => exp_extended (log_extended (k (i - j)%nat)) * x j)
    (fun j => k (i - j)%nat * x j))
    by (intros; rewrite E; [auto|apply Hk; lia]).
  rewrite (sum_ext (S i) (fun j => exp_extended (log_extended (k (i - j)%nat))) (fun j => k (i - j)%nat))
    by (intros; apply E, Hk; lia).
  rewrite E by auto. rewrite rest_total by auto. field. lra.
Qed.

(* ---- Signed kernels: two heads ------------------------------------------------------------------------- *)
Definition positive_part (k : nat -> R) (t : nat) : R := Rmax (k t) 0.
Definition negative_part (k : nat -> R) (t : nat) : R := Rmax (- k t) 0.
Theorem las_b1_signed (L : nat) (k x : nat -> R) (slack M X : R) (i : nat) :
  0 < slack -> (forall t, (t < L)%nat -> Rabs (x t) <= X) -> (i < L)%nat ->
  Rabs (las_b1_head L (positive_part k) slack M x i - las_b1_head L (negative_part k) slack M x i
    - conv k x i)
  <= 4 * INR L * exp (- M) * X.
Proof.
  intros Hs Hx Hi.
  assert (E : conv k x i = conv (positive_part k) x i - conv (negative_part k) x i).
  { unfold conv. rewrite <- sum_minus. apply sum_ext. intros w _. unfold positive_part, negative_part.
    rewrite <- Rmult_minus_distr_r. f_equal. unfold Rmax.
    destruct (Rle_dec (k w) 0), (Rle_dec (- k w) 0); lra. }
  pose proof (las_b1 L (positive_part k) x slack M X i ltac:(intros; apply Rmax_r) Hs Hx Hi) as A.
  pose proof (las_b1 L (negative_part k) x slack M X i ltac:(intros; apply Rmax_r) Hs Hx Hi) as B.
  rewrite E. unfold Rabs in *. repeat destruct (Rcase_abs _); lra.
Qed.

(* ---- One head has one sign ----------------------------------------------------------------------------- *)
(* Any single head: m extra tokens and then x_0, x_1, ..., every token with whatever else it carries (P:
   positions, a constant), the value entering by any fixed row Q; all weights free, W_o to one output. *)
Definition any_tokens (m : nat) (P : nat -> nat -> R) (Q x : nat -> R) (r c : nat) : R :=
  P r c + (if Nat.ltb r m then 0 else x (r - m)%nat * Q c).
Definition any_head (n d m : nat) (Wq Wk Wv : nat -> nat -> R) (Wo : nat -> R) (P : nat -> nat -> R)
  (Q x : nat -> R)
  (t : nat) : R := sum d (fun e => head n d Wq Wk Wv (any_tokens m P Q x) (m + t) e * Wo e).

Theorem one_head_has_one_sign (n d m : nat) (Wq Wk Wv : nat -> nat -> R) (Wo : nat -> R) (P : nat -> nat -> R)
  (Q k : nat -> R) (a b t : nat) :
  0 < k a -> k b < 0 -> (a <= t)%nat -> (b <= t)%nat ->
  exists x, any_head n d m Wq Wk Wv Wo P Q x t <> conv k x t.
Proof.
  intros Ka Kb Ha Hb. set (N := S (m + t)).
  set (beta := fun j => sum d (fun e => linear n (P j) Wv e * Wo e)).
  set (g := sum d (fun e => linear n Q Wv e * Wo e)).
  set (B := sum N (fun j => Rabs (beta j))).
  (* the output is a mean of the values that W_v and W_o make of the tokens *)
  assert (F : forall x, exists p, (forall j, 0 <= p j) /\ sum N p = 1 /\ any_head n d m Wq Wk Wv Wo P Q x t
    = sum N (fun j => p j * (beta j + g * (if Nat.ltb j m then 0 else x (j - m)%nat)))).
  { intros x. exists (softmax N (head_logit n d Wq Wk (any_tokens m P Q x) (m + t))). split; [|split].
    - intros j. left. apply softmax_pos. unfold N. lia.
    - apply softmax_sum. unfold N. lia.
    - unfold any_head, head. fold N.
      rewrite (sum_ext d _ (fun e => sum N
        (fun j => softmax N (head_logit n d Wq Wk (any_tokens m P Q x) (m + t)) j
        * linear n (any_tokens m P Q x j) Wv e * Wo e)))
            by (intros e _; now rewrite attention_softmax, <- sum_scal_r).
      rewrite sum_swap. apply sum_ext. intros j _.
      rewrite (sum_ext d _ (fun e => softmax N (head_logit n d Wq Wk (any_tokens m P Q x) (m + t)) j
        * (linear n (any_tokens m P Q x j) Wv e * Wo e))) by (intros; lra).
      rewrite sum_scal. f_equal. unfold beta, g. rewrite <- sum_scal_r, <- sum_plus. apply sum_ext.
      intros e _.
      rewrite (Rmult_comm (_ * _)), <- Rmult_assoc, <- Rmult_plus_distr_r. f_equal.
      unfold linear. rewrite <- sum_scal, <- sum_plus. apply sum_ext. intros c _. unfold any_tokens.
      destruct (Nat.ltb j m); lra. }
  assert (bound : forall j, (j < N)%nat -> - B <= beta j <= B).
  { intros j Hj. assert (Rabs (beta j) <= B)
      by (apply (sum_term_le N (fun j => Rabs (beta j))); auto; intros; apply Rabs_pos).
    unfold Rabs in *. destruct (Rcase_abs (beta j)); lra. }
  assert (B0 : 0 <= B) by (apply sum_nonneg; intros; apply Rabs_pos).
  (* one impulse: the convolution answers with one tap *)
  assert (impulse : forall s lambda, (s <= t)%nat ->
    conv k (fun i => lambda * one_hot (t - s) i) t = lambda * k s).
  { intros s lambda Hs. unfold conv, one_hot. rewrite (sum_only _ _ s); [| lia |].
    - rewrite Nat.eqb_refl. lra.
    - intros w Hw E. rewrite (proj2 (Nat.eqb_neq (t - s) (t - w))) by lia. lra. }
  assert (nonneg : forall l s j, 0 <= l -> 0 <= (if Nat.ltb j m then 0 else l * one_hot (t - s) (j - m)%nat)).
  { intros l s j Hl. unfold one_hot. destruct (Nat.ltb j m), (Nat.eqb (t - s) (j - m)); lra. }
  destruct (Rle_dec g 0) as [G|G].
  - set (l := (B + 1) / k a). assert (0 <= l) by (unfold l; left; apply Rdiv_lt_0_compat; lra).
    exists (fun i => l * one_hot (t - a) i). rewrite impulse by auto.
    destruct (F (fun i => l * one_hot (t - a) i)) as (p & p0 & p1 & ->).
    replace (l * k a) with (B + 1) by (unfold l; field; lra).
    assert (sum N (fun j => p j * (beta j + g * (if Nat.ltb j m then 0 else l * one_hot (t - a) (j - m)%nat)))
      <= B); [|lra].
    rewrite <- (Rmult_1_l B), <- p1, <- sum_scal_r. apply sum_le. intros j Hj. apply Rmult_le_compat_l; auto.
    pose proof (bound j Hj). pose proof (nonneg l a j H). nra.
  - set (l := (B + 1) / - k b). assert (0 <= l) by (unfold l; left; apply Rdiv_lt_0_compat; lra).
    exists (fun i => l * one_hot (t - b) i). rewrite impulse by auto.
    destruct (F (fun i => l * one_hot (t - b) i)) as (p & p0 & p1 & ->).
    replace (l * k b) with (- (B + 1)) by (unfold l; field; lra).
    assert (- B <= sum N (fun j => p j * (beta j
      + g * (if Nat.ltb j m then 0 else l * one_hot (t - b) (j - m)%nat)))); [|lra].
    rewrite <- (Rmult_1_l (- B)), <- p1, <- sum_scal_r. apply sum_le. intros j Hj.
    apply Rmult_le_compat_l; auto.
    pose proof (bound j Hj). pose proof (nonneg l b j H). nra.
Qed.
