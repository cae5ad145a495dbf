//! `shofar FILE`: decides a system of clauses.
//!
//! A thread of its own reads and solves; this one listens, writes, and watches the limits. Engines end soon after a limit
//! is reached, but reading and single large steps do not look at the clock: if nothing comes for a while after the limit,
//! the answer is given without them.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use shofar_cooperate::driver::{self, Verdict};
use shofar_engines::{Event, EventSink, Interpolation, Run, Stop};
use shofar_horn::transform::Pipeline;
use shofar_horn::witness::{Witness, WitnessFormat};
use shofar_logic::TermStore;
use shofar_smt::sat::Limits;

use crate::Failure;
use crate::input::{read_system, seconds};

/// Set by Ctrl-C.
static CANCEL: AtomicBool = AtomicBool::new(false);

/// How often the limits are looked at here.
const TICK: Duration = Duration::from_millis(50);

/// How long the solving thread has to end by itself after a limit is reached.
const GRACE: Duration = Duration::from_millis(700);

/// Time between two progress lines on a terminal.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// How to solve, and what to tell.
#[derive(clap::Args, Clone)]
pub(crate) struct Arguments {
    /// A file with Horn clauses; `-` is standard input.
    #[arg(required_unless_present = "input")]
    file: Option<String>,

    /// The engine, or several of them with commas, which run side by side; `shofar engines` lists them. `auto` chooses
    /// them by the clauses.
    #[arg(short = 'e', long, value_name = "NAMES", default_value = "auto", value_parser = engines)]
    engine: Engines,

    /// How many engines may run at the same time. Without this option as many as the machine has cores.
    #[arg(short = 'j', long, value_name = "N")]
    jobs: Option<usize>,

    /// How engines make interpolants: farkas, dual, decomposed or dual-decomposed. Without this option each has a way of
    /// its own.
    #[arg(long, value_name = "NAME", value_parser = interpolation)]
    interpolation: Option<Interpolation>,

    /// Gives an option of an engine a value, as in `spacer.guidance=no`; `shofar engines` lists them. May be given
    /// several times.
    #[arg(short = 'O', long = "option", value_name = "ENGINE.OPTION=VALUE", value_parser = setting)]
    settings: Vec<(String, String, String)>,

    /// The transformations to start with, in the place of `standard`; see `shofar transform`.
    #[arg(long, value_name = "NAMES", value_parser = passes)]
    passes: Option<String>,

    /// Print the model or the derivation after the answer.
    #[arg(short = 'w', long, visible_alias = "print-witness")]
    witness: bool,

    /// Print the witness in this format.
    #[arg(long, value_name = "FORMAT", value_enum, visible_alias = "proof-format")]
    witness_format: Option<Format>,

    /// Seconds after which the answer is unknown.
    #[arg(short = 't', long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Mebibytes of memory beyond which the answer is unknown.
    #[arg(short = 'm', long, value_name = "MIB")]
    memory: Option<usize>,

    /// Engines that choose at random choose by this number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Tell in the end, on standard error, what was done and how long it took.
    #[arg(long)]
    stats: bool,

    /// Print JSON, one object a line: what happens, and the answer last.
    #[arg(long)]
    json: bool,

    /// Tell on standard error what happens.
    #[arg(short = 'v', long, conflicts_with = "quiet")]
    verbose: bool,

    /// Tell nothing on standard error but mistakes in the input.
    #[arg(short = 'q', long)]
    quiet: bool,

    /// Another way to name the file.
    #[arg(short = 'i', long, value_name = "FILE", hide = true, conflicts_with = "file")]
    input: Option<String>,

    /// The logic is seen from the clauses.
    #[arg(short = 'l', long, value_name = "LOGIC", hide = true)]
    logic: Option<String>,

