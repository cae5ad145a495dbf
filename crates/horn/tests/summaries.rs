//! Hulls describe all facts, and summaries replace predicates only by formulas that are exactly their facts: on arithmetic as
//! functional programs define it, and on random systems whose answers an explicit search finds.

use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::hull::{Analysis, Division};
use shofar_horn::transform::{Pipeline, Transformed};
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_horn::{Context, HornGraph, parse};
use shofar_logic::{Assignment, Sort, Term, TermStore, Value};
use shofar_run::{Reason, Stop};
use shofar_testing::explicit::{Ends, Saturation};
use shofar_testing::lemmas::lemmas_stay_true;
use shofar_testing::systems::{self, Shape};
use shofar_testing::{Random, scale};

fn graph(store: &TermStore, text: &str) -> HornGraph {
    let system = parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    HornGraph::of(store, &system)
}

fn run(context: &Context<'_>, names: &str, graph: &HornGraph) -> Transformed {
    Pipeline::parse(names).expect("the test's names are right").run(context, graph.clone()).0
}

/// Natural numbers as integers, the way `peano` leaves them.
const ADD: &str = "(declare-fun add (Int Int Int) Bool)
    (assert (forall ((y Int)) (=> (>= y 0) (add 0 y y))))
    (assert (forall ((x Int) (y Int) (z Int)) (=> (and (add x y z) (>= x 0) (>= y 0) (>= z 0)) (add (+ x 1) y (+ z 1)))))\n";
const MINUS: &str = "(declare-fun minus (Int Int Int) Bool)
    (assert (forall ((y Int)) (=> (>= y 0) (minus 0 y 0))))
    (assert (forall ((x Int)) (=> (>= x 0) (minus (+ x 1) 0 (+ x 1)))))
    (assert (forall ((x Int) (y Int) (z Int)) (=> (minus x y z) (minus (+ x 1) (+ y 1) z))))\n";
const LE: &str = "(declare-fun le (Int Int) Bool)
    (assert (forall ((y Int)) (=> (>= y 0) (le 0 y))))
    (assert (forall ((x Int) (y Int)) (=> (le x y) (le (+ x 1) (+ y 1)))))\n";
const MAX: &str = "(declare-fun max (Int Int Int) Bool)
    (assert (forall ((y Int)) (=> (>= y 0) (max 0 y y))))
    (assert (forall ((x Int)) (=> (>= x 0) (max (+ x 1) 0 (+ x 1)))))
    (assert (forall ((x Int) (y Int) (z Int)) (=> (max x y z) (max (+ x 1) (+ y 1) (+ z 1)))))\n";
const EVEN: &str = "(declare-fun even (Int Bool) Bool)
    (assert (even 0 true))
    (assert (forall ((x Int) (b Bool)) (=> (even x b) (even (+ x 1) (not b)))))\n";
const EVEN_ONLY: &str = "(declare-fun even (Int) Bool)
    (assert (even 0))
    (assert (forall ((x Int)) (=> (even x) (even (+ x 2)))))\n";
const EVEN_ODD: &str = "(declare-fun even (Int) Bool) (declare-fun odd (Int) Bool)
    (assert (even 0))
    (assert (forall ((x Int)) (=> (even x) (odd (+ x 1)))))
    (assert (forall ((x Int)) (=> (odd x) (even (+ x 1)))))\n";
const HALF: &str = "(declare-fun half (Int Int) Bool)
    (assert (half 0 0))
    (assert (half 1 0))
    (assert (forall ((x Int) (y Int)) (=> (half x y) (half (+ x 2) (+ y 1)))))\n";
/// Multiplication by three, with the help of addition.
const TRIPLE: &str = "(declare-fun triple (Int Int) Bool)
    (assert (triple 0 0))
    (assert (forall ((x Int) (y Int) (z Int)) (=> (and (triple x y) (add 3 y z)) (triple (+ x 1) z))))\n";
/// Squares have no linear description.
const SQUARE: &str = "(declare-fun square (Int Int) Bool)
    (assert (square 0 0))
    (assert (forall ((x Int) (y Int)) (=> (square x y) (square (+ x 1) (+ y x x 1)))))\n";

/// The node with a name.
fn node(store: &TermStore, graph: &HornGraph, name: &str) -> NodeId {
    let (id, _) =
        graph.nodes().find(|(_, node)| store.name(node.name) == name).expect("the test declares it");
    id
}

