//! `--stats`: a table of times and counters, for each question of the file.
//!
//! The table begins with the whole run; reading the file is part of the first question. A group for each engine follows, that
//! of the answer first. If an engine goes through a phase several times, the times add up. The memory of an engine is its
//! maximum as the portfolio counts it; the memory of the run is that of the process at the end.

use std::time::Duration;

use shofar_engines::{Event, Label};
use shofar_run::memory_in_use;

/// The figures of a question so far.
#[derive(Default)]
pub(crate) struct Statistics {
    run: Group,
    engines: Vec<(Label, Group)>,
}

#[derive(Default)]
struct Group {
    /// Why the engine ended.
    end: String,
    rows: Vec<(String, Value)>,
}

#[derive(Clone, Copy)]
enum Value {
    Time(Duration),
    Number(u64),
    Bytes(usize),
}

impl Group {
    fn add_time(&mut self, name: String, time: Duration) {
        match self.rows.iter_mut().find(|(known, _)| *known == name) {
            Some((_, Value::Time(sum))) => *sum += time,
            _ => self.rows.push((name, Value::Time(time))),
        }
    }
}

impl Statistics {
    /// Adds the figures of an event.
    pub(crate) fn hear(&mut self, event: &Event) {
        match event {
            Event::Phase { name, engine, time } => {
                let group = engine.as_ref().map_or(&mut self.run, |engine| group(&mut self.engines, engine));
                group.add_time(format!("time.{}", name.replace(' ', "-")), *time);
            }
            Event::Pass(report) => self.run.add_time(format!("pass.{}", report.name), report.time),
            Event::Statistics { engine, counters, .. } => {
                let rows = counters.iter().map(|&(name, value)| (name.to_owned(), Value::Number(value)));
                group(&mut self.engines, engine).rows.extend(rows);
            }
            Event::Stopped { engine, reason, time, memory } => {
                let reason = reason.as_ref().map_or_else(|| "has the answer".to_owned(), ToString::to_string);
                let group = group(&mut self.engines, engine);
                group.end = format!("{:.3} s, {reason}", time.as_secs_f64());
                group.rows.push(("memory".to_owned(), Value::Bytes(*memory)));
            }
            Event::Helped { from, to, received, accepted, useful } => {
                let counts = [("received", received), ("accepted", accepted), ("useful", useful)];
                let rows =
                    counts.map(|(name, &count)| (format!("facts.{from}.{name}"), Value::Number(count)));
                group(&mut self.engines, to).rows.extend(rows);
            }
            _ => {}
        }
    }

    /// The table, given the number of the question if there are several, the engine of the answer and the time for it.
    pub(crate) fn table(&self, query: Option<usize>, engine: Option<&str>, time: Duration) -> String {
        let mut table = Table::default();
        if let Some(query) = query {
            table.row("query", &query.to_string());
        }
        table.row("engine", engine.unwrap_or("none"));
        table.row("time", &in_seconds(time));
        if let Some(bytes) = memory_in_use() {
            table.row("memory", &in_mebibytes(bytes));
        }
        table.group(&self.run);
        let mut engines: Vec<&(Label, Group)> = self.engines.iter().collect();
        engines.sort_by_key(|(name, _)| Some(&**name) != engine);
        for (name, group) in engines {
            table.row(&format!("{name} ({})", group.end), "");
            table.group(group);
        }
        table.text
    }
}

/// Names and values in two columns.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) text: String,
}

impl Table {
    pub(crate) fn row(&mut self, name: &str, value: &str) {
        let line = format!("{name:<32} {value:>14}");
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn group(&mut self, group: &Group) {
        for (name, value) in &group.rows {
            let value = match value {
                Value::Time(time) => in_seconds(*time),
                Value::Number(number) => number.to_string(),
                Value::Bytes(bytes) => in_mebibytes(*bytes),
            };
            self.row(&format!("  {name}"), &value);
        }
    }
}

fn group<'a>(engines: &'a mut Vec<(Label, Group)>, engine: &Label) -> &'a mut Group {
    let known = engines.iter().position(|(name, _)| name == engine);
    let index = known.unwrap_or_else(|| {
        engines.push((engine.clone(), Group::default()));
        engines.len() - 1
    });
    &mut engines[index].1
}

pub(crate) fn in_mebibytes(bytes: usize) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

pub(crate) fn in_seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}
