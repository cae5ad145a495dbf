//! Refutes formulas that apply folds or multiply variables, and proves lemmas about folds.
//!
//! The solver takes a fold for a declared function. So the checker adds what is true of it, for the terms of a query:
//!
//! - *unfolding*: `f(c(t..)) = case of c`, and `f(t) = ite(is c(t), case of c with the fields of t, ..)` for terms `t` with a
//!   selector or tester on them;
//! - *lemmas*, once they are proved, for each term of a datatype;
//! - that folds that number the values of a datatype differ for different values (`numbers.rs`);
//! - the laws of concatenation and reversal of lists (`words.rs`).
//!
//! Products of variables are made linear last (`polynomials.rs`).
//!
//! All of these are instances of definitions and of proved claims, so a refutation with them is one. Congruence is the solver's.
//!
//! ```text
//! repeat, at most MOST_ROUNDS times
//!     the solver refutes formulas and facts                        the formulas contradict each other
//!     evaluation confirms the solver's model                       a counterexample
//!     with the least constructors for the terms that are not unfolded yet,
//!         evaluation confirms the solver's model                   a counterexample
//!     unfold these terms
//! ```
//!
//! The solver may give a fold any value at a variable, so evaluation often refuses its model; then unfolding distinguishes the constructors
//! of the variable. With the least constructors all values are determined, which finds small counterexamples. For folds with a finite
//! range, tree automata, a lemma bounds the range, and the solver splits cases: this decides clauses over tables, except
//! that values of finite languages must be found by unfolding. Debug builds compare the verdict with that of `membership.rs`.
//!
//! *Lemmas* are proved by induction on the structure of their first value: for each constructor `c`, in the order of the lemmas,
//! `L(c(y..))` follows from all lemmas for the fields `y..` and the earlier lemmas for `c(y..)`, with any ghosts. Ghosts may be values
//! of datatypes too: such a *joint* lemma, about several values that synchronous automata read together, uses the lemma for a field with
//! parts of its ghosts. Lemmas about fewer values are proved before, and hold of all terms from then on.

use std::collections::BTreeSet;
use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{
    Assignment, ConstructorId, FoldLemma, Fun, Op, Sort, Substitution, Term, TermStore, Value,
};
use shofar_run::Stop;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::{Fault, Trust, Validity, membership, numbers, polynomials, replay, words};
use crate::Context;

/// Rounds of unfolding terms that no constructor made.
const MOST_ROUNDS: usize = 3;

/// Facts about folds in one query.
const MOST_FACTS: usize = 4000;

/// Instances of one joint lemma in a query, or for one field of a constructor.
const MOST_INSTANCES: usize = 200;

/// The reason to neither accept nor reject a model that applies folds.
const UNDECIDED: &str = "the recursive functions of a model could not be evaluated in a counterexample";

/// The reason to neither accept nor reject a model with a lemma.
const UNPROVED: &str = "a lemma of the model could not be proved by induction";

/// Whether a formula applies a fold.
pub(super) fn occur(store: &TermStore, formula: Term) -> bool {
    store.symbols(&[formula]).funs.iter().any(|&fun| store.fold(fun).is_some())
}

/// Whether a formula needs [`refute`]: it applies a fold, or multiplies variables.
pub(super) fn are_needed(store: &TermStore, formula: Term) -> bool {
    occur(store, formula) || polynomials::occur(store, &[formula])
}

/// Shows that formulas contradict each other (`None`), or finds values of their variables for which all are true.
/// `given` are further formulas that hold, and the lemmas are proved. `refuted` says what the formulas describe.
pub(super) fn refute(
    context: &Context<'_>,
    trust: Trust,
    formulas: &[Term],
    given: &[Term],
    lemmas: &[FoldLemma],
    refuted: impl fmt::Display,
) -> Result<Option<Assignment>, Stop> {
    let verdict = refute_by_unfolding(context, trust, formulas, given, lemmas, refuted);
    debug_assert!(
        membership::agrees(context.store, formulas, given, &verdict),
        "the checker has two verdicts"
    );
    verdict
}

