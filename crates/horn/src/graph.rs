//! Horn clauses as a graph, the form for engines and transformations.
//!
//! Predicates are nodes; clauses are edges from the predicates of the body to the predicate of the head. An edge
//! without sources is a fact, an edge without target is a query, and an edge with several sources is a hyperedge. The
//! label of an edge is the constraint, over canonical variables:
//!
//! - G1: each node has variables for its arguments, [`Node::variables`]. They stand for its (first) occurrence in a body;
//!   further occurrences in the same body have their own variables, as has the head ([`Node::next`]).
//! - G2: predicates are applied only to these variables, so an edge consists of nodes and a label.
//! - G3: any other variable of a label is *local*, existential from the body's point of view. No two edges share one.
//! - G4: labels are in the store's normal form.
//!
//! Lemmas and models of a predicate are formulas over [`Node::variables`]; [`HornGraph::at_source`] and
//! [`HornGraph::at_target`] rename them for an occurrence.
//!
//! Graphs are values: a transformation builds a new one. It keeps the variables of the nodes that it keeps, so formulas
//! about them need no renaming on the way back.

use rustc_hash::FxHashSet;
use shofar_logic::smtlib::Declaration;
use shofar_logic::{Op, Sort, Substitution, Substitutor, Symbol, Term, TermStore, Value, Walker};
use shofar_run::Stop;

use crate::Context;
use crate::quantifiers::without_quantifiers;
use crate::system::{Atom, Clause, HornSystem, Position, PredicateId};

/// Clauses between two polls of the limits.
const STOP_INTERVAL: usize = 64;

/// The index of a node: a predicate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

/// The index of an edge: a clause.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EdgeId(u32);

macro_rules! index {
    ($id:ident, $what:literal) => {
        impl $id {
            #[doc = concat!("The ", $what, " at this position.")]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("a system has less than 2^32 clauses and predicates"))
            }

            /// Its position in the graph.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
index!(NodeId, "node");
index!(EdgeId, "edge");

/// A predicate and its canonical variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Its name for users. Names need not be unique.
    pub name: Symbol,
    /// The variables for each occurrence in one body; at least one.
    occurrences: Vec<Box<[Term]>>,
    next: Box<[Term]>,
}

impl Node {
    /// A predicate with arguments of these sorts and fresh variables.
    pub fn new(store: &TermStore, name: Symbol, sorts: &[Sort]) -> Self {
        Node {
            name,
            occurrences: vec![fresh_variables(store, name, sorts, "")],
            next: fresh_variables(store, name, sorts, "'"),
        }
    }

    /// The predicate with only the arguments at the given ascending positions, which keep their variables.
    pub(crate) fn with_arguments(&self, positions: &[usize]) -> Self {
        let of = |all: &[Term]| positions.iter().map(|&position| all[position]).collect();
        Node {
            name: self.name,
            occurrences: self.occurrences.iter().map(|all| of(all)).collect(),
            next: of(&self.next),
        }
    }

    /// The predicate with other variables: each one is replaced by any number of variables, which the function gives.
    /// The numbers and sorts must be the same for all variables of one argument.
    pub(crate) fn with_variables(&self, mut image: impl FnMut(Term) -> Vec<Term>) -> Self {
        let mut of = |all: &[Term]| all.iter().flat_map(|&variable| image(variable)).collect();
        Node {
            name: self.name,
            occurrences: self.occurrences.iter().map(|all| of(all)).collect(),
            next: of(&self.next),
        }
    }

    /// Its variables for each occurrence in one body.
    pub(crate) fn occurrences(&self) -> impl Iterator<Item = &[Term]> + '_ {
        self.occurrences.iter().map(|variables| &**variables)
    }

    /// The variables of its arguments, in a body and in formulas about it.
    pub fn variables(&self) -> &[Term] {
        &self.occurrences[0]
    }

    /// The variables of its arguments in a head.
    pub fn next(&self) -> &[Term] {
        &self.next
    }

    /// The number of its arguments.
    pub fn arity(&self) -> usize {
        self.next.len()
    }

    /// The sorts of its arguments.
    pub fn sorts(&self, store: &TermStore) -> Vec<Sort> {
        self.next.iter().map(|&variable| store.sort_of(variable)).collect()
    }
}

