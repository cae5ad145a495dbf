//! Normalises terms as written.
//!
//! The traversal is depth first with its stack on the heap. The store caches the normal form of each subterm, so
//! nothing is normalised twice for any caller: the clause graph, engines, and the checker all normalise clauses. The
//! builders flatten, so building every link of a chain `((a and b) and c) and ...` would list its beginning again and
//! again. Therefore a chain is built at once: if a term belongs to a *region* of one associative kind, the traversal
//! continues to the subterms at the rim of the region, and the root is built from them.
//!
//! There are four kinds of regions: conjunctions and disjunctions, seen through negation, implication and `ite` with a
//! constant branch; linear combinations of numbers; those of bit-vectors; and each of the flat bitwise operators. In a
//! region of sums a subterm has a coefficient, which is summed over all paths without walking them (see
//! [`LinearPoly`](crate::LinearPoly)). In the others one visit suffices, or the number of occurrences modulo two. A
//! region of sums ends where a normal form is already cached, which does not change the result. Junctions are always
//! processed as a whole: otherwise absorption would depend on earlier calls.

use std::borrow::Cow;
use std::ops::AddAssign;

use rustc_hash::FxHashSet;

use crate::linear::{Pending, is_linear, linear_leaves};
use crate::number::{Integer, Rational};
use crate::op::Op;
use crate::sort::Sort;
use crate::term::{Term, TermStore};

impl TermStore {
    /// The normal form of a term.
    pub fn normalize(&self, term: Term) -> Term {
        if let Some(normal) = self.known_normal(term) {
            return normal;
        }
        let mut stack: Vec<Frame<'_>> = vec![self.open(term)];
        while let Some(frame) = stack.last_mut() {
            let missing =
                frame.needed[frame.done..].iter().position(|&needed| self.known_normal(needed).is_none());
            match missing {
                Some(position) => {
                    frame.done += position;
                    let needed = frame.needed[frame.done];
                    stack.push(self.open(needed));
                }
                None => {
                    self.set_normal(frame.term, self.close(frame));
                    stack.pop();
                }
            }
        }
        self.known_normal(term).expect("it was normalised")
    }

    /// Finds the rim of the region whose root is the term.
    fn open(&self, term: Term) -> Frame<'_> {
        let (op, args) = self.view(term);
        // Leaves have their own coefficients.
        let is_known = |part: Term| !self.args(part).is_empty() && self.known_normal(part).is_some();
        let frame =
            |needed: Vec<Term>, region: Region| Frame { term, region, needed: needed.into(), done: 0 };
        if let Some((kind, parts)) = junction(self, term) {
            let (needed, negated) = self.junction_rim(kind, parts);
            return frame(needed, Region::Junction { kind, negated });
        }
        if is_linear(self, term) {
            let (leaves, constant) = linear_leaves(self, term, is_known);
            let (needed, coefficients) = leaves.into_iter().unzip();
            return frame(needed, Region::Sum { coefficients, constant });
        }
        if self.is_bv_linear(term) {
            let width = self.bv_width(self.sort_of(term)).expect("a sum of bit-vectors is a bit-vector");
            let (leaves, constant) = self.bv_leaves(width, Pending::new(term, Integer::ONE), is_known);
            let (needed, coefficients) = leaves.into_iter().unzip();
            return frame(needed, Region::BvSum { coefficients, constant, width });
        }
        match op {
            Op::BvAnd | Op::BvOr => {
                let inner = self.subterms_until(&[term], |t| t != term && self.op(t) != op);
                let rim = inner.into_iter().filter(|&t| self.op(t) != op).collect();
                frame(rim, Region::Bits)
            }
            Op::BvXor => frame(xor_rim(self, term), Region::Bits),
            _ => Frame { term, region: Region::Single, needed: args.into(), done: 0 },
        }
    }

    /// The parts of a conjunction or disjunction that are not of its kind, and which of them are negated.
    fn junction_rim(&self, kind: Op, mut open: Vec<(Term, bool)>) -> (Vec<Term>, Vec<bool>) {
        let mut rim = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<(Term, bool)> = FxHashSet::default();
        open.reverse();
        while let Some((term, negated)) = open.pop() {
            if !seen.insert((term, negated)) {
                continue;
            }
            if let (Op::Not, &[inner]) = self.view(term) {
                open.push((inner, !negated));
                continue;
            }
            match junction(self, term) {
                Some((inner_kind, parts)) if (inner_kind == kind) != negated => {
                    open.extend(parts.into_iter().rev().map(|(part, below)| (part, below != negated)));
                }
                _ => {
                    rim.0.push(term);
                    rim.1.push(negated);
                }
            }
        }
        rim
    }

    /// Builds the root of a region whose rim is normalised.
    fn close(&self, frame: &Frame<'_>) -> Term {
        let normal =
            frame.needed.iter().map(|&needed| self.known_normal(needed).expect("the rim is normalised"));
        match &frame.region {
            Region::Single => {
                let args: Vec<Term> = normal.collect();
                self.build_sorted(self.op(frame.term), &args)
            }
            Region::Junction { kind, negated } => {
                let literals =
                    normal.zip(negated).map(|(part, &negated)| if negated { self.not(part) } else { part });
                if *kind == Op::And { self.and_of(literals) } else { self.or_of(literals) }
            }
            Region::Sum { coefficients, constant } => {
                let sort = self.sort_of(frame.term);
                let cast = |leaf: Term| match sort {
                    Sort::REAL if self.sort_of(leaf) == Sort::INT => self.to_real(leaf),
                    _ => leaf,
                };
                self.sum_of(sort, normal.map(cast).zip(coefficients), constant.clone())
            }
            Region::BvSum { coefficients, constant, width } => {
                self.bv_sum(*width, normal.zip(coefficients.iter().cloned()), constant.clone())
            }
            Region::Bits => match self.op(frame.term) {
                Op::BvXor if frame.needed.is_empty() => {
                    let width = self.bv_width(self.sort_of(frame.term)).expect("bvxor gives a bit-vector");
                    self.bv(0, width)
                }
                Op::BvXor => self.bv_xor_of(normal),
                op => self.bv_junction(op, normal),
            },
        }
    }
}

