//! `shofar engines`: lists the engines for Horn clauses with their options, and those for circuits.

use std::io::Write;

use shofar_engines::EngineOption;
use shofar_hardware::solve::ENGINES;

use crate::Failure;

/// List the engines and their options.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(Arguments {}: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "For Horn clauses (SMT-LIB):")?;
    for mut engine in shofar_engines::all() {
        let name = engine.name();
        writeln!(out, "{name:<10}  {}", engine.description())?;
        for option in engine.options() {
            let EngineOption { name: option_name, default, meaning, .. } = &option;
            writeln!(out, "    -O {name}.{option_name}={default}  {meaning} ({})", option.values())?;
        }
    }
    writeln!(out, "For circuits (AIGER, BTOR2):")?;
    for engine in ENGINES {
        writeln!(out, "{:<10}  {}", engine.name, engine.description)?;
    }
    Ok(())
}
