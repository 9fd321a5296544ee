(* FocusOrderOne.v: [Focus] Eqs. 29-32 and erratum 6: a diagonal linear RNN is a filter of order one.

   The layer s_t = A s_{t-1} + B x_t, y_t = C s_t + D x_t, one channel (Eq. 29). Proved for all A, B, C, D
   (C = 0 too, where Eq. 30 divides by C), every input and every row:
   - y_t = A y_{t-1} + (CB + D) x_t - A D x_{t-1};
   - Eq. 31 as printed, with + A D x_{t-1}, holds at a row if and only if A D x_{t-1} = 0; an instance where
     it fails;
   - so the layer is the filter of order one with Theta = (-A, 0) after the two taps (CB + D, -A D): b_1 =
     -A D in Eq. 32; a diagonal layer of n states is the sum of n of them;
   - filters (theta, 0) side by side, as Focus has them, are the diagonal layer with A = -theta, B = C = 1,
     D = 0.
   Kernel: iir.c. Tested on floats in proof_focus.c (order_one_is_a_diagonal_rnn), test_errata.c. *)

From Coq Require Import Reals Lra.
Open Scope R_scope.

(* ---- Definitions ---- *)

(* The layer: its state after row t, from 0, and its output. *)
Fixpoint s (A B : R) (x : nat -> R) (t : nat) : R :=
  match t with O => B * x O | S n => A * s A B x n + B * x t end.
Definition y (A B C D : R) (x : nat -> R) (t : nat) : R := C * s A B x t + D * x t.

(* The filter with Theta_1 = 0: z_t = u_t - theta z_{t-1}. *)
Fixpoint filter (theta : R) (u : nat -> R) (t : nat) : R :=
  match t with O => u O | S n => u t - theta * filter theta u n end.
(* Two taps: (b * x)_t = b_0 x_t + b_1 x_{t-1}, x_{-1} = 0. *)
Definition two_taps (b0 b1 : R) (x : nat -> R) (t : nat) : R :=
  b0 * x t + b1 * match t with O => 0 | S n => x n end.

(* f 0 + ... + f (n-1) *)
Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => sum m f + f m end.

(* ---- Theorems ---- *)

Theorem order_one_recurrence : forall A B C D x t,
  y A B C D x (S t) = A * y A B C D x t + (C * B + D) * x (S t) - A * D * x t.
Proof. intros. unfold y. simpl. ring. Qed.

(* Eq. 31 as printed. *)
Definition printed (A B C D : R) (x : nat -> R) (t : nat) : Prop :=
  y A B C D x (S t) = A * y A B C D x t + (C * B + D) * x (S t) + A * D * x t.

Theorem printed_sign : forall A B C D x t, printed A B C D x t <-> A * D * x t = 0.
Proof. intros. unfold printed. rewrite order_one_recurrence. split; lra. Qed.

(* A = 1/2, B = C = D = 1 on the sequence 1, 0, ...: y_1 = 1/2, as printed 3/2. *)
Theorem printed_sign_fails : exists A B C D x t, ~ printed A B C D x t.
Proof.
  exists (1 / 2), 1, 1, 1, (fun t => match t with O => 1 | _ => 0 end), O. rewrite printed_sign. lra.
Qed.

Theorem order_one_is_a_filter : forall A B C D x t,
  y A B C D x t = filter (- A) (two_taps (C * B + D) (- (A * D)) x) t.
Proof.
  intros A B C D x t. induction t as [| t IH]; [unfold y, two_taps; simpl; ring |].
  rewrite order_one_recurrence, IH. simpl. unfold two_taps. ring.
Qed.

(* n states, each with its own A, B, C, D. *)
Theorem diagonal_layer_is_a_sum_of_filters : forall n (A B C D : nat -> R) x t,
  sum n (fun i => y (A i) (B i) (C i) (D i) x t) =
  sum n (fun i => filter (- A i) (two_taps (C i * B i + D i) (- (A i * D i)) x) t).
Proof. intros. induction n as [| n IH]; simpl; [easy |]. now rewrite IH, order_one_is_a_filter. Qed.

(* Focus's own sum of filters of order one. *)
Theorem focus_of_order_one : forall n (theta : nat -> R) x t,
  sum n (fun i => filter (theta i) x t) = sum n (fun i => y (- theta i) 1 1 0 x t).
Proof.
  assert (one : forall theta x t, filter theta x t = y (- theta) 1 1 0 x t).
  { intros theta x t. induction t as [| t IH]; [unfold y; simpl; ring |].
    rewrite order_one_recurrence, <- IH. simpl. ring. }
  intros. induction n as [| n IH]; simpl; [easy |]. now rewrite IH, one.
Qed.
