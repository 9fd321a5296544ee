(* CatThm1.v: [CAT] Theorem 1: one layer solves N-gram associative recall, for every length, table of
   embeddings and sequence, in its three forms: value delay (the answer in the last row), key delay, and value
   delay under the strict mask j < i (an answer at every row). c = ln(4L/epsilon) / (1 - max(rho, 0)) gives an
   error below epsilon/2, rho < 1 the best wrong cosine of two filtered N-grams (cat_thm1_value_delay,
   cat_thm1_key_delay, cat_thm1_strict); so with the paper's epsilon, the least distance of two embeddings,
   the nearest embedding is the answer (cat_thm1_solves).
   "Almost all F": the keys whose N-gram reaches before the sequence, those of the first N - 1 rows, with key
   delay of the first N, are 0 (mask_starts), and of the embeddings, two or more, no two are opposite. Then
   rho < 1 exists for every F under which no filtered N-gram is 0 and no two different ones are parallel
   (cat_thm1_almost_all). The other F lie, by the definition of tells_apart, each on the quadric of some pair
   of N-grams. None of these is everything (each_pair_has_a_proper_quadric), there are finitely many pairs,
   and arbitrarily near to every F there is one that is not among the others (good_filters_are_dense). That
   such a union has measure 0 is not proved here. Where the embeddings are linearly independent, finitely many
   hyperplanes will do: those on which some combination of F_0 .. F_{N-1} with coefficients -1, 0, 1, not
   all 0, vanishes (independent_embeddings_are_told_apart). On each of these two different N-grams are
   filtered to one row, which no temperature tells apart (filters_on_a_hyperplane_fail), whatever the
   embeddings; F_r = 2^r lies on none (powers_of_two_are_generic).
   Erratum 11: without that mask the theorem as printed is false on an open set of filters. Wherever
   F_0 (F_0 + F_1) > 0 the first row a and the pair a a have one and the same key (the_start_collides), and on
   a c c a a b a a the answer b is not the nearest embedding and at least 1/3 away, whatever the temperature
   (the_printed_theorem_fails).
   Erratum 22: with two opposite embeddings, e0 and -e0, it is false as well for N = 2, with the mask and for
   every filter with |F_1| <> |F_0|: on c a b a a c a a the answer c is not the nearest embedding and at least
   1/3 away, 1/2 in the forms of one match (opposite_embeddings_fail).
   proof_cat_thm1.c and test_errata.c test the same on floats, with con_recall_fwd. *)
From Coq Require Import Reals Lra Lia Arith FunctionalExtensionality.
From Seqmix Require Import Attention Recall.
Open Scope R_scope.

(* ---- The layer: con_recall_fwd ------------------------------------------------------------------------- *)
(* The filter of N taps, and the same with D_1 behind it. *)
Definition taps (N : nat) (F : nat -> R) (w : nat) : R := if Nat.ltb w N then F w else 0.
Definition delay (f : nat -> R) (w : nat) : R := match w with O => 0 | S v => f v end.
(* norm(): a row scaled to unit length; a zero row stays 0 *)
Definition unit (d : nat) (u : nat -> R) (e : nat) : R := u e / norm d u.
(* norm(X * f) *)
Definition filtered (d : nat) (E : nat -> nat -> R) (f : nat -> R) (x : nat -> nat) (t : nat) : nat -> R :=
  unit d (fun e => conv f (fun i => E (x i) e) t).
(* mask_starts: the rows before `start` are 0 *)
Definition masked (start : nat) (K : nat -> nat -> R) (t e : nat) : R := if Nat.ltb t start then 0 else K t e.

(* Q = c norm(X * F), K = norm(X * F) with its first rows 0, V = 2 X * D_{-1}: at the last row i, after which
   nothing comes. *)
Definition value_delay (d N start : nat) E F (c : R) (x : nat -> nat) (i e : nat) : R :=
  attention (S i) (fun j => recall_logit d c (filtered d E (taps N F) x i)
    (masked start (filtered d E (taps N F) x) j))
    (fun j => if Nat.eqb j i then 0 else 2 * E (x (S j)) e).
(* K = norm(X * F * D_1), V = X *)
Definition key_delay (d N start : nat) E F (c : R) (x : nat -> nat) (i e : nat) : R :=
  attention (S i) (fun j => recall_logit d c (filtered d E (taps N F) x i)
    (masked (S start) (filtered d E (delay (taps N F)) x) j)) (fun j => E (x j) e).
(* K = norm(X * F), V = X * D_{-1}, and no row attends to itself *)
Definition strict (d N start : nat) E F (c : R) (x : nat -> nat) (i e : nat) : R :=
  attention i (fun j => recall_logit d c (filtered d E (taps N F) x i)
    (masked start (filtered d E (taps N F) x) j))
    (fun j => E (x (S j)) e).

(* ---- The task ------------------------------------------------------------------------------------------ *)
(* The N tokens that end at j are those that end at i. *)
Definition same_ngram (N : nat) (x : nat -> nat) (j i : nat) : Prop :=
  forall r, (r < N)%nat -> x (j - r)%nat = x (i - r)%nat.
(* The only earlier copy of the N tokens that end at i ends at p. *)
Definition only_copy (N : nat) (x : nat -> nat) (p i : nat) : Prop :=
  (N - 1 <= p < i)%nat /\ same_ngram N x p i /\
  forall j, (N - 1 <= j < i)%nat -> j <> p -> ~ same_ngram N x j i.

(* The filtered N-gram whose token r steps back is a r. *)
Definition gram (E : nat -> nat -> R) (F : nat -> R) (N : nat) (a : nat -> nat) (e : nat) : R :=
  sum N (fun r => F r * E (a r) e).
Definition is_gram (V N : nat) (a : nat -> nat) : Prop := forall r, (r < N)%nat -> (a r < V)%nat.
Definition differ (N : nat) (a b : nat -> nat) : Prop := exists r, (r < N)%nat /\ a r <> b r.
(* No N-gram is filtered to nothing, and two different ones have a cosine of at most rho. *)
Definition separates (V d : nat) E F (N : nat) (rho : R) : Prop :=
  (forall a, is_gram V N a -> 0 < norm d (gram E F N a)) /\
  forall a b, is_gram V N a -> is_gram V N b -> differ N a b ->
    dot d (unit d (gram E F N a)) (unit d (gram E F N b)) <= rho.

(* ---- Steps --------------------------------------------------------------------------------------------- *)
Lemma conv_taps N F x t : (N <= S t)%nat -> conv (taps N F) x t = sum N (fun r => F r * x (t - r)%nat).
Proof.
  intros H. unfold conv. replace (S t) with (N + (S t - N))%nat at 1 by lia. rewrite sum_app.
  rewrite (sum_0 (S t - N)).
  - rewrite Rplus_0_r. apply sum_ext. intros r Hr. unfold taps. now rewrite (proj2 (Nat.ltb_lt r N)) by auto.
  - intros r _. unfold taps. rewrite (proj2 (Nat.ltb_ge _ N)) by lia. lra.
Qed.

Lemma conv_delay f x t : conv (delay f) x (S t) = conv f x t.
Proof. unfold conv. rewrite sum_first. simpl delay. rewrite Rmult_0_l, Rplus_0_l. now apply sum_ext. Qed.

Lemma filtered_gram d E N F x t : (N <= S t)%nat -> filtered d E (taps N F) x t = unit d
  (gram E F N (fun r => x (t - r)%nat)).
Proof.
  intros H. unfold filtered. f_equal. apply functional_extensionality. intros e. now rewrite conv_taps.
Qed.

Lemma gram_ext E F N a b : (forall r, (r < N)%nat -> a r = b r) -> gram E F N a = gram E F N b.
Proof. intros H. apply functional_extensionality. intros e. apply sum_ext. intros r Hr. now rewrite H. Qed.

Lemma unit_norm d u : 0 < norm d u -> norm d (unit d u) = 1.
Proof.
  intros H. unfold unit. rewrite (norm_ext d _ (fun e => / norm d u * u e)) by (intros; unfold Rdiv; lra).
  rewrite norm_scal, Rabs_pos_eq by (left; now apply Rinv_0_lt_compat). field. lra.
Qed.

Lemma same_or_differ N a b : (forall r, (r < N)%nat -> a r = b r) \/ differ N a b.
Proof.
  induction N as [|n [A|(r & Hr & B)]]; [left; intros; lia| |right; exists r; split; [lia|auto]].
  destruct (Nat.eq_dec (a n) (b n)) as [Q|Q]; [|right; exists n; auto].
  left. intros r Hr. destruct (Nat.eq_dec r n) as [->|]; auto. apply A. lia.
Qed.

(* Every row but the copy has a logit that is lower by the margin. *)
Section Recall.
Variables (V d N L : nat) (E : nat -> nat -> R) (F : nat -> R) (rho epsilon : R) (x : nat -> nat) (p i : nat).
Hypothesis (unit_E : unit_rows V d E) (sep : separates V d E F N rho) (rho_1 : rho < 1)
  (eps : 0 < epsilon <= 4).
Hypothesis (N_1 : (1 <= N)%nat) (i_L : (i < L)%nat) (x_V : forall t, (t <= i)%nat -> (x t < V)%nat)
  (copy : only_copy N x p i).
