//! Many tasks: a list of files, and a file with one line of JSON per answer.
//!
//! The client reads each file, has workers solve it, checks the witness, and appends a line. It solves nothing itself.
//!
//! - R1: each file of the list gets exactly one line. A line is complete when it is there: it is written at once and flushed,
//!   and a line without its end, of a client that died, is removed at the start.
//! - R2: a client that starts again skips files that have a line with the present hash of their content. Files with the same
//!   content are solved once.
//! - R3: `sat` and `unsat` are confirmed by the checker of this process, for the content that this process has read (C1).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use shofar_horn::witness::WitnessFormat;
use shofar_run::Limits;

use crate::address::Address;
use crate::client::Client;
use crate::confirm::{Form, Judgement, confirm};
use crate::link::Outage;
use crate::message::{Answer, Job, JobId, MOST_TASK, Message, Name, TaskId, Word};
use crate::note::{Note, Tell};
use crate::times::Times;

/// The least number of tasks on the broker, if there are as many. More workers get more.
const LEAST_AHEAD: usize = 64;

/// How often a task is repeated because an answer was wrong or came from a worker that lied before.
const MOST_REPETITIONS: u32 = 3;

/// The time for a check, beyond the time limit of the task.
const CHECK_TIME: Duration = Duration::from_secs(60);

/// The time between two notes about progress.
const PROGRESS: Duration = Duration::from_secs(10);

/// A list of tasks and what to do with them.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The broker.
    pub address: Address,
    /// The files, as the results name them, and where they are.
    pub files: Vec<(String, PathBuf)>,
    /// The file for the results.
    pub results: PathBuf,
    /// The slots of each job; if there are none, the clauses choose.
    pub slots: Vec<String>,
    /// The seed of each job.
    pub seed: u64,
    /// The time limit of each job.
    pub time: Option<Duration>,
    /// The memory limit of each job.
    pub mib: Option<u64>,
    /// Whether lines have witnesses.
    pub witness: bool,
    /// How many witnesses are checked at the same time.
    pub checkers: usize,
    /// The intervals.
    pub times: Times,
}

/// A line of the results.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The file, as the list names it.
    pub file: String,
    /// The hash of its content; `None` if it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// `sat`, `unsat`, `unknown`, or `error` if the file could not be read.
    pub answer: String,
    /// The engine that found the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The time that the worker took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Name>,
    /// The reason of `unknown` and `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The model or refutation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
}

impl Line {
    fn new(answer: &str) -> Self {
        Line {
            file: String::new(),
            task: None,
            answer: answer.to_owned(),
            engine: None,
            seconds: None,
            worker: None,
            reason: None,
            witness: None,
        }
    }
}

/// The numbers of a run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Summary {
    /// Files with a line, those of earlier runs included.
    pub answered: usize,
    /// Files whose line is of an earlier run.
    pub known: usize,
    /// Files in the list.
    pub all: usize,
}

/// Answers all tasks, or as many as there is time for until `stop` is set. The error is about the results, or trouble that
/// waiting does not end.
pub fn run(batch: &Batch, stop: &AtomicBool, tell: Tell<'_>) -> Result<Summary, String> {
    let unwritable = |error: io::Error| format!("cannot write {}: {error}", batch.results.display());
    let (results, lines) = open(&batch.results).map_err(unwritable)?;
    let (sender, checks) = mpsc::channel();
    let (judged, judgements) = mpsc::channel();
    let checks = Mutex::new(checks);
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..batch.checkers.max(1) {
            let (checks, judged, cancel) = (&checks, judged.clone(), &cancel);
            scope.spawn(move || check_all(batch, checks, &judged, cancel));
        }
        let mut office = Office {
            batch,
            tell,
            results,
            lines: BTreeMap::new(),
            errors: BTreeSet::new(),
            next: 0,
            summary: Summary { all: batch.files.len(), ..Summary::default() },
            open: BTreeMap::new(),
            banned: BTreeSet::new(),
            sender,
        };
        lines.into_iter().for_each(|line| office.remember(line));
        let mut client = Client::new(batch.address.clone(), batch.times, tell);
        let done = office.work(&mut client, &judgements, stop);
        client.close();
        cancel.store(true, Ordering::Relaxed);
        done.map(|()| office.summary)
    })
}

