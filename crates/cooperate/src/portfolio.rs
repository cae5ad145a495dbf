//! Several engines on the same clauses: the first one that has an answer wins.
//!
//! There are as many *lanes* as jobs, each a thread. The first engines have lanes of their own, and all that are left
//! share the last one: there they take turns, in slices of time that double from round to round. An engine starts anew
//! in each of its slices, so that in the end at most half of what the lane has spent on it is wasted.
//!
//! - P1: an attempt has an answer only if its witness was checked, so that an engine which is wrong is as if it had
//!   given up, and the others go on.
//! - P2: lanes watch one flag, which is set when one has an answer, or soon after the whole run has to end.
//! - P3: an engine that gives up for other reasons than its slice is not asked again.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use shofar_engines::{Engine, Run, Stop};
use shofar_smt::sat::{Limits, Reason};

/// The first slice of an engine that takes turns.
const FIRST_SLICE: Duration = Duration::from_millis(250);

/// How often the limits of the whole run are looked at.
const TICK: Duration = Duration::from_millis(5);

/// Lets engines attempt the same in parallel. Returns the first success and the name of its engine, or why all of
/// them stopped.
pub(crate) fn race<T: Send>(
    engines: &[Box<dyn Engine>],
    jobs: usize,
    run: &Run<'_>,
    attempt: impl Fn(&dyn Engine, &Run<'_>) -> Result<T, Stop> + Sync,
) -> Result<(T, &'static str), Stop> {
    let lanes = lanes(engines, jobs);
    let is_over = AtomicBool::new(false);
    let caller = thread::current();
    let result: Mutex<Option<Result<(T, &'static str), Stop>>> = Mutex::new(None);
    let drive = |lane: &[&dyn Engine]| {
        let run = Run { limits: Limits { cancel: Some(&is_over), ..run.limits }, ..*run };
        let outcome = take_turns(lane, &run, &attempt);
        // A lane that panics leaves no half-made result behind.
        let mut result = result.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match (&*result, outcome) {
            (Some(Ok(_)), _) => {}
            (_, Ok(success)) => {
                *result = Some(Ok(success));
                is_over.store(true, Ordering::Relaxed);
            }
            // What an engine does not know says more than that another one was out of time.
            (Some(Err(known)), Err(stop))
                if !matches!(known, Stop::Interrupted(_)) || is_interruption(&stop) => {}
            (_, Err(stop)) => *result = Some(Err(stop)),
        }
        caller.unpark();
    };
    thread::scope(|scope| {
        let handles: Vec<_> = lanes.iter().map(|lane| scope.spawn(|| drive(lane))).collect();
        while handles.iter().any(|handle| !handle.is_finished()) {
            if run.limits.interruption().is_some() {
                is_over.store(true, Ordering::Relaxed);
            }
            thread::park_timeout(TICK);
        }
        // A panic ends with its lane: what the others have found counts.
        handles.into_iter().for_each(|handle| drop(handle.join()));
    });
    let result = result.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    match (result, run.limits.interruption()) {
        (Some(Ok(success)), _) => Ok(success),
        (_, Some(reason)) => Err(reason.into()),
        (Some(Err(stop)), None) => Err(stop),
        (None, None) => Err(Stop::Internal("all engines have failed".to_owned())),
    }
}

fn is_interruption(stop: &Stop) -> bool {
    matches!(stop, Stop::Interrupted(_))
}

/// Divides engines among lanes: one for each, and the last one for all that are left.
fn lanes(engines: &[Box<dyn Engine>], jobs: usize) -> Vec<Vec<&dyn Engine>> {
    let mut lanes: Vec<Vec<&dyn Engine>> = Vec::new();
    for engine in engines {
        let is_full = lanes.len() >= jobs.max(1);
        match lanes.last_mut() {
            Some(last) if is_full => last.push(engine.as_ref()),
            _ => lanes.push(vec![engine.as_ref()]),
        }
    }
    lanes
}

/// Asks engines in turn until one has an answer.
fn take_turns<T>(
    lane: &[&dyn Engine],
    run: &Run<'_>,
    attempt: impl Fn(&dyn Engine, &Run<'_>) -> Result<T, Stop>,
) -> Result<(T, &'static str), Stop> {
    let mut open = lane.to_vec();
    let mut slice = FIRST_SLICE;
    let mut last = Stop::Exhausted("there are no engines");
    while !open.is_empty() {
        let mut index = 0;
        while let Some(&engine) = open.get(index) {
            let end = Instant::now().checked_add(slice).filter(|_| open.len() > 1);
            let deadline = [end, run.limits.deadline].into_iter().flatten().min();
            match attempt(engine, &Run { limits: Limits { deadline, ..run.limits }, ..*run }) {
                Ok(success) => return Ok((success, engine.name())),
                Err(stop) => last = stop,
            }
            if let Some(reason) = run.limits.interruption() {
                return Err(reason.into());
            }
            match last {
                Stop::Interrupted(Reason::Deadline) => index += 1,
                _ => drop(open.remove(index)),
            }
        }
        slice = slice.saturating_mul(2);
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_engines::Answer;
    use shofar_horn::HornGraph;
    use shofar_horn::witness::GraphModel;
    use shofar_logic::TermStore;

    /// An engine that needs some time in one piece, and then has an answer or not.
    struct Takes(&'static str, u64, bool);

    impl Engine for Takes {
        fn name(&self) -> &'static str {
            self.0
        }

        fn description(&self) -> &'static str {
            "for tests"
        }

        fn accepts(&self, _: &HornGraph) -> Result<(), String> {
            Ok(())
        }

        fn solve(&self, _: &HornGraph, run: &Run<'_>) -> Answer {
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(self.1) {
                if let Some(reason) = run.limits.interruption() {
                    return Answer::Unknown(reason.into());
                }
                thread::sleep(Duration::from_millis(1));
            }
            if self.2 {
                Answer::Sat(GraphModel::default())
            } else {
                Answer::Unknown(Stop::Exhausted("it is over"))
            }
        }
    }

    fn winner(engines: Vec<Box<dyn Engine>>, jobs: usize, limits: Limits<'_>) -> Result<&'static str, Stop> {
        let store = TermStore::new();
        let run = Run { store: &store, limits, seed: 0, events: &() };
        let attempt = |engine: &dyn Engine, run: &Run<'_>| match engine.solve(&HornGraph::new(), run) {
            Answer::Unknown(stop) => Err(stop),
            _ => Ok(()),
        };
        race(&engines, jobs, &run, attempt).map(|((), engine)| engine)
    }

    fn engines() -> Vec<Box<dyn Engine>> {
        let never = u64::MAX;
        vec![
            Box::new(Takes("stuck", never, true)),
            Box::new(Takes("gives up", 1, false)),
            Box::new(Takes("stuck, too", never, true)),
            Box::new(Takes("slow", 400, true)),
        ]
    }

    #[test]
    fn whoever_has_an_answer_wins_on_any_number_of_lanes() {
        for jobs in [0, 1, 2, 3, 4, 9] {
            assert_eq!(winner(engines(), jobs, Limits::default()), Ok("slow"), "{jobs} jobs");
        }
    }

    #[test]
    fn the_limits_of_the_run_end_all_lanes() {
        let deadline = Instant::now().checked_add(Duration::from_millis(100));
        let ended = winner(engines(), 2, Limits { deadline, ..Limits::default() });
        assert_eq!(ended, Err(Stop::Interrupted(Reason::Deadline)));
        let cancel = AtomicBool::new(true);
        let ended = winner(engines(), 3, Limits { cancel: Some(&cancel), ..Limits::default() });
        assert_eq!(ended, Err(Stop::Interrupted(Reason::Cancelled)));
        assert_eq!(
            winner(vec![Box::new(Takes("a", 1, false))], 2, Limits::default()),
            Err(Stop::Exhausted("it is over"))
        );
    }
}
