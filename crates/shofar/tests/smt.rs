//! The SMT solver by itself, as a program uses it.

use std::time::{Duration, Instant};

use shofar::smt::{Answer, Solver};
use shofar::{Sort, Term, Terms};

fn integers(terms: &Terms, count: usize) -> Vec<Term> {
    (0..count).map(|number| terms.variable(&format!("x{number}"), &Sort::Int).unwrap()).collect()
}

fn value(solver: &Solver<'_>, term: &Term) -> Option<String> {
    solver.value(term).unwrap().map(|value| value.to_string())
}

/// With a new model for each value this takes more than half a minute.
#[test]
fn all_values_come_from_one_model() {
    let terms = Terms::new();
    let chain = integers(&terms, 2000);
    let mut solver = Solver::new(&terms);
    for pair in chain.windows(2) {
        solver.assert(&pair[1].equals(pair[0].add(1).unwrap()).unwrap()).unwrap();
        solver.assert(&pair[0].lt(&pair[1]).unwrap()).unwrap();
    }
    solver.assert(&chain[0].equals(7).unwrap()).unwrap();
    assert_eq!(solver.check(), Ok(Answer::Sat));
    let start = Instant::now();
    for (number, term) in chain.iter().enumerate() {
        assert_eq!(value(&solver, term), Some((7 + number).to_string()));
    }
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn a_value_is_of_the_last_check() {
    let terms = Terms::new();
    let [x, y, z] = &integers(&terms, 3)[..] else { panic!("there are three") };
    let mut solver = Solver::new(&terms);
    solver.assert(&x.gt(y).unwrap()).unwrap();
    assert_eq!(value(&solver, x), None);
    for number in ["3", "5"] {
        let fixed = terms.parse(format!("(= x1 {number})"), &[y]).unwrap();
        assert_eq!(solver.check_assuming(&[&fixed]), Ok(Answer::Sat));
        assert_eq!(value(&solver, y).as_deref(), Some(number));
        assert_eq!(value(&solver, &x.gt(y).unwrap()).as_deref(), Some("true"));
    }
    solver.assert(&y.equals(9).unwrap()).unwrap();
    assert_eq!(value(&solver, y), None);
    assert_eq!(solver.check(), Ok(Answer::Sat));
    // A term may have symbols that the formulas do not have.
    assert_eq!(value(&solver, &y.add(z).unwrap().sub(z).unwrap()).as_deref(), Some("9"));
    assert_eq!(value(&solver, y).as_deref(), Some("9"));
    assert_eq!(value(&solver, &y.div(0).unwrap()), value(&solver, &y.div(0).unwrap()));
    let quantified = terms.parse("(forall ((a Int)) (> a x0))", &[x]).unwrap();
    assert_eq!(value(&solver, &quantified), None);
    assert_eq!(value(&solver, y).as_deref(), Some("9"));
}
