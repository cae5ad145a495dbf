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
use shofar_hardware::aiger::{self, Encoding, Place, Unread};
use shofar_hardware::btor2::blast::Blasted;
use shofar_hardware::btor2::evaluate::check_run;
use shofar_hardware::btor2::witness::{Claim, read_witness, write_run};
use shofar_hardware::btor2::{self, Model};
use shofar_hardware::check::{Fault, Refusal, check_lasso, check_trace};
use shofar_hardware::circuit::{Circuit, Property};
use shofar_hardware::decide::{Counterexample, Verdict, decide, excluded};
use shofar_hardware::evidence::Trace;
use shofar_hardware::live::{Method, Monitor, Monitored, Proof, comments_of, monitors_in};
use shofar_hardware::solve::{Options, Outcome};
use shofar_hardware::vcd::write_vcd;
use shofar_hardware::witness::{
    Stimulus, check_witness_circuit, read_stimulus, witness_circuit, write_stimulus,
};
use shofar_hardware::words::Word;
use shofar_horn::{Context, HornSystem};
use shofar_run::{Limits, Stop, memory_in_use};

use crate::arguments::Arguments;
use crate::html::wave::page;
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
    /// For circuits: ask about this property only, counted from 0: `--property 1` or `--property b1` for the second bad,
    /// `--property j0` for the first justice property. By default the question is whether any property fails.
    #[arg(long, value_name = "N", value_parser = property)]
    pub(crate) property: Option<Property>,

    /// For circuits: write the witness to this file, as in `--certificate proof.aag`: a stimulus for `unsafe`, a witness
    /// circuit for `safe`, in ASCII if the name ends in `.aag`, else binary.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,

    /// For circuits: write the waveform of a counterexample to this file, as in `--vcd run.vcd`.
    #[arg(long, value_name = "FILE")]
    pub(crate) vcd: Option<PathBuf>,
}

/// Reads the value of `--property`.
pub(crate) fn property(text: &str) -> Result<Property, String> {
    let bad = || text.parse().ok().map(Property::Bad);
    Property::parse(text).or_else(bad).ok_or_else(|| "properties are written as 0, b0 or j0".to_owned())
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
            return Ok(Source::Bits(
                aiger::read_within(&bytes, limits).map_err(|unread| failure(file, unread))?,
            ));
        }
        let model = btor2::read_within(&bytes, limits).map_err(|unread| failure(file, unread))?;
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

    /// The page for an answer.
    fn page(&self, arguments: &Arguments, verdict: &Verdict) -> String {
        page(self.circuit(), self.internal(), arguments.file(), arguments.notation(), verdict)
    }

    /// Says that outputs are the properties, if they are.
    fn say_which_bads(&self, file: &str) {
        let circuit = self.circuit();
        if circuit.bads.is_empty() && circuit.justice.is_empty() {
            say(&format!("shofar: {} has no bads: its outputs are taken as bads", shown_name(file)));
        }
    }

    /// Decides whether one of the properties can fail. A counterexample over words is evaluated a second time there.
    fn solve(&self, properties: &[Property], options: &Options, limits: &Limits<'_>) -> Outcome<Verdict> {
        let mut outcome = decide(self.circuit(), self.safety(), properties, options, limits);
        if let (Source::Words(model, blasted), Verdict::Unsafe(found)) = (self, &outcome.verdict)
            && let Err(fault) = check_run(model, &[found.property], &blasted.run(model, &found.trace))
        {
            let what = format!("the counterexample does not hold over words: {fault}");
            outcome.verdict = Verdict::Unknown(Stop::Internal(what));
        }
        outcome
    }

    /// Writes a counterexample in the format of its kind.
    fn write_counterexample(&self, found: &Counterexample, out: &mut impl Write) -> io::Result<()> {
        let Counterexample { property, trace, .. } = found;
        match self {
            Source::Bits(_) => write_stimulus(trace, *property, out),
            Source::Words(model, blasted) => write_run(model, &blasted.run(model, trace), *property, out),
        }
    }

    /// Writes the witness circuit of a proof. Its comments name the monitors of justice properties.
    fn write_proof(
        &self,
        proof: &Proof,
        properties: &[Property],
        encoding: Encoding,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Monitored { circuit, alarms } = Monitored::new(self.circuit(), &proof.monitors);
        let bads = excluded(self.safety(), properties, &alarms);
        let witness = witness_circuit(&circuit, &bads, &proof.invariant);
        aiger::write(&witness, encoding, comments_of(&proof.monitors).as_bytes(), out)
    }

    /// Writes the waveform of a counterexample; that of a lasso has a signal `loop`.
    fn write_waveform(&self, found: &Counterexample, out: &mut impl Write) -> io::Result<()> {
        let (circuit, trace) = found.marked(self.circuit());
        write_vcd(&circuit, self.internal(), &trace, out)
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
            let outcome = Outcome::before_search(Verdict::Unknown(stop));
            let status = answer(arguments, start, &outcome, out)?;
            return explain::save(arguments, None, out).map(|()| status);
        }
        source => source?,
    };
    let circuit = source.circuit();
    let properties = properties(arguments.file(), &source, options.property)?;
    if !arguments.quiet {
        source.say_which_bads(arguments.file());
    }
    let outcome = source.solve(&properties, &arguments.circuit_options()?, &limits);
    let status = answer(arguments, start, &outcome, out)?;
    if let Verdict::Unsafe(found) = &outcome.verdict
        && properties.len() > 1
        && !arguments.quiet
        && !arguments.json
    {
        say(&format!("shofar: {} fails", described(circuit, found.property)));
    }
    without_limits(|| {
        let page = arguments.html().map(|_| source.page(arguments, &outcome.verdict));
        explain::save(arguments, page.as_deref(), out)?;
        let mut stderr = io::stderr();
        let mut texts: &mut dyn Write = if arguments.prints_page() { &mut stderr } else { out };
        match &outcome.verdict {
            Verdict::Safe(proof) => {
                if let Some(path) = &options.certificate {
                    save_certificate(&source, proof, &properties, path)?;
                }
                if arguments.witness() && !arguments.json {
                    source.write_proof(proof, &properties, Encoding::Ascii, &mut texts)?;
                }
            }
            Verdict::Unsafe(found) => {
                if let Some(path) = &options.certificate {
                    save(path, |file| source.write_counterexample(found, file))?;
                }
                if let Some(path) = &options.vcd {
                    save(path, |file| source.write_waveform(found, file))?;
                }
                if arguments.witness() && !arguments.json {
                    source.write_counterexample(found, &mut texts)?;
                }
            }
            Verdict::Unknown(_) => {}
        }
        texts.flush()?;
        Ok(status)
    })
}

