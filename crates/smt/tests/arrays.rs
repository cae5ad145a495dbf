//! Arrays: the axioms, their combination with other theories, and generated scripts beside Z3 and cvc5.

use std::fmt::Write as _;

use shofar_logic::{Term, TermStore, Value};
use shofar_run::Limits;
use shofar_smt::proof;
use shofar_smt::renewal::Renewal;
use shofar_smt::sat::Outcome;
use shofar_smt::script::{Commands, Script};
use shofar_smt::solver::Solver;
use shofar_testing::datatypes::Datatypes;
use shofar_testing::scale::numbers;
use shofar_testing::{Random, cvc5, z3};

/// The output of a script, with proofs that are checked, models and cores.
fn output(script: &str) -> String {
    let options = ["models", "unsat-cores", "proofs", "unsat-assumptions"];
    let options: String = options.map(|it| format!("(set-option :produce-{it} true)")).concat();
    let text = format!("{options}{script}");
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

/// The answer to some assertions.
fn answer(script: &str) -> String {
    let declarations = "(declare-sort U 0) (declare-datatypes ((P 0)) (((mk (fst Int) (snd Int)))))
        (define-sort A () (Array Int Int)) (declare-fun a () A) (declare-fun b () A) (declare-fun c () A)
        (declare-fun i () Int) (declare-fun j () Int) (declare-fun k () Int) (declare-fun v () Int)
        (declare-fun w () Int) (declare-fun x () Int) (declare-fun y () Int)";
    output(&format!("{declarations} {script} (check-sat)")).trim_end().to_owned()
}

#[test]
fn s1_a_write_leaves_other_elements() {
    assert_eq!(
        answer("(assert (not (= i j))) (assert (not (= (select (store a i v) j) (select a j))))"),
        "unsat"
    );
}

#[test]
fn s2_writes_at_different_indices_commute() {
    assert_eq!(
        answer(
            "(assert (not (= i j)))
             (assert (not (= (store (store a i v) j w) (store (store a j w) i v))))"
        ),
        "unsat"
    );
}

/// An index that is a cast integer.
#[test]
fn integers_are_indices_of_arrays_over_reals() {
    let reals = "(declare-fun r () (Array Real Int)) (declare-fun s () (Array Real Int))
        (assert (or (= r ((as const (Array Real Int)) v)) (= r (store s 1.0 v))))
        (assert (distinct (select r (to_real x)) v))";
    let differ = "(assert (distinct (select s (to_real x)) (select r (to_real x))))";
    assert_eq!(answer(&format!("{reals}{differ}")), "unsat");
    assert_eq!(answer(reals), "sat");
}

#[test]
fn s3_arrays_with_one_write_in_common_differ_at_its_index_only() {
    let common = "(assert (= (store a i v) (store b i v))) (assert (not (= a b)))";
    assert_eq!(answer(&format!("{common} (assert (= (select a i) (select b i)))")), "unsat");
    assert_eq!(answer(common), "sat");
}

#[test]
fn s4_a_write_that_changes_nothing_writes_the_element() {
    assert_eq!(answer("(assert (= (store a i v) a)) (assert (not (= (select a i) v)))"), "unsat");
}

#[test]
fn s5_constant_arrays_that_are_equal_almost_everywhere_have_one_element() {
    assert_eq!(
        answer(
            "(assert (= ((as const A) x) (store (store ((as const A) y) i v) j w)))
             (assert (not (= x y)))"
        ),
        "unsat"
    );
}

#[test]
fn s6_two_writes_fill_an_array_with_two_indices() {
    assert_eq!(
        answer(
            "(define-sort B () (Array Bool Int)) (declare-fun p () Bool) (declare-fun q () Bool)
             (assert (= ((as const B) x) (store (store ((as const B) y) p v) q w)))
             (assert (not (= x y)))"
        ),
        "sat"
    );
}

#[test]
fn s7_arrays_that_agree_at_both_truth_values_are_equal() {
    let equal = "(declare-fun f () (Array Bool Int)) (declare-fun g () (Array Bool Int))
        (assert (= (select f true) (select g true))) (assert (not (= f g)))";
    assert_eq!(answer(&format!("{equal} (assert (= (select f false) (select g false)))")), "unsat");
    assert_eq!(answer(equal), "sat");
}

#[test]
fn s8_arrays_are_elements_of_arrays() {
    assert_eq!(
        answer(
            "(declare-fun f () (Array Int A)) (declare-fun g () (Array Int A))
             (assert (= (select f i) b)) (assert (= g (store f i (store b j v))))
             (assert (not (= (select (select g i) j) v)))"
        ),
        "unsat"
    );
}

#[test]
fn s9_arrays_are_indices_of_arrays() {
    assert_eq!(
        answer(
            "(declare-fun m () (Array A Int)) (assert (= a (store b i (select b i))))
             (assert (not (= (select m a) (select m b))))"
        ),
        "unsat"
    );
}

#[test]
fn s9b_arrays_are_arguments_of_functions() {
    assert_eq!(
        answer(
            "(declare-fun f (A) Int) (assert (= a (store b i v))) (assert (= (select b i) v))
             (assert (not (= (f a) (f b))))"
        ),
        "unsat"
    );
}

#[test]
fn s10_indices_that_arithmetic_makes_equal() {
    assert_eq!(
        answer("(assert (<= i j)) (assert (<= j i)) (assert (= (select a i) 1)) (assert (= (select a j) 2))"),
        "unsat"
    );
}

#[test]
fn s11_a_swap_swaps() {
    assert_eq!(
        answer(
            "(assert (= b (store (store a i (select a j)) j (select a i))))
             (assert (or (not (= (select b i) (select a j))) (not (= (select b j) (select a i)))))"
        ),
        "unsat"
    );
}

#[test]
fn s12_pairs_are_elements_of_arrays() {
    assert_eq!(
        answer(
            "(declare-fun f () (Array Int P)) (declare-fun g () (Array Int P))
             (assert (= f (store g i (mk (fst (select f i)) 3))))
             (assert (not (= (snd (select f i)) 3)))"
        ),
        "unsat"
    );
}

#[test]
fn s13_a_read_of_a_choice() {
    assert_eq!(
        answer(
            "(declare-fun p () Bool) (assert (= (select (ite p (store a i 1) a) i) 0))
             (assert (= (select a i) 1))"
        ),
        "unsat"
    );
}

#[test]
fn s14_two_writes_leave_other_elements() {
    assert_eq!(
        answer(
            "(assert (= b (store a i v))) (assert (= c (store b j w)))
             (assert (not (= k i))) (assert (not (= k j))) (assert (not (= (select c k) (select a k))))"
        ),
        "unsat"
    );
}

#[test]
fn s15_three_arrays_differ_somewhere() {
    assert_eq!(
        answer(
            "(assert (distinct a b c)) (assert (= (select a 0) (select b 0)))
             (assert (= (select b 0) (select c 0)))"
        ),
        "sat"
    );
}

#[test]
fn s16_an_element_has_one_of_two_truth_values() {
    assert_eq!(
        answer(
            "(define-sort B () (Array Int Bool)) (declare-fun f () B) (declare-fun g () B) (declare-fun h () B)
             (assert (= g (store f i true))) (assert (= h (store f i false)))
             (assert (not (= f g))) (assert (not (= f h)))"
        ),
        "unsat"
    );
}

// ---- sorts, commands and sizes -----------------------------------------------------------------------------

#[test]
fn models_print_writes_to_a_constant_array() {
    let found = output(
        "(declare-const a (Array Int Bool)) (declare-const i Int)
        (assert (= a (store ((as const (Array Int Bool)) false) i true))) (assert (= i 3))
        (check-sat) (get-value (a (select a 3) (select a 4) (store a 3 false)))",
    );
    let array = "((as const (Array Int Bool)) false)";
    let expected = format!(
        "sat\n((a (store {array} 3 true))\n ((select a 3) true)\n ((select a 4) false)\n ((store a 3 false) {array}))\n"
    );
    assert_eq!(found, expected);
}

#[test]
fn cores_leave_out_what_does_not_matter() {
    let core = output(
        "(declare-const a (Array Int Int)) (declare-const b (Array Int Int)) (declare-const i Int)
        (assert (! (= b (store a i 1)) :named one)) (assert (! (> (select a 7) 3) :named two))
        (assert (! (< (select b i) 1) :named three)) (check-sat) (get-unsat-core)",
    );
    assert_eq!(core, "unsat\n(one three)\n");
}

#[test]
fn logics_with_arrays() {
    for (logic, sort) in [
        ("QF_AX", "U"),
        ("QF_ALIA", "Int"),
        ("QF_AUFLIA", "Int"),
        ("QF_ALRA", "Real"),
        ("QF_AUFLRA", "Real"),
        ("QF_AUFLIRA", "Real"),
        ("QF_AUFDTLIA", "Int"),
        ("ALL", "U"),
    ] {
        let found = output(&format!(
            "(set-logic {logic}) (declare-sort U 0) (declare-const a (Array {sort} {sort}))
            (declare-const i {sort}) (declare-const v {sort})
            (assert (not (= (select (store a i v) i) (select a i)))) (check-sat)
            (assert (= v (select a i))) (check-sat)"
        ));
        assert_eq!(found, "sat\nunsat\n", "{logic}");
    }
}

#[test]
fn sorts_that_are_not_supported_are_refused() {
    // There are four sets of truth values.
    let found = output(
        "(declare-const a (Array (Array Bool Bool) Int)) (declare-const s (Array Bool Bool))
        (assert (= (select a s) 1)) (check-sat) (get-info :reason-unknown)",
    );
    assert!(found.starts_with("unknown\n") && found.contains("arrays of this sort"), "{found}");
}

#[test]
fn it_is_open_how_many_elements_a_declared_sort_has() {
    // With one element of `U` there is a model, and with infinitely many there is none.
    let equal = "(define-sort B () (Array U Int)) (declare-const u U)
        (assert (= ((as const B) x) (store ((as const B) y) u x)))";
    assert_eq!(answer(equal), "sat");
    assert_eq!(answer(&format!("{equal} (assert (not (= x y)))")), "unknown");
}

#[test]
fn arrays_in_fields_and_under_functions() {
    let declared = "(declare-datatypes ((R 0)) (((rec (cells A) (size Int)))))
        (declare-fun r () R) (declare-fun s () R) (declare-fun f (R) Int)
        (assert (= (size r) (size s))) (assert (not (= (f r) (f s))))";
    assert_eq!(answer(declared), "sat");
    let written = "(assert (= (cells r) (store (cells s) i v)))";
    assert_eq!(answer(&format!("{declared} {written}")), "sat");
    let present = "(assert (= v (select (cells s) i)))";
    assert_eq!(answer(&format!("{declared} {written} {present}")), "unsat");
}

#[test]
fn a_long_chain_of_writes() {
    let mut script = String::from("(assert (distinct a b))");
    let mut written = String::from("a");
    for place in 0..300 {
        let _ = write!(script, "(declare-const i{place} Int) (assert (not (= j i{place})))");
        written = format!("(store {written} i{place} {place})");
    }
    assert_eq!(answer(&format!("{script} (assert (= (select {written} j) (select b j)))")), "sat");
    assert_eq!(answer(&format!("{script} (assert (not (= (select {written} j) (select a j))))")), "unsat");
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
        }
        Outcome::Unknown(reason) => panic!("{reason:?}\n{}", text()),
    }
    outcome
}

