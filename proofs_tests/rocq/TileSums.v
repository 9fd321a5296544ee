(* TileSums.v: how far the sums of products in a tile err, in IEEE 754 binary32, rounded to nearest even.

   tile.h sums the products x_i y_i of each output in order, multiply then add, in blocks of 256 terms, each
   from zero, and adds the blocks in order (gemm.c, attention.c, state.c). Proved for every n and all inputs for
   which the result is finite, u = 2^-24, eta = 2^-150 (half the least number), A = sum |x_i y_i|:
   - |tile_sum - sum x y| <= (1 + u)^k (A + n eta) - A, k = min(n, 256) + (n - 1) / 256 rounded down: a term
     passes its product's rounding, the additions of its block but the first, to 0, which is exact, and those
     of the blocks;
   - |row_dot - sum x y| <= (1 + u)^k (A + n eta) - A, k = ceil(n / 16) + 4: Rounding.v's bound without its
     premise that no product is below the normal numbers.
   Of the C not covered: sums that are added to what C held (one rounding more); which outputs share registers;
   that a compiler keeps the operations as written (digests.txt, on every instruction set); fast mode.
   Kernels: tile.h (tile_one, tile_product), reduce.h (row_dot). The bounds as C: ref/bounds.c, beside which the
   page shows what is measured. Tested on floats in test_tile_sums.c. *)

From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core BinarySingleNaN Relative.
From Seqmix Require Import Rounding.
Open Scope R_scope.

#[local] Existing Instance p24.

(* ---- One product ---- *)

Definition eta : R := / 2 ^ 150.

Lemma eta_positive : 0 < eta.
Proof. unfold eta. apply Rinv_0_lt_compat, pow_lt. lra. Qed.

Lemma half_ulp : / 2 * bpow radix2 (- (24) + 1) = u.
Proof. unfold u. simpl. lra. Qed.

Lemma half_least : / 2 * bpow radix2 (-149) = eta.
Proof.
  unfold eta. change (-149)%Z with (- Z.of_nat 149)%Z. rewrite bpow_opp, <- IZR_Zpower by lia.
  change (IZR (radix2 ^ Z.of_nat 149)) with (IZR (2 ^ Z.of_nat 149)). rewrite <- pow_IZR.
  now rewrite <- Rinv_mult, tech_pow_Rmult.
Qed.

Lemma mul_error a b : is_finite (mul a b) = true ->
  Rabs (B2R (mul a b) - B2R a * B2R b) <= u * Rabs (B2R a * B2R b) + eta.
Proof.
  intros F. pose proof (@Bmult_correct 24 128 p24 e128 mode_NE a b) as C. fold (mul a b) in C.
  destruct Rlt_bool; [| destruct (mul a b); simpl in *; discriminate].
  destruct C as [-> _]. set (x := B2R a * B2R b).
  destruct (error_N_FLT radix2 (-149) 24 eq_refl (fun x => negb (Z.even x)) x) as (r & t & Hr & Ht & _ & E).
  rewrite half_ulp in Hr. rewrite half_least in Ht.
  change (Rabs (round radix2 (FLT_exp (-149) 24) ZnearestE x - x) <= u * Rabs x + eta). rewrite E.
  replace (x * (1 + r) + t - x) with (r * x + t) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. rewrite Rabs_mult.
  apply Rplus_le_compat; [apply Rmult_le_compat_r; [apply Rabs_pos | exact Hr] | exact Ht].
Qed.

