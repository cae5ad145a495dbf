//! The finite reachability engine: is a set of states reached in exactly `i` steps?
//!
//! It searches backwards from the set, one step at a time, and learns from each dead end an *i-invariant*: a set that
//! contains all states reached in at most `i` steps.
//!
//! ```text
//! reach(goal, i):
//!     i = 0:  Init meets goal?       yes: reached        no: learn a set between Init and the complement of goal
//!     loop:   post(R_{i-1}) meets goal?
//!         yes: t <- states with a successor in goal, by the model
//!              reach(t, i - 1)       reached: reached    no: R_{i-1} is smaller now
//!         no:  learn a set between Init, post(R_{i-1}) and the complement of goal
//! ```
//!
//! - R1: `R_i` contains the states reached in at most `i` steps. That is why sets learnt for `i > 0` contain `Init`,
//!   too. Without it `R_i` would contain the states reached in exactly `i` steps, and answers would be wrong.
//! - R2: if `reach` is called for a goal at `i`, the goal is not reached in fewer steps. The caller ensures this for
//!   the first goal. For a predecessor it follows, since each of its states has a successor in the goal. So a goal
//!   never meets `Init` for `i > 0`, and the learnt sets are disjoint from the goal.
//!
//! An i-invariant is a j-invariant for all `j < i`. So a lemma is stored once, with the greatest such number, and `R_i`
//! is the conjunction of the lemmas with `i` or more.
//!
//! The stack of goals is a path: each state of a goal has a successor in the next one.

use rustc_hash::FxHashMap;
use shofar_run::Stop;

use super::domain::{Domain, Image};

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Reach<S> {
    /// The goal is reached. The first of these sets contains an initial state, each state of a set has a successor in
    /// the next one, and the last one is the goal.
    Reached(Vec<S>),
    /// An i-invariant that excludes the goal.
    Excluded(S),
}

/// The i-invariants of all searches.
#[derive(Clone, Debug)]
pub(super) struct Fire<S> {
    /// Indexed by the number of steps for which they hold (R1).
    lemmas: Vec<Vec<S>>,
    /// Sets that contain all reached states.
    invariants: Vec<S>,
    level: FxHashMap<S, usize>,
    /// The number of searches.
    pub(super) searches: u64,
    /// The number of goals in all searches.
    pub(super) goals: u64,
}

impl<S: Copy + Eq + std::hash::Hash> Fire<S> {
    pub(super) fn new() -> Self {
        Fire {
            lemmas: Vec::new(),
            invariants: Vec::new(),
            level: FxHashMap::default(),
            searches: 0,
            goals: 0,
        }
    }

    /// Whether a goal is reached in `from` to `to` steps, a non-empty range, by the fewest such steps. Precondition: it
    /// is not reached in fewer than `from`.
    pub(super) fn reach_between<D: Domain<Set = S>>(
        &mut self,
        domain: &mut D,
        goal: S,
        from: usize,
        to: usize,
    ) -> Result<Reach<S>, Stop> {
        let mut steps = from;
        loop {
            let found = self.reach(domain, goal, steps)?;
            if steps >= to || matches!(found, Reach::Reached(_)) {
                return Ok(found);
            }
            steps += 1;
        }
    }

    /// Whether a goal is reached in exactly `steps` steps. Precondition: it is not reached in fewer (R2).
    fn reach<D: Domain<Set = S>>(&mut self, domain: &mut D, goal: S, steps: usize) -> Result<Reach<S>, Stop> {
        self.searches += 1;
        self.goals += 1;
        let mut path = vec![goal];
        while let Some(&goal) = path.last() {
            domain.poll()?;
            let level = steps + 1 - path.len();
            let image = match level.checked_sub(1) {
                None => domain.initial(goal)?,
                Some(before) => domain.image(&self.frame(before), goal)?,
            };
            match image {
                Image::Meets(_) if level == 0 => {
                    path.reverse();
                    return Ok(Reach::Reached(path));
                }
                Image::Meets(predecessor) => {
                    self.goals += 1;
                    path.push(predecessor);
                }
                Image::Apart(lemma) => {
                    self.learn(lemma, level);
                    domain.send(lemma, level, None);
                    path.pop();
                    if path.is_empty() {
                        return Ok(Reach::Excluded(lemma));
                    }
                }
            }
        }
        unreachable!("the loop ends when the first goal is popped")
    }

    /// Stores an i-invariant for the given number of steps.
    pub(super) fn learn(&mut self, lemma: S, steps: usize) {
        match self.level.insert(lemma, steps) {
            Some(before) if before >= steps => {
                self.level.insert(lemma, before);
                return;
            }
            Some(before) => self.lemmas[before].retain(|&other| other != lemma),
            None => {}
        }
        if self.lemmas.len() <= steps {
            self.lemmas.resize_with(steps + 1, Vec::new);
        }
        self.lemmas[steps].push(lemma);
    }

    /// Stores a set that contains all reached states.
    pub(super) fn learn_invariant(&mut self, invariant: S) {
        self.invariants.push(invariant);
    }

    /// The lemmas of `R_i`.
    pub(super) fn frame(&self, steps: usize) -> Vec<S> {
        self.invariants.iter().chain(self.lemmas.iter().skip(steps).flatten()).copied().collect()
    }

    /// The number of lemmas.
    pub(super) fn num_lemmas(&self) -> usize {
        self.level.len()
    }

    /// One more than the greatest number of steps with a lemma.
    #[cfg(test)]
    pub(super) fn num_levels(&self) -> usize {
        self.lemmas.len()
    }
}
