//! The debug trace of engines (`tracing`).
//!
//! Trace points are for developers: lemmas, interpolants, depths. They carry the module as their target. Progress for users
//! and programs is reported as events instead (`event.rs`). Texts are made only if the trace is on.

use std::fmt;

use shofar_logic::{Term, TermStore};

/// Formulas, separated by commas.
pub(crate) struct Listed<'a>(pub(crate) &'a TermStore, pub(crate) &'a [Term]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, &formula) in self.1.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}", self.0.display(formula))?;
        }
        Ok(())
    }
}
