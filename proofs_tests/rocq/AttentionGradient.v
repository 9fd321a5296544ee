(* AttentionGradient.v: the backward pass of softmax attention is the derivative of its rows.

   Over the reals: row i of n has the logits l_ij = (scale q_i . k_j) factor_ij + bias_ij, sees the keys j of
   any set (j <= i: causal; a window; all), and has the weights p_ij = e^{l_ij} / (sink + sum of e^{l_ij} over
   the keys it sees), 0 for others, and the outputs o_ie = sum_j p_ij v_je; the number sink is 0, or 1 where a
   key that answers 0 takes part. Given numbers g_ie, the gradient of what is made from the outputs, the
   kernel takes
     r_i = g_i . o_i,   b_ij = p_ij (g_i . v_j - r_i) factor_ij,
     dq_ic = scale sum_j b_ij k_jc,   dk_jc = sum_i b_ij (scale q_ic),   dv_je = sum_i p_ij g_ie.
   Proved for all lengths n, widths d of keys and m of values, inputs, masks and tables, where each row sees a
   key or sink > 0 (sees_something):
   - along any curves q(t), k(t), v(t) that have derivatives at a point, the derivative of
     sum_i g_i . o_i(t) there is sum dq q' + sum dk k' + sum dv v': dq, dk and dv are the gradient;
   - so each of their entries is the partial derivative with respect to that entry of q, k or v;
   - with the causal mask and without a sink, factor or bias the outputs are Attention.v's.
   Of the C not covered: rounding; the weights set to 0 below e^-41.5; the sigmoid's and the capped scores;
   pooling (its transpose); the tables' own gradients, which the kernel does not take.
   Kernel: attention.c (chunk_bwd of smx_attention_bwd), attention_rows.h (softmax_row_again).
   Tested on floats in test_attention.c. *)
From Coq Require Import Reals Lra Lia Arith.
#[local] Set Warnings "-ambiguous-paths". (* Coquelicot's own *)
From Coquelicot Require Import Coquelicot.
From Seqmix Require Import Attention Derivative.
Open Scope R_scope.

Local Notation matrix := (nat -> nat -> R).