fn holds(store: &TermStore, variables: &[Term], formula: Term, values: &[Value]) -> bool {
    let assignment: Assignment = variables.iter().copied().zip(values.iter().cloned()).collect();
    store.eval(formula, &assignment) == Ok(Value::Bool(true))
}

/// All vectors of small numbers and truth values for the arguments of a node.
fn vectors(store: &TermStore, graph: &HornGraph, node: NodeId) -> Vec<Vec<Value>> {
    let mut vectors: Vec<Vec<Value>> = vec![Vec::new()];
    for sort in graph.node(node).sorts(store) {
        let values: Vec<Value> = match sort {
            Sort::BOOL => [false, true].map(Value::Bool).into(),
            _ => (-2..9).map(|value: i64| Value::Int(value.into())).collect(),
        };
        let longer = |vector: &Vec<Value>| -> Vec<Vec<Value>> {
            values.iter().map(|value| [&vector[..], std::slice::from_ref(value)].concat()).collect()
        };
        vectors = vectors.iter().flat_map(longer).collect();
    }
    vectors
}

/// Checks that `summaries` replaces all predicates of the definitions, the named one by the expected meaning, and that models
/// and derivations come back. The query asks whether the atom holds.
fn assert_summary(definitions: &str, name: &str, atom: &str, expected: impl Fn(&[i64]) -> bool) {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = format!("{definitions}(assert (forall ((x Int) (y Int) (z Int) (b Bool)) (=> {atom} false)))");
    let old = graph(&store, &text);
    let Transformed { graph: new, translation } = run(&context, "summaries", &old);
    assert_eq!(new.nodes().len(), 0, "{text}");
    let model = translation.model_back(&context, GraphModel::default()).unwrap();
    let node = node(&store, &old, name);
    let formula = model.formula(node).unwrap();
    for vector in vectors(&store, &old, node) {
        let plain = |value: &Value| match value {
            Value::Int(value) => value.to_i64().unwrap(),
            value => i64::from(*value == Value::Bool(true)),
        };
        let point: Vec<i64> = vector.iter().map(plain).collect();
        let is_fact = holds(&store, old.node(node).variables(), formula, &vector);
        assert_eq!(is_fact, expected(&point), "{name}{point:?} in {}", store.display(formula));
    }
    let edge = EdgeId::new(0);
    let query = GraphStep { edge, premises: [].into(), fact: [].into() };
    let back = translation.derivation_back(&context, Derivation { steps: vec![query] }).unwrap();
    assert_eq!(check_derivation(&context, &old, &back), Ok(()), "{text}");
    // The rules alone have the summaries as a model.
    let mut alone = HornGraph::new();
    for (_, node) in old.nodes() {
        alone.add_node(node.clone());
    }
    for (_, edge) in old.edges().filter(|(_, edge)| edge.target().is_some()) {
        alone.add_edge(edge.sources(), edge.target(), edge.label());
    }
    assert_eq!(check_graph_model(&context, &alone, &model), Ok(()), "{text}");
}

#[test]
fn addition_is_a_sum() {
    let is_sum = |point: &[i64]| point[0] >= 0 && point[1] >= 0 && point[2] == point[0] + point[1];
    assert_summary(ADD, "add", "(and (add x y z) (= x 30) (> y 5))", is_sum);
}

#[test]
fn truncated_subtraction_has_two_cases() {
    let is_difference =
        |point: &[i64]| point[0] >= 0 && point[1] >= 0 && point[2] == (point[0] - point[1]).max(0);
    assert_summary(MINUS, "minus", "(and (minus x y z) (= z 7) (= y 12))", is_difference);
    assert_summary(MINUS, "minus", "(and (minus x y z) (= x 7) (= y 12))", is_difference);
}

#[test]
fn an_order_is_an_inequality() {
    let is_ordered = |point: &[i64]| 0 <= point[0] && point[0] <= point[1];
    assert_summary(LE, "le", "(and (le x y) (= x 9) (> y x))", is_ordered);
}

#[test]
fn the_maximum_is_divided_by_the_order_of_the_arguments() {
    let is_maximum = |point: &[i64]| point[0] >= 0 && point[1] >= 0 && point[2] == point[0].max(point[1]);
    assert_summary(MAX, "max", "(and (max x y z) (= x 3) (= z 10))", is_maximum);
}

