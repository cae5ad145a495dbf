//! Bounds of fixed linear sums, the *rows* of a predicate's template.
//!
//! **Rows** are the sums that invariants of loops are made of: the arguments; the sums in atoms of the clauses;
//! `c*x - d*y` for arguments that one round of a loop changes by `d` and `c`; sums and differences of few arguments.
//! Rows that the affine hull makes equal count once.
//!
//! **Bounds** ascend from the facts. While a clause derives a fact outside the bounds of its target, each row that the fact
//! violates gets the supremum of the row over all facts that the clause derives at present. A loop would repeat that
//! forever, so its rows are *widened*: to the least supremum that some clause has whatever the bounds of its sources are (its
//! guard, or the constants of a fact), and otherwise to no bound. Rows that lost their bound get back, in the end, what one
//! more step from the bounds of all others gives (*narrowing*).

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::hull::affine::AffineHull;
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Relation, Sort, Term, TermStore};
use shofar_run::Stop;
use shofar_smt::project::Projector;

use super::affine::{at_sources, strides};
use super::{Questions, is_number, number, occurrences};

/// Rows of one predicate.
const MOST_ROWS: usize = 40;

/// Arguments up to which all their sums and differences are rows.
const FEW_ARGUMENTS: usize = 4;

/// How often an edge may raise a bound by itself before it is widened.
const RAISES: u32 = 2;

/// Projections of one supremum.
const PROJECTIONS: usize = 8;

/// By nodes: linear sums without constants, over the node's variables.
pub(super) fn templates(
    questions: &mut Questions<'_>,
    hulls: &[Option<AffineHull>],
) -> Result<Vec<Vec<LinearPoly>>, Stop> {
    let (run, graph) = (questions.run, questions.graph);
    let store = run.store;
    let mut templates: Vec<Template<'_>> =
        hulls.iter().map(|hull| Template { hull: hull.as_ref(), rows: Vec::new() }).collect();
    for (node, content) in graph.nodes() {
        run.go_on()?;
        for &variable in content.variables().iter().filter(|variable| is_number(store, **variable)) {
            templates[node.index()]
                .add(LinearPoly::from_pairs(vec![(variable, Rational::ONE)], Rational::ZERO));
        }
    }
    for (edge, content) in graph.edges() {
        run.go_on()?;
        let sums: Vec<LinearPoly> = store
            .subterms(&[content.label()])
            .into_iter()
            .filter_map(|term| Some(store.bound(term)?.poly(store).without_constant()))
            .collect();
        for (node, variables) in occurrences(graph, edge) {
            if templates[node.index()].is_full() {
                continue;
            }
            run.go_on()?;
            let names: FxHashMap<Term, Term> =
                variables.iter().copied().zip(graph.node(node).variables().iter().copied()).collect();
            for sum in &sums {
                let renamed = sum.terms().iter().map(|(term, c)| Some((*names.get(term)?, c.clone())));
                if let Some(pairs) = renamed.collect::<Option<Vec<_>>>() {
                    templates[node.index()].add(LinearPoly::from_pairs(pairs, Rational::ZERO));
                }
            }
        }
    }
    for (edge, content) in graph.edges() {
        let Some(node) = content.target().filter(|node| !templates[node.index()].is_full()) else { continue };
        for stride in strides(questions, hulls, edge)? {
            for (at, (x, by_x)) in stride.iter().enumerate() {
                run.go_on()?;
                if templates[node.index()].is_full() {
                    break;
                }
                for (y, by_y) in &stride[at + 1..] {
                    if store.sort_of(*x) == store.sort_of(*y) && !by_x.is_zero() && !by_y.is_zero() {
                        let pairs = vec![(*x, by_y.clone()), (*y, -by_x)];
                        templates[node.index()].add(LinearPoly::from_pairs(pairs, Rational::ZERO));
                    }
                }
            }
        }
    }
    for (node, content) in graph.nodes() {
        run.go_on()?;
        let numbers: Vec<Term> =
            content.variables().iter().copied().filter(|&variable| is_number(store, variable)).collect();
        if numbers.len() > FEW_ARGUMENTS {
            continue;
        }
        for (at, &x) in numbers.iter().enumerate() {
            for &y in numbers[at + 1..].iter().filter(|&&y| store.sort_of(x) == store.sort_of(y)) {
                for sign in [-Rational::ONE, Rational::ONE] {
                    let pairs = vec![(x, Rational::ONE), (y, sign)];
                    templates[node.index()].add(LinearPoly::from_pairs(pairs, Rational::ZERO));
                }
            }
        }
    }
    Ok(templates.into_iter().map(|template| template.rows).collect())
}

