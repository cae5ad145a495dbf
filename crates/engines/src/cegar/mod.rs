//! Counterexample-guided abstraction refinement on control-flow automata, for all systems.
//!
//! **What it decides.** Linear systems over the theories that the solver supports. They become programs
//! (`shofar_horn::cfa`): a predicate is a location, a clause an edge. In *forward* direction a location is reached with the
//! values of derivable facts; in *backward* direction with the values from which `false` would follow. Both reject non-linear
//! systems. The third direction has a procedure for each predicate and decides all systems; `summaries/` and `stack.rs` explain
//! it. What follows is about the other two.
//!
//! **The idea.** The program is executed on *abstract states*: what is known about the variables at a location, expressed in
//! a few tracked predicates, or as values of tracked variables. If no abstract error state is reached, the program is safe.
//! Otherwise the path to it is checked. If it can be executed, it is a counterexample; if not, the reason tells what to track
//! in addition.
//!
//! ```text
//! loop
//!     check the graph (abstractor.rs):    safe: the labels are a model
//!     refine its target (refiner.rs):     feasible: the path is a derivation
//!                                         spurious: the precision is finer, and the graph is pruned
//! ```
//!
//! | part | choices | file |
//! |---|---|---|
//! | direction | forward, backward, procedures | `shofar_horn::cfa` |
//! | domain | explicit values; cartesian, boolean or split predicates | `domain/` |
//! | refutation | sequence, backward or forward binary interpolants, Newton | `refine/` |
//! | precision | by location or global; whole formulas, conjuncts or atoms | `precision.rs` |
//! | search | breadth first, depth first, nearest to the error | `search.rs` |
//! | pruning | lazy, full | `arg.rs` |
//!
//! **Invariants.** A1 to A4 are in `arg.rs`.
//!
//! **Why the answer is right.** The graph is complete and has no target. The formula of a location is the disjunction of its
//! uncovered labels. A state that satisfies it is in an uncovered node, all of whose edges are executed (A3). So its successors
//! satisfy the label of a child (A1), which is uncovered, or covered by an uncovered node with a weaker label (A2). No edge
//! leads to the error (A4). Labels are about the live variables of their location, so the formulas have no quantifiers;
//! [`Automaton::model`] turns them into a model. A feasible path is a run of the program, and [`Automaton::derivation`]
//! turns it into a derivation.
//!
//! **Where it comes from.** E. Clarke, O. Grumberg, S. Jha, Y. Lu, H. Veith, "Counterexample-guided abstraction refinement"
//! (CAV 2000); the configurable loop is that of Á. Hajdu, Z. Micskei, "Efficient strategies for CEGAR-based model checking"
//! (JAR 2020); for Horn clauses, M. Somorjai, "Abstraction Based Techniques for Constrained Horn Clause Solving" (BME, 2022).
//! **Where we differ.** Labels and precisions are about live variables; feasibility does not depend on labels; the refiner
//! never returns without progress. The thesis solves most tasks with whole interpolants and split predicates; here atoms are
//! best, in both domains, since the refiner takes the whole interpolant where atoms do not suffice.

mod abstractor;
mod arg;
mod domain;
mod path;
mod port;
mod precision;
mod program;
mod refine;
mod refiner;
mod search;
mod stack;
mod summaries;

use std::time::{Duration, Instant};

use shofar_horn::HornGraph;
use shofar_horn::cfa::{self, Automaton, CfaEdgeId};
use shofar_horn::transform::{Chains, Merge, Pipeline};
use shofar_horn::witness::GraphModel;
use shofar_logic::{Term, TermStore, Value};
use shofar_run::Stop;

use crate::exchange::strengthened;
use crate::forms::LoopForm;
use crate::option::{Named, options};
use crate::separation::InterpolationMethod;
use crate::{Engine, EngineOption, Evidence, Run, fragment};
use abstractor::{Abstraction, Abstractor};
use arg::Arg;
use path::Path;
use port::Foreigners;
use precision::Precision;
use program::Program;
use refiner::{Refinement, Refiner};

pub use shofar_horn::cfa::Direction;

pub use domain::DomainKind;
pub use precision::{Granularity, InitialPrecision, Splitting};
pub use refine::{Calculus, Newton, Technique};
pub use search::Search;

