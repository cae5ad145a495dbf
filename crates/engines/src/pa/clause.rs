//! One clause under abstraction: which predicates follow from which.
//!
//! The label of the clause is exact. The solver has it, and assumes abstraction predicates at several places of the clause, the
//! *premises*. *Goals* are further places. The abstraction of a goal is the set of its predicates that the premises imply. In
//! predicate abstraction the sources are premises and the target is the goal; procedures with summaries have more of both.
//!
//! Answers are generalised and kept, since predicates never change:
//!
//! - A core of `unsat` says that some predicates of the premises exclude each other, or imply a predicate of a goal. That holds
//!   for all premises that have them.
//! - A model of `sat` is a *point*, an instance of the clause. All premises that it satisfies have an instance, and none of them
//!   implies a predicate that is false there, whatever the goal.
//!
//! If the solver does not decide a query, the premises count as possible and the predicate as not implied.

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::graph::EdgeId;
use shofar_logic::{Assignment, Term, TermStore, Value};
use shofar_run::{Limits, Reason, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::set::Set;
use crate::Run;

/// Points that are kept for a clause; a new one replaces the oldest.
const MOST_POINTS: usize = 128;

/// The conflicts of a query.
const CONFLICTS: u64 = 20_000;

/// Predicates of each premise.
type Premises = Box<[Set]>;

/// A clause with what is known about its abstractions.
pub(crate) struct Clause<'a> {
    edge: EdgeId,
    solver: Option<Solver<'a>>,
    /// The predicates of the premises, over the variables of the clause.
    premises: Vec<Vec<Term>>,
    /// The premise and the number of a predicate there.
    origin: FxHashMap<Term, Vec<(usize, usize)>>,
    goals: Vec<Goal>,
    /// Premises without instances.
    impossible: Vec<Premises>,
    points: Vec<Point>,
    pub(crate) queries: u64,
    /// Questions that were answered without the solver.
    pub(crate) cached: u64,
}

/// A place whose predicates may follow.
#[derive(Default)]
struct Goal {
    /// The predicates, over the variables of the clause.
    predicates: Vec<Term>,
    /// Indexed by predicate: premises that imply it.
    implied: Vec<Vec<Premises>>,
}

/// An instance of the clause.
struct Point {
    values: Assignment,
    /// The predicates that are true there.
    premises: Premises,
    /// Indexed by goal.
    goals: Box<[Set]>,
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
    /// A clause with so many premises and goals.
    pub(crate) fn new(edge: EdgeId, premises: usize, goals: usize) -> Self {
        Clause {
            edge,
            solver: None,
            premises: vec![Vec::new(); premises],
            origin: FxHashMap::default(),
            goals: (0..goals).map(|_| Goal::default()).collect(),
            impossible: Vec::new(),
            points: Vec::new(),
            queries: 0,
            cached: 0,
        }
    }

    /// The predicates of a goal that the premises imply; `None` if they have no instance. The last premises may be left out: they
    /// have no predicates.
    pub(crate) fn abstraction(
        &mut self,
        run: &Run<'a>,
        graph: &HornGraph,
        premises: &[&Set],
        goal: usize,
    ) -> Result<Option<Set>, Stop> {
        if self.impossible.iter().any(|known| is_enough(known, premises)) {
            self.cached += 1;
            return Ok(None);
        }
        let mut candidates: Set = (0..self.goals[goal].predicates.len()).collect();
        let mut is_possible = false;
        for point in self.points.iter().filter(|point| point.satisfies(premises)) {
            candidates.intersect(&point.goals[goal]);
            is_possible = true;
        }
        if is_possible {
            self.cached += 1;
        } else {
            match self.ask(run, graph, premises, None)? {
                Answer::Possible(point) => candidates.intersect(&self.points[point].goals[goal]),
                Answer::Impossible(enough) => {
                    self.impossible.push(enough);
                    return Ok(None);
                }
                Answer::Unknown => {}
            }
        }
        let mut implied = Set::default();
        while let Some(candidate) = candidates.pop() {
            if self.goals[goal].implied[candidate].iter().any(|known| is_enough(known, premises)) {
                self.cached += 1;
                implied.insert(candidate);
                continue;
            }
            let violated = run.store.not(self.goals[goal].predicates[candidate]);
            match self.ask(run, graph, premises, Some(violated))? {
                Answer::Possible(point) => candidates.intersect(&self.points[point].goals[goal]),
                Answer::Impossible(enough) => {
                    self.goals[goal].implied[candidate].push(enough);
                    implied.insert(candidate);
                }
                Answer::Unknown => {}
            }
        }
        Ok(Some(implied))
    }

