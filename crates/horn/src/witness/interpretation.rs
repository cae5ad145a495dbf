//! What a model says of a predicate.
//!
//! A formula is one kind of interpretation. Whatever handles interpretations has one place where it tells the kinds apart,
//! by a match without a catch-all: a new kind is a compile error in each of these places. What can only treat formulas asks
//! for [`Interpretation::formula`], and other kinds are [`Stop::Unsupported`] there.

use shofar_logic::{Term, TermStore};
use shofar_run::Stop;

use crate::graph::rename;

/// What a model says of a predicate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Interpretation {
    /// The predicate holds where the formula does. It is over variables for the arguments, and without quantifiers.
    Formula(Term),
}

impl Interpretation {
    /// The predicate always holds.
    pub const TRUE: Interpretation = Interpretation::Formula(Term::TRUE);

    /// The predicate never holds.
    pub const FALSE: Interpretation = Interpretation::Formula(Term::FALSE);

    /// The formula; [`Stop::Unsupported`] if it is of another kind.
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
