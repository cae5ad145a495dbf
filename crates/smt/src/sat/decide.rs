//! The decision heuristic: variable activities, a heap, and saved phases.
//!
//! VSIDS (Moskewicz et al., "Chaff", DAC 2001) in the exponential form of MiniSat: each conflict adds an increment to
//! the activity of the variables that took part, and the increment grows by a twentieth from conflict to conflict, so
//! that older activity fades. The next decision is the unassigned variable of highest activity, with its last value
//! (Pipatsrisawat & Darwiche, SAT 2007) unless the theory suggests one.
//!
//! Activities are integers: when the increment leaves its range, all are shifted back. The activity of a variable that
//! took no part in some five hundred conflicts thereby falls to zero, where its rank hardly matters. In return, nothing
//! depends on floating-point rounding.
//!
//! - D1: every unassigned decision variable is in the heap. (Assigned ones may be; they are dropped when met.)
//! - D2: no entry of the heap comes before its parent.

use super::literal::{Lit, Var};

const FIRST_INCREMENT: u64 = 1 << 20;
/// A conflict bumps a variable at most once, so its activity stays below 21 increments: no overflow.
const MAX_INCREMENT: u64 = 1 << 56;
const RESCALE_SHIFT: u32 = 36;

/// The bit of an activity that ranks a variable before all without it. Activities do not reach it.
const PROMOTED: u64 = 1 << 63;

const ABSENT: u32 = u32::MAX;

/// Activities, heap and phases.
pub(super) struct Order {
    /// By variables, as all vectors here except the heap.
    activity: Vec<u64>,
    increment: u64,
    /// Variables as a binary heap (D2).
    heap: Vec<u32>,
    /// Where a variable is in the heap, or [`ABSENT`].
    position: Vec<u32>,
    /// The last value of the variable.
    phase: Vec<bool>,
    /// Whether the variable may be decided.
    eligible: Vec<bool>,
    /// The variables with the bit [`PROMOTED`].
    promoted: Vec<Var>,
    /// State of the generator that ranks new variables; zero ranks them by age.
    random: u64,
}

