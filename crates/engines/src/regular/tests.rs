//! Automata of the search and their models, judged by evaluation on small terms.

use std::time::Duration;

use shofar_horn::graph::NodeId;
use shofar_horn::witness::GraphModel;
use shofar_horn::{Atom, HornGraph, HornSystem, parse};
use shofar_logic::{Assignment, Op, Sort, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_testing::{Random, scale};

use super::automaton::State;
use super::model::model;
use super::{Invariant, Options, Search};
use crate::Run;

pub(super) fn read(store: &TermStore, text: &str) -> (HornSystem, HornGraph) {
    let system = parse(store, "test", text.as_bytes()).expect("the test's clauses are right");
    let graph = HornGraph::of(store, &system);
    (system, graph)
}

fn search(store: &TermStore, graph: &HornGraph, options: Options) -> Result<Invariant, Stop> {
    let run = Run::new(store).with_timeout(Duration::from_secs(60));
    Search::new(graph, &run, options).invariant()
}

impl Invariant {
    /// The state of a value.
    fn state(&self, store: &TermStore, value: &Value) -> State {
        let sort = store.value_sort(value);
        match value {
            Value::Term(term) => {
                let (Op::Construct(id), fields) = store.view(*term) else {
                    panic!("values are constructor terms")
                };
                let fields: Vec<State> = fields
                    .iter()
                    .map(|&field| self.state(store, &store.term_to_value(field).expect("fields are values")))
                    .collect();
                self.algebra.apply(&self.encoding.signature, self.encoding.constructors[&id], &fields)
            }
            _ => {
                let number =
                    self.encoding.sorts.iter().position(|&of| of == sort).expect("the sort is known");
                let term = store.value_to_term(value);
                let is_in =
                    |&class: &State| self.encoding.partition.formula(store, term, class) == Term::TRUE;
                let class =
                    (0..self.encoding.partition.len(sort) as State).find(is_in).expect("it has a class");
                let signature = &self.encoding.signature;
                let mut constants = (0..signature.constructors.len())
                    .filter(|&constructor| signature.constructors[constructor].sort == number);
                let constant = constants.nth(usize::from(class)).expect("a class is a constant");
                self.algebra.apply(signature, constant, &[])
            }
        }
    }

    fn holds(&self, store: &TermStore, predicate: usize, values: &[Value]) -> bool {
        let states = values.iter().map(|value| self.state(store, value)).collect();
        self.relations[predicate].tuples.contains::<Box<[State]>>(&states)
    }

    /// Checks all clauses for all values of their variables up to a height, and that the model says the same as the
    /// automaton.
    #[track_caller]
    fn check(&self, store: &TermStore, system: &HornSystem, graph: &HornGraph, height: usize) {
        let model = model(store, graph, self).expect("the automaton is a model");
        check_clauses(store, system, graph, &model, height, |node, values| self.holds(store, node, values));
    }
}

/// Checks all clauses for all values of their variables up to a height, and that a model says the same as an automaton.
#[track_caller]
pub(super) fn check_clauses(
    store: &TermStore,
    system: &HornSystem,
    graph: &HornGraph,
    model: &GraphModel,
    height: usize,
    accepts: impl Fn(usize, &[Value]) -> bool,
) {
    let formulas: Vec<Term> = graph.nodes().map(|(node, _)| model.formula(node).unwrap()).collect();
    let holds = |node: NodeId, values: &[Value]| {
        let variables = graph.node(node).variables().iter().copied();
        let assignment = variables.zip(values.iter().cloned()).collect();
        let by_formula = store.eval(formulas[node.index()], &assignment);
        let holds = accepts(node.index(), values);
        assert_eq!(by_formula, Ok(Value::Bool(holds)), "{}", store.display(formulas[node.index()]));
        holds
    };
    for (number, clause) in system.clauses.iter().enumerate() {
        let variables = &clause.variables;
        let values: Vec<Vec<Value>> =
            variables.iter().map(|&variable| values(store, store.sort_of(variable), height)).collect();
        let count: usize = values.iter().map(Vec::len).product();
        assert!(count < 500_000, "{count}");
        for mut instance in 0..count {
            let mut assignment = Assignment::new();
            for (&variable, values) in variables.iter().zip(&values) {
                assignment.set(variable, values[instance % values.len()].clone());
                instance /= values.len();
            }
            // What SMT-LIB leaves open may be true.
            if store.eval(clause.constraint, &assignment) == Ok(Value::Bool(false)) {
                continue;
            }
            let is_true = |atom: &Atom| {
                let values: Option<Vec<Value>> =
                    atom.args.iter().map(|&argument| store.eval(argument, &assignment).ok()).collect();
                values.is_none_or(|values| holds(NodeId::new(atom.predicate.index()), &values))
            };
            if clause.body.iter().all(is_true) {
                assert!(clause.head.as_ref().is_some_and(is_true), "clause {number}");
            }
        }
    }
}

/// All values of a sort up to a height; some numbers.
pub(super) fn values(store: &TermStore, sort: Sort, height: usize) -> Vec<Value> {
    match sort {
        Sort::BOOL => vec![Value::Bool(false), Value::Bool(true)],
        Sort::INT => (-1..=2).map(|number: i64| Value::Int(number.into())).collect(),
        _ => terms(store, sort, height).into_iter().map(Value::Term).collect(),
    }
}

pub(super) fn terms(store: &TermStore, sort: Sort, height: usize) -> Vec<Term> {
    let Some(datatype) = store.datatype(sort) else {
        return values(store, sort, height).iter().map(|value| store.value_to_term(value)).collect();
    };
    if height == 0 {
        return Vec::new();
    }
    let mut all = Vec::new();
    for &id in datatype.constructors() {
        let mut tuples: Vec<Vec<Term>> = vec![Vec::new()];
        for &(_, field) in &*store.constructor(id).fields {
            let of_field = terms(store, field, height - 1);
            let longer = |tuple: &Vec<Term>| -> Vec<Vec<Term>> {
                of_field.iter().map(|&term| [tuple.as_slice(), &[term]].concat()).collect()
            };
            tuples = tuples.iter().flat_map(longer).collect();
        }
        all.extend(tuples.iter().map(|fields| store.construct_term(id, fields)));
    }
    all
}

/// The sizes of the datatypes' minimal algebra, if there is a model.
#[track_caller]
fn sizes(text: &str, height: usize) -> Option<Vec<usize>> {
    sizes_within(text, height, Options::default())
}

#[track_caller]
fn sizes_within(text: &str, height: usize, options: Options) -> Option<Vec<usize>> {
    let store = TermStore::new();
    let (system, graph) = read(&store, text);
    match search(&store, &graph, options) {
        Ok(invariant) => {
            invariant.check(&store, &system, &graph, height);
            let is_datatype = |&sort: &usize| invariant.encoding.components[sort].is_some();
            let sorts = (0..invariant.encoding.signature.sorts).filter(is_datatype);
            Some(sorts.map(|sort| invariant.algebra.sizes()[sort]).collect())
        }
        Err(Stop::Exhausted(_)) => None,
        Err(stop) => panic!("{stop}"),
    }
}

const NAT: &str = "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))";

const PROG: &str = "(declare-datatypes ((Prog 0)) (((Seq) (Fork (f Prog)) (Join (j Prog)))))
    (declare-fun ok (Prog) Bool)(declare-fun tr (Prog Prog) Bool)";

/// Example 2 of the thesis.
#[test]
fn even_numbers_need_two_states() {
    let even = |query: &str| {
        format!(
            "{NAT}(declare-fun even (Nat) Bool)
             (assert (forall ((x Nat)) (=> (= x Z) (even x))))
             (assert (forall ((x Nat) (y Nat)) (=> (and (= x (S (S y))) (even y)) (even x))))
             (assert (forall ((x Nat) (y Nat)) (=> (and (even x) (even y) {query}) false)))"
        )
    };
    assert_eq!(sizes(&even("(= y (S x))"), 8), Some(vec![2]));
    assert_eq!(sizes(&even("(= y (S (S x)))"), 8), None);
    // The same with selectors and testers. A selector on Z may have any value, even one below x.
    assert_eq!(sizes(&even("((_ is S) x) (= y (p x))"), 8), Some(vec![2]));
    assert_eq!(sizes(&even("(not ((_ is Z) x)) (= y (p x))"), 8), Some(vec![2]));
    assert_eq!(sizes(&even("(= y (p x))"), 8), None);
}

/// Example 3 of the thesis.
#[test]
fn different_constants_refute() {
    assert_eq!(sizes(&format!("{NAT}(assert (=> (not (= Z (S Z))) false))"), 3), None);
    assert_eq!(sizes(&format!("{NAT}(assert (=> (= Z (S Z)) false))"), 3), Some(vec![]));
}

/// Example 5 of the thesis: numbers modulo three.
#[test]
fn increment_and_decrement_need_three_states() {
    let text = format!(
        "{NAT}(declare-fun inc (Nat Nat) Bool)(declare-fun dec (Nat Nat) Bool)
         (assert (forall ((x Nat) (y Nat)) (=> (and (= x Z) (= y (S Z))) (inc x y))))
         (assert (forall ((x Nat) (y Nat)) (=> (inc x y) (inc (S x) (S y)))))
         (assert (forall ((x Nat) (y Nat)) (=> (and (= x (S Z)) (= y Z)) (dec x y))))
         (assert (forall ((x Nat) (y Nat)) (=> (dec x y) (dec (S x) (S y)))))
         (assert (forall ((x Nat) (y Nat)) (=> (and (inc x y) (dec x y)) false)))"
    );
    assert_eq!(sizes(&text, 6), Some(vec![3]));
}

/// The order of numbers is not regular.
#[test]
fn order_has_no_automaton_up_to_five_states() {
    let text = format!(
        "{NAT}(declare-fun lt (Nat Nat) Bool)
         (assert (forall ((x Nat)) (lt Z (S x))))
         (assert (forall ((x Nat) (y Nat)) (=> (lt x y) (lt (S x) (S y)))))
         (assert (forall ((x Nat) (y Nat)) (=> (and (lt x y) (lt y x)) false)))"
    );
    assert_eq!(sizes_within(&text, 5, Options::default().states(5)), None);
}

/// Examples 10 and 12 of the thesis: a system without regular model, and its residual.
#[test]
fn fork_and_join_need_equality_but_the_residual_does_not() {
    let text = format!(
        "{PROG}
         (assert (forall ((p Prog)) (=> (= p Seq) (ok p))))
         (assert (forall ((p Prog) (q Prog)) (=> (and (= q (Fork (Join p))) (ok p)) (ok q))))
         (assert (forall ((p Prog) (t Prog) (r Prog)) (=> (and (= p Seq) (= t (Fork r))) (tr p t))))
         (assert (forall ((p Prog) (t Prog)) (=> (= t (Join Seq)) (tr p t))))
         (assert (forall ((p Prog) (t Prog) (q Prog) (s Prog))
             (=> (and (= q (Fork (Join p))) (= s (Fork (Join t))) (tr p t)) (tr q s))))
         (assert (forall ((p Prog)) (=> (and (ok p) (tr p p)) false)))"
    );
    assert_eq!(sizes_within(&text, 4, Options::default().states(4)), None);
    let residual = format!(
        "{PROG}
         (assert (ok (Fork (Join Seq))))
         (assert (forall ((p Prog)) (=> (ok p) (ok (Fork (Join p))))))
         (assert (tr (Fork (Join (Join Seq))) (Fork (Join (Join Seq)))))
         (assert (forall ((p Prog)) (=> (tr p p) (tr (Fork (Join p)) (Fork (Join p))))))
         (assert (=> (tr Seq Seq) false))
         (assert (=> (ok (Join Seq)) false))
         (assert (forall ((p Prog)) (=> (and (ok p) (tr p p)) false)))"
    );
    assert_eq!(sizes(&residual, 5), Some(vec![2]));
}

/// Example 15 of the thesis: the length of the leftmost branch.
#[test]
fn even_leftmost_branches_need_two_states() {
    let text = "(declare-datatypes ((Tree 0)) (((leaf) (node (l Tree) (r Tree)))))
        (declare-fun even (Tree) Bool)
        (assert (forall ((x Tree)) (=> (= x leaf) (even x))))
        (assert (forall ((x Tree) (u Tree) (y Tree) (z Tree)) (=> (and (= x (node (node u y) z)) (even u)) (even x))))
        (assert (forall ((x Tree) (y Tree)) (=> (and (even x) (even (node x y))) false)))";
    assert_eq!(sizes(text, 3), Some(vec![2]));
}

/// A state with two terms is different from itself.
#[test]
fn disequalities_hold_between_states() {
    let all_equal = "(declare-datatypes ((C 0) (L 0)) (((r) (g) (b)) ((nil) (cons (hd C) (tl L)))))
        (declare-fun P (L C) Bool)
        (assert (forall ((c C)) (P nil c)))
        (assert (forall ((l L) (c C)) (=> (P l c) (P (cons c l) c))))";
    let query = "(assert (forall ((l L) (c C) (d C))
        (=> (and (P (cons d l) c) (not (= c d))) false)))";
    let sizes = sizes(&format!("{all_equal}{query}"), 3).expect("the first element and three colours");
    assert!(sizes.contains(&3), "{sizes:?}");
    let functional = "(assert (forall ((l L) (k L) (c C)) (=> (and (P l c) (P k c) (not (= l k))) false)))";
    assert_eq!(sizes_within(&format!("{all_equal}{functional}"), 3, Options::default().states(3)), None);
}

