//! Runs a trace and judges every answer.
//!
//! For each solver the runner keeps what the solver should know: the formulas of each open frame and the last query.
//! Answers are judged only by this *reference*.
//!
//! ```text
//! Sat            the model makes all formulas of the reference true
//! Unsat          the core consists of assumptions, and contradicts what is asserted; a proof is one of that
//! Unknown        the call has the limit that is named, or integers make the solver incomplete
//! Unsupported    some term is beyond the solver's languages
//! ```
//!
//! A call that does not fit the state, such as an interpolation after `Sat`, is skipped, so that parts of traces are
//! traces. Calls in two threads run concurrently, each thread in the order of the trace.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use shofar_logic::{Assignment, Op, Sort, SortKind, Term, TermStore};
use shofar_run::{Gate, Limits, Reason};
use shofar_smt::interpolate::{
    Arithmetic, Defect, Equality, Error, Fallback, Interpolant, Labelling, fallback,
};
use shofar_smt::project::{self, ProjectError, Projector, Status};
use shofar_smt::proof::{Part, Proof};
use shofar_smt::purify::Unsupported;
use shofar_smt::renewal::Renewal;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::coverage::Coverage;
use crate::judge::{Fault, Judge, Judgement, Kind, fault};
use crate::trace::{Bounds, Call, Question, Shape, Subject, Trace};

/// The time limit of a call without limits.
const PATIENCE: Duration = Duration::from_secs(4);

/// The delay within which a call must end after its limit, on a busy machine.
const GRACE: Duration = Duration::from_secs(6);

/// The maximal number of disjuncts of an elimination or a fallback.
const DISJUNCTS: usize = 40;

/// A wrong answer to a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The index of the call.
    pub call: usize,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {}, {:?}: {}", self.call, self.fault.kind, self.fault.message)
    }
}

/// Runs the trace in the text, and counts what it exercises.
///
/// # Errors
///
/// The first wrong answer of a thread, or a syntax error of the trace.
pub fn run(text: &str, coverage: &mut Coverage) -> Result<(), Failure> {
    let store = TermStore::new();
    let no_trace = |message: String| Failure { call: 0, fault: Fault { kind: Kind::State, message } };
    let trace = Trace::read(&store, text).map_err(|error| no_trace(error.to_string()))?;
    let mut threads: Vec<usize> = trace.solvers.iter().map(|subject| subject.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    coverage.count(if threads.len() > 1 { "traces in threads" } else { "traces" });
    let (store, trace) = (&store, &trace);
    let results: Vec<(Coverage, Result<(), Failure>)> = match &threads[..] {
        [_] => vec![run_thread(store, trace, threads[0])],
        _ => thread::scope(|scope| {
            let running: Vec<_> =
                threads.iter().map(|&thread| scope.spawn(move || run_thread(store, trace, thread))).collect();
            running.into_iter().map(|thread| thread.join().expect("panics are caught")).collect()
        }),
    };
    let mut result = Ok(());
    for (counted, failure) in results {
        coverage.add(&counted);
        result = result.and(failure);
    }
    result
}

/// Makes the calls of one thread.
fn run_thread(store: &TermStore, trace: &Trace, thread: usize) -> (Coverage, Result<(), Failure>) {
    let mut coverage = Coverage::default();
    let mut current = 0;
    let made = catch_unwind(AssertUnwindSafe(|| {
        let mut solvers: Vec<Option<Tested<'_>>> = trace
            .solvers
            .iter()
            .map(|subject| (subject.thread == thread).then(|| Tested::new(store, subject)))
            .collect();
        for (number, (solver, call)) in trace.calls.iter().enumerate() {
            let Some(tested) = &mut solvers[*solver] else { continue };
            current = number;
            let mut step =
                Step { store, tested, judge: Judge::new(store, number as u64), coverage: &mut coverage };
            step.make(call)?;
        }
        Ok(())
    }));
    let result = made.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        fault(Kind::Panic, message.unwrap_or_default())
    });
    (coverage, result.map_err(|fault| Failure { call: current, fault }))
}

