//! Hash-consing tables shared by all threads.
//!
//! An [`Interner`] gives equal values equal indices and never removes or moves a value. Values live in a concurrent
//! append-only vector, and hash tables map them to indices: one for each of [`SHARDS`] parts of the hashes. Neither
//! reading a value by its index nor finding an existing one takes a lock. This matters: threads that write to the same
//! cache lines, even only to lock and unlock, wait for each other much longer than a table lookup takes. Only a thread
//! that adds a value takes the lock of its shard.
//!
//! A table is an array of slots with linear probing. Slots are filled and never changed again. A crowded table is
//! copied into one of twice the size. The old one stays, and its readers may miss values added later; so a value counts
//! as missing only after a search of the newest table under the lock.
//!
//! Invariants:
//! - I1: for every index handed out, the value is in the vector before the index is in a table. So every holder of an
//!   index can read the value.
//! - I2: equal values have equal hashes, hence one shard, and are added under its lock. So no value is ever stored
//!   twice.
//! - I3: at most three quarters of the slots of a table are filled, so every search ends.
//!
//! A slot stores 32 bits of the hash beside the index: growing a table then does not read the values, and a probe
//! compares values only if 32 bits agree.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Number of independently locked tables; a power of two.
const SHARDS: usize = 16;

/// The number of slots of the first table of a shard; a power of two.
const FIRST_SIZE: usize = 32;

/// The greatest number of tables of a shard. The last one has room for all indices.
const TABLES: usize = 28;

/// A hash-consing table for values of one type.
pub(crate) struct Interner<T> {
    values: boxcar::Vec<T>,
    shards: Box<[Shard; SHARDS]>,
}

/// The tables for a part of the hashes, each twice the size of the previous one.
#[derive(Default)]
#[repr(align(64))]
struct Shard {
    tables: [OnceLock<Table>; TABLES],
    /// The newest table. It exists once there are values.
    newest: AtomicUsize,
    adding: Adding,
}

/// The number of values in a shard, locked to add one; on its own cache line, which readers do not need.
#[derive(Default)]
#[repr(align(64))]
struct Adding(Mutex<usize>);

/// Slots: zero if empty, otherwise 32 bits of a hash, and the index plus one.
struct Table(Box<[AtomicU64]>);

impl Table {
    fn new(size: usize) -> Self {
        Table((0..size).map(|_| AtomicU64::new(0)).collect())
    }

    /// The index of the value with this hash for which `same` holds, or the empty slot where the search ended.
    #[inline]
    fn find(&self, hash: u32, same: impl Fn(u32) -> bool) -> Result<u32, &AtomicU64> {
        let mask = self.0.len() - 1;
        // The multiplication carries the entropy of all bits to the upper ones.
        let mut place = (u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        loop {
            let slot = &self.0[place];
            // A thread that sees the slot also sees the value, which was written before.
            let filled = slot.load(Ordering::Acquire);
            if filled == 0 {
                return Err(slot);
            }
            let index = (filled as u32) - 1;
            if (filled >> 32) as u32 == hash && same(index) {
                return Ok(index);
            }
            place = (place + 1) & mask;
        }
    }

    /// Fills the slot where [`find`](Self::find) ended.
    fn fill(slot: &AtomicU64, hash: u32, index: u32) {
        slot.store(u64::from(hash) << 32 | u64::from(index + 1), Ordering::Release);
    }

    /// A table of twice the size with the same indices.
    fn grown(&self) -> Self {
        let grown = Table::new(2 * self.0.len());
        for slot in &self.0 {
            let filled = slot.load(Ordering::Relaxed);
            if filled != 0 {
                let hash = (filled >> 32) as u32;
                if let Err(free) = grown.find(hash, |_| false) {
                    free.store(filled, Ordering::Relaxed);
                }
            }
        }
        grown
    }
}

impl Shard {
    #[inline]
    fn newest(&self) -> Option<&Table> {
        self.tables[self.newest.load(Ordering::Acquire)].get()
    }

    /// A table with room for one more value. The caller holds the lock.
    fn with_room(&self, values: usize) -> &Table {
        let Some(table) = self.newest() else { return self.tables[0].get_or_init(|| Table::new(FIRST_SIZE)) };
        // By I3.
        if 4 * (values + 1) <= 3 * table.0.len() {
            return table;
        }
        let next = self.newest.load(Ordering::Relaxed) + 1;
        let grown = self.tables[next].get_or_init(|| table.grown());
        self.newest.store(next, Ordering::Release);
        grown
    }
}

impl<T> Interner<T> {
    pub(crate) fn new() -> Self {
        Interner { values: boxcar::Vec::new(), shards: Box::new(std::array::from_fn(|_| Shard::default())) }
    }

