//! Limits of a computation, and the reasons why it ends.
//!
//! Every long computation gets [`Limits`]: a deadline, a memory limit for the process, a cancel flag, and a [`Gate`]
//! where it waits for its turn. It polls them regularly, and ends with a [`Reason`] if one is reached. [`Stop`] is the
//! only error of a computation without a result: it was interrupted, something is not supported, the method is
//! exhausted, or Shofar has a bug. No layer between the reader and the command line translates a `Stop` into its own
//! type, and its `Display` is the only wording of each event.
//!
//! [`OptionError`] is a mistake in the options of a run, such as a misspelt engine.
//!
//! This crate is the lowest one, so that reading is bounded in the same way as solving.

mod gate;
mod limits;
mod nearest;
mod option;
mod stop;

pub use gate::Gate;
pub use limits::{Limits, Poll, memory_in_use};
pub use nearest::{did_you_mean, nearest};
pub use option::OptionError;
pub use stop::{Reason, Stop};
