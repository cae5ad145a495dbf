//! Terms: variables, numbers and formulas, each with the store that it lives in.
//!
//! A [`Term`] is a handle, cheap to clone: an index into a shared store of terms and a reference to that store, [`Terms`]. Equal
//! terms of one store are one term, and no term is ever removed from it. A term prints itself as SMT-LIB text. An operation on
//! terms of different stores is an error ([`ForeignError`]), as is one on terms of the wrong sorts.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use shofar_horn::ParseError;
use shofar_logic as logic;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{Op, Symbol, TermStore};

use crate::error::{BuildError, ForeignError};
use crate::sort::Sort;

/// A home for terms, shared by all its clones and by all threads.
///
/// [`System::parse`](crate::System::parse) and [`SystemBuilder::new`](crate::SystemBuilder::new) each make a new home. You need
/// this type only to share terms between systems, or to use the SMT solver by itself.
#[derive(Clone, Default)]
pub struct Terms(Arc<TermStore>);

impl Terms {
    /// A home without terms.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn store(&self) -> &TermStore {
        &self.0
    }

    pub(crate) fn shared(&self) -> Arc<TermStore> {
        Arc::clone(&self.0)
    }

    pub(crate) fn term(&self, term: logic::Term) -> Term {
        Term { terms: self.clone(), term }
    }

    pub(crate) fn terms(&self, terms: &[logic::Term]) -> Vec<Term> {
        terms.iter().map(|&term| self.term(term)).collect()
    }

    /// The index of a term that must live here.
    pub(crate) fn own(&self, term: &Term) -> Result<logic::Term, ForeignError> {
        if term.terms == *self { Ok(term.term) } else { Err(ForeignError::TERM) }
    }

    /// The variable with this name and sort.
    pub fn variable(&self, name: &str, sort: &Sort) -> Result<Term, BuildError> {
        let sort = sort.in_terms(self)?;
        Ok(self.term(self.0.var(self.0.symbol(name), sort)))
    }

    /// `true` or `false`.
    pub fn bool(&self, value: bool) -> Term {
        self.term(self.0.bool(value))
    }

    /// A number of sort `Int`.
    pub fn int(&self, value: impl Into<Integer>) -> Term {
        self.term(self.0.int(value))
    }

    /// A number of sort `Real`.
    pub fn real(&self, value: impl Into<Rational>) -> Term {
        self.term(self.0.real(value))
    }

    /// The conjunction of formulas; `true` if there are none.
    pub fn and<'t>(&self, formulas: impl IntoIterator<Item = &'t Term>) -> Result<Term, BuildError> {
        self.connect(Op::And, true, formulas)
    }

    /// The disjunction of formulas; `false` if there are none.
    pub fn or<'t>(&self, formulas: impl IntoIterator<Item = &'t Term>) -> Result<Term, BuildError> {
        self.connect(Op::Or, false, formulas)
    }

    fn connect<'t>(
        &self,
        op: Op,
        neutral: bool,
        formulas: impl IntoIterator<Item = &'t Term>,
    ) -> Result<Term, BuildError> {
        let formulas: Vec<logic::Term> =
            formulas.into_iter().map(|term| self.own(term)).collect::<Result<_, _>>()?;
        if formulas.is_empty() { Ok(self.bool(neutral)) } else { Ok(self.term(self.0.app(op, &formulas)?)) }
    }

    /// Reads a term in SMT-LIB's notation, in which these variables may occur. This way leads to all operators, also to those
    /// that have no method here. The name of a variable hides any other meaning of the name.
    ///
    /// ```
    /// use shofar::{Sort, Terms};
    ///
    /// let terms = Terms::new();
    /// let x = terms.variable("x", &Sort::BitVec(8))?;
    /// let is_even = terms.parse("(= ((_ extract 0 0) x) #b0)", &[&x])?;
    /// assert_eq!(is_even.sort(), Sort::Bool);
    /// let error = terms.parse("(bvadd x\n y)", &[&x]).unwrap_err();
    /// assert_eq!(error.to_string(), "term:2:2: undeclared symbol `y`");
    /// # Ok::<(), shofar::Error>(())
    /// ```
    pub fn parse(&self, text: impl AsRef<[u8]>, variables: &[&Term]) -> Result<Term, crate::Error> {
        let text = text.as_ref();
        let mut environment = Environment::new(&self.0);
        environment.allow_overloading(&self.0);
        let mut named: HashMap<Symbol, logic::Term> = HashMap::new();
        for variable in variables {
            let term = self.own(variable)?;
            let Op::Var(name) = self.0.op(term) else {
                return Err(BuildError::NotAVariable(variable.to_string()).into());
            };
            if named.insert(name, term).is_some_and(|other| other != term) {
                return Err(BuildError::Ambiguous(self.0.name(name).to_owned()).into());
            }
            environment.bind_free_variable(&self.0, name, term);
        }
        let mut reader = Reader::new(&self.0, &mut environment, text);
        let term = reader.term().and_then(|term| reader.end().map(|()| term));
        Ok(self.term(term.map_err(|error| ParseError::of("term", text, error))?))
    }
}

