//! Spacer: property-directed reachability with may- and must-summaries, for all systems, linear or not.
//!
//! **What it decides.** Any system that the solver supports over Booleans, linear integer and real arithmetic, arrays and
//! datatypes of these sorts, because projection supports them. Other systems are `Unknown`. Its lemmas have no
//! quantifiers, so an invariant about all elements of an array is beyond it.
//!
//! **The idea.** For growing bounds `N` it asks whether a derivation of `false` of height at most `N` exists, backwards
//! from the queries. Each predicate has two summaries: *frames* `F_0, F_1, ..`, where `F_i` contains at least all facts
//! of height `i`, and *reach facts*, which are derivable for certain. A cube of a predicate that would lead to `false`
//! is an *obligation*. If no clause derives a fact in it from the frames below, a new lemma excludes the cube, made as
//! general as possible. If a clause derives it from reach facts, it becomes a reach fact itself. Otherwise a model of
//! the clause shows which fact of the body it depends on, and model-based projection turns that into a new obligation.
//! When all lemmas of a level hold one level higher, the frame is inductive.
//!
//! ```text
//! for N = 0, 1, ..
//!     enqueue the obligation (false, N)
//!     while an obligation (P, cube, n) is in the queue, of the lowest level                obligations.rs
//!         once, after many queries: equalities, bounds and congruences exclude the queries: a model  ../invariants
//!         expand                                                                           expand.rs
//!             a reach fact of P meets the cube:                 it is reached
//!             a clause derives it from reach facts:             new reach fact; it is reached     facts.rs
//!             a clause derives it from F_{n-1}, by a model:
//!                 a remembered lemma of Q excludes the model and holds at n-1: new lemma   remember.rs
//!                 none does:                                    new obligation (Q, projection, n-1)
//!             no clause does:                                   new lemma; it is blocked          frames.rs
//!                 the lemma is generalised before                            proof_lemmas.rs, generalise.rs
//!                 and may suggest others                         guidance.rs, subsume.rs, weaken.rs, concretise.rs
//!         reached: see whether that settles the obligation that it was made for
//!     false is reached: a derivation                                                       witness.rs
//!     propagate lemmas to higher levels                                                    propagate.rs
//!     all lemmas of a level were moved up: a model                                         witness.rs
//!     show the frame below N to the observer, if there is one
//! between bounds, and now and then within one: exchange facts with other engines          port.rs
//! ```
//!
//! **Invariants.** L1 to L3 on lemmas, R1 and R2 on reach facts, O1 and O2 on obligations are in the files named.
//!
//! **Why the answer is right.** If no lemma of level `i < N` is left, then `F_i = F_{i+1}`, which is inductive by L2,
//! and excludes the bodies of queries, since these were blocked at `N`. By R1 and R2 a reach fact of `false` unfolds to
//! a derivation, whose points are found from the top down.
//!
//! **Notation.** `F_i` is `Frames::conjuncts(i)` of all predicates (the paper's over-approximating summaries `O`),
//! reach facts are `ReachFacts` (its under-approximating summaries `U`), obligations are its bounded reachability queries.
//!
//! **Where it comes from.** A. Komuravelli, A. Gurfinkel, S. Chaki, "SMT-based model checking for recursive programs"
//! (FMSD 2016), for the summaries, projection and the treatment of several body atoms; A. Bradley, "SAT-based model
//! checking without unrolling" (VMCAI 2011), for frames and inductive generalisation.
//!
//! **Where we differ.** Solvers belong to clauses, not to predicates, and lemmas are assumed, not guarded (`edges.rs`):
//! the label's equations are solved once, a model belongs to one clause from the start, and the core names the lemmas.
//!
//! **Options.** A run is determined by the clauses, [`Options`] and the seed, by which solvers break ties and
//! [`Descent::Random`] chooses. Steps that answers rely on have no option: reach facts are kept for all levels, and
//! lemmas are moved up as far as they hold; without this no frame would be found inductive.

mod concretise;
mod edges;
mod expand;
mod facts;
mod frames;
mod generalise;
mod guidance;
mod obligations;
mod port;
mod proof_lemmas;
mod propagate;
mod remember;
mod renaming;
mod subsume;
mod weaken;
mod witness;

use std::rc::Rc;
use std::time::Instant;

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, Node, NodeId};
use shofar_horn::witness::GraphModel;
use shofar_logic::TermStore;
use shofar_run::{Limits, Reason, Stop};
use shofar_smt::project::Projector;
use shofar_smt::solver::Solver;