fn refute_by_unfolding(
    context: &Context<'_>,
    trust: Trust,
    formulas: &[Term],
    given: &[Term],
    lemmas: &[FoldLemma],
    refuted: impl fmt::Display,
) -> Result<Option<Assignment>, Stop> {
    let store = context.store;
    let mut facts = Facts::new(store, formulas, given, lemmas);
    let all: Vec<Term> = formulas.iter().chain(given).copied().collect();
    let mut asserted = all.clone();
    asserted.extend(numbers::facts(store, formulas));
    asserted.extend(words::facts(store, &all));
    for _ in 0..=MOST_ROUNDS {
        context.go_on()?;
        facts.close();
        let mut query = asserted.clone();
        query.extend_from_slice(&facts.facts);
        let Some(found) = model(context, trust, &query, &all, &refuted)? else { return Ok(None) };
        if let Some(confirmed) = confirmed(store, formulas, found) {
            return Ok(Some(confirmed));
        }
        let mut least = facts.clone();
        least.assume_least_constructors();
        query.truncate(asserted.len());
        query.extend_from_slice(&least.facts);
        if let Some(found) = model(context, Trust::Solver, &query, &all, &refuted)?
            && let Some(confirmed) = confirmed(store, formulas, found)
        {
            return Ok(Some(confirmed));
        }
        if facts.facts.len() >= MOST_FACTS || !facts.unfold_further() {
            break;
        }
    }
    Err(Stop::Exhausted(UNDECIDED))
}

/// Facts about the folds in formulas: their definitions at constructors and opened terms, and the lemmas, which are proved.
pub fn fold_facts(store: &TermStore, formulas: &[Term], lemmas: &[FoldLemma]) -> Vec<Term> {
    if store.folds_in(formulas).is_empty() {
        return Vec::new();
    }
    let mut facts = Facts::new(store, formulas, &[], lemmas);
    facts.close();
    facts.facts.extend(numbers::facts(store, formulas));
    facts.facts.extend(words::facts(store, formulas));
    facts.facts
}

/// Whether formulas that may apply folds and multiply variables contradict each other, by one query and without lemmas. If
/// not, nothing is known: this is for the search of models, which the checker judges.
pub fn contradict(context: &Context<'_>, formulas: &[Term]) -> Result<bool, Stop> {
    let store = context.store;
    let mut query = formulas.to_vec();
    query.extend(fold_facts(store, formulas, &[]));
    if polynomials::occur(store, &query) {
        query = polynomials::linear(store, &query).formulas;
    }
    Ok(model_of(context, Trust::Solver, &query, &[])?.model.is_none())
}

/// The answer to a query, with the solver that gave it.
struct Answer<'a> {
    solver: Solver<'a>,
    model: Option<Assignment>,
}

fn model_of<'a>(
    context: &Context<'a>,
    trust: Trust,
    query: &[Term],
    formulas: &[Term],
) -> Result<Answer<'a>, Stop> {
    let store = context.store;
    let unsupported = |unsupported: Unsupported| unsupported.stop(store);
    let mut solver = match trust {
        Trust::Solver => Solver::new(store),
        Trust::Proofs => Solver::with_proofs(store),
    };
    solver.assert_all(query).map_err(unsupported)?;
    let model = match solver.check(&[], &context.limits).map_err(unsupported)? {
        Outcome::Unsat => None,
        Outcome::Sat => Some(solver.model(formulas)),
        Outcome::Unknown(reason) => return Err(Stop::Interrupted(reason)),
    };
    Ok(Answer { solver, model })
}

/// A model of the query; `None` if the query is contradictory. With [`Trust::Proofs`] a replayed proof shows the contradiction.
/// If the query has products, they may be wrong in the model.
fn model(
    context: &Context<'_>,
    trust: Trust,
    query: &[Term],
    formulas: &[Term],
    refuted: &impl fmt::Display,
) -> Result<Option<Assignment>, Stop> {
    let refutable = |query: &[Term], formulas: &[Term]| {
        let answer = model_of(context, trust, query, formulas)?;
        if answer.model.is_none() && trust == Trust::Proofs {
            replay(context, &answer.solver, query, refuted)?;
        }
        Ok(answer.model)
    };
    if !polynomials::occur(context.store, query) {
        return refutable(query, formulas);
    }
    let mut linear = polynomials::linear(context.store, query);
    let Some(model) = refutable(&linear.formulas, &linear.formulas)? else { return Ok(None) };
    linear.formulas.append(&mut linear.small);
    let small = model_of(context, Trust::Solver, &linear.formulas, &linear.formulas)?.model;
    Ok(Some(small.unwrap_or(model)))
}

