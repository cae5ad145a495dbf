//! `shofar worker`: takes jobs from a broker until it is stopped.

use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use shofar_cluster::worker::{Worker, run as take_jobs};
use shofar_cluster::{Name, Times, work};

use super::{BrokerArguments, Loudness, places, say};
use crate::Failure;
use crate::input::seconds;
use crate::limits::cancel_flag;

/// Take jobs from a broker until stopped, as in `shofar worker --cluster redis://host:6379`. The limits are the worker's own:
/// jobs may ask for less, not for more.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    broker: BrokerArguments,

    /// Do N jobs at the same time, each on one core, as in `-j 8`. The default is the number of cores.
    #[arg(short = 'j', long, value_name = "N", value_parser = places)]
    jobs: Option<usize>,

    /// End jobs when the worker has this many mebibytes of memory, as in `-m 16000`.
    #[arg(short = 'm', long, value_name = "MIB")]
    memory: Option<usize>,

    /// End each job after this many seconds at the latest, as in `--max-time 600`.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "3600")]
    max_time: Duration,

    /// Take one job, and end when it is answered.
    #[arg(long)]
    once: bool,

    /// The first part of the worker's name in messages, as in `--name rack7`. The default is the name of the machine.
    #[arg(long, value_name = "LABEL")]
    name: Option<String>,

    #[command(flatten)]
    loudness: Loudness,
}

pub(crate) fn run(arguments: &Arguments, _: &mut impl Write) -> Result<(), Failure> {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let worker = Worker {
        address: arguments.broker.address()?,
        name: Name::unique(arguments.name.as_deref().unwrap_or(&host())),
        places: if arguments.once { 1 } else { arguments.jobs.unwrap_or_else(cores) },
        most_time: Some(arguments.max_time),
        memory: arguments.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20)),
        once: arguments.once,
        times: Times::default(),
    };
    if !arguments.loudness.quiet {
        let noun = if worker.places == 1 { "place" } else { "places" };
        say(&format!("worker {} with {} {noun} for jobs at {}", worker.name, worker.places, worker.address));
    }
    let tell = |note| arguments.loudness.note(&note);
    take_jobs(&worker, &(Arc::new(work::solve) as _), cancel_flag(), &tell)
        .map_err(|message| Failure::Input(format!("shofar: {message}")))
}

/// The name of the machine, if the system tells it.
fn host() -> String {
    let file = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let variable = |name| std::env::var(name).ok();
    file.or_else(|| variable("HOSTNAME")).or_else(|| variable("COMPUTERNAME")).unwrap_or_default()
}
