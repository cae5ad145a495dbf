//! VMT: a transition system as annotated SMT-LIB terms.
//!
//! ```text
//! (declare-fun x () Int)
//! (declare-fun x.next () Int)
//! (define-fun sv () Int (! x :next x.next))
//! (define-fun init () Bool (! (= x 0) :init true))
//! (define-fun step () Bool (! (= x.next (+ x 1)) :trans true))
//! (define-fun safe () Bool (! (>= x 0) :invar-property 0))
//! ```
//!
//! `:next` makes a declared constant a state variable and names its value in the next step. All other declared constants
//! are inputs, with any value in each step. Exactly one formula has `:init`, one has `:trans`. Each `:invar-property` is an
//! invariant to prove. Only annotations count, wherever they stand: assertions and questions of the script are ignored.
//! The format is described at <https://vmt-lib.fbk.eu>.
//!
//! A script is VMT if a term has one of these annotations, or if its name ends in `.vmt`. It becomes one system over a
//! predicate for reachable states:
//!
//! ```text
//! init(x, i)                           =>  state(x)
//! state(x)  and  trans(x, i, x')       =>  state(x')
//! state(x)  and  not property(x, i)    =>  false        for each property
//! ```
//!
//! * The inputs of step 0 are the same in `:init` and in all that happens in step 0. Inputs that `:init` mentions are
//!   therefore arguments of the predicate, whose next values nothing constrains.
//! * Declared sorts and functions are refused: a property has to hold for all their interpretations, whereas clauses ask
//!   for one.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::smtlib::{Annotation, Declaration};
use shofar_logic::{Fun, Op, Sort, Substitution, Symbol, Term, TermStore};

use super::{Result, Script, error};
use crate::system::{Atom, Clause, HornSystem, Position, PredicateId};

/// The predicate of reachable states.
const STATE: &str = "state";

/// The annotations of a script that belong to the format.
#[derive(Default)]
pub(super) struct Annotations<'t> {
    /// Whether the script is VMT.
    pub(super) is_vmt: bool,
    /// State variables, with the names of their next values.
    next: Vec<Annotation<'t>>,
    init: Option<Annotation<'t>>,
    trans: Option<Annotation<'t>>,
    properties: Vec<Annotation<'t>>,
}

impl<'t> Annotations<'t> {
    /// Those of a file whose commands are still to be read.
    pub(super) fn of_file(name: &str) -> Self {
        let is_vmt = Path::new(name).extension().is_some_and(|extension| extension == "vmt");
        Annotations { is_vmt, ..Annotations::default() }
    }

    /// Adds the annotations of a command.
    pub(super) fn add(&mut self, store: &TermStore, annotations: Vec<Annotation<'t>>) -> Result<()> {
        for annotation in annotations {
            let Annotation { term, keyword, offset, .. } = annotation;
            if !matches!(keyword, ":next" | ":init" | ":trans" | ":invar-property" | ":live-property") {
                continue;
            }
            self.is_vmt = true;
            if keyword == ":live-property" {
                return Err(error(offset, "`:live-property` is not supported: only invariants are"));
            }
            if keyword != ":next" && store.sort_of(term) != Sort::BOOL {
                return Err(error(offset, format!("`{keyword}` annotates a term that is no formula")));
            }
            if !store.free_vars(&[term]).is_empty() {
                let message = format!("`{keyword}` annotates a term with parameters or bound variables");
                return Err(error(offset, message));
            }
            let only = match keyword {
                ":next" => {
                    self.next.push(annotation);
                    continue;
                }
                ":invar-property" => {
                    self.properties.push(annotation);
                    continue;
                }
                ":init" => &mut self.init,
                _ => &mut self.trans,
            };
            if only.replace(annotation).is_some_and(|earlier| earlier.term != term) {
                return Err(error(offset, format!("a second formula is annotated with `{keyword}`")));
            }
        }
        Ok(())
    }
}

/// Whether a transition system ignores a command, except for annotations in it.
pub(super) fn is_ignored(command: &str) -> bool {
    matches!(command, "assert" | "check-sat" | "check-sat-assuming")
}

impl Script<'_, '_> {
    /// The rest of an ignored command.
    pub(super) fn ignore(&mut self, command: &str) -> Result<()> {
        if command != "assert" {
            return self.reader.skip_rest();
        }
        self.reader.formula()?;
        self.reader.close()
    }