/// The assignment, or the one with the numbers of its Peano values, if all formulas are true.
fn confirmed(store: &TermStore, formulas: &[Term], assignment: Assignment) -> Option<Assignment> {
    let is_true = |assignment: &Assignment| {
        formulas.iter().all(|&formula| store.eval(formula, assignment) == Ok(Value::Bool(true)))
    };
    let variables = store.free_vars(formulas);
    let mut complete = assignment;
    for &variable in &variables {
        if complete.get(variable).is_none() {
            complete.set(variable, store.default_value(store.sort_of(variable)));
        }
    }
    if is_true(&complete) {
        return Some(complete);
    }
    Some(numbers::with_numbers(store, formulas, &complete, &variables)).filter(is_true)
}

/// Facts about the folds of a query.
#[derive(Clone)]
struct Facts<'a> {
    store: &'a TermStore,
    lemmas: &'a [FoldLemma],
    facts: Vec<Term>,
    /// The lists of ghosts that occur, by their sorts.
    ghosts: FxHashMap<Box<[Sort]>, Vec<Box<[Term]>>>,
    /// The terms with a selector or tester on them.
    opened: FxHashSet<Term>,
    /// Applications of folds that are not looked at yet, and all applications so far.
    open: Vec<Term>,
    known: FxHashSet<Term>,
    /// The terms for which the lemmas are there.
    described: FxHashSet<Term>,
    /// The terms of datatypes, variables first, from which joint lemmas have instances.
    values: Vec<Term>,
    /// Applications that are not unfolded because no constructor made the argument.
    frontier: Vec<Term>,
}

impl<'a> Facts<'a> {
    fn new(store: &'a TermStore, formulas: &[Term], given: &[Term], lemmas: &'a [FoldLemma]) -> Self {
        let normal: Vec<Term> = formulas.iter().chain(given).map(|&term| store.normalize(term)).collect();
        let subterms = store.subterms(&normal);
        let mut ghosts: FxHashMap<Box<[Sort]>, Vec<Box<[Term]>>> = FxHashMap::default();
        let mut opened: FxHashSet<Term> = FxHashSet::default();
        for &term in &subterms {
            match store.view(term) {
                (Op::Selector { .. } | Op::Tester(_), &[argument]) => {
                    opened.insert(argument);
                }
                (Op::Apply(fun), args) if store.fold(fun).is_some() => {
                    let sorts = args[1..].iter().map(|&ghost| store.sort_of(ghost)).collect();
                    let lists = ghosts.entry(sorts).or_default();
                    if !lists.iter().any(|list| **list == args[1..]) {
                        lists.push(args[1..].into());
                    }
                }
                _ => {}
            }
        }
        ghosts.insert([].into(), vec![[].into()]);
        let (open, known, described) = Default::default();
        let is_value = |&term: &Term| store.datatype(store.sort_of(term)).is_some();
        let mut values: Vec<Term> = subterms.iter().copied().filter(is_value).collect();
        values.sort_by_key(|&term| !matches!(store.op(term), Op::Var(_)));
        let (facts, frontier) = (Vec::new(), Vec::new());
        let mut all =
            Facts { store, lemmas, facts, ghosts, opened, open, known, described, values, frontier };
        let claims = lemmas.iter().map(|lemma| lemma.formula);
        let mut folds = store.folds_in(&normal.iter().copied().chain(claims).collect::<Vec<Term>>());
        // Words of terms that do not occur tell nothing.
        folds.retain(|&fun| store.list_function_sort(fun).is_none());
        all.open.extend(list_operations(store, &subterms));
        for &term in &subterms {
            all.describe(term);
            for &fun in &folds {
                all.apply(fun, term);
            }
        }
        lemmas.iter().filter(|lemma| level(store, lemma) > 1).for_each(|lemma| all.describe_jointly(lemma));
        all
    }

    /// Adds instances of a joint lemma for the terms of the query, and looks at the applications in them.
    fn describe_jointly(&mut self, lemma: &FoldLemma) {
        let store = self.store;
        for values in choices(store, &lemma.parameters, |_| &self.values) {
            let instance = instance(store, lemma, &values);
            for term in store.subterms(&[instance]) {
                match store.view(term) {
                    (Op::Selector { .. } | Op::Tester(_), &[argument]) => {
                        self.opened.insert(argument);
                    }
                    (Op::Apply(_), _) => self.open.push(term),
                    _ => {}
                }
            }
            self.facts.push(instance);
        }
    }

