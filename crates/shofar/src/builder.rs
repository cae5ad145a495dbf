//! Systems made in memory.

use std::fmt;
use std::sync::Arc;

use shofar_horn as horn;
use shofar_horn::Position;
use shofar_logic as logic;
use shofar_logic::TermStore;

use crate::error::{BuildError, ForeignError};
use crate::sort::Sort;
use crate::system::{Predicate, System, SystemId};
use crate::terms::{Term, Terms};

/// Makes a [`System`] in memory, without any text.
///
/// ```
/// use shofar::{Sort, SystemBuilder};
///
/// let mut clauses = SystemBuilder::new();
/// let count = clauses.predicate("count", &[Sort::Int])?;
/// let x = clauses.variable("x", &Sort::Int)?;
/// let zero = clauses.terms().int(0);
/// clauses.clause().implies(count, &[&zero])?;
/// clauses.clause().atom(count, &[&x]).implies(count, &[&x.add(2)?])?;
/// clauses.clause().atom(count, &[&x]).when(&x.equals(7)?).implies_false()?;
/// assert_eq!(clauses.finish().info().track, Some("LIA-Lin"));
///
/// let mut others = SystemBuilder::new();
/// let error = others.clause().atom(count, &[&x]).implies_false().unwrap_err();
/// assert_eq!(error.to_string(), "the predicate belongs to another system");
/// # Ok::<(), shofar::BuildError>(())
/// ```
///
/// Sorts and functions need no declaration: the builder declares those that occur.
pub struct SystemBuilder {
    terms: Terms,
    id: SystemId,
    inner: horn::SystemBuilder<Arc<TermStore>>,
}

impl Default for SystemBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl SystemBuilder {
    /// A system without clauses, with terms of its own.
    pub fn new() -> Self {
        Self::with_terms(&Terms::new())
    }

    /// A system without clauses over terms that exist already.
    pub fn with_terms(terms: &Terms) -> Self {
        let inner = horn::SystemBuilder::new(terms.shared());
        SystemBuilder { terms: terms.clone(), id: SystemId::new(), inner }
    }

    /// The home of the terms that the clauses are made of.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Declares a predicate by its name and the sorts of its arguments. Any name is possible; but if the name has a meaning in
    /// SMT-LIB, such as `and`, the printed clauses cannot be read again.
    pub fn predicate(&mut self, name: &str, sorts: &[Sort]) -> Result<Predicate, BuildError> {
        let sorts: Vec<logic::Sort> =
            sorts.iter().map(|sort| sort.in_terms(&self.terms)).collect::<Result<_, _>>()?;
        let id = self.inner.predicate(name, &sorts).map_err(|error| build_error(&self.terms, error))?;
        Ok(Predicate { system: self.id, id })
    }

    /// A variable. It belongs to no clause: each clause quantifies the variables that occur in it.
    pub fn variable(&self, name: &str, sort: &Sort) -> Result<Term, BuildError> {
        self.terms.variable(name, sort)
    }

    /// Starts a clause, which [`ClauseBuilder::implies`] or [`ClauseBuilder::implies_false`] completes.
    pub fn clause(&mut self) -> ClauseBuilder<'_> {
        ClauseBuilder { terms: &self.terms, system: self.id, inner: self.inner.clause(), foreign: None }
    }

    /// The system.
    pub fn finish(self) -> System {
        System::new(self.terms, self.id, self.inner.finish(), None)
    }
}

fn build_error(terms: &Terms, error: horn::BuildError) -> BuildError {
    match error {
        horn::BuildError::Declared(name) => BuildError::Declared(name),
        horn::BuildError::Arguments(error) => BuildError::Sort(error),
        horn::BuildError::NotAFormula(sort) => BuildError::NotAFormula(sort),
        horn::BuildError::NotHorn(term) => BuildError::NotHorn(terms.term(term).to_string()),
        horn::BuildError::Ambiguous(name) => BuildError::Ambiguous(name),
        horn::BuildError::Stranger => BuildError::Foreign(ForeignError::PREDICATE),
    }
}

impl fmt::Debug for SystemBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemBuilder").field("terms", &self.terms).finish_non_exhaustive()
    }
}

/// A clause in the making. A part of other terms or of another system is an error when the clause gets its head.
#[must_use = "a clause is added when it gets its head"]
pub struct ClauseBuilder<'b> {
    terms: &'b Terms,
    system: SystemId,
    /// The clause with the parts that belong to the builder.
    inner: horn::ClauseBuilder<'b, Arc<TermStore>>,
    /// The first part that does not.
    foreign: Option<ForeignError>,
}

impl ClauseBuilder<'_> {
    /// Names the clause, for messages and witnesses.
    pub fn named(self, name: &str) -> Self {
        ClauseBuilder { inner: self.inner.named(name), ..self }
    }

    /// Sets where the clause comes from, for example in a program. By default the n-th clause stands on the n-th line.
    pub fn at(self, position: Position) -> Self {
        ClauseBuilder { inner: self.inner.at(position), ..self }
    }

    /// Adds an atom to the body.
    pub fn atom(self, predicate: Predicate, arguments: &[&Term]) -> Self {
        match self.own(predicate, arguments) {
            Ok((predicate, arguments)) => {
                ClauseBuilder { inner: self.inner.atom(predicate, &arguments), ..self }
            }
            Err(error) => ClauseBuilder { foreign: self.foreign.or(Some(error)), ..self },
        }
    }

    /// Adds a constraint to the body.
    pub fn when(self, constraint: &Term) -> Self {
        match self.terms.own(constraint) {
            Ok(constraint) => ClauseBuilder { inner: self.inner.when(constraint), ..self },
            Err(error) => ClauseBuilder { foreign: self.foreign.or(Some(error)), ..self },
        }
    }

    /// Completes a fact or a rule with its head, and adds it. Returns its position among the clauses.
    pub fn implies(self, predicate: Predicate, arguments: &[&Term]) -> Result<usize, BuildError> {
        self.foreign.map_or(Ok(()), Err)?;
        let (predicate, arguments) = self.own(predicate, arguments)?;
        self.inner.implies(predicate, &arguments).map_err(|error| build_error(self.terms, error))
    }

    /// Completes a query, which says that its body never holds, and adds it. Returns its position among the clauses.
    pub fn implies_false(self) -> Result<usize, BuildError> {
        self.foreign.map_or(Ok(()), Err)?;
        self.inner.implies_false().map_err(|error| build_error(self.terms, error))
    }

    /// An atom whose parts must belong to the builder.
    fn own(
        &self,
        predicate: Predicate,
        arguments: &[&Term],
    ) -> Result<(horn::PredicateId, Vec<logic::Term>), ForeignError> {
        if predicate.system != self.system {
            return Err(ForeignError::PREDICATE);
        }
        let arguments: Result<_, _> = arguments.iter().map(|term| self.terms.own(term)).collect();
        Ok((predicate.id, arguments?))
    }
}

impl fmt::Debug for ClauseBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClauseBuilder").field("terms", self.terms).finish_non_exhaustive()
    }
}
