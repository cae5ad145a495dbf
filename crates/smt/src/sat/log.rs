//! The proof log: records how each clause was derived, so that a refutation can be extracted.
//!
//! A *step* is a clause with its justification: a *leaf*, which came from outside with its [`Origin`], or a *chain*, a
//! step followed by steps to resolve it with, each with its pivot:
//!
//! ```text
//! intake (intake.rs)           a leaf; then a chain that removes the literals false at level 0
//! explanation (analyze.rs)     a leaf, when the theory is asked
//! conflict (analyze.rs)        the conflict, antecedents in reverse trail order, those of minimisation, units
//! literal fixed at level 0     its antecedent and the units of the other literals; made when it is needed
//! failed assumption            the assumption, then antecedents and assumptions in reverse trail order
//! collection (reduce.rs)       a clause that loses literals false at level 0, with their units
//! ```
//!
//! Only leaves store their literals; those of chains follow from them ([`Solver::refutation`]).
//!
//! - P1: the premises of a step have smaller numbers.
//! - P2: the id of a clause in the arena is the number of a step that derives exactly its literals.
//! - P3: each of the first `fixed` literals of the trail, except activation literals of frames, has a step that derives
//!   it as a unit.
//! - P4: no step resolves on the activation literal of a frame, except with the assumption of the frame. So a
//!   refutation without these assumptions derives only negations of activation literals. Leaving these literals out of
//!   all clauses makes it a refutation of the clauses of open frames. (By F1 a clause of a popped frame cannot take
//!   part.)
//!
//! Deleted clauses leave their steps behind. When the log has grown to four times its size after the last compaction,
//! it is compacted: steps that no clause, unit, or result needs are removed, along with their theory certificates.
//!
//! A. Van Gelder ("Producing and verifying extremely large propositional refutations", AMAI 2012) notes that
//! minimisation must be logged in reverse trail order.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Solver;
use super::clause::ClauseRef;
use super::literal::{Lit, Var};
use super::theory::{Certificate, Theory};
use super::trail::Antecedent;

/// The missing step.
const NONE: u32 = u32::MAX;

/// The log is not compacted below this many words.
const LEAST_WORDS: usize = 1 << 12;

/// The origin of a clause that was not derived.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Origin {
    /// An assertion, in a part of the problem that the caller numbered.
    Assertion(u32),
    /// The definition of a variable or symbol.
    Definition,
    /// A clause that the theory justifies by a certificate.
    Lemma(Certificate),
    /// An assumption of the query.
    Assumption,
}

/// A step of a refutation; see [`Solver::refutation`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedStep {
    /// The literals, ascending.
    pub clause: Box<[Lit]>,
    /// How it was derived.
    pub rule: LoggedRule,
}

/// How a step was derived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoggedRule {
    /// It was not derived.
    Leaf(Origin),
    /// By resolution of a step with others in turn, each on its pivot. Steps are numbered from zero.
    Chain {
        /// The first step.
        first: u32,
        /// The others with the pivots.
        others: Box<[(u32, Var)]>,
    },
}

/// The first word of a step: its kind.
const CHAIN: u32 = 0;
const ASSERTION: u32 = 1;
const DEFINITION: u32 = 2;
const LEMMA: u32 = 3;
const ASSUMPTION: u32 = 4;

/// The log of a solver.
pub(super) struct Log {
    /// The position of each step in `words`.
    starts: Vec<usize>,
    /// All steps: the kind, then the part, certificate or first step, then literals or pairs of step and pivot.
    words: Vec<u32>,

    /// By variables: the step of the unit clause, for those with a value at level 0 (P3).
    units: Vec<u32>,
    /// The literals of the trail at level 0 whose units are logged.
    fixed: usize,
    /// The step of the last empty clause under assumptions.
    root: u32,
    /// The step of the empty clause without assumptions.
    refuted: u32,

