//! Prints proofs in the Alethe format.
//!
//! Alethe is the format of veriT and cvc5 (H. Barbosa et al., "The Alethe Proof Format: A Specification and Reference
//! Manual"); other checkers read it. Definitions at the beginning make fresh symbols stand for their origins. A step
//! becomes
//!
//! ```text
//! definition       derived from the assertion and earlier equations                            defined.rs
//! assertion        or, and, or a derivation; the assumption itself if the formula is the clause
//! gate             and_pos, and_neg, or_pos, or_neg, equiv_pos1, ..., ite_neg2, true, false       connective.rs
//! chain, distinct  nary_elim, distinct_elim
//! fresh symbol     ite_intro for a choice, la_generic for a name; a hole for the definitions of div and to_int
//! simplified term  eq_congruent, or a hole for the definitions of mod and the like             rewritten.rs
//! Farkas           la_generic with the coefficients                                             arith.rs
//! split            la_generic and la_disequality
//! integers         three instances of la_generic: the form is at most n, or at least n + 1, and neither can be
//! congruence       eq_congruent, eq_transitive, eq_reflexive                                    equality.rs
//! datatypes        dt_inject, dt_select, dt_test, dt_clash, dt_cycle, dt_split, dt_expand: rules of ours   datatypes.rs
//! resolution       resolution; its arguments are the pivots, with whether they are affirmed in the clause so far
//! ```
//!
//! **Assertions.** The search has clauses of the image of an assertion, which is normal and without `ite` and the like.
//! So the clauses of all connectives are offered, of the formula as written and of the image, together with sums that
//! connect the atoms as written with those of the image. Propagation combines the clauses that are needed
//! (`derive.rs`). This covers everything that normalising does to connectives and linear atoms. `defined.rs` handles
//! replaced symbols, and `rewritten.rs` terms that were simplified inside functions and divisions. A *hole*, which a
//! checker must trust, remains if more was done: if symbols were replaced inside such terms, or numbers with `ite` were
//! simplified. [`check`](super::check) tests these.
//!
//! **Text.** Steps are collected (`steps.rs`) and written when all are known, with names for shared terms (`text.rs`).

mod arith;
mod choice;
mod connective;
mod datatypes;
mod defined;
mod derive;
mod equality;
mod expand;
mod rewritten;
mod steps;
mod text;

use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Sort, Term, TermStore};

use super::check::{TermClause, top_level_clauses};
use super::definitions::Definitions;
use super::{
    Assertion, Axiom, FarkasTerm, IntegerRefutation, Justification, Part, Proof, Rule, Sign, StepId,
};
use crate::sat::{Lit, Var};
use arith::{Bridge, la_generic, signed};
use connective::{argument_clause, explain, junction_clause};
use defined::{Equation, NumberEquations};
use derive::{Derivation, Literal, Source, formula, literal, negation};
use expand::Expander;
use steps::{Arg, Name, Steps, pivot_args};

/// Writes the proof.
///
/// # Errors
///
/// Those of the writer.
pub fn write_alethe(store: &TermStore, proof: &Proof, out: &mut impl Write) -> io::Result<()> {
    let expander = Expander::new(store, &proof.origins);
    let mut printer = Printer {
        store,
        proof,
        expander: &expander,
        choices: proof.origins.iter().copied().filter(|(_, origin)| store.op(*origin) == Op::Ite).collect(),
        assumes: Vec::new(),
        asserted: FxHashMap::default(),
        derivations: FxHashMap::default(),
        definitions: Definitions::new(store, &proof.definitions),
        replaced: FxHashMap::default(),
        rewritten: FxHashMap::default(),
        names: Vec::new(),
        out: Steps::new(store, &expander),
    };
    printer.assumes();
    printer.equations();
    for index in 0..proof.steps.len() {
        let name = printer.step(StepId(index as u32));
        printer.names.push(name);
    }
    text::write(store, &proof.origins, &printer.out, out)
}

