; The step is positive, but the loop does not say so. The query asks something else and is ignored.
;
;   assume(y >= 1);
;   while (x >= 0) { x = x - y; y = y + 1; }
;   assert(x < 0);
;
; Answer: terminating (x decreases because of the invariant y >= 1).
(set-logic HORN)
(declare-fun loop (Int Int) Bool)
(assert (forall ((x Int) (y Int))
  (=> (>= y 1) (loop x y))))
(assert (forall ((x Int) (y Int))
  (=> (and (loop x y) (>= x 0)) (loop (- x y) (+ y 1)))))
(assert (forall ((x Int) (y Int))
  (=> (and (loop x y) (>= x 0) (< y 1)) false)))
(check-sat)
