//! The main loop: saturation by resolution with a given clause.
//!
//! ```text
//! while there are passive clauses: take a small or an old one, the given clause
//!     an active clause subsumes it          drop it
//!     it is empty                           the clauses are contradictory, as far as the engine sees them
//!     otherwise                             drop the active clauses that it subsumes, make it active, and
//!                                           make its inferences with active clauses passive
//! ```
//!
//! Which inferences there are depends on the order (`check/saturation/` of the checker says why they suffice):
//!
//! - *by derivations*: the selected atom of a goal is resolved with all clauses of the problem;
//! - *by weights*: in addition, clauses have a selected atom unless their head is greater than their body (`order.rs`). These are
//!   the side clauses.
//!
//! Goals `A1, ..., An, distinct(s, t) => false` are *equations* in the order by derivations: where a conclusion has the atoms `A1, ...,
//! An`, the sides are unified. So functions have one result.
//!
//! Goals are generalised on request: an atom whose last argument is a variable without other occurrences is dropped. Most predicates
//! are graphs of functions, and then the atom says nothing. If it does, the stronger goal may be false, and the loop ends with
//! the empty clause.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::witness::Derivation;
use shofar_run::Stop;

use super::input::Problem;
use super::order::is_decreasing;
use super::refute::{Cover, History, Step, StepId};
use super::select::{Preference, Selection};
use super::subsume::{Features, Matcher, any_match, condense, subsumes};
use super::terms::{Atom, Clause, Id, Node, Unifier};
use crate::Run;

/// Every so many given clauses, the oldest one is taken.
const OLD_EVERY: u64 = 6;

/// The greatest number of passive clauses.
const MOST_PASSIVE: usize = 200_000;

/// The greatest number of atoms in the body of a clause.
const MOST_ATOMS: usize = 40;

/// A strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Strategy {
    /// Whether the order is that of Knuth and Bendix instead of that by derivations.
    pub(super) is_weighted: bool,
    pub(super) preference: Preference,
    /// Whether goals are generalised.
    pub(super) generalises: bool,
}

/// A clause of a saturated set.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) clause: Clause,
    pub(super) selected: Option<usize>,
}

/// The end of the loop.
pub(super) enum Outcome {
    Saturated(Vec<Member>),
    /// The empty clause was derived, in these steps.
    Contradiction(StepId),
    /// There are more clauses than the budget allows.
    Open,
}

/// Where a clause comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// It is to be proved as it is.
    Input,
    /// It is a conclusion; with `is_lower` from the step of a predicate.
    Conclusion { is_lower: bool },
}

/// A goal that says when two terms are equal.
struct Equation {
    goal: usize,
    predicates: Vec<Atom>,
    /// With the variables of a side clause.
    sides: [Id; 2],
    /// Whether it has rewritten a goal. Then it stays, as the witness needs it.
    is_used: bool,
}

struct Passive {
    clause: Clause,
    origin: Origin,
    step: StepId,
}

struct Active {
    clause: Clause,
    step: StepId,
    features: Features,
    selected: Option<usize>,
    /// The clause with other variables, if it is a side clause.
    side: Option<Clause>,
    is_live: bool,
}

/// The state of the loop.
pub(super) struct Loop<'p, 'a> {
    problem: &'p mut Problem<'a>,
    strategy: Strategy,
    selection: Selection,
    active: Vec<Active>,
    /// The side clauses by the relations of their heads.
    sides: FxHashMap<usize, Vec<usize>>,
    /// The clauses with a selected atom, by its relation.
    mains: FxHashMap<usize, Vec<usize>>,
    equations: Vec<Equation>,
    passive: Vec<Option<Passive>>,
    by_weight: BinaryHeap<Reverse<(u32, usize)>>,
    by_age: VecDeque<usize>,
    seen: FxHashSet<Clause>,
    history: History,
    /// Whether inferences were left out.
    is_incomplete: bool,
    pub(super) given: u64,
}

