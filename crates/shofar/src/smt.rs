//! The SMT solver by itself: whether formulas can be true together.
//!
//! It decides booleans, linear arithmetic over integers and reals, and functions without meaning. It is incremental: formulas
//! can be added at any time, and [`pop`](Solver::pop) takes back those since the last [`push`](Solver::push).
//!
//! ```
//! use shofar::smt::{Answer, Solver};
//! use shofar::{Sort, Terms};
//!
//! let terms = Terms::new();
//! let x = terms.variable("x", &Sort::Int)?;
//! let y = terms.variable("y", &Sort::Int)?;
//! let mut solver = Solver::new(&terms);
//! solver.assert(&x.add(&y)?.equals(10)?)?;
//! solver.assert(&x.gt(&y)?)?;
//!
//! assert_eq!(solver.check()?, Answer::Sat);
//! let sum = x.add(&y)?;
//! assert_eq!(solver.value(&sum)?.expect("the answer is sat").to_string(), "10");
//!
//! let (big, small) = (y.gt(5)?, x.lt(100)?);
//! assert_eq!(solver.check_assuming(&[&small, &big])?, Answer::Unsat);
//! assert_eq!(solver.core(), [big]);
//! # Ok::<(), shofar::Error>(())
//! ```

use std::cell::RefCell;
use std::fmt;

use shofar_logic as logic;
use shofar_logic::Assignment;
use shofar_run::{Reason, Stop};
use shofar_smt as smt;
use shofar_smt::sat::Outcome;

use crate::error::ForeignError;
use crate::options::Limits;
use crate::terms::{Term, Terms};
use crate::value::Value;

/// Why the solver cannot take a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The formula belongs to other terms.
    Foreign(ForeignError),
    /// The term is not a formula; this is its sort.
    NotAFormula(String),
    /// The formula contains something that the solver does not support.
    Unsupported(Stop),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Foreign(error) => error.fmt(f),
            Error::NotAFormula(sort) => write!(f, "the term has sort {sort}, expected Bool"),
            Error::Unsupported(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<ForeignError> for Error {
    fn from(error: ForeignError) -> Self {
        Error::Foreign(error)
    }
}

/// Whether formulas can be true together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// They can, and [`Solver::value`] tells how.
    Sat,
    /// They cannot, and [`Solver::core`] tells which assumptions are at fault.
    Unsat,
    /// The solver gave up for this reason.
    Unknown(Reason),
}

/// An incremental SMT solver; see the [module](self).
pub struct Solver<'t> {
    terms: &'t Terms,
    inner: smt::solver::Solver<'t>,
    /// The formulas that are asserted, and how many there were when each frame was opened.
    asserted: Vec<logic::Term>,
    frames: Vec<usize>,
    /// The last check; `None` if something was changed since then.
    last: Option<Check>,
}

/// A check and its result.
struct Check {
    assumptions: Vec<logic::Term>,
    answer: Answer,
    /// The model, as soon as somebody has asked for a value.
    model: RefCell<Option<Model>>,
}

/// Values for the symbols of some terms.
struct Model {
    /// The asserted formulas, the assumptions, and terms with further symbols.
    terms: Vec<logic::Term>,
    assignment: Assignment,
}

impl<'t> Solver<'t> {
    /// A solver without formulas.
    pub fn new(terms: &'t Terms) -> Self {
        let inner = smt::solver::Solver::new(terms.store());
        Solver { terms, inner, asserted: Vec::new(), frames: Vec::new(), last: None }
    }

    /// Asserts a formula until the innermost frame is closed.
    pub fn assert(&mut self, formula: &Term) -> Result<(), Error> {
        let formula = self.formula(formula)?;
        self.last = None;
        self.inner.assert(formula).map_err(|error| self.unsupported(error))?;
        self.asserted.push(formula);
        Ok(())
    }

    /// Opens a frame.
    pub fn push(&mut self) {
        self.last = None;
        self.frames.push(self.asserted.len());
        self.inner.push();
    }

    /// Closes the innermost frame and removes what was asserted in it. Without an open frame, nothing happens.
    pub fn pop(&mut self) {
        self.last = None;
        if let Some(length) = self.frames.pop() {
            self.asserted.truncate(length);
        }
        self.inner.pop();
    }

    /// Whether all asserted formulas can be true together.
    pub fn check(&mut self) -> Result<Answer, Error> {
        self.check_within(&[], &Limits::new())
    }

    /// Whether all asserted formulas and the assumptions can be true together.
    pub fn check_assuming(&mut self, assumptions: &[&Term]) -> Result<Answer, Error> {
        self.check_within(assumptions, &Limits::new())
    }

    /// Like [`check_assuming`](Solver::check_assuming), within limits.
    pub fn check_within(&mut self, assumptions: &[&Term], limits: &Limits<'_>) -> Result<Answer, Error> {
        let assumptions: Vec<logic::Term> =
            assumptions.iter().map(|term| self.formula(term)).collect::<Result<_, _>>()?;
        self.last = None;
        let outcome = self.inner.check(&assumptions, &limits.start());
        let answer = match outcome.map_err(|error| self.unsupported(error))? {
            Outcome::Sat => Answer::Sat,
            Outcome::Unsat => Answer::Unsat,
            Outcome::Unknown(reason) => Answer::Unknown(reason),
        };
        self.last = Some(Check { assumptions, answer, model: RefCell::new(None) });
        Ok(answer)
    }

    /// The value of a term in the model that the last check found; `None` if its answer was not [`Answer::Sat`], or if the model
    /// leaves the term open.
    pub fn value(&self, term: &Term) -> Result<Option<Value>, ForeignError> {
        let term = self.terms.own(term)?;
        let Some(Check { assumptions, answer: Answer::Sat, model }) = &self.last else { return Ok(None) };
        let mut model = model.borrow_mut();
        let model = model.get_or_insert_with(|| {
            let terms: Vec<logic::Term> = self.asserted.iter().chain(assumptions).copied().collect();
            Model { assignment: self.inner.model(&terms), terms }
        });
        let store = self.terms.store();
        let mut value = store.eval(term, &model.assignment);
        if value.is_err() && !model.terms.contains(&term) {
            model.terms.push(term);
            model.assignment = self.inner.model(&model.terms);
            value = store.eval(term, &model.assignment);
        }
        Ok(value.ok().map(|value| Value::of(self.terms, &value)))
    }

    /// Assumptions of the last check that cannot be true together with what is asserted; empty if its answer was not
    /// [`Answer::Unsat`], or if no assumption is needed.
    pub fn core(&self) -> Vec<Term> {
        match &self.last {
            Some(Check { answer: Answer::Unsat, .. }) => self.terms.terms(&self.inner.core()),
            _ => Vec::new(),
        }
    }

    /// A formula that must live here.
    fn formula(&self, term: &Term) -> Result<logic::Term, Error> {
        let formula = self.terms.own(term)?;
        let sort = self.terms.store().sort_of(formula);
        if sort == logic::Sort::BOOL {
            Ok(formula)
        } else {
            Err(Error::NotAFormula(self.terms.store().display_sort(sort).to_string()))
        }
    }

    fn unsupported(&self, error: smt::purify::Unsupported) -> Error {
        Error::Unsupported(error.stop(self.terms.store()))
    }
}

impl fmt::Debug for Solver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Solver({} formulas)", self.asserted.len())
    }
}
