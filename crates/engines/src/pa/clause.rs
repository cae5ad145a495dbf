//! The application of one clause to abstract facts.
//!
//! The solver of the clause has the label. The predicates of the premises, and the negation of one of the head, are assumed. Both
//! answers are generalised and kept, since predicates never change:
//!
//! - A core of `unsat` says that some predicates of the premises exclude each other, or imply a predicate of the head. That holds
//!   for all facts that have them.
//! - A model of `sat` is a *point*, an instance of the clause. It is an instance of all applications whose predicates it
//!   satisfies, and none of these implies a predicate of the head that is false there.
//!
//! If the solver does not decide a query, the application counts as possible and the predicate as not implied.

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::graph::EdgeId;
use shofar_logic::{Assignment, Term, Value};
use shofar_run::{Reason, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::Predicates;
use super::set::Set;
use crate::Run;

/// Points that are kept for a clause; a new one replaces the oldest.
const MOST_POINTS: usize = 64;

/// The conflicts of a query about one application.
const CONFLICTS: u64 = 20_000;

/// The predicates that an application implies.
pub(super) struct Abstraction(pub(super) Set);

/// Predicates of the sources, indexed by source.
type Premises = Box<[Set]>;

/// A clause with what is known about its applications.
pub(super) struct Clause<'a> {
    edge: EdgeId,
    solver: Option<Solver<'a>>,
    /// Indexed by source: the predicates at the source.
    sources: Vec<Vec<Term>>,
    /// The predicates at the target.
    target: Vec<Term>,
    /// The source and the number of a predicate there.
    origin: FxHashMap<Term, (usize, usize)>,
    /// Premises without instances.
    impossible: Vec<Premises>,
    /// Indexed by predicates of the target: premises that imply it.
    implied: Vec<Vec<Premises>>,
    points: Vec<Point>,
    pub(super) queries: u64,
    /// Questions that were answered without the solver.
    pub(super) cached: u64,
}

/// An instance of the clause.
struct Point {
    values: Assignment,
    /// The predicates that are true there.
    sources: Premises,
    target: Set,
}

/// The answer of the solver.
enum Answer {
    /// A point: its position.
    Possible(usize),
    /// Premises that are enough.
    Impossible(Premises),
    Unknown,
}

impl<'a> Clause<'a> {
    pub(super) fn new(graph: &HornGraph, edge: EdgeId) -> Self {
        Clause {
            edge,
            solver: None,
            sources: vec![Vec::new(); graph.edge(edge).sources().len()],
            target: Vec::new(),
            origin: FxHashMap::default(),
            impossible: Vec::new(),
            implied: Vec::new(),
            points: Vec::new(),
            queries: 0,
            cached: 0,
        }
    }

    /// The predicates of the head that premises with these predicates imply; `None` if they have no instance.
    pub(super) fn apply(
        &mut self,
        run: &Run<'a>,
        graph: &HornGraph,
        predicates: &[Predicates],
        premises: &[&Set],
    ) -> Result<Option<Abstraction>, Stop> {
        self.update(run, graph, predicates);
        if self.impossible.iter().any(|known| is_enough(known, premises)) {
            self.cached += 1;
            return Ok(None);
        }
        let mut candidates: Set = (0..self.target.len()).collect();
        let mut is_possible = false;
        for point in self.points.iter().filter(|point| point.satisfies(premises)) {
            candidates.intersect(&point.target);
            is_possible = true;
        }
        if is_possible {
            self.cached += 1;
        } else {
            match self.ask(run, graph, premises, None)? {
                Answer::Possible(point) => candidates.intersect(&self.points[point].target),
                Answer::Impossible(enough) => {
                    self.impossible.push(enough);
                    return Ok(None);
                }
                Answer::Unknown => {}
            }
        }
        let mut implied = Set::default();
        while let Some(candidate) = candidates.pop() {
            if self.implied[candidate].iter().any(|known| is_enough(known, premises)) {
                self.cached += 1;
                implied.insert(candidate);
                continue;
            }
            match self.ask(run, graph, premises, Some(candidate))? {
                Answer::Possible(point) => candidates.intersect(&self.points[point].target),
                Answer::Impossible(enough) => {
                    self.implied[candidate].push(enough);
                    implied.insert(candidate);
                }
                Answer::Unknown => {}
            }
        }
        Ok(Some(Abstraction(implied)))
    }

