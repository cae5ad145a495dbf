//! Interpolants of conflicts of equality with functions, by the coloured congruence graph.
//!
//! The conflict is a path of equalities between two terms that differ. An edge of the path is a literal of A or B, or
//! an instance of congruence, which has a path for each argument. First the graph is *coloured*: an instance between
//! two terms of A is A's, one between two terms of B is B's. An instance between a term of A and a term of B is split
//! at a shared term: the function is shared, and each path between arguments leads from A to B, so it passes a shared
//! term where A's part of it ends. Then each path is divided into *factors*, maximal parts of one colour, whose inner
//! ends are shared.
//!
//! ```text
//! I(path)             the conjunction of I(factor) for its factors
//! I(factor of B)      the conjunction of I(path) for the arguments of its instances
//! I(factor of A)      the conjunction of I(f) for f in B(factor), and  (f holds for all f in B(factor)) => factor holds
//! B(factor of A)      the factors of B on the paths for the arguments of its instances, and B of those of A
//! ```
//!
//! A factor holds if its two ends are equal. A factor of A thus states A's contribution, on the condition that B
//! contributes the equalities that A's instances of congruence need. If B says that the ends of the path differ,
//! I(path) is the interpolant. If A says so, only the part from the first to the last segment of B, the *middle*,
//! concerns B:
//!
//! ```text
//! I(middle),  I(f) for f in B(rest),  and  (f holds for all f in B(rest)) => the ends of the middle differ
//! ```
//!
//! If there is no middle, the conclusion is `false`. (The largest part whose ends B can express would do as well, and
//! gives stronger interpolants. They are less often sequences, because they state facts of A alone on the way.) The
//! weak interpolant is the negation of the strong one with A and B exchanged.
//!
//! Invariants:
//! - F1: the side of a segment can express its ends.
//! - F2: segments on the paths of arguments have smaller numbers. All passes below follow these numbers, without
//!   recursion.
//! - F3: the ends of every factor in an interpolant are shared: within a path by F1 for both neighbours, at its ends
//!   because the path is one between terms of the other side.
//!
//! A. Fuchs, A. Goel, J. Grundy, S. Krstić, C. Tinelli, "Ground interpolation for the theory of equality" (TACAS 2009,
//! LMCS 2012).

use rustc_hash::FxHashMap;
use shofar_logic::{Op, Sort, Term, TermStore};

use super::colour::Sides;
use crate::theory::claims::is_application;

/// An equality of the conflict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The left side.
    pub left: Term,
    /// The right side.
    pub right: Term,
    /// Where it comes from.
    pub source: Source,
}

/// Where an equality comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A literal, of A if the flag is set.
    Input(bool),
    /// Congruence: both sides are applications of one function, and earlier edges connect their arguments.
    Congruence,
}

/// A conflict of equalities.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// A forest of equalities.
    pub edges: Vec<Edge>,
    /// The two terms that differ and are connected by the forest.
    pub ends: (Term, Term),
    /// Whether A says that they differ.
    pub in_a: bool,
}

/// Why there is no interpolant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// Neither side can express this term.
    Mixed(Term),
    /// The conflict is malformed.
    Invalid,
}

/// The strong interpolant of a conflict. `sides` returns the sides that can express a term.
pub fn strong(
    store: &TermStore,
    conflict: &Conflict,
    mut sides: impl FnMut(Term) -> Sides,
) -> Result<Term, Obstacle> {
    let mut graph = Graph::new(store, conflict)?;
    graph.colour(&mut sides)?;
    let path = graph.path(conflict.ends, conflict.edges.len())?;
    graph.contribute();
    Ok(graph.interpolant(&path, conflict.in_a))
}

/// The weak interpolant of a conflict.
pub fn weak(
    store: &TermStore,
    conflict: &Conflict,
    mut sides: impl FnMut(Term) -> Sides,
) -> Result<Term, Obstacle> {
    let exchanged = |edge: &Edge| match edge.source {
        Source::Input(in_a) => Edge { source: Source::Input(!in_a), ..*edge },
        Source::Congruence => *edge,
    };
    let conflict = Conflict {
        edges: conflict.edges.iter().map(exchanged).collect(),
        ends: conflict.ends,
        in_a: !conflict.in_a,
    };
    let interpolant = strong(store, &conflict, |term| {
        let Sides { a, b } = sides(term);
        Sides { a: b, b: a }
    })?;
    Ok(store.not(interpolant))
}

/// A piece of a path between two terms that its side can express (F1).
struct Segment {
    from: Term,
    to: Term,
    in_a: bool,
    /// For instances of congruence: the paths between the arguments, whose segments have smaller numbers (F2).
    arguments: Vec<Path>,
}

