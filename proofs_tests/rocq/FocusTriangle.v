(* FocusTriangle.v: [Focus] Sec. 4: which filters of order two are stable, and what (0,1)^2 cannot reach.

   The filter H(z) = 1 / (1 + a1 z^-1 + a2 z^-2), the recurrence y_t = x_t - a1 y_{t-1} - a2 y_{t-2}, has
   its poles at the roots of z^2 + a1 z + a2. Proved for all real a1, a2:
   - both poles lie inside the unit circle if and only if |a2| < 1 and |a1| < 1 + a2: the triangle;
   - the response to one impulse tends to 0 if and only if they do, and |h_t| <= (t + 1) r^t where no pole
     exceeds r;
   - then the recurrence, which is the convolution with h, answers bounded inputs with bounded outputs;
   - a filter of (0,1)^2, what sigma gives, lies in the triangle: stable, as the paper concludes. Not for
     its reason (erratum 7): negative real parts of the roots of a S^2 + b S + 1 hold for (b, a) = (0.5,
     1.5) too, whose poles lie outside the unit circle and whose response does not tend to 0;
   - a filter of (0,1)^2, and any sum of such filters, answers more to the highest frequency than to
     frequency 0 (erratum 7): no low-pass, in particular no moving average, where the ratio is (1 - f) / (1
     + f) < 1;
   - a2 = tanh u, a1 = (1 + a2) tanh v gives the triangle, all of it: the option theta=triangle.
   Kernel: iir.c. Tested on floats in proof_focus.c, test_errata.c, test_iir.c; con_pole_radius in
   constructions_focus.c. *)

From Coq Require Import Reals Lra Lia List.
#[local] Set Warnings "-ambiguous-paths". (* Coquelicot's own *)
From Coquelicot Require Import Coquelicot.
Import ListNotations.
Open Scope R_scope.

(* ---- Definitions ---- *)

Definition pole (a1 a2 : R) (z : C) : Prop := (z * z + RtoC a1 * z + RtoC a2 = 0)%C.
Definition stable (a1 a2 : R) : Prop := forall z, pole a1 a2 z -> Cmod z < 1.
Definition triangle (a1 a2 : R) : Prop := Rabs a2 < 1 /\ Rabs a1 < 1 + a2.

(* The response to one impulse: h_0 = 1, h_1 = - a1, h_t = - a1 h_{t-1} - a2 h_{t-2}. *)
Fixpoint h (a1 a2 : R) (t : nat) : R :=
  match t with
  | O => 1
  | S O => - a1
  | S (S n as m) => - a1 * h a1 a2 m - a2 * h a1 a2 n
  end.

(* The recurrence y_t = x_t - a1 y_{t-1} - a2 y_{t-2} from rest: (y_{t-1}, y_{t-2}) before row t, and y_t. *)
Fixpoint state (a1 a2 : R) (x : nat -> R) (t : nat) : R * R :=
  match t with
  | O => (0, 0)
  | S n => let (y1, y2) := state a1 a2 x n in (x n - a1 * y1 - a2 * y2, y1)
  end.
Definition y (a1 a2 : R) (x : nat -> R) (t : nat) : R := fst (state a1 a2 x (S t)).