/// The rows of a node.
struct Template<'h> {
    hull: Option<&'h AffineHull>,
    rows: Vec<LinearPoly>,
}

impl Template<'_> {
    /// Whether it takes no more rows.
    fn is_full(&self) -> bool {
        self.hull.is_none() || self.rows.len() >= MOST_ROWS
    }

    /// Adds a row unless an equal one is there, or there are many.
    fn add(&mut self, row: LinearPoly) {
        let Some(hull) = self.hull.filter(|_| self.rows.len() < MOST_ROWS) else { return };
        let (row, _) = hull.reduce(row).without_constant().primitive();
        if !row.is_constant() && !self.rows.contains(&row) {
            self.rows.push(row);
        }
    }
}

/// By nodes: equations and bounds that are inductive; none for a node without facts.
pub(super) fn bounded(
    questions: &mut Questions<'_>,
    hulls: Vec<Option<AffineHull>>,
    templates: &[Vec<LinearPoly>],
) -> Result<Vec<Option<Vec<Term>>>, Stop> {
    let both = |rows: &Vec<LinearPoly>| rows.iter().flat_map(|row| [row.clone(), -row.clone()]).collect();
    let rows: Vec<Vec<LinearPoly>> = templates.iter().map(both).collect();
    let store = questions.run.store;
    let sizes = rows.len();
    let mut bounds = Bounds {
        projector: Projector::new(store),
        questions,
        hulls,
        rows,
        bounds: vec![None; sizes],
        raises: FxHashMap::default(),
        thresholds: FxHashMap::default(),
    };
    bounds.ascend()?;
    bounds.narrow()?;
    let literals = |node: usize| bounds.bounds[node].as_ref().map(|_| bounds.literals(NodeId::new(node)));
    Ok((0..sizes).map(literals).collect())
}

/// The place of a row among those of its node. A row and its negative are two.
type RowId = usize;

/// The element that ascends.
struct Bounds<'q, 'a> {
    questions: &'q mut Questions<'a>,
    projector: Projector<'a>,
    hulls: Vec<Option<AffineHull>>,
    /// By nodes.
    rows: Vec<Vec<LinearPoly>>,
    /// By nodes and rows: what the row is at most, if anything. None for a node without facts.
    bounds: Vec<Option<Vec<Option<Rational>>>>,
    /// How often an edge has raised a row of its target.
    raises: FxHashMap<(EdgeId, RowId), u32>,
    /// Where to widen a row to: the suprema of single edges that hold whatever the bounds of the sources are.
    thresholds: FxHashMap<(NodeId, RowId), Vec<Rational>>,
}

impl Bounds<'_, '_> {
    fn ascend(&mut self) -> Result<(), Stop> {
        let graph = self.questions.graph;
        let (outgoing, _) = graph.outgoing();
        let mut open: BTreeSet<EdgeId> = graph.edges().map(|(id, _)| id).collect();
        while let Some(edge) = open.pop_first() {
            let Some(target) = graph.edge(edge).target() else { continue };
            let mut is_new = false;
            while let Some(violated) = self.violated(edge, target)? {
                is_new = true;
                for row in violated {
                    let bound = self.raised(edge, target, row)?;
                    self.bounds[target.index()].get_or_insert_default()[row] = bound;
                }
            }
            if is_new {
                open.extend(&outgoing[target.index()]);
            }
        }
        Ok(())
    }

    /// The rows of the target that a fact violates which the edge derives; `None` if there is no such fact. A node without
    /// facts gets bounds that no number has, all of which are violated.
    fn violated(&mut self, edge: EdgeId, target: NodeId) -> Result<Option<Vec<RowId>>, Stop> {
        let (store, graph) = (self.questions.run.store, self.questions.graph);
        let Some(mut assumptions) = self.at_sources(edge) else { return Ok(None) };
        let count = self.rows[target.index()].len();
        let Some(bounds) = &self.bounds[target.index()] else {
            if !self.questions.holds(edge, &assumptions)? {
                return Ok(None);
            }
            self.bounds[target.index()] = Some(vec![None; count]);
            return Ok(Some((0..count).collect()));
        };
        let inside: Vec<Term> = self.bound_literals(target).collect();
        if inside.is_empty() {
            return Ok(None);
        }
        assumptions.push(store.not(graph.at_target(store, edge, store.and(&inside))));
        let (variables, next) = (graph.node(target).variables(), graph.target_variables(edge));
        let Some(model) = self.questions.model(edge, &assumptions, next)? else { return Ok(None) };
        let value = |variable: Term| {
            let at = variables.iter().position(|&other| other == variable)?;
            number(store, &model, next[at])
        };
        let is_violated = |&row: &RowId| {
            let bound = bounds[row].as_ref();
            bound.is_some_and(|bound| {
                self.rows[target.index()][row].eval(value).is_some_and(|value| value > *bound)
            })
        };
        Ok(Some((0..count).filter(is_violated).collect()))
    }

