(* Log.v: the kernels' logarithm in IEEE 754 binary32: how far it is from ln x.

   Of vf_log as vmath.h computes it, each operation rounded to nearest even, u = 2^-24:
   - its polynomial, in exact arithmetic: within 2.4e-9 |s| of ln((1 + s) / (1 - s)) where |s| <= 0.1716;
   - for every float x > 0, the subnormal ones too: the result is finite, and
     |log(x) - ln x| <= 1.72 u |ln x|;
   - at 24 points the model, run, gives the words that test_vmath.c asks of the C. They see the last bit of
     every coefficient but 0.24279078841, of which they see 64 units.
   How: x = m 2^k with m from sqrt(1/2) to sqrt(2), exactly; f = m - 1, exactly; s = f / (2 + f). Where k = 0
   the errors of roundings are proportional to f, so that the bound holds down to the floats beside 1;
   elsewhere they are at most halves of the last place, and where |ln x| < 0.72 the last sum is exact or f
   is small.
   Not covered: 0, negative numbers, infinity and NaN (test_vmath.c asks for log of these), fast mode, which
   fuses products and sums, and that a compiler keeps the operations as written (the points, digests.txt).
   Kernels: vmath.h (vf_log). Tested on floats in test_vmath.c. *)

From Coq Require Import Reals ZArith List Lra Lia.
From Coquelicot Require Import Coquelicot.
From Flocq Require Import Core BinarySingleNaN Plus_error Relative.
From Interval Require Import Tactic.
From Seqmix Require Import Bounds Rounding TileSums Binary32.
Import Over_integers ListNotations.
Open Scope R_scope.

#[local] Existing Instance p24.

(* ---- The kernel, operation by operation ---- *)

Definition least_normal : float := literal 8388608 (-149). (* 1.17549435e-38f *)
Definition two_24 : float := literal 8388608 1.            (* 16777216.0f *)
Definition half : float := literal 8388608 (-24).          (* 0.5f *)
Definition l1 : float := literal 11184810 (-24).           (* 0.66666662693f *)
Definition l2 : float := literal 13422099 (-25).           (* 0.40000972152f *)
Definition l3 : float := literal 9562606 (-25).            (* 0.28498786688f *)
Definition l4 : float := literal 16293414 (-26).           (* 0.24279078841f *)
Definition ln2_upper : float := literal 11628928 (-24).    (* 0.693138123f *)
Definition ln2_rest : float := literal 9959377 (-40).      (* 9.05800061e-6f *)
Definition root_half : Z := 0x3f3504f3.                    (* the word of sqrt(1/2) *)

(* a = m 2^e, m from sqrt(1/2) to sqrt(2) *)
Definition tiny (x : float) : bool := less x least_normal.
Definition normal (x : float) : float := Babs (if tiny x then mul x two_24 else x).
Definition offset (x : float) : Z := word (normal x) - root_half.
Definition exponent (x : float) : Z := offset x / 2 ^ 23 - (if tiny x then 24 else 0).
Definition mantissa (x : float) : float := float_of_word (offset x mod 2 ^ 23 + root_half).
Definition float_of_integer (n : Z) : float := binary_normalize 24 128 p24 e128 mode_NE n 0 false.

(* The logarithm of m 2^k. *)
Definition log_of (m k : float) : float :=
  let f := sub m one in
  let s := div f (add two f) in
  let z := mul s s in
  let r := mul z (add l1 (mul z (add l2 (mul z (add l3 (mul z l4)))))) in
  let h := mul (mul half f) f in
  sub (mul k ln2_upper) (sub (sub h (add (mul s (add h r)) (mul k ln2_rest))) f).
(* Of a positive number. (The word of a normal number less root_half: no overflow in 32 bits.) *)
Definition log (x : float) : float := log_of (mantissa x) (float_of_integer (exponent x)).

Ltac values := cbv [B2R F2R Fnum Fexp cond_Zopp l1 l2 l3 l4 half ln2_upper ln2_rest two one least_normal
  two_24 bpow Z.pow_pos Pos.iter radix2 radix_val Z.mul Pos.mul].

(* ---- The polynomial ---- *)

(* ln(1 + f) = f - f^2/2 + s (f^2/2 + s^2 g(s^2)) but for the polynomial's own error, s = f / (2 + f). *)
Definition g (z : R) : R := B2R l1 + z * (B2R l2 + z * (B2R l3 + z * B2R l4)).

Definition odd_log (c1 c2 c3 c4 s : R) : R :=
  ln (1 + s) - ln (1 - s) - 2 * s - s * (s * s * (c1 + s * s * (c2 + s * s * (c3 + s * s * c4)))).
Lemma odd_log_derivative c1 c2 c3 c4 t : -0.1716 <= t <= 0.1716 ->
  is_derive (odd_log c1 c2 c3 c4) t
    (2 * (t * t) / (1 - t * t) - t * t * (3 * c1 + t * t * (5 * c2 + t * t * (7 * c3 + t * t * (9 * c4))))).
Proof.
  intros Ht. unfold odd_log. auto_derive; [repeat split; try easy; lra |]. field. repeat split; nra.
Qed.

Theorem log_polynomial_error : forall s, Rabs s <= 0.1716 ->
  Rabs (ln (1 + s) - ln (1 - s) - 2 * s - s * (s * s * g (s * s))) <= 2.4e-9 * Rabs s.
Proof.
  intros s Hs. apply Rabs_le_inv in Hs.
  change (Rabs (odd_log (B2R l1) (B2R l2) (B2R l3) (B2R l4) s) <= 2.4e-9 * Rabs s).
  set (e := odd_log (B2R l1) (B2R l2) (B2R l3) (B2R l4)).
  assert (In : forall t, Rmin 0 s <= t <= Rmax 0 s -> -0.1716 <= t <= 0.1716)
    by (intros t; unfold Rmin, Rmax; destruct Rle_dec; lra).
  destruct (MVT_gen e 0 s _ (fun t Ht => odd_log_derivative _ _ _ _ t (In t (conj (Rlt_le _ _ (proj1 Ht))
    (Rlt_le _ _ (proj2 Ht)))))) as (t & Ht & E).
  - intros t Ht. apply continuity_pt_filterlim. apply (ex_derive_continuous e).
    eexists. apply odd_log_derivative. now apply In.
  - replace (e s) with (e s - e 0) by (unfold e, odd_log; rewrite Rplus_0_r, Rminus_0_r, ln_1; ring).
    rewrite E, Rminus_0_r, Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos |].
    specialize (In t Ht). values. interval with (i_taylor t, i_bisect t, i_prec 60).
Qed.

Definition rest_of (f : R) : R := 1 / (2 + f).
(* ln(1 + f) is close to f times this. *)
Definition slope (f : R) : R :=
  1 - f * (1 / 2 - f * rest_of f * (1 / 2 + rest_of f * rest_of f * g (f * rest_of f * (f * rest_of f)))).

Lemma ln_close f : -0.2929 <= f <= 0.41422 -> Rabs (ln (1 + f) - f * slope f) <= 2.4e-9 * Rabs f * rest_of f.
Proof.
  intros Hf. set (s := f * rest_of f).
  assert (Hs : Rabs s <= 0.1716).
  { apply Rabs_le. unfold s, rest_of. split.
    - apply Rmult_le_reg_r with (2 + f); [lra |]. field_simplify; lra.
    - apply Rmult_le_reg_r with (2 + f); [lra |]. field_simplify; lra. }
  pose proof (log_polynomial_error s Hs) as E. apply Rabs_le_inv in Hs.
  assert (L : ln (1 + f) = ln (1 + s) - ln (1 - s)).
  { rewrite <- ln_div by lra. f_equal. unfold s, rest_of. field. lra. }
  rewrite L. replace (f * slope f) with (2 * s + s * (s * s * g (s * s))).
  - replace (2.4e-9 * Rabs f * rest_of f) with (2.4e-9 * Rabs s).
    { replace (ln (1 + s) - ln (1 - s) - (2 * s + s * (s * s * g (s * s))))
        with (ln (1 + s) - ln (1 - s) - 2 * s - s * (s * s * g (s * s))) by ring. exact E. }
    unfold s. rewrite Rabs_mult, (Rabs_pos_eq (rest_of f)); [ring |].
    unfold rest_of. left. apply Rdiv_lt_0_compat; lra.
  - unfold slope. fold s. generalize (g (s * s)). intros G. unfold s, rest_of. field. lra.
