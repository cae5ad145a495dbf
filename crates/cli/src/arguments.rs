//! The options of `shofar FILE`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{ArgAction, CommandFactory};
use shofar_cooperate::driver;
use shofar_cooperate::exchange::Exchanging;
use shofar_cooperate::exchange::history::History;
use shofar_cooperate::slot::{Setting, Slot};
use shofar_cooperate::{ModelForm, Turns};
use shofar_engines::InterpolationMethod;
use shofar_hardware::solve::{ENGINES, Engine, VARIANTS};
use shofar_horn::infix::Notation;
use shofar_horn::transform::Passes;
use shofar_horn::witness::{Explanation, WitnessFormat};
use shofar_run::{OptionError, did_you_mean, nearest};

use crate::circuit::{CircuitArguments, is_circuit_within};
#[cfg(feature = "cluster")]
use crate::cluster::assist::HelpArguments;
use crate::compatible::Of;
use crate::history::HistoryArguments;
use crate::input::{QueryArgument, shown_name};
use crate::limits::LimitArguments;
use crate::{CommandLine, Failure};

/// How to solve, and what to print.
#[derive(clap::Args, Clone)]
pub(crate) struct Arguments {
    /// The file with the Horn clauses, a transition system in VMT, or a circuit in AIGER or BTOR2; `-` reads
    /// standard input.
    #[arg(required_unless_present = "input")]
    file: Option<String>,

    /// Words behind the file, which are errors.
    #[arg(hide = true)]
    more: Vec<String>,

    /// Run this engine, or several side by side, as in `-e spacer,pdkind`. `auto` chooses engines by the clauses. Settings
    /// follow a colon: `-e pdkind,pdkind:depth=2`. `shofar engines` lists all engines.
    #[arg(short = 'e', long, value_name = "NAMES", default_value = "auto", value_parser = engines)]
    engine: Engines,

    /// Run at most N engines at the same time, as in `-j 1`. The default is the number of cores.
    #[arg(short = 'j', long, value_name = "N", value_parser = jobs)]
    jobs: Option<usize>,

    /// Whether engines that run side by side tell each other what they learn.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ExchangeName::Auto)]
    exchange: ExchangeName,

    #[command(flatten)]
    history: HistoryArguments,

    /// Make interpolants in this way in all engines: farkas, dual, decomposed or dual-decomposed, as in `--interpolation
    /// dual`. By default each engine has its own way.
    #[arg(long, value_name = "NAME")]
    interpolation: Option<InterpolationMethod>,

    /// Set an option of an engine, as in `-O spacer.guidance=no`; `shofar engines` lists all options. You can give it
    /// several times.
    #[arg(short = 'O', long = "option", value_name = "ENGINE.OPTION=VALUE")]
    settings: Vec<Setting>,

    /// Transform the clauses by these passes before solving, as in `--passes standard,no-inline`. The default is `standard`;
    /// see `shofar transform`.
    #[arg(long, value_name = "NAMES")]
    passes: Option<Passes>,

    /// Replay the solver's proofs that the model satisfies the clauses before printing `sat`.
    #[arg(long)]
    validate: bool,

    /// Print the model or the derivation after the answer, as in `shofar program.smt2 -w`.
    #[arg(short = 'w', long, visible_alias = "print-witness")]
    witness: bool,

    /// Print the witness in this format, as in `--witness-format json`.
    #[arg(long, value_name = "FORMAT", value_enum, visible_alias = "proof-format")]
    witness_format: Option<Format>,

    /// Write a page for a browser to this file, as in `--html page.html`: the clauses as a graph, with the model or the
    /// derivation; for a circuit, the counterexample as a waveform, or the invariant. `-` writes the page to standard
    /// output and the answer to standard error.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// How pages and explanations write formulas: in mathematical notation, the same in ASCII, or as in SMT-LIB.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = NotationName::Math)]
    notation: NotationName,

    /// How to explain the witness instead of printing it.
    #[arg(skip)]
    explanation: Option<Explanation>,

    #[command(flatten)]
    pub(crate) question: QueryArgument,

