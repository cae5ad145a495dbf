//! Unrolling with shortcuts: what transitive relation learning and accelerated bounded model checking have in common.
//!
//! Bounded model checking, but loops that a path runs through get *shortcuts*: transitive relations that contain any number of
//! rounds. Shortcuts become alternatives to the transition relation, and steps that a shortcut could replace are blocked. If no unblocked
//! path is longer than `b` steps, then `b` steps reach all states.
//!
//! ```text
//! R[0] <- T
//! b <- 0, on the stack Init(x_0)                                                   again after each new shortcut
//! loop
//!     the stack and Bad(x_b) have a model?     a path, to be judged by the engine
//!     push R[0](x_b, x_b+1) or .. or R[K](x_b, x_b+1), no shortcut twice in a row, and blocking clauses; b <- b + 1
//!     no model?                                safe by the states that b steps of R[0] or .. or R[K] reach     images.rs
//!     the implicants of the model's steps from s to s+l-1 form a loop, and the engine has a shortcut?          otherwise the next step
//!         k <- a shortcut that contains (x_s, x_s+l) in the model, or a new one
//!         block the projection of R[k] to l steps;  pop to b = s
//! ```
//!
//! An engine is a way to [`Learn`] shortcuts: `trl/` guesses relations that over-approximate loops, `abmc.rs` has exact ones only.
//!
//! **Invariants.**
//! - I1: each shortcut is transitive, as [`Learn`] requires.
//! - I2: a blocked pair of states is in a shortcut. A blocking clause concerns `l` successive steps; if `l = 1` it
//!   blocks transitions only, not shortcuts.
//! - I3: bad states are not reached in `b` steps of all relations known. After a new shortcut the search starts again.
//!
//! **Why a model is right.** Replace, on a path of any relations, the first blocked steps by one step of the shortcut that
//! contains their ends (I2), and join two successive steps of a shortcut (I1). The path gets shorter, or it keeps its
//! length and has fewer transitions. So in the end it is not blocked, it is not longer than before, and it ends in the same state. If no
//! unblocked path has `b + 1` steps, the states that at most `b` steps reach are therefore closed under transitions, and by I3 none
//! is bad. `images.rs` computes them and checks both again.

mod exact;
mod images;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::TransitionSystem;
use shofar_horn::graph::rename;
use shofar_logic::number::Rational;
use shofar_logic::{Assignment, Evaluator, Relation, Sort, Substitution, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::project::Projector;
use shofar_smt::solver::Solver;

use crate::Run;
use crate::eliminate::eliminate_by_equations;
use crate::exchange::states::{StateFact, StatePort};
use crate::run::solver_counters;
use crate::trace::Listed;
use crate::unroll::{Template, Unrolling, fresh_vector, value};

pub(crate) use exact::{Exact, expanded};

/// Finds shortcuts.
pub(crate) trait Learn {
    /// A formula over a state and its successor, with local variables, that is transitive and contains the ends of the loop (I1, I2). `None`
    /// if there is no shortcut for the loop.
    fn learn(&mut self, example: &Example<'_>) -> Result<Option<Term>, Stop>;

    /// The greatest number of steps of a loop.
    fn longest(&self) -> usize;
}

/// A loop in a path.
pub(crate) struct Example<'s> {
    pub(crate) steps: &'s [Traced],
    /// The composition of the steps.
    pub(crate) looped: &'s [Term],
    /// The values of the variables of a state before the loop, and of its successor after it.
    pub(crate) ends: &'s Assignment,
}

/// The result of the search.
pub(crate) enum Found {
    /// The steps and the states of a path from an initial to a bad state.
    Bad(Vec<Step>, Vec<Box<[Value]>>),
    /// A safe inductive invariant.
    Invariant(Term),
}

/// The counters.
#[derive(Clone, Copy, Default, Debug)]
struct Statistics {
    blocked: u64,
    reused: u64,
    loops: u64,
    cubes: u64,
}

/// A transition, or a step of a shortcut.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Step {
    Transition,
    Learnt(usize),
}

/// A conjunction of literals over two states that implies a transition or a shortcut.
type Implicant = Vec<Term>;

/// A step of the path in a model.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Traced {
    pub(crate) step: Step,
    pub(crate) implicant: Implicant,
}

/// A transitive relation that contains any number of rounds of a loop (I1).
pub(crate) struct Shortcut {
    /// Over a state, its successor, and other variables.
    literals: Vec<Term>,
    others: Vec<Term>,
    /// Their conjunction, with the other variables as local ones.
    pub(crate) template: Template,
    /// The steps of the loop.
    pub(crate) word: Vec<Traced>,
    /// Their composition.
    pub(crate) looped: Implicant,
}

