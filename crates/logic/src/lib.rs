//! Terms, sorts, exact numbers and SMT-LIB text: the language of all other parts of Shofar.
//!
//! ```
//! use shofar_logic::{Assignment, Op, Sort, TermStore, Value};
//!
//! let store = TermStore::new();
//! let x = store.var(store.symbol("x"), Sort::INT);
//!
//! // As written.
//! let written = store.app(Op::Gt, &[store.int(3), x]).unwrap();
//! assert_eq!(store.display(written).to_string(), "(> 3 x)");
//!
//! // Normalised: equal meaning, equal term.
//! let normal = store.normalize(written);
//! assert_eq!(store.display(normal).to_string(), "(<= x 2)");
//! assert_eq!(normal, store.lt(x, store.int(3)));
//!
//! // The value under an assignment.
//! let assignment = Assignment::from_iter([(x, Value::Int(2.into()))]);
//! assert_eq!(store.eval(written, &assignment), Ok(Value::Bool(true)));
//! ```

pub mod build;
pub mod definitions;
pub mod fourier_motzkin;
pub mod number;

mod branch;
mod bv;
mod datatype;
mod eval;
mod fold;
mod free_vars;
mod intern;
mod linear;
mod list;
mod literal;
mod nnf;
mod op;
mod peano;
mod polynomial;
pub mod smtlib;
mod sort;
mod subst;
mod term;
mod traverse;
mod typing;
mod value;
mod word;

pub use branch::Branch;
pub use build::Magnitudes;
pub use datatype::DatatypeError;
pub use eval::{Assignment, DisplayEvalError, EvalError, Evaluator, Interpretation};
pub use fold::{Fold, FoldCase, FoldError, FoldLemma, FoldSpec};
pub use free_vars::Symbols;
pub use linear::LinearPoly;
pub use list::List;
pub use literal::{Bound, Members, Relation};
pub use op::{NumberId, Op};
pub use peano::Peano;
pub use polynomial::{Monomial, Polynomial};
pub use sort::{
    Constructor, ConstructorId, ConstructorSpec, Datatype, DatatypeId, Fun, FunDecl, MAX_WIDTH, Sort,
    SortKind, Symbol,
};
pub use subst::{Substitution, Substitutor};
pub use term::{Term, TermStore};
pub use traverse::Walker;
pub use typing::SortError;
pub use value::{KnownValues, Value};
pub use word::{ListFunctions, Part, Word, reversed};