/// A witness to check.
struct Check {
    text: Arc<[u8]>,
    answer: Answer,
}

/// The judgement about an answer: the complete line, or the reason why the answer does not count.
enum Judged {
    Confirmed(Box<Line>),
    Refused(String),
    Open(String),
}

/// Checks witnesses until there are no more.
fn check_all(
    batch: &Batch,
    checks: &Mutex<Receiver<Check>>,
    judged: &Sender<(Answer, Judged)>,
    cancel: &AtomicBool,
) {
    loop {
        let next = checks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Check { text, answer }) = next else { return };
        let time = batch.time.unwrap_or_default() + CHECK_TIME;
        let deadline = Instant::now().checked_add(time);
        let limits = Limits { deadline, cancel: Some(cancel), ..Limits::default() };
        let form = if batch.witness { Form::Readable } else { Form::Plain };
        let result = match confirm(&text, &answer, form, limits) {
            Judgement::Confirmed(confirmed) => {
                let witness =
                    || confirmed.witness.to_text(&confirmed.store, &confirmed.system, WitnessFormat::Text);
                Judged::Confirmed(Box::new(Line {
                    engine: answer.engine.clone(),
                    seconds: Some(answer.seconds),
                    worker: Some(answer.from.clone()),
                    witness: batch.witness.then(witness),
                    ..Line::new(confirmed.word().name())
                }))
            }
            Judgement::Refused(fault) => Judged::Refused(fault),
            Judgement::Open(reason) => Judged::Open(reason),
        };
        // At the end nobody listens.
        let _ = judged.send((answer, result));
    }
}

/// A task on the broker.
struct Open {
    text: Arc<[u8]>,
    /// The files with this content.
    files: Vec<String>,
    /// The number of witnesses that are being checked.
    checks: usize,
    /// The answer without a witness, which counts if no check succeeds.
    unknown: Option<Line>,
    repetitions: u32,
}

struct Office<'a> {
    batch: &'a Batch,
    tell: Tell<'a>,
    results: File,
    /// The lines that are there, by content and file.
    lines: BTreeMap<TaskId, BTreeMap<String, Line>>,
    /// The files that could not be read.
    errors: BTreeSet<String>,
    /// The next file to post.
    next: usize,
    summary: Summary,
    open: BTreeMap<TaskId, Open>,
    banned: BTreeSet<Name>,
    sender: Sender<Check>,
}

