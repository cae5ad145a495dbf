//! Every misuse is an error value: no panic, and no other meaning.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use shofar::engines::{Imc, KInduction, PdKind, Spacer};
use shofar::smt::{Answer, Solver};
use shofar::{
    BuildError, CheckError, ForeignError, Limits, OptionError, Options, Reason, Sort, System, SystemBuilder,
    Terms, Value, Verdict, View, Witness, WitnessFormat,
};

const COUNT: &str = "(declare-fun count (Int) Bool)
    (assert (count 0))
    (assert (forall ((x Int)) (=> (and (count x) (< x 5)) (count (+ x 1)))))
    (assert (forall ((x Int)) (=> (and (count x) (> x 5)) false)))";

fn is_foreign<T: std::fmt::Debug>(result: Result<T, BuildError>) -> bool {
    matches!(result, Err(BuildError::Foreign(_)))
}

#[test]
fn misspelt_names_are_errors_that_say_what_was_meant() {
    let engine = Options::new().engines("bmc,spaser").unwrap_err();
    assert!(matches!(&engine, OptionError::UnknownEngine { name, .. } if name == "spaser"), "{engine:?}");
    assert_eq!(engine.suggestion(), Some("spacer"));
    let engine = Options::new().set("spacre", "guidance", "no").unwrap_err();
    assert_eq!(engine.suggestion(), Some("spacer"));
    let option = Options::new().set("spacer", "giudance", "no").unwrap_err();
    assert!(matches!(option, OptionError::UnknownOption { engine: "spacer", .. }), "{option:?}");
    assert_eq!(option.suggestion(), Some("guidance"));
    let value = Options::new().engines("spacer:guidance=yess").unwrap_err();
    assert!(matches!(value, OptionError::ImpossibleValue { .. }), "{value:?}");
    assert_eq!(value.suggestion(), Some("yes"));
    let pass = Options::new().passes("standard,no-inlin").unwrap_err();
    assert!(matches!(&pass, OptionError::UnknownPass { name, .. } if name == "no-inlin"), "{pass:?}");
    assert!(pass.to_string().contains("inline"), "{pass}");
}

#[test]
fn engines_are_chosen_by_value_and_by_name() {
    let system = System::parse("count", COUNT).unwrap();
    let mut pdkind = PdKind::default();
    pdkind.options.depth = shofar::engines::pdkind::Depth::Fixed(2);
    for (options, label) in [
        (Options::new().engine(Spacer::default()).unwrap(), "spacer"),
        (Options::new().engines("spacer:guidance=no").unwrap(), "spacer:guidance=no"),
        (Options::new().engine(pdkind).unwrap(), "pdkind:depth=2"),
    ] {
        let outcome = system.solve(&options);
        assert!(matches!(outcome.verdict, Verdict::Sat(_)), "{:?}", outcome.verdict);
        assert_eq!(outcome.engine.as_deref(), Some(label));
    }
}

#[test]
fn a_field_of_an_engine_that_is_out_of_range_is_an_error() {
    let mut imc = Imc::default();
    imc.options.rounds = 2_000_000;
    let mut pdkind = PdKind::default();
    pdkind.options.depth = shofar::engines::pdkind::Depth::Fixed(0);
    for (options, name) in
        [(Options::new().engine(imc), "imc.rounds"), (Options::new().engine(pdkind), "pdkind.depth")]
    {
        let error = options.unwrap_err();
        assert!(matches!(&error, OptionError::ImpossibleValue { option, .. } if option == name), "{error:?}");
    }
}

/// The state 1 has a loop and leads to the bad state 2, but is not reachable; state 3 has a loop and is reachable, but does not
/// lead to 2. So k-induction, forward or backward, needs paths without repetitions.
#[test]
fn the_fields_of_an_engine_count_more_than_a_common_setting() {
    let loops = "(declare-fun s (Int) Bool)
        (assert (s 0))
        (assert (forall ((x Int) (y Int))
            (=> (and (s x) (or (and (= y 3) (or (= x 0) (= x 3))) (and (= x 1) (<= 1 y 2)))) (s y))))
        (assert (forall ((x Int)) (=> (and (s x) (= x 2)) false)))";
    let system = System::parse("loops", loops).unwrap();
    let options = || Options::new().passes("simplify").unwrap().set("kind", "simple-paths", "no").unwrap();
    let by_name = options().engines("kind").unwrap().timeout(Duration::from_millis(100));
    assert_eq!(system.solve(&by_name).verdict.name(), "unknown");
    let by_value = options().engine(KInduction::default()).unwrap().timeout(Duration::from_secs(60));
    assert_eq!(system.solve(&by_value).verdict.name(), "sat");
}

