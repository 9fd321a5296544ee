(* Tanh.v: the kernels' hyperbolic tangent in IEEE 754 binary32: how far it is from tanh x.

   Of vf_tanh as vmath.h computes it, each operation rounded to nearest even, u = 2^-24:
   - for every float x with |x| < 5/8, 0 and the subnormal ones too: the result is finite, and
     |tanh(x) - exact| <= 1.51 u |exact| (the largest measured is 1.40 u, at 0x1.357124p-1);
   - for every float x it is finite, and |tanh(x) - exact| <= 3.81 u |exact|: from 5/8 on it is what Sigmoid.v
     speaks of, with the sign of x; from 43.5 on, infinity too, it is 1 or -1; of NaN it is NaN;
   - at 21 points the model, run, gives the words that test_vmath.c asks of the C. They see the last bit of
     every coefficient, and each product of the polynomial fused with its sum.
   How: x + x^3 T(x^2) is within 8.7e-9 tanh x, near 0 by its derivative; what rounds off is bounded by
   relative errors up to 1/2, by halves of the last place in three parts above it, and below 2^-20 the cube is
   not seen. Above 43.5 the exponential is large or infinite.
   Not covered: fast mode, which fuses products and sums, and that a compiler keeps the operations as written
   (the points, digests.txt).
   Kernels: vmath.h (vf_tanh). Tested on floats in test_vmath.c. *)

From Coq Require Import Reals ZArith List Lra Lia.
From Coquelicot Require Import Coquelicot.
From Flocq Require Import Core BinarySingleNaN.
From Interval Require Import Tactic.
From Seqmix Require Import Bounds Rounding TileSums Binary32 Exp SoftmaxRow Sigmoid.
Import Over_integers ListNotations.
Open Scope R_scope.

#[local] Existing Instance p24.

(* ---- The kernel, operation by operation ---- *)

Notation negative m e := (@B754_finite 24 128 true m e eq_refl).
Definition t0 : float := negative 12251370 (-31). (* -5.70498872745e-3f *)
Definition t1 : float := literal 11080526 (-29).  (* 2.06390887954e-2f *)
Definition t2 : float := negative 14425645 (-28). (* -5.37397155531e-2f *)
Definition t3 : float := literal 8946579 (-26).   (* 1.33314422036e-1f *)
Definition t4 : float := negative 11184793 (-25). (* -3.33332819422e-1f *)
Definition five_8 : float := literal 10485760 (-24).

Definition tanh_poly (z : float) : float :=
  add (mul (add (mul (add (mul (add (mul t0 z) t1) z) t2) z) t3) z) t4.
Definition tanh_small (z a : float) : float := add (mul (mul (tanh_poly z) z) a) a.
(* (The sign of x is put on whatever the sign of y.) *)
Definition tanh_of (x : float) : float :=
  let a := Babs x in
  let y := if less a five_8 then tanh_small (mul x x) a else tanh_of_size a in
  if is_nan x then x else if Bsign x then Bopp (Babs y) else y.

(* ---- The polynomial ---- *)

Definition T (z : R) : R := B2R t4 + z * (B2R t3 + z * (B2R t2 + z * (B2R t1 + z * B2R t0))).
Definition Q (a : R) : R := a * (1 + a * a * T (a * a)).

Ltac values := cbv [B2R F2R Fnum Fexp cond_Zopp t0 t1 t2 t3 t4 five_8 bpow Z.pow_pos Pos.iter radix2 radix_val
  Z.mul Pos.mul].

Definition excess (c0 c1 c2 c3 c4 a : R) : R :=
  a * (1 + a * a * (c4 + a * a * (c3 + a * a * (c2 + a * a * (c1 + a * a * c0))))) * (exp (2 * a) + 1)
  - (exp (2 * a) - 1).
Lemma excess_derivative c0 c1 c2 c3 c4 a : is_derive (excess c0 c1 c2 c3 c4) a
  ((1 + a * a * (3 * c4 + a * a * (5 * c3 + a * a * (7 * c2 + a * a * (9 * c1 + a * a * (11 * c0))))))
     * (exp (2 * a) + 1)
   - 2 * exp (2 * a)
     * (1 - a * (1 + a * a * (c4 + a * a * (c3 + a * a * (c2 + a * a * (c1 + a * a * c0))))))).
Proof. unfold excess. auto_derive; [easy |]. ring. Qed.

Lemma excess_bound a : 0 <= a <= 0.625 ->
  Rabs (Q a * (exp (2 * a) + 1) - (exp (2 * a) - 1)) <= 8.7e-9 * (exp (2 * a) - 1).
