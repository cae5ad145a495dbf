//! Many machines: jobs and answers on a broker that speaks Redis's protocol.
//!
//! A *client* has tasks (texts with Horn clauses), puts them on the broker, and makes jobs of them: which engines shall try
//! which task, for how long. A *worker* takes jobs and answers them with witnesses. The broker is a server that exists
//! already, Valkey or Redis; this crate knows its commands, and no other crate does.
//!
//! ```text
//! client:  client.rs puts tasks and jobs --> broker (broker.rs, link.rs) --> worker.rs takes jobs, work.rs solves them
//!          confirm.rs checks the witness  <-- answers:TASK                <-- verdict and witness (message.rs)
//! ```
//!
//! - C1: an answer counts only if the checker of the *client* accepts its witness for the text that the client itself has read
//!   ([`confirm`]). So a worker may be wrong or hostile: a lie costs time, and its sender's later answers are ignored.
//! - C2: a worker executes nothing from a message. Slots are parsed, limits are minima of the job's and its own, and no
//!   message has a path, a command or a variable of the environment.
//! - C3: no engine waits for the network. One thread owns the connection ([`link`]); engines run in other threads.
//! - C4: every message may come twice, late or never. Jobs are repeated if their worker is silent ([`worker`]) or if the
//!   broker has lost its memory ([`client`]), and answers that nobody waits for are ignored.
//!
//! - C5: facts of others are proved here before an engine sees them ([`facts`]).
//!
//! [`assist`] is a single task that is solved here at the same time, [`batch`] are many tasks, [`status`] looks at the broker.

pub mod address;
pub mod assist;
pub mod batch;
pub mod broker;
pub mod client;
pub mod confirm;
pub mod facts;
pub mod link;
pub mod message;
pub mod note;
pub mod slots;
pub mod status;
pub mod times;
pub mod work;
pub mod worker;

pub use address::{Address, AddressError, Secret};
pub use broker::Trouble;
pub use message::{Name, TaskId};
pub use note::{Note, Tell};
pub use times::Times;
