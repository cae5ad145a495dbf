//! Structural transformations preserve answers, and their translations give valid witnesses: on random systems whose
//! answers an explicit search finds, and on large ones.

use std::fmt::Write;

use shofar_horn::Context;
use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::graph::{Edge, EdgeId, Node, NodeId};
use shofar_horn::transform::{Pipeline, Transformed, standard};
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_horn::{HornGraph, TransitionSystem, parse};
use shofar_logic::{Sort, TermStore, Value};
use shofar_run::Limits;
use shofar_testing::Random;
use shofar_testing::explicit::{Ends, Saturation};
use shofar_testing::systems::{self, Shape};

/// Labels of joined edges have many local variables, each of which multiplies the work of the explicit search.
const SHAPES: [Shape; 2] = [
    Shape { predicates: 5, arity: 2, rules: 7, body: 1, greatest: 2, bounds_bodies: true },
    Shape { predicates: 4, arity: 1, rules: 5, body: 3, greatest: 2, bounds_bodies: true },
];

fn graph(store: &TermStore, text: &str) -> HornGraph {
    let system = parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    HornGraph::of(store, &system)
}

fn run(context: &Context<'_>, names: &str, graph: &HornGraph) -> Transformed {
    Pipeline::parse(names).expect("the test's names are right").run(context, graph.clone()).0
}

/// Transforms a random system and compares answers and witnesses. Tells whether something changed.
fn there_and_back(seed: u64, shape: &Shape, names: &str) -> bool {
    let random = &mut Random::new(seed);
    let text = systems::system(random, shape);
    let store = TermStore::new();
    let context = Context { store: &store, limits: Limits::default() };
    let graph = graph(&store, &text);
    let Transformed { graph: new, translation } = run(&context, names, &graph);
    if new == graph {
        return false;
    }
    // The explicit search tries all values of all variables.
    if new.edges().any(|(id, _)| new.locals(&store, id).len() > 8) {
        return false;
    }
    let case = || format!("seed {seed}, {names}:\n{text}");
    let domain = 0..=shape.greatest;
    let old_answer = Saturation::of(&store, &graph, domain.clone());
    let answer = Saturation::of(&store, &new, domain.clone());
    assert_eq!(old_answer.is_safe(), answer.is_safe(), "{}", case());
    match answer.derivation() {
        Some(derivation) => {
            assert_eq!(check_derivation(&context, &new, &derivation), Ok(()), "{}", case());
            let derivation = translation
                .derivation_back(&context, derivation)
                .unwrap_or_else(|stop| panic!("{stop}: {}", case()));
            assert_eq!(check_derivation(&context, &graph, &derivation), Ok(()), "{}", case());
            let mut steps = derivation.steps.clone();
            steps.dedup();
            assert_eq!(steps.len(), derivation.steps.len(), "{}", case());
        }
        None => {
            for model in [answer.least_model(Ends::Open), answer.larger_model(random, 10, Ends::Open)] {
                assert_eq!(check_graph_model(&context, &new, &model), Ok(()), "{}", case());
                let model = translation
                    .model_back(&context, model)
                    .unwrap_or_else(|stop| panic!("{stop}: {}", case()));
                assert_eq!(check_graph_model(&context, &graph, &model), Ok(()), "{}", case());
            }
        }
    }
    true
}

/// How often something has to change among so many systems of each shape.
fn each_keeps_answers(names: &str, systems: u64, expected: usize) {
    let mut changed = 0;
    for shape in &SHAPES {
        changed += (0..systems).filter(|&seed| there_and_back(seed, shape, names)).count();
    }
    assert!(changed >= expected, "{names} changed {changed} systems");
}

#[test]
fn chains_keep_answers() {
    each_keeps_answers("chains", 600, 80);
}

#[test]
fn merging_keeps_answers() {
    each_keeps_answers("merge", 300, 100);
}

#[test]
fn inlining_keeps_answers() {
    each_keeps_answers("inline", 300, 300);
}

