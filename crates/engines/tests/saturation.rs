//! Saturation: worked examples with checked witnesses, and random systems against explicit facts.

mod common;

use std::time::Duration;

use common::LONG;
use shofar_engines::{Engine, Evidence, Run, Saturate};
use shofar_horn::check::{Trust, Validity, check_derivation, check_saturation};
use shofar_horn::witness::AtomOrder;
use shofar_horn::{HornGraph, HornSystem, parse};
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::datatype_systems::{self, Family};
use shofar_testing::explicit;
use shofar_testing::{Random, scale};

/// An answer of the engine.
#[derive(PartialEq, Eq, Debug)]
enum Answer {
    /// The clauses have a model; the order of the saturation.
    Proved(AtomOrder),
    Refuted,
}

/// What the engine says within a time. Its witness is checked.
fn answer(store: &TermStore, system: &HornSystem, time: Duration, text: &str) -> Result<Answer, Stop> {
    let run = Run::new(store).with_timeout(time);
    let graph = HornGraph::within(&run, system)?;
    Saturate::default().accepts(store, &graph)?;
    match Saturate::default().solve(&graph, &run)? {
        Evidence::Saturation(proof) => {
            let validity = check_saturation(&Run::new(store).context(), system, &proof, Trust::Proofs);
            assert_eq!(validity, Validity::Valid, "{text}");
            Ok(Answer::Proved(proof.order))
        }
        Evidence::Unsat(derivation) => {
            let verdict = check_derivation(&Run::new(store).context(), &graph, &derivation);
            assert_eq!(verdict, Ok(()), "{text}");
            Ok(Answer::Refuted)
        }
        other => panic!("{other:?}"),
    }
}

fn proof(text: &str) -> Result<Answer, Stop> {
    let store = TermStore::new();
    let system = parse(&store, "test", text.as_bytes()).expect("the test's clauses are right");
    answer(&store, &system, LONG, text)
}

#[track_caller]
fn assert_proved(text: &str) {
    let found = proof(text);
    assert!(matches!(found, Ok(Answer::Proved(_))), "{found:?}\n{text}");
}

#[track_caller]
fn assert_refuted(text: &str) {
    assert_eq!(proof(text), Ok(Answer::Refuted), "{text}");
}

const NUMBERS: &str = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))\n";

const LISTS: &str = "(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
    (declare-fun App (L L L) Bool)
    (assert (forall ((y L)) (App nil y y)))
    (assert (forall ((h Int) (t L) (y L) (r L)) (=> (App t y r) (App (cons h t) y (cons h r)))))
    (declare-fun Len (L Int) Bool)
    (assert (Len nil 0))
    (assert (forall ((h Int) (t L) (n Int)) (=> (Len t n) (Len (cons h t) (+ n 1)))))
    (declare-fun Mem (Int L) Bool)
    (assert (forall ((h Int) (t L)) (Mem h (cons h t))))
    (assert (forall ((x Int) (h Int) (t L)) (=> (Mem x t) (Mem x (cons h t)))))\n";

/// A query over lists `x, y, z, a, b, c, d` and numbers `k, m, n`.
fn law(body: &str) -> String {
    format!(
        "{LISTS}(assert (forall ((x L) (y L) (z L) (a L) (b L) (c L) (d L) (k Int) (m Int) (n Int))
            (=> (and {body}) false)))"
    )
}

#[test]
fn regular_systems_are_proved() {
    let even = "(declare-fun even (Nat) Bool)
        (assert (forall ((x Nat)) (=> (= x Z) (even x))))
        (assert (forall ((x Nat) (y Nat)) (=> (and (= x (S (S y))) (even y)) (even x))))
        (assert (forall ((x Nat) (y Nat)) (=> (and (even x) (even y) (= y (S x))) false)))";
    let thirds = "(declare-fun inc (Nat Nat) Bool)(declare-fun dec (Nat Nat) Bool)
        (assert (forall ((x Nat) (y Nat)) (=> (and (= x Z) (= y (S Z))) (inc x y))))
        (assert (forall ((x Nat) (y Nat)) (=> (inc x y) (inc (S x) (S y)))))
        (assert (forall ((x Nat) (y Nat)) (=> (and (= x (S Z)) (= y Z)) (dec x y))))
        (assert (forall ((x Nat) (y Nat)) (=> (dec x y) (dec (S x) (S y)))))
        (assert (forall ((x Nat) (y Nat)) (=> (and (inc x y) (dec x y)) false)))";
    let left = "(declare-datatypes ((Tree 0)) (((leaf) (node (l Tree) (r Tree)))))
        (declare-fun even (Tree) Bool)
        (assert (even leaf))
        (assert (forall ((u Tree) (y Tree) (z Tree)) (=> (even u) (even (node (node u y) z)))))
        (assert (forall ((x Tree) (y Tree)) (=> (and (even x) (even (node x y))) false)))";
    assert_proved(&format!("{NUMBERS}{even}"));
    assert_proved(&format!("{NUMBERS}{thirds}"));
    assert_proved(left);
}

