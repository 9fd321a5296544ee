(* MaskTimesZero.v: the causal mask of a tile may multiply finite values by zero.

   The product of the weights with V goes by tiles of rows; past a row's diagonal the weights are 0, and the
   tile multiplies what stands there, later rows of the same sequence, by 0 instead of skipping it. For IEEE
   754 numbers of any format (binary32 among them), rounded to nearest even:
   - with every product and sum rounded, for finite values the accumulator keeps its bits, signed zero
     included, since it starts at +0 and is never -0; also where a row is summed in blocks (tile.h), whole
     blocks of zeros among them;
   - the same where a weight is -0, as the gradients' are (0 times a negative number), fused or not;
   - with product and sum fused (fast mode) it keeps them too, unless it is -0, which then may become
     +0: a fused sum can be -0, where a negative product is too small for the format (an instance);
   - a value that is infinite or NaN makes it NaN, fused or not: finite is needed, and such a value shows.
   Kernels: attention_rows.h (triangle_times), linattn.c, state.c (rows of a block), tile.h. Tested on floats
   in test_causality.c, test_attention.c. *)

From Coq Require Import Reals ZArith List Lra Bool.
From Flocq Require Import Core BinarySingleNaN Plus_error.
Import ListNotations.

Section MaskTimesZero.
Context (prec emax : Z) {prec_gt_0 : Prec_gt_0 prec} {prec_lt_emax : Prec_lt_emax prec emax}.
Definition float := binary_float prec emax.
Definition zero : float := B754_zero false.       (* +0 *)
Definition minus_zero : float := B754_zero true.  (* -0 *)
Definition add : float -> float -> float := Bplus mode_NE.
Definition multiply : float -> float -> float := Bmult mode_NE.
Definition fused : float -> float -> float -> float := Bfma mode_NE. (* a b + c, rounded once *)

(* acc + 0 v_1 + 0 v_2 + ..., in order. *)
Definition tail (acc : float) (vs : list float) : float :=
  fold_left (fun a v => add a (multiply zero v)) vs acc.
Definition fused_tail (acc : float) (vs : list float) : float := fold_left (fun a v => fused zero v a) vs acc.

Lemma zero_times_finite v : is_finite v = true -> exists s, multiply zero v = B754_zero s.
Proof. destruct v; simpl; intros F; try discriminate; eexists; reflexivity. Qed.

Lemma add_zero a s : a <> minus_zero -> add a (B754_zero s) = a.
Proof. destruct a as [[] | | |], s; simpl; intros N; try easy; now destruct N. Qed.

