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
    // `reset` forgets the logic and options, `reset-assertions` does not.
    assert_eq!(answer("(set-logic QF_LIA)(reset)(set-logic QF_UF)(declare-sort Int 0)(check-sat)"), "sat");
    assert_eq!(
        answer("(set-logic QF_UF)(reset-assertions)(declare-const x Int)"),
        r#"(error "the logic has no sort `Int`")"#
    );
    assert_eq!(answers("(set-option :produce-proofs true)(reset)(get-option :produce-proofs)"), ["false"]);
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
fn after_a_failed_push_or_pop_no_level_is_what_the_script_means() {
    let start = "(declare-const a Bool)(push 1)(assert (not a))";
    for (rest, answer) in [
        ("(push foo)(assert a)(pop 1)(check-sat)(assert a)(check-sat)", ["unknown", "unknown"]),
        ("(push 1)(assert a)(pop x)(pop 1)(assert a)(check-sat)(pop 1)(check-sat)", ["unknown", "unknown"]),
    ] {
        assert_eq!(answers(&format!("{start}{rest}"))[1..], answer, "{rest}");
    }
}

#[test]
fn a_failed_declaration_is_missing_as_long_as_it_would_have_been_there() {
    let script = "(declare-fun f (Int) Int)(declare-fun f (Int) Int)(reset-assertions)(check-sat)";
    assert_eq!(answer(script), "unknown");
    let script = "(declare-const x Int)(push 1)(define-fun x () Int 5)(pop 1)(assert (= x 4))(check-sat)";
    assert_eq!(answer(script), "sat");
    assert_eq!(answer(&format!("(set-option :global-declarations true){script}")), "unknown");
}

#[test]
fn a_datatype_may_be_declared_in_a_later_line_or_is_missing() {
    let start = "(declare-datatype A ((a (f B))))\n; comment\n\n";
    let script =
        "(declare-datatype B ((b (g A)) (c)))\n(declare-const q B)\n(assert (= q q))\n(get-assertions)";
    assert_eq!(answers(&format!("{start}{script}")), ["((= q q))"]);
    let answers = answers(&format!("{start}(check-sat)(check-sat)"));
    assert!(answers[0].starts_with("(error"), "{answers:?}");
    assert_eq!(answers[1], "unknown");
}

#[test]
fn options_for_new_solvers_forget_the_answer() {
    let script =
        "(declare-const b Int)(check-sat-assuming ((> b 5)))(set-option :random-seed 4)(get-value (b))";
    assert!(answer(script).starts_with("(error"), "{}", answer(script));
}

#[test]
fn a_name_of_lists_stays_bound_where_it_is_bound() {
    let script = "(push 1)(assert (forall ((head Int)) (exists ((l (List Int))) (= head 0))))(pop 1)(assert (= head 0))";
    assert!(answer(script).starts_with("(error"), "{}", answer(script));
}

#[test]
fn division_by_zero_is_not_eliminated() {
    let script = "(declare-const a Int)(declare-const b Int)(get-qe (exists ((x Int) (y Int))
        (and (= x (* 2 a)) (= (mod x 0) 1) (<= a y) (<= (+ (* 3 y) (mod y 3)) b))))";
    let result = answer(script);
    let values = "(assert (= (mod 0 0) 1))(assert (= a 0))(assert (= b 1))";
    if !result.starts_with("(error") {
        let script =
            format!("(declare-const a Int)(declare-const b Int){values}(assert {result})(check-sat)");
        assert_eq!(answer(&script), "sat", "{result}");
    }
}

#[test]
fn a_failed_question_changes_nothing() {
    let script = "(declare-const x Int)(assert (> x 1))(get-value (x))(get-foo)(simplify 1)
        (check-sat-assuming (y))(set-option :verbosity true)(check-sat)";
    assert_eq!(answer(script), "sat");
}

// ---- options -----------------------------------------------------------------------------------------------

