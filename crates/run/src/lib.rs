//! How long work may go on, and why it ends.
//!
//! Everything that can take long is given [`Limits`]: a deadline, a bound on the memory of the process, a cancel flag, and
//! a [`Gate`] where it waits for its turn. It asks them now and then, and ends with a [`Reason`] where they say so.
//! [`Stop`] is the one answer of work that has no result: it was interrupted, something is not supported, the method is
//! exhausted, or Shofar has a mistake. No layer translates a `Stop` into a type of its own on the way from the reader to the
//! command line, and its `Display` is the only wording of each event.
//!
//! This crate is the lowest one, so that reading text is bounded in the same way as solving.

mod gate;
mod limits;
mod stop;

pub use gate::Gate;
pub use limits::{Limits, Poll, memory_in_use};
pub use stop::{Reason, Stop};