Qed.

Definition rounded_g (z : R) : R :=
  rnd (B2R l1 + rnd (z * rnd (B2R l2 + rnd (z * rnd (B2R l3 + rnd (z * B2R l4)))))).

Lemma rounded_g_close z : 0 <= z <= 0.0296 -> Rabs (rounded_g z - g z) <= 1.1 * / 2 ^ 25.
Proof.
  intros Hz. unfold rounded_g, g. values. rounding off1 11%nat. rounding off2 6%nat. rounding off3 10%nat.
  rounding off4 4%nat. rounding off5 8%nat. rounding off6 2%nat.
  match goal with |- Rabs ?x <= _ => replace x with
    (z * (z * (off1 + off2) + off3 + off4) + off5 + off6) by field end.
  interval with (i_prec 40).
Qed.

(* ---- s, z, r and h ---- *)

Section Parts.
Variable F : Z.
Hypothesis small : (-4913933 <= F < 6949350)%Z.
Let f : R := IZR F * bpow radix2 (-24).
Let t : R := rnd (2 + f).
Let s : R := rnd (f / t).
Let z : R := rnd (s * s).
Let r : R := rnd (z * rounded_g z).
Let h : R := rnd (f / 2 * f).

Lemma f_range : -0.2929 <= f <= 0.41422.
Proof.
  assert (-4913933 <= IZR F <= 6949350) by (split; apply IZR_le; lia).
  unfold f. change (bpow radix2 (-24)) with (/ 16777216). lra.
Qed.

Lemma f_format : generic_format radix2 (FLT_exp (-149) 24) f.
Proof. apply format_scaled; lia. Qed.

Lemma parts : exists ew e1 er,
  h = f * f / 2 * (1 + e1) /\ -/ 2 ^ 24 <= e1 <= / 2 ^ 24 /\
  rnd (s * rnd (h + r)) = f * rest_of f * (1 + ew)
    * (f * f / 2 * (1 + e1)
       + f * rest_of f * (f * rest_of f) * g (f * rest_of f * (f * rest_of f)) * (1 + er)) /\
  -4.01 * / 2 ^ 24 <= ew <= 4.01 * / 2 ^ 24 /\ - 7.1 * / 2 ^ 24 <= er <= 7.1 * / 2 ^ 24.
Proof.
  pose proof f_range as Hf.
  destruct (Z.eq_dec F 0) as [F0 | F0].
  { exists 0, 0, 0. assert (f0 : f = 0) by (unfold f; rewrite F0; ring).
    assert (s0 : s = 0) by (unfold s; rewrite f0; unfold Rdiv; rewrite Rmult_0_l; apply rnd_0).
    split; [unfold h; rewrite f0; unfold Rdiv; rewrite !Rmult_0_l; apply rnd_0 |].
    rewrite s0, f0, Rmult_0_l, rnd_0. split; [lra |]. split; [ring |]. lra. }
  assert (Least : bpow radix2 (-24) <= Rabs f).
  { unfold f. rewrite Rabs_mult, (Rabs_pos_eq (bpow _ _)) by apply bpow_ge_0.
    rewrite <- (Rmult_1_l (bpow _ _)) at 1. apply Rmult_le_compat_r; [apply bpow_ge_0 |].
    rewrite <- abs_IZR. apply IZR_le. lia. }
  clearbody f.
  destruct (rnd_least 0 (2 + f)) as (d2 & E2 & H2 & _); [lia | simpl; rewrite Rabs_pos_eq; lra |].
  fold t in E2. fold t in s. clearbody t.
  assert (T : 1.7 <= t <= 2.4144) by (rewrite E2; split; interval with (i_prec 40)).
  destruct (rnd_least (-26) (f / t)) as (d3 & E3 & H3 & L3); [lia | |].
  { unfold Rdiv. rewrite Rabs_mult. replace (-26)%Z with (-24 + -2)%Z by lia. rewrite bpow_plus.
    apply Rmult_le_compat; try apply bpow_ge_0; [exact Least |].
    rewrite Rabs_pos_eq by (left; apply Rinv_0_lt_compat; lra).
    change (bpow radix2 (-2)) with (/ 4). apply Rinv_le_contravar; lra. }
  fold s in E3, L3. clearbody s.
  set (es := (1 + d3) / (1 + d2) - 1). assert (Hs : -2.001 * / 2 ^ 24 <= es <= 2.001 * / 2 ^ 24).
  { unfold es. replace ((1 + d3) / (1 + d2) - 1) with ((d3 - d2) / (1 + d2)) by (field; lra).
    split; interval with (i_prec 40). }
  assert (Es : s = f * rest_of f * (1 + es)).
  { rewrite E3, E2. unfold es, rest_of. field. lra. }
  clearbody es. set (s0 := f * rest_of f) in *.
  assert (S0 : -0.17158 <= s0 <= 0.17158).
  { unfold s0, rest_of. split; apply Rmult_le_reg_r with (2 + f); try lra; field_simplify; lra. }
  destruct (rnd_least (-52) (s * s)) as (d4 & E4 & H4 & L4); [lia | |].
  { rewrite Rabs_mult. replace (-52)%Z with (-26 + -26)%Z by lia. rewrite bpow_plus.
    apply Rmult_le_compat; try apply bpow_ge_0; exact L3. }
  fold z in E4, L4. clearbody z.
  assert (Z : 0 <= z <= 0.0296).
  { rewrite E4, Es. replace (s0 * (1 + es) * (s0 * (1 + es)) * (1 + d4))
      with (s0 ^ 2 * (1 + es) ^ 2 * (1 + d4)) by ring. split; interval with (i_prec 40). }
  pose proof (rounded_g_close z Z) as G. set (gz := rounded_g z) in *.
  apply Rabs_le_inv in G. set (eg := gz - g z) in *.
  assert (Gz : gz = g z + eg) by (unfold eg; ring). unfold r. fold gz. clear r. clearbody eg gz.
  assert (Gb : 0.66 <= gz <= 0.69) by (rewrite Gz; unfold g; values; split; interval with (i_prec 40)).
  set (r := rnd (z * gz)) in *.
  destruct (rnd_least (-53) (z * gz)) as (d5 & E5 & H5 & L5); [lia | |].
  { rewrite Rabs_mult. replace (-53)%Z with (-52 + -1)%Z by lia. rewrite bpow_plus.
    apply Rmult_le_compat; try apply bpow_ge_0; [exact L4 |].
    rewrite Rabs_pos_eq by lra. simpl. lra. }
  fold r in E5, L5. clearbody r. rewrite Rabs_pos_eq in L5.
  2: { rewrite E5. apply Rmult_le_pos; [apply Rmult_le_pos; lra | lra]. }
  destruct (rnd_least (-49) (f / 2 * f)) as (e1 & E1 & H1 & L1); [lia | |].
  { replace (f / 2 * f) with (f * f * / 2) by field. rewrite !Rabs_mult, (Rabs_pos_eq (/ 2)) by lra.
    replace (-49)%Z with (-24 + -24 + -1)%Z by lia. rewrite !bpow_plus.
    repeat apply Rmult_le_compat; try apply bpow_ge_0; try exact Least; [| simpl; lra].
    apply Rmult_le_pos; apply bpow_ge_0. }
  fold h in E1, L1. clearbody h. rewrite Rabs_pos_eq in L1.
  2: { rewrite E1. apply Rmult_le_pos; nra. }
  destruct (rnd_least (-49) (h + r)) as (d6 & E6 & H6 & L6); [lia | |].
  { pose proof (bpow_ge_0 radix2 (-53)). pose proof (bpow_ge_0 radix2 (-49)). rewrite Rabs_pos_eq; lra. }
  destruct (rnd_least (-75) (s * rnd (h + r))) as (d7 & E7 & H7 & _); [lia | |].
  { rewrite Rabs_mult. replace (-75)%Z with (-26 + -49)%Z by lia. rewrite bpow_plus.
    apply Rmult_le_compat; try apply bpow_ge_0; (exact L3 || exact L6). }
  set (ez := (1 + es) ^ 2 * (1 + d4) - 1).
  assert (Hz : -5.01 * / 2 ^ 24 <= ez <= 5.01 * / 2 ^ 24).
  { unfold ez. replace ((1 + es) ^ 2 * (1 + d4) - 1) with (2 * es + es ^ 2 + d4 * (1 + es) ^ 2) by ring.
    split; interval with (i_prec 40). }
  assert (Ez : z = s0 * s0 * (1 + ez)) by (rewrite E4, Es; unfold ez; ring).
  clearbody ez. set (g0 := g (s0 * s0)).
  assert (G0 : 0.66 <= g0) by (unfold g0, g; values; replace (s0 * s0) with (s0 ^ 2) by ring;
    interval with (i_prec 40)).
  set (y := s0 * s0 * ez * (B2R l2 + B2R l3 * (s0 ^ 2 * (2 + ez))
    + B2R l4 * (s0 ^ 4 * (1 + (1 + ez) + (1 + ez) ^ 2))) + eg).
  assert (Y : gz = g0 + y) by (rewrite Gz, Ez; unfold y, g0, g; ring).
  assert (Hy : -0.65 * / 2 ^ 24 <= y <= 0.65 * / 2 ^ 24).
  { unfold y. values. replace (s0 * s0 * ez) with (s0 ^ 2 * ez) by ring. split; interval with (i_prec 40). }
  clearbody y. set (er := (1 + ez) * (1 + y / g0) * (1 + d5) - 1).
  exists ((1 + es) * (1 + d6) * (1 + d7) - 1), e1, er. fold s0. fold g0.
  split; [rewrite E1; field |]. split; [exact H1 |].
  split.
  { rewrite E7, E6, E5, E1, Es, Ez, Y. unfold er. field. lra. }
  split.
  { replace ((1 + es) * (1 + d6) * (1 + d7) - 1) with (es + (1 + es) * (d6 + d7 + d6 * d7)) by ring.
    split; interval with (i_prec 40). }
  assert (Hq : -1 * / 2 ^ 24 <= y / g0 <= 1 * / 2 ^ 24).
  { assert (Yg : y / g0 * g0 = y) by (field; lra).
    split; apply Rmult_le_reg_r with g0; try lra; rewrite Yg; lra. }
  unfold er. set (q := y / g0) in *. clearbody q.
  replace ((1 + ez) * (1 + q) * (1 + d5) - 1) with (ez + (1 + ez) * (q + d5 + q * d5)) by ring.
  split; interval with (i_prec 40).
