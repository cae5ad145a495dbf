//! Parameters of templates for derivations that must be excluded, by counterexample-guided inductive synthesis.
//!
//! ```text
//! for each class of templates, without a guard and with guards
//!     repeat
//!         parameters := a solution of what the samples say; none: next class
//!         the components for these parameters exclude all derivations: done
//!         otherwise: a sample says which terms must have different components
//! ```
//!
//! A derivation is given by constraints without common solution. An algebra excludes it if its abstract constraints, with the
//! images of the sorts, have none either. Samples (`samples.rs`) are terms, so they serve all classes. If the components that
//! contradict the parameters belong to no small terms, only these parameters are excluded.
//!
//! Parameters, rounds and time are limited. If no class helps, there is no result.
//!
//! **Where it comes from.** A. Solar-Lezama et al., "Combinatorial sketching for finite programs" (ASPLOS 2006), for the loop.

use shofar_horn::Context;
use shofar_logic::{Assignment, Sort, Term, TermStore, Value};
use shofar_run::Stop;

use super::abstraction::{Abstracted, Images, abstracted};
use super::components::Algebra;
use super::samples::{Pool, Vectors, at_sample};
use super::templates::{CLASSES, Class, Guard, Template};
use crate::Run;

/// Rounds with one template.
const MOST_ROUNDS: usize = 40;

/// Parameters of one template that are excluded without a sample.
const MOST_GUESSES: usize = 8;

/// An algebra with components of a template that excludes all derivations; none if there is no such template, or if the time of
/// the context is over. `labels` are the constraints of the clauses.
pub(super) fn synthesize(
    context: Context<'_>,
    algebra: &Algebra,
    sorts: &[Sort],
    labels: &[Term],
    derivations: &[Vec<Term>],
) -> Result<Option<Algebra>, Stop> {
    let store = context.store;
    let run = Run::new(store).with_limits(context.limits);
    let guards = Guard::of(store, labels);
    let mut synthesis = Synthesis {
        run: &run,
        algebra,
        sorts,
        derivations,
        normal: derivations
            .iter()
            .map(|labels| labels.iter().map(|&label| store.nnf(label)).collect())
            .collect(),
        pool: Pool::new(store, sorts, labels),
        samples: Vec::new(),
    };
    for class in CLASSES {
        for guard in [None].into_iter().chain(guards.iter().map(Some)) {
            match synthesis.search(class, guard) {
                Ok(None) => {}
                Err(Stop::Interrupted(_)) => return Ok(None),
                found => return found,
            }
        }
    }
    Ok(None)
}

/// Components of a derivation's variables that an algebra allows; none if it excludes the derivation.
pub(super) fn allowed(
    run: &Run<'_>,
    algebra: &Algebra,
    images: &Images,
    derivation: &[Term],
) -> Result<Option<Vectors>, Stop> {
    let store = run.store;
    let Abstracted { formulas, vectors } = abstracted(store, algebra, images, derivation)?;
    let mut solver = run.solver();
    run.assert(&mut solver, &formulas)?;
    if !run.is_satisfiable(&mut solver, &[])? {
        return Ok(None);
    }
    let variables = store.free_vars(derivation);
    let vector = |variable: &Term| match vectors.get(variable) {
        Some(vector) => vector.to_vec(),
        None => vec![*variable],
    };
    let all: Vec<Term> = formulas.into_iter().chain(variables.iter().flat_map(vector)).collect();
    let model = solver.model(&all);
    let value = |term: Term| value(store, &model, term);
    let of_variable =
        |&variable: &Term| (variable, vector(&variable).into_iter().map(value).collect::<Vec<Value>>());
    Ok(Some(variables.iter().map(of_variable).collect()))
}

/// The value of a term without symbols of other sorts than numbers and truth values.
fn value(store: &TermStore, model: &Assignment, term: Term) -> Value {
    let default = || store.default_value(store.sort_of(term));
    store.eval(term, model).unwrap_or_else(|_| default())
}

struct Synthesis<'a> {
    run: &'a Run<'a>,
    /// The components that every algebra has.
    algebra: &'a Algebra,
    sorts: &'a [Sort],
    derivations: &'a [Vec<Term>],
    /// The derivations in negation normal form.
    normal: Vec<Vec<Term>>,
    pool: Pool,
    /// Derivations, and values for their variables.
    samples: Vec<(usize, Assignment)>,
}

impl Synthesis<'_> {
    /// An algebra with components of one template, if there are any that exclude all derivations.
    fn search(&mut self, class: Class, guard: Option<&Guard>) -> Result<Option<Algebra>, Stop> {
        let (run, store) = (self.run, self.run.store);
        let Some(mut template) = Template::new(store, self.sorts, class, guard) else { return Ok(None) };
        let mut solver = run.solver();
        run.assert(&mut solver, &template.take_definitions())?;
        let (mut used, mut guesses) = (0, 0);
        for _ in 0..MOST_ROUNDS {
            run.go_on()?;
            for (derivation, sample) in &self.samples[used..] {
                let derivation = &self.normal[*derivation];
                let is_allowed = at_sample(store, self.algebra, &mut template, derivation, sample);
                run.assert(&mut solver, &template.take_definitions())?;
                run.assert(&mut solver, &[store.not(is_allowed)])?;
            }
            used = self.samples.len();
            if !run.is_satisfiable(&mut solver, &[])? {
                return Ok(None);
            }
            let model = solver.model(template.parameters());
            let values: Vec<Value> =
                template.parameters().iter().map(|&parameter| value(store, &model, parameter)).collect();
            let parameters: Assignment = template.parameters().iter().copied().zip(values.clone()).collect();
            let Some(components) = template.components(&parameters) else { return Ok(None) };
            let mut algebra = self.algebra.clone();
            components.into_iter().for_each(|(sort, component)| algebra.add(sort, component));
            let images = Images::new(run.context(), &algebra, self.sorts)?;
            let mut is_enough = true;
            for (number, derivation) in self.derivations.iter().enumerate() {
                let Some(components) = allowed(run, &algebra, &images, derivation)? else { continue };
                is_enough = false;
                match self.pool.sample(store, &algebra, &components) {
                    Some(sample) => self.samples.push((number, sample)),
                    None => guesses += 1,
                }
                break;
            }
            if is_enough {
                return Ok(Some(algebra));
            }
            if guesses > MOST_GUESSES {
                return Ok(None);
            }
            let same = template.parameters().iter().zip(&values);
            let same = same.map(|(&parameter, value)| store.eq(parameter, store.value_to_term(value)));
            run.assert(&mut solver, &[store.not(store.and_of(same))])?;
        }
        Ok(None)
    }
}
