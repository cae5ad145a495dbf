//! Cuts and sets of cuts.
//!
//! The interpolants of a sequence or tree come from one proof with many cuts. Most questions about the proof have the
//! same answer at nearly all cuts. So a question such as "at which cuts can A express this term?" is asked once and
//! answered by a set: the bits of one word for up to 64 cuts, and of further words for more.

use rustc_hash::FxHashMap;

use super::Error;
use crate::proof::Part;

/// A set of cuts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CutSet {
    first: u64,
    /// The bits from the 64th on. All sets over the same cuts have equally many words.
    others: Box<[u64]>,
}

impl CutSet {
    fn none(count: usize) -> Self {
        CutSet { first: 0, others: vec![0; count.div_ceil(64).saturating_sub(1)].into() }
    }

    fn insert(&mut self, cut: usize) {
        let word = if cut < 64 { &mut self.first } else { &mut self.others[cut / 64 - 1] };
        *word |= 1 << (cut % 64);
    }

    /// Whether the cut is in the set.
    pub fn contains(&self, cut: usize) -> bool {
        let word = if cut < 64 { self.first } else { self.others[cut / 64 - 1] };
        word >> (cut % 64) & 1 == 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first == 0 && self.others.iter().all(|&word| word == 0)
    }

    fn combine(&mut self, other: &CutSet, combined: impl Fn(u64, u64) -> u64) {
        self.first = combined(self.first, other.first);
        std::iter::zip(&mut self.others, &other.others).for_each(|(mine, &its)| *mine = combined(*mine, its));
    }

    pub(super) fn unite_with(&mut self, other: &CutSet) {
        self.combine(other, |mine, its| mine | its);
    }

    pub(super) fn intersect_with(&mut self, other: &CutSet) {
        self.combine(other, |mine, its| mine & its);
    }

    pub(super) fn without(mut self, other: &CutSet) -> Self {
        self.combine(other, |mine, its| mine & !its);
        self
    }
}

/// Cuts that are processed together. If a cut is *right above* others, its A contains their A's, which are disjoint,
/// and possibly more parts. Lower cuts come first.
#[derive(Clone, Debug)]
pub struct Cuts {
    /// The cuts right below each.
    below: Vec<Vec<usize>>,
    /// The cut right above each.
    above: Vec<Option<usize>>,
    /// The cuts at which a part is A's. A part without an entry is B's at all cuts.
    of_parts: FxHashMap<Part, CutSet>,
    none: CutSet,
    all: CutSet,
}

impl Cuts {
    /// A single cut, given by the parts of A.
    pub fn single(in_a: &[Part]) -> Self {
        let mut cuts = Cuts::new(vec![None]);
        in_a.iter().for_each(|&part| cuts.add(part, [0].into_iter()));
        cuts
    }

    /// The cuts of the prefixes, from the first part alone to all but the last.
    pub(super) fn sequence(order: &[Part]) -> Self {
        let count = order.len().saturating_sub(1);
        let above: Vec<Option<usize>> = (1..=count).map(|next| (next < count).then_some(next)).collect();
        let mut cuts = Cuts::new(above);
        order.iter().enumerate().for_each(|(position, &part)| cuts.add(part, position..count));
        cuts
    }

    /// The cuts of the subtrees of a tree. Each node is a part with the position of its parent, which comes later. The
    /// last node is the root.
    pub(super) fn tree(nodes: &[(Part, usize)]) -> Result<Self, Error> {
        let root = nodes.len().saturating_sub(1);
        let above = |at: usize| (at < root).then(|| nodes[at].1);
        if (0..root).any(|at| nodes[at].1 <= at || nodes[at].1 > root) {
            return Err(Error::NotATree);
        }
        let mut cuts = Cuts::new((0..nodes.len()).map(above).collect());
        for (at, &(part, _)) in nodes.iter().enumerate() {
            cuts.add(part, std::iter::successors(Some(at), |&at| above(at)));
        }
        Ok(cuts)
    }

    fn new(above: Vec<Option<usize>>) -> Self {
        let (none, mut all) = (CutSet::none(above.len()), CutSet::none(above.len()));
        let mut below = vec![Vec::new(); above.len()];
        for (cut, above) in above.iter().enumerate() {
            all.insert(cut);
            if let Some(above) = *above {
                below[above].push(cut);
            }
        }
        Cuts { below, above, of_parts: FxHashMap::default(), none, all }
    }

    fn add(&mut self, part: Part, cuts: impl Iterator<Item = usize>) {
        let set = self.of_parts.entry(part).or_insert_with(|| self.none.clone());
        cuts.for_each(|cut| set.insert(cut));
    }

