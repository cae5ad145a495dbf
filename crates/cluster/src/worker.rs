//! A worker: takes jobs, has them solved, and answers.
//!
//! ```text
//! repeat until stopped:
//!     collect the jobs whose threads have ended: answer, or give the job to the next worker if it panicked
//!     with the broker, if there is one:
//!         show a sign of life, for the worker and for each job that it has
//!         leave jobs whose client waits no longer, or is silent
//!         exchange facts about the tasks
//!         deliver answers
//!         take over the jobs of silent workers: pass them on with one attempt more, or give them up
//!         take new jobs, if there are places
//! ```
//!
//! The thread that calls [`run`] owns the connection; each job has a thread of its own, so that a worker stays alive for the
//! broker whatever its jobs do.
//!
//! - W1: a job is removed from the broker only after its answer is there, or if nobody waits for it.
//! - W2: a job that is interrupted by the death of its worker or by a panic gets to the next worker with a higher `attempt`.
//!   After [`MOST_ATTEMPTS`] it is given up: `dead` has it, and its client is told.
//! - W3: a job whose entry on the broker is lost goes on. If it comes again, the worker does not begin it a second time.
//! - W4: without a broker jobs go on, and their answers wait for [`Times::keep_answer`].
//! - W5: a job that does not end [`Times::grace`] after its limit is answered `unknown`, and its thread is left behind.
//! - W6: a worker ends with an error if it has too many such threads, or if it has no jobs and hardly any memory left. The scripts
//!   that start workers start it again.

use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use shofar_run::memory_in_use;

use crate::address::Address;
use crate::broker::{Broker, Entry, Trouble};
use crate::facts::Facts;
use crate::link::{Link, Outage};
use crate::message::{
    self, Answer, Begun, Failed, Job, MOST_ANSWER, MOST_SMALL, Message, Name, Presence, Word,
};
use crate::note::{Note, Tell};
use crate::times::Times;
use crate::work::{Order, Outcome, refusal};

/// How many workers may try a job.
pub const MOST_ATTEMPTS: u32 = 3;

/// The number of threads per place that may be left behind.
const MOST_LEFT_BEHIND: usize = 2;

/// The number of signs of life that a client may miss while its job runs.
const MOST_MISSED: u32 = 2;

/// How often a worker asks for further messages about a task in a row.
const MOST_LOOKS: usize = 100;

/// The part of its memory, in quarters, that a worker without jobs may still have.
const MOST_IDLE_QUARTERS: usize = 3;

/// A mebibyte.
const MIB: usize = 1 << 20;

/// The settings of a worker.
#[derive(Clone, Debug)]
pub struct Worker {
    /// The broker.
    pub address: Address,
    /// Its name.
    pub name: Name,
    /// How many jobs it does at the same time.
    pub places: usize,
    /// The longest time for a job, whatever the job says.
    pub most_time: Option<Duration>,
    /// The greatest memory of the process in bytes, whatever jobs say.
    pub memory: Option<usize>,
    /// Whether it ends after one job.
    pub once: bool,
    /// The intervals.
    pub times: Times,
}

/// Solves a job.
pub type Solve = Arc<dyn Fn(&Order) -> Outcome + Send + Sync>;

/// A job that runs.
struct Running {
    /// Its entry on the broker, unless that is lost.
    entry: Option<String>,
    job: Job,
    begun: Instant,
    /// When its thread is left behind.
    overdue: Option<Instant>,
    cancel: Arc<AtomicBool>,
    /// Whether nobody waits for the answer.
    is_dropped: bool,
    /// The last entry of the answers that was read.
    last: String,
    /// How many signs of life its client has missed in a row.
    missed: u32,
    /// The number of its thread.
    thread: u64,
    /// If facts about its task are exchanged.
    facts: Option<Facts>,
}

/// The result of a thread: an outcome, or the message of a panic.
type Ended = (u64, Result<Outcome, String>);

/// A message that waits for the broker.
struct Outgoing {
    entry: Option<String>,
    message: Sendable,
    since: Instant,
}