/// What a refinement removes from the graph.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Pruning {
    /// The part below the first node that the refinement concerns.
    #[default]
    Lazy,
    /// Everything.
    Full,
}

impl Named for Pruning {
    const ALL: &'static [Self] = &[Pruning::Lazy, Pruning::Full];

    fn name(self) -> &'static str {
        match self {
            Pruning::Lazy => "lazy",
            Pruning::Full => "full",
        }
    }
}

/// How calls of procedures are executed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Calls {
    /// By summaries: abstract entries with their abstract exits.
    #[default]
    Summaries,
    /// By a stack of locations.
    Stack,
}

impl Named for Calls {
    const ALL: &'static [Self] = &[Calls::Summaries, Calls::Stack];

    fn name(self) -> &'static str {
        match self {
            Calls::Summaries => "summaries",
            Calls::Stack => "stack",
        }
    }
}

impl Named for Direction {
    const ALL: &'static [Self] = &[Direction::Forward, Direction::Backward, Direction::Procedures];

    fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
            Direction::Procedures => "procedures",
        }
    }
}

options! {
    direction: Direction = Direction::Forward, "direction": "how clauses are programs";
    calls: Calls = Calls::Summaries, "calls": "direction procedures: how calls are executed";
    domain: DomainKind = DomainKind::Cartesian, "domain": "how states are abstracted";
    max_enum: usize = 4,
        "max-enum": "domain expl: how many successors are enumerated, all if 0" in 0..=1_000_000;
    refinement: Technique = Technique::Sequence, "refinement": "how spurious counterexamples are refuted";
    pred_split: Splitting = Splitting::Atoms, "pred-split": "which predicates a refutation gives";
    search: Search = Search::Breadth, "search": "which node is expanded first";
    pruning: Pruning = Pruning::Lazy, "pruning": "what a refinement removes";
    precision: Granularity = Granularity::Location, "precision": "where a predicate is tracked";
    init_prec: InitialPrecision = InitialPrecision::Empty, "init-prec": "which conditions are tracked from the start";
    templates: u64 = 0,
        "templates": "refinement seq-itp: each n-th speaks of sums that loops preserve where it can, never if 0"
        in 0..=1_000_000;
    large_blocks: bool = false, "large-blocks": "join clauses in a row and parallel clauses first";
    interpolation: InterpolationMethod = InterpolationMethod::DualFarkas, "interpolation": "how interpolants are made";
}

/// The CEGAR engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Cegar {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Cegar {
    fn name(&self) -> &'static str {
        "cegar"
    }

    fn description(&self) -> &'static str {
        "counterexample-guided abstraction refinement on control-flow automata; linear systems, all with procedures"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        let Options { direction, calls, large_blocks, interpolation, .. } = self.options;
        if direction != Direction::Procedures {
            fragment::is_linear(graph)?;
        } else if calls == Calls::Summaries {
            let supported = Options { direction, calls, large_blocks, interpolation, ..Options::default() };
            if self.options != supported {
                let what = "options other than large-blocks and interpolation, with summaries of procedures";
                return Err(Stop::Unsupported(what.to_owned()));
            }
        }
        fragment::is_interpolable(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let graph = strengthened(run, graph);
        if !self.options.large_blocks {
            return self.solve_as_given(&graph, run);
        }
        let form = LoopForm::of(run, &graph, &large_blocks())?;
        form.back(run, self.solve_as_given(&form.graph, run)?)
    }
}

/// The rounds and the time for large blocks.
const BLOCK_ROUNDS: usize = 8;
const BLOCK_TIME: Duration = Duration::from_secs(10);

/// Large-block encoding: sequences and alternatives of clauses become single clauses.
fn large_blocks() -> Pipeline {
    Pipeline::repeated(vec![Box::new(Chains), Box::new(Merge)], BLOCK_ROUNDS, BLOCK_TIME)
}

