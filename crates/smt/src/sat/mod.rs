//! Boolean satisfiability modulo a theory: conflict-driven clause learning for many small incremental queries.
//!
//! A query asks whether an assignment satisfies all clauses and some assumptions, modulo a theory that may interpret
//! some of the variables. The search assigns literals one at a time and propagates. When a clause becomes false, it
//! learns a clause that would have prevented the conflict, and jumps back:
//!
//! ```text
//! loop
//!     interrupted?                          give up                      limits.rs
//!     propagate                             clauses, then the theory     propagate.rs, intake.rs
//!     conflict?                             analyze, backtrack, learn    analyze.rs, chrono.rs
//!     restarting?  reducing?                                             restart.rs, reduce.rs
//!     next decision:  an assumption         failed? find the core        assumptions.rs
//!                     for an open clause    before the first conflict    cover.rs
//!                     a free variable       afterwards                   decide.rs
//!                     none is left          ask the theory; satisfiable
//! ```
//!
//! Each file numbers its invariants: A (clauses), B (blocks of watches), T (trail), L (late literals), D (decisions), K
//! (covering), W (watches), F (frames), P (the proof log), C (the contract with the theory).
//! [`Solver::check_invariants`] checks them.
//!
//! **Why the answers are right.** Every learnt clause is a resolvent of clauses and explanations, so level 0 holds in
//! all models. A failed assumption is false by resolution from the core alone. At a fixpoint no clause is false (W2),
//! so a complete assignment satisfies all of them, and the theory guarantees a model of its literals (C6).
//!
//! The architecture is that of MiniSat (Eén & Sörensson, "An Extensible SAT-solver", SAT 2003); each file names the
//! source of its technique. Between queries the solver keeps the trail, as far as assumptions agree, because our
//! queries are many, small, and differ in their last assumptions. There is no preprocessing, since clauses may arrive
//! at any time.
//!
//! Runs are deterministic: the same calls give the same answers, models and cores, unless a clock or a cancel flag
//! interferes.
//!
//! ```
//! use shofar_smt::sat::{Outcome, Solver};
//!
//! let mut solver = Solver::new();
//! let (x, y) = (solver.new_var(), solver.new_var());
//! solver.add_clause(&[x.positive(), y.positive()]);
//! assert_eq!(solver.solve(&[x.negative()]), Outcome::Sat);
//! assert_eq!(solver.value(y), Some(true));
//! assert_eq!(solver.solve(&[x.negative(), y.negative()]), Outcome::Unsat);
//! assert_eq!(solver.core().len(), 2);
//! ```

mod literal;
mod theory;

mod clause;
mod trail;
mod watches;

mod analyze;
mod assumptions;
mod chrono;
mod cover;
mod decide;
mod intake;
mod limits;
mod log;
mod propagate;
mod reduce;
mod restart;

mod check;

pub use limits::Statistics;
pub use literal::{Lit, Var};
pub use log::{LoggedRule, LoggedStep, Origin};
#[cfg(test)]
pub(crate) use theory::with_answers;
pub use theory::{Answers, Certificate, Clash, Effort, NoTheory, Theory};

use analyze::Analysis;
use assumptions::Frames;
use chrono::Late;
use clause::{Arena, ClauseRef};
use cover::Cover;
use decide::Order;
use limits::Budget;
use log::Log;
use propagate::Propagation;
use reduce::Reductions;
use restart::Restarts;
use shofar_run::{Limits, Poll, Reason};
use theory::Inbox;
use trail::{Antecedent, Trail};
use watches::Watches;

/// Lemmas of at most this many literals are never forgotten.
pub const KEPT_LEMMA: u32 = 8;

/// Conflicts per promoted variable. Refuting the negated equality of a diamond takes two.
const PROMOTION: u64 = 8;

/// The number of variables that the first one reserves space for. The engines make many solvers for a few variables
/// each, and growing the vectors in small steps would be most of their work.
const FIRST_ROOM: usize = 16;

/// The answer to a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Satisfiable; [`Solver::value`] reads the model.
    Sat,
    /// Unsatisfiable; [`Solver::core`] returns the assumptions at fault.
    Unsat,
    /// The search gave up.
    Unknown(Reason),
}

