(* CatProp.v: [CAT] Propositions 1 (A) and 2: a landmark finds the block that holds the query's copy, but for
   a chance of at most e^{-t^2/4} (the paper has three times that), once d >= 2 sigma^2 B (sqrt(ln n) + t)^2
   for the sum of a block's rows, and d >= 50 sigma^2 B (sqrt(ln n) + t)^2 for the filter e^{-i/B}, B >= 2
   (printed without the sigma^2, so for sigma <= 1), among n blocks. Success means that the chosen block holds
   the copy.
   Proved: what the copy adds to each landmark's product with the query, that the choice is right wherever the
   noise is small, the tail of the normal distribution, the union over the blocks, the constants. A premise,
   not proved: that the rest of a landmark's product with the query, a sum of f_i <row, q> over independent
   rows N(0, sigma^2/d I) and a unit query q, is normal with the variance (sigma^2/d) times the sum of the
   f_i^2. Of the probability only what any outer measure has is used: monotone, subadditive, 0 for nothing; no
   independence between blocks.
   Not proved, only tested: the converse (B), the subspace (C), and the exact success as an integral
   (proof_cat_prop12.c, with con_landmark_trials). *)
From Coq Require Import Reals Lra Lia Arith Classical.
Set Warnings "-ambiguous-paths".
From Coquelicot Require Import Coquelicot.
From Seqmix Require Import Attention Recall.
Open Scope R_scope.