Let c := temperature L rho epsilon.
Let u t := filtered d E (taps N F) x t.

Lemma grams t : (t <= i)%nat -> is_gram V N (fun r => x (t - r)%nat).
Proof. intros H r _. apply x_V. lia. Qed.

Lemma query_unit : dot d (u i) (u i) = 1.
Proof.
  unfold u. destruct copy as (Hp & _). rewrite filtered_gram by lia.
  apply unit_dot, unit_norm, (proj1 sep), grams. lia.
Qed.

Lemma width : (0 < d)%nat.
Proof. apply (width_pos d (E (x i))), unit_E, x_V. lia. Qed.

Lemma copy_logit : recall_logit d c (u i) (masked (N - 1) u p) = c * 1.
Proof.
  destruct copy as (Hp & Hs & _). rewrite recall_logit_dot by apply width. f_equal. rewrite <- query_unit.
  unfold u.
  apply sum_ext. intros e _. unfold masked. rewrite (proj2 (Nat.ltb_ge p (N - 1))) by lia.
  rewrite !filtered_gram by lia.
  now rewrite (gram_ext E F N (fun r => x (p - r)%nat) (fun r => x (i - r)%nat)) by exact Hs.
Qed.

Lemma other_logit j : (j < i)%nat -> j <> p ->
  recall_logit d c (u i) (masked (N - 1) u j) + ln (4 * INR L / epsilon) <= c * 1.
Proof.
  intros Hj Hn. rewrite recall_logit_dot by apply width. apply temperature_margin; auto; [lia|].
  unfold masked. destruct (Nat.ltb_spec j (N - 1)) as [H|H].
  - unfold dot. rewrite sum_0 by (intros; lra). apply Rmax_r.
  - eapply Rle_trans; [|apply Rmax_l]. destruct copy as (Hp & _ & Hone).
    change (dot d (u i) (u j) <= rho). unfold u. rewrite !filtered_gram by lia.
    apply (proj2 sep); try (apply grams; lia).
    destruct (same_or_differ N (fun r => x (i - r)%nat) (fun r => x (j - r)%nat)) as [A|B]; [|exact B].
    exfalso. apply (Hone j); [lia|auto|]. intros r Hr. symmetry. now apply A.
Qed.

Lemma cat_thm1_value_delay_ :
  norm d (fun e => value_delay d N (N - 1) E F c x i e - E (x (S p)) e) < epsilon / 2.
Proof.
  destruct copy as (Hp & Hs & Hone). eapply Rle_lt_trans.
  - apply (two_matches (S i) d (fun j => recall_logit d c (u i) (masked (N - 1) u j)) p i
      (ln (4 * INR L / epsilon))
      (fun j => E (x (S j)))); try lia.
    + rewrite copy_logit, recall_logit_dot by apply width. f_equal. rewrite <- query_unit.
      apply sum_ext. intros e _. unfold masked. now rewrite (proj2 (Nat.ltb_ge i (N - 1))) by lia.
    + intros j Hj Hjp Hji. rewrite copy_logit. apply other_logit; auto. lia.
    + intros j Hj Hji. right. apply unit_E, x_V. lia.
  - apply (margin_error L (S i)); try lia; [lra|]. rewrite S_INR. lra.
Qed.

Lemma cat_thm1_strict_ : norm d (fun e => strict d N (N - 1) E F c x i e - E (x (S p)) e) < epsilon / 2.
Proof.
  destruct copy as (Hp & Hs & Hone). eapply Rle_lt_trans.
  - apply (one_match i d (fun j => recall_logit d c (u i) (masked (N - 1) u j)) p (ln (4 * INR L / epsilon))
      (fun j => E (x (S j)))); try lia.
    + intros j Hj Hjp. rewrite copy_logit. apply other_logit; auto.
    + intros j Hj. right. apply unit_E, x_V. lia.
  - apply (margin_error L i); try lia; lra.
Qed.

Lemma delayed_key j e : masked (S (N - 1)) (filtered d E (delay (taps N F)) x) (S j) e = masked (N - 1) u j e.
Proof.
  unfold masked. change (Nat.ltb (S j) (S (N - 1))) with (Nat.ltb j (N - 1)).
  destruct (Nat.ltb j (N - 1)); auto.
  unfold u, filtered. f_equal. apply functional_extensionality. intros f. apply conv_delay.
Qed.

Lemma cat_thm1_key_delay_ : norm d (fun e => key_delay d N (N - 1) E F c x i e - E (x (S p)) e) < epsilon / 2.
Proof.
  destruct copy as (Hp & Hs & Hone).
  assert (K : forall j, recall_logit d c (u i) (masked (S (N - 1)) (filtered d E (delay (taps N F)) x) (S j))
    = recall_logit d c (u i) (masked (N - 1) u j)).
  { intros j. rewrite !recall_logit_dot by apply width. f_equal. apply sum_ext. intros e _.
    now rewrite delayed_key. }
  eapply Rle_lt_trans.
  - apply (one_match (S i) d (fun j => recall_logit d c (u i)
      (masked (S (N - 1)) (filtered d E (delay (taps N F)) x) j)) (S p) (ln (4 * INR L / epsilon))
        (fun j => E (x j))); [lia| |].
    + intros [|j] Hj Hn; rewrite (K p), copy_logit; [|rewrite K; apply other_logit; lia].
      rewrite recall_logit_dot by apply width. apply temperature_margin; auto; [lia|].
      unfold dot, masked. rewrite sum_0; [apply Rmax_r|]. intros e _. simpl. lra.
    + intros j Hj. right. apply unit_E, x_V. lia.
  - apply (margin_error L (S i)); try lia; [lra|]. rewrite S_INR. lra.
Qed.
End Recall.

(* ---- The three forms ----------------------------------------------------------------------------------- *)
Theorem cat_thm1_value_delay (V d N L : nat) E F (rho epsilon : R) (x : nat -> nat) (p i : nat) :
  unit_rows V d E -> separates V d E F N rho -> rho < 1 -> 0 < epsilon <= 4 -> (1 <= N)%nat -> (i < L)%nat ->
  (forall t, (t <= i)%nat -> (x t < V)%nat) -> only_copy N x p i ->
  norm d (fun e => value_delay d N (N - 1) E F (temperature L rho epsilon) x i e - E (x (S p)) e)
    < epsilon / 2.
Proof. intros. now apply (cat_thm1_value_delay_ V). Qed.

Theorem cat_thm1_key_delay (V d N L : nat) E F (rho epsilon : R) (x : nat -> nat) (p i : nat) :
  unit_rows V d E -> separates V d E F N rho -> rho < 1 -> 0 < epsilon <= 4 -> (1 <= N)%nat -> (i < L)%nat ->
  (forall t, (t <= i)%nat -> (x t < V)%nat) -> only_copy N x p i ->
  norm d (fun e => key_delay d N (N - 1) E F (temperature L rho epsilon) x i e - E (x (S p)) e) < epsilon / 2.
Proof. intros. now apply (cat_thm1_key_delay_ V). Qed.

Theorem cat_thm1_strict (V d N L : nat) E F (rho epsilon : R) (x : nat -> nat) (p i : nat) :
  unit_rows V d E -> separates V d E F N rho -> rho < 1 -> 0 < epsilon <= 4 -> (1 <= N)%nat -> (i < L)%nat ->
  (forall t, (t <= i)%nat -> (x t < V)%nat) -> only_copy N x p i ->
  norm d (fun e => strict d N (N - 1) E F (temperature L rho epsilon) x i e - E (x (S p)) e) < epsilon / 2.
Proof. intros. now apply (cat_thm1_strict_ V). Qed.

(* ---- Almost every filter ------------------------------------------------------------------------------- *)
Definition independent (V d : nat) (E : nat -> nat -> R) : Prop :=
  forall alpha, (forall e, (e < d)%nat -> sum V (fun a => alpha a * E a e) = 0) -> forall a, (a < V)%nat ->
    alpha a = 0.
(* F lies on none of the hyperplanes sum sigma_r F_r = 0, sigma in {-1, 0, 1}^N but not 0. *)
Definition generic (N : nat) (F : nat -> R) : Prop :=
  forall sigma, (forall r, (r < N)%nat -> sigma r = -1 \/ sigma r = 0 \/ sigma r = 1) ->
  (exists r, (r < N)%nat /\ sigma r <> 0) -> sum N (fun r => sigma r * F r) <> 0.

(* How much of token a N-gram holds, filtered. *)
Definition weight (F : nat -> R) (N : nat) (a : nat -> nat) (token : nat) : R :=
  sum N (fun r => F r * one_hot (a r) token).

Lemma gram_weight V E F N a e : is_gram V N a -> gram E F N a e = sum V
  (fun token => weight F N a token * E token e).
Proof.
  intros H. unfold gram, weight.
  rewrite (sum_ext V _ (fun token => sum N (fun r => F r * one_hot (a r) token * E token e)))
    by (intros; now rewrite <- sum_scal_r).
  rewrite sum_swap. apply sum_ext. intros r Hr. unfold one_hot. rewrite (sum_only V _ (a r) (H r Hr)).
  - rewrite Nat.eqb_refl. lra.
  - intros t _ Ht. rewrite (proj2 (Nat.eqb_neq (a r) t)) by auto. lra.
Qed.

