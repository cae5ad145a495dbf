//! `shofar convert`: writes the clauses in another format.

use std::io::Write;
use std::time::Instant;

use clap::ValueEnum;
use shofar_horn::{Context, Format};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;

use crate::Failure;
use crate::input::{QueryArgument, read_system_within};
use crate::limits::{LimitArguments, without_limits};

/// Write the clauses in another format, as in `shofar convert program.smt2 --to dot`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file with the Horn clauses; `-` reads standard input.
    file: String,

    /// The format of the output.
    #[arg(long, value_enum, default_value_t = Target::Smtlib)]
    to: Target,

    #[command(flatten)]
    question: QueryArgument,

    #[command(flatten)]
    limits: LimitArguments,
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
    let context = Context { store: &store, limits: arguments.limits.start(Instant::now()) };
    let system =
        read_system_within(&context, &mut Environment::new(&store), &arguments.file, arguments.question)?;
    let format = match arguments.to {
        Target::Smtlib => Format::Smtlib,
        Target::Datalog => Format::Datalog,
        Target::Dot => Format::Dot,
    };
    without_limits(|| {
        system.write(&store, format, out)?;
        Ok(out.flush()?)
    })
}
