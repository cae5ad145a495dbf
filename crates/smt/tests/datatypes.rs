//! The theory of datatypes: models, cores and proofs, on examples and on random formulas.

use std::fmt::Write as _;

use shofar_logic::{Term, TermStore, Value};
use shofar_run::Limits;
use shofar_smt::proof::{self, Justification, Proof, Rule};
use shofar_smt::renewal::Renewal;
use shofar_smt::sat::Outcome;
use shofar_smt::script::{Commands, Script};
use shofar_smt::solver::Solver;
use shofar_testing::datatypes::Datatypes;
use shofar_testing::scale::numbers;
use shofar_testing::{Random, z3};

/// Lists, numbers, colours, pairs, and trees with forests.
const SORTS: &str = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
    (declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
    (declare-datatypes ((C 0)) (((r) (g) (b))))
    (declare-datatypes ((P 0)) (((mk (f1 C) (f2 Bool)))))
    (declare-datatypes ((T 0) (F 0)) (((leaf) (node (ch F))) ((fnil) (fcons (h T) (t F)))))
    (declare-const x L)(declare-const y L)(declare-const z L)(declare-const a Int)(declare-const c Int)
    (declare-const u T)(declare-const v F)(declare-const q P)(declare-fun f (L) Int)
    (declare-const n Nat)(declare-const m Nat)";

/// The output of a script that begins with [`SORTS`], with models, cores and proofs.
fn output(commands: &str) -> String {
    let options = ["models", "unsat-cores", "proofs", "unsat-assumptions"];
    let options: String = options.map(|it| format!("(set-option :produce-{it} true)")).concat();
    let text = format!("{options}{SORTS}{commands}");
    let store = TermStore::new();
    let mut script = Script::new(&store);
    let mut commands = Commands::new(text.as_bytes());
    let mut out = Vec::new();
    while let Some(command) = commands.next_command().expect("reading from memory") {
        script.execute(&command, &Limits::default(), &mut out).expect("writing to memory");
        if let Some(proof) = script.proof() {
            assert_eq!(proof::check(&store, &proof), Ok(()), "{text}");
        }
    }
    String::from_utf8(out).expect("answers are text")
}

/// The answer to a conjunction. All conjuncts are true in a model, and the checker accepts a proof.
fn answer(conjuncts: &[&str]) -> String {
    let asserted: String = conjuncts.iter().map(|it| format!("(assert {it})")).collect();
    let found = output(&format!("{asserted}(check-sat)"));
    if found == "sat\n" {
        let values = output(&format!("{asserted}(check-sat)(get-value ({}))", conjuncts.join(" ")));
        let lines: Vec<&str> = values.lines().skip(1).collect();
        assert!(
            lines.len() == conjuncts.len() && lines.iter().all(|line| line.contains(" true)")),
            "{values}"
        );
    }
    found.trim().to_owned()
}

fn distinct(sort: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|number| format!("e{number}")).collect();
    let declared: String = names.iter().map(|name| format!("(declare-const {name} {sort})")).collect();
    output(&format!("{declared}(assert (distinct {}))(check-sat)", names.join(" "))).trim().to_owned()
}

// ---- rules -------------------------------------------------------------------------------------------------

#[test]
fn d1_constructors_are_injective() {
    assert_eq!(answer(&["(= (cons a x) (cons c y))", "(not (= x y))"]), "unsat");
    assert_eq!(answer(&["(= z (cons a x))", "(= z (cons c y))", "(not (= a c))"]), "unsat");
    assert_eq!(answer(&["(= z (cons a x))", "(= z (cons c y))", "(not (= a 3))"]), "sat");
}

#[test]
fn d2_no_list_contains_itself() {
    assert_eq!(answer(&["(= x (cons a y))", "(= y (cons c x))"]), "unsat");
    assert_eq!(answer(&["(= x (cons a y))", "(= y (cons c z))", "(or (= z y) (= z x))"]), "unsat");
}

#[test]
fn d3_a_value_is_made_of_its_fields() {
    assert_eq!(answer(&["((_ is cons) x)", "(not (= x (cons (hd x) (tl x))))"]), "unsat");
    assert_eq!(answer(&["(not (= x (cons (hd x) (tl x))))"]), "sat");
}

#[test]
fn d4_open_selectors_are_functions() {
    assert_eq!(answer(&["(= x nil)", "(= (hd x) 5)", "(= (hd nil) 6)"]), "unsat");
}

