(* NormRow.v: how far a row of the unit norm, of RMSNorm and of layer norm errs, in IEEE 754 binary32.

   norm.c takes the canonical sum of squares, its root (of RMSNorm: that of sum / n + eps), 1 over it, and
   multiplies, each operation rounded to nearest even; layer norm sums the squares of the distances from the
   mean that it has computed. Proved for every n, eps >= 0 and all inputs for which sums, sum / n + eps, mean,
   distances and result are finite, u = 2^-24, eta = 2^-150, k = ceil(n / 16) + 4, Z = sum x^2,
   G b = (1 + u) / ((1 - u) sqrt (1 - b)):
   - unit norm, sum above 1e-24: |y - x / sqrt Z| <= ((1 + u) G b - 1) |x| / sqrt Z + eta,
     b = (1 + u)^k (1 + n eta / Z) - 1 < 1;
   - RMSNorm, W = Z / n + eps > 0, n a float, gain g: |y - g x / sqrt W| <= ((1 + u)^2 G b - 1) |g x| / sqrt W
     + (1 + u) |g| eta + eta, b = (1 + u)^(k + 2) (1 + 2 eta / W) - 1 < 1;
   - layer norm, X = |x - mean|, W = variance + eps > 0, n a float, gain g, bias f,
     d = ((1 + u)^k - 1) sum |x| / n + eta, which the computed mean may be off: |y - (g (x - mean) / sqrt W + f)|
     <= (1 + u) (|g| ((1 + u)^3 G b (X + d) - X) / sqrt W + (1 + u) |g| eta + eta)
     + u |g (x - mean) / sqrt W + f|, b = (1 + u)^(k + 4) (1 + (d^2 + 2 eta) / W) - 1 < 1.
   Not covered: rows of the unit norm whose sum is less, which become 0; backward passes, fast mode; that a
   compiler keeps the operations as written (digests.txt, on every instruction set).
   Kernels: norm.c (unitnorm_fwd, rmsnorm_fwd, layernorm_fwd, reciprocal_root,
   sum_of_squared_deviations). The bounds as C: ref/bounds.c, by which seqmix compare and judge hold float32
   rows of RMSNorm and layer norm, and the page shows what is measured. Tested on floats in
   test_row_bounds.c. *)

From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core BinarySingleNaN Relative.
From Seqmix Require Import Rounding TileSums Binary32 Exp SoftmaxRow.
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

Lemma div_error x y : is_finite (div x y) = true -> B2R y <> 0 ->
  Rabs (B2R (div x y) - B2R x / B2R y) <= u * Rabs (B2R x / B2R y) + eta.
Proof.
  intros F Y. pose proof (@Bdiv_correct 24 128 p24 e128 mode_NE x y Y) as C. fold (div x y) in C.
  destruct Rlt_bool; [| destruct (div x y); simpl in *; discriminate]. destruct C as [-> _].
  set (t := B2R x / B2R y).
  destruct (error_N_FLT radix2 (-149) 24 eq_refl (fun x => negb (Z.even x)) t) as (r & e & Hr & He & _ & E).
  rewrite half_ulp in Hr. rewrite half_least in He.
  change (Rabs (round radix2 (FLT_exp (-149) 24) ZnearestE t - t) <= u * Rabs t + eta). rewrite E.
  replace (t * (1 + r) + e - t) with (r * t + e) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_mult.
  apply Rplus_le_compat; [apply Rmult_le_compat_r; [apply Rabs_pos | exact Hr] | exact He].
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

(* The size of a row: q near Z, the sum of n squares, divided by n, and eps added. *)
Lemma size_close (q size eps : float) Z n c E :
  let W := Z / INR n + B2R eps in
  let b := (1 + u) ^ 2 * c * (1 + (E + eta) / W) - 1 in
  (0 < n)%nat -> B2R size = INR n -> 0 <= B2R eps -> 0 <= Z -> 0 < W -> 1 <= c -> 0 <= E ->
  Rabs (B2R q - Z) <= c * (Z + INR n * E) - Z -> is_finite (add (div q size) eps) = true ->
  0 <= b /\ Rabs (B2R (add (div q size) eps) - W) <= b * W.
