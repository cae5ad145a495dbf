//! Engines that receive facts of others: what they may assume, and what they must prove.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{Counters, read};
use shofar_engines::pdkind::Options;
use shofar_engines::{
    Engine, Event, EventSink, Evidence, Fact, FactId, Fate, InterpolationMethod, PdKind, Port, Run, by_name,
    set_option,
};
use shofar_horn::HornGraph;
use shofar_horn::check::check_graph_model;
use shofar_horn::graph::NodeId;
use shofar_horn::transform::Lemma;
use shofar_horn::witness::GraphModel;
use shofar_logic::{Term, TermStore};
use shofar_run::{Reason, Stop};

/// Gives an engine facts, and keeps what it sends.
#[derive(Default)]
struct Mailbox {
    outgoing: Mutex<Vec<Fact>>,
    incoming: Mutex<Vec<Fact>>,
    fates: Mutex<Vec<(FactId, Fate)>>,
}

impl Port for Mailbox {
    fn send(&self, fact: Fact) {
        self.outgoing.lock().expect("no one panics with the lock").push(fact);
    }

    fn receive(&self) -> Vec<(FactId, Fact)> {
        let facts = std::mem::take(&mut *self.incoming.lock().expect("no one panics with the lock"));
        (0..).map(FactId).zip(facts).collect()
    }

    fn rate(&self, fact: FactId, fate: Fate) {
        self.fates.lock().expect("no one panics with the lock").push((fact, fate));
    }
}

/// The answer of an engine that is given facts, what it sends, and what became of the facts.
fn solve(
    store: &TermStore,
    graph: &HornGraph,
    engine: &dyn Engine,
    facts: Vec<Fact>,
    events: &dyn EventSink,
) -> (Evidence, Vec<Fact>, Vec<(FactId, Fate)>) {
    let mailbox = Mailbox { incoming: Mutex::new(facts), ..Mailbox::default() };
    let run = Run::new(store).with_timeout(Duration::from_secs(60)).with_events(events).with_port(&mailbox);
    let answer = engine.solve(graph, &run);
    let answer = answer.unwrap_or_else(|stop| panic!("{}: {stop}", engine.name()));
    let Mailbox { outgoing, fates, .. } = mailbox;
    let sent = outgoing.into_inner().expect("no one panics with the lock");
    (answer, sent, fates.into_inner().expect("no one panics with the lock"))
}

fn ignore(_: Event) {}

/// `x` grows by `y`, which grows by one: `x` stays non-negative because `y` does.
const SUMS: &str = "(declare-fun P (Int Int) Bool)
    (assert (P 0 0))
    (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x y) (+ y 1)))))
    (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 0)) false)))";

/// The formula that an argument of the only predicate is not negative.
fn not_negative(store: &TermStore, graph: &HornGraph, argument: usize) -> Term {
    store.ge(graph.node(NodeId::new(0)).variables()[argument], store.int(0))
}

fn about_p(formula: Term) -> Lemma {
    Lemma { node: NodeId::new(0), formula }
}

/// Whether a model is right, together with a formula.
fn is_model(store: &TermStore, graph: &HornGraph, model: &GraphModel, closed: Term) -> bool {
    let formula = model.formula(NodeId::new(0)).expect("models are formulas");
    let model = GraphModel::of_formulas([store.and2(formula, closed)]);
    check_graph_model(&Run::new(store).context(), graph, &model).is_ok()
}

/// That `x` is not negative is true, but not inductive. An engine that is told so must not build on it.
#[test]
fn a_true_fact_costs_no_answer() {
    for name in ["spacer", "pdkind", "imc"] {
        let store = TermStore::new();
        let graph = read(&store, SUMS);
        let engine = by_name(name).expect("the engine exists");
        let lemma = about_p(not_negative(&store, &graph, 0));
        let fact = Fact::Bounded { lemma, height: 1000, cex: None };
        let (answer, _, fates) = solve(&store, &graph, &*engine, vec![fact], &ignore);
        let Evidence::Sat(model) = answer else { panic!("{name}: {answer:?}") };
        assert!(is_model(&store, &graph, &model, Term::TRUE), "{name}");
        let is_assumed = name != "spacer" && fates.contains(&(FactId(0), Fate::Accepted));
        assert!(!is_assumed, "{name}");
    }
}

