//! Newton: predicates by weakest preconditions or strongest postconditions, without interpolants.
//!
//! The path is a sequence of statements. In forward direction `sp`, in backward direction `wp` is computed through all of
//! them:
//!
//! ```text
//!              sp(f, .)                                  wp(., f)
//! assume c     f and c                                   c and f
//! v := e       exists v0. f[v0/v] and v = e[v0/v]        f[e/v]
//! havoc v      exists v0. f[v0/v]                        exists v0. f[v0/v]
//! ```
//!
//! `sp` at a position contains the states that are reached there; `wp` (the existential one) those from which the rest can be
//! executed, so its negation goes to the refutation. Both are chains, since the path is infeasible.
//!
//! - *Iterative abstraction* (`it`): only the statements of an unsatisfiable core are executed, with the labels as
//!   assumptions. An assumption outside of it is left out, and an assignment to `v` becomes `havoc v`. The core has statements
//!   by index, so equal ones are not confused. (Without cores labels are left out: the path is infeasible without them, and
//!   they would make each predicate a part of the next ones.)
//! - *Live variables* (`lv`): `sp` keeps the variables that a later statement reads before one writes them; `wp` keeps the
//!   variables that earlier statements constrain. All others are projected by `exists`: the future does not read them, or the
//!   past leaves them open. Liveness is computed by statement, because an edge of a loop reads a variable before it
//!   writes it.
//!
//! A predicate has only variables that are live at its location. So quantifiers are always eliminated; where that takes too
//! long, the position has no predicate.
//!
//! D. Dietsch, M. Heizmann, B. Musa, A. Nutz, A. Podelski, "Craig vs. Newton in software model checking" (FSE 2017).

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::cfa::Statement;
use shofar_logic::{Substitution, Term, TermStore};
use shofar_run::Stop;

use super::super::path::Path;
use super::Surroundings;
use crate::Run;
use crate::eliminate::eliminate_with_little_effort;
use crate::unroll::fresh_vector;

/// The direction of the computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calculus {
    /// Weakest preconditions, backward.
    Weakest,
    /// Strongest postconditions, forward.
    Strongest,
}

/// A variant of Newton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Newton {
    /// The direction.
    pub calculus: Calculus,
    /// Whether only the statements of an unsatisfiable core are executed.
    pub iterative_abstraction: bool,
    /// Whether predicates keep live variables only.
    pub live_variables: bool,
}

impl Newton {
    pub(super) const fn new(calculus: Calculus, iterative_abstraction: bool, live_variables: bool) -> Self {
        Newton { calculus, iterative_abstraction, live_variables }
    }

    pub(super) fn name(self) -> &'static str {
        match (self.calculus, self.iterative_abstraction, self.live_variables) {
            (Calculus::Weakest, false, false) => "nwt-wp",
            (Calculus::Strongest, false, false) => "nwt-sp",
            (Calculus::Weakest, true, false) => "nwt-it-wp",
            (Calculus::Strongest, true, false) => "nwt-it-sp",
            (Calculus::Weakest, false, true) => "nwt-wp-lv",
            (Calculus::Strongest, false, true) => "nwt-sp-lv",
            (Calculus::Weakest, true, true) => "nwt-it-wp-lv",
            (Calculus::Strongest, true, true) => "nwt-it-sp-lv",
        }
    }

    /// The predicates of an infeasible path.
    pub(super) fn refute(self, around: &mut Surroundings<'_, '_>, path: &Path) -> Result<Vec<Term>, Stop> {
        let mut execution = Execution::new(around, path, self.iterative_abstraction);
        if self.iterative_abstraction {
            execution.abstract_by_core(around)?;
        }
        match self.calculus {
            Calculus::Weakest => execution.weakest(around.run, self.live_variables),
            Calculus::Strongest => execution.strongest(around.run, self.live_variables),
        }
    }
}

