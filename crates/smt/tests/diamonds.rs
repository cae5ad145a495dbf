//! Chains of diamonds, whose refutations are short only with equalities that the formula lacks (`theory/shortcuts.rs`).
//! Without these, sixty diamonds have 2^60 conflicts.

use shofar_logic::TermStore;
use shofar_run::Limits;
use shofar_smt::proof;
use shofar_smt::script::{Commands, Script};

/// The number of diamonds in a chain.
const LONG: usize = 60;

/// A chain of diamonds between `x0` and `xn`, one assertion each, by what the two ways of a diamond say.
fn chain(sort: &str, middles: usize, diamond: impl Fn(&str, &[String], &str) -> String) -> String {
    let mut text = format!("(declare-fun f ({sort}) {sort})");
    (0..=LONG).for_each(|i| text.push_str(&format!("(declare-const x{i} {sort})")));
    for i in 0..LONG {
        let [ys, zs] = ["y", "z"].map(|side| -> Vec<String> {
            let names: Vec<String> = (0..middles).map(|middle| format!("{side}{i}_{middle}")).collect();
            names.iter().for_each(|name| text.push_str(&format!("(declare-const {name} {sort})")));
            names
        });
        let (from, to) = (format!("x{i}"), format!("x{}", i + 1));
        let [left, right] = [ys, zs].map(|way| diamond(&from, &way, &to));
        text.push_str(&format!("(assert (! (or {left} {right}) :named d{i}))\n"));
    }
    text
}

/// All nodes of a way are equal.
fn equal(from: &str, way: &[String], to: &str) -> String {
    let nodes: Vec<&str> = [from].into_iter().chain(way.iter().map(String::as_str)).chain([to]).collect();
    let equations: Vec<String> =
        nodes.windows(2).map(|pair| format!("(= {} {})", pair[0], pair[1])).collect();
    format!("(and {})", equations.join(" "))
}

/// The answers to a script, and the conflicts that they took.
fn run<'a>(store: &'a TermStore, text: &str) -> (Script<'a>, Vec<String>, u64) {
    let mut commands = Commands::new(text.as_bytes());
    let mut script = Script::new(store);
    let mut out = Vec::new();
    while let Some(command) = commands.next_command().expect("reading from memory") {
        script.execute(&command, &Limits::default(), &mut out).expect("writing to memory");
    }
    let answers = String::from_utf8(out).expect("answers are text").lines().map(str::to_owned).collect();
    let conflicts = script.statistics().into_iter().find(|(name, _)| *name == "conflicts");
    (script, answers, conflicts.expect("conflicts are counted").1)
}

fn expect_few_conflicts(text: &str, expected: &[&str], most: u64) {
    let (_, answers, conflicts) = run(&TermStore::new(), text);
    assert_eq!(answers, expected);
    assert!(conflicts <= most, "{conflicts} conflicts");
}

const UF: &str = "(set-logic QF_UF)(declare-sort U 0)";

#[test]
fn diamonds_of_constants_are_refuted() {
    for middles in [1, 2, 4] {
        let text = format!("{UF}{}(assert (not (= x0 x{LONG})))(check-sat)", chain("U", middles, equal));
        expect_few_conflicts(&text, &["unsat"], 1000);
    }
}

#[test]
fn diamonds_of_function_values_are_refuted() {
    let images =
        |from: &str, way: &[String], to: &str| equal(&format!("(f {from})"), way, &format!("(f {to})"));
    let text = format!("{UF}{}(assert (not (= (f x0) (f x{LONG}))))(check-sat)", chain("U", 1, images));
    expect_few_conflicts(&text, &["unsat"], 1000);
}

#[test]
fn diamonds_whose_steps_are_functions_are_refuted() {
    let steps = |from: &str, way: &[String], to: &str| {
        let last = way.last().expect("there is a middle");
        format!("(and (= {from} {last}) (= (f {last}) {to}))")
    };
    let power = format!("{}x0{}", "(f ".repeat(LONG), ")".repeat(LONG));
    let text = format!("{UF}{}(assert (not (= {power} x{LONG})))(check-sat)", chain("U", 1, steps));
    expect_few_conflicts(&text, &["unsat"], 1000);
}

