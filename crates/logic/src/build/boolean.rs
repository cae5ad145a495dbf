//! Formulas: connectives, equality, `ite` and quantifiers in normal form (N2 to N7, N16 of [`build`](super)).
//!
//! Conjunction and disjunction share one procedure. It splits its arguments, including nested junctions, into literals.
//! Sorted by atom, repetitions and complements are neighbours.
//!
//! Equality decomposes constructor terms. They may be deep and shared, so a list holds the pairs that must be equal,
//! each pair once.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use crate::op::Op;
use crate::sort::Sort;
use crate::term::{Term, TermStore};

/// The greatest number of parts of an argument that is tested for absorption.
const MAX_ABSORBED: usize = 8;

/// The greatest number of arguments for which `distinct` is expanded into disequalities.
const MAX_EXPANDED: usize = 16;

/// An argument of a junction. The derived order is by atom, then by polarity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Literal {
    atom: Term,
    negated: bool,
    term: Term,
}

impl Literal {
    fn of(store: &TermStore, term: Term) -> Self {
        let (atom, holds) = store.literal(term);
        Literal { atom, negated: !holds, term }
    }
}

/// Connectives.
impl TermStore {
    /// Negation.
    pub fn not(&self, a: Term) -> Term {
        match self.view(a) {
            (Op::True, _) => Term::FALSE,
            (Op::False, _) => Term::TRUE,
            (Op::Not, &[atom]) => atom,
            _ => self.raw(Op::Not, &[a]),
        }
    }

    /// Conjunction; `true` if there are no arguments.
    pub fn and(&self, args: &[Term]) -> Term {
        self.and_of(args.iter().copied())
    }

    /// Disjunction; `false` if there are no arguments.
    pub fn or(&self, args: &[Term]) -> Term {
        self.or_of(args.iter().copied())
    }

    /// Conjunction of two.
    pub fn and2(&self, a: Term, b: Term) -> Term {
        self.and_of([a, b])
    }

    /// Disjunction of two.
    pub fn or2(&self, a: Term, b: Term) -> Term {
        self.or_of([a, b])
    }

    /// Conjunction of the items of an iterator.
    pub fn and_of(&self, args: impl IntoIterator<Item = Term>) -> Term {
        self.junction(Op::And, args)
    }

    /// Disjunction of the items of an iterator.
    pub fn or_of(&self, args: impl IntoIterator<Item = Term>) -> Term {
        self.junction(Op::Or, args)
    }

    /// Implication.
    pub fn implies(&self, premise: Term, conclusion: Term) -> Term {
        self.or_of([self.not(premise), conclusion])
    }

    /// Exclusive or.
    pub fn xor(&self, a: Term, b: Term) -> Term {
        self.not(self.iff(a, b))
    }

    /// Equivalence, which is equality of truth values.
    pub fn iff(&self, a: Term, b: Term) -> Term {
        let (a, b) = (Literal::of(self, a), Literal::of(self, b));
        let even = a.negated == b.negated;
        let positive = match (a.atom, b.atom) {
            (a, b) if a == b => Term::TRUE,
            (Term::TRUE, atom) | (atom, Term::TRUE) => atom,
            (Term::FALSE, atom) | (atom, Term::FALSE) => self.not(atom),
            (a, b) => self.raw(Op::Eq, &[a.min(b), a.max(b)]),
        };
        if even { positive } else { self.not(positive) }
    }

