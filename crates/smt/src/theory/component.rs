//! The interface of a theory in a combination, beyond its contract with the search.
//!
//! A solver has a list of theories, each with a [`TheoryId`]: its position in the list. The id is stored in the upper
//! bits of tokens and certificates (`combination.rs`), and a variable of the search has a set of ids, its *owners*.
//! Congruence is always present and comes first, as the hub of the others. Each theory keeps the contract C1 to C6 with
//! the search for the atoms that it owns, and in addition:
//!
//! - C7: it *owns* sorts. It defines the atoms whose arguments have an owned sort, gives a [`Handle`] to each shared
//!   term of the sort, and provides the values of the sort in models.
//! - C8: after a final check of its own without an answer it has a *candidate*: a value for each shared term. If
//!   candidates do not fit together, it gets an equality of two shared terms as a new atom, and must respect it from
//!   then on.
//! - C9: a variable that it made has a formula. Each certificate has a justification that the proof checker
//!   understands.
//! - C10: levels are opened only for assertions: a level of the theory is one of the search in which, or above which,
//!   something was asserted to it. So a theory without atoms is never called.
//!
//! **New atoms and terms** come in two ways. An atom over known terms is a new variable of the search, made within a
//! check. A clause with new terms is a [`TermLemma`], over formulas: the theory [postpones] its answer, the search
//! pauses, and the solver turns the formulas into clauses like any others. So all theories learn the new terms, models
//! have values for them, and proofs have their meaning.
//!
//! [postpones]: crate::sat::Answers::postpone

use shofar_logic::{Sort, Term, TermStore, Value};

use crate::cnf::{Clauses, Cnf};
use crate::proof::Justification;
use crate::relevance::{Relevance, Scope};
use crate::sat::{Answers, Certificate, Lit, Theory, Var};

/// The position of a theory in the list of a solver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TheoryId(pub(super) u8);

/// The greatest number of theories of a solver: their sets are bytes.
pub const MOST_THEORIES: usize = 8;

/// The bits of tokens and certificates that theories may use.
const OWN_BITS: u32 = 29;

impl TheoryId {
    /// Equality with functions.
    pub const CONGRUENCE: TheoryId = TheoryId(0);

    /// The upper bits of the theory's tokens and certificates.
    pub(super) fn mark(self) -> u32 {
        u32::from(self.0) << OWN_BITS
    }

    /// The theory of a token or certificate, and the number that the theory sees.
    pub(super) fn of_marked(number: u32) -> (TheoryId, u32) {
        (TheoryId((number >> OWN_BITS) as u8), number & ((1 << OWN_BITS) - 1))
    }

    /// The set of this theory alone.
    pub(super) fn bit(self) -> u8 {
        1 << self.0
    }
}

/// A shared term, as numbered from zero by the theory that owns its sort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Handle(pub u32);

/// A clause of formulas that is valid in a theory (C5), over any terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TermLemma {
    /// The literals: atoms and negations of such. Atoms are normal, but their terms need not be: normalising could lose
    /// terms that the theory asks for.
    pub literals: Vec<Term>,
    /// Why it holds.
    pub certificate: Certificate,
}

/// A theory that can be combined. The module documentation has the numbered obligations.
pub trait Component: Theory + Send {
    /// Whether the theory owns the sort (C7).
    fn owns_sort(&self, store: &TermStore, sort: Sort) -> bool;

    /// Whether the theory knows a symbol.
    fn knows(&self, symbol: Term) -> bool;

    /// Defines a variable as a normal atom, if it is one of this theory: an equality of an owned sort, or another
    /// supported atom. Returns whether it is.
    fn define(&mut self, var: Var, atom: Term, terms: &mut Terms<'_, '_>) -> bool;

    /// The two terms that a normal equality of an owned sort equates, if it has this form.
    fn sides(&self, store: &TermStore, equality: Term) -> Option<(Term, Term)>;

    /// The term that represents all terms of an owned sort that congruence must identify with this one.
    fn representative(&self, _store: &TermStore, term: Term) -> Term {
        term
    }

    /// Whether the representative differs from all others for which this holds.
    fn is_value(&self, _store: &TermStore, _term: Term) -> bool {
        false
    }