/// Fills an array, passes it on by a predicate that transformations remove, and asks about it, in a loop, at once, or beside another
/// predicate that knows all elements as well.
const FILLS: &str = "(declare-fun P ((Array Int Int) Int Int) Bool)(declare-fun Q ((Array Int Int) Int) Bool)
    (declare-fun R (Int (Array Int Int) Int) Bool)
    (assert (forall ((a (Array Int Int)) (n Int)) (P a 0 n)))
    (assert (forall ((a (Array Int Int)) (i Int) (n Int)) (=> (and (P a i n) (< i n)) (P (store a i 7) (+ i 1) n))))
    (assert (forall ((a (Array Int Int)) (i Int) (n Int)) (=> (and (P a i n) (>= i n)) (Q a n))))";
const ASKS: [&str; 3] = [
    "(assert (forall ((a (Array Int Int)) (n Int)) (=> (Q a n) (R 0 a n))))
    (assert (forall ((a (Array Int Int)) (j Int) (n Int)) (=> (and (R j a n) (< j n)) (R (+ j 1) a n))))
    (assert (forall ((a (Array Int Int)) (j Int) (n Int)) (=> (and (R j a n) (< j n) (distinct (select a j) 7)) false)))",
    "(assert (forall ((a (Array Int Int)) (j Int) (n Int)) (=> (and (Q a n) (<= 0 j) (< j n) (< (select a j) 7)) false)))",
    "(assert (forall ((a (Array Int Int)) (i Int) (j Int) (n Int))
        (=> (and (Q a n) (P a i n) (<= 0 j) (< j i) (> (select a j) 7)) false)))",
];

/// The models of the clauses that are left speak of all elements, and so does the formula of the removed predicate.
#[test]
fn removed_predicates_get_formulas_about_all_elements() {
    for (names, asks) in ["chains", "inline"].into_iter().flat_map(|names| ASKS.map(|asks| (names, asks))) {
        let store = TermStore::new();
        let context = Context { store: &store, limits: Limits::default() };
        let text = format!("{FILLS}{asks}");
        let graph = graph(&store, &text);
        let Transformed { graph: new, translation } = run(&context, names, &graph);
        let count =
            |graph: &HornGraph| graph.nodes().filter(|(_, node)| !node.variables().is_empty()).count();
        // A use beside another predicate is no chain.
        if count(&new) == count(&graph) {
            assert_eq!((names, asks), ("chains", ASKS[2]));
            continue;
        }
        let formula = |(_, node): (NodeId, &Node)| {
            let k = store.var(store.symbol("k"), Sort::INT);
            let filled = |array, from, to| {
                let inside = store.and(&[store.le(from, k), store.lt(k, to)]);
                let seven = store.eq(store.select(array, k), store.int(7));
                store.forall(&[k], store.implies(inside, seven))
            };
            match *node.variables() {
                [array, i, _] if store.sort_of(i) == Sort::INT => filled(array, store.int(0), i),
                [j, array, n] => filled(array, j, n),
                ref others => panic!("{names} leaves a predicate of {} arguments", others.len()),
            }
        };
        let model = GraphModel::of_formulas(new.nodes().map(formula));
        assert_eq!(check_graph_model(&context, &new, &model), Ok(()), "{names}: {text}");
        let model = translation.model_back(&context, model).unwrap_or_else(|stop| panic!("{stop}: {names}"));
        assert_eq!(check_graph_model(&context, &graph, &model), Ok(()), "{names}: {text}");
    }
}

#[test]
fn single_loops_keep_answers() {
    each_keeps_answers("single-loop", 200, 80);
}

#[test]
fn nested_loops_keep_answers() {
    each_keeps_answers("nested-loops", 200, 80);
    for seed in 0..200 {
        let store = TermStore::new();
        let context = Context { store: &store, limits: Limits::default() };
        let graph = graph(&store, &systems::system(&mut Random::new(seed), &SHAPES[seed as usize % 2]));
        let simple = run(&context, "nested-loops", &graph).graph;
        assert_eq!(
            run(&context, "nested-loops", &simple).graph,
            simple,
            "no two predicates depend on each other"
        );
    }
}

#[test]
fn accelerations_keep_answers() {
    each_keeps_answers("accelerate", 200, 5);
}

#[test]
fn the_standard_pipeline_keeps_answers() {
    each_keeps_answers("standard", 200, 100);
    each_keeps_answers("standard,single-loop", 100, 50);
}

#[test]
fn sequences_of_transformations_keep_answers() {
    let names = Pipeline::names();
    for seed in 1000..1300 {
        let random = &mut Random::new(seed);
        let length = 2 + random.below(4);
        let sequence: Vec<&str> = (0..length).map(|_| *random.choose(&names)).collect();
        there_and_back(seed, random.choose(&SHAPES), &sequence.join(","));
    }
}

