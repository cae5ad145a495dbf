//! Reading the input file and the values of options.

use std::io::Read;
use std::time::Duration;

use shofar_horn::HornSystem;
use shofar_logic::TermStore;

use crate::Failure;

/// Reads the Horn clauses in a file; `-` stands for standard input.
pub(crate) fn read_system(store: &TermStore, file: &str) -> Result<HornSystem, Failure> {
    let (name, text) = if file == "-" {
        let mut text = Vec::new();
        ("<stdin>", std::io::stdin().lock().read_to_end(&mut text).map(|_| text))
    } else {
        (file, std::fs::read(file))
    };
    let text = text.map_err(|error| Failure::Input(format!("shofar: cannot read {name}: {error}")))?;
    shofar_horn::parse(store, name, &text).map_err(|error| Failure::Input(error.to_string()))
}

/// A duration, as options have it.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is needed".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
