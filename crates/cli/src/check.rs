//! `shofar check`: whether a witness proves its answer.

use std::io::Write;
use std::time::{Duration, Instant};

use shofar_horn::HornSystem;
use shofar_horn::check::{Fault, Verdict, check_model, check_refutation};
use shofar_horn::transform::Context;
use shofar_horn::witness::{Witness, read};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_smt::sat::Limits;

use crate::Failure;
use crate::input::{read_system_in, read_text, seconds};

/// Checks a model or a refutation against the clauses: prints `valid`, `invalid` or `unknown`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A file with Horn clauses; `-` is standard input.
    file: String,

    /// A file with a witness, of Shofar or of another solver; `-` is standard input.
    witness: String,

    /// Seconds after which the answer is unknown.
    #[arg(short = 't', long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Mebibytes of memory beyond which the answer is unknown.
    #[arg(short = 'm', long, value_name = "MIB")]
    memory: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let deadline = arguments.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let memory = arguments.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20));
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let system = read_system_in(&store, &mut environment, &arguments.file)?;
    let (name, text) = read_text(&arguments.witness)?;
    let witness = read(&store, &mut environment, &system, name, &text);
    let witness = witness.map_err(|error| Failure::Input(error.to_string()))?;
    let context = Context { store: &store, limits: Limits { deadline, memory, ..Limits::default() } };
    let verdict = match witness {
        Witness::Model(model) => match model.without_quantifiers(&context) {
            Ok(model) => check_model(&context, &system, &model),
            Err(lost) => Verdict::Unknown(lost),
        },
        Witness::Refutation(refutation) => check_refutation(&store, &system, &refutation),
    };
    match verdict {
        Verdict::Valid => Ok(writeln!(out, "valid")?),
        Verdict::Invalid(fault) => {
            writeln!(out, "invalid")?;
            Err(Failure::Refused(format!(
                "{name}: {}",
                explanation(&store, &system, &arguments.file, &fault)
            )))
        }
        Verdict::Unknown(lost) => {
            writeln!(out, "unknown")?;
            Err(Failure::Refused(format!("{name}: {lost}")))
        }
    }
}

/// What is wrong, with the clause that it is about as it is written.
fn explanation(store: &TermStore, system: &HornSystem, file: &str, fault: &Fault) -> String {
    let message = fault.display(store, system);
    match fault {
        Fault::Violated { clause, .. } => {
            let (position, text) = (system.clauses[*clause].position, system.clause_text(store, *clause));
            format!("{message}\n{file}:{position}:\n{}", text.trim_end())
        }
        _ => message.to_string(),
    }
}
