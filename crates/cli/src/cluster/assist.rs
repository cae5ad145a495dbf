//! `shofar FILE --cluster URL`: solves here, and asks workers to help.
//!
//! The engines of this process run as without workers. The first answer that the checker confirms, of an engine here or of a
//! worker, is told, and ends the others.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use shofar_cluster::assist::{Found, Request, Signals, assist};
use shofar_cluster::confirm::Form;
use shofar_cluster::{Address, Note, Times, slots};
use shofar_cooperate::driver::{self, Options, Outcome, Verdict};
use shofar_cooperate::exchange::Exchanging;
use shofar_cooperate::exchange::outside::Outside;
use shofar_cooperate::slot::Slot;
use shofar_engines::{Event, EventSink, Label, Run};
use shofar_horn::HornSystem;
use shofar_run::Limits;

use crate::Failure;
use crate::arguments::{Engines, engines};
use crate::input::seconds;

/// The interval at which Ctrl-C is polled.
const TICK: Duration = Duration::from_millis(20);

/// The options for workers that help.
#[derive(clap::Args, Clone)]
pub(crate) struct HelpArguments {
    /// Ask the workers of this broker to help, as in `--cluster redis://user@host:6379`; see `shofar worker`.
    #[arg(long, value_name = "URL")]
    cluster: Option<String>,

    /// Read the password of the broker from this file; the variable SHOFAR_CLUSTER_PASSWORD may have it as well.
    #[arg(long, value_name = "FILE", requires = "cluster")]
    cluster_password_file: Option<PathBuf>,

    /// Have workers run these engines, one per worker, as in `--cluster-engine spacer,pdkind:depth=2`. By default they run
    /// the engines of `--engine`, also with other settings.
    #[arg(long, value_name = "NAMES", default_value = "auto", value_parser = engines, requires = "cluster")]
    cluster_engine: Engines,

    /// Whether the engines here and those of workers tell each other what they learn.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = ShareName::Facts, requires = "cluster")]
    share: ShareName,

    /// If the engines here end without an answer, wait until this many seconds after the start for a worker to begin, as
    /// in `--workers-wait 10`. While workers are at work, they are waited for anyway.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "cluster")]
    workers_wait: Option<Duration>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ShareName {
    /// They tell each other facts, which are proved before they are used.
    Facts,
    /// They do not.
    Off,
}

impl HelpArguments {
    /// Whether workers are asked.
    pub(crate) fn is_given(&self) -> bool {
        self.cluster.is_some()
    }

    /// Whom to ask, and what for; `None` if nobody is asked.
    pub(crate) fn help(&self) -> Result<Option<Help>, Failure> {
        let Some(address) = &self.cluster else { return Ok(None) };
        Ok(Some(Help {
            address: super::address(address, self.cluster_password_file.as_deref())?,
            engines: self.cluster_engine.for_clauses()?,
            wait: self.workers_wait.unwrap_or_default(),
            shares: self.share == ShareName::Facts,
        }))
    }
}

/// Whom to ask, and what for.
#[derive(Clone)]
pub(crate) struct Help {
    address: Address,
    /// The slots for workers; if there are none, those of the schedule and variants.
    engines: Vec<String>,
    wait: Duration,
    /// Whether facts are exchanged.
    shares: bool,
}

/// A question for workers.
pub(crate) struct Question<'a> {
    pub(crate) help: &'a Help,
    /// The text of the input.
    pub(crate) text: Arc<[u8]>,
    /// The number of the question, if the text has several.
    pub(crate) query: Option<usize>,
    /// Whether a model is for people.
    pub(crate) form: Form,
}

/// Receives what happens.
pub(crate) trait Listener: EventSink + Sync {
    /// A note about the cluster.
    fn note(&self, note: &Note);
    /// Workers know that they are no longer needed.
    fn release(&self);
}

