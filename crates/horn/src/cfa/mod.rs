//! Control-flow automata: clauses as programs.
//!
//! An automaton consists of *locations* and edges with *statements* between them. A run starts at the entry of the first
//! procedure, `main`, with any values of the variables, and executes statements. The automaton is *safe* if no run reaches the
//! error location. [`forward`], [`backward`] and [`procedures`] turn a graph of clauses into an automaton that is safe exactly
//! if the clauses are satisfiable:
//!
//! - [`forward`] (linear clauses): a location per predicate, an edge per clause from body to head. A location is reached with
//!   the values of derivable facts.
//! - [`backward`] (linear clauses): the same locations, the edges from head to body, from queries to facts. A location is
//!   reached with values whose facts would derive `false`.
//! - [`procedures`] (all clauses): a procedure per predicate, which returns exactly if its arguments are a derivable fact. A
//!   clause is a path from its entry to its exit, with a call for each predicate of the body. `main` has the queries.
//!
//! [`unfold`] turns procedures into a program without calls, for stacks of a limited height.
//!
//! All three keep a way back: an [`Automaton`] turns what is known about its locations into a model of the graph, and a run to
//! the error location into a derivation.
//!
//! **Invariants.**
//!
//! - C1: each variable belongs to one procedure. A call gives the callee instances of its own of all its variables.
//! - C2: [`Location::variables`] are the *live* variables: a path from the location reads no others before it writes them. At
//!   an exit these are the parameters: what holds of them there is the procedure's summary.
//! - C3: an assignment is simultaneous: its terms have the values from before.
//! - C4: a call is alone on its edge. It sets the parameters, and changes no variable of the caller: procedures have no results
//!   and return or not. Procedures never write their parameters.
//! - C5: the error location and exits have no outgoing edges; entries have no incoming ones.
//! - C6: conditions and terms are in the store's normal form.
//! - C7: names of procedures are unique, and so are names of locations.
//!
//! Edges of clauses are normalised. They consist of at most one `Havoc`, `Assume` and `Assign`, in this order. The `Assign`
//! writes all variables of the target, and its terms use the equations of the clause, so that only values that no equation
//! determines are havocked.
//!
//! M. Somorjai, "Abstraction Based Techniques for Constrained Horn Clause Solving" (BME, 2022), has both directions. We
//! differ where they are wrong or end in the infinite: all variables of a clause are written before they are read, arguments in
//! heads and bodies may be any terms, several queries are several edges, and linear clauses need no calls backward, since the
//! caller has nothing left to do.

mod backward;
mod block;
mod dot;
mod forward;
mod procedures;
mod readable;
mod run;
mod text;
mod unfold;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Term, TermStore, Value};
use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::witness::{Derivation, GraphModel};

pub use backward::backward;
pub use forward::forward;
pub use procedures::procedures;
pub use unfold::{TooDeep, Unfolding, unfold};

/// The index of a procedure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProcedureId(u32);

/// The index of a location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocationId(u32);

/// The index of an edge of an automaton.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CfaEdgeId(u32);

macro_rules! index {
    ($id:ident, $what:literal) => {
        impl $id {
            #[doc = concat!("The ", $what, " at this position.")]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("an automaton has less than 2^32 locations and edges"))
            }

            /// Its position in the automaton.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
index!(ProcedureId, "procedure");
index!(LocationId, "location");
index!(CfaEdgeId, "edge");

/// A step of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// The variables get any values.
    Havoc(Box<[Term]>),
    /// Goes on only if the condition is true.
    Assume(Term),
    /// The variables get the values of terms, all at once.
    Assign(Box<[(Term, Term)]>),
    /// Goes on only if the procedure returns for these arguments.
    Call(ProcedureId, Box<[Term]>),
}

/// A location of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Its name for users.
    pub name: String,
    /// The procedure that it belongs to.
    pub procedure: ProcedureId,
    /// The live variables.
    pub variables: Box<[Term]>,
}

/// An edge between two locations of one procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CfaEdge {
    /// Where it starts.
    pub source: LocationId,
    /// Where it ends.
    pub target: LocationId,
    /// What is executed.
    pub statements: Box<[Statement]>,
}

/// A procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Procedure {
    /// Its name for users.
    pub name: String,
    /// The variables that a call sets.
    pub parameters: Box<[Term]>,
    /// Where it starts.
    pub entry: LocationId,
    /// Where it returns; `main` does not.
    pub exit: Option<LocationId>,
}

/// A control-flow automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cfa {
    procedures: Vec<Procedure>,
    locations: Vec<Location>,
    edges: Vec<CfaEdge>,
    /// Indexed by location: the edges that start there.
    outgoing: Vec<Vec<CfaEdgeId>>,
    error: LocationId,
}

