; A loop that steps by three and is claimed never to reach seventeen or more.
;
; Answer: unsat (unsafe; it gets from 0 to 18 in six steps).
(set-logic HORN)
(declare-fun loop (Int) Bool)
(assert (loop 0))
(assert (forall ((x Int)) (=> (and (loop x) (< x 16)) (loop (+ x 3)))))
(assert (forall ((x Int)) (=> (and (loop x) (>= x 17)) false)))
(check-sat)