/// A solver and its reference.
struct Tested<'s> {
    solver: Solver<'s>,
    has_proofs: bool,
    renewal: Renewal,
    /// The number of renewals.
    renewals: u64,
    /// Whether it has ever rejected formulas. Then renewals may stop.
    has_refused: bool,
    frames: Vec<Frame>,
    query: Option<Query>,
    /// Whether it ever had integers. Definitions of their symbols outlive formulas, and may make later queries
    /// incomplete.
    has_integers: bool,
}

#[derive(Default)]
struct Frame {
    asserted: Vec<(Term, Part)>,
    /// Whether a formula was rejected, so that the solver's state is unknown.
    is_spoiled: bool,
}

/// An answered query.
#[derive(Clone)]
struct Query {
    assumed: Vec<(Term, Part)>,
    outcome: Outcome,
    core: Vec<Term>,
    /// Whether the core was minimised since.
    is_minimized: bool,
}

impl<'s> Tested<'s> {
    fn new(store: &'s TermStore, subject: &Subject) -> Self {
        let solver = if subject.proofs { Solver::with_proofs(store) } else { Solver::new(store) };
        let mut solver = solver.with_seed(subject.seed);
        solver.set_renewal(subject.renewal);
        Tested {
            solver,
            has_proofs: subject.proofs,
            renewal: subject.renewal,
            renewals: 0,
            has_refused: false,
            frames: vec![Frame::default()],
            query: None,
            has_integers: false,
        }
    }

    fn asserted(&self) -> Vec<(Term, Part)> {
        self.frames.iter().flat_map(|frame| &frame.asserted).copied().collect()
    }

    fn is_spoiled(&self) -> bool {
        self.frames.iter().any(|frame| frame.is_spoiled)
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the outermost frame stays")
    }
}

type Judged<T = ()> = Result<T, Fault>;

/// One call.
struct Step<'t, 's> {
    store: &'s TermStore,
    tested: &'t mut Tested<'s>,
    judge: Judge<'s>,
    coverage: &'t mut Coverage,
}

fn formulas(in_parts: &[(Term, Part)]) -> Vec<Term> {
    in_parts.iter().map(|&(formula, _)| formula).collect()
}

impl Step<'_, '_> {
    fn make(&mut self, call: &Call) -> Judged {
        self.tested.has_integers |= self.has_integers(&call.terms());
        match call {
            Call::Assert(formula, part) => {
                self.coverage.count("assert");
                let result = match part {
                    Part(0) => self.tested.solver.assert(*formula),
                    _ => self.tested.solver.assert_in(*formula, *part),
                };
                self.asserted(&[(*formula, *part)], result)
            }
            Call::AssertAll(formulas) => {
                self.coverage.count("assert-all");
                let result = match formulas.iter().all(|&(_, part)| part == Part::default()) {
                    true => self.tested.solver.assert_all(&self::formulas(formulas)),
                    false => self.tested.solver.assert_all_in(formulas),
                };
                self.asserted(formulas, result)
            }
            Call::AssertInstances(formulas, instances) => {
                self.coverage.count("assert-instances");
                let result = self.tested.solver.assert_instances(formulas, instances);
                let made = instances.iter().map(|instance| instance.term(self.store));
                let all = formulas.iter().copied().chain(made).map(|formula| (formula, Part::default()));
                let all: Vec<(Term, Part)> = all.collect();
                self.asserted(&all, result)
            }
            Call::Push => {
                self.coverage.count("push");
                self.tested.solver.push();
                self.tested.frames.push(Frame::default());
                self.query_is_over()
            }
            Call::Pop => {
                self.coverage.count("pop");
                self.tested.solver.pop();
                if self.tested.frames.len() > 1 {
                    self.tested.frames.pop();
                }
                self.query_is_over()
            }
            Call::Check(assumptions, bounds) => self.check(assumptions, bounds),
            Call::MinimizeCore(bounds) => self.minimize_core(bounds),
            Call::Interpolate(question) => self.check_interpolants(question),
            Call::Project(vars) => self.project(vars),
            Call::Implicant(vars) => self.implicant(vars),
            Call::Eliminate { vars, formula, forall, bounds } => {
                self.eliminate(vars, *formula, *forall, bounds)
            }
        }
    }

