(* NormRow.v: how far a row of the unit norm and of RMSNorm errs, in IEEE 754 binary32.

   norm.c takes the canonical sum of squares, its root (of RMSNorm: that of sum / n + eps), 1 over it, and
   multiplies, each operation rounded to nearest even. Proved for every n and all inputs for which sum and
   result are finite, u = 2^-24, eta = 2^-150, k = ceil(n / 16) + 4, Z = sum x^2,
   G b = (1 + u) / ((1 - u) sqrt (1 - b)):
   - unit norm, sum above 1e-24: |y - x / sqrt Z| <= ((1 + u) G b - 1) |x| / sqrt Z + eta,
     b = (1 + u)^k (1 + n eta / Z) - 1 < 1;
   - RMSNorm, W = Z / n + eps > 0, n a float, gain g: |y - g x / sqrt W| <= ((1 + u)^2 G b - 1) |g x| / sqrt W
     + (1 + u) |g| eta + eta, b = (1 + u)^(k + 2) (1 + 2 eta / W) - 1 < 1.
   Not covered: layer norm, backward passes, fast mode; that a compiler keeps the operations as written
   (digests.txt, on every instruction set).
   Kernels: norm.c (unitnorm_fwd, rmsnorm_fwd, reciprocal_root). Tested on floats in test_row_bounds.c. *)

From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core BinarySingleNaN Relative.
From Seqmix Require Import Rounding TileSums Exp SoftmaxRow.
Open Scope R_scope.

#[local] Existing Instance p24.

Definition root : float -> float := @Bsqrt 24 128 p24 e128 mode_NE.
Definition reciprocal_root (x : float) : float := div one (root x).

Definition tiny : float := @B754_finite 24 128 false 10141205 (-103) eq_refl. (* 1e-24f *)
Definition square (x : nat -> float) (n : nat) : float := row_dot x x n.
Definition unit_factor (q : float) : float :=
  match Bcompare q tiny with Some Gt | None => reciprocal_root q | _ => zero end.
Definition unit_norm (x : nat -> float) (n i : nat) : float := mul (x i) (unit_factor (square x n)).
(* size: (float)n *)
Definition rms_norm (x gain : nat -> float) (n : nat) (size eps : float) (i : nat) : float :=
  mul (mul (x i) (reciprocal_root (add (div (square x n) size) eps))) (gain i).

Definition G (b : R) : R := (1 + u) / ((1 - u) * sqrt (1 - b)).

Lemma root_relative (z : float) : is_finite z = true -> 0 < B2R z ->
  exists d, Rabs d <= u /\ B2R (root z) = sqrt (B2R z) * (1 + d).
Proof.
  intros F P. destruct (@Bsqrt_correct 24 128 p24 e128 mode_NE z) as [E _]. fold (root z) in E.
  assert (N : bpow radix2 (-126) <= Rabs (sqrt (B2R z))).
  { rewrite Rabs_pos_eq by apply sqrt_pos.
    assert (L : bpow radix2 (-149) <= B2R z).
    { rewrite <- (Rabs_pos_eq (B2R z)) by lra. apply (abs_B2R_ge_emin 24 128).
      destruct z; simpl in *; (discriminate || lra || reflexivity). }
    apply Rle_trans with (sqrt (bpow radix2 (2 * -126))).
    - rewrite (sqrt_bpow radix2 (-126)). lra.
    - apply sqrt_le_1_alt. eapply Rle_trans; [| exact L]. apply bpow_le. lia. }
  destruct (relative_error_N_FLT_ex radix2 (-149) 24 eq_refl (fun x => negb (Z.even x)) _ N) as (d & Hd & R).
  exists d. rewrite half_ulp in Hd. split; [exact Hd |]. rewrite E. exact R.
Qed.

Lemma float_upper (z : float) : is_finite z = true -> B2R z <= bpow radix2 128.
Proof. intros F. pose proof (abs_B2R_lt_emax 24 128 z). pose proof (Rle_abs (B2R z)). lra. Qed.

(* z within b Z of Z: its reciprocal root against that of Z. *)
Lemma reciprocal_close (z : float) Z b : is_finite z = true -> 0 < Z -> 0 <= b < 1 ->
  Rabs (B2R z - Z) <= b * Z ->
  is_finite (reciprocal_root z) = true ->
  1 <= G b /\ Rabs (B2R (reciprocal_root z) * sqrt Z - 1) <= G b - 1.