impl<'p, 'a> Loop<'p, 'a> {
    /// A loop for the clauses with heads and for goals.
    pub(super) fn new(problem: &'p mut Problem<'a>, strategy: Strategy, goals: &[Clause]) -> Self {
        let selection = Selection::new(problem, strategy.preference);
        let mut this = Loop {
            strategy,
            selection,
            active: Vec::new(),
            sides: FxHashMap::default(),
            mains: FxHashMap::default(),
            equations: Vec::new(),
            passive: Vec::new(),
            by_weight: BinaryHeap::new(),
            by_age: VecDeque::new(),
            seen: FxHashSet::default(),
            history: History::default(),
            is_incomplete: false,
            given: 0,
            problem,
        };
        // The clauses of the problem come first, so that all inferences are made by goals.
        for clause in this.problem.clauses.clone() {
            let input = Step::Input(this.problem.edge(&clause));
            if strategy.is_weighted {
                this.add(clause, Origin::Input, input);
            } else {
                let step = this.history.add(input);
                this.activate(clause, step, None);
            }
        }
        for goal in goals {
            let input = Step::Input(this.problem.edge(goal));
            this.add(goal.clone(), Origin::Input, input);
        }
        this
    }

    /// Goes on until the end or until the budget of given clauses is spent.
    pub(super) fn run(&mut self, run: &Run<'_>, budget: u64) -> Result<Outcome, Stop> {
        while let Some(Passive { clause, origin, step }) = self.next() {
            run.go_on()?;
            // There may be new equations.
            let Some((clause, cover)) = self.rewritten(clause, origin) else { continue };
            let step = self.history.simplified(step, cover);
            if self.given >= budget || self.passive.len() > MOST_PASSIVE || self.is_incomplete {
                return Ok(Outcome::Open);
            }
            self.given += 1;
            if clause.body.is_empty() && clause.head.is_none() {
                return Ok(Outcome::Contradiction(step));
            }
            let features = Features::of(&self.problem.bank, &clause);
            if self.is_subsumed(&clause, features) {
                continue;
            }
            self.subsume(&clause, features);
            let selected = self.selected(&clause);
            self.activate(clause, step, selected);
            self.infer(run)?;
        }
        if self.is_incomplete {
            return Ok(Outcome::Open);
        }
        let live = self.active.iter().filter(|active| active.is_live);
        let member = |active: &Active| Member { clause: active.clause.clone(), selected: active.selected };
        Ok(Outcome::Saturated(live.map(member).collect()))
    }

    /// A derivation of `false` by the steps of the empty clause, if there are values for it. The steps of a strategy that generalises
    /// goals give none.
    pub(super) fn refutation(&self, run: &Run<'_>, empty: StepId) -> Result<Option<Derivation>, Stop> {
        self.history.refutation(run, self.problem.graph, empty)
    }

    /// The number of terms so far.
    pub(super) fn terms(&self) -> u64 {
        self.problem.bank.len() as u64
    }

    /// The next given clause.
    fn next(&mut self) -> Option<Passive> {
        loop {
            let position = if self.given % OLD_EVERY == OLD_EVERY - 1 {
                self.by_age.pop_front()?
            } else {
                self.by_weight.pop()?.0.1
            };
            if let Some(clause) = self.passive[position].take() {
                return Some(clause);
            }
        }
    }

    /// Simplifies a clause and makes it passive.
    fn add(&mut self, clause: Clause, origin: Origin, step: Step) {
        if clause.head.as_ref().is_some_and(|head| clause.body.contains(head)) {
            return;
        }
        let Some((mut clause, mut cover)) = self.rewritten(clause, origin) else { return };
        let is_true = |atom: &Atom| self.problem.is_given(atom.relation) && self.are_different_values(atom);
        cover = cover.then(&Cover::of_different(&mut clause.body, is_true));
        cover = cover.then(&condense(&self.problem.bank, &mut clause));
        if self.strategy.generalises && clause.head.is_none() {
            cover = cover.then(&self.generalise(&mut clause));
        }
        if clause.body.len() > MOST_ATOMS {
            self.is_incomplete = true;
            return;
        }
        let clause = self.problem.bank.numbered(&clause);
        if !self.seen.insert(clause.clone()) {
            return;
        }
        let features = Features::of(&self.problem.bank, &clause);
        if self.is_subsumed(&clause, features) {
            return;
        }
        let step = self.history.add(step);
        let step = self.history.simplified(step, cover);
        let position = self.passive.len();
        self.passive.push(Some(Passive { clause, origin, step }));
        self.by_weight.push(Reverse((features.weight, position)));
        self.by_age.push_back(position);
    }

