//! Substitution, and the one traversal that rebuilds terms.
//!
//! A [`Substitution`] maps variables and declared constants to terms. Applying it replaces their free occurrences
//! simultaneously: replacements are not substituted again. A quantifier protects its variables. If one of them has the
//! name of a symbol in a replacement inserted below, the variable gets a fresh name, so nothing is captured. Names are
//! compared, not variables, because in text a quantifier also captures a constant of the same name.
//!
//! The traversal caches results by term and home (see [`Scoping`]), so it rebuilds shared subterms once, also across
//! quantifiers. It uses its own stack. The caller decides how an application is rebuilt: as written, or by builders
//! that simplify. [`TermStore::rewrite`] is the same traversal without replacements.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::free_vars::{OUTERMOST, Scope, Scoping, bound_variables};
use crate::op::Op;
use crate::sort::Symbol;
use crate::term::{Term, TermStore};

/// Maps variables and declared constants to their replacements.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Substitution {
    map: FxHashMap<Term, Term>,
}

impl Substitution {
    /// The empty substitution.
    pub fn new() -> Self {
        Self::default()
    }

    /// Maps a variable or declared constant to `replacement`, which must have the same sort.
    pub fn insert(&mut self, symbol: Term, replacement: Term) {
        self.map.insert(symbol, replacement);
    }

    /// Removes the replacement of a symbol.
    pub fn remove(&mut self, symbol: Term) {
        self.map.remove(&symbol);
    }

    /// The replacement of a symbol.
    pub fn get(&self, symbol: Term) -> Option<Term> {
        self.map.get(&symbol).copied()
    }

    /// The number of replaced symbols.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }
}

impl FromIterator<(Term, Term)> for Substitution {
    fn from_iter<I: IntoIterator<Item = (Term, Term)>>(pairs: I) -> Self {
        Substitution { map: pairs.into_iter().collect() }
    }
}

impl Extend<(Term, Term)> for Substitution {
    fn extend<I: IntoIterator<Item = (Term, Term)>>(&mut self, pairs: I) {
        self.map.extend(pairs);
    }
}

impl TermStore {
    /// The term with free occurrences of symbols replaced, otherwise as written.
    ///
    /// # Panics
    /// If a replacement does not have the sort of what it replaces.
    pub fn substitute(&self, term: Term, substitution: &Substitution) -> Term {
        if substitution.is_empty() {
            return term;
        }
        Substitutor::new(self, substitution).apply(term)
    }

    /// The normal form of the term with free occurrences of symbols replaced.
    ///
    /// # Panics
    /// If a replacement does not have the sort of what it replaces.
    pub fn instantiate(&self, term: Term, substitution: &Substitution) -> Term {
        let normal = self.normalize(term);
        if substitution.is_empty() {
            return normal;
        }
        // Replacements are mostly variables and values. Then only the result is built.
        if substitution.map.values().all(|&replacement| self.normalize(replacement) == replacement) {
            return Substitutor::normal(self, substitution).apply(normal);
        }
        self.normalize(self.substitute(term, substitution))
    }

    /// Normal terms with free occurrences of symbols replaced by normal terms. The results are normal.
    ///
    /// # Panics
    /// If a replacement does not have the sort of what it replaces.
    pub fn instantiate_all(&self, normal: &[Term], substitution: &Substitution) -> Vec<Term> {
        let mut substitutor = Substitutor::normal(self, substitution);
        normal.iter().map(|&term| substitutor.apply(term)).collect()
    }

    /// Rebuilds a term from its leaves up: `rebuild` gets each operator with the rebuilt arguments, once for each
    /// subterm. Variables, numerals and truth values stay unchanged.
    pub fn rewrite(&self, term: Term, rebuild: &mut impl FnMut(Op, &[Term]) -> Term) -> Term {
        let mut walk = Walk::new(self, None);
        walk.run(term, &mut |_, op, args| rebuild(op, args))
    }
}

/// Applies one substitution to any number of terms, caching results.
pub struct Substitutor<'a> {
    walk: Walk<'a>,
    rebuild: Box<Rebuild<'a>>,
}

type Rebuild<'a> = dyn FnMut(Op, &[Term]) -> Term + 'a;

impl<'a> Substitutor<'a> {
    /// Replaces symbols and keeps everything else as written.
    pub fn new(store: &'a TermStore, substitution: &'a Substitution) -> Self {
        Self::with_rebuild(store, substitution, |op, args| {
            store.app(op, args).expect("replacements have the sorts of what they replace")
        })
    }

    /// Replaces symbols of normal terms by normal terms, and returns normal terms.
    pub fn normal(store: &'a TermStore, substitution: &'a Substitution) -> Self {
        Self::with_rebuild(store, substitution, |op, args| {
            // Replacements have the sorts of the symbols, so the terms around them stay well-sorted.
            let normal = store.build_sorted(op, args);
            debug_assert_eq!(store.normalize(normal), normal);
            store.set_normal(normal, normal);
            normal
        })
    }

