//! The lemmas of one predicate, and the levels up to which they hold.
//!
//! A lemma is the negation of a cube over the variables of the predicate. It has one level. `F_i` is the conjunction of
//! all lemmas of level `i` and above (the delta encoding of IC3). Lemmas only move upwards. So frames are monotone by
//! construction:
//!
//! - L1: every lemma of level `i` holds for all facts with derivations of height at most `i`; one of level [`INFINITY`]
//!   holds for all facts.
//! - L2: `F_{i-1}` of the bodies and the label of any clause imply each lemma of level `i` of its head.
//! - L3: no lemma follows, by comparing cubes, from another one of the same or a higher level.
//!
//! Removing a lemma because of a stronger one at the same level or above keeps L2, since frames only become stronger.
//! L3 matters only for speed, and without [subsumption](Frames::new) it does not hold.
//!
//! Removed lemmas and lemmas of other engines that did not hold when they came are *idle*: they belong to no frame. The smallest
//! lemmas, idle or not, are [remembered](Frames::remembered), because they may hold at a level that they did not hold at before.
//!
//! A literal follows from another one only if both bound the same form, or are the same. So all [subjects](subject) of
//! a lemma that excludes a cube are among the cube's. It is enough to check the lemmas that *watch* one of these
//! (one-watched subsumption, as of clauses in SAT solvers). Signatures of subjects exclude most of the others, in both
//! directions.

use std::cell::LazyCell;
use std::hash::BuildHasher;
use std::rc::Rc;

use rustc_hash::{FxBuildHasher, FxHashMap};
use shofar_logic::{Term, TermStore};
use shofar_smt::known_literals::KnownLiterals;
use shofar_smt::project::cube_implies;

/// A height of derivations.
pub(super) type Level = u32;

/// The level of lemmas that hold for all facts.
pub(super) const INFINITY: Level = Level::MAX;

/// The index of a lemma of a predicate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct LemmaId(u32);

/// A formula that holds for all facts up to a height.
#[derive(Clone)]
pub(super) struct Lemma {
    /// The excluded cube: literals in the order of terms.
    pub(super) cube: Rc<[Term]>,
    /// The negation of the cube.
    pub(super) formula: Term,
    /// The height up to which it holds.
    pub(super) level: Level,
    /// The subject of the cube that it watches.
    watched: Term,
    /// The signature of all its subjects.
    signature: u64,
    /// Whether it belongs to no frame. Then another lemma subsumes it, or it has not been proved.
    pub(super) is_idle: bool,
}

/// How many lemmas of a predicate are remembered.
const MOST_REMEMBERED: usize = 500;

/// The frames of one predicate.
pub(super) struct Frames {
    lemmas: Vec<Lemma>,
    /// Whether stronger lemmas replace weaker ones.
    subsumption: bool,
    /// For each subject, the lemmas that watch it, apart from idle ones. Each lemma watches one of its own subjects; the lemma
    /// without literals watches [`Term::TRUE`].
    watchers: FxHashMap<Term, Vec<LemmaId>>,
    /// Indexed by finite level, in the order of arrival.
    by_level: Vec<Vec<LemmaId>>,
    /// The formulas of lemmas of infinite level, in the order of arrival. The list only grows.
    infinite: Vec<Term>,
    /// The lemmas in the order of their arrivals at a level. The list only grows.
    arrivals: Vec<LemmaId>,
    /// The lemmas that are remembered: small ones first, among these young ones.
    remembered: Vec<LemmaId>,
}

/// The result of learning a lemma.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Learnt {
    /// It was added.
    New(LemmaId),
    /// This lemma subsumes it.
    Known(LemmaId),
}

impl Frames {
    /// Frames without lemmas.
    pub(super) fn new(subsumption: bool) -> Self {
        Frames {
            lemmas: Vec::new(),
            subsumption,
            watchers: FxHashMap::default(),
            by_level: Vec::new(),
            infinite: Vec::new(),
            arrivals: Vec::new(),
            remembered: Vec::new(),
        }
    }

    /// A lemma.
    pub(super) fn lemma(&self, lemma: LemmaId) -> &Lemma {
        &self.lemmas[lemma.0 as usize]
    }

