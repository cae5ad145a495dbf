//! Probe: a satisfiability solver for millions of tiny queries about one circuit.
//!
//! PDR asks whether a few edges of a circuit can have given values, under some clauses over latches. Of a circuit with
//! 20,000 gates, such a query concerns some hundred. So the solver differs from a general one in these ways:
//!
//! * *Gates are not clauses.* All solvers, one per frame, read the same [`Gates`]; a solver owns values, lemmas and
//!   learnt clauses only. Making one for a new frame is copying some arrays.
//! * *Domain.* Only nodes that the query, the lemmas and the constraints depend on get values.
//! * *Justification.* A variable is decided only if a false gate or a clause needs it; what nothing needs stays open. A
//!   default state, which satisfies all lemmas, stands in for open leaves: in PDR, an initial state.
//! * *Decisions* cost constant time (`order.rs`).
//! * *A temporary clause* may come with each query; it, and all that was learnt from it, is dropped afterwards.
//!
//! Invariants:
//!
//! * D1: the domain is closed under fan-in and contains all nodes of all lemmas. So what lies outside is a function of
//!   what lies inside and of leaves that no lemma mentions, and an assignment of the domain extends to all nodes. A
//!   learnt clause that reaches outside is ignored as long as it does: it follows from gates and lemmas.
//! * J1: at a fixpoint of a query, a false gate has a false fan-in, or both fan-ins wait to be decided.
//! * J2: at a fixpoint of a query, a lemma or temporary clause has a watch or blocker that is true, or a watch that is
//!   open and true by default, or an open watch that waits to be decided. At the beginning of a query, a lemma watches a
//!   literal that is true by default, or its watches wait.
//! * D2: level 0 is propagated through all nodes, inside of the domain or not, because later queries rely on it.
//! * W1: at a fixpoint, no lemma has a false watch unless its other watch or its blocker is true.
//!
//! **Why the answers are right.** When nothing waits, give the open leaves their default values, and compute the other
//! nodes. By J1 and D1, from the leaves up, the nodes of constraint cones and the nodes assigned in this query get the
//! values that they have. By J2 all lemmas hold. So it is a model; values at level 0 hold in every model, justified or
//! not, and need no care but in the constraints' cones. An unsatisfiable query is refuted by resolution.
//!
//! The search is that of MiniSat (Eén & Sörensson, SAT 2003); domains and temporary clauses are those of GipSAT, the
//! solver of rIC3 (Su, Yang, Ci, Bu & Huang, "The rIC3 Hardware Model Checker", CAV 2025).

mod analyze;
mod clauses;
mod gates;
mod order;
mod propagate;

use std::sync::Arc;

use shofar_run::{Limits, Poll, Reason};

use crate::aig::{Edge, Node};
use clauses::{ClauseRef, Clauses, Kind};
pub use gates::Gates;
use order::Order;

/// The value of nodes outside of the domain, for both signs.
const OUTSIDE: i8 = 2;

/// Conflicts before the first restart; the series is Luby's.
const RESTART: u64 = 16;

/// Learnt clauses that a solver keeps; half of them are forgotten when there are more.
const MOST_LEARNT: usize = 2000;

/// Steps between two polls of clock and cancel flag.
const POLL_INTERVAL: u64 = 4096;

/// The answer to a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Satisfiable; [`Probe::leaf_value`] reads the model.
    Sat,
    /// Unsatisfiable; [`Probe::in_core`] says which assumptions are at fault.
    Unsat,
    /// The search gave up.
    Unknown(Reason),
}

/// Counters since the solver was made.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// Queries answered.
    pub queries: u64,
    /// Decisions, without assumptions.
    pub decisions: u64,
    /// Literals propagated.
    pub propagations: u64,
    /// Conflicts.
    pub conflicts: u64,
    /// Nodes that were in the domains of queries.
    pub domain: u64,
}

impl std::ops::AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        self.queries += other.queries;
        self.decisions += other.decisions;
        self.propagations += other.propagations;
        self.conflicts += other.conflicts;
        self.domain += other.domain;
    }
}

/// A clause that a literal's falsity may make unit, and another of its literals.
#[derive(Clone, Copy, Debug)]
struct Watch {
    clause: ClauseRef,
    blocker: Edge,
}

/// Why a literal is true: a tag in the lowest two bits, and an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Antecedent(u32);

