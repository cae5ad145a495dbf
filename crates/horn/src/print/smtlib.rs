//! The format of the CHC competition.

use std::io;

use super::{Printer, sorted_variables};
use crate::system::Clause;

impl Printer<'_> {
    pub(super) fn smtlib(self, out: &mut impl io::Write) -> io::Result<()> {
        writeln!(out, "(set-logic HORN)")?;
        self.all_declarations(out)?;
        for clause in &self.system.clauses {
            self.assertion(clause, out)?;
        }
        writeln!(out, "(check-sat)")
    }

    /// The declarations of sorts, functions and predicates.
    pub(super) fn all_declarations(self, out: &mut impl io::Write) -> io::Result<()> {
        self.declarations(out)?;
        for (_, fun) in self.system.predicates() {
            let decl = self.store.fun_decl(fun);
            let name = self.store.display_symbol(decl.name);
            writeln!(out, "(declare-fun {name} ({}) Bool)", self.sorts(&decl.domain))?;
        }
        Ok(())
    }

    pub(super) fn assertion(self, clause: &Clause, out: &mut impl io::Write) -> io::Result<()> {
        let mut closing = String::from(")");
        if let Some(name) = clause.name {
            writeln!(out, "(assert (!")?;
            closing = format!(" :named {}))", self.store.display_symbol(name));
        } else {
            writeln!(out, "(assert")?;
        }
        if !clause.variables.is_empty() {
            writeln!(out, "  (forall ({})", sorted_variables(self.store, &clause.variables))?;
            closing.insert(0, ')');
        }
        writeln!(out, "    (=>")?;
        self.body(clause, 6, out)?;
        write!(out, "      ")?;
        match &clause.head {
            Some(head) => self.atom(head, out)?,
            None => write!(out, "false")?,
        }
        writeln!(out, "){closing}")
    }
}
