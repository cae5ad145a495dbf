//! The clause graph as a picture: predicates as boxes, clauses as arrows.
//!
//! A clause with one atom in its body is an arrow from its predicate; clauses between the same predicates share one. A
//! fact starts at a circle, a query ends at `false`, and a clause with several atoms in its body is a small node that
//! arrows lead to from each of them. A box shows what the predicate means, or has room for the values of the instances of
//! a run, which the page's script fills in. Where there are many boxes they are small, and have the rest as a hint; and
//! [chains](chains()) of predicates are one box each, which the page's script opens.
//!
//! - P1: every text of the input is escaped on its way into the picture.
//! - P2: ids are `n` with the number of a node, `e` with that of an arrow, and `v` with those of a node and a row; nothing
//!   of the input is part of one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use shofar_horn::infix::{Fit, Notation};
use shofar_horn::witness::{Interpretation, Model};
use shofar_horn::{HornSystem, PredicateId};
use shofar_logic::{Term, TermStore};

use super::chains::chains;
use super::layout::{Drawing, Graph, Point};
use super::{Answer, Escaped, cut, signature, variable};

/// Nodes and arrows up to which a picture can be read.
const MOST_NODES: usize = 400;
const MOST_ARROWS: usize = 1000;

/// Nodes beyond which chains are one box each. If there are still more, boxes show names and a row of values only, and the
/// rest when the pointer is on them: with formulas the picture would be too wide for arrows to be followed.
const MANY_NODES: usize = 50;

/// Members of chains that a page lists, of all chains together.
const MOST_MEMBERS: usize = 4000;

/// Characters of a line in a box.
const MOST_COLUMNS: usize = 40;

/// Lines of a formula, and rows of values, where there are few nodes and otherwise.
const FEW_NODES: usize = 8;
const MOST_ROWS_OF_FEW: usize = 12;
const MOST_ROWS: usize = 5;

/// Characters that rows of values have room for at least.
const LEAST_VALUE_COLUMNS: usize = 20;

/// Space between the title of a box and the rest.
const TITLE_GAP: i64 = 8;

/// Labels on arrows up to which they do not hide the picture.
const MOST_LABELS: usize = 80;

/// The height of a line, and tenths of the width of a character.
pub(super) const LINE: i64 = 17;
const CHARACTER: i64 = 76;

/// The width of a loop beside its box, without the label.
const LOOP: i64 = 30;

/// Symbols of a formula in a box.
const MOST_SYMBOLS: usize = 200;

/// The space for a clause that an arrow shows.
pub(super) const CLAUSE: Fit = Fit { width: 80, column: 0, symbols: 200, arguments: 8 };

/// Characters of clauses that an arrow shows.
const MOST_CLAUSE_CHARACTERS: usize = 700;

/// A picture, and how to find things in it.
pub(super) struct Picture {
    /// The picture as an `svg` element, or why there is none.
    pub(super) svg: Result<String, String>,
    /// The box of each node: its own, or that of its chain.
    pub(super) boxes: Vec<usize>,
    /// What the page's script is to know about chains.
    pub(super) chains: Vec<Json>,
    /// The arrows of each clause.
    pub(super) arrows: Vec<Vec<usize>>,
    /// The node of `false`.
    pub(super) end: Option<usize>,
}

/// What a box shows.
enum Node {
    Start,
    Predicate(PredicateId),
    False,
    /// Clauses with the same several predicates in their bodies and the same head.
    Join(Vec<usize>),
    /// Predicates in a row.
    Chain(Vec<PredicateId>),
}

/// The number of a predicate's node.
pub(super) fn node_of(predicate: PredicateId) -> usize {
    predicate.index()
}

/// A box with its text: a title with what stands beside or below it, lines, and rows to be filled.
#[derive(Default)]
struct Frame {
    title: String,
    beside: String,
    below: Option<String>,
    lines: Vec<String>,
    /// What there is no room for.
    hint: String,
    rows: usize,
    /// Characters that a row has room for.
    columns: usize,
    size: Point,
}