impl Cfa {
    /// The procedures; the first one is `main`.
    pub fn procedures(&self) -> impl ExactSizeIterator<Item = (ProcedureId, &Procedure)> + '_ {
        self.procedures.iter().enumerate().map(|(index, procedure)| (ProcedureId::new(index), procedure))
    }

    /// The locations.
    pub fn locations(&self) -> impl ExactSizeIterator<Item = (LocationId, &Location)> + '_ {
        self.locations.iter().enumerate().map(|(index, location)| (LocationId::new(index), location))
    }

    /// The edges.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = (CfaEdgeId, &CfaEdge)> + '_ {
        self.edges.iter().enumerate().map(|(index, edge)| (CfaEdgeId::new(index), edge))
    }

    /// A procedure.
    pub fn procedure(&self, procedure: ProcedureId) -> &Procedure {
        &self.procedures[procedure.index()]
    }

    /// A location.
    pub fn location(&self, location: LocationId) -> &Location {
        &self.locations[location.index()]
    }

    /// An edge.
    pub fn edge(&self, edge: CfaEdgeId) -> &CfaEdge {
        &self.edges[edge.index()]
    }

    /// The procedure where runs start.
    pub fn main(&self) -> ProcedureId {
        ProcedureId::new(0)
    }

    /// The location where runs start: the entry of `main`.
    pub fn entry(&self) -> LocationId {
        self.procedure(self.main()).entry
    }

    /// The location that no run of a safe automaton reaches. It belongs to `main`.
    pub fn error(&self) -> LocationId {
        self.error
    }

    /// The edges that start at a location.
    pub fn outgoing(&self, location: LocationId) -> &[CfaEdgeId] {
        &self.outgoing[location.index()]
    }

    /// Checks the invariants C1 to C7. The error names the first one that is violated, and where.
    pub fn check_invariants(&self, store: &TermStore) -> Result<(), String> {
        let mut owners: FxHashMap<Term, ProcedureId> = FxHashMap::default();
        let mut own = |procedure: ProcedureId, variable: Term| match owners.insert(variable, procedure) {
            Some(other) if other != procedure => {
                Err(format!("C1: {} belongs to two procedures", store.display(variable)))
            }
            _ => Ok(()),
        };
        for (id, procedure) in self.procedures() {
            procedure.parameters.iter().try_for_each(|&parameter| own(id, parameter))?;
            if procedure.exit.is_some_and(|exit| self.location(exit).variables != procedure.parameters) {
                return Err(format!(
                    "C2: other variables than the parameters at the exit of {}",
                    procedure.name
                ));
            }
        }
        for (_, location) in self.locations() {
            location.variables.iter().try_for_each(|&variable| own(location.procedure, variable))?;
        }
        for (id, edge) in self.edges() {
            self.check_edge(store, edge, &mut own)
                .map_err(|what| format!("{what}, at edge {}", id.index()))?;
        }
        let names = self.locations.iter().map(|location| &location.name);
        let procedures = self.procedures.iter().map(|procedure| &procedure.name);
        if names.collect::<FxHashSet<_>>().len() < self.locations.len()
            || procedures.collect::<FxHashSet<_>>().len() < self.procedures.len()
        {
            return Err("C7: a name is not unique".to_owned());
        }
        Ok(())
    }

    /// Checks the invariants of an edge; `own` notes that a procedure has a variable.
    fn check_edge(
        &self,
        store: &TermStore,
        edge: &CfaEdge,
        own: &mut impl FnMut(ProcedureId, Term) -> Result<(), String>,
    ) -> Result<(), String> {
        let (source, target) = (self.location(edge.source), self.location(edge.target));
        let procedure = self.procedure(source.procedure);
        if source.procedure != target.procedure {
            return Err("an edge leaves its procedure".to_owned());
        }
        if edge.source == self.error || Some(edge.source) == procedure.exit || edge.target == procedure.entry
        {
            return Err("C5: an edge from an end, or into an entry".to_owned());
        }
        let has_call = edge.statements.iter().any(|statement| matches!(statement, Statement::Call(..)));
        if has_call && edge.statements.len() > 1 {
            return Err("C4: a call is not alone".to_owned());
        }
        let mut live: FxHashSet<Term> = target.variables.iter().copied().collect();
        for statement in edge.statements.iter().rev() {
            for variable in statement.writes() {
                own(source.procedure, variable)?;
                live.remove(&variable);
                if procedure.parameters.contains(&variable) {
                    return Err("C4: a parameter is written".to_owned());
                }
            }
            for variable in store.free_vars(&statement.terms()) {
                own(source.procedure, variable)?;
                live.insert(variable);
            }
            if statement.terms().iter().any(|&term| store.normalize(term) != term) {
                return Err("C6: a term is not normal".to_owned());
            }
            if let Statement::Call(callee, arguments) = statement
                && arguments.len() != self.procedure(*callee).parameters.len()
            {
                return Err("C4: a call with another number of arguments".to_owned());
            }
        }
        let is_live: FxHashSet<Term> = source.variables.iter().copied().collect();
        match live.into_iter().find(|variable| !is_live.contains(variable)) {
            Some(variable) => Err(format!("C2: {} is read and not live", store.display(variable))),
            None => Ok(()),
        }
    }
}

