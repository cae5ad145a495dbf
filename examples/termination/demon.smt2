; Each turn adds what it likes.
;
;   x = 10;
;   while (x > 0) { d = *; assume(-1 <= d && d <= 1); x = x + d; }
;
; Answer: nonterminating (with d = 0 the run stays where it is).
(set-logic HORN)
(declare-fun loop (Int) Bool)
(assert (loop 10))
(assert (forall ((x Int) (d Int))
  (=> (and (loop x) (> x 0) (<= (- 1) d) (<= d 1)) (loop (+ x d)))))
(check-sat)
