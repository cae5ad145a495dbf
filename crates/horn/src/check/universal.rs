//! Definitions `forall k. F` about the elements of arrays: clauses are refuted by instances.
//!
//! No elimination removes a quantifier over an index. But a clause whose body has such definitions is refuted by instances of them:
//!
//! ```text
//! deny the head, with new constants for its variables
//! repeat at most ROUNDS times
//!     points := the indices at which the formulas so far read or write arrays
//!     for each definition of the body, and each a[t(k)] in it: k is chosen such that t(k) is a point of the array a
//!     if the solver refutes the formulas and these instances: the clause holds
//! repeat at most MOST_REFINEMENTS times
//!     in a model of all these formulas: terms of them for k, such that F is false there
//!     if the solver refutes the formulas and this instance: the clause holds
//! ```
//!
//! The second loop finds instances for variables that are no indices, for which there are many terms. One query chooses among the
//! values of all of them.
//!
//! - U1: instances follow from their definitions, and the new constants of the head are arbitrary. So a refutation proves the clause,
//!   whatever instances are chosen. The choice comes from the clause alone.
//! - Arrays that are compared, or made from each other, have common points. If they differ, they differ at an index that no
//!   formula names: it gets a constant `d`, with `a = b or a[d] != b[d]`. Every model of the formulas has such a `d`.
//! - A model of the instances proves nothing.
//!
//! The choice is complete for models that the engine `cells` finds for the same clauses. It is that of the array property fragment.
//!
//! Sources: Bradley, Manna & Sipma, "What's decidable about arrays?" (VMCAI 2006); Ge & de Moura, "Complete instantiation for quantified
//! formulas in satisfiability modulo theories" (CAV 2009), for instances by models.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{Assignment, LinearPoly, Op, Sort, Substitution, Term, TermStore};
use shofar_run::Stop;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::{Trust, ghosts, replay};
use crate::Context;
use crate::witness::prenex;

/// Rounds of instances.
const ROUNDS: usize = 3;

/// Terms that are chosen for one variable in one round.
const MOST_TERMS: usize = 24;

/// Instances of one definition in one round.
const MOST_INSTANCES: usize = 600;

/// Instances that are chosen by models, for all definitions together.
const MOST_REFINEMENTS: usize = 60;

/// Terms of one sort from which models choose.
const MOST_CANDIDATES: usize = 80;

/// The reason to neither accept nor reject a model.
const UNDECIDED: Stop = Stop::Exhausted("no instances of the quantifiers of a model prove a clause");

/// Whether a definition has universal quantifiers in front, and variables of them in indices of arrays.
pub(crate) fn is_universal(store: &TermStore, definition: Term) -> bool {
    let Some((bound, body)) = ghosts::split(store, definition) else { return false };
    store.subterms(&[body]).into_iter().any(|term| match store.view(term) {
        (Op::Select | Op::Store, &[_, index, ..]) => {
            store.free_vars(&[index]).iter().any(|variable| bound.contains(variable))
        }
        _ => false,
    })
}

/// Instances of universal definitions at the indices of formulas.
pub(crate) fn point_instances(store: &TermStore, formulas: &[Term], definitions: &[Term]) -> Vec<Term> {
    let split = definitions.iter().filter_map(|&definition| ghosts::split(store, definition));
    let mut universals: Vec<Universal> =
        split.map(|(bound, formula)| Universal::new(store, bound, formula)).collect();
    let points = Points::new(store, formulas, &universals, &[]);
    universals.iter_mut().flat_map(|universal| universal.instances(store, &points)).collect()
}

/// The definition with its quantifiers in front, if they can be there.
pub(super) fn in_front(store: &TermStore, definition: Term) -> Term {
    prenex(store, store.nnf(store.normalize(definition)))
}

