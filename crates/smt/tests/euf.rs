//! The congruence closure against a slow but obvious one, on random scripts and on worked examples.
//!
//! Every answer is checked with its evidence: a closure by fixed point gets only the reasons of an explanation, and
//! each proof is followed edge by edge.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use shofar_smt::theory::euf::{
    Apart, ClassModel, Conflict, EGraph, Node, Proof, ProofWhy, Propagation, Reason, Symbol, Token,
};
use shofar_testing::Random;

// ---- the slow and obvious procedure ----------------------------------------------------------------------

#[derive(Clone, PartialEq, Debug)]
enum Fact {
    Equal(Node, Node),
    Distinct(Vec<Node>),
}

#[derive(Clone, PartialEq, Debug)]
struct Application {
    symbol: u32,
    args: Vec<Node>,
    is_value: bool,
}

struct Naive {
    /// For each node a number that equal nodes share.
    classes: Vec<usize>,
    apart: BTreeSet<(usize, usize)>,
}

impl Naive {
    fn new<'a>(nodes: &[Application], facts: impl Iterator<Item = &'a Fact> + Clone) -> Self {
        let mut naive = Naive { classes: (0..nodes.len()).collect(), apart: BTreeSet::new() };
        for fact in facts.clone() {
            if let Fact::Equal(left, right) = fact {
                naive.join(*left, *right);
            }
        }
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for (i, first) in nodes.iter().enumerate() {
                for (j, second) in nodes.iter().enumerate().skip(i + 1) {
                    let are_congruent = first.symbol == second.symbol
                        && first.args.len() == second.args.len()
                        && std::iter::zip(&first.args, &second.args).all(|(&l, &r)| naive.are_equal(l, r));
                    has_changed |= are_congruent && naive.join(Node(i as u32), Node(j as u32));
                }
            }
        }
        let values: Vec<Node> =
            (0..nodes.len()).filter(|&i| nodes[i].is_value).map(|i| Node(i as u32)).collect();
        for group in
            facts.filter_map(|fact| if let Fact::Distinct(group) = fact { Some(group) } else { None })
        {
            naive.separate(group);
        }
        naive.separate(&values);
        naive
    }

    fn class(&self, node: Node) -> usize {
        self.classes[node.0 as usize]
    }

    fn join(&mut self, left: Node, right: Node) -> bool {
        let (from, to) = (self.class(left), self.class(right));
        self.classes.iter_mut().filter(|class| **class == from).for_each(|class| *class = to);
        from != to
    }

    fn separate(&mut self, group: &[Node]) {
        for (i, &left) in group.iter().enumerate() {
            for &right in &group[i + 1..] {
                self.apart.insert((self.class(left), self.class(right)));
                self.apart.insert((self.class(right), self.class(left)));
            }
        }
    }

    fn are_equal(&self, left: Node, right: Node) -> bool {
        self.class(left) == self.class(right)
    }

    fn are_distinct(&self, left: Node, right: Node) -> bool {
        self.apart.contains(&(self.class(left), self.class(right)))
    }

    fn is_contradictory(&self) -> bool {
        self.apart.iter().any(|(left, right)| left == right)
    }
}

// ---- a graph that is checked at each step ----------------------------------------------------------------

/// All that must be the same again after a pop.
#[derive(PartialEq, Debug)]
struct Snapshot {
    model: ClassModel,
    distinct: Vec<(Node, Node)>,
    parents: BTreeMap<Node, Vec<(Node, usize)>>,
    told: usize,
}

/// The graph, and beside it what was done so far. The reason of a fact is its position.
struct World {
    graph: EGraph,
    nodes: Vec<Application>,
    facts: Vec<Fact>,
    /// What was told, with the number of facts at that time.
    told: Vec<(Propagation, usize)>,
    watches: Vec<(u32, Node, Node)>,
    /// How many nodes, facts, told propagations and watches there were, and how it looked.
    levels: Vec<([usize; 4], Snapshot)>,
}

impl World {
    fn new() -> Self {
        let value = |symbol| Application { symbol, args: vec![], is_value: true };
        World {
            graph: EGraph::new(),
            nodes: vec![value(u32::MAX), value(u32::MAX - 1)],
            facts: vec![],
            told: vec![],
            watches: vec![],
            levels: vec![],
        }
    }

