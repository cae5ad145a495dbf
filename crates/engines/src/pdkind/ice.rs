//! The induction-checking engine: a state machine that searches for a k-inductive strengthening of the property.
//!
//! A configuration is `<F, G, n, k, Q, n_cti>`. `F` is the *induction frame*: pairs of a lemma and a *counterexample*,
//! a set of states that lead to bad states and that the lemma excludes. `Q` has the lemmas of `F` that are not yet
//! known to hold after `n` steps. `G` has those that are, by induction over `k` steps relative to all of `F`. The
//! rules, for a lemma `l` of `Q` with counterexample `c`:
//!
//! ```text
//! Push-Lemma    l is F^k-inductive:                          l moves to G
//! Unsafe        a path of k steps through F leads into c, and its start is reached:  a bad state is reached
//! Add-Lemma     its start is not reached in n steps:         F and Q get a lemma that excludes the start; l stays
//! Bad-Lemma     c is excluded F^k-inductively, but a path leads out of l, and its start is reached:
//!                                                            F and G get "not c", l leaves Q; n_cti goes down to the
//!                                                            first number of steps after which l is false
//! Strengthen    its start is not reached in n steps:         l is strengthened by what excludes the start
//! Next-Level    Q is empty:                                  F <- G, n <- n_cti, and k is chosen anew
//! Safe          Q is empty and F = G:                        the conjunction of F is k-inductive
//! ```
//!
//! *Lemmas of others.* `F` also gets lemmas that other engines have for at least `n` steps, with counterexamples of their own. They
//! must be pushed as any other. A *closed* set, which contains all reached states and all successors of its states, restricts all
//! states of all paths; it needs no proof, and the result is k-inductive together with it.
//!
//! The start of a path is *generalised* to a set such that each of its states has a path of `k` steps into the same
//! set.
//!
//! Invariants:
//!
//! - C1: `1 <= k <= n + 1`.
//! - C2: every lemma of `F` holds in all states reached in at most `n` steps.
//! - C3: every lemma of `G` is F^k-inductive. Rules only strengthen `F`, so this stays true.
//! - C4: `l` excludes `c`, and from each state of `c` a known number of steps leads to a bad state. One of the lemmas
//!   excludes the bad states themselves.
//! - C5: `n < n_cti <= n + k`, and a lemma that left `Q` without entering `G` holds in all states reached in less than
//!   `n_cti` steps. When `Q` is empty, this holds for all of `F`, by C2, C3 and induction on the number of steps. So by
//!   C3 the lemmas of `G` hold up to `n_cti`, and C2 holds at the next level.
//!
//! *Numbers of steps.* By C2 neither `c` nor the complement of `l` is reached in `n` steps or fewer. A state that is
//! `k` steps before it is not reached in `n - k` steps or fewer, so only the range from `n - k + 1` to `n` is searched.
//!
//! *Corrections.* As printed, Bad-Lemma searches for the first step at which the start of the path is reached, instead
//! of the complement of the lemma. Elsewhere the next level is printed as `n + n_cti`. Both give wrong answers, and
//! tests show it.

use std::collections::BTreeSet;

use shofar_run::Stop;

use super::domain::Domain;
use super::fire::{Fire, Reach};
use super::{Depth, Order};
use crate::{FactId, Fate};

/// A lemma of the induction frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Element<S> {
    pub(super) lemma: S,
    pub(super) cex: CexId,
    pub(super) status: Status,
    /// The fact of another engine that it is, until it is pushed for the first time.
    foreign: Option<FactId>,
}

/// The status of a lemma at the current level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    /// It is in `Q`.
    Open,
    /// It is in `G`.
    Pushed,
    /// It is refuted: it left `Q` without entering `G`.
    Bad,
}

/// The index of a counterexample, in the order of discovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CexId(usize);

/// The bad states.
const BAD: CexId = CexId(0);

/// States that lead to bad ones.
#[derive(Clone, Copy, Debug)]
struct Cex<S> {
    states: S,
    /// The number of steps to another counterexample; `None` for the bad states.
    towards: Option<(usize, CexId)>,
    /// The number of steps to a bad state.
    distance: usize,
}

/// The applied rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Rule<S> {
    PushLemma,
    AddLemma,
    BadLemma,
    StrengthenLemma,
    NextLevel,
    /// The lemmas of the frame are k-inductive.
    Safe,
    /// The first of these sets contains an initial state, the last one is the set of bad states, and from each state of
    /// a set the given number of steps leads into the next one.
    Unsafe(Vec<(S, usize)>),
}

/// A lemma from another engine on the same system.
#[derive(Clone, Copy, Debug)]
pub(super) enum Received<S> {
    /// A set that contains the initial states, and the successors of its states.
    Closed(S),
    /// A lemma that holds for a number of steps.
    Bounded {
        lemma: S,
        steps: usize,
        /// States that it excludes, and the number of steps from them to bad states.
        cex: Option<(S, usize)>,
    },
}

