//! The command line: options, output and exit status. The work is done in the library crates.

mod convert;
mod engines;
mod info;
mod input;
mod smt;
mod solve;
mod transform;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Decides constrained Horn clauses and proves its answer.
#[derive(Parser)]
#[command(version, about, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    solve: solve::Arguments,
}

#[derive(Subcommand)]
enum Command {
    Info(info::Arguments),
    Convert(convert::Arguments),
    Smt(smt::Arguments),
    Engines(engines::Arguments),
    Transform(transform::Arguments),
}

/// What ends a command early.
enum Failure {
    /// The input cannot be read or is wrong; the message is for the user.
    Input(String),
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
        Some(Command::Smt(arguments)) => smt::run(arguments, &mut out),
        Some(Command::Engines(arguments)) => engines::run(arguments, &mut out),
        Some(Command::Transform(arguments)) => transform::run(arguments, &mut out),
        None => solve::run(&arguments.solve, &mut out),
    };
    let message = match result.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => return ExitCode::SUCCESS,
        // Whoever reads the output has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(Failure::Output(error)) => format!("shofar: cannot write the output: {error}"),
        Err(Failure::Input(message)) => message,
    };
    // Nothing can be done where even this message cannot be written.
    let _ = writeln!(io::stderr(), "{message}");
    ExitCode::from(2)
}