impl Shortcut {
    fn new(store: &TermStore, system: &TransitionSystem, formula: Term, example: &Example<'_>) -> Self {
        let TransitionSystem { state, next, .. } = system;
        let kept: Vec<Term> = state.iter().chain(next).copied().collect();
        let formula = eliminate_by_equations(store, formula, &kept).unwrap_or(formula);
        let literals: Vec<Term> = store.conjuncts(formula).collect();
        let mut others = store.free_vars(&literals);
        others.retain(|variable| !kept.contains(variable));
        Shortcut {
            template: Template::new(store, formula, &[state, next]),
            literals,
            others,
            word: example.steps.to_vec(),
            looped: example.looped.to_vec(),
        }
    }

    /// The projection of the relation to the two states, around a pair of them; `None` if the relation does not contain it.
    fn around(
        &self,
        run: &Run<'_>,
        projector: &mut Projector<'_>,
        ends: &Assignment,
    ) -> Result<Option<Term>, Stop> {
        let store = run.store;
        let mut evaluator = Evaluator::new(store, ends);
        let is_true = |literal: &Term| evaluator.eval(*literal) == Ok(Value::Bool(true));
        if self.others.is_empty() {
            return Ok(self.literals.iter().all(is_true).then(|| store.and(&self.literals)));
        }
        let formula = store.and(&self.literals);
        let mut values = Substitution::new();
        for variable in store.free_vars(&[formula]) {
            if let Some(value) = ends.get(variable) {
                values.insert(variable, store.value_to_term(value));
            }
        }
        let counted = store.instantiate(formula, &values);
        let mut solver = run.solver();
        run.assert(&mut solver, &[counted])?;
        if !run.is_satisfiable(&mut solver, &[])? {
            return Ok(None);
        }
        let found = solver.model(&[counted]);
        let mut model = ends.clone();
        for &other in &self.others {
            model.set(other, value(store, &found, other));
        }
        let projection = projector.project_cube(&self.literals, &model, &self.others);
        Ok(Some(projection.map_err(|error| error.stop(store))?.formula(store)))
    }
}

/// The formula about a state and its successor, for two successive steps.
pub(crate) fn successive(store: &TermStore, system: &TransitionSystem, formula: Term) -> [Term; 2] {
    let TransitionSystem { state, next, .. } = system;
    let middle = fresh_vector(store, state, "middle");
    [rename(store, formula, next, &middle), rename(store, formula, state, &middle)]
}

/// States that may not be `length` steps apart (I2).
#[derive(Clone, Copy)]
struct Blocked {
    length: usize,
    /// Over two states.
    formula: Term,
}

/// A step of the stack.
struct Pushed {
    /// By relations, transitions first: whether the step is one of the relation, and the copy of the relation.
    choices: Vec<(Term, Term)>,
}

