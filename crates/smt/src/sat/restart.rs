//! Restarts when recent learnt clauses are worse than usual.
//!
//! The quality of a learnt clause is its glue. There are two exponential moving averages, a fast one over some 32
//! conflicts and a slow one over some 8192. When the fast one exceeds the slow one by a tenth, the search is in a bad
//! region and starts over, keeping activities, phases and the levels of the assumptions. Averages instead of Glucose's
//! queue (Audemard & Simon, "Refining Restarts Strategies for SAT and UNSAT", CP 2012) follow Biere & Fröhlich
//! ("Evaluating CDCL Restart Schemes", POS 2015). Following them, the smoothing factor starts at one and halves until
//! it reaches its value, so that the averages are meaningful from the first conflicts on.
//!
//! All numbers are fixed-point integers.

/// Binary digits behind the point.
const POINT: u32 = 32;
/// Restarts are at least this many conflicts apart.
const MIN_INTERVAL: u64 = 50;
/// Larger glues count as this: one huge clause must neither overflow an average nor dominate it.
const MAX_GLUE: u32 = 1 << 12;

/// An exponential moving average with smoothing factor `2^-shift`.
struct Average {
    value: i64,
    /// The current and the final exponent of the smoothing factor.
    shift: u32,
    target: u32,
    /// Samples until the factor is halved again.
    wait: u32,
}

impl Average {
    fn new(target: u32) -> Self {
        Self { value: 0, shift: 0, target, wait: 1 }
    }

    fn add(&mut self, sample: u32) {
        self.value += (((i64::from(sample)) << POINT) - self.value) >> self.shift;
        if self.shift < self.target {
            self.wait -= 1;
            if self.wait == 0 {
                self.shift += 1;
                self.wait = 1 << self.shift;
            }
        }
    }
}

/// The restart schedule.
pub(super) struct Restarts {
    fast: Average,
    slow: Average,
    since: u64,
}

impl Default for Restarts {
    fn default() -> Self {
        Self { fast: Average::new(5), slow: Average::new(13), since: 0 }
    }
}

impl Restarts {
    /// Records a learnt clause.
    pub(super) fn learnt(&mut self, glue: u32) {
        let glue = glue.min(MAX_GLUE);
        self.fast.add(glue);
        self.slow.add(glue);
        self.since += 1;
    }

    /// Whether a restart is due.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.since >= MIN_INTERVAL && self.fast.value / 11 > self.slow.value / 10
    }

    /// Records a restart or a new query.
    pub(super) fn restarted(&mut self) {
        self.since = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_of_a_constant_are_the_constant() {
        let mut average = Average::new(5);
        for _ in 0..100 {
            average.add(7);
            assert_eq!(average.value, 7 << POINT);
        }
    }

    #[test]
    fn first_samples_are_averaged_evenly_enough() {
        let mut average = Average::new(13);
        for sample in [2, 4, 6, 8] {
            average.add(sample);
        }
        assert!((3 << POINT..7 << POINT).contains(&average.value));
    }

    #[test]
    fn restarts_come_when_glue_worsens_and_not_when_it_is_steady() {
        let mut restarts = Restarts::default();
        for _ in 0..1000 {
            restarts.learnt(5);
            assert!(!restarts.is_due());
        }
        for _ in 0..20 {
            restarts.learnt(u32::MAX);
        }
        assert!(restarts.is_due());
        restarts.restarted();
        assert!(!restarts.is_due());
    }
}
