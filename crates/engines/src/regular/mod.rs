//! Regular invariants: finite algebras that interpret datatypes, for models of all systems over datatypes.
//!
//! **What it decides.** It answers `sat` if the predicates have interpretations that tree automata define (the class REG).
//! It never answers `unsat`. Clauses may be of any shape. Integers are divided into a few classes, and other sorts than
//! datatypes, integers and truth values are ignored.
//!
//! **The idea.** A finite algebra maps all terms of a datatype to finitely many states: the parity of a number, whether
//! a list is empty, the value of a propositional formula. In the algebra, clauses are a Datalog program over states, and its
//! least model is computable. If no query fires in it, then the predicates that hold for the states of their
//! arguments are a model of the clauses. So it is enough to find constructor tables:
//!
//! ```text
//! solve the equations of clauses                                                  clauses.rs, encode.rs, classes.rs
//! loop: ask the SAT solver for tables within bounds on the number of states       turns.rs, tables.rs
//!     none        raise a bound that the core names
//!     tables      compute the least model                                         fixpoint.rs
//!         no query fires     the minimised automaton is a model: sat              automaton.rs, model.rs
//!         a query fires      the cells that its derivation read are excluded
//! ```
//!
//! This goes on in turns for several partitions of the integers, with more and more tables in a turn.
//!
//! **Why the answer is right.** Every instance of a clause by terms is an instance by their states, and the solved clauses
//! allow at least as much as the clauses of the graph. So what holds of states holds of terms.
//!
//! **What it cannot find.** Automata relate the arguments of a predicate only by finitely many states. Equality and order of
//! unbounded values are not regular: two of them share a state. If a query needs equality for this reason, the search does not begin
//! (`laws.rs`).
//!
//! **Where it comes from.** Yu. Kostyukov, D. Mordvinov, G. Fedyukovich, "Beyond the elementary representations of program invariants
//! over algebraic data types" (PLDI 2021), give the clauses to a finite model finder. **Where we differ.** Predicates are
//! no part of the search, since tables determine them; derivations explain why tables fail. Selectors are total, and
//! integers have classes.

pub mod automaton;
mod classes;
pub(crate) mod clauses;
mod encode;
mod fixpoint;
mod laws;
mod model;
mod sync;
mod tables;
#[cfg(test)]
mod tests;
mod turns;

use std::time::Instant;

use shofar_horn::HornGraph;
use shofar_logic::{Sort, Term, TermStore};
use shofar_run::Stop;
use shofar_smt::supports;

use crate::option::options;
use crate::{Engine, EngineOption, Evidence, Run, fragment};
use automaton::{Algebra, Relation, Signature, Tuple};
use classes::Partition;
use clauses::{PureClause, pure_clauses};
use encode::Encoding;
use fixpoint::{MOST_ARGUMENTS, Program};
use laws::has_law;
pub use sync::Synchronous;
use tables::TableSearch;
use turns::{Attempt, Turns};

/// Why there is no invariant if a query states a law.
const LAW: &str = "a query denies an equation of more values than automata tell apart";

options! {
    states: u64 = 8, "states": "how many states a datatype has at most" in 1..=15;
    steps: u64 = 10_000_000, "steps": "how many steps a least model takes at most" in 1..=1_000_000_000_000;
}

/// The engine of regular invariants.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Regular {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Regular {
    fn name(&self) -> &'static str {
        "regular"
    }

    fn description(&self) -> &'static str {
        "regular invariants by finite algebras, for models over datatypes; all systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_interpolable(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let mut search = Search::new(graph, run, self.options);
        let invariant = search.invariant();
        run.tell_statistics(search.turns.counters(), start);
        model::model(run.store, graph, &invariant?).map(Evidence::Sat)
    }
}

/// An automaton that is a model of the clauses: the encoding of the clauses, the tables, and by predicates the accepted tuples.
struct Invariant {
    encoding: Encoding,
    algebra: Algebra,
    relations: Vec<Relation>,
}

