//! What tests of transformations share: random systems over small domains and their answers.

#![allow(dead_code, reason = "each test needs a part of it")]

pub(crate) mod explicit;
pub(crate) mod systems;

/// A linear congruential generator of 64 bits, of which the upper 31 are used.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.below(2);
        random
    }

    /// A number from zero up to the bound, which is not included.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound
    }

    /// True once in so many times.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub(crate) fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
