//! Certificates: the arguments of theories, stored for proofs.
//!
//! A theory derives a conflict, an explanation or a lemma from the state of its kernel at that moment, and cannot
//! derive it again later. If proofs are logged, each theory stores its argument here, in flat tables, and gives the
//! search the argument's number as the [`Certificate`]. Kernel numbers are translated to terms only when a proof is
//! requested.

use shofar_logic::number::Rational;

use super::arith;
use super::euf::{Node, ProofWhy};
use crate::proof::Axiom;
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

/// The certificate for an instance of an axiom of datatypes. It has no entry.
pub const DATATYPE_AXIOM: Certificate = Certificate(0);

/// The number of certificates of congruence without an entry.
const AXIOMS: u32 = 1;

/// An argument of congruence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CongruenceArgument<'a> {
    /// The clause is an instance of an axiom of datatypes.
    Axiom,
    /// The clause is this instance of an axiom.
    Instance(&'a Axiom),
    /// Edges connect two nodes that differ.
    Apart {
        /// The edges. One that is not a literal comes after the edges it depends on.
        edges: &'a [EqualNodes],
        /// Two nodes that the edges connect.
        apart: (Node, Node),
        /// The literal that says that they differ, or `None` if they are different values.
        distinct: Option<Lit>,
    },
    /// Edges make a tree contain itself.
    Cycle {
        /// The edges, as above.
        edges: &'a [EqualNodes],
        /// Applications of constructors. Each has an argument that the edges connect with the next one, and the last
        /// with the first.
        cycle: &'a [Node],
    },
}

/// An equality in an argument of congruence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EqualNodes {
    /// The left side.
    pub left: Node,
    /// The right side.
    pub right: Node,
    /// Where it comes from. The reason of an input is the code of a literal.
    pub why: ProofWhy,
}

/// The arguments of congruence. Stored only if switched on.
#[derive(Default)]
pub(super) struct CongruenceArguments {
    is_on: bool,
    entries: Vec<CongruenceEntry>,
    edges: Vec<EqualNodes>,
    cycles: Vec<Node>,
    instances: Vec<Axiom>,
}

#[derive(Clone, Copy)]
struct CongruenceEntry {
    start: usize,
    end: usize,
    contradiction: Contradiction,
}

/// What the edges of an argument lead to.
#[derive(Clone, Copy)]
enum Contradiction {
    Apart {
        apart: (Node, Node),
        distinct: Option<Lit>,
    },
    /// A range of `cycles`.
    Cycle {
        start: usize,
        end: usize,
    },
    /// None: the clause is one of `instances`.
    Instance(usize),
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

    pub(super) fn add_apart(
        &mut self,
        edges: impl Iterator<Item = EqualNodes>,
        apart: (Node, Node),
        distinct: Option<Lit>,
    ) -> Certificate {
        self.add(edges, Contradiction::Apart { apart, distinct })
    }

    pub(super) fn add_cycle(
        &mut self,
        edges: impl Iterator<Item = EqualNodes>,
        cycle: &[Node],
    ) -> Certificate {
        let start = self.cycles.len();
        self.cycles.extend_from_slice(cycle);
        self.add(edges, Contradiction::Cycle { start, end: self.cycles.len() })
    }

    /// Without proofs, the certificate means nothing.
    pub(super) fn add_axiom(&mut self, axiom: Axiom) -> Certificate {
        if !self.is_on {
            return DATATYPE_AXIOM;
        }
        self.instances.push(axiom);
        self.add(std::iter::empty(), Contradiction::Instance(self.instances.len() - 1))
    }

    fn add(&mut self, edges: impl Iterator<Item = EqualNodes>, contradiction: Contradiction) -> Certificate {
        let start = self.edges.len();
        self.edges.extend(edges);
        self.entries.push(CongruenceEntry { start, end: self.edges.len(), contradiction });
        Certificate(self.entries.len() as u32 - 1 + AXIOMS)
    }

    pub(super) fn get(&self, Certificate(number): Certificate) -> CongruenceArgument<'_> {
        let Some(index) = number.checked_sub(AXIOMS) else { return CongruenceArgument::Axiom };
        let CongruenceEntry { start, end, contradiction } = self.entries[index as usize];
        let edges = &self.edges[start..end];
        match contradiction {
            Contradiction::Apart { apart, distinct } => CongruenceArgument::Apart { edges, apart, distinct },
            Contradiction::Cycle { start, end } => {
                CongruenceArgument::Cycle { edges, cycle: &self.cycles[start..end] }
            }
            Contradiction::Instance(at) => CongruenceArgument::Instance(&self.instances[at]),
        }
    }

    /// Removes all arguments except the given ones, which ascend, and renumbers those.
    pub(super) fn retain(&mut self, kept: &mut [Certificate]) {
        let old = std::mem::take(self);
        self.is_on = old.is_on;
        for certificate in kept {
            *certificate = match old.get(*certificate) {
                CongruenceArgument::Axiom => DATATYPE_AXIOM,
                CongruenceArgument::Instance(axiom) => self.add_axiom(axiom.clone()),
                CongruenceArgument::Apart { edges, apart, distinct } => {
                    self.add_apart(edges.iter().copied(), apart, distinct)
                }
                CongruenceArgument::Cycle { edges, cycle } => self.add_cycle(edges.iter().copied(), cycle),
            };
        }
    }
}
