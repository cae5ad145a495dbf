; Counts down.
;
;   while (x > 0) x = x - 1;
;
; Answer: terminating (x decreases, and is positive before).
(set-logic HORN)
(declare-fun loop (Int) Bool)
(assert (forall ((x Int)) (loop x)))
(assert (forall ((x Int))
  (=> (and (loop x) (> x 0)) (loop (- x 1)))))
(check-sat)