    /// Shares a representative.
    fn share(&mut self, store: &TermStore, term: Term) -> Handle;

    /// By handle: a number for the value of the candidate, equal for equal values (C8).
    fn candidate(&self) -> Vec<u32>;

    /// Defines a variable as the equality of two shared terms (C8).
    fn define_equality(&mut self, var: Var, left: Handle, right: Handle, answers: &mut Answers<'_>);

    /// After a final check without an answer: the values of the candidate.
    fn values<'v>(&'v self) -> Box<dyn Values + 'v>;

    /// The lemmas over formulas, after an answer was postponed. Earlier ones may be repeated.
    fn take_lemmas(&mut self, _store: &TermStore) -> Vec<TermLemma> {
        Vec::new()
    }

    /// Starts a query. Appends the variables that the search had to decide in the last query for the theory; it need
    /// not decide them until told again.
    fn start_query(&mut self, _released: &mut Vec<Var>) {}

    /// Stores arguments for proofs from now on.
    fn log_proofs(&mut self);

    /// The formula of a variable that the theory made (C9).
    fn formula(&self, store: &TermStore, var: Var) -> Option<Term>;

    /// The justification of a clause, by its certificate (C9). Each literal is given as its atom and whether it affirms
    /// the atom.
    fn justification(
        &self,
        store: &TermStore,
        certificate: Certificate,
        clause: &[Lit],
        atom: &dyn Fn(Lit) -> (Term, bool),
    ) -> Justification;

    /// Appends its counters, by name.
    fn statistics(&self, _counters: &mut Vec<(&'static str, u64)>) {}
}

/// The values of owned sorts in a model.
pub trait Values {
    /// The value of a symbol of an owned sort, if the theory knows it.
    fn symbol(&self, store: &TermStore, symbol: Term) -> Option<Value>;

    /// The value of a shared term, as a value of the sort.
    fn shared(&self, store: &TermStore, handle: Handle, sort: Sort) -> Value;
}

/// Gives theories the literals of formulas while they define atoms, and lets them state permanent clauses.
pub struct Terms<'t, 'a> {
    store: &'a TermStore,
    cnf: &'t mut Cnf<'a>,
    sink: Sink<'t>,
}

impl<'t, 'a> Terms<'t, 'a> {
    pub(crate) fn new(
        store: &'a TermStore,
        cnf: &'t mut Cnf<'a>,
        relevance: &'t mut Relevance,
        answers: Answers<'t>,
    ) -> Self {
        Terms { store, cnf, sink: Sink { relevance, answers } }
    }

    /// The terms.
    pub fn store(&self) -> &'a TermStore {
        self.store
    }

    /// The interface for clauses and new variables.
    pub fn answers(&mut self) -> &mut Answers<'t> {
        &mut self.sink.answers
    }

    /// The literal of a normal formula, which the search must decide from now on.
    pub fn literal(&mut self, formula: Term) -> Lit {
        self.cnf.literal(formula, &mut self.sink)
    }

    /// The literal of a normal formula, which the search need not decide.
    pub(crate) fn dispensable_literal(&mut self, formula: Term) -> Lit {
        self.cnf.dispensable_literal(formula, &mut self.sink)
    }

    /// The next atom that has a variable but is not defined yet.
    pub(crate) fn next_atom(&mut self) -> Option<(Term, Var)> {
        self.cnf.next_atom()
    }
}

/// Passes definitions of gates to the search.
struct Sink<'t> {
    relevance: &'t mut Relevance,
    answers: Answers<'t>,
}

impl Clauses for Sink<'_> {
    fn new_var(&mut self) -> Var {
        let var = self.answers.new_var();
        self.answers.set_decision(var, false);
        var
    }

    fn define(&mut self, clause: &[Lit]) {
        self.answers.definition(clause);
    }

    fn assert(&mut self, clause: &[Lit]) {
        self.answers.definition(clause);
    }

    fn require(&mut self, var: Var) -> bool {
        let is_news = self.relevance.require(var, Scope::Good);
        if is_news {
            self.answers.set_decision(var, true);
        }
        is_news
    }
}
