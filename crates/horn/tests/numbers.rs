//! Transformations of enumerations, Peano numbers and predicates that mean "different" preserve answers, and their
//! translations give valid lemmas and witnesses: on random systems whose answers an explicit search finds, and on the
//! examples of their files.

#[path = "common/datatypes.rs"]
mod common;

use common::{DOMAIN, graph, keeps_the_answer, run, safe_systems, system};
use shofar_horn::check::{Fault, Trust, Validity, check_graph_model, check_model, check_refutation};
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::transform::{Image, Lemma, Transformed};
use shofar_horn::witness::{Derivation, GraphModel, GraphStep, Model, Refutation, Witness, WitnessFormat};
use shofar_horn::{Context, Format, HornGraph, HornSystem, parse, parse_in, witness};
use shofar_logic::smtlib::Environment;
use shofar_logic::{Sort, SortKind, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_testing::datatype_systems::{self, Family};
use shofar_testing::explicit::Saturation;
use shofar_testing::{Random, scale, z3};

fn keep_answers(names: &str, family: Family, systems: u64, least_changed: u64) {
    let count = systems * scale();
    let changed = (0..count).filter(|&seed| {
        let random = &mut Random::new(seed);
        let text = datatype_systems::system(random, family);
        keeps_the_answer(random, &text, names, false).0
    });
    let changed = changed.count() as u64;
    assert!(changed * 100 >= count * least_changed, "only {changed} of {count} are changed");
}

#[test]
fn both_answers_are_frequent_among_random_systems() {
    for family in [Family::Enumerations, Family::Numbers] {
        let safe = safe_systems(family, 200);
        assert!((35..=165).contains(&safe), "{safe} of 200 are safe");
    }
}

#[test]
fn enumerations_keep_answers() {
    keep_answers("enumerations", Family::Enumerations, 200, 60);
    keep_answers("enumerations", Family::Sums, 100, 10);
}

#[test]
fn peano_numbers_keep_answers() {
    keep_answers("peano", Family::Numbers, 60, 80);
}

#[test]
fn predicates_that_mean_different_keep_answers() {
    for family in [Family::Enumerations, Family::Numbers, Family::Sums] {
        let count = 30 * scale();
        let changed = (0..count).filter(|&seed| {
            let random = &mut Random::new(seed);
            let text = datatype_systems::system_with_differences(random, family);
            keeps_the_answer(random, &text, "diseq", false).0
        });
        let changed = changed.count() as u64;
        assert!(changed * 2 >= count, "only {changed} of {count} are changed");
    }
}

#[test]
fn sequences_with_numbers_keep_answers() {
    for family in [Family::Enumerations, Family::Numbers] {
        keep_answers("diseq,records,enumerations,tagged,peano,unique-constructor", family, 30, 60);
        keep_answers("unique-constructor,peano,enumerations", family, 30, 60);
    }
}

/// Whether a datatype occurs in the graph.
fn has_datatypes(store: &TermStore, graph: &HornGraph) -> bool {
    let arguments = graph.nodes().flat_map(|(_, node)| node.sorts(store));
    let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
    let terms = store.subterms(&labels).into_iter().map(|term| store.sort_of(term));
    arguments.chain(terms).any(|sort| matches!(store.sort_kind(sort), SortKind::Datatype(_)))
}

// ---- enumerations --------------------------------------------------------------------------------------------

const COLORS: &str = "(declare-datatypes ((Color 0)) (((red) (green) (blue))))
    (declare-datatypes ((Answer 0)) (((no) (yes))))
    (declare-datatypes ((Colors 0)) (((nil) (cons (head Color) (tail Colors)))))\n";

#[test]
fn all_values_of_an_enumeration_are_in_range_in_heads_too() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = format!(
        "{COLORS}(declare-fun P (Color Answer) Bool)
         (assert (forall ((c Color) (a Answer)) (P c a)))
         (assert (forall ((c Color) (a Answer)) (=> (and (P c a) (not (= c red)) (not (= c blue)) (= a no)) false)))"
    );
    let old = graph(&store, &text);
    let Transformed { graph: new, translation } = run(&context, "enumerations", &old);
    assert!(!has_datatypes(&store, &new));
    let node = NodeId::new(0);
    assert_eq!(new.node(node).sorts(&store), [Sort::INT, Sort::BOOL]);
    let [c, _] = *new.node(node).next() else { panic!("two arguments") };
    let range = store.and2(store.ge(c, store.int(0)), store.le(c, store.int(2)));
    assert_eq!(new.edge(EdgeId::new(0)).label(), range);
    // Numbers beyond the constructors derive nothing.
    let derivation = Saturation::of(&store, &new, -2..=5).derivation().expect("green and no are derived");
    let back = translation.derivation_back(&context, derivation).unwrap();
    let shown: Vec<String> =
        back.steps[0].fact.iter().map(|value| store.display_value(value).to_string()).collect();
    assert_eq!(shown, ["green", "no"]);
    assert!(Saturation::confirms(&store, &old, DOMAIN, &back));
}

