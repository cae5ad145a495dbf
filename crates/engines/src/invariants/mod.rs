//! Cheap inductive invariants: affine equalities, bounds and congruences of a few linear sums, and atoms of the clauses.
//!
//! **What it finds.** For each predicate a conjunction of linear equalities, inequalities, congruences and other atoms that holds of all
//! its facts.
//! It takes all clauses that the solver understands, linear or not. If the conjunctions exclude the bodies of all queries,
//! [`model`] returns those parts of them that this needs. It cannot find a derivation of `false`.
//!
//! **The idea.** A loop such as `i += 1; j += 2` keeps `j = 2i` and its guard bounds `i`. Engines that learn from
//! counterexamples find bounds one round after the other; abstract interpretation finds both at once:
//!
//! ```text
//! hulls   := affine hulls of the facts of each predicate                       affine.rs
//! rows    := sums worth a bound: arguments, atoms, sums that loops preserve    template.rs
//! bounds  := least bounds of the rows that the clauses preserve, widened to what labels bound by themselves
//! moduli  := congruences of the rows of integers, if the queries are still open congruence.rs
//! others  := the largest inductive subset of the clauses' atoms, in the end     houdini.rs
//! ```
//!
//! A second round knows what the first one has found. All analyses ask the solver for a clause instance that leaves the
//! current element, and join the fact that it derives. The element is inductive when no such instance exists: the last
//! queries are the proof.
//!
//! **Invariants.** V1: a predicate is unreached (`None`) or has equalities, bounds and congruences that hold of all facts found so far.
//! V2: an analysis that ends without an error is inductive, clause by clause.
//!
//! **Effort is counted.** Each query may use [`CONFLICTS`] conflicts and an analysis [`QUERIES`] queries. Beyond that it ends
//! with `Stop::Interrupted(Reason::Budget)`, and nothing is known.
//!
//! **Where it comes from.** M. Karr, "Affine relationships among variables of a program" (Acta Informatica 1976), for the
//! domain of equalities; T. Reps, M. Sagiv, G. Yorsh, "Symbolic implementation of the best transformer" (VMCAI 2004), for
//! the joins driven by models; S. Sankaranarayanan, H. Sipma, Z. Manna, "Scalable analysis of linear systems using
//! mathematical programming" (VMCAI 2005), for bounds of fixed rows. Projection takes the place of their linear programs:
//! it also sees through disjunctions and integers.

mod affine;
mod congruence;
mod houdini;
mod template;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::hull::affine::AffineHull;
use shofar_horn::transform::Lemma;
use shofar_horn::witness::GraphModel;
use shofar_logic::number::Rational;
use shofar_logic::{Assignment, LinearPoly, Sort, Term, TermStore, Value};
use shofar_run::{Limits, Reason, Stop};

use crate::clause_solvers::ClauseSolvers;
use crate::{Engine, Evidence, Fact, Run, fragment};

pub(crate) use houdini::atoms;

/// Conflicts that one query may resolve.
const CONFLICTS: u64 = 200;

/// Queries that one analysis may ask.
const QUERIES: usize = 800;

/// The number of terms in labels up to which an analysis is worth its time.
const MOST_TERMS: usize = 3000;

/// Rounds of an analysis. The second one knows the bounds of the first, which make more equalities hold: a loop that ends
/// when `j >= 10`, where `j <= 10` is known, ends with `j = 10`.
const ROUNDS: usize = 2;

/// A model of such invariants, if they exclude the bodies of all queries. `None` if they do not, or if that takes more
/// than its budget; the error says why the run has to end.
pub(crate) fn model(run: &Run<'_>, graph: &HornGraph) -> Result<Option<GraphModel>, Stop> {
    if !is_worth_it(run.store, graph) {
        return Ok(None);
    }
    match search(&mut Questions::new(run, graph)) {
        Ok(model) => Ok(model),
        Err(stop) => run.interrupted().map_or(Ok(None), |_| Err(stop)),
    }
}

