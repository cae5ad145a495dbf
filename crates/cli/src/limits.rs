//! The limits of a command: the options for time and memory, and Ctrl-C.
//!
//! Ctrl-C and termination set a flag, which is one of the limits: the command ends as at the others, with a message. While
//! output is written nobody polls the flag; then, and always the second time, they end the program at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shofar_run::Limits;

use crate::input::seconds;

/// Set by Ctrl-C.
static CANCEL: AtomicBool = AtomicBool::new(false);

/// Set while output is written.
static WRITES: AtomicBool = AtomicBool::new(false);

/// The usual exit status of a program that Ctrl-C has ended.
const INTERRUPTED: i32 = 130;

/// The options of all commands that read clauses.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct LimitArguments {
    /// Stop after this many seconds, including reading, as in `-t 10`.
    #[arg(short = 't', long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    /// Stop at this many mebibytes of memory, as in `-m 4096`.
    #[arg(short = 'm', long, value_name = "MIB")]
    pub(crate) memory: Option<usize>,
}

impl LimitArguments {
    /// Stops after this time at the latest.
    pub(crate) fn tighten(&mut self, timeout: Duration) {
        self.timeout = self.timeout.into_iter().chain([timeout]).min();
    }

    /// The limits of a command that started at this time. From now on Ctrl-C is one of them.
    pub(crate) fn start(self, start: Instant) -> Limits<'static> {
        // Without a handler Ctrl-C ends the program without a message, which does no other harm.
        let _ = ctrlc::set_handler(interrupt);
        Limits {
            deadline: self.timeout.and_then(|timeout| start.checked_add(timeout)),
            memory: self.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20)),
            cancel: Some(&CANCEL),
            ..Limits::default()
        }
    }
}

/// The flag that Ctrl-C and termination set from now on, for commands that have other limits.
#[cfg(feature = "cluster")]
pub(crate) fn cancel_flag() -> &'static AtomicBool {
    let _ = ctrlc::set_handler(interrupt);
    &CANCEL
}

/// Runs work that does not poll the limits. Ctrl-C ends the program meanwhile.
pub(crate) fn without_limits<T>(write: impl FnOnce() -> T) -> T {
    WRITES.store(true, Ordering::Relaxed);
    let written = write();
    WRITES.store(false, Ordering::Relaxed);
    written
}

/// Handles Ctrl-C, in a thread of its own.
#[expect(clippy::exit, reason = "the main thread may be blocked: it writes to a pipe that nobody reads from")]
fn interrupt() {
    if CANCEL.swap(true, Ordering::Relaxed) || WRITES.load(Ordering::Relaxed) {
        std::process::exit(INTERRUPTED);
    }
}