    /// Replaces symbols and rebuilds the terms around them with `rebuild`, which must return a term of the same sort.
    /// It is not called for unchanged terms.
    pub fn with_rebuild(
        store: &'a TermStore,
        substitution: &'a Substitution,
        rebuild: impl FnMut(Op, &[Term]) -> Term + 'a,
    ) -> Self {
        Substitutor { walk: Walk::new(store, Some(substitution)), rebuild: Box::new(rebuild) }
    }

    /// The term with free occurrences of symbols replaced.
    ///
    /// # Panics
    /// If a replacement does not have the sort of what it replaces.
    pub fn apply(&mut self, term: Term) -> Term {
        let store = self.walk.store;
        let rebuild = &mut self.rebuild;
        self.walk
            .run(term, &mut |term, op, args| if store.args(term) == args { term } else { rebuild(op, args) })
    }
}

/// The traversal.
struct Walk<'a> {
    store: &'a TermStore,
    /// Without one, nothing is replaced, and bound variables need no care.
    substitution: Option<&'a Substitution>,
    /// The names of the symbols in each replacement, and in all of them; computed when a quantifier is met.
    names: Option<Names>,
    /// Results for terms outside of quantifiers, or in which no enclosing quantifier binds anything.
    outside: FxHashMap<Term, Term>,
    /// Results for terms in the scope of a quantifier.
    inside: FxHashMap<(Term, Scope), Term>,
    /// The fresh variables of the open quantifiers, by variable and scope.
    renamed: FxHashMap<(Term, Scope), Term>,
    /// The terms whose arguments are being rebuilt; empty between two runs.
    open: Vec<Frame>,
    /// Rebuilt arguments of the open terms, consecutively.
    results: Vec<Term>,
}

/// The initial capacity for results: growing from nothing takes longer than a usual run.
const FIRST_RESULTS: usize = 28;

struct Names {
    of_replacement: FxHashMap<Term, FxHashSet<Symbol>>,
    all: FxHashSet<Symbol>,
}

/// A term whose arguments are being rebuilt.
struct Frame {
    term: Term,
    home: Scope,
    /// The scope of the body if the term is a quantifier.
    inner: Scope,
    next: usize,
    /// Where its rebuilt arguments start in [`Walk::results`].
    base: usize,
}

impl<'a> Walk<'a> {
    fn new(store: &'a TermStore, substitution: Option<&'a Substitution>) -> Self {
        Walk {
            store,
            substitution,
            names: None,
            outside: FxHashMap::default(),
            inside: FxHashMap::default(),
            renamed: FxHashMap::default(),
            open: Vec::new(),
            results: Vec::new(),
        }
    }

    /// Rebuilds a term. `rebuild` gets the original term, its operator and the new arguments.
    fn run(&mut self, root: Term, rebuild: &mut impl FnMut(Term, Op, &[Term]) -> Term) -> Term {
        let store = self.store;
        // A leaf, or a term already rebuilt.
        if let Some(result) = self.finished(root, &Scoping::without_binders()) {
            return result;
        }
        let mut scoping = match self.substitution {
            Some(substitution) => Scoping::new(store, &[root], |leaf| substitution.get(leaf).is_some()),
            None => Scoping::without_binders(),
        };
        // Scopes are renumbered in each run.
        self.inside.clear();
        self.renamed.clear();
        let mut open = std::mem::take(&mut self.open);
        if self.outside.is_empty() {
            self.outside.reserve(FIRST_RESULTS);
        }
        let mut visit = Some(root);
        loop {
            if let Some(term) = visit.take() {
                match self.finished(term, &scoping) {
                    Some(result) => self.results.push(result),
                    None => open.push(self.start(term, &mut scoping)),
                }
            }
            let Some(frame) = open.last_mut() else { break };
            let (op, args) = store.view(frame.term);
            if let Some(&arg) = args.get(frame.next) {
                frame.next += 1;
                visit = Some(arg);
                continue;
            }
            let Frame { term, home, inner, base, .. } = *frame;
            open.pop();
            if inner != OUTERMOST {
                scoping.leave(store, term);
            }
            let result = rebuild(term, op, &self.results[base..]);
            self.results.truncate(base);
            self.results.push(result);
            if home == OUTERMOST {
                self.outside.insert(term, result);
            } else {
                self.inside.insert((term, home), result);
            }
        }
        self.open = open;
        self.results.pop().expect("the root has a result")
    }

