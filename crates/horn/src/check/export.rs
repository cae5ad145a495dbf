//! What must be proved of a model, as a script that any SMT solver with datatypes and recursive functions checks by itself.
//!
//! ```text
//! declarations of sorts and functions; definitions of recursive functions, lemmas and predicates
//! for each lemma and constructor:   constants, lemmas for the fields, the denied lemma       (check-sat)
//! for each clause:                  constants, lemmas for its terms, the denied clause       (check-sat)
//! ```
//!
//! If all answers are `unsat`, the lemmas are true by induction and the clauses hold. The script depends neither on the checker's
//! substitution of definitions nor on its unfolding. Lemmas about states of automata (`automata.rs`) are added to those of the model.
//!
//! The number function `n` of a Peano datatype is one-to-one. A solver sees it by a function `value` from integers to the datatype, and
//! the lemma `n(x) >= 0 and value(n(x)) = x`.

use std::io;

use rustc_hash::FxHashSet;
use shofar_logic::{Fun, Op, Peano, Sort, Substitution, Symbol, Term, TermStore};

use super::automata;
use crate::print::sorted_variables;
use crate::system::{Atom, Clause, HornSystem};
use crate::witness::{FreeNames, Model, NamedLemma, family_text};

/// The line width.
const WIDTH: usize = 100;

/// Writes a script whose queries are all unsatisfiable exactly if the model satisfies the clauses of the system and its lemmas
/// are inductive.
pub fn export_model(
    store: &TermStore,
    system: &HornSystem,
    model: &Model,
    out: &mut impl io::Write,
) -> io::Result<()> {
    let folds = model.folds(store);
    let mut model = model.clone();
    model.lemmas.splice(..0, automata::lemmas(store, &folds));
    let free = FreeNames::new(store, system);
    let lemmas = model.recursion(store, system).named_lemmas();
    let mut taken: FxHashSet<Symbol> = folds.iter().map(|&fun| store.fun_decl(fun).name).collect();
    taken.extend(lemmas.iter().map(|lemma| lemma.name));
    let numbers = folds.iter().filter_map(|&fun| Some((fun, store.number_function_sort(fun)?)));
    let numbers = numbers.filter_map(|(fun, sort)| Some((fun, sort, store.peano(sort)?)));
    let numbers: Vec<Numbers> = numbers
        .map(|(fun, sort, peano)| {
            let value = free.choose(Some("value"), "value", &mut taken);
            let claim = free.choose(Some("numbered"), "numbered", &mut taken);
            Numbers { fun, sort, peano, value, claim }
        })
        .collect();
    let claims = claims(store, &lemmas, &numbers);
    let mut export = Export { store, system, free, taken, claims, out };
    export.definitions(&model, &lemmas, &numbers)?;
    for claim in 0..export.claims.len() {
        export.induction(claim)?;
    }
    (0..system.clauses.len()).try_for_each(|clause| export.clause(clause))
}

/// A Boolean function that is true of all values of a datatype, and for all ghosts.
struct Claim {
    name: Symbol,
    sort: Sort,
    ghosts: Vec<Term>,
}

fn claims(store: &TermStore, lemmas: &[NamedLemma], numbers: &[Numbers]) -> Vec<Claim> {
    let lemma = |NamedLemma { name, lemma }: &NamedLemma| Claim {
        name: *name,
        sort: store.sort_of(lemma.parameters[0]),
        ghosts: lemma.parameters[1..].to_vec(),
    };
    let number = |numbers: &Numbers| Claim { name: numbers.claim, sort: numbers.sort, ghosts: Vec::new() };
    numbers.iter().map(number).chain(lemmas.iter().map(lemma)).collect()
}

/// The inverse of a number function.
struct Numbers {
    fun: Fun,
    sort: Sort,
    peano: Peano,
    /// The inverse, and the claim that it is one.
    value: Symbol,
    claim: Symbol,
}

