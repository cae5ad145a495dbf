//! Propagation: through gates by their fan-outs, through clauses by two watched literals.

use super::clauses::Kind;
use super::{Antecedent, Gates, OUTSIDE, Probe, Watch};
use crate::aig::Edge;

/// Where a contradiction was found. The literals that contradict each other are in `Probe::conflict`, all of them true.
pub(super) struct Conflict;

impl Probe {
    /// Assigns all that follows. With `ROOT`, nodes outside of the domain get values too.
    pub(super) fn propagate<const ROOT: bool>(&mut self, gates: &Gates) -> Option<Conflict> {
        let open = |value: i8| value == 0 || ROOT && value == OUTSIDE;
        while self.head < self.trail.len() {
            let lit = self.trail[self.head];
            self.head += 1;
            self.statistics.propagations += 1;

            // The gate itself.
            let node = lit.node();
            if node.index() < gates.aig().len()
                && let Some([left, right]) = gates.aig().and_fanins(node)
            {
                let (of_left, of_right) = (self.values[left.index()], self.values[right.index()]);
                if !lit.is_negated() {
                    for (fanin, value) in [(left, of_left), (right, of_right)] {
                        if open(value) {
                            self.assign(fanin, Antecedent::implied(lit));
                        } else if value == -1 {
                            return self.fail([lit, !fanin]);
                        }
                    }
                } else if of_left == 1 {
                    if open(of_right) {
                        self.assign(!right, Antecedent::gate(node));
                    } else if of_right == 1 {
                        return self.fail([lit, left, right]);
                    }
                } else if of_right == 1 {
                    if open(of_left) {
                        self.assign(!left, Antecedent::gate(node));
                    }
                } else if of_left == 0 && of_right == 0 {
                    // J1.
                    self.order.push(left.node());
                    self.order.push(right.node());
                }
            }

            if node.index() < gates.aig().len() {
                // Gates that become false.
                for &gate in gates.falsified_by(lit) {
                    let edge = Edge::from(gate);
                    let value = self.values[edge.index()];
                    if open(value) {
                        self.assign(!edge, Antecedent::implied(lit));
                    } else if value == 1 {
                        return self.fail([lit, edge]);
                    }
                }
                // Gates with a true fan-in.
                for &(gate, other) in gates.enabled_by(lit) {
                    let edge = Edge::from(gate);
                    let value = self.values[edge.index()];
                    if !ROOT && value == OUTSIDE || value == 1 {
                        // A true gate has made its fan-ins true.
                        continue;
                    }
                    let of_other = self.values[other.index()];
                    if of_other == 1 {
                        if value == -1 {
                            return self.fail([lit, other, !edge]);
                        }
                        self.assign(edge, Antecedent::gate(gate));
                    } else if value == -1 && open(of_other) {
                        self.assign(!other, Antecedent::gate(gate));
                    }
                }
            }

            if let Some(conflict) = self.propagate_clauses::<ROOT>(lit) {
                return Some(conflict);
            }
        }
        None
    }

    /// Visits the clauses in which the negation of a literal is watched.
    fn propagate_clauses<const ROOT: bool>(&mut self, lit: Edge) -> Option<Conflict> {
        // Without `ROOT`, a literal outside of the domain counts as true: see D1.
        let holds = |value: i8| value == 1 || !ROOT && value == OUTSIDE;
        let mut watches = std::mem::take(&mut self.watches[lit.index()]);
        let (mut read, mut write) = (0, 0);
        let mut conflict = None;
        while read < watches.len() {
            let watch = watches[read];
            read += 1;
            if holds(self.values[watch.blocker.index()]) {
                watches[write] = watch;
                write += 1;
                continue;
            }
            let clause = watch.clause;
            let (kind, lits) = self.clauses.get_mut(clause);
            if kind == Kind::Deleted {
                continue;
            }
            if lits[0] == (!lit).code() {
                lits.swap(0, 1);
            }
            let first = Edge::from_code(lits[0]);
            let value = self.values[first.index()];
            let kept = Watch { clause, blocker: first };
            if holds(value) {
                watches[write] = kept;
                write += 1;
                continue;
            }
            // The best new watch is true or, for J2, true by default; the first one that is not false will do.
            let needs_cover = kind != Kind::Learnt && !self.default[first.index()];
            let mut replacement = None;
            for (index, &code) in lits.iter().enumerate().skip(2) {
                let of_other = self.values[code as usize];
                if of_other == -1 {
                    continue;
                }
                if !needs_cover || of_other == 1 || self.default[code as usize] {
                    replacement = Some((index, true));
                    break;
                }
                replacement = replacement.or(Some((index, false)));
            }
            if let Some((index, good)) = replacement {
                lits.swap(1, index);
                let other = Edge::from_code(lits[1]);
                if !good {
                    self.order.push(first.node());
                    self.order.push(other.node());
                }
                if needs_cover && kind == Kind::Lemma && !self.default[other.index()] {
                    self.uncovered.push(clause);
                }
                self.watches[(!other).index()].push(kept);
                continue;
            }
            watches[write] = kept;
            write += 1;
            if value == -1 {
                self.conflict.clear();
                self.conflict.extend(self.clauses.codes(clause).iter().map(|&code| !Edge::from_code(code)));
                self.raise_clause(clause);
                conflict = Some(Conflict);
                break;
            }
            self.assign(first, Antecedent::clause(clause));
        }
        watches.copy_within(read.., write);
        watches.truncate(write + watches.len() - read);
        // No watch was added to this list: the literal's negation is false.
        self.watches[lit.index()] = watches;
        conflict
    }

    fn fail<const N: usize>(&mut self, lits: [Edge; N]) -> Option<Conflict> {
        self.conflict.clear();
        self.conflict.extend(lits);
        Some(Conflict)
    }
}