    #[command(flatten)]
    pub(crate) circuit: CircuitArguments,

    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub(crate) help: HelpArguments,

    #[command(flatten)]
    pub(crate) limits: LimitArguments,

    /// Use this seed for all random choices, as in `--seed 7`.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Print a table of times and counters on standard error at the end.
    #[arg(long)]
    pub(crate) stats: bool,

    /// Print events as JSON, one object per line; the last one is the answer or the error.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print what happens on standard error. `-vv` adds the debug trace of the engines, `-vvv` also that of each SMT query;
    /// RUST_LOG selects modules, as in `RUST_LOG=shofar_engines::spacer=debug`.
    #[arg(short = 'v', long, action = ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,

    /// Print nothing on standard error except errors in the input.
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,

    /// Golem's way to name the file.
    #[arg(short = 'i', long, value_name = "FILE", hide = true, conflicts_with = "file")]
    input: Option<String>,

    /// Print the witness of this answer only, as the options of other solvers ask for.
    #[arg(long, value_name = "ANSWER", value_enum, hide = true)]
    witness_of: Option<Of>,

    /// Golem's option for the logic; ignored, as the clauses show it.
    #[arg(short = 'l', long, value_name = "LOGIC", hide = true)]
    logic: Option<String>,
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
    /// The derivation as a proof by hyper-resolution, as Z3 prints it.
    Hyper,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ExchangeName {
    /// They do if you name them with `-e`, or where it pays.
    Auto,
    /// They do.
    On,
    /// Each engine searches as if it were alone.
    Off,
    /// They do, at fixed steps of their work: the same run on every machine, but slower.
    Rounds,
}

impl From<ExchangeName> for Exchanging {
    fn from(name: ExchangeName) -> Self {
        match name {
            ExchangeName::Auto => Exchanging::Auto,
            ExchangeName::On => Exchanging::On,
            ExchangeName::Off => Exchanging::Off,
            ExchangeName::Rounds => Exchanging::Rounds,
        }
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum NotationName {
    /// `x ≥ 0 ∧ y ≠ 1`.
    Math,
    /// `x >= 0 and y != 1`.
    Ascii,
    /// `(and (>= x 0) (not (= y 1)))`.
    Smtlib,
}

impl From<Format> for WitnessFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => WitnessFormat::Text,
            Format::Tree => WitnessFormat::Tree,
            Format::Json => WitnessFormat::Json,
            Format::Alethe => WitnessFormat::Alethe,
            Format::Hyper => WitnessFormat::Hyper,
        }
    }
}

impl From<NotationName> for Notation {
    fn from(name: NotationName) -> Self {
        match name {
            NotationName::Math => Notation::Math,
            NotationName::Ascii => Notation::Ascii,
            NotationName::Smtlib => Notation::Smtlib,
        }
    }
}

impl Arguments {
    /// The file to read; `-` for standard input.
    pub(crate) fn file(&self) -> &str {
        self.file.as_ref().or(self.input.as_ref()).map_or("-", |file| file)
    }

    /// The file for the page.
    pub(crate) fn html(&self) -> Option<&Path> {
        self.html.as_deref()
    }

    /// How formulas are written for people.
    pub(crate) fn notation(&self) -> Notation {
        self.notation.into()
    }

    /// The same, with an explanation of the witness.
    pub(crate) fn explained(&self, explanation: Explanation) -> Self {
        Arguments { explanation: Some(explanation), ..self.clone() }
    }

    /// How to explain the witness; `None` if it is not explained.
    pub(crate) fn explanation(&self) -> Option<Explanation> {
        self.explanation
    }

    /// Whether the witness is printed or explained with this answer.
    pub(crate) fn tells_witness(&self, answer: &str) -> bool {
        self.wanted_witness(answer).is_some() || self.explanation.is_some()
    }

    /// Whether the witness of some answer is shown in any way.
    pub(crate) fn shows_witness(&self) -> bool {
        ["sat", "unsat"].iter().any(|answer| self.tells_witness(answer)) || self.html.is_some()
    }

