//! PD-KIND: property-directed k-induction, for transition systems and so for all linear systems.
//!
//! **What it decides.** Transition systems over Booleans and linear integer and real arithmetic. `forms.rs` converts
//! linear systems to this form, with bad states that can be negated (`flag.rs`). Nonlinear systems are rejected.
//!
//! **The idea.** IC3 searches for an invariant whose lemmas are inductive together, and finds each lemma where a single
//! step fails. k-induction considers `k` steps, but only for the property itself. PD-KIND combines both: it finds
//! lemmas where induction over `k` steps fails, and proves them by induction over `k` steps. Two engines share the
//! work:
//!
//! - the *induction-checking engine* (`ice.rs`) has the lemmas and pushes them to higher levels;
//! - the *finite reachability engine* (`fire.rs`) decides whether the states from which induction fails are reached in
//!   a given number of steps. If not, the reason is the next lemma.
//!
//! ```text
//! bad states are initial?                                     unsafe
//! <F, G, n, k, Q> <- <{not Bad}, {}, 0, 1, {not Bad}>
//! repeat  apply a rule of ice.rs to a lemma of Q              fire.rs searches, symbolic.rs asks the solver
//! until   Unsafe: the path that was found                     Symbolic::concrete
//!         Safe:   F is k-inductive, and made inductive        k_inductive.rs
//! ```
//!
//! **Invariants.** C1 to C5 of the configuration are in `ice.rs`, R1 and R2 of reachability in `fire.rs`. Both engines
//! are independent of formulas, so tests can run them on systems with a dozen states, draw interpolants and
//! generalisations at random, and check all invariants.
//!
//! **Why the answer is right.** A path consists of sets of states, and each state of a set has a successor in the next
//! set (C4); states are chosen one by one, starting with an initial one. In the end `F` is k-inductive relative to
//! itself (C3), holds in the first `n + 1 >= k` states of each path (C1, C2), and excludes the bad states (C4).
//!
//! **Notation.** `<F, G, n, k, Q, n_cti>` is `Ice`, CEX is its `cexes`; `R_i` is `Fire::frame(i)`. The strategies: `kappa`
//! is [`Depth`], `omega` is [`Order`], `sigma` is [`InterpolationMethod`].
//!
//! **Where it comes from.** D. Jovanović, B. Dutertre, "Property-directed k-induction" (FMCAD 2016). The division into
//! two engines and the rules are those of M. Blicha et al., "Cooperative parallel SMT-based model checking" (VMCAI
//! 2020). The procedure in a solver for Horn clauses is that of M. Henrych's thesis (Prague 2024), with the corrections
//! in `ice.rs`.
//!
//! **Where we differ.** Frames of reachability share their lemmas. The reachability engine also learns pushed lemmas.
//! Interpolants separate unsatisfiable cores. Initial states are disjoined to an interpolant only if it does not
//! contain them.

mod domain;
#[cfg(test)]
mod explicit;
mod fire;
mod ice;
mod symbolic;

use std::time::Instant;

use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Term, Value};
use shofar_run::Stop;

use crate::exchange::states::StatePort;
use crate::flag::Flagged;
use crate::forms::TransitionForm;
use crate::k_inductive::to_inductive;
use crate::option::{Named, Setting, options};
use crate::separation::InterpolationMethod;
use crate::{Engine, EngineOption, Evidence, Run};
use domain::{Domain, Image};
use ice::{Ice, Rule};
use symbolic::Symbolic;

/// The induction depth `k`, which is at most `n + 1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// As large as possible. Levels double.
    Full,
    /// One more at each level.
    Growing,
    /// At most this depth; zero counts as one.
    Fixed(usize),
}

impl Depth {
    /// The induction depth for the given level.
    fn choose(self, n: usize, round: usize) -> usize {
        let wanted = match self {
            Depth::Full => n + 1,
            Depth::Growing => round + 1,
            Depth::Fixed(k) => k,
        };
        wanted.clamp(1, n + 1)
    }
}