    /// Answers are always checked.
    #[arg(long, hide = true)]
    validate: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Definitions, or the steps of the derivation, numbered.
    Text,
    /// The derivation as an indented tree.
    Tree,
    /// JSON.
    Json,
    /// The derivation as an Alethe proof.
    Alethe,
}

impl From<Format> for WitnessFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => WitnessFormat::Text,
            Format::Tree => WitnessFormat::Tree,
            Format::Json => WitnessFormat::Json,
            Format::Alethe => WitnessFormat::Alethe,
        }
    }
}

impl Arguments {
    /// The format in which the witness is wanted, if it is wanted.
    fn wanted_witness(&self) -> Option<WitnessFormat> {
        let default = if self.json { WitnessFormat::Json } else { WitnessFormat::Text };
        match self.witness_format {
            Some(format) => Some(format.into()),
            None => self.witness.then_some(default),
        }
    }
}

fn interpolation(name: &str) -> Result<Interpolation, String> {
    let known = || Interpolation::ALL.map(Interpolation::name).join(", ");
    let found = Interpolation::ALL.into_iter().find(|interpolation| interpolation.name() == name);
    found.ok_or_else(|| format!("there are {}", known()))
}

/// Reads an option of an engine and tries whether there is such a thing.
fn setting(text: &str) -> Result<(String, String, String), String> {
    let parts = text.split_once('=').and_then(|(name, value)| Some((name.split_once('.')?, value)));
    let ((engine, option), value) = parts.ok_or("write ENGINE.OPTION=VALUE")?;
    let mut known = shofar_engines::by_name(engine).ok_or_else(unknown_engine)?;
    shofar_engines::set_option(known.as_mut(), option, value)?;
    Ok((known.name().to_owned(), option.to_owned(), value.to_owned()))
}

fn unknown_engine() -> String {
    let names: Vec<_> = shofar_engines::all().iter().map(|engine| engine.name()).collect();
    format!("the engines are {}", names.join(", "))
}

fn passes(names: &str) -> Result<String, String> {
    Pipeline::parse(names).map(|_| names.to_owned())
}

/// Names of engines; none for those that are chosen by the clauses.
#[derive(Clone)]
struct Engines(Vec<String>);

fn engines(names: &str) -> Result<Engines, String> {
    if names == "auto" {
        return Ok(Engines(Vec::new()));
    }
    let by_name = |name: &str| match shofar_engines::by_name(name.trim()) {
        Some(engine) => Ok(engine.name().to_owned()),
        None => Err(format!("{} and auto", unknown_engine())),
    };
    names.split(',').map(by_name).collect::<Result<_, _>>().map(Engines)
}

/// What the solving thread says.
enum Message {
    Event(Event),
    Done(Result<Solved, Failure>),
}

/// The answer as it is printed.
struct Solved {
    answer: &'static str,
    engine: Option<&'static str>,
    /// Why it is unknown.
    reason: Option<String>,
    witness: Option<String>,
}

