//! Reading the input file and the values of options.

use std::io::Read;
use std::time::Duration;

use shofar_horn::HornSystem;
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;

use crate::Failure;

/// Reads the Horn clauses in a file; `-` stands for standard input.
pub(crate) fn read_system(store: &TermStore, file: &str) -> Result<HornSystem, Failure> {
    read_system_in(store, &mut Environment::new(store), file)
}

/// As [`read_system`], and leaves the names that the file declares in the environment.
pub(crate) fn read_system_in(
    store: &TermStore,
    environment: &mut Environment,
    file: &str,
) -> Result<HornSystem, Failure> {
    let (name, text) = read_text(file)?;
    shofar_horn::parse_in(store, environment, name, &text).map_err(|error| Failure::Input(error.to_string()))
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
