//! Decides a justice property: both monitors side by side, every answer checked.
//!
//! k-liveness proves: PDR runs on the circuit that counts rounds, and the number of rounds is raised each time it finds
//! a run with so many. If such a run has a loop with all edges, that is a counterexample. All engines run on the circuit
//! with shadows, which refutes and proves.

use std::time::Instant;

use shofar_run::{Limits, Stop};

use super::lasso::Lasso;
use super::{MOST_ROUNDS, Method, Monitor, Monitored, without_monitors};
use crate::aig::Edge;
use crate::check::{Fault, Refusal, check_invariant, check_lasso};
use crate::circuit::Circuit;
use crate::evidence::{Evidence, Invariant, Trace};
use crate::exchange::Exchange;
use crate::race::Contestant;
use crate::solve::{Options, Outcome, Size, engines_for, search};
use crate::system::Extracted;
use crate::{pdr, reduce};

/// The name of k-liveness among the engines.
const COUNTING: &str = "k-liveness";

/// A checked answer about a justice property.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The property holds: the invariant of the circuit with the monitor excludes its alarm.
    Safe(Monitor, Invariant),
    /// An infinite run violates the property.
    Unsafe(Lasso),
    /// Nothing is known.
    Unknown(Stop),
}

/// What an engine shows.
enum Claim {
    /// An invariant of the circuit with the monitor.
    Proof(Method, Invariant),
    /// A trace of the circuit that has a loop with all edges.
    Run(Trace),
}

/// Decides whether an infinite run violates a justice property, given by its index.
pub fn solve(circuit: &Circuit, justice: usize, options: &Options, limits: &Limits<'_>) -> Outcome<Verdict> {
    let edges = circuit.recurring(justice);
    let start = Instant::now();
    let shadow = Monitored::new(circuit, &[Monitor { justice, method: Method::Shadow }]);
    let extracted = Extracted::new(&shadow.circuit, shadow.alarms[0]);
    let mut phases = vec![("extract", start.elapsed())];

    let start = Instant::now();
    let reduced = reduce::all(&extracted.system, limits);
    phases.push(("reduce", start.elapsed()));

    let on_shadow = |evidence: Evidence| match reduced.back.evidence_back(evidence) {
        Evidence::Safe(invariant) => Claim::Proof(Method::Shadow, extracted.invariant_back(&invariant)),
        Evidence::Unsafe(trace) => Claim::Run(without_monitors(circuit, &extracted.trace_back(&trace))),
    };
    let exchange = Exchange::default();
    let mut contestants: Vec<Contestant<'_, Claim>> = Vec::new();
    for engine in engines_for(&shadow.circuit, options) {
        let on_shadow = &on_shadow;
        let Contestant { name, weight, run } = engine.on(&reduced.system, &exchange);
        if name == "pdr" {
            let count = |limits: &Limits<'_>| count_rounds(circuit, justice, limits);
            contestants.push(Contestant { name: COUNTING, weight, run: Box::new(count) });
        }
        let run = Box::new(move |limits: &Limits<'_>| run(limits).map(on_shadow));
        contestants.push(Contestant { name, weight, run });
    }

    let judge = |claim: Claim| match claim {
        Claim::Proof(method, invariant) => {
            let monitor = Monitor { justice, method };
            let Monitored { circuit, alarms } = Monitored::new(circuit, &[monitor]);
            let checked = check_invariant(&circuit, &alarms, &invariant, limits);
            checked.map(|()| Verdict::Safe(monitor, invariant))
        }
        Claim::Run(trace) => lasso_of(circuit, &edges, trace).map(Verdict::Unsafe).map_err(Refusal::from),
    };
    let outcome = search(contestants, options, limits, judge);
    let sizes = [Size::of(&extracted.system), Size::of(&reduced.system)];
    outcome.after(sizes, phases).map(|result| result.unwrap_or_else(Verdict::Unknown))
}

/// The lasso in a trace, completed and checked.
fn lasso_of(circuit: &Circuit, edges: &[Edge], trace: Trace) -> Result<Lasso, Fault> {
    let lasso = Lasso::find(circuit, edges, trace)?.completed(circuit);
    check_lasso(circuit, edges, &lasso.trace)?;
    Ok(lasso)
}

/// k-liveness by PDR, with more and more rounds.
fn count_rounds(circuit: &Circuit, justice: usize, limits: &Limits<'_>) -> Result<Claim, Stop> {
    let edges = circuit.recurring(justice);
    let mut rounds = 1;
    while rounds <= MOST_ROUNDS {
        limits.go_on()?;
        let method = Method::Rounds(rounds);
        let counting = Monitored::new(circuit, &[Monitor { justice, method }]);
        let extracted = Extracted::new(&counting.circuit, counting.alarms[0]);
        let reduced = reduce::all(&extracted.system, limits);
        let exchange = Exchange::default();
        let evidence = pdr::run(&reduced.system, pdr::Options::default(), &exchange, limits)?;
        match reduced.back.evidence_back(evidence) {
            Evidence::Safe(invariant) => {
                return Ok(Claim::Proof(method, extracted.invariant_back(&invariant)));
            }
            Evidence::Unsafe(trace) => {
                let trace = without_monitors(circuit, &extracted.trace_back(&trace));
                if Lasso::find(circuit, &edges, trace.clone()).is_ok() {
                    return Ok(Claim::Run(trace));
                }
            }
        }
        rounds += 1 + rounds / 4;
    }
    Err(Stop::Exhausted("too many rounds"))
}
