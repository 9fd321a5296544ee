(* SoftmaxStreaming.v: the attention kernel computes softmax attention.

   The kernel never forms the map. For a row of logits it takes the largest one off, sums the exponentials,
   multiplies the exponentials as they are with the rows of V, and only then multiplies by 1 / sum. A model
   that reads one row at a time keeps the keys and values it has read and computes the newest row from them.
   Under the causal mask a tile of the product reaches past the diagonal, where the weights are 0. Proved
   here, for every length, every input and every mask:
   - the result is softmax attention, whatever number is taken off the logits (the largest, for safety);
   - with the largest taken off, every exponential is at most 1 and their sum at least 1: nothing overflows;
   - reading in any pieces gives the rows of the full pass under the causal mask;
   - the online form, with a running maximum, sum and output, gives the same (our kernel does not use it);
   - weights of 0 past the diagonal change nothing. (That values must be finite there: MaskTimesZero.v.)
   Kernel: attention.c, attention_rows.h (softmax_row, triangle_times).
   Tested on floats in test_attention.c, test_vectors.c. *)

From Coq Require Import Reals Lra Lia List.
Import ListNotations.
Open Scope R_scope.

(* f 0 + ... + f (n-1) *)
Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => sum m f + f m end.

(* A logit is a number, or None: minus infinity, a masked entry. *)
Definition logit := option R.
Definition masked_exp (l : logit) : R := match l with Some x => exp x | None => 0 end.
Definition minus (l : logit) (c : R) : logit := option_map (fun x => x - c) l.

(* Softmax of a row of n logits, and the attention output: one column of P V. *)
Definition softmax (n : nat) (l : nat -> logit) (j : nat) : R :=
  masked_exp (l j) / sum n (fun i => masked_exp (l i)).
Definition attention (n : nat) (l : nat -> logit) (v : nat -> R) : R :=
  sum n (fun j => softmax n l j * v j).

(* What the kernel computes, c taken off the logits. *)
Definition kernel_sum (n : nat) (l : nat -> logit) (c : R) : R := sum n (fun j => masked_exp (minus (l j) c)).
Definition kernel_row (n : nat) (l : nat -> logit) (v : nat -> R) (c : R) : R :=
  sum n (fun j => masked_exp (minus (l j) c) * v j) * (1 / kernel_sum n l c).

(* ---- Sums ---- *)

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n; simpl; intros H; [easy | rewrite IHn, H; auto]. Qed.

Lemma sum_scale n f a : sum n (fun i => a * f i) = a * sum n f.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n; simpl; intros H; [lra |].
  assert (sum n f <= sum n g) by auto. specialize (H n). assert (f n <= g n) by auto. lra.
Qed.

Lemma sum_const n a : sum n (fun _ => a) = INR n * a.
Proof. induction n; [simpl; ring |]. rewrite S_INR. simpl. rewrite IHn. ring. Qed.

Lemma sum_at_least_term n f j : (forall i, 0 <= f i) -> (j < n)%nat -> f j <= sum n f.
Proof.
  intros P. induction n; simpl; intros H; [lia |].
  assert (0 <= sum n f) by (rewrite <- (Rmult_0_r (INR n)), <- sum_const; apply sum_le; auto).
  specialize (P n). destruct (Nat.eq_dec j n) as [-> |]; [lra |].
  assert (f j <= sum n f) by (apply IHn; lia). lra.
Qed.

Lemma sum_tail_zero n m f : (forall i, (n <= i)%nat -> f i = 0) -> sum (n + m) f = sum n f.
Proof.
  intros Z. induction m; [now rewrite Nat.add_0_r |].
  rewrite Nat.add_succ_r. simpl. rewrite IHm, Z by lia. ring.
Qed.

Lemma attention_ext n l l' v v' :
  (forall j, (j < n)%nat -> l j = l' j /\ v j = v' j) -> attention n l v = attention n l' v'.