/// Refutes that the constraint and the definitions of a body hold and that of the head does not.
pub(super) fn refute(
    context: &Context<'_>,
    trust: Trust,
    constraint: Term,
    body: &[Term],
    head: Option<Term>,
    refuted: impl fmt::Display,
) -> Result<(), Stop> {
    let store = context.store;
    let mut formulas = vec![constraint];
    let mut universals: Vec<Universal> = Vec::new();
    let mut constants: Vec<Term> = Vec::new();
    if let Some(head) = head {
        let (bound, formula) = ghosts::split(store, head).unwrap_or((&[], head));
        let constant = |&variable: &Term| {
            let constant = store.var(store.fresh_symbol("index"), store.sort_of(variable));
            (variable, constant)
        };
        let pairs: Vec<(Term, Term)> = bound.iter().map(constant).collect();
        constants.extend(pairs.iter().map(|&(_, constant)| constant));
        formulas.push(not(store, store.substitute(formula, &pairs.into_iter().collect())));
    }
    for &definition in body {
        match ghosts::split(store, definition) {
            None => formulas.push(definition),
            Some((bound, formula)) => universals.push(Universal::new(store, bound, formula)),
        }
    }
    if let Some(&quantified) = formulas.iter().find(|&&formula| store.is_quantified(formula)) {
        let shown = store.display(quantified);
        return Err(Stop::Unsupported(format!("quantifiers below other operators: {shown}")));
    }
    formulas.extend(differences(store, &formulas));
    let mut search = Search { context, solver: Solver::new(store), formulas, asserted: 0 };
    let is_refuted = search.by_points(&mut universals, &constants)? || search.by_models(&mut universals)?;
    match trust {
        _ if !is_refuted => Err(UNDECIDED),
        Trust::Solver => Ok(()),
        Trust::Proofs => prove(context, &search.formulas, &refuted),
    }
}

/// The search for instances that refute formulas.
struct Search<'c, 'a> {
    context: &'c Context<'a>,
    solver: Solver<'a>,
    formulas: Vec<Term>,
    /// The number of formulas that the solver knows.
    asserted: usize,
}

impl Search<'_, '_> {
    /// Whether the formulas so far contradict each other.
    fn is_refuted(&mut self) -> Result<bool, Stop> {
        let unsupported = |unsupported: Unsupported| unsupported.stop(self.context.store);
        self.context.go_on()?;
        self.solver.assert_all(&self.formulas[self.asserted..]).map_err(unsupported)?;
        self.asserted = self.formulas.len();
        match self.solver.check(&[], &self.context.limits).map_err(unsupported)? {
            Outcome::Unsat => Ok(true),
            Outcome::Sat => Ok(false),
            Outcome::Unknown(reason) => Err(Stop::Interrupted(reason)),
        }
    }

