//! Delta debugging: shrinks a failing trace while it fails in the same way.
//!
//! ```text
//! repeat until nothing changes
//!     leave out calls: halves, quarters, .., single ones
//!     leave out what calls have: limits, parts, options, members of lists; solvers, threads, proofs
//!     replace subterms by their arguments of the same sort, by constants and by symbols
//! ```
//!
//! A step is kept if the trace, read and run again, has a fault of the same [`Kind`]. A trace that depends on clocks or
//! threads is run several times before a step is rejected.

use std::time::{Duration, Instant};

use shofar_logic::{Sort, Term, TermStore};
use shofar_smt::interpolate::{Fallback, Options, Simplification};
use shofar_smt::proof::Part;

use crate::judge::Kind;
use crate::run::Failure;
use crate::trace::{Bounds, Call, Shape, Subject, Trace};

/// The number of runs of a trace that depends on clocks or threads.
const ATTEMPTS: usize = 5;

/// A shorter trace with the same kind of fault, and the failure. The caller provides the runner.
pub fn shrink(
    text: &str,
    failure: Failure,
    time: Duration,
    run: impl Fn(&str) -> Result<(), Failure>,
) -> (String, Failure) {
    let store = TermStore::new();
    let Ok(trace) = Trace::read(&store, text) else { return (text.to_owned(), failure) };
    let mut shrinker = Shrinker {
        store: &store,
        trace,
        text: text.to_owned(),
        kind: failure.fault.kind,
        failure,
        end: Instant::now() + time,
        run: &run,
    };
    while shrinker.round() {}
    (shrinker.text, shrinker.failure)
}

struct Shrinker<'s> {
    store: &'s TermStore,
    trace: Trace,
    text: String,
    kind: Kind,
    failure: Failure,
    end: Instant,
    run: &'s dyn Fn(&str) -> Result<(), Failure>,
}

