//! TRL: transitive relation learning.
//!
//! **What it decides.** Transition systems over integers and Booleans, and so all linear systems over them. It is made for
//! models; it finds counterexamples only if they repeat the loops that it has learnt at most 64 times.
//!
//! **The idea.** Bounded model checking, but each loop that a path runs through is replaced by a *transitive* relation that
//! over-approximates any number of rounds. Learnt relations become alternatives to the transition relation, and steps that
//! a learnt relation could replace are blocked. If no unblocked path is longer than `b` steps, then `b` steps reach all states.
//! There are no interpolants, so it succeeds where interpolants diverge: parity, several counters, phases.
//!
//! ```text
//! R[0] <- T
//! b <- 0, on the stack Init(x_0)                                                   again after each new relation
//! loop
//!     the stack and Bad(x_b) have a model?     path or nothing                     concrete.rs
//!     push R[0](x_b, x_b+1) or .. or R[K](x_b, x_b+1), no learnt relation twice in a row, and blocking clauses; b <- b + 1
//!     no model?                                safe by the states that b steps of R[0] or .. or R[K] reach     images.rs
//!     the implicants of the model's steps from s to s+l-1 form a loop?             otherwise the next step
//!         k <- a relation that contains (x_s, x_s+l) in the model, or a new one    recurrence.rs
//!         block the projection of R[k] to l steps;  pop to b = s
//! ```
//!
//! **Invariants.**
//! - I1: each learnt relation is transitive. This is checked (`recurrence.rs`), whatever the relation was guessed from.
//! - I2: a blocked pair of states is in a learnt relation. A blocking clause concerns `l` successive steps; if `l = 1` it
//!   blocks transitions only, not learnt steps.
//! - I3: bad states are not reached in `b` steps of all relations known. After a new relation the search starts again.
//!
//! **Why the answer is right.** Replace, on a path of any relations, the first blocked steps by one step of the relation that
//! contains their ends (I2), and join two successive steps of a learnt relation (I1). The path gets shorter, or it keeps its
//! length and has fewer transitions. So in the end it is not blocked, it is not longer than before, and it ends in the same state. If no
//! unblocked path has `b + 1` steps, the states that at most `b` steps reach are therefore closed under transitions, and by I3 none
//! is bad. `images.rs` computes them and checks both again. A counterexample consists of transitions only.
//!
//! **Where it comes from.** F. Frohn, J. Giesl, "Infinite state model checking by learning transitive relations" (TACAS 2025),
//! in LoAT and Golem.
//!
//! **Where we differ.** There, transitivity follows from the way in which relations are made; here a query checks it, so that
//! guesses are free. There, earlier steps keep the relations that were known when they were pushed; here the search starts again, which
//! makes the model a union of images. Blocking clauses hold for all positions, by the argument above.

mod concrete;
mod images;
mod recurrence;

use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::number::Rational;
use shofar_logic::{Assignment, Relation, Sort, Substitution, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::project::Projector;
use shofar_smt::solver::Solver;

use crate::exchange::states::{StateFact, StatePort};
use crate::exchange::strengthened;
use crate::forms::TransitionForm;
use crate::option::options;
use crate::run::solver_counters;
use crate::trace::Listed;
use crate::unroll::{Template, Unrolling, value};
use crate::{Engine, EngineOption, Evidence, Run, fragment};
use concrete::Concrete;
use recurrence::{Recurrence, Transitive};

/// The greatest number of rounds of a learnt loop in a counterexample.
const MOST_ROUNDS: usize = 64;

options! {
    relations: usize = 64, "relations": "the greatest number of learnt relations" in 1..=1_000_000;
}

/// The TRL engine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Trl {
    /// The options of the engine.
    pub options: Options,
}

