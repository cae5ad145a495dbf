//! What Spacer tells other engines, and what it does with their facts (`exchange/mod.rs`).
//!
//! It *sends* its lemmas of infinite level as closed sets: each of them is proved from others of infinite level alone, so all of them
//! are inductive together. It sends other lemmas as bounded facts once they are worth something: those of level 2 and above. After each
//! bound without a derivation it sends the depth.
//!
//! It *assumes* closed sets, as lemmas of infinite level. L1 and L2 then hold together with all closed sets that were received.
//!
//! A *bounded* fact is true, but the frames need not prove it, and a frame that looks inductive because of it would not be a model
//! (L2). So it becomes a lemma of level `i` only if the frames at `i - 1` prove it, as a guess would. The level is that of the current
//! bound, or less if the fact holds less far. An *atom* is tried at the current bound in the same way. With the option `remember`,
//! facts that are not proved are remembered and tried again when they would exclude a model (`remember.rs`). Only a share of the queries is
//! spent on this, [`SHARE`], and less if hardly any of these lemmas ever block an obligation, [`SMALL_SHARE`]. Queries are counted, not
//! timed, so that the same facts at the same points lead to the same search.

use rustc_hash::FxHashMap;
use shofar_horn::graph::NodeId;
use shofar_horn::transform::Lemma;
use shofar_logic::{Op, Term, TermStore};
use shofar_run::Limits;

use super::expand::Block;
use super::frames::{INFINITY, Learnt, LemmaId, Level};
use super::{Search, Stop};
use crate::{Fact, FactId, Fate};

/// Obligations between two exchanges within a bound.
pub(super) const INTERVAL: u64 = 64;

/// The level from which on a lemma is sent as a bounded fact.
const LEAST_LEVEL: Level = 2;

/// The most literals of a lemma that is tried.
const MOST_LITERALS: usize = 12;

/// The conflict limit for trying a bounded fact.
const TRY_CONFLICTS: u64 = 1000;

/// One in this many queries may be spent on trying bounded facts, besides the first few.
const SHARE: u64 = 10;
const FIRST_QUERIES: u64 = 100;

/// The share if, of at least so many lemmas that were facts of others, fewer than one in this many has been useful.
const SMALL_SHARE: u64 = 50;
const LEAST_TRIES: u64 = 200;
const LEAST_USE: u64 = 50;

/// What was sent and received.
pub(super) struct Exchanged {
    /// Indexed by node: how many infinite lemmas and arrivals were sent.
    sent: Vec<(usize, usize)>,
    /// Lemmas that are facts of other engines, until they are first useful.
    foreign: FxHashMap<(NodeId, LemmaId), FactId>,
    /// The queries spent on trying facts.
    spent: u64,
    /// The lemmas that came from bounded facts, and the useful lemmas of all facts.
    tries: u64,
    hits: u64,
}

impl Exchanged {
    pub(super) fn new(nodes: usize) -> Self {
        Exchanged { sent: vec![(0, 0); nodes], foreign: FxHashMap::default(), spent: 0, tries: 0, hits: 0 }
    }

    /// One in how many queries may be spent on trying facts.
    fn share(&self) -> u64 {
        let is_useless = self.tries >= LEAST_TRIES && self.hits * LEAST_USE < self.tries;
        if is_useless { SMALL_SHARE } else { SHARE }
    }
}