#[test]
fn an_enumeration_in_a_list_stays_and_models_come_back_without_recursion() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = format!(
        "{COLORS}(declare-fun P (Color Colors) Bool)
         (assert (forall ((c Color)) (=> (not (= c blue)) (P c nil))))
         (assert (forall ((c Color) (l Colors)) (=> (P c l) (P c (cons c l)))))
         (assert (forall ((c Color) (d Color) (l Colors)) (=> (and (P c (cons d l)) (not (= c d))) false)))"
    );
    let old = graph(&store, &text);
    let Transformed { graph: new, translation } = run(&context, "enumerations", &old);
    let node = NodeId::new(0);
    let sorts: Vec<String> =
        new.node(node).sorts(&store).iter().map(|&sort| store.display_sort(sort).to_string()).collect();
    assert_eq!(sorts, ["Int", "Colors"]);
    // P(c, l): c is not blue, and the first element, if there is one, is c.
    let &[c, l] = new.node(node).variables() else { panic!("two arguments") };
    let cons = store.datatype(store.sort_of(l)).unwrap().constructors()[1];
    let head = store.selector(cons, 0, l);
    let &[red, green, _] = store.datatype(store.sort_of(head)).unwrap().constructors() else {
        panic!("three")
    };
    let is_head =
        |(constructor, number)| store.iff(store.tester(constructor, head), store.eq(c, store.int(number)));
    let heads = store.and_of([(red, 0), (green, 1)].map(is_head));
    let formula = store.and2(store.le(c, store.int(1)), store.implies(store.tester(cons, l), heads));
    let model = GraphModel::of_formulas([formula]);
    assert_eq!(Saturation::violated(&store, &new, DOMAIN, &model), None);
    let back = translation.model_back(&context, model).unwrap();
    assert_eq!(Saturation::violated(&store, &old, DOMAIN, &back), None);
}

#[test]
fn no_enumeration_is_left_in_the_fields_of_unique_constructors() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = format!(
        "{COLORS}(declare-fun P (Colors Int) Bool)
         (assert (P (cons red nil) 0))
         (assert (forall ((c Color) (d Color) (n Int))
            (=> (and (P (cons c nil) n) (not (= c d)) (not (= d blue))) (P (cons d nil) (+ n 1)))))
         (assert (forall ((c Color) (n Int)) (=> (and (P (cons c nil) n) (or (= c blue) (< n 0))) false)))"
    );
    let new = run(&context, "standard,no-summaries", &graph(&store, &text)).graph;
    assert!(new.nodes().len() == 1 && !has_datatypes(&store, &new));
}

// ---- Peano numbers -------------------------------------------------------------------------------------------

const NUMBERS: &str = "(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
    (declare-datatypes ((Nats 0)) (((nil) (cons (head Nat) (tail Nats)))))\n";