Section Kernel.
(* Rows, widths of keys and of values; scale; which keys a row sees; the tables; the sink's weight. *)
Variables (n d m : nat) (scale : R) (sees : nat -> nat -> bool) (factor bias : matrix) (sink : R).

Definition logit (q k : matrix) (i j : nat) : R := scale * dot d (q i) (k j) * factor i j + bias i j.
Definition seen_exp (q k : matrix) (i j : nat) : R := if sees i j then exp (logit q k i j) else 0.
Definition divisor (q k : matrix) (i : nat) : R := sink + sum n (seen_exp q k i).
Definition weight (q k : matrix) (i j : nat) : R := seen_exp q k i j / divisor q k i.
Definition output (q k v : matrix) (i e : nat) : R := sum n (fun j => weight q k i j * v j e).
(* The number whose gradient is taken. *)
Definition total (g q k v : matrix) : R := sum n (fun i => dot m (g i) (output q k v i)).

(* What the kernel makes of the outputs' gradient g. *)
Definition back_logit (g q k v : matrix) (i j : nat) : R :=
  weight q k i j * (dot m (g i) (v j) - dot m (g i) (output q k v i)) * factor i j.
Definition back_q (g q k v : matrix) (i c : nat) : R :=
  scale * sum n (fun j => back_logit g q k v i j * k j c).
Definition back_k (g q k v : matrix) (j c : nat) : R :=
  sum n (fun i => back_logit g q k v i j * (scale * q i c)).
Definition back_v (g q k : matrix) (j e : nat) : R := sum n (fun i => weight q k i j * g i e).

Definition sees_something : Prop :=
  0 <= sink /\ (0 < sink \/ forall i, (i < n)%nat -> exists j, (j < n)%nat /\ sees i j = true).

Lemma divisor_positive q k i : sees_something -> (i < n)%nat -> 0 < divisor q k i.
Proof.
  intros [S0 S] Hi. unfold divisor.
  assert (P : forall j, 0 <= seen_exp q k i j)
    by (intros j; unfold seen_exp; destruct (sees i j); [left; apply exp_pos | lra]).
  destruct S as [S | S].
  - assert (0 <= sum n (seen_exp q k i)) by (apply sum_nonneg; auto). lra.
  - destruct (S i Hi) as (j & Hj & E). pose proof (sum_term_le n (seen_exp q k i) j Hj ltac:(auto)) as T.
    unfold seen_exp at 1 in T. rewrite E in T. pose proof (exp_pos (logit q k i j)). lra.
Qed.

(* ---- One row, one column ---- *)

Lemma row_derivative (E w : nat -> R -> R) (s' w' : nat -> R) t :
  (forall j, (j < n)%nat -> is_derive (E j) t (s' j * E j t)) ->
  (forall j, (j < n)%nat -> is_derive (w j) t (w' j)) ->
  sink + sum n (fun j => E j t) <> 0 ->
  let Z x := sink + sum n (fun j => E j x) in
  let o x := sum n (fun j => E j x / Z x * w j x) in
  is_derive o t (sum n (fun j => E j t / Z t * ((w j t - o t) * s' j + w' j))).
Proof.
  intros HE Hw NZ Z o.
  assert (DZ : is_derive Z t (sum n (fun j => s' j * E j t))).
  { eapply derive_as; [| apply derive_plus; [apply derive_const | apply (derive_sum n E); exact HE]].
    lra. }
  assert (DI : is_derive (fun x => / Z x) t (- sum n (fun j => s' j * E j t) / Z t ^ 2))
    by (apply is_derive_inv; easy).
  eapply derive_as.
  2: { apply (derive_sum n (fun j x => E j x / Z x * w j x)). intros j Hj. unfold Rdiv.
       apply derive_times; [apply derive_times; [now apply HE | exact DI] | now apply Hw]. }
  cbv beta. set (T := sum n (fun j => s' j * E j t)).
  assert (O : sum n (fun j => E j t / Z t * w j t) = o t) by easy.
  transitivity (sum n (fun j => E j t / Z t * (w j t * s' j + w' j)) - T / Z t * o t).
  - rewrite <- O, <- sum_scal, <- sum_minus. apply sum_ext. intros j _. field. easy.
  - rewrite <- (Rmult_1_l (T / Z t * o t)).
    transitivity (sum n (fun j => E j t / Z t * (w j t * s' j + w' j))
                  - sum n (fun j => E j t / Z t * s' j * o t)).
    + f_equal. rewrite sum_scal_r, Rmult_1_l. f_equal. unfold T. unfold Rdiv. rewrite <- sum_scal_r.
      apply sum_ext. intros. lra.
    + rewrite <- sum_minus. apply sum_ext. intros. lra.
Qed.

(* ---- The sequence ---- *)

(* The derivatives of rows, gathered into gradients. *)
Lemma gathered (g q k v q' k' v' : matrix) :
  sum n (fun i => dot m (g i) (fun e => sum n (fun j => weight q k i j *
    ((v j e - output q k v i e) * (scale * (dot d (q' i) (k j) + dot d (q i) (k' j)) * factor i j)
     + v' j e))))
  = sum n (fun i => dot d (back_q g q k v i) (q' i)) + sum n (fun j => dot d (back_k g q k v j) (k' j))
    + sum n (fun j => dot m (back_v g q k j) (v' j)).
Proof.
  set (b := back_logit g q k v).
  assert (Q : sum n (fun i => dot d (back_q g q k v i) (q' i)) =
              sum n (fun i => sum n (fun j => b i j * (scale * dot d (q' i) (k j))))).
  { apply sum_ext. intros i _. unfold dot, back_q. fold b.
    transitivity (sum d (fun c => sum n (fun j => b i j * (scale * (q' i c * k j c))))).
    - apply sum_ext. intros c _. rewrite <- sum_scal, <- sum_scal_r. apply sum_ext. intros. lra.
    - rewrite sum_swap. apply sum_ext. intros j _. rewrite <- !sum_scal. easy. }
  assert (K : sum n (fun j => dot d (back_k g q k v j) (k' j)) =
              sum n (fun i => sum n (fun j => b i j * (scale * dot d (q i) (k' j))))).
  { rewrite sum_swap. apply sum_ext. intros j _. unfold dot, back_k. fold b.
    transitivity (sum d (fun c => sum n (fun i => b i j * (scale * (q i c * k' j c))))).
    - apply sum_ext. intros c _. rewrite <- sum_scal_r. apply sum_ext. intros. lra.
    - rewrite sum_swap. apply sum_ext. intros i _. rewrite <- !sum_scal. easy. }
  assert (V : sum n (fun j => dot m (back_v g q k j) (v' j)) =
              sum n (fun i => sum n (fun j => weight q k i j * dot m (g i) (v' j)))).
  { rewrite sum_swap. apply sum_ext. intros j _. unfold dot, back_v.
    transitivity (sum m (fun e => sum n (fun i => weight q k i j * (g i e * v' j e)))).
    - apply sum_ext. intros e _. rewrite <- sum_scal_r. apply sum_ext. intros. lra.
    - rewrite sum_swap. apply sum_ext. intros i _. now rewrite <- sum_scal. }
  rewrite Q, K, V, <- !sum_plus. apply sum_ext. intros i _. rewrite <- !sum_plus, dot_sum_r.
  apply sum_ext. intros j _. unfold b, back_logit.
  set (o := output q k v i). set (s := dot d (q' i) (k j)). set (s2 := dot d (q i) (k' j)).
  transitivity (weight q k i j * ((dot m (g i) (v j) - dot m (g i) o) * (scale * (s + s2) * factor i j)
                                  + dot m (g i) (v' j))); [| lra].
  unfold dot. rewrite <- sum_minus, <- sum_scal_r, <- sum_plus, <- sum_scal. apply sum_ext. intros. lra.
Qed.

Theorem gradient_is_the_derivative : forall (g : matrix) (q k v : R -> matrix) (q' k' v' : matrix) (t : R),
  sees_something ->
  (forall i c, (i < n)%nat -> (c < d)%nat -> is_derive (fun x : R => q x i c) t (q' i c)) ->
  (forall i c, (i < n)%nat -> (c < d)%nat -> is_derive (fun x : R => k x i c) t (k' i c)) ->
  (forall i e, (i < n)%nat -> (e < m)%nat -> is_derive (fun x : R => v x i e) t (v' i e)) ->
  is_derive (fun x : R => total g (q x) (k x) (v x)) t
    (sum n (fun i => dot d (back_q g (q t) (k t) (v t) i) (q' i))
     + sum n (fun j => dot d (back_k g (q t) (k t) (v t) j) (k' j))
     + sum n (fun j => dot m (back_v g (q t) (k t) j) (v' j))).
Proof.
  intros g q k v q' k' v' t S Hq Hk Hv. eapply derive_as; [apply gathered |].
  apply (derive_sum n (fun i x => dot m (g i) (output (q x) (k x) (v x) i))). intros i Hi.
  apply (derive_sum m (fun e x => g i e * output (q x) (k x) (v x) i e)). intros e He.
  apply derive_scaled.
  apply (row_derivative (fun j x => seen_exp (q x) (k x) i j) (fun j x => v x j e)
           (fun j => scale * (dot d (q' i) (k t j) + dot d (q t i) (k' j)) * factor i j)
           (fun j => v' j e) t); [| intros; now apply Hv | ].
  - intros j Hj. unfold seen_exp. destruct (sees i j).
    + apply (derive_exp (fun x => logit (q x) (k x) i j)). unfold logit.
      eapply derive_as;
        [apply Rplus_0_r | apply derive_plus; [| apply (derive_const (bias i j) t)]].
      eapply derive_as; [| apply derive_times;
        [apply derive_scaled; apply (derive_dot d (fun c x => q x i c) (fun c x => k x j c) (q' i) (k' j));
           [intros; apply Hq | intros; apply Hk]; easy
        | apply (derive_const (factor i j) t)]].
      cbv beta. change (fun c => q t i c) with (q t i). change (fun c => k t j c) with (k t j). ring.
    + rewrite Rmult_0_r. apply derive_const.
  - apply Rgt_not_eq. apply (divisor_positive (q t) (k t) i S Hi).
Qed.

(* ---- Entry by entry ---- *)

Theorem back_q_is_partial : forall (g q k v : matrix) i c, sees_something -> (i < n)%nat -> (c < d)%nat ->
  is_derive (fun x : R => total g (with_entry q i c x) k v) (q i c) (back_q g q k v i c).
Proof.
  intros g q k v i c S Hi Hc.
  pose proof (gradient_is_the_derivative g (fun x => with_entry q i c x) (fun _ => k)
    (fun _ => v) (fun a b => one_hot i a * one_hot c b) (fun _ _ => 0) (fun _ _ => 0) (q i c) S
    (fun a b _ _ => derive_entry q i c a b (q i c))
    (fun a b _ _ => derive_const (k a b) (q i c)) (fun a b _ _ => derive_const (v a b) (q i c))) as H.
  eapply derive_as; [| exact H]. cbv beta.
  rewrite !sum_no_entry, !Rplus_0_r.
  rewrite (sum_entry n d (back_q g (with_entry q i c (q i c)) k v)) by easy.
  now rewrite with_entry_same.
Qed.

Theorem back_k_is_partial : forall (g q k v : matrix) j c, sees_something -> (j < n)%nat -> (c < d)%nat ->
  is_derive (fun x : R => total g q (with_entry k j c x) v) (k j c) (back_k g q k v j c).
Proof.
  intros g q k v j c S Hj Hc.
  pose proof (gradient_is_the_derivative g (fun _ => q) (fun x => with_entry k j c x)
    (fun _ => v) (fun _ _ => 0) (fun a b => one_hot j a * one_hot c b) (fun _ _ => 0) (k j c) S
    (fun a b _ _ => derive_const (q a b) (k j c))
    (fun a b _ _ => derive_entry k j c a b (k j c)) (fun a b _ _ => derive_const (v a b) (k j c))) as H.
  eapply derive_as; [| exact H]. cbv beta. rewrite !sum_no_entry, Rplus_0_r, Rplus_0_l.
  rewrite (sum_entry n d (back_k g q (with_entry k j c (k j c)) v)) by easy.
  now rewrite with_entry_same.
Qed.

Theorem back_v_is_partial : forall (g q k v : matrix) j e, sees_something -> (j < n)%nat -> (e < m)%nat ->
  is_derive (fun x : R => total g q k (with_entry v j e x)) (v j e) (back_v g q k j e).
Proof.
  intros g q k v j e S Hj He.
  pose proof (gradient_is_the_derivative g (fun _ => q) (fun _ => k)
    (fun x => with_entry v j e x) (fun _ _ => 0) (fun _ _ => 0)
    (fun a b => one_hot j a * one_hot e b) (v j e) S
    (fun a b _ _ => derive_const (q a b) (v j e)) (fun a b _ _ => derive_const (k a b) (v j e))
    (fun a b _ _ => derive_entry v j e a b (v j e))) as H.
  eapply derive_as; [| exact H]. cbv beta. rewrite !sum_no_entry, !Rplus_0_l.
  now rewrite (sum_entry n m (back_v g q k)).
Qed.
End Kernel.

(* The causal rows are those of Attention.v. *)
Theorem causal_output_is_attention : forall n d scale (q k v : matrix) i e, (i < n)%nat ->
  output n d scale (fun i j => Nat.leb j i) (fun _ _ => 1) (fun _ _ => 0) 0 q k v i e
  = attention (S i) (fun j => scale * dot d (q i) (k j)) (fun j => v j e).
Proof.
  intros n d scale q k v i e Hi.
  assert (C : forall f, sum n (fun j => if Nat.leb j i then f j else 0) = sum (S i) f).
  { intros f. replace n with (S i + (n - S i))%nat by lia. rewrite sum_app, (sum_0 (n - S i)), Rplus_0_r.
    - apply sum_ext. intros j Hj. now rewrite (proj2 (Nat.leb_le j i)) by lia.
    - intros j _. now rewrite (proj2 (Nat.leb_gt (S i + j) i)) by lia. }
  unfold output, attention, average, weight. set (Z := divisor _ _ _ _ _ _ _ _ _ _).
  assert (E : Z = sum (S i) (fun j => exp (scale * dot d (q i) (k j)))).
  { unfold Z, divisor, seen_exp. rewrite Rplus_0_l, C. apply sum_ext. intros j _. unfold logit. f_equal.
    ring. }
  rewrite <- E. unfold Rdiv. rewrite <- sum_scal_r, <- C. apply sum_ext. intros j _. unfold seen_exp.
  destruct (Nat.leb j i); [| ring]. unfold logit. rewrite Rmult_1_r, Rplus_0_r. ring.
Qed.