Proof.
  intros W b N Hs He HZ HW Hc HE Hq Fw. set (w := add (div q size) eps) in *.
  destruct (add_finite _ _ Fw) as (Fd & _ & _). pose proof (add_error _ _ Fw) as Ea. fold w in Ea.
  assert (N1 : 1 <= INR n) by (apply (le_INR 1); lia).
  pose proof u_positive as U. pose proof eta_positive as Et.
  pose proof (div_error q size Fd ltac:(rewrite Hs; lra)) as Ed. rewrite Hs in Ed.
  set (z := Z / INR n) in *. set (p := B2R q / INR n) in *. set (d := B2R (div q size)) in *.
  assert (Hz : 0 <= z) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  assert (Hp : Rabs (p - z) <= c * (z + E) - z).
  { replace (p - z) with ((B2R q - Z) / INR n) by (unfold p, z; field; lra).
    unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ INR n)) by (left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_reg_r with (INR n); [lra |]. rewrite Rmult_assoc, Rinv_l by lra.
    replace ((c * (z + E) - z) * INR n) with (c * (Z + INR n * E) - Z) by (unfold z; field; lra). lra. }
  assert (Pz : Rabs p <= c * (z + E)).
  { replace p with ((p - z) + z) by ring. eapply Rle_trans; [apply Rabs_triang |].
    rewrite (Rabs_pos_eq z); lra. }
  assert (Dz : Rabs (d - z) <= (1 + u) * c * (z + (E + eta)) - z).
  { replace (d - z) with ((d - p) + (p - z)) by ring. eapply Rle_trans; [apply Rabs_triang |].
    assert (u * Rabs p <= u * (c * (z + E))) by (apply Rmult_le_compat_l; lra).
    assert (eta <= (1 + u) * c * eta) by (assert (1 <= (1 + u) * c) by nra; nra). lra. }
  set (f := B2R eps) in *. assert (Wz : W = z + f) by easy.
  assert (Sz : Rabs (d + f) <= (1 + u) * c * (z + (E + eta)) + f).
  { replace (d + f) with ((d - z) + (z + f)) by ring. eapply Rle_trans; [apply Rabs_triang |].
    rewrite (Rabs_pos_eq (z + f)); lra. }
  assert (Cc : 1 <= (1 + u) * c) by nra.
  assert (Close : Rabs (B2R w - W) <= b * W).
  { assert (Bw : b * W = (1 + u) * ((1 + u) * c) * (z + f + (E + eta)) - (z + f))
      by (unfold b; rewrite <- Wz; field; lra). rewrite Bw, Wz.
    replace (B2R w - (z + f)) with ((B2R w - (d + f)) + (d - z)) by ring.
    eapply Rle_trans; [apply Rabs_triang |].
    assert (u * Rabs (d + f) <= u * ((1 + u) * c * (z + (E + eta)) + f)) by (apply Rmult_le_compat_l; lra).
    assert (f <= (1 + u) * c * f) by nra.
    assert (u * f <= u * ((1 + u) * c * f)) by (apply Rmult_le_compat_l; lra). lra. }
  split; [| exact Close].
  apply Rmult_le_reg_r with W; [lra |]. rewrite Rmult_0_l. pose proof (Rabs_pos (B2R w - W)). lra.
Qed.

(* A product by a gain: h within e of H. *)
Lemma gained (h g : float) H e : is_finite (mul h g) = true -> Rabs (B2R h - H) <= e ->
  Rabs (B2R (mul h g) - B2R g * H) <= Rabs (B2R g) * ((1 + u) * e + u * Rabs H) + eta.
