//! Circuits in AIGER: `shofar FILE.aig`, `shofar hwmcc` and `shofar check` with a circuit.
//!
//! The words for answers are `safe`, `unsafe` and `unknown`, with exit status 20, 10 and 0. `shofar hwmcc` uses the words
//! of the hardware model checking competition, where `sat` is a counterexample: the opposite of what it means for Horn
//! clauses.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;
use shofar_hardware::aig::Edge;
use shofar_hardware::aiger::{self, Encoding, Place};
use shofar_hardware::check::{Refusal, check_trace};
use shofar_hardware::circuit::Circuit;
use shofar_hardware::evidence::{Invariant, Trace};
use shofar_hardware::solve::{Options, Outcome, Verdict, solve};
use shofar_hardware::vcd::write_vcd;
use shofar_hardware::witness::{
    Stimulus, check_witness_circuit, read_stimulus, witness_circuit, write_stimulus,
};
use shofar_run::{Limits, Stop, memory_in_use};

use crate::Failure;
use crate::arguments::Arguments;
use crate::input::{read_text_within, shown_name};
use crate::limits::{LimitArguments, without_limits};
use crate::statistics::{Table, in_mebibytes, in_seconds};

/// Exit status of `safe`.
const SAFE: u8 = 20;

/// Exit status of `unsafe`.
const UNSAFE: u8 = 10;

/// The options for circuits.
#[derive(clap::Args, Clone)]
pub(crate) struct CircuitArguments {
    /// For circuits: ask about this property only, counted from 0 as in `--property 1`. By default the question is whether
    /// any property fails.
    #[arg(long, value_name = "N")]
    pub(crate) property: Option<usize>,

    /// For circuits: write the witness to this file, as in `--certificate proof.aag`: a stimulus for `unsafe`, a witness
    /// circuit for `safe`, in ASCII if the name ends in `.aag`, else binary.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,

    /// For circuits: write the waveform of a counterexample to this file, as in `--vcd run.vcd`.
    #[arg(long, value_name = "FILE")]
    pub(crate) vcd: Option<PathBuf>,
}

impl CircuitArguments {
    /// An option that only circuits have, if one is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            ("--property", self.property.is_some()),
            ("--certificate", self.certificate.is_some()),
            ("--vcd", self.vcd.is_some()),
        ];
        options.iter().find(|(_, is_given)| *is_given).map(|(name, _)| *name)
    }
}

/// Decide a circuit as in the hardware model checking competition, as in `shofar hwmcc FILE.aig run.cex proof.aig`. Prints
/// `sat` and writes the counterexample to the second file, or prints `unsat` and writes the witness circuit to the third.
#[derive(clap::Args)]
pub(crate) struct Competition {
    /// The circuit in AIGER.
    file: String,

    /// Where a counterexample is written.
    counterexample: PathBuf,

    /// Where a witness circuit is written: in ASCII if the name ends in `.aag`, else binary.
    certificate: PathBuf,

    #[command(flatten)]
    limits: LimitArguments,
}

/// Whether a file is a circuit: by its extension, or by its first bytes.
pub(crate) fn is_circuit(file: &str) -> bool {
    let path = Path::new(file);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("aig" | "aag") => return true,
        Some("smt2") => return false,
        _ => {}
    }
    // Opening a pipe might wait for ever.
    if file == "-" || !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut start = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && aiger::is_aiger(&start)
}

/// Decides the circuit in a file. The result is the exit status.
pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<u8, Failure> {
    let start = Instant::now();
    let limits = arguments.limits.start(start);
    arguments.check_for_circuit()?;
    let options = &arguments.circuit;
    let file = match read(arguments.file(), &limits) {
        Err(Failure::Stopped(_, stop)) => {
            return answer(arguments, start, None, &Outcome::unknown(stop), out);
        }
        file => file?,
    };
    let circuit = &file.circuit;
    let properties = properties(arguments.file(), circuit, options.property)?;
    if circuit.bads.is_empty() && circuit.justice.is_empty() && !arguments.quiet {
        say(&format!("shofar: {} has no bads: its outputs are taken as bads", arguments.file()));
    }
    let bads: Vec<Edge> = properties.iter().map(|&property| circuit.safety()[property]).collect();
    let outcome = solve(circuit, &bads, &arguments.circuit_options()?, &limits);
    let fired = match outcome.verdict {
        Verdict::Unsafe(_, fired) => Some(properties[fired]),
        Verdict::Safe(_) | Verdict::Unknown(_) => None,
    };
    let status = answer(arguments, start, fired, &outcome, out)?;
    without_limits(|| {
        match (&outcome.verdict, fired) {
            (Verdict::Safe(invariant), _) => {
                if let Some(path) = &options.certificate {
                    save_certificate(circuit, &bads, invariant, path)?;
                }
                if arguments.witness() && !arguments.json {
                    let witness = witness_circuit(circuit, &bads, invariant);
                    aiger::write(&witness, Encoding::Ascii, b"", out)?;
                }
            }
            (Verdict::Unsafe(trace, _), Some(fired)) => {
                if let Some(path) = &options.certificate {
                    save(path, |file| write_stimulus(trace, fired, file))?;
                }
                if let Some(path) = &options.vcd {
                    save(path, |file| write_vcd(circuit, trace, file))?;
                }
                if arguments.witness() && !arguments.json {
                    write_stimulus(trace, fired, out)?;
                }
            }
            _ => {}
        }
        out.flush()?;
        Ok(status)
    })
}

