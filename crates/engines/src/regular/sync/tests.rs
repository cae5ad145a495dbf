//! Convolutions, clause automata and the search, judged by evaluation on small terms.

use std::time::Duration;

use shofar_horn::{HornGraph, HornSystem};
use shofar_logic::{Assignment, ConstructorId, Op, Sort, Term, TermStore, Value};
use shofar_run::Poll;
use shofar_testing::{Random, scale};

use super::super::automaton::State;
use super::super::classes::Partition;
use super::super::fixpoint::{Outcome, least_model};
use super::super::tests::{check_clauses, read, terms, values};
use super::model::model;
use super::*;

const NAT: &str = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))";
const TREE: &str = "(declare-datatypes ((Tree 0)) (((leaf) (node (l Tree) (r Tree)))))";

fn search<'a>(graph: &'a HornGraph, run: &'a Run<'a>, states: u64) -> Search<'a> {
    let options = Options::default().states(states);
    Search::new(graph, run, options)
}

/// The state of a tuple of values by an explicit run over its convolution.
fn state(store: &TermStore, convolution: &Convolution, algebra: &Algebra, values: &[Term]) -> State {
    if store.datatype(store.sort_of(values[0])).is_none() {
        let classes = 0..convolution.partition.len(store.sort_of(values[0])) as State;
        let is_in = |class: &State| convolution.partition.formula(store, values[0], *class) == Term::TRUE;
        return classes.into_iter().find(is_in).expect("it has a class");
    }
    let constructor = |&value: &Term| match store.op(value) {
        Op::Construct(id) => id,
        op => panic!("{op:?}"),
    };
    let constructors: Vec<ConstructorId> = values.iter().map(constructor).collect();
    let (number, letter) = convolution.letter(&constructors).expect("all letters are there");
    let child = |child: &convolution::Child| {
        let fields: Vec<Term> =
            child.iter().map(|&(component, field)| store.args(values[component])[field as usize]).collect();
        state(store, convolution, algebra, &fields)
    };
    let fields: Vec<State> = letter.children.iter().map(child).collect();
    algebra.apply(&convolution.signature, number, &fields)
}

impl Invariant {
    fn holds(&self, store: &TermStore, node: usize, values: &[Value]) -> bool {
        let of_block = |block: &Vec<usize>| {
            let values: Vec<Term> = block.iter().map(|&at| store.value_to_term(&values[at])).collect();
            state(store, &self.convolution, &self.algebra, &values)
        };
        self.facts[node].contains(&self.blocks[node].iter().map(of_block).collect::<Tuple>())
    }

    /// Checks all clauses for all values of their variables up to a height, and that the model says the same as the automaton.
    #[track_caller]
    fn check(&self, store: &TermStore, system: &HornSystem, graph: &HornGraph, height: usize) {
        let model = model(store, graph, self).expect("the automaton is a model");
        check_clauses(store, system, graph, &model, height, |node, values| self.holds(store, node, values));
    }
}

/// The greatest number of states of tuples with several components, if there is a model.
#[track_caller]
fn states(text: &str, height: usize, most: u64) -> Option<usize> {
    let store = TermStore::new();
    let (system, graph) = read(&store, text);
    let run = Run::new(&store).with_timeout(Duration::from_secs(60));
    match search(&graph, &run, most).invariant() {
        Ok(invariant) => {
            invariant.check(&store, &system, &graph, height);
            let shapes = invariant.convolution.shapes.iter().zip(invariant.algebra.sizes());
            shapes.map(|(_, &size)| size).max().or(Some(0))
        }
        Err(Stop::Exhausted(_)) => None,
        Err(stop) => panic!("{stop}"),
    }
}

fn convolution(store: &TermStore, shapes: &[Shape]) -> Convolution {
    let partition = Partition::of_clauses(store, &[], false).remove(0);
    Convolution::new(store, partition, shapes).expect("it is small")
}

/// The sort of the argument of the first predicate.
fn first_sort(store: &TermStore, graph: &HornGraph) -> Sort {
    graph.nodes().next().expect("there is a predicate").1.sorts(store)[0]
}

