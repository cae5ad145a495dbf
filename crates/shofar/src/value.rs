//! Values: what the steps of a refutation and the models of the SMT solver assign.

use std::fmt;

use shofar_logic as logic;
use shofar_logic::number::{Integer, Rational};

use crate::terms::{Term, Terms};

/// A value of a sort.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(Integer),
    /// A rational number of sort `Real`.
    Real(Rational),
    /// A bit-vector.
    BitVec {
        /// The natural number that its bits spell.
        value: Integer,
        /// Its width.
        width: u32,
    },
    /// A datatype value, an array, or an element of a declared sort, as a term without variables of clauses.
    Term(Term),
}

impl Value {
    pub(crate) fn of(terms: &Terms, value: &logic::Value) -> Self {
        match value {
            logic::Value::Bool(value) => Value::Bool(*value),
            logic::Value::Int(value) => Value::Int(value.clone()),
            logic::Value::Real(value) => Value::Real(value.clone()),
            logic::Value::BitVec { value, width } => Value::BitVec { value: value.clone(), width: *width },
            logic::Value::Term(term) => Value::Term(terms.term(*term)),
        }
    }

    pub(crate) fn all(terms: &Terms, values: &[logic::Value]) -> Vec<Self> {
        values.iter().map(|value| Value::of(terms, value)).collect()
    }
}

/// As SMT-LIB writes it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match self {
            Value::Term(term) => return term.fmt(f),
            Value::Bool(value) => logic::Value::Bool(*value),
            Value::Int(value) => logic::Value::Int(value.clone()),
            Value::Real(value) => logic::Value::Real(value.clone()),
            Value::BitVec { value, width } => logic::Value::BitVec { value: value.clone(), width: *width },
        };
        Terms::new().store().display_value(&value).fmt(f)
    }
}