struct Painter<'a> {
    store: &'a TermStore,
    system: &'a HornSystem,
    notation: Notation,
    answer: &'a Answer<'a>,
    parameters: &'a [Box<[Term]>],
    /// The places of the arguments that boxes show.
    shown: &'a [Vec<usize>],
    nodes: Vec<Node>,
    /// As in [`Picture`].
    boxes: Vec<usize>,
    /// Between different nodes, with their clauses.
    arrows: BTreeMap<(usize, usize), Vec<usize>>,
    /// From a node to itself.
    loops: BTreeMap<usize, Vec<usize>>,
}

/// Draws the clauses of a system.
pub(super) fn picture(
    store: &TermStore,
    system: &HornSystem,
    notation: Notation,
    answer: &Answer<'_>,
    parameters: &[Box<[Term]>],
    shown: &[Vec<usize>],
) -> Picture {
    let nodes: Vec<Node> = system.predicates().map(|(id, _)| Node::Predicate(id)).collect();
    let (arrows, loops) = (BTreeMap::new(), BTreeMap::new());
    let mut painter = Painter {
        store,
        system,
        notation,
        answer,
        parameters,
        shown,
        nodes,
        boxes: Vec::new(),
        arrows,
        loops,
    };
    let end = painter.add_clauses();
    painter.boxes = (0..painter.nodes.len()).collect();
    if painter.nodes.len() > MANY_NODES {
        painter.join_chains();
    }
    let arrows = painter.arrows_of_clauses();
    let count = painter.arrows.len() + painter.loops.len();
    let svg = if painter.drawn().count() > MOST_NODES || count > MOST_ARROWS {
        Err(format!(
            "The graph of {} predicates and {} clauses is too large for a picture. The lists have all of it.",
            system.predicates().len(),
            system.clauses.len()
        ))
    } else {
        Ok(painter.svg())
    };
    let chains = if svg.is_ok() { painter.chains() } else { Vec::new() };
    Picture { svg, boxes: painter.boxes, chains, arrows, end }
}