/// Lists of integers whose elements are all positive, and lists that alternate.
#[test]
fn integers_have_classes() {
    let list = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))(declare-fun P (L) Bool)(assert (P nil))";
    let positive = format!(
        "{list}(assert (forall ((x Int) (l L)) (=> (and (P l) (> x 0)) (P (cons x l)))))
         (assert (forall ((x Int) (y Int) (l L)) (=> (and (P (cons x (cons y l))) (<= y 0)) false)))"
    );
    assert_eq!(sizes(&positive, 3), Some(vec![2]));
    let even = format!(
        "{list}(assert (forall ((x Int) (l L)) (=> (and (P l)) (P (cons (* 2 x) l)))))
         (assert (forall ((x Int) (l L)) (=> (and (P (cons x l)) (= x 3)) false)))"
    );
    assert_eq!(sizes(&even, 3), Some(vec![2]));
    let mixed = format!(
        "{list}(assert (forall ((x Int) (l L)) (=> (and (P l)) (P (cons (* 2 x) l)))))
         (assert (forall ((x Int) (l L)) (=> (and (P (cons x l)) (> x 7)) false)))"
    );
    assert_eq!(sizes(&mixed, 3), None);
}

/// Sorts that are declared together have states of their own.
#[test]
fn mutually_recursive_sorts_have_states() {
    let text = "(declare-datatypes ((T 0) (F 0)) (((leaf) (node (ch F))) ((fnil) (fcons (h T) (t F)))))
        (declare-fun even (F) Bool)(declare-fun odd (F) Bool)
        (assert (even fnil))
        (assert (forall ((f F) (g F)) (=> (and (even f) (odd g)) (odd (fcons (node g) f)))))
        (assert (forall ((f F)) (=> (even f) (odd (fcons leaf f)))))
        (assert (forall ((f F)) (=> (odd f) (even (fcons leaf f)))))
        (assert (forall ((f F)) (=> (and (odd f) (even f)) false)))";
    let sizes = sizes(text, 4);
    assert!(sizes.is_some_and(|sizes| sizes.contains(&2)));
}

