//! Algebraic datatypes: when to guess constructors, and the lemmas that do it.
//!
//! Constructors, selectors and testers are functions of congruence. The graph knows that constructors are free, and
//! closes classes under injection and reduction; a final check finds terms that contain themselves (`euf/free.rs`,
//! `congruence.rs`). What is left is to find the constructor of a term that has none:
//!
//! ```text
//! split     is-c1(x) or .. or is-ck(x)
//! expand    is-c(x)  implies  x = c(sel_1(x), .., sel_n(x))
//! ```
//!
//! Both are lemmas over formulas, because they introduce terms. A datatype with one constructor has no testers, and `x
//! = c(..)` is a lemma by itself. Of two constructors only the first has a tester; its negation is that of the second.
//! So `expand` alone splits.
//!
//! **When.** A class without a constructor *needs* one if it contains the argument of a selector or tester, or if its
//! sort is finite. All other classes get values that no other class has (`model.rs`): there are infinitely many. Only
//! terms in atoms that the search has assigned count, so that terms of earlier queries cost nothing. Among the
//! constructors of a split, the search tries that of the least value first; otherwise it would build ever longer lists.
//!
//! **Why it is complete.** After a final check without a lemma, each class of a finite sort has a constructor, and so
//! have its fields. The graph is closed, acyclic and without clash, so values can be built bottom-up, and different
//! classes get different values: for constructors with fields of other theories, M2 of `combination.rs` ensures it. A
//! selector of another constructor is a function that is left open, as SMT-LIB says; its lines are those of its
//! applications.
//!
//! **Why it ends.** Let `A` be the arguments of selectors and testers. Lemmas are about members of `A`, or terms of
//! finite sorts. `expand` introduces selectors of members of `A`, so `A` does not grow; and the fields of terms of a
//! finite sort are of simpler sorts. So there are finitely many lemmas.
//!
//! - DT1: `assigned` has the assigned atoms among those with needs, with their levels, in the order of assertion.
//!
//! Source: C. Barrett, I. Shikanian, C. Tinelli, "An abstract decision procedure for a theory of inductive data types"
//! (JSAT 2007), for lazy splitting; A. Reynolds, J. Blanchette, "A decision procedure for (co)datatypes in SMT solvers"
//! (JAR 2017), for finite sorts and selectors of other constructors.

pub(crate) mod axiom;
pub(crate) mod model;
pub(crate) mod sorts;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{ConstructorId, Op, SortKind, Term, TermStore};

use self::sorts::Finiteness;
pub(crate) use self::sorts::{parts, sorts_below};
use super::certificate::DATATYPE_AXIOM;
use super::component::TermLemma;
use super::euf::{EGraph, Node};
use crate::sat::Var;

/// The terms of datatypes that may need a constructor.
#[derive(Default)]
pub(super) struct Datatypes {
    /// The nodes that need a constructor while an atom is assigned.
    needs: FxHashMap<Var, Box<[Node]>>,
    /// Terms without needs in or below them.
    content: FxHashSet<Term>,
    /// Assigned atoms (DT1).
    assigned: Vec<(u32, Var)>,
    /// The constructors of testers.
    testers: FxHashMap<Node, ConstructorId>,
    /// For atoms that are testers, the value to try first.
    phases: FxHashMap<Var, bool>,
    finiteness: Finiteness,
    /// Nodes whose classes lack a constructor, after a check.
    lacking: Vec<Lack>,
    /// The number of lemmas of each kind.
    splits: u64,
    expansions: u64,
}

/// A class without a constructor.
struct Lack {
    /// A member that needs one.
    node: Node,
    /// What testers say about members.
    testers: Vec<Tested>,
}

/// A tester with a truth value.
struct Tested {
    argument: Node,
    constructor: ConstructorId,
    holds: bool,
}

impl Datatypes {
    /// Adds a tester, which is an atom.
    pub(super) fn add_tester(
        &mut self,
        store: &TermStore,
        node: Node,
        constructor: ConstructorId,
        atom: Var,
    ) {
        self.testers.insert(node, constructor);
        let sort = store.constructor(constructor).sort;
        let least = store.value_to_term(&store.default_value(sort));
        self.phases.insert(atom, store.op(least) == Op::Construct(constructor));
    }

    /// Records which terms below an atom need a constructor while it is assigned.
    pub(super) fn add_atom(
        &mut self,
        store: &TermStore,
        var: Var,
        atom: Term,
        node: impl Fn(Term) -> Option<Node>,
    ) {
        let mut needs: Vec<Node> = Vec::new();
        // Ascending indices are bottom-up.
        for term in store.subterms_until(&[atom], |term| self.content.contains(&term)) {
            let before = needs.len();
            let (op, args) = store.view(term);
            if matches!(op, Op::Selector { .. } | Op::Tester(_)) {
                needs.extend(node(args[0]));
            }
            let sort = store.sort_of(term);
            if matches!(store.sort_kind(sort), SortKind::Datatype(_))
                && self.finiteness.is_finite(store, sort)
            {
                needs.extend(node(term));
            }
            if needs.len() == before && args.iter().all(|arg| self.content.contains(arg)) {
                self.content.insert(term);
            }
        }
        needs.sort_unstable();
        needs.dedup();
        if !needs.is_empty() {
            self.needs.insert(var, needs.into());
        }
    }

