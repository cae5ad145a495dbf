//! The log, its ports and what they know of each other.

use std::collections::hash_map;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_engines::{Event, Fact, FactId, Fate, Label, Port, Run};
use shofar_horn::graph::NodeId;
use shofar_horn::transform::Lemma;
use shofar_logic::Term;

/// The most subterms of a formula that is shown to others.
const MOST_TERMS: usize = 60;

/// Bounded facts that an engine may send at once, each second, and each round.
const FIRST_FACTS: u64 = 100;
const FACTS_PER_SECOND: u64 = 50;
const FACTS_PER_ROUND: u64 = 2;

/// The locks of senders.
const SHARDS: usize = 16;

/// The facts of a run and its members.
pub(crate) struct Exchange<'a> {
    run: Run<'a>,
    pace: Pace,
    entries: boxcar::Vec<Entry>,
    /// What is known of a formula at a node.
    known: [Mutex<FxHashMap<(NodeId, Term), Known>>; SHARDS],
    /// One more than the largest depth sent.
    depth: AtomicUsize,
    labels: Vec<Label>,
    /// By members.
    bases: Vec<boxcar::Vec<FactId>>,
    /// By members: the bounded facts sent.
    sent: Vec<AtomicU64>,
    /// How often a fact was accepted.
    accepted: AtomicU64,
    /// By receivers, by senders.
    help: Vec<Vec<Counts>>,
}

/// When facts are added to the log.
pub(crate) enum Pace {
    /// When they are sent. The exchange has begun at this time.
    AtOnce(Instant),
    /// At the end of a [round](crate::rounds), in the order of the members.
    InRounds {
        /// How many rounds have ended.
        number: AtomicU64,
        /// By members: the facts of the present round.
        sent: Vec<Mutex<Vec<Fact>>>,
    },
}

impl Pace {
    pub(crate) fn at_once() -> Self {
        Pace::AtOnce(Instant::now())
    }

    pub(crate) fn in_rounds(members: usize) -> Self {
        let sent = std::iter::repeat_with(Mutex::default).take(members).collect();
        Pace::InRounds { number: AtomicU64::new(0), sent }
    }

    /// How many bounded facts an engine may have sent by now.
    fn allowance(&self) -> u64 {
        FIRST_FACTS
            + match self {
                Pace::AtOnce(start) => FACTS_PER_SECOND * start.elapsed().as_secs(),
                Pace::InRounds { number, .. } => FACTS_PER_ROUND * number.load(Ordering::Relaxed),
            }
    }
}

/// A fact in the log.
struct Entry {
    /// What others are shown.
    fact: Option<Fact>,
    /// A closed set with the formulas that are not shown.
    whole: Vec<Lemma>,
    /// The member that has sent it.
    origin: usize,
    /// How much of the origin's basis it needs (E4).
    needs: usize,
}

/// What is known of a formula.
#[derive(Clone, Copy)]
enum Known {
    /// It belongs to this closed set.
    Closed(FactId),
    /// It holds up to this height; and whether a counterexample was sent with it.
    Bounded(usize, bool),
    /// It is an atom.
    Tried,
}

#[derive(Default)]
struct Counts {
    received: AtomicU64,
    accepted: AtomicU64,
    useful: AtomicU64,
}

impl<'a> Exchange<'a> {
    /// An exchange between engines with these labels.
    pub(crate) fn new(run: Run<'a>, labels: Vec<Label>, pace: Pace) -> Self {
        let number = labels.len();
        let counts = || std::iter::repeat_with(Counts::default).take(number).collect();
        Exchange {
            run,
            pace,
            entries: boxcar::Vec::new(),
            known: std::array::from_fn(|_| Mutex::default()),
            depth: AtomicUsize::new(0),
            bases: std::iter::repeat_with(boxcar::Vec::new).take(number).collect(),
            sent: std::iter::repeat_with(AtomicU64::default).take(number).collect(),
            accepted: AtomicU64::new(0),
            help: std::iter::repeat_with(counts).take(number).collect(),
            labels,
        }
    }

