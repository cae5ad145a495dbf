//! Builds the product graph, by unfolding and folding.
//!
//! ```text
//! build(queries):
//!     for each query: add its clauses                              -- the first products
//!     for each product, until all are done:
//!         unfold the atoms that recur on one argument, with all combinations of their clauses
//!         add these clauses
//!
//! add(clauses):
//!     until a clause has only known products: unfold an atom whose argument of recursion has a constructor
//!     atoms of functions with the same inputs become one
//!     fold what is left
//!
//! fold(goals):
//!     split them into groups that share structures
//!     each group: a known product, if it is one; a part of it, if that is a known product; else a new product
//! ```
//!
//! - B1: in the least model a product is equivalent to the conjunction of its atoms, because unfolding and folding keep the
//!   least model. So the product graph has the same answer.
//! - B2: at least one atom of a product is unfolded, and the groups have the atoms below it and the other atoms of the
//!   product, each once. This is the induction that the checker demands.
//! - B3: predicates are functions if joint lemmas say so (`functions.rs`), which belong to the proof.
//! - B4: summaries, such as that `append` adds lengths, exclude clauses of products; those that do are lemmas of the proof.
//! - B5: predicates over numbers, predicates that mean "different", and whatever is not worth a product stay as they are,
//!   with their own clauses: the transformations that follow know how to handle them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::HornGraph;
use shofar_horn::check::fold_facts;
use shofar_horn::graph::{EdgeId, Node, NodeId};
use shofar_horn::transform::{disequalities, solve_equations};
use shofar_logic::{FoldLemma, Op, Sort, Substitution, Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;

use super::pattern::{Goal, Match, Pattern};
use crate::Run;
use crate::algebra::{Summaries, summaries};
use crate::functions::{outputs, outputs_for};
use crate::rule::Rule;
use crate::unroll::fresh_vector;

/// The maximal number of products.
const MOST_PRODUCTS: usize = 64;

/// The maximal number of atoms of a product. A query with more is not a product.
const MOST_ATOMS: usize = 8;

/// The maximal number of clauses of a product.
const MOST_CLAUSES: usize = 400;

/// The maximal number of further atoms that are unfolded in a clause of a product.
const MOST_UNFOLDED: usize = 16;

/// The conflict limit for the question whether a clause of a product has an instance.
const CONFLICTS: u64 = 100;

/// A predicate of the product graph.
pub(super) struct Product {
    pub(super) pattern: Pattern,
    /// The atoms that are unfolded. A predicate that stays as it is has one.
    pub(super) unfolded: Vec<usize>,
}

/// The product graph. Its nodes are the products.
pub(super) struct ProductGraph {
    pub(super) graph: HornGraph,
    pub(super) products: Vec<Product>,
    /// Predicates of the original graph with an output, as far as the products rest on them.
    pub(super) functions: BTreeSet<(NodeId, usize)>,
    /// Formulas that hold for the facts of predicates of the original graph, over the variables of its nodes, as far as
    /// the products rest on them; and the lemmas about the functions that they apply.
    pub(super) summaries: Vec<(NodeId, Term)>,
    pub(super) fold_lemmas: Vec<FoldLemma>,
}

/// The body of a clause of a product.
#[derive(Clone)]
struct Body {
    /// The arguments of the product in the head.
    head: Vec<Term>,
    goals: Vec<Goal>,
    constraint: Term,
}

struct Builder<'a> {
    run: &'a Run<'a>,
    graph: &'a HornGraph,
    /// Indexed by node.
    rules: Vec<Vec<Rule>>,
    /// The predicates that take part in no product (B5).
    is_single: Vec<bool>,
    /// Whether a predicate occurs in a derivation of itself.
    is_recursive: Vec<bool>,
    /// The positions of each predicate on which it recurs.
    recurs_on: Vec<Vec<bool>>,
    /// The outputs of each predicate.
    outputs: Vec<Vec<usize>>,
    /// The predicates whose atoms became one, with their outputs.
    merged: RefCell<BTreeSet<(NodeId, usize)>>,
    summaries: Summaries,
    /// The predicates whose summaries excluded a clause.
    summarised: BTreeSet<NodeId>,
    products: Vec<Product>,
    new: HornGraph,
    /// The products of single predicates.
    singles: FxHashMap<NodeId, NodeId>,
    /// The largest product that is made.
    most_atoms: usize,
}