struct Printer<'p> {
    store: &'p TermStore,
    proof: &'p Proof,
    expander: &'p Expander<'p>,
    /// The fresh symbols for choices, with their choices.
    choices: FxHashMap<Term, Term>,
    /// Assertions and assumptions with their names.
    assumes: Vec<(Assertion, Name)>,
    /// Those whose images contain a clause, by part.
    asserted: FxHashMap<(Part, TermClause), Vec<usize>>,
    /// Their derivations, built for the first clause that needs more than one step.
    derivations: FxHashMap<usize, Derivation<'p>>,
    definitions: Definitions<'p>,
    /// The equations of replaced symbols.
    replaced: FxHashMap<Term, Equation>,
    /// The equations of terms whose values are other terms.
    rewritten: FxHashMap<Term, Option<Equation>>,
    /// The names of steps.
    names: Vec<Name>,
    out: Steps<'p>,
}

impl<'p> Printer<'p> {
    fn assumes(&mut self) {
        for &assertion in self.proof.assertions.iter().chain(&self.proof.assumptions) {
            let (index, name) = (self.assumes.len(), self.out.assume(assertion.formula));
            for clause in top_level_clauses(self.store, assertion.image) {
                self.asserted.entry((assertion.part, clause)).or_default().push(index);
            }
            self.assumes.push((assertion, name));
        }
    }

    /// Writes a step and returns its name.
    fn step(&mut self, id: StepId) -> Name {
        let step = self.proof.step(id);
        let clause: Vec<Literal> = step.clause.iter().map(|&lit| self.proof.atom(self.store, lit)).collect();
        if let Some(atom) = clause.iter().find(|(atom, holds)| clause.contains(&(*atom, !holds))) {
            return self.tautology(atom.0, &clause);
        }
        let found = match &step.rule {
            Rule::Assertion(part) | Rule::Assumption(part) => return self.assertion(*part, &clause),
            Rule::Definition => self.definition(&clause),
            Rule::Lemma(Justification::Farkas(terms)) => Some(self.farkas(&step.clause, &clause, terms)),
            Rule::Lemma(Justification::Split) => self.split(&clause),
            Rule::Lemma(Justification::Integer(refutation)) => self.integer(&clause, refutation),
            Rule::Lemma(Justification::Congruence(argument)) => self
                .equalities(&clause, |store, proof, derivation| {
                    equality::congruence(store, proof, derivation, argument)
                }),
            Rule::Lemma(Justification::Cycle(argument)) => self
                .equalities(&clause, |store, proof, derivation| {
                    equality::cycle(store, proof, derivation, argument)
                }),
            Rule::Lemma(Justification::Axiom(axiom)) => Some(self.axiom(&clause, axiom)),
            Rule::Resolution { first, others } => Some(self.resolution(&clause, *first, others)),
        };
        match found {
            Some(name) => name,
            None => self.hole(&clause, &[]),
        }
    }

    /// A clause that contains an atom and its negation.
    fn tautology(&mut self, atom: Term, clause: &[Literal]) -> Name {
        let twice = self.store.app(Op::Eq, &[atom, atom]).expect("formulas can be compared");
        let both = [negation(self.store, twice), negation(self.store, atom), atom];
        let premises =
            [self.out.step(&both, "equiv_pos2", &[], &[]), self.out.step(&[twice], "eq_reflexive", &[], &[])];
        let name = self.out.step(&both[1..], "resolution", &premises, &pivot_args((twice, false)));
        self.out.weaken(name, clause)
    }

    fn written(&self, clause: &[Literal]) -> Vec<Term> {
        clause.iter().map(|&literal| formula(self.store, literal)).collect()
    }

    fn hole(&mut self, clause: &[Literal], premises: &[Name]) -> Name {
        self.out.step(&self.written(clause), "hole", premises, &[])
    }

