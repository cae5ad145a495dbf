//! Congruence arguments, as instances of `eq_transitive` and `eq_congruent`.
//!
//! Each edge of the argument is an equality between its ends. A literal of the conflict gives one, perhaps written
//! differently; a congruence gives one from equalities of arguments; and an equality of terms that several edges
//! connect follows by transitivity. Propagation combines them.

use rustc_hash::FxHashSet;
use shofar_logic::{Op, Sort, Term, TermStore};

use super::super::{CongruenceProof, EdgeRule, Proof};
use super::derive::{Derivation, Source, negation};

/// Offers the clauses that an argument needs. Returns its equalities, to be connected with literals; `None` if terms
/// are mixed in a way that has no rule.
pub(super) fn congruence(
    store: &TermStore,
    proof: &Proof,
    derivation: &mut Derivation<'_>,
    argument: &CongruenceProof,
) -> Option<Vec<Term>> {
    let mut steps = Equalities {
        store,
        argument,
        equations: argument
            .edges
            .iter()
            .map(|edge| equation(store, edge.left, edge.right))
            .collect::<Option<Vec<Term>>>()?,
        found: Vec::new(),
        offered: FxHashSet::default(),
    };
    for (index, edge) in argument.edges.iter().enumerate() {
        steps.found.push(steps.equations[index]);
        match edge.why {
            EdgeRule::Literal(lit) => steps.found.push(proof.atom(store, lit).0),
            EdgeRule::Congruence => steps.congruent(derivation, index)?,
            EdgeRule::Injection(..) | EdgeRule::Reduction { .. } => return None,
        }
    }
    let (left, right) = argument.apart;
    steps.connected(derivation, left, right)?;
    if let Some(lit) = argument.distinct {
        steps.found.push(proof.atom(store, lit).0);
    }
    Some(steps.found)
}

struct Equalities<'a> {
    store: &'a TermStore,
    argument: &'a CongruenceProof,
    /// The equalities of edges.
    equations: Vec<Term>,
    /// All equalities used.
    found: Vec<Term>,
    /// Equalities for which transitivity was offered.
    offered: FxHashSet<Term>,
}

impl Equalities<'_> {
    /// Offers the congruence of an edge.
    fn congruent(&mut self, derivation: &mut Derivation<'_>, index: usize) -> Option<()> {
        let store = self.store;
        let (Op::Eq, &[left, right]) = store.view(self.equations[index]) else { return None };
        let mut clause = Vec::new();
        for (&a, &b) in std::iter::zip(store.args(left), store.args(right)) {
            clause.push(negation(store, self.connected(derivation, a, b)?));
        }
        if clause.is_empty() {
            return None;
        }
        clause.push(self.equations[index]);
        derivation.offer(clause, Source::Rule("eq_congruent", Vec::new()));
        Some(())
    }

    /// An equality of two terms that edges connect. Offers its derivation.
    fn connected(&mut self, derivation: &mut Derivation<'_>, left: Term, right: Term) -> Option<Term> {
        let store = self.store;
        let wanted = equation(store, left, right)?;
        self.found.push(wanted);
        if left == right {
            if self.offered.insert(wanted) {
                derivation.offer(vec![wanted], Source::Rule("eq_reflexive", Vec::new()));
            }
            return Some(wanted);
        }
        let [from, to] = [left, right].map(|term| super::super::without_cast(store, term));
        let path = self.argument.path(from, to)?;
        // An integer connected with a real number is cast.
        let (Op::Eq, &[left, right]) = store.view(wanted) else { return None };
        if let &[(index, _)] = &path[..] {
            // Equalities of arguments may have their sides exchanged.
            let (Op::Eq, &[one, other]) = store.view(self.equations[index]) else { return None };
            return ((one, other) == (left, right) || (other, one) == (left, right))
                .then_some(self.equations[index]);
        }
        let mut here = left;
        for &(index, is_reversed) in &path {
            let (Op::Eq, &[one, other]) = store.view(self.equations[index]) else { return None };
            let (start, end) = if is_reversed { (other, one) } else { (one, other) };
            if start != here {
                return None;
            }
            here = end;
        }
        if here != right || path.is_empty() {
            return None;
        }
        if self.offered.insert(wanted) {
            let edges = path.iter().map(|&(index, _)| negation(store, self.equations[index]));
            let clause = edges.chain([wanted]).collect();
            derivation.offer(clause, Source::Rule("eq_transitive", Vec::new()));
        }
        Some(wanted)
    }
}

/// The equality of two terms as written; an integer is cast if the other is a real number.
fn equation(store: &TermStore, left: Term, right: Term) -> Option<Term> {
    let (of_left, of_right) = (store.sort_of(left), store.sort_of(right));
    let cast = |term: Term, other: Sort| match (store.sort_of(term), other) {
        (Sort::INT, Sort::REAL) => match store.numeral(term) {
            Some(value) => store.real(value.clone()),
            None => store.to_real(term),
        },
        _ => term,
    };
    store.app(Op::Eq, &[cast(left, of_right), cast(right, of_left)]).ok()
}
