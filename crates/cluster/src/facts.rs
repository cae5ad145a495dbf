//! Facts about a task, between a run in this process and the broker.
//!
//! Runs that have the same graph share a stream, `facts:TASK:GRAPH`. A run reads it from the beginning, so it gets what was learnt before
//! it started. The driver checks what comes in ([`Outside`]), and only reads and writes boxes; the owner of the connection
//! calls [`turn`](Facts::turn) now and then.

use std::sync::Arc;
use std::time::Duration;

use shofar_cooperate::exchange::outside::Outside;

use crate::broker::{Broker, Trouble};
use crate::message::{MOST_SMALL, Message, Name, Shared, TaskId};

/// The time for which the broker keeps facts after the last one.
const TIME: Duration = Duration::from_secs(600);

/// The facts of one run about a task.
pub struct Facts {
    outside: Arc<Outside>,
    task: TaskId,
    /// The name of this run among the senders.
    from: Name,
    /// The last entry that was read.
    last: String,
}

impl Facts {
    /// The facts of a run with this name.
    pub fn new(outside: Arc<Outside>, task: TaskId, from: Name) -> Self {
        Facts { outside, task, from, last: "0".to_owned() }
    }

    /// Sends what is new here, and reads what is new there. Nothing waits.
    pub fn turn(&mut self, broker: &mut Broker) -> Result<(), Trouble> {
        let Facts { outside, task, from, last } = self;
        let Some(graph) = outside.graph() else { return Ok(()) };
        let fact = |fact| Message::Fact(Shared { from: from.clone(), fact });
        let messages: Vec<Message> = outside.collect().into_iter().map(fact).collect();
        broker.add_facts(*task, graph, &messages, TIME)?;
        for entry in broker.facts(*task, graph, last)? {
            *last = entry.id;
            // What is no fact is dropped without a word: there may be many.
            if let Ok(Message::Fact(shared)) = Message::read(&entry.text, MOST_SMALL)
                && shared.from != *from
            {
                outside.deliver(shared.from.as_str(), shared.fact);
            }
        }
        Ok(())
    }
}