impl Search<'_> {
    /// Sends what is new, and takes in what others have sent.
    pub(super) fn exchange(&mut self, bound: Level) -> Result<(), Stop> {
        let Some(port) = self.run.port() else { return Ok(()) };
        self.send_lemmas();
        for (id, fact) in port.receive() {
            match fact {
                Fact::Closed(set) => {
                    port.rate(id, Fate::Accepted);
                    set.into_iter().for_each(|lemma| self.assume(id, lemma));
                }
                Fact::Bounded { lemma, height, .. } => {
                    let level = Level::try_from(height).map_or(bound, |height| height.min(bound));
                    self.try_lemma(id, lemma, level)?;
                }
                Fact::Atom(lemma) => self.try_lemma(id, lemma, bound)?,
                Fact::Depth(_) => {}
            }
        }
        Ok(())
    }

    /// Says that `false` has no derivation up to a height.
    pub(super) fn send_depth(&self, bound: Level) {
        // The premises of `false` are one lower.
        if let (Some(port), Some(height)) = (self.run.port(), bound.checked_sub(1)) {
            port.send(Fact::Depth(height as usize));
        }
    }

    fn send_lemmas(&mut self) {
        let Some(port) = self.run.port() else { return };
        let mut closed = Vec::new();
        let mut bounded = Vec::new();
        for (node, _) in self.original.nodes() {
            let frames = &self.frames[node.index()];
            let (infinite, arrivals) = &mut self.exchanged.sent[node.index()];
            let lemma = |&formula: &Term| Lemma { node, formula };
            closed.extend(frames.infinite()[*infinite..].iter().map(lemma));
            let finite = frames.since(*arrivals, LEAST_LEVEL).filter(|lemma| lemma.level != INFINITY);
            bounded.extend(finite.map(|found| (lemma(&found.formula), found.level)));
            (*infinite, *arrivals) = (frames.infinite().len(), frames.arrivals());
        }
        if !closed.is_empty() {
            port.send(Fact::Closed(closed));
        }
        for (lemma, level) in bounded {
            port.send(Fact::Bounded { lemma, height: level as usize, cex: None });
        }
    }

    /// Adds a formula of a closed set as lemmas of infinite level.
    fn assume(&mut self, id: FactId, lemma: Lemma) {
        for cube in excluded_cubes(self.store, lemma.formula) {
            let learnt = self.frames[lemma.node.index()].add(self.store, cube, INFINITY);
            if let Learnt::New(new) = learnt {
                self.exchanged.foreign.insert((lemma.node, new), id);
            }
        }
    }

    fn try_lemma(&mut self, id: FactId, lemma: Lemma, level: Level) -> Result<(), Stop> {
        let fate = if self.is_proved(id, lemma, level)? { Fate::Accepted } else { Fate::Refused };
        if let Some(port) = self.run.port() {
            port.rate(id, fate);
        }
        Ok(())
    }

    /// Whether the frames prove all of a formula up to a level; what they prove becomes lemmas.
    fn is_proved(&mut self, id: FactId, lemma: Lemma, level: Level) -> Result<bool, Stop> {
        let mut are_proved = true;
        for cube in excluded_cubes(self.store, lemma.formula) {
            let frames = &self.frames[lemma.node.index()];
            if frames.blocking(self.store, &cube, level).is_some() {
                continue;
            }
            let is_due =
                self.exchanged.spent * self.exchanged.share() <= FIRST_QUERIES + self.statistics.queries;
            if cube.len() > MOST_LITERALS || self.has_known_point(lemma.node, &cube) {
                are_proved = false;
                continue;
            }
            if !is_due {
                are_proved = false;
                self.remember(lemma.node, cube);
                continue;
            }
            let before = self.statistics.queries;
            let limits = Limits { conflicts: Some(TRY_CONFLICTS), ..self.run.limits };
            let block = self.block(lemma.node, &cube, level, &limits);
            self.exchanged.spent += self.statistics.queries - before;
            let Block::Blocked(conflict) = block? else {
                are_proved = false;
                self.remember(lemma.node, cube);
                continue;
            };
            if let Learnt::New(new) =
                self.frames[lemma.node.index()].add(self.store, conflict.cube, conflict.level)
            {
                self.exchanged.tries += 1;
                self.exchanged.foreign.insert((lemma.node, new), id);
            }
        }
        Ok(are_proved)
    }

    /// Notes that a lemma has blocked an obligation.
    pub(super) fn credit(&mut self, node: NodeId, lemma: LemmaId) {
        if let Some(port) = self.run.port()
            && let Some(fact) = self.exchanged.foreign.remove(&(node, lemma))
        {
            self.exchanged.hits += 1;
            port.rate(fact, Fate::Useful);
        }
    }
}

/// Cubes that a formula excludes and that together are its complement: one for each conjunct. Equations of numbers are two
/// conjuncts, because lemmas are made of bounds.
fn excluded_cubes(store: &TermStore, formula: Term) -> Vec<Vec<Term>> {
    let mut cubes = Vec::new();
    for conjunct in store.conjuncts(formula) {
        let denied = store.not(conjunct);
        match store.view(conjunct) {
            (Op::Eq, &[a, b]) if store.sort_of(a).is_arithmetic() => {
                cubes.push(vec![store.lt(a, b)]);
                cubes.push(vec![store.lt(b, a)]);
            }
            _ => cubes.push(store.conjuncts(denied).filter(|&literal| literal != Term::TRUE).collect()),
        }
    }
    cubes
}