(* H at the frequency w: z^-1 is e^{-jw} = cos w - j sin w. A bank adds its filters' outputs. *)
Definition e_minus_j (w : R) : C := (cos w, - sin w).
Definition H (theta : R * R) (w : R) : C :=
  (1 / (1 + RtoC (fst theta) * e_minus_j w + RtoC (snd theta) * (e_minus_j w * e_minus_j w)))%C.
Definition bank (thetas : list (R * R)) (w : R) : C :=
  fold_right (fun theta s => H theta w + s)%C (RtoC 0) thetas.
Definition gain (thetas : list (R * R)) (w : R) : R := Cmod (bank thetas w).
Definition in_unit_square (theta : R * R) : Prop := 0 < fst theta < 1 /\ 0 < snd theta < 1.

(* ---- The triangle is the unit disc ---- *)

Lemma C_eq (x y : C) : fst x = fst y -> snd x = snd y -> x = y.
Proof. destruct x, y; simpl; intros; subst; easy. Qed.

Lemma Cmod_below_1 (z : C) : Cmod z < 1 <-> fst z * fst z + snd z * snd z < 1.
Proof.
  unfold Cmod. replace (fst z ^ 2 + snd z ^ 2) with (fst z * fst z + snd z * snd z) by ring.
  assert (0 <= fst z * fst z + snd z * snd z) by nra. split; intros L.
  - apply Rnot_le_lt. intros N. apply (Rlt_not_le _ _ L). rewrite <- sqrt_1. now apply sqrt_le_1_alt.
  - rewrite <- sqrt_1. apply sqrt_lt_1_alt. lra.
Qed.

(* A pole's real and imaginary part. *)
Lemma pole_parts a1 a2 x y :
  pole a1 a2 (x, y) <-> x * x - y * y + a1 * x + a2 = 0 /\ y * (2 * x + a1) = 0.
Proof.
  unfold pole. split.
  - intros E. apply (f_equal (fun z : C => (fst z, snd z))) in E. injection E as E1 E2.
    simpl in *. split; lra.
  - intros [E1 E2]. apply C_eq; simpl; lra.
Qed.

Lemma triangle_is_stable a1 a2 : triangle a1 a2 -> stable a1 a2.
Proof.
  intros [A2 A1] [x y] P. apply pole_parts in P. destruct P as [E1 E2]. apply Cmod_below_1. simpl.
  apply Rabs_def2 in A1, A2. apply Rmult_integral in E2. destruct E2 as [-> | E2].
  - (* real: 1 + a1 + a2 > 0 and 1 - a1 + a2 > 0, the product of the roots below 1 *)
    assert (x < 1) by nra. assert (-1 < x) by nra. nra.
  - (* a conjugate pair: its modulus squared is the product a2 *)
    assert (x = - a1 / 2) by lra. nra.
Qed.

Lemma stable_is_triangle a1 a2 : stable a1 a2 -> triangle a1 a2.
Proof.
  intros St. unfold triangle. destruct (Rlt_le_dec (a1 * a1 / 4) a2) as [D | D].
  - set (w := sqrt (a2 - a1 * a1 / 4)).
    assert (W : w * w = a2 - a1 * a1 / 4) by (apply sqrt_sqrt; lra).
    assert (P : pole a1 a2 (- a1 / 2, w)) by (apply pole_parts; split; nra).
    apply St, Cmod_below_1 in P. simpl in P. split; apply Rabs_def1; nra.
  - set (w := sqrt (a1 * a1 / 4 - a2)).
    assert (W : w * w = a1 * a1 / 4 - a2) by (apply sqrt_sqrt; lra).
    assert (P : pole a1 a2 (- a1 / 2 + w, 0)) by (apply pole_parts; split; nra).
    assert (Q : pole a1 a2 (- a1 / 2 - w, 0)) by (apply pole_parts; split; nra).
    apply St, Cmod_below_1 in P. apply St, Cmod_below_1 in Q. simpl in P, Q.
    set (r := - a1 / 2 + w) in *. set (s := - a1 / 2 - w) in *.
    assert (E1 : a1 = - (r + s)) by (unfold r, s; lra).
    assert (E2 : a2 = r * s) by (unfold r, s; nra).
    assert (-1 < r < 1) by nra. assert (-1 < s < 1) by nra.
    rewrite E1, E2. split; apply Rabs_def1; nra.
Qed.

Theorem triangle_is_the_unit_disc : forall a1 a2, stable a1 a2 <-> triangle a1 a2.
Proof. split; [apply stable_is_triangle | apply triangle_is_stable]. Qed.

Theorem unit_square_is_stable : forall theta, in_unit_square theta -> stable (fst theta) (snd theta).
Proof.
  intros [t0 t1] [H0 H1]. apply triangle_is_the_unit_disc. simpl in *. split; apply Rabs_def1; lra.
Qed.

(* ---- The response ---- *)

(* Both poles: p + q = - a1, p q = a2. *)
Lemma two_poles a1 a2 : exists p q : C, (p + q = - RtoC a1)%C /\ (p * q = RtoC a2)%C.
Proof.
  destruct (Rlt_le_dec (a1 * a1 / 4) a2) as [D | D].
  - set (w := sqrt (a2 - a1 * a1 / 4)).
    assert (W : w * w = a2 - a1 * a1 / 4) by (apply sqrt_sqrt; lra).
    exists (- a1 / 2, w), (- a1 / 2, - w). split; apply C_eq; simpl; nra.
  - set (w := sqrt (a1 * a1 / 4 - a2)).
    assert (W : w * w = a1 * a1 / 4 - a2) by (apply sqrt_sqrt; lra).
    exists (- a1 / 2 + w, 0), (- a1 / 2 - w, 0). split; apply C_eq; simpl; nra.
Qed.

Lemma two_poles_are_poles a1 a2 p q :
  (p + q = - RtoC a1)%C -> (p * q = RtoC a2)%C -> forall z, pole a1 a2 z <-> z = p \/ z = q.
Proof.
  intros Sum Product z. unfold pole.
  assert (F : (z * z + RtoC a1 * z + RtoC a2 = (z - p) * (z - q))%C).
  { rewrite <- Product. replace (RtoC a1) with (- (p + q))%C by (rewrite Sum; ring). ring. }
  rewrite F. split.
  - intros E. destruct (Ceq_dec z p) as [-> | N]; [now left | right].
    destruct (Ceq_dec z q) as [-> | M]; [easy |]. exfalso.
    apply (Cmult_neq_0 _ _ (Cminus_eq_contra _ _ N) (Cminus_eq_contra _ _ M)), E.
  - intros [-> | ->]; ring.
Qed.

(* h_t is the sum of p^i q^(t-i) over i <= t. *)
Fixpoint power (z : C) (n : nat) : C := match n with O => 1 | S m => (z * power z m)%C end.
Fixpoint products (p q : C) (t : nat) : C :=
  match t with O => 1 | S n => (p * products p q n + power q t)%C end.

Lemma response_is_products a1 a2 p q :
  (p + q = - RtoC a1)%C -> (p * q = RtoC a2)%C -> forall t, RtoC (h a1 a2 t) = products p q t.
Proof.
  intros Sum Product.
  assert (B : forall t, RtoC (h a1 a2 t) = products p q t /\ RtoC (h a1 a2 (S t)) = products p q (S t)).
  { induction t as [| t [IH IH']]; split; [easy | | easy |].
    - simpl. rewrite RtoC_opp, <- Sum. ring.
    - change (h a1 a2 (S (S t))) with (- a1 * h a1 a2 (S t) - a2 * h a1 a2 t).
      rewrite RtoC_minus, !RtoC_mult, IH', IH, RtoC_opp, <- Sum, <- Product.
      change (products p q (S (S t))) with (p * products p q (S t) + q * power q (S t))%C.
      replace (power q (S t)) with (products p q (S t) - p * products p q t)%C by (simpl; ring). ring. }
  intros t. apply B.
Qed.

Lemma Cmod_power z n : Cmod (power z n) = Cmod z ^ n.
Proof. induction n; simpl; [apply Cmod_1 | rewrite Cmod_mult, IHn; ring]. Qed.

Theorem response_bound : forall a1 a2 r,
  (forall z, pole a1 a2 z -> Cmod z <= r) -> forall t, Rabs (h a1 a2 t) <= INR (S t) * r ^ t.
Proof.
  intros a1 a2 r Hr t. destruct (two_poles a1 a2) as (p & q & Sum & Product).
  pose proof (two_poles_are_poles a1 a2 p q Sum Product) as P.
  assert (Cp : Cmod p <= r) by (apply Hr, P; now left). assert (Cq : Cmod q <= r) by (apply Hr, P; now right).
  pose proof (Cmod_ge_0 p). pose proof (Cmod_ge_0 q).
  rewrite <- Cmod_R, (response_is_products a1 a2 p q) by easy.
  induction t as [| t IH]; [simpl; rewrite Cmod_1; lra |].
  rewrite S_INR. change (products p q (S t)) with (p * products p q t + power q (S t))%C.
  eapply Rle_trans; [apply Cmod_triangle |]. rewrite Cmod_mult, Cmod_power.
  assert (Cmod q ^ S t <= r ^ S t) by (apply pow_incr; lra).
  assert (Cmod p * Cmod (products p q t) <= r * (INR (S t) * r ^ t)).
  { apply Rmult_le_compat; auto. apply Cmod_ge_0. }
  simpl pow in *. nra.
Qed.

(* (n + 1) r^n tends to 0: with s = sqrt r, (n + 1) s^n <= 1 + s + ... + s^n <= 1 / (1 - s). *)
Lemma linear_times_geometric r : 0 <= r < 1 -> is_lim_seq (fun n => INR (S n) * r ^ n) 0.
Proof.
  intros [R0 R1]. set (s := sqrt r). assert (S2 : s * s = r) by now apply sqrt_sqrt.
  assert (S0 : 0 <= s) by apply sqrt_pos. assert (S1 : s < 1) by nra.
  assert (B : forall n, INR (S n) * s ^ n * (1 - s) <= 1 - s ^ S n).
  { induction n as [| n IH]; [simpl; lra |]. rewrite S_INR.
    assert (0 <= s ^ n) by now apply pow_le. assert (0 <= INR (S n)) by apply pos_INR.
    change (s ^ S (S n)) with (s * (s * s ^ n)). change (s ^ S n) with (s * s ^ n) in *.
    assert (0 <= INR (S n) * s ^ n * (1 - s) * (1 - s)) by (repeat apply Rmult_le_pos; lra). nra. }
  apply (is_lim_seq_le_le (fun _ => 0) _ (fun n => s ^ n * / (1 - s))).
  - intros n. assert (0 <= s ^ n) by now apply pow_le. assert (0 <= INR (S n)) by apply pos_INR.
    assert (E : r ^ n = s ^ n * s ^ n) by now rewrite <- S2, Rpow_mult_distr. rewrite E.
    split; [apply Rmult_le_pos; nra |].
    replace (INR (S n) * (s ^ n * s ^ n)) with (s ^ n * (INR (S n) * s ^ n)) by ring.
    apply Rmult_le_compat_l; [easy |]. apply Rmult_le_reg_r with (1 - s); [lra |].
    rewrite Rinv_l by lra. specialize (B n). assert (0 <= s ^ S n) by now apply pow_le. lra.
  - apply is_lim_seq_const.
  - replace (Finite 0) with (Rbar_mult 0 (/ (1 - s))) by (simpl; f_equal; ring).
    apply is_lim_seq_scal_r, is_lim_seq_geom. now rewrite Rabs_pos_eq.
Qed.

Lemma two_zero_limits (u v : nat -> R) (c : R) :
  is_lim_seq u 0 -> is_lim_seq v 0 -> is_lim_seq (fun n => u n + c * v n) 0.
Proof.
  intros U V. replace (Finite 0) with (Rbar_plus 0 (Rbar_mult c 0)) by (simpl; f_equal; ring).
  apply is_lim_seq_plus'; [easy |]. apply (is_lim_seq_scal_l v c 0 V).
Qed.

Theorem response_decays_inside_the_triangle : forall a1 a2, is_lim_seq (h a1 a2) 0 <-> triangle a1 a2.
Proof.
  intros a1 a2. rewrite <- triangle_is_the_unit_disc. destruct (two_poles a1 a2) as (p & q & Sum & Product).
  pose proof (two_poles_are_poles a1 a2 p q Sum Product) as P. split.
  - intros L.
    assert (one : forall p q : C, (p + q = - RtoC a1)%C -> (p * q = RtoC a2)%C -> Cmod q < 1).
    { clear - L. intros p q Sum Product. apply Rnot_le_lt. intros N.
      assert (Z : is_lim_seq (fun n => Rabs (h a1 a2 (S n)) + Cmod p * Rabs (h a1 a2 n)) 0).
      { apply two_zero_limits; apply (proj1 (is_lim_seq_abs_0 _)); [| easy].
        now apply is_lim_seq_incr_1 in L. }
      assert (1 <= 0); [| lra].
      apply (is_lim_seq_le (fun _ => 1) _ 1 0 ) with (2 := is_lim_seq_const 1) (3 := Z).
      intros n. rewrite <- !Cmod_R, !(response_is_products a1 a2 p q) by easy. rewrite <- Cmod_mult.
      rewrite <- (Cmod_opp (p * _)%C). eapply Rle_trans; [| apply Cmod_triangle].
      replace (products p q (S n) + - (p * products p q n))%C with (power q (S n)) by (simpl; ring).
      rewrite Cmod_power. now apply pow_R1_Rle. }
    intros z Hz. apply P in Hz. destruct Hz as [-> | ->]; [apply (one q p) | apply (one p q)]; try easy.
    + now rewrite Cplus_comm.
    + now rewrite Cmult_comm.
  - intros St. apply is_lim_seq_abs_0. set (r := Rmax (Cmod p) (Cmod q)).
    assert (Hr : 0 <= r < 1).
    { split; [eapply Rle_trans; [apply (Cmod_ge_0 p) | apply Rmax_l] |].
      apply Rmax_lub_lt; apply St, P; auto. }
    apply (is_lim_seq_le_le (fun _ => 0) _ (fun n => INR (S n) * r ^ n)).
    + intros n. split; [apply Rabs_pos |]. apply response_bound. intros z Hz. apply P in Hz.
      destruct Hz as [-> | ->]; [apply Rmax_l | apply Rmax_r].
    + apply is_lim_seq_const.
    + now apply linear_times_geometric.
Qed.

(* ---- The recurrence ---- *)

(* f 0 + ... + f (n-1) *)
Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => sum m f + f m end.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n; simpl; intros E; [easy | rewrite IHn, E; auto]. Qed.
Lemma sum_scale n f c : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.
Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Theorem recurrence_is_convolution : forall a1 a2 x t,
  y a1 a2 x t = sum (S t) (fun s => h a1 a2 (t - s) * x s).
Proof.
  intros a1 a2 x.
  assert (B : forall t, y a1 a2 x t = sum (S t) (fun s => h a1 a2 (t - s) * x s) /\
                        y a1 a2 x (S t) = sum (S (S t)) (fun s => h a1 a2 (S t - s) * x s)).
  { induction t as [| t [IH IH']]; split.
    - unfold y. simpl. ring.
    - unfold y. simpl. ring.
    - easy.
    - replace (y a1 a2 x (S (S t))) with (x (S (S t)) - a1 * y a1 a2 x (S t) - a2 * y a1 a2 x t)
        by (unfold y; simpl; destruct (state a1 a2 x t); easy).
      rewrite IH', IH. cbn [sum]. rewrite !Nat.sub_diag.
      replace (S (S t) - S t)%nat with 1%nat by lia.
      replace (S (S t) - t)%nat with 2%nat by lia. replace (S t - t)%nat with 1%nat by lia.
      rewrite (sum_ext t (fun s => h a1 a2 (S (S t) - s) * x s)
        (fun s => (- a1) * (h a1 a2 (S t - s) * x s) - a2 * (h a1 a2 (t - s) * x s))).
      + rewrite sum_minus, !sum_scale. simpl. ring.
      + intros s Hs. replace (S (S t) - s)%nat with (S (S (t - s))) by lia.
        replace (S t - s)%nat with (S (t - s)) by lia.
        change (h a1 a2 (S (S (t - s)))) with (- a1 * h a1 a2 (S (t - s)) - a2 * h a1 a2 (t - s)). ring. }
  intros t. apply B.
Qed.

(* 1 + 2 r + ... + n r^(n-1) <= 1 / (1 - r)^2, summed from its end. *)
Lemma sum_of_linear_times_geometric r n : 0 <= r < 1 ->
  sum n (fun s => INR (S (n - 1 - s)) * r ^ (n - 1 - s)) * ((1 - r) * (1 - r)) <= 1.
Proof.
  intros Hr.
  assert (E : sum n (fun s => INR (S (n - 1 - s)) * r ^ (n - 1 - s)) * ((1 - r) * (1 - r)) =
              1 - r ^ n - INR n * r ^ n * (1 - r)).
  { induction n as [| n IH]; [simpl; ring |].
    assert (Sh : forall m f, sum (S m) f = f O + sum m (fun i => f (S i))).
    { clear. intros m f. induction m as [| m IH]; [simpl; ring |]. cbn [sum] in *. rewrite IH. ring. }
    rewrite Sh. replace (S n - 1 - 0)%nat with n by lia.
    rewrite (sum_ext n _ (fun s => INR (S (n - 1 - s)) * r ^ (n - 1 - s)))
      by (intros i Hi; now replace (S n - 1 - S i)%nat with (n - 1 - i)%nat by lia).
    rewrite Rmult_plus_distr_r, IH, S_INR. simpl. ring. }
  rewrite E. assert (0 <= r ^ n) by now apply pow_le. pose proof (pos_INR n).
  assert (0 <= INR n * r ^ n * (1 - r)) by (repeat apply Rmult_le_pos; lra). lra.
Qed.

(* A stable filter answers bounded inputs with bounded outputs. *)
Theorem stable_is_bounded : forall a1 a2, stable a1 a2 ->
  exists gain, forall x X, (forall t, Rabs (x t) <= X) -> forall t, Rabs (y a1 a2 x t) <= gain * X.
Proof.
  intros a1 a2 St. destruct (two_poles a1 a2) as (p & q & Sum & Product).
  pose proof (two_poles_are_poles a1 a2 p q Sum Product) as P. set (r := Rmax (Cmod p) (Cmod q)).
  assert (Hr : 0 <= r < 1).
  { split; [eapply Rle_trans; [apply (Cmod_ge_0 p) | apply Rmax_l] |].
    apply Rmax_lub_lt; apply St, P; auto. }
  assert (Hh : forall t, Rabs (h a1 a2 t) <= INR (S t) * r ^ t).
  { apply response_bound. intros z Hz. apply P in Hz.
    destruct Hz as [-> | ->]; [apply Rmax_l | apply Rmax_r]. }
  exists (/ ((1 - r) * (1 - r))). intros x X Hx t. rewrite recurrence_is_convolution.
  assert (X0 : 0 <= X) by (pose proof (Rabs_pos (x O)); specialize (Hx O); lra).
  apply Rle_trans with (X * sum (S t) (fun s => INR (S (S t - 1 - s)) * r ^ (S t - 1 - s))).
  - rewrite <- sum_scale. generalize (S t) at 1 2 as n. induction n as [| n IH]; cbn [sum].
    + rewrite Rabs_R0. lra.
    + eapply Rle_trans; [apply Rabs_triang |]. apply Rplus_le_compat; [apply IH |].
      replace (S t - 1 - n)%nat with (t - n)%nat by lia. rewrite Rabs_mult, Rmult_comm.
      apply Rmult_le_compat; auto using Rabs_pos.
  - pose proof (sum_of_linear_times_geometric r (S t) Hr) as L. assert (0 < (1 - r) * (1 - r)) by nra.
    rewrite Rmult_comm. apply Rmult_le_compat_r; [easy |].
    apply Rmult_le_reg_r with ((1 - r) * (1 - r)); [easy |]. rewrite Rinv_l by lra. exact L.
Qed.

(* ---- Erratum 7: the printed reason ---- *)

(* [Focus] Eqs. 16-19 ask for negative real parts of the roots of a S^2 + b S + 1. *)
Definition laplace_test (b a : R) : Prop :=
  forall s : C, (RtoC a * (s * s) + RtoC b * s + 1 = 0)%C -> fst s < 0.

Theorem laplace_test_is_passed_in_vain :
  laplace_test (1 / 2) (3 / 2) /\ ~ stable (1 / 2) (3 / 2) /\ ~ is_lim_seq (h (1 / 2) (3 / 2)) 0.
Proof.
  assert (N : ~ triangle (1 / 2) (3 / 2)) by (intros [A _]; rewrite Rabs_pos_eq in A; lra).
  repeat split.
  - intros [x y] E. apply (f_equal (fun z : C => (fst z, snd z))) in E. injection E as E1 E2. simpl in *.
    assert (P : y * (3 * x + 1 / 2) = 0) by lra. apply Rmult_integral in P. destruct P as [-> |]; nra.
  - now rewrite triangle_is_the_unit_disc.
  - now rewrite response_decays_inside_the_triangle.
Qed.

(* ---- Erratum 7: no low-pass ---- *)

Lemma e_at_0 : e_minus_j 0 = RtoC 1.
Proof. unfold e_minus_j, RtoC. rewrite cos_0, sin_0. f_equal. ring. Qed.
Lemma e_at_pi : e_minus_j PI = (- RtoC 1)%C.
Proof. unfold e_minus_j. rewrite cos_PI, sin_PI. apply C_eq; simpl; ring. Qed.

Lemma H_at_0 theta : 1 + fst theta + snd theta <> 0 -> H theta 0 = RtoC (/ (1 + fst theta + snd theta)).
Proof.
  intros N. unfold H. rewrite e_at_0, RtoC_inv by easy. unfold Cdiv. rewrite Cmult_1_l. f_equal.
  rewrite !RtoC_plus. ring.
Qed.
Lemma H_at_pi theta : 1 - fst theta + snd theta <> 0 -> H theta PI = RtoC (/ (1 - fst theta + snd theta)).
Proof.
  intros N. unfold H. rewrite e_at_pi, RtoC_inv by easy. unfold Cdiv. rewrite Cmult_1_l. f_equal.
  rewrite RtoC_plus, RtoC_minus. ring.
Qed.

Fixpoint total (f : R * R -> R) (thetas : list (R * R)) : R :=
  match thetas with [] => 0 | theta :: rest => f theta + total f rest end.

Lemma bank_gains thetas : List.Forall in_unit_square thetas ->
  gain thetas 0 = total (fun theta => / (1 + fst theta + snd theta)) thetas /\
  gain thetas PI = total (fun theta => / (1 - fst theta + snd theta)) thetas.
Proof.
  intros F. unfold gain.
  assert (B : bank thetas 0 = RtoC (total (fun theta => / (1 + fst theta + snd theta)) thetas) /\
              bank thetas PI = RtoC (total (fun theta => / (1 - fst theta + snd theta)) thetas) /\
              0 <= total (fun theta => / (1 + fst theta + snd theta)) thetas /\
              0 <= total (fun theta => / (1 - fst theta + snd theta)) thetas).
  { induction F as [| theta rest [T0 T1] F (B0 & B1 & P0 & P1)]; simpl; [repeat split; lra |].
    rewrite B0, B1, H_at_0, H_at_pi, <- !RtoC_plus by lra.
    assert (0 < / (1 + fst theta + snd theta)) by (apply Rinv_0_lt_compat; lra).
    assert (0 < / (1 - fst theta + snd theta)) by (apply Rinv_0_lt_compat; lra).
    repeat split; lra. }
  destruct B as (-> & -> & P0 & P1). now rewrite !Cmod_R, !Rabs_pos_eq.
Qed.

(* A layer's filters, as many as there are, at least one. *)
Theorem no_low_pass : forall thetas,
  thetas <> [] -> List.Forall in_unit_square thetas -> gain thetas 0 < gain thetas PI.
Proof.
  intros thetas N F. destruct (bank_gains thetas F) as [-> ->].
  assert (one : forall theta, in_unit_square theta ->
                / (1 + fst theta + snd theta) < / (1 - fst theta + snd theta)).
  { intros theta [T0 T1]. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra | lra]. }
  assert (all : forall rest, List.Forall in_unit_square rest ->
                total (fun theta => / (1 + fst theta + snd theta)) rest <=
                total (fun theta => / (1 - fst theta + snd theta)) rest).
  { induction 1 as [| theta rest T F' IH]; simpl; [lra |]. specialize (one theta T). lra. }
  destruct F as [| theta rest T F]; [easy |]. simpl. specialize (one theta T). specialize (all rest F). lra.
Qed.

(* The moving average y_t = (1 - f) x_t + f y_{t-1}: its filter is (-f, 0). *)
Theorem moving_average : forall f, 0 < f < 1 ->
  Cmod (H (- f, 0) PI) / Cmod (H (- f, 0) 0) = (1 - f) / (1 + f) /\ (1 - f) / (1 + f) < 1.
Proof.
  intros f Hf. rewrite H_at_0, H_at_pi by (simpl; lra). rewrite !Cmod_R. simpl.
  assert (0 < / (1 + - f + 0)) by (apply Rinv_0_lt_compat; lra).
  assert (0 < / (1 - - f + 0)) by (apply Rinv_0_lt_compat; lra).
  rewrite !Rabs_pos_eq by lra. split; [field; split; lra |].
  apply Rmult_lt_reg_r with (1 + f); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

(* ---- theta=triangle ---- *)

Lemma tanh_between u : -1 < tanh u < 1.
Proof.
  unfold tanh, sinh, cosh. pose proof (exp_pos u). pose proof (exp_pos (- u)).
  split; apply Rmult_lt_reg_r with ((exp u + exp (- u)) / 2); try lra; field_simplify; lra.
Qed.

Lemma tanh_onto y : -1 < y < 1 -> exists u, tanh u = y.
Proof.
  intros Hy. assert (0 < (1 + y) / (1 - y)) by (apply Rdiv_lt_0_compat; lra).
  exists (ln ((1 + y) / (1 - y)) / 2). set (u := ln ((1 + y) / (1 - y)) / 2).
  assert (E : exp u * exp u = (1 + y) / (1 - y)).
  { rewrite <- exp_plus. unfold u. rewrite <- (exp_ln ((1 + y) / (1 - y))) at 3 by easy. f_equal. lra. }
  unfold tanh, sinh, cosh. rewrite exp_Ropp. pose proof (exp_pos u).
  replace ((exp u - / exp u) / 2 / ((exp u + / exp u) / 2))
    with ((exp u * exp u - 1) / (exp u * exp u + 1)) by (field; nra).
  rewrite E. field. lra.
Qed.

Theorem theta_triangle_is_all_stable_filters : forall a1 a2,
  stable a1 a2 <-> exists u v, a2 = tanh u /\ a1 = (1 + a2) * tanh v.
Proof.
  intros a1 a2. rewrite triangle_is_the_unit_disc. split.
  - intros [A2 A1]. apply Rabs_def2 in A1, A2.
    destruct (tanh_onto a2) as [u Hu]; [lra |].
    destruct (tanh_onto (a1 / (1 + a2))) as [v Hv].
    { split; apply Rmult_lt_reg_r with (1 + a2); try lra; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
    exists u, v. split; [easy |]. rewrite Hv. field. lra.
  - intros (u & v & -> & ->). pose proof (tanh_between u). pose proof (tanh_between v).
    split; apply Rabs_def1; nra.
Qed.
