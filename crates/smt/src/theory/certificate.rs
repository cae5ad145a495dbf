//! Certificates: the arguments of theories, stored for proofs.
//!
//! A theory derives a conflict, an explanation or a lemma from the state of its kernel at that moment, and cannot
//! derive it again later. If proofs are logged, each theory stores its argument here, in flat tables, and gives the
//! search the argument's number as the [`Certificate`]. Kernel numbers are translated to terms only when a proof is
//! requested.

use shofar_logic::number::Rational;

use super::arith;
use super::euf::Node;
use crate::sat::{Certificate, Lit};

/// The certificate for the sum of all literals of a conflict, each with coefficient one. It has no entry.
pub const PLAIN_SUM: Certificate = Certificate(0);

/// The certificate for a clause that compares one form with numbers. It has no entry.
pub const ORDER: Certificate = Certificate(1);

/// The number of certificates without an entry.
const WITHOUT_ENTRY: u32 = 2;

/// An argument of arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArithmeticArgument<'a> {
    /// All literals of the conflict, added up.
    PlainSum,
    /// The literals, each with its positive coefficient.
    Sum(&'a [(Lit, Rational)]),
    /// A form that is an integer, but confined to an interval without integers.
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

/// The arguments of arithmetic. Stored only if switched on.
#[derive(Default)]
pub(super) struct ArithmeticArguments {
    is_on: bool,
    entries: Vec<Entry>,
    sums: Vec<(Lit, Rational)>,
    forms: Vec<Confined>,
}

/// The end of an argument in its table; it starts where the previous one ends.
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

    /// Removes all arguments except the given ones, which ascend, and renumbers those.
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

/// An argument of congruence: edges that connect two nodes that differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CongruenceArgument<'a> {
    /// The edges. A congruence comes after the edges it depends on.
    pub edges: &'a [EqualNodes],
    /// Two nodes that the edges connect.
    pub apart: (Node, Node),
    /// The literal that says that they differ, or `None` if they are different values.
    pub distinct: Option<Lit>,
}

/// An equality in an argument of congruence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EqualNodes {
    /// The left side.
    pub left: Node,
    /// The right side.
    pub right: Node,
    /// The literal that states it, or `None` if both are applications of one function to equal arguments.
    pub literal: Option<Lit>,
}

/// The arguments of congruence. Stored only if switched on.
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

    /// Whether arguments are stored. If not, they need not be built.
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

    /// Removes all arguments except the given ones, which ascend, and renumbers those.
    pub(super) fn retain(&mut self, kept: &mut [Certificate]) {
        let old = std::mem::take(self);
        self.is_on = old.is_on;
        for certificate in kept {
            let CongruenceArgument { edges, apart, distinct } = old.get(*certificate);
            *certificate = self.add(edges.iter().copied(), apart, distinct);
        }
    }
}