/// Consecutive segments from one term to another.
#[derive(Clone)]
struct Path {
    start: Term,
    steps: Vec<Step>,
}

/// A segment, possibly traversed from its end to its start.
#[derive(Clone, Copy)]
struct Step {
    segment: usize,
    is_reversed: bool,
}

/// A part of a path on one side.
struct Factor {
    ends: (Term, Term),
    in_a: bool,
    segments: Vec<usize>,
}

struct Graph<'s> {
    store: &'s TermStore,
    edges: Vec<Edge>,
    /// The forest: for each node, its parent with the edge to it, and its distance to the root.
    parents: FxHashMap<Term, (Option<(Term, usize)>, usize)>,
    segments: Vec<Segment>,
    /// For each edge, its one or two segments, from left to right.
    segments_of: Vec<Vec<usize>>,
    /// For segments of A: the factors of B that their instances of congruence need.
    needs: Vec<Vec<usize>>,
    /// For segments of B: the interpolants of the paths of arguments.
    contributions: Vec<Term>,
    /// For factors of B: whether they hold, and their interpolants.
    of_factors: Vec<(Term, Term)>,
}

impl<'s> Graph<'s> {
    fn new(store: &'s TermStore, conflict: &Conflict) -> Result<Self, Obstacle> {
        let node = |edge: &Edge| Edge {
            left: node(store, edge.left),
            right: node(store, edge.right),
            source: edge.source,
        };
        let edges: Vec<Edge> = conflict.edges.iter().map(node).collect();
        let parents = root_forest(&edges)?;
        let (segments, segments_of) = (Vec::new(), Vec::with_capacity(edges.len()));
        Ok(Graph {
            store,
            edges,
            parents,
            segments,
            segments_of,
            needs: Vec::new(),
            contributions: Vec::new(),
            of_factors: Vec::new(),
        })
    }

    /// Computes the segments of each edge.
    fn colour(&mut self, sides: &mut impl FnMut(Term) -> Sides) -> Result<(), Obstacle> {
        for at in 0..self.edges.len() {
            let Edge { left, right, source } = self.edges[at];
            let (of_left, of_right) = (sides(left), sides(right));
            for (term, sides) in [(left, of_left), (right, of_right)] {
                if !sides.a && !sides.b {
                    return Err(Obstacle::Mixed(term));
                }
            }
            let segments = match source {
                Source::Input(in_a) => {
                    let may_speak = |sides: Sides| if in_a { sides.a } else { sides.b };
                    if !may_speak(of_left) || !may_speak(of_right) {
                        return Err(Obstacle::Invalid);
                    }
                    vec![Segment { from: left, to: right, in_a, arguments: Vec::new() }]
                }
                Source::Congruence => {
                    let arguments = self.argument_paths(at)?;
                    if of_left.b && of_right.b || of_left.a && of_right.a {
                        let in_a = !(of_left.b && of_right.b);
                        vec![Segment { from: left, to: right, in_a, arguments }]
                    } else {
                        self.split(at, of_left.a, &arguments, sides)?
                    }
                }
            };
            let first = self.segments.len();
            self.segments.extend(segments);
            self.segments_of.push((first..self.segments.len()).collect());
        }
        Ok(())
    }

    /// The paths between the arguments of an instance of congruence.
    fn argument_paths(&self, at: usize) -> Result<Vec<Path>, Obstacle> {
        let Edge { left, right, .. } = self.edges[at];
        let ((left_op, left_args), (right_op, right_args)) = (self.store.view(left), self.store.view(right));
        if !is_application(self.store, left) || left_op != right_op {
            return Err(Obstacle::Invalid);
        }
        let pairs = std::iter::zip(left_args, right_args);
        pairs.map(|(&left, &right)| self.path((left, right), at)).collect()
    }

    /// The path between two terms, over edges with smaller numbers than `before`.
    fn path(&self, ends: (Term, Term), before: usize) -> Result<Path, Obstacle> {
        let (start, end) = (node(self.store, ends.0), node(self.store, ends.1));
        let (mut here, mut there) = (start, end);
        let (mut upwards, mut downwards) = (Vec::new(), Vec::new());
        while here != there {
            let up = |term: Term| self.parents.get(&term).copied().ok_or(Obstacle::Invalid);
            let ((from_here, depth_here), (from_there, depth_there)) = (up(here)?, up(there)?);
            let climbs_here = depth_here >= depth_there;
            let (parent, edge) = if climbs_here { from_here } else { from_there }.ok_or(Obstacle::Invalid)?;
            if edge >= before {
                return Err(Obstacle::Invalid);
            }
            if climbs_here {
                upwards.push((edge, self.edges[edge].left != here));
                here = parent;
            } else {
                downwards.push((edge, self.edges[edge].left == there));
                there = parent;
            }
        }
        upwards.extend(downwards.into_iter().rev());
        let mut steps = Vec::with_capacity(upwards.len());
        for (edge, is_reversed) in upwards {
            let segments = self.segments_of[edge].iter().map(|&segment| Step { segment, is_reversed });
            if is_reversed { steps.extend(segments.rev()) } else { steps.extend(segments) }
        }
        Ok(Path { start, steps })
    }

