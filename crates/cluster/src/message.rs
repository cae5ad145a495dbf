//! Messages: one JSON object per entry of a stream, with the version in `v` and the kind in `k`.
//!
//! ```text
//! {"v":1,"k":"job","task":"0c…","run":"r1","number":0,"slots":["spacer"],"seed":7,"seconds":600.0,"mib":4000,"attempt":1}
//! {"v":1,"k":"answer","task":"0c…","run":"r1","number":0,"verdict":"sat","engine":"lawi","witness":"(…)","from":"w7", …}
//! ```
//!
//! Readers trust no message:
//!
//! - M1: a text that is larger than [`MOST_SMALL`] bytes, or [`MOST_ANSWER`] where answers are expected, is dropped before it
//!   is parsed. Only answers may be larger than [`MOST_SMALL`].
//! - M2: unknown members are ignored, so that later versions can add some. A message with another `v` is dropped.
//! - M3: names, identifiers and numbers are in their ranges after reading; a message with one that is not is dropped. In
//!   particular a [`Name`] has no control characters and can be shown to people.
//! - M4: reading what was written gives the same message, up to the last binary digit of times.
//!
//! The parser bounds the nesting of arrays and objects by 128 levels, also of ignored members.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

/// The version of the format. It is also part of all keys.
pub const VERSION: u32 = 1;

/// The greatest size of a message that is not an answer, in bytes.
pub const MOST_SMALL: usize = 64 << 10;

/// The greatest size of an answer, in bytes.
pub const MOST_ANSWER: usize = 32 << 20;

/// The greatest size of a task, in bytes.
pub const MOST_TASK: usize = 64 << 20;

/// The greatest length of a name, an engine or a slot.
const MOST_NAME: usize = 200;

/// The greatest length of a reason; longer ones are cut.
const MOST_REASON: usize = 2000;

/// The greatest number of slots in a job.
const MOST_SLOTS: usize = 64;

/// The greatest limit of a job: ten years in seconds, and a pebibyte in mebibytes.
const MOST_SECONDS: f64 = 3.2e8;
const MOST_MIB: u64 = 1 << 30;

/// The identity of a task: the 128-bit hash of its text. Clients with the same text share it.
///
/// The hash is XXH3: it is fast, and the client library of the broker uses it already. Collisions by chance do not happen: a million
/// tasks have one with probability 10⁻²⁷. A collision on purpose is of no use. To send its text, an attacker must be able to write to the
/// broker, and could replace texts directly; and the client refuses a witness for another text (C1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(u128);

impl TaskId {
    /// The identity of a text.
    pub fn of(text: &[u8]) -> Self {
        TaskId(xxh3_128(text))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for TaskId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_hexadecimal = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 32 || !text.bytes().all(is_hexadecimal) {
            return Err("a task is named by 32 hexadecimal digits".to_owned());
        }
        u128::from_str_radix(text, 16).map(TaskId).map_err(|error| error.to_string())
    }
}

impl TryFrom<String> for TaskId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<TaskId> for String {
    fn from(task: TaskId) -> String {
        task.to_string()
    }
}

/// The name of a worker or of a run of a client: letters, digits, `.`, `_` and `-`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// A name that no other process has: a label, which other characters are removed from, the process and a random number.
    pub fn unique(label: &str) -> Self {
        use std::hash::{BuildHasher, RandomState};
        let mut label: String = label.chars().filter(|&letter| Self::may_have(letter)).take(64).collect();
        if label.is_empty() {
            label.push_str("host");
        }
        // The standard library seeds its hash tables at random, and offers no other randomness.
        let random = RandomState::new().hash_one(std::process::id()) >> 32;
        Name(format!("{label}-{}-{random:08x}", std::process::id()))
    }

    /// The name of a part of this one.
    pub(crate) fn with_number(&self, number: u64) -> Self {
        Name(format!("{self}.{number}"))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn may_have(letter: char) -> bool {
        letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-')
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.len() > MOST_NAME || !text.chars().all(Name::may_have) {
            return Err("a name has letters, digits, `.`, `_` and `-`".to_owned());
        }
        Ok(Name(text.to_owned()))
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0
    }
}

/// The identity of a job: the same if the job is repeated.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct JobId {
    /// The task.
    pub task: TaskId,
    /// The question of the task, counted from one, if it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<usize>,
    /// The run of the client that asks.
    pub run: Name,
    /// The number of the job among those of this run and task.
    pub number: u32,
}

