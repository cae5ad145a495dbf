//! Clauses of formulas, against the value of the formula under all assignments.

use std::collections::BTreeSet;

use proptest::prelude::*;
use shofar_logic::{Assignment, Op, Sort, Term, TermStore, Value};
use shofar_smt::cnf::{Clauses, Cnf};
use shofar_smt::sat::{Lit, Var};

/// Keeps clauses to be looked at.
#[derive(Default)]
struct Kept {
    variables: usize,
    definitions: Vec<Vec<Lit>>,
    assertions: Vec<Vec<Lit>>,
    required: BTreeSet<Var>,
}

impl Clauses for Kept {
    fn new_var(&mut self) -> Var {
        self.variables += 1;
        Var::from_index(self.variables - 1)
    }

    fn define(&mut self, clause: &[Lit]) {
        self.definitions.push(clause.to_vec());
    }

    fn assert(&mut self, clause: &[Lit]) {
        self.assertions.push(clause.to_vec());
    }

    fn require(&mut self, var: Var) -> bool {
        self.required.insert(var)
    }
}

fn hold(clauses: &[Vec<Lit>], values: &[bool]) -> bool {
    clauses.iter().all(|clause| clause.iter().any(|lit| values[lit.var().index()] == lit.is_positive()))
}

const ATOMS: usize = 5;

fn formula(store: &TermStore, choices: &mut dyn Iterator<Item = u8>, depth: usize) -> Term {
    let choice = choices.next().unwrap_or(0);
    let mut sub = || formula(store, choices, depth - 1);
    match if depth == 0 { 0 } else { choice % 7 } {
        0 => store.var(store.symbol(&format!("p{}", usize::from(choice / 7) % ATOMS)), Sort::BOOL),
        1 => store.not(sub()),
        2 => store.and(&[sub(), sub(), sub()]),
        3 => store.or(&[sub(), sub(), sub()]),
        4 => store.iff(sub(), sub()),
        5 => store.ite(sub(), sub(), sub()),
        _ => store.bool(choice.is_multiple_of(2)),
    }
}

proptest! {
    #[test]
    fn gates_are_functions_of_the_atoms(choices in prop::collection::vec(any::<u8>(), 1..50)) {
        let store = TermStore::new();
        let mut choices = choices.into_iter();
        let formulas = [formula(&store, &mut choices, 4), formula(&store, &mut choices, 3)];
        let mut cnf = Cnf::new(&store);
        let mut kept = Kept::default();
        for &formula in &formulas {
            cnf.assert(formula, &mut kept);
        }
        let literals = formulas.map(|formula| cnf.literal(formula, &mut kept));
        let terms = store.subterms(&formulas);
        for bits in 0..1u32 << ATOMS {
            let atoms = (0..ATOMS).map(|i| {
                let atom = store.var(store.symbol(&format!("p{i}")), Sort::BOOL);
                (atom, Value::Bool(bits >> i & 1 == 1))
            });
            let assignment: Assignment = atoms.collect();
            let truth = |term: Term| store.eval(term, &assignment) == Ok(Value::Bool(true));
            let mut values = vec![false; kept.variables];
            let mut gates = Vec::new();
            for &term in &terms {
                if let Some(literal) = cnf.known(term).filter(|_| store.op(term) != Op::Not) {
                    values[literal.var().index()] = truth(term);
                    if !matches!(store.op(term), Op::Var(_)) {
                        gates.push(literal.var().index());
                    }
                }
            }
            prop_assert!(hold(&kept.definitions, &values));
            prop_assert_eq!(hold(&kept.assertions, &values), formulas.iter().all(|&formula| truth(formula)));
            for (literal, formula) in literals.iter().zip(formulas) {
                prop_assert_eq!(values[literal.var().index()] == literal.is_positive(), truth(formula));
            }
            for gate in gates {
                values[gate] = !values[gate];
                prop_assert!(!hold(&kept.definitions, &values));
                values[gate] = !values[gate];
            }
        }
    }
}

#[test]
fn atoms_are_handed_out_once() {
    let store = TermStore::new();
    let x = store.var(store.symbol("x"), Sort::INT);
    let p = store.var(store.symbol("p"), Sort::BOOL);
    let atom = store.le(x, store.int(3));
    let mut cnf = Cnf::new(&store);
    let mut kept = Kept::default();
    cnf.assert(store.or2(store.not(atom), p), &mut kept);
    let atoms: Vec<_> = std::iter::from_fn(|| cnf.next_atom()).collect();
    assert_eq!(atoms.len(), 2);
    assert_eq!(kept.assertions.len(), 1);
    assert!(kept.definitions.is_empty());
    cnf.assert(atom, &mut kept);
    assert_eq!(cnf.next_atom(), None);
    let (_, variable) = atoms.into_iter().find(|(term, _)| *term == atom).unwrap();
    assert_eq!(kept.assertions[1], [variable.positive()]);
}

#[test]
fn all_that_a_formula_consists_of_is_required_also_when_it_is_known() {
    let store = TermStore::new();
    let [p, q, r, s] = ["p", "q", "r", "s"].map(|name| store.var(store.symbol(name), Sort::BOOL));
    let inner = store.iff(p, q);
    let formula = store.not(store.ite(inner, store.and2(r, s), store.not(r)));
    let mut cnf = Cnf::new(&store);
    let mut kept = Kept::default();
    let expected = |cnf: &Cnf<'_>| -> BTreeSet<Var> {
        let subterms = store.subterms(&[formula]);
        subterms.iter().map(|&term| cnf.known(term).expect("it was translated").var()).collect()
    };
    cnf.literal(formula, &mut kept);
    assert_eq!(kept.required, expected(&cnf));
    kept.required.clear();
    cnf.literal(formula, &mut kept);
    assert_eq!(kept.required, expected(&cnf));
    // A formula that is required is not walked again.
    kept.required = BTreeSet::from([cnf.known(inner).expect("it was translated").var()]);
    cnf.literal(formula, &mut kept);
    assert!(!kept.required.contains(&cnf.known(p).expect("it was translated").var()));
}

#[test]
fn false_is_the_empty_clause() {
    let store = TermStore::new();
    let mut kept = Kept::default();
    let mut cnf = Cnf::new(&store);
    cnf.assert(Term::TRUE, &mut kept);
    assert!(kept.assertions.is_empty());
    cnf.assert(Term::FALSE, &mut kept);
    assert_eq!(kept.assertions, [[]]);
}

#[test]
fn a_million_connectives() {
    let store = TermStore::new();
    let variables: Vec<Term> =
        (0..100).map(|i| store.var(store.symbol(&format!("p{i}")), Sort::BOOL)).collect();
    let mut term = variables[0];
    for i in 0..1_000_000 {
        let next = variables[i % 100];
        term =
            if i % 2 == 0 { store.iff(term, next) } else { store.ite(next, term, variables[(i + 1) % 100]) };
    }
    let mut kept = Kept::default();
    Cnf::new(&store).assert(term, &mut kept);
    assert!(kept.definitions.len() > 1_000_000);
}
