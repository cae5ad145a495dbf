//! Explanations: program order, changes, and the truncation of long ones.

use shofar_horn::witness::{Definition, Explanation, Model, Refutation, Step, Trace, Witness};
use shofar_horn::{HornSystem, parse};
use shofar_logic::{Op, Sort, Term, TermStore, Value};

/// Example 5.2 of Blicha's thesis.
const LOCATIONS: &str = "(declare-fun L1 (Int) Bool)(declare-fun D (Int Int) Bool)(declare-fun L2 (Int) Bool)
    (assert (forall ((x Int)) (=> (> x 0) (L1 x))))
    (assert (forall ((x Int) (y Int)) (=> (= y (+ x 1)) (D x y))))
    (assert (forall ((x Int) (y Int)) (=> (and (L1 x) (D x y)) (L2 y))))
    (assert (forall ((y Int)) (=> (and (L2 y) (<= y 2)) false)))";

fn read(store: &TermStore, text: &str) -> HornSystem {
    parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// Steps without values of the clauses' variables.
fn refutation(steps: &[(usize, &[usize], &[i64])]) -> Refutation {
    let step = |&(clause, premises, fact): &(usize, &[usize], &[i64])| Step {
        clause,
        instantiation: [].into(),
        premises: premises.into(),
        fact: fact.iter().map(|&value| Value::Int(value.into())).collect(),
    };
    Refutation { steps: steps.iter().map(step).collect() }
}

fn explained(
    store: &TermStore,
    system: &HornSystem,
    refutation: Refutation,
    explanation: Explanation,
) -> String {
    let mut out = Vec::new();
    Witness::Refutation(refutation).explain(store, system, explanation, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn several_premises_stand_deeper_and_are_referred_to() {
    let store = TermStore::new();
    let system = read(&store, LOCATIONS);
    let steps = refutation(&[(0, &[], &[1]), (1, &[], &[1, 2]), (2, &[0, 1], &[2]), (3, &[2], &[])]);
    let expected = "The clauses contradict each other: a derivation of 4 steps leads to false.

1  | L1  x = 1  (clause 1 at 2:6)
2  | D  x = 1, y = 2  (clause 2 at 3:6)
3  L2  y = 2  ← 1, 2  (clause 3 at 4:6)
4  false  (clause 4 at 5:6)

clause 1      L1(x) ← x > 0
clause 2      D(x, y) ← y = x + 1
clause 3      L2(y) ← L1(x), D(x, y)
clause 4      false ← L2(y), y ≤ 2
";
    assert_eq!(explained(&store, &system, steps, Explanation::default()), expected);
}

/// Unused steps are omitted, steps used twice occur once, and premises come first.
#[test]
fn each_step_that_is_needed_is_there_once() {
    let store = TermStore::new();
    let text = "(declare-fun P (Int) Bool)(assert (P 1))
        (assert (forall ((x Int) (y Int)) (=> (and (P x) (P y)) (P (+ x y)))))
        (assert (forall ((x Int)) (=> (and (P x) (> x 3)) false)))";
    let system = read(&store, text);
    let steps =
        refutation(&[(0, &[], &[1]), (0, &[], &[1]), (1, &[0, 0], &[2]), (1, &[2, 2], &[4]), (2, &[3], &[])]);
    let trace = Trace::new(&store, &system, &steps);
    let lines: Vec<(usize, usize)> = trace.lines().iter().map(|line| (line.step, line.level)).collect();
    assert_eq!(lines, [(0, 2), (2, 1), (3, 0), (4, 0)]);
    assert_eq!((trace.premises(1), trace.premises(2)), (vec![0, 0], vec![1, 1]));
    let argument = &trace.arguments(2)[0];
    assert_eq!((argument.value, argument.before), (&Value::Int(4.into()), Some(&Value::Int(2.into()))));
}

/// A value is compared by name with that of another predicate, or with the previous one in the same position.
#[test]
fn changes_across_predicates() {
    let store = TermStore::new();
    let text = "(declare-fun A (Int Int) Bool)(declare-fun B (Int) Bool)
        (assert (forall ((x Int) (k Int)) (A x k)))
        (assert (forall ((x Int) (k Int)) (=> (A x k) (B x))))
        (assert (forall ((x Int) (k Int)) (=> (B x) (A x k))))
        (assert (forall ((x Int) (k Int)) (=> (A x k) false)))";
    let system = read(&store, text);
    let steps = refutation(&[(0, &[], &[1, 5]), (1, &[0], &[2]), (2, &[1], &[2, 6]), (3, &[2], &[])]);
    let told = explained(&store, &system, steps, Explanation::default());
    assert!(told.contains("1  A  x = 1, k = 5"), "{told}");
    assert!(told.contains("2  B  x: 1 → 2"), "{told}");
    assert!(told.contains("3  A  x = 2, k: 5 → 6"), "{told}");
}

/// If the clause tells which variable becomes which, reused names are ignored.
#[test]
fn what_a_clause_passes_on_is_no_change() {
    let store = TermStore::new();
    let text = "(declare-fun P (Int Int Int) Bool)(declare-fun Q (Int Int Int) Bool)
        (assert (forall ((A Int) (B Int) (C Int)) (P A B C)))
        (assert (forall ((A Int) (B Int) (C Int) (D Int)) (=> (P C A D) (Q A B C))))
        (assert (forall ((A Int) (B Int) (C Int)) (=> (Q A B C) false)))";
    let system = read(&store, text);
    let steps = refutation(&[(0, &[], &[3, 1, 4]), (1, &[0], &[1, 7, 3]), (2, &[1], &[])]);
    let told = explained(&store, &system, steps, Explanation::default());
    assert!(told.contains("1  P  A = 3, B = 1, C = 4  ("), "{told}");
    assert!(told.contains("2  Q  A = 1, B = 7, C = 3  ("), "{told}");
}

#[test]
fn large_models_are_cut() {
    let store = TermStore::new();
    let sorts = "Int ".repeat(40);
    let declarations: String =
        (0..300).map(|number| format!("(declare-fun P{number} ({sorts}) Bool)")).collect();
    let system = read(&store, &declarations);
    let parameters: Box<[Term]> =
        (0..40).map(|number| store.var(store.symbol(&format!("v{number}")), Sort::INT)).collect();
    let body = store.app(Op::Le, &[parameters[7], parameters[31]]).unwrap();
    let definition = Definition { parameters, interpretation: body.into() };
    let model = Witness::Model(Model { definitions: vec![definition; 300], ..Model::default() });
    let told = |explanation: Explanation| {
        let mut out = Vec::new();
        model.explain(&store, &system, explanation, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let short = told(Explanation::default());
    assert!(short.contains("P17(v7, v31: Int, and 38 others)\n    v7 ≤ v31"), "{short}");
    assert!(short.contains("\n... 100 predicates are left out\n") && !short.contains("P200"), "{short}");
    let hinted = told(Explanation { full_hint: Some("press space"), ..Explanation::default() });
    assert!(hinted.contains("\n... 100 predicates are left out; press space\n"), "{hinted}");
    let full = told(Explanation { full: true, ..Explanation::default() });
    assert!(full.contains("P299(v0, v1, ") && full.lines().all(|line| line.chars().count() <= 100), "{full}");
}

#[test]
fn many_values_that_stay_are_not_repeated() {
    let store = TermStore::new();
    let arity = 12;
    let sorts = "Int ".repeat(arity);
    let variables: Vec<String> = (0..arity).map(|number| format!("v{number}")).collect();
    let bound: String = variables.iter().map(|name| format!("({name} Int)")).collect();
    let atom = format!("(P {})", variables.join(" "));
    let text = format!(
        "(declare-fun P ({sorts}) Bool)(assert (forall ({bound}) {atom}))
         (assert (forall ({bound}) (=> {atom} {atom})))(assert (forall ({bound}) (=> {atom} false)))"
    );
    let system = read(&store, &text);
    let first: Vec<i64> = vec![3; arity];
    let mut second = first.clone();
    second[4] = 8;
    let steps = refutation(&[(0, &[], &first), (1, &[0], &second), (2, &[1], &[])]);
    let told = explained(&store, &system, steps.clone(), Explanation::default());
    assert!(told.contains("2  P  v4: 3 → 8, and 11 as before  (clause 2"), "{told}");
    let told = explained(&store, &system, steps, Explanation { full: true, ..Explanation::default() });
    assert!(
        told.lines().all(|line| line.chars().count() <= 100) && told.matches("v11 = 3").count() == 2,
        "{told}"
    );
}

#[test]
fn a_million_steps_are_a_page() {
    let store = TermStore::new();
    let text = "(declare-fun P (Int) Bool)(assert (P 0))
        (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (and (P x) (> x 9)) false)))";
    let system = read(&store, text);
    let count = 1_000_000;
    let step = |number: usize| Step {
        clause: if number == 0 { 0 } else { 1 },
        instantiation: [].into(),
        premises: number.checked_sub(1).into_iter().collect(),
        fact: [Value::Int((number as i64).into())].into(),
    };
    let mut steps: Vec<Step> = (0..count).map(step).collect();
    steps.push(Step { clause: 2, instantiation: [].into(), premises: [count - 1].into(), fact: [].into() });
    let told = explained(&store, &system, Refutation { steps }, Explanation::default());
    assert_eq!(told.lines().count(), 2 + 25 + 1 + 15 + 4);
    assert!(
        told.contains("999961 steps are left out") && told.contains(" 999999  P  x: 999997 → 999998"),
        "{told}"
    );
}
