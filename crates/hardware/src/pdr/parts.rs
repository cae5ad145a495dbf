//! A property that can be split: PDR on the whole and on its parts, by turns.
//!
//! A part with a small system may be decided at once where the whole is out of reach. What proves a part is an invariant
//! of the whole too: all searches that are still open take it as lemmas. Only the whole takes part in the exchange with
//! other engines, since parts have other latches.

use rustc_hash::FxHashSet;
use shofar_run::{Limits, Reason, Stop};

use super::cube::Cube;
use super::{Options, Pdr, Statistics};
use crate::aig::Edge;
use crate::evidence::{Evidence, Invariant};
use crate::exchange::Exchange;
use crate::split::{Part, Turns, split};
use crate::system::BitSystem;

/// The first turn, in literals propagated.
const FIRST_TURN: u64 = 200_000;

/// Decides a system.
pub(super) fn run(
    system: &BitSystem,
    options: Options,
    exchange: &Exchange,
    limits: &Limits<'_>,
) -> (Result<Evidence, Stop>, Statistics) {
    let parts = split(system);
    let mut whole = Pdr::new(system, options, limits);
    whole.join(exchange);
    let mut searches = Searches {
        whole,
        parts: parts.iter().map(|part| Search::new(part, options, limits, system.num_latches())).collect(),
        proven: Vec::new(),
        known: FxHashSet::default(),
        statistics: Statistics::default(),
    };
    let evidence = if parts.is_empty() { searches.whole.decide() } else { searches.decide() };
    (evidence, searches.statistics())
}

/// The search for a counterexample of one part.
struct Search<'a> {
    part: &'a Part,
    pdr: Pdr<'a>,
    /// By latches of the whole: that of the part.
    latches: Vec<Option<Edge>>,
}

impl<'a> Search<'a> {
    fn new(part: &'a Part, options: Options, limits: &'a Limits<'a>, latches_of_whole: usize) -> Self {
        let mut latches = vec![None; latches_of_whole];
        for latch in 0..part.system.num_latches() {
            let node = part.system.latch(latch);
            latches[part.back.leaf_back(node).index() - 1] = Some(Edge::from(node));
        }
        Self { part, pdr: Pdr::new(&part.system, options, limits), latches }
    }

    /// A cube of the whole, if it speaks of latches of the part only.
    fn within(&self, cube: &Cube) -> Option<Cube> {
        let lits = cube
            .lits()
            .iter()
            .map(|lit| self.latches[lit.node().index() - 1].map(|latch| latch.negate_if(lit.is_negated())));
        lits.collect::<Option<Vec<Edge>>>().map(Cube::new)
    }
}

/// The whole and the open parts.
struct Searches<'a> {
    whole: Pdr<'a>,
    /// Those that are not proven.
    parts: Vec<Search<'a>>,
    /// The invariants of the other parts, as cubes of the whole that are excluded.
    proven: Vec<Cube>,
    known: FxHashSet<Cube>,
    /// The counters of the proven parts.
    statistics: Statistics,
}

impl Searches<'_> {
    fn decide(&mut self) -> Result<Evidence, Stop> {
        let mut turns = Turns::new(FIRST_TURN);
        loop {
            let (who, work) = turns.next(self.parts.len());
            let Some(index) = who else {
                if let Some(evidence) = in_turn(&mut self.whole, work)? {
                    return Ok(evidence);
                }
                continue;
            };
            let search = &mut self.parts[index];
            match in_turn(&mut search.pdr, work)? {
                Some(Evidence::Unsafe(trace)) => {
                    return Ok(Evidence::Unsafe(search.part.back.trace_back(&trace)));
                }
                Some(Evidence::Safe(invariant)) => {
                    self.take(index, &invariant);
                    if self.parts.is_empty() {
                        return Ok(Evidence::Safe(self.invariant()));
                    }
                }
                None => {}
            }
        }
    }

    /// Takes the invariant of a part.
    fn take(&mut self, index: usize, invariant: &Invariant) {
        let search = self.parts.remove(index);
        self.statistics += search.pdr.statistics();
        for clause in &invariant.clauses {
            let lits =
                clause.iter().map(|&lit| search.part.back.leaf_back(lit.node()).edge(!lit.is_negated()));
            let cube = Cube::new(lits.collect());
            if !self.known.insert(cube.clone()) {
                continue;
            }
            self.whole.unshared.push(cube.clone());
            // With localization there are more runs, in which the invariant may be false (L1 of `localize.rs`).
            if self.whole.localization.is_none() {
                self.whole.add_to_infinity(cube.clone());
                for open in &mut self.parts {
                    if let Some(cube) = open.within(&cube) {
                        open.pdr.add_to_infinity(cube);
                    }
                }
            }
            self.proven.push(cube);
        }
    }

    /// The conjunction of all parts' invariants.
    fn invariant(&self) -> Invariant {
        let clauses = self.proven.iter().map(|cube| cube.lits().iter().map(|&lit| !lit).collect()).collect();
        Invariant { aig: self.whole.system.aig.clone(), clauses, depth: 1 }
    }

    fn statistics(&self) -> Statistics {
        let mut all = self.whole.statistics();
        all += self.statistics;
        self.parts.iter().for_each(|search| all += search.pdr.statistics());
        all
    }
}

/// Lets a search work for a while. The result is empty if that was too short.
fn in_turn(pdr: &mut Pdr<'_>, turn: u64) -> Result<Option<Evidence>, Stop> {
    pdr.most_work = pdr.work + turn;
    match pdr.decide() {
        Ok(evidence) => Ok(Some(evidence)),
        Err(Stop::Interrupted(Reason::Budget)) if pdr.work >= pdr.most_work => Ok(None),
        Err(stop) => Err(stop),
    }
}