/// The same without the rule: if the fact is called closed, which it is not, Spacer builds on it, and its model is refused. So the
/// test above fails if a bounded fact is assumed without a proof.
#[test]
fn a_fact_that_is_not_closed_must_not_be_assumed() {
    let store = TermStore::new();
    let graph = read(&store, SUMS);
    let lie = not_negative(&store, &graph, 0);
    let engine = by_name("spacer").expect("the engine exists");
    let (answer, ..) = solve(&store, &graph, &*engine, vec![Fact::Closed(vec![about_p(lie)])], &ignore);
    let Evidence::Sat(model) = answer else { panic!("{answer:?}") };
    assert!(!is_model(&store, &graph, &model, lie));
}

/// That `y` is not negative is inductive. With it, the rest is inductive too, so engines need not search.
#[test]
fn closed_sets_are_assumed_and_belong_to_the_model() {
    for name in ["spacer", "pdkind", "kind", "imc", "lawi", "split-tpa", "cegar", "kavy", "trl"] {
        let store = TermStore::new();
        let graph = read(&store, SUMS);
        let engine = by_name(name).expect("the engine exists");
        let closed = not_negative(&store, &graph, 1);
        let counters = Counters::default();
        let facts = vec![Fact::Closed(vec![about_p(closed)])];
        let (answer, _, fates) = solve(&store, &graph, &*engine, facts, &counters);
        let Evidence::Sat(model) = answer else { panic!("{name}: {answer:?}") };
        assert!(is_model(&store, &graph, &model, closed), "{name}");
        assert_eq!(fates.first(), Some(&(FactId(0), Fate::Accepted)), "{name}");
        if name == "kind" {
            // Without it, no number of steps suffices.
            assert!(!is_model(&store, &graph, &model, Term::TRUE));
            assert_eq!(counters.get("depth"), 1);
        }
    }
}

/// A port that brings facts only when an engine asks again, in the midst of its search.
#[derive(Default)]
struct Late {
    is_asked: AtomicBool,
    mailbox: Mailbox,
}

impl Port for Late {
    fn send(&self, fact: Fact) {
        self.mailbox.send(fact);
    }

    fn receive(&self) -> Vec<(FactId, Fact)> {
        if self.is_asked.swap(true, Ordering::Relaxed) { self.mailbox.receive() } else { Vec::new() }
    }

    fn rate(&self, fact: FactId, fate: Fate) {
        self.mailbox.rate(fact, fate);
    }
}

/// Labels and precisions take facts that come late: closed sets are parts of labels, and any lemma is worth tracking.
#[test]
fn facts_help_in_the_midst_of_a_search() {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Closed,
        Bounded,
        Atom,
    }
    let cases =
        [("lawi", Kind::Closed), ("cegar", Kind::Closed), ("cegar", Kind::Bounded), ("cegar", Kind::Atom)];
    for (name, kind) in cases {
        let store = TermStore::new();
        let graph = read(&store, SUMS);
        let lemma = about_p(not_negative(&store, &graph, 1));
        let fact = match kind {
            Kind::Closed => Fact::Closed(vec![lemma]),
            Kind::Bounded => Fact::Bounded { lemma, height: 3, cex: None },
            Kind::Atom => Fact::Atom(lemma),
        };
        let port = Late::default();
        port.mailbox.incoming.lock().expect("no one panics with the lock").push(fact);
        let counters = Counters::default();
        let run =
            Run::new(&store).with_timeout(Duration::from_secs(60)).with_events(&counters).with_port(&port);
        let answer = by_name(name).expect("the engine exists").solve(&graph, &run);
        let Ok(Evidence::Sat(model)) = answer else { panic!("{name}: {answer:?}") };
        // The formula is a part of labels that were proved, so the model needs no other one.
        assert!(is_model(&store, &graph, &model, Term::TRUE), "{name}");
        assert_eq!(counters.get("learnt"), 1, "{name}");
        let fates = port.mailbox.fates.into_inner().expect("no one panics with the lock");
        assert_eq!(fates.first(), Some(&(FactId(0), Fate::Accepted)), "{name}");
        assert_eq!(fates.contains(&(FactId(0), Fate::Useful)), name == "cegar", "{name}");
    }
}