impl Cegar {
    fn solve_as_given(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let automaton = match self.options.direction {
            Direction::Forward => cfa::forward(run.store, graph)?,
            Direction::Backward => cfa::backward(run.store, graph)?,
            Direction::Procedures => {
                return match self.options.calls {
                    Calls::Summaries => summaries::solve(graph, run, self.options),
                    Calls::Stack => stack::solve(graph, run, self.options),
                };
            }
        };
        let program = Program::new(run.store, &automaton.cfa)?;
        let mut refinement_loop = Loop::new(run, &program, self.options)?;
        if !self.options.large_blocks {
            refinement_loop.foreigners = Some(Foreigners::new(&automaton));
        }
        let answer = refinement_loop.solve(graph, &automaton);
        run.tell_statistics(refinement_loop.counters(), start);
        answer
    }
}

/// A run to the error location, the edges with the values after them; `None` if the program is safe.
type Reached = Option<Vec<(CfaEdgeId, Box<[Value]>)>>;

/// The state of a run.
struct Loop<'a> {
    run: &'a Run<'a>,
    program: &'a Program<'a>,
    arg: Arg<'a>,
    precision: Precision<'a>,
    abstractor: Abstractor<'a>,
    refiner: Refiner<'a>,
    /// What others have found out, if the automaton has the predicates of the run's port.
    foreigners: Option<Foreigners<'a>>,
    splitting: Splitting,
}

impl<'a> Loop<'a> {
    fn new(run: &'a Run<'a>, program: &'a Program<'a>, options: Options) -> Result<Self, Stop> {
        let domain = options.domain.create(run, program, &options);
        let mut precision = Precision::new(program, options.precision);
        for (location, formula) in precision::initial(program, options.init_prec) {
            for term in domain.terms(formula, options.pred_split) {
                precision.track(location, term);
            }
        }
        Ok(Loop {
            run,
            program,
            arg: Arg::new(program, options.search),
            precision,
            abstractor: Abstractor::new(run, program, domain),
            refiner: Refiner::new(run, program, options)?,
            foreigners: None,
            splitting: options.pred_split,
        })
    }

    fn solve(&mut self, graph: &HornGraph, automaton: &Automaton) -> Result<Evidence, Stop> {
        match self.search()? {
            None => {
                if let Some(foreigners) = &self.foreigners {
                    foreigners.rate(self.run, &self.arg, (&*self.abstractor.domain, self.splitting));
                }
                Ok(Evidence::Sat(self.model(graph, automaton)))
            }
            Some(run) => Ok(Evidence::Unsat(automaton.derivation(&self.run.context(), graph, &run)?)),
        }
    }

    /// Checks and refines to the end.
    fn search(&mut self) -> Result<Reached, Stop> {
        loop {
            match self.abstractor.check(&mut self.arg, &self.precision)? {
                Abstraction::Safe => return Ok(None),
                Abstraction::Unsafe(target) => {
                    let domain = &mut *self.abstractor.domain;
                    let path = Path::to(&self.arg, target);
                    match self.refiner.refine(&mut self.arg, &mut self.precision, domain, &path)? {
                        Refinement::Unsafe(run) => return Ok(Some(run)),
                        Refinement::Spurious => {
                            if let Some(foreigners) = &mut self.foreigners {
                                let terms = (&*domain, self.splitting);
                                foreigners.learn(self.run, &path, &mut self.precision, terms);
                            }
                        }
                    }
                }
            }
            #[cfg(debug_assertions)]
            self.arg.check_invariants();
            let (depth, counters) = (self.refiner.statistics.depth, self.counters());
            self.run.tell_progress(depth, counters);
        }
    }

    /// The disjunction of the uncovered nodes' labels, for each location, as a model.
    fn model(&self, graph: &HornGraph, automaton: &Automaton) -> GraphModel {
        let store = self.run.store;
        let label = |node| store.and(&self.arg[node].state.label);
        let locations = self.program.cfa.locations();
        let reached: Vec<Term> =
            locations.map(|(location, _)| store.or_of(self.arg.uncovered(location).map(label))).collect();
        automaton.model(store, graph, &reached)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let refiner::Statistics { refinements, fallbacks, depth, queries } = self.refiner.statistics;
        vec![
            ("depth", depth),
            ("nodes", self.arg.created),
            ("coverings", self.arg.coverings),
            ("refinements", refinements),
            ("fallbacks", fallbacks),
            ("predicates", self.precision.len() as u64),
            ("learnt", self.foreigners.as_ref().map_or(0, Foreigners::len)),
            ("solver.queries", queries + self.abstractor.domain.queries()),
        ]
    }
}