/// The product graph of a graph; [`Stop::Exhausted`] if no product is made, or too many.
pub(super) fn build(run: &Run<'_>, graph: &HornGraph) -> Result<ProductGraph, Stop> {
    let mut builder = Builder::new(run, graph)?;
    builder.build()?;
    let summaries = builder.used_summaries();
    let Builder {
        rules,
        outputs,
        merged,
        summaries: Summaries { lemmas: fold_lemmas, .. },
        new,
        products,
        ..
    } = builder;
    let functions = outputs_for(run, graph, &rules, &outputs, merged.into_inner())?;
    if functions.is_empty()
        && summaries.is_empty()
        && products.iter().all(|product| product.pattern.atoms.len() == 1)
    {
        return Err(Stop::Exhausted("no atoms share a structure"));
    }
    Ok(ProductGraph { graph: new, products, functions, summaries, fold_lemmas })
}

impl<'a> Builder<'a> {
    fn new(run: &'a Run<'a>, graph: &'a HornGraph) -> Result<Self, Stop> {
        let store = run.store;
        let mut rules: Vec<Vec<Rule>> = graph.nodes().map(|_| Vec::new()).collect();
        for (id, edge) in graph.edges() {
            if let Some(node) = edge.target() {
                rules[node.index()].push(Rule::new(store, graph, id));
            }
        }
        let different: FxHashSet<NodeId> = disequalities(run, graph).into_iter().collect();
        let is_recursive = is_recursive(graph);
        let has_structure = |node: &Node| node.sorts(store).into_iter().any(|sort| is_structure(store, sort));
        // What does not recur is unfolded anyway.
        let is_of_numbers = |id: NodeId, node: &Node| is_recursive[id.index()] && !has_structure(node);
        let is_single: Vec<bool> =
            graph.nodes().map(|(id, node)| different.contains(&id) || is_of_numbers(id, node)).collect();
        // No product needs more atoms than the clauses in which the property is stated.
        let states = |target: Option<NodeId>| target.is_none_or(|node| !is_recursive[node.index()]);
        let atoms = graph
            .edges()
            .filter(|(_, edge)| states(edge.target()))
            .map(|(_, edge)| edge.sources().iter().filter(|node| !is_single[node.index()]).count());
        let most_atoms = atoms.max().unwrap_or(0).clamp(2, MOST_ATOMS);
        let outputs = outputs(run, graph, &rules)?;
        let mut builder = Builder {
            run,
            graph,
            rules,
            is_single,
            is_recursive,
            recurs_on: Vec::new(),
            outputs,
            merged: RefCell::default(),
            summaries: summaries(run.context(), graph)?,
            summarised: BTreeSet::new(),
            products: Vec::new(),
            new: HornGraph::new(),
            singles: FxHashMap::default(),
            most_atoms,
        };
        builder.recurs_on = graph.nodes().map(|(_, node)| vec![false; node.arity()]).collect();
        let positions = graph.nodes().map(|(id, _)| builder.recursive_positions(id));
        builder.recurs_on = positions.collect::<Result<_, Stop>>()?;
        Ok(builder)
    }

