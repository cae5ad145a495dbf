//! Reading the input file and the values of options.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::mem::ManuallyDrop;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use shofar_horn::Context;
use shofar_horn::witness::{self, Witness};
use shofar_horn::{HornSystem, Unread};
use shofar_logic::smtlib::Environment;
use shofar_run::{Limits, Reason};

use crate::Failure;
use crate::diagnostic::Diagnostic;

/// The interval at which the limits are polled while a file is read.
const TICK: Duration = Duration::from_millis(20);

/// The greatest size in bytes of a file that is read in a moment.
const SMALL_FILE: u64 = 1 << 20;

/// Standard input, or why it was not read, if its format was looked at before a command reads it.
static PEEKED: Mutex<Option<Result<Vec<u8>, Failure>>> = Mutex::new(None);

/// The choice of a question of the file.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct QueryArgument {
    /// Take the clauses of the N-th `check-sat` or `query`, counted from one, of a file that has several.
    #[arg(long, value_name = "N")]
    pub(crate) query: Option<usize>,
}

/// Reads the Horn clauses in a file within limits; `-` stands for standard input. The environment then has the names that the
/// file declares.
pub(crate) fn read_system_within(
    context: &Context<'_>,
    environment: &mut Environment,
    file: &str,
    question: QueryArgument,
) -> Result<HornSystem, Failure> {
    let text = read_text_within(&context.limits, file)?;
    let name = shown_name(file);
    let system = shofar_horn::parse_question_within(context, environment, name, &text, question.query);
    system.map_err(|unread| failure(file, &text, unread))
}

/// The questions of a file without mistakes.
pub(crate) struct Questions {
    text: Vec<u8>,
    /// The clauses of the first question. If it is the only one, the process ends soon, and freeing them would only delay the
    /// answer.
    first: ManuallyDrop<HornSystem>,
    /// The number of questions.
    pub(crate) count: usize,
}

impl Questions {
    /// Reads all questions in a file, or the chosen one, within limits.
    pub(crate) fn read_within(
        context: &Context<'_>,
        file: &str,
        question: QueryArgument,
    ) -> Result<Self, Failure> {
        let text = read_text_within(&context.limits, file)?;
        let name = shown_name(file);
        let read = if question.query.is_some() {
            let environment = &mut Environment::new(context.store);
            let system =
                shofar_horn::parse_question_within(context, environment, name, &text, question.query);
            system.map(|system| (system, 1))
        } else {
            shofar_horn::parse_first_within(context, name, &text)
        };
        match read {
            Ok((first, count)) => Ok(Questions { text, first: ManuallyDrop::new(first), count }),
            Err(unread) => Err(failure(file, &text, unread)),
        }
    }

    /// The text.
    #[cfg(feature = "cluster")]
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Passes the clauses of each question to a function. Those of several questions are not in memory together: the text is
    /// read once more. The error is a limit that ends this.
    pub(crate) fn each_within(
        self,
        context: &Context<'_>,
        file: &str,
        each: &mut dyn FnMut(&HornSystem),
    ) -> Result<(), Failure> {
        if self.count == 1 {
            each(&self.first);
            return Ok(());
        }
        drop(ManuallyDrop::into_inner(self.first));
        let mut pass_on = |system: HornSystem| each(&system);
        let read = shofar_horn::parse_each_within(context, shown_name(file), &self.text, &mut pass_on);
        read.map_err(|unread| failure(file, &self.text, unread))
    }
}

/// Reads a witness of a system within limits, in the environment of the system; `-` stands for standard input.
pub(crate) fn read_witness_within(
    context: &Context<'_>,
    environment: &mut Environment,
    system: &HornSystem,
    file: &str,
) -> Result<Witness, Failure> {
    let text = read_text_within(&context.limits, file)?;
    let witness = witness::read_within(context, environment, system, shown_name(file), &text);
    witness.map_err(|unread| failure(file, &text, unread))
}

/// The failure for a text that cannot be read.
pub(crate) fn failure(file: &str, text: &[u8], unread: Unread) -> Failure {
    match unread {
        Unread::Wrong(error) => Failure::Mistake(Box::new(Diagnostic::new(text, error))),
        Unread::Interrupted(reason) => stopped(file, reason),
    }
}

/// The failure of a command that a limit has ended.
pub(crate) fn stopped(file: &str, reason: Reason) -> Failure {
    Failure::Stopped(shown_name(file).to_owned(), reason.into())
}

/// Says whether standard input has a property, and keeps it for the command that reads it. If it cannot be read, the property
/// is false, and the command gets the failure.
pub(crate) fn peek_stdin_within(limits: &Limits<'_>, has_property: impl FnOnce(&[u8]) -> bool) -> bool {
    let text = read_text_within(limits, "-");
    let is_so = text.as_ref().is_ok_and(|text| has_property(text));
    *PEEKED.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    is_so
}

/// Standard input, if its format was looked at, or why it was not read.
pub(crate) fn peeked_stdin() -> Option<Result<Vec<u8>, Failure>> {
    PEEKED.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The content of a file, within limits. A pipe may block or never end, and a large file may take long, so a thread reads all but
/// small regular files; at a limit that thread is left behind.
pub(crate) fn read_text_within(limits: &Limits<'_>, file: &str) -> Result<Vec<u8>, Failure> {
    if file == "-"
        && let Some(text) = peeked_stdin()
    {
        return text;
    }
    // Files of the system that block have no size.
    let is_small = |metadata: Metadata| metadata.is_file() && (1..=SMALL_FILE).contains(&metadata.len());
    if file != "-" && fs::metadata(file).is_ok_and(is_small) {
        return text_of(file, fs::read(file));
    }
    let (sender, texts) = mpsc::channel();
    let place = file.to_owned();
    let reader = move || {
        // After a limit nobody listens.
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
        limits.go_on().map_err(|reason| stopped(file, reason))?;
    }
}

/// The content of a file; `-` stands for standard input.
fn read_text(file: &str) -> io::Result<Vec<u8>> {
    if file == "-" {
        let mut text = Vec::new();
        return io::stdin().lock().read_to_end(&mut text).map(|_| text);
    }
    fs::read(file)
}

/// The content of a file, or a message that it cannot be read.
fn text_of(file: &str, text: io::Result<Vec<u8>>) -> Result<Vec<u8>, Failure> {
    text.map_err(|error| Failure::Input(format!("shofar: cannot read {}: {error}", shown_name(file))))
}

/// The name of a file in messages.
pub(crate) fn shown_name(file: &str) -> &str {
    if file == "-" { "<stdin>" } else { file }
}

/// Parses a number of seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is needed".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
