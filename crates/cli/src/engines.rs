//! `shofar engines`: lists the engines and their options.

use std::io::Write;

use shofar_engines::EngineOption;

use crate::Failure;

/// List the engines and their options.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(Arguments {}: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    for mut engine in shofar_engines::all() {
        let name = engine.name();
        writeln!(out, "{name:<10}  {}", engine.description())?;
        for option in engine.options() {
            let EngineOption { name: option_name, default, meaning, .. } = &option;
            writeln!(out, "    -O {name}.{option_name}={default}  {meaning} ({})", option.values())?;
        }
    }
    Ok(())
}