impl Solved {
    fn unknown(engine: Option<&'static str>, stop: &Stop) -> Self {
        Solved { answer: "unknown", engine, reason: Some(stop.to_string()), witness: None }
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let start = Instant::now();
    // Without a handler Ctrl-C ends the program without an answer; there is no other harm.
    let _ = ctrlc::set_handler(|| CANCEL.store(true, Ordering::Relaxed));
    let limits = Limits {
        deadline: arguments.timeout.and_then(|timeout| start.checked_add(timeout)),
        memory: arguments.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20)),
        cancel: Some(&CANCEL),
        ..Limits::default()
    };
    let (sender, messages) = mpsc::channel();
    let job = arguments.clone();
    let worker = thread::Builder::new().name("solver".to_owned()).spawn(move || {
        let done = work(&job, limits, &sender);
        // Nobody listens any more if a limit has passed.
        let _ = sender.send(Message::Done(done));
    });
    worker.map_err(|error| Failure::Input(format!("shofar: cannot start a thread: {error}")))?;

    let mut talk = Talk::new(arguments, start);
    let mut ended: Option<Instant> = None;
    let solved = loop {
        match messages.recv_timeout(TICK) {
            Ok(Message::Event(event)) => talk.hear(&event, out)?,
            Ok(Message::Done(done)) => break done?,
            Err(RecvTimeoutError::Disconnected) => {
                break Solved::unknown(None, &Stop::Internal("the solving thread has failed".to_owned()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(reason) = limits.interruption()
            && ended.get_or_insert_with(Instant::now).elapsed() > GRACE
        {
            break Solved::unknown(None, &Stop::Interrupted(reason));
        }
    };
    talk.answer(&solved, out)
}

/// Reads and solves.
fn work(arguments: &Arguments, limits: Limits<'_>, sender: &Sender<Message>) -> Result<Solved, Failure> {
    let start = Instant::now();
    let events = Events(sender.clone());
    let store = TermStore::new();
    let file = arguments.file.as_ref().or(arguments.input.as_ref()).map_or("-", |file| file);
    let system = read_system(&store, file)?;
    events.tell(Event::Phase { name: "read", time: start.elapsed() });
    let run = Run { store: &store, limits, seed: arguments.seed, events: &events };
    let options = driver::Options {
        engines: arguments.engine.0.clone(),
        jobs: arguments.jobs,
        interpolation: arguments.interpolation,
        settings: arguments.settings.clone(),
        passes: arguments.passes.clone(),
    };
    let outcome = driver::solve(&system, &options, &run);
    let (answer, witness) = match outcome.verdict {
        Verdict::Sat(model) => ("sat", Witness::Model(model)),
        Verdict::Unsat(refutation) => ("unsat", Witness::Refutation(refutation)),
        Verdict::Unknown(stop) => return Ok(Solved::unknown(outcome.engine, &stop)),
    };
    let witness = arguments.wanted_witness().map(|format| witness.to_text(&store, &system, format));
    Ok(Solved { answer, engine: outcome.engine, reason: None, witness })
}

/// Passes events on to the thread that writes.
struct Events(Sender<Message>);

impl EventSink for Events {
    fn tell(&self, event: Event) {
        // Nobody listens any more if a limit has passed.
        let _ = self.0.send(Message::Event(event));
    }
}

/// Tells the user what happens.
struct Talk<'a> {
    arguments: &'a Arguments,
    start: Instant,
    /// When there was a progress line last; none if there are to be none.
    progress: Option<Instant>,
    /// For the statistics in the end.
    heard: Vec<Event>,
}

impl<'a> Talk<'a> {
    fn new(arguments: &'a Arguments, start: Instant) -> Self {
        let is_shown = !arguments.quiet && !arguments.verbose && io::stderr().is_terminal();
        Talk { arguments, start, progress: is_shown.then_some(start), heard: Vec::new() }
    }

    fn hear(&mut self, event: &Event, out: &mut impl Write) -> Result<(), Failure> {
        if self.arguments.json {
            writeln!(out, "{}", describe_json(event, self.start.elapsed()))?;
            out.flush()?;
        }
        if self.arguments.verbose {
            self.say(&format!("{:>9.3}s  {}", self.start.elapsed().as_secs_f64(), describe(event)));
        } else if let (Some(last), Event::Progress { engine, depth }) = (self.progress, event)
            && last.elapsed() >= PROGRESS_INTERVAL
        {
            let seconds = self.start.elapsed().as_secs();
            let _ = write!(io::stderr(), "\r\x1b[2K{engine}: depth {depth}, {seconds} s");
            self.progress = Some(Instant::now());
        }
        if self.arguments.stats && !matches!(event, Event::Progress { .. }) {
            self.heard.push(event.clone());
        }
        Ok(())
    }

    fn answer(&self, solved: &Solved, out: &mut impl Write) -> Result<(), Failure> {
        if self.progress.is_some_and(|last| last != self.start) {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
        if self.arguments.json {
            let is_json = self.arguments.wanted_witness() == Some(WitnessFormat::Json);
            let witness = solved.witness.as_ref().map(|text| match serde_json::from_str(text) {
                Ok(object) if is_json => object,
                _ => Json::from(text.as_str()),
            });
            let outcome = json!({
                "event": "answer",
                "answer": solved.answer,
                "engine": solved.engine,
                "reason": solved.reason,
                "witness": witness,
                "seconds": self.start.elapsed().as_secs_f64(),
            });
            writeln!(out, "{outcome}")?;
        } else {
            writeln!(out, "{}", solved.answer)?;
            // Whoever waits for the answer need not wait for the witness.
            out.flush()?;
            if let Some(witness) = &solved.witness {
                out.write_all(witness.as_bytes())?;
            }
        }
        out.flush()?;
        if let Some(reason) = &solved.reason
            && !self.arguments.quiet
        {
            self.say(&format!("shofar: unknown: {reason}"));
        }
        if self.arguments.stats {
            self.say(&self.statistics(solved));
        }
        Ok(())
    }

    /// Writes to standard error. Where even that cannot be written to, nobody misses it.
    fn say(&self, text: &str) {
        let _ = writeln!(io::stderr(), "{}", text.trim_end());
    }

    fn statistics(&self, solved: &Solved) -> String {
        let mut table = String::new();
        let mut row = |name: &str, value: String| {
            // Writing to a string does not fail.
            let _ = writeln!(table, "{name:<32} {value:>14}");
        };
        let time = |time: Duration| format!("{:.3} s", time.as_secs_f64());
        row("engine", solved.engine.unwrap_or("none").to_owned());
        for event in &self.heard {
            match event {
                Event::Phase { name, time: duration } => {
                    row(&format!("time.{}", name.replace(' ', "-")), time(*duration))
                }
                Event::Pass(report) => {
                    row(&format!("pass.{}", report.name), time(report.time));
                }
                Event::Statistics { engine, counters, .. } => {
                    for (name, value) in counters {
                        row(&format!("{engine}.{name}"), value.to_string());
                    }
                }
                Event::Progress { .. } => {}
            }
        }
        row("time", time(self.start.elapsed()));
        table
    }
}

fn describe(event: &Event) -> String {
    match event {
        Event::Phase { name, time } => format!("{name}: {:.3} s", time.as_secs_f64()),
        Event::Pass(report) => format!(
            "{}: {} predicates and {} clauses of {} and {}",
            report.name, report.after.nodes, report.after.edges, report.before.nodes, report.before.edges
        ),
        Event::Progress { engine, depth } => format!("{engine}: depth {depth}"),
        Event::Statistics { engine, counters, .. } => {
            let counters: Vec<String> =
                counters.iter().map(|(name, value)| format!("{name} {value}")).collect();
            format!("{engine}: {}", counters.join(", "))
        }
    }
}

fn describe_json(event: &Event, at: Duration) -> Json {
    let at = at.as_secs_f64();
    match event {
        Event::Phase { name, time } => {
            json!({"event": "phase", "at": at, "phase": name, "seconds": time.as_secs_f64()})
        }
        Event::Pass(report) => json!({
            "event": "pass",
            "at": at,
            "pass": report.name,
            "predicates": [report.before.nodes, report.after.nodes],
            "clauses": [report.before.edges, report.after.edges],
            "terms": [report.before.terms, report.after.terms],
            "seconds": report.time.as_secs_f64(),
        }),
        Event::Progress { engine, depth } => {
            json!({"event": "progress", "at": at, "engine": engine, "depth": depth})
        }
        Event::Statistics { engine, counters, time } => {
            let counters: serde_json::Map<String, Json> =
                counters.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect();
            json!({
                "event": "statistics",
                "at": at,
                "engine": engine,
                "counters": counters,
                "seconds": time.as_secs_f64(),
            })
        }
    }
}
