//! The client's side of the broker: tasks and jobs out, messages about them in.
//!
//! - S1: whatever was posted and has not ended is posted again if the broker has lost it: after a new connection to a server
//!   that does not know this client, or if the queue is empty for long while we wait. Jobs keep their identities, so workers
//!   and clients recognise repetitions.
//! - S2: a client is alive for the broker before its jobs are there, so that no worker drops them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use shofar_cooperate::exchange::outside::Outside;

use crate::address::Address;
use crate::broker::{Broker, Trouble};
use crate::facts::Facts;
use crate::link::{Link, Outage};
use crate::message::{End, Job, JobId, MOST_ANSWER, Message, Name, TaskId};
use crate::note::{Note, Tell};
use crate::status::Roster;
use crate::times::Times;

/// For how long answers to a task stay after its client has ended it: others may still read them.
const AFTERLIFE: Duration = Duration::from_secs(600);

/// How often a client repeats a job whose text was missing.
const MOST_MISSING: u32 = 5;

/// A task on the broker.
struct Post {
    text: Arc<[u8]>,
    /// The question, if there are several.
    query: Option<usize>,
    /// Those that are not finished.
    jobs: Vec<Job>,
    /// The numbers of the jobs that have to be added.
    due: BTreeSet<u32>,
    /// The last message about it that was read.
    last: String,
    missing: u32,
    /// If facts about it are exchanged.
    facts: Option<Facts>,
}

/// A client with its tasks.
pub struct Client<'a> {
    link: Link<'a>,
    times: Times,
    tell: Tell<'a>,
    run: Name,
    posts: BTreeMap<TaskId, Post>,
    /// Tasks that have to be ended.
    ended: Vec<TaskId>,
    epoch: u64,
    next_beat: Instant,
    /// Since when the queue has been empty.
    empty_since: Option<Instant>,
    roster: Roster,
    /// The places of all workers, and the workers.
    places: (usize, usize),
}

impl<'a> Client<'a> {
    /// A client without tasks.
    pub fn new(address: Address, times: Times, tell: Tell<'a>) -> Self {
        Client {
            link: Link::new(address, times, tell),
            times,
            tell,
            run: Name::unique("run"),
            posts: BTreeMap::new(),
            ended: Vec::new(),
            epoch: 0,
            next_beat: Instant::now(),
            empty_since: None,
            roster: Roster::default(),
            places: (0, 0),
        }
    }

    /// The name of this client's run.
    pub fn run(&self) -> &Name {
        &self.run
    }

    /// The jobs that workers can do at the same time, and the number of workers, as far as known.
    pub fn places(&self) -> (usize, usize) {
        self.places
    }

    /// Adds a task with jobs; the next [`turn`](Self::turn) posts it.
    ///
    /// With an outside, facts about it go there and come from there.
    pub fn post(
        &mut self,
        text: Arc<[u8]>,
        query: Option<usize>,
        jobs: Vec<Job>,
        outside: Option<Arc<Outside>>,
    ) -> TaskId {
        let task = TaskId::of(&text);
        let facts = outside.map(|outside| Facts::new(outside, task, self.run.clone()));
        let number = |(job, number): (Job, u32)| Job {
            id: JobId { task, query, run: self.run.clone(), number },
            ..job
        };
        let jobs: Vec<Job> = jobs.into_iter().zip(0..).map(number).collect();
        let due = jobs.iter().map(|job| job.id.number).collect();
        self.posts.insert(task, Post { text, query, jobs, due, last: "0".to_owned(), missing: 0, facts });
        task
    }

    /// Adds a job of a task again.
    pub fn repeat(&mut self, job: &JobId) {
        if let Some(post) = self.posts.get_mut(&job.task)
            && post.jobs.iter().any(|other| other.id.number == job.number)
        {
            post.due.insert(job.number);
        }
    }

    /// A job of a task needs no repetition any more.
    pub fn finish(&mut self, job: &JobId) {
        if let Some(post) = self.posts.get_mut(&job.task) {
            post.jobs.retain(|other| other.id.number != job.number);
            post.due.remove(&job.number);
        }
    }

    /// Ends a task: workers leave it.
    pub fn end(&mut self, task: TaskId) {
        if self.posts.remove(&task).is_some() {
            self.ended.push(task);
        }
    }

    /// Whether a worker was alive at the last sign of life of this client.
    pub fn is_alive(&self, worker: &Name) -> bool {
        self.roster.has(worker)
    }

    /// Whether a task has jobs that are not finished.
    pub fn is_open(&self, task: TaskId) -> bool {
        self.posts.get(&task).is_some_and(|post| !post.jobs.is_empty())
    }