    /// Adds the applications of a fold to a term, with all ghosts.
    fn apply(&mut self, fun: Fun, term: Term) {
        let domain = &self.store.fun_decl(fun).domain;
        if domain[0] != self.store.sort_of(term) {
            return;
        }
        for ghosts in self.ghosts.get(&domain[1..]).into_iter().flatten() {
            let args: Vec<Term> = [term].iter().chain(ghosts).copied().collect();
            self.open.push(self.store.apply(fun, &args).expect("the sorts fit"));
        }
    }

    /// Adds the lemmas for a term of a datatype.
    fn describe(&mut self, term: Term) {
        let store = self.store;
        let sort = store.sort_of(term);
        if store.datatype(sort).is_none() || !self.described.insert(term) {
            return;
        }
        let is_about =
            |lemma: &&FoldLemma| store.sort_of(lemma.parameters[0]) == sort && level(store, lemma) == 1;
        for lemma in self.lemmas.iter().filter(is_about) {
            let sorts: Vec<Sort> = lemma.parameters[1..].iter().map(|&ghost| store.sort_of(ghost)).collect();
            for ghosts in self.ghosts.get(&*sorts).into_iter().flatten() {
                let values = [term].iter().chain(ghosts).copied().collect::<Vec<Term>>();
                let fact = instance(store, lemma, &values);
                self.facts.push(fact);
                self.open.extend(list_operations(store, &store.subterms(&[fact])));
            }
        }
    }

    /// Looks at all applications, and at those in the facts about them.
    fn close(&mut self) {
        let store = self.store;
        while let Some(application) = self.open.pop() {
            if !self.known.insert(application) || self.facts.len() >= MOST_FACTS {
                continue;
            }
            let argument = store.args(application)[0];
            self.describe(argument);
            match matches!(store.op(argument), Op::Construct(_)) || self.opened.contains(&argument) {
                true => self.unfold(application),
                false => self.frontier.push(application),
            }
        }
    }

    /// Adds the definition at an application.
    fn unfold(&mut self, application: Term) {
        let store = self.store;
        let value = store.unfold(application).expect("only folds are applied");
        self.facts.push(equal(store, application, value));
        let applications = store.subterms(&[value]);
        self.open.extend(applications.into_iter().filter(|&term| store.applied_fold(term).is_some()));
    }

    /// Unfolds the applications at terms that no constructor made. Returns whether there are any.
    fn unfold_further(&mut self) -> bool {
        let frontier = std::mem::take(&mut self.frontier);
        frontier.iter().for_each(|&application| self.unfold(application));
        !frontier.is_empty()
    }

    /// Assumes that terms that are not unfolded are made by the constructors with the smallest values, and unfolds them.
    fn assume_least_constructors(&mut self) {
        let store = self.store;
        let mut least = LeastConstructors::default();
        while !self.frontier.is_empty() && self.facts.len() < MOST_FACTS {
            for application in std::mem::take(&mut self.frontier) {
                let argument = store.args(application)[0];
                let constructor = least.of(store, store.sort_of(argument));
                self.facts.push(store.tester(constructor, argument));
                let fields = 0..store.constructor(constructor).fields.len() as u32;
                let fields: Vec<Term> =
                    fields.map(|field| store.selector(constructor, field, argument)).collect();
                let made = store.construct_term(constructor, &fields);
                let args: Vec<Term> = [made].iter().chain(&store.args(application)[1..]).copied().collect();
                let Op::Apply(fun) = store.op(application) else { continue };
                let at_made = store.apply(fun, &args).expect("the sorts fit");
                self.facts.push(store.eq(argument, made));
                self.facts.push(equal(store, application, at_made));
                self.open.push(at_made);
            }
            self.close();
        }
    }
}

/// The terms that concatenate or reverse lists.
fn list_operations<'t>(store: &'t TermStore, terms: &'t [Term]) -> impl Iterator<Item = Term> + 't {
    let is_operation = |&term: &Term| {
        store.applied_fold(term).is_some_and(|fold| store.list_function_sort(fold.fun).is_some())
    };
    terms.iter().copied().filter(is_operation)
}

/// An equation of terms or an equivalence of formulas.
fn equal(store: &TermStore, a: Term, b: Term) -> Term {
    if store.sort_of(a) == Sort::BOOL { store.iff(a, b) } else { store.eq(a, b) }
}

/// A lemma for a value and ghosts.
fn instance(store: &TermStore, lemma: &FoldLemma, values: &[Term]) -> Term {
    let pairs = lemma.parameters.iter().copied().zip(values.iter().copied());
    store.instantiate(lemma.formula, &pairs.collect::<Substitution>())
}