/// None of these has a finite model: two values of the same class would be related to themselves.
#[test]
fn systems_without_finite_models_are_proved() {
    let less = "(declare-fun lt (Nat Nat) Bool)
        (assert (forall ((x Nat)) (lt Z (S x))))
        (assert (forall ((x Nat) (y Nat)) (=> (lt x y) (lt (S x) (S y)))))";
    for query in ["(lt x x)", "(and (lt x y) (lt y x))", "(and (lt x y) (lt y z) (lt z x))"] {
        let query = format!("(assert (forall ((x Nat) (y Nat) (z Nat)) (=> {query} false)))");
        assert_proved(&format!("{NUMBERS}{less}{query}"));
    }
    assert_proved(
        "(declare-datatypes ((Prog 0)) (((Seq) (Fork (f Prog)) (Join (j Prog)))))
        (declare-fun ok (Prog) Bool)(declare-fun tr (Prog Prog) Bool)
        (assert (forall ((p Prog)) (=> (= p Seq) (ok p))))
        (assert (forall ((p Prog) (q Prog)) (=> (and (= q (Fork (Join p))) (ok p)) (ok q))))
        (assert (forall ((p Prog) (t Prog) (r Prog)) (=> (and (= p Seq) (= t (Fork r))) (tr p t))))
        (assert (forall ((p Prog) (t Prog)) (=> (= t (Join Seq)) (tr p t))))
        (assert (forall ((p Prog) (t Prog) (q Prog) (s Prog))
            (=> (and (= q (Fork (Join p))) (= s (Fork (Join t))) (tr p t)) (tr q s))))
        (assert (forall ((p Prog)) (=> (and (ok p) (tr p p)) false)))",
    );
}

#[test]
fn laws_of_append_are_proved() {
    for body in [
        "(App x y a) (App x y b) (distinct a b)",
        "(App x y a) (App a z b) (App y z c) (App x c d) (distinct b d)",
        "(App x y a) (App x z a) (distinct y z)",
        "(App x nil a) (distinct x a)",
        "(App x y nil) (distinct x nil)",
    ] {
        assert_proved(&law(body));
    }
}

/// All numbers but zero are not two. The goal is not proved by the clauses below it, but by a general fact.
#[test]
fn facts_for_all_values_are_used() {
    let text = format!(
        "{NUMBERS}(declare-fun P (Nat) Bool)(declare-fun Q (Nat Nat) Bool)
         (assert (forall ((x Nat)) (P (S x))))
         (assert (forall ((x Nat) (y Nat)) (=> (and (P x) (Q x y)) (Q (S x) y))))
         (assert (forall ((x Nat)) (=> (and (P x) (= x Z)) false)))
         (assert (forall ((x Nat) (y Nat)) (=> (Q x y) false)))"
    );
    assert_proved(&text);
}

/// Each law needs that functions have one result: their calls on equal arguments become one.
#[test]
fn functions_have_one_result() {
    let functions = "(declare-fun add (Nat Nat Nat) Bool)(declare-fun double (Nat Nat) Bool)(declare-fun lt (Nat Nat) Bool)
        (assert (forall ((y Nat)) (add Z y y)))
        (assert (forall ((x Nat) (y Nat) (z Nat)) (=> (add x y z) (add (S x) y (S z)))))
        (assert (double Z Z))
        (assert (forall ((x Nat) (y Nat)) (=> (double x y) (double (S x) (S (S y))))))
        (assert (forall ((x Nat)) (lt Z (S x))))
        (assert (forall ((x Nat) (y Nat)) (=> (lt x y) (lt (S x) (S y)))))";
    for query in [
        "(add x y z) (add x y u) (lt z u)",
        "(add x y z) (double z u) (double x v) (double y w) (add v w a) (distinct u a)",
        "(add x y z) (add x y u) (double u v) (double z w) (lt v w)",
    ] {
        let query = format!(
            "(assert (forall ((x Nat) (y Nat) (z Nat) (u Nat) (v Nat) (w Nat) (a Nat)) (=> (and {query}) false)))"
        );
        assert_proved(&format!("{NUMBERS}{functions}{query}"));
    }
}