    /// If-then-else at any sort.
    pub fn ite(&self, condition: Term, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort_of(a), self.sort_of(b), "the branches of ite have one sort");
        let Literal { atom, negated, .. } = Literal::of(self, condition);
        let (a, b) = if negated { (b, a) } else { (a, b) };
        let of_same = |branch: Term, position: usize| {
            let branch = Literal::of(self, branch);
            match self.view(branch.atom) {
                (Op::Ite, args) if args[0] == atom && branch.negated => self.not(args[position]),
                (Op::Ite, args) if args[0] == atom => args[position],
                _ => branch.term,
            }
        };
        let (a, b) = (of_same(a, 1), of_same(b, 2));
        match atom {
            Term::TRUE => a,
            Term::FALSE => b,
            _ if a == b => a,
            _ if self.sort_of(a) == Sort::BOOL => self.bool_ite(atom, a, b),
            _ => self.raw(Op::Ite, &[atom, a, b]),
        }
    }

    /// `ite` on `Bool` with a positive condition and different branches.
    fn bool_ite(&self, condition: Term, a: Term, b: Term) -> Term {
        let opposite = self.not(condition);
        if a == Term::TRUE || a == condition {
            self.or2(condition, b)
        } else if a == Term::FALSE || a == opposite {
            self.and2(opposite, b)
        } else if b == Term::TRUE || b == opposite {
            self.or2(opposite, a)
        } else if b == Term::FALSE || b == condition {
            self.and2(condition, a)
        } else if a == self.not(b) {
            self.iff(condition, a)
        } else if Literal::of(self, a).negated {
            self.not(self.ite(condition, self.not(a), self.not(b)))
        } else {
            self.raw(Op::Ite, &[condition, a, b])
        }
    }

    /// The conjunction or disjunction, by `op`.
    fn junction(&self, op: Op, args: impl IntoIterator<Item = Term>) -> Term {
        let (dual, neutral, absorbing) = match op {
            Op::And => (Op::Or, Term::TRUE, Term::FALSE),
            _ => (Op::And, Term::FALSE, Term::TRUE),
        };
        let mut literals: Vec<Literal> = Vec::new();
        for arg in args {
            debug_assert_eq!(self.sort_of(arg), Sort::BOOL, "connectives take formulas");
            match self.view(arg) {
                _ if arg == neutral => {}
                _ if arg == absorbing => return absorbing,
                (head, parts) if head == op => {
                    literals.extend(parts.iter().map(|&part| Literal::of(self, part)))
                }
                (Op::Not, &[inner]) if self.op(inner) == dual => {
                    literals.extend(self.args(inner).iter().map(|&part| Literal::of(self, self.not(part))));
                }
                _ => literals.push(Literal::of(self, arg)),
            }
        }
        literals.sort_unstable();
        literals.dedup();
        if literals.windows(2).any(|pair| pair[0].atom == pair[1].atom) {
            return absorbing;
        }
        if self.absorb(op, dual, &mut literals) {
            return absorbing;
        }
        match literals[..] {
            [] => neutral,
            [one] => one.term,
            _ => {
                let args: Vec<Term> = literals.iter().map(|literal| literal.term).collect();
                self.raw(op, &args)
            }
        }
    }

    /// Simplifies the dual junctions among the arguments of a junction by the other arguments, shown for `op` = `or`:
    /// `x or (x and y)` is `x`, and `-x or -y or (x and y)` is true; then the result is `true`.
    ///
    /// An argument that absorbs others is not a junction itself (N3), so it is never absorbed, and one pass is enough.
    fn absorb(&self, op: Op, dual: Op, literals: &mut Vec<Literal>) -> bool {
        let mut absorbed: Vec<Term> = Vec::new();
        for literal in literals.iter() {
            let (head, parts) = self.view(literal.atom);
            if head != if literal.negated { op } else { dual } {
                continue;
            }
            let is_argument = |part: Term, complement: bool| {
                let part = Literal::of(self, part);
                let wanted = (part.atom, part.negated ^ literal.negated ^ complement);
                literals.binary_search_by_key(&wanted, |literal| (literal.atom, literal.negated)).is_ok()
            };
            if parts.iter().all(|&part| is_argument(part, true)) {
                return true;
            }
            if parts.len() <= MAX_ABSORBED && parts.iter().any(|&part| is_argument(part, false)) {
                absorbed.push(literal.term);
            }
        }
        let mut absorbed = absorbed.into_iter().peekable();
        literals.retain(|literal| absorbed.next_if_eq(&literal.term).is_none());
        false
    }
}

/// Equality.
impl TermStore {
    /// Equality of two terms of any one sort.
    pub fn eq(&self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort_of(a), self.sort_of(b), "equality is between terms of one sort");
        if let Some(equality) = self.simple_eq(a, b) {
            return equality;
        }
        let mut conjuncts = Vec::new();
        let mut seen: FxHashSet<(Term, Term)> = FxHashSet::default();
        let mut open = vec![(a, b)];
        while let Some((a, b)) = open.pop() {
            if !seen.insert((a, b)) {
                continue;
            }
            match self.simple_eq(a, b) {
                Some(Term::FALSE) => return Term::FALSE,
                Some(equality) => conjuncts.push(equality),
                None => open.extend(self.args(a).iter().copied().zip(self.args(b).iter().copied())),
            }
        }
        self.and(&conjuncts)
    }

    /// Equality, unless it reduces to that of the arguments.
    fn simple_eq(&self, a: Term, b: Term) -> Option<Term> {
        if a == b {
            return Some(Term::TRUE);
        }
        let sort = self.sort_of(a);
        if sort == Sort::BOOL {
            return Some(self.iff(a, b));
        }
        if sort.is_arithmetic() {
            return Some(self.arith_eq(a, b));
        }
        match (self.op(a), self.op(b)) {
            (Op::Construct(c), Op::Construct(d)) => (c != d).then_some(Term::FALSE),
            (Op::ConstArray(_), Op::ConstArray(_)) => None,
            _ if self.bv_width(sort).is_some() => Some(self.bv_eq(a, b)),
            _ => Some(self.raw(Op::Eq, &[a.min(b), a.max(b)])),
        }
    }

    /// Whether the terms are pairwise different.
    pub fn distinct(&self, args: &[Term]) -> Term {
        let mut args = args.to_vec();
        args.sort_unstable();
        let too_many = args.len() > 2 && self.sort_of(args[0]) == Sort::BOOL;
        if too_many || args.windows(2).any(|pair| pair[0] == pair[1]) {
            return Term::FALSE;
        }
        if args.len() > MAX_EXPANDED {
            return self.raw(Op::Distinct, &args);
        }
        let pairs = args.iter().enumerate().flat_map(|(i, &a)| args[i + 1..].iter().map(move |&b| (a, b)));
        self.and_of(pairs.map(|(a, b)| self.not(self.eq(a, b))))
    }
}

