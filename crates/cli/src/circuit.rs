//! Circuits in AIGER and BTOR2: `shofar FILE.aig`, `shofar hwmcc`, `shofar check` and `shofar convert` with a circuit.
//!
//! The words for answers are `safe`, `unsafe` and `unknown`, with exit status 20, 10 and 0. `shofar hwmcc` uses the words
//! of the hardware model checking competition, where `sat` is a counterexample: the opposite of what it means for Horn
//! clauses.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;
use shofar_cooperate::circuits::clauses_of;
use shofar_hardware::aig::Edge;
use shofar_hardware::aiger::{self, Encoding, Place};
use shofar_hardware::btor2::blast::Blasted;
use shofar_hardware::btor2::evaluate::check_run;
use shofar_hardware::btor2::witness::{Claim, read_witness, write_run};
use shofar_hardware::btor2::{self, Model};
use shofar_hardware::check::{Refusal, check_trace};
use shofar_hardware::circuit::Circuit;
use shofar_hardware::evidence::{Invariant, Trace};
use shofar_hardware::solve::{Options, Outcome, Verdict, solve};
use shofar_hardware::vcd::write_vcd;
use shofar_hardware::witness::{
    Stimulus, check_witness_circuit, read_stimulus, witness_circuit, write_stimulus,
};
use shofar_hardware::words::Word;
use shofar_horn::{Context, HornSystem};
use shofar_run::{Limits, Stop, memory_in_use};

use crate::arguments::Arguments;
use crate::html::wave::{Answer, page};
use crate::input::{peek_stdin_within, read_text_within, shown_name, stopped};
use crate::limits::{LimitArguments, without_limits};
use crate::statistics::{Table, in_mebibytes, in_seconds};
use crate::{Failure, explain};

/// Exit status of `safe`.
const SAFE: u8 = 20;

/// Exit status of `unsafe`.
const UNSAFE: u8 = 10;

/// The bytes that a file without a telling extension is recognised by.
const START: u64 = 1 << 12;

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
    /// The circuit in AIGER or BTOR2.
    file: String,

    /// Where a counterexample is written.
    counterexample: PathBuf,

    /// Where a witness circuit is written: in ASCII if the name ends in `.aag`, else binary.
    certificate: PathBuf,

    #[command(flatten)]
    limits: LimitArguments,
}

/// Whether a file is a circuit: by its extension, or by its first bytes; `-` stands for standard input.
pub(crate) fn is_circuit_within(limits: &Limits<'_>, file: &str) -> bool {
    let has_content = |start: &[u8]| aiger::is_aiger(start) || btor2::is_btor2(start);
    let path = Path::new(file);
    match path.extension().and_then(|extension| extension.to_str()) {
        _ if file == "-" => return peek_stdin_within(limits, has_content),
        Some("aig" | "aag" | "btor" | "btor2") => return true,
        Some("smt2" | "vmt") => return false,
        _ => {}
    }
    // Opening a pipe might wait for ever.
    if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut start = Vec::new();
    let is_read = File::open(path).and_then(|file| file.take(START).read_to_end(&mut start)).is_ok();
    is_read && has_content(&start)
}

/// A circuit as its format gives it.
enum Source {
    Bits(aiger::File),
    Words(Model, Box<Blasted>),
}

impl Source {
    /// Reads a circuit within limits.
    fn read(file: &str, limits: &Limits<'_>) -> Result<Self, Failure> {
        let bytes = read_text_within(limits, file)?;
        let extension = Path::new(file).extension();
        let is_named = extension.is_some_and(|extension| extension == "btor" || extension == "btor2");
        if !is_named && !btor2::is_btor2(&bytes) {
            return Ok(Source::Bits(aiger::read(&bytes).map_err(|mistake| failure(file, &mistake))?));
        }
        let model = btor2::read(&bytes).map_err(|mistake| failure(file, &mistake))?;
        let blasted = Blasted::new(&model, limits);
        let blasted = blasted.map_err(|stop| Failure::Stopped(shown_name(file).to_owned(), stop))?;
        Ok(Source::Words(model, Box::new(blasted)))
    }

    fn circuit(&self) -> &Circuit {
        match self {
            Source::Bits(file) => &file.circuit,
            Source::Words(_, blasted) => &blasted.circuit,
        }
    }

    /// The safety properties. Outputs are properties in AIGER only.
    fn safety(&self) -> &[Edge] {
        match self {
            Source::Bits(file) => file.circuit.safety(),
            Source::Words(_, blasted) => &blasted.circuit.bads,
        }
    }

    /// The words inside of the circuit that have names.
    fn internal(&self) -> &[(String, Word)] {
        match self {
            Source::Bits(_) => &[],
            Source::Words(_, blasted) => &blasted.internal,
        }
    }