/// The second store has no term with the index of the first one's term: without the check this would be out of bounds. The
/// third one has, and it means something else.
#[test]
fn a_term_of_another_store_is_an_error() {
    let terms = Terms::new();
    let x = terms.variable("x", &Sort::Int).unwrap();
    let formula = x.add(1).unwrap().mul(3).unwrap().lt(77).unwrap();
    let full = Terms::new();
    for number in 0..1000 {
        full.variable(&format!("v{number}"), &Sort::Bool).unwrap();
    }
    for other in [Terms::new(), full] {
        let y = other.variable("y", &Sort::Int).unwrap();
        assert!(is_foreign(y.add(&x)) && is_foreign(y.lt(&x)) && is_foreign(x.equals(&y)));
        let truth = other.bool(true);
        assert!(
            is_foreign(truth.ite(&x, &y)) && is_foreign(truth.ite(&y, &x)) && is_foreign(formula.ite(&y, 1))
        );
        assert!(is_foreign(other.and([&formula])) && is_foreign(other.or([&truth, &formula])));
        assert!(matches!(other.parse("(+ x 1)", &[&x]), Err(shofar::Error::Foreign(_))));

        let mut clauses = SystemBuilder::with_terms(&other);
        let p = clauses.predicate("p", &[Sort::Int]).unwrap();
        assert!(is_foreign(clauses.clause().implies(p, &[&x])));
        assert!(is_foreign(clauses.clause().atom(p, &[&x]).implies_false()));
        assert!(is_foreign(clauses.clause().atom(p, &[&y]).when(&formula).implies_false()));
        assert_eq!(clauses.finish().clauses().len(), 0);

        let mut solver = Solver::new(&other);
        assert!(matches!(solver.assert(&formula), Err(shofar::smt::Error::Foreign(_))));
        assert!(matches!(solver.check_assuming(&[&formula]), Err(shofar::smt::Error::Foreign(_))));
        assert_eq!(solver.check(), Ok(Answer::Sat));
        assert!(solver.value(&x).is_err());
        assert_eq!(solver.value(&y), Ok(Some(Value::Int(0.into()))));
    }
}

#[test]
fn a_predicate_or_witness_of_another_system_is_an_error() {
    let (system, other) = (System::parse("a", COUNT).unwrap(), System::parse("b", COUNT).unwrap());
    let predicate = system.predicate("count").unwrap();
    assert_eq!(system.name(predicate), Ok("count"));
    assert_eq!(system.sorts(predicate), Ok(vec![Sort::Int]));
    assert!(other.name(predicate).is_err() && other.sorts(predicate).is_err());
    let Verdict::Sat(model) = other.solve(&Options::new()).verdict else {
        panic!("the clauses have a model")
    };
    let foreign: ForeignError = model.definition(predicate).unwrap_err();
    assert_eq!(foreign.to_string(), "the predicate belongs to another system");
    let witness = Witness::from(model);
    assert!(matches!(system.check(&witness, &Limits::new()), Err(CheckError::Foreign(_))));
    assert_eq!(other.check(&witness, &Limits::new()), Ok(()));
    // By its text a model can go from one to the other.
    let read = system.parse_witness("model", witness.to_string()).unwrap();
    assert_eq!(system.check(&read, &Limits::new()), Ok(()));

    let mut clauses = SystemBuilder::with_terms(system.terms());
    let x = clauses.variable("x", &Sort::Int).unwrap();
    assert!(is_foreign(clauses.clause().implies(predicate, &[&x])));
    assert!(is_foreign(clauses.clause().atom(predicate, &[&x]).implies_false()));
}

#[test]
fn a_datatype_of_another_store_is_an_error() {
    let text = "(declare-datatype T ((leaf))) (declare-fun P (T) Bool)";
    let (system, other) = (System::parse("a", text).unwrap(), Terms::new());
    let sorts = system.sorts(system.predicate("P").unwrap()).unwrap();
    assert_eq!(sorts[0].to_string(), "T");
    assert!(system.terms().variable("x", &sorts[0]).is_ok());
    assert!(is_foreign(other.variable("x", &sorts[0])));
    assert!(is_foreign(other.variable("x", &Sort::array(Sort::Int, sorts[0].clone()))));
}

