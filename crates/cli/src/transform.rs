//! `shofar transform`: transforms the clauses and writes them.

use std::io::{self, Write};
use std::time::Instant;

use shofar_horn::Context;
use shofar_horn::transform::{Passes, Report};
use shofar_horn::{Format, HornGraph};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_run::Reason;

use crate::Failure;
use crate::input::{QueryArgument, read_system_within, shown_name, stopped};
use crate::limits::{LimitArguments, without_limits};

/// Write the clauses as transformations leave them, as in `shofar transform program.smt2 --passes inline`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file with the Horn clauses; `-` reads standard input.
    file: String,

    /// Apply these transformations, in this order. `standard` stands for those that solving starts with; `no-NAME` removes
    /// one of the names before it, as in `--passes standard,no-inline`.
    #[arg(long, value_name = "NAMES", default_value = "standard")]
    passes: Passes,

    /// Print on standard error what each transformation has changed.
    #[arg(long)]
    stats: bool,

    #[command(flatten)]
    question: QueryArgument,

    #[command(flatten)]
    limits: LimitArguments,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let pipeline = arguments.passes.pipeline();
    let store = TermStore::new();
    let context = Context { store: &store, limits: arguments.limits.start(Instant::now()) };
    let system =
        read_system_within(&context, &mut Environment::new(&store), &arguments.file, arguments.question)?;
    let graph = HornGraph::within(&context, &system)
        .map_err(|stop| Failure::Stopped(shown_name(&arguments.file).to_owned(), stop))?;
    let (transformed, reports) = pipeline.run(&context, graph);
    if arguments.stats {
        report(&reports);
    }
    match context.interrupted() {
        // The transformations so far are sound.
        None | Some(Reason::Deadline) => {}
        Some(reason) => return Err(stopped(&arguments.file, reason)),
    }
    without_limits(|| {
        let transformed = transformed.graph.to_system(&store, &system);
        transformed.write(&store, Format::Smtlib, out)?;
        Ok(out.flush()?)
    })
}

/// Writes the figures. Failures to write are ignored.
fn report(reports: &[Report]) {
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "{:<12} {:>19} {:>19} {:>21} {:>9}", "pass", "nodes", "edges", "terms", "seconds");
    for Report { name, before, after, time, .. } in reports {
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