/// Increment and decrement of Peano numbers.
const INC_DEC: &str = "(declare-datatypes ((N 0)) (((s (p N)) (o))))
    (declare-fun Inc (N N) Bool)(declare-fun Dec (N N) Bool)
    (assert (Inc o (s o)))
    (assert (forall ((x N) (y N)) (=> (Inc x y) (Inc (s x) (s y)))))
    (assert (Dec (s o) o))
    (assert (forall ((x N) (y N)) (=> (Dec x y) (Dec (s x) (s y)))))
    (assert (forall ((x N) (y N)) (=> (and (Inc x y) (Dec x y)) false)))\n";

#[test]
fn increment_and_decrement_come_back_without_a_number_function() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let old = graph(&store, INC_DEC);
    let Transformed { graph: new, translation } = run(&context, "peano", &old);
    assert!(!has_datatypes(&store, &new));
    let formula = |node: usize, distance: i64| {
        let &[x, y] = new.node(NodeId::new(node)).variables() else { panic!("two arguments") };
        store.eq(store.sub(y, x), store.int(distance))
    };
    let model = GraphModel::of_formulas([formula(0, 1), formula(1, -1)]);
    assert_eq!(check_graph_model(&context, &new, &model), Ok(()));
    let back = translation.model_back(&context, model).unwrap();
    assert_eq!(Saturation::violated(&store, &old, DOMAIN, &back), None);
    let &[x, y] = old.node(NodeId::new(0)).variables() else { panic!("two arguments") };
    assert_eq!(back.formula(NodeId::new(0)), Ok(store.eq(y, store.successors(x, 1))));
    let &[x, y] = old.node(NodeId::new(1)).variables() else { panic!("two arguments") };
    assert_eq!(back.formula(NodeId::new(1)), Ok(store.eq(x, store.successors(y, 1))));
}

/// The order of Peano numbers is irreflexive.
const LESS: &str = "(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
    (declare-fun Less (Nat Nat) Bool)
    (assert (forall ((y Nat)) (Less zero (succ y))))
    (assert (forall ((x Nat) (y Nat)) (=> (Less x y) (Less (succ x) (succ y)))))
    (assert (forall ((x Nat) (y Nat)) (=> (and (Less x y) (Less y x)) false)))\n";

/// The model of [`LESS`], found on integers.
fn model_of_less(context: &Context<'_>, old: &HornGraph) -> GraphModel {
    let store = context.store;
    let Transformed { graph: new, translation } = run(context, "peano", old);
    assert!(!has_datatypes(store, &new));
    let &[x, y] = new.node(NodeId::new(0)).variables() else { panic!("two arguments") };
    let model = GraphModel::of_formulas([store.lt(x, y)]);
    assert_eq!(check_graph_model(context, &new, &model), Ok(()));
    translation.model_back(context, model).unwrap()
}

#[test]
fn an_order_of_peano_numbers_comes_back_with_a_number_function() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let old = graph(&store, LESS);
    let back = model_of_less(&context, &old);
    let shown = store.display(back.formula(NodeId::new(0)).unwrap()).to_string();
    assert!(shown.contains("number"), "{shown}");
    assert_eq!(Saturation::violated(&store, &old, DOMAIN, &back), None);
}

#[test]
fn s17_zero_differs_from_its_successor() {
    let text = "(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
        (declare-fun P (Nat Nat) Bool)
        (assert (forall ((x Nat) (y Nat)) (=> (= y (succ x)) (P x y))))
        (assert (forall ((x Nat) (y Nat)) (=> (and (P x y) (= x zero) (not (= x y))) false)))";
    let store = TermStore::new();
    let context = Context::new(&store);
    let system = system(&store, text);
    let old = HornGraph::of(&store, &system);
    let Transformed { graph: new, translation } = run(&context, "peano", &old);
    let derivation = Saturation::of(&store, &new, DOMAIN).derivation().expect("zero is not its successor");
    let back = translation.derivation_back(&context, derivation).unwrap();
    let refutation = Refutation::of_graph(&context, &system, back).unwrap();
    let validity = check_refutation(&context, &system, &refutation);
    assert_eq!(validity, Validity::Valid);
    assert_eq!(store.display_value(&refutation.steps[0].fact[1]).to_string(), "(succ zero)");
}

