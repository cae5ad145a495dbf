//! `shofar transform`: what transformations make of the clauses.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use shofar_horn::Context;
use shofar_horn::transform::{Pipeline, Report};
use shofar_horn::{Format, HornGraph};
use shofar_logic::TermStore;
use shofar_run::Limits;

use crate::Failure;
use crate::input::{read_system, seconds};

/// Writes the clauses as transformations leave them.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A file with Horn clauses; `-` is standard input.
    file: String,

    /// The transformations to apply, in this order; `standard` is what solving starts with, and `no-NAME` takes one
    /// out of what stands before.
    #[arg(long, value_name = "NAMES", default_value = "standard")]
    passes: String,

    /// Seconds after which no more transformations are applied.
    #[arg(short = 't', long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Tell on standard error what each transformation has changed.
    #[arg(long)]
    stats: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let pipeline =
        Pipeline::parse(&arguments.passes).map_err(|error| Failure::Input(format!("shofar: {error}")))?;
    let store = TermStore::new();
    let system = read_system(&store, &arguments.file)?;
    let deadline = arguments.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let context = Context { store: &store, limits: Limits { deadline, ..Limits::default() } };
    let (transformed, reports) = pipeline.run(&context, HornGraph::of(&store, &system));
    if arguments.stats {
        report(&reports);
    }
    let transformed = transformed.graph.to_system(&store, &system);
    Ok(transformed.write(&store, Format::Smtlib, out)?)
}

/// Writes the figures. Where even standard error cannot be written to, nobody misses them.
fn report(reports: &[Report]) {
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "{:<12} {:>19} {:>19} {:>21} {:>9}", "pass", "nodes", "edges", "terms", "seconds");
    for Report { name, before, after, time } in reports {
        let change = |before: usize, after: usize| format!("{before} -> {after}");
        let _ = writeln!(
            out,
            "{name:<12} {:>19} {:>19} {:>21} {:>9.3}",
            change(before.nodes, after.nodes),
            change(before.edges, after.edges),
            change(before.terms, after.terms),
            time.as_secs_f64()
        );
    }
}
