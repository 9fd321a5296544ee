(* Rounding.v: how far the canonical sums of 16 lanes err, in IEEE 754 binary32, rounded to nearest even.

   reduce.h adds element i to lane i mod 16 in order of i, the tail padded with zeros, and lets the lanes
   meet in the tree 16 -> 8 -> 4 -> 2 -> 1. An element of a sum of n passes at most ceil(n/16) + 3
   roundings: ceil(n/16) additions to its lane, of which the lane's first, to 0, is exact, and 4 of the
   tree. A product adds its own. Proved for every n and all inputs for which the result is finite (then so
   was everything on the way; subnormal numbers are no exception for sums), u = 2^-24:
   - |row_sum - sum x| <= ((1 + u)^(ceil(n/16) + 3) - 1) sum |x|;
   - |row_dot - sum x y| <= ((1 + u)^(ceil(n/16) + 4) - 1) sum |x y| where no product is below 2^-126 but 0;
   - so a sum of numbers of one sign, such as softmax's exponentials, errs relatively by that much;
   - the factor (1 + u)^k - 1 is at most k u / (1 - k u) while k u < 1.
   Products and sums round one by one, as in all kernels but those of fast mode, which fuse them.
   Kernel: reduce.h (V16_SUM, V16_FOLD, row_sum, row_dot). Tested on floats in test_reduce.c. *)

From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core BinarySingleNaN Plus_error Relative.
Open Scope R_scope.

(* f 0 + ... + f (n-1) *)
Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => sum m f + f m end.

(* ---- binary32 ---- *)

#[local] Instance p24 : Prec_gt_0 24 := eq_refl.
Definition e128 : Prec_lt_emax 24 128 := eq_refl.
Definition float := binary_float 24 128.
Definition zero : float := B754_zero false.
Definition add : float -> float -> float := @Bplus 24 128 p24 e128 mode_NE.
Definition mul : float -> float -> float := @Bmult 24 128 p24 e128 mode_NE.
Definition u : R := / 2 ^ 24.

(* ---- The canonical sum of reduce.h ---- *)

(* Lane i after g groups of 16. *)
Fixpoint lane (x : nat -> float) (g : nat) (i : nat) : float :=
  match g with O => zero | S h => add (lane x h i) (x (16 * h + i)%nat) end.
(* Lanes i and i + half meet. *)
Definition fold (half : nat) (x : nat -> float) (i : nat) : float := add (x i) (x (i + half)%nat).
Definition hsum (x : nat -> float) : float := fold 1 (fold 2 (fold 4 (fold 8 x))) 0%nat.
(* n elements, zeros after them. *)
Definition padded (x : nat -> float) (n i : nat) : float := if (i <? n)%nat then x i else zero.
Definition groups (n : nat) : nat := (n + 15) / 16. (* ceil (n / 16) *)
Definition canonical (x : nat -> float) (n : nat) : float := hsum (lane x (groups n)).

Definition row_sum (x : nat -> float) (n : nat) : float := canonical (padded x n) n.
Definition row_dot (x y : nat -> float) (n : nat) : float :=
  canonical (fun i => mul (padded x n i) (padded y n i)) n.

(* ---- One rounding ---- *)

Lemma u_is_u_ro : u_ro radix2 24 = u.
Proof. unfold u_ro, u. simpl. lra. Qed.

Lemma add_finite a b : is_finite (add a b) = true ->
  is_finite a = true /\ is_finite b = true /\
  B2R (add a b) = round radix2 (FLT_exp (-149) 24) ZnearestE (B2R a + B2R b).
Proof.
  intros F. assert (Fab : is_finite a = true /\ is_finite b = true).
  { destruct a as [| [] | |], b as [| [] | |]; simpl in *; try discriminate; easy. }
  destruct Fab as [Fa Fb]. repeat split; try easy.
  pose proof (@Bplus_correct 24 128 p24 e128 mode_NE a b Fa Fb) as C. fold (add a b) in C.
  destruct Rlt_bool; [apply C |]. destruct C as [C _].
  destruct (add a b); simpl in *; discriminate.
Qed.

Lemma add_error a b : is_finite (add a b) = true ->
  Rabs (B2R (add a b) - (B2R a + B2R b)) <= u * Rabs (B2R a + B2R b).