/// A job: some engines shall try a task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Its identity.
    #[serde(flatten)]
    pub id: JobId,
    /// The engines with their settings; if there are none, the clauses choose.
    #[serde(default)]
    pub slots: Vec<String>,
    /// The seed for random choices.
    #[serde(default)]
    pub seed: u64,
    /// The time limit; without one, that of the worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The memory limit; without one, that of the worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mib: Option<u64>,
    /// The transformations to start with; without them, the standard ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<String>,
    /// Whether to exchange facts with others that have the task.
    #[serde(default)]
    pub share: bool,
    /// How many workers have got this job, this time included.
    pub attempt: u32,
}

/// A worker has begun a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Begun {
    /// The job.
    #[serde(flatten)]
    pub id: JobId,
    /// The worker.
    pub from: Name,
}

/// The answer in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// The clauses have a model.
    Sat,
    /// The clauses have a refutation.
    Unsat,
    /// Neither was found.
    Unknown,
}

impl Word {
    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Word::Sat => "sat",
            Word::Unsat => "unsat",
            Word::Unknown => "unknown",
        }
    }
}

/// The answer of a worker to a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The job.
    #[serde(flatten)]
    pub id: JobId,
    /// The answer.
    pub verdict: Word,
    /// The slot that found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The model or refutation, as the program prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
    /// The reason of `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long the worker took.
    pub seconds: f64,
    /// The worker.
    pub from: Name,
}

/// A job that a worker cannot begin, or that is given up.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Failed {
    /// The job.
    #[serde(flatten)]
    pub id: JobId,
    /// Why.
    pub reason: String,
    /// The worker.
    pub from: Name,
}

/// A client waits no longer for answers to a task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct End {
    /// The run of the client.
    pub run: Name,
}

/// A fact about the clauses of a task, from one run on them to others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shared {
    /// The run.
    pub from: Name,
    /// The fact, as [texts](shofar_cooperate::exchange::text) write it.
    pub fact: serde_json::Value,
}

/// A worker is there, and what it does.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Presence {
    /// The worker.
    pub from: Name,
    /// Its version of the program.
    pub version: String,
    /// How many jobs it can do at the same time.
    pub places: usize,
    /// The jobs that it does: task and slots.
    #[serde(default)]
    pub busy: Vec<String>,
    /// How many jobs it has answered.
    #[serde(default)]
    pub answered: u64,
    /// For how long it has been there, in seconds.
    #[serde(default)]
    pub seconds: f64,
}

/// A message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "lowercase")]
pub enum Message {
    /// In the stream of jobs.
    Job(Job),
    /// In the stream of answers to a task, and so are the next ones.
    Begun(Begun),
    /// An answer.
    Answer(Answer),
    /// A worker does not know the slots of a job; another one may.
    Refused(Failed),
    /// A worker found no text of the task.
    Missing(Failed),
    /// A job that ended several workers.
    Dead(Failed),
    /// The client waits no longer.
    End(End),
    /// In the stream of facts about a task.
    Fact(Shared),
    /// Under the key of a worker, and when it joins.
    Worker(Presence),
}

/// The kinds of messages.
const KINDS: [&str; 9] = ["job", "begun", "answer", "refused", "missing", "dead", "end", "fact", "worker"];

/// Why a message is ignored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dropped {
    /// It has this many bytes.
    TooLarge(usize),
    /// It is not an object as it should be.
    Malformed(String),
    /// It has another version.
    Version(u32),
    /// Its kind is unknown.
    Kind,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dropped::TooLarge(bytes) => write!(f, "it has {bytes} bytes"),
            Dropped::Malformed(reason) => write!(f, "it is malformed: {reason}"),
            Dropped::Version(version) => write!(f, "it has version {version}, not {VERSION}"),
            Dropped::Kind => f.write_str("its kind is unknown"),
        }
    }
}

#[derive(Serialize)]
struct Versioned<'a> {
    v: u32,
    #[serde(flatten)]
    message: &'a Message,
}

/// Enough of a message to decide whether to read the rest.
#[derive(Deserialize)]
struct Head {
    v: u32,
    k: String,
}

impl Message {
    /// The text of the message.
    pub fn write(&self) -> String {
        serde_json::to_string(&Versioned { v: VERSION, message: self })
            .expect("by M3 there are no numbers that JSON lacks")
    }

    /// Reads a message of at most `most` bytes.
    pub fn read(text: &[u8], most: usize) -> Result<Message, Dropped> {
        if text.len() > most {
            return Err(Dropped::TooLarge(text.len()));
        }
        let malformed = |error: serde_json::Error| Dropped::Malformed(error.to_string());
        let head: Head = serde_json::from_slice(text).map_err(malformed)?;
        if head.v != VERSION {
            return Err(Dropped::Version(head.v));
        }
        if !KINDS.contains(&&*head.k) {
            return Err(Dropped::Kind);
        }
        if head.k != "answer" && text.len() > MOST_SMALL {
            return Err(Dropped::TooLarge(text.len()));
        }
        let message: Message = serde_json::from_slice(text).map_err(malformed)?;
        message.check().map_err(|what| Dropped::Malformed(what.to_owned()))?;
        Ok(message)
    }

