//! The bounds of the variables, as one stack.
//!
//! Each asserted bound is a record on the stack, and points to the record of the bound of the same variable and side
//! that it replaced. A level is a height of the stack. Leaving a level pops its records and puts the replaced ones back
//! in force; nothing else in the kernel depends on levels.
//!
//! The height of the stack serves as a clock: following the links until a record is old enough finds the bound that was
//! in force at an earlier [`Time`]. Explanations of implied bounds need this, because they must not mention later
//! assertions.
//!
//! # Invariants
//!
//! * B1: along the links of one variable and side the bounds get weaker, strictly.
//! * B2: the lower bound in force of a variable is at most its upper bound.
//! * B3: the bounds of an integer variable are integers.

use shofar_logic::number::Rational;

use super::{DeltaRational, Reason, Var};

/// One of the two bounds of a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// `x >= c`.
    Lower,
    /// `x <= c`.
    Upper,
}

impl Side {
    /// The other side.
    #[inline]
    pub fn opposite(self) -> Side {
        match self {
            Side::Lower => Side::Upper,
            Side::Upper => Side::Lower,
        }
    }

    /// Whether a value satisfies a bound of this side.
    #[inline]
    pub fn admits(self, bound: &DeltaRational, value: &DeltaRational) -> bool {
        let (lesser, greater) = match self {
            Side::Lower => (bound, value),
            Side::Upper => (value, bound),
        };
        lesser <= greater
    }
}

/// A height of the stack of bounds.
pub(super) type Time = u32;

/// A bound that was asserted.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) value: DeltaRational,
    pub(super) reason: Reason,
    /// Whether `value` was rounded because the variable is an integer, and so is stronger than asserted.
    pub(super) rounded: bool,
    side: Side,
    var: Var,
    /// The record that this one replaced.
    previous: u32,
}

/// The missing record.
const NONE: u32 = u32::MAX;

/// The stack. By B1 the newest record of a variable and side is the one in force.
#[derive(Default)]
pub(super) struct Bounds {
    records: Vec<Bound>,
    /// For each variable, the records in force, by side.
    current: Vec<[u32; 2]>,
    /// The heights at which the levels start.
    levels: Vec<u32>,
}

impl Bounds {
    /// Makes room for more variables.
    pub(super) fn reserve(&mut self, vars: usize) {
        self.current.reserve(vars);
    }

    pub(super) fn add_var(&mut self) {
        self.current.push([NONE; 2]);
    }

    /// The bound in force.
    #[inline]
    pub(super) fn get(&self, var: Var, side: Side) -> Option<&Bound> {
        // No record has the index `NONE`.
        self.records.get(self.current[var.index()][side as usize] as usize)
    }

    /// The bound in force when the stack had the height `time`.
    pub(super) fn get_at(&self, var: Var, side: Side, time: Time) -> Option<&Bound> {
        let mut index = self.current[var.index()][side as usize];
        while index != NONE && index >= time {
            index = self.records[index as usize].previous;
        }
        self.records.get(index as usize)
    }

    /// Whether the variable has a bound.
    #[inline]
    pub(super) fn is_bounded(&self, var: Var) -> bool {
        self.current[var.index()] != [NONE; 2]
    }

    /// The side of the bound that the value violates, if any.
    #[inline]
    pub(super) fn violated(&self, var: Var, value: &DeltaRational) -> Option<Side> {
        [Side::Lower, Side::Upper]
            .into_iter()
            .find(|&side| self.get(var, side).is_some_and(|bound| !side.admits(&bound.value, value)))
    }

    /// Puts a bound in force. The caller guarantees that the bounds in force neither imply nor contradict it.
    pub(super) fn set(&mut self, var: Var, side: Side, value: DeltaRational, reason: Reason, rounded: bool) {
        let current = &mut self.current[var.index()][side as usize];
        let previous = std::mem::replace(current, self.records.len() as u32);
        self.records.push(Bound { value, reason, rounded, side, var, previous });
    }

    #[inline]
    pub(super) fn time(&self) -> Time {
        self.records.len() as Time
    }

    pub(super) fn level(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn push(&mut self) {
        self.levels.push(self.time());
    }

    /// Leaves `count` levels, and calls `freed` for each variable that lost its last bound.
    pub(super) fn pop(&mut self, count: usize, mut freed: impl FnMut(Var)) {
        let level = self.levels.len().checked_sub(count).expect("there are as many levels to leave");
        let Some(&height) = self.levels.get(level) else { return };
        self.levels.truncate(level);
        for record in self.records.drain(height as usize..).rev() {
            self.current[record.var.index()][record.side as usize] = record.previous;
            if self.current[record.var.index()] == [NONE; 2] {
                freed(record.var);
            }
        }
    }

    /// Whether B1, B2 and B3 hold.
    pub(super) fn check_invariants(&self, is_int: impl Fn(Var) -> bool) {
        for record in &self.records {
            if let Some(previous) = self.records.get(record.previous as usize) {
                assert_eq!((previous.var, previous.side), (record.var, record.side));
                assert!(!record.side.admits(&record.value, &previous.value), "B1");
            }
            assert!(record.value.is_integer() || !is_int(record.var), "B3");
        }
        for var in (0..self.current.len()).map(Var::new) {
            if let (Some(lower), Some(upper)) = (self.get(var, Side::Lower), self.get(var, Side::Upper)) {
                assert!(lower.value <= upper.value, "B2");
            }
        }
    }
}

/// The integer bound equivalent to a bound of an integer variable.
pub(super) fn round(side: Side, value: &DeltaRational) -> DeltaRational {
    DeltaRational::from(match side {
        Side::Lower => value.ceil(),
        Side::Upper => value.floor(),
    })
}

/// The negation of a bound: `x < c` for `x >= c`. For an integer variable it is rounded.
pub(super) fn negate(is_int: bool, side: Side, value: &DeltaRational) -> (Side, DeltaRational) {
    let step = |value: &DeltaRational, one: Rational| match is_int {
        true => DeltaRational::from(value.real() + one),
        false => DeltaRational::new(value.real().clone(), value.delta() + one),
    };
    let value = if is_int { &round(side, value) } else { value };
    match side {
        Side::Lower => (Side::Upper, step(value, -Rational::ONE)),
        Side::Upper => (Side::Lower, step(value, Rational::ONE)),
    }
}
