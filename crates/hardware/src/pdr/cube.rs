//! Cubes: conjunctions of literals over latches.

use crate::aig::Edge;

/// In a cube that is so many times longer, literals are searched for one by one.
const MUCH_LONGER: usize = 16;

/// A cube, sorted, with a signature that makes most failing tests of inclusion cheap.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Cube {
    lits: Vec<Edge>,
    signature: u64,
}

impl Cube {
    /// The cube of literals in any order.
    pub(crate) fn new(mut lits: Vec<Edge>) -> Self {
        lits.sort_unstable();
        lits.dedup();
        Self::from_sorted(lits)
    }

    /// The cube of literals in ascending order.
    pub(crate) fn from_sorted(lits: Vec<Edge>) -> Self {
        debug_assert!(lits.is_sorted());
        let signature = lits.iter().fold(0, |signature, lit| signature | 1 << (lit.code() % 64));
        Self { lits, signature }
    }

    #[inline]
    pub(crate) fn lits(&self) -> &[Edge] {
        &self.lits
    }

    /// Adds a literal.
    pub(crate) fn insert(&mut self, lit: Edge) {
        if let Err(at) = self.lits.binary_search(&lit) {
            self.lits.insert(at, lit);
            self.signature |= 1 << (lit.code() % 64);
        }
    }

    /// The cube without a literal.
    pub(crate) fn without(&self, lit: Edge) -> Self {
        Self::from_sorted(self.lits.iter().copied().filter(|&other| other != lit).collect())
    }

    #[inline]
    pub(crate) fn contains(&self, lit: Edge) -> bool {
        self.lits.binary_search(&lit).is_ok()
    }

    /// Whether all literals of this cube are in another: then its clause implies the other's.
    #[inline]
    pub(crate) fn subsumes(&self, other: &Self) -> bool {
        if self.signature & !other.signature != 0 || self.lits.len() > other.lits.len() {
            return false;
        }
        if self.lits.len() * MUCH_LONGER < other.lits.len() {
            return self.lits.iter().all(|&lit| other.contains(lit));
        }
        let mut rest = other.lits.iter();
        self.lits.iter().all(|lit| rest.by_ref().find(|&other| other >= lit) == Some(lit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_subsumes_its_supersets() {
        let cube = |codes: &[u32]| Cube::new(codes.iter().map(|&code| Edge::from_code(code)).collect());
        let small = cube(&[9, 2]);
        for (codes, expected) in [
            (vec![2, 9], true),
            (vec![2, 4, 9, 130], true),
            (vec![2, 8], false),
            (vec![3, 9], false),
            (vec![9], false),
        ] {
            assert_eq!(small.subsumes(&cube(&codes)), expected, "{codes:?}");
        }
        assert!(cube(&[]).subsumes(&small));
        let state = cube(&(0..100).map(|node| 2 * node).collect::<Vec<u32>>());
        assert!(cube(&[4, 66, 198]).subsumes(&state));
        assert!(!cube(&[4, 67, 198]).subsumes(&state));
        assert_eq!(small.without(Edge::from_code(2)), cube(&[9]));
    }
}