/// A satisfiability solver with a theory.
pub struct Solver<T: Theory = NoTheory> {
    // The problem.
    /// All clauses, including learnt clauses and lemmas.
    arena: Arena,
    watches: Watches,
    /// Learnt clauses and lemmas.
    redundant: Vec<ClauseRef>,
    theory: T,
    /// By variables: whether it is an atom: the theory learns its value.
    is_atom: Vec<bool>,
    /// The assumptions of the trail's levels: those of the frames, then the caller's.
    assumptions: Vec<Lit>,
    frames: Frames,
    /// Whether no contradiction is known at level 0.
    consistent: bool,

    // The search.
    trail: Trail,
    late: Late,
    order: Order,
    cover: Cover,
    restarts: Restarts,
    /// The number of conflicts at which promoted variables are demoted.
    demotion: u64,
    reductions: Reductions,
    /// The number of literals at level 0 when satisfied clauses were last removed.
    cleaned: usize,

    // The theory's side of the search.
    /// Literals of the trail that the theory has been told (C1).
    asserted: usize,
    /// The levels that the theory has opened (C1).
    theory_level: u32,
    /// Literals of the trail that the theory was told or agrees with.
    agreed: usize,
    /// Whether the theory found a contradiction at the last assertion.
    clashed: bool,
    /// Whether the theory was told literals that it has not checked.
    unchecked: bool,
    /// The theory's last answers; lemmas stay here until they are taken in.
    inbox: Inbox,
    /// Its answers while it is [extended](Self::extend); empty otherwise.
    extension: Inbox,
    /// The first lemma not yet taken in.
    next_lemma: usize,

    // Results.
    /// By variables: the value in the last model, zero for unassigned.
    model: Vec<i8>,
    core: Vec<Lit>,
    /// The derivations of clauses, if proofs are logged.
    log: Option<Box<Log>>,

    // Scratch.
    analysis: Analysis,
    /// The clause being taken in.
    clause: Vec<Lit>,

    budget: Budget,
    statistics: Statistics,
}

/// The next action of the search at a fixpoint.
enum Next {
    Assume(Lit),
    Decide(Lit),
    /// The assumption is false.
    Failed(Lit),
    /// All decision variables have values, or all clauses are covered.
    Complete,
}

impl Solver {
    /// A solver for propositional problems.
    pub fn new() -> Self {
        Self::with_theory(NoTheory, 0)
    }
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Theory> Solver<T> {
    /// A solver modulo a theory. The seed ranks the variables that have not yet taken part in a conflict; zero ranks
    /// them roughly by age.
    pub fn with_theory(theory: T, seed: u64) -> Self {
        Self {
            arena: Arena::default(),
            watches: Watches::default(),
            redundant: Vec::new(),
            theory,
            is_atom: Vec::new(),
            assumptions: Vec::new(),
            frames: Frames::default(),
            consistent: true,
            trail: Trail::default(),
            late: Late::default(),
            order: Order::new(seed),
            cover: Cover::default(),
            restarts: Restarts::default(),
            demotion: 0,
            reductions: Reductions::default(),
            cleaned: 0,
            asserted: 0,
            theory_level: 0,
            agreed: 0,
            clashed: false,
            unchecked: false,
            inbox: Inbox::default(),
            extension: Inbox::default(),
            next_lemma: 0,
            model: Vec::new(),
            core: Vec::new(),
            log: None,
            analysis: Analysis::default(),
            clause: Vec::new(),
            budget: Budget::default(),
            statistics: Statistics::default(),
        }
    }

    /// Sets the seed that ranks new variables; see [`with_theory`](Self::with_theory).
    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.order.set_seed(seed);
    }

    /// A new variable that the theory does not see.
    pub fn new_var(&mut self) -> Var {
        self.add_var(true, false)
    }

    /// A new atom: the theory learns its value.
    pub fn new_atom(&mut self) -> Var {
        self.add_var(true, true)
    }