/// A statement of the path.
#[derive(Clone, Debug)]
enum Action {
    Assume(Term),
    /// All at once.
    Assign(Vec<(Term, Term)>),
    Havoc(Vec<Term>),
}

/// The path as statements.
struct Execution<'a> {
    store: &'a TermStore,
    /// Indexed by position: the label there as assumptions, if labels are used, and the statements of the edge after it.
    labels: Vec<Vec<Action>>,
    edges: Vec<Vec<Action>>,
    /// Indexed by position: the live variables of the location.
    variables: Vec<&'a [Term]>,
    /// Copies of variables, numbered.
    copies: FxHashMap<(Term, usize), Term>,
    next_copy: usize,
}

impl<'a> Execution<'a> {
    fn new(around: &Surroundings<'_, 'a>, path: &Path, with_labels: bool) -> Self {
        let (store, program) = (around.run.store, around.program);
        let assume = |formula: Term| store.conjuncts(formula).map(Action::Assume).collect::<Vec<_>>();
        let labels = path.labels.iter().map(|label| {
            let label = if with_labels { &label[..] } else { &[] };
            label.iter().flat_map(|&formula| assume(formula)).collect()
        });
        let edges = path.edges.iter().map(|&edge| {
            let statements = program.cfa.edge(edge).statements.iter();
            let actions = statements.flat_map(|statement| match statement {
                Statement::Assume(condition) => assume(*condition),
                Statement::Assign(assignments) => vec![Action::Assign(assignments.to_vec())],
                Statement::Havoc(variables) => vec![Action::Havoc(variables.to_vec())],
                // The program has none.
                Statement::Call(..) => Vec::new(),
            });
            actions.collect()
        });
        Execution {
            store,
            labels: labels.collect(),
            edges: edges.collect(),
            variables: path.locations.iter().map(|&location| program.variables(location)).collect(),
            copies: FxHashMap::default(),
            next_copy: 0,
        }
    }

    /// A variable that no formula has yet.
    fn copy(&mut self, variable: Term) -> Term {
        self.next_copy += 1;
        let fresh = || fresh_vector(self.store, &[variable], "v")[0];
        *self.copies.entry((variable, self.next_copy)).or_insert_with(fresh)
    }

    // ---- iterative abstraction ---------------------------------------------------------------------------

    /// Keeps only what an unsatisfiable core of the path needs.
    fn abstract_by_core(&mut self, around: &mut Surroundings<'_, '_>) -> Result<(), Stop> {
        let formulas = self.formulas();
        let mut solver = around.run.solver();
        around.queries += 1;
        if around.run.is_satisfiable(&mut solver, &formulas)? {
            return Err(Stop::Internal("an infeasible path has a model".to_owned()));
        }
        solver.minimize_core(&around.run.limits);
        let mut core = solver.core().into_iter().peekable();
        // The core lists formulas in their order, and only the first of equal ones.
        let mut needed = formulas.iter().map(|formula| core.next_if_eq(formula).is_some());
        for position in 0..self.labels.len() {
            let label = std::mem::take(&mut self.labels[position]);
            self.labels[position] = abstracted(label, &mut needed);
            if let Some(edge) = self.edges.get_mut(position) {
                *edge = abstracted(std::mem::take(edge), &mut needed);
            }
        }
        Ok(())
    }

    /// A formula for each assumption and assignment, in order, over numbered copies of the variables.
    fn formulas(&mut self) -> Vec<Term> {
        let mut formulas = Vec::new();
        let mut current = Substitution::new();
        for position in 0..self.labels.len() {
            let actions = [Some(&self.labels[position]), self.edges.get(position)];
            let actions: Vec<Action> = actions.into_iter().flatten().flatten().cloned().collect();
            for action in actions {
                match action {
                    Action::Assume(condition) => formulas.push(self.read(condition, &mut current)),
                    Action::Assign(assignments) => {
                        let mut values: Vec<(Term, Term)> = Vec::with_capacity(assignments.len());
                        for (variable, term) in assignments {
                            values.push((variable, self.read(term, &mut current)));
                        }
                        for (variable, value) in values {
                            let copy = self.copy(variable);
                            current.insert(variable, copy);
                            formulas.push(self.store.eq(copy, value));
                        }
                    }
                    Action::Havoc(variables) => {
                        for variable in variables {
                            let copy = self.copy(variable);
                            current.insert(variable, copy);
                        }
                    }
                }
            }
        }
        formulas
    }