#[test]
fn mistakes_in_texts_and_sorts_are_errors_with_their_place() {
    let error =
        System::parse("file", String::from("(declare-fun P (Int) Bool)\n(assert (Q 1))")).unwrap_err();
    assert_eq!(error.to_string(), "file:2:10: undeclared symbol `Q`");
    let system = System::parse("count", COUNT).unwrap();
    assert!(system.parse_witness("model", "(define-fun count ((x Bool)) Bool x)").is_err());
    let terms = Terms::new();
    for width in [0, u32::MAX] {
        assert_eq!(terms.variable("x", &Sort::BitVec(width)), Err(BuildError::Width(width)));
    }
    let x = terms.variable("x", &Sort::Int).unwrap();
    assert!(matches!(x.add(true), Err(BuildError::Sort(_))));
    assert!(matches!(x.not(), Err(BuildError::Sort(_))));
    assert!(matches!(Solver::new(&terms).assert(&x), Err(shofar::smt::Error::NotAFormula(_))));
    assert!(terms.parse("(+ x 1) x", &[&x]).unwrap_err().to_string().starts_with("term:1:9: "));
    assert!(terms.parse("", &[]).is_err() && terms.parse("((", &[]).is_err());
}

#[test]
fn a_number_that_no_bit_vector_has_is_an_error() {
    let terms = Terms::new();
    for (width, least, most) in [(1, -1, 1i64), (3, -4, 7), (8, -128, 255), (32, -(1 << 31), (1 << 32) - 1)] {
        let x = terms.variable("x", &Sort::BitVec(width)).unwrap();
        for number in [least, -1, 0, 1, most] {
            let equation = x.equals(number).unwrap();
            let bits = number.rem_euclid(1 << width);
            assert_eq!(equation.arguments()[1].view(), View::BitVec(&bits.into()));
        }
        for number in [least - 1, most + 1, i64::MIN, i64::MAX] {
            let error = x.equals(number).unwrap_err();
            assert_eq!(error.to_string(), format!("{number} is not a number of sort (_ BitVec {width})"));
        }
    }
    let wide = terms.variable("x", &Sort::BitVec(64)).unwrap();
    assert!(wide.equals(u64::MAX).is_ok() && wide.equals(i64::MIN).is_ok());
    assert!(wide.equals(shofar::Integer::pow2(64)).is_err());
}

#[test]
fn a_variable_keeps_its_identity_in_a_text_whatever_its_name_and_sort() {
    let system = System::parse(
        "sorts",
        "(declare-sort U 0) (declare-datatype T ((leaf)))
        (declare-fun P (U T Int) Bool)",
    )
    .unwrap();
    let terms = system.terms();
    for sort in system.sorts(system.predicate("P").unwrap()).unwrap() {
        for name in ["x", "rem", "mod", "and", "let", "two words", "Int", "1"] {
            let variable = terms.variable(name, &sort).unwrap();
            let term = terms.parse(format!("(= |{name}| |{name}|)"), &[&variable]).unwrap();
            assert_eq!(term, variable.equals(&variable).unwrap());
        }
    }
    let [x, modulus] = ["x", "mod"].map(|name| terms.variable(name, &Sort::Int).unwrap());
    assert_eq!(terms.parse("(mod x mod)", &[&x, &modulus]).unwrap(), x.modulo(&modulus).unwrap());
}

#[test]
fn a_quantifier_in_a_text_captures_no_variable() {
    let terms = Terms::new();
    let x = terms.variable("x", &Sort::Int).unwrap();
    let term = terms.parse("(let ((y x)) (exists ((x Int)) (< x y)))", &[&x]).unwrap();
    assert_eq!(term.variables(), [x]);
}

