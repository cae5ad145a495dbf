//! The portfolio: several engines on the same clauses. The first confirmed answer wins.
//!
//! Each engine has its own thread, but at most as many threads run at a time as there are *places*. The engines take turns. A
//! turn is proportional to the weight of its engine, and twice as long in each round.
//!
//! ```text
//! while engines are left and there is no answer
//!     engines whose turn is over leave their places
//!     engines with the fewest turns, in the order of the schedule, take free places
//!     listen: an engine has an answer (its witness is being confirmed), has won, has given up or has panicked
//!     if memory becomes scarce, end the engine that uses most of it; beyond the limit, all others wait for its end
//! end all other engines
//! ```
//!
//! An engine whose turn is over waits at its gate ([`Gate`]), keeps its state, and continues from there. Nothing is computed twice.
//! The first turns are short, so that a task that is easy for any engine is solved soon. Later turns are so long that changing
//! places costs nothing. After each round, an engine with weight `w` of the sum `W` has had the share `w / W` of each place. A
//! thread starts with the first turn of its engine.
//!
//! - P1: an engine wins only if its answer is confirmed. A refused answer counts as giving up, and the others continue. An
//!   engine with an answer keeps its place until the answer is confirmed or refused. Meanwhile all others wait and leave
//!   their places to the checker, because their work is almost always in vain; but no longer than the run has taken so far, so
//!   that an answer that is hard to confirm does not block an easier one.
//! - P2: an engine ends when its own flag is set. All flags are set as soon as one engine has won or the whole run has to end.
//!   A waiting engine passes its gate to see its flag.
//! - P3: an engine that has ended is never resumed, and its memory is freed before it is reported as ended.
//! - P4: a panic ends only its own engine. The store of terms stays valid, because a term is made in one step.
//! - P5: engines do not check the memory of the process, because all would give up if one is greedy. This thread checks it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use shofar_engines::{Engine, Event, Label, Run};
use shofar_run::{Gate, Limits, Reason, Stop, memory_in_use};

use crate::memory::{Advice, Memory, Use};

/// The first turn of an engine with weight 1.
const FIRST_TURN: Duration = Duration::from_millis(50);

/// The interval between two checks of turns, memory and the limits of the whole run.
const TICK: Duration = Duration::from_millis(5);

/// How long turns are.
#[derive(Clone, Copy, Default, Debug)]
pub enum Turns {
    /// In proportion to weights, and twice as long in each round.
    #[default]
    Growing,
    /// All the same, by a clock. On one place, engines that take such turns advance as if each had a core of its own; this is how
    /// exchange between more engines than there are cores is measured.
    Equal {
        /// The length of each turn.
        length: Duration,
        /// The time since some fixed moment.
        clock: fn() -> Duration,
    },
}

/// An engine, its label in this run, and its share of the time.
pub(crate) struct Contender {
    pub(crate) label: Label,
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) weight: u32,
}

