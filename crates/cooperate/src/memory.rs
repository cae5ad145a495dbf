//! Chooses the engine that must end when memory becomes scarce.
//!
//! The system tells how much memory the process uses, but not which thread uses it. So the growth of the process since the last
//! check counts as used by the engines that ran since then, in equal parts, and its shrinking as freed by them. With one place
//! this is exact, apart from memory that others freed meanwhile. With several places, a greedy engine runs beside different
//! engines in the course of time and stands out.
//!
//! - M1: at the *threshold*, three quarters of the limit, the engine that uses most memory must end, unless it is the only one
//!   left. Among equals it is the last one.
//! - M2: until it has ended, no other engine must end, but beyond the limit all others wait for it. Terms stay, and freed memory need
//!   not return to the system. So the next threshold is half way between the memory of the process at that time and the limit, if
//!   that is more than the first one.
//! - M3: if one engine is left, or no engine uses memory, the whole run ends at the limit itself.
//!
//! Without a limit, three quarters of the machine's memory are the limit. Beyond that, the system would kill the process or slow
//! down.

use std::cell::LazyCell;
use std::fs;
use std::time::{Duration, Instant};

/// The interval between two checks of the memory, each of which asks the system.
const INTERVAL: Duration = Duration::from_millis(20);

/// The interval between two reports.
const NEWS_INTERVAL: Duration = Duration::from_millis(100);

/// The change of an engine's memory, in bytes, that is reported.
const NEWS: usize = 1 << 20;

/// How an engine can change the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    /// It has not started.
    Possible,
    /// It waits.
    Constant,
    /// It runs.
    Growing,
    /// It has ended.
    Over,
}

/// What the portfolio must do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Advice {
    GoOn,
    /// This engine has to end.
    Stop(usize),
    /// All engines have to end.
    StopAll,
}

/// Counts the memory that each engine uses.
pub(crate) struct Memory {
    /// Many runs end before anybody asks for the limit.
    limit: LazyCell<usize, Box<dyn FnOnce() -> usize>>,
    /// The least threshold after an engine has ended, by M2.
    raised: usize,
    next_look: Instant,
    /// The memory of the process at the last check.
    in_use: Option<usize>,
    /// By engine: the bytes that it uses, and the most that it has used.
    used: Vec<usize>,
    most: Vec<usize>,
    /// By engine: the bytes that [`news`](Self::news) has reported; and when it reports again.
    told: Vec<usize>,
    next_news: Instant,
    stopped: Vec<bool>,
    /// The engine that has to end and has not ended yet.
    ending: Option<usize>,
}

impl Memory {
    /// Counts for this number of engines.
    pub(crate) fn new(limit: Option<usize>, engines: usize) -> Self {
        let now = Instant::now();
        let of_machine = || of_machine().map_or(usize::MAX, |bytes| bytes / 4 * 3);
        Memory {
            limit: LazyCell::new(Box::new(move || limit.unwrap_or_else(of_machine))),
            raised: 0,
            next_look: now.checked_add(INTERVAL).unwrap_or(now),
            in_use: None,
            used: vec![0; engines],
            most: vec![0; engines],
            told: vec![0; engines],
            next_news: now,
            stopped: vec![false; engines],
            ending: None,
        }
    }

    /// Whether an engine was told to end.
    pub(crate) fn has_stopped(&self, engine: usize) -> bool {
        self.stopped[engine]
    }

    /// The engine that all others wait for, by M2.
    pub(crate) fn awaited(&self) -> Option<usize> {
        self.ending.filter(|_| self.in_use.is_some_and(|in_use| in_use > *self.limit))
    }

    /// The threshold of M1.
    fn threshold(&self) -> usize {
        self.raised.max(*self.limit / 4 * 3)
    }

    /// The most bytes that an engine has used.
    pub(crate) fn most(&self, engine: usize) -> usize {
        self.most[engine]
    }

    /// The engines whose memory has changed since the last report, with the bytes that they use now.
    pub(crate) fn news(&mut self) -> Vec<(usize, usize)> {
        let now = Instant::now();
        if now < self.next_news {
            return Vec::new();
        }
        self.next_news = now.checked_add(NEWS_INTERVAL).unwrap_or(now);
        let engines = self.told.iter_mut().zip(&self.used).enumerate();
        let changed = engines.filter(|(_, (told, used))| told.abs_diff(**used) >= NEWS);
        changed
            .map(|(engine, (told, &used))| {
                *told = used;
                (engine, used)
            })
            .collect()
    }

    /// Whether it is time to call [`advice`](Self::advice).
    pub(crate) fn is_time_to_look(&mut self) -> bool {
        let now = Instant::now();
        let is_time = now >= self.next_look;
        if is_time {
            self.next_look = now.checked_add(INTERVAL).unwrap_or(now);
        }
        is_time
    }

    /// Attributes the change of the process's memory to the engines that ran. The portfolio also calls it when turns end
    /// between two checks, before other engines run.
    pub(crate) fn count(&mut self, in_use: usize, engine: impl Fn(usize) -> Use) {
        let growing: Vec<usize> =
            (0..self.used.len()).filter(|&index| engine(index) == Use::Growing).collect();
        let before = self.in_use.replace(in_use).unwrap_or(in_use);
        let share = |bytes: usize| bytes / growing.len().max(1);
        for &index in &growing {
            let grown = self.used[index] + share(in_use.saturating_sub(before));
            self.used[index] = grown.saturating_sub(share(before.saturating_sub(in_use)));
            self.most[index] = self.most[index].max(self.used[index]);
        }
    }

