//! Free variables and symbols, and the scopes of quantifiers.
//!
//! Hash-consing shares subterms across quantifiers: in `P(x) and forall x. P(x)` both occurrences of `P(x)` are one
//! term, though its variable is free in one place and bound in the other. Any traversal of occurrences (printing with
//! `let`, substitution, collecting free variables) must distinguish these, without giving up harmless sharing.
//! [`Scoping`] does that for a depth-first traversal: it tracks the quantifiers that enclose the current position, and
//! assigns a term to its *home*, the innermost of them that binds a variable free in the term. Occurrences of a term
//! with the same home have the same meaning, so a traversal that caches pairs of term and home neither confuses nor
//! repeats anything.
//!
//! This needs the bound variables that are free in each subterm. The sets are cut off at [`MOST_TRACKED`] members, to
//! keep the traversal linear under thousands of nested quantifiers. A term with more of them counts as different under
//! each quantifier, which can cost time but not correctness.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::op::Op;
use crate::sort::Fun;
use crate::term::{Term, TermStore};

/// The uninterpreted symbols in terms; see [`TermStore::symbols`].
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Symbols {
    /// The free variables.
    pub vars: Vec<Term>,
    /// The declared functions, predicates and constants.
    pub funs: Vec<Fun>,
}

impl TermStore {
    /// The variables that occur free in the terms, each once, in the order of their first occurrence from left to
    /// right. Declared constants are not variables; see [`symbols`](Self::symbols).
    pub fn free_vars(&self, terms: &[Term]) -> Vec<Term> {
        self.symbols(terms).vars
    }

    /// The free variables and the declared functions of the terms, each once, in the order of their first occurrence
    /// from left to right.
    pub fn symbols(&self, terms: &[Term]) -> Symbols {
        let mut found = Symbols::default();
        let mut funs: FxHashSet<Fun> = FxHashSet::default();
        let mut scoping = Scoping::new(self, terms, |_| false);
        let mut seen: FxHashSet<(Term, Scope)> = FxHashSet::default();
        let mut open: Vec<Step> = terms.iter().rev().map(|&term| Step::Visit(term)).collect();
        while let Some(step) = open.pop() {
            let term = match step {
                Step::Visit(term) => term,
                Step::Leave(quantifier) => {
                    scoping.leave(self, quantifier);
                    continue;
                }
            };
            if !seen.insert((term, scoping.home(term))) {
                continue;
            }
            let (op, args) = self.view(term);
            match op {
                Op::Var(_) if !scoping.is_bound(term) => found.vars.push(term),
                Op::Apply(fun) if funs.insert(fun) => found.funs.push(fun),
                Op::Forall | Op::Exists => {
                    scoping.enter(self, term);
                    open.push(Step::Leave(term));
                    open.extend(args.last().map(|&body| Step::Visit(body)));
                    continue;
                }
                _ => {}
            }
            open.extend(args.iter().rev().map(|&arg| Step::Visit(arg)));
        }
        found
    }
}

enum Step {
    Visit(Term),
    Leave(Term),
}

/// An occurrence of a quantifier, numbered in the order of entering; [`OUTERMOST`] is outside of all.
pub(crate) type Scope = u32;

/// The scope outside of all quantifiers.
pub(crate) const OUTERMOST: Scope = 0;

/// The greatest number of free variables tracked for a subterm.
const MOST_TRACKED: usize = 16;

/// The tracked leaves that occur free in a term: variables that some quantifier binds, and other leaves of interest.
/// `None` if there are more than [`MOST_TRACKED`].
type Tracked = Option<SmallVec<[Term; 4]>>;

/// The quantifiers around the current position of a traversal; see the [module documentation](self).
pub(crate) struct Scoping {
    /// The tracked leaves of each subterm that has some.
    tracked: FxHashMap<Term, Tracked>,
    /// For each variable, the scopes that bind it here, innermost last.
    binders: FxHashMap<Term, Vec<Scope>>,
    /// The scopes around the current position, innermost last.
    around: SmallVec<[Scope; 4]>,
    entered: Scope,
}