/// Random clauses over trees and lists of trees, with variables and constructor terms as arguments.
fn random_system(random: &mut Random) -> String {
    let mut text =
        "(declare-datatypes ((T 0) (L 0)) (((a) (b) (f (f0 T) (f1 T))) ((nil) (cons (hd T) (tl L)))))
        (declare-fun P (T) Bool)(declare-fun Q (L) Bool)(declare-fun R (T L) Bool)\n"
            .to_owned();
    const PREDICATES: [(&str, &[bool]); 3] = [("P", &[true]), ("Q", &[false]), ("R", &[true, false])];
    fn term(random: &mut Random, is_tree: bool, depth: usize) -> String {
        match (is_tree, random.below(if depth == 0 { 3 } else { 6 })) {
            (true, 0) => "a".to_owned(),
            (true, 1) if depth > 0 => "b".to_owned(),
            (true, 4 | 5) => {
                format!("(f {} {})", term(random, true, depth - 1), term(random, true, depth - 1))
            }
            (true, _) => (*random.choose(&["x", "y"])).to_owned(),
            (false, 0) => "nil".to_owned(),
            (false, 4 | 5) => {
                format!("(cons {} {})", term(random, true, depth - 1), term(random, false, depth - 1))
            }
            (false, _) => (*random.choose(&["k", "l"])).to_owned(),
        }
    }
    let atom = |random: &mut Random, depth: usize| {
        let (name, sorts) = random.choose(&PREDICATES);
        let arguments: Vec<String> = sorts.iter().map(|&is_tree| term(random, is_tree, depth)).collect();
        format!("({name} {})", arguments.join(" "))
    };
    for number in 0..6 + random.below(4) {
        let mut body: Vec<String> = (0..random.below(3)).map(|_| atom(random, 1)).collect();
        if random.one_in(4) {
            let is_tree = random.one_in(2);
            let equation = format!("(= {} {})", term(random, is_tree, 1), term(random, is_tree, 1));
            body.push(if random.one_in(2) { equation } else { format!("(not {equation})") });
        }
        let head = if number < 2 { "false".to_owned() } else { atom(random, 2) };
        let body = format!("(and true {})", body.join(" "));
        text += &format!("(assert (forall ((x T) (y T) (k L) (l L)) (=> {body} {head})))\n");
    }
    text
}

/// Evaluation tries all terms up to height two for all variables, so it also finds derivations of queries from facts that hold.
#[test]
fn automata_of_random_systems_satisfy_all_small_instances() {
    let (mut found, mut recursive) = (0, 0);
    for seed in 0..300 * scale() {
        let store = TermStore::new();
        let text = random_system(&mut Random::new(seed));
        let (system, graph) = read(&store, &text);
        let run = Run::new(&store).with_timeout(Duration::from_secs(5));
        if let Ok(invariant) = Search::new(&graph, &run, Options::default().states(3)).invariant() {
            invariant.check(&store, &system, &graph, 2);
            found += 1;
            recursive += u64::from(invariant.algebra.sizes().iter().any(|&size| size > 1));
        }
    }
    assert!(found > 40 && recursive > 10, "{found} {recursive}");
}
