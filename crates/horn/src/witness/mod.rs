//! Witnesses: models and refutations, of systems as the user wrote them and of graphs.
//!
//! Engines and transformations deal in [`GraphModel`] and [`Derivation`]; what users see and what the checker checks are
//! [`Model`] and [`Refutation`], which know nothing but the [`HornSystem`]. [`Witness::write`]
//! prints them, one file per format; [`read`] reads them again, and the models of other solvers. For people,
//! [`Model::readable`] puts models in plain words, [`Trace`] refutations in program order, and [`Witness::explain`] tells
//! what they say.

mod alethe;
mod explain;
mod graph;
mod interpretation;
mod json;
mod model;
mod names;
mod notation;
mod quantifiers;
mod read;
mod readable;
mod redundancy;
mod refutation;
mod text;
mod trace;
mod tree;

use std::io;

use shofar_logic::TermStore;

use crate::system::HornSystem;
use json::variable_name;

pub use explain::{Explanation, Role, clause_roles};
pub use graph::{Derivation, GraphModel, GraphStep};
pub use interpretation::Interpretation;
pub use json::JsonWitness;
pub use model::{Definition, Model};
pub use names::parameters;
pub use read::{read, read_within};
pub use refutation::{Refutation, Step};
pub use trace::{Argument, Line, Trace, value_text};

/// What proves an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Witness {
    /// For `sat`.
    Model(Model),
    /// For `unsat`.
    Refutation(Refutation),
}

/// A format that witnesses are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WitnessFormat {
    /// Models as definitions, as the CHC competition wants them; refutations as numbered steps.
    Text,
    /// Refutations as an indented tree for people; models as text.
    Tree,
    /// JSON.
    Json,
    /// Refutations as Alethe proofs, for other checkers; models as text.
    Alethe,
}

impl Witness {
    /// Writes the witness of a system in a format.
    pub fn write(
        &self,
        store: &TermStore,
        system: &HornSystem,
        format: WitnessFormat,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        let mut printer = Printer { store, system, out };
        match (self, format) {
            (Witness::Model(model), WitnessFormat::Json) => printer.json_model(model),
            (Witness::Model(model), _) => printer.text_model(model),
            (Witness::Refutation(refutation), WitnessFormat::Text) => printer.text_refutation(refutation),
            (Witness::Refutation(refutation), WitnessFormat::Tree) => printer.tree(refutation),
            (Witness::Refutation(refutation), WitnessFormat::Json) => printer.json_refutation(refutation),
            (Witness::Refutation(refutation), WitnessFormat::Alethe) => printer.alethe(refutation),
        }
    }

    /// The witness as a value that serialises to the JSON that [`write`](Witness::write) writes, to be put into other JSON.
    pub fn to_json(&self, store: &TermStore, system: &HornSystem) -> JsonWitness {
        JsonWitness::new(store, system, self)
    }

    /// The witness as text in a format.
    pub fn to_text(&self, store: &TermStore, system: &HornSystem, format: WitnessFormat) -> String {
        let mut out = Vec::new();
        self.write(store, system, format, &mut out).expect("writing to memory does not fail");
        String::from_utf8(out).expect("only text is written")
    }
}

/// Writes witnesses of a system. Each format has a file with its methods.
struct Printer<'a, W> {
    store: &'a TermStore,
    system: &'a HornSystem,
    out: &'a mut W,
}
