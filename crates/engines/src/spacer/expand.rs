//! Expands an obligation: it is reached, it is blocked, or it gets a predecessor.
//!
//! For a clause with several sources, reach facts come first: all sources that have any shall be true by them. While
//! that is unsatisfiable, a source of the core falls back to its frame, the last one first; so values flow from left to
//! right, as in calls ([`Descent`] has other orders). The source that fell back last, or else the first one without
//! reach facts, becomes the new obligation: given the reach facts of the others, it alone is missing. When it is
//! reached, the same query finds more sources true by reach facts; when it is blocked, its frame has changed.

use std::rc::Rc;

use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::{Assignment, Evaluator, Term, Value};
use shofar_run::{Limits, Reason};
use shofar_smt::project::ProjectError;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::edges::{By, Core, Query, Reply, others};
use super::facts::{Fact, FactId};
use super::frames::{INFINITY, Learnt, Level};
use super::obligations::{Obligation, ObligationId};
use super::renaming::Place;
use super::{Search, Stop};
use crate::Run;
use crate::option::Named;
use crate::trace::Listed;

/// The outcome of an expansion.
pub(super) enum Expansion {
    /// A fact in its cube is derivable.
    Reached,
    /// No fact in its cube is derivable up to this height, which is at least its level.
    Blocked(Level),
    /// A new obligation must be decided first, or the frames have changed.
    Undecided,
    /// A guess must be decided first; the obligation is in the queue behind it.
    Postponed,
    /// It is a guess to be given up.
    Hopeless,
}

/// The order of the predicates of a body: early ones shall be true by reach facts, late ones may be true by their
/// frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Descent {
    /// As written.
    Forward,
    /// Reversed.
    Backward,
    /// A new random order each time, by the seed.
    Random,
}

impl Named for Descent {
    const ALL: &'static [Self] = &[Descent::Forward, Descent::Backward, Descent::Random];

    fn name(self) -> &'static str {
        match self {
            Descent::Forward => "forward",
            Descent::Backward => "backward",
            Descent::Random => "random",
        }
    }
}

/// An end of the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    First,
    Last,
}

/// The reason why a cube cannot be reached from the frames.
pub(super) struct Conflict {
    /// The needed literals, in order.
    pub(super) cube: Vec<Term>,
    /// The level up to which it cannot be reached.
    pub(super) level: Level,
    /// The reason for each clause.
    pub(super) cores: Vec<(EdgeId, Core)>,
}

