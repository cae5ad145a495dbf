//! Refinement: the derivation of a query as a tree of clauses, its instance or its interpolants.
//!
//! Facts are shared in a derivation, but each use may need an instance of its own, so the derivation is unfolded to a tree. That
//! may be exponential. The tree is therefore unfolded from the query on, in pieces that grow: a fact below the piece is assumed
//! to be abstract, with its predicates. If such a piece has no instance, neither has the tree.

use std::collections::{BTreeSet, VecDeque};

use shofar_horn::HornGraph;
use shofar_horn::graph::{NodeId, rename};
use shofar_horn::witness::{Derivation, GraphStep};
use shofar_logic::{Substitution, Term, TermStore};
use shofar_run::Stop;
use shofar_smt::proof::Part;
use shofar_smt::solver::Solver;

use super::Options;
use super::facts::{Application, FactId};
use crate::interpolation_abstraction::{Cut, TemplateId, Templates};
use crate::unroll::{Template, fresh_vector, value};
use crate::{InterpolationMethod, Run};

/// The clauses of the first piece. Predicates from near the query tend to be about the property, not about the path there.
const FIRST_PIECE: usize = 4;

/// The clauses of the largest piece.
const LARGEST_PIECE: usize = 100_000;

/// Abstract facts and how they are derived.
pub(crate) trait AbstractFacts {
    /// The application that derives a fact.
    fn application(&self, fact: FactId) -> &Application;

    /// What a fact says about the variables of its node.
    fn formula(&self, store: &TermStore, fact: FactId) -> Term;
}

/// The result for a derivation.
pub(crate) enum Refuted {
    /// It has an instance.
    No(Derivation),
    /// It has none; the conjuncts of these interpolants exclude it.
    By(Vec<(NodeId, Term)>),
}

/// Finds instances and interpolants.
pub(crate) struct Refiner<'a> {
    store: &'a TermStore,
    graph: &'a HornGraph,
    run: &'a Run<'a>,
    options: Options,
    /// Indexed by edge.
    labels: Vec<Template>,
    templates: Option<Templates>,
    pub(crate) interpolants: u64,
    pub(crate) refinements: u64,
}

/// A vertex of the tree: an application of a clause, or a fact that is abstract.
struct Vertex {
    /// `None` for the query.
    fact: Option<FactId>,
    parent: usize,
    /// Indexed by source. Empty if the fact is abstract, too.
    children: Vec<usize>,
    is_abstract: bool,
    /// The arguments of the fact where it is derived.
    variables: Box<[Term]>,
    /// Its arguments where it is used; the same, unless templates connect them.
    used: Box<[Term]>,
}

impl<'a> Refiner<'a> {
    pub(crate) fn new(graph: &'a HornGraph, run: &'a Run<'a>, options: Options) -> Self {
        let store = run.store;
        let labels = graph.edges().map(|(id, _)| Template::of_edge(store, graph, id)).collect();
        Refiner { store, graph, run, options, labels, templates: None, interpolants: 0, refinements: 0 }
    }

    /// Lets interpolants speak of these sums rather than of single arguments. Indexed by node.
    pub(crate) fn prefer(&mut self, sums: Vec<Vec<Term>>) {
        self.templates = Some(Templates::of_sums(self.graph, sums));
    }

    /// Finds an instance of the derivation, or predicates that exclude it.
    pub(crate) fn refine(&mut self, facts: &dyn AbstractFacts, query: &Application) -> Result<Refuted, Stop> {
        self.refinements += 1;
        let mut size = FIRST_PIECE;
        loop {
            let tree = self.unfold(facts, query, size);
            let is_whole = !tree.iter().any(|vertex| vertex.is_abstract);
            let vertices = tree.iter().enumerate();
            let mut formulas: Vec<(Term, Part)> = vertices
                .map(|(at, vertex)| (self.formula(facts, query, &tree, vertex), Part(at as u32)))
                .collect();
            let mut shared = Substitution::new();
            if let Some(chosen) = self.choose(facts, &tree, &formulas)? {
                shared = self.connect(facts, &tree, &chosen, &mut formulas);
            }
            let mut solver = self.run.solver_with_proofs();
            let asserted = solver.assert_all_in(&formulas);
            asserted.map_err(|unsupported| unsupported.stop(self.store))?;
            if !self.run.is_satisfiable(&mut solver, &[])? {
                return self.predicates(facts, &tree, &shared, &solver).map(Refuted::By);
            }
            if is_whole {
                return Ok(Refuted::No(self.derivation(facts, query, &tree, &solver)));
            }
            if size >= LARGEST_PIECE {
                return Err(Stop::Exhausted("the tree of a derivation is too large"));
            }
            size *= 2;
        }
    }

