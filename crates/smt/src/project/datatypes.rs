//! Eliminates variables of datatypes from a cube around a model.
//!
//! Every literal of the cube that contains a variable `x` of a datatype becomes a literal without it, or is dropped.
//! The rules apply in this order until none does:
//!
//! ```text
//! solve       x = t                     x not in t: substitute t for x
//!             c(a1, .., an) = t         is-c(t)  and  ai = sel_i(t)  for all i, unless t is selected from a variable
//! drop        x only in x != t and      each of them excludes at most one value of x: if the sort has more values than
//!             c(.. x ..) != t           there are such literals, they go
//!             t != c(.. t ..)           is always true and goes
//! separate    c(a1, .., an) != t        by the model:  not is-c(t),  or  is-c(t)  and  ai != sel_i(t)  for one i
//! unfold      sel(x), is-c(x), or       the model tells the constructor c of x: substitute c(y1, .., yn) for x, with
//!             x has too few values      new variables y1, .., yn to eliminate
//! fix         sel_d(c(.. x ..)), d != c substitute the value of x, and report it
//! ```
//!
//! Equality of two constructor terms and selectors and testers of constructor terms do not occur: the normal form takes
//! them apart. What is left are numbers in fields, which go on to arithmetic.
//!
//! *Why it is right.* `solve` and `drop` are exact. `separate` and `unfold` choose one case of finitely many that
//! together are exact. SMT-LIB lets a selector have any value on a term of another constructor, but the same one each
//! time. So `sel_d(c(t))` stays if no variable is in it, and says nothing about the variables in it otherwise: `fix`
//! takes one instance.
//!
//! *Why it ends, with finitely many results.* `unfold` replaces a variable by variables with smaller values, and no
//! rule adds any others. It takes one selector off each chain of selectors on `x`. So the depth to which values are
//! unfolded is bounded by the literals, not by the model. A variable that is only compared is never unfolded if its
//! sort is infinite, because `drop` comes first. `fix` is the exception to finiteness.
//!
//! The rules for equations and selectors are those of model-based projection for datatypes in Bjørner & Janota,
//! "Playing with quantified satisfaction" (LPAR 2015). There, the value of a variable is unfolded when nothing else
//! applies, so the results need not be finitely many.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{ConstructorId, Op, Sort, SortKind, Substitution, Term, TermStore, Value};

use super::context::Context;
use super::fresh::Fresh;
use super::{ProjectError, define, replace, substitute};

/// Eliminates variables of datatypes, and takes other variables out of constructor terms.
pub(super) fn eliminate(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
    fresh: &mut Fresh,
) -> Result<(), ProjectError> {
    if !literals.iter().any(|&literal| context.mentions(literal) && context.contents(literal).datatype) {
        return Ok(());
    }
    while solve(context, literals)?
        || drop_disequalities(context, literals)
        || separate(context, literals)?
        || unfold(context, literals, fresh)?
        || fix(context, literals)?
    {}
    Ok(())
}

/// Whether the sort is a datatype.
pub(super) fn is_datatype(store: &TermStore, sort: Sort) -> bool {
    matches!(store.sort_kind(sort), SortKind::Datatype(_))
}

/// The sort itself, the sorts of its fields, indices and elements, those of these, and so on.
pub(super) fn sorts_within(store: &TermStore, sort: Sort) -> Vec<Sort> {
    let mut sorts = vec![sort];
    let mut seen: FxHashSet<Sort> = FxHashSet::from_iter([sort]);
    let mut next = 0;
    while let Some(&sort) = sorts.get(next) {
        let (index, element) = store.array_parts(sort).unzip();
        let parts = field_sorts(store, sort).chain(index).chain(element);
        sorts.extend(parts.filter(|&part| seen.insert(part)));
        next += 1;
    }
    sorts
}

/// The sorts of the fields of a datatype, constructor by constructor.
fn field_sorts(store: &TermStore, sort: Sort) -> impl Iterator<Item = Sort> {
    constructors(store, sort)
        .iter()
        .flat_map(|&id| store.constructor(id).fields.iter().map(|&(_, sort)| sort))
}

fn constructors(store: &TermStore, sort: Sort) -> &[ConstructorId] {
    store.datatype(sort).map_or(&[], |datatype| datatype.constructors())
}

