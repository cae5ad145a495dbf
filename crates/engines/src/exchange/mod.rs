//! What engines on the same graph tell each other.
//!
//! A [`Fact`] is a statement about the graph that all engines of a run get, the *meeting graph*. An engine that works on
//! another form of it translates ([`StatePort`](states::StatePort)). A run has a [`Port`] if it takes part in an exchange; without
//! one an engine searches as if it were alone.
//!
//! The *height* of a derivable fact `P(c)` is the number of clauses on the longest branch of its derivation, less one: facts of
//! clauses without predicates in the body have height 0. In a transition system it is the number of steps.
//!
//! Two things could go wrong. A wrong answer cannot: the checker refuses it. But an answer could be *lost*: a model that needs a
//! formula that is true, but that nothing in the model proves. Hence these rules:
//!
//! - X1: only [`Fact::Closed`] is assumed without a check. Its formulas are inductive by themselves.
//! - X2: the model of an engine that has assumed closed sets is a model only together with them. The owner of the ports adds them
//!   to each model, so engines need not: every closed set that [`Port::receive`] has returned counts as assumed.
//! - X3: a bounded fact stays one. It becomes an invariant only by a proof.
//! - X4: what an engine proves with the help of closed sets depends on them. The port notes what had been received when a fact was
//!   sent, so that X2 can add all of it.
//! - X5: depths, counterexamples and atoms never enter a model. An engine that answers `unsat` has a derivation of its own.
//!
//! Who sends and uses what:
//!
//! | engine | sends | uses |
//! |---|---|---|
//! | `invariants` | closed sets | |
//! | `spacer` | lemmas that hold at all levels, as closed sets; pushed lemmas, as bounded facts; depths | closed sets as lemmas of all levels; bounded facts and atoms, once it has proved them in its own frames |
//! | `pdkind` | pushed lemmas with counterexamples, lemmas of reachability, as bounded facts; depths | closed sets in all frames; bounded facts as lemmas to push |
//! | `kind` | depths | closed sets that exclude a counterexample to induction; depths |
//! | `imc` | depths | closed sets in its transitions |
//! | `bmc` | depths | depths |
//! | `trl`, `abmc` | depths | closed sets that are known when it starts, in the labels of clauses |
//! | `lawi` | interpolants of infeasible paths, as atoms | closed sets as parts of all labels |
//! | `cegar` | | closed sets that are known when it starts, in the labels of clauses; all later lemmas and atoms as predicates to track |
//! | `tpa`, `split-tpa`, `kavy` | | closed sets that are known when they start, in the labels of clauses |
//!
//! Derivable states are not sent: they help to find counterexamples, and of the arithmetic benchmarks that the engines do not
//! solve, none is known to have one. Relations that contain the rounds of a loop are not sent either: `trl` learns them in
//! milliseconds, and where it ends without an answer they were too weak.
//!
//! Engines for datatypes share code instead of facts. What they would send each other takes milliseconds to compute, so each engine
//! computes what it needs, gives the same answers alone and in company, and has what it uses in its own witness: summaries
//! (`algebra/summaries.rs`), predicates that are functions (`functions.rs`), facts with variables (`words/facts.rs`), and values for
//! abstract derivations (`replay.rs`). The measurements are in `bench/README.md`.

pub(crate) mod states;
mod strengthen;

use shofar_horn::transform::Lemma;
use shofar_logic::Term;

pub(crate) use strengthen::strengthened;

/// A statement about the meeting graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fact {
    /// The formulas hold for all derivable facts of their nodes, and are inductive: for each clause, those of its body and the
    /// constraint imply those of its head. If a closed set was sent by an engine that has assumed others, they are inductive
    /// together with these.
    Closed(Vec<Lemma>),
    /// The formula holds for all facts up to a height.
    Bounded {
        /// The formula and its node.
        lemma: Lemma,
        /// The height.
        height: usize,
        /// The reason why the lemma was wanted, if it is known.
        cex: Option<Cex>,
    },
    /// No query is violated by facts up to this height.
    Depth(usize),
    /// No claim: a formula that has excluded something in the search of an engine, and is worth trying elsewhere, as a lemma or as a
    /// predicate.
    Atom(Lemma),
}

/// States that must not be reached. They are given by a formula over the variables of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cex {
    /// The states. The lemma to which they belong excludes them.
    pub states: Term,
    /// The exact number of steps in which each of them leads to a violated query, that of the query not counted.
    pub distance: usize,
}

/// The number of a fact in an exchange.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FactId(pub u32);

/// What became of a received fact. An exchange keeps count, to learn which engines help each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The engine uses it: it assumes it, or has proved it.
    Accepted,
    /// The engine could not prove it, or has no use for it.
    Refused,
    /// It has saved work: it is part of a proof, or has made a search unnecessary.
    Useful,
}

/// One run's connection to others. Senders are trusted: a wrong fact costs an answer, but never makes one wrong (X1 to X5).
pub trait Port: Sync {
    /// Sends a fact of this run.
    fn send(&self, fact: Fact);

    /// The facts that others have sent since the last call. Closed sets among them count as assumed (X2).
    fn receive(&self) -> Vec<(FactId, Fact)>;

    /// Says what became of a received fact.
    fn rate(&self, fact: FactId, fate: Fate);
}
