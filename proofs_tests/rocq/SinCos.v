(* SinCos.v: the kernels' sine and cosine in IEEE 754 binary32: how far they are from sin x and cos x.

   Of vf_sincos as vmath.h computes it, each operation rounded to nearest even, u = 2^-24:
   - for every float x with |x| <= 8192, the subnormal ones too: both results are finite, and
     |sine(x) - sin x| <= 1.38 u and |cosine(x) - cos x| <= 1.38 u, which is 8.23e-8; the largest measured is
     1.3127 u, of a cosine's polynomial;
   - of these, relatively: |sine(x) - sin x| <= 1.6 u |sin x| where |x| <= 0.785; for all of them
     |sine(x) - sin x| <= 2.72 u |sin x| + 8.4e-15 |x|, and the same of the cosine: beside a multiple of pi/2,
     where a result is small, what the three parts of pi/2 leave out is all that is added to 2.72 u (the
     largest measured are 1.21 u and 1.98 u);
   - for every other x, infinity and NaN too, both are NaN;
   - at 21 points the model, run, gives the words that test_vmath.c asks of the C. They see the last bit of
     every constant and coefficient, and each product fused with its sum where that shows at all.
   How: k = 2x / pi to the nearest integer, nearly; x minus k times the first two parts of pi/2 is exact;
   what is left, r, is within 2.984e-8 of x - k pi/2 and at most 0.7862; on it the polynomials are within 6e-9
   and 2e-10, and each rounding errs by at most half of the last place. k's two last bits are the quarter.
   Relatively, the sine's polynomial is within 8.6e-9, its roundings err by 1.46 u, r by u and 6.5e-15 |k|.
   Not covered: the sign of a sine that is 0 (of -0 it is +0), fast mode, which fuses products and sums, and
   that a compiler keeps the operations as written (the points, digests.txt).
   Kernels: vmath.h (vf_sincos). Tested on floats in test_vmath.c. *)

From Coq Require Import Reals ZArith List Lra Lia.
#[local] Set Warnings "-ambiguous-paths". (* Coquelicot's own *)
From Coquelicot Require Import Coquelicot.
From Flocq Require Import Core BinarySingleNaN.
From Interval Require Import Tactic.
From Seqmix Require Import Bounds Rounding TileSums Binary32 Exp.
Import Over_integers ListNotations.
Open Scope R_scope.

#[local] Existing Instance p24.

(* ---- The kernel, operation by operation ---- *)

Notation negative m e := (@B754_finite 24 128 true m e eq_refl).
Definition limit : float := literal 8388608 (-10).         (* 8192.0f *)
Definition two_over_pi : float := literal 10680707 (-24).  (* 0.636619772f *)
Definition half_pi1 : float := literal 13172736 (-23).     (* 1.5703125f *)
Definition half_pi2 : float := literal 16621568 (-35).     (* 4.837512969970703125e-4f *)
Definition half_pi3 : float := literal 10625385 (-47).     (* 7.549790126404332e-8f *)
Definition s1 : float := negative 13410809 (-36).          (* -1.9515295891e-4f *)
Definition s2 : float := literal 8946590 (-30).            (* 8.3321608736e-3f *)
Definition s3 : float := negative 11184803 (-26).          (* -1.6666654611e-1f *)
Definition c1 : float := literal 13432270 (-39).           (* 2.443315711809948e-5f *)
Definition c2 : float := negative 11929114 (-33).          (* -1.388731625493765e-3f *)
Definition c3 : float := literal 11184805 (-28).           (* 4.166664568298827e-2f *)
Definition half : float := literal 8388608 (-24).          (* 0.5f *)

(* vf_le(vf_abs(x), 8192), and x where that holds, else 0. *)
Definition within (x : float) : bool :=
  match Bcompare (Babs x) limit with Some Lt | Some Eq => true | _ => false end.
Definition kept (x : float) : float := if within x then x else zero.

Definition turns (c : float) : float := add (mul c two_over_pi) round_magic.
Definition reduced (c : float) : float :=
  let k := sub (turns c) round_magic in
  sub (sub (sub c (mul k half_pi1)) (mul k half_pi2)) (mul k half_pi3).
Definition sine_of (r : float) : float :=
  let z := mul r r in add (mul (mul (add (mul (add (mul s1 z) s2) z) s3) z) r) r.
Definition cosine_of (r : float) : float :=
  let z := mul r r in
  add (sub (mul (mul (add (mul (add (mul c1 z) c2) z) c3) z) z) (mul half z)) one.

(* By the two last bits of the word q, y's sign by the upper. *)
Definition turned (q : Z) (y : float) : float := if Z.odd (q / 2) then Bopp y else y.
Definition sincos (x : float) : float * float :=
  let c := kept x in
  let q := word (turns c) in
  let s := sine_of (reduced c) in
  let t := cosine_of (reduced c) in
  if within x then (turned q (if Z.odd q then t else s), turned (q + 1) (if Z.odd q then s else t))
  else (B754_nan, B754_nan).

Ltac values := cbv [B2R F2R Fnum Fexp cond_Zopp two_over_pi half_pi1 half_pi2 half_pi3 s1 s2 s3 c1 c2 c3 half
  limit one round_magic bpow Z.pow_pos Pos.iter radix2 radix_val Z.mul Pos.mul].

(* ---- The polynomials ---- *)

Definition T (z : R) : R := (B2R s1 * z + B2R s2) * z + B2R s3.
Definition U (z : R) : R := (B2R c1 * z + B2R c2) * z + B2R c3.

Lemma sine_polynomial r : -0.7862 <= r <= 0.7862 -> Rabs (r + r * (r * r) * T (r * r) - sin r) <= 6e-9.
Proof. intros Hr. unfold T. values. interval with (i_taylor r, i_bisect r, i_prec 60, i_degree 10). Qed.

Lemma cosine_polynomial r : -0.7862 <= r <= 0.7862 ->
  Rabs (1 - r * r / 2 + r * r * (r * r) * U (r * r) - cos r) <= 2e-10.
Proof. intros Hr. unfold U. values. interval with (i_taylor r, i_bisect r, i_prec 60, i_degree 10). Qed.

(* ---- Near an angle w, of which r is the rounded one ---- *)

Lemma small_angle d : Rabs d <= / 10 ^ 7 -> Rabs (sin d - d) <= / 10 ^ 14 /\ Rabs (cos d - 1) <= / 10 ^ 14.
Proof. intros H. apply Rabs_le_inv in H. split; interval with (i_taylor d, i_prec 80). Qed.

Lemma sin_near r d : Rabs d <= 2.984e-8 ->
  Rabs (sin (r + d) - sin r) <= 2.984e-8 * Rabs (cos r) + 2 * / 10 ^ 14.
Proof.
  intros H. destruct (small_angle d ltac:(lra)) as [S C]. rewrite sin_plus.
  replace (sin r * cos d + cos r * sin d - sin r)
    with (d * cos r + (sin r * (cos d - 1) + cos r * (sin d - d))) by ring.
  pose proof (SIN_bound r) as Sb. pose proof (COS_bound r) as Cb.
  assert (As : Rabs (sin r) <= 1) by now apply Rabs_le. assert (Ac : Rabs (cos r) <= 1) by now apply Rabs_le.
  eapply Rle_trans; [apply Rabs_triang |]. apply Rplus_le_compat.
  - rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos | exact H].
  - eapply Rle_trans; [apply Rabs_triang |]. rewrite !Rabs_mult.
    pose proof (Rabs_pos (cos d - 1)). pose proof (Rabs_pos (sin d - d)). pose proof (Rabs_pos (sin r)).
    pose proof (Rabs_pos (cos r)). nra.
Qed.

Lemma cos_near r d : Rabs d <= 2.984e-8 ->
  Rabs (cos (r + d) - cos r) <= 2.984e-8 * Rabs (sin r) + 2 * / 10 ^ 14.
Proof.
  intros H. destruct (small_angle d ltac:(lra)) as [S C]. rewrite cos_plus.
  replace (cos r * cos d - sin r * sin d - cos r)
    with (- (d * sin r) + (cos r * (cos d - 1) + - (sin r * (sin d - d)))) by ring.
  pose proof (SIN_bound r) as Sb. pose proof (COS_bound r) as Cb.
  assert (As : Rabs (sin r) <= 1) by now apply Rabs_le. assert (Ac : Rabs (cos r) <= 1) by now apply Rabs_le.
  eapply Rle_trans; [apply Rabs_triang |]. apply Rplus_le_compat.
  - rewrite Rabs_Ropp, Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos | exact H].
  - eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_Ropp, !Rabs_mult.
    pose proof (Rabs_pos (cos d - 1)). pose proof (Rabs_pos (sin d - d)). pose proof (Rabs_pos (sin r)).
    pose proof (Rabs_pos (cos r)). nra.
Qed.

(* ---- Roundings ---- *)

Definition rounded_T (z : R) : R := rnd (rnd (rnd (rnd (B2R s1 * z) + B2R s2) * z) + B2R s3).
Definition rounded_U (z : R) : R := rnd (rnd (rnd (rnd (B2R c1 * z) + B2R c2) * z) + B2R c3).
Definition rounded_sine (r : R) : R := let z := rnd (r * r) in rnd (rnd (rnd (rounded_T z * z) * r) + r).
Definition rounded_cosine (r : R) : R :=
  let z := rnd (r * r) in rnd (rnd (rnd (rnd (rounded_U z * z) * z) - rnd (B2R half * z)) + 1).

