//! Witnesses as S-expressions.
//!
//! A model is one list of definitions, as the CHC competition wants it:
//!
//! ```text
//! (
//!   (define-fun Inv ((x Int)) Bool
//!     (<= x 5))
//! )
//! ```
//!
//! A refutation is a list of numbered ground facts with their premises, as Eldarica and Golem print it, and with what it
//! takes to check each step alone: the clause, by its number and its name if it has one, and the values of its variables.
//!
//! ```text
//! (step 1 (L1 1) :clause 1 :instance ((x 1)))
//! (step 2 (D 1 2) :clause 2 :instance ((x 1) (y 2)))
//! (step 3 (L2 2) :clause 3 :premises (1 2) :instance ((x 1) (y 2)))
//! (step 4 false :clause 4 :name query :premises (3) :instance ((x 2)))
//! ```

use std::{fmt, io};

use shofar_logic::{Term, TermStore, Value};

use super::{Model, Refutation, Step};
use crate::system::HornSystem;

/// Columns of a line in models.
const WIDTH: usize = 100;

/// Subterms of so many symbols are named where they occur more than once.
const LEAST_NAMED: u32 = 12;

pub(super) fn write_model<W: io::Write>(
    store: &TermStore,
    system: &HornSystem,
    model: &Model,
    out: &mut W,
) -> io::Result<()> {
    writeln!(out, "(")?;
    for ((_, fun), definition) in system.predicates().zip(&model.definitions) {
        write!(out, "  (define-fun {} (", store.display_symbol(store.fun_decl(fun).name))?;
        for (position, &parameter) in definition.parameters.iter().enumerate() {
            let sort = store.display_sort(store.sort_of(parameter));
            let space = if position == 0 { "" } else { " " };
            write!(out, "{space}({} {sort})", store.display(parameter))?;
        }
        writeln!(out, ") Bool\n    {})", formula(store, definition.body, 4))?;
    }
    writeln!(out, ")")
}

/// A formula for people, on a line of its own that starts in a column.
pub(super) fn formula(store: &TermStore, formula: Term, column: usize) -> impl fmt::Display {
    store.display(formula).pretty(WIDTH, 2).at(column).naming_from(LEAST_NAMED)
}

pub(super) fn write_refutation<W: io::Write>(
    store: &TermStore,
    system: &HornSystem,
    refutation: &Refutation,
    out: &mut W,
) -> io::Result<()> {
    for (number, step) in refutation.steps.iter().enumerate() {
        let clause = &system.clauses[step.clause];
        write!(out, "(step {} ", number + 1)?;
        write_fact(store, system, step, out)?;
        write!(out, " :clause {}", step.clause + 1)?;
        if let Some(name) = clause.name {
            write!(out, " :name {}", store.display_symbol(name))?;
        }
        if !step.premises.is_empty() {
            write!(out, " :premises (")?;
            for (position, premise) in step.premises.iter().enumerate() {
                write!(out, "{}{}", if position == 0 { "" } else { " " }, premise + 1)?;
            }
            write!(out, ")")?;
        }
        if !clause.variables.is_empty() {
            write!(out, " :instance (")?;
            for (position, (&variable, value)) in clause.variables.iter().zip(&step.instantiation).enumerate()
            {
                let space = if position == 0 { "" } else { " " };
                write!(out, "{space}({} {})", store.display(variable), store.display_value(value))?;
            }
            write!(out, ")")?;
        }
        writeln!(out, ")")?;
    }
    Ok(())
}

/// The fact that a step derives, as an application to values.
pub(super) fn write_fact<W: io::Write>(
    store: &TermStore,
    system: &HornSystem,
    step: &Step,
    out: &mut W,
) -> io::Result<()> {
    let Some(head) = &system.clauses[step.clause].head else { return write!(out, "false") };
    let name = store.display_symbol(store.fun_decl(system.fun(head.predicate)).name);
    if step.fact.is_empty() {
        return write!(out, "{name}");
    }
    write!(out, "({name}")?;
    step.fact.iter().try_for_each(|value: &Value| write!(out, " {}", store.display_value(value)))?;
    write!(out, ")")
}
