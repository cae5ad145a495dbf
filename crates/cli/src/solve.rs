//! `shofar FILE`: decides the clauses of each question that the file asks, in order. The limits apply to all questions
//! together.
//!
//! The worker thread reads and solves. The main thread receives its messages, writes the output, and watches the limits.
//! Reader and engines end soon after a limit, but some large steps do not poll it: [`GRACE`] after the limit the main thread
//! answers without waiting for them. If the answer is known by then, it is printed without its witness.
//!
//! Ctrl-C is such a limit (`limits.rs`).
//!
//! The portfolio catches panics of engines; this file catches all others. A panic is reported with its message and place,
//! and the answer is that of the other engines, or `unknown`.

use std::cell::RefCell;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
#[cfg(feature = "cluster")]
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
#[cfg(feature = "cluster")]
use shofar_cluster::assist::Found;
#[cfg(feature = "cluster")]
use shofar_cluster::confirm::{Confirmed, Form};
#[cfg(feature = "cluster")]
use shofar_cluster::{Name, Note};
use shofar_cooperate::driver::{self, Options, Verdict};
use shofar_cooperate::exchange::history::History;
use shofar_engines::{Event, EventSink, Label, Run};
use shofar_horn::HornSystem;
use shofar_horn::witness::{JsonWitness, Witness, WitnessFormat};
use shofar_logic::{Fun, TermStore};
use shofar_run::{Limits, Stop};

use crate::arguments::Arguments;
#[cfg(feature = "cluster")]
use crate::cluster::assist::{self, Help, Question};
use crate::diagnostic::SMT_SCRIPTS;
use crate::input::{Questions, shown_name};
use crate::limits::without_limits;
use crate::talk::Talk;
use crate::{Failure, explain};

/// The interval at which the main thread polls the limits.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// The time that the worker thread has to end by itself after a limit.
pub(crate) const GRACE: Duration = Duration::from_millis(700);

/// The time after the last answer in which workers are told that they are no longer needed.
#[cfg(feature = "cluster")]
const FAREWELL: Duration = Duration::from_millis(500);

/// The name of the worker thread.
const WORKER: &str = "solver";

/// A message of the worker thread.
enum Message {
    Event(Event),
    /// The number of questions in the file.
    Questions(usize),
    /// The answer to a question is known; its witness and page are being made.
    Found(usize, &'static str, Option<Label>),
    /// The complete answer to a question.
    Done(usize, Result<Solved, Failure>),
    /// A note about the cluster, and whether it is a detail.
    #[cfg(feature = "cluster")]
    Note(String, bool),
    /// The number of workers that help.
    #[cfg(feature = "cluster")]
    Workers(usize),
    /// Workers know that they are no longer needed for a question.
    #[cfg(feature = "cluster")]
    Released,
}

/// The answer as it is printed.
pub(crate) struct Solved {
    pub(crate) answer: &'static str,
    pub(crate) engine: Option<Label>,
    /// The reason of `unknown`.
    pub(crate) reason: Option<String>,
    /// What the user may want instead.
    pub(crate) hint: Option<String>,
    pub(crate) witness: Option<Shown>,
    /// The page for a browser.
    pub(crate) page: Option<String>,
}

/// A witness as it is printed.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Shown {
    Text(String),
    /// An object inside of the answer event.
    Json(Box<JsonWitness>),
}

impl Solved {
    fn unknown(engine: Option<Label>, stop: &Stop) -> Self {
        Solved {
            answer: "unknown",
            engine,
            reason: Some(stop.to_string()),
            hint: None,
            witness: None,
            page: None,
        }
    }
}