/// The largest depth that an option value may have. A depth greater than `n + 1` has no effect.
const MOST_DEPTH: usize = 1_000_000;

impl Setting for Depth {
    fn get(&self) -> String {
        match self {
            Depth::Full => "full".to_owned(),
            Depth::Growing => "growing".to_owned(),
            Depth::Fixed(k) => k.to_string(),
        }
    }

    fn values(&self) -> String {
        format!("full, growing, or a whole number from 1 to {MOST_DEPTH}")
    }

    fn set(&mut self, value: &str) -> bool {
        *self = match value {
            "full" => Depth::Full,
            "growing" => Depth::Growing,
            number => match number.parse() {
                Ok(k @ 1..=MOST_DEPTH) => Depth::Fixed(k),
                _ => return false,
            },
        };
        true
    }
}

/// The order in which lemmas are processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The lemma that waits longest.
    Fifo,
    /// The latest lemma.
    Lifo,
    /// The lemma whose counterexample is nearest to the bad states; among equals, the one that waits longest.
    Shallow,
}

impl Named for Order {
    const ALL: &'static [Self] = &[Order::Fifo, Order::Lifo, Order::Shallow];

    fn name(self) -> &'static str {
        match self {
            Order::Fifo => "fifo",
            Order::Lifo => "lifo",
            Order::Shallow => "shallow",
        }
    }
}

options! {
    interpolation: InterpolationMethod = InterpolationMethod::Decomposed, "interpolation": "how interpolants are made";
    depth: Depth = Depth::Growing, "depth": "how many steps induction looks at";
    order: Order = Order::Fifo, "order": "which lemma is looked at first";
}

/// The PD-KIND engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PdKind {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for PdKind {
    fn name(&self) -> &'static str {
        "pdkind"
    }

    fn description(&self) -> &'static str {
        "property-directed k-induction; linear systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let looped = TransitionForm::of(run, graph)?;
        let flagged = Flagged::of(run, &looped.system);
        let port = StatePort::of(run, &looped).map(|port| port.flagged(&flagged));
        match self.decide(run, &flagged.system, port)? {
            Decision::Invariant(invariant) => looped.safe(run, flagged.invariant(run.store, invariant)),
            Decision::Path(states) => looped.unsafe_by(run, flagged.path(states)),
        }
    }
}

impl PdKind {
    /// Decides a system whose bad states have no local variables.
    fn decide<'a>(
        &self,
        run: &'a Run<'a>,
        system: &'a TransitionSystem,
        port: Option<StatePort<'a>>,
    ) -> Result<Decision, Stop> {
        let start = Instant::now();
        let Options { depth, order, interpolation } = self.options;
        let mut domain = Symbolic::new(run, system, port, interpolation)?;
        if let Image::Meets(_) = domain.initial(system.bad)? {
            return Ok(Decision::Path(domain.concrete(&[(system.bad, 0)])?));
        }
        let mut ice = Ice::new(domain, system.bad, depth, order)?;
        let found = apply_rules(run, &mut ice);
        run.tell_statistics(counters(&ice), start);
        Ok(match found? {
            Found::Unsafe(trace) => Decision::Path(ice.domain.concrete(&trace)?),
            Found::Safe => {
                let invariant = run.store.and(&ice.lemmas());
                Decision::Invariant(to_inductive(run, system, invariant, ice.k)?)
            }
        })
    }
}

/// The answer for a system.
enum Decision {
    /// An inductive invariant without bad states.
    Invariant(Term),
    /// States from an initial to a bad one.
    Path(Vec<Box<[Value]>>),
}

/// The result of the rules.
enum Found<S> {
    /// The frame is k-inductive.
    Safe,
    /// Sets of states, each with the number of steps to the next one.
    Unsafe(Vec<(S, usize)>),
}