/// Whether both are the same home.
impl PartialEq for Terms {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Terms {}

impl Hash for Terms {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Terms({} terms)", self.0.len())
    }
}

/// A term: a variable, a number, or an operator applied to terms. A formula is a term of sort `Bool`.
///
/// ```
/// use shofar::{Sort, Terms};
///
/// let terms = Terms::new();
/// let x = terms.variable("x", &Sort::Int)?;
/// let small = x.add(1)?.mul(2)?.lt(100)?;
/// assert_eq!(small.to_string(), "(< (* (+ x 1) 2) 100)");
///
/// let error = small.add(1).unwrap_err();
/// assert_eq!(error.to_string(), "1 is not a number of sort Bool");
/// let stranger = Terms::new().variable("y", &Sort::Int)?;
/// let error = x.lt(&stranger).unwrap_err();
/// assert_eq!(error.to_string(), "the term belongs to other `Terms`");
/// # Ok::<(), shofar::BuildError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Term {
    terms: Terms,
    term: logic::Term,
}

impl Term {
    /// The home of the term.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The sort of the term.
    pub fn sort(&self) -> Sort {
        Sort::of(&self.terms, self.terms.store().sort_of(self.term))
    }

    /// What kind of term it is.
    pub fn view(&self) -> View<'_> {
        let store = self.terms.store();
        match store.op(self.term) {
            Op::Var(name) => View::Variable(store.name(name)),
            Op::Numeral(id) => View::Number(store.rational(id)),
            Op::BvNumeral(id) => View::BitVec(store.integer(id)),
            op => View::Application(store.display_op(op).to_string()),
        }
    }

    /// The arguments of an application; for quantifiers the variables, then the formula.
    pub fn arguments(&self) -> Vec<Term> {
        self.terms.terms(self.terms.store().args(self.term))
    }

    /// The variables that occur in the term and are not bound in it.
    pub fn variables(&self) -> Vec<Term> {
        self.terms.terms(&self.terms.store().free_vars(&[self.term]))
    }

    fn apply(&self, op: Op, other: impl Operand) -> Result<Term, BuildError> {
        let other = other.operand(&self.terms, self.terms.store().sort_of(self.term))?;
        Ok(self.terms.term(self.terms.store().app(op, &[self.term, other])?))
    }

    /// The sum.
    pub fn add(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Add, other)
    }

    /// The difference.
    pub fn sub(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Sub, other)
    }

    /// The product. The solver decides linear arithmetic: one factor should be a number.
    pub fn mul(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Mul, other)
    }

    /// The quotient of integers, rounded so that the remainder is not negative.
    pub fn div(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::IntDiv, other)
    }

    /// The remainder of [`div`](Term::div).
    pub fn modulo(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Mod, other)
    }

    /// The quotient of real numbers.
    pub fn real_div(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::RealDiv, other)
    }

    /// Whether this is less.
    pub fn lt(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Lt, other)
    }

    /// Whether this is less or equal.
    pub fn le(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Le, other)
    }

    /// Whether this is greater.
    pub fn gt(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Gt, other)
    }

    /// Whether this is greater or equal.
    pub fn ge(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Ge, other)
    }

    /// Whether both are equal.
    pub fn equals(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Eq, other)
    }

    /// Whether both are different.
    pub fn differs(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Distinct, other)
    }

    /// The conjunction.
    pub fn and(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::And, other)
    }

    /// The disjunction.
    pub fn or(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Or, other)
    }

    /// The implication.
    pub fn implies(&self, other: impl Operand) -> Result<Term, BuildError> {
        self.apply(Op::Implies, other)
    }

    /// The negation.
    pub fn not(&self) -> Result<Term, BuildError> {
        Ok(self.terms.term(self.terms.store().app(Op::Not, &[self.term])?))
    }

    /// `then` if this formula is true, and `otherwise` if not.
    pub fn ite(&self, then: &Term, otherwise: impl Operand) -> Result<Term, BuildError> {
        let then = self.terms.own(then)?;
        let otherwise = otherwise.operand(&self.terms, self.terms.store().sort_of(then))?;
        Ok(self.terms.term(self.terms.store().app(Op::Ite, &[self.term, then, otherwise])?))
    }
}

