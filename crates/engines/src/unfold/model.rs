//! The model where unfolding ends: tree interpolants of the refuted unfolding.
//!
//! The unfolding has no derivation of `false`, even if open atoms may hold for any arguments. It is unfolded to a tree, in which
//! each vertex has a predicate with variables of its own, and each expanded vertex all clauses of its predicate. The tree
//! interpolants `I` of these formulas, over the variables of vertices, satisfy
//!
//! - M1: for each clause of an expanded vertex, the interpolants of its children and the label imply that of the vertex; that of
//!   the root is false;
//! - M2: the interpolant of a vertex that is not expanded is true.
//!
//! The model of a predicate is the conjunction of the interpolants of all its vertices. *It satisfies the clauses*: let the models
//! of a body and the label hold. They imply the interpolants of the children of any vertex for the head, so by M1 and M2 they
//! imply its interpolant, and hence the model of the head. Nothing in this depends on how many atoms a body has. A query is a
//! clause of the root.
//!
//! Vertices that the refutation does not need count as not expanded. So the model says no more than needed.
//!
//! The interpolants of trees of clauses go back to K. McMillan and A. Rybalchenko, "Solving constrained Horn clauses using
//! interpolation" (2013). There they have to be generalised until they are inductive. Here they are, since open atoms are arbitrary.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId, rename};
use shofar_horn::witness::GraphModel;
use shofar_logic::{Sort, Substitution, Term, TermStore};
use shofar_run::Stop;
use shofar_smt::proof::Part;

use super::tree::{AtomId, ROOT, Tree};
use crate::unroll::{Template, fresh_vector};
use crate::{InterpolationMethod, Run};

/// The maximal number of vertices.
const MOST_VERTICES: usize = 20_000;

/// A vertex of the tree.
struct Vertex {
    /// `None` for the root.
    node: Option<NodeId>,
    parent: usize,
    /// Whether the vertex has a derivation; true for the root.
    holds: Term,
    variables: Box<[Term]>,
    /// The clauses with their children; `None` if the vertex is not expanded.
    clauses: Option<Vec<(EdgeId, Vec<usize>)>>,
}

/// The model of a graph whose unfolding has no derivation, whatever open atoms are.
pub(super) fn model(
    run: &Run<'_>,
    graph: &HornGraph,
    tree: &Tree<'_>,
    interpolation: InterpolationMethod,
) -> Result<GraphModel, Stop> {
    let store = run.store;
    let vertices = vertices(store, graph, tree)?;
    let formulas = formulas(store, graph, &vertices);
    let Some(parts) = needed(run, &vertices, &formulas)? else {
        return Err(match tree.calls {
            0 => Stop::Internal("an unfolding without a derivation has one".to_owned()),
            _ => Stop::Exhausted("no refutation exists, but the proof uses functions, which have no model"),
        });
    };
    let is_derivable = graph.derivable().nodes;
    let mut conjuncts: Vec<Vec<Term>> = is_derivable
        .iter()
        .map(|&is_derivable| if is_derivable { Vec::new() } else { vec![Term::FALSE] })
        .collect();
    let interpolants = interpolants(run, graph, &vertices, &formulas, &parts, interpolation);
    let interpolants = interpolants.map_err(|stop| match stop {
        Stop::Exhausted(_) => {
            Stop::Exhausted("no refutation exists, but interpolants for a model are not found")
        }
        stop => stop,
    })?;
    for (node, interpolant) in interpolants {
        conjuncts[node.index()].push(interpolant);
    }
    Ok(GraphModel::of_formulas(conjuncts.iter().map(|conjuncts| store.and(conjuncts))))
}

/// The tree of an unfolding, breadth first.
fn vertices(store: &TermStore, graph: &HornGraph, tree: &Tree<'_>) -> Result<Vec<Vertex>, Stop> {
    let vertex = |parent: usize, node: Option<NodeId>| Vertex {
        node,
        parent,
        holds: match node {
            Some(_) => store.var(store.fresh_symbol("holds"), Sort::BOOL),
            None => Term::TRUE,
        },
        variables: node.map_or(Box::default(), |node| fresh_vector(store, graph.node(node).variables(), "v")),
        clauses: None,
    };
    let mut vertices = vec![vertex(0, None)];
    let mut open: VecDeque<(usize, AtomId)> = VecDeque::from([(0, ROOT)]);
    while let Some((index, id)) = open.pop_front() {
        let atom = tree.atom(id);
        let Some(ways) = &atom.ways else { continue };
        let mut clauses = Vec::new();
        for edge in tree.edges(atom.node) {
            let way = ways.iter().find(|way| way.edge == edge);
            let first = vertices.len();
            for (source, &node) in graph.edge(edge).sources().iter().enumerate() {
                if let Some(way) = way {
                    open.push_back((vertices.len(), way.premises[source]));
                }
                vertices.push(vertex(index, Some(node)));
            }
            clauses.push((edge, (first..vertices.len()).collect()));
        }
        vertices[index].clauses = Some(clauses);
        if vertices.len() > MOST_VERTICES {
            return Err(Stop::Exhausted("no refutation exists, but the unfolding is too large for a model"));
        }
    }
    Ok(vertices)
}

