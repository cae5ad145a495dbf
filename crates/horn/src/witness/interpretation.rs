//! The interpretation of a predicate in a model.
//!
//! A formula is one kind of interpretation. Code that handles interpretations distinguishes the kinds in one place, by
//! a match without a catch-all: a new kind is a compile error in each of these places. Code that handles only formulas
//! calls [`Interpretation::formula`], which yields [`Stop::Unsupported`] for other kinds.

use shofar_logic::{Term, TermStore};
use shofar_run::Stop;

use crate::graph::rename;

/// The interpretation of a predicate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Interpretation {
    /// The predicate is equivalent to the formula, which is quantifier-free and over variables for the arguments.
    Formula(Term),
}

impl Interpretation {
    /// The predicate always holds.
    pub const TRUE: Interpretation = Interpretation::Formula(Term::TRUE);

    /// The predicate never holds.
    pub const FALSE: Interpretation = Interpretation::Formula(Term::FALSE);

    /// The formula; [`Stop::Unsupported`] for another kind.
    pub fn formula(&self) -> Result<Term, Stop> {
        match self {
            Interpretation::Formula(formula) => Ok(*formula),
        }
    }

    /// The same with other variables for the arguments.
    pub fn renamed(&self, store: &TermStore, from: &[Term], to: &[Term]) -> Self {
        match self {
            Interpretation::Formula(formula) => Interpretation::Formula(rename(store, *formula, from, to)),
        }
    }
}

impl From<Term> for Interpretation {
    fn from(formula: Term) -> Self {
        Interpretation::Formula(formula)
    }
}