    /// One round: a sign of life, new jobs, and messages; waits for them at most `wait`. Messages that nobody sent for a job of
    /// this client's tasks are left out, except for answers, which may be those of another client with the same task.
    pub fn turn(&mut self, wait: Duration) -> Result<Vec<Message>, Outage> {
        let epoch = self.link.epoch() + u64::from(!self.link.is_up());
        let Client { link, times, tell, run, posts, ended, next_beat, empty_since, roster, places, .. } =
            self;
        let is_new = self.epoch != epoch;
        let messages = link.with(|broker| {
            if is_new && !broker.is_client_alive(run)? {
                posts.values_mut().for_each(Post::renew);
            }
            let now = Instant::now();
            if is_new || *next_beat <= now {
                broker.beat_client(run, times.client_ttl)?;
                *next_beat = now + times.heartbeat;
                let workers = roster.look(broker)?;
                *places = (workers.iter().map(|worker| worker.places).sum(), workers.len());
                let (jobs, _) = broker.lengths()?;
                let is_waiting = posts.values().any(|post| !post.jobs.is_empty());
                if jobs > 0 || !is_waiting {
                    *empty_since = None;
                } else if empty_since.get_or_insert(now).elapsed() > times.claim_after {
                    posts.values_mut().for_each(Post::renew);
                    *empty_since = None;
                }
            }
            while let Some(&task) = ended.last() {
                end_task(broker, task, run, times)?;
                ended.pop();
            }
            for (&task, post) in posts.iter_mut() {
                if !post.due.is_empty() {
                    broker.put_task(task, &post.text, times.task_ttl)?;
                }
                while let Some(&number) = post.due.first() {
                    if let Some(job) = post.jobs.iter().find(|job| job.id.number == number) {
                        broker.add_job(&Message::Job(job.clone()))?;
                    }
                    post.due.remove(&number);
                }
            }
            for facts in posts.values_mut().filter_map(|post| post.facts.as_mut()) {
                facts.turn(broker)?;
            }
            let places: Vec<(TaskId, String)> =
                posts.iter().map(|(&task, post)| (task, post.last.clone())).collect();
            let mut messages = Vec::new();
            for (index, entry) in broker.answers(&places, Some(wait))? {
                let task = places[index].0;
                if let Some(post) = posts.get_mut(&task) {
                    post.last = entry.id;
                    match Message::read(&entry.text, MOST_ANSWER) {
                        Ok(message) => messages.extend(post.accept(task, run, message)),
                        Err(dropped) => tell(Note::Dropped(dropped.to_string())),
                    }
                }
            }
            Ok(messages)
        });
        if messages.is_ok() {
            self.epoch = epoch;
            if self.posts.is_empty() {
                thread::sleep(wait);
            }
        }
        messages
    }

    /// Waits a little if there is no connection.
    pub fn rest(&self) {
        self.link.rest();
    }

    /// Ends all tasks and the client. Without a connection workers notice by themselves.
    pub fn close(mut self) {
        let tasks: Vec<TaskId> = self.posts.keys().copied().collect();
        tasks.into_iter().for_each(|task| self.end(task));
        let Client { link, ended, run, times, .. } = &mut self;
        link.finally(|broker| {
            ended.drain(..).try_for_each(|task| end_task(broker, task, run, times))?;
            broker.end_client(run)
        });
    }
}

fn end_task(broker: &mut Broker, task: TaskId, run: &Name, times: &Times) -> Result<(), Trouble> {
    broker.add_answer(task, &Message::End(End { run: run.clone() }), times.task_ttl)?;
    broker.forget(task, AFTERLIFE.min(times.task_ttl))
}

impl Post {
    /// By S1.
    fn renew(&mut self) {
        self.due = self.jobs.iter().map(|job| job.id.number).collect();
        // A stream of a new server starts anew.
        self.last = "0".to_owned();
    }

    /// Passes a message on if it is about one of our jobs, or an answer with a witness.
    fn accept(&mut self, task: TaskId, run: &Name, message: Message) -> Option<Message> {
        let query = self.query;
        let is_here = |id: &JobId| id.task == task && id.query == query;
        let is_ours = |id: &JobId| is_here(id) && id.run == *run;
        match &message {
            Message::Missing(failed) => {
                if is_ours(&failed.id) && self.missing < MOST_MISSING {
                    self.missing += 1;
                    self.due.insert(failed.id.number);
                }
                None
            }
            Message::Answer(answer) => {
                (is_ours(&answer.id) || is_here(&answer.id) && answer.witness.is_some()).then_some(message)
            }
            Message::Begun(begun) => is_ours(&begun.id).then_some(message),
            Message::Refused(failed) | Message::Dead(failed) => is_ours(&failed.id).then_some(message),
            Message::Job(_) | Message::End(_) | Message::Fact(_) | Message::Worker(_) => None,
        }
    }
}
