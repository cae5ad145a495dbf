//! What must be proved of a model or of a proof by induction, as a script that any SMT solver with datatypes and recursive functions
//! checks by itself.
//!
//! ```text
//! declarations of sorts and functions; definitions of recursive functions, lemmas and predicates
//! for each lemma and constructor:   constants, lemmas for the fields, the denied lemma       (check-sat)
//! model:      for each clause:      constants, lemmas for its terms, the denied clause       (check-sat)
//! induction:  for each case:        constants, lemmas for its terms, its formulas            (check-sat)
//! ```
//!
//! The induction steps of a lemma about several values may use all lemmas about fewer values, for any terms.
//!
//! If all answers are `unsat`, the lemmas are true by induction and the clauses hold. The script depends neither on the checker's
//! substitution of definitions nor on its unfolding of recursive functions. Lemmas about states of automata (`automata.rs`) are added
//! to those of the model. The cases of a proof by induction, and the instances of joint lemmas in them, are those that the checker
//! found: that they are all cases, and that the instances are smaller, is the checker's word.
//!
//! A fold `n` that numbers the values of a datatype (`numbers.rs`) is one-to-one. A solver sees it by a function `value` from integers to
//! the datatype, and the lemma `n(x) >= k and value(n(x)) = x`, with the least number `k`.
//!
//! The laws of concatenation and reversal, which the checker knows (`words.rs`), are proved by induction first, each with the laws
//! before it, and then asserted for all lists: units, associativity, reversal, and cancellation on both sides. Cancellation on the
//! right needs lengths, of which the script has a function and two laws that it asserts nowhere else.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::io;

use rustc_hash::FxHashSet;
use shofar_logic::number::Integer;
use shofar_logic::{ListFunctions, Op, Sort, Substitution, Symbol, Term, TermStore};

use super::numbers::Numbering;
use super::{Validity, automata, induction};
use crate::Context;
use crate::print::sorted_variables;
use crate::system::{Atom, Clause, HornSystem};
use crate::witness::{FreeNames, Induction, Model, NamedLemma, Recursion, family_text};

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
    let mut model = model.clone();
    model.lemmas.splice(..0, automata::lemmas(store, &model.folds(store)));
    writeln!(out, "; If all answers are unsat, the model satisfies the clauses.")?;
    let mut export = Export::new(store, system, &model.recursion(store, system), out)?;
    for ((_, fun), definition) in system.predicates().zip(&model.definitions) {
        export.formula(store.fun_decl(fun).name, &definition.parameters, definition.formula())?;
    }
    export.inductions()?;
    (0..system.clauses.len()).try_for_each(|clause| export.clause(clause))
}

/// Writes a script whose queries are all unsatisfiable if the lemmas of a proof follow in all cases of the induction, and
/// contradict the bodies of all queries.
pub fn export_induction(
    context: &Context<'_>,
    system: &HornSystem,
    proof: &Induction,
    out: &mut impl io::Write,
) -> Result<io::Result<()>, Validity> {
    let store = context.store;
    let cases = induction::cases(context, system, proof)?;
    let mut write = || -> io::Result<()> {
        writeln!(out, "; If all answers are unsat, the lemmas are true, and no query has a derivation.")?;
        let mut export = Export::new(store, system, &proof.recursion(store, system), out)?;
        export.inductions()?;
        cases
            .iter()
            .try_for_each(|(title, formulas)| export.query(title, &store.free_vars(formulas), formulas, None))
    };
    Ok(write())
}

/// A Boolean function that is true of all values of a datatype, and for all ghosts.
struct Claim {
    name: Symbol,
    sort: Sort,
    ghosts: Vec<Term>,
}

impl Claim {
    /// The number of values of datatypes that the claim is about. Claims about fewer values are proved before.
    fn level(&self, store: &TermStore) -> usize {
        let is_value = |ghost: &&Term| store.datatype(store.sort_of(**ghost)).is_some();
        1 + self.ghosts.iter().filter(is_value).count()
    }
}

