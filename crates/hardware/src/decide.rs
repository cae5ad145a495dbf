//! Decides properties of both kinds, one or many: safety by [`solve()`], justice by [`live`].
//!
//! All safety properties are one question, and each justice property is another. Questions are worked on in turn, at
//! first for a short time each, then for longer: a hard one does not keep an easy one from being answered. The first
//! counterexample ends the work; a proof needs all answers.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use shofar_run::{Limits, Reason, Stop};

use crate::aig::Edge;
use crate::check::check_invariant;
use crate::circuit::{Circuit, Property};
use crate::evidence::{Invariant, Trace};
use crate::justify::{Roots, bad_roots, lasso_roots};
use crate::live::{self, Monitor, Monitored, Proof};
use crate::playback::Playback;
use crate::solve::{self, Options, Outcome, refused, solve};

/// The time for each question in the first round, if there are several.
const FIRST_ROUND: Duration = Duration::from_secs(2);

/// How much longer each round is than the one before. Work is lost between rounds: less than half of the time.
const GROWTH: u32 = 3;

/// A checked answer about properties.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// All properties hold.
    Safe(Proof),
    /// One of them does not.
    Unsafe(Counterexample),
    /// Nothing is known.
    Unknown(Stop),
}

/// A run that violates a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The property.
    pub property: Property,
    /// The run. Its last step is bad, or ends the loop.
    pub trace: Trace,
    /// For justice properties: the first step of the loop.
    pub loop_start: Option<usize>,
}

impl Counterexample {
    /// A circuit and a trace for waveforms. For a lasso, the circuit has one more input, `loop`, which is true from the
    /// first step of the loop on; it comes last.
    pub fn marked<'a>(&'a self, circuit: &'a Circuit) -> (Cow<'a, Circuit>, Cow<'a, Trace>) {
        let Some(start) = self.loop_start else {
            return (Cow::Borrowed(circuit), Cow::Borrowed(&self.trace));
        };
        let mut circuit = circuit.clone();
        circuit.names.inputs.resize(circuit.inputs.len(), String::new());
        circuit.names.inputs.push("loop".to_owned());
        circuit.inputs.push(circuit.aig.push_leaf());
        let mut trace = self.trace.clone();
        trace.inputs.iter_mut().enumerate().for_each(|(step, values)| values.push(step >= start));
        (Cow::Owned(circuit), Cow::Owned(trace))
    }

    /// The edges whose values show that the property fails in a playback of this run.
    pub fn roots(&self, playback: &Playback<'_>) -> Roots {
        let circuit = playback.circuit();
        match (self.property, self.loop_start) {
            (Property::Justice(index), Some(start)) => {
                lasso_roots(playback, &circuit.recurring(index), start)
            }
            (Property::Bad(index), _) => bad_roots(playback, circuit.safety()[index]),
            (Property::Justice(_), None) => Roots::new(),
        }
    }
}

/// Something that is decided by itself.
enum Question {
    /// Safety properties, by their indices.
    Bads(Vec<usize>),
    /// A justice property.
    Justice(usize),
}

/// An answer to a question.
enum Answer {
    Holds(Option<Monitor>, Invariant),
    Fails(Counterexample),
    Open(Stop),
}

/// Decides whether one of the properties can be violated. A safety property is an index into `safety`.
pub fn decide(
    circuit: &Circuit,
    safety: &[Edge],
    properties: &[Property],
    options: &Options,
    limits: &Limits<'_>,
) -> Outcome<Verdict> {
    let mut open: VecDeque<Question> = questions(properties).into();
    let mut total = Outcome::before_search(());
    let (mut parts, mut stopped) = (Vec::new(), None);
    let mut time = FIRST_ROUND;
    let mut left_in_round = open.len();
    let verdict = loop {
        let Some(question) = open.pop_front() else {
            break match stopped {
                Some(stop) => Verdict::Unknown(stop),
                None => proof(circuit, safety, properties, parts, limits),
            };
        };
        // The last question has all the time there is.
        let end = (!open.is_empty()).then(|| Instant::now() + time);
        let deadline = [end, limits.deadline].into_iter().flatten().min();
        let answer = question.answer(circuit, safety, options, &Limits { deadline, ..*limits }, &mut total);
        match answer {
            Answer::Holds(monitor, invariant) => parts.push((monitor, invariant)),
            Answer::Fails(counterexample) => break Verdict::Unsafe(counterexample),
            Answer::Open(stop) => match limits.interruption() {
                Some(reason) => break Verdict::Unknown(reason.into()),
                None if stop == Stop::Interrupted(Reason::Deadline) => open.push_back(question),
                None => stopped = Some(stop),
            },
        }
        left_in_round -= 1;
        if left_in_round == 0 {
            time *= GROWTH;
            left_in_round = open.len();
        }
    };
    Outcome { verdict, engine: total.engine, sizes: total.sizes, phases: total.phases }
}