    /// The result for a leaf, or for a term already rebuilt.
    fn finished(&self, term: Term, scoping: &Scoping) -> Option<Term> {
        if self.store.args(term).is_empty() {
            let binder = scoping.binder(term);
            let replaced = match binder {
                Some(scope) => self.renamed.get(&(term, scope)).copied(),
                None => self.substitution.and_then(|substitution| substitution.get(term)),
            };
            if replaced.is_some() || is_symbol_or_number(self.store.op(term)) {
                let result = replaced.unwrap_or(term);
                assert_eq!(
                    self.store.sort_of(result),
                    self.store.sort_of(term),
                    "a replacement's sort differs"
                );
                return Some(result);
            }
        }
        match scoping.home(term) {
            OUTERMOST => self.outside.get(&term).copied(),
            home => self.inside.get(&(term, home)).copied(),
        }
    }

    fn start(&mut self, term: Term, scoping: &mut Scoping) -> Frame {
        let (op, args) = self.store.view(term);
        let home = scoping.home(term);
        let base = self.results.len();
        let mut frame = Frame { term, home, inner: OUTERMOST, next: 0, base };
        if !matches!(op, Op::Forall | Op::Exists) {
            return frame;
        }
        let variables = &args[..args.len() - 1];
        match self.substitution {
            None => self.results.extend_from_slice(variables),
            Some(substitution) => {
                let captured = self.captured(substitution, term, scoping);
                frame.inner = scoping.enter(self.store, term);
                for &variable in variables {
                    let new = match self.store.op(variable) {
                        Op::Var(name) if captured.contains(&variable) => {
                            let name = self.store.fresh_symbol(self.store.name(name));
                            self.store.var(name, self.store.sort_of(variable))
                        }
                        _ => variable,
                    };
                    self.renamed.insert((variable, frame.inner), new);
                    self.results.push(new);
                }
            }
        }
        frame.next = variables.len();
        frame
    }

    /// The variables of a quantifier that would capture a symbol of a replacement in its body.
    fn captured(
        &mut self,
        substitution: &Substitution,
        quantifier: Term,
        scoping: &Scoping,
    ) -> SmallVec<[Term; 4]> {
        let store = self.store;
        let names = self.names.get_or_insert_with(|| Names::of(store, substitution));
        let clashes = |name: &Symbol| match scoping.tracked(quantifier) {
            Some(free) => free
                .iter()
                .filter(|&&symbol| !scoping.is_bound(symbol))
                .filter_map(|symbol| names.of_replacement.get(symbol))
                .any(|names| names.contains(name)),
            None => names.all.contains(name),
        };
        let variables = bound_variables(store, quantifier).iter().copied();
        variables.filter(|&v| matches!(store.op(v), Op::Var(name) if clashes(&name))).collect()
    }
}

impl Names {
    #[expect(clippy::iter_over_hash_type, reason = "the sets collected do not depend on the order")]
    fn of(store: &TermStore, substitution: &Substitution) -> Self {
        let mut names = Names { of_replacement: FxHashMap::default(), all: FxHashSet::default() };
        for (&symbol, &replacement) in &substitution.map {
            let symbols = store.symbols(&[replacement]);
            let funs = symbols.funs.iter().map(|&fun| store.fun_decl(fun).name);
            let vars = symbols.vars.iter().filter_map(|&variable| match store.op(variable) {
                Op::Var(name) => Some(name),
                _ => None,
            });
            let found: FxHashSet<Symbol> = vars.chain(funs).collect();
            names.all.extend(&found);
            names.of_replacement.insert(symbol, found);
        }
        names
    }
}

