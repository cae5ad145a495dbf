//! Linear arithmetic: the simplex kernel.
//!
//! # What it decides
//!
//! Whether some rational numbers satisfy a conjunction of linear equations and of bounds, strict or not, on single
//! variables. For an inequality between linear forms, a row defines a *slack* variable to be the form, and the
//! inequality becomes a bound on it. Equations are added and removed rarely, bounds all the time, in stack order. The
//! kernel knows variables by index and bounds by an opaque [`Reason`]; it knows neither literals nor terms.
//!
//! For integer variables the kernel only rounds bounds: a feasible answer is one over the rationals. The folder
//! `integer` searches for integer solutions.
//!
//! # The idea
//!
//! The tableau solves the equations for some of the variables, the basic ones. The other variables can be chosen
//! freely, and get values within their bounds. If a basic variable violates a bound, it becomes non-basic with this
//! bound as its value, in exchange for a variable of its row that has room to move. If no variable has room, the row
//! and the bounds that leave no room are a contradiction, and the coefficients of the row are the multipliers of
//! Farkas' lemma.
//!
//! # The algorithm
//!
//! ```text
//! check:
//!     settle: wake the rows of bounded slack variables; put non-basic variables within their bounds
//!     loop:
//!         b := leaving(): a basic variable that violates a bound;  none: feasible
//!         x := entering(b): a variable of its row with room to move;  none: conflict, restore the assignment
//!         put b at the bound that it violates by moving x; pivot b and x
//! ```
//!
//! # Invariants
//!
//! `bounds.rs` states those of the stack of bounds (B1 to B3), `tableau.rs` those of the tableau (T1 to T4). A variable
//! is *touched* if it got a bound since the last feasible check.
//!
//! * I1: a non-basic variable that is not touched has a value within its bounds.
//! * I2: a tracked row holds under the assignment.
//! * I3: a basic variable that has a bound and is not touched is tracked, and has a value within its bounds.
//! * I4: outside of a check, the assignment is that of the last feasible check; for variables that are neither
//!   non-basic nor tracked, the value follows from their definition.
//! * I5: every row is a combination of the definitions of those slack variables that are not dormant.
//!
//! [`Simplex::check_invariants`] verifies them.
//!
//! # Why the answer is right
//!
//! *Feasible*: no variable is touched any more, so by I1 and I3 all bounds hold, and by I2 and I5 all equations hold.
//! Dormant and untracked variables have no bounds, and their equations hold by the definition of their values.
//! *Infeasible*: the [`Conflict`] is a sum of bounds that gives `0 <= c` for a negative `c`, which debug builds verify
//! against the definitions. *Termination*: after some pivots without progress both choices follow Bland's rule, with
//! which no basis occurs twice.
//!
//! # Rows that sleep
//!
//! In incremental use most atoms are unassigned at any time, and their slack variables have no bounds. Such a row needs
//! no value, because the value that follows from the row violates nothing. The kernel uses this in three ways. A slack
//! variable is *dormant*, without a row, until a check finds a bound on it. A basic variable that lost its bounds is
//! *untracked*: its value is not kept up to date. If a pivot would change the row of such a variable, and the variable
//! has a definition to come back from, the row is deleted instead: the deletion replaces work that was due, and costs
//! something only if the variable wakes up again. So asserting a bound takes constant time, and a bound removed before
//! the next check costs nothing more.
//!
//! In 3000 levels of ten random bounds each over 100 rows (as in `benches/simplex.rs`, with tighter bounds) this took
//! 14,218 row additions; with untracked rows but no deletion it took 23,552, with all rows awake 18,395. Times differed
//! by less than the noise of the machine: if every row gets bounds in turn, sleeping gains little.
//!
//! # Notation
//!
//! | paper | here |
//! |---|---|
//! | `β(x)` | `Simplex::values` |
//! | `l_i`, `u_i` | `Bounds::get` with a [`Side`] |
//! | `x_i = Σ a_ij x_j` | a row `a_0·x_i + Σ a_j·x_j = 0`, coefficients in ℤ |
//! | `pivotAndUpdate(x_i, x_j, v)` | `Simplex::move_to_bound` |
//!
//! # Where it comes from
//!
//! B. Dutertre and L. de Moura, *A fast linear-arithmetic solver for DPLL(T)*, CAV 2006: the method, strict bounds,
//! explanations, the assignment kept over backtracking. Integer rows follow Z3, rows without active bounds OpenSMT (the
//! quasi-basic variables of its linear-arithmetic solver); deleting these rows is ours. Implied bounds are read off the
//! definitions, which are shorter than the rows and never change.

mod bounds;
mod delta;
mod explain;
mod integer;
mod model;
mod propagate;
mod simplex;
mod tableau;

pub use bounds::Side;
pub use delta::{Concretisation, DeltaRational};
pub use explain::{Conflict, Weighted};
pub use integer::{IntegerStatistics, Integers, Multiple, Refutation, Step, Tightening};
pub use propagate::{ImpliedBound, Token};
pub use simplex::{Budget, Config, Outcome, Simplex, Statistics};

/// A variable of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(u32);

impl Var {
    #[inline]
    fn new(index: usize) -> Var {
        Var(u32::try_from(index).expect("variables are counted in 32 bits"))
    }

    /// The number of the variable, from 0 in the order of creation. New variables reuse the numbers of removed ones.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The caller's reason for a bound. The kernel only returns it in explanations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reason(pub u32);

/// A worklist of variables without duplicates, in insertion order.
#[derive(Default)]
struct VarQueue {
    list: Vec<Var>,
    is_member: Vec<bool>,
}

impl VarQueue {
    fn reserve(&mut self, vars: usize) {
        self.is_member.reserve(vars);
    }

    fn add_var(&mut self) {
        self.is_member.push(false);
    }

    #[inline]
    fn contains(&self, var: Var) -> bool {
        self.is_member[var.index()]
    }

    #[inline]
    fn insert(&mut self, var: Var) {
        if !std::mem::replace(&mut self.is_member[var.index()], true) {
            self.list.push(var);
        }
    }

    fn clear(&mut self) {
        for var in self.list.drain(..) {
            self.is_member[var.index()] = false;
        }
    }

    fn retain(&mut self, mut keep: impl FnMut(Var) -> bool) {
        self.list.retain(|&var| {
            let kept = keep(var);
            self.is_member[var.index()] = kept;
            kept
        });
    }
}
