; Two processes and a barrier, in Z3's fixedpoint format: rules over relations, and a query.
;
; Answer: sat (safe; the query cannot be derived. Z3 answers such a query with unsat).
(declare-rel state (Int Int))
(declare-rel apart ())
(declare-var a Int)
(declare-var b Int)
(rule (state 0 0))
(rule (=> (and (state a b) (<= a b)) (state (+ a 1) b)) step-a)
(rule (=> (and (state a b) (<= b a)) (state a (+ b 1))) step-b)
(rule (=> (and (state a b) (> a (+ b 1))) apart))
(query apart)
