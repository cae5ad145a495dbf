//! Clauses over datatypes, from clauses to checked answers: records, sums, numbers made of constructors, and functional
//! programs over lists and trees. Where the datatypes are not recursive, clauses are decided like clauses over numbers, and
//! the witnesses are about the datatypes. Tests of worked examples begin with the number of the example.

use std::time::Duration;

use shofar_cooperate::driver::{Options, Verdict, solve};
use shofar_cooperate::{ModelForm, Run};
use shofar_horn::check::{Trust, Validity, check_induction, check_model, check_refutation, check_saturation};
use shofar_horn::transform::Pipeline;
use shofar_horn::witness::{Refutation, Witness, WitnessFormat};
use shofar_horn::{Context, HornGraph, HornSystem, parse};
use shofar_logic::{Op, Sort, SortKind, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_testing::datatype_systems::{self, Family};
use shofar_testing::{Random, z3};

fn read(store: &TermStore, text: &str) -> HornSystem {
    parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// The answer to some clauses, of these engines or of those that the clauses choose, confirmed by the checker.
fn verdict(store: &TermStore, system: &HornSystem, engines: &[&str]) -> Verdict {
    let context = Context::new(store);
    let engines = engines.iter().map(|name| name.parse().expect("the engine exists")).collect();
    let options = Options { engines, model: ModelForm::Readable, ..Options::default() };
    let run = Run::new(store).with_timeout(Duration::from_secs(60));
    let verdict = solve(system, &options, &run).verdict;
    let validity = match &verdict {
        Verdict::Sat(model) => check_model(&context, system, model, Trust::Proofs),
        Verdict::Proved(proof) => check_induction(&context, system, proof, Trust::Proofs),
        Verdict::Saturated(proof) => check_saturation(&context, system, proof, Trust::Proofs),
        Verdict::Unsat(refutation) => check_refutation(&context, system, refutation),
        Verdict::Unknown(Stop::Internal(what)) => panic!("{what}"),
        Verdict::Unknown(_) => Validity::Valid,
    };
    assert_eq!(validity, Validity::Valid);
    verdict
}

/// The answer to some clauses, confirmed by the checker, with its witness as text.
fn answer(text: &str) -> (&'static str, String) {
    let store = TermStore::new();
    let system = read(&store, text);
    let verdict = verdict(&store, &system, &[]);
    let name = verdict.name();
    if let Verdict::Unknown(stop) = &verdict {
        return (name, stop.to_string());
    }
    let witness: Option<Witness> = verdict.witness();
    (name, witness.map_or(String::new(), |witness| witness.to_text(&store, &system, WitnessFormat::Text)))
}

/// Mutable references of Rust as pairs of the present and the final value: a function returns the reference to the
/// larger of two numbers, and another one counts a number down.
const REFERENCES: &str = "(set-logic HORN)
    (declare-datatypes ((Mut 0)) (((mut (now Int) (later Int)))))
    (declare-datatypes ((Two 0)) (((two (left Mut) (right Mut)))))
    (declare-fun Larger (Two Mut) Bool)
    (declare-fun Down (Mut) Bool)
    (assert (forall ((a Mut) (b Mut)) (=> (and (>= (now a) (now b)) (= (later b) (now b))) (Larger (two a b) a))))
    (assert (forall ((a Mut) (b Mut)) (=> (and (< (now a) (now b)) (= (later a) (now a))) (Larger (two a b) b))))
    (assert (forall ((m Mut)) (=> (and (<= (now m) 0) (= (later m) (now m))) (Down m))))
    (assert (forall ((n Int) (l Int)) (=> (and (Down (mut (- n 1) l)) (> n 0)) (Down (mut n l)))))\n";

#[test]
fn programs_with_references_are_safe() {
    let (name, model) = answer(&format!(
        "{REFERENCES}
         (assert (forall ((a Int) (b Int) (c Int) (m Mut))
            (=> (and (Larger (two (mut a c) (mut b c)) m) (= (later m) (+ (now m) 1))) false)))
         (assert (forall ((m Mut)) (=> (and (Down m) (>= (now m) 0) (not (= (later m) 0))) false)))"
    ));
    assert_eq!(name, "sat", "{model}");
    assert!(model.contains("(define-fun Down ((") && model.contains("Mut)) Bool"), "{model}");
}

#[test]
fn programs_with_references_are_unsafe() {
    let (name, refutation) = answer(&format!(
        "{REFERENCES}
         (assert (forall ((a Int) (b Int) (m Mut))
            (=> (and (Larger (two (mut a 7) (mut b 7)) m) (Down m) (= (now m) 7)) false)))
         (assert (forall ((m Mut)) (=> (and (Down m) (= (now m) 3)) false)))"
    ));
    assert_eq!(name, "unsat", "{refutation}");
    assert!(refutation.contains("(mut 3 0)"), "{refutation}");
}

#[test]
fn a_loop_over_a_sum_is_safe() {
    let (name, model) = answer(
        "(set-logic HORN)
         (declare-datatypes ((State 0)) (((idle) (busy (left Int)) (done (total Int)))))
         (declare-fun P (State Int) Bool)
         (assert (P idle 0))
         (assert (forall ((n Int) (t Int)) (=> (and (P idle t) (> n 0)) (P (busy n) t))))
         (assert (forall ((n Int) (t Int)) (=> (and (P (busy n) t) (> n 0)) (P (busy (- n 1)) (+ t 1)))))
         (assert (forall ((t Int)) (=> (P (busy 0) t) (P (done t) t))))
         (assert (forall ((s State) (t Int)) (=> (and (P s t) ((_ is done) s) (< (total s) 0)) false)))",
    );
    assert_eq!(name, "sat", "{model}");
}

#[test]
fn a_refutation_that_chooses_the_value_of_a_selector_is_no_answer() {
    let text = |condition: &str| {
        format!(
            "(set-logic HORN)
             (declare-datatypes ((Maybe 0)) (((none) (some (value Int)))))
             (declare-fun P (Maybe) Bool)
             (assert (P none))
             (assert (forall ((x Maybe)) (=> (and (P x) {condition}) false)))"
        )
    };
    assert_eq!(answer(&text("(> (value x) 5)")).0, "unknown");
    assert_eq!(answer(&text("((_ is some) x) (> (value x) 5)")).0, "sat");
    assert_eq!(answer(&text("(or ((_ is none) x) (> (value x) 5))")).0, "unsat");
}

#[test]
fn random_systems_over_records_and_sums_get_valid_witnesses() {
    let mut answers = [0; 3];
    for seed in 0..60 {
        let (name, _) = answer(&datatype_systems::system(&mut Random::new(seed), Family::Sums));
        answers[["sat", "unsat", "unknown"].iter().position(|&other| other == name).unwrap_or(2)] += 1;
    }
    assert!(answers[0] >= 12 && answers[1] >= 12 && answers[2] <= 3, "{answers:?}");
}

// ---- worked examples ---------------------------------------------------------------------------------------

/// Calls the function with a checked refutation of some clauses, by unfolding and by the engines that the clauses choose.
fn refute(text: &str, look: impl Fn(&TermStore, &Refutation)) {
    for engines in [&[][..], &["unfold"]] {
        let store = TermStore::new();
        match verdict(&store, &read(&store, text), engines) {
            Verdict::Unsat(refutation) => look(&store, &refutation),
            other => panic!("{engines:?}: {other:?} for\n{text}"),
        }
    }
}

/// The elements of a list, which has no other constructor with two fields.
fn elements(store: &TermStore, value: &Value) -> Vec<Term> {
    let Value::Term(mut list) = *value else { panic!("a list is a term") };
    let mut elements = Vec::new();
    while let &[head, tail] = store.args(list) {
        elements.push(head);
        list = tail;
    }
    elements
}

const LISTS: &str = "(set-logic HORN)
    (declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
    (declare-fun App (L L L) Bool)
    (assert (forall ((y L)) (App nil y y)))
    (assert (forall ((h Int) (x L) (y L) (r L)) (=> (App x y r) (App (cons h x) y (cons h r)))))\n";

#[test]
fn s12_appending_is_not_commutative() {
    let text = format!(
        "{LISTS}(assert (forall ((x L) (y L) (a L) (b L)) (=> (and (App x y a) (App y x b) (distinct a b)) false)))"
    );
    refute(&text, |store, refutation| {
        let last = refutation.steps.last().expect("it ends with false");
        let [first, second] = last.premises[..] else { panic!("two facts: {last:?}") };
        let fact = |step: usize| {
            let [x, y, result] = &refutation.steps[step].fact[..] else { panic!("three arguments") };
            let [x, y, result] = [x, y, result].map(|list| elements(store, list));
            assert_eq!(result, [x.clone(), y.clone()].concat());
            (x, y, result)
        };
        let ((x, y, xy), (again_y, again_x, yx)) = (fact(first), fact(second));
        assert!((&x, &y) == (&again_x, &again_y) && xy != yx);
        assert!((1..=2).contains(&x.len()) && (1..=2).contains(&y.len()), "{} and {}", x.len(), y.len());
    });
}

/// Two numbers are borrowed mutably. A function returns the reference to the larger one and ends the other borrow, and
/// the larger number changes by `change`. Then the two shall differ. A reference is a pair of the present and the final
/// value.
fn larger_changes(change: &str) -> (String, Vec<String>) {
    let declarations = "(declare-datatypes ((Mut 0)) (((mut (now Int) (later Int)))))
        (declare-fun Larger (Mut Mut Mut) Bool)
        (declare-fun Main (Int Int Bool) Bool)\n";
    let clauses = [
        "(forall ((a Mut) (b Mut) (m Mut))
            (=> (and (>= (now a) (now b)) (= (later b) (now b)) (= m a)) (Larger a b m)))"
            .to_owned(),
        "(forall ((a Mut) (b Mut) (m Mut))
            (=> (and (not (>= (now a) (now b))) (= (later a) (now a)) (= m b)) (Larger a b m)))"
            .to_owned(),
        format!(
            "(forall ((a Int) (b Int) (x Int) (y Int) (m Mut))
                (=> (and (Larger (mut a x) (mut b y) m) (= (later m) (+ (now m) {change}))) (Main a b (not (= x y)))))"
        ),
        "(forall ((a Int) (b Int) (ok Bool)) (=> (and (Main a b ok) (not ok)) false))".to_owned(),
    ];
    (declarations.to_owned(), clauses.to_vec())
}

