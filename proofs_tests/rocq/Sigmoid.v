(* Sigmoid.v: how far the kernels' sigmoid, and their tanh from 5/8 on, err in IEEE 754 binary32.

   As vmath.h computes them, each operation rounded to nearest even, from Exp.v's exponential, u = 2^-24:
   - for every float x in [-87, 86]: |sigmoid(x) - 1 / (1 + e^-x)| <= 3.49 u / (1 + e^-x);
   - for every float x with 5/8 <= |x| <= 43.5: |tanh(x) - exact| <= 3.81 u |exact|; above 5/8 the kernel
     computes 1 - 2 / (e^2|x| + 1) and puts the sign back;
   - at 17 points the models, run, give the words that test_vmath.c asks of the C.
   Not covered: x outside these ranges (of tanh: Tanh.v; of sigmoid test_vmath.c measures one float in 1,021,
   and in make test-all every float from -87 on), NaN, fast mode, and
   that a compiler keeps the operations as written (the points, and digests.txt).
   Kernels: vmath.h (vf_sigmoid, vf_tanh). Tested on floats in test_vmath.c. *)

From Coq Require Import Reals ZArith List Lra Lia.
From Flocq Require Import Core BinarySingleNaN.
From Interval Require Import Tactic.
From Seqmix Require Import Bounds Rounding TileSums Binary32 Exp SoftmaxRow.
Import Over_integers ListNotations.
Open Scope R_scope.

#[local] Existing Instance p24.

Definition ceiling : float := @B754_finite 24 128 false 11629079 (-17) eq_refl. (* 88.72283f *)
Definition lowest : float := @B754_finite 24 128 true 11447375 (-17) eq_refl.   (* -87.33654f *)

Definition sigmoid (x : float) : float :=
  div one (add one (exp_between (smaller ceiling (larger lowest (Bopp x))))).
(* From 5/8 on: of |x|, and with the sign of x. *)
Definition tanh_of_size (a : float) : float :=
  sub one (div two (add (exp_between (smaller ceiling (add a a))) one)).
Definition tanh_from_5_8 (x : float) : float :=
  if Bsign x then Bopp (tanh_of_size (Babs x)) else tanh_of_size (Babs x).

(* ---- Sums and quotients that are finite ---- *)

Lemma big x : Rabs x <= bpow radix2 127 -> Rlt_bool (Rabs (rnd x)) (bpow radix2 128) = true.
Proof.
  intros H. apply Rlt_bool_true. apply Rle_lt_trans with (bpow radix2 127); [| apply bpow_lt; lia].
  now apply rnd_le.
Qed.

Lemma add_is_finite a b : is_finite a = true -> is_finite b = true ->
  Rabs (B2R a + B2R b) <= bpow radix2 127 -> is_finite (add a b) = true.
Proof.
  intros Fa Fb H. pose proof (@Bplus_correct 24 128 p24 e128 mode_NE a b Fa Fb) as C. fold (add a b) in C.
  change (round radix2 (SpecFloat.fexp 24 128) (round_mode mode_NE) (B2R a + B2R b))
    with (rnd (B2R a + B2R b)) in C.
  rewrite big in C by exact H. apply C.
Qed.

Lemma div_is_finite a b : is_finite a = true -> B2R b <> 0 ->
  Rabs (B2R a / B2R b) <= bpow radix2 127 -> is_finite (div a b) = true.
Proof.
  intros Fa N H. pose proof (@Bdiv_correct 24 128 p24 e128 mode_NE a b N) as C. fold (div a b) in C.
  change (round radix2 (SpecFloat.fexp 24 128) (round_mode mode_NE) (B2R a / B2R b))
    with (rnd (B2R a / B2R b)) in C.
  rewrite big in C by exact H. destruct C as (_ & F & _). now rewrite F.
Qed.

