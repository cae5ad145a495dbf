//! One clause as a path through its procedure: what it demands of a call, and what it returns with.
//!
//! The label of the clause is exact. The solver has it, and assumes abstraction predicates: those of the entry, and those of the
//! exits that the calls so far have returned with. These are the *premises*: first the entry, then the calls in order; a call
//! that is still to come has none. The *goals* are the entries of the calls, in order, and at last the exit. An abstraction is
//! the set of a goal's predicates that the premises imply.
//!
//! Answers are generalised and kept, since predicates never change:
//!
//! - A core of `unsat` says that some predicates of the premises exclude each other, or imply a predicate of a goal.
//! - A model of `sat` is a *point*, an instance of the clause. All premises that it satisfies have an instance, and none of them
//!   implies a predicate that is false there, whatever the goal.
//!
//! If the solver does not decide a query, the path counts as feasible and the predicate as not implied.

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::graph::EdgeId;
use shofar_logic::{Assignment, Term, Value};
use shofar_run::{Limits, Reason, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::Precision;
use crate::Run;
use crate::pa::set::Set;

/// Points that are kept for a clause; later ones replace the oldest.
const MOST_POINTS: usize = 128;

/// The conflicts of a query.
const CONFLICTS: u64 = 20_000;

/// Predicates of the entry and of each call's exit.
type Premises = Box<[Set]>;

/// A clause with what is known about its abstractions.
pub(super) struct Clause<'a> {
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
    pub(super) queries: u64,
    /// Questions that were answered without the solver.
    pub(super) cached: u64,
}

/// An entry of a call, or the exit.
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
    pub(super) fn new(graph: &HornGraph, edge: EdgeId) -> Self {
        let places = graph.edge(edge).sources().len() + 1;
        Clause {
            edge,
            solver: None,
            premises: vec![Vec::new(); places],
            origin: FxHashMap::default(),
            goals: (0..places).map(|_| Goal::default()).collect(),
            impossible: Vec::new(),
            points: Vec::new(),
            queries: 0,
            cached: 0,
        }
    }

    /// The predicates of the next goal that the premises imply: the entry, and the exits of the calls so far. `None` if they
    /// have no instance.
    pub(super) fn abstraction(
        &mut self,
        run: &Run<'a>,
        graph: &HornGraph,
        precision: &Precision,
        entry: &Set,
        exits: &[&Set],
    ) -> Result<Option<Set>, Stop> {
        self.update(run, graph, precision);
        let goal = exits.len();
        let mut premises: Vec<&Set> = vec![entry];
        premises.extend(exits);
        if self.impossible.iter().any(|known| is_enough(known, &premises)) {
            self.cached += 1;
            return Ok(None);
        }
        let mut candidates: Set = (0..self.goals[goal].predicates.len()).collect();
        let mut is_possible = false;
        for point in self.points.iter().filter(|point| point.satisfies(&premises)) {
            candidates.intersect(&point.goals[goal]);
            is_possible = true;
        }
        if is_possible {
            self.cached += 1;
        } else {
            match self.ask(run, graph, &premises, None)? {
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
            if self.goals[goal].implied[candidate].iter().any(|known| is_enough(known, &premises)) {
                self.cached += 1;
                implied.insert(candidate);
                continue;
            }
            let violated = run.store.not(self.goals[goal].predicates[candidate]);
            match self.ask(run, graph, &premises, Some(violated))? {
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

    /// Takes over new predicates.
    fn update(&mut self, run: &Run<'a>, graph: &HornGraph, precision: &Precision) {
        let (store, edge) = (run.store, graph.edge(self.edge));
        for (source, node) in edge.sources().iter().enumerate() {
            let there = |predicate: Term| graph.at_source(store, self.edge, source, predicate);
            let entry = &precision.entries[node.index()].list[self.goals[source].predicates.len()..];
            let entry: Vec<Term> = entry.iter().map(|&predicate| there(predicate)).collect();
            let exit = &precision.exits[node.index()].list[self.premises[source + 1].len()..];
            let exit: Vec<Term> = exit.iter().map(|&predicate| there(predicate)).collect();
            self.add_goals(run, source, entry);
            self.add_premises(run, source + 1, exit);
        }
        let Some(node) = edge.target() else { return };
        let there = |predicate: Term| graph.at_target(store, self.edge, predicate);
        let last = edge.sources().len();
        let entry = &precision.entries[node.index()].list[self.premises[0].len()..];
        let entry: Vec<Term> = entry.iter().map(|&predicate| there(predicate)).collect();
        let exit = &precision.exits[node.index()].list[self.goals[last].predicates.len()..];
        let exit: Vec<Term> = exit.iter().map(|&predicate| there(predicate)).collect();
        self.add_premises(run, 0, entry);
        self.add_goals(run, last, exit);
    }

    fn add_premises(&mut self, run: &Run<'a>, place: usize, predicates: Vec<Term>) {
        for predicate in predicates {
            let number = self.premises[place].len();
            self.origin.entry(predicate).or_default().push((place, number));
            self.premises[place].push(predicate);
            for point in &mut self.points {
                if run.store.eval(predicate, &point.values) == Ok(Value::Bool(true)) {
                    point.premises[place].insert(number);
                }
            }
        }
    }

    fn add_goals(&mut self, run: &Run<'a>, goal: usize, predicates: Vec<Term>) {
        for predicate in predicates {
            let number = self.goals[goal].predicates.len();
            self.goals[goal].predicates.push(predicate);
            self.goals[goal].implied.push(Vec::new());
            for point in &mut self.points {
                if run.store.eval(predicate, &point.values) == Ok(Value::Bool(true)) {
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

/// Whether premises have all predicates that are enough. Calls to come have none.
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
