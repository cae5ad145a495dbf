//! `shofar convert`: the clauses in another format.

use std::io::Write;

use clap::ValueEnum;
use shofar_horn::Format;
use shofar_logic::TermStore;

use crate::Failure;
use crate::input::read_system;

/// Writes the clauses in another format.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A file with Horn clauses; `-` is standard input.
    file: String,

    /// The format to write.
    #[arg(long, value_enum, default_value_t = Target::Smtlib)]
    to: Target,
}

#[derive(Clone, Copy, ValueEnum)]
enum Target {
    /// The format of the CHC competition.
    Smtlib,
    /// Z3's fixedpoint format: rules and queries over declared relations.
    Datalog,
    /// A graph for Graphviz: predicates are nodes, clauses are (hyper)edges.
    Dot,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let store = TermStore::new();
    let system = read_system(&store, &arguments.file)?;
    let format = match arguments.to {
        Target::Smtlib => Format::Smtlib,
        Target::Datalog => Format::Datalog,
        Target::Dot => Format::Dot,
    };
    Ok(system.write(&store, format, out)?)
}