    /// Replaces the system of the declarations by that of the annotations. `end` is the end of the text.
    pub(super) fn finish_vmt(&mut self, end: usize) -> Result<()> {
        let Annotations { next, init, trans, properties, .. } = &self.vmt;
        let (next, properties) = (next.clone(), properties.clone());
        let missing = |what: &str| error(end, format!("no formula is annotated with `{what}`"));
        let init = (*init).ok_or_else(|| missing(":init"))?;
        let trans = (*trans).ok_or_else(|| missing(":trans"))?;
        if properties.is_empty() {
            return Err(missing(":invar-property"));
        }
        if !self.system.clauses.is_empty() || !self.questions.is_empty() {
            let message = "assertions and questions must follow the annotations of a transition system";
            return Err(error(init.offset, message));
        }
        let is_sort = |declaration: &Declaration| matches!(declaration, Declaration::Sort(..));
        if self.system.sorts.iter().any(is_sort) {
            return Err(error(end, "a transition system with declared sorts is not supported"));
        }

        let mut variables = Variables::new(self.store, &self.system, &next)?;
        variables.hold_inputs(&init)?;
        for formula in properties.iter().chain([&init]) {
            variables.refuse_next(formula)?;
        }
        let clauses = variables.clauses(self.places.text, &init, &trans, &properties)?;
        let sorts = variables.state.iter().map(|&(now, _)| self.store.sort_of(now)).collect::<Vec<Sort>>();
        let predicate = self.store.fun(variables.predicate_name(), &sorts, Sort::BOOL);
        self.system.functions.clear();
        self.hiding.clear();
        self.system.predicates = vec![predicate];
        self.predicates = FxHashMap::from_iter([(predicate, PredicateId(0))]);
        self.system.clauses = clauses;
        self.vmt_declarations = Some(self.system.declarations_text(self.store));
        Ok(())
    }
}

/// The declared constants, as variables of clauses.
struct Variables<'a> {
    store: &'a TermStore,
    /// The variables for the constants.
    of_constants: Substitution,
    /// The names of the constants.
    names: FxHashSet<Symbol>,
    /// The variables of the state, now and in the next step.
    state: Vec<(Term, Term)>,
    /// The constants that stand for next values.
    next: FxHashSet<Fun>,
}

