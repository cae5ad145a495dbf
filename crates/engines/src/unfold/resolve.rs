//! Resolution of one atom with one clause, and of what then has no choice.
//!
//! Resolving an atom with a clause gives a constraint and the *goals* of the body. Equations of the constraint are applied
//! to the goals. A goal whose arguments fit a single clause is resolved at once, and its equations are applied to the
//! others. So functions with known arguments are evaluated without the solver:
//!
//! ```text
//! app(cons(1, nil), y, r), p(r)
//!     ->  app(nil, y, s), p(cons(1, s))        with r = cons(1, s)
//!     ->  p(cons(1, y))                        with s = y
//! ```
//!
//! If no clause fits a goal, the resolution is *dead*: the atom has no derivation by this clause.
//!
//! - R1: the atom has a derivation by the clause if and only if the constraint is satisfiable together with derivations of the
//!   open goals. A fresh variable that an equation defines is gone.
//! - R2: if a goal is resolved, the constraints of its other clauses contradict the goal's arguments, whatever their bodies are. The
//!   model relies on it: there the goal has all its clauses.

use rustc_hash::FxHashSet;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::transform::solve_equations;
use shofar_logic::{Op, Substitution, Substitutor, Term, TermStore};

use crate::rule::{Instance, Rule};

/// An atom of a resolution.
pub(super) struct Goal {
    pub(super) node: NodeId,
    pub(super) arguments: Box<[Term]>,
    pub(super) state: GoalState,
    /// More than one clause fits the arguments.
    has_choice: bool,
}

pub(super) enum GoalState {
    Open,
    /// It is resolved with a clause; these are the goals of the body.
    Resolved(EdgeId, Vec<usize>),
    /// No clause fits.
    Refuted,
}

/// An atom resolved with a clause.
pub(super) struct Resolution {
    pub(super) edge: EdgeId,
    pub(super) constraint: Term,
    /// A goal comes before those of its body.
    pub(super) goals: Vec<Goal>,
    /// The goals of the clause's body.
    pub(super) body: Vec<usize>,
    pub(super) is_dead: bool,
    /// The number of goals that are resolved.
    pub(super) resolved: usize,
}

/// Resolves an atom with a rule, and at most `steps` goals. The rules are indexed by node.
pub(super) fn resolve(
    store: &TermStore,
    rules: &[Vec<Rule>],
    rule: &Rule,
    arguments: &[Term],
    steps: usize,
) -> Resolution {
    let mut own: FxHashSet<Term> = FxHashSet::default();
    let mut resolution = Resolution {
        edge: rule.edge,
        constraint: Term::TRUE,
        goals: Vec::new(),
        body: Vec::new(),
        is_dead: false,
        resolved: 0,
    };
    resolution.body = resolution.add(store, rule.instance(store, arguments), &mut own);
    resolution.use_equations(store, &own);
    while !resolution.is_dead && resolution.resolved < steps {
        let Some((goal, choice)) = resolution.without_choice(store, rules) else { break };
        match choice {
            Some(rule) => {
                let instance = rule.instance(store, &resolution.goals[goal].arguments);
                let body = resolution.add(store, instance, &mut own);
                resolution.goals[goal].state = GoalState::Resolved(rule.edge, body);
                resolution.resolved += 1;
                resolution.use_equations(store, &own);
            }
            None => {
                resolution.goals[goal].state = GoalState::Refuted;
                resolution.is_dead = true;
            }
        }
    }
    resolution
}

impl Resolution {
    /// Adds the constraint and the body of a clause; returns the goals of the body.
    fn add(&mut self, store: &TermStore, instance: Instance, own: &mut FxHashSet<Term>) -> Vec<usize> {
        own.extend(instance.fresh.iter().copied());
        self.constraint = store.and2(self.constraint, instance.constraint);
        let first = self.goals.len();
        let goal = |(node, arguments)| Goal { node, arguments, state: GoalState::Open, has_choice: false };
        self.goals.extend(instance.body.into_iter().map(goal));
        (first..self.goals.len()).collect()
    }

    /// Solves the equations of the constraint and applies them to the goals. Definitions of variables that are not the
    /// resolution's own stay in the constraint.
    fn use_equations(&mut self, store: &TermStore, own: &FxHashSet<Term>) {
        let solved =
            solve_equations(store, self.constraint, |variable| Some(u32::from(!own.contains(&variable))));
        if solved.definitions.is_empty() {
            self.is_dead = self.constraint == Term::FALSE;
            return;
        }
        let others = solved.definitions.iter().filter(|(variable, _)| !own.contains(variable));
        let equations = others.map(|&(variable, definition)| store.eq(variable, definition));
        self.constraint = store.and_of(solved.rest.into_iter().chain(equations));
        self.is_dead = self.constraint == Term::FALSE;
        let definitions: Substitution = solved.definitions.into_iter().collect();
        let mut substitutor = Substitutor::normal(store, &definitions);
        for goal in &mut self.goals {
            for argument in &mut goal.arguments {
                let replaced = substitutor.apply(*argument);
                goal.has_choice &= replaced == *argument;
                *argument = replaced;
            }
        }
    }

    /// An open goal that at most one clause fits, with that clause.
    fn without_choice<'r>(
        &mut self,
        store: &TermStore,
        rules: &'r [Vec<Rule>],
    ) -> Option<(usize, Option<&'r Rule>)> {
        for (index, goal) in self.goals.iter_mut().enumerate() {
            if goal.has_choice || !matches!(goal.state, GoalState::Open) {
                continue;
            }
            let rules = &rules[goal.node.index()];
            let is_variable = |&argument: &Term| matches!(store.op(argument), Op::Var(_));
            if rules.len() > 1 && goal.arguments.iter().all(is_variable) {
                goal.has_choice = true;
                continue;
            }
            let mut fitting = rules.iter().filter(|rule| rule.fits(store, &goal.arguments));
            let first = fitting.next();
            if fitting.next().is_none() {
                return Some((index, first));
            }
            goal.has_choice = true;
        }
        None
    }
}
