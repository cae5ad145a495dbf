//! `shofar cluster status`: looks at a broker.

use std::io::Write;

use serde_json::json;
use shofar_cluster::Times;
use shofar_cluster::status::Status;

use super::BrokerArguments;
use crate::{Failure, escape};

/// Look at a broker and its workers, as in `shofar cluster status --cluster redis://host:6379`.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Status(StatusArguments),
}

/// List workers with their jobs and rates, and count the jobs that wait.
#[derive(clap::Args)]
struct StatusArguments {
    #[command(flatten)]
    broker: BrokerArguments,

    /// Print an object of JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let Command::Status(arguments) = &arguments.command;
    let address = arguments.broker.address()?;
    let status = Status::of(&address, &Times::default())
        .map_err(|trouble| Failure::Input(format!("shofar: {trouble}")))?;
    if arguments.json {
        let Status { workers, jobs, dead } = &status;
        return Ok(writeln!(out, "{}", json!({"workers": workers, "jobs": jobs, "dead": dead}))?);
    }
    Ok(out.write_all(escape::lines(&status.to_string()).as_bytes())?)
}
