//! Automata as text.
//!
//! ```text
//! procedure main()
//!   entry
//!     to P
//!       havoc x: Int
//!       assume x > 0
//!   P(x: Int)
//!     to P
//!       x := x + 1
//!     to error
//!       assume x = 10
//!   error
//! ```
//!
//! A location stands below its procedure, with its live variables. Below it stand the edges that leave it, each with the
//! location where it leads and its statements.

use std::io;

use shofar_logic::{Term, TermStore};

use super::{Cfa, LocationId, Procedure, Statement};
use crate::infix::{Fit, Notation};

/// Columns of a line.
const WIDTH: usize = 100;

impl Cfa {
    /// Writes the automaton as text.
    pub fn write_text(
        &self,
        store: &TermStore,
        notation: Notation,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        let mut of_procedure: Vec<Vec<LocationId>> = vec![Vec::new(); self.procedures.len()];
        for (id, location) in self.locations().filter(|&(id, _)| id != self.error) {
            of_procedure[location.procedure.index()].push(id);
        }
        // Exits and the error location stand at the end.
        of_procedure[self.main().index()].push(self.error);
        for (id, procedure) in self.procedures() {
            let locations = &mut of_procedure[id.index()];
            if let Some(position) = locations.iter().position(|&location| Some(location) == procedure.exit) {
                let exit = locations.remove(position);
                locations.push(exit);
            }
            if id != self.main() {
                writeln!(out)?;
            }
            let Procedure { name, parameters, .. } = procedure;
            let parameters = typed(store, notation, parameters);
            let name = shown(store, notation, name);
            writeln!(out, "procedure {}", listed(&format!("{name}("), &parameters, 10) + ")")?;
            for &location in &*locations {
                self.write_location(store, notation, location, out)?;
            }
        }
        Ok(())
    }

    fn write_location(
        &self,
        store: &TermStore,
        notation: Notation,
        location: LocationId,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        writeln!(out, "  {}", self.location_text(store, notation, location))?;
        for &edge in self.outgoing(location) {
            let edge = self.edge(edge);
            writeln!(out, "    to {}", shown(store, notation, &self.location(edge.target).name))?;
            for statement in &edge.statements {
                let fit = Fit { width: WIDTH, column: 6, symbols: usize::MAX, arguments: usize::MAX };
                writeln!(out, "      {}", self.statement_text(store, notation, statement, fit))?;
            }
        }
        Ok(())
    }

    /// The automaton as text.
    pub fn to_text(&self, store: &TermStore, notation: Notation) -> String {
        let mut out = Vec::new();
        self.write_text(store, notation, &mut out).expect("writing to memory does not fail");
        String::from_utf8(out).expect("only text is written")
    }

    /// A location with its live variables: `P(x: Int)`.
    fn location_text(&self, store: &TermStore, notation: Notation, location: LocationId) -> String {
        let content = self.location(location);
        let name = shown(store, notation, &content.name);
        match typed(store, notation, &content.variables).as_slice() {
            [] => name,
            variables => listed(&format!("{name}("), variables, 2) + ")",
        }
    }

    /// A statement: `havoc x: Int`, `assume x > 0`, `x := 1`, `x, y := y, x`, `call P(x)`.
    pub fn statement_text(
        &self,
        store: &TermStore,
        notation: Notation,
        statement: &Statement,
        fit: Fit,
    ) -> String {
        let term = |before: &str, term: Term| {
            let column = fit.column + before.chars().count();
            format!("{before}{}", notation.term(store, term, Fit { column, ..fit }))
        };
        let terms = |terms: &mut dyn Iterator<Item = Term>| -> Vec<String> {
            terms.map(|term| notation.term(store, term, Fit::line(fit.symbols))).collect()
        };
        match statement {
            Statement::Havoc(variables) => listed("havoc ", &typed(store, notation, variables), fit.column),
            Statement::Assume(condition) => term("assume ", *condition),
            Statement::Assign(assignments) => {
                let variables = terms(&mut assignments.iter().map(|&(variable, _)| variable)).join(", ");
                match &**assignments {
                    &[(_, value)] => term(&format!("{variables} := "), value),
                    _ => {
                        let values = terms(&mut assignments.iter().map(|&(_, value)| value));
                        listed(&format!("{variables} := "), &values, fit.column)
                    }
                }
            }
            Statement::Call(callee, arguments) => {
                let name = shown(store, notation, &self.procedure(*callee).name);
                listed(&format!("call {name}("), &terms(&mut arguments.iter().copied()), fit.column) + ")"
            }
        }
    }
}

pub(super) fn shown(store: &TermStore, notation: Notation, name: &str) -> String {
    notation.name(store, store.symbol(name))
}

/// Variables with their sorts.
fn typed(store: &TermStore, notation: Notation, variables: &[Term]) -> Vec<String> {
    let one = |&variable: &Term| {
        let name = notation.term(store, variable, Fit::line(usize::MAX));
        format!("{name}: {}", notation.sort(store, store.sort_of(variable)))
    };
    variables.iter().map(one).collect()
}

/// A list with commas after some text in a column, broken into lines.
fn listed(before: &str, items: &[String], column: usize) -> String {
    let indent = column + before.chars().count();
    let mut text = before.to_owned();
    let mut end = indent;
    for (position, item) in items.iter().enumerate() {
        let length = item.chars().count() + 2;
        if position > 0 {
            text.push(',');
            if end + length > WIDTH {
                text.push('\n');
                text.extend(std::iter::repeat_n(' ', indent));
                end = indent;
            } else {
                text.push(' ');
            }
        }
        text.push_str(item);
        end += length;
    }
    text
}
