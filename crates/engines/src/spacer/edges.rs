//! Queries on one clause. Each clause has its own solvers.
//!
//! The label is asserted once, so the solver eliminates the variables that it defines. Everything that changes between
//! queries is assumed: first the lemmas of the bodies' frames, those of high levels first, as they change least; then
//! the query. So no inactive formulas burden the search, and an unsatisfiable core names the lemmas it needs, which
//! gives its level. Lemmas of infinite level are asserted.
//!
//! A source is true by its frame (*may*) or by its reach facts (*must*). The reach facts form a chain of tags,
//!
//! ```text
//! fact_0 or tag_0      -tag_0 or fact_1 or tag_1      ...      -tag_{k-1} or fact_k or tag_k
//! ```
//!
//! whose last tag is negated. Since such clauses affect the search even in queries that do not need them, queries with
//! reach facts have a separate solver.

use shofar_horn::HornGraph;
use shofar_horn::graph::EdgeId;
use shofar_logic::{Assignment, Sort, Term, TermStore};
use shofar_run::{Limits, Reason};
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::facts::ReachFacts;
use super::frames::{Frames, INFINITY, Level};
use super::renaming::{Place, Renaming, variables};
use crate::Run;

/// Bounds for integers, used to search for models if unbounded integers are too hard.
const SMALL_INTEGERS: [i64; 2] = [64, 100_000];

/// The way in which a source of a clause may be true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// The frame of its predicate at a level.
    May(Level),
    /// The reach facts of its predicate.
    Must,
}

/// A query about a clause.
pub(super) struct Query<'q> {
    /// The way in which each source is true.
    pub(super) sources: &'q [By],
    /// A lemma that is assumed for all sources with the target's predicate.
    pub(super) induction: Option<Term>,
    /// The literals of the head's cube, over its predicate's variables.
    pub(super) cube: &'q [Term],
}

/// The answer to a query.
pub(super) enum Reply {
    /// Values for the variables of the clause.
    Sat(Assignment),
    /// The reason why the clause derives nothing.
    Unsat(Core),
    /// The solver does not decide it.
    Unknown(Reason),
}

/// The reason why a clause derives nothing in a cube.
pub(super) struct Core {
    /// The needed literals of the cube, in order.
    pub(super) cube: Vec<Term>,
    /// The level up to which the clause derives nothing.
    pub(super) level: Level,
    /// The sources whose reach facts are needed.
    pub(super) must: Vec<usize>,
    /// The needed lemmas, as assumed for the sources.
    pub(super) assumed: Vec<Term>,
}

/// The environment of queries.
pub(super) struct Surroundings<'s, 'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) graph: &'a HornGraph,
    pub(super) frames: &'s [Frames],
    pub(super) facts: &'s ReachFacts,
    pub(super) renaming: &'s mut Renaming<'a>,
    pub(super) limits: &'s Limits<'s>,
}

/// A clause with its solvers, which are created on demand.
pub(super) struct Clause<'a> {
    edge: EdgeId,
    /// All variables of the clause.
    variables: Box<[Term]>,
    may: Option<Incremental<'a>>,
    must: Option<Incremental<'a>>,
}

/// The role of an assumption.
#[derive(Clone, Copy)]
enum Role {
    Lemma(Level),
    Induction,
    Must(usize),
    Open,
    Cube,
}

impl<'a> Clause<'a> {
    /// A clause of the graph.
    pub(super) fn new(store: &TermStore, graph: &HornGraph, edge: EdgeId) -> Self {
        let sources = graph.edge(edge).sources().len();
        let arguments = (0..sources).flat_map(|source| graph.source_variables(edge, source));
        let mut all = graph.locals(store, edge);
        all.extend(arguments.chain(graph.target_variables(edge)));
        Clause { edge, variables: all.into(), may: None, must: None }
    }

