//! Transformations preserve answers, and their translations give valid witnesses, on random systems whose answers an
//! explicit search finds.

use std::fmt::Write;
use std::time::{Duration, Instant};

use shofar_horn::Context;
use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::graph::EdgeId;
use shofar_horn::transform::{
    Pipeline, PropagateConstants, RemoveInfeasible, RemoveUniformArguments, RemoveUnreachable,
    RemoveUnusedArguments, Simplify, SplitArguments, Transformation, Transformed,
};
use shofar_horn::witness::{Derivation, GraphStep};
use shofar_horn::{HornGraph, parse};
use shofar_logic::{Op, Term, TermStore, Value};
use shofar_run::Limits;
use shofar_testing::explicit::{Ends, Saturation};
use shofar_testing::systems::{self, Shape};
use shofar_testing::{Random, scale, z3};

const SHAPES: [Shape; 3] = [Shape::LINEAR, Shape::NONLINEAR, Shape::PASSING];

#[test]
fn both_answers_are_frequent_among_random_systems() {
    for shape in SHAPES {
        let mut safe = 0;
        for seed in 0..200 {
            let text = systems::system(&mut Random::new(seed), &shape);
            let store = TermStore::new();
            let graph = graph(&store, &text);
            safe += usize::from(Saturation::of(&store, &graph, 0..=shape.greatest).is_safe());
        }
        assert!((60..=140).contains(&safe), "{safe} of 200 are safe");
    }
}

/// The transformation at an index of the list of all.
fn pass(number: usize) -> Box<dyn Transformation> {
    match number {
        0 => Box::new(RemoveUnreachable),
        1 => Box::new(RemoveInfeasible),
        2 => Box::new(Simplify),
        3 => Box::new(PropagateConstants),
        4 => Box::new(RemoveUnusedArguments),
        5 => Box::new(SplitArguments),
        6 => Box::new(RemoveUniformArguments),
        _ => panic!("there are no more"),
    }
}

const PASSES: usize = 7;

/// Runs transformations on a random system; checks that the answer stays, and that witnesses are translated back.
/// Returns whether something changed.
fn keeps_the_answer(seed: u64, shape: &Shape, passes: Vec<Box<dyn Transformation>>) -> bool {
    let mut random = Random::new(seed);
    let text = systems::system(&mut random, shape);
    let names: Vec<&str> = passes.iter().map(|pass| pass.name()).collect();
    let store = TermStore::new();
    let mut graph = graph(&store, &text);
    if names.contains(&RemoveUniformArguments.name()) {
        graph = systems::with_passed_on(&store, &mut random, &graph);
    }
    let context = Context { store: &store, limits: Limits::default() };
    let domain = 0..=shape.greatest;
    let is_safe = Saturation::of(&store, &graph, domain.clone()).is_safe();
    let (transformed, reports) = Pipeline::new(passes).run(&context, graph.clone());
    let fail = |what: &str, why: &dyn std::fmt::Debug| -> ! {
        panic!("seed {seed} of {shape:?}, {names:?}: {what}: {why:?}\n{text}");
    };
    let saturation = Saturation::of(&store, &transformed.graph, domain);
    if saturation.is_safe() != is_safe {
        fail("the answer has changed", &is_safe);
    }
    let checked = match saturation.derivation() {
        Some(derivation) => transformed
            .translation
            .derivation_back(&context, derivation)
            .and_then(|derivation| check_derivation(&context, &graph, &derivation)),
        None => {
            let is_open = shape.bounds_bodies && random.one_in(2);
            let ends = if is_open { Ends::Open } else { Ends::Closed };
            let attempts = *random.choose(&[0, 3, 30]);
            let model = saturation.larger_model(&mut random, attempts, ends);
            if let Err(error) = check_graph_model(&context, &transformed.graph, &model) {
                fail("the explicit model is none", &error);
            }
            transformed
                .translation
                .model_back(&context, model)
                .and_then(|model| check_graph_model(&context, &graph, &model))
        }
    };
    if let Err(error) = checked {
        fail("the witness", &error);
    }
    !reports.is_empty()
}

fn alone(number: usize, least_changed: u64) {
    let count = 400 * scale();
    for shape in SHAPES {
        let changed = (0..count).filter(|&seed| keeps_the_answer(seed, &shape, vec![pass(number)])).count();
        assert!(changed as u64 * 100 >= count * least_changed, "only {changed} of {count} are changed");
    }
}

