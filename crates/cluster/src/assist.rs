//! One task: workers help while the engines of this process try it, too.
//!
//! The client is itself a solver from the start; the cluster adds and never replaces. Without a broker, without workers, and
//! if all workers lie, the result is that of a local run.
//!
//! ```text
//! local engines --answer--> Signals::stop ----------------\
//!               --no answer--> Signals::alone -> wait for workers that are at work
//! workers --answer--> confirm, in a thread of its own ---> the caller stops the local engines
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use shofar_cooperate::exchange::outside::Outside;
use shofar_run::Limits;

use crate::address::Address;
use crate::client::Client;
use crate::confirm::{Confirmed, Form, Judgement, confirm};
use crate::link::Outage;
use crate::message::{Answer, Job, JobId, Message, Name, TaskId, Word};
use crate::note::{Note, Tell};
use crate::times::Times;

/// Most tasks take less time, and then nobody has to be asked.
const ASK_AFTER: Duration = Duration::from_millis(100);

/// The longest time that a round waits for messages, and so the delay of an answer from here.
const ROUND: Duration = Duration::from_millis(30);

/// The same before workers are asked, when there is nothing to wait for.
const SHORT_ROUND: Duration = Duration::from_millis(5);

/// The longest time for one check.
const MOST_CHECK: Duration = Duration::from_secs(600);

/// The number of answers that wait for the checker; more are dropped.
const MOST_QUEUED: usize = 64;

/// A question to the workers.
pub struct Request {
    /// The broker.
    pub address: Address,
    /// The text of the task.
    pub text: Arc<[u8]>,
    /// The question of the text, if it has several.
    pub query: Option<usize>,
    /// The slots for workers, each for a job.
    pub slots: Vec<String>,
    /// The seed of the first job; others have the next numbers.
    pub seed: u64,
    /// The transformations to start with; without them, the standard ones.
    pub passes: Option<String>,
    /// Where the engines here tell what they learn, if facts are exchanged.
    pub outside: Option<Arc<Outside>>,
    /// When this client ends.
    pub deadline: Option<Instant>,
    /// The memory limit of jobs, and of the process that checks.
    pub mib: Option<u64>,
    /// The form of a model.
    pub form: Form,
    /// How long after the start to wait for a worker to begin, if the engines here have given up.
    pub wait: Duration,
    /// The intervals.
    pub times: Times,
}

/// What the local engines tell the client's thread, and back.
#[derive(Default)]
pub struct Signals {
    /// There is an answer, or the user has stopped the run.
    pub stop: AtomicBool,
    /// The local engines have ended without an answer.
    pub alone: AtomicBool,
    /// Workers have been asked, and have to be told the end.
    pub has_asked: AtomicBool,
}

/// An answer of a worker that the checker has confirmed.
pub struct Found {
    /// The witness.
    pub confirmed: Box<Confirmed>,
    /// The slot that found it.
    pub engine: String,
    /// The worker.
    pub from: Name,
}

/// Asks workers until there is a confirmed answer, or nothing to wait for.
pub fn assist(request: &Request, signals: &Signals, tell: Tell<'_>) -> Option<Found> {
    let mut client = Client::new(request.address.clone(), request.times, tell);
    let cancel = &AtomicBool::new(false);
    let found = thread::scope(|scope| {
        let found = {
            let mut desk = Desk::new(request, signals, tell);
            let start_check = |answer: Answer| {
                scope.spawn(move || {
                    let end = Instant::now().checked_add(MOST_CHECK);
                    let deadline = [request.deadline, end].into_iter().flatten().min();
                    let limits = Limits { deadline, cancel: Some(cancel), ..Limits::default() };
                    let judgement = confirm(&request.text, &answer, request.form, limits);
                    (answer, judgement)
                })
            };
            let mut checking = None;
            loop {
                if desk.is_over(&client) && checking.is_none() && desk.queue.is_empty() || desk.is_stopped() {
                    break None;
                }
                if checking.is_none() {
                    checking = desk.queue.pop_front().map(&start_check);
                }
                if let Some(check) = checking.take_if(|check| check.is_finished())
                    && let Ok((answer, judgement)) = check.join()
                    && let Some(found) = desk.judge(answer, judgement)
                {
                    break Some(found);
                }
                desk.ask(&mut client);
                match client.turn(if desk.task.is_some() { ROUND } else { SHORT_ROUND }) {
                    Ok(messages) => messages.into_iter().for_each(|message| desk.hear(message, &mut client)),
                    // There is nobody to ask, and this will not change.
                    Err(Outage::Failed(trouble)) if trouble.is_final() => break None,
                    Err(_) => client.rest(),
                }
            }
        };
        cancel.store(true, Ordering::Relaxed);
        found
    });
    client.close();
    found
}

