//! SMT-LIB scripts as other programs write them: the answer of each command.

use shofar_logic::TermStore;
use shofar_run::Limits;
use shofar_smt::script::{Commands, Script};

/// The answers to a script, one line each.
fn answers(text: &str) -> Vec<String> {
    let store = TermStore::new();
    let mut commands = Commands::new(text.as_bytes());
    let mut script = Script::new(&store);
    let mut out = Vec::new();
    while let Some(command) = commands.next_command().expect("reading from memory") {
        script.execute(&command, &Limits::default(), &mut out).expect("writing to memory");
    }
    String::from_utf8(out).expect("answers are text").lines().map(str::to_owned).collect()
}

/// The last answer to a script.
fn answer(text: &str) -> String {
    answers(text).pop().expect("the script asks something")
}

// ---- logics ------------------------------------------------------------------------------------------------

#[test]
fn names_that_the_logic_does_not_have_are_free() {
    let declarations = "(declare-sort Int 0)(declare-fun + (Int Int) Int)(declare-fun < (Int Int) Bool)
        (declare-const a Int)(declare-const b Int)";
    // Integers would make both of them unsatisfiable.
    let script = format!(
        "(set-logic QF_UF){declarations}
        (assert (not (= (+ a b) (+ b a))))(assert (< a b))(assert (< b a))(check-sat)"
    );
    assert_eq!(answers(&script), ["sat"]);
    let script = format!(
        "(set-logic QF_UF){declarations}
        (assert (= a b))(assert (not (= (+ a a) (+ b a))))(check-sat)"
    );
    assert_eq!(answers(&script), ["unsat"]);
    let script = "(set-logic QF_LRA)(declare-fun mod (Real) Real)(declare-fun select (Real Real) Real)
        (declare-const x Real)(assert (< (mod x) (mod (select x 1))))(check-sat)";
    assert_eq!(answers(script), ["sat"]);
    let script = "(set-logic QF_UFLIA)(declare-fun concat (Int) Int)(declare-fun bvadd (Int) Int)
        (assert (< (concat 1) (bvadd 1)))(check-sat)";
    assert_eq!(answers(script), ["sat"]);
}

#[test]
fn names_of_the_logic_cannot_be_declared() {
    assert_eq!(
        answers("(set-logic QF_UFLIA)(declare-fun + (Int Int) Int)"),
        [r#"(error "`+` is declared already")"#]
    );
    assert_eq!(answers("(declare-sort Bool 0)"), [r#"(error "sort `Bool` is declared already")"#]);
}

#[test]
fn names_outside_of_the_logic_mean_nothing() {
    for (script, message) in [
        ("(set-logic QF_UF)(declare-const x Int)", "the logic has no sort `Int`"),
        ("(set-logic QF_UF)(declare-const x Bool)(assert (= x 1))", "the logic has no numbers"),
        ("(set-logic QF_LRA)(declare-const x Real)(assert (= (mod x 2) 1))", "the logic has no symbol `mod`"),
        ("(set-logic QF_LIA)(assert (= #x1 #x2))", "the logic has no bit-vectors"),
        ("(set-logic QF_LIA)(declare-const b (_ BitVec 8))", "the logic has no bit-vectors"),
        ("(set-logic QF_LRA)(assert ((_ divisible 3) 6))", "the logic has no symbol `divisible`"),
        ("(set-logic QF_LIA)(declare-const b (Array Int Int))", "the logic has no sort `Array`"),
    ] {
        assert_eq!(answers(script), [format!("(error \"{message}\")")], "{script}");
    }
}

#[test]
fn numerals_are_reals_in_a_logic_of_reals() {
    let script =
        "(set-logic QF_LRA)(declare-const x Real)(assert (= (* 2 x) 1))(check-sat)(get-value (x (= 1 1.0)))";
    assert_eq!(answers(script), ["sat", "((x (/ 1.0 2.0))", " ((= 1.0 1.0) true))"]);
}

#[test]
fn a_logic_is_set_once_and_first() {
    assert_eq!(
        answers("(set-logic FOO)(declare-const x Int)(assert (< x 1))(check-sat)"),
        ["unsupported", "sat"]
    );
    assert_eq!(answers("(set-logic QF_FP)"), ["unsupported"]);
    assert_eq!(answers("(set-logic QF_LIA)(set-logic QF_UF)"), [r#"(error "the logic is QF_LIA already")"#]);
    assert_eq!(
        answers("(declare-const x Int)(set-logic QF_UF)"),
        [r#"(error "the logic must be set before the first declaration and assertion")"#]
    );
    // `reset` forgets the logic, `reset-assertions` does not.
    assert_eq!(answer("(set-logic QF_LIA)(reset)(set-logic QF_UF)(declare-sort Int 0)(check-sat)"), "sat");
    assert_eq!(
        answer("(set-logic QF_UF)(reset-assertions)(declare-const x Int)"),
        r#"(error "the logic has no sort `Int`")"#
    );
}

// ---- mistakes ----------------------------------------------------------------------------------------------

#[test]
fn after_a_failed_command_there_is_no_verdict() {
    for mistake in [
        "(declare-fun + (Int Int) Int)",
        "(declare-sort Bool 0)",
        "(define-fun x () Int 1)",
        "(define-fun-rec f ((y Int)) Int (f y))",
        "(declare-datatypes ((D 0)) (((c (s E)))))",
        "(assert (= x y))",
        "(assert 1)",
        "(asert true)",
        "(push 9999999999999999999999)",
        "(pop 2)",
        "nonsense",
    ] {
        let script = format!("(declare-const x Int)(assert (> x 1))\n{mistake}\n(assert (< x 1))(check-sat)");
        let answers = answers(&script);
        let [error, verdict] = &answers[..] else { panic!("{mistake}: {answers:?}") };
        assert!(error.starts_with("(error"), "{mistake}: {error}");
        assert_eq!(verdict, "unknown", "{mistake}");
    }
}

#[test]
fn the_reason_for_unknown_is_the_failure() {
    let script = "(declare-const x Int)(assert (= x y))(check-sat)(get-info :reason-unknown)";
    assert_eq!(answer(script), r#"(:reason-unknown "a command failed: undeclared symbol `y`")"#);
}

#[test]
fn a_failure_is_forgotten_with_its_frame() {
    let start = "(declare-const x Int)(push)(assert (= x y))(push)(check-sat)(pop)(check-sat)";
    assert_eq!(answers(&format!("{start}(pop)(check-sat)"))[1..], ["unknown", "unknown", "sat"]);
    assert_eq!(answers(&format!("{start}(reset-assertions)(check-sat)"))[1..], ["unknown", "unknown", "sat"]);
    assert_eq!(answers(&format!("{start}(reset)(check-sat)"))[1..], ["unknown", "unknown", "sat"]);
}

#[test]
fn a_failed_question_changes_nothing() {
    let script = "(declare-const x Int)(assert (> x 1))(get-value (x))(get-foo)(simplify 1)
        (check-sat-assuming (y))(set-option :verbosity true)(check-sat)";
    assert_eq!(answer(script), "sat");
}