    fn resolution(&mut self, clause: &[Literal], first: StepId, others: &[(StepId, Var)]) -> Name {
        let seen = |literal: Literal| self.expander.seen(literal);
        let clause_of = |StepId(step): StepId| -> Vec<Term> {
            let clause = &self.proof.steps[step as usize].clause;
            clause.iter().map(|&lit| seen(self.proof.atom(self.store, lit))).collect()
        };
        let name = |StepId(step): StepId| self.names[step as usize];
        let (mut premises, mut args) = (vec![name(first)], Vec::new());
        let mut resolvent: FxHashSet<Term> = clause_of(first).into_iter().collect();
        for &(other, pivot) in others {
            // The clause so far negates the literal that the other clause affirms.
            let is_affirmed_in_other = self.proof.step(other).clause.contains(&pivot.positive());
            let literal = self.proof.atom(self.store, pivot.lit(!is_affirmed_in_other));
            // If a checker identifies the literal with another one, it may already be gone.
            if !resolvent.remove(&seen(literal)) {
                continue;
            }
            let denied = seen((literal.0, !literal.1));
            resolvent.extend(clause_of(other).into_iter().filter(|other| *other != denied));
            args.extend(pivot_args(literal));
            premises.push(name(other));
        }
        let proved: Vec<Literal> =
            clause.iter().copied().filter(|literal| resolvent.contains(&seen(*literal))).collect();
        let name = match premises.len() {
            1 => premises.swap_remove(0),
            _ => self.out.step(&self.written(&proved), "resolution", &premises, &args),
        };
        self.out.weaken(name, clause)
    }

    // ---- assertions --------------------------------------------------------------------------------------------

    /// A clause of a formula of the part.
    fn assertion(&mut self, part: Part, clause: &[Literal]) -> Name {
        let mut sorted: TermClause = clause.to_vec();
        sorted.sort_unstable();
        let found = self.asserted.get(&(part, sorted)).cloned().unwrap_or_default();
        for &index in &found {
            if let Some(name) = self.written_clause(index, clause) {
                return name;
            }
            let mut derivation = match self.derivations.remove(&index) {
                Some(derivation) => derivation,
                None => self.of_assertion(index),
            };
            let name = derivation.derive(&mut self.out, clause);
            self.derivations.insert(index, derivation);
            if let Some(name) = name {
                return name;
            }
        }
        let mut premises: Vec<Name> = Vec::new();
        for index in found {
            let (assertion, name) = &self.assumes[index];
            premises.push(*name);
            let equations = self.equations_of(assertion.formula);
            premises.extend(equations.into_iter().map(|equation| equation.name));
        }
        self.hole(clause, &premises)
    }

    /// The clause, if the formula is written as the clause, or has it as a member.
    fn written_clause(&mut self, index: usize, clause: &[Literal]) -> Option<Name> {
        let store = self.store;
        let (assertion, name) = self.assumes[index];
        let terms = self.written(clause);
        if terms[..] == [assertion.formula] {
            return Some(name);
        }
        match store.view(assertion.formula) {
            (Op::Or, args) if args.len() == terms.len() && args.iter().all(|arg| terms.contains(arg)) => {
                Some(self.out.step(args, "or", &[name], &[]))
            }
            (Op::And, args) if terms.len() == 1 => {
                let position = args.iter().position(|arg| *arg == terms[0])?;
                Some(self.out.step(&terms, "and", &[name], &[Arg::position(position)]))
            }
            _ => None,
        }
    }

