//! The comparison: the meaning of terms, by rules that share nothing with the builders of normal terms.
//!
//! The solver turns a formula into an image, and the image into clauses. The image looks very different: the solver
//! normalised the formula, replaced symbols by their definitions, and operators such as `ite` and `div` by fresh
//! symbols. The proof checker must show that the formula entails its image. So each term gets a *meaning* here, a node
//! of a separate graph. Every rule that builds meanings holds in all interpretations, so terms with the same meaning
//! have the same value. If the meanings of two formulas differ, [`entails`](Meanings::entails) tries to derive one from
//! the other by propositional logic. If nothing shows the entailment, it is refused, never guessed.
//!
//! # Meanings
//!
//! A *number* is a polynomial `c1*n1 + ... + ck*nk + c` over nodes. A cast integer is the integer, so there are no
//! casts. A *truth value* is a node or the negation of one. A value of any other sort is a node. The meaning of a
//! [defined](Meanings::define) symbol is that of its definition.
//!
//! Truth values (`formula.rs`); a clause is a negated conjunction, and disjunctions are clauses:
//!
//! - M1: a conjunction is the set of its members, including those of a conjunction among them: `and` is associative,
//!   commutative and idempotent. `true` is never a member; with `false`, or with a member and its negation, it is
//!   `false`.
//! - M2: if `x` is a member of a conjunction, member clauses with `x` are dropped, and other member clauses lose `not
//!   x`.
//! - M3: `ite(c, a, b)` with an affirmed condition `c` and an affirmed first branch: `ite(not c, a, b) = ite(c, b, a)`,
//!   `ite(c, not a, b) = not ite(c, a, not b)`. The matching branch of an inner `ite` on the same condition replaces
//!   it. With equal or opposite branches, or one that is constant, `c` or `not c`, it is a branch, an equivalence, or a
//!   conjunction or disjunction.
//! - M4: `a = b` is the same as `b = a` and as `not a = not b`.
//!
//! Numbers (`number.rs`):
//!
//! - M5: sums, differences, multiples and quotients by numbers other than zero are computed as polynomials.
//! - M6: a product is the product of powers of different polynomials with coprime coefficients, and a number.
//! - M7: with `k > 0`, `x div k = floor(x/k)`, `x div -k = -floor(x/k)`, `x mod k = x mod -k = x - k*floor(x/k)`;
//!   `to_int(x) = floor(x)`, `is_int(x)` is `x = floor(x)`, and `x` is divisible by `k` if `x mod k = 0`. Division by
//!   zero, or by a term that is not a constant, is an uninterpreted function of its arguments.
//! - M8: `floor(n + r) = n + floor(r)` where `n` is an integer; coefficients of integers in `r` are in `(-1/2, 1/2]`.
//! - M9: `floor(p/d + c) = floor(p/d + floor(c*d)/d)` where `p` and `d > 0` are integers.
//! - M10: `floor((floor(u) + j)/k) = floor((u + j)/k)` for integers `j` and `k > 0`.
//! - M11: `u - floor(u)` is in `[0, 1)`, and at most `1 - 1/d` if `d*u` is an integer. If this decides a comparison or
//!   a `floor`, the result is used.
//! - M12: `p <= 0`, `p < 0` and `p = 0` do not change if `p` is multiplied by a positive number, and `p = 0` not by a
//!   negative one either; `p < 0` is `not (-p <= 0)`. If `p` has coprime integer coefficients and integer nodes, `p + c
//!   <= 0` is `p + ceil(c) <= 0`, `p + c < 0` is `p + floor(c) + 1 <= 0`, and `p + c = 0` is false unless `c` is an
//!   integer.
//! - M13: a choice `ite(c, a, b)` of numbers obeys the rules for conditions of M3; choices on `c` in its branches are
//!   replaced by their branches. `|a| = ite(a >= 0, a, -a) = ite(a > 0, a, -a)`, `|a| >= 0`, and `|c*a| = |c|*|a|`. If
//!   comparisons decide the sign of `a`, `|a|` is `a` or `-a`.
//! - M14: if choices have few constants at their leaves (`cases.rs`), a comparison of a number with them is the
//!   disjunction of the comparisons with the values, each under its condition. An equation between a choice and
//!   integers is false if it is false for both branches.
//!
//! Others:
//!
//! - M15: chains `a < b < c` are conjunctions of their links, `distinct` is a conjunction of disequalities, and no
//!   three truth values are pairwise distinct; `xor` is the negation of `=`.
//! - M16: equal functions of equal arguments are equal, for every function and operator. Nothing else is known of
//!   bit-vectors.
//! - M17: a selector of a constructor gives its argument, and a tester says which constructor made a value. The only
//!   constructor of a datatype made all its values, and of two the second one made those that the first did not. Terms
//!   of one constructor are equal if their arguments are, and terms of different ones differ.
//!
//! - M18 (`arrays.rs`): a read of a constant array gives its element. A read skips writes at other indices and gives the
//!   element that was written at its own. A write of the element that is there changes nothing, and it hides those just
//!   before at its index. Constant arrays are equal if their elements are.
//!
//! Quantifiers are refused, because definitions would have to avoid capture.
//!
//! # Walking
//!
//! Terms are traversed as graphs with a stack on the heap, and each gets its meaning once. Nested conjunctions,
//! negations and sums are processed as a whole, as lists of the terms at their rim: their meanings are flat, and the
//! meaning of each part would list everything below it.
//!
//! Meanings need not be unique. The rules are chosen such that the builders' rewriting does not change the meaning of
//! formulas, numbers and functions; `tests` generates terms of all these operators to show it. `entailment.rs` handles
//! choices that are opened otherwise.

