//! Proofs as text, in the Alethe format.
//!
//! Alethe is the format of veriT and cvc5 (H. Barbosa et al., "The Alethe Proof Format: A Specification and Reference
//! Manual"); other checkers read it. Fresh symbols are defined to be their origins in front. A step becomes
//!
//! ```text
//! assertion        or, and, or the assumption itself where the formula is written as the clause; otherwise hole
//! assumption       assume
//! gate             and_pos, and_neg, or_pos, or_neg, equiv_pos1, ..., ite_neg2, true, false
//! fresh symbol     hole
//! Farkas           la_generic with the coefficients
//! split            la_generic where it has two literals, otherwise lia_generic
//! integers         lia_generic
//! congruence       hole
//! resolution       resolution; its arguments are the pivots, with whether they are affirmed in the clause so far
//! ```
//!
//! So *holes*, which a checker has to believe, are normalising and purifying, definitions of fresh symbols, and
//! congruence; `lia_generic` is a hole for most checkers. [`check`](super::check) checks all of them but the first,
//! which it tests. The rules for gates write double negations where the literal of a gate's argument is negated; these
//! are removed by `not_not` and resolution.

use std::fmt::Write as _;
use std::io::{self, Write};

use rustc_hash::FxHashMap;
use shofar_logic::number::Rational;
use shofar_logic::{Op, Sort, Term, TermStore};

use super::{FarkasTerm, Justification, Part, Proof, Rule, StepId};
use crate::sat::{Lit, Var};

/// Writes the proof.
///
/// # Errors
///
/// Those of the writer.
pub fn write_alethe(store: &TermStore, proof: &Proof, out: &mut impl Write) -> io::Result<()> {
    let mut printer =
        Printer { store, proof, assumes: FxHashMap::default(), names: Vec::new(), next: 0, out };
    printer.definitions()?;
    printer.assumes()?;
    for index in 0..proof.steps.len() {
        let name = printer.step(StepId(index as u32))?;
        printer.names.push(name);
    }
    Ok(())
}

struct Printer<'p, W> {
    store: &'p TermStore,
    proof: &'p Proof,
    /// The formulas of `assume` commands, by part, with their names.
    assumes: FxHashMap<Part, Vec<(Term, String)>>,
    /// The names of steps.
    names: Vec<String>,
    next: usize,
    out: &'p mut W,
}