fn is_worth_it(store: &TermStore, graph: &HornGraph) -> bool {
    let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
    store.subterms(&labels).len() <= MOST_TERMS
}

/// The engine that looks for a model among cheap invariants, and sends them to others if they are not a model.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Invariants;

impl Engine for Invariants {
    fn name(&self) -> &'static str {
        "invariants"
    }

    fn description(&self) -> &'static str {
        "abstract interpretation: equalities, bounds and congruences of linear sums, and atoms of the clauses; all systems"
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_interpolable(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        if !is_worth_it(run.store, graph) {
            return Err(Stop::Exhausted("the clauses are too large for a cheap analysis"));
        }
        let mut questions = Questions::new(run, graph);
        let found = search(&mut questions);
        let counters = vec![("solver.queries", (QUERIES - questions.left) as u64)];
        run.tell_statistics(counters, start);
        match found {
            Ok(Some(model)) => Ok(Evidence::Sat(model)),
            Err(stop @ Stop::Unsupported(_)) => Err(stop),
            Err(stop) if run.interrupted().is_some() => Err(stop),
            // A round that was not finished has added nothing.
            Ok(None) | Err(_) => {
                let known = questions.closed();
                if let Some(port) = run.port().filter(|_| !known.is_empty()) {
                    port.send(Fact::Closed(known));
                }
                Err(Stop::Exhausted("such invariants do not exclude the queries"))
            }
        }
    }
}

/// What invariants of a node are likely to be made of, over its variables.
#[derive(Clone, Default, Debug)]
pub(crate) struct Relations {
    /// Linear sums.
    pub(crate) sums: Vec<Term>,
    /// Equalities that hold of all facts.
    pub(crate) equalities: Vec<Term>,
}

/// The relations of each node. Nothing is known if that takes more than its budget; the error says why the run has to end.
pub(crate) fn relations(run: &Run<'_>, graph: &HornGraph) -> Result<Vec<Relations>, Stop> {
    let store = run.store;
    let mut questions = Questions::new(run, graph);
    let found = affine::hulls(&mut questions).and_then(|hulls| {
        let templates = template::templates(&mut questions, &hulls)?;
        Ok(std::iter::zip(hulls, templates))
    });
    let Ok(found) = found else {
        run.go_on()?;
        return Ok(vec![Relations::default(); graph.nodes().len()]);
    };
    let of_node = |(hull, rows): (Option<AffineHull>, Vec<LinearPoly>)| {
        let equations = hull.iter().flat_map(AffineHull::sums);
        Relations {
            sums: equations.chain(rows).map(|sum| affine::to_term(store, &sum)).collect(),
            equalities: hull.as_ref().map_or_else(Vec::new, |hull| hull.formulas(store)),
        }
    };
    Ok(found.map(of_node).collect())
}

fn search(questions: &mut Questions<'_>) -> Result<Option<GraphModel>, Stop> {
    for _ in 0..ROUNDS {
        let hulls = affine::hulls(questions)?;
        let templates = template::templates(questions, &hulls)?;
        let found = template::bounded(questions, hulls, &templates)?;
        let mut model = questions.model_of(found)?;
        if model.is_none() {
            let found = congruence::congruences(questions, &templates)?;
            let is_new = found.iter().flatten().any(|literals| !literals.is_empty());
            model = if is_new { questions.model_of(found)? } else { None };
        }
        if model.is_some() {
            return Ok(model);
        }
    }
    let found = houdini::houdini(questions)?;
    questions.model_of(found)
}

/// Asks about single clauses, with a solver for each that has its label.
struct Questions<'a> {
    run: &'a Run<'a>,
    graph: &'a HornGraph,
    solvers: ClauseSolvers<'a>,
    /// How many may still be asked.
    left: usize,
    /// By nodes: literals that are inductive together (V2); none for a node without facts.
    known: Vec<Option<Vec<Term>>>,
}

