//! `shofar batch`: has workers answer a list of files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use shofar_cluster::Times;
use shofar_cluster::batch::{Batch, Summary, read_list, run as answer_all};
use shofar_run::Limits;

use super::{BrokerArguments, Loudness, places};
use crate::Failure;
use crate::arguments::{Engines, engines};
use crate::input::{read_text_within, seconds};
use crate::limits::cancel_flag;

/// Have workers answer all files of a list, as in `shofar batch LIST --cluster URL --results FILE`. Each answer is checked
/// here, and appended as a line of JSON. A second run with the same results goes on where the first one ended.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file with the names of the files, one per line, relative to its folder; `-` reads standard input.
    list: String,

    #[command(flatten)]
    broker: BrokerArguments,

    /// Append the answers to this file, as in `--results answers.jsonl`.
    #[arg(long, value_name = "FILE")]
    results: PathBuf,

    /// Run this engine, or several in turns, as in `-e spacer,pdkind`. `auto` chooses engines by the clauses.
    #[arg(short = 'e', long, value_name = "NAMES", default_value = "auto", value_parser = engines)]
    engine: Engines,

    /// Stop each task after this many seconds, as in `-t 10`.
    #[arg(short = 't', long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Stop each task at this many mebibytes of memory, as in `-m 4096`.
    #[arg(short = 'm', long, value_name = "MIB")]
    memory: Option<u64>,

    /// Check N answers at the same time, as in `-j 2`. The default is the number of cores.
    #[arg(short = 'j', long, value_name = "N", value_parser = places)]
    jobs: Option<usize>,

    /// Use this seed for all random choices, as in `--seed 7`.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Write the model or the derivation of each answer as well.
    #[arg(short = 'w', long)]
    witness: bool,

    #[command(flatten)]
    loudness: Loudness,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let stop = cancel_flag();
    let start = Instant::now();
    let limits = Limits { cancel: Some(stop), ..Limits::default() };
    let list = read_text_within(&limits, &arguments.list)?;
    let list = String::from_utf8(list)
        .map_err(|_| Failure::Input(format!("shofar: {} is not a list of files", arguments.list)))?;
    let folder = if arguments.list == "-" { None } else { Path::new(&arguments.list).parent() };
    let batch = Batch {
        address: arguments.broker.address()?,
        files: read_list(&list, folder.unwrap_or(Path::new(""))),
        results: arguments.results.clone(),
        slots: arguments.engine.for_clauses()?,
        seed: arguments.seed,
        time: arguments.timeout,
        mib: arguments.memory,
        witness: arguments.witness,
        checkers: arguments.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)),
        times: Times::default(),
    };
    let tell = |note| arguments.loudness.note(&note);
    let Summary { answered, known, all } =
        answer_all(&batch, stop, &tell).map_err(|message| Failure::Input(format!("shofar: {message}")))?;
    let seconds = start.elapsed().as_secs_f64();
    let summary = format!("{answered} of {all} answered, {known} of them before, in {seconds:.1} s");
    if answered < all {
        return Err(Failure::Refused(format!("shofar: {summary}; the same command goes on with the rest")));
    }
    Ok(writeln!(out, "{summary}")?)
}
