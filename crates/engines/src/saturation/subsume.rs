//! Subsumption and condensation.
//!
//! A clause subsumes another one if an instance of it is part of the other one, with different atoms of the body for
//! different atoms: the head must be the head, if there is one. Then the other one is redundant. Condensation removes
//! atoms of a body that another instance of the body contains: the shorter clause subsumes the longer one.

use super::refute::Cover;
use super::terms::{Atom, Bank, Clause, Id, Node};

/// The greatest number of pairs of atoms that are compared for one answer.
const MOST_STEPS: usize = 5_000;

/// What subsumption must not exceed: quick reasons why a clause does not subsume another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    /// The relations of the body, as bits.
    relations: u64,
    /// The number of atoms in the body.
    length: usize,
    /// The number of symbols and variables.
    pub(super) weight: u32,
    has_head: bool,
}

impl Features {
    pub(super) fn of(bank: &Bank, clause: &Clause) -> Self {
        let weight = |atom: &Atom| {
            atom.arguments.iter().fold(1u32, |weight, &argument| weight.saturating_add(bank.size(argument)))
        };
        Features {
            relations: clause.body.iter().fold(0, |bits, atom| bits | 1 << (atom.relation % 64)),
            length: clause.body.len(),
            weight: clause.atoms().fold(0u32, |sum, atom| sum.saturating_add(weight(atom))),
            has_head: clause.head.is_some(),
        }
    }

    /// Whether a clause with these features may subsume one with the others.
    pub(super) fn may_subsume(self, other: Features) -> bool {
        self.relations & !other.relations == 0
            && self.length <= other.length
            && self.weight <= other.weight
            && (other.has_head || !self.has_head)
    }
}

/// Bindings of the variables of a pattern, which can be undone.
#[derive(Default)]
pub(super) struct Matcher {
    bindings: Vec<Option<Id>>,
    trail: Vec<usize>,
}

impl Matcher {
    /// The variables of the pattern with their terms.
    pub(super) fn bindings(&self) -> impl Iterator<Item = (u32, Id)> + '_ {
        (0..).zip(&self.bindings).filter_map(|(number, bound)| Some((number, (*bound)?)))
    }

    fn bind(&mut self, variable: u32, term: Id) -> bool {
        let at = variable as usize;
        if at >= self.bindings.len() {
            self.bindings.resize(at + 1, None);
        }
        match self.bindings[at] {
            Some(bound) => bound == term,
            None => {
                self.bindings[at] = Some(term);
                self.trail.push(at);
                true
            }
        }
    }

    /// Whether an instance of the pattern is the atom. If not, the bindings stay as they were.
    fn matches(&mut self, bank: &Bank, pattern: &Atom, atom: &Atom) -> bool {
        if pattern.relation != atom.relation {
            return false;
        }
        let mark = self.trail.len();
        let pairs = pattern.arguments.iter().copied().zip(atom.arguments.iter().copied());
        let mut open: Vec<(Id, Id)> = pairs.collect();
        while let Some((pattern, term)) = open.pop() {
            let fits = match (bank.node(pattern), bank.node(term)) {
                (&Node::Variable(number), _) => self.bind(number, term),
                (Node::Application(f, fields), Node::Application(g, others)) if f == g => {
                    open.extend(fields.iter().copied().zip(others.iter().copied()));
                    true
                }
                _ => false,
            };
            if !fits {
                self.undo(mark);
                return false;
            }
        }
        true
    }

    fn undo(&mut self, mark: usize) {
        for variable in self.trail.drain(mark..) {
            self.bindings[variable] = None;
        }
    }
}

/// Whether a clause subsumes another one. A search that takes too long finds nothing.
pub(super) fn subsumes(bank: &Bank, general: &Clause, special: &Clause) -> bool {
    let mut matcher = Matcher::default();
    match (&general.head, &special.head) {
        (Some(pattern), Some(head)) if !matcher.matches(bank, pattern, head) => return false,
        (Some(_), None) => return false,
        _ => {}
    }
    any_match(bank, &mut matcher, &general.body, &special.body, true, |_| true).is_some()
}

/// Goes through the ways to match patterns with atoms, different ones on request, until one is accepted. Returns the positions of the
/// atoms.
pub(super) fn any_match(
    bank: &Bank,
    matcher: &mut Matcher,
    patterns: &[Atom],
    atoms: &[Atom],
    are_different: bool,
    mut accept: impl FnMut(&Matcher) -> bool,
) -> Option<Vec<usize>> {
    let mut steps = 0;
    // The choices with the marks in front of them.
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    let mut next = 0;
    loop {
        let mut found = None;
        if let Some(pattern) = patterns.get(chosen.len()) {
            let mark = matcher.trail.len();
            let position = (next..atoms.len()).find(|&position| {
                steps += 1;
                (!are_different || chosen.iter().all(|&(other, _)| other != position))
                    && matcher.matches(bank, pattern, &atoms[position])
            });
            found = position.map(|position| (position, mark));
        } else if accept(matcher) {
            return Some(chosen.into_iter().map(|(position, _)| position).collect());
        }
        if steps > MOST_STEPS {
            return None;
        }
        if let Some(choice) = found {
            chosen.push(choice);
            next = 0;
        } else if let Some((position, mark)) = chosen.pop() {
            matcher.undo(mark);
            next = position + 1;
        } else {
            return None;
        }
    }
}

/// Removes atoms of the body as long as the rest subsumes the clause in the ordinary sense: an instance of the clause is
/// contained in it without them. Returns which atoms of the rest those of the instance are.
pub(super) fn condense(bank: &Bank, clause: &mut Clause) -> Cover {
    let mut cover = Cover::identity(clause.body.len());
    let mut position = 0;
    while position < clause.body.len() {
        let mut shorter = clause.body.clone();
        let removed = shorter.remove(position);
        let has_partner = shorter.iter().any(|atom| atom.relation == removed.relation);
        let mut matcher = Matcher::default();
        // The head must stay as it is.
        let is_possible = has_partner && clause.head.iter().all(|head| matcher.matches(bank, head, head));
        let found = match is_possible {
            true => any_match(bank, &mut matcher, &clause.body, &shorter, false, |_| true),
            false => None,
        };
        match found {
            Some(positions) => {
                cover = cover.then(&Cover::of_positions(positions));
                clause.body = shorter;
            }
            None => position += 1,
        }
    }
    cover
}
