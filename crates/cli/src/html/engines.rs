//! The engines of a run in a page: how each of them ended, and what it had of others.

use shofar_engines::{Event, Label};

use super::{Escaped, counted};

/// The part of the page about engines, by the events of a run; empty without any.
pub(super) fn engines(events: &[Event]) -> String {
    let mut rows = String::new();
    for event in events {
        let Event::Stopped { engine, reason, time, .. } = event else { continue };
        let end = reason.as_ref().map_or_else(|| "has the answer".to_owned(), ToString::to_string);
        let name = Escaped::new(engine);
        rows += &format!(
            "<tr><th scope=\"row\">{name}</th><td>{:.2} s</td><td>{}{}</td></tr>\n",
            time.as_secs_f64(),
            Escaped::new(&end),
            help(events, engine)
        );
    }
    if rows.is_empty() {
        return rows;
    }
    format!("<div class=\"panel\" data-tab=\"Engines\">\n<h2>Engines</h2>\n<table>\n{rows}</table>\n</div>\n")
}

/// What an engine had of others.
fn help(events: &[Event], engine: &Label) -> String {
    let mut lines = String::new();
    for event in events {
        if let Event::Helped { from, to, received, accepted, useful } = event
            && to == engine
        {
            let facts = counted(usize::try_from(*received).unwrap_or(usize::MAX), "fact");
            let text = format!("{facts} of {from}: {accepted} used, {useful} saved work");
            lines += &format!("<div>{}</div>", Escaped::new(&text));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use shofar_run::Stop;

    use super::*;

    #[test]
    fn the_table_says_who_helped_whom() {
        let time = Duration::from_millis(1500);
        let stopped =
            |engine: &str, reason| Event::Stopped { engine: engine.into(), reason, time, memory: 0 };
        let events = [
            stopped("kind", None),
            stopped("a<b", Some(Stop::Exhausted("it is over"))),
            Event::Helped { from: "a<b".into(), to: "kind".into(), received: 3, accepted: 2, useful: 1 },
        ];
        let table = engines(&events);
        assert!(table.contains("<th scope=\"row\">kind</th><td>1.50 s</td><td>has the answer"), "{table}");
        assert!(table.contains("<div>3 facts of a&lt;b: 2 used, 1 saved work</div>"), "{table}");
        assert!(!table.contains("a<b"), "{table}");
        assert_eq!(engines(&[]), "");
    }
}
