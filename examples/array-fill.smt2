; Arrays: a loop fills the first cells with zeros.
;
; Answer: sat.
(set-logic HORN)
(declare-fun fill ((Array Int Int) Int) Bool)
(assert (forall ((a (Array Int Int))) (fill a 0)))
(assert (forall ((a (Array Int Int)) (i Int))
  (=> (fill a i) (fill (store a i 0) (+ i 1)))))
(assert (forall ((a (Array Int Int)) (i Int))
  (=> (and (fill a i) (> i 0)) (= (select a (- i 1)) 0))))
(check-sat)