impl<'a> Questions<'a> {
    fn new(run: &'a Run<'a>, graph: &'a HornGraph) -> Self {
        let solvers = ClauseSolvers::new(run, graph);
        let known = graph.nodes().map(|_| Some(Vec::new())).collect();
        Questions { run, graph, solvers, left: QUERIES, known }
    }

    /// Adds what was found with the help of what is known, and returns the model that all of it is, if it is one.
    fn model_of(&mut self, found: Vec<Option<Vec<Term>>>) -> Result<Option<GraphModel>, Stop> {
        self.learn(found);
        let Some(needed) = self.needed()? else { return Ok(None) };
        let formula = |(node, _): (NodeId, _)| self.run.store.and_of(needed[node.index()].iter().copied());
        Ok(Some(GraphModel::of_formulas(self.graph.nodes().map(formula))))
    }

    /// Adds what was found with the help of what is known.
    fn learn(&mut self, found: Vec<Option<Vec<Term>>>) {
        for (known, found) in self.known.iter_mut().zip(found) {
            match (known.as_mut(), found) {
                (Some(known), Some(found)) => {
                    known.extend(found);
                    known.sort_unstable();
                    known.dedup();
                }
                _ => *known = None,
            }
        }
    }

    /// All that is known, one formula for each literal.
    fn closed(&self) -> Vec<Lemma> {
        let of_node = |((node, _), known): ((NodeId, _), &Option<Vec<Term>>)| -> Vec<Lemma> {
            let formulas = known.clone().unwrap_or_else(|| vec![Term::FALSE]);
            formulas.into_iter().map(|formula| Lemma { node, formula }).collect()
        };
        self.graph.nodes().zip(&self.known).flat_map(of_node).collect()
    }

    /// What is known of the sources of an edge; `None` if one has no facts.
    fn known_at_sources(&self, edge: EdgeId) -> Option<Vec<Term>> {
        let mut formulas = Vec::new();
        for (source, &node) in self.graph.edge(edge).sources().iter().enumerate() {
            let known = self.known[node.index()].as_ref()?.iter();
            formulas
                .extend(known.map(|&literal| self.graph.at_source(self.run.store, edge, source, literal)));
        }
        Some(formulas)
    }

    /// By nodes, an inductive part of the known literals that excludes the queries; `None` if not even all of
    /// them do. A node without facts has the literal `false`, if that is needed.
    fn needed(&mut self) -> Result<Option<Vec<BTreeSet<Term>>>, Stop> {
        let graph = self.graph;
        let (incoming, queries) = graph.incoming();
        let mut needed: Vec<BTreeSet<Term>> = vec![BTreeSet::new(); graph.nodes().len()];
        let mut open = VecDeque::new();
        for query in queries {
            let Some(core) = self.core(query, None)? else { return Ok(None) };
            open.extend(core);
        }
        while let Some((node, literal)) = open.pop_front() {
            if !needed[node.index()].insert(literal) {
                continue;
            }
            for &edge in &incoming[node.index()] {
                // By V2 there is one, but for a solver that gives another answer to the same question.
                let Some(core) = self.core(edge, Some(literal))? else { return Ok(None) };
                open.extend(core);
            }
        }
        Ok(Some(needed))
    }