    /// Also prints the witness of an answer.
    pub(crate) fn print_witness_of(&mut self, of: Of) {
        let others = self.witness || self.witness_format.is_some();
        self.witness_of = if others { self.witness_of.filter(|other| *other == of) } else { Some(of) };
        self.witness = true;
    }

    /// Whether the page goes to standard output.
    pub(crate) fn prints_page(&self) -> bool {
        self.html().is_some_and(|path| path == "-")
    }

    /// Refuses options and words that make no sense, before solving starts.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.check_page()?;
        if let Some(engine) = &self.engine.for_circuits {
            let message =
                format!("shofar: the engine `{engine}` is for circuits; {} is not a circuit", self.file());
            return Err(Failure::Input(message));
        }
        #[cfg(feature = "cluster")]
        if let Some(option) = self.history.given().filter(|_| self.help.is_given()) {
            let message = format!("shofar: `{option}` is for runs without a cluster");
            return Err(Failure::Input(message));
        }
        if let Some(option) = self.circuit.given() {
            let message = format!("shofar: `{option}` is for circuits; {} is not a circuit", self.file());
            return Err(Failure::Input(message));
        }
        self.check_words().map_err(|message| Failure::Input(format!("shofar: {message}")))
    }

    /// Whether the file is a circuit. Standard input is read within the limits of a command that started at this time.
    pub(crate) fn is_circuit(&self, start: Instant) -> bool {
        is_circuit_within(&self.limits.start(start), self.file())
    }

    /// Refuses a page where standard output has another use.
    fn check_page(&self) -> Result<(), Failure> {
        if self.prints_page() && self.json {
            let message =
                "shofar: standard output cannot take both `--json` and `--html -`; write the page to a file";
            return Err(Failure::Input(message.to_owned()));
        }
        Ok(())
    }

    /// Refuses options of Horn clauses and further words, for a circuit.
    pub(crate) fn check_for_circuit(&self) -> Result<(), Failure> {
        self.check_page()?;
        let options = [
            ("--interpolation", self.interpolation.is_some()),
            ("--option", !self.settings.is_empty()),
            ("--passes", self.passes.is_some()),
            ("--validate", self.validate),
            ("--witness-format", self.witness_format.is_some()),
            ("--query", self.question.query.is_some()),
            ("explain", self.explanation.is_some()),
            #[cfg(feature = "cluster")]
            ("--cluster", self.help.is_given()),
        ];
        if let Some((option, _)) = options.iter().find(|(_, is_given)| *is_given) {
            let message = format!("shofar: `{option}` is for Horn clauses, and {} is a circuit", self.file());
            return Err(Failure::Input(message));
        }
        self.check_words().map_err(|message| Failure::Input(format!("shofar: {message}")))
    }

    /// Whether the witness is printed.
    pub(crate) fn witness(&self) -> bool {
        self.witness
    }

    /// The engines for a circuit and the number of them that run at the same time.
    pub(crate) fn circuit_options(&self) -> Result<shofar_hardware::solve::Options, Failure> {
        let engine = |name: &String| {
            circuit_engine(name).ok_or_else(|| {
                let names: Vec<&str> = circuit_engines().map(|engine| engine.name).collect();
                Failure::Input(format!(
                    "shofar: the engines for circuits are {}, not `{name}`",
                    names.join(", ")
                ))
            })
        };
        let engines = self.engine.names.iter().map(engine).collect::<Result<_, _>>()?;
        Ok(shofar_hardware::solve::Options { engines, jobs: self.jobs })
    }

    /// Complains about a misspelt or misplaced command, and about a second file.
    fn check_words(&self) -> Result<(), String> {
        let file = self.file();
        if self.more.is_empty() && (file == "-" || Path::new(file).exists()) {
            return Ok(());
        }
        let program = CommandLine::command();
        let commands: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
        let mut words = self.more.iter().map(String::as_str).chain([file]);
        if let Some(command) = words.find(|word| commands.contains(word) && !Path::new(word).exists()) {
            return Err(format!("the command stands first: `shofar {command} ...`"));
        }
        let near = nearest(file, commands.iter().copied()).filter(|_| !Path::new(file).exists());
        match (near, self.more.first()) {
            (Some(command), _) => {
                Err(format!("there is no command or file `{file}`; {}", did_you_mean(command)))
            }
            (None, Some(second)) => Err(format!(
                "one file at a time, please: `{second}` stands behind `{file}`. To check a witness, write \
                 `shofar check {file} {second}`"
            )),
            (None, None) => Ok(()),
        }
    }

    /// Refuses a history of a file with several questions.
    pub(crate) fn check_history(&self, questions: usize) -> Result<(), Failure> {
        match self.history.given() {
            Some(option) if questions > 1 => Err(Failure::Input(format!(
                "{}: {option} is about one of the {questions} questions: choose it with --query",
                shown_name(self.file())
            ))),
            _ => Ok(()),
        }
    }

    /// The history of the run.
    pub(crate) fn history(&self) -> Result<History, Failure> {
        self.history.open(&self.engine.names)
    }

    /// The options of the driver.
    pub(crate) fn driver_options(&self, history: &History) -> driver::Options {
        driver::Options {
            engines: self.engine.slots.clone(),
            exchange: self.exchange.into(),
            history: history.clone(),
            outside: None,
            jobs: self.jobs,
            turns: Turns::default(),
            interpolation: self.interpolation,
            settings: self.settings.clone(),
            passes: self.passes.clone(),
            validate: self.validate,
            model: if self.shows_witness() { ModelForm::Readable } else { ModelForm::Plain },
        }
    }

    /// Also prints refutations as Z3 does.
    pub(crate) fn print_proofs_of_z3(&mut self) {
        self.print_witness_of(Of::Unsat);
        self.witness_format = Some(Format::Hyper);
    }

    /// The format of the printed witness of an answer; `None` if it is not printed.
    pub(crate) fn wanted_witness(&self, answer: &str) -> Option<WitnessFormat> {
        if self.witness_of.is_some_and(|of| of.answer() != answer) {
            return None;
        }
        let default = if self.json { WitnessFormat::Json } else { WitnessFormat::Text };
        match self.witness_format {
            Some(format) => Some(format.into()),
            None => self.witness.then_some(default),
        }
    }
}

