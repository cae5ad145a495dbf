//! The recursive functions of models and proofs by induction, and lemmas about them, as texts of SMT-LIB.
//!
//! ```text
//! (define-fun-rec len ((x list)) Int
//!   (match x ((nil 0) ((cons h t) (+ 1 (len t))))))
//! (define-fun lemma ((x list)) Bool
//!   (>= (len x) 0))
//! ```
//!
//! SMT-LIB has no lemmas. A lemma is a Boolean function whose name starts with `lemma` and whose first argument is of a datatype: the
//! claim that it is true for all arguments.

use std::fmt::Write as _;

use rustc_hash::FxHashSet;
use shofar_logic::{Fold, FoldCase, FoldLemma, Fun, Op, Sort, Substitution, Symbol, Term, TermStore};

use super::automaton::TreeAutomaton;
use super::{Definition, FreeNames, Induction, Model, written};
use crate::infix::Notation;
use crate::print::sorted_variables;
use crate::system::HornSystem;

/// The beginning of the names of lemmas.
pub(crate) const LEMMA: &str = "lemma";

/// The least size of subterms that get a name if they occur more than once.
const LEAST_NAMED: u32 = 12;

/// A recursive function, with variables named for people.
pub(crate) struct RecursiveFunction {
    pub(crate) fun: Fun,
    /// The value of the datatype, and the ghosts.
    pub(crate) parameters: Box<[Term]>,
    /// A case for each constructor.
    pub(crate) cases: Box<[FoldCase]>,
}

/// A lemma with a name.
pub(crate) struct NamedLemma {
    pub(crate) name: Symbol,
    pub(crate) lemma: FoldLemma,
}

/// The recursive functions of a witness, and its lemmas about them.
pub struct Recursion<'a> {
    store: &'a TermStore,
    system: &'a HornSystem,
    /// The functions, callees first.
    folds: Vec<Fun>,
    lemmas: &'a [FoldLemma],
}

impl Model {
    /// The folds that definitions and lemmas apply, callees first.
    pub(crate) fn folds(&self, store: &TermStore) -> Vec<Fun> {
        folds(store, self.definitions.iter().map(Definition::formula), &self.lemmas)
    }

    /// The recursive functions that the model needs.
    pub fn recursion<'a>(&'a self, store: &'a TermStore, system: &'a HornSystem) -> Recursion<'a> {
        Recursion { store, system, folds: self.folds(store), lemmas: &self.lemmas }
    }
}

impl Induction {
    /// The folds that lemmas apply, callees first.
    pub(crate) fn folds(&self, store: &TermStore) -> Vec<Fun> {
        folds(store, self.lemmas.iter().map(|lemma| lemma.conclusion), &self.fold_lemmas)
    }

    /// The recursive functions that the lemmas need.
    pub fn recursion<'a>(&'a self, store: &'a TermStore, system: &'a HornSystem) -> Recursion<'a> {
        Recursion { store, system, folds: self.folds(store), lemmas: &self.fold_lemmas }
    }
}

/// The folds that formulas and lemmas apply, callees first.
fn folds(store: &TermStore, formulas: impl Iterator<Item = Term>, lemmas: &[FoldLemma]) -> Vec<Fun> {
    let lemmas = lemmas.iter().map(|lemma| lemma.formula);
    store.folds_in(&formulas.chain(lemmas).collect::<Vec<Term>>())
}