    /// Takes over new predicates.
    fn update(&mut self, run: &Run<'a>, graph: &HornGraph, predicates: &[Predicates]) {
        let (store, edge) = (run.store, graph.edge(self.edge));
        for (source, node) in edge.sources().iter().enumerate() {
            for &predicate in &predicates[node.index()].list[self.sources[source].len()..] {
                let number = self.sources[source].len();
                let there = graph.at_source(store, self.edge, source, predicate);
                self.origin.insert(there, (source, number));
                self.sources[source].push(there);
                for point in &mut self.points {
                    if store.eval(there, &point.values) == Ok(Value::Bool(true)) {
                        point.sources[source].insert(number);
                    }
                }
            }
        }
        let Some(target) = edge.target() else { return };
        for &predicate in &predicates[target.index()].list[self.target.len()..] {
            let there = graph.at_target(store, self.edge, predicate);
            for point in &mut self.points {
                if store.eval(there, &point.values) == Ok(Value::Bool(true)) {
                    point.target.insert(self.target.len());
                }
            }
            self.target.push(there);
            self.implied.push(Vec::new());
        }
    }

    /// Asks for an instance in which a predicate of the target is false, if one is given.
    fn ask(
        &mut self,
        run: &Run<'a>,
        graph: &HornGraph,
        premises: &[&Set],
        violated: Option<usize>,
    ) -> Result<Answer, Stop> {
        let store = run.store;
        let solver = match &mut self.solver {
            Some(solver) => solver,
            None => {
                let solver = self.solver.insert(run.solver());
                run.assert(solver, &[graph.edge(self.edge).label()])?;
                solver
            }
        };
        let of_source = |(source, set): (usize, &&Set)| {
            set.iter().map(|predicate| self.sources[source][predicate]).collect::<Vec<Term>>()
        };
        let mut assumptions: Vec<Term> = premises.iter().enumerate().flat_map(of_source).collect();
        assumptions.extend(violated.map(|predicate| store.not(self.target[predicate])));
        self.queries += 1;
        let limits = shofar_run::Limits { conflicts: Some(CONFLICTS), ..run.limits };
        match solver.check(&assumptions, &limits).map_err(|unsupported| unsupported.stop(store))? {
            Outcome::Unsat => {
                let mut enough: Premises = vec![Set::default(); premises.len()].into();
                for term in solver.core() {
                    if let Some(&(source, predicate)) = self.origin.get(&term) {
                        enough[source].insert(predicate);
                    }
                }
                Ok(Answer::Impossible(enough))
            }
            Outcome::Sat => {
                let forms = self.sources.iter().flatten().chain(&self.target).copied();
                let all: Vec<Term> = forms.chain([graph.edge(self.edge).label()]).collect();
                let values = solver.model(&all);
                let is_true = |&form: &Term| store.eval(form, &values) == Ok(Value::Bool(true));
                let truths = |forms: &Vec<Term>| (0..forms.len()).filter(|&at| is_true(&forms[at])).collect();
                let sources = self.sources.iter().map(truths).collect();
                let target = truths(&self.target);
                if self.points.len() >= MOST_POINTS {
                    self.points.remove(0);
                }
                self.points.push(Point { values, sources, target });
                Ok(Answer::Possible(self.points.len() - 1))
            }
            Outcome::Unknown(Reason::Budget | Reason::Incomplete) => Ok(Answer::Unknown),
            Outcome::Unknown(reason) => Err(reason.into()),
        }
    }
}

/// Whether premises have all predicates that are enough.
fn is_enough(enough: &Premises, premises: &[&Set]) -> bool {
    std::iter::zip(enough, premises).all(|(enough, has)| enough.is_subset(has))
}

impl Point {
    fn satisfies(&self, premises: &[&Set]) -> bool {
        std::iter::zip(&self.sources, premises).all(|(here, asked)| asked.is_subset(here))
    }
}
