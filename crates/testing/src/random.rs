//! Reproducible random numbers, the same on every machine.

/// A linear congruential generator of 64 bits (Knuth's MMIX); only the upper 31 bits are used.
///
/// The state is the seed. The multiplier is large, so close seeds do not give close numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator with this seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// A number from zero up to the bound, exclusive.
    pub fn below(&mut self, bound: usize) -> usize {
        let drawn = if bound <= 1 << 31 { self.draw() } else { self.draw() << 31 | self.draw() };
        drawn % bound
    }

    /// A number of 31 bits.
    fn draw(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }

    /// A number between two bounds, inclusive.
    pub fn between(&mut self, least: i64, greatest: i64) -> i64 {
        least + self.below((greatest - least + 1) as usize) as i64
    }

    /// A fair Boolean.
    pub fn bool(&mut self) -> bool {
        self.below(2) == 0
    }

    /// True with probability `1 / times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// True with this probability in percent.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A random element.
    pub fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Shuffles a list (Fisher and Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in (1..list.len()).rev() {
            list.swap(place, self.below(place + 1));
        }
    }

    /// Coefficients of `vars` variables, of absolute value at most `size`.
    pub fn form(&mut self, vars: usize, size: i64) -> Vec<i64> {
        (0..vars).map(|_| self.between(-size, size)).collect()
    }

    /// `count` decimal digits, the first one not zero.
    pub fn digits(&mut self, count: usize) -> String {
        let digit = |place: usize| {
            char::from(b'0' + if place == 0 { 1 + self.below(9) } else { self.below(10) } as u8)
        };
        (0..count).map(digit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_of_near_seeds_are_spread() {
        let first: Vec<usize> = (0..1000).map(|seed| Random::new(seed).below(10)).collect();
        for digit in 0..10 {
            let count = first.iter().filter(|&&drawn| drawn == digit).count();
            assert!((60..140).contains(&count), "{digit}: {count}");
        }
    }

    #[test]
    fn a_shuffled_list_has_the_same_members_in_all_orders() {
        let mut seen = std::collections::BTreeSet::new();
        let mut random = Random::new(1);
        for _ in 0..100 {
            let mut list = [0, 1, 2];
            random.shuffle(&mut list);
            seen.insert(list);
            list.sort_unstable();
            assert_eq!(list, [0, 1, 2]);
        }
        assert_eq!(seen.len(), 6);
    }

    #[test]
    fn both_ends_of_an_interval_are_drawn() {
        let mut random = Random::new(5);
        let drawn: std::collections::BTreeSet<i64> = (0..100).map(|_| random.between(-2, 1)).collect();
        assert!(drawn.into_iter().eq(-2..=1));
        assert_eq!(random.digits(40).len(), 40);
        assert!((0..100).all(|_| !random.digits(2).starts_with('0')));
    }
}