impl Office<'_> {
    fn work(
        &mut self,
        client: &mut Client<'_>,
        judgements: &Receiver<(Answer, Judged)>,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        let mut next_note = Instant::now() + PROGRESS;
        let mut was_up = false;
        while !stop.load(Ordering::Relaxed) {
            self.post(client).map_err(|error| self.unwritable(&error))?;
            if self.open.is_empty() {
                return Ok(());
            }
            while let Ok((answer, judged)) = judgements.try_recv() {
                self.judge(client, &answer, judged).map_err(|error| self.unwritable(&error))?;
            }
            match client.turn(self.batch.times.block.min(Duration::from_millis(100))) {
                Ok(messages) => {
                    was_up = true;
                    for message in messages {
                        self.hear(client, message).map_err(|error| self.unwritable(&error))?;
                    }
                }
                Err(Outage::Failed(trouble)) if trouble.is_final() && !was_up => {
                    return Err(trouble.to_string());
                }
                Err(_) => client.rest(),
            }
            if next_note <= Instant::now() {
                let (answered, all) = (self.summary.answered, self.summary.all);
                let (waiting, workers) = (self.open.len(), client.places().1);
                (self.tell)(Note::Progress { answered, all, waiting, workers });
                next_note = Instant::now() + PROGRESS;
            }
        }
        Ok(())
    }

    fn unwritable(&self, error: &io::Error) -> String {
        format!("cannot write {}: {error}", self.batch.results.display())
    }

    /// Remembers a line that is there.
    fn remember(&mut self, line: Line) {
        match line.task {
            Some(task) => {
                self.lines.entry(task).or_default().insert(line.file.clone(), line);
            }
            None => {
                self.errors.insert(line.file);
            }
        }
    }

    /// Puts tasks on the broker, as many as it should have.
    fn post(&mut self, client: &mut Client<'_>) -> io::Result<()> {
        let ahead = LEAST_AHEAD.max(2 * client.places().0);
        while self.open.len() < ahead
            && let Some((name, path)) = self.batch.files.get(self.next)
        {
            self.next += 1;
            if self.errors.contains(name) {
                self.know();
                continue;
            }
            let text = match read(path) {
                Ok(text) => text,
                Err(reason) => {
                    self.errors.insert(name.clone());
                    self.write(&Line { file: name.clone(), reason: Some(reason), ..Line::new("error") })?;
                    continue;
                }
            };
            let task = TaskId::of(&text);
            // By R2.
            if let Some(lines) = self.lines.get(&task) {
                if lines.contains_key(name) {
                    self.know();
                } else if let Some(line) = lines.values().next() {
                    let line = Line { file: name.clone(), ..line.clone() };
                    self.write(&line)?;
                }
                continue;
            }
            if let Some(open) = self.open.get_mut(&task) {
                if !open.files.contains(name) {
                    open.files.push(name.clone());
                }
                continue;
            }
            let text: Arc<[u8]> = text.into();
            let job = Job {
                id: JobId { task, query: None, run: client.run().clone(), number: 0 },
                slots: self.batch.slots.clone(),
                seed: self.batch.seed,
                seconds: self.batch.time.map(|time| time.as_secs_f64()),
                mib: self.batch.mib,
                passes: None,
                share: false,
                attempt: 1,
            };
            client.post(Arc::clone(&text), None, vec![job], None);
            let files = vec![name.clone()];
            self.open.insert(task, Open { text, files, checks: 0, unknown: None, repetitions: 0 });
        }
        Ok(())
    }

    /// A file has a line of an earlier run.
    fn know(&mut self) {
        self.summary.known += 1;
        self.summary.answered += 1;
    }

    fn hear(&mut self, client: &mut Client<'_>, message: Message) -> io::Result<()> {
        match message {
            Message::Answer(answer) => {
                let Some(open) = self.open.get_mut(&answer.id.task) else { return Ok(()) };
                let is_ours = answer.id.run == *client.run();
                if self.banned.contains(&answer.from) {
                    return if is_ours {
                        self.repeat(client, &answer.id, "it comes from a liar")
                    } else {
                        Ok(())
                    };
                }
                if answer.verdict != Word::Unknown {
                    open.checks += 1;
                    let check = Check { text: Arc::clone(&open.text), answer };
                    self.sender.send(check).map_err(|_| io::Error::other("the checker has ended"))?;
                } else if is_ours {
                    let line = Line {
                        seconds: Some(answer.seconds),
                        worker: Some(answer.from),
                        reason: answer.reason,
                        ..Line::new("unknown")
                    };
                    return self.give_up(client, answer.id.task, line);
                }
            }
            Message::Dead(failed) => {
                (self.tell)(Note::Dead(failed.id.task, failed.reason.clone()));
                let line = Line { reason: Some(failed.reason), ..Line::new("unknown") };
                return self.give_up(client, failed.id.task, line);
            }
            Message::Refused(failed) => (self.tell)(Note::Refused(failed.from, failed.reason)),
            Message::Begun(_)
            | Message::Job(_)
            | Message::Missing(_)
            | Message::End(_)
            | Message::Fact(_)
            | Message::Worker(_) => {}
        }
        Ok(())
    }

    fn judge(&mut self, client: &mut Client<'_>, answer: &Answer, judged: Judged) -> io::Result<()> {
        let task = answer.id.task;
        if let Judged::Refused(fault) = &judged
            && self.banned.insert(answer.from.clone())
        {
            (self.tell)(Note::Banned(answer.from.clone(), fault.clone()));
        }
        let is_ours = answer.id.run == *client.run();
        // Another answer may have been faster.
        let Some(open) = self.open.get_mut(&task) else { return Ok(()) };
        open.checks -= 1;
        match judged {
            Judged::Confirmed(line) => self.answer(client, task, &line),
            Judged::Refused(fault) if is_ours => self.repeat(client, &answer.id, &fault),
            Judged::Open(reason) if is_ours => {
                let reason = Some(format!("the witness was not checked: {reason}"));
                let worker = Some(answer.from.clone());
                self.give_up(client, task, Line { reason, worker, ..Line::new("unknown") })
            }
            Judged::Refused(_) | Judged::Open(_) => match open.unknown.take() {
                Some(line) => self.give_up(client, task, line),
                None => Ok(()),
            },
        }
    }

    /// Has a job done again, because its answer does not count; not for ever.
    fn repeat(&mut self, client: &mut Client<'_>, job: &JobId, reason: &str) -> io::Result<()> {
        let Some(open) = self.open.get_mut(&job.task) else { return Ok(()) };
        open.repetitions += 1;
        if open.repetitions <= MOST_REPETITIONS {
            client.repeat(job);
            return Ok(());
        }
        let reason = Some(format!("no worker gave an answer that counts: {reason}"));
        self.give_up(client, job.task, Line { reason, ..Line::new("unknown") })
    }

    /// Answers `unknown`, unless a witness is being checked.
    fn give_up(&mut self, client: &mut Client<'_>, task: TaskId, line: Line) -> io::Result<()> {
        let Some(open) = self.open.get_mut(&task) else { return Ok(()) };
        if open.checks > 0 {
            open.unknown = Some(line);
            return Ok(());
        }
        self.answer(client, task, &line)
    }

    /// Writes the lines of a task and ends it.
    fn answer(&mut self, client: &mut Client<'_>, task: TaskId, line: &Line) -> io::Result<()> {
        let Some(open) = self.open.remove(&task) else { return Ok(()) };
        client.end(task);
        for file in open.files {
            let line = Line { file, task: Some(task), ..line.clone() };
            self.write(&line)?;
        }
        Ok(())
    }

    /// Appends a line, by R1.
    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_string(line).map_err(io::Error::from)?;
        text.push('\n');
        self.results.write_all(text.as_bytes())?;
        self.results.flush()?;
        self.summary.answered += 1;
        self.remember(line.clone());
        Ok(())
    }
}

