//! Unfolding of control flow: the expected locations, bounds, and answers and witnesses on random programs.

use std::fmt::Write;
use std::time::Instant;

use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::graph::NodeId;
use shofar_horn::transform::{Control, Image, Lemma, Transformation, Transformed};
use shofar_horn::{Context, HornGraph, parse};
use shofar_logic::TermStore;
use shofar_run::Limits;
use shofar_testing::explicit::{Ends, Saturation};
use shofar_testing::{Random, control_systems, scale};

fn graph(store: &TermStore, text: &str) -> HornGraph {
    let system = parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    HornGraph::of(store, &system)
}

/// The number of nodes and edges after the pass; `None` if nothing changes.
fn unfolded(text: &str) -> Option<(usize, usize)> {
    let store = TermStore::new();
    let new = Control.apply(&Context::new(&store), &graph(&store, text))?.graph;
    Some((new.nodes().len(), new.edges().len()))
}

/// Compares answers, over numbers from zero to the greatest, and translates the witness back, which is checked. Returns whether
/// the pass changes something, and whether the system is safe.
fn there_and_back(text: &str, greatest: i64, random: &mut Random) -> (bool, bool) {
    let store = TermStore::new();
    let context = Context::new(&store);
    let old = graph(&store, text);
    let is_safe = Saturation::of(&store, &old, 0..=greatest).is_safe();
    let Some(Transformed { graph: new, translation }) = Control.apply(&context, &old) else {
        return (false, is_safe);
    };
    let answer = Saturation::of(&store, &new, 0..=greatest);
    assert_eq!(answer.is_safe(), is_safe, "{text}");
    match answer.derivation() {
        Some(derivation) => {
            let steps = derivation.steps.len();
            assert_eq!(check_derivation(&context, &new, &derivation), Ok(()), "{text}");
            let back = translation.derivation_back(&context, derivation).expect("the derivation is right");
            assert_eq!(back.steps.len(), steps);
            assert_eq!(check_derivation(&context, &old, &back), Ok(()), "{text}");
        }
        None => {
            let model = answer.larger_model(random, 5, Ends::Closed);
            assert_eq!(check_graph_model(&context, &new, &model), Ok(()), "{text}");
            let back = translation.model_back(&context, model).expect("the model is right");
            assert_eq!(check_graph_model(&context, &old, &back), Ok(()), "{text}");
        }
    }
    (true, is_safe)
}

/// A program counter in two Booleans: start, a loop to ten, end.
fn counter_to_ten(bad: &str) -> String {
    format!(
        "(set-logic HORN)(declare-fun P (Bool Bool Int) Bool)
         (assert (forall ((x Int)) (=> (= x 0) (P false false x))))
         (assert (forall ((a Bool) (b Bool) (x Int) (c Bool) (d Bool) (y Int)) (=> (and (P a b x) (or
            (and (not a) (not b) (= y x) (not c) d)
            (and (not a) b (< x 10) (= y (+ x 1)) (not c) d)
            (and (not a) b (>= x 10) (= y x) c (not d)))) (P c d y))))
         (assert (forall ((x Int)) (=> (and (P true false x) {bad}) false)))"
    )
}

#[test]
fn a_counter_becomes_locations() {
    let (safe, unsafe_) = (counter_to_ten("(not (= x 10))"), counter_to_ten("(= x 10)"));
    // A fact, three edges between locations, and the query.
    assert_eq!(unfolded(&safe), Some((3, 5)));
    let random = &mut Random::new(0);
    assert_eq!(there_and_back(&safe, 10, random), (true, true));
    assert_eq!(there_and_back(&unsafe_, 10, random), (true, false));
    let store = TermStore::new();
    let new = Control.apply(&Context::new(&store), &graph(&store, &unsafe_)).expect("it has a counter").graph;
    let derivation = Saturation::of(&store, &new, 0..=10).derivation().expect("it is unsafe");
    assert_eq!(derivation.steps.len(), 14);
}

#[test]
fn numbers_with_few_values_are_control() {
    let states = |first: &str, guard: &str| {
        format!(
            "(set-logic HORN)(declare-fun P (Real Real) Bool)
             (assert (forall ((x Real)) (=> {first} (P 1.5 x))))
             (assert (forall ((s Real) (x Real) (t Real) (y Real)) (=> (and (P s x) (or
                (and (= s 1.5) {guard} (= y (+ x 1.0)) (or (= t s) (= t 3.0)))
                (and (= s 3.0) (> x 4.0) (= y x) (= t (/ 1.0 3.0))))) (P t y))))
             (assert (forall ((s Real) (x Real)) (=> (and (P s x) (< s 1.0) (< x 4.0)) false)))"
        )
    };
    assert_eq!(unfolded(&states("(= x 0.0)", "true")), Some((3, 5)));
    // The state becomes part of a sum.
    assert_eq!(unfolded(&states("(= x 0.0)", "(< (+ s x) 9.0)")), None);
}

