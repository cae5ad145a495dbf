//! Equality with uninterpreted functions: a congruence-closure kernel.
//!
//! **What it decides.** Conjunctions of equalities and disequalities between ground applications `f(t1, .., tn)` of
//! uninterpreted functions, where some constants are *values*, known to differ from one another. Predicates are
//! functions whose value is [`Node::TRUE`] or [`Node::FALSE`]. Some functions may be free constructors, with selectors
//! and testers. The kernel knows nodes, function symbols and reasons by their numbers. It knows no terms, sorts,
//! literals or search.
//!
//! **The idea.** Nodes are grouped into classes. When two classes are joined, applications with arguments in them may
//! become congruent: their *signatures*, the symbol with the classes of the arguments, become equal. A table finds an
//! application by its signature, so exactly these pairs are found, and joined in turn. Each join adds an edge to a
//! *proof forest* whose trees span the classes; the path between two nodes explains why they are equal.
//!
//! ```text
//! merge(a, b, reason):                       union(a, b, why):
//!   put (a, b, reason) into the queue          add the edge a - b to the forest
//!   while the queue has (a, b, why):           stop with a conflict if the classes are apart
//!     if root(a) != root(b): union(a, b, why)  take applications over the lighter class out of the table
//!                                              relabel the lighter class
//!                                              put them back; where another one has the signature: queue both
//!                                              queue what constructors in the two classes imply
//!                                              join the equations and distinct groups of the two classes
//! ```
//!
//! **Files**, in reading order: `egraph` has nodes, classes, the signature table and the queue; `apart` has
//! disequalities, distinct groups and watched equations; `free` constructors, selectors and testers; `undo` the trail;
//! `explain` the proof forest; `model` the model of a satisfiable state; `ring` the lists that all of them use; `check`
//! verifies the invariants.
//!
//! **Invariants.** They hold between calls, unless the graph is in conflict; [`EGraph::check_invariants`] checks them.
//!
//! - I1 Each node's root is the root of itself, and the members of a root are the nodes that have this root.
//! - I2 The signature table is closed: two applications with the same signature are in one class. It has
//!   exactly one of them, the *owner*, and under its present signature; the others do not occur in it.
//! - I3 The uses of a root are the argument positions, over all nodes, that hold a member of its class.
//! - I4 The proof forest is acyclic, and each tree spans one class. Edges are numbered by age. A congruence
//!   edge joins applications of one symbol whose arguments are connected, pair by pair, through older edges. The
//!   premise of an injection or a reduction is connected through older edges, too.
//! - I5 A class with values knows one of them. All have the same symbol, and equal arguments.
//! - I6 Between two classes there is at most one owning equation, found under the pair of roots, and each
//!   equation between the two is in its ring. It is marked as false iff the classes are apart: by an asserted
//!   disequality, by two values of different symbols, or by a distinct group with members in both.
//! - I7 A class has at most one member of each distinct group, and the group's table finds it.
//! - I8 A watch has been reported once, with its truth, if its equation is settled, else not at all.
//! - I9 A selector or tester over a class with a constructor equals its value there, unless it is a selector of another
//!   constructor.
//!
//! **Why explanations fit the past.** Edges are only added while the search moves forward, and the path between two
//! nodes of a forest is unique. So the path between two nodes that were equal at some time consists of edges from
//! before that time, whatever was merged since; by I4 the same holds for their premises. A propagated disequality pins
//! the two nodes that differ when it is reported. So no explanation needs a time bound, and each can be requested until
//! the propagation itself is popped.
//!
//! **Where it comes from.** Downey, Sethi, Tarjan, "Variations on the common subexpression problem" (J. ACM 1980) for
//! closing by signatures; Nieuwenhuis, Oliveras, "Fast congruence closure and extensions" (Inf. Comput. 2007) for the
//! forest and for explaining in almost linear time; Fuchs, Goel, Grundy, Krstić, Tinelli, "Ground interpolation for the
//! theory of equality" (TACAS 2009) for the proofs that interpolation needs.
//!
//! **Where we differ.** Applications are n-ary and not curried. Currying bounds the work on one signature but makes a
//! node for each prefix of the arguments, and its explanations mention partial applications, which an interpolant would
//! have to reassemble. Equations are not nodes: `a = b` as an application with a truth value would bring disequalities
//! under congruence, but also `=` and truth values into each proof. They have their own signature table, which is the
//! same method with proofs over terms only.

mod apart;
mod check;
mod egraph;
mod explain;
mod free;
mod model;
mod ring;
mod undo;

pub use apart::{Apart, Conflict, Propagation};
pub use egraph::EGraph;
pub use explain::{LevelledEdge, PathStep, Proof, ProofEdge, ProofWhy, Time};
pub use free::Role;
pub use model::{ClassModel, Row};

/// A constant or an application of a function to nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(pub u32);

impl Node {
    /// The value of a predicate that holds.
    pub const TRUE: Node = Node(0);
    /// The value of a predicate that does not hold.
    pub const FALSE: Node = Node(1);

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function symbol; nodes with different symbols are never congruent. The two greatest numbers are reserved
/// for the truth values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(pub u32);

/// The caller's reason for an assertion. The kernel only returns it in explanations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reason(pub u32);

/// The caller's name for a watched equation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Token(pub u32);