#[test]
fn removal_of_the_unreachable_keeps_answers() {
    alone(0, 40);
}

#[test]
fn removal_of_the_infeasible_keeps_answers() {
    alone(1, 40);
}

#[test]
fn simplifying_keeps_answers() {
    alone(2, 80);
}

#[test]
fn propagation_of_constants_keeps_answers() {
    alone(3, 40);
}

#[test]
fn removal_of_arguments_keeps_answers() {
    alone(4, 10);
}

#[test]
fn splitting_keeps_answers() {
    alone(5, 10);
}

#[test]
fn removal_of_uniform_arguments_keeps_answers() {
    alone(6, 60);
}

/// The array is shared by two atoms of a body, so that removing unused arguments misses it.
#[test]
fn an_argument_that_is_only_passed_on_is_removed() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let system = |query: &str| {
        format!(
            "(declare-fun P (Int (Array Int (Array Int Int))) Bool)
             (declare-fun Q (Int (Array Int (Array Int Int)) Bool) Bool)
             (assert (forall ((x Int) (c (Array Int (Array Int Int)))) (=> (= x 0) (P x c))))
             (assert (forall ((x Int) (c (Array Int (Array Int Int))) (b Bool)) (=> (= x 1) (Q x c b))))
             (assert (forall ((x Int) (y Int) (b Bool) (c (Array Int (Array Int Int)))
                              (d (Array Int (Array Int Int))) (e (Array Int (Array Int Int))))
                (=> (and (P x c) (Q y d b) (= d c) (or (and b (= e c)) (= e (ite (< x y) c d))))
                    (P (+ x y) e))))
             (assert (forall ((x Int) (c (Array Int (Array Int Int))))
                (=> (and (P x c) {query}) false)))"
        )
    };
    let old = graph(&store, &system("(= x 2)"));
    assert!(RemoveUnusedArguments.apply(&context, &old).is_none());
    let Transformed { graph: new, translation } =
        RemoveUniformArguments.apply(&context, &old).expect("the array is passed on");
    let arities: Vec<usize> = new.nodes().map(|(_, node)| node.arity()).collect();
    assert_eq!(arities, [1, 2]);
    for (_, edge) in new.edges() {
        let variables = store.free_vars(&[edge.label()]);
        assert!(variables.into_iter().all(|variable| store.array_parts(store.sort_of(variable)).is_none()));
    }
    let derivation = Saturation::of(&store, &new, 0..=2).derivation().expect("1 + 1 is 2");
    let back = translation.derivation_back(&context, derivation).expect("it is a derivation");
    assert!(Saturation::confirms(&store, &old, 0..=2, &back));
    let zero = "((as const (Array Int (Array Int Int))) ((as const (Array Int Int)) 0))";
    for query in [
        "(= (select (select c 0) 0) 7)".to_owned(),
        format!("(not (= c {zero}))"),
        format!("(= c {zero})"),
        "(not (= c (store c x (select c 1))))".to_owned(),
    ] {
        let old = graph(&store, &system(&query));
        assert!(RemoveUniformArguments.apply(&context, &old).is_none(), "{query}");
    }
}

/// Different values are needed, so the equations do not hold for one value.
#[test]
fn an_argument_that_is_compared_for_difference_stays() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let system = |condition: &str| {
        let text = format!(
            "(declare-fun P (Bool Int) Bool)
             (assert (forall ((c Int) (d Int)) (=> (= c d) (P true c))))
             (assert (forall ((b Bool) (c Int) (d Int)) (=> (and (P b c) (P b d) {condition}) false)))"
        );
        graph(&store, &text)
    };
    for condition in
        ["(distinct c d)", "(not (or b (= c d)))", "(= b (= c d))", "(= c (ite b d 0))", "(< c d)"]
    {
        assert!(RemoveUniformArguments.apply(&context, &system(condition)).is_none(), "{condition}");
    }
    for condition in ["(= c d)", "(or b (= c d))", "(not (and b (distinct c d)))", "(= c (ite b c d))"] {
        assert!(RemoveUniformArguments.apply(&context, &system(condition)).is_some(), "{condition}");
    }
}

#[test]
fn sequences_of_passes_keep_answers() {
    for shape in SHAPES {
        for seed in 0..400 * scale() {
            let mut random = Random::new(seed ^ 0x5eed);
            let passes = (0..2 + random.below(7)).map(|_| pass(random.below(PASSES))).collect();
            keeps_the_answer(seed + 1_000_000, &shape, passes);
        }
    }
}

