(* CatThm3.v: [CAT] Theorem 3: one layer with the filter rho^i on its queries alone solves selective copying
   of unique signals. After any body of signals, each at most once, and a noise token, and the marker, the
   layer's own answers, each fed back as the next token, are the body's signals in their order: for every
   number of signals, every body and every length, by induction over the answers (cat_thm3). At every answer
   the output is within epsilon, in l1, of the signal's unit vector (cat_thm3_error), and of all embeddings
   the signal's is the nearest, as the paper reads the answer (cat_thm3_nearest). With S signals the width is
   S + 3, rho = 1 - 1/L and c = e L ln(2L/epsilon) for sequences of at most L tokens. The paper has a set of
   noise tokens, and embeddings of length 1: here noise is one token, and the length sqrt 2 (divided by
   sqrt 2, with W_q, W_k and W_v times sqrt 2, the layer is the same). In the paper's order, one layer
   for all lengths, rho = 1/2 and c = 2^(S+1) answer right at every length (cat_thm3_one_layer): the signal's
   column is the largest, and its embedding the nearest (cat_thm3_one_layer_nearest), by a margin that no
   epsilon bounds. What it excludes is proved as well: a body with a repeated signal, a . b . a, is answered b
   first (repeated_signals_fail); where the slots after the marker stay blank, the first signal comes again
   (blank_slots_repeat).
   The construction is con_copy_fwd and con_copy_generate; proof_cat_thm3.c tests it on floats. *)
From Coq Require Import Reals Lra Lia Arith List.
From Seqmix Require Import Attention Recall.
Import ListNotations.
Open Scope R_scope.

(* ---- The construction ---------------------------------------------------------------------------------- *)
(* M is the C code's S: tokens 0 .. M-1 are signals, M noise, M+1 the marker. Columns: one for each token, and
   K = M+2. *)
Definition noise (M : nat) : nat := M.
Definition marker (M : nat) : nat := (M + 1)%nat.
Definition width (M : nat) : nat := (M + 3)%nat.
Definition embedding (M token e : nat) : R := one_hot token e + one_hot (M + 2) e.
(* e_s -> -e_s, e_N and e_B -> -e_K, e_K -> 0 *)
Definition copy_Wk (M r e : nat) : R :=
  if Nat.ltb r M then - one_hot r e else if Nat.ltb r (M + 2) then - one_hot (M + 2) e else 0.
(* the identity on signals *)
Definition copy_Wv (M r e : nat) : R := if Nat.ltb r M then one_hot r e else 0.
(* Queries filtered with rho^i; W_q = c sqrt(d) I, as in recall_logit. *)
Definition copy_query (M : nat) (rho : R) (x : nat -> nat) (t e : nat) : R :=
  conv (fun i => rho ^ i) (fun j => embedding M (x j) e) t.
Definition copy_logit (M : nat) (rho c : R) (x : nat -> nat) (t j : nat) : R :=
  recall_logit (width M) c (copy_query M rho x t) (linear (width M) (embedding M (x j)) (copy_Wk M)).
Definition copy_layer (M : nat) (rho c : R) (x : nat -> nat) (t e : nat) : R :=
  attention (S t) (copy_logit M rho c x t) (fun j => linear (width M) (embedding M (x j)) (copy_Wv M) e).

(* The signal that the last row of a sequence answers, and n answers, each appended before the next is asked
   for. *)
Definition row (M : nat) (l : list nat) (t : nat) : nat := nth t l (noise M).
Definition answer (M : nat) (rho c : R) (l : list nat) : nat :=
  argmax M (copy_layer M rho c (row M l) (length l - 1)).
Fixpoint generate (M : nat) (rho c : R) (prompt : list nat) (n : nat) : list nat :=
  match n with
  | O => prompt
  | S m => let l := generate M rho c prompt m in l ++ [answer M rho c l]
  end.

(* The signals of a body, in order. *)
Definition signals (M : nat) (body : list nat) : list nat := filter (fun a => Nat.ltb a M) body.

Definition copy_rho (L : nat) : R := 1 - / INR L.
Definition copy_c (L : nat) (epsilon : R) : R := exp 1 * INR L * ln (2 * INR L / epsilon).

(* ---- What the rows hold -------------------------------------------------------------------------------- *)
Lemma embedding_linear M token W e :
  (token <= M + 1)%nat -> linear (width M) (embedding M token) W e = W token e + W (M + 2)%nat e.
Proof.
  intros H. unfold linear, embedding, width.
  rewrite (sum_ext _ _ (fun c => one_hot token c * W c e + one_hot (M + 2) c * W c e))
    by (intros; lra). rewrite sum_plus.
    fold (linear (M + 3) (one_hot token) W e) (linear (M + 3) (one_hot (M + 2)) W e).
  now rewrite !linear_one_hot by lia.
Qed.

