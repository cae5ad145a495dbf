//! The checker decides whether a witness proves its answer.
//!
//! It knows clauses, witnesses and a fresh solver, and nothing about the engines and transformations behind the
//! witness. [`check_model`] and [`check_refutation`] check witnesses of the user's clauses; an answer is given only if
//! they find its witness valid. [`check_graph_model`] and [`check_derivation`] do the same on a graph, so each
//! transformation and each engine can be tested separately.
//!
//! - A model is valid if no clause has a counterexample: for each clause, the solver refutes that the constraint and
//!   the definitions of the body hold and the definition of the head does not. A counterexample from the solver is
//!   confirmed by evaluation. With [`Trust::Proofs`] the solver must prove each refutation, and the checker replays the
//!   steps of the proof.
//! - A proof by induction is valid if each of its lemmas follows from smaller instances of lemmas, and if the lemmas
//!   contradict the bodies of all queries (`induction.rs`).
//! - A saturation is valid if its clauses cover those of the system, and if ordered resolution derives nothing new from
//!   them (`saturation/`).
//! - A refutation is valid if each step is a ground instance of its clause with the facts of its premises in the body.
//!   Evaluation checks this. Only clauses with variables of declared sorts need a solver: such a sort may have a single
//!   element, so differently named elements need not be different.
//!
//! Models may apply folds, functions by structural recursion. The checker unfolds their definitions, and proves lemmas about them by
//! induction (`folds.rs`). [`export_model`] and [`export_induction`] write what other solvers must prove.
//!
//! Definitions may say something about all elements of arrays. Then clauses are refuted by instances (`universal.rs`).
//!
//! Other quantifiers in constraints and in models are eliminated, and each elimination is confirmed by refutations of formulas
//! without quantifiers (`quantifiers.rs`).
//!
//! Division by zero and declared functions, which SMT-LIB leaves to the interpretation, have no value in a refutation.
//! The refutation must hold for all interpretations, so a step that depends on one is rejected. A model only needs to
//! hold for one interpretation, but is checked for all.

mod automata;
mod export;
mod folds;
mod ghosts;
mod graph;
mod induction;
mod languages;
mod membership;
mod model;
mod numbers;
mod polynomials;
mod quantifiers;
mod refutation;
mod saturation;
mod synchronous;
mod universal;
mod words;

use std::fmt;

use shofar_logic::{KnownValues, Sort, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::proof;
use shofar_smt::solver::Solver;

use crate::Context;
use crate::infix::{Notation, ValueTexts};
use crate::system::{HornSystem, PredicateId};
use crate::witness::{Definition, Interpretation, Model, Witness};

pub use export::{export_induction, export_model};
pub use folds::{contradict, fold_facts};
pub use graph::{check_derivation, check_graph_model};
pub use induction::check_induction;
pub use model::{Trust, check_model};
pub use refutation::check_refutation;
pub use saturation::check_saturation;
pub(crate) use universal::{is_universal, point_instances};

/// The reason to reject a proof of the solver although nothing in it is wrong.
const UNSHOWN: &str = "it could not be shown that the clauses of the solver follow from the formulas";

/// The characters of lists and Peano numbers in counterexamples.
const MOST_CHARACTERS: usize = 80;

/// The witness without quantifiers, if it proves its answer; otherwise the checker's judgement. The solver must give proofs.
pub fn checked(context: &Context<'_>, system: &HornSystem, witness: Witness) -> Result<Witness, Validity> {
    let (witness, validity) = match witness {
        Witness::Model(model) => {
            let model = without_quantifiers(context, model).map_err(Validity::Unknown)?;
            let validity = check_model(context, system, &model, Trust::Proofs);
            (Witness::Model(model), validity)
        }
        Witness::Induction(proof) => {
            let validity = check_induction(context, system, &proof, Trust::Proofs);
            (Witness::Induction(proof), validity)
        }
        Witness::Saturation(proof) => {
            let validity = check_saturation(context, system, &proof, Trust::Proofs);
            (Witness::Saturation(proof), validity)
        }
        Witness::Refutation(refutation) => {
            let validity = check_refutation(context, system, &refutation);
            (Witness::Refutation(refutation), validity)
        }
    };
    if validity == Validity::Valid { Ok(witness) } else { Err(validity) }
}

/// Replays the solver's proof that formulas contradict each other. The proof must be about these formulas alone, without
/// assumptions, and its steps must be right. `refuted` says what the formulas describe.
fn replay(
    context: &Context<'_>,
    solver: &Solver<'_>,
    formulas: &[Term],
    refuted: impl fmt::Display,
) -> Result<(), Stop> {
    let wrong =
        |reason: &str| Stop::Internal(format!("the solver's refutation of {refuted} is none: {reason}"));
    let proof = solver.proof().ok_or_else(|| wrong("there is no proof"))?;
    let are_given = proof.assertions().iter().all(|assertion| formulas.contains(&assertion.formula));
    if !are_given || !proof.assumptions().is_empty() {
        return Err(wrong("it is about other formulas"));
    }
    proof::check_within(context.store, &proof, &context.limits)?.map_err(|fault| match fault.may_hold {
        true => Stop::Exhausted(UNSHOWN),
        false => wrong(&fault.to_string()),
    })
}

/// Whether the checker handles the quantifiers of a definition without eliminating them: ghosts of folds, and indices of arrays.
fn keeps_quantifiers(store: &TermStore, definition: Term) -> bool {
    is_universal(store, definition)
        || ghosts::split(store, definition).is_some() && folds::occur(store, definition)
}

/// The model with formulas that are confirmed to be equivalent and have no quantifiers, except for those that the checker keeps.
fn without_quantifiers(context: &Context<'_>, model: Model) -> Result<Model, Stop> {
    let definition = |definition: Definition| {
        let Interpretation::Formula(formula) = definition.interpretation;
        if keeps_quantifiers(context.store, formula) {
            return Ok(definition);
        }
        let in_front = universal::in_front(context.store, formula);
        if keeps_quantifiers(context.store, in_front) {
            return Ok(Definition { interpretation: in_front.into(), ..definition });
        }
        let formula = quantifiers::without_quantifiers(context, Trust::Proofs, formula)?;
        Ok(Definition { interpretation: formula.into(), ..definition })
    };
    let definitions = model.definitions.into_iter().map(definition);
    Ok(Model { definitions: definitions.collect::<Result<_, Stop>>()?, lemmas: model.lemmas })
}

/// The checker's verdict about a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Validity {
    /// The witness proves its answer.
    Valid,
    /// The witness proves nothing.
    Invalid(Fault),
    /// The check could not be finished.
    Unknown(Stop),
}

