//! `shofar engines`: which engines there are.

use std::io::Write;

use crate::Failure;

/// Lists the engines.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(Arguments {}: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    for engine in shofar_engines::all() {
        writeln!(out, "{:<10}  {}", engine.name(), engine.description())?;
    }
    Ok(())
}