    // Scratch.
    /// The chain being built; the pivot of the first step is meaningless.
    chain: Vec<(u32, Var)>,
    /// Variables of literals of the chain that are false at level 0.
    pub(super) false_at_0: Vec<Var>,
    /// Literals that minimisation removed.
    pub(super) removed: Vec<Lit>,
    /// The step of the clause being taken in, or learnt last.
    pub(super) current: u32,

    /// The number of words at which to compact.
    compact_at: usize,
}

impl Default for Log {
    fn default() -> Self {
        Log {
            starts: Vec::new(),
            words: Vec::new(),
            units: Vec::new(),
            fixed: 0,
            root: NONE,
            refuted: NONE,
            chain: Vec::new(),
            false_at_0: Vec::new(),
            removed: Vec::new(),
            current: NONE,
            compact_at: LEAST_WORDS,
        }
    }
}

impl Log {
    fn begin(&mut self, kind: u32, payload: u32) -> u32 {
        let step = self.starts.len() as u32;
        self.starts.push(self.words.len());
        self.words.extend([kind, payload]);
        step
    }

    fn leaf(&mut self, origin: Origin, lits: &[Lit]) -> u32 {
        let (kind, payload) = match origin {
            Origin::Assertion(part) => (ASSERTION, part),
            Origin::Definition => (DEFINITION, 0),
            Origin::Lemma(Certificate(number)) => (LEMMA, number),
            Origin::Assumption => (ASSUMPTION, 0),
        };
        let step = self.begin(kind, payload);
        self.words.extend(lits.iter().map(|lit| lit.code()));
        step
    }

    /// Resolves the chain with the units of its literals that are false at level 0, and ends it.
    fn end_chain(&mut self) -> u32 {
        self.false_at_0.sort_unstable();
        self.false_at_0.dedup();
        for &var in &self.false_at_0 {
            debug_assert_ne!(self.units[var.index()], NONE, "P3: {var:?}");
            self.chain.push((self.units[var.index()], var));
        }
        self.false_at_0.clear();
        let first = self.chain[0].0;
        if self.chain.len() == 1 {
            self.chain.clear();
            return first;
        }
        let step = self.begin(CHAIN, first);
        self.words
            .extend(self.chain.drain(..).skip(1).flat_map(|(step, pivot)| [step, pivot.index() as u32]));
        step
    }

    fn words_of(&self, step: u32) -> &[u32] {
        let end = self.starts.get(step as usize + 1).copied().unwrap_or(self.words.len());
        &self.words[self.starts[step as usize]..end]
    }

    /// The origin and the literals of a leaf.
    fn as_leaf(&self, step: u32) -> Option<(Origin, &[u32])> {
        let [kind, payload, codes @ ..] = self.words_of(step) else { return None };
        let origin = match *kind {
            ASSERTION => Origin::Assertion(*payload),
            DEFINITION => Origin::Definition,
            LEMMA => Origin::Lemma(Certificate(*payload)),
            ASSUMPTION => Origin::Assumption,
            _ => return None,
        };
        Some((origin, codes))
    }

    /// The steps of a chain with their pivots; the first pivot is meaningless. Empty for a leaf.
    fn chain_of(&self, step: u32) -> impl Iterator<Item = (u32, Var)> {
        let (first, others) = match self.words_of(step) {
            [CHAIN, first, others @ ..] => (Some((*first, Var::from_index(0))), others),
            _ => (None, &[][..]),
        };
        let others = others.chunks_exact(2).map(|pair| (pair[0], Var::from_index(pair[1] as usize)));
        first.into_iter().chain(others)
    }

    /// The given steps and all steps they depend on, ascending.
    fn needed_for(&self, roots: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut open: Vec<u32> = roots.filter(|&step| step != NONE).collect();
        let mut seen: FxHashSet<u32> = open.iter().copied().collect();
        let mut needed = Vec::new();
        while let Some(step) = open.pop() {
            needed.push(step);
            open.extend(
                self.chain_of(step).map(|(premise, _)| premise).filter(|&premise| seen.insert(premise)),
            );
        }
        needed.sort_unstable();
        needed.dedup();
        needed
    }