#[test]
fn the_variables_of_a_text_are_variables_with_different_names() {
    let terms = Terms::new();
    let x = terms.variable("x", &Sort::Int).unwrap();
    let sum = x.add(1).unwrap();
    let error = terms.parse("x", &[&sum]).unwrap_err();
    assert_eq!(error, BuildError::NotAVariable("(+ x 1)".to_owned()).into());
    let other = terms.variable("x", &Sort::Real).unwrap();
    let error = terms.parse("x", &[&x, &other]).unwrap_err();
    assert_eq!(error, BuildError::Ambiguous("x".to_owned()).into());
    assert_eq!(terms.parse("x", &[&x, &x]), Ok(x));
    // Names have a meaning in one text only.
    assert!(terms.parse("x", &[]).is_err());
}

#[test]
fn a_model_of_a_built_system_can_be_read_again() {
    let mut clauses = SystemBuilder::new();
    let p = clauses.predicate("p", &[Sort::Int]).unwrap();
    let x = clauses.variable("x", &Sort::Int).unwrap();
    clauses.clause().when(&x.ge(3).unwrap()).implies(p, &[&x]).unwrap();
    clauses.clause().atom(p, &[&x]).when(&x.lt(1).unwrap()).implies_false().unwrap();
    let system = clauses.finish();
    for (model, is_valid) in [("(> x 0)", true), ("(> x 1)", true), ("(> x 3)", false), ("true", false)] {
        let model = format!("(define-fun p ((x Int)) Bool {model})");
        let witness = system.parse_witness("model", model).unwrap();
        assert_eq!(system.check(&witness, &Limits::new()).is_ok(), is_valid);
    }
    let Verdict::Sat(model) = system.solve(&Options::new()).verdict else {
        panic!("the clauses have a model")
    };
    let definition = model.definition(p).unwrap();
    assert_eq!(definition.parameters.len(), 1);
    assert!(matches!(definition.parameters[0].view(), View::Variable(_)));
    assert_eq!(definition.formula.sort(), Sort::Bool);
}

/// A system of one rule and one query for a predicate, with names that cannot be written in SMT-LIB for the rest.
fn built(predicate: &str) -> System {
    let mut clauses = SystemBuilder::new();
    let p = clauses.predicate(predicate, &[Sort::Int]).unwrap();
    let x = clauses.variable("a|b", &Sort::Int).unwrap();
    clauses.clause().named("c|d").when(&x.ge(3).unwrap()).implies(p, &[&x]).unwrap();
    clauses.clause().atom(p, &[&x]).when(&x.lt(1).unwrap()).implies_false().unwrap();
    clauses.finish()
}

#[test]
fn a_witness_is_read_if_the_predicates_can_be_written() {
    for name in ["p", "select", "+", "let", "two words", "Int", "\u{e9}", ""] {
        let system = built(name);
        let witness = system.solve(&Options::new()).verdict.witness().unwrap();
        for format in [WitnessFormat::Text, WitnessFormat::Json] {
            let read = system.parse_witness("model", witness.to_text(format)).unwrap();
            assert_eq!(system.check(&read, &Limits::new()), Ok(()), "{name}");
        }
    }
    for (name, reason) in [("and", "`and` is reserved"), ("a|b", "expected `(`, found `b`")] {
        let error = built(name).parse_witness("model", "sat").unwrap_err().to_string();
        let start = format!("model:1:1: no text can name all that the clauses declare: {reason}");
        assert!(error.starts_with(&start), "{error}");
    }
}

