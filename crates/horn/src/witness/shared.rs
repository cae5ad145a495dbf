//! The values of a refutation with names for what they share.
//!
//! The values of a long run have much in common: each list may have the one of the step before as its tail, and the Peano
//! number 100,000 is as large as its derivation is long. As trees, their texts are quadratic in the steps or worse. So parts
//! that several values use get names, and successors are applied by powers of ten:
//!
//! ```text
//! (define-fun S!10 ((n Nat)) Nat (S (S (S (S (S (S (S (S (S (S n)))))))))))
//! (define-fun S!100 ((n Nat)) Nat (S!10 (S!10 ... n)))
//! (define-fun v!1 () Nat (S!100 (S!100 (S!10 Z))))
//! (step 7 (P v!1) :clause 2 :premises (6) :instance ((n v!1)))
//! ```
//!
//! These are plain definitions of SMT-LIB. A reader that expands them gets the exact values, so the checker need not know them.
//!
//! - N1: the values of a refutation with few symbols are written without names.
//! - N2: otherwise, all definitions and values together have as many symbols as there are different subterms, up to a
//!   constant factor, and a Peano number has as many as its digits sum up to. Expanding all definitions in their order
//!   makes each subterm a constant number of times.
//! - N3: names are different from all names of the system.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Fun, Op, Peano, Sort, Symbol, Term, TermStore, Value};

use super::{FreeNames, Refutation};
use crate::system::HornSystem;

/// Values with so many symbols in all are written without names.
const MOST_PLAIN: u64 = 4096;

/// The least symbols of a part that gets a name if it is used more than once.
const LEAST_NAMED: u64 = 12;

/// The least number of successors of a part that gets a name if it is used more than once.
const LEAST_SUCCESSORS: u64 = 16;

/// The values of a refutation as terms over defined names.
pub(super) struct SharedValues<'a> {
    store: &'a TermStore,
    /// The terms over names, for all values that have one with names.
    written: FxHashMap<Term, Term>,
    /// Each one uses only those before it.
    pub(super) definitions: Vec<NamedValue>,
}

/// The definition of a value or of a power of a successor.
pub(super) struct NamedValue {
    pub(super) name: Symbol,
    /// The argument of a power.
    pub(super) parameter: Option<Term>,
    pub(super) sort: Sort,
    pub(super) body: Term,
    /// The value, if it is one.
    pub(super) value: Option<Value>,
}

impl<'a> SharedValues<'a> {
    pub(super) fn new(store: &'a TermStore, system: &HornSystem, refutation: &Refutation) -> Self {
        let plain = SharedValues { store, written: FxHashMap::default(), definitions: Vec::new() };
        let values = refutation.steps.iter().flat_map(|step| step.fact.iter().chain(&step.instantiation));
        let roots: Vec<Term> = values
            .filter_map(|value| if let Value::Term(term) = value { Some(*term) } else { None })
            .collect();
        let subterms = store.subterms(&roots);
        if symbols(store, &subterms, &roots) <= MOST_PLAIN {
            return plain;
        }
        Naming::new(store, system, &subterms, &roots).name_all(subterms, &roots)
    }

    /// A value as a term over defined names.
    pub(super) fn term(&self, value: &Value) -> Term {
        let term = self.store.value_to_term(value);
        self.written.get(&term).copied().unwrap_or(term)
    }
}

/// The symbols of all values as trees.
fn symbols(store: &TermStore, subterms: &[Term], roots: &[Term]) -> u64 {
    let mut sizes: FxHashMap<Term, u64> = FxHashMap::default();
    for &term in subterms {
        let size = store.args(term).iter().map(|arg| sizes[arg]).fold(1, u64::saturating_add);
        sizes.insert(term, size);
    }
    roots.iter().map(|root| sizes[root]).fold(0, u64::saturating_add)
}

/// A Peano value as successors of another term: zero, or a named one.
#[derive(Clone, Copy)]
struct Successors {
    base: Term,
    count: u64,
}

struct Naming<'a> {
    store: &'a TermStore,
    free: FreeNames<'a>,
    used: FxHashSet<Symbol>,
    uses: FxHashMap<Term, u32>,
    /// Peano values that are not named.
    successors: FxHashMap<Term, Successors>,
    /// The powers of successors: tenth, hundredth and so on.
    powers: FxHashMap<Sort, Vec<Fun>>,
    /// The number of named values.
    named: usize,
    shared: SharedValues<'a>,
}

impl<'a> Naming<'a> {
    fn new(store: &'a TermStore, system: &HornSystem, subterms: &[Term], roots: &[Term]) -> Self {
        let mut uses: FxHashMap<Term, u32> = FxHashMap::default();
        for &used in roots.iter().chain(subterms.iter().flat_map(|&term| store.args(term))) {
            *uses.entry(used).or_default() += 1;
        }
        Naming {
            store,
            free: FreeNames::new(store, system),
            used: FxHashSet::default(),
            uses,
            successors: FxHashMap::default(),
            powers: FxHashMap::default(),
            named: 0,
            shared: SharedValues { store, written: FxHashMap::default(), definitions: Vec::new() },
        }
    }

