//! The exchange of facts between the engines of a run.
//!
//! Engines send facts about the graph that all of them get, and receive those of others when it suits them
//! ([`Port`](shofar_engines::Port)). The facts are in one log, to which entries are only added. So no reader ever waits: each port has
//! its own place in the log and reads on from there. Senders take one of a few short locks, by which facts that are known are dropped.
//!
//! - E1: an entry is visible only when it is complete. Readers see the entries of each sender in the order of sending.
//! - E2: a port returns each entry at most once, and none of its own.
//! - E3: an engine without a port searches as if there were no exchange.
//! - E4: the *basis* of a member has the closed sets that its facts may depend on: those that it has sent or received, and those that
//!   others had sent before it sent the same. A fact of the member needs the part of the basis that there was when it was sent, and
//!   what that needs in turn. The conjunction of all this is inductive (rules X2 and X4 of the engines).
//!
//! **What is sent on.** Large formulas cost every receiver, and few of them help; so do floods. A formula with more than
//! sixty subterms is not shown to others, though a closed set keeps it for E4. A bounded fact is dropped if the same formula is
//! known for the same height or as closed, or if its sender has sent more than its share. (T. Balyo, P. Sanders, C. Sinz, "HordeSat",
//! SAT 2015, and D. Schreiber, P. Sanders, "MallobSat", 2024, for bounded volumes and the filtering of repeats.)
//!
//! **Other processes.** [`text`] writes facts for them, and reads what they send. What comes from [`outside`] is checked first.
//!
//! **Determinism.** A run with exchange depends on timing. In rounds it does not; and a run can be recorded, to replay
//! each engine by itself ([`history`]). In both cases engines work apart, each in a branch of the store.
//!
//! **Statistics.** For each pair of members, how many facts were received, accepted and useful: which engines help each other.

mod apart;
mod company;
pub mod history;
mod log;
pub mod outside;
pub mod text;

use shofar_horn::transform::Lemma;
use shofar_horn::witness::{GraphModel, Interpretation};
use shofar_logic::TermStore;

pub(crate) use company::{Branches, Company};

/// Whether engines tell each other what they learn.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Exchanging {
    /// They do if the user has named them, or in a [class](crate::schedule::Class::exchanges) where it pays.
    #[default]
    Auto,
    /// They do.
    On,
    /// They do, at fixed steps of their work: the result does not depend on the clock or on the number of places, but takes longer.
    Rounds,
    /// Each engine searches as if it were alone.
    Off,
}

/// A model whose formulas also say what these lemmas do.
fn with_lemmas(
    store: &TermStore,
    mut model: GraphModel,
    lemmas: impl IntoIterator<Item = Lemma>,
) -> GraphModel {
    for lemma in lemmas {
        if let Some(Interpretation::Formula(formula)) = model.interpretations.get_mut(lemma.node.index()) {
            *formula = store.and2(*formula, lemma.formula);
        }
    }
    model
}