fn script(declarations: &str, clauses: &[String]) -> String {
    let asserted: String = clauses.iter().map(|clause| format!("(assert {clause})\n")).collect();
    format!("(set-logic HORN){declarations}{asserted}")
}

#[test]
fn s16_programs_with_references_are_decided_without_datatypes() {
    let (declarations, clauses) = larger_changes("1");
    let text = script(&declarations, &clauses);
    let store = TermStore::new();
    let system = read(&store, &text);
    let context = Context::new(&store);
    let flat = Pipeline::parse("records").expect("it exists").run(&context, HornGraph::of(&store, &system));
    let labels: Vec<Term> = flat.0.graph.edges().map(|(_, edge)| edge.label()).collect();
    let arguments = flat.0.graph.nodes().flat_map(|(_, node)| node.sorts(&store));
    let terms = store.subterms(&labels).into_iter().map(|term| store.sort_of(term));
    let is_plain = |sort: Sort| matches!(store.sort_kind(sort), SortKind::Bool | SortKind::Int);
    assert!(arguments.chain(terms).all(is_plain));

    let verdict = verdict(&store, &system, &[]);
    assert_eq!(verdict.name(), "sat");
    let model = verdict.witness().expect("it has a model").to_text(&store, &system, WitnessFormat::Text);
    assert!(!model.contains("define-fun-rec"), "{model}");
    assert!(z3_confirms(&declarations, &clauses, &model), "{model}");

    let (declarations, clauses) = larger_changes("(- 1)");
    refute(&script(&declarations, &clauses), |store, refutation| {
        let values = refutation.steps.iter().flat_map(|step| &step.fact);
        let references = values.filter_map(|value| match *value {
            Value::Term(term) => Some(term),
            _ => None,
        });
        let references: Vec<Term> = references.collect();
        let is_pair =
            |term: &Term| matches!(store.op(*term), Op::Construct(_)) && store.args(*term).len() == 2;
        assert!(references.len() == 3 && references.iter().all(is_pair), "{refutation:?}");
    });
}