Lemma weight_total V F N a : is_gram V N a -> sum V (weight F N a) = sum N F.
Proof.
  intros H. unfold weight. rewrite sum_swap. apply sum_ext. intros r Hr. rewrite sum_scal.
  unfold one_hot. rewrite (sum_only V _ (a r) (H r Hr)).
  - rewrite Nat.eqb_refl. lra.
  - intros t _ Ht. now rewrite (proj2 (Nat.eqb_neq (a r) t)) by auto.
Qed.

Lemma generic_total N F : (1 <= N)%nat -> generic N F -> sum N F <> 0.
Proof.
  intros HN H. rewrite (sum_ext N F (fun r => 1 * F r)) by (intros; lra). apply (H (fun _ => 1)); [auto|].
  exists O. split; [lia|lra].
Qed.

Lemma norm_zero d u : norm d u = 0 -> forall e, (e < d)%nat -> u e = 0.
Proof. intros H e He. pose proof (norm_entry d u e He). pose proof (Rabs_pos (u e)).
destruct (Req_dec (u e) 0); auto.
  pose proof (Rabs_pos_lt (u e) ltac:(auto)). lra. Qed.

Lemma generic_nonzero V d E F N a :
  (1 <= N)%nat -> independent V d E -> generic N F -> is_gram V N a -> 0 < norm d (gram E F N a).
Proof.
  intros HN HE HF Ha. destruct (norm_nonneg d (gram E F N a)) as [H|H]; auto. exfalso.
  apply (generic_total N F HN HF). rewrite <- (weight_total V F N a Ha). apply sum_0. apply HE.
  intros e He. rewrite <- gram_weight by auto. now apply (norm_zero d).
Qed.

(* Unit rows whose product is 1 are equal. *)
Lemma equal_units d u v : norm d u = 1 -> norm d v = 1 -> 1 <= dot d u v -> forall e, (e < d)%nat -> u e
  = v e.
Proof.
  intros Hu Hv H e He. apply Rminus_diag_uniq. apply (norm_zero d (fun e => u e - v e)); auto.
  unfold norm. replace (dot d _ _) with (dot d u u - 2 * dot d u v + dot d v v).
  2:{ unfold dot. rewrite <- sum_scal, <- sum_minus, <- sum_plus. apply sum_ext. intros. lra. }
  rewrite (unit_dot d u Hu), (unit_dot d v Hv). apply sqrt_neg_0. lra.
Qed.

Lemma generic_separates V d E F N a b :
  (1 <= N)%nat -> independent V d E -> generic N F -> is_gram V N a -> is_gram V N b -> differ N a b ->
  dot d (unit d (gram E F N a)) (unit d (gram E F N b)) < 1.
Proof.
  intros HN HE HF Ha Hb (r & Hr & Hab). apply Rnot_le_lt. intros H.
  pose proof (generic_nonzero V d E F N a HN HE HF Ha) as Pa.
  pose proof (generic_nonzero V d E F N b HN HE HF Hb) as Pb.
  pose proof (equal_units d _ _ (unit_norm d _ Pa) (unit_norm d _ Pb) H) as Q. unfold unit in Q.
  set (na := norm d (gram E F N a)) in *. set (nb := norm d (gram E F N b)) in *.
  assert (W : forall t, (t < V)%nat -> weight F N a t / na - weight F N b t / nb = 0).
  { apply HE. intros e He. rewrite
      (sum_ext V _ (fun t => / na * (weight F N a t * E t e) - / nb * (weight F N b t * E t e)))
      by (intros; unfold Rdiv; lra).
    rewrite sum_minus, !sum_scal, <- !gram_weight by auto. pose proof (Q e He). unfold Rdiv in *. lra. }
  assert (T : sum N F / na - sum N F / nb = 0).
  { rewrite <- (weight_total V F N a Ha) at 1. rewrite <- (weight_total V F N b Hb). unfold Rdiv.
    rewrite <- !sum_scal_r, <- sum_minus. apply sum_0. exact W. }
  pose proof (generic_total N F HN HF) as Tot.
  assert (na = nb) as Eq.
  { apply Rminus_diag_uniq. apply (Rmult_eq_reg_l (sum N F)); auto. rewrite Rmult_0_r.
    transitivity (- (sum N F / na - sum N F / nb) * (na * nb)); [field; lra|rewrite T; lra]. }
  rewrite <- Eq in W. pose proof (W (a r) (Ha r Hr)) as Z.
  apply (HF (fun s => one_hot (a s) (a r) - one_hot (b s) (a r))).
  - intros s _. unfold one_hot. destruct (Nat.eqb (a s) (a r)), (Nat.eqb (b s) (a r)); lra.
  - exists r. split; auto. unfold one_hot. rewrite Nat.eqb_refl, (proj2 (Nat.eqb_neq (b r) (a r))) by auto.
    lra.
  - rewrite (sum_ext N _ (fun s => F s * one_hot (a s) (a r) - F s * one_hot (b s) (a r))) by (intros; lra).
    rewrite sum_minus. fold (weight F N a (a r)) (weight F N b (a r)).
    transitivity ((weight F N a (a r) / na - weight F N b (a r) / na) * na); [field; lra|rewrite Z; lra].
Qed.

(* There are finitely many N-grams, so what stays below 1 for each stays below one rho < 1. *)
Lemma uniform_bound n (P : nat -> R -> Prop) :
  (forall k r s, r <= s -> P k r -> P k s) -> (forall k, (k < n)%nat -> exists r, r < 1 /\ P k r) ->
  exists r, r < 1 /\ forall k, (k < n)%nat -> P k r.
Proof.
  intros M. induction n as [|n IH]; intros H; [exists 0; split; [lra|intros; lia]|].
  destruct IH as (r & Hr & A); [intros; apply H; lia|]. destruct (H n ltac:(lia)) as (s & Hs & B).
  exists (Rmax r s). split; [now apply Rmax_lub_lt|]. intros k Hk. destruct (Nat.eq_dec k n) as [->|].
  - eapply M; [apply Rmax_r|auto].
  - eapply M; [apply Rmax_l|apply A; lia].
Qed.

Lemma uniform_over_grams V N (Q : (nat -> nat) -> R -> Prop) :
  (forall a r s, r <= s -> Q a r -> Q a s) ->
    (forall a b r, (forall k, (k < N)%nat -> a k = b k) -> Q a r -> Q b r) ->
  (forall a, is_gram V N a -> exists r, r < 1 /\ Q a r) -> exists r, r < 1 /\ forall a, is_gram V N a ->
    Q a r.
Proof.
  revert Q. induction N as [|N IH]; intros Q M X H.
  - destruct (H (fun _ => O)) as (r & Hr & A); [intros k Hk; lia|]. exists r. split; auto.
    intros a _. apply (X (fun _ => O)); auto. intros; lia.
  - set (cons := fun (k : nat) (a : nat -> nat) r => match r with O => k | S r => a r end).
    destruct (uniform_bound V (fun k r => forall a, is_gram V N a -> Q (cons k a) r)) as (r & Hr & A).
    + intros k r s Hrs A a Ha. eapply M; eauto.
    + intros k Hk. apply (IH (fun a => Q (cons k a))).
      * intros a r s Hrs. now apply M.
      * intros a b r Hab. apply X. intros [|j] Hj; auto. apply Hab. lia.
      * intros a Ha. apply H. intros [|j] Hj; simpl; [auto|apply Ha; lia].
    + exists r. split; auto. intros a Ha. apply (X (cons (a O) (fun j => a (S j)))).
      * intros [|j] _; reflexivity.
      * apply A; [apply Ha; lia|]. intros j Hj. apply Ha. lia.
Qed.

(* What is below 1 for each pair of N-grams is below one rho < 1 for all. *)
Lemma one_rho V d E F N :
  (forall a, is_gram V N a -> 0 < norm d (gram E F N a)) ->
  (forall a b, is_gram V N a -> is_gram V N b -> differ N a b ->
    dot d (unit d (gram E F N a)) (unit d (gram E F N b)) < 1) ->
  exists rho, rho < 1 /\ separates V d E F N rho.
Proof.
  intros HP HS.
  destruct (uniform_over_grams V N (fun a r => forall b, is_gram V N b -> differ N a b ->
    dot d (unit d (gram E F N a)) (unit d (gram E F N b)) <= r)) as (rho & Hr & A).
  - intros a r s Hrs H b Hb D. eapply Rle_trans; eauto.
  - intros a a' r Haa H b Hb (j & Hj & D). rewrite <- (gram_ext E F N a a' Haa). apply H; auto.
    exists j. split; auto. now rewrite Haa.
  - intros a Ha. apply (uniform_over_grams V N (fun b r => differ N a b ->
      dot d (unit d (gram E F N a)) (unit d (gram E F N b)) <= r)).
    + intros b r s Hrs H D. eapply Rle_trans; eauto.
    + intros b b' r Hbb H (j & Hj & D). rewrite <- (gram_ext E F N b b' Hbb). apply H. exists j. split; auto.
      now rewrite Hbb.
    + intros b Hb. destruct (same_or_differ N a b) as [S|D].
      * exists 0. split; [lra|]. intros (j & Hj & D). now apply S in Hj.
      * eexists. split; [apply (HS a b); auto|]. intros _. apply Rle_refl.
  - exists rho. split; auto. split; [exact HP|exact (fun a b Ha => A a Ha b)].
