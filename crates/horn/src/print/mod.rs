//! Writes systems of Horn clauses, one file for each format.

mod datalog;
mod dot;
mod smtlib;

use std::io;

use shofar_logic::smtlib::Declaration;
use shofar_logic::{Sort, Term, TermStore};

use crate::system::{Atom, Clause, HornSystem};

pub(crate) use dot::{LABEL_WIDTH, dot_escaped, dot_label};

/// An output format of systems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// The format of the CHC competition. Reading it back gives the same system.
    Smtlib,
    /// Z3's fixedpoint format: rules over relations and a query. Reading it back gives equivalent clauses: queries are
    /// derived through an extra relation.
    Datalog,
    /// A graph for Graphviz, with predicates as nodes and clauses as (hyper)edges.
    Dot,
}

impl HornSystem {
    /// Writes the system in a format.
    pub fn write(&self, store: &TermStore, format: Format, out: &mut impl io::Write) -> io::Result<()> {
        let printer = Printer { store, system: self };
        match format {
            Format::Smtlib => printer.smtlib(out),
            Format::Datalog => printer.datalog(out),
            Format::Dot => printer.dot(out),
        }
    }

    /// The system as text in a format.
    pub fn to_text(&self, store: &TermStore, format: Format) -> String {
        let mut out = Vec::new();
        self.write(store, format, &mut out).expect("writing to memory does not fail");
        String::from_utf8(out).expect("only text is written")
    }
}

impl HornSystem {
    /// The declarations of sorts, functions and predicates in the format of the CHC competition.
    pub(crate) fn declarations_text(&self, store: &TermStore) -> String {
        let mut out = Vec::new();
        let printer = Printer { store, system: self };
        printer.all_declarations(&mut out).expect("writing to memory does not fail");
        String::from_utf8(out).expect("only text is written")
    }

    /// The declarations of sorts, and of functions that are not predicates.
    pub(crate) fn sorts_text(&self, store: &TermStore) -> String {
        let mut out = Vec::new();
        let printer = Printer { store, system: self };
        printer.declarations(&mut out).expect("writing to memory does not fail");
        String::from_utf8(out).expect("only text is written")
    }

    /// A clause as an assertion in the format of the CHC competition.
    pub fn clause_text(&self, store: &TermStore, clause: usize) -> String {
        let mut out = Vec::new();
        let printer = Printer { store, system: self };
        printer.assertion(&self.clauses[clause], &mut out).expect("writing to memory does not fail");
        String::from_utf8(out).expect("only text is written")
    }
}

/// Variables with their sorts, as quantifiers and definitions list them: `(x Int) (b Bool)`.
pub(crate) fn sorted_variables(store: &TermStore, variables: &[Term]) -> String {
    let sorted = |&variable: &Term| {
        format!("({} {})", store.display(variable), store.display_sort(store.sort_of(variable)))
    };
    variables.iter().map(sorted).collect::<Vec<_>>().join(" ")
}

/// A system to be written.
#[derive(Clone, Copy)]
struct Printer<'a> {
    store: &'a TermStore,
    system: &'a HornSystem,
}

impl Printer<'_> {
    /// Declarations of sorts, and of functions that are not predicates.
    fn declarations(self, out: &mut impl io::Write) -> io::Result<()> {
        let store = self.store;
        for declaration in &self.system.sorts {
            match declaration {
                Declaration::Sort(name, arity) => {
                    writeln!(out, "(declare-sort {} {arity})", store.display_symbol(*name))?;
                }
                Declaration::Datatypes(group) => self.datatypes(group, out)?,
                Declaration::Fun(_) | Declaration::Definition => {}
            }
        }
        for &fun in &self.system.functions {
            let decl = store.fun_decl(fun);
            let (name, range) = (store.display_symbol(decl.name), store.display_sort(decl.range));
            writeln!(out, "(declare-fun {name} ({}) {range})", self.sorts(&decl.domain))?;
        }
        Ok(())
    }

    fn datatypes(self, group: &[Sort], out: &mut impl io::Write) -> io::Result<()> {
        let store = self.store;
        let member = |sort: Sort| store.datatype(sort).expect("groups consist of datatypes");
        write!(out, "(declare-datatypes (")?;
        for (position, &sort) in group.iter().enumerate() {
            let datatype = member(sort);
            let space = if position == 0 { "" } else { " " };
            write!(out, "{space}({} {})", store.display_symbol(datatype.name), datatype.params.len())?;
        }
        write!(out, ") (")?;
        for &sort in group {
            let datatype = member(sort);
            let parametric = !datatype.params.is_empty();
            write!(out, "\n  ")?;
            if parametric {
                write!(out, "(par ({}) ", self.sorts(&datatype.params))?;
            }
            write!(out, "(")?;
            for (position, &id) in datatype.constructors().iter().enumerate() {
                let constructor = store.constructor(id);
                let space = if position == 0 { "" } else { " " };
                write!(out, "{space}({}", store.display_symbol(constructor.name))?;
                for &(selector, field) in &constructor.fields {
                    write!(out, " ({} {})", store.display_symbol(selector), store.display_sort(field))?;
                }
                write!(out, ")")?;
            }
            write!(out, "{}", if parametric { "))" } else { ")" })?;
        }
        writeln!(out, "))")
    }

    /// Sorts, separated by spaces.
    fn sorts(self, sorts: &[Sort]) -> String {
        sorts.iter().map(|&sort| self.store.display_sort(sort).to_string()).collect::<Vec<_>>().join(" ")
    }

    fn atom(self, atom: &Atom, out: &mut impl io::Write) -> io::Result<()> {
        let name = self.store.display_symbol(self.store.fun_decl(self.system.fun(atom.predicate)).name);
        if atom.args.is_empty() {
            return write!(out, "{name}");
        }
        write!(out, "({name}")?;
        for &arg in &atom.args {
            write!(out, " {}", self.store.display(arg))?;
        }
        write!(out, ")")
    }

    /// The body of a clause, on separate lines below `indent`.
    fn body(self, clause: &Clause, indent: usize, out: &mut impl io::Write) -> io::Result<()> {
        let constrained = clause.constraint != Term::TRUE;
        let several = clause.body.len() + usize::from(constrained) > 1;
        let inner = if several { indent + 2 } else { indent };
        if several {
            writeln!(out, "{:indent$}(and", "")?;
        }
        let mut first = true;
        for atom in &clause.body {
            self.separate(&mut first, inner, out)?;
            self.atom(atom, out)?;
        }
        if constrained || clause.body.is_empty() {
            self.separate(&mut first, inner, out)?;
            write!(out, "{}", self.store.display(clause.constraint).pretty(100, 2).at(inner))?;
        }
        writeln!(out, "{}", if several { ")" } else { "" })
    }

    fn separate(self, first: &mut bool, indent: usize, out: &mut impl io::Write) -> io::Result<()> {
        if !std::mem::take(first) {
            writeln!(out)?;
        }
        write!(out, "{:indent$}", "")
    }
}