    fn build(&mut self) -> Result<(), Stop> {
        let queries: Vec<EdgeId> =
            self.graph.edges().filter(|(_, edge)| edge.target().is_none()).map(|(id, _)| id).collect();
        for query in queries {
            let instance = Rule::new(self.run.store, self.graph, query).instance(self.run.store, &[]);
            let goals =
                instance.body.into_iter().map(|(node, arguments)| Goal::new(node, arguments)).collect();
            let body = self.solved(Body { head: Vec::new(), goals, constraint: instance.constraint });
            self.add_clauses(body.into_iter().collect(), None)?;
        }
        let mut next = 0;
        while next < self.products.len() {
            self.run.go_on()?;
            if self.products.len() > MOST_PRODUCTS + self.graph.nodes().len() {
                return Err(Stop::Exhausted("the products do not end"));
            }
            self.unfold_product(NodeId::new(next))?;
            next += 1;
        }
        Ok(())
    }

    /// Adds the clauses of a product.
    fn unfold_product(&mut self, product: NodeId) -> Result<(), Stop> {
        let Product { pattern, unfolded } = &self.products[product.index()];
        if let &[(node, _)] = &pattern.atoms[..]
            && (self.is_single[node.index()] || self.is_recursive[node.index()])
        {
            self.copy_clauses(node, product);
            return Ok(());
        }
        let head: Vec<Term> = self.new.node(product).variables().to_vec();
        let goals = pattern.atoms.iter().map(|(node, variables)| {
            Goal::new(*node, variables.iter().map(|&variable| head[variable]).collect())
        });
        let start = Body { head: head.clone(), goals: goals.collect(), constraint: Term::TRUE };
        let mut bodies = vec![start];
        // From the last one on, so that positions stay.
        for &atom in unfolded.iter().rev() {
            bodies = bodies.iter().flat_map(|body| self.unfold(body, atom)).collect();
            if bodies.len() > MOST_CLAUSES {
                return Err(Stop::Exhausted("a product has too many clauses"));
            }
        }
        self.add_clauses(bodies, Some(product))
    }

    /// Adds the clauses of a product or a query, after further unfolding of what is determined.
    fn add_clauses(&mut self, bodies: Vec<Body>, product: Option<NodeId>) -> Result<(), Stop> {
        let mut open: Vec<(Body, usize)> = bodies.into_iter().rev().map(|body| (body, 0)).collect();
        let mut clauses = 0;
        while let Some((body, steps)) = open.pop() {
            self.run.go_on()?;
            if !self.is_possible(&body)? {
                continue;
            }
            let is_done = steps >= MOST_UNFOLDED || self.is_folded(&body.goals);
            match self.determined(&body, product.is_some()).filter(|_| !is_done) {
                Some(goal) => {
                    let unfolded = self.unfold(&body, goal);
                    open.extend(unfolded.into_iter().rev().map(|body| (body, steps + 1)));
                }
                None => {
                    self.add_clause(&body, product);
                    clauses += 1;
                }
            }
            if clauses + open.len() > MOST_CLAUSES {
                return Err(Stop::Exhausted("a product has too many clauses"));
            }
        }
        Ok(())
    }

    /// A predicate that stays has its own clauses.
    fn copy_clauses(&mut self, node: NodeId, product: NodeId) {
        let graph = self.graph;
        for (id, edge) in graph.edges().filter(|(_, edge)| edge.target() == Some(node)) {
            let sources = edge.sources().iter().enumerate().map(|(position, &source)| {
                (self.single(source), graph.source_variables(id, position).to_vec())
            });
            let sources: Vec<(NodeId, Vec<Term>)> = sources.collect();
            let head = (product, graph.target_variables(id).to_vec());
            self.new.add_clause(self.run.store, &sources, edge.label(), Some(&head));
        }
    }

    /// Adds a clause whose goals are folded.
    fn add_clause(&mut self, body: &Body, product: Option<NodeId>) {
        let sources = self.fold(&body.goals);
        // The variables of a product are also those of its occurrence in a body.
        let fresh = self.renamed_apart(body, &sources);
        let rename = |terms: &[Term]| self.run.store.instantiate_all(terms, &fresh);
        let sources: Vec<(NodeId, Vec<Term>)> =
            sources.iter().map(|(node, terms)| (*node, rename(terms))).collect();
        let head = product.map(|product| (product, rename(&body.head)));
        let constraint = rename(&[body.constraint])[0];
        self.new.add_clause(self.run.store, &sources, constraint, head.as_ref());
    }

