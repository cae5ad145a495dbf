//! Several threads share one store.

use shofar_horn::{HornSystem, parse};
use shofar_logic::{Op, Sort, Term, TermStore};

/// Builds sums and comparisons of a few variables, in an order that depends on the thread.
fn build(store: &TermStore, stride: usize) -> Vec<Term> {
    const COUNT: usize = 40_000;
    let mut terms = vec![Term::TRUE; COUNT];
    for i in 0..COUNT {
        let n = i * stride % COUNT;
        let x = store.var(store.symbol(&format!("x{}", n % 100)), Sort::INT);
        let sum = store.app(Op::Add, &[x, store.int(n as u64 / 100), x]).unwrap();
        let atom = store.app(Op::Le, &[sum, store.int(n as u64)]).unwrap();
        terms[n] = store.app(Op::Not, &[atom]).unwrap();
    }
    terms
}

#[test]
fn threads_that_build_the_same_get_the_same_terms() {
    let store = TermStore::new();
    let before = store.len();
    std::thread::scope(|scope| {
        let others = [1, 3, 7, 11].map(|stride| {
            scope.spawn({
                let store = &store;
                move || build(store, stride)
            })
        });
        let [first, rest @ ..] = others.map(|thread| thread.join().unwrap());
        for other in rest {
            assert_eq!(other, first);
        }
        assert_eq!(build(&store, 13), first);
        // A hundred variables, and per number one sum, comparison and negation, beside the numerals.
        assert!(store.len() < before + 100 + 3 * first.len() + first.len() + 10);
    });
}

#[test]
fn threads_that_read_the_same_get_the_same_system() {
    let script = |from: usize| {
        let clause = |i: usize| {
            format!(
                "(assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x {i})) (P (+ x {i}) (* {i} y)))))\n"
            )
        };
        let clauses: String = (from..from + 2000).map(clause).collect();
        format!(
            "(declare-datatypes ((T 0)) (((leaf) (node (left T) (right T)))))(declare-fun P (Int Int) Bool)\n{clauses}"
        )
    };
    let store = TermStore::new();
    let (one, other) = (script(0), script(1000));
    let read = |text: &str| -> HornSystem { parse(&store, "script", text.as_bytes()).unwrap() };
    std::thread::scope(|scope| {
        let threads = [&one, &other, &one].map(|text| scope.spawn(|| read(text)));
        let [a, b, c] = threads.map(|thread| thread.join().unwrap());
        assert!(a.same_as(&c) && a.same_as(&read(&one)) && b.same_as(&read(&other)));
        // The scripts have their middle in common.
        for i in 0..1000 {
            assert_eq!(a.clauses[1000 + i].constraint, b.clauses[i].constraint);
        }
    });
}
