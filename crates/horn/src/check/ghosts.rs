//! Definitions with ghosts: universal quantifiers in front of a definition that applies folds.
//!
//! `P(x, y)` may mean `forall g. count(x, g) = count(y, g)`. No elimination removes such a quantifier, but a clause with it is
//! refuted by instances:
//!
//! - the negation of the head has new constants for its ghosts;
//! - a definition in the body has an instance for each choice of terms: the constants of the head, and the terms of the clause.
//!
//! The instances follow from the definitions, so a refutation of them refutes the clause's counterexamples. A model of the
//! instances proves nothing if the body has ghosts.

use shofar_logic::{Op, Sort, Substitution, Term, TermStore};

/// Terms of a sort for which bodies are instantiated.
const MOST_TERMS: usize = 12;

/// Instances of one definition in a body.
const MOST_INSTANCES: usize = 200;

/// The ghosts of a definition and the formula below; `None` if it has other quantifiers or none.
pub(super) fn split(store: &TermStore, definition: Term) -> Option<(&[Term], Term)> {
    match store.view(definition) {
        (Op::Forall, [ghosts @ .., body]) if !store.is_quantified(*body) => Some((ghosts, *body)),
        _ => None,
    }
}

/// The formulas of a clause without quantifiers.
pub(super) struct Instances {
    pub(super) formulas: Vec<Term>,
    /// Whether a model of the formulas is a counterexample to the clause.
    pub(super) is_exact: bool,
}

/// Instances of the definitions of a clause's body and of the denied definition of its head, for `terms` of the clause.
pub(super) fn instances(store: &TermStore, terms: &[Term], body: &[Term], head: Option<Term>) -> Instances {
    let mut formulas: Vec<Term> = Vec::new();
    let mut candidates: Vec<Term> = Vec::new();
    let deny = |formula: Term| store.app(Op::Not, &[formula]).expect("definitions are formulas");
    if let Some(head) = head {
        let (ghosts, formula) = split(store, head).unwrap_or((&[], head));
        let constant = |&ghost: &Term| (ghost, store.var(store.fresh_symbol("ghost"), store.sort_of(ghost)));
        let constants: Vec<(Term, Term)> = ghosts.iter().map(constant).collect();
        candidates.extend(constants.iter().map(|&(_, constant)| constant));
        formulas.push(deny(store.substitute(formula, &constants.into_iter().collect())));
    }
    // Variables come before other terms.
    let (variables, others): (Vec<Term>, Vec<Term>) = store
        .subterms(terms)
        .into_iter()
        .filter(|&term| !store.is_quantified(term))
        .partition(|&term| matches!(store.op(term), Op::Var(_)));
    candidates.extend(variables.into_iter().chain(others));
    let mut is_exact = true;
    for &definition in body {
        match split(store, definition) {
            None => formulas.push(definition),
            Some((ghosts, formula)) => {
                is_exact = false;
                formulas.extend(instances_of(store, ghosts, formula, &candidates));
            }
        }
    }
    Instances { formulas, is_exact }
}

/// The formula for all choices of candidates. A ghost whose sort has no candidate gets the default value of the sort.
fn instances_of(store: &TermStore, ghosts: &[Term], formula: Term, candidates: &[Term]) -> Vec<Term> {
    let of_sort = |sort: Sort| {
        let terms = candidates.iter().copied().filter(|&term| store.sort_of(term) == sort);
        let terms: Vec<Term> = terms.take(MOST_TERMS).collect();
        if terms.is_empty() { vec![store.value_to_term(&store.default_value(sort))] } else { terms }
    };
    let mut choices: Vec<Vec<(Term, Term)>> = vec![Vec::new()];
    for &ghost in ghosts {
        let terms = of_sort(store.sort_of(ghost));
        let extended = choices.iter().flat_map(|choice| {
            terms.iter().map(move |&term| choice.iter().copied().chain([(ghost, term)]).collect())
        });
        choices = extended.take(MOST_INSTANCES).collect();
    }
    let instance =
        |choice: Vec<(Term, Term)>| store.substitute(formula, &choice.into_iter().collect::<Substitution>());
    choices.into_iter().map(instance).collect()
}
