//! Model-based projection: elimination of variables around a model.
//!
//! Given a formula, a model of it and variables, [`Projector::project`] computes a cube (a conjunction of literals)
//! without the variables that
//!
//! - P1: implies that values for the variables exist with which the formula is true,
//! - P2: is true in the model,
//! - P3: is one of finitely many for the formula, over all its models. The one exception is reported:
//!   [`Projection::by_value`].
//!
//! So a projection is a cheap part of the exact elimination, the part around the model. Projecting model after model
//! until none is left gives the exact elimination: [`eliminate`](fn@eliminate) does that.
//!
//! ```text
//! implicant        a cube that implies the formula, by the model                        implicant.rs
//! truth values     Bool and bit-vector variables become their values
//! definitions      x = t for sorts other than numbers                                   definition.rs
//! datatypes        variables become constructor terms by the model, or are dropped      datatypes.rs
//! arrays           variables become writes to other arrays, or elements                 arrays.rs
//! numbers          linear constraints; reals, then integers                             arith.rs, lra.rs, lia.rs
//! ```
//!
//! Each step gives a cube that implies the existence of the variables it eliminates (P1) and is true in the model,
//! extended if a step adds new variables (P2); debug builds check the latter. Datatypes and arrays take turns, because one
//! can contain the other. Variables of declared sorts are eliminated if an equality defines them. If a variable cannot
//! be eliminated, the result is an error.
//!
//! Literals are normal terms of the store; divisibility is `(= (mod t k) c)`.
//!
//! Model-based projection comes from Komuravelli, Gurfinkel & Chaki, "SMT-based model checking for recursive programs"
//! (CAV 2014), for integers and mixed formulas from Bjørner & Janota, "Playing with quantified satisfaction" (LPAR
//! 2015).

mod arith;
mod arrays;
mod constraint;
mod context;
mod cooper;
pub(crate) mod cube;
mod datatypes;
pub(crate) mod definition;
mod eliminate;
mod fresh;
mod implicant;
mod lia;
mod lra;

use std::fmt;

use shofar_logic::{Assignment, EvalError, Sort, SortKind, Substitution, Term, TermStore};

use crate::purify::Unsupported;
use arith::{Obstacle, System};
use context::Context;
use fresh::Fresh;
use implicant::Implicant;
use shofar_run::Stop;

pub use cube::{implies as cube_implies, simplify as simplify_cube};
pub use eliminate::{Bounds, Elimination, Status, eliminate, eliminate_forall};

/// A cube without the eliminated variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Projection {
    /// The literals, in normal form, each once.
    pub literals: Vec<Term>,
    /// Whether a variable was replaced by its value: an integer with too many residues, a variable in a selection from a
    /// term of another constructor, or in an index of an array that stays. Then projecting all models need not end.
    pub by_value: bool,
}

impl Projection {
    /// The conjunction of the literals.
    pub fn formula(&self, store: &TermStore) -> Term {
        store.and(&self.literals)
    }
}

/// Why a projection is not possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProjectError {
    /// The formula is false in the model.
    NotSatisfied(Term),
    /// The model does not define a value that matters.
    NoValue(EvalError),
    /// A variable to eliminate occurs in this term, and no method applies.
    Buried(Term),
    /// Only variables and declared constants can be eliminated.
    NotAVariable(Term),
    /// The solver that finds models does not support the formula.
    Unsupported(Unsupported),
}

impl ProjectError {
    /// The term at fault.
    pub fn term(self) -> Term {
        match self {
            ProjectError::NotSatisfied(term)
            | ProjectError::Buried(term)
            | ProjectError::NotAVariable(term) => term,
            ProjectError::NoValue(error) => error.term(),
            ProjectError::Unsupported(unsupported) => unsupported.term,
        }
    }

    /// Displays the error with its term.
    pub fn display(self, store: &TermStore) -> impl fmt::Display {
        let term = store.display(self.term());
        match self {
            ProjectError::NotSatisfied(_) => format!("the model does not satisfy {term}"),
            ProjectError::NoValue(error) => error.display(store).to_string(),
            ProjectError::Buried(_) => format!("no method eliminates the variables in {term}"),
            ProjectError::NotAVariable(_) => format!("{term} is neither a variable nor a constant"),
            ProjectError::Unsupported(unsupported) => format!("{} in {term}", unsupported.feature),
        }
    }

    /// The reason why a computation that needs the projection ends: the formula, or an invalid request.
    pub fn stop(self, store: &TermStore) -> Stop {
        let what = self.display(store).to_string();
        match self {
            ProjectError::Buried(_) | ProjectError::Unsupported(_) | ProjectError::NoValue(_) => {
                Stop::Unsupported(what)
            }
            ProjectError::NotSatisfied(_) | ProjectError::NotAVariable(_) => Stop::Internal(what),
        }
    }
}

