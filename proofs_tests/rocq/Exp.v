(* Exp.v: the kernels' exponential in IEEE 754 binary32: how far it is from e^x.

   Of exp_between as vmath.h computes it, each product and sum rounded to nearest even, u = 2^-24:
   - its polynomial, in exact arithmetic: |1 + r + r^2 p(r) - e^r| <= 4.34e-9 e^r where |r| <= 0.3466;
   - for every float x in [-86, 88]: the result is finite, and |exp(x) - e^x| <= 1.48 u e^x;
   - for every float x in [-41.5, 88] the exponential of a softmax keeps that bound; of a finite one below it
     is +0;
   - at 25 points the model, run, gives the words that test_vmath.c asks of the C: of vf_exp, and where x <= 0
     of vf_exp_down. They see the last bit of every coefficient, and fused products where those show at all.
   How: k = x / ln 2 to the nearest integer, x minus k times ln 2's upper half is exact, and so is the last
   product by 2^k; between them each rounding errs by half of the last place, in four parts of the range.
   Not covered: x below -86 or above 88 and vf_exp, which has the same polynomial, but its power of two in two
   factors (test_vmath.c measures them), infinities, NaN, fast mode, which fuses products and sums, and that a
   compiler keeps the operations as written (the points, and digests.txt).
   Kernels: vmath.h (exps_between, vf_exp_down, v16_softmax_exp). Tested on floats in test_vmath.c. *)

From Coq Require Import Reals ZArith List Lra Lia.
From Flocq Require Import Core BinarySingleNaN.
From Interval Require Import Tactic.
From Seqmix Require Import Bounds Rounding TileSums Binary32.
Import Over_integers ListNotations.
Open Scope R_scope.

#[local] Existing Instance p24.

(* ---- The kernel, operation by operation ---- *)

Definition log2_e : float := literal 12102203 (-23).      (* 1.44269504f *)
Definition ln2_high : float := literal 11629056 (-24).    (* 0.693145751953125f *)
Definition ln2_low : float := literal 12566158 (-43).     (* 1.42860677e-6f *)
Definition p4 : float := literal 11866508 (-33).          (* 0.00138144334f *)
Definition p3 : float := literal 8985927 (-30).           (* 0.00836879668f *)
Definition p2 : float := literal 11185275 (-28).          (* 0.0416683958f *)
Definition p1 : float := literal 11184712 (-26).          (* 0.1666652f *)
Definition p0 : float := literal 16777214 (-25).          (* 0.499999934f *)
Definition round_magic : float := literal 12582912 0.     (* 12582912.0f *)

(* rests *)
Definition magic (c : float) : float := add (mul c log2_e) round_magic.
Definition whole (c : float) : float := sub (magic c) round_magic.
Definition high (c : float) : float := sub c (mul (whole c) ln2_high).
Definition low (c : float) : float := mul (whole c) ln2_low.
(* exps_of_rest *)
Definition rest (c : float) : float := sub (high c) (low c).
Definition poly (r : float) : float := add (mul (add (mul (add (mul (add (mul p4 r) p3) r) p2) r) p1) r) p0.
Definition exp_of_rest (c : float) : float :=
  let r := rest c in add (add (high c) (sub (mul (mul (poly r) r) r) (low c))) one.

(* The word, shifted. *)
Definition power_of_two (magic : float) : float :=
  float_of_word (((word magic + 127) * 2 ^ 23) mod 2 ^ 32).

Definition exp_between (c : float) : float := mul (exp_of_rest c) (power_of_two (magic c)).

(* ---- The polynomial ---- *)

Definition P (r : R) : R := (((B2R p4 * r + B2R p3) * r + B2R p2) * r + B2R p1) * r + B2R p0.

Ltac figures := cbv [B2R F2R Fnum Fexp cond_Zopp p4 p3 p2 p1 p0 one round_magic log2_e ln2_high ln2_low bpow
  Z.pow_pos Pos.iter radix2 radix_val Z.mul Pos.mul].

Theorem polynomial_error : forall r, Rabs r <= 0.3466 ->
  Rabs (1 + r + P r * r * r - exp r) <= 4.34e-9 * exp r.
