(* Chela.v: [CHELA] Eqs. 8-13: linear attention's three forms agree, and which kernels fuse.

   Causal linear attention o_t = q_t^T sum_{s<=t} k_s v_s^T as the masked product (Q K^T o mask) V, as a
   recurrence over a d x d state, and in tiles with a state between them; the short-long convolution Z = K_l
   * SiLU(K_s * X), channel by channel. Proved for every length and every input:
   - the three forms agree, for every tiling, lengths of tiles mixed as one likes;
   - the divisor of the normaliser `sum`, q_t . sum_{s<=t} k_s, is the same attention over values of 1;
   - two parallel short convolutions (the paper has two) of any sizes equal one with the sum of their kernels,
     the smaller padded with zeros (Eq. 8's re-parameterisation);
   - without SiLU the long kernel would fuse with them too, into K_l * K_s; with it (erratum 10) no single
     kernel computes K_l * SiLU(K_s * x) for all x, unless one of the two is zero; an instance in figures;
   - Eqs. 10 and 13 as printed share W_v (erratum 9): a gate that is open alike for every row makes every
     row's values alike; with a W_g of its own it does not.
   Kernels: linattn.c, conv.c, longconv.c.
   Tested on floats in proof_chela.c, test_linattn.c, test_errata.c. *)

From Coq Require Import Reals Lra Lia List PeanoNat.
From Seqmix Require Import Attention.
Import ListNotations.
Open Scope R_scope.

(* ---- Linear attention ---- *)

Section LinearAttention.
(* L rows; queries and keys of d channels, values; as [row][column]. *)
Variables (L d : nat) (q k v : nat -> nat -> R).

Definition dot (x y : nat -> R) : R := sum d (fun c => x c * y c).
Definition mask (t s : nat) : R := if (s <=? t)%nat then 1 else 0.

(* Row t, column e of (Q K^T o mask) V. *)
Definition quadratic (t e : nat) : R := sum L (fun s => dot (q t) (k s) * mask t s * v s e).

(* The state sum k v^T, row by row, and the query's product with it. *)
Definition state := nat -> nat -> R. (* [key channel][value column] *)
Definition no_state : state := fun _ _ => 0.
Definition read (t : nat) (S : state) (e : nat) : R := sum d (fun c => q t c * S c e).
Fixpoint state_after (t0 : nat) (S0 : state) (n : nat) : state :=
  match n with O => S0 | S m => fun c e => state_after t0 S0 m c e + k (t0 + m)%nat c * v (t0 + m)%nat e end.
Definition recurrent (t e : nat) : R := read t (state_after 0 no_state (S t)) e.

(* A tile of rows t0 .. t0 + n - 1: the state before it, and the masked product inside it. *)
Definition tile_row (t0 n : nat) (S0 : state) (t e : nat) : R :=
  read (t0 + t) S0 e
  + sum n (fun s => dot (q (t0 + t)%nat) (k (t0 + s)%nat) * mask t s * v (t0 + s)%nat e).
Definition tile_state (t0 n : nat) (S0 : state) : state := fun c e =>
  S0 c e + sum n (fun s => k (t0 + s)%nat c * v (t0 + s)%nat e).
(* Column e of all rows, tile after tile. *)
Fixpoint tiled (t0 : nat) (S0 : state) (tiles : list nat) (e : nat) : list R :=
  match tiles with
  | [] => []
  | n :: rest => map (fun t => tile_row t0 n S0 t e) (seq 0 n) ++ tiled (t0 + n) (tile_state t0 n S0) rest e
  end.

Lemma masked t n (f : nat -> R) : (t < n)%nat -> sum n (fun s => f s * mask t s) = sum (S t) f.
Proof.
  intros H. replace n with (S t + (n - S t))%nat by lia. rewrite sum_app, (sum_0 (n - S t)).
  - rewrite Rplus_0_r. apply sum_ext. intros s Hs. unfold mask. destruct (Nat.leb_spec s t); [ring | lia].
  - intros s _. unfold mask. destruct (Nat.leb_spec (S t + s) t); [lia | ring].
Qed.

Lemma state_is_sum t0 S0 n c e : state_after t0 S0 n c e = tile_state t0 n S0 c e.
Proof. unfold tile_state. induction n; simpl; [ring |]. rewrite IHn. ring. Qed.

Lemma read_sum t S0 n f e :
  read t (fun c e => S0 c e + sum n (fun s => k (f s) c * v (f s) e)) e =
  read t S0 e + sum n (fun s => dot (q t) (k (f s)) * v (f s) e).
Proof.
  unfold read, dot.
  rewrite (sum_ext d _ (fun c => q t c * S0 c e + sum n (fun s => q t c * (k (f s) c * v (f s) e))))
    by (intros; rewrite sum_scal; ring).
  rewrite sum_plus, sum_swap. f_equal. apply sum_ext. intros s _. rewrite Rmult_comm, <- sum_scal.
  apply sum_ext. intros; ring.
Qed.

Lemma read_ext t S S' e : (forall c, S c e = S' c e) -> read t S e = read t S' e.
Proof. intros H. apply sum_ext. intros. now rewrite H. Qed.

Theorem recurrent_is_quadratic : forall t e, (t < L)%nat -> recurrent t e = quadratic t e.
Proof.
  intros t e Ht. unfold recurrent, quadratic.
  rewrite (read_ext _ _ (tile_state 0 (S t) no_state)) by (intros; apply state_is_sum).
  unfold tile_state. rewrite (read_sum t no_state (S t) (fun s => (0 + s)%nat) e).
  unfold read at 1. rewrite sum_0 by (intros; unfold no_state; ring). rewrite Rplus_0_l.
  rewrite (sum_ext L _ (fun s => dot (q t) (k s) * v s e * mask t s)) by (intros; ring).
  now rewrite masked by easy.
Qed.

Lemma tile_row_is_read t0 n S0 t e :
  (t < n)%nat -> tile_row t0 n S0 t e = read (t0 + t) (state_after t0 S0 (S t)) e.
Proof.
  intros H. rewrite (read_ext _ _ (tile_state t0 (S t) S0)) by (intros; apply state_is_sum).
  unfold tile_state. rewrite (read_sum (t0 + t) S0 (S t) (fun s => (t0 + s)%nat) e). unfold tile_row. f_equal.
  rewrite (sum_ext n _ (fun s => dot (q (t0 + t)%nat) (k (t0 + s)%nat) * v (t0 + s)%nat e * mask t s))
    by (intros; ring).
  now rewrite masked by easy.
Qed.

Lemma state_after_ext t0 S0 S1 n :
  (forall c e, S0 c e = S1 c e) -> forall c e, state_after t0 S0 n c e = state_after t0 S1 n c e.
Proof. intros H. induction n; simpl; intros; [easy | now rewrite IHn]. Qed.

Lemma state_in_pieces t0 S0 m n c e :
  state_after t0 S0 (m + n) c e = state_after (t0 + m) (state_after t0 S0 m) n c e.
Proof.
  induction n; [now rewrite Nat.add_0_r |]. rewrite Nat.add_succ_r. simpl. now rewrite IHn, Nat.add_assoc.
Qed.

Lemma tiled_is_read : forall tiles t0 S0 e,
  tiled t0 S0 tiles e = map (fun t => read (t0 + t) (state_after t0 S0 (S t)) e) (seq 0 (list_sum tiles)).
Proof.
  induction tiles as [| n rest IH]; intros t0 S0 e; [easy |].
  simpl list_sum. rewrite seq_app, map_app. simpl tiled. f_equal.
  - apply map_ext_in. intros t Ht. apply in_seq in Ht. apply tile_row_is_read. lia.
  - rewrite IH, (seq_from (0 + n)), map_map. simpl Nat.add.
    apply map_ext. intros t. rewrite Nat.add_assoc. apply read_ext. intros c.
    rewrite <- Nat.add_succ_r, state_in_pieces. apply state_after_ext.
    intros. symmetry. apply state_is_sum.
Qed.

Theorem tiled_is_quadratic : forall tiles e,
  list_sum tiles = L -> tiled 0 no_state tiles e = map (fun t => quadratic t e) (seq 0 L).
Proof.
  intros tiles e H. rewrite tiled_is_read, H. apply map_ext_in. intros t Ht. apply in_seq in Ht.
  apply recurrent_is_quadratic. lia.
Qed.
End LinearAttention.

(* The normaliser `sum` divides by q_t . sum_{s<=t} k_s: the same attention over values of 1. *)
Theorem divisor_is_attention_of_ones : forall L d q k t e,
  (t < L)%nat ->
  quadratic L d q k (fun _ _ => 1) t e = dot d (q t) (fun c => sum (S t) (fun s => k s c)).
Proof.
  intros L d q k t e Ht. rewrite <- recurrent_is_quadratic by easy. unfold recurrent, read, dot.
  apply sum_ext. intros c _. rewrite state_is_sum. unfold tile_state, no_state. rewrite Rplus_0_l. f_equal.
  apply sum_ext. intros. simpl. ring.
Qed.

(* ---- Convolutions ---- *)

(* A kernel of N taps, as memory holds it: zeros after them. *)
Definition taps (N : nat) (F : nat -> R) (w : nat) : R := if (w <? N)%nat then F w else 0.

Theorem short_kernels_fuse : forall M N F H x t,
  conv (taps M F) x t + conv (taps N H) x t = conv (fun w => taps M F w + taps N H w) x t.
Proof.
  intros. unfold conv. rewrite <- sum_plus. apply sum_ext. intros. ring.
Qed.

(* The sum has the taps of the larger. *)
Theorem fused_size : forall M N F H w,
  (M <= N)%nat -> taps M F w + taps N H w = taps N (fun w => taps M F w + H w) w.
Proof.
  intros M N F H w HM. unfold taps. destruct (Nat.ltb_spec w N), (Nat.ltb_spec w M); try lia; ring.
Qed.

(* Two convolutions in turn are one, of the kernel F * G. *)
Lemma triangle_sum n (f : nat -> nat -> R) :
  sum n (fun w => sum (n - w) (f w)) = sum n (fun s => sum (S s) (fun w => f w (s - w)%nat)).
Proof.
  induction n as [| n IH]; [easy |]. change (sum (S n) (fun w => sum (S n - w) (f w)))
    with (sum n (fun w => sum (S n - w) (f w)) + sum (S n - n) (f n)).
  rewrite (sum_ext n _ (fun w => sum (n - w) (f w) + f w (n - w)%nat))
    by (intros w Hw; now replace (S n - w)%nat with (S (n - w)) by lia).
  rewrite sum_plus, IH. replace (S n - n)%nat with 1%nat by lia. simpl. rewrite Nat.sub_diag. ring.
Qed.

Theorem convolutions_in_turn : forall F G x t, conv F (conv G x) t = conv (conv F G) x t.
Proof.
  intros F G x t. unfold conv.
  rewrite (sum_ext (S t) _ (fun w => sum (S t - w) (fun v => F w * G v * x (t - (w + v))%nat))).
  - rewrite (triangle_sum (S t) (fun w v => F w * G v * x (t - (w + v))%nat)).
    apply sum_ext. intros s Hs. rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros w Hw.
    replace (w + (s - w))%nat with s by lia. ring.
  - intros w Hw. replace (S t - w)%nat with (S (t - w)) by lia. rewrite <- sum_scal. apply sum_ext.
    intros v Hv. replace (t - w - v)%nat with (t - (w + v))%nat by lia. ring.
Qed.

Definition SiLU (x : R) : R := x / (1 + exp (- x)).
Definition short_long (Ks Kl x : nat -> R) : nat -> R := conv Kl (fun t => SiLU (conv Ks x t)).

Lemma SiLU_0 : SiLU 0 = 0.
Proof. unfold SiLU, Rdiv. ring. Qed.

(* SiLU is no odd function: SiLU a + SiLU (-a) = a (e^a - 1) / (e^a + 1). *)
Lemma SiLU_not_odd a : a <> 0 -> SiLU a + SiLU (- a) <> 0.
Proof.
  intros Ha E. unfold SiLU in E. rewrite Ropp_involutive in E.
  pose proof (exp_pos a). pose proof (exp_pos (- a)).
  assert (F : a * (exp a - exp (- a)) =
              (a / (1 + exp (- a)) + - a / (1 + exp a)) * ((1 + exp (- a)) * (1 + exp a))) by (field; lra).
  rewrite E, Rmult_0_l in F.
  apply Rmult_integral in F. destruct F as [F | F]; [easy |].
  assert (exp a = exp (- a)) by lra. apply exp_inv in H1. lra.
Qed.

(* The impulse of size a: what a convolution makes of it. *)
Definition impulse (a : R) (t : nat) : R := if (t =? 0)%nat then a else 0.
Lemma conv_impulse F a t : conv F (impulse a) t = F t * a.
Proof.
  unfold conv. rewrite (sum_only (S t) _ t).
  - unfold impulse. now rewrite Nat.sub_diag.
  - lia.
  - intros i Hi D. unfold impulse. destruct (Nat.eqb_spec (t - i) 0); [lia | ring].
Qed.

(* The first tap that is not 0. *)
Definition first_tap (F : nat -> R) (n : nat) : Prop := F n <> 0 /\ forall w, (w < n)%nat -> F w = 0.

(* The impulse arrives first at the sum of the two first taps. *)
Lemma short_long_impulse Ks Kl i j a :
  first_tap Ks i -> first_tap Kl j -> short_long Ks Kl (impulse a) (i + j) = Kl j * SiLU (Ks i * a).
Proof.
  intros [_ Zi] [_ Zj]. unfold short_long, conv at 1. rewrite (sum_only _ _ j).
  - rewrite conv_impulse. now replace (i + j - j)%nat with i by lia.
  - lia.
  - intros w Hw D. destruct (Nat.lt_ge_cases w j) as [B | B]; [rewrite Zj by easy; ring |].
    rewrite conv_impulse, Zi, Rmult_0_l, SiLU_0 by lia. ring.
Qed.

(* Unless one of them is zero, no kernel does what the two do with SiLU between, on sequences that are long
   enough for both to answer at all. *)
Theorem long_kernel_does_not_fuse : forall Ks Kl i j,
  first_tap Ks i -> first_tap Kl j ->
  ~ exists K, forall x, short_long Ks Kl x (i + j) = conv K x (i + j).
Proof.
  intros Ks Kl i j Hi Hj (K & H).
  pose proof (H (impulse 1)) as P. pose proof (H (impulse (-1))) as N.
  rewrite (short_long_impulse _ _ i j) in P, N by easy. rewrite conv_impulse in P, N.
  destruct Hi as [Ni _], Hj as [Nj _]. apply (SiLU_not_odd (Ks i) Ni).
  apply (Rmult_eq_reg_l (Kl j)); [| easy].
  replace (Ks i * 1) with (Ks i) in P by ring. replace (Ks i * -1) with (- Ks i) in N by ring. lra.
Qed.

(* In figures, for kernels of one tap 1, which fuse to the identity: on the sequence 1 it answers 1, and the
   layer e / (1 + e). *)
Definition identity_tap (w : nat) : R := if (w =? 0)%nat then 1 else 0.

Theorem fused_instance :
  conv (conv identity_tap identity_tap) (impulse 1) 0 = 1 /\
  short_long identity_tap identity_tap (impulse 1) 0 = exp 1 / (1 + exp 1) /\
  exp 1 / (1 + exp 1) < 1.
Proof.
  pose proof (exp_pos 1). pose proof (exp_pos (- (1))). repeat split.
  - unfold conv, identity_tap, impulse. simpl. ring.
  - unfold short_long, SiLU, conv, identity_tap, impulse. simpl.
    replace (- (0 + 1 * 1)) with (- (1)) by ring. rewrite exp_Ropp. field. split; lra.
  - apply Rmult_lt_reg_r with (1 + exp 1); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

(* ---- Erratum 9: the gate's matrix ---- *)

(* A column w of W_v, as printed in both: the gate SiLU(z w + b_g) beside the value SiLU(x w + b_v). *)
Theorem shared_matrix_closes_the_values : forall d (w : nat -> R) bg bv,
  (forall z z', SiLU (dot d z w + bg) = SiLU (dot d z' w + bg)) ->
  forall x x', SiLU (dot d x w + bv) = SiLU (dot d x' w + bv).
