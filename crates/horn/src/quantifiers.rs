//! Interpreted quantifiers in clauses and models.
//!
//! A quantifier over formulas without predicates may stand in the constraint of a clause: `forall` in a body, `exists` in a
//! head. The [system](crate::HornSystem) keeps it as it is written. [Graphs](crate::HornGraph::within) have labels without
//! quantifiers, which this file makes by quantifier elimination, from the inside out. Where the theory has no elimination,
//! there is no graph, and the reason says so.
//!
//! The checker does not trust this elimination: it confirms one of its own (`check/quantifiers.rs`).

use shofar_logic::{Op, Term, TermStore};
use shofar_run::Stop;
use shofar_smt::project::{Bounds, Elimination, ProjectError, Status, eliminate, eliminate_forall};

use crate::Context;

/// An equivalent formula without quantifiers. Fails where they cannot be eliminated.
pub(crate) fn without_quantifiers(context: &Context<'_>, formula: Term) -> Result<Term, Stop> {
    replace_quantifiers(context.store, formula, |op, variables, body| {
        without_quantifier(context, op, variables, body)
    })
}

/// The formula with each quantifier replaced, the innermost first: `replace` gets the quantifier, its variables, and a body
/// without quantifiers.
pub(crate) fn replace_quantifiers(
    store: &TermStore,
    formula: Term,
    mut replace: impl FnMut(Op, &[Term], Term) -> Result<Term, Stop>,
) -> Result<Term, Stop> {
    if !store.is_quantified(formula) {
        return Ok(formula);
    }
    let mut failed: Option<Stop> = None;
    let formula = store.rewrite(formula, &mut |op, args| match (op, args) {
        (Op::Forall | Op::Exists, [variables @ .., body]) if failed.is_none() => {
            replace(op, variables, *body).unwrap_or_else(|stop| {
                failed = Some(stop);
                Term::TRUE
            })
        }
        _ => store.app(op, args).expect("nothing but formulas has changed"),
    });
    failed.map_or(Ok(formula), Err)
}

/// A formula that is equivalent to one with a quantifier in front of a formula without any.
pub(crate) fn without_quantifier(
    context: &Context<'_>,
    op: Op,
    variables: &[Term],
    body: Term,
) -> Result<Term, Stop> {
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