/// The number of values of datatypes that a lemma is about.
pub(super) fn level(store: &TermStore, lemma: &FoldLemma) -> usize {
    lemma.parameters.iter().filter(|&&parameter| store.datatype(store.sort_of(parameter)).is_some()).count()
}

/// Lists of terms for parameters, from candidates for each position, as far as these have the sort.
fn choices<'c>(
    store: &TermStore,
    parameters: &[Term],
    candidates: impl Fn(usize) -> &'c [Term],
) -> Vec<Vec<Term>> {
    let mut choices: Vec<Vec<Term>> = vec![Vec::new()];
    for (position, &parameter) in parameters.iter().enumerate() {
        let fits = |term: &&Term| store.sort_of(**term) == store.sort_of(parameter);
        let fitting: Vec<Term> = candidates(position).iter().filter(fits).copied().collect();
        let extended = choices.iter().flat_map(|choice| {
            fitting.iter().map(move |&term| choice.iter().copied().chain([term]).collect::<Vec<Term>>())
        });
        choices = extended.take(MOST_INSTANCES).collect();
    }
    choices
}

/// The constructors that make the values of least height.
#[derive(Clone, Default)]
struct LeastConstructors {
    known: FxHashMap<Sort, ConstructorId>,
}

impl LeastConstructors {
    fn of(&mut self, store: &TermStore, sort: Sort) -> ConstructorId {
        let constructors =
            |sort: Sort| store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
        let mut sorts: Vec<Sort> = vec![sort];
        let mut position = 0;
        while let Some(&next) = sorts.get(position) {
            position += 1;
            for &(_, field) in constructors(next).iter().flat_map(|&id| &store.constructor(id).fields) {
                if store.datatype(field).is_some() && !sorts.contains(&field) {
                    sorts.push(field);
                }
            }
        }
        // In each round the values of the next height are found.
        while !self.known.contains_key(&sort) {
            let is_known = |field: Sort| store.datatype(field).is_none() || self.known.contains_key(&field);
            let is_made = |id: &&ConstructorId| {
                store.constructor(**id).fields.iter().all(|&(_, field)| is_known(field))
            };
            let open = sorts.iter().filter(|sort| !self.known.contains_key(sort));
            let made: Vec<(Sort, ConstructorId)> =
                open.filter_map(|&sort| Some((sort, *constructors(sort).iter().find(is_made)?))).collect();
            self.known.extend(made);
        }
        self.known[&sort]
    }
}

/// Proves lemmas by induction, those about fewer values first. A lemma that evaluation shows to be false is a fault.
pub(super) fn prove(context: &Context<'_>, trust: Trust, lemmas: &[FoldLemma]) -> Result<(), Validity> {
    let store = context.store;
    for (number, lemma) in lemmas.iter().enumerate() {
        check_shape(store, number, lemma).map_err(Validity::Invalid)?;
    }
    let levels: BTreeSet<usize> = lemmas.iter().map(|lemma| level(store, lemma)).collect();
    let mut proved: Vec<FoldLemma> = Vec::new();
    for of in levels {
        let group = lemmas.iter().enumerate().filter(|(_, lemma)| level(store, lemma) == of);
        let group: Vec<(usize, &FoldLemma)> = group.collect();
        for position in 0..group.len() {
            let sort = store.sort_of(group[position].1.parameters[0]);
            let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
            for &constructor in constructors {
                prove_case(context, trust, &proved, &group, position, constructor)?;
            }
        }
        proved.extend(group.into_iter().map(|(_, lemma)| lemma.clone()));
    }
    Ok(())
}

/// Checks that a lemma is about one value of a datatype and ghosts, and applies folds only.
fn check_shape(store: &TermStore, number: usize, lemma: &FoldLemma) -> Result<(), Fault> {
    let wrong = |message: &str| Err(Fault::Shape(format!("lemma {}: {message}", number + 1)));
    let FoldLemma { parameters, formula } = lemma;
    let different: FxHashSet<Term> = parameters.iter().copied().collect();
    let is_variable = |&parameter: &Term| matches!(store.op(parameter), Op::Var(_));
    if different.len() < parameters.len() || !parameters.iter().all(is_variable) {
        return wrong("its parameters are not different variables");
    }
    if parameters.first().is_none_or(|&value| store.datatype(store.sort_of(value)).is_none()) {
        return wrong("it is not about a value of a datatype");
    }
    if store.sort_of(*formula) != Sort::BOOL || store.is_quantified(*formula) {
        return wrong("it is not a formula without quantifiers");
    }
    let symbols = store.symbols(&[*formula]);
    if symbols.vars.iter().any(|variable| !different.contains(variable)) {
        return wrong("it mentions a variable that is not a parameter");
    }
    if symbols.funs.iter().any(|&fun| store.fold(fun).is_none()) {
        return wrong("it applies a function that is not recursive");
    }
    Ok(())
}

