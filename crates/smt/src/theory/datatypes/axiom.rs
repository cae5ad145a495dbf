//! The axioms behind the lemmas on datatypes, and the check of an instance.
//!
//! An instance is about one term `x` of a datatype. It is valid if the clause covers all constructors: for each
//! constructor `c` it has `is-c(x)` or the equation `x = c(sel_1(x), .., sel_n(x))`. It is also valid if for one `c` it
//! has both `not is-c(x)` and the equation. The check is syntactic and builds no term.

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
        let holds = |clause: &[(Term, bool)], x: Term| is_exhaustive(&store, clause, &[x]).is_ok();
        let split = [(tester(0, x), true), (tester(1, x), true), (tester(2, x), true)];
        assert!(holds(&split, x));
        assert!(!holds(&split[1..], x) && !holds(&split, y));
        assert!(!holds(&[split[0], split[1], (tester(2, y), true)], x));
        assert!(!holds(&[split[0], split[1], (tester(2, x), false)], x));
        let expansion = [(tester(2, x), false), (made(2, x, x), true)];
        assert!(holds(&expansion, x));
        assert!(!holds(&[(tester(1, x), false), expansion[1]], x));
        assert!(!holds(&[expansion[0], (made(2, y, x), true)], x));
        assert!(!holds(&[expansion[0], (made(2, x, y), true)], y));
        assert!(!holds(&[expansion[0], (made(2, x, x), false)], x));
        assert!(holds(&[split[0], split[1], expansion[1]], x));
        let atoms = expansion.iter().map(|&(atom, _)| atom);
        let Justification::Axiom(axiom) = justification(&store, atoms) else { panic!("it is an axiom") };
        assert_eq!((axiom.terms[..].to_vec(), axiom.rule.name), (vec![x], "datatype-exhaustion"));
    }
}