impl Painter<'_> {
    /// Adds nodes and arrows for all clauses. Returns the node of `false`.
    fn add_clauses(&mut self) -> Option<usize> {
        let (mut start, mut end) = (None, None);
        let mut joins: BTreeMap<(BTreeSet<usize>, usize), usize> = BTreeMap::new();
        for (number, clause) in self.system.clauses.iter().enumerate() {
            let target = match &clause.head {
                Some(head) => node_of(head.predicate),
                None => *end.get_or_insert_with(|| self.add(Node::False)),
            };
            match &*clause.body {
                [] => {
                    let start = *start.get_or_insert_with(|| self.add(Node::Start));
                    self.connect(start, target, number);
                }
                [atom] => self.connect(node_of(atom.predicate), target, number),
                atoms => {
                    let sources = atoms.iter().map(|atom| node_of(atom.predicate)).collect();
                    let join =
                        *joins.entry((sources, target)).or_insert_with(|| self.add(Node::Join(Vec::new())));
                    if let Node::Join(clauses) = &mut self.nodes[join] {
                        clauses.push(number);
                    }
                    atoms.iter().for_each(|atom| self.connect(node_of(atom.predicate), join, number));
                    self.connect(join, target, number);
                }
            }
        }
        end
    }

    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn connect(&mut self, from: usize, to: usize, clause: usize) {
        let clauses = if from == to {
            self.loops.entry(from).or_default()
        } else {
            self.arrows.entry((from, to)).or_default()
        };
        if clauses.last() != Some(&clause) {
            clauses.push(clause);
        }
    }

    /// Makes one box of each chain. Arrows inside of chains are no more.
    fn join_chains(&mut self) {
        let may_join = self.nodes.iter().enumerate();
        let may_join: Vec<bool> = may_join
            .map(|(number, node)| matches!(node, Node::Predicate(_)) && !self.loops.contains_key(&number))
            .collect();
        for chain in chains(&may_join, self.arrows.keys().copied()) {
            let members = chain.iter().filter_map(|&node| match self.nodes[node] {
                Node::Predicate(predicate) => Some(predicate),
                _ => None,
            });
            let joined = Node::Chain(members.collect());
            let joined = self.add(joined);
            self.boxes.push(joined);
            chain.iter().for_each(|&node| self.boxes[node] = joined);
        }
        for ((from, to), clauses) in std::mem::take(&mut self.arrows) {
            let ends = (self.boxes[from], self.boxes[to]);
            if ends.0 != ends.1 {
                self.arrows.entry(ends).or_default().extend(clauses);
            }
        }
    }

    /// The nodes that have boxes of their own.
    fn drawn(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(|&node| self.boxes[node] == node)
    }

    /// The chains with their members: nodes, names, and what is known about them. The middle of long ones is left out.
    fn chains(&self) -> Vec<Json> {
        let all = self.nodes.iter().enumerate().filter_map(|(number, node)| match node {
            Node::Chain(members) => Some((number, members)),
            _ => None,
        });
        let all: Vec<(usize, &Vec<PredicateId>)> = all.collect();
        let half = (MOST_MEMBERS / all.len().max(1) / 2).max(1);
        let member = |&predicate: &PredicateId| {
            let about = match self.answer {
                Answer::Sat(model) => self.meaning(model, predicate).join("\n"),
                _ => String::new(),
            };
            json!([node_of(predicate), self.name(predicate), about])
        };
        let chain = |(number, members): (usize, &Vec<PredicateId>)| {
            let left_out = members.len().saturating_sub(2 * half);
            let first = if left_out > 0 { half } else { members.len() };
            json!({
                "box": number,
                "first": members[..first].iter().map(member).collect::<Vec<Json>>(),
                "leftOut": left_out,
                "last": members[first + left_out..].iter().map(member).collect::<Vec<Json>>(),
            })
        };
        all.into_iter().map(chain).collect()
    }

    /// The name of a predicate as boxes have it.
    fn name(&self, predicate: PredicateId) -> String {
        let name = self.store.fun_decl(self.system.fun(predicate)).name;
        cut(&self.notation.name(self.store, name), MOST_COLUMNS)
    }

    /// Arrows are numbered in the order of their ends, loops after the others.
    fn arrows_of_clauses(&self) -> Vec<Vec<usize>> {
        let mut arrows = vec![Vec::new(); self.system.clauses.len()];
        for (arrow, clauses) in self.arrows.values().chain(self.loops.values()).enumerate() {
            clauses.iter().for_each(|&clause| arrows[clause].push(arrow));
        }
        arrows
    }

    fn svg(&self) -> String {
        // The search for cycles starts where runs start.
        let mut drawn: Vec<usize> = self.drawn().collect();
        drawn.sort_by_key(|&node| !matches!(self.nodes[node], Node::Start));
        let is_small = drawn.len() > MANY_NODES;
        let frames: Vec<Frame> = drawn.iter().map(|&node| self.frame(&self.nodes[node], is_small)).collect();
        let mut place = vec![0; self.nodes.len()];
        drawn.iter().enumerate().for_each(|(position, &node)| place[node] = position);
        let size = |(&node, frame): (&usize, &Frame)| {
            let Point { x, y } = frame.size;
            // Room for loops on the right, and as much on the left, so that arrows meet the middle.
            let room = self.loops.get(&node).map_or(0, |clauses| LOOP + text_width(numbers(clauses).len()));
            Point { x: x + 2 * room, y }
        };
        let graph = Graph {
            sizes: drawn.iter().zip(&frames).map(size).collect(),
            edges: self.arrows.keys().map(|&(from, to)| (place[from], place[to])).collect(),
        };
        let drawing = graph.draw();
        let mut svg = String::new();
        // Writing to a string does not fail, here and below.
        let Point { x: width, y: height } = drawing.size;
        let _ = writeln!(svg, "<svg id=\"graph\" viewBox=\"0 0 {width} {height}\">");
        for kind in ["", "-used", "-now"] {
            let _ = writeln!(
                svg,
                "<defs><marker id=\"tip{kind}\" class=\"tip{kind}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
                 markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
                 <path d=\"M0 0L8 4L0 8z\"/></marker></defs>"
            );
        }
        self.draw_arrows(&drawing, &mut svg);
        for ((&node, content), &centre) in drawn.iter().zip(&frames).zip(&drawing.centres) {
            if let Some(clauses) = self.loops.get(&node) {
                let number = self.arrows.len() + self.loops.range(..node).count();
                let right = Point { x: centre.x + content.size.x / 2, y: centre.y };
                self.draw_loop(number, clauses, right, &mut svg);
            }
            self.draw_frame(node, content, centre, &mut svg);
        }
        svg.push_str("</svg>");
        svg
    }

    fn frame(&self, node: &Node, is_small: bool) -> Frame {
        let width = |columns: usize| text_width(columns) + 20;
        let plain = |title: String, size| Frame { title, size, ..Frame::default() };
        match node {
            Node::Start => plain(String::new(), Point { x: 18, y: 18 }),
            Node::False => plain("false".to_owned(), Point { x: width(7), y: 32 }),
            Node::Join(clauses) => {
                let title = numbers(clauses);
                let size = Point { x: width(title.len()).max(26), y: 22 };
                plain(title, size)
            }
            Node::Chain(members) => {
                let [first, .., last] = &**members else { unreachable!("a chain has several members") };
                let title =
                    format!("{} {} {}", self.name(*first), self.notation.ellipsis(), self.name(*last));
                let below = format!("{} in a row", members.len());
                // The predicate that a run has reached, and its values.
                let rows = if matches!(self.answer, Answer::Unsat(_)) { 2 } else { 0 };
                let columns = title.chars().count().max(below.len()).max(if rows > 0 { 24 } else { 0 });
                let gap = if rows > 0 { TITLE_GAP } else { 0 };
                let size = Point { x: width(columns), y: LINE * (2 + rows as i64) + 14 + gap };
                Frame { title, below: Some(below), rows, columns, size, ..Frame::default() }
            }
            Node::Predicate(predicate) => {
                let title = self.name(*predicate);
                let mut below = self.arguments(*predicate);
                let mut lines = Vec::new();
                let mut rows = 0;
                match self.answer {
                    Answer::Sat(model) => lines.extend(self.meaning(model, *predicate)),
                    Answer::Unsat(_) => rows = self.shown[predicate.index()].len().min(self.most_rows()),
                    Answer::Proved(_) | Answer::Saturated(_) | Answer::Unknown(_) => {}
                }
                let mut hint = String::new();
                let parameters = &self.parameters[predicate.index()];
                if parameters.len() > self.shown[predicate.index()].len() {
                    let all = signature(self.store, self.notation, parameters);
                    hint = cut(&format!("({all})"), MOST_CLAUSE_CHARACTERS);
                }
                if is_small {
                    hint = below
                        .take()
                        .into_iter()
                        .chain(std::mem::take(&mut lines))
                        .collect::<Vec<_>>()
                        .join("\n");
                    rows = rows.min(1);
                }
                let length = |text: &String| text.chars().count();
                // Arguments stand beside the name if there is room.
                let is_beside = |below: &mut String| length(&title) + length(below) <= MOST_COLUMNS;
                let beside = below.take_if(is_beside).unwrap_or_default();
                let columns = lines.iter().chain(&below).map(length).max().unwrap_or(0);
                // The title has larger letters.
                let columns = columns.max((length(&title) + length(&beside)) * 13 / 12 + 1);
                let columns = if rows > 0 { columns.max(LEAST_VALUE_COLUMNS) } else { columns };
                let count = 1 + usize::from(below.is_some()) + lines.len() + rows;
                let gap = if lines.is_empty() && rows == 0 { 0 } else { TITLE_GAP };
                let size = Point { x: width(columns), y: LINE * count as i64 + 14 + gap };
                Frame { title, beside, below, lines, hint, rows, columns, size }
            }
        }
    }

    /// Lines of a formula, and rows of values, that a box has at most.
    fn most_rows(&self) -> usize {
        if self.nodes.len() <= FEW_NODES { MOST_ROWS_OF_FEW } else { MOST_ROWS }
    }

    /// The arguments of a predicate that boxes show, and how many there are besides.
    fn arguments(&self, predicate: PredicateId) -> Option<String> {
        let (parameters, shown) = (&self.parameters[predicate.index()], &self.shown[predicate.index()]);
        // A run has their values below.
        if matches!(self.answer, Answer::Unsat(_)) && shown.len() < parameters.len() {
            return Some(format!("({} arguments)", parameters.len()));
        }
        let mut names: Vec<String> =
            shown.iter().map(|&place| variable(self.store, self.notation, parameters[place])).collect();
        // As many as fit, with a note of the length of this one.
        let note = |hidden: usize| format!("{} +{hidden}", self.notation.ellipsis());
        let length = |names: &[String]| names.iter().map(|name| name.chars().count() + 2).sum::<usize>();
        while length(&names) + note(parameters.len()).chars().count() > MOST_COLUMNS {
            names.pop();
        }
        let hidden = parameters.len() - names.len();
        if hidden > 0 {
            names.push(note(hidden));
        }
        match (parameters.len(), names.len()) {
            (0, _) => None,
            (count, 1) if hidden == count => Some(format!("({count} arguments)")),
            _ => Some(format!("({})", names.join(", "))),
        }
    }

    /// The beginning of what a predicate means, as lines.
    fn meaning(&self, model: &Model, predicate: PredicateId) -> Vec<String> {
        match model.definition(predicate).interpretation {
            Interpretation::Formula(formula) => self.formula(formula),
        }
    }

    /// The beginning of a formula, as lines: members of a conjunction, or the formula as it is broken into lines.
    fn formula(&self, formula: Term) -> Vec<String> {
        let fit = Fit { width: MOST_COLUMNS, column: 0, symbols: MOST_SYMBOLS, arguments: usize::MAX };
        let conjuncts = self.notation.conjuncts(self.store, formula, fit);
        let mut lines: Vec<String> =
            conjuncts.iter().flat_map(|conjunct| conjunct.lines()).map(str::to_owned).collect();
        let most = self.most_rows();
        if lines.len() > most {
            // Several fit into a line if they are short.
            lines = self.notation.term(self.store, formula, fit).lines().map(str::to_owned).collect();
        }
        if lines.len() > most {
            lines.truncate(most);
            lines.push(self.notation.ellipsis().to_owned());
        }
        lines.iter().map(|line| cut(line, MOST_COLUMNS)).collect()
    }

    fn draw_arrows(&self, drawing: &Drawing, svg: &mut String) {
        let is_labelled = self.arrows.len() <= MOST_LABELS;
        for (number, ((from, to), clauses)) in self.arrows.iter().enumerate() {
            let route = &drawing.routes[number];
            let path = path(route);
            // An arrow into a small node has no tip: it goes on behind it.
            let is_half = matches!(self.nodes[*to], Node::Join(_));
            let class = if is_half { "arrow half" } else { "arrow" };
            let from_join = matches!(self.nodes[*from], Node::Join(_));
            let label = (is_labelled && !is_half && !from_join).then(|| {
                // Between the ranks.
                let (a, b) = (route[1], route[2]);
                Point { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }
            });
            self.draw_arrow(number, class, &path, clauses, label, svg);
        }
    }

    fn draw_loop(&self, number: usize, clauses: &[usize], at: Point, svg: &mut String) {
        let Point { x, y } = at;
        let path = format!("M{x} {}C{} {} {} {} {x} {}", y - 9, x + 34, y - 22, x + 34, y + 22, y + 9);
        let label = Point { x: x + LOOP + text_width(numbers(clauses).len()) / 2, y };
        self.draw_arrow(number, "arrow", &path, clauses, Some(label), svg);
    }

    fn draw_arrow(
        &self,
        number: usize,
        class: &str,
        path: &str,
        clauses: &[usize],
        label: Option<Point>,
        svg: &mut String,
    ) {
        let _ = write!(
            svg,
            "<g id=\"e{number}\" class=\"{class}\" data-clauses=\"{}\"><title>{}</title>",
            clauses.iter().map(usize::to_string).collect::<Vec<String>>().join(" "),
            self.clauses(clauses)
        );
        let _ = write!(svg, "<path class=\"near\" d=\"{path}\"/><path class=\"line\" d=\"{path}\"/>");
        if let Some(Point { x, y }) = label {
            let text = numbers(clauses);
            let _ = write!(svg, "<text class=\"number\" x=\"{x}\" y=\"{}\">{text}</text>", y + 4);
        }
        svg.push_str("</g>\n");
    }

    /// What an arrow stands for, escaped.
    fn clauses(&self, clauses: &[usize]) -> Escaped {
        let mut text = String::new();
        for &clause in clauses {
            if text.len() > MOST_CLAUSE_CHARACTERS {
                text.push_str("...\n");
                break;
            }
            let title = self.system.clause_title(self.store, clause);
            let _ =
                writeln!(text, "{title}\n{}", self.notation.clause(self.store, self.system, clause, CLAUSE));
        }
        Escaped::new(&cut(&text, 2 * MOST_CLAUSE_CHARACTERS))
    }

    fn draw_frame(&self, node: usize, content: &Frame, centre: Point, svg: &mut String) {
        let Point { x: width, y: height } = content.size;
        let (left, top) = (centre.x - width / 2, centre.y - height / 2);
        let (class, focus) = match self.nodes[node] {
            Node::Start => ("start", ""),
            Node::Predicate(_) => ("predicate", " tabindex=\"0\""),
            Node::False => ("false", ""),
            Node::Join(_) => ("join", ""),
            Node::Chain(_) => ("chain", " tabindex=\"0\""),
        };
        let _ = write!(svg, "<g id=\"n{node}\" class=\"node {class}\"{focus}>");
        if let Node::Join(clauses) = &self.nodes[node] {
            let _ = write!(svg, "<title>{}</title>", self.clauses(clauses));
        } else if !content.hint.is_empty() {
            let _ = write!(
                svg,
                "<title>{}\n{}</title>",
                Escaped::new(&content.title),
                Escaped::new(&content.hint)
            );
        }
        if matches!(self.nodes[node], Node::Chain(_)) {
            // A pile of boxes.
            for shift in [8, 4] {
                let (x, y) = (left + shift, top + shift);
                let _ =
                    write!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>");
            }
        }
        let radius = if matches!(self.nodes[node], Node::Start | Node::Join(_)) { height / 2 } else { 6 };
        let _ = write!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>"
        );
        let is_bare = content.lines.is_empty() && content.rows == 0 && content.below.is_none();
        let mut y = top + if is_bare { height / 2 + 4 } else { LINE + 2 };
        let x = centre.x;
        let _ = write!(svg, "<text class=\"title\" x=\"{x}\" y=\"{y}\">{}", Escaped::new(&content.title));
        if !content.beside.is_empty() {
            let _ = write!(svg, "<tspan class=\"parameters\">{}</tspan>", Escaped::new(&content.beside));
        }
        svg.push_str("</text>");
        if let Some(below) = &content.below {
            y += LINE;
            let below = Escaped::new(below);
            let _ = write!(svg, "<text class=\"parameters\" x=\"{x}\" y=\"{y}\">{below}</text>");
        }
        if !content.lines.is_empty() || content.rows > 0 {
            let _ = write!(svg, "<path class=\"rule\" d=\"M{left} {}h{width}\"/>", y + TITLE_GAP);
            y += TITLE_GAP;
        }
        let x = left + 10;
        for line in &content.lines {
            y += LINE;
            let _ = write!(svg, "<text class=\"formula\" x=\"{x}\" y=\"{y}\">{}</text>", Escaped::new(line));
        }
        for row in 0..content.rows {
            y += LINE;
            let columns = content.columns;
            let _ = write!(
                svg,
                "<text id=\"v{node}-{row}\" class=\"value\" data-columns=\"{columns}\" x=\"{x}\" y=\"{y}\"></text>"
            );
        }
        svg.push_str("</g>\n");
    }
}

/// The numbers of clauses, as a label.
fn numbers(clauses: &[usize]) -> String {
    match clauses {
        [] => String::new(),
        [one] => (one + 1).to_string(),
        [one, two] => format!("{}, {}", one + 1, two + 1),
        [one, others @ ..] => format!("{} +{}", one + 1, others.len()),
    }
}

/// The width of a line with so many characters.
pub(super) fn text_width(columns: usize) -> i64 {
    columns as i64 * CHARACTER / 10
}

/// A smooth line through points, which arrives straight from above or below.
pub(super) fn path(route: &[Point]) -> String {
    let mut path = format!("M{} {}", route[0].x, route[0].y);
    for pair in route.windows(2) {
        let [before, Point { x, y }] = [pair[0], pair[1]];
        // A tip at the end of nothing would have no direction.
        if before == pair[1] {
            continue;
        }
        // Writing to a string does not fail.
        let _ = if before.x == x {
            write!(path, "L{x} {y}")
        } else {
            let middle = (before.y + y) / 2;
            write!(path, "C{} {middle} {x} {middle} {x} {y}", before.x)
        };
    }
    path
}
