//! Shofar decides constrained Horn clauses and proves its answers.
//!
//! Program verifiers turn the question whether a program can go wrong into constrained Horn clauses. If the clauses are
//! *satisfiable*, the program is safe, and a model consists of its inductive invariants. If they are *unsatisfiable*, a refutation
//! is a run that goes wrong. Shofar finds a model or a refutation, and checks it before it returns it.
//!
//! This page is a tutorial. The names of the types lead to the reference.
//!
//! 1. [From text to an answer](#from-text-to-an-answer)
//! 2. [Clauses made in memory](#clauses-made-in-memory)
//! 3. [Engines and limits](#engines-and-limits)
//! 4. [Models](#models)
//! 5. [Refutations](#refutations)
//! 6. [Progress and cancelling](#progress-and-cancelling)
//! 7. [The SMT solver by itself](#the-smt-solver-by-itself)
//! 8. [Errors](#errors)
//!
//! # From text to an answer
//!
//! [`System::parse`] reads clauses in the format of the CHC competition, or in Z3's fixedpoint format. [`System::solve`] decides
//! them and returns a [`Verdict`]. Everything prints itself:
//!
//! ```
//! use shofar::{Options, System, Verdict};
//!
//! // x := 0; while x < 5 { x := x + 1 }; assert x <= 5
//! let text = "
//!     (declare-fun count (Int) Bool)
//!     (assert (count 0))
//!     (assert (forall ((x Int)) (=> (and (count x) (< x 5)) (count (+ x 1)))))
//!     (assert (forall ((x Int)) (=> (and (count x) (> x 5)) false)))";
//! let system = System::parse("count.smt2", text)?;
//! match system.solve(&Options::new()).verdict {
//!     Verdict::Sat(model) => println!("safe, because of\n{model}"),
//!     Verdict::Proved(proof) => println!("safe, because of\n{proof}"),
//!     Verdict::Saturated(proof) => println!("safe, because of\n{proof}"),
//!     Verdict::Unsat(refutation) => println!("not safe:\n{refutation}"),
//!     Verdict::Unknown(reason) => println!("not decided: {reason}"),
//! }
//! # let Verdict::Sat(model) = system.solve(&Options::new()).verdict else { panic!("the clauses have a model") };
//! # assert_eq!(model.to_string(), "(\n  (define-fun count ((x Int)) Bool\n    (<= x 5))\n)\n");
//! # Ok::<(), shofar::ParseError>(())
//! ```
//!
//! ```text
//! safe, because of
//! (
//!   (define-fun count ((x Int)) Bool
//!     (<= x 5))
//! )
//! ```
//!
//! # Clauses made in memory
//!
//! A verifier needs no text: a [`SystemBuilder`] makes clauses from [`Term`]s. Operations on terms return a `Result`, because
//! their sorts may not fit. A number can stand wherever its sort is known:
//!
//! ```
//! use shofar::{Options, Sort, SystemBuilder, Verdict};
//!
//! // x := 0; y := 0; while * { x := x + 1; y := y + 2 }; assert y = 2 * x
//! let mut clauses = SystemBuilder::new();
//! let head = clauses.predicate("loop", &[Sort::Int, Sort::Int])?;
//! let x = clauses.variable("x", &Sort::Int)?;
//! let y = clauses.variable("y", &Sort::Int)?;
//! let zero = clauses.terms().int(0);
//!
//! clauses.clause().named("start").implies(head, &[&zero, &zero])?;
//! clauses.clause().named("round").atom(head, &[&x, &y]).implies(head, &[&x.add(1)?, &y.add(2)?])?;
//! let is_wrong = y.differs(x.mul(2)?)?;
//! clauses.clause().named("claim").atom(head, &[&x, &y]).when(&is_wrong).implies_false()?;
//!
//! let system = clauses.finish();
//! assert!(matches!(system.solve(&Options::new()).verdict, Verdict::Sat(_)));
//! // The same clauses as text, for other solvers.
//! assert!(system.to_string().starts_with("(set-logic HORN)"));
//! # Ok::<(), shofar::BuildError>(())
//! ```
//!
//! [`Terms::parse`] reads a single term, so that all operators of SMT-LIB can be used.
//!
//! # Engines and limits
//!
//! By default the clauses choose the engines, which run side by side without limits. [`Options`] change that. An engine is
//! given by its type, with options as fields, or by its name; `shofar engines` lists names and options:
//!
//! ```
//! use shofar::engines::Spacer;
//! use shofar::{Options, System};
//! use std::time::Duration;
//!
//! let mut spacer = Spacer::default();
//! spacer.options.guidance = false;
//! let options = Options::new()
//!     .engine(spacer)?
//!     .engines("bmc,pdkind:depth=growing")?
//!     .timeout(Duration::from_secs(10))
//!     .memory(2 << 30);
//!
//! let system = System::parse("empty", "(declare-fun P () Bool) (assert (=> P false))")?;
//! let outcome = system.solve(&options);
//! assert_eq!(outcome.verdict.name(), "sat");
//! assert!(outcome.engine.is_some());
//! # Ok::<(), shofar::Error>(())
//! ```
//!
//! A misspelt name is an [`OptionError`] at once, and says what was meant:
//!
//! ```
//! use shofar::Options;
//!
//! let error = Options::new().set("spacer", "guidence", "no").unwrap_err();
//! assert_eq!(error.suggestion(), Some("guidance"));
//! assert!(error.to_string().starts_with("spacer has no option `guidence`, did you mean `guidance`?"));
//! ```
//!
//! # Models
//!
//! A [`Model`] defines every predicate by a formula over parameters. A formula is a [`Term`], and [`Term::view`] and
//! [`Term::arguments`] take it apart:
//!
//! ```
//! use shofar::{Limits, Options, System, Verdict, View, Witness};
//!
//! let system = System::parse(
//!     "positive",
//!     "(declare-fun P (Int) Bool)
//!      (assert (forall ((x Int)) (=> (= x 3) (P x))))
//!      (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
//!      (assert (forall ((x Int)) (=> (and (P x) (< x 3)) false)))",
//! )?;
//! let Verdict::Sat(model) = system.solve(&Options::new()).verdict else { panic!("the clauses have a model") };
//! for predicate in system.predicates() {
//!     let definition = model.definition(predicate)?;
//!     assert_eq!(system.name(predicate)?, "P");
//!     assert_eq!(definition.formula.view(), View::Application(">=".to_owned()));
//!     assert_eq!(definition.formula.arguments()[1].to_string(), "3");
//! }
//!
//! // The model was checked. Anybody can check it again, and models of other solvers as well.
//! system.check(&Witness::from(model), &Limits::new())?;
//! let guess = system.parse_witness("guess", "(define-fun P ((x Int)) Bool (> x 3))")?;
//! let error = system.check(&guess, &Limits::new()).unwrap_err();
//! assert!(error.to_string().starts_with("the model violates clause 1 at 2:"));
//! # Ok::<(), shofar::Error>(())
//! ```
//!
//! # Refutations
//!
//! A [`Refutation`] consists of [`Step`]s. Each is a clause with values for its variables, whose body earlier steps derive; the last
//! one derives `false`:
//!
//! ```
//! use shofar::{Options, System, Verdict, Value};
//!
//! let system = System::parse(
//!     "overshoot",
//!     "(declare-fun P (Int) Bool)
//!      (assert (! (P 1) :named start))
//!      (assert (! (forall ((x Int)) (=> (and (P x) (< x 12)) (P (+ x 5)))) :named round))
//!      (assert (! (forall ((x Int)) (=> (and (P x) (>= x 16)) false)) :named claim))",
//! )?;
//! let Verdict::Unsat(refutation) = system.solve(&Options::new()).verdict else { panic!("16 is derivable") };
//! let names: Vec<_> = refutation.steps().filter_map(|step| step.clause().name()).collect();
//! assert_eq!(names, ["start", "round", "round", "round", "claim"]);
//! let facts: Vec<_> = refutation.steps().filter_map(|step| step.fact()).map(|(_, values)| values).collect();
//! assert_eq!(facts.last(), Some(&vec![Value::Int(16.into())]));
//! # Ok::<(), shofar::Error>(())
//! ```
//!
//! [`Witness::to_text`] writes models and refutations in several formats: [`Text`](WitnessFormat::Text),
//! [`Json`](WitnessFormat::Json), and for refutations [`Tree`](WitnessFormat::Tree), [`Alethe`](WitnessFormat::Alethe) and
//! [`Hyper`](WitnessFormat::Hyper).
//!
//! # Progress and cancelling
//!
//! A listener gets an [`Event`] for everything that happens, from the thread where it happens. A flag ends the run from
//! outside:
//!
//! ```
//! use shofar::{Event, Options, System, Verdict};
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! // The sum of the numbers up to x: no invariant in linear arithmetic proves the claim.
//! let system = System::parse(
//!     "sum",
//!     "(declare-fun S (Int Int) Bool)
//!      (assert (S 0 0))
//!      (assert (forall ((x Int) (s Int)) (=> (S x s) (S (+ x 1) (+ s x)))))
//!      (assert (forall ((x Int) (s Int)) (=> (and (S x s) (> x 1000000000) (< s (* 50000 x))) false)))",
//! )?;
//! let cancel = AtomicBool::new(false);
//! let listener = |event: Event| {
//!     if let Event::Progress { engine, depth, .. } = event {
//!         println!("{engine} is at depth {depth}");
//!         cancel.store(depth >= 3, Ordering::Relaxed);
//!     }
//! };
//! let outcome = system.solve(&Options::new().engines("bmc")?.events(&listener).cancel(&cancel));
//! assert!(matches!(outcome.verdict, Verdict::Unknown(_)));
//! # Ok::<(), shofar::Error>(())
//! ```
//!
//! # The SMT solver by itself
//!
//! [`smt::Solver`] decides formulas, incrementally, with models and cores. [`Terms`] are the home of its terms:
//!
//! ```
//! use shofar::smt::{Answer, Solver};
//! use shofar::{Sort, Terms};
//!
//! let terms = Terms::new();
//! let x = terms.variable("x", &Sort::Int)?;
//! let mut solver = Solver::new(&terms);
//! solver.assert(&terms.parse("(and (< 3 x) (< x 6))", &[&x])?)?;
//! assert_eq!(solver.check()?, Answer::Sat);
//! let is_even = x.modulo(2)?.equals(0)?;
//! assert_eq!(solver.check_assuming(&[&is_even])?, Answer::Sat);
//! assert_eq!(solver.value(&x)?.map(|value| value.to_string()), Some("4".to_owned()));
//! # Ok::<(), shofar::Error>(())
//! ```
//!
//! # Errors
//!
//! Every mistake of a caller or of an input is an error value; the library never prints, exits, or panics on bad input. Each kind
//! of mistake has a type, and all convert into [`Error`]:
//!
//! | error | the mistake |
//! |---|---|
//! | [`ParseError`] | a text is wrong, with file, line and column |
//! | [`BuildError`] | a term or clause made in memory is ill-sorted or not Horn |
//! | [`ForeignError`] | a term, predicate or witness is used with another system than its own |
//! | [`OptionError`] | an engine, option or transformation does not exist, or an option cannot have a value |
//! | [`CheckError`] | a witness proves nothing, or a limit ended the check |
//! | [`smt::Error`] | the SMT solver does not support a formula |
//!
//! That a system could *not be decided* is not an error but an answer: [`Verdict::Unknown`] with a [`Stop`] that says why.
//!
//! Every system has [`Terms`] of its own, unless [`System::parse_with`] or [`SystemBuilder::with_terms`] share them. Terms of
//! different homes cannot be mixed:
//!
//! ```
//! use shofar::{BuildError, Sort, SystemBuilder, Terms};
//!
//! let x = Terms::new().variable("x", &Sort::Int)?;
//! let mut clauses = SystemBuilder::new();
//! let p = clauses.predicate("p", &[Sort::Int])?;
//! let error = clauses.clause().atom(p, &[&x]).implies_false().unwrap_err();
//! assert!(matches!(error, BuildError::Foreign(_)));
//! # Ok::<(), BuildError>(())
//! ```
//!
//! # More
//!
//! The folder `examples` of this crate has a complete program for each use. The program `shofar` (package `shofar-cli`) is the
//! same solver for the command line.

