//! Transformations of datatypes preserve answers, and their translations give valid lemmas and witnesses: on random
//! systems whose answers an explicit search finds, and on the examples of their files. The explicit search also judges
//! the witnesses, and so does the checker, except where arrays occur.

#[path = "common/datatypes.rs"]
mod common;

use common::{graph, keeps_the_answer, run, safe_systems, system};
use shofar_horn::check::{Fault, Validity, check_refutation};
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::transform::{Image, Lemma, Transformed};
use shofar_horn::witness::{GraphModel, Refutation};
use shofar_horn::{Context, HornGraph};
use shofar_logic::{Sort, SortKind, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_testing::datatype_systems::{self, Family};
use shofar_testing::explicit::Saturation;
use shofar_testing::{Random, scale};

fn keeps_answers(names: &str, family: Family, least_changed: u64) {
    let count = 100 * scale();
    let results: Vec<(bool, usize)> = (0..count)
        .map(|seed| {
            let random = &mut Random::new(seed);
            let text = datatype_systems::system(random, family);
            keeps_the_answer(random, &text, names, family == Family::Records)
        })
        .filter(|&(changed, _)| changed)
        .collect();
    let (changed, arrived) = (results.len(), results.iter().map(|&(_, arrived)| arrived).sum::<usize>());
    assert!(changed as u64 * 100 >= count * least_changed, "only {changed} of {count} are changed");
    assert!(arrived * 2 >= changed, "{arrived} lemmas arrived in {changed} graphs");
}

#[test]
fn both_answers_are_frequent_among_random_systems() {
    for family in [Family::Records, Family::Sums, Family::Lists] {
        let safe = safe_systems(family, 100);
        assert!((20..=80).contains(&safe), "{safe} of 100 are safe");
    }
}

#[test]
fn records_keep_answers() {
    keeps_answers("records", Family::Records, 80);
}

#[test]
fn records_below_sums_and_lists_keep_answers() {
    keeps_answers("records", Family::Sums, 30);
    keeps_answers("records", Family::Lists, 30);
}

#[test]
fn tags_keep_answers() {
    keeps_answers("tagged", Family::Sums, 80);
}

#[test]
fn unique_constructors_keep_answers() {
    keeps_answers("unique-constructor", Family::Lists, 20);
    keeps_answers("unique-constructor", Family::Sums, 20);
}

#[test]
fn sequences_on_datatypes_keep_answers() {
    for family in [Family::Records, Family::Sums, Family::Lists] {
        keeps_answers("records,tagged,unique-constructor", family, 40);
        keeps_answers("unique-constructor,tagged,records", family, 40);
    }
}

/// Whether a datatype or an array occurs in the graph.
fn has_structure(store: &TermStore, graph: &HornGraph) -> bool {
    let is_plain = |sort: Sort| matches!(store.sort_kind(sort), SortKind::Bool | SortKind::Int);
    let arguments = graph.nodes().flat_map(|(_, node)| node.sorts(store));
    let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
    let terms = store.subterms(&labels).into_iter().map(|term| store.sort_of(term));
    !arguments.chain(terms).all(is_plain)
}

const PAIR: &str = "(declare-datatypes ((Pair 0)) (((pair (first Int) (second Bool)))))\n";

/// A mutable reference as a record of the present and the final value, as in verification of Rust by prophecies.
const REFERENCES: &str = "(declare-datatypes ((Mut 0)) (((mut (now Int) (later Int)))))
    (declare-datatypes ((Two 0)) (((two (left Mut) (right Mut)))))
    (declare-fun Max (Two Mut) Bool)
    (assert (forall ((a Mut) (b Mut)) (=> (and (>= (now a) (now b)) (= (later b) (now b))) (Max (two a b) a))))
    (assert (forall ((a Mut) (b Mut)) (=> (and (< (now a) (now b)) (= (later a) (now a))) (Max (two a b) b))))\n";

#[test]
fn s16_no_record_is_left_where_all_sorts_are_records() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = format!(
        "{REFERENCES}
         (assert (forall ((a Int) (b Int) (c Int) (d Int) (m Mut))
            (=> (and (Max (two (mut a c) (mut b d)) m) (= (later m) (+ (now m) 1)) (= c d)) false)))"
    );
    let old = graph(&store, &text);
    assert!(has_structure(&store, &old));
    let new = run(&context, "records", &old).graph;
    assert!(!has_structure(&store, &new));
    assert_eq!(new.node(NodeId::new(0)).arity(), 6);
    assert_eq!(run(&context, "records", &new).graph, new);
}