/// Each text lacks something, or says too much.
#[test]
fn a_malformed_witness_is_an_error_and_leaves_no_trace() {
    let system = System::parse("count", COUNT).unwrap();
    let model = "(define-fun count ((x Int)) Bool (<= x 5))";
    for (text, message) in [
        ("", "w:1:1: the text is not a witness"),
        ("unknown", "w:1:1: `unknown` proves nothing"),
        ("sat", "w:1:4: the model does not define count"),
        (")", "w:1:1: unexpected `)`"),
        (
            "(define-fun count ((x Int)) Bool (forall ((y Int)) (< x y",
            "w:1:58: expected a term, found the end",
        ),
        ("(define-fun count ((x Int)) Bool (let ((count true)) x))", "w:1:55: the definition has sort Int"),
        ("(define-fun other ((x Int)) Bool true) (define-fun count ((x Int)) Bool (other", "w:1:79: "),
        ("(define-fun count () Bool true)", "w:1:2: the definition does not have the sorts of count"),
        ("(define-fun Q ((x Int)) Bool (R x))", "w:1:31: undeclared symbol `R`"),
        ("unsat (step 1 (count 0) :clause 7)", "w:1:8: step 1: there is no such clause"),
        (
            "(step 1 false :clause 3 :premises (1) :instance ((x 6)))",
            "w:1:2: step 1: the premise 1 is not an",
        ),
        ("(step 1 (count 0) :clause 1) sat", "w:1:30: the text is a witness of two answers"),
        ("{\"answer\": \"sat\", \"model\": [", "w:1:28: EOF while parsing a list"),
        ("{\"answer\": \"perhaps\"}", "w:1:1: the answer is neither \"sat\" nor \"unsat\""),
        ("{\"answer\": \"sat\"}", "w:1:1: the model does not define count"),
    ] {
        let error = system.parse_witness("w", text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text}: {error}");
        let read = system.parse_witness("model", model).unwrap();
        assert_eq!(system.check(&read, &Limits::new()), Ok(()), "{text}");
    }
    // A refutation without steps can be written, but proves nothing.
    let empty = system.parse_witness("w", "unsat").unwrap();
    for format in [WitnessFormat::Text, WitnessFormat::Json, WitnessFormat::Tree, WitnessFormat::Alethe] {
        empty.to_text(format);
    }
    assert!(matches!(system.check(&empty, &Limits::new()), Err(CheckError::Invalid(_))));
}

#[test]
fn reading_ends_at_the_limits() {
    let cancelled = AtomicBool::new(true);
    let system = System::parse("count", COUNT).unwrap();
    let model = format!("(define-fun count ((x Int)) Bool (and {}))", "(<= x 5) ".repeat(100_000));
    let json = format!("{{\"answer\": \"sat\", \"model\": [{}", " ".repeat(1_000_000));
    for (limits, reason) in [
        (Limits::new().timeout(Duration::ZERO), Reason::Deadline),
        (Limits::new().cancel(&cancelled), Reason::Cancelled),
        (Limits::new().memory(1), Reason::Memory),
    ] {
        let stop = shofar::Error::Stop(reason.into());
        let clauses = COUNT.repeat(1000);
        assert_eq!(System::parse_within("count", &clauses, &limits), Err(stop.clone()));
        assert_eq!(System::parse_all_within("count", &clauses, &limits), Err(stop.clone()));
        for text in [&model, &json] {
            assert_eq!(system.parse_witness_within("model", text, &limits), Err(stop.clone()));
        }
        assert_eq!(built("p").parse_witness_within("model", &model, &limits), Err(stop));
    }
    let read = system.parse_witness_within("model", &model, &Limits::new().timeout(Duration::from_secs(60)));
    assert_eq!(system.check(&read.unwrap(), &Limits::new()), Ok(()));
    let mistake = System::parse_all_within("wrong", "(assert (Q 1))", &Limits::new());
    assert!(matches!(mistake, Err(shofar::Error::Parse(_))));
}

#[test]
fn a_script_with_several_questions_is_several_systems() {
    let text = "(declare-fun P (Int) Bool) (assert (P 0)) (check-sat)
        (push 1) (assert (forall ((x Int)) (=> (and (P x) (= x 0)) false))) (check-sat) (pop 1)";
    assert!(System::parse("questions", text).is_err());
    let systems = System::parse_all("questions", text).unwrap();
    let answers: Vec<&str> =
        systems.iter().map(|system| system.solve(&Options::new()).verdict.name()).collect();
    assert_eq!(answers, ["sat", "unsat"]);
}

#[test]
fn all_types_can_be_sent_and_shared() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Terms>();
    is_shared::<shofar::Term>();
    is_shared::<Sort>();
    is_shared::<Value>();
    is_shared::<System>();
    is_shared::<SystemBuilder>();
    is_shared::<Options<'_>>();
    is_shared::<Limits<'_>>();
    is_shared::<shofar::Outcome>();
    is_shared::<Witness>();
    is_shared::<shofar::Error>();
    is_shared::<shofar::Event>();
    fn is_sent<T: Send>() {}
    is_sent::<Solver<'_>>();
    fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
    is_error::<shofar::Error>();
    is_error::<shofar::ParseError>();
    is_error::<BuildError>();
    is_error::<ForeignError>();
    is_error::<OptionError>();
    is_error::<CheckError>();
    is_error::<shofar::smt::Error>();
    is_error::<shofar::SortError>();
    is_error::<shofar::Stop>();
    is_error::<Reason>();
}
