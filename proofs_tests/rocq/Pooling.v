(* Pooling.v: [LaS] Eq. 4, the smooth operator: average pooling of an attention map over its columns is a
   filter on the values, AP(A) V = A (T V), for every map, length, window, divisor and padding
   (pooling_is_a_filter_on_the_values); with zero padding and the divisor P, T is the same P taps of 1/P at
   every row, for the centred and the trailing window and any other (pooling_is_a_box_filter), so S-attention
   is attention on filtered values (smooth_attention, causal_smooth_attention). Erratum 1: a causal map that a
   centred window pools gives every row but the last weight on the value after it (a_centred_window_leaks), a
   trailing window none (a_trailing_window_does_not_leak). A map that is pooled and then cut at the diagonal
   (pool=masked) has its own form, a window that ends at the query (a_cut_map_has_its_own_form), which no
   fixed map of the values gives, linear or not (a_cut_map_is_no_fixed_filter). attention.c computes it in two
   parts, the columns whose window has ended and the others (the_kernel_pools_and_cuts,
   the_kernel_computes_the_cut_map).
   proof_las_smooth.c tests the same on floats; its con_conv with `future` columns ahead is box_filter here.
   *)
From Coq Require Import Reals Lra Lia Arith.
From Seqmix Require Import Attention.
Open Scope R_scope.

(* ---- Pooling in general -------------------------------------------------------------------------------- *)
(* Column j of the pooled row collects P entries of the row a: entry r is column `at_ j r` of it with the
   weight w j r (one over the divisor there), or padding that counts 0 (None). Padding that repeats or mirrors
   columns is `at_` as well. *)
Definition pooled (P : nat) (at_ : nat -> nat -> option nat) (w : nat -> nat -> R) (a : nat -> R)
  (j : nat) : R :=
  sum P (fun r => match at_ j r with Some s => w j r * a s | None => 0 end).
(* Row s of T V: the values of the columns that entry s of the map was pooled into. *)
Definition values_filtered (n P : nat) (at_ : nat -> nat -> option nat) (w : nat -> nat -> R) (v : nat -> R)
  (s : nat) : R :=
  sum n (fun j => sum P (fun r => match at_ j r with Some c => if Nat.eqb c s then w j r * v j
    else 0 | None => 0 end)).

Theorem pooling_is_a_filter_on_the_values (n P : nat) at_ w (a v : nat -> R) :
  (forall j r s, (j < n)%nat -> (r < P)%nat -> at_ j r = Some s -> (s < n)%nat) ->
  sum n (fun j => pooled P at_ w a j * v j) = sum n (fun s => a s * values_filtered n P at_ w v s).
Proof.
  intros H. unfold values_filtered.
  rewrite (sum_ext n (fun s => a s * _) (fun s => sum n (fun j => a s * sum P (fun r => match at_ j r with
    Some c => if Nat.eqb c s then w j r * v j else 0 | None => 0 end)))) by (intros; now rewrite sum_scal).
  rewrite sum_swap. apply sum_ext. intros j Hj. unfold pooled. rewrite <- sum_scal_r.
  rewrite (sum_ext n _ (fun s => sum P (fun r => a s * match at_ j r with
    Some c => if Nat.eqb c s then w j r * v j else 0 | None => 0 end))) by (intros; now rewrite sum_scal).
  rewrite sum_swap. apply sum_ext. intros r Hr. destruct (at_ j r) as [c|] eqn:E.
  - rewrite (sum_only n _ c).
    + rewrite Nat.eqb_refl. lra.
    + eapply H; eauto.
    + intros s _ Hs. rewrite (proj2 (Nat.eqb_neq c s)) by auto. lra.
  - rewrite sum_0; [lra|]. intros. lra.
Qed.

(* ---- The window of the paper: P columns, zero padding, divisor P --------------------------------------- *)
(* Column j collects the columns j - ahead .. j - ahead + P - 1 of a row of n: centred for P = 2 ahead + 1,
   trailing for ahead = 0. *)
Definition average_pool (n P ahead : nat) (a : nat -> R) (j : nat) : R :=
  sum P (fun r => if andb (Nat.leb ahead (j + r)) (Nat.ltb (j + r - ahead) n) then a (j + r - ahead)%nat
    else 0) / INR P.
