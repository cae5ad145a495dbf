//! Words and closed forms: laws of lists and of multiplication, wrong variants of them, and random systems against saturation.

use std::time::Duration;

use shofar_engines::{Engine, Evidence, Run, Words};
use shofar_horn::check::{Trust, Validity, check_model};
use shofar_horn::witness::Model;
use shofar_horn::{HornGraph, parse};
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::datatype_systems::{self, Family};
use shofar_testing::explicit::Saturation;
use shofar_testing::{Random, scale};

/// Whether the engine finds a model. The checker accepts it.
#[track_caller]
fn is_proved(text: &str, time: Duration) -> bool {
    let store = TermStore::new();
    let system = parse(&store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let graph = HornGraph::of(&store, &system);
    Words.accepts(&store, &graph).unwrap();
    match Words.solve(&graph, &Run::new(&store).with_timeout(time)) {
        Ok(Evidence::Sat(model)) => {
            let definitions = Model::of_graph(&store, &system, &graph, &model);
            let checked = check_model(&Run::new(&store), &system, &definitions, Trust::Proofs);
            assert_eq!(checked, Validity::Valid, "{text}");
            true
        }
        Ok(_) => panic!("the engine finds models"),
        Err(Stop::Exhausted(_) | Stop::Interrupted(_)) => false,
        Err(stop) => panic!("{stop}: {text}"),
    }
}

#[track_caller]
fn assert_proved(text: &str) {
    assert!(is_proved(text, Duration::from_secs(120)), "{text}");
}

#[track_caller]
fn assert_not_proved(text: &str) {
    assert!(!is_proved(text, Duration::from_secs(60)), "{text}");
}

const LISTS: &str = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
    (declare-fun app (L L L) Bool) (declare-fun rev (L L) Bool) (declare-fun revacc (L L L) Bool)
    (assert (forall ((l L)) (app nil l l)))
    (assert (forall ((x Int) (k L) (l L) (m L)) (=> (app k l m) (app (cons x k) l (cons x m)))))
    (assert (rev nil nil))
    (assert (forall ((x Int) (k L) (l L) (m L)) (=> (and (rev k l) (app l (cons x nil) m)) (rev (cons x k) m))))
    (assert (forall ((l L)) (revacc nil l l)))
    (assert (forall ((x Int) (k L) (l L) (m L)) (=> (revacc k (cons x l) m) (revacc (cons x k) l m))))\n";

fn law(body: &str) -> String {
    format!(
        "{LISTS}(assert (forall ((a L) (b L) (c L) (d L) (e L) (f L) (g L) (x Int) (y Int)) (=> (and {body}) false)))"
    )
}

#[test]
fn concatenation_is_a_monoid() {
    assert_proved(&law("(app a nil b) (not (= a b))"));
    assert_proved(&law("(app a b d) (app d c e) (app b c f) (app a f g) (not (= e g))"));
}

#[test]
fn reversal_is_an_involution_that_reverses_concatenation() {
    assert_proved(&law("(rev a b) (rev b c) (not (= a c))"));
    assert_proved(&law("(app a b c) (rev c d) (rev a e) (rev b f) (app f e g) (not (= d g))"));
}

#[test]
fn reversal_with_an_accumulator_is_reversal() {
    assert_proved(&law("(rev a b) (revacc a nil c) (not (= b c))"));
    assert_proved(&law("(revacc a nil b) (revacc b nil c) (not (= a c))"));
}

#[test]
fn equal_ends_are_cancelled() {
    assert_proved(&law("(app a b d) (app a c d) (not (= b c))"));
    assert_proved(&law("(app a c d) (app b c d) (not (= a b))"));
    assert_proved(&law("(rev a c) (rev b c) (not (= a b))"));
    assert_proved(&law("(app a (cons x nil) c) (app b (cons y nil) c) (not (= x y))"));
    assert_proved(&law("(app a (cons x b) a)"));
    assert_proved(&law("(app a b nil) (not (= a nil))"));
}

#[test]
fn wrong_laws_of_lists_are_not_proved() {
    assert_not_proved(&law("(app a b c) (app b a d) (not (= c d))"));
    assert_not_proved(&law("(rev a b) (not (= a b))"));
    assert_not_proved(&law("(app a b d) (app c e d) (not (= a c))"));
    assert_not_proved(&law("(app a b c) (rev c d) (rev a e) (rev b f) (app e f g) (not (= d g))"));
    assert_not_proved(&law("(revacc a b c) (rev a d) (app b d e) (not (= c e))"));
    assert_not_proved(&law("(app a b a) (not (= a b))"));
}

/// The tail comes before the element, and the constructors are in the other order.
#[test]
fn lists_are_recognised_by_their_shape() {
    let text = "(declare-datatypes ((Q 0)) (((entry (rest Q) (key Bool)) (end))))
        (declare-fun join (Q Q Q) Bool)
        (assert (forall ((x Q)) (join x end x)))
        (assert (forall ((x Bool) (k Q) (l Q) (m Q)) (=> (join k l m) (join k (entry l x) (entry m x)))))
        (assert (forall ((a Q) (b Q) (c Q) (d Q) (e Q) (f Q) (g Q))
            (=> (and (join a b d) (join d c e) (join b c f) (join a f g) (not (= e g))) false)))";
    assert_proved(text);
}

/// A comparison with a truth value as its result.
#[test]
fn equality_of_lists_may_be_a_predicate() {
    let text = |conclusion: &str| {
        format!(
            "{LISTS}(declare-fun same (L L Bool) Bool)
            (assert (same nil nil true))
            (assert (forall ((x Int) (k L)) (same nil (cons x k) false)))
            (assert (forall ((x Int) (k L)) (same (cons x k) nil false)))
            (assert (forall ((x Int) (y Int) (k L) (l L)) (=> (not (= x y)) (same (cons x k) (cons y l) false))))
            (assert (forall ((x Int) (k L) (l L) (b Bool)) (=> (same k l b) (same (cons x k) (cons x l) b))))
            (assert (forall ((a L) (b L) (c L) (s Bool)) (=> (and (rev a b) (rev b c) (same a c s) {conclusion}) false)))"
        )
    };
    assert_proved(&text("(not s)"));
    assert_not_proved(&text("s"));
}

/// A queue is a front and a reversed back; the back moves to the front at any time.
#[test]
fn queues_of_two_lists_are_words() {
    let text = |expected: &str| {
        format!(
            "{LISTS}(declare-fun norm (L L L L) Bool) (declare-fun put (L L Int L L) Bool) (declare-fun get (L L L) Bool)
            (assert (forall ((f L) (b L)) (norm f b f b)))
            (assert (forall ((f L) (b L) (r L) (g L)) (=> (and (rev b r) (app f r g)) (norm f b g nil))))
            (assert (forall ((f L) (b L) (x Int) (g L) (c L)) (=> (norm f (cons x b) g c) (put f b x g c))))
            (assert (forall ((f L) (b L) (r L) (g L)) (=> (and (rev b r) (app f r g)) (get f b g))))
            (assert (forall ((f L) (b L) (x Int) (g L) (c L) (m L) (n L) (o L))
                (=> (and (put f b x g c) (get f b m) (get g c n) (app {expected} o) (not (= n o))) false)))"
        )
    };
    assert_proved(&text("m (cons x nil)"));
    assert_not_proved(&text("(cons x nil) m"));
}

const NUMBERS: &str = "(declare-fun add (Int Int Int) Bool) (declare-fun mul (Int Int Int) Bool)
    (assert (forall ((y Int)) (add 0 y y)))
    (assert (forall ((x Int) (y Int) (r Int)) (=> (and (add x y r) (>= x 0)) (add (+ x 1) y (+ r 1)))))
    (assert (forall ((y Int)) (mul 0 y 0)))
    (assert (forall ((x Int) (y Int) (r Int) (s Int))
        (=> (and (mul x y r) (>= x 0) (add y r s)) (mul (+ x 1) y s))))\n";

fn arithmetic(body: &str) -> String {
    format!(
        "{NUMBERS}(assert (forall ((a Int) (b Int) (c Int) (d Int) (e Int) (f Int) (g Int)) (=> (and {body}) false)))"
    )
}

#[test]
fn multiplication_by_repeated_addition_is_a_product() {
    assert_proved(&arithmetic("(mul a b c) (mul b a d) (not (= c d))"));
    assert_proved(&arithmetic("(add b c d) (mul a d e) (mul a b f) (mul a c g) (not (= e (+ f g)))"));
    assert_proved(&arithmetic("(mul a b d) (mul d c e) (mul b c f) (mul a f g) (not (= e g))"));
    assert_not_proved(&arithmetic("(mul a b c) (add a b d) (not (= c d))"));
    assert_not_proved(&arithmetic("(mul a b c) (mul b a d) (= c d)"));
}

/// Twice the sum of the first numbers is n(n + 1).
#[test]
fn sums_have_closed_forms() {
    let text = |sum: &str| {
        format!(
            "(declare-fun P (Int Int) Bool)
            (assert (P 0 0))
            (assert (forall ((n Int) (s Int)) (=> (P n s) (P (+ n 1) (+ s n 1)))))
            (assert (forall ((n Int) (s Int)) (=> (and (P n s) (= n 10) (not (= s {sum}))) false)))"
        )
    };
    assert_proved(&text("55"));
    assert_not_proved(&text("54"));
}

#[test]
fn no_unsafe_system_is_proved() {
    let mut proved = 0;
    for family in [Family::Lists, Family::Sums, Family::Enumerations, Family::Numbers] {
        for seed in 0..20 * scale() {
            let text = datatype_systems::system(&mut Random::new(seed), family);
            let store = TermStore::new();
            let system = parse(&store, "test", text.as_bytes()).expect("the generated clauses are right");
            let graph = HornGraph::of(&store, &system);
            let is_safe = Saturation::of(&store, &graph, 0..=datatype_systems::GREATEST).is_safe();
            if is_proved(&text, Duration::from_secs(5)) {
                assert!(is_safe, "seed {seed} of {family:?}:\n{text}");
                proved += 1;
            }
        }
    }
    assert!(proved > 0, "the engine proves some of the systems");
}
