//! Proofs in the Alethe format, replayed by an independent checker.

#![expect(clippy::print_stdout, reason = "what was checked is part of the result")]

mod alethe_checker;

use std::fmt::Write as _;

use alethe_checker::{OPEN, Tally, check};
use shofar_logic::number::Rational;
use shofar_logic::{Op, Sort, Term, TermStore};
use shofar_run::Limits;
use shofar_smt::proof::{Part, write_alethe};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::Random;
use shofar_testing::datatypes::Datatypes;
use shofar_testing::formulas::{Generator, Language};
use shofar_testing::scale::numbers;
use shofar_testing::scripts::{execute, group, members};
use shofar_testing::z3;

/// A proof as text, with what was asserted and the declarations for it.
struct Text {
    declarations: String,
    assertions: Vec<String>,
    proof: String,
}

/// The text of the proof that formulas contradict each other, each in a part of its own.
fn refutation(store: &TermStore, formulas: &[Term]) -> String {
    let mut solver = Solver::with_proofs(store);
    for (part, &formula) in (0..).zip(formulas) {
        solver.assert_in(formula, Part(part)).unwrap();
    }
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Unsat));
    let mut text = Vec::new();
    write_alethe(store, &solver.proof().unwrap(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The proof of generated formulas, if they contradict each other in the end. They are asserted one by one, or together
/// with equations that define symbols.
fn generated(language: Language, seed: u64, together: bool) -> Option<Text> {
    let store = TermStore::new();
    let mut generator = Generator { store: &store, random: Random::new(seed), language };
    let mut solver = Solver::with_proofs(&store);
    let mut asserted: Vec<Term> = Vec::new();
    for part in 0..30 {
        if together {
            let batch: Vec<(Term, Part)> =
                generator.batch().into_iter().zip((part * 100..).map(Part)).collect();
            solver.assert_all_in(&batch).ok()?;
            asserted.extend(batch.iter().map(|(formula, _)| formula));
        } else {
            let depth = generator.random.below(3);
            let formula = generator.formula(depth);
            solver.assert_in(formula, Part(part)).ok()?;
            asserted.push(formula);
        }
        if solver.check(&[], &Limits { conflicts: Some(300), ..Limits::default() }).ok()? == Outcome::Unsat {
            let mut text = Vec::new();
            write_alethe(&store, &solver.proof()?, &mut text).ok()?;
            return Some(Text {
                declarations: z3::declarations(&store, &asserted),
                assertions: asserted.iter().map(|&formula| store.display(formula).to_string()).collect(),
                proof: String::from_utf8(text).ok()?,
            });
        }
    }
    None
}

/// Checks generated proofs. Returns how many steps there are, and how many of them are holes.
fn checked(language: Language, proofs: u64, seed: u64, together: bool) -> (usize, usize) {
    let mut total = Tally::new();
    let mut count = 0;
    for number in numbers(proofs) {
        let text = generated(language, seed * 1_000_000 + number, together);
        let Some(Text { declarations, assertions, proof }) = text else { continue };
        let tally = check(&declarations, &assertions, &proof)
            .unwrap_or_else(|error| panic!("query {number}: {error}\n{declarations}\n{proof}"));
        count += 1;
        for (rule, uses) in tally {
            *total.entry(rule).or_default() += uses;
        }
    }
    println!("{count} proofs: {total:?}");
    assert!(count * 4 > proofs as usize, "{count}");
    let holes = ["hole", OPEN].iter().filter_map(|kind| total.get(*kind)).sum();
    (total.values().sum(), holes)
}

#[test]
fn proofs_about_booleans_have_no_holes() {
    assert_eq!(checked(Language::Booleans, 60, 1, false).1, 0);
}

/// Checks that of so many steps one is a hole at most: where terms were simplified inside of others.
fn has_few_holes(language: Language, proofs: u64, seed: u64, steps_for_each: usize) {
    let (steps, holes) = checked(language, proofs, seed, false);
    assert!(holes * steps_for_each < steps, "{holes} of {steps}");
}

#[test]
fn proofs_with_definitions_have_few_holes() {
    assert_eq!(checked(Language::Booleans, 60, 11, true).1, 0);
    for (language, seed, steps_for_each) in
        [(Language::Reals, 12, 50), (Language::Integers, 13, 8), (Language::Everything, 14, 6)]
    {
        let (steps, holes) = checked(language, 40, seed, true);
        assert!(holes * steps_for_each < steps, "{holes} of {steps}");
    }
}

#[test]
fn proofs_about_functions_have_few_holes() {
    has_few_holes(Language::Declared, 120, 2, 40);
}

#[test]
fn proofs_about_numbers_have_few_holes() {
    has_few_holes(Language::Reals, 60, 3, 100);
    // Quotients have no rules.
    has_few_holes(Language::Integers, 60, 4, 12);
    has_few_holes(Language::Mixed, 60, 5, 12);
}

#[test]
fn proofs_about_functions_of_numbers_have_few_holes() {
    has_few_holes(Language::RealFunctions, 40, 6, 50);
    has_few_holes(Language::IntegerFunctions, 40, 7, 8);
    has_few_holes(Language::Everything, 40, 8, 8);
}

/// The rules for datatypes.
const DATATYPE_RULES: [&str; 7] =
    ["dt_inject", "dt_select", "dt_test", "dt_clash", "dt_cycle", "dt_split", "dt_expand"];

/// Asks Z3 whether all clauses of rules for datatypes are valid. Returns their number.
fn ask_z3(script: &mut String, declarations: &str, proof: &str) -> usize {
    let _ = writeln!(script, "(push 1)\n{declarations}");
    let mut asked = 0;
    for line in proof.lines() {
        if line.starts_with("(define-fun") {
            let _ = writeln!(script, "{line}");
        }
        let Some((_, rule)) = line.split_once(":rule ") else { continue };
        if DATATYPE_RULES.contains(&rule.split([' ', ')']).next().unwrap_or_default())
            && let Some((clause, _)) = line.find("(cl ").and_then(|start| group(&line[start..]))
        {
            asked += 1;
            let _ = writeln!(script, "(push 1)(assert (not (or {}))(check-sat)(pop 1)", &clause[4..]);
        }
    }
    script.push_str("(pop 1)\n");
    asked
}

#[test]
fn proofs_about_datatypes_have_steps_that_z3_finds_valid() {
    let mut total = Tally::new();
    let (mut proofs, mut asked) = (0, 0);
    let mut script = "(set-option :timeout 2000)\n".to_owned();
    for seed in numbers(400) {
        let mut random = Random::new(5_000_000 + seed);
        let store = TermStore::new();
        let datatypes = Datatypes::some(&store, &mut random);
        let formulas: Vec<Term> = (0..3 + random.below(5)).map(|_| datatypes.formula(&mut random)).collect();
        let mut solver = Solver::with_proofs(&store);
        formulas.iter().for_each(|&formula| solver.assert(formula).unwrap());
        if solver.check(&[], &Limits::default()) != Ok(Outcome::Unsat) {
            continue;
        }
        let mut text = Vec::new();
        write_alethe(&store, &solver.proof().unwrap(), &mut text).unwrap();
        let proof = String::from_utf8(text).unwrap();
        let assertions: Vec<String> =
            formulas.iter().map(|&formula| store.display(formula).to_string()).collect();
        let declarations = &datatypes.declarations;
        let tally = check(declarations, &assertions, &proof)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{declarations}\n{proof}"));
        proofs += 1;
        for (rule, uses) in tally {
            *total.entry(rule).or_default() += uses;
        }
        asked += ask_z3(&mut script, declarations, &proof);
    }
    println!("{proofs} proofs: {total:?}");
    for rule in DATATYPE_RULES {
        assert!(total.contains_key(rule), "{rule} in {total:?}");
    }
    // Where symbols were replaced, and choices simplified.
    let holes: usize = ["hole", OPEN].iter().filter_map(|kind| total.get(*kind)).sum();
    assert!(holes * 100 < total.values().sum(), "{holes} holes");
    let Some(answers) = z3::answers(&script) else { return };
    assert_eq!(answers.len(), asked, "{:?}", answers.iter().find(|line| line.contains("error")));
    assert!(
        answers.iter().all(|answer| answer == "unsat"),
        "{:?}",
        answers.iter().position(|it| it != "unsat")
    );
}

/// Asserts the formulas and checks the proof that `get-proof` prints.
fn proved(declarations: &str, formulas: &[&str]) -> Tally {
    let asserted: Vec<String> = formulas.iter().map(|formula| format!("(assert {formula})")).collect();
    let answer = execute(&format!(
        "(set-option :produce-proofs true)\n{declarations}\n{}\n(check-sat)\n(get-proof)",
        asserted.join("\n")
    ));
    let proof = answer.strip_prefix("unsat\n(\n").and_then(|answer| answer.strip_suffix(")\n"));
    let proof = proof.unwrap_or_else(|| panic!("{answer}"));
    let assertions: Vec<String> = formulas.iter().map(|&formula| formula.to_owned()).collect();
    check(declarations, &assertions, proof).unwrap_or_else(|error| panic!("{error}\n{proof}"))
}

#[test]
fn worked_examples_have_no_holes() {
    let numbers =
        "(declare-const x Int)\n(declare-const y Int)\n(declare-const z Int)\n(declare-const p Bool)";
    let functions = "(declare-sort U 0)\n(declare-fun f (U U) U)\n(declare-fun g (Int) Int)\n(declare-fun q (U) Bool)\n\
                     (declare-const a U)\n(declare-const b U)\n(declare-const c U)\n(declare-const i Int)\n(declare-const j Int)";
    for (declarations, formulas, rules) in [
        // The connectives that normalising removes.
        (numbers, &["(xor p (=> p p))", "(=> (not p) (xor p p))", "(=> p (not p))"][..], &["xor_pos1"][..]),
        // Parity: the sum is an integer, and between two of them.
        (numbers, &["(= z (* 2 x))", "(= (- z 1) (* 2 y))"], &["la_generic"]),
        (
            numbers,
            &[
                "(<= 27 (+ (* 11 x) (* 13 y)) )",
                "(<= (+ (* 11 x) (* 13 y)) 45)",
                "(<= (- 10) (- (* 7 x) (* 9 y)))",
                "(<= (- (* 7 x) (* 9 y)) 4)",
            ],
            &["la_generic"],
        ),
        // Equations, disequalities and choices.
        (
            numbers,
            &[
                "(distinct x y z)",
                "(and (<= 0 x) (<= x 1))",
                "(and (<= 0 y) (<= y 1))",
                "(and (<= 0 z) (<= z 1))",
            ],
            &["distinct_elim", "la_disequality"],
        ),
        (numbers, &["(< x y z x)"], &["nary_elim"]),
        (numbers, &["(= p (> x 0) (> y 0))", "(= p (= x y 1))", "(> x y 0)"], &["nary_elim"]),
        (numbers, &["(> (ite p x y) 3)", "(< x 2)", "(not (>= y 4))"], &["la_generic"]),
        (
            functions,
            &["(= (f a b) c)", "(= b a)", "(distinct (f b b) c)"],
            &["eq_congruent", "eq_transitive"],
        ),
        (functions, &["(q (f a b))", "(= a c)", "(not (q (f c b)))"], &["eq_congruent"]),
        (functions, &["(<= i j)", "(< (g i) (g j))", "(>= i j)"], &["eq_congruent", "la_disequality"]),
        (functions, &["(= a (ite (q a) b c))", "(distinct a b)", "(distinct a c)"], &["ite_intro"]),
    ] {
        let tally = proved(declarations, formulas);
        assert!(!tally.contains_key("hole"), "{formulas:?}: {tally:?}");
        for rule in rules {
            assert!(tally.contains_key(*rule), "{rule} in {tally:?}");
        }
    }
}

#[test]
fn worked_examples_about_datatypes_have_no_holes() {
    let declarations = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))\n\
                        (declare-datatypes ((C 0)) (((r) (g) (b))))\n\
                        (declare-const x L)\n(declare-const y L)\n(declare-const z L)\n(declare-const c C)\n\
                        (declare-const i Int)\n(declare-const j Int)\n(declare-fun f (L) C)\n(declare-fun h (L) L)";
    for (formulas, rules) in [
        (&["(= (h z) (cons i x))", "(= (h z) (cons j y))", "(not (= x y))"][..], &["dt_inject"][..]),
        (&["(= (f x) r)", "(= (f y) g)", "(= (f x) (f y))"], &["dt_clash"]),
        (&["(= (h y) (cons i z))", "(= (h y) (h x))", "(> (hd (h x)) i)"], &["dt_select"]),
        (&["(= (h y) (cons i z))", "(= (h y) (h x))", "((_ is nil) (h x))"], &["dt_test"]),
        (
            &["(= (h x) (cons i (h y)))", "(= (h y) (cons j (h z)))", "(or (= (h z) (h y)) (= (h z) (h x)))"],
            &["dt_cycle"],
        ),
        (&["(not (= (f x) r))", "(not (= (f x) g))", "(not (= (f x) b))"], &["dt_split"]),
        (&["(not ((_ is nil) x))", "(not (= x (cons (hd x) (tl x))))"], &["dt_split"]),
        (&["(or ((_ is r) c) ((_ is g) c))", "(not (= c r))", "(not (= c g))"], &["dt_expand"]),
    ] {
        let tally = proved(declarations, formulas);
        assert!(!tally.contains_key("hole") && !tally.contains_key(OPEN), "{formulas:?}: {tally:?}");
        for rule in rules {
            assert!(tally.contains_key(*rule), "{rule} in {tally:?}");
        }
    }
}

