//! The watch lists: by literals, the clauses to visit when the literal becomes false (`propagate.rs`).
//!
//! All lists share one vector, the *pool*. A list owns a block of it and fills the block from its start. If the block is
//! full, the list moves to the next larger block, and its old block becomes free for other lists. Blocks come in sizes
//! 2, 3, 4, 6, 8, 12, 16 and so on, each size has a chain of free blocks, and a list takes a free block before the pool
//! grows. A collection of clauses rebuilds the pool without free blocks, in the order of the literals.
//!
//! A vector for each list costs three words and a heap block of at least 32 bytes. Definitions of gates give most
//! literals one to three watches of 8 bytes, so most of that was overhead, and it was half of the memory of long
//! unrollings. In the pool such a list costs 12 bytes and little more than its watches: the lists of new variables grow
//! one after the other, and each takes the blocks that the one before has left. Powers of two alone would waste a
//! quarter of the block of three watches, which is the size of most.
//!
//! - B1: each entry of the pool belongs to the block of one list, or to one free block.
//! - B2: a list is at most as long as its block. Lists without a block are empty, and the others may be.
//!
//! The pool may grow while a list is visited. So propagation reads a list by index, and its block stays in place as long
//! as nothing is pushed onto this list.

use std::ops::Range;

use super::clause::{Arena, ClauseRef};
use super::literal::Lit;

/// An entry of a watch list.
#[derive(Clone, Copy)]
pub(super) struct Watch {
    pub(super) blocker: Lit,
    /// The reference, with the top bit set for binary clauses. In the first entry of a free block, the next one of the
    /// chain.
    tagged: u32,
}

const BINARY: u32 = 1 << 31;

impl Watch {
    #[inline]
    pub(super) fn new(blocker: Lit, clause: ClauseRef, is_binary: bool) -> Self {
        Self { blocker, tagged: clause.word() | if is_binary { BINARY } else { 0 } }
    }

    #[inline]
    pub(super) fn clause(self) -> ClauseRef {
        ClauseRef::from_word(self.tagged & !BINARY)
    }

    #[inline]
    pub(super) fn is_binary(self) -> bool {
        self.tagged & BINARY != 0
    }

    /// An entry that no list uses.
    fn unused(next: u32) -> Self {
        Self { blocker: Lit::from_code(0), tagged: next }
    }
}

/// The end of a chain of free blocks.
const END: u32 = u32::MAX;

/// Entries of the pool for each variable that room is made for.
const ROOM: usize = 4;

/// A list: its block, and how many entries of it are in use (B2).
#[derive(Clone, Copy, Default)]
struct List {
    start: u32,
    len: u32,
    /// The size of the block; zero if there is none.
    capacity: u32,
}

