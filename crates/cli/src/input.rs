//! Reading the input file and the values of options.

use std::io::Read;
use std::time::Duration;

use shofar_horn::transform::Context;
use shofar_horn::{HornSystem, Unread};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_smt::sat::Reason;

use crate::Failure;

/// Reads the Horn clauses in a file; `-` stands for standard input.
pub(crate) fn read_system(store: &TermStore, file: &str) -> Result<HornSystem, Failure> {
    let (name, text) = read_text(file)?;
    shofar_horn::parse(store, name, &text).map_err(|error| Failure::Input(error.to_string()))
}

/// As [`read_system`], within limits: if they end, there is their reason. The names that the file declares are left in the
/// environment.
pub(crate) fn read_system_within(
    context: &Context<'_>,
    environment: &mut Environment,
    file: &str,
) -> Result<Result<HornSystem, Reason>, Failure> {
    let (name, text) = read_text(file)?;
    match shofar_horn::parse_within(context, environment, name, &text) {
        Ok(system) => Ok(Ok(system)),
        Err(Unread::Interrupted(reason)) => Ok(Err(reason)),
        Err(Unread::Wrong(error)) => Err(Failure::Input(error.to_string())),
    }
}

/// What is in a file, and what messages call it; `-` stands for standard input.
pub(crate) fn read_text(file: &str) -> Result<(&str, Vec<u8>), Failure> {
    let (name, text) = if file == "-" {
        let mut text = Vec::new();
        ("<stdin>", std::io::stdin().lock().read_to_end(&mut text).map(|_| text))
    } else {
        (file, std::fs::read(file))
    };
    let text = text.map_err(|error| Failure::Input(format!("shofar: cannot read {name}: {error}")))?;
    Ok((name, text))
}

/// A duration, as options have it.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is needed".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