impl Statement {
    /// The terms that the statement reads.
    pub fn terms(&self) -> Vec<Term> {
        match self {
            Statement::Havoc(_) => Vec::new(),
            Statement::Assume(condition) => vec![*condition],
            Statement::Assign(assignments) => assignments.iter().map(|&(_, term)| term).collect(),
            Statement::Call(_, arguments) => arguments.to_vec(),
        }
    }

    /// The variables that the statement writes.
    pub fn writes(&self) -> Vec<Term> {
        match self {
            Statement::Havoc(variables) => variables.to_vec(),
            Statement::Assign(assignments) => assignments.iter().map(|&(variable, _)| variable).collect(),
            Statement::Assume(_) | Statement::Call(..) => Vec::new(),
        }
    }
}

/// The way in which an automaton executes clauses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From facts to queries.
    Forward,
    /// From queries to facts.
    Backward,
    /// From queries to facts and back, by procedures.
    Procedures,
}

/// An automaton with its way back to the graph of clauses it was made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automaton {
    /// The automaton.
    pub cfa: Cfa,
    direction: Direction,
    /// Indexed by edge of the automaton: its clause.
    clauses: Vec<EdgeId>,
    /// Indexed by node: its location, or the entry of its procedure.
    places: Vec<LocationId>,
}

impl Automaton {
    /// The way in which the automaton executes clauses.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The clause that an edge belongs to.
    pub fn clause(&self, edge: CfaEdgeId) -> EdgeId {
        self.clauses[edge.index()]
    }

    /// The location of a predicate; for procedures, the entry of its procedure.
    pub fn location_of(&self, node: NodeId) -> LocationId {
        self.places[node.index()]
    }

    /// The model of the graph if runs reach each location only with values that satisfy its formula. `reached` has these
    /// formulas, over [`Location::variables`], indexed by location: [`Term::FALSE`] where no run comes. For
    /// [`Direction::Forward`] and [`Direction::Backward`] only; procedures have [contexts](Self::model_of_contexts).
    ///
    /// Locations of predicates are reached with the derivable facts (forward), or with values that must not be facts
    /// (backward). A superset of the first that leads nowhere else is a model, and so is the complement of a superset of
    /// the second.
    ///
    /// # Panics
    /// For [`Direction::Procedures`], or if formulas are missing.
    pub fn model(&self, store: &TermStore, graph: &HornGraph, reached: &[Term]) -> GraphModel {
        let formula = |(node, _): (NodeId, _)| {
            let reached = reached[self.location_of(node).index()];
            match self.direction {
                Direction::Forward => reached,
                Direction::Backward => store.normalize(store.not(reached)),
                Direction::Procedures => panic!("models of procedures come from contexts"),
            }
        };
        GraphModel::of_formulas(graph.nodes().map(formula))
    }

    /// The model by summaries, for [`Direction::Procedures`]. A *context* of a procedure is a pair (entry, exit) of formulas
    /// over its parameters: if a call with values in `entry` returns, they are in `exit`. `contexts` has those of each
    /// procedure. Each value of each call must be in the entry of some context, as long as the calls before it return by
    /// the contexts' exits.
    ///
    /// A predicate is the conjunction of `entry => exit` over its contexts. This satisfies a clause: let the arguments of
    /// its head be in `entry`. Then the contexts of its calls contain the arguments of its body. The body's predicates
    /// imply their exits, so the path of the clause reaches the exit of the head's procedure, in `exit`.
    ///
    /// # Panics
    /// If there are contexts of fewer procedures. Those of a procedure that is never called are an empty list.
    pub fn model_of_contexts(
        &self,
        store: &TermStore,
        graph: &HornGraph,
        contexts: &[Vec<(Term, Term)>],
    ) -> GraphModel {
        let formula = |(node, _): (NodeId, _)| {
            let procedure = self.cfa.location(self.location_of(node)).procedure;
            let contexts = contexts[procedure.index()].iter();
            store.normalize(store.and_of(contexts.map(|&(entry, exit)| store.implies(entry, exit))))
        };
        GraphModel::of_formulas(graph.nodes().map(formula))
    }

