//! The broker's commands, and what can be wrong with it.
//!
//! | key | type | content |
//! |---|---|---|
//! | `task:T` | string, with a time to live | the text of task T |
//! | `jobs` | stream, with the consumer group `workers` | jobs that no worker has finished |
//! | `answers:T` | stream, with a time to live | what workers tell about task T, and `end` of clients |
//! | `facts:T:G` | stream, trimmed, with a time to live | facts about the graph G of task T |
//! | `worker:W` | string, with a short time to live | worker W is alive |
//! | `client:R` | string, with a short time to live | the client of run R is alive |
//! | `workers` | stream, trimmed | workers that have joined, so that nobody has to search all keys |
//! | `dead` | stream, trimmed | jobs that are given up |
//!
//! All keys have the prefix [`PREFIX`]. An entry of a stream has one field, `m`.
//!
//! - B1: a job stays in the stream until it is finished, so the stream's length is the number of unfinished jobs.
//! - B2: the server counts how long a job has been idle. A worker resets this with each sign of life, so a job is idle for
//!   long exactly if its worker is silent. That is why any worker may take it then.
//! - B3: only the commands of [`RIGHTS`] are used, so that an account can be restricted to them.

use std::fmt;
use std::time::Duration;

use redis::streams::{StreamAutoClaimReply, StreamId, StreamReadReply};
use redis::{Cmd, Connection, ErrorKind, FromRedisValue, Pipeline, RedisError, ServerErrorKind};

use crate::address::Address;
use crate::message::{MOST_TASK, Message, Name, TaskId, VERSION};
use crate::times::Times;

/// The beginning of all keys.
pub const PREFIX: &str = "shofar:1:";

/// The rights of an account, as the server's access control lists write them.
pub const RIGHTS: &str = "~shofar:* +xadd +xread +xreadgroup +xack +xdel +xclaim +xautoclaim +xgroup +xlen +get +set \
                          +strlen +expire +del +ping +hello +auth +select";

/// The stream of jobs.
const JOBS: &str = "jobs";

/// The consumer group of all workers.
const GROUP: &str = "workers";

/// The stream of workers that have joined.
const ROSTER: &str = "workers";

/// The stream of jobs that are given up.
const DEAD: &str = "dead";

/// The lengths to which these streams are trimmed.
const MOST_ROSTER: usize = 10_000;
const MOST_DEAD: usize = 1000;

/// The length to which answers are trimmed. A stream with more is not the work of honest workers.
const MOST_ANSWERS: usize = 2000;

/// The length to which facts are trimmed, and the number of them that is read at once.
const MOST_FACTS: usize = 20_000;
const FACTS_AT_ONCE: usize = 200;

/// The number of entries of each stream that are read at once. Witnesses may be large, and hostile ones are as large as
/// possible.
const AT_ONCE: usize = 4;

/// The number of jobs of silent workers that are taken over at once.
const MOST_CLAIMED: usize = 16;

/// Why the broker does not do what it should.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// Nobody answers at this address, for this reason.
    NoServer(String, String),
    /// The password is wrong, or one is needed.
    Password(String),
    /// The account has no right to use a command or a key.
    Rights(String, String),
    /// The server does not know a command.
    TooOld(String),
    /// The server refuses a command for another reason.
    Server(String, String),
}

impl Trouble {
    /// Whether waiting does not help.
    pub fn is_final(&self) -> bool {
        matches!(self, Trouble::Password(_) | Trouble::Rights(..) | Trouble::TooOld(_))
    }

    fn of(error: &RedisError, address: &Address) -> Self {
        let place = address.to_string();
        let detail = error.detail().map_or_else(|| error.to_string(), str::to_owned);
        match (error.kind(), error.code()) {
            (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS")) => {
                Trouble::Password(place)
            }
            (ErrorKind::Server(ServerErrorKind::NoPerm), _) | (_, Some("NOPERM")) => {
                Trouble::Rights(place, error.to_string())
            }
            (ErrorKind::Io, _) => Trouble::NoServer(place, detail),
            _ if detail.contains("unknown command") => Trouble::TooOld(place),
            _ => Trouble::Server(place, error.to_string()),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NoServer(place, reason) => write!(f, "no broker answers at {place}: {reason}"),
            Trouble::Password(place) => write!(
                f,
                "the broker at {place} refuses the password, or wants one: put it into the address, the variable \
                 SHOFAR_CLUSTER_PASSWORD or a file"
            ),
            Trouble::Rights(place, reason) => {
                write!(f, "the account at {place} lacks rights ({reason}); it needs {RIGHTS}")
            }
            Trouble::TooOld(place) => {
                write!(f, "the server at {place} lacks a command: Valkey, or Redis 6.2 or newer, is needed")
            }
            Trouble::Server(place, reason) => write!(f, "the broker at {place} refuses a command: {reason}"),
        }
    }
}

