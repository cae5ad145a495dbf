//! The contract between the search and a theory.
//!
//! The search owns the Boolean structure. The theory sees a growing and shrinking set of true literals over its atoms
//! and derives consequences. It reports all of them, as clauses and literals, through [`Answers`]. The scheme is
//! DPLL(T) with lazy explanations (Nieuwenhuis, Oliveras & Tinelli, "Solving SAT and SAT Modulo Theories", JACM 2006).
//!
//! The search guarantees whenever it calls the theory:
//!
//! - C1: [`Theory::assert`] has told the theory true atoms of the trail in trail order: before [`Theory::check`] all of
//!   them, between checks any prefix. Each level of the search is one [`Theory::push_level`]; an atom is asserted at
//!   its level, including atoms that the theory propagated itself.
//! - C2: after a clash or a conflict above level 0, [`Theory::pop_levels`] comes before the next assertion. At level 0
//!   the solver is inconsistent for good, and the theory is not called again.
//!
//! The search relies on:
//!
//! - C3: the literals of a conflict are all true, and contradictory in the theory.
//! - C4: `explain(l, token)` gives literals that were true before `l` was propagated and that imply `l`. This holds
//!   after later assertions as well, until `l`'s level is popped. So a token pins everything the explanation needs.
//! - C5: lemmas are valid in the theory, independently of the current assertions.
//! - C6: a final check without an answer guarantees a model of all asserted literals.
//!
//! The theory of a solver combines others, which keep the same contract individually (`theory/component.rs`).

use rustc_hash::FxHashMap;

use super::Poll;
use super::literal::{Lit, Var};
use super::log::Origin;

/// How thorough a check is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// At each fixpoint of propagation: find cheap consequences. Answering nothing is always allowed.
    Fast,
    /// All decision variables are assigned, or enough of them to make all clauses true: find a reason to continue, or
    /// answer nothing (C6). After a reason to continue, the next final check comes with all of them assigned.
    Final,
}

/// The theory's number for the justification of a conflict, lemma or explanation. The search does not interpret it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Certificate(pub u32);

/// An assertion made the set of assertions contradictory; the next check reports the conflict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clash;

/// A decision procedure for conjunctions of literals. The module documentation has the numbered obligations.
pub trait Theory {
    /// Whether there is a theory. Only [`NoTheory`] returns `false`, and is compiled away.
    #[inline(always)]
    fn is_active() -> bool
    where
        Self: Sized,
    {
        true
    }

    /// Adds a true literal over one of the theory's atoms. This must be cheap: defer work to [`check`](Self::check).
    /// After a [`Clash`] the search asserts nothing more and calls `check`, which must then report the conflict.
    fn assert(&mut self, lit: Lit) -> Result<(), Clash>;

    /// Opens a level.
    fn push_level(&mut self);

    /// Removes the assertions of the last `count` levels and everything derived from them.
    fn pop_levels(&mut self, count: u32);

    /// Looks for consequences of the assertions (C1 holds).
    ///
    /// - A conflict, a propagation, a lemma that is not true yet, or a variable to decide makes the search continue. If
    ///   final checks keep answering only with true lemmas or propagations, the search does not end.
    /// - If a conflict is reported, the search may ignore other propagations of this check: the level is popped.
    /// - A long check polls [`Answers::interrupted`]. If it must end, it answers nothing or gives up.
    fn check(&mut self, effort: Effort, answers: &mut Answers<'_>);

    /// Appends literals that imply the propagated `lit` to `out` (C4). Called at most once for each propagation.
    fn explain(&mut self, lit: Lit, token: u32, out: &mut Vec<Lit>) -> Certificate;

    /// Whether a new true literal, not asserted yet, adds nothing: the theory has a model of all assertions that
    /// satisfies the literal, and needs no check. If so, the search skips this check and asserts the literal before the
    /// next one.
    fn agrees(&mut self, _lit: Lit) -> bool {
        false
    }

    /// Only these certificates, ascending, are still needed. Renumbered ones are updated in the list.
    fn retain_certificates(&mut self, _kept: &mut [Certificate]) {}

    /// The value to try for an unassigned atom, if the theory prefers one.
    fn suggest_phase(&mut self, _atom: Var) -> Option<bool> {
        None
    }
}

/// The theory without atoms, for propositional problems.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoTheory;

impl Theory for NoTheory {
    #[inline(always)]
    fn is_active() -> bool {
        false
    }

