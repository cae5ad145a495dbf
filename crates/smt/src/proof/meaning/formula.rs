//! Truth values: conjunctions, choices and equivalences (M1 to M4 of the [comparison](super)).

use super::{Id, Meanings, Node, Truth};

impl Meanings<'_> {
    /// The conjunction.
    pub(super) fn and(&mut self, members: Vec<Truth>) -> Truth {
        let mut set: Vec<Truth> = Vec::with_capacity(members.len());
        let mut open = members;
        // A clause that loses literals may become a conjunction, or decide other clauses.
        loop {
            for member in open.drain(..) {
                match &**self.node(member.node) {
                    Node::And(inner) if !member.negated => set.extend(inner),
                    _ => set.push(member),
                }
            }
            set.sort_unstable();
            set.dedup();
            if set.first() == Some(&Truth::TRUE) {
                set.remove(0);
            }
            let is_false = set.first() == Some(&Truth::FALSE);
            if is_false || set.windows(2).any(|pair| pair[0].node == pair[1].node) {
                return Truth::FALSE;
            }
            // Each of these is decided by members smaller than itself, and so never by itself.
            let mut kept = Vec::with_capacity(set.len());
            for &member in &set {
                match self.reduced(member, &set) {
                    None => kept.push(member),
                    Some(reduced) => open.push(reduced),
                }
            }
            set = kept;
            if open.is_empty() {
                break;
            }
        }
        match set[..] {
            [] => Truth::TRUE,
            [only] => only,
            _ => self.truth_of(Node::And(set.into())),
        }
    }

    /// The disjunction.
    pub(in crate::proof) fn or(&mut self, members: &[Truth]) -> Truth {
        !self.and(members.iter().map(|&member| !member).collect())
    }

    /// The rest of a clause in a sorted conjunction; `None` if that is the whole clause (M2).
    fn reduced(&mut self, clause: Truth, conjunction: &[Truth]) -> Option<Truth> {
        let node = std::rc::Rc::clone(self.node(clause.node));
        let Node::And(denied) = &*node else { return None };
        if !clause.negated {
            return None;
        }
        let holds = |truth: Truth| conjunction.binary_search(&truth).is_ok();
        if denied.iter().any(|&it| holds(!it)) {
            return Some(Truth::TRUE);
        }
        let left: Vec<Truth> = denied.iter().copied().filter(|&it| !holds(it)).collect();
        (left.len() < denied.len()).then(|| !self.and(left))
    }

    /// A choice between truth values (M3).
    pub(super) fn ite(&mut self, condition: Truth, then: Truth, otherwise: Truth) -> Truth {
        let Truth { node: atom, negated } = condition;
        let (then, otherwise) = if negated { (otherwise, then) } else { (then, otherwise) };
        if atom == Truth::TRUE.node {
            return then;
        }
        let condition = Truth { node: atom, negated: false };
        let then = self.under(atom, true, then);
        let otherwise = self.under(atom, false, otherwise);
        let is_simple = |branch: Truth| branch.node == Truth::TRUE.node || branch.node == atom;
        if then == otherwise {
            then
        } else if is_simple(then) || is_simple(otherwise) {
            let chosen = self.and(vec![condition, then]);
            let other = self.and(vec![!condition, otherwise]);
            self.or(&[chosen, other])
        } else if then == !otherwise {
            self.iff(condition, then)
        } else {
            let sign = then.negated;
            let node = Node::Ite(atom, then.negated_if(sign), otherwise.negated_if(sign));
            self.truth_of(node).negated_if(sign)
        }
    }

    /// A branch, given the value of its condition.
    fn under(&self, condition: Id, value: bool, branch: Truth) -> Truth {
        match **self.node(branch.node) {
            Node::Ite(inner, then, otherwise) if inner == condition => {
                (if value { then } else { otherwise }).negated_if(branch.negated)
            }
            _ => branch,
        }
    }

    /// The equality of truth values (M4).
    pub(super) fn iff(&mut self, a: Truth, b: Truth) -> Truth {
        let (low, high) = (a.node.min(b.node), a.node.max(b.node));
        let positive = if low == high {
            Truth::TRUE
        } else if low == Truth::TRUE.node {
            Truth { node: high, negated: false }
        } else {
            self.truth_of(Node::Iff(low, high))
        };
        positive.negated_if(a.negated != b.negated)
    }
}
