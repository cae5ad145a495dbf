//! Renewal: rebuilds a solver cluttered by its past from the current assertions.
//!
//! **Why.** Atoms and gates of past assumptions and of popped frames stay in the search, in the simplex rows, in the
//! clauses learnt about them, and in the proof log. They are not decided (`relevance.rs`), but propagation, collection
//! and proofs visit them. A solver with a hundred thousand different queries about one formula would do little else.
//!
//! **What is stored.** `History` stores the calls that made the current assertions, in their order and with their
//! frames: single formulas with parts, batches, instances. Popping a frame removes its calls. Without a renewal this
//! costs one push to a vector for each formula.
//!
//! **When.** The history counts the variables of the search created while formulas of open frames were asserted. These
//! are *live*, all others are *past*. At the start of a query, and only there, the solver is cluttered if
//!
//! ```text
//! past > max(LEAST, GROWTH * live)
//! ```
//!
//! Only counts decide, so equal calls have equal answers in each run. In a solver with proofs the past counts more
//! (`LEAST_WITH_PROOFS`, `GROWTH_WITH_PROOFS`): lemmas about past atoms enter proofs, where they make interpolants
//! larger or, with integer splits, impossible.
//!
//! **How.** A new solver replays the calls and replaces the old one.
//!
//! - N1: after a renewal, the solver is the one that the calls of the history make. Answers, models, cores, proofs and
//!   interpolants are those of a fresh solver. Symbols of the caller are the same; symbols of the solver are new ones.
//! - N2: no renewal happens between a query and the questions about its result: only the next query renews.
//! - N3: counters are carried over; sizes are the current ones.
//! - N4: if a call of the history fails, the old solver stays, and is not renewed any more. A call that failed
//!   originally asserted a part of its formulas, which cannot be repeated; such a solver is not renewed either.
//!
//! **Cost.** Translating the live formulas, at most once for each time that `GROWTH` times as many variables were made,
//! and losing the clauses learnt about them.

use shofar_logic::Term;

use crate::proof::Part;
use crate::purify::Unsupported;
use crate::sat;
use crate::solver::{Instance, Solver};

/// This many past variables never clutter a solver.
const LEAST: usize = 4096;
/// The greatest ratio of past to live variables.
const GROWTH: usize = 16;
/// As [`LEAST`], for solvers with proofs.
const LEAST_WITH_PROOFS: usize = 512;
/// As [`GROWTH`], for solvers with proofs.
const GROWTH_WITH_PROOFS: usize = 4;

/// When a solver is renewed. Users need only the default; the others are for tests of the solver.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Renewal {
    /// When past variables outweigh the live ones.
    #[default]
    WhenCluttered,
    /// At the start of each query.
    Always,
    /// Never.
    Never,
}

/// The calls that made the current assertions, and the counters of earlier solvers.
#[derive(Default)]
pub(crate) struct History {
    calls: Vec<Call>,
    /// The formulas of all calls, in their order.
    formulas: Vec<(Term, Part)>,
    /// The instances of all calls, in their order.
    instances: Vec<Instance>,
    /// The lengths when each open frame was opened.
    frames: Vec<Mark>,
    /// The number of live variables.
    live: usize,
    renewal: Renewal,
    /// Whether a call has failed (N4).
    is_incomplete: bool,
    /// The counters of earlier solvers (N3).
    earlier: Earlier,
}

/// A call that asserted formulas, with the numbers of formulas and instances up to its end.
enum Call {
    One,
    Batch { formulas: usize },
    Instances { formulas: usize, instances: usize },
}

struct Mark {
    calls: usize,
    formulas: usize,
    instances: usize,
    live: usize,
}

/// The counters of earlier solvers.
#[derive(Clone, Default)]
pub(crate) struct Earlier {
    pub(crate) search: sat::Statistics,
    pub(crate) theories: Vec<(&'static str, u64)>,
    pub(crate) renewals: u64,
}

impl History {
    /// Records an opened frame.
    pub(crate) fn push(&mut self) {
        self.frames.push(Mark {
            calls: self.calls.len(),
            formulas: self.formulas.len(),
            instances: self.instances.len(),
            live: self.live,
        });
    }