    fn node(&mut self, symbol: u32, args: &[Node]) -> Node {
        let node = self.graph.new_node(Symbol(symbol), args);
        self.note_node(node, Application { symbol, args: args.to_vec(), is_value: false })
    }

    fn value(&mut self, symbol: u32) -> Node {
        let node = self.graph.new_value(Symbol(symbol));
        self.note_node(node, Application { symbol, args: vec![], is_value: true })
    }

    fn note_node(&mut self, node: Node, application: Application) -> Node {
        match self.nodes.iter().position(|other| *other == application) {
            Some(known) => assert_eq!(known, node.0 as usize),
            None => {
                assert_eq!(self.nodes.len(), node.0 as usize);
                self.nodes.push(application);
            }
        }
        node
    }

    fn assert(&mut self, fact: Fact) -> Result<(), Conflict> {
        let reason = Reason(self.facts.len() as u32);
        let result = match &fact {
            Fact::Equal(left, right) => self.graph.merge(*left, *right, reason),
            Fact::Distinct(nodes) => self.graph.all_distinct(nodes, reason),
        };
        self.facts.push(fact);
        self.listen();
        result
    }

    fn equal(&mut self, left: Node, right: Node) -> Result<(), Conflict> {
        self.assert(Fact::Equal(left, right))
    }

    fn distinct(&mut self, nodes: &[Node]) -> Result<(), Conflict> {
        self.assert(Fact::Distinct(nodes.to_vec()))
    }

    fn watch(&mut self, left: Node, right: Node, token: u32) {
        self.graph.watch(left, right, Token(token));
        self.watches.push((token, left, right));
        self.listen();
    }

    fn listen(&mut self) {
        let facts = self.facts.len();
        self.told.extend(self.graph.propagations().iter().map(|&propagation| (propagation, facts)));
    }

    fn push(&mut self) {
        let snapshot = self.snapshot();
        let counts = [self.nodes.len(), self.facts.len(), self.told.len(), self.watches.len()];
        self.levels.push((counts, snapshot));
        self.graph.push();
    }

    fn pop(&mut self, count: usize) {
        let ([nodes, facts, told, watches], snapshot) =
            self.levels.drain(self.levels.len() - count..).next().unwrap();
        self.nodes.truncate(nodes);
        self.facts.truncate(facts);
        self.told.truncate(told);
        self.watches.truncate(watches);
        self.graph.pop(count);
        assert_eq!(self.snapshot(), snapshot);
    }

    fn pop_assertions(&mut self, count: usize) {
        let ([_, facts, told, _], _) = self.levels.drain(self.levels.len() - count..).next().unwrap();
        self.facts.truncate(facts);
        self.told.truncate(told);
        self.graph.pop_assertions(count);
        assert_eq!(self.graph.node_count(), self.nodes.len());
        for (at, node) in self.nodes.iter().enumerate() {
            let at = Node(at as u32);
            assert_eq!((self.graph.symbol(at).0, self.graph.args(at)), (node.symbol, &node.args[..]));
        }
        self.listen();
    }

    fn snapshot(&self) -> Snapshot {
        let parents = self.all_nodes().map(|node| {
            let mut parents: Vec<(Node, usize)> = self.graph.parents(node).collect();
            parents.sort_unstable();
            (node, parents)
        });
        Snapshot {
            model: self.graph.model(),
            distinct: self.all_pairs().filter(|&(l, r)| self.graph.are_distinct(l, r)).collect(),
            parents: parents.collect(),
            told: self.told.len(),
        }
    }