    /// Instances at all points, in rounds.
    fn by_points(&mut self, universals: &mut [Universal], constants: &[Term]) -> Result<bool, Stop> {
        let store = self.context.store;
        for round in 0..ROUNDS {
            let points = Points::new(store, &self.formulas, universals, constants);
            let before = self.formulas.len();
            for universal in universals.iter_mut() {
                self.formulas.extend(universal.instances(store, &points));
            }
            if self.formulas.len() == before && round > 0 {
                break;
            }
            if self.is_refuted()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Instances that are false in models of the formulas so far, one by one.
    fn by_models(&mut self, universals: &mut [Universal]) -> Result<bool, Stop> {
        let store = self.context.store;
        for _ in 0..MOST_REFINEMENTS {
            let terms = ground_terms(store, &self.formulas);
            let model = self.solver.model(&self.formulas);
            let values = Values::new(store, &self.formulas, model);
            let mut found: Vec<Term> = Vec::new();
            for universal in universals.iter_mut() {
                found.extend(universal.violated(self.context, &terms, &values)?);
            }
            if found.is_empty() {
                return Ok(false);
            }
            self.formulas.extend(found);
            if self.is_refuted()? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The subterms without bound variables, small ones first.
fn ground_terms(store: &TermStore, formulas: &[Term]) -> FxHashMap<Sort, Vec<Term>> {
    let mut terms: FxHashMap<Sort, Vec<Term>> = FxHashMap::default();
    for term in store.subterms(formulas) {
        let sort = store.sort_of(term);
        if sort != Sort::BOOL || store.is_symbol(term) {
            terms.entry(sort).or_default().push(term);
        }
    }
    #[expect(clippy::iter_over_hash_type, reason = "each list is sorted by itself")]
    for terms in terms.values_mut() {
        // Symbols are what clauses and definitions have in common.
        terms.sort_by_key(|&term| (!store.is_symbol(term), term));
        terms.truncate(MOST_CANDIDATES);
    }
    terms
}

/// The values of terms in a model.
struct Values<'a> {
    store: &'a TermStore,
    /// The values of symbols.
    symbols: Substitution,
    model: Assignment,
}

impl<'a> Values<'a> {
    fn new(store: &'a TermStore, formulas: &[Term], mut model: Assignment) -> Self {
        let mut symbols = Substitution::new();
        for symbol in store.subterms(formulas).into_iter().filter(|&term| store.is_symbol(term)) {
            let value = model.get(symbol).cloned();
            let value = value.unwrap_or_else(|| store.default_value(store.sort_of(symbol)));
            symbols.insert(symbol, store.value_to_term(&value));
            model.set(symbol, value);
        }
        Values { store, symbols, model }
    }

    /// The value as a term, unless the model leaves it open.
    fn of(&self, term: Term) -> Option<Term> {
        self.store.eval(term, &self.model).ok().map(|value| self.store.value_to_term(&value))
    }
}

/// Replays a proof that the formulas contradict each other.
fn prove(context: &Context<'_>, formulas: &[Term], refuted: impl fmt::Display) -> Result<(), Stop> {
    let store = context.store;
    let unsupported = |unsupported: Unsupported| unsupported.stop(store);
    let mut solver = Solver::with_proofs(store);
    solver.assert_all(formulas).map_err(unsupported)?;
    match solver.check(&[], &context.limits).map_err(unsupported)? {
        Outcome::Unsat => replay(context, &solver, formulas, refuted),
        Outcome::Sat => Err(Stop::Internal("two solvers disagree about instances".to_owned())),
        Outcome::Unknown(reason) => Err(Stop::Interrupted(reason)),
    }
}

/// For each comparison of arrays an index at which they differ unless they are equal.
fn differences(store: &TermStore, formulas: &[Term]) -> Vec<Term> {
    let mut differences: Vec<Term> = Vec::new();
    for term in store.subterms(formulas) {
        let (Op::Eq | Op::Distinct, args) = store.view(term) else { continue };
        let Some((index, _)) = store.array_parts(store.sort_of(args[0])) else { continue };
        for (number, &left) in args.iter().enumerate() {
            for &right in &args[number + 1..] {
                let witness = store.var(store.fresh_symbol("difference"), index);
                let [own, other] = [left, right].map(|array| app(store, Op::Select, &[array, witness]));
                let equal = app(store, Op::Eq, &[left, right]);
                let differ = not(store, app(store, Op::Eq, &[own, other]));
                differences.push(app(store, Op::Or, &[equal, differ]));
            }
        }
    }
    differences
}

fn app(store: &TermStore, op: Op, args: &[Term]) -> Term {
    store.app(op, args).expect("the arguments have the sorts of the operator")
}

fn not(store: &TermStore, formula: Term) -> Term {
    app(store, Op::Not, &[formula])
}

/// The indices of arrays, by classes of arrays.
struct Points<'a> {
    store: &'a TermStore,
    classes: FxHashMap<Term, usize>,
    parents: Vec<usize>,
    points: FxHashMap<usize, Vec<Term>>,
    /// Terms for variables that are in no index.
    others: Vec<Term>,
}

impl<'a> Points<'a> {
    /// The points of formulas, and those of definitions that depend on no bound variable.
    fn new(store: &'a TermStore, formulas: &[Term], universals: &[Universal], constants: &[Term]) -> Self {
        let mut points = Points {
            store,
            classes: FxHashMap::default(),
            parents: Vec::new(),
            points: FxHashMap::default(),
            others: constants.to_vec(),
        };
        let bound: FxHashSet<Term> =
            universals.iter().flat_map(|universal| universal.bound.iter().copied()).collect();
        let matrices: Vec<Term> = universals.iter().map(|universal| universal.formula).collect();
        let mut all = store.subterms(formulas);
        let of_formulas = all.len();
        all.extend(store.subterms(&matrices));
        // Arrays that are elements of arrays may be equal to any array of their sort.
        let mut inner: FxHashMap<Sort, Option<Term>> = FxHashMap::default();
        for &term in &all {
            if let Some((index, element)) = store.array_parts(store.sort_of(term)) {
                inner.entry(element).or_default();
                inner.entry(index).or_default();
            }
        }
        for &term in &all {
            points.relate(term);
            if store.array_parts(store.sort_of(term)).is_some()
                && let Some(first) = inner.get_mut(&store.sort_of(term))
            {
                let first = *first.get_or_insert(term);
                points.join(first, term);
            }
        }
        for (number, &term) in all.iter().enumerate() {
            match store.view(term) {
                (Op::Select | Op::Store, &[array, index, ..]) => {
                    let is_open =
                        || store.free_vars(&[index]).iter().any(|variable| bound.contains(variable));
                    if number >= of_formulas && is_open() {
                        continue;
                    }
                    let class = points.class_of(array);
                    let index = store.normalize(index);
                    let known = points.points.entry(class).or_default();
                    if !known.contains(&index) {
                        known.push(index);
                    }
                }
                (Op::Var(_), _) if number < of_formulas => points.others.push(term),
                _ => {}
            }
        }
        points
    }

    /// Joins the classes that a term relates.
    fn relate(&mut self, term: Term) {
        let store = self.store;
        let is_array = |term: Term| store.array_parts(store.sort_of(term)).is_some();
        match store.view(term) {
            (Op::Store, &[below, ..]) => self.join(term, below),
            (Op::Ite, &[_, left, right]) if is_array(term) => {
                self.join(term, left);
                self.join(term, right);
            }
            (Op::Eq | Op::Distinct, args) if is_array(args[0]) => {
                args[1..].iter().for_each(|&arg| self.join(args[0], arg));
            }
            _ => {}
        }
    }

    fn class_of(&mut self, array: Term) -> usize {
        let next = self.parents.len();
        let mut class = *self.classes.entry(array).or_insert(next);
        if class == next {
            self.parents.push(next);
        }
        while self.parents[class] != class {
            class = self.parents[class];
        }
        class
    }

    fn join(&mut self, one: Term, other: Term) {
        let (one, other) = (self.class_of(one), self.class_of(other));
        self.parents[other] = one;
    }

    /// The class of an array, if it has one.
    fn known_class(&self, array: Term) -> Option<usize> {
        let mut class = *self.classes.get(&array)?;
        while self.parents[class] != class {
            class = self.parents[class];
        }
        Some(class)
    }
}

/// A read at the sum of a bound variable, or its negation, and other terms.
struct Read {
    array: Term,
    is_negated: bool,
    rest: LinearPoly,
}

impl Read {
    /// The term for the variable with which the read is at the index.
    fn solved(&self, store: &TermStore, index: Term) -> Term {
        let mut sum = LinearPoly::from_term(store, index);
        sum.add_scaled(&self.rest, &-Rational::ONE);
        if self.is_negated {
            sum.scale(&-Rational::ONE);
        }
        sum.to_term(store, Sort::INT)
    }
}

/// A universal definition, for the arguments of an atom.
struct Universal {
    bound: Vec<Term>,
    formula: Term,
    /// By variables: the arrays that are read at a sum with it or its negation.
    reads: Vec<Vec<Read>>,
    /// By variables: the arrays that are read exactly at it, if it is not an integer.
    exact: Vec<Vec<Term>>,
    seen: FxHashSet<Vec<Term>>,
}

impl Universal {
    /// The bound variables get new names, which are nobody else's.
    fn new(store: &TermStore, bound: &[Term], formula: Term) -> Self {
        let fresh = |&variable: &Term| store.var(store.fresh_symbol("bound"), store.sort_of(variable));
        let (old, bound): (&[Term], Vec<Term>) = (bound, bound.iter().map(fresh).collect());
        let renaming: Substitution = old.iter().copied().zip(bound.iter().copied()).collect();
        let formula = store.substitute(formula, &renaming);
        let mut reads: Vec<Vec<Read>> = bound.iter().map(|_| Vec::new()).collect();
        let mut exact: Vec<Vec<Term>> = vec![Vec::new(); bound.len()];
        for term in store.subterms(&[formula]) {
            let (Op::Select | Op::Store, &[array, index, ..]) = store.view(term) else { continue };
            for (at, &variable) in bound.iter().enumerate() {
                if index == variable && store.sort_of(index) != Sort::INT {
                    exact[at].push(array);
                }
                if store.sort_of(index) != Sort::INT {
                    continue;
                }
                let sum = LinearPoly::from_term(store, index);
                let (factor, rest) = sum.split(variable);
                let mentions = |&(monomial, _): &(Term, Rational)| {
                    store.free_vars(&[monomial]).iter().any(|other| bound.contains(other))
                };
                let is_negated = (-&factor).is_one();
                if (factor.is_one() || is_negated) && !rest.terms().iter().any(mentions) {
                    reads[at].push(Read { array, is_negated, rest });
                }
            }
        }
        Universal { bound, formula, reads, exact, seen: FxHashSet::default() }
    }

    /// The instances for points that are new; none if there are too many.
    fn instances(&mut self, store: &TermStore, points: &Points<'_>) -> Vec<Term> {
        let terms: Vec<Vec<Term>> = (0..self.bound.len()).map(|at| self.terms(store, at, points)).collect();
        if terms.iter().fold(1, |all: usize, terms| all.saturating_mul(terms.len())) > MOST_INSTANCES {
            return Vec::new();
        }
        let mut choices: Vec<Vec<Term>> = vec![Vec::new()];
        for terms in &terms {
            let extended = choices.iter().flat_map(|choice| {
                terms.iter().map(move |&term| choice.iter().copied().chain([term]).collect())
            });
            choices = extended.collect();
        }
        choices.retain(|choice| self.seen.insert(choice.clone()));
        choices.into_iter().map(|choice| self.instance(store, choice)).collect()
    }

    fn instance(&self, store: &TermStore, choice: Vec<Term>) -> Term {
        let terms: Substitution = self.bound.iter().copied().zip(choice).collect();
        store.substitute(self.formula, &terms)
    }

    /// An instance for terms that is false for the values of a model.
    fn violated(
        &mut self,
        context: &Context<'_>,
        terms: &FxHashMap<Sort, Vec<Term>>,
        values: &Values<'_>,
    ) -> Result<Option<Term>, Stop> {
        let store = context.store;
        let unsupported = |unsupported: Unsupported| unsupported.stop(store);
        // By variables: terms with their values, each value once.
        let mut candidates: Vec<Vec<(Term, Term)>> = Vec::with_capacity(self.bound.len());
        let mut solver = Solver::new(store);
        solver.assert(not(store, store.substitute(self.formula, &values.symbols))).map_err(unsupported)?;
        for (at, &variable) in self.bound.iter().enumerate() {
            let mut own: Vec<(Term, Term)> = Vec::new();
            let indices = terms.get(&Sort::INT).map_or(&[][..], |terms| terms);
            let sums = self.reads[at]
                .iter()
                .flat_map(|read| indices.iter().map(move |&index| read.solved(store, index)));
            let plain = terms.get(&store.sort_of(variable)).map_or(&[][..], |terms| terms);
            for term in plain.iter().copied().chain(sums) {
                if let Some(value) = values.of(term)
                    && own.len() < MOST_CANDIDATES
                    && !own.iter().any(|&(_, known)| known == value)
                {
                    own.push((term, value));
                }
            }
            let chosen: Vec<Term> =
                own.iter().map(|&(_, value)| app(store, Op::Eq, &[variable, value])).collect();
            solver.assert(store.or(&chosen)).map_err(unsupported)?;
            candidates.push(own);
        }
        match solver.check(&[], &context.limits).map_err(unsupported)? {
            Outcome::Unsat => return Ok(None),
            Outcome::Unknown(reason) => return Err(Stop::Interrupted(reason)),
            Outcome::Sat => {}
        }
        let model = solver.model(&self.bound);
        let choice = self.bound.iter().zip(&candidates).map(|(&variable, own)| {
            let value = store.value_to_term(model.get(variable)?);
            own.iter().find(|&&(_, known)| known == value).map(|&(term, _)| term)
        });
        let Some(choice) = choice.collect::<Option<Vec<Term>>>() else { return Ok(None) };
        Ok(self.seen.insert(choice.clone()).then(|| self.instance(store, choice)))
    }

    /// The terms for a variable.
    fn terms(&self, store: &TermStore, at: usize, points: &Points<'_>) -> Vec<Term> {
        let sort = store.sort_of(self.bound[at]);
        let mut terms: Vec<Term> = Vec::new();
        let mut add = |term: Term| {
            if terms.len() < MOST_TERMS && !terms.contains(&term) {
                terms.push(term);
            }
        };
        let of = |array: Term| {
            let class = points.known_class(array);
            class.and_then(|class| points.points.get(&class)).map_or(&[][..], |points| points)
        };
        for read in &self.reads[at] {
            of(read.array).iter().for_each(|&point| add(read.solved(store, point)));
        }
        for &array in &self.exact[at] {
            of(array).iter().for_each(|&point| add(point));
        }
        if terms.is_empty() {
            let others = points.others.iter().filter(|&&term| store.sort_of(term) == sort);
            terms.extend(others.take(MOST_TERMS));
        }
        if terms.is_empty() {
            terms.push(store.value_to_term(&store.default_value(sort)));
        }
        terms
    }
}