fn apply_rules<D: Domain>(run: &Run<'_>, ice: &mut Ice<D>) -> Result<Found<D::Set>, Stop> {
    loop {
        match ice.step()? {
            Rule::Safe => return Ok(Found::Safe),
            Rule::Unsafe(trace) => return Ok(Found::Unsafe(trace)),
            Rule::NextLevel | Rule::PushLemma | Rule::AddLemma | Rule::BadLemma | Rule::StrengthenLemma => {}
        }
        let counters = vec![("lemmas.added", ice.statistics.added), ("reach.goals", ice.fire.goals)];
        run.tell_progress(ice.n as u64, counters);
    }
}

fn counters(ice: &Ice<Symbolic<'_>>) -> Vec<(&'static str, u64)> {
    let ice::Statistics { levels, pushed, added, bad, strengthened, received } = ice.statistics;
    vec![
        ("levels", levels),
        ("steps", ice.n as u64),
        ("induction-depth", ice.k as u64),
        ("lemmas.pushed", pushed),
        ("lemmas.added", added),
        ("lemmas.bad", bad),
        ("lemmas.strengthened", strengthened),
        ("lemmas.received", received),
        ("reach.searches", ice.fire.searches),
        ("reach.goals", ice.fire.goals),
        ("reach.lemmas", ice.fire.num_lemmas() as u64),
        ("interpolants", ice.domain.interpolant_count()),
        ("interpolants.missing", ice.domain.fallbacks),
        ("solver.queries", ice.domain.queries),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_horn::graph::rename;
    use shofar_logic::{Sort, TermStore};
    use shofar_run::Limits;
    use shofar_smt::solver::Solver;
    use std::time::Duration;

    /// From 0 in steps of two. The bad states are the odd numbers from a bound on, or the multiples of four: both with
    /// a flag.
    #[test]
    fn bad_states_with_local_variables() {
        let store = TermStore::new();
        let [x, next, half] = ["x", "x'", "half"].map(|name| store.var(store.symbol(name), Sort::INT));
        let twice = |n: i64, c: i64| store.add(&[store.mul(&[store.int(n), half]), store.int(c)]);
        let limits =
            Limits { deadline: Instant::now().checked_add(Duration::from_secs(60)), ..Limits::default() };
        let run = Run::new(&store).with_limits(limits);
        let is_satisfiable = |formulas: &[Term]| run.is_satisfiable(&mut Solver::new(&store), formulas);
        for (factor, offset, is_safe) in [(2, 1, true), (4, 0, false), (4, 2, false)] {
            let bad = store.and2(store.eq(x, twice(factor, offset)), store.ge(half, store.int(1)));
            let system = TransitionSystem {
                state: [x].into(),
                next: [next].into(),
                init: store.eq(x, store.int(0)),
                transition: store.eq(next, store.add(&[x, store.int(2)])),
                bad,
            };
            let flagged = Flagged::with_flag(&store, &system);
            match PdKind::default().decide(&run, &flagged.system, None) {
                Ok(Decision::Invariant(invariant)) => {
                    assert!(is_safe);
                    let invariant = flagged.invariant(&store, invariant);
                    let after = rename(&store, store.not(invariant), &system.state, &system.next);
                    assert_eq!(is_satisfiable(&[system.init, store.not(invariant)]), Ok(false));
                    assert_eq!(is_satisfiable(&[invariant, system.transition, after]), Ok(false));
                    assert_eq!(is_satisfiable(&[invariant, bad]), Ok(false));
                }
                Ok(Decision::Path(states)) => {
                    assert!(!is_safe);
                    let numbers: Vec<Value> =
                        flagged.path(states).into_iter().map(|s| s[0].clone()).collect();
                    let expected = (0..=(factor + offset) / 2).map(|i| Value::Int((2 * i).into()));
                    assert_eq!(numbers, expected.collect::<Vec<_>>());
                }
                Err(stop) => panic!("{stop}"),
            }
        }
    }
}
