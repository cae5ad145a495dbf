//! The errors of the library, one type for each kind of mistake.
//!
//! | error | the mistake |
//! |---|---|
//! | [`ParseError`] | a text is not what it should be, with the place |
//! | [`BuildError`] | a term or a clause made in memory cannot be |
//! | [`ForeignError`] | something belongs to other [`Terms`](crate::Terms) or to another [`System`](crate::System) |
//! | [`OptionError`] | an engine, option or transformation does not exist, or an option cannot have a value |
//! | [`CheckError`] | a witness proves nothing, or the check has no result |
//! | [`smt::Error`](crate::smt::Error) | the SMT solver cannot take a formula |
//!
//! Each converts into [`Error`], so that a function can use `?` on all of them. The text of an error contains the text of what
//! it wraps; so `source` does not name the wrapped error again.

use std::fmt;

use shofar_horn::ParseError;
use shofar_logic::SortError;
use shofar_run::{OptionError, Stop};

use crate::smt;

/// Something belongs to other [`Terms`](crate::Terms), or to another [`System`](crate::System), than what it is used with.
///
/// Terms are small indices inside. An index of another store would mean another term there, or nothing; so the library
/// compares the stores before it uses one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForeignError {
    what: &'static str,
}

impl ForeignError {
    pub(crate) const TERM: ForeignError = ForeignError { what: "the term belongs to other `Terms`" };
    pub(crate) const SORT: ForeignError = ForeignError { what: "the datatype belongs to other `Terms`" };
    pub(crate) const PREDICATE: ForeignError =
        ForeignError { what: "the predicate belongs to another system" };
    pub(crate) const WITNESS: ForeignError = ForeignError { what: "the witness belongs to another system" };
}

impl fmt::Display for ForeignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

impl std::error::Error for ForeignError {}

/// Why a term, or a part of a system, cannot be made. Nothing is added to the system then.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// A part belongs to other terms or to another system.
    Foreign(ForeignError),
    /// The operator or predicate does not take arguments of these sorts.
    Sort(SortError),
    /// A number cannot be a term of the sort that is needed.
    Number {
        /// The number.
        number: String,
        /// The sort.
        sort: String,
    },
    /// There is no bit-vector of this width.
    Width(u32),
    /// The system has a predicate of this name already.
    Declared(String),
    /// A constraint is not a formula; this is its sort.
    NotAFormula(String),
    /// An argument or a constraint contains a quantifier or a predicate. This is its text.
    NotHorn(String),
    /// Two variables of a clause or text have this name, but different sorts.
    Ambiguous(String),
    /// A term with this text is given as a variable, but it is none.
    NotAVariable(String),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Foreign(error) => error.fmt(f),
            BuildError::Sort(error) => error.fmt(f),
            BuildError::Number { number, sort } => write!(f, "{number} is not a number of sort {sort}"),
            BuildError::Width(width) => write!(f, "there are no bit-vectors of width {width}"),
            BuildError::Declared(name) => write!(f, "predicate {name} is declared already"),
            BuildError::NotAFormula(sort) => write!(f, "a constraint has sort {sort}, expected Bool"),
            BuildError::NotHorn(term) => write!(f, "a quantifier or a predicate occurs in {term}"),
            BuildError::Ambiguous(name) => {
                write!(f, "two variables are called {name}, but have different sorts")
            }
            BuildError::NotAVariable(term) => write!(f, "{term} is not a variable"),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<ForeignError> for BuildError {
    fn from(error: ForeignError) -> Self {
        BuildError::Foreign(error)
    }
}

impl From<SortError> for BuildError {
    fn from(error: SortError) -> Self {
        BuildError::Sort(error)
    }
}

/// Why a witness is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CheckError {
    /// The witness belongs to another system.
    Foreign(ForeignError),
    /// The witness proves nothing; the text says which clause or step is at fault.
    Invalid(String),
    /// The check ended without a result.
    Unknown(Stop),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Foreign(error) => error.fmt(f),
            CheckError::Invalid(fault) => f.write_str(fault),
            CheckError::Unknown(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for CheckError {}

/// Any error of the library.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A mistake in a text.
    Parse(ParseError),
    /// A term or clause that cannot be made.
    Build(BuildError),
    /// Something of other terms or of another system.
    Foreign(ForeignError),
    /// An engine, option or transformation that does not exist, or a value that an option cannot have.
    Option(OptionError),
    /// A witness that is not accepted.
    Check(CheckError),
    /// A formula that the SMT solver cannot take.
    Smt(smt::Error),
    /// Work that ended without a result.
    Stop(Stop),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.inner(), f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner().source()
    }
}

macro_rules! errors {
    ($($variant:ident($type:ty)),*) => {
        impl Error {
            fn inner(&self) -> &(dyn std::error::Error + 'static) {
                match self {
                    $(Error::$variant(error) => error,)*
                }
            }
        }

        $(
            impl From<$type> for Error {
                fn from(error: $type) -> Self {
                    Error::$variant(error)
                }
            }
        )*
    };
}

errors!(
    Parse(ParseError),
    Build(BuildError),
    Foreign(ForeignError),
    Option(OptionError),
    Check(CheckError),
    Smt(smt::Error),
    Stop(Stop)
);