Proof.
  intros d w bg bv H. assert (Z : forall x, dot d x w = 0).
  { intros x. destruct (Req_dec (dot d x w) 0) as [| N]; [easy |]. exfalso.
    assert (Sc : forall a, dot d (fun c => a * x c) w = a * dot d x w)
      by (intros; unfold dot; rewrite <- sum_scal; apply sum_ext; intros; ring).
    specialize (H (fun c => (1 - bg) / dot d x w * x c) (fun c => - bg / dot d x w * x c)).
    rewrite !Sc in H. replace ((1 - bg) / dot d x w * dot d x w + bg) with 1 in H by (field; easy).
    replace (- bg / dot d x w * dot d x w + bg) with 0 in H by (field; easy).
    rewrite SiLU_0 in H. unfold SiLU in H. pose proof (exp_pos (- (1))).
    assert (0 < 1 / (1 + exp (- (1)))) by (apply Rdiv_lt_0_compat; lra). lra. }
  intros x x'. now rewrite !Z.
Qed.

(* With a W_g of its own, here 0 beside W_v = 1, the gate is one and the same, and the values differ. *)
Theorem own_matrix_opens_the_gate :
  (forall z z', SiLU (z * 0 + 1) = SiLU (z' * 0 + 1)) /\ SiLU (1 * 0 + 1) <> 0 /\
  SiLU (1 * 1 + 0) <> SiLU (0 * 1 + 0).
Proof.
  assert (P : SiLU 1 <> 0).
  { unfold SiLU. pose proof (exp_pos (- (1))).
    assert (0 < 1 / (1 + exp (- (1)))) by (apply Rdiv_lt_0_compat; lra). lra. }
  repeat split.
  - intros. now rewrite !Rmult_0_r.
  - now replace (1 * 0 + 1) with 1 by ring.
  - replace (1 * 1 + 0) with 1 by ring. replace (0 * 1 + 0) with 0 by ring. now rewrite SiLU_0.
Qed.
