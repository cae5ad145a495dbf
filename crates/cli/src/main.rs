//! The command line: options, output and exit status. The library crates do the work.

mod arguments;
mod check;
mod circuit;
#[cfg(feature = "cluster")]
mod cluster;
mod compatible;
mod completions;
mod convert;
mod diagnostic;
mod engines;
mod escape;
mod explain;
mod history;
mod html;
mod info;
mod input;
mod limits;
mod man;
mod parse;
mod progress;
mod smt;
mod solve;
mod statistics;
mod talk;
mod terminate;
mod trace;
mod transform;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use anstream::ColorChoice;
use clap::{Parser, Subcommand};
use shofar_run::Stop;

use crate::compatible::Call;
use crate::diagnostic::Diagnostic;
use crate::parse::Job;

/// Decides constrained Horn clauses and circuits, and proves its answer, as in `shofar program.smt2`.
#[derive(Parser)]
#[command(
    name = "shofar",
    version,
    about,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    solve: arguments::Arguments,

    #[command(flatten)]
    colors: Colors,
}

#[derive(clap::Args)]
struct Colors {
    /// Colour the output, as in `--color never`. `auto` colours on a terminal, unless NO_COLOR is set or TERM is `dumb`;
    /// CLICOLOR_FORCE=1 forces colours.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, global = true)]
    color: Color,
}

/// When to colour the output.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Decides for all streams of this process.
    fn set(self) {
        match self {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
        .write_global();
    }
}

#[derive(Subcommand)]
enum Command {
    Info(info::Arguments),
    Convert(convert::Arguments),
    Check(check::Arguments),
    Explain(Box<explain::Arguments>),
    Hwmcc(circuit::Competition),
    Smt(smt::Arguments),
    Terminate(terminate::Arguments),
    Engines(engines::Arguments),
    Transform(transform::Arguments),
    #[cfg(feature = "cluster")]
    Worker(cluster::worker::Arguments),
    #[cfg(feature = "cluster")]
    Batch(cluster::batch::Arguments),
    #[cfg(feature = "cluster")]
    Cluster(cluster::status::Arguments),
    Man(man::Arguments),
    Completions(completions::Arguments),
}

/// Why a command ends early.
enum Failure {
    /// The input cannot be read, or an option is wrong; the message is for the user.
    Input(String),
    /// There is a mistake in the text of the input.
    Mistake(Box<Diagnostic>),
    /// The answer is no and already printed; the message says why.
    Refused(String),
    /// The answer is printed, but a part of the output is missing; the message says which.
    Incomplete(String),
    /// There is no answer: the work on this file ended without a result.
    Stopped(String, Stop),
    /// The output cannot be written.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

fn main() -> ExitCode {
    let start = Instant::now();
    let call = Call::new(std::env::args_os());
    let (job, color) = Job::read(&call.arguments);
    color.set();
    if let Some(note) = call.note().filter(|_| !job.solving().is_some_and(|solving| solving.quiet)) {
        // Ignore failures: there is no other place for a note.
        let _ = writeln!(io::stderr(), "{}", escape::lines(&note));
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let result = trace::start(job.verbosity()).and_then(|()| run(&job, &call, start, &mut out));
    if let Err(failure) = &result {
        // Ignore failures: the message on standard error matters more.
        let _ = if job.prints_json() {
            talk::print_error(failure, start.elapsed(), &mut out)
        } else if call.solver.is_some() {
            compatible::print_error(failure, &mut out)
        } else {
            Ok(())
        };
    }
    let flushed = out.flush();
    let (status, message) = match result.and_then(|status| flushed.map(|()| status).map_err(Failure::from)) {
        Ok(status) => return ExitCode::from(status),
        // The reader has closed the pipe.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(Failure::Mistake(mistake)) => {
            // Ignore failures: there is no other place for a message.
            let _ = mistake.print();
            return ExitCode::from(2);
        }
        Err(Failure::Output(error)) => (2, format!("shofar: cannot write the output: {error}")),
        Err(Failure::Input(message) | Failure::Incomplete(message)) => (2, message),
        Err(Failure::Refused(message)) => (1, message),
        Err(Failure::Stopped(file, stop)) => (1, format!("{file}: {stop}")),
    };
    let _ = writeln!(io::stderr(), "{}", escape::lines(&message));
    ExitCode::from(status)
}

/// Runs the command. The result is the exit status.
fn run(job: &Job, call: &Call, start: Instant, out: &mut impl Write) -> Result<u8, Failure> {
    call.check()?;
    let command = match job {
        Job::Command(command) => command,
        Job::Solve(arguments) => {
            return if let Some(solver) = call.solver {
                compatible::run(solver, arguments, start, out).map(|()| 0)
            } else if arguments.is_circuit(start) {
                circuit::run(arguments, start, out)
            } else {
                solve::run(arguments, start, out).map(|()| 0)
            };
        }
    };
    let done = match command {
        Command::Hwmcc(arguments) => return circuit::compete(arguments, out),
        Command::Info(arguments) => info::run(arguments, out),
        Command::Convert(arguments) => convert::run(arguments, out),
        Command::Check(arguments) => check::run(arguments, out),
        Command::Explain(arguments) => explain::run(arguments, out),
        Command::Smt(arguments) => smt::run(arguments, out),
        Command::Terminate(arguments) => terminate::run(arguments, start, out),
        Command::Engines(arguments) => engines::run(arguments, out),
        Command::Transform(arguments) => transform::run(arguments, out),
        #[cfg(feature = "cluster")]
        Command::Worker(arguments) => cluster::worker::run(arguments, out),
        #[cfg(feature = "cluster")]
        Command::Batch(arguments) => cluster::batch::run(arguments, out),
        #[cfg(feature = "cluster")]
        Command::Cluster(arguments) => cluster::status::run(arguments, out),
        Command::Man(arguments) => man::run(arguments, out),
        Command::Completions(arguments) => completions::run(arguments, out),
    };
    done.map(|()| 0)
}
