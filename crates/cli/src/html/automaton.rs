//! The clauses as a program: their control-flow automaton, drawn and as text.
//!
//! Linear clauses run forward, others as procedures, with a drawing each. A location is a box with its live variables. An edge is a box with its
//! statements, between two arrows, so that the layout keeps room for them. A click on statements leads to their clause.
//!
//! - A1: every text of the input is escaped on its way into the page.
//! - A2: large automata are not drawn, and larger ones not written either; the page says so.

use std::fmt::Write as _;

use shofar_horn::cfa::{self, Automaton, Cfa, CfaEdgeId, LocationId, ProcedureId};
use shofar_horn::infix::{Fit, Notation};
use shofar_horn::{Clause, HornGraph, HornSystem};
use shofar_logic::{Term, TermStore};

use super::layout::{Graph, Point};
use super::picture::{CLAUSE, LINE, path, text_width};
use super::{Escaped, MOST_CHARACTERS, cut, signature, variable};

/// Clauses, and distinct subterms of their constraints and arguments, up to which there is an automaton.
const MOST_CLAUSES: usize = 400;
const MOST_TERMS: usize = 20_000;

/// Locations and edges up to which a drawing can be read.
const MOST_BOXES: usize = 120;

/// Characters of a line, lines, and symbols of a term in a box.
const MOST_COLUMNS: usize = 44;
const MOST_LINES: usize = 10;
const MOST_SYMBOLS: usize = 200;

/// The automaton of a system, as the content of a panel.
pub(super) fn automaton(store: &TermStore, system: &HornSystem, notation: Notation) -> String {
    if system.clauses.len() > MOST_CLAUSES || terms(store, system) > MOST_TERMS {
        return "<p class=\"note\">The automaton is too large for a page; \
                <code>shofar convert --to cfa</code> prints it.</p>\n"
            .to_owned();
    }
    let graph = HornGraph::of(store, system);
    let automaton = match cfa::forward(store, &graph) {
        Ok(automaton) => automaton,
        Err(_) => cfa::procedures(store, &graph),
    };
    let readable = automaton.readable(store, &graph, system);
    let text = cut(&readable.to_text(store, notation), MOST_CHARACTERS);
    let text = format!("<pre class=\"long\">{}</pre>\n", Escaped::new(&text));
    if readable.locations().len() + readable.edges().len() > MOST_BOXES {
        return text;
    }
    let painter = Painter { store, system, notation, automaton: &automaton, cfa: &readable };
    let drawings: String = readable.procedures().map(|(id, _)| painter.procedure(id)).collect();
    format!(
        "<div class=\"automaton\"><button class=\"link\" id=\"enlarge\">Larger</button>\n{drawings}</div>\n\
         <details><summary>As text</summary>{text}</details>\n"
    )
}

/// The number of terms that clauses consist of.
fn terms(store: &TermStore, system: &HornSystem) -> usize {
    let of_clause = |clause: &Clause| {
        let atoms = clause.head.iter().chain(&clause.body);
        atoms.flat_map(|atom| atom.args.to_vec()).chain([clause.constraint]).collect::<Vec<Term>>()
    };
    let roots: Vec<Term> = system.clauses.iter().flat_map(of_clause).collect();
    store.subterms(&roots).len()
}

struct Painter<'a> {
    store: &'a TermStore,
    system: &'a HornSystem,
    notation: Notation,
    automaton: &'a Automaton,
    /// The same automaton for people.
    cfa: &'a Cfa,
}

/// A box: its class, what it says, and what there is no room for.
pub(super) struct Frame {
    pub(super) class: &'static str,
    pub(super) lines: Vec<String>,
    pub(super) hint: String,
    pub(super) clause: Option<usize>,
}

impl Frame {
    fn size(&self) -> Point {
        let columns = self.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        Point { x: text_width(columns) + 20, y: LINE * self.lines.len().max(1) as i64 + 8 }
    }
}