impl Order {
    /// An order without variables. The seed ranks variables that took part in no conflict yet; zero ranks them by age.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            activity: Vec::new(),
            increment: FIRST_INCREMENT,
            heap: Vec::new(),
            position: Vec::new(),
            phase: Vec::new(),
            eligible: Vec::new(),
            promoted: Vec::new(),
            random: seed,
        }
    }

    /// Sets the seed that ranks new variables.
    pub(super) fn set_seed(&mut self, seed: u64) {
        self.random = seed;
    }

    /// Makes room for more variables.
    pub(super) fn reserve(&mut self, vars: usize) {
        self.activity.reserve(vars);
        self.heap.reserve(vars);
        self.position.reserve(vars);
        self.phase.reserve(vars);
        self.eligible.reserve(vars);
    }

    /// Adds the next variable.
    pub(super) fn add_var(&mut self, var: Var, eligible: bool) {
        debug_assert_eq!(var.index(), self.activity.len());
        // Less than a single bump, so that it only breaks ties.
        let rank = self.next_random() & (FIRST_INCREMENT / 2 - 1);
        self.activity.push(rank);
        self.position.push(ABSENT);
        self.phase.push(false);
        self.eligible.push(eligible);
        self.insert(var);
    }

    /// Xorshift (Marsaglia 2003); zero stays zero.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// Whether the variable may be decided.
    pub(super) fn is_eligible(&self, var: Var) -> bool {
        self.eligible[var.index()]
    }

    /// Sets whether the variable may be decided.
    pub(super) fn set_eligible(&mut self, var: Var, eligible: bool) {
        self.eligible[var.index()] = eligible;
        self.insert(var);
    }

    /// The last value of the variable.
    pub(super) fn phase(&self, var: Var) -> bool {
        self.phase[var.index()]
    }

    /// Sets the value that is tried next for the variable.
    pub(super) fn set_phase(&mut self, lit: Lit) {
        self.phase[lit.var().index()] = lit.is_positive();
    }

    /// Call this for each literal that is undone: saves the phase and restores D1.
    #[inline]
    pub(super) fn undone(&mut self, lit: Lit) {
        self.phase[lit.var().index()] = lit.is_positive();
        self.insert(lit.var());
    }

    /// Increases the activity of a variable that took part in the current conflict.
    #[inline]
    pub(super) fn bump(&mut self, var: Var) {
        self.activity[var.index()] += self.increment;
        let position = self.position[var.index()];
        if position != ABSENT {
            self.sift_up(position as usize);
        }
    }

    /// Promotes a variable: it is decided before all others that are not promoted.
    pub(super) fn promote(&mut self, var: Var) {
        if self.activity[var.index()] & PROMOTED == 0 {
            self.activity[var.index()] |= PROMOTED;
            self.promoted.push(var);
        }
        let position = self.position[var.index()];
        if position != ABSENT {
            self.sift_up(position as usize);
        }
    }

    /// Demotes all promoted variables: they are decided by their activities again.
    pub(super) fn demote_all(&mut self) {
        for var in self.promoted.drain(..) {
            self.activity[var.index()] &= !PROMOTED;
        }
        self.repair_heap();
    }

    /// The number of promoted variables.
    pub(super) fn promoted(&self) -> usize {
        self.promoted.len()
    }

    /// Call this once for each conflict.
    pub(super) fn decay(&mut self) {
        self.increment += self.increment / 20;
        if self.increment > MAX_INCREMENT {
            self.increment >>= RESCALE_SHIFT;
            for activity in &mut self.activity {
                *activity = *activity & PROMOTED | (*activity & !PROMOTED) >> RESCALE_SHIFT;
            }
            // Some activities have become equal, and the older variables come first now.
            self.repair_heap();
        }
    }

    fn repair_heap(&mut self) {
        for at in (0..self.heap.len() / 2).rev() {
            self.sift_down(at);
        }
    }

    /// Removes the most active decision variable for which `is_open` holds from the heap.
    pub(super) fn pop(&mut self, is_open: impl Fn(Var) -> bool) -> Option<Var> {
        let var = self.peek(is_open)?;
        self.remove_first();
        Some(var)
    }

    /// The variable that [`pop`](Self::pop) would take.
    pub(super) fn peek(&mut self, is_open: impl Fn(Var) -> bool) -> Option<Var> {
        loop {
            let var = Var::from_index(*self.heap.first()? as usize);
            if self.eligible[var.index()] && is_open(var) {
                return Some(var);
            }
            self.remove_first();
        }
    }

    /// Whether the first variable would be decided before the second.
    pub(super) fn precedes(&self, first: Var, second: Var) -> bool {
        self.comes_before(first.index() as u32, second.index() as u32)
    }

    #[inline]
    fn insert(&mut self, var: Var) {
        if self.position[var.index()] == ABSENT && self.eligible[var.index()] {
            let position = self.heap.len();
            self.heap.push(var.index() as u32);
            self.position[var.index()] = position as u32;
            self.sift_up(position);
        }
    }

    fn remove_first(&mut self) {
        let first = self.heap.swap_remove(0);
        self.position[first as usize] = ABSENT;
        if !self.heap.is_empty() {
            self.sift_down(0);
        }
    }

    /// Whether the first variable is to be decided before the second. Ties go to the older one: variables created
    /// together belong together and are best decided consecutively, so that a conflict undoes little else.
    #[inline]
    fn comes_before(&self, first: u32, second: u32) -> bool {
        let (one, other) = (self.activity[first as usize], self.activity[second as usize]);
        one > other || one == other && first < second
    }

    #[inline]
    fn sift_up(&mut self, mut at: usize) {
        let var = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            let above = self.heap[parent];
            if !self.comes_before(var, above) {
                break;
            }
            self.heap[at] = above;
            self.position[above as usize] = at as u32;
            at = parent;
        }
        self.heap[at] = var;
        self.position[var as usize] = at as u32;
    }

    fn sift_down(&mut self, mut at: usize) {
        let var = self.heap[at];
        loop {
            let left = 2 * at + 1;
            let Some(&(mut below)) = self.heap.get(left) else { break };
            let mut child = left;
            if let Some(&right) = self.heap.get(left + 1)
                && self.comes_before(right, below)
            {
                (child, below) = (left + 1, right);
            }
            if !self.comes_before(below, var) {
                break;
            }
            self.heap[at] = below;
            self.position[below as usize] = at as u32;
            at = child;
        }
        self.heap[at] = var;
        self.position[var as usize] = at as u32;
    }

    /// D1 for the variables for which `is_open` holds, and D2.
    pub(super) fn check_invariants(&self, is_open: impl Fn(Var) -> bool) {
        for (index, &position) in self.position.iter().enumerate() {
            let var = Var::from_index(index);
            assert!(position != ABSENT || !self.eligible[index] || !is_open(var), "D1: {var:?} is missing");
            assert!(position == ABSENT || self.heap[position as usize] == index as u32);
        }
        for (at, &var) in self.heap.iter().enumerate().skip(1) {
            let parent = self.heap[(at - 1) / 2];
            assert!(!self.comes_before(var, parent), "D2 at {at}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(count: usize, seed: u64) -> Order {
        let mut order = Order::new(seed);
        for index in 0..count {
            order.add_var(Var::from_index(index), true);
        }
        order
    }

    fn drain(order: &mut Order) -> Vec<usize> {
        std::iter::from_fn(|| order.pop(|_| true)).map(Var::index).collect()
    }

    #[test]
    fn later_bumps_weigh_more_also_across_rescaling() {
        let mut order = order(6, 0);
        for round in 0..2000 {
            order.bump(Var::from_index(round % 5));
            order.decay();
            order.check_invariants(|_| true);
        }
        assert_eq!(drain(&mut order), [4, 3, 2, 1, 0, 5]);
    }

    #[test]
    fn what_is_taken_back_is_decided_again_with_its_last_value() {
        let mut order = order(2, 0);
        assert_eq!(drain(&mut order).len(), 2);
        let x = Var::from_index(1);
        order.undone(x.positive());
        order.undone(x.positive());
        assert!(order.phase(x));
        assert_eq!(drain(&mut order), [1]);
    }

    #[test]
    fn seeds_rank_fresh_variables_and_only_those() {
        let orders: Vec<_> = [0, 1, 2].iter().map(|&seed| drain(&mut order(20, seed))).collect();
        assert_ne!(orders[1], orders[0]);
        assert_ne!(orders[1], orders[2]);
        assert_eq!(drain(&mut order(20, 1)), orders[1]);
        let mut bumped = order(20, 1);
        bumped.bump(Var::from_index(11));
        assert_eq!(drain(&mut bumped)[0], 11);
    }

    #[test]
    fn ineligible_variables_are_never_decided() {
        let mut order = order(3, 0);
        order.set_eligible(Var::from_index(1), false);
        assert_eq!(drain(&mut order), [0, 2]);
        order.set_eligible(Var::from_index(1), true);
        assert_eq!(drain(&mut order), [1]);
    }
}