#[test]
fn s20_two_sorts_of_numbers_and_lists_of_one_are_not_confused() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = "(declare-datatypes ((Nat 0) (Index 0)) (((zero) (succ (pred Nat))) ((next (last Index)) (first))))
        (declare-datatypes ((List 0)) (((nil) (cons (head Nat) (size Int) (tail List)))))
        (declare-fun Length (List Index) Bool)(declare-fun Sum (List Nat) Bool)
        (assert (Length nil first))
        (assert (forall ((l List) (x Nat) (i Int) (n Index)) (=> (Length l n) (Length (cons x i l) (next n)))))
        (assert (Sum nil zero))
        (assert (forall ((l List) (i Int) (n Nat)) (=> (Sum l n) (Sum (cons (succ zero) i l) (succ n)))))
        (assert (forall ((l List) (i Int) (n Nat) (k Index))
            (=> (and (Length l k) (Sum l n) (= k (next (next first))) (= l (cons (succ zero) i (tail l)))) false)))";
    let system = system(&store, text);
    let old = HornGraph::of(&store, &system);
    let Transformed { graph: new, translation } = run(&context, "peano", &old);
    let sorts = new.node(NodeId::new(0)).sorts(&store);
    assert_eq!(sorts[1], Sort::INT);
    let fields = &store.constructor(store.datatype(sorts[0]).unwrap().constructors()[1]).fields;
    assert_eq!([fields[0].1, fields[1].1, fields[2].1], [Sort::INT, Sort::INT, sorts[0]]);
    // The length touches the element, and the element is not part of the length.
    let step = new.edge(EdgeId::new(1)).label();
    let is_ranged = |&&variable: &&Term| {
        let range = (store.sort_of(variable) == Sort::INT).then(|| store.ge(variable, store.int(0)));
        store.conjuncts(step).any(|conjunct| Some(conjunct) == range)
    };
    let ranged = store.free_vars(&[step]).iter().filter(is_ranged).count();
    assert_eq!(ranged, 3, "{}", store.display(step));
    // A list of two elements whose field of sort Int is negative, which is no number.
    let list = |elements: &[i64]| {
        let constructors = store.datatype(sorts[0]).unwrap().constructors();
        let nil = store.construct_term(constructors[0], &[]);
        let cons =
            |rest, &size: &i64| store.construct_term(constructors[1], &[store.int(1), store.int(size), rest]);
        Value::Term(elements.iter().fold(nil, cons))
    };
    let int = |number: i64| Value::Int(number.into());
    let step = |edge, premises: &[usize], fact: Vec<Value>| GraphStep {
        edge: EdgeId::new(edge),
        premises: premises.into(),
        fact: fact.into(),
    };
    let lists = [list(&[]), list(&[-7]), list(&[-7, -8])];
    let mut steps =
        vec![step(0, &[], vec![lists[0].clone(), int(0)]), step(2, &[], vec![lists[0].clone(), int(0)])];
    for (length, list) in lists.iter().enumerate().skip(1) {
        let before = 2 * (length - 1);
        steps.push(step(1, &[before], vec![list.clone(), int(length as i64)]));
        steps.push(step(3, &[before + 1], vec![list.clone(), int(length as i64)]));
    }
    steps.push(step(4, &[4, 5], vec![]));
    let back = translation.derivation_back(&context, Derivation { steps }).unwrap();
    let [Value::Term(list), length] = &*back.steps[4].fact else { panic!("two arguments") };
    assert_eq!(store.display_value(length).to_string(), "(next (next first))");
    let &[head, size, tail] = store.args(*list) else { panic!("three fields") };
    assert_eq!((store.number_of(head), store.sort_of(head)), (store.int(1), old_sort(&store, &old, 1)));
    assert_eq!((size, store.args(tail)[1]), (store.int(-8), store.int(-7)));
}

/// The sort of the last argument of a predicate.
fn old_sort(store: &TermStore, graph: &HornGraph, node: usize) -> Sort {
    *graph.node(NodeId::new(node)).sorts(store).last().expect("it has arguments")
}

