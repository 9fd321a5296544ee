(* Bounds.v: the tactic interval of Debian's libcoq-interval over the integers of Rocq's own library.

   As it comes, the tactic computes with the machine's integers and floats, whose meaning are axioms; with
   mantissas in Z, and a precision given (`interval with (i_prec 60)`), it rests on the axioms of the real
   numbers alone. No theorem. *)

From Interval Require Import Tactic Specific_stdz Specific_ops.
Module Integers := SpecificFloat StdZRadix2.
Module Over_integers := IntervalTactic Integers.
