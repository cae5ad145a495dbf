//! The checker against witnesses that are right, and against ones that are wrong in every way.

use shofar_horn::check::{Fault, Verdict, check_model, check_refutation};
use shofar_horn::transform::Context;
use shofar_horn::witness::{Definition, Derivation, GraphModel, GraphStep, Model, Refutation};
use shofar_horn::{HornGraph, HornSystem, parse};
use shofar_logic::{Op, Sort, Term, TermStore, Value};
use shofar_smt::sat::Limits;

/// A counter to five: Figure 2.3 of Blicha's thesis.
const COUNTER: &str = "(declare-fun Inv (Int) Bool)
    (assert (forall ((x Int)) (=> (<= x 0) (Inv x))))
    (assert (! (forall ((x Int) (y Int)) (=> (and (Inv x) (< x 5) (= y (+ x 1))) (Inv y))) :named step))
    (assert (forall ((x Int)) (=> (and (Inv x) (>= x 5) (not (< x 10))) false)))";

/// Example 5.2 of Blicha's thesis.
const LOCATIONS: &str = "(declare-fun L1 (Int) Bool)(declare-fun D (Int Int) Bool)(declare-fun L2 (Int) Bool)
    (assert (forall ((x Int)) (=> (> x 0) (L1 x))))
    (assert (forall ((x Int) (y Int)) (=> (= y (+ x 1)) (D x y))))
    (assert (forall ((x Int) (y Int)) (=> (and (L1 x) (D x y)) (L2 y))))
    (assert (forall ((x Int)) (=> (and (L2 x) (<= x 2)) false)))";

fn read(store: &TermStore, text: &str) -> HornSystem {
    parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn context(store: &TermStore) -> Context<'_> {
    Context { store, limits: Limits::default() }
}

fn ints(values: &[i64]) -> Box<[Value]> {
    values.iter().map(|&value| Value::Int(value.into())).collect()
}

fn derivation(steps: &[(usize, &[usize], &[i64])]) -> Derivation {
    let step = |&(edge, premises, fact): &(usize, &[usize], &[i64])| GraphStep {
        edge: shofar_horn::graph::EdgeId::new(edge),
        premises: premises.into(),
        fact: ints(fact),
    };
    Derivation { steps: steps.iter().map(step).collect() }
}

/// The steps that Golem prints for the example.
fn locations(store: &TermStore) -> (HornSystem, Refutation) {
    let system = read(store, LOCATIONS);
    let steps: [(usize, &[usize], &[i64]); 4] =
        [(0, &[], &[1]), (1, &[], &[1, 2]), (2, &[0, 1], &[2]), (3, &[2], &[])];
    let refutation = Refutation::of_graph(&context(store), &system, derivation(&steps)).unwrap();
    (system, refutation)
}

#[test]
fn the_invariant_of_a_counter_is_a_model() {
    let store = TermStore::new();
    let system = read(&store, COUNTER);
    let graph = HornGraph::of(&store, &system);
    let (_, node) = graph.nodes().next().unwrap();
    let check = |bound: i64| {
        let formula = store.le(node.variables()[0], store.int(bound));
        let model = Model::of_graph(&store, &system, &graph, &GraphModel { formulas: vec![formula] });
        assert_eq!(store.display(model.definitions[0].parameters[0]).to_string(), "x");
        check_model(&context(&store), &system, &model)
    };
    for right in 5..=9 {
        assert_eq!(check(right), Verdict::Valid);
    }
    let Verdict::Invalid(fault @ Fault::Violated { clause: 1, .. }) = check(4) else { panic!() };
    assert_eq!(
        fault.display(&store, &system).to_string(),
        "the model violates clause 2 `step` at 3:6\n  x = 4\n  y = 5"
    );
    assert!(matches!(check(-1), Verdict::Invalid(Fault::Violated { clause: 0, .. })));
    assert!(matches!(check(10), Verdict::Invalid(Fault::Violated { clause: 2, .. })));
}

#[test]
fn a_definition_without_its_form_is_none() {
    let store = TermStore::new();
    let system = read(&store, COUNTER);
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let message = |parameters: &[Term], body| {
        let model = Model { definitions: vec![Definition { parameters: parameters.into(), body }] };
        match check_model(&context(&store), &system, &model) {
            Verdict::Invalid(fault @ Fault::Definition { .. }) => fault.display(&store, &system).to_string(),
            other => panic!("{other:?}"),
        }
    };
    let at_most = |x| store.le(x, store.int(5));
    assert!(message(&[x, y], at_most(x)).ends_with("sorts of the predicate"));
    assert!(message(&[store.int(5)], Term::TRUE).ends_with("not different variables"));
    assert!(message(&[x], x).ends_with("not a formula"));
    assert!(message(&[x], at_most(y)).ends_with("mentions y, which is not a parameter"));
    let quantified = store.app(Op::Forall, &[y, store.app(Op::Le, &[x, y]).unwrap()]).unwrap();
    assert!(message(&[x], quantified).ends_with("has quantifiers"));
    let (_, inv) = system.predicates().next().unwrap();
    let itself = store.apply(inv, &[x]).unwrap();
    assert!(message(&[x], itself).ends_with("mentions Inv, which is not a function of the clauses"));
    assert!(matches!(
        check_model(&context(&store), &system, &Model::default()),
        Verdict::Invalid(Fault::Shape(_))
    ));
}

#[test]
fn the_derivation_of_the_example_is_a_refutation() {
    let store = TermStore::new();
    let (system, refutation) = locations(&store);
    assert_eq!(check_refutation(&store, &system, &refutation), Verdict::Valid);
    assert_eq!(refutation.steps[2].instantiation, ints(&[1, 2]));
}

