//! Invariants over datatypes, from clauses to witnesses that are printed, read, checked and exported. Tests of worked examples begin
//! with the number of the example; T is for those of the thesis on regular invariants.

use std::time::Duration;

use shofar_cooperate::driver::{Options, Verdict, solve};
use shofar_cooperate::{ModelForm, Run};
use shofar_horn::check::{Fault, Validity, checked, export_induction, export_model};
use shofar_horn::witness::{self, Witness, WitnessFormat};
use shofar_horn::{Context, parse_in};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_testing::z3;

/// The answer of some engines, or of those that the clauses choose, and its witness as text.
fn answer(text: &str, engines: &[&str]) -> (Verdict, String) {
    let store = TermStore::new();
    let system = parse_in(&store, &mut Environment::new(&store), "clauses", text.as_bytes()).unwrap();
    let engines = engines.iter().map(|name| name.parse().expect("the engine exists")).collect();
    let options = Options { engines, model: ModelForm::Readable, ..Options::default() };
    let run = Run::new(&store).with_timeout(Duration::from_secs(60));
    let verdict = solve(&system, &options, &run).verdict;
    let witness: Option<Witness> = verdict.clone().witness();
    let text = witness.map_or(String::new(), |it| it.to_text(&store, &system, WitnessFormat::Text));
    (verdict, text)
}

/// What the checker says about a witness that is read from a text.
fn judged(clauses: &str, witness: &str) -> Validity {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let system = parse_in(&store, &mut environment, "clauses", clauses.as_bytes()).unwrap();
    let witness = witness::read(&store, &mut environment, &system, "witness", witness).unwrap();
    checked(&Context::new(&store), &system, witness).err().unwrap_or(Validity::Valid)
}

/// What other solvers are asked about a witness; `None` if it has no such form.
fn exported(clauses: &str, witness: &str) -> Option<String> {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let system = parse_in(&store, &mut environment, "clauses", clauses.as_bytes()).unwrap();
    let mut out = Vec::new();
    match witness::read(&store, &mut environment, &system, "witness", witness).unwrap() {
        Witness::Model(model) => export_model(&store, &system, &model, &mut out).unwrap(),
        Witness::Induction(proof) => {
            export_induction(&Context::new(&store), &system, &proof, &mut out).unwrap().unwrap();
        }
        _ => return None,
    }
    Some(String::from_utf8(out).unwrap())
}

/// The default engines and each of the named ones prove the clauses. Their witnesses are valid as they are printed. Returns the
/// witness of the last engine.
fn prove(text: &str, engines: &[&str]) -> String {
    let mut last = String::new();
    for names in [&[][..]].into_iter().chain(engines.chunks(1)) {
        let (verdict, witness) = answer(text, names);
        assert_eq!(verdict.name(), "sat", "{names:?}: {verdict:?}");
        assert_eq!(judged(text, &witness), Validity::Valid, "{names:?}: {witness}");
        last = witness;
    }
    last
}

/// As [`prove`], and Z3 confirms the exported witness.
fn prove_for_others(text: &str, engine: &str) {
    let witness = prove(text, &[engine]);
    let script = exported(text, &witness).expect("it has a form for other solvers");
    if z3::is_installed() {
        let answers = z3::answers(&script).expect("it is installed");
        assert!(
            !answers.is_empty() && answers.iter().all(|answer| answer == "unsat"),
            "{answers:?}\n{script}"
        );
    }
}

const NAT: &str = "(set-logic HORN)(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))\n";

fn even() -> String {
    format!(
        "{NAT}(declare-fun even (Nat) Bool)
         (assert (even Z))
         (assert (forall ((y Nat)) (=> (even y) (even (S (S y))))))
         (assert (forall ((x Nat)) (=> (and (even x) (even (S x))) false)))"
    )
}

#[test]
fn t1_s1_even_numbers_have_two_states() {
    let text = even();
    prove(&text, &["regular", "regular-sync", "regular-combined", "saturation", "algebra"]);
}

