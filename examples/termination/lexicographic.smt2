; A loop that may set y to anything whenever x decreases.
;
;   while (x > 0 && y > 0)
;     if (*) { x = x - 1; y = *; } else y = y - 1;
;
; Answer: terminating (the pair of x and y decreases lexicographically; no linear function does).
(set-logic HORN)
(declare-fun loop (Int Int) Bool)
(assert (forall ((x Int) (y Int)) (loop x y)))
(assert (forall ((x Int) (y Int) (z Int))
  (=> (and (loop x y) (> x 0) (> y 0)) (loop (- x 1) z))))
(assert (forall ((x Int) (y Int))
  (=> (and (loop x y) (> x 0) (> y 0)) (loop x (- y 1)))))
(check-sat)