/// False bounds do not hide a counterexample from an engine that must prove them.
#[test]
fn a_wrong_fact_hides_no_counterexample() {
    let text = "(declare-fun P (Int) Bool) (assert (P 0))
        (assert (forall ((x Int)) (=> (P x) (P (+ x 1))))) (assert (forall ((x Int)) (=> (and (P x) (= x 10)) false)))";
    let store = TermStore::new();
    let graph = read(&store, text);
    let x = graph.node(NodeId::new(0)).variables()[0];
    let bounds = [store.le(x, store.int(5)), store.ge(x, store.int(1)), store.le(x, store.int(-1))];
    let lies: Vec<Fact> =
        bounds.map(|lie| Fact::Bounded { lemma: about_p(lie), height: 100, cex: None }).into();
    for remember in ["no", "yes"] {
        let mut engine = by_name("spacer").expect("the engine exists");
        set_option(&mut *engine, "remember", remember).expect("the option exists");
        let (answer, _, fates) = solve(&store, &graph, &*engine, lies.clone(), &ignore);
        assert!(matches!(answer, Evidence::Unsat(_)), "{answer:?}");
        // The first one is true of the first fact, which is as far as Spacer had come. It remembers the others, or not.
        let fates: Vec<Fate> = fates.into_iter().take(3).map(|(_, fate)| fate).collect();
        assert_eq!(fates, [Fate::Accepted, Fate::Refused, Fate::Refused]);
    }
}

/// What LAWI sends is worth a try for Spacer, which takes what it can prove and nothing else.
#[test]
fn interpolants_of_paths_are_tried_and_proved() {
    let text = "(declare-fun P (Int Int) Bool)
        (assert (P 0 0))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (+ y 2)))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< y x)) false)))";
    let store = TermStore::new();
    let graph = read(&store, text);
    let lawi = by_name("lawi").expect("the engine exists");
    let (answer, sent, _) = solve(&store, &graph, &*lawi, Vec::new(), &ignore);
    assert!(matches!(answer, Evidence::Sat(_)), "{answer:?}");
    assert!(!sent.is_empty() && sent.iter().all(|fact| matches!(fact, Fact::Atom(_))), "{sent:?}");
    let lie = Fact::Atom(about_p(store.le(graph.node(NodeId::new(0)).variables()[0], store.int(0))));
    let facts = sent.into_iter().chain([lie]).collect();
    let spacer = by_name("spacer").expect("the engine exists");
    let (answer, _, fates) = solve(&store, &graph, &*spacer, facts, &ignore);
    let Evidence::Sat(model) = answer else { panic!("{answer:?}") };
    assert!(is_model(&store, &graph, &model, Term::TRUE));
    assert!(fates.iter().any(|&(_, fate)| fate == Fate::Accepted), "{fates:?}");
}

/// The lemmas of one instance save the other its searches.
#[test]
fn instances_of_pdkind_share_lemmas() {
    let store = TermStore::new();
    let graph = read(&store, SUMS);
    let solve = |incoming: Vec<Fact>| {
        let counters = Counters::default();
        let (answer, sent, _) = solve(&store, &graph, &PdKind::default(), incoming, &counters);
        let Evidence::Sat(model) = &answer else { panic!("{answer:?}") };
        assert!(is_model(&store, &graph, model, Term::TRUE));
        (sent, counters.get("lemmas.received"), counters.get("reach.searches"))
    };
    let (sent, received, searches) = solve(Vec::new());
    assert_eq!(received, 0);
    assert!(searches > 0);
    let has_cex = |fact: &Fact| matches!(fact, Fact::Bounded { cex: Some(_), .. });
    let induction: Vec<Fact> = sent.into_iter().filter(has_cex).collect();
    assert!(!induction.is_empty());
    let (_, received, fewer) = solve(induction.clone());
    assert_eq!(received, induction.len() as u64);
    assert!(fewer < searches, "{fewer} searches in the place of {searches}");
}