pub(crate) fn run(arguments: &Arguments, start: Instant, out: &mut impl Write) -> Result<(), Failure> {
    let limits = arguments.limits.start(start);
    keep_panics();
    let mut talk = Talk::new(arguments, start, out)?;
    arguments.check()?;
    #[cfg(feature = "cluster")]
    let help = arguments.help.help()?;
    let history = arguments.history()?;
    let options = arguments.driver_options(&history);
    let (sender, messages) = mpsc::channel();
    let (job, interval, is_watched) = (arguments.clone(), talk.progress_interval(), talk.is_watched());
    let worker = thread::Builder::new().name(WORKER.to_owned()).spawn(move || {
        let events = Events::new(sender, interval, is_watched);
        let work = || {
            work(
                &job,
                &options,
                limits,
                &events,
                #[cfg(feature = "cluster")]
                help.as_ref(),
            )
        };
        match panic::catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => events.done(Err(failure)),
            Err(_) => {
                let stop = Stop::Internal(format!("a panic, {}", last_panic()));
                events.done(Ok(Solved::unknown(None, &stop)));
            }
        }
    });
    worker.map_err(|error| Failure::Input(format!("shofar: cannot start a thread: {error}")))?;

    let mut ended: Option<Instant> = None;
    let (mut question, mut questions) = (0, 1);
    let mut complete = Ok(());
    #[cfg(feature = "cluster")]
    let mut released = 0;
    while question < questions {
        let mut found = None;
        let solved = loop {
            match messages.recv_timeout(TICK) {
                Ok(Message::Event(event)) => talk.hear(&event, out)?,
                Ok(Message::Questions(number)) => questions = number,
                Ok(Message::Found(number, answer, engine)) if number == question => {
                    found = Some((answer, engine));
                }
                Ok(Message::Done(number, done)) if number == question => match done {
                    Ok(solved) => break solved,
                    Err(failure) => {
                        talk.clear();
                        return Err(failure);
                    }
                },
                Ok(Message::Found(..) | Message::Done(..)) => {}
                #[cfg(feature = "cluster")]
                Ok(Message::Note(text, is_detail)) => talk.note(&text, is_detail, out)?,
                #[cfg(feature = "cluster")]
                Ok(Message::Workers(number)) => talk.set_workers(number),
                #[cfg(feature = "cluster")]
                Ok(Message::Released) => released += 1,
                Err(RecvTimeoutError::Disconnected) => {
                    break Solved::unknown(None, &Stop::Internal("the solving thread has failed".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            talk.show_progress();
            if let Some(reason) = limits.interruption()
                && ended.get_or_insert_with(Instant::now).elapsed() > GRACE
            {
                break match found {
                    Some((answer, engine)) => {
                        Solved { answer, engine, reason: None, hint: None, witness: None, page: None }
                    }
                    None => Solved::unknown(None, &Stop::Interrupted(reason)),
                };
            }
        };
        question += 1;
        let number = (questions > 1).then_some(question);
        without_limits(|| {
            if arguments.prints_page() {
                talk.answer(number, &solved, &mut io::stderr())
            } else {
                talk.answer(number, &solved, out)
            }
        })?;
        if solved.witness.is_none() && solved.reason.is_none() && arguments.tells_witness(solved.answer) {
            let message = "shofar: there was no time to make the witness";
            complete = complete.and(Err(Failure::Incomplete(message.to_owned())));
        } else {
            complete = complete.and(explain::save(arguments, solved.page.as_deref(), out));
        }
    }
    if let History::Record(recorder) = history
        && let Some(error) = recorder.error()
    {
        complete =
            complete.and(Err(Failure::Incomplete(format!("shofar: the recording is not complete: {error}"))));
    }
    #[cfg(feature = "cluster")]
    if arguments.help.is_given() {
        out.flush()?;
        let end = Instant::now() + FAREWELL;
        while released < questions
            && let Ok(message) = messages.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            released += usize::from(matches!(message, Message::Released));
        }
    }
    complete
}

/// Reads and solves, and sends the answer to each question.
fn work(
    arguments: &Arguments,
    options: &Options,
    limits: Limits<'_>,
    events: &Events,
    #[cfg(feature = "cluster")] help: Option<&Help>,
) -> Result<(), Failure> {
    let start = Instant::now();
    // The process ends soon: freeing millions of terms would only delay the answer.
    let store = ManuallyDrop::new(TermStore::new());
    let run = Run::new(&store).with_limits(limits).with_seed(arguments.seed).with_events(events);
    let questions = match Questions::read_within(&run, arguments.file(), arguments.question) {
        Err(Failure::Stopped(_, stop)) => {
            events.done(Ok(Solved::unknown(None, &stop)));
            return Ok(());
        }
        read => read?,
    };
    events.tell(Event::Phase { name: "read", engine: None, time: start.elapsed() });
    let count = questions.count;
    if count > 1 {
        if arguments.html().is_some() {
            let file = shown_name(arguments.file());
            let message =
                format!("{file}: a page is about one of the {count} questions: choose it with --query");
            return Err(Failure::Input(message));
        }
        events.questions(count);
    }
    arguments.check_history(count)?;
    let mut answered = 0;
    #[cfg(feature = "cluster")]
    let help = help.map(|help| (help, Arc::<[u8]>::from(questions.text())));
    let read = questions.each_within(&run, arguments.file(), &mut |system| {
        #[cfg(feature = "cluster")]
        let question = help.as_ref().map(|(help, text)| Question {
            help,
            text: Arc::clone(text),
            query: arguments.question.query.or((count > 1).then_some(answered + 1)),
            form: if arguments.shows_witness() { Form::Readable } else { Form::Plain },
        });
        decide(
            arguments,
            options,
            system,
            &run,
            events,
            #[cfg(feature = "cluster")]
            question.as_ref(),
        );
        events.next_question();
        answered += 1;
    });
    match read {
        Err(Failure::Stopped(_, stop)) => {
            for _ in answered..count {
                events.done(Ok(Solved::unknown(None, &stop)));
                events.next_question();
            }
            Ok(())
        }
        read => read,
    }
}

/// Decides a system and sends the answer. Its witness and page may be large, so they are made once.
fn decide(
    arguments: &Arguments,
    options: &Options,
    system: &HornSystem,
    run: &Run<'_>,
    events: &Events,
    #[cfg(feature = "cluster")] question: Option<&Question<'_>>,
) {
    let here = Home { arguments, store: run.store, system, events };
    // Otherwise nobody needs the figures of the other engines, and the answer does not wait for them.
    let waits = arguments.stats || arguments.json || arguments.html().is_some();
    let is_told = AtomicBool::new(false);
    let tell_at_once = |verdict: &Verdict, engine: &Label| {
        if !waits && !is_told.swap(true, Ordering::Relaxed) {
            events.done(Ok(here.solved(verdict, Some(engine.clone()))));
        }
    };
    #[cfg(feature = "cluster")]
    if let Some(question) = question {
        let there = |found: &Found| {
            let Confirmed { store, system, witness } = &*found.confirmed;
            let home = Home { arguments, store, system, events };
            let engine = Label::from(format!("{} of {}", found.engine, found.from));
            home.solved(&Verdict::from(witness.clone()), Some(engine))
        };
        let tell_there = |found: &Found| {
            if !waits && !is_told.swap(true, Ordering::Relaxed) {
                events.done(Ok(there(found)));
            }
        };
        let (outcome, found) =
            assist::solve(question, system, options, run, events, tell_at_once, tell_there);
        if !is_told.load(Ordering::Relaxed) {
            events.done(Ok(match (&outcome.verdict, found) {
                (Verdict::Unknown(_), Some(found)) => there(&found),
                (verdict, Some(found)) if verdict.name() != found.confirmed.word().name() => {
                    let stop = Stop::Internal(format!(
                        "the checker confirms `{}` of an engine here and `{}` of worker {}",
                        verdict.name(),
                        found.confirmed.word().name(),
                        found.from
                    ));
                    Solved::unknown(None, &stop)
                }
                (verdict, _) => here.solved(verdict, outcome.engine),
            }));
        }
        return;
    }
    let outcome = driver::solve_and_tell(system, options, run, tell_at_once);
    if !is_told.load(Ordering::Relaxed) {
        events.done(Ok(here.solved(&outcome.verdict, outcome.engine)));
    }
}

/// The clauses that an answer is about, and what is made of it.
struct Home<'a> {
    arguments: &'a Arguments,
    store: &'a TermStore,
    system: &'a HornSystem,
    events: &'a Events,
}

impl Home<'_> {
    /// An answer as it is printed, with witness and page.
    fn solved(&self, verdict: &Verdict, engine: Option<Label>) -> Solved {
        let Home { arguments, store, system, events } = *self;
        let page = |witness: Result<&Witness, &str>| {
            arguments
                .html()
                .map(|_| explain::page(store, system, arguments, witness, &events.about_engines()))
        };
        let answer = verdict.name();
        if let Verdict::Unknown(stop) = verdict {
            let hint = looks_like_smt_script(store, system)
                .then(|| format!("the file declares no predicate with arguments; {SMT_SCRIPTS}"));
            return Solved { page: page(Err(&stop.to_string())), hint, ..Solved::unknown(engine, stop) };
        }
        let witness = if arguments.shows_witness() { verdict.clone().witness() } else { None };
        let Some(witness) = witness else {
            return Solved { answer, engine, reason: None, hint: None, witness: None, page: None };
        };
        events.found(answer, engine.clone());
        let shown = match (arguments.explanation(), arguments.wanted_witness(answer)) {
            (Some(explanation), _) => Some(Shown::Text(explain::text(store, system, &witness, explanation))),
            (None, Some(WitnessFormat::Json)) if arguments.json => {
                Some(Shown::Json(Box::new(witness.to_json(store, system))))
            }
            (None, format) => format.map(|format| Shown::Text(witness.to_text(store, system, format))),
        };
        Solved { answer, engine, reason: None, hint: None, witness: shown, page: page(Ok(&witness)) }
    }
}

