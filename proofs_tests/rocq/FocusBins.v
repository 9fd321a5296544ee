(* FocusBins.v: [Focus] Eqs. 4-8 and erratum 5: the filter of a bin, as printed and causal.

   As printed, the transform X of a bin of N rows is multiplied by the conjugate of H, H_k = 1 / (1 +
   Theta_0 e^{-2 pi j k / N} + Theta_1 e^{-4 pi j k / N}), and transformed back. Proved for every N, every
   input and every stable Theta:
   - what comes out solves y_t = x_t - Theta_0 y_{t+1} - Theta_1 y_{t+2} with the rows counted modulo N: the
     recurrence runs backward in time and round in a circle (our mode literal);
   - so it is not causal, contrary to the note on causality: in a bin of 2 rows the second input moves the
     first output, whatever Theta in (0,1)^2 is;
   - the causal recurrence y_t = x_t - Theta_0 y_{t-1} - Theta_1 y_{t-2}, from rest at the bin's start, is
     the product with the transform of 2 L - 1 or more points of the response cut at L taps.
   Kernel: iir.c (literal, causal). Tested on floats in test_errata.c, proof_focus.c (sampling_h_aliases),
   test_iir.c. *)

From Coq Require Import Reals Lra Lia.
#[local] Set Warnings "-ambiguous-paths". (* Coquelicot's own *)
From Coquelicot Require Import Coquelicot.
From Seqmix Require FocusTriangle.
From Seqmix Require Import FftConvolution.
Open Scope R_scope.