#[test]
fn s22_other_final_states_are_rejected() {
    let model = "(define-fun-rec st ((n Nat)) Int (match n ((Z 0) ((S m) (ite (= (st m) 0) 1 0)))))
        (define-fun even ((n Nat)) Bool (= (st n) 0))";
    assert_eq!(judged(&even(), model), Validity::Valid);
    let odd = judged(
        &even(),
        &model.replace("(= (st n) 0))", "(= (st n) 1))").replace("ite (= (st m) 1)", "ite (= (st m) 0)"),
    );
    assert!(matches!(odd, Validity::Invalid(Fault::Violated { clause: 0, .. })), "{odd:?}");
}

#[test]
fn t2_zero_is_not_its_successor() {
    let (verdict, _) = answer(&format!("{NAT}(assert (=> (not (= Z (S Z))) false))"), &[]);
    assert_eq!(verdict.name(), "unsat");
}

#[test]
fn t3_s2_increments_are_not_decrements() {
    let text = format!(
        "{NAT}(declare-fun inc (Nat Nat) Bool)
         (declare-fun dec (Nat Nat) Bool)
         (assert (inc Z (S Z)))
         (assert (forall ((x Nat) (y Nat)) (=> (inc x y) (inc (S x) (S y)))))
         (assert (dec (S Z) Z))
         (assert (forall ((x Nat) (y Nat)) (=> (dec x y) (dec (S x) (S y)))))
         (assert (forall ((x Nat) (y Nat)) (=> (and (inc x y) (dec x y)) false)))"
    );
    prove(&text, &["regular", "regular-sync", "saturation", "algebra"]);
}

#[test]
fn t4_s3_the_order_of_numbers_is_synchronous() {
    let text = format!(
        "{NAT}(declare-fun lt (Nat Nat) Bool)
         (assert (forall ((x Nat)) (lt Z (S x))))
         (assert (forall ((x Nat) (y Nat)) (=> (lt x y) (lt (S x) (S y)))))
         (assert (forall ((x Nat) (y Nat)) (=> (and (lt x y) (lt y x)) false)))"
    );
    prove(&text, &["regular-sync", "saturation", "algebra"]);
}

#[test]
fn t5_s4_forks_and_joins_need_combined_invariants() {
    let text = "(declare-datatypes ((Prog 0)) (((Seq) (Fork (f Prog)) (Join (j Prog)))))
        (declare-fun ok (Prog) Bool)
        (declare-fun tr (Prog Prog) Bool)
        (assert (ok Seq))
        (assert (forall ((p Prog)) (=> (ok p) (ok (Fork (Join p))))))
        (assert (forall ((r Prog)) (tr Seq (Fork r))))
        (assert (forall ((p Prog)) (tr p (Join Seq))))
        (assert (forall ((p Prog) (t Prog)) (=> (tr p t) (tr (Fork (Join p)) (Fork (Join t))))))
        (assert (forall ((p Prog)) (=> (and (ok p) (tr p p)) false)))";
    prove(text, &["regular-combined", "saturation"]);
}

#[test]
fn t7_s6_left_spines_of_even_length() {
    let text = "(declare-datatypes ((Tree 0)) (((leaf) (node (l Tree) (r Tree)))))
        (declare-fun even (Tree) Bool)
        (assert (even leaf))
        (assert (forall ((u Tree) (y Tree) (z Tree)) (=> (even u) (even (node (node u y) z)))))
        (assert (forall ((x Tree) (y Tree)) (=> (and (even x) (even (node x y))) false)))";
    prove(text, &["regular", "regular-sync", "saturation"]);
    prove_for_others(text, "regular");
}