    /// The index of the value for which `same` holds; `make` adds it if it is missing. The flag tells whether it was
    /// added.
    ///
    /// `hash` must be the hash of the value, and `same` must hold for exactly the values equal to it.
    #[inline]
    pub(crate) fn intern(
        &self,
        hash: u64,
        same: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> (u32, bool) {
        let Ok(found) = self.try_intern(hash, same, || Ok::<T, Infallible>(make()));
        found
    }

    /// As [`intern`](Self::intern), for values that may not exist. On an error nothing is added.
    #[inline]
    pub(crate) fn try_intern<E>(
        &self,
        hash: u64,
        same: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<(u32, bool), E> {
        // Hash bits that slots do not store choose the shard.
        let (short, shard) = (hash as u32, &self.shards[(hash >> 32) as usize % SHARDS]);
        let same = |index: u32| same(&self.values[index as usize]);
        if let Some(Ok(index)) = shard.newest().map(|table| table.find(short, same)) {
            return Ok((index, false));
        }
        let mut number = shard.adding.lock();
        let table = shard.with_room(*number);
        match table.find(short, same) {
            Ok(index) => Ok((index, false)),
            Err(free) => {
                let index = self.values.push(make()?);
                let index = u32::try_from(index).ok().filter(|&index| index < u32::MAX);
                let index = index.expect("memory ends long before 2^32 values");
                Table::fill(free, short, index);
                *number += 1;
                Ok((index, true))
            }
        }
    }

    /// A table with the same values under the same indices. No other thread may add to this one meanwhile.
    pub(crate) fn copy(&self) -> Self
    where
        T: Clone,
    {
        let copy = |shard: &Shard| {
            let number = *shard.adding.lock();
            let copy = Shard { adding: Adding(Mutex::new(number)), ..Shard::default() };
            if let Some(table) = shard.newest() {
                let newest = shard.newest.load(Ordering::Acquire);
                let slots = table.0.iter().map(|slot| AtomicU64::new(slot.load(Ordering::Acquire)));
                copy.tables[newest].get_or_init(|| Table(slots.collect()));
                copy.newest.store(newest, Ordering::Release);
            }
            copy
        };
        let values = self.values.iter().map(|(_, value)| value.clone()).collect();
        Interner { values, shards: Box::new(std::array::from_fn(|shard| copy(&self.shards[shard]))) }
    }

    /// The value with this index.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> &T {
        &self.values[index as usize]
    }

    /// All values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.values.iter().map(|(_, value)| value)
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.values.count()
    }
}

impl Adding {
    /// A panic under the lock can only come from a value's own comparison or from running out of memory. No slot is
    /// half filled then, so a poisoned lock may be entered.
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use rustc_hash::FxBuildHasher;

    use super::*;

    fn intern(table: &Interner<String>, text: &str) -> (u32, bool) {
        table.intern(FxBuildHasher.hash_one(text), |s| s == text, || text.to_owned())
    }

    #[test]
    fn equal_values_share_an_index() {
        let table = Interner::new();
        let (a, new_a) = intern(&table, "a");
        let (b, new_b) = intern(&table, "b");
        assert!(new_a && new_b && a != b);
        assert_eq!(intern(&table, "a"), (a, false));
        assert_eq!(table.get(b), "b");
        assert_eq!(table.len(), 2);
    }

    #[test]
    fn values_of_equal_hash_stay_apart() {
        let table = Interner::new();
        let add = |n: u32| table.intern(7, |m| *m == n, || n).0;
        let (a, b) = (add(1), add(2));
        assert_ne!(a, b);
        assert_eq!((add(1), add(2)), (a, b));
    }

    /// Values with few different hashes use all shards, and tables of all sizes.
    #[test]
    fn nothing_is_lost_when_tables_grow() {
        let table = Interner::new();
        let add = |n: u32| table.intern(u64::from(n % 1000) << 31, |m| *m == n, || n);
        let indices: Vec<u32> = (0..20_000).map(|n| add(n).0).collect();
        assert_eq!(indices, (0..20_000).collect::<Vec<_>>());
        assert!((0..20_000).all(|n| add(n) == (n, false)));
    }

    #[test]
    fn nothing_is_added_if_there_is_no_value() {
        let table = Interner::new();
        for n in 0..100 {
            assert_eq!(table.try_intern(n, |m: &u64| *m == n, || Err(n)), Err(n));
        }
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn two_threads_agree_on_every_index() {
        let table = Interner::new();
        let work = |step: usize| {
            (0..50_000usize).map(|i| intern(&table, &format!("s{}", i * step % 50_000)).0).collect::<Vec<_>>()
        };
        std::thread::scope(|scope| {
            let forward = scope.spawn(|| work(1));
            let shuffled = scope.spawn(|| work(7));
            let (forward, shuffled) = (forward.join().unwrap(), shuffled.join().unwrap());
            for i in 0..50_000 {
                assert_eq!(forward[i * 7 % 50_000], shuffled[i]);
            }
        });
        assert_eq!(table.len(), 50_000);
    }
}