Proof.
  intros F E. pose proof (mul_error _ _ F) as M. pose proof u_positive as U.
  set (y := B2R (mul h g)) in *. set (k := B2R h) in *. set (v := B2R g) in *.
  assert (Hv : 0 <= Rabs v) by apply Rabs_pos.
  assert (D : Rabs (k * v - v * H) <= Rabs v * e).
  { replace (k * v - v * H) with (v * (k - H)) by ring. rewrite Rabs_mult. now apply Rmult_le_compat_l. }
  assert (S : Rabs (k * v) <= Rabs v * (e + Rabs H)).
  { replace (k * v) with ((k * v - v * H) + v * H) by ring. eapply Rle_trans; [apply Rabs_triang |].
    rewrite (Rabs_mult v H). lra. }
  replace (y - v * H) with ((y - k * v) + (k * v - v * H)) by ring.
  eapply Rle_trans; [apply Rabs_triang |].
  assert (u * Rabs (k * v) <= u * (Rabs v * (e + Rabs H))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma over_root x W : 0 < W -> Rabs (x / sqrt W) = Rabs x / sqrt W.
Proof.
  intros H. assert (0 < sqrt W) by now apply sqrt_lt_R0.
  unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ sqrt W)); [easy | left; now apply Rinv_0_lt_compat].
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
  destruct (mul_finite _ _ Fy) as [Fh _]. destruct (mul_finite _ _ Fh) as [_ Fr].
  destruct (square_close x n F) as [Z0 Hq]. fold Z in Z0, Hq. pose proof eta_positive as Et.
  destruct (size_close (square x n) size eps Z n ((1 + u) ^ dot_roundings n) eta) as [B0 C]; try easy;
    [apply power_at_least_1 | lra |]. fold W in B0, C.
  assert (B : (1 + u) ^ 2 * (1 + u) ^ dot_roundings n * (1 + (eta + eta) / W) - 1 = b).
  { unfold b. rewrite Nat.add_comm, pow_add. now replace (eta + eta) with (2 * eta) by ring. }
  rewrite B in *. destruct (reciprocal_close _ W b Fw HW (conj B0 Hb) C Fr) as [G1 R].
  pose proof (scaled_close (x i) _ W (G b) Fh HW G1 R) as Hh.
  pose proof (gained _ _ _ _ Fy Hh) as Hg. rewrite over_root in Hg by easy.
  eapply Rle_trans; [exact Hg |]. apply Req_le. ring.
Qed.

(* ---- Layer norm ---- *)

Definition mean_of (x : nat -> float) (n : nat) (size : float) : float := div (row_sum x n) size.
(* The lanes after the n-th hold the mean. *)
Definition deviation (x : nat -> float) (n : nat) (m : float) (i : nat) : float :=
  sub (if (i <? n)%nat then x i else m) m.
Definition squares (x : nat -> float) (n : nat) (m : float) : float :=
  canonical (fun i => mul (deviation x n m i) (deviation x n m i)) n.
Definition layer_norm (x gain bias : nat -> float) (n : nat) (size eps : float) (i : nat) : float :=
  let m := mean_of x n size in
  let r := reciprocal_root (add (div (squares x n m) size) eps) in
  add (bias i) (mul (mul (sub (x i) m) r) (gain i)).

Definition mean (x : nat -> float) (n : nat) : R := sum n (fun i => B2R (x i)) / INR n.
Definition variance (x : nat -> float) (n : nat) : R :=
  sum n (fun i => (B2R (x i) - mean x n) ^ 2) / INR n.
(* How far the computed mean may be from the mean. *)
Definition mean_bound (x : nat -> float) (n : nat) : R :=
  ((1 + u) ^ (groups n + 4) - 1) * (sum n (fun i => Rabs (B2R (x i))) / INR n) + eta.

Lemma mean_close x n size : (0 < n)%nat -> B2R size = INR n -> is_finite (mean_of x n size) = true ->
  Rabs (B2R (mean_of x n size) - mean x n) <= mean_bound x n.