Qed.

(* Linearly independent embeddings (so V <= d): the exceptional set is these hyperplanes. *)
Theorem independent_embeddings_are_told_apart (V d N : nat) E F :
  independent V d E -> (1 <= N)%nat -> generic N F -> exists rho, rho < 1 /\ separates V d E F N rho.
Proof.
  intros HE HN HF. apply one_rho; intros; [now apply (generic_nonzero V)|now apply (generic_separates V)].
Qed.

(* ---- Any embeddings of which no two are opposite ------------------------------------------------------- *)
Definition distinct (V d : nat) (E : nat -> nat -> R) : Prop := forall a b, (a < V)%nat -> (b < V)%nat ->
  a <> b -> exists e, (e < d)%nat /\ E a e <> E b e.
Definition none_opposite (V d : nat) (E : nat -> nat -> R) : Prop := forall a b, (a < V)%nat -> (b < V)%nat ->
  exists e, (e < d)%nat /\ E a e <> - E b e.
(* Entries e and f of two filtered N-grams as a determinant: a quadratic form in F. The grams are parallel
   where all of them are 0. *)
Definition minor E F N a b (e f : nat) : R :=
  gram E F N a e * gram E F N b f - gram E F N a f * gram E F N b e.
(* No filtered N-gram is 0, and no two different ones are parallel. *)
Definition tells_apart (V d : nat) E (N : nat) F : Prop :=
  (forall a, is_gram V N a -> exists e, (e < d)%nat /\ gram E F N a e <> 0) /\
  forall a b, is_gram V N a -> is_gram V N b -> differ N a b ->
    exists e f, (e < d)%nat /\ (f < d)%nat /\ minor E F N a b e f <> 0.

Lemma all_or_one n (P : nat -> Prop) :
  (forall i, {P i} + {~ P i}) -> (forall i, (i < n)%nat -> P i) \/ exists i, (i < n)%nat /\ ~ P i.
Proof.
  intros D. induction n as [|n [A|(i & Hi & B)]]; [left; intros; lia| |right; exists i; split; [lia|auto]].
  destruct (D n) as [Q|Q]; [|right; exists n; auto]. left. intros i Hi.
  destruct (Nat.eq_dec i n) as [->|]; auto. apply A. lia.
Qed.

(* Two unit rows are parallel only if they are equal or opposite. *)
Lemma parallel_units d u v : norm d u = 1 -> norm d v = 1 ->
  (forall e f, (e < d)%nat -> (f < d)%nat -> u e * v f - u f * v e = 0) ->
  (forall e, (e < d)%nat -> u e = v e) \/ forall e, (e < d)%nat -> u e = - v e.
Proof.
  intros Hu Hv H. set (s := dot d u v).
  assert (P : forall e, (e < d)%nat -> u e = s * v e).
  { intros e He. assert (Z : sum d (fun f => (u e * v f - u f * v e) * v f) = 0).
    { apply sum_0. intros f Hf. rewrite H by auto. lra. }
    rewrite (sum_ext d _ (fun f => u e * (v f * v f) - v e * (u f * v f))) in Z by (intros; lra).
    rewrite sum_minus, !sum_scal in Z. fold (dot d v v) (dot d u v) in Z. rewrite (unit_dot d v Hv) in Z.
    fold s in Z. lra. }
  assert (S : s * s = 1).
  { rewrite <- (unit_dot d u Hu). unfold dot at 1.
    rewrite (sum_ext d _ (fun e => s * s * (v e * v e))) by (intros e He; rewrite (P e He); lra).
    rewrite sum_scal. fold (dot d v v). rewrite (unit_dot d v Hv). lra. }
  assert (s = 1 \/ s = -1) as [E|E].
  { destruct (Req_dec s 1) as [|N]; [left; auto|right]. apply (Rmult_eq_reg_l (s - 1)); [|lra]. lra. }
  - left. intros e He. rewrite (P e He), E. lra.
  - right. intros e He. rewrite (P e He), E. lra.
Qed.

Lemma not_parallel V d E a b : unit_rows V d E -> distinct V d E -> none_opposite V d E ->
  (a < V)%nat -> (b < V)%nat -> a <> b ->
  exists e f, (e < d)%nat /\ (f < d)%nat /\ E a e * E b f - E a f * E b e <> 0.
Proof.
  intros U D O Ha Hb N.
  destruct (all_or_one d (fun e => sum d (fun f => Rabs (E a e * E b f - E a f * E b e)) = 0)) as [A|(e & He & A)].
  - intros e. apply Req_EM_T.
  - exfalso. destruct (parallel_units d (E a) (E b)) as [Q|Q]; auto.
    + intros e f He Hf. destruct (Req_dec (E a e * E b f - E a f * E b e) 0) as [|X]; auto. exfalso.
      pose proof (A e He) as Z.
      pose proof (sum_term_le d (fun f => Rabs (E a e * E b f - E a f * E b e)) f Hf
        (fun i _ => Rabs_pos _)) as T. cbv beta in T. pose proof (Rabs_pos_lt _ X). lra.
    + destruct (D a b Ha Hb N) as (e & He & X). apply X, Q, He.
    + destruct (O a b Ha Hb) as (e & He & X). apply X, Q, He.
  - destruct (all_or_one d (fun f => E a e * E b f - E a f * E b e = 0)) as [B|(f & Hf & B)].
    + intros f. apply Req_EM_T.
    + exfalso. apply A, sum_0. intros f Hf. rewrite (B f Hf). apply Rabs_R0.
    + exists e, f. auto.
Qed.

(* So for two different N-grams the filters under which they are parallel lie on a quadric, and not every filter
   does: the one tap r does not, where token r differs. *)
Lemma gram_one_tap E N a r e : (r < N)%nat -> gram E (one_hot r) N a e = E (a r) e.
Proof.
  intros Hr. unfold gram. rewrite (sum_only N _ r Hr).
  - unfold one_hot. rewrite Nat.eqb_refl. lra.
  - intros s _ Hs. unfold one_hot. rewrite (proj2 (Nat.eqb_neq r s)) by auto. lra.
Qed.

Theorem each_pair_has_a_proper_quadric (V d N : nat) E a b r :
  unit_rows V d E -> distinct V d E -> none_opposite V d E -> is_gram V N a -> is_gram V N b ->
  (r < N)%nat -> a r <> b r ->
  exists e f, (e < d)%nat /\ (f < d)%nat /\ minor E (one_hot r) N a b e f <> 0 /\
    forall F, minor E F N a b e f =
      sum N (fun s => sum N (fun t => F s * F t * (E (a s) e * E (b t) f - E (a s) f * E (b t) e))).
Proof.
  intros U D O Ha Hb Hr N0.
  destruct (not_parallel V d E (a r) (b r) U D O (Ha r Hr) (Hb r Hr) N0) as (e & f & He & Hf & X).
  exists e, f. split; [auto|split; [auto|split]].
  - unfold minor. now rewrite !gram_one_tap.
  - intros F. unfold minor, gram. rewrite <- !sum_scal_r, <- sum_minus. apply sum_ext. intros s _.
    rewrite <- !sum_scal, <- sum_minus. apply sum_ext. intros t _. lra.
Qed.

Lemma told_apart V d E F N : tells_apart V d E N F -> exists rho, rho < 1 /\ separates V d E F N rho.
Proof.
  intros (Z & M).
  assert (P : forall a, is_gram V N a -> 0 < norm d (gram E F N a)).
  { intros a Ha. destruct (Z a Ha) as (e & He & X). apply Rlt_le_trans with (Rabs (gram E F N a e));
      [now apply Rabs_pos_lt|now apply norm_entry]. }
  apply one_rho; auto. intros a b Ha Hb D. apply Rnot_le_lt. intros H.
  pose proof (P a Ha) as Pa. pose proof (P b Hb) as Pb.
  pose proof (equal_units d _ _ (unit_norm d _ Pa) (unit_norm d _ Pb) H) as Q. unfold unit in Q.
  destruct (M a b Ha Hb D) as (e & f & He & Hf & X). apply X. unfold minor.
  set (na := norm d (gram E F N a)) in *. set (nb := norm d (gram E F N b)) in *.
  pose proof (Q e He) as Qe. pose proof (Q f Hf) as Qf.
  replace (gram E F N a e) with (gram E F N a e / na * na) by (field; lra).
  replace (gram E F N a f) with (gram E F N a f / na * na) by (field; lra).
  rewrite Qe, Qf. field. lra.
Qed.

(* Finitely many proper quadrics leave filters everywhere: one tap after the other is moved by less than any
   delta, past finitely many values. *)
Definition all_but_finitely_many (Q : R -> Prop) : Prop := exists l, forall t, ~ List.In t l -> Q t.

Lemma cofinite_and P Q : all_but_finitely_many P -> all_but_finitely_many Q ->
  all_but_finitely_many (fun t => P t /\ Q t).
Proof.
  intros (l & A) (m & B). exists (l ++ m)%list. intros t H.
  split; [apply A|apply B]; intros I; apply H, List.in_or_app; auto.
Qed.

Lemma cofinite_over n (P : nat -> R -> Prop) : (forall k, (k < n)%nat -> all_but_finitely_many (P k)) ->
  all_but_finitely_many (fun t => forall k, (k < n)%nat -> P k t).
