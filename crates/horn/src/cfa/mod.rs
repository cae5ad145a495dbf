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
//! All three keep a way back: an [`Automaton`] turns what is known about its locations into a model of the graph, and a run to
//! the error location into a derivation.
//!
//! **Invariants.**
//!
//! - C1: each variable belongs to one procedure. A call gives the callee instances of its own of all its variables.
//! - C2: [`Location::variables`] are the *live* variables: a path from the location reads no others before it writes them.
//! - C3: an assignment is simultaneous: its terms have the values from before.
//! - C4: a call is alone on its edge. It sets the parameters, and changes no variable of the caller: procedures have no results
//!   and return or not. Procedures never write their parameters.
//! - C5: the error location and exits have no outgoing edges; entries have no incoming ones.
//! - C6: conditions and terms are in the store's normal form.
//!
//! M. Somorjai, "Abstraction Based Techniques for Constrained Horn Clause Solving" (BME, 2022), has both directions. We
//! differ where they are wrong or end in the infinite: all variables of a clause are written before they are read, arguments in
//! heads and bodies may be any terms, several queries are several edges, and linear clauses need no calls backward, since the
//! caller has nothing left to do.

use shofar_logic::Term;

/// The index of a procedure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProcedureId(u32);

/// The index of a location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocationId(u32);

/// The index of an edge of an automaton.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CfaEdgeId(u32);

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
