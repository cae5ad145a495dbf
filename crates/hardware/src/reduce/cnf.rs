//! The clauses of a growing graph in a solver.
//!
//! An edge gets a literal when somebody asks for it, and its cone with it. The graph may grow between questions. The
//! limits may end the encoding of a large cone.

use shofar_run::{Limits, Reason};
use shofar_smt::sat::{Lit, Outcome, Solver, Var};

use crate::aig::{Aig, Edge, Node};

/// The solver, and the literals of nodes.
pub(super) struct Cnf {
    solver: Solver,
    /// By nodes: the variable; [`NONE`] if it has none. The first variable is the constant, which is false.
    variables: Vec<u32>,
    /// Scratch: the nodes being encoded.
    stack: Vec<Node>,
}

/// No variable.
const NONE: u32 = u32::MAX;

/// The number of variables between two polls of the limits.
const INTERVAL: usize = 1 << 12;

impl Cnf {
    pub(super) fn new() -> Self {
        let mut solver = Solver::new();
        let constant = solver.new_var();
        solver.add_clause(&[constant.negative()]);
        Self { solver, variables: vec![constant.index() as u32], stack: Vec::new() }
    }

    /// The literal of an edge.
    fn literal(&mut self, aig: &Aig, edge: Edge, limits: &Limits<'_>) -> Result<Lit, Reason> {
        self.variables.resize(aig.len(), NONE);
        self.stack.clear();
        self.stack.push(edge.node());
        while let Some(&node) = self.stack.last() {
            if self.variables[node.index()] != NONE {
                self.stack.pop();
                continue;
            }
            if let Some(fanins) = aig.and_fanins(node) {
                let open = fanins.map(Edge::node).into_iter().filter(|it| self.variables[it.index()] == NONE);
                let before = self.stack.len();
                self.stack.extend(open);
                if self.stack.len() > before {
                    continue;
                }
                let gate = self.variable_for(node).positive();
                let [left, right] = fanins.map(|edge| self.known(edge));
                self.solver.add_clause(&[!gate, left]);
                self.solver.add_clause(&[!gate, right]);
                self.solver.add_clause(&[gate, !left, !right]);
            } else {
                self.variable_for(node);
            }
            if self.solver.num_vars().is_multiple_of(INTERVAL) {
                limits.go_on()?;
            }
        }
        Ok(self.known(edge))
    }

    fn variable_for(&mut self, node: Node) -> Var {
        let var = self.solver.new_var();
        self.variables[node.index()] = var.index() as u32;
        var
    }

    /// The literal of an edge whose node has a variable.
    fn known(&self, edge: Edge) -> Lit {
        Var::from_index(self.variables[edge.node().index()] as usize).lit(!edge.is_negated())
    }

    /// Requires an edge to be true.
    pub(super) fn assert(&mut self, aig: &Aig, edge: Edge, limits: &Limits<'_>) -> Result<(), Reason> {
        let lit = self.literal(aig, edge, limits)?;
        self.solver.add_clause(&[lit]);
        Ok(())
    }

    /// Requires two edges to be equal.
    pub(super) fn assert_equal(
        &mut self,
        aig: &Aig,
        left: Edge,
        right: Edge,
        limits: &Limits<'_>,
    ) -> Result<(), Reason> {
        let (left, right) = (self.literal(aig, left, limits)?, self.literal(aig, right, limits)?);
        self.solver.add_clause(&[!left, right]);
        self.solver.add_clause(&[left, !right]);
        Ok(())
    }

    /// Whether two edges can differ. After `Ok(true)`, [`value`](Self::value) reads an assignment in which they do.
    pub(super) fn can_differ(
        &mut self,
        aig: &Aig,
        left: Edge,
        right: Edge,
        limits: &Limits<'_>,
    ) -> Result<bool, Reason> {
        let (left, right) = (self.literal(aig, left, limits)?, self.literal(aig, right, limits)?);
        for assumptions in [[left, !right], [!left, right]] {
            match self.solver.solve_within(&assumptions, limits) {
                Outcome::Sat => return Ok(true),
                Outcome::Unsat => {}
                Outcome::Unknown(reason) => return Err(reason),
            }
        }
        Ok(false)
    }

    /// The value of a leaf in the last model; `None` if it is free.
    pub(super) fn value(&self, leaf: Node) -> Option<bool> {
        let &variable = self.variables.get(leaf.index()).filter(|&&variable| variable != NONE)?;
        self.solver.value(Var::from_index(variable as usize))
    }
}
