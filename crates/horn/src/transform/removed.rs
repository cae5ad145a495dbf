//! Formulas for removed predicates: interpolants between their derivations and their uses.
//!
//! The interpolants come from one refutation. If the solver finds no proof, or none that interpolates, variables are
//! eliminated part by part, which gives the strongest formulas. Where a model applies folds, each part gets what is true of
//! them (`fold_facts.rs`). If that does not refute the parts, since laws of folds need induction, or if a model multiplies
//! variables, equations may define all variables that must go.
//!
//! A model may have ghosts, `forall g. F(g)`. Then the interpolants are for one unknown `g` in all parts, and hold for all `g`: a part
//! implies each of its instances. The last part denies its head for some `g`. If it is a query, one of its integers is `g`.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Sort, Substitution, Term, TermStore};
use shofar_run::{Reason, Stop};
use shofar_smt::interpolate::{Error, Options};
use shofar_smt::project::{self, Status, eliminate};
use shofar_smt::proof::Part;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::Context;
use crate::check::contradict;
use crate::transform::fold_facts::{Hidden, Known};
use crate::transform::solve_equations;

/// Integers of a query that are tried for a ghost.
const MOST_CHOICES: usize = 8;

/// The reason not to find a formula for a removed predicate.
const UNKNOWN: Stop = Stop::Exhausted("a recursive function of the model would have to be unfolded further");

/// A formula over the shared variables that follows from `a` and contradicts `b`. All other variables are local, even
/// if both formulas have them.
pub(super) fn between(context: &Context<'_>, a: Term, b: Term, shared: &[Term]) -> Result<Term, Stop> {
    if a == Term::FALSE || b == Term::FALSE {
        return Ok(context.store.bool(a != Term::FALSE));
    }
    let a = apart(context.store, a, b, shared);
    Ok(along(context, &[a, b])?[0])
}

/// The formula, with the variables renamed that the other one also has but does not share.
fn apart(store: &TermStore, formula: Term, other: Term, shared: &[Term]) -> Term {
    let shared: FxHashSet<Term> = shared.iter().copied().collect();
    let others: FxHashSet<Term> = store.free_vars(&[other]).into_iter().collect();
    let mut renaming = Substitution::new();
    for variable in store.free_vars(&[formula]) {
        if others.contains(&variable) && !shared.contains(&variable) {
            renaming.insert(variable, store.var(store.fresh_symbol("local"), store.sort_of(variable)));
        }
    }
    if renaming.is_empty() {
        return formula;
    }
    store.instantiate(formula, &renaming)
}

/// Path interpolants of unsatisfiable parts: for each part but the last, a formula that follows from the part and the
/// previous formula, and contradicts the rest.
pub(super) fn along(context: &Context<'_>, parts: &[Term]) -> Result<Vec<Term>, Stop> {
    let store = context.store;
    if !parts.iter().any(|&part| store.is_quantified(part)) {
        return along_folds(context, parts, None);
    }
    let ghost = store.var(store.fresh_symbol("ghost"), Sort::INT);
    let mut parts = at_ghost(store, parts, ghost)?;
    let last = parts.pop().unwrap_or(Term::TRUE);
    let integers = store
        .free_vars(&[last])
        .into_iter()
        .filter(|&variable| variable != ghost && store.sort_of(variable) == Sort::INT);
    let choices = integers.take(MOST_CHOICES).map(|integer| store.eq(ghost, integer));
    for choice in [Term::TRUE].into_iter().chain(choices) {
        parts.push(store.and2(last, choice));
        match along_folds(context, &parts, Some(ghost)) {
            Ok(found) => {
                return Ok(found.into_iter().map(|formula| for_all(store, ghost, formula)).collect());
            }
            Err(Stop::Interrupted(reason)) => return Err(Stop::Interrupted(reason)),
            Err(_) => parts.truncate(parts.len() - 1),
        }
    }
    Err(UNKNOWN)
}

/// The parts for one ghost, which takes the place of all bound variables.
fn at_ghost(store: &TermStore, parts: &[Term], ghost: Term) -> Result<Vec<Term>, Stop> {
    let mut is_simple = true;
    let open = parts.iter().map(|&part| {
        store.rewrite(part, &mut |op, args| match (op, args) {
            (Op::Forall | Op::Exists, &[bound, body]) if store.sort_of(bound) == Sort::INT => {
                store.instantiate(body, &Substitution::from_iter([(bound, ghost)]))
            }
            _ => {
                is_simple &= !matches!(op, Op::Forall | Op::Exists);
                store.build(op, args).expect("the arguments have the sorts of those before")
            }
        })
    });
    let open: Vec<Term> = open.collect();
    if is_simple { Ok(open) } else { Err(UNKNOWN) }
}

fn for_all(store: &TermStore, ghost: Term, formula: Term) -> Term {
    match store.free_vars(&[formula]).contains(&ghost) {
        true => store.app(Op::Forall, &[ghost, formula]).expect("interpolants are formulas"),
        false => formula,
    }
}

