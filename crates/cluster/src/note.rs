//! What clients and workers tell people.

use std::fmt;
use std::time::Duration;

use crate::broker::Trouble;
use crate::message::{JobId, Name, TaskId};

/// Something that happened.
#[derive(Clone, PartialEq, Debug)]
pub enum Note {
    /// There is a connection to the broker, after there was none.
    Connected(String),
    /// There is no connection to the broker, after there was one or at the start.
    Lost(Trouble),
    /// A worker has begun a job for this client.
    Helps(Name, String),
    /// A worker has sent a witness that the checker refuses; its answers are ignored from now on.
    Banned(Name, String),
    /// A message was dropped.
    Dropped(String),
    /// A worker does not know the engines of a job.
    Refused(Name, String),
    /// A job ended several workers, and no worker gets it any more.
    Dead(TaskId, String),
    /// This worker begins a job.
    Begins(JobId, String),
    /// This worker has ended a job, with this answer and after this time.
    Answers(JobId, &'static str, Duration),
    /// This worker leaves a job, for this reason.
    Leaves(JobId, &'static str),
    /// So many files of so many are answered, so many are on the broker, and there are so many workers.
    Progress {
        /// Files with a line in the results.
        answered: usize,
        /// Files in the list.
        all: usize,
        /// Tasks on the broker.
        waiting: usize,
        /// Workers that are alive.
        workers: usize,
    },
}

impl Note {
    /// Whether only curious people want to know it.
    pub fn is_detail(&self) -> bool {
        match self {
            Note::Helps(..)
            | Note::Dropped(_)
            | Note::Refused(..)
            | Note::Begins(..)
            | Note::Answers(..)
            | Note::Leaves(..) => true,
            Note::Connected(_)
            | Note::Lost(_)
            | Note::Banned(..)
            | Note::Dead(..)
            | Note::Progress { .. } => false,
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Connected(address) => write!(f, "connected to the broker at {address}"),
            Note::Lost(trouble) => trouble.fmt(f),
            Note::Helps(worker, slots) => write!(f, "worker {worker} has begun {slots}"),
            Note::Banned(worker, fault) => {
                write!(f, "worker {worker} sent a wrong witness, and its answers are ignored: {fault}")
            }
            Note::Dropped(reason) => write!(f, "a message was dropped: {reason}"),
            Note::Refused(worker, reason) => write!(f, "worker {worker} refuses a job: {reason}"),
            Note::Dead(task, reason) => write!(f, "a job for task {task} is given up: {reason}"),
            Note::Begins(job, slots) => write!(f, "task {} with {slots} begins", job.task),
            Note::Answers(job, word, time) => {
                write!(f, "task {} is answered after {:.1} s: {word}", job.task, time.as_secs_f64())
            }
            Note::Leaves(job, reason) => write!(f, "task {} is left: {reason}", job.task),
            Note::Progress { answered, all, waiting, workers } => {
                let plural = if *workers == 1 { "" } else { "s" };
                write!(f, "{answered} of {all} answered, {waiting} on the broker, {workers} worker{plural}")
            }
        }
    }
}

/// Receives notes, from any thread.
pub type Tell<'a> = &'a (dyn Fn(Note) + Sync);
