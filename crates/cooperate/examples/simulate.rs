//! Simulates engines on as many cores, on one core: `simulate FILE SLOTS SECONDS on|off SEED`.
//!
//! The engines take equal turns of ten milliseconds on one place, so that they advance side by side, and facts travel as they would
//! between cores, up to one turn. The *virtual* time of the run is the longest time that an engine has run, the check of the answer
//! included. Not simulated are caches, memory bandwidth and locks that cores share. Each engine has SECONDS.
//!
//! Prints one JSON object: the verdict, its engine, the virtual time, the time of each engine, and who helped whom. Nothing else
//! should run on the core; `taskset -c 0` gives the run one of its own. `bench/simulate.py` makes tables of many runs.

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use shofar_cooperate::exchange::Exchanging;
use shofar_cooperate::slot::Slot;
use shofar_cooperate::{Options, Run, Turns, solve};
use shofar_engines::Event;
use shofar_logic::TermStore;
use shofar_run::Limits;

const TURN: Duration = Duration::from_millis(10);

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
    let number = u32::try_from(slots.len())?;
    let options =
        Options { engines: slots, exchange, jobs: Some(1), turns: Turns::Equal(TURN), ..Options::default() };
    let heard: Mutex<(Map<String, Value>, Vec<Value>)> = Mutex::default();
    let listen = |event: Event| {
        let mut heard = heard.lock().expect("listeners do not panic");
        match &event {
            Event::Stopped { engine, time, .. } => {
                heard.0.insert(engine.to_string(), time.as_secs_f64().into());
            }
            Event::Helped { .. } => heard.1.push(event.to_json()),
            _ => {}
        }
    };
    let limits = Limits { deadline: Instant::now().checked_add(seconds * number), ..Limits::default() };
    let run = Run::new(&store).with_limits(limits).with_seed(seed.parse()?).with_events(&listen);
    let outcome = solve(&system, &options, &run);
    let (times, help) = heard.into_inner().expect("listeners do not panic");
    let most = times.values().filter_map(Value::as_f64).fold(0.0, f64::max);
    let verdict = if most <= seconds.as_secs_f64() { outcome.verdict.name() } else { "unknown" };
    println!(
        "{}",
        json!({
            "verdict": verdict,
            "engine": outcome.engine.as_deref(),
            "virtual": most,
            "times": times,
            "help": help,
        })
    );
    Ok(())
}