/// Whether Z3 finds that all clauses hold if the predicates are defined as in a model, or is not installed.
fn z3_confirms(declarations: &str, clauses: &[String], model: &str) -> bool {
    let sorts: String = declarations.lines().filter(|line| line.contains("declare-datatypes")).collect();
    let definitions = model.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let definitions = definitions.expect("a model is a list of definitions");
    let violated = clauses
        .iter()
        .map(|clause| format!("(push)(assert (not {clause}))(check-sat)(pop)\n"))
        .collect::<String>();
    let answers = z3::answers(&format!("{sorts}{definitions}{violated}"));
    answers.is_none_or(|answers| answers.len() == clauses.len() && answers.iter().all(|it| it == "unsat"))
}

#[test]
fn s17_zero_differs_from_its_successor() {
    let nat = "(set-logic HORN)(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))\n";
    refute(&format!("{nat}(assert (=> (not (= zero (succ zero))) false))"), |_, refutation| {
        assert_eq!(refutation.steps.len(), 1);
    });
    // The same with a predicate that means different.
    refute(
        &format!(
            "{nat}(declare-fun Diseq (Nat Nat) Bool)
             (assert (forall ((x Nat)) (Diseq zero (succ x))))
             (assert (forall ((x Nat)) (Diseq (succ x) zero)))
             (assert (forall ((x Nat) (y Nat)) (=> (Diseq x y) (Diseq (succ x) (succ y)))))
             (assert (=> (Diseq zero (succ zero)) false))"
        ),
        |_, refutation| assert_eq!(refutation.steps.len(), 2),
    );
}

