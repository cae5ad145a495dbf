//! Constrained Horn clauses: reading, printing and analysing them.
//!
//! ```
//! use shofar_horn::{Format, parse};
//! use shofar_logic::TermStore;
//!
//! let text = b"(declare-fun P (Int) Bool)
//!              (assert (P 0))
//!              (assert (forall ((x Int)) (=> (P x) (>= x 0))))";
//! let store = TermStore::new();
//! let system = parse(&store, "example.smt2", text).unwrap();
//! assert_eq!(system.clauses.len(), 2);
//! assert!(system.clauses[0].is_fact() && system.clauses[1].is_query());
//! assert_eq!(system.info(&store).track, Some("LIA-Lin"));
//! assert!(system.to_text(&store, Format::Dot).starts_with("digraph"));
//!
//! let error = parse(&store, "example.smt2", b"(assert (Q 1))").unwrap_err();
//! assert_eq!(error.to_string(), "example.smt2:1:10: undeclared symbol `Q`");
//! ```

pub mod acceleration;
pub mod builder;
pub mod cfa;
pub mod check;
mod clausify;
mod context;
mod frontend;
pub mod graph;
pub mod ground;
pub mod hull;
pub mod infix;
mod info;
mod print;
mod quantifiers;
mod reachability;
pub mod scc;
mod system;
pub mod transform;
mod transition;
pub mod witness;

pub use builder::{BuildError, ClauseBuilder, SystemBuilder};
pub use context::Context;
pub use frontend::{
    ParseError, ParseErrorKind, Unread, declared_names, parse, parse_all, parse_all_within,
    parse_each_within, parse_first_within, parse_in, parse_question_within, parse_within,
};
pub use graph::HornGraph;
pub use info::{Info, LargestClause, PredicateInfo, Theories};
pub use print::Format;
pub use system::{Atom, Clause, HornSystem, Position, PredicateId};
pub use transition::TransitionSystem;
