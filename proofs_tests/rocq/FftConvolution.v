(* FftConvolution.v: [CHELA] Sec. 2.2, Eq. 7: the long convolution by transforms is the causal sum.

   The transform of N points, X_k = sum_t x_t e^{-2 pi j k t / N}, of a kernel and a sequence of L rows,
   zeros after them; the product of the two, transformed back. Proved for every N >= 2L - 1, every kernel
   (squashed or not) and every input:
   - row t of it is (F * x)_t = sum_{w<=t} F_w x_{t-w}, as a complex number: its imaginary part is 0;
   - the transform back undoes the transform;
   - N >= 2L - 1 is needed: with fewer points the tail wraps around onto the first rows (L = 2, N = 2).
   That the fast algorithm computes this transform is tested, not proved: test_fft.c.
   Kernel: longconv.c, fft.c (N the least power of two >= 2L). Tested on floats in proof_chela.c,
   test_fft.c. *)

From Coq Require Import Reals Lra Lia.
#[local] Set Warnings "-ambiguous-paths". (* Coquelicot's own *)
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(* f 0 + ... + f (n-1), of complex and of real numbers *)
Fixpoint csum (n : nat) (f : nat -> C) : C := match n with O => RtoC 0 | S m => (csum m f + f m)%C end.
Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => sum m f + f m end.

(* e^{-2 pi j i / N} and its conjugate. *)
Definition angle (N i : nat) : R := 2 * PI * INR i / INR N.
Definition root (N i : nat) : C := (cos (angle N i), - sin (angle N i)).
Definition root_back (N i : nat) : C := (cos (angle N i), sin (angle N i)).

Definition transform (N : nat) (x : nat -> C) (k : nat) : C := csum N (fun t => x t * root N (k * t))%C.
Definition back (N : nat) (X : nat -> C) (t : nat) : C :=
  (RtoC (/ INR N) * csum N (fun k => X k * root_back N (k * t)))%C.

Definition conv (F x : nat -> R) (t : nat) : R := sum (S t) (fun w => F w * x (t - w)%nat).
Definition rows (L : nat) (x : nat -> R) : Prop := forall t, (L <= t)%nat -> x t = 0.
Definition complex (x : nat -> R) (t : nat) : C := RtoC (x t).
Definition by_transforms (N : nat) (F x : nat -> R) : nat -> C :=
  back N (fun k => transform N (complex F) k * transform N (complex x) k)%C.

(* ---- Sums ---- *)

Lemma csum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> csum n f = csum n g.
Proof. induction n; simpl; intros H; [easy | rewrite IHn, H; auto]. Qed.

Lemma csum_scale n f a : csum n (fun i => a * f i)%C = (a * csum n f)%C.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma csum_scale_r n f a : csum n (fun i => f i * a)%C = (csum n f * a)%C.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma csum_plus n f g : csum n (fun i => f i + g i)%C = (csum n f + csum n g)%C.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma csum_swap m n f : csum m (fun i => csum n (f i)) = csum n (fun j => csum m (fun i => f i j)).
Proof.
  induction m; simpl; [induction n; simpl; [easy | rewrite <- IHn; ring] |]. now rewrite IHm, <- csum_plus.
Qed.

Lemma csum_zero n f : (forall i, (i < n)%nat -> f i = RtoC 0) -> csum n f = RtoC 0.
Proof. induction n; simpl; intros H; [easy |]. rewrite IHn, H by auto. ring. Qed.

Lemma csum_one n f j :
  (j < n)%nat -> (forall i, (i < n)%nat -> i <> j -> f i = RtoC 0) -> csum n f = f j.
Proof.
  induction n; simpl; intros Hj H; [lia |]. destruct (Nat.eq_dec j n) as [-> | D].
  - rewrite csum_zero; [ring |]. intros i Hi. apply H; lia.
  - rewrite IHn, (H n) by (auto; lia). ring.
Qed.

Lemma csum_first m n f : (forall i, (m <= i)%nat -> f i = RtoC 0) -> csum (m + n) f = csum m f.
Proof.
  intros Z. induction n; [now rewrite Nat.add_0_r |].
  rewrite Nat.add_succ_r. simpl. rewrite IHn, Z by lia. ring.
Qed.

Lemma csum_real n f : csum n (fun i => RtoC (f i)) = RtoC (sum n f).
Proof. induction n; simpl; [easy |]. now rewrite IHn, RtoC_plus. Qed.

(* ---- Roots of unity ---- *)

Lemma C_eq (x y : C) : fst x = fst y -> snd x = snd y -> x = y.
Proof. destruct x, y; simpl; intros; subst; easy. Qed.

Lemma angle_plus N a b : (0 < N)%nat -> angle N (a + b) = angle N a + angle N b.
Proof. intros H. unfold angle. rewrite plus_INR. field. apply not_0_INR. lia. Qed.

Lemma root_plus N a b : (0 < N)%nat -> root N (a + b) = (root N a * root N b)%C.
Proof. intros H. unfold root. rewrite angle_plus, cos_plus, sin_plus by easy. apply C_eq; simpl; ring. Qed.