    /// Asks whether the clause derives a fact in a cube.
    pub(super) fn ask(
        &mut self,
        around: &mut Surroundings<'_, 'a>,
        query: &Query<'_>,
    ) -> Result<Reply, Unsupported> {
        let with_facts = query.sources.contains(&By::Must);
        let incremental = if with_facts { &mut self.must } else { &mut self.may };
        let incremental = match incremental {
            Some(incremental) => incremental,
            None => incremental.insert(Incremental::new(around, self.edge, with_facts)?),
        };
        incremental.update(around, self.edge)?;
        let reply = incremental.ask(around, self.edge, &self.variables, query)?;
        if !matches!(reply, Reply::Unknown(Reason::Incomplete)) {
            return Ok(reply);
        }
        // Integers for which the solver gave up with all that it had learnt are often no problem for a new one.
        *incremental = Incremental::new(around, self.edge, with_facts)?;
        incremental.update(around, self.edge)?;
        incremental.ask(around, self.edge, &self.variables, query)
    }
}

/// A solver for one clause.
struct Incremental<'a> {
    solver: Solver<'a>,
    /// For each source: the number of asserted lemmas of infinite level.
    infinite: Vec<usize>,
    /// For each source: the number of reach facts in the chain, and its last tag. Empty if reach facts are not used.
    chains: Vec<(usize, Option<Term>)>,
    /// Scratch of [`Incremental::ask`].
    assumptions: Vec<Term>,
    roles: Vec<Role>,
}

impl<'a> Incremental<'a> {
    fn new(around: &Surroundings<'_, 'a>, edge: EdgeId, with_facts: bool) -> Result<Self, Unsupported> {
        let sources = around.graph.edge(edge).sources().len();
        let mut solver = around.run.solver();
        solver.assert_all(&[around.graph.edge(edge).label()])?;
        Ok(Incremental {
            solver,
            infinite: vec![0; sources],
            chains: if with_facts { vec![(0, None); sources] } else { Vec::new() },
            assumptions: Vec::new(),
            roles: Vec::new(),
        })
    }

    /// Asserts new permanent formulas.
    fn update(&mut self, around: &mut Surroundings<'_, 'a>, edge: EdgeId) -> Result<(), Unsupported> {
        let store = around.run.store;
        let clause = around.graph.edge(edge);
        for (source, &node) in clause.sources().iter().enumerate() {
            let place = Place::Source(clause.occurrence(source));
            let lemmas = around.frames[node.index()].infinite();
            for &lemma in &lemmas[self.infinite[source]..] {
                self.solver.assert(around.renaming.to(node, place, lemma))?;
            }
            self.infinite[source] = lemmas.len();
            let Some((count, last)) = self.chains.get_mut(source) else { continue };
            let facts = around.facts.of(node);
            for &fact in &facts[*count..] {
                let literals = around.facts.get(fact).cube.iter();
                let literals = literals.map(|&literal| around.renaming.to(node, place, literal));
                let cube = store.and_of(literals.collect::<Vec<Term>>());
                let tag = store.var(store.fresh_symbol("tag"), Sort::BOOL);
                let before = last.map_or(Term::FALSE, |tag| store.not(tag));
                self.solver.assert(store.or(&[before, cube, tag]))?;
                *last = Some(tag);
            }
            *count = facts.len();
        }
        Ok(())
    }

    fn ask(
        &mut self,
        around: &mut Surroundings<'_, 'a>,
        edge: EdgeId,
        variables: &[Term],
        query: &Query<'_>,
    ) -> Result<Reply, Unsupported> {
        self.assume(around, edge, query);
        match self.solver.check(&self.assumptions, around.limits)? {
            Outcome::Sat => Ok(Reply::Sat(self.solver.model(variables))),
            Outcome::Unsat => Ok(Reply::Unsat(self.core(query))),
            Outcome::Unknown(Reason::Incomplete) => self.ask_within_bounds(around, variables),
            Outcome::Unknown(reason) => Ok(Reply::Unknown(reason)),
        }
    }