impl Recursion<'_> {
    /// The functions by families.
    pub(crate) fn functions(&self) -> Vec<Vec<RecursiveFunction>> {
        if self.folds.is_empty() {
            return Vec::new();
        }
        let free = FreeNames::new(self.store, self.system);
        let taken = self.names();
        let definitions = self.folds.iter().filter_map(|&fun| self.store.fold(fun));
        let definitions: Vec<&Fold> = definitions.collect();
        let families = definitions.chunk_by(|a, b| a.family == b.family);
        let function = |fold: &&Fold| RecursiveFunction::new(self.store, &free, &taken, fold);
        families.map(|family| family.iter().map(function).collect()).collect()
    }

    fn names(&self) -> FxHashSet<Symbol> {
        self.folds.iter().map(|&fun| self.store.fun_decl(fun).name).collect()
    }

    /// The definitions of the functions, as equations for each constructor and function: `len(nil) = 0` and so on. Only SMT-LIB
    /// writes number functions of Peano datatypes, so other notations need no definition of them.
    pub fn equations(&self, notation: Notation) -> Vec<Term> {
        let store = self.store;
        let is_written = |function: &RecursiveFunction| {
            notation == Notation::Smtlib || store.number_function_sort(function.fun).is_none()
        };
        let equation = |function: &RecursiveFunction, case: &FoldCase| {
            let value = store.construct_term(case.constructor, &case.fields);
            let args: Vec<Term> = [value].iter().chain(&function.parameters[1..]).copied().collect();
            let application = store.apply(function.fun, &args).expect("the sorts fit");
            store.app(Op::Eq, &[application, case.value]).expect("the sorts fit")
        };
        let functions = self.functions().into_iter().flatten();
        functions
            .filter(is_written)
            .flat_map(|function| {
                let equations = function.cases.iter().map(|case| equation(&function, case));
                equations.collect::<Vec<Term>>()
            })
            .collect()
    }

    /// The functions with finitely many values, as automata.
    pub fn automata(&self) -> Vec<(Fun, TreeAutomaton)> {
        self.folds.iter().filter_map(|&fun| Some((fun, TreeAutomaton::of(self.store, fun)?))).collect()
    }

    /// The lemmas, over variables for any value of a datatype and any ghosts.
    pub fn lemma_formulas(&self) -> Vec<Term> {
        self.named_lemmas().into_iter().map(|named| named.lemma.formula).collect()
    }

    /// The lemmas with names that nothing else has.
    pub(crate) fn named_lemmas(&self) -> Vec<NamedLemma> {
        if self.lemmas.is_empty() {
            return Vec::new();
        }
        let store = self.store;
        let free = FreeNames::new(store, self.system);
        let mut taken = self.names();
        let named = |lemma: &FoldLemma| {
            let name = free.choose(Some(LEMMA), LEMMA, &mut taken);
            let mut used = taken.clone();
            let parameters = parameters(store, &free, &lemma.parameters, &mut used);
            let formula = renamed(store, lemma.formula, &lemma.parameters, &parameters);
            NamedLemma { name, lemma: FoldLemma { parameters, formula } }
        };
        self.lemmas.iter().map(named).collect()
    }
}

/// A variable for the value of a datatype, and for the ghosts behind it.
fn parameters(
    store: &TermStore,
    free: &FreeNames<'_>,
    old: &[Term],
    used: &mut FxHashSet<Symbol>,
) -> Box<[Term]> {
    let parameter = |(position, &variable): (usize, &Term)| {
        let stem = if position == 0 { "x" } else { "g" };
        store.var(free.choose(Some(stem), stem, used), store.sort_of(variable))
    };
    old.iter().enumerate().map(parameter).collect()
}

/// A term as people write it, with other variables.
fn renamed(store: &TermStore, term: Term, from: &[Term], to: &[Term]) -> Term {
    let pairs = from.iter().copied().zip(to.iter().copied());
    written(store, to, store.instantiate(term, &pairs.collect::<Substitution>()))
}