impl<'a> Variables<'a> {
    /// The variables of a script, with the state variables that annotations name.
    fn new(store: &'a TermStore, system: &HornSystem, next: &[Annotation<'_>]) -> Result<Self> {
        let declared = system.functions.iter().chain(&system.predicates).copied();
        let constants = declared.filter(|&fun| store.fun_decl(fun).domain.is_empty());
        let mut variables = Variables {
            store,
            of_constants: Substitution::new(),
            names: FxHashSet::default(),
            state: Vec::new(),
            next: FxHashSet::default(),
        };
        let mut by_name: FxHashMap<Symbol, Term> = FxHashMap::default();
        for fun in constants {
            let constant = store.apply(fun, &[]).map_err(|e| error(0, e.to_string()))?;
            let name = store.fun_decl(fun).name;
            variables.names.insert(name);
            by_name.insert(name, constant);
            variables.of_constants.insert(constant, store.var(name, store.sort_of(constant)));
        }
        variables.pair(next, &by_name)?;
        Ok(variables)
    }

    /// Reads the annotations `:next`.
    fn pair(&mut self, annotations: &[Annotation<'_>], by_name: &FxHashMap<Symbol, Term>) -> Result<()> {
        let mut next_of: FxHashMap<Term, Term> = FxHashMap::default();
        let mut before: FxHashMap<Term, Term> = FxHashMap::default();
        for &Annotation { term, value, offset, .. } in annotations {
            let refused = |message: String| Err(error(offset, message));
            if self.of_constants.get(term).is_none() {
                return refused("`:next` annotates a term that is no declared constant".to_owned());
            }
            let Some(&next) = value.and_then(|value| by_name.get(&self.store.symbol(value))) else {
                return refused("`:next` needs the name of a declared constant".to_owned());
            };
            let (variable, other) = (self.store.display(term), self.store.display(next));
            if self.store.sort_of(term) != self.store.sort_of(next) {
                return refused(format!("`{variable}` and its next value `{other}` have different sorts"));
            }
            match (next_of.insert(term, next), before.insert(next, term)) {
                (None, None) => {}
                (Some(earlier), Some(_)) if earlier == next => continue,
                (Some(_), _) => return refused(format!("`{variable}` has two next values")),
                (None, Some(_)) => {
                    return refused(format!("`{other}` is the next value of two state variables"));
                }
            }
            self.state.push((self.variable(term), self.variable(next)));
            if let Op::Apply(fun) = self.store.op(next) {
                self.next.insert(fun);
            }
        }
        match annotations.iter().find(|annotation| before.contains_key(&annotation.term)) {
            None => Ok(()),
            Some(annotation) => {
                let name = self.store.display(annotation.term);
                Err(error(annotation.offset, format!("`{name}` is a state variable and a next value")))
            }
        }
    }

    /// The variable of a declared constant.
    fn variable(&self, constant: Term) -> Term {
        self.of_constants.get(constant).unwrap_or(constant)
    }

    /// Makes the inputs of the initial states part of the state.
    fn hold_inputs(&mut self, init: &Annotation<'_>) -> Result<()> {
        let formula = self.formula(init)?;
        let is_state: FxHashSet<Term> = self.state.iter().flat_map(|&(now, next)| [now, next]).collect();
        for input in self.store.free_vars(&[formula]) {
            if !is_state.contains(&input) {
                let Op::Var(name) = self.store.op(input) else { continue };
                let next = self.fresh(&format!("{}.next", self.store.name(name)));
                self.state.push((input, self.store.var(next, self.store.sort_of(input))));
            }
        }
        Ok(())
    }

    /// A name that no constant has.
    fn fresh(&mut self, text: &str) -> Symbol {
        let mut name = self.store.symbol(text);
        let mut suffix = 0;
        while !self.names.insert(name) {
            suffix += 1;
            name = self.store.symbol(&format!("{text}!{suffix}"));
        }
        name
    }

    fn predicate_name(&mut self) -> Symbol {
        self.fresh(STATE)
    }

    /// The formula over variables.
    fn formula(&self, annotation: &Annotation<'_>) -> Result<Term> {
        let formula = self.store.substitute(annotation.term, &self.of_constants);
        match self.store.symbols(&[formula]).funs.first() {
            None => Ok(formula),
            Some(&fun) => {
                let name = self.store.display_symbol(self.store.fun_decl(fun).name);
                let message =
                    format!("the declared function `{name}` is not supported in a transition system");
                Err(error(annotation.offset, message))
            }
        }
    }

    /// Refuses next values in a formula about one state.
    fn refuse_next(&self, annotation: &Annotation<'_>) -> Result<()> {
        let symbols = self.store.symbols(&[annotation.term]).funs;
        match symbols.iter().find(|fun| self.next.contains(fun)) {
            None => Ok(()),
            Some(&fun) => {
                let name = self.store.display_symbol(self.store.fun_decl(fun).name);
                let keyword = annotation.keyword;
                let message = format!("`{keyword}` mentions `{name}`, which is a value in the next step");
                Err(error(annotation.offset, message))
            }
        }
    }

    fn clauses(
        &self,
        text: &[u8],
        init: &Annotation<'_>,
        trans: &Annotation<'_>,
        properties: &[Annotation<'_>],
    ) -> Result<Vec<Clause>> {
        let (now, next): (Vec<Term>, Vec<Term>) = self.state.iter().copied().unzip();
        let atom = |args: &[Term]| Atom { predicate: PredicateId(0), args: args.into() };
        let clause = |body: Vec<Atom>, constraint: Term, head: Option<Atom>, name: &str, offset: usize| {
            let atoms = body.iter().chain(&head);
            let terms: Vec<Term> = atoms.flat_map(|atom| &atom.args).chain([&constraint]).copied().collect();
            Clause {
                variables: self.store.free_vars(&terms).into(),
                body: body.into(),
                constraint,
                head,
                name: Some(self.store.symbol(name)),
                position: Position::of(text, offset),
                written: None,
            }
        };
        let mut clauses = vec![
            clause(vec![], self.formula(init)?, Some(atom(&now)), "init", init.offset),
            clause(vec![atom(&now)], self.formula(trans)?, Some(atom(&next)), "trans", trans.offset),
        ];
        for property in properties {
            let holds = self.formula(property)?;
            let fails =
                self.store.app(Op::Not, &[holds]).map_err(|e| error(property.offset, e.to_string()))?;
            let name = format!("property-{}", property.value.unwrap_or("0"));
            clauses.push(clause(vec![atom(&now)], fails, None, &name, property.offset));
        }
        Ok(clauses)
    }
}