mod arrays;
mod cases;
mod entailment;
mod formula;
mod number;

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{ConstructorId, LinearPoly, Op, Sort, Term, TermStore};
use shofar_run::{Limits, Reason};

/// The number of nodes that a new node is compared with, if conditions may differ but be equivalent.
const MOST_CANDIDATES: usize = 64;

/// The index of a node. The parts of a node have smaller indices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Id(u32);

/// A truth value: a node, or the negation of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Truth {
    node: Id,
    negated: bool,
}

impl Truth {
    pub(super) const TRUE: Truth = Truth { node: Id(0), negated: false };
    pub(super) const FALSE: Truth = Truth { node: Id(0), negated: true };

    fn of(is_true: bool) -> Truth {
        if is_true { Truth::TRUE } else { Truth::FALSE }
    }

    fn negated_if(self, negated: bool) -> Truth {
        Truth { negated: self.negated != negated, ..self }
    }
}

impl std::ops::Not for Truth {
    type Output = Truth;

    fn not(self) -> Truth {
        self.negated_if(true)
    }
}

/// A number. It is shared and compared by its contents.
type Sum = LinearPoly<Id>;
type SharedSum = Rc<Sum>;

/// The meaning of a term.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Meaning {
    Truth(Truth),
    Number(SharedSum),
    /// A value of another sort.
    Thing(Id),
}

/// A comparison of a number with zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Relation {
    Equal,
    AtMost,
    Below,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Node {
    True,
    /// A variable, or a function without arguments.
    Symbol(Term),
    /// An uninterpreted operator or function, with the sort of its value.
    Apply(Op, Sort, Box<[Meaning]>),
    /// At least two members, ascending (M1, M2).
    And(Box<[Truth]>),
    /// A choice between truth values (M3); the condition is affirmed.
    Ite(Id, Truth, Truth),
    /// An equality of different truth values, ascending (M4).
    Iff(Id, Id),
    /// A comparison with zero (M12).
    Compare(Relation, SharedSum),
    /// An equality of things, ascending.
    Equal(Id, Id),
    /// A choice between numbers or things; the condition is affirmed.
    Choice(Id, Meaning, Meaning),
    /// The absolute value (M13).
    Abs(SharedSum),
    /// The greatest integer not above it (M7 to M11).
    Floor(SharedSum),
    /// Powers of polynomials, ordered by polynomial (M6).
    Product(Box<[(SharedSum, Integer)]>),
}