#[test]
fn random_formulas_have_the_answers_of_z3_and_cvc5() {
    let mut scripts = Vec::new();
    let mut found = Vec::new();
    for seed in numbers(400) {
        let mut random = Random::new(seed);
        let store = TermStore::new();
        let arrays = Datatypes::with_arrays(&store, &mut random);
        let formulas: Vec<Term> = (0..2 + random.below(8)).map(|_| arrays.formula(&mut random)).collect();
        let asserted: String =
            formulas.iter().map(|&formula| format!("(assert {})\n", store.display(formula))).collect();
        let text = || format!("; seed {seed}\n{}{asserted}(check-sat)\n", arrays.declarations);
        let mut solver = Solver::with_proofs(&store);
        found.push(decide(&store, &mut solver, &formulas, &text));
        scripts.push(text());
    }
    let sat = found.iter().filter(|outcome| **outcome == Outcome::Sat).count();
    assert!(sat * 5 > found.len() && sat * 5 < 4 * found.len(), "{sat} of {}", found.len());
    cvc5::compare(&scripts, &found);
    let limited = |script: &String| format!("(set-option :timeout 2000)\n{script}(reset)\n");
    z3::compare(&scripts.iter().map(limited).collect::<String>(), &found);
}

#[test]
fn frames_do_not_change_answers() {
    for seed in numbers(100) {
        let mut random = Random::new(1_000_000 + seed);
        let store = TermStore::new();
        let arrays = Datatypes::with_arrays(&store, &mut random);
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
                        (0..1 + random.below(3)).map(|_| arrays.formula(&mut random)).collect();
                    if random.bool() {
                        solver.assert_all(&formulas).expect("supported");
                    } else {
                        formulas.iter().for_each(|&it| solver.assert(it).expect("supported"));
                    }
                    frames.last_mut().expect("there is a frame").extend(formulas);
                }
            }
            let assumed: Vec<Term> = (0..random.below(3)).map(|_| arrays.formula(&mut random)).collect();
            let all: Vec<Term> = frames.iter().flatten().chain(&assumed).copied().collect();
            let text = || {
                let asserted = all.iter().map(|&it| format!("(assert {})\n", store.display(it)));
                format!("; seed {seed}\n{}{}", arrays.declarations, asserted.collect::<String>())
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