    fn all_nodes(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.nodes.len() as u32).map(Node)
    }

    fn all_pairs(&self) -> impl Iterator<Item = (Node, Node)> + use<> {
        let count = self.nodes.len() as u32;
        (0..count).flat_map(move |left| (0..count).map(move |right| (Node(left), Node(right))))
    }

    fn naive(&self) -> Naive {
        Naive::new(&self.nodes, self.facts.iter())
    }

    /// The closure of these facts alone, which must be facts from before `end`, each given once.
    fn replay(&self, reasons: &[Reason], end: usize) -> Naive {
        let distinct: BTreeSet<Reason> = reasons.iter().copied().collect();
        assert_eq!(distinct.len(), reasons.len(), "duplicates in {reasons:?}");
        assert!(reasons.iter().all(|reason| (reason.0 as usize) < end), "{reasons:?} are not before {end}");
        Naive::new(&self.nodes, reasons.iter().map(|reason| &self.facts[reason.0 as usize]))
    }

    /// Compares everything with the naive closure, and checks every explanation.
    fn verify(&mut self) {
        self.graph.check_invariants();
        let naive = self.naive();
        assert_eq!(self.graph.conflict().is_some(), naive.is_contradictory());
        if let Some(conflict) = self.graph.conflict() {
            self.verify_conflict(conflict);
            return;
        }
        for (left, right) in self.all_pairs() {
            assert_eq!(self.graph.are_equal(left, right), naive.are_equal(left, right), "{left:?} {right:?}");
            let are_distinct = naive.are_distinct(left, right);
            assert_eq!(self.graph.are_distinct(left, right), are_distinct, "{left:?} {right:?}");
            let mut reasons = vec![];
            assert_eq!(self.graph.explain_distinct(left, right, &mut reasons), are_distinct);
            if are_distinct {
                assert!(self.replay(&reasons, self.facts.len()).are_distinct(left, right));
            } else if left < right && naive.are_equal(left, right) {
                self.verify_equality(left, right);
            }
        }
        let settled = self.watches.iter().filter_map(|&(token, left, right)| {
            let truth = naive.are_equal(left, right);
            (truth || naive.are_distinct(left, right)).then_some((token, truth))
        });
        let told = self.told.iter().map(|(propagation, _)| (propagation.token.0, propagation.holds()));
        assert_eq!(told.clone().collect::<BTreeSet<_>>(), settled.collect());
        assert_eq!(told.clone().collect::<BTreeSet<_>>().len(), told.count(), "told twice");
        for (propagation, facts) in self.told.clone() {
            let mut reasons = vec![];
            self.graph.explain_propagation(&propagation, &mut reasons);
            let alone = self.replay(&reasons, facts);
            let Propagation { left, right, .. } = propagation;
            if propagation.holds() {
                assert!(alone.are_equal(left, right));
            } else {
                assert!(alone.are_distinct(left, right));
            }
        }
    }

    fn verify_equality(&mut self, left: Node, right: Node) {
        let mut reasons = vec![];
        self.graph.explain(left, right, &mut reasons);
        assert!(self.replay(&reasons, self.facts.len()).are_equal(left, right));
        let proof = self.graph.prove(&[(left, right)]);
        assert_eq!(proof.reasons(), reasons);
        self.verify_proof(&proof, left, right);
    }

    fn verify_conflict(&mut self, conflict: Conflict) -> Vec<Reason> {
        let mut reasons = vec![];
        self.graph.explain_conflict(&conflict, &mut reasons);
        assert!(self.replay(&reasons, self.facts.len()).is_contradictory());
        let Apart { left, right, reason } = conflict.0;
        match reason {
            Some(reason) => {
                let Fact::Distinct(group) = &self.facts[reason.0 as usize] else { panic!("{reason:?}") };
                let count = |node| group.iter().filter(|member| **member == node).count();
                assert!(if left == right { count(left) > 1 } else { count(left) > 0 && count(right) > 0 });
            }
            None => assert!([left, right].iter().all(|node| self.nodes[node.0 as usize].is_value)),
        }
        let proof = self.graph.prove(&[(left, right)]);
        self.verify_proof(&proof, left, right);
        reasons
    }

    /// Follows the path between two nodes, and for each congruence edge those between its arguments.
    fn verify_proof(&self, proof: &Proof, left: Node, right: Node) {
        verify_path(proof, left, right, proof.edges().len());
        for (at, edge) in proof.edges().iter().enumerate() {
            match edge.why {
                ProofWhy::Input(reason) => {
                    let Fact::Equal(left, right) = self.facts[reason.0 as usize] else { panic!("{edge:?}") };
                    assert!([(left, right), (right, left)].contains(&(edge.left, edge.right)));
                    assert!(proof.premises(edge).is_empty());
                }
                ProofWhy::Congruence => {
                    let [left, right] = [edge.left, edge.right].map(|node| &self.nodes[node.0 as usize]);
                    assert_eq!(left.symbol, right.symbol);
                    let pairs = std::iter::zip(left.args.iter().copied(), right.args.iter().copied());
                    assert!(pairs.eq(proof.premises(edge).iter().copied()));
                    for &(left, right) in proof.premises(edge) {
                        verify_path(proof, left, right, at);
                    }
                }
                ProofWhy::Injection(..) | ProofWhy::Reduction { .. } => {
                    panic!("the symbols of this test have no roles: {edge:?}")
                }
            }
        }
    }
}

