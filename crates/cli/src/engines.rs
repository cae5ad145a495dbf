//! `shofar engines`: which engines there are, and their options.

use std::io::Write;

use crate::Failure;

/// Lists the engines and their options.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(Arguments {}: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    for mut engine in shofar_engines::all() {
        let name = engine.name();
        writeln!(out, "{name:<10}  {}", engine.description())?;
        for option in engine.options() {
            let (option_name, help) = (option.name, option.help);
            let (value, values) = (option.get(), option.values());
            writeln!(out, "    -O {name}.{option_name}={value}  {help} ({values})")?;
        }
    }
    Ok(())
}