Proof.
  intros N Hs F. assert (N1 : 1 <= INR n) by (apply (le_INR 1); lia).
  assert (Fs : is_finite (row_sum x n) = true).
  { unfold mean_of in F.
    destruct (row_sum x n) as [| [] | |], size as [| [] | |]; simpl in *; try discriminate; easy. }
  pose proof (div_error _ _ F ltac:(rewrite Hs; lra)) as D. fold (mean_of x n size) in D. rewrite Hs in D.
  pose proof (row_sum_error x n Fs) as E. unfold mean, mean_bound.
  set (s := sum n (fun i => B2R (x i))) in *. set (A := sum n (fun i => Rabs (B2R (x i)))) in *.
  set (q := B2R (row_sum x n)) in *. set (m := B2R (mean_of x n size)) in *.
  assert (SA : Rabs s <= A) by apply sum_abs.
  replace (groups n + 4)%nat with (S (groups n + 3)) by lia. simpl pow.
  pose proof (power_at_least_1 (groups n + 3)) as P. set (c := (1 + u) ^ (groups n + 3)) in *.
  pose proof u_positive as U.
  assert (I : 0 < / INR n) by (apply Rinv_0_lt_compat; lra).
  assert (Q : Rabs (q / INR n - s / INR n) <= (c - 1) * (A / INR n)).
  { replace (q / INR n - s / INR n) with ((q - s) * / INR n) by (field; lra).
    rewrite Rabs_mult, (Rabs_pos_eq (/ INR n)) by lra. unfold Rdiv. rewrite <- Rmult_assoc.
    apply Rmult_le_compat_r; lra. }
  assert (Sn : Rabs (s / INR n) <= A / INR n).
  { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ INR n)) by lra. apply Rmult_le_compat_r; lra. }
  assert (Qn : Rabs (q / INR n) <= c * (A / INR n)).
  { replace (q / INR n) with ((q / INR n - s / INR n) + s / INR n) by ring.
    eapply Rle_trans; [apply Rabs_triang | lra]. }
  replace (m - s / INR n) with ((m - q / INR n) + (q / INR n - s / INR n)) by ring.
  eapply Rle_trans; [apply Rabs_triang |].
  assert (u * Rabs (q / INR n) <= u * (c * (A / INR n))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma canonical_ext x y n : (forall i, x i = y i) -> canonical x n = canonical y n.
Proof.
  intros H. unfold canonical. assert (L : forall g i, lane x g i = lane y g i)
    by (induction g; intros; simpl; [easy | now rewrite IHg, H]).
  unfold hsum, fold. now rewrite !L.
Qed.

(* The lanes after the n-th add 0. *)
Lemma squares_are_square x n m : is_finite m = true ->
  squares x n m = square (fun i => sub (x i) m) n.
Proof.
  intros F. unfold squares, square, row_dot. apply canonical_ext. intros i. unfold deviation, padded.
  destruct (i <? n)%nat; [easy |]. assert (E : sub m m = zero); [| now rewrite E].
  pose proof (@Bminus_correct 24 128 p24 e128 mode_NE m m F F) as C. fold (sub m m) in C.
  rewrite Rminus_diag_eq, round_0, Rabs_R0 in C by (auto with typeclass_instances).
  rewrite Rlt_bool_true in C by apply bpow_gt_0. destruct C as (V & Fin & Sign).
  rewrite Rcompare_Eq in Sign by easy.
  destruct (sub m m) as [b | b | | b p e H]; simpl in *; try discriminate.
  - unfold zero. f_equal. rewrite Sign. now destruct (Bsign m).
  - apply eq_0_F2R in V. now destruct b.
Qed.

(* The sum of squared distances from m is least at the mean. *)
Lemma around_the_mean x n m : (0 < n)%nat ->
  sum n (fun i => (B2R (x i) - m) ^ 2) = INR n * (variance x n + (m - mean x n) ^ 2).
Proof.
  intros N. assert (N1 : 1 <= INR n) by (apply (le_INR 1); lia).
  set (mu := mean x n). assert (M : sum n (fun i => B2R (x i) - mu) = 0).
  { rewrite <- sum_minus, sum_constant. unfold mu, mean. field. lra. }
  rewrite (sum_ext n _
    (fun i => (B2R (x i) - mu) ^ 2 + ((- 2 * (m - mu)) * (B2R (x i) - mu) + (m - mu) ^ 2)))
    by (intros; ring).
  rewrite !sum_plus, sum_scale, sum_constant, M. unfold variance. fold mu. field. lra.
Qed.

Lemma squares_close x n m : (0 < n)%nat -> is_finite m = true ->
  (forall i, (i < n)%nat -> is_finite (sub (x i) m) = true) -> is_finite (squares x n m) = true ->
  let Z := INR n * variance x n in let d := (B2R m - mean x n) ^ 2 in
  0 <= Z /\
  Rabs (B2R (squares x n m) - Z) <= (1 + u) ^ (dot_roundings n + 2) * (Z + INR n * (d + eta)) - Z.
Proof.
  intros N Fm Fc F Z d. assert (N1 : 1 <= INR n) by (apply (le_INR 1); lia).
  rewrite (squares_are_square x n m Fm) in *. set (c := fun i => sub (x i) m) in *.
  destruct (square_close c n F) as [_ E]. set (P := products c c n) in *. set (S := B2R (square c n)) in *.
  assert (Z0 : 0 <= Z).
  { unfold Z, variance. replace (INR n * (sum n _ / INR n)) with
      (sum n (fun i => (B2R (x i) - mean x n) ^ 2)) by (field; lra).
    rewrite <- (sum_zero n (fun _ => 0)) by easy. apply sum_le. intros. apply pow2_ge_0. }
  pose proof u_positive as U. assert (U1 : u <= 1 / 1000) by (unfold u; lra). pose proof eta_positive as Et.
  pose proof (around_the_mean x n (B2R m) N) as Am. fold d in Am.
  set (T := sum n (fun i => (B2R (x i) - B2R m) ^ 2)) in *.
  assert (TZ : T = Z + INR n * d) by (rewrite Am; unfold Z; ring).
  assert (Bounds : (1 - u) ^ 2 * T <= P <= (1 + u) ^ 2 * T).
  { unfold T, P, products. rewrite <- !sum_scale. split; apply sum_le; intros i Hi;
      destruct (sub_relative _ _ (Fc i Hi)) as (_ & e & He & R); fold (c i) in R; rewrite R;
      apply Rabs_le_inv in He; set (t := B2R (x i) - B2R m);
      replace (t * (1 + e) * (t * (1 + e))) with ((1 + e) ^ 2 * t ^ 2) by ring;
      (apply Rmult_le_compat_r; [apply pow2_ge_0 | apply pow_incr; lra]). }
  assert (D0 : 0 <= INR n * d) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]).
  pose proof (power_at_least_1 (dot_roundings n)) as Pk. rewrite Nat.add_comm, pow_add.
  set (k := (1 + u) ^ dot_roundings n) in *. set (v := (1 + u) ^ 2) in *.
  assert (V1 : 1 <= v) by apply (power_at_least_1 2).
  assert (V2 : 2 - v <= (1 - u) ^ 2) by (unfold v; nra).
  assert (PZ : Rabs (P - Z) <= v * T - Z).
  { apply Rabs_le. split; [| lra].
    assert ((2 - v) * T <= P) by (eapply Rle_trans; [apply Rmult_le_compat_r; [lra | exact V2] | lra]). lra. }
  split; [exact Z0 |]. replace (S - Z) with ((S - P) + (P - Z)) by ring.
  eapply Rle_trans; [apply Rabs_triang |].
  assert ((k - 1) * P <= (k - 1) * (v * T)) by (apply Rmult_le_compat_l; lra).
  assert (Ne : 0 <= INR n * eta) by (apply Rmult_le_pos; lra).
  assert (k * (INR n * eta) <= v * (k * (INR n * eta))).
  { assert (0 <= k * (INR n * eta)) by (apply Rmult_le_pos; lra). nra. }
  rewrite TZ in *. lra.
