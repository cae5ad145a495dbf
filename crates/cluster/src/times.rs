//! All intervals in one place, so that tests can use shorter ones.

use std::time::Duration;

/// The intervals of clients, workers and connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// The time between two signs of life of a worker or a client.
    pub heartbeat: Duration,
    /// The time after which a silent worker is no longer listed.
    pub worker_ttl: Duration,
    /// The time after which the jobs of a silent worker are given to others.
    pub claim_after: Duration,
    /// The time after which the jobs of a silent client are dropped.
    pub client_ttl: Duration,
    /// The time after which the broker forgets a task and its answers.
    pub task_ttl: Duration,
    /// The time for which a worker keeps an answer that it cannot deliver.
    pub keep_answer: Duration,
    /// The time between two looks of a worker at whether its client still waits.
    pub look: Duration,
    /// The longest time that a command waits on the broker for a message.
    pub block: Duration,
    /// The first and the longest time between two attempts to connect.
    pub back_off: (Duration, Duration),
    /// The longest time for connecting, and for the reply to a command.
    pub patience: Duration,
    /// The time that a job has to end by itself after its limit.
    pub grace: Duration,
}

impl Default for Times {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Times {
            heartbeat: seconds(5),
            worker_ttl: seconds(15),
            claim_after: seconds(30),
            client_ttl: seconds(60),
            task_ttl: seconds(24 * 3600),
            keep_answer: seconds(600),
            look: Duration::from_millis(500),
            block: Duration::from_millis(500),
            back_off: (Duration::from_millis(200), seconds(10)),
            patience: seconds(5),
            grace: seconds(10),
        }
    }
}

impl Times {
    /// Times for tests: everything that takes seconds takes tenths of seconds.
    pub fn short() -> Self {
        let tenths = |number: u64| Duration::from_millis(100 * number);
        Times {
            heartbeat: tenths(5),
            worker_ttl: tenths(15),
            claim_after: tenths(25),
            client_ttl: tenths(60),
            look: tenths(2),
            block: tenths(1),
            back_off: (tenths(1), tenths(5)),
            ..Times::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A living worker keeps its place in the list and its jobs, even if one sign of life is late.
    #[test]
    fn two_signs_of_life_fit_into_each_time_to_live() {
        for times in [Times::default(), Times::short()] {
            let Times { heartbeat, worker_ttl, claim_after, client_ttl, .. } = times;
            assert!(worker_ttl > 2 * heartbeat && claim_after > 2 * heartbeat && client_ttl > 2 * heartbeat);
        }
    }
}
