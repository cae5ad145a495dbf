; Counts to y and begins again at 2.
;
;   x = 0; y = 5;
;   while (x <= y) if (x < y) x = x + 1; else x = 2;
;
; Answer: nonterminating (the run comes back to x = 2).
(set-logic HORN)
(declare-fun loop (Int Int) Bool)
(assert (loop 0 5))
(assert (forall ((x Int) (y Int))
  (=> (and (loop x y) (< x y)) (loop (+ x 1) y))))
(assert (forall ((x Int) (y Int))
  (=> (and (loop x y) (= x y)) (loop 2 y))))
(check-sat)
