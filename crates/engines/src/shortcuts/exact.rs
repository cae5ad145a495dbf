//! Exact shortcuts, and paths with them as paths of transitions.
//!
//! An exact shortcut is the acceleration of a loop: it connects exactly the states that some rounds of the loop connect. So a path
//! with exact shortcuts stands for one of transitions:
//!
//! ```text
//! expand(step from x to y):
//!     transition: y
//!     shortcut: for each state z after a round                                     by the closed form
//!         if the loop is one transition: z
//!         otherwise states between the last z and this one, by a query;  expand the steps of the loop between them
//! ```
//!
//! Loops may contain shortcuts, so this nests as loops do. A counterexample may have millions of steps, and no more than ten million.

use rustc_hash::FxHashMap;
use shofar_horn::TransitionSystem;
use shofar_horn::acceleration::{Acceleration, MOST_STEPS, Rounds};
use shofar_horn::ground::complete;
use shofar_logic::{Term, Value};
use shofar_run::Stop;
use shofar_smt::project::Projector;

use super::{Example, Shortcut, Step, Traced};
use crate::Run;
use crate::unroll::{Template, fresh_vector};

/// An exact shortcut.
pub(crate) struct Exact {
    acceleration: Acceleration,
    /// The acceleration, with its counter as a local variable.
    pub(crate) template: Template,
    /// The steps of one round. Shortcuts are exact ones.
    word: Vec<Step>,
}

impl Exact {
    /// The acceleration of a loop whose shortcuts are exact. `None` if it has no closed form.
    pub(crate) fn of(run: &Run<'_>, system: &TransitionSystem, example: &Example<'_>) -> Option<Self> {
        Self::of_loop(run, system, example.looped, example.steps)
    }

    fn of_loop(run: &Run<'_>, system: &TransitionSystem, looped: &[Term], steps: &[Traced]) -> Option<Self> {
        let TransitionSystem { state, next, .. } = system;
        let acceleration = Acceleration::of(run, state, next, looped)?;
        let template = Template::new(run.store, acceleration.formula(), &[state, next]);
        Some(Exact { acceleration, template, word: steps.iter().map(|traced| traced.step).collect() })
    }

    /// The acceleration, over a state, its successor and local variables.
    pub(crate) fn formula(&self) -> Term {
        self.acceleration.formula()
    }

    /// The acceleration of the loop from which a shortcut was guessed. Shortcuts in the loop are replaced by the exact ones for them.
    pub(crate) fn instead_of(
        run: &Run<'_>,
        system: &TransitionSystem,
        shortcut: &Shortcut,
        others: &[Option<Exact>],
    ) -> Result<Option<Self>, Stop> {
        let word = &shortcut.word;
        if word.iter().all(|traced| traced.step == Step::Transition) {
            return Ok(Self::of_loop(run, system, &shortcut.looped, word));
        }
        let store = run.store;
        let TransitionSystem { state, next, .. } = system;
        let mut literals = Vec::new();
        let mut at = state.clone();
        for (number, traced) in word.iter().enumerate() {
            let to =
                if number + 1 == word.len() { next.clone() } else { fresh_vector(store, state, "between") };
            let vectors: [(&[Term], &[Term]); 2] = [(state, &at), (next, &to)];
            match traced.step {
                Step::Transition => {
                    let implicant = Template::new(store, store.and(&traced.implicant), &[state, next]);
                    literals.push(implicant.copy(store, &vectors));
                }
                Step::Learnt(other) => {
                    let Some(Some(other)) = others.get(other) else { return Ok(None) };
                    literals.push(other.template.copy(store, &vectors));
                }
            }
            at = to;
        }
        // Any cube of the loop will do.
        let mut solver = run.solver();
        run.assert(&mut solver, &literals)?;
        if !run.is_satisfiable(&mut solver, &[])? {
            return Ok(None);
        }
        let model = solver.model(&literals);
        let mut gone = store.free_vars(&literals);
        gone.retain(|variable| !state.contains(variable) && !next.contains(variable));
        let projection = Projector::new(store).project_cube(&literals, &model, &gone);
        Ok(projection.ok().and_then(|cube| Self::of_loop(run, system, &cube.literals, word)))
    }
}

