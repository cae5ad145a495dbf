//! Lemmas that are tried before the goals.
//!
//! Induction needs lemmas, and those that most proofs need are known in advance:
//!
//! - a predicate is the graph of a function: `p(x, y), p(x, z), distinct(y, z) => false`;
//! - a relation is irreflexive: `p(x, x) => false`.
//!
//! Each of them is a goal. It is kept if resolution proves it soon, with those before.

use shofar_run::Stop;

use super::input::Problem;
use super::saturate::{Loop, Outcome, Strategy};
use super::terms::{Atom, Clause, Id};
use crate::Run;

/// The number of given clauses for each lemma.
const MOST_GIVEN: u64 = 60;

/// The greatest number of arguments of a relation that may be irreflexive.
const MOST_ARGUMENTS: usize = 4;

/// Adds lemmas to a problem.
pub(super) fn add_lemmas(problem: &mut Problem<'_>, strategy: Strategy, run: &Run<'_>) -> Result<(), Stop> {
    for (relation, sorts) in problem.predicates() {
        let atom = |problem: &mut Problem<'_>, numbers: &[u32]| -> Atom {
            let arguments: Vec<Id> = numbers.iter().map(|&number| problem.bank.variable(number)).collect();
            Atom { relation, arguments: arguments.into() }
        };
        let numbers: Vec<u32> = (0..).take(sorts.len()).collect();
        if let Some((&result, [_, ..])) = sorts.split_last()
            && let Some(distinct) = problem.distinct(result)
        {
            let (last, other) = (sorts.len() - 1, sorts.len() as u32);
            let mut others = numbers.clone();
            others[last] = other;
            let pair = [numbers[last], other].map(|number| problem.bank.variable(number));
            let unequal = Atom { relation: distinct, arguments: pair.into() };
            let body = vec![atom(problem, &numbers), atom(problem, &others), unequal];
            let mark = problem.mark();
            problem.add_axioms(vec![result]);
            if !is_added(problem, strategy, run, body)? {
                problem.forget(mark);
            }
        }
        if sorts.len() > MOST_ARGUMENTS {
            continue;
        }
        let pairs = (0..sorts.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
        for (first, second) in pairs.filter(|&(first, second)| sorts[first] == sorts[second]) {
            let mut numbers = numbers.clone();
            numbers[second] = numbers[first];
            let body = vec![atom(problem, &numbers)];
            is_added(problem, strategy, run, body)?;
        }
    }
    Ok(())
}

/// Adds a goal with this body to the lemmas if resolution proves it.
fn is_added(
    problem: &mut Problem<'_>,
    strategy: Strategy,
    run: &Run<'_>,
    body: Vec<Atom>,
) -> Result<bool, Stop> {
    let goal = problem.bank.numbered(&Clause { body, head: None });
    if problem.lemmas.contains(&goal) || problem.goals.contains(&goal) {
        return Ok(true);
    }
    let goals = [&problem.lemmas[..], std::slice::from_ref(&goal)].concat();
    let budget = MOST_GIVEN * goals.len() as u64;
    let outcome = Loop::new(problem, strategy, &goals).run(run, budget)?;
    let is_proved = matches!(outcome, Outcome::Saturated(_));
    if is_proved {
        problem.lemmas.push(goal);
    }
    Ok(is_proved)
}
