//! The clause arena: all clauses in one flat vector of words.
//!
//! A clause is a header of four words followed by its literals. The size is the last header word, so that
//! propagation, which reads the size and the first literals, finds them on one cache line:
//!
//! ```text
//! [ id | activity | glue, use counter, flags | size | literal 0 | literal 1 | ... ]
//! ```
//!
//! Only redundant clauses have an activity. For the others this word stores where the last search for a literal to
//! watch ended, and the next search continues there (Gent, "Optimal Implementation of Watched Literals and More General
//! Techniques", JAIR 2013). Always starting at the front would be quadratic for clauses with a million literals.
//!
//! - A1: the clauses are contiguous; walking the arena from its start by sizes meets each of them.
//! - A2: ids grow in the order of creation and never change; references ([`ClauseRef`]) change when the arena is
//!   compacted. If proofs are logged, the id is the number of a step of the log instead.
//! - A3: every clause has at least two literals. Shorter ones live on the trail.
//!
//! Deletion sets a flag. [`Arena::compact`] reclaims the space: it copies the remaining clauses into a new vector and
//! leaves the new reference in the old header, where the owners of references pick it up (`reduce.rs`). The scheme is
//! MiniSat's (Eén & Sörensson, SAT 2003), glue is that of Audemard & Simon ("Predicting Learnt Clauses Quality in
//! Modern SAT Solvers", IJCAI 2009).

use super::literal::Lit;

/// The position of a clause in the arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ClauseRef(u32);

/// References leave the top bit free, which marks binary clauses in watches.
const MAX_WORDS: usize = 1 << 31;

const HEADER: usize = 4;
const ID: usize = 0;
const ACTIVITY: usize = 1;
const FLAGS: usize = 2;
const SIZE: usize = 3;

/// Learnt, or a lemma: may be forgotten.
const REDUNDANT: u32 = 1;
/// Removed by the next compaction.
const GARBAGE: u32 = 2;
/// Two bits: how many reductions the clause survives without being used again.
const USED_SHIFT: u32 = 2;
const USED_MASK: u32 = 3 << USED_SHIFT;
const GLUE_SHIFT: u32 = 4;
const MAX_GLUE: u32 = u32::MAX >> GLUE_SHIFT;

/// All clauses of a solver.
#[derive(Default)]
pub(super) struct Arena {
    words: Vec<u32>,
    next_id: u32,
    /// Words of garbage clauses.
    wasted: usize,
}

impl ClauseRef {
    /// The reference in one word, below 2^31.
    #[inline]
    pub(super) fn word(self) -> u32 {
        self.0
    }

    /// The inverse of [`word`](Self::word).
    #[inline]
    pub(super) fn from_word(word: u32) -> Self {
        Self(word)
    }

    #[inline]
    fn at(self, field: usize) -> usize {
        self.0 as usize + field
    }
}

impl Arena {
    /// Stores a clause of at least two literals (A3). Redundant clauses have a glue.
    pub(super) fn alloc(&mut self, lits: &[Lit], glue: Option<u32>) -> ClauseRef {
        debug_assert!(lits.len() >= 2);
        assert!(self.words.len() + HEADER + lits.len() < MAX_WORDS, "the clauses exceed eight gigabytes");
        let clause = ClauseRef(self.words.len() as u32);
        let flags = glue.map_or(0, |glue| glue.min(MAX_GLUE) << GLUE_SHIFT | REDUNDANT);
        self.words.extend_from_slice(&[self.next_id, 0, flags, lits.len() as u32]);
        self.words.extend(lits.iter().map(|lit| lit.code()));
        self.next_id = self.next_id.wrapping_add(1);
        clause
    }

    /// The number of literals.
    #[inline]
    pub(super) fn size(&self, clause: ClauseRef) -> usize {
        self.words[clause.at(SIZE)] as usize
    }

