//! The clause arena: all clauses in one flat vector of words.
//!
//! A clause is a header of one word, its literals, and a tail of up to three words. Propagation reads the header and the
//! first literals, which are thus on one cache line:
//!
//! ```text
//! [ size, flags | literal 0 | literal 1 | ... | glue, use counter | activity | id ]    redundant
//! [ size, flags | literal 0 | literal 1 | ... | place | id ]                           others of four or more literals
//! [ size, flags | literal 0 | literal 1 | ... | id ]                                   others
//! ```
//!
//! Only redundant clauses have a glue, a use counter and an activity, and only arenas that [keep ids](Arena::keep_ids)
//! have ids. The definition of a gate, three clauses of two and three literals, takes 10 words. With all fields in all
//! headers it took 19, and such clauses are most of a long unrolling.
//!
//! The place is where the last search for a literal to watch ended, and the next search continues there (Gent, "Optimal
//! Implementation of Watched Literals and More General Techniques", JAIR 2013). Always starting at the front would be
//! quadratic for clauses with a million literals. Clauses of three literals have no choice.
//!
//! - A1: the clauses are contiguous; walking the arena from its start by sizes meets each of them.
//! - A2: references ([`ClauseRef`]) change when the arena is compacted; ids do not. The id is the number of the step of
//!   the proof log that derives the clause, so only solvers that log proofs keep ids.
//! - A3: every clause has at least two literals. Shorter ones live on the trail.
//!
//! Deletion sets a flag. [`Arena::compact`] reclaims the space: it copies the remaining clauses into a new vector and
//! leaves the new reference in place of the first literal, where the owners of references pick it up (`reduce.rs`). The scheme is
//! MiniSat's (Eén & Sörensson, SAT 2003), glue is that of Audemard & Simon ("Predicting Learnt Clauses Quality in
//! Modern SAT Solvers", IJCAI 2009).

use super::literal::Lit;

/// The position of a clause in the arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ClauseRef(u32);

/// References leave the top bit free, which marks binary clauses in watches.
const MAX_WORDS: usize = 1 << 31;

const HEADER: usize = 1;

/// A flag of the header: learnt, or a lemma: may be forgotten.
const REDUNDANT: u32 = 1;
/// A flag of the header: removed by the next compaction.
const GARBAGE: u32 = 2;
/// The other bits of the header are the size.
const SIZE_SHIFT: u32 = 2;
const MAX_SIZE: usize = (u32::MAX >> SIZE_SHIFT) as usize;

/// The tail of redundant clauses.
const GLUE: usize = 0;
const ACTIVITY: usize = 1;
const REDUNDANT_TAIL: usize = 2;

/// Two bits of the word with the glue: how many reductions the clause survives without being used again.
const USED_MASK: u32 = 3;
const GLUE_SHIFT: u32 = 2;
const MAX_GLUE: u32 = u32::MAX >> GLUE_SHIFT;

/// Other clauses of more literals have a place.
const MAX_WITHOUT_PLACE: usize = 3;

/// All clauses of a solver.
#[derive(Default)]
pub(super) struct Arena {
    words: Vec<u32>,
    /// Whether clauses have ids (A2).
    has_ids: bool,
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
    /// From now on clauses have ids. There must not be any yet.
    pub(super) fn keep_ids(&mut self) {
        assert!(self.is_empty(), "the clauses there have no ids");
        self.has_ids = true;
    }

    /// Whether there are no clauses, not even garbage.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Stores a clause of at least two literals (A3). Redundant clauses have a glue. The id, if any, is not yet set.
    pub(super) fn alloc(&mut self, lits: &[Lit], glue: Option<u32>) -> ClauseRef {
        debug_assert!(lits.len() >= 2);
        let clause = ClauseRef(self.words.len() as u32);
        let flags = if glue.is_some() { REDUNDANT } else { 0 };
        let tail = self.tail_len(flags, lits.len());
        let end = self.words.len() + HEADER + lits.len() + tail;
        assert!(end < MAX_WORDS && lits.len() <= MAX_SIZE, "the clauses exceed eight gigabytes");
        self.words.reserve(HEADER + lits.len() + tail);
        self.words.push((lits.len() as u32) << SIZE_SHIFT | flags);
        self.words.extend(lits.iter().map(|lit| lit.code()));
        self.words.extend(glue.map(|glue| glue.min(MAX_GLUE) << GLUE_SHIFT));
        self.words.resize(end, 0);
        clause
    }

    /// The length of the tail of a clause.
    #[inline]
    fn tail_len(&self, flags: u32, size: usize) -> usize {
        let fields =
            if flags & REDUNDANT != 0 { REDUNDANT_TAIL } else { usize::from(size > MAX_WITHOUT_PLACE) };
        fields + usize::from(self.has_ids)
    }