#[test]
fn elements_that_no_clause_touches_become_natural_numbers() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = format!(
        "{NUMBERS}(declare-fun P (Nats) Bool)
         (assert (forall ((l Nats)) (P l)))
         (assert (forall ((l Nats) (m Nats)) (=> (and (P l) (P m) (not (= l m)) (= (tail l) (tail m))
            ((_ is cons) l) ((_ is cons) m) (= (head l) (succ zero))) false)))"
    );
    let system = system(&store, &text);
    let old = HornGraph::of(&store, &system);
    let Transformed { graph: new, translation } = run(&context, "peano", &old);
    let sort = new.node(NodeId::new(0)).sorts(&store)[0];
    let &[nil, cons] = store.datatype(sort).unwrap().constructors() else { panic!("two constructors") };
    let list = |elements: [i64; 2]| {
        let nil = store.construct_term(nil, &[]);
        let cons = |rest, &number: &i64| store.construct_term(cons, &[store.int(number), rest]);
        Value::Term(elements.iter().rev().fold(nil, cons))
    };
    let step = |edge, premises: &[usize], fact: Vec<Value>| GraphStep {
        edge: EdgeId::new(edge),
        premises: premises.into(),
        fact: fact.into(),
    };
    let steps =
        vec![step(0, &[], vec![list([1, -5])]), step(0, &[], vec![list([3, -5])]), step(1, &[0, 1], vec![])];
    let back = translation.derivation_back(&context, Derivation { steps }).unwrap();
    let refutation = Refutation::of_graph(&context, &system, back).unwrap();
    let validity = check_refutation(&context, &system, &refutation);
    assert_eq!(validity, Validity::Valid);
    let elements = |step: usize| {
        let Value::Term(list) = refutation.steps[step].fact[0] else { panic!("a list") };
        let &[first, rest] = store.args(list) else { panic!("two elements") };
        [first, store.args(rest)[0]].map(|element| store.number_of(element))
    };
    assert_eq!(elements(0), [store.int(1), store.int(4)]);
    assert_eq!(elements(1), [store.int(3), store.int(4)]);
}

#[test]
fn a_refutation_has_numbers_up_to_a_million_and_shares_their_terms() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = format!(
        "{NUMBERS}(declare-fun P (Nat) Bool)
         (assert (forall ((x Nat)) (P x)))
         (assert (forall ((x Nat)) (=> (and (P x) (not (= x zero))) false)))"
    );
    let old = graph(&store, &text);
    let Transformed { translation, .. } = run(&context, "peano", &old);
    let with = |number: i64| {
        let fact =
            GraphStep { edge: EdgeId::new(0), premises: [].into(), fact: [Value::Int(number.into())].into() };
        let query = GraphStep { edge: EdgeId::new(1), premises: [0].into(), fact: [].into() };
        translation.derivation_back(&context, Derivation { steps: vec![fact, query] })
    };
    let before = store.len();
    let back = with(1_000_000).unwrap();
    assert_eq!(with(1_000_000).unwrap(), back);
    assert!(store.len() - before < 1_000_010, "each number is one term");
    assert!(matches!(with(1_000_001), Err(Stop::Unsupported(_))));
    assert!(matches!(with(-1), Err(Stop::Internal(_))));
}