impl std::error::Error for Trouble {}

/// An entry of a stream. Its text is not yet read.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// Its identity in the stream.
    pub id: String,
    /// The field `m`.
    pub text: Vec<u8>,
}

/// A connection. After an error it must not be used any more, except after [`Trouble::Server`].
pub struct Broker {
    connection: Connection,
    address: Address,
}

type Result<T> = std::result::Result<T, Trouble>;

impl Broker {
    /// Connects and logs in.
    pub fn connect(address: &Address, times: &Times) -> Result<Self> {
        let trouble = |error: RedisError| Trouble::of(&error, address);
        let client = redis::Client::open(address.info()).map_err(trouble)?;
        let connection = client.get_connection_with_timeout(times.patience).map_err(trouble)?;
        let patience = Some(times.patience + times.block);
        connection.set_read_timeout(patience).map_err(trouble)?;
        connection.set_write_timeout(patience).map_err(trouble)?;
        let mut broker = Broker { connection, address: address.clone() };
        // A server that needs a password accepts the connection without one.
        broker.ask::<String>(&redis::cmd("PING"))?;
        Ok(broker)
    }

    /// Stores the text of a task.
    pub fn put_task(&mut self, task: TaskId, text: &[u8], time: Duration) -> Result<()> {
        let mut command = redis::cmd("SET");
        self.ask(command.arg(key(&format!("task:{task}"))).arg(text).arg("EX").arg(seconds(time)))
    }

    /// The text of a task; `None` if it is not there or is another one.
    pub fn task(&mut self, task: TaskId) -> Result<Option<Vec<u8>>> {
        let key = key(&format!("task:{task}"));
        let length: usize = self.ask(redis::cmd("STRLEN").arg(&key))?;
        if length > MOST_TASK {
            return Ok(None);
        }
        let text: Option<Vec<u8>> = self.ask(redis::cmd("GET").arg(&key))?;
        Ok(text.filter(|text| TaskId::of(text) == task))
    }

    /// Removes the text of a task. A worker that looks for it tells its client.
    pub fn drop_task(&mut self, task: TaskId) -> Result<()> {
        self.ask(redis::cmd("DEL").arg(key(&format!("task:{task}"))))
    }

    /// Adds a job.
    pub fn add_job(&mut self, job: &Message) -> Result<()> {
        self.ask(&add(JOBS, None, job))
    }

    /// Adds a message about a task.
    pub fn add_answer(&mut self, task: TaskId, message: &Message, time: Duration) -> Result<()> {
        let name = format!("answers:{task}");
        let mut commands = Pipeline::new();
        commands.add_command(add(&name, Some(MOST_ANSWERS), message));
        commands.add_command(expire(&name, time));
        self.ask_all(&commands)
    }

    /// Gives a task and its answers up: they expire soon.
    pub fn forget(&mut self, task: TaskId, time: Duration) -> Result<()> {
        self.drop_task(task)?;
        self.ask(&expire(&format!("answers:{task}"), time))
    }