/// Goals grow for ever, but there are few facts.
#[test]
fn facts_are_resolved_where_goals_grow() {
    let text = format!(
        "{NUMBERS}(declare-fun P (Nat) Bool)
         (assert (P (S Z)))
         (assert (forall ((x Nat)) (=> (P (S x)) (P x))))
         (assert (=> (P (S (S Z))) false))"
    );
    assert!(matches!(proof(&text), Ok(Answer::Proved(AtomOrder::KnuthBendix(_)))), "{:?}", proof(&text));
}

#[test]
fn false_laws_are_refuted() {
    for body in [
        "(App x y a) (App y x b) (distinct a b)",
        "(App x y a) (Mem n a)",
        "(App x y a) (Len a n) (Len x n)",
        // Atoms that become equal have one derivation.
        "(App x y a) (App x z b) (App y x c) (App z x d) (distinct a c) (distinct b d)",
        "(Mem k x) (Mem m x) (Mem n x)",
    ] {
        assert_refuted(&law(body));
    }
}

/// Facts are resolved with clauses, and the steps of facts become parts of the derivation, twice.
#[test]
fn derived_facts_are_part_of_refutations() {
    assert_refuted(&format!(
        "{NUMBERS}(declare-fun P (Nat Nat) Bool)(declare-fun Q (Nat Nat) Bool)
         (assert (P (S (S Z)) Z))
         (assert (forall ((x Nat) (y Nat)) (=> (P (S x) y) (P x (S y)))))
         (assert (forall ((x Nat) (y Nat) (z Nat)) (=> (and (P Z x) (P Z y) (P y z)) (Q x z))))
         (assert (forall ((x Nat)) (=> (P x (S (S (S x)))) (P (S x) x))))
         (assert (forall ((x Nat)) (=> (and (P (S Z) x) (P Z (S x))) false)))"
    ));
}

/// The engine does not see numbers. What it derives has no values, although clauses of the same shape would have.
#[test]
fn a_derivation_without_values_is_no_refutation() {
    for body in ["(Len x n) (< n 0)", "(App x y a) (Len a n) (Len x m) (< n m)"] {
        let found = proof(&law(body));
        assert!(matches!(found, Err(Stop::Exhausted(_))), "{found:?}");
    }
}

#[test]
fn clauses_without_datatypes_are_refused() {
    let text =
        "(declare-fun P (Int) Bool)(assert (P 0))(assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))";
    assert!(matches!(proof(text), Err(Stop::Unsupported(_))));
}

/// A selector on another constructor may have any value.
#[test]
fn selectors_are_total() {
    let text = |query: &str| {
        format!(
            "{NUMBERS}(declare-fun P (Nat) Bool)(declare-fun Q (Nat) Bool)
             (assert (P Z))(assert (forall ((x Nat)) (=> (P x) (Q (p x)))))(assert (=> {query} false))"
        )
    };
    assert!(matches!(proof(&text("(Q Z)")), Err(Stop::Exhausted(_))));
    assert_proved(&text("(P (S Z))"));
}

/// A law about a few calls of functions, true or not.
fn random_law(random: &mut Random) -> String {
    let calls =
        ["(App x y a)", "(App x y b)", "(App x a b)", "(App y x b)", "(Mem k x)", "(Mem k a)", "(Len a m)"];
    let compared =
        ["(distinct a b)", "(distinct x a)", "(= a nil)", "(= b (cons k x))", "(= x (cons k nil))"];
    let calls: Vec<&str> = (0..1 + random.below(3)).map(|_| *random.choose::<&str>(&calls)).collect();
    format!("{} {}", calls.join(" "), random.choose::<&str>(&compared))
}

/// No law that small values refute has a proof.
#[test]
fn random_laws_are_proved_only_if_true() {
    let (mut proofs, mut refutations, laws) = (0, 0, 150 * scale());
    for seed in 0..laws {
        let text = law(&random_law(&mut Random::new(seed)));
        let store = TermStore::new();
        let system = parse(&store, "test", text.as_bytes()).expect("generated clauses are right");
        match answer(&store, &system, Duration::from_millis(200), &text) {
            Ok(Answer::Proved(_)) => {
                let graph = HornGraph::of(&store, &system);
                assert!(explicit::Saturation::of(&store, &graph, 0..=1).is_safe(), "{text}");
                proofs += 1;
            }
            Ok(Answer::Refuted) => refutations += 1,
            Err(_) => {}
        }
    }
    assert!(proofs * 50 >= laws, "only {proofs} proofs of {laws}");
    assert!(refutations * 10 >= laws, "only {refutations} refutations of {laws}");
}

