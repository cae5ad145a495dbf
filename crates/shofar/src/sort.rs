//! Sorts: what variables and the arguments of predicates range over.

use std::fmt;

use shofar_logic as logic;
use shofar_logic::SortKind;
use shofar_logic::smtlib::DisplaySymbol;

use crate::error::{BuildError, ForeignError};
use crate::terms::Terms;

/// A sort of SMT-LIB. Apart from datatypes, sorts belong to no [`Terms`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Integers.
    Int,
    /// Real numbers.
    Real,
    /// Bit-vectors of this width.
    BitVec(u32),
    /// Arrays from indices to elements.
    Array(Box<Sort>, Box<Sort>),
    /// A declared sort with its parameters. Nothing is known of its elements.
    Uninterpreted(String, Vec<Sort>),
    /// An algebraic datatype that a text declared.
    Datatype(Datatype),
}

impl Sort {
    /// Arrays from indices to elements.
    pub fn array(index: Sort, element: Sort) -> Self {
        Sort::Array(Box::new(index), Box::new(element))
    }

    pub(crate) fn of(terms: &Terms, sort: logic::Sort) -> Self {
        match terms.store().sort_kind(sort) {
            SortKind::Bool => Sort::Bool,
            SortKind::Int => Sort::Int,
            SortKind::Real => Sort::Real,
            SortKind::BitVec(width) => Sort::BitVec(*width),
            SortKind::Array(index, element) => {
                Sort::array(Sort::of(terms, *index), Sort::of(terms, *element))
            }
            SortKind::Uninterpreted(name, parameters) => Sort::Uninterpreted(
                terms.store().name(*name).to_owned(),
                parameters.iter().map(|&parameter| Sort::of(terms, parameter)).collect(),
            ),
            SortKind::Datatype(_) => Sort::Datatype(Datatype { terms: terms.clone(), sort }),
        }
    }

    /// The sort in a store.
    pub(crate) fn in_terms(&self, terms: &Terms) -> Result<logic::Sort, BuildError> {
        let store = terms.store();
        Ok(match self {
            Sort::Bool => logic::Sort::BOOL,
            Sort::Int => logic::Sort::INT,
            Sort::Real => logic::Sort::REAL,
            Sort::BitVec(width) if (1..=logic::MAX_WIDTH).contains(width) => store.bitvec_sort(*width),
            Sort::BitVec(width) => return Err(BuildError::Width(*width)),
            Sort::Array(index, element) => store.array_sort(index.in_terms(terms)?, element.in_terms(terms)?),
            Sort::Uninterpreted(name, parameters) => {
                let parameters: Result<_, _> = parameters.iter().map(|sort| sort.in_terms(terms)).collect();
                store.sort(SortKind::Uninterpreted(store.symbol(name), parameters?))
            }
            Sort::Datatype(datatype) if datatype.terms == *terms => datatype.sort,
            Sort::Datatype(_) => return Err(ForeignError::SORT.into()),
        })
    }
}

/// As SMT-LIB writes it.
impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Bool => f.write_str("Bool"),
            Sort::Int => f.write_str("Int"),
            Sort::Real => f.write_str("Real"),
            Sort::BitVec(width) => write!(f, "(_ BitVec {width})"),
            Sort::Array(index, element) => write!(f, "(Array {index} {element})"),
            Sort::Uninterpreted(name, parameters) if parameters.is_empty() => DisplaySymbol(name).fmt(f),
            Sort::Uninterpreted(name, parameters) => {
                write!(f, "({}", DisplaySymbol(name))?;
                parameters.iter().try_for_each(|parameter| write!(f, " {parameter}"))?;
                f.write_str(")")
            }
            Sort::Datatype(datatype) => datatype.fmt(f),
        }
    }
}

/// An algebraic datatype. It belongs to the [`Terms`] of the text that declared it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Datatype {
    terms: Terms,
    sort: logic::Sort,
}

/// As SMT-LIB writes it.
impl fmt::Display for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.terms.store().display_sort(self.sort).fmt(f)
    }
}

impl fmt::Debug for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Datatype({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_bars_where_smt_lib_needs_them() {
        let sort = |name: &str, parameters: Vec<Sort>| Sort::Uninterpreted(name.to_owned(), parameters);
        let two_words = sort("two words", vec![Sort::BitVec(8), sort("let", Vec::new())]);
        let terms = Terms::new();
        for (sort, text) in [
            (sort("U", Vec::new()), "U"),
            (sort("let", Vec::new()), "|let|"),
            (sort("", Vec::new()), "||"),
            (Sort::array(Sort::Int, two_words), "(Array Int (|two words| (_ BitVec 8) |let|))"),
        ] {
            assert_eq!(sort.to_string(), text);
            // The store prints the sort in the same way.
            let inner = sort.in_terms(&terms).expect("there is such a sort");
            assert_eq!(terms.store().display_sort(inner).to_string(), text);
        }
    }
}
