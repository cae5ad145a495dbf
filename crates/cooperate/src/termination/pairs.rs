//! Pairs of facts of one run: lassos, and disjunctive termination arguments.
//!
//! ```text
//! functions := {}
//! repeat
//!     ask the engines for facts u and v in one run that no function covers
//!     if there are no such facts: all runs end, since finitely many functions cover all pairs
//!     if u = v: the run comes back to u
//!     rank the part of the rules' composition around (u, v), or at least (u, v); add the function
//! ```
//!
//! This is Terminator's loop. (B. Cook, A. Podelski, A. Rybalchenko, "Termination proofs for systems code", PLDI 2006.) The
//! question for lassos alone is the same with the test `u = v` in place of the functions. (A. Biere, C. Artho, V. Schuppan,
//! "Liveness checking as safety checking", FMICS 2002.)

use shofar_engines::Run;
use shofar_logic::{Substitution, Term, Value};
use shofar_run::Stop;

use super::certificate::{Certificate, Ranks};
use super::farkas::{self, Functions, lexicographic};
use super::obligations::{Covered, pairs};
use super::problem::Problem;
use super::ranking::number_sort;
use super::relation::{Part, Relations, completed, fresh};
use super::search::{Answer, Engines, Taken, run_of, steps_in_order};

/// The maximal number of functions.
const MOST_FUNCTIONS: usize = 30;

/// The longest composition whose part is computed; longer ones are ranked as pairs.
const LONGEST_COMPOSITION: usize = 40;

/// Looks for a run that comes back to a fact.
pub(crate) fn lasso(
    run: &Run<'_>,
    problem: &Problem<'_>,
    engines: &Engines<'_>,
) -> Result<Certificate, Stop> {
    let obligation = pairs(problem, &problem.cut_points(), Covered::Different)?;
    match engines.ask(run, &obligation.system)? {
        Answer::Model(_) => Err(Stop::Exhausted("no run comes back to a fact")),
        Answer::Refutation(refutation) => {
            let taken = steps_in_order(problem, &obligation, &refutation)?;
            let start = start_of_loop(&taken)?;
            Ok(Certificate::Lasso { run: run_of(problem, &taken), start })
        }
    }
}

/// The index of the fact before the first pair.
fn start_of_loop(taken: &[Taken]) -> Result<usize, Stop> {
    let first = taken.iter().position(|step| step.is_pair);
    first
        .and_then(|first| first.checked_sub(1))
        .ok_or_else(|| Stop::Internal("a loop without a beginning".to_owned()))
}

/// The search for functions, which goes on where it was interrupted.
pub(crate) struct Disjunctive {
    looked_at: Vec<usize>,
    /// Functions with the predicate that they are about.
    functions: Vec<(usize, Functions)>,
}

impl Disjunctive {
    pub(crate) fn new(problem: &Problem<'_>) -> Self {
        Disjunctive { looked_at: problem.cut_points(), functions: Vec::new() }
    }

    /// Goes on with the search.
    pub(crate) fn search(
        &mut self,
        run: &Run<'_>,
        problem: &Problem<'_>,
        relations: &Relations,
        engines: &Engines<'_>,
    ) -> Result<Certificate, Stop> {
        loop {
            run.go_on()?;
            if self.functions.len() > MOST_FUNCTIONS {
                return Err(Stop::Exhausted("a disjunctive argument needs too many functions"));
            }
            let ranks = self.ranks(problem);
            let obligation = pairs(problem, &self.looked_at, Covered::By(&ranks))?;
            let taken = match engines.ask(run, &obligation.system)? {
                Answer::Model(model) => return Ok(Certificate::Disjunctive { ranks, model }),
                Answer::Refutation(refutation) => steps_in_order(problem, &obligation, &refutation)?,
            };
            let start = start_of_loop(&taken)?;
            let end = taken.len() - 1;
            if taken[start].fact == taken[end].fact {
                return Ok(Certificate::Lasso { run: run_of(problem, &taken), start });
            }
            let predicate =
                problem.clause(taken[end].clause).head.as_ref().map(|head| head.predicate.index());
            let predicate = predicate.ok_or_else(|| Stop::Internal("a step without a fact".to_owned()))?;
            self.cover(run, problem, relations, predicate, &taken[start..])?;
        }
    }