/// Whether a system declares constants or functions, and no predicate with arguments.
fn looks_like_smt_script(store: &TermStore, system: &HornSystem) -> bool {
    let is_relation = |fun: Fun| !store.fun_decl(fun).domain.is_empty();
    !system.functions.is_empty() && !system.predicates().any(|(_, fun)| is_relation(fun))
}

/// Sends events to the main thread, and progress events of each engine at most once per interval.
struct Events {
    sender: Sender<Message>,
    /// The current question, counted from zero.
    question: AtomicUsize,
    /// The least time between two progress events of an engine; `None` suppresses them.
    interval: Option<Duration>,
    /// Whether the main thread needs events other than failures. Otherwise it sleeps until there is an answer.
    is_watched: bool,
    /// The time of the last progress event of each engine.
    last: Mutex<Vec<(Label, Instant)>>,
    /// How engines ended, and who helped whom.
    about_engines: Mutex<Vec<Event>>,
    /// The workers that have begun to help.
    #[cfg(feature = "cluster")]
    workers: Mutex<Vec<Name>>,
}

impl Events {
    fn new(sender: Sender<Message>, interval: Option<Duration>, is_watched: bool) -> Self {
        Events {
            sender,
            question: AtomicUsize::new(0),
            interval,
            is_watched,
            last: Mutex::default(),
            about_engines: Mutex::default(),
            #[cfg(feature = "cluster")]
            workers: Mutex::default(),
        }
    }