enum Sendable {
    /// The answer to a job.
    Answer(Box<Answer>),
    /// The job has failed in this way.
    Failure(Job, String),
}

/// Takes jobs until `stop` is set. The error is trouble that waiting does not end, or too many jobs that did not end.
pub fn run(worker: &Worker, solve: &Solve, stop: &AtomicBool, tell: Tell<'_>) -> Result<(), String> {
    let (sender, ended) = mpsc::channel();
    let now = Instant::now();
    let mut shift = Shift {
        worker,
        solve,
        tell,
        sender,
        ended,
        running: Vec::new(),
        outgoing: VecDeque::new(),
        start: now,
        answered: 0,
        begun: 0,
        left_behind: 0,
        epoch: 0,
        next_beat: now,
        next_look: now,
        next_claim: now,
    };
    let mut link = Link::new(worker.address.clone(), worker.times, tell);
    let mut was_up = false;
    while !stop.load(Ordering::Relaxed) {
        shift.collect();
        if shift.left_behind > MOST_LEFT_BEHIND * worker.places {
            return Err("too many jobs did not end after their limits".to_owned());
        }
        if shift.has_no_room() {
            link.finally(|broker| shift.go_home(broker));
            return Err("too much memory is left of earlier jobs".to_owned());
        }
        if worker.once && shift.begun > 0 && shift.running.is_empty() && shift.outgoing.is_empty() {
            break;
        }
        let epoch = link.epoch() + u64::from(!link.is_up());
        match link.with(|broker| shift.turn(broker, epoch)) {
            Ok(()) => was_up = true,
            // A server that has let us in before may be a different one soon.
            Err(Outage::Failed(trouble)) if trouble.is_final() && !was_up => return Err(trouble.to_string()),
            Err(_) => link.rest(),
        }
    }
    // Without a broker others claim the jobs.
    link.finally(|broker| shift.go_home(broker));
    Ok(())
}

struct Shift<'a> {
    worker: &'a Worker,
    solve: &'a Solve,
    tell: Tell<'a>,
    sender: Sender<Ended>,
    ended: Receiver<Ended>,
    running: Vec<Running>,
    outgoing: VecDeque<Outgoing>,
    start: Instant,
    answered: u64,
    /// The number of threads so far.
    begun: u64,
    /// The threads that did not end in time, by W5.
    left_behind: usize,
    /// The connection that this worker has joined with.
    epoch: u64,
    next_beat: Instant,
    next_look: Instant,
    next_claim: Instant,
}