impl Search<'_> {
    /// Decides an obligation, or makes a predecessor.
    pub(super) fn expand(&mut self, id: ObligationId) -> Result<Expansion, Stop> {
        self.statistics.obligations += 1;
        let Obligation { node, level, .. } = *self.obligations.get(id);
        let cube = Rc::clone(&self.obligations.get(id).cube);
        if let Some(lemma) = self.frames[node.index()].blocking(self.store, &cube, level) {
            self.credit(node, lemma);
            return Ok(Expansion::Blocked(self.frames[node.index()].lemma(lemma).level));
        }
        if self.meets_facts(id)? {
            return Ok(Expansion::Reached);
        }
        if let Some(expansion) = self.concretise(id)? {
            return Ok(expansion);
        }
        let limits = self.run.limits;
        let mut block = self.block(node, &cube, level, &limits)?;
        if matches!(block, Block::Unknown(_)) {
            // A solver's failure may depend on its earlier queries.
            self.forget_solvers(node);
            block = self.block(node, &cube, level, &limits)?;
        }
        match block {
            Block::Blocked(conflict) => {
                let mut blocked_to = INFINITY;
                for (cube, highest) in self.generalise(id, conflict)? {
                    blocked_to = blocked_to.min(highest);
                    if self.learn(node, cube.clone(), highest) {
                        self.guide(id, &cube);
                    }
                }
                Ok(Expansion::Blocked(blocked_to))
            }
            Block::Derivable(edge, model) => self.predecessor(id, edge, model),
            Block::Unknown(_) if self.obligations.get(id).gas.is_some() => Ok(Expansion::Hopeless),
            Block::Unknown(reason) => Err(Stop::Interrupted(reason)),
        }
    }

    /// Discards the solvers of all clauses into a predicate.
    fn forget_solvers(&mut self, node: NodeId) {
        for edge in &self.incoming[node.index()] {
            self.clauses[edge.index()] = None;
        }
    }

    /// Adds a lemma. Returns whether it is new.
    pub(super) fn learn(&mut self, node: NodeId, cube: Vec<Term>, level: Level) -> bool {
        debug_assert!(self.is_lemma(node, &cube, level), "L2");
        let finite = (level != INFINITY).then_some(level);
        tracing::debug!(node = node.index(), level = finite, excluded = %Listed(self.store, &cube), "lemma");
        let is_news = matches!(self.frames[node.index()].add(self.store, cube, level), Learnt::New(_));
        if is_news {
            self.statistics.lemmas += 1;
            self.statistics.infinite_lemmas += u64::from(level == INFINITY);
        }
        is_news
    }

    /// Whether the cube contains a fact that was found since the obligation was made.
    fn meets_facts(&mut self, id: ObligationId) -> Result<bool, Stop> {
        let Obligation { node, facts_seen, .. } = *self.obligations.get(id);
        let cube = Rc::clone(&self.obligations.get(id).cube);
        for &fact in &self.facts.of(node)[facts_seen..] {
            self.statistics.queries += 1;
            if self.cubes.meet(&cube, &self.facts.get(fact).cube, &self.run.limits)? {
                return Ok(true);
            }
        }
        self.obligations.get_mut(id).facts_seen = self.facts.of(node).len();
        Ok(false)
    }

    /// Asks all clauses whether they derive a fact in the cube from the frames below a level, assuming that none was
    /// derived before.
    pub(super) fn block(
        &mut self,
        node: NodeId,
        cube: &[Term],
        level: Level,
        limits: &Limits<'_>,
    ) -> Result<Block, Stop> {
        let induction = self.store.not(self.store.and(cube));
        let mut is_needed = vec![false; cube.len()];
        let mut highest = INFINITY;
        let mut cores = Vec::with_capacity(self.incoming[node.index()].len());
        for position in 0..self.incoming[node.index()].len() {
            let edge = self.incoming[node.index()][position];
            let arity = self.graph.edge(edge).sources().len();
            if level == 0 && arity > 0 {
                highest = 0;
                continue;
            }
            let sources = vec![By::May(level.saturating_sub(1)); arity];
            let query = Query { sources: &sources, induction: Some(induction), cube };
            match self.ask(edge, &query, limits)? {
                Reply::Unsat(core) => {
                    highest = highest.min(core.level);
                    let mut needed = core.cube.iter().peekable();
                    for (flag, literal) in is_needed.iter_mut().zip(cube) {
                        *flag |= needed.next_if_eq(&literal).is_some();
                    }
                    cores.push((edge, core));
                }
                Reply::Sat(model) => {
                    // A clause that derives one cube often derives similar ones.
                    self.incoming[node.index()][..=position].rotate_right(1);
                    return Ok(Block::Derivable(edge, model));
                }
                Reply::Unknown(reason) => return Ok(Block::Unknown(reason)),
            }
        }
        let needed = cube.iter().zip(&is_needed).filter(|(_, needed)| **needed);
        let cube = needed.map(|(&literal, _)| literal).collect();
        Ok(Block::Blocked(Conflict { cube, level: highest, cores }))
    }

    /// Called if a clause derives a fact in the obligation's cube from the frames: derives one from reach facts if
    /// possible, and makes a new obligation otherwise.
    fn predecessor(&mut self, id: ObligationId, edge: EdgeId, model: Assignment) -> Result<Expansion, Stop> {
        let Obligation { level, depth, gas, .. } = *self.obligations.get(id);
        let cube = Rc::clone(&self.obligations.get(id).cube);
        let clause = self.graph.edge(edge);
        let arity = clause.sources().len();
        let mut model = model;
        let mut sources: Vec<By> = Vec::with_capacity(arity);
        for &source in clause.sources() {
            let has_facts = !self.facts.of(source).is_empty();
            sources.push(if has_facts { By::Must } else { By::May(level - 1) });
        }
        let open: Vec<usize> = (0..arity).filter(|&source| sources[source] != By::Must).collect();
        let mut missing = self.pick(&open, End::First);
        while sources.contains(&By::Must) {
            let query = Query { sources: &sources, induction: None, cube: &cube };
            match self.ask(edge, &query, &self.run.limits.clone())? {
                Reply::Sat(found) => {
                    model = found;
                    break;
                }
                Reply::Unsat(core) => {
                    missing = self.pick(&core.must, End::Last);
                    let Some(missing) = missing else {
                        return Err(Stop::Internal("a clause lost its model".into()));
                    };
                    sources[missing] = By::May(level - 1);
                }
                Reply::Unknown(_) if gas.is_some() => return Ok(Expansion::Hopeless),
                Reply::Unknown(reason) => return Err(Stop::Interrupted(reason)),
            }
        }
        let Some(missing) = missing else {
            self.add_fact(edge, &model)?;
            return Ok(Expansion::Reached);
        };
        if self.options.remember && self.recall(edge, missing, level - 1, &model)? {
            return Ok(Expansion::Undecided);
        }
        if gas == Some(0) {
            return Ok(Expansion::Hopeless);
        }
        let child = self.project_to_source(edge, &sources, missing, &cube, &model)?;
        let source = clause.sources()[missing];
        self.obligations.add(Obligation {
            parent: Some((id, edge)),
            facts_seen: self.facts.of(source).len(),
            gas: gas.map(|gas| gas - 1),
            ..Obligation::new(source, child.into(), level - 1, depth)
        });
        Ok(Expansion::Undecided)
    }

    /// The first or the last of several sources, in the order of [`Descent`].
    fn pick(&mut self, sources: &[usize], end: End) -> Option<usize> {
        match (self.options.descent, end) {
            (Descent::Forward, End::First) | (Descent::Backward, End::Last) => sources.first().copied(),
            (Descent::Forward, End::Last) | (Descent::Backward, End::First) => sources.last().copied(),
            (Descent::Random, _) => {
                // Xorshift (Marsaglia 2003).
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                let index = self.random.checked_rem(sources.len() as u64)?;
                Some(sources[index as usize])
            }
        }
    }

    /// Derives a fact in an obligation's cube by a clause from reach facts, if possible.
    pub(super) fn derive_from_facts(&mut self, id: ObligationId, edge: EdgeId) -> Result<bool, Stop> {
        let cube = Rc::clone(&self.obligations.get(id).cube);
        let sources = vec![By::Must; self.graph.edge(edge).sources().len()];
        let query = Query { sources: &sources, induction: None, cube: &cube };
        match self.ask(edge, &query, &self.run.limits.clone())? {
            Reply::Sat(model) => {
                self.add_fact(edge, &model)?;
                Ok(true)
            }
            Reply::Unsat(_) | Reply::Unknown(_) => Ok(false),
        }
    }

    /// Adds the reach fact that a clause derives from others, around a model of them and of the clause.
    fn add_fact(&mut self, edge: EdgeId, model: &Assignment) -> Result<FactId, Stop> {
        let clause = self.graph.edge(edge);
        let arity = clause.sources().len();
        let mut formulas = vec![clause.label()];
        let mut premises = Vec::with_capacity(arity);
        for source in 0..arity {
            let premise = self.true_fact(edge, source, model, &mut formulas)?;
            premises.push(premise);
        }
        let node = clause.target().unwrap_or(self.goal);
        let eliminated = others(self.graph, self.clause(edge), None);
        let literals = self.project(&formulas, model, &eliminated, self.graph.target_variables(edge))?;
        let mut cube: Vec<Term> =
            literals.iter().map(|&literal| self.renaming.from(node, Place::Target, literal)).collect();
        cube.sort_unstable();
        let point = self.point(node, model);
        let fact = self.facts.add(node, Fact { cube: cube.into(), edge, premises: premises.into(), point });
        self.statistics.facts = self.facts.len() as u64;
        Ok(fact)
    }

    /// The head's values in a model of a clause, for the predicate's variables.
    fn point(&self, node: NodeId, model: &Assignment) -> Assignment {
        let node = self.graph.node(node);
        let mut point = Assignment::new();
        for (&variable, &next) in node.variables().iter().zip(node.next()) {
            if let Some(value) = model.get(next) {
                point.set(variable, value.clone());
            }
        }
        point
    }

    /// Whether the cube contains a known derivable point. Only one point of each of the latest facts is tried.
    pub(super) fn has_known_point(&self, node: NodeId, cube: &[Term]) -> bool {
        self.facts.of(node).iter().rev().take(MOST_POINTS).any(|&fact| {
            let mut evaluator = Evaluator::new(self.store, &self.facts.get(fact).point);
            cube.iter().all(|&literal| evaluator.eval(literal) == Ok(Value::Bool(true)))
        })
    }

    /// A reach fact that makes a source true in a model. Its literals are added to the formulas.
    fn true_fact(
        &mut self,
        edge: EdgeId,
        source: usize,
        model: &Assignment,
        formulas: &mut Vec<Term>,
    ) -> Result<FactId, Stop> {
        let clause = self.graph.edge(edge);
        let node = clause.sources()[source];
        let place = Place::Source(clause.occurrence(source));
        let mut evaluator = Evaluator::new(self.store, model);
        for &fact in self.facts.of(node).iter().rev() {
            let literals = self.facts.get(fact).cube.iter();
            let literals: Vec<Term> =
                literals.map(|&literal| self.renaming.to(node, place, literal)).collect();
            if literals.iter().all(|&literal| evaluator.eval(literal) == Ok(Value::Bool(true))) {
                formulas.extend(literals);
                return Ok(fact);
            }
        }
        Err(Stop::Internal("a model contradicts the reach facts that it was asked for".into()))
    }

    /// Projects a clause to one source, around a model in which the others are true as given.
    fn project_to_source(
        &mut self,
        edge: EdgeId,
        sources: &[By],
        wanted: usize,
        cube: &[Term],
        model: &Assignment,
    ) -> Result<Vec<Term>, Stop> {
        let clause = self.graph.edge(edge);
        let mut formulas = vec![clause.label()];
        if let Some(node) = clause.target() {
            formulas.extend(cube.iter().map(|&literal| self.renaming.to(node, Place::Target, literal)));
        }
        for (source, &by) in sources.iter().enumerate() {
            let node = clause.sources()[source];
            let place = Place::Source(clause.occurrence(source));
            match by {
                By::Must => {
                    self.true_fact(edge, source, model, &mut formulas)?;
                }
                By::May(level) if source != wanted => {
                    let lemmas = self.frames[node.index()].conjuncts(level);
                    formulas.extend(lemmas.map(|lemma| self.renaming.to(node, place, lemma)));
                }
                By::May(_) => {}
            }
        }
        let eliminated = others(self.graph, self.clause(edge), Some(wanted));
        let literals =
            self.project(&formulas, model, &eliminated, self.graph.source_variables(edge, wanted))?;
        let node = clause.sources()[wanted];
        let place = Place::Source(clause.occurrence(wanted));
        let mut cube: Vec<Term> =
            literals.iter().map(|&literal| self.renaming.from(node, place, literal)).collect();
        cube.sort_unstable();
        Ok(cube)
    }

    /// Projects formulas around a model to the variables that are kept. Where no method eliminates the others, the point
    /// of the model alone is a projection.
    fn project(
        &mut self,
        formulas: &[Term],
        model: &Assignment,
        eliminated: &[Term],
        kept: &[Term],
    ) -> Result<Vec<Term>, Stop> {
        let store = self.store;
        match self.projector.project_cube(formulas, model, eliminated) {
            Ok(projection) => Ok(projection.literals),
            Err(ProjectError::Buried(_)) => {
                let value = |&variable: &Term| {
                    let value = model.get(variable).cloned();
                    let value = value.unwrap_or_else(|| store.default_value(store.sort_of(variable)));
                    store.eq(variable, store.value_to_term(&value))
                };
                let literals = store.and_of(kept.iter().map(value).collect::<Vec<Term>>());
                Ok(store.conjuncts(literals).collect())
            }
            Err(error) => Err(error.stop(store)),
        }
    }

    /// Whether a lemma satisfies L2, as far as a fresh solver can tell.
    fn is_lemma(&self, node: NodeId, cube: &[Term], level: Level) -> bool {
        let store = self.store;
        let lemma = store.not(store.and(cube));
        self.incoming[node.index()].iter().all(|&edge| {
            let clause = self.graph.edge(edge);
            if level == 0 && !clause.sources().is_empty() {
                return true;
            }
            let mut formulas = vec![clause.label(), store.not(self.graph.at_target(store, edge, lemma))];
            for (source, &body) in clause.sources().iter().enumerate() {
                let below = if level == INFINITY { INFINITY } else { level - 1 };
                let own = (body == node).then_some(lemma);
                for conjunct in self.frames[body.index()].conjuncts(below).chain(own) {
                    formulas.push(self.graph.at_source(store, edge, source, conjunct));
                }
            }
            let mut solver = self.run.solver();
            let asserted = formulas.iter().try_for_each(|&formula| solver.assert(formula));
            let limits = Limits { conflicts: Some(10_000), ..self.run.limits };
            asserted.is_err() || !matches!(solver.check(&[], &limits), Ok(Outcome::Sat))
        })
    }
}