/// The state of a run.
pub(crate) struct Search<'a> {
    run: &'a Run<'a>,
    store: &'a TermStore,
    system: &'a TransitionSystem,
    port: Option<StatePort<'a>>,
    most_shortcuts: usize,

    // Known.
    transition: Template,
    shortcuts: Vec<Shortcut>,
    blocked: Vec<Blocked>,
    /// Steps that followed on each other in a model.
    edges: FxHashSet<(Traced, Traced)>,
    /// Whether a loop can be followed by itself.
    composable: FxHashMap<Implicant, bool>,
    /// Steps for which there is no shortcut.
    refused: FxHashSet<Vec<Traced>>,
    /// The number of depths without bad states, by all relations (I3).
    safe_depths: usize,

    // The stack.
    solver: Solver<'a>,
    unrolling: Unrolling<'a>,
    stack: Vec<Pushed>,

    // Tools.
    projector: Projector<'a>,
    statistics: Statistics,
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        run: &'a Run<'a>,
        system: &'a TransitionSystem,
        port: Option<StatePort<'a>>,
        most_shortcuts: usize,
    ) -> Self {
        let store = run.store;
        Search {
            run,
            store,
            system,
            port,
            most_shortcuts,
            transition: Template::new(store, system.transition, &[&system.state, &system.next]),
            shortcuts: Vec::new(),
            blocked: Vec::new(),
            edges: FxHashSet::default(),
            composable: FxHashMap::default(),
            refused: FxHashSet::default(),
            safe_depths: 0,
            solver: run.solver(),
            unrolling: Unrolling::new(store, system),
            stack: Vec::new(),
            projector: Projector::new(store),
            statistics: Statistics::default(),
        }
    }

    /// The shortcuts that are known.
    pub(crate) fn shortcuts(&self) -> &[Shortcut] {
        &self.shortcuts
    }

    /// Searches until a path leads to a bad state, or no unblocked path is left.
    pub(crate) fn decide(&mut self, learner: &mut impl Learn) -> Result<Found, Stop> {
        self.restart()?;
        loop {
            if let Some(steps) = self.bad_trace()? {
                let states = self.unrolling.values(&self.solver, steps.len());
                return Ok(Found::Bad(steps, states));
            }
            self.push()?;
            if !self.run.is_satisfiable(&mut self.solver, &[])? {
                return self.invariant();
            }
            let (trace, model) = self.trace()?;
            match self.shorten(learner, &trace, &model)? {
                Shortened::New => self.restart()?,
                Shortened::Known(first) => self.pop_to(first),
                Shortened::Not => {}
            }
            self.run.tell_progress(self.stack.len() as u64, self.progress());
        }
    }

    // ---- the stack -------------------------------------------------------------------------------------------

    /// Empties the stack, so that all steps may use all relations.
    fn restart(&mut self) -> Result<(), Stop> {
        self.solver = self.run.solver();
        self.stack.clear();
        self.safe_depths = 0;
        let init = self.unrolling.init(0);
        self.run.assert(&mut self.solver, &[init])
    }

    /// Adds a step of any relation, and the blocking clauses that end with it.
    fn push(&mut self) -> Result<(), Stop> {
        let store = self.store;
        let time = self.stack.len();
        self.unrolling.state(time + 1);
        let [from, to] = [time, time + 1].map(|time| self.unrolling.state(time).to_vec());
        let TransitionSystem { state, next, .. } = self.system;
        let templates = [&self.transition].into_iter().chain(self.shortcuts.iter().map(|r| &r.template));
        let copies = templates.map(|template| template.copy(store, &[(state, &from), (next, &to)]));
        let choices: Vec<(Term, Term)> =
            copies.map(|copy| (store.var(store.fresh_symbol("step"), Sort::BOOL), copy)).collect();

        let mut formulas = vec![store.or_of(choices.iter().map(|&(choice, _)| choice))];
        formulas.extend(choices.iter().map(|&(choice, copy)| store.implies(choice, copy)));
        if let Some(before) = self.stack.last() {
            let twice = before.choices.iter().zip(&choices).skip(1);
            formulas.extend(twice.map(|(before, now)| store.not(store.and2(before.0, now.0))));
        }
        for number in 0..self.blocked.len() {
            let Blocked { length, formula } = self.blocked[number];
            let Some(first) = (time + 1).checked_sub(length) else { continue };
            let concerned = if length == 1 { choices[0].0 } else { Term::TRUE };
            let states = store.instantiate(formula, &self.at(first, time + 1));
            formulas.push(store.not(store.and2(concerned, states)));
        }
        self.solver.push();
        self.stack.push(Pushed { choices });
        self.run.assert(&mut self.solver, &formulas)
    }

    /// The variables of a state and of its successor, each with its copy for one of two states of the stack.
    fn steps(&mut self, from: usize, to: usize) -> impl Iterator<Item = (Term, Term)> + use<'a> {
        let [from, to] = [from, to].map(|time| self.unrolling.state(time).to_vec());
        let TransitionSystem { state, next, .. } = self.system;
        state.iter().chain(next).copied().zip(from.into_iter().chain(to))
    }

    /// The substitution that turns a formula about a state and its successor into one about two states of the stack.
    fn at(&mut self, from: usize, to: usize) -> Substitution {
        self.steps(from, to).collect()
    }

    fn pop_to(&mut self, depth: usize) {
        while self.stack.len() > depth {
            self.stack.pop();
            self.solver.pop();
        }
    }

    /// The steps of a path to a bad state, if the stack has one. Depths that are known to be safe are not asked again.
    fn bad_trace(&mut self) -> Result<Option<Vec<Step>>, Stop> {
        let depth = self.stack.len();
        if depth < self.safe_depths {
            return Ok(None);
        }
        let bad = self.unrolling.bad(depth);
        if self.run.is_satisfiable(&mut self.solver, &[bad])? {
            let model = self.model();
            return Ok(Some((0..depth).map(|time| self.step_at(time, &model)).collect()));
        }
        self.safe_depths = depth + 1;
        if let Some(port) = &self.port {
            port.send(StateFact::Depth(depth));
        }
        Ok(None)
    }

    // ---- the path in a model ---------------------------------------------------------------------------------

    /// The solver's model, with values for the states of the stack.
    fn model(&mut self) -> Assignment {
        let copies = self.stack.iter().flat_map(|pushed| pushed.choices.iter().flat_map(|c| [c.0, c.1]));
        let mut model = self.solver.model(&copies.collect::<Vec<Term>>());
        let values = self.unrolling.values(&self.solver, self.stack.len());
        for (time, values) in values.into_iter().enumerate() {
            for (&variable, value) in self.unrolling.state(time).iter().zip(values) {
                model.set(variable, value);
            }
        }
        model
    }

    fn step_at(&self, time: usize, model: &Assignment) -> Step {
        let is_chosen = |&(choice, _): &(Term, Term)| value(self.store, model, choice) == Value::Bool(true);
        match self.stack[time].choices.iter().position(is_chosen) {
            Some(0) | None => Step::Transition,
            Some(learnt) => Step::Learnt(learnt - 1),
        }
    }

    /// The steps of the path in the solver's model, with their implicants.
    fn trace(&mut self) -> Result<(Vec<Traced>, Assignment), Stop> {
        let model = self.model();
        let mut trace = Vec::new();
        for time in 0..self.stack.len() {
            let step = self.step_at(time, &model);
            let chosen = match step {
                Step::Transition => 0,
                Step::Learnt(relation) => relation + 1,
            };
            let copy = self.stack[time].choices[chosen].1;
            let implicant = self.between(&[copy], time, time + 1, &model)?;
            trace.push(Traced { step, implicant });
        }
        for pair in trace.windows(2) {
            self.edges.insert((pair[0].clone(), pair[1].clone()));
        }
        Ok((trace, model))
    }

    /// The projection of formulas to two times, over the variables of a state and its successor. Disequalities are decided by
    /// the model.
    fn between(
        &mut self,
        formulas: &[Term],
        from: usize,
        to: usize,
        model: &Assignment,
    ) -> Result<Implicant, Stop> {
        let store = self.store;
        self.run.go_on()?;
        let names: FxHashMap<Term, Term> = self.steps(from, to).map(|(named, at)| (at, named)).collect();
        let mut gone = store.free_vars(formulas);
        gone.retain(|variable| !names.contains_key(variable));
        let projection = self.projector.project_cube(formulas, model, &gone);
        let literals = projection.map_err(|error| error.stop(store))?.literals;
        let decided = literals.into_iter().map(|literal| {
            let literal = without_disequality(store, literal, model);
            store.normalize(literal)
        });
        let decided: Vec<Term> = decided.collect();
        let mut literals: Implicant = store.instantiate_all(&decided, &names.into_iter().collect());
        literals.sort_unstable();
        literals.dedup();
        Ok(literals)
    }

    // ---- loops -----------------------------------------------------------------------------------------------

    /// Blocks the shortest steps of the path that form a loop with a shortcut.
    fn shorten(
        &mut self,
        learner: &mut impl Learn,
        trace: &[Traced],
        model: &Assignment,
    ) -> Result<Shortened, Stop> {
        for length in 1..=trace.len().min(learner.longest()) {
            for first in 0..=trace.len() - length {
                let steps = &trace[first..first + length];
                // A word repeated is no other loop than the word.
                if !self.may_repeat(steps) || self.refused.contains(root(steps)) {
                    continue;
                }
                let looped = self.composition(steps, first, model)?;
                if !self.is_composable(&looped)? {
                    continue;
                }
                let ends = self.ends(first, first + length, model);
                match self.block(learner, &Example { steps, looped: &looped, ends: &ends })? {
                    Some(is_new) => {
                        self.statistics.loops += 1;
                        return Ok(if is_new { Shortened::New } else { Shortened::Known(first) });
                    }
                    None => drop(self.refused.insert(steps.to_vec())),
                }
            }
        }
        Ok(Shortened::Not)
    }

    /// Whether the first of the steps may follow on the last one: one transition, or steps that did so in a model.
    fn may_repeat(&self, steps: &[Traced]) -> bool {
        match steps {
            [alone] => alone.step == Step::Transition,
            [first, .., last] => first == last || self.edges.contains(&(last.clone(), first.clone())),
            [] => false,
        }
    }

    /// The implicants of successive steps, with the states in between projected.
    fn composition(&mut self, steps: &[Traced], first: usize, model: &Assignment) -> Result<Implicant, Stop> {
        if let [alone] = steps {
            return Ok(alone.implicant.clone());
        }
        let mut literals = Vec::new();
        for (time, traced) in (first..).zip(steps) {
            let step = self.at(time, time + 1);
            literals.extend(self.store.instantiate_all(&traced.implicant, &step));
        }
        self.between(&literals, first, first + steps.len(), model)
    }

    fn is_composable(&mut self, looped: &Implicant) -> Result<bool, Stop> {
        if let Some(&known) = self.composable.get(looped) {
            return Ok(known);
        }
        let [first, second] = successive(self.store, self.system, self.store.and(looped));
        let mut solver = self.run.solver();
        let is_composable = self.run.is_satisfiable(&mut solver, &[first, second])?;
        self.composable.insert(looped.clone(), is_composable);
        Ok(is_composable)
    }

    /// The values of a state and its successor at two times.
    fn ends(&mut self, from: usize, to: usize, model: &Assignment) -> Assignment {
        let steps: Vec<(Term, Term)> = self.steps(from, to).collect();
        steps.into_iter().map(|(variable, at)| (variable, value(self.store, model, at))).collect()
    }

    /// Blocks a loop by a shortcut around its ends. Returns whether the shortcut is new; `None` if there is no shortcut.
    fn block(&mut self, learner: &mut impl Learn, example: &Example<'_>) -> Result<Option<bool>, Stop> {
        let (run, store) = (self.run, self.store);
        let known = self.shortcuts.len();
        let mut found = None;
        for shortcut in &self.shortcuts {
            found = shortcut.around(run, &mut self.projector, example.ends)?;
            if found.is_some() {
                self.statistics.reused += 1;
                break;
            }
        }
        let formula = match found {
            Some(projected) => projected,
            None => {
                if known == self.most_shortcuts {
                    return Err(Stop::Exhausted("the loops need more relations than the limit permits"));
                }
                let Some(formula) = learner.learn(example)? else { return Ok(None) };
                let shortcut = Shortcut::new(store, self.system, formula, example);
                tracing::debug!(
                    length = example.steps.len(),
                    relation = %Listed(store, &shortcut.literals),
                    "learnt a relation"
                );
                let projected = shortcut.around(run, &mut self.projector, example.ends)?;
                self.shortcuts.push(shortcut);
                let missed = || Stop::Internal("a relation does not contain its own loop".to_owned());
                projected.ok_or_else(missed)?
            }
        };
        self.statistics.blocked += 1;
        self.blocked.push(Blocked { length: example.steps.len(), formula });
        Ok(Some(self.shortcuts.len() > known))
    }

    // ---- answers ---------------------------------------------------------------------------------------------

    fn invariant(&mut self) -> Result<Found, Stop> {
        let steps = self.stack.len() - 1;
        let invariant =
            images::invariant(self.run, self.system, &self.shortcuts, steps, &mut self.statistics.cubes)?;
        Ok(Found::Invariant(invariant))
    }

    fn progress(&self) -> Vec<(&'static str, u64)> {
        let Statistics { blocked, reused, loops, cubes } = self.statistics;
        vec![
            ("relations", self.shortcuts.len() as u64),
            ("loops", loops),
            ("loops.blocked", blocked),
            ("relations.reused", reused),
            ("cubes", cubes),
        ]
    }

    /// The counters of the run.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = vec![("depth", self.stack.len() as u64)];
        counters.extend(self.progress());
        counters.extend(solver_counters(&self.solver));
        counters
    }
}