    /// The literal of a clause at a position.
    #[inline]
    pub(super) fn lit(&self, clause: ClauseRef, index: usize) -> Lit {
        debug_assert!(index < self.size(clause));
        Lit::from_code(self.words[clause.at(HEADER + index)])
    }

    /// The literals of a clause.
    #[inline]
    pub(super) fn lits(&self, clause: ClauseRef) -> impl Iterator<Item = Lit> + Clone {
        let start = clause.at(HEADER);
        self.words[start..start + self.size(clause)].iter().map(|&code| Lit::from_code(code))
    }

    /// The codes of the literals, to be permuted, and for a clause without activity the position where the last search
    /// for a literal to watch ended.
    #[inline]
    pub(super) fn codes_mut(&mut self, clause: ClauseRef) -> (&mut [u32], Option<&mut u32>) {
        let [activity, flags, size, rest @ ..] = &mut self.words[clause.at(ACTIVITY)..] else {
            unreachable!("a header precedes the literals")
        };
        let place = (*flags & REDUNDANT == 0).then_some(activity);
        (&mut rest[..*size as usize], place)
    }

    /// The number of the clause (A2).
    #[inline]
    pub(super) fn id(&self, clause: ClauseRef) -> u32 {
        self.words[clause.at(ID)]
    }

    /// Sets the id to the number of a proof step (A2).
    #[inline]
    pub(super) fn set_id(&mut self, clause: ClauseRef, id: u32) {
        self.words[clause.at(ID)] = id;
    }

    /// Whether the clause is implied by others, or by the theory.
    #[inline]
    pub(super) fn is_redundant(&self, clause: ClauseRef) -> bool {
        self.words[clause.at(FLAGS)] & REDUNDANT != 0
    }

    /// Whether the clause is marked as garbage.
    #[inline]
    pub(super) fn is_garbage(&self, clause: ClauseRef) -> bool {
        self.words[clause.at(FLAGS)] & GARBAGE != 0
    }

    /// Marks a clause as garbage, to be removed by the next compaction.
    pub(super) fn mark_garbage(&mut self, clause: ClauseRef) {
        if !self.is_garbage(clause) {
            self.words[clause.at(FLAGS)] |= GARBAGE;
            self.wasted += HEADER + self.size(clause);
        }
    }

    /// The number of decision levels that the clause linked when it was learnt or last used.
    #[inline]
    pub(super) fn glue(&self, clause: ClauseRef) -> u32 {
        self.words[clause.at(FLAGS)] >> GLUE_SHIFT
    }

    /// Lowers the glue.
    pub(super) fn set_glue(&mut self, clause: ClauseRef, glue: u32) {
        let flags = &mut self.words[clause.at(FLAGS)];
        *flags = *flags & ((1 << GLUE_SHIFT) - 1) | glue.min(MAX_GLUE) << GLUE_SHIFT;
    }

    /// How many reductions the clause survives because it was used.
    pub(super) fn used(&self, clause: ClauseRef) -> u32 {
        (self.words[clause.at(FLAGS)] & USED_MASK) >> USED_SHIFT
    }

    /// Sets the use counter, which is at most three.
    #[inline]
    pub(super) fn set_used(&mut self, clause: ClauseRef, used: u32) {
        debug_assert!(used <= 3);
        let flags = &mut self.words[clause.at(FLAGS)];
        *flags = *flags & !USED_MASK | used << USED_SHIFT;
    }

    /// How much the clause took part in recent conflicts.
    #[inline]
    pub(super) fn activity(&self, clause: ClauseRef) -> u32 {
        self.words[clause.at(ACTIVITY)]
    }

    /// The activity, to be changed.
    #[inline]
    pub(super) fn activity_mut(&mut self, clause: ClauseRef) -> &mut u32 {
        &mut self.words[clause.at(ACTIVITY)]
    }

    /// Whether there is enough garbage for compaction to pay off.
    pub(super) fn is_wasteful(&self) -> bool {
        self.wasted > 1 << 16 && self.wasted > self.words.len() / 4
    }

