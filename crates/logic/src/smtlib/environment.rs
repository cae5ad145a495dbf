//! The meaning of the names of a script.
//!
//! An [`Environment`] outlives the texts that are read in it, so a script can come in pieces. Names get small numbers
//! when they are first seen, so finding a meaning is one table lookup. Local meanings (variables of quantifiers, `let`,
//! patterns) are written into the same table, and a trail undoes them at the end of their scope.
//!
//! The names of theories are reserved, those of solvers (`implies`, `rem`, `List`) are not. If
//! [overloading](Environment::allow_overloading) is allowed, only the names of SMT-LIB's theory Core are reserved, and
//! scripts may declare all others, as translated programs do (`(declare-fun select (Int) Bool)`). Such a name is
//! *overloaded*: an application uses the declared symbol if its arguments have the sorts of the declaration, and
//! otherwise the theory's.

use rustc_hash::{FxBuildHasher, FxHashMap};
use shofar_run::nearest;

use super::logic::Theories;
use crate::op::{Op, is_alias, named_operators};
use crate::sort::{ConstructorId, ConstructorSpec, Fun, Sort, Symbol};
use crate::term::{Term, TermStore};

/// The number of names for which there is room at first: those of all theories, and some more.
const FIRST_NAMES: usize = 224;

/// Names and their meanings. The symbols and sorts of some theories are predefined.
pub struct Environment {
    theories: Theories,
    names: FxHashMap<Box<str>, Name>,
    entries: Vec<Entry>,
    macros: Vec<Macro>,
    sort_macros: Vec<SortMacro>,
    /// The theories' meanings of names that a script may declare.
    builtins: FxHashMap<Name, Meaning>,
    /// Meanings of overloaded names.
    overloads: Vec<Overload>,
    /// Meanings replaced by local ones, oldest first, each with the suffix of the name.
    trail: Vec<(Name, Meaning, u32)>,
    /// The instances of parametric datatypes that were mentioned.
    instances: FxHashMap<Sort, Vec<Sort>>,
    /// Datatypes that need others that are declared later.
    pub(super) postponed: Postponed,
    /// Earlier global meanings of names, for [`Environment::pop`]; empty outside of levels.
    log: Vec<(Name, Meaning, SortMeaning, bool)>,
    /// The lengths of the log at the start of each open level.
    levels: Vec<usize>,
    pristine: bool,
}

/// A name that has been seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Name(u32);

struct Entry {
    symbol: Symbol,
    meaning: Meaning,
    sort: SortMeaning,
    /// Whether the name has a global meaning.
    global: bool,
    /// The number of enclosing quantifiers that bind a variable of this name.
    bound: u32,
    /// The last variable of this name, which is likely to be needed again.
    variable: Option<Term>,
    /// The suffix that distinguishes the innermost variable of this name; zero for none.
    suffix: u32,
}

/// The meaning of a name among functions and terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    Undeclared,
    /// An operator, a declared function, a constructor or a selector.
    Op(Op),
    /// The constructor of a parametric datatype, for any of its instances.
    AnyConstructor(ConstructorId),
    /// A field of a parametric datatype, for any of its instances.
    AnySelector(ConstructorId, u32),
    /// The tester of a constructor by the name `is-c`.
    Tester(ConstructorId),
    /// A variable, or the term of a `let` or of a definition without parameters.
    Term(Term),
    /// A definition with parameters; index into the macros.
    Macro(u32),
    /// A name of a theory that the script has declared; index into the overloads.
    Overloaded(u32),
}

/// The two meanings of a name of a theory that the script has declared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overload {
    pub(super) declared: Meaning,
    pub(super) builtin: Meaning,
}

/// The meaning of a name among sorts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SortMeaning {
    Undeclared,
    Sort(Sort),
    Array,
    /// A declared sort with this number of parameters.
    Uninterpreted(usize),
    /// A parametric datatype.
    Template(Sort),
    /// A definition with parameters; index into the sort macros.
    Macro(u32),
}

/// Datatypes whose declarations mention datatypes of a later command. They are defined together with these.
#[derive(Default)]
pub(super) struct Postponed {
    pub(super) members: Vec<(Name, Sort, Vec<ConstructorSpec>)>,
    /// Datatypes mentioned but not declared yet, and where.
    pub(super) missing: Vec<(Name, Sort, usize)>,
}

/// A function that is defined by a term.
pub(super) struct Macro {
    pub(super) parameters: Box<[Term]>,
    pub(super) body: Term,
}

