//! Quantifier elimination in models, for the checker, if the theory admits it.

use shofar_logic::{Op, Term};
use shofar_run::Stop;
use shofar_smt::project::{Bounds, Elimination, ProjectError, Status, eliminate, eliminate_forall};

use super::{Definition, Interpretation, Model};
use crate::Context;

impl Model {
    /// An equivalent model without quantifiers. Fails if they cannot be eliminated.
    pub fn without_quantifiers(self, context: &Context<'_>) -> Result<Model, Stop> {
        let store = context.store;
        let definition = |definition: Definition| {
            let formula = match definition.interpretation {
                Interpretation::Formula(formula) if store.is_quantified(formula) => formula,
                Interpretation::Formula(_) => return Ok(definition),
            };
            let mut failed: Option<Stop> = None;
            let formula = store.rewrite(formula, &mut |op, args| match (op, args) {
                (Op::Forall | Op::Exists, [variables @ .., body]) if failed.is_none() => {
                    without_quantifier(context, op, variables, *body).unwrap_or_else(|stop| {
                        failed = Some(stop);
                        Term::TRUE
                    })
                }
                _ => store.app(op, args).expect("nothing but formulas has changed"),
            });
            failed.map_or(Ok(Definition { interpretation: formula.into(), ..definition }), Err)
        };
        let definitions = self.definitions.into_iter().map(definition);
        Ok(Model { definitions: definitions.collect::<Result<_, Stop>>()? })
    }
}

/// A quantifier-free formula equivalent to one quantifier over a quantifier-free body.
fn without_quantifier(context: &Context<'_>, op: Op, variables: &[Term], body: Term) -> Result<Term, Stop> {
    context.go_on()?;
    let store = context.store;
    let bounds = Bounds { limits: context.limits, ..Bounds::default() };
    let elimination = match op {
        Op::Exists => eliminate(store, body, variables, &bounds),
        _ => eliminate_forall(store, body, variables, &bounds),
    };
    match elimination {
        Ok(Elimination { formula, status: Status::Complete, .. }) => Ok(formula),
        Ok(Elimination { status: Status::Unknown(reason), .. }) => Err(Stop::Interrupted(reason)),
        Ok(Elimination { status: Status::TooManyDisjuncts, .. }) => {
            Err(Stop::Unsupported("quantifiers with so many cases".to_owned()))
        }
        Err(ProjectError::Unsupported(unsupported)) => Err(unsupported.stop(store)),
        Err(error) => Err(Stop::Unsupported(format!("this quantifier: {}", error.display(store)))),
    }
}