    /// Sends the answer before its witness is made.
    fn found(&self, answer: &'static str, engine: Option<Label>) {
        let _ = self.sender.send(Message::Found(self.question.load(Ordering::Relaxed), answer, engine));
    }

    /// Sends the number of questions.
    fn questions(&self, number: usize) {
        let _ = self.sender.send(Message::Questions(number));
    }

    /// What pages say about the engines of the present question.
    fn about_engines(&self) -> Vec<Event> {
        self.about_engines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Goes on to the next question.
    fn next_question(&self) {
        self.about_engines.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.question.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends the complete answer. After a limit the main thread does not use it.
    fn done(&self, done: Result<Solved, Failure>) {
        let _ = self.sender.send(Message::Done(self.question.load(Ordering::Relaxed), done));
    }

    /// Whether the next progress event of an engine is due.
    fn is_time_for(&self, engine: &Label) -> bool {
        let Some(interval) = self.interval else { return false };
        let now = Instant::now();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.iter_mut().find(|(name, _)| name == engine) {
            Some((_, last)) if now.duration_since(*last) < interval => return false,
            Some((_, last)) => *last = now,
            None => last.push((engine.clone(), now)),
        }
        true
    }
}

impl EventSink for Events {
    fn tell(&self, event: Event) {
        let event = match event {
            Event::Progress { ref engine, .. } if !self.is_time_for(engine) => return,
            Event::Memory { .. } | Event::Facts { .. } | Event::Outside { .. } if self.interval.is_none() => {
                return;
            }
            // The panicking thread itself sends this event.
            Event::Panicked { engine, .. } => Event::Panicked { engine, message: last_panic() },
            event => event,
        };
        if matches!(event, Event::Stopped { .. } | Event::Helped { .. }) {
            self.about_engines.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        }
        let is_failure =
            matches!(event, Event::Panicked { .. } | Event::Stopped { reason: Some(Stop::Internal(_)), .. });
        if self.is_watched || is_failure {
            // After a limit the main thread no longer listens.
            let _ = self.sender.send(Message::Event(event));
        }
    }
}

#[cfg(feature = "cluster")]
impl assist::Listener for Events {
    fn note(&self, note: &Note) {
        if let Note::Helps(worker, _) = note {
            let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
            if !workers.contains(worker) {
                workers.push(worker.clone());
            }
            let _ = self.sender.send(Message::Workers(workers.len()));
        }
        let _ = self.sender.send(Message::Note(note.to_string(), note.is_detail()));
    }

    fn release(&self) {
        let _ = self.sender.send(Message::Released);
    }
}

thread_local! {
    /// The message and place of the last panic of this thread.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn last_panic() -> String {
    LAST_PANIC.with_borrow_mut(Option::take).unwrap_or_else(|| "of which nothing is known".to_owned())
}

/// Stores the panic messages of the worker and of engines for the report. Other threads print theirs as usual.
fn keep_panics() {
    let print = panic::take_hook();
    let keep = |info: &PanicHookInfo<'_>| {
        let message = info.payload_as_str().unwrap_or("no message");
        let place = info.location().map_or_else(String::new, |place| format!(" at {place}"));
        LAST_PANIC.set(Some(format!("{message}{place}")));
    };
    panic::set_hook(Box::new(move |info| match thread::current().name() {
        Some(name) if name == WORKER || name.starts_with("engine ") => keep(info),
        _ => print(info),
    }));
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::CommandLine;

    /// The messages of the worker thread about a system.
    fn messages(options: &[&str], clauses: &str) -> Vec<Message> {
        let line = CommandLine::parse_from([&["shofar", "-"], options].concat());
        let store = TermStore::new();
        let system = shofar_horn::parse(&store, "test", clauses).unwrap();
        let (sender, messages) = mpsc::channel();
        decide(
            &line.solve,
            &line.solve.driver_options(&History::Forget),
            &system,
            &Run::new(&store),
            &Events::new(sender, None, true),
            #[cfg(feature = "cluster")]
            None,
        );
        messages.iter().collect()
    }

    #[test]
    fn witness_and_page_are_made_once() {
        let bound = "(declare-fun P (Int) Bool)(assert (P 0))(assert (forall ((x Int)) (=> (P x) (< x 3))))";
        for options in [&["-w", "--html", "page.html"][..], &["-w", "--html", "page.html", "--stats"]] {
            for clauses in [bound, &bound.replace("(< x 3)", "(> x 3)")] {
                let messages = messages(options, clauses);
                let found = messages.iter().filter(|message| matches!(message, Message::Found(..)));
                assert_eq!(found.count(), 1, "{options:?}");
                let done: Vec<&Solved> = messages
                    .iter()
                    .filter_map(|message| match message {
                        Message::Done(_, done) => done.as_ref().ok(),
                        _ => None,
                    })
                    .collect();
                assert!(matches!(done[..], [Solved { witness: Some(_), page: Some(_), .. }]), "{options:?}");
            }
        }
    }
}