/// Whether the sort has more than `count` values, in every interpretation. Counts the values of depth 1, 2 and so on, up
/// to `count + 1` of each sort.
pub(super) fn has_more_values(store: &TermStore, sort: Sort, count: usize) -> bool {
    let enough = count as u64 + 1;
    let sorts = sorts_within(store, sort);
    let mut sizes: FxHashMap<Sort, u64> = FxHashMap::default();
    loop {
        let before: u64 = sizes.values().sum();
        for &sort in &sorts {
            let size_of = |sort: &Sort| sizes.get(sort).copied().unwrap_or(0);
            let size = match store.sort_kind(sort) {
                SortKind::Bool => 2,
                SortKind::Int | SortKind::Real => enough,
                SortKind::BitVec(width) => 1u64.checked_shl(*width).unwrap_or(enough),
                SortKind::Uninterpreted(..) => 1,
                // At least so many, if there are at least so many indices and elements.
                SortKind::Array(index, element) => match (size_of(index), size_of(element)) {
                    (_, elements @ (0 | 1)) => elements,
                    (indices, elements) => {
                        elements.saturating_pow(u32::try_from(indices).unwrap_or(u32::MAX))
                    }
                },
                SortKind::Datatype(_) => {
                    let values = |&id: &ConstructorId| {
                        let fields = store.constructor(id).fields.iter();
                        fields.fold(1u64, |product, (_, field)| product.saturating_mul(size_of(field)))
                    };
                    constructors(store, sort).iter().map(values).fold(0, u64::saturating_add)
                }
            };
            sizes.insert(sort, size.min(enough));
        }
        if sizes[&sort] == enough {
            return true;
        }
        if sizes.values().sum::<u64>() == before {
            return false;
        }
    }
}

// ---- solve -------------------------------------------------------------------------------------------

