//! Simulates engines on as many cores, on one core: `simulate FILE SLOTS SECONDS on|off SEED`.
//!
//! The engines take equal turns of ten milliseconds on one place, so that they advance side by side, and facts travel as they would
//! between cores, up to one turn. The *virtual* time of the run is the longest time that an engine has run, the check of the answer
//! included. Not simulated are caches, memory bandwidth and locks that cores share. Each engine has SECONDS.
//!
//! All times are processor time, so other programs may run on the machine; they still share its caches.
//!
//! Prints one JSON object: the verdict, its engine, the virtual time, the time of each engine, and who helped whom.
//! `bench/simulate.py` makes tables of many runs.

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};
use shofar_cooperate::exchange::Exchanging;
use shofar_cooperate::slot::Slot;
use shofar_cooperate::{Options, Run, Turns, solve};
use shofar_engines::Event;
use shofar_logic::TermStore;
use shofar_run::Limits;

const TURN: Duration = Duration::from_millis(10);

/// The processor time of this process.
fn clock() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// What the engines have told.
#[derive(Default)]
struct Heard {
    /// How long each engine has run, without its present turn.
    times: BTreeMap<String, Duration>,
    /// The engine that runs, and since when.
    present: Option<(String, Duration)>,
    help: Vec<Value>,
}

impl Heard {
    fn hear(&mut self, event: &Event) {
        match event {
            Event::Started { engine } | Event::Resumed { engine } => {
                self.end_turn();
                self.present = Some((engine.to_string(), clock()));
            }
            Event::Stopped { engine, .. }
                if self.present.as_ref().is_some_and(|(present, _)| **present == **engine) =>
            {
                self.end_turn();
            }
            Event::Helped { .. } => self.help.push(event.to_json()),
            _ => {}
        }
    }

    fn end_turn(&mut self) {
        if let Some((engine, since)) = self.present.take() {
            *self.times.entry(engine).or_default() += clock().saturating_sub(since);
        }
    }

    /// The longest time of an engine.
    fn most(&self) -> Duration {
        let present = self.present.as_ref().map_or(Duration::ZERO, |(engine, since)| {
            self.times.get(engine).copied().unwrap_or_default() + clock().saturating_sub(*since)
        });
        self.times.values().copied().max().unwrap_or_default().max(present)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, slots, seconds, exchange, seed] = &arguments[..] else {
        return Err("usage: simulate FILE SLOTS SECONDS on|off SEED".into());
    };
    let slots: Vec<Slot> = slots.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let seconds = Duration::from_secs_f64(seconds.parse()?);
    let exchange = if exchange == "on" { Exchanging::On } else { Exchanging::Off };
    let store = TermStore::new();
    let text = std::fs::read(file)?;
    let system = shofar_horn::parse(&store, file, &text).map_err(|error| error.to_string())?;
    let turns = Turns::Equal { length: TURN, clock };
    let options = Options { engines: slots, exchange, jobs: Some(1), turns, ..Options::default() };
    let (is_late, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let heard: Mutex<Heard> = Mutex::default();
    let listen = |event: Event| heard.lock().expect("listeners do not panic").hear(&event);
    let seed = seed.parse()?;
    let limits = Limits { cancel: Some(&is_late), ..Limits::default() };
    let run = Run::new(&store).with_limits(limits).with_seed(seed).with_events(&listen);
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(TURN);
                let most = heard.lock().expect("listeners do not panic").most();
                is_late.store(most >= seconds, Ordering::Relaxed);
            }
        });
        let outcome = solve(&system, &options, &run);
        is_over.store(true, Ordering::Relaxed);
        outcome
    });
    let Heard { times, help, .. } = heard.into_inner().expect("listeners do not panic");
    let most = times.values().max().copied().unwrap_or_default();
    let times: Map<String, Value> =
        times.into_iter().map(|(engine, time)| (engine, time.as_secs_f64().into())).collect();
    let verdict = if most <= seconds { outcome.verdict.name() } else { "unknown" };
    println!(
        "{}",
        json!({
            "verdict": verdict,
            "engine": outcome.engine.as_deref(),
            "virtual": most.as_secs_f64(),
            "times": times,
            "help": help,
        })
    );
    Ok(())
}