    /// Makes the variable an atom: the theory learns its value from now on.
    pub fn make_atom(&mut self, var: Var) {
        if self.is_atom[var.index()] {
            return;
        }
        self.is_atom[var.index()] = true;
        let Some(&lit) = [var.positive(), var.negative()].iter().find(|&&lit| self.trail.value(lit) > 0)
        else {
            return;
        };
        // The theory must be told at the variable's level (C1). At level 0 the assertion is made up for; otherwise the
        // solver backtracks below the level.
        let level = self.trail.level_of(var);
        self.backtrack(level.saturating_sub(1));
        if level == 0 && self.trail.lits()[..self.asserted].contains(&lit) {
            self.clashed |= self.theory.assert(lit).is_err();
        }
    }

    /// Sets whether the search must assign the variable; by default it must. Otherwise the variable is assigned only if
    /// a value follows, and a model may leave it open.
    pub fn set_decision(&mut self, var: Var, decide: bool) {
        self.order.set_eligible(var, decide);
    }

    /// Promotes variables: they are decided before all others, in this query and for a number of conflicts that grows
    /// with the number of promoted variables.
    pub fn promote(&mut self, vars: &[Var]) {
        vars.iter().for_each(|&var| self.order.promote(var));
        self.demotion = self.statistics.conflicts + PROMOTION * self.order.promoted() as u64;
    }

    /// Ends a promotion when it is due.
    fn demote(&mut self) {
        if self.order.promoted() > 0 && self.statistics.conflicts >= self.demotion {
            self.order.demote_all();
        }
    }

    /// Sets the value that the search tries next for the variable.
    pub fn set_phase(&mut self, lit: Lit) {
        self.order.set_phase(lit);
    }

    /// The number of variables, including those of frames.
    pub fn num_vars(&self) -> usize {
        self.trail.num_vars()
    }

    /// The number of clauses with at least two literals, including redundant ones.
    pub(crate) fn num_clauses(&self) -> usize {
        self.arena.iter().count()
    }

    /// The number of those clauses that may be forgotten: learnt clauses and lemmas.
    pub(crate) fn num_redundant(&self) -> usize {
        self.redundant.len()
    }

    /// Adds a clause to the innermost open frame. Literals may come in any order and repeat. The empty clause is false.
    pub fn add_clause(&mut self, lits: &[Lit]) {
        self.add_clause_from(lits, Origin::Assertion(0));
    }

    /// As [`add_clause`](Self::add_clause), but the clause belongs to no frame and outlives all of them.
    pub fn add_permanent_clause(&mut self, lits: &[Lit]) {
        self.add_permanent_clause_from(lits, Origin::Assertion(0));
    }

    /// As [`add_clause`](Self::add_clause), and records the origin of the clause for proofs.
    pub fn add_clause_from(&mut self, lits: &[Lit], origin: Origin) {
        self.add_guarded(lits, self.guard(), origin);
    }

    /// As [`add_permanent_clause`](Self::add_permanent_clause), and records the origin of the clause for proofs.
    pub(crate) fn add_permanent_clause_from(&mut self, lits: &[Lit], origin: Origin) {
        self.add_guarded(lits, None, origin);
    }

    fn add_guarded(&mut self, lits: &[Lit], guard: Option<Lit>, origin: Origin) {
        self.clause.clear();
        self.clause.extend_from_slice(lits);
        self.clause.extend(guard);
        self.take_in_outside(origin);
    }

    /// Whether the clauses outside of all frames are not known to be contradictory.
    pub fn is_consistent(&self) -> bool {
        self.consistent
    }

    /// Whether all clauses and assumptions can be true together.
    pub fn solve(&mut self, assumptions: &[Lit]) -> Outcome {
        self.solve_within(assumptions, &Limits::default())
    }

    /// As [`solve`](Self::solve), within limits.
    pub fn solve_within(&mut self, assumptions: &[Lit], limits: &Limits<'_>) -> Outcome {
        self.statistics.queries += 1;
        self.start_budget(limits);
        self.demotion = 0;
        self.demote();
        self.resume(assumptions, limits)
    }

    /// Resumes a query that has [paused](Self::has_paused), with the same assumptions.
    pub(crate) fn resume(&mut self, assumptions: &[Lit], limits: &Limits<'_>) -> Outcome {
        self.core.clear();
        self.model.clear();
        self.inbox.postponed = false;
        if !self.consistent {
            return Outcome::Unsat;
        }
        self.compact_log();
        self.assume(assumptions);
        self.cover.start();
        self.restarts.restarted();
        let outcome = self.search(&Poll::new(limits));
        if outcome == Outcome::Sat {
            self.model.extend(self.trail.values().iter().step_by(2));
        }
        outcome
    }

