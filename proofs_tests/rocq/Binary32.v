(* Binary32.v: what the proofs of functions in IEEE 754 binary32 share: their operations, how much one of
   them rounds off, what is exact. Rounded to nearest even. No theorem. *)

From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core BinarySingleNaN Plus_error Relative.
From Interval Require Import Tactic.
From Seqmix Require Import Bounds Rounding TileSums.
Import Over_integers.
Open Scope R_scope.

#[local] Existing Instance p24.

(* ---- The kernels' operations ---- *)

Definition sub : float -> float -> float := @Bminus 24 128 p24 e128 mode_NE.
Definition div : float -> float -> float := @Bdiv 24 128 p24 e128 mode_NE.
(* vf_lt, vf_max and vf_min: of NaN, false and the second operand. *)
Definition less (a b : float) : bool := match Bcompare a b with Some Lt => true | _ => false end.
Definition larger (a b : float) : float := match Bcompare a b with Some Gt => a | _ => b end.
Definition smaller (a b : float) : float := match Bcompare a b with Some Lt => a | _ => b end.

(* The literals, each the float nearest to what the C says: m 2^e. *)
Notation literal m e := (@B754_finite 24 128 false m e eq_refl).
Definition one : float := literal 8388608 (-23). (* 1.0f *)
Definition two : float := @B754_finite 24 128 false 8388608 (-22) eq_refl.
(* m 2^e, rounded. *)
Definition float_of (m e : Z) : float := binary_normalize 24 128 p24 e128 mode_NE m e false.

(* vf_bits of a positive normal float, and vi_float. *)
Definition word (x : float) : Z :=
  match x with B754_finite false m e _ => Z.pos m + (e + 149) * 2 ^ 23 | _ => 0 end.
Definition float_of_word (w : Z) : float :=
  binary_normalize 24 128 p24 e128 mode_NE (w mod 2 ^ 23 + 2 ^ 23) (w / 2 ^ 23 - 150) false.
(* A word with its sign. *)
Definition signed_word (x : float) : Z := word (Babs x) + if Bsign x then 2 ^ 31 else 0.

Lemma one_is_1 : B2R one = 1.
Proof. unfold one, B2R, F2R. simpl. lra. Qed.
Lemma two_is_2 : B2R two = 2.
Proof. unfold two, B2R, F2R. simpl. lra. Qed.

(* ---- One rounding ---- *)

Definition rnd : R -> R := round radix2 (FLT_exp (-149) 24) ZnearestE.

Lemma rnd_bpow e x : (-125 <= e)%Z -> Rabs x <= bpow radix2 e -> Rabs (rnd x - x) <= bpow radix2 (e - 25).
Proof.
  intros He Hx. unfold rnd. destruct (Req_dec (Rabs x) (bpow radix2 e)) as [E | E].
  - rewrite round_generic; [rewrite Rminus_diag_eq, Rabs_R0 by easy; apply bpow_ge_0 | apply valid_rnd_N |].
    apply generic_format_abs_inv. rewrite E. apply generic_format_bpow. unfold FLT_exp. lia.
  - eapply Rle_trans; [apply error_le_half_ulp; now apply FLT_exp_valid |].
    replace (e - 25)%Z with (-1 + (e - 24))%Z by lia. rewrite bpow_plus.
    change (bpow radix2 (-1)) with (/ 2). apply Rmult_le_compat_l; [lra |].
    destruct (Req_dec x 0) as [-> | Z].
    + rewrite ulp_FLT_small by (try easy; rewrite Rabs_R0; apply bpow_gt_0). apply bpow_le. lia.
    + rewrite ulp_neq_0 by easy. apply bpow_le. unfold cexp, FLT_exp.
      assert (mag radix2 x <= e)%Z by (apply mag_le_bpow; [easy | lra]). lia.
Qed.

Lemma bpow_inverse n : bpow radix2 (- Z.of_nat n) = / 2 ^ n.
Proof. rewrite bpow_opp, <- IZR_Zpower by lia. rewrite <- pow_IZR. easy. Qed.

Lemma rnd_close n m x : (n <= 125)%nat -> m = (n + 25)%nat -> Rabs x <= / 2 ^ n ->
  exists d, rnd x = x + d /\ Rabs d <= / 2 ^ m.
Proof.
  intros Hn -> Hx. exists (rnd x - x). split; [ring |]. rewrite <- bpow_inverse in *.
  replace (- Z.of_nat (n + 25))%Z with (- Z.of_nat n - 25)%Z by lia. apply rnd_bpow; [lia | easy].
Qed.

Lemma rnd_close_2 x : Rabs x <= 2 -> exists d, rnd x = x + d /\ Rabs d <= / 2 ^ 24.
Proof.
  intros Hx. exists (rnd x - x). split; [ring |].
  change (/ 2 ^ 24) with (/ 2 ^ Z.to_nat 24). rewrite <- bpow_inverse. apply (rnd_bpow 1); [lia |]. exact Hx.
Qed.

(* Replaces the innermost rounding by its argument and an error of at most 2^-(n + 25), for the largest n up
   to the one given for which the argument is seen to be at most 2^-n. *)
Ltac one_rounding d n :=
  match goal with |- context [rnd ?x] =>
    lazymatch x with
    | context [rnd _] => fail
    | _ => let E := fresh "E" in let H := fresh "H" in
      let m := eval vm_compute in (n + 25)%nat in
      destruct (rnd_close n m x) as (d & E & H);
      [ lia | reflexivity | interval with (i_prec 40) | rewrite E; clear E; apply Rabs_le_inv in H ]
    end
  end.
Ltac rounding d n := first [ one_rounding d n | lazymatch n with S ?k => rounding d k end ].

Ltac last_rounding d :=
  first [ one_rounding d 0%nat
        | match goal with |- context [rnd ?x] => let E := fresh "E" in let H := fresh "H" in
            destruct (rnd_close_2 x) as (d & E & H);
            [ interval with (i_prec 40) | rewrite E; clear E; apply Rabs_le_inv in H ] end ].

(* ---- Floats as integers times powers of two; what is exact ---- *)

Notation format := (generic_format radix2 (FLT_exp (-149) 24)).

Lemma rnd_exact x : format x -> rnd x = x.
Proof. intros. now apply round_generic; [apply valid_rnd_N |]. Qed.

Lemma format_float (a : float) : format (B2R a).
Proof. apply (generic_format_B2R 24 128). Qed.

Lemma format_scaled n e : (Z.abs n < 2 ^ 24)%Z -> (-149 <= e)%Z -> format (IZR n * bpow radix2 e).
Proof. intros Hn He. apply generic_format_FLT. now exists (Float radix2 n e). Qed.

Lemma float_scaled (a : float) j : is_finite a = true -> bpow radix2 (j - 1) <= Rabs (B2R a) ->
  exists n e, B2R a = IZR n * bpow radix2 e /\ (Z.abs n < 2 ^ 24)%Z /\ (j - 24 <= e)%Z.
Proof.
  intros F Hj. destruct a as [s | s | | s m e B]; try discriminate.
  - simpl in Hj. rewrite Rabs_R0 in Hj. pose proof (bpow_gt_0 radix2 (j - 1)). lra.
  - exists (cond_Zopp s (Z.pos m)), e. split; [easy |].
    pose proof B as B'. unfold SpecFloat.bounded in B'. apply andb_prop in B' as [Bc _].
    pose proof (canonical_canonical_mantissa 24 128 s m e Bc) as Hc. unfold canonical in Hc. simpl Fexp in Hc.
    assert (j <= mag radix2 (B2R (B754_finite s m e B)))%Z by now apply mag_ge_bpow.
    split.
    + rewrite abs_cond_Zopp. simpl Z.abs.
      unfold SpecFloat.canonical_mantissa in Bc. apply Zeq_bool_eq in Bc.
      rewrite Digits.Zpos_digits2_pos in Bc. unfold SpecFloat.fexp, SpecFloat.emin in Bc.
      pose proof (Digits.Zpower_gt_Zdigits radix2 24 (Z.pos m)) as D.
      change (Z.abs (Z.pos m)) with (Z.pos m) in D. change (radix2 ^ 24)%Z with (2 ^ 24)%Z in D. apply D. lia.
    + rewrite Hc. change (SpecFloat.fexp 24 128) with (FLT_exp (-149) 24). unfold cexp, FLT_exp.
      change (F2R _) with (B2R (B754_finite s m e B)). lia.
Qed.

(* ---- One rounding as a relative error ---- *)

Lemma format_rnd x : format (rnd x).
Proof. apply generic_format_round; [now apply FLT_exp_valid | apply valid_rnd_N]. Qed.

(* No float is nearer. *)
Lemma rnd_nearest x g : format g -> Rabs (rnd x - x) <= Rabs (g - x).
Proof.
  intros G. assert (V : Valid_exp (FLT_exp (-149) 24)) by now apply FLT_exp_valid.
  destruct (round_N_pt radix2 (FLT_exp (-149) 24) (fun x => negb (Z.even x)) x) as [_ N]. exact (N g G).
Qed.

Lemma rnd_0 : rnd 0 = 0.
Proof. apply round_0, valid_rnd_N. Qed.

(* Of at least 2^e: a relative error, and at least that after. *)
Lemma rnd_least e x : (-126 <= e)%Z -> bpow radix2 e <= Rabs x ->
  exists d, rnd x = x * (1 + d) /\ - / 2 ^ 24 <= d <= / 2 ^ 24 /\ bpow radix2 e <= Rabs (rnd x).
Proof.
  intros He Hx.
  destruct (relative_error_N_FLT_ex radix2 (-149) 24 eq_refl (fun x => negb (Z.even x)) x) as (d & Hd & E).
  { eapply Rle_trans; [| exact Hx]. apply bpow_le. lia. }
  rewrite half_ulp in Hd. apply Rabs_le_inv in Hd. exists d. split; [exact E | split; [exact Hd |]].
  apply abs_round_ge_generic; [now apply FLT_exp_valid | apply valid_rnd_N | | exact Hx].
  apply generic_format_bpow. unfold FLT_exp. lia.
Qed.

(* A sum or a difference of floats: a relative error. *)
Lemma rnd_minus x y : format x ->
  format y ->
  exists d, rnd (x - y) = (x - y) * (1 + d) /\ - / 2 ^ 24 <= d <= / 2 ^ 24.
Proof.
  intros Fx Fy.
  destruct (FLT_plus_error_N_ex radix2 (-149) 24 (fun x => negb (Z.even x)) x (- y))
    as (d & Hd & R); [exact Fx | now apply generic_format_opp |].
  exists d. split; [exact R |]. apply Rabs_le_inv. rewrite u_is_u_ro in Hd. pose proof u_positive.
  eapply Rle_trans; [apply Hd |]. change (/ 2 ^ 24) with u. apply Rmult_le_reg_r with (1 + u); [lra |].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

Lemma rnd_plus x y : format x -> format y ->
  exists d, rnd (x + y) = (x + y) * (1 + d) /\ - / 2 ^ 24 <= d <= / 2 ^ 24.
Proof.
  intros Fx Fy. destruct (rnd_minus x (- y) Fx ltac:(now apply generic_format_opp)) as (d & E & H).
  exists d. unfold Rminus in E. rewrite Ropp_involutive in E. now split.
Qed.

(* Rounding is no farther than 0. *)
Lemma rnd_at_most_double x : Rabs (rnd x) <= 2 * Rabs x.
Proof.
  pose proof (rnd_nearest x 0 (generic_format_0 _ _)) as N. rewrite (Rabs_minus_sym 0), Rminus_0_r in N.
  replace (rnd x) with (rnd x - x + x) by ring. eapply Rle_trans; [apply Rabs_triang |]. lra.
Qed.

Lemma sub_relative x y : is_finite (sub x y) = true ->
  B2R (sub x y) = rnd (B2R x - B2R y) /\
  exists d, Rabs d <= u /\ B2R (sub x y) = (B2R x - B2R y) * (1 + d).
Proof.
  intros F. assert (Fxy : is_finite x = true /\ is_finite y = true).
  { destruct x as [| [] | |], y as [| [] | |]; simpl in *; try discriminate; easy. }
  destruct Fxy as [Fx Fy].
  pose proof (@Bminus_correct 24 128 p24 e128 mode_NE x y Fx Fy) as C. fold (sub x y) in C.
  assert (E : B2R (sub x y) = rnd (B2R x - B2R y)).
  { destruct Rlt_bool; [apply C |]. destruct C as [C _]. destruct (sub x y); simpl in *; discriminate. }
  split; [exact E |]. rewrite E.
  destruct (rnd_minus (B2R x) (B2R y)) as (d & R & Hd); try apply format_float.
  exists d. split; [apply Rabs_le; unfold u; lra | exact R].
Qed.

Lemma div_relative x y : is_finite (div x y) = true -> B2R y <> 0 ->
  bpow radix2 (-126) <= Rabs (B2R x / B2R y) ->
  exists d, Rabs d <= u /\ B2R (div x y) = B2R x / B2R y * (1 + d).
Proof.
  intros F Y N. pose proof (@Bdiv_correct 24 128 p24 e128 mode_NE x y Y) as C. fold (div x y) in C.
  destruct Rlt_bool; [| destruct (div x y); simpl in *; discriminate]. destruct C as [-> _].
  destruct (relative_error_N_FLT_ex radix2 (-149) 24 eq_refl (fun x => negb (Z.even x)) _ N) as (d & Hd & E).
  exists d. rewrite <- half_ulp. split; [exact Hd | exact E].
Qed.

(* ---- One operation ---- *)

Definition fits (e : Z) (a : float) : Prop := is_finite a = true /\ Rabs (B2R a) <= bpow radix2 e.

Lemma rnd_le e x : (-149 <= e)%Z -> Rabs x <= bpow radix2 e -> Rabs (rnd x) <= bpow radix2 e.
Proof.
  intros He Hx. apply abs_round_le_generic; [now apply FLT_exp_valid | apply valid_rnd_N | | easy].
  apply generic_format_bpow. unfold FLT_exp. lia.
Qed.

Lemma no_overflow e x : (-149 <= e <= 100)%Z -> Rabs x <= bpow radix2 e ->
  Rlt_bool (Rabs (round radix2 (SpecFloat.fexp 24 128) (round_mode mode_NE) x)) (bpow radix2 128) = true.
Proof.
  intros He Hx. apply Rlt_bool_true. apply Rle_lt_trans with (bpow radix2 e).
  - apply (rnd_le e x); [lia | easy].
  - apply bpow_lt. lia.
Qed.

Lemma add_fits e a b : (-149 <= e <= 99)%Z -> fits e a -> fits e b ->
  B2R (add a b) = rnd (B2R a + B2R b) /\ fits (1 + e) (add a b).
Proof.
  intros He [Fa Ba] [Fb Bb].
  assert (H : Rabs (B2R a + B2R b) <= bpow radix2 (1 + e)).
  { rewrite bpow_plus. change (bpow radix2 1) with 2. pose proof (Rabs_triang (B2R a) (B2R b)). lra. }
  pose proof (@Bplus_correct 24 128 p24 e128 mode_NE a b Fa Fb) as C.
  rewrite (no_overflow (1 + e)) in C by (lia || easy). destruct C as (V & F & _). fold (add a b) in V, F.
  split; [exact V |]. split; [exact F |]. rewrite V. apply rnd_le; [lia | exact H].
Qed.

Lemma sub_fits e a b : (-149 <= e <= 99)%Z -> fits e a -> fits e b ->
  B2R (sub a b) = rnd (B2R a - B2R b) /\ fits (1 + e) (sub a b).
Proof.
  intros He [Fa Ba] [Fb Bb].
  assert (H : Rabs (B2R a - B2R b) <= bpow radix2 (1 + e)).
  { rewrite bpow_plus. change (bpow radix2 1) with 2. unfold Rminus.
    pose proof (Rabs_triang (B2R a) (- B2R b)). rewrite Rabs_Ropp in *. lra. }
  pose proof (@Bminus_correct 24 128 p24 e128 mode_NE a b Fa Fb) as C.
  rewrite (no_overflow (1 + e)) in C by (lia || easy). destruct C as (V & F & _). fold (sub a b) in V, F.
  split; [exact V |]. split; [exact F |]. rewrite V. apply rnd_le; [lia | exact H].
Qed.

Lemma mul_bounded e a b : (-149 <= e <= 100)%Z -> is_finite a = true -> is_finite b = true ->
  Rabs (B2R a * B2R b) <= bpow radix2 e -> B2R (mul a b) = rnd (B2R a * B2R b) /\ fits e (mul a b).
Proof.
  intros He Fa Fb H. pose proof (@Bmult_correct 24 128 p24 e128 mode_NE a b) as C.
  rewrite (no_overflow e) in C by (lia || easy). destruct C as (V & F & _). fold (mul a b) in V, F.
  split; [exact V |]. split; [now rewrite F, Fa, Fb |]. rewrite V. apply rnd_le; [lia | exact H].
Qed.

Lemma mul_fits e f a b : (-149 <= e + f <= 100)%Z -> fits e a -> fits f b ->
  B2R (mul a b) = rnd (B2R a * B2R b) /\ fits (e + f) (mul a b).
Proof.
  intros He [Fa Ba] [Fb Bb]. apply mul_bounded; try easy.
  rewrite Rabs_mult, bpow_plus. apply Rmult_le_compat; (apply Rabs_pos || easy).
Qed.

Lemma fits_more e f a : fits e a -> (e <= f)%Z -> fits f a.
Proof. intros [F B] H. split; [easy |]. eapply Rle_trans; [apply B |]. now apply bpow_le. Qed.

Lemma div_bounded e a b : (-149 <= e <= 100)%Z -> is_finite a = true -> B2R b <> 0 ->
  Rabs (B2R a / B2R b) <= bpow radix2 e -> B2R (div a b) = rnd (B2R a / B2R b) /\ fits e (div a b).
Proof.
  intros He Fa Nb H. pose proof (@Bdiv_correct 24 128 p24 e128 mode_NE a b Nb) as C.
  rewrite (no_overflow e) in C by (lia || easy). destruct C as (V & F & _). fold (div a b) in V, F.
  split; [exact V |]. split; [now rewrite F |]. rewrite V. apply rnd_le; [lia | exact H].
Qed.

Lemma power_IZR e : (0 <= e)%Z -> IZR (2 ^ e) = bpow radix2 e.
Proof. exact (IZR_Zpower radix2 e). Qed.
