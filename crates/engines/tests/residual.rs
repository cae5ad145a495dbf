//! Residual systems: their clauses, and the ways back of models and derivations.

mod common;

use std::time::Duration;

use common::{Counters, LONG, read, solve};
use shofar_engines::regular::Options;
use shofar_engines::residual::{AbstractStep, MOST_CASES, Residual};
use shofar_engines::{Engine, Evidence, FrameLemmas, Regular, Run, Spacer};
use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::graph::{EdgeId, NodeId, rename};
use shofar_horn::{Context, HornGraph};
use shofar_logic::{Sort, Term, TermStore};
use shofar_run::Stop;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::datatype_systems::{self, Family};
use shofar_testing::explicit::Saturation;
use shofar_testing::{Random, scale};

/// Example 10 of Kostyukov's thesis.
const FORK_JOIN: &str = "(declare-datatypes ((Prog 0)) (((Seq) (Fork (f Prog)) (Join (j Prog)))))
    (declare-fun ok (Prog) Bool)
    (declare-fun tr (Prog Prog) Bool)
    (assert (ok Seq))
    (assert (forall ((p Prog)) (=> (ok p) (ok (Fork (Join p))))))
    (assert (forall ((r Prog)) (tr Seq (Fork r))))
    (assert (forall ((p Prog)) (tr p (Join Seq))))
    (assert (forall ((p Prog) (t Prog)) (=> (tr p t) (tr (Fork (Join p)) (Fork (Join t))))))
    (assert (forall ((p Prog)) (=> (and (ok p) (tr p p)) false)))";

/// Example 12, with the equation that its text has lost.
const REST: &str = "(declare-datatypes ((Prog 0)) (((Seq) (Fork (f Prog)) (Join (j Prog)))))
    (declare-fun ok (Prog) Bool)
    (declare-fun tr (Prog Prog) Bool)
    (assert (ok (Fork (Join Seq))))
    (assert (forall ((p Prog)) (=> (ok p) (ok (Fork (Join p))))))
    (assert (tr (Fork (Join (Join Seq))) (Fork (Join (Join Seq)))))
    (assert (forall ((p Prog)) (=> (tr p p) (tr (Fork (Join p)) (Fork (Join p))))))
    (assert (=> (tr Seq Seq) false))
    (assert (=> (ok (Join Seq)) false))
    (assert (forall ((p Prog)) (=> (and (ok p) (tr p p)) false)))";

/// One lemma for each predicate, written as the label of a clause about it, in the order of the predicates.
fn lemmas(store: &TermStore, graph: &HornGraph, declarations: &str, texts: &[&str]) -> Vec<FrameLemmas> {
    let of = |((_, node), text): ((NodeId, &shofar_horn::graph::Node), &&str)| {
        let sorts = node.sorts(store);
        let names: Vec<String> = (0..sorts.len()).map(|number| format!("x{number}")).collect();
        let variables: Vec<String> = names
            .iter()
            .zip(&sorts)
            .map(|(name, &sort)| format!("({name} {})", store.display_sort(sort)))
            .collect();
        let (variables, names) = (variables.join(" "), names.join(" "));
        let domain: Vec<String> = sorts.iter().map(|&sort| store.display_sort(sort).to_string()).collect();
        let text = format!(
            "{declarations}(declare-fun Lemma ({}) Bool)
             (assert (forall ({variables}) (=> (and (Lemma {names}) {text}) false)))",
            domain.join(" ")
        );
        let about = read(store, &text);
        let (edge, predicate) = (EdgeId::new(0), NodeId::new(0));
        let lemma =
            rename(store, about.edge(edge).label(), about.node(predicate).variables(), node.variables());
        FrameLemmas { proved: vec![], bounded: vec![lemma] }
    };
    graph.nodes().zip(texts).map(of).collect()
}

/// The systems of this file declare their datatypes in the first line.
fn first_line(text: &str) -> &str {
    text.lines().next().expect("a system has declarations")
}

/// The candidate of example 12.
fn candidate(store: &TermStore, graph: &HornGraph) -> Vec<FrameLemmas> {
    let datatypes = first_line(FORK_JOIN);
    lemmas(store, graph, datatypes, &["(= x0 Seq)", "(or (not (= x0 x1)) (= x1 (Join Seq)))"])
}