impl Shift<'_> {
    /// Collects the results of threads, and leaves threads behind that are overdue.
    fn collect(&mut self) {
        while let Ok((thread, result)) = self.ended.try_recv() {
            let Some(index) = self.running.iter().position(|running| running.thread == thread) else {
                // It was left behind, and has ended after all.
                self.left_behind = self.left_behind.saturating_sub(1);
                continue;
            };
            let running = self.running.swap_remove(index);
            self.end(running, result);
        }
        let now = Instant::now();
        while let Some(index) =
            self.running.iter().position(|running| running.overdue.is_some_and(|overdue| overdue < now))
        {
            let running = self.running.swap_remove(index);
            running.cancel.store(true, Ordering::Relaxed);
            self.left_behind += 1;
            self.end(running, Ok(Outcome::unknown("the job did not end after its limit".to_owned())));
        }
    }

    /// Whether the worker has no jobs, and the system still has not got their memory back. Its next jobs would end at once, so
    /// the worker has to be started again (W6).
    fn has_no_room(&self) -> bool {
        let Some(memory) = self.worker.memory else { return false };
        self.begun > 0
            && self.running.is_empty()
            && self.outgoing.is_empty()
            && memory_in_use().is_some_and(|used| used > memory / 4 * MOST_IDLE_QUARTERS)
    }

    /// A job has ended: its result has to be sent.
    fn end(&mut self, running: Running, result: Result<Outcome, String>) {
        let Running { entry, job, begun, is_dropped, .. } = running;
        if is_dropped {
            return;
        }
        let message = match result {
            Ok(Outcome { verdict, engine, witness, reason }) => {
                (self.tell)(Note::Answers(job.id.clone(), verdict.name(), begun.elapsed()));
                self.answered += 1;
                Sendable::Answer(Box::new(Answer {
                    id: job.id,
                    verdict,
                    engine: engine.map(|engine| message::label(&engine)),
                    witness,
                    reason: reason.map(|reason| message::reason(&reason)),
                    seconds: begun.elapsed().as_secs_f64(),
                    from: self.worker.name.clone(),
                }))
            }
            Err(panic) => Sendable::Failure(job, format!("a panic: {panic}")),
        };
        self.outgoing.push_back(Outgoing { entry, message, since: Instant::now() });
    }

    /// One round with the broker.
    fn turn(&mut self, broker: &mut Broker, epoch: u64) -> Result<(), Trouble> {
        let now = Instant::now();
        let Times { heartbeat, worker_ttl, claim_after, look, block, keep_answer, .. } = self.worker.times;
        if self.epoch != epoch {
            broker.join(&self.presence())?;
            self.epoch = epoch;
            self.next_beat = now;
        }
        if self.next_beat <= now {
            broker.beat_worker(&self.worker.name, &self.presence(), worker_ttl)?;
            let entries: Vec<String> =
                self.running.iter().filter_map(|running| running.entry.clone()).collect();
            broker.keep(&self.worker.name, &entries)?;
            self.miss_clients(broker)?;
            self.next_beat = now + heartbeat;
        }
        if self.next_look <= now {
            self.leave_ended(broker)?;
            self.next_look = now + look;
        }
        for facts in self.running.iter_mut().filter_map(|running| running.facts.as_mut()) {
            facts.turn(broker)?;
        }
        self.outgoing.retain(|outgoing| outgoing.since.elapsed() < keep_answer);
        while let Some(outgoing) = self.outgoing.front() {
            self.deliver(broker, outgoing)?;
            self.outgoing.pop_front();
        }
        if self.next_claim <= now {
            for Entry { id, text } in broker.claim(&self.worker.name, claim_after)? {
                match self.job(broker, &id, &text)? {
                    Some(job) => self.pass_on(broker, Some(&id), job, "its worker has died")?,
                    None => continue,
                }
            }
            self.next_claim = now + claim_after / 4;
        }
        let free = if self.worker.once && self.begun > 0 {
            0
        } else {
            self.worker.places.saturating_sub(self.running.len())
        };
        if free == 0 {
            // Wait for a thread, not for the broker.
            thread::sleep(block.min(Duration::from_millis(50)));
            return Ok(());
        }
        // A thread that ends waits for its turn at most so long.
        let wait = if self.running.is_empty() { block } else { block.min(Duration::from_millis(50)) };
        let count = if self.worker.once { 1 } else { free };
        for Entry { id, text } in broker.take(&self.worker.name, count, wait)? {
            if let Some(job) = self.job(broker, &id, &text)? {
                self.begin(broker, id, job)?;
            }
        }
        Ok(())
    }

    /// Begins a job, unless nobody waits for it or this worker cannot do it.
    fn begin(&mut self, broker: &mut Broker, entry: String, job: Job) -> Result<(), Trouble> {
        if let Some(running) = self.running.iter_mut().find(|running| running.job.id == job.id) {
            // By W3.
            if let Some(old) = running.entry.replace(entry) {
                broker.finish(&old)?;
            }
            return Ok(());
        }
        let mut last = "0".to_owned();
        let has_ended = self.has_ended(broker, &job, &mut last)?;
        if has_ended || !broker.is_client_alive(&job.id.run)? {
            (self.tell)(Note::Leaves(job.id.clone(), "nobody waits for it"));
            return broker.finish(&entry);
        }
        let time = self.worker.times.task_ttl;
        let failed = |reason: String| Failed { id: job.id.clone(), reason, from: self.worker.name.clone() };
        if let Some(reason) = refusal(&job) {
            let reason = message::reason(&reason);
            broker.add_answer(job.id.task, &Message::Refused(failed(reason.clone())), time)?;
            return self.pass_on(broker, Some(&entry), job, &reason);
        }
        let Some(text) = broker.task(job.id.task)? else {
            let reason = "the text of the task is not there".to_owned();
            broker.add_answer(job.id.task, &Message::Missing(failed(reason)), time)?;
            return broker.finish(&entry);
        };
        let slots = if job.slots.is_empty() { "auto".to_owned() } else { job.slots.join(",") };
        (self.tell)(Note::Begins(job.id.clone(), slots));
        let begun = Message::Begun(Begun { id: job.id.clone(), from: self.worker.name.clone() });
        broker.add_answer(job.id.task, &begun, time)?;
        // The limits are the minima of the job's and the worker's own, by C2.
        let asked = job.seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let limit = [asked, self.worker.most_time].into_iter().flatten().min();
        let begun = Instant::now();
        let deadline = limit.and_then(|limit| begun.checked_add(limit));
        // What the process had before is not the job's.
        let asked = job
            .mib
            .and_then(|mib| usize::try_from(mib).ok())
            .map(|mib| mib.saturating_mul(MIB).saturating_add(memory_in_use().unwrap_or(0)));
        let memory = [asked, self.worker.memory].into_iter().flatten().min();
        let outside = job.share.then(Arc::default);
        let facts = outside.as_ref().map(|outside| {
            let from = self.worker.name.with_number(self.begun);
            Facts::new(Arc::clone(outside), job.id.task, from)
        });
        let cancel = Arc::default();
        let order = Order { text, job: job.clone(), deadline, memory, cancel, outside };
        let running = Running {
            entry: Some(entry),
            job,
            begun,
            overdue: deadline.and_then(|deadline| deadline.checked_add(self.worker.times.grace)),
            cancel: Arc::clone(&order.cancel),
            is_dropped: false,
            last,
            missed: 0,
            thread: self.begun,
            facts,
        };
        self.begun += 1;
        let (sender, solve, thread) = (self.sender.clone(), Arc::clone(self.solve), running.thread);
        self.running.push(running);
        let work = move || {
            let result = panic::catch_unwind(AssertUnwindSafe(|| solve(&order)));
            let result = result.map_err(|panic| {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
            });
            // The worker may have ended.
            let _ = sender.send((thread, result));
        };
        if let Err(error) = thread::Builder::new().name(format!("job {thread}")).spawn(work) {
            let _ = self.sender.send((thread, Err(format!("cannot start a thread: {error}"))));
        }
        Ok(())
    }

    /// Reads a job. One that cannot be read is given up, and so is one of another version.
    fn job(&self, broker: &mut Broker, entry: &str, text: &[u8]) -> Result<Option<Job>, Trouble> {
        match Message::read(text, MOST_SMALL) {
            Ok(Message::Job(job)) => return Ok(Some(job)),
            Ok(_) => (self.tell)(Note::Dropped("it is not a job".to_owned())),
            Err(dropped) => (self.tell)(Note::Dropped(dropped.to_string())),
        }
        broker.finish(entry)?;
        Ok(None)
    }

    /// Gives a job that failed to the next worker, or gives it up, by W2.
    fn pass_on(
        &self,
        broker: &mut Broker,
        entry: Option<&str>,
        job: Job,
        reason: &str,
    ) -> Result<(), Trouble> {
        let id = job.id.clone();
        if job.attempt < MOST_ATTEMPTS {
            (self.tell)(Note::Leaves(id, "another worker gets it"));
            broker.add_job(&Message::Job(Job { attempt: job.attempt + 1, ..job }))?;
        } else {
            let reason = message::reason(&format!("{MOST_ATTEMPTS} workers failed; the last one: {reason}"));
            (self.tell)(Note::Dead(id.task, reason.clone()));
            let task = id.task;
            let dead = Message::Dead(Failed { id, reason, from: self.worker.name.clone() });
            broker.add_dead(&dead)?;
            broker.add_answer(task, &dead, self.worker.times.task_ttl)?;
        }
        entry.map_or(Ok(()), |entry| broker.finish(entry))
    }

    /// Delivers an answer and removes the job, in this order by W1.
    fn deliver(&self, broker: &mut Broker, outgoing: &Outgoing) -> Result<(), Trouble> {
        match &outgoing.message {
            Sendable::Answer(answer) => {
                let task = answer.id.task;
                let mut text = Message::Answer((**answer).clone());
                if text.write().len() > MOST_ANSWER {
                    text = Message::Answer(Answer {
                        verdict: Word::Unknown,
                        witness: None,
                        reason: Some("the witness is too large for a message".to_owned()),
                        ..(**answer).clone()
                    });
                }
                broker.add_answer(task, &text, self.worker.times.task_ttl)?;
                outgoing.entry.as_deref().map_or(Ok(()), |entry| broker.finish(entry))
            }
            Sendable::Failure(job, reason) => {
                self.pass_on(broker, outgoing.entry.as_deref(), job.clone(), reason)
            }
        }
    }

    /// Whether the client of a job has said that it waits no longer. Remembers what was read.
    fn has_ended(&self, broker: &mut Broker, job: &Job, last: &mut String) -> Result<bool, Trouble> {
        for _ in 0..MOST_LOOKS {
            let entries = broker.answers(&[(job.id.task, last.clone())], None)?;
            if entries.is_empty() {
                break;
            }
            for (_, entry) in entries {
                *last = entry.id;
                let message = Message::read(&entry.text, MOST_SMALL);
                if matches!(message, Ok(Message::End(end)) if end.run == job.id.run) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Leaves jobs whose client waits no longer.
    fn leave_ended(&mut self, broker: &mut Broker) -> Result<(), Trouble> {
        for index in 0..self.running.len() {
            let Running { job, last, is_dropped: false, .. } = &self.running[index] else { continue };
            let (job, mut last) = (job.clone(), last.clone());
            if self.has_ended(broker, &job, &mut last)? {
                self.leave(broker, index, "nobody waits for it")?;
            }
            self.running[index].last = last;
        }
        Ok(())
    }

    /// Leaves jobs whose client is silent. A new server does not know clients at first, so one miss is forgiven.
    fn miss_clients(&mut self, broker: &mut Broker) -> Result<(), Trouble> {
        for index in 0..self.running.len() {
            let Running { job, is_dropped: false, .. } = &self.running[index] else { continue };
            if broker.is_client_alive(&job.id.run)? {
                self.running[index].missed = 0;
                continue;
            }
            self.running[index].missed += 1;
            if self.running[index].missed >= MOST_MISSED {
                self.leave(broker, index, "its client is silent")?;
            }
        }
        Ok(())
    }

    fn leave(&mut self, broker: &mut Broker, index: usize, reason: &'static str) -> Result<(), Trouble> {
        let running = &mut self.running[index];
        running.cancel.store(true, Ordering::Relaxed);
        running.is_dropped = true;
        running.overdue = Instant::now().checked_add(self.worker.times.grace);
        (self.tell)(Note::Leaves(running.job.id.clone(), reason));
        running.entry.take().map_or(Ok(()), |entry| broker.finish(&entry))
    }

    /// Gives all jobs back. It is not their fault, so they have as many attempts as before.
    fn go_home(&mut self, broker: &mut Broker) -> Result<(), Trouble> {
        for running in std::mem::take(&mut self.running) {
            running.cancel.store(true, Ordering::Relaxed);
            if let Some(entry) = running.entry {
                broker.add_job(&Message::Job(running.job))?;
                broker.finish(&entry)?;
            }
        }
        for outgoing in std::mem::take(&mut self.outgoing) {
            self.deliver(broker, &outgoing)?;
        }
        broker.leave(&self.worker.name)
    }

    fn presence(&self) -> Message {
        let job = |running: &Running| {
            let slots =
                if running.job.slots.is_empty() { "auto".to_owned() } else { running.job.slots.join(",") };
            message::label(&format!("{}:{slots}", running.job.id.task))
        };
        Message::Worker(Presence {
            from: self.worker.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            places: self.worker.places,
            busy: self.running.iter().take(100).map(job).collect(),
            answered: self.answered,
            seconds: self.start.elapsed().as_secs_f64(),
        })
    }
}
