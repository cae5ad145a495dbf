; The greatest common divisor by subtraction.
;
;   assume(a > 0 && b > 0);
;   while (a != b) if (a > b) a = a - b; else b = b - a;
;
; Answer: terminating (a + b decreases as long as both are positive, which is an invariant).
(set-logic HORN)
(declare-fun loop (Int Int) Bool)
(assert (forall ((a Int) (b Int))
  (=> (and (> a 0) (> b 0)) (loop a b))))
(assert (forall ((a Int) (b Int))
  (=> (and (loop a b) (> a b)) (loop (- a b) b))))
(assert (forall ((a Int) (b Int))
  (=> (and (loop a b) (< a b)) (loop a (- b a)))))
(check-sat)
