//! Compiled formulas keep their meaning: every assignment extends to the fresh symbols such that the definitions hold
//! and the formula keeps its value.

use proptest::prelude::*;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Assignment, Op, Sort, Term, TermStore, Value};
use shofar_smt::purify::{Feature, Purifier};

/// Makes a term of the sort from a stream of choices; the stream decides the shape, its end gives leaves.
fn term(store: &TermStore, sort: Sort, choices: &mut dyn Iterator<Item = u8>, depth: usize) -> Term {
    let choice = if depth == 0 { 0 } else { choices.next().unwrap_or(0) };
    let number = choices.next().unwrap_or(1);
    let mut sub = |sort: Sort| term(store, sort, choices, depth.saturating_sub(1));
    let app = |op: Op, args: &[Term]| store.app(op, args).unwrap();
    let small = i64::from(number % 9) - 4;
    match sort {
        Sort::BOOL => match choice % 8 {
            0 => store.var(store.symbol(["p", "q"][usize::from(number % 2)]), sort),
            1 => app(Op::Not, &[sub(sort)]),
            2 => app(Op::And, &[sub(sort), sub(sort)]),
            3 => app(Op::Ite, &[sub(sort), sub(sort), sub(sort)]),
            4 => app(Op::Le, &[sub(Sort::INT), sub(Sort::INT)]),
            5 => app(Op::Lt, &[sub(Sort::REAL), sub(Sort::REAL)]),
            6 => app(Op::Eq, &[sub(Sort::INT), sub(Sort::INT)]),
            _ => app(Op::Distinct, &[sub(Sort::REAL), sub(Sort::REAL), sub(Sort::REAL)]),
        },
        Sort::INT => match choice % 9 {
            0 if number < 128 => store.var(store.symbol(["x", "y"][usize::from(number % 2)]), sort),
            0 => store.int(small),
            1 => app(Op::Add, &[sub(sort), sub(sort)]),
            2 => app(Op::Mul, &[store.int(small), sub(sort)]),
            3 => app(Op::Ite, &[sub(Sort::BOOL), sub(sort), sub(sort)]),
            4 => app(Op::IntDiv, &[sub(sort), store.int(small)]),
            5 => app(Op::Mod, &[sub(sort), store.int(small)]),
            6 => app(Op::ToInt, &[sub(Sort::REAL)]),
            7 => app(Op::Abs, &[sub(sort)]),
            _ => app(Op::Sub, &[sub(sort), sub(sort)]),
        },
        _ => match choice % 6 {
            0 if number < 128 => store.var(store.symbol(["r", "s"][usize::from(number % 2)]), sort),
            0 => store.real(Rational::new(small.into(), Integer::from(i64::from(number % 3) + 1))),
            1 => app(Op::Add, &[sub(sort), sub(sort)]),
            2 => app(Op::Ite, &[sub(Sort::BOOL), sub(sort), sub(sort)]),
            3 => app(Op::ToReal, &[sub(Sort::INT)]),
            4 => app(Op::RealDiv, &[sub(sort), store.real(small)]),
            _ => app(Op::Neg, &[sub(sort)]),
        },
    }
}

/// Values of the variables, and division by zero as some function.
fn assignment(store: &TermStore, numbers: [i64; 4]) -> Assignment {
    let mut assignment = Assignment::new();
    let mut set =
        |name: &str, sort: Sort, value: Value| assignment.set(store.var(store.symbol(name), sort), value);
    let [x, y, r, s] = numbers;
    set("x", Sort::INT, Value::Int(x.into()));
    set("y", Sort::INT, Value::Int(y.into()));
    set("r", Sort::REAL, Value::Real(Rational::new(r.into(), 2.into())));
    set("s", Sort::REAL, Value::Real(Rational::new(s.into(), 3.into())));
    set("p", Sort::BOOL, Value::Bool(x > y));
    set("q", Sort::BOOL, Value::Bool(r > 0));
    assignment
}

/// Evaluates with division by zero as one more than the dividend, twice that for `mod`: the cases that evaluation asks for
/// are given one after the other.
fn eval_with_open_cases(store: &TermStore, term: Term, assignment: &mut Assignment) -> Value {
    loop {
        let error = match store.eval(term, assignment) {
            Ok(value) => return value,
            Err(error) => error,
        };
        let (op, args) = store.view(error.term());
        let dividend = store.eval(args[0], assignment).unwrap();
        let (zero, value) = match &dividend {
            Value::Int(value) => {
                let more = value + &Integer::ONE;
                let value = if op == Op::Mod { &more + &more } else { more };
                (Value::Int(Integer::ZERO), Value::Int(value))
            }
            Value::Real(value) => (Value::Real(Rational::ZERO), Value::Real(value + &Rational::ONE)),
            other => panic!("{other:?} is divided"),
        };
        assignment.set_open_case(op, &[dividend.clone(), zero], value);
    }
}