    /// The templates that connect the facts of a tree; `None` if there are no templates. They are chosen in each n-th
    /// refinement. In the others, and if the tree has an instance, they are the arguments.
    fn choose(
        &self,
        facts: &dyn AbstractFacts,
        tree: &[Vertex],
        formulas: &[(Term, Part)],
    ) -> Result<Option<BTreeSet<TemplateId>>, Stop> {
        let Some(templates) = &self.templates else { return Ok(None) };
        if !self.refinements.is_multiple_of(self.options.templates) {
            return Ok(Some(templates.arguments()));
        }
        let formulas: Vec<Term> = formulas.iter().map(|&(formula, _)| formula).collect();
        let cuts: Vec<Cut<'_>> = tree.iter().filter_map(|vertex| self.cut(facts, vertex)).collect();
        let chosen = templates.choose(self.run, &formulas, &cuts)?;
        Ok(Some(chosen.unwrap_or_else(|| templates.arguments())))
    }

    /// Adds what connects the facts of a tree by templates, and returns the templates that the shared variables stand for.
    fn connect(
        &self,
        facts: &dyn AbstractFacts,
        tree: &[Vertex],
        chosen: &BTreeSet<TemplateId>,
        formulas: &mut Vec<(Term, Part)>,
    ) -> Substitution {
        let mut shared = Substitution::new();
        let Some(templates) = &self.templates else { return shared };
        for (at, vertex) in tree.iter().enumerate() {
            let Some(cut) = self.cut(facts, vertex) else { continue };
            for &template in chosen.range((cut.place, 0)..=(cut.place, usize::MAX)) {
                let link = templates.link(self.store, template, &cut);
                formulas.push((link.derived, Part(at as u32)));
                formulas.push((link.used, Part(vertex.parent as u32)));
                shared.insert(link.shared.0, link.shared.1);
            }
        }
        shared
    }

