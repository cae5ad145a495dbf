//! SMT-LIB 2.6 as text: reading and printing.

mod apply;
mod canonical;
mod declare;
mod display;
mod environment;
mod hints;
mod lexer;
mod logic;
mod print;
mod reader;
mod recursive;

pub use declare::Declaration;
pub use display::{DisplayOp, DisplaySort, DisplaySymbol};
pub use environment::Environment;
pub use lexer::{Lexer, SyntaxError, Token};
pub use logic::Theories;
pub use print::{DisplayTerm, write_bitvector, write_numeral};
pub use reader::{Annotation, Item, Reader};