/// The questions about properties.
fn questions(properties: &[Property]) -> Vec<Question> {
    let (mut bads, mut questions) = (Vec::new(), Vec::new());
    for &property in properties {
        match property {
            Property::Bad(index) => bads.push(index),
            Property::Justice(index) => questions.push(Question::Justice(index)),
        }
    }
    if !bads.is_empty() {
        questions.insert(0, Question::Bads(bads));
    }
    questions
}

impl Question {
    /// Works on the question within limits. Times, sizes and the engine are noted in `total`.
    fn answer(
        &self,
        circuit: &Circuit,
        safety: &[Edge],
        options: &Options,
        limits: &Limits<'_>,
        total: &mut Outcome<()>,
    ) -> Answer {
        match self {
            Question::Bads(properties) => {
                let bads = edges_of(safety, properties);
                match noted(total, solve(circuit, &bads, options, limits)) {
                    solve::Verdict::Safe(invariant) => Answer::Holds(None, invariant),
                    solve::Verdict::Unsafe(trace, fired) => {
                        let property = Property::Bad(properties[fired]);
                        Answer::Fails(Counterexample { property, trace, loop_start: None })
                    }
                    solve::Verdict::Unknown(stop) => Answer::Open(stop),
                }
            }
            &Question::Justice(index) => {
                match noted(total, live::solve::solve(circuit, index, options, limits)) {
                    live::solve::Verdict::Safe(monitor, invariant) => Answer::Holds(Some(monitor), invariant),
                    live::solve::Verdict::Unsafe(lasso) => Answer::Fails(Counterexample {
                        property: Property::Justice(index),
                        trace: lasso.trace,
                        loop_start: Some(lasso.start),
                    }),
                    live::solve::Verdict::Unknown(stop) => Answer::Open(stop),
                }
            }
        }
    }
}

fn edges_of(safety: &[Edge], properties: &[usize]) -> Vec<Edge> {
    properties.iter().map(|&property| safety[property]).collect()
}

/// Adds what is known of the work on a question to that on all, and returns its verdict.
fn noted<V>(total: &mut Outcome<()>, outcome: Outcome<V>) -> V {
    total.engine = outcome.engine;
    total.sizes = outcome.sizes;
    for (name, time) in outcome.phases {
        match total.phases.iter_mut().find(|(other, _)| *other == name) {
            Some((_, sum)) => *sum += time,
            None => total.phases.push((name, time)),
        }
    }
    outcome.verdict
}

/// The proof of all properties. Its parts have been checked; what is joined is checked once more.
fn proof(
    circuit: &Circuit,
    safety: &[Edge],
    properties: &[Property],
    mut parts: Vec<(Option<Monitor>, Invariant)>,
    limits: &Limits<'_>,
) -> Verdict {
    if parts.len() == 1
        && let Some((monitor, invariant)) = parts.pop()
    {
        return Verdict::Safe(Proof { monitors: monitor.into_iter().collect(), invariant });
    }
    let proof = Proof::join(circuit, parts);
    match check_proof(circuit, safety, properties, &proof, limits) {
        Ok(()) => Verdict::Safe(proof),
        Err(stop) => Verdict::Unknown(stop),
    }
}

/// Checks a proof of all the properties against the circuit as read.
fn check_proof(
    circuit: &Circuit,
    safety: &[Edge],
    properties: &[Property],
    proof: &Proof,
    limits: &Limits<'_>,
) -> Result<(), Stop> {
    let Monitored { circuit, alarms } = Monitored::new(circuit, &proof.monitors);
    let bads = excluded(safety, properties, &alarms);
    check_invariant(&circuit, &bads, &proof.invariant, limits).map_err(refused)
}

/// The edges that a proof excludes: the bads that were asked about, and the alarms of its monitors.
pub fn excluded(safety: &[Edge], properties: &[Property], alarms: &[Edge]) -> Vec<Edge> {
    let bads = properties.iter().filter_map(|property| match property {
        Property::Bad(index) => Some(safety[*index]),
        Property::Justice(_) => None,
    });
    bads.chain(alarms.iter().copied()).collect()
}
