//! The SMT core: a CDCL(T) solver for many small incremental queries.

pub mod cnf;
pub mod purify;
pub mod sat;
pub mod script;
pub mod solver;
pub mod theory;