#[test]
fn inputs_and_untested_flags_are_data() {
    let arguments = |name: &str| (0..12).fold(String::new(), |text, at| format!("{text} {name}{at}"));
    let sorts = "Bool ".repeat(12);
    let variables = (0..12).fold(String::new(), |text, at| format!("{text} (a{at} Bool) (b{at} Bool)"));
    let inputs = format!(
        "(set-logic HORN)(declare-fun P ({sorts} Int) Bool)
         (assert (forall ({variables}) (P {} 0)))
         (assert (forall ({variables} (x Int)) (=> (P {} x) (P {} (ite (or {}) (+ x 1) x)))))
         (assert (forall ({variables} (x Int)) (=> (and (P {} x) (< x 0)) false)))",
        arguments("a"),
        arguments("a"),
        arguments("b"),
        arguments("a"),
        arguments("a")
    );
    assert_eq!(unfolded(&inputs), None);
    let untested = "(set-logic HORN)(declare-fun P (Bool Int) Bool)
         (assert (P true 0))
         (assert (forall ((a Bool) (b Bool) (x Int)) (=> (and (P a x) (= a b)) (P b (+ x 1)))))
         (assert (forall ((a Bool) (x Int)) (=> (and (P a x) (< x 0)) false)))";
    assert_eq!(unfolded(untested), None);
}

/// A counter that jumps from its first value to any other one: a location with too many successors must not lose some of them.
#[test]
fn no_successor_is_lost() {
    for bad in 0..16 {
        let bits = |value: usize| -> String {
            (0..4).map(|bit| if value >> bit & 1 == 1 { "true " } else { "false " }).collect()
        };
        let text = format!(
            "(set-logic HORN)(declare-fun P (Bool Bool Bool Bool) Bool)
             (assert (P {}))
             (assert (forall ((a Bool) (b Bool) (c Bool) (d Bool) (e Bool) (f Bool) (g Bool) (h Bool))
                (=> (and (P a b c d) (not a) (not b) (not c) (not d)) (P e f g h))))
             (assert (=> (P {}) false))",
            bits(0),
            bits(bad)
        );
        assert!(!there_and_back(&text, 0, &mut Random::new(0)).1);
    }
}

/// A counter of seven bits has more locations than are allowed. Some bits are dropped, and the answer stays.
#[test]
fn a_long_counter_is_cut() {
    let bits = 7;
    let names = |name: &str| (0..bits).fold(String::new(), |text, at| format!("{text} {name}{at}"));
    let mut steps = String::new();
    for at in 0..bits {
        let below = (0..at).fold(String::new(), |text, below| format!("{text} a{below}"));
        let _ = write!(steps, "(= b{at} (xor a{at} (and true {below})))");
    }
    let variables = (0..bits).fold(String::new(), |text, at| format!("{text} (a{at} Bool) (b{at} Bool)"));
    let text = format!(
        "(set-logic HORN)(declare-fun P ({}) Bool)
         (assert (P {}))
         (assert (forall ({variables}) (=> (and (P {}) {steps}) (P {}))))
         (assert (forall ({variables}) (=> (and (P {}) a0 a6 (not a1)) false)))",
        "Bool ".repeat(bits),
        "false ".repeat(bits),
        names("a"),
        names("b"),
        names("a")
    );
    assert!(unfolded(&text).is_some_and(|(nodes, _)| nodes <= 65));
    assert_eq!(there_and_back(&text, 0, &mut Random::new(0)), (true, false));
}

#[test]
fn an_interrupted_unfolding_changes_nothing() {
    let store = TermStore::new();
    let limits = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    let old = graph(&store, &counter_to_ten("(= x 10)"));
    assert!(Control.apply(&Context::new(&store).within(limits), &old).is_none());
}

#[test]
fn random_programs_keep_answers() {
    let (mut safe, mut unfolded) = (0, 0);
    let count = 150 * scale();
    for seed in 0..count {
        let random = &mut Random::new(seed);
        let text = control_systems::system(random);
        let (is_changed, is_safe) = there_and_back(&text, control_systems::GREATEST, random);
        unfolded += u64::from(is_changed);
        safe += u64::from(is_safe && is_changed);
    }
    assert!(unfolded * 2 > count, "{unfolded} of {count} are unfolded");
    assert!(safe * 5 > unfolded && safe * 5 < unfolded * 4, "{safe} of {unfolded} are safe");
}

#[test]
fn a_lemma_arrives_at_each_location() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let old = graph(&store, &counter_to_ten("(= x 10)"));
    let Transformed { translation, .. } = Control.apply(&context, &old).expect("it has a counter");
    let node = NodeId::new(0);
    let [a, _, x] = *old.node(node).variables() else { panic!("there are three arguments") };
    let formula = store.implies(a, store.ge(x, store.int(10)));
    let Image::Lemmas(images) = translation.forward(&context, Lemma { node, formula }) else {
        panic!("all locations are reached")
    };
    let says_nothing = images.iter().filter(|lemma| lemma.formula == shofar_logic::Term::TRUE).count();
    assert_eq!((images.len(), says_nothing), (3, 2));
}