/// The meanings of terms.
pub(super) struct Meanings<'s> {
    store: &'s TermStore,
    limits: Limits<'s>,
    /// The reason why a search was interrupted, if one was.
    interruption: Option<Reason>,
    /// Whether something that had to be [shown](Self::shows) was not.
    has_missed: bool,
    nodes: Vec<Rc<Node>>,
    /// By nodes: whether it is an integer in all interpretations. Meaningless for nodes that are not numbers.
    is_integer: Vec<bool>,
    places: FxHashMap<Rc<Node>, Id>,
    /// The definitions of defined symbols.
    defined: FxHashMap<Term, Term>,
    known: FxHashMap<Term, Meaning>,
    /// The choices that have cases.
    cases: FxHashMap<Id, cases::Cases>,
    /// Nodes that existed at [`settle`](Self::settle), by their skeletons.
    settled: FxHashMap<Node, Vec<Id>>,
    /// The number of settled nodes.
    settled_nodes: usize,
}

/// The reason why a term has no meaning.
pub(super) type Refused = String;

impl<'s> Meanings<'s> {
    pub(super) fn new(store: &'s TermStore) -> Self {
        Self::within(store, &Limits::default())
    }

    /// Meanings whose searches keep to limits.
    pub(super) fn within(store: &'s TermStore, limits: &Limits<'s>) -> Self {
        let mut meanings = Meanings {
            store,
            limits: *limits,
            interruption: None,
            has_missed: false,
            nodes: Vec::new(),
            is_integer: Vec::new(),
            places: FxHashMap::default(),
            defined: FxHashMap::default(),
            known: FxHashMap::default(),
            cases: FxHashMap::default(),
            settled: FxHashMap::default(),
            settled_nodes: 0,
        };
        meanings.intern(Node::True, false);
        meanings
    }

    /// The reason why a search was interrupted, if one was: then an entailment may hold although it was not shown.
    pub(super) fn interruption(&self) -> Option<Reason> {
        self.interruption
    }

    /// Whether something that had to be [shown](Self::shows) was not.
    pub(super) fn has_missed(&self) -> bool {
        self.has_missed
    }

    /// Defines a symbol by a term from now on.
    ///
    /// # Errors
    ///
    /// If the symbol already has a meaning: it occurs in a term seen before, or was defined before.
    pub(super) fn define(&mut self, symbol: Term, definition: Term) -> Result<(), Refused> {
        let is_symbol = matches!(self.store.view(symbol), (Op::Var(_) | Op::Apply(_), []));
        if !is_symbol || self.store.sort_of(symbol) != self.store.sort_of(definition) {
            return Err("what is defined is no symbol of this sort".to_owned());
        }
        if self.known.contains_key(&symbol) || self.defined.insert(symbol, definition).is_some() {
            return Err(format!("{} is used before it is defined", self.store.display(symbol)));
        }
        Ok(())
    }

    /// Forgets the meanings of terms, so that other symbols can be defined. Nodes do not change.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// From now on, compares new choices and functions with the existing ones.
    pub(super) fn settle(&mut self) {
        for place in std::mem::replace(&mut self.settled_nodes, self.nodes.len())..self.nodes.len() {
            if let Some((skeleton, _)) = skeleton(&self.nodes[place]) {
                self.settled.entry(skeleton).or_default().push(Id(place as u32));
            }
        }
    }

    /// The meaning of a formula.
    pub(super) fn truth(&mut self, formula: Term) -> Result<Truth, Refused> {
        match self.meaning(formula)? {
            Meaning::Truth(truth) => Ok(truth),
            _ => Err("it is no formula".to_owned()),
        }
    }