/// The fault of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The model violates a clause.
    Violated {
        /// The index of the clause in the system.
        clause: usize,
        /// Values of the clause's variables for which body and constraint hold, but not the head.
        counterexample: Vec<(Term, Value)>,
    },
    /// The model does not define a predicate properly.
    Definition {
        /// The predicate.
        predicate: PredicateId,
        /// The reason.
        message: String,
    },
    /// The model claims a lemma that is false.
    Lemma {
        /// The lemma.
        lemma: Term,
        /// Values of its parameters for which it is false.
        counterexample: Vec<(Term, Value)>,
    },
    /// A lemma of a proof by induction is malformed or not proved.
    Induction {
        /// The index of the lemma.
        lemma: usize,
        /// The reason.
        message: String,
    },
    /// The lemmas of a proof by induction do not contradict the body of a query.
    Query {
        /// The index of the clause in the system.
        clause: usize,
    },
    /// A clause of a saturation is malformed, or a conclusion from it is missing.
    Member {
        /// The index of the clause in the saturation.
        member: usize,
        /// The reason.
        message: String,
    },
    /// The clauses of a saturation do not cover a clause of the system.
    Uncovered {
        /// The index of the clause in the system.
        clause: usize,
        /// Values of its variables for which the constraint holds, but no clause of the saturation applies.
        counterexample: Vec<(Term, Value)>,
    },
    /// A step of the refutation does not follow.
    Step {
        /// The index of the step.
        step: usize,
        /// The reason.
        message: String,
    },
    /// A step of the refutation holds only for some interpretations, for example of division by zero. It does not
    /// decide whether the clauses have a model.
    Open {
        /// The index of the step.
        step: usize,
        /// What it depends on.
        message: String,
    },
    /// The witness as a whole is malformed.
    Shape(String),
}

impl Fault {
    /// Displays the fault, with clauses as they are written.
    pub fn display<'a>(&'a self, store: &'a TermStore, system: &'a HornSystem) -> DisplayFault<'a> {
        DisplayFault { fault: self, store, system }
    }
}

/// The fault without the names of clauses and predicates, for which [`Fault::display`] needs the store and the system.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Violated { clause, .. } => write!(f, "the model violates clause {}", clause + 1),
            Fault::Definition { message, .. } => write!(f, "the definition of a predicate: {message}"),
            Fault::Lemma { .. } => f.write_str("a lemma of the model is false"),
            Fault::Induction { lemma, message } => write!(f, "lemma {}: {message}", lemma + 1),
            Fault::Query { clause } => {
                write!(f, "the lemmas do not contradict the body of clause {}", clause + 1)
            }
            Fault::Member { member, message } => {
                write!(f, "clause {} of the saturation: {message}", member + 1)
            }
            Fault::Uncovered { clause, .. } => {
                write!(f, "the saturation does not cover clause {}", clause + 1)
            }
            Fault::Step { step, message } | Fault::Open { step, message } => {
                write!(f, "step {}: {message}", step + 1)
            }
            Fault::Shape(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Fault {}

/// The display of a fault; see [`Fault::display`].
#[derive(Clone, Copy)]
pub struct DisplayFault<'a> {
    fault: &'a Fault,
    store: &'a TermStore,
    system: &'a HornSystem,
}