fn fresh_variables(store: &TermStore, name: Symbol, sorts: &[Sort], mark: &str) -> Box<[Term]> {
    let fresh =
        |(at, &sort)| store.var(store.fresh_symbol(&format!("{}.{at}{mark}", store.name(name))), sort);
    sorts.iter().enumerate().map(fresh).collect()
}

/// A clause: its body's predicates, its head's predicate and its constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    sources: Box<[NodeId]>,
    target: Option<NodeId>,
    label: Term,
}

impl Edge {
    /// The predicates of the body, in order, with repetitions.
    pub fn sources(&self) -> &[NodeId] {
        &self.sources
    }

    /// The predicate of the head; `None` for a query.
    pub fn target(&self) -> Option<NodeId> {
        self.target
    }

    /// The constraint.
    pub fn label(&self) -> Term {
        self.label
    }

    /// Whether the body has several predicates.
    pub fn is_hyperedge(&self) -> bool {
        self.sources.len() > 1
    }

    /// The index of a source among the occurrences of its predicate in the body.
    pub fn occurrence(&self, source: usize) -> usize {
        let node = self.sources[source];
        self.sources[..source].iter().filter(|&&earlier| earlier == node).count()
    }
}

/// A predicate applied to arbitrary terms, as input for edges.
pub type Application = (NodeId, Vec<Term>);

/// A system of Horn clauses as a graph.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct HornGraph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

impl HornGraph {
    /// The graph without nodes.
    pub fn new() -> Self {
        HornGraph::default()
    }

    /// The graph of a system: predicates become nodes and clauses become edges, in the same order. Labels keep the
    /// quantifiers of constraints; [`within`](Self::within) eliminates them.
    pub fn of(store: &TermStore, system: &HornSystem) -> Self {
        let mut graph = HornGraph::of_predicates(store, system);
        system.clauses.iter().for_each(|clause| graph.add_clause_of_system(store, clause));
        graph
    }

    /// Like [`of`](Self::of), within limits and with the quantifiers of constraints eliminated. Fails where a theory has no
    /// elimination.
    pub fn within(context: &Context<'_>, system: &HornSystem) -> Result<Self, Stop> {
        let mut graph = HornGraph::of_predicates(context.store, system);
        for (number, clause) in system.clauses.iter().enumerate() {
            if number.is_multiple_of(STOP_INTERVAL) {
                context.go_on()?;
            }
            if context.store.is_quantified(clause.constraint) {
                let constraint = without_quantifiers(context, clause.constraint)?;
                graph.add_clause_of_system(context.store, &Clause { constraint, ..clause.clone() });
            } else {
                graph.add_clause_of_system(context.store, clause);
            }
        }
        Ok(graph)
    }

    fn of_predicates(store: &TermStore, system: &HornSystem) -> Self {
        let mut graph = HornGraph::new();
        for (_, fun) in system.predicates() {
            let declaration = store.fun_decl(fun);
            graph.add_node(Node::new(store, declaration.name, &declaration.domain));
        }
        graph
    }

    fn add_clause_of_system(&mut self, store: &TermStore, clause: &Clause) {
        let application = |atom: &Atom| (NodeId::new(atom.predicate.index()), atom.args.to_vec());
        let body: Vec<Application> = clause.body.iter().map(application).collect();
        self.add_clause(store, &body, clause.constraint, clause.head.as_ref().map(application).as_ref());
    }

