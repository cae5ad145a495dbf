//! Facts of other processes that solve the same clauses.
//!
//! [`Outside`] stands between the driver and the owner of the connection to others: facts go out and come in as [texts](super::text),
//! and neither side waits for the other. Facts are about the graph after the transformations, which others have to make as well;
//! [`Outside::graph`] tells whether they have the same.
//!
//! In the driver, the customs stand between the outside and the log. A fact from outside may be wrong, by mistake or by malice. So
//! nothing is assumed that is not proved here:
//!
//! - V1: what is too large, or does not fit the graph, is dropped ([`Texts::read`](super::text::Texts::read)).
//! - V2: a closed set is passed on if it is inductive, relative to the closed sets that were passed on or came from here.
//! - V3: a bounded fact is passed on with the greatest tried height at which the facts known here prove it.
//! - V4: depths, counterexamples and atoms are of no use, because nothing proves them.
//! - V5: only a tenth of the time is spent on this. What cannot be looked at in time is dropped.
//! - V6: facts of a sender that are false at height 0 are lies. A sender of too many of them is not listened to any more. A fact that
//!   cannot be proved here is no lie, because its sender may know more.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use serde_json::Value;
use shofar_engines::{Event, Fact, Port, Run};
use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::transform::Lemma;
use shofar_logic::Term;
use shofar_run::{Limits, Stop};

use super::log::Member;
use super::text::{Bounds, Texts};

/// The label of others in events.
pub(crate) const LABEL: &str = "outside";

/// The most facts that wait in either direction. Of more, the oldest are dropped.
const MOST_WAITING: usize = 2000;

/// The most closed sets that wait for others that they need.
const MOST_PENDING: usize = 50;

/// The time between two looks.
const TICK: Duration = Duration::from_millis(10);

/// One in this many parts of the time may be spent on facts from outside, besides the first part.
const SHARE: u32 = 10;
const FIRST_TIME: Duration = Duration::from_millis(100);

/// The longest time, and the most conflicts, for the proof of a fact.
const PROOF_TIME: Duration = Duration::from_secs(1);
const PROOF_CONFLICTS: u64 = 1000;

/// A sender is not listened to if more than half of its facts are lies, and they are at least this many.
const MOST_LIES: u64 = 20;

/// The connection of a run to other processes.
#[derive(Default, Debug)]
pub struct Outside {
    graph: OnceLock<String>,
    boxes: Mutex<Boxes>,
}

#[derive(Default, Debug)]
struct Boxes {
    /// Facts with their senders.
    incoming: VecDeque<(String, Value)>,
    outgoing: VecDeque<Value>,
    figures: Figures,
}

/// What happened to facts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Figures {
    /// Those that came in.
    pub received: u64,
    /// Those that were proved here.
    pub accepted: u64,
    /// Those that are false, or no facts.
    pub lies: u64,
    /// Those that went out.
    pub sent: u64,
    /// The time for proofs.
    pub time: Duration,
}

impl Outside {
    /// A name of the graph that facts are about, once it is known. Runs with the same name have the same graph.
    pub fn graph(&self) -> Option<&str> {
        self.graph.get().map(String::as_str)
    }

    /// A fact has come from a sender.
    pub fn deliver(&self, from: &str, fact: Value) {
        let mut boxes = self.boxes();
        if boxes.incoming.len() >= MOST_WAITING {
            boxes.incoming.pop_front();
        }
        boxes.figures.received += 1;
        boxes.incoming.push_back((from.to_owned(), fact));
    }

    /// The facts for others since the last call.
    pub fn collect(&self) -> Vec<Value> {
        self.boxes().outgoing.drain(..).collect()
    }

    /// What happened so far.
    pub fn figures(&self) -> Figures {
        self.boxes().figures
    }

    pub(crate) fn set_graph(&self, name: String) {
        // A second run on the same outside would be about another graph, and others are told of the first.
        let _ = self.graph.set(name);
    }

    fn post(&self, fact: Value) {
        let mut boxes = self.boxes();
        if boxes.outgoing.len() >= MOST_WAITING {
            boxes.outgoing.pop_front();
        }
        boxes.figures.sent += 1;
        boxes.outgoing.push_back(fact);
    }