    /// Whether the last query ended as `Unknown` because the theory postponed an answer that needs more than literals.
    pub(crate) fn has_paused(&self) -> bool {
        self.inbox.postponed
    }

    /// The value of a variable in the model of the last query, if it answered `Sat` and the variable matters. A partial
    /// model satisfies the clauses whatever the values of the other variables.
    pub fn value(&self, var: Var) -> Option<bool> {
        self.model.get(var.index()).filter(|&&value| value != 0).map(|&value| value > 0)
    }

    /// The value of the variable in all models, if known.
    pub fn fixed(&self, var: Var) -> Option<bool> {
        self.trail.is_fixed(var.positive()).then(|| self.trail.value(var.positive()) > 0)
    }

    /// Assumptions of the last query that cannot be true together, if it answered `Unsat`. Empty if the clauses alone
    /// are contradictory.
    pub fn core(&self) -> &[Lit] {
        &self.core
    }

    /// Counters since the solver was created.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The theory. After `Sat` it stays in the state of the final check until the solver is changed.
    pub fn theory(&self) -> &T {
        &self.theory
    }

    /// The theory, for example to add atoms. Its assertions are still in place: see
    /// [`backtrack_fully`](Self::backtrack_fully).
    pub(crate) fn theory_mut(&mut self) -> &mut T {
        &mut self.theory
    }