(* N / (1 + E), E the exponential of c, both operations rounded. *)
Lemma over_one_plus (N c A : float) :
  is_finite N = true -> 1 <= B2R N <= 2 -> is_finite c = true -> -86 <= B2R c <= 87 ->
  A = add one (exp_between c) \/ A = add (exp_between c) one ->
  is_finite (div N A) = true /\
  Rabs (B2R (div N A) - B2R N / (1 + exp (B2R c))) <= 3.49 * u * (B2R N / (1 + exp (B2R c))).
Proof.
  intros FN HN Fc Hc HA. destruct (exp_error c Fc ltac:(lra)) as [Fe Ee].
  set (e := exp (B2R c)) in *. assert (e0 : 0 < e) by apply exp_pos.
  assert (e1 : e <= 8 * 10 ^ 37).
  { apply Rle_trans with (exp 87); [apply exp_le; lra | interval with (i_prec 40)]. }
  pose proof u_positive as U. assert (U1 : u <= 1 / 1000000) by (unfold u; lra).
  set (E := B2R (exp_between c)) in *. apply Rabs_le_inv in Ee.
  assert (E0 : 0 <= E <= 1.00001 * e) by nra.
  assert (B127 : 10 ^ 38 <= bpow radix2 127) by (simpl; lra).
  assert (Fine : is_finite A = true /\ Rabs (B2R A - (1 + E)) <= u * (1 + E)).
  { assert (P : Rabs (1 + E) = 1 + E) by (apply Rabs_pos_eq; lra).
    destruct HA as [-> | ->].
    - assert (F : is_finite (add one (exp_between c)) = true).
      { apply add_is_finite; [reflexivity | exact Fe |]. rewrite one_is_1. fold E. rewrite P. lra. }
      split; [exact F |]. pose proof (add_error _ _ F) as H. rewrite one_is_1 in H. fold E in H.
      now rewrite P in H.
    - assert (F : is_finite (add (exp_between c) one) = true).
      { apply add_is_finite; [exact Fe | reflexivity |]. rewrite one_is_1. fold E. rewrite Rplus_comm, P. lra. }
      split; [exact F |]. pose proof (add_error _ _ F) as H. rewrite one_is_1 in H. fold E in H.
      now rewrite (Rplus_comm E), P in H. }
  destruct Fine as [FA DA]. set (T := 1 + e) in *. set (a := B2R A) in *. set (n := B2R N) in *.
  assert (Th : Rabs (a - T) <= 2.4801 * u * T).
  { replace (a - T) with ((a - (1 + E)) + (E - e)) by (unfold T; ring).
    eapply Rle_trans; [apply Rabs_triang |].
    assert (u * (1 + E) <= 1.00001 * u * T) by (unfold T; nra).
    assert (Rabs (E - e) <= 1.48 * u * T) by (apply Rabs_le; unfold T; nra). nra. }
  apply Rabs_le_inv in Th.
  assert (a1 : 0.9999 * T <= a <= 1.0001 * T) by nra.
  assert (T1 : 1 <= T <= 8.1 * 10 ^ 37) by (unfold T; lra).
  assert (Q : 0 < n / a <= 3).
  { split; [apply Rdiv_lt_0_compat; lra |]. apply Rmult_le_reg_r with a; [lra |].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (F : is_finite (div N A) = true).
  { apply div_is_finite; [exact FN | fold a; lra |]. fold a n. rewrite Rabs_pos_eq by lra. lra. }
  split; [exact F |]. destruct (div_relative N A F ltac:(fold a; lra)) as (d & Hd & R).
  { fold a n. rewrite Rabs_pos_eq by lra.
    apply Rle_trans with (/ (8.2 * 10 ^ 37)).
    - change (-126)%Z with (- Z.of_nat 126)%Z. rewrite bpow_inverse. apply Rinv_le_contravar; lra.
    - apply Rmult_le_reg_r with a; [lra |]. unfold Rdiv. rewrite (Rmult_assoc n), Rinv_l by lra.
      apply Rle_trans with 1; [| lra]. apply Rmult_le_reg_l with (8.2 * 10 ^ 37); [lra |].
      rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
  fold a n in R. rewrite R. apply Rabs_le_inv in Hd.
  set (t := a / T - 1). assert (Ht : - (2.4801 * u) <= t <= 2.4801 * u).
  { assert (K : t * T = a - T) by (unfold t; field; lra).
    split; apply Rmult_le_reg_r with T; lra. }
  assert (t1 : 0.9999 <= 1 + t) by lra.
  replace (n / a * (1 + d) - n / T) with (n / T * ((d - t) / (1 + t)))
    by (unfold t; field; repeat split; try lra).
  assert (P : 0 < n / T) by (apply Rdiv_lt_0_compat; lra).
  rewrite Rabs_mult, (Rabs_pos_eq (n / T)), Rmult_comm by lra.
  apply Rmult_le_compat_r; [lra |]. unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ (1 + t)))
    by (left; apply Rinv_0_lt_compat; lra).
  apply Rmult_le_reg_r with (1 + t); [lra |]. rewrite Rmult_assoc, Rinv_l by lra.
  assert (Rabs (d - t) <= 3.4801 * u) by (apply Rabs_le; lra). nra.
