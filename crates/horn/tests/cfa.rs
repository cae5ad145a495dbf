//! Control-flow automata execute clauses: on the worked examples of Somorjai's thesis, on clauses that its rules get wrong,
//! and on random systems whose answers an explicit search finds.

use shofar_horn::Context;
use shofar_horn::cfa::{
    Automaton, CfaEdgeId, Direction, LocationId, Statement, TooDeep, backward, forward, procedures, unfold,
};
use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::graph::{NodeId, rename};
use shofar_horn::infix::Notation;
use shofar_horn::witness::{Derivation, GraphModel};
use shofar_horn::{HornGraph, HornSystem, parse};
use shofar_logic::{Term, TermStore, Value};
use shofar_run::Stop;
use shofar_testing::Random;
use shofar_testing::automata::Execution;
use shofar_testing::explicit::Saturation;
use shofar_testing::scale::numbers;
use shofar_testing::systems::{self, Shape};

fn graph(store: &TermStore, text: &str) -> HornGraph {
    let system = parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    HornGraph::of(store, &system)
}

/// The automata of a graph: all three if it is linear, otherwise procedures, and the others refuse it.
fn automata(store: &TermStore, graph: &HornGraph) -> Vec<Automaton> {
    let linear = [forward(store, graph), backward(store, graph)];
    let mut automata = vec![procedures(store, graph)];
    for automaton in linear {
        match automaton {
            Ok(automaton) => automata.push(automaton),
            Err(Stop::Unsupported(what)) => {
                assert!(!graph.is_linear(), "linear clauses are supported: {what}");
                assert!(what.contains("procedures"), "the message names the alternative: {what}");
            }
            Err(stop) => panic!("{stop}"),
        }
    }
    assert_eq!(automata.len(), if graph.is_linear() { 3 } else { 1 });
    automata
}

/// Executes the automata of all directions. Runs to the error location must give derivations. Returns their number of steps,
/// `None` if the automata are safe.
#[track_caller]
fn executed(text: &str, greatest: i64) -> Option<usize> {
    let store = TermStore::new();
    let graph = graph(&store, text);
    let context = Context::new(&store);
    let mut found: Vec<Option<usize>> = Vec::new();
    for automaton in automata(&store, &graph) {
        automaton.cfa.check_invariants(&store).expect("the invariants hold");
        let execution = Execution::of(&store, &automaton.cfa, 0..=greatest);
        let steps = execution.run().map(|run| {
            let derivation = automaton.derivation(&context, &graph, &run).expect("the run is one");
            check_derivation(&context, &graph, &derivation).expect("the derivation is right");
            derivation.steps.len()
        });
        found.push(steps);
    }
    let (first, others) = found.split_first().expect("procedures are always supported");
    assert!(others.iter().all(|other| other.is_some() == first.is_some()), "{found:?} in\n{text}");
    *first
}

// ---- worked examples -----------------------------------------------------------------------------------------

fn counter(query: &str) -> String {
    format!(
        "(declare-fun F (Int) Bool)
         (assert (forall ((x Int)) (=> (= x 0) (F x))))
         (assert (forall ((x Int) (y Int)) (=> (and (F x) (<= x 1) (= y (+ x 1))) (F y))))
         (assert (forall ((x Int)) (=> (and (F x) {query}) false)))"
    )
}

/// Example 5.
#[test]
fn a_counter_to_two_reaches_two_and_not_three() {
    assert_eq!(executed(&counter("(> x 2)"), 5), None);
    assert_eq!(executed(&counter("(>= x 2)"), 5), Some(4));
}

/// Example 9, with a bound of the fact: `(< n 100)` is safe, `(<= n 100)` (Example 16) is not.
fn motivating(bound: &str) -> String {
    motivating_with(bound, "(= n (+ y (mod y x)))")
}

/// What matters of a remainder `r` of division by `x`. The checker of models knows `mod` by constants only.
fn remainder(x: &str) -> String {
    format!("(>= r 0) (=> (> {x} 0) (< r {x})) (=> (< {x} 0) (< r (- {x})))")
}