    /// The derivation of a run to the error location: the executed edges, each with the values of the target's variables.
    /// With procedures the run goes through calls: after an edge with a call come the callee's edges up to its exit. A run
    /// that is none of the automaton, or that ends elsewhere, gives [`Stop::Internal`].
    ///
    /// The derivation has each fact once. Steps that repeat a fact are left out, with everything that only they need.
    pub fn derivation(
        &self,
        context: &Context<'_>,
        graph: &HornGraph,
        run: &[(CfaEdgeId, Box<[Value]>)],
    ) -> Result<Derivation, Stop> {
        match self.direction {
            Direction::Forward => forward::derivation(self, context, graph, run),
            Direction::Backward => backward::derivation(self, context, graph, run),
            Direction::Procedures => procedures::derivation(self, context, graph, run),
        }
    }
}

/// An automaton under construction.
struct Builder<'a> {
    store: &'a TermStore,
    cfa: Cfa,
    clauses: Vec<EdgeId>,
    names: Names,
}

impl<'a> Builder<'a> {
    /// An automaton with the procedure `main`, its entry and the error location.
    fn new(store: &'a TermStore) -> Self {
        let cfa = Cfa {
            procedures: Vec::new(),
            locations: Vec::new(),
            edges: Vec::new(),
            outgoing: Vec::new(),
            error: LocationId::new(1),
        };
        let mut builder = Builder { store, cfa, clauses: Vec::new(), names: Names::default() };
        let main = ProcedureId::new(0);
        let entry = builder.add_location("entry", main, &[]);
        builder.add_location("error", main, &[]);
        let name = builder.names.unique("main");
        builder.cfa.procedures.push(Procedure { name, parameters: [].into(), entry, exit: None });
        builder
    }

    fn add_location(&mut self, name: &str, procedure: ProcedureId, variables: &[Term]) -> LocationId {
        let name = self.names.unique(name);
        self.cfa.locations.push(Location { name, procedure, variables: variables.into() });
        self.cfa.outgoing.push(Vec::new());
        LocationId::new(self.cfa.locations.len() - 1)
    }

    /// Adds a location to `main` for each node.
    fn add_places(&mut self, graph: &HornGraph) -> Vec<LocationId> {
        let main = self.cfa.main();
        let names = graph.nodes().map(|(_, node)| (self.store.name(node.name), node.variables()));
        names.map(|(name, variables)| self.add_location(name, main, variables)).collect()
    }

    /// Adds a procedure with its entry and its exit.
    fn add_procedure(&mut self, name: &str, parameters: &[Term]) -> ProcedureId {
        let id = ProcedureId::new(self.cfa.procedures.len());
        let name = self.names.unique(name);
        let entry = self.add_location(&format!("{name}.entry"), id, parameters);
        let exit = Some(self.add_location(&format!("{name}.exit"), id, parameters));
        self.cfa.procedures.push(Procedure { name, parameters: parameters.into(), entry, exit });
        id
    }

    /// Adds an edge for a clause.
    fn add_edge(
        &mut self,
        clause: EdgeId,
        source: LocationId,
        target: LocationId,
        statements: Vec<Statement>,
    ) {
        self.cfa.outgoing[source.index()].push(CfaEdgeId::new(self.cfa.edges.len()));
        self.cfa.edges.push(CfaEdge { source, target, statements: statements.into() });
        self.clauses.push(clause);
    }

    fn finish(self, direction: Direction, places: Vec<LocationId>) -> Automaton {
        debug_assert_eq!(self.cfa.check_invariants(self.store), Ok(()));
        Automaton { cfa: self.cfa, direction, clauses: self.clauses, places }
    }
}

/// Names that are unique (C7).
#[derive(Default)]
struct Names {
    taken: FxHashSet<String>,
    /// For each name that was wanted again, the number of the last attempt.
    attempts: FxHashMap<String, usize>,
}

impl Names {
    /// The name itself if it is free, otherwise with a number.
    fn unique(&mut self, name: &str) -> String {
        if self.taken.insert(name.to_owned()) {
            return name.to_owned();
        }
        let attempt = self.attempts.entry(name.to_owned()).or_default();
        loop {
            *attempt += 1;
            let numbered = format!("{name}_{attempt}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Refuses clauses with several predicates in their bodies.
fn require_linear(store: &TermStore, graph: &HornGraph, direction: &str) -> Result<(), Stop> {
    let Some((id, edge)) = graph.edges().find(|(_, edge)| edge.is_hyperedge()) else { return Ok(()) };
    let head = edge.target().map_or("false", |node| store.name(graph.node(node).name));
    let predicates = edge.sources().len();
    Err(Stop::Unsupported(format!(
        "{direction} automata of nonlinear clauses (clause {}, with head {head}, has {predicates} predicates in \
         its body); procedures execute them",
        id.index() + 1
    )))
}