    /// By M3, as far as the types do not say it.
    fn check(&self) -> Result<(), &'static str> {
        let is_time = |seconds: f64| (0.0..=MOST_SECONDS).contains(&seconds);
        let is_short = |text: &str| text.len() <= MOST_NAME;
        let is_reason = |text: &str| text.len() <= 2 * MOST_REASON;
        let is_right = match self {
            Message::Job(Job { slots, seconds, mib, passes, attempt, .. }) => {
                passes.as_deref().is_none_or(is_reason)
                    && slots.len() <= MOST_SLOTS
                    && slots.iter().all(|slot| is_short(slot))
                    && seconds.is_none_or(is_time)
                    && mib.is_none_or(|mib| mib <= MOST_MIB)
                    && (1..1000).contains(attempt)
            }
            Message::Answer(Answer { engine, reason, seconds, .. }) => {
                engine.as_deref().is_none_or(is_short)
                    && reason.as_deref().is_none_or(is_reason)
                    && is_time(*seconds)
            }
            Message::Refused(failed) | Message::Missing(failed) | Message::Dead(failed) => {
                is_reason(&failed.reason)
            }
            Message::Worker(Presence { version, places, busy, seconds, .. }) => {
                is_short(version)
                    && *places <= 100_000
                    && busy.iter().all(|text| is_short(text))
                    && is_time(*seconds)
            }
            Message::Begun(_) | Message::End(_) | Message::Fact(_) => true,
        };
        if is_right { Ok(()) } else { Err("a value is out of its range") }
    }
}

/// A reason that fits into a message.
pub fn reason(text: &str) -> String {
    cut(text, MOST_REASON)
}

/// A name or label that fits into a message.
pub(crate) fn label(text: &str) -> String {
    cut(text, MOST_NAME - 4)
}

