//! `shofar smt`: the SMT solver without Horn clauses.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use shofar_horn::{ParseError, Position};
use shofar_logic::TermStore;
use shofar_logic::smtlib::SyntaxError;
use shofar_run::Limits;
use shofar_smt::script::{Commands, Progress, Script};

use crate::Failure;
use crate::diagnostic::Diagnostic;
use crate::input::{peeked_stdin, seconds};
use crate::limits::LimitArguments;

/// The number of bytes that are read from a file at a time.
const CHUNK: usize = 1 << 16;

/// The number of bytes after which their lines are counted, so that they need not be kept.
const MOST_UNCOUNTED: usize = 1 << 20;

/// Execute an SMT-LIB script, as in `shofar smt script.smt2`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The SMT-LIB script; `-` reads standard input and answers each command at once.
    #[arg(default_value = "-")]
    file: String,

    /// Answer `unknown` to each query after this many seconds, as in `-t 10`.
    #[arg(short = 't', long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Answer `unknown` to a query at this many mebibytes of memory, as in `-m 4096`.
    #[arg(short = 'm', long, value_name = "MIB")]
    memory: Option<usize>,

    /// Print counters on standard error at the end.
    #[arg(long)]
    stats: bool,

    /// Print the debug trace on standard error: `-vv` shows commands, `-vvv` queries too. RUST_LOG selects modules, as in
    /// `RUST_LOG=shofar_smt=trace`.
    #[arg(short = 'v', long, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl Arguments {
    /// Executes a file within limits for each query.
    pub(crate) fn new(file: &str, limits: LimitArguments) -> Self {
        let LimitArguments { timeout, memory } = limits;
        Arguments { file: file.to_owned(), timeout, memory, stats: false, verbose: 0 }
    }

    /// How many times `-v` is given.
    pub(crate) fn verbosity(&self) -> u8 {
        self.verbose
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let input: Box<dyn BufRead> = if arguments.file == "-" {
        match peeked_stdin() {
            Some(text) => Box::new(io::Cursor::new(text?)),
            None => Box::new(io::stdin().lock()),
        }
    } else {
        let file = File::open(&arguments.file);
        let file =
            file.map_err(|error| Failure::Input(format!("shofar: cannot read {}: {error}", arguments.file)))?;
        Box::new(BufReader::with_capacity(CHUNK, file))
    };
    let memory = arguments.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20));
    // The process ends soon: freeing all terms and clauses would only delay it.
    let store = ManuallyDrop::new(TermStore::new());
    let mut script = ManuallyDrop::new(Script::new(&store));
    let mut commands = Commands::new(input);
    let unreadable =
        |error: io::Error| Failure::Input(format!("shofar: cannot read {}: {error}", arguments.file));
    // The place in a file up to which lines are counted, and the commands after it. Small scripts without mistakes need no count.
    let mut place = Position { line: 1, column: 1 };
    let mut uncounted = Vec::new();
    while let Some(command) = commands.next_command().map_err(unreadable)? {
        let deadline = arguments.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let limits = Limits { deadline, memory, ..Limits::default() };
        let progress = script.execute(&command, &limits, out)?;
        // The program that drives the solver waits for the answer.
        out.flush()?;
        if let Some(mistake) = script.mistake()
            && arguments.file != "-"
        {
            // The answer says what is wrong, and this where. Failures to write are ignored.
            place = place.after(&uncounted);
            uncounted.clear();
            let _ = diagnostic(&arguments.file, place, &command, mistake).print();
        }
        if arguments.file != "-" {
            uncounted.extend_from_slice(&command);
        }
        if uncounted.len() > MOST_UNCOUNTED {
            place = place.after(&uncounted);
            uncounted.clear();
        }
        if progress == Progress::Exit {
            break;
        }
    }
    if arguments.stats {
        report(&script.statistics());
    }
    Ok(())
}

/// A mistake in a command that starts at this place of the file.
fn diagnostic(file: &str, start: Position, command: &[u8], mistake: &SyntaxError) -> Diagnostic {
    let mut error = ParseError::of(file, command, mistake.clone());
    error.position = start.after(&command[..mistake.offset.min(command.len())]);
    Diagnostic::new(command, error)
}

/// Writes the figures that are not zero. Failures to write are ignored.
fn report(statistics: &[(&'static str, u64)]) {
    let mut out = io::stderr().lock();
    for (name, value) in statistics.iter().filter(|(_, value)| *value > 0) {
        let _ = writeln!(out, "{name:<24} {value:>14}");
    }
}
