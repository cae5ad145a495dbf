//! Rounds: engines side by side, with a result that does not depend on the clock.
//!
//! In each round every engine does the same amount of work, counted in polls of its limits: after that many it waits at its
//! [gate](shofar_run::Gate::metered). Facts that an engine sends in a round are seen by others in the next one.
//!
//! ```text
//! while engines are left
//!     each of them works until it has used its share of the round, has an answer, or gives up
//!     publish the facts of the round, in the order of the schedule
//!     confirm answers, in the order of the schedule; the first confirmed one wins
//! ```
//!
//! - R1: what an engine sees and does in a round depends only on the clauses, the options and the seed: not on the number of
//!   places, on the other threads, or on the machine.
//! - R2: limits of time and memory, and cancellation, end all engines at any moment. Only then does the result depend on them.
//!
//! It is slower than [turns](crate::portfolio), since all wait for the slowest. It is made for tests and for finding bugs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use shofar_engines::{Engine, Event, Label, Run};
use shofar_run::{Limits, Stop};

use crate::portfolio::{Contender, Seat, panicked, rank};

/// The polls of an engine in the first round, and how often they double, every four rounds. Engines differ in how much they do between two
/// polls, so large shares would let all wait for one engine before an easy task is solved; small shares would make them change places
/// all the time.
const FIRST_SHARE: u64 = 256;
const DOUBLINGS: u32 = 4;

/// The polls of an engine in a round.
fn share(round: u32) -> u64 {
    FIRST_SHARE << (round / 4).min(DOUBLINGS)
}

/// The interval between two looks at the gates.
const TICK: Duration = Duration::from_micros(500);

/// The state of an engine between rounds.
enum State<A> {
    NotStarted,
    /// At the gate.
    Waiting,
    Answered(A),
    Ended,
}

/// Runs engines in rounds, at most so many at a time. Returns the first confirmed answer and the label of its engine, or the `Stop`
/// that says most about why no engine has one. `publish` is called after each round, while no engine runs.
pub(crate) fn rounds<A: Send, T>(
    contenders: &[Contender],
    places: usize,
    run: &Run<'_>,
    attempt: impl Fn(&dyn Engine, &Run<'_>) -> Result<A, Stop> + Sync,
    confirm: impl Fn(A, &Run<'_>) -> Result<T, Stop>,
    publish: impl Fn(),
) -> Result<(T, Label), Stop> {
    let seats: Vec<Seat> = contenders.iter().map(|_| Seat::metered()).collect();
    let starts: Vec<Instant> = contenders.iter().map(|_| Instant::now()).collect();
    let own_run = |index: usize| run.clone().with_label(contenders[index].label.clone());
    let attempt = |index: usize| {
        let seat = &seats[index];
        let limits =
            Limits { cancel: Some(&seat.is_over), memory: None, gate: Some(&seat.gate), ..run.limits };
        guarded(&own_run(index), |run| attempt(&*contenders[index].engine, &run.clone().with_limits(limits)))
    };
    let tell_ended = |index: usize, reason: Option<Stop>| {
        let time = starts[index].elapsed().saturating_sub(seats[index].gate.waited());
        let engine = contenders[index].label.clone();
        run.tell(Event::Stopped { engine, reason, time, memory: 0 });
    };
    thread::scope(|scope| {
        let (sender, reports) = mpsc::channel();
        let attempt = &attempt;
        let mut states: Vec<State<A>> = contenders.iter().map(|_| State::NotStarted).collect();
        let mut why: Option<(usize, Stop)> = None;
        // The threads that have not reported.
        let mut open: Vec<usize> = Vec::new();
        // Ends all engines, and tells why.
        let dismiss = |mut open: Vec<usize>, reason: Stop| {
            seats.iter().for_each(Seat::end);
            open.iter().for_each(|_| drop(reports.recv()));
            open.sort_unstable();
            open.into_iter().for_each(|index| tell_ended(index, Some(reason.clone())));
        };
        for round in 0.. {
            let is_live = |&index: &usize| matches!(states[index], State::NotStarted | State::Waiting);
            let mut next = (0..states.len()).filter(is_live).collect::<Vec<_>>().into_iter().peekable();
            if next.peek().is_none() {
                return Err(why.map_or(Stop::Exhausted("there are no engines"), |(_, stop)| stop));
            }
            let mut ended: Vec<(usize, Stop)> = Vec::new();
            let mut running: Vec<usize> = Vec::new();
            while next.peek().is_some() || !running.is_empty() {
                while running.len() < places.max(1)
                    && let Some(index) = next.next()
                {
                    seats[index].gate.grant(share(round));
                    running.push(index);
                    if let State::NotStarted = states[index] {
                        run.tell(Event::Started { engine: contenders[index].label.clone() });
                        states[index] = State::Waiting;
                        let sender = sender.clone();
                        let thread =
                            thread::Builder::new().name(format!("engine {}", contenders[index].label));
                        // The controller listens until all have ended.
                        let work = move || drop(sender.send((index, attempt(index))));
                        match thread.spawn_scoped(scope, work) {
                            Ok(_) => open.push(index),
                            Err(error) => {
                                let stop = Stop::Internal(format!("cannot start a thread: {error}"));
                                ended.push((index, stop));
                                running.retain(|&other| other != index);
                            }
                        }
                    }
                }
                match reports.recv_timeout(TICK) {
                    Ok((index, result)) => {
                        open.retain(|&other| other != index);
                        running.retain(|&other| other != index);
                        match result {
                            Ok(answer) => states[index] = State::Answered(answer),
                            Err(stop) => ended.push((index, stop)),
                        }
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                        running.retain(|&index| !seats[index].gate.has_waiting());
                    }
                }
                if let Some(reason) = run.limits.interruption() {
                    dismiss(open, reason.into());
                    return Err(reason.into());
                }
            }
            publish();
            for index in 0..states.len() {
                let state = std::mem::replace(&mut states[index], State::Ended);
                let State::Answered(answer) = state else {
                    states[index] = state;
                    continue;
                };
                match guarded(&own_run(index), |run| confirm(answer, run)) {
                    Ok(success) => {
                        tell_ended(index, None);
                        dismiss(open, Stop::Exhausted("another engine was faster"));
                        return Ok((success, contenders[index].label.clone()));
                    }
                    Err(stop) => ended.push((index, stop)),
                }
            }
            ended.sort_unstable_by_key(|&(index, _)| index);
            for (index, stop) in ended {
                states[index] = State::Ended;
                tell_ended(index, Some(stop.clone()));
                why = why.into_iter().chain([(index, stop)]).min_by_key(rank);
            }
        }
        Err(Stop::Exhausted("there are no more numbers for rounds"))
    })
}

/// The result of a piece of work. A panic ends only this engine.
fn guarded<T>(run: &Run<'_>, work: impl FnOnce(&Run<'_>) -> Result<T, Stop>) -> Result<T, Stop> {
    catch_unwind(AssertUnwindSafe(|| work(run))).unwrap_or_else(|panic| Err(panicked(run, &*panic)))
}