/// The error without its term, for which [`ProjectError::display`] needs the store.
impl fmt::Display for ProjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProjectError::NotSatisfied(_) => f.write_str("the model does not satisfy the formula"),
            ProjectError::NoValue(error) => error.fmt(f),
            ProjectError::Buried(_) => f.write_str("no method eliminates a variable"),
            ProjectError::NotAVariable(_) => {
                f.write_str("a term to eliminate is neither a variable nor a constant")
            }
            ProjectError::Unsupported(unsupported) => unsupported.fmt(f),
        }
    }
}

impl std::error::Error for ProjectError {}

/// Projects formulas of one store.
pub struct Projector<'a> {
    store: &'a TermStore,
    /// Symbols for quotients that live during one projection only.
    spare: Vec<Term>,
    /// Symbols for parts of datatypes and arrays that live during one projection only.
    fresh: Fresh,
}

impl<'a> Projector<'a> {
    /// A projector for formulas of this store.
    pub fn new(store: &'a TermStore) -> Self {
        Projector { store, spare: Vec::new(), fresh: Fresh::default() }
    }

    /// Literals that are true in the model and imply the formula. The formula must be quantifier-free, and may be as
    /// written or normal. The model satisfies it; symbols without a value have the default one. Literals without the
    /// given variables are preferred.
    pub fn implicant(
        &mut self,
        formula: Term,
        model: &Assignment,
        vars: &[Term],
    ) -> Result<Vec<Term>, ProjectError> {
        let literals = implicant(&mut Context::new(self.store, model, vars), &[formula]);
        let mut literals = match completed(self.store, &[formula], model, literals.as_ref().err()) {
            Some(model) => implicant(&mut Context::new(self.store, &model, vars), &[formula]),
            None => literals,
        }?;
        cube::simplify(self.store, &mut literals);
        Ok(literals)
    }

    /// A cube without the variables (variables or declared constants) that is true in the model and implies that some
    /// values of the variables make the formula true. The requirements on formula and model are those of
    /// [`implicant`](Self::implicant).
    pub fn project(
        &mut self,
        formula: Term,
        model: &Assignment,
        vars: &[Term],
    ) -> Result<Projection, ProjectError> {
        self.project_cube(&[formula], model, vars)
    }

    /// As [`project`](Self::project) for the conjunction of `literals`, which may be any formulas.
    pub fn project_cube(
        &mut self,
        literals: &[Term],
        model: &Assignment,
        vars: &[Term],
    ) -> Result<Projection, ProjectError> {
        if let Some(&other) = vars.iter().find(|&&var| !self.store.is_symbol(var)) {
            return Err(ProjectError::NotAVariable(other));
        }
        let projected = self.project_within(literals, model, vars);
        match completed(self.store, literals, model, projected.as_ref().err()) {
            Some(model) => self.project_within(literals, &model, vars),
            None => projected,
        }
    }

    /// Projects with a model that gives values to all symbols that matter.
    fn project_within(
        &mut self,
        literals: &[Term],
        model: &Assignment,
        vars: &[Term],
    ) -> Result<Projection, ProjectError> {
        let store = self.store;
        let mut context = Context::new(store, model, vars);
        let mut literals = implicant(&mut context, literals)?;
        fix_values(&mut context, &mut literals)?;
        apply_definitions(&mut context, &mut literals)?;
        self.fresh.restart();
        datatypes::eliminate(&mut context, &mut literals, &mut self.fresh)?;
        while arrays::eliminate(&mut context, &mut literals, &mut self.fresh)?
            || arrays::fix_index(&mut context, &mut literals)?
        {
            datatypes::eliminate(&mut context, &mut literals, &mut self.fresh)?;
        }
        let mut projection = eliminate_numbers(&mut context, literals, &mut self.spare)?;
        projection.by_value |= context.by_value;
        cube::simplify(store, &mut projection.literals);
        if cfg!(debug_assertions) {
            for &literal in &projection.literals {
                debug_assert!(!context.mentions(literal), "a variable is left");
                debug_assert_eq!(context.truth(literal), Ok(true), "P2 for {}", store.display(literal));
            }
        }
        Ok(projection)
    }
}

/// Whether each variable of the sort can be eliminated, whatever the literals are, unless a declared function is
/// applied to it.
pub fn supports_sort(store: &TermStore, sort: Sort) -> bool {
    datatypes::sorts_within(store, sort).into_iter().all(|part| match store.sort_kind(part) {
        SortKind::Bool | SortKind::Int | SortKind::Real => true,
        SortKind::Array(..) | SortKind::Datatype(_) => true,
        // Only by their values, and the solver that finds models does not support them.
        SortKind::BitVec(_) => false,
        // Only if an equality defines them.
        SortKind::Uninterpreted(..) => false,
    })
}

/// [`Projector::project`] for a single use.
pub fn project(
    store: &TermStore,
    formula: Term,
    model: &Assignment,
    vars: &[Term],
) -> Result<Projection, ProjectError> {
    Projector::new(store).project(formula, model, vars)
}

/// [`Projector::project_cube`] for a single use.
pub fn project_cube(
    store: &TermStore,
    literals: &[Term],
    model: &Assignment,
    vars: &[Term],
) -> Result<Projection, ProjectError> {
    Projector::new(store).project_cube(literals, model, vars)
}

