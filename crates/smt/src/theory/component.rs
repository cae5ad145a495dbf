//! What a theory has to offer beside the contract with the search, so that it can be one of several.
//!
//! A solver has a list of theories, each with a [`TheoryId`]: its place in the list. The id stands in the upper bits of
//! tokens and certificates (`combination.rs`), and a variable of the search has a set of ids, its *owners*. Congruence is
//! always there and is the first, the hub at which the others meet. Each theory keeps the contract C1 to C6 with the search
//! for the atoms that it owns, and in addition:
//!
//! - C7: it *owns* sorts. Atoms whose arguments are of an owned sort are defined by it, shared terms of the sort have a
//!   [`Handle`] with it, and models get the values of the sort from it.
//! - C8: after a final check of its own that found nothing it has a *candidate*: a value for each shared term. Where candidates
//!   do not fit together, it is given an equality of two shared terms as a new atom, and has to respect it from then on.
//! - C9: a variable that it made has a formula. Each certificate has a justification that the proof checker understands.
//! - C10: levels are opened only where something is asserted: a level of the theory is one of the search in which, or
//!   above which, it was told something. So a theory without atoms is not called at all.
//!
//! **New atoms and terms** come in two ways. An atom over what the theory knows already is a new variable of the search, made
//! within a check. What mentions new terms is a [`TermLemma`], a clause of formulas: the theory [postpones] its
//! answer, the search pauses, and the solver makes clauses of the formulas as of any others, so that all theories learn of the terms
//! in them, models have values for them, and proofs their meaning.
//!
//! [postpones]: crate::sat::Answers::postpone

use shofar_logic::{Sort, Term, TermStore, Value};

use crate::cnf::{Clauses, Cnf};
use crate::proof::Justification;
use crate::relevance::{Relevance, Scope};
use crate::sat::{Answers, Certificate, Lit, Theory, Var};

/// The place of a theory in the list of a solver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TheoryId(pub(super) u8);

/// How many theories a solver can have: their sets are bytes.
pub const MOST_THEORIES: usize = 8;

/// The bits of tokens and certificates that theories have for themselves.
const OWN_BITS: u32 = 29;

impl TheoryId {
    /// Equality with functions.
    pub const CONGRUENCE: TheoryId = TheoryId(0);

    /// The bits that tokens and certificates of the theory have above its own.
    pub(super) fn mark(self) -> u32 {
        u32::from(self.0) << OWN_BITS
    }

    /// The theory of a token or certificate, and what it is to the theory.
    pub(super) fn of_marked(number: u32) -> (TheoryId, u32) {
        (TheoryId((number >> OWN_BITS) as u8), number & ((1 << OWN_BITS) - 1))
    }

    /// The set with this theory only.
    pub(super) fn bit(self) -> u8 {
        1 << self.0
    }
}

/// What a shared term is to the theory that owns its sort: the theory numbers them from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Handle(pub u32);

/// A clause of formulas that holds in a theory (C5), over any terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TermLemma {
    /// The literals: normal atoms and negations of such.
    pub literals: Vec<Term>,
    /// Why it holds.
    pub certificate: Certificate,
}

/// A theory that can be one of several. The module documentation has the numbered obligations.
pub trait Component: Theory + Send {
    /// Whether the theory owns the sort (C7).
    fn owns_sort(&self, store: &TermStore, sort: Sort) -> bool;

    /// Whether the theory has heard of a symbol.
    fn knows(&self, symbol: Term) -> bool;

    /// Gives a variable the meaning of a normal atom, if it is one of this theory: an equality of an owned sort, or
    /// something else that the theory knows. Returns whether it is.
    fn define(&mut self, var: Var, atom: Term, terms: &mut Terms<'_, '_>) -> bool;

    /// The two terms that a normal equality of an owned sort says equal, where it is one between such terms.
    fn sides(&self, store: &TermStore, equality: Term) -> Option<(Term, Term)>;

    /// The term that stands for all those that congruence is not to tell apart from this one, of an owned sort.
    fn representative(&self, _store: &TermStore, term: Term) -> Term {
        term
    }

    /// Whether the representative is known to differ from all others for which this holds.
    fn is_value(&self, _store: &TermStore, _term: Term) -> bool {
        false
    }

    /// Takes note that a representative is shared.
    fn share(&mut self, store: &TermStore, term: Term) -> Handle;

    /// By handles: numbers for the values of the candidate, equal ones for equal values (C8).
    fn candidate(&self) -> Vec<u32>;

    /// Gives a variable the meaning that two shared terms are equal (C8).
    fn define_equality(&mut self, var: Var, left: Handle, right: Handle, answers: &mut Answers<'_>);

    /// After a final check that found nothing: the values of the candidate.
    fn values<'v>(&'v self) -> Box<dyn Values + 'v>;

    /// What has to be said in formulas, after an answer was postponed. Those that were told before may be told again.
    fn take_lemmas(&mut self, _store: &TermStore) -> Vec<TermLemma> {
        Vec::new()
    }

    /// A query begins. Appends the variables that the search was told to decide in the last one for the sake of the theory:
    /// it need not do so any more until it is told again.
    fn start_query(&mut self, _released: &mut Vec<Var>) {}

    /// Stores arguments for proofs from now on.
    fn log_proofs(&mut self);

    /// What a variable means that the theory made (C9).
    fn formula(&self, store: &TermStore, var: Var) -> Option<Term>;

    /// Why a clause holds, by its certificate (C9). The atom of a literal is given with whether the literal affirms it.
    fn justification(
        &self,
        store: &TermStore,
        certificate: Certificate,
        clause: &[Lit],
        atom: &dyn Fn(Lit) -> (Term, bool),
    ) -> Justification;

    /// Appends what is counted, by name.
    fn statistics(&self, _counters: &mut Vec<(&'static str, u64)>) {}
}

/// The values of owned sorts in a model.
pub trait Values {
    /// The value of a symbol of an owned sort, if the theory has heard of it.
    fn symbol(&self, store: &TermStore, symbol: Term) -> Option<Value>;

    /// The value of a shared term as one of the sort.
    fn shared(&self, store: &TermStore, handle: Handle, sort: Sort) -> Value;
}

/// Where theories find the literals of formulas when they define atoms, and state clauses that hold for good.
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

    /// Where clauses and new variables are told.
    pub fn answers(&mut self) -> &mut Answers<'t> {
        &mut self.sink.answers
    }

    /// The literal of a normal formula, which the search has to decide from now on.
    pub fn literal(&mut self, formula: Term) -> Lit {
        self.cnf.literal(formula, &mut self.sink)
    }

    /// The literal of a normal formula, which the search need not decide.
    pub fn dispensable_literal(&mut self, formula: Term) -> Lit {
        self.cnf.dispensable_literal(formula, &mut self.sink)
    }

    /// The next atom that has a variable but no meaning yet.
    pub(crate) fn next_atom(&mut self) -> Option<(Term, Var)> {
        self.cnf.next_atom()
    }
}

/// Takes definitions of gates to the search.
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