impl Painter<'_> {
    /// The drawing of a procedure, below its name if there are several.
    fn procedure(&self, procedure: ProcedureId) -> String {
        let cfa = self.cfa;
        let mut frames: Vec<Frame> = Vec::new();
        let mut place = vec![0; cfa.locations().len()];
        for (id, _) in cfa.locations().filter(|(_, location)| location.procedure == procedure) {
            place[id.index()] = frames.len();
            frames.push(self.location(id));
        }
        let mut arrows: Vec<(usize, usize)> = Vec::new();
        for (id, edge) in cfa.edges().filter(|(_, edge)| cfa.location(edge.source).procedure == procedure) {
            let middle = frames.len();
            arrows.extend([(place[edge.source.index()], middle), (middle, place[edge.target.index()])]);
            frames.push(self.edge(id));
        }
        let name = self.notation.name(self.store, self.store.symbol(&cfa.procedure(procedure).name));
        let name = cut(&name, MOST_COLUMNS);
        let mut html = String::new();
        // Writing to a string does not fail, here and below.
        if cfa.procedures().len() > 1 {
            let _ = writeln!(html, "<h3>{}</h3>", Escaped::new(&name));
        }
        // All drawings use the tip of the first.
        let tip = (procedure == cfa.main()).then_some("tip-flow");
        html + &drawing(&name, &frames, arrows, tip)
    }

    fn location(&self, id: LocationId) -> Frame {
        let content = self.cfa.location(id);
        let name = self.notation.name(self.store, self.store.symbol(&content.name));
        let class = match id {
            _ if id == self.cfa.error() => "place error",
            _ if id == self.cfa.entry() => "place entry",
            _ => "place",
        };
        let names: Vec<String> =
            content.variables.iter().map(|&live| variable(self.store, self.notation, live)).collect();
        let title = match names.len() {
            0 => name,
            _ => format!("{name}({})", names.join(", ")),
        };
        let hint = match names.len() {
            0 => String::new(),
            _ => signature(self.store, self.notation, &content.variables),
        };
        Frame { class, lines: vec![cut(&title, MOST_COLUMNS)], hint, clause: None }
    }

    fn edge(&self, id: CfaEdgeId) -> Frame {
        let fit = Fit { width: MOST_COLUMNS, column: 0, symbols: MOST_SYMBOLS, arguments: usize::MAX };
        let statements = self.cfa.edge(id).statements.iter();
        let texts: Vec<String> = statements
            .map(|statement| self.cfa.statement_text(self.store, self.notation, statement, fit))
            .collect();
        let mut lines: Vec<String> =
            texts.iter().flat_map(|text| text.lines()).map(|line| cut(line, MOST_COLUMNS)).collect();
        if lines.len() > MOST_LINES {
            lines.truncate(MOST_LINES);
            lines.push(self.notation.ellipsis().to_owned());
        }
        let clause = self.automaton.clause(id).index();
        let title = self.system.clause_title(self.store, clause);
        let text = self.notation.clause(self.store, self.system, clause, CLAUSE);
        Frame { class: "statements", lines, hint: format!("{title}\n{text}"), clause: Some(clause) }
    }
}

/// Draws boxes and arrows between them. Arrows to places have a tip, which is defined here if it has an id.
pub(super) fn drawing(
    name: &str,
    frames: &[Frame],
    arrows: Vec<(usize, usize)>,
    tip: Option<&str>,
) -> String {
    let is_end: Vec<bool> = arrows.iter().map(|&(_, to)| frames[to].class.starts_with("place")).collect();
    let drawing = Graph { sizes: frames.iter().map(Frame::size).collect(), edges: arrows }.draw();
    let Point { x: width, y: height } = drawing.size;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{}\">",
        Escaped::new(name)
    );
    if let Some(id) = tip {
        let _ = writeln!(
            svg,
            "<defs><marker id=\"{id}\" class=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
             markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
             <path d=\"M0 0L8 4L0 8z\"/></marker></defs>"
        );
    }
    for (route, is_end) in drawing.routes.iter().zip(is_end) {
        let class = if is_end { "flow end" } else { "flow" };
        let _ = writeln!(svg, "<path class=\"{class}\" d=\"{}\"/>", path(route));
    }
    for (frame, &centre) in frames.iter().zip(&drawing.centres) {
        draw(frame, centre, &mut svg);
    }
    svg + "</svg>\n"
}

fn draw(frame: &Frame, centre: Point, svg: &mut String) {
    let Point { x: width, y: height } = frame.size();
    let (left, top) = (centre.x - width / 2, centre.y - height / 2);
    let clause = frame.clause.map_or(String::new(), |clause| format!(" data-clause=\"{clause}\""));
    let _ = write!(svg, "<g class=\"{}\"{clause}>", frame.class);
    if !frame.hint.is_empty() {
        let _ = write!(svg, "<title>{}</title>", Escaped::new(&cut(&frame.hint, MOST_CHARACTERS)));
    }
    let _ = write!(svg, "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>");
    for (number, line) in frame.lines.iter().enumerate() {
        let (x, y) = (left + 10, top + LINE * (number as i64 + 1) - 1);
        let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\">{}</text>", Escaped::new(line));
    }
    svg.push_str("</g>\n");
}