const LISTS: &str = "(set-logic HORN)
    (declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
    (declare-fun App (L L L) Bool)
    (assert (forall ((y L)) (App nil y y)))
    (assert (forall ((h Int) (t L) (y L) (r L)) (=> (App t y r) (App (cons h t) y (cons h r)))))\n";

fn reversal() -> String {
    format!(
        "{LISTS}(declare-fun Rev (L L) Bool)
         (assert (Rev nil nil))
         (assert (forall ((h Int) (t L) (s L) (r L)) (=> (and (Rev t s) (App s (cons h nil) r)) (Rev (cons h t) r))))
         (declare-fun Len (L Int) Bool)
         (assert (Len nil 0))
         (assert (forall ((h Int) (t L) (n Int)) (=> (Len t n) (Len (cons h t) (+ n 1)))))
         (assert (forall ((x L) (y L) (m Int) (n Int)) (=> (and (Rev x y) (Len x m) (Len y n) (not (= m n))) false)))"
    )
}

#[test]
fn s7_reversal_keeps_the_length() {
    prove_for_others(&reversal(), "algebra");
}

#[test]
fn s21_a_wrong_length_is_rejected_with_a_counterexample() {
    let model = "(define-fun-rec len ((l L)) Int (match l ((nil 0) ((cons h t) (+ 1 (len t))))))
        (define-fun App ((x L) (y L) (z L)) Bool (= (len z) (+ (len x) (len y))))
        (define-fun Rev ((x L) (y L)) Bool (= (len x) (len y)))
        (define-fun Len ((x L) (n Int)) Bool (= (len x) n))";
    assert_eq!(judged(&reversal(), model), Validity::Valid);
    let wrong = judged(&reversal(), &model.replace("(= (len x) (len y)))", "(= (len x) (+ (len y) 1)))"));
    // The first clause of `Rev` is the third one.
    assert!(matches!(wrong, Validity::Invalid(Fault::Violated { clause: 2, .. })), "{wrong:?}");
}

#[test]
fn s8_mirroring_keeps_the_height() {
    let text = "(declare-datatypes ((T 0)) (((leaf) (node (l T) (v Int) (r T)))))
        (declare-fun Mirror (T T) Bool)
        (assert (Mirror leaf leaf))
        (assert (forall ((l T) (v Int) (r T) (a T) (b T)) (=> (and (Mirror l a) (Mirror r b)) (Mirror (node l v r) (node b v a)))))
        (declare-fun Height (T Int) Bool)
        (assert (Height leaf 0))
        (assert (forall ((l T) (v Int) (r T) (m Int) (n Int))
            (=> (and (Height l m) (Height r n)) (Height (node l v r) (+ 1 (ite (>= m n) m n))))))
        (assert (forall ((x T) (y T) (m Int) (n Int))
            (=> (and (Mirror x y) (Height x m) (Height y n) (not (= m n))) false)))";
    prove(text, &["algebra"]);
}

#[test]
fn s9_the_maximum_is_associative() {
    let text = format!(
        "{NAT}(declare-fun Max (Nat Nat Nat) Bool)
         (assert (forall ((x Nat)) (Max Z x x)))
         (assert (forall ((x Nat)) (Max (S x) Z (S x))))
         (assert (forall ((x Nat) (y Nat) (m Nat)) (=> (Max x y m) (Max (S x) (S y) (S m)))))
         (assert (forall ((x Nat) (y Nat) (z Nat) (a Nat) (b Nat) (c Nat) (d Nat))
            (=> (and (Max x y a) (Max a z b) (Max y z c) (Max x c d) (not (= b d))) false)))"
    );
    prove(&text, &["algebra"]);
}

#[test]
fn s10_insertion_sort_keeps_counts() {
    let text = format!(
        "{LISTS}(declare-fun Ins (Int L L) Bool)
         (assert (forall ((x Int)) (Ins x nil (cons x nil))))
         (assert (forall ((x Int) (h Int) (t L)) (=> (<= x h) (Ins x (cons h t) (cons x (cons h t))))))
         (assert (forall ((x Int) (h Int) (t L) (r L)) (=> (and (> x h) (Ins x t r)) (Ins x (cons h t) (cons h r)))))
         (declare-fun Sort (L L) Bool)
         (assert (Sort nil nil))
         (assert (forall ((h Int) (t L) (s L) (r L)) (=> (and (Sort t s) (Ins h s r)) (Sort (cons h t) r))))
         (declare-fun Count (Int L Int) Bool)
         (assert (forall ((x Int)) (Count x nil 0)))
         (assert (forall ((x Int) (t L) (n Int)) (=> (Count x t n) (Count x (cons x t) (+ n 1)))))
         (assert (forall ((x Int) (h Int) (t L) (n Int)) (=> (and (Count x t n) (not (= x h))) (Count x (cons h t) n))))
         (assert (forall ((x L) (y L) (g Int) (m Int) (n Int))
            (=> (and (Sort x y) (Count g x m) (Count g y n) (not (= m n))) false)))"
    );
    let model = prove(&text, &["algebra"]);
    assert!(model.contains("(forall (("), "{model}");
}

#[test]
fn s11_append_is_a_function() {
    let text = format!(
        "{LISTS}(assert (forall ((x L) (y L) (a L) (b L)) (=> (and (App x y a) (App x y b) (not (= a b))) false)))"
    );
    prove(&text, &["product", "saturation", "words"]);
    prove_for_others(&text, "product");
}

fn associativity() -> String {
    format!(
        "{LISTS}(assert (forall ((x L) (y L) (z L) (a L) (b L) (c L) (d L))
            (=> (and (App x y a) (App a z b) (App y z c) (App x c d) (not (= b d))) false)))"
    )
}