(* ---- Landmarks: constructions_lcat.c ------------------------------------------------------------------- *)
(* The product of block b's landmark, the last row of X * f in the block of B rows, with the query. *)
Definition landmark_row (B b : nat) : nat := (b * B + (B - 1))%nat.
Definition landmark_score (d B : nat) (f : nat -> R) (X : nat -> nat -> R) (q : nat -> R) (b : nat) : R :=
  dot d (fun c => conv f (fun t => X t c) (landmark_row B b)) q.
(* The same without row p, where the copy is. *)
Definition without (p : nat) (X : nat -> nat -> R) (t c : nat) : R := if Nat.eqb t p then 0 else X t c.
Definition landmark_noise (d B : nat) f X q (p b : nat) : R := landmark_score d B f (without p X) q b.
(* Of n blocks the first with the largest score. *)
Definition chosen_block (d B n : nat) f X q : nat := argmax n (landmark_score d B f X q).
(* What the copy at row p adds. *)
Definition copy_signal (B : nat) (f : nat -> R) (p b : nat) : R :=
  if Nat.leb p (landmark_row B b) then f (landmark_row B b - p)%nat else 0.
(* sum of f_i^2 over the landmark's rows other than p *)
Definition noise_energy (B : nat) (f : nat -> R) (p b : nat) : R :=
  sum (S (landmark_row B b)) (fun i => if Nat.eqb (landmark_row B b - i) p then 0 else f i * f i).

Definition box (B i : nat) : R := if Nat.ltb i B then 1 else 0.
Definition smooth (B i : nat) : R := exp (- / INR B) ^ i.

(* ---- Chance -------------------------------------------------------------------------------------------- *)
(* What is used of a probability: any outer measure has it. *)
Definition outer_probability {Omega : Type} (P : (Omega -> Prop) -> R) : Prop :=
  P (fun _ => False) = 0 /\ (forall A B : Omega -> Prop, (forall w, A w -> B w) -> P A <= P B) /\
  forall A B : Omega -> Prop, P (fun w => A w \/ B w) <= P A + P B.

Definition bell (x : R) : R := exp (- (x * x) / 2).
(* N is the integral of the bell from 0 to infinity. *)
Definition half_mass (N : R) : Prop := is_lub (fun y => exists b, 0 <= b /\ y = RInt bell 0 b) N.
(* The share of the mass beyond a: the chance that a standard normal number is at least a. *)
Definition tail (N a : R) : R := (N - RInt bell 0 a) / (2 * N).
(* What is used of z being normal with mean 0 and deviation s: its two tails hold no more than the normal
   distribution's; with deviation 0 it is 0. *)
Definition normal {Omega : Type} (P : (Omega -> Prop) -> R) (N : R) (z : Omega -> R) (s : R) : Prop :=
  (s = 0 /\ forall w, z w = 0) \/
  (0 < s /\ forall a, 0 <= a -> P (fun w => a * s <= z w) <= tail N a /\ P (fun w => a * s <= - z w)
    <= tail N a).

(* ---- The tail of the normal distribution --------------------------------------------------------------- *)
Lemma bell_continuous x : continuous bell x.
Proof. apply (ex_derive_continuous bell). unfold bell. auto_derive. auto. Qed.

Lemma bell_integrable a b : ex_RInt bell a b.
Proof. apply (ex_RInt_continuous bell). intros. apply bell_continuous. Qed.

Lemma mass_grows a b : 0 <= a <= b -> RInt bell 0 a <= RInt bell 0 b.
Proof.
  intros H. rewrite <- (RInt_Chasles bell 0 a b) by apply bell_integrable.
  assert (0 <= RInt bell a b); [|unfold plus; simpl; lra].
  apply RInt_ge_0; [lra|apply bell_integrable|]. intros. left. apply exp_pos.
Qed.

(* Beyond a the bell is at most e^{-a^2/2} times what it is beyond 0: (a + u)^2 >= a^2 + u^2. *)
Lemma mass_beyond a b : 0 <= a <= b -> RInt bell a b <= exp (- (a * a) / 2) * RInt bell 0 (b - a).
Proof.
  intros H. pose proof (RInt_comp_lin bell 1 a 0 (b - a)) as C.
  replace (1 * 0 + a) with a in C by lra. replace (1 * (b - a) + a) with b in C by lra.
  rewrite <- C by apply bell_integrable. rewrite <- (RInt_scal bell) by apply bell_integrable.
  apply RInt_le; [lra| | |].
  - apply (ex_RInt_continuous (fun y => scal 1 (bell (1 * y + a)))). intros z _.
    apply (ex_derive_continuous (fun y => scal 1 (bell (1 * y + a)))).
    unfold bell, scal; simpl; unfold mult; simpl. auto_derive. auto.
  - apply (ex_RInt_scal bell). apply bell_integrable.
  - intros x Hx. unfold scal; simpl; unfold mult; simpl. unfold bell. rewrite Rmult_1_l, <- exp_plus.
    destruct (Rle_lt_or_eq_dec (- ((1 * x + a) * (1 * x + a)) / 2) (- (a * a) / 2 + - (x * x) / 2)) as [L|E];
      [nra| |].
    + left. now apply exp_increasing.
    + rewrite E. lra.
Qed.

Lemma half_mass_pos N : half_mass N -> 0 < N.
Proof.
  intros [U _]. apply Rlt_le_trans with (RInt bell 0 1); [|apply U; exists 1; split; [lra|auto]].
  apply RInt_gt_0; [lra| |]; intros; [apply exp_pos|]. apply bell_continuous.
Qed.

Lemma normal_tail N a : half_mass N -> 0 <= a -> tail N a <= exp (- (a * a) / 2) / 2.
Proof.
  intros H Ha. pose proof (half_mass_pos N H) as N0. destruct H as [U L].
  assert (B : N <= RInt bell 0 a + exp (- (a * a) / 2) * N).
  { apply L. intros y (b & Hb & ->). pose proof (exp_pos (- (a * a) / 2)). destruct (Rle_dec a b) as [Q|Q].
    - rewrite <- (RInt_Chasles bell 0 a b) by apply bell_integrable. unfold plus; simpl.
      apply Rplus_le_compat_l.
      eapply Rle_trans; [apply mass_beyond; lra|]. apply Rmult_le_compat_l; [lra|]. apply U. exists (b - a).
      split; [lra|auto].
    - pose proof (mass_grows b a ltac:(lra)). nra. }
  unfold tail. apply Rmult_le_reg_r with (2 * N); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
  lra.
Qed.

(* ---- The union over the blocks ------------------------------------------------------------------------- *)
Lemma union_bound {Omega} (P : (Omega -> Prop) -> R) n (A : nat -> Omega -> Prop) :
  outer_probability P -> P (fun w => exists b, (b < n)%nat /\ A b w) <= sum n (fun b => P (A b)).
Proof.
  intros (Z & M & U). induction n as [|n IH]; cbn [sum].
  - rewrite <- Z. apply M. intros w (b & Hb & _). lia.
  - eapply Rle_trans; [|apply Rplus_le_compat_r, IH]. eapply Rle_trans; [|apply U]. apply M.
    intros w (b & Hb & HA). destruct (Nat.eq_dec b n) as [->|]; [now right|]. left. exists b.
    split; [lia|auto].
Qed.

Definition normal_at_most {Omega : Type} (P : (Omega -> Prop) -> R) (N : R) (z : Omega -> R) (s : R) : Prop :=
  exists s', 0 <= s' <= s /\ normal P N z s'.

Lemma upper_tail {Omega} (P : (Omega -> Prop) -> R) N z s a :
  outer_probability P -> half_mass N -> 0 < s -> normal_at_most P N z s -> 0 < a ->
  P (fun w => a * s <= z w) <= exp (- (a * a) / 2) / 2 /\ P (fun w => a * s <= - z w)
    <= exp (- (a * a) / 2) / 2.
Proof.
  intros (Z & M & U) HN Hs (s' & Hs' & [(S0 & z0)|(S1 & T)]) Ha; pose proof (exp_pos (- (a * a) / 2)).
  - assert (0 < a * s) by nra. split.
    + apply Rle_trans with (P (fun _ => False)); [|rewrite Z; lra]. apply M. intros w Hw. rewrite z0 in Hw.
      lra.
    + apply Rle_trans with (P (fun _ => False)); [|rewrite Z; lra]. apply M. intros w Hw. rewrite z0 in Hw.
      lra.
  - pose proof (normal_tail N a HN ltac:(lra)). destruct (T a ltac:(lra)) as [T1 T2].
    assert (a * s' <= a * s) by (apply Rmult_le_compat_l; lra). split.
    + eapply Rle_trans; [|eapply Rle_trans; [exact T1|lra]]. apply M. intros w Hw. lra.
    + eapply Rle_trans; [|eapply Rle_trans; [exact T2|lra]]. apply M. intros w Hw. lra.
Qed.

(* No other block's noise makes up for the lead gamma of the copy's, but for a chance of e^{-t^2/4}. *)
Theorem noise_seldom_wins {Omega : Type} (P : (Omega -> Prop) -> R) (N : R) (z : nat -> Omega -> R)
  (n b0 : nat) (s gamma t : R) :
  outer_probability P -> half_mass N -> (b0 < n)%nat -> 0 < s -> 0 < t ->
    (forall b, (b < n)%nat -> normal_at_most P N (z b) s) ->
  sqrt 2 * s * (sqrt (ln (INR n)) + t) <= gamma ->
  P (fun w => exists b, (b < n)%nat /\ b <> b0 /\ gamma + z b0 w <= z b w) <= exp (- (t * t) / 4).
Proof.
  intros HP HN Hb Hs Ht Hz Hg. pose proof HP as (Z & M & U).
  assert (n1 : 1 <= INR n) by (change 1 with (INR 1); apply le_INR; lia).
  assert (ln0 : 0 <= ln (INR n))
    by (destruct n1 as [n1|<-]; [left; rewrite <- ln_1; apply ln_increasing; lra|rewrite ln_1; lra]).
  set (r := sqrt (ln (INR n))) in *. assert (r0 : 0 <= r) by apply sqrt_pos.
  assert (rr : r * r = ln (INR n)) by now apply sqrt_sqrt.
  set (h := sqrt 2) in *. assert (h0 : 0 < h) by (apply sqrt_lt_R0; lra).
  assert (hh : h * h = 2) by (apply sqrt_sqrt; lra).
  set (a := h * (r + t / 2)). set (a' := h * (t / 2)).
  assert (a0 : 0 < a) by (unfold a; apply Rmult_lt_0_compat; lra).
  assert (a'0 : 0 < a') by (unfold a'; apply Rmult_lt_0_compat; lra).
  assert (E : exp (- (a' * a') / 2) = exp (- (t * t) / 4)).
  { f_equal. unfold a'. replace (h * (t / 2) * (h * (t / 2))) with (h * h * (t * t / 4)) by field. rewrite hh.
    field. }
  assert (E' : INR n * exp (- (a * a) / 2) <= exp (- (t * t) / 4)).
  { replace (- (a * a) / 2) with (- ln (INR n) + (- (t * t) / 4 + - (t * r))).
    - rewrite exp_plus, exp_Ropp, exp_ln by lra. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
      destruct (Req_dec (- (t * t) / 4 + - (t * r)) (- (t * t) / 4)) as [->|]; [lra|]. left.
      apply exp_increasing. nra.
    - unfold a. replace (h * (r + t / 2) * (h * (r + t / 2))) with (h * h * (r * r + t * r + t * t / 4))
        by field.
      rewrite hh, rr. field. }
  apply Rle_trans with (P (fun w => (exists b, (b < n)%nat /\ a * s <= z b w) \/ a' * s <= - z b0 w)).
  - apply M. intros w (b & Hbn & _ & Hw). destruct (Rle_dec (a' * s) (- z b0 w)) as [Q|Q]; [now right|]. left.
    exists b.
    split; auto. replace (h * s * (r + t)) with (a * s + a' * s) in Hg by (unfold a, a'; field). lra.
  - eapply Rle_trans; [apply U|].
    pose proof (proj2 (upper_tail P N (z b0) s a' HP HN Hs (Hz b0 Hb) a'0)) as T0. rewrite E in T0.
    assert (P (fun w => exists b, (b < n)%nat /\ a * s <= z b w) <= exp (- (t * t) / 4) / 2); [|lra].
    eapply Rle_trans; [apply union_bound; auto|].
    apply Rle_trans with (sum n (fun _ => exp (- (a * a) / 2) / 2)).
    + apply sum_le. intros b Hbn. now apply (upper_tail P N (z b) s a HP HN Hs (Hz b Hbn) a0).
    + rewrite sum_const. lra.
Qed.

(* ---- The copy's part ----------------------------------------------------------------------------------- *)
Theorem score_is_signal_and_noise (d B : nat) f X q (p b : nat) :
  norm d q = 1 -> (forall c, (c < d)%nat -> X p c = q c) ->
  landmark_score d B f X q b = copy_signal B f p b + landmark_noise d B f X q p b.
Proof.
  intros Hq Hp. unfold landmark_noise, landmark_score, copy_signal. set (r := landmark_row B b).
  replace (if Nat.leb p r then f (r - p)%nat else 0) with
    ((if Nat.leb p r then f (r - p)%nat else 0) * dot d q q)
    by (rewrite (unit_dot d q Hq); lra).
  unfold dot. rewrite <- sum_scal, <- sum_plus. apply sum_ext. intros c Hc.
  rewrite <- Rmult_assoc, <- Rmult_plus_distr_r. f_equal. unfold conv, without.
  destruct (Nat.leb_spec p r) as [H|H].
  - rewrite (sum_pick _ (fun w => f w * X (r - w)%nat c) (r - p)) by lia.
    replace (r - (r - p))%nat with p by lia.
    rewrite Hp by auto. f_equal. apply sum_ext. intros w Hw.
    destruct (Nat.eqb_spec w (r - p)), (Nat.eqb_spec (r - w) p); try lia; lra.
  - rewrite Rmult_0_l, Rplus_0_l. apply sum_ext. intros w Hw.
    now rewrite (proj2 (Nat.eqb_neq (r - w) p)) by lia.
Qed.

(* A filter whose landmarks have the energy at most Q and for which the copy's block leads by gamma. *)
Theorem landmarks_find_the_copy {Omega : Type} (P : (Omega -> Prop) -> R) (N : R)
  (X : Omega -> nat -> nat -> R) (q f : nat -> R)
  (d B n p : nat) (sigma Q gamma t : R) :
  outer_probability P -> half_mass N -> (1 <= d)%nat -> (p / B < n)%nat -> 0 < sigma -> 0 < t -> 0 < Q ->
  0 < gamma ->
  norm d q = 1 -> (forall w c, (c < d)%nat -> X w p c = q c) ->
  (forall b, (b < n)%nat -> normal P N (fun w => landmark_noise d B f (X w) q p b)
    (sigma * sqrt (noise_energy B f p b / INR d))) ->
  (forall b, (b < n)%nat -> noise_energy B f p b <= Q) ->
  (forall b, (b < n)%nat -> b <> (p / B)%nat -> copy_signal B f p b + gamma <= copy_signal B f p (p / B)) ->
  2 * sigma ^ 2 * Q * (sqrt (ln (INR n)) + t) ^ 2 <= INR d * gamma ^ 2 ->
  P (fun w => chosen_block d B n f (X w) q <> (p / B)%nat) <= exp (- (t * t) / 4).
Proof.
  intros HP HN Hd Hn Hsig Ht HQ Hg Hq Hp Hz HE Hlead Hdim. pose proof HP as (Z & M & U).
  assert (d0 : 0 < INR d) by (apply lt_0_INR; lia). set (s := sigma * sqrt (Q / INR d)).
  assert (q0 : 0 < Q / INR d) by now apply Rdiv_lt_0_compat.
  assert (s0 : 0 < s) by (apply Rmult_lt_0_compat; auto; now apply sqrt_lt_R0).
  eapply Rle_trans; [|apply (noise_seldom_wins P N (fun b w => landmark_noise d B f (X w) q p b) n (p / B) s
    gamma t); auto].
  - apply M. intros w Hw. apply NNPP. intros No. apply Hw. apply argmax_is; auto. intros b Hb Hbn.
    rewrite !(score_is_signal_and_noise d B f (X w) q p) by auto. pose proof (Hlead b Hb Hbn).
    apply Rnot_le_lt. intros Hle. apply No. exists b. repeat split; auto. lra.
  - intros b Hb. exists (sigma * sqrt (noise_energy B f p b / INR d)). split; [|auto]. split.
    + apply Rmult_le_pos; [lra|apply sqrt_pos].
    + apply Rmult_le_compat_l; [lra|]. apply sqrt_le_1_alt.
      apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|auto].
  - set (l := sqrt (ln (INR n)) + t) in *.
    assert (l0 : 0 < l) by (unfold l; pose proof (sqrt_pos (ln (INR n))); lra).
    assert (h0 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
    apply Rsqr_incr_0_var; [|lra]. unfold Rsqr.
    replace (sqrt 2 * s * l * (sqrt 2 * s * l)) with
      ((sqrt 2 * sqrt 2) * (sigma ^ 2 * (sqrt (Q / INR d) * sqrt (Q / INR d))) * l ^ 2)
      by (unfold s; ring). rewrite !sqrt_sqrt by lra.
    apply Rmult_le_reg_r with (INR d); auto.
    replace (2 * (sigma ^ 2 * (Q / INR d)) * l ^ 2 * INR d) with (2 * sigma ^ 2 * Q * l ^ 2) by (field; lra).
    lra.
Qed.

(* There is such an N, so that the premises speak of something: the bell lies under e^{1/2 - x}. *)
Theorem half_mass_exists : exists N, half_mass N.
Proof.
  destruct (completeness (fun y => exists b, 0 <= b /\ y = RInt bell 0 b)) as [N HN].
  - exists (exp (/ 2)). intros y (b & Hb & ->).
    assert (I : is_RInt (fun x => exp (/ 2 - x)) 0 b (minus (- exp (/ 2 - b)) (- exp (/ 2 - 0)))).
    { apply (is_RInt_derive (fun x => - exp (/ 2 - x)) (fun x => exp (/ 2 - x))).
      - intros x _. auto_derive; [auto|]. unfold Rminus. ring.
      - intros x _. apply (ex_derive_continuous (fun x => exp (/ 2 - x))). auto_derive. auto. }
    apply Rle_trans with (RInt (fun x => exp (/ 2 - x)) 0 b).
    + apply RInt_le; [lra|apply bell_integrable|eexists; exact I|]. intros x _. unfold bell.
      destruct (Rle_lt_or_eq_dec (- (x * x) / 2) (/ 2 - x)) as [L|E];
        [pose proof (Rle_0_sqr (x - 1)); unfold Rsqr in *; lra| |].
      * left. now apply exp_increasing.
      * rewrite E. lra.
    + rewrite (is_RInt_unique _ _ _ _ I). unfold minus, plus, opp; simpl. rewrite Rminus_0_r.
      pose proof (exp_pos (/ 2 - b)). lra.
  - exists (RInt bell 0 0), 0. split; [lra|auto].
  - exists N. exact HN.
Qed.

(* ---- Proposition 1 (A): the sum of a block ------------------------------------------------------------- *)
Lemma block_of p B : (1 <= B)%nat -> (p / B * B <= p < p / B * B + B)%nat.
Proof. intros H. pose proof (Nat.div_mod p B ltac:(lia)). pose proof (Nat.mod_upper_bound p B ltac:(lia)).
lia. Qed.

Lemma box_energy B p b : (1 <= B)%nat -> noise_energy B (box B) p b <= INR B.
Proof.
  intros HB. unfold noise_energy.
  replace (S (landmark_row B b)) with (B + b * B)%nat by (unfold landmark_row; lia).
  rewrite sum_app. rewrite (sum_0 (b * B)).
  - rewrite Rplus_0_r. apply Rle_trans with (sum B (fun _ => 1)); [|rewrite sum_const; lra]. apply sum_le.
    intros i Hi.
    unfold box. rewrite (proj2 (Nat.ltb_lt i B)) by auto. destruct (Nat.eqb _ _); lra.
  - intros i Hi. unfold box. rewrite (proj2 (Nat.ltb_ge (B + i) B)) by lia. destruct (Nat.eqb _ _); lra.
Qed.

Lemma box_signal B p b : (1 <= B)%nat -> copy_signal B (box B) p b = if Nat.eqb b (p / B) then 1 else 0.
Proof.
  intros HB. pose proof (block_of p B HB). unfold copy_signal, landmark_row, box.
  destruct (Nat.eqb_spec b (p / B)) as [->|Hn].
  - rewrite leb_correct by lia. now rewrite (proj2 (Nat.ltb_lt _ B)) by lia.
  - destruct (Nat.leb_spec p (b * B + (B - 1))) as [L|L]; auto. rewrite (proj2 (Nat.ltb_ge _ B)); auto.
    assert (Hb : (S (p / B) <= b)%nat).
    { destruct (Nat.le_gt_cases (S (p / B)) b) as [|C]; auto. exfalso.
      assert (H1 : (S b <= p / B)%nat) by lia.
      apply (Nat.mul_le_mono_r _ _ B) in H1. lia. }
    apply (Nat.mul_le_mono_r _ _ B) in Hb. lia.
Qed.

Theorem cat_prop1 {Omega : Type} (P : (Omega -> Prop) -> R) (N : R) (X : Omega -> nat -> nat -> R)
  (q : nat -> R)
  (d B n p : nat) (sigma t : R) :
  outer_probability P -> half_mass N -> (1 <= d)%nat -> (1 <= B)%nat -> (p / B < n)%nat -> 0 < sigma ->
  0 < t ->
  norm d q = 1 -> (forall w c, (c < d)%nat -> X w p c = q c) ->
  (forall b, (b < n)%nat ->
    normal P N (fun w => landmark_noise d B (box B) (X w) q p b)
      (sigma * sqrt (noise_energy B (box B) p b / INR d))) ->
  2 * sigma ^ 2 * INR B * (sqrt (ln (INR n)) + t) ^ 2 <= INR d ->
  P (fun w => chosen_block d B n (box B) (X w) q <> (p / B)%nat) <= exp (- (t * t) / 4).
Proof.
  intros HP HN Hd HB Hn Hs Ht Hq Hp Hz Hdim.
  apply (landmarks_find_the_copy P N X q (box B) d B n p sigma (INR B) 1); auto; try lra.
  - apply lt_0_INR. lia.
  - intros b _. now apply box_energy.
  - intros b _ Hb. rewrite !box_signal by auto. rewrite Nat.eqb_refl, (proj2 (Nat.eqb_neq b (p / B))) by auto.
    lra.
Qed.

(* ---- Proposition 2: e^{-i/B} over the whole past ------------------------------------------------------- *)
Lemma exp_pow x n : exp x ^ n = exp (INR n * x).
Proof.
  induction n as [|n IH]; [simpl; now rewrite Rmult_0_l, exp_0|]. rewrite S_INR. cbn [pow].
  rewrite IH, <- exp_plus. f_equal. lra.
Qed.

Lemma geometric r n : 0 <= r -> sum n (fun i => r ^ i) * (1 - r) <= 1.
Proof.
  intros H. assert (E : sum n (fun i => r ^ i) * (1 - r) = 1 - r ^ n).
  { induction n as [|n IH]; cbn [sum pow]; [lra|]. rewrite Rmult_plus_distr_r, IH. lra. }
  rewrite E. pose proof (pow_le r n H). lra.
Qed.

Lemma smooth_range B : (1 <= B)%nat -> 0 <= exp (- / INR B) <= 1.
Proof.
  intros H. assert (0 < / INR B) by (apply Rinv_0_lt_compat, lt_0_INR; lia). pose proof (exp_pos (- / INR B)).
  pose proof (exp_increasing (- / INR B) 0 ltac:(lra)) as I. rewrite exp_0 in I. lra.
Qed.

Lemma smooth_energy B p b : (2 <= B)%nat -> noise_energy B (smooth B) p b <= INR B.
Proof.
  intros HB. assert (B2 : 2 <= INR B) by (apply le_INR in HB; simpl in HB; lra).
  set (r := exp (- / INR B) * exp (- / INR B)).
  assert (r0 : 0 <= r) by (unfold r; pose proof (exp_pos (- / INR B)); nra).
  assert (r1 : / INR B <= 1 - r).
  { assert (E : r = / exp (2 * / INR B)) by (unfold r; rewrite <- exp_plus, <- exp_Ropp; f_equal; lra).
    pose proof (exp_ineq1_le (2 * / INR B)) as G. assert (i0 : 0 < / INR B) by (apply Rinv_0_lt_compat; lra).
    assert (i2 : / INR B <= / 2) by (apply Rinv_le_contravar; lra).
    assert (r <= / (1 + 2 * / INR B)) by (rewrite E; apply Rinv_le_contravar; lra).
    assert (/ (1 + 2 * / INR B) <= 1 - / INR B); [|lra].
    apply Rmult_le_reg_l with (1 + 2 * / INR B); [lra|]. rewrite Rinv_r by lra. nra. }
  unfold noise_energy. set (m := S (landmark_row B b)).
  apply Rle_trans with (sum m (fun i => r ^ i)).
  - apply sum_le. intros i _. pose proof (pow_le r i r0). destruct (Nat.eqb _ _); [lra|]. unfold smooth, r.
    rewrite Rpow_mult_distr. lra.
  - pose proof (geometric r m r0).
    assert (0 <= sum m (fun i => r ^ i)) by (apply sum_nonneg; intros; now apply pow_le).
    assert (sum m (fun i => r ^ i) * / INR B <= 1) by nra.
    apply Rmult_le_reg_r with (/ INR B); [apply Rinv_0_lt_compat; lra|]. rewrite Rinv_r; lra.
Qed.

Lemma smooth_lead B p b : (1 <= B)%nat -> b <> (p / B)%nat ->
  copy_signal B (smooth B) p b + 1 / 5 <= copy_signal B (smooth B) p (p / B).
Proof.
  intros HB Hn. pose proof (block_of p B HB) as Hp. pose proof (smooth_range B HB) as Hr.
  unfold copy_signal, landmark_row.
  rewrite (leb_correct p (p / B * B + (B - 1))) by lia. set (age := (p / B * B + (B - 1) - p)%nat).
  assert (whole : exp (- / INR B) ^ B = exp (-1)).
  { rewrite exp_pow. f_equal. field. apply not_0_INR. lia. }
  assert (e1 : / 3 <= exp (-1) <= / 2).
  { replace (-1) with (- (1)) by lra. rewrite exp_Ropp. pose proof exp_le_3.
    pose proof (exp_ineq1 1 ltac:(lra)).
    split; apply Rinv_le_contravar; lra. }
  assert (low : exp (-1) <= smooth B age) by (rewrite <- whole; apply pow_falls; [auto|unfold age; lia]).
  destruct (Nat.leb_spec p (b * B + (B - 1))) as [L|L]; [|lra].
  assert (Hb : (S (p / B) <= b)%nat).
  { destruct (Nat.le_gt_cases (S (p / B)) b) as [|C]; auto. exfalso. assert (H1 : (S b <= p / B)%nat) by lia.
    apply (Nat.mul_le_mono_r _ _ B) in H1. lia. }
  apply (Nat.mul_le_mono_r _ _ B) in Hb.
  assert (later : smooth B (b * B + (B - 1) - p) <= smooth B age * exp (-1)).
  { rewrite <- whole. unfold smooth. rewrite <- pow_add. apply pow_falls; [auto|unfold age; lia]. }
  nra.
Qed.

Theorem cat_prop2 {Omega : Type} (P : (Omega -> Prop) -> R) (N : R) (X : Omega -> nat -> nat -> R)
  (q : nat -> R)
  (d B n p : nat) (sigma t : R) :
  outer_probability P -> half_mass N -> (1 <= d)%nat -> (2 <= B)%nat -> (p / B < n)%nat -> 0 < sigma ->
  0 < t ->
  norm d q = 1 -> (forall w c, (c < d)%nat -> X w p c = q c) ->
  (forall b, (b < n)%nat ->
    normal P N (fun w => landmark_noise d B (smooth B) (X w) q p b)
      (sigma * sqrt (noise_energy B (smooth B) p b / INR d))) ->
  50 * sigma ^ 2 * INR B * (sqrt (ln (INR n)) + t) ^ 2 <= INR d ->
  P (fun w => chosen_block d B n (smooth B) (X w) q <> (p / B)%nat) <= exp (- (t * t) / 4).
Proof.
  intros HP HN Hd HB Hn Hs Ht Hq Hp Hz Hdim.
  apply (landmarks_find_the_copy P N X q (smooth B) d B n p sigma (INR B) (1 / 5)); auto; try lra.
  - apply lt_0_INR. lia.
  - intros b _. now apply smooth_energy.
  - intros b _ Hb. apply smooth_lead; [lia|auto].
Qed.