fn motivating_with(bound: &str, sum: &str) -> String {
    format!(
        "(declare-fun A (Int) Bool) (declare-fun B (Int Int) Bool) (declare-fun C (Int Int) Bool)
         (assert (forall ((n Int)) (=> (and (> n 0) {bound}) (A n))))
         (assert (forall ((n Int) (x Int)) (=> (and (A n) (> x 0)) (B n x))))
         (assert (forall ((n Int) (x Int) (y Int)) (=> (and (B n x) (= y (- n x)) (> y 0)) (C y x))))
         (assert (forall ((n Int) (x Int) (y Int) (r Int)) (=> (and (C y x) {sum}) (A n))))
         (assert (forall ((n Int)) (=> (and (A n) (>= n 100)) false)))"
    )
}

/// The variables of the predicates, and their formulas in a model of Example 9: with `x > 0` for `C`, or without it as the
/// thesis prints it.
fn formulas(store: &TermStore, graph: &HornGraph, is_printed: bool) -> Vec<Term> {
    let variables = |node| graph.node(NodeId::new(node)).variables();
    let (a, b, c) = (variables(0), variables(1), variables(2));
    let (zero, hundred) = (store.int(0), store.int(100));
    let mut of_c = vec![store.gt(c[0], zero), store.le(store.add(c), hundred)];
    if !is_printed {
        of_c.push(store.gt(c[1], zero));
    }
    vec![store.lt(a[0], hundred), store.and2(store.le(b[0], hundred), store.gt(b[1], zero)), store.and(&of_c)]
}

/// The formulas of predicates as formulas of their locations.
fn at_locations(automaton: &Automaton, formulas: &[Term]) -> Vec<Term> {
    let mut reached = vec![Term::TRUE; automaton.cfa.locations().len()];
    for (node, &formula) in formulas.iter().enumerate() {
        reached[automaton.location_of(NodeId::new(node)).index()] = formula;
    }
    reached
}

#[test]
fn invariants_of_locations_are_models_of_the_motivating_example() {
    let store = TermStore::new();
    let sum = format!("(= n (+ y r)) {}", remainder("x"));
    let graph = graph(&store, &motivating_with("(< n 100)", &sum));
    let context = Context::new(&store);
    let check = |model: &GraphModel| check_graph_model(&context, &graph, model);
    let right = formulas(&store, &graph, false);
    let ahead = forward(&store, &graph).expect("the clauses are linear");
    assert_eq!(check(&ahead.model(&store, &graph, &at_locations(&ahead, &right))), Ok(()));
    let printed = formulas(&store, &graph, true);
    let printed = ahead.model(&store, &graph, &at_locations(&ahead, &printed));
    assert!(matches!(check(&printed), Err(Stop::Internal(_))), "the model in the thesis lacks x > 0");

    let back = backward(&store, &graph).expect("the clauses are linear");
    let demanded: Vec<Term> = right.iter().map(|&formula| store.not(formula)).collect();
    assert_eq!(check(&back.model(&store, &graph, &at_locations(&back, &demanded))), Ok(()));
    assert!(check(&back.model(&store, &graph, &at_locations(&back, &right))).is_err());
    let nothing = vec![Term::FALSE; back.cfa.locations().len()];
    let all = back.model(&store, &graph, &nothing);
    assert_eq!(all, GraphModel::of_formulas([Term::TRUE; 3]), "what is not demanded may be true");
    let none = ahead.model(&store, &graph, &nothing);
    assert_eq!(none, GraphModel::of_formulas([Term::FALSE; 3]), "what is not reached is false");
}

