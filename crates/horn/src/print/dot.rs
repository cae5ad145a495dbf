//! The clauses as a graph for Graphviz.
//!
//! Predicates are boxes, with a circle where derivations start and a double circle for `false`. A clause with
//! one atom in its body is an edge; a clause with several is a small diamond that edges lead to from each of
//! them, numbered in the order of the body.

use std::fmt::Write as _;
use std::io;

use shofar_logic::Term;

use super::Printer;
use crate::system::Clause;

/// The maximal numbers of columns and lines of a label.
pub(crate) const LABEL_WIDTH: usize = 48;
const LABEL_LINES: usize = 8;

impl Printer<'_> {
    pub(super) fn dot(self, out: &mut impl io::Write) -> io::Result<()> {
        let store = self.store;
        writeln!(out, "digraph clauses {{")?;
        writeln!(out, "  node [shape=box, fontname=\"monospace\"];")?;
        writeln!(out, "  edge [fontname=\"monospace\", fontsize=10];")?;
        if self.system.clauses.iter().any(|clause| clause.body.is_empty()) {
            writeln!(out, "  start [shape=circle, label=\"\"];")?;
        }
        if self.system.clauses.iter().any(Clause::is_query) {
            writeln!(out, "  false [shape=doublecircle];")?;
        }
        for (id, fun) in self.system.predicates() {
            let decl = store.fun_decl(fun);
            let label = format!("{}({})", store.name(decl.name), self.sorts(&decl.domain).replace(' ', ", "));
            writeln!(out, "  p{} [label=\"{}\"];", id.index(), dot_escaped(&label))?;
        }
        for (index, clause) in self.system.clauses.iter().enumerate() {
            self.edge(index, clause, out)?;
        }
        writeln!(out, "}}")
    }

    fn edge(self, index: usize, clause: &Clause, out: &mut impl io::Write) -> io::Result<()> {
        let target = match &clause.head {
            Some(head) => format!("p{}", head.predicate.index()),
            None => "false".to_owned(),
        };
        let label = self.label(clause);
        match &*clause.body {
            [] => writeln!(out, "  start -> {target} [label=\"{label}\"];"),
            [atom] => writeln!(out, "  p{} -> {target} [label=\"{label}\"];", atom.predicate.index()),
            atoms => {
                writeln!(out, "  c{index} [shape=diamond, label=\"\", width=0.2, height=0.2];")?;
                for (position, atom) in atoms.iter().enumerate() {
                    let source = atom.predicate.index();
                    writeln!(out, "  p{source} -> c{index} [arrowhead=none, label=\"{}\"];", position + 1)?;
                }
                writeln!(out, "  c{index} -> {target} [label=\"{label}\"];")
            }
        }
    }

    /// The clause in Prolog's style, cut to a readable size: the atoms, then the constraint.
    fn label(self, clause: &Clause) -> String {
        let mut text = String::new();
        if let Some(name) = clause.name {
            let _ = writeln!(text, "{}:", self.store.name(name));
        }
        let atoms = clause.head.iter().chain(&clause.body);
        for (position, atom) in atoms.enumerate() {
            let mut shown = Vec::new();
            self.atom(atom, &mut shown).expect("writing to memory does not fail");
            let arrow =
                if position == 0 && clause.head.is_some() && !clause.body.is_empty() { " :-" } else { "" };
            let _ = writeln!(text, "{}{arrow}", String::from_utf8_lossy(&shown));
        }
        if clause.constraint != Term::TRUE {
            let _ = writeln!(text, "{}", self.store.display(clause.constraint).pretty(LABEL_WIDTH, 0));
        }
        dot_label(&text)
    }
}

/// A label of left-justified lines, cut to a readable size.
pub(crate) fn dot_label(text: &str) -> String {
    let mut label = String::new();
    for (number, line) in text.lines().enumerate() {
        if number == LABEL_LINES {
            label.push_str("...\\l");
            break;
        }
        let short: String = line.chars().take(LABEL_WIDTH).collect();
        let dots = if short.len() < line.len() { "..." } else { "" };
        label.push_str(&dot_escaped(&short));
        label.push_str(dots);
        // Ends a left-justified line.
        label.push_str("\\l");
    }
    label
}

/// Text inside of quotation marks.
pub(crate) fn dot_escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