    /// The step of the unit clause of a variable.
    fn unit_mut(&mut self, var: Var) -> &mut u32 {
        if self.units.len() <= var.index() {
            self.units.resize(var.index() + 1, NONE);
        }
        &mut self.units[var.index()]
    }
}

/// The search's reports to the log. They do nothing while the log is off.
impl<T: Theory> Solver<T> {
    /// Logs derivations from now on. Call this before adding the first clause.
    ///
    /// # Panics
    ///
    /// If there are clauses.
    pub fn log_proofs(&mut self) {
        let is_empty = self.consistent && self.trail.lits().is_empty() && self.arena.is_empty();
        assert!(is_empty, "clauses without a step would be no premises");
        self.log = Some(Box::default());
        self.arena.keep_ids();
    }

    /// Whether proofs are logged.
    #[inline]
    pub(crate) fn logs_proofs(&self) -> bool {
        self.log.is_some()
    }

    /// The clause in `self.clause` is taken in: it has no repeated literal and is not true at level 0.
    pub(super) fn log_intake(&mut self, origin: Origin) {
        self.log_fixed();
        let Self { log: Some(log), clause, trail, .. } = self else { return };
        let leaf = log.leaf(origin, clause);
        log.chain.push((leaf, Var::from_index(0)));
        log.false_at_0.extend(clause.iter().filter(|&&lit| trail.is_fixed(lit)).map(|lit| lit.var()));
        log.current = log.end_chain();
        if clause.iter().all(|&lit| trail.is_fixed(lit)) {
            log.refuted = log.current;
        }
    }

    /// The clause taken in or learnt last is stored in the arena.
    pub(super) fn log_clause(&mut self, clause: ClauseRef) {
        if let Some(log) = &self.log {
            self.arena.set_id(clause, log.current);
        }
    }

    /// The clause taken in or learnt last is a unit and holds at level 0.
    pub(super) fn log_unit(&mut self, unit: Lit) {
        if let Some(log) = &mut self.log {
            *log.unit_mut(unit.var()) = log.current;
        }
    }

    /// The theory's explanation in the scratch space became a clause.
    pub(super) fn log_explanation(&mut self, clause: ClauseRef, certificate: Certificate) {
        if let Some(log) = &mut self.log {
            let step = log.leaf(Origin::Lemma(certificate), deduplicated(&self.analysis.explanation));
            self.arena.set_id(clause, step);
        }
    }

    /// The theory's explanation in the scratch space makes its first literal true at level 0.
    pub(super) fn log_fixed_by_theory(&mut self, certificate: Certificate) {
        self.log_fixed();
        let Self { log: Some(log), analysis, .. } = self else { return };
        let explanation = deduplicated(&analysis.explanation);
        let leaf = log.leaf(Origin::Lemma(certificate), explanation);
        log.chain.push((leaf, Var::from_index(0)));
        log.false_at_0.extend(explanation[1..].iter().map(|lit| lit.var()));
        *log.unit_mut(explanation[0].var()) = log.end_chain();
    }

    /// Logs the units of literals that became true at level 0 since the last call (P3).
    pub(super) fn log_fixed(&mut self) {
        let Self { log: Some(log), trail, arena, .. } = self else { return };
        for &lit in &trail.lits()[log.fixed..trail.num_fixed()] {
            if let Antecedent::Clause(clause) = trail.antecedent(lit.var()) {
                log.chain.push((arena.id(clause), lit.var()));
                log.false_at_0.extend(arena.lits(clause).map(Lit::var).filter(|&var| var != lit.var()));
                *log.unit_mut(lit.var()) = log.end_chain();
            }
        }
        log.fixed = trail.num_fixed();
    }

    /// Variables of frames were made unassigned at level 0.
    pub(super) fn log_forgotten(&mut self, vars: &[Var]) {
        if let Some(log) = &mut self.log {
            vars.iter().for_each(|&var| *log.unit_mut(var) = NONE);
            log.fixed = self.trail.num_fixed();
        }
    }

