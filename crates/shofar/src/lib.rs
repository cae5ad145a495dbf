//! Shofar decides constrained Horn clauses and proves its answers. This is the crate that other programs use.
//!
//! Terms live in a [`TermStore`]. A [`HornSystem`] is read from text by [`parse`] or made in memory by a
//! [`SystemBuilder`]; [`solve`] decides it with the [`Options`] and within the limits of a [`Run`], and gives a
//! [`Verdict`] with its witness. The witness has been checked against the clauses, and can be printed or walked through.
//!
//! ```
//! use shofar::{Options, Run, TermStore, Verdict, WitnessFormat, parse, solve};
//! use std::time::Duration;
//!
//! let text = b"(declare-fun count (Int) Bool)
//!              (assert (count 0))
//!              (assert (forall ((x Int)) (=> (and (count x) (< x 5)) (count (+ x 1)))))
//!              (assert (forall ((x Int)) (=> (and (count x) (> x 5)) false)))";
//! let store = TermStore::new();
//! let system = parse(&store, "count.smt2", text)?;
//! let limits = Run::new(&store).with_timeout(Duration::from_secs(10)).with_memory(1 << 30);
//! let outcome = solve(&system, &Options::default(), &limits);
//! assert!(matches!(outcome.verdict, Verdict::Sat(_)));
//! let model = outcome.verdict.witness().expect("sat has a model");
//! assert!(model.to_text(&store, &system, WitnessFormat::Text).contains("(define-fun count ((x Int)) Bool"));
//! # Ok::<(), shofar::ParseError>(())
//! ```
//!
//! The folder `examples` of this crate has a small program for each use: clauses from a file, clauses made in memory, own
//! choice of engines, witnesses, progress and cancelling.
//!
//! What is exported here comes from the crates below, which are exported, too: [`logic`] has terms, [`horn`] clauses,
//! transformations, witnesses and the checker, [`engines`] the engines, and [`smt`] the SMT solver, which can be used by
//! itself. [`driver`] says what happens between clauses and answer. Engines are chosen by the clauses
//! ([`schedule`]) unless they are named; the first answer whose witness the checker finds valid is the answer.

pub use shofar_cooperate::{ModelForm, Options, Outcome, Verdict, driver, readable, schedule, slot, solve};
pub use shofar_engines::{Event, EventSink, InterpolationMethod, Run};
pub use shofar_horn::witness::{Model, Refutation, Witness, WitnessFormat};
pub use shofar_horn::{
    BuildError, Format, HornSystem, ParseError, Position, PredicateId, SystemBuilder, check, parse,
};
pub use shofar_logic::{Op, Sort, Term, TermStore, Value};
pub use shofar_run::{Limits, Reason, Stop};
pub use {shofar_engines as engines, shofar_horn as horn, shofar_logic as logic, shofar_smt as smt};