#[test]
fn d5_a_model_has_the_values_of_open_selectors() {
    assert_eq!(answer(&["(= x nil)", "(= (hd x) 5)"]), "sat");
    let values =
        output("(assert (= x nil))(assert (= (hd x) 5))(check-sat)(get-value ((hd nil) x (tl nil)))");
    assert_eq!(values, "sat\n(((hd nil) 5)\n (x nil)\n ((tl nil) nil))\n");
}

#[test]
fn d6_an_open_selector_has_a_finite_value() {
    assert_eq!(answer(&["(= (tl nil) (cons 1 (tl nil)))"]), "unsat");
}

#[test]
fn d7_some_constructor_made_each_value() {
    assert_eq!(answer(&["(not ((_ is nil) x))", "(not ((_ is cons) x))"]), "unsat");
    assert_eq!(
        answer(&["(not ((_ is r) (f1 q)))", "(not ((_ is g) (f1 q)))", "(not (= (f1 q) b))"]),
        "unsat"
    );
}

#[test]
fn d8_d9_equal_fields_make_equal_values_of_one_constructor_only() {
    let same = ["(= (tl x) (tl y))", "(= (hd x) (hd y))", "(not (= x y))", "((_ is cons) x)"];
    assert_eq!(answer(&same), "sat");
    assert_eq!(answer(&[&same[..], &["((_ is cons) y)"]].concat()), "unsat");
}

#[test]
fn d10_selectors_of_selectors() {
    assert_eq!(answer(&["(= x (cons a (cons c z)))", "(= (hd (tl x)) (+ c 1))"]), "unsat");
}

#[test]
fn d11_d12_only_the_empty_list_may_be_its_own_tail() {
    assert_eq!(answer(&["(= x (tl x))", "((_ is cons) x)"]), "unsat");
    assert_eq!(answer(&["(= x (tl x))"]), "sat");
}

#[test]
fn d13_d16_finite_sorts_have_as_many_values_as_they_have() {
    assert_eq!((distinct("C", 3), distinct("C", 4)), ("sat".to_owned(), "unsat".to_owned()));
    assert_eq!((distinct("P", 6), distinct("P", 7)), ("sat".to_owned(), "unsat".to_owned()));
    assert_eq!((distinct("Nat", 8), distinct("F", 8)), ("sat".to_owned(), "sat".to_owned()));
}

#[test]
fn d14_mutual_recursion() {
    assert_eq!(answer(&["(= u (node v))", "(= v (fcons u fnil))"]), "unsat");
    assert_eq!(answer(&["(= u (node v))", "(= v (fcons leaf fnil))"]), "sat");
}

#[test]
fn d15_the_only_constructor_made_each_value() {
    assert_eq!(answer(&["(not (= q (mk (f1 q) (f2 q))))"]), "unsat");
}

#[test]
fn numbers_that_are_equal_by_accident_do_not_make_lists_equal() {
    assert_eq!(answer(&["(= (f (cons a nil)) 1)", "(= (f (cons c nil)) 2)"]), "sat");
    assert_eq!(
        answer(&["(= (f (cons a nil)) 1)", "(= (f (cons c nil)) 2)", "(<= a c)", "(<= c a)"]),
        "unsat"
    );
    assert_eq!(answer(&["(not (= (cons a (cons c x)) (cons c (cons a x))))"]), "sat");
}

#[test]
fn a_match_is_read_as_cases() {
    let length = "(match x ((nil 0) ((cons k l) (match l ((nil 1) ((cons k2 l2) 2))))))";
    assert_eq!(answer(&[&format!("(= {length} 2)"), "(not (= (tl (tl x)) nil))"]), "sat");
    assert_eq!(answer(&[&format!("(= {length} 1)"), "(not (= (tl x) nil))"]), "unsat");
}

// ---- commands ----------------------------------------------------------------------------------------------

#[test]
fn models_are_printed_with_constructors() {
    let model = output(
        "(assert (= x (cons 3 (cons a nil))))(assert (= a 4))(assert (= q (mk g true)))
        (assert (= (f x) 7))(assert (= n (S m)))(assert (= m Z))(check-sat)(get-value (x q (f x) n (f1 q)))",
    );
    let expected =
        "sat\n((x (cons 3 (cons 4 nil)))\n (q (mk g true))\n ((f x) 7)\n (n (S Z))\n ((f1 q) g))\n";
    assert_eq!(model, expected);
}

#[test]
fn cores_leave_out_what_does_not_matter() {
    let core = output(
        "(assert (! (= x (cons a y)) :named one))(assert (! (= y (cons c x)) :named two))
        (assert (! (= z (cons a x)) :named three))(check-sat)(get-unsat-core)",
    );
    assert_eq!(core, "unsat\n(one two)\n");
}