/// Whether a loop of the path was blocked.
enum Shortened {
    /// By a new shortcut.
    New,
    /// By a known one. The loop starts at this time.
    Known(usize),
    Not,
}

/// The shortest word that gives these steps if it is repeated.
fn root(steps: &[Traced]) -> &[Traced] {
    let length = steps.len();
    let is_root =
        |&part: &usize| length.is_multiple_of(part) && (part..length).all(|at| steps[at] == steps[at - part]);
    &steps[..(1..length).find(is_root).unwrap_or(length)]
}

/// The literal, or for a disequality of numbers the stronger literal that is true in the model: the difference has a sign, a
/// remainder its value.
pub(crate) fn without_disequality(store: &TermStore, literal: Term, model: &Assignment) -> Term {
    let Some(bound) = store.bound(literal).filter(|bound| bound.relation == Relation::Different) else {
        return literal;
    };
    let number = store.number(bound.number, Sort::INT);
    match store.eval(bound.sum, model) {
        Ok(Value::Int(value)) if store.remainder_of(bound.sum).is_some() => {
            store.eq(bound.sum, store.int(value))
        }
        Ok(Value::Int(value)) => match Rational::from(value) < *bound.number {
            true => store.lt(bound.sum, number),
            false => store.gt(bound.sum, number),
        },
        _ => literal,
    }
}