#[test]
fn even_numbers_are_found_by_remainders() {
    let is_even = |point: &[i64]| point[0] >= 0 && point[0] % 2 == 0;
    assert_summary(EVEN_ONLY, "even", "(and (even x) (> x 20))", is_even);
    assert_summary(EVEN_ODD, "even", "(and (even x) (> x 20))", is_even);
    assert_summary(EVEN_ODD, "odd", "(and (odd x) (> x 20))", |point| point[0] >= 0 && point[0] % 2 == 1);
    let is_parity = |point: &[i64]| point[0] >= 0 && (point[0] % 2 == 0) == (point[1] == 1);
    assert_summary(EVEN, "even", "(and (even x b) (> x 20) (not b))", is_parity);
}

#[test]
fn half_is_divided_by_remainders() {
    let is_half = |point: &[i64]| point[0] >= 0 && point[1] == point[0] / 2;
    assert_summary(HALF, "half", "(and (half x y) (= y 8))", is_half);
}

#[test]
fn a_summary_helps_to_find_the_next_one() {
    let is_triple = |point: &[i64]| point[0] >= 0 && point[1] == 3 * point[0];
    let definitions = format!("{ADD}{TRIPLE}");
    assert_summary(&definitions, "triple", "(and (triple x y) (> x 6))", is_triple);
}

#[test]
fn a_predicate_stays_if_its_hull_is_not_exact() {
    let store = TermStore::new();
    let context = Context::new(&store);
    for (definitions, name) in [
        (SQUARE, "square"),
        // The hull says x >= 0, but only zero and the numbers from five on are facts.
        (
            "(declare-fun gap (Int) Bool)(assert (gap 0))(assert (gap 5))
             (assert (forall ((x Int)) (=> (and (gap x) (> x 2)) (gap (+ x 1)))))",
            "gap",
        ),
    ] {
        let arguments = if name == "square" { "x y" } else { "x" };
        let query =
            format!("(assert (forall ((x Int) (y Int)) (=> (and ({name} {arguments}) (= x 3)) false)))");
        let old = graph(&store, &format!("{definitions}{query}"));
        let new = run(&context, "summaries", &old).graph;
        assert_eq!(new, old, "{definitions}");
    }
}

/// The last rule derives each number from itself.
#[test]
fn points_without_a_smaller_premise_are_no_facts() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = "(declare-fun P (Int) Bool)
        (assert (P 0)) (assert (P 7)) (assert (P 8)) (assert (P 15))
        (assert (forall ((x Int)) (=> (P x) (P x))))
        (assert (forall ((x Int)) (=> (and (P x) (= x 3)) false)))";
    let old = graph(&store, text);
    assert_eq!(run(&context, "summaries", &old).graph, old);
}

#[test]
fn a_derivation_that_would_be_too_long_is_refused() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let old = graph(&store, &format!("{LE}(assert (forall ((x Int)) (=> (le 1000000000 x) false)))"));
    let Transformed { graph: new, translation } = run(&context, "summaries", &old);
    assert_eq!(new.nodes().len(), 0);
    let query = GraphStep { edge: EdgeId::new(0), premises: [].into(), fact: [].into() };
    let back = translation.derivation_back(&context, Derivation { steps: vec![query] });
    assert!(matches!(back, Err(Stop::Exhausted(_))), "{back:?}");
}

/// Transforms a random system; checks that the answer stays, and that lemmas and witnesses are translated. Returns whether
/// something changed.
fn keeps_the_answer(seed: u64, shape: &Shape) -> bool {
    let mut random = Random::new(seed);
    let text = systems::system(&mut random, shape);
    let store = TermStore::new();
    let context = Context::new(&store);
    let old = graph(&store, &text);
    let Transformed { graph: new, translation } = run(&context, "summaries", &old);
    let at = format!("seed {seed} of {shape:?}:\n{text}");
    let domain = 0..=shape.greatest;
    let facts = Saturation::of(&store, &old, domain.clone());
    let new_facts = Saturation::of(&store, &new, domain);
    assert_eq!(new_facts.is_safe(), facts.is_safe(), "the answer has changed, {at}");
    match new_facts.derivation() {
        Some(derivation) => {
            let back = translation.derivation_back(&context, derivation);
            let back = back.unwrap_or_else(|stop| panic!("{stop}, {at}"));
            assert_eq!(check_derivation(&context, &old, &back), Ok(()), "{at}");
        }
        None => {
            lemmas_stay_true(&context, &*translation, (&old, &facts), (&new, &new_facts), &mut random);
            let attempts = *random.choose(&[0, 3, 30]);
            let model = new_facts.larger_model(&mut random, attempts, Ends::Closed);
            let back = translation.model_back(&context, model);
            let back = back.unwrap_or_else(|stop| panic!("{stop}, {at}"));
            assert_eq!(check_graph_model(&context, &old, &back), Ok(()), "{at}");
        }
    }
    new != old
}