/// The states of a path of transitions, from the steps and the states of a path with exact shortcuts.
pub(crate) fn expanded(
    run: &Run<'_>,
    system: &TransitionSystem,
    exact: &[Option<Exact>],
    steps: &[Step],
    states: Vec<Box<[Value]>>,
) -> Result<Vec<Box<[Value]>>, Stop> {
    let transition = Template::new(run.store, system.transition, &[&system.state, &system.next]);
    let mut expansion = Expansion { run, system, exact, transition, words: FxHashMap::default() };
    expansion.expand(steps, states)
}

struct Expansion<'s> {
    run: &'s Run<'s>,
    system: &'s TransitionSystem,
    exact: &'s [Option<Exact>],
    transition: Template,
    /// By shortcut.
    words: FxHashMap<usize, Round>,
}

/// One round of a shortcut.
struct Round {
    /// Its steps from a state to its successor.
    formula: Term,
    /// The variables of the states between the steps.
    between: Vec<Box<[Term]>>,
}

/// Work that is left.
enum Open<'s> {
    /// A step to a state.
    Step(Step, Box<[Value]>),
    /// Rounds of an exact shortcut.
    Rounds(usize, Rounds<'s>),
}

impl<'s> Expansion<'s> {
    fn expand(&mut self, steps: &[Step], states: Vec<Box<[Value]>>) -> Result<Vec<Box<[Value]>>, Stop> {
        let mut budget = MOST_STEPS;
        let mut states = states.into_iter();
        let mut path: Vec<Box<[Value]>> = states.next().into_iter().collect();
        let mut open: Vec<Open<'s>> =
            steps.iter().zip(states).map(|(&step, to)| Open::Step(step, to)).collect();
        open.reverse();
        while let Some(work) = open.pop() {
            let before = path.last().ok_or_else(|| Stop::Internal("a path without states".to_owned()))?;
            match work {
                Open::Step(Step::Transition, to) => path.push(to),
                Open::Step(Step::Learnt(number), to) => {
                    let acceleration = &self.exact(number)?.acceleration;
                    let rounds = acceleration.rounds(&self.run.context(), before, &to, &mut budget)?;
                    open.push(Open::Rounds(number, rounds));
                }
                Open::Rounds(number, mut rounds) => {
                    let Some(to) = rounds.next() else { continue };
                    open.push(Open::Rounds(number, rounds));
                    match self.exact(number)?.word.as_slice() {
                        [Step::Transition] => path.push(to?),
                        word => {
                            let between = self.round(number, before, &to?)?;
                            let steps = word.iter().zip(between).map(|(&step, to)| Open::Step(step, to));
                            open.extend(steps.rev());
                        }
                    }
                }
            }
        }
        Ok(path)
    }

    fn exact(&self, number: usize) -> Result<&'s Exact, Stop> {
        let exact = self.exact.get(number).and_then(Option::as_ref);
        exact.ok_or_else(|| Stop::Internal("a shortcut of a path is not exact".to_owned()))
    }

    /// The states after each step of one round.
    fn round(&mut self, number: usize, from: &[Value], to: &[Value]) -> Result<Vec<Box<[Value]>>, Stop> {
        if !self.words.contains_key(&number) {
            let word = self.word(number)?;
            self.words.insert(number, word);
        }
        let Round { formula, between } = &self.words[&number];
        let ends = self.system.state.iter().chain(&self.system.next).copied();
        let given = ends.zip(from.iter().chain(to).cloned());
        let mut values = complete(self.run, *formula, given, &between.concat())?.into_iter();
        let mut states: Vec<Box<[Value]>> =
            between.iter().map(|state| values.by_ref().take(state.len()).collect()).collect();
        states.push(to.into());
        Ok(states)
    }

    /// One round of a shortcut.
    fn word(&self, number: usize) -> Result<Round, Stop> {
        let store = self.run.store;
        let TransitionSystem { state, next, .. } = self.system;
        let word = &self.exact(number)?.word;
        let between: Vec<Box<[Term]>> =
            (1..word.len()).map(|_| fresh_vector(store, state, "between")).collect();
        let mut literals = Vec::new();
        for (at, step) in word.iter().enumerate() {
            let from = if at == 0 { state } else { &between[at - 1] };
            let to = between.get(at).unwrap_or(next);
            let template = match *step {
                Step::Transition => &self.transition,
                Step::Learnt(other) => &self.exact(other)?.template,
            };
            literals.push(template.copy(store, &[(state, from), (next, to)]));
        }
        Ok(Round { formula: store.and(&literals), between })
    }
}