impl Scoping {
    /// Prepares a traversal of `roots`. `watched` selects the leaves to track besides bound variables.
    pub(crate) fn new(store: &TermStore, roots: &[Term], watched: impl Fn(Term) -> bool) -> Self {
        let mut scoping = Scoping::without_binders();
        if !roots.iter().any(|&root| store.is_quantified(root)) {
            return scoping;
        }
        let subterms = store.subterms(roots);
        let quantifiers =
            subterms.iter().map(|&t| store.view(t)).filter(|(op, _)| matches!(op, Op::Forall | Op::Exists));
        let bound: FxHashSet<Term> =
            quantifiers.flat_map(|(_, args)| &args[..args.len() - 1]).copied().collect();
        for term in subterms {
            let set = if bound.contains(&term) || watched(term) {
                Some(SmallVec::from_slice(&[term]))
            } else {
                scoping.union_of_args(store, term)
            };
            if set.as_ref().is_none_or(|set| !set.is_empty()) {
                scoping.tracked.insert(term, set);
            }
        }
        scoping
    }

    /// For traversals that meet no quantifier, or treat bound variables like others.
    pub(crate) fn without_binders() -> Self {
        Scoping {
            tracked: FxHashMap::default(),
            binders: FxHashMap::default(),
            around: SmallVec::from_slice(&[OUTERMOST]),
            entered: OUTERMOST,
        }
    }

    fn union_of_args(&self, store: &TermStore, term: Term) -> Tracked {
        let (op, args) = store.view(term);
        let (bound, args) = match op {
            Op::Forall | Op::Exists => args.split_at(args.len() - 1),
            _ => args.split_at(0),
        };
        let mut union: SmallVec<[Term; 4]> = SmallVec::new();
        for arg in args {
            let Some(set) = self.tracked.get(arg) else { continue };
            let set = set.as_ref()?;
            let new = set.iter().filter(|member| !bound.contains(member));
            let new: SmallVec<[Term; MOST_TRACKED]> = new.copied().filter(|m| !union.contains(m)).collect();
            union.extend(new);
            if union.len() > MOST_TRACKED {
                return None;
            }
        }
        Some(union)
    }

    /// The tracked leaves that occur free in the term, or `None` if they are too many.
    pub(crate) fn tracked(&self, term: Term) -> Option<&[Term]> {
        self.tracked.get(&term).map_or(Some(&[]), Option::as_deref)
    }

    /// The innermost scope around the current position that binds a variable free in the term.
    #[inline]
    pub(crate) fn home(&self, term: Term) -> Scope {
        if self.around.len() == 1 {
            return OUTERMOST;
        }
        match self.tracked(term) {
            Some(free) => free.iter().filter_map(|v| self.binder(*v)).max().unwrap_or(OUTERMOST),
            None => *self.around.last().expect("the outermost scope is never left"),
        }
    }

    /// Whether a quantifier around the current position binds the variable.
    pub(crate) fn is_bound(&self, variable: Term) -> bool {
        self.binder(variable).is_some()
    }

    /// The quantifier around the current position that binds the variable.
    pub(crate) fn binder(&self, variable: Term) -> Option<Scope> {
        self.binders.get(&variable).and_then(|scopes| scopes.last().copied())
    }

    /// Enters the body of a quantifier, which becomes a new scope.
    pub(crate) fn enter(&mut self, store: &TermStore, quantifier: Term) -> Scope {
        self.entered += 1;
        self.around.push(self.entered);
        for &variable in bound_variables(store, quantifier) {
            self.binders.entry(variable).or_default().push(self.entered);
        }
        self.entered
    }

    /// Leaves the body of the quantifier entered last.
    pub(crate) fn leave(&mut self, store: &TermStore, quantifier: Term) {
        self.around.pop();
        for variable in bound_variables(store, quantifier) {
            if let Some(scopes) = self.binders.get_mut(variable) {
                scopes.pop();
            }
        }
    }
}