    fn renamed_apart(&self, body: &Body, sources: &[(NodeId, Vec<Term>)]) -> Substitution {
        let store = self.run.store;
        let terms = sources.iter().flat_map(|(_, terms)| terms).chain(&body.head).copied();
        let terms: Vec<Term> = terms.chain([body.constraint]).collect();
        let variables = store.free_vars(&terms);
        variables.iter().copied().zip(fresh_vector(store, &variables, "p")).collect()
    }

    // ---- unfolding -------------------------------------------------------------------------------------------

    /// The bodies with a goal replaced by the body of each of its clauses.
    fn unfold(&self, body: &Body, goal: usize) -> Vec<Body> {
        let Goal { node, arguments, .. } = &body.goals[goal];
        let limit = match self.known_constructors(&body.goals[goal]) {
            0 => usize::MAX,
            known => known,
        };
        let by_rule = |rule: &Rule| {
            let instance = rule.instance(self.run.store, arguments);
            let mut goals = body.goals.clone();
            goals.remove(goal);
            goals.extend(instance.body.into_iter().map(|(node, arguments)| Goal { node, arguments, limit }));
            let constraint = self.run.store.and2(body.constraint, instance.constraint);
            self.solved(Body { head: body.head.clone(), goals, constraint })
        };
        self.rules[node.index()].iter().filter_map(by_rule).collect()
    }

    /// The body with its equations solved, where goals of a function with the same inputs are one; `None` if the equations
    /// contradict each other.
    fn solved(&self, mut body: Body) -> Option<Body> {
        let store = self.run.store;
        loop {
            let solved = solve_equations(store, body.constraint, |_| Some(0));
            body.constraint = store.and(&solved.rest);
            let definitions: Substitution = solved.definitions.into_iter().collect();
            body.head = store.instantiate_all(&body.head, &definitions);
            for goal in &mut body.goals {
                goal.arguments = store.instantiate_all(&goal.arguments, &definitions).into();
            }
            if body.constraint == Term::FALSE {
                return None;
            }
            let Some((first, second, output)) = self.same_call(&body.goals) else { return Some(body) };
            let (first, second) = (body.goals[first].arguments[output], body.goals.remove(second));
            self.merged.borrow_mut().insert((second.node, output));
            body.constraint = store.and2(body.constraint, store.eq(first, second.arguments[output]));
        }
    }

