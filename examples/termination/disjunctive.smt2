; Whichever way the loop goes, x or y or their sum decreases between any two of its turns.
;
;   while (x > 0 && y > 0)
;     if (*) (x, y) = (x - 1, x); else (x, y) = (y - 2, x + 1);
;
; Answer: terminating (a disjunctive argument).
(set-logic HORN)
(declare-fun loop (Int Int) Bool)
(assert (forall ((x Int) (y Int)) (loop x y)))
(assert (forall ((x Int) (y Int))
  (=> (and (loop x y) (> x 0) (> y 0)) (loop (- x 1) x))))
(assert (forall ((x Int) (y Int))
  (=> (and (loop x y) (> x 0) (> y 0)) (loop (- y 2) (+ x 1)))))
(check-sat)