/// The variables of a quantified term.
pub(crate) fn bound_variables(store: &TermStore, quantifier: Term) -> &[Term] {
    store.args(quantifier).split_last().map_or(&[], |(_, variables)| variables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::Sort;

    fn ints(store: &TermStore, names: &[&str]) -> Vec<Term> {
        names.iter().map(|name| store.var(store.symbol(name), Sort::INT)).collect()
    }

    fn less(store: &TermStore, a: Term, b: Term) -> Term {
        store.app(Op::Lt, &[a, b]).unwrap()
    }

    fn forall(store: &TermStore, variable: Term, body: Term) -> Term {
        store.app(Op::Forall, &[variable, body]).unwrap()
    }

    #[test]
    fn variables_come_in_the_order_of_their_first_occurrence() {
        let store = TermStore::new();
        let v = ints(&store, &["x", "y", "z"]);
        let (first, second) = (less(&store, v[2], v[0]), less(&store, v[0], v[1]));
        assert_eq!(store.free_vars(&[first, second]), [v[2], v[0], v[1]]);
        assert_eq!(store.free_vars(&[]), []);
    }

    #[test]
    fn a_shared_subterm_is_free_here_and_bound_there() {
        let store = TermStore::new();
        let v = ints(&store, &["x", "y"]);
        let atom = less(&store, v[0], v[1]);
        let bound = forall(&store, v[0], atom);
        assert_eq!(store.free_vars(&[bound]), [v[1]]);
        assert_eq!(store.free_vars(&[bound, atom]), [v[1], v[0]]);
        let both = store.app(Op::And, &[bound, atom]).unwrap();
        assert_eq!(store.free_vars(&[both]), [v[1], v[0]]);
        assert_eq!(store.free_vars(&[forall(&store, v[0], both)]), [v[1]]);
    }

    #[test]
    fn declared_symbols_are_told_from_variables() {
        let store = TermStore::new();
        let x = ints(&store, &["x"])[0];
        let c = store.fun(store.symbol("c"), &[], Sort::INT);
        let p = store.fun(store.symbol("P"), &[Sort::INT], Sort::BOOL);
        let pc = store.apply(p, &[store.apply(c, &[]).unwrap()]).unwrap();
        let both = store.app(Op::And, &[pc, store.apply(p, &[x]).unwrap()]).unwrap();
        assert_eq!(store.symbols(&[both]), Symbols { vars: vec![x], funs: vec![p, c] });
        assert_eq!(store.symbols(&[forall(&store, x, both)]).vars, []);
    }

    #[test]
    fn sharing_across_quantifiers_does_not_multiply_the_work() {
        let store = TermStore::new();
        let v = ints(&store, &["x", "y", "z"]);
        let mut term = less(&store, v[2], v[2]);
        for _ in 0..1_000 {
            let [left, right] = [v[0], v[1]].map(|variable| {
                let body = store.app(Op::And, &[less(&store, variable, v[2]), term]).unwrap();
                forall(&store, variable, body)
            });
            term = store.app(Op::Or, &[left, right]).unwrap();
        }
        assert_eq!(store.free_vars(&[term]), [v[2]]);
    }

    #[test]
    fn a_hundred_thousand_nested_quantifiers() {
        let store = TermStore::new();
        let first = store.var(store.symbol("v"), Sort::INT);
        let mut sum = vec![first];
        let mut term = Term::TRUE;
        for i in 0..100_000 {
            let variable = store.var(store.symbol(&format!("v{i}")), Sort::INT);
            let atom = less(&store, variable, sum[sum.len() - 1]);
            sum.push(variable);
            term = store.app(Op::And, &[atom, term]).unwrap();
        }
        for &variable in &sum[1..] {
            term = forall(&store, variable, term);
        }
        assert_eq!(store.free_vars(&[term]), [first]);
    }
}