#[test]
fn a_disequation_of_records_is_a_disjunction() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let old = graph(
        &store,
        &format!(
            "{PAIR}(declare-fun P (Pair Pair) Bool)
             (assert (forall ((x Pair) (y Pair)) (=> (and (P x y) (not (= x y))) false)))"
        ),
    );
    let new = run(&context, "records", &old).graph;
    let &[a, b, c, d] = new.node(NodeId::new(0)).variables() else { panic!("four fields") };
    let expected = store.not(store.and2(store.eq(a, c), store.iff(b, d)));
    assert_eq!(new.edge(EdgeId::new(0)).label(), expected);
}

#[test]
fn an_array_of_records_is_an_array_for_each_field_and_indices_stay() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let old = graph(
        &store,
        &format!(
            "{PAIR}(declare-fun P ((Array Int Pair) (Array Pair Int) Pair) Bool)
             (assert (forall ((a (Array Int Pair)) (b (Array Pair Int)) (x Pair))
                (=> (and (P a b x) (= (first (select a 1)) (select b x))) false)))"
        ),
    );
    let Transformed { graph: new, translation } = run(&context, "records", &old);
    let node = NodeId::new(0);
    let sorts: Vec<String> =
        new.node(node).sorts(&store).iter().map(|&sort| store.display_sort(sort).to_string()).collect();
    assert_eq!(sorts, ["(Array Int Int)", "(Array Int Bool)", "(Array Pair Int)", "Int", "Bool"]);
    let &[firsts, _, b, first, _] = new.node(node).variables() else { panic!("five arguments") };
    // A model that reads is translated, even after writes, and one that compares arrays; one that chooses between them is not.
    let one = store.int(1);
    let read = store.le(store.select(store.store_array(firsts, first, one), one), store.int(5));
    let back = translation.model_back(&context, GraphModel::of_formulas([read])).unwrap();
    let text = store.display(back.formula(node).unwrap()).to_string();
    assert!(text.contains("first") && text.contains("select") && !text.contains("store"), "{text}");
    let compares = store.eq(firsts, store.store_array(firsts, first, one));
    let back = translation.model_back(&context, GraphModel::of_formulas([compares])).unwrap();
    let text = store.display(back.formula(node).unwrap()).to_string();
    assert!(text.contains("forall") && text.contains("first") && !text.contains("store"), "{text}");
    let other = store.store_array(firsts, first, one);
    let chosen =
        store.eq(store.ite(store.le(first, one), firsts, other), store.store_array(firsts, one, one));
    let back = translation.model_back(&context, GraphModel::of_formulas([chosen]));
    assert!(matches!(back, Err(Stop::Unsupported(_))), "{back:?}");
    let fine = store.eq(store.select(b, store.value_to_term(&store.default_value(pair(&store, &old)))), one);
    assert!(translation.model_back(&context, GraphModel::of_formulas([fine])).is_ok());
}

/// The sort of the last argument of the first predicate.
fn pair(store: &TermStore, graph: &HornGraph) -> Sort {
    *graph.node(NodeId::new(0)).sorts(store).last().unwrap()
}

#[test]
fn arrays_of_records_in_lists_stay_whole() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let old = graph(
        &store,
        &format!(
            "{PAIR}(declare-datatypes ((L 0)) (((nil) (cons (head (Array Int Pair)) (tail L)))))
             (declare-fun P (L (Array Int Pair) Pair) Bool)
             (assert (forall ((l L) (a (Array Int Pair)) (x Pair))
                (=> (and (P (cons a l) a x) (= (select a 1) x)) false)))"
        ),
    );
    let new = run(&context, "records", &old).graph;
    let arities: Vec<usize> = new.nodes().map(|(_, node)| node.arity()).collect();
    assert_eq!(arities, [4]);
}

const MAYBE: &str = "(declare-datatypes ((Maybe 0)) (((none) (some (value Int)))))\n";