/// The state of a question.
struct Desk<'a> {
    request: &'a Request,
    signals: &'a Signals,
    tell: Tell<'a>,
    start: Instant,
    task: Option<TaskId>,
    /// Answers that are not yet checked.
    queue: VecDeque<Answer>,
    banned: BTreeSet<Name>,
    /// For each job that was begun, who does it and when this worker was last alive.
    at_work: BTreeMap<u32, (Name, Instant)>,
}

impl<'a> Desk<'a> {
    fn new(request: &'a Request, signals: &'a Signals, tell: Tell<'a>) -> Self {
        Desk {
            request,
            signals,
            tell,
            start: Instant::now(),
            task: None,
            queue: VecDeque::new(),
            banned: BTreeSet::new(),
            at_work: BTreeMap::new(),
        }
    }

    fn is_stopped(&self) -> bool {
        self.signals.stop.load(Ordering::Relaxed)
            || self.request.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether the local engines have given up, and no answer of workers is to be expected.
    fn is_over(&mut self, client: &Client<'_>) -> bool {
        if !self.signals.alone.load(Ordering::Relaxed) {
            return false;
        }
        let is_open = self.task.is_none_or(|task| client.is_open(task));
        let Times { heartbeat, claim_after, .. } = self.request.times;
        for (worker, seen) in self.at_work.values_mut() {
            if client.is_alive(worker) {
                *seen = Instant::now();
            }
        }
        // The jobs of a worker that has died get to another one.
        let patience = claim_after + 2 * heartbeat;
        let is_at_work = self.at_work.values().any(|(_, seen)| seen.elapsed() < patience);
        !is_open || !is_at_work && self.start.elapsed() >= self.request.wait
    }

    /// Posts the task, if the local engines take long.
    fn ask(&mut self, client: &mut Client<'_>) {
        let is_alone = self.signals.alone.load(Ordering::Relaxed);
        if self.task.is_some() || self.start.elapsed() < ASK_AFTER && !is_alone {
            return;
        }
        let Request { text, query, slots, seed, passes, outside, deadline, mib, .. } = self.request;
        let seconds =
            deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()).as_secs_f64());
        let job = |(slot, number): (&String, u64)| Job {
            // The client knows the rest.
            id: JobId { task: TaskId::of(b""), query: *query, run: client.run().clone(), number: 0 },
            slots: vec![slot.clone()],
            seed: seed.wrapping_add(number),
            seconds,
            mib: *mib,
            passes: passes.clone(),
            share: outside.is_some(),
            attempt: 1,
        };
        let jobs = slots.iter().zip(0..).map(job).collect();
        self.task = Some(client.post(Arc::clone(text), *query, jobs, outside.clone()));
        self.signals.has_asked.store(true, Ordering::Relaxed);
    }

    fn hear(&mut self, message: Message, client: &mut Client<'_>) {
        match message {
            Message::Begun(begun) => {
                let slot =
                    usize::try_from(begun.id.number).ok().and_then(|number| self.request.slots.get(number));
                if let Some(slot) = slot {
                    (self.tell)(Note::Helps(begun.from.clone(), slot.clone()));
                    self.at_work.insert(begun.id.number, (begun.from, Instant::now()));
                }
            }
            Message::Answer(answer) => {
                if answer.id.run == *client.run() {
                    client.finish(&answer.id);
                    self.at_work.remove(&answer.id.number);
                }
                let is_new = answer.verdict != Word::Unknown && !self.banned.contains(&answer.from);
                if is_new && self.queue.len() < MOST_QUEUED {
                    self.queue.push_back(answer);
                }
            }
            Message::Dead(failed) => {
                client.finish(&failed.id);
                self.at_work.remove(&failed.id.number);
                (self.tell)(Note::Dead(failed.id.task, failed.reason));
            }
            Message::Refused(failed) => (self.tell)(Note::Refused(failed.from, failed.reason)),
            Message::Job(_)
            | Message::Missing(_)
            | Message::End(_)
            | Message::Fact(_)
            | Message::Worker(_) => {}
        }
    }

    /// Takes an answer, or bans its sender.
    fn judge(&mut self, answer: Answer, judgement: Judgement) -> Option<Found> {
        match judgement {
            Judgement::Confirmed(confirmed) => {
                let engine = answer.engine.unwrap_or_else(|| "an engine".to_owned());
                return Some(Found { confirmed, engine, from: answer.from });
            }
            Judgement::Refused(fault) => {
                self.queue.retain(|queued| queued.from != answer.from);
                if self.banned.insert(answer.from.clone()) {
                    (self.tell)(Note::Banned(answer.from, fault));
                }
            }
            Judgement::Open(reason) => {
                (self.tell)(Note::Dropped(format!(
                    "the witness of {} was not checked: {reason}",
                    answer.from
                )));
            }
        }
        None
    }
}
