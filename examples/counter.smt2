; A loop that counts two variables up together, and the claim that they stay equal.
;
;   x = y = 0;
;   while (x < n) { x = x + 1; y = y + 1; }
;   assert(y == x);
;
; Answer: sat (safe; for example with loop(x, y, n) := x = y).
(set-logic HORN)
(declare-fun loop (Int Int Int) Bool)
(assert (forall ((x Int) (y Int) (n Int))
  (=> (and (= x 0) (= y 0)) (loop x y n))))
(assert (forall ((x Int) (y Int) (n Int))
  (=> (and (loop x y n) (< x n)) (loop (+ x 1) (+ y 1) n))))
(assert (forall ((x Int) (y Int) (n Int))
  (=> (and (loop x y n) (>= x n)) (= y x))))
(check-sat)
