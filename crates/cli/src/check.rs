//! `shofar check`: checks that a witness proves its answer.

use std::io::Write;
use std::time::Instant;

use shofar_cooperate::termination;
use shofar_hardware::circuit::Property;
use shofar_horn::Context;
use shofar_horn::HornSystem;
use shofar_horn::check::{Fault, Trust, Validity, checked, export_induction, export_model};
use shofar_horn::witness::{self, Witness};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;

use crate::Failure;
use crate::circuit;
use crate::input::{QueryArgument, failure, read_system_within, read_text_within, shown_name};
use crate::limits::LimitArguments;

/// Check a model, a refutation or a certificate of `shofar terminate` against the clauses, as in `shofar check program.smt2
/// witness`, or a stimulus or witness circuit against a circuit. Prints `valid`, `invalid` or `unknown`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file with the Horn clauses, or a circuit in AIGER or BTOR2; `-` reads clauses from standard input.
    file: String,

    /// The file with the witness, of Shofar or of another solver; `-` reads standard input.
    witness: String,

    /// Write what must be proved of a model or a proof by induction as an SMT-LIB script, and check no model. The witness is
    /// right if another solver answers `unsat` to all queries.
    #[arg(long)]
    export: bool,

    /// For circuits: the property that the witness is about, as `0` or `b0` for the first bad and `j0` for the first
    /// justice property. By default a proof is about all properties.
    #[arg(long, value_name = "N", value_parser = circuit::property, conflicts_with_all = ["export", "query"])]
    property: Option<Property>,

    #[command(flatten)]
    question: QueryArgument,

    #[command(flatten)]
    limits: LimitArguments,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    if arguments.file == "-" && arguments.witness == "-" {
        let message = "shofar: standard input is the clauses or the witness, not both";
        return Err(Failure::Input(message.to_owned()));
    }
    let limits = arguments.limits.start(Instant::now());
    if circuit::is_circuit_within(&limits, &arguments.file) {
        if arguments.export {
            let message = "shofar: `--export` is for Horn clauses, and the file is a circuit";
            return Err(Failure::Input(message.to_owned()));
        }
        return circuit::check(&arguments.file, &arguments.witness, arguments.property, &limits, out);
    }
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let context = Context { store: &store, limits };
    let system =
        known(read_system_within(&context, &mut environment, &arguments.file, arguments.question), out)?;
    let name = shown_name(&arguments.witness);
    let text = known(read_text_within(&context.limits, &arguments.witness), out)?;
    if termination::is_certificate(&text) {
        if arguments.export {
            let message =
                format!("{name}: models and proofs by induction are exported, and this is about termination");
            return Err(Failure::Input(message));
        }
        let certificate = termination::read(&context, &mut environment, &system, name, &text);
        let certificate = known(certificate.map_err(|unread| failure(name, &text, unread)), out)?;
        let validity = termination::check(&context, &system, &certificate, Trust::Proofs);
        return judged(&validity, &complaint(&store, &system, &arguments.file, name, &validity), out);
    }
    let witness = witness::read_within(&context, &mut environment, &system, name, &text);
    let witness = known(witness.map_err(|unread| failure(name, &text, unread)), out)?;
    if arguments.export {
        return match &witness {
            Witness::Model(model) => Ok(export_model(&store, &system, model, out)?),
            Witness::Induction(proof) => match export_induction(&context, &system, proof, out) {
                Ok(written) => Ok(written?),
                Err(validity) => {
                    Err(Failure::Refused(complaint(&store, &system, &arguments.file, name, &validity)))
                }
            },
            Witness::Refutation(_) => Err(Failure::Input(format!(
                "{name}: models and proofs by induction are exported, and this is a refutation"
            ))),
            Witness::Saturation(_) => Err(Failure::Input(format!(
                "{name}: this is a saturation, and there is no form of it in SMT-LIB"
            ))),
        };
    }
    let validity = checked(&context, &system, witness).err().unwrap_or(Validity::Valid);
    judged(&validity, &complaint(&store, &system, &arguments.file, name, &validity), out)
}

/// Prints the verdict. The failure of a witness that is not valid has the complaint as its message.
fn judged(validity: &Validity, complaint: &str, out: &mut impl Write) -> Result<(), Failure> {
    match validity {
        Validity::Valid => return Ok(writeln!(out, "valid")?),
        Validity::Invalid(_) => writeln!(out, "invalid")?,
        Validity::Unknown(_) => writeln!(out, "unknown")?,
    }
    Err(Failure::Refused(complaint.to_owned()))
}

/// Passes a result on; prints `unknown` if a limit has ended reading.
fn known<T>(read: Result<T, Failure>, out: &mut impl Write) -> Result<T, Failure> {
    if let Err(Failure::Stopped(..)) = read {
        writeln!(out, "unknown")?;
    }
    read
}

/// The message about a witness that is not valid.
pub(crate) fn complaint(
    store: &TermStore,
    system: &HornSystem,
    file: &str,
    witness: &str,
    validity: &Validity,
) -> String {
    match validity {
        Validity::Valid => format!("{witness}: valid"),
        Validity::Invalid(fault) => format!("{witness}: {}", explanation(store, system, file, fault)),
        Validity::Unknown(stop) => format!("{witness}: {stop}"),
    }
}

/// The message about a fault, with the text of the violated clause.
fn explanation(store: &TermStore, system: &HornSystem, file: &str, fault: &Fault) -> String {
    let message = fault.display(store, system);
    match fault {
        Fault::Violated { clause, .. } => {
            let (position, text) = (system.clauses[*clause].position, system.clause_text(store, *clause));
            format!("{message}\n{file}:{position}:\n{}", text.trim_end())
        }
        _ => message.to_string(),
    }
}