    /// A panic leaves the boxes as they were before or after a change.
    fn boxes(&self) -> MutexGuard<'_, Boxes> {
        self.boxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Two connections are the same only if they are one.
impl PartialEq for Outside {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Outside {}

/// What a check says about a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Judgement {
    Proved,
    /// It is false at height 0.
    Lie,
    Open,
}

/// Checks what comes in, and writes what goes out.
pub(crate) struct Customs<'a> {
    run: Run<'a>,
    graph: &'a HornGraph,
    member: Member<'a>,
    texts: Texts<'a>,
    /// By nodes: the edges that derive it.
    incoming: Vec<Vec<EdgeId>>,
    /// By nodes: formulas of closed sets; and bounded facts with heights.
    closed: Vec<Vec<Term>>,
    bounded: Vec<Vec<(Term, usize)>>,
    /// Sets that were not inductive by what was known then.
    pending: VecDeque<Vec<Lemma>>,
    /// By senders: facts, and lies among them.
    senders: FxHashMap<String, (u64, u64)>,
    start: Instant,
}

impl<'a> Customs<'a> {
    /// The member is that of the outside.
    pub(crate) fn new(run: Run<'a>, graph: &'a HornGraph, member: Member<'a>) -> Self {
        let nodes = graph.nodes().len();
        Customs {
            texts: Texts { store: run.store, graph, bounds: Bounds::FOREIGN },
            run,
            graph,
            member,
            incoming: graph.incoming().0,
            closed: vec![Vec::new(); nodes],
            bounded: vec![Vec::new(); nodes],
            pending: VecDeque::new(),
            senders: FxHashMap::default(),
            start: Instant::now(),
        }
    }

    /// Passes facts in both directions until the run is over.
    pub(crate) fn serve(&mut self, outside: &Outside, is_over: &AtomicBool) {
        let mut told = Figures::default();
        while !is_over.load(Ordering::Relaxed) {
            self.export_all(outside);
            while !is_over.load(Ordering::Relaxed)
                && outside.figures().time < FIRST_TIME + self.start.elapsed() / SHARE
            {
                let Some((from, object)) = outside.boxes().incoming.pop_front() else { break };
                let begin = Instant::now();
                let judgement = self.import(&from, &object);
                let mut boxes = outside.boxes();
                boxes.figures.time += begin.elapsed();
                boxes.figures.accepted += u64::from(judgement == Some(Judgement::Proved));
                boxes.figures.lies += u64::from(judgement == Some(Judgement::Lie));
            }
            let figures = outside.figures();
            if figures != told {
                let Figures { received, accepted, sent, .. } = figures;
                self.run.tell(Event::Outside { received, proved: accepted, sent });
                told = figures;
            }
            thread::park_timeout(TICK);
        }
        // Others may still need what was learnt last.
        self.export_all(outside);
    }

    fn export_all(&mut self, outside: &Outside) {
        for (_, fact) in self.member.receive() {
            self.export(fact, outside);
        }
    }

    /// A fact of an engine here.
    fn export(&mut self, fact: Fact, outside: &Outside) {
        let fact = match fact {
            Fact::Closed(set) => {
                self.know_closed(&set);
                Fact::Closed(set)
            }
            Fact::Bounded { lemma, height, .. } => {
                self.bounded[lemma.node.index()].push((lemma.formula, height));
                Fact::Bounded { lemma, height, cex: None }
            }
            Fact::Depth(_) | Fact::Atom(_) => return,
        };
        if let Some(text) = self.texts.write(&fact) {
            outside.post(text);
        }
    }

    /// A fact from outside; `None` if its sender is not listened to.
    fn import(&mut self, from: &str, object: &Value) -> Option<Judgement> {
        let (facts, lies) = self.senders.entry(from.to_owned()).or_default();
        if *lies >= MOST_LIES && *lies * 2 > *facts {
            return None;
        }
        let judgement = match self.texts.read(object) {
            Ok(Fact::Closed(set)) => self.import_closed(set),
            Ok(Fact::Bounded { lemma, height, .. }) => self.import_bounded(lemma, height),
            Ok(Fact::Depth(_) | Fact::Atom(_)) => Judgement::Open,
            Err(_) => Judgement::Lie,
        };
        let (facts, lies) = self.senders.entry(from.to_owned()).or_default();
        *facts += 1;
        *lies += u64::from(judgement == Judgement::Lie);
        Some(judgement)
    }

    fn import_closed(&mut self, mut set: Vec<Lemma>) -> Judgement {
        set.retain(|lemma| {
            lemma.formula != Term::TRUE && !self.closed[lemma.node.index()].contains(&lemma.formula)
        });
        if set.is_empty() {
            return Judgement::Open;
        }
        let judgement = self.is_inductive(&set);
        match judgement {
            Judgement::Proved => {
                self.accept(set);
                // What was open may follow now. Each set gets one more chance.
                for set in std::mem::take(&mut self.pending) {
                    if self.is_inductive(&set) == Judgement::Proved {
                        self.accept(set);
                    }
                }
            }
            Judgement::Open if self.pending.len() < MOST_PENDING => self.pending.push_back(set),
            Judgement::Open | Judgement::Lie => {}
        }
        judgement
    }

