//! The output of a run: the answer and JSON on standard output, messages on standard error.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use shofar_engines::{Event, Label};
use shofar_run::Stop;

use crate::arguments::Arguments;
use crate::progress::{Display, INTERVAL};
use crate::solve::{Shown, Solved};
use crate::statistics::Statistics;
use crate::{Failure, escape};

/// The time between two progress lines of an engine with `-v`.
const VERBOSE_INTERVAL: Duration = Duration::from_secs(1);

/// Prints events and the answer.
pub(crate) struct Talk<'a> {
    arguments: &'a Arguments,
    start: Instant,
    /// The start of the current question. The first one includes reading the file.
    question_start: Instant,
    /// The progress lines on a terminal, if they are drawn.
    display: Option<Display>,
    /// The figures of the current question.
    statistics: Statistics,
    /// The engines whose failure is already reported.
    reported: Vec<Label>,
}

impl<'a> Talk<'a> {
    /// Starts the output.
    pub(crate) fn new(
        arguments: &'a Arguments,
        start: Instant,
        out: &mut impl Write,
    ) -> Result<Self, Failure> {
        let is_shown = !arguments.quiet && arguments.verbose == 0;
        let talk = Talk {
            arguments,
            start,
            question_start: start,
            display: if is_shown { Display::new(start) } else { None },
            statistics: Statistics::default(),
            reported: Vec::new(),
        };
        if arguments.json {
            let file = arguments.file();
            print(&json!({"event": "start", "version": env!("CARGO_PKG_VERSION"), "file": file}), out)?;
        }
        Ok(talk)
    }

    /// The least time between two progress events of an engine; `None` if nobody wants them.
    pub(crate) fn progress_interval(&self) -> Option<Duration> {
        if self.arguments.json || self.display.is_some() {
            Some(INTERVAL)
        } else {
            (self.arguments.verbose > 0).then_some(VERBOSE_INTERVAL)
        }
    }

    /// Whether anybody wants to know more than the answer and what went wrong.
    pub(crate) fn is_watched(&self) -> bool {
        self.arguments.stats || self.progress_interval().is_some()
    }

    /// Prints an event.
    pub(crate) fn hear(&mut self, event: &Event, out: &mut impl Write) -> Result<(), Failure> {
        if self.arguments.json {
            let mut object = event.to_json();
            object["at"] = self.start.elapsed().as_secs_f64().into();
            print(&object, out)?;
        }
        if self.arguments.verbose > 0
            && let Some(text) = event.log_line()
        {
            self.say(&format!("{:>9.3}s  {text}", self.start.elapsed().as_secs_f64()));
        }
        match event {
            Event::Panicked { engine, message } => self.report(engine, message),
            Event::Stopped { engine, reason: Some(Stop::Internal(what)), .. } => self.report(engine, what),
            _ => {}
        }
        if let Some(display) = &mut self.display {
            display.hear(event);
        }
        self.statistics.hear(event);
        Ok(())
    }

    /// Reports the failure of an engine, once.
    fn report(&mut self, engine: &Label, message: &str) {
        if self.arguments.quiet || self.reported.contains(engine) {
            return;
        }
        self.reported.push(engine.clone());
        self.say(&format!(
            "shofar: engine {engine} has failed: {message}. This is a mistake in shofar {}: please report it with this \
             line and the input; other engines go on",
            env!("CARGO_PKG_VERSION")
        ));
    }

    /// Prints a note about the cluster; details only for those who want to know.
    #[cfg(feature = "cluster")]
    pub(crate) fn note(&mut self, text: &str, is_detail: bool, out: &mut impl Write) -> Result<(), Failure> {
        if self.arguments.json {
            let at = self.start.elapsed().as_secs_f64();
            print(&json!({"event": "cluster", "message": text, "at": at}), out)?;
        }
        if !self.arguments.quiet && (self.arguments.verbose > 0 || !is_detail) {
            self.say(&format!("shofar: {text}"));
        }
        Ok(())
    }

    /// So many workers help.
    #[cfg(feature = "cluster")]
    pub(crate) fn set_workers(&mut self, workers: usize) {
        if let Some(display) = &mut self.display {
            display.set_workers(workers);
        }
    }

    /// Redraws the progress lines, if it is time.
    pub(crate) fn show_progress(&mut self) {
        if let Some(display) = &mut self.display {
            display.redraw();
        }
    }

    /// Prints the answer, with the number of the question if there are several.
    pub(crate) fn answer(
        &mut self,
        query: Option<usize>,
        solved: &Solved,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        self.clear();
        let time = self.question_start.elapsed();
        if self.arguments.json {
            let Solved { answer, reason, witness, .. } = solved;
            let engine = solved.engine.as_deref();
            let seconds = time.as_secs_f64();
            print(&AnswerEvent { event: "answer", query, answer, engine, reason, seconds, witness }, out)?;
        } else {
            writeln!(out, "{}", solved.answer)?;
            // The answer is out before the witness is written.
            out.flush()?;
            match &solved.witness {
                Some(Shown::Text(text)) => out.write_all(text.as_bytes())?,
                Some(Shown::Json(json)) => serde_json::to_writer(&mut *out, json).map_err(io::Error::from)?,
                None => {}
            }
        }
        out.flush()?;
        if let Some(reason) = &solved.reason
            && !self.arguments.quiet
        {
            self.say(&format!("shofar: unknown: {reason}"));
            if let Some(hint) = &solved.hint {
                self.say(&format!("help: {hint}"));
            }
        }
        if self.arguments.stats {
            self.say(&self.statistics.table(query, solved.engine.as_deref(), time));
        }
        self.statistics = Statistics::default();
        self.question_start = Instant::now();
        Ok(())
    }

    /// Erases the progress lines.
    pub(crate) fn clear(&mut self) {
        if let Some(display) = &mut self.display {
            display.clear();
        }
    }

    /// Writes to standard error. Failures are ignored: there is no other place for a message.
    fn say(&mut self, text: &str) {
        self.clear();
        let _ = writeln!(io::stderr(), "{}", escape::lines(text.trim_end()));
    }
}

/// Prints an error as an event of `--json`, unless the answer is printed or nothing can be. `main` prints the message for
/// people.
pub(crate) fn print_error(failure: &Failure, at: Duration, out: &mut impl Write) -> Result<(), Failure> {
    let error = |message: &str| json!({"event": "error", "message": message});
    let mut event = match failure {
        Failure::Mistake(mistake) => mistake.to_json(),
        Failure::Input(message) | Failure::Refused(message) => error(message),
        Failure::Stopped(file, stop) => error(&format!("{file}: {stop}")),
        Failure::Incomplete(_) | Failure::Output(_) => return Ok(()),
    };
    event["at"] = at.as_secs_f64().into();
    print(&event, out)
}

/// Writes an object as a line and flushes it.
pub(crate) fn print(object: &impl Serialize, out: &mut impl Write) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, object).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// The answer as a JSON object.
#[derive(Serialize)]
struct AnswerEvent<'a> {
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<usize>,
    answer: &'a str,
    engine: Option<&'a str>,
    reason: &'a Option<String>,
    seconds: f64,
    witness: &'a Option<Shown>,
}