    /// An analysis starts with the conflict.
    pub(super) fn log_conflict(&mut self, conflict: ClauseRef) {
        self.log_fixed();
        if let Some(log) = &mut self.log {
            log.chain.clear();
            log.false_at_0.clear();
            log.removed.clear();
            log.chain.push((self.arena.id(conflict), Var::from_index(0)));
        }
    }

    /// The analysis resolves with the antecedent of a literal.
    pub(super) fn log_antecedent(&mut self, clause: ClauseRef, pivot: Lit) {
        if let Some(log) = &mut self.log {
            log.chain.push((self.arena.id(clause), pivot.var()));
        }
    }

    /// The analysis ends with the clause `learnt`, after minimisation removed literals. The removed literals are
    /// resolved away with their antecedents, and so are the literals that these introduce, each before those of its own
    /// antecedent.
    pub(super) fn log_learnt(&mut self) {
        let Self { log: Some(log), analysis, trail, arena, .. } = self else { return };
        let mut settled: FxHashSet<Var> = FxHashSet::default();
        if !log.removed.is_empty() {
            settled.extend(analysis.learnt.iter().map(|lit| lit.var()));
        }
        let mut finished: Vec<(u32, Var)> = Vec::new();
        let mut open: Vec<(Var, ClauseRef, usize)> = Vec::new();
        let antecedent = |var: Var| match trail.antecedent(var) {
            Antecedent::Clause(clause) => clause,
            _ => unreachable!("{var:?} is implied by an antecedent"),
        };
        for lit in log.removed.drain(..) {
            if settled.insert(lit.var()) {
                open.push((lit.var(), antecedent(lit.var()), 0));
            }
            while let Some((var, clause, next)) = open.last_mut() {
                if *next == arena.size(*clause) {
                    finished.push((arena.id(*clause), *var));
                    open.pop();
                    continue;
                }
                let reason = arena.lit(*clause, *next).var();
                *next += 1;
                if trail.level_of(reason) == 0 {
                    log.false_at_0.push(reason);
                } else if reason != *var && settled.insert(reason) {
                    open.push((reason, antecedent(reason), 0));
                }
            }
        }
        log.chain.extend(finished.into_iter().rev());
        log.current = log.end_chain();
    }

    /// All literals of the clause are false at level 0.
    pub(super) fn log_refutation(&mut self, conflict: ClauseRef) {
        self.log_conflict(conflict);
        if let Some(log) = &mut self.log {
            log.false_at_0.extend(self.arena.lits(conflict).map(Lit::var));
            log.refuted = log.end_chain();
        }
    }

    /// The analysis of a false assumption starts.
    pub(super) fn log_failed(&mut self, failed: Lit) {
        self.log_fixed();
        let Self { log: Some(log), trail, .. } = self else { return };
        log.chain.clear();
        log.false_at_0.clear();
        let leaf = log.leaf(Origin::Assumption, &[failed]);
        log.chain.push((leaf, failed.var()));
        if trail.is_fixed(failed) {
            log.false_at_0.push(failed.var());
        }
    }

    /// The analysis reaches an assumption.
    pub(super) fn log_assumption(&mut self, assumption: Lit) {
        if let Some(log) = &mut self.log {
            let leaf = log.leaf(Origin::Assumption, &[assumption]);
            log.chain.push((leaf, assumption.var()));
        }
    }

    /// The analysis of a false assumption ends.
    pub(super) fn log_core(&mut self) {
        if let Some(log) = &mut self.log {
            log.root = log.end_chain();
        }
    }

    /// A collection is about to drop literals that are false at level 0, except the first two of each clause. The units
    /// of all such literals are logged.
    pub(super) fn log_shrinking(&mut self) {
        let Self { log: Some(log), trail, arena, .. } = self else { return };
        let is_dead = |lit: &Lit| trail.value(*lit) < 0 && trail.is_fixed(*lit);
        let shrinking: Vec<ClauseRef> =
            arena.iter().filter(|&clause| arena.lits(clause).skip(2).any(|lit| is_dead(&lit))).collect();
        for clause in shrinking {
            log.chain.push((arena.id(clause), Var::from_index(0)));
            log.false_at_0.extend(arena.lits(clause).skip(2).filter(is_dead).map(Lit::var));
            let step = log.end_chain();
            arena.set_id(clause, step);
        }
    }
}

