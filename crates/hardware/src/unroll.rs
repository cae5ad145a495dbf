//! Time frames of a system in a satisfiability solver.
//!
//! Position `p` of an unrolling is step `p` of a run. A node of the system has a literal at each position where
//! somebody asks for it; asking encodes the node's cone, so that each position holds only the gates that matter there.
//! A gate is the three clauses of its definition, unless its fan-ins decide it; if one of them is false, the cone of the
//! other is not encoded. Constant resets are constants at position 0, so that they simplify the gates behind them.
//!
//! A latch after position 0 is read in one of four ways ([`Links`]). Bounded model checking *substitutes* the literal of
//! its next function at the position before: constants travel as far as they reach, and gates are shared between
//! positions. Interpolation needs positions that meet in latches only, so it *ties* a variable for the latch to that
//! literal, by two binary clauses. With *guarded* ties, assumptions choose the steps that are present. With *marked* ties,
//! a proof tells which next functions it needs.
//!
//! * U1: with tied latches, a clause of part `p` has variables of position `p` and latches of position `p + 1` only.
//! * U2: the constant literal occurs in no clause but its own.
//!
//! The parts are origins in the proof log: gates and constraints of position `p`, and the ties of the latches of
//! position `p + 1`, belong to part `p`. With marked ties, a latch's ties belong to the part of the latch, and gates to
//! part 0.

use rustc_hash::FxHashMap;
use shofar_run::{Limits, Stop};
use shofar_smt::sat::{Lit, Origin, Outcome, Solver, Var};

use crate::aig::{Aig, Edge, Node};
use crate::evidence::Trace;
use crate::system::BitSystem;

/// The states at position 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// Those of step 0 of a run.
    Reset,
    /// All states.
    Any,
}

/// How a latch after position 0 depends on the position before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Links {
    /// Its literal is that of its next function.
    Substituted,
    /// It has a variable, which two clauses tie to the literal of its next function.
    Tied,
    /// As tied, if the [guard](Unrolling::step) of the step is true.
    Guarded,
    /// As tied, and the clauses are in the [part](Unrolling::part_of_latch) of the latch; as substituted, if the latch was
    /// [chosen](Unrolling::choose) before.
    Marked,
}

/// Nodes encoded between two polls of the limits.
const POLL_INTERVAL: usize = 10_000;

/// No literal; otherwise an entry is the literal's code plus one.
const NONE: u32 = 0;

/// A system unrolled in a solver.
pub struct Unrolling<'a> {
    system: &'a BitSystem,
    solver: Solver,
    start: Start,
    links: Links,
    /// The literal that is true.
    truth: Lit,
    /// By positions, by nodes: the literal.
    literals: Vec<Vec<u32>>,
    /// Gates by the literals of their fan-ins, the smaller one first.
    gates: FxHashMap<[Lit; 2], Lit>,
    /// By positions: the guard of the step to the next position.
    steps: Vec<Lit>,
    /// By latches: whether its next function is no longer marked.
    chosen: Vec<bool>,
    /// Scratch: the nodes being encoded.
    stack: Vec<(usize, Node)>,
}

impl<'a> Unrolling<'a> {
    /// An unrolling without positions.
    pub fn new(system: &'a BitSystem, start: Start, links: Links) -> Self {
        Self::in_solver(system, start, links, Solver::new())
    }

    /// As [`new`](Self::new), and the solver logs proofs.
    pub fn with_proofs(system: &'a BitSystem, start: Start, links: Links) -> Self {
        let mut solver = Solver::new();
        solver.log_proofs();
        Self::in_solver(system, start, links, solver)
    }

    fn in_solver(system: &'a BitSystem, start: Start, links: Links, mut solver: Solver) -> Self {
        let truth = solver.new_var().positive();
        solver.add_permanent_clause(&[truth]);
        let (literals, gates) = (Vec::new(), FxHashMap::default());
        let (steps, stack) = (Vec::new(), Vec::new());
        let chosen = vec![false; system.num_latches()];
        Self { system, solver, start, links, truth, literals, gates, steps, chosen, stack }
    }