/// By Farkas interpolants PD-KIND learns that `x + n * y` is not negative, for one `n` after the other, and does not end. With the
/// lemmas of an instance that decomposes interpolants, it does.
#[test]
fn lemmas_end_a_search_that_diverges() {
    let store = TermStore::new();
    let graph = read(&store, SUMS);
    let farkas = PdKind { options: Options::default().interpolation(InterpolationMethod::Farkas) };
    let limited = Run::new(&store).with_timeout(Duration::from_secs(2));
    assert_eq!(farkas.solve(&graph, &limited).err(), Some(Stop::Interrupted(Reason::Deadline)));
    let (_, sent, _) = solve(&store, &graph, &PdKind::default(), Vec::new(), &ignore);
    let (answer, ..) = solve(&store, &graph, &farkas, sent, &ignore);
    let Evidence::Sat(model) = &answer else { panic!("{answer:?}") };
    assert!(is_model(&store, &graph, model, Term::TRUE));
}

/// A port that brings nothing changes nothing: same answer, same statistics.
#[test]
fn an_engine_that_receives_nothing_searches_as_if_alone() {
    let texts = [
        SUMS,
        "(declare-fun P (Int Int) Bool) (declare-fun Q (Int Int) Bool)
         (assert (P 0 0))
         (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 7)) (P (+ x 1) (+ y 2)))))
         (assert (forall ((x Int) (y Int)) (=> (P x y) (Q x y))))
         (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> y 0)) (Q x (- y 1)))))
         (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (= x 6) (= y 3)) false)))",
    ];
    for name in ["spacer", "pdkind", "imc", "bmc", "split-tpa", "kavy", "lawi", "cegar", "trl", "abmc"] {
        for text in texts {
            let found = |port: Option<&Mailbox>| {
                let store = TermStore::new();
                let graph = read(&store, text);
                let counters = Counters::default();
                let run = Run::new(&store).with_timeout(Duration::from_secs(10)).with_events(&counters);
                let run = port.into_iter().fold(run, |run, port| run.with_port(port));
                let engine = by_name(name).expect("the engine exists");
                if matches!(name, "bmc" | "lawi" | "cegar" | "abmc") && text == SUMS {
                    // There are paths of every length, each with a reason of its own.
                    return None;
                }
                let answer = engine.solve(&graph, &run).unwrap_or_else(|stop| panic!("{name}: {stop}"));
                Some((answer, counters.all()))
            };
            assert_eq!(found(None), found(Some(&Mailbox::default())), "{name}");
        }
    }
}

/// What Spacer calls closed is inductive.
#[test]
fn closed_sets_of_spacer_and_invariants_are_inductive() {
    let text = "(declare-fun P (Int Int) Bool) (declare-fun Q (Int Int) Bool)
        (assert (P 0 0))
        (assert (P 300 6))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 100)) (P (+ x 1) (+ y 2)))))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (Q x y))))
        (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> y 0)) (Q x (- y 2)))))
        (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (or (< y 0) (> y 201))) false)))
        (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (< 150 x) (< x 250)) false)))";
    for name in ["spacer", "invariants"] {
        let store = TermStore::new();
        let graph = read(&store, text);
        let mailbox = Mailbox::default();
        let engine = by_name(name).expect("the engine exists");
        let run = Run::new(&store).with_timeout(Duration::from_secs(10)).with_port(&mailbox);
        // It need not end: what it sends is right at any time.
        let _ = engine.solve(&graph, &run);
        let sent = mailbox.outgoing.into_inner().expect("no one panics with the lock");
        let mut formulas = vec![Term::TRUE; graph.nodes().len()];
        let mut sets = 0;
        for fact in sent {
            let Fact::Closed(set) = fact else { continue };
            sets += 1;
            for Lemma { node, formula } in set {
                formulas[node.index()] = store.and2(formulas[node.index()], formula);
            }
            // The clauses without queries: these are not yet excluded.
            let mut rules = HornGraph::new();
            graph.nodes().for_each(|(_, node)| {
                rules.add_node(node.clone());
            });
            for (_, edge) in graph.edges().filter(|(_, edge)| edge.target().is_some()) {
                rules.add_edge(edge.sources(), edge.target(), edge.label());
            }
            let model = GraphModel::of_formulas(formulas.clone());
            assert_eq!(check_graph_model(&Run::new(&store).context(), &rules, &model), Ok(()), "{name}");
        }
        assert!(sets > 0, "{name} has found nothing");
    }
}