#[test]
fn an_equation_of_lists_comes_back_field_by_field() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = format!(
        "{NUMBERS}(declare-fun P (Nats Nat Nat) Bool)
         (assert (forall ((l Nats) (x Nat) (y Nat)) (=> (P l x y) false)))"
    );
    let old = graph(&store, &text);
    let Transformed { graph: new, translation } = run(&context, "peano", &old);
    let &[l, x, y] = new.node(NodeId::new(0)).variables() else { panic!("three arguments") };
    let &[nil, cons] = store.datatype(store.sort_of(l)).unwrap().constructors() else { panic!("two") };
    let nil = store.construct_term(nil, &[]);
    let &[old_l, old_x, old_y] = old.node(NodeId::new(0)).variables() else { panic!("three arguments") };
    let old_cons = store.datatype(store.sort_of(old_l)).unwrap().constructors()[1];
    let back = |formula: Term| {
        let model = translation.model_back(&context, GraphModel::of_formulas([formula])).unwrap();
        model.formula(NodeId::new(0)).unwrap()
    };
    // A successor is a term.
    let list = store.construct_term(cons, &[store.add(&[x, store.int(2)]), nil]);
    let old_nil = store.construct_term(store.datatype(store.sort_of(old_l)).unwrap().constructors()[0], &[]);
    let old_list = store.construct_term(old_cons, &[store.successors(old_x, 2), old_nil]);
    assert_eq!(back(store.eq(l, list)), store.eq(old_l, old_list));
    // A sum is not.
    let list = store.construct_term(cons, &[store.add(&[x, y]), nil]);
    let expected = [
        store.tester(old_cons, old_l),
        store.eq(store.selector(old_cons, 1, old_l), old_nil),
        store.eq(
            store.number_of(store.selector(old_cons, 0, old_l)),
            store.add(&[store.number_of(old_x), store.number_of(old_y)]),
        ),
    ];
    assert_eq!(back(store.eq(l, list)), store.and(&expected));
    // Comparisons with constants are short.
    let head = store.selector(cons, 0, l);
    let one = store.successors(store.construct_term(store.peano(store.sort_of(old_x)).unwrap().zero, &[]), 1);
    assert_eq!(back(store.eq(head, store.int(1))), store.eq(store.selector(old_cons, 0, old_l), one));
    assert_eq!(back(store.le(x, store.int(-1))), Term::FALSE);
    let text = store.display(back(store.ge(y, store.int(2)))).to_string();
    assert!(text.contains("pred") && !text.contains("number"), "{text}");
}

// ---- models with number functions ----------------------------------------------------------------------------

#[test]
fn a_model_with_a_number_function_is_printed_and_read_again() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let system = system(&store, LESS);
    let old = HornGraph::of(&store, &system);
    let model = Model::of_graph(&store, &system, &old, &model_of_less(&context, &old));
    let shown = |model: &Model, system: &HornSystem| {
        Witness::Model(model.clone()).to_text(&store, system, WitnessFormat::Text)
    };
    assert!(shown(&model, &system).contains("(define-fun-rec"));
    for format in [WitnessFormat::Text, WitnessFormat::Json] {
        let text = Witness::Model(model.clone()).to_text(&store, &system, format);
        let mut environment = Environment::new(&store);
        let system = parse_in(&store, &mut environment, "test", LESS).unwrap();
        let again = witness::read(&store, &mut environment, &system, "model", &text);
        let Ok(Witness::Model(again)) = again else { panic!("{again:?}\n{text}") };
        assert_eq!(shown(&again, &system), shown(&model, &system));
    }
}

// ---- predicates that mean "different" ------------------------------------------------------------------------

/// Lists of Peano numbers with their predicates that mean "different". Without the clauses that contain `without`.
fn with_differences(without: &str) -> String {
    let clauses = [
        "(assert (forall ((x Nat)) (D zero (succ x))))",
        "(assert (forall ((x Nat)) (D (succ x) zero)))",
        "(assert (forall ((x Nat) (y Nat)) (=> (D x y) (D (succ x) (succ y)))))",
        "(assert (forall ((x Nat) (l Nats)) (E nil (cons x l))))",
        "(assert (forall ((x Nat) (l Nats)) (E (cons x l) nil)))",
        "(assert (forall ((x Nat) (y Nat) (l Nats) (m Nats)) (=> (D x y) (E (cons x l) (cons y m)))))",
        "(assert (forall ((x Nat) (y Nat) (l Nats) (m Nats)) (=> (E l m) (E (cons x l) (cons y m)))))",
    ];
    let kept: Vec<&str> = clauses.into_iter().filter(|clause| !clause.contains(without)).collect();
    format!(
        "{NUMBERS}(declare-fun D (Nat Nat) Bool)(declare-fun E (Nats Nats) Bool)(declare-fun P (Nats) Bool)
         {}
         (assert (P (cons zero nil)))
         (assert (forall ((l Nats) (x Nat)) (=> (P (cons x l)) (P (cons (succ x) l)))))
         (assert (forall ((l Nats) (m Nats)) (=> (and (P l) (P m) (E l m)) false)))",
        kept.join("\n")
    )
}

