//! Strong extension levels: where a refuted path through frames may begin.
//!
//! `(i, k)` with `1 <= k <= i + 1 <= N + 1` is a *strong extension level* of a trace `F_0, .., F_N` if no path has these
//! states:
//!
//! ```text
//! F_i   at the k positions i+1-k, .., i
//! F_p   at the positions p = i+1, .., N
//! Bad   at position N + 1
//! ```
//!
//! The best level has the greatest `i`, and among these the least `k`. `(0, 1)` is a level unless there is a
//! counterexample of `N + 1` steps.
//!
//! A query is refuted more easily if `i` is smaller, because frames are monotone, and if `k` is greater. So `(i, i + 1)`
//! decides whether some `(i, k)` is a level, and if `(i, k)` fails, so does `(i + 1, k)`. This file uses nothing else: the
//! engines, over bits and over terms, have the frames and answer the queries.
//!
//! Source: Govind V K, Vizel, Ganesh & Gurfinkel, "Interpolating Strong Induction" (CAV 2019), algorithms 5 and 6.

use shofar_run::{Reason, Stop};

/// How a strong extension level is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// The best level: from the greatest `i` down, then from the least `k` up.
    TopDown,
    /// The best level that is found with few conflicts: from `k = 1` up.
    BottomUp,
    /// The best level that is found with few conflicts: from the core of each refutation to the best level that the core
    /// proves.
    CoreGuided,
    /// The best level with `k = 1`, as in Avy.
    Avy,
}

impl Strategy {
    /// All strategies.
    pub const ALL: &'static [Self] =
        &[Strategy::TopDown, Strategy::BottomUp, Strategy::CoreGuided, Strategy::Avy];
}

/// A strong extension level `(i, k)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// The frame that paths begin in.
    pub i: usize,
    /// The number of positions that are in it.
    pub k: usize,
}

impl Level {
    /// The level with `k = i + 1`, whose paths begin at position 0.
    pub fn longest(i: usize) -> Self {
        Self { i, k: i + 1 }
    }

    /// The best level that a refutation proves. It uses these pairs of a position and the frame of a lemma there; where it
    /// uses a step, the frame is the last one.
    pub fn proved_by(last: usize, used: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let (mut start, mut lowest) = (last, last);
        for (position, frame) in used {
            start = start.min(position);
            lowest = lowest.min(frame);
        }
        // No position is below `start`, and at each position p the lemmas are those of frames from max(p, `lowest`) on.
        let i = lowest.max(start);
        Self { i, k: i + 1 - start }
    }

    /// The position where its paths begin.
    pub fn start(self) -> usize {
        self.i + 1 - self.k
    }

    /// The frame of a position.
    pub fn frame(self, position: usize) -> usize {
        position.max(self.i)
    }
}

/// The queries about the levels of a trace.
pub trait Queries {
    /// The conflicts after which a search is content with what it has.
    const MOST_CONFLICTS: u64;

    /// `N`.
    fn last(&self) -> usize;

    /// The conflicts of all queries so far.
    fn num_conflicts(&self) -> u64;

    /// The best level that the last refutation proves.
    fn proved(&self) -> Level;

    /// Whether `(i, k)` is a strong extension level. With a budget of conflicts, an exhausted one is an error.
    fn is_level_within(&mut self, level: Level, conflicts: Option<u64>) -> Result<bool, Stop>;

    /// Whether `(i, k)` is a strong extension level.
    fn is_level(&mut self, level: Level) -> Result<bool, Stop> {
        self.is_level_within(level, None)
    }

    /// A strong extension level. Precondition: the last query was refuted, and was about [`Level::longest`] of 0.
    fn find(&mut self, strategy: Strategy) -> Result<Level, Stop> {
        match strategy {
            Strategy::TopDown => top_down(self),
            Strategy::BottomUp => bottom_up(self),
            Strategy::CoreGuided => core_guided(self),
            Strategy::Avy => extension_level(self),
        }
    }
}

fn top_down<Q: Queries + ?Sized>(queries: &mut Q) -> Result<Level, Stop> {
    let mut i = queries.last();
    while i > 0 && !queries.is_level(Level::longest(i))? {
        i -= 1;
    }
    let mut k = 1;
    while k < i + 1 && !queries.is_level(Level { i, k })? {
        k += 1;
    }
    Ok(Level { i, k })
}