/// Examples 16 and 22.
#[test]
fn runs_of_all_directions_give_the_same_refutation() {
    let store = TermStore::new();
    let graph = graph(&store, &motivating("(<= n 100)"));
    let context = Context::new(&store);
    let hundred = || Box::from([Value::Int(100.into())]);
    let edge = CfaEdgeId::new;
    let ahead = forward(&store, &graph).expect("the clauses are linear");
    let expected = ahead.derivation(&context, &graph, &[(edge(0), hundred()), (edge(4), [].into())]);
    let expected: Derivation = expected.expect("this is a run");
    assert_eq!(check_derivation(&context, &graph, &expected), Ok(()));
    let clauses: Vec<usize> = expected.steps.iter().map(|step| step.edge.index()).collect();
    assert_eq!(clauses, [0, 4]);

    let back = backward(&store, &graph).expect("the clauses are linear");
    let run = [(edge(4), hundred()), (edge(0), [].into())];
    assert_eq!(back.derivation(&context, &graph, &run), Ok(expected.clone()));

    let all = procedures(&store, &graph);
    let of_clause = |clause: usize| -> Vec<CfaEdgeId> {
        let edges = all.cfa.edges().map(|(id, _)| id);
        edges.filter(|&id| all.clause(id).index() == clause).collect()
    };
    let (query, fact) = (of_clause(4), of_clause(0));
    assert_eq!((query.len(), fact.len()), (2, 1), "a call is alone on its edge");
    let run = [(query[0], hundred()), (query[1], [].into()), (fact[0], hundred())];
    assert_eq!(all.derivation(&context, &graph, &run), Ok(expected));

    for wrong in [&run[..0], &run[..1], &run[..2], &run[1..], &[&run[..], &run[..]].concat()] {
        assert!(matches!(all.derivation(&context, &graph, wrong), Err(Stop::Internal(_))), "{wrong:?}");
    }
    let few = [(query[0], [].into()), (query[1], [].into()), (fact[0], hundred())];
    assert!(matches!(all.derivation(&context, &graph, &few), Err(Stop::Internal(_))));
}

/// The statements of the edge between two locations.
fn between(automaton: &Automaton, source: &str, target: &str) -> Vec<Statement> {
    let name = |location: LocationId| automaton.cfa.location(location).name.as_str();
    let found = automaton.cfa.edges().find(|(_, e)| name(e.source) == source && name(e.target) == target);
    found.unwrap_or_else(|| panic!("there is no edge from {source} to {target}")).1.statements.to_vec()
}

/// Figure 4.6, with equations as assignments.
#[test]
fn forward_edges_of_the_motivating_example() {
    let store = TermStore::new();
    let graph = graph(&store, &motivating("(< n 100)"));
    let automaton = forward(&store, &graph).expect("the clauses are linear");
    let node = |node| graph.node(NodeId::new(node));
    let (a, b, c) = (node(0).variables(), node(1).variables(), node(2).variables());
    let (new, x) = (node(0).next()[0], node(1).next()[1]);
    let is_positive = |term| Statement::Assume(store.normalize(store.gt(term, store.int(0))));
    let assign = |pairs: &[(Term, Term)]| Statement::Assign(pairs.into());
    let bounds = store.and2(store.gt(new, store.int(0)), store.lt(new, store.int(100)));
    assert_eq!(
        between(&automaton, "entry", "A"),
        [Statement::Havoc([new].into()), Statement::Assume(store.normalize(bounds)), assign(&[(a[0], new)])]
    );
    assert_eq!(
        between(&automaton, "A", "B"),
        [Statement::Havoc([x].into()), is_positive(x), assign(&[(b[0], a[0]), (b[1], x)])]
    );
    let difference = store.normalize(store.sub(b[0], b[1]));
    assert_eq!(
        between(&automaton, "B", "C"),
        [is_positive(difference), assign(&[(c[0], difference), (c[1], b[1])])]
    );
    let rest = store.normalize(store.add(&[c[0], store.modulo(c[0], c[1])]));
    assert_eq!(between(&automaton, "C", "A"), [assign(&[(a[0], rest)])]);
    let is_large = store.normalize(store.ge(a[0], store.int(100)));
    assert_eq!(between(&automaton, "A", "error"), [Statement::Assume(is_large)]);
    assert_eq!((automaton.cfa.locations().len(), automaton.cfa.edges().len()), (5, 5));
}