    /// The lemmas of exactly this finite level.
    pub(super) fn at(&self, level: Level) -> &[LemmaId] {
        self.by_level.get(level as usize).map_or(&[], Vec::as_slice)
    }

    /// The lemmas of the frame with finite levels, those of higher levels first.
    pub(super) fn finite(&self, level: Level) -> impl Iterator<Item = &Lemma> + '_ {
        let levels = self.by_level.iter().skip(level as usize).rev();
        levels.flatten().map(|&lemma| self.lemma(lemma))
    }

    /// The formulas of lemmas of infinite level.
    pub(super) fn infinite(&self) -> &[Term] {
        &self.infinite
    }

    /// All conjuncts of a frame.
    pub(super) fn conjuncts(&self, level: Level) -> impl Iterator<Item = Term> + '_ {
        self.infinite.iter().copied().chain(self.finite(level).map(|lemma| lemma.formula))
    }

    /// The number of arrivals so far.
    pub(super) fn arrivals(&self) -> usize {
        self.arrivals.len()
    }

    /// The lemmas that arrived in the frame of a level since the given number of arrivals.
    pub(super) fn since(&self, arrivals: usize, level: Level) -> impl Iterator<Item = &Lemma> + '_ {
        let lemmas = self.arrivals[arrivals..].iter().map(|&lemma| self.lemma(lemma));
        lemmas.filter(move |lemma| lemma.level >= level)
    }

    /// A lemma of the frame that excludes the cube, by comparing cubes, with the highest level.
    pub(super) fn blocking(&self, store: &TermStore, cube: &[Term], level: Level) -> Option<LemmaId> {
        let subjects = subjects(store, cube);
        let given = signature(&subjects);
        let facts = LazyCell::new(|| KnownLiterals::of(store, cube));
        let watched = subjects.into_iter().chain([Term::TRUE]);
        let lemmas = watched.filter_map(|subject| self.watchers.get(&subject)).flatten().copied();
        let mut highest: Option<LemmaId> = None;
        for id in lemmas {
            let lemma = self.lemma(id);
            let is_higher = highest.is_none_or(|found| lemma.level > self.lemma(found).level);
            let is_candidate = lemma.level >= level && is_higher && lemma.signature & !given == 0;
            if is_candidate && lemma.cube.iter().all(|&literal| facts.imply(literal)) {
                highest = Some(id);
            }
        }
        highest
    }

    /// Adds the lemma that excludes a cube, unless it is known (L3).
    pub(super) fn add(&mut self, store: &TermStore, mut cube: Vec<Term>, level: Level) -> Learnt {
        cube.sort_unstable();
        cube.dedup();
        if self.subsumption {
            if let Some(known) = self.blocking(store, &cube, level) {
                return Learnt::Known(known);
            }
            self.replace_weaker(store, &cube, level);
        }
        let id = self.create(store, cube, level);
        let watched = self.lemma(id).watched;
        self.watchers.entry(watched).or_default().push(id);
        self.enter_level(id);
        Learnt::New(id)
    }

    /// Remembers the lemma that excludes a cube, though it has not been proved, unless the first frame has it.
    pub(super) fn add_idle(&mut self, store: &TermStore, mut cube: Vec<Term>) {
        cube.sort_unstable();
        cube.dedup();
        let is_known = self.remembered.iter().any(|&known| *self.lemma(known).cube == *cube);
        if !is_known && self.blocking(store, &cube, 0).is_none() {
            let id = self.create(store, cube, 0);
            self.lemmas[id.0 as usize].is_idle = true;
        }
    }

    /// Makes and remembers a lemma that belongs to no frame yet.
    fn create(&mut self, store: &TermStore, cube: Vec<Term>, level: Level) -> LemmaId {
        let id = LemmaId(u32::try_from(self.lemmas.len()).expect("memory ends before lemmas are 2^32"));
        let subjects = subjects(store, &cube);
        let signature = signature(&subjects);
        let watchers = |subject: &Term| self.watchers.get(subject).map_or(0, Vec::len);
        let watched = subjects.into_iter().min_by_key(watchers).unwrap_or(Term::TRUE);
        let formula = store.not(store.and(&cube));
        let place = self.remembered.partition_point(|&other| self.lemma(other).cube.len() < cube.len());
        self.remembered.insert(place, id);
        self.remembered.truncate(MOST_REMEMBERED);
        self.lemmas.push(Lemma { cube: cube.into(), formula, level, watched, signature, is_idle: false });
        id
    }

    /// The remembered lemmas that do not belong to the frame of a level, small ones first.
    pub(super) fn remembered(&self, level: Level) -> impl Iterator<Item = LemmaId> + '_ {
        let is_outside = move |&id: &LemmaId| {
            let lemma = self.lemma(id);
            lemma.is_idle || lemma.level < level
        };
        self.remembered.iter().copied().filter(is_outside)
    }

    /// Removes the lemmas up to a level that exclude only a part of the cube.
    fn replace_weaker(&mut self, store: &TermStore, cube: &[Term], level: Level) {
        let wanted = signature(&subjects(store, cube));
        for index in 0..self.lemmas.len() {
            let lemma = &self.lemmas[index];
            let is_candidate = !lemma.is_idle && lemma.level <= level && wanted & !lemma.signature == 0;
            if !is_candidate || !cube_implies(store, &lemma.cube, cube) {
                continue;
            }
            let id = LemmaId(index as u32);
            if let Some(watchers) = self.watchers.get_mut(&lemma.watched) {
                watchers.retain(|&other| other != id);
            }
            self.leave_level(id);
            self.lemmas[index].is_idle = true;
        }
    }

    /// Moves a lemma up.
    pub(super) fn raise(&mut self, lemma: LemmaId, level: Level) {
        debug_assert!(self.lemma(lemma).level <= level, "lemmas move upwards");
        if self.lemma(lemma).level < level && !self.lemma(lemma).is_idle {
            self.leave_level(lemma);
            self.lemmas[lemma.0 as usize].level = level;
            self.enter_level(lemma);
        }
    }

    fn leave_level(&mut self, lemma: LemmaId) {
        if let Some(lemmas) = self.by_level.get_mut(self.lemmas[lemma.0 as usize].level as usize) {
            lemmas.retain(|&other| other != lemma);
        }
    }

    fn enter_level(&mut self, lemma: LemmaId) {
        let Lemma { level, formula, .. } = *self.lemma(lemma);
        self.arrivals.push(lemma);
        if level == INFINITY {
            self.infinite.push(formula);
            return;
        }
        let level = level as usize;
        if self.by_level.len() <= level {
            self.by_level.resize_with(level + 1, Vec::new);
        }
        self.by_level[level].push(lemma);
    }
}