/// A term being normalised.
struct Frame<'a> {
    term: Term,
    region: Region,
    /// The rim of the region: the terms to normalise first.
    needed: Cow<'a, [Term]>,
    /// How many of them are known to be normalised.
    done: usize,
}

/// How the root of a region is built from the rim.
enum Region {
    /// By its operator; the rim is its arguments.
    Single,
    /// By `And` or `Or`; the flags tell which parts are negated.
    Junction { kind: Op, negated: Vec<bool> },
    /// As a linear combination of numbers.
    Sum { coefficients: Vec<Rational>, constant: Rational },
    /// As a linear combination of bit-vectors.
    BvSum { coefficients: Vec<Integer>, constant: Integer, width: u32 },
    /// By its bitwise operator.
    Bits,
}

/// A term as the conjunction or disjunction (by the operator) of its parts, which may be negated.
fn junction(store: &TermStore, term: Term) -> Option<(Op, Vec<(Term, bool)>)> {
    match store.view(term) {
        (op @ (Op::And | Op::Or), args) => Some((op, args.iter().map(|&arg| (arg, false)).collect())),
        (Op::Implies, [premises @ .., conclusion]) => {
            let premises = premises.iter().map(|&premise| (premise, true));
            Some((Op::Or, premises.chain([(*conclusion, false)]).collect()))
        }
        (Op::Ite, &[condition, Term::TRUE, other]) => {
            Some((Op::Or, vec![(condition, false), (other, false)]))
        }
        (Op::Ite, &[condition, Term::FALSE, other]) => {
            Some((Op::And, vec![(condition, true), (other, false)]))
        }
        (Op::Ite, &[condition, then, Term::TRUE]) => Some((Op::Or, vec![(condition, true), (then, false)])),
        (Op::Ite, &[condition, then, Term::FALSE]) => {
            Some((Op::And, vec![(condition, false), (then, false)]))
        }
        _ => None,
    }
}

/// How often a term occurs in an exclusive or, modulo two.
struct Parity(bool);

impl AddAssign for Parity {
    fn add_assign(&mut self, other: Parity) {
        self.0 = self.0 != other.0;
    }
}

/// The subterms that occur an odd number of times in nested exclusive ors.
fn xor_rim(store: &TermStore, term: Term) -> Vec<Term> {
    let mut rim = Vec::new();
    let mut pending = Pending::new(term, Parity(true));
    while let Some((term, Parity(odd))) = pending.pop() {
        match store.view(term) {
            _ if !odd => {}
            (Op::BvXor, args) => args.iter().for_each(|&arg| pending.push(arg, Parity(true))),
            _ => rim.push(term),
        }
    }
    rim
}
