//! Refutations of systems: ground derivations of `false`.

use shofar_logic::Value;

/// A ground instance of a clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The clause, by its position in the system.
    pub clause: usize,
    /// Values for the variables of the clause.
    pub instantiation: Box<[Value]>,
    /// The steps that derive the atoms of the body, in order.
    pub premises: Box<[usize]>,
    /// The arguments of the head; empty for a query.
    pub fact: Box<[Value]>,
}

/// A refutation of a system: steps in topological order, of which the last one is a query. It is a shared DAG; no step
/// is there twice.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Refutation {
    /// The steps. Premises precede the steps that use them.
    pub steps: Vec<Step>,
}