/// The path leads from one node to the other over edges before `end`.
fn verify_path(proof: &Proof, from: Node, to: Node, end: usize) {
    let mut at = from;
    for step in proof.path(from, to).expect("the proof connects the nodes") {
        assert!(step.edge < end);
        let edge = &proof.edges()[step.edge];
        let (start, stop) = if step.is_reversed { (edge.right, edge.left) } else { (edge.left, edge.right) };
        assert_eq!(at, start);
        at = stop;
    }
    assert_eq!(at, to);
}

// ---- random scripts --------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Step {
    Constant(u8),
    Value(u8),
    Apply(u8, Vec<u16>),
    Equal(u16, u16),
    Distinct(Vec<u16>),
    Watch(u16, u16),
    Share(u16),
    Push,
    Pop(u8),
    PopAssertions(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..4u8).prop_map(Step::Constant),
        1 => (0..3u8).prop_map(Step::Value),
        6 => (0..2u8, prop::collection::vec(any::<u16>(), 1..3)).prop_map(|(f, args)| Step::Apply(f, args)),
        7 => any::<(u16, u16)>().prop_map(|(left, right)| Step::Equal(left, right)),
        2 => prop::collection::vec(any::<u16>(), 2..5).prop_map(Step::Distinct),
        3 => any::<(u16, u16)>().prop_map(|(left, right)| Step::Watch(left, right)),
        2 => any::<u16>().prop_map(Step::Share),
        3 => Just(Step::Push),
        1 => (1..3u8).prop_map(Step::Pop),
        1 => (1..3u8).prop_map(Step::PopAssertions),
    ]
}