/// At most this many bytes of a text, with an ellipsis if some are missing.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn job_id() -> impl Strategy<Value = JobId> {
        (any::<u128>(), proptest::option::of(any::<usize>()), "[A-Za-z0-9._-]{1,40}", any::<u32>()).prop_map(
            |(task, query, run, number)| JobId { task: TaskId(task), query, run: Name(run), number },
        )
    }

    /// Times that decimal fractions are exact for.
    fn time() -> impl Strategy<Value = f64> {
        (0_u32..1_000_000).prop_map(|eighths| f64::from(eighths) / 8.0)
    }

    fn job() -> impl Strategy<Value = Message> {
        let slots = proptest::collection::vec("\\PC{0,40}", 0..8);
        let seconds = proptest::option::of(time());
        let (mib, passes) = (proptest::option::of(0..MOST_MIB), proptest::option::of("[a-z,-]{0,40}"));
        (job_id(), slots, any::<u64>(), seconds, mib, passes, any::<bool>(), 1_u32..1000).prop_map(
            |(id, slots, seed, seconds, mib, passes, share, attempt)| {
                Message::Job(Job { id, slots, seed, seconds, mib, passes, share, attempt })
            },
        )
    }

    fn answer() -> impl Strategy<Value = Message> {
        let word = prop_oneof![Just(Word::Sat), Just(Word::Unsat), Just(Word::Unknown)];
        let text = || proptest::option::of("(?s).{0,60}".prop_map(|text| label(&text)));
        let name = "[A-Za-z0-9._-]{1,40}".prop_map(Name);
        (job_id(), word, text(), proptest::option::of("(?s).{0,300}"), text(), time(), name).prop_map(
            |(id, verdict, engine, witness, reason, seconds, from)| {
                Message::Answer(Answer { id, verdict, engine, witness, reason, seconds, from })
            },
        )
    }

    fn other() -> impl Strategy<Value = Message> {
        let failed = || {
            (job_id(), "(?s).{0,200}", "[a-z]{1,9}").prop_map(|(id, text, from)| Failed {
                id,
                reason: reason(&text),
                from: Name(from),
            })
        };
        prop_oneof![
            failed().prop_map(Message::Refused),
            failed().prop_map(Message::Missing),
            failed().prop_map(Message::Dead),
            (job_id(), "[a-z]{1,9}").prop_map(|(id, from)| Message::Begun(Begun { id, from: Name(from) })),
            "[a-z]{1,9}".prop_map(|run| Message::End(End { run: Name(run) })),
            ("[a-z]{1,9}", 0_usize..1000, proptest::collection::vec("\\PC{0,30}", 0..4), any::<u64>())
                .prop_map(|(from, places, busy, answered)| {
                    let version = "0.1.0".to_owned();
                    Message::Worker(Presence {
                        from: Name(from),
                        version,
                        places,
                        busy,
                        answered,
                        seconds: 1.5,
                    })
                }),
        ]
    }

    proptest! {
        /// By M4.
        #[test]
        fn what_is_written_is_read(message in prop_oneof![job(), answer(), other()]) {
            let text = message.write();
            prop_assert_eq!(Message::read(text.as_bytes(), MOST_ANSWER), Ok(message));
        }

        /// Reading never fails in another way than by dropping the message.
        #[test]
        fn any_bytes_are_read_or_dropped(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Message::read(&bytes, MOST_SMALL);
        }

        /// A message with one wrong byte is dropped, or is a message that can be written again.
        #[test]
        fn damaged_messages_are_dropped_or_right(
            message in prop_oneof![job(), answer(), other()], place in any::<proptest::sample::Index>(), byte in any::<u8>(),
        ) {
            let mut text = message.write().into_bytes();
            let place = place.index(text.len());
            text[place] = byte;
            if let Ok(read) = Message::read(&text, MOST_ANSWER) {
                let again = read.write();
                prop_assert!(Message::read(again.as_bytes(), MOST_ANSWER).is_ok(), "{}", again);
            }
        }
    }

    const JOB: &str =
        r#"{"v":1,"k":"job","task":"000102030405060708090a0b0c0d0e0f","run":"r","number":0,"attempt":1}"#;

    fn read(text: &str) -> Result<Message, Dropped> {
        Message::read(text.as_bytes(), MOST_SMALL)
    }

    #[test]
    fn unknown_members_are_ignored_and_other_versions_dropped() {
        let Ok(Message::Job(job)) = read(JOB) else { panic!("{:?}", read(JOB)) };
        assert_eq!((job.slots.len(), job.seed, job.seconds, job.mib), (0, 0, None, None));
        assert_eq!(read(&JOB.replace("\"v\"", "\"later\":[{\"a\":1}],\"v\"")), Ok(Message::Job(job)));
        assert_eq!(read(&JOB.replace(":1,\"k\"", ":2,\"k\"")), Err(Dropped::Version(2)));
        assert_eq!(read(&JOB.replace("\"job\"", "\"jab\"")), Err(Dropped::Kind));
    }

    #[test]
    fn values_out_of_range_are_dropped() {
        let with = |member: &str| read(&JOB.replace("\"number\":0", &format!("\"number\":0,{member}")));
        assert!(with("\"seconds\":10").is_ok());
        for member in [
            "\"seconds\":-1",
            "\"seconds\":1e300",
            "\"seconds\":1e999",
            "\"seconds\":\"10\"",
            "\"mib\":-4",
            "\"mib\":99999999999",
            "\"seed\":1.5",
            "\"seed\":123456789012345678901234567890",
            "\"slots\":[1]",
            "\"run\":\"twice\"",
        ] {
            assert!(matches!(with(member), Err(Dropped::Malformed(_))), "{member}: {:?}", with(member));
        }
        for (from, to) in [
            ("\"r\"", "\"a b\""),
            ("\"r\"", "\"\\u001b[31m\""),
            ("\"r\"", "\"\""),
            ("0e0f", "0e0F"),
            ("0e0f", "+e0f"),
            ("0e0f", "0e0"),
            ("\"attempt\":1", "\"attempt\":0"),
        ] {
            assert!(matches!(read(&JOB.replace(from, to)), Err(Dropped::Malformed(_))), "{to}");
        }
    }

    /// By M1.
    #[test]
    fn large_and_deep_texts_are_dropped() {
        let large =
            JOB.replace("\"number\":0", &format!("\"number\":0,\"x\":\"{}\"", "x".repeat(MOST_SMALL)));
        assert_eq!(read(&large), Err(Dropped::TooLarge(large.len())));
        // Also where an answer may be as large.
        assert_eq!(Message::read(large.as_bytes(), MOST_ANSWER), Err(Dropped::TooLarge(large.len())));
        let deep = JOB
            .replace("\"number\":0", &format!("\"number\":0,\"x\":{}{}", "[".repeat(9999), "]".repeat(9999)));
        assert!(matches!(read(&deep), Err(Dropped::Malformed(_))));
    }

    #[test]
    fn reasons_are_cut_between_characters() {
        let long = "ä".repeat(MOST_REASON);
        assert!(reason(&long).len() <= MOST_REASON + 3 && reason(&long).ends_with('…'));
        assert_eq!(reason("short"), "short");
    }

    #[test]
    fn names_are_unique_and_right() {
        let (first, second) = (Name::unique("a host\u{1b}"), Name::unique("a host\u{1b}"));
        assert!(first != second && first.as_str().starts_with("ahost-"), "{first} {second}");
        assert_eq!(first.as_str().parse(), Ok(first));
    }
}