/// Leaves without parts.
fn is_symbol_or_number(op: Op) -> bool {
    matches!(op, Op::Var(_) | Op::Numeral(_) | Op::BvNumeral(_) | Op::True | Op::False)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::sort::Sort;

    fn ints<const N: usize>(store: &TermStore, names: [&str; N]) -> [Term; N] {
        names.map(|name| store.var(store.symbol(name), Sort::INT))
    }

    fn app(store: &TermStore, op: Op, args: &[Term]) -> Term {
        store.app(op, args).unwrap()
    }

    fn apply(store: &TermStore, term: Term, pairs: &[(Term, Term)]) -> String {
        let substitution: Substitution = pairs.iter().copied().collect();
        store.display(store.substitute(term, &substitution)).to_string()
    }

    #[test]
    fn replacements_are_put_in_at_once() {
        let store = TermStore::new();
        let [x, y] = ints(&store, ["x", "y"]);
        let c = store.apply(store.fun(store.symbol("c"), &[], Sort::INT), &[]).unwrap();
        let less = app(&store, Op::Lt, &[x, y, c]);
        assert_eq!(apply(&store, less, &[(x, y), (y, x), (c, store.int(1))]), "(< y x 1)");
        assert_eq!(apply(&store, less, &[]), "(< x y c)");
    }

    #[test]
    fn bound_variables_are_not_replaced() {
        let store = TermStore::new();
        let [x, y] = ints(&store, ["x", "y"]);
        let less = app(&store, Op::Lt, &[x, y]);
        let all = app(&store, Op::Forall, &[x, less]);
        let both = app(&store, Op::And, &[less, all]);
        let one = store.int(1);
        assert_eq!(apply(&store, both, &[(x, one)]), "(and (< 1 y) (forall ((x Int)) (< x y)))");
        assert_eq!(
            apply(&store, both, &[(x, app(&store, Op::Add, &[x, one]))]),
            "(and (< (+ x 1) y) (forall ((x Int)) (< x y)))",
            "nothing is put under the quantifier, so its variable keeps its name"
        );
    }

    #[test]
    fn variables_that_would_capture_are_renamed() {
        let store = TermStore::new();
        let [x, y, z] = ints(&store, ["x", "y", "z"]);
        let all = app(&store, Op::Forall, &[x, app(&store, Op::Lt, &[x, y, z])]);
        assert_eq!(apply(&store, all, &[(y, x)]), "(forall ((x!0 Int)) (< x!0 x z))");
        let constant = store.apply(store.fun(store.symbol("x"), &[], Sort::INT), &[]).unwrap();
        assert_eq!(apply(&store, all, &[(z, constant)]), "(forall ((x!1 Int)) (< x!1 y x))");
        let nested = app(&store, Op::Exists, &[y, all]);
        assert_eq!(
            apply(&store, nested, &[(y, x), (z, y)]),
            "(exists ((y!2 Int)) (forall ((x Int)) (< x y!2 y)))"
        );
    }

    #[test]
    fn rewriting_meets_each_subterm_once() {
        let store = TermStore::new();
        let [x] = ints(&store, ["x"]);
        let mut term = app(&store, Op::Le, &[x, x]);
        for _ in 0..100 {
            term = app(&store, Op::And, &[term, term]);
        }
        term = app(&store, Op::Exists, &[x, term]);
        let mut calls = 0;
        let mirrored = store.rewrite(term, &mut |op, args| {
            calls += 1;
            app(&store, if op == Op::Le { Op::Ge } else { op }, args)
        });
        assert_eq!(calls, 102);
        let back = store
            .rewrite(mirrored, &mut |op, args| app(&store, if op == Op::Ge { Op::Le } else { op }, args));
        assert_eq!(back, term);
    }

    #[test]
    fn a_substitutor_serves_many_terms() {
        let store = TermStore::new();
        let [x, y] = ints(&store, ["x", "y"]);
        let substitution: Substitution = [(x, y)].into_iter().collect();
        let mut rebuilt = 0;
        let mut substitutor = Substitutor::with_rebuild(&store, &substitution, |op, args| {
            rebuilt += 1;
            app(&store, op, args)
        });
        let sum = app(&store, Op::Add, &[x, y]);
        let atoms = [Op::Lt, Op::Gt].map(|op| app(&store, op, &[sum, y]));
        let results = atoms.map(|atom| substitutor.apply(atom));
        drop(substitutor);
        assert_eq!(results.map(|t| store.display(t).to_string()), ["(< (+ y y) y)", "(> (+ y y) y)"]);
        assert_eq!(rebuilt, 3);
    }

    #[test]
    fn depth_and_sharing_cost_no_more_than_the_graph() {
        let store = TermStore::new();
        let [x, y, z] = ints(&store, ["x", "y", "z"]);
        let start = Instant::now();
        let substitution: Substitution = [(z, app(&store, Op::Add, &[x, y]))].into_iter().collect();
        let seed = app(&store, Op::Lt, &[z, x]);
        let mut deep = seed;
        for _ in 0..1_000_000 {
            deep = app(&store, Op::Not, &[deep]);
        }
        let mut shared = seed;
        for _ in 0..100_000 {
            shared = app(&store, Op::And, &[shared, shared]);
        }
        let mut quantified = app(&store, Op::Lt, &[z, z]);
        for _ in 0..2_000 {
            let [left, right] = [x, y].map(|variable| {
                let body = app(&store, Op::And, &[quantified, app(&store, Op::Lt, &[variable, z])]);
                app(&store, Op::Forall, &[variable, body])
            });
            quantified = app(&store, Op::Or, &[left, right]);
        }
        let mut nested = seed;
        for level in 0..100_000 {
            let variable = store.var(store.symbol(&format!("v{level}")), Sort::INT);
            let body = app(&store, Op::And, &[app(&store, Op::Lt, &[variable, z]), nested]);
            nested = app(&store, Op::Forall, &[variable, body]);
        }
        for term in [deep, shared, quantified, nested] {
            let result = store.substitute(term, &substitution);
            let free = store.free_vars(&[result]);
            assert!(!free.contains(&z) && free.contains(&x));
        }
        assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
    }
}