/// The subject of a literal: the form that it bounds, or else the literal itself.
fn subject(store: &TermStore, literal: Term) -> Term {
    store.bound(literal).map_or(literal, |bound| bound.sum)
}

/// The subjects of a cube, without duplicates.
fn subjects(store: &TermStore, cube: &[Term]) -> Vec<Term> {
    let mut subjects: Vec<Term> = cube.iter().map(|&literal| subject(store, literal)).collect();
    subjects.sort_unstable();
    subjects.dedup();
    subjects
}

/// A bit set that grows with the set of subjects.
fn signature(subjects: &[Term]) -> u64 {
    subjects.iter().fold(0, |set, subject| set | 1 << (FxBuildHasher.hash_one(subject) >> 58))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_logic::Sort;

    #[test]
    fn stronger_lemmas_replace_weaker_ones_of_the_same_or_lower_levels() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let y = store.var(store.symbol("y"), Sort::INT);
        let mut frames = Frames::new(true);
        let above = |n: i64| store.ge(x, store.int(n));
        let wide = vec![above(5), store.ge(y, store.int(1))];
        assert!(matches!(frames.add(&store, wide.clone(), 1), Learnt::New(_)));
        assert!(matches!(frames.add(&store, wide.clone(), 3), Learnt::New(_)), "it holds further up");
        assert_eq!((frames.at(1).len(), frames.at(3).len()), (0, 1));
        let Learnt::New(narrow) = frames.add(&store, vec![above(4)], 2) else { panic!("it is news") };
        assert_eq!((frames.at(2).len(), frames.at(3).len()), (1, 1), "the one above is still needed");
        assert!(matches!(frames.add(&store, vec![above(5)], 1), Learnt::Known(_)));
        frames.raise(narrow, INFINITY);
        assert_eq!(frames.infinite(), [store.le(x, store.int(3))]);
        assert_eq!(frames.conjuncts(3).count(), 2);
        assert_eq!((frames.arrivals(), frames.since(2, 4).count()), (4, 2), "one lemma came twice");
        assert!(frames.blocking(&store, &wide, INFINITY).is_some());
    }

    #[test]
    fn the_smallest_lemmas_are_remembered_outside_of_frames() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let above = |n: i64| store.ge(x, store.int(n));
        let mut frames = Frames::new(true);
        let cubes = |frames: &Frames, level: Level| -> Vec<Rc<[Term]>> {
            frames.remembered(level).map(|id| Rc::clone(&frames.lemma(id).cube)).collect()
        };
        frames.add(&store, vec![above(5), store.le(y, store.int(0))], 1);
        frames.add(&store, vec![above(7)], 1);
        assert_eq!(cubes(&frames, 1).len(), 0, "both are in the frame");
        assert_eq!(cubes(&frames, 2).len(), 2);
        frames.add(&store, vec![above(4)], 2);
        assert_eq!(*cubes(&frames, 2)[0], [above(7)], "the stronger one is in the frame");
        assert_eq!((cubes(&frames, 2).len(), cubes(&frames, 3).len()), (2, 3));
        frames.add_idle(&store, vec![above(6)]);
        frames.add_idle(&store, vec![above(3)]);
        frames.add_idle(&store, vec![above(3)]);
        assert_eq!(*cubes(&frames, 2)[0], [above(3)], "one is new, and remembered once");
        assert_eq!((cubes(&frames, 2).len(), frames.conjuncts(0).count()), (3, 1), "no frame has it");
        let long = |n: usize| vec![above(100), store.le(y, store.int(i64::try_from(n).expect("a few")))];
        (0..2 * MOST_REMEMBERED).for_each(|n| frames.add_idle(&store, long(n)));
        assert_eq!(cubes(&frames, 2).len(), 3, "the first frame has all of these");
        let below = |n: usize| {
            vec![store.le(x, store.int(0)), store.le(y, store.int(i64::try_from(n).expect("a few")))]
        };
        (0..2 * MOST_REMEMBERED).for_each(|n| frames.add_idle(&store, below(n)));
        assert_eq!(cubes(&frames, INFINITY).len(), MOST_REMEMBERED);
        assert_eq!(*cubes(&frames, INFINITY)[0], [above(3)], "it is still there");
    }

    #[test]
    fn watchers_find_what_a_scan_of_all_lemmas_finds() {
        let store = TermStore::new();
        let variables = ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT));
        let flag = store.var(store.symbol("b"), Sort::BOOL);
        let mut state = 1_u64;
        let mut random = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let mut frames = Frames::new(true);
        let mut naive: Vec<(Vec<Term>, Level)> = Vec::new();
        for _ in 0..2_000 {
            let mut cube = Vec::new();
            for variable in variables {
                let constant = store.int(i64::try_from(random(6)).expect("less than six"));
                match random(6) {
                    0 => cube.push(store.le(variable, constant)),
                    1 => cube.push(store.ge(variable, constant)),
                    2 => cube.push(store.eq(variable, constant)),
                    _ => {}
                }
            }
            if random(4) == 0 {
                cube.push(flag);
            }
            if cube.is_empty() {
                continue;
            }
            let level = u32::try_from(random(5)).expect("less than five");
            let excluding =
                naive.iter().filter(|(other, at)| *at >= level && cube_implies(&store, &cube, other));
            let highest = excluding.map(|&(_, at)| at).max();
            let found = frames.blocking(&store, &cube, level).map(|id| frames.lemma(id).level);
            assert_eq!(found, highest, "{cube:?}");
            if random(8) == 0 {
                frames.add(&store, cube.clone(), level);
                naive.push((cube, level));
            }
        }
        assert!(matches!(frames.add(&store, vec![], 9), Learnt::New(_)), "everything is excluded");
        assert_eq!((0..9).map(|level| frames.at(level).len()).sum::<usize>(), 0);
        assert!(frames.blocking(&store, &[flag], 9).is_some());
    }
}