Lemma root_back_plus N a b : (0 < N)%nat -> root_back N (a + b) = (root_back N a * root_back N b)%C.
Proof.
  intros H. unfold root_back. rewrite angle_plus, cos_plus, sin_plus by easy. apply C_eq; simpl; ring.
Qed.

Lemma root_and_back N a : (root N a * root_back N a)%C = RtoC 1.
Proof.
  unfold root, root_back. pose proof (sin2_cos2 (angle N a)) as E. unfold Rsqr in E. apply C_eq; simpl; lra.
Qed.

Lemma cos_below_1 a : 0 < a < 2 * PI -> cos a <> 1.
Proof.
  intros Ha E. replace a with (2 * (a / 2)) in E by lra. rewrite cos_2a_sin in E.
  assert (0 < sin (a / 2)) by (apply sin_gt_0; lra). nra.
Qed.

(* The root of a difference a - b that is no multiple of N, and its powers. *)
Definition turn (N a b : nat) : C := (root N a * root_back N b)%C.

Lemma turn_is_not_1 N a b : (a <> b)%nat -> (a < b + N)%nat -> (b < a + N)%nat -> turn N a b <> RtoC 1.
Proof.
  intros D A B E. assert (HN : (0 < N)%nat) by lia. assert (0 < INR N) by now apply lt_0_INR.
  assert (G : forall m, (0 < m < N)%nat -> cos (angle N m) <> 1).
  { intros m Hm. apply cos_below_1. unfold angle. pose proof PI_RGT_0.
    assert (0 < INR m) by (apply lt_0_INR; lia). assert (INR m < INR N) by (apply lt_INR; lia).
    split; [apply Rdiv_lt_0_compat; [nra | easy] |].
    apply Rmult_lt_reg_r with (INR N); [easy |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
  unfold turn in E. destruct (Nat.lt_ge_cases a b) as [L | L].
  - replace b with (a + (b - a))%nat in E by lia.
    rewrite root_back_plus, Cmult_assoc, root_and_back, Cmult_1_l in E by easy.
    apply (G (b - a)%nat); [lia |]. now apply (f_equal fst) in E.
  - replace a with ((a - b) + b)%nat in E by lia.
    rewrite root_plus, <- Cmult_assoc, root_and_back, Cmult_1_r in E by easy.
    apply (G (a - b)%nat); [lia |]. now apply (f_equal fst) in E.
Qed.

Fixpoint power (z : C) (n : nat) : C := match n with O => RtoC 1 | S m => (power z m * z)%C end.

Lemma turn_powers N a b k : (0 < N)%nat -> (root N (k * a) * root_back N (k * b))%C = power (turn N a b) k.
Proof.
  intros H. induction k as [| k IH]; [apply root_and_back |].
  replace (S k * a)%nat with (k * a + a)%nat by lia. replace (S k * b)%nat with (k * b + b)%nat by lia.
  rewrite root_plus, root_back_plus by easy. simpl. rewrite <- IH. unfold turn. ring.
Qed.

Lemma full_circle N i : (0 < N)%nat -> root N (N * i) = RtoC 1 /\ root_back N (N * i) = RtoC 1.
Proof.
  intros H. assert (E : angle N (N * i) = 0 + 2 * INR i * PI).
  { unfold angle. rewrite mult_INR. field. apply not_0_INR. lia. }
  unfold root, root_back. rewrite E, cos_period, sin_period, cos_0, sin_0. split; apply C_eq; simpl; ring.
Qed.

Lemma geometric z n : (csum n (power z) * (RtoC 1 - z) = RtoC 1 - power z n)%C.
Proof. induction n; simpl; [ring |]. rewrite Cmult_plus_distr_r, IHn. ring. Qed.

(* sum_k e^{-2 pi j k (a - b) / N} is N where a = b, 0 elsewhere. *)
Lemma orthogonal N a b : (a < b + N)%nat -> (b < a + N)%nat ->
  csum N (fun k => root N (k * a) * root_back N (k * b))%C = if Nat.eq_dec a b then RtoC (INR N) else RtoC 0.
Proof.
  intros A B. assert (HN : (0 < N)%nat) by lia. destruct (Nat.eq_dec a b) as [-> | D].
  - rewrite (csum_ext N _ (fun _ => RtoC 1)) by (intros; apply root_and_back). clear.
    induction N; [easy |]. rewrite S_INR, RtoC_plus. simpl. now rewrite IHN.
  - rewrite (csum_ext N _ (power (turn N a b))) by (intros; now apply turn_powers).
    pose proof (geometric (turn N a b) N) as E. rewrite <- (turn_powers N a b N HN) in E.
    rewrite (proj1 (full_circle N a HN)), (proj2 (full_circle N b HN)) in E.
    destruct (Ceq_dec (csum N (power (turn N a b))) 0) as [Z | Z]; [easy |]. exfalso.
    apply (Cmult_neq_0 _ (RtoC 1 - turn N a b)%C Z).
    + apply Cminus_eq_contra, not_eq_sym, turn_is_not_1; easy.
    + rewrite E. ring.
Qed.

(* ---- Theorems ---- *)

(* The transform back of a sum over pairs of rows: each pair s, v lands on row s + v. *)
Lemma pairs_land N (F x : nat -> R) L t :
  rows L F -> rows L x -> (2 * L - 1 <= N)%nat -> (t < L)%nat ->
  by_transforms N F x t =
  csum N (fun s => csum N (fun v => RtoC (F s) * RtoC (x v) * (if Nat.eq_dec (s + v) t then 1 else 0)))%C.
Proof.
  intros HF Hx HN Ht. unfold by_transforms, back, transform, complex.
  assert (P : forall s v k, (root N (k * s) * root N (k * v) = root N (k * (s + v)))%C).
  { intros. rewrite <- root_plus by lia. f_equal. lia. }
  rewrite (csum_ext N _ (fun k => csum N (fun s => csum N (fun v =>
             RtoC (F s) * RtoC (x v) * (root N (k * (s + v)) * root_back N (k * t))))))%C.
  - rewrite csum_swap, <- csum_scale. apply csum_ext. intros s _.
    rewrite csum_swap, <- csum_scale. apply csum_ext. intros v _. rewrite csum_scale.
    destruct (Nat.lt_ge_cases s L) as [Hs | Hs]; [| rewrite (HF s) by easy; ring].
    destruct (Nat.lt_ge_cases v L) as [Hv | Hv]; [| rewrite (Hx v) by easy; ring].
    rewrite orthogonal by lia. destruct (Nat.eq_dec (s + v) t); [| ring].
    assert (E : (RtoC (/ INR N) * RtoC (INR N) = 1)%C).
    { rewrite <- RtoC_mult, Rinv_l by (apply not_0_INR; lia). easy. }
    transitivity (RtoC (F s) * RtoC (x v) * (RtoC (/ INR N) * RtoC (INR N)))%C; [ring | now rewrite E].
  - intros k _. rewrite <- csum_scale_r, <- csum_scale_r. apply csum_ext. intros s _.
    rewrite <- csum_scale, <- csum_scale_r. apply csum_ext. intros v _. rewrite <- P. ring.
Qed.

Theorem transforms_convolve : forall N (F x : nat -> R) L t,
  rows L F -> rows L x -> (2 * L - 1 <= N)%nat -> (t < L)%nat ->
  by_transforms N F x t = RtoC (conv F x t).
Proof.
  intros N F x L t HF Hx HN Ht. rewrite (pairs_land N F x L t) by easy. unfold conv. rewrite <- csum_real.
  replace N with (S t + (N - S t))%nat by lia. rewrite csum_first.
  - apply csum_ext. intros s Hs. rewrite (csum_one _ _ (t - s)%nat).
    + destruct (Nat.eq_dec (s + (t - s)) t); [| lia]. rewrite RtoC_mult. ring.
    + lia.
    + intros v Hv D. destruct (Nat.eq_dec (s + v) t); [lia | ring].
  - intros s Hs. apply csum_zero. intros v Hv. destruct (Nat.eq_dec (s + v) t); [lia | ring].
Qed.

(* The transform back undoes the transform: the kernel with one tap 1. *)
Theorem back_undoes_transform : forall N (x : nat -> C) t,
  (t < N)%nat -> back N (transform N x) t = x t.
Proof.
  intros N x t Ht. unfold back, transform.
  rewrite (csum_ext N _ (fun k => csum N (fun s => x s * (root N (k * s) * root_back N (k * t)))%C))
    by (intros; rewrite <- csum_scale_r; apply csum_ext; intros; ring).
  rewrite csum_swap.
  rewrite (csum_ext N _ (fun s => x s * (if Nat.eq_dec s t then RtoC (INR N) else 0))%C)
    by (intros; rewrite csum_scale, orthogonal by lia; easy).
  rewrite (csum_one N _ t Ht) by (intros; destruct (Nat.eq_dec i t); [easy | ring]).
  destruct (Nat.eq_dec t t); [| easy].
  transitivity (x t * (RtoC (/ INR N) * RtoC (INR N)))%C; [ring |].
  rewrite <- RtoC_mult, Rinv_l by (apply not_0_INR; lia). ring.
Qed.

(* Two rows and two points: the last product wraps around onto row 0. *)
Definition ones (t : nat) : R := if (t <? 2)%nat then 1 else 0.

Theorem too_few_points_wrap :
  rows 2 ones /\ by_transforms 2 ones ones 0 = RtoC 2 /\ conv ones ones 0 = 1.
Proof.
  assert (A : forall i, angle 2 i = PI * INR i) by (intros; unfold angle; simpl; field).
  repeat split.
  - intros t Ht. unfold ones. destruct (Nat.ltb_spec t 2); [lia | easy].
  - unfold by_transforms, back, transform, complex, root, root_back, ones. simpl. rewrite !A. simpl.
    rewrite Rmult_0_r, Rmult_1_r, cos_0, sin_0, cos_PI, sin_PI. apply C_eq; simpl; field.
  - unfold conv, ones. simpl. ring.
Qed.