/// Figure 4.12, corrected: `C` calls `B` with its second argument, and `main` tests the query.
#[test]
fn calls_of_the_motivating_example() {
    let store = TermStore::new();
    let graph = graph(&store, &motivating("(< n 100)"));
    let automaton = procedures(&store, &graph);
    let c = graph.node(NodeId::new(2)).variables();
    let [Statement::Call(callee, arguments)] = &*between(&automaton, "C.1", "C.exit") else {
        panic!("the clause with head C has one call");
    };
    assert_eq!(automaton.cfa.procedure(*callee).name, "B");
    assert_eq!(**arguments, [store.normalize(store.add(c)), c[1]]);
    let Some(Statement::Assume(guard)) = between(&automaton, "entry", "main.1").pop() else {
        panic!("main starts with a guard");
    };
    let n = store.free_vars(&[guard])[0];
    assert_eq!(guard, store.normalize(store.ge(n, store.int(100))));
    let names: Vec<&str> = automaton.cfa.procedures().map(|(_, procedure)| procedure.name.as_str()).collect();
    assert_eq!(names, ["main", "A", "B", "C"]);
}

/// Figure 2.1 as clauses, with the test that SMT-LIB needs: a remainder of division by zero is open.
#[test]
fn an_invariant_of_a_loop_with_remainders_is_a_model() {
    let store = TermStore::new();
    let text = format!(
        "(declare-fun L (Int Int) Bool)
         (assert (forall ((a Int)) (L a (mod a 10))))
         (assert (forall ((a Int) (b Int) (r Int))
            (=> (and (L a b) (> a 100) (not (= b 0)) {}) (L (- a 1) r))))
         (assert (forall ((a Int) (b Int)) (=> (and (L a b) (<= a 100)) (< b 10))))",
        remainder("b")
    );
    let graph = graph(&store, &text);
    let automaton = forward(&store, &graph).expect("the clauses are linear");
    let b = graph.node(NodeId::new(0)).variables()[1];
    let below = store.lt(b, store.int(10));
    let between = store.and2(below, store.ge(b, store.int(0)));
    let check = |formula| {
        let model = automaton.model(&store, &graph, &at_locations(&automaton, &[formula]));
        check_graph_model(&Context::new(&store), &graph, &model)
    };
    assert_eq!(check(between), Ok(()));
    assert!(check(below).is_err(), "b = -91 gives remainders from 10 on");
}

// ---- clauses that the original rules get wrong ---------------------------------------------------------------

/// With `z := P.0; z := P.1`, the second assignment forgets the first one.
#[test]
fn a_repeated_variable_in_a_body_is_compared() {
    let text = "(declare-fun P (Int Int) Bool) (declare-fun Q (Int) Bool)
        (assert (P 0 1))
        (assert (forall ((z Int)) (=> (P z z) (Q z))))
        (assert (forall ((z Int)) (=> (Q z) false)))";
    assert_eq!(executed(text, 3), None);
    assert_eq!(executed(&text.replace("(P 0 1)", "(P 1 1)"), 3), Some(3));
}

#[test]
fn arguments_may_be_terms_in_heads_and_bodies() {
    let text = |last: u32| {
        format!(
            "(declare-fun P (Int) Bool)
             (assert (P 0))
             (assert (forall ((x Int)) (=> (and (P x) (< x 5)) (P (+ x 1)))))
             (assert (=> (P {last}) false))"
        )
    };
    assert_eq!(executed(&text(7), 9), None);
    assert_eq!(executed(&text(5), 9), Some(7), "a fact, five steps and the query");
}

/// A local keeps its value of the first step if it is not havocked, or is forgotten if it is havocked after the guard.
#[test]
fn locals_have_new_values_in_each_step() {
    let text = |sum: u32| {
        format!(
            "(declare-fun P (Int Int) Bool)
             (assert (P 0 0))
             (assert (forall ((x Int) (z Int) (c Int))
                (=> (and (P x c) (or (= z 1) (= z 2)) (< c 2)) (P (+ x z) (+ c 1)))))
             (assert (=> (P {sum} 2) false))"
        )
    };
    assert_eq!(executed(&text(3), 6), Some(4), "one step with 1 and one with 2");
    assert_eq!(executed(&text(5), 6), None);
    assert_eq!(executed(&text(1), 6), None);
}

