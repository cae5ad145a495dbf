; Two nested loops, with a predicate for each.
;
;   for (i = 0; i < n; i++)
;     for (j = 0; j < i; j++) ;
;
; Answer: terminating (n - i decreases from turn to turn of the outer loop, i - j in the inner one).
(set-logic HORN)
(declare-fun outer (Int Int) Bool)
(declare-fun inner (Int Int Int) Bool)
(assert (forall ((n Int)) (outer 0 n)))
(assert (forall ((i Int) (n Int))
  (=> (and (outer i n) (< i n)) (inner i 0 n))))
(assert (forall ((i Int) (j Int) (n Int))
  (=> (and (inner i j n) (< j i)) (inner i (+ j 1) n))))
(assert (forall ((i Int) (j Int) (n Int))
  (=> (and (inner i j n) (>= j i)) (outer (+ i 1) n))))
(check-sat)