/// Decides a system, here and by workers. The answer of a worker is told at once; so is the answer of an engine here.
pub(crate) fn solve(
    question: &Question<'_>,
    system: &HornSystem,
    options: &Options,
    run: &Run<'_>,
    listener: &impl Listener,
    tell_here: impl Fn(&Verdict, &Label),
    tell_there: impl Fn(&Found) + Sync,
) -> (Outcome, Option<Found>) {
    let limits = run.limits;
    let is_shared = question.help.shares && options.exchange != Exchanging::Off;
    let outside: Option<Arc<Outside>> = is_shared.then(Arc::default);
    let options = &Options { outside: outside.clone(), ..options.clone() };
    // Workers know the settings of a slot, and no others.
    let explicit = |text: &String| match text.parse::<Slot>() {
        Ok(slot) => options.explicit(&slot).to_string(),
        Err(_) => text.clone(),
    };
    let signals = Signals::default();
    // Ends the engines here: Ctrl-C, or an answer of a worker.
    let cancel = AtomicBool::new(false);
    let is_over = AtomicBool::new(false);
    let (sender, schedules) = mpsc::channel();
    let events = Eavesdropper { listener, sender: Mutex::new(Some(sender)) };
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                if limits.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                    cancel.store(true, Ordering::Relaxed);
                    signals.stop.store(true, Ordering::Relaxed);
                }
                thread::park_timeout(TICK);
            }
        });
        let watch = watch.thread();
        let _ending = Ending { events: &events, signals: &signals, is_over: &is_over, watch };
        let (signals, cancel, tell_there) = (&signals, &cancel, &tell_there);
        let helper = scope.spawn(move || {
            let asked = &question.help.engines;
            let slots = if !asked.is_empty() {
                Some(asked.clone())
            } else {
                // The schedule comes at once, or the run ends without one.
                schedules.recv().ok().map(|(schedule, places)| match &options.engines[..] {
                    [] => slots::for_workers(&schedule, places),
                    chosen => chosen.iter().map(ToString::to_string).collect(),
                })
            };
            let found = slots.and_then(|slots| {
                let request = Request {
                    address: question.help.address.clone(),
                    text: Arc::clone(&question.text),
                    query: question.query,
                    slots: slots.iter().map(explicit).collect(),
                    passes: options.passes.as_ref().map(ToString::to_string),
                    outside,
                    seed: run.seed(),
                    deadline: limits.deadline,
                    mib: limits.memory.map(|bytes| (bytes >> 20) as u64),
                    form: question.form,
                    wait: question.help.wait,
                    times: Times::default(),
                };
                assist(&request, signals, &|note| listener.note(&note))
            });
            if let Some(found) = &found {
                cancel.store(true, Ordering::Relaxed);
                tell_there(found);
            }
            listener.release();
            found
        });
        let here = run.clone().with_limits(Limits { cancel: Some(cancel), ..limits }).with_events(&events);
        let outcome = driver::solve_and_tell(system, options, &here, |verdict, engine| {
            signals.stop.store(true, Ordering::Relaxed);
            tell_here(verdict, engine);
        });
        // Without a schedule there is nothing to ask for.
        events.close();
        let signal =
            if matches!(outcome.verdict, Verdict::Unknown(_)) { &signals.alone } else { &signals.stop };
        signal.store(true, Ordering::Relaxed);
        let found = helper.join().ok().flatten();
        (outcome, found)
    })
}

/// Ends the other threads at the end, also if the driver panics: otherwise nobody would see the panic.
struct Ending<'a, L: Listener> {
    events: &'a Eavesdropper<'a, L>,
    signals: &'a Signals,
    is_over: &'a AtomicBool,
    /// The thread that polls, which waits for the next time.
    watch: &'a Thread,
}

impl<L: Listener> Drop for Ending<'_, L> {
    fn drop(&mut self) {
        self.events.close();
        self.signals.stop.store(true, Ordering::Relaxed);
        self.is_over.store(true, Ordering::Relaxed);
        self.watch.unpark();
    }
}

/// The slots that run here, and how many of them at the same time.
type Schedule = (Vec<String>, usize);

/// Passes events on, and the schedule to the thread that asks workers.
struct Eavesdropper<'a, L> {
    listener: &'a L,
    sender: Mutex<Option<Sender<Schedule>>>,
}

impl<L: Listener> Eavesdropper<'_, L> {
    fn close(&self) {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl<L: Listener> EventSink for Eavesdropper<'_, L> {
    fn tell(&self, event: Event) {
        if let Event::Schedule { engines, jobs, .. } = &event {
            let slots = engines.iter().map(|(label, _)| label.to_string()).collect();
            let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(sender) = sender {
                // If the slots are given, nobody listens.
                let _ = sender.send((slots, *jobs));
            }
        }
        self.listener.tell(event);
    }
}