#[test]
fn s13_append_is_associative() {
    prove(&associativity(), &["words", "saturation", "product"]);
    prove_for_others(&associativity(), "product");
}

#[test]
fn s23_an_induction_that_does_not_get_smaller_is_rejected() {
    let proof =
        "(lemma (forall ((x L) (y L) (a L) (b L)) (=> (and (App x y a) (App x y b)) (= a b))) :unfold (1 2))
        (lemma (forall ((x L) (y L) (z L) (a L) (b L) (c L) (d L))
            (=> (and (App x y a) (App a z b) (App y z c) (App x c d)) (= b d))) :unfold (1))";
    assert_eq!(judged(&associativity(), proof), Validity::Valid);
    // The third premise is not above the facts that the lemma needs; without it, the parent would prove itself.
    let parent = judged(&associativity(), &proof.replace(":unfold (1))", ":unfold (3))"));
    assert_ne!(parent, Validity::Valid);
}

#[test]
fn s15_the_sum_of_binary_numbers_is_commutative() {
    let text = "(declare-datatypes ((Bin 0)) (((One) (Twice (half Bin)) (Next (below Bin)))))
        (declare-fun Inc (Bin Bin) Bool)
        (assert (Inc One (Twice One)))
        (assert (forall ((x Bin)) (Inc (Twice x) (Next x))))
        (assert (forall ((x Bin) (y Bin)) (=> (Inc x y) (Inc (Next x) (Twice y)))))
        (declare-fun Plus (Bin Bin Bin) Bool)
        (assert (forall ((y Bin) (r Bin)) (=> (Inc y r) (Plus One y r))))
        (assert (forall ((x Bin) (r Bin)) (=> (Inc (Twice x) r) (Plus (Twice x) One r))))
        (assert (forall ((x Bin) (r Bin)) (=> (Inc (Next x) r) (Plus (Next x) One r))))
        (assert (forall ((x Bin) (y Bin) (s Bin)) (=> (Plus x y s) (Plus (Twice x) (Twice y) (Twice s)))))
        (assert (forall ((x Bin) (y Bin) (s Bin)) (=> (Plus x y s) (Plus (Twice x) (Next y) (Next s)))))
        (assert (forall ((x Bin) (y Bin) (s Bin)) (=> (Plus x y s) (Plus (Next x) (Twice y) (Next s)))))
        (assert (forall ((x Bin) (y Bin) (s Bin) (r Bin)) (=> (and (Plus x y s) (Inc s r)) (Plus (Next x) (Next y) (Twice r)))))
        (assert (forall ((x Bin) (y Bin) (a Bin) (b Bin)) (=> (and (Plus x y a) (Plus y x b) (not (= a b))) false)))";
    prove(text, &["algebra"]);
}