    /// A goal after equations have rewritten it, and how it covers the goal; `None` if its body is contradictory.
    fn rewritten(&mut self, clause: Clause, origin: Origin) -> Option<(Clause, Cover)> {
        let mut cover = Cover::identity(clause.body.len());
        let Origin::Conclusion { is_lower } = origin else { return Some((clause, cover)) };
        // The variables of a conclusion may be those of a side clause, which the equations use.
        let mut clause = self.problem.bank.numbered(&clause);
        let is_predicate = |problem: &Problem<'_>, atom: &Atom| !problem.is_distinct(atom.relation);
        let mut has_changed = false;
        'again: loop {
            let predicates = clause.body.iter().filter(|atom| is_predicate(self.problem, atom)).count();
            for equation in &mut self.equations {
                if !self.active[equation.goal].is_live || !is_lower && equation.predicates.len() >= predicates
                {
                    continue;
                }
                let bank = &self.problem.bank;
                let mut found: Option<Option<Unifier>> = None;
                let atoms = &clause.body;
                any_match(bank, &mut Matcher::default(), &equation.predicates, atoms, true, |matcher| {
                    let mut unifier = Unifier::of_side(matcher.bindings());
                    let before = unifier.len();
                    found = match unifier.unify(bank, vec![equation.sides.into()]) {
                        true if unifier.len() == before => None,
                        true => Some(Some(unifier)),
                        false => Some(None),
                    };
                    found.is_some()
                });
                if let Some(found) = found {
                    equation.is_used = true;
                    clause = found?.apply(&mut self.problem.bank, &clause);
                    has_changed = true;
                    continue 'again;
                }
            }
            break;
        }
        if has_changed {
            cover = Cover::of_different(&mut clause.body, |_| false);
            clause = self.problem.bank.numbered(&clause);
        }
        Some((clause, cover))
    }

    /// Whether a disequality of values is true.
    fn are_different_values(&self, atom: &Atom) -> bool {
        let is_value = |&side: &Id| matches!(self.problem.bank.node(side), Node::Application(..));
        atom.arguments.iter().all(is_value) && atom.arguments[0] != atom.arguments[1]
    }

    /// Drops atoms whose last argument is a variable that occurs nowhere else.
    fn generalise(&self, clause: &mut Clause) -> Cover {
        let bank = &self.problem.bank;
        let mut cover = Cover::identity(clause.body.len());
        loop {
            let occurs_elsewhere = |own: usize, position: usize, variable: u32| {
                clause.body.iter().enumerate().any(|(other, atom)| {
                    let arguments = atom.arguments.iter().enumerate();
                    let others =
                        arguments.filter(|&(at, _)| other != own || at != position).map(|(_, it)| it);
                    bank.variables(others).contains(&variable)
                })
            };
            let dropped = clause.body.iter().enumerate().position(|(own, atom)| {
                let last = atom.arguments.len().checked_sub(1);
                !self.problem.is_distinct(atom.relation)
                    && last.is_some_and(|last| match bank.node(atom.arguments[last]) {
                        &Node::Variable(variable) => last > 0 && !occurs_elsewhere(own, last, variable),
                        Node::Application(..) => false,
                    })
            });
            match dropped.filter(|_| clause.body.len() > 1) {
                Some(position) => {
                    cover = cover.then(&Cover::without(clause.body.len(), position));
                    clause.body.remove(position);
                }
                None => return cover,
            }
        }
    }

    fn is_subsumed(&self, clause: &Clause, features: Features) -> bool {
        self.active.iter().any(|active| {
            active.is_live
                && active.features.may_subsume(features)
                && subsumes(&self.problem.bank, &active.clause, clause)
        })
    }

    /// Drops active clauses that the clause subsumes.
    fn subsume(&mut self, clause: &Clause, features: Features) {
        let used = self.equations.iter().filter(|equation| equation.is_used).map(|equation| equation.goal);
        let used: FxHashSet<usize> = used.collect();
        let active = self.active.iter_mut().enumerate();
        for (_, active) in active.filter(|(position, active)| active.is_live && !used.contains(position)) {
            if features.may_subsume(active.features) && subsumes(&self.problem.bank, clause, &active.clause) {
                active.is_live = false;
            }
        }
    }

    /// The selected atom of a clause.
    fn selected(&self, clause: &Clause) -> Option<usize> {
        let (bank, values) = (&self.problem.bank, self.problem.constructors);
        if clause.head.is_some() && (!self.strategy.is_weighted || is_decreasing(bank, values, clause)) {
            return None;
        }
        self.selection.select(bank, clause)
    }

    fn activate(&mut self, clause: Clause, step: StepId, selected: Option<usize>) {
        let bank = &mut self.problem.bank;
        let features = Features::of(bank, &clause);
        let position = self.active.len();
        let mut side = None;
        match (selected, &clause.head) {
            (Some(selected), _) => {
                self.mains.entry(clause.body[selected].relation).or_default().push(position);
            }
            (None, Some(head)) => {
                self.sides.entry(head.relation).or_default().push(position);
                side = Some(bank.shifted(&clause));
            }
            (None, None) => {}
        }
        let equation = self.equation(&clause, position);
        self.equations.extend(equation);
        self.active.push(Active { clause, step, features, selected, side, is_live: true });
    }

    /// The equation that a goal is, if it is one.
    fn equation(&mut self, clause: &Clause, goal: usize) -> Option<Equation> {
        if self.strategy.is_weighted || clause.head.is_some() {
            return None;
        }
        let is_predicate = |atom: &&Atom| !self.problem.is_distinct(atom.relation);
        let predicates: Vec<Atom> = clause.body.iter().filter(is_predicate).cloned().collect();
        if predicates.is_empty() || predicates.len() + 1 != clause.body.len() {
            return None;
        }
        let bank = &mut self.problem.bank;
        let bound = bank.variables(predicates.iter().flat_map(|atom| atom.arguments.iter()));
        let shifted = bank.shifted(clause);
        let (position, unequal) =
            clause.body.iter().enumerate().find(|(_, atom)| self.problem.is_distinct(atom.relation))?;
        let are_bound =
            self.problem.bank.variables(unequal.arguments.iter()).iter().all(|it| bound.contains(it));
        let sides = &shifted.body[position].arguments;
        are_bound.then(|| Equation { goal, predicates, sides: [sides[0], sides[1]], is_used: false })
    }

    /// Makes the inferences of the last active clause.
    fn infer(&mut self, run: &Run<'_>) -> Result<(), Stop> {
        let Some(last) = self.active.len().checked_sub(1) else { return Ok(()) };
        let pairs: Vec<(usize, usize)> = match (self.active[last].selected, &self.active[last].clause.head) {
            (Some(selected), _) => {
                let atom = &self.active[last].clause.body[selected];
                let sides = self.sides.get(&atom.relation).map_or(&[][..], Vec::as_slice);
                sides.iter().map(|&side| (last, side)).collect()
            }
            (None, Some(head)) => {
                let mains = self.mains.get(&head.relation).map_or(&[][..], Vec::as_slice);
                mains.iter().map(|&main| (main, last)).collect()
            }
            (None, None) => Vec::new(),
        };
        if let Some(selected) = self.active[last].selected {
            let atom = &self.active[last].clause.body[selected];
            if self.problem.is_given(atom.relation) && atom.arguments[0] != atom.arguments[1] {
                let Active { clause, step, .. } = &self.active[last];
                let (mut clause, of) = (clause.clone(), *step);
                let cover = Cover::without(clause.body.len(), selected);
                clause.body.remove(selected);
                self.add(clause, Origin::Conclusion { is_lower: false }, Step::Part { of, cover });
            }
        }
        for (main, side) in pairs {
            run.go_on()?;
            if let Some((clause, step)) = self.resolvent(main, side) {
                let is_lower = self.active[main].selected.is_some_and(|selected| {
                    !self.problem.is_distinct(self.active[main].clause.body[selected].relation)
                });
                self.add(clause, Origin::Conclusion { is_lower }, step);
            }
        }
        Ok(())
    }

    /// The conclusion from two active clauses, if there is one.
    fn resolvent(&mut self, main: usize, side: usize) -> Option<(Clause, Step)> {
        let (main, side) = (&self.active[main], &self.active[side]);
        if !main.is_live || !side.is_live {
            return None;
        }
        let selected = main.selected?;
        let others = main.clause.body.len() - 1;
        let step = Step::Resolvent { main: main.step, selected, others, side: side.step };
        let side = side.side.as_ref()?;
        let bank = &mut self.problem.bank;
        let unifier = Unifier::of(bank, &main.clause.body[selected], side.head.as_ref()?)?;
        let kept = main.clause.body.iter().enumerate().filter(|&(position, _)| position != selected);
        let body = kept.map(|(_, atom)| atom).chain(&side.body).cloned().collect();
        Some((unifier.apply(bank, &Clause { body, head: main.clause.head.clone() }), step))
    }
}
