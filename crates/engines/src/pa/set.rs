//! Sets of small numbers, as bits.

/// A set of positions in a list.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Set(Vec<u64>);

const BITS: usize = u64::BITS as usize;

impl Set {
    pub(crate) fn insert(&mut self, member: usize) {
        let word = member / BITS;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (member % BITS);
    }

    pub(crate) fn is_subset(&self, other: &Set) -> bool {
        let word = |at: usize| other.0.get(at).copied().unwrap_or(0);
        self.0.iter().enumerate().all(|(at, &own)| own & !word(at) == 0)
    }

    /// Keeps the members that the other set has, too.
    pub(crate) fn intersect(&mut self, other: &Set) {
        self.0.truncate(other.0.len());
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
        self.trim();
    }

    /// Takes out the greatest member.
    pub(crate) fn pop(&mut self) -> Option<usize> {
        let word = self.0.last_mut()?;
        let bit = word.ilog2() as usize;
        *word ^= 1 << bit;
        let member = (self.0.len() - 1) * BITS + bit;
        self.trim();
        Some(member)
    }

    /// Equal sets have equal words.
    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let members = |(at, &word): (usize, &u64)| {
            (0..BITS).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * BITS + bit)
        };
        self.0.iter().enumerate().flat_map(members)
    }
}

impl FromIterator<usize> for Set {
    fn from_iter<I: IntoIterator<Item = usize>>(members: I) -> Self {
        let mut set = Set::default();
        members.into_iter().for_each(|member| set.insert(member));
        set
    }
}