Proof.
  intros F HZ Hb H Fr. apply Rabs_le_inv in H. assert (P : 0 < B2R z) by nra.
  destruct (root_relative z F P) as (d & Hd & E). set (v := B2R z) in *.
  pose proof u_positive as U. assert (U1 : u <= 1 / 1000) by (unfold u; lra). apply Rabs_le_inv in Hd.
  set (w := sqrt v) in *. assert (W : 0 < w) by now apply sqrt_lt_R0.
  assert (Wr : 0 < B2R (root z)) by (rewrite E; nra).
  destruct (div_relative one (root z) Fr ltac:(lra)) as (c & Hc & Er).
  { rewrite one_is_1. unfold Rdiv. rewrite Rmult_1_l, Rabs_pos_eq by (left; now apply Rinv_0_lt_compat).
    assert (w <= bpow radix2 64).
    { replace (bpow radix2 64) with (sqrt (bpow radix2 (2 * 64))) by apply (sqrt_bpow radix2 64).
      apply sqrt_le_1_alt. now apply float_upper. }
    assert (R2 : B2R (root z) <= bpow radix2 65).
    { rewrite E. change 65%Z with (64 + 1)%Z. rewrite bpow_plus. change (bpow radix2 1) with 2.
      apply Rmult_le_compat; lra. }
    apply Rle_trans with (bpow radix2 (-65)); [apply bpow_le; lia |].
    change (-65)%Z with (- (65))%Z. rewrite bpow_opp. now apply Rinv_le. }
  fold (reciprocal_root z) in Er. rewrite one_is_1, E in Er. apply Rabs_le_inv in Hc.
  set (y := sqrt Z). assert (Y : 0 < y) by now apply sqrt_lt_R0.
  set (g := sqrt (1 - b)). assert (G0 : 0 < g) by (apply sqrt_lt_R0; lra).
  assert (Lo : g * y <= w).
  { unfold g, y, w. rewrite <- sqrt_mult by lra. apply sqrt_le_1_alt. lra. }
  assert (Hi : g * w <= y).
  { unfold g, y, w. rewrite <- sqrt_mult by lra. apply sqrt_le_1_alt. nra. }
  set (r := B2R (reciprocal_root z)) in *.
  assert (R : r * (w * (1 + d)) = 1 + c) by (rewrite Er; field; lra).
  unfold G. fold g. set (x := r * y). set (q := (1 + u) / ((1 - u) * g)).
  assert (Q : q * ((1 - u) * g) = 1 + u) by (unfold q; field; lra).
  assert (G1 : g <= 1) by
    (apply Rle_trans with (sqrt 1); [apply sqrt_le_1_alt; lra | rewrite sqrt_1; lra]).
  assert (Den : 0 < (1 - u) * g <= 1) by nra.
  assert (Q1 : 1 <= q).
  { apply Rmult_le_reg_r with ((1 - u) * g); [lra | rewrite Q; lra]. }
  assert (R0 : 0 < r).
  { apply Rmult_lt_reg_r with (w * (1 + d)); [apply Rmult_lt_0_compat; lra | lra]. }
  assert (A : x <= q).
  { apply Rmult_le_reg_r with ((1 - u) * g); [lra |]. rewrite Q. unfold x.
    assert (r * (g * y) * (1 - u) <= r * w * (1 + d)); [| lra].
    apply Rle_trans with (r * w * (1 - u)).
    - apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; lra.
    - apply Rmult_le_compat_l; [nra | lra]. }
  assert (B : 1 <= q * x).
  { apply Rmult_le_reg_r with ((1 - u) * g); [lra |].
    replace (q * x * ((1 - u) * g)) with (q * ((1 - u) * g) * x) by ring. rewrite Q, Rmult_1_l. unfold x.
    assert (1 - u <= r * w * (1 + u)).
    { apply Rle_trans with (r * w * (1 + d)); [lra |]. apply Rmult_le_compat_l; [nra | lra]. }
    apply Rle_trans with (r * w * (1 + u) * g); [apply Rmult_le_compat_r; lra |].
    replace (r * w * (1 + u) * g) with ((1 + u) * r * (g * w)) by ring.
    replace ((1 + u) * (r * y)) with ((1 + u) * r * y) by ring.
    apply Rmult_le_compat_l; [nra | exact Hi]. }
  split; [exact Q1 |]. fold y x. apply Rabs_le. split; [| lra].
  apply Rmult_le_reg_r with q; [lra |]. pose proof (Rle_0_sqr (q - 1)) as Sq. unfold Rsqr in Sq. lra.
