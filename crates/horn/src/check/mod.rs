//! The checker: whether a witness proves its answer.
//!
//! It knows clauses, witnesses and a fresh solver, and nothing of the engines and transformations that the witness came
//! from. [`check_model`] and [`check_refutation`] judge witnesses of the clauses as the user wrote them; an answer is
//! given only if they find its witness valid. [`check_graph_model`] and [`check_derivation`] do the same on a graph:
//! that is how each transformation and each engine is tested by itself.
//!
//! - A model is right if no clause has a counterexample: for each clause, the solver refutes that the constraint and the
//!   definitions of the body hold and the definition of the head does not. What it calls a
//!   counterexample is evaluated before it is believed. With [`Trust::Proofs`] it has to prove what it refutes, and the
//!   steps of the proof are replayed.
//! - A refutation is right if each step is a ground instance of its clause with the facts of its premises in the body.
//!   That is evaluation. A solver is asked only where a clause has variables of declared sorts: such a sort may have a
//!   single element, so that two elements which are written differently need not be different.
//!
//! What SMT-LIB leaves to the interpretation, as division by zero and declared functions, has no value in a refutation:
//! the refutation has to hold for all of them, and a step that depends on one is refused. A model has to hold for some
//! only, but is checked to hold for all.

mod graph;
mod model;
mod refutation;

use std::fmt;

use rustc_hash::FxHashSet;
use shofar_logic::{Sort, Term, TermStore, Value};
use shofar_run::Stop;

use crate::Context;
use crate::system::{HornSystem, PredicateId};
use crate::witness::Witness;

pub use graph::{check_derivation, check_graph_model};
pub use model::{Trust, check_model};
pub use refutation::check_refutation;

/// Why the solver's proof is not accepted though nothing in it is wrong.
const UNSHOWN: &str = "it could not be shown that the clauses of the solver follow from the formulas";

/// Whether a witness proves its answer; the solver has to give proofs. Quantifiers in models are eliminated first.
pub fn check_witness(context: &Context<'_>, system: &HornSystem, witness: &Witness) -> Validity {
    checked(context, system, witness.clone()).map_or_else(|validity| validity, |_| Validity::Valid)
}

/// The witness without quantifiers, if it proves its answer; otherwise what the checker says.
pub fn checked(context: &Context<'_>, system: &HornSystem, witness: Witness) -> Result<Witness, Validity> {
    let (witness, validity) = match witness {
        Witness::Model(model) => {
            let model = model.without_quantifiers(context).map_err(Validity::Unknown)?;
            let validity = check_model(context, system, &model, Trust::Proofs);
            (Witness::Model(model), validity)
        }
        Witness::Refutation(refutation) => {
            let validity = check_refutation(context, system, &refutation);
            (Witness::Refutation(refutation), validity)
        }
    };
    if validity == Validity::Valid { Ok(witness) } else { Err(validity) }
}

/// What the checker says about a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Validity {
    /// The witness proves its answer.
    Valid,
    /// The witness proves nothing.
    Invalid(Fault),
    /// The check could not be finished.
    Unknown(Stop),
}

/// What is wrong with a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The model violates a clause.
    Violated {
        /// The clause, by its position in the system.
        clause: usize,
        /// Values of the clause's variables for which body and constraint hold, but not the head.
        counterexample: Vec<(Term, Value)>,
    },
    /// What the model says about a predicate is not a definition of it.
    Definition {
        /// The predicate.
        predicate: PredicateId,
        /// What is wrong.
        message: String,
    },
    /// A step of the refutation does not follow.
    Step {
        /// The step, by its position.
        step: usize,
        /// What is wrong.
        message: String,
    },
    /// A step of the refutation holds for some interpretations only of what is left open, as division by zero: whether
    /// the clauses have a model is not decided by it.
    Open {
        /// The step, by its position.
        step: usize,
        /// What it depends on.
        message: String,
    },
    /// The witness as a whole is none, whatever its parts are.
    Shape(String),
}

impl Fault {
    /// The fault in words, with clauses as they are written.
    pub fn display<'a>(&'a self, store: &'a TermStore, system: &'a HornSystem) -> DisplayFault<'a> {
        DisplayFault { fault: self, store, system }
    }
}

/// A fault to be printed; see [`Fault::display`].
#[derive(Clone, Copy)]
pub struct DisplayFault<'a> {
    fault: &'a Fault,
    store: &'a TermStore,
    system: &'a HornSystem,
}

impl fmt::Display for DisplayFault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            Fault::Violated { clause, counterexample } => {
                write!(f, "the model violates {}", self.system.clause_title(self.store, *clause))?;
                for (variable, value) in counterexample {
                    let (variable, value) = (self.store.display(*variable), self.store.display_value(value));
                    write!(f, "\n  {variable} = {value}")?;
                }
                Ok(())
            }
            Fault::Definition { predicate, message } => {
                let name = self.store.fun_decl(self.system.fun(*predicate)).name;
                write!(f, "the definition of {}: {message}", self.store.display_symbol(name))
            }
            Fault::Step { step, message } | Fault::Open { step, message } => {
                write!(f, "step {}: {message}", step + 1)
            }
            Fault::Shape(message) => f.write_str(message),
        }
    }
}

/// Knows which values are proper ones.
#[derive(Default)]
struct Values {
    /// Terms that were found to be canonical, and are not looked at again.
    known: FxHashSet<Term>,
}

impl Values {
    /// Whether these are values of these sorts. A term that is not canonical is no value: it would differ from its
    /// equals.
    fn fit(&mut self, store: &TermStore, values: &[Value], sorts: &[Sort]) -> bool {
        values.len() == sorts.len()
            && values.iter().zip(sorts).all(|(value, &sort)| self.fits(store, value, sort))
    }

    fn fits(&mut self, store: &TermStore, value: &Value, sort: Sort) -> bool {
        let is_canonical = match value {
            Value::Bool(_) | Value::Int(_) | Value::Real(_) => true,
            Value::BitVec { .. } => store.term_to_value(store.value_to_term(value)).as_ref() == Some(value),
            Value::Term(term) => {
                self.known.contains(term)
                    || store.term_to_value(*term).as_ref() == Some(value) && self.known.insert(*term)
            }
        };
        is_canonical && store.value_sort(value) == sort
    }
}
