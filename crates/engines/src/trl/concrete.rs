//! Counterexamples: rounds of loops in the place of learnt relations.
//!
//! A step of a learnt relation may connect states that its loop does not, so a path with such steps may be spurious. It is made
//! concrete by unrolling: each step of a learnt relation becomes up to `m` rounds of the loop from which the relation was
//! guessed, which may contain steps of other relations itself.
//!
//! ```text
//! transition from x to y                       T(x, y)
//! relation k from x to y                       x = x_0,   r_i and loop(x_i-1, x_i)  or  not r_i and x_i-1 = x_i,   x_m = y
//! ```
//!
//! `r_i` says whether the `i`-th round takes place. A model gives the states at the times of the transitions that take place.

use shofar_horn::TransitionSystem;
use shofar_logic::{Sort, Term, Value};
use shofar_run::Stop;

use super::Step;
use super::recurrence::Transitive;
use crate::Run;
use crate::unroll::{Unrolling, value};

/// The greatest number of transitions of an unrolled path. Rounds of loops within loops multiply.
const MOST_TRANSITIONS: usize = 512;

/// The unrolling of a path.
pub(super) struct Concrete<'a> {
    run: &'a Run<'a>,
    relations: &'a [Transitive],
    unrolling: Unrolling<'a>,
    rounds: usize,
    formulas: Vec<Term>,
    /// For each transition whether it takes place. The `i`-th transition leads to time `i + 1`.
    taken: Vec<Term>,
}

impl<'a> Concrete<'a> {
    /// The states of a path of transitions to a bad state, with at most `rounds` rounds of a loop for each learnt step.
    pub(super) fn path(
        run: &'a Run<'a>,
        system: &'a TransitionSystem,
        relations: &'a [Transitive],
        steps: &[Step],
        rounds: usize,
    ) -> Result<Option<Vec<Box<[Value]>>>, Stop> {
        let unrolling = Unrolling::new(run.store, system);
        let mut concrete =
            Concrete { run, relations, unrolling, rounds, formulas: Vec::new(), taken: Vec::new() };
        concrete.add(steps, Term::TRUE)?;
        let last = concrete.taken.len();
        let ends = [concrete.unrolling.init(0), concrete.unrolling.bad(last)];
        concrete.formulas.extend(ends);
        let mut solver = run.solver();
        run.assert(&mut solver, &concrete.formulas)?;
        if !run.is_satisfiable(&mut solver, &[])? {
            return Ok(None);
        }
        let states = concrete.unrolling.values(&solver, last);
        let model = solver.model(&concrete.taken);
        let is_taken = |&taken: &Term| value_of(run, &model, taken);
        let mut taken = [true].into_iter().chain(concrete.taken.iter().map(is_taken));
        Ok(Some(states.into_iter().filter(|_| taken.next() == Some(true)).collect()))
    }

    /// Adds steps that take place if a formula holds.
    fn add(&mut self, steps: &[Step], taken: Term) -> Result<(), Stop> {
        let store = self.run.store;
        for &step in steps {
            let Step::Learnt(relation) = step else {
                let time = self.taken.len();
                if time == MOST_TRANSITIONS {
                    return Err(Stop::Exhausted(
                        "learnt relations reach bad states, and their loops are long",
                    ));
                }
                let [from, to] = [time, time + 1].map(|time| self.unrolling.state(time).to_vec());
                let equal = store.and_of(from.iter().zip(to).map(|(&a, b)| store.eq(a, b)));
                let transition = self.unrolling.step(time, time + 1);
                self.formulas.push(store.ite(taken, transition, equal));
                self.taken.push(taken);
                continue;
            };
            let relations = self.relations;
            let mut before = taken;
            for _ in 0..self.rounds {
                let round = store.var(store.fresh_symbol("round"), Sort::BOOL);
                // Rounds that do not take place come last.
                self.formulas.push(store.implies(round, before));
                self.add(&relations[relation].word, round)?;
                before = round;
            }
        }
        Ok(())
    }
}

fn value_of(run: &Run<'_>, model: &shofar_logic::Assignment, formula: Term) -> bool {
    formula == Term::TRUE || value(run.store, model, formula) == Value::Bool(true)
}