/// Removes the repetition from an explanation that consists of its first literal twice.
fn deduplicated(explanation: &[Lit]) -> &[Lit] {
    match explanation {
        [first, second] if first == second => &explanation[..1],
        _ => explanation,
    }
}

/// Compaction.
impl<T: Theory> Solver<T> {
    /// Removes steps that nothing needs, if the log has grown enough.
    pub(super) fn compact_log(&mut self) {
        if self.log.as_ref().is_none_or(|log| log.words.len() < log.compact_at) {
            return;
        }
        self.log_fixed();
        let Self { log: Some(log), arena, trail, theory, inbox, .. } = self else { return };
        let fixed = trail.lits()[..trail.num_fixed()].iter().map(|lit| lit.var());
        let units: Vec<Var> =
            fixed.filter(|var| log.units.get(var.index()).is_some_and(|&s| s != NONE)).collect();
        let clauses: Vec<ClauseRef> = arena.iter().collect();
        let roots = clauses.iter().map(|&clause| arena.id(clause));
        let roots =
            roots.chain(units.iter().map(|var| log.units[var.index()])).chain([log.root, log.refuted]);
        let needed = log.needed_for(roots);

        let mut certificates: Vec<Certificate> =
            inbox.lemmas.iter().filter_map(|lemma| lemma.certificate()).collect();
        certificates.extend(needed.iter().filter_map(|&step| match log.as_leaf(step) {
            Some((Origin::Lemma(certificate), _)) => Some(certificate),
            _ => None,
        }));
        certificates.sort_unstable();
        certificates.dedup();
        let mut renamed = certificates.clone();
        theory.retain_certificates(&mut renamed);
        let renamed: FxHashMap<Certificate, Certificate> = std::iter::zip(certificates, renamed).collect();
        inbox.lemmas.iter_mut().for_each(|lemma| lemma.rename_certificate(&renamed));

        let place = |step: u32| needed.binary_search(&step).map_or(NONE, |place| place as u32);
        let mut new =
            Log { fixed: log.fixed, root: place(log.root), refuted: place(log.refuted), ..Log::default() };
        for &step in &needed {
            match log.as_leaf(step) {
                Some((origin, codes)) => {
                    let origin = match origin {
                        Origin::Lemma(certificate) => Origin::Lemma(renamed[&certificate]),
                        origin => origin,
                    };
                    let lits: Vec<Lit> = codes.iter().map(|&code| Lit::from_code(code)).collect();
                    new.leaf(origin, &lits);
                }
                None => {
                    new.chain.extend(log.chain_of(step).map(|(premise, pivot)| (place(premise), pivot)));
                    new.end_chain();
                }
            }
        }
        for var in units {
            *new.unit_mut(var) = place(log.units[var.index()]);
        }
        for clause in clauses {
            arena.set_id(clause, place(arena.id(clause)));
        }
        new.compact_at = LEAST_WORDS.max(4 * new.words.len());
        **log = new;
    }
}