(* The logit is -c times the query's column of the token, or of K for noise and the marker. *)
Definition column (M token : nat) : nat := if Nat.ltb token M then token else (M + 2)%nat.
Lemma copy_logit_column M rho c x t j :
  (x j <= M + 1)%nat -> copy_logit M rho c x t j = - c * copy_query M rho x t (column M (x j)).
Proof.
  intros H. unfold copy_logit. rewrite recall_logit_dot by (unfold width; lia).
  replace (dot _ _ _) with (- copy_query M rho x t (column M (x j))); [lra|].
  rewrite <- (dot_one_hot (width M) (copy_query M rho x t) (column M (x j)))
    by (unfold column, width; destruct (Nat.ltb_spec (x j) M); lia).
  rewrite <- (Rmult_1_l (dot _ _ _)), Ropp_mult_distr_l, <- dot_scal_r. apply sum_ext. intros e _. f_equal.
  rewrite embedding_linear by auto. unfold copy_Wk, column. rewrite (proj2 (Nat.ltb_ge (M + 2) M)) by lia.
  rewrite (proj2 (Nat.ltb_ge (M + 2) (M + 2))) by lia. destruct (Nat.ltb_spec (x j) M); [lra|].
  rewrite (proj2 (Nat.ltb_lt (x j) (M + 2))) by lia. lra.
Qed.

Lemma copy_value M token e :
  (token <= M + 1)%nat -> linear (width M) (embedding M token) (copy_Wv M) e
    = if Nat.ltb token M then one_hot token e else 0.
Proof.
  intros H. rewrite embedding_linear by auto. unfold copy_Wv. rewrite (proj2 (Nat.ltb_ge (M + 2) M)) by lia.
  lra.
Qed.

(* A column's sum of rho^age is at least any one of its terms. *)
Lemma query_at_least M rho x t j e :
  0 <= rho <= 1 -> (j <= t)%nat -> 1 <= embedding M (x j) e -> rho ^ (t - j) <= copy_query M rho x t e.
Proof.
  intros Hr Hj He. unfold copy_query, conv.
  eapply Rle_trans; [|apply (sum_term_le _ _ (t - j)); [lia|]].
  - cbv beta. replace (t - (t - j))%nat with j by lia. pose proof (pow_le rho (t - j) (proj1 Hr)). nra.
  - intros w _. apply Rmult_le_pos; [apply pow_le; lra|]. unfold embedding, one_hot.
    destruct (Nat.eqb _ _), (Nat.eqb _ _); lra.
Qed.

(* A signal that stands once has the power of its age. *)
Lemma query_once M rho x t p a : (a < M)%nat -> (p <= t)%nat -> x p = a ->
  (forall j, (j <= t)%nat -> j <> p -> x j <> a) -> copy_query M rho x t a = rho ^ (t - p).
Proof.
  intros Ha Hp Hx H. unfold copy_query, conv. rewrite (sum_only _ _ (t - p)); [| lia |].
  - replace (t - (t - p))%nat with p by lia. rewrite Hx. unfold embedding, one_hot.
    rewrite Nat.eqb_refl, (proj2 (Nat.eqb_neq (M + 2) a)) by lia. lra.
  - intros w Hw Hn. pose proof (H (t - w)%nat ltac:(lia) ltac:(lia)). unfold embedding, one_hot.
    rewrite (proj2 (Nat.eqb_neq _ a)), (proj2 (Nat.eqb_neq (M + 2) a)) by (auto; lia). lra.
Qed.

(* ---- One answer ---------------------------------------------------------------------------------------- *)
(* The margin between the oldest signal and the next, for the constants of the construction. *)
Lemma gap L epsilon n :
  (2 <= L)%nat -> (n < L)%nat -> 0 < epsilon <= 1 ->
  ln (2 * INR L / epsilon) <= copy_c L epsilon * (copy_rho L ^ n - copy_rho L ^ (S n)).
Proof.
  intros HL Hn He. assert (L2 : 2 <= INR L) by (apply le_INR in HL; simpl in HL; lra).
  assert (R0 : 0 < / INR L <= / 2) by (split; [apply Rinv_0_lt_compat|apply Rinv_le_contravar]; lra).
  set (rho := copy_rho L). assert (R1 : / 2 <= rho < 1) by (unfold rho, copy_rho; lra).
  assert (P : exp (-1) <= rho ^ n).
  { apply Rle_trans with (rho ^ (L - 1)).
    - assert (A : exp (- / INR (L - 1)) <= rho).
      { rewrite exp_Ropp. assert (INR (L - 1) = INR L - 1) as -> by (rewrite minus_INR by lia; reflexivity).
        replace rho with (/ (1 + / (INR L - 1))) by (unfold rho, copy_rho; field; lra).
        assert (0 < / (INR L - 1)) by (apply Rinv_0_lt_compat; lra).
        apply Rinv_le_contravar; [lra|]. pose proof (exp_ineq1 (/ (INR L - 1))). lra. }
      apply Rle_trans with (exp (- / INR (L - 1)) ^ (L - 1)).
      + rewrite <- Rpower_pow by apply exp_pos. unfold Rpower. rewrite ln_exp. right. f_equal. field.
        apply not_0_INR. lia.
      + apply pow_incr. split; [left; apply exp_pos|auto].
    - apply pow_falls; [lra|lia]. }
  assert (l0 : 0 <= ln (2 * INR L / epsilon)).
  { rewrite <- ln_1. assert (1 < 2 * INR L / epsilon); [|left; apply ln_increasing; lra].
    apply Rmult_lt_reg_r with epsilon; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  replace (copy_c L epsilon * (rho ^ n - rho ^ (S n)))
    with (exp 1 * rho ^ n * (INR L * (1 - rho)) * ln (2 * INR L / epsilon)) by (unfold copy_c; simpl; ring).
  replace (INR L * (1 - rho)) with 1 by (unfold rho, copy_rho; field; lra).
  assert (1 <= exp 1 * rho ^ n); [|nra].
  replace 1 with (exp 1 * exp (-1)) at 1
    by (rewrite <- exp_plus; replace (1 + -1) with 0 by lra; apply exp_0).
  apply Rmult_le_compat_l; [left; apply exp_pos|auto].
Qed.

Lemma copy_c_nonneg L epsilon : (1 <= L)%nat -> 0 < epsilon <= 1 -> 0 <= copy_c L epsilon.
Proof.
  intros HL He. apply le_INR in HL. simpl in HL. unfold copy_c. pose proof (exp_pos 1).
  apply Rmult_le_pos; [apply Rmult_le_pos; lra|]. rewrite <- ln_1.
  assert (1 < 2 * INR L / epsilon); [|left; apply ln_increasing; lra].
  apply Rmult_lt_reg_r with epsilon; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma distance_embedding M y b : (b <= M + 1)%nat ->
  dot (width M) (fun e => y e - embedding M b e) (fun e => y e - embedding M b e)
  = dot (width M) y y - 2 * (y b + y (M + 2)%nat) + 2.
Proof.
  intros Hb. assert (one : forall i, (i < width M)%nat -> dot (width M) (one_hot i) (one_hot i) = 1).
  { intros i Hi. rewrite dot_one_hot by auto. unfold one_hot. now rewrite Nat.eqb_refl. }
  assert (two : dot (width M) (one_hot b) (one_hot (M + 2)) = 0).
  { rewrite dot_one_hot by (unfold width; lia). unfold one_hot.
    now rewrite (proj2 (Nat.eqb_neq b _)) by lia. }
  pose proof (dot_one_hot (width M) y b ltac:(unfold width; lia)).
  pose proof (dot_one_hot (width M) y (M + 2) ltac:(unfold width; lia)).
  pose proof (one b ltac:(unfold width; lia)). pose proof (one (M + 2)%nat ltac:(unfold width; lia)).
  unfold dot in *. rewrite (sum_ext _ _ (fun e => y e * y e + (- 2) * (y e * one_hot b e)
    + (- 2) * (y e * one_hot (M + 2) e) + one_hot b e * one_hot b e + one_hot (M + 2) e * one_hot (M + 2) e
    + 2 * (one_hot b e * one_hot (M + 2) e))) by (intros; unfold embedding; ring).
  rewrite !sum_plus, !sum_scal. lra.
Qed.

(* A sequence l = b1 a tail, in which the signal a stands once and every signal before it comes again after
   it. *)
Section Step.
Variables (M L : nat) (epsilon : R) (b1 tail : list nat) (a : nat).
Let l := b1 ++ a :: tail.
Let x := row M l.
Let t := (length l - 1)%nat.
Let s := copy_logit M (copy_rho L) (copy_c L epsilon) x t.
Let p := length b1.
Hypothesis (a_S : (a < M)%nat) (a_b1 : ~ In a b1) (a_tail : ~ In a tail) (tail_1 : tail <> []).
Hypothesis (again : forall b, In b b1 -> (b < M)%nat -> In b tail)
  (tokens : forall b, In b l -> (b <= M + 1)%nat).
Hypothesis (l_L : (length l <= L)%nat) (eps : 0 < epsilon <= 1).

Lemma l_length : length l = S (p + length tail).
Proof. unfold l, p. rewrite app_length. simpl. lia. Qed.

Lemma tail_length : (1 <= length tail)%nat.
Proof. destruct tail; [congruence|simpl; lia]. Qed.

Lemma row_before j : (j < p)%nat -> In (x j) b1.
Proof. intros H. unfold x, row, l. rewrite app_nth1 by exact H. now apply nth_In. Qed.

Lemma row_p : x p = a.
Proof. unfold x, row, l, p. rewrite app_nth2 by lia. now rewrite Nat.sub_diag. Qed.

Lemma row_after i : x (S (p + i)) = nth i tail (noise M).
Proof.
  unfold x, row, l, p. rewrite app_nth2 by lia.
  now replace (S (length b1 + i) - length b1)%nat with (S i) by lia.
Qed.

Lemma row_token j : (x j <= M + 1)%nat.
Proof.
  unfold x, row. destruct (Nat.lt_ge_cases j (length l)); [apply tokens; now apply nth_In|].
  rewrite nth_overflow by auto. unfold noise. lia.
Qed.

Lemma row_other j : (j <= t)%nat -> j <> p -> x j <> a /\
  ((x j < M)%nat -> exists i, (i < length tail)%nat /\ x (S (p + i)) = x j).
Proof.
  intros Hj Hn. pose proof l_length as E. unfold t in Hj.
  assert (T : forall b, In b tail -> exists i, (i < length tail)%nat /\ x (S (p + i)) = b).
  { intros b Hb. destruct (In_nth tail b (noise M) Hb) as (i & Hi & Q). exists i. split; auto.
    now rewrite row_after. }
  destruct (Nat.lt_ge_cases j p) as [B|B].
  - pose proof (row_before j B) as I. split; [congruence|]. intros H. apply T. now apply again.
  - assert (I : In (x j) tail).
    { replace j with (S (p + (j - p - 1))) by lia. rewrite row_after. apply nth_In. lia. }
    split; [congruence|]. intros _. now apply T.
Qed.

Lemma rho_range : 0 <= copy_rho L <= 1.
Proof.
  unfold copy_rho. pose proof tail_length. assert (H1 : (1 <= L)%nat) by (rewrite l_length in l_L; lia).
  apply le_INR in H1. simpl in H1. assert (0 < / INR L <= / 1); [|lra].
  split; [apply Rinv_0_lt_compat|apply Rinv_le_contravar]; lra.
Qed.

Lemma query_a : copy_query M (copy_rho L) x t a = copy_rho L ^ length tail.
Proof.
  pose proof l_length as E. assert (Et : t = (p + length tail)%nat) by (unfold t; lia).
  replace (length tail) with (t - p)%nat by lia. apply query_once; auto; [lia|apply row_p|].
  intros j Hj Hn. now apply row_other.
Qed.

Lemma query_other j : (j <= t)%nat -> j <> p ->
  copy_rho L ^ (length tail - 1) <= copy_query M (copy_rho L) x t (column M (x j)).
Proof.
  intros Hj Hn. pose proof l_length as E. pose proof tail_length. destruct (row_other j Hj Hn) as [_ H'].
  assert (Et : t = (p + length tail)%nat) by (unfold t; lia). unfold column.
  destruct (Nat.ltb_spec (x j) M) as [Hs|Hs].
  - destruct (H' Hs) as (i & Hi & Hx). eapply Rle_trans; [|apply (query_at_least M _ x t (S (p + i)))].
    + apply pow_falls; [apply rho_range|lia].
    + apply rho_range.
    + lia.
    + rewrite Hx. unfold embedding, one_hot. rewrite Nat.eqb_refl. destruct (Nat.eqb _ _); lra.
  - eapply Rle_trans; [|apply (query_at_least M _ x t t)].
    + apply pow_falls; [apply rho_range|lia].
    + apply rho_range.
    + lia.
    + unfold embedding, one_hot. rewrite (Nat.eqb_refl (M + 2)). destruct (Nat.eqb _ _); lra.
Qed.

Lemma leads j : (j <= t)%nat -> j <> p -> s j + ln (2 * INR L / epsilon) <= s p.
Proof.
  intros Hj Hn. unfold s. rewrite !copy_logit_column by apply row_token. rewrite row_p.
  pose proof l_length as E. pose proof tail_length.
  unfold column at 2. rewrite (proj2 (Nat.ltb_lt a M)) by auto. rewrite query_a.
  pose proof (query_other j Hj Hn). pose proof (copy_c_nonneg L epsilon ltac:(lia) eps).
  pose proof (gap L epsilon (length tail - 1) ltac:(lia) ltac:(lia) eps) as G.
  replace (S (length tail - 1)) with (length tail) in G by lia. nra.
Qed.

Lemma others_weigh_little : 0 <= 1 - softmax (S t) s p < epsilon / 2.
Proof.
  pose proof l_length as E. assert (Et : t = (p + length tail)%nat) by (unfold t; lia).
  pose proof (softmax_le_1 (S t) s p ltac:(lia)). split; [lra|].
  rewrite <- (softmax_sum (S t) s) at 1 by lia. rewrite (sum_pick _ (softmax (S t) s) p) by lia.
  assert (B : sum (S t) (fun j => if Nat.eqb j p then 0 else softmax (S t) s j)
    <= (INR (S t) - 1) * exp (- ln (2 * INR L / epsilon))).
  { rewrite <- (sum_other (S t) p) by lia. apply sum_le. intros j Hj. destruct (Nat.eqb_spec j p); [lra|].
    pose proof (softmax_ratio (S t) s p j _ ltac:(lia) (leads j ltac:(lia) ltac:(auto))).
    pose proof (exp_pos (- ln (2 * INR L / epsilon))). nra. }
  assert (T : INR (S t) <= INR L) by (apply le_INR; lia). assert (0 < INR (S t)) by (apply lt_0_INR; lia).
  rewrite exp_Ropp, exp_ln in B by (apply Rdiv_lt_0_compat; lra).
  assert (I : / (2 * INR L / epsilon) * (2 * INR L) = epsilon) by (field; lra).
  assert (0 < / (2 * INR L / epsilon)) by (apply Rinv_0_lt_compat, Rdiv_lt_0_compat; lra). nra.
Qed.

Lemma layer_sum e : copy_layer M (copy_rho L) (copy_c L epsilon) x t e
  = sum (S t) (fun j => softmax (S t) s j * (if Nat.ltb (x j) M then one_hot (x j) e else 0)).
Proof.
  unfold copy_layer. rewrite attention_softmax. apply sum_ext. intros j _.
  now rewrite copy_value by apply row_token.
Qed.

Lemma weights_pos j : 0 < softmax (S t) s j.
Proof. apply softmax_pos. lia. Qed.

(* a's own column holds the weight of row p alone, all the others together no more than what is left. *)
Lemma layer_a : copy_layer M (copy_rho L) (copy_c L epsilon) x t a = softmax (S t) s p.
Proof.
  pose proof l_length as E. rewrite layer_sum. rewrite (sum_only _ _ p); [| unfold t; lia |].
  - rewrite row_p, (proj2 (Nat.ltb_lt a M)) by auto. unfold one_hot. rewrite Nat.eqb_refl. lra.
  - intros j Hj Hn. destruct (row_other j) as [H _]; [lia|auto|]. unfold one_hot.
    rewrite (proj2 (Nat.eqb_neq (x j) a)) by auto. destruct (Nat.ltb _ _); lra.
Qed.

Lemma layer_nonneg e : 0 <= copy_layer M (copy_rho L) (copy_c L epsilon) x t e.
Proof.
  rewrite layer_sum. apply sum_nonneg. intros j _. apply Rmult_le_pos; [left; apply weights_pos|].
  unfold one_hot. destruct (Nat.ltb (x j) M); [destruct (Nat.eqb (x j) e)|]; lra.
Qed.

Lemma layer_total : sum (width M) (copy_layer M (copy_rho L) (copy_c L epsilon) x t) <= 1.
Proof.
  rewrite (sum_ext (width M) _ _ (fun e _ => layer_sum e)), sum_swap. rewrite <- (softmax_sum (S t) s) by lia.
  apply sum_le. intros j _. rewrite sum_scal. pose proof (weights_pos j).
  assert (sum (width M) (fun e => if Nat.ltb (x j) M then one_hot (x j) e else 0) <= 1); [|nra].
  destruct (Nat.ltb_spec (x j) M).
  - rewrite (sum_only _ _ (x j)); [unfold one_hot; rewrite Nat.eqb_refl; lra|unfold width; lia|].
    intros e _ He. unfold one_hot. now rewrite (proj2 (Nat.eqb_neq (x j) e)) by auto.
  - rewrite sum_0; [lra|auto].
Qed.

Lemma step_error : sum (width M)
  (fun e => Rabs (copy_layer M (copy_rho L) (copy_c L epsilon) x t e - one_hot a e)) <= epsilon.
Proof.
  pose proof others_weigh_little. pose proof layer_total as T. pose proof layer_a as A.
  rewrite (sum_pick _ _ a) by (unfold width; lia). rewrite (sum_pick _ _ a) in T by (unfold width; lia).
  rewrite (sum_ext _ (fun i => if Nat.eqb i a then 0 else Rabs _)
    (fun e => if Nat.eqb e a then 0 else copy_layer M (copy_rho L) (copy_c L epsilon) x t e)).
  - unfold one_hot. rewrite Nat.eqb_refl, Rabs_left1; lra.
  - intros e _. destruct (Nat.eqb_spec e a); auto. unfold one_hot. rewrite (proj2 (Nat.eqb_neq a e)) by auto.
    rewrite Rminus_0_r. apply Rabs_pos_eq, layer_nonneg.
Qed.

Lemma others_are_less e : (e < width M)%nat -> e <> a ->
  copy_layer M (copy_rho L) (copy_c L epsilon) x t e < copy_layer M (copy_rho L) (copy_c L epsilon) x t a.
Proof.
  intros He Hn. pose proof others_weigh_little. pose proof layer_total as T. pose proof layer_a as A.
  rewrite (sum_pick _ _ a) in T by (unfold width; lia).
  assert (copy_layer M (copy_rho L) (copy_c L epsilon) x t e <=
    sum (width M) (fun i => if Nat.eqb i a then 0 else copy_layer M (copy_rho L) (copy_c L epsilon) x t i));
      [|lra].
  eapply Rle_trans; [|apply (sum_term_le _ _ e)]; [|exact He|].
  - cbv beta. rewrite (proj2 (Nat.eqb_neq e a)) by auto. lra.
  - intros i _. destruct (Nat.eqb i a); [lra|apply layer_nonneg].
Qed.

Lemma step_answer : answer M (copy_rho L) (copy_c L epsilon) l = a.
Proof.
  unfold answer. fold x t. apply argmax_is; auto. intros e He Hn. apply others_are_less; auto.
  unfold width. lia.
Qed.

Lemma step_nearest :
  nearest (M + 2) (width M) (embedding M) (copy_layer M (copy_rho L) (copy_c L epsilon) x t) a.
Proof.
  intros b Hb Hn. unfold norm. rewrite !distance_embedding by lia.
  pose proof (others_are_less b ltac:(unfold width; lia) Hn). apply sqrt_lt_1_alt. split; [|lra].
  rewrite <- distance_embedding by lia. apply dot_nonneg.
Qed.
End Step.

(* ---- The theorem --------------------------------------------------------------------------------------- *)
(* The body around its k-th signal. *)
Lemma split_signals M body k :
  (k < length (signals M body))%nat ->
  exists b1 a b2, body = b1 ++ a :: b2 /\ (a < M)%nat /\ signals M b1 = firstn k (signals M body) /\
  signals M body = signals M b1 ++ a :: signals M b2.
Proof.
  revert k. induction body as [|b body IH]; intros k H; [simpl in H; lia|].
  unfold signals in *. cbn [filter] in *. destruct (Nat.ltb_spec b M) as [B|B].
  - destruct k as [|k].
    + exists [], b, body. auto.
    + destruct (IH k) as (b1 & a & b2 & -> & Ha & E1 & E2); [simpl in H; lia|]. exists (b :: b1), a, b2.
      cbn [filter app]. rewrite (proj2 (Nat.ltb_lt b M)) by auto. cbn [firstn app]. rewrite <- E1, <- E2.
      auto.
  - destruct (IH k H) as (b1 & a & b2 & -> & Ha & E1 & E2). exists (b :: b1), a, b2.
    cbn [filter app]. rewrite (proj2 (Nat.ltb_ge b M)) by auto. auto.
Qed.

(* The sequence before the k-th answer has the form that Step asks for. *)
Lemma before_answer M L body k :
  (forall b, In b body -> (b <= M)%nat) -> NoDup (signals M body) ->
  (length body + 1 + length (signals M body) <= L)%nat -> (k < length (signals M body))%nat ->
  let l := body ++ [marker M] ++ firstn k (signals M body) in
  exists b1 tail, let a := nth k (signals M body) (noise M) in
  l = b1 ++ a :: tail /\ (a < M)%nat /\ ~ In a b1 /\ ~ In a tail /\ tail <> [] /\
  (forall b, In b b1 -> (b < M)%nat -> In b tail) /\ (forall b, In b l -> (b <= M + 1)%nat) /\
    (length l <= L)%nat /\
  firstn (S k) (signals M body) = firstn k (signals M body) ++ [a].
Proof.
  intros Hb Hd HL Hk l. destruct (split_signals M body k Hk) as (b1 & a & b2 & E & Ha & E1 & E2).
  assert (Lk : length (signals M b1) = k) by (rewrite E1; apply firstn_length_le; lia).
  assert (Na : nth k (signals M body) (noise M) = a).
  { rewrite E2, app_nth2 by lia. now rewrite Lk, Nat.sub_diag. }
  exists b1, (b2 ++ marker M :: signals M b1). cbv zeta. rewrite Na.
  assert (D : ~ In a (signals M b1 ++ signals M b2)) by (rewrite E2 in Hd; now apply NoDup_remove_2 in Hd).
  assert (sig : forall b c, In b c -> (b < M)%nat -> In b (signals M c)).
  { intros b c H1 H2. apply filter_In. split; auto. now apply Nat.ltb_lt. }
  repeat split.
  - unfold l. rewrite <- E1, E, <- app_assoc. reflexivity.
  - auto.
  - intros H. apply D, in_or_app. left. now apply sig.
  - intros H. apply in_app_or in H. destruct H as [H|[H|H]].
    + apply D, in_or_app. right. now apply sig.
    + unfold marker in H. lia.
    + apply D, in_or_app. now left.
  - intros H. now apply app_eq_nil in H.
  - intros b H1 H2. apply in_or_app. right. right. now apply sig.
  - intros b H. unfold l in H. apply in_app_or in H. destruct H as [H|[H|H]].
    + specialize (Hb b H). lia.
    + unfold marker in H. lia.
    + rewrite <- E1 in H. apply filter_In in H. destruct H as [_ H]. apply Nat.ltb_lt in H. lia.
  - unfold l. rewrite !app_length, firstn_length. simpl. lia.
  - rewrite E2. rewrite <- Lk. rewrite !firstn_app, Nat.sub_diag. rewrite firstn_all.
    replace (S (length (signals M b1)) - length (signals M b1))%nat with 1%nat by lia.
    rewrite firstn_all2 by lia. simpl. now rewrite app_nil_r.
Qed.

Theorem cat_thm3 (M L : nat) (body : list nat) (epsilon : R) :
  (forall b, In b body -> (b <= M)%nat) -> NoDup (signals M body) ->
  (length body + 1 + length (signals M body) <= L)%nat -> 0 < epsilon <= 1 ->
  generate M (copy_rho L) (copy_c L epsilon) (body ++ [marker M]) (length (signals M body))
  = body ++ [marker M] ++ signals M body.
Proof.
  intros Hb Hd HL He.
  assert (G : forall k, (k <= length (signals M body))%nat ->
    generate M (copy_rho L) (copy_c L epsilon) (body ++ [marker M]) k
      = body ++ [marker M] ++ firstn k (signals M body)).
  { induction k as [|k IH]; intros Hk; [now rewrite firstn_O|]. cbn [generate]. rewrite IH by lia.
    destruct (before_answer M L body k Hb Hd HL ltac:(lia)) as
      (b1 & tail & E & H1 & H2 & H3 & H4 & H5 & H6 & H7 & H8).
    rewrite H8. rewrite E in H6, H7 |- *. rewrite step_answer by auto. rewrite <- E.
    now rewrite <- !app_assoc. }
  rewrite G by lia. now rewrite firstn_all.
Qed.

Theorem cat_thm3_error (M L k : nat) (body : list nat) (epsilon : R) :
  (forall b, In b body -> (b <= M)%nat) -> NoDup (signals M body) ->
  (length body + 1 + length (signals M body) <= L)%nat -> 0 < epsilon <= 1 ->
    (k < length (signals M body))%nat ->
  let l := body ++ [marker M] ++ firstn k (signals M body) in
  sum (width M) (fun e => Rabs (copy_layer M (copy_rho L) (copy_c L epsilon) (row M l) (length l - 1) e
    - one_hot (nth k (signals M body) (noise M)) e)) <= epsilon.
Proof.
  intros Hb Hd HL He Hk l.
  destruct (before_answer M L body k Hb Hd HL Hk) as (b1 & tail & E & H1 & H2 & H3 & H4 & H5 & H6 & H7 & H8).
  fold l in E, H6, H7. rewrite E in H6, H7 |- *. now apply step_error.
Qed.

(* The answer read off as the paper reads it: of all M + 2 embeddings the nearest. *)
Theorem cat_thm3_nearest (M L k : nat) (body : list nat) (epsilon : R) :
  (forall b, In b body -> (b <= M)%nat) -> NoDup (signals M body) ->
  (length body + 1 + length (signals M body) <= L)%nat -> 0 < epsilon <= 1 ->
    (k < length (signals M body))%nat ->
  let l := body ++ [marker M] ++ firstn k (signals M body) in
  nearest (M + 2) (width M) (embedding M)
    (copy_layer M (copy_rho L) (copy_c L epsilon) (row M l) (length l - 1))
    (nth k (signals M body) (noise M)).
Proof.
  intros Hb Hd HL He Hk l.
  destruct (before_answer M L body k Hb Hd HL Hk) as (b1 & tail & E & H1 & H2 & H3 & H4 & H5 & H6 & H7 & H8).
  fold l in E, H6, H7. rewrite E in H6, H7 |- *. now apply step_nearest.
Qed.

(* ---- One layer for all lengths ------------------------------------------------------------------------- *)
(* The order of the paper: one layer, whatever the length. With rho = 1/2 and c = 2^(M+1) the weights of the
   signals that wait come near each other as they age, but the oldest keeps the largest: the largest column is
   the answer at every length, though its distance from the signal's unit vector is not bounded. *)
Section OneLayer.
Variables (M : nat) (b1 b2 : list nat) (a : nat).
Let emitted := signals M b1.
Let l := b1 ++ a :: b2 ++ marker M :: emitted.
Let x := row M l.
Let t := (length l - 1)%nat.
Let rho := / 2.
Let c := 2 ^ (M + 1).
Let s := copy_logit M rho c x t.
Let p := length b1.
Hypothesis (a_S : (a < M)%nat) (tokens : forall b, In b (b1 ++ a :: b2) -> (b <= M)%nat).
Hypothesis (once : NoDup (signals M (b1 ++ a :: b2))).

Lemma all_signals : signals M (b1 ++ a :: b2) = emitted ++ a :: signals M b2.
Proof.
  unfold emitted, signals. rewrite filter_app. cbn [filter]. now rewrite (proj2 (Nat.ltb_lt a M)) by auto.
Qed.

Lemma few : (length emitted + 1 <= M)%nat.
Proof.
  pose proof once as O. rewrite all_signals in O.
  assert (I : incl (emitted ++ a :: signals M b2) (seq 0 M)).
  { intros b H. rewrite <- all_signals in H. apply filter_In in H. destruct H as [_ H].
    apply Nat.ltb_lt in H. apply in_seq. lia. }
  pose proof (NoDup_incl_length O I) as H. rewrite app_length, seq_length in H. simpl in H. lia.
Qed.

Lemma signal_in b w : In b w -> (b < M)%nat -> In b (signals M w).
Proof. intros H1 H2. apply filter_In. split; auto. now apply Nat.ltb_lt. Qed.
Lemma in_signal b w : In b (signals M w) -> In b w /\ (b < M)%nat.
Proof. intros H. apply filter_In in H. destruct H as [H1 H2]. split; auto. now apply Nat.ltb_lt. Qed.

Lemma count_signals w b : (b < M)%nat -> count_occ Nat.eq_dec w b = count_occ Nat.eq_dec (signals M w) b.
Proof.
  intros H. induction w as [|v w IH]; [reflexivity|]. unfold signals in *. cbn [filter].
  destruct (Nat.ltb_spec v M) as [V|V]; cbn [count_occ]; destruct (Nat.eq_dec v b); lia.
Qed.

Lemma all_tokens j : (x j <= M + 1)%nat.
Proof.
  unfold x, row. destruct (Nat.lt_ge_cases j (length l)) as [H|H]; [|rewrite nth_overflow by auto; unfold noise; lia].
  assert (I : In (nth j l (noise M)) l) by now apply nth_In.
  unfold l in I at 2. replace (b1 ++ a :: b2 ++ marker M :: emitted)
    with ((b1 ++ a :: b2) ++ marker M :: emitted) in I by now rewrite <- app_assoc.
  apply in_app_or in I. destruct I as [I|[I|I]].
  - specialize (tokens _ I). lia.
  - rewrite <- I. unfold marker. lia.
  - apply in_signal in I. lia.
Qed.

Lemma length_l : length l = (p + S (length b2 + S (length emitted)))%nat.
Proof. unfold l, p. rewrite app_length. cbn [length]. rewrite app_length. reflexivity. Qed.

Lemma at_p : x p = a.
Proof. unfold x, row, l, p. rewrite app_nth2 by lia. now rewrite Nat.sub_diag. Qed.

Lemma at_emitted i : x (S (p + length b2 + 1 + i)) = nth i emitted (noise M).
Proof.
  unfold x, row, l, p. rewrite app_nth2 by lia.
  replace (S (length b1 + length b2 + 1 + i) - length b1)%nat with (S (length b2 + S i)) by lia.
  cbn [nth]. rewrite app_nth2 by lia. now replace (length b2 + S i - length b2)%nat with (S i) by lia.
Qed.

(* How often a signal stands in the sequence: once as it waits, twice when it has been answered. *)
Lemma count_in_l b : (b < M)%nat ->
  count_occ Nat.eq_dec l b = (count_occ Nat.eq_dec (emitted ++ a :: signals M b2) b + count_occ Nat.eq_dec emitted b)%nat.
Proof.
  intros H. rewrite <- all_signals, <- count_signals by auto. unfold l.
  rewrite !count_occ_app. cbn [count_occ]. rewrite count_occ_app. cbn [count_occ].
  destruct (Nat.eq_dec (marker M) b); [unfold marker in *; lia|]. destruct (Nat.eq_dec a b); lia.
Qed.

Lemma rows_of_a_token b : (b < M)%nat ->
  forall j, (j <= t)%nat -> x j = b -> count_occ Nat.eq_dec l b = 1%nat ->
  forall i, (i <= t)%nat -> i <> j -> x i <> b.
Proof.
  intros Hb j Hj Hx H1 i Hi Hn Q. pose proof length_l. unfold t in *.
  assert (T : forall (w : list nat) i j, (i < j)%nat -> (j < length w)%nat -> nth i w (noise M) = b ->
    nth j w (noise M) = b -> (2 <= count_occ Nat.eq_dec w b)%nat).
  { induction w as [|v w IH]; intros i' j' Hij Hj' A B; [simpl in Hj'; lia|].
    destruct j' as [|j']; [lia|]. cbn [count_occ nth length] in *.
    assert (In b w) by (rewrite <- B; apply nth_In; lia).
    assert (1 <= count_occ Nat.eq_dec w b)%nat by (apply (count_occ_In Nat.eq_dec); auto).
    destruct i' as [|i']; cbn [nth] in A.
    - destruct (Nat.eq_dec v b); [lia|contradiction].
    - pose proof (IH i' j' ltac:(lia) ltac:(lia) A B). destruct (Nat.eq_dec v b); lia. }
  destruct (Nat.lt_ge_cases i j).
  - pose proof (T l i j ltac:(auto) ltac:(lia) Q Hx). lia.
  - pose proof (T l j i ltac:(lia) ltac:(lia) Hx Q). lia.
Qed.

Lemma pow_half n : rho ^ n = / 2 ^ n.
Proof. unfold rho. now rewrite pow_inv. Qed.

Lemma a_once : count_occ Nat.eq_dec l a = 1%nat.
Proof.
  rewrite count_in_l by auto. pose proof once as O. rewrite all_signals in O.
  pose proof (proj1 (NoDup_count_occ' Nat.eq_dec _) O a ltac:(apply in_or_app; right; now left)) as C.
  assert (~ In a emitted) as N by (apply NoDup_remove_2 in O; intros I; apply O, in_or_app; auto).
  rewrite C, (proj1 (count_occ_not_In Nat.eq_dec _ _) N). reflexivity.
Qed.

Lemma query_of_a : copy_query M rho x t a = rho ^ (t - p).
Proof.
  pose proof length_l. apply query_once; auto; [unfold t; lia|apply at_p|].
  apply rows_of_a_token; auto; [unfold t; lia|apply at_p|apply a_once].
Qed.

(* Every row of another signal has a logit that is lower by a margin that makes up for their number. *)
Lemma lower j : (j <= t)%nat -> (x j < M)%nat -> x j <> a ->
  INR (count_occ Nat.eq_dec l (x j)) * exp (- (s p - s j)) < 1.
Proof.
  intros Hj Hs Hn. pose proof length_l as E. pose proof few as Few.
  assert (Pc : 0 < c) by (apply pow_lt; lra).
  assert (S : s p - s j = c * (copy_query M rho x t (x j) - rho ^ (t - p))).
  { unfold s. rewrite !copy_logit_column by apply all_tokens. unfold column.
    rewrite at_p, (proj2 (Nat.ltb_lt a M)), (proj2 (Nat.ltb_lt (x j) M)), query_of_a by auto. ring. }
  pose proof once as O. rewrite all_signals in O.
  pose proof (proj1 (NoDup_count_occ Nat.eq_dec _) O (x j)) as C1.
  rewrite count_in_l by auto.
  assert (R01 : 0 <= rho <= 1) by (unfold rho; lra).
  destruct (in_dec Nat.eq_dec (x j) emitted) as [I|I].
  - destruct (In_nth emitted (x j) (noise M) I) as (i & Hi & Q).
    assert (A : rho ^ (length emitted - 1) <= copy_query M rho x t (x j)).
    { eapply Rle_trans; [|apply (query_at_least M rho x t (Datatypes.S (p + length b2 + 1 + i)))]; auto.
      - apply pow_falls; [auto|unfold t; lia].
      - unfold t. lia.
      - rewrite at_emitted, Q. unfold embedding, one_hot. rewrite Nat.eqb_refl. destruct (Nat.eqb _ _); lra. }
    assert (B : rho ^ (t - p) <= rho ^ (length emitted + 1)) by (apply pow_falls; [auto|unfold t; lia]).
    assert (K : 6 <= s p - s j).
    { rewrite S. set (k := length emitted) in *. assert (1 <= k)%nat by (unfold k in *; lia).
      assert (D : 3 * rho ^ (k + 1) <= copy_query M rho x t (x j) - rho ^ (t - p)).
      { replace (k + 1)%nat with (2 + (k - 1))%nat in * by lia. rewrite pow_add in *.
        replace (rho ^ 2) with (/ 4) in * by (unfold rho; lra). lra. }
      apply Rle_trans with (c * (3 * rho ^ (k + 1))); [|now apply Rmult_le_compat_l; [lra|]].
      unfold c. replace (M + 1)%nat with (1 + (M - k - 1) + (k + 1))%nat by lia. rewrite !pow_add.
      replace (2 ^ 1 * 2 ^ (M - k - 1) * (2 ^ k * 2 ^ 1) * (3 * (rho ^ k * rho ^ 1)))
        with (6 * 2 ^ (M - k - 1) * ((2 ^ k * rho ^ k) * (2 * rho))) by (simpl; ring).
      rewrite <- Rpow_mult_distr. replace (2 * rho) with 1 by (unfold rho; lra). rewrite pow1.
      pose proof (pow_R1_Rle 2 (M - k - 1) ltac:(lra)). lra. }
    assert (X : exp (- (s p - s j)) <= exp (Ropp 6)).
    { destruct (Req_dec (s p - s j) 6) as [->|]; [lra|]. left. apply exp_increasing. lra. }
    assert (Y : exp (Ropp 6) < / 2).
    { rewrite exp_Ropp. apply Rinv_lt_contravar; [pose proof (exp_pos 6); lra|].
      pose proof (exp_ineq1 6 ltac:(lra)). lra. }
    assert (Z : INR (count_occ Nat.eq_dec (emitted ++ a :: signals M b2) (x j) + count_occ Nat.eq_dec emitted (x j)) <= 2).
    { replace 2 with (INR 2) by reflexivity. apply le_INR.
      rewrite count_occ_app in C1 |- *. lia. }
    pose proof (exp_pos (- (s p - s j))). pose proof (pos_INR
      (count_occ Nat.eq_dec (emitted ++ a :: signals M b2) (x j) + count_occ Nat.eq_dec emitted (x j))). nra.
  - pose proof (proj1 (count_occ_not_In Nat.eq_dec _ _) I) as C0. rewrite C0, Nat.add_0_r.
    assert (J : (p < j)%nat).
    { destruct (Nat.lt_trichotomy j p) as [H|[H|H]]; auto; exfalso.
      - apply I. apply signal_in; auto. unfold x, row, l. rewrite app_nth1 by exact H. now apply nth_In.
      - subst j. apply Hn, at_p. }
    assert (A : rho ^ (t - j) <= copy_query M rho x t (x j)).
    { apply query_at_least; auto. unfold embedding, one_hot. rewrite Nat.eqb_refl.
      destruct (Nat.eqb _ _); lra. }
    assert (B : rho ^ (t - p) < rho ^ (t - j)).
    { rewrite !pow_half. apply Rinv_lt_contravar.
      - apply Rmult_lt_0_compat; apply pow_lt; lra.
      - apply Rlt_pow; [lra|lia]. }
    assert (K : 0 < s p - s j) by (rewrite S; apply Rmult_lt_0_compat; lra).
    assert (X : exp (- (s p - s j)) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
    assert (Z : INR (count_occ Nat.eq_dec (emitted ++ a :: signals M b2) (x j)) <= 1)
      by (replace 1 with (INR 1) by reflexivity; now apply le_INR).
    pose proof (exp_pos (- (s p - s j))).
    pose proof (pos_INR (count_occ Nat.eq_dec (emitted ++ a :: signals M b2) (x j))). nra.
Qed.

Lemma sum_of_a_token n w b W : (n <= length w)%nat ->
  sum n (fun j => if Nat.eqb (nth j w (noise M)) b then W else 0) = INR (count_occ Nat.eq_dec (firstn n w) b) * W.
Proof.
  revert n. induction w as [|v w IH]; intros n H; [simpl in H; replace n with 0%nat by lia; simpl; lra|].
  destruct n as [|n]; [simpl; lra|]. rewrite sum_first. cbn [nth firstn count_occ].
  rewrite IH by (simpl in H; lia).
  destruct (Nat.eq_dec v b) as [->|N]; [rewrite Nat.eqb_refl, S_INR|rewrite (proj2 (Nat.eqb_neq v b)) by auto]; lra.
Qed.

Lemma column_of b : (b < M)%nat -> copy_layer M rho c x t b
  = sum (S t) (fun j => if Nat.eqb (x j) b then softmax (S t) s j else 0).
Proof.
  intros Hb. unfold copy_layer. rewrite attention_softmax. apply sum_ext. intros j _.
  rewrite copy_value by apply all_tokens. fold s. destruct (Nat.ltb_spec (x j) M) as [H|H].
  - unfold one_hot. destruct (Nat.eqb (x j) b); lra.
  - rewrite (proj2 (Nat.eqb_neq (x j) b)) by lia. lra.
Qed.

Lemma column_a : copy_layer M rho c x t a = softmax (S t) s p.
Proof.
  pose proof length_l as E.
  rewrite column_of by auto. rewrite (sum_only _ _ p); [now rewrite at_p, Nat.eqb_refl|unfold t; lia|].
  intros j Hj Hjp. rewrite (proj2 (Nat.eqb_neq (x j) a)); auto.
  apply (rows_of_a_token a a_S p ltac:(unfold t; lia) at_p a_once); auto. lia.
Qed.
Lemma one_layer_less b : (b < M)%nat -> b <> a -> copy_layer M rho c x t b < copy_layer M rho c x t a.
Proof.
  pose proof length_l as E. intros Hb Hn. assert (W : 0 < softmax (S t) s p) by (apply softmax_pos; lia).
  rewrite column_a, column_of by auto.
  destruct (in_dec Nat.eq_dec b l) as [I|I].
  - destruct (In_nth l b (noise M) I) as (i & Hi & Q).
    assert (Hi' : (i <= t)%nat) by (unfold t; lia). change (x i = b) in Q.
    set (W' := exp (- (s p - s i)) * softmax (S t) s p).
    apply Rle_lt_trans with (sum (S t) (fun j => if Nat.eqb (nth j l (noise M)) b then W' else 0)).
    + apply sum_le. intros j Hj. change (nth j l (noise M)) with (x j).
      destruct (Nat.eqb_spec (x j) b) as [Qj|]; [|lra]. apply softmax_ratio; [lia|].
      assert (s j = s i); [|lra]. unfold s. rewrite !copy_logit_column by apply all_tokens. now rewrite Qj, Q.
    + rewrite sum_of_a_token by (unfold t; lia). rewrite firstn_all2 by (unfold t; lia).
      pose proof (lower i Hi' ltac:(lia) ltac:(congruence)) as B. rewrite Q in B. unfold W'. nra.
  - rewrite sum_0; [auto|]. intros j Hj. rewrite (proj2 (Nat.eqb_neq (x j) b)); auto. intros Q. apply I.
    rewrite <- Q. unfold x, row. apply nth_In. unfold t in Hj. lia.
Qed.
Lemma one_layer_step : answer M rho c l = a.
Proof. unfold answer. fold x t. apply argmax_is; auto. apply one_layer_less. Qed.
Lemma one_layer_nearest : nearest (M + 2) (width M) (embedding M) (copy_layer M rho c x t) a.
Proof.
  intros b Hb Hn. unfold norm. rewrite !distance_embedding by lia.
  assert (copy_layer M rho c x t b < copy_layer M rho c x t a).
  { destruct (Nat.lt_ge_cases b M) as [H|H]; [now apply one_layer_less|]. rewrite column_a.
    unfold copy_layer. rewrite attention_softmax, sum_0; [apply softmax_pos; lia|]. intros j _.
    rewrite copy_value by apply all_tokens. destruct (Nat.ltb_spec (x j) M); [|lra].
    unfold one_hot. rewrite (proj2 (Nat.eqb_neq (x j) b)) by lia. lra. }
  apply sqrt_lt_1_alt. split; [|lra]. rewrite <- distance_embedding by lia. apply dot_nonneg.
Qed.
End OneLayer.

Theorem cat_thm3_one_layer (M : nat) (body : list nat) :
  (forall b, In b body -> (b <= M)%nat) -> NoDup (signals M body) ->
  generate M (/ 2) (2 ^ (M + 1)) (body ++ [marker M]) (length (signals M body))
  = body ++ [marker M] ++ signals M body.
Proof.
  intros Hb Hd.
  assert (G : forall k, (k <= length (signals M body))%nat ->
    generate M (/ 2) (2 ^ (M + 1)) (body ++ [marker M]) k = body ++ [marker M] ++ firstn k (signals M body)).
  { induction k as [|k IH]; intros Hk; [now rewrite firstn_O|]. cbn [generate]. rewrite IH by lia.
    destruct (split_signals M body k ltac:(lia)) as (b1 & a & b2 & E & Ha & E1 & E2).
    assert (Lk : length (signals M b1) = k) by (rewrite E1; apply firstn_length_le; lia).
    replace (body ++ [marker M] ++ firstn k (signals M body))
      with (b1 ++ a :: b2 ++ marker M :: signals M b1)
      by (rewrite E at 1; rewrite <- E1, <- app_assoc; reflexivity).
    rewrite one_layer_step by (auto; now rewrite <- E).
    rewrite E at 1. rewrite E2, <- Lk, firstn_app, firstn_all2 by lia.
    replace (S (length (signals M b1)) - length (signals M b1))%nat with 1%nat by lia.
    cbn [firstn]. rewrite <- !app_assoc. cbn [app]. rewrite <- !app_assoc. reflexivity. }
  rewrite G by auto. now rewrite firstn_all.
Qed.

(* And as the paper reads the answer. *)
Theorem cat_thm3_one_layer_nearest (M k : nat) (body : list nat) :
  (forall b, In b body -> (b <= M)%nat) -> NoDup (signals M body) -> (k < length (signals M body))%nat ->
  let l := body ++ [marker M] ++ firstn k (signals M body) in
  nearest (M + 2) (width M) (embedding M)
    (copy_layer M (/ 2) (2 ^ (M + 1)) (row M l) (length l - 1)) (nth k (signals M body) (noise M)).
Proof.
  intros Hb Hd Hk l. destruct (split_signals M body k Hk) as (b1 & a & b2 & E & Ha & E1 & E2).
  assert (Lk : length (signals M b1) = k) by (rewrite E1; apply firstn_length_le; lia).
  assert (El : l = b1 ++ a :: b2 ++ marker M :: signals M b1)
    by (unfold l; rewrite E at 1; rewrite <- E1, <- app_assoc; reflexivity).
  assert (En : nth k (signals M body) (noise M) = a)
    by (rewrite E2, app_nth2 by lia; now rewrite Lk, Nat.sub_diag).
  rewrite En, El. apply one_layer_nearest; auto; now rewrite <- E.
Qed.

(* ---- What it excludes ---------------------------------------------------------------------------------- *)
(* Blank slots: however many markers follow, the first signal is answered again. *)
Theorem blank_slots_repeat (M L n a : nat) (b1 b2 : list nat) (epsilon : R) :
  (forall b, In b b1 -> b = noise M) -> (a < M)%nat -> (forall b, In b b2 -> (b <= M)%nat /\ b <> a) ->
  (length b1 + 1 + length b2 + (n + 1) <= L)%nat -> 0 < epsilon <= 1 ->
  answer M (copy_rho L) (copy_c L epsilon) (b1 ++ a :: b2 ++ repeat (marker M) (n + 1)) = a.
Proof.
  intros H1 Ha H2 HL He.
  assert (marks : forall b, In b (repeat (marker M) (n + 1)) -> b = marker M)
    by (intros; now apply (repeat_spec (n + 1) (marker M))).
  apply step_answer; auto.
  - intros H. apply H1 in H. unfold noise in H. lia.
  - intros H. apply in_app_or in H. destruct H as [H|H]; [now apply H2 in H|]. apply marks in H.
    unfold marker in H. lia.
  - intros H. apply app_eq_nil in H. destruct H as [_ H]. rewrite Nat.add_1_r in H. discriminate.
  - intros b H. apply H1 in H. unfold noise in H. lia.
  - intros b H. apply in_app_or in H. destruct H as [H|[H|H]].
    + apply H1 in H. unfold noise in H. lia.
    + lia.
    + apply in_app_or in H. destruct H as [H|H]; [apply H2 in H; lia|]. apply marks in H. unfold marker in H.
      lia.
  - rewrite app_length. simpl. rewrite app_length, repeat_length. lia.
Qed.

(* a . b . a (signals 0, 1 of 3): the two a's add up, b looks older, and the first answer is b. *)
Theorem repeated_signals_fail (epsilon : R) :
  0 < epsilon <= 1 ->
  let body := [0; 3; 1; 3; 0]%nat in
  answer 3 (copy_rho 9) (copy_c 9 epsilon) (body ++ [marker 3]) = 1%nat /\
  generate 3 (copy_rho 9) (copy_c 9 epsilon) (body ++ [marker 3]) 3 <> body ++ [marker 3] ++ signals 3 body.
Proof.
  intros He body. set (c := copy_c 9 epsilon). set (rho := copy_rho 9).
  assert (Hc : 2 <= c).
  { unfold c, copy_c. assert (1 <= ln (2 * INR 9 / epsilon)).
    { rewrite <- (ln_exp 1) at 1. pose proof exp_le_3. pose proof (exp_pos 1).
      assert (3 < 2 * INR 9 / epsilon); [|left; apply ln_increasing; lra].
      apply Rmult_lt_reg_r with epsilon; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. simpl. lra.
      }
    pose proof (exp_ineq1 1 ltac:(lra)). simpl in *. nra. }
  assert (R9 : rho = 8 / 9) by (unfold rho, copy_rho; simpl; lra).
  set (x := row 3 (body ++ [marker 3])). set (s := copy_logit 3 rho c x 5).
  assert (X : forall j, (x j <= 4)%nat).
  { intros j. unfold x, row, body, marker, noise. do 6 (destruct j as [|j]; [simpl; lia|]).
    destruct j; simpl; lia. }
  assert (s0 : s 0%nat = - c * (rho + rho ^ 5)).
  { unfold s. rewrite copy_logit_column by apply X.
    unfold copy_query, conv, x, row, body, marker, noise, embedding, one_hot, column.
    cbn. ring. }
  assert (s4 : s 4%nat = - c * (rho + rho ^ 5)).
  { unfold s. rewrite copy_logit_column by apply X.
    unfold copy_query, conv, x, row, body, marker, noise, embedding, one_hot, column.
    cbn. ring. }
  assert (s2 : s 2%nat = - c * rho ^ 3).
  { unfold s. rewrite copy_logit_column by apply X.
    unfold copy_query, conv, x, row, body, marker, noise, embedding, one_hot, column.
    cbn. ring. }
  assert (A : answer 3 rho c (body ++ [marker 3]) = 1%nat).
  { unfold answer. fold x. change (length (body ++ [marker 3]) - 1)%nat with 5%nat. apply argmax_is; [lia|].
    assert (P : forall j, 0 < softmax 6 s j) by (intros; apply softmax_pos; lia).
    assert (G : forall j, s j = s 0%nat -> softmax 6 s j <= exp (- (1)) * softmax 6 s 2).
    { intros j Hj. apply (softmax_ratio 6 s 2 j 1); [lia|]. rewrite Hj, s0, s2, R9. simpl. lra. }
    assert (E1 : exp (- (1)) < / 2).
    { rewrite exp_Ropp. pose proof (exp_ineq1 1 ltac:(lra)).
      apply Rinv_lt_contravar; lra. }
    pose proof (G 0%nat eq_refl). pose proof (G 4%nat ltac:(lra)). pose proof (P 2%nat).
    intros e He' Hn. unfold copy_layer. rewrite !attention_softmax. fold s.
    rewrite !(sum_ext 6 (fun j => softmax 6 s j * linear _ _ _ _) (fun j => softmax 6 s j *
      (if Nat.ltb (x j) 3 then one_hot (x j) _ else 0))) by (intros; now rewrite copy_value by apply X).
    unfold x, row, body, marker, noise, one_hot. destruct e as [|[|[|e]]]; try lia; cbn; nra. }
  split; [exact A|]. cbn [generate]. cbv zeta. rewrite A.
  repeat match goal with |- context [answer 3 rho c ?l] => generalize (answer 3 rho c l); intro end.
  intros H. discriminate H.
Qed.