impl<W: Write> Printer<'_, W> {
    /// What the fresh symbols of the proof stand for.
    fn definitions(&mut self) -> io::Result<()> {
        let (store, proof) = (self.store, self.proof);
        let literals = proof.steps.iter().flat_map(|step| step.clause.iter());
        let formulas: Vec<Term> = literals.map(|lit| proof.formula(lit.var())).collect();
        let mut needed = store.symbols(&formulas).vars;
        let mut shown = Vec::new();
        for &(symbol, origin) in proof.origins.iter().rev() {
            if needed.contains(&symbol) {
                needed.extend(store.symbols(&[origin]).vars);
                shown.push((symbol, origin));
            }
        }
        for (symbol, origin) in shown.into_iter().rev() {
            let sort = store.display_sort(store.sort_of(symbol));
            writeln!(self.out, "(define-fun {} () {sort} {})", store.display(symbol), store.display(origin))?;
        }
        Ok(())
    }

    fn assumes(&mut self) -> io::Result<()> {
        for assertion in self.proof.assertions.iter().chain(&self.proof.assumptions) {
            let name = format!("h{}", self.assumes.values().map(Vec::len).sum::<usize>());
            writeln!(self.out, "(assume {name} {})", self.store.display(assertion.formula))?;
            self.assumes.entry(assertion.part).or_default().push((assertion.formula, name));
        }
        Ok(())
    }

    /// Writes a step and gives its name.
    fn step(&mut self, id: StepId) -> io::Result<String> {
        let step = self.proof.step(id);
        let clause: Vec<String> = step.clause.iter().map(|&lit| self.literal(lit)).collect();
        match &step.rule {
            Rule::Assertion(part) | Rule::Assumption(part) => self.assertion(*part, &step.clause, &clause),
            Rule::Definition => self.definition(&step.clause, &clause),
            Rule::Lemma(Justification::Farkas(terms)) => {
                let coefficient = |lit: &Lit| {
                    let term = terms.iter().find(|term: &&FarkasTerm| term.lit == !*lit);
                    term.map_or(Rational::ZERO, |term| term.coefficient.clone())
                };
                let args: Vec<String> = step.clause.iter().map(|lit| number(&coefficient(lit))).collect();
                self.write(&clause, "la_generic", &[], &args)
            }
            Rule::Lemma(Justification::Split) => match self.equation_and_half(&step.clause) {
                Some(args) => self.write(&clause, "la_generic", &[], &args),
                None => self.write(&clause, "lia_generic", &[], &[]),
            },
            Rule::Lemma(Justification::Integer(_)) => self.write(&clause, "lia_generic", &[], &[]),
            Rule::Lemma(Justification::Congruence(_)) => self.write(&clause, "hole", &[], &[]),
            Rule::Resolution { first, others } => {
                let steps = [*first].into_iter().chain(others.iter().map(|&(step, _)| step));
                let premises: Vec<String> =
                    steps.map(|StepId(step)| self.names[step as usize].clone()).collect();
                let mut args = Vec::with_capacity(2 * others.len());
                for &(other, pivot) in others {
                    args.extend(self.pivot(other, pivot));
                }
                self.write(&clause, "resolution", &premises, &args)
            }
        }
    }

    /// The pivot as an atom, and whether the clause so far affirms it, which the other one then does not.
    fn pivot(&self, other: StepId, pivot: Var) -> [String; 2] {
        let is_affirmed_in_other = self.proof.step(other).clause.contains(&pivot.positive());
        let (atom, holds) = self.proof.atom(self.store, pivot.lit(!is_affirmed_in_other));
        [self.store.display(atom).to_string(), holds.to_string()]
    }

    fn literal(&self, lit: Lit) -> String {
        let (atom, holds) = self.proof.atom(self.store, lit);
        let atom = self.store.display(atom);
        if holds { atom.to_string() } else { format!("(not {atom})") }
    }

    fn write(
        &mut self,
        clause: &[String],
        rule: &str,
        premises: &[String],
        args: &[String],
    ) -> io::Result<String> {
        let name = format!("t{}", self.next);
        self.next += 1;
        let mut line = format!("(step {name} (cl");
        clause.iter().for_each(|literal| _ = write!(line, " {literal}"));
        let _ = write!(line, ") :rule {rule}");
        if !premises.is_empty() {
            let _ = write!(line, " :premises ({})", premises.join(" "));
        }
        if !args.is_empty() {
            let _ = write!(line, " :args ({})", args.join(" "));
        }
        writeln!(self.out, "{line})")?;
        Ok(name)
    }

    /// A clause of a formula of the part: the formula itself or a part of it, where it is written like that.
    fn assertion(&mut self, part: Part, clause: &[Lit], text: &[String]) -> io::Result<String> {
        let store = self.store;
        let formulas = self.assumes.get(&part).cloned().unwrap_or_default();
        let terms: Vec<Term> = clause.iter().map(|&lit| self.proof.literal(store, lit)).collect();
        for (formula, name) in &formulas {
            if terms[..] == [*formula] {
                return Ok(name.clone());
            }
            match store.view(*formula) {
                (Op::False, _) => {
                    let truth = self.write(&["(not false)".to_owned()], "false", &[], &[])?;
                    let args = ["false".to_owned(), "true".to_owned()];
                    return self.write(&[], "resolution", &[name.clone(), truth], &args);
                }
                (Op::Or, args) if args.len() == terms.len() && args.iter().all(|arg| terms.contains(arg)) => {
                    let written: Vec<String> =
                        args.iter().map(|&arg| store.display(arg).to_string()).collect();
                    return self.write(&written, "or", std::slice::from_ref(name), &[]);
                }
                (Op::And, args) if terms.len() == 1 => {
                    if let Some(position) = args.iter().position(|arg| *arg == terms[0]) {
                        return self.write(text, "and", std::slice::from_ref(name), &[position.to_string()]);
                    }
                }
                _ => {}
            }
        }
        let premises: Vec<String> = formulas.into_iter().map(|(_, name)| name).collect();
        self.write(text, "hole", &premises, &[])
    }

    /// The coefficients of a clause that says that an equation implies an inequality.
    fn equation_and_half(&self, clause: &[Lit]) -> Option<Vec<String>> {
        let &[first, second] = clause else { return None };
        let coefficient = |lit: Lit, other: Lit| {
            // The denied inequality bounds the form from the side opposite to the equation's part in the sum.
            let is_equation = self.store.op(self.proof.atom(self.store, lit).0) == Op::Eq;
            let (_, is_at_most) = self.proof.atom(self.store, other);
            if is_equation && is_at_most { "(- 1)".to_owned() } else { "1".to_owned() }
        };
        Some(vec![coefficient(first, second), coefficient(second, first)])
    }

    /// The clause of a gate by its rule, or else a hole.
    fn definition(&mut self, clause: &[Lit], text: &[String]) -> io::Result<String> {
        let Some((rule, args, literals)) = self.gate_rule(clause) else {
            return self.write(text, "hole", &[], &[]);
        };
        let not = |count: usize, atom: Term| {
            format!("{}{}{}", "(not ".repeat(count), self.store.display(atom), ")".repeat(count))
        };
        let written: Vec<String> = literals.iter().map(|&(atom, negations)| not(negations, atom)).collect();
        let doubled: Vec<(Term, usize)> = literals.iter().copied().filter(|literal| literal.1 > 1).collect();
        let negated: Vec<[String; 2]> =
            doubled.iter().map(|&(atom, n)| [not(n + 1, atom), not(n - 2, atom)]).collect();
        let pivots: Vec<String> = doubled.iter().map(|&(atom, n)| not(n, atom)).collect();
        let mut premises = vec![self.write(&written, rule, &[], &args)?];
        if negated.is_empty() {
            return Ok(premises.swap_remove(0));
        }
        let mut pivot_args = Vec::new();
        for (pair, pivot) in std::iter::zip(negated, pivots) {
            premises.push(self.write(&pair, "not_not", &[], &[])?);
            pivot_args.extend([pivot, "true".to_owned()]);
        }
        self.write(text, "resolution", &premises, &pivot_args)
    }

    /// The rule that a clause of a gate has, with its arguments, and the literals in the order and with the negations
    /// that the rule demands.
    #[expect(clippy::type_complexity, reason = "the three parts are taken apart at the only call")]
    fn gate_rule(&self, clause: &[Lit]) -> Option<(&'static str, Vec<String>, Vec<(Term, usize)>)> {
        let store = self.store;
        let literals: Vec<(Term, bool)> = clause.iter().map(|&lit| self.proof.atom(store, lit)).collect();
        // An argument, or its negation, as the rule writes it.
        let signed = |arg: Term, is_negated: bool| match store.view(arg) {
            (Op::Not, &[atom]) => (atom, 1 + usize::from(is_negated)),
            _ => (arg, usize::from(is_negated)),
        };
        let is_there = |&(atom, negations): &(Term, usize)| literals.contains(&(atom, negations % 2 == 0));
        for &(gate, holds) in &literals {
            let args = store.args(gate);
            let own = (gate, usize::from(!holds));
            let fits =
                |others: &[(Term, usize)]| others.len() + 1 == literals.len() && others.iter().all(is_there);
            let with_own = |others: Vec<(Term, usize)>| [own].into_iter().chain(others).collect();
            match (store.op(gate), holds) {
                (Op::True, true) => return Some(("true", Vec::new(), vec![own])),
                (Op::False, false) => return Some(("false", Vec::new(), vec![own])),
                (op @ (Op::And | Op::Or), holds) => {
                    let is_and = op == Op::And;
                    let others: Vec<_> = args.iter().map(|&arg| signed(arg, holds)).collect();
                    if is_and == holds {
                        if fits(&others) {
                            return Some((
                                if is_and { "and_neg" } else { "or_pos" },
                                Vec::new(),
                                with_own(others),
                            ));
                        }
                    } else if let Some(position) = others.iter().position(|other| fits(&[*other])) {
                        let rule = if is_and { "and_pos" } else { "or_neg" };
                        return Some((rule, vec![position.to_string()], with_own(vec![others[position]])));
                    }
                }
                (Op::Eq, holds) if store.sort_of(args[0]) == Sort::BOOL => {
                    let rules = match holds {
                        false => [("equiv_pos1", false, true), ("equiv_pos2", true, false)],
                        true => [("equiv_neg1", true, true), ("equiv_neg2", false, false)],
                    };
                    for (rule, first, second) in rules {
                        let others = vec![signed(args[0], first), signed(args[1], second)];
                        if fits(&others) {
                            return Some((rule, Vec::new(), with_own(others)));
                        }
                    }
                }
                (Op::Ite, holds) => {
                    let rules = match holds {
                        false => [("ite_pos1", false, 2), ("ite_pos2", true, 1)],
                        true => [("ite_neg1", false, 2), ("ite_neg2", true, 1)],
                    };
                    for (rule, is_negated, branch) in rules {
                        let others = vec![signed(args[0], is_negated), signed(args[branch], holds)];
                        if fits(&others) {
                            return Some((rule, Vec::new(), with_own(others)));
                        }
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// A number that is not negative.
fn number(value: &Rational) -> String {
    if value.is_integer() {
        value.numer().to_string()
    } else {
        format!("(/ {} {})", value.numer(), value.denom())
    }
}
