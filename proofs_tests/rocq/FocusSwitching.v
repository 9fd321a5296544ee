(* FocusSwitching.v: [Focus] Sec. 4 and erratum 12: filters that are stable one by one can diverge together.

   The recurrence y_t = x_t - Theta_0 y_{t-1} - Theta_1 y_{t-2} with a pair of coefficients for each bin of
   rows, the state carried from bin to bin (our mode carry) or anew at each bin's start (causal; so the
   paper). Proved:
   - the instance of erratum 12, exactly, in rational numbers, with bins of 16 rows: (0.9692, 0.99) and
     (0.1587, 0.99) in turn, both stable. With the state carried, the response to one impulse is at least
     0.4 1.3^n in the last row of period n (of 32 rows, from 0): it exceeds every bound. With the state
     anew in each bin it never exceeds 1.02;
   - Theta_0 + Theta_1 <= s < 1 is enough, either way: |y_t| <= max|x| / (1 - s) for every sequence of such
     pairs, every input, every length, however often they change (theta=bounded).
   Kernel: iir.c. Tested on floats in proof_focus.c, test_errata.c, test_iir.c. *)

From Coq Require Import Reals ZArith Lra Lia.
From Seqmix Require FocusTriangle.
Open Scope R_scope.

(* ---- Definitions ---- *)

(* A state is (y_{t-1}, y_{t-2}); one row. *)
Definition step (theta : R * R) (x : R) (state : R * R) : R * R :=
  (x - fst theta * fst state - snd theta * snd state, fst state).
(* The state before row t; `anew` says at which rows it is set to 0 first. *)
Fixpoint run (anew : nat -> bool) (theta : nat -> R * R) (x : nat -> R) (t : nat) : R * R :=
  match t with
  | O => (0, 0)
  | S n => step (theta n) (x n) (if anew n then (0, 0) else run anew theta x n)
  end.
Definition y (anew : nat -> bool) (theta : nat -> R * R) (x : nat -> R) (t : nat) : R :=
  fst (run anew theta x (S t)).

Definition carry (t : nat) : bool := false.
Definition causal (bin : nat) (t : nat) : bool := (t mod bin =? 0)%nat.
Definition impulse (t : nat) : R := if (t =? 0)%nat then 1 else 0.

(* ---- Sums below 1 ---- *)

Lemma between x B : Rabs x <= B -> - B <= x <= B.
Proof. intros L. pose proof (Rle_abs x). pose proof (Rle_abs (- x)). rewrite Rabs_Ropp in *. lra. Qed.

Theorem small_sums_are_safe : forall anew theta x s X,
  s < 1 ->
  (forall t, 0 <= fst (theta t) /\ 0 <= snd (theta t) /\ fst (theta t) + snd (theta t) <= s) ->
  (forall t, Rabs (x t) <= X) ->
  forall t, Rabs (y anew theta x t) <= X / (1 - s).