/// An [`Antecedent`], unpacked.
enum Because {
    /// It was decided or assumed, or holds at level 0.
    Decision,
    /// Another literal implies it, by a gate.
    Implied(Edge),
    /// Two literals of this gate imply it.
    Gate(Node),
    /// All other literals of this clause are false.
    Clause(ClauseRef),
}

impl Antecedent {
    const DECISION: Antecedent = Antecedent(0);

    #[inline]
    fn implied(by: Edge) -> Self {
        Self(by.code() << 2 | 1)
    }

    #[inline]
    fn gate(node: Node) -> Self {
        Self((node.index() as u32) << 2 | 2)
    }

    #[inline]
    fn clause(clause: ClauseRef) -> Self {
        Self(clause << 2 | 3)
    }

    #[inline]
    fn unpack(self) -> Because {
        let argument = self.0 >> 2;
        match self.0 & 3 {
            0 => Because::Decision,
            1 => Because::Implied(Edge::from_code(argument)),
            2 => Because::Gate(Node::from_index(argument as usize)),
            _ => Because::Clause(argument),
        }
    }
}

/// A solver for queries about one frame.
#[derive(Clone, Debug)]
pub struct Probe {
    gates: Arc<Gates>,
    clauses: Clauses,
    /// By edges: the clauses that watch its negation.
    watches: Vec<Vec<Watch>>,
    learnt: Vec<ClauseRef>,
    num_lemmas: usize,
    /// Clauses that end with the query.
    temporary: Vec<ClauseRef>,
    /// Whether the lemmas and gates have no contradiction at level 0.
    consistent: bool,

    /// By edges: 1 true, -1 false, 0 open, [`OUTSIDE`].
    values: Vec<i8>,
    level: Vec<u32>,
    antecedent: Vec<Antecedent>,
    trail: Vec<Edge>,
    /// The trail's length at the beginning of each level.
    levels: Vec<u32>,
    head: usize,
    phase: Vec<bool>,
    order: Order,

    /// By edges: whether it is a leaf's literal that is true in the default state.
    default: Vec<bool>,
    /// By nodes: whether it is in the cone of a constraint, and so in the domain of every query.
    fixed: Vec<bool>,
    fixed_nodes: Vec<Node>,
    /// By nodes: whether it is a leaf in a lemma, and so in the domain of every query.
    in_lemma: Vec<bool>,
    /// The false gates in constraint cones without a false fan-in at level 0, as of this length of the trail.
    unjustified: Vec<Node>,
    justified_until: usize,
    /// Lemmas without a literal that is true by default.
    bare: Vec<ClauseRef>,
    /// Lemmas that lost their watches on such literals in this query.
    uncovered: Vec<ClauseRef>,
    /// The other nodes of this query's domain.
    query_nodes: Vec<Node>,
    /// By nodes: whether it is one of these.
    within: Vec<bool>,

    assumptions: Vec<Edge>,
    /// By edges: whether it is an assumption at fault.
    in_core: Vec<bool>,
    core: Vec<Edge>,

    // Scratch.
    seen: Vec<bool>,
    stack: Vec<Node>,
    conflict: Vec<Edge>,
    learning: Vec<Edge>,
    to_clear: Vec<Node>,

    clause_bump: f32,
    statistics: Statistics,
}

impl Probe {
    /// A solver without lemmas. Open leaves have the default values; a leaf beyond them is false.
    pub fn new(gates: Arc<Gates>, defaults: impl IntoIterator<Item = (Node, bool)>) -> Self {
        // One more variable, for the temporary clause.
        let vars = gates.aig().len() + 1;
        let mut probe = Self {
            gates,
            clauses: Clauses::default(),
            watches: vec![Vec::new(); 2 * vars],
            learnt: Vec::new(),
            num_lemmas: 0,
            temporary: Vec::new(),
            consistent: true,
            values: vec![OUTSIDE; 2 * vars],
            level: vec![0; vars],
            antecedent: vec![Antecedent::DECISION; vars],
            trail: Vec::new(),
            levels: Vec::new(),
            head: 0,
            phase: vec![false; vars],
            order: Order::new(vars),
            default: Vec::new(),
            fixed: vec![false; vars],
            fixed_nodes: Vec::new(),
            in_lemma: vec![false; vars],
            unjustified: Vec::new(),
            justified_until: 0,
            bare: Vec::new(),
            uncovered: Vec::new(),
            query_nodes: Vec::new(),
            within: vec![false; vars],
            assumptions: Vec::new(),
            in_core: vec![false; 2 * vars],
            core: Vec::new(),
            seen: vec![false; vars],
            stack: Vec::new(),
            conflict: Vec::new(),
            learning: Vec::new(),
            to_clear: Vec::new(),
            clause_bump: 1.0,
            statistics: Statistics::default(),
        };
        probe.default = vec![false; 2 * vars];
        for leaf in probe.gates.aig().nodes().filter(|&node| !probe.gates.aig().is_and(node)) {
            probe.default[leaf.edge(true).index()] = true;
        }
        for (leaf, value) in defaults {
            probe.phase[leaf.index()] = value;
            probe.default[leaf.edge(!value).index()] = true;
            probe.default[leaf.edge(value).index()] = false;
        }
        let switch = probe.switch();
        probe.values[switch.index()] = 0;
        probe.values[(!switch).index()] = 0;
        probe.assign(Edge::TRUE, Antecedent::DECISION);
        let gates = probe.gates.clone();
        probe.consistent = probe.propagate::<true>(&gates).is_none();
        probe
    }