#[test]
fn frames_and_logics() {
    let frames = output(
        "(push 1)(assert (= x nil))(check-sat)(push 1)(assert ((_ is cons) x))(check-sat)(pop 2)
        (assert ((_ is cons) x))(check-sat)(push 1)(assert (= (tl x) x))(check-sat)(pop 1)(check-sat)",
    );
    assert_eq!(frames, "sat\nunsat\nsat\nunsat\nsat\n");
    for logic in ["QF_DT", "QF_UFDT", "QF_UFDTLIA", "ALL"] {
        let text = format!(
            "(set-logic {logic})(declare-datatype N ((zero) (succ (pred N))))(declare-const k N)
            (assert (= k (succ k)))(check-sat)"
        );
        assert_eq!(shofar_testing::scripts::execute(&text), "unsat\n", "{logic}");
    }
}

// ---- random formulas ---------------------------------------------------------------------------------------

/// Whether all formulas are true in the model of the last query.
fn assert_model(store: &TermStore, solver: &Solver<'_>, formulas: &[Term], text: &dyn Fn() -> String) {
    let model = solver.model(formulas);
    for &formula in formulas {
        let value = store.eval(formula, &model);
        assert_eq!(value, Ok(Value::Bool(true)), "{}\n{}", store.display(formula), text());
    }
}

/// The outcome for formulas as assumptions, after its model, or its proof and core, was checked.
fn decide(
    store: &TermStore,
    solver: &mut Solver<'_>,
    formulas: &[Term],
    text: &dyn Fn() -> String,
) -> Outcome {
    let outcome = solver.check(formulas, &Limits::default()).expect("supported");
    match outcome {
        Outcome::Sat => assert_model(store, solver, formulas, text),
        Outcome::Unsat => {
            let core = solver.core();
            if let Some(proof) = solver.proof() {
                assert_eq!(proof::check(store, &proof), Ok(()), "{}", text());
            }
            let mut alone = Solver::new(store);
            assert_eq!(alone.check(&core, &Limits::default()), Ok(Outcome::Unsat), "{}", text());
            solver.minimize_core(&Limits::default());
            let least = solver.core();
            assert!(least.iter().all(|formula| core.contains(formula)), "{}", text());
            assert_eq!(alone.check(&least, &Limits::default()), Ok(Outcome::Unsat), "{}", text());
        }
        Outcome::Unknown(reason) => panic!("{reason:?}\n{}", text()),
    }
    outcome
}

#[test]
fn random_formulas_have_the_answers_of_z3() {
    let mut script = String::from("(set-option :timeout 2000)\n");
    let mut found = Vec::new();
    for seed in numbers(400) {
        let mut random = Random::new(seed);
        let store = TermStore::new();
        let datatypes = Datatypes::some(&store, &mut random);
        let formulas: Vec<Term> = (0..1 + random.below(7)).map(|_| datatypes.formula(&mut random)).collect();
        let asserted: String =
            formulas.iter().map(|&formula| format!("(assert {})\n", store.display(formula))).collect();
        let text = || format!("; seed {seed}\n{}{asserted}(check-sat)\n", datatypes.declarations);
        let mut solver = Solver::with_proofs(&store);
        found.push(decide(&store, &mut solver, &formulas, &text));
        let _ = writeln!(script, "{}(reset)(set-option :timeout 2000)", text());
    }
    let sat = found.iter().filter(|outcome| **outcome == Outcome::Sat).count();
    assert!(sat * 5 > found.len() && sat * 5 < 4 * found.len(), "{sat} of {}", found.len());
    z3::compare(&script, &found);
}

