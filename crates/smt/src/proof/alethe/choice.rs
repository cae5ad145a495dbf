//! Choices between numbers, and the cases of atoms with choices.
//!
//! An atom `A` that contains a choice `k = (ite c a b)` in a sum, or as one side of an equality, is equivalent to the
//! atom with one branch if the choice equals it, and to the atom with the other branch otherwise:
//!
//! ```text
//! (ite c (= k a) (= k b))                                       ite_intro
//! (= k a) and A imply A[a], (= k a) and A[a] imply A            la_generic, eq_transitive
//! ```
//!
//! So atoms whose choices are written in different ways are connected case by case. A choice is an `ite` or a fresh
//! symbol for one.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Term};

use super::arith::Bridge;
use super::derive::{Source, negation};

/// The greatest number of atoms whose choices are distinguished for one clause or assertion.
const MOST_ATOMS: usize = 48;

impl Bridge<'_, '_> {
    /// Offers the cases of atoms with choices. Returns the atoms of the cases, and the formulas whose connectives
    /// distinguish the cases.
    pub(super) fn distinguish(
        &mut self,
        atoms: &[Term],
        choices: &FxHashMap<Term, Term>,
    ) -> (Vec<Term>, Vec<Term>) {
        let (mut cases, mut formulas) = (Vec::new(), Vec::new());
        let mut known: FxHashSet<Term> = FxHashSet::default();
        let mut open: VecDeque<Term> = atoms.iter().copied().collect();
        let mut budget = MOST_ATOMS;
        while let Some(atom) = open.pop_front() {
            let Some(choice) = self.choice_in(atom, choices) else { continue };
            if budget == 0 {
                break;
            }
            budget -= 1;
            let origin = choices.get(&choice).copied().unwrap_or(choice);
            let Some((equations, formula)) = self.offer_choice(choice, origin) else { continue };
            if known.insert(choice) {
                formulas.push(formula);
            }
            for (branch, equation) in std::iter::zip(&self.store.args(origin)[1..], equations) {
                let Some(case) = self.with_branch(atom, choice, *branch) else { continue };
                self.offer_case((atom, choice), case, equation, &mut formulas);
                if !cases.contains(&case) {
                    cases.push(case);
                    open.push_back(case);
                }
            }
        }
        (cases, formulas)
    }

    /// A choice in a sum of the atom, or on one of its sides.
    fn choice_in(&self, atom: Term, choices: &FxHashMap<Term, Term>) -> Option<Term> {
        let store = self.store;
        let (Op::Le | Op::Lt | Op::Ge | Op::Gt | Op::Eq, &[left, right]) = store.view(atom) else {
            return None;
        };
        let is_choice = |term: &Term| store.op(*term) == Op::Ite || choices.contains_key(term);
        if !store.sort_of(left).is_arithmetic() {
            return [left, right].into_iter().find(is_choice);
        }
        let polys = [left, right].map(|side| super::super::without_casts(store, side));
        let mut monomials = polys.iter().flat_map(|poly| poly.terms()).map(|(monomial, _)| *monomial);
        monomials.find(is_choice)
    }

    /// Offers that a choice equals one of its branches. Returns the equations, and the formula whose connectives say
    /// so.
    pub(super) fn offer_choice(&mut self, choice: Term, origin: Term) -> Option<([Term; 2], Term)> {
        let (Op::Ite, &[condition, then, otherwise]) = self.store.view(origin) else { return None };
        let app = |op: Op, args: &[Term]| self.store.app(op, args).ok();
        // The rule adds the definitions of choices to a formula that contains them; this formula is true.
        let reflexive = app(Op::Eq, &[choice, choice])?;
        let branches = [app(Op::Eq, &[choice, then])?, app(Op::Eq, &[choice, otherwise])?];
        let cases = app(Op::Ite, &[condition, branches[0], branches[1]])?;
        let both = app(Op::And, &[reflexive, cases])?;
        let equation = app(Op::Eq, &[reflexive, both])?;
        self.derivation.offer(vec![reflexive], Source::Rule("eq_reflexive", Vec::new()));
        self.derivation.offer(vec![equation], Source::Rule("ite_intro", Vec::new()));
        Some((branches, equation))
    }

    /// The atom with the choice replaced by a branch.
    fn with_branch(&self, atom: Term, choice: Term, branch: Term) -> Option<Term> {
        let store = self.store;
        let (op, &[left, right]) = store.view(atom) else { return None };
        let replaced = |side: Term| {
            if !store.sort_of(side).is_arithmetic() {
                return Some(if side == choice { branch } else { side });
            }
            let sort = store.sort_of(side);
            let poly = LinearPoly::from_term(store, side);
            let is_meant = |term: Term| super::super::without_cast(store, term) == choice;
            let Some((monomial, factor)) = poly.terms().iter().find(|(term, _)| is_meant(*term)).cloned()
            else {
                return Some(side);
            };
            let branch = if monomial == choice { branch } else { store.app(Op::ToReal, &[branch]).ok()? };
            let mut image = LinearPoly::from_term(store, branch);
            image.add_scaled(
                &LinearPoly::from_pairs(vec![(monomial, Rational::ONE)], Rational::ZERO),
                &-Rational::ONE,
            );
            let mut sum = poly;
            sum.add_scaled(&image, &factor);
            Some(sum.to_term(store, sort))
        };
        store.app(op, &[replaced(left)?, replaced(right)?]).ok()
    }

    /// Offers that an atom with a choice and its case are equivalent if the equation holds.
    fn offer_case(
        &mut self,
        (atom, choice): (Term, Term),
        case: Term,
        equation: Term,
        formulas: &mut Vec<Term>,
    ) {
        let store = self.store;
        let is_arithmetic = store.sort_of(store.args(atom)[0]).is_arithmetic();
        if !is_arithmetic {
            for (from, to) in [(atom, case), (case, atom)] {
                let mut clause = vec![negation(store, equation), negation(store, from), to];
                if store.args(atom)[0] != choice {
                    // From left to right.
                    clause.swap(0, 1);
                }
                self.derivation.offer(clause, Source::Rule("eq_transitive", Vec::new()));
            }
            return;
        }
        let pairs: Vec<(Term, Term)> = if store.op(atom) == Op::Eq {
            let (of_atom, of_case) = (self.halves(atom, formulas), self.halves(case, formulas));
            std::iter::zip(of_atom, of_case).collect()
        } else {
            vec![(atom, case)]
        };
        for (atom, case) in pairs {
            for holds in [true, false] {
                self.sum(&[(atom, !holds), (case, holds), (equation, false)]);
            }
        }
    }
}