/// A graph of its own store has its own sorts, so both are read into the same one.
fn graphs(store: &TermStore) -> (HornGraph, HornGraph) {
    (read(store, FORK_JOIN), read(store, REST))
}

/// Whether two labels without local variables mean the same.
fn is_equivalent(store: &TermStore, a: Term, b: Term) -> bool {
    let mut solver = Solver::new(store);
    solver.assert(store.not(store.iff(a, b))).expect("datatypes are supported");
    solver.check(&[], &Run::new(store).limits) == Ok(Outcome::Unsat)
}

/// The label of an edge over the variables of the nodes with the same names in another graph.
fn label_in(store: &TermStore, graph: &HornGraph, edge: EdgeId, other: &HornGraph) -> Term {
    let mut label = graph.edge(edge).label();
    for (_, node) in graph.nodes() {
        let (_, twin) =
            other.nodes().find(|(_, twin)| twin.name == node.name).expect("the predicates have these names");
        label = rename(store, label, node.variables(), twin.variables());
        label = rename(store, label, node.next(), twin.next());
    }
    label
}

#[test]
fn the_residual_of_example_12_has_exactly_its_clauses() {
    let store = TermStore::new();
    let (graph, expected) = graphs(&store);
    let residual = Residual::new(&Context::new(&store), &graph, &candidate(&store, &graph)).unwrap();
    let found = &residual.graph;
    assert!(!residual.has_definitions());
    assert_eq!(found.edges().len(), expected.edges().len());
    let mut open: Vec<EdgeId> = expected.edges().map(|(id, _)| id).collect();
    for (id, edge) in found.edges() {
        assert_eq!(found.locals(&store, id), []);
        let names = |graph: &HornGraph, id: EdgeId| {
            let edge = graph.edge(id);
            let name = |&node: &NodeId| graph.node(node).name;
            (edge.sources().iter().map(name).collect::<Vec<_>>(), edge.target().as_ref().map(name))
        };
        let label = label_in(&store, found, id, &expected);
        let twin = open.iter().position(|&other| {
            names(found, id) == names(&expected, other)
                && is_equivalent(&store, label, expected.edge(other).label())
        });
        let twin = twin.unwrap_or_else(|| panic!("{}", store.display(edge.label())));
        open.remove(twin);
    }
}

#[test]
fn two_states_solve_the_residual_and_weaken_the_candidate_to_a_model() {
    let store = TermStore::new();
    let graph = read(&store, FORK_JOIN);
    let residual = Residual::new(&Context::new(&store), &graph, &candidate(&store, &graph)).unwrap();
    let counters = Counters::default();
    let run = Run::new(&store).with_timeout(LONG).with_events(&counters);
    let Ok(Evidence::Sat(model)) = solve(&Regular::default(), &residual.graph, &run) else {
        panic!("it has a model")
    };
    assert_eq!(counters.get("states"), 2);
    let model = residual.model_back(&store, &graph, &model).unwrap();
    assert_eq!(check_graph_model(&Context::new(&store), &graph, &model), Ok(()));
}

/// Automata know no equality: behind a predicate, `p != p` holds for a state.
#[test]
fn a_disequality_behind_a_predicate_has_no_regular_model() {
    let store = TermStore::new();
    let hidden = "(declare-datatypes ((Prog 0)) (((Seq) (Fork (f Prog)) (Join (j Prog)))))
        (declare-fun ok (Prog) Bool)
        (declare-fun tr (Prog Prog) Bool)
        (declare-fun D (Prog Prog) Bool)
        (assert (ok Seq))
        (assert (forall ((p Prog)) (=> (ok p) (ok (Fork (Join p))))))
        (assert (tr (Fork (Join (Join Seq))) (Fork (Join (Join Seq)))))
        (assert (forall ((p Prog)) (=> (tr p p) (tr (Fork (Join p)) (Fork (Join p))))))
        (assert (forall ((p Prog) (t Prog)) (=> (not (= p t)) (D p t))))
        (assert (forall ((p Prog)) (D p (Join Seq))))
        (assert (forall ((p Prog) (t Prog)) (=> (tr p t) (D p t))))
        (assert (forall ((p Prog)) (=> (and (ok p) (D p p)) false)))";
    let run = Run::new(&store).with_timeout(LONG);
    let engine = Regular { options: Options::default().states(4) };
    let answer = solve(&engine, &read(&store, hidden), &run);
    assert!(matches!(answer, Err(Stop::Exhausted(_))), "{answer:?}");
    assert!(solve(&engine, &read(&store, REST), &run).is_ok());
}