/// As SMT-LIB writes it, with `let` for what occurs several times.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.terms.store().display(self.term).fmt(f)
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Term({self})")
    }
}

/// What kind of term a [`Term`] is.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum View<'t> {
    /// A variable with this name.
    Variable(&'t str),
    /// A number of sort `Int` or `Real`.
    Number(&'t Rational),
    /// A bit-vector, as a natural number.
    BitVec(&'t Integer),
    /// An operator or function applied to the [arguments](Term::arguments): its name in SMT-LIB, such as `and`, `<=` or
    /// `(_ extract 7 0)`.
    Application(String),
}

/// What can stand to the right of an operator: a term, or a number of the sort that is needed there. A bit-vector of width `w` can be
/// written as a number from `-2^(w-1)` to `2^w - 1`; other numbers are errors.
pub trait Operand: sealed::Operand {}

impl<T: sealed::Operand> Operand for T {}

mod sealed {
    use super::*;

    pub trait Operand {
        /// The operand as a term of a store, where a number has the given sort.
        fn operand(self, terms: &Terms, sort: logic::Sort) -> Result<logic::Term, BuildError>;
    }

    impl Operand for &Term {
        fn operand(self, terms: &Terms, _: logic::Sort) -> Result<logic::Term, BuildError> {
            Ok(terms.own(self)?)
        }
    }

    impl Operand for Term {
        fn operand(self, terms: &Terms, sort: logic::Sort) -> Result<logic::Term, BuildError> {
            (&self).operand(terms, sort)
        }
    }

    impl Operand for Rational {
        fn operand(self, terms: &Terms, sort: logic::Sort) -> Result<logic::Term, BuildError> {
            let store = terms.store();
            if sort == logic::Sort::REAL || sort == logic::Sort::INT && self.is_integer() {
                return Ok(store.number(&self, sort));
            }
            Err(no_number_of(sort, &self, terms))
        }
    }

    impl Operand for Integer {
        fn operand(self, terms: &Terms, sort: logic::Sort) -> Result<logic::Term, BuildError> {
            match terms.store().bv_width(sort) {
                Some(width) if fits(&self, width) => Ok(terms.store().bv(self, width)),
                Some(_) => Err(no_number_of(sort, &self, terms)),
                None => Rational::from(self).operand(terms, sort),
            }
        }
    }

    fn no_number_of(sort: logic::Sort, number: &impl fmt::Display, terms: &Terms) -> BuildError {
        BuildError::Number { number: number.to_string(), sort: terms.store().display_sort(sort).to_string() }
    }

    /// Whether the number is that of a bit-vector of this width, with or without a sign.
    fn fits(number: &Integer, width: u32) -> bool {
        let bits =
            if number.is_negative() { (number + &Integer::ONE).bit_len() + 1 } else { number.bit_len() };
        bits <= width as usize
    }

    macro_rules! machine_integers {
        ($($type:ty),*) => {$(
            impl Operand for $type {
                fn operand(self, terms: &Terms, sort: logic::Sort) -> Result<logic::Term, BuildError> {
                    Integer::from(self).operand(terms, sort)
                }
            }
        )*};
    }

    machine_integers!(i32, i64, u32, u64);

    impl Operand for bool {
        fn operand(self, terms: &Terms, _: logic::Sort) -> Result<logic::Term, BuildError> {
            Ok(terms.store().bool(self))
        }
    }
}