    /// Records the end of the innermost frame.
    pub(crate) fn pop(&mut self) {
        let Some(Mark { calls, formulas, instances, live }) = self.frames.pop() else { return };
        self.calls.truncate(calls);
        self.formulas.truncate(formulas);
        self.instances.truncate(instances);
        self.live = live;
    }

    /// Records an asserted formula, for which `made` variables were created.
    pub(crate) fn one(&mut self, formula: Term, part: Part, made: usize) {
        self.calls.push(Call::One);
        self.formulas.push((formula, part));
        self.live += made;
    }

    /// Records formulas asserted together, unless that failed.
    pub(crate) fn batch(&mut self, formulas: &[(Term, Part)], made: usize, result: Result<(), Unsupported>) {
        self.formulas.extend_from_slice(formulas);
        self.calls.push(Call::Batch { formulas: self.formulas.len() });
        self.live += made;
        self.is_incomplete |= result.is_err();
    }

    /// Records formulas asserted together with instances, unless that failed.
    pub(crate) fn instances(
        &mut self,
        formulas: &[Term],
        instances: &[Instance],
        made: usize,
        result: Result<(), Unsupported>,
    ) {
        self.formulas.extend(formulas.iter().map(|&formula| (formula, Part::default())));
        self.instances.extend_from_slice(instances);
        self.calls.push(Call::Instances { formulas: self.formulas.len(), instances: self.instances.len() });
        self.live += made;
        self.is_incomplete |= result.is_err();
    }

    /// Whether a solver with this many variables must be renewed before its next query.
    #[inline]
    pub(crate) fn is_cluttered(&self, variables: usize, has_proofs: bool) -> bool {
        let (least, growth) =
            if has_proofs { (LEAST_WITH_PROOFS, GROWTH_WITH_PROOFS) } else { (LEAST, GROWTH) };
        let is_cluttered = match self.renewal {
            Renewal::WhenCluttered => variables - self.live > least.max(growth * self.live),
            Renewal::Always => true,
            Renewal::Never => false,
        };
        is_cluttered && !self.is_incomplete
    }

    /// Replays all calls. On success the solver has an equal history.
    pub(crate) fn replay(&self, solver: &mut Solver<'_>) -> Result<(), Unsupported> {
        let mut frames = self.frames.iter().map(|mark| mark.calls).peekable();
        let (mut formulas_before, mut instances_before) = (0, 0);
        for (at, call) in self.calls.iter().enumerate() {
            while frames.next_if_eq(&at).is_some() {
                solver.push();
            }
            match *call {
                Call::One => {
                    let (formula, part) = self.formulas[formulas_before];
                    formulas_before += 1;
                    solver.assert_in(formula, part)?;
                }
                Call::Batch { formulas } => {
                    solver.assert_all_in(&self.formulas[formulas_before..formulas])?;
                    formulas_before = formulas;
                }
                Call::Instances { formulas, instances } => {
                    let of_call = self.formulas[formulas_before..formulas].iter();
                    let of_call: Vec<Term> = of_call.map(|&(formula, _)| formula).collect();
                    solver.assert_instances(&of_call, &self.instances[instances_before..instances])?;
                    (formulas_before, instances_before) = (formulas, instances);
                }
            }
        }
        frames.for_each(|_| solver.push());
        Ok(())
    }

    /// Continues another history, with these counters.
    pub(crate) fn succeed(&mut self, before: &History, counted: Earlier) {
        self.renewal = before.renewal;
        self.earlier = Earlier { renewals: counted.renewals + 1, ..counted };
    }

    /// Marks the history as impossible to replay.
    pub(crate) fn give_up(&mut self) {
        self.is_incomplete = true;
    }

    pub(crate) fn set_renewal(&mut self, renewal: Renewal) {
        self.renewal = renewal;
    }

    pub(crate) fn earlier(&self) -> &Earlier {
        &self.earlier
    }
}