/// The formula of each expanded vertex: if it holds, so does the body of one of its clauses. Indexed by vertex.
fn formulas(store: &TermStore, graph: &HornGraph, vertices: &[Vertex]) -> Vec<Term> {
    let clause = |vertex: &Vertex, (edge, children): &(EdgeId, Vec<usize>)| {
        let sources = children.iter().enumerate();
        let mut vectors: Vec<(&[Term], &[Term])> = sources
            .map(|(source, &child)| (graph.source_variables(*edge, source), &*vertices[child].variables))
            .collect();
        vectors.push((graph.target_variables(*edge), &vertex.variables));
        let label = Template::of_edge(store, graph, *edge).copy(store, &vectors);
        store.and_of(children.iter().map(|&child| vertices[child].holds).chain([label]))
    };
    let formula = |vertex: &Vertex| match &vertex.clauses {
        Some(clauses) => {
            store.implies(vertex.holds, store.or_of(clauses.iter().map(|it| clause(vertex, it))))
        }
        None => Term::TRUE,
    };
    vertices.iter().map(formula).collect()
}

/// Expanded vertices whose formulas are unsatisfiable together, children before their parents. With a vertex they contain those
/// above it: the others cannot matter, for nothing requires that the vertex holds. `None` if all formulas together are
/// satisfiable: equal calls of functions are different vertices here.
fn needed(run: &Run<'_>, vertices: &[Vertex], formulas: &[Term]) -> Result<Option<Vec<usize>>, Stop> {
    let store = run.store;
    let mut solver = run.solver();
    let mut literals = Vec::with_capacity(vertices.len());
    for &formula in formulas {
        let literal = store.var(store.fresh_symbol("on"), Sort::BOOL);
        literals.push(literal);
        run.assert(&mut solver, &[store.implies(literal, formula)])?;
    }
    if run.is_satisfiable(&mut solver, &literals)? {
        return Ok(None);
    }
    solver.minimize_core(&run.limits);
    let core: FxHashSet<Term> = solver.core().into_iter().collect();
    let mut is_needed: Vec<bool> = literals.iter().map(|literal| core.contains(literal)).collect();
    for (index, vertex) in vertices.iter().enumerate() {
        is_needed[index] &= vertex.clauses.is_some() && is_needed[vertex.parent];
    }
    Ok(Some((0..vertices.len()).rev().filter(|&index| is_needed[index]).collect()))
}

/// The interpolants of the needed vertices other than the root, over the variables of their predicates.
fn interpolants(
    run: &Run<'_>,
    graph: &HornGraph,
    vertices: &[Vertex],
    formulas: &[Term],
    parts: &[usize],
    interpolation: InterpolationMethod,
) -> Result<Vec<(NodeId, Term)>, Stop> {
    let store = run.store;
    let mut solver = run.solver_with_proofs();
    for &index in parts {
        let asserted = solver.assert_in(formulas[index], Part(index as u32));
        asserted.map_err(|unsupported| unsupported.stop(store))?;
    }
    if run.is_satisfiable(&mut solver, &[])? {
        return Err(Stop::Internal("a core of an unfolding is satisfiable".to_owned()));
    }
    // The root is last.
    let mut position = vec![parts.len(); vertices.len()];
    parts.iter().enumerate().for_each(|(at, &index)| position[index] = at);
    let parent = |index: usize| if index == 0 { parts.len() } else { position[vertices[index].parent] };
    let order: Vec<(Part, usize)> = parts.iter().map(|&index| (Part(index as u32), parent(index))).collect();
    // Duals have no tree interpolants.
    let method = match interpolation {
        InterpolationMethod::Farkas | InterpolationMethod::DualFarkas => InterpolationMethod::Farkas,
        InterpolationMethod::Decomposed | InterpolationMethod::DualDecomposed => {
            InterpolationMethod::Decomposed
        }
    };
    let found = solver.interpolator(method.options())?.tree(&order, &run.limits)?;
    let mut interpolants = Vec::with_capacity(found.len());
    for (&index, interpolant) in parts.iter().zip(found) {
        let vertex = &vertices[index];
        let Some(node) = vertex.node else { continue };
        let holding: Substitution = [(vertex.holds, Term::TRUE)].into_iter().collect();
        let formula = store.instantiate(interpolant.formula, &holding);
        interpolants.push((node, rename(store, formula, &vertex.variables, graph.node(node).variables())));
    }
    Ok(interpolants)
}
