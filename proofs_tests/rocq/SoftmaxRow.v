(* SoftmaxRow.v: how far a row of softmax and of softmax attention errs, in IEEE 754 binary32.

   A row as attention.c computes it, each operation rounded to nearest even: n scores, each the tile's sum
   over d of (scale q) k; the largest is taken from each; Exp.v's exponential of the difference, 0
   below -41.5; the canonical sum of the n; r, 1 over that. A weight is its exponential times r, an output the
   tile's sum over N >= n columns of exponentials (from n on zeros) times values, times r. Proved for every
   n, d and N and all inputs for which scores, differences, sum and result are finite, u = 2^-24, eta =
   2^-150, D the largest difference of two scores, or 42 where that is less, a = (1 + 1.48 u) e^(u D) - 1,
   excess k = (1 + u)^k (1 + a) - 1 + n e^-41.5, b = excess (ceil(n / 16) + 3) <= 1/2:
   - a weight: |w - p| <= (1 + u)^2 ((1 + a) p + e^-41.5) / (1 - b) - p + eta, p the softmax of the
     computed scores;
   - an output, |v| <= V: |o - sum p v| <= (1 + u)^2 ((1 + excess k) V + (1 + u)^k N eta) / (1 - b) - V + eta,
     k the roundings of the tile's sum of N (TileSums.v);
   - a score, |q| <= Q, |k| <= K: at most Delta = d K ((1 + u)^j (|scale| Q + u |scale| Q + eta) - |scale| Q)
     + (1 + u)^j d eta from the exact one, j the roundings of the tile's sum of d;
   - an output against attention of the exact scores: its bound and (e^(2 Delta) - 1) V.
   Not covered: scores that are -inf (windows), factors and biases on scores, caps, sinks, pooling, backward
   passes, fast mode; that maxima are exact in any order (m is a premise: a largest score); that a compiler
   keeps the operations as written (digests.txt, on every instruction set).
   Kernels: attention.c, attention_rows.h (softmax_row, exponentials). The bounds as C: ref/bounds.c, by which
   seqmix compare and judge hold float32 rows of attention, and the page shows what is measured. Tested on
   floats in test_row_bounds.c. *)

From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core BinarySingleNaN Plus_error Relative.
From Interval Require Import Tactic.
From Seqmix Require Import Bounds Rounding TileSums Binary32 Exp.
Import Over_integers.
Open Scope R_scope.

#[local] Existing Instance p24.


(* ---- The row ---- *)

Definition exponential (s : nat -> float) (m : float) (i : nat) : float := softmax_exp (sub (s i) m).
Definition total (s : nat -> float) (m : float) (n : nat) : float := row_sum (exponential s m) n.
Definition weight (s : nat -> float) (m : float) (n i : nat) : float :=
  mul (exponential s m i) (div one (total s m n)).
Definition output (s : nat -> float) (m : float) (n N : nat) (v : nat -> float) : float :=
  mul (tile_sum (padded (exponential s m) n) v N) (div one (total s m n)).
Definition score (q k : nat -> float) (scale : float) (d : nat) : float :=
  tile_sum (fun c => mul (q c) scale) k d.

(* m is a largest of n scores; D bounds their differences, or is 42. *)
Definition largest (s : nat -> float) (n : nat) (m : float) : Prop :=
  (exists i, (i < n)%nat /\ B2R (s i) = B2R m) /\ forall i, (i < n)%nat -> B2R (s i) <= B2R m.
Definition spread (s : nat -> float) (n : nat) (m : float) (D : R) : Prop :=
  42 <= D \/ forall i, (i < n)%nat -> B2R m - B2R (s i) <= D.

Definition tail : R := exp (-41.5).
Definition a (D : R) : R := (1 + 1.48 * u) * exp (u * D) - 1.
Definition excess (D : R) (n k : nat) : R := (1 + u) ^ k * (1 + a D) - 1 + INR n * tail.

(* Softmax of real scores, weighing v. *)
Definition softmax_of (t : nat -> R) (n i : nat) : R := exp (t i) / sum n (fun j => exp (t j)).
Definition attend (t : nat -> R) (n : nat) (v : nat -> R) : R := sum n (fun i => softmax_of t n i * v i).

(* ---- Sums ---- *)

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof. induction n; simpl; intros H; [lra |]. apply Rplus_le_compat; auto. Qed.

Lemma sum_scale n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma sum_abs n f : Rabs (sum n f) <= sum n (fun i => Rabs (f i)).
Proof.
  induction n; simpl; [rewrite Rabs_R0; lra |]. eapply Rle_trans; [apply Rabs_triang |]. lra.
