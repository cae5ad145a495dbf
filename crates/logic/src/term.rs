//! The term store: one hash-consed, append-only store for the terms of all solvers and all threads.
//!
//! A [`Term`] is a small index that is copied freely. A shared reference to the [`TermStore`] suffices to read and to
//! build terms, and reading takes no lock. Terms are never removed, so a term from one thread is valid in every other.
//!
//! Invariants:
//! - I1 (sharing): two terms with the same operator, arguments and sort are the same index. Equality of terms is
//!   equality of indices.
//! - I2 (sorts): every term is well-sorted; [`app`](TermStore::app) reports a [`SortError`] otherwise.
//! - I3 (order): the arguments of a term have smaller indices than the term. Visiting terms by index visits them
//!   bottom-up, and no term contains itself.
//!
//! There are two ways to build a term. [`app`](TermStore::app) keeps the term as written, `(>= x 1)` stays itself:
//! front ends use it, so that the user's own text is printed, reported and checked. The builders of
//! [`build`](crate::build) normalise, so that equal meaning becomes an equal term if that is cheap: solvers and
//! transformations use them. [`normalize`](TermStore::normalize) turns the first kind into the second.

use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::{FxBuildHasher, FxHasher};
use smallvec::SmallVec;

use crate::datatype::Definitions;
use crate::fold::{Fold, FoldLemma};
use crate::intern::Interner;
use crate::number::{Integer, Rational};
use crate::op::{NumberId, Op};
use crate::sort::{Constructor, ConstructorId, Datatype, DatatypeId, Fun, FunDecl, Sort, SortKind, Symbol};
use crate::typing::SortError;
use crate::word::ListFunctions;

/// A term of a [`TermStore`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term(pub(crate) u32);

impl Term {
    /// `true`, in every store.
    pub const TRUE: Term = Term(0);
    /// `false`, in every store.
    pub const FALSE: Term = Term(1);

    /// The position of the term in its store, for tables indexed by terms.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How much a store has of what a [branch](crate::Branch) may have more of.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) terms: u32,
    pub(crate) sorts: u32,
    pub(crate) funs: u32,
}

/// The contents of a term.
pub(crate) struct Node {
    op: Op,
    sort: Sort,
    content: Content,
    /// The index of its normal form plus one, or zero if that is not cached. Only time depends on it.
    normal: AtomicU32,
    args: SmallVec<[Term; 4]>,
}

impl Clone for Node {
    fn clone(&self) -> Self {
        let normal = AtomicU32::new(self.normal.load(Ordering::Acquire));
        Node { op: self.op, sort: self.sort, content: self.content, normal, args: self.args.clone() }
    }
}

/// The kinds of subterms in a term, stored because traversals ask at every step.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Content {
    /// A quantifier; without one, a traversal can ignore bound variables.
    quantifier: bool,
    /// The application of a declared function of range `Bool`; without one, a formula is a constraint.
    predicate: bool,
    /// Something other than symbols, truth values and numbers under connectives, comparisons, sums, products with a
    /// leading numeral, and casts to reals; without that, a normal formula is directly one of linear arithmetic.
    special: bool,
}

impl Content {
    /// The content of a term, from its operator and its arguments.
    fn of(op: Op, sort: Sort, args: &[Term], is_numeral: impl Fn(Term) -> bool) -> Self {
        let is_basic = matches!(sort, Sort::BOOL | Sort::INT | Sort::REAL)
            && match (op, args) {
                (Op::Var(_) | Op::Numeral(_) | Op::Apply(_), []) => true,
                (Op::True | Op::False | Op::Not | Op::And | Op::Or | Op::Eq | Op::Le | Op::Lt, _) => true,
                (Op::Add | Op::ToReal, _) => true,
                (Op::Mul, &[factor, _]) => is_numeral(factor),
                (Op::Ite, _) => sort == Sort::BOOL,
                _ => false,
            };
        Content {
            quantifier: matches!(op, Op::Forall | Op::Exists),
            predicate: sort == Sort::BOOL && matches!(op, Op::Apply(_)),
            special: !is_basic,
        }
    }

    fn with(self, part: Self) -> Self {
        Content {
            quantifier: self.quantifier || part.quantifier,
            predicate: self.predicate || part.predicate,
            special: self.special || part.special,
        }
    }
}