/// A constraint over `x`, `y` and `b`, and over `l`, `m`, `p` and `q`, which become locals.
fn constraint(random: &mut Random) -> String {
    fn sum(random: &mut Random, terms: usize) -> String {
        let summands: Vec<String> = (0..terms)
            .map(|_| {
                let factor = *random.choose(&["1", "1", "(- 1)", "(- 1)", "2", "(- 3)"]);
                format!("(* {factor} {})", random.choose(&["x", "y", "l", "l", "m"]))
            })
            .collect();
        format!("(+ 0 {})", summands.join(" "))
    }
    fn atom(random: &mut Random) -> String {
        let terms = 1 + random.below(3);
        let left = match random.below(8) {
            0 => format!("(ite (< x {}) {} l)", random.below(3), sum(random, 1)),
            _ => sum(random, terms),
        };
        match random.below(9) {
            0 => (*random.choose(&["b", "p", "q"])).to_owned(),
            1 => format!("(= {} {})", random.choose(&["p", "q", "b"]), random.choose(&["q", "(< l x)", "b"])),
            2 | 3 => format!("(= {left} {})", random.below(4)),
            4 => format!("(not (= {left} {}))", random.below(4)),
            5 | 6 => format!("(< {left} {})", random.below(4)),
            _ => format!("(>= {left} {})", random.below(4)),
        }
    }
    let conjunct = |random: &mut Random| match random.below(5) {
        0 => format!("(or {} (and {} {}))", atom(random), atom(random), atom(random)),
        1 => format!("(not (and {} {}))", atom(random), atom(random)),
        _ => atom(random),
    };
    let conjuncts: Vec<String> = (0..1 + random.below(6)).map(|_| conjunct(random)).collect();
    format!("(and true {})", conjuncts.join(" "))
}

#[test]
fn simplified_constraints_mean_the_same() {
    if !z3::is_installed() {
        return;
    }
    let store = TermStore::new();
    let context = Context { store: &store, limits: Limits::default() };
    let mut queries = String::new();
    let mut changed = 0;
    for seed in 0..300 * scale() {
        let mut random = Random::new(seed);
        let sort = *random.choose(&["Int", "Real"]);
        let text = format!(
            "(declare-fun P ({sort} {sort} Bool) Bool)
             (assert (forall ((x {sort}) (y {sort}) (b Bool) (l {sort}) (m {sort}) (p Bool) (q Bool))
                (=> (and (P x y b) {}) false)))",
            constraint(&mut random)
        );
        let old = graph(&store, &text);
        let Some(new) = Simplify.apply(&context, &old) else { continue };
        changed += 1;
        let query = EdgeId::new(0);
        let closed = |graph: &HornGraph| {
            let label = store.display(graph.edge(query).label());
            let local = |&local: &Term| {
                format!("({} {})", store.display(local), store.display_sort(store.sort_of(local)))
            };
            let locals: Vec<String> = graph.locals(&store, query).iter().map(local).collect();
            if locals.is_empty() {
                label.to_string()
            } else {
                format!("(exists ({}) {label})", locals.join(" "))
            }
        };
        queries.push_str("(push)\n");
        for &argument in old.source_variables(query, 0) {
            let sort = store.display_sort(store.sort_of(argument));
            let _ = writeln!(queries, "(declare-const {} {sort})", store.display(argument));
        }
        let _ = writeln!(
            queries,
            "(assert (not (= {} {})))\n(check-sat-using (try-for qsat 2000))\n(echo \"{seed}\")\n(pop)",
            closed(&old),
            closed(&new.graph)
        );
    }
    let lines = z3::answers(&queries).expect("it is installed");
    assert_eq!(lines.len(), 2 * changed, "{lines:?}");
    for pair in lines.chunks(2) {
        assert_ne!(pair[0], "sat", "seed {} has another meaning now", pair[1]);
    }
    let decided = lines.iter().filter(|&line| line == "unsat").count();
    assert!(decided * 10 >= changed * 9 && changed * 2 >= 300 * scale() as usize, "{decided} of {changed}");
}