/// Prints the answer. The result is the exit status.
fn answer(
    arguments: &Arguments,
    start: Instant,
    fired: Option<usize>,
    outcome: &Outcome,
    out: &mut impl Write,
) -> Result<u8, Failure> {
    let (word, status) = match outcome.verdict {
        Verdict::Safe(_) => ("safe", SAFE),
        Verdict::Unsafe(..) => ("unsafe", UNSAFE),
        Verdict::Unknown(_) => ("unknown", 0),
    };
    let reason = match &outcome.verdict {
        Verdict::Unknown(stop) => Some(stop.to_string()),
        Verdict::Safe(_) | Verdict::Unsafe(..) => None,
    };
    if arguments.json {
        let length = match &outcome.verdict {
            Verdict::Unsafe(trace, _) => Some(trace.length()),
            Verdict::Safe(_) | Verdict::Unknown(_) => None,
        };
        let event = json!({
            "event": "answer", "answer": word, "engine": outcome.engine, "reason": reason,
            "seconds": start.elapsed().as_secs_f64(), "property": fired, "length": length,
        });
        writeln!(out, "{event}")?;
    } else {
        writeln!(out, "{word}")?;
    }
    // The answer is out before files are written.
    out.flush()?;
    if let Some(reason) = reason
        && !arguments.quiet
    {
        say(&format!("shofar: unknown: {reason}"));
    }
    if arguments.stats {
        say(&table(outcome, start));
    }
    Ok(status)
}

/// The table of `--stats`.
fn table(outcome: &Outcome, start: Instant) -> String {
    let mut table = Table::default();
    table.row("engine", outcome.engine.unwrap_or("none"));
    table.row("time", &in_seconds(start.elapsed()));
    if let Some(bytes) = memory_in_use() {
        table.row("memory", &in_mebibytes(bytes));
    }
    for (name, time) in &outcome.phases {
        table.row(&format!("  time.{name}"), &in_seconds(*time));
    }
    for (name, size) in ["extracted", "reduced"].iter().zip(&outcome.sizes) {
        table.row(&format!("  {name}.latches"), &size.latches.to_string());
        table.row(&format!("  {name}.inputs"), &size.inputs.to_string());
        table.row(&format!("  {name}.gates"), &size.gates.to_string());
    }
    table.text
}

/// `shofar hwmcc`. The result is the exit status.
pub(crate) fn compete(arguments: &Competition, out: &mut impl Write) -> Result<u8, Failure> {
    let limits = arguments.limits.start(Instant::now());
    let file = match read(&arguments.file, &limits) {
        Err(Failure::Stopped(..)) => return unknown(out),
        file => file?,
    };
    let circuit = &file.circuit;
    let properties = properties(&arguments.file, circuit, None)?;
    let bads: Vec<Edge> = properties.iter().map(|&property| circuit.safety()[property]).collect();
    match solve(circuit, &bads, &Options::default(), &limits).verdict {
        Verdict::Safe(invariant) => {
            without_limits(|| save_certificate(circuit, &bads, &invariant, &arguments.certificate))?;
            writeln!(out, "unsat")?;
            Ok(SAFE)
        }
        Verdict::Unsafe(trace, fired) => {
            let property = properties[fired];
            without_limits(|| {
                save(&arguments.counterexample, |file| write_stimulus(&trace, property, file))
            })?;
            writeln!(out, "sat")?;
            Ok(UNSAFE)
        }
        Verdict::Unknown(_) => unknown(out),
    }
}

fn unknown(out: &mut impl Write) -> Result<u8, Failure> {
    writeln!(out, "unknown")?;
    Ok(0)
}

/// `shofar check` for a circuit.
pub(crate) fn check(
    file: &str,
    witness: &str,
    property: Option<usize>,
    limits: &Limits<'_>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let checked = check_witness(file, witness, property, limits);
    let refusal = match checked {
        Ok(Ok(())) => return Ok(writeln!(out, "valid")?),
        Ok(Err(refusal)) => refusal,
        Err(Failure::Stopped(file, stop)) => {
            writeln!(out, "unknown")?;
            return Err(Failure::Stopped(file, stop));
        }
        Err(failure) => return Err(failure),
    };
    writeln!(out, "{}", if matches!(refusal, Refusal::Wrong(_)) { "invalid" } else { "unknown" })?;
    Err(Failure::Refused(format!("{}: {refusal}", shown_name(witness))))
}