    /// The functions as terms; for each predicate that is looked at there is one at least.
    fn ranks(&self, problem: &Problem<'_>) -> Ranks {
        let store = problem.store;
        let sort = number_sort(problem);
        let mut ranks: Ranks = vec![Vec::new(); problem.parameters.len()];
        for (predicate, functions) in &self.functions {
            let parameters = &problem.parameters[*predicate];
            ranks[*predicate].push(farkas::at(store, &functions[*predicate], parameters, sort));
        }
        for &predicate in &self.looked_at {
            if ranks[predicate].is_empty() {
                ranks[predicate].push(store.number(&0u64.into(), sort));
            }
        }
        ranks
    }

    /// Adds a function that decreases on the pair of a run's first and last fact.
    fn cover(
        &mut self,
        run: &Run<'_>,
        problem: &Problem<'_>,
        relations: &Relations,
        predicate: usize,
        taken: &[Taken],
    ) -> Result<(), Stop> {
        let store = run.store;
        let arities: Vec<usize> = problem.parameters.iter().map(|parameters| parameters.len()).collect();
        let mut wide = None;
        if taken.len() <= LONGEST_COMPOSITION {
            let part = composition(run, relations, predicate, taken)?;
            if self.rank(run, &arities, predicate, &part)? {
                return Ok(());
            }
            wide = Some(part.rows);
        }
        let (first, last) = (&taken[0].fact, &taken[taken.len() - 1].fact);
        let (now, next) = (&relations.now[predicate], &relations.next[predicate]);
        let ends = (predicate, predicate);
        let point = Part::point(store, ends, (now, first), (next, last));
        // Functions that are bounded by the guards generalise.
        let guarded = Part { wide, ..point.clone() };
        if self.rank(run, &arities, predicate, &guarded)? || self.rank(run, &arities, predicate, &point)? {
            return Ok(());
        }
        Err(Stop::Exhausted("no linear function ranks a pair of facts"))
    }

    /// Adds functions that rank the part, if there are any.
    fn rank(
        &mut self,
        run: &Run<'_>,
        arities: &[usize],
        predicate: usize,
        part: &Part,
    ) -> Result<bool, Stop> {
        let (functions, open) = lexicographic(run, arities, &[part])?;
        if open.is_empty() {
            self.functions.extend(functions.into_iter().map(|functions| (predicate, functions)));
        }
        Ok(open.is_empty())
    }
}

/// The part of the composition of a run's steps around the run.
fn composition(
    run: &Run<'_>,
    relations: &Relations,
    predicate: usize,
    taken: &[Taken],
) -> Result<Part, Stop> {
    let store = run.store;
    let (now, next) = (&relations.now[predicate], &relations.next[predicate]);
    let mut given: Vec<(Term, Value)> = now.iter().copied().zip(taken[0].fact.iter().cloned()).collect();
    let mut before: Vec<Term> = now.clone();
    let mut formulas = Vec::new();
    for (number, step) in taken.iter().enumerate().skip(1) {
        let relation = relations.steps.iter().find(|relation| relation.rule.clause == step.clause);
        let relation = relation.ok_or_else(|| Stop::Internal("a step of a run by no rule".to_owned()))?;
        let old_after = &relations.next[relation.rule.target];
        let is_last = number + 1 == taken.len();
        let after: Vec<Term> = match is_last {
            true => next.clone(),
            false => old_after.iter().map(|&variable| fresh(store, variable)).collect(),
        };
        let mut renaming = Substitution::new();
        let old_before = &relations.now[relation.rule.source];
        let pairs = old_before.iter().zip(&before).chain(old_after.iter().zip(&after));
        pairs.for_each(|(&old, &new)| renaming.insert(old, new));
        relation.locals.iter().for_each(|&local| renaming.insert(local, fresh(store, local)));
        formulas.push(store.instantiate(relation.formula, &renaming));
        given.extend(after.iter().copied().zip(step.fact.iter().cloned()));
        before = after;
    }
    let formula = store.and(&formulas);
    let model = completed(run, formula, given)?;
    Part::around(run, formula, &model, (predicate, predicate), now, next)
}