#[test]
fn diamonds_of_integers_with_functions_are_refuted() {
    let text = format!(
        "(set-logic QF_UFLIA){}(assert (not (= (f x0) (f x{LONG}))))(check-sat)",
        chain("Int", 1, equal)
    );
    expect_few_conflicts(&text, &["unsat"], 20_000);
}

/// Bounds of numbers clash just when an equality shall become an atom. Their conflict comes first.
#[test]
fn a_clash_does_not_wait_for_a_shortcut() {
    let mut text = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))\n".to_owned();
    for i in 0..8 {
        text.push_str(&format!(
            "(declare-const x{i} L)(declare-const y{i} L)(declare-const z{i} L)(declare-const n{i} Int)\n"
        ));
    }
    let besides = [
        ("((_ is cons) y6)", "(>= (+ n4 n5) 1)"),
        ("(<= n0 1)", "(<= (hd z3) 2)"),
        ("(>= (+ n3 n4) 0)", "(<= n3 1)"),
        ("(= n4 2)", "((_ is cons) z3)"),
        ("(>= (+ n0 n2) 0)", "(>= (hd z4) 2)"),
        ("(<= (hd x4) 2)", "((_ is cons) x1)"),
        ("(<= (+ n1 n4) 1)", "((_ is cons) y2)"),
    ];
    for (i, (left, right)) in besides.into_iter().enumerate() {
        let j = i + 1;
        text.push_str(&format!(
            "(assert (or (and (= x{i} y{i}) (= y{i} x{j}) {left}) (and (= x{i} z{i}) (= z{i} x{j}) {right})))\n"
        ));
        match i {
            0 => text.push_str("(assert (or ((_ is cons) z1) (>= (hd x6) 2)))\n"),
            1 => text.push_str("(assert (or (= n1 0) (>= n1 1)))\n"),
            _ => {}
        }
    }
    text.push_str("(assert (not (= x0 x7)))(check-sat)");
    assert_eq!(run(&TermStore::new(), &text).1, ["unsat"]);
}

#[test]
fn diamonds_that_do_not_close_have_models() {
    // In one of the ways the last equation is missing.
    let open = |from: &str, way: &[String], to: &str| match way[0].starts_with('y') {
        true => equal(from, way, to),
        false => format!("(= {from} {})", way[0]),
    };
    let text = format!("{UF}{}(assert (not (= x0 x{LONG})))(check-sat)", chain("U", 1, open));
    expect_few_conflicts(&text, &["sat"], 1000);
}

#[test]
fn frames_and_assumptions_do_not_lose_shortcuts() {
    let goal = format!("(not (= x0 x{LONG}))");
    let text = format!(
        "{UF}{}(push)(assert {goal})(check-sat)(pop)(check-sat)(check-sat-assuming ({goal}))",
        chain("U", 1, equal)
    );
    expect_few_conflicts(&text, &["unsat", "sat", "unsat"], 1000);
}

#[test]
fn proofs_with_shortcuts_are_right() {
    let store = TermStore::new();
    let text = format!(
        "(set-option :produce-proofs true){UF}{}(assert (not (= x0 x{LONG})))(check-sat)",
        chain("U", 2, equal)
    );
    let (script, answers, conflicts) = run(&store, &text);
    assert_eq!(answers, ["unsat"]);
    assert!(conflicts <= 1000, "{conflicts} conflicts");
    let proof = script.proof().expect("the answer is unsat");
    assert!(proof::check(&store, &proof).is_ok());
}

#[test]
fn shortcuts_mix_no_sides_of_interpolants() {
    let half = LONG / 2;
    let names = |range: std::ops::Range<usize>| range.map(|i| format!("d{i} ")).collect::<String>();
    let text = format!(
        "(set-option :produce-interpolants true){UF}{}(assert (! (not (= x0 x{LONG})) :named goal))(check-sat)
        (get-interpolants (and {}) (and {} goal))",
        chain("U", 1, equal),
        names(0..half),
        names(half..LONG)
    );
    let interpolant = format!("((= x0 x{half}))");
    expect_few_conflicts(&text, &["unsat", &interpolant], 1000);
}