Qed.

Lemma sum_constant n c : sum n (fun _ => c) = INR n * c.
Proof. induction n; [simpl; ring |]. rewrite S_INR. cbn [sum]. rewrite IHn. ring. Qed.

Lemma sum_minus n f g : sum n f - sum n g = sum n (fun i => f i - g i).
Proof. induction n; simpl; [ring | rewrite <- IHn; ring]. Qed.

Lemma sum_at_least n f i : (forall j, (j < n)%nat -> 0 <= f j) -> (i < n)%nat -> f i <= sum n f.
Proof.
  induction n; intros P H; [lia |]. cbn [sum].
  assert (0 <= sum n f) by (rewrite <- (sum_zero n (fun _ => 0)) by easy; apply sum_le; auto).
  destruct (Nat.eq_dec i n) as [-> | ]; [lra |].
  assert (f i <= sum n f) by (apply IHn; [auto | lia]). pose proof (P n ltac:(lia)). lra.
Qed.

(* ---- One element ---- *)

Lemma a_positive D : 0 <= D -> 0 <= a D.
Proof.
  intros H. unfold a. pose proof u_positive. pose proof (exp_ineq1_le (u * D)).
  assert (0 <= u * D) by (apply Rmult_le_pos; lra). nra.
Qed.

Lemma element s n m D i : (i < n)%nat -> largest s n m -> spread s n m D -> 0 <= D ->
  is_finite (sub (s i) m) = true ->
  0 <= B2R (exponential s m i) <= (1 + a D) * exp (B2R (s i) - B2R m) /\
  Rabs (B2R (exponential s m i) - exp (B2R (s i) - B2R m)) <= a D * exp (B2R (s i) - B2R m) + tail.