(* The conjugate of H at the k-th of N points, and the bin's output as printed. *)
Definition H_conjugate (N : nat) (theta : R * R) (k : nat) : C :=
  (Cconj (1 / (1 + RtoC (fst theta) * root N k + RtoC (snd theta) * (root N k * root N k))))%C.
Definition literal (N : nat) (theta : R * R) (x : nat -> R) : nat -> C :=
  back N (fun k => transform N (complex x) k * H_conjugate N theta k)%C.

(* A sequence's first L rows, zeros after them. *)
Definition cut (L : nat) (x : nat -> R) (t : nat) : R := if (t <? L)%nat then x t else 0.

(* ---- The denominator ---- *)

Lemma root_conjugate N k : Cconj (root N k) = root_back N k.
Proof. apply C_eq; simpl; [easy | ring]. Qed.

Lemma conjugate_plus a b : Cconj (a + b)%C = (Cconj a + Cconj b)%C.
Proof. apply C_eq; simpl; ring. Qed.
Lemma conjugate_mult a b : Cconj (a * b)%C = (Cconj a * Cconj b)%C.
Proof. apply C_eq; simpl; ring. Qed.
Lemma conjugate_real a : Cconj (RtoC a) = RtoC a.
Proof. apply C_eq; simpl; ring. Qed.

Definition denominator (N : nat) (theta : R * R) (k : nat) : C :=
  (1 + RtoC (fst theta) * root_back N k + RtoC (snd theta) * (root_back N k * root_back N k))%C.

(* A zero of the denominator would be a pole on the unit circle. *)
Lemma denominator_not_0 N theta k :
  FocusTriangle.stable (fst theta) (snd theta) -> denominator N theta k <> 0.
Proof.
  intros St E. assert (P : FocusTriangle.pole (fst theta) (snd theta) (root N k)).
  { unfold FocusTriangle.pole. pose proof (root_and_back N k) as U.
    transitivity (root N k * root N k * denominator N theta k)%C; [| rewrite E; ring].
    unfold denominator.
    transitivity (root N k * root N k + RtoC (fst theta) * root N k * (root N k * root_back N k)
      + RtoC (snd theta) * ((root N k * root_back N k) * (root N k * root_back N k)))%C;
      [rewrite U |]; ring. }
  apply St in P. unfold Cmod, root in P. simpl in P.
  pose proof (sin2_cos2 (angle N k)) as S. unfold Rsqr in S.
  replace (cos (angle N k) * (cos (angle N k) * 1) + - sin (angle N k) * (- sin (angle N k) * 1)) with 1 in P
    by lra. rewrite sqrt_1 in P. lra.
Qed.

Lemma H_conjugate_inverts N theta k :
  FocusTriangle.stable (fst theta) (snd theta) -> (H_conjugate N theta k * denominator N theta k = 1)%C.
Proof.
  intros St. pose proof (denominator_not_0 N theta k St) as Nz. unfold H_conjugate.
  set (D := (1 + RtoC (fst theta) * root N k + RtoC (snd theta) * (root N k * root N k))%C).
  assert (E : denominator N theta k = Cconj D).
  { unfold D, denominator. now rewrite !conjugate_plus, !conjugate_mult, !conjugate_real, !root_conjugate. }
  assert (D0 : D <> 0).
  { intros Z. apply Nz. rewrite E, Z. apply conjugate_real. }
  rewrite E, <- conjugate_mult. unfold Cdiv. rewrite Cmult_1_l, Cinv_l by easy. apply conjugate_real.
Qed.

(* ---- Backward in time and round in a circle ---- *)

Lemma back_ahead N X t m : (0 < N)%nat ->
  back N X (t + m) = (RtoC (/ INR N) * csum N (fun k => X k * root_back N (k * m) * root_back N (k * t)))%C.
Proof.
  intros HN. unfold back. f_equal. apply csum_ext. intros k _.
  replace (k * (t + m))%nat with (k * m + k * t)%nat by lia. rewrite root_back_plus by easy. ring.
Qed.

Lemma back_is_periodic N X t : (0 < N)%nat -> back N X (t mod N) = back N X t.
Proof.
  intros HN. rewrite (Nat.div_mod t N) at 2 by lia. rewrite (Nat.add_comm (N * _)).
  generalize (t / N)%nat. intros n. rewrite back_ahead by easy. unfold back.
  f_equal. apply csum_ext. intros k _.
  replace (k * (N * n))%nat with (N * (k * n))%nat by lia. rewrite (proj2 (full_circle N (k * n) HN)). ring.
Qed.

Theorem literal_runs_backward_in_a_circle : forall N theta x t,
  FocusTriangle.stable (fst theta) (snd theta) -> (t < N)%nat ->
  literal N theta x t =
  (RtoC (x t) - RtoC (fst theta) * literal N theta x ((t + 1) mod N)
              - RtoC (snd theta) * literal N theta x ((t + 2) mod N))%C.
Proof.
  intros N theta x t St Ht. assert (HN : (0 < N)%nat) by lia.
  unfold literal. rewrite !back_is_periodic by easy.
  set (Y := fun k => (transform N (complex x) k * H_conjugate N theta k)%C).
  assert (E : (back N Y t + RtoC (fst theta) * back N Y (t + 1) + RtoC (snd theta) * back N Y (t + 2)
               = RtoC (x t))%C).
  { change (RtoC (x t)) with (complex x t). rewrite <- (back_undoes_transform N (complex x) t Ht).
    rewrite !back_ahead by easy. unfold back.
    transitivity (RtoC (/ INR N) * (csum N (fun k => Y k * root_back N (k * t))
      + (RtoC (fst theta) * csum N (fun k => Y k * root_back N (k * 1) * root_back N (k * t))
      + RtoC (snd theta) * csum N (fun k => Y k * root_back N (k * 2) * root_back N (k * t)))))%C; [ring |].
    f_equal. rewrite <- !csum_scale, <- !csum_plus. apply csum_ext. intros k _.
    replace (k * 2)%nat with (k + k)%nat by lia. rewrite Nat.mul_1_r, root_back_plus by easy.
    transitivity (transform N (complex x) k * (H_conjugate N theta k * denominator N theta k)
                  * root_back N (k * t))%C.
    - unfold Y, denominator. ring.
    - rewrite H_conjugate_inverts by easy. ring. }
  rewrite <- E. ring.
Qed.

(* Two rows: the input 0, 1 answers at row 0 already. *)
Definition second (t : nat) : R := if (t =? 1)%nat then 1 else 0.
Definition nothing (t : nat) : R := 0.

Theorem literal_is_not_causal : forall theta, FocusTriangle.in_unit_square theta ->
  literal 2 theta nothing 0 = RtoC 0 /\ literal 2 theta second 0 <> RtoC 0.
Proof.
  intros theta U. pose proof (FocusTriangle.unit_square_is_stable theta U) as St.
  destruct theta as [a b]. destruct U as [[A0 A1] [B0 B1]]. simpl in *. split.
  - unfold literal, back. rewrite csum_zero; [ring |]. intros k _. unfold transform.
    rewrite csum_zero; [ring |]. intros. unfold complex, nothing. ring.
  - intros E. pose proof (literal_runs_backward_in_a_circle 2 (a, b) second 0 St) as P0.
    pose proof (literal_runs_backward_in_a_circle 2 (a, b) second 1 St) as P1. simpl in P0, P1.
    specialize (P0 ltac:(lia)). specialize (P1 ltac:(lia)). rewrite E in P0, P1.
    unfold second in P0, P1. simpl in P0, P1.
    set (y1 := literal 2 (a, b) (fun t => if (t =? 1)%nat then 1 else 0) 1) in *.
    apply (f_equal fst) in P0, P1. simpl in P0, P1. nra.
Qed.

(* ---- The causal recurrence by transforms ---- *)

Lemma sum_reversed n f : sum n f = sum n (fun i => f (n - 1 - i)%nat).
Proof.
  assert (First : forall m (g : nat -> R), sum (S m) g = g O + sum m (fun i => g (S i))).
  { intros m g. induction m as [| m IH]; [simpl; ring |]. cbn [sum] in *. rewrite IH. ring. }
  induction n as [| n IH]; [easy |]. rewrite (First n (fun i => f (S n - 1 - i)%nat)).
  cbn [sum]. rewrite IH, Rplus_comm.
  replace (S n - 1 - 0)%nat with n by lia. f_equal. apply FocusTriangle.sum_ext. intros i Hi. f_equal. lia.
Qed.

(* A bin of L rows, N points. *)
Theorem causal_bin_by_transforms : forall N L theta x t,
  (2 * L - 1 <= N)%nat -> (t < L)%nat ->
  by_transforms N (cut L (FocusTriangle.h (fst theta) (snd theta))) (cut L x) t =
  RtoC (FocusTriangle.y (fst theta) (snd theta) x t).
Proof.
  intros N L theta x t HN Ht.
  assert (Rows : forall f, rows L (cut L f)).
  { intros f s Hs. unfold cut. destruct (Nat.ltb_spec s L); [lia | easy]. }
  assert (Cut : forall f s, (s < L)%nat -> cut L f s = f s).
  { intros f s Hs. unfold cut. destruct (Nat.ltb_spec s L); [easy | lia]. }
  rewrite (transforms_convolve N _ _ L) by auto. f_equal.
  rewrite FocusTriangle.recurrence_is_convolution. unfold conv. rewrite sum_reversed.
  apply FocusTriangle.sum_ext. intros s Hs. rewrite !Cut by lia.
  replace (S t - 1 - s)%nat with (t - s)%nat by lia. now replace (t - (t - s))%nat with s by lia.
Qed.