impl Numbers {
    fn text(&self, store: &TermStore) -> String {
        let name = |constructor| store.display_symbol(store.constructor(constructor).name).to_string();
        let (zero, successor) = (name(self.peano.zero), name(self.peano.successor));
        let (value, claim) = (store.display_symbol(self.value), store.display_symbol(self.claim));
        let (sort, number) =
            (store.display_sort(self.sort), store.display_symbol(store.fun_decl(self.fun).name));
        format!(
            "(define-fun-rec {value} ((i Int)) {sort}\n  (ite (<= i 0) {zero} ({successor} ({value} (- i 1)))))\n\
             (define-fun {claim} ((x {sort})) Bool\n  (and (>= ({number} x) 0) (= ({value} ({number} x)) x)))"
        )
    }
}

struct Export<'a, W> {
    store: &'a TermStore,
    system: &'a HornSystem,
    free: FreeNames<'a>,
    /// The names that the script defines.
    taken: FxHashSet<Symbol>,
    claims: Vec<Claim>,
    out: &'a mut W,
}

impl<W: io::Write> Export<'_, W> {
    fn definitions(&mut self, model: &Model, lemmas: &[NamedLemma], numbers: &[Numbers]) -> io::Result<()> {
        let store = self.store;
        writeln!(self.out, "; If all answers are unsat, the model satisfies the clauses.")?;
        writeln!(self.out, "(set-logic ALL)")?;
        self.out.write_all(self.system.sorts_text(store).as_bytes())?;
        for family in model.recursion(store, self.system).functions() {
            writeln!(self.out, "{}", family_text(store, &family, 0, WIDTH))?;
        }
        for numbers in numbers {
            writeln!(self.out, "{}", numbers.text(store))?;
        }
        for NamedLemma { name, lemma } in lemmas {
            self.formula(*name, &lemma.parameters, lemma.formula)?;
        }
        for ((_, fun), definition) in self.system.predicates().zip(&model.definitions) {
            self.formula(store.fun_decl(fun).name, &definition.parameters, definition.formula())?;
        }
        Ok(())
    }

    /// The definition of a Boolean function.
    fn formula(&mut self, name: Symbol, parameters: &[Term], body: Term) -> io::Result<()> {
        let store = self.store;
        let (name, parameters) = (store.display_symbol(name), sorted_variables(store, parameters));
        let body = store.display(body).pretty(WIDTH, 2).at(2);
        writeln!(self.out, "(define-fun {name} ({parameters}) Bool\n  {body})")
    }

    /// The induction steps of a claim.
    fn induction(&mut self, number: usize) -> io::Result<()> {
        let store = self.store;
        let Claim { name, sort, .. } = self.claims[number];
        let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
        for &constructor in constructors {
            let fields = &store.constructor(constructor).fields;
            let (name, made) =
                (store.display_symbol(name), store.display_symbol(store.constructor(constructor).name));
            writeln!(self.out, "; {name} for {made}\n(push 1)")?;
            let mut used = self.taken.clone();
            let field = |&(selector, sort): &(Symbol, Sort)| {
                let selector = format!("{}_", store.name(selector));
                store.var(self.free.choose(Some(&selector), "field", &mut used), sort)
            };
            let fields: Vec<Term> = fields.iter().map(field).collect();
            let ghosts = self.claims[number].ghosts.iter();
            let ghost = |&ghost: &Term| {
                store.var(self.free.choose(Some("ghost"), "ghost", &mut used), store.sort_of(ghost))
            };
            let ghosts: Vec<Term> = ghosts.map(ghost).collect();
            self.constants(&[&fields[..], &ghosts[..]].concat())?;
            for claim in 0..self.claims.len() {
                fields.iter().try_for_each(|&field| self.claim(claim, field))?;
            }
            let value = store.construct_term(constructor, &fields);
            (0..number).try_for_each(|earlier| self.claim(earlier, value))?;
            let arguments = self.terms([value].iter().chain(&ghosts));
            writeln!(self.out, "(assert (not ({name}{arguments})))\n(check-sat)\n(pop 1)")?;
        }
        Ok(())
    }

    /// The denied clause.
    fn clause(&mut self, number: usize) -> io::Result<()> {
        let (store, system) = (self.store, self.system);
        let Clause { variables, constraint, body, head, .. } = &system.clauses[number];
        writeln!(self.out, "; {}\n(push 1)", system.clause_title(store, number).replace(['\n', '\r'], " "))?;
        let mut used = self.taken.clone();
        let constant = |&variable: &Term| {
            let name = match store.op(variable) {
                Op::Var(name) => Some(store.name(name)),
                _ => None,
            };
            (variable, store.var(self.free.choose(name, "x", &mut used), store.sort_of(variable)))
        };
        let constants: Vec<(Term, Term)> = variables.iter().map(constant).collect();
        let renaming: Substitution = constants.iter().copied().collect();
        let constants: Vec<Term> = constants.into_iter().map(|(_, constant)| constant).collect();
        let atom = |atom: &Atom| {
            let args = atom.args.iter().map(|&arg| store.substitute(arg, &renaming));
            (store.fun_decl(system.fun(atom.predicate)).name, args.collect::<Vec<Term>>())
        };
        let constraint = store.substitute(*constraint, &renaming);
        let body: Vec<(Symbol, Vec<Term>)> = body.iter().map(atom).collect();
        let head = head.as_ref().map(atom);
        self.constants(&constants)?;
        let mut terms = vec![constraint];
        terms.extend(body.iter().chain(&head).flat_map(|(_, args)| args.iter().copied()));
        let known: FxHashSet<Term> = constants.into_iter().collect();
        for term in store.subterms(&terms) {
            let is_closed = |term| store.free_vars(&[term]).iter().all(|variable| known.contains(variable));
            for claim in 0..self.claims.len() {
                if self.claims[claim].sort == store.sort_of(term) && is_closed(term) {
                    self.claim(claim, term)?;
                }
            }
        }
        writeln!(self.out, "(assert {})", store.display(constraint).pretty(WIDTH, 2).at(8))?;
        for (name, args) in &body {
            writeln!(self.out, "(assert {})", self.atom(*name, args))?;
        }
        if let Some((name, args)) = &head {
            writeln!(self.out, "(assert (not {}))", self.atom(*name, args))?;
        }
        writeln!(self.out, "(check-sat)\n(pop 1)")
    }

    fn constants(&mut self, constants: &[Term]) -> io::Result<()> {
        constants.iter().try_for_each(|&constant| {
            let sort = self.store.display_sort(self.store.sort_of(constant));
            writeln!(self.out, "(declare-const {} {sort})", self.store.display(constant))
        })
    }

    /// Asserts a claim for a value, if it has the sort, and for all ghosts.
    fn claim(&mut self, number: usize, value: Term) -> io::Result<()> {
        let store = self.store;
        let Claim { name, sort, ghosts } = &self.claims[number];
        if *sort != store.sort_of(value) {
            return Ok(());
        }
        let name = store.display_symbol(*name);
        let claim = format!("({name}{})", self.terms([value].iter().chain(ghosts)));
        match ghosts.is_empty() {
            true => writeln!(self.out, "(assert {claim})"),
            false => writeln!(self.out, "(assert (forall ({}) {claim}))", sorted_variables(store, ghosts)),
        }
    }

    fn atom(&self, name: Symbol, args: &[Term]) -> String {
        let name = self.store.display_symbol(name);
        if args.is_empty() { name.to_string() } else { format!("({name}{})", self.terms(args.iter())) }
    }

    /// Terms, each after a space.
    fn terms<'t>(&self, terms: impl Iterator<Item = &'t Term>) -> String {
        terms.map(|&term| format!(" {}", self.store.display(term))).collect()
    }
}