/// Runs engines in turns. Returns the first confirmed answer and the label of its engine, or the `Stop` that says most about
/// why no engine has one. `attempt` pauses at its gate; `confirm` never does. `tell` gets the answer at once, before the other
/// engines have ended.
pub(crate) fn race<A, T: Send>(
    contenders: &[Contender],
    (places, turns): (usize, Turns),
    run: &Run<'_>,
    attempt: impl Fn(&dyn Engine, &Run<'_>) -> Result<A, Stop> + Sync,
    confirm: impl Fn(A, &Run<'_>) -> Result<T, Stop> + Sync,
    tell: impl Fn(&T, &Label),
) -> Result<(T, Label), Stop> {
    let seats: Vec<Seat> = contenders.iter().map(|_| Seat::default()).collect();
    let drive = |index: usize, sender: &Sender<(usize, Report<T>)>| {
        let (contender, seat) = (&contenders[index], &seats[index]);
        let run = run.clone().with_label(contender.label.clone());
        // The table listens until all have ended.
        let report = |report| drop(sender.send((index, report)));
        let limits = Limits { cancel: Some(&seat.is_over), memory: None, ..run.limits };
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let limits_in_turns = Limits { gate: Some(&seat.gate), ..limits };
            let answer = attempt(&*contender.engine, &run.clone().with_limits(limits_in_turns))?;
            report(Report::HasAnswer);
            confirm(answer, &run.clone().with_limits(limits))
        }));
        report(Report::Ended(caught.unwrap_or_else(|panic| Err(panicked(&run, &*panic)))));
    };
    thread::scope(|scope| {
        let (sender, reports) = mpsc::channel();
        let drive = &drive;
        let mut table = Table::new(contenders, &seats, (places, turns), run);
        let mut winner = None;
        while table.is_anyone_left() {
            for index in table.change_places() {
                let sender = sender.clone();
                let thread = thread::Builder::new().name(format!("engine {}", table.label(index)));
                if let Err(error) = thread.spawn_scoped(scope, move || drive(index, &sender)) {
                    table.ended(index, Some(Stop::Internal(format!("cannot start a thread: {error}"))));
                }
            }
            match reports.recv_timeout(TICK) {
                Ok((index, Report::HasAnswer)) => table.keep_place(index),
                Ok((index, Report::Ended(Ok(success)))) if winner.is_none() => {
                    table.is_won = true;
                    table.end_all(Reason::Cancelled);
                    table.ended(index, None);
                    tell(&success, &contenders[index].label);
                    winner = Some((success, contenders[index].label.clone()));
                }
                Ok((index, Report::Ended(ended))) => {
                    table.ended(index, Some(ended.err().unwrap_or(Stop::Interrupted(Reason::Cancelled))));
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            table.look_at_limits();
        }
        winner.ok_or_else(|| table.why())
    })
}

/// A report of an engine's thread.
enum Report<T> {
    /// The engine has an answer, which is being confirmed.
    HasAnswer,
    /// The thread ends.
    Ended(Result<T, Stop>),
}

/// Reports the panic of an engine.
pub(crate) fn panicked(run: &Run<'_>, panic: &(dyn Any + Send)) -> Stop {
    let text = panic.downcast_ref::<&str>().copied();
    let message = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    let engine = run.label();
    run.tell(Event::Panicked { engine: engine.clone(), message: message.to_owned() });
    Stop::Internal(format!("engine {engine} has panicked: {message}"))
}

/// The order of reasons why there is no answer, the one that says most first. A bug says more than a missing feature, and that more
/// than a limit. Of equal reasons, the first engine in the schedule counts.
pub(crate) fn rank((index, stop): &(usize, Stop)) -> (u8, usize) {
    match stop {
        Stop::Internal(_) => (0, *index),
        Stop::Unsupported(_) | Stop::Exhausted(_) => (1, *index),
        _ => (2, *index),
    }
}

/// Controls the thread of an engine.
#[derive(Default)]
pub(crate) struct Seat {
    pub(crate) gate: Gate,
    pub(crate) is_over: AtomicBool,
}

impl Seat {
    /// A seat with a gate that counts.
    pub(crate) fn metered() -> Self {
        Seat { gate: Gate::metered(), ..Seat::default() }
    }

    /// Ends the engine, by P2.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.gate.open();
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    NotStarted,
    /// At the gate, or on the way to it.
    Waiting,
    Running {
        until: Instant,
    },
    /// The engine's answer is being confirmed. The others wait until then at the latest.
    Confirming {
        until: Instant,
    },
    Ended,
}

impl State {
    /// How an engine in this state can change the memory.
    fn memory(self) -> Use {
        match self {
            State::NotStarted => Use::Possible,
            State::Waiting => Use::Constant,
            State::Running { .. } | State::Confirming { .. } => Use::Growing,
            State::Ended => Use::Over,
        }
    }
}

/// The state of all engines: who runs, who waits, and for how long.
struct Table<'a> {
    contenders: &'a [Contender],
    seats: &'a [Seat],
    places: usize,
    lengths: Turns,
    run: &'a Run<'a>,
    memory: Memory,
    start: Instant,
    /// By engine: its state, the number of its turns so far, and when it started.
    states: Vec<State>,
    turns: Vec<u32>,
    starts: Vec<Option<Instant>>,
    /// Of the engines that ended without an answer: the one whose reason says most, and the reason.
    stop: Option<(usize, Stop)>,
    /// Why all engines have to end.
    over: Option<Reason>,
    is_won: bool,
}

impl<'a> Table<'a> {
    fn new(
        contenders: &'a [Contender],
        seats: &'a [Seat],
        (places, lengths): (usize, Turns),
        run: &'a Run<'a>,
    ) -> Self {
        let number = contenders.len();
        Table {
            contenders,
            seats,
            places: places.max(1),
            lengths,
            run,
            memory: Memory::new(run.limits.memory, number),
            start: Instant::now(),
            states: vec![State::NotStarted; number],
            turns: vec![0; number],
            starts: vec![None; number],
            stop: None,
            over: None,
            is_won: false,
        }
    }