fn check_witness(
    file: &str,
    witness: &str,
    property: Option<usize>,
    limits: &Limits<'_>,
) -> Result<Result<(), Refusal>, Failure> {
    let model = read(file, limits)?;
    let circuit = &model.circuit;
    let safety = circuit.safety();
    let properties = properties(file, circuit, property)?;
    let bytes = read_text_within(limits, witness)?;
    if aiger::is_aiger(&bytes) {
        let proof = aiger::read(&bytes).map_err(|mistake| failure(witness, &mistake))?;
        let bads: Vec<Edge> = properties.iter().map(|&property| safety[property]).collect();
        return Ok(check_witness_circuit(&model, &bads, &proof, limits));
    }
    match read_stimulus(&bytes).map_err(|mistake| failure(witness, &mistake))? {
        Stimulus::Unsafe { properties: claimed, trace } => {
            let claimed: Option<Vec<Edge>> = claimed
                .iter()
                .map(|claim| properties.contains(claim).then(|| safety.get(*claim).copied()).flatten())
                .collect();
            let Some(claimed) = claimed else {
                let message =
                    format!("{}: it names a property that was not asked about", shown_name(witness));
                return Err(Failure::Input(message));
            };
            Ok(check_claims(circuit, &claimed, &trace))
        }
        Stimulus::Safe => {
            let what = "a claim without proof: the witness says only that the circuit is safe".to_owned();
            Ok(Err(Stop::Unsupported(what).into()))
        }
        Stimulus::Unknown => {
            Ok(Err(Stop::Unsupported("the witness says only that nothing is known".to_owned()).into()))
        }
    }
}

/// Checks that a trace ends in a step in which all the edges are true.
fn check_claims(circuit: &Circuit, claimed: &[Edge], trace: &Trace) -> Result<(), Refusal> {
    for &bad in claimed {
        check_trace(circuit, &[bad], trace)?;
    }
    Ok(())
}

/// Reads a circuit within limits.
fn read(file: &str, limits: &Limits<'_>) -> Result<aiger::File, Failure> {
    let bytes = read_text_within(limits, file)?;
    aiger::read(&bytes).map_err(|mistake| failure(file, &mistake))
}

/// The message about a file that is not in its format.
fn failure(file: &str, mistake: &aiger::Mistake) -> Failure {
    let name = shown_name(file);
    let message = &mistake.message;
    Failure::Input(match mistake.place {
        Place::Line(line) => format!("{name}:{line}: {message}"),
        Place::Byte(byte) => format!("{name}: byte {byte}: {message}"),
    })
}

/// The properties that the question is about.
fn properties(file: &str, circuit: &Circuit, property: Option<usize>) -> Result<Vec<usize>, Failure> {
    let (name, count) = (shown_name(file), circuit.safety().len());
    match property {
        Some(property) if property < count => Ok(vec![property]),
        Some(property) => {
            let has = if count == 1 { "has one property, b0" } else { "has properties up to" };
            let last = if count > 1 { format!(" b{}", count - 1) } else { String::new() };
            let message = match count {
                0 => format!("{name} has no safety property"),
                _ => format!("{name} {has}{last}, not b{property}"),
            };
            Err(Failure::Input(message))
        }
        None if count == 0 && !circuit.justice.is_empty() => {
            Err(Failure::Input(format!("{name} has justice properties only, which are not supported")))
        }
        None if count == 0 => Err(Failure::Input(format!("{name} has no property"))),
        None => Ok((0..count).collect()),
    }
}

/// Writes the witness circuit of an invariant, in ASCII if the name ends in `.aag`.
fn save_certificate(
    circuit: &Circuit,
    bads: &[Edge],
    invariant: &Invariant,
    path: &Path,
) -> Result<(), Failure> {
    let is_ascii = path.extension().is_some_and(|extension| extension == "aag");
    let encoding = if is_ascii { Encoding::Ascii } else { Encoding::Binary };
    let witness = witness_circuit(circuit, bads, invariant);
    save(path, |file| aiger::write(&witness, encoding, b"", file))
}

/// Writes a file.
fn save(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Failure> {
    let written = File::create(path).map(BufWriter::new).and_then(|mut file| {
        write(&mut file)?;
        file.flush()
    });
    written.map_err(|error| Failure::Incomplete(format!("shofar: cannot write {}: {error}", path.display())))
}

/// Writes to standard error. Failures are ignored: there is no other place for a message.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", crate::escape::lines(text.trim_end()));
}