    /// The meaning of an equality of two terms.
    pub(super) fn equation(&mut self, a: Term, b: Term) -> Result<Truth, Refused> {
        let (a, b) = (self.meaning(a)?, self.meaning(b)?);
        Ok(self.equal(&a, &b))
    }

    /// The meaning of a term.
    fn meaning(&mut self, term: Term) -> Result<Meaning, Refused> {
        let mut stack: Vec<Frame> = Vec::new();
        let mut under_way: FxHashSet<Term> = FxHashSet::default();
        let mut next = Some(term).filter(|term| !self.known.contains_key(term));
        loop {
            if let Some(term) = next.take() {
                let frame = self.open(term);
                if matches!(frame.region, Region::Defined) && !under_way.insert(term) {
                    return Err(format!("{} is defined by itself", self.store.display(term)));
                }
                stack.push(frame);
            }
            let Some(frame) = stack.last_mut() else { break };
            let rim = &frame.rim[frame.done..];
            match rim.iter().position(|needed| !self.known.contains_key(needed)) {
                Some(position) => {
                    frame.done += position;
                    next = Some(frame.rim[frame.done]);
                }
                None => {
                    let frame = stack.pop().expect("it was seen");
                    let meaning = self.close(&frame)?;
                    self.known.insert(frame.term, meaning);
                }
            }
        }
        Ok(self.known[&term].clone())
    }

    /// The terms whose meanings are needed for the meaning of a term.
    fn open(&self, term: Term) -> Frame {
        let store = self.store;
        let (op, args) = store.view(term);
        let frame = |region: Region, rim: Vec<Term>| Frame { term, region, rim, done: 0 };
        if let Some(&definition) = self.defined.get(&term) {
            return frame(Region::Defined, vec![definition]);
        }
        if op == Op::Not || conjunction(store, term).is_some() {
            let (rim, signs, negated) = self.members(term);
            return frame(Region::And { signs, negated }, rim);
        }
        if store.sort_of(term).is_arithmetic() && matches!(op, Op::Numeral(_)) || is_linear(store, term) {
            let (rim, factors, constant) = self.summands(term);
            return frame(Region::Sum { factors, constant }, rim);
        }
        frame(Region::Single, args.to_vec())
    }

    /// The members of nested conjunctions and negations, whether each is negated, and whether the whole is.
    fn members(&self, term: Term) -> (Vec<Term>, Vec<bool>, bool) {
        let store = self.store;
        let without_sign = |mut term: Term, mut negated: bool| {
            while let (Op::Not, &[inner]) = store.view(term) {
                (term, negated) = (inner, !negated);
            }
            (term, negated)
        };
        let (root, is_negated) = without_sign(term, false);
        // The root is a conjunction, a negated one, or neither; in the last case it is the only member.
        let is_clause = conjunction(store, root).map_or(is_negated, |(is_clause, _)| is_clause != is_negated);
        let mut open = vec![(root, is_negated != is_clause)];
        let (mut rim, mut signs) = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<(Term, bool)> = FxHashSet::default();
        while let Some((term, negated)) = open.pop() {
            let (term, negated) = without_sign(term, negated);
            if !seen.insert((term, negated)) {
                continue;
            }
            match conjunction(store, term) {
                Some((is_clause, members)) if is_clause == negated && !self.known.contains_key(&term) => {
                    open.extend(members);
                }
                _ => {
                    rim.push(term);
                    signs.push(negated);
                }
            }
        }
        (rim, signs, is_clause)
    }

