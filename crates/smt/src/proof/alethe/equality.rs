//! Arguments about equalities, as instances of `eq_transitive`, `eq_congruent` and the rules of `datatypes.rs`.
//!
//! Each edge of the argument is an equality between its ends. A literal of the conflict gives one, perhaps written
//! differently; a congruence gives one from equalities of arguments; and an equality of terms that several edges
//! connect follows by transitivity. Propagation combines them.

use rustc_hash::FxHashSet;
use shofar_logic::{Op, Sort, Term, TermStore};

use super::super::{CongruenceEdge, CongruenceProof, CycleProof, EdgeRule, Proof, path, without_cast};
use super::datatypes::{is_made, reduction};
use super::derive::{Derivation, Source, negation};
use super::steps::Arg;

/// Offers the clauses that an argument needs. Returns its equalities, to be connected with literals; `None` if terms
/// are mixed in a way that has no rule.
pub(super) fn congruence(
    store: &TermStore,
    proof: &Proof,
    derivation: &mut Derivation<'_>,
    argument: &CongruenceProof,
) -> Option<Vec<Term>> {
    let mut steps = Equalities::of(store, proof, derivation, &argument.edges)?;
    let (left, right) = argument.apart;
    let equation = steps.connected(derivation, left, right)?;
    match argument.distinct {
        Some(lit) => steps.found.push(proof.atom(store, lit).0),
        None if is_made(store, left) && is_made(store, right) => {
            derivation.offer(vec![negation(store, equation)], Source::Rule("dt_clash", Vec::new()));
        }
        None => {}
    }
    Some(steps.found)
}

/// Offers the clauses for a cycle of terms. Returns its equalities, as [`congruence`] does.
pub(super) fn cycle(
    store: &TermStore,
    proof: &Proof,
    derivation: &mut Derivation<'_>,
    argument: &CycleProof,
) -> Option<Vec<Term>> {
    let mut steps = Equalities::of(store, proof, derivation, &argument.edges)?;
    let mut clause = Vec::new();
    for (&made, &next) in std::iter::zip(&argument.cycle, argument.cycle.iter().cycle().skip(1)) {
        let is_next = |arg: &&Term| **arg == next || path(&argument.edges, **arg, next).is_some();
        let &part = store.args(made).iter().find(is_next)?;
        clause.push(negation(store, steps.connected(derivation, part, next)?));
    }
    let terms = argument.cycle.iter().map(|&made| Arg::Term(made)).collect();
    derivation.offer(clause, Source::Rule("dt_cycle", terms));
    Some(steps.found)
}

struct Equalities<'a> {
    store: &'a TermStore,
    edges: &'a [CongruenceEdge],
    /// The equalities of edges.
    equations: Vec<Term>,
    /// All equalities used.
    found: Vec<Term>,
    /// Equalities for which transitivity was offered.
    offered: FxHashSet<Term>,
}

impl<'a> Equalities<'a> {
    /// Offers the clauses of all edges.
    fn of(
        store: &'a TermStore,
        proof: &Proof,
        derivation: &mut Derivation<'_>,
        edges: &'a [CongruenceEdge],
    ) -> Option<Self> {
        let equations = edges.iter().map(|edge| equation(store, edge.left, edge.right));
        let equations = equations.collect::<Option<Vec<Term>>>()?;
        let mut steps =
            Equalities { store, edges, equations, found: Vec::new(), offered: FxHashSet::default() };
        for (index, edge) in edges.iter().enumerate() {
            steps.found.push(steps.equations[index]);
            match edge.why {
                EdgeRule::Literal(lit) => steps.found.push(proof.atom(store, lit).0),
                EdgeRule::Congruence => steps.congruent(derivation, index)?,
                EdgeRule::Injection(first, second) => steps.injected(derivation, index, first, second)?,
                EdgeRule::Reduction { operator, made } => steps.reduced(derivation, index, operator, made)?,
            }
        }
        Some(steps)
    }

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

    /// Offers the injection of an edge: its ends are arguments of equal applications of a constructor.
    fn injected(
        &mut self,
        derivation: &mut Derivation<'_>,
        index: usize,
        first: Term,
        second: Term,
    ) -> Option<()> {
        let store = self.store;
        let (Op::Eq, &[left, right]) = store.view(self.equations[index]) else { return None };
        let mut fields = std::iter::zip(store.args(first), store.args(second));
        let field = fields.position(|(&a, &b)| (a, b) == (left, right) || (b, a) == (left, right))?;
        let whole = self.connected(derivation, first, second)?;
        let clause = vec![negation(store, whole), self.equations[index]];
        derivation.offer(clause, Source::Rule("dt_inject", vec![Arg::position(field)]));
        Some(())
    }

    /// Offers the value of a selector or tester.
    fn reduced(
        &mut self,
        derivation: &mut Derivation<'_>,
        index: usize,
        operator: Term,
        made: Term,
    ) -> Option<()> {
        let store = self.store;
        let &[argument] = store.args(operator) else { return None };
        let (Op::Eq, &[left, right]) = store.view(self.equations[index]) else { return None };
        let (rule, value) = reduction(store, operator, made)?;
        if (left, right) != (operator, value) && (right, left) != (operator, value) {
            return None;
        }
        let whole = self.connected(derivation, argument, made)?;
        let clause = vec![negation(store, whole), self.equations[index]];
        derivation.offer(clause, Source::Rule(rule, Vec::new()));
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
        let [from, to] = [left, right].map(|term| without_cast(store, term));
        let path = path(self.edges, from, to)?;
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