/// Bits that rotate, and one lemma for each bit: the cases of a body are all subsets.
#[test]
fn a_clause_with_too_many_cases_gets_definitions() {
    for (bits, has_definitions) in [(6, false), (10, true)] {
        // The head says what one bit is.
        assert_eq!(1_usize << (bits - 1) > MOST_CASES, has_definitions);
        let names: Vec<String> = (0..bits).map(|number| format!("b{number}")).collect();
        let mut rotated = names.clone();
        rotated.rotate_left(1);
        let (arguments, rotated) = (names.join(" "), rotated.join(" "));
        let variables = format!("({} Bool)", arguments.replace(' ', " Bool) ("));
        let text = format!(
            "(declare-fun P ({}) Bool)
             (assert (P true{}))
             (assert (forall ({variables}) (=> (P {arguments}) (P {rotated}))))
             (assert (forall ({variables}) (=> (and (P {arguments}) b0 b1) false)))",
            "Bool ".repeat(bits),
            " false".repeat(bits - 1),
        );
        let store = TermStore::new();
        let graph = read(&store, &text);
        let bounded = graph.node(NodeId::new(0)).variables().iter().map(|&bit| store.not(bit)).collect();
        let context = Context::new(&store);
        let residual = Residual::new(&context, &graph, &[FrameLemmas { proved: vec![], bounded }]).unwrap();
        assert_eq!(residual.has_definitions(), has_definitions);
        let run = Run::new(&store).with_timeout(LONG);
        let Ok(Evidence::Sat(model)) = solve(&Spacer::default(), &residual.graph, &run) else {
            panic!("it has a model")
        };
        let model = residual.model_back(&store, &graph, &model).unwrap();
        assert_eq!(check_graph_model(&context, &graph, &model), Ok(()));
    }
}

const COUNTER: &str = "(declare-fun P (Int) Bool)(declare-fun Q (Int Int) Bool)
    (assert (P 0))
    (assert (forall ((x Int)) (=> (P x) (P (+ x 2)))))
    (assert (forall ((x Int) (y Int)) (=> (and (P x) (P y) (< x y)) (Q x y))))
    (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (= (+ x y) BAD)) false)))";

/// Facts that satisfy the candidate are assumed; all others have steps by original clauses.
#[test]
fn derivations_of_the_residual_become_abstract_counterexamples() {
    let abstract_of = |bad: &str, p: &str, q: &str| {
        let store = TermStore::new();
        let graph = read(&store, &COUNTER.replace("BAD", bad));
        let candidate = lemmas(&store, &graph, "", &[p, q]);
        let context = Context::new(&store);
        let residual = Residual::new(&context, &graph, &candidate).unwrap();
        let run = Run::new(&store).with_timeout(LONG);
        let Ok(Evidence::Unsat(derivation)) = solve(&Spacer::default(), &residual.graph, &run) else {
            panic!("the residual is unsatisfiable")
        };
        let counterexample = residual.recover(&context, &graph, &derivation).unwrap();
        // Each step is an instance of its clause, and what is assumed satisfies the lemma.
        for step in &counterexample.steps {
            match step {
                AbstractStep::Assumed { node, fact } => {
                    let variables = graph.node(*node).variables();
                    let given = variables.iter().copied().zip(fact.iter().cloned());
                    let lemma = candidate[node.index()].bounded[0];
                    let holds = store.eval(lemma, &given.collect());
                    assert_eq!(holds, Ok(shofar_logic::Value::Bool(true)));
                }
                AbstractStep::Derived(step) => {
                    assert_eq!(step.premises.len(), graph.edge(step.edge).sources().len());
                }
            }
        }
        let assumed = counterexample.steps.iter().filter(|step| matches!(step, AbstractStep::Assumed { .. }));
        let assumed = assumed.count();
        let derivation = counterexample.derivation(&context, &graph).unwrap();
        if let Some(derivation) = &derivation {
            assert_eq!(check_derivation(&context, &graph, derivation), Ok(()));
        }
        (assumed, derivation.is_some())
    };
    // Nothing is assumed of P, so all steps are real: P(0), P(2), P(4), Q(2, 4).
    assert_eq!(abstract_of("6", "false", "(not (= (+ x0 x1) 6))"), (0, true));
    // P(0) is assumed, and a clause derives it.
    assert_eq!(abstract_of("2", "(= x0 0)", "false"), (1, true));
    // The lemma allows odd numbers, which no clause derives.
    let (assumed, is_real) = abstract_of("7", "(<= x0 9)", "false");
    assert!(assumed > 0 && !is_real);
}

