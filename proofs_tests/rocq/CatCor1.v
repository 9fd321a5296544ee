(* CatCor1.v: [CAT] Corollary 1: attention with the filter D_1 = (0, 1, 0, ..) on its keys alone, queries and
   values unfiltered, solves associative recall in one layer, at every length L and at every row whose token
   has exactly one earlier occurrence: with the temperature c = ln(4L/epsilon) / (1 - max(rho, 0)), rho < 1
   the largest cosine of two different embeddings, the output is within epsilon/2 of the embedding of the
   token that followed that occurrence. With the paper's epsilon, the least distance of two embeddings, the
   nearest embedding is therefore the answer (cat_cor1_solves).
   proof_cat_cor1.c tests it on floats: con_recall_fwd with N = 1, F = (1), key delay, no norm. *)
From Coq Require Import Reals Lra Lia Arith.
From Seqmix Require Import Attention Recall.
Open Scope R_scope.

(* K = X * D_1; V = X; column e of the output at row i. x_t is the token of row t, E its table of embeddings.
   *)
Definition cor1_key (E : nat -> nat -> R) (x : nat -> nat) (j e : nat) : R :=
  conv (one_hot 1) (fun t => E (x t) e) j.
Definition cor1_layer (d : nat) (E : nat -> nat -> R) (c : R) (x : nat -> nat) (i e : nat) : R :=
  attention (S i) (fun j => recall_logit d c (E (x i)) (cor1_key E x j)) (fun j => E (x j) e).

(* Row p is the only one before row i with its token. *)
Definition only_earlier (x : nat -> nat) (p i : nat) : Prop :=
  (p < i)%nat /\ x p = x i /\ forall j, (j < i)%nat -> j <> p -> x j <> x i.

Lemma cor1_key_is_delayed E x j e : cor1_key E x j e = match j with O => 0 | S t => E (x t) e end.
Proof.
  unfold cor1_key, conv, one_hot. destruct j as [|t]; [simpl; lra|].
  rewrite (sum_only _ _ 1%nat); [|lia|].
  { replace (S t - 1)%nat with t by lia. rewrite Nat.eqb_refl. lra. }
  intros w _ Hw. rewrite (proj2 (Nat.eqb_neq 1 w)) by auto. lra.
Qed.

Theorem cat_cor1 (V d L : nat) (E : nat -> nat -> R) (rho epsilon : R) (x : nat -> nat) (p i : nat) :
  unit_rows V d E -> (forall a b, (a < V)%nat -> (b < V)%nat -> a <> b -> dot d (E a) (E b) <= rho) ->
  rho < 1 -> 0 < epsilon <= 4 -> (i < L)%nat -> (forall t, (t <= i)%nat -> (x t < V)%nat) ->
    only_earlier x p i ->
  norm d (fun e => cor1_layer d E (temperature L rho epsilon) x i e - E (x (S p)) e) < epsilon / 2.
Proof.
  intros HE Hrho Hr He Hi Hx (Hp & Hxp & Hone). set (c := temperature L rho epsilon).
  assert (Hd : (0 < d)%nat) by (apply (width_pos d (E (x i))), HE, Hx; lia).
  eapply Rle_lt_trans.
  - apply (one_match (S i) d _ (S p) (ln (4 * INR L / epsilon)) (fun j => E (x j))); [lia| |].
    + intros j Hj Hn. rewrite !recall_logit_dot by auto.
      assert (Q : dot d (E (x i)) (cor1_key E x (S p)) = 1).
      { rewrite <- (unit_dot d (E (x i))) by (apply HE, Hx; lia). apply sum_ext. intros e _.
        now rewrite cor1_key_is_delayed, Hxp. }
      rewrite Q. apply temperature_margin; auto; [lia|]. destruct j as [|j].
      * unfold dot. rewrite sum_0; [apply Rmax_r|]. intros e _. rewrite cor1_key_is_delayed. lra.
      * eapply Rle_trans; [|apply Rmax_l].
        replace (dot d (E (x i)) (cor1_key E x (S j))) with (dot d (E (x i)) (E (x j)))
          by (apply sum_ext; intros e _; now rewrite cor1_key_is_delayed).
        apply Hrho; try (apply Hx; lia). apply not_eq_sym, Hone; lia.
    + intros j Hj. right. apply HE, Hx. lia.
  - apply (margin_error L (S i)); [lia|lia|lra|]. rewrite S_INR. lra.
Qed.

Theorem cat_cor1_solves (V d L : nat) (E : nat -> nat -> R) (rho epsilon : R) (x : nat -> nat) (p i : nat) :
  unit_rows V d E -> (forall a b, (a < V)%nat -> (b < V)%nat -> a <> b -> dot d (E a) (E b) <= rho) ->
  (forall a b, (a < V)%nat -> (b < V)%nat -> a <> b -> epsilon <= norm d (fun e => E a e - E b e)) ->
  rho < 1 -> 0 < epsilon <= 4 -> (i < L)%nat -> (forall t, (t <= i)%nat -> (x t < V)%nat) ->
    only_earlier x p i ->
  nearest V d E (cor1_layer d E (temperature L rho epsilon) x i) (x (S p)).
Proof.
  intros HE Hrho Hmin Hr He Hi Hx Hp. apply (nearest_is_right V d E _ (x (S p)) epsilon); auto.
  - now apply (cat_cor1 V).
  - apply Hx. destruct Hp. lia.
Qed.