    /// A term with the current copies of its variables.
    fn read(&mut self, term: Term, current: &mut Substitution) -> Term {
        for variable in self.store.free_vars(&[term]) {
            if current.get(variable).is_none() {
                let copy = self.copy(variable);
                current.insert(variable, copy);
            }
        }
        self.store.instantiate(term, current)
    }

    // ---- weakest preconditions and strongest postconditions ----------------------------------------------

    fn weakest(&mut self, run: &Run<'_>, live_variables: bool) -> Result<Vec<Term>, Stop> {
        let last = self.edges.len();
        let kept = if live_variables { self.constrained_before() } else { self.all_variables() };
        let mut formulas = vec![Term::TRUE; last + 1];
        formulas[last] = Term::FALSE;
        let mut leads_on = Term::TRUE;
        for position in (0..last).rev() {
            for action in self.edges[position].clone().iter().rev() {
                leads_on = self.before(action, leads_on);
            }
            if let Some(projected) = project(run, leads_on, &kept[position])? {
                leads_on = projected;
                formulas[position] = self.store.not(projected);
            }
            for action in &self.labels[position].clone() {
                leads_on = self.before(action, leads_on);
            }
        }
        Ok(formulas)
    }

    fn before(&mut self, action: &Action, formula: Term) -> Term {
        match action {
            Action::Assume(condition) => self.store.and2(*condition, formula),
            Action::Assign(assignments) => {
                self.store.instantiate(formula, &assignments.iter().copied().collect())
            }
            Action::Havoc(variables) => self.forget(variables, formula).1,
        }
    }

    fn strongest(&mut self, run: &Run<'_>, live_variables: bool) -> Result<Vec<Term>, Stop> {
        let last = self.edges.len();
        let kept = if live_variables { self.read_later() } else { self.all_variables() };
        let mut formulas = vec![Term::TRUE; last + 1];
        formulas[last] = Term::FALSE;
        let mut reached = Term::TRUE;
        for position in 0..last {
            if let Some(projected) = project(run, reached, &kept[position])? {
                reached = projected;
                formulas[position] = projected;
            }
            let actions = self.labels[position].iter().chain(&self.edges[position]);
            for action in &actions.cloned().collect::<Vec<Action>>() {
                reached = self.after(action, reached);
            }
        }
        Ok(formulas)
    }

    fn after(&mut self, action: &Action, formula: Term) -> Term {
        match action {
            Action::Assume(condition) => self.store.and2(*condition, formula),
            Action::Assign(assignments) => {
                let written: Vec<Term> = assignments.iter().map(|&(variable, _)| variable).collect();
                let (old, formula) = self.forget(&written, formula);
                let equations = assignments
                    .iter()
                    .map(|&(variable, term)| self.store.eq(variable, self.store.instantiate(term, &old)));
                self.store.and_of(equations.chain([formula]))
            }
            Action::Havoc(variables) => self.forget(variables, formula).1,
        }
    }

    /// The formula with copies in the place of variables, and the copies.
    fn forget(&mut self, variables: &[Term], formula: Term) -> (Substitution, Term) {
        let old: Substitution = variables.iter().map(|&variable| (variable, self.copy(variable))).collect();
        let formula = self.store.instantiate(formula, &old);
        (old, formula)
    }

    // ---- live variables ----------------------------------------------------------------------------------

    /// For each position, the variables of its location.
    fn all_variables(&self) -> Vec<Vec<Term>> {
        self.variables.iter().map(|variables| variables.to_vec()).collect()
    }