/// A random formula over the variables of a predicate: a literal or two of equations, testers and bounds.
fn random_lemma(store: &TermStore, random: &mut Random, variables: &[Term]) -> Term {
    let mut literals = Vec::new();
    for _ in 0..=random.below(2) {
        let &variable = random.choose(variables);
        let sort = store.sort_of(variable);
        let twins: Vec<Term> = variables
            .iter()
            .copied()
            .filter(|&other| other != variable && store.sort_of(other) == sort)
            .collect();
        let literal = if sort == Sort::BOOL {
            variable
        } else if !twins.is_empty() && random.below(2) == 0 {
            store.eq(variable, *random.choose(&twins))
        } else if let Some(datatype) = store.datatype(sort) {
            store.tester(*random.choose(datatype.constructors()), variable)
        } else if sort == Sort::INT {
            store.le(variable, store.int(i64::try_from(random.below(4)).expect("it is small")))
        } else {
            Term::TRUE
        };
        literals.push(store.signed(literal, random.below(2) == 0));
    }
    store.or(&literals)
}

/// Whatever the candidate is, models of the residual system come back as models, and real derivations as derivations.
#[test]
fn random_candidates_never_change_an_answer() {
    let (mut models, mut counterexamples, mut derivations) = (0, 0, 0);
    for family in [Family::Sums, Family::Lists, Family::Enumerations, Family::Numbers] {
        for seed in 0..12 * scale() {
            let store = TermStore::new();
            let mut random = Random::new(7000 + seed);
            let text = datatype_systems::system(&mut random, family);
            let graph = read(&store, &text);
            let mut candidate = Vec::new();
            for (_, node) in graph.nodes() {
                let mut bounded = vec![];
                for _ in 0..random.below(3) {
                    if node.arity() > 0 {
                        bounded.push(random_lemma(&store, &mut random, node.variables()));
                    }
                }
                if bounded.is_empty() && random.below(3) > 0 {
                    bounded.push(Term::FALSE);
                }
                candidate.push(FrameLemmas { proved: vec![], bounded });
            }
            let context = Context::new(&store);
            let residual = Residual::new(&context, &graph, &candidate).unwrap();
            let run = Run::new(&store).with_timeout(Duration::from_millis(300));
            let is_safe = || Saturation::of(&store, &graph, 0..=datatype_systems::GREATEST).is_safe();
            match Spacer::default().solve(&residual.graph, &run) {
                Ok(Evidence::Sat(model)) => {
                    let model = residual.model_back(&store, &graph, &model).unwrap();
                    assert_eq!(
                        check_graph_model(&context, &graph, &model),
                        Ok(()),
                        "{family:?} {seed}\n{text}"
                    );
                    assert!(is_safe(), "{family:?}, seed {seed}\n{text}");
                    models += 1;
                }
                Ok(Evidence::Unsat(derivation)) => {
                    let found = residual.recover(&context, &graph, &derivation);
                    let found =
                        found.unwrap_or_else(|stop| panic!("{family:?}, seed {seed}: {stop}\n{text}"));
                    counterexamples += 1;
                    if let Some(derivation) = found.derivation(&context, &graph).unwrap() {
                        let checked = check_derivation(&context, &graph, &derivation);
                        assert_eq!(checked, Ok(()), "{family:?} {seed}\n{text}");
                        assert!(!is_safe(), "{family:?}, seed {seed}\n{text}");
                        derivations += 1;
                    }
                }
                Ok(Evidence::Induction(_) | Evidence::Saturation(_)) | Err(_) => {}
            }
        }
    }
    assert!(models > 5 && counterexamples > 5 && derivations > 2, "{models} {counterexamples} {derivations}");
}