    /// Updates the reference.
    fn asserted(&mut self, formulas: &[(Term, Part)], result: Result<(), Unsupported>) -> Judged {
        let frame = self.tested.top();
        frame.asserted.extend_from_slice(formulas);
        if result.is_err() {
            frame.is_spoiled = true;
            self.tested.has_refused = true;
            self.coverage.count("unsupported");
            self.is_beyond(&self::formulas(formulas))?;
        }
        // An empty assertion is not a call.
        if formulas.is_empty() { Ok(()) } else { self.query_is_over() }
    }

    /// Checks that a rejected formula is unsupported. An asserted one that defines a symbol may also be: it is
    /// accepted, and formulas that use the symbol are rejected.
    fn is_beyond(&self, formulas: &[Term]) -> Judged {
        let store = self.store;
        let formulas = [formulas, &self::formulas(&self.tested.asserted())].concat();
        let is_constant = |term: Term| store.numeral(store.normalize(term)).is_some();
        let is_beyond = |term: Term| match store.view(term) {
            (Op::Mul, args) => args.iter().filter(|&&arg| !is_constant(arg)).count() > 1,
            (Op::RealDiv | Op::IntDiv | Op::Mod, args) => args[1..].iter().any(|&arg| !is_constant(arg)),
            _ => !matches!(
                store.sort_kind(store.sort_of(term)),
                SortKind::Bool
                    | SortKind::Int
                    | SortKind::Real
                    | SortKind::Uninterpreted(..)
                    | SortKind::Datatype(_)
            ),
        };
        match store.subterms(&formulas).into_iter().any(is_beyond) {
            true => Ok(()),
            false => fault(Kind::State, "a formula of a language that is supported was refused"),
        }
    }

    /// Checks that a retracted answer leaves nothing behind.
    fn query_is_over(&mut self) -> Judged {
        self.tested.query = None;
        if !self.tested.solver.core().is_empty() {
            return fault(Kind::State, "there is a core without a query");
        }
        match self.tested.solver.proof() {
            Some(_) => fault(Kind::State, "there is a proof without a query"),
            None => Ok(()),
        }
    }

    // ---- queries -----------------------------------------------------------------------------------------------

    fn check(&mut self, assumed: &[(Term, Part)], bounds: &Bounds) -> Judged {
        self.coverage.count("check");
        let solver = &mut self.tested.solver;
        let is_plain = assumed.iter().all(|&(_, part)| part == Part::default());
        let (result, elapsed) = within(bounds, |limits| match is_plain {
            true => solver.check(&formulas(assumed), limits),
            false => solver.check_in(assumed, limits),
        });
        self.tested.query = None;
        self.judge_renewals()?;
        let Ok(outcome) = result else {
            self.coverage.count("unsupported");
            return self.is_beyond(&formulas(assumed));
        };
        self.in_time(bounds, elapsed)?;
        let core = self.tested.solver.core();
        let query = Query { assumed: assumed.to_vec(), outcome, core, is_minimized: false };
        self.tested.query = Some(query.clone());
        match outcome {
            Outcome::Sat => self.satisfiable(&query),
            Outcome::Unsat => self.refuted(&query),
            Outcome::Unknown(reason) => self.unknown(&query, bounds, reason),
        }
    }

    /// Checks that a query renews the solver at most once.
    fn judge_renewals(&mut self) -> Judged {
        let Tested { solver, renewal, renewals: before, has_refused, .. } = &mut *self.tested;
        let counted = solver.all_statistics().into_iter().find(|(name, _)| *name == "renewals");
        let (_, renewals) = counted.expect("renewals are counted");
        let made = renewals - *before;
        *before = renewals;
        (0..made).for_each(|_| self.coverage.count("renewals"));
        let is_due = match renewal {
            Renewal::Never => made == 0,
            Renewal::Always => made == 1 || made == 0 && *has_refused,
            Renewal::WhenCluttered => made <= 1,
        };
        if is_due { Ok(()) } else { fault(Kind::State, format!("{made} renewals in one query: {renewal:?}")) }
    }

    fn satisfiable(&mut self, query: &Query) -> Judged {
        self.coverage.count("sat");
        self.no_evidence()?;
        if self.tested.is_spoiled() {
            return Ok(());
        }
        let all = self.all(query);
        let model = self.tested.solver.model(&all);
        self.judge.model(&all, &model)?;
        // A model for some formulas satisfies them too, even without the symbols of the others.
        let Some(&last) = all.last() else { return Ok(()) };
        self.judge.model(&[last], &self.tested.solver.model(&[last]))
    }

