//! Reading the input file.

use std::io::Read;

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