Lemma rounded_T_close z : 0 <= z <= 0.6183 -> Rabs (rounded_T z - T z) <= 0.134 * / 2 ^ 24.
Proof.
  intros Hz. unfold rounded_T, T. values. rounding e1 15%nat. rounding e2 8%nat. rounding e3 9%nat.
  rounding e4 4%nat.
  match goal with |- Rabs ?x <= _ => replace x with (z * (e1 + e2) + e3 + e4) by field end.
  interval with (i_prec 40).
Qed.

Lemma rounded_U_close z : 0 <= z <= 0.6183 -> Rabs (rounded_U z - U z) <= 0.034 * / 2 ^ 24.
Proof.
  intros Hz. unfold rounded_U, U. values. rounding e1 17%nat. rounding e2 12%nat. rounding e3 12%nat.
  rounding e4 6%nat.
  match goal with |- Rabs ?x <= _ => replace x with (z * (e1 + e2) + e3 + e4) by field end.
  interval with (i_prec 40).
Qed.

(* The square. *)
Lemma square r : -0.7862 <= r <= 0.7862 ->
  exists dz, rnd (r * r) = r * r + dz /\ - / 2 ^ 25 <= dz <= / 2 ^ 25 /\ 0 <= r * r + dz <= 0.6183.
Proof.
  intros Hr. assert (P : 0 <= rnd (r * r)).
  { rewrite <- rnd_0. apply round_le; [now apply FLT_exp_valid | apply valid_rnd_N | nra]. }
  destruct (rnd_close 0 25 (r * r) ltac:(lia) eq_refl ltac:(interval with (i_prec 40))) as (dz & E & H).
  apply Rabs_le_inv in H. exists dz. split; [exact E |]. split; [exact H |]. rewrite E in P.
  split; [exact P |]. replace (r * r) with (r ^ 2) by ring. interval with (i_prec 40).
Qed.

Lemma rounded_sine_close r : -0.7862 <= r <= 0.7862 ->
  Rabs (rounded_sine r - (r + r * (r * r) * T (r * r))) + 2.984e-8 * Rabs (cos r) <= 1.15 * / 2 ^ 24.
Proof.
  intros Hr. unfold rounded_sine. cbv zeta. destruct (square r Hr) as (dz & -> & Hdz & Hz).
  set (z := r * r + dz) in *. assert (Ez : z = r * r + dz) by easy. clearbody z.
  pose proof (rounded_T_close z Hz) as C. apply Rabs_le_inv in C.
  set (e := rounded_T z - T z) in C. replace (rounded_T z) with (T z + e) by (unfold e; ring). clearbody e.
  destruct (rnd_close 3 28 ((T z + e) * z) ltac:(lia) eq_refl) as (e1 & -> & H1);
    [unfold T; values; interval with (i_prec 40) |]. apply Rabs_le_inv in H1.
  destruct (rnd_close 3 28 (((T z + e) * z + e1) * r) ltac:(lia) eq_refl) as (e2 & -> & H2);
    [unfold T; values; interval with (i_prec 40) |]. apply Rabs_le_inv in H2.
  destruct (rnd_close 0 25 (((T z + e) * z + e1) * r + e2 + r) ltac:(lia) eq_refl) as (e3 & -> & H3);
    [unfold T; values; interval with (i_prec 40) |]. apply Rabs_le_inv in H3.
  replace (((T z + e) * z + e1) * r + e2 + r + e3 - (r + r * (r * r) * T (r * r)))
    with (r * (dz * (B2R s3 + B2R s2 * (2 * (r * r) + dz)
                     + B2R s1 * (3 * ((r * r) * (r * r)) + 3 * (r * r) * dz + dz * dz))
              + z * e + e1) + e2 + e3)
    by (rewrite Ez; unfold T; ring).
  clear Ez. values. apply Rminus_le. interval with (i_bisect r, i_prec 40).
Qed.

Lemma half_of z : format z -> 0 <= z <= 1 ->
  exists e, rnd (B2R half * z) = z / 2 + e /\ - / 2 ^ 60 <= e <= / 2 ^ 60.
Proof.
  intros F Hz. replace (B2R half * z) with (z / 2) by (values; field).
  destruct (Rle_lt_dec z (/ 2 ^ 34)) as [S | L].
  - destruct (rnd_close 35 60 (z / 2) ltac:(lia) eq_refl) as (e & E & H); [rewrite Rabs_pos_eq; lra |].
    exists e. split; [exact E | now apply Rabs_le_inv].
  - exists 0. split; [| lra]. rewrite Rplus_0_r. apply rnd_exact.
    assert (M : (-33 <= mag radix2 z)%Z).
    { apply mag_ge_bpow. rewrite Rabs_pos_eq by lra. change (-33 - 1)%Z with (- Z.of_nat 34)%Z.
      rewrite bpow_inverse. lra. }
    assert (C : cexp radix2 (FLT_exp (-149) 24) z = (mag radix2 z - 24)%Z) by (unfold cexp, FLT_exp; lia).
    unfold generic_format in F. rewrite C in F. unfold F2R in F. cbn [Fnum Fexp] in F.
    set (n := Ztrunc (scaled_mantissa radix2 (FLT_exp (-149) 24) z)) in *.
    assert (H : z / 2 = IZR n * bpow radix2 (mag radix2 z - 24 - 1)).
    { unfold Zminus at 1. rewrite bpow_plus. change (bpow radix2 (- (1))) with (/ 2). rewrite F at 1. field. }
    rewrite H. apply format_scaled; [| lia].
    apply lt_IZR. rewrite abs_IZR.
    apply Rmult_lt_reg_r with (bpow radix2 (mag radix2 z - 24)); [apply bpow_gt_0 |].
    rewrite <- (Rabs_pos_eq (bpow _ (_ - _))) at 1 by apply bpow_ge_0. rewrite <- Rabs_mult, <- F.
    change (2 ^ 24)%Z with (radix2 ^ 24)%Z. rewrite IZR_Zpower, <- bpow_plus by easy.
    replace (24 + (mag radix2 z - 24))%Z with (mag radix2 z : Z) by lia. apply bpow_mag_gt.
Qed.

Lemma rounded_cosine_close r : -0.7862 <= r <= 0.7862 ->
  Rabs (rounded_cosine r - (1 - r * r / 2 + r * r * (r * r) * U (r * r))) + 2.984e-8 * Rabs (sin r)
    <= 1.37 * / 2 ^ 24.
Proof.
  intros Hr. unfold rounded_cosine. cbv zeta. pose proof (format_rnd (r * r)) as F.
  destruct (square r Hr) as (dz & E & Hdz & Hz). rewrite E in *.
  set (z := r * r + dz) in *. assert (Ez : z = r * r + dz) by easy. clearbody z. clear E.
  pose proof (rounded_U_close z Hz) as C. apply Rabs_le_inv in C.
  set (e := rounded_U z - U z) in C. replace (rounded_U z) with (U z + e) by (unfold e; ring). clearbody e.
  assert (Up : 0 <= U z + e <= 0.0417) by (unfold U; values; split; interval with (i_prec 40)).
  set (v := U z + e) in *. assert (Ev : v = U z + e) by easy. clearbody v.
  (* What is added to 1 is at most 0. *)
  assert (N : rnd (rnd (rnd (v * z) * z) - rnd (B2R half * z)) <= 0).
  { assert (V : Valid_exp (FLT_exp (-149) 24)) by now apply FLT_exp_valid.
    assert (M : rnd (rnd (v * z) * z) <= rnd (B2R half * z)).
    { apply round_le; [exact V | apply valid_rnd_N |]. apply Rmult_le_compat_r; [lra |].
      destruct (rnd_close 5 30 (v * z) ltac:(lia) eq_refl) as (e1 & -> & H1); [interval with (i_prec 40) |].
      apply Rabs_le_inv in H1. replace (B2R half) with (/ 2) by (values; lra). nra. }
    rewrite <- rnd_0. apply round_le; [exact V | apply valid_rnd_N | lra]. }
  destruct (half_of z F ltac:(lra)) as (e3 & E3 & H3). rewrite E3 in *. clear E3 F.
  destruct (rnd_close 5 30 (v * z) ltac:(lia) eq_refl) as (e1 & E1 & H1); [interval with (i_prec 40) |].
  rewrite E1 in *. clear E1. apply Rabs_le_inv in H1.
  destruct (rnd_close 5 30 ((v * z + e1) * z) ltac:(lia) eq_refl) as (e2 & E2 & H2);
    [interval with (i_prec 40) |]. rewrite E2 in *. clear E2. apply Rabs_le_inv in H2.
  destruct (rnd_close 1 26 ((v * z + e1) * z + e2 - (z / 2 + e3)) ltac:(lia) eq_refl) as (e4 & E4 & H4);
    [interval with (i_prec 40) |]. rewrite E4 in *. clear E4. apply Rabs_le_inv in H4.
  set (m := (v * z + e1) * z + e2 - (z / 2 + e3) + e4) in *.
  assert (Bm : -0.5 <= m) by (unfold m; interval with (i_prec 40)).
  destruct (rnd_close 0 25 (m + 1) ltac:(lia) eq_refl) as (e5 & -> & H5); [apply Rabs_le; simpl; lra |].
  apply Rabs_le_inv in H5. unfold m. clear N Bm m Up. rewrite Ev. clear Ev v.
  set (q := r * r) in *.
  replace (((U z + e) * z + e1) * z + e2 - (z / 2 + e3) + e4 + 1 + e5 - (1 - q / 2 + q * q * U q))
    with (dz * (- / 2 + B2R c3 * (2 * q + dz) + B2R c2 * (3 * (q * q) + 3 * q * dz + dz * dz)
                + B2R c1 * (4 * (q * q * q) + 6 * (q * q) * dz + 4 * q * (dz * dz) + dz * dz * dz))
          + z * z * e + z * e1 + e2 - e3 + e4 + e5)
    by (rewrite Ez; unfold U; field).
  unfold q. clear Ez. values. apply Rminus_le. interval with (i_bisect r, i_prec 40).