(* (T V)_s = (1/P) (v_{s+ahead} + .. + v_{s+ahead-P+1}), rows outside 0 .. n-1 counting 0 *)
Definition box_filter (n P ahead : nat) (v : nat -> R) (s : nat) : R :=
  sum P (fun r => if andb (Nat.leb r (s + ahead)) (Nat.ltb (s + ahead - r) n) then v (s + ahead - r)%nat
    else 0) / INR P.

Theorem pooling_is_a_box_filter (n P ahead : nat) (a v : nat -> R) :
  sum n (fun j => average_pool n P ahead a j * v j) = sum n (fun s => a s * box_filter n P ahead v s).
Proof.
  set (at_ := fun j r => if andb (Nat.leb ahead (j + r)) (Nat.ltb (j + r - ahead) n) then Some (j
    + r - ahead)%nat else None).
  set (w := fun _ _ : nat => / INR P).
  transitivity (sum n (fun j => pooled P at_ w a j * v j)).
  - apply sum_ext. intros j _. f_equal. unfold average_pool, pooled, Rdiv. rewrite <- sum_scal_r.
    apply sum_ext. intros r _.
    unfold at_, w. destruct (andb _ _); lra.
  - rewrite pooling_is_a_filter_on_the_values.
    + apply sum_ext. intros s Hs. f_equal. unfold values_filtered, box_filter, Rdiv.
      rewrite sum_swap, <- sum_scal_r.
      apply sum_ext. intros r Hr. destruct (andb (Nat.leb r (s + ahead)) (Nat.ltb (s + ahead - r) n)) eqn:E.
      * apply andb_prop in E. destruct E as [E1 E2]. apply Nat.leb_le in E1. apply Nat.ltb_lt in E2.
        rewrite (sum_only n _ (s + ahead - r)%nat); auto.
        -- unfold at_, w. rewrite (leb_correct ahead) by lia. rewrite (proj2 (Nat.ltb_lt _ n)) by lia.
        cbn [andb].
           rewrite (proj2 (Nat.eqb_eq _ s)) by lia. lra.
        -- intros j Hj Hn. unfold at_.
        destruct (andb (Nat.leb ahead (j + r)) (Nat.ltb (j + r - ahead) n)) eqn:F; auto.
           apply andb_prop in F. destruct F as [F1 _]. apply Nat.leb_le in F1.
           rewrite (proj2 (Nat.eqb_neq _ s)) by lia. lra.
      * rewrite Rmult_0_l. apply sum_0. intros j Hj. unfold at_.
        destruct (andb (Nat.leb ahead (j + r)) (Nat.ltb (j + r - ahead) n)) eqn:F; auto.
        apply andb_prop in F. destruct F as [F1 F2]. apply Nat.leb_le in F1. apply Nat.ltb_lt in F2.
        apply Bool.andb_false_iff in E. rewrite (proj2 (Nat.eqb_neq _ s)); [auto|].
        destruct E as [E|E]; [apply Nat.leb_gt in E|apply Nat.ltb_ge in E]; lia.
    + intros j r s Hj Hr. unfold at_. destruct (andb _ _) eqn:E; [|discriminate]. intros [= <-].
      apply andb_prop in E. destruct E as [_ E]. now apply Nat.ltb_lt in E.
Qed.

(* For a row of softmax attention over n keys: smoothing costs P additions a value, never a second map. *)
Theorem smooth_attention (n P ahead : nat) (s v : nat -> R) :
  sum n (fun j => average_pool n P ahead (softmax n s) j * v j) = attention n s (box_filter n P ahead v).
Proof. rewrite attention_softmax. apply pooling_is_a_box_filter. Qed.

(* Row i of a causal map of L columns: softmax over the keys 0 .. i, 0 beyond. *)
Definition causal_row (i : nat) (s : nat -> R) (j : nat) : R := if Nat.leb j i then softmax (S i) s j else 0.

(* Pooled over all L columns: the filter is that of all L rows of values, one and the same at every row i. *)
Theorem causal_smooth_attention (L P ahead i : nat) (s v : nat -> R) :
  (i < L)%nat ->
  sum L (fun j => average_pool L P ahead (causal_row i s) j * v j)
  = attention (S i) s (box_filter L P ahead v).
