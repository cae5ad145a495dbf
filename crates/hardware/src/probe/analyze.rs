//! Learning from conflicts: clauses at the first unique implication point, and cores of assumptions.

use super::clauses::{ClauseRef, Kind};
use super::propagate::Conflict;
use super::{Antecedent, Because, Probe};
use crate::aig::{Edge, Node};

/// Activities of clauses are divided when one passes this.
const RESCALE: f32 = 1e20;

impl Probe {
    /// Calls `visit` with the true literals that imply a true literal.
    #[inline]
    fn antecedents(&self, lit: Edge, mut visit: impl FnMut(Edge)) {
        match self.antecedent[lit.node().index()].unpack() {
            Because::Decision => {}
            Because::Implied(by) => visit(by),
            Because::Gate(node) => {
                let fanins = self.gates.aig().and_fanins(node).expect("a gate");
                if node == lit.node() {
                    fanins.into_iter().for_each(visit);
                } else {
                    // The gate is false, and the other fan-in is true.
                    visit(node.edge(true));
                    visit(if fanins[0].node() == lit.node() { fanins[1] } else { fanins[0] });
                }
            }
            Because::Clause(clause) => {
                self.clauses.lits(clause).filter(|&other| other != lit).for_each(|other| visit(!other));
            }
        }
    }

    /// Learns a clause from the conflict, backtracks, and assigns its first literal.
    pub(super) fn learn(&mut self, _: Conflict) {
        let current = self.levels.len() as u32;
        let mut open = 0;
        let mut index = self.trail.len();
        self.learning.clear();
        // A place for the asserting literal.
        self.learning.push(Edge::FALSE);
        let mut pending = std::mem::take(&mut self.conflict);
        let asserting = loop {
            for lit in pending.drain(..) {
                let var = lit.node();
                if self.level[var.index()] == 0 || std::mem::replace(&mut self.seen[var.index()], true) {
                    continue;
                }
                self.to_clear.push(var);
                self.order.bump(var);
                if self.level[var.index()] == current {
                    open += 1;
                } else {
                    self.learning.push(!lit);
                }
            }
            // Lower levels were propagated to the end, so a literal of this one takes part.
            let lit = loop {
                index -= 1;
                if self.seen[self.trail[index].node().index()] {
                    break self.trail[index];
                }
            };
            open -= 1;
            if open == 0 {
                break lit;
            }
            self.antecedents(lit, |by| pending.push(by));
            if let Because::Clause(clause) = self.antecedent[lit.node().index()].unpack() {
                self.raise_clause(clause);
            }
        };
        self.conflict = pending;
        self.learning[0] = !asserting;
        self.minimize();
        for var in self.to_clear.drain(..) {
            self.seen[var.index()] = false;
        }

        let mut learnt = std::mem::take(&mut self.learning);
        let mut target = 0;
        if learnt.len() > 1 {
            let second =
                (1..learnt.len()).max_by_key(|&i| self.level[learnt[i].node().index()]).expect("a literal");
            learnt.swap(1, second);
            target = self.level[learnt[1].node().index()] as usize;
        }
        self.backtrack(target);
        if learnt.len() == 1 {
            self.assign(learnt[0], Antecedent::DECISION);
        } else {
            let switch = self.switch().node();
            let kind =
                if learnt.iter().any(|lit| lit.node() == switch) { Kind::Temporary } else { Kind::Learnt };
            let clause = self.attach(&learnt, kind);
            match kind {
                Kind::Temporary => self.temporary.push(clause),
                _ => self.learnt.push(clause),
            }
            self.raise_clause(clause);
            self.assign(learnt[0], Antecedent::clause(clause));
        }
        self.learning = learnt;
        self.order.decay();
        self.clause_bump *= 1.001;
    }

    /// Drops literals that follow from others of the clause (Sörensson & Biere, "Minimizing Learned Clauses", SAT 2009).
    fn minimize(&mut self) {
        let mut learning = std::mem::take(&mut self.learning);
        let levels = learning[1..].iter().fold(0, |levels, lit| levels | self.level_bit(lit.node()));
        let mut kept = 1;
        for index in 1..learning.len() {
            let lit = learning[index];
            if !self.is_redundant(lit, levels) {
                learning[kept] = lit;
                kept += 1;
            }
        }
        learning.truncate(kept);
        self.learning = learning;
    }

    /// A bit for the level of a variable; levels far apart may share one.
    fn level_bit(&self, var: Node) -> u32 {
        1 << (self.level[var.index()] & 31)
    }

    /// Whether a false literal follows from those that are `seen`. What was found out on the way is `seen` too.
    fn is_redundant(&mut self, lit: Edge, levels: u32) -> bool {
        if self.antecedent[lit.node().index()] == Antecedent::DECISION {
            return false;
        }
        let found = self.to_clear.len();
        let mut stack = std::mem::take(&mut self.conflict);
        let mut causes = std::mem::take(&mut self.stack);
        stack.push(!lit);
        let mut is_redundant = true;
        while let Some(lit) = stack.pop() {
            self.antecedents(lit, |by| causes.push(by.node()));
            for var in causes.drain(..) {
                let index = var.index();
                if self.seen[index] || self.level[index] == 0 {
                    continue;
                }
                if self.antecedent[index] == Antecedent::DECISION || self.level_bit(var) & levels == 0 {
                    is_redundant = false;
                    continue;
                }
                self.seen[index] = true;
                self.to_clear.push(var);
                let edge = Edge::from(var);
                stack.push(if self.values[edge.index()] == 1 { edge } else { !edge });
            }
            if !is_redundant {
                stack.clear();
                for var in self.to_clear.drain(found..) {
                    self.seen[var.index()] = false;
                }
            }
        }
        self.conflict = stack;
        self.stack = causes;
        is_redundant
    }

    /// Finds the assumptions that make one of them false.
    pub(super) fn find_core(&mut self, failed: Edge) {
        self.add_to_core(failed);
        let mark = |probe: &mut Self, var: Node| {
            if probe.level[var.index()] > 0 && !std::mem::replace(&mut probe.seen[var.index()], true) {
                probe.to_clear.push(var);
            }
        };
        mark(self, failed.node());
        let start = self.levels.first().map_or(self.trail.len(), |&start| start as usize);
        let mut pending = Vec::new();
        for index in (start..self.trail.len()).rev() {
            let lit = self.trail[index];
            if !self.seen[lit.node().index()] {
                continue;
            }
            if self.antecedent[lit.node().index()] == Antecedent::DECISION {
                self.add_to_core(lit);
            } else {
                self.antecedents(lit, |by| pending.push(by.node()));
                pending.drain(..).for_each(|var| mark(self, var));
            }
        }
        for var in self.to_clear.drain(..) {
            self.seen[var.index()] = false;
        }
    }

    fn add_to_core(&mut self, lit: Edge) {
        if !std::mem::replace(&mut self.in_core[lit.index()], true) {
            self.core.push(lit);
        }
    }

    /// Raises the activity of a learnt clause.
    pub(super) fn raise_clause(&mut self, clause: ClauseRef) {
        if self.clauses.kind(clause) != Kind::Learnt {
            return;
        }
        let activity = self.clauses.activity(clause) + self.clause_bump;
        self.clauses.set_activity(clause, activity);
        if activity > RESCALE {
            for &clause in &self.learnt {
                self.clauses.set_activity(clause, self.clauses.activity(clause) / RESCALE);
            }
            self.clause_bump /= RESCALE;
        }
    }
}
