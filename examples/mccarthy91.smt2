; McCarthy's function: a recursive procedure as clauses that are not linear.
;
;   m(n) = n > 100 ? n - 10 : m(m(n + 11))
;
; Answer: sat (m(n) = 91 for n <= 101).
(set-logic HORN)
(declare-fun m (Int Int) Bool)
(assert (forall ((n Int)) (=> (> n 100) (m n (- n 10)))))
(assert (forall ((n Int) (r Int) (s Int))
  (=> (and (<= n 100) (m (+ n 11) r) (m r s)) (m n s))))
(assert (forall ((n Int) (r Int))
  (=> (and (m n r) (<= n 101)) (= r 91))))
(check-sat)
