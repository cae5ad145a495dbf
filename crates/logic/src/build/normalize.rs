//! From terms as they are written to normal terms.
//!
//! The walk is depth first with its stack on the heap, and remembers the normal form of each subterm. The
//! builders flatten, so building every link of a chain `((a and b) and c) and ...` would list its beginning
//! again and again. Therefore a chain is built at once: where a term belongs to a *region* of one associative
//! kind, the walk does not stop before the subterms at the rim of the region, and the root is built from them.
//!
//! There are four kinds of regions: conjunctions and disjunctions, seen through negation, implication and `ite`
//! with a constant branch; linear combinations of numbers; those of bit-vectors; and each of the flat bitwise
//! operators. In a region of sums a subterm is worth its coefficient, which is gathered over all paths without
//! walking them (see [`LinearPoly`](crate::LinearPoly)); in the others it suffices to see it once, or how often
//! modulo two. A region of sums ends where a normal form is known already, which changes nothing of the result.
//! Junctions are seen as a whole in any case: what a part absorbs would depend on what was asked before
//! otherwise.
//!
//! That a term is its own normal form is remembered in the store, so that a new normaliser need not find it out
//! again: for normal terms, which is what engines work with, normalising is one look.

use std::borrow::Cow;
use std::ops::AddAssign;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::linear::{Pending, is_linear, linear_leaves};
use crate::number::{Integer, Rational};
use crate::op::Op;
use crate::sort::Sort;
use crate::term::{Term, TermStore};

impl TermStore {
    /// The normal form of a term.
    pub fn normalize(&self, term: Term) -> Term {
        Normalizer::new(self).normalize(term)
    }
}

/// Normalises terms, and remembers what it found.
pub struct Normalizer<'a> {
    store: &'a TermStore,
    cache: FxHashMap<Term, Term>,
}

impl<'a> Normalizer<'a> {
    /// A normaliser that knows nothing yet.
    pub fn new(store: &'a TermStore) -> Self {
        Normalizer { store, cache: FxHashMap::default() }
    }

    /// The normal form of a term.
    pub fn normalize(&mut self, term: Term) -> Term {
        let mut stack: Vec<Frame<'a>> = Vec::new();
        if self.known(term).is_none() {
            stack.push(self.open(term));
        }
        while let Some(frame) = stack.last_mut() {
            let missing = frame.needed[frame.done..].iter().position(|&needed| self.known(needed).is_none());
            match missing {
                Some(position) => {
                    frame.done += position;
                    let needed = frame.needed[frame.done];
                    stack.push(self.open(needed));
                }
                None => {
                    let normal = self.close(frame);
                    if normal == frame.term {
                        self.store.set_known_normal(normal);
                    }
                    self.cache.insert(frame.term, normal);
                    stack.pop();
                }
            }
        }
        self.known(term).expect("it was normalised")
    }

    /// The normal form, if it was found before or is the term itself.
    fn known(&self, term: Term) -> Option<Term> {
        match self.store.op(term) {
            Op::Var(_) | Op::Numeral(_) | Op::BvNumeral(_) | Op::True | Op::False => Some(term),
            _ if self.store.is_known_normal(term) => Some(term),
            _ => self.cache.get(&term).copied(),
        }
    }

    /// Finds the rim of the region that the term is the root of.
    fn open(&self, term: Term) -> Frame<'a> {
        let store = self.store;
        let (op, args) = store.view(term);
        let frame =
            |needed: Vec<Term>, region: Region| Frame { term, region, needed: needed.into(), done: 0 };
        if let Some((kind, parts)) = junction(store, term) {
            let (needed, negated) = self.junction_rim(kind, parts);
            return frame(needed, Region::Junction { kind, negated });
        }
        if is_linear(store, term) {
            let (leaves, constant) = linear_leaves(store, term, |part| self.cache.contains_key(&part));
            let (needed, coefficients) = leaves.into_iter().unzip();
            return frame(needed, Region::Sum { coefficients, constant });
        }
        if store.is_bv_linear(term) {
            let width = store.bv_width(store.sort_of(term)).expect("a sum of bit-vectors is a bit-vector");
            let (leaves, constant) = store
                .bv_leaves(width, Pending::new(term, Integer::ONE), |part| self.cache.contains_key(&part));
            let (needed, coefficients) = leaves.into_iter().unzip();
            return frame(needed, Region::BvSum { coefficients, constant, width });
        }
        match op {
            Op::BvAnd | Op::BvOr => {
                let inner = store.subterms_until(&[term], |t| t != term && store.op(t) != op);
                let rim = inner.into_iter().filter(|&t| store.op(t) != op).collect();
                frame(rim, Region::Bits)
            }
            Op::BvXor => frame(xor_rim(store, term), Region::Bits),
            _ => Frame { term, region: Region::Single, needed: args.into(), done: 0 },
        }
    }

    /// The parts of a conjunction or disjunction that are not such themselves, and which of them are negated.
    fn junction_rim(&self, kind: Op, mut open: Vec<(Term, bool)>) -> (Vec<Term>, Vec<bool>) {
        let mut rim = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<(Term, bool)> = FxHashSet::default();
        open.reverse();
        while let Some((term, negated)) = open.pop() {
            if !seen.insert((term, negated)) {
                continue;
            }
            if let (Op::Not, &[inner]) = self.store.view(term) {
                open.push((inner, !negated));
                continue;
            }
            match junction(self.store, term) {
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
        let store = self.store;
        let normal = frame.needed.iter().map(|&needed| self.known(needed).expect("the rim is normalised"));
        match &frame.region {
            Region::Single => {
                let args: Vec<Term> = normal.collect();
                store.build_sorted(store.op(frame.term), &args)
            }
            Region::Junction { kind, negated } => {
                let literals =
                    normal.zip(negated).map(|(part, &negated)| if negated { store.not(part) } else { part });
                if *kind == Op::And { store.and_of(literals) } else { store.or_of(literals) }
            }
            Region::Sum { coefficients, constant } => {
                let sort = store.sort_of(frame.term);
                let cast = |leaf: Term| match sort {
                    Sort::REAL if store.sort_of(leaf) == Sort::INT => store.to_real(leaf),
                    _ => leaf,
                };
                store.sum_of(sort, normal.map(cast).zip(coefficients), constant.clone())
            }
            Region::BvSum { coefficients, constant, width } => {
                store.bv_sum(*width, normal.zip(coefficients.iter().cloned()), constant.clone())
            }
            Region::Bits => match store.op(frame.term) {
                Op::BvXor if frame.needed.is_empty() => {
                    let width = store.bv_width(store.sort_of(frame.term)).expect("bvxor gives a bit-vector");
                    store.bv(0, width)
                }
                Op::BvXor => store.bv_xor_of(normal),
                op => store.bv_junction(op, normal),
            },
        }
    }
}

/// A term under way.
struct Frame<'a> {
    term: Term,
    region: Region,
    /// The rim of the region: what has to be normalised first.
    needed: Cow<'a, [Term]>,
    /// How many of them are known to be.
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

/// A term as the conjunction or disjunction (the operator tells) of its parts, which may be negated.
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

/// The subterms that occur an odd number of times in a nest of exclusive ors.
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
