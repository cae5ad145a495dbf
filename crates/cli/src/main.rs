//! The command line: options, output and exit status. The work is done in the library crates.

mod arguments;
mod check;
mod completions;
mod convert;
mod engines;
mod explain;
mod html;
mod info;
mod input;
mod limits;
mod man;
mod progress;
mod smt;
mod solve;
mod statistics;
mod talk;
mod transform;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use shofar_run::Stop;

/// Decides constrained Horn clauses and proves its answer.
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
}

#[derive(Subcommand)]
enum Command {
    Info(info::Arguments),
    Convert(convert::Arguments),
    Check(check::Arguments),
    Explain(Box<explain::Arguments>),
    Smt(smt::Arguments),
    Engines(engines::Arguments),
    Transform(transform::Arguments),
    Man(man::Arguments),
    Completions(completions::Arguments),
}

/// What ends a command early.
enum Failure {
    /// The input cannot be read or is wrong; the message is for the user.
    Input(String),
    /// The answer is no, and is given already; the message says why.
    Refused(String),
    /// The answer was given, but not all that was asked for beside it; the message is for the user.
    Incomplete(String),
    /// There is no answer: reading this file, or something after it, has ended without a result.
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
    let arguments = CommandLine::parse();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let result = match &arguments.command {
        Some(Command::Info(arguments)) => info::run(arguments, &mut out),
        Some(Command::Convert(arguments)) => convert::run(arguments, &mut out),
        Some(Command::Check(arguments)) => check::run(arguments, &mut out),
        Some(Command::Explain(arguments)) => explain::run(arguments, &mut out),
        Some(Command::Smt(arguments)) => smt::run(arguments, &mut out),
        Some(Command::Engines(arguments)) => engines::run(arguments, &mut out),
        Some(Command::Transform(arguments)) => transform::run(arguments, &mut out),
        Some(Command::Man(arguments)) => man::run(arguments, &mut out),
        Some(Command::Completions(arguments)) => completions::run(arguments, &mut out),
        None => solve::run(&arguments.solve, &mut out),
    };
    let flushed = out.flush();
    let (status, message) = match result.and_then(|()| Ok(flushed?)) {
        Ok(()) => return ExitCode::SUCCESS,
        // Whoever reads the output has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(Failure::Output(error)) => (2, format!("shofar: cannot write the output: {error}")),
        Err(Failure::Input(message) | Failure::Incomplete(message)) => (2, message),
        Err(Failure::Refused(message)) => (1, message),
        Err(Failure::Stopped(file, stop)) => (1, format!("{file}: {stop}")),
    };
    // Nothing can be done where even this message cannot be written.
    let _ = writeln!(io::stderr(), "{message}");
    ExitCode::from(status)
}
