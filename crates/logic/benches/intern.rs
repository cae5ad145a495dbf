//! How fast terms are found and made, on one thread and on two at once.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use shofar_logic::{Op, Sort, Term, TermStore};

const TERMS: usize = 100_000;

fn main() {
    divan::main();
}

/// Pairs of variables to be added up; each pair gives another sum.
fn pairs(store: &TermStore) -> Vec<[Term; 2]> {
    let side = TERMS.isqrt() + 1;
    let variables: Vec<Term> =
        (0..side).map(|i| store.var(store.symbol(&format!("x{i}")), Sort::INT)).collect();
    (0..TERMS).map(|i| [variables[i % side], variables[i / side]]).collect()
}

fn sum_all(store: &TermStore, pairs: &[[Term; 2]]) {
    for pair in pairs {
        let _ = black_box(store.app(Op::Add, pair));
    }
}

/// All terms are known already.
#[divan::bench(threads = [1, 2])]
fn hits(bencher: Bencher<'_, '_>) {
    let store = TermStore::new();
    let pairs = pairs(&store);
    sum_all(&store, &pairs);
    bencher.counter(ItemsCount::new(TERMS)).bench(|| sum_all(&store, &pairs));
}

/// All terms are new.
#[divan::bench]
fn misses(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(TERMS))
        .with_inputs(|| {
            let store = TermStore::new();
            let pairs = pairs(&store);
            (store, pairs)
        })
        .bench_refs(|(store, pairs)| sum_all(store, pairs));
}

/// Two threads make the same new terms at the same time.
#[divan::bench]
fn misses_on_two_threads(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(2 * TERMS))
        .with_inputs(|| {
            let store = TermStore::new();
            let pairs = pairs(&store);
            (store, pairs)
        })
        .bench_refs(|(store, pairs)| {
            std::thread::scope(|scope| {
                scope.spawn(|| sum_all(store, pairs));
                scope.spawn(|| sum_all(store, pairs));
            });
        });
}

/// Reading operator, sort and arguments of known terms.
#[divan::bench(threads = [1, 2])]
fn reads(bencher: Bencher<'_, '_>) {
    let store = TermStore::new();
    let terms: Vec<Term> =
        pairs(&store).iter().map(|pair| store.app(Op::Add, pair).expect("integers are added")).collect();
    bencher.counter(ItemsCount::new(TERMS)).bench(|| {
        for &term in &terms {
            black_box((store.op(term), store.sort_of(term), store.args(term)));
        }
    });
}