#[test]
fn a_selector_left_open_is_any_value_and_no_refutation_may_choose_it() {
    let store = TermStore::new();
    let context = Context::new(&store);
    // The second query holds whatever (value none) is.
    for (condition, is_refuted) in
        [("(> (value x) 5)", false), ("(or ((_ is none) x) (> (value x) 5))", true)]
    {
        let text = format!(
            "{MAYBE}(declare-fun P (Maybe) Bool)(assert (P none))
             (assert (forall ((x Maybe)) (=> (and (P x) {condition}) false)))"
        );
        let system = system(&store, &text);
        let old = HornGraph::of(&store, &system);
        let Transformed { graph: new, translation } = run(&context, "tagged", &old);
        assert!(!has_structure(&store, &new));
        let found = Saturation::of(&store, &new, 0..=9);
        assert!(!found.is_safe(), "the new clauses hold for no interpretation, since {condition} can hold");
        let back = translation.derivation_back(&context, found.derivation().unwrap()).unwrap();
        let refutation = Refutation::of_graph(&context, &system, back).unwrap();
        let validity = check_refutation(&context, &system, &refutation);
        match is_refuted {
            false => assert!(matches!(validity, Validity::Invalid(Fault::Open { .. })), "{validity:?}"),
            true => assert_eq!(validity, Validity::Valid),
        }
    }
}

#[test]
fn open_selectors_of_equal_arguments_are_equal_in_a_clause() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = format!(
        "{MAYBE}(declare-fun P (Maybe Maybe) Bool)(assert (P none none))
         (assert (forall ((x Maybe) (y Maybe)) (=> (and (P x y) (< (value x) (value y))) false)))"
    );
    let old = graph(&store, &text);
    let Transformed { graph: new, translation } = run(&context, "tagged", &old);
    assert!(Saturation::of(&store, &new, 0..=5).is_safe());
    // A lemma about an open value means nothing in the new graph.
    let node = NodeId::new(0);
    let &[x, y] = old.node(node).variables() else { panic!("two arguments") };
    let some = store.datatype(store.sort_of(x)).unwrap().constructors()[1];
    let formula = store.eq(store.selector(some, 0, x), store.selector(some, 0, y));
    assert_eq!(translation.forward(&context, Lemma { node, formula }), Image::Inexpressible);
}

#[test]
fn an_argument_made_by_one_constructor_becomes_its_fields() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = "(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
        (declare-fun P (L L) Bool)
        (assert (P (cons 1 (cons 2 nil)) nil))
        (assert (forall ((x Int) (l L) (m L)) (=> (P (cons x l) m) (P (cons (+ x 1) l) (cons x m)))))
        (assert (forall ((l L) (m L)) (=> (and (P l m) (< (head l) 0)) false)))";
    let old = graph(&store, text);
    let Transformed { graph: new, translation } = run(&context, "unique-constructor", &old);
    let node = NodeId::new(0);
    // The first argument is always (cons x (cons y nil)); the second one is nil first.
    let sorts: Vec<String> =
        new.node(node).sorts(&store).iter().map(|&sort| store.display_sort(sort).to_string()).collect();
    assert_eq!(sorts, ["Int", "Int", "L"]);
    let query = new.edges().last().unwrap().1;
    assert_eq!(query.label(), store.lt(new.node(node).variables()[0], store.int(0)));
    let positive = store.gt(new.node(node).variables()[0], store.int(0));
    let back = translation.model_back(&context, GraphModel::of_formulas([positive])).unwrap();
    assert_eq!(Saturation::violated(&store, &old, -1..=2, &back), None);
}

#[test]
fn a_nested_record_gets_its_values_back() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = format!(
        "{REFERENCES}
         (assert (forall ((a Mut) (b Mut) (m Mut))
            (=> (and (Max (two a b) m) (= a (mut 1 2)) (= (now b) 0)) false)))"
    );
    let old = graph(&store, &text);
    let Transformed { graph: new, translation } = run(&context, "records", &old);
    let derivation = Saturation::of(&store, &new, 0..=2).derivation().unwrap();
    let back = translation.derivation_back(&context, derivation).unwrap();
    let Value::Term(fact) = back.steps[0].fact[0] else { panic!("the fact is about a record") };
    assert_eq!(store.display(fact).to_string(), "(two (mut 1 2) (mut 0 0))");
    assert!(Saturation::confirms(&store, &old, 0..=2, &back));
}