    /// The derivation for clauses of the image of an assertion.
    fn of_assertion(&mut self, index: usize) -> Derivation<'p> {
        let (Assertion { formula, image, .. }, name) = self.assumes[index];
        let equations = self.equations_of(formula);
        self.replacing(formula, name, image, &equations)
    }

    /// Offers the clauses of formulas, connects their atoms, and adds the offers of `more`.
    fn connect(
        &mut self,
        derivation: &mut Derivation<'p>,
        known: &mut FxHashSet<Term>,
        formulas: Vec<Term>,
        equations: &[Equation],
        more: impl FnOnce(&mut Bridge<'_, 'p>) -> Vec<Term>,
    ) {
        let store = self.store;
        let mut atoms = explain(store, derivation, known, formulas);
        let halves_of = FxHashMap::default();
        let mut bridge = Bridge {
            store,
            expander: self.expander,
            derivation,
            halves_of,
            equations,
            numbers: NumberEquations::new(store, equations),
            known_facts: FxHashMap::default(),
        };
        let (cases, choices) = bridge.distinguish(&atoms, &self.choices);
        atoms.extend(cases);
        atoms.extend(datatypes::fields(store, bridge.derivation, &atoms));
        atoms.extend(explain(store, bridge.derivation, known, choices));
        atoms.sort_unstable();
        atoms.dedup();
        let mut found = bridge.connect(&atoms);
        found.extend(more(&mut bridge));
        explain(store, derivation, known, found);
    }

    // ---- definitions -------------------------------------------------------------------------------------------

    /// The clause of a gate or a fresh symbol.
    fn definition(&mut self, clause: &[Literal]) -> Option<Name> {
        if let Some((rule, args, written)) = self.junction_rule(clause) {
            let name = self.out.step(&written, rule, &[], &args);
            return Some(self.out.without_double_negations(name, &written));
        }
        let store = self.store;
        let mut derivation = Derivation::new(store, self.expander);
        let mut known: FxHashSet<Term> = FxHashSet::default();
        let mut formulas: Vec<Term> = Vec::new();
        for &(atom, _) in clause {
            // A clause needs no gates other than its own.
            if matches!(store.op(atom), Op::And | Op::Or) {
                known.insert(atom);
            } else {
                formulas.push(atom);
                known.extend(store.args(atom).iter().map(|&arg| literal(store, arg).0.0));
            }
        }
        formulas.iter().for_each(|formula| _ = known.remove(formula));
        // The definition of a choice concerns only its own condition.
        let symbols = store.symbols(&formulas).vars;
        let choices = symbols.iter().filter_map(|symbol| self.choices.get(symbol));
        known.extend(choices.map(|choice| literal(store, store.args(*choice)[0]).0.0));
        // The name of a truth value equals it as a gate does.
        for &(symbol, origin) in &self.proof.origins {
            if store.sort_of(symbol) == Sort::BOOL
                && symbols.contains(&symbol)
                && let Ok(equation) = store.app(Op::Eq, &[symbol, origin])
            {
                known.extend([symbol, literal(store, origin).0.0]);
                formulas.push(equation);
            }
        }
        let equivalences: Vec<Term> = formulas.clone();
        self.connect(&mut derivation, &mut known, formulas, &[], |bridge| {
            equivalences.into_iter().for_each(|equivalence| bridge.reflexive(equivalence));
            Vec::new()
        });
        derivation.derive(&mut self.out, clause)
    }

    /// The rule for a clause of a conjunction or disjunction, with its arguments, and the clause as the rule requires
    /// it.
    fn junction_rule(&self, clause: &[Literal]) -> Option<connective::RuleClause> {
        let store = self.store;
        let is_there = |formula: Term| clause.contains(&literal(store, formula).0);
        for &(gate, holds) in clause {
            let (op @ (Op::And | Op::Or), args) = store.view(gate) else { continue };
            if holds == (op == Op::And) {
                let rule = junction_clause(store, gate);
                if rule.2.len() == clause.len() && rule.2.iter().all(|&formula| is_there(formula)) {
                    return Some(rule);
                }
            } else if clause.len() == 2 {
                let is_meant = |arg: &Term| {
                    let (atom, is_affirmed) = literal(store, *arg).0;
                    clause.contains(&(atom, is_affirmed == (op == Op::And)))
                };
                if let Some(position) = args.iter().position(is_meant) {
                    return Some(argument_clause(store, gate, position));
                }
            }
        }
        None
    }

    // ---- lemmas ------------------------------------------------------------------------------------------------

    fn farkas(&mut self, lits: &[Lit], clause: &[Literal], terms: &[FarkasTerm]) -> Name {
        let coefficients: Vec<Rational> = std::iter::zip(lits, clause)
            .map(|(lit, (atom, _))| {
                let terms = terms.iter().filter(|term| term.lit == !*lit);
                terms.fold(Rational::ZERO, |sum, term| {
                    &sum + &signed(self.store, *atom, term.side, &term.coefficient)
                })
            })
            .collect();
        let args = la_generic(self.store, clause, &coefficients);
        self.out.step(&self.written(clause), "la_generic", &[], &args)
    }

    fn split(&mut self, clause: &[Literal]) -> Option<Name> {
        let mut derivation = Derivation::new(self.store, self.expander);
        let atoms: Vec<Term> = clause.iter().map(|&(atom, _)| atom).collect();
        self.connect(&mut derivation, &mut FxHashSet::default(), atoms.clone(), &[], |bridge| {
            bridge.split(&atoms)
        });
        derivation.derive(&mut self.out, clause)
    }

    /// A form that is an integer is at most `n` or at least `n + 1`, and the conflict excludes both.
    fn integer(&mut self, clause: &[Literal], refutation: &IntegerRefutation) -> Option<Name> {
        let store = self.store;
        let (Some(upper), Some(lower)) = (self.bounds(refutation, true), self.bounds(refutation, false))
        else {
            return None;
        };
        let mut form = LinearPoly::default();
        refutation.terms.iter().for_each(|term| form.add_scaled(&term.form, &term.multiplier));
        let form = form.to_term(store, Sort::INT);
        let greatest = upper.constant.floor();
        let at_most = |left: Term, right: Term| store.app(Op::Le, &[left, right]);
        let next = store.int(&greatest + &1.into());
        let (Ok(below), Ok(above)) = (at_most(form, store.int(greatest)), at_most(next, form)) else {
            return None;
        };
        let mut derivation = Derivation::new(store, self.expander);
        let mut offer = |clause: &[Literal], coefficients: &[Rational]| {
            let written = clause.iter().map(|&literal| formula(store, literal)).collect();
            derivation.offer(written, Source::Rule("la_generic", la_generic(store, clause, coefficients)));
        };
        offer(&[(below, true), (above, true)], &[Rational::ONE, Rational::ONE]);
        for (Bounds { mut literals, mut coefficients, .. }, half) in [(lower, below), (upper, above)] {
            literals.push((half, false));
            coefficients.push(Rational::ONE);
            offer(&literals, &coefficients);
        }
        derivation.derive(&mut self.out, clause)
    }

    /// The weighted sum of the bounds that limit the form of a refutation from above or below.
    fn bounds(&self, refutation: &IntegerRefutation, is_upper: bool) -> Option<Bounds> {
        let store = self.store;
        let mut sums: FxHashMap<Literal, Rational> = FxHashMap::default();
        let mut constant = Rational::ZERO;
        for term in &refutation.terms {
            let takes_upper = term.multiplier.is_positive() == is_upper;
            let lit = if takes_upper { term.upper } else { term.lower };
            let mut wanted = term.form.clone();
            if takes_upper {
                wanted.scale(&-Rational::ONE);
            }
            let (side, inequality) = [Sign::Positive, Sign::Negative].into_iter().find_map(|side| {
                let inequality = self.proof.inequality(store, lit, side)?;
                (inequality.form.terms() == wanted.terms()).then_some((side, inequality))
            })?;
            let weight = term.multiplier.abs();
            constant.add_mul(&weight, inequality.form.constant());
            let (atom, holds) = self.proof.atom(store, lit);
            *sums.entry((atom, !holds)).or_default() += &signed(store, atom, side, &weight);
        }
        let mut sums: Vec<(Literal, Rational)> = sums.into_iter().collect();
        sums.sort_unstable_by_key(|(literal, _)| *literal);
        let (literals, coefficients) = sums.into_iter().unzip();
        Some(Bounds { literals, coefficients, constant })
    }

    /// A clause that follows from equalities, which `offer` returns after it has offered their clauses.
    fn equalities(
        &mut self,
        clause: &[Literal],
        offer: impl FnOnce(&TermStore, &Proof, &mut Derivation<'p>) -> Option<Vec<Term>>,
    ) -> Option<Name> {
        let mut derivation = Derivation::new(self.store, self.expander);
        let mut equalities = offer(self.store, self.proof, &mut derivation)?;
        equalities.sort_unstable();
        equalities.dedup();
        self.connect(&mut derivation, &mut FxHashSet::default(), equalities, &[], |_| Vec::new());
        derivation.derive(&mut self.out, clause)
    }

    /// An instance of an axiom of a theory, with the terms that instantiate it.
    fn axiom(&mut self, clause: &[Literal], axiom: &Axiom) -> Name {
        let args: Vec<Arg> = axiom.terms.iter().map(|&term| Arg::Term(term)).collect();
        self.out.step(&self.written(clause), axiom.rule.name, &[], &args)
    }
}

/// Literals of a clause whose negations are bounds, with their coefficients in a sum, and the constant of the sum.
struct Bounds {
    literals: Vec<Literal>,
    coefficients: Vec<Rational>,
    constant: Rational,
}