/// The first elements of a list and the others, but one is lost.
#[test]
fn s18_a_list_is_not_its_beginning_with_too_short_an_end() {
    let text = format!(
        "{LISTS}(declare-fun Take (Int L L) Bool)
         (assert (forall ((n Int) (x L)) (=> (<= n 0) (Take n x nil))))
         (assert (forall ((n Int)) (Take n nil nil)))
         (assert (forall ((n Int) (h Int) (x L) (r L)) (=> (and (Take (- n 1) x r) (> n 0)) (Take n (cons h x) (cons h r)))))
         (declare-fun Drop (Int L L) Bool)
         (assert (forall ((n Int) (x L)) (=> (<= n 0) (Drop n x x))))
         (assert (forall ((n Int)) (Drop n nil nil)))
         (assert (forall ((n Int) (h Int) (x L) (r L)) (=> (and (Drop (- n 1) x r) (> n 0)) (Drop n (cons h x) r))))
         (assert (forall ((n Int) (x L) (a L) (b L) (c L))
            (=> (and (Take n x a) (Drop (+ n 1) x b) (App a b c) (> n 0) (distinct c x)) false)))"
    );
    refute(&text, |store, refutation| {
        let lists =
            refutation.steps.iter().flat_map(|step| &step.fact).filter(|it| matches!(it, Value::Term(_)));
        assert!(lists.map(|list| elements(store, list).len()).max() <= Some(4), "{refutation:?}");
    });
}