    /// Searches for a model with small integers, if the unbounded search does not end.
    fn ask_within_bounds(
        &mut self,
        around: &Surroundings<'_, 'a>,
        variables: &[Term],
    ) -> Result<Reply, Unsupported> {
        let store = around.run.store;
        for greatest in SMALL_INTEGERS {
            let mut assumptions = self.assumptions.clone();
            let integers = variables.iter().filter(|&&variable| store.sort_of(variable) == Sort::INT);
            for &variable in integers {
                assumptions.push(store.le(variable, store.int(greatest)));
                assumptions.push(store.ge(variable, store.int(-greatest)));
            }
            if self.solver.check(&assumptions, around.limits)? == Outcome::Sat {
                return Ok(Reply::Sat(self.solver.model(variables)));
            }
        }
        Ok(Reply::Unknown(Reason::Incomplete))
    }

    /// Collects the assumptions of a query and their roles.
    fn assume(&mut self, around: &mut Surroundings<'_, 'a>, edge: EdgeId, query: &Query<'_>) {
        self.assumptions.clear();
        self.roles.clear();
        let clause = around.graph.edge(edge);
        let places = |source: usize| (clause.sources()[source], Place::Source(clause.occurrence(source)));
        for (source, &by) in query.sources.iter().enumerate() {
            let (node, place) = places(source);
            let last = self.chains.get(source).and_then(|&(_, last)| last);
            match by {
                By::May(level) => {
                    for lemma in around.frames[node.index()].finite(level) {
                        self.assumptions.push(around.renaming.to(node, place, lemma.formula));
                        self.roles.push(Role::Lemma(lemma.level));
                    }
                    // An open end frees the search from choosing a fact.
                    self.assumptions.extend(last);
                    self.roles.extend(last.map(|_| Role::Open));
                }
                By::Must => {
                    self.assumptions.push(last.map_or(Term::FALSE, |tag| around.run.store.not(tag)));
                    self.roles.push(Role::Must(source));
                }
            }
        }
        if let Some(lemma) = query.induction {
            for source in 0..query.sources.len() {
                let (node, place) = places(source);
                if clause.target() == Some(node) {
                    self.assumptions.push(around.renaming.to(node, place, lemma));
                    self.roles.push(Role::Induction);
                }
            }
        }
        if let Some(node) = clause.target() {
            for &literal in query.cube {
                self.assumptions.push(around.renaming.to(node, Place::Target, literal));
                self.roles.push(Role::Cube);
            }
        }
    }

    /// The assumptions that the refutation needs.
    fn core(&self, query: &Query<'_>) -> Core {
        let mut core = Core { cube: Vec::new(), level: INFINITY, must: Vec::new(), assumed: Vec::new() };
        let mut needed = self.solver.core().into_iter().peekable();
        let mut literals = query.cube.iter();
        for (&assumption, &role) in self.assumptions.iter().zip(&self.roles) {
            let literal = if matches!(role, Role::Cube) { literals.next() } else { None };
            // The core lists assumptions in their order.
            if needed.next_if_eq(&assumption).is_none() {
                continue;
            }
            match role {
                Role::Lemma(level) => {
                    core.level = core.level.min(level + 1);
                    core.assumed.push(assumption);
                }
                Role::Induction => core.assumed.push(assumption),
                Role::Must(source) => core.must.push(source),
                Role::Cube => core.cube.extend(literal),
                Role::Open => {}
            }
        }
        core
    }
}

/// The variables of a clause except those of one predicate occurrence: projection eliminates them.
pub(super) fn others(graph: &HornGraph, clause: &Clause<'_>, source: Option<usize>) -> Vec<Term> {
    let edge = graph.edge(clause.edge);
    let kept = match source {
        Some(source) => graph.source_variables(clause.edge, source),
        None => edge.target().map_or(&[][..], |node| variables(graph, node, Place::Target)),
    };
    clause.variables.iter().copied().filter(|variable| !kept.contains(variable)).collect()
}
