//! Justice properties: is there an infinite run in which certain edges are true again and again?
//!
//! A run violates a justice property if it is infinite, the constraints hold in all its steps, and each edge of the
//! property and each fairness constraint is true infinitely often. A circuit has finitely many states, so if there is
//! such a run, there is one that ends in a loop: a *lasso*. The latches that the edges and the constraints do not
//! depend on do not matter to it.
//!
//! Both techniques turn the question into one of safety. They add a [`Monitor`] to the circuit, which watches it and
//! never changes what it does, and ask whether the monitor can raise an alarm, an edge of its own:
//!
//! * `shadow`, liveness to safety: the alarm is a lasso. It decides the property, both ways.
//! * `rounds`, k-liveness: the alarm comes after k rounds in which all edges were true. If it never comes, the property
//!   holds. If it comes, nothing follows, and k is raised.
//!
//! * L1: a property holds if the alarm of one of its monitors is never raised. So an invariant of the circuit with
//!   its monitors is a [`Proof`]; the checker adds the monitors to the circuit as read once more.
//! * L2: nodes of the circuit keep their numbers when monitors are added, and their inputs and latches come first.

mod join;
pub mod lasso;
mod rounds;
mod shadow;
pub mod solve;

use std::fmt;

use crate::aig::{Builder, Edge, Node};
use crate::circuit::{Circuit, Latch, Names, Property, Reset};
use crate::evidence::{Invariant, Trace};

/// The greatest number of rounds that a monitor counts.
pub const MOST_ROUNDS: usize = 1 << 16;

/// The line in the comments of a witness circuit behind which its monitors are named.
const HEADING: &str = "MONITORS";

/// What is added to a circuit in order to decide a justice property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Monitor {
    /// The justice property, by its index.
    pub justice: usize,
    /// What the monitor looks for.
    pub method: Method,
}

/// What a monitor looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// A state that occurs twice, with all edges true in between.
    Shadow,
    /// This many rounds in which all edges were true, between 1 and [`MOST_ROUNDS`].
    Rounds(usize),
}

/// A proof that properties hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    /// The monitors of the justice properties.
    pub monitors: Vec<Monitor>,
    /// An invariant of the circuit with these monitors. It excludes the alarms, and the bads that were asked about.
    pub invariant: Invariant,
}

/// A circuit with monitors.
#[derive(Clone, Debug)]
pub struct Monitored {
    /// The circuit, whose further inputs and latches are those of the monitors.
    pub circuit: Circuit,
    /// By monitors: its alarm.
    pub alarms: Vec<Edge>,
}

impl Monitored {
    /// Adds monitors to a circuit.
    ///
    /// # Panics
    /// If a monitor is about a property that the circuit does not have.
    pub fn new(circuit: &Circuit, monitors: &[Monitor]) -> Self {
        let mut addition = Addition {
            builder: Builder::on(circuit.aig.clone()),
            inputs: circuit.inputs.clone(),
            latches: circuit.latches.clone(),
            names: circuit.names.clone(),
            property: String::new(),
        };
        addition.names.inputs.resize(circuit.inputs.len(), String::new());
        addition.names.latches.resize(circuit.latches.len(), String::new());
        let mut alarms = Vec::with_capacity(monitors.len());
        for monitor in monitors {
            let edges = circuit.recurring(monitor.justice);
            addition.property = Property::Justice(monitor.justice).to_string();
            alarms.push(match monitor.method {
                Method::Shadow => shadow::add(circuit, &edges, &mut addition),
                Method::Rounds(rounds) => rounds::add(&edges, rounds, &mut addition),
            });
        }
        let Addition { builder, inputs, latches, names, .. } = addition;
        let circuit = Circuit { aig: builder.into_aig(), inputs, latches, names, ..circuit.clone() };
        Self { circuit, alarms }
    }
}

/// The trace of the circuit in a trace of the circuit with monitors.
fn without_monitors(circuit: &Circuit, trace: &Trace) -> Trace {
    let inputs = trace.inputs.iter().map(|values| values[..circuit.inputs.len()].to_vec());
    Trace { initial: trace.initial[..circuit.latches.len()].to_vec(), inputs: inputs.collect() }
}

/// The inputs, latches and gates of a circuit, to which monitors add theirs.
struct Addition {
    builder: Builder,
    inputs: Vec<Node>,
    latches: Vec<Latch>,
    names: Names,
    /// The property whose monitor is added; names of its inputs and latches begin so.
    property: String,
}

impl Addition {
    /// A new input.
    fn input(&mut self, name: &str) -> Edge {
        let node = self.builder.leaf();
        self.names.inputs.push(format!("{}.{name}", self.property));
        self.inputs.push(node);
        node.into()
    }

    /// A new latch, which is false at first.
    fn latch(&mut self, name: &str) -> Edge {
        let node = self.builder.leaf();
        self.names.latches.push(format!("{}.{name}", self.property));
        self.latches.push(Latch { node, next: Edge::FALSE, reset: Reset::Constant(false) });
        node.into()
    }

    /// Says what the value of a new latch is in the next step.
    fn set_next(&mut self, latch: Edge, next: Edge) {
        let mut latches = self.latches.iter_mut().rev();
        latches.find(|other| other.node == latch.node()).expect("a latch of the monitor").next = next;
    }
}

impl fmt::Display for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let property = Property::Justice(self.justice);
        match self.method {
            Method::Shadow => write!(f, "{property} shadow"),
            Method::Rounds(rounds) => write!(f, "{property} rounds {rounds}"),
        }
    }
}

impl Monitor {
    /// The monitor that is written so.
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let (property, method) = match words[..] {
            [property, "shadow"] => (property, Method::Shadow),
            [property, "rounds", rounds] => {
                let rounds = rounds.parse().ok().filter(|rounds| (1..=MOST_ROUNDS).contains(rounds));
                (property, Method::Rounds(rounds?))
            }
            _ => return None,
        };
        match Property::parse(property)? {
            Property::Justice(justice) => Some(Self { justice, method }),
            Property::Bad(_) => None,
        }
    }
}

/// The comments of a witness circuit that name the monitors of its proof; empty without monitors.
pub fn comments_of(monitors: &[Monitor]) -> String {
    if monitors.is_empty() {
        return String::new();
    }
    let lines: String = monitors.iter().map(|monitor| format!("{monitor}\n")).collect();
    format!("{HEADING}\n{lines}")
}

/// The monitors that the comments of a witness circuit name. The error is a line that names none, or a property that the
/// circuit does not have.
pub fn monitors_in(circuit: &Circuit, comments: &[u8]) -> Result<Vec<Monitor>, String> {
    let comments = String::from_utf8_lossy(comments);
    let lines = comments.lines().skip_while(|line| line.trim_end() != HEADING).skip(1);
    let mut monitors: Vec<Monitor> = Vec::new();
    for line in lines.take_while(|line| line.starts_with('j')) {
        let monitor = Monitor::parse(line).ok_or_else(|| {
            format!("`{}` names no monitor", line.escape_debug().take(80).collect::<String>())
        })?;
        if monitor.justice >= circuit.justice.len() {
            return Err(format!("the circuit has no property {}", Property::Justice(monitor.justice)));
        }
        if monitors.iter().any(|other| other.justice == monitor.justice) {
            return Err(format!("two monitors of {}", Property::Justice(monitor.justice)));
        }
        monitors.push(monitor);
    }
    Ok(monitors)
}