Proof.
  induction n as [|n IH]; intros H; [exists nil; intros; lia|].
  destruct (cofinite_and _ _ (IH (fun k Hk => H k ltac:(lia))) (H n ltac:(lia))) as (l & A).
  exists l. intros t Ht k Hk. destruct (A t Ht) as (B & C). destruct (Nat.eq_dec k n) as [->|]; auto.
  apply B. lia.
Qed.

Lemma cofinite_over_grams V N (Q : (nat -> nat) -> R -> Prop) :
  (forall a b t, (forall k, (k < N)%nat -> a k = b k) -> Q a t -> Q b t) ->
  (forall a, is_gram V N a -> all_but_finitely_many (Q a)) ->
  all_but_finitely_many (fun t => forall a, is_gram V N a -> Q a t).
Proof.
  revert Q. induction N as [|N IH]; intros Q X H.
  - destruct (H (fun _ => O)) as (l & A); [intros k Hk; lia|]. exists l. intros t Ht a _.
    apply (X (fun _ => O)); auto. intros; lia.
  - set (cons := fun (k : nat) (a : nat -> nat) r => match r with O => k | S r => a r end).
    destruct (cofinite_over V (fun k t => forall a, is_gram V N a -> Q (cons k a) t)) as (l & A).
    + intros k Hk. apply (IH (fun a => Q (cons k a))).
      * intros a b t Hab. apply X. intros [|j] Hj; auto. apply Hab. lia.
      * intros a Ha. apply H. intros [|j] Hj; simpl; [auto|apply Ha; lia].
    + exists l. intros t Ht a Ha. apply (X (cons (a O) (fun j => a (S j)))).
      * intros [|j] _; reflexivity.
      * apply A; [auto|apply Ha; lia|]. intros j Hj. apply Ha. lia.
Qed.

Lemma cofinite_near Q x delta : all_but_finitely_many Q -> 0 < delta -> exists t, Rabs (t - x) < delta /\ Q t.
Proof.
  intros (l & A) Hd.
  assert (G : exists lo hi, x <= lo /\ lo < hi /\ hi <= x + delta /\ forall y, List.In y l -> ~ lo < y < hi).
  { clear A. induction l as [|y l (lo & hi & H1 & H2 & H3 & H4)].
    - exists x, (x + delta). repeat split; try lra. intros y [].
    - destruct (Rlt_dec lo y) as [L|L]; [destruct (Rlt_dec y hi) as [R|R]|].
      + exists lo, y. repeat split; try lra. intros z [<-|I]; [lra|]. intros Z. apply (H4 z I). lra.
      + exists lo, hi. repeat split; try lra. intros z [<-|I]; [lra|now apply H4].
      + exists lo, hi. repeat split; try lra. intros z [<-|I]; [lra|now apply H4]. }
  destruct G as (lo & hi & H1 & H2 & H3 & H4). exists ((lo + hi) / 2). split.
  - rewrite Rabs_pos_eq by lra. lra.
  - apply A. intros I. apply (H4 _ I). lra.
Qed.

Lemma quadratic_roots p q r : ~ (p = 0 /\ q = 0 /\ r = 0) ->
  all_but_finitely_many (fun t => p + t * q + t * t * r <> 0).
Proof.
  intros H. destruct (Req_dec r 0) as [R0|R0].
  - destruct (Req_dec q 0) as [Q0|Q0].
    + exists nil. intros t _ Z. apply H. subst. lra.
    + exists (cons (- p / q) nil). intros t Ht Z. apply Ht. left. subst r.
      apply (Rmult_eq_reg_l q); auto. field_simplify; auto. lra.
  - destruct (Rlt_dec (q * q - 4 * r * p) 0) as [D|D].
    + exists nil. intros t _ Z. pose proof (Rle_0_sqr (2 * r * t + q)) as S. unfold Rsqr in S.
      assert ((2 * r * t + q) * (2 * r * t + q) = q * q - 4 * r * p + 4 * r * (p + t * q + t * t * r)) by ring.
      rewrite Z in *. lra.
    + set (s := sqrt (q * q - 4 * r * p)).
      assert (S : s * s = q * q - 4 * r * p) by (apply sqrt_sqrt; lra).
      exists (cons ((- q + s) / (2 * r)) (cons ((- q - s) / (2 * r)) nil)). intros t Ht Z. apply Ht.
      assert (Pr : (2 * r * t + q - s) * (2 * r * t + q + s) = 0).
      { transitivity (4 * r * (p + t * q + t * t * r) + (q * q - 4 * r * p) - s * s); [ring|]. rewrite Z, S. ring. }
      apply Rmult_integral in Pr. destruct Pr as [Pr|Pr]; [left|right; left];
        apply (Rmult_eq_reg_l (2 * r)); try lra; field_simplify; auto; lra.
Qed.

Definition with_tap (F : nat -> R) (r : nat) (t : R) (s : nat) : R := if Nat.eqb s r then t else F s.
Lemma gram_with_tap E F N a r t e : (r < N)%nat ->
  gram E (with_tap F r t) N a e = gram E (with_tap F r 0) N a e + t * E (a r) e.
Proof.
  intros Hr. unfold gram. rewrite (sum_pick N (fun s => with_tap F r t s * E (a s) e) r Hr),
    (sum_pick N (fun s => with_tap F r 0 s * E (a s) e) r Hr).
  unfold with_tap at 1 3. rewrite Nat.eqb_refl.
  rewrite (sum_ext N (fun i => if Nat.eqb i r then 0 else with_tap F r t i * E (a i) e)
    (fun i => if Nat.eqb i r then 0 else with_tap F r 0 i * E (a i) e)); [lra|].
  intros i _. unfold with_tap. destruct (Nat.eqb i r); auto.
Qed.
Lemma with_same_tap F r : with_tap F r (F r) = F.
Proof.
  apply functional_extensionality. intros s. unfold with_tap. destruct (Nat.eqb_spec s r) as [->|]; auto.
Qed.

Lemma minor_with_tap E F N a b r e f : (r < N)%nat -> exists q,
  forall t, minor E (with_tap F r t) N a b e f =
    minor E (with_tap F r 0) N a b e f + t * q + t * t * (E (a r) e * E (b r) f - E (a r) f * E (b r) e).
Proof.
  intros Hr.
  exists (gram E (with_tap F r 0) N a e * E (b r) f + E (a r) e * gram E (with_tap F r 0) N b f
    - gram E (with_tap F r 0) N a f * E (b r) e - E (a r) f * gram E (with_tap F r 0) N b e).
  intros u. unfold minor. rewrite !(gram_with_tap E F N _ r u) by auto. ring.
Qed.

Theorem good_filters_are_dense (V d N : nat) E F0 (delta : R) :
  unit_rows V d E -> distinct V d E -> none_opposite V d E -> (1 <= N)%nat -> 0 < delta ->
  exists F, (forall r, Rabs (F r - F0 r) < delta) /\ tells_apart V d E N F.