    /// Splits an instance of congruence between terms of different sides into one instance of each side.
    fn split(
        &self,
        at: usize,
        starts_in_a: bool,
        arguments: &[Path],
        sides: &mut impl FnMut(Term) -> Sides,
    ) -> Result<Vec<Segment>, Obstacle> {
        let Edge { left, right, .. } = self.edges[at];
        let (mut before, mut after, mut meeting) = (Vec::new(), Vec::new(), Vec::new());
        for path in arguments {
            let nodes = self.nodes(path);
            // Split where A's own contribution ends, so that A's instance needs nothing of B.
            let is_of_b = |step: &Step| !self.segments[step.segment].in_a;
            let shared = if starts_in_a {
                path.steps.iter().position(is_of_b).unwrap_or(path.steps.len())
            } else {
                path.steps.iter().rposition(is_of_b).map_or(0, |last| last + 1)
            };
            if !sides(nodes[shared]).is_shared() {
                return Err(Obstacle::Mixed(nodes[shared]));
            }
            before.push(Path { start: path.start, steps: path.steps[..shared].to_vec() });
            after.push(Path { start: nodes[shared], steps: path.steps[shared..].to_vec() });
            meeting.push(nodes[shared]);
        }
        let meeting: Vec<Term> = std::iter::zip(meeting, self.store.args(left))
            .map(|(node, &argument)| at_sort(self.store, node, self.store.sort_of(argument)))
            .collect();
        let middle = self.store.app(self.store.op(left), &meeting).map_err(|_| Obstacle::Invalid)?;
        Ok(vec![
            Segment { from: left, to: middle, in_a: starts_in_a, arguments: before },
            Segment { from: middle, to: right, in_a: !starts_in_a, arguments: after },
        ])
    }

    /// The end of a step.
    fn end_of(&self, step: Step) -> Term {
        let Segment { from, to, .. } = self.segments[step.segment];
        if step.is_reversed { from } else { to }
    }

    /// The terms along a path.
    fn nodes(&self, path: &Path) -> Vec<Term> {
        let ends = path.steps.iter().map(|&step| self.end_of(step));
        std::iter::once(path.start).chain(ends).collect()
    }

    /// The factors of a path.
    fn factors(&self, path: &Path) -> Vec<Factor> {
        let mut factors: Vec<Factor> = Vec::new();
        let mut here = path.start;
        for &step in &path.steps {
            let (in_a, end) = (self.segments[step.segment].in_a, self.end_of(step));
            match factors.last_mut() {
                Some(factor) if factor.in_a == in_a => {
                    factor.segments.push(step.segment);
                    factor.ends.1 = end;
                }
                _ => factors.push(Factor { ends: (here, end), in_a, segments: vec![step.segment] }),
            }
            here = end;
        }
        factors
    }

    /// Computes for each segment what it needs of B or contributes to the interpolant (F2).
    fn contribute(&mut self) {
        for at in 0..self.segments.len() {
            let arguments = std::mem::take(&mut self.segments[at].arguments);
            let (mut needs, mut contribution) = (Vec::new(), Term::TRUE);
            if self.segments[at].in_a {
                let factors: Vec<Factor> = arguments.iter().flat_map(|path| self.factors(path)).collect();
                for factor in factors {
                    if factor.in_a {
                        needs.extend(self.needs_of(&factor.segments));
                    } else {
                        needs.push(self.add_factor(&factor));
                    }
                }
                needs.sort_unstable();
                needs.dedup();
            } else {
                let paths = arguments.iter().map(|path| self.of_path(path));
                contribution = self.store.and_of(paths.collect::<Vec<_>>());
            }
            self.needs.push(needs);
            self.contributions.push(contribution);
        }
    }

    /// Registers a factor of B, whose segments are done.
    fn add_factor(&mut self, factor: &Factor) -> usize {
        let holds = equal(self.store, factor.ends.0, factor.ends.1);
        let interpolant =
            self.store.and_of(factor.segments.iter().map(|&segment| self.contributions[segment]));
        self.of_factors.push((holds, interpolant));
        self.of_factors.len() - 1
    }