Proof.
  intros Hi [_ L] HD D0 F. destruct (sub_relative _ _ F) as (V & d & Hd & R).
  specialize (L i Hi). unfold exponential. set (x := sub (s i) m) in *.
  set (w := B2R (s i) - B2R m) in *. assert (W : w <= 0) by (unfold w; lra).
  pose proof u_positive as U0. assert (U1 : u <= 1 / 1000) by (unfold u; lra).
  apply Rabs_le_inv in Hd. assert (X : B2R x <= 0) by (rewrite R; nra).
  destruct (softmax_exp_error x F ltac:(lra)) as [Low High].
  pose proof (exp_pos w) as Ew. pose proof (a_positive D D0) as A0.
  destruct (Rlt_le_dec (B2R x) (-41.5)) as [B | B].
  - rewrite (Low B). change (B2R zero) with 0.
    assert (W' : w < -41.5).
    { apply Rnot_le_lt. intros N. assert (-41.5 <= rnd w); [| lra].
      assert (Vf : B2R floor = -41.5) by (unfold floor, B2R, F2R; simpl; lra). rewrite <- Vf.
      apply round_ge_generic; [now apply FLT_exp_valid | apply valid_rnd_N | apply format_float | lra]. }
    assert (exp w < tail) by (apply exp_increasing; exact W').
    split; [nra |]. rewrite Rabs_minus_sym, Rminus_0_r, Rabs_pos_eq by lra. nra.
  - destruct (High B) as [_ E]. clear Low High.
    assert (Hw : Rabs (w * d) <= u * D).
    { rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat; try apply Rabs_pos; [apply Rabs_le; lra |].
      rewrite Rabs_left1 by exact W. destruct HD as [HD | HD]; [| unfold w; specialize (HD i Hi); lra].
      nra. }
    assert (Ex : exp (B2R x) = exp w * exp (w * d)) by (rewrite <- exp_plus; f_equal; rewrite R; ring).
    rewrite Ex in E. apply Rabs_le_inv in Hw.
    assert (Up : exp (w * d) <= exp (u * D)) by (apply exp_le; lra).
    assert (Dn : 2 - exp (u * D) <= exp (w * d)).
    { apply Rle_trans with (exp (- (u * D))); [| apply exp_le; lra].
      rewrite exp_Ropp. pose proof (exp_pos (u * D)) as P. set (z := exp (u * D)) in *.
      apply Rmult_le_reg_r with z; [exact P |]. rewrite Rinv_l by lra.
      pose proof (Rle_0_sqr (z - 1)) as Q. unfold Rsqr in Q. lra. }
    set (z := exp (w * d)) in *. assert (Z : 0 < z) by apply exp_pos. apply Rabs_le_inv in E.
    unfold a in *. set (Y := exp (u * D)) in *.
    assert (P1 : exp w * z <= exp w * Y) by (apply Rmult_le_compat_l; lra).
    assert (P2 : 0 < exp w * z) by (apply Rmult_lt_0_compat; lra).
    assert (P3 : exp w * (2 - Y) <= exp w * z) by (apply Rmult_le_compat_l; lra).
    assert (P4 : 1.48 * u * (exp w * z) <= 1.48 * u * (exp w * Y)) by (apply Rmult_le_compat_l; lra).
    assert (P5 : 1.48 * u * (exp w * z) <= exp w * z) by nra.
    assert (T : 0 < tail) by apply exp_pos.
    split; [split; lra |]. apply Rabs_le. split; lra.
Qed.

(* ---- A quotient ---- *)

Lemma mul_finite x y : is_finite (mul x y) = true -> is_finite x = true /\ is_finite y = true.
Proof. destruct x as [| [] | |], y as [| [] | |]; simpl; intros; try discriminate; easy. Qed.

(* x is within T S of X, y within b S of S: x times 1 / y, both rounded, against X / S. *)
Lemma quotient x y X S V T b : 1 <= S <= 2 ^ 100 -> Rabs X <= V * S -> Rabs (B2R x - X) <= T * S ->
  Rabs (B2R y - S) <= b * S -> 0 <= b <= / 2 ->
  is_finite (mul x (div one y)) = true ->
  Rabs (B2R (mul x (div one y)) - X / S) <= (1 + u) ^ 2 * (V + T) / (1 - b) - V + eta.
Proof.
  intros HS HX HT Hy Hb F. destruct (mul_finite _ _ F) as [_ Fr].
  apply Rabs_le_inv in Hy. assert (Y : / 2 * S <= B2R y <= 2 * S) by nra.
  assert (Y0 : 0 < B2R y) by lra.
  destruct (div_relative one y Fr ltac:(lra)) as (d & Hd & E).
  { rewrite one_is_1. unfold Rdiv. rewrite Rmult_1_l, Rabs_pos_eq by (left; now apply Rinv_0_lt_compat).
    apply Rle_trans with (/ (2 * 2 ^ 100)); [| apply Rinv_le; lra].
    change (-126)%Z with (- Z.of_nat 126)%Z. rewrite bpow_inverse. apply Rinv_le; lra. }
  rewrite one_is_1 in E. unfold Rdiv in E at 1. rewrite Rmult_1_l in E.
  pose proof (mul_error _ _ F) as R. set (o := B2R (mul x (div one y))) in *.
  set (r := B2R (div one y)) in *. set (p := B2R x * r) in *.
  pose proof u_positive as U. apply Rabs_le_inv in Hd.
  set (o0 := X / S). set (t := B2R x / S - o0). set (g := B2R y / S - 1).
  assert (HV : Rabs o0 <= V).
  { unfold o0, Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ S)) by (left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_reg_r with S; [lra |]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (Ht : Rabs t <= T).
  { replace t with ((B2R x - X) / S) by (unfold t, o0; field; lra).
    unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ S)) by (left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_reg_r with S; [lra |]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (Hg : - b <= g <= b).
  { assert (G : g * S = B2R y - S) by (unfold g; field; lra). split; apply Rmult_le_reg_r with S; lra. }
  assert (P : p - o0 = (t * (1 + d) + o0 * (d - g)) / (1 + g)).
  { unfold p, t, g. rewrite E. fold o0. field_simplify_eq; [ring | lra]. }
  assert (HP : Rabs (p - o0) <= (T * (1 + u) + V * (u + b)) / (1 - b)).
  { rewrite P. unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ (1 + g)))
      by (left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_compat; [apply Rabs_pos | left; apply Rinv_0_lt_compat; lra | | apply Rinv_le; lra].
    eapply Rle_trans; [apply Rabs_triang |]. rewrite !Rabs_mult.
    apply Rplus_le_compat; apply Rmult_le_compat; try apply Rabs_pos; try easy; apply Rabs_le; lra. }
  set (q := (T * (1 + u) + V * (u + b)) / (1 - b)) in *.
  assert (Hp : Rabs p <= q + V).
  { replace p with ((p - o0) + o0) by ring. eapply Rle_trans; [apply Rabs_triang | lra]. }
  assert (Q : q * (1 - b) = T * (1 + u) + V * (u + b)) by (unfold q; field; lra).
  assert (B : (1 + u) ^ 2 * (V + T) / (1 - b) - V = (1 + u) * q + u * V) by (unfold q; field; lra).
  rewrite B. replace (o - o0) with ((o - p) + (p - o0)) by ring.
  eapply Rle_trans; [apply Rabs_triang |].
  assert (u * Rabs p <= u * (q + V)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* ---- The row's sums ---- *)

Section Row.
Variables (s : nat -> float) (m : float) (n : nat) (D : R).
Hypotheses (greatest : largest s n m) (wide : spread s n m D) (D0 : 0 <= D)
  (finite : forall i, (i < n)%nat -> is_finite (sub (s i) m) = true).

Let E i := exp (B2R (s i) - B2R m).
Let S := sum n E.

Lemma S_range : 1 <= S <= INR n.
Proof.
  destruct greatest as [(i & Hi & V) L]. split.
  - replace 1 with (E i) by (unfold E; rewrite V, Rminus_diag_eq by easy; apply exp_0).
    apply sum_at_least; [| exact Hi]. intros. left. apply exp_pos.
  - rewrite <- (Rmult_1_r (INR n)), <- sum_constant. apply sum_le. intros j Hj. rewrite <- exp_0.
    apply exp_le. specialize (L j Hj). lra.
Qed.

Lemma sum_upper : sum n (fun i => B2R (exponential s m i)) <= (1 + a D) * S.
Proof.
  unfold S. rewrite <- sum_scale. apply sum_le. intros i Hi.
  apply (element s n m D i Hi greatest wide D0 (finite i Hi)).
Qed.

Lemma weighed_close (v : nat -> R) V : (forall i, (i < n)%nat -> Rabs (v i) <= V) ->
  Rabs (sum n (fun i => B2R (exponential s m i) * v i) - sum n (fun i => E i * v i))
  <= (a D * S + INR n * tail) * V.
Proof.
  intros HV. rewrite sum_minus. eapply Rle_trans; [apply sum_abs |].
  rewrite Rmult_plus_distr_r. unfold S. rewrite <- sum_constant.
  rewrite <- sum_scale, !(Rmult_comm _ V), <- !sum_scale, <- sum_plus.
  apply sum_le. intros i Hi. rewrite <- Rmult_minus_distr_r, Rabs_mult.
  destruct (element s n m D i Hi greatest wide D0 (finite i Hi)) as [_ H]. fold (E i) in H.
  rewrite <- Rmult_plus_distr_l, (Rmult_comm V). apply Rmult_le_compat; try apply Rabs_pos; auto.
Qed.

Lemma total_close : is_finite (total s m n) = true ->
  Rabs (B2R (total s m n) - S) <= excess D n (groups n + 3) * S.
Proof.
  intros F. pose proof (row_sum_relative_error (exponential s m) n F) as R.
  assert (P : forall i, (i < n)%nat -> 0 <= B2R (exponential s m i))
    by (intros i Hi; apply (element s n m D i Hi greatest wide D0 (finite i Hi))).
  specialize (R P). fold (total s m n) in R.
  pose proof (weighed_close (fun _ => 1) 1 ltac:(intros; cbv beta; rewrite Rabs_R1; lra)) as W. cbv beta in W.
  rewrite (sum_ext n (fun i => B2R (exponential s m i) * 1) (fun i => B2R (exponential s m i))) in W
    by (intros; ring).
  rewrite (sum_ext n (fun i => E i * 1) E) in W by (intros; ring). fold S in W. rewrite Rmult_1_r in W.
  pose proof sum_upper as Up. set (e := sum n (fun i => B2R (exponential s m i))) in *.
  pose proof (power_at_least_1 (groups n + 3)) as Pk. set (c := (1 + u) ^ (groups n + 3)) in *.
  replace (B2R (total s m n) - S) with ((B2R (total s m n) - e) + (e - S)) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. unfold excess. fold c.
  assert ((c - 1) * e <= (c - 1) * ((1 + a D) * S)) by (apply Rmult_le_compat_l; lra).
  pose proof S_range as [S1 _]. assert (0 <= INR n * tail)
    by (apply Rmult_le_pos; [apply pos_INR | left; apply exp_pos]).
  assert (INR n * tail <= INR n * tail * S) by nra. lra.
Qed.

Lemma S_small b : INR n * tail <= excess D n b -> excess D n b <= / 2 -> S <= 2 ^ 100.
Proof.
  intros H1 H2. pose proof S_range as [_ H]. eapply Rle_trans; [exact H |].
  assert (T : / 2 ^ 70 <= tail) by (unfold tail; interval with (i_prec 40)).
  pose proof (pos_INR n). assert (INR n * / 2 ^ 70 <= / 2) by nra. lra.
Qed.

Lemma excess_range k : INR n * tail <= excess D n k /\ 0 <= excess D n k.
Proof.
  unfold excess. pose proof (power_at_least_1 k). pose proof (a_positive D D0).
  assert (0 <= INR n * tail) by (apply Rmult_le_pos; [apply pos_INR | left; apply exp_pos]).
  assert (1 <= (1 + u) ^ k * (1 + a D)) by nra. lra.
Qed.

Lemma shifted i : E i / S = softmax_of (fun j => B2R (s j)) n i.
Proof.
  unfold softmax_of, E, S.
  assert (H : sum n (fun j => exp (B2R (s j))) = exp (B2R m) * sum n E).
  { rewrite <- sum_scale. apply sum_ext. intros j _. unfold E. rewrite <- exp_plus. f_equal. ring. }
  rewrite H. replace (exp (B2R (s i))) with (exp (B2R m) * exp (B2R (s i) - B2R m))
    by (rewrite <- exp_plus; f_equal; ring).
  pose proof (exp_pos (B2R m)). pose proof S_range as [H1 _]. unfold S in H1. unfold E in *. field. lra.
Qed.

Lemma shifted_sum (v : nat -> R) :
  sum n (fun i => E i * v i) / S = attend (fun j => B2R (s j)) n v.
Proof.
  unfold attend, Rdiv. rewrite Rmult_comm, <- sum_scale. apply sum_ext. intros i _.
  rewrite <- shifted. unfold Rdiv. ring.
Qed.

Theorem softmax_row_error : forall i, (i < n)%nat ->
  let b := excess D n (groups n + 3) in let p := softmax_of (fun j => B2R (s j)) n i in
  b <= / 2 -> is_finite (total s m n) = true -> is_finite (weight s m n i) = true ->
  Rabs (B2R (weight s m n i) - p) <= (1 + u) ^ 2 * (p + (a D * p + tail)) / (1 - b) - p + eta.
Proof.
  intros i Hi b p Hb Ft Fw. unfold p. rewrite <- shifted. pose proof S_range as [S1 Sn].
  destruct (excess_range (groups n + 3)) as [X1 X2].
  assert (T : 0 < tail) by apply exp_pos.
  assert (Ei : 0 < E i) by apply exp_pos.
  assert (Q : E i / S * S = E i) by (field; lra).
  apply quotient; fold b in X1, X2 |- *.
  - split; [exact S1 |]. now apply (S_small (groups n + 3)).
  - rewrite Q, Rabs_pos_eq; lra.
  - destruct (element s n m D i Hi greatest wide D0 (finite i Hi)) as [_ H]. fold (E i) in H.
    eapply Rle_trans; [exact H |]. rewrite Rmult_plus_distr_r, Rmult_assoc, Q. nra.
  - now apply total_close.
  - split; [exact X2 | exact Hb].
  - exact Fw.
Qed.

Theorem softmax_output_error : forall N (v : nat -> float) V, (n <= N)%nat ->
  (forall i, (i < n)%nat -> Rabs (B2R (v i)) <= V) ->
  let b := excess D n (groups n + 3) in let k := tile_roundings N in
  b <= / 2 -> is_finite (total s m n) = true -> is_finite (output s m n N v) = true ->
  Rabs (B2R (output s m n N v) - attend (fun j => B2R (s j)) n (fun i => B2R (v i)))
  <= (1 + u) ^ 2 * (V + (excess D n k * V + (1 + u) ^ k * (INR N * eta))) / (1 - b) - V + eta.
Proof.
  intros N v V HN HV b k Hb Ft Fo. rewrite <- shifted_sum. pose proof S_range as [S1 Sn].
  destruct (excess_range (groups n + 3)) as [X1 X2].
  assert (V0 : 0 <= V).
  { destruct greatest as [(i & Hi & _) _]. pose proof (HV i Hi). pose proof (Rabs_pos (B2R (v i))). lra. }
  apply quotient; fold b in X1, X2 |- *.
  - split; [exact S1 |]. now apply (S_small (groups n + 3)).
  - unfold S. rewrite Rmult_comm, (Rmult_comm _ V), <- sum_scale. rewrite Rmult_comm in *.
    eapply Rle_trans; [apply sum_abs |]. apply sum_le. intros i Hi.
    assert (0 < E i) by apply exp_pos. rewrite Rabs_mult, (Rabs_pos_eq (E i)) by lra.
    rewrite (Rmult_comm V). apply Rmult_le_compat_l; [lra | auto].
  - destruct (mul_finite _ _ Fo) as [Fn _].
    pose proof (tile_error (padded (exponential s m) n) v N Fn) as Tile. fold k in Tile.
    set (x := B2R (tile_sum (padded (exponential s m) n) v N)) in *.
    assert (In : forall f : R -> R, f 0 = 0 ->
      sum N (fun i => f (B2R (padded (exponential s m) n i) * B2R (v i)))
      = sum n (fun i => f (B2R (exponential s m i) * B2R (v i)))).
    { intros f f0. replace N with (n + (N - n))%nat by lia. rewrite sum_split, (sum_zero (N - n)).
      - rewrite Rplus_0_r. apply sum_ext. intros i Hi. unfold padded.
        destruct (Nat.ltb_spec i n); [easy | lia].
      - intros i _. unfold padded. destruct (Nat.ltb_spec (n + i) n); [lia |]. simpl. now rewrite Rmult_0_l. }
    unfold products, sizes in Tile. rewrite (In (fun x => x)), (In Rabs) in Tile by (easy || apply Rabs_R0).
    assert (A : sum n (fun i => Rabs (B2R (exponential s m i) * B2R (v i))) <= (1 + a D) * S * V).
    { eapply Rle_trans; [| apply Rmult_le_compat_r; [exact V0 | apply sum_upper]].
      rewrite Rmult_comm, <- sum_scale. apply sum_le. intros i Hi.
      destruct (element s n m D i Hi greatest wide D0 (finite i Hi)) as [[H _] _].
      rewrite Rabs_mult, (Rabs_pos_eq _ H), Rmult_comm. apply Rmult_le_compat_r; auto. }
    set (A' := sum n (fun i => Rabs (B2R (exponential s m i) * B2R (v i)))) in *.
    pose proof (weighed_close (fun i => B2R (v i)) V HV) as W.
    set (y := sum n (fun i => B2R (exponential s m i) * B2R (v i))) in *.
    set (z := sum n (fun i => E i * B2R (v i))) in *.
    replace (x - z) with ((x - y) + (y - z)) by ring. eapply Rle_trans; [apply Rabs_triang |].
    pose proof (power_at_least_1 k) as Pk. unfold excess. set (c := (1 + u) ^ k) in *.
    assert (c * (INR N * eta) <= c * (INR N * eta) * S).
    { assert (0 <= c * (INR N * eta)); [| nra]. pose proof (pos_INR N). pose proof eta_positive.
      apply Rmult_le_pos; [lra |]. apply Rmult_le_pos; lra. }
    assert ((c - 1) * A' <= (c - 1) * ((1 + a D) * S * V)) by (apply Rmult_le_compat_l; lra).
    assert (0 <= INR n * tail * V)
      by (apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR | left; apply exp_pos] | easy]).
    assert (INR n * tail * V <= INR n * tail * V * S) by nra. lra.
  - now apply total_close.
  - split; [exact X2 | exact Hb].
  - exact Fo.
Qed.
End Row.

(* ---- Scores ---- *)

Definition score_bound (d : nat) (scale Q K : R) : R :=
  let j := tile_roundings d in
  INR d * K * ((1 + u) ^ j * (Rabs scale * Q + (u * (Rabs scale * Q) + eta)) - Rabs scale * Q)
  + (1 + u) ^ j * (INR d * eta).

Theorem score_error : forall (q k : nat -> float) (scale : float) d Q K,
  (forall c, (c < d)%nat -> Rabs (B2R (q c)) <= Q /\ Rabs (B2R (k c)) <= K /\
                            is_finite (mul (q c) scale) = true) ->
  0 <= Q -> 0 <= K -> is_finite (score q k scale d) = true ->
  Rabs (B2R (score q k scale d) - B2R scale * products q k d) <= score_bound d (B2R scale) Q K.
Proof.
  intros q k scale d Q K H Q0 K0 F. unfold score_bound. set (j := tile_roundings d).
  pose proof (tile_error _ _ _ F) as R. fold (score q k scale d) j in R.
  set (qs := fun c => mul (q c) scale) in *. set (sc := Rabs (B2R scale)).
  pose proof u_positive as U. pose proof eta_positive as Et. assert (S0 : 0 <= sc) by apply Rabs_pos.
  set (e0 := u * (sc * Q) + eta).
  assert (L : forall c, (c < d)%nat -> Rabs (B2R (qs c) - B2R (q c) * B2R scale) <= e0 /\
                        Rabs (B2R (q c) * B2R scale) <= sc * Q).
  { intros c Hc. destruct (H c Hc) as (Hq & _ & Fq). pose proof (mul_error _ _ Fq) as M.
    assert (P : Rabs (B2R (q c) * B2R scale) <= sc * Q).
    { rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_l; easy. }
    split; [| exact P]. eapply Rle_trans; [exact M |]. unfold e0.
    assert (u * Rabs (B2R (q c) * B2R scale) <= u * (sc * Q)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (E0 : 0 <= e0).
  { unfold e0. assert (0 <= sc * Q) by now apply Rmult_le_pos.
    assert (0 <= u * (sc * Q)) by (apply Rmult_le_pos; lra). lra. }
  assert (A : sizes qs k d <= INR d * ((sc * Q + e0) * K)).
  { unfold sizes. rewrite <- sum_constant. apply sum_le. intros c Hc. destruct (L c Hc) as [L1 L2].
    destruct (H c Hc) as (_ & Hk & _). rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; [| easy].
    replace (B2R (qs c)) with ((B2R (qs c) - B2R (q c) * B2R scale) + B2R (q c) * B2R scale) by ring.
    eapply Rle_trans; [apply Rabs_triang | lra]. }
  assert (Dq : Rabs (products qs k d - B2R scale * products q k d) <= INR d * (e0 * K)).
  { unfold products. rewrite <- sum_scale, sum_minus, <- sum_constant.
    eapply Rle_trans; [apply sum_abs |]. apply sum_le. intros c Hc. destruct (L c Hc) as [L1 _].
    destruct (H c Hc) as (_ & Hk & _).
    replace (B2R (qs c) * B2R (k c) - B2R scale * (B2R (q c) * B2R (k c)))
      with ((B2R (qs c) - B2R (q c) * B2R scale) * B2R (k c)) by ring.
    rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; easy. }
  set (x := B2R (score q k scale d)) in *. set (y := products qs k d) in *.
  set (z := B2R scale * products q k d) in *. pose proof (power_at_least_1 j) as Pj.
  set (c := (1 + u) ^ j) in *.
  assert ((c - 1) * sizes qs k d <= (c - 1) * (INR d * ((sc * Q + e0) * K)))
    by (apply Rmult_le_compat_l; lra).
  replace (x - z) with ((x - y) + (y - z)) by ring. eapply Rle_trans; [apply Rabs_triang |]. lra.
Qed.

(* Scores that are each within Delta of others: the averages they weigh. *)
Lemma attend_close n (t s v : nat -> R) Delta V : (0 < n)%nat ->
  (forall i, (i < n)%nat -> Rabs (s i - t i) <= Delta) -> (forall i, (i < n)%nat -> Rabs (v i) <= V) ->
  Rabs (attend s n v - attend t n v) <= (exp (2 * Delta) - 1) * V.
Proof.
  intros N H HV. set (X := exp Delta). assert (X0 : 0 < X) by apply exp_pos.
  assert (X2 : exp (2 * Delta) = X * X) by (unfold X; rewrite <- exp_plus; f_equal; ring). rewrite X2.
  set (F := sum n (fun j => exp (t j))). set (G := sum n (fun j => exp (s j))).
  assert (Pos : forall t : nat -> R, 0 < sum n (fun j => exp (t j))).
  { intros t'. apply Rlt_le_trans with (exp (t' 0%nat)); [apply exp_pos |].
    apply (sum_at_least n (fun j => exp (t' j))); [intros; left; apply exp_pos | lia]. }
  assert (F0 : 0 < F) by apply Pos. assert (G0 : 0 < G) by apply Pos.
  assert (Cl : forall i, (i < n)%nat -> exp (s i) <= X * exp (t i) /\ exp (t i) <= X * exp (s i)).
  { intros i Hi. specialize (H i Hi). apply Rabs_le_inv in H. unfold X. rewrite <- !exp_plus.
    split; apply exp_le; lra. }
  assert (GF : G <= X * F) by (unfold G, F; rewrite <- sum_scale; apply sum_le; intros; now apply Cl).
  assert (FG : F <= X * G) by (unfold G, F; rewrite <- sum_scale; apply sum_le; intros; now apply Cl).
  assert (W : forall i, (i < n)%nat ->
    Rabs (softmax_of s n i - softmax_of t n i) <= (X * X - 1) * softmax_of t n i).
  { intros i Hi. unfold softmax_of. fold F G. destruct (Cl i Hi) as [C1 C2].
    pose proof (exp_pos (s i)). pose proof (exp_pos (t i)).
    set (g := exp (s i)) in *. set (f := exp (t i)) in *.
    assert (U1 : g / G <= X * X * (f / F)).
    { apply Rmult_le_reg_r with (G * F); [nra |].
      replace (g / G * (G * F)) with (g * F) by (field; lra).
      replace (X * X * (f / F) * (G * F)) with (X * f * (X * G)) by (field; lra). nra. }
    assert (U2 : f / F <= X * X * (g / G)).
    { apply Rmult_le_reg_r with (G * F); [nra |].
      replace (f / F * (G * F)) with (f * G) by (field; lra).
      replace (X * X * (g / G) * (G * F)) with (X * g * (X * F)) by (field; lra). nra. }
    assert (0 < f / F) by now apply Rdiv_lt_0_compat.
    assert (0 < g / G) by now apply Rdiv_lt_0_compat.
    set (p := f / F) in *. set (r := g / G) in *. set (Y := X * X) in *.
    assert (Y1 : 0 < Y) by now apply Rmult_lt_0_compat.
    apply Rabs_le. split; [| lra].
    apply Rmult_le_reg_r with Y; [easy |].
    assert (0 <= (Y - 1) * (Y - 1) * p) by (apply Rmult_le_pos; [apply Rle_0_sqr | lra]). lra. }
  unfold attend. rewrite sum_minus. eapply Rle_trans; [apply sum_abs |].
  assert (One : sum n (softmax_of t n) = 1).
  { unfold softmax_of. fold F.
    rewrite (sum_ext n _ (fun i => / F * exp (t i))) by (intros; unfold Rdiv; ring).
    rewrite sum_scale. fold F. field. lra. }
  apply Rle_trans with (sum n (fun i => (X * X - 1) * V * softmax_of t n i));
    [| rewrite sum_scale, One; lra].
  apply sum_le. intros i Hi. rewrite <- Rmult_minus_distr_r, Rabs_mult.
  replace ((X * X - 1) * V * softmax_of t n i) with ((X * X - 1) * softmax_of t n i * V) by ring.
  apply Rmult_le_compat; try apply Rabs_pos; auto.
Qed.

Theorem attention_row_error : forall (q : nat -> float) (k : nat -> nat -> float) (v : nat -> float)
    (scale m : float) n N d D Q K V,
  let s := fun i => score q (k i) scale d in
  let t := fun i => B2R scale * products q (k i) d in
  let b := excess D n (groups n + 3) in let r := tile_roundings N in
  largest s n m -> spread s n m D -> 0 <= D -> (n <= N)%nat -> 0 <= Q -> 0 <= K ->
  (forall c, (c < d)%nat -> Rabs (B2R (q c)) <= Q /\ is_finite (mul (q c) scale) = true) ->
  (forall i c, (i < n)%nat -> (c < d)%nat -> Rabs (B2R (k i c)) <= K) ->
  (forall i, (i < n)%nat -> Rabs (B2R (v i)) <= V) ->
  (forall i, (i < n)%nat -> is_finite (s i) = true /\ is_finite (sub (s i) m) = true) ->
  b <= / 2 -> is_finite (total s m n) = true -> is_finite (output s m n N v) = true ->
  Rabs (B2R (output s m n N v) - attend t n (fun i => B2R (v i)))
  <= (1 + u) ^ 2 * (V + (excess D n r * V + (1 + u) ^ r * (INR N * eta))) / (1 - b) - V + eta
     + (exp (2 * score_bound d (B2R scale) Q K) - 1) * V.
Proof.
  intros q k v scale m n N d D Q K V s t b r L Sp D0 HN Q0 K0 Hq Hk HV Fs Hb Ft Fo.
  pose proof (softmax_output_error s m n D L Sp D0 (fun i Hi => proj2 (Fs i Hi)) N v V HN HV Hb Ft Fo) as H1.
  assert (N0 : (0 < n)%nat) by (destruct L as [(i & Hi & _) _]; lia).
  pose proof (attend_close n t (fun i => B2R (s i)) (fun i => B2R (v i))
                (score_bound d (B2R scale) Q K) V N0) as H2.
  fold b r in H1.
  set (o := B2R (output s m n N v)) in *.
  set (x := attend (fun j => B2R (s j)) n (fun i => B2R (v i))) in *.
  set (y := attend t n (fun i => B2R (v i))) in *.
  replace (o - y) with ((o - x) + (x - y)) by ring. eapply Rle_trans; [apply Rabs_triang |].
  apply Rplus_le_compat; [exact H1 |]. apply H2; [| exact HV]. intros i Hi.
  apply score_error; try easy; [| apply (Fs i Hi)].
  intros c Hc. destruct (Hq c Hc). repeat split; auto.
Qed.
