//! Automata as graphs for Graphviz.
//!
//! Locations are boxes with their live variables, with a circle where runs start, a double circle for the error location, and
//! doubled boxes for exits. Edges are labelled by their statements. Several procedures have a frame each.

use std::io;

use shofar_logic::TermStore;

use super::text::shown;
use super::{Cfa, LocationId};
use crate::infix::{Fit, Notation};
use crate::print::{LABEL_WIDTH, dot_escaped, dot_label};

/// Symbols of a term that are shown.
const MOST_SYMBOLS: usize = 400;

impl Cfa {
    /// Writes the automaton as a graph for Graphviz. Long labels are cut.
    pub fn write_dot(
        &self,
        store: &TermStore,
        notation: Notation,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        writeln!(out, "digraph automaton {{")?;
        writeln!(out, "  node [shape=box, fontname=\"monospace\"];")?;
        writeln!(out, "  edge [fontname=\"monospace\", fontsize=10];")?;
        let mut of_procedure: Vec<Vec<LocationId>> = vec![Vec::new(); self.procedures.len()];
        for (id, location) in self.locations() {
            of_procedure[location.procedure.index()].push(id);
        }
        for (id, procedure) in self.procedures() {
            let is_framed = self.procedures.len() > 1;
            if is_framed {
                let name = dot_escaped(&shown(store, notation, &procedure.name));
                writeln!(out, "  subgraph cluster_{} {{", id.index())?;
                writeln!(out, "    label=\"{name}\"; fontname=\"monospace\";")?;
            }
            let indent = if is_framed { "    " } else { "  " };
            for &location in &of_procedure[id.index()] {
                let shape = match location {
                    _ if location == self.entry() => ", shape=circle",
                    _ if location == self.error => ", shape=doublecircle",
                    _ if Some(location) == procedure.exit => ", peripheries=2",
                    _ => "",
                };
                let label = self.dot_location(store, notation, location);
                writeln!(out, "{indent}l{} [label=\"{label}\"{shape}];", location.index())?;
            }
            if is_framed {
                writeln!(out, "  }}")?;
            }
        }
        for (_, edge) in self.edges() {
            let fit = Fit { width: LABEL_WIDTH, ..Fit::line(MOST_SYMBOLS) };
            let statements = edge.statements.iter();
            let lines: Vec<String> =
                statements.map(|statement| self.statement_text(store, notation, statement, fit)).collect();
            let label = dot_label(&lines.join("\n"));
            writeln!(out, "  l{} -> l{} [label=\"{label}\"];", edge.source.index(), edge.target.index())?;
        }
        writeln!(out, "}}")
    }

    fn dot_location(&self, store: &TermStore, notation: Notation, location: LocationId) -> String {
        let content = self.location(location);
        let name = shown(store, notation, &content.name);
        let variables: Vec<String> = content
            .variables
            .iter()
            .map(|&variable| notation.term(store, variable, Fit::line(MOST_SYMBOLS)))
            .collect();
        match variables.len() {
            0 => dot_escaped(&name),
            _ => dot_escaped(&format!("{name}({})", variables.join(", "))),
        }
    }
}