impl List {
    #[inline]
    fn range(self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// The watch lists by the literals watched.
#[derive(Default)]
pub(super) struct Watches {
    lists: Vec<List>,
    pool: Vec<Watch>,
    /// By size classes: the first free block, or [`END`].
    free: Vec<u32>,
}

impl Watches {
    /// Makes room for more variables.
    pub(super) fn reserve(&mut self, vars: usize) {
        self.lists.reserve(2 * vars);
        self.pool.reserve(ROOM * vars);
    }

    /// Adds the next variable.
    pub(super) fn add_var(&mut self) {
        self.lists.extend([List::default(); 2]);
    }

    /// Watches the first two literals of a clause (W1).
    pub(super) fn attach(&mut self, arena: &Arena, clause: ClauseRef) {
        let (first, second) = (arena.lit(clause, 0), arena.lit(clause, 1));
        let is_binary = arena.size(clause) == 2;
        self.push(first, Watch::new(second, clause, is_binary));
        self.push(second, Watch::new(first, clause, is_binary));
    }

    /// Adds a watch at the end of a list.
    #[inline]
    pub(super) fn push(&mut self, lit: Lit, watch: Watch) {
        let mut list = self.lists[lit.index()];
        if list.len == list.capacity {
            list = self.move_to_larger_block(list);
        }
        self.pool[(list.start + list.len) as usize] = watch;
        list.len += 1;
        self.lists[lit.index()] = list;
    }

    /// The list in the next larger block.
    #[cold]
    fn move_to_larger_block(&mut self, list: List) -> List {
        let capacity = block_size(list.capacity + 1);
        let start = self.take_block(capacity);
        self.pool.copy_within(list.range(), start as usize);
        if list.capacity > 0 {
            self.free_block(list.start, list.capacity);
        }
        List { start, capacity, ..list }
    }

    /// Takes a block from its chain, or from the end of the pool.
    fn take_block(&mut self, size: u32) -> u32 {
        if let Some(first) = self.free.get_mut(class(size)).filter(|first| **first != END) {
            let start = *first;
            *first = self.pool[start as usize].tagged;
            return start;
        }
        let start = self.pool.len();
        let end = start + size as usize;
        assert!(end < END as usize, "the watch lists exceed 32 gigabytes");
        self.pool.resize(end, Watch::unused(END));
        start as u32
    }

    fn free_block(&mut self, start: u32, size: u32) {
        let class = class(size);
        if self.free.len() <= class {
            self.free.resize(class + 1, END);
        }
        let next = std::mem::replace(&mut self.free[class], start);
        self.pool[start as usize] = Watch::unused(next);
    }

    /// The watches of a literal.
    pub(super) fn of(&self, lit: Lit) -> &[Watch] {
        &self.pool[self.range(lit)]
    }

    /// The entries of the pool that hold the watches of a literal, until something is pushed onto this list.
    #[inline]
    pub(super) fn range(&self, lit: Lit) -> Range<usize> {
        self.lists[lit.index()].range()
    }

    /// An entry of the pool.
    #[inline]
    pub(super) fn get(&self, entry: usize) -> Watch {
        self.pool[entry]
    }

    /// Replaces an entry of the pool.
    #[inline]
    pub(super) fn set(&mut self, entry: usize, watch: Watch) {
        self.pool[entry] = watch;
    }

    /// Removes the watches of a literal that are in these entries of the pool.
    #[inline]
    pub(super) fn remove(&mut self, lit: Lit, entries: Range<usize>) {
        let list = &mut self.lists[lit.index()];
        let end = list.range().end;
        list.len -= entries.len() as u32;
        self.pool.copy_within(entries.end..end, entries.start);
    }

    /// Replaces each watch, or removes it, and rebuilds the pool without free blocks.
    pub(super) fn rebuild(&mut self, mut renew: impl FnMut(Lit, Watch) -> Option<Watch>) {
        let entries = self.lists.iter().map(|list| block_size(list.len) as usize).sum();
        let old = std::mem::replace(&mut self.pool, Vec::with_capacity(entries));
        self.free.clear();
        for (code, list) in self.lists.iter_mut().enumerate() {
            let lit = Lit::from_code(code as u32);
            let start = self.pool.len();
            self.pool.extend(old[list.range()].iter().filter_map(|&watch| renew(lit, watch)));
            let len = (self.pool.len() - start) as u32;
            let capacity = block_size(len);
            self.pool.resize(start + capacity as usize, Watch::unused(END));
            *list = List { start: start as u32, len, capacity };
        }
    }

    /// B1 and B2.
    pub(super) fn check_blocks(&self) {
        let mut owned = vec![false; self.pool.len()];
        let mut own = |start: u32, size: u32| {
            for entry in start..start + size {
                assert!(!std::mem::replace(&mut owned[entry as usize], true), "B1: blocks overlap");
            }
        };
        for list in &self.lists {
            assert!(list.len <= list.capacity, "B2: a list is longer than its block");
            assert!(list.capacity == block_size(list.capacity), "B2: there are no blocks of this size");
            own(list.start, list.capacity);
        }
        for size in (0..=31).flat_map(|shift| [2 << shift, 3 << shift]).take(self.free.len()) {
            let mut block = self.free[class(size)];
            while block != END {
                own(block, size);
                block = self.pool[block as usize].tagged;
            }
        }
        assert!(owned.iter().all(|&owned| owned), "B1: nothing owns an entry");
    }
}

/// The size of the smallest block for so many watches.
#[inline]
fn block_size(len: u32) -> u32 {
    match len {
        0 => 0,
        1..=2 => 2,
        _ => {
            let power = len.next_power_of_two();
            if len <= power / 4 * 3 { power / 4 * 3 } else { power }
        }
    }
}

/// The number of a block size: zero for two entries, one for three, two for four, three for six.
fn class(size: u32) -> usize {
    let shift = size.ilog2() - 1;
    (2 * shift + (size >> shift & 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watches(vars: usize) -> Watches {
        let mut watches = Watches::default();
        (0..vars).for_each(|_| watches.add_var());
        watches
    }

    fn lit(code: u32) -> Lit {
        Lit::from_code(code)
    }

    /// Each watch is told by its reference.
    fn push(watches: &mut Watches, code: u32, words: Range<u32>) {
        words.for_each(|word| watches.push(lit(code), Watch::new(lit(0), ClauseRef::from_word(word), false)));
        watches.check_blocks();
    }

    fn words(watches: &Watches, code: u32) -> Vec<u32> {
        watches.of(lit(code)).iter().map(|watch| watch.clause().word()).collect()
    }

    #[test]
    fn block_sizes_grow_by_a_third_or_a_half() {
        let sizes: Vec<u32> =
            std::iter::successors(Some(2), |&size| Some(block_size(size + 1))).take(9).collect();
        assert_eq!(sizes, [2, 3, 4, 6, 8, 12, 16, 24, 32]);
        assert!(
            sizes.iter().enumerate().all(|(index, &size)| class(size) == index && block_size(size) == size)
        );
        assert_eq!((block_size(0), block_size(1)), (0, 2));
    }

    #[test]
    fn lists_that_grow_by_turns_keep_their_watches_in_order() {
        let mut watches = watches(2);
        for word in 0..100 {
            for code in 0..4 {
                push(&mut watches, code, word..word + 1);
            }
        }
        assert!((0..4).all(|code| words(&watches, code) == (0..100).collect::<Vec<_>>()));
    }

    #[test]
    fn a_list_takes_the_blocks_that_others_have_left() {
        let mut watches = watches(2);
        push(&mut watches, 0, 0..4);
        // The first list left blocks of two and three entries.
        assert_eq!(watches.pool.len(), 2 + 3 + 4);
        push(&mut watches, 1, 0..3);
        assert_eq!(watches.pool.len(), 2 + 3 + 4);
        push(&mut watches, 2, 0..2);
        assert_eq!(watches.pool.len(), 2 + 3 + 4);
        push(&mut watches, 3, 0..1);
        assert_eq!(watches.pool.len(), 2 + 3 + 4 + 2);
        assert_eq!((0..4).map(|code| watches.of(lit(code)).len()).collect::<Vec<_>>(), [4, 3, 2, 1]);
    }

    #[test]
    fn removal_keeps_the_order_and_the_block() {
        let mut watches = watches(1);
        push(&mut watches, 0, 0..6);
        push(&mut watches, 1, 10..12);
        let Range { start, .. } = watches.range(lit(0));
        watches.remove(lit(0), start + 1..start + 3);
        watches.check_blocks();
        assert_eq!(words(&watches, 0), [0, 3, 4, 5]);
        let entries = watches.pool.len();
        push(&mut watches, 0, 6..8);
        assert_eq!((words(&watches, 0), watches.pool.len()), (vec![0, 3, 4, 5, 6, 7], entries));
        let all = watches.range(lit(1));
        watches.remove(lit(1), all);
        push(&mut watches, 1, 12..13);
        assert_eq!((words(&watches, 1), watches.pool.len()), (vec![12], entries));
    }

    #[test]
    fn rebuilding_leaves_no_free_block() {
        let mut watches = watches(2);
        push(&mut watches, 0, 0..20);
        push(&mut watches, 2, 0..5);
        push(&mut watches, 3, 1..2);
        watches.rebuild(|at, watch| {
            let word = watch.clause().word();
            let renewed = Watch::new(at, ClauseRef::from_word(word + 100), false);
            (word % 2 == 0).then_some(renewed)
        });
        watches.check_blocks();
        assert_eq!(words(&watches, 0), (100..120).step_by(2).collect::<Vec<_>>());
        assert_eq!(words(&watches, 2), [100, 102, 104]);
        assert!(watches.of(lit(2)).iter().all(|watch| watch.blocker == lit(2)));
        assert!(watches.of(lit(1)).is_empty() && watches.of(lit(3)).is_empty());
        assert_eq!(watches.pool.len(), 12 + 3);
        push(&mut watches, 3, 0..1);
        assert_eq!(watches.pool.len(), 12 + 3 + 2);
    }
}
