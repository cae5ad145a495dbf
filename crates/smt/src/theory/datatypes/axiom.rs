//! The axioms behind the lemmas on datatypes, and the check of an instance.
//!
//! An instance is about one term `x` of a datatype. It holds if it covers all constructors: for each constructor `c`
//! the clause has `is-c(x)`, or `x = c(sel_1(x), .., sel_n(x))`, or it has `not is-c(x)` together with this equation. The
//! check is syntactic and builds no term.

use shofar_logic::{ConstructorId, Op, Term, TermStore};

use crate::proof::{Axiom, AxiomRule, Justification};

/// One of the constructors makes a value, from the values of its selectors.
const EXHAUSTION: AxiomRule = AxiomRule { name: "datatype-exhaustion", check: is_exhaustive };

/// The justification of a lemma on datatypes, by its atoms.
pub(crate) fn justification(store: &TermStore, atoms: impl Iterator<Item = Term>) -> Justification {
    let terms: Vec<Term> = atoms.filter_map(|atom| subject(store, atom)).take(1).collect();
    Justification::Axiom(Axiom { rule: EXHAUSTION, terms: terms.into() })
}

/// The term that an atom of a lemma is about.
fn subject(store: &TermStore, atom: Term) -> Option<Term> {
    match store.view(atom) {
        (Op::Tester(_), &[x]) => Some(x),
        (Op::Eq, &[left, right]) => [(left, right), (right, left)]
            .into_iter()
            .find_map(|(x, made)| expanded_by(store, x, made).map(|_| x)),
        _ => None,
    }
}

/// The constructor `c`, if the second term is `c(sel_1(x), .., sel_n(x))` for the first one.
fn expanded_by(store: &TermStore, x: Term, made: Term) -> Option<ConstructorId> {
    let (Op::Construct(constructor), fields) = store.view(made) else { return None };
    let is_field = |(field, &term): (usize, &Term)| {
        store.view(term) == (Op::Selector { constructor, field: field as u32 }, &[x][..])
    };
    let is_expanded = store.sort_of(made) == store.sort_of(x) && fields.iter().enumerate().all(is_field);
    is_expanded.then_some(constructor)
}

fn is_exhaustive(store: &TermStore, clause: &[(Term, bool)], terms: &[Term]) -> Result<(), String> {
    let &[x] = terms else { return Err("the axiom is about one term".to_owned()) };
    let Some(datatype) = store.datatype(store.sort_of(x)) else {
        return Err("the term is of no datatype".to_owned());
    };
    let has_tester = |constructor: ConstructorId, affirmed: bool| {
        let is_tester = |atom: Term| store.view(atom) == (Op::Tester(constructor), &[x][..]);
        clause.iter().any(|&(atom, holds)| holds == affirmed && is_tester(atom))
    };
    let has_expansion = |constructor: ConstructorId| {
        clause.iter().any(|&(atom, holds)| match store.view(atom) {
            (Op::Eq, &[left, right]) if holds => [(left, right), (right, left)]
                .iter()
                .any(|&(y, made)| y == x && expanded_by(store, x, made) == Some(constructor)),
            _ => false,
        })
    };
    let constructors = datatype.constructors();
    let is_implied =
        |&constructor: &ConstructorId| has_tester(constructor, false) && has_expansion(constructor);
    let is_covered =
        |&constructor: &ConstructorId| has_tester(constructor, true) || has_expansion(constructor);
    if constructors.iter().any(is_implied) || !constructors.is_empty() && constructors.iter().all(is_covered)
    {
        return Ok(());
    }
    Err("a constructor is not covered".to_owned())
}
