//! Hash-consing tables shared by all threads.
//!
//! An [`Interner`] gives equal values equal indices and never forgets or moves a value. Values live in a
//! concurrent append-only vector, so reading one by its index takes no lock. Finding or adding a value takes
//! the lock of one of [`SHARDS`] hash tables, chosen by the value's hash.
//!
//! Invariants:
//! - I1: for every index handed out, the value is in the vector before the index is in a table. Whoever holds
//!   an index can therefore read the value.
//! - I2: equal values have equal hashes, hence one shard, and are looked up and added under its lock. So no
//!   value is ever stored twice.
//!
//! A table slot keeps 32 bits of the hash beside the index: growing a table then needs no look at the values,
//! and a probe compares values only if 32 bits agree.

use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// Number of independently locked tables; a power of two.
const SHARDS: usize = 32;

/// A hash-consing table for values of one type.
pub(crate) struct Interner<T> {
    values: boxcar::Vec<T>,
    shards: [Shard; SHARDS],
}

/// One table under its lock, on cache lines of its own so that threads in different shards do not disturb
/// each other.
#[derive(Default)]
#[repr(align(64))]
struct Shard(Mutex<HashTable<Slot>>);

#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    index: u32,
}

impl Slot {
    /// The 64 bits that the table works with, made from the 32 that are kept. The multiplication carries the
    /// entropy to the upper bits, from which the table takes its tags.
    fn table_hash(hash: u32) -> u64 {
        u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl<T> Interner<T> {
    pub(crate) fn new() -> Self {
        Interner { values: boxcar::Vec::new(), shards: std::array::from_fn(|_| Shard::default()) }
    }

    /// The index of the value that `same` recognises, added by `make` if it is not there yet. The flag tells
    /// whether it was added.
    ///
    /// `hash` must be the hash of the value sought, `same` must hold for exactly the values equal to it.
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

    /// As [`intern`](Self::intern), for values that may turn out not to exist. Nothing is added then.
    #[inline]
    pub(crate) fn try_intern<E>(
        &self,
        hash: u64,
        same: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<(u32, bool), E> {
        let short = hash as u32;
        let mut table = self.shard(hash);
        let entry = table.entry(
            Slot::table_hash(short),
            |slot| slot.hash == short && same(&self.values[slot.index as usize]),
            |slot| Slot::table_hash(slot.hash),
        );
        match entry {
            Entry::Occupied(slot) => Ok((slot.get().index, false)),
            Entry::Vacant(vacancy) => {
                let index = self.values.push(make()?);
                let index = u32::try_from(index).expect("memory ends long before 2^32 values");
                vacancy.insert(Slot { hash: short, index });
                Ok((index, true))
            }
        }
    }

    /// The value with this index.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> &T {
        &self.values[index as usize]
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.values.count()
    }

    /// The shard is chosen by bits of the hash that the slot does not keep.
    fn shard(&self, hash: u64) -> MutexGuard<'_, HashTable<Slot>> {
        let Shard(table) = &self.shards[(hash >> 32) as usize % SHARDS];
        // A panic under the lock can only come from a value's own comparison or from running out of memory;
        // the table is unchanged then, so a poisoned lock may be entered.
        table.lock().unwrap_or_else(PoisonError::into_inner)
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