    fn accept(&mut self, set: Vec<Lemma>) {
        self.know_closed(&set);
        self.member.send(Fact::Closed(set));
    }

    fn know_closed(&mut self, set: &[Lemma]) {
        for lemma in set {
            self.closed[lemma.node.index()].push(lemma.formula);
        }
    }

    fn import_bounded(&mut self, lemma: Lemma, height: usize) -> Judgement {
        let node = lemma.node.index();
        let is_known = |&(formula, known): &(Term, usize)| formula == lemma.formula && height <= known;
        if lemma.formula == Term::TRUE
            || self.closed[node].contains(&lemma.formula)
            || self.bounded[node].iter().any(is_known)
        {
            return Judgement::Open;
        }
        if let judgement @ (Judgement::Lie | Judgement::Open) = self.holds_at(lemma, 0) {
            return judgement;
        }
        for height in [height, height / 2, 1] {
            if height > 0 && self.holds_at(lemma, height) == Judgement::Proved {
                self.bounded[node].push((lemma.formula, height));
                self.member.send(Fact::Bounded { lemma, height, cex: None });
                return Judgement::Proved;
            }
        }
        Judgement::Open
    }

    /// Whether a set is inductive relative to the closed sets that are known.
    fn is_inductive(&self, set: &[Lemma]) -> Judgement {
        let at = |node: NodeId| set.iter().filter(move |lemma| lemma.node == node).map(|lemma| lemma.formula);
        let assumed =
            |node: NodeId| self.run.store.and_of(self.closed[node.index()].iter().copied().chain(at(node)));
        let mut nodes: Vec<NodeId> = set.iter().map(|lemma| lemma.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let goal = |node: NodeId| self.run.store.and_of(at(node));
        self.judge(
            nodes.into_iter().map(|node| Lemma { node, formula: goal(node) }).collect(),
            Some(&assumed),
        )
    }

    /// Whether a formula holds for facts up to a height, by what is known of those below.
    fn holds_at(&self, lemma: Lemma, height: usize) -> Judgement {
        let assumed = |node: NodeId| {
            let bounded = self.bounded[node.index()].iter().filter(|&&(_, known)| known + 1 >= height);
            let closed = self.closed[node.index()].iter().copied();
            self.run.store.and_of(closed.chain(bounded.map(|&(formula, _)| formula)))
        };
        self.judge(vec![lemma], if height == 0 { None } else { Some(&assumed) })
    }

    /// Whether clauses whose bodies satisfy the assumptions derive only facts that satisfy the goals; without assumptions, whether
    /// clauses without predicates in their bodies do.
    fn judge(&self, goals: Vec<Lemma>, assumed: Option<&dyn Fn(NodeId) -> Term>) -> Judgement {
        let deadline =
            [self.run.limits.deadline, Instant::now().checked_add(PROOF_TIME)].into_iter().flatten().min();
        let limits = Limits { deadline, conflicts: Some(PROOF_CONFLICTS), ..self.run.limits };
        let run = self.run.clone().with_limits(limits);
        for goal in goals {
            for &edge in &self.incoming[goal.node.index()] {
                let sources = self.graph.edge(edge).sources();
                if assumed.is_none() && !sources.is_empty() {
                    continue;
                }
                match self.follows(&run, edge, goal.formula, assumed) {
                    Ok(true) => {}
                    Ok(false) if sources.is_empty() => return Judgement::Lie,
                    Ok(false) | Err(_) => return Judgement::Open,
                }
            }
        }
        Judgement::Proved
    }

    fn follows(
        &self,
        run: &Run<'_>,
        edge: EdgeId,
        goal: Term,
        assumed: Option<&dyn Fn(NodeId) -> Term>,
    ) -> Result<bool, Stop> {
        let (store, graph) = (run.store, self.graph);
        let mut formulas = vec![graph.edge(edge).label(), store.not(graph.at_target(store, edge, goal))];
        for (position, &source) in graph.edge(edge).sources().iter().enumerate() {
            let formula = assumed.map_or(Term::TRUE, |assumed| assumed(source));
            formulas.push(graph.at_source(store, edge, position, formula));
        }
        let mut solver = run.solver();
        run.assert(&mut solver, &formulas)?;
        Ok(!run.is_satisfiable(&mut solver, &[])?)
    }
}
