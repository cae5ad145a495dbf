//! The debug trace, for developers: `tracing` events of the libraries as lines on standard error.
//!
//! Progress for users goes through `EventSink` instead (`talk.rs`); the trace repeats none of it. Without `-vv` and
//! `RUST_LOG` no subscriber is installed, and a trace point costs one load of a global level.

use std::{env, io};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

use crate::Failure;

/// The variable that says what is traced, as in `shofar_smt=trace,shofar_engines::spacer=debug`.
const VARIABLE: &str = "RUST_LOG";

/// Starts the trace if the user asks for it by `RUST_LOG` or by giving `-v` several times.
pub(crate) fn start(verbosity: u8) -> Result<(), Failure> {
    let targets = match env::var(VARIABLE) {
        Ok(text) if !text.is_empty() => {
            let mistake = |error| Failure::Input(format!("shofar: {VARIABLE}={text}: {error}"));
            text.parse::<Targets>().map_err(mistake)?
        }
        _ => match verbosity {
            0 | 1 => return Ok(()),
            2 => Targets::new().with_default(LevelFilter::DEBUG),
            _ => Targets::new().with_default(LevelFilter::TRACE),
        },
    };
    let is_coloured = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    let lines = fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(is_coloured)
        .with_thread_names(true)
        .with_timer(fmt::time::uptime())
        .with_filter(targets);
    // Only this function installs a subscriber, and a command calls it once.
    let _ = tracing::subscriber::set_global_default(Registry::default().with(lines));
    Ok(())
}
