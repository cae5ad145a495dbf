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
        let id = self.inner.predicate(name, &sorts).map_err(|error| self.error(error))?;
        Ok(Predicate { system: self.id, id })
    }

    /// A variable. It belongs to no clause: each clause quantifies the variables that occur in it.
    pub fn variable(&self, name: &str, sort: &Sort) -> Result<Term, BuildError> {
        self.terms.variable(name, sort)
    }

    /// Starts a clause, which [`ClauseBuilder::implies`] or [`ClauseBuilder::implies_false`] completes.
    pub fn clause(&mut self) -> ClauseBuilder<'_> {
        ClauseBuilder {
            builder: self,
            name: None,
            position: None,
            body: Vec::new(),
            constraints: Vec::new(),
            foreign: None,
        }
    }

    /// The system.
    pub fn finish(self) -> System {
        System::new(self.terms, self.id, self.inner.finish(), None)
    }

    fn error(&self, error: horn::BuildError) -> BuildError {
        match error {
            horn::BuildError::Declared(name) => BuildError::Declared(name),
            horn::BuildError::Arguments(error) => BuildError::Sort(error),
            horn::BuildError::NotAFormula(sort) => BuildError::NotAFormula(sort),
            horn::BuildError::NotHorn(term) => BuildError::NotHorn(self.terms.term(term).to_string()),
            horn::BuildError::Ambiguous(name) => BuildError::Ambiguous(name),
            horn::BuildError::Stranger => BuildError::Foreign(ForeignError::PREDICATE),
        }
    }
}

impl fmt::Debug for SystemBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemBuilder").field("terms", &self.terms).finish_non_exhaustive()
    }
}

/// A clause in the making. A part of other terms or of another system is an error when the clause gets its head.
#[must_use = "a clause is added when it gets its head"]
#[derive(Debug)]
pub struct ClauseBuilder<'b> {
    builder: &'b mut SystemBuilder,
    name: Option<String>,
    position: Option<Position>,
    body: Vec<(horn::PredicateId, Vec<logic::Term>)>,
    constraints: Vec<logic::Term>,
    /// The first part that does not belong to the builder.
    foreign: Option<ForeignError>,
}

impl ClauseBuilder<'_> {
    /// Names the clause, for messages and witnesses.
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Sets where the clause comes from, for example in a program. By default the n-th clause stands on the n-th line.
    pub fn at(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }

    /// Adds an atom to the body.
    pub fn atom(mut self, predicate: Predicate, arguments: &[&Term]) -> Self {
        match self.own(predicate, arguments) {
            Ok(atom) => self.body.push(atom),
            Err(error) => self.foreign = self.foreign.or(Some(error)),
        }
        self
    }

    /// Adds a constraint to the body.
    pub fn when(mut self, constraint: &Term) -> Self {
        match self.builder.terms.own(constraint) {
            Ok(constraint) => self.constraints.push(constraint),
            Err(error) => self.foreign = self.foreign.or(Some(error)),
        }
        self
    }

    /// Completes a fact or a rule with its head, and adds it. Returns its position among the clauses.
    pub fn implies(self, predicate: Predicate, arguments: &[&Term]) -> Result<usize, BuildError> {
        let head = self.own(predicate, arguments);
        self.complete(|clause| {
            let (predicate, arguments) = head?;
            Ok(clause.implies(predicate, &arguments))
        })
    }

    /// Completes a query, which says that its body never holds, and adds it. Returns its position among the clauses.
    pub fn implies_false(self) -> Result<usize, BuildError> {
        self.complete(|clause| Ok(clause.implies_false()))
    }

    fn own(
        &self,
        predicate: Predicate,
        arguments: &[&Term],
    ) -> Result<(horn::PredicateId, Vec<logic::Term>), ForeignError> {
        if predicate.system != self.builder.id {
            return Err(ForeignError::PREDICATE);
        }
        let arguments: Result<_, _> = arguments.iter().map(|term| self.builder.terms.own(term)).collect();
        Ok((predicate.id, arguments?))
    }

    fn complete(
        self,
        end: impl FnOnce(
            horn::ClauseBuilder<'_, Arc<TermStore>>,
        ) -> Result<Result<usize, horn::BuildError>, ForeignError>,
    ) -> Result<usize, BuildError> {
        if let Some(error) = self.foreign {
            return Err(error.into());
        }
        let mut clause = self.builder.inner.clause();
        if let Some(name) = &self.name {
            clause = clause.named(name);
        }
        if let Some(position) = self.position {
            clause = clause.at(position);
        }
        for (predicate, arguments) in &self.body {
            clause = clause.atom(*predicate, arguments);
        }
        for &constraint in &self.constraints {
            clause = clause.when(constraint);
        }
        let added = end(clause)?;
        added.map_err(|error| self.builder.error(error))
    }
}