    fn refuted(&mut self, query: &Query) -> Judged {
        self.coverage.count("unsat");
        self.judge_core(query)?;
        match self.tested.solver.proof() {
            Some(proof) if self.tested.has_proofs => self.judge_proof(&proof, query),
            None if !self.tested.has_proofs => Ok(()),
            Some(_) => fault(Kind::State, "there is a proof of a solver that logs none"),
            None => fault(Kind::Proof, "there is no proof"),
        }
    }

    fn judge_proof(&mut self, proof: &Proof, query: &Query) -> Judged {
        self.coverage.count("proofs");
        if !proof.definitions().is_empty() {
            self.coverage.count("proofs with replaced symbols");
        }
        if !self.judge.proof(proof, &self.tested.asserted(), &query.assumed)? {
            self.coverage.count("proofs, not shown");
        }
        Ok(())
    }

    /// Checks that the core consists of assumptions and contradicts the assertions.
    fn judge_core(&mut self, query: &Query) -> Judged {
        let assumed = formulas(&query.assumed);
        if let Some(&other) = query.core.iter().find(|member| !assumed.contains(member)) {
            return fault(Kind::Core, format!("{} is not assumed", self.store.display(other)));
        }
        if self.tested.is_spoiled() {
            return Ok(());
        }
        let mut members = formulas(&self.tested.asserted());
        members.extend_from_slice(&query.core);
        let kind = if query.core.len() < assumed.len() { Kind::Core } else { Kind::Unsat };
        self.is_refuted(&members, kind, "there is a model")
    }

    fn unknown(&mut self, query: &Query, bounds: &Bounds, reason: Reason) -> Judged {
        self.no_evidence()?;
        let (name, is_due) = match reason {
            Reason::Budget => {
                ("unknown: budget", bounds.conflicts.is_some() || bounds.propagations.is_some())
            }
            Reason::Cancelled => ("unknown: cancelled", bounds.cancel.is_some()),
            Reason::Deadline if bounds.deadline.is_some() => ("unknown: deadline", true),
            Reason::Deadline => ("unknown: slow", !bounds.is_timed()),
            Reason::Memory => ("unknown: memory", bounds.memory.is_some()),
            Reason::Incomplete if self.has_integers(&self.all(query)) => ("unknown: incomplete", true),
            Reason::Incomplete => {
                let Tested { renewal, has_integers, has_refused, .. } = *self.tested;
                let has_past = renewal != Renewal::Always || has_refused;
                ("unknown: incomplete by old definitions", has_integers && has_past)
            }
            _ => ("unknown: for a new reason", false),
        };
        self.coverage.count(name);
        match is_due {
            true => Ok(()),
            false => fault(Kind::Unknown, format!("{reason:?} without cause")),
        }
    }

    fn has_integers(&self, formulas: &[Term]) -> bool {
        let store = self.store;
        let is_integer = |&term: &Term| store.sort_of(term) == Sort::INT || store.op(term) == Op::IsInt;
        store.subterms(formulas).iter().any(is_integer)
    }

    /// Checks that there is no core and no proof without `Unsat`.
    fn no_evidence(&self) -> Judged {
        if !self.tested.solver.core().is_empty() || self.tested.solver.proof().is_some() {
            return fault(Kind::State, "there is a core or a proof of what was not refuted");
        }
        Ok(())
    }

    fn in_time(&mut self, bounds: &Bounds, elapsed: Duration) -> Judged {
        let limits = [bounds.deadline, bounds.cancel.max(bounds.gate)].into_iter().flatten();
        let limit = limits.min().map_or(PATIENCE, Duration::from_micros);
        match elapsed > limit + GRACE {
            true => fault(Kind::Unknown, format!("it took {elapsed:?}")),
            false => Ok(()),
        }
    }

    fn all(&self, query: &Query) -> Vec<Term> {
        let mut all = formulas(&self.tested.asserted());
        all.extend(formulas(&query.assumed));
        all
    }