/// Numerals with fixed indices in every store, after the truth values: most numerals of formulas are among them, and
/// need no lookup.
const COMMON_NUMERALS: RangeInclusive<i64> = -4..=16;

/// The term of a common numeral of sort `Int` or `Real`.
fn common_numeral(sort: Sort, value: i64) -> Option<Term> {
    let (first, last) = (*COMMON_NUMERALS.start(), *COMMON_NUMERALS.end());
    let place = COMMON_NUMERALS.contains(&value).then(|| (value - first) as u32)?;
    let number = (last - first + 1) as u32;
    Some(Term(2 + place + if sort == Sort::REAL { number } else { 0 }))
}

/// A sort with its derived data.
#[derive(Clone)]
struct SortEntry {
    kind: SortKind,
    size: usize,
}

/// A function symbol, with its definition if it is a fold.
#[derive(Clone)]
struct FunEntry {
    decl: FunDecl,
    fold: OnceLock<Box<Fold>>,
}

/// Terms, sorts, names and numbers, shared by all threads. Terms are never removed or changed.
pub struct TermStore {
    nodes: Interner<Node>,
    symbols: Interner<Box<str>>,
    sorts: Interner<SortEntry>,
    funs: Interner<FunEntry>,
    rationals: Interner<Rational>,
    integers: Interner<Integer>,
    pub(crate) datatypes: boxcar::Vec<Datatype>,
    pub(crate) constructors: boxcar::Vec<Constructor>,
    definitions: Mutex<Definitions>,
    /// The Peano datatypes with a number function.
    pub(crate) number_functions: boxcar::Vec<(Sort, Fun)>,
    /// The lists with operations of words.
    pub(crate) list_functions: boxcar::Vec<(Sort, ListFunctions)>,
    /// The claims about folds.
    pub(crate) lemmas: boxcar::Vec<FoldLemma>,
    /// The number of the next fresh name.
    fresh: AtomicU32,
}

impl Default for TermStore {
    fn default() -> Self {
        Self::new()
    }
}

impl TermStore {
    /// A store with the basic sorts and the two truth values.
    pub fn new() -> Self {
        let store = TermStore {
            nodes: Interner::new(),
            symbols: Interner::new(),
            sorts: Interner::new(),
            funs: Interner::new(),
            rationals: Interner::new(),
            integers: Interner::new(),
            datatypes: boxcar::Vec::new(),
            constructors: boxcar::Vec::new(),
            definitions: Mutex::default(),
            number_functions: boxcar::Vec::new(),
            list_functions: boxcar::Vec::new(),
            lemmas: boxcar::Vec::new(),
            fresh: AtomicU32::new(0),
        };
        for (kind, sort) in
            [(SortKind::Bool, Sort::BOOL), (SortKind::Int, Sort::INT), (SortKind::Real, Sort::REAL)]
        {
            assert_eq!(store.sort(kind), sort);
        }
        assert_eq!(store.app(Op::True, &[]), Ok(Term::TRUE));
        assert_eq!(store.app(Op::False, &[]), Ok(Term::FALSE));
        for sort in [Sort::INT, Sort::REAL] {
            for value in COMMON_NUMERALS {
                let term = store.leaf(Op::Numeral(store.rational_id(Rational::from(value))), sort);
                assert_eq!(common_numeral(sort, value), Some(term));
            }
        }
        store
    }

    /// A store with the same contents under the same indices. No other thread may add to this one meanwhile.
    pub(crate) fn copy(&self) -> Self {
        fn all<T: Clone>(values: &boxcar::Vec<T>) -> boxcar::Vec<T> {
            values.iter().map(|(_, value)| value.clone()).collect()
        }
        TermStore {
            nodes: self.nodes.copy(),
            symbols: self.symbols.copy(),
            sorts: self.sorts.copy(),
            funs: self.funs.copy(),
            rationals: self.rationals.copy(),
            integers: self.integers.copy(),
            datatypes: all(&self.datatypes),
            constructors: all(&self.constructors),
            definitions: Mutex::new(self.definitions().clone()),
            number_functions: all(&self.number_functions),
            list_functions: all(&self.list_functions),
            lemmas: all(&self.lemmas),
            fresh: AtomicU32::new(self.fresh.load(Ordering::Relaxed)),
        }
    }

