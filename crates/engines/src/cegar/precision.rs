//! The precision of the abstraction: what each location tracks.
//!
//! A location tracks *terms*: predicates, or variables whose values are followed (the domain decides which). All are about the
//! location's live variables. So labels need no quantifiers when they become a model, and never differ in what no longer
//! matters. (In the thesis one set is used everywhere, with the dead variables of other predicates; they keep labels apart
//! that could cover each other, and make its printed model wrong.)
//!
//! Locations that come from different predicates have no variables in common. So a term that is tracked everywhere speaks of
//! the variables at the same positions: programs mostly pass their variables on in one order.

use rustc_hash::FxHashMap;
use shofar_horn::cfa::{LocationId, Statement};
use shofar_logic::{Op, Substitution, Term, TermStore};

use super::program::Program;
use crate::option::Named;

/// Where a term from a refutation is tracked.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Granularity {
    /// At the location of its position.
    #[default]
    Location,
    /// At all locations, about the variables at the same positions.
    Global,
}

impl Named for Granularity {
    const ALL: &'static [Self] = &[Granularity::Location, Granularity::Global];

    fn name(self) -> &'static str {
        match self {
            Granularity::Location => "location",
            Granularity::Global => "global",
        }
    }
}

/// The formulas of the program whose terms are tracked from the start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum InitialPrecision {
    /// None.
    #[default]
    Empty,
    /// The conditions of the edges into the error location.
    Property,
    /// All conditions.
    Assumptions,
}

impl Named for InitialPrecision {
    const ALL: &'static [Self] =
        &[InitialPrecision::Empty, InitialPrecision::Property, InitialPrecision::Assumptions];

    fn name(self) -> &'static str {
        match self {
            InitialPrecision::Empty => "empty",
            InitialPrecision::Property => "property",
            InitialPrecision::Assumptions => "assumptions",
        }
    }
}

/// Which predicates a formula from a refutation gives.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Splitting {
    /// The formula.
    Whole,
    /// Its conjuncts.
    Conjuncts,
    /// Its atoms.
    #[default]
    Atoms,
}

impl Named for Splitting {
    const ALL: &'static [Self] = &[Splitting::Whole, Splitting::Conjuncts, Splitting::Atoms];

    fn name(self) -> &'static str {
        match self {
            Splitting::Whole => "whole",
            Splitting::Conjuncts => "conjuncts",
            Splitting::Atoms => "atoms",
        }
    }
}

impl Splitting {
    /// The predicates of a normal formula, without negation.
    pub(super) fn predicates(self, store: &TermStore, formula: Term) -> Vec<Term> {
        let parts = match self {
            Splitting::Whole => vec![formula],
            Splitting::Conjuncts => store.conjuncts(formula).collect(),
            Splitting::Atoms => atoms(store, formula),
        };
        let positive = parts.into_iter().map(|part| store.literal(part).0);
        positive.filter(|&predicate| predicate != Term::TRUE && predicate != Term::FALSE).collect()
    }
}

/// The largest subformulas below connectives. A conditional is not taken apart, as its condition says nothing by itself.
pub(super) fn atoms(store: &TermStore, formula: Term) -> Vec<Term> {
    let is_open = |term: Term| store.is_connective(term) && store.op(term) != Op::Ite;
    let mut atoms = store.subterms_until(&[formula], |term| !is_open(term));
    atoms.retain(|&term| !is_open(term));
    atoms
}

/// What each location tracks.
pub(super) struct Precision<'a> {
    program: &'a Program<'a>,
    granularity: Granularity,
    /// Indexed by location, in the order in which the terms were found.
    at: Vec<Vec<Term>>,
    /// Indexed by location: the indices of its terms.
    indices: Vec<FxHashMap<Term, usize>>,
}

impl<'a> Precision<'a> {
    /// The precision that tracks nothing.
    pub(super) fn new(program: &'a Program<'a>, granularity: Granularity) -> Self {
        let locations = program.cfa.locations().len();
        Precision {
            program,
            granularity,
            at: vec![Vec::new(); locations],
            indices: vec![FxHashMap::default(); locations],
        }
    }

    /// The terms that a location tracks.
    pub(super) fn at(&self, location: LocationId) -> &[Term] {
        &self.at[location.index()]
    }

    /// The number of tracked terms.
    pub(super) fn len(&self) -> usize {
        self.at.iter().map(Vec::len).sum()
    }

    /// Tracks a term that was found for a location, if it is about live variables. Returns its index there.
    pub(super) fn track(&mut self, location: LocationId, term: Term) -> Option<usize> {
        self.track_at(location, term);
        if self.granularity == Granularity::Global && self.program.is_about(location, term) {
            let (program, from) = (self.program, self.program.variables(location));
            for (other, _) in program.cfa.locations().filter(|&(other, _)| other != location) {
                self.track_at(
                    other,
                    program
                        .store
                        .instantiate(term, &by_position(program.store, from, program.variables(other))),
                );
            }
        }
        self.indices[location.index()].get(&term).copied()
    }

    fn track_at(&mut self, location: LocationId, term: Term) {
        let terms = &mut self.at[location.index()];
        let indices = &mut self.indices[location.index()];
        if !indices.contains_key(&term) && self.program.is_about(location, term) {
            indices.insert(term, terms.len());
            terms.push(term);
        }
    }
}

/// Variables that stand for those at the same positions, as far as sorts agree.
fn by_position(store: &TermStore, from: &[Term], to: &[Term]) -> Substitution {
    let pairs = std::iter::zip(from, to).map(|(&from, &to)| (from, to));
    pairs.filter(|&(from, to)| store.sort_of(from) == store.sort_of(to)).collect()
}

/// The formulas of the initial precision: atoms of conditions, each with a location where its variables are live.
pub(super) fn initial(program: &Program<'_>, from: InitialPrecision) -> Vec<(LocationId, Term)> {
    let cfa = program.cfa;
    let mut found = Vec::new();
    for (id, edge) in cfa.edges() {
        let is_chosen = match from {
            InitialPrecision::Empty => false,
            InitialPrecision::Property => program.is_error(edge.target),
            InitialPrecision::Assumptions => {
                edge.statements.iter().any(|statement| matches!(statement, Statement::Assume(_)))
            }
        };
        if is_chosen {
            let atoms =
                program.relation(id).guard.iter().flat_map(|&condition| atoms(program.store, condition));
            found.extend(
                atoms.map(|atom| (edge.source, atom)).filter(|&(at, atom)| program.is_about(at, atom)),
            );
        }
    }
    found
}