Proof.
  intros F. destruct (add_finite a b F) as (_ & _ & E). rewrite E.
  destruct (FLT_plus_error_N_ex radix2 (-149) 24 (fun x => negb (Z.even x)) (B2R a) (B2R b))
    as (eps & He & R); [apply generic_format_B2R | apply generic_format_B2R |].
  rewrite R, u_is_u_ro in *. replace ((B2R a + B2R b) * (1 + eps) - (B2R a + B2R b))
    with (eps * (B2R a + B2R b)) by ring.
  rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos |]. eapply Rle_trans; [apply He |].
  assert (0 < u) by (unfold u; lra). apply Rmult_le_reg_r with (1 + u); [lra |].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

(* 0 + a = a, to the bit but for the sign of 0. *)
Lemma add_zero_exact a : is_finite (add zero a) = true -> B2R (add zero a) = B2R a.
Proof. destruct a as [[] | | |]; simpl; intros; easy. Qed.

(* ---- k roundings ---- *)

(* If v is finite, it lies within k roundings of a, a sum of terms whose absolute values sum to A. *)
Definition near (k : nat) (v : float) (a A : R) : Prop :=
  is_finite v = true -> Rabs a <= A /\ Rabs (B2R v - a) <= ((1 + u) ^ k - 1) * A.

Lemma u_positive : 0 < u.
Proof. unfold u. lra. Qed.

Lemma power_at_least_1 k : 1 <= (1 + u) ^ k.
Proof. apply pow_R1_Rle. pose proof u_positive. lra. Qed.

Lemma near_weaken j k v a A : (j <= k)%nat -> near j v a A -> near k v a A.
Proof.
  intros H N F. destruct (N F) as [B E]. split; [easy |]. eapply Rle_trans; [apply E |].
  apply Rmult_le_compat_r; [pose proof (Rabs_pos a); lra |].
  assert ((1 + u) ^ j <= (1 + u) ^ k) by (apply Rle_pow; [pose proof u_positive; lra | easy]). lra.
Qed.

Lemma near_add k v w a b A B : near k v a A -> near k w b B -> near (S k) (add v w) (a + b) (A + B).
Proof.
  intros Nv Nw F. destruct (add_finite v w F) as (Fv & Fw & _). pose proof (add_error v w F) as E.
  destruct (Nv Fv) as [Va Ve], (Nw Fw) as [Wa We].
  split; [eapply Rle_trans; [apply Rabs_triang | lra] |].
  pose proof u_positive. pose proof (power_at_least_1 k) as P. set (c := (1 + u) ^ k) in *. simpl pow.
  assert (Size : Rabs (B2R v + B2R w) <= c * (A + B)).
  { replace (B2R v + B2R w) with ((B2R v - a) + (B2R w - b) + (a + b)) by ring.
    eapply Rle_trans; [apply Rabs_triang |]. eapply Rle_trans; [apply Rplus_le_compat; apply Rabs_triang |].
    lra. }
  replace (B2R (add v w) - (a + b))
    with ((B2R (add v w) - (B2R v + B2R w)) + ((B2R v - a) + (B2R w - b))) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. eapply Rle_trans; [apply Rplus_le_compat_l, Rabs_triang |].
  assert (u * Rabs (B2R v + B2R w) <= u * (c * (A + B))) by (apply Rmult_le_compat_l; lra).
  fold c. nra.
Qed.

(* ---- Lanes and tree ---- *)

(* Elements near to t with k roundings each: a lane of g groups makes g - 1 more. *)
Lemma lane_near k x t i : (forall j, near k (x j) (t j) (Rabs (t j))) -> forall g,
  near (k + (g - 1)) (lane x g i)
    (sum g (fun h => t (16 * h + i)%nat)) (sum g (fun h => Rabs (t (16 * h + i)%nat))).
Proof.
  intros Hx. induction g as [| g IH].
  - intros _. simpl. rewrite Rminus_0_r, Rabs_R0, Rmult_0_r. lra.
  - destruct g as [| g].
    + change (lane x 1 i) with (add zero (x (16 * 0 + i)%nat)). intros F. cbn [sum].
      rewrite !Rplus_0_l, add_zero_exact by easy. replace (k + (1 - 1))%nat with k by lia.
      apply Hx. now destruct (add_finite _ _ F).
    + replace (k + (S (S g) - 1))%nat with (S (k + (S g - 1))) by lia.
      change (lane x (S (S g)) i) with (add (lane x (S g) i) (x (16 * S g + i)%nat)).
      change (sum (S (S g)) ?f) with (sum (S g) f + f (S g)).
      apply near_add; [apply IH | apply (near_weaken k); [lia | apply Hx]].
Qed.

Lemma tree_near k x (t T : nat -> R) :
  (forall i, near k (x i) (t i) (T i)) -> near (k + 4) (hsum x) (sum 16 t) (sum 16 T).
