//! Derives clauses from others by unit propagation and case distinction, as resolution steps.
//!
//! A rule of Alethe gives one clause, and a proof obligation often needs several. So all clauses that may be useful are
//! *offered*, each with its rule. To derive a clause, the negations of its literals are propagated until a clause is
//! false. Only the clauses that took part are written as steps, and resolved in reverse order. If propagation finds no
//! contradiction, a few cases are distinguished: an equivalence with exchanged sides needs one. This is not a search,
//! and it is incomplete.
//!
//! - R1: literals are compared without double negations and fresh symbols. Double negations are removed from a step
//!   when it is written.
//! - R2: consequences of the offered clauses alone are propagated once, and their unit clauses are written once.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use shofar_logic::{Op, Term, TermStore};

use super::expand::Expander;
use super::steps::{Arg, Name, Steps, pivot_args};

/// The greatest number of case distinctions for a clause, and of clauses visited for them in total.
const MOST_CASES: usize = 24;
const MOST_LOOKED_AT: usize = 2_000_000;

/// A formula other than a negation, and whether it is affirmed.
pub(super) type Literal = (Term, bool);

/// The source of an offered clause.
pub(super) enum Source {
    /// A step, or an assumption, with this name.
    Step(Name),
    /// A rule without premises, with these arguments.
    Rule(&'static str, Vec<Arg>),
}

struct Offer {
    /// The literals as the rule requires them.
    written: Vec<Term>,
    literals: Vec<Literal>,
    source: Source,
    /// The step without double negations, if it was written.
    step: Option<Name>,
}

/// A clause that was proved, with the name of its step.
struct Proved {
    name: Name,
    clause: BTreeSet<Literal>,
}

/// Clauses to derive others from.
pub(super) struct Derivation<'s> {
    store: &'s TermStore,
    expander: &'s Expander<'s>,
    offers: Vec<Offer>,
    /// The clauses with each literal.
    occurrences: FxHashMap<Literal, Vec<usize>>,
    /// For each clause the number of its literals that are false.
    falsified: Vec<usize>,
    /// Values, with positions in the trail.
    values: FxHashMap<Term, (bool, usize)>,
    /// Literals in the order in which they became true, with the clauses that implied them; assumed ones have none.
    trail: Vec<(Literal, Option<usize>)>,
    /// How much of the trail was propagated, and a clause that the offers alone make false.
    propagated: usize,
    conflict: Option<usize>,
    /// The steps of unit clauses that follow from the offers alone.
    units: FxHashMap<Term, Name>,
    /// How many clauses may still be visited to distinguish cases.
    budget: usize,
}

/// The literal of a formula, and the number of its leading negations.
pub(super) fn literal(store: &TermStore, formula: Term) -> (Literal, usize) {
    let (mut atom, mut negations) = (formula, 0);
    while let (Op::Not, &[inner]) = store.view(atom) {
        atom = inner;
        negations += 1;
    }
    ((atom, negations % 2 == 0), negations)
}

/// The formula with a negation added in front.
pub(super) fn negation(store: &TermStore, formula: Term) -> Term {
    store.app(Op::Not, &[formula]).expect("formulas can be negated")
}

/// The formula of a literal.
pub(super) fn formula(store: &TermStore, (atom, holds): Literal) -> Term {
    if holds { atom } else { negation(store, atom) }
}

fn opposite((atom, holds): Literal) -> Literal {
    (atom, !holds)
}

impl<'s> Derivation<'s> {
    pub(super) fn new(store: &'s TermStore, expander: &'s Expander<'s>) -> Self {
        Derivation {
            store,
            expander,
            offers: Vec::new(),
            occurrences: FxHashMap::default(),
            falsified: Vec::new(),
            values: FxHashMap::default(),
            trail: Vec::new(),
            propagated: 0,
            conflict: None,
            units: FxHashMap::default(),
            budget: MOST_LOOKED_AT,
        }
    }

