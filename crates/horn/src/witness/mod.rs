//! Witnesses: models and refutations, of the user's systems and of graphs.
//!
//! Engines and transformations use [`GraphModel`] and [`Derivation`]. Users see, and the checker checks, [`Model`] and
//! [`Refutation`], which refer only to the [`HornSystem`]. [`Witness::write`] prints them, one file per format;
//! [`read`] reads them again, and the models of other solvers. For people, [`Model::readable`] simplifies models,
//! [`Trace`] shows refutations in program order, and [`Witness::explain`] explains both.

mod alethe;
mod automaton;
mod explain;
mod folds;
mod graph;
mod hyper;
mod induction;
mod interpretation;
mod json;
mod meaning;
mod model;
mod names;
mod notation;
mod prenex;
mod read;
mod readable;
mod redundancy;
mod refutation;
mod saturation;
mod shared;
mod text;
mod trace;
mod tree;

use std::io;

use shofar_logic::TermStore;

use crate::system::HornSystem;

pub use automaton::{AutomatonRule, TreeAutomaton};
pub use explain::{Explanation, Role, clause_roles};
pub use folds::Recursion;
pub(crate) use folds::{NamedLemma, family_text};
pub use graph::{Derivation, GraphModel, GraphStep};
pub use induction::{Induction, JointLemma, Premise};
pub use interpretation::Interpretation;
pub use json::JsonWitness;
pub use meaning::in_words;
pub(crate) use model::claims;
pub use model::{Definition, Model};
pub(crate) use names::FreeNames;
pub use names::parameters;
pub(crate) use notation::written;
pub(crate) use prenex::prenex;
pub use read::{read, read_within};
pub use refutation::{Refutation, Step};
pub use saturation::{AtomOrder, PureAtom, PureClause, Relation, Saturation, Weights};
pub use trace::{Argument, Line, Trace};

/// The proof of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Witness {
    /// The proof of `sat`.
    Model(Model),
    /// A proof of `sat` that is not a model: it says that the clauses have one.
    Induction(Induction),
    /// Another such proof: clauses that are saturated.
    Saturation(Saturation),
    /// The proof of `unsat`.
    Refutation(Refutation),
}

/// An output format of witnesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WitnessFormat {
    /// Models as definitions in the format of the CHC competition; refutations as numbered steps.
    Text,
    /// Refutations as an indented tree for people; models as text.
    Tree,
    /// JSON.
    Json,
    /// Refutations as Alethe proofs, for other checkers; models as text.
    Alethe,
    /// Refutations as proofs by hyper-resolution, as Z3 prints them; models as text.
    Hyper,
}

impl Model {
    /// Writes the model of a system in a format.
    pub fn write(
        &self,
        store: &TermStore,
        system: &HornSystem,
        format: WitnessFormat,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        let mut printer = Printer { store, system, out };
        match format {
            WitnessFormat::Json => printer.json_model(self),
            _ => printer.text_model(self),
        }
    }
}

impl Induction {
    /// Writes the proof for a system in a format.
    pub fn write(
        &self,
        store: &TermStore,
        system: &HornSystem,
        format: WitnessFormat,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        let mut printer = Printer { store, system, out };
        match format {
            WitnessFormat::Json => printer.json_induction(self),
            _ => printer.text_induction(self),
        }
    }
}

impl Saturation {
    /// Writes the proof for a system in a format.
    pub fn write(
        &self,
        store: &TermStore,
        system: &HornSystem,
        format: WitnessFormat,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        let mut printer = Printer { store, system, out };
        match format {
            WitnessFormat::Json => printer.json_saturation(self),
            _ => printer.text_saturation(self),
        }
    }
}

impl Refutation {
    /// Writes the refutation of a system in a format.
    pub fn write(
        &self,
        store: &TermStore,
        system: &HornSystem,
        format: WitnessFormat,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        let mut printer = Printer { store, system, out };
        match format {
            WitnessFormat::Text => printer.text_refutation(self),
            WitnessFormat::Tree => printer.tree(self),
            WitnessFormat::Json => printer.json_refutation(self),
            WitnessFormat::Alethe => printer.alethe(self),
            WitnessFormat::Hyper => printer.hyper_resolution(self),
        }
    }
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
        match self {
            Witness::Model(model) => model.write(store, system, format, out),
            Witness::Induction(proof) => proof.write(store, system, format, out),
            Witness::Saturation(proof) => proof.write(store, system, format, out),
            Witness::Refutation(refutation) => refutation.write(store, system, format, out),
        }
    }

    /// The witness as a value that serialises to the same JSON as [`write`](Witness::write), for embedding in other
    /// JSON.
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