    fn is_refuted(&mut self, members: &[Term], kind: Kind, claim: &str) -> Judged {
        let is_decided = self.judge.refuted(members, kind, claim)?;
        self.coverage.count(if is_decided { "judged by proof" } else { "not judged: undecided" });
        Ok(())
    }

    fn follows(&mut self, premises: &[Term], conclusion: Term, kind: Kind, claim: &str) -> Judged {
        let is_decided = self.judge.implies(premises, conclusion, kind, claim)?;
        self.coverage.count(if is_decided { "judged by proof" } else { "not judged: undecided" });
        Ok(())
    }

    fn minimize_core(&mut self, bounds: &Bounds) -> Judged {
        let Some(mut query) = self.tested.query.clone() else { return Ok(()) };
        if query.outcome != Outcome::Unsat {
            return Ok(());
        }
        self.coverage.count("minimize-core");
        let solver = &mut self.tested.solver;
        let ((), elapsed) = within(bounds, |limits| solver.minimize_core(limits));
        self.in_time(bounds, elapsed)?;
        let core = self.tested.solver.core();
        if let Some(other) = core.iter().find(|member| !query.core.contains(member)) {
            return fault(Kind::Core, format!("{} is new in the core", self.store.display(*other)));
        }
        if core.len() < query.core.len() {
            self.coverage.count("smaller cores");
        }
        (query.core, query.is_minimized) = (core, true);
        self.judge_core(&query)?;
        if *bounds == Bounds::default() && !self.tested.is_spoiled() {
            self.judge_minimal(&query)?;
        }
        if let Some(proof) = self.tested.solver.proof() {
            self.judge_proof(&proof, &query)?;
        }
        self.tested.query = Some(query);
        Ok(())
    }

    /// Checks that no member is redundant, unless the solver is incomplete or would search for long.
    fn judge_minimal(&mut self, query: &Query) -> Judged {
        let asserted = formulas(&self.tested.asserted());
        if self.has_integers(&self.all(query)) {
            return Ok(());
        }
        for left_out in 0..query.core.len() {
            let others = query.core.iter().enumerate().filter(|&(at, _)| at != left_out);
            let members: Vec<Term> = asserted.iter().copied().chain(others.map(|(_, &it)| it)).collect();
            // A duplicate is still there after one copy is removed.
            if !members.contains(&query.core[left_out])
                && let Judgement::Refuted = self.judge.decide(&members)?
            {
                return fault(Kind::Core, format!("the core does not need member {left_out}"));
            }
        }
        self.coverage.count("minimal cores");
        Ok(())
    }

    // ---- interpolants ------------------------------------------------------------------------------------------

    fn check_interpolants(&mut self, question: &Question) -> Judged {
        let Some(query) = self.tested.query.clone() else { return Ok(()) };
        if self.tested.is_spoiled() || query.outcome != Outcome::Unsat {
            return Ok(());
        }
        if self.tested.solver.proof().is_none() {
            return Ok(());
        }
        let mut parts: Vec<(Part, Vec<Term>)> = Vec::new();
        for (formula, part) in self.tested.asserted().into_iter().chain(query.assumed.iter().copied()) {
            match parts.iter_mut().find(|(other, _)| *other == part) {
                Some((_, formulas)) => formulas.push(formula),
                None => parts.push((part, vec![formula])),
            }
        }
        if !is_well_formed(&question.shape, &parts) {
            return Ok(());
        }
        self.coverage.count(match question.shape {
            Shape::Binary(_) => "interpolate: binary",
            Shape::Sequence(_) => "interpolate: sequence",
            Shape::Tree(_) => "interpolate: tree",
        });
        let solver = &self.tested.solver;
        let (result, elapsed) = within(&question.bounds, |limits| answer(solver, question, limits));
        self.in_time(&question.bounds, elapsed)?;
        match result {
            Ok(found) => {
                if found.iter().any(|interpolant| !interpolant.from_proof) {
                    self.coverage.count("interpolants by fallback");
                }
                let found: Vec<Term> = found.into_iter().map(|interpolant| interpolant.formula).collect();
                self.coverage.count("interpolants");
                self.judge_interpolants(&question.shape, &parts, &found)
            }
            Err(error) => self.judge_error(question, error),
        }
    }