#[test]
fn complete_clauses_of_a_difference_become_a_disequality() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let system = system(&store, &with_differences("nothing"));
    let old = HornGraph::of(&store, &system);
    let Transformed { graph: new, translation } = run(&context, "diseq", &old);
    assert_eq!((new.nodes().len(), new.edges().len()), (1, 3));
    let node = NodeId::new(0);
    assert_eq!(new.node(node).variables(), old.node(NodeId::new(2)).variables());
    // The first elements differ at their first successor: P(l), P(m), D(zero, succ(zero)), E(l, m).
    let derivation = Saturation::of(&store, &new, DOMAIN).derivation().expect("two lists are derived");
    let back = translation.derivation_back(&context, derivation).unwrap();
    assert_eq!(back.steps.len(), 5);
    let refutation = Refutation::of_graph(&context, &system, back).unwrap();
    assert_eq!(check_refutation(&context, &system, &refutation), Validity::Valid);
    let back = translation.model_back(&context, GraphModel::of_formulas([Term::TRUE])).unwrap();
    let &[x, y] = old.node(NodeId::new(1)).variables() else { panic!("two arguments") };
    assert_eq!(back.formula(NodeId::new(1)), Ok(store.not(store.eq(x, y))));
    let forward =
        |node: usize| translation.forward(&context, Lemma { node: NodeId::new(node), formula: Term::TRUE });
    assert_eq!(forward(0), Image::Removed);
    assert_eq!(forward(2), Image::Lemmas(vec![Lemma { node, formula: Term::TRUE }]));
}

#[test]
fn a_difference_with_missing_or_other_clauses_stays() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let nodes = |text: &str| run(&context, "diseq", &graph(&store, text)).graph.nodes().len();
    // Without a clash of numbers, neither they nor their lists are recognised; without one of lists, numbers are.
    assert_eq!(nodes(&with_differences("D zero")), 3);
    assert_eq!(nodes(&with_differences("(E (cons x l) nil)")), 2);
    assert_eq!(nodes(&with_differences("(=> (E l m)")), 2);
    // A clause that derives more or less than the others.
    let with = |clause: &str| with_differences("nothing") + clause;
    assert_eq!(nodes(&with("(assert (D zero zero))")), 3);
    assert_eq!(nodes(&with("(assert (forall ((x Nat)) (=> (D x zero) (D x (succ zero)))))")), 3);
    assert_eq!(nodes(&with("(assert (forall ((x Nat)) (D (succ x) (succ x))))")), 3);
    // A clause that is there twice.
    assert_eq!(nodes(&with("(assert (forall ((x Nat)) (D zero (succ x))))")), 1);
}

#[test]
fn a_difference_deep_in_a_list_is_derived_without_recursion() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let old = graph(&store, &with_differences("nothing"));
    let Transformed { translation, .. } = run(&context, "diseq", &old);
    let sort = old.node(NodeId::new(2)).sorts(&store)[0];
    let &[nil, cons] = store.datatype(sort).unwrap().constructors() else { panic!("two constructors") };
    let zero = store
        .construct_term(store.peano(store.sort_of(old.node(NodeId::new(0)).next()[0])).unwrap().zero, &[]);
    let list = |length: usize| {
        let nil = store.construct_term(nil, &[]);
        Value::Term((0..length).fold(nil, |rest, _| store.construct_term(cons, &[zero, rest])))
    };
    let length = 100_000;
    let fact = |list: Value| GraphStep { edge: EdgeId::new(0), premises: [].into(), fact: [list].into() };
    let query = GraphStep { edge: EdgeId::new(2), premises: [0, 1].into(), fact: [].into() };
    let steps = vec![fact(list(length)), fact(list(length + 1)), query];
    let back = translation.derivation_back(&context, Derivation { steps }).unwrap();
    assert_eq!(back.steps.len(), 3 + length + 1);
}