/// The counters.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Statistics {
    pub(super) levels: u64,
    pub(super) pushed: u64,
    pub(super) added: u64,
    pub(super) bad: u64,
    pub(super) strengthened: u64,
    pub(super) received: u64,
}

/// A configuration.
pub(super) struct Ice<D: Domain> {
    pub(super) domain: D,
    pub(super) fire: Fire<D::Set>,
    depth: Depth,
    order: Order,

    /// `F`; the status marks the lemmas of `G`.
    pub(super) frame: Vec<Element<D::Set>>,
    /// `Q`: two keys for the order, and the position in the frame.
    queue: BTreeSet<(usize, u64, usize)>,
    cexes: Vec<Cex<D::Set>>,
    /// Closed sets of other engines.
    closed: Vec<D::Set>,
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) n_cti: usize,

    /// The number of insertions into the queue.
    age: u64,
    pub(super) statistics: Statistics,
}

impl<D: Domain> Ice<D> {
    /// The first configuration. Precondition: no bad state is initial.
    pub(super) fn new(domain: D, bad: D::Set, depth: Depth, order: Order) -> Result<Self, Stop> {
        let mut ice = Ice {
            domain,
            fire: Fire::new(),
            depth,
            order,
            frame: Vec::new(),
            queue: BTreeSet::new(),
            cexes: vec![Cex { states: bad, towards: None, distance: 0 }],
            closed: Vec::new(),
            n: 0,
            k: 1,
            n_cti: 1,
            age: 0,
            statistics: Statistics::default(),
        };
        let property = ice.domain.complement(bad);
        ice.domain.open_level(1, &[property])?;
        ice.enqueue_new(property, BAD, None);
        Ok(ice)
    }

    /// Applies one rule.
    pub(super) fn step(&mut self) -> Result<Rule<D::Set>, Stop> {
        self.domain.poll()?;
        self.receive()?;
        let Some((_, _, position)) = self.queue.pop_first() else {
            return if self.frame.iter().all(|element| element.status == Status::Pushed) {
                Ok(Rule::Safe)
            } else {
                self.next_level()
            };
        };
        let Element { lemma, cex, .. } = self.frame[position];
        let not_lemma = self.domain.complement(lemma);
        let Some(path) = self.domain.path_to(not_lemma)? else {
            return Ok(self.push_lemma(position));
        };
        let cex_states = self.cexes[cex.0].states;
        let path_to_cex = if self.domain.ends_in(&path, cex_states)? {
            Some(self.domain.generalise(&path, cex_states)?)
        } else {
            match self.domain.path_to(cex_states)? {
                Some(path) => Some(self.domain.generalise(&path, cex_states)?),
                None => None,
            }
        };
        if let Some(start) = path_to_cex {
            match self.reach(start, self.n + 1 - self.k, self.n)? {
                Reach::Reached(path) => Ok(Rule::Unsafe(self.trace(&path, cex))),
                Reach::Excluded(new) => self.add_lemma(position, new, start),
            }
        } else {
            let start = self.domain.generalise(&path, not_lemma)?;
            match self.reach(start, self.n + 1 - self.k, self.n)? {
                Reach::Reached(path) => self.bad_lemma(position, not_lemma, path.len() - 1 + self.k),
                Reach::Excluded(new) => self.strengthen_lemma(position, new),
            }
        }
    }

    /// The lemmas of `F` and the closed sets.
    pub(super) fn lemmas(&self) -> Vec<D::Set> {
        self.closed.iter().copied().chain(self.frame.iter().map(|element| element.lemma)).collect()
    }

    fn push_lemma(&mut self, position: usize) -> Rule<D::Set> {
        self.statistics.pushed += 1;
        let element = &mut self.frame[position];
        element.status = Status::Pushed;
        let (lemma, cex, foreign) = (element.lemma, self.cexes[element.cex.0], element.foreign.take());
        if let Some(fact) = foreign {
            self.domain.rate(fact, Fate::Useful);
        }
        self.domain.send(lemma, self.n + 1, Some((cex.states, cex.distance)));
        Rule::PushLemma
    }

    /// Adds a lemma that excludes the states `start`. From these, `k` steps lead into the counterexample of the element
    /// at `position`.
    fn add_lemma(&mut self, position: usize, lemma: D::Set, start: D::Set) -> Result<Rule<D::Set>, Stop> {
        self.statistics.added += 1;
        let towards = self.frame[position].cex;
        let distance = self.cexes[towards.0].distance + self.k;
        tracing::debug!(k = self.k, frame = self.frame.len(), distance, "lemma");
        self.cexes.push(Cex { states: start, towards: Some((self.k, towards)), distance });
        self.domain.restrict(lemma)?;
        self.enqueue_new(lemma, CexId(self.cexes.len() - 1), None);
        self.enqueue(position);
        Ok(Rule::AddLemma)
    }