    fn judge_interpolants(&mut self, shape: &Shape, parts: &[(Part, Vec<Term>)], found: &[Term]) -> Judged {
        let of_part = |part: Part| -> Vec<Term> {
            let of_part = parts.iter().filter(|(other, _)| *other == part);
            of_part.flat_map(|(_, formulas)| formulas).copied().collect()
        };
        let side = |in_a: &[Part], is_a: bool| -> Vec<Term> {
            let side = parts.iter().filter(|(part, _)| in_a.contains(part) == is_a);
            side.flat_map(|(_, formulas)| formulas).copied().collect()
        };
        // A sequence is a tree in which each node is the child of the next; its last interpolant is omitted.
        let nodes: Vec<(Part, usize)> = match shape {
            Shape::Binary(in_a) => {
                return self.judge_interpolant(&side(in_a, true), found[0], &side(in_a, false));
            }
            Shape::Sequence(order) => order.iter().enumerate().map(|(at, &part)| (part, at + 1)).collect(),
            Shape::Tree(nodes) => nodes.clone(),
        };
        let given = if matches!(shape, Shape::Sequence(_)) { nodes.len() - 1 } else { nodes.len() };
        if found.len() != given {
            return fault(Kind::Interpolant, format!("{} interpolants, not {given}", found.len()));
        }
        for at in 0..given {
            let subtree = subtree(&nodes, at);
            self.judge_interpolant(&side(&subtree, true), found[at], &side(&subtree, false))?;
            let children = (0..at).filter(|&child| nodes[child].1 == at);
            let mut premises = of_part(nodes[at].0);
            premises.extend(children.map(|child| found[child]));
            self.follows(&premises, found[at], Kind::Interpolant, &format!("I4 at {at}"))?;
        }
        match (shape, found.last()) {
            (Shape::Tree(_), Some(&root)) if root != Term::FALSE => {
                fault(Kind::Interpolant, "that of the root is not false")
            }
            _ => Ok(()),
        }
    }

    fn judge_interpolant(&mut self, a: &[Term], interpolant: Term, b: &[Term]) -> Judged {
        let store = self.store;
        let [of_a, of_b, of_it] = [a, b, &[interpolant]].map(|formulas| store.symbols(formulas));
        let is_shared = of_it.vars.iter().all(|var| of_a.vars.contains(var) && of_b.vars.contains(var))
            && of_it.funs.iter().all(|fun| of_a.funs.contains(fun) && of_b.funs.contains(fun));
        let text = store.display(interpolant);
        if !is_shared {
            return fault(Kind::Interpolant, format!("I3: {text} has symbols that are not shared"));
        }
        self.follows(a, interpolant, Kind::Interpolant, &format!("I1 of {text}"))?;
        let with_b: Vec<Term> = b.iter().copied().chain([interpolant]).collect();
        self.is_refuted(&with_b, Kind::Interpolant, &format!("I2 of {text}"))
    }

    /// Checks that the error is a permitted one.
    fn judge_error(&mut self, question: &Question, error: Error) -> Judged {
        let options = &question.options;
        let (name, may_be) = match error {
            Error::NotFound(defect, None) => {
                let name = match defect {
                    Defect::Mixed(_) => "no interpolant: mixed",
                    Defect::Invalid(_) => "no interpolant: invalid",
                    Defect::Leak(_) => "no interpolant: leak",
                    Defect::NotInductive(_) => "no interpolant: not inductive",
                };
                (name, options.fallback == Fallback::Off && self.may_have(defect))
            }
            Error::NotFound(defect, Some(failure)) => {
                let may_be = options.fallback != Fallback::Off && failure != fallback::Failure::Satisfiable;
                ("no interpolant: fallback", may_be && self.may_have(defect))
            }
            Error::NoTreeProperty => (
                "no interpolant: no tree property",
                !matches!(options.arithmetic, Arithmetic::Farkas | Arithmetic::Decomposed)
                    || options.labelling == Labelling::DualMcMillan
                    || options.equality == Equality::Weak,
            ),
            Error::Interrupted(reason) => {
                let Bounds { deadline, memory, cancel, .. } = question.bounds;
                let is_due = match reason {
                    Reason::Cancelled => cancel.is_some(),
                    Reason::Memory => memory.is_some(),
                    Reason::Deadline => deadline.is_some() || !question.bounds.is_timed(),
                    _ => false,
                };
                ("no interpolant: interrupted", is_due)
            }
            Error::NoRefutation | Error::Unlisted(_) | Error::NotATree => ("no interpolant: wrong", false),
        };
        self.coverage.count(name);
        match may_be {
            true => Ok(()),
            false => fault(Kind::Interpolant, format!("{error:?}: {error}")),
        }
    }