/// Runs a script. In conflict it goes back one level, or ends where there is none.
fn run(script: &[Step]) {
    let mut world = World::new();
    for symbol in 0..3 {
        world.node(symbol, &[]);
    }
    for (at, step) in script.iter().enumerate() {
        let nodes = world.nodes.len();
        let node = |number: &u16| Node(u32::from(*number) % nodes as u32);
        match step {
            Step::Constant(name) => {
                world.node(u32::from(*name), &[]);
            }
            Step::Value(name) => {
                world.value(100 + u32::from(*name));
            }
            Step::Apply(function, args) => {
                let args: Vec<Node> = args.iter().map(node).collect();
                world.node(10 + u32::from(*function), &args);
            }
            Step::Equal(left, right) => _ = world.equal(node(left), node(right)),
            Step::Distinct(group) => {
                let group: Vec<Node> = group.iter().map(node).collect();
                _ = world.distinct(&group);
            }
            Step::Watch(left, right) => world.watch(node(left), node(right), at as u32),
            Step::Share(number) => world.graph.share(node(number)),
            Step::Push => world.push(),
            Step::Pop(count) => {
                let count = usize::from(*count).min(world.levels.len());
                if count > 0 {
                    world.pop(count);
                }
            }
            Step::PopAssertions(count) => {
                let count = usize::from(*count).min(world.levels.len());
                if count > 0 {
                    world.pop_assertions(count);
                }
            }
        }
        world.verify();
        if world.graph.conflict().is_some() {
            if world.levels.is_empty() {
                return;
            }
            if at % 2 == 0 {
                world.pop(1);
            } else {
                world.pop_assertions(1);
            }
            world.verify();
        }
    }
    while !world.levels.is_empty() {
        world.pop(1);
        world.verify();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn agrees_with_the_naive_closure_on_random_scripts(script in prop::collection::vec(step(), 1..60)) {
        run(&script);
    }

    /// Reported pairs of shared nodes connect exactly the shared nodes that are equal.
    #[test]
    fn shared_merges_span_the_equalities_between_shared_nodes(
        merges in prop::collection::vec((0..12u32, 0..12u32), 1..20),
        shared in prop::collection::vec((0..12u32, 0..20usize), 1..8),
    ) {
        let mut graph = EGraph::new();
        let nodes: Vec<Node> = (0..12).map(|symbol| graph.new_node(Symbol(symbol), &[])).collect();
        let mut pairs: Vec<Fact> = vec![];
        for (at, &(left, right)) in merges.iter().enumerate() {
            for (node, _) in shared.iter().filter(|(_, time)| *time == at) {
                graph.share(nodes[*node as usize]);
            }
            graph.merge(nodes[left as usize], nodes[right as usize], Reason(0)).unwrap();
            pairs.extend(graph.shared_merges().iter().map(|&(left, right)| Fact::Equal(left, right)));
        }
        let marked = shared.iter().filter(|(_, time)| *time < merges.len()).map(|(node, _)| nodes[*node as usize]);
        let marked: BTreeSet<Node> = marked.collect();
        let known: Vec<Application> = (0..graph.node_count() as u32)
            .map(|symbol| Application { symbol, args: vec![], is_value: false })
            .collect();
        let naive = Naive::new(&known, pairs.iter());
        for &left in &marked {
            for &right in &marked {
                prop_assert_eq!(graph.are_equal(left, right), naive.are_equal(left, right));
            }
        }
    }
}

/// Many random scripts over few nodes, made by a counter instead of proptest: deeper levels, more merges.
#[test]
fn agrees_with_the_naive_closure_on_long_searches() {
    let mut random = Random::new(1);
    for _ in 0..40 {
        let mut script: Vec<Step> = vec![];
        for _ in 0..8 {
            script.push(Step::Apply(
                random.below(2) as u8,
                (0..1 + random.below(2)).map(|_| random.below(100) as u16).collect(),
            ));
            script.push(Step::Watch(random.below(100) as u16, random.below(100) as u16));
        }
        for _ in 0..60 {
            let (left, right) = (random.below(100) as u16, random.below(100) as u16);
            script.push(match random.below(8) {
                0 => Step::Distinct(vec![left, right]),
                1 => Step::Pop(1 + random.below(3) as u8),
                2 | 3 => Step::Push,
                _ => Step::Equal(left, right),
            });
        }
        run(&script);
    }
}

// ---- worked examples -------------------------------------------------------------------------------------

/// A world with so many constants.
fn constants<const N: usize>() -> (World, [Node; N]) {
    let mut world = World::new();
    let nodes = std::array::from_fn(|symbol| world.node(symbol as u32, &[]));
    (world, nodes)
}

const F: u32 = 1000;
const G: u32 = 1001;

/// The example by which Nieuwenhuis and Oliveras introduce the proof forest, as we remember it, with `f`
/// binary instead of curried: a = b needs all six equations.
#[test]
fn nieuwenhuis_oliveras_explanation_example() {
    let (mut world, [a, b, c, d, e, g, h]) = constants();
    let (fgh, fgd) = (world.node(F, &[g, h]), world.node(F, &[g, d]));
    for (left, right) in [(fgh, d), (c, d), (fgd, a), (e, c), (e, b), (b, h)] {
        world.equal(left, right).unwrap();
        world.verify();
    }
    let mut reasons = vec![];
    world.graph.explain(a, b, &mut reasons);
    assert_eq!(reasons, (0..6).map(Reason).collect::<Vec<_>>());
    let proof = world.graph.prove(&[(a, b)]);
    assert_eq!(proof.edges().iter().filter(|edge| edge.why == ProofWhy::Congruence).count(), 1);
    reasons.clear();
    world.graph.explain(c, b, &mut reasons);
    assert_eq!(reasons, [Reason(3), Reason(4)]);
}

/// The classic f(f(a, b), b) = a from f(a, b) = a.
#[test]
fn nelson_oppen_example() {
    let (mut world, [a, b]) = constants();
    let fab = world.node(F, &[a, b]);
    let ffabb = world.node(F, &[fab, b]);
    world.equal(fab, a).unwrap();
    assert!(world.graph.are_equal(ffabb, a));
    let conflict = world.distinct(&[ffabb, a]).unwrap_err();
    assert_eq!(world.verify_conflict(conflict), [Reason(0), Reason(1)]);
}

/// T16 of the notes: u = f(s), v = f(t), s = t, u != v.
#[test]
fn t16_conditional_equality() {
    let (mut world, [s, t, u, v]) = constants();
    let (fs, ft) = (world.node(F, &[s]), world.node(F, &[t]));
    world.equal(u, fs).unwrap();
    world.equal(v, ft).unwrap();
    world.equal(s, t).unwrap();
    let conflict = world.distinct(&[u, v]).unwrap_err();
    assert_eq!(world.verify_conflict(conflict), (0..4).map(Reason).collect::<Vec<_>>());
    let proof = world.graph.prove(&[(u, v)]);
    let path: Vec<_> = proof.path(u, v).unwrap().iter().map(|step| proof.edges()[step.edge].why).collect();
    assert_eq!(path, [ProofWhy::Input(Reason(0)), ProofWhy::Congruence, ProofWhy::Input(Reason(1))]);
}

/// T17 of the notes, in the order in which the merge finds the disequality.
#[test]
fn t17_disequality_before_the_merge() {
    let (mut world, [a, b, x, p]) = constants();
    let (fa, fb) = (world.node(F, &[a]), world.node(F, &[b]));
    world.distinct(&[fb, p]).unwrap();
    world.equal(a, x).unwrap();
    world.equal(fa, p).unwrap();
    let conflict = world.equal(b, x).unwrap_err();
    assert_eq!(world.verify_conflict(conflict), (0..4).map(Reason).collect::<Vec<_>>());
    assert_eq!(world.graph.merge(a, b, Reason(9)), Err(conflict));
}

/// T17, second part, and T11 (division by zero is a function).
#[test]
fn equal_arguments_contradict_distinct_results() {
    let (mut world, [a, b, x, y]) = constants();
    let (fa, fb) = (world.node(F, &[a]), world.node(F, &[b]));
    world.distinct(&[fa, fb]).unwrap();
    world.equal(a, x).unwrap();
    world.equal(b, y).unwrap();
    let conflict = world.equal(x, y).unwrap_err();
    assert_eq!(world.verify_conflict(conflict).len(), 4);

    let (mut world, [x, y]) = constants();
    let (over_x, over_y) = (world.node(F, &[x]), world.node(F, &[y]));
    world.distinct(&[over_x, over_y]).unwrap();
    world.verify();
    let conflict = world.equal(x, y).unwrap_err();
    assert_eq!(world.verify_conflict(conflict).len(), 2);
}

#[test]
fn predicates_are_functions_into_truth_values() {
    let (mut world, [a, b]) = constants();
    let (pa, pb) = (world.node(F, &[a]), world.node(F, &[b]));
    world.watch(pb, Node::TRUE, 7);
    world.push();
    world.equal(pa, Node::TRUE).unwrap();
    world.equal(a, b).unwrap();
    assert_eq!(world.graph.value_of_class(pb), Some(Node::TRUE));
    assert!(world.told.iter().any(|(told, _)| told.token == Token(7) && told.holds()));
    let conflict = world.equal(pb, Node::FALSE).unwrap_err();
    assert_eq!(world.verify_conflict(conflict), (0..3).map(Reason).collect::<Vec<_>>());
    world.pop(1);
    world.equal(pa, Node::FALSE).unwrap();
    world.equal(a, b).unwrap();
    assert!(world.told.iter().any(|(told, _)| told.token == Token(7) && !told.holds()));
    world.verify();
}

#[test]
fn two_values_cannot_be_equal() {
    let (mut world, [a, b]) = constants();
    let (one, two) = (world.value(50), world.value(51));
    world.equal(a, one).unwrap();
    world.equal(b, two).unwrap();
    assert!(world.graph.are_distinct(a, b));
    let conflict = world.equal(a, b).unwrap_err();
    assert_eq!(conflict.0.reason, None);
    assert_eq!(world.verify_conflict(conflict), (0..3).map(Reason).collect::<Vec<_>>());
}

#[test]
fn a_distinct_group_is_violated_by_any_pair() {
    for (i, j) in [(0, 1), (1, 4), (2, 3)] {
        let (mut world, nodes) = constants::<5>();
        let x = world.node(99, &[]);
        world.distinct(&nodes).unwrap();
        world.equal(nodes[i], x).unwrap();
        assert!(world.graph.are_distinct(x, nodes[j]) && !world.graph.are_distinct(x, nodes[i]));
        world.verify();
        let conflict = world.equal(x, nodes[j]).unwrap_err();
        assert_eq!(world.verify_conflict(conflict), (0..3).map(Reason).collect::<Vec<_>>());
    }
    let (mut world, [a, b]) = constants();
    let conflict = world.distinct(&[a, b, a]).unwrap_err();
    assert_eq!(world.verify_conflict(conflict), [Reason(0)]);
}

/// The reasons of a propagation are from before it, though later merges offer others.
#[test]
fn explanations_are_as_of_the_propagation() {
    let (mut world, [a, b, x, y]) = constants();
    world.watch(a, b, 0);
    world.distinct(&[x, y]).unwrap();
    world.equal(a, x).unwrap();
    world.equal(b, y).unwrap();
    let told = world.told[0].0;
    assert!(!told.holds());
    world.distinct(&[a, b]).unwrap();
    world.distinct(&[a, y]).unwrap();
    let mut reasons = vec![];
    world.graph.explain_propagation(&told, &mut reasons);
    assert_eq!(reasons, (0..3).map(Reason).collect::<Vec<_>>());
}

#[test]
fn equality_has_a_time() {
    let (mut world, [a, b, c]) = constants();
    let start = world.graph.now();
    world.equal(a, b).unwrap();
    let middle = world.graph.now();
    world.equal(b, c).unwrap();
    let since = world.graph.equal_since(a, b).unwrap();
    assert!(start <= since && since < middle);
    assert!(world.graph.equal_since(a, c).unwrap() >= middle);
    assert_eq!(world.graph.equal_since(a, Node::TRUE), None);
}

#[test]
fn a_node_made_at_a_deeper_level_is_closed_at_once_and_forgotten() {
    let (mut world, [a, b]) = constants();
    let fa = world.node(F, &[a]);
    world.push();
    world.equal(a, b).unwrap();
    world.push();
    let fb = world.node(F, &[b]);
    assert!(world.graph.are_equal(fa, fb));
    assert_eq!(world.node(F, &[b]), fb);
    assert_eq!(world.graph.congruent(Symbol(F), &[b]), Some(fa));
    world.verify();
    world.pop_assertions(1);
    assert!(world.graph.are_equal(fa, fb));
    world.verify();
    world.pop_assertions(1);
    assert!(!world.graph.are_equal(fa, fb));
    world.verify();
}

#[test]
fn the_model_has_a_row_for_each_signature() {
    let (mut world, [a, b, c]) = constants();
    let (fa, fb, fc) = (world.node(F, &[a]), world.node(F, &[b]), world.node(F, &[c]));
    world.equal(a, b).unwrap();
    world.equal(fc, a).unwrap();
    let model = world.graph.model();
    let class = |node: Node| model.class_of[node.0 as usize];
    assert_eq!(class(fa), class(fb));
    let rows: Vec<_> = model.table(Symbol(F)).iter().map(|row| (row.args[0], row.result)).collect();
    assert_eq!(rows.len(), 2);
    assert!(rows.contains(&(class(a), class(fa))) && rows.contains(&(class(c), class(a))));
    assert!(model.table(Symbol(G)).is_empty());
}

// ---- large graphs ----------------------------------------------------------------------------------------

/// f^12(a) = a and f^18(a) = a give f^6(a) = a and no smaller power.
#[test]
fn powers_meet_at_the_greatest_common_divisor() {
    for (first, second, gcd) in [(12, 18, 6), (3, 5, 1), (10, 15, 5), (8, 4, 4)] {
        let mut world = World::new();
        let mut powers = vec![world.node(0, &[])];
        for _ in 0..first.max(second) {
            let next = world.node(F, &[*powers.last().unwrap()]);
            powers.push(next);
        }
        world.equal(powers[first], powers[0]).unwrap();
        world.equal(powers[second], powers[0]).unwrap();
        for power in 1..powers.len() {
            assert_eq!(world.graph.are_equal(powers[power], powers[0]), power % gcd == 0, "{power}");
        }
        world.verify();
    }
}

/// Each level has f(x, x) and f(y, y) over the level before: 2^1000 ways to the one reason.
#[test]
fn nested_diamonds_are_explained_in_linear_time() {
    let start = Instant::now();
    let mut graph = EGraph::new();
    let (x, y) = (graph.new_node(Symbol(0), &[]), graph.new_node(Symbol(1), &[]));
    let (mut left, mut right) = (x, y);
    for _ in 0..1000 {
        left = graph.new_node(Symbol(F), &[left, left]);
        right = graph.new_node(Symbol(F), &[right, right]);
    }
    graph.merge(x, y, Reason(3)).unwrap();
    let mut reasons = vec![];
    graph.explain(left, right, &mut reasons);
    assert_eq!(reasons, [Reason(3)]);
    let proof = graph.prove(&[(left, right)]);
    assert_eq!(proof.edges().len(), 1001);
    graph.check_invariants();
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// a0 = b0 = a1 and a0 = c0 = a1, a thousand times over: the path needs one side of each.
#[test]
fn chained_diamonds_are_explained_along_one_side() {
    let mut graph = EGraph::new();
    let nodes: Vec<Node> = (0..3001).map(|symbol| graph.new_node(Symbol(symbol), &[])).collect();
    let mut reason = 0;
    for diamond in 0..1000 {
        let [a, b, c, next] = [0, 1, 2, 3].map(|offset| nodes[3 * diamond + offset]);
        for (left, right) in [(a, b), (b, next), (a, c), (c, next)] {
            graph.merge(left, right, Reason(reason)).unwrap();
            reason += 1;
        }
    }
    let mut reasons = vec![];
    graph.explain(nodes[0], nodes[3000], &mut reasons);
    assert_eq!(reasons.len(), 2000);
    graph.check_invariants();
}

#[test]
fn a_chain_of_a_million_applications() {
    const LENGTH: usize = 1_000_000;
    let mut graph = EGraph::new();
    let (x, y) = (graph.new_node(Symbol(0), &[]), graph.new_node(Symbol(1), &[]));
    let (mut left, mut right) = (x, y);
    for _ in 0..LENGTH / 2 {
        left = graph.new_node(Symbol(F), &[left]);
        right = graph.new_node(Symbol(F), &[right]);
    }
    graph.push();
    graph.merge(x, y, Reason(5)).unwrap();
    assert!(graph.are_equal(left, right));
    let mut reasons = vec![];
    graph.explain(left, right, &mut reasons);
    assert_eq!(reasons, [Reason(5)]);
    assert_eq!(graph.prove(&[(left, right)]).edges().len(), LENGTH / 2 + 1);
    graph.pop(1);
    assert!(!graph.are_equal(left, right));
    graph.push();
    graph.merge(x, left, Reason(6)).unwrap();
    graph.merge(x, right, Reason(7)).unwrap();
    assert!(!graph.are_equal(x, y));
    assert!(graph.are_equal(left, right));
    graph.pop(1);
    assert_eq!(graph.class_size(left), 1);
}

#[test]
fn a_class_of_a_million_constants() {
    const LENGTH: u32 = 1_000_000;
    let mut graph = EGraph::new();
    let nodes: Vec<Node> = (0..LENGTH).map(|symbol| graph.new_node(Symbol(symbol), &[])).collect();
    graph.push();
    for (at, pair) in nodes.windows(2).enumerate() {
        graph.merge(pair[0], pair[1], Reason(at as u32)).unwrap();
    }
    let mut reasons = vec![];
    graph.explain(nodes[0], *nodes.last().unwrap(), &mut reasons);
    assert_eq!(reasons.len(), LENGTH as usize - 1);
    assert_eq!(graph.class_members(nodes[0]).count(), LENGTH as usize);
    graph.pop(1);
    assert!(nodes.iter().all(|&node| graph.class_size(node) == 1));
}