    /// Marks a lemma as refuted. It is false after at most `violated` steps.
    fn bad_lemma(
        &mut self,
        position: usize,
        not_lemma: D::Set,
        violated: usize,
    ) -> Result<Rule<D::Set>, Stop> {
        self.statistics.bad += 1;
        // Only the least number keeps C5.
        let last = violated.min(self.n_cti - 1);
        if self.n < last
            && let Reach::Reached(path) = self.reach(not_lemma, self.n + 1, last)?
        {
            self.n_cti = path.len() - 1;
        }
        self.frame[position].status = Status::Bad;
        let cex = self.frame[position].cex;
        let not_cex = self.domain.complement(self.cexes[cex.0].states);
        self.domain.restrict(not_cex)?;
        self.frame.push(Element { lemma: not_cex, cex, status: Status::Pushed, foreign: None });
        Ok(Rule::BadLemma)
    }

    fn strengthen_lemma(&mut self, position: usize, lemma: D::Set) -> Result<Rule<D::Set>, Stop> {
        self.statistics.strengthened += 1;
        let stronger = self.domain.intersection(self.frame[position].lemma, lemma);
        self.domain.restrict(lemma)?;
        self.frame[position].lemma = stronger;
        self.enqueue(position);
        Ok(Rule::StrengthenLemma)
    }

    fn next_level(&mut self) -> Result<Rule<D::Set>, Stop> {
        self.statistics.levels += 1;
        self.n = self.n_cti;
        self.k = self.depth.choose(self.n, self.statistics.levels as usize);
        self.n_cti = self.n + self.k;
        self.domain.send_depth(self.n);
        self.frame.retain(|element| element.status == Status::Pushed);
        for element in &self.frame {
            self.fire.learn(element.lemma, self.n);
        }
        let lemmas = self.lemmas();
        self.domain.open_level(self.k, &lemmas)?;
        for position in 0..self.frame.len() {
            self.frame[position].status = Status::Open;
            self.enqueue(position);
        }
        Ok(Rule::NextLevel)
    }

    /// Takes the lemmas of other engines into the reachability engine, and into `F` if they hold at this level.
    fn receive(&mut self) -> Result<(), Stop> {
        for (fact, received) in self.domain.receive() {
            self.statistics.received += 1;
            let fate = match received {
                Received::Closed(set) => {
                    self.fire.learn_invariant(set);
                    self.domain.restrict(set)?;
                    self.closed.push(set);
                    Fate::Accepted
                }
                Received::Bounded { lemma, steps, cex } => {
                    self.fire.learn(lemma, steps);
                    let is_known = || self.frame.iter().any(|element| element.lemma == lemma);
                    match cex {
                        Some((states, distance)) if self.n <= steps && !is_known() => {
                            self.cexes.push(Cex { states, towards: Some((distance, BAD)), distance });
                            self.domain.restrict(lemma)?;
                            self.enqueue_new(lemma, CexId(self.cexes.len() - 1), Some(fact));
                            Fate::Accepted
                        }
                        _ => Fate::Refused,
                    }
                }
            };
            self.domain.rate(fact, fate);
        }
        Ok(())
    }

    fn enqueue_new(&mut self, lemma: D::Set, cex: CexId, foreign: Option<FactId>) {
        self.frame.push(Element { lemma, cex, status: Status::Open, foreign });
        self.enqueue(self.frame.len() - 1);
    }

    fn enqueue(&mut self, position: usize) {
        self.age += 1;
        let distance = self.cexes[self.frame[position].cex.0].distance;
        let key = match self.order {
            Order::Fifo => (0, self.age),
            Order::Lifo => (0, u64::MAX - self.age),
            Order::Shallow => (distance, self.age),
        };
        self.queue.insert((key.0, key.1, position));
    }

    fn reach(&mut self, goal: D::Set, from: usize, to: usize) -> Result<Reach<D::Set>, Stop> {
        self.fire.reach_between(&mut self.domain, goal, from, to)
    }

    /// A path through sets from initial states to a counterexample, `k` steps behind the last set of `path`, and on to
    /// the bad states.
    fn trace(&self, path: &[D::Set], cex: CexId) -> Vec<(D::Set, usize)> {
        let mut trace: Vec<(D::Set, usize)> = path.iter().map(|&set| (set, 1)).collect();
        if let Some(last) = trace.last_mut() {
            last.1 = self.k;
        }
        let mut next = Some(cex);
        while let Some(CexId(id)) = next {
            let Cex { states, towards, .. } = self.cexes[id];
            trace.push((states, towards.map_or(0, |(steps, _)| steps)));
            next = towards.map(|(_, id)| id);
        }
        trace
    }
}