    fn assert(&mut self, _lit: Lit) -> Result<(), Clash> {
        Ok(())
    }

    fn push_level(&mut self) {}

    fn pop_levels(&mut self, _count: u32) {}

    fn check(&mut self, _effort: Effort, _answers: &mut Answers<'_>) {}

    fn explain(&mut self, lit: Lit, _token: u32, _out: &mut Vec<Lit>) -> Certificate {
        unreachable!("{lit:?} was propagated by no theory")
    }
}

/// Collects the answers of a theory in a check.
///
/// A combined theory identifies the member that answers by a *mark*: bits that tokens and certificates of its members
/// do not use.
pub struct Answers<'a> {
    pub(super) inbox: &'a mut Inbox,
    pub(super) poll: &'a Poll<'a>,
    pub(super) mark: u32,
}

/// The answers of a theory, until the search has taken them in.
#[derive(Default)]
pub(super) struct Inbox {
    /// Propagated literals with their tokens.
    pub(super) propagations: Vec<(Lit, u32)>,
    /// The literals of all lemmas, consecutively; conflicts are stored negated, as lemmas.
    pub(super) lits: Vec<Lit>,
    pub(super) lemmas: Vec<Lemma>,
    /// For each new variable, whether it is an atom.
    pub(super) new_vars: Vec<bool>,
    /// The number of the first new variable.
    pub(super) first_new: usize,
    /// Variables for which the theory set whether they may be decided.
    pub(super) decisions: Vec<(Var, bool)>,
    /// Variables that become atoms, and those that all models must assign.
    pub(super) atoms: Vec<Var>,
    pub(super) demands: Vec<Var>,
    pub(super) gave_up: bool,
    pub(super) postponed: bool,
}

/// One clause of an [`Inbox`].
#[derive(Clone, Copy)]
pub(super) struct Lemma {
    /// The end of its literals; they start at the end of the previous lemma.
    pub(super) end: usize,
    pub(super) kind: LemmaKind,
    /// Its origin, for the proof log.
    pub(super) origin: Origin,
}

impl Lemma {
    pub(super) fn certificate(&self) -> Option<Certificate> {
        match self.origin {
            Origin::Lemma(certificate) => Some(certificate),
            _ => None,
        }
    }

    pub(super) fn rename_certificate(&mut self, names: &FxHashMap<Certificate, Certificate>) {
        if let Origin::Lemma(certificate) = &mut self.origin {
            *certificate = names[certificate];
        }
    }
}

/// The kind of a clause from the theory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LemmaKind {
    Conflict,
    Lemma,
}