    /// The port of the engine with this label.
    pub(crate) fn member(&self, label: &Label) -> Option<Member<'_>> {
        let own = self.labels.iter().position(|other| other == label)?;
        Some(Member { exchange: self, own, cursor: AtomicUsize::new(0) })
    }

    /// Who helped whom; pairs without any facts are left out.
    pub(crate) fn help(&self) -> Vec<Event> {
        let mut all = Vec::new();
        for (to, counts) in self.labels.iter().zip(&self.help) {
            for (from, counts) in self.labels.iter().zip(counts) {
                let [received, accepted, useful] = [&counts.received, &counts.accepted, &counts.useful]
                    .map(|count| count.load(Ordering::Relaxed));
                if received > 0 {
                    let (from, to) = (from.clone(), to.clone());
                    all.push(Event::Helped { from, to, received, accepted, useful });
                }
            }
        }
        all
    }

    /// The formulas of all closed sets that a member may depend on (E4).
    pub(crate) fn assumed(&self, label: &Label) -> Vec<Lemma> {
        let own = self.labels.iter().position(|other| other == label);
        own.map_or(Vec::new(), |own| self.closure(own))
    }

    /// Ends a round: adds the facts that were sent in it. No member may send or receive meanwhile.
    pub(crate) fn end_round(&self) {
        let Pace::InRounds { number, sent } = &self.pace else { return };
        for (own, facts) in sent.iter().enumerate() {
            let facts = std::mem::take(&mut *facts.lock().unwrap_or_else(PoisonError::into_inner));
            facts.into_iter().for_each(|fact| self.add(own, fact));
        }
        number.fetch_add(1, Ordering::Relaxed);
    }

    /// The formulas of the closed sets in the basis of a member, and of those that they need.
    fn closure(&self, own: usize) -> Vec<Lemma> {
        let mut lemmas = Vec::new();
        let mut seen: FxHashSet<FactId> = FxHashSet::default();
        // By members, how much of the basis was visited.
        let mut visited = vec![0; self.bases.len()];
        let mut open = vec![(own, self.bases[own].count())];
        while let Some((member, count)) = open.pop() {
            let from = visited[member];
            visited[member] = from.max(count);
            for position in from..count {
                let Some(&id) = self.bases[member].get(position) else { continue };
                let Some(entry) = self.entries.get(id.0 as usize).filter(|_| seen.insert(id)) else {
                    continue;
                };
                lemmas.extend(entry.whole.iter().copied());
                open.push((entry.origin, entry.needs));
            }
        }
        lemmas
    }

    fn shard(&self, lemma: &Lemma) -> MutexGuard<'_, FxHashMap<(NodeId, Term), Known>> {
        let shard = (lemma.formula.index() + lemma.node.index()) % SHARDS;
        // A panic of another engine leaves the map as it was before or after a change.
        self.known[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_small(&self, formula: Term) -> bool {
        self.run.store.subterms(&[formula]).len() <= MOST_TERMS
    }

    fn append(&self, own: usize, fact: Option<Fact>, whole: Vec<Lemma>) -> FactId {
        let needs = self.bases[own].count();
        let position = self.entries.push(Entry { fact, whole, origin: own, needs });
        FactId(u32::try_from(position).expect("memory ends before facts are 2^32"))
    }

    fn add(&self, own: usize, fact: Fact) {
        match fact {
            Fact::Closed(set) => self.add_closed(own, set),
            Fact::Bounded { .. } => self.add_bounded(own, fact),
            Fact::Atom(lemma) => self.add_atom(own, lemma),
            Fact::Depth(height) => {
                if self.depth.fetch_max(height + 1, Ordering::Relaxed) <= height {
                    self.append(own, Some(fact), Vec::new());
                }
            }
        }
    }

    fn add_closed(&self, own: usize, set: Vec<Lemma>) {
        let mut new = Vec::new();
        for lemma in set.into_iter().filter(|lemma| lemma.formula != Term::TRUE) {
            match self.shard(&lemma).get(&(lemma.node, lemma.formula)) {
                Some(&Known::Closed(id)) => {
                    self.bases[own].push(id);
                }
                _ => new.push(lemma),
            }
        }
        if new.is_empty() {
            return;
        }
        let shown: Vec<Lemma> = new.iter().copied().filter(|lemma| self.is_small(lemma.formula)).collect();
        let fact = (!shown.is_empty()).then_some(Fact::Closed(shown));
        let id = self.append(own, fact, new.clone());
        self.bases[own].push(id);
        for lemma in new {
            self.shard(&lemma).insert((lemma.node, lemma.formula), Known::Closed(id));
        }
    }

    fn add_bounded(&self, own: usize, fact: Fact) {
        let Fact::Bounded { lemma, height, cex } = fact else { return };
        if lemma.formula == Term::TRUE || !self.is_small(lemma.formula) {
            return;
        }
        {
            let mut shard = self.shard(&lemma);
            let known = shard.get(&(lemma.node, lemma.formula));
            let is_known = known.is_some_and(|known| match *known {
                Known::Closed(_) => true,
                Known::Bounded(known, had_cex) => height <= known && (had_cex || cex.is_none()),
                Known::Tried => false,
            });
            if is_known || self.sent[own].load(Ordering::Relaxed) >= self.pace.allowance() {
                return;
            }
            let (before, had_cex) = match known {
                Some(&Known::Bounded(height, had_cex)) => (height, had_cex),
                _ => (height, false),
            };
            let now = Known::Bounded(height.max(before), had_cex || cex.is_some());
            shard.insert((lemma.node, lemma.formula), now);
        }
        self.sent[own].fetch_add(1, Ordering::Relaxed);
        self.append(own, Some(fact), Vec::new());
    }

    /// An atom is dropped if anything is known of it. It counts as a bounded fact of its sender.
    fn add_atom(&self, own: usize, lemma: Lemma) {
        if [Term::TRUE, Term::FALSE].contains(&lemma.formula) || !self.is_small(lemma.formula) {
            return;
        }
        if self.sent[own].load(Ordering::Relaxed) >= self.pace.allowance() {
            return;
        }
        match self.shard(&lemma).entry((lemma.node, lemma.formula)) {
            hash_map::Entry::Occupied(_) => return,
            hash_map::Entry::Vacant(place) => place.insert(Known::Tried),
        };
        self.sent[own].fetch_add(1, Ordering::Relaxed);
        self.append(own, Some(Fact::Atom(lemma)), Vec::new());
    }
}