/// The state of a run.
struct Search<'a> {
    graph: &'a HornGraph,
    run: &'a Run<'a>,
    options: Options,
    turns: Turns<'a, PartitionAttempt>,
}

/// The search with one partition of the integers.
struct PartitionAttempt {
    encoding: Encoding,
    tables: TableSearch,
}

impl Attempt for PartitionAttempt {
    type Invariant = Invariant;

    fn parts(&mut self) -> (&mut TableSearch, &Program, &Signature) {
        (&mut self.tables, &self.encoding.program, &self.encoding.signature)
    }

    fn invariant(self, algebra: Algebra, facts: Vec<Vec<Tuple>>) -> Invariant {
        let sorts = self.encoding.arguments.iter().cloned();
        let relation = |(sorts, tuples): (Box<[usize]>, Vec<Tuple>)| Relation {
            sorts,
            tuples: tuples.into_iter().collect(),
        };
        let relations: Vec<Relation> = sorts.zip(facts).map(relation).collect();
        let (algebra, relations) = algebra.minimised(&self.encoding.signature, &relations);
        Invariant { encoding: self.encoding, algebra, relations }
    }
}

impl<'a> Search<'a> {
    fn new(graph: &'a HornGraph, run: &'a Run<'a>, options: Options) -> Self {
        Search { graph, run, options, turns: Turns::new(run, options.steps) }
    }

    fn invariant(&mut self) -> Result<Invariant, Stop> {
        if self.graph.nodes().any(|(_, node)| node.arity() > MOST_ARGUMENTS) {
            return Err(Stop::Unsupported(format!("predicates with more than {MOST_ARGUMENTS} arguments")));
        }
        let clauses = pure_clauses(self.run, self.graph)?;
        if has_law(self.run, self.graph, &clauses, self.options.states as usize)? {
            return Err(Stop::Exhausted(LAW));
        }
        for partition in partitions(self.run.store, self.graph, &clauses) {
            let attempt = self.attempt(&clauses, partition)?;
            if let Some(invariant) = self.turns.turn(attempt)? {
                return Ok(invariant);
            }
        }
        if let Some(invariant) = self.turns.finish()? {
            return Ok(invariant);
        }
        supports_all(self.run, self.graph)?;
        Err(Stop::Exhausted("no automaton with so few states is a model"))
    }

    fn attempt(&self, clauses: &[PureClause], partition: Partition) -> Result<PartitionAttempt, Stop> {
        let encoding = Encoding::new(self.run, self.graph, clauses, partition)?;
        let most_states = self.options.states as usize;
        let tables = TableSearch::new(&encoding.signature, encoding.components.clone(), most_states);
        Ok(PartitionAttempt { encoding, tables })
    }
}

/// Operators that the solver does not support are ignored. If there is no model then, they are the reason.
fn supports_all(run: &Run<'_>, graph: &HornGraph) -> Result<(), Stop> {
    let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
    supports(run.store, &labels).map_err(|unsupported| unsupported.stop(run.store))
}

/// The partitions of the integers for these clauses.
fn partitions(store: &TermStore, graph: &HornGraph, clauses: &[PureClause]) -> Vec<Partition> {
    let mut terms: Vec<Term> = graph.nodes().flat_map(|(_, node)| node.variables()).copied().collect();
    let scalar: Vec<Term> = clauses.iter().flat_map(|clause| clause.scalar.iter().copied()).collect();
    for clause in clauses {
        terms.extend(clause.body.iter().chain(&clause.head).flat_map(|(_, arguments)| arguments));
        terms.extend(clause.unequal.iter().flat_map(|&(a, b)| [a, b]));
    }
    let subterms = store.subterms(&terms);
    let has_integers = subterms.iter().any(|&term| store.sort_of(term) == Sort::INT);
    Partition::of_clauses(store, &[scalar, terms].concat(), has_integers)
}
