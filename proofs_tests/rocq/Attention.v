(* Attention.v: what the proofs share: finite sums, products of rows, causal convolution, softmax attention
   over the reals. No theorem of a paper stands here. A row or a signal is a function nat -> R, of which only
   the first entries count; a matrix is a function nat -> nat -> R. The C twin: constructions.c,
   smx_attention_fwd and ref_attention_fwd. *)
From Coq Require Import Reals Lra Lia Arith List.
Open Scope R_scope.

(* ---- Definitions --------------------------------------------------------------------------------------- *)
(* f 0 + ... + f (n-1) *)
Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => sum m f + f m end.

Definition dot (d : nat) (x y : nat -> R) : R := sum d (fun c => x c * y c).
Definition norm (d : nat) (x : nat -> R) : R := sqrt (dot d x x).
(* y = x W: a row of n entries by a matrix *)
Definition linear (n : nat) (x : nat -> R) (W : nat -> nat -> R) (e : nat) : R :=
  sum n (fun c => x c * W c e).
(* the identity matrix; its rows are the one-hot vectors *)
Definition one_hot (i j : nat) : R := if Nat.eqb i j then 1 else 0.
(* (F * x)_t = sum of F_w x_{t-w} over w <= t: causal, x is 0 before the sequence *)
Definition conv (F x : nat -> R) (t : nat) : R := sum (S t) (fun w => F w * x (t - w)%nat).

(* The average of v_0 .. v_{n-1} with the weights w, and softmax attention of one row over n keys: weights
   e^s. A causal row i attends to n = i + 1 keys, under the strict mask to n = i. *)
Definition average (n : nat) (w v : nat -> R) : R := sum n (fun j => w j * v j) / sum n w.
Definition attention (n : nat) (s v : nat -> R) : R := average n (fun j => exp (s j)) v.
(* The weight of key p. *)
Definition softmax (n : nat) (s : nat -> R) (p : nat) : R := exp (s p) / sum n (fun j => exp (s j)).

(* One causal head as in the C code: tokens X [row][n], W_q, W_k, W_v [n][d], logits by 1/sqrt(d); column e of
   row t. *)
Definition head_logit (n d : nat) (Wq Wk X : nat -> nat -> R) (t j : nat) : R :=
  dot d (linear n (X t) Wq) (linear n (X j) Wk) / sqrt (INR d).
Definition head (n d : nat) (Wq Wk Wv X : nat -> nat -> R) (t e : nat) : R :=
  attention (S t) (head_logit n d Wq Wk X t) (fun j => linear n (X j) Wv e).

(* ---- Sums ---------------------------------------------------------------------------------------------- *)
Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n; simpl; intros H; auto. rewrite IHn by (intros; apply H; lia). now rewrite H by lia. Qed.

Lemma sum_S n f : sum (S n) f = sum n f + f n.
Proof. reflexivity. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn. lra. Qed.

Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn. lra. Qed.

Lemma sum_scal n a f : sum n (fun i => a * f i) = a * sum n f.
Proof. induction n; simpl; [lra|]. rewrite IHn. lra. Qed.

Lemma sum_scal_r n a f : sum n (fun i => f i * a) = sum n f * a.
Proof. induction n; simpl; [lra|]. rewrite IHn. lra. Qed.

Lemma sum_const n a : sum n (fun _ => a) = INR n * a.
Proof. induction n; [simpl; lra|]. rewrite S_INR. cbn [sum]. rewrite IHn. lra. Qed.