impl Answers<'_> {
    /// Reports that the literal follows from the assertions. [`Theory::explain`] receives `token` if the reason is
    /// needed. Literals that are true already are ignored.
    pub fn propagate(&mut self, lit: Lit, token: u32) {
        self.inbox.propagations.push((lit, self.mark | token));
    }

    /// Reports that the literals, all true now, contradict each other (C3).
    pub fn conflict(&mut self, lits: &[Lit], certificate: Certificate) {
        self.inbox.lits.extend(lits.iter().map(|&lit| !lit));
        self.inbox.end_lemma(LemmaKind::Conflict, Origin::Lemma(self.marked(certificate)));
    }

    /// States a clause that is valid in the theory (C5), over any literals. Lemmas of at most [`KEPT_LEMMA`] literals
    /// are kept for good; longer ones may be forgotten, and a theory that still needs one must state it again in a
    /// later check.
    ///
    /// [`KEPT_LEMMA`]: super::KEPT_LEMMA
    pub fn lemma(&mut self, lits: &[Lit], certificate: Certificate) {
        self.clause(lits, Origin::Lemma(self.marked(certificate)));
    }

    /// As [`lemma`](Self::lemma), for a clause that holds by definition of its symbols.
    pub fn definition(&mut self, lits: &[Lit]) {
        self.clause(lits, Origin::Definition);
    }

    fn clause(&mut self, lits: &[Lit], origin: Origin) {
        self.inbox.lits.extend_from_slice(lits);
        self.inbox.end_lemma(LemmaKind::Lemma, origin);
    }

    /// Sets the mark of the member that answers from now on.
    pub(crate) fn set_mark(&mut self, mark: u32) {
        self.mark = mark;
    }

    fn marked(&self, Certificate(number): Certificate) -> Certificate {
        Certificate(self.mark | number)
    }

    /// The next new variable. Two calls delimit the variables created between them.
    pub(crate) fn next_var(&self) -> Var {
        Var::from_index(self.inbox.first_new + self.inbox.new_vars.len())
    }

    /// A new variable that is not an atom.
    pub fn new_var(&mut self) -> Var {
        self.add_var(false)
    }

    /// A new atom of the theory.
    pub fn new_atom(&mut self) -> Var {
        self.add_var(true)
    }

    /// Sets whether the search must assign the variable from now on, as [`set_decision`](super::Solver::set_decision)
    /// does.
    pub fn set_decision(&mut self, var: Var, decide: bool) {
        self.inbox.decisions.push((var, decide));
    }

    /// Makes the variable an atom from now on. Not within checks.
    pub fn make_atom(&mut self, var: Var) {
        self.inbox.atoms.push(var);
    }

    /// Makes all models assign the decision variable, including partial ones. Not within checks.
    pub fn demand_value(&mut self, var: Var) {
        self.inbox.demands.push(var);
    }

    /// The theory has an answer that needs more than literals. The search pauses at the next fixpoint, and the caller then
    /// asks the theory for it. If a conflict comes first, the theory must repeat this in a later check.
    pub fn postpone(&mut self) {
        self.inbox.postponed = true;
    }

    /// In a final check: the theory cannot decide whether the assertions have a model.
    pub fn give_up(&mut self) {
        self.inbox.gave_up = true;
    }

    /// Whether the query must end: a deadline, a memory limit, or a cancellation. Cheap enough for every pivot.
    pub fn interrupted(&self) -> bool {
        self.poll.interruption().is_some()
    }

    /// Whether a conflict was reported.
    pub(crate) fn has_conflict(&self) -> bool {
        self.inbox.has_conflict()
    }

    /// Whether a final check may end with the answers so far: the search continues, or the theory gave up. Propagations
    /// do not count, because they may be true already.
    pub(crate) fn is_decisive(&self) -> bool {
        let Inbox { lemmas, new_vars, decisions, gave_up, postponed, .. } = &*self.inbox;
        let grown = !new_vars.is_empty() || decisions.iter().any(|&(_, decide)| decide);
        grown || !lemmas.is_empty() || *gave_up || *postponed
    }

    fn add_var(&mut self, is_atom: bool) -> Var {
        self.inbox.new_vars.push(is_atom);
        Var::from_index(self.inbox.first_new + self.inbox.new_vars.len() - 1)
    }
}

/// Runs a theory's answers without a search.
#[cfg(test)]
pub(crate) fn with_answers<R>(answer: impl FnOnce(&mut Answers<'_>) -> R) -> R {
    let limits = super::Limits::default();
    answer(&mut Answers { inbox: &mut Inbox::default(), poll: &Poll::new(&limits), mark: 0 })
}

impl Inbox {
    /// Clears the answers from outside of a search.
    pub(super) fn clear(&mut self) {
        let Inbox { lits, lemmas, new_vars, decisions, atoms, demands, .. } = self;
        lits.clear();
        lemmas.clear();
        new_vars.clear();
        decisions.clear();
        atoms.clear();
        demands.clear();
    }

    /// Whether a conflict was reported.
    pub(super) fn has_conflict(&self) -> bool {
        self.lemmas.iter().any(|lemma| lemma.kind == LemmaKind::Conflict)
    }

    /// Makes a lemma of the literals after the previous one.
    pub(super) fn end_lemma(&mut self, kind: LemmaKind, origin: Origin) {
        self.lemmas.push(Lemma { end: self.lits.len(), kind, origin });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_run::Limits;

    #[test]
    fn conflicts_are_stored_as_clauses_and_new_variables_are_counted_on() {
        let mut inbox = Inbox { first_new: 5, ..Inbox::default() };
        let limits = Limits::default();
        let mut answers = Answers { inbox: &mut inbox, poll: &Poll::new(&limits), mark: 0 };
        let x = answers.new_atom();
        let y = answers.new_var();
        assert_eq!((x.index(), y.index()), (5, 6));
        answers.conflict(&[x.positive(), y.negative()], Certificate(0));
        assert!(!answers.interrupted());
        assert_eq!(inbox.new_vars, [true, false]);
        assert_eq!(inbox.lits, [x.negative(), y.positive()]);
        assert_eq!(inbox.lemmas[0].kind, LemmaKind::Conflict);
    }
}
