//! `shofar info`: describes the clauses of a file.

use std::io::{self, Write};
use std::time::Instant;

use shofar_horn::{Context, Info};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;

use crate::Failure;
use crate::input::{QueryArgument, read_system_within};
use crate::limits::{LimitArguments, without_limits};

/// Print what kind of clauses a file has, as in `shofar info program.smt2`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file with the Horn clauses; `-` reads standard input.
    file: String,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    question: QueryArgument,

    #[command(flatten)]
    limits: LimitArguments,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let store = TermStore::new();
    let context = Context { store: &store, limits: arguments.limits.start(Instant::now()) };
    let system =
        read_system_within(&context, &mut Environment::new(&store), &arguments.file, arguments.question)?;
    without_limits(|| {
        let info = system.info(&store);
        if arguments.json {
            serde_json::to_writer_pretty(&mut *out, &info).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            report(&info, out)?;
        }
        Ok(out.flush()?)
    })
}

fn report(info: &Info, out: &mut impl Write) -> io::Result<()> {
    let recursive = info.predicates.iter().filter(|p| p.recursive).count();
    writeln!(
        out,
        "predicates  {}, {recursive} of them recursive in {}",
        info.predicates.len(),
        counted(info.loops, "loop", "loops")
    )?;
    for predicate in &info.predicates {
        let mark = if predicate.recursive { "  recursive" } else { "" };
        writeln!(out, "            {} ({}){mark}", predicate.name, predicate.sorts.join(" "))?;
    }
    writeln!(
        out,
        "clauses     {}: {}, {}, {}",
        info.facts + info.rules + info.queries,
        counted(info.facts, "fact", "facts"),
        counted(info.rules, "rule", "rules"),
        counted(info.queries, "query", "queries")
    )?;
    if let Some(largest) = &info.largest_clause {
        writeln!(
            out,
            "largest     the one in line {}: {}, {} in the body, {}",
            largest.line,
            counted(largest.variables, "variable", "variables"),
            counted(largest.atoms, "atom", "atoms"),
            counted(largest.terms, "term", "terms")
        )?;
    }
    let theories = info.theories.names();
    writeln!(
        out,
        "theories    {}",
        if theories.is_empty() { "none".to_owned() } else { theories.join(", ") }
    )?;
    let shape = match (info.transition_system, info.linear) {
        (true, _) => "linear, a transition system",
        (false, true) => "linear",
        (false, false) => "not linear",
    };
    writeln!(out, "shape       {shape}")?;
    writeln!(out, "track       {}", info.track.unwrap_or("none"))
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
