//! Integer reasoning on top of the simplex kernel.
//!
//! # What it decides
//!
//! The kernel finds rational values. [`Integers::step`] then decides about integer variables with fractional values.
//! Its answer is one of: all values are integers; the bounds in force have no integer solution; assert a stronger
//! bound; split on a linear form. A split on a form `y` with integer coefficients and the value `v` is `y <= floor(v)`
//! or `y >= floor(v) + 1`; the caller must search both sides, in any way. Unbounded problems may need infinitely many
//! splits, so a budget of splits ends the search without an answer.
//!
//! It is a part of the kernel, not a client: tests read rows and columns, and patching moves values.
//!
//! # The schedule
//!
//! ```text
//! step:
//!     all values are integers: content
//!     GCD test of rows: refuted                                       gcd.rs
//!     patch; now and then the cube test: content                      patch.rs, cube.rs
//!     now and then solve equations: refuted or tightened              diophantine.rs
//!     the budget is used up: give up
//!     now and then a cut from a proof: split on its form              cuts.rs, hermite.rs
//!     split on a variable; where the ranges are large, at last
//!         on what makes its value a fraction                          branch.rs
//! ```
//!
//! "Now and then" is a [`Pace`]: the first time in a query, then every few times, and less often with each failure. The
//! schedule counts and never reads the clock, so runs are repeatable. Splits on variables with a small range cost less
//! of the budget than others, because they end by themselves.
//!
//! # Why the answers are right
//!
//! A [`Refutation`] and a [`Tightening`] carry certificates, which debug builds verify against definitions and bounds.
//! Splits hold for all integers. Patching and the cube test replace one feasible assignment by another.
//!
//! # Where it comes from
//!
//! Each file names its source. The order is that of Z3's `int_solver`, for the techniques that both have.

mod branch;
mod cube;
mod cuts;
mod diophantine;
mod gcd;
mod hermite;
mod patch;
mod refutation;

use shofar_logic::number::{Integer, Rational};

pub use refutation::{Multiple, Refutation, Tightening};

use super::{DeltaRational, Side, Simplex, Var};
use diophantine::Equations;

/// The budget for the splits of a query.
const BUDGET: u64 = 100_000;
/// The cost of a split on a variable with a small range.
const SMALL_COST: u64 = 5;
/// The cost of any other split.
const LARGE_COST: u64 = 50;
/// The greatest small range.
const SMALL_RANGE: i64 = 64;
/// The splits on variables with large ranges in a query from which on these splits may go on for ever.
const MANY_LARGE: u32 = 20;

/// The next action for integer variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// None: all values are integers.
    Content,
    /// The bounds in force have no integer solution.
    Refuted(Refutation),
    /// A bound follows that the current values violate.
    Tightened(Tightening),
    /// The variable is at most `floor`, or at least one more, and its value lies between the two.
    Split {
        /// The variable.
        var: Var,
        /// The greatest integer below the value.
        floor: Integer,
        /// The side to try first: the one nearer to zero, so that an unbounded search does not diverge in one
        /// direction.
        first: Side,
    },
    /// The budget is exhausted.
    GiveUp,
}

/// Counters since creation.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct IntegerStatistics {
    /// Contradictions by the GCD test.
    pub gcd_conflicts: u64,
    /// Solutions by patching.
    pub patched: u64,
    /// Cube tests.
    pub cube_tests: u64,
    /// Solutions by the cube test.
    pub cubes: u64,
    /// Systems of equations that were solved.
    pub equations: u64,
    /// Contradictions by equations.
    pub equation_conflicts: u64,
    /// Bounds that equations tightened.
    pub tightened: u64,
    /// Searches for cuts.
    pub cut_searches: u64,
    /// Splits on forms from proofs.
    pub cuts: u64,
    /// Splits on variables.
    pub branches: u64,
    /// Splits on small variables in rows of large ones.
    pub causes: u64,
}

/// The integer variables of a problem, and the schedule.
#[derive(Default)]
pub struct Integers {
    vars: Vec<Var>,
    /// The cost of the splits of this query.
    cost: u64,
    /// Splits of this query on variables with large ranges.
    large: u32,
    cube: Pace,
    equations: Pace,
    cuts: Pace,
    statistics: IntegerStatistics,
}

/// The schedule of a technique: due every `period` times, where the period grows with failures.
struct Pace {
    period: u32,
    wait: u32,
}

