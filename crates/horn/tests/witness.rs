//! Witnesses: the checker on valid ones and on ones with every kind of fault, and all formats.

#[path = "common/refutations.rs"]
mod refutations;

use std::time::{Duration, Instant};

use refutations::{context, counting, derivation, doubling, ints, locations, read};
use shofar_horn::check::{Fault, Trust, Validity, check_model, check_refutation, checked};
use shofar_horn::witness::{
    Definition, Derivation, GraphModel, Model, Refutation, Step, Witness, WitnessFormat, read as read_witness,
};
use shofar_horn::{Context, HornGraph, HornSystem, parse_in};
use shofar_logic::smtlib::Environment;
use shofar_logic::{Op, Sort, Term, TermStore, Value};
use shofar_run::{Limits, Stop};
use shofar_testing::{Random, z3};

/// A counter to five: Figure 2.3 of Blicha's thesis.
const COUNTER: &str = "(declare-fun Inv (Int) Bool)
    (assert (forall ((x Int)) (=> (<= x 0) (Inv x))))
    (assert (! (forall ((x Int) (y Int)) (=> (and (Inv x) (< x 5) (= y (+ x 1))) (Inv y))) :named step))
    (assert (forall ((x Int)) (=> (and (Inv x) (>= x 5) (not (< x 10))) false)))";

#[test]
fn the_invariant_of_a_counter_is_a_model() {
    let store = TermStore::new();
    let system = read(&store, COUNTER);
    let graph = HornGraph::of(&store, &system);
    let (_, node) = graph.nodes().next().unwrap();
    let check = |bound: i64| {
        let formula = store.le(node.variables()[0], store.int(bound));
        let model = Model::of_graph(&store, &system, &graph, &GraphModel::of_formulas([formula]));
        assert_eq!(store.display(model.definitions[0].parameters[0]).to_string(), "x");
        check_model(&context(&store), &system, &model, Trust::Proofs)
    };
    for right in 5..=9 {
        assert_eq!(check(right), Validity::Valid);
    }
    let Validity::Invalid(fault @ Fault::Violated { clause: 1, .. }) = check(4) else { panic!() };
    assert_eq!(
        fault.display(&store, &system).to_string(),
        "the model violates clause 2 `step` at 3:6\n  x = 4\n  y = 5"
    );
    assert!(matches!(check(-1), Validity::Invalid(Fault::Violated { clause: 0, .. })));
    assert!(matches!(check(10), Validity::Invalid(Fault::Violated { clause: 2, .. })));
}

#[test]
fn a_definition_without_its_form_is_none() {
    let store = TermStore::new();
    let system = read(&store, COUNTER);
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let judge = |parameters: &[Term], body: Term| {
        let model = Model {
            definitions: vec![Definition { parameters: parameters.into(), interpretation: body.into() }],
            ..Model::default()
        };
        check_model(&context(&store), &system, &model, Trust::Proofs)
    };
    let message = |parameters: &[Term], body: Term| match judge(parameters, body) {
        Validity::Invalid(fault @ Fault::Definition { .. }) => fault.display(&store, &system).to_string(),
        other => panic!("{other:?}"),
    };
    let at_most = |x| store.le(x, store.int(5));
    assert!(message(&[x, y], at_most(x)).ends_with("sorts of the predicate"));
    assert!(message(&[store.int(5)], Term::TRUE).ends_with("not different variables"));
    assert!(message(&[x], x).ends_with("not a formula"));
    assert!(message(&[x], at_most(y)).ends_with("mentions y, which is not a parameter"));
    let quantified = store.app(Op::Forall, &[y, store.app(Op::Le, &[x, y]).unwrap()]).unwrap();
    // It may be a model, but the checker does not decide that.
    assert!(matches!(judge(&[x], quantified), Validity::Unknown(Stop::Unsupported(_))));
    let (_, inv) = system.predicates().next().unwrap();
    let itself = store.apply(inv, &[x]).unwrap();
    assert!(message(&[x], itself).ends_with("mentions Inv, which is not a function of the clauses"));
    assert!(matches!(
        check_model(&context(&store), &system, &Model::default(), Trust::Proofs),
        Validity::Invalid(Fault::Shape(_))
    ));
}

#[test]
fn the_derivation_of_the_example_is_a_refutation() {
    let store = TermStore::new();
    let (system, refutation) = locations(&store);
    assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
    assert_eq!(refutation.steps[2].instantiation, ints(&[1, 2]));
}

#[test]
fn every_mutation_of_a_refutation_is_found() {
    let store = TermStore::new();
    let (system, right) = locations(&store);
    let changed = |change: &dyn Fn(&mut Refutation)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        match check_refutation(&context(&store), &system, &wrong) {
            Validity::Invalid(fault) => fault.display(&store, &system).to_string(),
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

/// A declared sort may have only one element.
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
        let fact = |value: &Value| Step {
            clause: 0,
            instantiation: [value.clone()].into(),
            premises: [].into(),
            fact: [value.clone()].into(),
        };
        let query = Step {
            clause: 1,
            instantiation: [a.clone(), b.clone()].into(),
            premises: [0, 1].into(),
            fact: [].into(),
        };
        let refutation = Refutation { steps: vec![fact(&a), fact(&b), query] };
        assert_eq!(check_refutation(&context(&store), &system, &refutation) == Validity::Valid, verdict);
    }
}

