//! `shofar smt`: the SMT solver by itself.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use shofar_logic::TermStore;
use shofar_run::Limits;
use shofar_smt::script::{Commands, Progress, Script};

use crate::Failure;
use crate::input::seconds;

/// Executes an SMT-LIB script.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// An SMT-LIB script; `-` is standard input, which is answered command by command.
    #[arg(default_value = "-")]
    file: String,

    /// Seconds after which each query is answered with unknown.
    #[arg(short = 't', long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Mebibytes of memory beyond which a query is answered with unknown.
    #[arg(short = 'm', long, value_name = "MIB")]
    memory: Option<usize>,

    /// Tell in the end, on standard error, what was done.
    #[arg(long)]
    stats: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let input: Box<dyn BufRead> = if arguments.file == "-" {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(&arguments.file);
        let file =
            file.map_err(|error| Failure::Input(format!("shofar: cannot read {}: {error}", arguments.file)))?;
        Box::new(BufReader::new(file))
    };
    let memory = arguments.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20));
    let store = TermStore::new();
    let mut script = Script::new(&store);
    let mut commands = Commands::new(input);
    let unreadable =
        |error: io::Error| Failure::Input(format!("shofar: cannot read {}: {error}", arguments.file));
    while let Some(command) = commands.next_command().map_err(unreadable)? {
        let deadline = arguments.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let limits = Limits { deadline, memory, ..Limits::default() };
        let progress = script.execute(&command, &limits, out)?;
        // Whoever drives the solver waits for the answer.
        out.flush()?;
        if progress == Progress::Exit {
            break;
        }
    }
    if arguments.stats {
        report(&script.statistics());
    }
    Ok(())
}

/// Writes the figures that are not zero. Where even standard error cannot be written to, nobody misses them.
fn report(statistics: &[(&'static str, u64)]) {
    let mut out = io::stderr().lock();
    for (name, value) in statistics.iter().filter(|(_, value)| *value > 0) {
        let _ = writeln!(out, "{name:<24} {value:>14}");
    }
}