    /// Offers a clause. All offers come before the first derivation.
    pub(super) fn offer(&mut self, written: Vec<Term>, source: Source) {
        let literals = written.iter().map(|&formula| self.expander.canonical(literal(self.store, formula).0));
        let Some(mut literals) = literals.collect::<Option<Vec<Literal>>>() else { return };
        literals.sort_unstable();
        literals.dedup();
        if literals.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return;
        }
        let index = self.offers.len();
        for &literal in &literals {
            self.occurrences.entry(literal).or_default().push(index);
        }
        match literals[..] {
            [] => self.conflict = Some(index),
            [unit] if !self.values.contains_key(&unit.0) => self.set(unit, Some(index)),
            [unit] if self.values[&unit.0].0 != unit.1 => self.conflict = Some(index),
            _ => {}
        }
        self.falsified.push(0);
        self.offers.push(Offer { written, literals, source, step: None });
    }

    /// Writes steps that end with the wanted clause, and returns the name of the last; `None` if it does not follow, or
    /// needs too many cases.
    pub(super) fn derive(&mut self, out: &mut Steps<'_>, wanted: &[Literal]) -> Option<Name> {
        let wanted = wanted.iter().map(|&literal| self.expander.canonical(literal));
        let wanted = wanted.collect::<Option<Vec<Literal>>>()?;
        if self.conflict.is_none() {
            self.conflict = self.propagate();
        }
        let mut cases = MOST_CASES;
        let Proved { name, .. } = self.by_cases(out, &mut wanted.clone(), &mut cases)?;
        Some(out.weaken(name, &wanted))
    }

    /// Proves the wanted clause, or a part of it: by propagation, or with one more literal and with its negation. The
    /// depth is at most the number of remaining cases.
    fn by_cases(
        &mut self,
        out: &mut Steps<'_>,
        wanted: &mut Vec<Literal>,
        cases: &mut usize,
    ) -> Option<Proved> {
        let base = self.trail.len();
        let mut conflict = self.conflict;
        for &literal in wanted.iter() {
            if conflict.is_some() {
                break;
            }
            match self.values.get(&literal.0) {
                Some(&(value, position)) if value == literal.1 => conflict = self.trail[position].1,
                Some(_) => {}
                None => self.set(opposite(literal), None),
            }
        }
        if conflict.is_none() {
            conflict = self.propagate();
        }
        let found = conflict.map(|conflict| self.resolve(out, wanted, conflict, base));
        let split = if found.is_none() { self.split() } else { None };
        self.take_back(base);
        if found.is_some() || *cases == 0 {
            return found;
        }
        let split = split?;
        *cases -= 1;
        let mut halves = Vec::new();
        for half in [split, opposite(split)] {
            wanted.push(half);
            let proved = self.by_cases(out, wanted, cases);
            wanted.pop();
            match proved {
                Some(proved) if proved.clause.contains(&half) => halves.push(proved),
                other => return other,
            }
        }
        let clause: BTreeSet<Literal> =
            halves.iter().flat_map(|half| &half.clause).copied().filter(|it| it.0 != split.0).collect();
        let names: Vec<Name> = halves.into_iter().map(|half| half.name).collect();
        let written: Vec<Term> = clause.iter().map(|&literal| formula(self.store, literal)).collect();
        let name = out.step(&written, "resolution", &names, &pivot_args(split));
        Some(Proved { name, clause })
    }

    /// A literal for a case distinction, from a shortest open clause.
    fn split(&mut self) -> Option<Literal> {
        self.budget = self.budget.checked_sub(self.offers.len())?;
        let value = |literal: &Literal| self.values.get(&literal.0).map(|value| value.0 == literal.1);
        let open = std::iter::zip(&self.offers, &self.falsified)
            .filter(|(offer, _)| !offer.literals.iter().any(|literal| value(literal) == Some(true)));
        let (shortest, _) = open.min_by_key(|(offer, falsified)| offer.literals.len() - **falsified)?;
        shortest.literals.iter().find(|literal| value(literal).is_none()).copied()
    }

    fn set(&mut self, literal: Literal, reason: Option<usize>) {
        self.values.insert(literal.0, (literal.1, self.trail.len()));
        self.trail.push((literal, reason));
    }

    /// Propagates. Returns a false clause, if there is one.
    fn propagate(&mut self) -> Option<usize> {
        let mut conflict = None;
        while self.propagated < self.trail.len() {
            let (literal, _) = self.trail[self.propagated];
            self.propagated += 1;
            let clauses = self.occurrences.get(&opposite(literal)).cloned().unwrap_or_default();
            for &index in &clauses {
                self.falsified[index] += 1;
            }
            for index in clauses {
                let literals = &self.offers[index].literals;
                if self.falsified[index] + 1 < literals.len() || conflict.is_some() {
                    continue;
                }
                let is_false = |literal: &&Literal| {
                    self.values.get(&literal.0).is_some_and(|value| value.0 != literal.1)
                };
                let mut open = literals.iter().filter(|literal| !is_false(literal));
                match open.next() {
                    None => conflict = Some(index),
                    Some(&last) if open.next().is_none() && !self.values.contains_key(&last.0) => {
                        self.set(last, Some(index));
                    }
                    _ => {}
                }
            }
            if conflict.is_some() {
                break;
            }
        }
        conflict
    }

    fn take_back(&mut self, length: usize) {
        for position in length..self.trail.len() {
            let (literal, _) = self.trail[position];
            self.values.remove(&literal.0);
            if position < self.propagated {
                for &index in self.occurrences.get(&opposite(literal)).into_iter().flatten() {
                    self.falsified[index] -= 1;
                }
            }
        }
        self.trail.truncate(length);
        self.propagated = self.propagated.min(length);
    }

    /// Derives the wanted clause from a clause that is false under its negation.
    fn resolve(&mut self, out: &mut Steps<'_>, wanted: &[Literal], conflict: usize, base: usize) -> Proved {
        let (mut premises, mut args) = (vec![self.step(out, conflict)], Vec::new());
        // The clause so far: the literals that stay, and the positions of the negations of those that do not.
        let (mut proved, mut open): (BTreeSet<Literal>, BTreeSet<usize>) = Default::default();
        let mut next = Some((conflict, None));
        while let Some((clause, pivot)) = next {
            for &other in self.offers[clause].literals.iter().filter(|other| Some(**other) != pivot) {
                if wanted.contains(&other) {
                    proved.insert(other);
                } else {
                    open.insert(self.values[&other.0].1);
                }
            }
            next = None;
            while let Some(position) = open.pop_last() {
                let (literal, reason) = self.trail[position];
                args.extend(pivot_args(opposite(literal)));
                if position < base {
                    premises.push(self.unit(out, position));
                } else if let Some(reason) = reason {
                    premises.push(self.step(out, reason));
                    next = Some((reason, Some(literal)));
                    break;
                }
            }
        }
        let written: Vec<Term> = proved.iter().map(|&literal| formula(self.store, literal)).collect();
        let name = match premises.len() {
            1 => premises.swap_remove(0),
            _ => out.step(&written, "resolution", &premises, &args),
        };
        Proved { name, clause: proved }
    }

    /// The step of a unit clause that follows from the offers alone: the literal at this position of the trail.
    fn unit(&mut self, out: &mut Steps<'_>, position: usize) -> Name {
        let mut needed: BTreeSet<usize> = BTreeSet::from([position]);
        let mut open = vec![position];
        while let Some(at) = open.pop() {
            let ((atom, _), Some(reason)) = self.trail[at] else { continue };
            let others = self.offers[reason].literals.iter().filter(|other| other.0 != atom);
            for other in others.filter(|other| !self.units.contains_key(&other.0)) {
                let place = self.values[&other.0].1;
                if needed.insert(place) {
                    open.push(place);
                }
            }
        }
        // The premises of a literal became true before it.
        for at in needed {
            let (literal, Some(reason)) = self.trail[at] else { continue };
            if self.units.contains_key(&literal.0) {
                continue;
            }
            if let Some(name) = self.member(out, reason, literal) {
                self.units.insert(literal.0, name);
                continue;
            }
            let (mut premises, mut args) = (vec![self.step(out, reason)], Vec::new());
            for &other in self.offers[reason].literals.iter().filter(|other| **other != literal) {
                premises.push(self.units[&other.0]);
                args.extend(pivot_args(other));
            }
            let name = match premises.len() {
                1 => premises.swap_remove(0),
                _ => out.step(&[formula(self.store, literal)], "resolution", &premises, &args),
            };
            self.units.insert(literal.0, name);
        }
        self.units[&self.trail[position].0.0]
    }

    /// The step of a member of a proved conjunction. The offered clause would repeat the whole conjunction.
    fn member(&mut self, out: &mut Steps<'_>, clause: usize, member: Literal) -> Option<Name> {
        let Offer { written, literals, source, .. } = &self.offers[clause];
        let (Source::Rule("and_pos", args), &[denied, written]) = (source, &written[..]) else {
            return None;
        };
        let conjunction = literals.iter().find(|other| **other != member);
        let is_of_conjunction = conjunction.is_some_and(|other| !other.1)
            && self.expander.canonical(literal(self.store, denied).0).as_ref() == conjunction;
        let premise = *conjunction.and_then(|other| self.units.get(&other.0))?;
        if !is_of_conjunction {
            return None;
        }
        let name = out.step(&[written], "and", &[premise], args);
        Some(out.without_double_negations(name, &[written]))
    }

    /// The step of an offered clause, without double negations and repetitions.
    fn step(&mut self, out: &mut Steps<'_>, index: usize) -> Name {
        let offer = &mut self.offers[index];
        if let Some(step) = offer.step {
            return step;
        }
        let name = match &offer.source {
            Source::Step(name) => *name,
            Source::Rule(rule, args) => out.step(&offer.written, rule, &[], args),
        };
        let step = out.without_double_negations(name, &offer.written);
        offer.step = Some(step);
        step
    }
}
