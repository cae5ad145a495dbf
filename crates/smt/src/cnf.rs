//! Translates formulas into clauses, by Tseitin's transformation.
//!
//! Every connective of a normal formula gets a variable, its *gate*, and clauses that make the gate equivalent to the
//! connective over the literals of its arguments. Everything else is an *atom* and gets a variable, whose meaning the
//! theories define. All translated formulas share gates and atoms.
//!
//! ```text
//! g = and(a, b, ...)   (-g or a) (-g or b) ... (g or -a or -b or ...)
//! g = or(a, b, ...)    (g or -a) (g or -b) ... (-g or a or b or ...)
//! g = (a = b)          (-g or -a or b) (-g or a or -b) (g or a or b) (g or -a or -b)
//! g = ite(c, a, b)     (-g or -c or a) (-g or c or b) (g or -c or -a) (g or c or -b)
//!                      (g or -a or -b) (-g or a or b)
//! ```
//!
//! Both directions are added, although one would suffice for a formula that occurs with one sign only. A gate is then a
//! function of the atoms, so its clauses hold whatever is asserted. They are *definitions*, which outlive the formula
//! they were made for. The last two clauses of `ite` follow from the others; with them, branches that agree propagate.
//!
//! G. S. Tseitin, "On the complexity of derivation in propositional calculus", 1968.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use shofar_logic::{Op, Term, TermStore};
use smallvec::SmallVec;

use crate::sat::{Lit, Var};

/// Provides variables and receives clauses.
pub trait Clauses {
    /// A new variable.
    fn new_var(&mut self) -> Var;

    /// Adds a clause that always holds, because it defines a gate.
    fn define(&mut self, clause: &[Lit]);

    /// Adds a clause that holds as long as its formula is asserted.
    fn assert(&mut self, clause: &[Lit]);

    /// Requires the variable of an atom or gate of the formula being translated. Returns whether this is new; then the
    /// arguments of a gate are required next.
    fn require(&mut self, var: Var) -> bool;
}

/// Translates formulas of one store, and caches their literals.
pub struct Cnf<'a> {
    store: &'a TermStore,
    /// The literals of atoms and gates.
    literals: FxHashMap<Term, Lit>,
    /// By variables: their atoms and gates.
    formulas: Vec<Option<Term>>,
    /// Atoms not yet returned by [`Cnf::next_atom`].
    new_atoms: VecDeque<(Term, Var)>,
    /// Scratch of [`Cnf::define`].
    clause: Vec<Lit>,
}

impl<'a> Cnf<'a> {
    /// A translation without formulas.
    pub fn new(store: &'a TermStore) -> Self {
        Cnf {
            store,
            literals: FxHashMap::default(),
            formulas: Vec::new(),
            new_atoms: VecDeque::new(),
            clause: Vec::new(),
        }
    }

    /// Asserts a normal formula. Conjunctions are split, and a disjunction becomes a clause, without gates.
    pub fn assert(&mut self, formula: Term, clauses: &mut impl Clauses) {
        let mut open: SmallVec<[(Term, bool); 8]> = SmallVec::from_slice(&[(formula, true)]);
        while let Some((term, holds)) = open.pop() {
            match (self.store.view(term), holds) {
                ((Op::Not, args), _) => open.push((args[0], !holds)),
                ((Op::And, args), true) | ((Op::Or, args), false) => {
                    open.extend(args.iter().rev().map(|&arg| (arg, holds)));
                }
                ((Op::And, args), false) | ((Op::Or, args), true) => {
                    let literals = args.iter().map(|&arg| self.literal(arg, clauses));
                    let literals = literals.map(|literal| if holds { literal } else { !literal });
                    let clause: SmallVec<[Lit; 8]> = literals.collect();
                    clauses.assert(&clause);
                }
                ((Op::True, _), true) | ((Op::False, _), false) => {}
                ((Op::True, _), false) | ((Op::False, _), true) => clauses.assert(&[]),
                _ => {
                    let literal = self.literal(term, clauses);
                    clauses.assert(&[if holds { literal } else { !literal }]);
                }
            }
        }
    }

    /// The literal that is equivalent to a normal formula.
    pub fn literal(&mut self, formula: Term, clauses: &mut impl Clauses) -> Lit {
        let literal = self.dispensable_literal(formula, clauses);
        if clauses.require(literal.var()) && self.store.is_connective(formula) {
            self.require_below(formula, clauses);
        }
        literal
    }

    /// As [`literal`](Self::literal), but requires nothing.
    pub(crate) fn dispensable_literal(&mut self, formula: Term, clauses: &mut impl Clauses) -> Lit {
        self.known(formula).unwrap_or_else(|| self.translate(formula, clauses))
    }