Qed.

(* x times a reciprocal root. *)
Lemma scaled_close (x r : float) Z g : is_finite (mul x r) = true -> 0 < Z -> 1 <= g ->
  Rabs (B2R r * sqrt Z - 1) <= g - 1 ->
  Rabs (B2R (mul x r) - B2R x / sqrt Z) <= ((1 + u) * g - 1) * (Rabs (B2R x) / sqrt Z) + eta.
Proof.
  intros F HZ G1 H. pose proof (mul_error x r F) as M. pose proof u_positive as U.
  set (y := sqrt Z) in *. assert (Y : 0 < y) by now apply sqrt_lt_R0.
  set (X := B2R x) in *. set (o := B2R (mul x r)) in *. set (e := B2R r * y - 1) in *.
  assert (P : X * B2R r = X / y * (1 + e)) by (unfold e; field; lra). rewrite P in M.
  assert (A : Rabs (X / y) = Rabs X / y)
    by (unfold Rdiv; rewrite Rabs_mult, (Rabs_pos_eq (/ y)); [easy | left; now apply Rinv_0_lt_compat]).
  set (h := X / y) in *. rewrite <- A. assert (H0 : 0 <= Rabs h) by apply Rabs_pos.
  assert (D : Rabs (h * (1 + e) - h) <= (g - 1) * Rabs h).
  { replace (h * (1 + e) - h) with (h * e) by ring. rewrite Rabs_mult, Rmult_comm.
    apply Rmult_le_compat_r; easy. }
  assert (S : Rabs (h * (1 + e)) <= g * Rabs h).
  { replace (h * (1 + e)) with ((h * (1 + e) - h) + h) by ring. eapply Rle_trans; [apply Rabs_triang | lra]. }
  replace (o - h) with ((o - h * (1 + e)) + (h * (1 + e) - h)) by ring.
  eapply Rle_trans; [apply Rabs_triang |].
  assert (u * Rabs (h * (1 + e)) <= u * (g * Rabs h)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma square_close x n : is_finite (square x n) = true ->
  0 <= products x x n /\
  Rabs (B2R (square x n) - products x x n)
  <= (1 + u) ^ dot_roundings n * (products x x n + INR n * eta) - products x x n.
Proof.
  intros F. pose proof (dot_error x x n F) as E. fold (square x n) in E.
  assert (S : sizes x x n = products x x n).
  { apply sum_ext. intros i _. apply Rabs_pos_eq. apply Rle_0_sqr. }
  rewrite S in E. split; [| exact E]. rewrite <- S. unfold sizes.
  rewrite <- (sum_zero n (fun _ => 0)) by easy. apply sum_le. intros. apply Rabs_pos.
Qed.

Theorem unit_norm_error : forall x n i,
  let Z := products x x n in
  let b := (1 + u) ^ dot_roundings n * (1 + INR n * eta / Z) - 1 in
  is_finite (square x n) = true -> B2R tiny < B2R (square x n) -> 0 < Z -> b < 1 ->
  is_finite (unit_norm x n i) = true ->
  Rabs (B2R (unit_norm x n i) - B2R (x i) / sqrt Z)
  <= ((1 + u) * G b - 1) * (Rabs (B2R (x i)) / sqrt Z) + eta.
Proof.
  intros x n i Z b F L HZ Hb Fy. unfold unit_norm in *.
  assert (E : unit_factor (square x n) = reciprocal_root (square x n)).
  { unfold unit_factor. rewrite Bcompare_correct by (easy || exact F). now rewrite Rcompare_Gt. }
  rewrite E in *. destruct (square_close x n F) as [_ H]. fold Z in H.
  assert (B : b * Z = (1 + u) ^ dot_roundings n * (Z + INR n * eta) - Z) by (unfold b; field; lra).
  assert (B0 : 0 <= b).
  { apply Rmult_le_reg_r with Z; [easy |]. rewrite Rmult_0_l, B.
    pose proof (Rabs_pos (B2R (square x n) - Z)). lra. }
  destruct (reciprocal_close (square x n) Z b) as [G1 C]; try easy; [lra | now apply mul_finite in Fy |].
  now apply scaled_close.
Qed.

Theorem rms_norm_error : forall x gain n size eps i,
  let Z := products x x n in let W := Z / INR n + B2R eps in
  let b := (1 + u) ^ (dot_roundings n + 2) * (1 + 2 * eta / W) - 1 in
  (0 < n)%nat -> B2R size = INR n -> 0 <= B2R eps -> is_finite (square x n) = true -> 0 < W -> b < 1 ->
  is_finite (add (div (square x n) size) eps) = true ->
  is_finite (rms_norm x gain n size eps i) = true ->
  Rabs (B2R (rms_norm x gain n size eps i) - B2R (gain i) * (B2R (x i) / sqrt W))
  <= ((1 + u) ^ 2 * G b - 1) * (Rabs (B2R (gain i)) * (Rabs (B2R (x i)) / sqrt W))
     + ((1 + u) * Rabs (B2R (gain i)) * eta + eta).
Proof.
  intros x gain n size eps i Z W b N Hs He F HW Hb Fw Fy. unfold rms_norm in *.
  set (w := add (div (square x n) size) eps) in *.
  destruct (mul_finite _ _ Fy) as [Fh _]. destruct (mul_finite _ _ Fh) as [_ Fr].
  destruct (add_finite _ _ Fw) as (Fd & _ & _). pose proof (add_error _ _ Fw) as Ea. fold w in Ea.
  destruct (square_close x n F) as [Z0 Hq]. fold Z in Z0, Hq.
  assert (N1 : 1 <= INR n) by (apply (le_INR 1); lia).
  pose proof u_positive as U. pose proof eta_positive as Et.
  set (k := dot_roundings n) in *. pose proof (power_at_least_1 k) as Pk.
  set (c := (1 + u) ^ k) in *. set (q := B2R (square x n)) in *.
  assert (Ed : Rabs (B2R (div (square x n) size) - q / INR n) <= u * Rabs (q / INR n) + eta).
  { pose proof (@Bdiv_correct 24 128 p24 e128 mode_NE (square x n) size ltac:(rewrite Hs; lra)) as C.
    fold (div (square x n) size) in C.
    destruct Rlt_bool; [| destruct (div (square x n) size); simpl in *; discriminate]. destruct C as [-> _].
    rewrite Hs. fold q. set (t := q / INR n).
    destruct (error_N_FLT radix2 (-149) 24 eq_refl (fun x => negb (Z.even x)) t)
      as (r & e & Hr & He' & _ & E).
    rewrite half_ulp in Hr. rewrite half_least in He'.
    change (Rabs (round radix2 (FLT_exp (-149) 24) ZnearestE t - t) <= u * Rabs t + eta). rewrite E.
    replace (t * (1 + r) + e - t) with (r * t + e) by ring.
    eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_mult.
    apply Rplus_le_compat; [apply Rmult_le_compat_r; [apply Rabs_pos | exact Hr] | exact He']. }
  set (z := Z / INR n) in *. set (p := q / INR n) in *. set (d := B2R (div (square x n) size)) in *.
  assert (Hz : 0 <= z) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  assert (Hp : Rabs (p - z) <= c * (z + eta) - z).
  { replace (p - z) with ((q - Z) / INR n) by (unfold p, z; field; lra).
    unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ INR n)) by (left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_reg_r with (INR n); [lra |]. rewrite Rmult_assoc, Rinv_l by lra.
    replace ((c * (z + eta) - z) * INR n) with (c * (Z + INR n * eta) - Z) by (unfold z; field; lra). lra. }
  assert (Pz : Rabs p <= c * (z + eta)).
  { replace p with ((p - z) + z) by ring. eapply Rle_trans; [apply Rabs_triang |].
    rewrite (Rabs_pos_eq z); lra. }
  assert (Dz : Rabs (d - z) <= (1 + u) * c * (z + 2 * eta) - z).
  { replace (d - z) with ((d - p) + (p - z)) by ring. eapply Rle_trans; [apply Rabs_triang |].
    assert (u * Rabs p <= u * (c * (z + eta))) by (apply Rmult_le_compat_l; lra).
    assert (eta <= (1 + u) * c * eta) by (assert (1 <= (1 + u) * c) by nra; nra). lra. }
  set (f := B2R eps) in *. fold W in Z0 |- *.
  assert (Wz : W = z + f) by easy.
  assert (Sz : Rabs (d + f) <= (1 + u) * c * (z + 2 * eta) + f).
  { replace (d + f) with ((d - z) + (z + f)) by ring. eapply Rle_trans; [apply Rabs_triang |].
    rewrite (Rabs_pos_eq (z + f)); lra. }
  assert (C2 : (1 + u) ^ (k + 2) = (1 + u) * ((1 + u) * c)) by (unfold c; rewrite Nat.add_comm; simpl; ring).
  assert (Cc : 1 <= (1 + u) * c) by nra.
  assert (Close : Rabs (B2R w - W) <= b * W).
  { assert (Bw : b * W = (1 + u) * ((1 + u) * c) * (z + f + 2 * eta) - (z + f))
      by (unfold b; rewrite C2, <- Wz; field; lra). rewrite Bw, Wz.
    replace (B2R w - (z + f)) with ((B2R w - (d + f)) + (d - z)) by ring.
    eapply Rle_trans; [apply Rabs_triang |].
    assert (u * Rabs (d + f) <= u * ((1 + u) * c * (z + 2 * eta) + f)) by (apply Rmult_le_compat_l; lra).
    assert (f <= (1 + u) * c * f) by nra.
    assert (u * f <= u * ((1 + u) * c * f)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (B0 : 0 <= b).
  { apply Rmult_le_reg_r with W; [easy |]. rewrite Rmult_0_l. pose proof (Rabs_pos (B2R w - W)). lra. }
  destruct (reciprocal_close w W b Fw HW ltac:(lra) Close Fr) as [G1 C].
  pose proof (scaled_close (x i) (reciprocal_root w) W (G b) Fh HW G1 C) as Hh.
  set (h := B2R (mul (x i) (reciprocal_root w))) in *. set (H := B2R (x i) / sqrt W) in *.
  pose proof (mul_error _ _ Fy) as M. fold h in M. set (y := B2R (mul _ (gain i))) in *.
  set (g := B2R (gain i)) in *.
  assert (Y : 0 < sqrt W) by now apply sqrt_lt_R0.
  assert (A : Rabs (B2R (x i)) / sqrt W = Rabs H)
    by (unfold H, Rdiv; rewrite Rabs_mult, (Rabs_pos_eq (/ sqrt W));
        [easy | left; now apply Rinv_0_lt_compat]).
  rewrite A in *. assert (Hg : 0 <= Rabs g) by apply Rabs_pos. assert (HH : 0 <= Rabs H) by apply Rabs_pos.
  set (t := ((1 + u) * G b - 1) * Rabs H + eta) in *.
  assert (Hgh : Rabs (h * g - g * H) <= Rabs g * t).
  { replace (h * g - g * H) with (g * (h - H)) by ring. rewrite Rabs_mult. now apply Rmult_le_compat_l. }
  assert (Hsz : Rabs (h * g) <= Rabs g * (t + Rabs H)).
  { replace (h * g) with ((h * g - g * H) + g * H) by ring. eapply Rle_trans; [apply Rabs_triang |].
    rewrite (Rabs_mult g H). lra. }
  replace (y - g * H) with ((y - h * g) + (h * g - g * H)) by ring.
  eapply Rle_trans; [apply Rabs_triang |].
  assert (u * Rabs (h * g) <= u * (Rabs g * (t + Rabs H))) by (apply Rmult_le_compat_l; lra).
  assert (T : (1 + u) * (Rabs g * t) + u * (Rabs g * Rabs H) + eta
    = ((1 + u) ^ 2 * G b - 1) * (Rabs g * Rabs H) + ((1 + u) * Rabs g * eta + eta)) by (unfold t; ring).
  lra.
Qed.