/// Proves a lemma of a group for the values that a constructor makes. `proved` are the lemmas about fewer values.
fn prove_case(
    context: &Context<'_>,
    trust: Trust,
    proved: &[FoldLemma],
    group: &[(usize, &FoldLemma)],
    position: usize,
    constructor: ConstructorId,
) -> Result<(), Validity> {
    let store = context.store;
    let (number, lemma) = group[position];
    let sorts = store.constructor(constructor).fields.iter();
    let fields: Vec<Term> = sorts.map(|&(_, sort)| store.var(store.fresh_symbol("field"), sort)).collect();
    let value = store.construct_term(constructor, &fields);
    let ghosts = &lemma.parameters[1..];
    // The ghosts of a joint hypothesis may be any terms: those of the lemma, their parts, and fields.
    let parts = ghosts.iter().flat_map(|&ghost| parts(store, ghost));
    let parts: Vec<Term> = ghosts.iter().copied().chain(parts).chain(fields.iter().copied()).collect();
    let at = |lemma: &FoldLemma, value: Term| -> Vec<Term> {
        let values = if level(store, lemma) > 1 {
            let first = [value];
            choices(store, &lemma.parameters, |position| if position == 0 { &first } else { &parts })
        } else {
            let sorts = lemma.parameters[1..].iter().map(|&ghost| store.sort_of(ghost));
            let fits = sorts.eq(ghosts.iter().map(|&ghost| store.sort_of(ghost)));
            let is_of_sort = store.sort_of(lemma.parameters[0]) == store.sort_of(value);
            let is_instance = is_of_sort && (fits || lemma.parameters.len() == 1);
            let ghosts = ghosts.iter().take(lemma.parameters.len() - 1);
            is_instance.then(|| [value].iter().chain(ghosts).copied().collect()).into_iter().collect()
        };
        values.iter().map(|values| instance(store, lemma, values)).collect()
    };
    let hypotheses =
        fields.iter().flat_map(|&field| group.iter().flat_map(move |(_, lemma)| at(lemma, field)));
    let earlier = group[..position].iter().flat_map(|(_, lemma)| at(lemma, value));
    let given: Vec<Term> = hypotheses.chain(earlier).collect();
    let claim = instance(store, lemma, &[value].iter().chain(ghosts).copied().collect::<Vec<Term>>());
    let refuted = format_args!("counterexamples to lemma {}", number + 1);
    let found = match refute(context, trust, &[store.not(claim)], &given, proved, refuted) {
        Err(Stop::Exhausted(UNDECIDED)) => Err(Stop::Exhausted(UNPROVED)),
        found => found,
    };
    let Some(mut assignment) = found.map_err(Validity::Unknown)? else { return Ok(()) };
    for &variable in fields
        .iter()
        .chain(ghosts)
        .filter(|&&variable| assignment.get(variable).is_none())
        .collect::<Vec<_>>()
    {
        assignment.set(variable, store.default_value(store.sort_of(variable)));
    }
    let values = [value].into_iter().chain(ghosts.iter().copied());
    let counterexample = lemma
        .parameters
        .iter()
        .zip(values)
        .filter_map(|(&parameter, value)| Some((parameter, store.eval(value, &assignment).ok()?)))
        .collect();
    Err(Validity::Invalid(Fault::Lemma { lemma: lemma.formula, counterexample }))
}

/// The fields of a value of a datatype, for all constructors.
fn parts(store: &TermStore, value: Term) -> Vec<Term> {
    let datatype = store.datatype(store.sort_of(value));
    let constructors = datatype.map_or(&[][..], |datatype| datatype.constructors());
    let fields = |&id: &ConstructorId| {
        let fields = 0..store.constructor(id).fields.len() as u32;
        fields.map(move |field| store.selector(id, field, value))
    };
    constructors.iter().flat_map(fields).collect()
}