Proof.
  intros Ha. destruct (Rle_lt_dec a 0.06) as [S | L].
  - change (Rabs (excess (B2R t0) (B2R t1) (B2R t2) (B2R t3) (B2R t4) a) <= 8.7e-9 * (exp (2 * a) - 1)).
    apply Rle_trans with (1.7e-8 * a); [| pose proof (exp_ineq1_le (2 * a)); lra].
    set (e := excess (B2R t0) (B2R t1) (B2R t2) (B2R t3) (B2R t4)).
    destruct (MVT_gen e 0 a _ (fun t _ => excess_derivative _ _ _ _ _ t)) as (t & Ht & E).
    + intros t _. apply continuity_pt_filterlim, (ex_derive_continuous e).
      eexists. apply excess_derivative.
    + rewrite Rmin_left, Rmax_right in Ht by lra.
      replace (e a) with (e a - e 0) by (unfold e, excess; rewrite !Rmult_0_r, exp_0; ring).
      rewrite E, Rminus_0_r, Rabs_mult, (Rabs_pos_eq a) by lra. apply Rmult_le_compat_r; [lra |].
      assert (Hs : 0 <= t <= 0.06) by lra. clear - Hs. values.
      interval with (i_taylor t, i_bisect t, i_prec 60).
  - assert (Hs : 0.06 <= a <= 0.625) by lra. clear - Hs. apply Rminus_le. unfold Q, T. values.
    interval with (i_taylor a, i_bisect a, i_prec 60).
Qed.

Lemma Q_error a : 0 <= a <= 0.625 -> Rabs (Q a - tanh a) <= 8.7e-9 * tanh a.
Proof.
  intros Ha. pose proof (excess_bound a Ha) as E. pose proof (exp_pos (2 * a)) as P. rewrite tanh_as_quotient.
  set (x := exp (2 * a)) in *. replace (1 - 2 / (1 + x)) with ((x - 1) / (x + 1)) by (field; lra).
  apply Rmult_le_reg_r with (x + 1); [lra |].
  replace (Rabs (Q a - (x - 1) / (x + 1)) * (x + 1)) with (Rabs (Q a * (x + 1) - (x - 1))).
  2: { rewrite <- (Rabs_pos_eq (x + 1)) at 3 by lra. rewrite <- Rabs_mult. f_equal. field. lra. }
  replace (8.7e-9 * ((x - 1) / (x + 1)) * (x + 1)) with (8.7e-9 * (x - 1)) by (field; lra). exact E.
Qed.

Lemma from_polynomial a y : 0 <= a <= 0.625 -> Rabs (y - Q a) <= 8.13e-8 * Q a ->
  Rabs (y - tanh a) <= 1.51 * u * tanh a.
Proof.
  intros Ha Hy. pose proof (Q_error a Ha) as E. unfold u.
  assert (0 <= Q a).
  { unfold Q. apply Rmult_le_pos; [lra |]. unfold T. values. interval with (i_prec 40). }
  replace (y - tanh a) with ((y - Q a) + (Q a - tanh a)) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. apply Rabs_le_inv in E. pose proof (Rle_abs (Q a - tanh a)).
  assert (Rabs (Q a - tanh a) <= 8.7e-9 * tanh a) by (apply Rabs_le; lra). lra.
Qed.

(* ---- Roundings ---- *)

Definition rounded_T (z : R) : R :=
  rnd (rnd (rnd (rnd (rnd (rnd (rnd (rnd (B2R t0 * z) + B2R t1) * z) + B2R t2) * z) + B2R t3) * z) + B2R t4).
Definition rounded (a : R) : R :=
  let z := rnd (a * a) in rnd (rnd (rnd (rounded_T z * z) * a) + a).

Lemma rounded_T_close z : 0 <= z <= 0.391 -> Rabs (rounded_T z - T z) <= 0.345 * / 2 ^ 24.
Proof.
  intros Hz. unfold rounded_T, T. values. rounding off1 8%nat. rounding off2 5%nat. rounding off3 6%nat.
  rounding off4 4%nat. rounding off5 5%nat. rounding off6 2%nat. rounding off7 4%nat. rounding off8 1%nat.
  match goal with |- Rabs ?x <= _ => replace x with
    (z * (z * (z * (off1 + off2) + off3 + off4) + off5 + off6) + off7 + off8) by field end.
  interval with (i_prec 40).
Qed.

Lemma T_range z : 0 <= z <= 0.391 -> -0.3334 <= T z <= -0.285.
Proof. intros Hz. unfold T. values. split; interval with (i_bisect z, i_prec 40). Qed.

(* z T(z) at two points. *)
Lemma shifted z q : 0 <= z <= 0.391 -> 0 <= q <= 0.391 ->
  exists k, z * T z - q * T q = k * (z - q) /\ -0.3334 <= k <= 0.
