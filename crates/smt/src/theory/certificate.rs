//! What theories remember of their arguments, so that proofs can tell them.
//!
//! A conflict, an explanation or a lemma is made of what the kernels know at that moment, and cannot be made again later.
//! If proofs are wanted, each theory stores its argument here when it makes it, in flat tables, and gives the search
//! its number as the [`Certificate`]. What the numbers of kernels mean in terms is found out when a proof is asked for.

use shofar_logic::number::Rational;

use super::arith;
use super::euf::Node;
use crate::sat::{Certificate, Lit};

/// The certificate for the sum of all literals of a conflict, each with the coefficient one. It needs no entry.
pub const PLAIN_SUM: Certificate = Certificate(0);

/// The certificate for a clause that compares one form with numbers. It needs no entry.
pub const ORDER: Certificate = Certificate(1);

/// Certificates that need no entry.
const WITHOUT_ENTRY: u32 = 2;

/// An argument of arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArithmeticArgument<'a> {
    /// All literals of the conflict, added up.
    PlainSum,
    /// The literals, each with its positive coefficient.
    Sum(&'a [(Lit, Rational)]),
    /// A form that is an integer, but confined to an interval without one.
    Integer(&'a [Confined]),
    /// The literals compare one form with numbers, and no number satisfies all of them.
    Order,
}

/// A multiple of a number in a form that is an integer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Confined {
    /// The number.
    pub var: arith::Var,
    /// Its multiplier.
    pub multiplier: Rational,
    /// The literals of its lower and of its upper bound.
    pub bounds: [Lit; 2],
}

/// The arguments of arithmetic. Nothing is stored unless this is switched on.
#[derive(Default)]
pub(super) struct ArithmeticArguments {
    is_on: bool,
    entries: Vec<Entry>,
    sums: Vec<(Lit, Rational)>,
    forms: Vec<Confined>,
}

/// The end of an argument in its table; it begins where the one before it ends.
#[derive(Clone, Copy)]
enum Entry {
    Sum { start: usize, end: usize },
    Integer { start: usize, end: usize },
}

impl ArithmeticArguments {
    pub(super) fn switch_on(&mut self) {
        self.is_on = true;
    }

    /// Whether arguments are stored.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(super) fn add_sum(&mut self, terms: impl Iterator<Item = (Lit, Rational)>) -> Certificate {
        if !self.is_on {
            return PLAIN_SUM;
        }
        let start = self.sums.len();
        self.sums.extend(terms);
        if self.sums[start..].iter().all(|(_, coefficient)| coefficient.is_one()) {
            self.sums.truncate(start);
            return PLAIN_SUM;
        }
        self.add(Entry::Sum { start, end: self.sums.len() })
    }

    pub(super) fn add_form(&mut self, terms: impl Iterator<Item = Confined>) -> Certificate {
        if !self.is_on {
            return PLAIN_SUM;
        }
        let start = self.forms.len();
        self.forms.extend(terms);
        self.add(Entry::Integer { start, end: self.forms.len() })
    }

    fn add(&mut self, entry: Entry) -> Certificate {
        self.entries.push(entry);
        Certificate(self.entries.len() as u32 - 1 + WITHOUT_ENTRY)
    }

    pub(super) fn get(&self, certificate: Certificate) -> ArithmeticArgument<'_> {
        match certificate.0.checked_sub(WITHOUT_ENTRY).map(|index| self.entries[index as usize]) {
            None if certificate == ORDER => ArithmeticArgument::Order,
            None => ArithmeticArgument::PlainSum,
            Some(Entry::Sum { start, end }) => ArithmeticArgument::Sum(&self.sums[start..end]),
            Some(Entry::Integer { start, end }) => ArithmeticArgument::Integer(&self.forms[start..end]),
        }
    }

    /// Forgets all but the given ones, which ascend, and changes their numbers.
    pub(super) fn retain(&mut self, kept: &mut [Certificate]) {
        let old = std::mem::take(self);
        self.is_on = old.is_on;
        for certificate in kept {
            *certificate = match old.get(*certificate) {
                ArithmeticArgument::PlainSum => PLAIN_SUM,
                ArithmeticArgument::Order => ORDER,
                ArithmeticArgument::Sum(terms) => self.add_sum(terms.iter().cloned()),
                ArithmeticArgument::Integer(terms) => self.add_form(terms.iter().cloned()),
            };
        }
    }
}

/// An argument of congruence: edges that connect two nodes which differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CongruenceArgument<'a> {
    /// The edges, those that a congruence rests on before it.
    pub edges: &'a [EqualNodes],
    /// Two nodes that the edges connect.
    pub apart: (Node, Node),
    /// The literal that says that they differ; none if they are different values.
    pub distinct: Option<Lit>,
}

/// An equality in an argument of congruence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EqualNodes {
    /// The left side.
    pub left: Node,
    /// The right side.
    pub right: Node,
    /// The literal that says it; none if both are applications of one function to equal arguments.
    pub literal: Option<Lit>,
}

/// The arguments of congruence. Nothing is stored unless this is switched on.
#[derive(Default)]
pub(super) struct CongruenceArguments {
    is_on: bool,
    entries: Vec<CongruenceEntry>,
    edges: Vec<EqualNodes>,
}

#[derive(Clone, Copy)]
struct CongruenceEntry {
    start: usize,
    end: usize,
    apart: (Node, Node),
    distinct: Option<Lit>,
}

impl CongruenceArguments {
    pub(super) fn switch_on(&mut self) {
        self.is_on = true;
    }

    /// Whether arguments are stored. If not, there is no need to make them.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(super) fn add(
        &mut self,
        edges: impl Iterator<Item = EqualNodes>,
        apart: (Node, Node),
        distinct: Option<Lit>,
    ) -> Certificate {
        let start = self.edges.len();
        self.edges.extend(edges);
        self.entries.push(CongruenceEntry { start, end: self.edges.len(), apart, distinct });
        Certificate(self.entries.len() as u32 - 1)
    }

    pub(super) fn get(&self, Certificate(number): Certificate) -> CongruenceArgument<'_> {
        let CongruenceEntry { start, end, apart, distinct } = self.entries[number as usize];
        CongruenceArgument { edges: &self.edges[start..end], apart, distinct }
    }

    /// Forgets all but the given ones, which ascend, and changes their numbers.
    pub(super) fn retain(&mut self, kept: &mut [Certificate]) {
        let old = std::mem::take(self);
        self.is_on = old.is_on;
        for certificate in kept {
            let CongruenceArgument { edges, apart, distinct } = old.get(*certificate);
            *certificate = self.add(edges.iter().copied(), apart, distinct);
        }
    }
}