    /// New messages about tasks, each behind a known entry. Waits for the first one at most `time`. The result has the indices
    /// of the tasks.
    pub fn answers(
        &mut self,
        tasks: &[(TaskId, String)],
        time: Option<Duration>,
    ) -> Result<Vec<(usize, Entry)>> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<String> = tasks.iter().map(|(task, _)| key(&format!("answers:{task}"))).collect();
        let mut command = read(time);
        command.arg("STREAMS").arg(&names);
        tasks.iter().for_each(|(_, last)| {
            command.arg(last);
        });
        let reply: StreamReadReply = self.ask(&command)?;
        let mut entries = Vec::new();
        for stream in reply.keys {
            if let Some(index) = names.iter().position(|name| *name == stream.key) {
                entries.extend(stream.ids.into_iter().map(|id| (index, entry(id))));
            }
        }
        Ok(entries)
    }

    /// Adds facts about a graph of a task.
    pub fn add_facts(&mut self, task: TaskId, graph: &str, facts: &[Message], time: Duration) -> Result<()> {
        if facts.is_empty() {
            return Ok(());
        }
        let name = format!("facts:{task}:{graph}");
        let mut commands = Pipeline::new();
        for fact in facts {
            commands.add_command(add(&name, Some(MOST_FACTS), fact));
        }
        commands.add_command(expire(&name, time));
        self.ask_all(&commands)
    }

    /// The next facts about a graph of a task, behind a known entry.
    pub fn facts(&mut self, task: TaskId, graph: &str, last: &str) -> Result<Vec<Entry>> {
        let mut command = redis::cmd("XREAD");
        command.arg("COUNT").arg(FACTS_AT_ONCE).arg("STREAMS");
        command.arg(key(&format!("facts:{task}:{graph}"))).arg(last);
        let reply: StreamReadReply = self.ask(&command)?;
        Ok(reply.keys.into_iter().flat_map(|stream| stream.ids).map(entry).collect())
    }

    /// Joins the workers.
    pub fn join(&mut self, presence: &Message) -> Result<()> {
        let mut command = redis::cmd("XGROUP");
        command.arg("CREATE").arg(key(JOBS)).arg(GROUP).arg("0").arg("MKSTREAM");
        match self.ask::<()>(&command) {
            Err(Trouble::Server(_, reason)) if reason.contains("BUSYGROUP") => {}
            joined => joined?,
        }
        self.ask(&add(ROSTER, Some(MOST_ROSTER), presence))
    }

    /// Leaves the workers. Only for those that hold no jobs: the server forgets jobs that they hold.
    pub fn leave(&mut self, worker: &Name) -> Result<()> {
        self.ask::<()>(redis::cmd("DEL").arg(key(&format!("worker:{worker}"))))?;
        self.ask(redis::cmd("XGROUP").arg("DELCONSUMER").arg(key(JOBS)).arg(GROUP).arg(worker.as_str()))
    }

    /// The workers that joined behind a known entry.
    pub fn roster(&mut self, last: &str) -> Result<Vec<Entry>> {
        let mut command = redis::cmd("XREAD");
        command.arg("COUNT").arg(1000).arg("STREAMS").arg(key(ROSTER)).arg(last);
        let reply: StreamReadReply = self.ask(&command)?;
        Ok(reply.keys.into_iter().flat_map(|stream| stream.ids).map(entry).collect())
    }

    /// Takes new jobs. Waits for the first one at most `time`.
    pub fn take(&mut self, worker: &Name, count: usize, time: Duration) -> Result<Vec<Entry>> {
        let mut command = redis::cmd("XREADGROUP");
        command.arg("GROUP").arg(GROUP).arg(worker.as_str()).arg("COUNT").arg(count);
        command.arg("BLOCK").arg(millis(time)).arg("STREAMS").arg(key(JOBS)).arg(">");
        let reply: StreamReadReply = self.ask(&command)?;
        Ok(reply.keys.into_iter().flat_map(|stream| stream.ids).map(entry).collect())
    }

    /// Takes the jobs of workers that have been silent for this time. By B2.
    pub fn claim(&mut self, worker: &Name, idle: Duration) -> Result<Vec<Entry>> {
        let mut command = redis::cmd("XAUTOCLAIM");
        command.arg(key(JOBS)).arg(GROUP).arg(worker.as_str()).arg(millis(idle)).arg("0");
        command.arg("COUNT").arg(MOST_CLAIMED);
        let reply: StreamAutoClaimReply = self.ask(&command)?;
        Ok(reply.claimed.into_iter().map(entry).collect())
    }

    /// Resets the idle time of jobs that this worker has.
    pub fn keep(&mut self, worker: &Name, jobs: &[String]) -> Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        let mut command = redis::cmd("XCLAIM");
        command.arg(key(JOBS)).arg(GROUP).arg(worker.as_str()).arg(0).arg(jobs).arg("JUSTID");
        self.ask(&command)
    }

    /// Removes a finished job. By B1.
    pub fn finish(&mut self, job: &str) -> Result<()> {
        let mut commands = Pipeline::new();
        commands.cmd("XACK").arg(key(JOBS)).arg(GROUP).arg(job);
        commands.cmd("XDEL").arg(key(JOBS)).arg(job);
        self.ask_all(&commands)
    }

    /// Adds a job that is given up.
    pub fn add_dead(&mut self, message: &Message) -> Result<()> {
        self.ask(&add(DEAD, Some(MOST_DEAD), message))
    }

    /// The number of unfinished jobs, and of those that are given up.
    pub fn lengths(&mut self) -> Result<(usize, usize)> {
        let jobs = self.ask(redis::cmd("XLEN").arg(key(JOBS)))?;
        let dead = self.ask(redis::cmd("XLEN").arg(key(DEAD)))?;
        Ok((jobs, dead))
    }

    /// A sign of life of a worker.
    pub fn beat_worker(&mut self, worker: &Name, presence: &Message, time: Duration) -> Result<()> {
        self.beat(&format!("worker:{worker}"), &presence.write(), time)
    }

    /// A sign of life of a client.
    pub fn beat_client(&mut self, run: &Name, time: Duration) -> Result<()> {
        self.beat(&format!("client:{run}"), &VERSION.to_string(), time)
    }

    /// The end of a client.
    pub fn end_client(&mut self, run: &Name) -> Result<()> {
        self.ask(redis::cmd("DEL").arg(key(&format!("client:{run}"))))
    }

    /// The last sign of life of a worker.
    pub fn worker(&mut self, worker: &Name) -> Result<Option<Vec<u8>>> {
        self.ask(redis::cmd("GET").arg(key(&format!("worker:{worker}"))))
    }

    /// Whether a client is alive.
    pub fn is_client_alive(&mut self, run: &Name) -> Result<bool> {
        let sign: Option<Vec<u8>> = self.ask(redis::cmd("GET").arg(key(&format!("client:{run}"))))?;
        Ok(sign.is_some())
    }

    fn beat(&mut self, name: &str, text: &str, time: Duration) -> Result<()> {
        self.ask(redis::cmd("SET").arg(key(name)).arg(text).arg("PX").arg(millis(time)))
    }

    fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T> {
        command.query(&mut self.connection).map_err(|error| Trouble::of(&error, &self.address))
    }

    fn ask_all(&mut self, commands: &Pipeline) -> Result<()> {
        let replies: std::result::Result<redis::Value, RedisError> = commands.query(&mut self.connection);
        replies.map(|_| ()).map_err(|error| Trouble::of(&error, &self.address))
    }
}