    /// The literals of the sources with which an edge derives the literal at its target, or nothing if it is a query;
    /// `None` if all literals do not suffice.
    fn core(&mut self, edge: EdgeId, literal: Option<Term>) -> Result<Option<Vec<(NodeId, Term)>>, Stop> {
        let (run, graph) = (self.run, self.graph);
        let mut origins: BTreeMap<Term, (NodeId, Term)> = BTreeMap::new();
        for (source, &node) in graph.edge(edge).sources().iter().enumerate() {
            let Some(literals) = &self.known[node.index()] else {
                return Ok(Some(vec![(node, Term::FALSE)]));
            };
            for &literal in literals {
                origins.insert(graph.at_source(run.store, edge, source, literal), (node, literal));
            }
        }
        let mut assumptions: Vec<Term> = origins.keys().copied().collect();
        assumptions.extend(literal.map(|literal| run.store.not(graph.at_target(run.store, edge, literal))));
        if self.holds(edge, &assumptions)? {
            return Ok(None);
        }
        let solver = self.solvers.of(edge)?;
        solver.minimize_core(&Limits { conflicts: Some(CONFLICTS), ..run.limits });
        Ok(Some(solver.core().iter().filter_map(|assumption| origins.get(assumption).copied()).collect()))
    }

    /// Counts a query.
    fn pay(&mut self) -> Result<(), Stop> {
        self.left = self.left.checked_sub(1).ok_or(Stop::Interrupted(Reason::Budget))?;
        Ok(())
    }

    /// Whether the label and the assumptions have a model.
    fn holds(&mut self, edge: EdgeId, assumptions: &[Term]) -> Result<bool, Stop> {
        self.pay()?;
        let limits = Limits { conflicts: Some(CONFLICTS), ..self.run.limits };
        let run = self.run.clone().with_limits(limits);
        run.is_satisfiable(self.solvers.of(edge)?, assumptions)
    }

    /// The arguments, as far as they are numbers, of a fact that an edge derives from assumptions about its sources, and of which
    /// not all the formulas `inside` are true; `None` for these stands for no facts so far.
    fn fact_outside(
        &mut self,
        edge: EdgeId,
        target: NodeId,
        mut assumptions: Vec<Term>,
        inside: Option<Vec<Term>>,
    ) -> Result<Option<Vec<(Term, Rational)>>, Stop> {
        let (store, graph) = (self.run.store, self.graph);
        if let Some(inside) = inside {
            if inside.is_empty() {
                return Ok(None);
            }
            assumptions.push(store.not(graph.at_target(store, edge, store.and(&inside))));
        }
        let next = graph.target_variables(edge);
        let Some(model) = self.model(edge, &assumptions, next)? else { return Ok(None) };
        let arguments = graph.node(target).variables().iter().zip(next);
        Ok(Some(
            arguments
                .filter_map(|(&variable, &next)| Some((variable, number(store, &model, next)?)))
                .collect(),
        ))
    }

    /// A model of the label and the assumptions, with values for their variables and some others.
    fn model(
        &mut self,
        edge: EdgeId,
        assumptions: &[Term],
        others: &[Term],
    ) -> Result<Option<Assignment>, Stop> {
        if !self.holds(edge, assumptions)? {
            return Ok(None);
        }
        let mut terms = vec![self.graph.edge(edge).label()];
        terms.extend(assumptions.iter().chain(others));
        Ok(Some(self.solvers.of(edge)?.model(&terms)))
    }
}

/// The number that a variable is in a model; `None` if its sort is another one.
fn number(store: &TermStore, model: &Assignment, variable: Term) -> Option<Rational> {
    match crate::unroll::value(store, model, variable) {
        Value::Int(value) => Some(value.into()),
        Value::Real(value) => Some(value),
        _ => None,
    }
}

/// The nodes of an edge, as often as they occur, with their arguments in its label.
fn occurrences(graph: &HornGraph, edge: EdgeId) -> impl Iterator<Item = (NodeId, &[Term])> {
    let clause = graph.edge(edge);
    let sources = clause.sources().iter().enumerate();
    let sources = sources.map(move |(at, &node)| (node, graph.source_variables(edge, at)));
    sources.chain(clause.target().map(|node| (node, graph.target_variables(edge))))
}

/// Whether a variable is a number.
pub(crate) fn is_number(store: &TermStore, variable: Term) -> bool {
    matches!(store.sort_of(variable), Sort::INT | Sort::REAL)
}