Qed.

(* ---- The clamps ---- *)

Lemma within_clamps c : is_finite c = true -> -87 <= B2R c <= 88 -> smaller ceiling (larger lowest c) = c.
Proof.
  intros F H. assert (Vl : B2R lowest <= -87.3) by (unfold lowest, B2R, F2R; simpl; lra).
  assert (Vc : 88.7 <= B2R ceiling) by (unfold ceiling, B2R, F2R; simpl; lra).
  unfold larger. rewrite Bcompare_correct by (reflexivity || exact F). rewrite Rcompare_Lt by lra.
  unfold smaller. rewrite Bcompare_correct by (reflexivity || exact F). now rewrite Rcompare_Gt by lra.
Qed.

(* ---- Theorems ---- *)

Theorem sigmoid_error : forall x, is_finite x = true -> -87 <= B2R x <= 86 ->
  is_finite (sigmoid x) = true /\
  Rabs (B2R (sigmoid x) - / (1 + exp (- B2R x))) <= 3.49 * u * / (1 + exp (- B2R x)).
Proof.
  intros x F H. assert (Vo : B2R (Bopp x) = - B2R x) by apply B2R_Bopp.
  assert (Fo : is_finite (Bopp x) = true) by (now rewrite is_finite_Bopp).
  unfold sigmoid. rewrite within_clamps by (rewrite ?Vo; (exact Fo || lra)).
  destruct (over_one_plus one (Bopp x) _ eq_refl ltac:(rewrite one_is_1; lra) Fo ltac:(rewrite Vo; lra)
              (or_introl eq_refl)) as [Fd E].
  split; [exact Fd |]. rewrite one_is_1, Vo in E. unfold Rdiv in E. now rewrite Rmult_1_l in E.
Qed.

Lemma tanh_as_quotient a : tanh a = 1 - 2 / (1 + exp (2 * a)).
Proof.
  unfold tanh, sinh, cosh. replace (2 * a) with (a + a) by ring. rewrite exp_plus, exp_Ropp.
  pose proof (exp_pos a). field. split; nra.
Qed.

Lemma tanh_odd r : tanh (- r) = - tanh r.
Proof.
  unfold tanh, sinh, cosh. rewrite Ropp_involutive.
  pose proof (exp_pos r). pose proof (exp_pos (- r)). field. lra.
Qed.

Lemma tanh_of_size_error a : is_finite a = true -> 0.625 <= B2R a <= 43.5 ->
  is_finite (tanh_of_size a) = true /\
  Rabs (B2R (tanh_of_size a) - tanh (B2R a)) <= 3.81 * u * tanh (B2R a).