/// Heaps whose left parts are the deeper ones, until a function merges two of them and forgets to exchange the parts.
#[test]
fn s18_merging_without_exchange_makes_the_right_part_of_a_heap_deeper() {
    let text = "(set-logic HORN)
        (declare-datatypes ((H 0)) (((none) (heap (rank Int) (key Int) (left H) (right H)))))
        (declare-fun Rank (H Int) Bool)(declare-fun Leftist (H) Bool)(declare-fun Merge (H H H) Bool)
        (assert (Rank none 0))
        (assert (forall ((r Int) (k Int) (a H) (b H)) (Rank (heap r k a b) r)))
        (assert (Leftist none))
        (assert (forall ((k Int) (a H) (b H) (i Int) (j Int))
            (=> (and (Leftist a) (Leftist b) (Rank a i) (Rank b j) (>= i j)) (Leftist (heap (+ j 1) k a b)))))
        (assert (forall ((x H)) (Merge none x x)))
        (assert (forall ((x H)) (Merge x none x)))
        (assert (forall ((r Int) (k Int) (a H) (b H) (s Int) (l Int) (c H) (d H) (m H) (i Int))
            (=> (and (Merge b (heap s l c d) m) (<= k l) (Rank m i))
                (Merge (heap r k a b) (heap s l c d) (heap (+ i 1) k a m)))))
        (assert (forall ((r Int) (k Int) (a H) (b H) (s Int) (l Int) (c H) (d H) (m H) (i Int))
            (=> (and (Merge (heap r k a b) d m) (> k l) (Rank m i))
                (Merge (heap r k a b) (heap s l c d) (heap (+ i 1) l c m)))))
        (assert (forall ((x H) (y H) (r Int) (k Int) (a H) (b H) (i Int) (j Int))
            (=> (and (Leftist x) (Leftist y) (Merge x y (heap r k a b)) (Rank a i) (Rank b j) (< i j)) false)))";
    refute(text, |_, refutation| assert!(refutation.steps.len() < 20, "{refutation:?}"));
}

