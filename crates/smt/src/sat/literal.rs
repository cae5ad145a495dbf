//! Variables and literals.
//!
//! A literal is its variable's number times two, plus one if it is negated: negation flips a bit, and a literal
//! indexes an array directly. So the tables that propagation reads (values, watch lists) are indexed by literals,
//! all others by variables. The coding is that of MiniSat (Eén & Sörensson, "An Extensible SAT-solver", SAT 2003).

use std::fmt;
use std::ops::Not;

/// A propositional variable of one solver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(u32);

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(u32);

/// The largest number of variables: the code of a literal must fit into 32 bits, and one code is never used.
const MAX_VARS: usize = (u32::MAX >> 1) as usize;

impl Var {
    /// The variable with a number, counted from zero.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        debug_assert!(index < MAX_VARS);
        Self(index as u32)
    }

    /// The variable's number.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The literal that is true if the variable has this value.
    #[inline]
    pub fn lit(self, value: bool) -> Lit {
        Lit(self.0 << 1 | u32::from(!value))
    }

    /// The literal that is the variable itself.
    #[inline]
    pub fn positive(self) -> Lit {
        self.lit(true)
    }

    /// The literal that is the variable's negation.
    #[inline]
    pub fn negative(self) -> Lit {
        self.lit(false)
    }
}

impl Lit {
    /// The literal with a code, as [`code`](Self::code) gives it.
    #[inline]
    pub(crate) fn from_code(code: u32) -> Self {
        Self(code)
    }

    /// Twice the variable's number, plus one if the literal is a negation.
    #[inline]
    pub fn code(self) -> u32 {
        self.0
    }

    /// The code as an index.
    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// The literal's variable.
    #[inline]
    pub fn var(self) -> Var {
        Var(self.0 >> 1)
    }

    /// Whether the literal is the variable itself.
    #[inline]
    pub fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }
}

impl Not for Lit {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.0)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", if self.is_positive() { "" } else { "-" }, self.var())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negation_is_an_involution_and_keeps_the_variable() {
        let x = Var::from_index(7);
        assert_eq!(!x.positive(), x.negative());
        assert_eq!(!!x.positive(), x.positive());
        assert_eq!((!x.positive()).var(), x);
        assert_eq!(x.lit(false), x.negative());
        assert_eq!(Lit::from_code(x.negative().code()), x.negative());
        assert_eq!(format!("{:?} {:?}", x.positive(), x.negative()), "x7 -x7");
    }
}