/// Reading the refutation off the log.
impl<T: Theory> Solver<T> {
    /// After `Unsat`: the steps that the empty clause depends on; the empty clause is last. Premises come before
    /// conclusions. The assumptions of the core are leaves; activation literals of frames do not occur (P4). `None` if
    /// proofs are not logged or nothing was refuted.
    pub fn refutation(&self) -> Option<Vec<LoggedStep>> {
        let log = self.log.as_ref()?;
        let root = if self.consistent { log.root } else { log.refuted };
        if root == NONE {
            return None;
        }
        let frames = self.frame_variables();
        let is_frame = |var: Var| frames.contains(&var);
        let mut steps: Vec<LoggedStep> = Vec::new();
        let mut places: FxHashMap<u32, u32> = FxHashMap::default();
        let mut resolvent = Resolvent::default();
        for step in log.needed_for([root].into_iter()) {
            if let Some((origin, codes)) = log.as_leaf(step) {
                let lits = codes.iter().map(|&code| Lit::from_code(code)).filter(|lit| !is_frame(lit.var()));
                let mut clause: Box<[Lit]> = lits.collect();
                clause.sort_unstable();
                // Without its activation literal, the assumption of a frame is empty.
                if origin != Origin::Assumption || !clause.is_empty() {
                    places.insert(step, steps.len() as u32);
                    steps.push(LoggedStep { clause, rule: LoggedRule::Leaf(origin) });
                }
                continue;
            }
            let mut premises =
                log.chain_of(step).filter_map(|(premise, pivot)| Some((*places.get(&premise)?, pivot)));
            let (first, _) = premises.next().expect("only assumptions of frames are left out");
            let others: Box<[(u32, Var)]> = premises.collect();
            if others.is_empty() {
                places.insert(step, first);
                continue;
            }
            resolvent.start(&steps[first as usize].clause);
            for &(premise, pivot) in &others {
                resolvent.resolve(&steps[premise as usize].clause, pivot);
            }
            places.insert(step, steps.len() as u32);
            steps.push(LoggedStep { clause: resolvent.clause(), rule: LoggedRule::Chain { first, others } });
        }
        // The root may be an alias of an earlier step.
        steps.truncate(places[&root] as usize + 1);
        debug_assert!(
            steps.last().is_some_and(|step| step.clause.is_empty()),
            "a refutation ends in the empty clause"
        );
        Some(steps)
    }
}

impl<T: Theory> Solver<T> {
    /// P1, P3, and the part of P2 that each clause has a step.
    pub(super) fn check_log(&self) {
        let Some(log) = &self.log else { return };
        let count = log.starts.len() as u32;
        for step in 0..count {
            assert!(log.chain_of(step).all(|(premise, _)| premise < step), "P1: a premise of {step}");
        }
        assert!(self.arena.iter().all(|clause| self.arena.id(clause) < count), "P2: a clause without a step");
        let frames = self.frame_variables();
        for lit in &self.trail.lits()[..log.fixed] {
            let has_unit = log.units.get(lit.var().index()).is_some_and(|&step| step < count);
            assert!(has_unit || frames.contains(&lit.var()), "P3: {lit:?} has no unit");
        }
    }
}

/// The clause derived so far in a chain.
#[derive(Default)]
struct Resolvent {
    lits: Vec<Lit>,
    places: FxHashMap<Lit, usize>,
}

impl Resolvent {
    fn start(&mut self, clause: &[Lit]) {
        self.lits.clear();
        self.places.clear();
        clause.iter().for_each(|&lit| self.insert(lit));
    }

    fn insert(&mut self, lit: Lit) {
        if let std::collections::hash_map::Entry::Vacant(place) = self.places.entry(lit) {
            place.insert(self.lits.len());
            self.lits.push(lit);
        }
    }

    fn remove(&mut self, lit: Lit) -> bool {
        let Some(place) = self.places.remove(&lit) else { return false };
        self.lits.swap_remove(place);
        if let Some(&moved) = self.lits.get(place) {
            self.places.insert(moved, place);
        }
        true
    }

    fn resolve(&mut self, clause: &[Lit], pivot: Var) {
        let removed = self.remove(pivot.positive()) | self.remove(pivot.negative());
        debug_assert!(removed, "the pivot {pivot:?} is there");
        clause.iter().filter(|lit| lit.var() != pivot).for_each(|&lit| self.insert(lit));
    }