    /// A bound of a row that an edge does not violate, for the time being.
    fn raised(&mut self, edge: EdgeId, target: NodeId, row: RowId) -> Result<Option<Rational>, Stop> {
        let assumptions = self.at_sources(edge).expect("the sources have facts");
        let Some(bound) = self.supremum(edge, target, row, assumptions)? else { return Ok(None) };
        let is_loop = self.questions.graph.edge(edge).sources().contains(&target);
        let raises = self.raises.entry((edge, row)).or_default();
        *raises += 1;
        let may_raise = *raises <= RAISES;
        if may_raise && !is_loop {
            return Ok(Some(bound));
        }
        let thresholds = self.thresholds(target, row)?;
        let widened = thresholds.iter().filter(|threshold| **threshold >= bound).min().cloned();
        Ok(widened.or(may_raise.then_some(bound)))
    }

    fn thresholds(&mut self, node: NodeId, row: RowId) -> Result<&[Rational], Stop> {
        if !self.thresholds.contains_key(&(node, row)) {
            let (incoming, _) = self.questions.graph.incoming();
            let mut thresholds = Vec::new();
            for &edge in &incoming[node.index()] {
                if let Some(equations) = at_sources(self.questions, &self.hulls, edge) {
                    thresholds.extend(self.supremum(edge, node, row, equations)?);
                }
            }
            self.thresholds.insert((node, row), thresholds);
        }
        Ok(&self.thresholds[&(node, row)])
    }

