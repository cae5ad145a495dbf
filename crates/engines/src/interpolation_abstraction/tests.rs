//! Interpolants about templates are interpolants; loops have the templates that they should have.

use shofar_horn::parse;
use shofar_logic::Sort;
use shofar_testing::{Random, scale};

use super::*;
use crate::InterpolationMethod;

fn graph_of(store: &TermStore, text: &str) -> HornGraph {
    HornGraph::of(store, &parse(store, "test", text.as_bytes()).expect("the test's clauses are right"))
}

/// The templates of a node, as text over `a`, `b`, .. in the place of its variables.
fn named(store: &TermStore, templates: &Templates, node: usize) -> Vec<(String, Cost)> {
    let names = ["a", "b", "c", "d"].map(|name| store.symbol(name));
    let sorts = templates.variables[node].iter().map(|&variable| store.sort_of(variable));
    let arguments: Vec<Term> = names.iter().zip(sorts).map(|(&name, sort)| store.var(name, sort)).collect();
    let text = |&(term, cost): &(Term, Cost)| {
        let term = rename(store, term, &templates.variables[node], &arguments);
        (store.display(term).to_string(), cost)
    };
    templates.by_place[node].iter().map(text).collect()
}

#[track_caller]
fn assert_templates(text: &str, node: usize, expected: &[(&str, Cost)]) {
    let store = TermStore::new();
    let templates = Templates::of_graph(&Run::new(&store), &graph_of(&store, text)).unwrap();
    let found = named(&store, &templates, node);
    let expected: Vec<(String, Cost)> =
        expected.iter().map(|&(term, cost)| (term.to_owned(), cost)).collect();
    assert_eq!(found, expected);
}

/// The loop of "Exploring interpolants": `i = 0; x = j; while (i < 50) { i++; x++ }`.
#[test]
fn arguments_in_step_have_a_difference() {
    let text = "(declare-fun P (Int Int Int) Bool)
        (assert (forall ((j Int)) (P 0 j j)))
        (assert (forall ((i Int) (x Int) (j Int)) (=> (and (P i x j) (< i 50)) (P (+ i 1) (+ x 1) j))))";
    assert_templates(text, 0, &[("(+ a (* (- 1) b))", CHEAP), ("a", STRIDE), ("b", STRIDE), ("c", CHEAP)]);
}

#[test]
fn each_way_through_a_loop_has_its_strides() {
    let text = "(declare-fun P (Int Int Int Bool) Bool)
        (assert (forall ((n Int)) (P 0 0 n true)))
        (assert (forall ((x Int) (y Int) (n Int) (f Bool) (u Int) (v Int) (w Int) (g Bool))
            (=> (and (P x y n f) (= u (+ x 2)) (= w (* 2 n))
                     (or (and f (= v (+ y 1))) (and (not f) (= v y))))
                (P u v w g))))";
    let expected = [("(+ a (* (- 2) b))", CHEAP), ("a", STRIDE), ("b", STRIDE), ("c", DEAR), ("d", CHEAP)];
    assert_templates(text, 0, &expected);
}

/// Two choices have four outcomes, of which arithmetic excludes none.
#[test]
fn choices_within_terms_are_ways_through_a_loop() {
    let text = "(declare-fun P (Int Int Bool) Bool)
        (assert (P 0 0 true))
        (assert (forall ((x Int) (y Int) (f Bool)) (=> (P x y f)
            (P (ite (= (mod x 2) 0) (+ x 2) (+ x 1)) (ite f y (+ y 1)) (ite (< x 9) f (not f))))))";
    let sums = [("(+ a (* (- 1) b))", CHEAP), ("(+ a (* (- 2) b))", CHEAP)];
    let store = TermStore::new();
    let templates = Templates::of_graph(&Run::new(&store), &graph_of(&store, text)).unwrap();
    let mut found = named(&store, &templates, 0);
    let arguments = found.split_off(2);
    found.sort_unstable();
    assert_eq!(found, sums.map(|(sum, cost)| (sum.to_owned(), cost)));
    let expected = [("a", STRIDE), ("b", STRIDE), ("c", CHEAP)];
    assert_eq!(arguments, expected.map(|(term, cost)| (term.to_owned(), cost)));
}

/// The round goes through two predicates. Only the first one is a loop head.
#[test]
fn rounds_go_through_several_clauses() {
    let text = "(declare-fun P (Int Int) Bool) (declare-fun Q (Int Int) Bool)
        (assert (P 0 0))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (Q (+ y 3) x))))
        (assert (forall ((x Int) (y Int)) (=> (Q x y) (P (+ y 1) x))))
        (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> x (* 4 y))) false)))";
    assert_templates(text, 0, &[("(+ (* 3 a) (* (- 1) b))", CHEAP), ("a", STRIDE), ("b", STRIDE)]);
    assert_templates(text, 1, &[]);
}

/// The inner loop changes `x` without a bound, so a round of the outer one does so as well. From the inner one, the outer one is one more way
/// around.
#[test]
fn inner_loops_end_with_what_their_cases_agree_on() {
    let text = "(declare-fun P (Int Int Int) Bool) (declare-fun Q (Int Int Int) Bool)
        (assert (P 0 0 0))
        (assert (forall ((x Int) (y Int) (z Int)) (=> (P x y z) (Q x (+ y 1) z))))
        (assert (forall ((x Int) (y Int) (z Int)) (=> (Q x y z) (Q (+ x 2) y z))))
        (assert (forall ((x Int) (y Int) (z Int)) (=> (Q x y z) (P x y z))))";
    assert_templates(text, 0, &[("a", DEAR), ("b", STRIDE), ("c", CHEAP)]);
    assert_templates(text, 1, &[("a", STRIDE), ("b", STRIDE), ("c", CHEAP)]);
}