    /// The cut between a vertex and its parent.
    fn cut<'v>(&self, facts: &dyn AbstractFacts, vertex: &'v Vertex) -> Option<Cut<'v>> {
        let place = self.node(facts, vertex)?.index();
        Some(Cut { place, derived: &vertex.variables, used: &vertex.used })
    }

    /// The node of a vertex; `None` for the query.
    fn node(&self, facts: &dyn AbstractFacts, vertex: &Vertex) -> Option<NodeId> {
        self.graph.edge(facts.application(vertex.fact?).edge).target()
    }

    /// The tree of a derivation from the query on, breadth first, up to a size. Parents come before their children.
    fn unfold(&self, facts: &dyn AbstractFacts, query: &Application, size: usize) -> Vec<Vertex> {
        let mut tree: Vec<Vertex> = vec![Vertex {
            fact: None,
            parent: 0,
            children: Vec::new(),
            is_abstract: false,
            variables: Box::default(),
            used: Box::default(),
        }];
        let mut open: VecDeque<usize> = VecDeque::from([0]);
        while let Some(at) = open.pop_front() {
            let application = tree[at].application(facts, query);
            if at > 0 && tree.len() + application.premises.len() > size {
                tree[at].is_abstract = true;
                continue;
            }
            for (source, &fact) in application.premises.iter().enumerate() {
                let node = self.graph.edge(application.edge).sources()[source];
                let variables = fresh_vector(self.store, self.graph.node(node).variables(), "p");
                let used = match &self.templates {
                    Some(_) => fresh_vector(self.store, &variables, "u"),
                    None => variables.clone(),
                };
                let child = tree.len();
                tree[at].children.push(child);
                let children = Vec::new();
                tree.push(Vertex {
                    fact: Some(fact),
                    parent: at,
                    children,
                    is_abstract: false,
                    variables,
                    used,
                });
                open.push_back(child);
            }
        }
        tree
    }

    /// The constraint of a vertex: the predicates of its fact, and the clause unless the fact is abstract. The predicates follow from
    /// the tree below, but the solver need not find that out again.
    fn formula(
        &self,
        facts: &dyn AbstractFacts,
        query: &Application,
        tree: &[Vertex],
        vertex: &Vertex,
    ) -> Term {
        let known = match (vertex.fact, self.node(facts, vertex)) {
            (Some(fact), Some(node)) => {
                let own = self.graph.node(node).variables();
                rename(self.store, facts.formula(self.store, fact), own, &vertex.variables)
            }
            _ => Term::TRUE,
        };
        if vertex.is_abstract {
            return known;
        }
        let edge = vertex.application(facts, query).edge;
        let sources = vertex.children.iter().enumerate();
        let mut vectors: Vec<(&[Term], &[Term])> = sources
            .map(|(source, &child)| (self.graph.source_variables(edge, source), &*tree[child].used))
            .collect();
        vectors.push((self.graph.target_variables(edge), &vertex.variables));
        self.store.and2(known, self.labels[edge.index()].copy(self.store, &vectors))
    }

    /// The tree's interpolants, over the variables of nodes.
    fn predicates(
        &mut self,
        facts: &dyn AbstractFacts,
        tree: &[Vertex],
        shared: &Substitution,
        solver: &Solver<'_>,
    ) -> Result<Vec<(NodeId, Term)>, Stop> {
        let last = tree.len() - 1;
        // The tree has parents first, the interpolator wants them last.
        let order: Vec<(Part, usize)> = (0..tree.len())
            .rev()
            .map(|at| (Part(at as u32), if at == 0 { tree.len() } else { last - tree[at].parent }))
            .collect();
        let is_path = tree.iter().all(|vertex| vertex.children.len() <= 1);
        let limits = &self.run.limits;
        let interpolants: Vec<Term> = if is_path {
            let interpolator = solver.interpolator(self.options.interpolation.options())?;
            let order: Vec<Part> = order.iter().map(|&(part, _)| part).collect();
            let found = interpolator.sequence(&order, limits)?;
            found.into_iter().map(|interpolant| interpolant.formula).collect()
        } else {
            let method = match self.options.interpolation {
                InterpolationMethod::Farkas | InterpolationMethod::DualFarkas => InterpolationMethod::Farkas,
                _ => InterpolationMethod::Decomposed,
            };
            let interpolator = solver.interpolator(method.options())?;
            let found = interpolator.tree(&order, limits)?;
            found.into_iter().map(|interpolant| interpolant.formula).collect()
        };
        let mut found = Vec::new();
        for (vertex, interpolant) in tree.iter().rev().zip(interpolants) {
            let Some(node) = self.node(facts, vertex) else { continue };
            self.interpolants += 1;
            let interpolant = self.store.instantiate(interpolant, shared);
            let formula =
                rename(self.store, interpolant, &vertex.variables, self.graph.node(node).variables());
            tracing::debug!(fact = ?vertex.fact, formula = %self.store.display(formula), "interpolant");
            found.push((node, formula));
        }
        Ok(found)
    }

    /// The derivation in the solver's model.
    fn derivation(
        &self,
        facts: &dyn AbstractFacts,
        query: &Application,
        tree: &[Vertex],
        solver: &Solver<'_>,
    ) -> Derivation {
        let variables: Vec<Term> = tree.iter().flat_map(|vertex| vertex.variables.iter().copied()).collect();
        let model = solver.model(&variables);
        let last = tree.len() - 1;
        let step = |vertex: &Vertex| GraphStep {
            edge: vertex.application(facts, query).edge,
            premises: vertex.children.iter().map(|&child| last - child).collect(),
            fact: vertex.variables.iter().map(|&variable| value(self.store, &model, variable)).collect(),
        };
        Derivation { steps: tree.iter().rev().map(step).collect() }
    }
}

impl Vertex {
    fn application<'f>(&self, facts: &'f dyn AbstractFacts, query: &'f Application) -> &'f Application {
        self.fact.map_or(query, |fact| facts.application(fact))
    }
}
