//! Certificates of termination and of non-termination.
//!
//! They speak of the clauses as they were read. Functions and choices are terms over the [parameters] of the predicate of a
//! clause's body. Models are models of the systems that [`obligations`](super::obligations) makes of the clauses.
//!
//! [parameters]: shofar_horn::witness::parameters

use shofar_horn::witness::{Model, Refutation};
use shofar_logic::Term;

/// Functions from facts to numbers: for each predicate a list of terms over its parameters.
pub type Ranks = Vec<Vec<Term>>;

/// Why all runs end, or why some run does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Certificate {
    /// All runs end: each step decreases the functions lexicographically.
    Ranking {
        /// The functions, the most significant one first; for each predicate the same number.
        ranks: Ranks,
        /// Facts that include all reachable ones; from them, steps decrease the functions.
        model: Model,
    },
    /// All runs end: whatever happens between two facts of a predicate, some function decreases.
    Disjunctive {
        /// The functions; none for predicates that need not be looked at, because others are on all cycles.
        ranks: Ranks,
        /// The pairs of facts of one run.
        model: Model,
    },
    /// All runs end: a run has at most so many steps as its first fact allows.
    Bound {
        /// The number of steps for each unit of the sum of the first fact's absolute values, and one unit more.
        factor: u32,
        /// Facts with the number of steps that are still allowed.
        model: Model,
    },
    /// A run does not end: it comes back to a fact.
    Lasso {
        /// The run.
        run: Refutation,
        /// The index of the step whose fact is that of the last step, too.
        start: usize,
    },
    /// A run does not end: it reaches a set that it need not leave.
    Recurrence {
        /// The run into the set.
        run: Refutation,
        /// Steps in the set.
        choices: Vec<Choice>,
        /// The set. In each of its facts one of the choices is possible, and all that are possible lead into the set.
        model: Model,
    },
}

/// A clause with its variables chosen by the fact of its body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The index of the clause.
    pub clause: usize,
    /// The facts for which the choice is meant, over the parameters of the predicate of its body.
    pub when: Term,
    /// Terms for the clause's variables, over these parameters.
    pub values: Box<[Term]>,
}

impl Certificate {
    /// The answer that the certificate proves.
    pub fn answer(&self) -> &'static str {
        match self {
            Certificate::Ranking { .. } | Certificate::Disjunctive { .. } | Certificate::Bound { .. } => {
                "terminating"
            }
            Certificate::Lasso { .. } | Certificate::Recurrence { .. } => "nonterminating",
        }
    }

    /// The kind of the argument in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Certificate::Ranking { .. } => "ranking",
            Certificate::Disjunctive { .. } => "disjunctive",
            Certificate::Bound { .. } => "bound",
            Certificate::Lasso { .. } => "lasso",
            Certificate::Recurrence { .. } => "recurrence",
        }
    }
}