    fn clause(&self) -> Box<[Lit]> {
        let mut lits = self.lits.clone();
        lits.sort_unstable();
        lits.into()
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;

    use super::*;
    use crate::sat::Outcome;

    /// Replays a refutation, whose leaves must be among the given clauses and assumptions.
    fn check(steps: &[LoggedStep], clauses: &[Vec<Lit>], assumptions: &[Lit]) {
        for (number, LoggedStep { clause, rule }) in steps.iter().enumerate() {
            match rule {
                LoggedRule::Leaf(Origin::Assumption) => {
                    assert!(assumptions.contains(&clause[0]) && clause.len() == 1)
                }
                LoggedRule::Leaf(_) => {
                    assert!(clauses.iter().any(|other| other[..] == clause[..]), "{clause:?}")
                }
                LoggedRule::Chain { first, others } => {
                    let mut resolvent = steps[*first as usize].clause.to_vec();
                    for &(other, pivot) in others {
                        assert!((other as usize) < number);
                        let other = &steps[other as usize].clause;
                        let lit = *other.iter().find(|lit| lit.var() == pivot).expect("the pivot is there");
                        assert!(resolvent.contains(&!lit));
                        resolvent.retain(|it| *it != !lit);
                        resolvent.extend(other.iter().filter(|it| **it != lit));
                    }
                    resolvent.sort_unstable();
                    resolvent.dedup();
                    assert_eq!(resolvent[..], clause[..]);
                }
            }
        }
        assert!(steps.last().is_some_and(|step| step.clause.is_empty()));
    }

    #[test]
    fn refutations_survive_frames_reductions_and_compaction() {
        let mut refutations = 0;
        for seed in 1..=40 {
            let mut random = Random::new(seed);
            let mut solver = Solver::new();
            solver.log_proofs();
            let vars: Vec<Var> = (0..12 + seed as usize).map(|_| solver.new_var()).collect();
            let mut frames: Vec<Vec<Vec<Lit>>> = vec![Vec::new()];
            for _ in 0..400 {
                let mut lit = || vars[random.below(vars.len())].lit(random.bool());
                let [first, second, third] = [lit(), lit(), lit()];
                match random.below(12) {
                    0 => {
                        solver.push();
                        frames.push(Vec::new());
                    }
                    1 | 2 if frames.len() > 1 => {
                        solver.pop();
                        frames.pop();
                    }
                    3 => {
                        if random.bool() {
                            solver.backtrack_fully();
                            solver.retire_frames();
                        }
                        // Everything that may be forgotten is forgotten, repeatedly.
                        if let Some(log) = &mut solver.log {
                            log.compact_at = 0;
                        }
                        let assumptions = [first, second, third];
                        let assumptions = &assumptions[..random.below(4)];
                        if solver.solve(assumptions) == Outcome::Unsat {
                            refutations += 1;
                            let clauses: Vec<Vec<Lit>> = frames.iter().flatten().cloned().collect();
                            check(&solver.refutation().expect("proofs are logged"), &clauses, assumptions);
                        }
                        solver.check_invariants();
                    }
                    _ => {
                        let mut clause = vec![first, second, third];
                        solver.add_clause(&clause);
                        clause.sort_unstable();
                        clause.dedup();
                        frames.last_mut().expect("there is always one").push(clause);
                    }
                }
            }
        }
        assert!(refutations > 100, "{refutations}");
    }

    #[test]
    fn pigeons_are_refuted_across_reductions() {
        let mut solver = Solver::new();
        solver.log_proofs();
        let at: Vec<Vec<Var>> = (0..8).map(|_| (0..7).map(|_| solver.new_var()).collect()).collect();
        let mut clauses: Vec<Vec<Lit>> = Vec::new();
        for (pigeon, holes) in at.iter().enumerate() {
            clauses.push(holes.iter().map(|var| var.positive()).collect());
            for other in &at[..pigeon] {
                clauses.extend(std::iter::zip(holes, other).map(|(x, y)| vec![y.negative(), x.negative()]));
            }
        }
        clauses.iter().for_each(|clause| solver.add_clause(clause));
        assert_eq!(solver.solve(&[]), Outcome::Unsat);
        assert!(solver.statistics().collections > 2 && solver.statistics().deleted > 100);
        let steps = solver.refutation().expect("proofs are logged");
        check(&steps, &clauses, &[]);
        assert!(solver.log.as_ref().is_some_and(|log| steps.len() < log.starts.len()));
    }
}