/// Some value of the local is enough. A model that binds it by `forall` would be false, and violate the fact.
#[test]
fn locals_are_existential() {
    let store = TermStore::new();
    let graph = graph(
        &store,
        "(declare-fun P (Int) Bool)
         (assert (forall ((x Int) (z Int)) (=> (and (> z 0) (> x z) (<= x 4)) (P x))))
         (assert (forall ((x Int)) (=> (and (P x) (< x 2)) false)))",
    );
    let automaton = forward(&store, &graph).expect("the clauses are linear");
    let execution = Execution::of(&store, &automaton.cfa, 0..=4);
    assert!(execution.is_safe());
    let model = automaton.model(&store, &graph, &execution.reached());
    assert_eq!(check_graph_model(&Context::new(&store), &graph, &model), Ok(()));
    let x = graph.node(NodeId::new(0)).variables()[0];
    let reached = execution.reached()[automaton.location_of(NodeId::new(0)).index()];
    let is_reached = |value: i64| {
        let values = [(x, Value::Int(value.into()))].into_iter().collect();
        store.eval(reached, &values) == Ok(Value::Bool(true))
    };
    assert_eq!((0..=4).filter(|&value| is_reached(value)).collect::<Vec<i64>>(), [2, 3, 4]);
}

#[test]
fn predicates_may_have_no_arguments() {
    let text = "(declare-fun p () Bool) (declare-fun q () Bool)
        (assert p)
        (assert (=> p q))
        (assert (=> q false))";
    assert_eq!(executed(text, 0), Some(3));
    assert_eq!(executed(&text.replace("(assert p)", ""), 0), None);
}

#[test]
fn queries_may_have_no_predicates() {
    assert_eq!(executed("(assert (forall ((x Int)) (=> (> x 2) false)))", 3), Some(1));
    assert_eq!(executed("(assert (forall ((x Int)) (=> (and (> x 2) (< x 2)) false)))", 3), None);
    assert_eq!(executed("(assert (=> (> 1 0) false))", 0), Some(1));
    assert_eq!(executed("(assert (=> (< 1 0) false))", 0), None);
}

#[test]
fn predicates_without_clauses_and_systems_without_queries_are_safe() {
    let text = "(declare-fun P (Int) Bool) (declare-fun Q (Int) Bool)
        (assert (P 0))
        (assert (forall ((x Int)) (=> (Q x) false)))";
    assert_eq!(executed(text, 1), None);
    assert_eq!(executed("(declare-fun P (Int) Bool)(assert (P 0))", 1), None);
    assert_eq!(executed("", 1), None);
}

/// The thesis has one query for each automaton.
#[test]
fn all_queries_are_tried() {
    let text = "(declare-fun P (Int) Bool)
        (assert (P 1))
        (assert (forall ((x Int)) (=> (and (P x) (> x 1)) false)))
        (assert (forall ((x Int)) (=> (and (P x) (< x 2)) false)))";
    assert_eq!(executed(text, 3), Some(2));
}

/// The arguments of the head are the values of the source of a backward edge. Without them each demand would be met.
#[test]
fn backward_edges_bind_the_arguments_of_the_head() {
    let text = |bound: &str, fact: u32| {
        format!(
            "(declare-fun P (Int) Bool)
             (assert (P {fact}))
             (assert (forall ((x Int) (y Int)) (=> (and (P x) (= y (+ x 1)) {bound}) (P y))))
             (assert (forall ((x Int)) (=> (and (P x) (= x 10)) false)))"
        )
    };
    assert_eq!(executed(&text("(< x 3)", 0), 12), None);
    assert_eq!(executed(&text("true", 0), 12), Some(12));
    assert_eq!(executed(&text("true", 20), 30), None, "the demands 10, 9, 8, ... meet no fact");
}

// ---- nonlinear clauses ---------------------------------------------------------------------------------------

