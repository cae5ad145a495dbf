//! Runs that can be repeated: in rounds, and from a recording.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use shofar_cooperate::driver::{Options, Outcome, solve};
use shofar_cooperate::exchange::Exchanging;
use shofar_cooperate::exchange::history::{History, Recorder, Recording};
use shofar_engines::{Event, EventSink, Run};
use shofar_horn::parse;
use shofar_horn::witness::WitnessFormat;
use shofar_logic::TermStore;
use shofar_testing::systems::{Shape, system};
use shofar_testing::{Random, scale};

/// `x` grows by `y`, which grows by one: nobody proves that `x` stays non-negative without saying so of `y`.
const SUMS: &str = "(declare-fun P (Int Int) Bool)
    (assert (P 0 0))
    (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x y) (+ y 1)))))
    (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x 0)) false)))";

/// Two loops, one behind the other, with a relation that both need.
const TWO_LOOPS: &str = "(declare-fun A (Int Int Int) Bool) (declare-fun B (Int Int Int) Bool)
    (assert (forall ((n Int)) (=> (> n 0) (A 0 0 n))))
    (assert (forall ((i Int) (s Int) (n Int)) (=> (and (A i s n) (< i n)) (A (+ i 1) (+ s 2) n))))
    (assert (forall ((i Int) (s Int) (n Int)) (=> (and (A i s n) (>= i n)) (B i s n))))
    (assert (forall ((i Int) (s Int) (n Int)) (=> (and (B i s n) (> i 0)) (B (- i 1) (- s 2) n))))
    (assert (forall ((i Int) (s Int) (n Int)) (=> (and (B i s n) (<= i 0) (not (= s 0))) false)))";

/// A loop with a bug that takes twenty steps.
const BROKEN: &str = "(declare-fun P (Int Int) Bool)
    (assert (P 0 0))
    (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (+ y x)))))
    (assert (forall ((x Int) (y Int)) (=> (and (P x y) (> y 180)) false)))";

/// What engines have told: progress and final counters. Both count work and not time.
#[derive(Default)]
struct Heard(Mutex<Vec<(String, String)>>);

impl EventSink for Heard {
    fn tell(&self, event: Event) {
        let heard = match event {
            Event::Progress { engine, depth, counters } => (engine, format!("at {depth}: {counters:?}")),
            Event::Statistics { engine, counters, .. } => (engine, format!("in the end: {counters:?}")),
            Event::Helped { from, to, received, accepted, useful } => {
                (to, format!("{received} facts of {from}, {accepted} accepted, {useful} useful"))
            }
            _ => return,
        };
        self.0.lock().expect("no listener panics").push((heard.0.to_string(), heard.1));
    }
}

impl Heard {
    /// What one engine has told, in this order.
    fn of(&self, engine: &str) -> Vec<String> {
        let all = self.0.lock().expect("no listener panics");
        all.iter().filter(|(other, _)| other == engine).map(|(_, what)| what.clone()).collect()
    }
}

/// The answer with its engine and witness.
fn run(text: &str, options: &Options, seconds: u64, heard: &Heard) -> (Outcome, String) {
    let store = TermStore::new();
    let system = parse(&store, "test", text.as_bytes()).expect("the clauses are right");
    let run = Run::new(&store).with_timeout(Duration::from_secs(seconds)).with_events(heard);
    let outcome = solve(&system, options, &run);
    let engine = outcome.engine.as_ref().map_or("-", |engine| &**engine);
    let mut shown = format!("{} {engine} ", outcome.verdict.name());
    if let Some(witness) = outcome.verdict.clone().witness() {
        shown += &witness.to_text(&store, &system, WitnessFormat::Text);
    }
    (outcome, shown)
}

fn engines(names: &[&str]) -> Options {
    let engines = names.iter().map(|name| name.parse().expect("there is such an engine")).collect();
    Options { engines, ..Options::default() }
}

/// In rounds, everything is the same each time, on one place and on several, whatever else the machine does.
#[test]
fn rounds_do_not_depend_on_time_or_places() {
    const ENGINES: [&str; 5] = ["invariants", "spacer", "pdkind", "kind", "imc"];
    let mut texts: Vec<String> = [SUMS, TWO_LOOPS, BROKEN].map(str::to_owned).to_vec();
    let few = Shape::LINEAR;
    texts.extend((0..5 * scale()).map(|seed| system(&mut Random::new(seed), &few)));
    for text in texts {
        let once = |jobs: usize| {
            let heard = Heard::default();
            let options = Options { exchange: Exchanging::Rounds, jobs: Some(jobs), ..engines(&ENGINES) };
            let (_, shown) = run(&text, &options, 60, &heard);
            (shown, ENGINES.map(|engine| heard.of(engine)))
        };
        let first = once(1);
        for jobs in [1, 2, 5] {
            assert_eq!(once(jobs), first, "{jobs} places\n{text}");
        }
    }
}