    /// The page for an answer. `fired` is the property that fails.
    fn page(&self, arguments: &Arguments, outcome: &Outcome, fired: Option<usize>) -> String {
        let reason;
        let answer = match (&outcome.verdict, fired) {
            (Verdict::Safe(invariant), _) => Answer::Safe(invariant),
            (Verdict::Unsafe(trace, _), Some(property)) => {
                Answer::Unsafe { trace, property, bad: self.safety()[property] }
            }
            (Verdict::Unknown(stop), _) => {
                reason = stop.to_string();
                Answer::Unknown(&reason)
            }
            (Verdict::Unsafe(..), None) => Answer::Unknown("no property is known to fail"),
        };
        page(self.circuit(), self.internal(), arguments.file(), arguments.notation(), &answer)
    }

    /// Says that outputs are the properties, if they are.
    fn say_which_bads(&self, file: &str) {
        let circuit = self.circuit();
        if circuit.bads.is_empty() && circuit.justice.is_empty() {
            say(&format!("shofar: {} has no bads: its outputs are taken as bads", shown_name(file)));
        }
    }

    /// Decides whether one of the properties can fail. A counterexample over words is evaluated a second time there.
    fn solve(&self, properties: &[usize], options: &Options, limits: &Limits<'_>) -> Outcome {
        let bads: Vec<Edge> = properties.iter().map(|&property| self.safety()[property]).collect();
        let mut outcome = solve(self.circuit(), &bads, options, limits);
        if let (Source::Words(model, blasted), Verdict::Unsafe(trace, fired)) = (self, &outcome.verdict)
            && let Err(fault) = check_run(model, &[properties[*fired]], &blasted.run(model, trace))
        {
            let what = format!("the counterexample does not hold over words: {fault}");
            outcome.verdict = Verdict::Unknown(Stop::Internal(what));
        }
        outcome
    }

    /// Writes a counterexample in the format of its kind.
    fn write_counterexample(&self, trace: &Trace, property: usize, out: &mut impl Write) -> io::Result<()> {
        match self {
            Source::Bits(_) => write_stimulus(trace, property, out),
            Source::Words(model, blasted) => write_run(model, &blasted.run(model, trace), property, out),
        }
    }

    /// The circuit as a file in AIGER, whose literals a witness circuit may name.
    fn into_file(self) -> aiger::File {
        match self {
            Source::Bits(file) => file,
            Source::Words(_, blasted) => {
                let circuit = blasted.circuit;
                let variables = (0..circuit.aig.len() as u32).collect();
                aiger::File { circuit, encoding: Encoding::Binary, variables, comments: Vec::new() }
            }
        }
    }
}

