; Lists: appending adds up the lengths.
;
; Answer: sat.
(set-logic HORN)
(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(declare-fun append (List List List) Bool)
(declare-fun length (List Int) Bool)
(assert (length nil 0))
(assert (forall ((h Int) (t List) (n Int))
  (=> (length t n) (length (cons h t) (+ n 1)))))
(assert (forall ((l List)) (append nil l l)))
(assert (forall ((h Int) (t List) (l List) (r List))
  (=> (append t l r) (append (cons h t) l (cons h r)))))
(assert (forall ((a List) (b List) (c List) (i Int) (j Int) (k Int))
  (=> (and (append a b c) (length a i) (length b j) (length c k)) (= k (+ i j)))))
(check-sat)