/// What is left is what defines quotients, which has no rule: no hole has an assertion as a premise.
#[test]
fn quotients_are_left_to_their_definitions() {
    let declarations =
        "(declare-const x Int)\n(declare-const y Int)\n(declare-const r Real)\n(declare-fun f (Int) Int)";
    for (formulas, most) in [
        (&["(= (mod x 3) 1)", "(<= (* 3 y) x (* 3 y))"][..], 3),
        (&["(> (mod (+ x 6) 3) 0)", "(<= (* 3 y) x (* 3 y))"], 5),
        (&["(not ((_ divisible 2) (+ x x)))"], 3),
        (&["(< (to_real (to_int r)) (- r 1.0))"], 2),
        (&["(> (f (+ x 0 (* 2 y))) 3)", "(<= (f (+ y x y)) 3)"], 0),
        (&["(> (f (mod x 5)) (f (- x (* 5 (div x 5)))))"], 1),
        (&["(= (+ (f (- (f (+ 1 x)) 1)) 1) 3)", "(distinct (f (+ (- 1) (f (+ x 1)))) 2)"], 0),
    ] {
        let tally = proved(declarations, formulas);
        assert!(!tally.contains_key(OPEN), "{formulas:?}: {tally:?}");
        assert!(tally.get("hole").copied().unwrap_or_default() <= most, "{formulas:?}: {tally:?}");
    }
}

