; Counts up for ever, through ever new values.
;
;   while (x > 0) x = x + 1;
;
; Answer: nonterminating (from x = 1, for example; no value occurs twice, but x >= 1 is never left).
(set-logic HORN)
(declare-fun loop (Int) Bool)
(assert (forall ((x Int)) (loop x)))
(assert (forall ((x Int))
  (=> (and (loop x) (> x 0)) (loop (+ x 1)))))
(check-sat)