Proof.
  intros U D O HN Hd.
  assert (Step : forall n, (n <= N)%nat -> exists F, (forall r, Rabs (F r - F0 r) < delta) /\
    ((1 <= n)%nat -> forall a, is_gram V N a -> exists e, (e < d)%nat /\ gram E F N a e <> 0) /\
    forall a b, is_gram V N a -> is_gram V N b -> (exists r, (r < n)%nat /\ a r <> b r) ->
      exists e f, (e < d)%nat /\ (f < d)%nat /\ minor E F N a b e f <> 0).
  { induction n as [|n IH]; intros Hn.
    - exists F0. split; [|split].
      + intros r. rewrite Rminus_diag_eq by auto. now rewrite Rabs_R0.
      + intros. lia.
      + intros a b _ _ (r & Hr & _). lia.
    - destruct IH as (F & Near & _ & Old); [lia|].
      assert (Z : all_but_finitely_many (fun t => forall a, is_gram V N a ->
        exists e, (e < d)%nat /\ gram E (with_tap F n t) N a e <> 0)).
      { apply cofinite_over_grams.
        - intros a b t Hab (e & He & X). exists e. split; auto. now rewrite <- (gram_ext E _ N a b Hab).
        - intros a Ha. destruct (all_or_one d (fun e => E (a n) e = 0)) as [A|(e & He & A)].
          + intros e. apply Req_EM_T.
          + exfalso. pose proof (U (a n) (Ha n ltac:(lia))) as Un.
            rewrite (norm_ext d _ (fun _ => 0)), norm_0 in Un by (intros; now apply A). lra.
          + destruct (quadratic_roots (gram E (with_tap F n 0) N a e) (E (a n) e) 0) as (l & B); [tauto|].
            exists l. intros t Ht. exists e. split; auto. rewrite gram_with_tap by lia.
            pose proof (B t Ht). lra. }
      assert (P : all_but_finitely_many (fun t => forall a, is_gram V N a -> forall b, is_gram V N b ->
        (exists r, (r < S n)%nat /\ a r <> b r) ->
        exists e f, (e < d)%nat /\ (f < d)%nat /\ minor E (with_tap F n t) N a b e f <> 0)).
      { apply cofinite_over_grams.
        - intros a a' t Haa H b Hb (r & Hr & X).
          destruct (H b Hb) as (e & f & He & Hf & Y); [exists r; rewrite Haa by lia; auto|].
          exists e, f. unfold minor. rewrite <- (gram_ext E _ N a a' Haa). auto.
        - intros a Ha. apply cofinite_over_grams.
          + intros b b' t Hbb H (r & Hr & X).
            destruct H as (e & f & He & Hf & Y); [exists r; rewrite Hbb by lia; auto|].
            exists e, f. unfold minor. rewrite <- (gram_ext E _ N b b' Hbb). auto.
          + intros b Hb.
            assert (Q : (exists r, (r < S n)%nat /\ a r <> b r) ->
              exists e f, (e < d)%nat /\ (f < d)%nat /\
                all_but_finitely_many (fun t => minor E (with_tap F n t) N a b e f <> 0)).
            { intros (r & Hr & X). destruct (Nat.eq_dec (a n) (b n)) as [Same|Other].
              - destruct (Old a b Ha Hb) as (e & f & He & Hf & Y).
                { exists r. split; auto. destruct (Nat.eq_dec r n) as [->|]; [contradiction|lia]. }
                exists e, f. split; [auto|split; [auto|]].
                destruct (minor_with_tap E F N a b n e f ltac:(lia)) as (q & M).
                destruct (quadratic_roots (minor E (with_tap F n 0) N a b e f) q
                  (E (a n) e * E (b n) f - E (a n) f * E (b n) e)) as (l & B).
                + intros (A1 & A2 & A3). apply Y. rewrite <- (with_same_tap F n), M, A1, A2, A3. ring.
                + exists l. intros t Ht. rewrite M. now apply B.
              - destruct (not_parallel V d E (a n) (b n) U D O (Ha n ltac:(lia)) (Hb n ltac:(lia)) Other)
                  as (e & f & He & Hf & Y).
                exists e, f. split; [auto|split; [auto|]].
                destruct (minor_with_tap E F N a b n e f ltac:(lia)) as (q & M).
                destruct (quadratic_roots (minor E (with_tap F n 0) N a b e f) q
                  (E (a n) e * E (b n) f - E (a n) f * E (b n) e)) as (l & B); [tauto|].
                exists l. intros t Ht. rewrite M. now apply B. }
            destruct (all_or_one (S n) (fun r => a r = b r)) as [Same|Other].
            * intros r. apply Nat.eq_dec.
            * exists nil. intros t _ (r & Hr & X). exfalso. now apply X, Same.
            * destruct (Q Other) as (e & f & He & Hf & l & B). exists l. intros t Ht _. exists e, f. auto. }
      destruct (cofinite_near _ (F0 n) delta (cofinite_and _ _ Z P) Hd) as (t & Ht & Zt & Pt).
      exists (with_tap F n t). split; [|split].
      + intros r. unfold with_tap. destruct (Nat.eqb_spec r n) as [->|]; auto.
      + intros _. exact Zt.
      + intros a b Ha Hb. now apply Pt. }
  destruct (Step N ltac:(lia)) as (F & Near & Z & P). exists F. split; auto. split; auto.
Qed.

Theorem cat_thm1_almost_all (V d N : nat) E F :
  unit_rows V d E -> (1 <= N)%nat -> tells_apart V d E N F ->
  exists c0, 0 < c0 /\ forall L epsilon x p i, 0 < epsilon <= 4 -> (i < L)%nat ->
    (forall t, (t <= i)%nat -> (x t < V)%nat) -> only_copy N x p i ->
    let c := c0 * ln (4 * INR L / epsilon) in
    norm d (fun e => value_delay d N (N - 1) E F c x i e - E (x (S p)) e) < epsilon / 2 /\
    norm d (fun e => key_delay d N (N - 1) E F c x i e - E (x (S p)) e) < epsilon / 2 /\
    norm d (fun e => strict d N (N - 1) E F c x i e - E (x (S p)) e) < epsilon / 2.
Proof.
  intros HE HN HF. destruct (told_apart V d E F N HF) as (rho & Hr & Hs).
  assert (R1 : Rmax rho 0 < 1) by (apply Rmax_lub_lt; lra).
  exists (/ (1 - Rmax rho 0)). split; [apply Rinv_0_lt_compat; lra|]. intros L epsilon x p i He Hi Hx Hp c.
  replace c with (temperature L rho epsilon) by (unfold c, temperature, Rdiv; ring).
  split; [|split]; [apply (cat_thm1_value_delay V)|apply (cat_thm1_key_delay V)|apply (cat_thm1_strict V)];
    auto.
Qed.

(* So the layer solves the task as the paper means it: epsilon is the least distance of two embeddings, or
   less, and the embedding nearest to the output is the answer's. *)
Theorem cat_thm1_solves (V d N : nat) E F (epsilon : R) :
  unit_rows V d E -> (1 <= N)%nat -> tells_apart V d E N F -> 0 < epsilon <= 4 ->
  (forall a b, (a < V)%nat -> (b < V)%nat -> a <> b -> epsilon <= norm d (fun e => E a e - E b e)) ->
  exists c0, 0 < c0 /\ forall L x p i, (i < L)%nat -> (forall t, (t <= i)%nat -> (x t < V)%nat) ->
    only_copy N x p i ->
    let c := c0 * ln (4 * INR L / epsilon) in
    nearest V d E (value_delay d N (N - 1) E F c x i) (x (S p)) /\
    nearest V d E (key_delay d N (N - 1) E F c x i) (x (S p)) /\
    nearest V d E (strict d N (N - 1) E F c x i) (x (S p)).
Proof.
  intros HE HN HF He Hmin. destruct (cat_thm1_almost_all V d N E F HE HN HF) as (c0 & C0 & H).
  exists c0. split; [exact C0|]. intros L x p i Hi Hx Hp c.
  destruct (H L epsilon x p i He Hi Hx Hp) as (A & B & S).
  assert (Ha : (x (Datatypes.S p) < V)%nat) by (apply Hx; destruct Hp; lia).
  split; [|split]; eapply nearest_is_right; eauto.
Qed.

(* And no filter that lies on one of them will do: two different N-grams of tokens 0 and 1 are filtered to the
   same row, whatever the embeddings. So (0, 0), (1, 0) and (1, 1) fail. *)
Theorem filters_on_a_hyperplane_fail (V N : nat) (F sigma : nat -> R) :
  (2 <= V)%nat -> (forall r, (r < N)%nat -> sigma r = -1 \/ sigma r = 0 \/ sigma r = 1) ->
  (exists r, (r < N)%nat /\ sigma r <> 0) -> sum N (fun r => sigma r * F r) = 0 ->
  exists a b, is_gram V N a /\ is_gram V N b /\ differ N a b /\ forall E e, gram E F N a e = gram E F N b e.
Proof.
  intros HV H (r & Hr & Hs) Z. exists (fun r => if Req_EM_T (sigma r) 1 then 0%nat else 1%nat).
  exists (fun r => if Req_EM_T (sigma r) (-1) then 0%nat else 1%nat). split; [|split; [|split]].
  - intros k _. destruct (Req_EM_T (sigma k) 1); lia.
  - intros k _. destruct (Req_EM_T (sigma k) (-1)); lia.
  - exists r. split; auto. destruct (Req_EM_T (sigma r) 1), (Req_EM_T (sigma r) (-1)); try lra; try lia.
    destruct (H r Hr) as [|[|]]; contradiction.
  - intros E e. apply Rminus_diag_uniq. unfold gram. rewrite <- sum_minus.
    rewrite (sum_ext N _ (fun k => (E 0%nat e - E 1%nat e) * (sigma k * F k))).
    + rewrite sum_scal, Z. lra.
    + intros k Hk. destruct (Req_EM_T (sigma k) 1) as [P|P], (Req_EM_T (sigma k) (-1)) as [Q|Q]; try lra.
      * rewrite P. lra.
      * rewrite Q. lra.
      * destruct (H k Hk) as [A|[A|A]]; [contradiction| |contradiction]. rewrite A. lra.
Qed.

(* The hyperplanes leave something: the set of filters that is left out is proper, for every N. *)
Theorem powers_of_two_are_generic (N : nat) : generic N (fun r => 2 ^ r).
Proof.
  assert (B : forall n sigma, (forall r, (r < n)%nat -> sigma r = -1 \/ sigma r = 0 \/ sigma r = 1) ->
    Rabs (sum n (fun r => sigma r * 2 ^ r)) <= 2 ^ n - 1).
  { induction n as [|n IH]; intros sigma H; [simpl; rewrite Rabs_R0; lra|]. cbn [sum pow].
    eapply Rle_trans; [apply Rabs_triang|]. pose proof (IH sigma ltac:(intros; apply H; lia)).
    pose proof (pow_lt 2 n ltac:(lra)). rewrite Rabs_mult, (Rabs_pos_eq (2 ^ n)) by lra.
    assert (Rabs (sigma n) <= 1); [|nra].
    destruct (H n ltac:(lia)) as [-> | [-> | ->]]; unfold Rabs; destruct (Rcase_abs _); lra. }
  intros sigma H. induction N as [|n IH]; intros (r & Hr & Hs) Z; [lia|]. cbn [sum] in Z.
  pose proof (B n sigma ltac:(intros; apply H; lia)) as Bn. pose proof (pow_lt 2 n ltac:(lra)).
  destruct (Req_dec (sigma n) 0) as [S0|S0].
  - apply IH; [intros; apply H; lia| |rewrite S0 in Z; lra]. exists r. split; auto.
    destruct (Nat.eq_dec r n) as [->|]; [contradiction|lia].
  - unfold Rabs in Bn. destruct (Rcase_abs _), (H n ltac:(lia)) as [E | [E | E]]; rewrite E in *; lra.
Qed.

(* ---- Erratum 11 ---------------------------------------------------------------------------------------- *)
Lemma unit_scaled d u alpha beta : 0 < alpha * beta -> 0 < norm d u ->
  unit d (fun e => alpha * u e) = unit d (fun e => beta * u e).
Proof.
  intros H Hn. apply functional_extensionality. intros e. unfold unit. rewrite !norm_scal. unfold Rabs.
  destruct (Rcase_abs alpha), (Rcase_abs beta); try nra; field; split; try lra; nra.
Qed.

(* Rows 0 and t have one key, if the sequence begins with a and row t ends the pair a a. *)
Theorem the_start_collides (d : nat) E F (x : nat -> nat) (t e : nat) :
  0 < F 0%nat * (F 0%nat + F 1%nat) -> (1 <= t)%nat -> x t = x O -> x (t - 1)%nat = x O ->
  0 < norm d (E (x O)) ->
  filtered d E (taps 2 F) x t e = filtered d E (taps 2 F) x 0 e.
Proof.
  intros HF Ht H0 H1 Hn.
  assert (A : (fun e => conv (taps 2 F) (fun i => E (x i) e) t) = (fun e => (F 0%nat + F 1%nat) * E (x O) e)).
  { apply functional_extensionality. intros f. rewrite conv_taps by lia. cbn [sum].
    rewrite Nat.sub_0_r, H0, H1. lra. }
  assert (B : (fun e => conv (taps 2 F) (fun i => E (x i) e) 0) = (fun e => F 0%nat * E (x O) e)).
  { apply functional_extensionality. intros f. unfold conv, taps. cbn. lra. }
  unfold filtered. rewrite A, B. now rewrite (unit_scaled d _ (F 0%nat + F 1%nat) (F 0%nat)) by lra.
Qed.

(* a c c a a b a a, where the pair a a is followed by b: tokens a = 0, b = 1, c = 2. *)
Definition a_c_c_a_a_b_a_a (t : nat) : nat :=
  List.nth t (cons 0 (cons 2 (cons 2 (cons 0 (cons 0 (cons 1 (cons 0 (cons 0 nil))))))))%nat O.
(* Of three embeddings, the one nearest to y is not the answer's, which is at least `off` away. *)
Definition misses (d : nat) E (answer : nat) (y : nat -> R) (off : R) : Prop :=
  ~ nearest 3 d E y answer /\ off <= norm d (fun e => y e - E answer e).
Theorem the_printed_theorem_fails (d : nat) F (c : R) :
  (3 <= d)%nat -> 0 < F 0%nat * (F 0%nat + F 1%nat) ->
  only_copy 2 a_c_c_a_a_b_a_a 4 7 /\
  misses d one_hot 1 (value_delay d 2 0 one_hot F c a_c_c_a_a_b_a_a 7) (1 / 3) /\
  misses d one_hot 1 (key_delay d 2 0 one_hot F c a_c_c_a_a_b_a_a 7) (1 / 2) /\
  misses d one_hot 1 (strict d 2 0 one_hot F c a_c_c_a_a_b_a_a 7) (1 / 2).
Proof.
  intros Hd HF.
  assert (wrong : forall y off, y 1%nat <= y 2%nat -> y 1%nat <= 1 - off -> misses d one_hot 1 y off).
  { intros y off H H1. split.
    - intros N. pose proof (N 2%nat ltac:(lia) ltac:(lia)).
      pose proof (larger_entry_is_nearer d y 2 1 ltac:(lia) ltac:(lia) H). lra.
    - pose proof (norm_entry d (fun e => y e - one_hot 1 e) 1 ltac:(lia)) as E. cbv beta in E.
      change (one_hot 1 1) with 1 in E. unfold Rabs in E. destruct (Rcase_abs _); lra. }
  set (x := a_c_c_a_a_b_a_a). set (u := filtered d one_hot (taps 2 F) x).
  assert (N0 : 0 < norm d (one_hot (x O))).
  { apply Rlt_le_trans with (Rabs (one_hot 0 0)); [|apply (norm_entry d (one_hot 0)); lia].
    unfold one_hot. simpl. rewrite Rabs_R1. lra. }
  assert (U4 : u 4%nat = u O) by (apply functional_extensionality; intros e; apply the_start_collides; auto).
  assert (U7 : u 7%nat = u O) by (apply functional_extensionality; intros e; apply the_start_collides; auto;
    lia).
  set (s := fun j => recall_logit d c (u 7%nat) (masked 0 u j)).
  assert (S4 : s 4%nat = s O) by (unfold s; change (masked 0 u 4) with (u 4%nat); now rewrite U4).
  assert (S7 : s 7%nat = s O) by (unfold s; change (masked 0 u 7) with (u 7%nat); now rewrite U7).
  split; [|split; [|split]].
  - split; [lia|split].
    + intros [|[|r]] Hr; [reflexivity|reflexivity|lia].
    + intros j Hj Hn Hs. pose proof (Hs 0%nat ltac:(lia)) as A. pose proof (Hs 1%nat ltac:(lia)) as B.
      destruct j as [|[|[|[|[|[|[|j]]]]]]]; try lia; try discriminate A; discriminate B.
  - assert (P : forall j, 0 < softmax 8 s j) by (intros; apply softmax_pos; lia).
    pose proof (softmax_sum 8 s ltac:(lia)) as One. cbn [sum] in One.
    assert (softmax 8 s 4 = softmax 8 s 0) by (unfold softmax; now rewrite S4).
    assert (softmax 8 s 7 = softmax 8 s 0) by (unfold softmax; now rewrite S7).
    pose proof (P 0%nat). pose proof (P 1%nat). pose proof (P 2%nat). pose proof (P 3%nat).
    pose proof (P 5%nat). pose proof (P 6%nat).
    apply wrong; unfold value_delay; rewrite !attention_softmax; fold u s; cbn [sum];
      unfold one_hot, x, a_c_c_a_a_b_a_a; cbn [Nat.eqb List.nth]; lra.
  - set (k := fun j => recall_logit d c (u 7%nat) (masked 1 (filtered d one_hot (delay (taps 2 F)) x) j)).
    assert (K : forall j, k (S j) = s j).
    { intros j. unfold k, s. rewrite !recall_logit_dot by lia. f_equal. apply sum_ext. intros e _. f_equal.
      unfold masked. change (Nat.ltb (S j) 1) with false. change (Nat.ltb j 0) with false. cbv iota.
      unfold u, filtered. f_equal. apply functional_extensionality. intros f. apply conv_delay. }
    assert (P : forall j, 0 < softmax 8 k j) by (intros; apply softmax_pos; lia).
    pose proof (softmax_sum 8 k ltac:(lia)) as One. cbn [sum] in One.
    assert (softmax 8 k 5 = softmax 8 k 1) by (unfold softmax; now rewrite !K, S4).
    pose proof (P 0%nat). pose proof (P 1%nat). pose proof (P 2%nat). pose proof (P 3%nat).
    pose proof (P 4%nat). pose proof (P 6%nat). pose proof (P 7%nat).
    apply wrong; unfold key_delay; rewrite !attention_softmax; fold u k; cbn [sum];
      unfold one_hot, x, a_c_c_a_a_b_a_a; cbn [Nat.eqb List.nth]; lra.
  - assert (P : forall j, 0 < softmax 7 s j) by (intros; apply softmax_pos; lia).
    pose proof (softmax_sum 7 s ltac:(lia)) as One. cbn [sum] in One.
    assert (softmax 7 s 4 = softmax 7 s 0) by (unfold softmax; now rewrite S4).
    pose proof (P 0%nat). pose proof (P 1%nat). pose proof (P 2%nat). pose proof (P 3%nat).
    pose proof (P 5%nat). pose proof (P 6%nat).
    apply wrong; unfold strict; rewrite !attention_softmax; fold u s; cbn [sum];
      unfold one_hot, x, a_c_c_a_a_b_a_a; cbn [Nat.eqb List.nth]; lra.
Qed.

(* ---- Erratum 22 ---------------------------------------------------------------------------------------- *)
(* Embeddings e0, -e0 and e1 of the tokens a = 0, b = 1 and c = 2: unit rows, no two the same. *)
Definition opposite (token e : nat) : R :=
  match token with O => one_hot 0 e | 1%nat => - one_hot 0 e | _ => one_hot 1 e end.
(* c a b a a c a a, where the pair a a is followed by c, and the pairs a b and b a by a. *)
Definition c_a_b_a_a_c_a_a (t : nat) : nat :=
  List.nth t (cons 2 (cons 0 (cons 1 (cons 0 (cons 0 (cons 2 (cons 0 (cons 0 nil))))))))%nat O.

(* The pair a a has the key of b a where |F_1| < |F_0|, and of a b where |F_1| > |F_0|, so that the layer misses
   at every temperature, first row masked. (On the two lines that are left one of the pairs is filtered to 0.) *)
Theorem opposite_embeddings_fail (d : nat) F (c : R) :
  (2 <= d)%nat -> Rabs (F 1%nat) <> Rabs (F 0%nat) ->
  unit_rows 3 d opposite /\ distinct 3 d opposite /\ only_copy 2 c_a_b_a_a_c_a_a 4 7 /\
  misses d opposite 2 (value_delay d 2 1 opposite F c c_a_b_a_a_c_a_a 7) (1 / 3) /\
  misses d opposite 2 (key_delay d 2 1 opposite F c c_a_b_a_a_c_a_a 7) (1 / 2) /\
  misses d opposite 2 (strict d 2 1 opposite F c c_a_b_a_a_c_a_a 7) (1 / 2).
Proof.
  intros Hd HF.
  assert (H1 : forall j, (j < d)%nat -> norm d (one_hot j) = 1).
  { intros j Hj. unfold norm. rewrite (dot_one_hot d (one_hot j) j Hj). unfold one_hot.
    rewrite Nat.eqb_refl. apply sqrt_1. }
  assert (wrong : forall y off, y 1%nat <= y 0%nat -> y 1%nat <= 1 - off -> misses d opposite 2 y off).
  { intros y off H H2. split.
    - intros N. pose proof (N 0%nat ltac:(lia) ltac:(lia)) as Q. change (opposite 2) with (one_hot 1) in Q.
      change (opposite 0) with (one_hot 0) in Q.
      pose proof (larger_entry_is_nearer d y 0 1 ltac:(lia) ltac:(lia) H). lra.
    - pose proof (norm_entry d (fun e => y e - one_hot 1 e) 1 ltac:(lia)) as E. cbv beta in E.
      change (one_hot 1 1) with 1 in E. unfold Rabs in E. change (opposite 2) with (one_hot 1).
      destruct (Rcase_abs _); lra. }
  set (x := c_a_b_a_a_c_a_a). set (u := filtered d opposite (taps 2 F) x).
  assert (pair : forall t, (1 <= t)%nat -> u t = unit d (fun e => F 0%nat * opposite (x t) e
    + F 1%nat * opposite (x (t - 1)%nat) e)).
  { intros t Ht. unfold u, filtered. f_equal. apply functional_extensionality. intros e.
    rewrite conv_taps by lia. cbn [sum]. rewrite Nat.sub_0_r. lra. }
  assert (along : forall t alpha, (1 <= t)%nat -> (forall e, F 0%nat * opposite (x t) e
    + F 1%nat * opposite (x (t - 1)%nat) e = alpha * one_hot 0 e) -> u t = unit d (fun e => alpha * one_hot 0 e)).
  { intros t alpha Ht H. rewrite pair by auto. f_equal. apply functional_extensionality. exact H. }
  assert (Uab : u 2%nat = unit d (fun e => (F 1%nat - F 0%nat) * one_hot 0 e))
    by (apply along; [lia|intros; unfold x, c_a_b_a_a_c_a_a; cbn [List.nth Nat.sub opposite]; lra]).
  assert (Uba : u 3%nat = unit d (fun e => (F 0%nat - F 1%nat) * one_hot 0 e))
    by (apply along; [lia|intros; unfold x, c_a_b_a_a_c_a_a; cbn [List.nth Nat.sub opposite]; lra]).
  assert (Uaa : u 4%nat = unit d (fun e => (F 0%nat + F 1%nat) * one_hot 0 e))
    by (apply along; [lia|intros; unfold x, c_a_b_a_a_c_a_a; cbn [List.nth Nat.sub opposite]; lra]).
  assert (U7 : u 7%nat = u 4%nat) by now rewrite !pair by lia.
  assert (U6 : u 6%nat = u 1%nat) by now rewrite !pair by lia.
  assert (E0 : 0 < norm d (one_hot 0)) by (rewrite H1 by lia; lra).
  assert (U : u 2%nat = u 4%nat \/ u 3%nat = u 4%nat).
  { rewrite Uab, Uba, Uaa. destruct (Rlt_dec (Rabs (F 1%nat)) (Rabs (F 0%nat))) as [H|H]; [right|left];
      apply unit_scaled; auto; unfold Rabs in *;
      destruct (Rcase_abs (F 1%nat)), (Rcase_abs (F 0%nat)); nra. }
  set (s := fun j => recall_logit d c (u 7%nat) (masked 1 u j)).
  assert (S : s 2%nat = s 4%nat \/ s 3%nat = s 4%nat).
  { unfold s. change (masked 1 u 2) with (u 2%nat). change (masked 1 u 3) with (u 3%nat).
    change (masked 1 u 4) with (u 4%nat). destruct U as [-> | ->]; auto. }
  assert (S6 : s 6%nat = s 1%nat).
  { unfold s. change (masked 1 u 6) with (u 6%nat). change (masked 1 u 1) with (u 1%nat). now rewrite U6. }
  assert (S7 : s 7%nat = s 4%nat).
  { unfold s. change (masked 1 u 7) with (u 7%nat). change (masked 1 u 4) with (u 4%nat). now rewrite U7. }
  assert (same : forall n t i j, t i = t j -> softmax n t i = softmax n t j)
    by (intros n t i j H; unfold softmax; now rewrite H).
  split; [|split; [|split; [|split; [|split]]]].
  - intros [|[|[|a]]] Ha; [apply H1; lia| |apply H1; lia|lia].
    change (opposite 1) with (fun e => - one_hot 0 e). rewrite norm_opp. apply H1. lia.
  - intros a b Ha Hb N.
    assert (O0 : one_hot 0 0 = 1) by reflexivity. assert (O1 : one_hot 1 0 = 0) by reflexivity.
    exists 0%nat. split; [lia|].
    destruct a as [|[|[|a]]], b as [|[|[|b]]]; try lia; cbn [opposite]; rewrite ?O0, ?O1; lra.
  - split; [lia|split].
    + intros [|[|r]] Hr; [reflexivity|reflexivity|lia].
    + intros j Hj Hn Hs. pose proof (Hs 0%nat ltac:(lia)) as A. pose proof (Hs 1%nat ltac:(lia)) as B.
      destruct j as [|[|[|[|[|[|[|j]]]]]]]; try lia; try discriminate A; discriminate B.
  - assert (P : forall j, 0 < softmax 8 s j) by (intros; apply softmax_pos; lia).
    pose proof (softmax_sum 8 s ltac:(lia)) as One. cbn [sum] in One.
    pose proof (same 8%nat s 6%nat 1%nat S6). pose proof (same 8%nat s 7%nat 4%nat S7).
    pose proof (P 0%nat). pose proof (P 1%nat). pose proof (P 2%nat). pose proof (P 3%nat). pose proof (P 5%nat).
    destruct S as [S|S]; apply (same 8%nat) in S;
      apply wrong; unfold value_delay; rewrite !attention_softmax; fold u s; cbn [sum];
      unfold opposite, one_hot, x, c_a_b_a_a_c_a_a; cbn [Nat.eqb List.nth]; lra.
  - set (k := fun j => recall_logit d c (u 7%nat) (masked 2 (filtered d opposite (delay (taps 2 F)) x) j)).
    assert (K : forall j, k (Datatypes.S j) = s j).
    { intros j. unfold k, s. rewrite !recall_logit_dot by lia. f_equal. apply sum_ext. intros e _. f_equal.
      unfold masked. change (Nat.ltb (Datatypes.S j) 2) with (Nat.ltb j 1). destruct (Nat.ltb j 1); auto.
      unfold u, filtered. f_equal. apply functional_extensionality. intros f. apply conv_delay. }
    assert (K1 : k 1%nat = k 0%nat) by (unfold k; rewrite !recall_logit_dot by lia; reflexivity).
    assert (K7 : k 7%nat = k 2%nat) by now rewrite !K.
    assert (KS : k 3%nat = k 5%nat \/ k 4%nat = k 5%nat) by now rewrite !K.
    assert (P : forall j, 0 < softmax 8 k j) by (intros; apply softmax_pos; lia).
    pose proof (softmax_sum 8 k ltac:(lia)) as One. cbn [sum] in One.
    pose proof (same 8%nat k 1%nat 0%nat K1). pose proof (same 8%nat k 7%nat 2%nat K7).
    pose proof (P 0%nat). pose proof (P 2%nat). pose proof (P 3%nat). pose proof (P 4%nat). pose proof (P 6%nat).
    destruct KS as [KS|KS]; apply (same 8%nat) in KS;
      apply wrong; unfold key_delay; rewrite !attention_softmax; fold u k; cbn [sum];
      unfold opposite, one_hot, x, c_a_b_a_a_c_a_a; cbn [Nat.eqb List.nth]; lra.
  - assert (P : forall j, 0 < softmax 7 s j) by (intros; apply softmax_pos; lia).
    pose proof (softmax_sum 7 s ltac:(lia)) as One. cbn [sum] in One.
    pose proof (same 7%nat s 6%nat 1%nat S6).
    pose proof (P 0%nat). pose proof (P 1%nat). pose proof (P 2%nat). pose proof (P 3%nat). pose proof (P 5%nat).
    destruct S as [S|S]; apply (same 7%nat) in S;
      apply wrong; unfold strict; rewrite !attention_softmax; fold u s; cbn [sum];
      unfold opposite, one_hot, x, c_a_b_a_a_c_a_a; cbn [Nat.eqb List.nth]; lra.
Qed.