#[test]
fn the_checker_proves_models_with_number_functions_and_refutes_wrong_ones() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let system = system(&store, LESS);
    let old = HornGraph::of(&store, &system);
    let right = model_of_less(&context, &old);
    let &[x, y] = old.node(NodeId::new(0)).variables() else { panic!("two arguments") };
    let (x, y) = (store.number_of(x), store.number_of(y));
    let judged = |model: &GraphModel, trust| {
        check_model(&context, &system, &Model::of_graph(&store, &system, &old, model), trust)
    };
    for trust in [Trust::Solver, Trust::Proofs] {
        assert_eq!(judged(&right, trust), Validity::Valid, "{trust:?}");
        let wrong = judged(&GraphModel::of_formulas([store.le(x, y)]), trust);
        assert!(matches!(wrong, Validity::Invalid(Fault::Violated { clause: 2, .. })), "{wrong:?}");
        let wrong = judged(&GraphModel::of_formulas([store.lt(store.add(&[x, store.int(1)]), y)]), trust);
        assert!(matches!(wrong, Validity::Invalid(Fault::Violated { clause: 0, .. })), "{wrong:?}");
    }
}

#[test]
fn different_values_have_different_numbers_for_the_checker() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = "(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
        (declare-fun Same (Nat Nat) Bool)
        (assert (Same zero zero))
        (assert (forall ((x Nat) (y Nat)) (=> (Same x y) (Same (succ x) (succ y)))))
        (assert (forall ((x Nat) (y Nat)) (=> (and (Same x y) (not (= x y))) false)))";
    let system = system(&store, text);
    let old = HornGraph::of(&store, &system);
    let &[x, y] = old.node(NodeId::new(0)).variables() else { panic!("two arguments") };
    let model = GraphModel::of_formulas([store.eq(store.number_of(x), store.number_of(y))]);
    let model = Model::of_graph(&store, &system, &old, &model);
    assert_eq!(check_model(&context, &system, &model, Trust::Proofs), Validity::Valid);
}

#[test]
fn z3_confirms_a_printed_model_with_a_number_function() {
    if !z3::is_installed() {
        return;
    }
    let store = TermStore::new();
    let context = Context::new(&store);
    let system = system(&store, LESS);
    let old = HornGraph::of(&store, &system);
    let model = Model::of_graph(&store, &system, &old, &model_of_less(&context, &old));
    let text = Witness::Model(model).to_text(&store, &system, WitnessFormat::Text);
    let definitions = text.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap();
    let name = text.split_once("define-fun-rec ").and_then(|(_, rest)| rest.split(' ').next()).unwrap();
    // Only induction shows that numbers are not negative.
    let script = format!(
        "(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
         {definitions}
         (declare-const x Nat)(declare-const y Nat)(assert (>= ({name} x) 0))(assert (>= ({name} y) 0))
         (push)(assert (not (Less zero (succ y))))(check-sat)(pop)
         (push)(assert (and (Less x y) (not (Less (succ x) (succ y)))))(check-sat)(pop)
         (push)(assert (and (Less x y) (Less y x)))(check-sat)(pop)"
    );
    assert_eq!(z3::answers(&script).expect("it is installed"), ["unsat"; 3], "{script}");
}

#[test]
fn transformed_clauses_declare_the_datatypes_that_were_made() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let system = system(&store, &with_differences("nothing"));
    let new = run(&context, "peano", &HornGraph::of(&store, &system)).graph;
    let text = new.to_system(&store, &system).to_text(&store, Format::Smtlib);
    let again = parse(&TermStore::new(), "transformed", text.as_bytes());
    let again = again.unwrap_or_else(|error| panic!("{error} in\n{text}"));
    assert_eq!(again.clauses.len(), system.clauses.len());
}