/// Reads a file that is not too large.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let most = MOST_TASK as u64;
    let size = File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut text));
    match size {
        Ok(size) if size > MOST_TASK => Err(format!("the file has more than {} MiB", MOST_TASK >> 20)),
        Ok(_) => Ok(text),
        Err(error) => Err(error.to_string()),
    }
}

/// Opens the results for appending, without a last line that is not complete, and reads the lines that are there.
fn open(path: &Path) -> io::Result<(File, Vec<Line>)> {
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
    let mut lines = Vec::new();
    for (text, number) in text[..end].split(|&byte| byte == b'\n').zip(1..) {
        if text.trim_ascii().is_empty() {
            continue;
        }
        let line = serde_json::from_slice(text);
        lines.push(line.map_err(|error: serde_json::Error| {
            io::Error::other(format!("line {number} is not a result, so the file is left alone: {error}"))
        })?);
    }
    file.set_len(end as u64)?;
    file.seek(SeekFrom::End(0))?;
    Ok((file, lines))
}

/// Reads a list of files: one per line, relative to a folder. Empty lines and lines with `#` are left out; so is a file that
/// the list has before.
pub fn read_list(text: &str, folder: &Path) -> Vec<(String, PathBuf)> {
    let mut seen = BTreeSet::new();
    let names = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    names
        .filter(|name| seen.insert(name.to_owned()))
        .map(|name| (name.to_owned(), folder.join(name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_a_file_per_line() {
        let list = read_list("# tasks\na.smt2\n\n  b/c.smt2  \r\n/d.smt2\na.smt2\n", Path::new("folder"));
        let expected = [("a.smt2", "folder/a.smt2"), ("b/c.smt2", "folder/b/c.smt2"), ("/d.smt2", "/d.smt2")];
        assert_eq!(list, expected.map(|(name, path)| (name.to_owned(), PathBuf::from(path))));
    }

    /// By R1.
    #[test]
    fn a_line_that_is_not_complete_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let whole = "{\"file\":\"a\",\"task\":\"00000000000000000000000000000001\",\"answer\":\"sat\"}\n";
        std::fs::write(&path, format!("{whole}{{\"file\":\"b\",\"ans")).unwrap();
        let (mut file, lines) = open(&path).unwrap();
        assert_eq!((lines.len(), &*lines[0].file, &*lines[0].answer), (1, "a", "sat"));
        file.write_all(b"{}\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{whole}{{}}\n"));
        std::fs::write(&path, "not ours\n").unwrap();
        assert!(open(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "not ours\n");
    }
}