    /// Whether the proof of the last query may have the defect. Some refutations over integers or datatypes have no
    /// interpolant; otherwise a step without one is wrong.
    fn may_have(&self, defect: Defect) -> bool {
        let Some(query) = &self.tested.query else { return false };
        let formulas = self.all(query);
        !matches!(defect, Defect::Invalid(_))
            || self.has_integers(&formulas)
            || self
                .store
                .subterms(&formulas)
                .iter()
                .any(|&it| self.store.datatype(self.store.sort_of(it)).is_some())
    }

    // ---- projection --------------------------------------------------------------------------------------------

    /// The formulas of the last query, if it was satisfiable.
    fn satisfied(&self) -> Option<Vec<Term>> {
        let query = self.tested.query.as_ref()?;
        (query.outcome == Outcome::Sat && !self.tested.is_spoiled()).then(|| self.all(query))
    }

    fn project(&mut self, vars: &[Term]) -> Judged {
        let Some(all) = self.satisfied() else { return Ok(()) };
        let (store, model) = (self.store, self.tested.solver.model(&all));
        match Projector::new(store).project_cube(&all, &model, vars) {
            Ok(projection) => {
                self.coverage.count("projections");
                if projection.by_value {
                    self.coverage.count("projections by value");
                }
                let cube = projection.literals;
                self.judge_cube(&cube, &model)?;
                self.is_without(&cube, vars, Kind::Projection)?;
                let formula = store.app(Op::And, &all).unwrap_or(Term::TRUE);
                let samples = self.judge.implies_existence(&cube, formula, vars, Kind::Projection)?;
                (0..samples).for_each(|_| self.coverage.count("projections judged in samples"));
                Ok(())
            }
            Err(error) => self.judge_project_error(error, Kind::Projection),
        }
    }

    fn implicant(&mut self, vars: &[Term]) -> Judged {
        let Some(all) = self.satisfied() else { return Ok(()) };
        let (store, model) = (self.store, self.tested.solver.model(&all));
        let formula = store.app(Op::And, &all).unwrap_or(Term::TRUE);
        match Projector::new(store).implicant(formula, &model, vars) {
            Ok(cube) => {
                self.coverage.count("implicants");
                self.judge_cube(&cube, &model)?;
                self.follows(&cube, formula, Kind::Projection, "an implicant")
            }
            Err(error) => self.judge_project_error(error, Kind::Projection),
        }
    }

    /// Checks that the model satisfies the literals.
    fn judge_cube(&mut self, cube: &[Term], model: &Assignment) -> Judged {
        let judged = self.judge.model(cube, model);
        judged.map_err(|fault| Fault { kind: Kind::Projection, ..fault })
    }

    fn is_without(&self, formulas: &[Term], vars: &[Term], kind: Kind) -> Judged {
        match self.store.subterms(formulas).iter().find(|term| vars.contains(term)) {
            Some(&var) => fault(kind, format!("{} is left", self.store.display(var))),
            None => Ok(()),
        }
    }

    fn judge_project_error(&mut self, error: ProjectError, kind: Kind) -> Judged {
        self.coverage.count("not projected");
        match error {
            ProjectError::Buried(_) => Ok(()),
            ProjectError::Unsupported(unsupported) => self.is_beyond(&[unsupported.term]),
            ProjectError::NotSatisfied(_) | ProjectError::NoValue(_) | ProjectError::NotAVariable(_) => {
                fault(kind, error.display(self.store).to_string())
            }
        }
    }

