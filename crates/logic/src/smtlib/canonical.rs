//! The canonical text of a formula: the same in every store, and read back as the same formula.
//!
//! A formula in normal form has the order of its arguments, and the signs of its sums, from the order in which terms were made. Two
//! processes that exchange formulas, or one that compares texts of two runs, need a form without this history:
//!
//! - N1: reading the text of a formula in normal form gives the formula.
//! - N2: if two stores have the same formula, apart from history, its text is the same.
//!
//! Variables are written as `x0`, `x1`, .. by their positions in a list. Arguments of commutative operators are sorted by their texts.
//! Of a truth value and its negation, conditions and sides of equations have the one with the smaller text.
//! A sum is written with coprime coefficients, a positive one first where a relation allows it, and integers are compared by `<=` and
//! `>=` only.
//!
//! Shared terms are written out wherever they occur, so a text may be exponential in the formula. The caller sets a limit.

use rustc_hash::FxHashMap;

use super::write_numeral;
use crate::number::Rational;
use crate::{LinearPoly, Op, Relation, Sort, Term, TermStore};

impl TermStore {
    /// The canonical text of a formula in normal form over these variables. `None` if it is longer than `most` bytes, or has other
    /// variables or quantifiers.
    pub fn canonical_text(&self, formula: Term, variables: &[Term], most: usize) -> Option<String> {
        let names = variables.iter().enumerate().map(|(position, &variable)| (variable, position));
        let mut writer = Writer { store: self, names: names.collect(), texts: FxHashMap::default(), most };
        // Arguments first, with a stack of our own: formulas may be deep.
        let mut open = vec![(formula, false)];
        while let Some((term, is_ready)) = open.pop() {
            if writer.texts.contains_key(&term) {
                continue;
            }
            if is_ready {
                let text = writer.text(term)?;
                if text.len() > most {
                    return None;
                }
                writer.texts.insert(term, text);
            } else {
                open.push((term, true));
                open.extend(self.parts(term).into_iter().map(|part| (part, false)));
            }
        }
        writer.texts.remove(&formula)
    }

    /// The terms whose texts are needed for that of a term: the monomials of sums, or else the arguments.
    fn parts(&self, term: Term) -> Vec<Term> {
        let monomials = |sum: Term| {
            let poly = LinearPoly::from_term(self, sum);
            poly.terms().iter().map(|&(monomial, _)| monomial).collect::<Vec<Term>>()
        };
        if let Some(bound) = self.bound(term) {
            return monomials(bound.sum);
        }
        match self.view(term) {
            (Op::Add | Op::Mul, _) => match monomials(term) {
                alone if alone == [term] => self.args(term).to_vec(),
                several => several,
            },
            (_, arguments) => arguments.to_vec(),
        }
    }
}

struct Writer<'a> {
    store: &'a TermStore,
    names: FxHashMap<Term, usize>,
    texts: FxHashMap<Term, String>,
    most: usize,
}