/// Quantifiers.
impl TermStore {
    /// Universal quantification.
    pub fn forall(&self, variables: &[Term], body: Term) -> Term {
        self.quantifier(Op::Forall, variables, body)
    }

    /// Existential quantification.
    pub fn exists(&self, variables: &[Term], body: Term) -> Term {
        self.quantifier(Op::Exists, variables, body)
    }

    fn quantifier(&self, op: Op, variables: &[Term], body: Term) -> Term {
        let mut args = variables.to_vec();
        args.sort_unstable();
        args.dedup();
        self.retain_free(&mut args, body);
        if args.is_empty() {
            return body;
        }
        args.push(body);
        self.raw(op, &args)
    }

    /// Keeps the sorted variables that occur free in the body.
    fn retain_free(&self, variables: &mut Vec<Term>, body: Term) {
        if self.is_quantified(body) {
            variables.retain(|&variable| !self.not_free(&[variable], body).contains(&variable));
        } else {
            let missing = self.not_free(variables, body);
            variables.retain(|variable| !missing.contains(variable));
        }
    }

    /// The variables without an occurrence in the body outside of quantifiers that bind them. The traversal is
    /// breadth-first, since variables are mostly used near their binder, and ends with the first occurrence of the last
    /// one.
    fn not_free(&self, variables: &[Term], body: Term) -> FxHashSet<Term> {
        let mut missing: FxHashSet<Term> = variables.iter().copied().collect();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut open = VecDeque::from([body]);
        while let Some(term) = open.pop_front()
            && !missing.is_empty()
        {
            // Arguments have smaller indices: terms below the least variable are skipped.
            if term < variables[0] || !seen.insert(term) {
                continue;
            }
            missing.remove(&term);
            match self.view(term) {
                (Op::Forall | Op::Exists, [bound @ .., body]) => {
                    if !bound.iter().any(|variable| variables.contains(variable)) {
                        open.push_back(*body);
                    }
                }
                (_, args) => open.extend(args),
            }
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atoms(store: &TermStore) -> [Term; 3] {
        ["a", "b", "c"].map(|name| store.var(store.symbol(name), Sort::BOOL))
    }

    fn ints(store: &TermStore) -> [Term; 3] {
        ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT))
    }

    #[test]
    fn negation_is_an_involution() {
        let store = TermStore::new();
        let [a, ..] = atoms(&store);
        assert_eq!(store.not(store.not(a)), a);
        assert_eq!(store.not(Term::TRUE), Term::FALSE);
        assert_eq!(store.not(Term::FALSE), Term::TRUE);
    }

    #[test]
    fn junctions_are_flat_sorted_and_without_repetition() {
        let store = TermStore::new();
        let [a, b, c] = atoms(&store);
        assert_eq!(store.and(&[c, Term::TRUE, store.and2(b, a), c]), store.raw(Op::And, &[a, b, c]));
        assert_eq!(store.or(&[c, Term::FALSE, store.or2(b, a), c]), store.raw(Op::Or, &[a, b, c]));
        assert_eq!(store.and(&[]), Term::TRUE);
        assert_eq!(store.or(&[]), Term::FALSE);
        assert_eq!(store.and(&[a]), a);
    }

    #[test]
    fn complements_and_constants_decide_junctions() {
        let store = TermStore::new();
        let [a, b, _] = atoms(&store);
        assert_eq!(store.and(&[a, b, store.not(a)]), Term::FALSE);
        assert_eq!(store.or(&[a, b, store.not(a)]), Term::TRUE);
        assert_eq!(store.and(&[a, Term::FALSE]), Term::FALSE);
        assert_eq!(store.or(&[a, Term::TRUE]), Term::TRUE);
        let both = store.and2(a, b);
        assert_eq!(store.or2(both, store.not(both)), Term::TRUE);
        assert_eq!(store.and2(both, store.not(both)), Term::FALSE);
    }

