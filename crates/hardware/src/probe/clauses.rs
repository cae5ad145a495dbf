//! The clauses of a solver: lemmas, learnt clauses, and those that live for one query only.
//!
//! A clause is a header of two words and its literals, in one array. The first two literals are watched.

use crate::aig::Edge;

/// The position of a clause's header.
pub(super) type ClauseRef = u32;

/// What a clause is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Given by the caller, for good.
    Lemma = 0,
    /// Derived from lemmas and gates; may be forgotten.
    Learnt = 1,
    /// Lives until the next query.
    Temporary = 2,
    /// Forgotten; its watches are removed when they are visited.
    Deleted = 3,
}

const HEADER: usize = 2;

/// All clauses of a solver.
#[derive(Clone, Default, Debug)]
pub(super) struct Clauses {
    words: Vec<u32>,
    /// The words of deleted clauses.
    pub(super) wasted: usize,
}

impl Clauses {
    pub(super) fn add(&mut self, lits: &[Edge], kind: Kind) -> ClauseRef {
        let at = self.words.len() as ClauseRef;
        self.words.push((lits.len() as u32) << 2 | kind as u32);
        self.words.push(0f32.to_bits());
        self.words.extend(lits.iter().map(|lit| lit.code()));
        at
    }

    #[inline]
    pub(super) fn len(&self, clause: ClauseRef) -> usize {
        (self.words[clause as usize] >> 2) as usize
    }

    #[inline]
    pub(super) fn kind(&self, clause: ClauseRef) -> Kind {
        match self.words[clause as usize] & 3 {
            0 => Kind::Lemma,
            1 => Kind::Learnt,
            2 => Kind::Temporary,
            _ => Kind::Deleted,
        }
    }

    /// The kind of a clause, and the codes of its literals.
    #[inline]
    pub(super) fn get_mut(&mut self, clause: ClauseRef) -> (Kind, &mut [u32]) {
        let kind = self.kind(clause);
        let start = clause as usize + HEADER;
        let end = start + self.len(clause);
        (kind, &mut self.words[start..end])
    }

    pub(super) fn delete(&mut self, clause: ClauseRef) {
        self.wasted += HEADER + self.len(clause);
        self.words[clause as usize] |= Kind::Deleted as u32;
    }

    #[inline]
    pub(super) fn lit(&self, clause: ClauseRef, index: usize) -> Edge {
        Edge::from_code(self.words[clause as usize + HEADER + index])
    }

    #[inline]
    pub(super) fn swap(&mut self, clause: ClauseRef, i: usize, j: usize) {
        self.words.swap(clause as usize + HEADER + i, clause as usize + HEADER + j);
    }

    #[inline]
    pub(super) fn lits(&self, clause: ClauseRef) -> impl Iterator<Item = Edge> + '_ {
        let start = clause as usize + HEADER;
        self.words[start..start + self.len(clause)].iter().map(|&code| Edge::from_code(code))
    }

    /// Words of all literals, for loops that read many.
    #[inline]
    pub(super) fn codes(&self, clause: ClauseRef) -> &[u32] {
        let start = clause as usize + HEADER;
        &self.words[start..start + self.len(clause)]
    }

    pub(super) fn activity(&self, clause: ClauseRef) -> f32 {
        f32::from_bits(self.words[clause as usize + 1])
    }

    pub(super) fn set_activity(&mut self, clause: ClauseRef, activity: f32) {
        self.words[clause as usize + 1] = activity.to_bits();
    }

    /// All clauses that are not deleted.
    pub(super) fn iter(&self) -> impl Iterator<Item = ClauseRef> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < self.words.len() {
                let clause = at as ClauseRef;
                at += HEADER + self.len(clause);
                if self.kind(clause) != Kind::Deleted {
                    return Some(clause);
                }
            }
            None
        })
    }

    /// Removes deleted clauses. All references change: the caller makes its watches anew.
    pub(super) fn compact(&mut self) {
        let kept: Vec<ClauseRef> = self.iter().collect();
        let mut words = Vec::with_capacity(self.words.len() - self.wasted);
        for clause in kept {
            let start = clause as usize;
            words.extend_from_slice(&self.words[start..start + HEADER + self.len(clause)]);
        }
        self.words = words;
        self.wasted = 0;
    }

    pub(super) fn len_words(&self) -> usize {
        self.words.len()
    }
}