/// The model with default values for the symbols of the formulas, if the error is a symbol without a value.
fn completed(
    store: &TermStore,
    formulas: &[Term],
    model: &Assignment,
    error: Option<&ProjectError>,
) -> Option<Assignment> {
    let Some(ProjectError::NoValue(EvalError::Unassigned(missing))) = error else { return None };
    if !store.is_symbol(*missing) {
        return None;
    }
    let mut completed = model.clone();
    for term in store.subterms(formulas) {
        if store.is_symbol(term) && model.get(term).is_none() {
            completed.set(term, store.default_value(store.sort_of(term)));
        }
    }
    Some(completed)
}

/// A cube that implies the formulas.
fn implicant(context: &mut Context<'_, '_>, formulas: &[Term]) -> Result<Vec<Term>, ProjectError> {
    let mut implicant = Implicant::default();
    implicant.add(context, formulas)?;
    Ok(implicant.into_literals())
}

/// Replaces `Bool` and bit-vector variables by their values. There are finitely many (P3).
fn fix_values(context: &mut Context<'_, '_>, literals: &mut Vec<Term>) -> Result<(), ProjectError> {
    let store = context.store;
    let is_finite = |var: &Term| match store.sort_kind(store.sort_of(*var)) {
        SortKind::Bool | SortKind::BitVec(_) => true,
        SortKind::Int | SortKind::Real => false,
        SortKind::Array(..) | SortKind::Datatype(_) | SortKind::Uninterpreted(..) => false,
    };
    let mut fixed = Substitution::new();
    for &var in context.vars.iter().filter(|var| is_finite(var)) {
        // A variable without a value occurs nowhere: the literals have values.
        if let Ok(value) = context.evaluator.eval(var) {
            fixed.insert(var, store.value_to_term(&value));
        }
    }
    if fixed.is_empty() {
        return Ok(());
    }
    substitute(context, literals, &fixed)
}

/// Replaces variables by terms. The terms have the values of the variables, so the model still chooses if the results
/// are not literals.
fn substitute(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
    substitution: &Substitution,
) -> Result<(), ProjectError> {
    let concerned: Vec<Term> = literals.extract_if(.., |literal| context.mentions(*literal)).collect();
    let images = context.store.instantiate_all(&concerned, substitution);
    let mut changed = Vec::new();
    for (literal, image) in concerned.into_iter().zip(images) {
        if image == literal { literals.push(literal) } else { changed.push(image) }
    }
    literals.extend(implicant(context, &changed)?);
    Ok(())
}

/// Replaces a literal by formulas that are true in the model.
fn replace(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
    position: usize,
    formulas: &[Term],
) -> Result<(), ProjectError> {
    literals.remove(position);
    literals.extend(implicant(context, formulas)?);
    Ok(())
}

/// Eliminates variables that are neither numbers nor truth values, if equalities define them.
fn apply_definitions(context: &mut Context<'_, '_>, literals: &mut Vec<Term>) -> Result<(), ProjectError> {
    let store = context.store;
    let has_definition = |sort: Sort| !sort.is_arithmetic() && sort != Sort::BOOL;
    let vars = context.vars.iter().copied().filter(|&var| has_definition(store.sort_of(var)));
    for var in vars.collect::<Vec<Term>>() {
        define(context, literals, var)?;
    }
    Ok(())
}

/// Replaces the variable by a term that a literal equates with it. Returns whether there is one.
fn define(context: &mut Context<'_, '_>, literals: &mut Vec<Term>, var: Term) -> Result<bool, ProjectError> {
    let store = context.store;
    let found = literals
        .iter()
        .enumerate()
        .find_map(|(position, &literal)| Some((position, definition::definition(store, literal, var)?)));
    let Some((position, term)) = found else { return Ok(false) };
    literals.remove(position);
    substitute(context, literals, &Substitution::from_iter([(var, term)]))?;
    Ok(true)
}

/// Eliminates numbers, and thereby all remaining variables.
fn eliminate_numbers(
    context: &mut Context<'_, '_>,
    mut literals: Vec<Term>,
    spare: &mut Vec<Term>,
) -> Result<Projection, ProjectError> {
    loop {
        let (concerned, mut kept): (Vec<Term>, Vec<Term>) =
            literals.iter().partition(|&&literal| context.mentions(literal));
        let mut system = System::new(context, spare);
        let buried = match concerned.iter().try_for_each(|&literal| system.add_literal(literal)) {
            Ok(()) => {
                let (results, by_value) = system.solve()?;
                kept.extend(results);
                return Ok(Projection { literals: kept, by_value });
            }
            Err(Obstacle::Buried(term)) => term,
            Err(Obstacle::Error(error)) => return Err(error),
        };
        // A definition reaches the variables inside. Each round eliminates one, so this ends.
        let inside = context.store.subterms(&[buried]).into_iter().filter(|&part| context.is_variable(part));
        let mut inside = inside.collect::<Vec<Term>>().into_iter();
        loop {
            let var = inside.next().ok_or(ProjectError::Buried(buried))?;
            if define(context, &mut literals, var)? {
                break;
            }
        }
    }
}