/// The tuple of Example 6 of the thesis, by full convolution: each choice of fields is a child.
#[test]
fn a_letter_has_a_child_for_each_choice_of_fields() {
    let store = TermStore::new();
    let (_, graph) =
        read(&store, &format!("{TREE}{NAT}(declare-fun P (Tree Nat) Bool)(assert (=> (P leaf Z) false))"));
    let sorts = graph.nodes().next().unwrap().1.sorts(&store);
    let convolution = convolution(&store, &[[sorts[0], sorts[1], sorts[0]].into()]);
    let constructors = |sort: Sort| store.datatype(sort).unwrap().constructors();
    let [leaf, node] = *constructors(sorts[0]) else { panic!("two constructors") };
    let [zero, succ] = *constructors(sorts[1]) else { panic!("two constructors") };
    let (_, letter) = convolution.letter(&[node, succ, node]).unwrap();
    let fields = |a: u32, b: u32| vec![(0, a), (1, 0), (2, b)];
    assert_eq!(letter.children, [fields(0, 0), fields(0, 1), fields(1, 0), fields(1, 1)]);
    let (_, letter) = convolution.letter(&[leaf, succ, node]).unwrap();
    assert_eq!(letter.children, [[(1, 0), (2, 0)], [(1, 0), (2, 1)]]);
    let (_, letter) = convolution.letter(&[leaf, zero, leaf]).unwrap();
    assert!(letter.children.is_empty());
}

/// Example 7 of the thesis: the automaton of disequality, here over the full convolution; its complement is equality.
#[test]
fn equality_of_trees_has_two_states() {
    let store = TermStore::new();
    let (_, graph) = read(&store, &format!("{TREE}(declare-fun P (Tree) Bool)(assert (=> (P leaf) false))"));
    let sort = first_sort(&store, &graph);
    let convolution = convolution(&store, &[[sort, sort].into()]);
    let pair = convolution.shape(&[sort, sort]).unwrap();
    let sizes = (0..convolution.shapes.len()).map(|shape| if shape == pair { 2 } else { 1 }).collect();
    let algebra = Algebra::new(&convolution.signature, sizes, |number, fields| {
        let letter = convolution.letters[number].as_ref().unwrap();
        let Some(&[a, b]) = letter.constructors.first_chunk() else { return 0 };
        let of = letter.children.iter().zip(fields);
        let mut same = of.filter(|(child, _)| child.len() == 2 && child[0].1 == child[1].1);
        State::from(a != b || same.any(|(_, &state)| state == 1))
    });
    let trees = terms(&store, sort, 4);
    for (&a, &b) in trees.iter().flat_map(|a| trees.iter().map(move |b| (a, b))) {
        assert_eq!(state(&store, &convolution, &algebra, &[a, b]), State::from(a != b));
    }
}

// ---- clause automata -----------------------------------------------------------------------------------------

/// Random clauses over numbers or trees, with patterns, repeated variables, equations and disequations.
fn random_clauses(random: &mut Random, is_number: bool, queries: usize) -> String {
    let (sorts, sort) = if is_number { (NAT, "Nat") } else { (TREE, "Tree") };
    let mut text = format!(
        "{sorts}(declare-fun P ({sort}) Bool)(declare-fun Q ({sort} {sort}) Bool)(declare-fun R ({sort} {sort}) Bool)\n"
    );
    fn term(random: &mut Random, is_number: bool, depth: usize) -> String {
        match random.below(if depth == 0 { 3 } else { 6 }) {
            0 => if is_number { "Z" } else { "leaf" }.to_owned(),
            4 | 5 if is_number => format!("(S {})", term(random, is_number, depth - 1)),
            4 | 5 => {
                format!(
                    "(node {} {})",
                    term(random, is_number, depth - 1),
                    term(random, is_number, depth - 1)
                )
            }
            _ => (*random.choose(&["x", "y", "z"])).to_owned(),
        }
    }
    let atom = |random: &mut Random, depth: usize| {
        let &(name, arity) = random.choose(&[("P", 1), ("Q", 2), ("R", 2), ("Q", 2)]);
        let arguments: Vec<String> = (0..arity).map(|_| term(random, is_number, depth)).collect();
        format!("({name} {})", arguments.join(" "))
    };
    if queries > 0 {
        // An order of numbers or the equality of left branches, which relate their arguments.
        text += match (is_number, random.one_in(2)) {
            (true, true) => "(assert (forall ((x Nat)) (Q Z (S x))))(assert (forall ((x Nat) (y Nat)) (=> (Q x y) (Q (S x) (S y)))))
                (assert (forall ((x Nat)) (=> (Q x x) false)))\n",
            (true, false) => "(assert (forall ((x Nat)) (Q x (S (S x)))))(assert (forall ((x Nat)) (=> (Q (S x) x) false)))\n",
            (false, _) => "(assert (Q leaf leaf))
                (assert (forall ((x Tree) (y Tree) (u Tree) (v Tree)) (=> (Q x y) (Q (node x u) (node y v)))))
                (assert (forall ((x Tree) (u Tree)) (=> (Q x (node x u)) false)))\n",
        };
    }
    for number in 0..queries + 2 + random.below(4) {
        let mut body: Vec<String> =
            (0..random.below(3)).map(|_| atom(random, if is_number { 2 } else { 1 })).collect();
        if random.one_in(3) {
            let equation = format!("(= {} {})", term(random, is_number, 1), term(random, is_number, 1));
            body.push(if random.one_in(3) { equation } else { format!("(not {equation})") });
        }
        let head =
            if number < queries { "false".to_owned() } else { atom(random, 1 + usize::from(is_number)) };
        text += &format!(
            "(assert (forall ((x {sort}) (y {sort}) (z {sort})) (=> (and true {}) {head})))\n",
            body.join(" ")
        );
    }
    text
}