    /// Whether no atom has needs.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.needs.is_empty()
    }

    /// An atom was assigned at a level.
    pub(super) fn assign(&mut self, level: u32, var: Var) {
        if self.needs.contains_key(&var) {
            self.assigned.push((level, var));
        }
    }

    /// Only the assignments up to this level remain.
    pub(super) fn pop_to(&mut self, level: u32) {
        self.assigned.truncate(self.assigned.partition_point(|&(at, _)| at <= level));
    }

    /// The value to try first for a tester.
    pub(super) fn phase(&self, atom: Var) -> Option<bool> {
        self.phases.get(&atom).copied()
    }

    /// Whether some class needs a constructor and has none. [`take_lemmas`](Self::take_lemmas) then asks for it.
    pub(super) fn lacks_constructors(&mut self, graph: &EGraph) -> bool {
        self.lacking.clear();
        // The first member of each class.
        let mut members: FxHashMap<Node, Node> = FxHashMap::default();
        for &node in self.assigned.iter().flat_map(|(_, var)| &self.needs[var]) {
            if graph.value_of_class(node).is_none() {
                let member = members.entry(graph.root(node)).or_insert(node);
                *member = node.min(*member);
            }
        }
        for node in members.into_values() {
            let tested = graph.parents(node).filter_map(|(tester, _)| {
                let &constructor = self.testers.get(&tester)?;
                let value = graph.value_of_class(tester)?;
                let argument = graph.args(tester)[0];
                Some(Tested { argument, constructor, holds: value == Node::TRUE })
            });
            let testers = tested.collect();
            self.lacking.push(Lack { node, testers });
        }
        self.lacking.sort_unstable_by_key(|lack| lack.node);
        !self.lacking.is_empty()
    }

    /// The lemmas for the classes that the last check found.
    pub(super) fn take_lemmas(&mut self, store: &TermStore, term: impl Fn(Node) -> Term) -> Vec<TermLemma> {
        let mut lemmas: Vec<Vec<Term>> = Vec::new();
        for Lack { node, testers } in std::mem::take(&mut self.lacking) {
            let x = term(node);
            let datatype = store.datatype(store.sort_of(x)).expect("it needs a constructor");
            let known = match *datatype.constructors() {
                [only] => Some((x, only)),
                ref constructors => testers.iter().find_map(|tested| match *constructors {
                    _ if tested.holds => Some((term(tested.argument), tested.constructor)),
                    [first, second] if tested.constructor == first => Some((term(tested.argument), second)),
                    _ => None,
                }),
            };
            match known {
                Some((x, constructor)) => {
                    self.expansions += 1;
                    lemmas.push(expansion(store, x, constructor));
                }
                None => {
                    self.splits += 1;
                    lemmas.extend(split(store, x, datatype.constructors()));
                }
            }
        }
        let lemma = |literals| TermLemma { literals, certificate: DATATYPE_AXIOM };
        lemmas.into_iter().map(lemma).collect()
    }

    /// Appends its counters, by name.
    pub(super) fn statistics(&self, counters: &mut Vec<(&'static str, u64)>) {
        counters.extend([("datatype-splits", self.splits), ("datatype-expansions", self.expansions)]);
    }
}

/// `is-c(x) implies x = c(sel_1(x), .., sel_n(x))`.
fn expansion(store: &TermStore, x: Term, constructor: ConstructorId) -> Vec<Term> {
    let fields = 0..store.constructor(constructor).fields.len() as u32;
    let fields: Vec<Term> = fields.map(|field| store.selector(constructor, field, x)).collect();
    let expanded = store.eq(x, store.construct_term(constructor, &fields));
    match store.tester(constructor, x) {
        Term::TRUE => vec![expanded],
        tester => vec![store.not(tester), expanded],
    }
}

/// The lemmas that find the constructor of a term. Constants need no second lemma.
fn split(store: &TermStore, x: Term, constructors: &[ConstructorId]) -> Vec<Vec<Term>> {
    let is_constant = |constructor: ConstructorId| store.constructor(constructor).fields.is_empty();
    let constants = constructors.iter().copied().filter(|&constructor| is_constant(constructor));
    let mut lemmas: Vec<Vec<Term>> = constants.map(|constant| expansion(store, x, constant)).collect();
    match *constructors {
        [first, _] if lemmas.is_empty() => lemmas.push(expansion(store, x, first)),
        [_, _] => {}
        _ => lemmas.push(constructors.iter().map(|&constructor| store.tester(constructor, x)).collect()),
    }
    lemmas
}