use crate::fragment;
use crate::interpolation_abstraction::Templates;
use crate::invariants;
use crate::option::options;
use crate::{Engine, EngineOption, Evidence, FrameLemmas, InterpolationMethod, Run};
use concretise::Families;
use edges::{Clause, Query, Reply, Surroundings};
use expand::Expansion;
use facts::ReachFacts;
use frames::{Frames, INFINITY, LemmaId, Level};
use guidance::Guidance;
use obligations::{Obligation, ObligationId, Obligations};
use port::Exchanged;
use propagate::Obstacle;
use renaming::Renaming;
use weaken::Constants;

pub use expand::Descent;
pub(crate) use generalise::{join_equations, split_equations};
pub use proof_lemmas::LemmaForm;

/// Queries after which cheap invariants are looked for. Tasks that take fewer would pay for the analysis; the others hardly
/// notice it, because it asks less than half as many.
const PATIENCE: u64 = 2000;

options! {
    invariants: bool = true, "invariants": "look for equalities, bounds and congruences of linear sums once, if the search takes long";
    incremental: bool = true, "incremental": "keep the solvers of clauses from query to query";
    /// A literal can be dropped if no clause derives a fact in the cube, assuming that none was derived before.
    generalise: bool = true, "generalise": "leave out literals of cubes by induction";
    split_equations: bool = true,
        "split-equations": "take equations apart into bounds before literals are left out";
    /// They replace literals of cores, before literals are dropped.
    interpolation: LemmaForm = LemmaForm::By(InterpolationMethod::Farkas),
        "interpolation": "which weaker literals are taken from proofs";
    templates: bool = false,
        "templates": "with interpolation: lemmas speak of sums that loops preserve where they can";
    guidance: bool = true, "guidance": "make guesses from clusters of similar lemmas";
    subsume: bool = true, "subsume": "guess what contains all cubes of a cluster";
    conjecture: bool = true, "conjecture": "guess what the cubes of a cluster have in common";
    weaken_bounds: bool = true,
        "weaken-bounds": "guess constants of the clauses where the cubes of a cluster differ";
    concretise: bool = true,
        "concretise": "guess cubes without sums whose coefficients differ in each lemma";
    subsumption: bool = true, "subsumption": "stronger lemmas replace weaker ones";
    /// The lemma is tried again only when that obstacle is excluded.
    obstacles: bool = true, "obstacles": "remember what keeps a lemma from moving up";
    remember: bool = false,
        "remember": "try lemmas of other levels, removed and foreign ones before a new obligation is made";
    descent: Descent = Descent::Forward,
        "descent": "the order in which the predicates of a body are gone through";
    /// Otherwise each level starts with the queries alone.
    requeue: bool = false, "requeue": "a blocked obligation waits at the next level";
}

/// The Spacer engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Spacer {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Spacer {
    fn name(&self) -> &'static str {
        "spacer"
    }

    fn description(&self) -> &'static str {
        "property-directed reachability with may- and must-summaries, for all systems"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_projectable(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let (extended, goal) = with_goal(run.store, graph);
        let mut search = Search::new(graph, &extended, goal, run, self.options);
        if self.options.templates {
            search.templates = Some(Templates::of_graph(run, &extended)?);
        }
        let answer = search.solve();
        let counters = search.statistics.counters();
        run.tell_statistics(counters, start);
        answer
    }
}

/// The graph with a node for `false`, which the queries lead to. Nodes and edges keep their indices.
fn with_goal(store: &TermStore, graph: &HornGraph) -> (HornGraph, NodeId) {
    let mut extended = HornGraph::new();
    for (_, node) in graph.nodes() {
        extended.add_node(node.clone());
    }
    let goal = extended.add_node(Node::new(store, store.symbol("false"), &[]));
    for (_, edge) in graph.edges() {
        extended.add_edge(edge.sources(), Some(edge.target().unwrap_or(goal)), edge.label());
    }
    (extended, goal)
}

/// The counters.
#[derive(Clone, Copy, Default, Debug)]
struct Statistics {
    levels: u64,
    obligations: u64,
    lemmas: u64,
    infinite_lemmas: u64,
    facts: u64,
    queries: u64,
    interpolants: u64,
    abstractions: u64,
    guesses: u64,
    concretions: u64,
    drop_attempts: u64,
    drops: u64,
    push_attempts: u64,
    pushes: u64,
    recalls: u64,
}

impl Statistics {
    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("levels", self.levels),
            ("obligations", self.obligations),
            ("lemmas", self.lemmas),
            ("lemmas.infinite", self.infinite_lemmas),
            ("reach-facts", self.facts),
            ("solver.queries", self.queries),
            ("interpolants", self.interpolants),
            ("abstractions", self.abstractions),
            ("guesses", self.guesses),
            ("concretions", self.concretions),
            ("generalise.attempts", self.drop_attempts),
            ("generalise.drops", self.drops),
            ("push.attempts", self.push_attempts),
            ("push.successes", self.pushes),
            ("recalls", self.recalls),
        ]
    }
}

