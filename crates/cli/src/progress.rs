//! Progress on a terminal: a line for each running engine, and one for the whole run.
//!
//! [`Display`] redraws the lines in place, at most ten times a second, and erases them when the answer comes. It draws nothing
//! if standard error is not a terminal or `TERM` is `dumb`.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use shofar_engines::{Event, Label};
use shofar_run::memory_in_use;
use terminal_size::{Height, Width, terminal_size_of};

/// The least time between two redraws.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

/// The time before the first drawing. Short runs show no progress.
const DELAY: Duration = Duration::from_millis(300);

/// The least width of the column of engines; it keeps the layout stable.
const LEAST_COLUMN: usize = 10;

/// The counters on a line, with their titles, in three kinds: what the engine has learnt, its open work, and its queries.
/// Of each kind the line shows the first counter that the engine has.
const COUNTERS: &[&[(&str, &str)]] = &[
    &[
        ("lemmas", "lemmas"),
        ("lemmas.added", "lemmas"),
        ("interpolants", "interpolants"),
        ("refinements", "refinements"),
    ],
    &[
        ("obligations", "obligations"),
        ("reach.goals", "obligations"),
        ("summaries", "summaries"),
        ("images", "images"),
        ("covers", "covers"),
        ("slots", "slots"),
    ],
    &[("solver.queries", "queries"), ("queries", "queries")],
];

/// The progress lines.
pub(crate) struct Display {
    start: Instant,
    last: Instant,
    /// The number of lines on the terminal.
    drawn: usize,
    engines: Vec<Line>,
    /// The facts that engines have sent, and how often one was of use.
    facts: (u64, u64),
    /// The workers that help, and the facts that came in and went out.
    workers: usize,
    outside: (u64, u64),
}

/// An engine that has started and not ended.
struct Line {
    engine: Label,
    /// The start of its current turn; `None` while it waits.
    since: Option<Instant>,
    /// The time of its earlier turns.
    ran: Duration,
    /// Its memory in bytes.
    memory: usize,
    depth: Option<u64>,
    counters: Vec<(&'static str, u64)>,
}

impl Display {
    /// An empty display; `None` if standard error cannot show one.
    pub(crate) fn new(start: Instant) -> Option<Self> {
        let is_dumb = env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
        let is_possible = io::stderr().is_terminal() && !(cfg!(unix) && is_dumb);
        is_possible.then(|| Display::empty(start))
    }

    fn empty(start: Instant) -> Self {
        let (facts, workers, outside) = ((0, 0), 0, (0, 0));
        Display { start, last: start, drawn: 0, engines: Vec::new(), facts, workers, outside }
    }

    /// So many workers help.
    #[cfg(feature = "cluster")]
    pub(crate) fn set_workers(&mut self, workers: usize) {
        self.workers = workers;
    }

    /// Updates the lines by an event.
    pub(crate) fn hear(&mut self, event: &Event) {
        let now = Instant::now();
        match event {
            Event::Started { engine } => self.engines.push(Line {
                engine: engine.clone(),
                since: Some(now),
                ran: Duration::ZERO,
                memory: 0,
                depth: None,
                counters: Vec::new(),
            }),
            Event::Paused { engine } => {
                if let Some(line) = self.line(engine) {
                    line.ran = line.time(now);
                    line.since = None;
                }
            }
            Event::Resumed { engine } => {
                if let Some(line) = self.line(engine) {
                    line.since = Some(now);
                }
            }
            Event::Progress { engine, depth, counters } => {
                if let Some(line) = self.line(engine) {
                    line.depth = Some(*depth);
                    line.counters.clone_from(counters);
                }
            }
            Event::Memory { engine, bytes } => {
                if let Some(line) = self.line(engine) {
                    line.memory = *bytes;
                }
            }
            Event::Facts { sent, accepted } => self.facts = (*sent, *accepted),
            Event::Outside { received, sent, .. } => self.outside = (*received, *sent),
            Event::Stopped { engine, .. } => self.engines.retain(|line| line.engine != *engine),
            _ => {}
        }
    }

    fn line(&mut self, engine: &str) -> Option<&mut Line> {
        self.engines.iter_mut().find(|line| line.engine == engine)
    }

    /// Redraws the lines, if it is time.
    pub(crate) fn redraw(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.last) < INTERVAL || now.duration_since(self.start) < DELAY {
            return;
        }
        self.last = now;
        let size = terminal_size_of(io::stderr()).unwrap_or((Width(80), Height(24)));
        let lines = self.lines(now, size, memory_in_use());
        let mut picture = self.erasure();
        for line in &lines {
            picture.push_str(line);
            picture.push('\n');
        }
        self.drawn = lines.len();
        // Progress that cannot be shown is lost without harm.
        let _ = io::stderr().write_all(picture.as_bytes());
    }

    /// Erases the lines.
    pub(crate) fn clear(&mut self) {
        let erasure = self.erasure();
        self.drawn = 0;
        let _ = io::stderr().write_all(erasure.as_bytes());
    }

    /// The control sequence that moves the cursor to the first line and erases everything below.
    fn erasure(&self) -> String {
        if self.drawn == 0 { String::new() } else { format!("\r\x1b[{}A\x1b[J", self.drawn) }
    }