/// A file in memory.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panics").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Each engine of a recorded run does the same again, alone: the engine with the answer to the end, and the others as far as they came.
#[test]
fn a_recorded_engine_does_the_same_alone() {
    let mut imports = 0;
    for (text, names) in [
        (SUMS, ["invariants", "kind", "spacer"]),
        (SUMS, ["pdkind", "spacer", "imc"]),
        (TWO_LOOPS, ["invariants", "pdkind", "spacer"]),
        (TWO_LOOPS, ["pdkind:interpolation=farkas", "pdkind:interpolation=decomposed", "spacer"]),
        (BROKEN, ["spacer", "bmc", "kind"]),
    ] {
        let (file, heard) = (Shared::default(), Heard::default());
        let history = History::Record(Arc::new(Recorder::new(file.clone())));
        let options = Options { history, jobs: Some(2), ..engines(&names) };
        let (outcome, shown) = run(text, &options, 60, &heard);
        let winner = outcome.engine.expect("it is easy");
        let recording =
            String::from_utf8(file.0.lock().expect("no writer panics").clone()).expect("it is text");
        imports += recording.lines().count() - 1;
        for name in names {
            let again = Heard::default();
            let recording = Recording::read(&recording, name).unwrap_or_else(|error| panic!("{error}"));
            let history = History::Replay(Arc::new(recording));
            let options = Options { history, ..engines(&[name]) };
            let told = heard.of(name);
            let (_, replayed) = run(text, &options, if name == &*winner { 60 } else { 2 }, &again);
            let retold = again.of(name);
            let without_help = |lines: &[String]| -> Vec<String> {
                lines.iter().filter(|line| !line.contains(" facts of ")).cloned().collect()
            };
            let told = without_help(&told);
            if name == &*winner {
                assert_eq!(retold, told, "{name}\n{text}");
                assert_eq!(replayed.split(' ').next(), shown.split(' ').next(), "{name}\n{text}");
            } else {
                let progress: Vec<String> = told.into_iter().filter(|line| line.starts_with("at ")).collect();
                assert_eq!(retold[..progress.len().min(retold.len())], progress, "{name}\n{text}");
            }
        }
    }
    assert!(imports > 3, "{imports} import points with facts");
}

#[test]
fn a_recording_is_for_one_run_only() {
    let file = Shared::default();
    let history = History::Record(Arc::new(Recorder::new(file.clone())));
    run(SUMS, &Options { history, ..engines(&["spacer", "kind"]) }, 60, &Heard::default());
    let text = String::from_utf8(file.0.lock().expect("no writer panics").clone()).expect("it is text");
    let error = Recording::read(&text, "pdkind").expect_err("it was not there");
    assert_eq!(error, "`pdkind` has not taken part; the engines are spacer, kind");
    for wrong in ["", "{}", "[]", "garbage", "{\"recording\":7}", &text.replace("\"engines\"", "\"animals\"")]
    {
        assert!(Recording::read(wrong, "spacer").is_err(), "{wrong}");
    }
    let recording = Arc::new(Recording::read(&text, "spacer").expect("it is right"));
    let replay = || History::Replay(Arc::clone(&recording));
    let reason = |text: &str, options: Options| match run(text, &options, 60, &Heard::default()).0.verdict {
        shofar_cooperate::Verdict::Unknown(stop) => stop.to_string(),
        other => panic!("{other:?}"),
    };
    let other = reason(BROKEN, Options { history: replay(), ..engines(&["spacer"]) });
    assert!(other.contains("other clauses"), "{other}");
    let other = reason(SUMS, Options { history: replay(), ..engines(&["kind"]) });
    assert!(other.contains("not one of this engine alone"), "{other}");
    let settings = vec!["spacer.guidance=no".parse().expect("there is such a setting")];
    let other = reason(SUMS, Options { history: replay(), settings, ..engines(&["spacer"]) });
    assert!(other.contains("other settings"), "{other}");
}