impl RecursiveFunction {
    fn new(store: &TermStore, free: &FreeNames<'_>, taken: &FxHashSet<Symbol>, fold: &Fold) -> Self {
        let value = store.var(store.symbol("value"), fold.sort(store));
        let old: Vec<Term> = [value].iter().chain(&fold.ghosts).copied().collect();
        let mut used = taken.clone();
        let parameters = parameters(store, free, &old, &mut used);
        let case = |case: &FoldCase| {
            let mut used = used.clone();
            let selectors = store.constructor(case.constructor).fields.iter();
            let field = |&(selector, sort): &(Symbol, Sort)| {
                let initial: String = store.name(selector).chars().take(1).collect();
                store.var(free.choose(Some(&initial.to_lowercase()), "x", &mut used), sort)
            };
            let fields: Box<[Term]> = selectors.map(field).collect();
            let from: Vec<Term> = case.fields.iter().chain(&fold.ghosts).copied().collect();
            let to: Vec<Term> = fields.iter().chain(&parameters[1..]).copied().collect();
            FoldCase { constructor: case.constructor, value: renamed(store, case.value, &from, &to), fields }
        };
        let cases = fold.cases.iter().map(case).collect();
        RecursiveFunction { fun: fold.fun, parameters, cases }
    }

    /// `len ((x list)) Int`.
    pub(crate) fn signature(&self, store: &TermStore) -> String {
        let declaration = store.fun_decl(self.fun);
        let (name, range) = (store.display_symbol(declaration.name), store.display_sort(declaration.range));
        format!("{name} ({}) {range}", sorted_variables(store, &self.parameters))
    }

    /// `(match x ((nil 0) ((cons h t) (+ 1 (len t)))))`, with cases on lines of their own if the text is wider than `width`.
    pub(crate) fn body(&self, store: &TermStore, column: usize, width: usize) -> String {
        let cases: Vec<String> = self.cases.iter().map(|case| case_text(store, case)).collect();
        let value = store.display(self.parameters[0]);
        let line = format!("(match {value} ({}))", cases.join(" "));
        if column + line.chars().count() <= width {
            return line;
        }
        let indent = " ".repeat(column + 2);
        let mut text = format!("(match {value} (");
        for case in cases {
            let _ = write!(text, "\n{indent}{case}");
        }
        text + "))"
    }
}

/// `((cons h t) (+ 1 (len t)))`.
fn case_text(store: &TermStore, case: &FoldCase) -> String {
    let name = store.display_symbol(store.constructor(case.constructor).name);
    let value = store.display(case.value).naming_from(LEAST_NAMED);
    if case.fields.is_empty() {
        return format!("({name} {value})");
    }
    let fields: Vec<String> = case.fields.iter().map(|&field| store.display(field).to_string()).collect();
    format!("(({name} {}) {value})", fields.join(" "))
}

/// The definition of a family: `define-fun-rec`, or `define-funs-rec` if its functions call each other.
pub(crate) fn family_text(
    store: &TermStore,
    family: &[RecursiveFunction],
    column: usize,
    width: usize,
) -> String {
    let indent = " ".repeat(column + 2);
    if let [function] = family {
        let body = function.body(store, column + 2, width);
        return format!("(define-fun-rec {}\n{indent}{body})", function.signature(store));
    }
    let signatures: Vec<String> =
        family.iter().map(|function| format!("({})", function.signature(store))).collect();
    let bodies: Vec<String> = family.iter().map(|function| function.body(store, column + 3, width)).collect();
    format!(
        "(define-funs-rec\n{indent}({})\n{indent}({}))",
        signatures.join(&format!("\n{indent} ")),
        bodies.join(&format!("\n{indent} "))
    )
}

/// The lemma, if a definition with this name is one.
pub(super) fn lemma_of(
    store: &TermStore,
    name: Symbol,
    parameters: &[Term],
    body: Term,
) -> Option<FoldLemma> {
    let is_of_datatype =
        parameters.first().is_some_and(|&first| store.datatype(store.sort_of(first)).is_some());
    let is_lemma = store.name(name).starts_with(LEMMA) && store.sort_of(body) == Sort::BOOL && is_of_datatype;
    is_lemma.then(|| FoldLemma { parameters: parameters.into(), formula: body })
}