    /// The graph as a system of clauses, with the declarations of its original system. Predicates with equal names get
    /// different ones.
    pub fn to_system(&self, store: &TermStore, origin: &HornSystem) -> HornSystem {
        let mut taken: FxHashSet<Symbol> =
            origin.functions.iter().map(|&function| store.fun_decl(function).name).collect();
        let predicate = |node: &Node| {
            let is_new = taken.insert(node.name);
            let name = if is_new { node.name } else { store.fresh_symbol(store.name(node.name)) };
            store.fun(name, &node.sorts(store), Sort::BOOL)
        };
        let predicates = self.nodes.iter().map(predicate).collect();
        let clause = |(id, edge): (EdgeId, &Edge)| {
            let atom = |node: NodeId, variables: &[Term]| Atom {
                predicate: PredicateId(node.0),
                args: variables.into(),
            };
            let sources = edge.sources.iter().enumerate();
            let body: Box<[Atom]> =
                sources.map(|(position, &node)| atom(node, self.source_variables(id, position))).collect();
            let head = edge.target.map(|node| atom(node, self.target_variables(id)));
            let arguments = body.iter().chain(&head).flat_map(|atom| &atom.args).copied();
            let variables = arguments.chain(self.locals(store, id)).collect();
            let position = Position { line: 1, column: 1 };
            Clause { variables, body, constraint: edge.label, head, name: None, position, written: None }
        };
        let clauses = self.edges().map(clause).collect();
        let sorts = self.declarations(store, origin);
        HornSystem { sorts, functions: origin.functions.clone(), predicates, clauses }
    }

    /// The declarations of the original system, and those of datatypes that transformations have made.
    fn declarations(&self, store: &TermStore, origin: &HornSystem) -> Vec<Declaration> {
        let mut sorts = origin.sorts.clone();
        if !store.has_datatypes() {
            return sorts;
        }
        let groups = origin.sorts.iter().filter_map(|declaration| match declaration {
            Declaration::Datatypes(group) => Some(group),
            Declaration::Sort(..) | Declaration::Fun(_) | Declaration::Definition => None,
        });
        let mut known: FxHashSet<Sort> = groups.flatten().copied().collect();
        let variables = self.nodes.iter().flat_map(|node| node.next.iter().copied());
        let labels = self.edges.iter().map(|edge| edge.label);
        Walker::new(store).visit(variables.chain(labels), |term| {
            let mut sort = store.sort_of(term);
            while let Some((_, element)) = store.array_parts(sort) {
                sort = element;
            }
            if let Some(datatype) = store.datatype(sort)
                && !known.contains(&datatype.template.unwrap_or(sort))
            {
                known.extend(datatype.group());
                sorts.push(Declaration::Datatypes(datatype.group().into()));
            }
        });
        sorts
    }

    /// The graph without its edges.
    pub(crate) fn without_edges(&self) -> Self {
        HornGraph { nodes: self.nodes.clone(), edges: Vec::new() }
    }

    /// Adds a node.
    pub fn add_node(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId::new(self.nodes.len() - 1)
    }

    /// Adds an edge with a label over the canonical variables of its nodes, in normal form, and local variables that no
    /// other edge has.
    pub fn add_edge(&mut self, sources: &[NodeId], target: Option<NodeId>, label: Term) -> EdgeId {
        let edge = Edge { sources: sources.into(), target, label };
        for (source, node) in sources.iter().enumerate() {
            assert!(edge.occurrence(source) < self.nodes[node.index()].occurrences.len());
        }
        self.edges.push(edge);
        EdgeId::new(self.edges.len() - 1)
    }

    /// Adds an edge for a clause whose predicates are applied to arbitrary terms. Variables that are arguments become
    /// canonical ones, all others become fresh local ones.
    pub fn add_clause(
        &mut self,
        store: &TermStore,
        body: &[Application],
        constraint: Term,
        head: Option<&Application>,
    ) -> EdgeId {
        let sources: Box<[NodeId]> = body.iter().map(|&(node, _)| node).collect();
        let edge = Edge { sources, target: head.map(|&(node, _)| node), label: constraint };
        let mut canonical = Substitution::new();
        // The equations of arguments that are not new variables.
        let mut equations: Vec<(Term, Term)> = Vec::new();
        let mut bind = |variables: &[Term], args: &[Term]| {
            for (&variable, &arg) in variables.iter().zip(args) {
                if matches!(store.op(arg), Op::Var(_)) && canonical.get(arg).is_none() {
                    canonical.insert(arg, variable);
                } else {
                    equations.push((variable, arg));
                }
            }
        };
        for (source, (node, args)) in body.iter().enumerate() {
            self.ensure_occurrence(store, *node, edge.occurrence(source));
            bind(self.variables_at(*node, edge.occurrence(source)), args);
        }
        if let Some((node, args)) = head {
            bind(self.nodes[node.index()].next(), args);
        }
        let mut all: Vec<Term> = equations.iter().map(|&(_, arg)| arg).collect();
        all.push(constraint);
        for variable in store.free_vars(&all) {
            if canonical.get(variable).is_none() {
                let Op::Var(name) = store.op(variable) else { continue };
                // Automata for people take the name up again.
                let local = store.fresh_symbol(store.name(name));
                canonical.insert(variable, store.var(local, store.sort_of(variable)));
            }
        }
        let mut renaming = Substitutor::normal(store, &canonical);
        // Normalise before renaming: the checker needs the same normal form.
        let constraint = renaming.apply(store.normalize(constraint));
        let equal = |(variable, arg)| store.eq(variable, renaming.apply(store.normalize(arg)));
        let label = store.and_of(equations.into_iter().map(equal).chain([constraint]));
        let label = store.normalize(label);
        self.add_edge(&edge.sources, edge.target, label)
    }

