//! Saturation by ordered resolution, for systems over datatypes.
//!
//! **What it decides.** It answers `sat` if resolution derives nothing new from the clauses after finitely many steps, and not
//! the empty clause. If it derives the empty clause, the clauses that it used may have values that make them a derivation of `false`
//! (`refute.rs`): then it answers `unsat`. Clauses may be of any shape. What they say of other sorts than datatypes is mostly
//! ignored (`input.rs`).
//!
//! **The idea.** Clauses over constructor terms are Horn clauses without equality. A set of them from which ordered resolution
//! derives nothing but instances of its members has a model, if the empty clause is not among them. The model need not
//! have a finite description: for
//!
//! ```text
//! lt(zero, succ(x))        lt(x, y) => lt(succ(x), succ(y))        lt(x, y), lt(y, x) => false
//! ```
//!
//! resolution of the goal gives the goal again, and `lt(succ(x), zero) => false`. That proves it; but a finite algebra
//! cannot express an order.
//!
//! **The witness** is the saturated set, with its order and the selected atoms (`Saturation`). The checker makes all inferences again.
//! This rests on the completeness of ordered resolution with selection. In the order by derivations, only goals are
//! resolved; then saturation is an induction on derivations, whose lemmas are the goals.
//!
//! Lemmas that most inductions need are tried first (`lemmas.rs`). Then several strategies take turns, with more and more clauses.
//!
//! **Where it comes from.** Ordered resolution: L. Bachmair and H. Ganzinger, "Resolution theorem proving" (2001). Clauses over
//! datatypes for theorem provers: Yu. Kostyukov, D. Mordvinov, G. Fedyukovich, "Beyond the elementary representations of program
//! invariants over algebraic data types" (PLDI 2021). **Where we differ.** There the saturated set is not a checkable
//! witness, and the order by derivations is ours.

mod input;
mod lemmas;
mod order;
mod refute;
mod saturate;
mod select;
mod subsume;
mod terms;

use std::time::Instant;

use shofar_horn::HornGraph;
use shofar_logic::TermStore;
use shofar_run::Stop;

use self::input::Problem;
use self::lemmas::add_lemmas;
use self::saturate::{Loop, Outcome, Strategy};
use self::select::Preference;
use crate::option::options;
use crate::{Engine, EngineOption, Evidence, Run, fragment};

/// The number of given clauses in a strategy's first turn; it doubles with each turn.
const FIRST_TURN: u64 = 100;

/// Why there is no answer if the empty clause was derived.
const CONTRADICTION: &str =
    "resolution derives false from what it sees of the clauses, but there are no values for this derivation";

/// The strategies, in the order of their turns.
const STRATEGIES: [Strategy; 4] = [
    Strategy { is_weighted: false, preference: Preference::Synchronous, generalises: false },
    Strategy { is_weighted: false, preference: Preference::Synchronous, generalises: true },
    Strategy { is_weighted: false, preference: Preference::First, generalises: false },
    Strategy { is_weighted: true, preference: Preference::Synchronous, generalises: false },
];

options! {
    clauses: u64 = 20_000, "clauses": "how many clauses a strategy looks at" in 1..=1_000_000_000_000;
}

/// The engine of saturation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Saturate {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Saturate {
    fn name(&self) -> &'static str {
        "saturation"
    }

    fn description(&self) -> &'static str {
        "saturation by ordered resolution, for proofs of systems over datatypes; systems with datatypes"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn works_on_clauses_as_read(&self) -> bool {
        true
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_interpolable(store, graph)?;
        let sorts = graph.nodes().flat_map(|(_, node)| node.sorts(store));
        if sorts.into_iter().any(|sort| store.datatype(sort).is_some()) {
            return Ok(());
        }
        Err(Stop::Unsupported("saturation of clauses without datatypes".to_owned()))
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let mut problem = Problem::new(run, graph)?;
        add_lemmas(&mut problem, STRATEGIES[0], run)?;
        let goals = [&problem.lemmas[..], &problem.goals].concat();
        let mut open = STRATEGIES.to_vec();
        let (mut turn, mut given) = (FIRST_TURN, 0);
        loop {
            for strategy in std::mem::take(&mut open) {
                let mut saturation = Loop::new(&mut problem, strategy, &goals);
                let outcome = saturation.run(run, turn)?;
                given += saturation.given;
                let counters = vec![("clauses", given), ("terms", saturation.terms())];
                match outcome {
                    Outcome::Saturated(members) => {
                        run.tell_statistics(counters, start);
                        return Ok(Evidence::Saturation(problem.saturation(&members, strategy.is_weighted)));
                    }
                    // A stronger goal may be false where the clauses are not contradictory.
                    Outcome::Contradiction(_) if strategy.generalises => {}
                    Outcome::Contradiction(empty) => {
                        run.tell_statistics(counters, start);
                        let refutation = saturation.refutation(run, empty)?;
                        return refutation.map(Evidence::Unsat).ok_or(Stop::Exhausted(CONTRADICTION));
                    }
                    Outcome::Open => {
                        run.tell_progress(turn, counters);
                        open.push(strategy);
                    }
                }
            }
            if turn >= self.options.clauses {
                return Err(Stop::Exhausted("resolution derives more and more clauses"));
            }
            turn *= 2;
        }
    }
}