Qed.

(* The two, near the angle. *)
Lemma sine_close r w : -0.7862 <= r <= 0.7862 -> Rabs (w - r) <= 2.984e-8 ->
  Rabs (rounded_sine r - sin w) <= 1.38 * u.
Proof.
  intros Hr H. pose proof (rounded_sine_close r Hr) as A. pose proof (sine_polynomial r Hr) as B.
  pose proof (sin_near r (w - r) H) as D. replace (r + (w - r)) with w in D by ring. unfold u.
  set (p := r + r * (r * r) * T (r * r)) in *.
  replace (rounded_sine r - sin w) with ((rounded_sine r - p) + (p - sin r) - (sin w - sin r)) by ring.
  pose proof (Rabs_triang (rounded_sine r - p + (p - sin r)) (- (sin w - sin r))) as A1.
  pose proof (Rabs_triang (rounded_sine r - p) (p - sin r)) as A2. rewrite Rabs_Ropp in A1.
  unfold Rminus at 1. lra.
Qed.

Lemma cosine_close r w : -0.7862 <= r <= 0.7862 -> Rabs (w - r) <= 2.984e-8 ->
  Rabs (rounded_cosine r - cos w) <= 1.38 * u.
Proof.
  intros Hr H. pose proof (rounded_cosine_close r Hr) as A. pose proof (cosine_polynomial r Hr) as B.
  pose proof (cos_near r (w - r) H) as D. replace (r + (w - r)) with w in D by ring. unfold u.
  set (p := 1 - r * r / 2 + r * r * (r * r) * U (r * r)) in *.
  replace (rounded_cosine r - cos w) with ((rounded_cosine r - p) + (p - cos r) - (cos w - cos r)) by ring.
  pose proof (Rabs_triang (rounded_cosine r - p + (p - cos r)) (- (cos w - cos r))) as A1.
  pose proof (Rabs_triang (rounded_cosine r - p) (p - cos r)) as A2. rewrite Rabs_Ropp in A1.
  unfold Rminus at 1. lra.
Qed.