    fn eliminate(&mut self, vars: &[Term], formula: Term, forall: bool, bounds: &Bounds) -> Judged {
        let store = self.store;
        let (result, _) = within(bounds, |&limits| {
            let bounds = project::Bounds { limits, disjuncts: DISJUNCTS, ..project::Bounds::default() };
            match forall {
                true => project::eliminate_forall(store, formula, vars, &bounds),
                false => project::eliminate(store, formula, vars, &bounds),
            }
        });
        let elimination = match result {
            Ok(elimination) => elimination,
            Err(error) => return self.judge_project_error(error, Kind::Elimination),
        };
        self.coverage.count(match elimination.status {
            Status::Complete => "eliminations",
            Status::TooManyDisjuncts | Status::Unknown(_) => "eliminations, not complete",
        });
        self.is_without(&[elimination.formula], vars, Kind::Elimination)?;
        let negated = |term: Term| if forall { store.not(store.normalize(term)) } else { term };
        let (formula, result) = (negated(formula), negated(elimination.formula));
        if elimination.status == Status::Complete {
            self.follows(&[formula], result, Kind::Elimination, "the result says too much")?;
        }
        let samples = self.judge.implies_existence(&[result], formula, vars, Kind::Elimination)?;
        (0..samples).for_each(|_| self.coverage.count("eliminations judged in samples"));
        Ok(())
    }
}

/// Whether each asserted part has a place, and the tree is well-formed.
fn is_well_formed(shape: &Shape, parts: &[(Part, Vec<Term>)]) -> bool {
    let order: Vec<Part> = match shape {
        Shape::Binary(_) => return true,
        Shape::Sequence(order) => order.clone(),
        Shape::Tree(nodes) => {
            let last = nodes.len().wrapping_sub(1);
            let has_parent = |(at, &(_, parent)): (usize, &(Part, usize))| parent > at && parent <= last;
            if nodes.is_empty() || !nodes[..last].iter().enumerate().all(has_parent) || nodes[last].1 <= last
            {
                return false;
            }
            nodes.iter().map(|&(part, _)| part).collect()
        }
    };
    let is_listed = |(part, _): &(Part, Vec<Term>)| order.iter().filter(|it| *it == part).count() == 1;
    !order.is_empty() && parts.iter().all(is_listed)
}

/// The parts of a node and its descendants.
fn subtree(nodes: &[(Part, usize)], root: usize) -> Vec<Part> {
    let is_below = |start: usize| {
        let mut at = start;
        while at < root {
            at = nodes[at].1;
        }
        at == root
    };
    (0..=root).filter(|&at| is_below(at)).map(|at| nodes[at].0).collect()
}

/// Calls the interpolator.
fn answer(solver: &Solver<'_>, question: &Question, limits: &Limits<'_>) -> Result<Vec<Interpolant>, Error> {
    let interpolator = solver.interpolator(question.options.clone())?;
    match &question.shape {
        Shape::Binary(in_a) => Ok(vec![interpolator.binary(in_a, limits)?]),
        Shape::Sequence(order) => interpolator.sequence(order, limits),
        Shape::Tree(nodes) => interpolator.tree(nodes, limits),
    }
}

/// Makes a call within limits. Also returns its time.
fn within<T>(bounds: &Bounds, call: impl FnOnce(&Limits<'_>) -> T) -> (T, Duration) {
    let (cancel, gate) = (AtomicBool::new(bounds.cancel == Some(0)), Gate::default());
    let start = Instant::now();
    let deadline = bounds.deadline.map_or(PATIENCE, Duration::from_micros);
    let limits = Limits {
        conflicts: bounds.conflicts,
        propagations: bounds.propagations,
        deadline: start.checked_add(deadline),
        memory: bounds.memory.map(|memory| usize::try_from(memory).unwrap_or(usize::MAX)),
        cancel: bounds.cancel.map(|_| &cancel),
        gate: bounds.gate.map(|_| &gate),
    };
    let wait = |time: u64| {
        let time = Duration::from_micros(time);
        while start.elapsed() < time {
            std::hint::spin_loop();
        }
    };
    thread::scope(|scope| {
        if let Some(time @ 1..) = bounds.cancel {
            let cancel = &cancel;
            scope.spawn(move || {
                wait(time);
                cancel.store(true, Ordering::Relaxed);
            });
        }
        if let Some(time) = bounds.gate {
            gate.close();
            let gate = &gate;
            scope.spawn(move || {
                wait(time);
                gate.open();
            });
        }
        let result = call(&limits);
        (result, start.elapsed())
    })
}