/// A key with its prefix.
fn key(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// Adds a message to a stream, which is trimmed to about `most` entries.
fn add(name: &str, most: Option<usize>, message: &Message) -> Cmd {
    let mut command = redis::cmd("XADD");
    command.arg(key(name));
    if let Some(most) = most {
        command.arg("MAXLEN").arg("~").arg(most);
    }
    command.arg("*").arg("m").arg(message.write());
    command
}

/// Reads streams, and waits for the first entry at most `time`.
fn read(time: Option<Duration>) -> Cmd {
    let mut command = redis::cmd("XREAD");
    command.arg("COUNT").arg(AT_ONCE);
    if let Some(time) = time {
        command.arg("BLOCK").arg(millis(time));
    }
    command
}

fn expire(name: &str, time: Duration) -> Cmd {
    let mut command = redis::cmd("EXPIRE");
    command.arg(key(name)).arg(seconds(time));
    command
}

/// The field `m` of an entry. A missing field counts as empty.
fn entry(entry: StreamId) -> Entry {
    Entry { text: entry.get("m").unwrap_or_default(), id: entry.id }
}

/// Zero milliseconds would mean to wait for ever.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

fn seconds(time: Duration) -> u64 {
    time.as_secs().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_the_same_rights() {
        let guide = include_str!("../../../docs/cluster.md");
        assert!(guide.contains(&format!("ACL SETUSER shofar on >PASSWORD {RIGHTS}\n")), "{RIGHTS}");
        assert!(guide.contains(PREFIX));
    }
}
