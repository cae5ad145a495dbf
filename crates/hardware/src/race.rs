//! Runs searches side by side until one of them has an answer that is accepted.
//!
//! Lanes are threads in use: at any time one contestant of each lane is at work, and the others of the lane wait at
//! their gates. Turns become longer from round to round, so that easy problems see all contestants soon and hard ones
//! lose little to switching.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use shofar_run::{Gate, Limits, Stop};

/// The interval at which the limits are polled for all contestants.
const TICK: Duration = Duration::from_millis(5);

/// The first turns of contestants that share a thread, per unit of weight. Each round is longer than the one before.
const FIRST_TURN: Duration = Duration::from_millis(5);

/// The longest turns, per unit of weight.
const LONGEST_TURN: Duration = Duration::from_millis(50);

/// A search for an answer, within limits.
type Search<'a, A> = dyn Fn(&Limits<'_>) -> Result<A, Stop> + Send + Sync + 'a;

/// A search that takes part in a race.
pub(crate) struct Contestant<'a, A> {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its share of a thread, relative to the others there.
    pub(crate) weight: u32,
    /// The search.
    pub(crate) run: Box<Search<'a, A>>,
}

/// Distributes contestants to lanes, at most as many as `jobs`, by default the number of cores. The first one has a lane
/// for itself if there is more than one.
pub(crate) fn lanes<T>(contestants: impl IntoIterator<Item = T>, jobs: Option<usize>) -> Vec<Vec<T>> {
    let mut contestants = contestants.into_iter();
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let jobs = jobs.unwrap_or_else(cores).max(1);
    if jobs == 1 {
        return vec![contestants.collect()];
    }
    let mut lanes: Vec<Vec<T>> = contestants.next().map(|first| vec![first]).into_iter().collect();
    for (index, contestant) in contestants.enumerate() {
        if lanes.len() < jobs {
            lanes.push(vec![contestant]);
        } else {
            lanes[1 + index % (jobs - 1)].push(contestant);
        }
    }
    lanes
}

/// A contestant at work.
struct Runner {
    lane: usize,
    weight: u32,
    gate: Gate,
    ended: AtomicBool,
}

/// Which contestant of a lane has its turn.
struct Turn {
    /// The lane's contestants.
    runners: Vec<usize>,
    current: usize,
    length: Duration,
    end: Instant,
}

impl Turn {
    /// Passes the turn on if it is over.
    fn pass_on(&mut self, runners: &[Runner]) {
        let now = Instant::now();
        let has_ended = |runner: usize| runners[runner].ended.load(Ordering::Relaxed);
        if now < self.end && !has_ended(self.runners[self.current]) {
            return;
        }
        let Some(next) = (1..=self.runners.len())
            .map(|offset| (self.current + offset) % self.runners.len())
            .find(|&next| !has_ended(self.runners[next]))
        else {
            return;
        };
        if next <= self.current {
            self.length = (self.length * 2).min(LONGEST_TURN);
        }
        let runner = &runners[self.runners[next]];
        if next != self.current {
            runners[self.runners[self.current]].gate.close();
            runner.gate.open();
        }
        self.current = next;
        self.end = now + self.length * runner.weight;
    }
}

/// Runs contestants until one has an answer that is accepted: those of different lanes side by side, those of one lane
/// by turns. The result is what `accept` makes of the answer, and the contestant's name.
pub(crate) fn race<A: Send, V>(
    lanes: &[Vec<Contestant<'_, A>>],
    limits: &Limits<'_>,
    accept: &mut dyn FnMut(A) -> Result<V, Stop>,
) -> Result<(V, &'static str), Stop> {
    let cancel = AtomicBool::new(false);
    let contestants: Vec<&Contestant<'_, A>> = lanes.iter().flatten().collect();
    let lane_of = lanes.iter().enumerate().flat_map(|(lane, all)| all.iter().map(move |_| lane));
    let runners: Vec<Runner> = lane_of
        .zip(&contestants)
        .map(|(lane, contestant)| Runner {
            lane,
            weight: contestant.weight,
            gate: Gate::default(),
            ended: AtomicBool::new(false),
        })
        .collect();
    let mut turns: Vec<Turn> = (0..lanes.len())
        .map(|lane| Turn {
            runners: (0..runners.len()).filter(|&runner| runners[runner].lane == lane).collect(),
            current: 0,
            length: FIRST_TURN,
            end: Instant::now() + FIRST_TURN,
        })
        .filter(|turn| !turn.runners.is_empty())
        .collect();
    for turn in &turns {
        turn.runners[1..].iter().for_each(|&runner| runners[runner].gate.close());
    }
    thread::scope(|scope| {
        let (sender, answers) = mpsc::channel();
        // Ends all contestants, those that wait for their turn too.
        let end = || {
            cancel.store(true, Ordering::Relaxed);
            runners.iter().for_each(|runner| runner.gate.open());
        };
        for (contestant, runner) in contestants.iter().zip(&runners) {
            let name = contestant.name;
            let sender = sender.clone();
            let limits = Limits { cancel: Some(&cancel), gate: Some(&runner.gate), ..*limits };
            let work = move || {
                // The first turn may be later.
                let result = panic::catch_unwind(AssertUnwindSafe(|| {
                    limits.go_on()?;
                    (contestant.run)(&limits)
                }));
                let result =
                    result.unwrap_or_else(|_| Err(Stop::Internal(format!("engine {name} has failed"))));
                runner.ended.store(true, Ordering::Relaxed);
                // The race may be over.
                let _ = sender.send((name, result));
            };
            let spawned = thread::Builder::new().name(format!("engine {name}")).spawn_scoped(scope, work);
            if spawned.is_err() {
                end();
                return Err(Stop::Internal("cannot start a thread".to_owned()));
            }
        }
        drop(sender);
        // Why the last contestant stopped; an error of Shofar matters more than the others.
        let mut stopped: Option<Stop> = None;
        let mut note = |stop: Stop| {
            if !matches!(stopped, Some(Stop::Internal(_))) {
                stopped = Some(stop);
            }
        };
        let winner = loop {
            match answers.recv_timeout(TICK) {
                Ok((name, Ok(answer))) => match accept(answer) {
                    Ok(verdict) => break Some((verdict, name)),
                    Err(stop) => note(stop),
                },
                Ok((_, Err(stop))) => note(stop),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(reason) = limits.interruption() {
                note(reason.into());
                break None;
            }
            turns.iter_mut().for_each(|turn| turn.pass_on(&runners));
        };
        end();
        winner.ok_or_else(|| stopped.unwrap_or(Stop::Exhausted("no engine has an answer")))
    })
}