Proof.
  intros Hi. rewrite pooling_is_a_box_filter, attention_softmax.
  replace L with (S i + (L - S i))%nat at 1 by lia. rewrite sum_app, (sum_0 (L - S i)), Rplus_0_r.
  - apply sum_ext. intros j Hj. unfold causal_row. now rewrite leb_correct by lia.
  - intros j _. unfold causal_row. rewrite leb_correct_conv by lia. lra.
Qed.

(* Erratum 1: what the pooled map has above the diagonal. *)
Theorem a_centred_window_leaks (L p i : nat) (s : nat -> R) :
  (S i < L)%nat -> (1 <= p)%nat -> 0 < average_pool L (2 * p + 1) p (causal_row i s) (S i).
Proof.
  intros Hi Hp. unfold average_pool. apply Rdiv_lt_0_compat; [|apply lt_0_INR; lia].
  assert (N : forall j, 0 <= causal_row i s j).
  { intros j. unfold causal_row. destruct (Nat.leb j i); [left; apply softmax_pos; lia|lra]. }
  set (f := fun r => _). apply Rlt_le_trans with (f (p - 1)%nat).
  - unfold f. rewrite leb_correct, (proj2 (Nat.ltb_lt _ _)) by lia. cbn [andb].
    replace (S i + (p - 1) - p)%nat with i by lia. unfold causal_row. rewrite leb_correct by lia.
    apply softmax_pos. lia.
  - apply (sum_term_le _ f); [lia|]. intros r _. unfold f. destruct (andb _ _); [apply N|lra].
Qed.

Theorem a_trailing_window_does_not_leak (L P i j : nat) (s : nat -> R) :
  (i < j)%nat -> average_pool L P 0 (causal_row i s) j = 0.
Proof.
  intros H. unfold average_pool. rewrite sum_0; [unfold Rdiv; ring|]. intros r _. unfold causal_row.
  rewrite (leb_correct_conv i (j + r - 0)) by lia. now destruct (andb _ _).
Qed.

(* ---- Pooled, then cut at the diagonal ------------------------------------------------------------------ *)
(* Its output once the map is pooled over all L columns and then cut to j <= i. *)
Definition cut (L P ahead i : nat) (s v : nat -> R) : R :=
  sum (S i) (fun j => average_pool L P ahead (causal_row i s) j * v j).

Theorem a_cut_map_has_its_own_form (L P ahead i : nat) (s v : nat -> R) :
  (i < L)%nat -> cut L P ahead i s v = attention (S i) s (box_filter (S i) P ahead v).
Proof.
  intros Hi. rewrite <- smooth_attention. apply sum_ext. intros j Hj. f_equal. unfold average_pool. f_equal.
  apply sum_ext. intros r _. unfold causal_row. destruct (Nat.leb ahead (j + r)); cbn [andb]; auto.
  destruct (Nat.ltb_spec (j + r - ahead) L), (Nat.ltb_spec (j + r - ahead) (S i)); try lia; auto.
  - now rewrite leb_correct by lia.
  - now rewrite leb_correct_conv by lia.
Qed.

Theorem a_cut_map_is_no_fixed_filter (L p : nat) :
  (2 <= L)%nat -> (1 <= p)%nat ->
  ~ exists T : (nat -> R) -> nat -> R,
      forall i s v, (i < L)%nat -> cut L (2 * p + 1) p i s v = attention (S i) s (T v).