/// The constraint of a step over declared sorts is the one whose quantifiers were eliminated.
#[test]
fn clauses_with_quantifiers_are_checked_beside_declared_sorts() {
    let store = TermStore::new();
    let system = read(
        &store,
        "(declare-sort S 0)(declare-fun P (S Int) Bool)
         (assert (forall ((a S)) (P a 3)))
         (assert (forall ((a S) (x Int)) (=> (P a x) (exists ((y Int)) (= x (* 2 y))))))",
    );
    let sort = store.sort_of(system.clauses[0].variables[0]);
    let element = store.uninterpreted_value(sort, 0);
    let three = Value::Int(3.into());
    let pair: Box<[Value]> = [element.clone(), three].into();
    let fact = Step { clause: 0, instantiation: [element].into(), premises: [].into(), fact: pair.clone() };
    let query = Step { clause: 1, instantiation: pair, premises: [0].into(), fact: [].into() };
    let refutation = Refutation { steps: vec![fact, query] };
    assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
}

#[test]
fn shared_and_long_refutations_are_checked_in_seconds() {
    let start = Instant::now();
    let store = TermStore::new();
    let (system, refutation) = doubling(&store);
    assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
    let (system, refutation) = counting(&store, 100_000);
    println!("built after {:?}", start.elapsed());
    assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
    println!("checked after {:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

// ---- formats ---------------------------------------------------------------------------------------------

/// Reads a witness of clauses, both as text.
fn reread(store: &TermStore, clauses: &str, text: &str) -> Result<(HornSystem, Witness), String> {
    let mut environment = Environment::new(store);
    let system = parse_in(store, &mut environment, "clauses", clauses.as_bytes()).unwrap();
    let witness = read_witness(store, &mut environment, &system, "witness", text.as_bytes());
    witness.map(|witness| (system, witness)).map_err(|error| error.to_string())
}

/// The verdict of `shofar check`.
fn verdict(clauses: &str, text: &str) -> Result<String, String> {
    let store = TermStore::new();
    let (system, witness) = reread(&store, clauses, text)?;
    let verdict = checked(&context(&store), &system, witness).err().unwrap_or(Validity::Valid);
    Ok(match verdict {
        Validity::Valid => "valid".to_owned(),
        Validity::Invalid(fault) => fault.display(&store, &system).to_string(),
        Validity::Unknown(stop) => stop.to_string(),
    })
}

/// A predicate that never holds violates its fact, and one that always holds violates its query. A clause from a false or
/// to a true predicate holds whatever its constraint is.
#[test]
fn predicates_that_always_or_never_hold() {
    let clauses = "(declare-fun P (Int) Bool)(declare-fun Q (Int) Bool)
        (assert (P 0))
        (assert (forall ((x Int)) (=> (and (P x) (< (* x x) 0)) (Q x))))
        (assert (forall ((x Int)) (=> (Q x) false)))";
    let model =
        |p: &str, q: &str| format!("(define-fun P ((x Int)) Bool {p})(define-fun Q ((x Int)) Bool {q})");
    let judged = |p, q| verdict(clauses, &model(p, q)).unwrap();
    assert!(judged("false", "false").starts_with("the model violates clause 1 "));
    assert!(judged("true", "true").starts_with("the model violates clause 3 "));
    assert!(judged("true", "false").contains("not supported"), "{}", judged("true", "false"));
    let without_fact = clauses.replace("(assert (P 0))", "");
    assert_eq!(verdict(&without_fact, &model("false", "false")).unwrap(), "valid");
}

#[test]
fn the_formats_of_a_refutation() {
    let store = TermStore::new();
    let (system, refutation) = locations(&store);
    let witness = Witness::Refutation(refutation);
    let show = |format| witness.to_text(&store, &system, format);
    assert_eq!(
        show(WitnessFormat::Text),
        "(step 1 (L1 1) :clause 1 :instance ((x 1)))\n\
         (step 2 (D 1 2) :clause 2 :instance ((x 1) (y 2)))\n\
         (step 3 (L2 2) :clause 3 :premises (1 2) :instance ((x 1) (y 2)))\n\
         (step 4 false :clause 4 :premises (3) :instance ((x 2)))\n"
    );
    assert_eq!(
        show(WitnessFormat::Tree),
        "4. false  <- 3  (clause 4 at 5:6)\n\
         3. (L2 2)  <- 1, 2  (clause 3 at 4:6)\n\
         | 1. (L1 1)  (clause 1 at 2:6)\n\
         | 2. (D 1 2)  (clause 2 at 3:6)\n"
    );
    let json = show(WitnessFormat::Json);
    let third = json.lines().nth(3).unwrap();
    assert_eq!(
        third,
        r#"  {"step":3,"predicate":"L2","arguments":["2"],"clause":3,"premises":[1,2],"instance":{"x":"1","y":"2"}},"#
    );
    let alethe = show(WitnessFormat::Alethe);
    for line in [
        "(define-fun part.3.3 ((x Int) (y Int)) Bool (and (L1 x) (D x y)))",
        "(assume a3 (! (forall ((x Int) (y Int)) (part.3.4 x y)) :named @a3))",
        "(step t3.i (cl (or (not @a3) (part.3.4 1 2))) :rule forall_inst :args (1 2))",
        "(step t3 (cl (L2 2)) :rule resolution :premises (t3.4 t3.o a3 t3.3 t1 t2))",
    ] {
        assert!(alethe.lines().any(|found| found == line), "{line} is not in\n{alethe}");
    }
}

/// A step that is used twice has a name; the head of the query is `query!0`.
#[test]
fn hyper_resolution_is_written_as_by_z3() {
    let store = TermStore::new();
    let system = read(
        &store,
        "(declare-fun |P p| (Int) Bool) (declare-fun Q () Bool) (assert (|P p| (- 1)))
         (assert (forall ((x Int)) (=> (|P p| x) Q)))
         (assert (forall ((x Int)) (=> (and Q (|P p| x) (|P p| x)) false)))",
    );
    let value = || Value::Int((-1).into());
    let step = |clause, values: &[Value], premises: &[usize], fact: &[Value]| Step {
        clause,
        instantiation: values.into(),
        premises: premises.into(),
        fact: fact.into(),
    };
    let refutation = Refutation {
        steps: vec![
            step(0, &[], &[], &[value()]),
            step(1, &[value()], &[0], &[]),
            step(2, &[value()], &[1, 0, 0], &[]),
        ],
    };
    assert_eq!(
        Witness::Refutation(refutation).to_text(&store, &system, WitnessFormat::Hyper),
        "((set-logic HORN)\n(declare-fun query!0 () Bool)\n(proof\n\
         (let ((@x1 ((_ hyper-res 0 0) (asserted clause!1) (|P p| (- 1)))))\n\
         (mp ((_ hyper-res 0 0 0 1 0 2 0 3) (asserted clause!3) ((_ hyper-res 0 0 0 1) (asserted clause!2) @x1 Q) \
         @x1 @x1 query!0)\n (asserted (=> query!0 false)) false))))\n"
    );
}

/// All sorts, names that need bars, a clause with a name, predicates without arguments.
const MANY_SORTS: &str = "(set-logic HORN)(declare-sort S 0)
    (declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
    (declare-fun |a P| (Real Bool (_ BitVec 8) (Array Int Int) L S) Bool)(declare-fun R () Bool)
    (assert (! (forall ((|x y| Real) (b Bool) (v (_ BitVec 8)) (m (Array Int Int)) (l L) (s S))
        (=> (and (< |x y| 0.0) b) (|a P| |x y| b v m l s))) :named |the fact|))
    (assert (forall ((|x y| Real) (b Bool) (v (_ BitVec 8)) (m (Array Int Int)) (l L) (s S))
        (=> (|a P| |x y| b v m l s) R)))
    (assert (not R))";

fn many_sorts(store: &TermStore) -> (HornSystem, Refutation) {
    let system = read(store, MANY_SORTS);
    let sorts: Vec<Sort> =
        system.clauses[0].variables.iter().map(|&variable| store.sort_of(variable)).collect();
    let int = |value: i64| Value::Int(value.into());
    let mut list = store.default_value(sorts[4]);
    for number in 0..3 {
        let constructor = store.datatype(sorts[4]).unwrap().constructors()[1];
        let args = [store.int(-number), store.value_to_term(&list)];
        list = Value::Term(store.app(Op::Construct(constructor), &args).unwrap());
    }
    let values: Box<[Value]> = [
        Value::Real(shofar_logic::number::Rational::new((-7).into(), 3.into())),
        Value::Bool(true),
        Value::BitVec { value: 200.into(), width: 8 },
        store.array_value(sorts[3], &int(0), [(int(-3), int(4)), (int(5), int(-6))]),
        list,
        store.uninterpreted_value(sorts[5], 3),
    ]
    .into();
    let step = |clause, premises: &[usize], fact: &[Value]| Step {
        clause,
        instantiation: if clause == 2 { [].into() } else { values.clone() },
        premises: premises.into(),
        fact: fact.into(),
    };
    (system, Refutation { steps: vec![step(0, &[], &values), step(1, &[0], &[]), step(2, &[1], &[])] })
}

#[test]
fn values_of_all_sorts_are_read_back() {
    let store = TermStore::new();
    let (system, refutation) = many_sorts(&store);
    let witness = Witness::Refutation(refutation);
    for format in [WitnessFormat::Text, WitnessFormat::Json] {
        let text = witness.to_text(&store, &system, format);
        // Each time that its declaration is read, the datatype is a new one, so texts are compared.
        let (again, found) =
            reread(&store, MANY_SORTS, &text).unwrap_or_else(|error| panic!("{error} in {text}"));
        assert_eq!(found.to_text(&store, &again, format), text);
        let fresh = TermStore::new();
        let (again, found) = reread(&fresh, MANY_SORTS, &text).unwrap();
        assert_eq!(found.to_text(&fresh, &again, format), text);
    }
}

#[test]
fn models_are_read_back_and_their_names_do_not_clash() {
    let store = TermStore::new();
    let clauses = "(declare-fun P (Int Int Int) Bool)(declare-fun Q (Bool) Bool)(declare-fun |a b| () Bool)
        (assert (forall ((x Int) (|y z| Int)) (P x x |y z|)))
        (assert (forall ((P!1 Int) (Q Int)) (=> (P 1 P!1 Q) |a b|)))
        (assert (forall ((x0 Bool)) (=> (Q true) |a b|)))";
    let system = read(&store, clauses);
    let graph = HornGraph::of(&store, &system);
    let formulas = graph.nodes().map(|(_, node)| match *node.variables() {
        [a, b, c] => store.or(&[store.le(a, store.add(&[b, c])), store.eq(a, b)]),
        [q] => store.not(q),
        _ => Term::TRUE,
    });
    let model = Model::of_graph(&store, &system, &graph, &GraphModel::of_formulas(formulas));
    assert_eq!(check_model(&context(&store), &system, &model, Trust::Proofs), Validity::Valid);
    let witness = Witness::Model(model);
    let text = witness.to_text(&store, &system, WitnessFormat::Text);
    assert!(text.contains("(define-fun P ((x Int) (x_1 Int) (y_z Int)) Bool"), "{text}");
    assert!(text.contains("(define-fun Q ((x0 Bool)) Bool"), "{text}");
    for format in [WitnessFormat::Text, WitnessFormat::Json] {
        let text = witness.to_text(&store, &system, format);
        assert_eq!(reread(&store, clauses, &text).unwrap().1, witness, "{text}");
    }
}

#[test]
fn models_as_other_solvers_print_them() {
    for (text, expected) in [
        ("sat\n(model (define-fun Inv ((A Int)) Bool (<= A 5)))", "valid"),
        ("sat\n(\n  (define-fun Inv ((x!0 Int)) Bool\n    (not (>= x!0 6)))\n)\n", "valid"),
        ("sat\n(define-fun Inv ((x Int)) Bool (<= x 5))\n", "valid"),
        ("; a comment\n(set-info :source |a (b|)\n(define-fun Inv ((Inv Int)) Bool (<= Inv 5))", "valid"),
        (
            "((define-fun most () Int 5)(define-fun le ((a Int) (b Int)) Bool (<= a b))
           (define-fun Inv ((x Int)) Bool (let ((y x)) (le y most))))",
            "valid",
        ),
        (
            "(define-fun Inv ((x Int)) Bool (exists ((y Int)) (and (<= x (* 2 y)) (< (* 2 y) 6))))",
            "the model violates clause 2 `step` at 3:6\n  x = 4\n  y = 5",
        ),
        ("(define-fun Inv ((x Int)) Bool (forall ((y Int)) (=> (> y 6) (< x (- y 1)))))", "valid"),
        (
            "(define-fun Inv ((x Int)) Bool (< x 5))",
            "the model violates clause 2 `step` at 3:6\n  x = 4\n  y = 5",
        ),
        ("(define-fun Inv ((x Int)) Bool true)", "the model violates clause 3 at 4:6\n  x = 10"),
    ] {
        assert_eq!(verdict(COUNTER, text).as_deref(), Ok(expected), "{text}");
    }
    let unused = format!("(declare-fun unused (Int) Bool){COUNTER}");
    assert_eq!(verdict(&unused, "(define-fun Inv ((x Int)) Bool (<= x 5))").as_deref(), Ok("valid"));
}

#[test]
fn mistakes_in_witnesses_have_their_place() {
    for (text, expected) in [
        ("", "1:1: the text is not a witness"),
        ("sat", "1:4: the model does not define Inv"),
        ("unknown", "1:1: `unknown` proves nothing"),
        ("(error \"line 1: no model\")", "1:2: the text is an error message"),
        ("unsat (define-fun Inv ((x Int)) Bool true)", "1:8: the text is a witness of two answers"),
        ("(define-fun Inv ((x Int)) Bool (< x 1)", "1:39: expected `)`, found the end of the file"),
        ("((define-fun Inv ((x Int)) Bool (< x 1))", "1:41: expected `)`, found the end of the file"),
        ("(define-fun Inv ((x Int)) Bool true))", "1:37: unexpected `)`"),
        ("(define-fun Inv ((x Int)) Bool (< y 1))", "1:35: undeclared symbol `y`"),
        ("(define-fun Inv ((x Bool)) Bool x)", "1:2: the definition does not have the sorts of Inv"),
        ("(define-fun Inv ((x Int)) Int x)", "1:2: the definition does not have the sorts of Inv"),
        ("(define-fun and ((x Int)) Bool true)", "1:13: `and` is defined already"),
        (
            "(define-fun Inv ((x Int)) Bool true)(define-fun Inv ((x Int)) Bool true)",
            "1:49: `Inv` is defined already",
        ),
        (
            "(declare-fun Inv ((x Int)) Bool true)",
            "1:2: expected `define-fun` or `step`, found `declare-fun`",
        ),
        ("(step x)", "1:2: a step needs its number"),
        ("(step 1 (Inv 0))", "1:2: step 1: there is no such clause"),
        ("(step 1 (Inv 0) :clause 0)", "1:2: step 1: there is no such clause"),
        ("(step 1 (> 1 0) :clause 1)", "1:2: step 1 is neither a predicate's fact nor false"),
        ("(step 1 (Inv 0) :clause 1 :instance ())", "1:2: step 1: the instance is not one of clause 1"),
        ("(step 1 (Inv 0) :clause 1 :instance ((y 0)))", "1:2: step 1: there is no value of x"),
        ("(step 1 (Inv 0) :clause 1 :instance ((x true)))", "1:2: step 1: expected a value of sort Int"),
        ("(step 1 (Inv (+ 0 0)) :clause 1 :instance ((x 0)))", "1:2: step 1: expected a value of sort Int"),
        ("(step 1 (Inv 0) :clause 3 :instance ((x 0)))", "1:2: step 1: clause 3 does not derive such a fact"),
        ("(step 1 (Inv 0) :clause 2 :name st)", "1:2: step 1: clause 2 is not called st"),
        (
            "(step 1 (Inv 0) :clause 1 :premises (1) :instance ((x 0)))",
            "1:2: step 1: the premise 1 is not an earlier step",
        ),
        ("(step 1 (Inv 0) :clause 1 :colour 1)", "1:2: a step has no attribute :colour"),
        ("{\"answer\": \"sat\", \"colour\": 1}", "1:26: unknown field"),
        (
            "{\"answer\": \"unsat\", \"model\": [{\"predicate\": \"Inv\", \"parameters\": [], \"body\": \"true\"}]}",
            "1:1: the definition of Inv: the text is a witness of two answers",
        ),
        (
            "{\"answer\": \"sat\", \"model\": [{\"predicate\": \"Inv\", \"parameters\": [], \"body\": \"true) (\"}]}",
            "1:1: the definition of Inv: ",
        ),
    ] {
        let error = verdict(COUNTER, text).unwrap_err();
        assert!(error.starts_with(&format!("witness:{expected}")), "{text}: {error}");
    }
    let function = format!("(declare-fun c () Int){COUNTER}");
    assert!(verdict(&function, "(define-fun c () Int 0)").unwrap_err().contains("only predicates"));
}

/// Judges step by step, by substitution and normal forms.
fn follows(store: &TermStore, system: &HornSystem, refutation: &Refutation) -> bool {
    let step = |(number, step): (usize, &Step)| {
        let Some(clause) = system.clauses.get(step.clause) else { return false };
        if clause.variables.len() != step.instantiation.len() || clause.body.len() != step.premises.len() {
            return false;
        }
        let values = step.instantiation.iter().map(|value| store.value_to_term(value));
        let values = clause.variables.iter().copied().zip(values).collect();
        let ground = |term| store.normalize(store.substitute(term, &values));
        let is = |args: &[Term], fact: &[Value]| {
            args.len() == fact.len()
                && args.iter().zip(fact).all(|(&arg, value)| ground(arg) == store.value_to_term(value))
        };
        let premise = |(atom, &premise): (&shofar_horn::Atom, &usize)| {
            premise < number && {
                let earlier = &refutation.steps[premise];
                let head = system.clauses[earlier.clause].head.as_ref();
                head.is_some_and(|head| head.predicate == atom.predicate) && is(&atom.args, &earlier.fact)
            }
        };
        ground(clause.constraint) == Term::TRUE
            && clause.body.iter().zip(&step.premises).all(premise)
            && clause.head.as_ref().map_or(step.fact.is_empty(), |head| is(&head.args, &step.fact))
    };
    let last = refutation.steps.last().and_then(|last| system.clauses.get(last.clause));
    refutation.steps.iter().enumerate().all(step) && last.is_some_and(|clause| clause.is_query())
}

/// Changes values of integers, and numbers of clauses and steps, so that sorts stay right.
#[test]
fn changed_refutations_are_judged_as_by_substitution() {
    let store = TermStore::new();
    let mut random = Random::new(42);
    let mut valid = 0;
    for (system, right) in [locations(&store), counting(&store, 6)] {
        for _ in 0..2000 {
            let mut changed = right.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(changed.steps.len());
                let small = random.below(9);
                let step = &mut changed.steps[at];
                match random.below(4) {
                    0 => step.clause = small % system.clauses.len(),
                    1 => step.premises.iter_mut().for_each(|premise| *premise = small),
                    2 => step
                        .instantiation
                        .iter_mut()
                        .for_each(|value| *value = Value::Int((small as i64).into())),
                    _ => {
                        if let Some(value) = step.instantiation.last_mut() {
                            *value = Value::Int((small as i64 * 3).into());
                        }
                    }
                }
            }
            let expected = follows(&store, &system, &changed);
            valid += usize::from(expected);
            assert_eq!(
                check_refutation(&context(&store), &system, &changed) == Validity::Valid,
                expected,
                "{changed:?}"
            );
        }
    }
    assert!(valid > 100, "only {valid} were valid");
}

#[test]
fn models_are_judged_as_by_z3() {
    if !z3::is_installed() {
        return;
    }
    let clauses = [
        "(forall ((x Int) (y Int)) (=> (and (<= x 0) (= y (* 2 x))) (Inv x y)))",
        "(forall ((x Int) (y Int)) (=> (and (Inv x y) (< x 3)) (Inv (+ x 1) (+ y 2))))",
        "(forall ((x Int) (y Int)) (=> (and (Inv x y) (>= x 3)) (Out (- y x))))",
        "(forall ((z Int)) (=> (and (Out z) (distinct z 3)) false))",
    ];
    let asserted: String = clauses.iter().map(|clause| format!("(assert {clause})")).collect();
    let system = format!("(declare-fun Inv (Int Int) Bool)(declare-fun Out (Int) Bool){asserted}");
    let mut random = Random::new(7);
    let mut script = String::new();
    let mut found: Vec<String> = Vec::new();
    for round in 0..150 {
        let mut pick = |from: &[&str]| from[random.below(from.len())].to_owned();
        let first = [
            pick(&["(<= x 3)", "(<= x 4)", "(< x 3)", "true"]),
            pick(&["(= y (* 2 x))", "(<= y (* 2 x))", "(= (mod y 2) 0)"]),
        ];
        let second = pick(&["(= z 3)", "(>= z 3)", "(<= 3 z 3)", "(= (ite (> z 3) 1 z) 3)"]);
        let model = format!(
            "(define-fun Inv ((x Int) (y Int)) Bool (and {} {}))(define-fun Out ((z Int)) Bool {second})",
            first[0], first[1]
        );
        found.push(verdict(&system, &model).unwrap());
        let negated: String = clauses.iter().map(|clause| format!("(not {clause})")).collect();
        script += &format!("(push){model}(assert (or {negated}))(check-sat)(pop)(echo \"{round}\")");
    }
    let answers = z3::answers(&script).expect("it is installed");
    let judged: Vec<&String> = answers.iter().filter(|line| line.ends_with("sat")).collect();
    assert_eq!(judged.len(), found.len(), "{answers:?}");
    for (found, judged) in found.iter().zip(judged) {
        assert_eq!(found == "valid", judged == "unsat", "{found}");
    }
    assert!(found.iter().filter(|found| *found == "valid").count() > 5);
}

// ---- size ------------------------------------------------------------------------------------------------

#[test]
fn shared_and_long_refutations_are_printed_and_read_back_in_seconds() {
    let store = TermStore::new();
    let start = Instant::now();
    for (system, refutation) in [doubling(&store), counting(&store, 100_000)] {
        let steps = refutation.steps.len();
        let witness = Witness::Refutation(refutation);
        let clauses = system.to_text(&store, shofar_horn::Format::Smtlib);
        for format in [WitnessFormat::Text, WitnessFormat::Json] {
            let text = witness.to_text(&store, &system, format);
            println!("{format:?} of {steps} steps: {} bytes, {:?}", text.len(), start.elapsed());
            let (_, found) = reread(&store, &clauses, &text).unwrap();
            assert_eq!(found, witness);
            println!("  read after {:?}", start.elapsed());
        }
        let plain = witness.to_text(&store, &system, WitnessFormat::Text).len();
        let tree = witness.to_text(&store, &system, WitnessFormat::Tree);
        assert!(tree.lines().count() <= 2 * steps);
        let alethe = witness.to_text(&store, &system, WitnessFormat::Alethe).len();
        println!("tree {} bytes, alethe {alethe} bytes, {:?}", tree.len(), start.elapsed());
        assert!(alethe < 40 * plain, "{alethe} bytes for {plain}");
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn deep_and_shared_models_are_checked_in_seconds() {
    let start = Instant::now();
    let store = TermStore::new();
    let system = read(&store, COUNTER);
    let x = store.var(store.symbol("x"), Sort::INT);
    let bound = store.app(Op::Le, &[x, store.int(5)]).unwrap();
    let mut deep = bound;
    for _ in 0..500_000 {
        deep = store.app(Op::Not, &[deep]).unwrap();
    }
    let mut shared = bound;
    for _ in 0..10_000 {
        shared = store.app(Op::And, &[shared, shared]).unwrap();
    }
    for body in [deep, shared] {
        let model = Model {
            definitions: vec![Definition { parameters: [x].into(), interpretation: body.into() }],
            ..Model::default()
        };
        assert_eq!(check_model(&context(&store), &system, &model, Trust::Proofs), Validity::Valid);
        let witness = Witness::Model(model);
        let text = witness.to_text(&store, &system, WitnessFormat::Text);
        assert_eq!(reread(&store, COUNTER, &text).unwrap().1, witness);
        println!("{} bytes, {:?}", text.len(), start.elapsed());
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// Any change of a text is read or rejected, without a panic.
#[test]
fn no_text_is_too_strange() {
    let store = TermStore::new();
    let (system, refutation) = many_sorts(&store);
    let witness = Witness::Refutation(refutation);
    let mut texts: Vec<(&str, Vec<u8>)> = [WitnessFormat::Text, WitnessFormat::Json]
        .map(|format| (MANY_SORTS, witness.to_text(&store, &system, format).into_bytes()))
        .into();
    texts.push((COUNTER, b"sat (model (define-fun f ((y Int)) Int (+ y 1)) (define-fun Inv ((x Int)) Bool (or (<= x 5) (exists ((y Int)) (= (f y) x)))))".to_vec()));
    let mut nested = b"sat ".to_vec();
    nested.extend(b"(".repeat(1_000_000));
    texts.push((COUNTER, nested));
    let squares = (0..60).fold("x".to_owned(), |term, _| format!("(let ((x {term})) (* x x))"));
    let squares = squares.replacen("((x x))", "((x 1000))", 1);
    texts.push((COUNTER, format!("(define-fun Inv ((x Int)) Bool (< {squares} 1))").into_bytes()));
    let mut random = Random::new(99);
    let pieces: [&[u8]; 12] = [
        b"(",
        b")",
        b"|",
        b"\"",
        b"-1",
        b"99999999999999999999",
        b"step",
        b"x",
        b":clause",
        b"!val!",
        b"\xff",
        b"{",
    ];
    for (clauses, text) in texts {
        let rounds = if text.len() > 10_000 { 1 } else { 1500 };
        for round in 0..rounds {
            let mut changed = text.clone();
            for _ in 0..if round == 0 { 0 } else { 1 + random.below(3) } {
                let at = random.below(changed.len());
                let end = (at + random.below(12)).min(changed.len());
                let piece = pieces[random.below(pieces.len())];
                match random.below(3) {
                    0 => drop(changed.drain(at..end)),
                    1 => drop(changed.splice(at..end, piece.iter().copied())),
                    _ => drop(changed.splice(at..at, piece.iter().copied())),
                }
                if changed.is_empty() {
                    break;
                }
            }
            let fresh = TermStore::new();
            let mut environment = Environment::new(&fresh);
            let system = parse_in(&fresh, &mut environment, "clauses", clauses.as_bytes()).unwrap();
            match read_witness(&fresh, &mut environment, &system, "witness", &changed) {
                Ok(witness) => {
                    let limits = Limits { conflicts: Some(1000), ..Limits::default() };
                    drop(checked(&Context { store: &fresh, limits }, &system, witness));
                }
                Err(error) => assert!(error.to_string().starts_with("witness:")),
            }
        }
    }
}

/// Even numbers, with quantifiers in a head and in a body.
const EVEN: &str = "(declare-fun even (Int) Bool)
    (assert (even 0))
    (assert (forall ((x Int)) (=> (even x) (even (+ x 2)))))
    (assert (forall ((x Int)) (=> (even x) (exists ((y Int)) (= x (* 2 y))))))
    (assert (forall ((x Int)) (=> (and (even x) (forall ((y Int)) (or (distinct x (+ (* 2 y) 1)) (> y 7)))) (>= x (- 20)))))";

fn of_formula(store: &TermStore, formula: &str) -> (HornSystem, Model) {
    let mut environment = Environment::new(store);
    let system = parse_in(store, &mut environment, "test", EVEN.as_bytes()).unwrap();
    let text = format!("((define-fun even ((x Int)) Bool {formula}))");
    let witness = read_witness(store, &mut environment, &system, "model", text.as_bytes()).unwrap();
    let Witness::Model(model) = witness else { panic!("this is a model") };
    (system, model)
}

#[test]
fn models_are_checked_against_clauses_with_quantifiers() {
    let store = TermStore::new();
    for trust in [Trust::Solver, Trust::Proofs] {
        let (system, right) = of_formula(&store, "(and (>= x 0) (= (mod x 2) 0))");
        assert_eq!(check_model(&context(&store), &system, &right, trust), Validity::Valid);
        for (wrong, violated) in [("(>= x 0)", 2), ("(= (mod x 2) 0)", 3), ("(= x 0)", 1)] {
            let (system, model) = of_formula(&store, wrong);
            let found = check_model(&context(&store), &system, &model, trust);
            let Validity::Invalid(Fault::Violated { clause, .. }) = found else {
                panic!("{wrong}: {found:?}")
            };
            assert_eq!(clause, violated, "{wrong}");
        }
    }
}

#[test]
fn steps_by_clauses_with_quantifiers_are_checked() {
    let store = TermStore::new();
    let system = read(
        &store,
        "(declare-fun P (Int) Bool)(assert (P 3))
         (assert (forall ((x Int)) (=> (P x) (exists ((y Int)) (= x (* 2 y))))))
         (assert (forall ((x Int)) (=> (and (P x) (forall ((y Int)) (=> (< y x) (< y 3)))) false)))
         (assert (forall ((x Int) (z Int)) (=> (and (P x) (forall ((y Int)) (= (< y z) (< y (+ x 1))))) (P z))))",
    );
    let graph = HornGraph::within(&context(&store), &system).unwrap();
    assert!(graph.edges().all(|(_, edge)| !store.is_quantified(edge.label())));
    for query in [1, 2] {
        let steps = derivation(&[(0, &[], &[3]), (query, &[0], &[])]);
        let refutation = Refutation::of_graph(&context(&store), &system, steps).unwrap();
        assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
    }
    // The value of a variable that only the quantifier speaks of is found, and a wrong one is not accepted.
    let steps = derivation(&[(0, &[], &[3]), (3, &[0], &[4]), (3, &[1], &[5]), (1, &[2], &[])]);
    let mut refutation = Refutation::of_graph(&context(&store), &system, steps).unwrap();
    assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
    refutation.steps[1].instantiation = ints(&[3, 5]);
    refutation.steps[1].fact = ints(&[5]);
    let found = check_refutation(&context(&store), &system, &refutation);
    assert!(matches!(found, Validity::Invalid(Fault::Step { step: 1, .. })), "{found:?}");
}

#[test]
fn eliminations_are_confirmed() {
    confirmed(
        "",
        &[
            ("(exists ((y Int)) (and (<= a (* 2 y)) (<= y b)))", "(<= a (* 2 b))"),
            ("(exists ((y Int)) (and (< a y) (< y 20) (= (mod y 4) 1)))", "(< a 17)"),
            ("(exists ((y Int)) (= (div y 2) a))", "true"),
            ("(forall ((y Int)) (or (< y a) (> y b)))", "(> a b)"),
            ("(forall ((y Int)) (exists ((z Int)) (and (> z y) (> z a) (= (mod z 2) 0))))", "true"),
            (
                "(exists ((y Int) (z Int)) (and (= a (+ (* 6 y) (* 4 z))) (> b 0)))",
                "(and (= (mod a 2) 0) (> b 0))",
            ),
            ("(exists ((r Real)) (and (< (to_real a) r) (< (* 2.0 r) (to_real b))))", "(< (* 2 a) b)"),
            ("(forall ((p Bool)) (= p (> a b)))", "false"),
        ],
    );
}

/// A declared constant keeps its value while a term for the bound variable is looked for, also if both have the same name.
#[test]
fn eliminations_are_confirmed_beside_declared_constants() {
    confirmed(
        "(declare-fun c () Int)",
        &[
            ("(exists ((p Bool)) (= p (> c a)))", "true"),
            ("(exists ((y Int)) (and (< a y) (< y c)))", "(< (+ a 1) c)"),
            (
                "(exists ((y Int) (p Bool)) (and (= p (> c y)) (< a y) (or p (= y b))))",
                "(or (< (+ a 1) c) (> b a))",
            ),
            ("(and (= b c) (exists ((c Int)) (and (< a c) (< c b))))", "(and (= b c) (< (+ a 1) b))"),
            ("(forall ((c Bool)) (exists ((a Bool)) (distinct a (or c (> b 0)))))", "true"),
        ],
    );
}

/// Checks that formulas over `a` and `b` are equivalent to others without quantifiers: as clauses to and from a predicate that has the
/// other formula as its meaning.
fn confirmed(declarations: &str, equivalences: &[(&str, &str)]) {
    for (formula, expected) in equivalences {
        let store = TermStore::new();
        let clauses = format!(
            "{declarations}(declare-fun P (Int Int) Bool)(assert (forall ((a Int) (b Int)) (=> {formula} (P a b))))\
             (assert (forall ((a Int) (b Int)) (=> (P a b) {formula})))"
        );
        let mut environment = Environment::new(&store);
        let system = parse_in(&store, &mut environment, "test", clauses.as_bytes()).unwrap();
        let text = format!("((define-fun P ((a Int) (b Int)) Bool {expected}))");
        let witness = read_witness(&store, &mut environment, &system, "model", text.as_bytes()).unwrap();
        let Witness::Model(model) = witness else { panic!("this is a model") };
        for trust in [Trust::Solver, Trust::Proofs] {
            assert_eq!(check_model(&context(&store), &system, &model, trust), Validity::Valid, "{formula}");
        }
    }
}

/// Models with quantifiers are checked by the formulas that these are confirmed to be equivalent to.
#[test]
fn models_with_quantifiers_are_checked() {
    let judged = |meaning: &str| {
        let model = format!("(define-fun even ((x Int)) Bool {meaning})");
        verdict(EVEN, &model).unwrap()
    };
    assert_eq!(judged("(and (>= x 0) (exists ((y Int)) (= x (* 2 y))))"), "valid");
    assert_eq!(judged("(not (forall ((y Int)) (=> (>= y 0) (distinct x (* 2 y)))))"), "valid");
    assert!(judged("(exists ((y Int)) (= x (* 2 y)))").starts_with("the model violates clause 4 "));
    assert!(judged("(exists ((y Int)) (= x (* 3 y)))").starts_with("the model violates clause 2 "));
}

/// A refutation of a thousand steps by one clause with a quantifier: no step makes terms of its own.
#[test]
fn a_clause_loses_its_quantifiers_once_for_all_steps() {
    let store = TermStore::new();
    let system = read(
        &store,
        "(declare-fun P (Int) Bool)(assert (P 0))
         (assert (forall ((x Int) (z Int)) (=> (and (P x) (forall ((y Int)) (= (< y z) (< y (+ x 1))))) (P z))))
         (assert (forall ((x Int)) (=> (and (P x) (>= x 1000)) false)))",
    );
    let step = |edge, premises: &[usize], fact: &[i64]| derivation(&[(edge, premises, fact)]).steps.remove(0);
    let mut steps = vec![step(0, &[], &[0])];
    steps.extend((0..1000).map(|number| step(1, &[number], &[number as i64 + 1])));
    steps.push(step(2, &[1000], &[]));
    let refutation = Refutation::of_graph(&context(&store), &system, Derivation { steps }).unwrap();
    let before = store.len();
    assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
    let made = store.len() - before;
    assert!(made < 500, "the check made {made} terms");
}

/// A clause that keeps its quantifiers, because it is not linear, has linear instances.
#[test]
fn instances_lose_quantifiers_that_their_clause_keeps() {
    let store = TermStore::new();
    let system = read(
        &store,
        "(declare-fun P (Int) Bool)(assert (P 7))(assert (P 2))
         (assert (forall ((x Int) (z Int)) (=> (and (P z) (P x) (forall ((y Int)) (distinct z (* x y)))) (P (+ z x)))))
         (assert (forall ((x Int)) (=> (and (P x) (= x 11)) false)))",
    );
    let step = |clause, instantiation: &[i64], premises: &[usize], fact: &[i64]| Step {
        clause,
        instantiation: ints(instantiation),
        premises: premises.into(),
        fact: ints(fact),
    };
    let mut steps = vec![step(0, &[], &[], &[7]), step(1, &[], &[], &[2])];
    steps.extend([step(2, &[2, 7], &[0, 1], &[9]), step(2, &[2, 9], &[2, 1], &[11])]);
    steps.push(step(3, &[11], &[3], &[]));
    let refutation = Refutation { steps };
    assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
}