    /// Adds the predicates of a premise that it does not have yet. `at_place` renames a predicate of its node to the clause.
    pub(crate) fn add_premises(
        &mut self,
        store: &TermStore,
        premise: usize,
        all: &[Term],
        at_place: impl Fn(Term) -> Term,
    ) {
        for &predicate in &all[self.premises[premise].len()..] {
            let (predicate, number) = (at_place(predicate), self.premises[premise].len());
            self.origin.entry(predicate).or_default().push((premise, number));
            self.premises[premise].push(predicate);
            for point in &mut self.points {
                if store.eval(predicate, &point.values) == Ok(Value::Bool(true)) {
                    point.premises[premise].insert(number);
                }
            }
        }
    }

    /// Adds the predicates of a goal that it does not have yet.
    pub(crate) fn add_goals(
        &mut self,
        store: &TermStore,
        goal: usize,
        all: &[Term],
        at_place: impl Fn(Term) -> Term,
    ) {
        for &predicate in &all[self.goals[goal].predicates.len()..] {
            let (predicate, number) = (at_place(predicate), self.goals[goal].predicates.len());
            self.goals[goal].predicates.push(predicate);
            self.goals[goal].implied.push(Vec::new());
            for point in &mut self.points {
                if store.eval(predicate, &point.values) == Ok(Value::Bool(true)) {
                    point.goals[goal].insert(number);
                }
            }
        }
    }

    /// Asks for an instance of premises, and of a further formula if there is one.
    fn ask(
        &mut self,
        run: &Run<'a>,
        graph: &HornGraph,
        premises: &[&Set],
        further: Option<Term>,
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
        let at = |(place, set): (usize, &&Set)| {
            set.iter().map(|predicate| self.premises[place][predicate]).collect::<Vec<Term>>()
        };
        let mut assumptions: Vec<Term> = premises.iter().enumerate().flat_map(at).collect();
        assumptions.extend(further);
        self.queries += 1;
        let limits = Limits { conflicts: Some(CONFLICTS), ..run.limits };
        match solver.check(&assumptions, &limits).map_err(|unsupported| unsupported.stop(store))? {
            Outcome::Unsat => {
                let mut enough: Premises = vec![Set::default(); self.premises.len()].into();
                for term in solver.core() {
                    let places = self.origin.get(&term).into_iter().flatten();
                    // The same formula may be a predicate at several places.
                    let has = |set: &&Set, number: usize| set.iter().any(|member| member == number);
                    let given = |&&(place, number): &&(usize, usize)| {
                        premises.get(place).is_some_and(|set| has(set, number))
                    };
                    if let Some(&(place, number)) = places.into_iter().find(given) {
                        enough[place].insert(number);
                    }
                }
                Ok(Answer::Impossible(enough))
            }
            Outcome::Sat => {
                let goals = self.goals.iter().flat_map(|goal| &goal.predicates);
                let forms = self.premises.iter().flatten().chain(goals).copied();
                let all: Vec<Term> = forms.chain([graph.edge(self.edge).label()]).collect();
                let values = solver.model(&all);
                let is_true = |&form: &Term| store.eval(form, &values) == Ok(Value::Bool(true));
                let truths = |forms: &Vec<Term>| (0..forms.len()).filter(|&at| is_true(&forms[at])).collect();
                let premises = self.premises.iter().map(truths).collect();
                let goals = self.goals.iter().map(|goal| truths(&goal.predicates)).collect();
                if self.points.len() >= MOST_POINTS {
                    self.points.remove(0);
                }
                self.points.push(Point { values, premises, goals });
                Ok(Answer::Possible(self.points.len() - 1))
            }
            Outcome::Unknown(Reason::Budget | Reason::Incomplete) => Ok(Answer::Unknown),
            Outcome::Unknown(reason) => Err(reason.into()),
        }
    }
}

/// Whether premises have all predicates that are enough. Premises that are left out have none.
fn is_enough(enough: &Premises, premises: &[&Set]) -> bool {
    let nothing = Set::default();
    let has = premises.iter().copied().chain(std::iter::repeat(&nothing));
    std::iter::zip(enough, has).all(|(enough, has)| enough.is_subset(has))
}

impl Point {
    fn satisfies(&self, premises: &[&Set]) -> bool {
        std::iter::zip(&self.premises, premises).all(|(here, asked)| asked.is_subset(here))
    }
}