impl Shrinker<'_> {
    /// Tries all steps once, and returns whether one succeeded.
    fn round(&mut self) -> bool {
        let before = self.text.clone();
        self.leave_out_calls();
        self.simplify_solvers();
        let mut at = 0;
        while at < self.trace.calls.len() {
            self.simplify_call(at);
            self.simplify_terms(at);
            at += 1;
        }
        self.text != before && Instant::now() < self.end
    }

    /// Keeps the trace if it fails in the same way.
    fn attempt(&mut self, trace: Trace) -> bool {
        if trace == self.trace || Instant::now() >= self.end {
            return false;
        }
        let text = trace.to_text(self.store);
        for _ in 0..if trace.is_timed() { ATTEMPTS } else { 1 } {
            match (self.run)(&text) {
                Err(failure) if failure.fault.kind == self.kind => {
                    (self.trace, self.text, self.failure) = (trace, text, failure);
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    fn leave_out_calls(&mut self) {
        // Calls after the failing one do not matter.
        let mut trace = self.trace.clone();
        trace.calls.truncate(self.failure.call + 1);
        self.attempt(trace);
        let mut size = self.trace.calls.len().div_ceil(2).max(1);
        loop {
            let mut at = self.trace.calls.len();
            while at > 0 {
                let start = at.saturating_sub(size);
                let mut trace = self.trace.clone();
                trace.calls.drain(start..at);
                self.attempt(trace);
                at = start;
            }
            if size == 1 {
                return;
            }
            size = size.div_ceil(2);
        }
    }

    fn simplify_solvers(&mut self) {
        for solver in (0..self.trace.solvers.len()).rev() {
            let mut trace = self.trace.clone();
            trace.calls.iter_mut().filter(|(other, _)| *other == solver).for_each(|(other, _)| *other = 0);
            self.attempt(trace);
            if self.trace.calls.iter().all(|&(other, _)| other != solver) && self.trace.solvers.len() > 1 {
                let mut trace = self.trace.clone();
                trace.solvers.remove(solver);
                trace.calls.iter_mut().for_each(|(other, _)| *other -= usize::from(*other > solver));
                self.attempt(trace);
                continue;
            }
            let simplest = Subject::default();
            let simplify: [fn(&mut Subject, Subject); 4] = [
                |subject, simplest| subject.thread = simplest.thread,
                |subject, simplest| subject.seed = simplest.seed,
                |subject, simplest| subject.renewal = simplest.renewal,
                |subject, simplest| subject.proofs = simplest.proofs,
            ];
            for simplify in simplify {
                let mut trace = self.trace.clone();
                simplify(&mut trace.solvers[solver], simplest);
                self.attempt(trace);
            }
        }
    }

    fn replace_call(&mut self, at: usize, call: Call) -> bool {
        let mut trace = self.trace.clone();
        trace.calls[at].1 = call;
        self.attempt(trace)
    }

    // ---- calls -------------------------------------------------------------------------------------------------

    fn simplify_call(&mut self, at: usize) {
        loop {
            let simpler = simpler_calls(&self.trace.calls[at].1);
            if !simpler.into_iter().any(|call| self.replace_call(at, call)) {
                return;
            }
        }
    }

    // ---- terms -------------------------------------------------------------------------------------------------

    /// Replaces subterms by simpler ones, the largest first.
    fn simplify_terms(&mut self, at: usize) {
        let mut position = 0;
        loop {
            let store = self.store;
            let terms = self.trace.calls[at].1.terms();
            let mut subterms = store.subterms(&terms);
            subterms.retain(|&term| !store.args(term).is_empty() || !is_simplest(store, term));
            subterms.reverse();
            let Some(&subterm) = subterms.get(position) else { return };
            let simpler = self.simpler_terms(subterm);
            let is_replaced = simpler.into_iter().any(|term| {
                let call = map_terms(&self.trace.calls[at].1, |root| replace(store, root, subterm, term));
                self.replace_call(at, call)
            });
            // Another term may have moved to this position.
            if !is_replaced {
                position += 1;
            }
            if Instant::now() >= self.end {
                return;
            }
        }
    }

    /// Simpler terms of the same sort.
    fn simpler_terms(&self, term: Term) -> Vec<Term> {
        let store = self.store;
        let sort = store.sort_of(term);
        let args = store.args(term);
        let mut simpler = match sort {
            Sort::BOOL => vec![Term::TRUE, Term::FALSE],
            Sort::INT => vec![store.int(0), store.int(1)],
            Sort::REAL => vec![store.real(0), store.real(1)],
            _ => Vec::new(),
        };
        // The topmost proper subterms of this sort.
        let mut open: Vec<Term> = args.to_vec();
        while let Some(below) = open.pop() {
            if store.sort_of(below) == sort {
                simpler.push(below);
            } else {
                open.extend_from_slice(store.args(below));
            }
        }
        if args.len() > 2 {
            for left_out in 0..args.len() {
                let others: Vec<Term> =
                    (0..args.len()).filter(|&at| at != left_out).map(|at| args[at]).collect();
                simpler.extend(store.app(store.op(term), &others).ok());
            }
        }
        simpler.retain(|&other| other != term);
        simpler
    }
}

/// Whether there is no simpler leaf.
fn is_simplest(store: &TermStore, term: Term) -> bool {
    match store.sort_of(term) {
        Sort::BOOL => matches!(term, Term::TRUE | Term::FALSE),
        sort if sort.is_arithmetic() => [0, 1].into_iter().any(|number| match sort {
            Sort::INT => term == store.int(number),
            _ => term == store.real(number),
        }),
        _ => true,
    }
}

/// Replaces a subterm.
fn replace(store: &TermStore, root: Term, from: Term, to: Term) -> Term {
    let mut images: rustc_hash::FxHashMap<Term, Term> = Default::default();
    // Arguments have smaller indices than the terms that contain them.
    for term in store.subterms(&[root]) {
        let image = if term == from {
            to
        } else if store.args(term).is_empty() {
            term
        } else {
            let args: Vec<Term> = store.args(term).iter().map(|arg| images[arg]).collect();
            store.app(store.op(term), &args).unwrap_or(term)
        };
        images.insert(term, image);
    }
    images[&root]
}

/// Maps the formulas of the call. Symbols to be eliminated or replaced stay.
fn map_terms(call: &Call, map: impl Fn(Term) -> Term) -> Call {
    let mut call = call.clone();
    match &mut call {
        Call::Assert(formula, _) | Call::Eliminate { formula, .. } => *formula = map(*formula),
        Call::AssertAll(formulas) | Call::Check(formulas, _) => {
            formulas.iter_mut().for_each(|(formula, _)| *formula = map(*formula));
        }
        Call::AssertInstances(formulas, instances) => {
            formulas.iter_mut().for_each(|formula| *formula = map(*formula));
            for instance in instances {
                instance.formula = map(instance.formula);
                instance.arguments.iter_mut().for_each(|(_, term)| *term = map(*term));
            }
        }
        _ => {}
    }
    call
}

/// Simpler calls.
fn simpler_calls(call: &Call) -> Vec<Call> {
    let mut simpler = Vec::new();
    let mut without_limits = call.clone();
    if let Some(bounds) = without_limits.bounds_mut() {
        let mut before = *bounds;
        *bounds = Bounds::default();
        simpler.push(without_limits.clone());
        for limit in 0..before.by_name().len() {
            let mut call = call.clone();
            if let Some(bounds) = call.bounds_mut() {
                *bounds.by_name()[limit].1 = None;
            }
            simpler.push(call);
        }
    }
    match call {
        Call::Assert(formula, _) => simpler.push(Call::Assert(*formula, Part::default())),
        Call::AssertAll(formulas) => {
            simpler.extend(fewer(formulas).into_iter().map(Call::AssertAll));
            let plain = formulas.iter().map(|&(formula, _)| (formula, Part::default())).collect();
            simpler.push(Call::AssertAll(plain));
            if let &[(formula, part)] = &formulas[..] {
                simpler.push(Call::Assert(formula, part));
            }
        }
        Call::AssertInstances(formulas, instances) => {
            simpler.extend(
                fewer(formulas).into_iter().map(|fewer| Call::AssertInstances(fewer, instances.clone())),
            );
            simpler.extend(
                fewer(instances).into_iter().map(|fewer| Call::AssertInstances(formulas.clone(), fewer)),
            );
            if instances.is_empty() {
                let plain = formulas.iter().map(|&formula| (formula, Part::default())).collect();
                simpler.push(Call::AssertAll(plain));
            }
        }
        Call::Check(assumptions, bounds) => {
            simpler.extend(fewer(assumptions).into_iter().map(|fewer| Call::Check(fewer, *bounds)));
            let plain = assumptions.iter().map(|&(formula, _)| (formula, Part::default())).collect();
            simpler.push(Call::Check(plain, *bounds));
        }
        Call::Project(vars) => simpler.extend(fewer(vars).into_iter().map(Call::Project)),
        Call::Implicant(vars) => simpler.extend(fewer(vars).into_iter().map(Call::Implicant)),
        Call::Eliminate { vars, formula, forall, bounds } => {
            let (formula, forall, bounds) = (*formula, *forall, *bounds);
            let mut add = |vars, forall| simpler.push(Call::Eliminate { vars, formula, forall, bounds });
            fewer(vars).into_iter().for_each(|fewer| add(fewer, forall));
            add(vars.clone(), false);
        }
        Call::Interpolate(question) => {
            let mut add = |change: &dyn Fn(&mut crate::trace::Question)| {
                let mut question = question.clone();
                change(&mut question);
                simpler.push(Call::Interpolate(question));
            };
            add(&|question| question.options = Options { fallback: Fallback::Off, ..Options::default() });
            add(&|question| question.options.fallback = Fallback::Off);
            add(&|question| question.options.labelling = Default::default());
            add(&|question| question.options.arithmetic = Default::default());
            add(&|question| question.options.equality = Default::default());
            add(&|question| question.options.simplification = Default::default());
            add(&|question| question.options.simplification = Simplification::Normal);
            match &question.shape {
                Shape::Binary(parts) => {
                    for fewer in fewer(parts) {
                        add(&|question| question.shape = Shape::Binary(fewer.clone()));
                    }
                }
                Shape::Sequence(parts) => {
                    for fewer in fewer(parts) {
                        add(&|question| question.shape = Shape::Sequence(fewer.clone()));
                    }
                    for end in 1..parts.len() {
                        add(&|question| question.shape = Shape::Binary(parts[..end].to_vec()));
                    }
                }
                Shape::Tree(nodes) => {
                    let order: Vec<Part> = nodes.iter().map(|&(part, _)| part).collect();
                    add(&|question| question.shape = Shape::Sequence(order.clone()));
                }
            }
        }
        Call::Push | Call::Pop | Call::MinimizeCore(_) => {}
    }
    simpler.retain(|other| other != call);
    simpler
}

/// All lists without one of the members.
fn fewer<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    let without = |left_out: usize| {
        let others = list.iter().enumerate().filter(|&(at, _)| at != left_out);
        others.map(|(_, member)| member.clone()).collect()
    };
    (0..list.len()).map(without).collect()
}
