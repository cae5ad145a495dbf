//! The axioms behind the lemmas on datatypes, and the check of an instance.
//!
//! An instance is about one term `x` of a datatype.
//!
//! - `dt_split`: the clause covers all constructors. For each constructor `c` it has `is-c(x)` or the equation `x =
//!   c(sel_1(x), .., sel_n(x))`.
//! - `dt_expand`: for one `c` it has both `not is-c(x)` and the equation.
//!
//! The check is syntactic and builds no term.

use shofar_logic::{ConstructorId, Op, Term, TermStore};

use crate::proof::{Axiom, AxiomRule, Justification};

/// One of the constructors makes a value, from the values of its selectors.
const SPLIT: AxiomRule = AxiomRule { name: "dt_split", check: is_split, introduces: None };

/// A constructor that makes a value makes it from the values of its selectors.
const EXPANSION: AxiomRule = AxiomRule { name: "dt_expand", check: is_expansion, introduces: None };

/// The justification of a lemma on datatypes, by its atoms and whether they are affirmed.
pub(crate) fn justification(
    store: &TermStore,
    literals: impl Iterator<Item = (Term, bool)>,
) -> Justification {
    let (mut terms, mut rule) = (Vec::new(), SPLIT);
    for (atom, is_affirmed) in literals {
        if !is_affirmed {
            rule = EXPANSION;
        }
        if terms.is_empty() {
            terms.extend(subject(store, atom));
        }
    }
    Justification::Axiom(Axiom { rule, terms: terms.into() })
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

/// Whether the clause has the tester of a constructor, affirmed or denied.
fn has_tester(
    store: &TermStore,
    clause: &[(Term, bool)],
    x: Term,
    constructor: ConstructorId,
    affirmed: bool,
) -> bool {
    let is_tester = |atom: Term| store.view(atom) == (Op::Tester(constructor), &[x][..]);
    clause.iter().any(|&(atom, holds)| holds == affirmed && is_tester(atom))
}

/// Whether the clause says that a constructor makes `x` from the values of its selectors.
fn has_expansion(store: &TermStore, clause: &[(Term, bool)], x: Term, constructor: ConstructorId) -> bool {
    clause.iter().any(|&(atom, holds)| match store.view(atom) {
        (Op::Eq, &[left, right]) if holds => [(left, right), (right, left)]
            .iter()
            .any(|&(y, made)| y == x && expanded_by(store, x, made) == Some(constructor)),
        _ => false,
    })
}

/// The term of an instance, and the constructors of its sort.
fn instance<'s>(store: &'s TermStore, terms: &[Term]) -> Result<(Term, &'s [ConstructorId]), String> {
    let &[x] = terms else { return Err("the axiom is about one term".to_owned()) };
    match store.datatype(store.sort_of(x)).map(|datatype| datatype.constructors()) {
        Some(constructors) if !constructors.is_empty() => Ok((x, constructors)),
        _ => Err("the term is of no datatype".to_owned()),
    }
}

fn is_split(store: &TermStore, clause: &[(Term, bool)], terms: &[Term]) -> Result<(), String> {
    let (x, constructors) = instance(store, terms)?;
    let is_covered = |&constructor: &ConstructorId| {
        has_tester(store, clause, x, constructor, true) || has_expansion(store, clause, x, constructor)
    };
    match constructors.iter().all(is_covered) {
        true => Ok(()),
        false => Err("a constructor is not covered".to_owned()),
    }
}

fn is_expansion(store: &TermStore, clause: &[(Term, bool)], terms: &[Term]) -> Result<(), String> {
    let (x, constructors) = instance(store, terms)?;
    let is_implied = |&constructor: &ConstructorId| {
        has_tester(store, clause, x, constructor, false) && has_expansion(store, clause, x, constructor)
    };
    match constructors.iter().any(is_implied) {
        true => Ok(()),
        false => Err("no constructor makes the term from its fields".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_logic::{ConstructorSpec, Sort};

    #[test]
    fn an_instance_covers_all_constructors_of_its_term() {
        let store = TermStore::new();
        let sort = store.new_datatype(store.symbol("D"), &[]);
        let spec = |name: &str, fields: &[Sort]| ConstructorSpec {
            name: store.symbol(name),
            fields: fields.iter().map(|&sort| (store.symbol(&format!("of-{name}")), sort)).collect(),
        };
        let specs = vec![spec("none", &[]), spec("number", &[Sort::INT]), spec("next", &[sort])];
        let sort = store.define_datatypes(&[(sort, specs)]).expect("it is inhabited")[0];
        let constructors = store.datatype(sort).expect("it is declared").constructors();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), sort));
        let tester = |at: usize, x: Term| store.tester(constructors[at], x);
        let made = |at: usize, x: Term, y: Term| {
            let fields = store.constructor(constructors[at]).fields.len() as u32;
            let fields: Vec<Term> =
                (0..fields).map(|field| store.selector(constructors[at], field, x)).collect();
            store.eq(y, store.construct_term(constructors[at], &fields))
        };
        let splits = |clause: &[(Term, bool)], x: Term| is_split(&store, clause, &[x]).is_ok();
        let expands = |clause: &[(Term, bool)], x: Term| is_expansion(&store, clause, &[x]).is_ok();
        let split = [(tester(0, x), true), (tester(1, x), true), (tester(2, x), true)];
        assert!(splits(&split, x) && !expands(&split, x));
        assert!(!splits(&split[1..], x) && !splits(&split, y));
        assert!(!splits(&[split[0], split[1], (tester(2, y), true)], x));
        assert!(!splits(&[split[0], split[1], (tester(2, x), false)], x));
        let expansion = [(tester(2, x), false), (made(2, x, x), true)];
        assert!(expands(&expansion, x) && !splits(&expansion, x));
        assert!(!expands(&[(tester(1, x), false), expansion[1]], x));
        assert!(!expands(&[expansion[0], (made(2, y, x), true)], x));
        assert!(!expands(&[expansion[0], (made(2, x, y), true)], y));
        assert!(!expands(&[expansion[0], (made(2, x, x), false)], x));
        assert!(splits(&[split[0], split[1], expansion[1]], x));
        for (clause, rule) in [(&split[..], "dt_split"), (&expansion, "dt_expand")] {
            let Justification::Axiom(axiom) = justification(&store, clause.iter().copied()) else {
                panic!("it is an axiom")
            };
            assert_eq!((axiom.terms[..].to_vec(), axiom.rule.name), (vec![x], rule));
            assert_eq!((axiom.rule.check)(&store, clause, &axiom.terms), Ok(()));
        }
    }
}