impl Pace {
    const FIRST_PERIOD: u32 = 4;
    const LAST_PERIOD: u32 = 64;

    /// Whether the technique is due.
    fn is_due(&mut self) -> bool {
        if self.wait == 0 {
            self.wait = self.period - 1;
            return true;
        }
        self.wait -= 1;
        false
    }

    /// Records the result of the last attempt.
    fn learn(&mut self, succeeded: bool) {
        self.period = if succeeded { Pace::FIRST_PERIOD } else { (self.period * 2).min(Pace::LAST_PERIOD) };
        self.wait = self.period - 1;
    }
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { period: Pace::FIRST_PERIOD, wait: 0 }
    }
}

impl Integers {
    /// Adds an integer variable, which is not a slack variable.
    pub fn add_var(&mut self, var: Var) {
        self.vars.push(var);
    }

    /// Starts a query: resets the schedule.
    pub(crate) fn start_query(&mut self) {
        (self.cost, self.large) = (0, 0);
        (self.cube, self.equations, self.cuts) = Default::default();
    }

    /// Counters since creation.
    pub fn statistics(&self) -> IntegerStatistics {
        self.statistics
    }

    /// The next action. Call this after a feasible check. It changes no bounds; it may change values, which then still
    /// satisfy all rows and bounds, and add rows.
    pub fn step(&mut self, simplex: &mut Simplex) -> Step {
        if self.fractional(simplex).is_empty() {
            return Step::Content;
        }
        if let Some(refutation) = simplex.gcd_test() {
            self.statistics.gcd_conflicts += 1;
            return Step::Refuted(refutation);
        }
        if self.finds_solution(simplex) {
            return Step::Content;
        }
        if self.equations.is_due() {
            self.statistics.equations += 1;
            let found = simplex.solve_equations();
            self.equations.learn(!matches!(found, Equations::Nothing));
            match found {
                Equations::Contradiction(refutation) => {
                    self.statistics.equation_conflicts += 1;
                    return Step::Refuted(refutation);
                }
                Equations::Tightened(tightening) => {
                    self.statistics.tightened += 1;
                    return Step::Tightened(tightening);
                }
                Equations::Nothing => {}
            }
        }
        self.split(simplex)
    }

    /// The integer variables whose values are not integers.
    fn fractional(&self, simplex: &Simplex) -> Vec<Var> {
        self.vars.iter().copied().filter(|&var| !simplex.value(var).is_integer()).collect()
    }

    /// Moves values until all are integers, if this is easy.
    fn finds_solution(&mut self, simplex: &mut Simplex) -> bool {
        if simplex.patch(&self.vars) {
            self.statistics.patched += 1;
            return true;
        }
        if !self.cube.is_due() {
            return false;
        }
        self.statistics.cube_tests += 1;
        let found = simplex.cube_test();
        self.cube.learn(found);
        self.statistics.cubes += u64::from(found);
        found
    }

    fn split(&mut self, simplex: &mut Simplex) -> Step {
        if self.cost >= BUDGET {
            return Step::GiveUp;
        }
        let fractional = self.fractional(simplex);
        let var = simplex.branch_variable(&fractional).expect("some value is not an integer");
        let is_small = simplex.range(var).is_some_and(|range| range <= Integer::from(SMALL_RANGE));
        self.large += u32::from(!is_small);
        if self.large > MANY_LARGE
            && !is_small
            && let Some(split) = simplex.split_on_cause(var, SMALL_RANGE)
        {
            self.cost += SMALL_COST;
            self.statistics.causes += 1;
            return split;
        }
        self.cost += if is_small { SMALL_COST } else { LARGE_COST };
        if self.cuts.is_due() {
            self.statistics.cut_searches += 1;
            let cut = simplex.cut_from_proof();
            self.cuts.learn(cut.is_some());
            if let Some(cut) = cut {
                self.statistics.cuts += 1;
                let form: Vec<_> =
                    cut.form.into_iter().map(|(var, coeff)| (var, Rational::from(coeff))).collect();
                let (var, factor) =
                    simplex.new_row(&form).expect("a form with a fractional value is not zero");
                return split_at(var, &DeltaRational::from(cut.value / factor));
            }
        }
        self.statistics.branches += 1;
        split_at(var, &simplex.value(var))
    }
}

fn split_at(var: Var, value: &DeltaRational) -> Step {
    let first = if value.real().is_negative() { Side::Lower } else { Side::Upper };
    Step::Split { var, floor: value.floor(), first }
}