struct Example<'s> {
    store: &'s TermStore,
    variables: Vec<Term>,
    random: Random,
}

impl Example<'_> {
    /// A random sum of variables.
    fn sum(&mut self, variables: &[Term]) -> Term {
        let store = self.store;
        let mut number = |low: i64, count: usize| low + i64::try_from(self.random.below(count)).unwrap();
        let multiples: Vec<Term> =
            variables.iter().map(|&variable| store.mul(&[store.int(number(-2, 5)), variable])).collect();
        store.add(&multiples)
    }

    /// Random bounds, and equations, of sums.
    fn part(&mut self, variables: &[Term]) -> Vec<Term> {
        let store = self.store;
        let mut literal = |_| {
            let sum = self.sum(variables);
            let number = store.int(i64::try_from(self.random.below(7)).unwrap() - 3);
            match self.random.below(4) {
                0 => store.eq(sum, number),
                1 => store.ge(sum, number),
                2 => store.or2(store.le(sum, number), store.eq(variables[0], number)),
                _ => store.le(sum, number),
            }
        };
        (0..4).map(&mut literal).collect()
    }
}

fn is_satisfiable(run: &Run<'_>, formulas: &[Term]) -> bool {
    let mut solver = run.solver();
    run.assert(&mut solver, formulas).unwrap();
    run.is_satisfiable(&mut solver, &[]).unwrap()
}

/// Paths of three parts: the interpolants are a chain over the variables at the cuts.
#[test]
fn interpolants_about_templates_are_interpolants() {
    let mut found = 0;
    let sorts = [Sort::INT; 3];
    for seed in 0..60 * scale() {
        let store = TermStore::new();
        let run = Run::new(&store);
        let mut graph = HornGraph::new();
        let node = graph.add_node(Node::new(&store, store.symbol("P"), &sorts));
        let variables = graph.node(node).variables().to_vec();
        let mut example = Example { store: &store, variables, random: Random::new(seed) };
        let own = example.variables.clone();
        let sums =
            (0..3).map(|_| example.sum(&own)).filter(|&sum| !store.free_vars(&[sum]).is_empty()).collect();
        let templates = Templates::of_sums(&graph, vec![sums]);
        let [first, second] = ["first", "second"].map(|name| fresh_vector(&store, &own, name));
        let around = [first.to_vec(), [&first[..], &second].concat(), second.to_vec()];
        let parts: Vec<Vec<Term>> = around.iter().map(|variables| example.part(variables)).collect();
        if is_satisfiable(&run, &parts.concat()) {
            continue;
        }
        let cuts = [Some((0, &*first)), Some((0, &*second))];
        let method = *example.random.choose(&InterpolationMethod::ALL);
        let interpolants = templates.sequence(&run, parts.clone(), &cuts, method.options()).unwrap();
        let Some(interpolants) = interpolants else { continue };
        found += 1;
        let chain = [&[Term::TRUE], &interpolants[..], &[Term::FALSE]].concat();
        for (at, part) in parts.iter().enumerate() {
            let step = [&part[..], &[chain[at], store.not(chain[at + 1])]].concat();
            assert!(!is_satisfiable(&run, &step), "seed {seed}, part {at}");
        }
        for (interpolant, variables) in interpolants.iter().zip([&first, &second]) {
            let used = store.free_vars(&[*interpolant]);
            assert!(used.iter().all(|variable| variables.contains(variable)), "seed {seed}");
        }
    }
    assert!(found >= 20, "{found}");
}

/// The values have changed, but not the template: no formula about the template tells such points apart.
#[test]
fn interpolants_speak_of_the_cheap_templates_that_suffice() {
    let store = TermStore::new();
    let run = Run::new(&store);
    let text = "(declare-fun P (Int Int) Bool) (assert (P 0 0))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (+ y 2)))))";
    let templates = Templates::of_graph(&run, &graph_of(&store, text)).unwrap();
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let a = vec![store.eq(x, store.int(7)), store.eq(y, store.int(14))];
    let b = vec![store.eq(x, store.int(7)), store.not(store.eq(y, store.int(14)))];
    for method in InterpolationMethod::ALL {
        let parts = vec![a.clone(), b.clone()];
        // B may know x = 7 from A, but is contradictory with y = 2x alone.
        let found = templates.sequence(&run, parts, &[Some((0, &[x, y]))], method.options()).unwrap();
        let [found] = found.expect("with all templates it is unsatisfiable")[..] else { panic!("one cut") };
        let shifted = [store.add(&[x, store.int(1)]), store.add(&[y, store.int(2)])];
        let shifted = rename(&store, found, &[x, y], &shifted);
        assert!(!is_satisfiable(&run, &[store.not(store.eq(found, shifted))]), "{}", store.display(found));
    }
    let both = vec![vec![a[0]], vec![store.not(a[0])]];
    let found =
        templates.sequence(&run, both, &[Some((0, &[x, y]))], InterpolationMethod::Farkas.options()).unwrap();
    let [found] = found.expect("with all templates it is unsatisfiable")[..] else { panic!("one cut") };
    assert_eq!(store.free_vars(&[found]), [x], "no sum suffices");
    let satisfiable = vec![vec![a[0]], vec![a[1]]];
    let options = InterpolationMethod::Farkas.options();
    assert_eq!(templates.sequence(&run, satisfiable, &[Some((0, &[x, y]))], options).unwrap(), None);
}