Qed.

Theorem layer_norm_error : forall x gain bias n size eps i,
  let W := variance x n + B2R eps in let d := mean_bound x n in
  let b := (1 + u) ^ (dot_roundings n + 4) * (1 + (d ^ 2 + 2 * eta) / W) - 1 in
  let X := Rabs (B2R (x i) - mean x n) in
  let Y := B2R (gain i) * ((B2R (x i) - mean x n) / sqrt W) in
  let m := mean_of x n size in
  (i < n)%nat -> B2R size = INR n -> 0 <= B2R eps -> 0 < W -> b < 1 -> is_finite m = true ->
  (forall i, (i < n)%nat -> is_finite (sub (x i) m) = true) ->
  is_finite (squares x n m) = true -> is_finite (add (div (squares x n m) size) eps) = true ->
  is_finite (layer_norm x gain bias n size eps i) = true ->
  Rabs (B2R (layer_norm x gain bias n size eps i) - (Y + B2R (bias i)))
  <= (1 + u) * (Rabs (B2R (gain i)) * ((1 + u) ^ 3 * G b * (X + d) - X) / sqrt W
                + ((1 + u) * Rabs (B2R (gain i)) * eta + eta))
     + u * Rabs (Y + B2R (bias i)).
Proof.
  intros x gain bias n size eps i W d b X Y m Hi Hs He HW Hb Fm Fc Fq Fw Fy.
  assert (N : (0 < n)%nat) by lia. assert (N1 : 1 <= INR n) by (apply (le_INR 1); lia).
  unfold layer_norm in *. fold m in Fy |- *. cbv zeta in *.
  destruct (add_finite _ _ Fy) as (Fb & Ft & _). destruct (mul_finite _ _ Ft) as [Fh _].
  destruct (mul_finite _ _ Fh) as [_ Fr].
  set (w := add (div (squares x n m) size) eps) in *. set (r := reciprocal_root w) in *.
  pose proof u_positive as U. pose proof eta_positive as Et.
  pose proof (mean_close x n size N Hs Fm) as Hm. fold m d in Hm.
  assert (D0 : 0 <= d) by (pose proof (Rabs_pos (B2R m - mean x n)); lra).
  destruct (squares_close x n m N Fm Fc Fq) as [Z0 Hq]. set (Z := INR n * variance x n) in *.
  assert (ZW : Z / INR n + B2R eps = W) by (unfold Z, W; field; lra).
  assert (D2 : (B2R m - mean x n) ^ 2 <= d ^ 2).
  { rewrite <- pow2_abs. apply pow_incr. split; [apply Rabs_pos | exact Hm]. }
  destruct (size_close (squares x n m) size eps Z n ((1 + u) ^ (dot_roundings n + 2)) (d ^ 2 + eta))
    as [B0 C]; try easy; try (rewrite ZW; exact HW).
  { apply power_at_least_1. }
  { pose proof (pow2_ge_0 d). lra. }
  { eapply Rle_trans; [exact Hq |]. apply Rplus_le_compat_r, Rmult_le_compat_l.
    - pose proof (power_at_least_1 (dot_roundings n + 2)). lra.
    - apply Rplus_le_compat_l, Rmult_le_compat_l; lra. }
  rewrite ZW in B0, C. fold w in C.
  assert (B : (1 + u) ^ 2 * (1 + u) ^ (dot_roundings n + 2) * (1 + (d ^ 2 + eta + eta) / W) - 1 = b).
  { unfold b. replace (dot_roundings n + 4)%nat with (2 + (dot_roundings n + 2))%nat by lia.
    rewrite (pow_add (1 + u) 2). now replace (d ^ 2 + eta + eta) with (d ^ 2 + 2 * eta) by ring. }
  rewrite B in *. destruct (reciprocal_close w W b Fw HW (conj B0 Hb) C Fr) as [G1 R].
  pose proof (scaled_close (sub (x i) m) r W (G b) Fh HW G1 R) as Hh.
  destruct (sub_relative _ _ (Fc i Hi)) as (_ & e & Hd & Ec). set (c := B2R (sub (x i) m)) in *.
  set (g := G b) in *. set (s := sqrt W) in *. assert (S0 : 0 < s) by now apply sqrt_lt_R0.
  assert (Over : forall x, Rabs (x / s) = Rabs x / s) by (intros; now apply over_root).
  set (t := B2R (x i) - mean x n) in *.
  assert (Dm : Rabs ((B2R (x i) - B2R m) - t) <= d).
  { replace (B2R (x i) - B2R m - t) with (- (B2R m - mean x n)) by (unfold t; ring). now rewrite Rabs_Ropp. }
  set (a := B2R (x i) - B2R m) in *.
  assert (A : Rabs a <= X + d).
  { replace a with ((a - t) + t) by ring. eapply Rle_trans; [apply Rabs_triang |]. unfold X. fold t. lra. }
  assert (Ct : Rabs (c - t) <= (1 + u) * (X + d) - X).
  { replace (c - t) with (e * a + (a - t)) by (rewrite Ec; ring). eapply Rle_trans; [apply Rabs_triang |].
    rewrite Rabs_mult.
    assert (Rabs e * Rabs a <= u * (X + d)) by (apply Rmult_le_compat; try apply Rabs_pos; easy). lra. }
  assert (Cs : Rabs c <= (1 + u) * (X + d)).
  { replace c with ((c - t) + t) by ring. eapply Rle_trans; [apply Rabs_triang |].
    unfold X in *. fold t in Ct |- *. lra. }
  assert (Hn : Rabs (B2R (mul (sub (x i) m) r) - t / s) <= ((1 + u) ^ 2 * g * (X + d) - X) / s + eta).
  { replace (B2R (mul (sub (x i) m) r) - t / s)
      with ((B2R (mul (sub (x i) m) r) - c / s) + (c - t) / s) by (field; lra).
    eapply Rle_trans; [apply Rabs_triang |]. rewrite Over.
    assert (I : 0 < / s) by now apply Rinv_0_lt_compat.
    assert (P1 : ((1 + u) * g - 1) * (Rabs c / s) <= ((1 + u) * g - 1) * ((1 + u) * (X + d) / s)).
    { apply Rmult_le_compat_l; [nra |]. apply Rmult_le_compat_r; [lra | exact Cs]. }
    assert (P2 : Rabs (c - t) / s <= ((1 + u) * (X + d) - X) / s)
      by (apply Rmult_le_compat_r; [lra | exact Ct]).
    replace (((1 + u) ^ 2 * g * (X + d) - X) / s + eta)
      with (((1 + u) * g - 1) * ((1 + u) * (X + d) / s) + eta + ((1 + u) * (X + d) - X) / s) by (field; lra).
    lra. }
  pose proof (gained _ _ _ _ Ft Hn) as Hg. rewrite Over in Hg. fold X Y in Hg. pose proof (add_error _ _ Fy) as Hy.
  set (o := B2R (add (bias i) _)) in *. set (h := B2R (mul (mul _ r) (gain i))) in *.
  set (v := Rabs (B2R (gain i))) in *. set (f := B2R (bias i)) in *.
  assert (T : v * ((1 + u) * (((1 + u) ^ 2 * g * (X + d) - X) / s + eta) + u * (X / s)) + eta
              = v * ((1 + u) ^ 3 * g * (X + d) - X) / s + ((1 + u) * v * eta + eta)) by (field; lra).
  rewrite T in Hg. set (q := v * ((1 + u) ^ 3 * g * (X + d) - X) / s + ((1 + u) * v * eta + eta)) in *.
  assert (Sz : Rabs (f + h) <= q + Rabs (Y + f)).
  { replace (f + h) with ((h - Y) + (Y + f)) by ring. eapply Rle_trans; [apply Rabs_triang | lra]. }
  replace (o - (Y + f)) with ((o - (f + h)) + (h - Y)) by ring.
  eapply Rle_trans; [apply Rabs_triang |].
  assert (u * Rabs (f + h) <= u * (q + Rabs (Y + f))) by (apply Rmult_le_compat_l; lra). lra.
Qed.