/// A chain of predicates. The first argument is a counter, the second one a constant, the third one is ignored.
fn chain(store: &TermStore, length: usize) -> HornGraph {
    let mut text = String::new();
    for node in 0..length {
        let _ = writeln!(text, "(declare-fun P{node} (Int Int Int) Bool)");
    }
    text.push_str("(assert (forall ((x Int) (z Int)) (=> (and (<= 0 x) (<= x 1)) (P0 x 7 z))))\n");
    for node in 1..length {
        let _ = writeln!(
            text,
            "(assert (forall ((x Int) (y Int) (z Int) (l Int))
                (=> (and (P{} x y z) (= l (+ x 1))) (P{node} l y (+ x z)))))",
            node - 1
        );
    }
    let end = length - 1;
    let _ = writeln!(
        text,
        "(assert (forall ((x Int) (y Int) (z Int)) (=> (and (P{end} x y z) (= x {end}) (= y 7)) false)))"
    );
    graph(store, &text)
}

/// Each level takes two facts of the level below, so that the tree of a derivation is exponential.
fn doubling(store: &TermStore, levels: usize) -> HornGraph {
    let mut text = "(declare-fun P0 (Int Int Int) Bool) (assert (P0 1 7 2))\n".to_owned();
    for level in 1..levels {
        let _ = writeln!(
            text,
            "(declare-fun P{level} (Int Int Int) Bool)
             (assert (forall ((x Int) (y Int) (z Int) (u Int) (v Int) (w Int))
                (=> (and (P{0} x y z) (P{0} u v w) (>= x u)) (P{level} (+ x 1) v (+ z w)))))",
            level - 1
        );
    }
    let _ = writeln!(
        text,
        "(assert (forall ((x Int) (y Int) (z Int)) (=> (and (P{0} x y z) (= x {levels})) false)))",
        levels - 1
    );
    graph(store, &text)
}

/// The only derivation if each node has one edge into it, in the order of the nodes: all nodes once. Values of
/// arguments are found along the way; the first argument counts from the given number, the second one is seven.
fn only_derivation(store: &TermStore, graph: &HornGraph, first: i64) -> Derivation {
    let mut steps = Vec::new();
    for (number, (edge, content)) in graph.edges().enumerate() {
        let premises = content.sources().iter().map(|_| number - 1).collect();
        let variables = content.target().map_or(&[][..], |node| graph.node(node).variables());
        let value = |&variable: &Term| {
            let Op::Var(name) = store.op(variable) else { panic!("nodes have variables") };
            // Variables are named by predicate and position.
            let counter =
                store.name(name).split('.').nth(1).is_some_and(|position| position.starts_with('0'));
            Value::Int(if counter { first + number as i64 } else { 7 }.into())
        };
        let fact = variables.iter().map(value).collect();
        steps.push(GraphStep { edge, premises, fact });
    }
    Derivation { steps }
}

#[test]
fn a_hundred_thousand_clauses_and_steps_take_seconds() {
    let store = TermStore::new();
    let context = Context { store: &store, limits: Limits::default() };
    for (length, passes) in [(100_000, vec![2, 3, 4, 1, 0]), (2_000, vec![4, 3]), (2_000, vec![4])] {
        let original = chain(&store, length);
        let passes: Vec<Box<dyn Transformation>> = passes.into_iter().map(pass).collect();
        let start = Instant::now();
        let (transformed, reports) = Pipeline::new(passes).run(&context, original.clone());
        let derivation = only_derivation(&store, &transformed.graph, 0);
        let back = transformed.translation.derivation_back(&context, derivation).unwrap();
        // Well above the needed time, well below that of anything quadratic.
        assert!(start.elapsed() < Duration::from_secs(120), "{reports:?}");
        assert_eq!(back.steps.len(), length + 1);
        if length < 100_000 {
            check_derivation(&context, &original, &back).unwrap();
        }
    }
}

#[test]
fn shared_derivations_stay_shared() {
    let store = TermStore::new();
    let context = Context { store: &store, limits: Limits::default() };
    let original = doubling(&store, 60);
    for passes in [vec![0], vec![1], vec![2], vec![3], vec![4], vec![2, 3, 4, 1, 0]] {
        let passes: Vec<Box<dyn Transformation>> = passes.into_iter().map(pass).collect();
        let (transformed, _) = Pipeline::new(passes).run(&context, original.clone());
        let new = only_derivation(&store, &transformed.graph, 1);
        if transformed.graph.nodes().any(|(_, node)| node.arity() == 3) {
            // The third argument doubles, which that derivation does not know.
            continue;
        }
        let back = transformed.translation.derivation_back(&context, new).unwrap();
        assert_eq!(back.steps.len(), 61);
        check_derivation(&context, &original, &back).unwrap();
    }
}

fn graph(store: &TermStore, text: &str) -> HornGraph {
    let system = parse(store, "random", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    HornGraph::of(store, &system)
}