#[test]
fn linear_systems_become_transition_systems() {
    for seed in 0..100 {
        let store = TermStore::new();
        let context = Context { store: &store, limits: Limits::default() };
        let graph = graph(&store, &systems::system(&mut Random::new(seed), &SHAPES[0]));
        for names in ["single-loop", "chains,merge,inline,single-loop"] {
            assert!(TransitionSystem::of(&store, &run(&context, names, &graph).graph).is_some());
        }
    }
}

/// Two predicates that derive each other become one with a self-loop, and its derivation becomes one of both again.
#[test]
fn a_derivation_of_a_hundred_thousand_steps() {
    const STEPS: i64 = 50_000;
    let store = TermStore::new();
    let context = Context { store: &store, limits: Limits::default() };
    let old = graph(
        &store,
        "(declare-fun P (Int) Bool) (declare-fun Q (Int Int) Bool)
         (assert (P 0))
         (assert (forall ((x Int) (y Int)) (=> (and (P x) (<= x y (+ x 5))) (Q x y))))
         (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> y (+ x 1))) (P (+ x 1)))))
         (assert (forall ((x Int)) (=> (and (P x) (= x 50000)) false)))",
    );
    let Transformed { graph: new, translation } = run(&context, "inline", &old);
    assert!(TransitionSystem::of(&store, &new).is_some());
    let at = |kind: fn(usize, bool) -> bool| {
        let is_it = |(_, edge): &(EdgeId, &Edge)| kind(edge.sources().len(), edge.target().is_some());
        new.edges().find(is_it).expect("there is one of each kind").0
    };
    let (fact, rule, query) =
        (at(|body, _| body == 0), at(|body, head| body == 1 && head), at(|_, head| !head));
    let mut steps = vec![GraphStep { edge: fact, premises: [].into(), fact: [Value::Int(0.into())].into() }];
    for x in 1..=STEPS {
        let premises = [steps.len() - 1].into();
        steps.push(GraphStep { edge: rule, premises, fact: [Value::Int(x.into())].into() });
    }
    steps.push(GraphStep { edge: query, premises: [steps.len() - 1].into(), fact: [].into() });
    let derivation =
        translation.derivation_back(&context, Derivation { steps }).expect("the derivation is right");
    assert_eq!(derivation.steps.len(), 2 + 2 * STEPS as usize);
    assert_eq!(check_derivation(&context, &old, &derivation), Ok(()));
}

/// A derivation where each node has one definition, and the fact of `P` with a number is known. Nodes have higher numbers
/// than what they are derived from.
fn straight_derivation(store: &TermStore, graph: &HornGraph, fact: impl Fn(usize) -> i64) -> Derivation {
    let number = |node: NodeId| -> usize {
        store.name(graph.node(node).name)[1..].parse().expect("names are letters with numbers")
    };
    let mut edges: Vec<(EdgeId, &Edge)> = graph.edges().collect();
    edges.sort_by_key(|(_, edge)| edge.target().map_or(usize::MAX, number));
    let mut position = vec![0; graph.nodes().len()];
    let mut steps = Vec::new();
    for (id, edge) in edges {
        let premises = edge.sources().iter().map(|source| position[source.index()]).collect();
        // An argument that is constant may have been removed.
        let values = edge.target().filter(|&node| graph.node(node).arity() == 1);
        let values = values.map(|node| Value::Int(fact(number(node)).into()));
        if let Some(node) = edge.target() {
            position[node.index()] = steps.len();
        }
        steps.push(GraphStep { edge: id, premises, fact: values.into_iter().collect() });
    }
    Derivation { steps }
}

