//! The options of `shofar FILE`.

use std::path::{Path, PathBuf};

use shofar_cooperate::ModelForm;
use shofar_cooperate::driver;
use shofar_cooperate::slot::{self, Slot};
use shofar_engines::InterpolationMethod;
use shofar_horn::transform::Pipeline;
use shofar_horn::witness::{Explanation, WitnessFormat};

use crate::input::QueryArgument;
use crate::limits::LimitArguments;
use crate::{Failure, html};

/// How to solve, and what to tell.
#[derive(clap::Args, Clone)]
pub(crate) struct Arguments {
    /// A file with Horn clauses; `-` is standard input.
    #[arg(required_unless_present = "input")]
    file: Option<String>,

    /// The engine, or several of them with commas, which run side by side; `shofar engines` lists them. An engine may
    /// have settings of its own, as in `spacer,pdkind,pdkind:interpolation=farkas`. `auto` chooses engines by the clauses.
    #[arg(short = 'e', long, value_name = "NAMES", default_value = "auto", value_parser = engines)]
    engine: Engines,

    /// How many engines may run at the same time. Without this option as many as the machine has cores.
    #[arg(short = 'j', long, value_name = "N")]
    jobs: Option<usize>,

    /// How engines make interpolants: farkas, dual, decomposed or dual-decomposed. Without this option each has a way of
    /// its own.
    #[arg(long, value_name = "NAME", value_parser = interpolation_method)]
    interpolation: Option<InterpolationMethod>,

    /// Gives an option of an engine a value, as in `spacer.guidance=no`; `shofar engines` lists them. May be given
    /// several times.
    #[arg(short = 'O', long = "option", value_name = "ENGINE.OPTION=VALUE", value_parser = setting)]
    settings: Vec<(String, String, String)>,

    /// The transformations to start with, in the place of `standard`; see `shofar transform`.
    #[arg(long, value_name = "NAMES", value_parser = passes)]
    passes: Option<String>,

    /// Before `sat` is printed, replay the solver's proofs that the model satisfies the clauses.
    #[arg(long)]
    validate: bool,

    /// Print the model or the derivation after the answer.
    #[arg(short = 'w', long, visible_alias = "print-witness")]
    witness: bool,

    /// Print the witness in this format.
    #[arg(long, value_name = "FORMAT", value_enum, visible_alias = "proof-format")]
    witness_format: Option<Format>,

    /// Write a page for a browser to this file: the clauses as a graph, with the model or the derivation.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// How to explain the witness, in the place of printing it.
    #[arg(skip)]
    explanation: Option<Explanation>,

    #[command(flatten)]
    pub(crate) question: QueryArgument,

    #[command(flatten)]
    pub(crate) limits: LimitArguments,

    /// Engines that choose at random choose by this number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Tell in the end, on standard error, what was done and how long it took.
    #[arg(long)]
    pub(crate) stats: bool,

    /// Print JSON, one object a line: what happens, and the answer last.
    #[arg(long)]
    pub(crate) json: bool,

    /// Tell on standard error what happens.
    #[arg(short = 'v', long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Tell nothing on standard error but mistakes in the input.
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,

    /// Another way to name the file.
    #[arg(short = 'i', long, value_name = "FILE", hide = true, conflicts_with = "file")]
    input: Option<String>,

    /// The logic is seen from the clauses.
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
    /// The file to read; `-` for standard input.
    pub(crate) fn file(&self) -> &str {
        self.file.as_ref().or(self.input.as_ref()).map_or("-", |file| file)
    }

    /// Where a page is to be written.
    pub(crate) fn html(&self) -> Option<&Path> {
        self.html.as_deref()
    }

    /// The same, with an explanation of the witness.
    pub(crate) fn explained(&self, explanation: Explanation) -> Self {
        Arguments { explanation: Some(explanation), ..self.clone() }
    }

    /// How the witness is to be explained, if it is.
    pub(crate) fn explanation(&self) -> Option<Explanation> {
        self.explanation
    }

    /// Whether the witness is to be told with the answer.
    pub(crate) fn tells_witness(&self) -> bool {
        self.wanted_witness().is_some() || self.explanation.is_some()
    }

    /// Whether the witness is to be seen in some way.
    pub(crate) fn shows_witness(&self) -> bool {
        self.tells_witness() || self.html.is_some()
    }

    /// Complains about files that cannot be written, before time is spent on what would be in them.
    pub(crate) fn check_places(&self) -> Result<(), Failure> {
        match self.html() {
            Some(path) if !html::is_place(path) => Err(Failure::Input(format!(
                "shofar: cannot write {}: there is no such place",
                path.display()
            ))),
            _ => Ok(()),
        }
    }

    /// What is chosen about solving.
    pub(crate) fn driver_options(&self) -> driver::Options {
        driver::Options {
            engines: self.engine.0.clone(),
            jobs: self.jobs,
            interpolation: self.interpolation,
            settings: self.settings.clone(),
            passes: self.passes.clone(),
            validate: self.validate,
            model: if self.shows_witness() { ModelForm::Readable } else { ModelForm::Plain },
        }
    }

    /// The format in which the witness is wanted, if it is wanted.
    pub(crate) fn wanted_witness(&self) -> Option<WitnessFormat> {
        let default = if self.json { WitnessFormat::Json } else { WitnessFormat::Text };
        match self.witness_format {
            Some(format) => Some(format.into()),
            None => self.witness.then_some(default),
        }
    }
}

fn interpolation_method(name: &str) -> Result<InterpolationMethod, String> {
    let known = || InterpolationMethod::ALL.map(InterpolationMethod::name).join(", ");
    let found = InterpolationMethod::ALL.into_iter().find(|interpolation| interpolation.name() == name);
    found.ok_or_else(|| format!("there are {}", known()))
}

/// Reads an option of an engine and tries whether there is such a thing.
fn setting(text: &str) -> Result<(String, String, String), String> {
    let parts = text.split_once('=').and_then(|(name, value)| Some((name.split_once('.')?, value)));
    let ((engine, option), value) = parts.ok_or("write ENGINE.OPTION=VALUE")?;
    let mut known = slot::engine(engine)?;
    shofar_engines::set_option(known.as_mut(), option, value)?;
    Ok((known.name().to_owned(), option.to_owned(), value.to_owned()))
}

fn passes(names: &str) -> Result<String, String> {
    Pipeline::parse(names).map(|_| names.to_owned())
}

/// Engines with their settings; none for those that are chosen by the clauses.
#[derive(Clone)]
struct Engines(Vec<String>);

fn engines(names: &str) -> Result<Engines, String> {
    if names == "auto" {
        return Ok(Engines(Vec::new()));
    }
    let slot = |text| Slot::parse(text).map(|slot| slot.label());
    names.split(',').map(slot).collect::<Result<_, _>>().map(Engines)
}