    /// Creates the variables of a node for further occurrences in one body.
    pub(crate) fn ensure_occurrence(&mut self, store: &TermStore, node: NodeId, occurrence: usize) {
        let node = &mut self.nodes[node.index()];
        let sorts = node.sorts(store);
        while node.occurrences.len() <= occurrence {
            let mark = format!("@{}", node.occurrences.len());
            node.occurrences.push(fresh_variables(store, node.name, &sorts, &mark));
        }
    }

    /// The nodes.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (NodeId, &Node)> + '_ {
        self.nodes.iter().enumerate().map(|(index, node)| (NodeId::new(index), node))
    }

    /// The edges.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = (EdgeId, &Edge)> + '_ {
        self.edges.iter().enumerate().map(|(index, edge)| (EdgeId::new(index), edge))
    }

    /// A node.
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }

    /// An edge.
    pub fn edge(&self, edge: EdgeId) -> &Edge {
        &self.edges[edge.index()]
    }

    /// The variables of a node for its n-th occurrence in one body. Precondition: some body has that many.
    pub fn variables_at(&self, node: NodeId, occurrence: usize) -> &[Term] {
        &self.nodes[node.index()].occurrences[occurrence]
    }

    /// The variables of an edge's source.
    pub fn source_variables(&self, edge: EdgeId, source: usize) -> &[Term] {
        let edge = self.edge(edge);
        self.variables_at(edge.sources[source], edge.occurrence(source))
    }

    /// The variables of an edge's target; none for a query.
    pub fn target_variables(&self, edge: EdgeId) -> &[Term] {
        self.edge(edge).target.map_or(&[], |node| self.node(node).next())
    }

    /// The variables of an edge's sources and target, with their values in facts: those of the premises in the order of
    /// the sources, and that of the derived fact.
    pub(crate) fn values_at<'f>(
        &self,
        edge: EdgeId,
        premises: impl IntoIterator<Item = &'f [Value]>,
        derived: &'f [Value],
    ) -> Vec<(Term, Value)> {
        let sources = premises.into_iter().enumerate();
        let facts = sources.map(|(source, fact)| (self.source_variables(edge, source), fact));
        let facts = facts.chain([(self.target_variables(edge), derived)]);
        facts.flat_map(|(variables, fact)| variables.iter().copied().zip(fact.iter().cloned())).collect()
    }

    /// The local variables of an edge, in the order of their occurrence.
    pub fn locals(&self, store: &TermStore, edge: EdgeId) -> Vec<Term> {
        let mut locals = store.free_vars(&[self.edge(edge).label]);
        let sources = 0..self.edge(edge).sources.len();
        let arguments: FxHashSet<Term> = sources
            .flat_map(|source| self.source_variables(edge, source))
            .chain(self.target_variables(edge))
            .copied()
            .collect();
        locals.retain(|variable| !arguments.contains(variable));
        locals
    }

    /// Renames a formula about the predicate of a source to its variables there.
    pub fn at_source(&self, store: &TermStore, edge: EdgeId, source: usize, formula: Term) -> Term {
        let node = self.edge(edge).sources[source];
        let variables = self.source_variables(edge, source);
        rename(store, formula, self.node(node).variables(), variables)
    }

    /// Renames a formula about the predicate of the target to its variables there. The result is false for a query,
    /// which concludes `false`.
    pub fn at_target(&self, store: &TermStore, edge: EdgeId, formula: Term) -> Term {
        let Some(node) = self.edge(edge).target else { return Term::FALSE };
        rename(store, formula, self.node(node).variables(), self.node(node).next())
    }

    /// The edges into each node, and the queries.
    pub fn incoming(&self) -> (Vec<Vec<EdgeId>>, Vec<EdgeId>) {
        let mut incoming = vec![Vec::new(); self.nodes.len()];
        let mut queries = Vec::new();
        for (id, edge) in self.edges() {
            match edge.target {
                Some(node) => incoming[node.index()].push(id),
                None => queries.push(id),
            }
        }
        (incoming, queries)
    }

    /// The edges out of each node, without duplicates, and the facts.
    pub fn outgoing(&self) -> (Vec<Vec<EdgeId>>, Vec<EdgeId>) {
        let mut outgoing: Vec<Vec<EdgeId>> = vec![Vec::new(); self.nodes.len()];
        let mut facts = Vec::new();
        for (id, edge) in self.edges() {
            if edge.sources.is_empty() {
                facts.push(id);
            }
            for node in &edge.sources {
                if outgoing[node.index()].last() != Some(&id) {
                    outgoing[node.index()].push(id);
                }
            }
        }
        (outgoing, facts)
    }

    /// Whether there are no hyperedges.
    pub fn is_linear(&self) -> bool {
        !self.edges.iter().any(Edge::is_hyperedge)
    }
}