    /// What to do if the process uses this number of bytes.
    pub(crate) fn advice(&mut self, in_use: usize, engine: impl Fn(usize) -> Use) -> Advice {
        self.count(in_use, &engine);
        let numbers = 0..self.used.len();
        if let Some(index) = self.ending {
            if engine(index) != Use::Over {
                return Advice::GoOn;
            }
            // By M2.
            self.ending = None;
            self.raised = self.raised.max(in_use.saturating_add(self.limit.saturating_sub(in_use) / 2));
        }
        let left = numbers.clone().filter(|&index| engine(index) != Use::Over);
        let greedy = left.clone().filter(|&index| engine(index) != Use::Possible && self.used[index] > 0);
        match greedy.max_by_key(|&index| (self.used[index], index)) {
            Some(index) if left.count() > 1 => {
                if in_use < self.threshold() {
                    return Advice::GoOn;
                }
                self.ending = Some(index);
                self.stopped[index] = true;
                Advice::Stop(index)
            }
            _ if in_use > *self.limit => Advice::StopAll,
            _ => Advice::GoOn,
        }
    }
}

/// The bytes that this process may use on this machine, if the system tells.
fn of_machine() -> Option<usize> {
    let kibibytes =
        |line: &str| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse().ok();
    let total = fs::read_to_string("/proc/meminfo").ok();
    let total =
        total.and_then(|text| text.lines().find_map(kibibytes)).map(|kib: usize| kib.saturating_mul(1024));
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok());
    [total, group].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(limit: usize, engines: usize) -> Memory {
        Memory::new(Some(limit), engines)
    }

    #[test]
    fn the_greedy_one_ends_and_the_others_go_on() {
        let mut memory = memory(1000, 3);
        let all = |_| Use::Growing;
        assert_eq!(memory.advice(100, all), Advice::GoOn);
        // The first and the second one run side by side, then the second and the third one.
        assert_eq!(
            memory.advice(300, |index| if index < 2 { Use::Growing } else { Use::Possible }),
            Advice::GoOn
        );
        assert_eq!(
            memory.advice(750, |index| if index > 0 { Use::Growing } else { Use::Constant }),
            Advice::Stop(1)
        );
        // Until it has ended nobody else does, whatever happens; beyond the limit they wait.
        assert_eq!((memory.advice(1000, all), memory.awaited()), (Advice::GoOn, None));
        assert_eq!((memory.advice(1100, all), memory.awaited()), (Advice::GoOn, Some(1)));
        assert!(memory.has_stopped(1) && !memory.has_stopped(2));
        let without = |index| if index == 1 { Use::Over } else { Use::Growing };
        assert_eq!((memory.advice(800, without), memory.awaited()), (Advice::GoOn, None));
        assert_eq!(memory.threshold(), 900);
        assert_eq!(memory.advice(890, without), Advice::GoOn);
        assert_eq!(memory.advice(900, without), Advice::Stop(2));
        // What was freed does not count less among the most.
        assert_eq!(
            memory.advice(100, |index| if index == 0 { Use::Growing } else { Use::Over }),
            Advice::GoOn
        );
        assert_eq!([0, 1, 2].map(|index| memory.most(index)), [216, 441, 341]);
    }

    #[test]
    fn the_last_one_may_have_all_there_is() {
        let mut memory = memory(1000, 2);
        let first = |index| if index == 0 { Use::Growing } else { Use::Over };
        for (in_use, advice) in [(100, Advice::GoOn), (999, Advice::GoOn), (1001, Advice::StopAll)] {
            assert_eq!(memory.advice(in_use, first), advice);
        }
    }

    #[test]
    fn nobody_is_blamed_for_what_was_there_before() {
        let mut memory = memory(1000, 2);
        assert_eq!(memory.advice(900, |_| Use::Growing), Advice::GoOn);
        assert_eq!(memory.advice(900, |_| Use::Growing), Advice::GoOn);
        assert_eq!(memory.advice(1001, |_| Use::Possible), Advice::StopAll);
    }

    #[test]
    fn changes_of_a_mebibyte_are_news_once() {
        const MIB: usize = 1 << 20;
        let mut memory = memory(1000 * MIB, 2);
        let first = |index| if index == 0 { Use::Growing } else { Use::Constant };
        let mut news_at = |in_use: usize| {
            memory.count(in_use, first);
            memory.next_news = Instant::now();
            memory.news()
        };
        assert_eq!(news_at(10 * MIB), []);
        assert_eq!(news_at(11 * MIB - 1), []);
        assert_eq!(news_at(12 * MIB), [(0, 2 * MIB)]);
        assert_eq!(news_at(12 * MIB), []);
        assert_eq!(news_at(11 * MIB), [(0, MIB)]);
        memory.count(20 * MIB, first);
        memory.next_news = Instant::now() + NEWS_INTERVAL;
        assert_eq!(memory.news(), []);
    }
}