    /// The supremum of a row over the facts that an edge derives under assumptions about its sources. `None` if it derives
    /// none, if the row is unbounded, or if a few projections do not find the supremum.
    fn supremum(
        &mut self,
        edge: EdgeId,
        target: NodeId,
        row: RowId,
        assumptions: Vec<Term>,
    ) -> Result<Option<Rational>, Stop> {
        let (store, graph) = (self.questions.run.store, self.questions.graph);
        let row = &self.rows[target.index()][row];
        let sort = row_sort(store, row);
        let sum = graph.at_target(store, edge, row.to_term(store, sort));
        let height = store.var(store.fresh_symbol("height"), sort);
        let mut formulas = assumptions;
        formulas.push(store.eq(height, sum));
        let mut all = formulas.clone();
        all.push(graph.edge(edge).label());
        let mut others = store.free_vars(&all);
        others.retain(|&variable| variable != height);
        let mut supremum: Option<Rational> = None;
        for _ in 0..PROJECTIONS {
            let above = supremum.as_ref().map(|bound| store.gt(height, store.number(bound, sort)));
            let mut assumptions = formulas.clone();
            assumptions.extend(above);
            let Some(model) = self.questions.model(edge, &assumptions, &[])? else { return Ok(supremum) };
            let Ok(projection) = self.projector.project_cube(&all, &model, &others) else { return Ok(None) };
            match upper_bound(store, &projection.literals, height) {
                Some(bound) => supremum = Some(bound),
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Rows without a bound get the greatest supremum of the edges into their node. What is derived from all bounds is
    /// inductive together with them.
    fn narrow(&mut self) -> Result<(), Stop> {
        let (incoming, _) = self.questions.graph.incoming();
        let mut narrowed: Vec<(usize, RowId, Rational)> = Vec::new();
        for (node, edges) in incoming.iter().enumerate() {
            let Some(bounds) = self.bounds[node].clone() else { continue };
            for row in (0..bounds.len()).filter(|&row| bounds[row].is_none()) {
                let mut greatest: Option<Rational> = None;
                let mut is_bounded = true;
                for &edge in edges {
                    let Some(assumptions) = self.at_sources(edge) else { continue };
                    if !self.questions.holds(edge, &assumptions)? {
                        continue;
                    }
                    match self.supremum(edge, NodeId::new(node), row, assumptions)? {
                        Some(bound) => {
                            greatest = Some(greatest.map_or(bound.clone(), |other| other.max(bound)))
                        }
                        None => is_bounded = false,
                    }
                    if !is_bounded {
                        break;
                    }
                }
                if let Some(bound) = greatest.filter(|_| is_bounded) {
                    narrowed.push((node, row, bound));
                }
            }
        }
        for (node, row, bound) in narrowed {
            self.bounds[node].get_or_insert_default()[row] = Some(bound);
        }
        Ok(())
    }

    /// What is known of the sources of an edge; `None` if one has no facts.
    fn at_sources(&self, edge: EdgeId) -> Option<Vec<Term>> {
        let (store, graph) = (self.questions.run.store, self.questions.graph);
        let mut formulas = self.questions.known_at_sources(edge)?;
        for (source, &node) in graph.edge(edge).sources().iter().enumerate() {
            self.bounds[node.index()].as_ref()?;
            let known = self.literals(node);
            formulas.extend(known.into_iter().map(|literal| graph.at_source(store, edge, source, literal)));
        }
        Some(formulas)
    }

    /// Equations and bounds of a node with facts.
    fn literals(&self, node: NodeId) -> Vec<Term> {
        let hull = self.hulls[node.index()].iter().flat_map(|hull| hull.formulas(self.questions.run.store));
        hull.chain(self.bound_literals(node)).collect()
    }

    fn bound_literals(&self, node: NodeId) -> impl Iterator<Item = Term> + '_ {
        let store = self.questions.run.store;
        let bounds = self.bounds[node.index()].iter().flatten();
        self.rows[node.index()].iter().zip(bounds).filter_map(|(row, bound)| {
            let sort = row_sort(store, row);
            Some(store.le(row.to_term(store, sort), store.number(bound.as_ref()?, sort)))
        })
    }
}

fn row_sort(store: &TermStore, row: &LinearPoly) -> Sort {
    store.sort_of(row.terms()[0].0)
}

/// The least number that literals do not allow a variable to be above. A strict bound counts as one that is attained.
fn upper_bound(store: &TermStore, literals: &[Term], variable: Term) -> Option<Rational> {
    let bounds = literals.iter().filter_map(|&literal| {
        let bound = store.bound(literal)?;
        let poly = bound.poly(store);
        let [(monomial, coefficient)] = poly.terms() else { return None };
        let is_upper = match bound.relation {
            Relation::Below | Relation::AtMost => !coefficient.is_negative(),
            Relation::Above | Relation::AtLeast => coefficient.is_negative(),
            Relation::Equal => true,
            Relation::Different => false,
        };
        let bound = -(poly.constant() / coefficient);
        let bound = if store.sort_of(variable) == Sort::INT { Rational::from(bound.floor()) } else { bound };
        (is_upper && *monomial == variable).then_some(bound)
    });
    bounds.min()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use shofar_horn::{HornGraph, parse};
    use shofar_run::{Limits, Reason};

    use super::*;
    use crate::Run;

    /// The clauses have no loop, so no query to the solver notices the limit.
    #[test]
    fn rows_are_collected_within_the_limits() {
        let store = TermStore::new();
        let text = "(declare-fun P (Int Int) Bool) (declare-fun Q (Int Int) Bool) (assert (P 0 0))
            (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< (+ x (* 3 y)) 7)) (Q y x))))
            (assert (forall ((x Int) (y Int)) (=> (and (Q x y) (> x y)) false)))";
        let system = parse(&store, "test", text).expect("the test's clauses are right");
        let graph = HornGraph::of(&store, &system);
        let hulls = [Some(AffineHull::default()), Some(AffineHull::default())];
        let cancelled = AtomicBool::new(true);
        let stopped = Limits { cancel: Some(&cancelled), ..Limits::default() };
        let rows = |limits| {
            let run = Run::new(&store).with_limits(limits);
            let templates = templates(&mut Questions::new(&run, &graph), &hulls)?;
            Ok(templates.iter().map(Vec::len).collect::<Vec<_>>())
        };
        assert_eq!(rows(stopped), Err(Stop::Interrupted(Reason::Cancelled)));
        assert_eq!(rows(Limits::default()), Ok(vec![5, 4]));
    }

    /// A full template takes no time, however many sums there would be.
    #[test]
    fn a_full_template_takes_no_more_rows() {
        let store = TermStore::new();
        let variable = |at: usize| store.var(store.symbol(&format!("x{at}")), Sort::INT);
        let row = |at| LinearPoly::from_pairs(vec![(variable(at), Rational::ONE)], Rational::ZERO);
        let hull = AffineHull::default();
        let mut template = Template { hull: Some(&hull), rows: Vec::new() };
        for at in 0..MOST_ROWS {
            assert!(!template.is_full());
            template.add(row(at));
        }
        assert!(template.is_full());
        template.add(row(MOST_ROWS));
        assert_eq!(template.rows.len(), MOST_ROWS);
    }
}
