//! `shofar terminate`: whether all runs of the clauses end.
//!
//! As in `solve.rs`, a thread of its own reads and searches, and the main thread watches the limits: [`GRACE`] after one of them
//! it answers `unknown` without waiting any longer.

use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use serde_json::{Value as Json, json};
use shofar_cooperate::driver::Options;
use shofar_cooperate::termination::{Verdict, decide, to_json, to_text};
use shofar_cooperate::{ModelForm, Run};
use shofar_horn::Context;
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_run::{Limits, Stop};

use crate::circuit::is_circuit_within;
use crate::input::{QueryArgument, read_system_within, shown_name};
use crate::limits::LimitArguments;
use crate::solve::{GRACE, TICK};
use crate::talk::print;
use crate::{Failure, arguments, escape};

/// Decide whether all runs of linear clauses end, as in `shofar terminate program.smt2`. Prints `terminating`,
/// `nonterminating` or `unknown`.
#[derive(clap::Args, Clone)]
pub(crate) struct Arguments {
    /// The file with the Horn clauses, or a transition system in VMT; `-` reads standard input. Queries are ignored.
    file: String,

    /// Print the certificate after the answer, as in `shofar terminate program.smt2 -w`.
    #[arg(short = 'w', long)]
    witness: bool,

    /// Print events as JSON, one object per line; the last one is the answer or the error.
    #[arg(long)]
    pub(crate) json: bool,

    /// Run at most N engines at the same time, as in `-j 1`. The default is the number of cores.
    #[arg(short = 'j', long, value_name = "N", value_parser = arguments::jobs)]
    jobs: Option<usize>,

    /// Replay the solver's proofs that the certificate is right before printing the answer.
    #[arg(long)]
    validate: bool,

    /// Use this seed for all random choices, as in `--seed 7`.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Print nothing on standard error except errors in the input.
    #[arg(short = 'q', long)]
    quiet: bool,

    #[command(flatten)]
    question: QueryArgument,

    #[command(flatten)]
    limits: LimitArguments,
}

/// The answer as it is printed.
struct Decided {
    answer: &'static str,
    reason: Option<String>,
    /// The number of queries that were ignored.
    queries: usize,
    text: Option<String>,
    json: Option<Json>,
}

impl Decided {
    fn unknown(stop: &Stop) -> Self {
        Decided { answer: "unknown", reason: Some(stop.to_string()), queries: 0, text: None, json: None }
    }
}

pub(crate) fn run(arguments: &Arguments, start: Instant, out: &mut impl Write) -> Result<(), Failure> {
    let limits = arguments.limits.start(start);
    if is_circuit_within(&limits, &arguments.file) {
        let name = shown_name(&arguments.file);
        return Err(Failure::Input(format!(
            "shofar: {name} is a circuit, and `terminate` is about Horn clauses"
        )));
    }
    if arguments.json {
        print(&json!({"event": "start", "version": env!("CARGO_PKG_VERSION"), "file": arguments.file}), out)?;
    }
    let (sender, results) = mpsc::channel();
    let job = arguments.clone();
    let worker = thread::Builder::new().spawn(move || {
        let work = panic::catch_unwind(AssertUnwindSafe(|| work(&job, limits)));
        let failed =
            || Ok(Decided::unknown(&Stop::Internal("the search for certificates has failed".to_owned())));
        // After a limit nobody listens.
        let _ = sender.send(work.unwrap_or_else(|_| failed()));
    });
    worker.map_err(|error| Failure::Input(format!("shofar: cannot start a thread: {error}")))?;
    let mut ended: Option<Instant> = None;
    let decided = loop {
        match results.recv_timeout(TICK) {
            Ok(decided) => break decided?,
            Err(RecvTimeoutError::Disconnected) => {
                break Decided::unknown(&Stop::Internal("the searching thread has failed".to_owned()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(reason) = limits.interruption() {
            let since = *ended.get_or_insert_with(Instant::now);
            if since.elapsed() > GRACE {
                break Decided::unknown(&reason.into());
            }
        }
    };
    report(arguments, &decided, start, out)
}

/// Reads the clauses and decides.
fn work(arguments: &Arguments, limits: Limits<'_>) -> Result<Decided, Failure> {
    // The process ends soon, and freeing terms would only delay the answer.
    let store = ManuallyDrop::new(TermStore::new());
    let context = Context { store: &store, limits };
    let mut environment = Environment::new(&store);
    let read = read_system_within(&context, &mut environment, &arguments.file, arguments.question);
    let system = match read {
        Err(Failure::Stopped(_, stop)) => return Ok(Decided::unknown(&stop)),
        read => read?,
    };
    let options = Options {
        jobs: arguments.jobs,
        validate: arguments.validate,
        model: if arguments.witness { ModelForm::Readable } else { ModelForm::Plain },
        ..Options::default()
    };
    let run = Run::new(&store).with_limits(limits).with_seed(arguments.seed);
    let verdict = decide(&system, &options, &run);
    let queries = system.clauses.iter().filter(|clause| clause.is_query()).count();
    let mut decided = Decided { answer: verdict.name(), reason: None, queries, text: None, json: None };
    match &verdict {
        Verdict::Unknown(stop) => decided.reason = Some(stop.to_string()),
        Verdict::Known(certificate) if arguments.witness => {
            let failed = |stop: Stop| Failure::Stopped(shown_name(&arguments.file).to_owned(), stop);
            if arguments.json {
                decided.json = Some(to_json(&store, &system, certificate).map_err(failed)?);
            } else {
                decided.text = Some(to_text(&store, &system, certificate).map_err(failed)?);
            }
        }
        Verdict::Known(_) => {}
    }
    Ok(decided)
}

fn report(
    arguments: &Arguments,
    decided: &Decided,
    start: Instant,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let Decided { answer, reason, queries, text, json } = decided;
    if arguments.json {
        let mut event = json!({
            "event": "answer",
            "answer": answer,
            "reason": reason,
            "ignored-queries": queries,
            "seconds": start.elapsed().as_secs_f64(),
        });
        if let Some(certificate) = json {
            event["certificate"] = certificate.clone();
        }
        print(&event, out)?;
    } else {
        writeln!(out, "{answer}")?;
        out.write_all(text.as_deref().unwrap_or_default().as_bytes())?;
    }
    out.flush()?;
    if !arguments.quiet {
        if *queries > 0 {
            say(&format!("shofar: {} ignored: the question is whether all runs end", counted(*queries)));
        }
        if let Some(reason) = reason {
            say(&format!("shofar: unknown: {reason}"));
        }
    }
    Ok(())
}

fn counted(queries: usize) -> String {
    if queries == 1 { "1 query is".to_owned() } else { format!("{queries} queries are") }
}

/// Writes to standard error. Failures are ignored: there is no other place for a message.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", escape::lines(text));
}