#[test]
fn frames_do_not_change_answers() {
    for seed in numbers(100) {
        let mut random = Random::new(1_000_000 + seed);
        let store = TermStore::new();
        let datatypes = Datatypes::some(&store, &mut random);
        let mut solver = if random.bool() { Solver::with_proofs(&store) } else { Solver::new(&store) };
        if random.one_in(3) {
            solver.set_renewal(Renewal::Always);
        }
        let mut frames: Vec<Vec<Term>> = vec![Vec::new()];
        for _ in 0..12 {
            match random.below(4) {
                0 => {
                    solver.push();
                    frames.push(Vec::new());
                }
                1 if frames.len() > 1 => {
                    solver.pop();
                    frames.pop();
                }
                _ => {
                    let formulas: Vec<Term> =
                        (0..1 + random.below(3)).map(|_| datatypes.formula(&mut random)).collect();
                    if random.bool() {
                        solver.assert_all(&formulas).expect("supported");
                    } else {
                        formulas.iter().for_each(|&it| solver.assert(it).expect("supported"));
                    }
                    frames.last_mut().expect("there is a frame").extend(formulas);
                }
            }
            let assumed: Vec<Term> = (0..random.below(3)).map(|_| datatypes.formula(&mut random)).collect();
            let all: Vec<Term> = frames.iter().flatten().chain(&assumed).copied().collect();
            let text = || {
                let asserted = all.iter().map(|&it| format!("(assert {})\n", store.display(it)));
                format!("; seed {seed}\n{}{}", datatypes.declarations, asserted.collect::<String>())
            };
            let outcome = solver.check(&assumed, &Limits::default()).expect("supported");
            let mut alone = Solver::new(&store);
            assert_eq!(alone.check(&all, &Limits::default()), Ok(outcome), "{}", text());
            match outcome {
                Outcome::Sat => assert_model(&store, &solver, &all, &text),
                _ => {
                    if let Some(proof) = solver.proof() {
                        assert_eq!(proof::check(&store, &proof), Ok(()), "{}", text());
                    }
                }
            }
        }
    }
}

/// The proof without one edge of one of its conflicts, or with another term of a cycle or axiom.
fn changed(proof: &Proof, random: &mut Random) -> Option<Proof> {
    let is_theory = |rule: &Rule| {
        matches!(
            rule,
            Rule::Lemma(Justification::Congruence(_) | Justification::Cycle(_) | Justification::Axiom(_))
        )
    };
    let places: Vec<usize> =
        (0..proof.steps().len()).filter(|&at| is_theory(&proof.steps()[at].rule)).collect();
    if places.is_empty() {
        return None;
    }
    let mut steps = proof.steps().to_vec();
    let step = &mut steps[*random.choose(&places)];
    match &mut step.rule {
        Rule::Lemma(Justification::Cycle(cycle)) if random.bool() && cycle.cycle.len() > 1 => {
            let mut rest = cycle.cycle.to_vec();
            rest.remove(random.below(rest.len()));
            cycle.cycle = rest.into();
        }
        Rule::Lemma(Justification::Axiom(_)) => {
            let mut rest = step.clause.to_vec();
            (!rest.is_empty()).then(|| rest.remove(random.below(rest.len())))?;
            step.clause = rest.into();
        }
        Rule::Lemma(Justification::Congruence(proof::CongruenceProof { edges, .. }))
        | Rule::Lemma(Justification::Cycle(proof::CycleProof { edges, .. })) => {
            let mut rest = edges.to_vec();
            (!rest.is_empty()).then(|| rest.remove(random.below(rest.len())))?;
            *edges = rest.into();
        }
        _ => unreachable!("others were left out"),
    }
    Some(proof.clone().with_steps(steps))
}

#[test]
fn changed_proofs_are_rejected() {
    let (mut tried, mut accepted, mut cycles, mut axioms) = (0, 0, 0, 0);
    for seed in numbers(2500) {
        let mut random = Random::new(2_000_000 + seed);
        let store = TermStore::new();
        let datatypes = Datatypes::some(&store, &mut random);
        let formulas: Vec<Term> = (0..4 + random.below(5)).map(|_| datatypes.formula(&mut random)).collect();
        let mut solver = Solver::with_proofs(&store);
        solver.check(&formulas, &Limits::default()).expect("supported");
        let Some(proof) = solver.proof() else { continue };
        let uses = |kind: fn(&Justification) -> bool| {
            proof.steps().iter().any(|step| matches!(&step.rule, Rule::Lemma(it) if kind(it)))
        };
        cycles += u32::from(uses(|it| matches!(it, Justification::Cycle(_))));
        axioms += u32::from(uses(|it| matches!(it, Justification::Axiom(_))));
        for _ in 0..3 {
            let Some(other) = changed(&proof, &mut random) else { continue };
            tried += 1;
            if proof::check(&store, &other).is_ok() {
                // Another argument of a term may close a cycle without the edge.
                let mut pairs = std::iter::zip(proof.steps(), other.steps());
                let is_cycle = |rule: &Rule| matches!(rule, Rule::Lemma(Justification::Cycle(_)));
                assert!(pairs.all(|(step, other)| step == other || is_cycle(&other.rule)), "seed {seed}");
                accepted += 1;
            }
        }
    }
    assert!(tried > 200 && cycles > 10 && axioms > 10, "{tried} {cycles} {axioms}");
    assert!(accepted * 100 < tried, "{accepted} of {tried}");
}
