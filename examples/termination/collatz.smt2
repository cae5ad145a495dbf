; The 3n + 1 problem.
;
;   assume(n > 0);
;   while (n > 1) if (n % 2 == 0) n = n / 2; else n = 3 * n + 1;
;
; Answer: unknown. Nobody knows.
(set-logic HORN)
(declare-fun loop (Int) Bool)
(assert (forall ((n Int))
  (=> (> n 0) (loop n))))
(assert (forall ((n Int) (h Int))
  (=> (and (loop n) (> n 1) (= n (* 2 h))) (loop h))))
(assert (forall ((n Int) (h Int))
  (=> (and (loop n) (> n 1) (= n (+ (* 2 h) 1))) (loop (+ (* 3 n) 1)))))
(check-sat)