    fn label(&self, index: usize) -> Label {
        self.contenders[index].label.clone()
    }

    /// The time by the clock of the turns.
    fn now(&self) -> Instant {
        match self.lengths {
            Turns::Growing => Instant::now(),
            Turns::Equal { clock, .. } => self.start.checked_add(clock()).unwrap_or(self.start),
        }
    }

    fn is_anyone_left(&self) -> bool {
        self.states.iter().any(|&state| state != State::Ended)
    }

    /// Ends turns and starts others. Returns the engines whose threads must be started.
    fn change_places(&mut self) -> Vec<usize> {
        if self.over.is_some() {
            return Vec::new();
        }
        let now = self.now();
        let numbers = 0..self.states.len();
        let is_confirming =
            self.states.iter().any(|&state| matches!(state, State::Confirming { until } if now < until));
        let awaited = self.memory.awaited();
        let is_over = |&index: &usize| match self.states[index] {
            State::Running { until } => {
                until <= now || is_confirming || awaited.is_some_and(|awaited| awaited != index)
            }
            _ => false,
        };
        let leaving: Vec<usize> = numbers.clone().filter(is_over).collect();
        if !leaving.is_empty()
            && let Some(in_use) = memory_in_use()
        {
            self.memory.count(in_use, |index| self.states[index].memory());
        }
        for &index in &leaving {
            // A turn that is cut short does not count.
            if matches!(self.states[index], State::Running { until } if until <= now) {
                self.turns[index] += 1;
            }
            self.states[index] = State::Waiting;
        }
        let is_waiting = |state: &State| matches!(state, State::NotStarted | State::Waiting);
        let is_busy = |state: &&State| matches!(state, State::Running { .. } | State::Confirming { .. });
        let mut starting = Vec::new();
        while !is_confirming && awaited.is_none() && self.states.iter().filter(is_busy).count() < self.places
        {
            let next = numbers.clone().filter(|&index| is_waiting(&self.states[index]));
            let Some(next) = next.min_by_key(|&index| (self.turns[index], index)) else { break };
            if self.states[next] == State::NotStarted {
                self.starts[next] = Some(Instant::now());
                starting.push(next);
                self.run.tell(Event::Started { engine: self.label(next) });
            } else if !leaving.contains(&next) {
                self.seats[next].gate.open();
                self.run.tell(Event::Resumed { engine: self.label(next) });
            }
            let turn = self.lengths.turn(self.contenders[next].weight, self.turns[next]);
            // If the clock overflows, the turn ends at once; this takes centuries.
            self.states[next] = State::Running { until: now.checked_add(turn).unwrap_or(now) };
        }
        for index in leaving.into_iter().filter(|&index| self.states[index] == State::Waiting) {
            self.seats[index].gate.close();
            self.run.tell(Event::Paused { engine: self.label(index) });
        }
        starting
    }

    /// Keeps the place of an engine with an answer, by P1.
    fn keep_place(&mut self, index: usize) {
        let now = self.now();
        let until = now.checked_add(now.duration_since(self.start)).unwrap_or(now);
        self.states[index] = State::Confirming { until };
    }

    /// Records that an engine has ended. `stop` is `None` if it has the answer.
    fn ended(&mut self, index: usize, stop: Option<Stop>) {
        self.states[index] = State::Ended;
        let stop = stop.map(|stop| match stop {
            Stop::Interrupted(_) if self.memory.has_stopped(index) => Stop::Interrupted(Reason::Memory),
            Stop::Interrupted(_) if self.is_won => Stop::Exhausted("another engine was faster"),
            stop => stop,
        });
        let elapsed = self.starts[index].map_or(Duration::ZERO, |start| start.elapsed());
        let time = elapsed.saturating_sub(self.seats[index].gate.waited());
        let (engine, memory) = (self.label(index), self.memory.most(index));
        self.run.tell(Event::Stopped { engine, reason: stop.clone(), time, memory });
        let ended = stop.map(|stop| (index, stop));
        self.stop = self.stop.take().into_iter().chain(ended).min_by_key(rank);
    }

    /// Ends all engines, for this reason unless there is an earlier one.
    fn end_all(&mut self, reason: Reason) {
        self.over.get_or_insert(reason);
        self.seats.iter().for_each(Seat::end);
        for state in &mut self.states {
            if *state == State::NotStarted {
                *state = State::Ended;
            }
        }
    }