    pub(crate) fn size(&self) -> Size {
        let [terms, sorts, funs] = [self.nodes.len(), self.sorts.len(), self.funs.len()]
            .map(|number| u32::try_from(number).expect("indices are 32 bits wide"));
        Size { terms, sorts, funs }
    }

    // ---- names -------------------------------------------------------------------------------------------

    /// The symbol with this name.
    pub fn symbol(&self, name: &str) -> Symbol {
        Symbol(self.symbols.intern(hash_of(name), |s| **s == *name, || name.into()).0)
    }

    /// The name of a symbol, without quoting bars.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.symbols.get(symbol.0)
    }

    /// A new symbol. Its name starts with `prefix`.
    pub fn fresh_symbol(&self, prefix: &str) -> Symbol {
        loop {
            let name = format!("{prefix}!{}", self.fresh.fetch_add(1, Ordering::Relaxed));
            let (index, new) =
                self.symbols.intern(hash_of(name.as_str()), |s| **s == *name, || name.as_str().into());
            if new {
                return Symbol(index);
            }
        }
    }

    // ---- sorts and declarations --------------------------------------------------------------------------

    /// The sort of this kind.
    pub fn sort(&self, kind: SortKind) -> Sort {
        let entry = || {
            let parts: &[Sort] = match &kind {
                SortKind::Array(index, element) => &[*index, *element],
                SortKind::Uninterpreted(_, params) => params,
                SortKind::Datatype(DatatypeId(id)) => &self.datatypes[*id as usize].params,
                SortKind::Bool | SortKind::Int | SortKind::Real | SortKind::BitVec(_) => &[],
            };
            let size = parts.iter().fold(1, |size: usize, &part| size.saturating_add(self.sort_size(part)));
            SortEntry { kind: kind.clone(), size }
        };
        Sort(self.sorts.intern(hash_of(&kind), |entry| entry.kind == kind, entry).0)
    }

    /// The kind of a sort.
    pub fn sort_kind(&self, sort: Sort) -> &SortKind {
        &self.sorts.get(sort.0).kind
    }

    /// The number of symbols of the sort when printed.
    pub fn sort_size(&self, sort: Sort) -> usize {
        self.sorts.get(sort.0).size
    }

    /// Bit-vectors of this width, which must be positive.
    pub fn bitvec_sort(&self, width: u32) -> Sort {
        self.sort(SortKind::BitVec(width))
    }

    /// Arrays with these index and element sorts.
    pub fn array_sort(&self, index: Sort, element: Sort) -> Sort {
        self.sort(SortKind::Array(index, element))
    }

    /// The width of a bit-vector sort.
    pub fn bv_width(&self, sort: Sort) -> Option<u32> {
        match self.sort_kind(sort) {
            SortKind::BitVec(width) => Some(*width),
            _ => None,
        }
    }

    /// The index and element sorts of an array sort.
    pub fn array_parts(&self, sort: Sort) -> Option<(Sort, Sort)> {
        match self.sort_kind(sort) {
            SortKind::Array(index, element) => Some((*index, *element)),
            _ => None,
        }
    }

    /// The datatype of a sort, if it is one.
    pub fn datatype(&self, sort: Sort) -> Option<&Datatype> {
        match self.sort_kind(sort) {
            SortKind::Datatype(DatatypeId(id)) => Some(&self.datatypes[*id as usize]),
            _ => None,
        }
    }

    /// A constructor's name and fields.
    pub fn constructor(&self, id: ConstructorId) -> &Constructor {
        &self.constructors[id.0 as usize]
    }

    /// The function symbol with this name and these sorts.
    pub fn fun(&self, name: Symbol, domain: &[Sort], range: Sort) -> Fun {
        self.fun_entry(name, domain, range).0
    }

    /// The function symbol with this name and these sorts, if there was none.
    pub(crate) fn new_fun(&self, name: Symbol, domain: &[Sort], range: Sort) -> Option<Fun> {
        let (fun, is_new) = self.fun_entry(name, domain, range);
        is_new.then_some(fun)
    }

    fn fun_entry(&self, name: Symbol, domain: &[Sort], range: Sort) -> (Fun, bool) {
        let decl = FunDecl { name, domain: domain.into(), range };
        let entry = || FunEntry { decl: decl.clone(), fold: OnceLock::new() };
        let (index, is_new) = self.funs.intern(hash_of(&decl), |entry| entry.decl == decl, entry);
        (Fun(index), is_new)
    }

    /// Name and sorts of a function symbol.
    pub fn fun_decl(&self, fun: Fun) -> &FunDecl {
        &self.funs.get(fun.0).decl
    }

    /// The definition of a function symbol, if it is a fold.
    pub(crate) fn fold_of(&self, fun: Fun) -> Option<&Fold> {
        self.funs.get(fun.0).fold.get().map(|fold| &**fold)
    }

    /// Defines a function symbol as a fold.
    pub(crate) fn set_fold(&self, fold: Fold) {
        let entry = self.funs.get(fold.fun.0);
        entry.fold.set(Box::new(fold)).expect("a fold is defined once");
    }

    // ---- reading terms -----------------------------------------------------------------------------------

    /// The operator of a term.
    #[inline]
    pub fn op(&self, term: Term) -> Op {
        self.nodes.get(term.0).op
    }

    /// The arguments of a term.
    #[inline]
    pub fn args(&self, term: Term) -> &[Term] {
        &self.nodes.get(term.0).args
    }

    /// Operator and arguments of a term at once.
    #[inline]
    pub fn view(&self, term: Term) -> (Op, &[Term]) {
        let node = self.nodes.get(term.0);
        (node.op, &node.args)
    }

    /// The sort of a term.
    #[inline]
    pub fn sort_of(&self, term: Term) -> Sort {
        self.nodes.get(term.0).sort
    }

    /// Whether a quantifier occurs in the term.
    #[inline]
    pub fn is_quantified(&self, term: Term) -> bool {
        self.nodes.get(term.0).content.quantifier
    }

    /// Whether a declared function of range `Bool` is applied in the term.
    #[inline]
    pub fn has_predicate(&self, term: Term) -> bool {
        self.nodes.get(term.0).content.predicate
    }

    /// Whether the term consists of symbols, truth values and numbers under connectives, comparisons, sums, products
    /// with a leading numeral, and casts to reals. A term that is not normal may use other operators for these.
    #[inline]
    pub fn is_basic(&self, term: Term) -> bool {
        !self.nodes.get(term.0).content.special
    }

    /// The cached normal form of a term. Variables, numerals and truth values always have one.
    #[inline]
    pub(crate) fn known_normal(&self, term: Term) -> Option<Term> {
        let node = self.nodes.get(term.0);
        // A thread that sees the index also sees the term.
        match node.normal.load(Ordering::Acquire) {
            0 if is_leaf(node.op) => Some(term),
            0 => None,
            known => Some(Term(known - 1)),
        }
    }

    /// Caches the normal form of a term.
    pub(crate) fn set_normal(&self, term: Term, normal: Term) {
        self.nodes.get(term.0).normal.store(normal.0 + 1, Ordering::Release);
    }

    /// Clears the cache of normal forms, so that tests can compute them in another order.
    #[doc(hidden)]
    pub fn forget_normal_forms(&self) {
        self.nodes.iter().for_each(|node| node.normal.store(0, Ordering::Release));
    }

    /// The value of an `Int` or `Real` numeral.
    pub fn numeral(&self, term: Term) -> Option<&Rational> {
        match self.op(term) {
            Op::Numeral(id) => Some(self.rational(id)),
            _ => None,
        }
    }

    /// The value of a bit-vector numeral as a natural number.
    pub fn bv_numeral(&self, term: Term) -> Option<&Integer> {
        match self.op(term) {
            Op::BvNumeral(id) => Some(self.integer(id)),
            _ => None,
        }
    }

    /// The number of an [`Op::Numeral`].
    pub fn rational(&self, id: NumberId) -> &Rational {
        self.rationals.get(id.0)
    }

    /// The number of an [`Op::BvNumeral`] or [`Op::Divisible`].
    pub fn integer(&self, id: NumberId) -> &Integer {
        self.integers.get(id.0)
    }

    /// The number of terms. Every term's index is smaller.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A store is never empty; it contains `true` and `false`.
    pub fn is_empty(&self) -> bool {
        false
    }

    // ---- building terms as written -----------------------------------------------------------------------

    /// The variable with this name and sort. Variables of the same name and different sorts are different.
    pub fn var(&self, name: Symbol, sort: Sort) -> Term {
        self.leaf(Op::Var(name), sort)
    }

    /// `true` or `false`.
    pub fn bool(&self, value: bool) -> Term {
        if value { Term::TRUE } else { Term::FALSE }
    }

    /// The `Int` numeral of any sign.
    pub fn int(&self, value: impl Into<Integer>) -> Term {
        self.numeral_of(Sort::INT, Rational::from(value.into()))
    }

    /// The `Real` numeral of any sign.
    pub fn real(&self, value: impl Into<Rational>) -> Term {
        self.numeral_of(Sort::REAL, value.into())
    }

    /// The numeral of an arithmetic sort.
    ///
    /// # Panics
    ///
    /// If the sort is not arithmetic, or `Int` and the number is not an integer.
    pub fn number(&self, value: &Rational, sort: Sort) -> Term {
        let is_possible = sort == Sort::REAL || sort == Sort::INT && value.is_integer();
        assert!(is_possible, "numerals of Int are integers, and other sorts than Int and Real have none");
        self.numeral_of(sort, value.clone())
    }

    fn numeral_of(&self, sort: Sort, value: Rational) -> Term {
        let common = value.to_i64().and_then(|value| common_numeral(sort, value));
        common.unwrap_or_else(|| self.leaf(Op::Numeral(self.rational_id(value)), sort))
    }

    /// The bit-vector of this width with the value modulo two to the width.
    pub fn bv(&self, value: impl Into<Integer>, width: u32) -> Term {
        let value = value.into().modulo_pow2(width);
        self.leaf(Op::BvNumeral(self.integer_id(value)), self.bitvec_sort(width))
    }

    /// The operator that tests divisibility by a positive number.
    pub fn divisible_op(&self, divisor: Integer) -> Op {
        Op::Divisible(self.integer_id(divisor))
    }

    /// The application of an operator to arguments, as written.
    ///
    /// Variables and numerals have their own builders, because the operator does not determine their sort.
    pub fn app(&self, op: Op, args: &[Term]) -> Result<Term, SortError> {
        let mut hasher = FxHasher::default();
        op.hash(&mut hasher);
        for arg in args {
            hasher.write_u32(arg.0);
        }
        // Operator and arguments determine the sort, so a term that exists needs no check.
        let (index, _) = self.nodes.try_intern(
            hasher.finish(),
            |node| node.op == op && node.args[..] == *args,
            || {
                let sort = self.result_sort(op, args)?;
                let own = Content::of(op, sort, args, |arg| matches!(self.op(arg), Op::Numeral(_)));
                let content =
                    args.iter().fold(own, |content, arg| content.with(self.nodes.get(arg.0).content));
                Ok(Node { op, sort, content, normal: AtomicU32::new(0), args: SmallVec::from_slice(args) })
            },
        )?;
        Ok(Term(index))
    }

    /// The application of a declared function.
    pub fn apply(&self, fun: Fun, args: &[Term]) -> Result<Term, SortError> {
        self.app(Op::Apply(fun), args)
    }

    /// A term without arguments whose operator does not determine its sort.
    fn leaf(&self, op: Op, sort: Sort) -> Term {
        let mut hasher = FxHasher::default();
        op.hash(&mut hasher);
        hasher.write_u32(sort.0);
        let (index, _) = self.nodes.intern(
            hasher.finish(),
            |node| node.op == op && node.sort == sort,
            || Node {
                op,
                sort,
                content: Content::of(op, sort, &[], |_| false),
                normal: AtomicU32::new(0),
                args: SmallVec::new(),
            },
        );
        Term(index)
    }

    fn rational_id(&self, value: Rational) -> NumberId {
        NumberId(self.rationals.intern(hash_of(&value), |v| *v == value, || value.clone()).0)
    }

    fn integer_id(&self, value: Integer) -> NumberId {
        NumberId(self.integers.intern(hash_of(&value), |v| *v == value, || value.clone()).0)
    }

    /// The tables of datatype declarations. A panic under this lock leaves at worst a sort that nobody has seen.
    pub(crate) fn definitions(&self) -> std::sync::MutexGuard<'_, Definitions> {
        self.definitions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a term with this operator is always normal.
fn is_leaf(op: Op) -> bool {
    matches!(op, Op::Var(_) | Op::Numeral(_) | Op::BvNumeral(_) | Op::True | Op::False)
}

fn hash_of(value: impl Hash) -> u64 {
    FxBuildHasher.hash_one(value)
}
