//! Values: what the steps of a refutation and the models of the SMT solver assign.

use std::fmt;

use shofar_logic as logic;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::smtlib::{write_bitvector, write_numeral};

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
        match self {
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => write_numeral(&Rational::from(value.clone()), logic::Sort::INT, f),
            Value::Real(value) => write_numeral(value, logic::Sort::REAL, f),
            Value::BitVec { value, width } => write_bitvector(value, *width, f),
            Value::Term(term) => term.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value as text, and the text of the term that it denotes.
    fn texts(value: &logic::Value) -> (String, String) {
        let terms = Terms::new();
        (Value::of(&terms, value).to_string(), terms.store().display_value(value).to_string())
    }

    #[test]
    fn a_value_prints_like_its_term() {
        let third = Rational::new((-1).into(), 3.into());
        let bits = |value: i64, width| logic::Value::BitVec { value: value.into(), width };
        for (value, text) in [
            (logic::Value::Bool(true), "true"),
            (logic::Value::Int((-5).into()), "(- 5)"),
            (logic::Value::Int(Integer::pow2(70)), "1180591620717411303424"),
            (logic::Value::Real(4.into()), "4.0"),
            (logic::Value::Real(third), "(- (/ 1.0 3.0))"),
            (bits(0xbe, 8), "#xbe"),
            (bits(5, 3), "#b101"),
        ] {
            assert_eq!(texts(&value), (text.to_owned(), text.to_owned()));
        }
    }
}