    /// A number as a linear combination: its terms with their factors, and the constant. Factors are summed over all
    /// paths to a term, from larger term indices to smaller ones.
    fn summands(&self, term: Term) -> (Vec<Term>, Vec<Rational>, Rational) {
        let store = self.store;
        let mut open: BTreeMap<Term, Rational> = BTreeMap::from([(term, Rational::ONE)]);
        let (mut rim, mut factors, mut constant) = (Vec::new(), Vec::new(), Rational::ZERO);
        while let Some((term, factor)) = open.pop_last() {
            let mut add = |arg: Term, factor: Rational| *open.entry(arg).or_default() += factor;
            if factor.is_zero() {
                continue;
            }
            match store.view(term) {
                (Op::Numeral(id), _) => constant.add_mul(&factor, store.rational(id)),
                _ if self.known.contains_key(&term) || !is_linear(store, term) => {
                    rim.push(term);
                    factors.push(factor);
                }
                (Op::Sub, [first, others @ ..]) => {
                    add(*first, factor.clone());
                    others.iter().for_each(|&arg| add(arg, -&factor));
                }
                (Op::Neg, &[arg]) => add(arg, -factor),
                (Op::Mul, &[a, b]) => match store.numeral(a) {
                    Some(number) => add(b, number * &factor),
                    None => add(a, store.numeral(b).expect("a factor is a number") * &factor),
                },
                (_, args) => args.iter().for_each(|&arg| add(arg, factor.clone())),
            }
        }
        (rim, factors, constant)
    }

    /// The meaning of a term whose rim has meanings.
    fn close(&mut self, frame: &Frame) -> Result<Meaning, Refused> {
        let rim: Vec<Meaning> = frame.rim.iter().map(|needed| self.known[needed].clone()).collect();
        Ok(match &frame.region {
            Region::Defined => rim[0].clone(),
            Region::And { signs, negated } => {
                let members =
                    std::iter::zip(rim, signs).map(|(member, &sign)| member.truth().negated_if(sign));
                Meaning::Truth(self.and(members.collect()).negated_if(*negated))
            }
            Region::Sum { factors, constant } => {
                let mut sum = Sum::from_constant(constant.clone());
                std::iter::zip(&rim, factors).for_each(|(it, factor)| sum.add_scaled(it.number(), factor));
                Meaning::Number(Rc::new(sum))
            }
            Region::Single => return self.apply(frame.term, rim),
        })
    }

    /// An operator applied to arguments with these meanings.
    fn apply(&mut self, term: Term, args: Vec<Meaning>) -> Result<Meaning, Refused> {
        let op = self.store.op(term);
        let number = |sum: Sum| Ok(Meaning::Number(Rc::new(sum)));
        let truth = |truth: Truth| Ok(Meaning::Truth(truth));
        match (op, &args[..]) {
            (Op::Forall | Op::Exists, _) => Err("there are quantifiers".to_owned()),
            (Op::True, _) => truth(Truth::TRUE),
            (Op::False, _) => truth(Truth::FALSE),
            (Op::Xor, [first, others @ ..]) => {
                let xor = |a: Truth, b: &Meaning| !self.iff(a, b.truth());
                truth(others.iter().fold(first.truth(), xor))
            }
            (Op::Eq, _) => truth(self.links(&args, |it, a, b| it.equal(a, b))),
            (Op::Le, _) => truth(self.links(&args, |it, a, b| it.difference(Relation::AtMost, a, b))),
            (Op::Lt, _) => truth(self.links(&args, |it, a, b| it.difference(Relation::Below, a, b))),
            (Op::Ge, _) => truth(self.links(&args, |it, a, b| it.difference(Relation::AtMost, b, a))),
            (Op::Gt, _) => truth(self.links(&args, |it, a, b| it.difference(Relation::Below, b, a))),
            (Op::Distinct, [Meaning::Truth(_), _, _, ..]) => truth(Truth::FALSE),
            (Op::Distinct, _) => {
                let pairs =
                    args.iter().enumerate().flat_map(|(i, a)| args[i + 1..].iter().map(move |b| (a, b)));
                let distinct = pairs.map(|(a, b)| !self.equal(a, b)).collect();
                truth(self.and(distinct))
            }
            (Op::Ite, [condition, a, b]) => Ok(self.choice(condition.truth(), a, b)),
            (Op::Mul, _) => number(self.product(&args)),
            (Op::RealDiv | Op::IntDiv, [first, others @ ..]) => Ok(others
                .iter()
                .fold(first.clone(), |quotient, divisor| self.quotient(op, quotient, divisor))),
            (Op::Mod, [dividend, divisor]) => match divisor.as_nonzero() {
                Some(divisor) => number(self.remainder(dividend.number(), &divisor.abs())),
                None => Ok(self.opaque(op, Sort::INT, args)),
            },
            (Op::Abs, [a]) => number(self.abs(a.number())),
            (Op::ToInt, [a]) => number(self.floor(a.number().clone())),
            (Op::IsInt, [a]) => {
                let floor = self.floor(a.number().clone());
                truth(self.compare(Relation::Equal, floor - a.number()))
            }
            (Op::Divisible(divisor), [a]) => {
                let divisor = Rational::from(self.store.integer(divisor).clone());
                let remainder = self.remainder(a.number(), &divisor);
                truth(self.compare(Relation::Equal, remainder))
            }
            (Op::Selector { constructor, field }, [Meaning::Thing(value)]) => {
                if let Some((made_by, fields)) = self.made(*value)
                    && made_by == constructor
                {
                    return Ok(fields[field as usize].clone());
                }
                Ok(self.opaque(op, self.store.sort_of(term), args))
            }
            (Op::Tester(constructor), [Meaning::Thing(value)]) => truth(self.tester(constructor, *value)),
            (Op::Select, [Meaning::Thing(array), index]) => {
                Ok(self.element(*array, index, self.store.sort_of(term)))
            }
            (Op::Store, [Meaning::Thing(array), index, element]) => {
                Ok(self.written(*array, index, element, self.store.sort_of(term)))
            }
            (Op::Var(_) | Op::Apply(_), []) => {
                let sort = self.store.sort_of(term);
                let node = self.intern(Node::Symbol(term), sort == Sort::INT);
                Ok(of_sort(node, sort))
            }
            _ => Ok(self.opaque(op, self.store.sort_of(term), args)),
        }
    }