fn claims(store: &TermStore, lemmas: &[NamedLemma], numbers: &[Numbers]) -> Vec<Claim> {
    let lemma = |NamedLemma { name, lemma }: &NamedLemma| Claim {
        name: *name,
        sort: store.sort_of(lemma.parameters[0]),
        ghosts: lemma.parameters[1..].to_vec(),
    };
    let number =
        |numbers: &Numbers| Claim { name: numbers.claim, sort: numbers.numbering.sort, ghosts: Vec::new() };
    numbers.iter().map(number).chain(lemmas.iter().map(lemma)).collect()
}

/// A law of concatenation, reversal and length, by induction on its first parameter.
struct Law {
    parameters: Vec<Term>,
    law: Term,
    /// The terms for which the law is asserted; none if only other laws need it.
    pattern: Vec<Term>,
    cases: Vec<Case>,
}

/// A case of a law, with values for parameters, and instances of the law and of earlier ones from which it follows.
struct Case {
    values: Vec<(Term, Term)>,
    premises: Vec<Term>,
}

/// The inverse of a fold that numbers a datatype.
struct Numbers {
    numbering: Numbering,
    /// The inverse, and the claim that it is one.
    value: Symbol,
    claim: Symbol,
}

impl Numbers {
    fn text(&self, store: &TermStore) -> String {
        let name = |constructor| store.display_symbol(store.constructor(constructor).name).to_string();
        let (value, claim) = (store.display_symbol(self.value), store.display_symbol(self.claim));
        let Numbering { fun, sort, base, constants, digits, least } = &self.numbering;
        let (sort, number) = (store.display_sort(*sort), store.display_symbol(store.fun_decl(*fun).name));
        let numeral = |number: &Integer| store.display(store.int(number.clone())).to_string();
        // The last case is for the numbers of the last constructor, and for those below the least.
        let (mut cases, mut end) = (String::new(), String::new());
        let mut otherwise = String::new();
        for (constructor, known) in constants {
            otherwise = name(*constructor);
            let comparison = if known == least { "<=" } else { "=" };
            cases += &format!("(ite ({comparison} i {}) {otherwise} ", numeral(known));
            end.push(')');
        }
        for (position, (constructor, digit)) in digits.iter().enumerate() {
            let less = format!("(- i {})", numeral(digit));
            let below = if base.is_one() { less.clone() } else { format!("(div {less} {})", numeral(base)) };
            otherwise = format!("({} ({value} {below}))", name(*constructor));
            if position + 1 < digits.len() {
                cases += &format!("(ite (= (mod {less} {}) 0) {otherwise} ", numeral(base));
                end.push(')');
            }
        }
        format!(
            "(define-fun-rec {value} ((i Int)) {sort}\n  {cases}{otherwise}{end})\n\
             (define-fun {claim} ((x {sort})) Bool\n  (and (>= ({number} x) {}) (= ({value} ({number} x)) x)))",
            numeral(least)
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

impl<'a, W: io::Write> Export<'a, W> {
    /// Writes the declarations, the recursive functions and the lemmas.
    fn new(
        store: &'a TermStore,
        system: &'a HornSystem,
        recursion: &Recursion<'_>,
        out: &'a mut W,
    ) -> io::Result<Self> {
        let free = FreeNames::new(store, system);
        let (families, lemmas) = (recursion.functions(), recursion.named_lemmas());
        let folds = || families.iter().flatten().map(|function| function.fun);
        let mut taken: FxHashSet<Symbol> = folds().map(|fun| store.fun_decl(fun).name).collect();
        taken.extend(lemmas.iter().map(|lemma| lemma.name));
        let numbers: Vec<Numbers> = folds()
            .filter_map(|fun| Numbering::of(store, fun))
            .map(|numbering| {
                let value = free.choose(Some("value"), "value", &mut taken);
                let claim = free.choose(Some("numbered"), "numbered", &mut taken);
                Numbers { numbering, value, claim }
            })
            .collect();
        writeln!(out, "(set-logic ALL)")?;
        out.write_all(system.sorts_text(store).as_bytes())?;
        for family in &families {
            writeln!(out, "{}", family_text(store, family, 0, WIDTH))?;
        }
        for numbers in &numbers {
            writeln!(out, "{}", numbers.text(store))?;
        }
        let claims = claims(store, &lemmas, &numbers);
        let mut export = Export { store, system, free, taken, claims, out };
        for sort in folds().filter_map(|fun| store.list_function_sort(fun)).collect::<BTreeSet<Sort>>() {
            export.laws(sort)?;
        }
        for NamedLemma { name, lemma } in &lemmas {
            export.formula(*name, &lemma.parameters, lemma.formula)?;
        }
        Ok(export)
    }

    /// Proves and asserts the laws of the operations of a list.
    fn laws(&mut self, sort: Sort) -> io::Result<()> {
        let store = self.store;
        let (Some(list), Some(functions)) = (store.list(sort), store.list_functions(sort)) else {
            return Ok(());
        };
        let ListFunctions { append, reverse } = functions;
        let mut used = self.taken.clone();
        let mut variable = |name: &str, sort| store.var(self.free.choose(Some(name), name, &mut used), sort);
        let [x, y, z] = ["x", "y", "z"].map(|name| variable(name, sort));
        let mut cell_fields = || -> Vec<Term> {
            let sorts = store.constructor(list.cell).fields.iter();
            sorts.map(|&(_, sort)| variable("h", sort)).collect()
        };
        let (fields, other_fields) = (cell_fields(), cell_fields());
        let (tail, rest) = (fields[list.tail], other_fields[list.tail]);
        let empty = store.construct_term(list.empty, &[]);
        let other_cell = store.construct_term(list.cell, &other_fields);
        let cell = |tail: Term| {
            let mut fields = fields.clone();
            fields[list.tail] = tail;
            store.construct_term(list.cell, &fields)
        };
        let app = |a: Term, b: Term| store.apply(append, &[a, b]).expect("the sorts fit");
        let rev = |a: Term| store.apply(reverse, &[a]).expect("the sorts fit");
        let unit = |x: Term| store.eq(app(x, empty), x);
        let associates = |x: Term, y: Term, z: Term| store.eq(app(app(x, y), z), app(x, app(y, z)));
        let reverses = |x: Term, y: Term| store.eq(rev(app(x, y)), app(rev(y), rev(x)));
        let by_induction = |parameters: &[Term], law: Term, pattern: &[Term], earlier: &[Term]| {
            let hypothesis = store.substitute(law, &Substitution::from_iter([(x, tail)]));
            let cases = vec![
                Case { values: vec![(x, empty)], premises: earlier.to_vec() },
                Case { values: vec![(x, cell(tail))], premises: [earlier, &[hypothesis]].concat() },
            ];
            Law { parameters: parameters.to_vec(), law, pattern: pattern.to_vec(), cases }
        };
        let mut laws = vec![
            by_induction(&[x], unit(x), &[app(x, empty)], &[]),
            by_induction(&[x, y, z], associates(x, y, z), &[app(app(x, y), z)], &[]),
        ];
        if self.taken.contains(&store.fun_decl(reverse).name) {
            let earlier = [unit(rev(y)), associates(rev(y), rev(tail), cell(empty))];
            laws.push(by_induction(&[x, y], reverses(x, y), &[rev(app(x, y))], &earlier));
            let earlier = [reverses(rev(tail), cell(empty))];
            laws.push(by_induction(&[x], store.eq(rev(rev(x)), x), &[rev(rev(x))], &earlier));
        }
        let name = self.free.choose(Some("length"), "length", &mut self.taken);
        let length = store.fun(name, &[sort], Sort::INT);
        let len = |list: Term| store.apply(length, &[list]).expect("the sorts fit");
        let one_more = store.add(&[store.int(1), len(store.selector(list.cell, list.tail as u32, x))]);
        let definition = store.ite(store.tester(list.empty, x), store.int(0), one_more);
        writeln!(
            self.out,
            "(define-fun-rec {} ({}) Int {})",
            store.display_symbol(name),
            sorted_variables(store, &[x]),
            store.display(definition)
        )?;
        let is_natural = |x: Term| store.le(store.int(0), len(x));
        let adds = |x: Term, y: Term| store.eq(len(app(x, y)), store.add(&[len(x), len(y)]));
        let cancels = |a: Term, b: Term, x: Term, y: Term| store.implies(store.eq(a, b), store.eq(x, y));
        laws.push(by_induction(&[x], is_natural(x), &[], &[]));
        laws.push(by_induction(&[x, y], adds(x, y), &[], &[]));
        let left = cancels(app(x, y), app(x, z), y, z);
        laws.push(by_induction(&[x, y, z], left, &[app(x, y), app(x, z)], &[]));
        // If one of the lists is empty, lengths tell; otherwise both tails are shorter.
        let lengths = |list: Term, tail: Term| vec![is_natural(tail), adds(list, y)];
        let tails = cancels(app(tail, y), app(rest, y), tail, rest);
        laws.push(Law {
            parameters: vec![x, y, z],
            law: cancels(app(x, y), app(z, y), x, z),
            pattern: vec![app(x, y), app(z, y)],
            cases: vec![
                Case { values: vec![(x, empty), (z, empty)], premises: Vec::new() },
                Case { values: vec![(x, empty), (z, other_cell)], premises: lengths(other_cell, rest) },
                Case { values: vec![(x, cell(tail)), (z, empty)], premises: lengths(cell(tail), tail) },
                Case { values: vec![(x, cell(tail)), (z, other_cell)], premises: vec![tails] },
            ],
        });
        let mut proved: Vec<String> = Vec::new();
        for Law { parameters, law, pattern, cases } in laws {
            for Case { values, premises } in cases {
                let texts: Vec<String> =
                    values.iter().map(|&(_, value)| store.display(value).to_string()).collect();
                writeln!(self.out, "; {} for {}\n(push 1)", store.display(law), texts.join(" and "))?;
                let chosen: Substitution = values.into_iter().collect();
                let denied = store.substitute(law, &chosen);
                let formulas: Vec<Term> = premises.iter().copied().chain([denied]).collect();
                self.constants(&store.free_vars(&formulas))?;
                for premise in premises {
                    writeln!(self.out, "(assert {})", store.display(premise))?;
                }
                writeln!(self.out, "(assert (not {}))\n(check-sat)\n(pop 1)", store.display(denied))?;
            }
            if !pattern.is_empty() {
                let (variables, law) = (sorted_variables(store, &parameters), store.display(law));
                let pattern = self.terms(pattern.iter());
                let pattern = pattern.trim_start();
                proved.push(format!("(assert (forall ({variables}) (! {law} :pattern ({pattern}))))"));
            }
        }
        // Laws for all lists would make solvers unfold the functions further and further in the proofs of other laws.
        proved.iter().try_for_each(|law| writeln!(self.out, "{law}"))
    }

    /// The definition of a Boolean function.
    fn formula(&mut self, name: Symbol, parameters: &[Term], body: Term) -> io::Result<()> {
        let store = self.store;
        let (name, parameters) = (store.display_symbol(name), sorted_variables(store, parameters));
        let body = store.display(body).pretty(WIDTH, 2).at(2);
        writeln!(self.out, "(define-fun {name} ({parameters}) Bool\n  {body})")
    }

    /// The induction steps of all claims.
    fn inductions(&mut self) -> io::Result<()> {
        (0..self.claims.len()).try_for_each(|claim| self.induction(claim))
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
            let level = self.claims[number].level(store);
            for claim in 0..self.claims.len() {
                match self.claims[claim].level(store).cmp(&level) {
                    Ordering::Less => self.theorem(claim)?,
                    Ordering::Equal => fields.iter().try_for_each(|&field| self.claim(claim, field))?,
                    Ordering::Greater => {}
                }
            }
            let value = store.construct_term(constructor, &fields);
            for earlier in
                (0..number).filter(|&earlier| self.claims[earlier].level(store) == level).collect::<Vec<_>>()
            {
                self.claim(earlier, value)?;
            }
            let arguments = self.terms([value].iter().chain(&ghosts));
            writeln!(self.out, "(assert (not ({name}{arguments})))\n(check-sat)\n(pop 1)")?;
        }
        Ok(())
    }

    /// The denied clause.
    fn clause(&mut self, number: usize) -> io::Result<()> {
        let (store, system) = (self.store, self.system);
        let Clause { variables, constraint, body, head, .. } = &system.clauses[number];
        let atom = |atom: &Atom| {
            store.apply(system.fun(atom.predicate), &atom.args).expect("the sorts of an atom fit")
        };
        let formulas: Vec<Term> = [*constraint].into_iter().chain(body.iter().map(atom)).collect();
        let title = system.clause_title(store, number);
        self.query(&title, variables, &formulas, head.as_ref().map(atom))
    }

    /// Asks whether formulas have an instance for which another formula is false.
    fn query(
        &mut self,
        title: &str,
        variables: &[Term],
        formulas: &[Term],
        denied: Option<Term>,
    ) -> io::Result<()> {
        let store = self.store;
        writeln!(self.out, "; {}\n(push 1)", title.replace(['\n', '\r'], " "))?;
        let mut used = self.taken.clone();
        let constant = |&variable: &Term| {
            let name = match store.op(variable) {
                Op::Var(name) => store.name(name).split('!').next(),
                _ => None,
            };
            (variable, store.var(self.free.choose(name, "x", &mut used), store.sort_of(variable)))
        };
        let constants: Vec<(Term, Term)> = variables.iter().map(constant).collect();
        let renaming: Substitution = constants.iter().copied().collect();
        let constants: Vec<Term> = constants.into_iter().map(|(_, constant)| constant).collect();
        let renamed = |&formula: &Term| store.substitute(formula, &renaming);
        let formulas: Vec<Term> = formulas.iter().map(renamed).collect();
        let denied = denied.as_ref().map(renamed);
        self.constants(&constants)?;
        let terms: Vec<Term> = formulas.iter().chain(&denied).copied().collect();
        let known: FxHashSet<Term> = constants.into_iter().collect();
        for term in store.subterms(&terms) {
            let is_closed = |term| store.free_vars(&[term]).iter().all(|variable| known.contains(variable));
            for claim in 0..self.claims.len() {
                if self.claims[claim].sort == store.sort_of(term) && is_closed(term) {
                    self.claim(claim, term)?;
                }
            }
        }
        for formula in formulas {
            writeln!(self.out, "(assert {})", store.display(formula).pretty(WIDTH, 2).at(8))?;
        }
        if let Some(denied) = denied {
            writeln!(self.out, "(assert (not {}))", store.display(denied))?;
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

    /// Asserts a claim for all values and all ghosts.
    fn theorem(&mut self, number: usize) -> io::Result<()> {
        let store = self.store;
        let Claim { name, sort, ghosts } = &self.claims[number];
        let mut used = self.taken.clone();
        let variable = |sort: Sort| store.var(self.free.choose(Some("any"), "any", &mut used), sort);
        let sorts = [*sort].into_iter().chain(ghosts.iter().map(|&ghost| store.sort_of(ghost)));
        let variables: Vec<Term> = sorts.map(variable).collect();
        let (name, arguments) = (store.display_symbol(*name), self.terms(variables.iter()));
        writeln!(self.out, "(assert (forall ({}) ({name}{arguments})))", sorted_variables(store, &variables))
    }

    /// Terms, each after a space.
    fn terms<'t>(&self, terms: impl Iterator<Item = &'t Term>) -> String {
        terms.map(|&term| format!(" {}", self.store.display(term))).collect()
    }
}
