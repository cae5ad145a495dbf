//! `shofar explain`: what an answer says, for people.
//!
//! Solves as `shofar FILE` does, or takes a witness that somebody has, and tells what it says instead of printing it as
//! it is. A witness from elsewhere is checked first: nothing wrong is explained.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use shofar_cooperate::ModelForm;
use shofar_horn::check::{Trust, Validity, check_model, checked};
use shofar_horn::witness::{Explanation, Model, Witness};
use shofar_horn::{Context, HornSystem};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;

use crate::input::{read_system_within, read_witness_within, shown_name};
use crate::{Failure, arguments, check, html, solve};

/// Tells what the answer says: the run that leads to false, or what the predicates mean.
#[derive(clap::Args)]
#[group(id = "explain")]
#[command(mut_args(|argument| match argument.get_id().as_str() {
    "witness" | "witness_format" => argument.hide(true),
    _ => argument,
}))]
pub(crate) struct Arguments {
    #[command(flatten)]
    solve: arguments::Arguments,

    /// Explain the witness in this file instead of solving.
    #[arg(long, value_name = "WITNESS")]
    witness_file: Option<String>,

    /// Leave nothing out, however long it is.
    #[arg(long)]
    full: bool,

    /// Tell the values of the clauses' variables that are not arguments of what is derived, too.
    #[arg(long)]
    locals: bool,

    /// Whether changes are marked by colours: auto is yes on a terminal, unless NO_COLOR is set.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    fn is_wanted(self) -> bool {
        let is_refused = || {
            std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
                || std::env::var_os("TERM").is_some_and(|value| value == "dumb")
        };
        match self {
            Color::Auto => io::stdout().is_terminal() && !is_refused(),
            Color::Always => true,
            Color::Never => false,
        }
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let explanation =
        Explanation { color: arguments.color.is_wanted(), full: arguments.full, locals: arguments.locals };
    match &arguments.witness_file {
        Some(file) => explain_file(arguments, file, explanation, out),
        None => solve::run(&arguments.solve.explained(explanation), out),
    }
}

/// Checks and explains a witness that somebody has.
fn explain_file(
    arguments: &Arguments,
    file: &str,
    explanation: Explanation,
    out: &mut impl Write,
) -> Result<(), Failure> {
    arguments.solve.check_places()?;
    let start = Instant::now();
    let limits = arguments.solve.limits.start(start);
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let clauses = arguments.solve.file();
    let context = Context { store: &store, limits };
    let system = read_system_within(&context, &mut environment, clauses, arguments.solve.question)?;
    let witness = read_witness_within(&context, &mut environment, &system, file)?;
    let name = shown_name(file);
    let witness = checked(&context, &system, witness)
        .map_err(|verdict| Failure::Refused(check::complaint(&store, &system, clauses, name, &verdict)))?;
    let shown = shown(&context, &system, witness, start.elapsed());
    let answer = if matches!(shown, Witness::Model(_)) { "sat" } else { "unsat" };
    writeln!(out, "{answer}")?;
    shown.explain(&store, &system, explanation, out)?;
    out.flush()?;
    let page = arguments.solve.html().map(|_| page(&store, &system, clauses, Ok(&shown)));
    save(&arguments.solve, page.as_deref())
}

/// A witness that was checked as people are to see it: readable, if the checker finds that form valid, too.
fn shown(context: &Context<'_>, system: &HornSystem, witness: Witness, time: Duration) -> Witness {
    let Witness::Model(model) = witness else { return witness };
    let readable = ModelForm::Readable.of(context, &model, time);
    let is_valid = |form: &Model| check_model(context, system, form, Trust::Proofs) == Validity::Valid;
    Witness::Model(readable.filter(is_valid).unwrap_or(model))
}

/// What a witness says, as text.
pub(crate) fn text(
    store: &TermStore,
    system: &HornSystem,
    witness: &Witness,
    explanation: Explanation,
) -> String {
    let mut out = Vec::new();
    witness.explain(store, system, explanation, &mut out).expect("writing to memory does not fail");
    String::from_utf8(out).expect("only text is written")
}

/// A page about a witness, or about why there is none.
pub(crate) fn page(
    store: &TermStore,
    system: &HornSystem,
    file: &str,
    witness: Result<&Witness, &str>,
) -> String {
    let answer = match witness {
        Ok(Witness::Model(model)) => html::Answer::Sat(model),
        Ok(Witness::Refutation(refutation)) => html::Answer::Unsat(refutation),
        Err(reason) => html::Answer::Unknown(reason),
    };
    html::page(store, system, file, &answer)
}

/// Writes a page where one is wanted.
pub(crate) fn save(arguments: &arguments::Arguments, page: Option<&str>) -> Result<(), Failure> {
    let Some(path) = arguments.html() else { return Ok(()) };
    let failed = |why: String| Failure::Incomplete(format!("shofar: cannot write {}: {why}", path.display()));
    let page = page.ok_or_else(|| failed("there was no time to make the page".to_owned()))?;
    html::save(path, page).map_err(|error| failed(error.to_string()))
}
