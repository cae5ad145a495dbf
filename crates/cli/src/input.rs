//! Reading the input file and the values of options.

use std::io::{self, Read};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use shofar_horn::Context;
use shofar_horn::witness::{self, Witness};
use shofar_horn::{HornSystem, Unread};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_run::Reason;

use crate::Failure;

/// How often the limits are looked at while a file is read.
const TICK: Duration = Duration::from_millis(20);

/// Reads the Horn clauses in a file; `-` stands for standard input.
pub(crate) fn read_system(store: &TermStore, file: &str) -> Result<HornSystem, Failure> {
    let text = text_of(file, read_text(file))?;
    shofar_horn::parse(store, shown_name(file), &text).map_err(|error| Failure::Input(error.to_string()))
}

/// As [`read_system`], within limits: if they end, there is their reason. The names that the file declares are left in the
/// environment.
pub(crate) fn read_system_within(
    context: &Context<'_>,
    environment: &mut Environment,
    file: &str,
) -> Result<Result<HornSystem, Reason>, Failure> {
    match read_text_within(context, file)? {
        Ok(text) => settled(shofar_horn::parse_within(context, environment, shown_name(file), &text)),
        Err(reason) => Ok(Err(reason)),
    }
}

/// Reads a witness of a system within limits, in the environment that reading the system has left; `-` stands for standard
/// input.
pub(crate) fn read_witness_within(
    context: &Context<'_>,
    environment: &mut Environment,
    system: &HornSystem,
    file: &str,
) -> Result<Result<Witness, Reason>, Failure> {
    match read_text_within(context, file)? {
        Ok(text) => settled(witness::read_within(context, environment, system, shown_name(file), &text)),
        Err(reason) => Ok(Err(reason)),
    }
}

/// Mistakes apart from the end of limits.
fn settled<T>(read: Result<T, Unread>) -> Result<Result<T, Reason>, Failure> {
    match read {
        Ok(content) => Ok(Ok(content)),
        Err(Unread::Interrupted(reason)) => Ok(Err(reason)),
        Err(Unread::Wrong(error)) => Err(Failure::Input(error.to_string())),
    }
}

/// What is in a file, within limits: a pipe may keep us waiting, or never end. Then a thread stays behind that waits for it.
fn read_text_within(context: &Context<'_>, file: &str) -> Result<Result<Vec<u8>, Reason>, Failure> {
    let (sender, texts) = mpsc::channel();
    let place = file.to_owned();
    let reader = move || {
        // Nobody listens any more if a limit has passed.
        let _ = sender.send(read_text(&place));
    };
    if thread::Builder::new().spawn(reader).is_err() {
        return text_of(file, read_text(file)).map(Ok);
    }
    loop {
        match texts.recv_timeout(TICK) {
            Ok(text) => return text_of(file, text).map(Ok),
            Err(RecvTimeoutError::Disconnected) => {
                return text_of(file, Err(io::ErrorKind::Other.into())).map(Ok);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(reason) = context.interrupted() {
            return Ok(Err(reason));
        }
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