    /// Where the clause ends.
    #[inline]
    fn end(&self, clause: ClauseRef) -> usize {
        let (header, size) = (self.header(clause), self.size(clause));
        clause.at(HEADER + size + self.tail_len(header, size))
    }

    #[inline]
    fn header(&self, clause: ClauseRef) -> u32 {
        self.words[clause.at(0)]
    }

    /// Where a field of the tail of a redundant clause is.
    #[inline]
    fn redundant_field(&self, clause: ClauseRef, field: usize) -> usize {
        debug_assert!(self.is_redundant(clause));
        clause.at(HEADER + self.size(clause) + field)
    }

    /// The number of literals.
    #[inline]
    pub(super) fn size(&self, clause: ClauseRef) -> usize {
        (self.header(clause) >> SIZE_SHIFT) as usize
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

    /// The codes of the literals, to be permuted, and the place, if the clause has one.
    #[inline]
    pub(super) fn codes_mut(&mut self, clause: ClauseRef) -> (&mut [u32], Option<&mut u32>) {
        let [header, rest @ ..] = &mut self.words[clause.at(0)..] else {
            unreachable!("a header precedes the literals")
        };
        let size = (*header >> SIZE_SHIFT) as usize;
        let (codes, tail) = rest.split_at_mut(size);
        let has_place = *header & REDUNDANT == 0 && size > MAX_WITHOUT_PLACE;
        (codes, if has_place { tail.first_mut() } else { None })
    }

    /// The number of the clause (A2), if ids are kept.
    #[inline]
    pub(super) fn id(&self, clause: ClauseRef) -> u32 {
        debug_assert!(self.has_ids);
        self.words[self.end(clause) - 1]
    }

    /// Sets the number of the clause (A2), if ids are kept.
    #[inline]
    pub(super) fn set_id(&mut self, clause: ClauseRef, id: u32) {
        debug_assert!(self.has_ids);
        let end = self.end(clause);
        self.words[end - 1] = id;
    }

    /// Whether the clause is implied by others, or by the theory.
    #[inline]
    pub(super) fn is_redundant(&self, clause: ClauseRef) -> bool {
        self.header(clause) & REDUNDANT != 0
    }

    /// Whether the clause is marked as garbage.
    #[inline]
    pub(super) fn is_garbage(&self, clause: ClauseRef) -> bool {
        self.header(clause) & GARBAGE != 0
    }

    /// Marks a clause as garbage, to be removed by the next compaction.
    pub(super) fn mark_garbage(&mut self, clause: ClauseRef) {
        if !self.is_garbage(clause) {
            self.words[clause.at(0)] |= GARBAGE;
            self.wasted += self.end(clause) - clause.at(0);
        }
    }

    /// The number of decision levels that the redundant clause linked when it was learnt or last used.
    #[inline]
    pub(super) fn glue(&self, clause: ClauseRef) -> u32 {
        self.words[self.redundant_field(clause, GLUE)] >> GLUE_SHIFT
    }

    /// Lowers the glue of a redundant clause.
    pub(super) fn set_glue(&mut self, clause: ClauseRef, glue: u32) {
        let field = self.redundant_field(clause, GLUE);
        let word = &mut self.words[field];
        *word = *word & USED_MASK | glue.min(MAX_GLUE) << GLUE_SHIFT;
    }

    /// How many reductions the redundant clause survives because it was used.
    pub(super) fn used(&self, clause: ClauseRef) -> u32 {
        self.words[self.redundant_field(clause, GLUE)] & USED_MASK
    }

    /// Sets the use counter of a redundant clause, which is at most three.
    #[inline]
    pub(super) fn set_used(&mut self, clause: ClauseRef, used: u32) {
        debug_assert!(used <= USED_MASK);
        let field = self.redundant_field(clause, GLUE);
        let word = &mut self.words[field];
        *word = *word & !USED_MASK | used;
    }

    /// How much the redundant clause took part in recent conflicts.
    #[inline]
    pub(super) fn activity(&self, clause: ClauseRef) -> u32 {
        self.words[self.redundant_field(clause, ACTIVITY)]
    }

    /// The activity of a redundant clause, to be changed.
    #[inline]
    pub(super) fn activity_mut(&mut self, clause: ClauseRef) -> &mut u32 {
        let field = self.redundant_field(clause, ACTIVITY);
        &mut self.words[field]
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
                next = self.end(clause);
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
        let words = Vec::with_capacity(self.words.len() - self.wasted);
        let mut old = Arena { words, has_ids: self.has_ids, wasted: 0 };
        std::mem::swap(self, &mut old);
        let mut next = 0;
        while next < old.words.len() {
            let clause = ClauseRef(next as u32);
            next = old.end(clause);
            if old.is_garbage(clause) {
                continue;
            }
            let moved = self.words.len();
            let (lits, tail) = old.words[clause.at(HEADER)..next].split_at(old.size(clause));
            self.words.extend_from_slice(&old.words[clause.at(0)..clause.at(HEADER + 2)]);
            self.words.extend(lits[2..].iter().filter(|&&code| !is_dead(Lit::from_code(code))));
            let size = self.words.len() - moved - HEADER;
            let flags = old.header(clause) & ((1 << SIZE_SHIFT) - 1);
            self.words[moved] = (size as u32) << SIZE_SHIFT | flags;
            // A clause that became short loses its place, the first word of the tail.
            let lost = tail.len() - self.tail_len(flags, size);
            self.words.extend_from_slice(&tail[lost..]);
            old.words[clause.at(HEADER)] = moved as u32;
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
        (!self.old.is_garbage(clause)).then(|| ClauseRef(self.old.words[clause.at(HEADER)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lits(codes: &[u32]) -> Vec<Lit> {
        codes.iter().map(|&code| Lit::from_code(code)).collect()
    }

    #[test]
    fn fields_do_not_disturb_each_other() {
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
        assert_eq!(arena.lits(clause).collect::<Vec<_>>(), lits(&[2, 5, 7]));
    }

    #[test]
    fn compaction_keeps_ids_and_drops_dead_literals_that_are_not_watched() {
        let mut arena = Arena::default();
        arena.keep_ids();
        let first = arena.alloc(&lits(&[0, 2, 4]), None);
        arena.set_id(first, 10);
        let second = arena.alloc(&lits(&[1, 3, 4, 6]), Some(3));
        arena.set_id(second, 11);
        arena.mark_garbage(first);
        let moved = arena.compact(|lit| lit.code() == 4 || lit.code() == 1);
        assert_eq!(moved.get(first), None);
        let second = moved.get(second).unwrap();
        assert_eq!(arena.lits(second).collect::<Vec<_>>(), lits(&[1, 3, 6]));
        assert_eq!((arena.id(second), arena.glue(second)), (11, 3));
        let third = arena.alloc(&lits(&[0, 2]), None);
        arena.set_id(third, 12);
        assert_eq!((arena.id(second), arena.id(third)), (11, 12));
        assert_eq!(arena.iter().collect::<Vec<_>>(), [second, third]);
    }

    /// All kinds of clauses, with and without ids: the fields move along, and the place of a clause that became short
    /// is dropped.
    #[test]
    fn compaction_moves_tails_of_every_length() {
        for has_ids in [false, true] {
            let mut arena = Arena::default();
            if has_ids {
                arena.keep_ids();
            }
            let all: Vec<ClauseRef> = (2..7)
                .flat_map(|size| [(size, None), (size, Some(5))])
                .map(|(size, glue)| arena.alloc(&lits(&[2, 4, 6, 8, 10, 12][..size]), glue))
                .collect();
            for (index, &clause) in all.iter().enumerate() {
                let (_, place) = arena.codes_mut(clause);
                let is_redundant = index % 2 == 1;
                assert_eq!(place.is_some(), !is_redundant && index >= 4);
                if let Some(place) = place {
                    *place = index as u32;
                }
                if is_redundant {
                    *arena.activity_mut(clause) = 100 + index as u32;
                }
                if has_ids {
                    arena.set_id(clause, 200 + index as u32);
                }
            }
            let moved = arena.compact(|lit| lit.code() == 8);
            assert_eq!(arena.iter().count(), all.len());
            for (index, &clause) in all.iter().enumerate() {
                let clause = moved.get(clause).unwrap();
                let expected: &[u32] = match index / 2 {
                    0 => &[2, 4],
                    1 | 2 => &[2, 4, 6],
                    3 => &[2, 4, 6, 10],
                    _ => &[2, 4, 6, 10, 12],
                };
                assert_eq!(arena.lits(clause).collect::<Vec<_>>(), lits(expected));
                if has_ids {
                    assert_eq!(arena.id(clause), 200 + index as u32);
                }
                if index % 2 == 1 {
                    assert_eq!((arena.glue(clause), arena.activity(clause)), (5, 100 + index as u32));
                }
                let place = arena.codes_mut(clause).1.copied();
                assert_eq!(place, (index % 2 == 0 && index >= 6).then_some(index as u32));
            }
        }
    }
}
