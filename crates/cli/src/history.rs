//! `--record` and `--replay`: the history of a run with exchange.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;

use shofar_cooperate::exchange::history::{History, Recorder, Recording};

use crate::Failure;

/// What to do with the history of a run.
#[derive(clap::Args, Clone)]
pub(crate) struct HistoryArguments {
    /// Write to this file what each engine learns from others, and when, as in `--record run.jsonl`.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,

    /// Run one engine alone, with what it learnt from others in a recorded run: `--replay run.jsonl -e spacer`. It does the
    /// same search.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
}

impl HistoryArguments {
    /// The history of a run with these engines.
    pub(crate) fn open(&self, engines: &[String]) -> Result<History, Failure> {
        if let Some(path) = &self.record {
            let file = File::create(path).map_err(|error| failure(path, &error.to_string()))?;
            return Ok(History::Record(Arc::new(Recorder::new(file))));
        }
        let Some(path) = &self.replay else { return Ok(History::Forget) };
        let [engine] = engines else {
            return Err(Failure::Input(
                "shofar: name the one engine to replay, as in `--replay run.jsonl -e spacer`".to_owned(),
            ));
        };
        let text = fs::read_to_string(path).map_err(|error| failure(path, &error.to_string()))?;
        let recording = Recording::read(&text, engine).map_err(|error| failure(path, &error))?;
        Ok(History::Replay(Arc::new(recording)))
    }

    /// The option that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match (&self.record, &self.replay) {
            (Some(_), _) => Some("--record"),
            (None, Some(_)) => Some("--replay"),
            (None, None) => None,
        }
    }
}

fn failure(path: &std::path::Path, error: &str) -> Failure {
    Failure::Input(format!("{}: {error}", path.display()))
}