/// The line of a step without one of its literals.
fn without_literal(line: &str, random: &mut Random) -> Option<String> {
    let start = line.find("(cl ")? + 4;
    let (clause, _) = group(&line[start - 4..])?;
    let literals = members(&clause[4..clause.len() - 1]);
    let left_out = random.below(literals.len());
    let rest: Vec<&str> =
        literals.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, literal)| *literal).collect();
    Some(format!("{}{}{}", &line[..start], rest.join(" "), &line[start + clause.len() - 5..]))
}

#[test]
fn changed_proofs_are_rejected() {
    let (mut tried, mut accepted) = (0, 0);
    for (language, seed) in [(Language::Booleans, 11), (Language::Reals, 12), (Language::Declared, 13)] {
        for number in 0..30 {
            let Some(text) = generated(language, seed * 1_000_000 + number, false) else { continue };
            let mut random = Random::new(number);
            let lines: Vec<&str> = text.proof.lines().collect();
            let steps: Vec<usize> = (0..lines.len())
                .filter(|&at| lines[at].starts_with("(step") && !lines[at].contains("hole"))
                .collect();
            if steps.is_empty() {
                continue;
            }
            let changed = steps[random.below(steps.len())];
            let Some(line) = without_literal(lines[changed], &mut random) else { continue };
            let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
            lines[changed] = line;
            tried += 1;
            accepted += usize::from(check(&text.declarations, &text.assertions, &lines.join("\n")).is_ok());
        }
    }
    // A weakening may do without a literal.
    assert!(tried > 40 && accepted * 10 < tried, "{accepted} of {tried}");
}