Qed.
End Parts.

(* ---- The result ---- *)

(* What the roundings leave of f times the slope's error. *)
Definition off (f ew e1 er : R) : R :=
  - f * (e1 / 2 * (1 - f * rest_of f) - f * rest_of f * (ew * (1 / 2 * (1 + e1)
      + rest_of f ^ 2 * g (f ^ 2 * rest_of f ^ 2) * (1 + er))
    + rest_of f ^ 2 * g (f ^ 2 * rest_of f ^ 2) * er)).

Lemma near_one f ew e1 er eg ev : -0.2929 <= f <= 0.41422 ->
  -/ 2 ^ 24 <= e1 <= / 2 ^ 24 -> -4.01 * / 2 ^ 24 <= ew <= 4.01 * / 2 ^ 24 ->
  - 7.1 * / 2 ^ 24 <= er <= 7.1 * / 2 ^ 24 -> -/ 2 ^ 24 <= eg <= / 2 ^ 24 -> -/ 2 ^ 24 <= ev <= / 2 ^ 24 ->
  Rabs (ev * (1 - f * (1 / 2 * (1 + e1) - f * rest_of f * (1 + ew) * (1 / 2 * (1 + e1)
     + rest_of f ^ 2 * g (f ^ 2 * rest_of f ^ 2) * (1 + er))) * (1 + eg))
   - f * eg * (1 / 2 * (1 + e1) - f * rest_of f * (1 + ew) * (1 / 2 * (1 + e1)
     + rest_of f ^ 2 * g (f ^ 2 * rest_of f ^ 2) * (1 + er))) + off f ew e1 er)
  + 2.41e-9 * rest_of f - 1.72 * / 2 ^ 24 * (1 - f * (1 / 2 - f * rest_of f * (1 / 2 + rest_of f ^ 2
     * g (f ^ 2 * rest_of f ^ 2)))) <= 0.
Proof.
  intros. unfold off, rest_of, g. values. interval with (i_bisect f, i_prec 40).
Qed.

Lemma off_all f ew e1 er : -0.2929 <= f <= 0.41422 ->
  -/ 2 ^ 24 <= e1 <= / 2 ^ 24 -> -4.01 * / 2 ^ 24 <= ew <= 4.01 * / 2 ^ 24 ->
  - 7.1 * / 2 ^ 24 <= er <= 7.1 * / 2 ^ 24 -> Rabs (f * off f ew e1 er) <= 0.175 * / 2 ^ 24.
Proof.
  intros. unfold off, rest_of, g. values. apply Rminus_le. interval with (i_bisect f, i_prec 40).
Qed.
Lemma off_middle f ew e1 er : -0.2215 <= f <= 0.2845 ->
  -/ 2 ^ 24 <= e1 <= / 2 ^ 24 -> -4.01 * / 2 ^ 24 <= ew <= 4.01 * / 2 ^ 24 ->
  - 7.1 * / 2 ^ 24 <= er <= 7.1 * / 2 ^ 24 -> Rabs (f * off f ew e1 er) <= 0.08 * / 2 ^ 24.
Proof.
  intros. unfold off, rest_of, g. values. apply Rminus_le. interval with (i_bisect f, i_prec 40).
Qed.

Lemma multiple_of_last V : generic_format radix2 (FLT_exp (-149) 24) V -> / 4 <= Rabs V ->
  exists n, V = IZR n * bpow radix2 (-25).
Proof.
  intros Fv Hv. set (e := cexp radix2 (FLT_exp (-149) 24) V).
  set (n := Ztrunc (scaled_mantissa radix2 (FLT_exp (-149) 24) V)).
  assert (E : V = IZR n * bpow radix2 e) by exact Fv.
  assert (-25 <= e)%Z.
  { unfold e, cexp, FLT_exp. assert (-1 <= mag radix2 V)%Z; [| lia].
    apply mag_ge_bpow. change (bpow radix2 (-1 - 1)) with (/ 4). exact Hv. }
  exists (n * 2 ^ (e + 25))%Z. rewrite mult_IZR, (power_IZR (e + 25)) by lia.
  rewrite E at 1. rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Lemma exact_difference V k : generic_format radix2 (FLT_exp (-149) 24) V -> / 4 <= Rabs V ->
  (k = 1 \/ k = -1)%Z -> Rabs (IZR k * B2R ln2_upper - V) < / 2 ->
  rnd (IZR k * B2R ln2_upper - V) = IZR k * B2R ln2_upper - V.
Proof.
  intros Fv Hv Hk B. destruct (multiple_of_last V Fv Hv) as (n & E). apply rnd_exact.
  assert (D : IZR k * B2R ln2_upper - V = IZR (k * 23257856 - n) * bpow radix2 (-25)).
  { rewrite E, minus_IZR, mult_IZR. change (bpow radix2 (-25)) with (/ 33554432). values. field. }
  rewrite D in *. apply format_scaled; [| lia].
  apply lt_IZR. rewrite abs_IZR. rewrite Rabs_mult, (Rabs_pos_eq (bpow _ _)) in B by apply bpow_ge_0.
  change (bpow radix2 (-25)) with (/ 33554432) in B. change (IZR (2 ^ 24)) with 16777216. lra.
Qed.

Section Result.
Variables f H W ew e1 er : R.
Notation float_format := (generic_format radix2 (FLT_exp (-149) 24)).
Hypotheses (Ff : float_format f) (FH : float_format H) (FW : float_format W) (Hf : -0.2929 <= f <= 0.41422)
  (He1 : -/ 2 ^ 24 <= e1 <= / 2 ^ 24) (Hew : -4.01 * / 2 ^ 24 <= ew <= 4.01 * / 2 ^ 24)
  (Her : - 7.1 * / 2 ^ 24 <= er <= 7.1 * / 2 ^ 24) (EH : H = f * f / 2 * (1 + e1))
  (EW : W = f * rest_of f * (1 + ew)
    * (f * f / 2 * (1 + e1)
       + f * rest_of f * (f * rest_of f) * g (f * rest_of f * (f * rest_of f)) * (1 + er))).

Lemma rest_positive : 0 < rest_of f.
Proof. unfold rest_of. apply Rdiv_lt_0_compat; lra. Qed.

Lemma near_result : Rabs (- rnd (rnd (H - W) - f) - ln (1 + f)) <= 1.72 * u * Rabs (ln (1 + f)).
Proof.
  destruct (rnd_minus H W FH FW) as (eg & Eg & Hg).
  destruct (rnd_minus (rnd (H - W)) f (format_rnd _) Ff) as (ev & Ev & Hv).
  pose proof (near_one f ew e1 er eg ev Hf He1 Hew Her Hg Hv) as K.
  pose proof (ln_close f Hf) as L. pose proof rest_positive as R0. rewrite Ev, Eg, EH, EW. unfold slope in L.
  replace (f * rest_of f * (f * rest_of f)) with (f ^ 2 * rest_of f ^ 2) in * by ring.
  unfold off in K. set (G := g (f ^ 2 * rest_of f ^ 2)) in *. set (q := rest_of f) in *.
  match type of K with Rabs ?x + _ - 1.72 * / 2 ^ 24 * ?y <= 0 => set (Q := x) in *; set (Y := y) in * end.
  replace (f * (1 - f * (1 / 2 - f * q * (1 / 2 + q * q * G)))) with (f * Y) in L by (unfold Y; ring).
  set (E := ln (1 + f) - f * Y) in *.
  replace (- ((((f * f / 2 * (1 + e1)
      - f * q * (1 + ew) * (f * f / 2 * (1 + e1) + f ^ 2 * q ^ 2 * G * (1 + er))) * (1 + eg)) - f) * (1 + ev))
    - ln (1 + f)) with (f * Q - E) by (unfold E, Q, Y; field).
  assert (LN : ln (1 + f) = f * Y + E) by (unfold E; ring). rewrite LN.
  clearbody E Q Y q. clear LN. unfold u. pose proof (Rabs_pos Q). pose proof (Rabs_pos f).
  assert (Y0 : 0 <= Y) by nra.
  assert (A1 : Rabs (f * Q - E) <= Rabs f * Rabs Q + Rabs E).
  { unfold Rminus. eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_Ropp, Rabs_mult. lra. }
  assert (A2 : Rabs f * Y - Rabs E <= Rabs (f * Y + E)).
  { replace (Rabs f * Y) with (Rabs (f * Y + E + - E))
      by (replace (f * Y + E + - E) with (f * Y) by ring; rewrite Rabs_mult, (Rabs_pos_eq Y); easy).
    pose proof (Rabs_triang (f * Y + E) (- E)) as T. rewrite Rabs_Ropp in T. lra. }
  assert (A3 : Rabs f * (Rabs Q + 2.41e-9 * q - 1.72 * / 2 ^ 24 * Y) <= 0) by nra.
  assert (A4 : 0 <= Rabs f * q) by (apply Rmult_le_pos; lra).
  assert (A5 : 1.72 * / 2 ^ 24 * (Rabs f * Y - Rabs E) <= 1.72 * / 2 ^ 24 * Rabs (f * Y + E))
    by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

Variable k : Z.
Hypotheses (Hk : (-150 <= k <= 150)%Z) (Nk : (k <> 0)%Z).
Let c : R := IZR k * B2R ln2_upper.
Hypothesis Fc : float_format c.
Let D : R := rnd (H - rnd (W + rnd (IZR k * B2R ln2_rest))).
Let V : R := rnd (D - f).

Lemma far_result :
  Rabs (rnd (c - V) - (IZR k * ln 2 + ln (1 + f))) <= 1.72 * u * Rabs (IZR k * ln 2 + ln (1 + f)).
Proof.
  assert (KR : -150 <= IZR k <= 150) by (split; apply IZR_le; lia).
  pose proof (ln_close f Hf) as L. pose proof rest_positive as R0.
  pose proof (off_all f ew e1 er Hf He1 Hew Her) as O. pose proof (off_middle f ew e1 er) as OM.
  assert (HW : Rabs H <= 0.0859 /\ Rabs W <= 0.019 /\ -0.0002 <= H - W).
  { replace (H - W) with (f ^ 2 * (1 / 2 * (1 + e1) - f * rest_of f * (1 + ew) * (1 / 2 * (1 + e1)
      + rest_of f ^ 2 * g (f ^ 2 * rest_of f ^ 2) * (1 + er)))).
    2: { rewrite EH, EW. replace (f * rest_of f * (f * rest_of f)) with (f ^ 2 * rest_of f ^ 2) by ring.
         field. }
    rewrite EH, EW. replace (f * rest_of f * (f * rest_of f)) with (f ^ 2 * rest_of f ^ 2) by ring.
    unfold rest_of, g. values. repeat split; apply Rminus_le; interval with (i_bisect f, i_prec 40). }
  destruct HW as (H1 & W1 & HW0).
  assert (KL : Rabs (IZR k * B2R ln2_rest) <= / 2 ^ 9)
    by (values; set (K := IZR k) in *; clearbody K; interval with (i_prec 40)).
  destruct (rnd_close 9 34 (IZR k * B2R ln2_rest) ltac:(lia) eq_refl KL) as (x6 & E6 & B6).
  assert (C9 : / 2 ^ 9 = 1 / 512) by lra. rewrite C9 in KL. apply Rabs_le_inv in KL, H1, W1, B6.
  assert (KW : Rabs (W + rnd (IZR k * B2R ln2_rest)) <= / 2 ^ 5) by (rewrite E6; apply Rabs_le; lra).
  destruct (rnd_close 5 30 _ ltac:(lia) eq_refl KW) as (x7 & E7 & B7).
  assert (KD : Rabs (H - rnd (W + rnd (IZR k * B2R ln2_rest))) <= / 2 ^ 3)
    by (rewrite E7, E6; apply Rabs_le_inv in B7; apply Rabs_le; lra).
  destruct (rnd_close 3 28 _ ltac:(lia) eq_refl KD) as (x8 & E8 & B8). fold D in E8.
  apply Rabs_le_inv in B7, B8.
  assert (KV : Rabs (D - f) <= / 2 ^ 1) by (rewrite E8, E7, E6; apply Rabs_le; lra).
  destruct (rnd_close 1 26 _ ltac:(lia) eq_refl KV) as (x9 & E9 & B9). fold V in E9.
  assert (B9' : Rabs (D - f) <= / 4 -> Rabs x9 <= / 2 ^ 27).
  { intros Q. assert (Q' : Rabs (D - f) <= / 2 ^ 2) by lra.
    destruct (rnd_close 2 27 _ ltac:(lia) eq_refl Q') as (x9' & E9' & B9').
    fold V in E9'. replace x9 with x9' by lra. exact B9'. }
  set (x := f * off f ew e1 er) in *. set (E := ln (1 + f) - f * slope f) in *.
  set (l := ln (1 + f)) in *. set (cc := IZR k * (B2R ln2_upper + B2R ln2_rest - ln 2)).
  assert (Hc : -2e-10 <= cc <= 2e-10).
  { unfold cc. set (K := IZR k) in *. clearbody K. values. split; interval with (i_prec 80). }
  assert (Dv : D - f = - l + E - x - IZR k * B2R ln2_rest - x6 - x7 + x8).
  { rewrite E8, E7, E6, EH, EW. unfold E, x, off, slope.
    replace (f * rest_of f * (f * rest_of f)) with (f ^ 2 * rest_of f ^ 2) by ring. fold l. field. }
  assert (Total : c - V - (IZR k * ln 2 + l) = cc - E + x + x6 + x7 - x8 - x9).
  { rewrite E9, Dv. unfold c, cc. ring. }
  assert (EB : Rabs E <= 4.2e-10).
  { eapply Rle_trans; [exact L |]. assert (Rabs f <= 0.4143) by (apply Rabs_le; lra).
    assert (rest_of f <= 0.5859).
    { unfold rest_of. apply Rmult_le_reg_r with (2 + f); [lra |]. field_simplify; lra. }
    pose proof (Rabs_pos f). assert (Rabs f * rest_of f <= 0.4143 * 0.4143); [| lra].
    destruct (Rle_lt_dec f 0).
    - rewrite Rabs_left1 by lra. unfold rest_of.
      apply Rmult_le_reg_r with (2 + f); [lra |]. field_simplify; lra.
    - rewrite Rabs_pos_eq by lra. unfold rest_of.
      apply Rmult_le_reg_r with (2 + f); [lra |]. field_simplify; lra. }
  assert (LB : -0.34660 <= l <= 0.34659).
  { unfold l. split; interval with (i_prec 40). }
  assert (L2 : 0.69314 <= ln 2 <= 0.69315) by (split; interval with (i_prec 40)).
  apply Rabs_le_inv in EB, O, B9.
  set (y := IZR k * ln 2 + l) in *.
  assert (M : Rabs (c - V - y) <= 0.515 * / 2 ^ 24) by (rewrite Total; apply Rabs_le; lra).
  assert (Large : forall b, 0 <= b -> Rabs (c - V - y) <= b * / 2 ^ 24 -> b * 1.001 <= 0.72 * Rabs y ->
                  Rabs (rnd (c - V) - y) <= 1.72 * u * Rabs y).
  { intros b b0 Hb By. destruct (rnd_minus c V Fc (format_rnd _)) as (d & Ed & Hd). rewrite Ed.
    replace ((c - V) * (1 + d) - y) with ((c - V - y) * (1 + d) + y * d) by ring.
    eapply Rle_trans; [apply Rabs_triang |]. rewrite !Rabs_mult.
    assert (A1 : Rabs d <= / 2 ^ 24) by (apply Rabs_le; lra).
    assert (A2 : Rabs (1 + d) <= 1.001) by (apply Rabs_le; lra).
    assert (A3 : Rabs y * Rabs d <= Rabs y * / 2 ^ 24)
      by (apply Rmult_le_compat_l; [apply Rabs_pos | exact A1]).
    assert (A4 : Rabs (c - V - y) * Rabs (1 + d) <= b * / 2 ^ 24 * 1.001)
      by (apply Rmult_le_compat; try apply Rabs_pos; easy).
    unfold u. lra. }
  destruct (Rle_lt_dec 0.72 (Rabs y)) as [Y | Y].
  { apply (Large 0.515); [lra | exact M | lra]. }
  assert (K1 : (k = 1 \/ k = -1)%Z).
  { apply Rabs_lt_inv in Y. unfold y in Y.
    assert (k < 2)%Z.
    { apply lt_IZR, Rnot_le_lt. intros N. apply (Rmult_le_compat_r (ln 2)) in N; lra. }
    assert (-2 < k)%Z; [| lia].
    apply lt_IZR, Rnot_le_lt. intros N. apply (Rmult_le_compat_r (ln 2)) in N; lra. }
  destruct (Rle_lt_dec (Rabs (D - f)) (/ 4)) as [Q | Q].
  - specialize (B9' Q). apply Rabs_le_inv in Q, B9'. rewrite Dv in Q.
    assert (KS : -0.00001 <= IZR k * B2R ln2_rest <= 0.00001)
      by (destruct K1 as [-> | ->]; values; lra).
    assert (LQ : -0.25002 <= l <= 0.25002) by lra.
    assert (FX : 1 + f = exp l) by (unfold l; rewrite exp_ln; lra).
    assert (FQ : -0.2215 <= f <= 0.2845).
    { clear - LQ FX. clearbody l.
      assert (0.7786 <= exp l <= 1.2841) by (split; interval with (i_prec 40)). lra. }
    specialize (OM FQ He1 Hew Her). fold x in OM. apply Rabs_le_inv in OM.
    apply (Large 0.305); [lra | rewrite Total; apply Rabs_le; lra |].
    assert (0.443 <= Rabs y); [| lra]. unfold y.
    destruct K1 as [-> | ->]; [rewrite Rabs_pos_eq; lra | rewrite Rabs_left1; lra].
  - assert (VQ : / 4 <= Rabs V).
    { apply abs_round_ge_generic; [now apply FLT_exp_valid | apply valid_rnd_N | | lra].
      change (/ 4) with (bpow radix2 (-2)). apply generic_format_bpow. unfold FLT_exp. lia. }
    assert (KS : -0.00001 <= IZR k * B2R ln2_rest <= 0.00001)
      by (destruct K1 as [-> | ->]; values; lra).
    assert (X : rnd (c - V) = c - V).
    { apply exact_difference; [apply format_rnd | exact VQ | exact K1 |]. fold c.
      apply Rabs_lt_inv in Y. unfold y in Y, Total.
      replace (c - V) with (IZR k * ln 2 + l + (cc - E + x + x6 + x7 - x8 - x9)) by lra.
      assert (S : l < -0.249 /\ IZR k = 1 \/ 0.249 < l /\ IZR k = -1).
      { destruct K1 as [-> | ->]; [left | right]; (split; [| easy]).
        - assert (l < 0.03) by lra. apply Rnot_le_lt. intros N. apply Rlt_not_le in Q. apply Q.
          rewrite Dv. apply Rabs_le. lra.
        - assert (-0.03 < l) by lra. apply Rnot_le_lt. intros N. apply Rlt_not_le in Q. apply Q.
          rewrite Dv. apply Rabs_le. lra. }
      apply Rabs_def1; destruct S as [[S ->] | [S ->]]; lra. }
    rewrite X. eapply Rle_trans; [exact M |]. unfold u.
    assert (0.3465 <= Rabs y); [| lra]. unfold y.
    destruct K1 as [-> | ->]; [rewrite Rabs_pos_eq; lra | rewrite Rabs_left1; lra].
Qed.
End Result.

(* ---- The mantissa and the exponent ---- *)

Lemma normal_form (a : float) : is_finite a = true -> bpow radix2 (-126) <= B2R a ->
  exists m e, B2R a = IZR m * bpow radix2 e /\ (2 ^ 23 <= m < 2 ^ 24)%Z /\ (-149 <= e <= 104)%Z /\
    word a = (m + (e + 149) * 2 ^ 23)%Z.
Proof.
  intros F H. pose proof (bpow_gt_0 radix2 (-126)) as P.
  destruct a as [s | s | | s m e B]; try discriminate; [simpl in H; lra |].
  destruct s; [exfalso; assert (B2R (B754_finite true m e B) < 0) by (apply F2R_lt_0; easy); lra |].
  exists (Z.pos m), e. split; [reflexivity |].
  pose proof B as B'. unfold SpecFloat.bounded in B'. apply andb_prop in B' as [Bc Be].
  apply Zle_bool_imp_le in Be. change (128 - 24)%Z with 104%Z in Be.
  assert (Hc : e = FLT_exp (-149) 24 (mag radix2 (B2R (B754_finite false m e B))))
    by exact (canonical_canonical_mantissa 24 128 false m e Bc).
  assert (M : (-125 <= mag radix2 (B2R (B754_finite false m e B)))%Z).
  { apply mag_ge_bpow. rewrite Rabs_pos_eq by lra. exact H. }
  assert (He : (mag radix2 (B2R (B754_finite false m e B)) = e + 24 :> Z)%Z).
  { revert Hc M. generalize (mag radix2 (B2R (B754_finite false m e B))). intros [n Hn]. simpl.
    unfold FLT_exp. lia. }
  assert (D : Digits.Zdigits radix2 (Z.pos m) = 24%Z).
  { pose proof (mag_F2R_Zdigits radix2 (Z.pos m) e ltac:(easy)) as Q.
    change (F2R (Float radix2 (Z.pos m) e)) with (B2R (B754_finite false m e B)) in Q. lia. }
  pose proof (Digits.Zdigits_correct radix2 (Z.pos m)) as Q. rewrite D in Q.
  change (Z.abs (Z.pos m)) with (Z.pos m) in Q.
  change (radix2 ^ (24 - 1))%Z with (2 ^ 23)%Z in Q. change (radix2 ^ 24)%Z with (2 ^ 24)%Z in Q.
  split; [exact Q |]. split; [lia | reflexivity].
Qed.

Lemma float_of_word_is m e : (2 ^ 23 <= m < 2 ^ 24)%Z -> (1 <= e <= 200)%Z ->
  B2R (float_of_word (m - 2 ^ 23 + e * 2 ^ 23)) = IZR m * bpow radix2 (e - 150) /\
  is_finite (float_of_word (m - 2 ^ 23 + e * 2 ^ 23)) = true.
Proof.
  intros Hm He. unfold float_of_word.
  rewrite Z_mod_plus_full, Z_div_plus_full, Z.mod_small, Z.div_small by lia.
  replace (m - 2 ^ 23 + 2 ^ 23)%Z with m by lia. rewrite Z.add_0_l.
  pose proof (binary_normalize_correct 24 128 p24 e128 mode_NE m (e - 150) false) as C.
  set (z := binary_normalize _ _ _ _ _ _ _ _) in *. clearbody z. cbv zeta in C.
  change (F2R (Float radix2 m (e - 150))) with (IZR m * bpow radix2 (e - 150)) in C.
  assert (G : round radix2 (SpecFloat.fexp 24 128) (round_mode mode_NE) (IZR m * bpow radix2 (e - 150))
              = IZR m * bpow radix2 (e - 150)) by (apply (rnd_exact _), format_scaled; lia).
  rewrite G, Rlt_bool_true in C; [destruct C as (X & Y & _); now split |].
  rewrite Rabs_mult, (Rabs_pos_eq (bpow _ _)), <- abs_IZR by apply bpow_ge_0.
  apply Rlt_le_trans with (bpow radix2 24 * bpow radix2 (e - 150)).
  - apply Rmult_lt_compat_r; [apply bpow_gt_0 |]. rewrite <- power_IZR by lia. apply IZR_lt. lia.
  - rewrite <- bpow_plus. apply bpow_le. lia.
Qed.

Lemma float_of_integer_is n : (Z.abs n <= 150)%Z ->
  B2R (float_of_integer n) = IZR n /\ is_finite (float_of_integer n) = true.
Proof.
  intros Hn. unfold float_of_integer.
  pose proof (binary_normalize_correct 24 128 p24 e128 mode_NE n 0 false) as C.
  set (z := binary_normalize _ _ _ _ _ _ _ _) in *. clearbody z. cbv zeta in C.
  replace (F2R (Float radix2 n 0)) with (IZR n * bpow radix2 0) in C by reflexivity.
  assert (G : round radix2 (SpecFloat.fexp 24 128) (round_mode mode_NE) (IZR n * bpow radix2 0)
              = IZR n * bpow radix2 0) by (apply (rnd_exact _), format_scaled; lia).
  rewrite G, Rlt_bool_true in C.
  - destruct C as (X & Y & _). split; [rewrite X; simpl; ring | exact Y].
  - simpl bpow at 1. rewrite Rmult_1_r, <- abs_IZR. apply Rle_lt_trans with (bpow radix2 8).
    + rewrite <- power_IZR by lia. apply IZR_le. lia.
    + apply bpow_lt. lia.
Qed.

(* x = (1 + F 2^-24) 2^exponent, the bracket's square from 1/2 to 2. *)
Lemma split_is x : is_finite x = true -> 0 < B2R x ->
  exists F, (-4913933 <= F < 6949350)%Z /\ (-150 <= exponent x <= 150)%Z /\
    is_finite (mantissa x) = true /\ B2R (mantissa x) = 1 + IZR F * bpow radix2 (-24) /\
    B2R x = B2R (mantissa x) * bpow radix2 (exponent x).
Proof.
  intros Fx Px.
  assert (LN : B2R least_normal = bpow radix2 (-126)).
  { unfold least_normal, B2R, F2R. cbn [Fnum Fexp cond_Zopp]. change 8388608 with (bpow radix2 23).
    rewrite <- bpow_plus. reflexivity. }
  set (s := (if tiny x then 24 else 0)%Z).
  assert (A : is_finite (normal x) = true /\ B2R (normal x) = B2R x * bpow radix2 s
              /\ bpow radix2 (-126) <= B2R (normal x)).
  { unfold normal. rewrite is_finite_Babs, B2R_Babs.
    assert (T : tiny x = true /\ B2R x < bpow radix2 (-126) \/ tiny x = false /\ bpow radix2 (-126) <= B2R x).
    { unfold tiny, less. rewrite Bcompare_correct by (easy || reflexivity). rewrite LN.
      destruct (Rcompare_spec (B2R x) (bpow radix2 (-126))); [left | right | right]; split; (easy || lra). }
    unfold s. destruct T as [[-> T] | [-> T]].
    - assert (V24 : B2R two_24 = bpow radix2 24).
      { unfold two_24, B2R, F2R. cbn [Fnum Fexp cond_Zopp]. change 8388608 with (bpow radix2 23).
        rewrite <- bpow_plus. reflexivity. }
      assert (Sz : Rabs (B2R x * B2R two_24) <= bpow radix2 (-102)).
      { rewrite V24, Rabs_pos_eq by (apply Rmult_le_pos; [lra | apply bpow_ge_0]).
        replace (-102)%Z with (-126 + 24)%Z by lia. rewrite bpow_plus.
        apply Rmult_le_compat_r; [apply bpow_ge_0 | lra]. }
      destruct (mul_bounded (-102) x two_24 ltac:(lia) Fx eq_refl Sz) as [V [Fm _]].
      assert (E : exists m e, B2R x = IZR m * bpow radix2 e /\ (0 < m < 2 ^ 24)%Z /\ (-149 <= e)%Z).
      { destruct x as [b | b | | b m e B]; try discriminate; [simpl in Px; lra |].
        destruct b; [exfalso; assert (B2R (B754_finite true m e B) < 0) by (apply F2R_lt_0; easy); lra |].
        exists (Z.pos m), e. split; [reflexivity |].
        pose proof B as B'. unfold SpecFloat.bounded in B'. apply andb_prop in B' as [Bc _].
        unfold SpecFloat.canonical_mantissa in Bc. apply Zeq_bool_eq in Bc.
        rewrite Digits.Zpos_digits2_pos in Bc. unfold SpecFloat.fexp, SpecFloat.emin in Bc.
        pose proof (Digits.Zpower_gt_Zdigits radix2 24 (Z.pos m)) as D.
        change (Z.abs (Z.pos m)) with (Z.pos m) in D. change (radix2 ^ 24)%Z with (2 ^ 24)%Z in D. lia. }
      destruct E as (m & e & E & Hm & He).
      assert (W : B2R (mul x two_24) = B2R x * bpow radix2 24).
      { rewrite V, V24. apply rnd_exact. rewrite E, Rmult_assoc, <- bpow_plus. apply format_scaled; lia. }
      assert (W0 : bpow radix2 (-125) <= B2R (mul x two_24)).
      { rewrite W, E, Rmult_assoc, <- bpow_plus. rewrite <- (Rmult_1_l (bpow radix2 (-125))).
        apply Rmult_le_compat; [lra | apply bpow_ge_0 | apply IZR_le; lia | apply bpow_le; lia]. }
      assert (Q : bpow radix2 (-126) <= bpow radix2 (-125)) by (apply bpow_le; lia).
      pose proof (bpow_ge_0 radix2 (-125)).
      rewrite Rabs_pos_eq by lra. split; [exact Fm |]. split; [exact W | lra].
    - rewrite Rabs_pos_eq by lra. split; [exact Fx |]. split; [simpl bpow; ring | exact T]. }
  destruct A as (Fa & Va & Na). destruct (normal_form _ Fa Na) as (m & e & Vm & Hm & He & W).
  assert (Hs : (0 <= s <= 24)%Z) by (unfold s; destruct (tiny x); lia).
  assert (Ve : B2R x = IZR m * bpow radix2 (e - s)).
  { replace (e - s)%Z with (e + - s)%Z by lia. rewrite bpow_plus, <- Rmult_assoc, <- Vm, Va, Rmult_assoc.
    rewrite <- bpow_plus. replace (s + - s)%Z with 0%Z by lia. simpl. ring. }
  unfold exponent, mantissa. fold s. unfold offset. rewrite W. unfold root_half.
  destruct (Z_lt_le_dec m 11863283) as [L | L].
  - replace (m + (e + 149) * 2 ^ 23 - 1060439283)%Z with (m - 11863283 + 2 ^ 23 + (e + 23) * 2 ^ 23)%Z by lia.
    rewrite Z_mod_plus_full, Z_div_plus_full, Z.mod_small, Z.div_small by lia.
    replace (m - 11863283 + 2 ^ 23 + 1060439283)%Z with (m - 2 ^ 23 + 127 * 2 ^ 23)%Z by lia.
    destruct (float_of_word_is m 127 ltac:(lia) ltac:(lia)) as [V Ff].
    exists (2 * m - 2 ^ 24)%Z. split; [lia |]. split; [lia |]. split; [exact Ff |].
    rewrite V. change (127 - 150)%Z with (-23)%Z. split.
    + rewrite minus_IZR, mult_IZR. change (bpow radix2 (-24)) with (/ 16777216).
      change (bpow radix2 (-23)) with (/ 8388608). change (IZR (2 ^ 24)) with 16777216. field.
    + rewrite Ve, Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
  - replace (m + (e + 149) * 2 ^ 23 - 1060439283)%Z with (m - 11863283 + (e + 24) * 2 ^ 23)%Z by lia.
    rewrite Z_mod_plus_full, Z_div_plus_full, Z.mod_small, Z.div_small by lia.
    replace (m - 11863283 + 1060439283)%Z with (m - 2 ^ 23 + 126 * 2 ^ 23)%Z by lia.
    destruct (float_of_word_is m 126 ltac:(lia) ltac:(lia)) as [V Ff].
    exists (m - 2 ^ 24)%Z. split; [lia |]. split; [lia |]. split; [exact Ff |].
    rewrite V. change (126 - 150)%Z with (-24)%Z. split.
    + rewrite minus_IZR. change (bpow radix2 (-24)) with (/ 16777216).
      change (IZR (2 ^ 24)) with 16777216. field.
    + rewrite Ve, Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

(* ---- The whole function ---- *)

Theorem log_error : forall x, is_finite x = true -> 0 < B2R x ->
  is_finite (log x) = true /\ Rabs (B2R (log x) - ln (B2R x)) <= 1.72 * u * Rabs (ln (B2R x)).
Proof.
  intros x Fx Px. destruct (split_is x Fx Px) as (F & HF & Hk & Fm & Vm & Vx).
  destruct (float_of_integer_is (exponent x) ltac:(lia)) as [Vk Fk].
  unfold log. set (k := exponent x) in *. set (m := mantissa x) in *. set (kf := float_of_integer k) in *.
  clearbody m kf k. pose proof (f_range F HF) as Rf. pose proof (f_format F HF) as Ff.
  set (f0 := IZR F * bpow radix2 (-24)) in *.
  assert (KR : -150 <= IZR k <= 150) by (split; apply IZR_le; lia).
  assert (Lx : ln (B2R x) = IZR k * ln 2 + ln (1 + f0)).
  { rewrite Vx, Vm, ln_mult by (apply bpow_gt_0 || lra).
    rewrite Rplus_comm. f_equal. rewrite bpow_exp, ln_exp. reflexivity. }
  unfold log_of.
  assert (O1 : fits 1 one) by (split; [reflexivity | rewrite one_is_1, Rabs_R1; simpl; lra]).
  assert (M1 : fits 1 m)
    by (split; [exact Fm | rewrite Vm; change (bpow radix2 1) with 2; apply Rabs_le; lra]).
  destruct (sub_fits 1 m one ltac:(lia) M1 O1) as [V1 [F1 _]]. set (f := sub m one) in *.
  rewrite one_is_1, Vm in V1. replace (1 + f0 - 1) with f0 in V1 by ring. rewrite rnd_exact in V1 by exact Ff.
  assert (B1 : fits 0 f)
    by (split; [exact F1 | rewrite V1; change (bpow radix2 0) with 1; apply Rabs_le; lra]).
  assert (T1 : fits 1 two)
    by (split; [reflexivity | rewrite two_is_2; change (bpow radix2 1) with 2; apply Rabs_le; lra]).
  destruct (add_fits 1 two f ltac:(lia) T1 (fits_more _ 1 _ B1 ltac:(lia))) as [V2 _].
  set (t := add two f) in *. rewrite two_is_2, V1 in V2.
  assert (Tb : 1.5 <= B2R t <= 3).
  { rewrite V2. assert (Q : Rabs (2 + f0) <= bpow radix2 2)
      by (change (bpow radix2 2) with 4; apply Rabs_le; lra).
    pose proof (rnd_bpow 2 _ ltac:(lia) Q) as E. change (bpow radix2 (2 - 25)) with (/ 8388608) in E.
    apply Rabs_le_inv in E. lra. }
  assert (Sb : Rabs (B2R f / B2R t) <= bpow radix2 (-1)).
  { rewrite V1. change (bpow radix2 (-1)) with (/ 2). unfold Rdiv.
    rewrite Rabs_mult, (Rabs_pos_eq (/ B2R t)) by (left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_reg_r with (B2R t); [lra |]. rewrite Rmult_assoc, Rinv_l by lra.
    assert (Rabs f0 <= 0.5) by (apply Rabs_le; lra). lra. }
  destruct (div_bounded (-1) f t ltac:(lia) F1 ltac:(lra) Sb) as [V3 B3]. set (s := div f t) in *.
  rewrite V1, V2 in V3.
  destruct (mul_fits (-1) (-1) s s ltac:(lia) B3 B3) as [V4 B4]. set (z := mul s s) in *.
  assert (LL : fits 0 l1 /\ fits (-1) l2 /\ fits (-1) l3 /\ fits (-1) l4 /\ fits 0 half).
  { repeat split; try reflexivity; values; interval with (i_prec 40). }
  destruct LL as (L1 & L2 & L3 & L4 & Lh).
  destruct (mul_fits (-2) (-1) z l4 ltac:(lia) B4 L4) as [V5 B5].
  destruct (add_fits (-1) l3 (mul z l4) ltac:(lia) L3 (fits_more _ (-1) _ B5 ltac:(lia))) as [V6 B6].
  destruct (mul_fits (-2) 0 z _ ltac:(lia) B4 B6) as [V7 B7].
  destruct (add_fits (-1) l2 _ ltac:(lia) L2 (fits_more _ (-1) _ B7 ltac:(lia))) as [V8 B8].
  destruct (mul_fits (-2) 0 z _ ltac:(lia) B4 B8) as [V9 B9].
  destruct (add_fits 0 l1 _ ltac:(lia) L1 (fits_more _ 0 _ B9 ltac:(lia))) as [V10 B10].
  set (gz := add l1 _) in *.
  assert (VG : B2R gz = rounded_g (B2R z)) by (rewrite V10, V9, V8, V7, V6, V5; reflexivity).
  clearbody gz. clear V10 V9 V8 V7 V6 V5.
  destruct (mul_fits (-2) 1 z gz ltac:(lia) B4 B10) as [V11 B11]. set (r := mul z gz) in *. rewrite VG in V11.
  destruct (mul_fits 0 0 half f ltac:(lia) Lh B1) as [V12 B12].
  assert (H12 : B2R (mul half f) = f0 / 2).
  { rewrite V12, V1. replace (B2R half) with (/ 2) by (values; lra).
    replace (/ 2 * f0) with (IZR F * bpow radix2 (-25)).
    - rewrite rnd_exact by (apply format_scaled; lia). unfold f0.
      change (-25)%Z with (-24 + -1)%Z. rewrite bpow_plus. change (bpow radix2 (-1)) with (/ 2). field.
    - unfold f0. change (-25)%Z with (-24 + -1)%Z. rewrite bpow_plus.
      change (bpow radix2 (-1)) with (/ 2). field. }
  destruct (mul_fits 0 0 (mul half f) f ltac:(lia) B12 B1) as [V13 B13].
  set (h := mul (mul half f) f) in *. rewrite H12, V1 in V13.
  destruct (add_fits 0 h r ltac:(lia) B13 (fits_more _ 0 _ B11 ltac:(lia))) as [V14 B14].
  destruct (mul_fits (-1) 1 s (add h r) ltac:(lia) B3 B14) as [V15 B15]. set (w := mul s (add h r)) in *.
  assert (Kb : Rabs (B2R kf * B2R ln2_rest) <= bpow radix2 0)
    by (rewrite Vk; set (K := IZR k) in *; clearbody K; values; interval with (i_prec 40)).
  destruct (mul_bounded 0 kf ln2_rest ltac:(lia) Fk eq_refl Kb) as [V16 B16].
  destruct (add_fits 0 w _ ltac:(lia) B15 B16) as [V17 B17].
  destruct (sub_fits 1 h _ ltac:(lia) (fits_more _ 1 _ B13 ltac:(lia)) B17) as [V18 B18].
  destruct (sub_fits 2 _ f ltac:(lia) B18 (fits_more _ 2 _ B1 ltac:(lia))) as [V19 B19].
  assert (Cb : Rabs (B2R kf * B2R ln2_upper) <= bpow radix2 7)
    by (rewrite Vk; set (K := IZR k) in *; clearbody K; values; interval with (i_prec 40)).
  destruct (mul_bounded 7 kf ln2_upper ltac:(lia) Fk eq_refl Cb) as [V20 B20].
  destruct (sub_fits 7 (mul kf ln2_upper) _ ltac:(lia) B20 (fits_more _ 7 _ B19 ltac:(lia))) as [V21 [F21 _]].
  split; [exact F21 |]. rewrite V21, V20, V19, V18, V17, V16, Vk, V1.
  assert (FC : generic_format radix2 (FLT_exp (-149) 24) (IZR k * B2R ln2_upper)).
  { replace (IZR k * B2R ln2_upper) with (IZR (k * 90851) * bpow radix2 (-17)).
    - apply format_scaled; lia.
    - rewrite mult_IZR. change (bpow radix2 (-17)) with (/ 131072). values. field. }
  rewrite (rnd_exact (IZR k * B2R ln2_upper)) by exact FC.
  destruct (parts F HF) as (ew & e1 & er & PH & P1 & PW & P2 & P3). fold f0 in PH, PW.
  rewrite <- V3, <- V4, <- V11, <- V13, <- V14, <- V15 in PW. rewrite <- V13 in PH.
  pose proof (format_float h) as FH. pose proof (format_float w) as FW.
  destruct (Z.eq_dec k 0) as [K0 | K0].
  - assert (R : Rabs (- rnd (rnd (B2R h - B2R w) - f0) - ln (1 + f0)) <= 1.72 * u * Rabs (ln (1 + f0)))
      by (apply (near_result f0 (B2R h) (B2R w) ew e1 er); assumption).
    rewrite Lx, K0, !Rmult_0_l, !Rplus_0_l, rnd_0, Rplus_0_r, (rnd_exact (B2R w)) by exact FW.
    unfold Rminus at 2. rewrite Rplus_0_l, rnd_exact by (apply generic_format_opp, format_rnd). exact R.
  - rewrite Lx. apply (far_result f0 (B2R h) (B2R w) ew e1 er); assumption.
Qed.

(* ---- The model beside the C ---- *)

(* x = m 2^e, and the word of its logarithm. test_vmath.c reads this table and asks the kernel. *)
Definition log_points : list (Z * Z * Z) := [
  (1, -149, 0xC2CE8ED0);
  (768, -149, 0xC2C14531);
  (8388607, -149, 0xC2AEAC50);
  (8388608, -149, 0xC2AEAC50);
  (11863282, -24, 0xBEB1721C);
  (11863283, -24, 0xBEB17219);
  (16777215, -24, 0xB3800000);
  (8388608, -23, 0x00000000);
  (8388609, -23, 0x33FFFFFF);
  (11863282, -23, 0x3EB17214);
  (11863283, -23, 0x3EB17217);
  (8388608, -22, 0x3F317218);
  (11401300, -22, 0x3F800000);
  (13421772, -27, 0xC0135D8E);
  (10485760, -20, 0x40135D8E);
  (16777215, 104, 0x42B17218);
  (11863172, -23, 0x3EB170DE);
  (11863229, -23, 0x3EB1717E);
  (11853719, -23, 0x3EB10862);
  (11857161, -23, 0x3EB12E6F);
  (11850580, -23, 0x3EB0E5AB);
  (11540773, -23, 0x3EA3557E);
  (11308998, -55, 0xC1AF0E4F);
  (11368427, -145, 0xC2A8851D)
]%Z.

Theorem log_at_points :
  map (fun '(m, e, _) => signed_word (log (float_of m e))) log_points = map snd log_points.
Proof. vm_compute. reflexivity. Qed.