    /// The literal that turns the temporary clause on.
    fn switch(&self) -> Edge {
        Node::from_index(self.gates.aig().len()).into()
    }

    /// The counters.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Counts from here on.
    pub fn clear_statistics(&mut self) {
        self.statistics = Statistics::default();
    }

    /// Makes an edge true for good.
    pub fn add_constraint(&mut self, edge: Edge) {
        self.backtrack_fully();
        self.fix_cone(edge.node());
        self.add_unit(edge);
    }

    /// Adds a clause for good.
    pub fn add_clause(&mut self, lits: &[Edge]) {
        self.backtrack_fully();
        for lit in lits {
            if self.gates.aig().is_and(lit.node()) {
                self.fix_cone(lit.node());
            } else {
                self.in_lemma[lit.node().index()] = true;
                self.open(lit.node());
            }
        }
        let mut clause = std::mem::take(&mut self.learning);
        clause.clear();
        clause.extend(lits.iter().copied().filter(|lit| self.values[lit.index()] != -1));
        clause.sort_unstable();
        clause.dedup();
        let holds = clause.iter().any(|lit| self.values[lit.index()] == 1)
            || clause.windows(2).any(|pair| pair[0] == !pair[1]);
        if !holds {
            match clause[..] {
                [] => self.consistent = false,
                [lit] => self.add_unit(lit),
                _ => {
                    let covering = clause.iter().position(|lit| self.default[lit.index()]);
                    clause.swap(0, covering.unwrap_or(0));
                    let clause = self.attach(&clause, Kind::Lemma);
                    self.num_lemmas += 1;
                    if covering.is_none() {
                        self.bare.push(clause);
                    }
                }
            }
        }
        self.learning = clause;
    }

    /// The number of lemmas, without those that became units.
    pub fn num_lemmas(&self) -> usize {
        self.num_lemmas
    }