Proof.
  intros r Hr. apply Rabs_le_inv in Hr.
  assert (E : exp r * exp (- r) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (N : Rabs ((1 + r + P r * r * r) * exp (- r) - 1) <= 4.34e-9).
  { unfold P. figures. interval with (i_taylor r, i_bisect r, i_prec 60, i_degree 10). }
  replace (1 + r + P r * r * r - exp r) with (((1 + r + P r * r * r) * exp (- r) - 1) * exp r)
    by (transitivity ((1 + r + P r * r * r) * (exp r * exp (- r)) - exp r); [ring | rewrite E; ring]).
  rewrite Rabs_mult, (Rabs_pos_eq (exp r)) by (left; apply exp_pos).
  apply Rmult_le_compat_r; [left; apply exp_pos | exact N].
Qed.

(* ---- From the polynomial to the float, on a part of the range ---- *)

Lemma exp_small d : Rabs d <= / 10 ^ 7 -> Rabs (exp d - 1 - d) <= / 10 ^ 14.
Proof. intros H. apply Rabs_le_inv in H. interval with (i_taylor d, i_prec 80). Qed.

(* What is computed from r, the rounded h - l. *)
Definition rounded_poly (r : R) : R :=
  rnd (rnd (rnd (rnd (rnd (rnd (rnd (rnd (B2R p4 * r) + B2R p3) * r) + B2R p2) * r) + B2R p1) * r) + B2R p0).
Definition rounded (h l r : R) : R := rnd (rnd (h + rnd (rnd (rnd (rounded_poly r * r) * r) - l)) + 1).

(* w, of which e^w is wanted: r is h - l but for dh, and w is h - l but for dl. *)
Definition close_on (a b : R) : Prop := forall r l dh dl,
  a <= r <= b -> Rabs l <= 0.000183 -> Rabs dh <= / 2 ^ 26 -> Rabs dl <= 1.5e-11 ->
  Rabs (rounded (r + l + dh) l r - exp (r + dh + dl)) <= 1.48 * / 2 ^ 24 * exp (r + dh + dl).

Lemma abs_of_five a b c d e : Rabs (a + b + c + d + e) <= Rabs a + Rabs b + Rabs c + Rabs d + Rabs e.
Proof.
  do 3 (eapply Rle_trans; [apply Rabs_triang | apply Rplus_le_compat_r]). apply Rabs_triang.
Qed.

Lemma exp_near r dh dl B e : Rabs r <= 0.3466 -> Rabs dh <= / 2 ^ 26 -> Rabs dl <= 1.5e-11 ->
  Rabs (e - (1 + r + dh + P r * r * r)) <= B * / 2 ^ 24 ->
  B * / 2 ^ 24 + / 2 ^ 26 * Rabs (1 - exp r) + 4.36e-9 * exp r <= 1.48 * / 2 ^ 24 * exp r * (1 - / 10 ^ 7) ->
  Rabs (e - exp (r + dh + dl)) <= 1.48 * / 2 ^ 24 * exp (r + dh + dl).
Proof.
  intros Hr Hh Hl He HB. pose proof (polynomial_error r Hr) as Hp.
  assert (Hd : Rabs (dh + dl) <= / 10 ^ 7)
    by (eapply Rle_trans; [apply Rabs_triang |]; apply Rle_trans with (/ 2 ^ 26 + 1.5e-11); lra).
  pose proof (exp_small _ Hd) as Hs. rewrite Rplus_assoc, exp_plus. set (d := dh + dl) in *.
  pose proof (exp_pos r) as Er.
  replace (e - exp r * exp d) with ((e - (1 + r + dh + P r * r * r)) + (1 + r + P r * r * r - exp r)
    + dh * (1 - exp r) + - (exp r * dl) + - (exp r * (exp d - 1 - d))) by (unfold d; ring).
  assert (Rabs (dh * (1 - exp r)) <= / 2 ^ 26 * Rabs (1 - exp r))
    by (rewrite Rabs_mult; apply Rmult_le_compat_r; [apply Rabs_pos | easy]).
  assert (Rabs (- (exp r * dl)) <= exp r * 1.5e-11)
    by (rewrite Rabs_Ropp, Rabs_mult, (Rabs_pos_eq (exp r)) by lra; apply Rmult_le_compat_l; lra).
  assert (Rabs (- (exp r * (exp d - 1 - d))) <= exp r * / 10 ^ 14)
    by (rewrite Rabs_Ropp, Rabs_mult, (Rabs_pos_eq (exp r)) by lra; apply Rmult_le_compat_l; lra).
  apply Rle_trans with (1.48 * / 2 ^ 24 * exp r * (1 - / 10 ^ 7)).
  - eapply Rle_trans; [apply abs_of_five |]. lra.
  - rewrite <- Rmult_assoc. apply Rmult_le_compat_l; [lra |]. apply Rabs_le_inv in Hd.
    pose proof (exp_ineq1_le d). lra.
Qed.

Ltac piece bound :=
  intros r l dh dl Hr Hl Hd Hdl; apply (exp_near r dh dl bound); [apply Rabs_le; lra | easy | easy | | ];
  [ clear Hdl; apply Rabs_le_inv in Hl; apply Rabs_le_inv in Hd; unfold rounded, rounded_poly, P; figures;
    let a := fresh "a" in let b := fresh "b" in let c := fresh "c" in let d := fresh "d" in
    let e := fresh "e" in let f := fresh "f" in let g := fresh "g" in let h := fresh "h" in
    let i := fresh "i" in let j := fresh "j" in let k := fresh "k" in let m := fresh "m" in
    let n := fresh "n" in
    rounding a 11%nat; rounding b 6%nat; rounding c 10%nat; rounding d 4%nat; rounding e 8%nat;
    rounding f 2%nat; rounding g 5%nat; rounding h 1%nat; rounding i 4%nat; rounding j 6%nat;
    rounding k 6%nat; rounding m 3%nat; last_rounding n;
    match goal with |- Rabs ?x <= _ => replace x with
      ((((((a + b) * r + c + d) * r + e + f) * r + g + h) * r + i) * r + j + k + m + n) by field end;
    interval with (i_prec 40)
  | apply Rminus_le; interval with (i_bisect r, i_prec 40) ].

Lemma piece_1 : close_on (-0.3466) (-0.28). Proof. piece 0.9. Qed.
Lemma piece_2 : close_on (-0.28) (-0.1). Proof. piece 0.88. Qed.
Lemma piece_3 : close_on (-0.1) 0.1. Proof. piece 1.1. Qed.
Lemma piece_4 : close_on 0.1 0.3466. Proof. piece 1.5. Qed.

Lemma close_everywhere : close_on (-0.3466) 0.3466.
Proof.
  intros r l dh dl Hr. destruct (Rle_lt_dec r (-0.28)); [apply piece_1; lra |].
  destruct (Rle_lt_dec r (-0.1)); [apply piece_2; lra |].
  destruct (Rle_lt_dec r 0.1); [apply piece_3; lra | apply piece_4; lra].
Qed.

(* ---- k ---- *)

Lemma word_of_integer (a : float) : is_finite a = true -> bpow radix2 23 <= B2R a < bpow radix2 24 ->
  exists m, B2R a = IZR m /\ word a = (m + 149 * 2 ^ 23)%Z.
Proof.
  intros F H. pose proof (bpow_gt_0 radix2 23) as P23.
  destruct a as [s | s | | s m e B]; try discriminate; [simpl in H; lra |].
  assert (M : mag radix2 (B2R (B754_finite s m e B)) = 24%Z :> Z)
    by (apply mag_unique; rewrite Rabs_pos_eq by lra; exact H).
  pose proof B as B'. unfold SpecFloat.bounded in B'. apply andb_prop in B' as [Bc _].
  assert (Hc : e = FLT_exp (-149) 24 (mag radix2 (B2R (B754_finite s m e B))))
    by exact (canonical_canonical_mantissa 24 128 s m e Bc).
  rewrite M in Hc. change (e = 0%Z) in Hc. subst e.
  destruct s.
  - exfalso. assert (B2R (B754_finite true m 0 B) < 0) by (apply F2R_lt_0; easy). lra.
  - exists (Z.pos m). split; [simpl; unfold F2R; simpl; ring |]. reflexivity.
Qed.

Lemma power_of_two_is k a : (-126 <= k <= 127)%Z -> word a = (12582912 + k + 149 * 2 ^ 23)%Z ->
  B2R (power_of_two a) = bpow radix2 k /\ is_finite (power_of_two a) = true.
Proof.
  intros Hk W. unfold power_of_two. rewrite W.
  assert (S : (((12582912 + k + 149 * 2 ^ 23 + 127) * 2 ^ 23) mod 2 ^ 32 = (k + 127) * 2 ^ 23)%Z).
  { replace ((12582912 + k + 149 * 2 ^ 23 + 127) * 2 ^ 23)%Z
      with ((k + 127) * 2 ^ 23 + 2465792 * 2 ^ 32)%Z by lia.
    rewrite Z_mod_plus_full. apply Z.mod_small. lia. }
  rewrite S. unfold float_of_word.
  rewrite Z_mod_mult, Z_div_mult by lia. rewrite Z.add_0_l.
  pose proof (binary_normalize_correct 24 128 p24 e128 mode_NE (2 ^ 23) (k + 127 - 150) false) as C.
  set (z := binary_normalize _ _ _ _ _ _ _ _) in *. clearbody z. cbv zeta in C.
  assert (V : F2R (Float radix2 (2 ^ 23) (k + 127 - 150)) = bpow radix2 k).
  { unfold F2R. cbn [Fnum Fexp]. rewrite power_IZR by lia. rewrite <- bpow_plus. f_equal. lia. }
  rewrite V in C.
  assert (G : round radix2 (SpecFloat.fexp 24 128) (round_mode mode_NE) (bpow radix2 k) = bpow radix2 k).
  { apply (rnd_exact (bpow radix2 k)). apply generic_format_bpow. unfold FLT_exp. lia. }
  rewrite G, Rlt_bool_true in C by (rewrite Rabs_pos_eq by apply bpow_ge_0; apply bpow_lt; lia).
  destruct C as (A & B & _). now split.
Qed.

(* ---- The whole function ---- *)

Section One.
Variable c : float.
Hypotheses (finite : is_finite c = true) (range : -86 <= B2R c <= 88.73).

Lemma magic_is : exists k, (-124 <= k <= 128)%Z /\ is_finite (magic c) = true /\
  B2R (magic c) = IZR (12582912 + k) /\ word (magic c) = (12582912 + k + 149 * 2 ^ 23)%Z /\
  Rabs (B2R c - IZR k * ln 2) <= 0.34659.
Proof.
  set (C := B2R c) in *.
  assert (H1 : Rabs (C * B2R log2_e) <= bpow radix2 8) by (figures; interval with (i_prec 40)).
  destruct (mul_bounded 8 c log2_e) as [V1 F1]; try easy.
  pose proof (rnd_bpow 8 (C * B2R log2_e) ltac:(lia) H1) as E1. fold C in V1. rewrite <- V1 in E1.
  destruct F1 as [F1 B1].
  assert (M24 : fits 24 round_magic) by (split; [reflexivity | figures; interval with (i_prec 40)]).
  destruct (add_fits 24 (mul c log2_e) round_magic) as [V2 [F2 B2]]; try easy.
  { split; [easy |]. eapply Rle_trans; [apply B1 |]. now apply bpow_le. }
  fold (magic c) in V2, F2, B2. set (v := B2R (mul c log2_e)) in *.
  assert (E1' : Rabs (v - C * B2R log2_e) <= / 2 ^ 17).
  { eapply Rle_trans; [exact E1 |]. right. change (8 - 25)%Z with (- Z.of_nat 17)%Z. apply bpow_inverse. }
  clear E1. apply Rabs_le_inv in E1'.
  assert (L2E : B2R log2_e = 12102203 / 8388608) by (figures; lra).
  assert (RM : B2R round_magic = 12582912) by (figures; lra).
  rewrite L2E in *. rewrite RM in *.
  assert (Vv : -125 <= v <= 128.1) by lra.
  assert (H2 : Rabs (v + 12582912) <= bpow radix2 24) by (apply Rabs_le; simpl; lra).
  pose proof (rnd_bpow 24 _ ltac:(lia) H2) as E2. rewrite <- V2 in E2.
  change (bpow radix2 (24 - 25)) with (/ 2) in E2. apply Rabs_le_inv in E2.
  destruct (word_of_integer (magic c) F2) as (m & Vm & W); [simpl; lra |].
  exists (m - 12582912)%Z. rewrite Vm in *.
  assert (K : IZR (m - 12582912) = IZR m - 12582912) by apply minus_IZR.
  assert (N : Rabs (C - IZR (m - 12582912) * ln 2) <= 0.34659).
  { rewrite K. replace (C - (IZR m - 12582912) * ln 2) with
      (C * (1 - 12102203 / 8388608 * ln 2)
       + ln 2 * ((C * (12102203 / 8388608) - v) + (v + 12582912 - IZR m))) by ring.
    set (a := C * (12102203 / 8388608) - v). set (b := v + 12582912 - IZR m).
    assert (- / 2 ^ 17 <= a <= / 2 ^ 17) by (unfold a; lra). assert (- / 2 <= b <= / 2) by (unfold b; lra).
    clearbody a b C. interval with (i_prec 60). }
  replace (12582912 + (m - 12582912))%Z with m by lia. repeat split; try easy.
  - apply Rabs_le_inv in N. apply le_IZR. apply Rnot_lt_le. intros L.
    assert (IZR (m - 12582912) <= -125) by (apply IZR_le; apply lt_IZR in L; lia).
    assert (IZR (m - 12582912) * ln 2 <= -125 * ln 2)
      by (apply Rmult_le_compat_r; [interval with (i_prec 40) | easy]).
    assert (-125 * ln 2 <= -86.6) by interval with (i_prec 40). lra.
  - apply Rabs_le_inv in N. apply le_IZR. apply Rnot_lt_le. intros L.
    assert (129 <= IZR (m - 12582912)) by (apply IZR_le; apply lt_IZR in L; lia).
    assert (129 * ln 2 <= IZR (m - 12582912) * ln 2)
      by (apply Rmult_le_compat_r; [interval with (i_prec 40) | easy]).
    assert (89.1 <= 129 * ln 2) by interval with (i_prec 40). lra.
Qed.

(* high is exact. *)
Lemma high_exact k : (-124 <= k <= 128)%Z -> Rabs (B2R c - IZR k * ln 2) <= 0.34659 ->
  format (B2R c - IZR k * B2R ln2_high) /\ Rabs (B2R c - IZR k * B2R ln2_high) <= 0.3468.
Proof.
  intros Hk N. assert (KR : -124 <= IZR k <= 128) by (split; apply IZR_le; lia).
  assert (Hh : B2R ln2_high = IZR 22713 * bpow radix2 (-15)) by (figures; simpl; lra).
  assert (L1 : Rabs (B2R c - IZR k * B2R ln2_high) <= 0.3468).
  { replace (B2R c - IZR k * B2R ln2_high) 
      with ((B2R c - IZR k * ln 2) + IZR k * (ln 2 - B2R ln2_high)) by ring.
    apply Rabs_le_inv in N. set (w := B2R c - IZR k * ln 2) in *. clearbody w. figures.
    interval with (i_prec 60). }
  split; [| exact L1].
  destruct (Rle_lt_dec (/ 4) (Rabs (B2R c))) as [G | G].
  - destruct (float_scaled c (-1) finite) as (n & e & V & Hn & He); [exact G |].
    assert (D : B2R c - IZR k * B2R ln2_high
                = IZR (n * 2 ^ (e + 25) - k * 22713 * 2 ^ 10) * bpow radix2 (-25)).
    { rewrite V, Hh, minus_IZR, !mult_IZR. rewrite (power_IZR (e + 25)) by lia.
      rewrite (power_IZR 10) by lia.
      replace e with (e + 25 + -25)%Z at 1 by lia. change (-15)%Z with (10 + -25)%Z.
      rewrite !bpow_plus. ring. }
    rewrite D in *. apply format_scaled; [| lia].
    apply lt_IZR. rewrite abs_IZR. rewrite Rabs_mult, (Rabs_pos_eq (bpow _ _)) in L1 by apply bpow_ge_0.
    apply Rmult_lt_reg_r with (bpow radix2 (-25)); [apply bpow_gt_0 |].
    eapply Rle_lt_trans; [exact L1 |]. simpl. lra.
  - replace k with 0%Z; [rewrite Rmult_0_l, Rminus_0_r; apply format_float |].
    apply Rabs_lt_inv in G. apply Rabs_le_inv in N.
    assert (L : 0.69 <= ln 2 <= 0.7) by (split; interval with (i_prec 40)).
    assert (-1 < k < 1)%Z by (split; apply lt_IZR; nra). lia.
Qed.

Lemma parts : exists k, (-124 <= k <= 128)%Z /\ word (magic c) = (12582912 + k + 149 * 2 ^ 23)%Z /\
  Rabs (B2R c - IZR k * ln 2) <= 0.34659 /\ is_finite (exp_of_rest c) = true /\
  Rabs (B2R (exp_of_rest c) - exp (B2R c - IZR k * ln 2)) <= 1.48 * u * exp (B2R c - IZR k * ln 2) /\
  0.7 <= B2R (exp_of_rest c) <= 1.5.
Proof.
  destruct magic_is as (k & Hk & Fm & Vm & W & N).
  assert (KR : -124 <= IZR k <= 128) by (split; apply IZR_le; lia).
  (* k *)
  assert (M24 : fits 24 round_magic) by (split; [reflexivity | figures; interval with (i_prec 40)]).
  assert (B24 : fits 24 (magic c)).
  { split; [exact Fm |]. rewrite Vm, plus_IZR. apply Rabs_le. simpl. lra. }
  destruct (sub_fits 24 (magic c) round_magic ltac:(lia) B24 M24) as [Vk [Fk _]]. fold (whole c) in Vk, Fk.
  assert (Rk : B2R (whole c) = IZR k).
  { rewrite Vk, Vm, plus_IZR. replace (B2R round_magic) with 12582912 by (figures; lra).
    replace (12582912 + IZR k - 12582912) with (IZR k * bpow radix2 0) by (simpl; ring).
    rewrite rnd_exact; [simpl; ring |]. apply format_scaled; lia. }
  (* high and low *)
  destruct (high_exact k Hk N) as [Hf Hb].
  assert (Eh : rnd (IZR k * B2R ln2_high) = IZR k * B2R ln2_high).
  { apply rnd_exact. replace (IZR k * B2R ln2_high) with (IZR (k * 22713) * bpow radix2 (-15))
      by (rewrite mult_IZR; figures; simpl; lra). apply format_scaled; lia. }
  assert (Hb8 : Rabs (B2R (whole c) * B2R ln2_high) <= bpow radix2 8)
    by (rewrite Rk; figures; interval with (i_prec 40)).
  destruct (mul_bounded 8 (whole c) ln2_high ltac:(lia) Fk eq_refl Hb8) as [Vp Bp].
  rewrite Rk, Eh in Vp.
  assert (B8 : fits 8 c) by (split; [exact finite | apply Rabs_le; simpl; lra]).
  destruct (sub_fits 8 c (mul (whole c) ln2_high) ltac:(lia) B8 Bp) as [Vh [Fh _]].
  fold (high c) in Vh, Fh. rewrite Vp, rnd_exact in Vh by exact Hf.
  assert (Lb : Rabs (IZR k * B2R ln2_low) <= bpow radix2 (-12)) by (figures; interval with (i_prec 40)).
  rewrite <- Rk in Lb. destruct (mul_bounded (-12) (whole c) ln2_low ltac:(lia) Fk eq_refl Lb) as [Vl Bl].
  rewrite Rk in Lb.
  fold (low c) in Vl, Bl. rewrite Rk in Vl.
  pose proof (rnd_bpow (-12) _ ltac:(lia) Lb) as El. rewrite <- Vl in El.
  change (-12 - 25)%Z with (- Z.of_nat 37)%Z in El. rewrite bpow_inverse in El.
  set (h := B2R (high c)) in *. set (l := B2R (low c)) in *.
  assert (Hl : Rabs l <= 0.000183).
  { apply Rabs_le_inv in El. set (z := l - IZR k * B2R ln2_low) in *.
    replace l with (IZR k * B2R ln2_low + z) by (unfold z; ring). clearbody z.
    figures. interval with (i_prec 60). }
  set (w := B2R c - IZR k * ln 2) in *.
  (* r *)
  assert (Fits0 : fits 0 (high c) /\ fits 0 (low c)).
  { split; split; [exact Fh | fold h; rewrite Vh; eapply Rle_trans; [exact Hb | simpl; lra]
      | exact (proj1 Bl) | eapply Rle_trans; [exact Hl | simpl; lra]]. }
  destruct Fits0 as [Fh0 Fl0].
  destruct (sub_fits 0 (high c) (low c) ltac:(lia) Fh0 Fl0) as [Vr Br].
  fold (rest c) in Vr, Br. fold h l in Vr.
  assert (HL : Rabs (h - l) <= bpow radix2 (-1)).
  { rewrite Vh. change (bpow radix2 (-1)) with (/ 2). apply Rabs_le_inv in Hb, Hl. apply Rabs_le. lra. }
  pose proof (rnd_bpow (-1) _ ltac:(lia) HL) as Er. rewrite <- Vr in Er.
  change (-1 - 25)%Z with (- Z.of_nat 26)%Z in Er. rewrite bpow_inverse in Er.
  set (r := B2R (rest c)) in *.
  set (dh := h - l - r). set (dl := w - (h - l)).
  assert (Hdh : Rabs dh <= / 2 ^ 26) by (unfold dh; now rewrite Rabs_minus_sym).
  assert (Hdl : Rabs dl <= 1.5e-11).
  { apply Rabs_le_inv in El. set (z := l - IZR k * B2R ln2_low) in *.
    replace dl with (z + IZR k * (B2R ln2_low - (ln 2 - B2R ln2_high)))
      by (unfold dl, z, w; rewrite Vh; ring).
    clearbody z. figures. interval with (i_prec 80). }
  assert (Hw : r + dh + dl = w) by (unfold dh, dl; ring).
  assert (Hr : -0.3466 <= r <= 0.3466).
  { replace r with (w - dh - dl) by lra. apply Rabs_le_inv in N, Hdh, Hdl. lra. }
  (* the polynomial *)
  assert (fits 0 (rest c)) as R0 by (split; [exact (proj1 Br) | fold r; simpl; apply Rabs_le; lra]).
  assert (KK : fits 0 p4 /\ fits 0 p3 /\ fits 1 p2 /\ fits 2 p1 /\ fits 3 p0 /\ fits 6 one)
    by (repeat split; try reflexivity; figures; interval with (i_prec 40)).
  destruct KK as (K4 & K3 & K2 & K1 & K0 & K6).
  destruct (mul_fits 0 0 p4 (rest c) ltac:(lia) K4 R0) as [V1 B1].
  destruct (add_fits 0 (mul p4 (rest c)) p3 ltac:(lia) B1 K3) as [V2 B2].
  destruct (mul_fits 1 0 (add (mul p4 (rest c)) p3) (rest c) ltac:(lia) B2 R0) as [V3 B3].
  set (a3 := mul (add (mul p4 (rest c)) p3) (rest c)) in *.
  destruct (add_fits 1 a3 p2 ltac:(lia) B3 K2) as [V4 B4].
  destruct (mul_fits 2 0 (add a3 p2) (rest c) ltac:(lia) B4 R0) as [V5 B5].
  set (a5 := mul (add a3 p2) (rest c)) in *.
  destruct (add_fits 2 a5 p1 ltac:(lia) B5 K1) as [V6 B6].
  destruct (mul_fits 3 0 (add a5 p1) (rest c) ltac:(lia) B6 R0) as [V7 B7].
  set (a7 := mul (add a5 p1) (rest c)) in *.
  destruct (add_fits 3 a7 p0 ltac:(lia) B7 K0) as [V8 B8'].
  change (add a7 p0) with (poly (rest c)) in *.
  assert (VP : B2R (poly (rest c)) = rounded_poly r).
  { rewrite V8, V7, V6, V5, V4, V3, V2, V1. reflexivity. }
  destruct (mul_fits 4 0 (poly (rest c)) (rest c) ltac:(lia) B8' R0) as [V9 B9].
  destruct (mul_fits 4 0 (mul (poly (rest c)) (rest c)) (rest c) ltac:(lia) B9 R0) as [V10 B10].
  set (a10 := mul (mul (poly (rest c)) (rest c)) (rest c)) in *.
  destruct (sub_fits 4 a10 (low c) ltac:(lia) B10 (fits_more 0 4 _ Fl0 ltac:(lia))) as [V11 B11].
  destruct (add_fits 5 (high c) (sub a10 (low c)) ltac:(lia) (fits_more 0 5 _ Fh0 ltac:(lia)) B11)
    as [V12 B12].
  destruct (add_fits 6 (add (high c) (sub a10 (low c))) one ltac:(lia) B12 K6) as [V13 B13].
  change (add (add (high c) (sub a10 (low c))) one) with (exp_of_rest c) in *.
  assert (VE : B2R (exp_of_rest c) = rounded h l r).
  { rewrite V13, V12, V11, V10, V9, VP, one_is_1. reflexivity. }
  pose proof (close_everywhere r l dh dl Hr Hl Hdh Hdl) as Close.
  replace (r + l + dh) with h in Close by (unfold dh; ring). rewrite Hw, <- VE in Close.
  assert (Size : 0.7 <= B2R (exp_of_rest c) <= 1.5).
  { apply Rabs_le_inv in Close, N. fold w in N.
    assert (0.705 <= exp w <= 1.42) by (split; interval with (i_prec 40)).
    assert (0 <= 1.48 * / 2 ^ 24 * exp w <= 0.001) by (split; interval with (i_prec 40)). lra. }
  exists k. exact (conj Hk (conj W (conj N (conj (proj1 B13) (conj Close Size))))).
Qed.

(* A number and its power of two. *)
Lemma scaled k : (-124 <= k <= 127)%Z -> word (magic c) = (12582912 + k + 149 * 2 ^ 23)%Z ->
  is_finite (exp_of_rest c) = true -> 0.7 <= B2R (exp_of_rest c) <= 1.5 ->
  B2R (exp_between c) = B2R (exp_of_rest c) * bpow radix2 k /\ is_finite (exp_between c) = true.
Proof.
  intros Hk W Fr Size. destruct (power_of_two_is k (magic c) ltac:(lia) W) as [Vq Fq].
  pose proof (@Bmult_correct 24 128 p24 e128 mode_NE (exp_of_rest c) (power_of_two (magic c))) as C.
  rewrite Vq in C.
  assert (G : round radix2 (SpecFloat.fexp 24 128) (round_mode mode_NE)
                (B2R (exp_of_rest c) * bpow radix2 k)
              = B2R (exp_of_rest c) * bpow radix2 k).
  { apply (rnd_exact (B2R (exp_of_rest c) * bpow radix2 k)).
    destruct (float_scaled (exp_of_rest c) 0) as (n & e & V & Hn & He); [exact Fr | |].
    - rewrite Rabs_pos_eq by lra. simpl. lra.
    - rewrite V, Rmult_assoc, <- bpow_plus. apply format_scaled; lia. }
  rewrite G in C. pose proof (bpow_gt_0 radix2 k).
  rewrite Rlt_bool_true in C.
  - destruct C as (V & F & _). split; [exact V |].
    change (is_finite (exp_between c)
            = (is_finite (exp_of_rest c) && is_finite (power_of_two (magic c)))%bool) in F.
    rewrite F, Fq, Fr. reflexivity.
  - rewrite Rabs_pos_eq by nra. apply Rlt_le_trans with (2 * bpow radix2 127); [| right; simpl; lra].
    assert (bpow radix2 k <= bpow radix2 127) by (apply bpow_le; lia). nra.
Qed.
End One.

Theorem exp_error : forall c, is_finite c = true -> -86 <= B2R c <= 88 ->
  is_finite (exp_between c) = true /\
  Rabs (B2R (exp_between c) - exp (B2R c)) <= 1.48 * u * exp (B2R c).
Proof.
  intros c F H. destruct (parts c F ltac:(lra)) as (k & Hk & W & N & Fr & Close & Size).
  set (w := B2R c - IZR k * ln 2) in *.
  assert (Ew : exp (B2R c) = exp w * bpow radix2 k).
  { replace (B2R c) with (w + IZR k * ln 2) by (unfold w; ring). rewrite exp_plus. f_equal.
    rewrite bpow_exp. reflexivity. }
  assert (K : (k <= 127)%Z).
  { assert (L : (k < 128)%Z); [| lia]. apply lt_IZR, Rnot_le_lt. intros L.
    assert (128 * ln 2 <= IZR k * ln 2)
      by (apply Rmult_le_compat_r; [interval with (i_prec 40) | easy]).
    assert (88.7 <= 128 * ln 2) by interval with (i_prec 40). apply Rabs_le_inv in N. unfold w in N. lra. }
  destruct (scaled c k ltac:(lia) W Fr Size) as [Vy Fy]. split; [exact Fy |]. rewrite Vy, Ew.
  rewrite <- Rmult_minus_distr_r, Rabs_mult, (Rabs_pos_eq (bpow _ _)) by apply bpow_ge_0.
  rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply bpow_ge_0 |]. exact Close.
Qed.

(* Up to where k = 128 makes it infinite it is large. *)
Lemma exp_large c : is_finite c = true -> 86 <= B2R c <= 88.73 ->
  exp_between c = B754_infinity false \/ is_finite (exp_between c) = true /\ 2 ^ 100 <= B2R (exp_between c).
Proof.
  intros F H. destruct (parts c F ltac:(lra)) as (k & Hk & W & N & Fr & _ & Size). apply Rabs_le_inv in N.
  destruct (Z.eq_dec k 128) as [-> | K].
  - left. unfold exp_between, power_of_two. rewrite W.
    replace (float_of_word _) with (B754_infinity false : float) by (vm_compute; reflexivity).
    destruct (exp_of_rest c) as [s | s | | s m e B]; try discriminate; [simpl in Size; lra |].
    destruct s; [| reflexivity]. exfalso.
    assert (B2R (B754_finite true m e B) < 0) by (apply F2R_lt_0; easy). lra.
  - right. destruct (scaled c k ltac:(lia) W Fr Size) as [-> Fy]. split; [exact Fy |].
    assert (101 <= k)%Z.
    { assert (L : (100 < k)%Z); [| lia]. apply lt_IZR, Rnot_le_lt. intros L.
      assert (IZR k * ln 2 <= 100 * ln 2)
        by (apply Rmult_le_compat_r; [interval with (i_prec 40) | easy]).
      assert (100 * ln 2 <= 70) by interval with (i_prec 40). lra. }
    apply Rle_trans with (0.7 * bpow radix2 101); [simpl; lra |].
    apply Rmult_le_compat; [lra | apply bpow_ge_0 | lra | now apply bpow_le].
Qed.

(* ---- The exponential of a softmax ---- *)

Definition floor : float := @B754_finite 24 128 true 10878976 (-18) eq_refl. (* -41.5f *)
Definition softmax_exp (x : float) : float := if less x floor then zero else exp_between (larger floor x).

Theorem softmax_exp_error : forall x, is_finite x = true -> B2R x <= 88 ->
  (B2R x < -41.5 -> softmax_exp x = zero) /\
  (-41.5 <= B2R x ->
     is_finite (softmax_exp x) = true /\
     Rabs (B2R (softmax_exp x) - exp (B2R x)) <= 1.48 * u * exp (B2R x)).
Proof.
  intros x F H. assert (V : B2R floor = -41.5) by (unfold floor, B2R, F2R; simpl; lra).
  assert (L : less x floor = match Rcompare (B2R x) (-41.5) with Lt => true | _ => false end)
    by (unfold less; rewrite Bcompare_correct, V by (exact F || reflexivity); reflexivity).
  assert (G : larger floor x = match Rcompare (-41.5) (B2R x) with Gt => floor | _ => x end)
    by (unfold larger; rewrite Bcompare_correct, V by (exact F || reflexivity); now destruct Rcompare).
  unfold softmax_exp. rewrite L, G. split; intros B.
  - now rewrite Rcompare_Lt.
  - destruct (Rcompare_spec (B2R x) (-41.5)); [lra | |];
      (destruct (Rcompare_spec (-41.5) (B2R x)); [| | lra]; apply exp_error; (exact F || lra)).
Qed.

(* ---- The model beside the C ---- *)

(* x = m 2^e, and the word of its exponential. test_vmath.c reads this table and asks the kernel. (The last
   seven are rare: a unit more or less in the last place of log2_e, ln2_low, p4, p3, p2 or p1, or a product of
   the polynomial fused with its sum, gives another word at one of them, while at all others p4 may be off by
   4,000 units.) *)

Definition points : list (Z * Z * Z) := [
  (-10878976, -18, 0x218BE402);
  (-8903479, -19, 0x33350814);
  (-11258999, -50, 0x3F800000);
  (-11629080, -25, 0x3F3504F3);
  (-11629081, -25, 0x3F3504F3);
  (-8388608, -24, 0x3F1B4598);
  (-8388608, -23, 0x3EBC5AB2);
  (-8721810, -23, 0x3EB504F3);
  (-13176795, -22, 0x3D310113);
  (-10485760, -20, 0x383E6BCE);
  (-9085177, -19, 0x3300029C);
  (-15676211, -19, 0x29E8E049);
  (-11629080, -24, 0x3F000000);
  (-8388608, -25, 0x3F475F7D);
  (11534336, -17, 0x7EF882B7);
  (13421773, -27, 0x3F8D763E);
  (8388608, -23, 0x402DF854);
  (-11272192, -17, 0x01739362);
  (-10231860, -18, 0x234E6E99);
  (-8975683, -18, 0x26C26450);
  (-12174193, -19, 0x2EB504F5);
  (-15107878, -18, 0x15E77616);
  (-10856836, -17, 0x03B50516);
  (-10111787, -17, 0x07D008BB);
  (-16460656, -18, 0x122A08F5)
]%Z.

Theorem model_at_points : map (fun '(m, e, _) => word (exp_between (float_of m e))) points = map snd points.
Proof. vm_compute. reflexivity. Qed.