Proof.
  intros Hx. unfold hsum.
  assert (F : forall half k x (t T : nat -> R), (forall i, near k (x i) (t i) (T i)) ->
              forall i, near (S k) (fold half x i) (t i + t (i + half)%nat) (T i + T (i + half)%nat)).
  { intros. now apply near_add. }
  pose proof (F 1%nat _ _ _ _ (F 2%nat _ _ _ _ (F 4%nat _ _ _ _ (F 8%nat _ _ _ _ Hx))) 0%nat) as N.
  replace (k + 4)%nat with (S (S (S (S k)))) by lia. simpl in N.
  match type of N with near _ _ ?a ?A => replace (sum 16 t) with a by (simpl; ring);
                                         replace (sum 16 T) with A by (simpl; ring) end.
  exact N.
Qed.

(* ---- Sums ---- *)

Lemma sum_ext n f h : (forall i, (i < n)%nat -> f i = h i) -> sum n f = sum n h.
Proof. induction n; simpl; intros H; [easy | rewrite IHn, H; auto]. Qed.

Lemma sum_plus n f h : sum n (fun i => f i + h i) = sum n f + sum n h.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma sum_zero n f : (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof. induction n; simpl; intros H; [easy |]. rewrite IHn, H by auto. ring. Qed.

Lemma sum_split m n f : sum (m + n) f = sum m f + sum n (fun i => f (m + i)%nat).
Proof.
  induction n; [rewrite Nat.add_0_r; simpl; ring |]. rewrite Nat.add_succ_r. simpl. rewrite IHn. ring.
Qed.

Lemma sum_by_lanes g f : sum 16 (fun i => sum g (fun h => f (16 * h + i)%nat)) = sum (16 * g) f.
Proof.
  induction g as [| g IH]; [simpl; ring |]. replace (16 * S g)%nat with (16 * g + 16)%nat by lia.
  rewrite sum_split, <- IH, <- sum_plus. easy.
Qed.

Lemma groups_enough n : (n <= 16 * groups n)%nat.
Proof.
  unfold groups. pose proof (Nat.div_mod (n + 15) 16). pose proof (Nat.mod_upper_bound (n + 15) 16). lia.
Qed.

Lemma sum_padded n f : (forall i, (n <= i)%nat -> f i = 0) -> sum (16 * groups n) f = sum n f.
Proof.
  intros Z. pose proof (groups_enough n).
  replace (16 * groups n)%nat with (n + (16 * groups n - n))%nat by lia.
  rewrite sum_split, (sum_zero (_ - _)) by (intros; apply Z; lia). ring.
Qed.

(* ---- Theorems ---- *)

(* The canonical sum of any elements that each passed k roundings; zeros from n on. *)
Theorem canonical_error : forall k x t n,
  (forall i, near k (x i) (t i) (Rabs (t i))) -> (forall i, (n <= i)%nat -> t i = 0) ->
  is_finite (canonical x n) = true ->
  Rabs (B2R (canonical x n) - sum n t) <= ((1 + u) ^ (k + groups n + 3) - 1) * sum n (fun i => Rabs (t i)).
Proof.
  intros k x t n Hx Ht F.
  pose proof (tree_near _ _ _ _ (fun i => lane_near k x t i Hx (groups n)) F) as [_ E].
  rewrite (sum_by_lanes (groups n) t), (sum_by_lanes (groups n) (fun i => Rabs (t i))) in E.
  rewrite (sum_padded n t), (sum_padded n (fun i => Rabs (t i))) in E;
    [| intros; rewrite Ht by easy; apply Rabs_R0 | easy].
  destruct n as [| n].
  - simpl in *. rewrite Rmult_0_r in *. exact E.
  - assert (G : (1 <= groups (S n))%nat) by (pose proof (groups_enough (S n)); lia).
    now replace (k + groups (S n) + 3)%nat with (k + (groups (S n) - 1) + 4)%nat by lia.
Qed.

Theorem row_sum_error : forall x n,
  is_finite (row_sum x n) = true ->
  Rabs (B2R (row_sum x n) - sum n (fun i => B2R (x i)))
  <= ((1 + u) ^ (groups n + 3) - 1) * sum n (fun i => Rabs (B2R (x i))).
Proof.
  intros x n F. unfold row_sum in *.
  rewrite (sum_ext n (fun i => B2R (x i)) (fun i => B2R (padded x n i))),
    (sum_ext n (fun i => Rabs (B2R (x i))) (fun i => Rabs (B2R (padded x n i))))
    by (intros i Hi; unfold padded; destruct (Nat.ltb_spec i n); [easy | lia]).
  apply (canonical_error 0); [| | easy].
  - intros i _. rewrite Rminus_diag_eq, Rabs_R0 by easy. simpl. lra.
  - intros i Hi. unfold padded. destruct (Nat.ltb_spec i n); [lia | easy].
Qed.

(* Of one sign: a relative error. *)
Theorem row_sum_relative_error : forall x n,
  is_finite (row_sum x n) = true -> (forall i, (i < n)%nat -> 0 <= B2R (x i)) ->
  Rabs (B2R (row_sum x n) - sum n (fun i => B2R (x i)))
  <= ((1 + u) ^ (groups n + 3) - 1) * sum n (fun i => B2R (x i)).
Proof.
  intros x n F P. pose proof (row_sum_error x n F) as E.
  now rewrite (sum_ext n (fun i => Rabs (B2R (x i))) (fun i => B2R (x i))) in E
    by (intros i Hi; now apply Rabs_pos_eq, P).
Qed.

(* The factor in figures: 1.2e-6 for k = 20, so for n up to 272. *)
Theorem factor_bound : forall k, INR k * u < 1 -> (1 + u) ^ k - 1 <= INR k * u / (1 - INR k * u).
Proof.
  intros k H. pose proof u_positive.
  assert (P : (1 + u) ^ k * (1 - INR k * u) <= 1).
  { clear H. induction k as [| k IH]; [simpl; lra |]. rewrite S_INR. simpl pow.
    pose proof (power_at_least_1 k). pose proof (pos_INR k).
    assert ((1 + u) * (1 - (INR k + 1) * u) <= 1 - INR k * u) by nra.
    apply Rle_trans with ((1 + u) ^ k * (1 - INR k * u)); [| easy].
    replace ((1 + u) * (1 + u) ^ k * (1 - (INR k + 1) * u))
      with ((1 + u) ^ k * ((1 + u) * (1 - (INR k + 1) * u))) by ring.
    apply Rmult_le_compat_l; lra. }
  apply Rmult_le_reg_r with (1 - INR k * u); [lra |].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(* A product, rounded, where it is 0 or no smaller than the smallest normal number. *)
Lemma mul_near a b :
  B2R a * B2R b = 0 \/ bpow radix2 (-126) <= Rabs (B2R a * B2R b) ->
  near 1 (mul a b) (B2R a * B2R b) (Rabs (B2R a * B2R b)).
Proof.
  intros N F. split; [lra |].
  pose proof (@Bmult_correct 24 128 p24 e128 mode_NE a b) as C. fold (mul a b) in C.
  destruct Rlt_bool; [| destruct (mul a b); simpl in *; discriminate].
  destruct C as [-> _]. rewrite pow_1. replace (1 + u - 1) with u by ring. destruct N as [N | N].
  - rewrite N. change (SpecFloat.fexp 24 128) with (FLT_exp (-149) 24).
    rewrite round_0 by auto with typeclass_instances.
    rewrite Rminus_0_r, Rabs_R0. lra.
  - rewrite <- u_is_u_ro.
    apply (relative_error_N_FLT radix2 (-149) 24 p24 (fun x => negb (Z.even x))). exact N.
Qed.

Theorem row_dot_error : forall x y n,
  is_finite (row_dot x y n) = true ->
  (forall i, (i < n)%nat ->
     B2R (x i) * B2R (y i) = 0 \/ bpow radix2 (-126) <= Rabs (B2R (x i) * B2R (y i))) ->
  Rabs (B2R (row_dot x y n) - sum n (fun i => B2R (x i) * B2R (y i)))
  <= ((1 + u) ^ (groups n + 4) - 1) * sum n (fun i => Rabs (B2R (x i) * B2R (y i))).
Proof.
  intros x y n F N. unfold row_dot in *.
  set (t := fun i => B2R (padded x n i) * B2R (padded y n i)).
  rewrite (sum_ext n (fun i => B2R (x i) * B2R (y i)) t),
    (sum_ext n (fun i => Rabs (B2R (x i) * B2R (y i))) (fun i => Rabs (t i)))
    by (intros i Hi; unfold t, padded; destruct (Nat.ltb_spec i n); [easy | lia]).
  replace (groups n + 4)%nat with (1 + groups n + 3)%nat by lia. apply canonical_error; [| | easy].
  - intros i. apply mul_near. unfold padded. destruct (Nat.ltb_spec i n); [now apply N | left; simpl; ring].
  - intros i Hi. unfold t, padded. destruct (Nat.ltb_spec i n); [lia | simpl; ring].
Qed.
