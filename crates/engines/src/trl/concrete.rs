//! Counterexamples: rounds of loops in the place of learnt relations.
//!
//! A step of a learnt relation may connect states that its loop does not, so a path with such steps may be spurious. It is made
//! concrete by unrolling: each step of a learnt relation becomes up to `m` rounds of the loop from which the relation was
//! guessed, which may contain steps of other relations itself. Before each round there may be any number of rounds at once, by an
//! acceleration of some loop:
//!
//! ```text
//! transition from x to y                       T(x, y)
//! relation k from x to y                       x = x_0,   x_m = y,   for each i:
//!                                                  a_i and some acceleration(x_i-1, z_i)  or  not a_i and x_i-1 = z_i
//!                                                  r_i and loop(z_i, x_i)                 or  not r_i and z_i = x_i
//! ```
//!
//! `a_i` and `r_i` say whether the steps take place. A model gives the steps that take place, and the states after them. An acceleration may
//! be that of another loop, because a relation may be more than its loop was: several phases, for example.

use shofar_horn::TransitionSystem;
use shofar_logic::{Assignment, Sort, Term, Value};
use shofar_run::Stop;

use crate::Run;
use crate::shortcuts::{Exact, Shortcut, Step};
use crate::unroll::{Unrolling, value};

/// The greatest number of steps of an unrolled path, half of which may be accelerations. Rounds of loops within loops multiply.
const MOST_STEPS: usize = 1024;

/// The unrolling of a path.
pub(super) struct Concrete<'a> {
    run: &'a Run<'a>,
    system: &'a TransitionSystem,
    relations: &'a [Shortcut],
    exact: &'a [Option<Exact>],
    unrolling: Unrolling<'a>,
    rounds: usize,
    formulas: Vec<Term>,
    /// The `i`-th slot leads to time `i + 1`.
    slots: Vec<Slot>,
}

/// A step that may take place.
struct Slot {
    /// Whether it does.
    taken: Term,
    /// The kinds of steps, with the conditions under which the step is one of the kind.
    kinds: Vec<(Step, Term)>,
}

/// Steps, and the states before, between and after them.
type Path = (Vec<Step>, Vec<Box<[Value]>>);

impl<'a> Concrete<'a> {
    /// A path of transitions and exact steps to a bad state, with at most `rounds` rounds of a loop for each learnt step.
    pub(super) fn path(
        run: &'a Run<'a>,
        system: &'a TransitionSystem,
        relations: &'a [Shortcut],
        exact: &'a [Option<Exact>],
        steps: &[Step],
        rounds: usize,
    ) -> Result<Option<Path>, Stop> {
        let unrolling = Unrolling::new(run.store, system);
        let (formulas, slots) = (Vec::new(), Vec::new());
        let mut concrete = Concrete { run, system, relations, exact, unrolling, rounds, formulas, slots };
        concrete.add(steps, Term::TRUE)?;
        let last = concrete.slots.len();
        let ends = [concrete.unrolling.init(0), concrete.unrolling.bad(last)];
        concrete.formulas.extend(ends);
        let mut solver = run.solver();
        run.assert(&mut solver, &concrete.formulas)?;
        if !run.is_satisfiable(&mut solver, &[])? {
            return Ok(None);
        }
        let mut values = concrete.unrolling.values(&solver, last).into_iter();
        let conditions = concrete
            .slots
            .iter()
            .flat_map(|slot| slot.kinds.iter().map(|&(_, condition)| condition).chain([slot.taken]));
        let model = solver.model(&conditions.collect::<Vec<Term>>());
        let holds = |formula: Term| is_true(run, &model, formula);
        let mut steps = Vec::new();
        let mut states: Vec<Box<[Value]>> = values.next().into_iter().collect();
        for (slot, state) in concrete.slots.iter().zip(values) {
            if holds(slot.taken) {
                let kind = slot.kinds.iter().find(|&&(_, condition)| holds(condition));
                let missed = || Stop::Internal("a step of a path is of no kind".to_owned());
                steps.push(kind.ok_or_else(missed)?.0);
                states.push(state);
            }
        }
        Ok(Some((steps, states)))
    }

    /// Adds steps that take place if a formula holds.
    fn add(&mut self, steps: &[Step], taken: Term) -> Result<(), Stop> {
        let relations = self.relations;
        for &step in steps {
            let Step::Learnt(relation) = step else {
                let time = self.slots.len();
                let transition = self.unrolling.step(time, time + 1);
                self.add_slot(taken, vec![(Step::Transition, Term::TRUE)], transition)?;
                continue;
            };
            let word: Vec<Step> = relations[relation].word.iter().map(|traced| traced.step).collect();
            let mut before = taken;
            for _ in 0..self.rounds {
                self.add_accelerations(taken)?;
                let round = self.choice(before);
                self.add(&word, round)?;
                // Rounds that do not take place come last.
                before = round;
            }
        }
        Ok(())
    }

    /// Adds a step of any acceleration, or none, if a formula holds.
    fn add_accelerations(&mut self, allowed: Term) -> Result<(), Stop> {
        let (store, exact) = (self.run.store, self.exact);
        let time = self.slots.len();
        let [from, to] = [time, time + 1].map(|time| self.unrolling.state(time).to_vec());
        let TransitionSystem { state, next, .. } = self.system;
        let (mut kinds, mut cases) = (Vec::new(), Vec::new());
        for (number, exact) in exact.iter().enumerate() {
            let Some(exact) = exact else { continue };
            let chosen = store.var(store.fresh_symbol("acceleration"), Sort::BOOL);
            let copy = exact.template.copy(store, &[(state, &from), (next, &to)]);
            self.formulas.push(store.implies(chosen, copy));
            cases.push(chosen);
            kinds.push((Step::Learnt(number), chosen));
        }
        if kinds.is_empty() {
            return Ok(());
        }
        let taken = self.choice(allowed);
        self.add_slot(taken, kinds, store.or(&cases))
    }

    /// Adds a step that takes place if a formula holds.
    fn add_slot(&mut self, taken: Term, kinds: Vec<(Step, Term)>, step: Term) -> Result<(), Stop> {
        let store = self.run.store;
        let time = self.slots.len();
        if time == MOST_STEPS {
            return Err(Stop::Exhausted("learnt relations reach bad states, and their loops are long"));
        }
        let [from, to] = [time, time + 1].map(|time| self.unrolling.state(time).to_vec());
        let equal = store.and_of(from.iter().zip(to).map(|(&a, b)| store.eq(a, b)));
        self.formulas.push(store.ite(taken, step, equal));
        self.slots.push(Slot { taken, kinds });
        Ok(())
    }

    /// A fresh condition that implies a formula.
    fn choice(&mut self, allowed: Term) -> Term {
        let store = self.run.store;
        let choice = store.var(store.fresh_symbol("round"), Sort::BOOL);
        self.formulas.push(store.implies(choice, allowed));
        choice
    }
}

fn is_true(run: &Run<'_>, model: &Assignment, formula: Term) -> bool {
    formula == Term::TRUE || value(run.store, model, formula) == Value::Bool(true)
}