    /// Puts others in the place of all lemmas, which must follow from them. Learnt clauses stay.
    pub fn replace_lemmas<'a>(&mut self, lemmas: impl IntoIterator<Item = &'a [Edge]>) {
        self.backtrack_fully();
        self.forget();
        let old: Vec<ClauseRef> =
            self.clauses.iter().filter(|&clause| self.clauses.kind(clause) == Kind::Lemma).collect();
        old.into_iter().for_each(|clause| self.clauses.delete(clause));
        self.num_lemmas = 0;
        self.collect();
        lemmas.into_iter().for_each(|lemma| self.add_clause(lemma));
    }

    fn add_unit(&mut self, lit: Edge) {
        match self.values[lit.index()] {
            1 => {}
            -1 => self.consistent = false,
            _ => {
                self.assign(lit, Antecedent::DECISION);
                let gates = self.gates.clone();
                self.consistent &= self.propagate::<true>(&gates).is_none();
            }
        }
    }

    /// Puts a cone into the domain of every query.
    fn fix_cone(&mut self, root: Node) {
        self.stack.push(root);
        while let Some(node) = self.stack.pop() {
            if std::mem::replace(&mut self.fixed[node.index()], true) {
                continue;
            }
            self.fixed_nodes.push(node);
            self.open(node);
            self.justified_until = 0;
            if let Some(fanins) = self.gates.aig().and_fanins(node) {
                self.stack.extend(fanins.map(Edge::node));
            }
        }
    }

    /// Takes a node into the domain.
    #[inline]
    fn open(&mut self, node: Node) {
        let index = Edge::from(node).index();
        if self.values[index] == OUTSIDE {
            self.values[index] = 0;
            self.values[index + 1] = 0;
        }
    }

    /// Makes the domain that of the roots. Nodes that are fixed at level 0 are no end of it: lifting reads the values
    /// below them.
    fn set_domain(&mut self, roots: impl Iterator<Item = Edge>) {
        for node in self.query_nodes.drain(..) {
            let index = Edge::from(node).index();
            self.within[node.index()] = false;
            if self.values[index] == 0 && !self.fixed[node.index()] && !self.in_lemma[node.index()] {
                self.values[index] = OUTSIDE;
                self.values[index + 1] = OUTSIDE;
            }
        }
        for root in roots {
            self.stack.push(root.node());
            while let Some(node) = self.stack.pop() {
                if self.fixed[node.index()] || std::mem::replace(&mut self.within[node.index()], true) {
                    continue;
                }
                self.open(node);
                self.query_nodes.push(node);
                if let Some(fanins) = self.gates.aig().and_fanins(node) {
                    self.stack.extend(fanins.map(Edge::node));
                }
            }
        }
        self.statistics.domain += (self.query_nodes.len() + self.fixed_nodes.len()) as u64;
    }

    /// Whether the assumptions can be true together, with a clause that holds for this query only; an empty one stands
    /// for none.
    pub fn solve(&mut self, assumptions: &[Edge], clause: &[Edge], limits: &Limits<'_>) -> Answer {
        self.statistics.queries += 1;
        self.backtrack_fully();
        self.forget();
        for edge in self.core.drain(..) {
            self.in_core[edge.index()] = false;
        }
        if !self.consistent {
            return Answer::Unsat;
        }
        self.set_domain(assumptions.iter().chain(clause).copied());
        self.order.clear();
        self.restore_cover();
        self.require_level_0();
        self.assumptions.clear();
        if !clause.is_empty() && !clause.iter().any(|lit| self.values[lit.index()] == 1) {
            let switch = self.switch();
            let mut lits = std::mem::take(&mut self.learning);
            lits.clear();
            lits.extend(clause.iter().copied().filter(|lit| self.values[lit.index()] == 0));
            lits.push(!switch);
            if lits.len() == 1 {
                self.learning = lits;
                return Answer::Unsat;
            }
            match lits.iter().position(|lit| self.default[lit.index()]) {
                Some(covering) => lits.swap(0, covering),
                None => {
                    self.order.push(lits[0].node());
                    self.order.push(lits[1].node());
                }
            }
            let clause = self.attach(&lits, Kind::Temporary);
            self.temporary.push(clause);
            self.learning = lits;
            self.assumptions.push(switch);
        }
        self.assumptions.extend_from_slice(assumptions);
        self.search(limits)
    }

    /// Makes lemmas watch a literal that is true by default again, as far as they have one.
    fn restore_cover(&mut self) {
        let mut uncovered = std::mem::take(&mut self.uncovered);
        for clause in uncovered.drain(..) {
            if self.clauses.kind(clause) == Kind::Deleted {
                continue;
            }
            let covers = |lit: Edge| self.default[lit.index()] && self.values[lit.index()] != -1;
            match (0..self.clauses.len(clause)).find(|&index| covers(self.clauses.lit(clause, index))) {
                Some(0 | 1) => {}
                Some(index) => {
                    let (old, new) = (self.clauses.lit(clause, 0), self.clauses.lit(clause, index));
                    let blocker = self.clauses.lit(clause, 1);
                    let watches = &mut self.watches[(!old).index()];
                    if let Some(at) = watches.iter().position(|watch| watch.clause == clause) {
                        watches.swap_remove(at);
                    }
                    self.clauses.swap(clause, 0, index);
                    self.watches[(!new).index()].push(Watch { clause, blocker });
                }
                None => self.bare.push(clause),
            }
        }
        self.uncovered = uncovered;
    }

    /// Queues what level 0 and the lemmas without cover need (J1, J2).
    fn require_level_0(&mut self) {
        if self.justified_until < self.trail.len() {
            self.justified_until = self.trail.len();
            self.unjustified.clear();
            let value = |edge: Edge| self.values[edge.index()];
            for &node in &self.fixed_nodes {
                if let Some([left, right]) = self.gates.aig().and_fanins(node)
                    && value(node.into()) == -1
                    && value(left) != -1
                    && value(right) != -1
                {
                    self.unjustified.push(node);
                }
            }
        }
        for &node in &self.unjustified {
            if let Some([left, right]) = self.gates.aig().and_fanins(node) {
                self.order.push(left.node());
                self.order.push(right.node());
            }
        }
        for index in 0..self.bare.len() {
            let clause = self.bare[index];
            if self.clauses.kind(clause) != Kind::Deleted {
                self.order.push(self.clauses.lit(clause, 0).node());
                self.order.push(self.clauses.lit(clause, 1).node());
            }
        }
    }

    fn search(&mut self, limits: &Limits<'_>) -> Answer {
        let gates = self.gates.clone();
        let most_conflicts =
            limits.conflicts.map_or(u64::MAX, |most| self.statistics.conflicts.saturating_add(most));
        let (mut restarts, mut until_restart) = (0, RESTART);
        let poll = Poll::new(limits);
        let mut next_poll = self.statistics.propagations + POLL_INTERVAL;
        loop {
            let at_root = self.levels.is_empty();
            let conflict =
                if at_root { self.propagate::<true>(&gates) } else { self.propagate::<false>(&gates) };
            if let Some(conflict) = conflict {
                self.statistics.conflicts += 1;
                if self.levels.is_empty() {
                    self.consistent = false;
                    return Answer::Unsat;
                }
                self.learn(conflict);
                // Conflicts in a row may pass the end.
                until_restart = until_restart.saturating_sub(1);
                if self.statistics.conflicts > most_conflicts {
                    return Answer::Unknown(Reason::Budget);
                }
                continue;
            }
            if self.statistics.propagations >= next_poll {
                next_poll = self.statistics.propagations + POLL_INTERVAL;
                if let Some(reason) = poll.interruption() {
                    return Answer::Unknown(reason);
                }
            }
            if until_restart == 0 {
                restarts += 1;
                until_restart = RESTART * luby(restarts);
                self.backtrack(self.assumptions.len().min(self.levels.len()));
            }
            let decision = loop {
                match self.assumptions.get(self.levels.len()) {
                    Some(&lit) => match self.values[lit.index()] {
                        1 => self.levels.push(self.trail.len() as u32),
                        0 => break Some(lit),
                        _ => {
                            self.find_core(lit);
                            return Answer::Unsat;
                        }
                    },
                    None => {
                        let open = |probe: &Self, node: Node| probe.values[Edge::from(node).index()] == 0;
                        let mut next = self.order.pop();
                        while next.is_some_and(|node| !open(self, node)) {
                            next = self.order.pop();
                        }
                        self.statistics.decisions += 1;
                        break next.map(|node| node.edge(!self.phase[node.index()]));
                    }
                }
            };
            match decision {
                Some(lit) => {
                    self.levels.push(self.trail.len() as u32);
                    self.assign(lit, Antecedent::DECISION);
                }
                None => return Answer::Sat,
            }
        }
    }

    /// The value of a leaf in the model of the last query. The values of the other nodes follow.
    #[inline]
    pub fn leaf_value(&self, leaf: Node) -> bool {
        let edge = Edge::from(leaf);
        match self.values[edge.index()] {
            1 => true,
            -1 => false,
            _ => self.default[edge.index()],
        }
    }

    /// Whether an assumption of the last query, which answered `Unsat`, is at fault.
    #[inline]
    pub fn in_core(&self, edge: Edge) -> bool {
        self.in_core[edge.index()]
    }

    /// Adds a clause of at least two literals; the first two are watched.
    fn attach(&mut self, lits: &[Edge], kind: Kind) -> ClauseRef {
        let clause = self.clauses.add(lits, kind);
        self.watches[(!lits[0]).index()].push(Watch { clause, blocker: lits[1] });
        self.watches[(!lits[1]).index()].push(Watch { clause, blocker: lits[0] });
        clause
    }

    /// Drops the clauses of the last query and, if there are many, learnt clauses of little use.
    fn forget(&mut self) {
        for clause in self.temporary.drain(..) {
            self.clauses.delete(clause);
        }
        if self.learnt.len() > MOST_LEARNT {
            let mut learnt = std::mem::take(&mut self.learnt);
            learnt.sort_by(|&a, &b| self.clauses.activity(b).total_cmp(&self.clauses.activity(a)));
            for clause in learnt.drain(MOST_LEARNT / 2..) {
                self.clauses.delete(clause);
            }
            self.learnt = learnt;
        }
        if self.clauses.wasted > 10_000 && 2 * self.clauses.wasted > self.clauses.len_words() {
            self.collect();
        }
    }

    /// Frees the space of deleted clauses, and drops clauses that level 0 satisfies.
    fn collect(&mut self) {
        let satisfied: Vec<ClauseRef> = self
            .clauses
            .iter()
            .filter(|&clause| self.clauses.lits(clause).any(|lit| self.values[lit.index()] == 1))
            .collect();
        satisfied.into_iter().for_each(|clause| self.clauses.delete(clause));
        self.clauses.compact();
        self.watches.iter_mut().for_each(Vec::clear);
        self.learnt.clear();
        self.bare.clear();
        self.uncovered.clear();
        for clause in self.clauses.iter() {
            if self.clauses.kind(clause) == Kind::Lemma {
                self.uncovered.push(clause);
            }
            let (first, second) = (self.clauses.lit(clause, 0), self.clauses.lit(clause, 1));
            self.watches[(!first).index()].push(Watch { clause, blocker: second });
            self.watches[(!second).index()].push(Watch { clause, blocker: first });
            if self.clauses.kind(clause) == Kind::Learnt {
                self.learnt.push(clause);
            }
        }
    }

    #[inline]
    fn assign(&mut self, lit: Edge, antecedent: Antecedent) {
        self.values[lit.index()] = 1;
        self.values[(!lit).index()] = -1;
        let var = lit.node().index();
        self.level[var] = self.levels.len() as u32;
        self.antecedent[var] = antecedent;
        self.trail.push(lit);
    }

    /// Undoes all levels above one. What was decided there waits again, since something needs it.
    fn backtrack(&mut self, level: usize) {
        self.undo(level, |order, var| order.push(var));
    }

    /// Ends a query.
    fn backtrack_fully(&mut self) {
        self.undo(0, |_, _| {});
        // A temporary clause that is false by itself made the switch false at level 0. Nothing follows from that, and
        // the next temporary clause needs the switch again.
        let switch = self.switch();
        if self.values[switch.index()] != 0
            && let Some(at) = self.trail.iter().rposition(|&lit| lit == !switch)
        {
            self.values[switch.index()] = 0;
            self.values[(!switch).index()] = 0;
            self.trail.remove(at);
            self.head -= usize::from(at < self.head);
        }
    }

    #[inline]
    fn undo(&mut self, level: usize, mut undone: impl FnMut(&mut Order, Node)) {
        if level >= self.levels.len() {
            return;
        }
        let start = self.levels[level] as usize;
        for index in (start..self.trail.len()).rev() {
            let lit = self.trail[index];
            self.values[lit.index()] = 0;
            self.values[(!lit).index()] = 0;
            let var = lit.node();
            self.phase[var.index()] = !lit.is_negated();
            undone(&mut self.order, var);
        }
        self.trail.truncate(start);
        self.levels.truncate(level);
        self.head = start;
    }
}