(* ---- The tile's sums ---- *)

(* If v is finite, it is k roundings from a, a sum of terms whose sizes sum to A, of which products may have
   lost E below the normal numbers. *)
Definition close (k : nat) (v : float) (a A E : R) : Prop :=
  is_finite v = true -> Rabs a <= A /\ 0 <= E /\ Rabs (B2R v - a) <= (1 + u) ^ k * (A + E) - A.

Lemma close_weaken j k v a A E : (j <= k)%nat -> close j v a A E -> close k v a A E.
Proof.
  intros H N F. destruct (N F) as (B & P & D). split; [easy | split; [easy |]].
  pose proof (Rabs_pos a). pose proof u_positive.
  assert ((1 + u) ^ j <= (1 + u) ^ k) by (apply Rle_pow; (lra || easy)). nra.
Qed.

Lemma close_add k v w a b A B E F : close k v a A E -> close k w b B F ->
  close (S k) (add v w) (a + b) (A + B) (E + F).
Proof.
  intros Nv Nw Fin. destruct (add_finite v w Fin) as (Fv & Fw & _). pose proof (add_error v w Fin) as D.
  destruct (Nv Fv) as (Va & Ve & Vd), (Nw Fw) as (Wa & We & Wd).
  pose proof u_positive. pose proof (power_at_least_1 k) as P.
  split; [eapply Rle_trans; [apply Rabs_triang | lra] | split; [lra |]].
  simpl pow. set (c := (1 + u) ^ k) in *.
  assert (Size : Rabs (B2R v + B2R w) <= c * (A + E + B + F)).
  { replace (B2R v + B2R w) with ((B2R v - a) + (B2R w - b) + (a + b)) by ring.
    eapply Rle_trans; [apply Rabs_triang |]. eapply Rle_trans; [apply Rplus_le_compat; apply Rabs_triang |].
    lra. }
  replace (B2R (add v w) - (a + b))
    with ((B2R (add v w) - (B2R v + B2R w)) + ((B2R v - a) + (B2R w - b))) by ring.
  eapply Rle_trans; [apply Rabs_triang |]. eapply Rle_trans; [apply Rplus_le_compat_l, Rabs_triang |].
  assert (u * Rabs (B2R v + B2R w) <= u * (c * (A + E + B + F))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma close_mul a b : close 1 (mul a b) (B2R a * B2R b) (Rabs (B2R a * B2R b)) eta.
Proof.
  intros F. pose proof (mul_error a b F) as E. pose proof eta_positive. pose proof u_positive.
  split; [lra | split; [lra |]]. rewrite pow_1. nra.
Qed.

(* tile_one: one output, over k <= 256 terms; vf_madd multiplies, then adds. *)
Fixpoint block_sum (x y : nat -> float) (n : nat) : float :=
  match n with O => zero | S m => add (block_sum x y m) (mul (x m) (y m)) end.
(* tile_product: c blocks after the first, each from zero, added in order; n terms in all. *)
Fixpoint blocks_sum (x y : nat -> float) (n c : nat) : float :=
  match c with
  | O => block_sum x y (Nat.min 256 n)
  | S b => add (blocks_sum x y n b)
             (block_sum (fun i => x (256 * c + i)%nat) (fun i => y (256 * c + i)%nat)
                (Nat.min 256 (n - 256 * c)))
  end.
Definition tile_sum (x y : nat -> float) (n : nat) : float := blocks_sum x y n ((n - 1) / 256).
Definition tile_roundings (n : nat) : nat := (Nat.min 256 n + (n - 1) / 256)%nat.

Definition products (x y : nat -> float) (n : nat) : R := sum n (fun i => B2R (x i) * B2R (y i)).
Definition sizes (x y : nat -> float) (n : nat) : R := sum n (fun i => Rabs (B2R (x i) * B2R (y i))).

Lemma block_close x y n : close n (block_sum x y n) (products x y n) (sizes x y n) (INR n * eta).
Proof.
  induction n as [| n IH].
  - intros _. unfold products, sizes. simpl. rewrite Rminus_0_r, Rabs_R0. lra.
  - rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l. unfold products, sizes. cbn [sum block_sum].
    destruct n as [| n].
    + intros F. change (block_sum x y 0) with zero in *. rewrite add_zero_exact by easy.
      destruct (add_finite _ _ F) as (_ & F' & _). destruct (close_mul _ _ F') as (A & B & C).
      simpl sum. change (INR 0) with 0. rewrite !Rplus_0_l, Rmult_0_l, Rplus_0_l. easy.
    + apply close_add; [exact IH |]. apply (close_weaken 1); [lia | apply close_mul].
Qed.

Lemma tile_part x y n c : (256 * c < n \/ n = 0 /\ c = 0)%nat ->
  close (Nat.min 256 n + c) (blocks_sum x y n c) (products x y (Nat.min n (256 * S c)))
    (sizes x y (Nat.min n (256 * S c))) (INR (Nat.min n (256 * S c)) * eta).
Proof.
  induction c as [| c IH]; intros Hn.
  - rewrite Nat.add_0_r, Nat.mul_1_r. rewrite (Nat.min_comm n 256). apply block_close.
  - assert (M : Nat.min n (256 * S c) = (256 * S c)%nat) by lia. rewrite M in IH.
    rewrite Nat.add_succ_r. cbn [blocks_sum].
    set (m := Nat.min 256 (n - 256 * S c)).
    replace (Nat.min n (256 * S (S c))) with (256 * S c + m)%nat by (unfold m; lia).
    unfold products, sizes in *. rewrite !sum_split, plus_INR, Rmult_plus_distr_r.
    apply close_add; [apply IH; lia |]. apply (close_weaken m); [unfold m; lia |].
    apply (block_close (fun i => x (256 * S c + i)%nat) (fun i => y (256 * S c + i)%nat) m).
Qed.

Lemma tile_close x y n :
  close (tile_roundings n) (tile_sum x y n) (products x y n) (sizes x y n) (INR n * eta).
Proof.
  unfold tile_sum, tile_roundings. pose proof (Nat.div_mod (n - 1) 256 ltac:(lia)) as D.
  pose proof (Nat.mod_upper_bound (n - 1) 256 ltac:(lia)).
  set (c := ((n - 1) / 256)%nat) in *.
  pose proof (tile_part x y n c) as P. replace (Nat.min n (256 * S c)) with n in P by lia. apply P. lia.
Qed.

Theorem tile_error : forall x y n, is_finite (tile_sum x y n) = true ->
  Rabs (B2R (tile_sum x y n) - products x y n)
  <= (1 + u) ^ tile_roundings n * (sizes x y n + INR n * eta) - sizes x y n.
Proof. intros x y n F. now destruct (tile_close x y n F) as (_ & _ & E). Qed.

(* ---- The canonical sum of products ---- *)

Lemma lane_close k x (t T E : nat -> R) i : (forall j, close k (x j) (t j) (T j) (E j)) -> forall g,
  close (k + (g - 1)) (lane x g i) (sum g (fun h => t (16 * h + i)%nat))
    (sum g (fun h => T (16 * h + i)%nat)) (sum g (fun h => E (16 * h + i)%nat)).
Proof.
  intros Hx. induction g as [| g IH].
  - intros _. simpl. rewrite Rminus_0_r, Rabs_R0. lra.
  - destruct g as [| g].
    + change (lane x 1 i) with (add zero (x (16 * 0 + i)%nat)). intros F. cbn [sum].
      rewrite !Rplus_0_l, add_zero_exact by easy. replace (k + (1 - 1))%nat with k by lia.
      apply Hx. now destruct (add_finite _ _ F).
    + replace (k + (S (S g) - 1))%nat with (S (k + (S g - 1))) by lia.
      change (lane x (S (S g)) i) with (add (lane x (S g) i) (x (16 * S g + i)%nat)).
      change (sum (S (S g)) ?f) with (sum (S g) f + f (S g)).
      apply close_add; [apply IH | apply (close_weaken k); [lia | apply Hx]].
Qed.

Lemma tree_close k x (t T E : nat -> R) :
  (forall i, close k (x i) (t i) (T i) (E i)) -> close (k + 4) (hsum x) (sum 16 t) (sum 16 T) (sum 16 E).
Proof.
  intros Hx. unfold hsum.
  assert (F : forall half k x (t T E : nat -> R), (forall i, close k (x i) (t i) (T i) (E i)) ->
              forall i, close (S k) (fold half x i) (t i + t (i + half)%nat) (T i + T (i + half)%nat)
                          (E i + E (i + half)%nat)).
  { intros. now apply close_add. }
  pose proof (F 1%nat _ _ _ _ _ (F 2%nat _ _ _ _ _ (F 4%nat _ _ _ _ _ (F 8%nat _ _ _ _ _ Hx))) 0%nat) as N.
  replace (k + 4)%nat with (S (S (S (S k)))) by lia. simpl in N.
  match type of N with close _ _ ?a ?A ?B => replace (sum 16 t) with a by (simpl; ring);
    replace (sum 16 T) with A by (simpl; ring); replace (sum 16 E) with B by (simpl; ring) end.
  exact N.
Qed.

Definition dot_roundings (n : nat) : nat := (groups n + 4)%nat.

Lemma dot_close x y n :
  close (dot_roundings n) (row_dot x y n) (products x y n) (sizes x y n) (INR n * eta).
Proof.
  set (t := fun i => B2R (padded x n i) * B2R (padded y n i)).
  set (E := fun i => if (i <? n)%nat then eta else 0).
  assert (Out : forall i, (n <= i)%nat -> t i = 0 /\ E i = 0).
  { intros i Hi. unfold t, E, padded. destruct (Nat.ltb_spec i n); [lia | simpl; split; ring]. }
  assert (C : forall i, close 1 (mul (padded x n i) (padded y n i)) (t i) (Rabs (t i)) (E i)).
  { intros i. unfold t, E, padded. destruct (Nat.ltb_spec i n); [apply close_mul |].
    intros _. simpl. rewrite Rmult_0_l, Rminus_0_r, Rabs_R0. lra. }
  pose proof (tree_close _ _ _ _ _ (fun i => lane_close 1 _ t (fun j => Rabs (t j)) E i C (groups n))) as N.
  rewrite (sum_by_lanes (groups n) t), (sum_by_lanes (groups n) (fun i => Rabs (t i))),
    (sum_by_lanes (groups n) E) in N.
  rewrite (sum_padded n t), (sum_padded n (fun i => Rabs (t i))), (sum_padded n E) in N
    by (intros i Hi; destruct (Out i Hi) as [Z Z']; rewrite ?Z, ?Z', ?Rabs_R0; easy).
  assert (P1 : sum n t = products x y n).
  { apply sum_ext. intros i Hi. unfold t, padded. destruct (Nat.ltb_spec i n); [easy | lia]. }
  assert (P2 : sum n (fun i => Rabs (t i)) = sizes x y n).
  { apply sum_ext. intros i Hi. unfold t, padded. destruct (Nat.ltb_spec i n); [easy | lia]. }
  assert (P3 : sum n E = INR n * eta).
  { rewrite (sum_ext n E (fun _ => eta))
      by (intros i Hi; unfold E; destruct (Nat.ltb_spec i n); [easy | lia]).
    clear. induction n; [simpl; ring |]. rewrite S_INR. simpl sum. rewrite IHn. ring. }
  rewrite P1, P2, P3 in N. unfold row_dot, dot_roundings. intros F. specialize (N F).
  destruct n as [| n].
  - destruct N as (A & B & D). split; [easy | split; [easy |]].
    unfold sizes in *. simpl in *. rewrite Rmult_0_l, Rplus_0_l, Rmult_0_r in *. exact D.
  - assert (G : (1 <= groups (S n))%nat) by (pose proof (groups_enough (S n)); lia).
    now replace (groups (S n) + 4)%nat with (1 + (groups (S n) - 1) + 4)%nat by lia.
Qed.

Theorem dot_error : forall x y n, is_finite (row_dot x y n) = true ->
  Rabs (B2R (row_dot x y n) - products x y n)
  <= (1 + u) ^ dot_roundings n * (sizes x y n + INR n * eta) - sizes x y n.
Proof. intros x y n F. now destruct (dot_close x y n F) as (_ & _ & E). Qed.