#[test]
fn a_chain_of_a_hundred_thousand_clauses() {
    const LENGTH: usize = 100_000;
    for is_safe in [false, true] {
        let mut text = String::new();
        for node in 0..LENGTH {
            let _ = writeln!(text, "(declare-fun P{node} (Int) Bool)");
        }
        let _ = writeln!(text, "(assert (P0 0))");
        for node in 1..LENGTH {
            let _ = writeln!(text, "(assert (forall ((x Int)) (=> (P{} x) (P{node} (+ x 1)))))", node - 1);
        }
        let (last, bad) = (LENGTH - 1, if is_safe { LENGTH } else { LENGTH - 1 });
        let _ = writeln!(text, "(assert (forall ((x Int)) (=> (and (P{last} x) (= x {bad})) false)))");
        let store = TermStore::new();
        let context = Context { store: &store, limits: Limits::default() };
        let old = graph(&store, &text);
        let (Transformed { graph: new, translation }, _) = standard().run(&context, old.clone());
        assert!(new.edges().len() < 100, "{} edges are left", new.edges().len());
        if is_safe {
            let formula = |node: &Node| {
                let number: i64 = store.name(node.name)[1..].parse().expect("names are letters with numbers");
                store.eq(node.variables()[0], store.int(number))
            };
            let model = GraphModel::of_formulas(new.nodes().map(|(_, node)| formula(node)));
            let model = translation.model_back(&context, model).expect("the model is right");
            assert_eq!(check_graph_model(&context, &old, &model), Ok(()));
        } else {
            let derivation = straight_derivation(&store, &new, |node| node as i64);
            let derivation =
                translation.derivation_back(&context, derivation).expect("the derivation is right");
            assert_eq!(derivation.steps.len(), LENGTH + 1);
            assert_eq!(check_derivation(&context, &old, &derivation), Ok(()));
        }
    }
}

/// What a step stands for doubles from level to level, but as a DAG it is no larger than there are facts.
#[test]
fn doubling_clauses_do_not_make_derivations_exponential() {
    const LEVELS: usize = 60;
    let facts = [("(= x 1)", 1_i64 << LEVELS), ("(<= 0 x 1)", 1_i64 << (LEVELS - 1))];
    for (fact, bad) in facts {
        let mut text = String::new();
        for level in 0..=LEVELS {
            let _ = writeln!(text, "(declare-fun P{level} (Int) Bool)");
        }
        let _ = writeln!(text, "(assert (forall ((x Int)) (=> {fact} (P0 x))))");
        for level in 0..LEVELS {
            let (body, head) = (format!("(P{level} x) (P{level} y)"), format!("(P{} (+ x y))", level + 1));
            let _ = writeln!(text, "(assert (forall ((x Int) (y Int)) (=> (and {body}) {head})))");
        }
        let _ = writeln!(text, "(assert (forall ((x Int)) (=> (and (P{LEVELS} x) (= x {bad})) false)))");
        let store = TermStore::new();
        let context = Context { store: &store, limits: Limits::default() };
        let old = graph(&store, &text);
        let (Transformed { graph: new, translation }, _) = standard().run(&context, old.clone());
        let half = LEVELS - bad.trailing_zeros() as usize;
        let derivation = straight_derivation(&store, &new, |level| 1 << (level - half));
        assert_eq!(check_derivation(&context, &new, &derivation), Ok(()));
        let derivation = translation.derivation_back(&context, derivation).expect("the derivation is right");
        assert!(derivation.steps.len() < 2000, "{} steps", derivation.steps.len());
        assert_eq!(check_derivation(&context, &old, &derivation), Ok(()));
    }
}

#[test]
fn names_of_pipelines() {
    assert!(Pipeline::parse("").is_ok() && Pipeline::parse("standard, single-loop,no-merge").is_ok());
    for unknown in ["nothing", "no-nothing", "no-standard"] {
        let error = Pipeline::parse(unknown).err().expect("there is no such name").to_string();
        assert!(error.contains(unknown) && error.contains("inline"), "{error}");
    }
    let error = Pipeline::parse("standard,inlien").err().expect("there is no such name");
    assert_eq!(error.suggestion(), Some("inline"));
    let store = TermStore::new();
    let context = Context { store: &store, limits: Limits::default() };
    let chain = "(declare-fun P (Int) Bool) (declare-fun Q (Int) Bool) (assert (forall ((x Int)) (=> (> x 0) (P x))))
        (assert (forall ((x Int)) (=> (P x) (Q (+ x 1))))) (assert (forall ((x Int)) (=> (and (Q x) (< x 0)) false)))";
    let graph = graph(&store, chain);
    assert_eq!(run(&context, "chains,no-chains", &graph).graph, graph);
    assert_ne!(run(&context, "no-chains,chains", &graph).graph, graph);
}