/// The answers of all clauses for a cube.
pub(super) enum Block {
    /// No clause derives a fact in it.
    Blocked(Conflict),
    /// A clause derives a fact in it, with this model.
    Derivable(EdgeId, Assignment),
    /// The solver does not decide it.
    Unknown(Reason),
}

/// The number of reach facts whose points are tried before a cube is generalised.
const MOST_POINTS: usize = 64;

/// Checks whether cubes intersect.
pub(super) struct Cubes<'a> {
    run: &'a Run<'a>,
    solver: Solver<'a>,
}

impl<'a> Cubes<'a> {
    pub(super) fn new(run: &'a Run<'a>) -> Self {
        Cubes { run, solver: run.solver() }
    }

    /// Whether both cubes are known to intersect.
    fn meet(&mut self, a: &[Term], b: &[Term], limits: &Limits<'_>) -> Result<bool, Stop> {
        Ok(self.check(a, b, limits)? == Outcome::Sat)
    }

    /// A point in a cube and a frame.
    pub(super) fn point(
        &mut self,
        cube: &[Term],
        frame: &[Term],
        variables: &[Term],
        limits: &Limits<'_>,
    ) -> Result<Point, Stop> {
        Ok(match self.check(cube, frame, limits)? {
            Outcome::Sat => Point::At(self.solver.model(variables)),
            Outcome::Unsat => Point::Nowhere,
            Outcome::Unknown(_) => Point::Unknown,
        })
    }

    fn check(&mut self, a: &[Term], b: &[Term], limits: &Limits<'_>) -> Result<Outcome, Stop> {
        let formulas: Vec<Term> = a.iter().chain(b).copied().collect();
        match self.solver.check(&formulas, limits) {
            Ok(Outcome::Unknown(reason)) if !matches!(reason, Reason::Budget | Reason::Incomplete) => {
                Err(Stop::Interrupted(reason))
            }
            Ok(outcome) => Ok(outcome),
            Err(unsupported) => Err(unsupported.stop(self.run.store)),
        }
    }
}

/// The result of the search for a point.
pub(super) enum Point {
    /// This point.
    At(Assignment),
    /// There is none.
    Nowhere,
    /// The solver does not decide it.
    Unknown,
}