/// The port of one engine.
pub(crate) struct Member<'a> {
    exchange: &'a Exchange<'a>,
    own: usize,
    /// The first entry that it has not read. Only the engine's thread changes it.
    cursor: AtomicUsize,
}

impl Member<'_> {
    pub(super) fn label(&self) -> &Label {
        &self.exchange.labels[self.own]
    }

    /// The formulas that the engine may depend on (E4).
    pub(super) fn assumed(&self) -> Vec<Lemma> {
        self.exchange.closure(self.own)
    }
}

impl Port for Member<'_> {
    fn send(&self, fact: Fact) {
        match &self.exchange.pace {
            Pace::AtOnce(_) => self.exchange.add(self.own, fact),
            Pace::InRounds { sent, .. } => {
                sent[self.own].lock().unwrap_or_else(PoisonError::into_inner).push(fact);
            }
        }
    }

    fn receive(&self) -> Vec<(FactId, Fact)> {
        let exchange = self.exchange;
        let mut facts = Vec::new();
        let mut position = self.cursor.load(Ordering::Relaxed);
        while let Some(entry) = exchange.entries.get(position) {
            let id = FactId(position as u32);
            position += 1;
            if entry.origin == self.own {
                continue;
            }
            let Some(fact) = &entry.fact else { continue };
            if let Fact::Closed(_) = fact {
                exchange.bases[self.own].push(id);
            }
            exchange.help[self.own][entry.origin].received.fetch_add(1, Ordering::Relaxed);
            facts.push((id, fact.clone()));
        }
        self.cursor.store(position, Ordering::Relaxed);
        if !facts.is_empty() {
            let accepted = exchange.accepted.load(Ordering::Relaxed);
            exchange.run.tell(Event::Facts { sent: exchange.entries.count() as u64, accepted });
        }
        facts
    }

    fn rate(&self, fact: FactId, fate: Fate) {
        let Some(entry) = self.exchange.entries.get(fact.0 as usize) else { return };
        let counts = &self.exchange.help[self.own][entry.origin];
        match fate {
            Fate::Accepted => {
                self.exchange.accepted.fetch_add(1, Ordering::Relaxed);
                counts.accepted.fetch_add(1, Ordering::Relaxed)
            }
            Fate::Useful => counts.useful.fetch_add(1, Ordering::Relaxed),
            Fate::Refused => 0,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use shofar_logic::{Sort, TermStore};

    use super::*;

    fn labels(names: &[&str]) -> Vec<Label> {
        names.iter().map(|&name| Label::from(name)).collect()
    }

    fn bounded(formula: Term, height: usize) -> Fact {
        Fact::Bounded { lemma: Lemma { node: NodeId::new(0), formula }, height, cex: None }
    }

    fn closed(formulas: &[Term]) -> Fact {
        Fact::Closed(formulas.iter().map(|&formula| Lemma { node: NodeId::new(0), formula }).collect())
    }

    /// Eight engines send thousands of facts at once. Each sees each fact of the others once, in the order of its sender (E1, E2).
    #[test]
    fn every_fact_arrives_once_and_in_order() {
        const FACTS: usize = 12_500;
        let store = TermStore::new();
        let names: Vec<String> = (0..8).map(|member| format!("m{member}")).collect();
        let names: Vec<Label> = names.iter().map(|name| Label::from(name.clone())).collect();
        let run = Run::new(&store);
        let exchange = Exchange::new(run.clone(), names.clone(), Pace::at_once());
        let x = store.var(store.symbol("x"), Sort::INT);
        let received = |own: usize| {
            let port = exchange.member(&names[own]).expect("it is a member");
            let mut heard: Vec<(FactId, Fact)> = Vec::new();
            for number in 0..FACTS {
                // Each formula is new, and a closed set is never refused.
                port.send(closed(&[store.le(x, store.int((8 * number + own) as u64))]));
                if number % 100 == own {
                    heard.extend(port.receive());
                }
            }
            (port, heard)
        };
        let all: Vec<(Member<'_>, Vec<(FactId, Fact)>)> = thread::scope(|scope| {
            let received = &received;
            let threads: Vec<_> = (0..8).map(|own| scope.spawn(move || received(own))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
        });
        for (own, (port, mut heard)) in all.into_iter().enumerate() {
            heard.extend(port.receive());
            assert_eq!(heard.len(), 7 * FACTS);
            let mut next = [0; 8];
            for (id, _) in heard {
                let entry = exchange.entries.get(id.0 as usize).expect("it was received");
                assert_ne!(entry.origin, own);
                let number = 8 * next[entry.origin] + entry.origin;
                assert_eq!(entry.whole[0].formula, store.le(x, store.int(number as u64)));
                next[entry.origin] += 1;
            }
        }
    }

    #[test]
    fn what_is_known_is_not_sent_again() {
        let store = TermStore::new();
        let run = Run::new(&store);
        let exchange = Exchange::new(run.clone(), labels(&["a", "b"]), Pace::at_once());
        let [a, b] = ["a", "b"].map(|name| exchange.member(&name.into()).expect("it is a member"));
        let x = store.var(store.symbol("x"), Sort::INT);
        let positive = store.ge(x, store.int(1));
        a.send(bounded(positive, 3));
        a.send(bounded(positive, 2));
        b.send(bounded(positive, 3));
        assert_eq!(b.receive().len(), 1);
        assert_eq!(a.receive().len(), 0);
        a.send(bounded(positive, 4));
        assert_eq!(b.receive(), [(FactId(1), bounded(positive, 4))]);
        b.send(closed(&[positive]));
        assert_eq!(a.receive(), [(FactId(2), closed(&[positive]))]);
        a.send(bounded(positive, 9));
        a.send(closed(&[positive]));
        assert_eq!(b.receive(), []);
        for (height, is_news) in [(4, true), (3, false), (4, false), (5, true)] {
            a.send(Fact::Depth(height));
            assert_eq!(!b.receive().is_empty(), is_news);
        }
    }

    /// An atom says less than all other facts about its formula.
    #[test]
    fn atoms_are_sent_once_and_only_before_other_facts() {
        let store = TermStore::new();
        let exchange = Exchange::new(Run::new(&store), labels(&["a", "b"]), Pace::at_once());
        let [a, b] = ["a", "b"].map(|name| exchange.member(&name.into()).expect("it is a member"));
        let x = store.var(store.symbol("x"), Sort::INT);
        let atom = |formula| Fact::Atom(Lemma { node: NodeId::new(0), formula });
        let [positive, small] = [store.ge(x, store.int(1)), store.le(x, store.int(9))];
        a.send(atom(positive));
        a.send(atom(positive));
        a.send(atom(Term::TRUE));
        assert_eq!(b.receive(), [(FactId(0), atom(positive))]);
        a.send(bounded(positive, 2));
        assert_eq!(b.receive(), [(FactId(1), bounded(positive, 2))]);
        a.send(bounded(small, 2));
        b.send(atom(small));
        b.send(atom(positive));
        assert_eq!(a.receive(), []);
    }

    #[test]
    fn floods_are_cut_off() {
        let store = TermStore::new();
        let run = Run::new(&store);
        let exchange = Exchange::new(run.clone(), labels(&["a", "b"]), Pace::at_once());
        let [a, b] = ["a", "b"].map(|name| exchange.member(&name.into()).expect("it is a member"));
        let x = store.var(store.symbol("x"), Sort::INT);
        for bound in 0..10_000_u64 {
            a.send(bounded(store.le(x, store.int(bound)), 1));
        }
        let most = exchange.pace.allowance() + FACTS_PER_SECOND;
        let received = b.receive().len() as u64;
        assert!((FIRST_FACTS..=most).contains(&received), "{received}");
    }

    /// The model of an engine gets the sets that it has assumed, what these need, and nothing else (E4).
    #[test]
    fn models_have_what_they_depend_on() {
        let store = TermStore::new();
        let run = Run::new(&store);
        let exchange = Exchange::new(run.clone(), labels(&["a", "b", "c", "d"]), Pace::at_once());
        let [a, b, c, d] =
            ["a", "b", "c", "d"].map(|name| exchange.member(&name.into()).expect("it is a member"));
        let variables = ["x", "y", "z", "u"].map(|name| store.var(store.symbol(name), Sort::BOOL));
        let [x, y, z, u] = variables;
        a.send(closed(&[x]));
        assert_eq!(b.receive().len(), 1);
        b.send(closed(&[y]));
        c.receive();
        d.send(closed(&[u]));
        let model = |of: &str| {
            let lemmas = exchange.assumed(&of.into());
            store.and_of(lemmas.into_iter().map(|lemma| lemma.formula).chain([z]))
        };
        assert_eq!(model("c"), store.and(&[x, y, z]), "`y` needs `x`");
        assert_eq!(model("b"), store.and(&[x, y, z]));
        assert_eq!(model("a"), store.and2(x, z));
        assert_eq!(model("d"), store.and2(u, z));
        // A member that finds the same set again depends on the first one.
        d.send(closed(&[y]));
        assert_eq!(model("d"), store.and(&[x, y, z, u]));
    }

    /// In rounds, facts are seen after the end of a round, in the order of the members.
    #[test]
    fn facts_of_a_round_are_seen_in_the_next() {
        let store = TermStore::new();
        let run = Run::new(&store);
        let exchange = Exchange::new(run.clone(), labels(&["a", "b", "c"]), Pace::in_rounds(3));
        let [a, b, c] = ["a", "b", "c"].map(|name| exchange.member(&name.into()).expect("it is a member"));
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::BOOL));
        b.send(closed(&[y]));
        a.send(bounded(x, 1));
        a.send(closed(&[y]));
        assert_eq!(c.receive(), []);
        exchange.end_round();
        assert_eq!(c.receive(), [(FactId(0), bounded(x, 1)), (FactId(1), closed(&[y]))]);
        assert_eq!(exchange.assumed(&"b".into()), [Lemma { node: NodeId::new(0), formula: y }]);
    }

    /// Large formulas are not shown, but models have them.
    #[test]
    fn large_formulas_are_kept_for_models_only() {
        let store = TermStore::new();
        let run = Run::new(&store);
        let exchange = Exchange::new(run.clone(), labels(&["a", "b"]), Pace::at_once());
        let [a, b] = ["a", "b"].map(|name| exchange.member(&name.into()).expect("it is a member"));
        let variable = |number: usize| store.var(store.symbol(&format!("x{number}")), Sort::BOOL);
        let large = store.or_of((0..100).map(variable));
        a.send(bounded(large, 1));
        a.send(closed(&[variable(0), large]));
        assert_eq!(b.receive(), [(FactId(0), closed(&[variable(0)]))]);
        let assumed = exchange.assumed(&"b".into()).into_iter().map(|lemma| lemma.formula);
        assert_eq!(assumed.collect::<Vec<_>>(), [variable(0), large]);
    }
}