/// Uses one equality between terms that are not numbers. Returns whether there is one to use.
fn solve(context: &mut Context<'_, '_>, literals: &mut Vec<Term>) -> Result<bool, ProjectError> {
    let store = context.store;
    for position in 0..literals.len() {
        let literal = literals[position];
        let (Op::Eq, &[a, b]) = store.view(literal) else { continue };
        if store.sort_of(a).is_arithmetic() || !context.mentions(literal) {
            continue;
        }
        for (x, t) in [(a, b), (b, a)] {
            if context.is_variable(x) && !store.subterms_until(&[t], |part| part == x).contains(&x) {
                literals.remove(position);
                substitute(context, literals, &Substitution::from_iter([(x, t)]))?;
                return Ok(true);
            }
        }
        for (made, t) in [(a, b), (b, a)] {
            if let (Op::Construct(constructor), fields) = store.view(made)
                && !context.is_variable(origin(store, t))
            {
                let equal = |(field, &part): (usize, &Term)| {
                    store.eq(part, store.selector(constructor, field as u32, t))
                };
                let mut parts = vec![store.tester(constructor, t)];
                parts.extend(fields.iter().enumerate().map(equal));
                replace(context, literals, position, &parts)?;
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The term from which a chain of selectors takes a part.
fn origin(store: &TermStore, mut term: Term) -> Term {
    while let (Op::Selector { .. }, &[whole]) = store.view(term) {
        term = whole;
    }
    term
}

// ---- drop --------------------------------------------------------------------------------------------

/// The sides of a disequality of a datatype.
fn disequality(store: &TermStore, literal: Term) -> Option<[Term; 2]> {
    let (atom, holds) = store.literal(literal);
    match store.view(atom) {
        (Op::Eq, &[a, b]) if !holds && is_datatype(store, store.sort_of(a)) => Some([a, b]),
        _ => None,
    }
}

/// How the variables occur in a cube.
#[derive(Default)]
struct Occurrences {
    /// The disequalities in which a variable occurs, by their positions, if it occurs there below constructors only.
    compared: FxHashMap<Term, Vec<usize>>,
    /// The variables that also occur elsewhere.
    bound: FxHashSet<Term>,
    /// The disequalities between a term and one that contains it below constructors.
    trivial: Vec<usize>,
}

impl Occurrences {
    fn of(context: &mut Context<'_, '_>, literals: &[Term]) -> Self {
        let mut occurrences = Occurrences::default();
        for (position, &literal) in literals.iter().enumerate() {
            if !context.mentions(literal) {
                continue;
            }
            match disequality(context.store, literal) {
                Some(sides) => occurrences.compare(context, position, sides),
                None => occurrences.bind(context, literal),
            }
        }
        occurrences
    }

    fn compare(&mut self, context: &mut Context<'_, '_>, position: usize, sides: [Term; 2]) {
        let store = context.store;
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        for side in sides {
            let mut stack = vec![side];
            while let Some(part) = stack.pop() {
                if part != side && sides.contains(&part) {
                    self.trivial.push(position);
                }
                if !context.mentions(part) || !seen.insert(part) {
                    continue;
                }
                match store.view(part) {
                    _ if context.is_variable(part) => self.compared.entry(part).or_default().push(position),
                    (Op::Construct(_), fields) => stack.extend(fields),
                    _ => self.bind(context, part),
                }
            }
        }
    }

    fn bind(&mut self, context: &mut Context<'_, '_>, term: Term) {
        let parts = context.store.subterms_until(&[term], |part| !context.mentions(part));
        self.bound.extend(parts.into_iter().filter(|&part| context.is_variable(part)));
    }

    /// The variables that are only compared, in the order of the context, with their disequalities.
    fn only_compared<'o>(
        &'o self,
        context: &Context<'_, '_>,
    ) -> impl Iterator<Item = (Term, &'o [usize])> + use<'o> {
        let vars = context.vars.iter().filter(|var| !self.bound.contains(var));
        let found: Vec<_> = vars.filter_map(|var| Some((*var, self.compared.get(var)?.as_slice()))).collect();
        found.into_iter()
    }
}

/// Drops disequalities that some value of a variable satisfies, whatever the other terms are.
fn drop_disequalities(context: &mut Context<'_, '_>, literals: &mut Vec<Term>) -> bool {
    let store = context.store;
    let occurrences = Occurrences::of(context, literals);
    let mut dropped: FxHashSet<usize> = occurrences.trivial.iter().copied().collect();
    for (var, positions) in occurrences.only_compared(context) {
        let left = positions.iter().filter(|position| !dropped.contains(position)).count();
        if left > 0 && has_more_values(store, store.sort_of(var), left) {
            dropped.extend(positions);
        }
    }
    let mut position = 0;
    literals.retain(|_| {
        position += 1;
        !dropped.contains(&(position - 1))
    });
    !dropped.is_empty()
}

// ---- separate ----------------------------------------------------------------------------------------

/// Replaces one disequality of a constructor term by a reason for it in the model. Returns whether there is one.
fn separate(context: &mut Context<'_, '_>, literals: &mut Vec<Term>) -> Result<bool, ProjectError> {
    let store = context.store;
    for position in 0..literals.len() {
        let literal = literals[position];
        let Some([a, b]) = disequality(store, literal) else { continue };
        if !context.mentions(literal) {
            continue;
        }
        for (made, t) in [(a, b), (b, a)] {
            if let (Op::Construct(constructor), fields) = store.view(made)
                && !context.is_variable(origin(store, t))
            {
                let reason = difference(context, constructor, fields, t)?;
                replace(context, literals, position, &reason)?;
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Why `constructor(fields)` and `t` differ in the model: the constructor, or a field, preferably without variables.
fn difference(
    context: &mut Context<'_, '_>,
    constructor: ConstructorId,
    fields: &[Term],
    t: Term,
) -> Result<Vec<Term>, ProjectError> {
    let store = context.store;
    let tester = store.tester(constructor, t);
    if !context.truth(tester).map_err(ProjectError::NoValue)? {
        return Ok(vec![store.not(tester)]);
    }
    let mut found = None;
    for (field, &part) in fields.iter().enumerate() {
        let other = store.selector(constructor, field as u32, t);
        let differs = store.not(store.eq(part, other));
        if context.truth(differs).map_err(ProjectError::NoValue)? {
            found = Some(differs);
            if !context.mentions(differs) {
                break;
            }
        }
    }
    let differs = found.ok_or_else(|| {
        let made = store.construct_term(constructor, fields);
        ProjectError::NotSatisfied(store.not(store.eq(made, t)))
    })?;
    Ok(vec![tester, differs])
}

// ---- unfold and fix ----------------------------------------------------------------------------------

/// Replaces one variable by its constructor, applied to new variables. Returns whether there is one to replace.
fn unfold(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
    fresh: &mut Fresh,
) -> Result<bool, ProjectError> {
    let store = context.store;
    let found = inspected(context, literals);
    let found = found.or_else(|| {
        let occurrences = Occurrences::of(context, literals);
        let mut compared = occurrences.only_compared(context).map(|(var, _)| var);
        compared.find(|&var| is_datatype(store, store.sort_of(var)))
    });
    let Some(var) = found else { return Ok(false) };
    let value = context.value(var)?;
    let Value::Term(value) = value else { return Ok(false) };
    let (Op::Construct(constructor), parts) = store.view(value) else { return Ok(false) };
    let mut fields = Vec::with_capacity(parts.len());
    for &part in parts {
        let value = context.value(part)?;
        fields.push(fresh.variable(context, value));
    }
    let image = store.construct_term(constructor, &fields);
    substitute(context, literals, &Substitution::from_iter([(var, image)]))?;
    Ok(true)
}

/// Takes one variable out of a selection from a term of another constructor: by a definition, otherwise by its value.
/// Returns whether there is one.
fn fix(context: &mut Context<'_, '_>, literals: &mut Vec<Term>) -> Result<bool, ProjectError> {
    let store = context.store;
    let parts = store.subterms_until(literals, |part| !context.mentions(part));
    let misplaced = parts.into_iter().find(|&part| match store.view(part) {
        (Op::Selector { .. }, &[whole]) => {
            matches!(store.op(whole), Op::Construct(_)) && context.mentions(whole)
        }
        _ => false,
    });
    let Some(misplaced) = misplaced else { return Ok(false) };
    let inside = store.subterms_until(&[misplaced], |part| !context.mentions(part));
    let Some(var) = inside.into_iter().find(|&part| context.is_variable(part)) else { return Ok(false) };
    if define(context, literals, var)? {
        return Ok(true);
    }
    let value = store.value_to_term(&context.value(var)?);
    substitute(context, literals, &Substitution::from_iter([(var, value)]))?;
    context.by_value = true;
    Ok(true)
}

/// A variable to which a selector or tester is applied.
fn inspected(context: &mut Context<'_, '_>, literals: &[Term]) -> Option<Term> {
    let store = context.store;
    let parts = store.subterms_until(literals, |part| !context.mentions(part));
    parts.into_iter().find_map(|part| match store.view(part) {
        (Op::Selector { .. } | Op::Tester(_), &[whole]) if context.is_variable(whole) => Some(whole),
        _ => None,
    })
}