Proof.
  intros anew theta x s X Hs Htheta Hx. set (B := X / (1 - s)).
  assert (E : X = B * (1 - s)) by (unfold B; field; lra).
  assert (X0 : 0 <= X) by (specialize (Hx O); pose proof (Rabs_pos (x O)); lra).
  assert (B0 : 0 <= B) by (apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  assert (I : forall t, Rabs (fst (run anew theta x t)) <= B /\ Rabs (snd (run anew theta x t)) <= B).
  { induction t as [| t IH]; [simpl; rewrite Rabs_R0; lra |].
    assert (St : Rabs (fst (if anew t then (0, 0) else run anew theta x t)) <= B /\
                 Rabs (snd (if anew t then (0, 0) else run anew theta x t)) <= B)
      by (destruct (anew t); [simpl; rewrite Rabs_R0; lra | easy]).
    simpl. destruct (if anew t then (0, 0) else run anew theta x t) as [y1 y2]. simpl in *.
    destruct St as [S1 S2]. split; [| easy].
    destruct (Htheta t) as (T0 & T1 & Sum). specialize (Hx t).
    apply between in S1, S2, Hx. apply Rabs_le. nra. }
  intros t. apply I.
Qed.

(* ---- The instance ---- *)

Definition filter_A : R * R := (9692 / 10000, 9900 / 10000).
Definition filter_B : R * R := (1587 / 10000, 9900 / 10000).
(* A and B in turn, 16 rows each. *)
Definition in_turn (t : nat) : R * R := if Nat.even (t / 16) then filter_A else filter_B.

Theorem both_are_stable :
  FocusTriangle.stable (fst filter_A) (snd filter_A) /\ FocusTriangle.stable (fst filter_B) (snd filter_B).
Proof.
  split; apply FocusTriangle.unit_square_is_stable; unfold FocusTriangle.in_unit_square; simpl; lra.
Qed.

(* Rows without input, from any state: a linear map. *)
Fixpoint free (theta : nat -> R * R) (start : R * R) (t : nat) : R * R :=
  match t with O => start | S n => step (theta n) 0 (free theta start n) end.

Lemma free_is_linear theta u w t :
  free theta (u, w) t =
  (u * fst (free theta (1, 0) t) + w * fst (free theta (0, 1) t),
   u * snd (free theta (1, 0) t) + w * snd (free theta (0, 1) t)).
Proof.
  induction t as [| t IH]; simpl; [f_equal; ring |]. rewrite IH. unfold step. simpl. f_equal; ring.
Qed.

Lemma free_in_pieces theta start m n :
  free theta start (m + n) = free (fun t => theta (m + t)%nat) (free theta start m) n.
Proof. induction n; [now rewrite Nat.add_0_r |]. rewrite Nat.add_succ_r. simpl. now rewrite IHn. Qed.

Lemma free_ext theta theta' start t :
  (forall i, theta i = theta' i) -> free theta start t = free theta' start t.
Proof. intros E. induction t; simpl; [easy | now rewrite IHt, E]. Qed.

(* The same in integers, coefficients and states in units of 1 / 10000, 1 / 10000^2, ... *)
Open Scope Z_scope.
Definition in_turn_Z (t : nat) : Z := if Nat.even (t / 16) then 9692 else 1587.
Fixpoint free_Z (start : Z * Z) (t : nat) : Z * Z :=
  match t with
  | O => start
  | S n => let (y1, y2) := free_Z start n in (- (in_turn_Z n * y1) - 9900 * y2, 10000 * y1)
  end.
Open Scope R_scope.

Lemma free_is_free_Z a b t :
  free in_turn (IZR a, IZR b) t =
  (IZR (fst (free_Z (a, b) t)) / 10000 ^ t, IZR (snd (free_Z (a, b) t)) / 10000 ^ t).
Proof.
  induction t as [| t IH]; simpl free; [simpl; f_equal; field |]. rewrite IH. cbn [free_Z].
  destruct (free_Z (a, b) t) as [y1 y2]. unfold step. cbn [fst snd pow].
  assert (10000 ^ t <> 0) by (apply pow_nonzero; lra).
  assert (Th : in_turn t = (IZR (in_turn_Z t) / 10000, 9900 / 10000))
    by (unfold in_turn, in_turn_Z; now destruct Nat.even).
  rewrite Th. cbn [fst snd]. rewrite minus_IZR, opp_IZR, !mult_IZR. f_equal; field; easy.
Qed.

(* One period's map, [[a, b], [c, e]] in units of 1 / N. *)
Definition N : Z := 10000 ^ 32.
Definition a := fst (free_Z (1, 0)%Z 32). Definition c := snd (free_Z (1, 0)%Z 32).
Definition b := fst (free_Z (0, 1)%Z 32). Definition e := snd (free_Z (0, 1)%Z 32).

Lemma period u w :
  free in_turn (u, w) 32 =
  (u * (IZR a / IZR N) + w * (IZR b / IZR N), u * (IZR c / IZR N) + w * (IZR e / IZR N)).
Proof.
  rewrite free_is_linear, (free_is_free_Z 1 0), (free_is_free_Z 0 1).
  replace (10000 ^ 32) with (IZR N) by (rewrite (pow_IZR 10000 32); reflexivity).
  unfold a, b, c, e. cbn [fst snd]. reflexivity.
Qed.
#[local] Opaque N a b c e. (* numbers of 128 digits *)

Lemma periodic n i : in_turn (32 * n + i) = in_turn i.
Proof.
  unfold in_turn. replace (32 * n + i)%nat with (i + (2 * n) * 16)%nat by lia.
  rewrite Nat.div_add by lia. replace (i / 16 + 2 * n)%nat with (2 * n + i / 16)%nat by lia.
  rewrite Nat.even_add, Nat.even_mul. simpl. now destruct Nat.even.
Qed.

(* A sequence s_{n+2} = T s_{n+1} - D s_n grows by rho each time where |T| - |D| / rho >= rho and it does so
   once. *)
Lemma growth T D rho (s : nat -> R) :
  0 < rho -> rho * rho + Rabs D <= rho * Rabs T ->
  (forall n, s (S (S n)) = T * s (S n) - D * s n) ->
  rho * Rabs (s 0%nat) <= Rabs (s 1%nat) ->
  forall n, rho ^ n * Rabs (s 0%nat) <= Rabs (s n).
Proof.
  intros Hr HT Hs H0. assert (G : forall n, rho * Rabs (s n) <= Rabs (s (S n))).
  { induction n as [| n IH]; [easy |]. rewrite Hs.
    assert (Tri : Rabs T * Rabs (s (S n)) <= Rabs (T * s (S n) - D * s n) + Rabs D * Rabs (s n)).
    { rewrite <- !Rabs_mult. eapply Rle_trans; [| apply Rabs_triang]. right. f_equal. ring. }
    pose proof (Rabs_pos D). pose proof (Rabs_pos (s n)). pose proof (Rabs_pos (s (S n))).
    apply Rmult_le_reg_l with rho; [easy |].
    assert (Rabs D * (rho * Rabs (s n)) <= Rabs D * Rabs (s (S n))) by now apply Rmult_le_compat_l.
    assert ((rho * rho + Rabs D) * Rabs (s (S n)) <= rho * Rabs T * Rabs (s (S n)))
      by now apply Rmult_le_compat_r.
    nra. }
  induction n as [| n IH]; simpl; [lra |]. specialize (G n). nra.
Qed.

(* The impulse is the state (0, -100/99) before the first row. *)
Lemma run_impulse t : run carry in_turn impulse (S t) = free in_turn (0, - (100 / 99)) (S t).
Proof.
  induction t as [| t IH].
  - unfold carry, in_turn, impulse, step. simpl. unfold step. simpl. f_equal; field.
  - change (run carry in_turn impulse (S (S t)))
      with (step (in_turn (S t)) (impulse (S t)) (run carry in_turn impulse (S t))).
    now rewrite IH.
Qed.

Definition after (n : nat) : R * R := free in_turn (0, - (100 / 99)) (32 * n).

Lemma after_next n :
  after (S n) = (fst (after n) * (IZR a / IZR N) + snd (after n) * (IZR b / IZR N),
                 fst (after n) * (IZR c / IZR N) + snd (after n) * (IZR e / IZR N)).
Proof.
  unfold after. replace (32 * S n)%nat with (32 * n + 32)%nat by lia. rewrite free_in_pieces.
  rewrite (free_ext _ in_turn) by apply periodic. destruct (free in_turn (0, - (100 / 99)) (32 * n)) as [u w].
  apply period.
Qed.

Lemma N_positive : 0 < IZR N.
Proof. apply IZR_lt. reflexivity. Qed.

(* Cayley and Hamilton: with T the trace and D the determinant. *)
Definition T : R := IZR (a + e) / IZR N.
Definition D : R := IZR (a * e - b * c) / IZR (N * N).

Lemma after_recurs n : fst (after (S (S n))) = T * fst (after (S n)) - D * fst (after n).
Proof.
  rewrite (after_next (S n)), (after_next n). cbn [fst snd]. unfold T, D.
  rewrite plus_IZR, minus_IZR, !mult_IZR. field. pose proof N_positive. lra.
Qed.

Lemma first_period : 4 / 10 <= Rabs (fst (after 1)).
Proof.
  rewrite after_next. unfold after. simpl. rewrite Rmult_0_l, Rplus_0_l.
  assert (L : IZR (396 * N) <= IZR (- 1000 * b)) by (apply IZR_le; vm_compute; discriminate).
  rewrite !mult_IZR in L. pose proof N_positive. eapply Rle_trans; [| apply Rle_abs].
  apply Rmult_le_reg_r with (IZR N); [easy |]. unfold Rdiv.
  replace (- (100 * / 99) * (IZR b * / IZR N) * IZR N) with (- (100 * / 99) * IZR b) by (field; lra). lra.
Qed.

Lemma enough_growth : (13 / 10) * (13 / 10) + Rabs D <= (13 / 10) * Rabs T.
Proof.
  pose proof N_positive as P. unfold D, T.
  assert (Dpos : 0 <= IZR (a * e - b * c)) by (apply IZR_le; vm_compute; discriminate).
  assert (Tneg : IZR (a + e) <= 0) by (apply IZR_le; vm_compute; discriminate).
  assert (L : IZR (169 * (N * N) + 100 * (a * e - b * c)) <= IZR (- 130 * (a + e) * N))
    by (apply IZR_le; vm_compute; discriminate).
  rewrite plus_IZR, !mult_IZR in L. unfold Rdiv. rewrite !Rabs_mult, !Rabs_inv.
  rewrite mult_IZR, (Rabs_pos_eq (IZR N * IZR N)) by nra.
  rewrite (Rabs_pos_eq (IZR (a * e - b * c))), (Rabs_left1 (IZR (a + e))), (Rabs_pos_eq (IZR N)) by lra.
  apply Rmult_le_reg_r with (IZR N * IZR N); [nra |].
  replace ((13 * / 10 * (13 * / 10) + IZR (a * e - b * c) * / (IZR N * IZR N)) * (IZR N * IZR N))
    with (169 * / 100 * (IZR N * IZR N) + IZR (a * e - b * c)) by (field; lra).
  replace (13 * / 10 * (- IZR (a + e) * / IZR N) * (IZR N * IZR N))
    with (- (13 * / 10) * IZR (a + e) * IZR N) by (field; lra).
  lra.
Qed.

(* The last row of period n. *)
Theorem switching_diverges : forall n,
  (4 / 10) * (13 / 10) ^ n <= Rabs (y carry in_turn impulse (32 * n + 31)).
Proof.
  intros n. unfold y. replace (S (32 * n + 31)) with (32 * S n)%nat by lia.
  replace (32 * S n)%nat with (S (32 * n + 31)) by lia. rewrite run_impulse.
  replace (S (32 * n + 31)) with (32 * S n)%nat by lia. fold (after (S n)).
  assert (0 < (13 / 10) ^ n) by (apply pow_lt; lra). pose proof first_period.
  apply Rle_trans with ((13 / 10) ^ n * Rabs (fst (after 1))); [nra |].
  apply (growth T D (13 / 10) (fun n => fst (after (S n)))); [lra | apply enough_growth | | ].
  - intros m. apply after_recurs.
  - rewrite (after_recurs 0). replace (fst (after 0)) with 0 by easy.
    rewrite Rmult_0_r, Rminus_0_r, Rabs_mult. pose proof enough_growth. pose proof (Rabs_pos D).
    apply Rmult_le_compat_r; [apply Rabs_pos | lra].
Qed.

Theorem switching_exceeds_every_bound : forall bound, exists t, bound < Rabs (y carry in_turn impulse t).
Proof.
  intros bound. destruct (Pow_x_infinity (13 / 10)) with (b := 3 * Rabs bound + 3) as [n Hn];
    [rewrite Rabs_pos_eq; lra |].
  exists (32 * n + 31)%nat. specialize (Hn n (le_n n)). pose proof (switching_diverges n) as L.
  rewrite Rabs_pos_eq in Hn by (apply pow_le; lra).
  pose proof (Rle_abs bound). pose proof (Rabs_pos bound). lra.
Qed.

(* With the state anew in each bin: the first bin is the first filter's response, the others are 0. *)
Theorem anew_stays_small : forall t, Rabs (y (causal 16) in_turn impulse t) <= 102 / 100.
Proof.
  assert (Bin : forall t, (t < 16)%nat ->
                y (causal 16) in_turn impulse t = fst (free in_turn (0, - (100 / 99)) (S t))).
  { intros t Ht. unfold y. f_equal. induction t as [| t IH].
    - unfold causal, in_turn, impulse, step. simpl. unfold step. simpl. f_equal; field.
    - change (run (causal 16) in_turn impulse (S (S t)))
        with (step (in_turn (S t)) (impulse (S t))
                (if causal 16 (S t) then (0, 0) else run (causal 16) in_turn impulse (S t))).
      unfold causal at 1. rewrite Nat.mod_small by lia. simpl (S t =? 0)%nat. cbn iota.
      rewrite IH by lia. easy. }
  assert (After : forall t, (16 <= t)%nat -> run (causal 16) in_turn impulse (S t) = (0, 0)).
  { intros t Ht. induction Ht as [| t Ht IH].
    - cbn. unfold step. simpl. f_equal; ring.
    - change (run (causal 16) in_turn impulse (S (S t)))
        with (step (in_turn (S t)) (impulse (S t))
                (if causal 16 (S t) then (0, 0) else run (causal 16) in_turn impulse (S t))).
      rewrite IH. replace (if causal 16 (S t) then (0, 0) else (0, 0)) with (0, 0) by now destruct causal.
      unfold step, impulse. simpl. f_equal; ring. }
  intros t. destruct (Nat.lt_ge_cases t 16) as [Ht | Ht].
  - rewrite Bin by easy. rewrite free_is_linear. cbn [fst]. rewrite (free_is_free_Z 0 1). cbn [fst].
    assert (Z : forall s, (s < 16)%nat ->
                (10000 * Z.abs (fst (free_Z (0, 1)%Z (S s))) <= 10098 * 10000 ^ Z.of_nat (S s))%Z).
    { assert (F : List.Forall (fun s => (10000 * Z.abs (fst (free_Z (0, 1)%Z (S s)))
                                   <= 10098 * 10000 ^ Z.of_nat (S s))%Z) (List.seq 0 16))
        by (repeat constructor; vm_compute; discriminate).
      intros s Hs. apply (proj1 (List.Forall_forall _ _) F). apply List.in_seq. lia. }
    specialize (Z t Ht). apply IZR_le in Z. rewrite !mult_IZR, abs_IZR, <- pow_IZR in Z.
    set (v := IZR (fst (free_Z (0, 1)%Z (S t)))) in *. set (p := 10000 ^ S t) in *.
    assert (0 < p) by (apply pow_lt; lra).
    rewrite Rmult_0_l, Rplus_0_l, Rabs_mult, (Rabs_left (- _)) by lra.
    unfold Rdiv at 2. rewrite Rabs_mult, (Rabs_pos_eq (/ p)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with p; [easy |].
    replace (- - (100 / 99) * (Rabs v * / p) * p) with (100 / 99 * Rabs v) by (field; lra). lra.
  - unfold y. rewrite After by easy. simpl. rewrite Rabs_R0. lra.
Qed.