/// Whatever the tables are, the least model of the rules satisfies all small instances of the clauses: the automata of atoms and
/// clauses have at least the runs of terms.
#[test]
fn random_tables_satisfy_clauses_without_queries() {
    let (mut checked, mut partial) = (0, 0);
    for seed in 0..150 * scale() {
        let mut random = Random::new(seed);
        let is_number = random.one_in(2);
        let store = TermStore::new();
        let text = random_clauses(&mut random, is_number, 0);
        let (system, graph) = read(&store, &text);
        let run = Run::new(&store);
        let search = search(&graph, &run, 3);
        let clauses = pure_clauses(&run, &graph).unwrap();
        let partition = partitions(&store, &graph, &clauses).remove(0);
        let blocks = search.blocks(&partition, MOST_CHILDREN);
        let Ok(BlockAttempt { convolution, blocks, program, joint, .. }) =
            search.attempt(&clauses, &partition, blocks)
        else {
            continue;
        };
        let sizes = convolution.shapes.iter().map(|_| 1 + random.below(3)).collect::<Vec<usize>>();
        let signature = &convolution.signature;
        let algebra = Algebra::new(signature, sizes.clone(), |number, _| {
            random.below(sizes[signature.constructors[number].sort]) as State
        });
        let poll = Poll::new(&run.limits);
        let Ok(Outcome::Model(facts)) = least_model(&program, signature, &algebra, 1_000_000, &poll) else {
            continue;
        };
        checked += 1;
        let invariant = Invariant { convolution, algebra, blocks, facts, joint };
        let of_pairs = invariant.blocks.iter().zip(&invariant.facts);
        partial += u64::from(of_pairs.into_iter().any(|(_, facts)| !facts.is_empty() && facts.len() < 2));
        invariant.check(&store, &system, &graph, if is_number { 5 } else { 3 });
    }
    assert!(checked > 60 && partial > 20, "{checked} {partial}");
}

/// For constructors with one field, the states of a pattern are exactly those that some values have.
#[test]
fn states_of_patterns_over_numbers_are_exact() {
    for seed in 0..60 * scale() {
        let mut random = Random::new(seed);
        let pattern: Vec<String> = (0..2)
            .map(|_| {
                let depth = random.below(3);
                let last = *random.choose(&["x", "y", "Z"]);
                format!("{}{last}{}", "(S ".repeat(depth), ")".repeat(depth))
            })
            .collect();
        let constraint = *random.choose(&["true", "(= x y)", "(not (= x y))", "(not (= x (S y)))"]);
        let text = format!(
            "{NAT}(declare-fun P (Nat Nat) Bool)
             (assert (forall ((x Nat) (y Nat)) (=> {constraint} (P {} {}))))",
            pattern[0], pattern[1]
        );
        let store = TermStore::new();
        let (system, graph) = read(&store, &text);
        let run = Run::new(&store);
        let search = search(&graph, &run, 3);
        let clauses = pure_clauses(&run, &graph).unwrap();
        let partition = partitions(&store, &graph, &clauses).remove(0);
        let blocks = search.blocks(&partition, MOST_CHILDREN);
        let Ok(attempt) = search.attempt(&clauses, &partition, blocks) else { panic!("it is small") };
        let BlockAttempt { convolution, program, .. } = attempt;
        let sizes: Vec<usize> = convolution.shapes.iter().map(|_| 1 + random.below(3)).collect();
        let signature = &convolution.signature;
        let algebra = Algebra::new(signature, sizes.clone(), |number, _| {
            random.below(sizes[signature.constructors[number].sort]) as State
        });
        let poll = Poll::new(&run.limits);
        let Ok(Outcome::Model(mut facts)) = least_model(&program, signature, &algebra, 1_000_000, &poll)
        else {
            panic!("there is no query")
        };
        let clause = &system.clauses[0];
        let head = clause.head.as_ref().unwrap();
        let mut expected: Vec<Tuple> = Vec::new();
        let numbers = values(&store, store.sort_of(head.args[0]), 14);
        for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (a, b))) {
            let pair = [a, b].into_iter().cloned();
            let assignment: Assignment = clause.variables.iter().copied().zip(pair).collect();
            if store.eval(clause.constraint, &assignment) != Ok(Value::Bool(true)) {
                continue;
            }
            let value = |&term: &Term| store.value_to_term(&store.eval(term, &assignment).unwrap());
            let tuple: Vec<Term> = head.args.iter().map(value).collect();
            expected.push([state(&store, &convolution, &algebra, &tuple)].into());
        }
        expected.sort();
        expected.dedup();
        facts[0].sort();
        assert_eq!(facts[0], expected, "{text}");
    }
}