#[test]
fn summaries_keep_answers() {
    for shape in [Shape::LINEAR, Shape::NONLINEAR, Shape::PASSING] {
        let count = 150 * scale();
        let changed = (0..count).filter(|&seed| keeps_the_answer(seed, &shape)).count();
        assert!(changed as u64 * 10 >= count, "only {changed} of {count} are changed");
    }
}

/// A random way to divide the facts of a node.
fn division(random: &mut Random, store: &TermStore, graph: &HornGraph, node: NodeId) -> Division {
    let sorts = graph.node(node).sorts(store);
    let numbers: Vec<usize> = (0..sorts.len()).filter(|&at| sorts[at] == Sort::INT).collect();
    let mut division = Division { inequalities: random.one_in(2), ..Division::default() };
    for (at, &number) in numbers.iter().enumerate() {
        if random.one_in(4) {
            division.values.push(number);
        }
        if random.one_in(4) {
            division.remainders.push((number, 2 + random.below(2) as u32));
        }
        division
            .orders
            .extend(numbers[..at].iter().filter(|_| random.one_in(3)).map(|&other| (other, number)));
    }
    division
}

#[test]
fn hulls_are_inductive_and_contain_all_facts() {
    let mut proofs = 0;
    for seed in 0..200 * scale() {
        let mut random = Random::new(seed);
        let shape = if random.one_in(2) { Shape::LINEAR } else { Shape::NONLINEAR };
        let text = systems::system(&mut random, &shape);
        let store = TermStore::new();
        let context = Context::new(&store);
        let graph = graph(&store, &text);
        let mut analysis = Analysis::new(context, &graph, 5000);
        for (node, _) in graph.nodes() {
            analysis.divide(node, division(&mut random, &store, &graph, node));
        }
        let edges: Vec<EdgeId> = graph.edges().map(|(id, _)| id).collect();
        analysis.close(&edges).unwrap_or_else(|stop| panic!("{stop}, seed {seed}:\n{text}"));
        let model = GraphModel::of_formulas(graph.nodes().map(|(node, _)| analysis.formula(node)));
        let facts = Saturation::of(&store, &graph, 0..=shape.greatest);
        for (node, content) in graph.nodes() {
            for fact in facts.facts_of(node) {
                let formula = model.formula(node).unwrap();
                assert!(holds(&store, content.variables(), formula, fact), "seed {seed}:\n{text}");
            }
        }
        let queries = graph.edges().filter(|(_, edge)| edge.target().is_none());
        let excluded = queries.map(|(id, _)| analysis.excludes(id, Term::TRUE).unwrap());
        if excluded.fold(true, |all, one| all & one) {
            assert!(facts.is_safe(), "seed {seed}:\n{text}");
            assert_eq!(check_graph_model(&context, &graph, &model), Ok(()), "seed {seed}:\n{text}");
            proofs += 1;
        }
    }
    assert!(proofs * 5 >= 200 * scale(), "only {proofs} systems are proved");
}

#[test]
fn an_analysis_ends_when_its_queries_are_used_up() {
    let store = TermStore::new();
    let graph = graph(&store, MAX);
    let edges: Vec<EdgeId> = graph.edges().map(|(id, _)| id).collect();
    let closed = Analysis::new(Context::new(&store), &graph, 3).close(&edges);
    assert_eq!(closed, Err(Stop::Interrupted(Reason::Budget)));
}

#[test]
fn too_many_keys_are_given_up_and_equations_between_parts_stay() {
    let store = TermStore::new();
    let text = "(declare-fun P (Int Int) Bool)(assert (P 0 1))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 100)) (P (+ x 1) (+ y 2)))))";
    let graph = graph(&store, text);
    let mut analysis = Analysis::new(Context::new(&store), &graph, 1000);
    let node = NodeId::new(0);
    analysis.divide(node, Division { values: vec![0], inequalities: true, ..Division::default() });
    analysis.close(&[EdgeId::new(0), EdgeId::new(1)]).unwrap();
    let &[x, y] = graph.node(node).variables() else { panic!("two arguments") };
    let line = store.eq(y, store.add(&[x, x, store.int(1)]));
    let conjuncts: Vec<Term> = store.conjuncts(analysis.formula(node)).collect();
    assert!(conjuncts.contains(&line), "{}", store.display(analysis.formula(node)));
}