Proof.
  intros F H. pose proof u_positive as U. assert (U1 : u <= 1 / 1000000) by (unfold u; lra).
  assert (A : fits 6 a) by (split; [exact F | rewrite Rabs_pos_eq by lra; simpl; lra]).
  destruct (add_fits 6 a a ltac:(lia) A A) as [V [Fs _]].
  rewrite rnd_exact in V.
  2: { replace (B2R a + B2R a) with (B2R a * bpow radix2 1) by (simpl; lra).
       destruct (float_scaled a 0) as (n & e & Va & Hn & He); [exact F | rewrite Rabs_pos_eq; simpl; lra |].
       rewrite Va, Rmult_assoc, <- bpow_plus. apply format_scaled; lia. }
  set (c := add a a) in *. unfold tanh_of_size. fold c.
  assert (C : smaller ceiling c = c).
  { assert (Vc : 88.7 <= B2R ceiling) by (unfold ceiling, B2R, F2R; simpl; lra).
    unfold smaller. rewrite Bcompare_correct by (reflexivity || exact Fs). now rewrite Rcompare_Gt by lra. }
  rewrite C.
  destruct (over_one_plus two c _ eq_refl ltac:(rewrite two_is_2; lra) Fs ltac:(lra) (or_intror eq_refl))
    as [Fd E].
  rewrite two_is_2, V in E. set (D := div two _) in *.
  replace (B2R a + B2R a) with (2 * B2R a) in E by ring. rewrite tanh_as_quotient.
  set (q := 2 / (1 + exp (2 * B2R a))) in *.
  assert (Q : 0 < q <= 0.4455).
  { assert (X : 3.49 <= exp (2 * B2R a)).
    { apply Rle_trans with (exp 1.25); [interval with (i_prec 40) | apply exp_le; lra]. }
    unfold q. split; [apply Rdiv_lt_0_compat; lra |]. apply Rmult_le_reg_r with (1 + exp (2 * B2R a)); [lra |].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  apply Rabs_le_inv in E. set (d := B2R D) in *.
  assert (B : fits 1 one /\ fits 1 D).
  { split; split; try reflexivity; try exact Fd; [rewrite one_is_1, Rabs_R1; simpl; lra |].
    fold d. apply Rabs_le. simpl. nra. }
  destruct B as [B1 B2]. destruct (sub_fits 1 one D ltac:(lia) B1 B2) as [_ [Fr _]]. split; [exact Fr |].
  destruct (sub_relative _ _ Fr) as (_ & s & Hs & R). rewrite R, one_is_1. fold d. apply Rabs_le_inv in Hs.
  replace ((1 - d) * (1 + s) - (1 - q)) with (s * (1 - q) + (q - d) * (1 + s)) by ring.
  assert (K1 : - (u * (1 - q)) <= s * (1 - q) <= u * (1 - q)) by nra.
  assert (K2 : Rabs ((q - d) * (1 + s)) <= 3.49 * u * q * (1 + u)).
  { rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; apply Rabs_le; lra. }
  apply Rabs_le_inv in K2.
  assert (K3 : 3.49 * u * q * (1 + u) <= 2.81 * u * (1 - q)).
  { replace (3.49 * u * q * (1 + u)) with (u * (3.49 * (1 + u) * q)) by ring.
    replace (2.81 * u * (1 - q)) with (u * (2.81 * (1 - q))) by ring. apply Rmult_le_compat_l; nra. }
  apply Rabs_le. lra.
Qed.

Lemma by_sign (x : float) : B2R x = if Bsign x then - Rabs (B2R x) else Rabs (B2R x).
Proof.
  destruct x as [b | b | | b m e B]; cbn [B2R Bsign]; try (rewrite Rabs_R0; destruct b; ring);
    try (rewrite Rabs_R0; ring).
  unfold F2R. cbn [Fnum Fexp]. pose proof (bpow_gt_0 radix2 e). destruct b; cbn [cond_Zopp].
  - assert (IZR (- Z.pos m) < 0) by (apply IZR_lt; lia). rewrite Rabs_left1 by nra. ring.
  - assert (0 < IZR (Z.pos m)) by (apply IZR_lt; lia). rewrite Rabs_pos_eq by nra. ring.
Qed.

Theorem tanh_error : forall x, is_finite x = true -> 0.625 <= Rabs (B2R x) <= 43.5 ->
  is_finite (tanh_from_5_8 x) = true /\
  Rabs (B2R (tanh_from_5_8 x) - tanh (B2R x)) <= 3.81 * u * Rabs (tanh (B2R x)).
Proof.
  intros x F H. assert (Va : B2R (Babs x) = Rabs (B2R x)) by apply B2R_Babs.
  assert (Fa : is_finite (Babs x) = true) by (now rewrite is_finite_Babs).
  destruct (tanh_of_size_error (Babs x) Fa ltac:(rewrite Va; exact H)) as [Ft E].
  rewrite Va in E. set (y := tanh_of_size (Babs x)) in *. unfold tanh_from_5_8. fold y.
  assert (Pos : 0 <= tanh (Rabs (B2R x))).
  { rewrite tanh_as_quotient. assert (X : 3 <= exp (2 * Rabs (B2R x))).
    { apply Rle_trans with (exp 1.25); [interval with (i_prec 40) | apply exp_le; lra]. }
    assert (2 / (1 + exp (2 * Rabs (B2R x))) <= 1); [| lra].
    apply Rmult_le_reg_r with (1 + exp (2 * Rabs (B2R x))); [lra |].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (Tx : tanh (B2R x) = if Bsign x then - tanh (Rabs (B2R x)) else tanh (Rabs (B2R x)))
    by (rewrite (by_sign x) at 1; destruct (Bsign x); [apply tanh_odd | easy]).
  rewrite Tx. destruct (Bsign x).
  - rewrite is_finite_Bopp, B2R_Bopp, Rabs_Ropp, (Rabs_pos_eq (tanh _)) by exact Pos. split; [exact Ft |].
    replace (- B2R y - - tanh (Rabs (B2R x))) with (- (B2R y - tanh (Rabs (B2R x)))) by ring.
    now rewrite Rabs_Ropp.
  - rewrite (Rabs_pos_eq (tanh _)) by exact Pos. now split.
Qed.

(* ---- The models beside the C ---- *)

(* x = m 2^e, and the word of the result. test_vmath.c reads these tables and asks the kernels. *)

Definition sigmoid_points : list (Z * Z * Z) := [
  (-11403264, -17, 0x00B33687);
  (-10931405, -18, 0x216510BD);
  (-10590618, -20, 0x382C4B02);
  (-8388608, -23, 0x3E89B2B1);
  (-10066330, -25, 0x3ED9E2AC);
  (13743895, -37, 0x3F0001A4);
  (11744051, -24, 0x3F2B0E5A);
  (13841203, -22, 0x3F76E4CF);
  (8860467, -19, 0x3F800000);
  (11272192, -17, 0x3F800000)
]%Z.
Definition tanh_points : list (Z * Z * Z) := [
  (10485760, -24, 0x3F0DFA40);
  (-11744051, -24, 0xBF1AB7D9);
  (8388608, -23, 0x3F42F7D6);
  (-10485760, -22, 0xBF7C92C1);
  (11114906, -21, 0x3F7FFCBC);
  (-9332326, -20, 0xBF7FFFFF);
  (10485760, -18, 0x3F800000)
]%Z.


Theorem models_at_points :
  map (fun '(m, e, _) => signed_word (sigmoid (float_of m e))) sigmoid_points = map snd sigmoid_points /\
  map (fun '(m, e, _) => signed_word (tanh_from_5_8 (float_of m e))) tanh_points = map snd tanh_points.
Proof. vm_compute. split; reflexivity. Qed.