// ---- the search ----------------------------------------------------------------------------------------------

/// The order of numbers, the only model of these clauses (T4). The thesis has three states, one for tuples of one component; ours
/// are by shapes, and two are enough.
#[test]
fn order_needs_two_states_of_pairs() {
    let text = format!(
        "{NAT}(declare-fun lt (Nat Nat) Bool)
         (assert (forall ((x Nat)) (lt Z (S x))))
         (assert (forall ((x Nat) (y Nat)) (=> (lt x y) (lt (S x) (S y)))))
         (assert (forall ((x Nat) (y Nat)) (=> (and (lt x y) (lt y x)) false)))"
    );
    assert_eq!(states(&text, 6, 6), Some(2));
}

/// Examples 2, 5 and 15 of the thesis.
#[test]
fn regular_invariants_are_synchronous() {
    let even = format!(
        "{NAT}(declare-fun even (Nat) Bool)
         (assert (even Z))
         (assert (forall ((y Nat)) (=> (even y) (even (S (S y))))))
         (assert (forall ((x Nat)) (=> (and (even x) (even (S x))) false)))"
    );
    assert_eq!(states(&even, 8, 6), Some(2));
    let inc_dec = format!(
        "{NAT}(declare-fun inc (Nat Nat) Bool)(declare-fun dec (Nat Nat) Bool)
         (assert (inc Z (S Z)))
         (assert (forall ((x Nat) (y Nat)) (=> (inc x y) (inc (S x) (S y)))))
         (assert (dec (S Z) Z))
         (assert (forall ((x Nat) (y Nat)) (=> (dec x y) (dec (S x) (S y)))))
         (assert (forall ((x Nat) (y Nat)) (=> (and (inc x y) (dec x y)) false)))"
    );
    assert_eq!(states(&inc_dec, 6, 6), Some(2));
    let even_left = format!(
        "{TREE}(declare-fun even (Tree) Bool)
         (assert (even leaf))
         (assert (forall ((u Tree) (y Tree) (z Tree)) (=> (even u) (even (node (node u y) z)))))
         (assert (forall ((x Tree) (y Tree)) (=> (and (even x) (even (node x y))) false)))"
    );
    assert_eq!(states(&even_left, 3, 6), Some(2));
}

/// Examples 10 and 11 of the thesis: no regular model, but a synchronous one.
#[test]
fn fork_and_join_are_synchronous() {
    let text = "(declare-datatypes ((Prog 0)) (((Seq) (Fork (f Prog)) (Join (j Prog)))))
         (declare-fun ok (Prog) Bool)(declare-fun tr (Prog Prog) Bool)
         (assert (ok Seq))
         (assert (forall ((p Prog)) (=> (ok p) (ok (Fork (Join p))))))
         (assert (forall ((r Prog)) (tr Seq (Fork r))))
         (assert (forall ((p Prog)) (tr p (Join Seq))))
         (assert (forall ((p Prog) (t Prog)) (=> (tr p t) (tr (Fork (Join p)) (Fork (Join t))))))
         (assert (forall ((p Prog)) (=> (and (ok p) (tr p p)) false)))";
    assert_eq!(states(text, 4, 6), Some(2));
}

/// Equality by its clauses, against the disequality that the clause automata know.
#[test]
fn equality_of_trees_is_found() {
    let text = format!(
        "{TREE}(declare-fun same (Tree Tree) Bool)
         (assert (same leaf leaf))
         (assert (forall ((a Tree) (b Tree) (c Tree) (d Tree))
             (=> (and (same a c) (same b d)) (same (node a b) (node c d)))))
         (assert (forall ((x Tree) (y Tree)) (=> (and (same x y) (not (= x y))) false)))"
    );
    assert_eq!(states(&text, 3, 4), Some(2));
}