Lemma sum_0 n f : (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof. intros H. rewrite (sum_ext n f (fun _ => 0)) by exact H. rewrite sum_const. lra. Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n; simpl; intros H; [lra|].
  assert (sum n f <= sum n g) by (apply IHn; intros; apply H; lia). pose proof (H n ltac:(lia)). lra.
Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. intros H. pose proof (sum_le n (fun _ => 0) f H) as Z. rewrite sum_const in Z. lra. Qed.

Lemma sum_pos n f : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof.
  intros Hn H. destruct n; [lia|]. simpl.
  assert (0 <= sum n f) by (apply sum_nonneg; intros i Hi; left; apply H; lia). pose proof (H n ltac:(lia)).
  lra.
Qed.

Lemma sum_abs n f : Rabs (sum n f) <= sum n (fun i => Rabs (f i)).
Proof.
  induction n; simpl; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma sum_swap n m (f : nat -> nat -> R) :
  sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n; simpl; [symmetry; apply sum_0; auto|]. rewrite IHn. now rewrite <- sum_plus.
Qed.

(* one term taken out *)
Lemma sum_pick n f p : (p < n)%nat -> sum n f = f p + sum n (fun i => if Nat.eqb i p then 0 else f i).
Proof.
  induction n; [lia|]. intros H. cbn [sum]. destruct (Nat.eq_dec p n) as [->|E].
  - rewrite Nat.eqb_refl. rewrite (sum_ext n (fun i => if Nat.eqb i n then 0 else f i) f); [lra|].
    intros i Hi. now rewrite (proj2 (Nat.eqb_neq i n)) by lia.
  - rewrite IHn by lia. rewrite (proj2 (Nat.eqb_neq n p)) by lia. lra.
Qed.

Lemma sum_only n f p : (p < n)%nat -> (forall i, (i < n)%nat -> i <> p -> f i = 0) -> sum n f = f p.
Proof.
  intros Hp H. rewrite (sum_pick n f p Hp). rewrite sum_0; [lra|].
  intros i Hi. destruct (Nat.eqb_spec i p); auto.
Qed.

Lemma sum_term_le n f p : (p < n)%nat -> (forall i, (i < n)%nat -> 0 <= f i) -> f p <= sum n f.
Proof.
  intros Hp H. rewrite (sum_pick n f p Hp).
  assert (0 <= sum n (fun i => if Nat.eqb i p then 0 else f i)); [|lra].
  apply sum_nonneg. intros i Hi. destruct (Nat.eqb i p); [lra|auto].
Qed.

Lemma sum_app n m f : sum (n + m) f = sum n f + sum m (fun i => f (n + i)%nat).
Proof.
  induction m; [rewrite Nat.add_0_r; simpl; lra|]. rewrite Nat.add_succ_r. cbn [sum]. rewrite IHm. lra.
Qed.

Lemma sum_first n f : sum (S n) f = f O + sum n (fun i => f (S i)).
Proof. change (S n) with (1 + n)%nat. rewrite sum_app. simpl. lra. Qed.

Lemma sum_rev n f : sum n f = sum n (fun i => f (n - 1 - i)%nat).
Proof.
  induction n; auto. rewrite (sum_first n (fun i => f (S n - 1 - i)%nat)). cbn [sum]. rewrite IHn, Rplus_comm.
  f_equal; [f_equal; lia|]. apply sum_ext. intros i Hi. f_equal. lia.
Qed.

Lemma seq_from m n : seq m n = map (Nat.add m) (seq 0 n).
Proof. induction m; [now rewrite map_id |]. rewrite <- seq_shift, IHm, map_map. easy. Qed.

(* ---- Rows ---------------------------------------------------------------------------------------------- *)
Lemma linear_one_hot n i W e : (i < n)%nat -> linear n (one_hot i) W e = W i e.
Proof.
  intros H. unfold linear, one_hot. rewrite (sum_only n _ i H).
  - rewrite Nat.eqb_refl. lra.
  - intros j _ E. rewrite (proj2 (Nat.eqb_neq i j)) by auto. lra.
Qed.

Lemma dot_one_hot d x j : (j < d)%nat -> dot d x (one_hot j) = x j.
Proof.
  intros H. unfold dot, one_hot. rewrite (sum_only d _ j H).
  - rewrite Nat.eqb_refl. lra.
  - intros i _ E. rewrite (proj2 (Nat.eqb_neq j i)) by auto. lra.
Qed.

Lemma dot_comm d x y : dot d x y = dot d y x.
Proof. apply sum_ext. intros. lra. Qed.

Lemma dot_scal_l d a x y : dot d (fun c => a * x c) y = a * dot d x y.
Proof. unfold dot. rewrite <- sum_scal. apply sum_ext. intros. lra. Qed.

Lemma dot_scal_r d a x y : dot d x (fun c => a * y c) = a * dot d x y.
Proof. unfold dot. rewrite <- sum_scal. apply sum_ext. intros. lra. Qed.

Lemma dot_sum_r d n x (f : nat -> nat -> R) :
  dot d x (fun c => sum n (fun i => f i c)) = sum n (fun i => dot d x (f i)).
Proof.
  unfold dot. rewrite <- sum_swap. apply sum_ext. intros c _. now rewrite sum_scal.
Qed.

Lemma dot_nonneg d x : 0 <= dot d x x.
Proof. apply sum_nonneg. intros. nra. Qed.

Lemma norm_nonneg d x : 0 <= norm d x.
Proof. apply sqrt_pos. Qed.

Lemma norm_sq d x : norm d x * norm d x = dot d x x.
Proof. apply sqrt_sqrt, dot_nonneg. Qed.

Lemma norm_ext d x y : (forall c, (c < d)%nat -> x c = y c) -> norm d x = norm d y.
Proof. intros H. unfold norm, dot. f_equal. apply sum_ext. intros c Hc. now rewrite H by auto. Qed.

(* Lagrange's identity gives Cauchy-Schwarz with its case of equality. *)
Lemma lagrange d x y :
  sum d (fun i => sum d (fun j => (x i * y j - x j * y i) * (x i * y j - x j * y i)))
  = 2 * (dot d x x * dot d y y - dot d x y * dot d x y).
Proof.
  assert (E : forall i, sum d (fun j => (x i * y j - x j * y i) * (x i * y j - x j * y i))
    = (x i * x i) * dot d y y + (y i * y i) * dot d x x - 2 * (x i * y i) * dot d x y).
  { intros i. unfold dot. rewrite <- !sum_scal, <- sum_plus, <- sum_minus. apply sum_ext. intros. lra. }
  rewrite (sum_ext d _ _ (fun i _ => E i)). rewrite sum_minus, sum_plus, !sum_scal_r, sum_scal.
  fold (dot d x x) (dot d y y) (dot d x y). lra.
Qed.

Lemma cauchy_schwarz d x y : dot d x y <= norm d x * norm d y.
Proof.
  assert (Q : 0 <= dot d x x * dot d y y - dot d x y * dot d x y).
  { pose proof (lagrange d x y) as E.
    assert (0 <= sum d (fun i => sum d (fun j => (x i * y j - x j * y i) * (x i * y j - x j * y i)))); [|lra].
    apply sum_nonneg. intros. apply sum_nonneg. intros. apply Rle_0_sqr. }
  unfold norm. rewrite <- sqrt_mult by apply dot_nonneg.
  destruct (Rle_dec (dot d x y) 0) as [N|P]; [pose proof (sqrt_pos (dot d x x * dot d y y)); lra|].
  rewrite <- (sqrt_square (dot d x y)) by lra. apply sqrt_le_1; [nra| |lra].
  apply Rmult_le_pos; apply dot_nonneg.
Qed.

Lemma norm_triangle d x y : norm d (fun c => x c + y c) <= norm d x + norm d y.
Proof.
  pose proof (norm_nonneg d x). pose proof (norm_nonneg d y).
  rewrite <- (sqrt_square (norm d x + norm d y)) by lra. apply sqrt_le_1; [apply dot_nonneg|nra|].
  assert (E : dot d (fun c => x c + y c) (fun c => x c + y c) = dot d x x + 2 * dot d x y + dot d y y).
  { unfold dot. rewrite <- sum_scal, <- !sum_plus. apply sum_ext. intros. lra. }
  rewrite E, <- !norm_sq. pose proof (cauchy_schwarz d x y). nra.
Qed.

Lemma norm_scal d a x : norm d (fun c => a * x c) = Rabs a * norm d x.
Proof.
  unfold norm. rewrite dot_scal_l, dot_scal_r, <- Rmult_assoc, sqrt_mult; [|nra|apply dot_nonneg].
  f_equal. apply sqrt_Rsqr_abs.
Qed.

Lemma norm_0 d : norm d (fun _ => 0) = 0.
Proof. unfold norm, dot. rewrite sum_0 by (intros; lra). apply sqrt_0. Qed.

Lemma norm_sum d n (f : nat -> nat -> R) :
  norm d (fun c => sum n (fun i => f i c)) <= sum n (fun i => norm d (f i)).
Proof.
  induction n; cbn [sum]; [rewrite norm_0; lra|]. eapply Rle_trans; [apply norm_triangle|]. lra.
Qed.

(* ---- Softmax ------------------------------------------------------------------------------------------- *)
Lemma exp_sum_pos n s : (0 < n)%nat -> 0 < sum n (fun j => exp (s j)).
Proof. intros H. apply sum_pos; auto. intros. apply exp_pos. Qed.

Lemma softmax_pos n s p : (0 < n)%nat -> 0 < softmax n s p.
Proof. intros H. apply Rdiv_lt_0_compat; [apply exp_pos|now apply exp_sum_pos]. Qed.

Lemma softmax_sum n s : (0 < n)%nat -> sum n (softmax n s) = 1.
Proof.
  intros H. unfold softmax, Rdiv. rewrite sum_scal_r. apply Rinv_r. apply Rgt_not_eq, exp_sum_pos, H.
Qed.

Lemma attention_softmax n s v : attention n s v = sum n (fun j => softmax n s j * v j).
Proof.
  unfold attention, average, softmax, Rdiv. rewrite <- sum_scal_r. apply sum_ext. intros. lra.
Qed.

(* Logits count only up to a constant. *)
Lemma softmax_shift n s a p : softmax n (fun j => s j + a) p = softmax n s p.
Proof.
  unfold softmax. rewrite exp_plus.
  rewrite (sum_ext n _ (fun j => exp (s j) * exp a)) by (intros; apply exp_plus).
  rewrite sum_scal_r. pose proof (exp_pos a). unfold Rdiv.
  destruct (Req_dec (sum n (fun j => exp (s j))) 0) as [E|E].
  - rewrite E, Rmult_0_l, !Rinv_0. lra.
  - field. split; [exact E|lra].
Qed.