    /// For each position, the variables that are read later, before they are written.
    fn read_later(&self) -> Vec<Vec<Term>> {
        let mut live: FxHashSet<Term> = FxHashSet::default();
        let mut all = vec![Vec::new(); self.labels.len()];
        for position in (0..self.labels.len()).rev() {
            let actions = self.labels[position].iter().chain(self.edges.get(position).into_iter().flatten());
            for action in actions.collect::<Vec<_>>().into_iter().rev() {
                match action {
                    Action::Assume(condition) => live.extend(self.store.free_vars(&[*condition])),
                    Action::Assign(assignments) => {
                        let is_read = |&&(variable, _): &&(Term, Term)| live.contains(&variable);
                        let terms: Vec<Term> =
                            assignments.iter().filter(is_read).map(|&(_, term)| term).collect();
                        assignments.iter().for_each(|(variable, _)| {
                            live.remove(variable);
                        });
                        live.extend(self.store.free_vars(&terms));
                    }
                    Action::Havoc(variables) => variables.iter().for_each(|variable| {
                        live.remove(variable);
                    }),
                }
            }
            all[position] = self.of_location(position, &live);
        }
        all
    }

    /// For each position, the variables that earlier statements constrain.
    fn constrained_before(&self) -> Vec<Vec<Term>> {
        let mut constrained: FxHashSet<Term> = FxHashSet::default();
        let mut all = Vec::with_capacity(self.labels.len());
        for position in 0..self.labels.len() {
            // The label is assumed before the predicate is tracked, so it counts as earlier.
            for action in &self.labels[position] {
                self.constrain(action, &mut constrained);
            }
            all.push(self.of_location(position, &constrained));
            for action in self.edges.get(position).into_iter().flatten() {
                self.constrain(action, &mut constrained);
            }
        }
        all
    }

    fn constrain(&self, action: &Action, constrained: &mut FxHashSet<Term>) {
        match action {
            Action::Assume(condition) => constrained.extend(self.store.free_vars(&[*condition])),
            Action::Assign(assignments) => {
                // The old values of the written variables are gone; the others are related to the new values.
                let terms: Vec<Term> = assignments.iter().map(|&(_, term)| term).collect();
                constrained.extend(self.store.free_vars(&terms));
                constrained.extend(assignments.iter().map(|&(variable, _)| variable));
            }
            Action::Havoc(variables) => variables.iter().for_each(|variable| {
                constrained.remove(variable);
            }),
        }
    }

    fn of_location(&self, position: usize, chosen: &FxHashSet<Term>) -> Vec<Term> {
        self.variables[position].iter().copied().filter(|variable| chosen.contains(variable)).collect()
    }
}

/// The actions with only the needed assumptions and assignments. The iterator says for each whether it is needed.
fn abstracted(actions: Vec<Action>, needed: &mut impl Iterator<Item = bool>) -> Vec<Action> {
    let mut kept = Vec::with_capacity(actions.len());
    let mut is_needed = || needed.next().unwrap_or(true);
    for action in actions {
        match action {
            Action::Assume(condition) if is_needed() => kept.push(Action::Assume(condition)),
            Action::Assume(_) => {}
            Action::Assign(assignments) => {
                let (exact, open): (Vec<_>, Vec<_>) = assignments.into_iter().partition(|_| is_needed());
                kept.push(Action::Assign(exact));
                // Afterwards, as the terms have the values from before.
                kept.push(Action::Havoc(open.into_iter().map(|(variable, _)| variable).collect()));
            }
            Action::Havoc(variables) => kept.push(Action::Havoc(variables)),
        }
    }
    kept
}

/// The projection of a formula to variables; `None` if it takes too long.
fn project(run: &Run<'_>, formula: Term, kept: &[Term]) -> Result<Option<Term>, Stop> {
    let projected = eliminate_with_little_effort(run, formula, kept).ok();
    run.go_on()?;
    Ok(projected)
}