    /// Adds terms and atoms to the theory outside of a search. The solver takes in its answers: new variables, and
    /// clauses, which hold for good and are never forgotten.
    pub fn extend<R>(&mut self, extend: impl FnOnce(&mut T, Answers<'_>) -> R) -> R {
        self.extension.first_new = self.num_vars();
        let limits = Limits::default();
        let poll = Poll::new(&limits);
        let result = extend(&mut self.theory, Answers { inbox: &mut self.extension, poll: &poll, mark: 0 });
        self.take_in_extension();
        result
    }

    /// Undoes everything above level 0. This is never necessary; the next query starts from scratch.
    pub(crate) fn backtrack_fully(&mut self) {
        self.backtrack(0);
    }

    /// The main loop.
    fn search(&mut self, poll: &Poll<'_>) -> Outcome {
        loop {
            if let Some(reason) = self.interrupted(poll) {
                return Outcome::Unknown(reason);
            }
            match self.propagate(poll) {
                Propagation::Fixpoint if T::is_active() && self.inbox.postponed => {
                    return Outcome::Unknown(Reason::Incomplete);
                }
                Propagation::Fixpoint => {}
                Propagation::Paused => continue,
                Propagation::Refuted => return Outcome::Unsat,
                Propagation::Conflict(clause) => {
                    if !self.learn_from(clause) {
                        return Outcome::Unsat;
                    }
                    continue;
                }
            }
            if self.restarting() {
                self.restart();
                // Late literals are not yet propagated.
                continue;
            }
            if self.reducing() {
                self.reduce();
            }
            match self.next_decision() {
                Next::Assume(lit) => self.decide(lit),
                Next::Decide(lit) => {
                    self.statistics.decisions += 1;
                    self.decide(lit);
                }
                Next::Failed(lit) => {
                    self.find_core(lit);
                    return Outcome::Unsat;
                }
                Next::Complete => {
                    if T::is_active() && self.consult_theory(Effort::Final, poll) {
                        self.cover.end();
                        continue;
                    }
                    if T::is_active() && (self.inbox.gave_up || self.inbox.postponed) {
                        return Outcome::Unknown(poll.interruption().unwrap_or(Reason::Incomplete));
                    }
                    return Outcome::Sat;
                }
            }
        }
    }

    /// Resolves a conflict: learns a clause, jumps back and asserts its first literal. Returns `false` for a conflict
    /// at level 0, which refutes the clauses.
    fn learn_from(&mut self, conflict: ClauseRef) -> bool {
        let mut conflict = Some(conflict);
        while let Some(clause) = conflict {
            self.statistics.conflicts += 1;
            if self.trail.level() == 0 {
                self.log_refutation(clause);
                self.consistent = false;
                return false;
            }
            conflict = self.learn(clause);
        }
        true
    }

    /// Learns a clause from a conflict above level 0. Returns the clause if it is itself a conflict, because a
    /// re-asserted late literal makes its first literal false.
    fn learn(&mut self, conflict: ClauseRef) -> Option<ClauseRef> {
        let (level, glue) = self.analyze(conflict);
        self.backtrack(self.target(level));
        let learnt = &self.analysis.learnt;
        self.statistics.learnt += 1;
        self.statistics.learnt_literals += learnt.len() as u64;
        self.restarts.learnt(glue);
        self.order.decay();
        if let [unit] = learnt[..] {
            self.log_unit(unit);
            self.trail.assign(unit, Antecedent::None);
            self.decay_clauses();
            return None;
        }
        let clause = self.arena.alloc(learnt, Some(glue));
        self.log_clause(clause);
        self.arena.set_used(clause, 2);
        self.redundant.push(clause);
        self.watches.attach(&self.arena, clause);
        self.bump_clause(clause);
        self.decay_clauses();
        let literal = self.analysis.learnt[0];
        if self.trail.value(literal) < 0 {
            return Some(clause);
        }
        self.trail.assign(literal, Antecedent::Clause(clause));
        self.note_late(literal, level);
        None
    }

    fn restarting(&self) -> bool {
        self.restarts.is_due() && self.trail.level() as usize > self.assumptions.len()
    }

    /// Undoes the free decisions, except for the first ones, as long as each is more active than all open variables:
    /// these would be made again (van der Tak, Ramos & Heule, "Reusing the Assignment Trail in CDCL Solvers", JSAT
    /// 2011).
    fn restart(&mut self) {
        self.statistics.restarts += 1;
        self.restarts.restarted();
        self.demote();
        let Self { trail, order, .. } = self;
        let next = order.peek(|var| trail.value(var.positive()) == 0);
        let stays = |level| {
            let decision = trail.decision_above(level).var();
            next.is_none_or(|next| order.precedes(decision, next))
        };
        let first = self.assumptions.len() as u32;
        let kept = (first..trail.level()).take_while(|&level| stays(level)).count();
        self.backtrack(first + kept as u32);
    }

    /// Makes a literal true at a new level.
    fn decide(&mut self, lit: Lit) {
        self.trail.push_level();
        self.trail.assign(lit, Antecedent::None);
    }

    /// Undoes all levels above `level`.
    fn backtrack(&mut self, level: u32) {
        let current = self.trail.level();
        if level >= current {
            return;
        }
        self.cover.end();
        self.keep_late(level);
        let Self { trail, order, .. } = self;
        trail.pop_to(level, |lit| order.undone(lit));
        if T::is_active() {
            if self.theory_level > level {
                self.theory.pop_levels(self.theory_level - level);
                self.theory_level = level;
            }
            self.asserted = self.asserted.min(self.trail.lits().len());
            self.agreed = self.agreed.min(self.trail.lits().len());
            self.clashed = false;
        }
        self.assert_late();
    }

    /// Propagates clauses at level 0 outside of queries. Returns `false` on a contradiction.
    fn settle(&mut self) -> bool {
        debug_assert_eq!(self.trail.level(), 0);
        loop {
            match self.propagate_clauses() {
                Propagation::Fixpoint => return true,
                Propagation::Paused => {}
                Propagation::Conflict(clause) => {
                    self.log_refutation(clause);
                    self.consistent = false;
                    return false;
                }
                Propagation::Refuted => {
                    self.consistent = false;
                    return false;
                }
            }
        }
    }

    fn add_var(&mut self, decide: bool, is_atom: bool) -> Var {
        if self.num_vars() == 0 {
            self.make_room(FIRST_ROOM);
        }
        let var = self.trail.add_var();
        self.watches.add_var();
        self.order.add_var(var, decide);
        self.analysis.add_var();
        self.is_atom.push(is_atom);
        var
    }

    fn make_room(&mut self, vars: usize) {
        self.trail.reserve(vars);
        self.watches.reserve(vars);
        self.order.reserve(vars);
        self.analysis.reserve(vars);
        self.is_atom.reserve(vars);
    }
}
