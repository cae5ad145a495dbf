//! The exchange: what engines of one race tell each other about their system.
//!
//! * *Lemmas*: clauses over the edges of the system that are true in every step of every run. X1: lemmas that are shared
//!   together follow from the resets; and from themselves, the lemmas before them in the list and the constraints of the
//!   step before. So the list is an inductive invariant whenever somebody reads it, and a reader takes lemmas as they are,
//!   but all of them. PDR gives lemmas, and engines on unrollings take them. Between variants of PDR they did harm: the
//!   variants became alike, and all of them had more clauses to carry.
//! * *The bound*: no run is bad in a step below it.
//!
//! The list only grows. A reader remembers how far it has read.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::aig::Edge;

/// A clause: a disjunction of edges.
pub type Clause = Arc<[Edge]>;

/// What is known to all engines of a race.
#[derive(Default, Debug)]
pub struct Exchange {
    lemmas: RwLock<Vec<Clause>>,
    bound: AtomicUsize,
}

impl Exchange {
    /// No run is bad in a step below this.
    pub fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    /// Says that no run is bad in a step below the bound.
    pub fn raise_bound(&self, bound: usize) {
        self.bound.fetch_max(bound, Ordering::Relaxed);
    }

    /// Adds lemmas. They must be inductive together with those that were added before.
    pub fn share(&self, clauses: impl IntoIterator<Item = Vec<Edge>>) {
        let mut lemmas = self.lemmas.write().unwrap_or_else(PoisonError::into_inner);
        lemmas.extend(clauses.into_iter().map(Clause::from));
    }

    /// The number of lemmas.
    pub fn num_lemmas(&self) -> usize {
        self.lemmas.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// An engine's place in the list.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    exchange: &'a Exchange,
    read: usize,
}

impl<'a> Reader<'a> {
    /// A reader that has read nothing.
    pub fn new(exchange: &'a Exchange) -> Self {
        Self { exchange, read: 0 }
    }

    /// The exchange.
    pub fn exchange(&self) -> &'a Exchange {
        self.exchange
    }

    /// The lemmas that were added since the last call.
    pub fn news(&mut self) -> Vec<Clause> {
        let lemmas = self.exchange.lemmas.read().unwrap_or_else(PoisonError::into_inner);
        let news = lemmas[self.read..].to_vec();
        self.read = lemmas.len();
        news
    }
}

#[cfg(test)]
mod tests {
    use shofar_run::{Limits, Stop};
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::bmc;
    use crate::common::shortest_in_system;
    use crate::evidence::{Evidence, Invariant};
    use crate::explicit::{is_counterexample, is_inductive, random_system};
    use crate::kind;
    use crate::pdr::{self, Options, Variant};
    use crate::system::BitSystem;

    fn check(system: &BitSystem, answer: Result<Evidence, Stop>, number: u64) {
        let shortest = shortest_in_system(system);
        match answer {
            Ok(Evidence::Unsafe(trace)) => assert!(is_counterexample(system, &trace), "system {number}"),
            Ok(Evidence::Safe(invariant)) => {
                assert_eq!(shortest, None, "system {number}");
                assert!(is_inductive(system, &invariant), "system {number}");
            }
            Err(Stop::Exhausted(_)) => assert_eq!(shortest, None, "system {number}"),
            Err(stop) => panic!("system {number}: {stop}"),
        }
    }

    /// Each engine in turn finds what those before it have left.
    #[test]
    fn engines_use_lemmas_of_others_and_lemmas_are_inductive() {
        let mut random = Random::new(17);
        let (mut lemmas, mut bounds) = (0, 0);
        for number in numbers(1000) {
            let system = random_system(&mut random, 6, 3, 25);
            let limits = Limits::default();
            let exchange = Exchange::default();
            for variant in [Variant::Signals, Variant::Local, Variant::Plain, Variant::Signals] {
                let options = Options { variant, ..Options::default() };
                check(&system, pdr::run(&system, options, &exchange, &limits), number);
                let clauses = Reader::new(&exchange).news().iter().map(|clause| clause.to_vec()).collect();
                let invariant = Invariant { aig: system.aig.clone(), clauses, depth: 1 };
                let never_bad = BitSystem { bad: Edge::FALSE, ..system.clone() };
                assert!(is_inductive(&never_bad, &invariant), "system {number}");
            }
            let shortest = shortest_in_system(&system);
            assert!(shortest.is_none_or(|length| length >= exchange.bound()), "system {number}");
            if shortest.is_some() {
                check(&system, bmc::run(&system, 1, &exchange, &limits), number);
                check(&system, kind::run(&system, &exchange, &limits), number);
            }
            lemmas += exchange.num_lemmas();
            bounds += usize::from(exchange.bound() > 2);
        }
        assert!(lemmas > 5 && bounds > 10, "{lemmas} {bounds}");
    }

    /// With the lemmas of an invariant, depth 1 suffices where it does not without them.
    #[test]
    fn lemmas_strengthen_induction() {
        let mut random = Random::new(19);
        let mut strengthened = 0;
        for number in numbers(600) {
            let system = random_system(&mut random, 5, 2, 20);
            let exchange = Exchange::default();
            let limits = Limits::default();
            let Ok(Evidence::Safe(invariant)) =
                pdr::run(&system, Options::default(), &Exchange::default(), &limits)
            else {
                continue;
            };
            let alone = Invariant { aig: system.aig.clone(), clauses: vec![vec![!system.bad]], depth: 1 };
            strengthened += usize::from(!is_inductive(&system, &alone));
            exchange.share(invariant.clauses);
            let proof = kind::run(&system, &exchange, &limits);
            assert!(matches!(&proof, Ok(Evidence::Safe(proof)) if proof.depth == 1), "system {number}");
            check(&system, proof, number);
        }
        assert!(strengthened > 20, "{strengthened}");
    }

    #[test]
    fn each_reader_gets_each_lemma_once() {
        let exchange = Exchange::default();
        let (mut first, mut second) = (Reader::new(&exchange), Reader::new(&exchange));
        let clause = |code: u32| vec![Edge::from_code(code)];
        exchange.share([clause(2), clause(4)]);
        assert_eq!(second.news().len(), 2);
        exchange.share([clause(6)]);
        assert_eq!(second.news(), vec![Clause::from(clause(6))]);
        assert_eq!(second.news(), Vec::<Clause>::new());
        assert_eq!(first.news().len(), 3);
        assert_eq!(exchange.num_lemmas(), 3);
    }

    #[test]
    fn the_bound_never_falls() {
        let exchange = Exchange::default();
        exchange.raise_bound(7);
        exchange.raise_bound(3);
        assert_eq!(exchange.bound(), 7);
    }
}