const TWO_FACTS: &str = "(declare-fun A (Int) Bool) (declare-fun B (Int) Bool)
    (assert (A 0))
    (assert (B 1))
    (assert (forall ((x Int) (y Int)) (=> (and (A x) (B y) (= x y)) false)))";

/// The negation of the demanded values is no model: procedures of a safe program may return.
#[test]
fn models_of_procedures_need_their_exits() {
    assert_eq!(executed(TWO_FACTS, 3), None);
    let store = TermStore::new();
    let graph = graph(&store, TWO_FACTS);
    let automaton = procedures(&store, &graph);
    let variable = |node| graph.node(NodeId::new(node)).variables()[0];
    let (x, y) = (variable(0), variable(1));
    let (is_zero, is_one) = (store.eq(x, store.int(0)), store.eq(y, store.int(1)));
    let check = |of_a: Vec<(Term, Term)>, of_b: Vec<(Term, Term)>| {
        let model = automaton.model_of_contexts(&store, &graph, &[Vec::new(), of_a, of_b]);
        check_graph_model(&Context::new(&store), &graph, &model)
    };
    assert_eq!(check(vec![(Term::TRUE, is_zero)], vec![(Term::TRUE, is_one)]), Ok(()));
    // After `A` has returned, `B` is called with zero only, and does not return.
    let zero = store.eq(y, store.int(0));
    assert_eq!(check(vec![(Term::TRUE, is_zero)], vec![(zero, Term::FALSE)]), Ok(()));
    assert!(check(vec![(Term::TRUE, Term::FALSE)], vec![]).is_err(), "the demanded values of A, negated");
}

#[test]
fn a_derivation_shares_facts_that_a_run_derives_again() {
    let text = "(declare-fun A (Int) Bool)
        (assert (A 0))
        (assert (forall ((x Int) (y Int) (z Int)) (=> (and (A x) (A y) (= z (+ x y 1))) (A z))))
        (assert (forall ((x Int)) (=> (and (A x) (= x 3)) false)))";
    let steps = executed(text, 4).expect("0, 0 give 1 and 1, 1 give 3");
    assert!((4..=5).contains(&steps), "{steps} steps");
    let even = text.replace("y 1)", "y 2)");
    assert_eq!(executed(&even, 4), None);
}

#[test]
fn nonlinear_clauses_have_procedures_only() {
    let store = TermStore::new();
    let graph = graph(&store, TWO_FACTS);
    for (automaton, name) in [(forward(&store, &graph), "forward"), (backward(&store, &graph), "backward")] {
        let Err(Stop::Unsupported(what)) = automaton else { panic!("a body has two predicates") };
        assert!(what.starts_with(name) && what.contains("clause 3") && what.contains("procedures"), "{what}");
    }
    assert_eq!(procedures(&store, &graph).direction(), Direction::Procedures);
}

// ---- automata for people -------------------------------------------------------------------------------------