/// What is known of `false` at a bound.
enum Reach {
    /// It has a derivation.
    Reached,
    /// It has none of at most that height.
    Blocked,
    /// It has none at all, by this model.
    Excluded(GraphModel),
}

/// The state of a run.
struct Search<'a> {
    // The problem.
    store: &'a TermStore,
    original: &'a HornGraph,
    /// With a predicate `false`.
    graph: &'a HornGraph,
    /// The predicate `false`.
    goal: NodeId,
    run: &'a Run<'a>,
    options: Options,

    // Known.
    /// Indexed by node.
    frames: Vec<Frames>,
    facts: ReachFacts,
    /// The obstacles that keep lemmas from moving up.
    obstacles: FxHashMap<(NodeId, LemmaId), Obstacle>,

    // Open work.
    obligations: Obligations,
    guidance: Guidance,
    /// Forms that lemmas repeat with other coefficients.
    families: Families,

    // Tools.
    /// Indexed by edge, created by the first query.
    clauses: Vec<Option<Box<Clause<'a>>>>,
    /// Indexed by node: the edges into it. The one that answered last comes first.
    incoming: Vec<Vec<EdgeId>>,
    renaming: Renaming<'a>,
    projector: Projector<'a>,
    /// Indexed by edge, for interpolants.
    provers: FxHashMap<EdgeId, Solver<'a>>,
    /// What interpolants may speak of, if that is restricted.
    templates: Option<Templates>,
    /// Checks conjunctions of literals.
    cubes: expand::Cubes<'a>,
    /// The numbers in the clauses.
    constants: Constants,
    /// The state of random choices; not zero.
    random: u64,
    /// Whether cheap invariants were looked for.
    has_analysed: bool,
    /// What was sent to other engines, and received from them.
    exchanged: Exchanged,

    statistics: Statistics,
}

impl<'a> Search<'a> {
    fn new(
        original: &'a HornGraph,
        graph: &'a HornGraph,
        goal: NodeId,
        run: &'a Run<'a>,
        options: Options,
    ) -> Self {
        let store = run.store;
        let nodes = graph.nodes().len();
        Search {
            store,
            original,
            graph,
            goal,
            run,
            options,
            frames: std::iter::repeat_with(|| Frames::new(options.subsumption)).take(nodes).collect(),
            facts: ReachFacts::new(nodes),
            obstacles: FxHashMap::default(),
            obligations: Obligations::default(),
            guidance: Guidance::default(),
            families: Families::default(),
            clauses: std::iter::repeat_with(|| None).take(graph.edges().len()).collect(),
            incoming: graph.incoming().0,
            renaming: Renaming::new(store, graph),
            projector: Projector::new(store),
            provers: FxHashMap::default(),
            templates: None,
            cubes: expand::Cubes::new(run),
            constants: Constants::of(store, graph),
            random: (run.seed() << 1) | 1,
            has_analysed: false,
            exchanged: Exchanged::new(nodes),
            statistics: Statistics::default(),
        }
    }

    fn solve(&mut self) -> Result<Evidence, Stop> {
        for level in 0.. {
            self.exchange(level)?;
            match self.reach_goal(level)? {
                Reach::Reached => return Ok(Evidence::Unsat(self.derivation()?)),
                Reach::Excluded(model) => return Ok(Evidence::Sat(model)),
                Reach::Blocked => self.send_depth(level),
            }
            if let Some(inductive) = self.propagate(level)? {
                return Ok(Evidence::Sat(self.model(inductive)));
            }
            self.statistics.levels += 1;
            self.show_frame(level);
        }
        Err(Stop::Exhausted("derivations of all heights"))
    }

    /// Shows the observer the frame below a bound, which excludes the queries since `false` is blocked at the bound.
    fn show_frame(&self, bound: Level) {
        let (Some(observer), Some(level)) = (self.run.observer(), bound.checked_sub(1)) else { return };
        let lemmas = |(node, _): (NodeId, _)| {
            let frames = &self.frames[node.index()];
            let bounded = frames.finite(level).map(|lemma| lemma.formula);
            FrameLemmas { proved: frames.infinite().to_vec(), bounded: bounded.collect() }
        };
        observer.observe(self.original.nodes().map(lemmas).collect());
    }