/// Dropping the first elements twice is not dropping them once.
#[test]
fn s19_dropping_is_not_idempotent_on_small_lists() {
    let text = "(set-logic HORN)
        (declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
        (declare-datatypes ((L 0)) (((nil) (cons (hd Nat) (tl L)))))
        (declare-fun Drop (Nat L L) Bool)
        (assert (forall ((x L)) (Drop zero x x)))
        (assert (forall ((n Nat)) (Drop (succ n) nil nil)))
        (assert (forall ((n Nat) (h Nat) (x L) (r L)) (=> (Drop n x r) (Drop (succ n) (cons h x) r))))
        (assert (forall ((n Nat) (x L) (a L) (b L)) (=> (and (Drop n x a) (Drop n a b) (distinct a b)) false)))";
    refute(text, |store, refutation| {
        let lists = refutation.steps.iter().flat_map(|step| step.fact.get(1));
        let longest = lists.map(|list| elements(store, list).len()).max();
        assert!((Some(2)..=Some(3)).contains(&longest), "{refutation:?}");
    });
}

/// The elements of lists are numbers of one sort, and lengths are numbers of another one.
#[test]
fn s20_numbers_of_two_sorts_are_not_confused() {
    let text = |query: &str| {
        format!(
            "(set-logic HORN)
             (declare-datatypes ((Nat 0) (Index 0)) (((zero) (succ (pred Nat))) ((next (last Index)) (first))))
             (declare-datatypes ((L 0)) (((nil) (cons (hd Nat) (tl L)))))
             (declare-fun Length (L Index) Bool)
             (assert (Length nil first))
             (assert (forall ((h Nat) (x L) (n Index)) (=> (Length x n) (Length (cons h x) (next n)))))
             (assert (forall ((h Nat) (x L) (n Index)) (=> (and (Length x n) {query}) false)))"
        )
    };
    let (name, model) = answer(&text("(= x (cons (succ (succ zero)) nil)) (= n (next (next first)))"));
    assert_eq!(name, "sat", "{model}");
    let (name, model) = answer(&text("(= x (cons h nil)) (distinct n (next first))"));
    assert_eq!(name, "sat", "{model}");
    refute(&text("(= x (cons (succ h) nil)) (= n (next first))"), |store, refutation| {
        let [list, length] = &refutation.steps[1].fact[..] else { panic!("two arguments") };
        let shown = [list, length].map(|value| store.display_value(value).to_string());
        assert!(shown[0].starts_with("(cons (succ ") && shown[0].ends_with(") nil)"), "{shown:?}");
        assert_eq!(shown[1], "(next first)");
    });
}

#[test]
fn s14_multiplication_of_peano_numbers_is_commutative() {
    let text = |query: &str| {
        format!(
            "(declare-datatypes ((N 0)) (((z) (s (p N)))))
            (declare-fun add (N N N) Bool) (declare-fun mul (N N N) Bool)
            (assert (forall ((y N)) (add z y y)))
            (assert (forall ((x N) (y N) (r N)) (=> (add x y r) (add (s x) y (s r)))))
            (assert (forall ((y N)) (mul z y z)))
            (assert (forall ((y N)) (mul (s y) z z)))
            (assert (forall ((x N) (y N) (q N) (r N) (t N))
                (=> (and (mul x y q) (add q x r) (add r y t)) (mul (s x) (s y) (s t)))))
            (assert (forall ((x N) (y N) (q N) (r N)) (=> (and {query} (not (= q r))) false)))"
        )
    };
    let by_words = |query: &str| {
        let store = TermStore::new();
        verdict(&store, &read(&store, &text(query)), &["words"]).name()
    };
    assert_eq!(by_words("(mul x y q) (mul y x r)"), "sat");
    assert_eq!(by_words("(mul x y q) (add y x r)"), "unknown");
}

/// The ways back have words: elements become numbers, pairs their fields, and predicates without recursion are removed.
#[test]
fn words_over_lists_of_peano_numbers_come_back() {
    let text = "(declare-datatypes ((N 0) (L 0) (Q 0)) (((z) (s (p N))) ((nil) (cons (hd N) (tl L))) ((q (f L) (b L)))))
            (declare-fun acc (L L L) Bool) (declare-fun rev (L L) Bool) (declare-fun all (Q L) Bool) (declare-fun ff () Bool)
            (declare-fun app (L L L) Bool)
            (assert (forall ((y L)) (acc nil y y)))
            (assert (forall ((h N) (x L) (y L) (r L)) (=> (acc x (cons h y) r) (acc (cons h x) y r))))
            (assert (forall ((x L) (r L)) (=> (acc x nil r) (rev x r))))
            (assert (forall ((y L)) (app nil y y)))
            (assert (forall ((h N) (x L) (y L) (r L)) (=> (app x y r) (app (cons h x) y (cons h r)))))
            (assert (forall ((x L) (y L) (w L) (r L)) (=> (and (rev y w) (app x w r)) (all (q x y) r))))
            (assert (forall ((x L) (y L) (r L) (w L))
                (=> (and (all (q x y) r) (rev r w) (all (q y nil) r) (not (= r w)) (= x nil)) ff)))
            (assert (forall ((x L) (y L) (v L) (w L)) (=> (and (rev x v) (rev v w) (not (= x w))) ff)))
            (assert (=> ff false))";
    let store = TermStore::new();
    // The queue `(y, nil)` has the elements of `(nil, y)` only if `y` is its own reverse.
    assert_eq!(verdict(&store, &read(&store, text), &["words"]).name(), "sat");
}