/// Clauses over numbers with random patterns: facts, steps and queries.
fn random_clauses(random: &mut Random) -> String {
    let mut text = format!("{NUMBERS}(declare-fun P (Nat) Bool)(declare-fun Q (Nat Nat) Bool)\n");
    let terms = ["x", "y", "Z", "(S x)", "(S y)", "(S (S x))", "(S Z)"];
    let atom = |random: &mut Random| {
        let [a, b] = [(); 2].map(|()| *random.choose::<&str>(&terms));
        if random.below(2) == 0 { format!("(P {a})") } else { format!("(Q {a} {b})") }
    };
    for number in 0..5 {
        let mut body: Vec<String> = (0..random.below(3)).map(|_| atom(random)).collect();
        if random.below(4) == 0 {
            body.push("(distinct x y)".to_owned());
        }
        let head = if number < 3 { atom(random) } else { "false".to_owned() };
        text +=
            &format!("(assert (forall ((x Nat) (y Nat)) (=> (and true true {}) {head})))\n", body.join(" "));
    }
    text
}

/// Whether bounded model checking refutes clauses.
fn is_refuted(store: &TermStore, system: &HornSystem) -> bool {
    let graph = HornGraph::of(store, system);
    let run = Run::new(store).with_timeout(Duration::from_millis(300));
    matches!(shofar_engines::Unfold::default().solve(&graph, &run), Ok(Evidence::Unsat(_)))
}

/// Each step adds a disequality to the goal. A goal that is too long is left out, and then the set is not saturated.
#[test]
fn long_goals_are_not_forgotten() {
    let text = format!(
        "{NUMBERS}(declare-fun P (Nat) Bool)
         (assert (forall ((x Nat) (y Nat)) (=> (and (P y) (distinct x y)) (P x))))
         (assert (forall ((x Nat) (y Nat)) (=> (and (P (S y)) (distinct x y)) false)))"
    );
    let store = TermStore::new();
    let system = parse(&store, "test", text.as_bytes()).expect("the test's clauses are right");
    // Facts are resolved in the other order, which ends at once: there are none.
    let found = answer(&store, &system, LONG, &text);
    let is_right = matches!(found, Ok(Answer::Proved(AtomOrder::KnuthBendix(_))) | Err(Stop::Exhausted(_)));
    assert!(is_right, "{found:?}");
}

/// No clauses that have a refutation are saturated.
#[test]
fn random_clauses_are_proved_only_if_no_refutation_is_found() {
    let (mut proofs, mut refuted, mut refutations) = (0, 0, 0);
    for seed in 0..150 * scale() {
        let text = random_clauses(&mut Random::new(seed));
        let store = TermStore::new();
        let system = parse(&store, "test", text.as_bytes()).expect("generated clauses are right");
        let is_refuted = is_refuted(&store, &system);
        let found = answer(&store, &system, Duration::from_millis(200), &text);
        let is_proved = matches!(found, Ok(Answer::Proved(_)));
        assert!(!(is_refuted && is_proved), "seed {seed}\n{text}");
        proofs += u64::from(is_proved);
        refuted += u64::from(is_refuted);
        refutations += u64::from(found == Ok(Answer::Refuted));
    }
    assert!(proofs > 10 && refuted > 10, "{proofs} proofs, {refuted} are refuted");
    // All clauses are exact.
    assert!(refutations * 10 >= refuted * 9, "{refutations} refutations where {refuted} are refuted");
}

/// Values are small, so explicit facts decide.
#[test]
fn random_systems_over_datatypes_are_proved_only_if_safe() {
    let mut proved = 0;
    for family in [Family::Sums, Family::Lists, Family::Enumerations, Family::Numbers] {
        for seed in 0..12 * scale() {
            let store = TermStore::new();
            let text = datatype_systems::system(&mut Random::new(1000 + seed), family);
            let system = parse(&store, "test", text.as_bytes()).expect("generated clauses are right");
            let found = answer(&store, &system, Duration::from_millis(200), &text);
            if let Ok(Answer::Proved(_)) = found {
                let graph = HornGraph::of(&store, &system);
                let facts = explicit::Saturation::of(&store, &graph, 0..=datatype_systems::GREATEST);
                assert!(facts.is_safe(), "{family:?}, seed {seed}\n{text}");
                proved += 1;
            }
        }
    }
    assert!(proved > 0);
}