    /// The number of cuts.
    pub fn len(&self) -> usize {
        self.below.len()
    }

    /// Whether there are no cuts.
    pub fn is_empty(&self) -> bool {
        self.below.is_empty()
    }

    /// The cuts right below a cut.
    pub(super) fn below(&self, cut: usize) -> &[usize] {
        &self.below[cut]
    }

    /// The cut right above a cut.
    pub(super) fn above(&self, cut: usize) -> &[usize] {
        self.above[cut].as_slice()
    }

    /// The cuts at which the part is A's.
    pub(super) fn of_part(&self, part: Part) -> &CutSet {
        self.of_parts.get(&part).unwrap_or(&self.none)
    }

    pub(super) fn none(&self) -> CutSet {
        self.none.clone()
    }

    pub(super) fn all(&self) -> CutSet {
        self.all.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use shofar_logic::number::Rational;
    use shofar_logic::{Sort, TermStore};
    use shofar_run::Limits;

    use super::*;
    use crate::interpolate::{Arithmetic, Options};
    use crate::sat::Outcome;
    use crate::solver::Solver;

    /// The parts of A at each cut.
    fn listed(cuts: &Cuts, parts: u32) -> Vec<BTreeSet<Part>> {
        let is_a = |cut: usize, part: Part| cuts.of_part(part).contains(cut);
        (0..cuts.len()).map(|cut| (0..parts).map(Part).filter(|&part| is_a(cut, part)).collect()).collect()
    }

    #[test]
    fn cuts_have_the_parts_of_prefixes_and_subtrees() {
        for count in [0, 1, 2, 63, 64, 65, 66, 150] {
            let order: Vec<Part> = (0..count).map(Part).collect();
            let prefixes: Vec<BTreeSet<Part>> =
                (1..count).map(|length| (0..length).map(Part).collect()).collect();
            assert_eq!(listed(&Cuts::sequence(&order), count), prefixes);

            // A tree with branches of all lengths.
            let parent = |at: u32| (at + 1 + at * 7 % 5).min(count.saturating_sub(1)) as usize;
            let nodes: Vec<(Part, usize)> = order.iter().map(|&part| (part, parent(part.0))).collect();
            let mut below: Vec<BTreeSet<Part>> = order.iter().map(|&part| BTreeSet::from([part])).collect();
            for at in 0..nodes.len().saturating_sub(1) {
                let subtree = below[at].clone();
                below[nodes[at].1].extend(subtree);
            }
            assert_eq!(Cuts::tree(&nodes).map(|cuts| listed(&cuts, count)), Ok(below));
        }
        assert_eq!(Cuts::tree(&[(Part(0), 0), (Part(1), 0)]).err(), Some(Error::NotATree));
    }

    /// Sharing between cuts, and reuse from one cut to the next, do not change the interpolants.
    #[test]
    fn long_sequences_consist_of_the_interpolants_of_single_cuts() {
        const LAST: u32 = 80;
        let store = TermStore::new();
        let var = |name: &str, at: u32| store.var(store.symbol(&format!("{name}{at}")), Sort::REAL);
        let zero = store.real(Rational::ZERO);
        let mut solver = Solver::with_proofs(&store);
        for at in 0..=LAST {
            let step = |name: &str| store.le(var(name, at), var(name, at + 1));
            let formula = match at {
                0 => store.and2(store.lt(zero, var("x", 1)), store.le(zero, var("y", 1))),
                LAST => store.lt(store.add(&[var("x", at), var("y", at)]), zero),
                _ if at % 3 == 0 => store.and2(store.or2(step("x"), store.lt(var("x", at), zero)), step("y")),
                _ => store.and2(step("x"), step("y")),
            };
            assert_eq!(solver.assert_in(formula, Part(at)), Ok(()));
        }
        assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Unsat));
        let order: Vec<Part> = (0..=LAST).map(Part).collect();
        for arithmetic in
            [Arithmetic::Farkas, Arithmetic::DualFarkas, Arithmetic::Flexible(Default::default())]
        {
            let options = Options { arithmetic, ..Options::default() };
            let interpolator = solver.interpolator(options).expect("proofs are logged");
            let sequence = interpolator.sequence(&order, &Limits::default()).expect("nothing is mixed");
            assert_eq!(sequence.len(), LAST as usize);
            for length in [1, 2, 40, 63, 64, 65, 66, 80] {
                let single = interpolator.binary(&order[..length], &Limits::default());
                assert_eq!(single, Ok(sequence[length - 1]), "{length}");
            }
        }
    }
}