    /// An uninterpreted function (M16).
    fn opaque(&mut self, op: Op, sort: Sort, args: Vec<Meaning>) -> Meaning {
        let node = self.intern_like(Node::Apply(op, sort, args.into()), sort == Sort::INT);
        of_sort(node, sort)
    }

    /// As [`intern`](Self::intern), or a settled node that differs only in conditions and arguments, if these can be
    /// shown to be equal (M3, M13, M16). The search runs only if the identical node does not exist, and over few
    /// candidates: most nodes that recur have not changed.
    fn intern_like(&mut self, node: Node, is_integer: bool) -> Id {
        if self.settled.is_empty() || self.places.contains_key(&node) {
            return self.intern(node, is_integer);
        }
        self.settled_like(&node).unwrap_or_else(|| self.intern(node, is_integer))
    }

    fn settled_like(&mut self, node: &Node) -> Option<Id> {
        let mut readings = vec![skeleton(node)];
        if let Node::Choice(condition, a, b) = node {
            let condition = Meaning::Truth(Truth { node: *condition, negated: true });
            readings.push(Some((Node::Choice(Truth::TRUE.node, b.clone(), a.clone()), vec![condition])));
        }
        for (skeleton_of, args) in readings.into_iter().flatten() {
            let candidates = self.settled.get(&skeleton_of).map_or(&[][..], Vec::as_slice);
            let candidates: Vec<Id> = candidates.iter().rev().take(MOST_CANDIDATES).copied().collect();
            for id in candidates {
                let others = skeleton(self.node(id)).map(|(_, others)| others).unwrap_or_default();
                let is_same = |(a, b)| self.is_same(a, b);
                if args.len() == others.len() && std::iter::zip(&args, &others).all(is_same) {
                    return Some(id);
                }
            }
        }
        None
    }