/// Decides the circuit in a file. The result is the exit status.
pub(crate) fn run(arguments: &Arguments, start: Instant, out: &mut impl Write) -> Result<u8, Failure> {
    let limits = arguments.limits.start(start);
    arguments.check_for_circuit()?;
    let options = &arguments.circuit;
    let source = match Source::read(arguments.file(), &limits) {
        Err(Failure::Stopped(_, stop)) => {
            let status = answer(arguments, start, None, &Outcome::unknown(stop), out)?;
            return explain::save(arguments, None, out).map(|()| status);
        }
        source => source?,
    };
    let circuit = source.circuit();
    let properties = properties(arguments.file(), &source, options.property)?;
    if !arguments.quiet {
        source.say_which_bads(arguments.file());
    }
    let bads: Vec<Edge> = properties.iter().map(|&property| source.safety()[property]).collect();
    let outcome = source.solve(&properties, &arguments.circuit_options()?, &limits);
    let fired = match outcome.verdict {
        Verdict::Unsafe(_, fired) => Some(properties[fired]),
        Verdict::Safe(_) | Verdict::Unknown(_) => None,
    };
    let status = answer(arguments, start, fired, &outcome, out)?;
    without_limits(|| {
        let page = arguments.html().map(|_| source.page(arguments, &outcome, fired));
        explain::save(arguments, page.as_deref(), out)?;
        let mut stderr = io::stderr();
        let mut texts: &mut dyn Write = if arguments.prints_page() { &mut stderr } else { out };
        match (&outcome.verdict, fired) {
            (Verdict::Safe(invariant), _) => {
                if let Some(path) = &options.certificate {
                    save_certificate(circuit, &bads, invariant, path)?;
                }
                if arguments.witness() && !arguments.json {
                    let witness = witness_circuit(circuit, &bads, invariant);
                    aiger::write(&witness, Encoding::Ascii, b"", texts)?;
                }
            }
            (Verdict::Unsafe(trace, _), Some(fired)) => {
                if let Some(path) = &options.certificate {
                    save(path, |file| source.write_counterexample(trace, fired, file))?;
                }
                if let Some(path) = &options.vcd {
                    save(path, |file| write_vcd(circuit, source.internal(), trace, file))?;
                }
                if arguments.witness() && !arguments.json {
                    source.write_counterexample(trace, fired, &mut texts)?;
                }
            }
            _ => {}
        }
        texts.flush()?;
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
    let mut stderr = io::stderr();
    let out: &mut dyn Write = if arguments.prints_page() { &mut stderr } else { out };
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
    let source = match Source::read(&arguments.file, &limits) {
        Err(Failure::Stopped(..)) => return unknown(out),
        source => source?,
    };
    let properties = properties(&arguments.file, &source, None)?;
    match source.solve(&properties, &Options::default(), &limits).verdict {
        Verdict::Safe(invariant) => {
            let bads: Vec<Edge> = properties.iter().map(|&property| source.safety()[property]).collect();
            without_limits(|| save_certificate(source.circuit(), &bads, &invariant, &arguments.certificate))?;
            writeln!(out, "unsat")?;
            Ok(SAFE)
        }
        Verdict::Unsafe(trace, fired) => {
            let property = properties[fired];
            without_limits(|| {
                save(&arguments.counterexample, |file| source.write_counterexample(&trace, property, file))
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
    let source = Source::read(file, limits)?;
    let safety = source.safety();
    let properties = properties(file, &source, property)?;
    let bytes = read_text_within(limits, witness)?;
    if aiger::is_aiger(&bytes) {
        let proof = aiger::read(&bytes).map_err(|mistake| failure(witness, &mistake))?;
        let bads: Vec<Edge> = properties.iter().map(|&property| safety[property]).collect();
        return Ok(check_witness_circuit(&source.into_file(), &bads, &proof, limits));
    }
    let not_asked = || {
        let message = format!("{}: it names a property that was not asked about", shown_name(witness));
        Failure::Input(message)
    };
    if let Source::Words(model, _) = &source {
        let claim = read_witness(model, &bytes).map_err(|mistake| failure(witness, &mistake))?;
        return match claim {
            Claim::Unsafe { properties: claimed, run } => {
                if !claimed.iter().all(|claim| properties.contains(claim)) {
                    return Err(not_asked());
                }
                Ok(check_run(model, &claimed, &run).map_err(Refusal::from))
            }
            Claim::Safe => Ok(Err(unproved())),
            Claim::Unknown => Ok(Err(nothing_known())),
        };
    }
    match read_stimulus(&bytes).map_err(|mistake| failure(witness, &mistake))? {
        Stimulus::Unsafe { properties: claimed, trace } => {
            let claimed: Option<Vec<Edge>> = claimed
                .iter()
                .map(|claim| properties.contains(claim).then(|| safety.get(*claim).copied()).flatten())
                .collect();
            Ok(check_claims(source.circuit(), &claimed.ok_or_else(not_asked)?, &trace))
        }
        Stimulus::Safe => Ok(Err(unproved())),
        Stimulus::Unknown => Ok(Err(nothing_known())),
    }
}

fn unproved() -> Refusal {
    let what = "a claim without proof: the witness says only that the circuit is safe";
    Stop::Unsupported(what.to_owned()).into()
}

fn nothing_known() -> Refusal {
    Stop::Unsupported("the witness says only that nothing is known".to_owned()).into()
}

/// `shofar convert` for a circuit: writes it in AIGER.
pub(crate) fn convert(
    file: &str,
    encoding: Encoding,
    limits: &Limits<'_>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let source = Source::read(file, limits)?;
    without_limits(|| {
        aiger::write(source.circuit(), encoding, b"", out)?;
        Ok(out.flush()?)
    })
}

/// The clauses of a circuit, for one property or for all.
pub(crate) fn read_clauses(
    context: &Context<'_>,
    file: &str,
    property: Option<usize>,
) -> Result<HornSystem, Failure> {
    let source = Source::read(file, &context.limits)?;
    let properties = properties(file, &source, property)?;
    source.say_which_bads(file);
    let bads: Vec<Edge> = properties.iter().map(|&property| source.safety()[property]).collect();
    clauses_of(context, source.circuit(), &bads).map_err(|reason| stopped(file, reason))
}

/// Checks that a trace ends in a step in which all the edges are true.
fn check_claims(circuit: &Circuit, claimed: &[Edge], trace: &Trace) -> Result<(), Refusal> {
    for &bad in claimed {
        check_trace(circuit, &[bad], trace)?;
    }
    Ok(())
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
fn properties(file: &str, source: &Source, property: Option<usize>) -> Result<Vec<usize>, Failure> {
    let (name, count) = (shown_name(file), source.safety().len());
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
        None if count == 0 && !source.circuit().justice.is_empty() => {
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