#[test]
fn an_option_accepts_the_values_of_its_type_only() {
    for (value, answer) in [("true", "success"), ("false", "success"), ("1", "success"), ("0", "success")] {
        let script = format!("(set-option :print-success true)(set-option :produce-interpolants {value})");
        assert_eq!(answers(&script)[1], answer, "{value}");
    }
    for value in ["foo", "2", "\"true\"", "(true)", ""] {
        let script = format!("(set-option :print-success true)(set-option :produce-interpolants {value})");
        assert_eq!(answers(&script)[1], r#"(error "`:produce-interpolants` is true or false")"#, "{value}");
    }
    assert_eq!(answers("(set-option :random-seed foo)"), [r#"(error "`:random-seed` is a natural number")"#]);
    assert_eq!(answers("(set-option :print-success true)(set-option :foo 1)"), ["success", "unsupported"]);
}

#[test]
fn ones_and_zeros_switch_interpolants_on_and_off() {
    let script = |value: &str| {
        format!(
            "(set-option :produce-interpolants {value})(declare-const x Int)
            (assert (! (< x 0) :named A))(assert (! (> x 0) :named B))(check-sat)(get-interpolants A B)"
        )
    };
    assert_eq!(answers(&script("1")), ["unsat", "((<= x (- 1)))"]);
    assert_eq!(
        answers(&script("0")),
        ["unsat", r#"(error "interpolants need the option :produce-interpolants")"#]
    );
}

#[test]
fn algorithms_by_number_are_those_by_name() {
    let script = |option: &str| {
        format!(
            "(set-option :produce-interpolants 1)(set-option {option})(declare-const x Real)(declare-const y Real)
            (assert (! (and (< x 0.0) (= y x)) :named A))(assert (! (> y 4.0) :named B))(check-sat)
            (get-interpolants A B)"
        )
    };
    let weak = answers(&script(":interpolation-lra-algorithm 2"));
    assert_eq!(weak, answers(&script(":interpolation-lra dual")));
    assert_ne!(weak, answers(&script(":interpolation-lra-algorithm 0")));
    assert_eq!(
        answer("(set-option :interpolation-bool-algorithm 3)"),
        r#"(error "`:interpolation-bool-algorithm` is 0 (McMillan), 1 (Pudlak) or 2 (dual McMillan)")"#
    );
}

#[test]
fn get_option_answers_the_current_value() {
    for (set, option, value) in [
        ("", ":print-success", "false"),
        ("", ":produce-models", "true"),
        ("(set-option :produce-proofs 1)", ":produce-proofs", "true"),
        ("(set-option :random-seed 7)", ":random-seed", "7"),
        ("", ":regular-output-channel", "\"stdout\""),
        ("(set-option :interpolation-lra-algorithm 4)", ":interpolation-lra", "decomposed"),
        ("(set-option :interpolation-strength 0.25)", ":interpolation-lra-factor", "\"1/4\""),
        ("", ":foo", "unsupported"),
    ] {
        assert_eq!(answer(&format!("{set}(get-option {option})")), value, "{set} {option}");
    }
}

#[test]
fn options_about_all_assertions_come_before_the_first() {
    for option in [":produce-unsat-cores", ":produce-proofs", ":produce-interpolants", ":global-declarations"]
    {
        let message = format!("(error \"`{option}` must be set before the first assertion\")");
        assert_eq!(answers(&format!("(assert true)(set-option {option} true)")), [message]);
    }
}

#[test]
fn models_and_failed_assumptions_can_be_switched_off() {
    assert_eq!(
        answer("(set-option :produce-models false)(check-sat)(get-model)"),
        r#"(error "models need the option :produce-models")"#
    );
    assert_eq!(
        answer(
            "(set-option :produce-unsat-assumptions false)(check-sat-assuming (false))(get-unsat-assumptions)"
        ),
        r#"(error "assumptions at fault need the option :produce-unsat-assumptions")"#
    );
}

#[test]
fn global_declarations_outlive_their_level() {
    let script = |value: &str| {
        format!(
            "(set-option :global-declarations {value})(push)(declare-const x Int)(pop)(assert (> x 0))(check-sat)"
        )
    };
    assert_eq!(answers(&script("true")), ["sat"]);
    assert_eq!(answers(&script("false")), [r#"(error "undeclared symbol `x`")"#, "unknown"]);
}

#[test]
fn the_resource_limit_bounds_a_query() {
    // Seven pigeons in six holes take some hundred conflicts.
    let mut script = "(set-option :reproducible-resource-limit 3)".to_owned();
    for pigeon in 0..7 {
        (0..6).for_each(|hole| script.push_str(&format!("(declare-const p{pigeon}{hole} Bool)")));
        let holes: String = (0..6).map(|hole| format!("p{pigeon}{hole} ")).collect();
        script.push_str(&format!("(assert (or {holes}))"));
        for other in 0..pigeon {
            (0..6).for_each(|h| script.push_str(&format!("(assert (not (and p{pigeon}{h} p{other}{h})))")));
        }
    }
    script.push_str("(check-sat)");
    let unlimited = format!("{script}(set-option :reproducible-resource-limit 0)(check-sat)");
    assert_eq!(answers(&unlimited), ["unknown", "unsat"]);
}

#[test]
fn answers_go_to_the_regular_output_channel() {
    let file = std::env::temp_dir().join(format!("shofar-channel-{}", std::process::id()));
    let script = format!(
        "(echo \"here\")(set-option :regular-output-channel \"{}\")(echo \"there\")
        (set-option :regular-output-channel \"stdout\")(echo \"back\")
        (set-option :regular-output-channel \"/nonexistent/file\")(get-option :regular-output-channel)",
        file.display()
    );
    let answers = answers(&script);
    assert_eq!(answers[..2], ["\"here\"", "\"back\""]);
    assert!(answers[2].starts_with("(error \"cannot write to /nonexistent/file"), "{}", answers[2]);
    assert_eq!(answers[3], "\"stdout\"");
    let written = std::fs::read_to_string(&file).expect("the file is written");
    std::fs::remove_file(&file).expect("the file can be removed");
    assert_eq!(written, "\"there\"\n");
}

#[test]
fn the_documentation_lists_all_options_and_commands() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/smt.md");
    let text = std::fs::read_to_string(path).expect("the documentation is there");
    for name in shofar_smt::options::names() {
        assert!(text.contains(&format!("`{name}`")), "{name} is not documented");
    }
}

// ---- assignments -------------------------------------------------------------------------------------------

#[test]
fn get_assignment_tells_the_truth_of_named_formulas() {
    let script = "(set-option :produce-assignments true)(declare-const x Int)
        (assert (! (or (! (> x 5) :named big) (! (< x 0) :named small)) :named all))
        (assert (not small))(push)(assert (! (= x 7) :named seven))(check-sat)(get-assignment)(pop)
        (assert (= x 6))(check-sat)(get-assignment)";
    assert_eq!(
        answers(script),
        [
            "sat",
            "((big true) (small false) (all true) (seven true))",
            "sat",
            "((big true) (small false) (all true))"
        ]
    );
    assert_eq!(
        answer("(check-sat)(get-assignment)"),
        r#"(error "assignments need the option :produce-assignments")"#
    );
    assert_eq!(
        answer("(set-option :produce-assignments true)(get-assignment)"),
        r#"(error "a model is there after the answer sat only")"#
    );
}

// ---- quantifiers -------------------------------------------------------------------------------------------

#[test]
fn remainders_in_unbounded_formulas_are_eliminated() {
    // By the residue of `a`, the least `x` is `a`.
    let script = "(declare-const a Int)(declare-const b Int)
        (get-qe (exists ((x Int)) (and (<= a x) (<= (+ (* 3 x) (mod x 3)) b))))";
    let result = answer(script);
    assert!(!result.contains("error") && !result.contains('x'), "{result}");
    for (a, b) in (-5..=5).flat_map(|a: i64| (-16..=16).map(move |b: i64| (a, b))) {
        let number = |n: i64| if n < 0 { format!("(- {})", -n) } else { n.to_string() };
        let script = format!(
            "(define-const a Int {})(define-const b Int {})(assert {result})(check-sat)",
            number(a),
            number(b)
        );
        let expected = if 3 * a + a.rem_euclid(3) <= b { "sat" } else { "unsat" };
        assert_eq!(answer(&script), expected, "a = {a}, b = {b}");
    }
}

#[test]
fn several_remainders_and_quotients_are_eliminated() {
    for (formula, checks) in [
        ("(exists ((x Int)) (and (<= a (+ (* 2 x) (mod x 2))) (<= (div (+ (* 5 x) 1) 2) b)))", "mod and div"),
        (
            "(exists ((x Int) (y Int)) (and (<= a (+ (* 2 x) (* 3 y))) (<= (+ (mod x 2) (* 2 x) (* 3 y)) b) (> x y)))",
            "two",
        ),
        ("(forall ((x Int)) (=> (<= a x) (<= (+ (* 3 x) (mod x 3)) b)))", "forall"),
        (
            "(exists ((x Int)) (and ((_ divisible 3) (+ x a)) ((_ divisible 5) (+ x b)) (< a x) (< (* 2 x) (+ b a))))",
            "divisible",
        ),
    ] {
        let result = answer(&format!("(declare-const a Int)(declare-const b Int)(get-qe {formula})"));
        assert!(!result.contains("error"), "{checks}: {result}");
    }
}

// ---- integers ----------------------------------------------------------------------------------------------

/// Two remainders of unbounded numbers contradict each other. Splits on the numbers go on for ever; those on the remainders end.
#[test]
fn few_values_make_unbounded_numbers_fractions() {
    let script = "(set-logic QF_LIA)
        (declare-const a Int)(declare-const b Int)(declare-const f Int)(declare-const h Int)(declare-const i Int)
        (declare-const p Bool)(declare-const q Bool)
        (assert (not (and (>= b h) (>= a b) (<= a h) (not p) q)))
        (assert (not (and (= a b) p (= b f) (not q))))
        (assert (<= (+ (* 2 a) i (* (- 3) h)) 1))
        (assert (distinct 0 (mod (+ (- a) i 2) 3)))
        (assert (>= a h))
        (assert (>= i h))
        (assert (distinct a (mod (+ 1 b) 3)))
        (assert (= i (mod (+ 1 b) 3)))
        (check-sat)";
    assert_eq!(answer(script), "unsat");
}