fn text(clauses: &str, make: impl Fn(&TermStore, &HornGraph) -> Automaton, notation: Notation) -> String {
    let store = TermStore::new();
    let system = parse(&store, "test", clauses.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let graph = HornGraph::of(&store, &system);
    make(&store, &graph).readable(&store, &graph, &system).to_text(&store, notation)
}

#[test]
fn locations_share_variables_by_name() {
    let make = |store: &TermStore, graph: &HornGraph| forward(store, graph).expect("the clauses are linear");
    let expected = "procedure main()
  entry
    to A
      havoc n: Int
      assume n >= 1 and n <= 99
  A(n: Int)
    to B
      havoc x: Int
      assume x >= 1
    to error
      assume n >= 100
  B(n: Int, x: Int)
    to C
      assume n > x
      y := n - x
  C(y: Int, x: Int)
    to A
      n := y + y mod x
  error
";
    assert_eq!(text(&motivating("(< n 100)"), make, Notation::Ascii), expected);
}

#[test]
fn procedures_have_paths_with_calls() {
    let clauses = "(declare-fun sum (Int Int) Bool)
        (assert (forall ((n Int)) (=> (<= n 0) (sum n 0))))
        (assert (forall ((n Int) (r Int) (s Int)) (=> (and (sum n r) (sum r s) (> s 0)) (sum (+ n 1) s))))
        (assert (forall ((n Int) (r Int)) (=> (and (sum n r) (< r n)) false)))";
    let expected = "procedure main()
  entry
    to main.1
      havoc n: Int, s: Int
      assume n > s
  main.1(n: Int, s: Int)
    to error
      call sum(n, s)
  error

procedure sum(n: Int, s: Int)
  sum.entry(n: Int, s: Int)
    to sum.exit
      assume n <= 0 and s = 0
    to sum.1
      havoc s_1: Int
      assume s >= 1
  sum.1(n: Int, s: Int, s_1: Int)
    to sum.2
      call sum(n - 1, s_1)
  sum.2(n: Int, s: Int, s_1: Int)
    to sum.exit
      call sum(s_1, s)
  sum.exit(n: Int, s: Int)
";
    assert_eq!(text(clauses, procedures, Notation::Ascii), expected);
}

#[test]
fn assignments_in_a_cycle_stay_simultaneous() {
    let clauses = "(declare-fun P (Int Int Int) Bool)
        (assert (forall ((x Int) (y Int) (z Int)) (=> (P x y z) (P y x (+ y 1)))))
        (assert (forall ((x Int) (y Int) (z Int) (w Int)) (=> (and (P x y z) (< x w z)) (P x w (* 2 w)))))
        (assert (forall ((x Int) (y Int) (z Int)) (not (P x y z))))";
    let make = |store: &TermStore, graph: &HornGraph| forward(store, graph).expect("the clauses are linear");
    let expected = "procedure main()
  entry
  P(x: Int, y: Int, z: Int)
    to P
      z := (+ y 1)
      x, y := y, x
    to P
      havoc y: Int
      assume (and (< x y) (< y z))
      z := (* 2 y)
    to error
  error
";
    assert_eq!(text(clauses, make, Notation::Smtlib), expected);
}

#[test]
fn drawings_have_a_frame_for_each_procedure() {
    let store = TermStore::new();
    let system = parse(&store, "test", TWO_FACTS.as_bytes()).expect("the clauses are right");
    let graph = HornGraph::of(&store, &system);
    let automaton = procedures(&store, &graph).readable(&store, &graph, &system);
    let mut out = Vec::new();
    automaton.write_dot(&store, Notation::Math, &mut out).expect("memory suffices");
    let drawing = String::from_utf8(out).expect("it is text");
    for line in [
        "digraph automaton {",
        "l0 [label=\"entry\", shape=circle];",
        "l1 [label=\"error\", shape=doublecircle];",
        "subgraph cluster_1 {",
        "l3 [label=\"A.exit(x)\", peripheries=2];",
        "l2 -> l3 [label=\"assume x = 0\\l\"];",
    ] {
        assert!(drawing.lines().any(|found| found.trim() == line), "{line} is not in {drawing}");
    }
}

// ---- random systems ------------------------------------------------------------------------------------------

/// Executes all automata of a random system, and checks the answers and the witnesses. Returns whether it is safe.
fn execution_agrees(seed: u64, shape: &Shape) -> bool {
    let mut random = Random::new(seed);
    let text = systems::system(&mut random, shape);
    let store = TermStore::new();
    let system =
        parse(&store, "random", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let graph = HornGraph::of(&store, &system);
    let context = Context::new(&store);
    let is_safe = Saturation::of(&store, &graph, 0..=shape.greatest).is_safe();
    for automaton in automata(&store, &graph) {
        let fail = |what: &str, why: &dyn std::fmt::Debug| -> ! {
            panic!("seed {seed} of {shape:?}, {:?}: {what}: {why:?}\n{text}", automaton.direction());
        };
        if let Err(violated) = automaton.cfa.check_invariants(&store) {
            fail("the invariants", &violated);
        }
        let execution = Execution::of(&store, &automaton.cfa, 0..=shape.greatest);
        if execution.is_safe() != is_safe {
            fail("the automaton has another answer", &!is_safe);
        }
        readable_agrees(&store, &graph, &system, &automaton, &execution, shape);
        let checked = match execution.run() {
            Some(run) => automaton
                .derivation(&context, &graph, &run)
                .and_then(|derivation| check_derivation(&context, &graph, &derivation)),
            None => {
                let model = match automaton.direction() {
                    Direction::Procedures => {
                        let mut contexts = execution.contexts();
                        if random.one_in(2) {
                            contexts = contexts.iter().map(|all| joined(&store, all)).collect();
                        }
                        automaton.model_of_contexts(&store, &graph, &contexts)
                    }
                    _ => automaton.model(&store, &graph, &execution.reached()),
                };
                check_graph_model(&context, &graph, &model)
            }
        };
        if let Err(error) = checked {
            fail("the witness", &error);
        }
    }
    is_safe
}

/// The automaton for people reaches the same states.
fn readable_agrees(
    store: &TermStore,
    graph: &HornGraph,
    system: &HornSystem,
    automaton: &Automaton,
    execution: &Execution<'_>,
    shape: &Shape,
) {
    let readable = automaton.readable(store, graph, system);
    let text = readable.to_text(store, Notation::Math);
    assert!(!text.contains('!'), "an internal name:\n{text}");
    let again = Execution::of(store, &readable, 0..=shape.greatest);
    assert_eq!(execution.is_safe(), again.is_safe(), "{text}");
    if execution.is_safe() {
        let locations = automaton.cfa.locations().zip(readable.locations());
        let reached = execution.reached().into_iter().zip(again.reached());
        for (((_, location), (_, named)), (expected, found)) in locations.zip(reached) {
            let found = rename(store, found, &named.variables, &location.variables);
            assert_eq!(store.normalize(expected), found, "at {} of\n{text}", location.name);
        }
    }
}

/// One context for all.
fn joined(store: &TermStore, contexts: &[(Term, Term)]) -> Vec<(Term, Term)> {
    let (entries, exits): (Vec<Term>, Vec<Term>) = contexts.iter().copied().unzip();
    vec![(store.or(&entries), store.or(&exits))]
}

#[test]
fn automata_of_linear_systems_have_their_answers_and_witnesses() {
    let safe = numbers(400).filter(|&seed| execution_agrees(seed, &Shape::LINEAR)).count();
    assert!(safe > 0);
}

#[test]
fn automata_of_nonlinear_systems_have_their_answers_and_witnesses() {
    let safe = numbers(400).filter(|&seed| execution_agrees(seed, &Shape::NONLINEAR)).count();
    assert!(safe > 0);
}

/// `A(3)` calls `A(1)`, which calls `A(0)`: three activations.
#[test]
fn unfoldings_have_the_runs_of_stacks_up_to_their_height() {
    let store = TermStore::new();
    let graph = graph(
        &store,
        "(declare-fun A (Int) Bool)(assert (A 0))
         (assert (forall ((x Int) (y Int) (z Int)) (=> (and (A x) (A y) (= z (+ x y 1))) (A z))))
         (assert (forall ((x Int)) (=> (and (A x) (= x 3)) false)))",
    );
    let (context, automaton) = (Context::new(&store), procedures(&store, &graph));
    for height in 0..=3 {
        for too_deep in [TooDeep::Block, TooDeep::Error] {
            let unfolding = unfold(&context, &automaton, height, too_deep).expect("there is no limit");
            unfolding.cfa.check_invariants(&store).expect("the invariants hold");
            assert!(!unfolding.is_complete, "the recursion has no end");
            let run = Execution::of(&store, &unfolding.cfa, 0..=3).run();
            assert_eq!(run.is_some(), height == 3 || too_deep == TooDeep::Error);
            if let (Some(run), TooDeep::Block) = (run, too_deep) {
                let run = unfolding.fold(&run).expect("the values are known");
                let derivation = automaton.derivation(&context, &graph, &run).expect("the run is one");
                check_derivation(&context, &graph, &derivation).expect("the derivation is right");
            }
        }
    }
}