Proof.
  intros HL Hp [T H]. set (v := one_hot 1). set (P := (2 * p + 1)%nat).
  assert (P0 : 0 < INR P) by (apply lt_0_INR; unfold P; lia).
  (* row 0 sees v_0 = 0 alone *)
  assert (box0 : box_filter 1 P p v 0 = 0).
  { unfold box_filter. rewrite sum_0; [unfold Rdiv; lra|]. intros r Hr.
    destruct (Nat.leb r (0 + p)) eqn:E; cbn [andb]; auto.
    destruct (Nat.ltb_spec (0 + p - r) 1); auto. unfold v, one_hot.
    now rewrite (proj2 (Nat.eqb_neq _ _)) by lia. }
  (* row 1 sees v_1 = 1 once from either key *)
  assert (box1 : forall j, (j < 2)%nat -> box_filter 2 P p v j = / INR P).
  { intros j Hj. unfold box_filter. rewrite (sum_only P _ (j + p - 1)); [| unfold P; lia |].
    - rewrite leb_correct by lia. replace (j + p - (j + p - 1))%nat with 1%nat by lia. unfold v, one_hot.
      simpl. lra.
    - intros r Hr Hn. destruct (Nat.leb r (j + p)) eqn:E; cbn [andb]; auto. apply Nat.leb_le in E.
      destruct (Nat.ltb_spec (j + p - r) 2); auto. unfold v, one_hot.
      now rewrite (proj2 (Nat.eqb_neq _ _)) by lia. }
  assert (T0 : T v 0%nat = 0).
  { pose proof (H 0%nat (fun _ => 0) v ltac:(lia)) as E. rewrite a_cut_map_has_its_own_form in E by lia.
    rewrite !attention_softmax in E. unfold softmax in E. cbn [sum] in E. fold P in E.
    rewrite box0, exp_0 in E. lra. }
  assert (R1 : forall s, softmax 2 s 1 * T v 1%nat = / INR P).
  { intros s. pose proof (H 1%nat s v ltac:(lia)) as E. rewrite a_cut_map_has_its_own_form in E by lia.
    rewrite !attention_softmax in E. pose proof (softmax_sum 2 s ltac:(lia)) as One. cbn [sum] in E, One.
    fold P in E.
    rewrite !box1, T0 in E by lia. rewrite <- (Rmult_1_l (/ INR P)), <- One. lra. }
  (* but how much of the attention v_1 has is free *)
  pose proof (R1 (fun _ => 0)) as A. pose proof (R1 INR) as B. unfold softmax in A, B. cbn [sum INR] in A, B.
  rewrite exp_0 in A, B. pose proof (exp_increasing 0 1 ltac:(lra)) as E1. rewrite exp_0 in E1.
  assert (T1 : T v 1%nat = 2 / INR P)
    by (apply Rmult_eq_reg_l with (1 / (0 + 1 + 1)); [rewrite A; field|]; lra).
  assert (2 * exp 1 = 1 + exp 1); [|lra].
  replace (2 * exp 1) with (exp 1 / (0 + 1 + exp 1) * T v 1%nat * (INR P * (0 + 1 + exp 1)))
    by (rewrite T1; field; lra).
  rewrite B. field. lra.
Qed.

(* ---- Cut at the diagonal, as attention.c computes it --------------------------------------------------- *)
(* Row i's weights p, P = 2 h + 1. Columns c <= i - h meet the mean of their whole window. The weights of the
   last h columns are summed first: u_r = (1/P) sum of p_c over the c > i - h with c <= r + h, and meets v_r. *)
Definition whole_window (h : nat) (v : nat -> R) (c : nat) : R :=
  sum (c + h + 1) (fun r => if Nat.leb c (r + h) then v r else 0) / INR (2 * h + 1).
Definition near_weight (i h : nat) (p : nat -> R) (r : nat) : R :=
  sum (S i) (fun c => if andb (Nat.ltb i (c + h)) (Nat.leb c (r + h)) then p c else 0) / INR (2 * h + 1).
Definition split_row (i h : nat) (p v : nat -> R) : R :=
  sum (S i) (fun c => if Nat.leb (c + h) i then p c * whole_window h v c else 0)
  + sum (S i) (fun r => near_weight i h p r * v r).

(* The window of column c, by its rows instead of by their distance. *)
Lemma box_by_rows (n h : nat) (v : nat -> R) (c : nat) :
  box_filter n (2 * h + 1) h v c
  = sum n (fun r => if andb (Nat.leb c (r + h)) (Nat.leb r (c + h)) then v r else 0) / INR (2 * h + 1).