    /// Two goals of one predicate, the earlier one first, that agree at all positions but perhaps an output.
    fn same_call(&self, goals: &[Goal]) -> Option<(usize, usize, usize)> {
        let pairs = (0..goals.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
        pairs.filter(|&(first, second)| goals[first].node == goals[second].node).find_map(
            |(first, second)| {
                let (one, two) = (&goals[first].arguments, &goals[second].arguments);
                let mut outputs = self.outputs[goals[first].node.index()].iter();
                let agree = |output: usize| {
                    (0..one.len()).all(|position| position == output || one[position] == two[position])
                };
                outputs.find(|&&output| agree(output)).map(|&output| (first, second, output))
            },
        )
    }

    /// Whether the constraint of a body can be true, together with the summaries of its goals.
    fn is_possible(&mut self, body: &Body) -> Result<bool, Stop> {
        let store = self.run.store;
        let mut solver = self.run.solver();
        self.run.assert(&mut solver, &[body.constraint])?;
        let limits = Limits { conflicts: Some(CONFLICTS), ..self.run.limits };
        let unsupported = |unsupported: Unsupported| unsupported.stop(store);
        if solver.check(&[], &limits).map_err(unsupported)? == Outcome::Unsat {
            return Ok(false);
        }
        let summary = |goal: &Goal| {
            let variables = self.graph.node(goal.node).variables().iter().copied();
            let arguments: Substitution = variables.zip(goal.arguments.iter().copied()).collect();
            store.instantiate(self.summaries.formulas[goal.node.index()], &arguments)
        };
        let mut formulas: Vec<Term> = body.goals.iter().map(summary).filter(|&it| it != Term::TRUE).collect();
        if formulas.is_empty() {
            return Ok(true);
        }
        formulas.push(body.constraint);
        formulas.extend(fold_facts(store, &formulas, &self.summaries.lemmas));
        self.run.assert(&mut solver, &formulas)?;
        let is_possible = solver.check(&[], &limits).map_err(unsupported)? != Outcome::Unsat;
        if !is_possible {
            self.summarised.extend(body.goals.iter().map(|goal| goal.node));
        }
        Ok(is_possible)
    }

    /// The summaries that excluded clauses, and those of the predicates that derive the same facts.
    fn used_summaries(&self) -> Vec<(NodeId, Term)> {
        let mut used: BTreeSet<NodeId> = self.summarised.clone();
        let mut open: Vec<NodeId> = used.iter().copied().collect();
        while let Some(node) = open.pop() {
            let below = self.graph.edges().filter(|(_, edge)| edge.target() == Some(node));
            for &source in below.flat_map(|(_, edge)| edge.sources()) {
                if used.insert(source) {
                    open.push(source);
                }
            }
        }
        let summary = |node: NodeId| (node, self.summaries.formulas[node.index()]);
        used.into_iter().map(summary).filter(|&(_, formula)| formula != Term::TRUE).collect()
    }

    /// A goal to unfold: one that does not recur, or one with a constructor at a position on which it recurs. Among several
    /// it is the one with most constructors, so that it can meet the others. If `is_free`, the recursive clauses may also ask
    /// for more constructors than there are; then an atom below must have fewer of them.
    fn determined(&self, body: &Body, is_free: bool) -> Option<usize> {
        let candidate = |(index, goal): (usize, &Goal)| {
            if self.is_single[goal.node.index()] {
                return None;
            }
            if !self.is_recursive[goal.node.index()] {
                return Some((true, usize::MAX, index));
            }
            let known = self.known_constructors(goal);
            let is_ready = known > 0 && self.is_ready(goal);
            (is_ready || (is_free && 0 < known && known < goal.limit)).then_some((is_ready, known, index))
        };
        let goals = body.goals.iter().enumerate().rev();
        goals.filter_map(candidate).max_by_key(|&(is_ready, known, _)| (is_ready, known)).map(|(_, _, at)| at)
    }

    /// The number of constructors in arguments on which a goal recurs.
    fn known_constructors(&self, goal: &Goal) -> usize {
        let store = self.run.store;
        let positions = goal.arguments.iter().zip(&self.recurs_on[goal.node.index()]);
        let recursive: Vec<Term> = positions.filter(|&(_, &recurs)| recurs).map(|(&term, _)| term).collect();
        let subterms = store.subterms(&recursive);
        subterms.into_iter().filter(|&term| matches!(store.op(term), Op::Construct(_))).count()
    }

    /// Whether a position on which a goal recurs has all constructors that its recursive clauses ask for.
    fn is_ready(&self, goal: &Goal) -> bool {
        let store = self.run.store;
        let positions = goal.arguments.iter().zip(&self.recurs_on[goal.node.index()]);
        let mut made =
            positions.filter(|&(&term, &recurs)| recurs && matches!(store.op(term), Op::Construct(_)));
        made.any(|(&term, _)| {
            let start =
                Body { head: store.free_vars(&[term]), goals: vec![goal.clone()], constraint: Term::TRUE };
            let is_recursive =
                |body: &Body| body.goals.iter().any(|goal| self.is_recursive[goal.node.index()]);
            let asks = |body: Body| body.head.iter().any(|&term| matches!(store.op(term), Op::Construct(_)));
            !self.unfold(&start, 0).into_iter().any(|body| is_recursive(&body) && asks(body))
        })
    }

    /// Whether the goals are known products and single atoms.
    fn is_folded(&self, goals: &[Goal]) -> bool {
        let joined: Vec<&Goal> = goals.iter().filter(|goal| !self.is_single[goal.node.index()]).collect();
        groups(self.run.store, &joined).iter().all(|group| {
            let is_whole = |(_, found): (NodeId, Match)| found.goals.len() == group.len();
            let is_recursive = |goal: &&Goal| self.is_recursive[goal.node.index()];
            group.len() > 1 && group.iter().all(is_recursive) && self.known(group).is_some_and(is_whole)
        })
    }

    /// The positions at which all recursive clauses of a predicate have a constructor.
    fn recursive_positions(&self, node: NodeId) -> Result<Vec<bool>, Stop> {
        let store = self.run.store;
        let head = fresh_vector(store, self.graph.node(node).variables(), "p").to_vec();
        let goal = Goal::new(node, head.clone().into());
        let start = Body { head: head.clone(), goals: vec![goal], constraint: Term::TRUE };
        let mut recurs = vec![self.is_recursive[node.index()]; head.len()];
        for body in self.unfold(&start, 0) {
            self.run.go_on()?;
            if body.goals.iter().any(|goal| self.is_recursive[goal.node.index()]) {
                for (recurs, &term) in recurs.iter_mut().zip(&body.head) {
                    *recurs &= matches!(store.op(term), Op::Construct(_));
                }
            }
        }
        Ok(recurs)
    }

    /// The atoms of a product that are unfolded: those that recur on one argument, as many as possible. Without such an
    /// argument all predicates that do not recur are unfolded, or else the first one.
    fn choice(&self, pattern: &Pattern) -> Vec<usize> {
        let store = self.run.store;
        let recurring = |variable: usize| -> Vec<usize> {
            let atoms = pattern.atoms.iter().enumerate();
            let recurs = |(node, variables): &(NodeId, Box<[usize]>)| {
                let recurs_on = &self.recurs_on[node.index()];
                variables.iter().zip(recurs_on).any(|(&other, &recurs)| other == variable && recurs)
            };
            atoms.filter(|(_, atom)| recurs(atom)).map(|(index, _)| index).collect()
        };
        let occurrences = |variable: usize| {
            let atoms = pattern.atoms.iter();
            atoms.filter(|(_, variables)| variables.contains(&variable)).count()
        };
        let structures = (0..pattern.sorts.len()).filter(|&it| is_structure(store, pattern.sorts[it]));
        let candidates = structures.map(|variable| {
            let atoms = recurring(variable);
            (atoms.len(), usize::MAX - (occurrences(variable) - atoms.len()), usize::MAX - variable, atoms)
        });
        match candidates.max() {
            Some((count, _, _, atoms)) if count > 0 => atoms,
            _ => {
                let atoms = pattern.atoms.iter().enumerate();
                let plain = atoms.filter(|(_, (node, _))| !self.is_recursive[node.index()]);
                let plain: Vec<usize> = plain.map(|(index, _)| index).collect();
                if plain.is_empty() { vec![0] } else { plain }
            }
        }
    }

    // ---- folding ---------------------------------------------------------------------------------------------

    /// The products of goals, with their arguments.
    fn fold(&mut self, goals: &[Goal]) -> Vec<(NodeId, Vec<Term>)> {
        let mut folded = Vec::new();
        let (single, joined): (Vec<&Goal>, Vec<&Goal>) =
            goals.iter().partition(|goal| self.is_single[goal.node.index()]);
        for goal in single {
            folded.push((self.single(goal.node), goal.arguments.to_vec()));
        }
        let mut groups = groups(self.run.store, &joined);
        while let Some(group) = groups.pop() {
            if let [goal] = group[..] {
                folded.push((self.single(goal.node), goal.arguments.to_vec()));
                continue;
            }
            match self.known(&group) {
                Some((product, found)) => {
                    folded.push((product, found.arguments));
                    let rest = group.iter().enumerate().filter(|(at, _)| !found.goals.contains(at));
                    let rest: Vec<&Goal> = rest.map(|(_, &goal)| goal).collect();
                    groups.extend(self::groups(self.run.store, &rest));
                }
                None if group.len() <= self.most_atoms => {
                    let (pattern, arguments) = Pattern::of(self.run.store, &group);
                    folded.push((self.add_product(pattern), arguments));
                }
                None => {
                    for goal in group {
                        folded.push((self.single(goal.node), goal.arguments.to_vec()));
                    }
                }
            }
        }
        folded
    }

    /// The largest known product among goals: all of them, or several of too many.
    fn known(&self, group: &[&Goal]) -> Option<(NodeId, Match)> {
        let products = self.products.iter().enumerate();
        let found = products.filter_map(|(index, product)| {
            let size = product.pattern.atoms.len();
            let fits =
                size == group.len() || (1 < size && size < group.len() && group.len() > self.most_atoms);
            let found = if fits { product.pattern.find(group)? } else { return None };
            Some((NodeId::new(index), found))
        });
        found.max_by_key(|(_, found)| found.goals.len())
    }

    fn single(&mut self, node: NodeId) -> NodeId {
        if let Some(&known) = self.singles.get(&node) {
            return known;
        }
        let content = self.graph.node(node);
        let goal = Goal::new(node, content.variables().into());
        let (pattern, _) = Pattern::of(self.run.store, &[&goal]);
        let id = self.new.add_node(Node::new(self.run.store, content.name, &pattern.sorts));
        self.products.push(Product { pattern, unfolded: vec![0] });
        self.singles.insert(node, id);
        id
    }

    fn add_product(&mut self, pattern: Pattern) -> NodeId {
        let store = self.run.store;
        let names = pattern.atoms.iter().map(|&(node, _)| store.name(self.graph.node(node).name));
        let name = store.symbol(&names.collect::<Vec<_>>().join("*"));
        let id = self.new.add_node(Node::new(store, name, &pattern.sorts));
        let unfolded = self.choice(&pattern);
        self.products.push(Product { pattern, unfolded });
        id
    }
}

/// Groups of goals, connected by variables inside of structures.
fn groups<'g>(store: &TermStore, goals: &[&'g Goal]) -> Vec<Vec<&'g Goal>> {
    let structures = |goal: &Goal| -> FxHashSet<Term> {
        let arguments = goal.arguments.iter().copied().filter(|&it| is_structure(store, store.sort_of(it)));
        store.free_vars(&arguments.collect::<Vec<Term>>()).into_iter().collect()
    };
    let mut groups: Vec<(FxHashSet<Term>, Vec<&'g Goal>)> = Vec::new();
    for &goal in goals {
        let mut variables = structures(goal);
        let mut members = vec![goal];
        // Earlier goals come first.
        let (connected, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(known, _)| known.iter().any(|it| variables.contains(it)));
        for (known, earlier) in connected.into_iter().rev() {
            variables.extend(known);
            members.splice(0..0, earlier);
        }
        groups = others;
        groups.push((variables, members));
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// Whether values of a sort are structures: a recursive datatype other than Peano numbers.
pub(super) fn is_structure(store: &TermStore, sort: Sort) -> bool {
    store.peano(sort).is_none() && store.is_recursive_datatype(sort)
}

/// Whether each predicate occurs in a derivation of itself.
fn is_recursive(graph: &HornGraph) -> Vec<bool> {
    let (component, _) = graph.components();
    let mut is_recursive = vec![false; component.len()];
    for (_, edge) in graph.edges() {
        let Some(target) = edge.target() else { continue };
        let recurs = |source: &NodeId| component[source.index()] == component[target.index()];
        is_recursive[target.index()] |= edge.sources().iter().any(recurs);
    }
    is_recursive
}