/// A property with its name, if it has one.
fn described(circuit: &Circuit, property: Property) -> String {
    let (short, name) = (property.to_string(), circuit.name_of(property));
    if short == name { short } else { format!("{short} ({name})") }
}

/// Prints the answer. The result is the exit status.
fn answer(
    arguments: &Arguments,
    start: Instant,
    outcome: &Outcome<Verdict>,
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
        let found = match &outcome.verdict {
            Verdict::Unsafe(found) => Some(found),
            Verdict::Safe(_) | Verdict::Unknown(_) => None,
        };
        let (kind, property) = match found.map(|found| found.property) {
            Some(Property::Bad(index)) => (Some("bad"), Some(index)),
            Some(Property::Justice(index)) => (Some("justice"), Some(index)),
            None => (None, None),
        };
        let event = json!({
            "event": "answer", "answer": word, "engine": outcome.engine, "reason": reason,
            "seconds": start.elapsed().as_secs_f64(), "kind": kind, "property": property,
            "length": found.map(|found| found.trace.length()), "loop": found.and_then(|found| found.loop_start),
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
fn table(outcome: &Outcome<Verdict>, start: Instant) -> String {
    let mut table = Table::default();
    table.row("engine", outcome.engine.unwrap_or("none"));
    if let Verdict::Unsafe(found) = &outcome.verdict {
        table.row("property", &found.property.to_string());
    }
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
        Verdict::Safe(proof) => {
            without_limits(|| save_certificate(&source, &proof, &properties, &arguments.certificate))?;
            writeln!(out, "unsat")?;
            Ok(SAFE)
        }
        Verdict::Unsafe(found) => {
            without_limits(|| {
                save(&arguments.counterexample, |file| source.write_counterexample(&found, file))
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
    property: Option<Property>,
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
    property: Option<Property>,
    limits: &Limits<'_>,
) -> Result<Result<(), Refusal>, Failure> {
    let source = Source::read(file, limits)?;
    let properties = properties(file, &source, property)?;
    let bytes = read_text_within(limits, witness)?;
    if aiger::is_aiger(&bytes) {
        let proof = aiger::read_within(&bytes, limits).map_err(|unread| failure(witness, unread))?;
        return Ok(check_proof(source, &properties, &proof, limits));
    }
    let not_asked = || {
        let message = format!("{}: it names a property that was not asked about", shown_name(witness));
        Failure::Input(message)
    };
    if let Source::Words(model, _) = &source {
        let claim = read_witness(model, &bytes).map_err(|mistake| failure(witness, mistake))?;
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
    match read_stimulus(&bytes).map_err(|mistake| failure(witness, mistake))? {
        Stimulus::Unsafe { properties: claimed, trace } => {
            if !claimed.iter().all(|claim| properties.contains(claim)) {
                return Err(not_asked());
            }
            Ok(check_claims(source.circuit(), source.safety(), &claimed, &trace).map_err(Refusal::from))
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

/// The clauses of a circuit, for one property or for all. Monitors make safety properties of justice properties.
pub(crate) fn read_clauses(
    context: &Context<'_>,
    file: &str,
    property: Option<Property>,
) -> Result<HornSystem, Failure> {
    let source = Source::read(file, &context.limits)?;
    let properties = properties(file, &source, property)?;
    source.say_which_bads(file);
    let monitors: Vec<Monitor> = properties
        .iter()
        .filter_map(|property| match *property {
            Property::Justice(justice) => Some(Monitor { justice, method: Method::Shadow }),
            Property::Bad(_) => None,
        })
        .collect();
    let Monitored { circuit, alarms } = Monitored::new(source.circuit(), &monitors);
    let bads = excluded(source.safety(), &properties, &alarms);
    clauses_of(context, &circuit, &bads).map_err(|reason| stopped(file, reason))
}

/// Checks that a trace violates all the properties.
fn check_claims(
    circuit: &Circuit,
    safety: &[Edge],
    claimed: &[Property],
    trace: &Trace,
) -> Result<(), Fault> {
    for &property in claimed {
        match property {
            Property::Bad(index) => check_trace(circuit, &[safety[index]], trace).map(|_| ())?,
            Property::Justice(index) => {
                check_lasso(circuit, &circuit.recurring(index), trace).map(|_| ())?;
            }
        }
    }
    Ok(())
}

/// Checks a witness circuit. It must have a monitor for each justice property; the monitors are added to the circuit as
/// read, and the witness circuit must simulate the result.
fn check_proof(
    source: Source,
    properties: &[Property],
    proof: &aiger::File,
    limits: &Limits<'_>,
) -> Result<(), Refusal> {
    let monitors = monitors_in(source.circuit(), &proof.comments).map_err(Fault::Shape)?;
    for property in properties {
        if let Property::Justice(index) = property
            && !monitors.iter().any(|monitor| monitor.justice == *index)
        {
            let what = format!("the comments of the witness circuit name no monitor of {property}");
            return Err(Fault::Shape(what).into());
        }
    }
    let Monitored { circuit, alarms } = Monitored::new(source.circuit(), &monitors);
    let bads = excluded(source.safety(), properties, &alarms);
    let mut model = source.into_file();
    // The nodes of the monitors have no literals in the file: they get numbers behind those that there are.
    let first = model.variables.iter().max().map_or(0, |&last| last + 1);
    model.variables.extend((first..).take(circuit.aig.len() - model.variables.len()));
    model.circuit = circuit;
    check_witness_circuit(&model, &bads, proof, limits)
}

/// The message about a file that is not in its format, or that a limit kept from being read.
fn failure(file: &str, unread: impl Into<Unread>) -> Failure {
    let name = shown_name(file);
    let mistake = match unread.into() {
        Unread::Wrong(mistake) => mistake,
        Unread::Interrupted(reason) => return stopped(file, reason),
    };
    let message = &mistake.message;
    Failure::Input(match mistake.place {
        Place::Line(line) => format!("{name}:{line}: {message}"),
        Place::Byte(byte) => format!("{name}: byte {byte}: {message}"),
    })
}

/// The properties that the question is about.
fn properties(file: &str, source: &Source, property: Option<Property>) -> Result<Vec<Property>, Failure> {
    let bads = (0..source.safety().len()).map(Property::Bad);
    let all: Vec<Property> = bads.chain((0..source.circuit().justice.len()).map(Property::Justice)).collect();
    let name = shown_name(file);
    match property {
        _ if all.is_empty() => Err(Failure::Input(format!("{name} has no property"))),
        None => Ok(all),
        Some(property) if all.contains(&property) => Ok(vec![property]),
        Some(property) => {
            let is_same_kind =
                |other: &&Property| matches!(other, Property::Bad(_)) == matches!(property, Property::Bad(_));
            let kind = if matches!(property, Property::Bad(_)) { "safety" } else { "justice" };
            let same: Vec<&Property> = all.iter().filter(is_same_kind).collect();
            Err(Failure::Input(match same[..] {
                [] => format!("{name} has no {kind} property; it has {}", all[0]),
                [one] => format!("{name} has one {kind} property, {one}, not {property}"),
                [.., last] => format!("{name} has {kind} properties up to {last}, not {property}"),
            }))
        }
    }
}

/// Writes the witness circuit of a proof, in ASCII if the name ends in `.aag`.
fn save_certificate(
    source: &Source,
    proof: &Proof,
    properties: &[Property],
    path: &Path,
) -> Result<(), Failure> {
    let is_ascii = path.extension().is_some_and(|extension| extension == "aag");
    let encoding = if is_ascii { Encoding::Ascii } else { Encoding::Binary };
    save(path, |file| source.write_proof(proof, properties, encoding, file))
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