(* ---- The sine's polynomial by relative errors ---- *)

Definition Q (r : R) : R := r * (1 + r * r * T (r * r)).

Definition excess (c1 c2 c3 r : R) : R := r * (1 + r * r * (c3 + r * r * (c2 + r * r * c1))) - sin r.
Lemma excess_derivative c1 c2 c3 r : is_derive (excess c1 c2 c3) r
  (1 + r * r * (3 * c3 + r * r * (5 * c2 + r * r * (7 * c1))) - cos r).
Proof. unfold excess. auto_derive; [easy |]. ring. Qed.

Lemma sin_large a : 0 <= a <= 0.7862 -> 0.9 * a <= sin a.
Proof.
  intros Ha. destruct (Rle_lt_dec a 0.1) as [S | L].
  - destruct (Req_dec a 0) as [-> | N]; [rewrite sin_0; lra |].
    destruct (sin_bound a 0 ltac:(lra) ltac:(interval with (i_prec 40))) as [B _].
    unfold sin_approx, sin_term in B. simpl in B. nra.
  - assert (D : 0 <= sin a - 0.9 * a); [| lra]. interval with (i_taylor a, i_bisect a, i_prec 40).
Qed.

Lemma Q_error a : 0 <= a <= 0.7862 -> Rabs (Q a - sin a) <= 8.6e-9 * sin a.
Proof.
  intros Ha. pose proof (sin_large a Ha) as Sa. destruct (Rle_lt_dec a 0.1) as [S | L].
  - replace (Q a - sin a) with (excess (B2R s1) (B2R s2) (B2R s3) a) by (unfold Q, T, excess; ring).
    apply Rle_trans with (7e-9 * a); [| lra].
    set (e := excess (B2R s1) (B2R s2) (B2R s3)).
    destruct (MVT_gen e 0 a _ (fun t _ => excess_derivative _ _ _ t)) as (t & Ht & E).
    + intros t _. apply continuity_pt_filterlim, (ex_derive_continuous e).
      eexists. apply excess_derivative.
    + rewrite Rmin_left, Rmax_right in Ht by lra.
      replace (e a) with (e a - e 0) by (unfold e, excess; rewrite !Rmult_0_l, sin_0; ring).
      rewrite E, Rminus_0_r, Rabs_mult, (Rabs_pos_eq a) by lra. apply Rmult_le_compat_r; [lra |].
      assert (Hs : 0 <= t <= 0.1) by lra. clear - Hs. values.
      interval with (i_taylor t, i_bisect t, i_prec 60).
  - clear Sa. assert (Hs : 0.1 <= a <= 0.7862) by lra. clear - Hs. apply Rminus_le. unfold Q, T. values.
    interval with (i_taylor a, i_bisect a, i_prec 60).
Qed.

Lemma T_range z : 0 <= z <= 0.6183 -> -0.1667 <= T z <= -0.15.
Proof. intros Hz. unfold T. values. split; interval with (i_bisect z, i_prec 40). Qed.

(* z T(z) at two points. *)
Lemma shifted z q : 0 <= z <= 0.6183 -> 0 <= q <= 0.6183 ->
  exists k, z * T z - q * T q = k * (z - q) /\ -0.1667 <= k <= 0.
Proof.
  intros Hz Hq. exists (B2R s3 + B2R s2 * (z + q) + B2R s1 * (z ^ 2 + z * q + q ^ 2)).
  split; [unfold T; ring |]. values. split; interval with (i_bisect z, i_bisect q, i_prec 40).
Qed.

Lemma tiny_sine a : format a -> 0 <= a <= / 2 ^ 20 -> Rabs (rounded_sine a - Q a) <= 8.65e-8 * Q a.
Proof.
  intros Fa Ha. unfold rounded_sine. cbv zeta. set (z := rnd (a * a)).
  assert (B : 0 <= z <= / 2 ^ 40).
  { assert (E : Rabs z <= bpow radix2 (-40)).
    { apply rnd_le; [lia |]. rewrite Rabs_pos_eq by nra. change (-40)%Z with (- Z.of_nat 40)%Z.
      rewrite bpow_inverse. replace (/ 2 ^ 40) with (/ 2 ^ 20 * / 2 ^ 20) by (simpl; lra).
      apply Rmult_le_compat; lra. }
    change (-40)%Z with (- Z.of_nat 40)%Z in E. rewrite bpow_inverse in E. apply Rabs_le_inv in E.
    split; [| apply E].
    unfold z. rewrite <- rnd_0. apply round_le; [now apply FLT_exp_valid | apply valid_rnd_N | nra]. }
  pose proof (rounded_T_close z ltac:(lra)) as C. pose proof (T_range z ltac:(lra)) as D.
  set (p := rounded_T z) in *. apply Rabs_le_inv in C.
  assert (Pp : -0.17 <= p <= 0) by lra. clearbody p z. clear C D.
  set (m := rnd (p * z)). set (w := rnd (m * a)).
  assert (M : Rabs m <= / 2 ^ 40).
  { eapply Rle_trans; [apply rnd_at_most_double |]. rewrite Rabs_mult, (Rabs_pos_eq z) by lra.
    assert (Rabs p <= 0.17) by (apply Rabs_le; lra). pose proof (Rabs_pos p). nra. }
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

Lemma small_sine a : format a -> / 2 ^ 20 <= a <= 0.7862 -> Rabs (rounded_sine a - Q a) <= 8.65e-8 * Q a.
Proof.
  intros Fa Ha. unfold rounded_sine, Q. cbv zeta. set (q := a * a).
  assert (Hq : / 2 ^ 40 <= q <= 0.6182).
  { unfold q. split; [| nra]. replace (/ 2 ^ 40) with (/ 2 ^ 20 * / 2 ^ 20) by (simpl; lra).
    apply Rmult_le_compat; lra. }
  assert (B40 : bpow radix2 (-40) = / 2 ^ 40) by exact (bpow_inverse 40).
  destruct (rnd_least (-40) q) as (d1 & E1 & H1 & L1); [lia | rewrite B40, Rabs_pos_eq; lra |].
  set (z := rnd q) in *. clearbody z.
  assert (Hz : 0 <= z <= 0.6183) by (rewrite E1; split; interval with (i_prec 40)).
  pose proof (rounded_T_close z ltac:(lra)) as C. pose proof (T_range z ltac:(lra)) as D.
  destruct (shifted z q ltac:(lra) ltac:(lra)) as (k & K & Hk).
  set (p := rounded_T z) in *. apply Rabs_le_inv in C. set (e := p - T z) in *.
  assert (Ep : p = T z + e) by (unfold e; ring). clearbody p e.
  destruct (rnd_least (-43) (p * z)) as (d2 & E2 & H2 & L2); [lia | |].
  { rewrite Rabs_mult. change (-43)%Z with (-3 + -40)%Z. rewrite bpow_plus.
    apply Rmult_le_compat; try apply bpow_ge_0; [| exact L1].
    rewrite Rabs_left by lra. change (bpow radix2 (-3)) with (/ 8). lra. }
  set (m := rnd (p * z)) in *. clearbody m.
  destruct (rnd_least (-63) (m * a)) as (d3 & E3 & H3 & _); [lia | |].
  { rewrite Rabs_mult. change (-63)%Z with (-43 + -20)%Z. rewrite bpow_plus.
    apply Rmult_le_compat; try apply bpow_ge_0; [exact L2 |].
    change (-20)%Z with (- Z.of_nat 20)%Z. rewrite bpow_inverse, Rabs_pos_eq; lra. }
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
  assert (Hg : -0.302 * / 2 ^ 24 <= g <= 0.302 * / 2 ^ 24) by (unfold g; split; interval with (i_prec 40)).
  clearbody D' g q. rewrite Rabs_mult, (Rabs_pos_eq a) by lra.
  replace (8.65e-8 * (a * (1 + q * T q))) with (a * (8.65e-8 * (1 + q * T q))) by ring.
  apply Rmult_le_compat_l; [lra |]. apply Rminus_le. clear - Hq HD Hg H4. unfold T. values.
  interval with (i_bisect q, i_prec 40).
Qed.

Lemma rnd_opp x : rnd (- x) = - rnd x.
Proof. apply round_NE_opp. Qed.

Lemma rounded_sine_odd r : rounded_sine (- r) = - rounded_sine r.
Proof.
  unfold rounded_sine. cbv zeta. replace (- r * - r) with (r * r) by ring.
  rewrite Ropp_mult_distr_r_reverse, rnd_opp, <- Ropp_plus_distr, rnd_opp. easy.
Qed.

(* Near 0, and anywhere on the polynomial's range. *)
Lemma sine_relative r : format r -> -0.7862 <= r <= 0.7862 ->
  Rabs (rounded_sine r - sin r) <= 1.6 * u * Rabs (sin r).
Proof.
  assert (P : forall a, format a -> 0 <= a <= 0.7862 -> Rabs (rounded_sine a - sin a) <= 1.6 * u * sin a).
  { intros a Fa Ha. pose proof (Q_error a Ha) as E. pose proof (sin_large a Ha) as S.
    assert (R : Rabs (rounded_sine a - Q a) <= 8.65e-8 * Q a)
      by (destruct (Rle_lt_dec a (/ 2 ^ 20)); [apply tiny_sine | apply small_sine]; (exact Fa || lra)).
    apply Rabs_le_inv in E. replace (rounded_sine a - sin a) with ((rounded_sine a - Q a) + (Q a - sin a))
      by ring. apply Rabs_le_inv in R. unfold u. apply Rabs_le. lra. }
  intros Fr Hr. destruct (Rle_lt_dec 0 r) as [N | N].
  - rewrite (Rabs_pos_eq (sin r)) by (pose proof (sin_large r); lra). apply P; [exact Fr | lra].
  - specialize (P (- r) ltac:(now apply generic_format_opp) ltac:(lra)).
    rewrite rounded_sine_odd, sin_neg in P.
    rewrite (Rabs_left1 (sin r)) by (pose proof (sin_large (- r) ltac:(lra)) as S; rewrite sin_neg in S; lra).
    rewrite <- Rabs_Ropp. replace (- (rounded_sine r - sin r)) with (- rounded_sine r - - sin r) by ring.
    exact P.
Qed.

Lemma sin_below x : Rabs (sin x) <= Rabs x.
Proof.
  assert (P : forall y, 0 <= y -> Rabs (sin y) <= y).
  { intros y Hy. destruct (Rle_lt_dec y 1) as [S | L].
    - destruct (Req_dec y 0) as [-> | N]; [rewrite sin_0, Rabs_R0; lra |].
      rewrite Rabs_pos_eq by (apply sin_ge_0; [lra | interval with (i_prec 40)]). left. apply sin_lt_x. lra.
    - apply Rle_trans with 1; [apply Rabs_le; pose proof (SIN_bound y); lra | lra]. }
  destruct (Rle_lt_dec 0 x) as [N | N].
  - rewrite (Rabs_pos_eq x) by lra. now apply P.
  - rewrite (Rabs_left x) by lra. rewrite <- Rabs_Ropp, <- sin_neg. apply P. lra.
Qed.

Lemma sin_steps r w : Rabs (sin r - sin w) <= Rabs (r - w).
Proof.
  rewrite form4. pose proof (sin_below ((r - w) / 2)) as S. pose proof (COS_bound ((r + w) / 2)) as C.
  rewrite !Rabs_mult, (Rabs_pos_eq 2) by lra. set (x := (r - w) / 2) in *.
  replace (Rabs (r - w)) with (2 * Rabs x).
  2: { rewrite <- (Rabs_pos_eq 2) at 1 by lra. rewrite <- Rabs_mult. f_equal. unfold x. field. }
  assert (Rabs (cos ((r + w) / 2)) <= 1) by now apply Rabs_le.
  pose proof (Rabs_pos (cos ((r + w) / 2))). pose proof (Rabs_pos (sin x)). nra.
Qed.

(* r is the rounded angle but for h. *)
Lemma sine_near_multiple r w h : format r -> -0.7862 <= r <= 0.7862 -> -0.7862 <= w <= 0.7862 ->
  0 <= h -> Rabs (r - w) <= u * Rabs w + h ->
  Rabs (rounded_sine r - sin w) <= 2.72 * u * Rabs (sin w) + 1.01 * h.
Proof.
  intros Fr Hr Hw H0 H. pose proof (sine_relative r Fr Hr) as E. pose proof (sin_steps r w) as S.
  assert (W : 0.9 * Rabs w <= Rabs (sin w)).
  { destruct (Rle_lt_dec 0 w) as [N | N].
    - pose proof (sin_large w ltac:(lra)). rewrite !Rabs_pos_eq; lra.
    - pose proof (sin_large (- w) ltac:(lra)) as L. rewrite sin_neg in L. rewrite !Rabs_left1; lra. }
  assert (A : Rabs (sin r) <= Rabs (sin w) + Rabs (sin r - sin w)).
  { replace (sin r) with (sin w + (sin r - sin w)) at 1 by ring. apply Rabs_triang. }
  replace (rounded_sine r - sin w) with ((rounded_sine r - sin r) + (sin r - sin w)) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. unfold u in *.
  pose proof (Rabs_pos (sin r - sin w)). lra.
Qed.

Lemma cosine_near r w : -0.7862 <= r <= 0.7862 -> Rabs (w - r) <= 2.984e-8 -> -0.7862 <= w <= 0.7862 ->
  Rabs (rounded_cosine r - cos w) <= 1.96 * u * Rabs (cos w).
Proof.
  intros Hr H Hw. eapply Rle_trans; [apply cosine_close; [exact Hr | exact H] |].
  assert (C : 0.7064 <= cos w) by interval with (i_bisect w, i_prec 40).
  rewrite Rabs_pos_eq by lra. pose proof u_positive. nra.
Qed.

(* ---- Whole quarter turns ---- *)

Lemma whole_turns w m : sin (w + IZR m * (2 * PI)) = sin w /\ cos (w + IZR m * (2 * PI)) = cos w.
Proof.
  destruct (Z.abs_eq_or_opp m) as [E | E]; pose proof (Z.abs_nonneg m) as P.
  - assert (M : IZR m = INR (Z.to_nat m)) by (rewrite INR_IZR_INZ, Z2Nat.id by lia; easy).
    replace (w + IZR m * (2 * PI)) with (w + 2 * INR (Z.to_nat m) * PI) by (rewrite M; ring).
    split; [apply sin_period | apply cos_period].
  - assert (M : - IZR m = INR (Z.to_nat (- m))) by (rewrite INR_IZR_INZ, Z2Nat.id, opp_IZR by lia; easy).
    set (v := w + IZR m * (2 * PI)). replace w with (v + 2 * INR (Z.to_nat (- m)) * PI) at 1 2
      by (unfold v; rewrite <- M; ring).
    split; symmetry; [apply sin_period | apply cos_period].
Qed.

Definition by_quarter (q : Z) (y : R) : R := if Z.odd (q / 2) then - y else y.
Lemma quarter_turns w k :
  sin (w + IZR k * (PI / 2)) = by_quarter k (if Z.odd k then cos w else sin w) /\
  cos (w + IZR k * (PI / 2)) = by_quarter (k + 1) (if Z.odd k then sin w else cos w).
Proof.
  set (m := (k / 4)%Z). set (j := (k mod 4)%Z). assert (K : k = (j + 2 * (2 * m))%Z).
  { pose proof (Z.div_mod k 4). unfold m, j. lia. }
  assert (J : (j = 0 \/ j = 1 \/ j = 2 \/ j = 3)%Z) by (pose proof (Z.mod_pos_bound k 4); unfold j; lia).
  assert (O : Z.odd k = Z.odd j) by (rewrite K; apply Z.odd_add_mul_2).
  assert (D : forall i, Z.odd ((i + j + 2 * (2 * m)) / 2) = Z.odd ((i + j) / 2)).
  { intros i. rewrite (Z.mul_comm 2 (2 * m)), Z_div_plus_full, Z.odd_add_mul_2 by lia. easy. }
  unfold by_quarter. rewrite O. replace k with (0 + j + 2 * (2 * m))%Z at 2 by lia.
  replace (k + 1)%Z with (1 + j + 2 * (2 * m))%Z by lia. rewrite !D.
  replace (w + IZR k * (PI / 2)) with (w + IZR j * (PI / 2) + IZR m * (2 * PI))
    by (rewrite K, plus_IZR, !mult_IZR; field).
  destruct (whole_turns (w + IZR j * (PI / 2)) m) as [-> ->]. clearbody j m. clear K O D.
  destruct J as [-> | [-> | [-> | ->]]]; cbn -[IZR PI].
  - rewrite Rmult_0_l, Rplus_0_r. easy.
  - rewrite Rmult_1_l, sin_plus, cos_plus, sin_PI2, cos_PI2. split; ring.
  - replace (2 * (PI / 2)) with PI by field. rewrite neg_sin, neg_cos. easy.
  - replace (w + 3 * (PI / 2)) with (w + PI / 2 + PI) by field.
    rewrite neg_sin, neg_cos, sin_plus, cos_plus, sin_PI2, cos_PI2. split; ring.
Qed.

(* ---- The reduction ---- *)

Section Reduction.
Variable c : float.
Hypotheses (finite : is_finite c = true) (range : Rabs (B2R c) <= 8192).

Lemma turns_is : exists k, (-5216 <= k <= 5216)%Z /\ is_finite (turns c) = true /\
  B2R (turns c) = IZR (12582912 + k) /\ word (turns c) = (12582912 + k + 149 * 2 ^ 23)%Z /\
  Rabs (B2R c - IZR k * (PI / 2)) <= 0.78615 /\
  Rabs (B2R c * B2R two_over_pi - IZR k) <= / 2 + / 2 ^ 12.
Proof.
  set (C := B2R c) in *. apply Rabs_le_inv in range.
  assert (TP : B2R two_over_pi = 10680707 / 16777216) by (values; lra).
  assert (H1 : Rabs (C * B2R two_over_pi) <= bpow radix2 13) by (rewrite TP; simpl bpow; apply Rabs_le; lra).
  destruct (mul_bounded 13 c two_over_pi) as [V1 [F1 B1]]; try easy. fold C in V1.
  pose proof (rnd_bpow 13 (C * B2R two_over_pi) ltac:(lia) H1) as E1. rewrite <- V1 in E1.
  change (13 - 25)%Z with (- Z.of_nat 12)%Z in E1. rewrite bpow_inverse in E1. apply Rabs_le_inv in E1.
  assert (M24 : fits 24 round_magic) by (split; [reflexivity | values; interval with (i_prec 40)]).
  destruct (add_fits 24 (mul c two_over_pi) round_magic ltac:(lia)) as [V2 [F2 B2]]; try easy.
  { split; [exact F1 |]. eapply Rle_trans; [apply B1 |]. now apply bpow_le. }
  fold (turns c) in V2, F2, B2. set (v := B2R (mul c two_over_pi)) in *.
  assert (RM : B2R round_magic = 12582912) by (values; lra). rewrite RM, TP in *.
  assert (Vv : -5215.3 <= v <= 5215.3) by lra.
  assert (H2 : Rabs (v + 12582912) <= bpow radix2 24) by (apply Rabs_le; simpl; lra).
  pose proof (rnd_bpow 24 _ ltac:(lia) H2) as E2. rewrite <- V2 in E2.
  change (bpow radix2 (24 - 25)) with (/ 2) in E2. apply Rabs_le_inv in E2.
  destruct (word_of_integer (turns c) F2) as (m & Vm & W); [simpl; lra |].
  exists (m - 12582912)%Z. rewrite Vm in *.
  assert (K : IZR (m - 12582912) = IZR m - 12582912) by apply minus_IZR.
  replace (12582912 + (m - 12582912))%Z with m by lia. split; [| repeat split; try easy].
  - split; [assert (-5217 < m - 12582912)%Z; [| lia] | assert (m - 12582912 < 5217)%Z; [| lia]];
      apply lt_IZR; rewrite K; lra.
  - rewrite K. replace (C - (IZR m - 12582912) * (PI / 2)) with
      (C * (1 - 10680707 / 16777216 * (PI / 2))
       + PI / 2 * ((C * (10680707 / 16777216) - v) + (v + 12582912 - IZR m))) by ring.
    set (a := C * (10680707 / 16777216) - v). set (b := v + 12582912 - IZR m).
    assert (- / 2 ^ 12 <= a <= / 2 ^ 12) by (unfold a; lra). assert (- / 2 <= b <= / 2) by (unfold b; lra).
    clearbody a b C. interval with (i_prec 60).
  - rewrite K. apply Rabs_le. lra.
Qed.

Lemma exact k : (-5216 <= k <= 5216)%Z -> Rabs (B2R c - IZR k * (PI / 2)) <= 0.78615 ->
  format (B2R c - IZR k * B2R half_pi1) /\ format (B2R c - IZR k * B2R half_pi1 - IZR k * B2R half_pi2) /\
  Rabs (B2R c - IZR k * B2R half_pi1) <= 4 /\
  Rabs (B2R c - IZR k * B2R half_pi1 - IZR k * B2R half_pi2) <= 0.7866.
Proof.
  intros Hk N. assert (KR : -5216 <= IZR k <= 5216) by (split; apply IZR_le; lia).
  assert (P1 : B2R half_pi1 = IZR 201 * bpow radix2 (-7)) by (values; lra).
  assert (P2 : B2R half_pi2 = IZR 2029 * bpow radix2 (-22)) by (values; lra).
  set (w := B2R c - IZR k * (PI / 2)) in *.
  assert (D1 : B2R c - IZR k * B2R half_pi1 = w + IZR k * (PI / 2 - B2R half_pi1)) by (unfold w; ring).
  assert (D2 : B2R c - IZR k * B2R half_pi1 - IZR k * B2R half_pi2
               = w + IZR k * (PI / 2 - B2R half_pi1 - B2R half_pi2)) by (unfold w; ring).
  apply Rabs_le_inv in N.
  assert (B1 : Rabs (B2R c - IZR k * B2R half_pi1) <= 0.78616 + 4.84e-4 * Rabs (IZR k)).
  { rewrite D1. eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_mult, Rmult_comm.
    apply Rplus_le_compat; [apply Rabs_le; lra |]. apply Rmult_le_compat_r; [apply Rabs_pos |].
    values. interval with (i_prec 60). }
  assert (B2 : Rabs (B2R c - IZR k * B2R half_pi1 - IZR k * B2R half_pi2) <= 0.7866).
  { rewrite D2. clearbody w. clear - KR N. set (K := IZR k) in *. clearbody K. values.
    interval with (i_prec 60). }
  assert (K4 : Rabs (IZR k) <= 5216) by (apply Rabs_le; lra).
  split; [| split; [| split; [lra | exact B2]]].
  - destruct (Z.eq_dec k 0) as [-> | K0]; [rewrite Rmult_0_l, Rminus_0_r; apply format_float |].
    destruct (Rle_lt_dec 2 (Rabs (B2R c))) as [G | G].
    + destruct (float_scaled c 2 finite) as (n & e & V & Hn & He); [simpl; lra |].
      assert (D : B2R c - IZR k * B2R half_pi1
                  = IZR (n * 2 ^ (e + 22) - k * 201 * 2 ^ 15) * bpow radix2 (-22)).
      { rewrite V, P1, minus_IZR, !mult_IZR, (power_IZR (e + 22)), (power_IZR 15) by lia.
        replace e with (e + 22 + -22)%Z at 1 by lia. change (-7)%Z with (15 + -22)%Z.
        rewrite !bpow_plus. ring. }
      rewrite D in *. apply format_scaled; [| lia].
      apply lt_IZR. rewrite abs_IZR. rewrite Rabs_mult, (Rabs_pos_eq (bpow _ _)) in B1 by apply bpow_ge_0.
      change (bpow radix2 (-22)) with (/ 4194304) in B1. change (IZR (2 ^ 24)) with 16777216. lra.
    + assert (K1 : (k = 1 \/ k = -1)%Z).
      { apply Rabs_lt_inv in G. unfold w in N. assert (Q : 1.57 <= PI / 2) by (interval with (i_prec 40)).
        assert (k < 2)%Z by (apply lt_IZR, Rnot_le_lt; intros L; nra).
        assert (-2 < k)%Z by (apply lt_IZR, Rnot_le_lt; intros L; nra). lia. }
      assert (A1 : Rabs (IZR k) = 1) by (destruct K1 as [-> | ->]; [apply Rabs_R1 | rewrite Rabs_left; lra]).
      rewrite A1 in B1.
      destruct (float_scaled c 0 finite) as (n & e & V & Hn & He).
      { change (bpow radix2 (0 - 1)) with (/ 2). assert (Q : 1.57 <= PI / 2) by (interval with (i_prec 40)).
        unfold w in N. destruct K1 as [-> | ->]; [rewrite Rabs_pos_eq; lra | rewrite Rabs_left; lra]. }
      assert (D : B2R c - IZR k * B2R half_pi1
                  = IZR (n * 2 ^ (e + 24) - k * 201 * 2 ^ 17) * bpow radix2 (-24)).
      { rewrite V, P1, minus_IZR, !mult_IZR, (power_IZR (e + 24)), (power_IZR 17) by lia.
        replace e with (e + 24 + -24)%Z at 1 by lia. change (-7)%Z with (17 + -24)%Z.
        rewrite !bpow_plus. ring. }
      rewrite D in *. apply format_scaled; [| lia].
      apply lt_IZR. rewrite abs_IZR. rewrite Rabs_mult, (Rabs_pos_eq (bpow _ _)) in B1 by apply bpow_ge_0.
      change (bpow radix2 (-24)) with (/ 16777216) in B1. change (IZR (2 ^ 24)) with 16777216. lra.
  - destruct (Z.eq_dec k 0) as [-> | K0]; [rewrite !Rmult_0_l, !Rminus_0_r; apply format_float |].
    destruct (float_scaled c 0 finite) as (n & e & V & Hn & He).
    { change (bpow radix2 (0 - 1)) with (/ 2). assert (Q : 1.57 <= PI / 2) by (interval with (i_prec 40)).
      unfold w in N. assert (1 <= k \/ k <= -1)%Z as [L | L] by lia; apply IZR_le in L;
        [rewrite Rabs_pos_eq; nra | rewrite Rabs_left; nra]. }
    assert (D : B2R c - IZR k * B2R half_pi1 - IZR k * B2R half_pi2
                = IZR (n * 2 ^ (e + 24) - k * 201 * 2 ^ 17 - k * 2029 * 2 ^ 2) * bpow radix2 (-24)).
    { rewrite V, P1, P2, !minus_IZR, !mult_IZR, (power_IZR (e + 24)), (power_IZR 17), (power_IZR 2) by lia.
      replace e with (e + 24 + -24)%Z at 1 by lia. change (-7)%Z with (17 + -24)%Z.
      change (-22)%Z with (2 + -24)%Z. rewrite !bpow_plus. ring. }
    rewrite D in *. apply format_scaled; [| lia].
    apply lt_IZR. rewrite abs_IZR. rewrite Rabs_mult, (Rabs_pos_eq (bpow _ _)) in B2 by apply bpow_ge_0.
    change (bpow radix2 (-24)) with (/ 16777216) in B2. change (IZR (2 ^ 24)) with 16777216. lra.
Qed.

Lemma reduced_is : exists k, word (turns c) = (12582912 + k + 149 * 2 ^ 23)%Z /\
  is_finite (reduced c) = true /\ -0.7862 <= B2R (reduced c) <= 0.7862 /\
  Rabs (B2R c - IZR k * (PI / 2) - B2R (reduced c)) <= 2.984e-8 /\
  (Rabs (B2R c) <= 0.785 -> k = 0%Z /\ B2R (reduced c) = B2R c) /\
  Rabs (B2R c - IZR k * (PI / 2)) <= 0.78615 /\
  Rabs (B2R (reduced c) - (B2R c - IZR k * (PI / 2)))
    <= u * Rabs (B2R c - IZR k * (PI / 2)) + 6.5e-15 * Rabs (IZR k).
Proof.
  destruct turns_is as (k & Hk & Fm & Vm & W & N & Near). exists k. split; [exact W |].
  assert (KR : -5216 <= IZR k <= 5216) by (split; apply IZR_le; lia).
  destruct (exact k Hk N) as (X1 & X2 & S1 & S2).
  assert (M24 : fits 24 round_magic) by (split; [reflexivity | values; interval with (i_prec 40)]).
  assert (B24 : fits 24 (turns c)).
  { split; [exact Fm |]. rewrite Vm, plus_IZR. apply Rabs_le. simpl. lra. }
  destruct (sub_fits 24 (turns c) round_magic ltac:(lia) B24 M24) as [Vk [Fk _]].
  unfold reduced. set (kf := sub (turns c) round_magic) in *.
  assert (Rk : B2R kf = IZR k).
  { rewrite Vk, Vm, plus_IZR. replace (B2R round_magic) with 12582912 by (values; lra).
    replace (12582912 + IZR k - 12582912) with (IZR k * bpow radix2 0) by (simpl; ring).
    rewrite rnd_exact; [simpl; ring |]. apply format_scaled; lia. }
  assert (L1 : Rabs (B2R kf * B2R half_pi1) <= bpow radix2 13)
    by (rewrite Rk; values; interval with (i_prec 40)).
  assert (L2 : Rabs (B2R kf * B2R half_pi2) <= bpow radix2 2)
    by (rewrite Rk; values; interval with (i_prec 40)).
  assert (L3 : Rabs (B2R kf * B2R half_pi3) <= bpow radix2 (-11))
    by (rewrite Rk; values; interval with (i_prec 40)).
  destruct (mul_bounded 13 kf half_pi1 ltac:(lia) Fk eq_refl L1) as [V1 B1].
  destruct (mul_bounded 2 kf half_pi2 ltac:(lia) Fk eq_refl L2) as [V2 B2].
  destruct (mul_bounded (-11) kf half_pi3 ltac:(lia) Fk eq_refl L3) as [V3 B3].
  pose proof (rnd_bpow (-11) _ ltac:(lia) L3) as E3. rewrite <- V3 in E3.
  change (-11 - 25)%Z with (- Z.of_nat 36)%Z in E3. rewrite bpow_inverse in E3. rewrite Rk in *.
  assert (R3 : Rabs (B2R (mul kf half_pi3) - IZR k * B2R half_pi3) <= 4.51e-15 * Rabs (IZR k)).
  { rewrite V3. destruct (Z.eq_dec k 0) as [-> | K0]; [rewrite !Rmult_0_l, rnd_0, Rminus_0_r, Rabs_R0; lra |].
    assert (K1 : 1 <= Rabs (IZR k)) by (rewrite <- abs_IZR; apply IZR_le; lia).
    destruct (rnd_least (-24) (IZR k * B2R half_pi3)) as (d & E & H & _); [lia | |].
    - rewrite Rabs_mult. apply Rle_trans with (1 * Rabs (B2R half_pi3)); [values | ].
      + rewrite Rabs_pos_eq; simpl; lra.
      + apply Rmult_le_compat_r; [apply Rabs_pos | exact K1].
    - rewrite E. replace (IZR k * B2R half_pi3 * (1 + d) - IZR k * B2R half_pi3)
        with (B2R half_pi3 * d * IZR k) by ring.
      rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos |]. clear - H. values.
      interval with (i_prec 40). }
  rewrite rnd_exact in V1.
  2: { replace (IZR k * B2R half_pi1) with (IZR (k * 201) * bpow radix2 (-7))
         by (rewrite mult_IZR; values; field). apply format_scaled; lia. }
  rewrite rnd_exact in V2.
  2: { replace (IZR k * B2R half_pi2) with (IZR (k * 2029) * bpow radix2 (-22))
         by (rewrite mult_IZR; values; field). apply format_scaled; lia. }
  assert (C13 : fits 13 c) by (split; [exact finite | simpl; lra]).
  destruct (sub_fits 13 c _ ltac:(lia) C13 B1) as [W1 [G1 _]]. set (d1 := sub c (mul kf half_pi1)) in *.
  rewrite V1, rnd_exact in W1 by exact X1.
  assert (D2 : fits 2 d1) by (split; [exact G1 | rewrite W1; change (bpow radix2 2) with 4; lra]).
  destruct (sub_fits 2 d1 _ ltac:(lia) D2 B2) as [W2 [G2 _]]. set (d2 := sub d1 (mul kf half_pi2)) in *.
  rewrite V2, W1, rnd_exact in W2 by exact X2.
  assert (D0 : fits 0 d2) by (split; [exact G2 | rewrite W2; change (bpow radix2 0) with 1; lra]).
  destruct (sub_fits 0 d2 _ ltac:(lia) D0 (fits_more _ 0 _ B3 ltac:(lia))) as [W3 [G3 _]].
  set (r := sub d2 (mul kf half_pi3)) in *. split; [exact G3 |]. rewrite W2 in W3.
  set (w := B2R c - IZR k * (PI / 2)) in *. set (t := B2R (mul kf half_pi3)) in *.
  set (e := t - IZR k * B2R half_pi3) in *. apply Rabs_le_inv in E3, N.
  assert (Y : B2R c - IZR k * B2R half_pi1 - IZR k * B2R half_pi2 - t
              = w + IZR k * (PI / 2 - B2R half_pi1 - B2R half_pi2 - B2R half_pi3) - e) by (unfold w, e; ring).
  set (p := IZR k * (PI / 2 - B2R half_pi1 - B2R half_pi2 - B2R half_pi3)) in *.
  assert (P : -1e-11 <= p <= 1e-11).
  { unfold p. clear - KR. set (K := IZR k) in *. clearbody K. values. split; interval with (i_prec 80). }
  assert (P' : Rabs p <= 1.92e-15 * Rabs (IZR k)).
  { unfold p. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos |].
    values. interval with (i_prec 80). }
  assert (Fine : Rabs (B2R r - w) <= u * Rabs w + 6.5e-15 * Rabs (IZR k)).
  { destruct (rnd_minus (B2R d2) t) as (d & E & H); try apply format_float.
    rewrite W2 in E. rewrite W3, E, Y.
    replace ((w + p - e) * (1 + d) - w) with (w * d + (p - e) * (1 + d)) by ring.
    eapply Rle_trans; [apply Rabs_triang |]. rewrite !Rabs_mult.
    assert (D1 : Rabs d <= u) by (apply Rabs_le; unfold u; lra).
    assert (D2' : Rabs (1 + d) <= 1.001) by (apply Rabs_le; lra).
    assert (Pe : Rabs (p - e) <= 6.43e-15 * Rabs (IZR k)).
    { unfold Rminus. eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_Ropp. fold e in R3. lra. }
    pose proof (Rabs_pos w). pose proof (Rabs_pos (IZR k)). pose proof (Rabs_pos (p - e)).
    pose proof (Rabs_pos (1 + d)). nra. }
  assert (Zero : Rabs (B2R c) <= 0.785 -> k = 0%Z /\ B2R r = B2R c).
  { intros S. assert (K0 : k = 0%Z).
    { assert (TP : B2R two_over_pi = 10680707 / 16777216) by (values; lra). rewrite TP in Near.
      apply Rabs_le_inv in S, Near. assert (-1 < k < 1)%Z by (split; apply lt_IZR; lra). lia. }
    split; [exact K0 |]. rewrite W3. assert (T0 : t = 0).
    { rewrite V3, K0, Rmult_0_l. apply rnd_0. }
    rewrite T0, K0, !Rmult_0_l, !Rminus_0_r. apply rnd_exact, format_float. }
  assert (I36 : 0 <= / 2 ^ 36 <= 1.46e-11) by lra.
  destruct (rnd_close 0 25 (w + p - e) ltac:(lia) eq_refl) as (e4 & E4 & H4); [apply Rabs_le; simpl; lra |].
  split; [| split; [| split; [exact Zero | split; [apply Rabs_le; lra | exact Fine]]]];
    rewrite Y, E4 in W3; apply Rabs_le_inv in H4; assert (I25 : 0 <= / 2 ^ 25 <= 2.9803e-8) by lra;
    rewrite W3; [lra |]; apply Rabs_le; lra.
Qed.
End Reduction.

(* ---- The whole function ---- *)

Lemma parts_are (r : float) : is_finite r = true -> -0.7862 <= B2R r <= 0.7862 ->
  is_finite (sine_of r) = true /\ B2R (sine_of r) = rounded_sine (B2R r) /\
  is_finite (cosine_of r) = true /\ B2R (cosine_of r) = rounded_cosine (B2R r).
Proof.
  intros F H. assert (R0 : fits 0 r) by (split; [exact F | simpl; apply Rabs_le; lra]).
  destruct (mul_fits 0 0 r r ltac:(lia) R0 R0) as [Vz Bz]. unfold sine_of, cosine_of.
  set (z := mul r r) in *. change (fits 0 z) in Bz.
  assert (KK : (fits 0 s1 /\ fits 0 s2 /\ fits 1 s3) /\ fits 0 c1 /\ fits 0 c2 /\ fits 1 c3 /\ fits 0 half /\
    fits 4 one).
  { repeat split; try reflexivity; values; interval with (i_prec 40). }
  destruct KK as ((S1 & S2 & S3) & C1 & C2 & C3 & Hh & O).
  destruct (mul_fits 0 0 s1 z ltac:(lia) S1 Bz) as [V1 B1].
  destruct (add_fits 0 _ s2 ltac:(lia) B1 S2) as [V2 B2].
  destruct (mul_fits 1 0 _ z ltac:(lia) B2 Bz) as [V3 B3].
  destruct (add_fits 1 _ s3 ltac:(lia) B3 S3) as [V4 B4].
  destruct (mul_fits 2 0 _ z ltac:(lia) B4 Bz) as [V5 B5].
  destruct (mul_fits 2 0 _ r ltac:(lia) B5 R0) as [V6 B6].
  destruct (add_fits 2 _ r ltac:(lia) B6 (fits_more _ 2 _ R0 ltac:(lia))) as [V7 [F7 _]].
  destruct (mul_fits 0 0 c1 z ltac:(lia) C1 Bz) as [W1 A1].
  destruct (add_fits 0 _ c2 ltac:(lia) A1 C2) as [W2 A2].
  destruct (mul_fits 1 0 _ z ltac:(lia) A2 Bz) as [W3 A3].
  destruct (add_fits 1 _ c3 ltac:(lia) A3 C3) as [W4 A4].
  destruct (mul_fits 2 0 _ z ltac:(lia) A4 Bz) as [W5 A5].
  destruct (mul_fits 2 0 _ z ltac:(lia) A5 Bz) as [W6 A6].
  destruct (mul_fits 0 0 half z ltac:(lia) Hh Bz) as [W7 A7].
  destruct (sub_fits 2 _ _ ltac:(lia) A6 (fits_more _ 2 _ A7 ltac:(lia))) as [W8 A8].
  destruct (add_fits 4 _ one ltac:(lia) (fits_more _ 4 _ A8 ltac:(lia)) O) as [W9 [F9 _]].
  split; [exact F7 | split; [| split; [exact F9 |]]].
  - rewrite V7, V6, V5, V4, V3, V2, V1, Vz. reflexivity.
  - rewrite W9, W8, W7, W6, W5, W4, W3, W2, W1, Vz, one_is_1. reflexivity.
Qed.

Lemma within_is x : is_finite x = true ->
  within x = match Rcompare (Rabs (B2R x)) 8192 with Gt => false | _ => true end.
Proof.
  intros F. unfold within. rewrite Bcompare_correct by (rewrite ?is_finite_Babs; easy).
  rewrite B2R_Babs. replace (B2R limit) with 8192 by (values; lra). now destruct Rcompare.
Qed.

Lemma turned_close k (y : float) e b : is_finite y = true -> Rabs (B2R y - e) <= b ->
  is_finite (turned k y) = true /\ Rabs (B2R (turned k y) - by_quarter k e) <= b.
Proof.
  intros F H. unfold turned, by_quarter. destruct Z.odd; [| easy].
  rewrite is_finite_Bopp, B2R_Bopp. split; [exact F |].
  replace (- B2R y - - e) with (- (B2R y - e)) by ring. now rewrite Rabs_Ropp.
Qed.

Lemma size_by_quarter k e : Rabs (by_quarter k e) = Rabs e.
Proof. unfold by_quarter. destruct Z.odd; [apply Rabs_Ropp | easy]. Qed.

(* What the two results are, k quarter turns from the angle w. *)
Lemma sincos_is x : is_finite x = true -> Rabs (B2R x) <= 8192 ->
  exists k, let r := reduced x in let w := B2R x - IZR k * (PI / 2) in
    sincos x = (turned k (if Z.odd k then cosine_of r else sine_of r),
                turned (k + 1) (if Z.odd k then sine_of r else cosine_of r)) /\
    sin (B2R x) = by_quarter k (if Z.odd k then cos w else sin w) /\
    cos (B2R x) = by_quarter (k + 1) (if Z.odd k then sin w else cos w) /\
    is_finite (sine_of r) = true /\ is_finite (cosine_of r) = true /\
    B2R (sine_of r) = rounded_sine (B2R r) /\ B2R (cosine_of r) = rounded_cosine (B2R r) /\
    -0.7862 <= B2R r <= 0.7862 /\ Rabs (w - B2R r) <= 2.984e-8 /\
    (Rabs (B2R x) <= 0.785 -> k = 0%Z /\ B2R r = B2R x) /\
    Rabs w <= 0.78615 /\ Rabs (B2R r - w) <= u * Rabs w + 6.5e-15 * Rabs (IZR k).
Proof.
  intros F H. assert (I : within x = true).
  { rewrite within_is by exact F. destruct (Rcompare_spec (Rabs (B2R x)) 8192); (easy || lra). }
  unfold sincos, kept. rewrite I. destruct (reduced_is x F H) as (k & W & Fr & Hr & D & Rest). rewrite W.
  exists k. cbv zeta. destruct (parts_are _ Fr Hr) as (Fs & Vs & Ft & Vt).
  set (w := B2R x - IZR k * (PI / 2)) in *. destruct (quarter_turns w k) as [Qs Qc].
  replace (w + IZR k * (PI / 2)) with (B2R x) in Qs, Qc by (unfold w; ring).
  set (P := (6291456 + 149 * 2 ^ 22)%Z).
  assert (O : Z.odd (12582912 + k + 149 * 2 ^ 23) = Z.odd k).
  { replace (12582912 + k + 149 * 2 ^ 23)%Z with (k + 2 * P)%Z by (unfold P; lia). apply Z.odd_add_mul_2. }
  assert (T : forall i y, turned (12582912 + k + 149 * 2 ^ 23 + i) y = turned (k + i) y).
  { intros i y. unfold turned.
    replace (12582912 + k + 149 * 2 ^ 23 + i)%Z with (k + i + P * 2)%Z by (unfold P; lia).
    rewrite Z_div_plus_full by lia. replace P with (2 * (3145728 + 149 * 2 ^ 21))%Z by (unfold P; lia).
    rewrite Z.odd_add_mul_2. reflexivity. }
  rewrite O, T. rewrite <- (Z.add_0_r (12582912 + k + 149 * 2 ^ 23)), T, Z.add_0_r.
  exact (conj eq_refl (conj Qs (conj Qc (conj Fs (conj Ft (conj Vs (conj Vt (conj Hr (conj D Rest))))))))).
Qed.

Theorem sincos_error : forall x, is_finite x = true -> Rabs (B2R x) <= 8192 ->
  let (sine, cosine) := sincos x in
  is_finite sine = true /\ Rabs (B2R sine - sin (B2R x)) <= 1.38 * u /\
  is_finite cosine = true /\ Rabs (B2R cosine - cos (B2R x)) <= 1.38 * u.
Proof.
  intros x F H. destruct (sincos_is x F H) as (k & -> & -> & -> & Fs & Ft & Vs & Vt & Hr & D & _).
  pose proof (sine_close _ _ Hr D) as Es. pose proof (cosine_close _ _ Hr D) as Et.
  rewrite <- Vs in Es. rewrite <- Vt in Et. set (w := B2R x - IZR k * (PI / 2)) in *.
  set (s := sine_of (reduced x)) in *. set (t := cosine_of (reduced x)) in *. clearbody s t w.
  destruct (Z.odd k);
    [ destruct (turned_close k t (cos w) (1.38 * u) Ft Et) as [A1 A2];
      destruct (turned_close (k + 1) s (sin w) (1.38 * u) Fs Es) as [A3 A4]
    | destruct (turned_close k s (sin w) (1.38 * u) Fs Es) as [A1 A2];
      destruct (turned_close (k + 1) t (cos w) (1.38 * u) Ft Et) as [A3 A4] ];
    exact (conj A1 (conj A2 (conj A3 A4))).
Qed.

(* Relative errors: near 0, where nothing is taken from x, and wherever a result is small. *)
Theorem sine_near_0 : forall x, is_finite x = true -> Rabs (B2R x) <= 0.785 ->
  Rabs (B2R (fst (sincos x)) - sin (B2R x)) <= 1.6 * u * Rabs (sin (B2R x)).
Proof.
  intros x F H. destruct (sincos_is x F ltac:(lra)) as (k & -> & _ & _ & _ & _ & Vs & _ & Hr & _ & Z & _).
  destruct (Z H) as [-> E]. cbn -[sin]. unfold turned. simpl Z.odd. cbv iota. rewrite Vs, E.
  rewrite E in Hr. apply sine_relative; [apply format_float | exact Hr].
Qed.

Theorem sincos_relative : forall x, is_finite x = true -> Rabs (B2R x) <= 8192 ->
  let (sine, cosine) := sincos x in
  Rabs (B2R sine - sin (B2R x)) <= 2.72 * u * Rabs (sin (B2R x)) + 8.4e-15 * Rabs (B2R x) /\
  Rabs (B2R cosine - cos (B2R x)) <= 2.72 * u * Rabs (cos (B2R x)) + 8.4e-15 * Rabs (B2R x).
Proof.
  intros x F H. destruct (sincos_is x F H) as (k & -> & -> & -> & Fs & Ft & Vs & Vt & Hr & D & _ & Hw & Fine).
  set (w := B2R x - IZR k * (PI / 2)) in *.
  assert (W : -0.7862 <= w <= 0.7862) by (apply Rabs_le_inv in Hw; lra).
  assert (Turns : 1.01 * (6.5e-15 * Rabs (IZR k)) <= 8.4e-15 * Rabs (B2R x)).
  { destruct (Z.eq_dec k 0) as [-> | K0].
    - rewrite Rabs_R0. pose proof (Rabs_pos (B2R x)). lra.
    - assert (K1 : 1 <= Rabs (IZR k)) by (rewrite <- abs_IZR; apply IZR_le; lia).
      assert (P : 1.5707 <= PI / 2) by interval with (i_prec 40).
      assert (A : Rabs (IZR k) * 1.5707 <= Rabs (B2R x) + 0.78615).
      { replace (Rabs (IZR k) * 1.5707) with (Rabs (IZR k * 1.5707))
          by (rewrite Rabs_mult, (Rabs_pos_eq 1.5707); lra).
        apply Rle_trans with (Rabs (IZR k * (PI / 2))).
        - rewrite !Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos |]. rewrite !Rabs_pos_eq; lra.
        - replace (IZR k * (PI / 2)) with (B2R x - w) by (unfold w; ring). unfold Rminus.
          eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_Ropp. lra. }
      lra. }
  assert (H0 : 0 <= 6.5e-15 * Rabs (IZR k)) by (pose proof (Rabs_pos (IZR k)); lra).
  pose proof (sine_near_multiple _ w _ (format_float _) Hr W H0 Fine) as Es.
  pose proof (cosine_near _ w Hr D W) as Et. rewrite <- Vs in Es. rewrite <- Vt in Et.
  assert (Cs : Rabs (B2R (sine_of (reduced x)) - sin w)
               <= 2.72 * u * Rabs (sin w) + 8.4e-15 * Rabs (B2R x)) by lra.
  assert (Ct : Rabs (B2R (cosine_of (reduced x)) - cos w)
               <= 2.72 * u * Rabs (cos w) + 8.4e-15 * Rabs (B2R x)).
  { eapply Rle_trans; [exact Et |]. pose proof (Rabs_pos (cos w)). pose proof (Rabs_pos (B2R x)).
    pose proof u_positive. nra. }
  rewrite !size_by_quarter. clear Es Et. destruct (Z.odd k).
  - exact (conj (proj2 (turned_close k _ _ _ Ft Ct)) (proj2 (turned_close (k + 1) _ _ _ Fs Cs))).
  - exact (conj (proj2 (turned_close k _ _ _ Fs Cs)) (proj2 (turned_close (k + 1) _ _ _ Ft Ct))).
Qed.

Theorem sincos_outside : forall x, is_finite x = false \/ 8192 < Rabs (B2R x) ->
  sincos x = (B754_nan, B754_nan).
Proof.
  intros x H. assert (I : within x = false); [| unfold sincos; now rewrite I].
  destruct (is_finite x) eqn:F.
  - destruct H as [H | H]; [discriminate |]. rewrite within_is by exact F. now rewrite Rcompare_Gt.
  - destruct x as [s | s | | s m e B]; try discriminate; reflexivity.
Qed.

(* ---- The model beside the C ---- *)

(* x = m 2^e, and the word of its sine or cosine. test_vmath.c reads these tables and asks the kernel. *)
Definition sine_points : list (Z * Z * Z) := [
  (1, -149, 0x00000001);
  (-8388608, -36, 0xB9000000);
  (8388608, -24, 0x3EF57744);
  (8388608, -23, 0x3F576AA4);
  (-8388608, -22, 0xBF68C7B7);
  (12582912, -22, 0x3E1081C3);
  (9437184, -21, 0xBF7A3F6A);
  (-12582912, -21, 0x3E8F0F8C);
  (-8388608, -23, 0xBF576AA4);
  (8388608, -10, 0xBF74C7C4);
  (-8388608, -10, 0x3F74C7C4);
  (13176795, -23, 0x3F800000);
  (9190946, -12, 0x3F352799);
  (15111815, -11, 0x3F34FCF1);
  (-14474850, -11, 0x3F350F30);
  (-10519560, -11, 0xB8ACBDB0);
  (-16643637, -13, 0xBF4B205C);
  (-11731179, -24, 0xBF24C4FB);
  (-9999931, -11, 0xBF2D56EC);
  (-14951138, -21, 0xBF3FA9AC);
  (10442275, -24, 0x3F153F0E)
]%Z.
Definition cosine_points : list (Z * Z * Z) := [
  (1, -149, 0x3F800000);
  (-8388608, -36, 0x3F800000);
  (8388608, -24, 0x3F60A940);
  (8388608, -23, 0x3F0A5140);
  (-8388608, -22, 0xBED51132);
  (12582912, -22, 0xBF7D7026);
  (9437184, -21, 0xBE57DADA);
  (-12582912, -21, 0x3F75CDB8);
  (-8388608, -23, 0x3F0A5140);
  (8388608, -10, 0x3E95EA1F);
  (-8388608, -10, 0x3E95EA1F);
  (13176795, -23, 0xB33BBD2E);
  (9190946, -12, 0x3F34E246);
  (15111815, -11, 0xBF350CF6);
  (-14474850, -11, 0x3F34FAB6);
  (-10519560, -11, 0xBF800000);
  (-16643637, -13, 0xBF1BCE77);
  (-11731179, -24, 0x3F43ED14);
  (-9999931, -11, 0x3F3C62E6);
  (-14951138, -21, 0x3F29B5AD);
  (10442275, -24, 0x3F4FFE7C)
]%Z.

Theorem sincos_at_points :
  map (fun '(m, e, _) => signed_word (fst (sincos (float_of m e)))) sine_points = map snd sine_points /\
  map (fun '(m, e, _) => signed_word (snd (sincos (float_of m e)))) cosine_points = map snd cosine_points.
Proof. vm_compute. split; reflexivity. Qed.
