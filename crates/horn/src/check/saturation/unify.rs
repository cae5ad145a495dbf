//! Unification, matching and subsumption of pure clauses.
//!
//! Terms are graphs with shared parts. Nothing here recurs on terms, and all loops poll the limits: shared parts can make
//! exponentially large terms.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Substitution, Term, TermStore};
use shofar_run::{Poll, Stop};

use crate::witness::{PureAtom, PureClause};

/// The store and the limits.
pub(super) struct Work<'a> {
    pub(super) store: &'a TermStore,
    pub(super) poll: Poll<'a>,
}

impl Work<'_> {
    /// Polls the limits.
    pub(super) fn go_on(&self) -> Result<(), Stop> {
        self.poll.interruption().map_or(Ok(()), |reason| Err(reason.into()))
    }

    fn is_variable(&self, term: Term) -> bool {
        matches!(self.store.op(term), Op::Var(_))
    }
}

/// A most general unifier. Bindings may mention bound variables, but never in a cycle.
pub(super) struct Unifier<'a> {
    work: &'a Work<'a>,
    bindings: FxHashMap<Term, Term>,
    /// Terms with all bindings applied.
    applied: FxHashMap<Term, Term>,
}

impl<'a> Unifier<'a> {
    /// The most general unifier of pairs of terms, if there is one.
    pub(super) fn of(work: &'a Work<'a>, a: &[Term], b: &[Term]) -> Result<Option<Self>, Stop> {
        let store = work.store;
        let mut unifier = Unifier { work, bindings: FxHashMap::default(), applied: FxHashMap::default() };
        let mut open: Vec<(Term, Term)> = a.iter().copied().zip(b.iter().copied()).rev().collect();
        while let Some((a, b)) = open.pop() {
            work.go_on()?;
            let (a, b) = (unifier.walk(a), unifier.walk(b));
            if a == b {
                continue;
            }
            let (variable, term) = if work.is_variable(a) { (a, b) } else { (b, a) };
            if work.is_variable(variable) {
                if unifier.occurs(variable, term)? {
                    return Ok(None);
                }
                unifier.bindings.insert(variable, term);
                continue;
            }
            match (store.view(a), store.view(b)) {
                ((Op::Construct(c), fields), (Op::Construct(d), others)) if c == d => {
                    open.extend(fields.iter().copied().zip(others.iter().copied()));
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(unifier))
    }

    /// The term that a variable is bound to, as far as its top is concerned.
    fn walk(&self, mut term: Term) -> Term {
        while let Some(&next) = self.bindings.get(&term) {
            term = next;
        }
        term
    }

    fn occurs(&self, variable: Term, term: Term) -> Result<bool, Stop> {
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut open = vec![term];
        while let Some(term) = open.pop() {
            self.work.go_on()?;
            let term = self.walk(term);
            if term == variable {
                return Ok(true);
            }
            if seen.insert(term) && matches!(self.work.store.op(term), Op::Construct(_)) {
                open.extend(self.work.store.args(term));
            }
        }
        Ok(false)
    }

    /// The term with all bindings applied.
    fn apply(&mut self, term: Term) -> Result<Term, Stop> {
        let store = self.work.store;
        let mut open = vec![term];
        while let Some(&term) = open.last() {
            self.work.go_on()?;
            if self.applied.contains_key(&term) {
                open.pop();
                continue;
            }
            let (image, parts): (Term, Vec<Term>) = match (self.bindings.get(&term), store.view(term)) {
                (Some(&bound), _) => (bound, vec![bound]),
                (None, (Op::Construct(_), fields)) => (term, fields.to_vec()),
                (None, _) => (term, Vec::new()),
            };
            let missing: Vec<Term> =
                parts.iter().copied().filter(|part| !self.applied.contains_key(part)).collect();
            if !missing.is_empty() {
                open.extend(missing);
                continue;
            }
            let result = match store.op(image) {
                _ if image != term => self.applied[&image],
                Op::Construct(constructor) => {
                    let fields: Vec<Term> = parts.iter().map(|part| self.applied[part]).collect();
                    store.construct_term(constructor, &fields)
                }
                _ => term,
            };
            self.applied.insert(term, result);
            open.pop();
        }
        Ok(self.applied[&term])
    }

    /// The atom with all bindings applied.
    pub(super) fn atom(&mut self, atom: &PureAtom) -> Result<PureAtom, Stop> {
        let arguments = atom.arguments.iter().map(|&argument| self.apply(argument));
        Ok(PureAtom { relation: atom.relation, arguments: arguments.collect::<Result<_, Stop>>()? })
    }
}

/// Bindings of the variables of a pattern, which can be undone.
#[derive(Default)]
pub(super) struct Matcher {
    bindings: FxHashMap<Term, Term>,
    trail: Vec<Term>,
}

impl Matcher {
    /// Whether an instance of the pattern is the atom. If not, the bindings stay as they were.
    fn matches(&mut self, work: &Work<'_>, pattern: &PureAtom, atom: &PureAtom) -> Result<bool, Stop> {
        if pattern.relation != atom.relation {
            return Ok(false);
        }
        let mark = self.trail.len();
        let pairs = pattern.arguments.iter().copied().zip(atom.arguments.iter().copied());
        let mut open: Vec<(Term, Term)> = pairs.collect();
        while let Some((pattern, term)) = open.pop() {
            work.go_on()?;
            let fits = match (work.store.view(pattern), work.store.view(term)) {
                ((Op::Var(_), _), _) => match self.bindings.get(&pattern) {
                    Some(&bound) => bound == term,
                    None => {
                        self.bindings.insert(pattern, term);
                        self.trail.push(pattern);
                        true
                    }
                },
                ((Op::Construct(c), fields), (Op::Construct(d), others)) if c == d => {
                    open.extend(fields.iter().copied().zip(others.iter().copied()));
                    true
                }
                _ => pattern == term,
            };
            if !fits {
                self.undo(mark);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The instance of a term of the pattern.
    pub(super) fn instance(&self, store: &TermStore, term: Term) -> Term {
        let bindings = self.bindings.iter().map(|(&variable, &bound)| (variable, bound));
        store.substitute(term, &bindings.collect::<Substitution>())
    }

    fn undo(&mut self, mark: usize) {
        for variable in self.trail.drain(mark..) {
            self.bindings.remove(&variable);
        }
    }
}

/// Whether an instance of a clause is part of another one, given by body and head: its head is that head or it has none, and
/// its body atoms are different atoms of that body.
pub(super) fn subsumes(
    work: &Work<'_>,
    general: &PureClause,
    body: &[PureAtom],
    head: Option<&PureAtom>,
) -> Result<bool, Stop> {
    let mut matcher = Matcher::default();
    if let Some(pattern) = &general.head {
        let Some(head) = head else { return Ok(false) };
        if !matcher.matches(work, pattern, head)? {
            return Ok(false);
        }
    }
    let patterns: Vec<&PureAtom> = general.body.iter().collect();
    any_match(work, &mut matcher, &patterns, body, |_| Ok(true))
}

/// Goes through the ways to match patterns with different atoms until one is accepted. Says whether one was.
pub(super) fn any_match(
    work: &Work<'_>,
    matcher: &mut Matcher,
    patterns: &[&PureAtom],
    atoms: &[PureAtom],
    mut accept: impl FnMut(&Matcher) -> Result<bool, Stop>,
) -> Result<bool, Stop> {
    // The atoms chosen for the first patterns, with the marks in front of them.
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    let mut next = 0;
    loop {
        work.go_on()?;
        let mut found = None;
        if let Some(pattern) = patterns.get(chosen.len()) {
            let mark = matcher.trail.len();
            for (position, atom) in atoms.iter().enumerate().skip(next) {
                let is_free = chosen.iter().all(|&(other, _)| other != position);
                if is_free && matcher.matches(work, pattern, atom)? {
                    found = Some((position, mark));
                    break;
                }
            }
        } else if accept(matcher)? {
            return Ok(true);
        }
        if let Some(choice) = found {
            chosen.push(choice);
            next = 0;
        } else if let Some((position, mark)) = chosen.pop() {
            matcher.undo(mark);
            next = position + 1;
        } else {
            return Ok(false);
        }
    }
}