    /// Whether meanings of one sort can be shown to be equal.
    fn is_same(&mut self, a: &Meaning, b: &Meaning) -> bool {
        if let (Meaning::Truth(a), Meaning::Truth(b)) = (a, b) {
            return self.entails(*a, *b) && self.entails(*b, *a);
        }
        let equation = self.equal(a, b);
        // Without choices there is nothing to show.
        let node = Rc::clone(self.node(equation.node));
        let is_open = match &*node {
            Node::Compare(..) | Node::Equal(..) => self.outermost_choice(&node).is_some(),
            _ => true,
        };
        is_open && self.entails(Truth::TRUE, equation)
    }

    /// A chain (M15).
    fn links(&mut self, args: &[Meaning], link: impl Fn(&mut Self, &Meaning, &Meaning) -> Truth) -> Truth {
        let links = args.windows(2).map(|pair| link(self, &pair[0], &pair[1])).collect();
        self.and(links)
    }

    /// The constructor and the fields of a node that is made by one.
    fn made(&self, node: Id) -> Option<(ConstructorId, &[Meaning])> {
        match &**self.node(node) {
            Node::Apply(Op::Construct(constructor), _, fields) => Some((*constructor, fields)),
            _ => None,
        }
    }

    /// Whether the constructor made the value (M17).
    fn tester(&mut self, constructor: ConstructorId, value: Id) -> Truth {
        if let Some((made_by, _)) = self.made(value) {
            return Truth::of(made_by == constructor);
        }
        let sort = self.store.constructor(constructor).sort;
        let constructors = self.store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
        let (tested, negated) = match *constructors {
            [_] => return Truth::TRUE,
            [first, second] if second == constructor => (first, true),
            _ => (constructor, false),
        };
        let tester = self.opaque(Op::Tester(tested), Sort::BOOL, vec![Meaning::Thing(value)]);
        tester.truth().negated_if(negated)
    }

    /// The equality of things (M17, M18).
    fn same(&mut self, a: Id, b: Id) -> Truth {
        let mut members = Vec::new();
        let mut seen: FxHashSet<(Id, Id)> = FxHashSet::default();
        let mut open = vec![(a, b)];
        while let Some((a, b)) = open.pop() {
            if a == b || !seen.insert((a, b)) {
                continue;
            }
            let fields = match (self.made(a), self.made(b)) {
                (Some((c, _)), Some((d, _))) if c != d => return Truth::FALSE,
                (Some((_, a)), Some((_, b))) => Some((a.to_vec(), b.to_vec())),
                _ => None,
            };
            if let (Some(left), Some(right)) = (self.constant_element(a), self.constant_element(b)) {
                match (left, right) {
                    (Meaning::Thing(a), Meaning::Thing(b)) => open.push((a, b)),
                    (left, right) => members.push(self.equal(&left, &right)),
                }
                continue;
            }
            let Some((left, right)) = fields else {
                members.push(self.truth_of(Node::Equal(a.min(b), a.max(b))));
                continue;
            };
            for pair in std::iter::zip(&left, &right) {
                match pair {
                    (Meaning::Thing(a), Meaning::Thing(b)) => open.push((*a, *b)),
                    (a, b) => members.push(self.equal(a, b)),
                }
            }
        }
        match members[..] {
            [only] => only,
            _ => self.and(members),
        }
    }

    fn equal(&mut self, a: &Meaning, b: &Meaning) -> Truth {
        match (a, b) {
            (Meaning::Truth(a), Meaning::Truth(b)) => self.iff(*a, *b),
            (Meaning::Number(_), _) => self.difference(Relation::Equal, a, b),
            (Meaning::Thing(a), Meaning::Thing(b)) => self.same(*a, *b),
            _ => unreachable!("equality is between terms of one sort"),
        }
    }

    fn difference(&mut self, relation: Relation, a: &Meaning, b: &Meaning) -> Truth {
        self.compare(relation, a.number().clone() - b.number())
    }

    fn truth_of(&mut self, node: Node) -> Truth {
        Truth { node: self.intern(node, false), negated: false }
    }