    /// The lines for a terminal of this size. Each is shorter than the terminal is wide, so that none wraps. They are aligned
    /// in columns if these fit.
    fn lines(
        &self,
        now: Instant,
        (Width(width), Height(height)): (Width, Height),
        memory: Option<usize>,
    ) -> Vec<String> {
        let running = self.engines.iter().filter(|line| line.since.is_some());
        let most = usize::from(height).saturating_sub(2);
        let column = running.clone().map(|line| line.engine.len() + 1).max().unwrap_or(0).max(LEAST_COLUMN);
        // Names and numbers are ASCII.
        let width = usize::from(width).saturating_sub(1);
        let mut lines: Vec<String> = running.take(most).map(|line| line.text(now, column)).collect();
        if lines.iter().any(|line| line.len() > width) {
            for line in &mut lines {
                *line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            }
        }
        let waiting = self.engines.iter().filter(|line| line.since.is_none()).count();
        let mut whole = format!("{:.1} s", now.duration_since(self.start).as_secs_f64());
        if let Some(bytes) = memory {
            whole.push_str(&format!(", {} MiB", bytes >> 20));
        }
        if waiting > 0 {
            whole.push_str(&format!(", {waiting} waiting"));
        }
        if let (sent @ 1.., accepted) = self.facts {
            whole.push_str(&format!(", {} facts, {} used", short(sent), short(accepted)));
        }
        if self.workers > 0 {
            let plural = if self.workers == 1 { "" } else { "s" };
            whole.push_str(&format!(", {} worker{plural}", self.workers));
        }
        if self.outside != (0, 0) {
            let (received, sent) = self.outside;
            whole.push_str(&format!(", {} facts in, {} out", short(received), short(sent)));
        }
        lines.push(whole);
        lines.iter_mut().for_each(|line| line.truncate(width));
        lines
    }
}

impl Line {
    fn time(&self, now: Instant) -> Duration {
        self.ran + self.since.map_or(Duration::ZERO, |since| now.duration_since(since))
    }

    /// The line, with a column of this width for the engine.
    fn text(&self, now: Instant, column: usize) -> String {
        let depth = self.depth.map_or_else(|| "-".to_owned(), short);
        let (time, memory) = (self.time(now).as_secs_f64(), self.memory >> 20);
        let mut text = format!("{:<column$}{time:>7.1} s{memory:>6} MiB  depth {depth:<6}", self.engine);
        for kind in COUNTERS {
            let count = |&(name, title)| {
                self.counters.iter().find(|(counter, _)| *counter == name).map(|&(_, value)| (title, value))
            };
            if let Some((title, value)) = kind.iter().find_map(count) {
                text.push_str(&format!("  {title} {:<6}", short(value)));
            }
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// A number below a thousand million in at most six characters.
fn short(number: u64) -> String {
    match number {
        0..100_000 => number.to_string(),
        100_000..10_000_000 => format!("{}k", number / 1000),
        _ => format!("{}M", number / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn display() -> (Display, Instant) {
        let start = Instant::now();
        let mut display = Display::empty(start);
        display.hear(&Event::Started { engine: "spacer".into() });
        display.hear(&Event::Started { engine: "bmc".into() });
        let counters = vec![("levels", 3), ("obligations", 1_234_567), ("solver.queries", 12)];
        display.hear(&Event::Progress { engine: "spacer".into(), depth: 4, counters });
        display.hear(&Event::Memory { engine: "spacer".into(), bytes: 3 << 20 });
        (display, start + Duration::from_secs(2))
    }

    #[test]
    fn a_line_for_each_engine_that_runs() {
        let (mut display, now) = display();
        let wide = (Width(100), Height(24));
        let lines = display.lines(now, wide, Some(5 << 20));
        assert_eq!(lines[0], "spacer        2.0 s     3 MiB  depth 4       obligations 1234k   queries 12");
        assert_eq!(lines[1], "bmc           2.0 s     0 MiB  depth -");
        assert_eq!(lines[2], "2.0 s, 5 MiB");
        display.hear(&Event::Facts { sent: 40, accepted: 7 });
        assert_eq!(display.lines(now, wide, None)[2], "2.0 s, 40 facts, 7 used");
        display.hear(&Event::Facts { sent: 0, accepted: 0 });
        display.workers = 2;
        display.hear(&Event::Outside { received: 12, proved: 3, sent: 40 });
        assert_eq!(display.lines(now, wide, None)[2], "2.0 s, 2 workers, 12 facts in, 40 out");
        (display.workers, display.outside) = (0, (0, 0));
        display.hear(&Event::Paused { engine: "bmc".into() });
        assert_eq!(display.lines(now, wide, None)[1..], ["2.0 s, 1 waiting"]);
        display.hear(&Event::Stopped {
            engine: "spacer".into(),
            reason: None,
            time: Duration::ZERO,
            memory: 0,
        });
        display.hear(&Event::Resumed { engine: "bmc".into() });
        assert!(display.lines(now, wide, None)[0].starts_with("bmc"));
        display.hear(&Event::Started { engine: "split-tpa:chains=no".into() });
        let lines = display.lines(now, wide, None);
        assert!(lines[1].starts_with("split-tpa:chains=no     "), "{lines:?}");
        assert_eq!(lines[0].find(" s  depth"), lines[1].find(" s  depth"));
    }

    #[test]
    fn lines_fit_into_narrow_and_low_terminals() {
        let (display, now) = display();
        let lines = display.lines(now, (Width(60), Height(24)), None);
        assert_eq!(lines[0], "spacer 2.0 s 3 MiB depth 4 obligations 1234k queries 12");
        assert_eq!(lines[1], "bmc 2.0 s 0 MiB depth -");
        for width in [0, 1, 7, 30] {
            for line in display.lines(now, (Width(width), Height(24)), Some(0)) {
                assert!(line.len() < usize::from(width).max(1), "{line}");
            }
        }
        for (height, number) in [(0, 1), (1, 1), (3, 2), (24, 3)] {
            assert_eq!(display.lines(now, (Width(80), Height(height)), None).len(), number);
        }
    }
}