Proof.
  intros H. unfold attention, softmax.
  rewrite (sum_ext n (fun i => masked_exp (l i)) (fun i => masked_exp (l' i)))
    by (intros i Hi; f_equal; now apply H).
  apply sum_ext. intros j Hj. destruct (H j Hj) as [-> ->]. easy.
Qed.

(* ---- Softmax after subtracting, normalised after the product with V ---- *)

Lemma masked_exp_minus l c : masked_exp (minus l c) = exp (- c) * masked_exp l.
Proof. destruct l; simpl; [rewrite <- exp_plus; f_equal; ring | ring]. Qed.

Lemma masked_exp_nonneg l : 0 <= masked_exp l.
Proof. destruct l; simpl; [left; apply exp_pos | lra]. Qed.

Lemma kernel_sum_scaled n l c : kernel_sum n l c = exp (- c) * sum n (fun i => masked_exp (l i)).
Proof. unfold kernel_sum. rewrite <- sum_scale. apply sum_ext. intros. apply masked_exp_minus. Qed.

(* Of a row in which at least one logit is a number. *)
Theorem kernel_row_is_attention : forall n l v c,
  (exists j x, (j < n)%nat /\ l j = Some x) ->
  kernel_row n l v c = attention n l v.
Proof.
  intros n l v c (j & x & Hj & Hl). unfold kernel_row, attention, softmax. rewrite kernel_sum_scaled.
  assert (0 < sum n (fun i => masked_exp (l i))).
  { apply Rlt_le_trans with (masked_exp (l j)); [rewrite Hl; apply exp_pos |].
    apply (sum_at_least_term n (fun i => masked_exp (l i))); [intros; apply masked_exp_nonneg | easy]. }
  set (Z := sum n (fun i => masked_exp (l i))) in *. pose proof (exp_pos (- c)).
  rewrite (sum_ext n _ (fun i => exp (- c) * (masked_exp (l i) * v i)))
    by (intros; rewrite masked_exp_minus; ring).
  rewrite (sum_ext n (fun i => masked_exp (l i) / Z * v i) (fun i => / Z * (masked_exp (l i) * v i)))
    by (intros; unfold Rdiv; ring).
  rewrite !sum_scale. field. lra.
Qed.

(* A row whose logits are all minus infinity: the kernel's exponentials are 0, and so is its row. *)
Theorem masked_row_is_zero : forall n l v c,
  (forall j, (j < n)%nat -> l j = None) -> kernel_row n l v c = 0.
Proof.
  intros n l v c H. unfold kernel_row.
  rewrite (sum_ext n _ (fun _ => 0)) by (intros j Hj; rewrite H by easy; simpl; ring).
  rewrite sum_const. ring.
Qed.

(* With the row's maximum taken off, no exponential exceeds 1, and 1 <= sum <= n. *)
Theorem safe_with_the_maximum : forall n l c j,
  (j < n)%nat -> l j = Some c -> (forall i x, (i < n)%nat -> l i = Some x -> x <= c) ->
  (forall i, (i < n)%nat -> 0 <= masked_exp (minus (l i) c) <= 1) /\ 1 <= kernel_sum n l c <= INR n.
Proof.
  intros n l c j Hj Hl Hmax.
  assert (B : forall i, (i < n)%nat -> 0 <= masked_exp (minus (l i) c) <= 1).
  { intros i Hi. split; [apply masked_exp_nonneg |]. destruct (l i) as [x |] eqn:E; simpl; [| lra].
    rewrite <- exp_0. specialize (Hmax i x Hi E). destruct (Req_dec (x - c) 0) as [-> |]; [lra |].
    left. apply exp_increasing. lra. }
  split; [easy |]. unfold kernel_sum. split.
  - replace 1 with (masked_exp (minus (l j) c)) by (rewrite Hl; simpl; rewrite Rminus_diag_eq, exp_0; auto).
    apply (sum_at_least_term n (fun i => masked_exp (minus (l i) c))); [| easy].
    intros; apply masked_exp_nonneg.
  - rewrite <- (Rmult_1_r (INR n)), <- sum_const. apply sum_le. intros i Hi. apply (B i Hi).
Qed.

(* ---- Weights of 0 past the diagonal ---- *)

(* A tile multiplies columns 0 .. e-1 where row i sees 0 .. i only and the weights between are 0. *)
Theorem tile_past_the_diagonal : forall i e w v,
  (i < e)%nat -> (forall j, (i < j)%nat -> w j = 0) ->
  sum e (fun j => w j * v j) = sum (S i) (fun j => w j * v j).
Proof.
  intros i e w v He Hw. replace e with (S i + (e - S i))%nat by lia.
  apply sum_tail_zero. intros j Hj. rewrite Hw by lia. ring.
Qed.

(* The causal mask: row i of the full pass over n rows is softmax over its first i + 1 logits. *)
Definition causal (i : nat) (s : nat -> R) (j : nat) : logit := if (j <=? i)%nat then Some (s j) else None.

Theorem causal_row : forall n i s v,
  (i < n)%nat -> attention n (causal i s) v = attention (S i) (fun j => Some (s j)) v.
Proof.
  intros n i s v Hi. unfold attention.
  assert (C : forall j, (j <= i)%nat -> causal i s j = Some (s j)).
  { intros j Hj. unfold causal. destruct (Nat.leb_spec j i); [easy | lia]. }
  assert (N : forall j, (i < j)%nat -> causal i s j = None).
  { intros j Hj. unfold causal. destruct (Nat.leb_spec j i); [lia | easy]. }
  assert (Z : sum n (fun j => masked_exp (causal i s j)) =
              sum (S i) (fun j => masked_exp (Some (s j)))).
  { replace n with (S i + (n - S i))%nat by lia. rewrite sum_tail_zero by (intros; rewrite N by lia; easy).
    apply sum_ext. intros. rewrite C by lia. easy. }
  rewrite (tile_past_the_diagonal i n (softmax n (causal i s)) v Hi)
    by (intros j Hj; unfold softmax; rewrite N by lia; simpl; unfold Rdiv; ring).
  apply sum_ext. intros j Hj. unfold softmax. rewrite Z, C by lia. easy.
Qed.

(* ---- Row by row with a state ---- *)

(* A row of the sequence: query, key and value, of d, d and any number of columns. *)
Record row := { q : nat -> R; k : nat -> R; v : nat -> R }.
Definition nothing : row := {| q := fun _ => 0; k := fun _ => 0; v := fun _ => 0 |}.
Definition score (d : nat) (scale : R) (a b : row) : R := scale * sum d (fun c => q a c * k b c).

(* Row i, column e of the full pass over a sequence xs. *)
Definition full_pass (d : nat) (scale : R) (xs : list row) (i e : nat) : R :=
  attention (length xs)
    (causal i (fun j => score d scale (nth i xs nothing) (nth j xs nothing)))
    (fun j => v (nth j xs nothing) e).

(* The state is what has been read. A push of one row gives its output over all that has been read. *)
Definition newest (d : nat) (scale : R) (read : list row) (x : row) (e : nat) : R :=
  let all := read ++ [x] in
  attention (length all)
    (fun j => Some (score d scale x (nth j all nothing)))
    (fun j => v (nth j all nothing) e).
Fixpoint push (d : nat) (scale : R) (read : list row) (xs : list row) (e : nat) : list R :=
  match xs with
  | [] => []
  | x :: rest => newest d scale read x e :: push d scale (read ++ [x]) rest e
  end.

Lemma push_length d scale xs : forall read e, length (push d scale read xs e) = length xs.
Proof. induction xs; simpl; auto. Qed.

(* Any split gives the same rows. *)
Theorem push_in_pieces : forall d scale read xs ys e,
  push d scale read (xs ++ ys) e = push d scale read xs e ++ push d scale (read ++ xs) ys e.
Proof.
  intros d scale read xs. revert read. induction xs as [| x xs IH]; intros read ys e; simpl.
  - now rewrite app_nil_r.
  - rewrite IH, <- app_assoc. easy.
Qed.

Lemma push_row d scale xs : forall read e i, (i < length xs)%nat ->
  nth i (push d scale read xs e) 0 = newest d scale (read ++ firstn i xs) (nth i xs nothing) e.
Proof.
  induction xs as [| x xs IH]; simpl; intros read e i Hi; [lia |].
  destruct i; simpl; [now rewrite app_nil_r |]. rewrite IH by lia. rewrite <- app_assoc. easy.
Qed.

Lemma firstn_snoc (xs : list row) : forall i,
  (i < length xs)%nat -> firstn i xs ++ [nth i xs nothing] = firstn (S i) xs.
Proof.
  induction xs as [| x xs IH]; simpl; intros i Hi; [lia |]. destruct i; [easy |].
  change (x :: (firstn i xs ++ [nth i xs nothing]) = x :: firstn (S i) xs). now rewrite IH by lia.
Qed.

Lemma nth_firstn (xs : list row) : forall n j, (j < n)%nat -> nth j (firstn n xs) nothing = nth j xs nothing.
Proof.
  induction xs as [| x xs IH]; intros n j Hj; [now rewrite firstn_nil |].
  destruct n; [lia |]. destruct j; simpl; [easy |]. apply IH. lia.
Qed.

(* Row by row equals the full pass. *)
Theorem push_is_full_pass : forall d scale xs e i,
  (i < length xs)%nat -> nth i (push d scale [] xs e) 0 = full_pass d scale xs i e.
Proof.
  intros d scale xs e i Hi. rewrite push_row by easy.
  unfold full_pass, newest. rewrite causal_row by easy. simpl app.
  rewrite firstn_snoc by easy. rewrite firstn_length, Nat.min_l by lia.
  apply attention_ext. intros j Hj. now rewrite !nth_firstn by lia.
Qed.

(* ---- The online form ---- *)

(* After some logits: the maximum so far, the sum of exp (l - maximum), and the same weighted with v. The
   first logit starts it. *)
Record online := { top : R; total : R; weighted : R }.
Definition online_step (o : online) (s x : R) : online :=
  let m := Rmax (top o) s in
  {| top := m;
     total := exp (top o - m) * total o + exp (s - m);
     weighted := exp (top o - m) * weighted o + exp (s - m) * x |}.
Fixpoint online_pass (n : nat) (s x : nat -> R) : online :=
  match n with
  | O => {| top := s O; total := 1; weighted := x O |}
  | S m => online_step (online_pass m s x) (s (S m)) (x (S m))
  end.

Lemma online_invariant n s x :
  let o := online_pass n s x in
  total o = kernel_sum (S n) (fun j => Some (s j)) (top o) /\
  weighted o = sum (S n) (fun j => masked_exp (minus (Some (s j)) (top o)) * x j).
Proof.
  assert (E : forall a b c, exp (a - b) * exp (c - a) = exp (c - b)).
  { intros. rewrite <- exp_plus. f_equal. ring. }
  induction n as [| n [IHt IHw]]; cbn zeta.
  - unfold kernel_sum. simpl. rewrite Rminus_diag_eq, exp_0 by easy. split; ring.
  - simpl online_pass. unfold online_step. cbn [top total weighted]. set (o := online_pass n s x) in *.
    set (m := Rmax (top o) (s (S n))). rewrite IHt, IHw. unfold kernel_sum.
    change (sum (S (S n)) ?f) with (sum (S n) f + f (S n)). cbv beta.
    rewrite <- !sum_scale. simpl minus. simpl masked_exp. split; f_equal; apply sum_ext; intros j _; simpl.
    + apply E.
    + rewrite <- Rmult_assoc. f_equal. apply E.
Qed.

Theorem online_is_attention : forall n s x,
  weighted (online_pass n s x) / total (online_pass n s x) = attention (S n) (fun j => Some (s j)) x.
Proof.
  intros n s x. destruct (online_invariant n s x) as [T W]. cbn zeta in *. rewrite T, W.
  rewrite <- (kernel_row_is_attention (S n) (fun j => Some (s j)) x (top (online_pass n s x))).
  - unfold kernel_row, Rdiv. now rewrite Rmult_1_l.
  - exists O, (s O). split; [lia | easy].
Qed.