impl Writer<'_> {
    /// The text of a term whose parts have texts.
    fn text(&self, term: Term) -> Option<String> {
        if let Some(position) = self.names.get(&term) {
            return Some(format!("x{position}"));
        }
        if let Some(text) = self.relation(term) {
            return Some(text);
        }
        let store = self.store;
        let (op, arguments) = store.view(term);
        match op {
            Op::Var(_) | Op::Forall | Op::Exists => None,
            Op::Add | Op::Mul => {
                let poly = LinearPoly::from_term(store, term);
                if poly.terms().iter().any(|&(monomial, _)| monomial == term) {
                    return self.application(term, true);
                }
                let mut parts = self.monomials(&poly, store.sort_of(term));
                if !poly.constant().is_zero() || parts.is_empty() {
                    parts.push(numeral(poly.constant(), store.sort_of(term)));
                }
                Some(joined("+", parts))
            }
            Op::Not => Some(negation(&self.texts[&arguments[0]])),
            Op::Ite => {
                let [mut condition, mut then, mut other] =
                    [0, 1, 2].map(|position: usize| self.texts[&arguments[position]].clone());
                let denied = self.negated(arguments[0]);
                if denied < condition {
                    (condition, then, other) = (denied, other, then);
                }
                if store.sort_of(term) != Sort::BOOL {
                    return Some(format!("(ite {condition} {then} {other})"));
                }
                let (first, second) = if then == self.texts[&arguments[1]] { (1, 2) } else { (2, 1) };
                let denied = self.negated(arguments[first]);
                if denied < then {
                    let other = self.negated(arguments[second]);
                    return Some(format!("(not (ite {condition} {denied} {other}))"));
                }
                Some(format!("(ite {condition} {then} {other})"))
            }
            Op::Eq if store.sort_of(arguments[0]) == Sort::BOOL => {
                let mut is_denied = false;
                let mut side = |argument: &Term| {
                    let (text, denied) = (self.texts[argument].clone(), self.negated(*argument));
                    is_denied ^= denied < text;
                    text.min(denied)
                };
                let mut sides: Vec<String> = arguments.iter().map(&mut side).collect();
                sides.sort_unstable();
                let equation = format!("(= {})", sides.join(" "));
                Some(if is_denied { negation(&equation) } else { equation })
            }
            Op::And | Op::Or | Op::Eq | Op::Distinct | Op::Xor if !arguments.is_empty() => {
                self.application(term, true)
            }
            _ if arguments.is_empty() => Some(store.display(term).to_string()),
            _ => self.application(term, false),
        }
    }

    /// The text of the negation of a formula.
    fn negated(&self, formula: Term) -> String {
        let relation = self.relation(self.store.not(formula));
        relation.unwrap_or_else(|| negation(&self.texts[&formula]))
    }

    fn application(&self, term: Term, is_commutative: bool) -> Option<String> {
        let arguments = self.store.args(term);
        let mut texts: Vec<&str> = arguments.iter().map(|argument| &*self.texts[argument]).collect();
        if is_commutative {
            texts.sort_unstable();
        }
        let length: usize = texts.iter().map(|text| text.len() + 1).sum();
        (length <= self.most)
            .then(|| format!("({} {})", self.store.display_op(self.store.op(term)), texts.join(" ")))
    }

    /// A literal that compares a sum with a number.
    fn relation(&self, literal: Term) -> Option<String> {
        let bound = self.store.bound(literal)?;
        let sort = self.store.sort_of(bound.sum);
        let mut poly = LinearPoly::from_term(self.store, bound.sum);
        let (mut number, mut relation) = (bound.number.clone(), bound.relation);
        let first = poly.terms().iter().min_by_key(|(monomial, _)| &self.texts[monomial])?;
        let content = poly.content();
        let factor = if first.1.is_negative() { -content } else { content };
        if factor.is_negative() {
            relation = mirrored(relation);
        }
        poly.scale(&factor.recip());
        number *= &factor.recip();
        if sort == Sort::INT {
            (relation, number) = match relation {
                Relation::Below => (Relation::AtMost, number - &Rational::ONE),
                Relation::Above => (Relation::AtLeast, number + &Rational::ONE),
                relation => (relation, number),
            };
        }
        let sum = joined("+", self.monomials(&poly, sort));
        let number = numeral(&number, sort);
        Some(match relation {
            Relation::Below => format!("(< {sum} {number})"),
            Relation::AtMost => format!("(<= {sum} {number})"),
            Relation::Equal => format!("(= {sum} {number})"),
            Relation::Different => format!("(not (= {sum} {number}))"),
            Relation::AtLeast => format!("(>= {sum} {number})"),
            Relation::Above => format!("(> {sum} {number})"),
        })
    }

    /// The monomials of a sum with their coefficients, in the order of their texts.
    fn monomials(&self, poly: &LinearPoly, sort: Sort) -> Vec<String> {
        let mut monomials: Vec<(&str, &Rational)> =
            poly.terms().iter().map(|(monomial, factor)| (&*self.texts[monomial], factor)).collect();
        monomials.sort_unstable_by_key(|&(text, _)| text);
        let text = |(text, factor): (&str, &Rational)| match factor.is_one() {
            true => text.to_owned(),
            false => format!("(* {} {text})", numeral(factor, sort)),
        };
        monomials.into_iter().map(text).collect()
    }
}

/// The text of the negation of a formula that compares no numbers.
fn negation(text: &str) -> String {
    let inner = text.strip_prefix("(not ").and_then(|inner| inner.strip_suffix(')'));
    inner.map_or_else(|| format!("(not {text})"), str::to_owned)
}

/// The relation with its sides exchanged.
fn mirrored(relation: Relation) -> Relation {
    match relation {
        Relation::Below => Relation::Above,
        Relation::AtMost => Relation::AtLeast,
        Relation::AtLeast => Relation::AtMost,
        Relation::Above => Relation::Below,
        Relation::Equal | Relation::Different => relation,
    }
}

fn numeral(number: &Rational, sort: Sort) -> String {
    let mut text = String::new();
    write_numeral(number, sort, &mut text).expect("a text can be written to");
    text
}

fn joined(op: &str, mut parts: Vec<String>) -> String {
    match parts.len() {
        1 => parts.remove(0),
        _ => format!("({op} {})", parts.join(" ")),
    }
}