fn is_division(op: Op) -> bool {
    matches!(op, Op::IntDiv | Op::Mod | Op::RealDiv)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn meaning_is_kept(
        choices in prop::collection::vec(any::<u8>(), 1..60),
        numbers in prop::array::uniform4(-9i64..10),
    ) {
        let store = TermStore::new();
        let formula = term(&store, Sort::BOOL, &mut choices.into_iter(), 6);
        let formula = store.normalize(formula);
        let mut purifier = Purifier::new(&store);
        let purified = purifier.purify(formula).unwrap();

        let mut assignment = assignment(&store, numbers);
        let expected = eval_with_open_cases(&store, formula, &mut assignment);
        for &(symbol, origin) in purifier.origins() {
            let value = eval_with_open_cases(&store, origin, &mut assignment);
            assignment.set(symbol, value);
        }
        for &definition in &purified.definitions {
            let value = eval_with_open_cases(&store, definition, &mut assignment);
            prop_assert_eq!(value, Value::Bool(true), "{}", store.display(definition));
        }
        prop_assert_eq!(eval_with_open_cases(&store, purified.formula, &mut assignment), expected);

        // Nothing that was to be compiled away is left: of divisions those by zero, of what congruence knows by itself.
        for term in store.subterms(&[&purified.definitions[..], &[purified.formula]].concat()) {
            let is_plain = |term: Term| match store.view(term) {
                (Op::ToReal, &[inner]) => store.args(inner).is_empty() || is_division(store.op(inner)),
                (op, args) => args.is_empty() || is_division(op),
            };
            let gone = matches!(store.op(term), Op::ToInt | Op::Distinct)
                || is_division(store.op(term))
                    && !(is_plain(store.args(term)[0]) && store.numeral(store.args(term)[1]).is_some_and(Rational::is_zero))
                || (store.op(term) == Op::Ite && store.sort_of(term) != Sort::BOOL);
            prop_assert!(!gone, "{}", store.display(term));
        }
        // A second time everything is known.
        let again = purifier.purify(formula).unwrap();
        prop_assert_eq!((again.formula, again.definitions.len()), (purified.formula, 0));
    }
}

#[test]
fn other_values_of_a_fresh_symbol_violate_its_definition() {
    let store = TermStore::new();
    let x = store.var(store.symbol("x"), Sort::INT);
    let formula = store.eq(store.int_div(x, store.int(3)), store.int(2));
    let mut purifier = Purifier::new(&store);
    let purified = purifier.purify(formula).unwrap();
    let &[(quotient, _)] = purifier.origins() else { panic!("one symbol is made") };
    for value in -20..20 {
        let pairs = [(x, Value::Int(7.into())), (quotient, Value::Int(value.into()))];
        let assignment = Assignment::from_iter(pairs);
        let holds = store.eval(store.and(&purified.definitions), &assignment);
        assert_eq!(holds, Ok(Value::Bool(value == 2)));
    }
}

#[test]
fn equal_terms_share_a_symbol() {
    let store = TermStore::new();
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let rest = |t| store.modulo(t, store.int(5));
    let formula = store.and2(store.le(rest(x), y), store.le(store.int_div(x, store.int(5)), rest(y)));
    let mut purifier = Purifier::new(&store);
    let purified = purifier.purify(formula).unwrap();
    assert_eq!(purifier.origins().len(), 2);
    assert_eq!(purified.definitions.len(), 4);
}

#[test]
fn what_has_no_solver_is_named() {
    let store = TermStore::new();
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let set = store.var(store.symbol("s"), store.array_sort(Sort::BOOL, Sort::BOOL));
    let array = store.var(store.symbol("a"), store.array_sort(store.sort_of(set), Sort::INT));
    let vector = store.var(store.symbol("v"), store.bitvec_sort(8));
    let zero = store.int(0);
    for (formula, feature) in [
        (store.le(store.mul(&[x, y]), zero), Feature::NonlinearArithmetic),
        (store.le(store.int_div(x, y), zero), Feature::NonlinearArithmetic),
        (store.le(store.select(array, set), zero), Feature::Arrays),
        (store.eq(vector, store.bv_add(&[vector, vector])), Feature::BitVectors),
        (store.forall(&[x], store.le(x, y)), Feature::Quantifiers),
    ] {
        let error = Purifier::new(&store).purify(formula).unwrap_err();
        assert_eq!(error.feature, feature, "{}", store.display(formula));
    }
}

#[test]
fn a_million_levels() {
    let store = TermStore::new();
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let p = store.var(store.symbol("p"), Sort::BOOL);
    let mut term = x;
    for _ in 0..300_000 {
        let condition = store.and2(p, store.le(term, y));
        term = store.ite(condition, y, store.add(&[term, store.int(1)]));
    }
    let purified = Purifier::new(&store).purify(store.le(term, y)).unwrap();
    assert!(purified.definitions.len() >= 300_000);
}
