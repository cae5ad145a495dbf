//! Many machines: the commands `worker`, `batch` and `cluster`, and workers that help `shofar FILE`.
//!
//! Passwords are in no message: addresses are parsed here and not by `clap`, which would repeat a wrong one.

pub(crate) mod assist;
pub(crate) mod batch;
pub(crate) mod status;
pub(crate) mod worker;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use shofar_cluster::{Address, Note, Secret};

use crate::{Failure, escape};

/// The variable with the password of the broker.
const PASSWORD: &str = "SHOFAR_CLUSTER_PASSWORD";

/// The broker, for commands that need one.
#[derive(clap::Args)]
pub(crate) struct BrokerArguments {
    /// The broker, a server with Redis's protocol, as in `--cluster redis://user@host:6379`.
    #[arg(long, value_name = "URL")]
    cluster: String,

    /// Read the password of the broker from this file; the variable SHOFAR_CLUSTER_PASSWORD may have it as well.
    #[arg(long, value_name = "FILE")]
    cluster_password_file: Option<PathBuf>,
}

impl BrokerArguments {
    fn address(&self) -> Result<Address, Failure> {
        address(&self.cluster, self.cluster_password_file.as_deref())
    }
}

/// The address of the broker with its password: that of the file, or that of the address, or that of the environment.
fn address(text: &str, file: Option<&Path>) -> Result<Address, Failure> {
    let address: Address =
        text.parse().map_err(|error| Failure::Input(format!("shofar: --cluster: {error}")))?;
    if let Some(file) = file {
        let password = std::fs::read_to_string(file).map_err(|error| {
            Failure::Input(format!("shofar: cannot read the password in {}: {error}", file.display()))
        })?;
        return Ok(address.with_password(&Secret::new(&password)));
    }
    match std::env::var(PASSWORD) {
        Ok(password) if !address.has_password() && !password.is_empty() => {
            Ok(address.with_password(&Secret::new(&password)))
        }
        _ => Ok(address),
    }
}

/// Parses the number of jobs or checks at the same time, at least one.
fn places(text: &str) -> Result<usize, String> {
    let number: Option<NonZeroUsize> = text.parse().ok();
    number.map(usize::from).ok_or_else(|| "write a whole number of at least 1, as in `-j 4`".to_owned())
}

/// How much a command says on standard error.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct Loudness {
    /// Print what happens on standard error.
    #[arg(short = 'v', long, conflicts_with = "quiet")]
    verbose: bool,

    /// Print nothing on standard error except errors.
    #[arg(short = 'q', long)]
    quiet: bool,
}

impl Loudness {
    /// Prints a note on standard error, if the user wants it.
    fn note(self, note: &Note) {
        if !self.quiet && (self.verbose || !note.is_detail()) {
            say(&note.to_string());
        }
    }
}

/// Writes a line to standard error. Names and reasons of others are in it, so it is escaped. Failures are ignored: there is no
/// other place for a message.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "shofar: {}", escape::line(text));
}
