//! The order of Knuth and Bendix, where all symbols and variables have the weight one.
//!
//! Constructors and values, and relations, have the precedence of their numbers. Values are incomparable.

use rustc_hash::FxHashMap;

use super::terms::{Atom, Bank, Clause, Id, Node};

/// Whether an atom is greater than another one. `values` are the symbols from this number on.
pub(super) fn is_greater(bank: &Bank, values: u32, a: &Atom, b: &Atom) -> bool {
    let Some((left, right)) = weights(bank, &a.arguments, &b.arguments) else { return false };
    if left != right {
        return left > right;
    }
    if a.relation != b.relation {
        return a.relation > b.relation;
    }
    let (mut a, mut b): (&[Id], &[Id]) = (&a.arguments, &b.arguments);
    loop {
        let Some((&s, &t)) = a.iter().zip(b).find(|(s, t)| s != t) else { return false };
        let Some((left, right)) = weights(bank, &[s], &[t]) else { return false };
        if left != right {
            return left > right;
        }
        match (bank.node(s), bank.node(t)) {
            (_, Node::Variable(_)) => return true,
            (Node::Application(f, fields), Node::Application(g, others)) if f == g => {
                (a, b) = (fields, others)
            }
            (&Node::Application(f, _), &Node::Application(g, _)) => return f > g && f < values,
            _ => return false,
        }
    }
}

/// The weights of two lists of terms; `None` if a variable occurs more often in the second one.
fn weights(bank: &Bank, a: &[Id], b: &[Id]) -> Option<(u64, u64)> {
    let mut surplus: FxHashMap<u32, i64> = FxHashMap::default();
    for (terms, sign) in [(a, 1), (b, -1)] {
        let mut open = terms.to_vec();
        while let Some(term) = open.pop() {
            match bank.node(term) {
                &Node::Variable(number) => *surplus.entry(number).or_default() += sign,
                Node::Application(_, fields) => open.extend(fields),
            }
        }
    }
    let weight = |terms: &[Id]| terms.iter().map(|&term| u64::from(bank.size(term))).sum::<u64>();
    surplus.values().all(|&surplus| surplus >= 0).then(|| (weight(a), weight(b)))
}

/// Whether the head of a clause is greater than all atoms of its body.
pub(super) fn is_decreasing(bank: &Bank, values: u32, clause: &Clause) -> bool {
    clause
        .head
        .as_ref()
        .is_some_and(|head| clause.body.iter().all(|atom| is_greater(bank, values, head, atom)))
}
