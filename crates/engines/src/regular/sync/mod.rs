//! Synchronous regular invariants: automata that read several arguments at the same time.
//!
//! **What it decides.** It answers `sat` if the predicates have interpretations that synchronous tree automata over the full
//! convolution of arguments define (the class REG×): equality, order and successor of Peano numbers, lists of the same length, a
//! tree and one of its branches. It never answers `unsat`. Clauses may be of any shape; integers are divided into a few classes.
//!
//! **The idea.** A tuple of terms is one term over tuples of constructors (`convolution.rs`), and an automaton that reads it is a
//! finite algebra over these. So the search of `regular` for constructor tables goes on over another signature. What is new are
//! the clauses: two atoms read different tuples of the same variables, and which pairs of states they can have is the language of
//! a product automaton. Its reachable states are computed by further rules (`clauses.rs`), and the least model of all rules
//! decides whether the tables are an invariant:
//!
//! ```text
//! loop: ask the SAT solver for tables over letters                                  ../tables.rs
//!     tables      states that are possible together, then the facts of predicates   clauses.rs, ../fixpoint.rs
//!         no query fires     the automaton is a model: sat                          model.rs
//!         a query fires      the cells that its derivation read are excluded
//! ```
//!
//! **Why the answer is right.** The states of terms are possible together in the rules. So an instance of a clause by terms is an
//! instance of its rule.
//!
//! **What it cannot find.** It is sound, but not complete: it takes the children of a convolution for independent, which they are
//! only if constructors have at most one field. `x = node(t, t)` is not synchronous. Letters have at most eight children; so
//! arguments are read in blocks.
//!
//! **Where it comes from.** Yu. Kostyukov, thesis, chapter 3 (RInGen-Sync). **Where we differ.** The thesis gives first-order
//! formulas to a finite model finder, and encodes Reach and Final there. Our tables determine both. Shapes have sorts of their
//! own, repeated variables become equations of the clause, and the automata of patterns are constructed at once. (The thesis
//! claims closure under quotients by patterns with repeated variables, which is false: `{(node(a, b), node(c, d)) | b = c}` is
//! synchronous, and its quotient by `(x, x)` is `{node(a, a)}`.)

mod clauses;
mod convolution;
mod model;
#[cfg(test)]
mod tests;

use std::time::Instant;

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_logic::{Sort, TermStore};
use shofar_run::Stop;

use super::automaton::{Algebra, Signature, Tuple};
use super::classes::Partition;
use super::clauses::{PureClause, pure_clauses};
use super::fixpoint::{MOST_ARGUMENTS, Program};
use super::tables::TableSearch;
use super::turns::{Attempt, Turns};
use super::{partitions, supports_all};
use crate::option::options;
use crate::{Engine, EngineOption, Evidence, Run, fragment};
use clauses::{ClauseAutomata, Configuration, Failure};
use convolution::{Convolution, MOST_CHILDREN, Shape, structured_fields};

/// The greatest number of arguments that are read together.
const MOST_COMPONENTS: usize = 4;

options! {
    states: u64 = 6, "states": "how many states the tuples of a shape have at most" in 1..=15;
    steps: u64 = 10_000_000, "steps": "how many steps a least model takes at most" in 1..=1_000_000_000_000;
}

/// The engine of synchronous regular invariants.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Synchronous {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Synchronous {
    fn name(&self) -> &'static str {
        "regular-sync"
    }

    fn description(&self) -> &'static str {
        "regular relations by automata that read several arguments at once, for models over datatypes; all systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_interpolable(store, graph)
    }

    /// Peano numbers that have become integers are no terms to read.
    fn works_on_clauses_as_read(&self) -> bool {
        true
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let mut search = Search::new(graph, run, self.options);
        let invariant = search.invariant();
        run.tell_statistics(search.turns.counters(), start);
        model::model(run.store, graph, &invariant?).map(Evidence::Sat)
    }
}

/// A synchronous automaton that is a model of the clauses.
struct Invariant {
    convolution: Convolution,
    algebra: Algebra,
    /// By nodes: the arguments that are read together.
    blocks: Vec<Vec<Vec<usize>>>,
    /// By predicates: the facts. Nodes come first.
    facts: Vec<Vec<Tuple>>,
    joint: FxHashMap<Configuration, usize>,
}

/// The state of a run.
struct Search<'a> {
    graph: &'a HornGraph,
    run: &'a Run<'a>,
    options: Options,
    turns: Turns<'a, BlockAttempt>,
}

/// The search with one partition of the integers and one choice of blocks.
struct BlockAttempt {
    convolution: Convolution,
    blocks: Vec<Vec<Vec<usize>>>,
    program: Program,
    joint: FxHashMap<Configuration, usize>,
    tables: TableSearch,
}

impl Attempt for BlockAttempt {
    type Invariant = Invariant;