    /// The node with these contents. Equal contents give the same node.
    fn intern(&mut self, node: Node, is_integer: bool) -> Id {
        if let Some(&id) = self.places.get(&node) {
            return id;
        }
        let id = Id(u32::try_from(self.nodes.len()).expect("there are fewer nodes than terms"));
        let node = Rc::new(node);
        self.nodes.push(Rc::clone(&node));
        self.is_integer.push(is_integer);
        self.places.insert(node, id);
        id
    }

    fn node(&self, Id(place): Id) -> &Rc<Node> {
        &self.nodes[place as usize]
    }
}

impl Meaning {
    fn truth(&self) -> Truth {
        match self {
            Meaning::Truth(truth) => *truth,
            _ => unreachable!("terms are well-sorted"),
        }
    }

    fn number(&self) -> &Sum {
        match self {
            Meaning::Number(sum) => sum,
            _ => unreachable!("terms are well-sorted"),
        }
    }

    /// The nonzero constant that the number equals in all interpretations, if it does.
    fn as_nonzero(&self) -> Option<&Rational> {
        let sum = self.number();
        Some(sum.constant()).filter(|constant| sum.is_constant() && !constant.is_zero())
    }
}

/// The meaning of a single node.
fn of_sort(node: Id, sort: Sort) -> Meaning {
    match sort {
        Sort::BOOL => Meaning::Truth(Truth { node, negated: false }),
        _ if sort.is_arithmetic() => Meaning::Number(Rc::new(single(node))),
        _ => Meaning::Thing(node),
    }
}

/// A choice without its condition, or a function without its arguments, and the parts removed.
fn skeleton(node: &Node) -> Option<(Node, Vec<Meaning>)> {
    match node {
        Node::Choice(condition, a, b) => {
            let condition = Meaning::Truth(Truth { node: *condition, negated: false });
            Some((Node::Choice(Truth::TRUE.node, a.clone(), b.clone()), vec![condition]))
        }
        Node::Apply(op, sort, args) => Some((Node::Apply(*op, *sort, Box::default()), args.to_vec())),
        Node::Floor(sum) => Some((Node::Floor(SharedSum::default()), vec![Meaning::Number(Rc::clone(sum))])),
        _ => None,
    }
}

/// The number of a single node.
fn single(node: Id) -> Sum {
    Sum::from_pairs(vec![(node, Rational::ONE)], Rational::ZERO)
}

/// A term under traversal.
struct Frame {
    term: Term,
    region: Region,
    /// The terms whose meanings come first.
    rim: Vec<Term>,
    /// How many of these have meanings.
    done: usize,
}

/// How the meaning of a term is built from those of its rim.
enum Region {
    /// A symbol defined by the rim.
    Defined,
    /// The conjunction of the rim, negated where the signs say so, or its negation.
    And { signs: Vec<bool>, negated: bool },
    /// A linear combination of the rim.
    Sum { factors: Vec<Rational>, constant: Rational },
    /// An operator applied to the rim.
    Single,
}

/// A formula as a conjunction of members, each possibly negated, or as the negation of one (the first component).
fn conjunction(store: &TermStore, term: Term) -> Option<(bool, Vec<(Term, bool)>)> {
    let all = |args: &[Term], negated: bool| args.iter().map(|&arg| (arg, negated)).collect::<Vec<_>>();
    match store.view(term) {
        (Op::And, args) => Some((false, all(args, false))),
        (Op::Or, args) => Some((true, all(args, true))),
        (Op::Implies, [premises @ .., conclusion]) => {
            Some((true, [all(premises, false), vec![(*conclusion, true)]].concat()))
        }
        _ => None,
    }
}

/// Whether a number is a linear combination of its arguments.
fn is_linear(store: &TermStore, term: Term) -> bool {
    match store.view(term) {
        (Op::Add | Op::Sub | Op::Neg | Op::ToReal, _) => true,
        (Op::Mul, args) => args.len() == 2 && args.iter().any(|&arg| store.numeral(arg).is_some()),
        _ => false,
    }
}