/// Neither the length of a conjunction nor the depth of a formula makes writing slow, or overflows the stack.
#[test]
fn long_and_deep_assertions() {
    let store = TermStore::new();
    let var = |at: usize| store.var(store.symbol(&format!("p{at}")), Sort::BOOL);
    let app = |op: Op, args: &[Term]| store.app(op, args).unwrap();
    let implications: Vec<Term> = (0..1000).map(|at| app(Op::Implies, &[var(at), var(at + 1)])).collect();
    let mut deep = var(1000);
    for at in 0..200 {
        deep = app(Op::And, &[app(Op::Or, &[deep, app(Op::Not, &[var(at)])]), var(0)]);
    }
    for formulas in [
        vec![app(Op::And, &implications), var(0), app(Op::Not, &[var(1000)])],
        vec![deep, app(Op::And, &implications), app(Op::Not, &[var(1000)])],
    ] {
        assert_eq!(refutation(&store, &formulas).matches(":rule hole").count(), 0);
    }
}

/// A formula that is in the clauses of all its parts is written out once.
#[test]
fn text_is_linear_in_the_terms() {
    let length = |depth: usize| {
        let store = TermStore::new();
        let var = |at: usize| store.var(store.symbol(&format!("p{at}")), Sort::BOOL);
        let app = |op: Op, args: &[Term]| store.app(op, args).unwrap();
        let mut deep = var(depth);
        for at in 0..depth {
            deep = app(Op::And, &[app(Op::Or, &[deep, app(Op::Not, &[var(at)])]), var(at)]);
        }
        refutation(&store, &[deep, app(Op::Not, &[var(depth)])]).len()
    };
    let (short, long) = (length(50), length(200));
    assert!(long < 6 * short, "{short}, {long}");
}