    #[test]
    fn negated_duals_are_flattened_into_junctions() {
        let store = TermStore::new();
        let [a, b, c] = atoms(&store);
        let clause = store.implies(store.and2(a, b), c);
        assert_eq!(clause, store.raw(Op::Or, &[store.not(a), store.not(b), c]));
        let cube = store.and2(store.not(store.or2(a, store.not(b))), c);
        assert_eq!(cube, store.raw(Op::And, &[store.not(a), b, c]));
    }

    #[test]
    fn arguments_absorb_junctions_they_are_part_of() {
        let store = TermStore::new();
        let [a, b, c] = atoms(&store);
        assert_eq!(store.and2(a, store.or2(a, b)), a);
        assert_eq!(store.or2(a, store.and2(a, b)), a);
        assert_eq!(store.and2(a, store.not(store.and2(store.not(a), b))), a);
        assert_eq!(store.args(store.and2(a, store.or2(b, c))).len(), 2);
    }

    #[test]
    fn equivalence_is_between_atoms_with_one_sign() {
        let store = TermStore::new();
        let [a, b, _] = atoms(&store);
        let same = store.raw(Op::Eq, &[a, b]);
        assert_eq!(store.iff(b, a), same);
        assert_eq!(store.iff(store.not(a), store.not(b)), same);
        assert_eq!(store.xor(a, b), store.not(same));
        assert_eq!(store.iff(a, store.not(b)), store.not(same));
        assert_eq!(store.iff(a, store.not(a)), Term::FALSE);
        assert_eq!(store.iff(a, Term::FALSE), store.not(a));
        assert_eq!(store.iff(Term::TRUE, store.not(a)), store.not(a));
    }

    #[test]
    fn choices_between_formulas_become_connectives() {
        let store = TermStore::new();
        let [a, b, c] = atoms(&store);
        assert_eq!(store.ite(a, Term::TRUE, b), store.or2(a, b));
        assert_eq!(store.ite(a, Term::FALSE, b), store.and2(store.not(a), b));
        assert_eq!(store.ite(a, b, Term::TRUE), store.or2(store.not(a), b));
        assert_eq!(store.ite(a, b, Term::FALSE), store.and2(a, b));
        assert_eq!(store.ite(a, b, store.not(b)), store.iff(a, b));
        assert_eq!(store.ite(a, a, b), store.or2(a, b));
        assert_eq!(store.ite(a, b, b), b);
        assert_eq!(store.ite(store.not(a), b, c), store.raw(Op::Ite, &[a, c, b]));
        let negated = store.raw(Op::Ite, &[a, b, store.not(c)]);
        assert_eq!(store.ite(a, store.not(b), c), store.not(negated));
        assert_eq!(store.ite(a, store.ite(a, b, c), b), b);
    }

    #[test]
    fn few_different_terms_are_pairwise_different() {
        let store = TermStore::new();
        let [x, y, z] = ints(&store);
        let pair = |a, b| store.not(store.eq(a, b));
        assert_eq!(store.distinct(&[x, y, z]), store.and(&[pair(x, y), pair(x, z), pair(y, z)]));
        assert_eq!(store.distinct(&[x, y, x]), Term::FALSE);
        let [a, b, c] = atoms(&store);
        assert_eq!(store.distinct(&[a, b, c]), Term::FALSE);
        assert_eq!(store.distinct(&[a, b]), store.xor(a, b));
    }

    #[test]
    fn many_different_terms_stay_together() {
        let store = TermStore::new();
        let mut many: Vec<Term> =
            (0..17).map(|i| store.var(store.symbol(&format!("m{i}")), Sort::INT)).collect();
        let expected = store.raw(Op::Distinct, &many);
        many.reverse();
        assert_eq!(store.distinct(&many), expected);
        assert_eq!(store.op(store.distinct(&many[1..])), Op::And);
        many[3] = many[9];
        assert_eq!(store.distinct(&many), Term::FALSE);
    }

    #[test]
    fn quantifiers_drop_what_they_do_not_bind() {
        let store = TermStore::new();
        let [x, y, z] = ints(&store);
        let body = store.le(x, y);
        assert_eq!(store.forall(&[y, z, x, y], body), store.raw(Op::Forall, &[x, y, body]));
        assert_eq!(store.exists(&[z], body), body);
        assert_eq!(store.exists(&[x], Term::TRUE), Term::TRUE);
        let inner = store.exists(&[x], body);
        assert_eq!(store.forall(&[x], inner), inner);
        let free_and_bound = store.and2(inner, store.le(x, z));
        let outer = store.forall(&[x, y], free_and_bound);
        assert_eq!(outer, store.raw(Op::Forall, &[x, y, free_and_bound]));
    }
}