    /// All clauses that are not garbage, in the order of their creation (A1).
    pub(super) fn iter(&self) -> impl Iterator<Item = ClauseRef> {
        let mut next = 0;
        std::iter::from_fn(move || {
            while next < self.words.len() {
                let clause = ClauseRef(next as u32);
                next += HEADER + self.size(clause);
                if !self.is_garbage(clause) {
                    return Some(clause);
                }
            }
            None
        })
    }

    /// Copies all clauses that are not garbage to a new vector and returns the old one, which maps old references to
    /// new ones. Drops literals for which `is_dead` holds, except the two watched ones at the front.
    pub(super) fn compact(&mut self, is_dead: impl Fn(Lit) -> bool) -> Moved {
        let mut old = Arena {
            words: Vec::with_capacity(self.words.len() - self.wasted),
            next_id: self.next_id,
            wasted: 0,
        };
        std::mem::swap(self, &mut old);
        let mut next = 0;
        while next < old.words.len() {
            let clause = ClauseRef(next as u32);
            next += HEADER + old.size(clause);
            if old.is_garbage(clause) {
                continue;
            }
            let moved = self.words.len();
            self.words.extend_from_slice(&old.words[clause.at(0)..clause.at(HEADER + 2)]);
            let rest = &old.words[clause.at(HEADER + 2)..next];
            self.words.extend(rest.iter().filter(|&&code| !is_dead(Lit::from_code(code))));
            self.words[moved + SIZE] = (self.words.len() - moved - HEADER) as u32;
            old.words[clause.at(ID)] = moved as u32;
        }
        Moved { old }
    }
}

/// Maps references from before a compaction to those after it.
pub(super) struct Moved {
    old: Arena,
}

impl Moved {
    /// The new reference of a clause, unless it was garbage.
    #[inline]
    pub(super) fn get(&self, clause: ClauseRef) -> Option<ClauseRef> {
        (!self.old.is_garbage(clause)).then(|| ClauseRef(self.old.words[clause.at(ID)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lits(codes: &[u32]) -> Vec<Lit> {
        codes.iter().map(|&code| Lit::from_code(code)).collect()
    }

    #[test]
    fn header_fields_do_not_disturb_each_other() {
        let mut arena = Arena::default();
        let clause = arena.alloc(&lits(&[2, 5, 7]), Some(9));
        arena.set_used(clause, 3);
        *arena.activity_mut(clause) = u32::MAX;
        arena.set_glue(clause, 4);
        assert_eq!((arena.glue(clause), arena.used(clause), arena.activity(clause)), (4, 3, u32::MAX));
        assert!(arena.is_redundant(clause) && !arena.is_garbage(clause));
        arena.mark_garbage(clause);
        arena.set_used(clause, 1);
        assert_eq!((arena.glue(clause), arena.used(clause), arena.size(clause)), (4, 1, 3));
        assert!(arena.is_garbage(clause));
    }

    #[test]
    fn compaction_keeps_ids_and_drops_dead_literals_that_are_not_watched() {
        let mut arena = Arena::default();
        let first = arena.alloc(&lits(&[0, 2, 4]), None);
        let second = arena.alloc(&lits(&[1, 3, 4, 6]), Some(3));
        arena.mark_garbage(first);
        let moved = arena.compact(|lit| lit.code() == 4 || lit.code() == 1);
        assert_eq!(moved.get(first), None);
        let second = moved.get(second).unwrap();
        assert_eq!(arena.lits(second).collect::<Vec<_>>(), lits(&[1, 3, 6]));
        assert_eq!((arena.id(second), arena.glue(second)), (1, 3));
        let third = arena.alloc(&lits(&[0, 2]), None);
        assert_eq!(arena.id(third), 2);
        assert_eq!(arena.iter().collect::<Vec<_>>(), [second, third]);
    }
}