    fn parts(&mut self) -> (&mut TableSearch, &Program, &Signature) {
        (&mut self.tables, &self.program, &self.convolution.signature)
    }

    fn invariant(self, algebra: Algebra, facts: Vec<Vec<Tuple>>) -> Invariant {
        let BlockAttempt { convolution, blocks, joint, .. } = self;
        Invariant { convolution, algebra, blocks, facts, joint }
    }
}

impl<'a> Search<'a> {
    fn new(graph: &'a HornGraph, run: &'a Run<'a>, options: Options) -> Self {
        Search { graph, run, options, turns: Turns::new(run, options.steps) }
    }

    fn invariant(&mut self) -> Result<Invariant, Stop> {
        let clauses = pure_clauses(self.run, self.graph)?;
        let mut is_too_large = None;
        for partition in partitions(self.run.store, self.graph, &clauses) {
            let mut seen: Vec<Vec<Vec<Vec<usize>>>> = Vec::new();
            for most_children in [MOST_CHILDREN / 2, MOST_CHILDREN] {
                let blocks = self.blocks(&partition, most_children);
                if seen.contains(&blocks) {
                    continue;
                }
                seen.push(blocks.clone());
                match self.attempt(&clauses, &partition, blocks) {
                    Ok(attempt) => {
                        if let Some(invariant) = self.turns.turn(attempt)? {
                            return Ok(invariant);
                        }
                    }
                    Err(Failure::TooLarge) => is_too_large = Some(Stop::from(Failure::TooLarge)),
                    Err(Failure::Interrupted(reason)) => return Err(reason.into()),
                }
            }
        }
        if let Some(invariant) = self.turns.finish()? {
            return Ok(invariant);
        }
        supports_all(self.run, self.graph)?;
        Err(is_too_large.unwrap_or(Stop::Exhausted("no synchronous automaton with so few states is a model")))
    }

    /// By nodes: the arguments that are read together. Arguments of the same sort come first, as far as letters have few children.
    fn blocks(&self, partition: &Partition, most_children: usize) -> Vec<Vec<Vec<usize>>> {
        let store = self.run.store;
        let fields = |sort: Sort| {
            let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
            constructors.iter().map(|&id| structured_fields(store, id).len().max(1)).max().unwrap_or(1)
        };
        let of_sorts = |sorts: &[Sort]| {
            let mut blocks: Vec<Vec<usize>> = Vec::new();
            let is_structured = |at: &usize| store.datatype(sorts[*at]).is_some();
            for at in (0..sorts.len()).filter(is_structured) {
                let fits = |block: &&mut Vec<usize>| {
                    let children: usize = block.iter().map(|&other| fields(sorts[other])).product();
                    block.len() < MOST_COMPONENTS && children * fields(sorts[at]) <= most_children
                };
                let has_sort = |block: &mut Vec<usize>| sorts[block[0]] == sorts[at];
                let mut fitting: Vec<&mut Vec<usize>> = blocks.iter_mut().filter(fits).collect();
                let same = fitting.iter_mut().position(|block| has_sort(block));
                let chosen = same.or(if fitting.is_empty() { None } else { Some(0) });
                match chosen.map(|position| fitting.swap_remove(position)) {
                    Some(block) => block.push(at),
                    None => blocks.push(vec![at]),
                }
            }
            let is_divided =
                |at: &usize| store.datatype(sorts[*at]).is_none() && partition.len(sorts[*at]) > 1;
            blocks.extend((0..sorts.len()).filter(is_divided).map(|at| vec![at]));
            blocks
        };
        self.graph.nodes().map(|(_, node)| of_sorts(&node.sorts(store))).collect()
    }

    fn attempt(
        &self,
        clauses: &[PureClause],
        partition: &Partition,
        blocks: Vec<Vec<Vec<usize>>>,
    ) -> Result<BlockAttempt, Failure> {
        let store = self.run.store;
        if blocks.iter().any(|blocks| blocks.len() > MOST_ARGUMENTS) {
            return Err(Failure::TooLarge);
        }
        let mut shapes: Vec<Shape> = Vec::new();
        for ((_, node), blocks) in self.graph.nodes().zip(&blocks) {
            let sorts = node.sorts(store);
            shapes.extend(blocks.iter().map(|block| block.iter().map(|&at| sorts[at]).collect()));
        }
        let convolution = Convolution::new(store, partition.clone(), &shapes).ok_or(Failure::TooLarge)?;
        let mut automata = ClauseAutomata::new(self.run, &convolution, &blocks);
        clauses.iter().try_for_each(|clause| automata.add(clause))?;
        let (predicates, rules, joint) = (automata.predicates, automata.rules, automata.joint);
        let program = Program::new(predicates, rules);
        let most_states = self.options.states as usize;
        let tables = TableSearch::new(&convolution.signature, convolution.components.clone(), most_states);
        Ok(BlockAttempt { convolution, blocks, program, joint, tables })
    }
}