/// What congruence says of an integer and a fraction is an equation in the text, and not `false`.
#[test]
fn an_integer_that_congruence_makes_a_fraction_leaves_no_hole() {
    let store = TermStore::new();
    let h = store.fun(store.symbol("h"), &[Sort::BOOL, Sort::REAL], Sort::REAL);
    let call = |p: Term, x: Term| store.apply(h, &[p, x]).unwrap();
    let var = |name: &str, sort: Sort| store.var(store.symbol(name), sort);
    let [i, j] = ["i", "j"].map(|name| store.to_real(var(name, Sort::INT)));
    let (p, x) = (var("p", Sort::BOOL), var("x", Sort::REAL));
    let half = store.real(Rational::new(1.into(), 2.into()));
    let formulas = [
        store.eq(call(Term::TRUE, half), j),
        store.eq(call(Term::TRUE, x), i),
        store.eq(call(p, x), half),
        p,
    ];
    let text = refutation(&store, &formulas);
    let assertions = formulas.map(|formula| store.display(formula).to_string());
    let declarations = z3::declarations(&store, &formulas);
    let tally = check(&declarations, &assertions, &text).unwrap();
    assert!(tally.contains_key("eq_congruent") && !tally.contains_key("hole"), "{tally:?}");
}

/// Symbols of the input that look like names of the text are no names.
#[test]
fn names_are_new() {
    let long = "(+ @p0 (* 2 @p1) 1000000000000000000000)";
    let declarations = "(declare-const @p0 Int)\n(declare-const @p1 Int)";
    let above = format!("(> {long} 5)");
    let tally = proved(declarations, &[above.as_str(), &format!("(or (< {long} 3) (< @p0 0 {long} 2))")]);
    assert!(!tally.contains_key(OPEN), "{tally:?}");
}
