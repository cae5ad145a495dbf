//! How fast congruences are closed, taken back and explained.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use shofar_smt::theory::euf::{EGraph, Node, Reason, Symbol, Token};
use shofar_testing::Random;

const F: Symbol = Symbol(u32::MAX - 10);

fn main() {
    divan::main();
}

/// A tenth of the nodes are constants; the others apply one of four binary functions to random earlier ones.
fn random_graph(size: usize) -> (EGraph, Vec<Node>, Random) {
    let mut graph = EGraph::new();
    let mut random = Random::new(1);
    let mut nodes: Vec<Node> = (0..size / 10).map(|name| graph.new_node(Symbol(name as u32), &[])).collect();
    for _ in size / 10..size {
        let args = [nodes[random.below(nodes.len())], nodes[random.below(nodes.len())]];
        nodes.push(graph.new_node(Symbol(F.0 + random.below(4) as u32), &args));
    }
    (graph, nodes, random)
}

/// Random pairs, each to be merged for its own reason.
fn pairs(nodes: &[Node], count: usize, random: &mut Random) -> Vec<(Node, Node)> {
    (0..count).map(|_| (nodes[random.below(nodes.len())], nodes[random.below(nodes.len())])).collect()
}

fn merge_all(graph: &mut EGraph, pairs: &[(Node, Node)]) {
    for (at, &(left, right)) in pairs.iter().enumerate() {
        let _ = black_box(graph.merge(left, right, Reason(at as u32)));
    }
}

/// Making nodes; per node.
#[divan::bench(args = [1_000, 100_000])]
fn make_nodes(bencher: Bencher<'_, '_>, size: usize) {
    bencher.counter(ItemsCount::new(size)).bench(|| random_graph(size));
}

/// Random merges, half as many as there are nodes; per merge.
#[divan::bench(args = [1_000, 100_000])]
fn random_merges(bencher: Bencher<'_, '_>, size: usize) {
    let (graph, nodes, mut random) = random_graph(size);
    let pairs = pairs(&nodes, size / 2, &mut random);
    bencher
        .counter(ItemsCount::new(pairs.len()))
        .with_inputs(|| graph.clone())
        .bench_local_refs(|graph| merge_all(graph, &pairs));
}

/// Two chains of applications.
fn chains(length: usize) -> (EGraph, [Node; 2], [Node; 2]) {
    let mut graph = EGraph::new();
    let starts = [0, 1].map(|name| graph.new_node(Symbol(name), &[]));
    let mut ends = starts;
    for _ in 0..length {
        ends = ends.map(|end| graph.new_node(F, &[end]));
    }
    (graph, starts, ends)
}

/// One merge with a congruence for each level of the chain, and its pop; per congruence.
#[divan::bench(args = [100, 10_000, 1_000_000])]
fn congruence_chain(bencher: Bencher<'_, '_>, length: usize) {
    let (mut graph, [left, right], _) = chains(length);
    bencher.counter(ItemsCount::new(length)).bench_local(|| {
        graph.push();
        let _ = black_box(graph.merge(left, right, Reason(0)));
        graph.pop(1);
    });
}

/// The explanation of the ends of a chain; per edge.
#[divan::bench(args = [100, 10_000, 1_000_000])]
fn explain_chain(bencher: Bencher<'_, '_>, length: usize) {
    let (mut graph, [left, right], ends) = chains(length);
    graph.merge(left, right, Reason(0)).expect("nothing is distinct");
    let mut reasons: Vec<Reason> = Vec::new();
    bencher.counter(ItemsCount::new(length)).bench_local(|| {
        reasons.clear();
        graph.explain(ends[0], ends[1], &mut reasons);
    });
}

/// The explanation of two nodes in a big class of a random graph; per explanation.
#[divan::bench(args = [1_000, 100_000])]
fn explain_random(bencher: Bencher<'_, '_>, size: usize) {
    let (mut graph, nodes, mut random) = random_graph(size);
    let merged = pairs(&nodes, size / 2, &mut random);
    merge_all(&mut graph, &merged);
    let asked: Vec<(Node, Node)> = pairs(&nodes, 100_000, &mut random)
        .into_iter()
        .filter(|&(left, right)| graph.are_equal(left, right))
        .take(100)
        .collect();
    let mut reasons: Vec<Reason> = Vec::new();
    bencher.counter(ItemsCount::new(asked.len())).bench_local(|| {
        for &(left, right) in &asked {
            reasons.clear();
            graph.explain(left, right, &mut reasons);
        }
    });
}

/// As a search does it: levels of a few merges each with watched equations, twenty deep, then back by half of
/// them, a thousand times; per merge.
#[divan::bench(args = [100, 1_000, 10_000])]
fn search(bencher: Bencher<'_, '_>, size: usize) {
    let (mut graph, nodes, mut random) = random_graph(size);
    for (at, (left, right)) in pairs(&nodes, size, &mut random).into_iter().enumerate() {
        graph.watch(left, right, Token(at as u32));
    }
    let steps: Vec<(Node, Node)> = pairs(&nodes, 20_000, &mut random);
    bencher.counter(ItemsCount::new(steps.len())).bench_local(|| {
        for (at, &(left, right)) in steps.iter().enumerate() {
            if at % 2 == 0 {
                graph.push();
            }
            let reason = Reason(at as u32);
            let result = if at % 7 == 0 {
                graph.distinct(left, right, reason)
            } else {
                graph.merge(left, right, reason)
            };
            black_box(graph.propagations());
            if result.is_err() {
                graph.pop(1);
            } else if graph.level() == 20 {
                graph.pop(10);
            }
        }
        graph.pop(graph.level());
    });
}

/// Disequalities between all pairs of some nodes, as one group; then a merge of another node with each; per
/// merge.
#[divan::bench(args = [1_000])]
fn distinct_group(bencher: Bencher<'_, '_>, size: usize) {
    let mut graph = EGraph::new();
    let mut constants = |from: usize| -> Vec<Node> {
        (from..from + size).map(|name| graph.new_node(Symbol(name as u32), &[])).collect()
    };
    let (members, others) = (constants(0), constants(size));
    bencher.counter(ItemsCount::new(size)).bench_local(|| {
        graph.push();
        let _ = black_box(graph.all_distinct(&members, Reason(0)));
        for (&left, &right) in std::iter::zip(&members, &others) {
            let _ = black_box(graph.merge(left, right, Reason(1)));
        }
        graph.pop(1);
    });
}