Proof.
  unfold box_filter. f_equal.
  rewrite (sum_ext (2 * h + 1) _
    (fun r => sum n (fun j => if andb (Nat.leb r (c + h)) (Nat.eqb j (c + h - r)) then v j else 0))).
  - rewrite sum_swap. apply sum_ext. intros j Hj.
    destruct (andb (Nat.leb c (j + h)) (Nat.leb j (c + h))) eqn:E.
    + apply andb_prop in E. destruct E as [E1 E2]. apply Nat.leb_le in E1, E2.
      rewrite (sum_only _ _ (c + h - j)%nat); [| lia |].
      * rewrite leb_correct by lia. now rewrite (proj2 (Nat.eqb_eq _ _)) by lia.
      * intros r Hr N. destruct (Nat.leb_spec r (c + h)); cbn [andb]; auto.
        now rewrite (proj2 (Nat.eqb_neq _ _)) by lia.
    + apply sum_0. intros r Hr. destruct (Nat.leb_spec r (c + h)); cbn [andb]; auto.
      destruct (Nat.eqb_spec j (c + h - r)); auto. apply Bool.andb_false_iff in E.
      destruct E as [E | E]; apply Nat.leb_gt in E; lia.
  - intros r Hr. destruct (Nat.leb_spec r (c + h)); cbn [andb].
    + destruct (Nat.ltb_spec (c + h - r) n).
      * rewrite (sum_only n _ (c + h - r)%nat); [now rewrite Nat.eqb_refl | easy |].
        intros j _ N. now rewrite (proj2 (Nat.eqb_neq _ _)) by lia.
      * rewrite sum_0; auto. intros j Hj. now rewrite (proj2 (Nat.eqb_neq _ _)) by lia.
    + rewrite sum_0; auto.
Qed.

Theorem the_kernel_pools_and_cuts (i h : nat) (p v : nat -> R) :
  split_row i h p v = sum (S i) (fun c => p c * box_filter (S i) (2 * h + 1) h v c).
Proof.
  assert (P0 : INR (2 * h + 1) <> 0) by (apply not_0_INR; lia).
  unfold split_row. set (near := fun c r => andb (Nat.ltb i (c + h)) (Nat.leb c (r + h))).
  rewrite (sum_ext (S i) (fun r => near_weight i h p r * v r)
    (fun r => sum (S i) (fun c => if near c r then p c * (v r / INR (2 * h + 1)) else 0))).
  - rewrite sum_swap, <- sum_plus. apply sum_ext. intros c Hc. rewrite box_by_rows.
    destruct (Nat.leb_spec (c + h) i) as [F | F].
    + rewrite (sum_0 (S i)), Rplus_0_r.
      * f_equal. unfold whole_window. f_equal. replace (S i) with (c + h + 1 + (i - (c + h)))%nat by lia.
        rewrite (sum_app (c + h + 1) (i - (c + h))), (sum_0 (i - (c + h))), Rplus_0_r.
        -- apply sum_ext. intros r Hr. rewrite (leb_correct r (c + h)) by lia. now rewrite Bool.andb_true_r.
        -- intros r Hr. rewrite (leb_correct_conv (c + h) _) by lia. now rewrite Bool.andb_false_r.
      * intros r _. unfold near. destruct (Nat.ltb_spec i (c + h)); [lia | easy].
    + rewrite Rplus_0_l. unfold Rdiv. rewrite <- Rmult_assoc, <- sum_scal, <- sum_scal_r.
      apply sum_ext. intros r Hr. unfold near. rewrite (proj2 (Nat.ltb_lt i (c + h))) by lia. cbn [andb].
      rewrite (leb_correct r (c + h)) by lia. rewrite Bool.andb_true_r. destruct (Nat.leb c (r + h)); lra.
  - intros r _. unfold near_weight, Rdiv. rewrite <- sum_scal_r, <- sum_scal_r. apply sum_ext. intros c _.
    fold (near c r). destruct (near c r); lra.
Qed.

(* So for softmax weights it is the pooled map, cut. *)
Theorem the_kernel_computes_the_cut_map (L i h : nat) (s v : nat -> R) :
  (i < L)%nat -> split_row i h (softmax (S i) s) v = cut L (2 * h + 1) h i s v.
Proof.
  intros H. rewrite the_kernel_pools_and_cuts, a_cut_map_has_its_own_form by easy.
  symmetry. apply attention_softmax.
Qed.