/// [`along`] for parts without quantifiers, which may apply folds, also with a ghost.
fn along_folds(context: &Context<'_>, parts: &[Term], ghost: Option<Term>) -> Result<Vec<Term>, Stop> {
    let store = context.store;
    let Some(folds) = Hidden::new(store, parts, ghost) else {
        // The model may multiply variables.
        return interpolants(context, parts).or_else(|stop| match stop {
            Stop::Unsupported(_) if ghost.is_none() => by_equations(context, parts).ok_or(stop),
            _ => Err(stop),
        });
    };
    for known in [Known::Own, Known::All] {
        let hidden: Vec<Term> = parts.iter().map(|&part| folds.hide(store, part, known)).collect();
        match interpolants(context, &hidden) {
            Ok(found) => return Ok(found.into_iter().map(|formula| folds.reveal(store, formula)).collect()),
            Err(Stop::Interrupted(reason)) => return Err(Stop::Interrupted(reason)),
            // Facts about folds may be missing.
            Err(_) => {}
        }
    }
    let by_equations = if ghost.is_none() { by_equations(context, parts) } else { None };
    by_equations.ok_or(UNKNOWN)
}

/// The strongest path interpolants, if equations define all variables that are to be eliminated, or if the parts so far
/// contradict each other by the laws that the checker knows.
fn by_equations(context: &Context<'_>, parts: &[Term]) -> Option<Vec<Term>> {
    let store = context.store;
    let mut last_part: FxHashMap<Term, usize> = FxHashMap::default();
    for (position, &part) in parts.iter().enumerate() {
        last_part.extend(store.free_vars(&[part]).into_iter().map(|variable| (variable, position)));
    }
    let mut before = Term::TRUE;
    let eliminated = |(position, &part): (usize, &Term)| {
        let is_local = |variable: Term| last_part.get(&variable).is_none_or(|&last| last <= position);
        let formula = store.normalize(store.and2(before, part));
        let solved = solve_equations(store, formula, |variable| is_local(variable).then_some(0));
        before = store.and(&solved.rest);
        if store.free_vars(&[before]).into_iter().any(is_local) {
            before = contradict(context, &[formula]).ok()?.then_some(Term::FALSE)?;
        }
        Some(before)
    };
    parts[..parts.len() - 1].iter().enumerate().map(eliminated).collect()
}

fn interpolants(context: &Context<'_>, parts: &[Term]) -> Result<Vec<Term>, Stop> {
    let store = context.store;
    let unsupported = |unsupported: Unsupported| unsupported.stop(store);
    let numbered = || (0..).map(Part).zip(parts.iter().copied());
    let mut solver = Solver::with_proofs(store);
    for (part, formula) in numbered() {
        solver.assert_in(formula, part).map_err(unsupported)?;
    }
    match solver.check(&[], &context.limits).map_err(unsupported)? {
        Outcome::Unsat => {}
        Outcome::Sat => return Err(Stop::Internal("the model violates a joined edge".into())),
        Outcome::Unknown(Reason::Budget | Reason::Incomplete) => return by_elimination(context, parts),
        Outcome::Unknown(reason) => return Err(Stop::Interrupted(reason)),
    }
    let order: Vec<Part> = numbered().map(|(part, _)| part).collect();
    let interpolator = solver.interpolator(Options::default());
    match interpolator.and_then(|interpolator| interpolator.sequence(&order, &context.limits)) {
        Ok(found) => Ok(found.into_iter().map(|interpolant| interpolant.formula).collect()),
        Err(Error::Interrupted(reason)) => Err(Stop::Interrupted(reason)),
        Err(_) => by_elimination(context, parts),
    }
}

/// The strongest path interpolants.
fn by_elimination(context: &Context<'_>, parts: &[Term]) -> Result<Vec<Term>, Stop> {
    let store = context.store;
    let mut last_part: FxHashMap<Term, usize> = FxHashMap::default();
    for (position, &part) in parts.iter().enumerate() {
        last_part.extend(store.free_vars(&[part]).into_iter().map(|variable| (variable, position)));
    }
    let bounds = project::Bounds { limits: context.limits, ..project::Bounds::default() };
    let mut interpolants = Vec::new();
    let mut before = Term::TRUE;
    for (position, &part) in parts[..parts.len() - 1].iter().enumerate() {
        let formula = store.and2(before, part);
        let mut locals = store.free_vars(&[formula]);
        locals.retain(|variable| last_part.get(variable).is_none_or(|&last| last <= position));
        let elimination = eliminate(store, formula, &locals, &bounds).map_err(|error| error.stop(store))?;
        before = match elimination.status {
            Status::Complete => elimination.formula,
            Status::TooManyDisjuncts => return Err(Stop::Interrupted(Reason::Budget)),
            Status::Unknown(reason) => return Err(Stop::Interrupted(reason)),
        };
        interpolants.push(before);
    }
    Ok(interpolants)
}