mod answer;
mod builder;
mod error;
mod options;
pub mod smt;
mod sort;
mod system;
mod termination;
mod terms;
mod value;

pub use answer::{Definition, Induction, Model, Outcome, Refutation, Saturation, Step, Verdict, Witness};
pub use builder::{ClauseBuilder, SystemBuilder};
pub use error::{BuildError, CheckError, Error, ForeignError};
pub use options::{Limits, Options};
pub use shofar_cooperate::exchange::Exchanging;
pub use shofar_engines::{Event, EventSink, InterpolationMethod, Label};
pub use shofar_horn::transform::{Report, Size};
pub use shofar_horn::witness::WitnessFormat;
pub use shofar_horn::{
    Format, Info, LargestClause, ParseError, ParseErrorKind, Position, PredicateInfo, Theories,
};
pub use shofar_logic::SortError;
pub use shofar_logic::number::{Integer, Rational};
pub use shofar_run::{OptionError, Reason, Stop};
pub use sort::{Datatype, Sort};
pub use system::{Atom, Clause, Predicate, System};
pub use termination::{Certificate, Termination};
pub use terms::{Operand, Term, Terms, View};
pub use value::Value;

/// The engines, to be set by their fields and given to [`Options::engine`].
pub mod engines {
    pub use shofar_engines::{Abmc, Bmc, Cegar, Imc, KInduction, Kavy, Lawi, PdKind, Spacer, Tpa, Trl};
    pub use shofar_engines::{abmc, cegar, dar, ice, imc, kavy, kind, lawi, pdkind, spacer, tpa, trl};
}

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