    fn name_all(mut self, subterms: Vec<Term>, roots: &[Term]) -> SharedValues<'a> {
        let store = self.store;
        let is_root: FxHashSet<Term> = roots.iter().copied().collect();
        let mut sizes: FxHashMap<Term, u64> = FxHashMap::default();
        // Parts come before what they are part of.
        for term in subterms {
            let (op, args) = store.view(term);
            let (sort, is_shared) = (store.sort_of(term), self.uses[&term] > 1);
            let peano = store.peano(sort).filter(|_| matches!(op, Op::Construct(_)));
            let size = match (peano, args) {
                (Some(_), &[below]) => {
                    let Successors { base, count } =
                        self.successors.get(&below).copied().unwrap_or(Successors { base: below, count: 0 });
                    self.successors.insert(term, Successors { base, count: count + 1 });
                    digit_sum(count + 1) + 1
                }
                _ => args.iter().map(|arg| sizes[arg]).fold(1, u64::saturating_add),
            };
            let is_high = self.successors.get(&term).is_some_and(|known| known.count >= LEAST_SUCCESSORS);
            let is_named = is_shared && (size >= LEAST_NAMED || is_high);
            sizes.insert(term, if is_named { 1 } else { size });
            // Successors in between are never written.
            if is_named || is_root.contains(&term) || peano.is_none() {
                self.write(term, peano, is_named);
            }
        }
        self.shared
    }

    /// Finds the term over names for a value, and names it.
    fn write(&mut self, term: Term, peano: Option<Peano>, is_named: bool) {
        let store = self.store;
        let body = match peano {
            Some(_) => self.number(term),
            None => {
                let (op, args) = store.view(term);
                let args: Vec<Term> = args.iter().map(|&arg| self.part(arg)).collect();
                if args == store.args(term) {
                    term
                } else {
                    store.app(op, &args).expect("names have the sorts of values")
                }
            }
        };
        let written = if is_named {
            let sort = store.sort_of(term);
            self.named += 1;
            let name = self.free.choose(Some(&format!("v!{}", self.named)), "v", &mut self.used);
            let value = Some(Value::Term(term));
            self.shared.definitions.push(NamedValue { name, parameter: None, sort, body, value });
            self.successors.remove(&term);
            store.var(name, sort)
        } else {
            body
        };
        if written != term {
            self.shared.written.insert(term, written);
        }
    }

    /// A part of another value.
    fn part(&mut self, term: Term) -> Term {
        match self.shared.written.get(&term) {
            Some(&written) => written,
            None if self.successors.contains_key(&term) => self.number(term),
            None => term,
        }
    }

    /// A Peano value by powers of its successor, largest first.
    fn number(&mut self, term: Term) -> Term {
        let store = self.store;
        let Some(&Successors { base, count }) = self.successors.get(&term) else { return term };
        let mut written = self.shared.written.get(&base).copied().unwrap_or(base);
        let sort = store.sort_of(term);
        let (mut left, mut power) = (count / 10, 0);
        written = store.successors(written, count % 10);
        while left > 0 {
            let fun = self.power(sort, power);
            for _ in 0..left % 10 {
                written = store.apply(fun, &[written]).expect("powers map values to values");
            }
            (left, power) = (left / 10, power + 1);
        }
        written
    }

    /// The function that applies the successor ten times as often as the one before.
    fn power(&mut self, sort: Sort, power: usize) -> Fun {
        let store = self.store;
        let peano = store.peano(sort).expect("only Peano values have successors");
        while self.powers.get(&sort).map_or(0, Vec::len) <= power {
            let below = self.powers.entry(sort).or_default().last().copied();
            let times = 10_u64.pow(self.powers[&sort].len() as u32 + 1);
            let successor = store.name(store.constructor(peano.successor).name);
            let name = self.free.choose(Some(&format!("{successor}!{times}")), "successor", &mut self.used);
            let mut locals = FxHashSet::default();
            let parameter = store.var(self.free.choose(Some("n"), "n", &mut locals), sort);
            let body = match below {
                None => store.successors(parameter, 10),
                Some(below) => (0..10).fold(parameter, |term, _| {
                    store.apply(below, &[term]).expect("powers map values to values")
                }),
            };
            let definition = NamedValue { name, parameter: Some(parameter), sort, body, value: None };
            self.shared.definitions.push(definition);
            let fun = store.fun(name, &[sort], sort);
            self.powers.entry(sort).or_default().push(fun);
        }
        self.powers[&sort][power]
    }
}

fn digit_sum(mut number: u64) -> u64 {
    let mut sum = 0;
    while number > 0 {
        sum += number % 10;
        number /= 10;
    }
    sum
}