/// Luby's series 1, 1, 2, 1, 1, 2, 4, …, counted from 1.
fn luby(index: u64) -> u64 {
    let mut index = index;
    loop {
        let power = (index + 1).next_power_of_two();
        if power == index + 1 {
            return power / 2;
        }
        index -= power / 2 - 1;
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::aig::edge_value;
    use crate::explicit::random_system;
    use crate::system::BitSystem;

    #[test]
    fn the_series_is_lubys() {
        let series: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(series, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }

    /// The values of all nodes, for all values of the leaves.
    fn rows(system: &BitSystem) -> Vec<Vec<bool>> {
        let leaves = system.num_latches() + system.num_inputs;
        (0..1usize << leaves)
            .map(|row| system.aig.evaluate(|leaf| row >> (leaf.index() - 1) & 1 != 0))
            .collect()
    }

    fn any_edge(random: &mut Random, below: usize) -> Edge {
        Node::from_index(1 + random.below(below - 1)).edge(random.bool())
    }

    /// A long dialogue: lemmas over latches and gates, temporary clauses, assumptions. Each answer is compared with the
    /// truth table, each model is a row of it, each core is contradictory.
    #[test]
    fn answers_agree_with_truth_tables() {
        let mut random = Random::new(31);
        let (mut sat, mut refuted) = (0, 0);
        for number in numbers(400) {
            let system = random_system(&mut random, 5, 4, 40);
            let latches = system.num_latches();
            let default: Vec<bool> = (0..latches).map(|_| random.bool()).collect();
            let defaults = default.iter().enumerate().map(|(latch, &value)| (system.latch(latch), value));
            let mut probe = Probe::new(Arc::new(Gates::new(system.aig.clone())), defaults);
            let mut rows = rows(&system);
            for &edge in &system.constraints {
                probe.add_constraint(edge);
                rows.retain(|values| edge_value(values, edge));
            }
            for query in 0..40 {
                if random.one_in(4) {
                    let over_latches = random.one_in(4);
                    let below = if over_latches { latches + 1 } else { system.aig.len() };
                    let lemma: Vec<Edge> =
                        (0..1 + random.below(4)).map(|_| any_edge(&mut random, below)).collect();
                    probe.add_clause(&lemma);
                    rows.retain(|values| lemma.iter().any(|&edge| edge_value(values, edge)));
                }
                let assumptions: Vec<Edge> =
                    (0..random.below(5)).map(|_| any_edge(&mut random, system.aig.len())).collect();
                let clause: Vec<Edge> =
                    (0..random.below(4)).map(|_| any_edge(&mut random, latches + 1)).collect();
                let asked = |values: &Vec<bool>, assumptions: &[Edge]| {
                    assumptions.iter().all(|&edge| edge_value(values, edge))
                        && (clause.is_empty() || clause.iter().any(|&edge| edge_value(values, edge)))
                };
                let expected = rows.iter().any(|values| asked(values, &assumptions));
                match probe.solve(&assumptions, &clause, &Limits::default()) {
                    Answer::Sat => {
                        sat += 1;
                        let model = system.aig.evaluate(|leaf| probe.leaf_value(leaf));
                        assert!(asked(&model, &assumptions), "system {number}, query {query}: not a model");
                        assert!(rows.contains(&model), "system {number}, query {query}: a lemma is false");
                    }
                    Answer::Unsat => {
                        refuted += 1;
                        assert!(!expected, "system {number}, query {query}");
                        let core: Vec<Edge> =
                            assumptions.iter().copied().filter(|&edge| probe.in_core(edge)).collect();
                        assert!(
                            !rows.iter().any(|values| asked(values, &core)),
                            "system {number}, query {query}: core"
                        );
                    }
                    Answer::Unknown(reason) => panic!("{reason}"),
                }
            }
        }
        assert!(sat > 1000 && refuted > 1000, "{sat} {refuted}");
    }

    /// The lemma's latch is outside of the query's cone, and refutes it all the same.
    #[test]
    fn lemmas_hold_outside_of_the_cone() {
        let mut builder = crate::aig::Builder::with_leaves(3);
        let [a, b, c] = [1, 2, 3].map(|leaf| Edge::from(Node::from_index(leaf)));
        let both = builder.and(a, b);
        let mut probe = Probe::new(Arc::new(Gates::new(builder.into_aig())), []);
        probe.add_clause(&[!a, c]);
        probe.add_clause(&[!b, !c]);
        assert_eq!(probe.solve(&[a], &[], &Limits::default()), Answer::Sat);
        assert_eq!(probe.solve(&[both], &[], &Limits::default()), Answer::Unsat);
        assert!(probe.in_core(both));
    }

    /// Eight pigeons in seven holes: many restarts, some of them due in the middle of conflicts in a row.
    #[test]
    fn hard_queries_restart() {
        let (pigeons, holes) = (8, 7);
        let builder = crate::aig::Builder::with_leaves(pigeons * holes);
        let sits = |pigeon: usize, hole: usize| Edge::from(Node::from_index(1 + pigeon * holes + hole));
        let mut probe = Probe::new(Arc::new(Gates::new(builder.into_aig())), []);
        for hole in 0..holes {
            for pigeon in 0..pigeons {
                (0..pigeon).for_each(|other| probe.add_clause(&[!sits(pigeon, hole), !sits(other, hole)]));
            }
        }
        for pigeon in 0..pigeons {
            probe.add_clause(&(0..holes).map(|hole| sits(pigeon, hole)).collect::<Vec<Edge>>());
        }
        assert_eq!(probe.solve(&[], &[], &Limits::default()), Answer::Unsat);
        assert!(probe.statistics().conflicts > 10 * RESTART);
    }
}