    /// Gives literals to a formula and to all its subformulas that have none.
    fn translate(&mut self, formula: Term, clauses: &mut impl Clauses) -> Lit {
        let store = self.store;
        match store.view(formula) {
            // Atoms, which are many, have nothing below them.
            (Op::Not, &[atom]) if !store.is_connective(atom) => return !self.add_variable(atom, clauses),
            _ if !store.is_connective(formula) => return self.add_variable(formula, clauses),
            _ => {}
        }
        let subterms =
            store.subterms_until(&[formula], |term| !store.is_connective(term) || self.known(term).is_some());
        for term in subterms {
            if self.known(term).is_none() && store.op(term) != Op::Not {
                self.add_variable(term, clauses);
            }
        }
        self.known(formula).expect("all subformulas have been given literals")
    }

    /// Gives a literal to an atom, or to a connective whose arguments have literals.
    fn add_variable(&mut self, term: Term, clauses: &mut impl Clauses) -> Lit {
        let variable = clauses.new_var();
        self.literals.insert(term, variable.positive());
        if self.formulas.len() <= variable.index() {
            self.formulas.resize(variable.index() + 1, None);
        }
        self.formulas[variable.index()] = Some(term);
        if self.store.is_connective(term) || matches!(self.store.op(term), Op::True | Op::False) {
            self.define(term, variable.positive(), clauses);
        } else {
            self.new_atoms.push_back((term, variable));
        }
        variable.positive()
    }

    /// Requires the atoms and gates below a formula whose own variable is required.
    fn require_below(&self, formula: Term, clauses: &mut impl Clauses) {
        let store = self.store;
        // Only atoms and gates have their own variables.
        let positive = |term: Term| store.literal(term).0;
        let mut open = vec![positive(formula)];
        while let Some(term) = open.pop() {
            if store.is_connective(term) {
                let args = store.args(term).iter().map(|&arg| positive(arg));
                open.extend(args.filter(|arg| {
                    clauses.require(self.known(*arg).expect("subformulas have literals").var())
                }));
            }
        }
    }

    /// The literal of a formula that was translated before.
    pub fn known(&self, formula: Term) -> Option<Lit> {
        let (formula, holds) = self.store.literal(formula);
        self.literals.get(&formula).map(|&literal| if holds { literal } else { !literal })
    }

    /// The atom or gate whose variable this is.
    pub fn formula(&self, variable: Var) -> Option<Term> {
        self.formulas.get(variable.index()).copied().flatten()
    }

    /// Whether [`next_atom`](Self::next_atom) would return one.
    pub(crate) fn has_new_atoms(&self) -> bool {
        !self.new_atoms.is_empty()
    }

    /// The next new atom with its variable, in order of translation.
    pub fn next_atom(&mut self) -> Option<(Term, Var)> {
        self.new_atoms.pop_front()
    }

    /// Defines a gate, whose arguments have literals.
    fn define(&mut self, term: Term, gate: Lit, clauses: &mut impl Clauses) {
        let (op, args) = self.store.view(term);
        let literal = |position: usize| self.known(args[position]).expect("arguments come before the term");
        match op {
            Op::True => clauses.define(&[gate]),
            Op::False => clauses.define(&[!gate]),
            Op::And | Op::Or => {
                // A disjunction is a conjunction with all literals negated.
                let sign = |literal: Lit| if op == Op::And { literal } else { !literal };
                let gate = sign(gate);
                let mut all = std::mem::take(&mut self.clause);
                all.clear();
                all.push(gate);
                for &arg in args {
                    let part = sign(self.known(arg).expect("arguments come before the term"));
                    clauses.define(&[!gate, part]);
                    all.push(!part);
                }
                clauses.define(&all);
                self.clause = all;
            }
            Op::Eq => {
                let (a, b) = (literal(0), literal(1));
                clauses.define(&[!gate, !a, b]);
                clauses.define(&[!gate, a, !b]);
                clauses.define(&[gate, a, b]);
                clauses.define(&[gate, !a, !b]);
            }
            Op::Ite => {
                let (c, a, b) = (literal(0), literal(1), literal(2));
                clauses.define(&[!gate, !c, a]);
                clauses.define(&[!gate, c, b]);
                clauses.define(&[gate, !c, !a]);
                clauses.define(&[gate, c, !b]);
                clauses.define(&[gate, !a, !b]);
                clauses.define(&[!gate, a, b]);
            }
            _ => unreachable!("only connectives have gates"),
        }
    }
}