Proof.
  intros Hz Hq.
  exists (B2R t4 + B2R t3 * (z + q) + B2R t2 * (z ^ 2 + z * q + q ^ 2)
    + B2R t1 * (z ^ 3 + z ^ 2 * q + z * q ^ 2 + q ^ 3)
    + B2R t0 * (z ^ 4 + z ^ 3 * q + z ^ 2 * q ^ 2 + z * q ^ 3 + q ^ 4)).
  split; [unfold T; ring |]. values. split; interval with (i_bisect z, i_bisect q, i_prec 40).
Qed.

Lemma bpow_40 : bpow radix2 (-40) = / 2 ^ 40.
Proof. exact (bpow_inverse 40). Qed.
Lemma bpow_20 : bpow radix2 (-20) = / 2 ^ 20.
Proof. exact (bpow_inverse 20). Qed.

Lemma tiny_piece a : format a -> 0 <= a <= / 2 ^ 20 -> Rabs (rounded a - Q a) <= 8.13e-8 * Q a.
Proof.
  intros Fa Ha. unfold rounded. set (z := rnd (a * a)).
  assert (B : 0 <= z <= / 2 ^ 40).
  { assert (E : Rabs z <= bpow radix2 (-40)).
    { apply rnd_le; [lia |]. rewrite Rabs_pos_eq, bpow_40 by nra.
      replace (/ 2 ^ 40) with (/ 2 ^ 20 * / 2 ^ 20) by (simpl; lra). apply Rmult_le_compat; lra. }
    rewrite bpow_40 in E. apply Rabs_le_inv in E. split; [| apply E].
    unfold z. rewrite <- rnd_0. apply round_le; [now apply FLT_exp_valid | apply valid_rnd_N | nra]. }
  pose proof (rounded_T_close z ltac:(lra)) as C. pose proof (T_range z ltac:(lra)) as D.
  set (p := rounded_T z) in *. apply Rabs_le_inv in C.
  assert (Pp : -0.34 <= p <= 0) by lra. clearbody p z. clear C D.
  set (m := rnd (p * z)). set (w := rnd (m * a)).
  assert (M : Rabs m <= / 2 ^ 40).
  { eapply Rle_trans; [apply rnd_at_most_double |]. rewrite Rabs_mult, (Rabs_pos_eq z) by lra.
    assert (Rabs p <= 0.34) by (apply Rabs_le; lra). pose proof (Rabs_pos p). nra. }
  assert (W : Rabs w <= / 2 ^ 39 * a).
  { eapply Rle_trans; [apply rnd_at_most_double |]. rewrite Rabs_mult, (Rabs_pos_eq a) by lra. nra. }
  destruct (rnd_plus w a (format_rnd _) Fa) as (d & -> & Hd). apply Rabs_le_inv in W. clearbody m w.
  pose proof (T_range (a * a) ltac:(split; nra)) as D. unfold Q. set (t := T (a * a)) in *. clearbody t.
  assert (S : - / 2 ^ 40 * a <= a * (a * a * t) <= 0).
  { assert (A : 0 <= a * a <= / 2 ^ 40).
    { split; [nra |]. replace (/ 2 ^ 40) with (/ 2 ^ 20 * / 2 ^ 20) by (simpl; lra).
      apply Rmult_le_compat; lra. }
    set (q := a * a) in *. clearbody q. assert (- / 2 ^ 40 <= q * t <= 0) by (split; nra). split; nra. }
  replace (a * (1 + a * a * t)) with (a + a * (a * a * t)) by ring. set (s := a * (a * a * t)) in *.
  clearbody s. replace ((w + a) * (1 + d) - (a + s)) with (a * d + w * (1 + d) - s) by ring.
  assert (Rabs (a * d) <= / 2 ^ 24 * a).
  { rewrite Rabs_mult, (Rabs_pos_eq a), Rmult_comm by lra. apply Rmult_le_compat_r; [lra |].
    apply Rabs_le. lra. }
  assert (Rabs (w * (1 + d)) <= / 2 ^ 38 * a).
  { rewrite Rabs_mult. apply Rle_trans with (/ 2 ^ 39 * a * 2); [| lra].
    apply Rmult_le_compat; try apply Rabs_pos; apply Rabs_le; lra. }
  apply Rle_trans with (/ 2 ^ 24 * a + / 2 ^ 38 * a + / 2 ^ 40 * a); [| lra].
  apply Rabs_le_inv in H, H0. apply Rabs_le. lra.
Qed.