impl Engine for Trl {
    fn name(&self) -> &'static str {
        "trl"
    }

    fn description(&self) -> &'static str {
        "transitive relation learning, for models; linear systems over integers"
    }

    fn options(&mut self) -> Vec<EngineOption<'_>> {
        self.options.list()
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_linear(graph)?;
        fragment::is_discrete(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let looped = TransitionForm::of(run, &strengthened(run, graph))?;
        let mut search = Search::new(run, &looped.system, self.options, StatePort::of(run, &looped));
        let found = search.decide();
        run.tell_statistics(search.counters(), start);
        match found? {
            Found::Path(states) => looped.unsafe_by(run, states),
            Found::Invariant(invariant) => looped.safe(run, invariant),
        }
    }
}

/// The result of the search.
enum Found {
    /// States of a path from an initial to a bad one.
    Path(Vec<Box<[Value]>>),
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

/// A transition, or a step of a learnt relation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Step {
    Transition,
    Learnt(usize),
}

/// A conjunction of literals over two states that implies a transition or a learnt relation.
type Implicant = Vec<Term>;

/// A step of the path in a model.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Traced {
    step: Step,
    implicant: Implicant,
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
struct Search<'a> {
    run: &'a Run<'a>,
    store: &'a TermStore,
    system: &'a TransitionSystem,
    options: Options,
    port: Option<StatePort<'a>>,

    // Known.
    transition: Template,
    relations: Vec<Transitive>,
    blocked: Vec<Blocked>,
    /// Steps that followed on each other in a model.
    edges: FxHashSet<(Traced, Traced)>,
    /// Whether a loop can be followed by itself.
    composable: FxHashMap<Implicant, bool>,
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
    fn new(
        run: &'a Run<'a>,
        system: &'a TransitionSystem,
        options: Options,
        port: Option<StatePort<'a>>,
    ) -> Self {
        let store = run.store;
        Search {
            run,
            store,
            system,
            options,
            port,
            transition: Template::new(store, system.transition, &[&system.state, &system.next]),
            relations: Vec::new(),
            blocked: Vec::new(),
            edges: FxHashSet::default(),
            composable: FxHashMap::default(),
            safe_depths: 0,
            solver: run.solver(),
            unrolling: Unrolling::new(store, system),
            stack: Vec::new(),
            projector: Projector::new(store),
            statistics: Statistics::default(),
        }
    }

    fn decide(&mut self) -> Result<Found, Stop> {
        self.restart()?;
        loop {
            if let Some(trace) = self.bad_trace()? {
                return self.concrete_path(&trace);
            }
            self.push()?;
            if !self.run.is_satisfiable(&mut self.solver, &[])? {
                return self.invariant();
            }
            let (trace, model) = self.trace()?;
            if let Some((first, length, looped)) = self.find_loop(&trace, &model)? {
                if self.block(&trace[first..first + length], first, &looped, &model)? {
                    self.restart()?;
                } else {
                    self.pop_to(first);
                }
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
        let templates = [&self.transition].into_iter().chain(self.relations.iter().map(|r| &r.template));
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

    /// The shortest steps of the path that form a loop: the first of them, their number, and their composition.
    fn find_loop(
        &mut self,
        trace: &[Traced],
        model: &Assignment,
    ) -> Result<Option<(usize, usize, Implicant)>, Stop> {
        for length in 1..=trace.len() {
            for first in 0..=trace.len() - length {
                let steps = &trace[first..first + length];
                if !self.may_repeat(steps) {
                    continue;
                }
                let looped = self.composition(steps, first, model)?;
                if self.is_composable(&looped)? {
                    self.statistics.loops += 1;
                    return Ok(Some((first, length, looped)));
                }
            }
        }
        Ok(None)
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
        let formula = self.store.and(looped);
        let [first, second] = recurrence::successive(self.store, self.system, formula);
        let mut solver = self.run.solver();
        let is_composable = self.run.is_satisfiable(&mut solver, &[first, second])?;
        self.composable.insert(looped.clone(), is_composable);
        Ok(is_composable)
    }

    // ---- learning --------------------------------------------------------------------------------------------

    /// Blocks the loop around the model by a learnt relation. Returns whether the relation is new.
    fn block(
        &mut self,
        steps: &[Traced],
        first: usize,
        looped: &Implicant,
        model: &Assignment,
    ) -> Result<bool, Stop> {
        let TransitionSystem { state, next, .. } = self.system;
        let mut ends = Assignment::new();
        for (variables, time) in [(state, first), (next, first + steps.len())] {
            for (&variable, &at) in variables.iter().zip(self.unrolling.state(time)) {
                ends.set(variable, value(self.store, model, at));
            }
        }
        let known = self.relations.len();
        let mut found = None;
        for relation in &self.relations {
            if let Some(projected) = relation.around(self.run, &mut self.projector, &ends)? {
                found = Some(projected);
                break;
            }
        }
        let formula = match found {
            Some(projected) => {
                self.statistics.reused += 1;
                projected
            }
            None => {
                if known == self.options.relations {
                    return Err(Stop::Exhausted("the loops need more relations than the limit permits"));
                }
                let recurrence = Recurrence { run: self.run, system: self.system, looped, ends: &ends };
                let word = steps.iter().map(|traced| traced.step).collect();
                let relation = recurrence.transitive(&mut self.projector, word)?;
                tracing::debug!(
                    length = steps.len(),
                    relation = %Listed(self.store, &relation.literals),
                    "learnt a relation"
                );
                let projected = relation.around(self.run, &mut self.projector, &ends)?;
                self.relations.push(relation);
                let missed = || Stop::Internal("a relation does not contain its own loop".to_owned());
                projected.ok_or_else(missed)?
            }
        };
        self.statistics.blocked += 1;
        self.blocked.push(Blocked { length: steps.len(), formula });
        Ok(self.relations.len() > known)
    }

    // ---- answers ---------------------------------------------------------------------------------------------

    /// A path of transitions, if one has the same steps with rounds of loops in the place of learnt relations.
    fn concrete_path(&mut self, trace: &[Step]) -> Result<Found, Stop> {
        let is_concrete = trace.iter().all(|&step| step == Step::Transition);
        if is_concrete {
            return Ok(Found::Path(self.unrolling.values(&self.solver, trace.len())));
        }
        let mut rounds = 1;
        while rounds <= MOST_ROUNDS {
            self.run.go_on()?;
            match Concrete::path(self.run, self.system, &self.relations, trace, rounds)? {
                Some(states) => return Ok(Found::Path(states)),
                None => rounds *= 2,
            }
        }
        Err(Stop::Exhausted("learnt relations reach bad states, and few rounds of their loops do not"))
    }

    fn invariant(&mut self) -> Result<Found, Stop> {
        let steps = self.stack.len() - 1;
        let invariant =
            images::invariant(self.run, self.system, &self.relations, steps, &mut self.statistics.cubes)?;
        Ok(Found::Invariant(invariant))
    }

    fn progress(&self) -> Vec<(&'static str, u64)> {
        let Statistics { blocked, reused, loops, cubes } = self.statistics;
        vec![
            ("relations", self.relations.len() as u64),
            ("loops", loops),
            ("loops.blocked", blocked),
            ("relations.reused", reused),
            ("cubes", cubes),
        ]
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = vec![("depth", self.stack.len() as u64)];
        counters.extend(self.progress());
        counters.extend(solver_counters(&self.solver));
        counters
    }
}

/// The literal, or for a disequality of numbers the stronger literal that is true in the model: the difference has a sign, a
/// remainder its value.
fn without_disequality(store: &TermStore, literal: Term, model: &Assignment) -> Term {
    let Some(bound) = store.bound(literal).filter(|bound| bound.relation == Relation::Different) else {
        return literal;
    };
    let number = store.number(bound.number, Sort::INT);
    match store.eval(bound.sum, model) {
        Ok(Value::Int(value)) if recurrence::remainder(store, bound.sum).is_some() => {
            store.eq(bound.sum, store.int(value))
        }
        Ok(Value::Int(value)) => match Rational::from(value) < *bound.number {
            true => store.lt(bound.sum, number),
            false => store.gt(bound.sum, number),
        },
        _ => literal,
    }
}
