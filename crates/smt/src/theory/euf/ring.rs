//! Lists that are joined and split in constant time.
//!
//! Each class has lists of members, uses, equations and group memberships, which are concatenated when classes are
//! joined and split on backtracking. Slots, numbered from zero, are the possible list elements. A list is a cycle
//! through the array of successors: exchanging the successors of two slots joins two cycles into one, and exchanging
//! them again restores the two. No list owns memory, and the heads of the lists of one class share a cache line.
//!
//! All changes are undone in reverse order; `unlink` and `unsplice` rely on it.

const NONE: u32 = u32::MAX;

/// The head of a list; the slots store the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    /// Some slot of the cycle, or `NONE`.
    head: u32,
    len: u32,
}

impl List {
    pub(super) const EMPTY: List = List { head: NONE, len: 0 };

    pub(super) fn len(self) -> usize {
        self.len as usize
    }

    /// The slot where iteration starts. For loops whose body changes other fields, with [`Rings::after`].
    pub(super) fn first(self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }
}

/// Slots, for a family of disjoint lists.
#[derive(Clone, Default, Debug)]
pub(super) struct Rings {
    next: Vec<u32>,
}

impl Rings {
    /// A slot that is in no list yet.
    pub(super) fn add_slot(&mut self) -> u32 {
        let slot = self.next.len() as u32;
        self.next.push(slot);
        slot
    }

    pub(super) fn remove_last_slot(&mut self) {
        self.next.pop();
    }

    pub(super) fn slot_count(&self) -> usize {
        self.next.len()
    }

    pub(super) fn link(&mut self, list: &mut List, slot: u32) {
        if list.head == NONE {
            list.head = slot;
        } else {
            self.next.swap(list.head as usize, slot as usize);
        }
        list.len += 1;
    }

    /// Removes the slot that was linked last from its list.
    pub(super) fn unlink(&mut self, list: &mut List, slot: u32) {
        if list.head == slot {
            list.head = NONE;
        } else {
            self.next.swap(list.head as usize, slot as usize);
        }
        list.len -= 1;
    }

    /// Appends the list `from` to `into`. `from` must not be used until the two are split again.
    pub(super) fn splice(&mut self, into: &mut List, from: List) {
        into.len += from.len;
        if into.head == NONE {
            into.head = from.head;
        } else if from.head != NONE {
            self.next.swap(into.head as usize, from.head as usize);
        }
    }

    pub(super) fn unsplice(&mut self, into: &mut List, from: List) {
        into.len -= from.len;
        if into.len == 0 {
            into.head = NONE;
        } else if from.head != NONE {
            self.next.swap(into.head as usize, from.head as usize);
        }
    }

    /// The next slot of the list.
    pub(super) fn after(&self, list: List, slot: u32) -> Option<u32> {
        let next = self.next[slot as usize];
        (next != list.head).then_some(next)
    }

    pub(super) fn iter(&self, list: List) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(list.first(), move |&slot| self.after(list, slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(rings: &Rings, list: List) -> Vec<u32> {
        let mut slots: Vec<u32> = rings.iter(list).collect();
        assert_eq!(slots.len(), list.len());
        slots.sort_unstable();
        slots
    }

    #[test]
    fn splitting_gives_back_what_was_joined() {
        let mut rings = Rings::default();
        let [mut a, mut b, mut c, mut d] = [List::EMPTY; 4];
        for _ in 0..5 {
            rings.add_slot();
        }
        for (list, slot) in [(&mut a, 0), (&mut b, 1), (&mut c, 3)] {
            rings.link(list, slot);
        }
        rings.link(&mut b, 2);
        rings.link(&mut a, 4);
        rings.splice(&mut a, b);
        rings.splice(&mut d, a);
        rings.splice(&mut d, c);
        assert_eq!(contents(&rings, d), [0, 1, 2, 3, 4]);
        let slot = rings.add_slot();
        rings.link(&mut d, slot);
        rings.unlink(&mut d, slot);
        rings.unsplice(&mut d, c);
        rings.unsplice(&mut d, a);
        assert!(contents(&rings, d).is_empty());
        assert_eq!(contents(&rings, a), [0, 1, 2, 4]);
        rings.unsplice(&mut a, b);
        assert_eq!(contents(&rings, a), [0, 4]);
        assert_eq!(contents(&rings, b), [1, 2]);
        assert_eq!(contents(&rings, c), [3]);
    }
}