/// Renames variables in a formula.
pub fn rename(store: &TermStore, formula: Term, from: &[Term], to: &[Term]) -> Term {
    if from == to {
        return formula;
    }
    let mut renaming = Substitution::new();
    for (&from, &to) in from.iter().zip(to) {
        renaming.insert(from, to);
    }
    store.instantiate(formula, &renaming)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn graph(store: &TermStore, text: &str) -> HornGraph {
        HornGraph::of(store, &parse(store, "test", text.as_bytes()).expect("the test's clauses are right"))
    }

    /// A comparison of two definitions of multiplication: Example 5.1 of Blicha's thesis.
    #[test]
    fn multiplication_has_a_hyperedge_into_false() {
        let store = TermStore::new();
        let graph = graph(&store, &shofar_testing::systems::multiplication());
        assert_eq!((graph.nodes().len(), graph.edges().len()), (2, 5));
        let (incoming, queries) = graph.incoming();
        let (outgoing, facts) = graph.outgoing();
        assert_eq!((incoming[0].len(), incoming[1].len(), queries.len(), facts.len()), (2, 2, 1, 2));
        assert_eq!((outgoing[0].len(), outgoing[1].len()), (2, 2));
        assert!(!graph.is_linear() && graph.edge(queries[0]).is_hyperedge());
        for (edge, _) in graph.edges() {
            assert_eq!(graph.locals(&store, edge), [], "arguments of predicates are canonical variables");
        }
    }

    #[test]
    fn occurrences_in_one_body_have_variables_of_their_own() {
        let store = TermStore::new();
        let graph = graph(
            &store,
            "(declare-fun P (Int) Bool)
             (assert (P 1))
             (assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x) (P y) (P (- x 1)) (< z y)) (P (+ x y z)))))",
        );
        let edge = EdgeId::new(1);
        let variables: Vec<Term> = (0..3).map(|source| graph.source_variables(edge, source)[0]).collect();
        let (x, y, again, next) = (variables[0], variables[1], variables[2], graph.target_variables(edge)[0]);
        let locals = graph.locals(&store, edge);
        assert_eq!(locals.len(), 1);
        let expected = [
            store.eq(again, store.sub(x, store.int(1))),
            store.lt(locals[0], y),
            store.eq(next, store.add(&[x, y, locals[0]])),
        ];
        assert_eq!(graph.edge(edge).label(), store.and(&expected));
        let positive = store.gt(x, store.int(0));
        assert_eq!(graph.at_source(&store, edge, 1, positive), store.gt(y, store.int(0)));
        assert_eq!(graph.at_target(&store, edge, positive), store.gt(next, store.int(0)));
    }
}