    fn needs_of(&self, segments: &[usize]) -> Vec<usize> {
        let mut needs: Vec<usize> =
            segments.iter().flat_map(|&segment| &self.needs[segment]).copied().collect();
        needs.sort_unstable();
        needs.dedup();
        needs
    }

    /// I(path).
    fn of_path(&self, path: &Path) -> Term {
        let conjuncts = self.factors(path).into_iter().map(|factor| {
            if factor.in_a {
                let needs = self.needs_of(&factor.segments);
                self.on_condition(&needs, equal(self.store, factor.ends.0, factor.ends.1))
            } else {
                self.store.and_of(factor.segments.iter().map(|&segment| self.contributions[segment]))
            }
        });
        self.store.and_of(conjuncts.collect::<Vec<_>>())
    }

    /// The interpolants of the factors, and that the factors together imply the conclusion.
    fn on_condition(&self, needs: &[usize], conclusion: Term) -> Term {
        let store = self.store;
        let all_hold = store.and_of(needs.iter().map(|&factor| self.of_factors[factor].0));
        let interpolants = needs.iter().map(|&factor| self.of_factors[factor].1);
        store.and_of(interpolants.chain([store.implies(all_hold, conclusion)]))
    }

    /// The interpolant for a path between terms that differ, according to A (`in_a`) or B.
    fn interpolant(&self, path: &Path, in_a: bool) -> Term {
        if !in_a {
            return self.of_path(path);
        }
        let is_of_b = |step: &Step| !self.segments[step.segment].in_a;
        let segments = |steps: &[Step]| steps.iter().map(|step| step.segment).collect::<Vec<_>>();
        let (Some(first), Some(last)) =
            (path.steps.iter().position(is_of_b), path.steps.iter().rposition(is_of_b))
        else {
            return self.on_condition(&self.needs_of(&segments(&path.steps)), Term::FALSE);
        };
        let (nodes, end) = (self.nodes(path), last + 1);
        let middle = Path { start: nodes[first], steps: path.steps[first..end].to_vec() };
        let rest = [&path.steps[..first], &path.steps[end..]].concat();
        let differ = self.store.not(equal(self.store, nodes[first], nodes[end]));
        let outside = self.on_condition(&self.needs_of(&segments(&rest)), differ);
        self.store.and2(self.of_path(&middle), outside)
    }
}

/// Gives each tree a root. Returns `Obstacle::Invalid` if edges form a cycle.
#[expect(clippy::type_complexity, reason = "it is the type of one field")]
fn root_forest(edges: &[Edge]) -> Result<FxHashMap<Term, (Option<(Term, usize)>, usize)>, Obstacle> {
    let mut neighbours: FxHashMap<Term, Vec<(Term, usize)>> = FxHashMap::default();
    for (at, edge) in edges.iter().enumerate() {
        neighbours.entry(edge.left).or_default().push((edge.right, at));
        neighbours.entry(edge.right).or_default().push((edge.left, at));
    }
    let mut parents = FxHashMap::default();
    for edge in edges {
        if parents.contains_key(&edge.left) {
            continue;
        }
        parents.insert(edge.left, (None, 0));
        let mut open = vec![(edge.left, 0, usize::MAX)];
        while let Some((node, depth, came_by)) = open.pop() {
            for &(next, by) in &neighbours[&node] {
                if by == came_by {
                    continue;
                }
                if parents.insert(next, (Some((node, by)), depth + 1)).is_some() {
                    return Err(Obstacle::Invalid);
                }
                open.push((next, depth + 1, by));
            }
        }
    }
    Ok(parents)
}

/// The representative of all terms that congruence identifies: without casts, numerals as reals.
fn node(store: &TermStore, term: Term) -> Term {
    let inner = match store.view(term) {
        (Op::ToReal, &[inner]) => inner,
        _ => term,
    };
    match store.numeral(inner) {
        Some(value) => store.real(value.clone()),
        None => inner,
    }
}

/// A term that is equal to the node and has the given sort, if it is a number.
fn at_sort(store: &TermStore, node: Term, sort: Sort) -> Term {
    match (store.sort_of(node), sort) {
        (Sort::INT, Sort::REAL) => store.to_real(node),
        (Sort::REAL, Sort::INT) => match store.numeral(node).and_then(|value| value.to_integer()) {
            Some(value) => store.int(value),
            None => node,
        },
        _ => node,
    }
}

/// The equality of two nodes.
fn equal(store: &TermStore, left: Term, right: Term) -> Term {
    let sort = if [left, right].iter().any(|&side| store.sort_of(side) == Sort::REAL) {
        Sort::REAL
    } else {
        store.sort_of(left)
    };
    store.eq(at_sort(store, left, sort), at_sort(store, right, sort))
}
