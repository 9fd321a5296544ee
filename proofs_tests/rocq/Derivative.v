(* Derivative.v: what the proofs about gradients share: derivatives, along a real parameter, of sums, products
   and dot products. No theorem stands here. *)
From Coq Require Import Reals Lra Lia Arith FunctionalExtensionality.
#[local] Set Warnings "-ambiguous-paths". (* Coquelicot's own *)
From Coquelicot Require Import Coquelicot.
From Seqmix Require Import Attention.
Open Scope R_scope.

(* One entry of a matrix, of a row, is another number: the others stay. *)
Definition with_entry (f : nat -> nat -> R) (i c : nat) (x : R) : nat -> nat -> R :=
  fun a b => if (Nat.eqb a i && Nat.eqb b c)%bool then x else f a b.

(* A derivative that is the same number, written differently. *)
Lemma derive_as (f : R -> R) (t a b : R) : a = b -> is_derive f t a -> is_derive f t b.
Proof. now intros ->. Qed.

Lemma derive_const (a t : R) : is_derive (fun _ : R => a) t 0.
Proof. exact (is_derive_const (K := R_AbsRing) (V := R_NormedModule) a t). Qed.

Lemma derive_id (t : R) : is_derive (fun x : R => x) t 1.
Proof. exact (is_derive_id (K := R_AbsRing) t). Qed.

Lemma derive_sum l (f : nat -> R -> R) (f' : nat -> R) t :
  (forall i, (i < l)%nat -> is_derive (f i) t (f' i)) ->
  is_derive (fun x => sum l (fun i => f i x)) t (sum l f').
Proof.
  induction l; intros H; simpl; [apply derive_const |].
  apply (is_derive_plus (fun x => sum l (fun i => f i x)) (f l)); [apply IHl; intros |]; apply H; lia.
Qed.

Lemma derive_plus (f h : R -> R) (f' h' t : R) : is_derive f t f' -> is_derive h t h' ->
  is_derive (fun x => f x + h x) t (f' + h').
Proof. intros. now apply (is_derive_plus f h). Qed.

Lemma derive_minus (f h : R -> R) (f' h' t : R) : is_derive f t f' -> is_derive h t h' ->
  is_derive (fun x => f x - h x) t (f' - h').
Proof. intros. now apply (is_derive_minus f h). Qed.

Lemma derive_times (f h : R -> R) (f' h' t : R) : is_derive f t f' -> is_derive h t h' ->
  is_derive (fun x => f x * h x) t (f' * h t + f t * h').
Proof. intros F H. apply (is_derive_mult f h t f' h' F H). intros. apply Rmult_comm. Qed.

Lemma derive_scaled (f : R -> R) (f' a t : R) : is_derive f t f' -> is_derive (fun x => a * f x) t (a * f').
Proof. intros. now apply (is_derive_scal f). Qed.

Lemma derive_exp (f : R -> R) (f' t : R) : is_derive f t f' ->
  is_derive (fun x => exp (f x)) t (f' * exp (f t)).
Proof. intros. apply (is_derive_comp exp f); [apply is_derive_exp | easy]. Qed.

Lemma derive_dot l (x y : nat -> R -> R) (x' y' : nat -> R) t :
  (forall c, (c < l)%nat -> is_derive (x c) t (x' c)) ->
  (forall c, (c < l)%nat -> is_derive (y c) t (y' c)) ->
  is_derive (fun z => dot l (fun c => x c z) (fun c => y c z)) t
    (dot l x' (fun c => y c t) + dot l (fun c => x c t) y').
Proof.
  intros X Y. unfold dot. rewrite <- sum_plus.
  apply (derive_sum l (fun c z => x c z * y c z)). intros. apply derive_times; auto.
Qed.

(* The curve that moves one entry. *)
Lemma derive_entry (f : nat -> nat -> R) i c a b t :
  is_derive (fun x => with_entry f i c x a b) t (one_hot i a * one_hot c b).
Proof.
  unfold with_entry, one_hot. rewrite (Nat.eqb_sym i a), (Nat.eqb_sym c b).
  destruct (Nat.eqb a i), (Nat.eqb b c); simpl; rewrite ?Rmult_1_l, ?Rmult_0_l;
    (apply derive_id || apply derive_const).
Qed.

Lemma with_entry_same f i c : with_entry f i c (f i c) = f.
Proof.
  apply functional_extensionality; intros a. apply functional_extensionality; intros b. unfold with_entry.
  destruct (Nat.eqb_spec a i), (Nat.eqb_spec b c); simpl; now subst.
Qed.

(* The sum of products with that curve's derivative is its one entry. *)
Lemma sum_entry n d (f : nat -> nat -> R) i c : (i < n)%nat -> (c < d)%nat ->
  sum n (fun a => dot d (f a) (fun b => one_hot i a * one_hot c b)) = f i c.
Proof.
  intros Hi Hc. rewrite (sum_only n _ i Hi).
  - unfold dot. rewrite (sum_only d _ c Hc).
    + unfold one_hot. rewrite !Nat.eqb_refl. lra.
    + intros b _ N. unfold one_hot. rewrite (proj2 (Nat.eqb_neq c b)) by auto. lra.
  - intros a _ N. unfold dot. apply sum_0. intros b _. unfold one_hot.
    rewrite (proj2 (Nat.eqb_neq i a)) by auto. lra.
Qed.

Lemma sum_no_entry n d (f : nat -> nat -> R) : sum n (fun a => dot d (f a) (fun _ => 0)) = 0.
Proof. apply sum_0. intros. apply sum_0. intros. lra. Qed.