    /// A model of cheap invariants, looked for once, as soon as the search takes long enough for their price not to matter.
    fn cheap_model(&mut self) -> Result<Option<GraphModel>, Stop> {
        if self.has_analysed || !self.options.invariants || self.statistics.queries < PATIENCE {
            return Ok(None);
        }
        self.has_analysed = true;
        if fragment::is_interpolable(self.store, self.original).is_err() {
            return Ok(None);
        }
        invariants::model(self.run, self.original)
    }

    /// Decides whether `false` has a derivation of height at most `bound`. Its obligation is in the queue until it is
    /// decided (O1).
    fn reach_goal(&mut self, bound: Level) -> Result<Reach, Stop> {
        let goal = self.goal_obligation(bound);
        while let Some(id) = self.obligations.take(bound) {
            self.run.go_on()?;
            if let Some(model) = self.cheap_model()? {
                return Ok(Reach::Excluded(model));
            }
            if self.statistics.obligations.is_multiple_of(port::INTERVAL) {
                self.exchange(bound)?;
            }
            let counters = self.statistics.counters();
            self.run.tell_progress(u64::from(bound), counters);
            match self.expand(id)? {
                Expansion::Reached => {
                    if self.climb(id, goal)? {
                        return Ok(Reach::Reached);
                    }
                }
                Expansion::Blocked(level) => {
                    self.retire(id, level);
                    if id == goal {
                        return Ok(Reach::Blocked);
                    }
                }
                // Its child goes first, since it has a lower level (O2).
                Expansion::Undecided => self.obligations.enqueue(id),
                Expansion::Postponed => {}
                Expansion::Hopeless => self.obligations.give_up(id),
            }
        }
        Err(Stop::Internal("the obligation for the goal was lost".into()))
    }

    fn goal_obligation(&mut self, bound: Level) -> ObligationId {
        if !self.options.requeue || self.obligations.len() > MOST_KEPT {
            self.obligations.clear();
        }
        self.obligations.add(Obligation::new(self.goal, Rc::new([]), bound, bound))
    }

    /// Called when an obligation is reached: closes it, and its ancestors as far as this decides them. Returns whether
    /// the goal is reached.
    fn climb(&mut self, from: ObligationId, goal: ObligationId) -> Result<bool, Stop> {
        let mut id = from;
        loop {
            self.obligations.get_mut(id).is_open = false;
            if id == goal {
                return Ok(true);
            }
            match self.obligations.get(id).parent {
                Some((parent, edge)) if self.obligations.get(parent).is_open => {
                    if !self.derive_from_facts(parent, edge)? {
                        return Ok(false);
                    }
                    id = parent;
                }
                _ => return Ok(false),
            }
        }
    }

    /// Called when an obligation is blocked up to a level: closes it, or lets it wait above.
    fn retire(&mut self, id: ObligationId, level: Level) {
        let is_goal = self.obligations.get(id).node == self.goal;
        let obligation = self.obligations.get_mut(id);
        if !self.options.requeue || level == INFINITY || is_goal {
            obligation.is_open = false;
            return;
        }
        obligation.level = level + 1;
        obligation.depth += 1;
        self.obligations.enqueue(id);
    }

    // ---- tools -------------------------------------------------------------------------------------------

    /// Queries one clause. If the solver does not decide it, the result is an error if the run must end, and
    /// [`Reply::Unknown`] otherwise.
    fn ask(&mut self, edge: EdgeId, query: &Query<'_>, limits: &Limits<'_>) -> Result<Reply, Stop> {
        self.statistics.queries += 1;
        let (store, graph) = (self.store, self.graph);
        if !self.options.incremental {
            self.clauses[edge.index()] = None;
        }
        let clause =
            self.clauses[edge.index()].get_or_insert_with(|| Box::new(Clause::new(store, graph, edge)));
        let mut around = Surroundings {
            run: self.run,
            graph,
            frames: &self.frames,
            facts: &self.facts,
            renaming: &mut self.renaming,
            limits,
        };
        match clause.ask(&mut around, query) {
            Ok(Reply::Unknown(reason @ (Reason::Cancelled | Reason::Deadline | Reason::Memory))) => {
                Err(Stop::Interrupted(reason))
            }
            Ok(reply) => Ok(reply),
            Err(unsupported) => Err(unsupported.stop(store)),
        }
    }

    fn clause(&mut self, edge: EdgeId) -> &Clause<'a> {
        let (store, graph) = (self.store, self.graph);
        self.clauses[edge.index()].get_or_insert_with(|| Box::new(Clause::new(store, graph, edge)))
    }
}

/// The maximal number of obligations that are kept from one level to the next.
const MOST_KEPT: usize = 100_000;
