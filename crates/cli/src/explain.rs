//! `shofar explain`: explains an answer to people.
//!
//! It solves as `shofar FILE` does, or reads a witness from a file, and explains the witness instead of printing it. A witness
//! from a file is checked first: no wrong witness is explained.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

use anstream::{AutoStream, ColorChoice};
use shofar_cooperate::readable::for_people;
use shofar_engines::Event;
use shofar_horn::check::checked;
use shofar_horn::infix::Notation;
use shofar_horn::witness::{Explanation, Witness};
use shofar_horn::{Context, HornSystem};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;

use crate::input::{read_system_within, read_witness_within, shown_name};
use crate::{Failure, arguments, check, html, solve};

/// Explain the answer, as in `shofar explain program.smt2`: the run that leads to false, or what the predicates mean.
#[derive(clap::Args)]
#[group(id = "explain")]
#[command(mut_args(|argument| match argument.get_id().as_str() {
    "witness" | "witness_format" => argument.hide(true),
    _ => argument,
}))]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) solve: arguments::Arguments,

    /// Explain the witness in this file instead of solving, as in `--witness-file witness`. Shofar checks it first.
    #[arg(long, value_name = "WITNESS")]
    witness_file: Option<String>,

    /// Print everything, however long it is.
    #[arg(long)]
    full: bool,

    /// Print the values of local variables of clauses, too.
    #[arg(long)]
    locals: bool,
}

/// Whether standard output is coloured.
fn is_coloured() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let explanation = Explanation {
        color: is_coloured(),
        full: arguments.full,
        full_hint: Some("--full shows them"),
        locals: arguments.locals,
        notation: for_terminal(arguments.solve.notation()),
    };
    match &arguments.witness_file {
        Some(file) => explain_file(arguments, file, explanation, out),
        None => solve::run(&arguments.solve.explained(explanation), Instant::now(), out),
    }
}

/// The notation in characters that standard output can show: a terminal whose locale has another encoding than UTF-8
/// gets ASCII. Without a locale, and for files and pipes, UTF-8 is assumed.
pub(crate) fn for_terminal(notation: Notation) -> Notation {
    let variables = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = variables.into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    let is_utf8 = locale.is_none_or(|locale| {
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    if notation == Notation::Math && !is_utf8 && io::stdout().is_terminal() {
        Notation::Ascii
    } else {
        notation
    }
}

/// Checks and explains a witness from a file.
fn explain_file(
    arguments: &Arguments,
    file: &str,
    explanation: Explanation,
    out: &mut impl Write,
) -> Result<(), Failure> {
    arguments.solve.check()?;
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
    let (answer, witness) = match witness {
        Witness::Model(model) => {
            ("sat", Witness::Model(for_people(&context, &system, model, start.elapsed())))
        }
        Witness::Induction(_) | Witness::Saturation(_) => ("sat", witness),
        Witness::Refutation(_) => ("unsat", witness),
    };
    let text = format!("{answer}\n{}", text(&store, &system, &witness, explanation));
    if arguments.solve.prints_page() {
        io::stderr().write_all(text.as_bytes())?;
    } else {
        out.write_all(text.as_bytes())?;
        out.flush()?;
    }
    let page = arguments.solve.html().map(|_| page(&store, &system, &arguments.solve, Ok(&witness), &[]));
    save(&arguments.solve, page.as_deref(), out)
}

/// The explanation of a witness as text.
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

/// The page for an answer: its witness, or the reason for `unknown`.
pub(crate) fn page(
    store: &TermStore,
    system: &HornSystem,
    arguments: &arguments::Arguments,
    witness: Result<&Witness, &str>,
    events: &[Event],
) -> String {
    let answer = match witness {
        Ok(Witness::Model(model)) => html::Answer::Sat(model),
        Ok(Witness::Induction(proof)) => html::Answer::Proved(proof),
        Ok(Witness::Saturation(proof)) => html::Answer::Saturated(proof),
        Ok(Witness::Refutation(refutation)) => html::Answer::Unsat(refutation),
        Err(reason) => html::Answer::Unknown(reason),
    };
    html::page(store, system, arguments.file(), arguments.notation(), &answer, events)
}

/// Writes the page if `--html` is given: to a file, or to standard output for `-`.
pub(crate) fn save(
    arguments: &arguments::Arguments,
    page: Option<&str>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let Some(path) = arguments.html() else { return Ok(()) };
    let failed = |why: String| Failure::Incomplete(format!("shofar: cannot write {}: {why}", path.display()));
    let page = page.ok_or_else(|| failed("there was no time to make the page".to_owned()))?;
    if arguments.prints_page() {
        out.write_all(page.as_bytes())?;
        return Ok(out.flush()?);
    }
    html::save(path, page).map_err(|error| failed(reason(path, &error)))
}

/// Why a file cannot be written, in words that say what to do.
fn reason(path: &Path, error: &io::Error) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        _ if path.is_dir() => {
            format!("it is a folder; name a file, as in {}", path.join("page.html").display())
        }
        Some(folder) if !folder.is_dir() => format!("there is no folder {}", folder.display()),
        _ => error.to_string(),
    }
}