Lemma small_piece a : format a -> / 2 ^ 20 <= a <= 0.5 -> Rabs (rounded a - Q a) <= 8.13e-8 * Q a.
Proof.
  intros Fa Ha. unfold rounded, Q. set (q := a * a).
  assert (Hq : / 2 ^ 40 <= q <= 0.25).
  { unfold q. split; [| nra]. replace (/ 2 ^ 40) with (/ 2 ^ 20 * / 2 ^ 20) by (simpl; lra).
    apply Rmult_le_compat; lra. }
  destruct (rnd_least (-40) q) as (d1 & E1 & H1 & L1); [lia | rewrite bpow_40, Rabs_pos_eq; lra |].
  set (z := rnd q) in *. clearbody z.
  assert (Hz : 0 <= z <= 0.251) by (rewrite E1; split; interval with (i_prec 40)).
  pose proof (rounded_T_close z ltac:(lra)) as C. pose proof (T_range z ltac:(lra)) as D.
  destruct (shifted z q ltac:(lra) ltac:(lra)) as (k & K & Hk).
  set (p := rounded_T z) in *. apply Rabs_le_inv in C. set (e := p - T z) in *.
  assert (Ep : p = T z + e) by (unfold e; ring). clearbody p e.
  destruct (rnd_least (-42) (p * z)) as (d2 & E2 & H2 & L2); [lia | |].
  { rewrite Rabs_mult. change (-42)%Z with (-2 + -40)%Z. rewrite bpow_plus.
    apply Rmult_le_compat; try apply bpow_ge_0; [| exact L1].
    rewrite Rabs_left by lra. change (bpow radix2 (-2)) with (/ 4). lra. }
  set (m := rnd (p * z)) in *. clearbody m.
  destruct (rnd_least (-62) (m * a)) as (d3 & E3 & H3 & _); [lia | |].
  { rewrite Rabs_mult. change (-62)%Z with (-42 + -20)%Z. rewrite bpow_plus.
    apply Rmult_le_compat; try apply bpow_ge_0; [exact L2 |].
    rewrite bpow_20, Rabs_pos_eq; lra. }
  destruct (rnd_plus (rnd (m * a)) a (format_rnd _) Fa) as (d4 & -> & H4).
  rewrite E3, E2. set (D' := (1 + d2) * (1 + d3) - 1). set (g := k * d1 + (1 + d1) * e).
  assert (Epz : p * z = q * (T q + g)).
  { rewrite Ep. replace ((T z + e) * z) with (z * T z - q * T q + q * T q + z * e) by ring.
    rewrite K, E1. unfold g. ring. }
  rewrite Epz.
  replace ((q * (T q + g) * (1 + d2) * a * (1 + d3) + a) * (1 + d4) - a * (1 + q * T q))
    with (a * (d4 * (1 + q * (T q + g) * (1 + D')) + q * (g * (1 + D') + T q * D'))) by (unfold D'; ring).
  assert (HD : -2.001 * / 2 ^ 24 <= D' <= 2.001 * / 2 ^ 24).
  { unfold D'. replace ((1 + d2) * (1 + d3) - 1) with (d2 + d3 + d2 * d3) by ring.
    split; interval with (i_prec 40). }
  assert (Hg : -0.679 * / 2 ^ 24 <= g <= 0.679 * / 2 ^ 24) by (unfold g; split; interval with (i_prec 40)).
  clearbody D' g q. rewrite Rabs_mult, (Rabs_pos_eq a) by lra.
  replace (8.13e-8 * (a * (1 + q * T q))) with (a * (8.13e-8 * (1 + q * T q))) by ring.
  apply Rmult_le_compat_l; [lra |]. apply Rminus_le. clear - Hq H4 HD Hg. unfold T. values.
  interval with (i_bisect q, i_prec 40).
Qed.

(* The errors of the last product and of the last sum are at most 2^-(w + 25) and 2^-(y + 25). *)
Ltac piece w y :=
  intros a Ha; unfold rounded, Q; cbv zeta;
  let dz := fresh "dz" in let e := fresh "e" in let k := fresh "k" in let K := fresh "K" in
  let Hk := fresh "Hk" in let Hz := fresh "Hz" in let C := fresh "C" in let Ez := fresh "Ez" in
  let H1 := fresh "H1" in let e2 := fresh "e2" in let E2 := fresh "E2" in let H2 := fresh "H2" in
  let e3 := fresh "e3" in let E3 := fresh "E3" in let H3 := fresh "H3" in
  let e4 := fresh "e4" in let E4 := fresh "E4" in let H4 := fresh "H4" in
  destruct (rnd_close 1 26 (a * a) ltac:(lia) eq_refl ltac:(interval with (i_prec 40))) as (dz & Ez & H1);
  rewrite Ez; apply Rabs_le_inv in H1;
  assert (Hz : 0 <= a * a + dz <= 0.391) by (split; interval with (i_prec 40));
  destruct (shifted (a * a + dz) (a * a) Hz ltac:(split; interval with (i_prec 40))) as (k & K & Hk);
  pose proof (rounded_T_close _ Hz) as C; apply Rabs_le_inv in C;
  set (e := rounded_T (a * a + dz) - T (a * a + dz)) in C;
  replace (rounded_T (a * a + dz)) with (T (a * a + dz) + e) by (unfold e; ring); clearbody e; clear Ez;
  destruct (rnd_close 3 28 ((T (a * a + dz) + e) * (a * a + dz)) ltac:(lia) eq_refl
    ltac:(unfold T; values; interval with (i_prec 40))) as (e2 & E2 & H2);
  rewrite E2; apply Rabs_le_inv in H2;
  destruct (rnd_close w (w + 25) (((T (a * a + dz) + e) * (a * a + dz) + e2) * a) ltac:(lia) eq_refl
    ltac:(unfold T; values; interval with (i_prec 40))) as (e3 & E3 & H3);
  rewrite E3; apply Rabs_le_inv in H3;
  destruct (rnd_close y (y + 25) (((T (a * a + dz) + e) * (a * a + dz) + e2) * a + e3 + a) ltac:(lia) eq_refl
    ltac:(unfold T; values; interval with (i_prec 40))) as (e4 & E4 & H4);
  rewrite E4; apply Rabs_le_inv in H4; clear E2 E3 E4;
  replace (((T (a * a + dz) + e) * (a * a + dz) + e2) * a + e3 + a + e4 - a * (1 + a * a * T (a * a)))
    with (a * ((a * a + dz) * T (a * a + dz) - a * a * T (a * a) + (a * a + dz) * e + e2) + e3 + e4) by ring;
  rewrite K; replace (k * (a * a + dz - a * a)) with (k * dz) by ring; clear K;
  apply Rminus_le; unfold T; values; simpl plus in *; interval with (i_bisect a, i_prec 40).

Lemma piece_1 : forall a, 0.5 <= a <= 0.53 -> Rabs (rounded a - Q a) <= 8.13e-8 * Q a.
Proof. piece 4%nat 1%nat. Qed.
Lemma piece_2 : forall a, 0.53 <= a <= 0.59 -> Rabs (rounded a - Q a) <= 8.13e-8 * Q a.
Proof. piece 4%nat 0%nat. Qed.
Lemma piece_3 : forall a, 0.59 <= a <= 0.625 -> Rabs (rounded a - Q a) <= 8.13e-8 * Q a.
Proof. piece 3%nat 0%nat. Qed.

Lemma rounded_error a : format a -> 0 <= a <= 0.625 -> Rabs (rounded a - tanh a) <= 1.51 * u * tanh a.
Proof.
  intros Fa Ha. apply from_polynomial; [exact Ha |].
  destruct (Rle_lt_dec a (/ 2 ^ 20)); [apply tiny_piece; (exact Fa || lra) |].
  destruct (Rle_lt_dec a 0.5); [apply small_piece; (exact Fa || lra) |].
  destruct (Rle_lt_dec a 0.53); [apply piece_1; lra |].
  destruct (Rle_lt_dec a 0.59); [apply piece_2; lra | apply piece_3; lra].
Qed.

(* ---- The whole function ---- *)

Lemma small_error x : is_finite x = true -> Rabs (B2R x) <= 0.625 ->
  is_finite (tanh_small (mul x x) (Babs x)) = true /\
  Rabs (B2R (tanh_small (mul x x) (Babs x)) - tanh (Rabs (B2R x))) <= 1.51 * u * tanh (Rabs (B2R x)).
Proof.
  intros F H. assert (X0 : fits 0 x) by (split; [exact F | simpl; lra]).
  assert (A0 : fits 0 (Babs x))
    by (split; [now rewrite is_finite_Babs | rewrite B2R_Babs, Rabs_Rabsolu; simpl; lra]).
  destruct (mul_fits 0 0 x x ltac:(lia) X0 X0) as [Vz Bz]. set (z := mul x x) in *.
  assert (KK : fits 0 t0 /\ fits 0 t1 /\ fits 1 t2 /\ fits 2 t3 /\ fits 3 t4)
    by (repeat split; try reflexivity; values; interval with (i_prec 40)).
  destruct KK as (K0 & K1 & K2 & K3 & K4).
  destruct (mul_fits 0 0 t0 z ltac:(lia) K0 Bz) as [V1 B1].
  destruct (add_fits 0 _ t1 ltac:(lia) B1 K1) as [V2 B2].
  destruct (mul_fits 1 0 _ z ltac:(lia) B2 Bz) as [V3 B3].
  destruct (add_fits 1 _ t2 ltac:(lia) B3 K2) as [V4 B4].
  destruct (mul_fits 2 0 _ z ltac:(lia) B4 Bz) as [V5 B5].
  destruct (add_fits 2 _ t3 ltac:(lia) B5 K3) as [V6 B6].
  destruct (mul_fits 3 0 _ z ltac:(lia) B6 Bz) as [V7 B7].
  destruct (add_fits 3 _ t4 ltac:(lia) B7 K4) as [V8 B8]. fold (tanh_poly z) in V8, B8.
  assert (VP : B2R (tanh_poly z) = rounded_T (B2R z)) by (rewrite V8, V7, V6, V5, V4, V3, V2, V1; reflexivity).
  destruct (mul_fits 4 0 (tanh_poly z) z ltac:(lia) B8 Bz) as [V9 B9].
  destruct (mul_fits 4 0 (mul (tanh_poly z) z) (Babs x) ltac:(lia) B9 A0) as [V10 B10].
  destruct (add_fits 4 _ (Babs x) ltac:(lia) B10 (fits_more 0 4 _ A0 ltac:(lia))) as [V11 [F11 _]].
  fold (tanh_small z (Babs x)) in V11, F11. split; [exact F11 |].
  assert (Fa : format (Rabs (B2R x))) by (apply generic_format_abs, format_float).
  pose proof (rounded_error (Rabs (B2R x)) Fa ltac:(split; [apply Rabs_pos | exact H])) as E.
  rewrite V11, V10, V9, VP, Vz, B2R_Babs. unfold rounded in E.
  replace (Rabs (B2R x) * Rabs (B2R x)) with (B2R x * B2R x) in E; [exact E |].
  rewrite <- Rabs_mult. symmetry. apply Rabs_pos_eq. nra.
Qed.

Lemma tanh_positive a : 0 <= a -> 0 <= tanh a.
Proof.
  intros H. rewrite tanh_as_quotient. pose proof (exp_ineq1_le (2 * a)).
  assert (2 / (1 + exp (2 * a)) <= 1); [| lra].
  apply Rmult_le_reg_r with (1 + exp (2 * a)); [lra |].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(* With the sign of x, what is within a relative error less than 1 of tanh |x| is as near to tanh x. *)
Lemma signed (x y : float) b : 0 <= b <= 1 -> is_finite y = true ->
  Rabs (B2R y - tanh (Rabs (B2R x))) <= b * tanh (Rabs (B2R x)) ->
  is_finite (if Bsign x then Bopp (Babs y) else y) = true /\
  Rabs (B2R (if Bsign x then Bopp (Babs y) else y) - tanh (B2R x)) <= b * Rabs (tanh (B2R x)).
Proof.
  intros Hb F E. pose proof (tanh_positive _ (Rabs_pos (B2R x))) as P.
  assert (Tx : tanh (B2R x) = if Bsign x then - tanh (Rabs (B2R x)) else tanh (Rabs (B2R x)))
    by (rewrite (by_sign x) at 1; destruct (Bsign x); [apply tanh_odd | easy]).
  assert (Y : 0 <= B2R y) by (apply Rabs_le_inv in E; nra).
  rewrite Tx. destruct (Bsign x).
  - rewrite is_finite_Bopp, is_finite_Babs, B2R_Bopp, B2R_Babs, Rabs_Ropp, (Rabs_pos_eq (tanh _)) by exact P.
    split; [exact F |]. rewrite (Rabs_pos_eq (B2R y)) by exact Y.
    replace (- B2R y - - tanh (Rabs (B2R x))) with (- (B2R y - tanh (Rabs (B2R x)))) by ring.
    now rewrite Rabs_Ropp.
  - rewrite (Rabs_pos_eq (tanh _)) by exact P. now split.
Qed.

Lemma below_5_8 x : is_finite x = true ->
  less (Babs x) five_8 = match Rcompare (Rabs (B2R x)) 0.625 with Lt => true | _ => false end.
Proof.
  intros F. unfold less. rewrite Bcompare_correct by (rewrite ?is_finite_Babs; easy).
  rewrite B2R_Babs. replace (B2R five_8) with 0.625 by (values; lra). reflexivity.
Qed.

Lemma not_nan (x : float) : is_finite x = true -> is_nan x = false.
Proof. now destruct x. Qed.

Theorem tanh_below_error : forall x, is_finite x = true -> Rabs (B2R x) < 0.625 ->
  is_finite (tanh_of x) = true /\
  Rabs (B2R (tanh_of x) - tanh (B2R x)) <= 1.51 * u * Rabs (tanh (B2R x)).
Proof.
  intros x F H. unfold tanh_of. rewrite below_5_8, not_nan, Rcompare_Lt by easy.
  destruct (small_error x F ltac:(lra)) as [Fy E]. apply signed; [unfold u; lra | exact Fy | exact E].
Qed.

(* ---- Above 43.5 ---- *)

(* A float so near to 1 is 1. *)
Lemma is_one (y : float) : is_finite y = true -> Rabs (B2R y - 1) <= / 2 ^ 30 -> y = one.
Proof.
  intros F H. apply Rabs_le_inv in H. destruct (float_scaled y 0 F) as (n & e & V & _ & He).
  { change (bpow radix2 (0 - 1)) with (/ 2). rewrite Rabs_pos_eq; lra. }
  assert (I : B2R y = IZR (n * 2 ^ (e + 24)) * bpow radix2 (-24)).
  { rewrite V, mult_IZR, power_IZR, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. lia. }
  change (bpow radix2 (-24)) with (/ 16777216) in I. set (m := (n * 2 ^ (e + 24))%Z) in *.
  assert (M : m = 16777216%Z).
  { assert (16777215 < m < 16777217)%Z by (split; apply lt_IZR; lra). lia. }
  apply B2R_inj; [destruct y; try easy; simpl in H; lra | reflexivity | rewrite one_is_1, I, M; lra].
Qed.

Lemma large_plus a b : is_finite a = true -> is_finite b = true -> 1 <= B2R a -> 0 <= B2R b ->
  add a b = B754_infinity false \/ is_finite (add a b) = true /\ B2R (add a b) = rnd (B2R a + B2R b).
Proof.
  intros Fa Fb Ha Hb. pose proof (@Bplus_correct 24 128 p24 e128 mode_NE a b Fa Fb) as C. fold (add a b) in C.
  destruct Rlt_bool; [right; now destruct C as (V & G & _) | left]. destruct C as [C _].
  assert (S : Bsign a = false).
  { destruct a as [s | s | | s m e B]; try discriminate; [simpl in Ha; lra |]. destruct s; [| easy].
    assert (B2R (B754_finite true m e B) < 0) by (apply F2R_lt_0; easy). lra. }
  rewrite S in C. simpl in C. destruct (add a b) as [| [] | |]; try discriminate. reflexivity.
Qed.

(* 1 - 2 / (E + 1) of a large E, or an infinite one. *)
Lemma from_large E : E = B754_infinity false \/ is_finite E = true /\ 2 ^ 100 <= B2R E ->
  sub one (div two (add E one)) = one.
Proof.
  intros [-> | [F H]]; [reflexivity |].
  assert (P : bpow radix2 100 = 2 ^ 100) by (simpl; lra).
  destruct (large_plus E one F eq_refl ltac:(lra) ltac:(rewrite one_is_1; lra)) as [-> | [FA V]];
    [reflexivity |].
  set (A := add E one) in *. clearbody A. rewrite one_is_1 in V. assert (LA : 2 ^ 100 <= B2R A).
  { rewrite V, <- P. apply round_ge_generic; [now apply FLT_exp_valid | apply valid_rnd_N | | lra].
    apply generic_format_bpow. unfold FLT_exp. lia. }
  assert (D : Rabs (B2R two / B2R A) <= bpow radix2 (-90)).
  { rewrite two_is_2. change (-90)%Z with (- Z.of_nat 90)%Z. rewrite bpow_inverse.
    rewrite Rabs_pos_eq by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
    apply Rmult_le_reg_r with (B2R A); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  destruct (div_bounded (-90) two A ltac:(lia) eq_refl ltac:(lra) D) as [_ [FD BD]].
  set (d := div two A) in *. clearbody d.
  assert (B : Rabs (B2R d) <= / 2 ^ 50).
  { eapply Rle_trans; [exact BD |]. rewrite <- (bpow_inverse 50). apply bpow_le. lia. }
  assert (O : fits 0 one /\ fits 0 d).
  { split; split; try easy; [rewrite one_is_1, Rabs_R1; simpl; lra |].
    eapply Rle_trans; [exact B |]. simpl; lra. }
  destruct (sub_fits 0 one d ltac:(lia) (proj1 O) (proj2 O)) as [W [FS _]]. apply is_one; [exact FS |].
  rewrite W, one_is_1.
  assert (N : Rabs (rnd (1 - B2R d) - (1 - B2R d)) <= / 2 ^ 50).
  { eapply Rle_trans; [apply (rnd_nearest _ 1), (generic_format_bpow radix2 _ 0); unfold FLT_exp; lia |].
    replace (1 - (1 - B2R d)) with (B2R d) by ring. exact B. }
  apply Rabs_le_inv in B, N. apply Rabs_le. lra.
Qed.

Lemma saturated a : a = B754_infinity false \/ is_finite a = true /\ 43.5 <= B2R a ->
  tanh_of_size a = one.
Proof.
  intros H. apply from_large.
  assert (Vc : 88 <= B2R ceiling <= 88.73) by (unfold ceiling, B2R, F2R; simpl; lra).
  assert (S : add a a = B754_infinity false \/ is_finite (add a a) = true /\ 86 <= B2R (add a a)).
  { destruct H as [-> | [F L]]; [now left |].
    destruct (large_plus a a F F ltac:(lra) ltac:(lra)) as [I | [Fs V]]; [now left | right].
    split; [exact Fs |]. rewrite V.
    apply round_ge_generic; [now apply FLT_exp_valid | apply valid_rnd_N | | lra].
    replace 86 with (IZR 86 * bpow radix2 0) by (simpl; ring). now apply format_scaled. }
  destruct S as [-> | [Fs L]].
  { change (smaller ceiling (B754_infinity false)) with ceiling. apply exp_large; [reflexivity | lra]. }
  unfold smaller. rewrite Bcompare_correct by (reflexivity || exact Fs).
  destruct (Rcompare_spec (B2R ceiling) (B2R (add a a))); apply exp_large; (reflexivity || exact Fs || lra).
Qed.

Theorem tanh_saturates :
  (forall x, is_finite x = true -> 43.5 <= Rabs (B2R x) -> tanh_of x = if Bsign x then Bopp one else one) /\
  (forall s, tanh_of (B754_infinity s) = if s then Bopp one else one) /\ tanh_of B754_nan = B754_nan.
Proof.
  split; [| split; [| reflexivity]].
  - intros x F H. unfold tanh_of. rewrite below_5_8, not_nan by easy.
    assert (Fa : is_finite (Babs x) = true) by now rewrite is_finite_Babs.
    rewrite saturated by (right; rewrite B2R_Babs; now split).
    now destruct (Rcompare_spec (Rabs (B2R x)) 0.625); [lra | |].
  - intros s. unfold tanh_of. simpl less. rewrite saturated by now left. now destruct s.
Qed.

Theorem tanh_whole_error : forall x, is_finite x = true ->
  is_finite (tanh_of x) = true /\
  Rabs (B2R (tanh_of x) - tanh (B2R x)) <= 3.81 * u * Rabs (tanh (B2R x)).
Proof.
  intros x F. destruct (Rlt_le_dec (Rabs (B2R x)) 0.625) as [S | L].
  { destruct (tanh_below_error x F S) as [Fy E]. split; [exact Fy |].
    eapply Rle_trans; [exact E |]. apply Rmult_le_compat_r; [apply Rabs_pos | unfold u; lra]. }
  assert (Fa : is_finite (Babs x) = true) by now rewrite is_finite_Babs.
  assert (K : is_finite (tanh_of_size (Babs x)) = true /\
    Rabs (B2R (tanh_of_size (Babs x)) - tanh (Rabs (B2R x))) <= 3.81 * u * tanh (Rabs (B2R x))).
  { destruct (Rle_lt_dec (Rabs (B2R x)) 43.5) as [M | M].
    - rewrite <- B2R_Babs. apply tanh_of_size_error; [exact Fa | rewrite B2R_Babs; lra].
    - rewrite saturated by (right; rewrite B2R_Babs; split; [exact Fa | lra]). split; [reflexivity |].
      rewrite one_is_1, tanh_as_quotient. assert (X : 2 ^ 100 <= exp (2 * Rabs (B2R x))).
      { apply Rle_trans with (exp 87); [interval with (i_prec 40) | apply exp_le; lra]. }
      set (q := 2 / (1 + exp (2 * Rabs (B2R x)))). assert (Q : 0 < q <= / 2 ^ 90).
      { unfold q. split; [apply Rdiv_lt_0_compat; lra |].
        apply Rmult_le_reg_r with (1 + exp (2 * Rabs (B2R x))); [lra |].
        unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
      replace (1 - (1 - q)) with q by ring. rewrite Rabs_pos_eq by lra. unfold u. lra. }
  unfold tanh_of. rewrite below_5_8, not_nan by easy. destruct K as [Fy E].
  destruct (Rcompare_spec (Rabs (B2R x)) 0.625); [lra | |];
    (apply signed; [unfold u; lra | exact Fy | exact E]).
Qed.

(* ---- The model beside the C ---- *)

(* x = m 2^e, and the word of the result. test_vmath.c reads this table and asks the kernel. *)
Definition small_points : list (Z * Z * Z) := [
(1, -149, 0x00000001);
  (-8388608, -149, 0x80800000);
  (12582912, -43, 0x35C00000);
  (-9544192, -33, 0xBA91A1FC);
  (13421773, -27, 0x3DCC1EBC);
  (-8388608, -25, 0xBE7ACBF5);
  (8388608, -24, 0x3EEC9A9F);
  (10485759, -24, 0x3F0DFA3F);
  (-10485759, -24, 0xBF0DFA3F);
  (10139794, -24, 0x3F0A47CE);
  (10475631, -24, 0x3F0DDED8);
  (10460189, -24, 0x3F0DB506);
  (10485756, -24, 0x3F0DFA3D);
  (10483181, -24, 0x3F0DF345);
  (10485470, -24, 0x3F0DF976);
  (10485659, -24, 0x3F0DF9F9);
  (10485753, -24, 0x3F0DFA3A);
  (10477591, -24, 0x3F0DE425);
  (10485249, -24, 0x3F0DF8DE);
  (10485655, -24, 0x3F0DF9F7);
  (10485743, -24, 0x3F0DFA34)
]%Z.

Theorem tanh_at_points :
  map (fun '(m, e, _) => signed_word (tanh_of (float_of m e))) small_points = map snd small_points.
Proof. vm_compute. reflexivity. Qed.