impl DisplayFault<'_> {
    /// A line for each variable.
    fn counterexample(&self, values: &[(Term, Value)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [exact, told] =
            [Notation::Smtlib, Notation::Ascii].map(|notation| ValueTexts::new(self.store, notation));
        for (variable, value) in values {
            write!(f, "\n  {} = ", self.store.display(*variable))?;
            // A constant such as `nil` is plain enough.
            if told.is_told(value) && !self.store.args(self.store.value_to_term(value)).is_empty() {
                let [exact, told] = [&exact, &told].map(|texts| texts.text(value, MOST_CHARACTERS));
                write!(f, "{exact}, that is {told}")?;
            } else {
                write!(f, "{}", self.store.display_value(value))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for DisplayFault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            Fault::Violated { clause, counterexample } => {
                write!(f, "the model violates {}", self.system.clause_title(self.store, *clause))?;
                self.counterexample(counterexample, f)
            }
            Fault::Uncovered { clause, counterexample } => {
                let title = self.system.clause_title(self.store, *clause);
                write!(f, "the saturation does not cover {title}")?;
                self.counterexample(counterexample, f)
            }
            Fault::Lemma { lemma, counterexample } => {
                write!(f, "the lemma {} of the model is false", self.store.display(*lemma))?;
                self.counterexample(counterexample, f)
            }
            Fault::Definition { predicate, message } => {
                let name = self.store.fun_decl(self.system.fun(*predicate)).name;
                write!(f, "the definition of {}: {message}", self.store.display_symbol(name))
            }
            Fault::Query { clause } => {
                let title = self.system.clause_title(self.store, *clause);
                write!(f, "the lemmas do not contradict the body of {title}")
            }
            Fault::Induction { .. }
            | Fault::Member { .. }
            | Fault::Step { .. }
            | Fault::Open { .. }
            | Fault::Shape(_) => self.fault.fmt(f),
        }
    }
}

/// Checks that values are well-formed.
#[derive(Default)]
struct Values {
    known: KnownValues,
}

impl Values {
    /// Whether these are values of these sorts. A non-canonical term is not a value, since it would differ from equal
    /// values.
    fn fit(&mut self, store: &TermStore, values: &[Value], sorts: &[Sort]) -> bool {
        values.len() == sorts.len()
            && values.iter().zip(sorts).all(|(value, &sort)| self.fits(store, value, sort))
    }

    fn fits(&mut self, store: &TermStore, value: &Value, sort: Sort) -> bool {
        let is_canonical = match value {
            Value::Bool(_) | Value::Int(_) | Value::Real(_) => true,
            Value::BitVec { .. } => store.term_to_value(store.value_to_term(value)).as_ref() == Some(value),
            Value::Term(term) => self.known.value(store, *term).as_ref() == Some(value),
        };
        is_canonical && store.value_sort(value) == sort
    }
}

#[cfg(test)]
mod tests {
    use shofar_run::Limits;
    use shofar_smt::sat::Outcome;

    use super::*;

    #[test]
    fn a_proof_counts_for_its_own_formulas_only() {
        let store = TermStore::new();
        let context = Context { store: &store, limits: Limits::default() };
        let x = store.var(store.symbol("x"), Sort::INT);
        let [low, high] = [store.le(x, store.int(0)), store.le(store.int(1), x)];
        let replayed = |asserted: &[Term], assumed: &[Term], formulas: &[Term]| {
            let mut solver = Solver::with_proofs(&store);
            solver.assert_all(asserted).unwrap();
            assert_eq!(solver.check(assumed, &context.limits), Ok(Outcome::Unsat));
            replay(&context, &solver, formulas, "nothing")
        };
        assert_eq!(replayed(&[low, high], &[], &[low, high]), Ok(()));
        assert!(matches!(replayed(&[low, high], &[], &[low]), Err(Stop::Internal(_))));
        assert!(matches!(replayed(&[low], &[high], &[low]), Err(Stop::Internal(_))));
        assert!(matches!(replayed(&[low], &[high], &[low, high]), Err(Stop::Internal(_))));
    }
}