(* The accumulator's bits do not move, whatever it is (an infinity or NaN too) except -0. *)
Theorem tail_keeps_the_bits : forall vs acc,
  acc <> minus_zero -> (forall v, In v vs -> is_finite v = true) -> tail acc vs = acc.
Proof.
  unfold tail. induction vs as [| v vs IH]; intros acc N F; cbn [fold_left]; [easy |].
  destruct (zero_times_finite v) as [s ->]; [apply F; now left |].
  rewrite add_zero by easy. apply IH; [easy | intros; apply F; now right].
Qed.

Theorem fused_tail_keeps_the_bits : forall vs acc,
  acc <> minus_zero -> (forall v, In v vs -> is_finite v = true) -> fused_tail acc vs = acc.
Proof.
  unfold fused_tail. induction vs as [| v vs IH]; intros acc N F; cbn [fold_left]; [easy |].
  assert (E : fused zero v acc = acc).
  { specialize (F v (or_introl eq_refl)).
    unfold fused. destruct v as [[] | | | []], acc as [[] | | |]; simpl in F |- *; unfold Bfma_szero;
      try easy; now destruct N. }
  rewrite E. apply IH; [easy | intros; apply F; now right].
Qed.

(* Weights of either sign: +0 (false) or -0 (true). *)
Theorem signed_zeros_keep_the_bits : forall (past : list (bool * float)) acc,
  acc <> minus_zero -> (forall s v, In (s, v) past -> is_finite v = true) ->
  fold_left (fun a p => add a (multiply (B754_zero (fst p)) (snd p))) past acc = acc /\
  fold_left (fun a p => fused (B754_zero (fst p)) (snd p) a) past acc = acc.
Proof.
  induction past as [| [s v] past IH]; intros acc N F; cbn [fold_left fst snd]; [easy |].
  assert (Fv : is_finite v = true) by (apply (F s); now left).
  assert (E : add acc (multiply (B754_zero s) v) = acc).
  { assert (Z : exists s', multiply (B754_zero s) v = B754_zero s')
      by (destruct v; simpl in *; try discriminate; eexists; reflexivity).
    destruct Z as [s' ->]. now apply add_zero. }
  assert (D : fused (B754_zero s) v acc = acc).
  { unfold fused. destruct s, v as [[] | | | []], acc as [[] | | |]; simpl in Fv |- *; unfold Bfma_szero;
      try easy; now destruct N. }
  rewrite E, D. apply IH; [easy |]. intros s' v' H. apply (F s'). now right.
Qed.

(* Fused, -0 may become +0, and nothing else. *)
Theorem fused_tail_keeps_the_value : forall vs acc,
  (forall v, In v vs -> is_finite v = true) ->
  fused_tail acc vs = acc \/ (acc = minus_zero /\ fused_tail acc vs = zero).
Proof.
  induction vs as [| v vs IH]; intros acc F; [now left |].
  assert (D : acc = minus_zero \/ acc <> minus_zero) by (destruct acc as [[] | | |]; auto; now right).
  destruct D as [-> | N]; [| left; now apply fused_tail_keeps_the_bits].
  assert (E : fused zero v minus_zero = minus_zero \/ fused zero v minus_zero = zero).
  { specialize (F v (or_introl eq_refl)).
    destruct v as [[] | | | []]; simpl in F; try discriminate; (now left) || now right. }
  unfold fused_tail in *. cbn [fold_left]. destruct E as [-> | ->].
  - apply IH. intros. apply F. now right.
  - right. split; [easy |]. apply (fused_tail_keeps_the_bits vs zero); [discriminate |].
    intros. apply F. now right.
Qed.

Lemma negative (x : float) : is_finite x = true -> Bsign x = true -> (B2R x < 0)%R \/ x = minus_zero.
Proof.
  destruct x as [[] | | | [] m e H]; simpl; intros; try discriminate; [now right |].
  left. now apply F2R_lt_0.
Qed.

(* -0 does not arise in a sum that does not start with it. *)
Theorem sums_are_not_minus_zero : forall a b, a <> minus_zero -> add a b <> minus_zero.
Proof.
  intros a b N E. destruct (is_finite a) eqn:Fa, (is_finite b) eqn:Fb.
  - pose proof (Bplus_correct prec emax _ _ mode_NE a b Fa Fb) as C. fold (add a b) in C. rewrite E in C.
    destruct Rlt_bool.
    + destruct C as (Z & _ & Sign). simpl B2R in Z. simpl Bsign in Sign.
      assert (S0 : (B2R a + B2R b = 0)%R).
      { destruct (Req_dec (B2R a + B2R b) 0) as [| D]; [easy |]. exfalso.
        apply (round_plus_neq_0 radix2 (SpecFloat.fexp prec emax) ZnearestE (B2R a) (B2R b)); try easy;
          apply generic_format_B2R. }
      rewrite Rcompare_Eq in Sign by easy. symmetry in Sign. apply andb_prop in Sign.
      destruct Sign as [Sa Sb].
      pose proof (negative a Fa Sa) as A. pose proof (negative b Fb Sb) as B. destruct A as [A |]; [| easy].
      destruct B as [B | ->]; [lra |]. simpl in S0. lra.
    + destruct C as [C _]. simpl in C. discriminate.
  - destruct a as [| | |], b as [| | |]; simpl in *; try discriminate.
  - destruct a as [| [] | |], b as [| [] | |]; simpl in *; try discriminate.
  - destruct a as [| [] | |], b as [| [] | |]; simpl in *; try discriminate.
Qed.

(* So a row that starts at +0 and sums any products has the same bits with the tail as without. *)
Theorem masked_row_keeps_the_bits : forall products vs,
  (forall v, In v vs -> is_finite v = true) ->
  tail (fold_left add products zero) vs = fold_left add products zero.
Proof.
  intros products vs F. apply tail_keeps_the_bits; [| easy].
  assert (G : forall acc, acc <> minus_zero -> fold_left add products acc <> minus_zero).
  { induction products as [| p ps IH]; simpl; intros acc N; [easy |].
    apply IH. now apply sums_are_not_minus_zero. }
  apply G. discriminate.
Qed.

(* The same in blocks of a row's products, each summed from +0 with a tail of its own (a block past the
   diagonal has nothing else), then added to what the blocks before it gave. *)
Definition blocks (sums : list float) (acc : float) : float := fold_left add sums acc.
Theorem masked_blocks_keep_the_bits : forall (rows : list (list float * list float)) past acc,
  acc <> minus_zero -> (forall b v, In b rows -> In v (snd b) -> is_finite v = true) ->
  (forall vs v, In vs past -> In v vs -> is_finite v = true) ->
  blocks (map (fun b => tail (fold_left add (fst b) zero) (snd b)) rows ++ map (tail zero) past) acc =
  blocks (map (fun b => fold_left add (fst b) zero) rows) acc.
Proof.
  unfold blocks. induction rows as [| b rows IH]; intros past acc N F G; cbn [map app fold_left].
  - induction past as [| vs past IH]; [easy |]. cbn [map fold_left].
    rewrite (tail_keeps_the_bits vs zero) by (try discriminate; intros; now apply (G vs); [left |]).
    change (add acc zero) with (add acc (B754_zero false)). rewrite add_zero by easy. apply IH.
    intros ws v Hw. apply G. now right.
  - rewrite masked_row_keeps_the_bits by (intros v; apply F; now left). apply IH; [| | easy].
    + now apply sums_are_not_minus_zero.
    + intros c v Hc. apply F. now right.
Qed.

(* Finite is needed. *)
Theorem not_finite_shows : forall acc v, is_finite v = false ->
  add acc (multiply zero v) = B754_nan /\ fused zero v acc = B754_nan.
Proof. intros acc v F. destruct v, acc; simpl in *; easy. Qed.
End MaskTimesZero.

(* The same of float, by name: 24 bits, exponents below 128. *)
Definition binary32 := binary_float 24 128.
Definition p24 : Prec_gt_0 24 := eq_refl.
Definition e128 : Prec_lt_emax 24 128 := eq_refl.

Theorem binary32_masked_row : forall products vs : list binary32,
  (forall v, In v vs -> is_finite v = true) ->
  @tail 24 128 p24 e128 (fold_left (@add 24 128 p24 e128) products (@zero 24 128)) vs =
  fold_left (@add 24 128 p24 e128) products (@zero 24 128).
Proof. apply masked_row_keeps_the_bits. Qed.

(* A fused row that begins at +0 and is -0, since 2^-149 (-2^-149) rounds to -0; a tail of one value 1 makes
   it +0. *)
Definition least (sign : bool) : binary32 := @B754_finite 24 128 sign 1 (-149) eq_refl.
Theorem a_fused_row_can_be_minus_zero :
  let acc := @fused 24 128 p24 e128 (least false) (least true) (@zero 24 128) in
  acc = @minus_zero 24 128 /\
  @fused_tail 24 128 p24 e128 acc [@Bone 24 128 p24 e128] = @zero 24 128.
Proof. split; reflexivity. Qed.