    /// Checks limits and memory, and ends the engines that have to end.
    fn look_at_limits(&mut self) {
        let limits = Limits { memory: None, ..self.run.limits };
        if let Some(reason) = limits.interruption() {
            self.end_all(reason);
        }
        if !self.memory.is_time_to_look() {
            return;
        }
        let Some(in_use) = memory_in_use() else { return };
        match self.memory.advice(in_use, |index| self.states[index].memory()) {
            Advice::GoOn => {}
            Advice::Stop(index) => self.seats[index].end(),
            Advice::StopAll => self.end_all(Reason::Memory),
        }
        for (index, bytes) in
            self.memory.news().into_iter().filter(|&(index, _)| self.states[index] != State::Ended)
        {
            self.run.tell(Event::Memory { engine: self.label(index), bytes });
        }
    }

    /// The reason why there is no answer.
    fn why(self) -> Stop {
        match self.over {
            Some(reason) => reason.into(),
            None => self.stop.map_or(Stop::Exhausted("there are no engines"), |(_, stop)| stop),
        }
    }
}

impl Turns {
    /// The length of the next turn of an engine with this weight, after so many turns.
    fn turn(self, weight: u32, turns: u32) -> Duration {
        match self {
            Turns::Growing => {
                let doublings = 1_u32.checked_shl(turns).unwrap_or(u32::MAX);
                FIRST_TURN.saturating_mul(weight.max(1).saturating_mul(doublings))
            }
            Turns::Equal { length, .. } => length,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::{Arc, Mutex};

    use super::*;
    use shofar_engines::{EventSink, Evidence};
    use shofar_horn::HornGraph;
    use shofar_horn::witness::GraphModel;
    use shofar_logic::TermStore;

    /// An engine that calls a function.
    struct Does<F>(&'static str, F);

    impl<F: Fn(&Run<'_>) -> Result<Evidence, Stop> + Send + Sync> Engine for Does<F> {
        fn name(&self) -> &'static str {
            self.0
        }

        fn description(&self) -> &'static str {
            "for tests"
        }

        fn accepts(&self, _: &TermStore, _: &HornGraph) -> Result<(), Stop> {
            Ok(())
        }

        fn solve(&self, _: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
            (self.1)(run)
        }
    }

    fn does(
        name: &'static str,
        what: impl Fn(&Run<'_>) -> Result<Evidence, Stop> + Send + Sync + 'static,
    ) -> Contender {
        Contender { label: name.into(), engine: Box::new(Does(name, what)), weight: 1 }
    }

    /// Works for so many milliseconds, not counting time at the gate.
    fn work(run: &Run<'_>, milliseconds: u64) -> Result<(), Stop> {
        let waited = || run.limits.gate.map_or(Duration::ZERO, Gate::waited);
        let (start, before) = (Instant::now(), waited());
        while start.elapsed().saturating_sub(waited() - before) < Duration::from_millis(milliseconds) {
            run.go_on()?;
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn takes(name: &'static str, milliseconds: u64, has_answer: bool) -> Contender {
        does(name, move |run| {
            work(run, milliseconds)?;
            if has_answer {
                Ok(Evidence::Sat(GraphModel::default()))
            } else {
                Err(Stop::Exhausted("it is over"))
            }
        })
    }

    const NEVER: u64 = u64::MAX;

    fn some_of_each() -> Vec<Contender> {
        vec![
            takes("stuck", NEVER, true),
            takes("gives up", 1, false),
            takes("stuck, too", NEVER, true),
            takes("slow", 300, true),
        ]
    }

    struct Heard(Mutex<Vec<Event>>);

    impl EventSink for Heard {
        fn tell(&self, event: Event) {
            self.0.lock().expect("no listener panics").push(event);
        }
    }

    /// The winner, and the events.
    fn watch(contenders: &[Contender], jobs: usize, limits: Limits<'_>) -> (Result<Label, Stop>, Vec<Event>) {
        let store = TermStore::new();
        let heard = Heard(Mutex::default());
        let run = Run::new(&store).with_limits(limits).with_events(&heard);
        let attempt = |engine: &dyn Engine, run: &Run<'_>| engine.solve(&HornGraph::new(), run);
        let confirm = |_, run: &Run<'_>| match &**run.label() {
            "wrong" => {
                thread::sleep(Duration::from_millis(400));
                Err(Stop::Internal("refused".to_owned()))
            }
            _ => Ok(()),
        };
        let told = Mutex::new(None);
        let tell = |(): &(), engine: &Label| *told.lock().expect("no listener panics") = Some(engine.clone());
        let result =
            race(contenders, (jobs, Turns::Growing), &run, attempt, confirm, tell).map(|((), engine)| engine);
        assert_eq!(told.into_inner().expect("no listener panics"), result.clone().ok());
        (result, heard.0.into_inner().expect("no listener panics"))
    }

    fn winner(contenders: &[Contender], jobs: usize, limits: Limits<'_>) -> Result<Label, Stop> {
        watch(contenders, jobs, limits).0
    }

    #[test]
    fn whoever_has_an_answer_wins_on_any_number_of_places() {
        for jobs in [0, 1, 2, 3, 4, 9] {
            assert_eq!(winner(&some_of_each(), jobs, Limits::default()), Ok("slow".into()), "{jobs} jobs");
        }
    }

    #[test]
    fn limits_end_all() {
        let deadline = Instant::now().checked_add(Duration::from_millis(100));
        let ended = winner(&some_of_each(), 2, Limits { deadline, ..Limits::default() });
        assert_eq!(ended, Err(Stop::Interrupted(Reason::Deadline)));
        let cancel = AtomicBool::new(true);
        let ended = winner(&some_of_each(), 3, Limits { cancel: Some(&cancel), ..Limits::default() });
        assert_eq!(ended, Err(Stop::Interrupted(Reason::Cancelled)));
        let ended = winner(&[takes("a", 1, false)], 2, Limits::default());
        assert_eq!(ended, Err(Stop::Exhausted("it is over")));
        assert_eq!(winner(&[], 2, Limits::default()), Err(Stop::Exhausted("there are no engines")));
    }

    /// The winner needs 200 ms; if it were started anew in each turn, it would have had them in its third turn at the
    /// earliest, which ends after 700 ms.
    #[test]
    fn engines_go_on_where_they_were_and_end_soon() {
        let contenders = [takes("stuck", NEVER, true), takes("slow", 200, true)];
        let start = Instant::now();
        let (result, heard) = watch(&contenders, 1, Limits::default());
        assert_eq!(result, Ok("slow".into()));
        let paused =
            |name| heard.iter().any(|event| matches!(event, Event::Paused { engine } if *engine == name));
        assert!(paused("stuck") && paused("slow"), "{heard:?}");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        let ran = |name| {
            heard.iter().find_map(|event| match event {
                Event::Stopped { engine, time, .. } if *engine == name => Some(*time),
                _ => None,
            })
        };
        assert!(ran("slow").is_some_and(|time| time >= Duration::from_millis(200)));
        assert!(ran("stuck").is_some_and(|time| time < start.elapsed()));
    }

    /// Two slots with the same engine are different ones in all that is told.
    #[test]
    fn events_have_the_labels_of_their_slots() {
        let slot = |label, milliseconds| {
            let does = does("twin", move |run| {
                run.tell_progress(milliseconds, Vec::new());
                work(run, milliseconds).map(|()| Evidence::Sat(GraphModel::default()))
            });
            Contender { label: Label::from(label), ..does }
        };
        let (result, heard) = watch(&[slot("twin", NEVER), slot("twin#2", 20)], 2, Limits::default());
        assert_eq!(result, Ok("twin#2".into()));
        for (label, expected) in [("twin", NEVER), ("twin#2", 20)] {
            let of_slot = heard.iter().filter(|event| match event {
                Event::Started { engine } | Event::Stopped { engine, .. } => *engine == label,
                Event::Progress { engine, depth, .. } => *engine == label && *depth == expected,
                _ => false,
            });
            assert_eq!(of_slot.count(), 3, "{label} in {heard:?}");
        }
    }

    #[test]
    fn an_answer_that_is_refused_does_not_win() {
        let contenders = [takes("wrong", 1, true), takes("right", 50, true)];
        for jobs in [1, 2] {
            assert_eq!(winner(&contenders, jobs, Limits::default()), Ok("right".into()));
        }
        assert_eq!(winner(&contenders[..1], 1, Limits::default()), Err(Stop::Internal("refused".to_owned())));
    }

    /// Others wait while an answer is confirmed, but no longer than the run has taken so far.
    #[test]
    fn the_checker_has_all_places_for_a_while() {
        let contenders = [takes("wrong", 100, true), takes("right", 150, true)];
        let (result, heard) = watch(&contenders, 2, Limits::default());
        assert_eq!(result, Ok("right".into()));
        let place = |wanted: &dyn Fn(&Event) -> bool| heard.iter().position(wanted);
        let paused = place(&|event| matches!(event, Event::Paused { engine } if *engine == "right"));
        let resumed = place(&|event| matches!(event, Event::Resumed { engine } if *engine == "right"));
        let refused = place(&|event| matches!(event, Event::Stopped { engine, .. } if *engine == "wrong"));
        assert!(paused.is_some() && paused < resumed && resumed < refused, "{heard:?}");
    }

    /// The reason for `unknown` does not depend on which of two engines is faster.
    #[test]
    fn the_first_engine_tells_the_reason() {
        let gives_up = |name, milliseconds, reason| {
            does(name, move |run| work(run, milliseconds).and(Err(Stop::Exhausted(reason))))
        };
        let slow_first = [gives_up("slow", 40, "slow"), gives_up("fast", 1, "fast")];
        let fast_first = [gives_up("fast", 1, "fast"), gives_up("slow", 40, "slow")];
        for jobs in [1, 2] {
            assert_eq!(winner(&slow_first, jobs, Limits::default()), Err(Stop::Exhausted("slow")));
            assert_eq!(winner(&fast_first, jobs, Limits::default()), Err(Stop::Exhausted("fast")));
        }
    }

    #[test]
    fn a_panic_does_not_take_the_others_down() {
        let contenders = || {
            let numbers: Vec<u32> = Vec::new();
            [does("broken", move |_| panic!("there are {} numbers", numbers.len())), takes("slow", 100, true)]
        };
        for jobs in [1, 2] {
            let (result, heard) = watch(&contenders(), jobs, Limits::default());
            assert_eq!(result, Ok("slow".into()));
            let panic =
                Event::Panicked { engine: "broken".into(), message: "there are 0 numbers".to_owned() };
            assert!(heard.contains(&panic), "{heard:?}");
        }
        let alone = winner(&contenders()[..1], 1, Limits::default());
        let reason = "engine broken has panicked: there are 0 numbers";
        assert_eq!(alone, Err(Stop::Internal(reason.to_owned())));
    }

    /// In a process of its own, as memory counts by processes and other tests need some, too.
    #[test]
    fn a_greedy_engine_ends_and_the_others_go_on() {
        const ALONE: &str = "SHOFAR_TEST_ALONE";
        if std::env::var_os(ALONE).is_none() {
            let tests = std::env::current_exe().expect("this is a program");
            let name = "portfolio::tests::a_greedy_engine_ends_and_the_others_go_on";
            let alone = Command::new(tests).args(["--exact", name]).env(ALONE, "").output();
            let output = alone.expect("a test starts");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{text}");
            return;
        }
        let Some(before) = memory_in_use() else { return };
        let limits = Limits { memory: before.checked_add(240 << 20), ..Limits::default() };
        let greedy = |has_ended: &Arc<AtomicBool>| {
            let has_ended = Arc::clone(has_ended);
            does("greedy", move |run| {
                let mut hoard: Vec<Vec<u8>> = Vec::new();
                loop {
                    if let Err(interrupted) = work(run, 1) {
                        has_ended.store(true, Ordering::Relaxed);
                        return Err(interrupted);
                    }
                    hoard.push(vec![1; 16 << 20]);
                }
            })
        };
        let modest = |has_ended: &Arc<AtomicBool>| {
            let has_ended = Arc::clone(has_ended);
            does("modest", move |run| {
                while !has_ended.load(Ordering::Relaxed) {
                    work(run, 2)?;
                }
                Ok(Evidence::Sat(GraphModel::default()))
            })
        };
        for jobs in [1, 2] {
            let has_ended = Arc::default();
            let (result, heard) = watch(&[modest(&has_ended), greedy(&has_ended)], jobs, limits);
            assert_eq!(result, Ok("modest".into()), "{heard:?}");
            let reason = heard.iter().find_map(|event| match event {
                Event::Stopped { engine, reason, .. } if *engine == "greedy" => reason.clone(),
                _ => None,
            });
            assert_eq!(reason, Some(Stop::Interrupted(Reason::Memory)), "{heard:?}");
        }
        let alone = winner(&[greedy(&Arc::default())], 1, limits);
        assert_eq!(alone, Err(Stop::Interrupted(Reason::Memory)));
    }
}