/// A sort definition with parameters, which uninterpreted sorts represent.
pub(super) struct SortMacro {
    pub(super) parameters: Box<[Sort]>,
    pub(super) body: Sort,
}

/// The sorts named by plain symbols, each with its theory.
pub(super) fn named_sorts() -> [(&'static str, SortMeaning, Theories); 4] {
    [
        ("Bool", SortMeaning::Sort(Sort::BOOL), Theories::CORE),
        ("Int", SortMeaning::Sort(Sort::INT), Theories::INTS),
        ("Real", SortMeaning::Sort(Sort::REAL), Theories::REALS),
        ("Array", SortMeaning::Array, Theories::ARRAYS),
    ]
}

impl Environment {
    /// An environment with the names of all standard theories.
    pub fn new(store: &TermStore) -> Self {
        Environment::with_theories(store, Theories::ALL)
    }

    /// An environment with the names of Core and the given theories. All other names may be declared.
    pub fn with_theories(store: &TermStore, theories: Theories) -> Self {
        let mut environment = Environment {
            theories,
            names: FxHashMap::with_capacity_and_hasher(FIRST_NAMES, FxBuildHasher),
            entries: Vec::with_capacity(FIRST_NAMES),
            macros: Vec::new(),
            sort_macros: Vec::new(),
            builtins: FxHashMap::default(),
            overloads: Vec::new(),
            trail: Vec::new(),
            instances: FxHashMap::default(),
            postponed: Postponed::default(),
            log: Vec::new(),
            levels: Vec::new(),
            pristine: false,
        };
        for (name, op) in named_operators().filter(|&(_, op)| theories.have(op)) {
            let is_free = is_alias(name, op);
            let name = environment.name(store, name);
            environment.set_meaning(name, Meaning::Op(op));
            if is_free {
                environment.builtins.insert(name, Meaning::Op(op));
            }
        }
        if theories.contains(Theories::INTS) {
            let remainder = environment.remainder(store);
            environment.set_builtin(store, "rem", remainder);
        }
        for (name, sort, theory) in named_sorts() {
            if theories.contains(theory) {
                let name = environment.name(store, name);
                environment.set_sort(name, sort);
            }
        }
        environment.pristine = true;
        environment
    }

    /// Whether no name has a meaning beyond those of the theories.
    pub fn is_pristine(&self) -> bool {
        self.pristine
    }

    /// The theories whose symbols and sorts are predefined.
    pub fn theories(&self) -> Theories {
        self.theories
    }

    /// Lets scripts declare the names of theories other than Core, which are then overloaded.
    pub fn allow_overloading(&mut self, store: &TermStore) {
        let theories = self.theories;
        for (text, op) in named_operators().filter(|&(_, op)| theories.have(op) && !Theories::CORE.have(op)) {
            let name = self.name(store, text);
            self.builtins.insert(name, Meaning::Op(op));
        }
    }

    /// Opens a level: later declarations end with it.
    pub fn push(&mut self) {
        self.levels.push(self.log.len());
    }

    /// Closes a level. Does nothing without an open level.
    pub fn pop(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        for (name, meaning, sort, global) in self.log.drain(level..).rev() {
            let entry = &mut self.entries[name.0 as usize];
            (entry.meaning, entry.sort, entry.global) = (meaning, sort, global);
        }
    }

    fn remember(&mut self, name: Name) {
        self.pristine = false;
        if !self.levels.is_empty() {
            let entry = &self.entries[name.0 as usize];
            self.log.push((name, entry.meaning, entry.sort, entry.global));
        }
    }

    /// Removes everything that scripts have declared.
    pub fn reset(&mut self, store: &TermStore) {
        *self = Environment::with_theories(store, self.theories);
    }

    /// The operator of a theory that a declared function hides: it has the function's name, and takes the same arguments.
    pub fn hidden_operator(&self, store: &TermStore, fun: Fun) -> Option<Op> {
        let declaration = store.fun_decl(fun);
        let &name = self.names.get(store.name(declaration.name))?;
        let Some(Meaning::Op(op)) = self.builtin(name) else { return None };
        if is_alias(store.name(declaration.name), op) {
            return None;
        }
        let arguments = declaration.domain.iter().map(|&sort| store.var(declaration.name, sort));
        let op = if op == Op::Sub && declaration.domain.len() == 1 { Op::Neg } else { op };
        store.app(op, &arguments.collect::<Vec<_>>()).is_ok().then_some(op)
    }

    /// Whether a datatype was used whose declaration has to follow.
    pub fn awaits_datatypes(&self) -> bool {
        !self.postponed.missing.is_empty()
    }

    /// Sets a meaning of a name that a script may overload. A name that is bound locally keeps its local meaning.
    pub(super) fn set_builtin(&mut self, store: &TermStore, name: &str, meaning: Meaning) {
        let name = self.name(store, name);
        self.builtins.insert(name, meaning);
        if self.trail.iter().any(|&(bound, ..)| bound == name) {
            return;
        }
        match self.meaning(name) {
            Meaning::Undeclared => self.set_meaning(name, meaning),
            declared => self.declare(name, declared),
        }
    }

    /// The theory's meaning of a name that the script may declare.
    pub(super) fn builtin(&self, name: Name) -> Option<Meaning> {
        self.builtins.get(&name).copied()
    }

    /// Whether the script may declare the name: it has no meaning, or only that of a theory.
    pub(super) fn is_free(&self, name: Name) -> bool {
        let meaning = self.meaning(name);
        meaning == Meaning::Undeclared || self.builtin(name) == Some(meaning)
    }

    /// Sets the declared meaning of a name, beside that of a theory if it has one.
    pub(super) fn declare(&mut self, name: Name, declared: Meaning) {
        let meaning = match self.builtin(name) {
            None => declared,
            Some(builtin) => {
                self.overloads.push(Overload { declared, builtin });
                Meaning::Overloaded(self.overloads.len() as u32 - 1)
            }
        };
        self.set_meaning(name, meaning);
    }

    pub(super) fn overload(&self, index: u32) -> Overload {
        self.overloads[index as usize]
    }

    /// Z3's remainder of integer division, which has the sign of the divisor.
    fn remainder(&mut self, store: &TermStore) -> Meaning {
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let app = |op, args: &[Term]| store.app(op, args).expect("the terms are integers");
        let modulus = app(Op::Mod, &[x, y]);
        let is_natural = app(Op::Ge, &[y, store.int(0)]);
        let body = app(Op::Ite, &[is_natural, modulus, app(Op::Neg, &[modulus])]);
        self.add_macro([x, y].into(), body)
    }

    #[inline]
    pub(super) fn name(&mut self, store: &TermStore, text: &str) -> Name {
        if let Some(&name) = self.names.get(text) {
            return name;
        }
        let name = Name(u32::try_from(self.entries.len()).expect("memory ends long before"));
        self.names.insert(text.into(), name);
        self.entries.push(Entry {
            symbol: store.symbol(text),
            meaning: Meaning::Undeclared,
            sort: SortMeaning::Undeclared,
            global: false,
            bound: 0,
            suffix: 0,
            variable: None,
        });
        name
    }

    pub(super) fn symbol(&self, name: Name) -> Symbol {
        self.entries[name.0 as usize].symbol
    }

    #[inline]
    pub(super) fn meaning(&self, name: Name) -> Meaning {
        self.entries[name.0 as usize].meaning
    }

    /// The nearest name of a function or a term, for hints.
    pub(super) fn nearest<'s>(&self, store: &'s TermStore, text: &str) -> Option<&'s str> {
        let known = self.entries.iter().filter(|entry| entry.meaning != Meaning::Undeclared);
        nearest(text, known.map(|entry| store.name(entry.symbol)))
    }

    /// The nearest name of a sort, for hints.
    pub(super) fn nearest_sort<'s>(&self, store: &'s TermStore, text: &str) -> Option<&'s str> {
        let known = self.entries.iter().filter(|entry| entry.sort != SortMeaning::Undeclared);
        nearest(text, known.map(|entry| store.name(entry.symbol)))
    }

    /// The meaning of the name; the declared one if it is overloaded.
    pub(super) fn declared(&self, name: Name) -> Meaning {
        match self.meaning(name) {
            Meaning::Overloaded(index) => self.overload(index).declared,
            meaning => meaning,
        }
    }

    /// All meanings of the name: the declared one before that of a theory.
    pub(super) fn meanings(&self, name: Name) -> impl Iterator<Item = Meaning> {
        let builtin = match self.meaning(name) {
            Meaning::Overloaded(index) => Some(self.overload(index).builtin),
            _ => None,
        };
        [self.declared(name)].into_iter().chain(builtin)
    }

    /// Sets the global meaning of a name. No scope may be open.
    pub(super) fn set_meaning(&mut self, name: Name, meaning: Meaning) {
        self.remember(name);
        let entry = &mut self.entries[name.0 as usize];
        entry.meaning = meaning;
        entry.global = meaning != Meaning::Undeclared;
    }

    /// Makes a name mean a variable in all later texts, whatever it meant before. Quantifiers that bind the name rename
    /// their own variable, so they do not capture this one.
    pub fn bind_free_variable(&mut self, store: &TermStore, name: Symbol, variable: Term) {
        let name = self.name(store, store.name(name));
        self.set_meaning(name, Meaning::Term(variable));
    }

    pub(super) fn sort_meaning(&self, name: Name) -> SortMeaning {
        self.entries[name.0 as usize].sort
    }

    pub(super) fn set_sort(&mut self, name: Name, sort: SortMeaning) {
        self.remember(name);
        self.entries[name.0 as usize].sort = sort;
    }

    pub(super) fn add_macro(&mut self, parameters: Box<[Term]>, body: Term) -> Meaning {
        self.macros.push(Macro { parameters, body });
        Meaning::Macro(self.macros.len() as u32 - 1)
    }

    pub(super) fn get_macro(&self, index: u32) -> &Macro {
        &self.macros[index as usize]
    }

    pub(super) fn add_sort_macro(&mut self, parameters: Box<[Sort]>, body: Sort) -> SortMeaning {
        self.sort_macros.push(SortMacro { parameters, body });
        SortMeaning::Macro(self.sort_macros.len() as u32 - 1)
    }

    pub(super) fn get_sort_macro(&self, index: u32) -> &SortMacro {
        &self.sort_macros[index as usize]
    }

    /// Records an instance of a parametric datatype.
    pub(super) fn add_instance(&mut self, template: Sort, instance: Sort) {
        let instances = self.instances.entry(template).or_default();
        if instances.len() < 2 && !instances.contains(&instance) {
            instances.push(instance);
        }
    }

    /// The first two instances of a parametric datatype that were mentioned.
    pub(super) fn instances(&self, template: Sort) -> &[Sort] {
        self.instances.get(&template).map_or(&[], Vec::as_slice)
    }

    // ---- local scopes ------------------------------------------------------------------------------------

    /// The start of a scope, to be passed to [`leave`](Self::leave).
    pub(super) fn enter(&self) -> usize {
        self.trail.len()
    }

    /// Sets the meaning of a name until its scope is left.
    pub(super) fn bind(&mut self, name: Name, meaning: Meaning) {
        let entry = &mut self.entries[name.0 as usize];
        self.trail.push((name, entry.meaning, entry.suffix));
        entry.meaning = meaning;
    }

    /// Undoes all local meanings since the scope was entered.
    pub(super) fn leave(&mut self, scope: usize) {
        for (name, meaning, suffix) in self.trail.drain(scope..).rev() {
            let entry = &mut self.entries[name.0 as usize];
            entry.meaning = meaning;
            entry.suffix = suffix;
        }
    }

    /// Binds the name to a new variable until the scope is left, and returns the variable with its actual name.
    ///
    /// Terms know variables only by name and sort. So a variable is renamed if an enclosing quantifier binds the same
    /// name (a `let` between the two may carry the outer variable inside), or if the name has another global meaning
    /// (the two could not be distinguished in print).
    pub(super) fn bind_variable(&mut self, store: &TermStore, name: Name, sort: Sort) -> (Name, Term) {
        let mut real = name;
        // The suffixes up to that of the innermost variable of the name are likely to be taken.
        let mut suffix = self.entries[name.0 as usize].suffix;
        while self.entries[real.0 as usize].bound > 0 || self.entries[real.0 as usize].global {
            suffix += 1;
            real = self.name(store, &format!("{}!{suffix}", store.name(self.symbol(name))));
        }
        let entry = &mut self.entries[real.0 as usize];
        entry.bound += 1;
        let known = entry.variable.filter(|&variable| store.sort_of(variable) == sort);
        let variable = known.unwrap_or_else(|| store.var(entry.symbol, sort));
        entry.variable = Some(variable);
        self.bind(name, Meaning::Term(variable));
        self.entries[name.0 as usize].suffix = suffix;
        (real, variable)
    }

    /// Releases the name of a variable; [`leave`](Self::leave) undoes its meaning.
    pub(super) fn unbind_variable(&mut self, real: Name) {
        self.entries[real.0 as usize].bound -= 1;
    }
}
