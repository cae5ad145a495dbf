//! `shofar convert`: writes clauses in another format, as a program or as a circuit, and circuits in AIGER or as clauses.

use std::io::Write;
use std::time::Instant;

use clap::ValueEnum;
use shofar_cooperate::circuits::circuit_of;
use shofar_hardware::aiger::{self, Encoding};
use shofar_hardware::circuit::Property;
use shofar_horn::cfa::{self, Cfa};
use shofar_horn::infix::Notation;
use shofar_horn::{Context, Format, HornGraph, HornSystem};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_run::Stop;

use crate::Failure;
use crate::arguments::NotationName;
use crate::circuit;
use crate::explain::for_terminal;
use crate::input::{QueryArgument, read_system_within, shown_name, stopped};
use crate::limits::{LimitArguments, without_limits};

/// Write clauses or a circuit in another format, as in `shofar convert program.smt2 --to dot`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file with the Horn clauses, or a circuit in AIGER or BTOR2; `-` reads standard input.
    file: String,

    /// The format of the output.
    #[arg(long, value_enum, default_value_t = Target::Smtlib)]
    to: Target,

    /// How an automaton executes clauses, as in `--to cfa --direction backward`. Without it, linear clauses run forward, and
    /// others as procedures.
    #[arg(long, value_name = "NAME", value_enum)]
    direction: Option<DirectionName>,

    /// How an automaton's formulas are written: in mathematical notation, the same in ASCII, or as in SMT-LIB.
    #[arg(long, value_name = "NAME", value_enum)]
    notation: Option<NotationName>,

    /// For circuits: make clauses for this property only, counted from 0: `--property 1` or `--property b1` for the second
    /// bad, `--property j0` for the first justice property. By default the clauses are satisfiable if no property ever fails.
    #[arg(long, value_name = "N", value_parser = circuit::property)]
    property: Option<Property>,

    #[command(flatten)]
    question: QueryArgument,

    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Clone, Copy, ValueEnum)]
enum Target {
    /// The format of the CHC competition, also by the name `smt2`. A circuit becomes clauses.
    #[value(alias = "smt2")]
    Smtlib,
    /// Z3's fixedpoint format: rules and queries over declared relations.
    Datalog,
    /// A graph for Graphviz: predicates are nodes, clauses are (hyper)edges.
    Dot,
    /// A control-flow automaton, as text: predicates are locations or procedures, clauses are edges or paths.
    Cfa,
    /// The same automaton as a graph for Graphviz.
    CfaDot,
    /// AIGER in its binary encoding, for circuits, and for linear clauses over Booleans.
    Aig,
    /// AIGER in ASCII, for the same.
    Aag,
}

#[derive(Clone, Copy, ValueEnum)]
enum DirectionName {
    /// From facts to queries, for linear clauses.
    Forward,
    /// From queries to facts, for linear clauses.
    Backward,
    /// A procedure for each predicate, which returns if its arguments are derivable.
    Procedures,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let is_automaton = matches!(arguments.to, Target::Cfa | Target::CfaDot);
    if !is_automaton && (arguments.direction.is_some() || arguments.notation.is_some()) {
        let message = "shofar: `--direction` and `--notation` are for automata; add `--to cfa`";
        return Err(Failure::Input(message.to_owned()));
    }
    let limits = arguments.limits.start(Instant::now());
    let is_circuit = circuit::is_circuit_within(&limits, &arguments.file);
    arguments.check_for(is_circuit)?;
    let encoding = match arguments.to {
        Target::Aig => Some(Encoding::Binary),
        Target::Aag => Some(Encoding::Ascii),
        _ => None,
    };
    if let (true, Some(encoding)) = (is_circuit, encoding) {
        return circuit::convert(&arguments.file, encoding, &limits, out);
    }
    let store = TermStore::new();
    let context = Context { store: &store, limits };
    let system = if is_circuit {
        circuit::read_clauses(&context, &arguments.file, arguments.property)?
    } else {
        read_system_within(&context, &mut Environment::new(&store), &arguments.file, arguments.question)?
    };
    if let Some(encoding) = encoding {
        let name = shown_name(&arguments.file);
        let circuit = circuit_of(&context, &system).map_err(|stop| match stop {
            Stop::Unsupported(what) => Failure::Input(format!("{name}: {what}")),
            stop => Failure::Stopped(name.to_owned(), stop),
        })?;
        return without_limits(|| {
            aiger::write(&circuit, encoding, b"", out)?;
            Ok(out.flush()?)
        });
    }
    let format = match arguments.to {
        Target::Smtlib => Format::Smtlib,
        Target::Datalog => Format::Datalog,
        Target::Dot => Format::Dot,
        Target::Cfa | Target::CfaDot | Target::Aig | Target::Aag => {
            return write_automaton(&context, &system, arguments, out);
        }
    };
    without_limits(|| {
        system.write(&store, format, out)?;
        Ok(out.flush()?)
    })
}

impl Arguments {
    /// Refuses options that the file's kind does not have.
    fn check_for(&self, is_circuit: bool) -> Result<(), Failure> {
        let message = match is_circuit {
            true if self.question.query.is_some() => {
                "`--query` is for Horn clauses, and the file is a circuit"
            }
            false if self.property.is_some() => "`--property` is for circuits, and the file has Horn clauses",
            _ if self.property.is_some() && matches!(self.to, Target::Aig | Target::Aag) => {
                "`--property` chooses a property for clauses; AIGER has all of them"
            }
            _ => return Ok(()),
        };
        Err(Failure::Input(format!("shofar: {message}")))
    }
}

fn write_automaton(
    context: &Context<'_>,
    system: &HornSystem,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let automaton = automaton(context, system, arguments)?;
    let notation = arguments.notation.map_or(Notation::Math, Notation::from);
    without_limits(|| {
        match arguments.to {
            Target::CfaDot => automaton.write_dot(context.store, notation, out)?,
            _ => automaton.write_text(context.store, for_terminal(notation), out)?,
        }
        Ok(out.flush()?)
    })
}

/// The automaton of the clauses, for people.
fn automaton(context: &Context<'_>, system: &HornSystem, arguments: &Arguments) -> Result<Cfa, Failure> {
    let store = context.store;
    let go_on = || context.go_on().map_err(|reason| stopped(&arguments.file, reason));
    let graph = HornGraph::of(store, system);
    go_on()?;
    let nonlinear = graph.edges().find(|(_, edge)| edge.is_hyperedge());
    let automaton = match (arguments.direction, nonlinear) {
        (Some(DirectionName::Procedures), _) | (None, Some(_)) => Ok(cfa::procedures(store, &graph)),
        (Some(direction), Some((id, edge))) => {
            let clause = system.clause_title(store, id.index());
            let predicates = edge.sources().len();
            let name = match direction {
                DirectionName::Backward => "backward",
                _ => "forward",
            };
            return Err(Failure::Input(format!(
                "{}: {clause} has {predicates} predicates in its body; {name} automata exist for linear clauses only: \
                 pass `--direction procedures`",
                shown_name(&arguments.file)
            )));
        }
        (Some(DirectionName::Backward), None) => cfa::backward(store, &graph),
        (Some(DirectionName::Forward) | None, None) => cfa::forward(store, &graph),
    };
    let automaton =
        automaton.map_err(|stop| Failure::Stopped(shown_name(&arguments.file).to_owned(), stop))?;
    go_on()?;
    let readable = automaton.readable(store, &graph, system);
    go_on()?;
    Ok(readable)
}