    /// The system.
    pub fn system(&self) -> &'a BitSystem {
        self.system
    }

    /// The solver.
    pub fn solver(&self) -> &Solver {
        &self.solver
    }

    /// The solver, for clauses over literals of the unrolling.
    pub fn solver_mut(&mut self) -> &mut Solver {
        &mut self.solver
    }

    /// A new variable, of which the unrolling knows nothing.
    pub fn new_literal(&mut self) -> Lit {
        self.solver.new_var().positive()
    }

    /// The guard of the step from a position to the next one, if ties are guarded.
    pub fn step(&mut self, position: usize) -> Lit {
        while self.steps.len() <= position {
            let guard = self.new_literal();
            self.steps.push(guard);
        }
        self.steps[position]
    }

    /// The part of a latch's ties, if ties are marked.
    pub fn part_of_latch(&self, latch: usize) -> usize {
        1 + latch
    }

    /// From now on, the latch need not be marked.
    pub fn choose(&mut self, latch: usize) {
        self.chosen[latch] = true;
    }

    /// The value of a literal of the unrolling, if it is constant.
    pub fn constant(&self, lit: Lit) -> Option<bool> {
        (lit.var() == self.truth.var()).then_some(lit == self.truth)
    }

    /// The literal of an edge at a position.
    pub fn literal(&mut self, position: usize, edge: Edge) -> Lit {
        self.literal_within(position, edge, &Limits::default()).expect("there is no limit")
    }

    /// As [`literal`](Self::literal), within limits: the cone may reach back through many positions.
    pub fn literal_within(&mut self, position: usize, edge: Edge, limits: &Limits<'_>) -> Result<Lit, Stop> {
        if self.literals.len() <= position {
            let nodes = self.system.aig.len();
            self.literals.resize_with(position + 1, || vec![NONE; nodes]);
        }
        debug_assert!(self.stack.is_empty());
        self.stack.push((position, edge.node()));
        let mut steps = 0;
        while let Some(&(position, node)) = self.stack.last() {
            steps += 1;
            if steps % POLL_INTERVAL == 0
                && let Some(reason) = limits.interruption()
            {
                self.stack.clear();
                return Err(reason.into());
            }
            if self.known(position, node.into()).is_none() {
                let Some(lit) = self.encode(position, node) else { continue };
                self.literals[position][node.index()] = lit.code() + 1;
            }
            self.stack.pop();
        }
        Ok(self.known(position, edge).expect("the edge was encoded"))
    }

    /// The literal of an edge at a position, if its node was encoded there.
    pub fn known(&self, position: usize, edge: Edge) -> Option<Lit> {
        let code = *self.literals.get(position)?.get(edge.node().index())?;
        let code = code.checked_sub(1)?;
        let lit = Var::from_index((code >> 1) as usize).lit(code & 1 == 0);
        Some(if edge.is_negated() { !lit } else { lit })
    }

    /// The literal of an edge of another graph at a position. The leaves of its cone are latches and inputs, with the
    /// numbers of the system.
    pub fn literal_over(&mut self, position: usize, aig: &Aig, edge: Edge) -> Lit {
        let cone = aig.cone([edge]);
        let mut map: FxHashMap<Node, Lit> = FxHashMap::default();
        let image = |map: &FxHashMap<Node, Lit>, edge: Edge| {
            let lit = map[&edge.node()];
            if edge.is_negated() { !lit } else { lit }
        };
        for node in aig.nodes().filter(|node| cone[node.index()]) {
            let lit = match aig.and_fanins(node) {
                Some([left, right]) => {
                    let (left, right) = (image(&map, left), image(&map, right));
                    self.gate(position, left, right)
                }
                None => self.literal(position, node.into()),
            };
            map.insert(node, lit);
        }
        image(&map, edge)
    }

    /// The variables of latches after position 0, with the latches. They have variables of their own if they are tied.
    pub fn latch_variables(&self) -> FxHashMap<Var, usize> {
        let positions = self.literals.iter().skip(1);
        positions
            .flat_map(|literals| literals[1..=self.system.num_latches()].iter().enumerate())
            .filter_map(|(latch, code)| Some((Var::from_index((code.checked_sub(1)? >> 1) as usize), latch)))
            .collect()
    }

    /// A literal for a node; `None` if it needs other nodes first, which are then on the stack.
    fn encode(&mut self, position: usize, node: Node) -> Option<Lit> {
        let system = self.system;
        if node == Node::FALSE {
            return Some(!self.truth);
        }
        if let Some([left, right]) = system.aig.and_fanins(node) {
            // One after the other: if one is false, the cone of the other is not needed.
            let falsum = !self.truth;
            let open = match (self.known(position, left), self.known(position, right)) {
                (Some(lit), _) | (_, Some(lit)) if lit == falsum => return Some(falsum),
                (Some(left), Some(right)) => return Some(self.gate(position, left, right)),
                (Some(_), None) => right,
                (None, _) => left,
            };
            self.stack.push((position, open.node()));
            return None;
        }
        let Some(latch) = system.latch_index(node) else { return Some(self.new_literal()) };
        if position == 0 {
            return Some(match system.resets[latch] {
                Some(value) if self.start == Start::Reset => {
                    if value {
                        self.truth
                    } else {
                        !self.truth
                    }
                }
                _ => self.new_literal(),
            });
        }
        let next = system.next[latch];
        let Some(before) = self.known(position - 1, next) else {
            self.stack.push((position - 1, next.node()));
            return None;
        };
        Some(match self.links {
            Links::Substituted => before,
            Links::Marked if self.chosen[latch] => before,
            Links::Tied | Links::Marked => {
                let lit = self.new_literal();
                let part = if self.links == Links::Marked { self.part_of_latch(latch) } else { position - 1 };
                self.add_clause(part, &[!lit, before]);
                self.add_clause(part, &[lit, !before]);
                lit
            }
            Links::Guarded => {
                let (lit, step) = (self.new_literal(), self.step(position - 1));
                self.add_clause(position - 1, &[!step, !lit, before]);
                self.add_clause(position - 1, &[!step, lit, !before]);
                lit
            }
        })
    }

    /// The conjunction of two literals.
    fn gate(&mut self, position: usize, left: Lit, right: Lit) -> Lit {
        let (left, right) = (left.min(right), left.max(right));
        if left == right || left == self.truth {
            return right;
        }
        if right == self.truth {
            return left;
        }
        if left == !right || left == !self.truth || right == !self.truth {
            return !self.truth;
        }
        if let Some(&gate) = self.gates.get(&[left, right]) {
            return gate;
        }
        let gate = self.new_literal();
        let part = if self.links == Links::Marked { 0 } else { position };
        let origin = Origin::Assertion(part as u32);
        self.solver.add_clause_from(&[!gate, left], origin);
        self.solver.add_clause_from(&[!gate, right], origin);
        self.solver.add_clause_from(&[gate, !left, !right], origin);
        self.gates.insert([left, right], gate);
        gate
    }

    /// Adds a clause over literals of the unrolling to a part.
    pub fn add_clause(&mut self, part: usize, clause: &[Lit]) {
        if clause.contains(&self.truth) {
            return;
        }
        let lits: Vec<Lit> = clause.iter().copied().filter(|&lit| lit != !self.truth).collect();
        self.solver.add_clause_from(&lits, Origin::Assertion(part as u32));
    }

    /// Requires an edge to be true at a position.
    pub fn assert(&mut self, position: usize, edge: Edge) {
        let lit = self.literal(position, edge);
        self.add_clause(position, &[lit]);
    }

    /// Requires the constraints of the system at a position.
    pub fn assert_constraints(&mut self, position: usize) {
        let system = self.system;
        system.constraints.iter().for_each(|&edge| self.assert(position, edge));
    }

    /// Whether all clauses and the assumptions can be true together.
    pub fn is_satisfiable(&mut self, assumptions: &[Lit], limits: &Limits<'_>) -> Result<bool, Stop> {
        match self.solver.solve_within(assumptions, limits) {
            Outcome::Sat => Ok(true),
            Outcome::Unsat => Ok(false),
            Outcome::Unknown(reason) => Err(reason.into()),
        }
    }

    /// The value of an edge at a position in the last model; false if nothing depends on it.
    pub fn value(&self, position: usize, edge: Edge) -> bool {
        self.known(position, edge).is_some_and(|lit| {
            self.constant(lit)
                .unwrap_or_else(|| self.solver.value(lit.var()).unwrap_or(false) == lit.is_positive())
        })
    }

    /// The run of the last model up to a position. It starts in a reset state if the unrolling does.
    pub fn trace(&self, last: usize) -> Trace {
        let system = self.system;
        let initial = system
            .resets
            .iter()
            .enumerate()
            .map(|(index, reset)| match reset {
                Some(value) if self.start == Start::Reset => *value,
                _ => self.value(0, system.latch(index).into()),
            })
            .collect();
        let inputs = (0..=last)
            .map(|position| {
                (0..system.num_inputs).map(|input| self.value(position, system.input(input).into())).collect()
            })
            .collect();
        Trace { initial, inputs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit::random_system;
    use crate::simulate::replay;
    use shofar_testing::Random;

    /// Each model of an unrolling is a run, for both links; and all literals have the values of the run.
    #[test]
    fn models_are_runs() {
        let mut random = Random::new(1);
        let limits = Limits::default();
        for _ in 0..300 {
            let system = random_system(&mut random, 5, 3, 15);
            for links in [Links::Substituted, Links::Tied] {
                let mut unrolling = Unrolling::new(&system, Start::Reset, links);
                for position in 0..4 {
                    unrolling.assert_constraints(position);
                }
                let nodes: Vec<Node> = system.aig.nodes().collect();
                for position in 0..4 {
                    let edge = nodes[random.below(nodes.len())].edge(random.below(2) == 0);
                    unrolling.literal(position, edge);
                    let lit = unrolling.literal(position, edge);
                    if !unrolling.is_satisfiable(&[lit], &limits).unwrap() {
                        continue;
                    }
                    for (position, values) in replay(&system, &unrolling.trace(3)).values.iter().enumerate() {
                        for &node in &nodes {
                            if unrolling.known(position, node.into()).is_some() {
                                assert_eq!(unrolling.value(position, node.into()), values[node.index()]);
                            }
                        }
                        assert!(
                            system
                                .constraints
                                .iter()
                                .all(|edge| values[edge.node().index()] != edge.is_negated())
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn constant_resets_simplify_the_gates_behind_them() {
        // A counter of 4 bits without inputs: every literal is constant at every position.
        let system = crate::explicit::counter(4, false);
        let mut unrolling = Unrolling::new(&system, Start::Reset, Links::Substituted);
        for position in 0..20 {
            let bad = unrolling.literal(position, system.bad);
            assert_eq!(unrolling.constant(bad), Some(position == 15));
        }
        assert_eq!(unrolling.solver().num_vars(), 1);
    }
}