/// The best level with `k = 1`.
fn extension_level<Q: Queries + ?Sized>(queries: &mut Q) -> Result<Level, Stop> {
    let mut i = queries.last();
    while i > 0 && !queries.is_level(Level { i, k: 1 })? {
        i -= 1;
    }
    Ok(Level { i, k: 1 })
}

fn bottom_up<Q: Queries + ?Sized>(queries: &mut Q) -> Result<Level, Stop> {
    let mut best = extension_level(queries)?;
    let (mut j, mut l) = (best.i + 1, 2);
    let most = queries.num_conflicts() + Q::MOST_CONFLICTS;
    while l <= j + 1 && j <= queries.last() {
        if is_known_level(queries, Level { i: j, k: l }, most)? {
            best = Level { i: j, k: l };
            j += 1;
        } else {
            l += 1;
        }
    }
    Ok(best)
}

/// Begins with the refutation of all counterexamples. In the end the next better level has failed, or takes long.
fn core_guided<Q: Queries + ?Sized>(queries: &mut Q) -> Result<Level, Stop> {
    let mut best = queries.proved();
    let most = queries.num_conflicts() + Q::MOST_CONFLICTS;
    while best.i < queries.last() && is_known_level(queries, Level::longest(best.i + 1), most)? {
        best = queries.proved();
    }
    while best.k > 1 && is_known_level(queries, Level { k: best.k - 1, ..best }, most)? {
        best = queries.proved();
    }
    Ok(best)
}

/// Whether `(i, k)` is a strong extension level, as far as a total of `most` conflicts shows.
fn is_known_level<Q: Queries + ?Sized>(queries: &mut Q, level: Level, most: u64) -> Result<bool, Stop> {
    let budget = most.saturating_sub(queries.num_conflicts());
    match queries.is_level_within(level, Some(budget)) {
        Err(Stop::Interrupted(Reason::Budget | Reason::Incomplete)) => Ok(false),
        answer => answer,
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;

    /// Levels by a table: for each `i` the least `k`, which does not fall with `i`.
    struct Table {
        least: Vec<usize>,
        proved: Level,
        /// A query beyond so many is too hard.
        most: usize,
        asked: usize,
    }

    impl Queries for Table {
        const MOST_CONFLICTS: u64 = 1000;

        fn last(&self) -> usize {
            self.least.len() - 1
        }

        fn num_conflicts(&self) -> u64 {
            self.asked as u64
        }

        fn proved(&self) -> Level {
            self.proved
        }

        fn is_level_within(&mut self, level: Level, conflicts: Option<u64>) -> Result<bool, Stop> {
            self.asked += 1;
            if conflicts.is_some() && self.asked > self.most {
                return Err(Reason::Budget.into());
            }
            let is_level = self.least[level.i] <= level.k;
            if is_level {
                self.proved = level;
            }
            Ok(is_level)
        }
    }

    /// Each strategy finds the best level of its kind, and with a small budget some level.
    #[test]
    fn strategies_find_the_best_level() {
        let mut random = Random::new(3);
        for _ in numbers(1000) {
            let mut least = vec![1];
            for i in 1..1 + random.below(8) {
                let k = least[i - 1] + random.below(3);
                // If all paths from position 0 fail for one i, they fail for the next.
                least.push(if least[i - 1] > i { k.max(i + 2) } else { k });
            }
            let best_i = (0..least.len()).rev().find(|&i| least[i] <= i + 1).expect("(0, 1)");
            let best = Level { i: best_i, k: least[best_i] };
            let of_avy = Level { i: (0..least.len()).rev().find(|&i| least[i] == 1).expect("(0, 1)"), k: 1 };
            for &strategy in Strategy::ALL {
                for most in [usize::MAX, random.below(6)] {
                    let proved = Level::longest(0);
                    let mut table = Table { least: least.clone(), proved, most, asked: 0 };
                    let found = table.find(strategy).expect("a budget is no error");
                    assert!(least[found.i] <= found.k && found.k <= found.i + 1, "{least:?} {strategy:?}");
                    if strategy == Strategy::Avy {
                        assert_eq!(found, of_avy, "{least:?}");
                    } else if most == usize::MAX {
                        assert_eq!(found, best, "{least:?} {strategy:?}");
                    }
                }
            }
        }
    }
}