#[test]
fn every_mutation_of_a_refutation_is_found() {
    let store = TermStore::new();
    let (system, right) = locations(&store);
    let changed = |change: &dyn Fn(&mut Refutation)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        match check_refutation(&store, &system, &wrong) {
            Verdict::Invalid(fault) => fault.display(&store, &system).to_string(),
            other => panic!("{other:?} for {wrong:?}"),
        }
    };
    for step in 0..4 {
        for clause in [0, 1, 2, 3, 4, usize::MAX] {
            if clause != step {
                changed(&|wrong| wrong.steps[step].clause = clause);
            }
        }
        for premise in 0..right.steps[step].premises.len() {
            for other in [0, 1, 2, 3, 4, usize::MAX] {
                if other != right.steps[step].premises[premise] {
                    changed(&|wrong| wrong.steps[step].premises[premise] = other);
                }
            }
            changed(&|wrong| {
                let mut fewer = wrong.steps[step].premises.to_vec();
                fewer.remove(premise);
                wrong.steps[step].premises = fewer.into();
            });
        }
        for value in 0..right.steps[step].instantiation.len() {
            for other in [Value::Int(7.into()), Value::Bool(true), Value::Term(Term::TRUE)] {
                changed(&|wrong| wrong.steps[step].instantiation[value] = other.clone());
            }
        }
        for value in 0..right.steps[step].fact.len() {
            let variable = store.var(store.symbol("v"), Sort::INT);
            for other in [Value::Int(7.into()), Value::Real(1.into()), Value::Term(variable)] {
                changed(&|wrong| wrong.steps[step].fact[value] = other.clone());
            }
        }
        changed(&|wrong| drop(wrong.steps.remove(step)));
    }
    assert_eq!(changed(&|wrong| wrong.steps.clear()), "the refutation has no steps");
    assert_eq!(changed(&|wrong| wrong.steps.truncate(3)), "the last step does not derive false");
    assert_eq!(
        changed(&|wrong| wrong.steps[0].fact = ints(&[0])),
        "step 1: the fact is not what the head says"
    );
}

/// One element may be all that a declared sort has.
#[test]
fn elements_of_declared_sorts_need_not_differ() {
    let store = TermStore::new();
    let declarations = "(declare-sort S 0)(declare-fun P (S) Bool)(assert (forall ((a S)) (P a)))";
    let elements = |system: &HornSystem, second: u32| {
        let sort = store.sort_of(system.clauses[0].variables[0]);
        [0, second].map(|number| store.uninterpreted_value(sort, number))
    };
    for (relation, second, verdict) in [("distinct", 1, false), ("=", 0, true)] {
        let system = read(
            &store,
            &format!(
                "{declarations}(assert (forall ((a S) (b S)) (not (and (P a) (P b) ({relation} a b)))))"
            ),
        );
        let [a, b] = elements(&system, second);
        let fact = |value: &Value| shofar_horn::witness::Step {
            clause: 0,
            instantiation: [value.clone()].into(),
            premises: [].into(),
            fact: [value.clone()].into(),
        };
        let query = shofar_horn::witness::Step {
            clause: 1,
            instantiation: [a.clone(), b.clone()].into(),
            premises: [0, 1].into(),
            fact: [].into(),
        };
        let refutation = Refutation { steps: vec![fact(&a), fact(&b), query] };
        assert_eq!(check_refutation(&store, &system, &refutation) == Verdict::Valid, verdict);
    }
}

/// Addition of a thing to itself: as a tree, the derivation has 2^61 nodes.
fn doubling(store: &TermStore) -> (HornSystem, Refutation) {
    let system = read(
        store,
        "(declare-fun P (Int) Bool)(assert (P 1))
         (assert (forall ((x Int) (y Int)) (=> (and (P x) (P y)) (P (+ x y)))))
         (assert (forall ((x Int)) (=> (and (P x) (>= x 1152921504606846976)) false)))",
    );
    let mut steps: Vec<GraphStep> = derivation(&[(0, &[], &[1])]).steps;
    for level in 0..60 {
        steps.extend(derivation(&[(1, &[level, level], &[2 << level])]).steps);
    }
    steps.extend(derivation(&[(2, &[60], &[])]).steps);
    let refutation = Refutation::of_graph(&context(store), &system, Derivation { steps }).unwrap();
    (system, refutation)
}

/// A loop that counts to the given number, with a variable that only the solver knows.
fn counting(store: &TermStore, length: usize) -> (HornSystem, Refutation) {
    let system = read(
        store,
        &format!(
            "(declare-fun P (Int) Bool)(assert (P 0))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x) (= y (+ x 1)) (> z (* 2 x))) (P y))))
             (assert (forall ((x Int)) (=> (and (P x) (>= x {length})) false)))"
        ),
    );
    let mut steps: Vec<GraphStep> = derivation(&[(0, &[], &[0])]).steps;
    for number in 0..length {
        steps.extend(derivation(&[(1, &[number], &[number as i64 + 1])]).steps);
    }
    steps.extend(derivation(&[(2, &[length], &[])]).steps);
    let refutation = Refutation::of_graph(&context(store), &system, Derivation { steps }).unwrap();
    (system, refutation)
}

#[test]
fn shared_and_long_refutations_are_checked_in_seconds() {
    let start = std::time::Instant::now();
    let store = TermStore::new();
    let (system, refutation) = doubling(&store);
    assert_eq!(check_refutation(&store, &system, &refutation), Verdict::Valid);
    let (system, refutation) = counting(&store, 100_000);
    println!("built after {:?}", start.elapsed());
    assert_eq!(check_refutation(&store, &system, &refutation), Verdict::Valid);
    println!("checked after {:?}", start.elapsed());
    assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
}