/// Parses the number of engines that run at the same time, at least one.
pub(crate) fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least one engine has to run".to_owned()),
        Ok(jobs) => Ok(jobs),
        Err(_) => Err("write a whole number, as in `-j 4`".to_owned()),
    }
}

/// Engines with their settings; empty for `auto`.
#[derive(Clone, Default)]
pub(crate) struct Engines {
    /// As written.
    names: Vec<String>,
    /// For Horn clauses.
    slots: Vec<Slot>,
    /// An engine that only circuits have.
    for_circuits: Option<String>,
}

#[cfg(feature = "cluster")]
impl Engines {
    /// The texts of the slots for Horn clauses; none for `auto`.
    pub(crate) fn for_clauses(&self) -> Result<Vec<String>, Failure> {
        match &self.for_circuits {
            Some(engine) => Err(Failure::Input(format!("shofar: the engine `{engine}` is for circuits"))),
            None => Ok(self.slots.iter().map(Slot::to_string).collect()),
        }
    }
}

pub(crate) fn engines(names: &str) -> Result<Engines, String> {
    if names == "auto" {
        return Ok(Engines::default());
    }
    let mut engines = Engines::default();
    for text in names.split(',').map(str::trim) {
        if text == "auto" {
            return Err("`auto` chooses all engines itself; name engines or write `auto` alone".to_owned());
        }
        match text.parse() {
            Ok(slot) => engines.slots.push(slot),
            Err(_) if circuit_engine(text).is_some() => engines.for_circuits = Some(text.to_owned()),
            Err(error) => return Err(OptionError::to_string(&error)),
        }
        engines.names.push(text.to_owned());
    }
    Ok(engines)
}

/// All engines for circuits, with their settings.
fn circuit_engines() -> impl Iterator<Item = Engine> {
    ENGINES.iter().chain(VARIANTS).copied()
}

/// The engine for circuits with a name.
fn circuit_engine(name: &str) -> Option<Engine> {
    circuit_engines().find(|engine| engine.name == name)
}
