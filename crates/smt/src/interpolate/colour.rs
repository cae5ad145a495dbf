//! Colours: which side can express a term, and the origins of fresh symbols.
//!
//! A symbol (a variable or declared function) belongs to the parts whose formulas mention it. A *cut* assigns some
//! parts to A and the others to B. A side can *express* a term iff it has all symbols of the term. A term that neither
//! side can express is *mixed*. A fresh symbol of the purifier counts as its origin: a side with `x` can express the
//! symbol for `x div 2`, even if only the other side mentioned the quotient.
//!
//! When parts move from B to A, A can express more terms and B fewer. All decisions by colours in this folder move from
//! B to A with the parts. Sequences and trees of interpolants rely on this.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use shofar_logic::{Fun, Op, Term, TermStore};

use super::cuts::{CutSet, Cuts};
use crate::proof::Part;

/// The sides that can express a term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sides {
    /// Whether A has all symbols.
    pub a: bool,
    /// Whether B has all symbols.
    pub b: bool,
}

impl Sides {
    const BOTH: Sides = Sides { a: true, b: true };

    /// Whether both sides can express the term.
    pub fn is_shared(self) -> bool {
        self == Sides::BOTH
    }
}

/// The parts that mention each symbol.
#[derive(Clone, Default, Debug)]
pub struct Vocabulary {
    vars: FxHashMap<Term, BTreeSet<Part>>,
    funs: FxHashMap<Fun, BTreeSet<Part>>,
}

impl Vocabulary {
    /// Records the symbols of a part's formulas.
    pub fn add(&mut self, store: &TermStore, part: Part, formulas: &[Term]) {
        let symbols = store.symbols(formulas);
        for var in symbols.vars {
            self.vars.entry(var).or_default().insert(part);
        }
        for fun in symbols.funs {
            self.funs.entry(fun).or_default().insert(part);
        }
    }
}

/// The origin of each fresh symbol: the term that it stands for.
#[derive(Clone, Default, Debug)]
pub struct Origins(FxHashMap<Term, Term>);

impl Origins {
    /// Takes pairs of a symbol and its origin. Origins may mention symbols of earlier pairs.
    pub fn new(pairs: &[(Term, Term)]) -> Self {
        Origins(pairs.iter().copied().collect())
    }

    /// Whether the term is a fresh symbol.
    pub fn contains(&self, term: Term) -> bool {
        self.0.contains_key(&term)
    }

    /// The children of a term: the origin of a fresh symbol, the arguments of any other term.
    pub(super) fn below<'s>(&'s self, store: &'s TermStore, term: &'s Term) -> &'s [Term] {
        match self.0.get(term) {
            Some(origin) => std::slice::from_ref(origin),
            None => store.args(*term),
        }
    }

    /// Visits a term and all terms below it. `settle` receives a term and its children, and returns whether it is done
    /// with the term. If not, `visit` calls it again after the children.
    fn visit(&self, store: &TermStore, root: Term, mut settle: impl FnMut(Term, &[Term]) -> bool) {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            let below = self.below(store, &term);
            if settle(term, below) {
                stack.pop();
            } else {
                stack.extend_from_slice(below);
            }
        }
    }

    /// The term without fresh symbols, as written. `memo` caches results.
    pub fn expand(&self, store: &TermStore, root: Term, memo: &mut FxHashMap<Term, Term>) -> Term {
        if self.0.is_empty() {
            return root;
        }
        self.visit(store, root, |term, below| {
            if memo.contains_key(&term) {
                return true;
            }
            let Some(images) = below.iter().map(|part| memo.get(part).copied()).collect::<Option<Vec<_>>>()
            else {
                return false;
            };
            let image = match &images[..] {
                [image] if self.contains(term) => *image,
                images if images == store.args(term) => term,
                images => store.app(store.op(term), images).expect("origins have the sorts of their symbols"),
            };
            memo.insert(term, image);
            true
        });
        memo[&root]
    }
}

/// Which side can express a term, at each of several cuts.
pub struct Colours<'p> {
    store: &'p TermStore,
    vocabulary: &'p Vocabulary,
    origins: &'p Origins,
    cuts: &'p Cuts,
    memo: FxHashMap<Term, Speakers>,
}

/// The cuts at which A can express a term, and those at which B can.
#[derive(Clone, Debug)]
pub(super) struct Speakers {
    pub(super) a: CutSet,
    pub(super) b: CutSet,
}

impl Speakers {
    pub(super) fn meet(&mut self, other: &Speakers) {
        self.a.intersect_with(&other.a);
        self.b.intersect_with(&other.b);
    }
}

impl<'p> Colours<'p> {
    /// The colours at these cuts.
    pub fn new(
        store: &'p TermStore,
        vocabulary: &'p Vocabulary,
        origins: &'p Origins,
        cuts: &'p Cuts,
    ) -> Self {
        Colours { store, vocabulary, origins, cuts, memo: FxHashMap::default() }
    }

    /// The sides that can express a term at a cut.
    pub fn at(&mut self, cut: usize, term: Term) -> Sides {
        let Speakers { a, b } = self.of(term);
        Sides { a: a.contains(cut), b: b.contains(cut) }
    }

    /// The cuts at which each side can express a term.
    pub(super) fn of(&mut self, root: Term) -> &Speakers {
        let Colours { store, vocabulary, origins, cuts, memo } = self;
        origins.visit(store, root, |term, below| {
            if memo.contains_key(&term) {
                return true;
            }
            let mut speakers = Speakers { a: cuts.all(), b: cuts.all() };
            for part in below {
                match memo.get(part) {
                    Some(part) => speakers.meet(part),
                    None => return false,
                }
            }
            if !origins.contains(term) {
                let parts = match store.op(term) {
                    Op::Var(_) => Some(vocabulary.vars.get(&term)),
                    Op::Apply(fun) => Some(vocabulary.funs.get(&fun)),
                    _ => None,
                };
                if let Some(parts) = parts {
                    let mut mentioned = Speakers { a: cuts.none(), b: cuts.none() };
                    for &part in parts.into_iter().flatten() {
                        mentioned.a.unite_with(cuts.of_part(part));
                        mentioned.b.unite_with(&cuts.all().without(cuts.of_part(part)));
                    }
                    speakers.meet(&mentioned);
                }
            }
            memo.insert(term, speakers);
            true
        });
        &memo[&root]
    }
}
