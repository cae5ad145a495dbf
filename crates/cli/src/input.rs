//! Reading the input file and the values of options.

use std::io::{self, Read};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use shofar_horn::Context;
use shofar_horn::witness::{self, Witness};
use shofar_horn::{HornSystem, Unread};
use shofar_logic::smtlib::Environment;
use shofar_run::Reason;

use crate::Failure;
use crate::diagnostic::Diagnostic;

/// How often the limits are looked at while a file is read.
const TICK: Duration = Duration::from_millis(20);

/// Which question of a file is meant.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct QueryArgument {
    /// Take the clauses of the N-th `check-sat` or `query`, counted from one, of a file that has several.
    #[arg(long, value_name = "N")]
    pub(crate) query: Option<usize>,
}

/// Reads the Horn clauses in a file within limits; `-` stands for standard input. The names that the file declares are left in
/// the environment.
pub(crate) fn read_system_within(
    context: &Context<'_>,
    environment: &mut Environment,
    file: &str,
    question: QueryArgument,
) -> Result<HornSystem, Failure> {
    let text = read_text_within(context, file)?;
    let name = shown_name(file);
    let system = shofar_horn::parse_question_within(context, environment, name, &text, question.query);
    system.map_err(|unread| failure(file, &text, unread))
}

/// Reads the Horn clauses of all questions in a file within limits, or of the one that is chosen.
pub(crate) fn read_systems_within(
    context: &Context<'_>,
    file: &str,
    question: QueryArgument,
) -> Result<Vec<HornSystem>, Failure> {
    if question.query.is_some() {
        let mut environment = Environment::new(context.store);
        return read_system_within(context, &mut environment, file, question).map(|system| vec![system]);
    }
    let text = read_text_within(context, file)?;
    let systems = shofar_horn::parse_all_within(context, shown_name(file), &text);
    systems.map_err(|unread| failure(file, &text, unread))
}

/// Reads a witness of a system within limits, in the environment that reading the system has left; `-` stands for standard
/// input.
pub(crate) fn read_witness_within(
    context: &Context<'_>,
    environment: &mut Environment,
    system: &HornSystem,
    file: &str,
) -> Result<Witness, Failure> {
    let text = read_text_within(context, file)?;
    let witness = witness::read_within(context, environment, system, shown_name(file), &text);
    witness.map_err(|unread| failure(file, &text, unread))
}

fn failure(file: &str, text: &[u8], unread: Unread) -> Failure {
    match unread {
        Unread::Wrong(error) => Failure::Mistake(Box::new(Diagnostic::new(text, error))),
        Unread::Interrupted(reason) => stopped(file, reason),
    }
}

/// Reading the file, or what was to be done with it, has ended by a limit.
pub(crate) fn stopped(file: &str, reason: Reason) -> Failure {
    Failure::Stopped(shown_name(file).to_owned(), reason.into())
}

/// What is in a file, within limits: a pipe may keep us waiting, or never end. Then a thread stays behind that waits for it.
fn read_text_within(context: &Context<'_>, file: &str) -> Result<Vec<u8>, Failure> {
    let (sender, texts) = mpsc::channel();
    let place = file.to_owned();
    let reader = move || {
        // Nobody listens any more if a limit has passed.
        let _ = sender.send(read_text(&place));
    };
    if thread::Builder::new().spawn(reader).is_err() {
        return text_of(file, read_text(file));
    }
    loop {
        match texts.recv_timeout(TICK) {
            Ok(text) => return text_of(file, text),
            Err(RecvTimeoutError::Disconnected) => return text_of(file, Err(io::ErrorKind::Other.into())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        context.go_on().map_err(|reason| stopped(file, reason))?;
    }
}

/// What is in a file; `-` stands for standard input.
fn read_text(file: &str) -> io::Result<Vec<u8>> {
    if file == "-" {
        let mut text = Vec::new();
        return io::stdin().lock().read_to_end(&mut text).map(|_| text);
    }
    std::fs::read(file)
}

/// The text of a file that was read, or a message about why there is none.
fn text_of(file: &str, text: io::Result<Vec<u8>>) -> Result<Vec<u8>, Failure> {
    text.map_err(|error| Failure::Input(format!("shofar: cannot read {}: {error}", shown_name(file))))
}

/// What messages call a file.
pub(crate) fn shown_name(file: &str) -> &str {
    if file == "-" { "<stdin>" } else { file }
}

/// A duration, as options have it.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is needed".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
