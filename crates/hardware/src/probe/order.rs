//! The order of decisions: by activity, roughly, at constant cost.
//!
//! All variables sit in one binary heap by activity, from which nothing is ever taken: a variable's depth in it is its
//! rank, roughly the logarithm of its place in the sorted order. The queue of a query has a stack for each depth. Taking
//! the next variable is taking one from the first stack that is not empty. A true order would need a heap per query,
//! and the queries are too small to earn its cost. This is the bucket queue of GipSAT (Su, Yang & Ci, "Predicting
//! Lemmas in Generalization of IC3" and the solver of rIC3).

use crate::aig::Node;

/// Activities are divided when one passes this.
const RESCALE: f64 = 1e100;

/// Each bump is this much heavier than the one before.
const GROWTH: f64 = 1.0 / 0.95;

/// The order of decisions of one solver.
#[derive(Clone, Debug)]
pub(super) struct Order {
    activity: Vec<f64>,
    /// The heap that ranks variables.
    heap: Vec<u32>,
    /// By variables: the place in the heap.
    place: Vec<u32>,
    bump: f64,
    /// By depth: waiting variables; some may have a value by now.
    stacks: Vec<Vec<Node>>,
    /// By variables: whether it waits.
    waits: Vec<bool>,
    /// All stacks before this one are empty.
    first: usize,
}

impl Order {
    pub(super) fn new(vars: usize) -> Self {
        Self {
            activity: vec![0.0; vars],
            heap: (0..vars as u32).collect(),
            place: (0..vars as u32).collect(),
            bump: 1.0,
            stacks: vec![Vec::new(); (usize::BITS - vars.leading_zeros()) as usize + 1],
            waits: vec![false; vars],
            first: 0,
        }
    }

    /// Empties the queue.
    pub(super) fn clear(&mut self) {
        for stack in &mut self.stacks {
            stack.drain(..).for_each(|var| self.waits[var.index()] = false);
        }
        self.first = 0;
    }

    /// Puts a variable into the queue unless it waits there.
    #[inline]
    pub(super) fn push(&mut self, var: Node) {
        if std::mem::replace(&mut self.waits[var.index()], true) {
            return;
        }
        let depth = (self.place[var.index()] + 1).ilog2() as usize;
        self.stacks[depth].push(var);
        self.first = self.first.min(depth);
    }

    /// Takes the next variable.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Node> {
        while let Some(stack) = self.stacks.get_mut(self.first) {
            if let Some(var) = stack.pop() {
                self.waits[var.index()] = false;
                return Some(var);
            }
            self.first += 1;
        }
        None
    }

    /// Raises a variable's activity.
    pub(super) fn bump(&mut self, var: Node) {
        let var = var.index();
        self.activity[var] += self.bump;
        if self.activity[var] > RESCALE {
            self.activity.iter_mut().for_each(|activity| *activity /= RESCALE);
            self.bump /= RESCALE;
        }
        let mut at = self.place[var] as usize;
        while at > 0 {
            let parent = (at - 1) / 2;
            let other = self.heap[parent] as usize;
            if self.activity[other] >= self.activity[var] {
                break;
            }
            self.heap[at] = other as u32;
            self.place[other] = at as u32;
            at = parent;
        }
        self.heap[at] = var as u32;
        self.place[var] = at as u32;
    }

    /// Makes later bumps heavier.
    pub(super) fn decay(&mut self) {
        self.bump *= GROWTH;
    }
}