/// Example 13 of the thesis: a tree and its two children are the quotient of equality by the pattern `(x, node(y, z))`. The
/// variables are at different depths, so the automaton looks ahead in `x`.
#[test]
fn a_tree_and_its_children_are_a_pattern_of_equality() {
    let text = format!(
        "{TREE}(declare-fun same (Tree Tree) Bool)(declare-fun made (Tree) Bool)
         (assert (same leaf leaf))
         (assert (forall ((a Tree) (b Tree) (c Tree) (d Tree))
             (=> (and (same a c) (same b d)) (same (node a b) (node c d)))))
         (assert (forall ((x Tree) (y Tree) (z Tree)) (=> (same x (node y z)) (made x))))
         (assert (=> (made leaf) false))"
    );
    assert_eq!(states(&text, 3, 4), Some(2));
}

/// Example 14 of the thesis: the only model is `{node(t, t)}`, which is not synchronous.
#[test]
fn trees_with_equal_children_are_not_found() {
    let text = format!(
        "{TREE}(declare-fun P (Tree) Bool)
         (assert (forall ((t Tree)) (P (node t t))))
         (assert (forall ((x Tree) (y Tree)) (=> (and (P (node x y)) (not (= x y))) false)))"
    );
    assert_eq!(states(&text, 3, 4), None);
}

/// The relation of the counterexample to the thesis' Theorem 11 is synchronous, but its quotient by `(x, x)` is not: it is
/// `{node(a, a)}`. The repeated variable becomes an equation of the clause, so `R` has at least these trees.
#[test]
fn repeated_variables_become_equations_of_the_clause() {
    let with = |query: &str| {
        format!(
            "{TREE}(declare-fun P (Tree Tree) Bool)(declare-fun R (Tree) Bool)
             (assert (forall ((a Tree) (b Tree) (d Tree)) (P (node a b) (node b d))))
             (assert (forall ((x Tree)) (=> (P x x) (R x))))
             (assert (forall ((a Tree) (b Tree)) (=> {query} false)))"
        )
    };
    assert_eq!(states(&with("(R leaf)"), 3, 4), Some(2));
    assert_eq!(states(&with("(R (node leaf leaf))"), 3, 3), None);
    assert_eq!(states(&with("(and (R (node a b)) (not (= a b)))"), 3, 2), None);
}

/// Lists of the same length, with elements that do not matter, and with signs that do.
#[test]
fn lists_are_compared() {
    let list = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))(declare-fun P (L L) Bool)(assert (P nil nil))";
    let same_length = format!(
        "{list}(assert (forall ((x Int) (y Int) (k L) (l L)) (=> (P k l) (P (cons x k) (cons y l)))))
         (assert (forall ((x Int) (l L)) (=> (P l (cons x l)) false)))"
    );
    assert_eq!(states(&same_length, 3, 4), Some(2));
    let signs = format!(
        "{list}(assert (forall ((x Int) (y Int) (k L) (l L)) (=> (and (P k l) (> x 0) (> y 0)) (P (cons x k) (cons y l)))))
         (assert (forall ((x Int) (y Int) (k L) (l L)) (=> (and (P (cons x k) (cons y l)) (< y 0)) false)))"
    );
    assert_eq!(states(&signs, 3, 4), Some(3));
}

/// Evaluation tries all small terms for all variables, so it also finds derivations of queries from facts that hold.
#[test]
fn automata_of_random_systems_satisfy_all_small_instances() {
    let (mut found, mut synchronous) = (0, 0);
    for seed in 0..120 * scale() {
        let mut random = Random::new(seed);
        let is_number = random.one_in(2);
        let store = TermStore::new();
        let (system, graph) = read(&store, &random_clauses(&mut random, is_number, 2));
        let run = Run::new(&store).with_timeout(Duration::from_secs(3));
        if let Ok(invariant) = search(&graph, &run, 3).invariant() {
            invariant.check(&store, &system, &graph, if is_number { 5 } else { 3 });
            found += 1;
            let shapes = invariant.convolution.shapes.iter().zip(invariant.algebra.sizes());
            synchronous += u64::from(shapes.into_iter().any(|(shape, &size)| shape.len() > 1 && size > 1));
        }
    }
    assert!(found > 5 && synchronous > 5, "{found} {synchronous}");
}
