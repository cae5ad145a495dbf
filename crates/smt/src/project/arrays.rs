//! Eliminates variables of arrays from a cube around a model.
//!
//! Every literal of the cube that contains a variable `a` of an array sort becomes literals without it, or is dropped.
//! The rules apply in this order until none does. `k`, `l` are indices, `w`, `e` new variables to eliminate, and a *chain*
//! is a number of writes to an array, its *root*:
//!
//! ```text
//! read        select(store(s, k, v), l)   by the model:  k = l, and it is v,  or  k != l, and it is select(s, l)
//! solve       a = t                       a not in t: substitute t for a
//!             store(s, k, v) = t          the root of s is a, a not in t:  t[k] = v  and  s = store(t, k, w)
//!             two chains on one root      they agree at each index that one of them writes
//!             b = store(s, k, v)          b[k] = v  and  b = store(s, k, b[k]), if k is not written once more above
//!             b = const(v), written       v = b[k]  and  b = const(b[k]), for an index k that is not written
//! differ      two chains                  they differ in the model at an index that one of them writes: there;
//!                                         otherwise the roots differ, whatever is written at these indices
//! elements    a only in a[k] and in       the disequalities are true for some elements that are not read: they go;
//!             disequalities of chains     a[k] becomes e, one for each value of k: equal indices are equated, the
//!                                         others are different
//! index       b[k] or store(b, k, v),     k is another term with its value, without variables, or the value;
//!             a variable is in k          the value is reported
//! ```
//!
//! *Why it is right.* Each rule is exact, or takes one case of finitely many that are exact together, with the literal
//! that says which. (A dropped `k != l` of the first rule would be an unsound result: issue 7554 of Z3.) The rule for
//! disequalities needs an array sort with more indices than those that matter; with few indices, a difference is one of
//! finitely many cases. Only the last rule is different: a term in the place of an index is a special case, chosen among
//! the finitely many terms of the cube, and a value is one of infinitely many.
//!
//! *Why it ends.* `solve` and `elements` eliminate a variable, and add variables of the smaller sorts of its parts. The
//! other rules take a write, a variable below a write, or a variable in an index away, and never put one there.
//!
//! A variable of an array sort to which a declared function is applied stays, so the caller reports it.
//!
//! The rules are those of A. Komuravelli, N. Bjørner, A. Gurfinkel, K. McMillan, "Compositional verification of
//! procedural programs using Horn clauses over integers and arrays" (FMCAD 2015). There, disequalities get a new index,
//! and values below writes are not taken out.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Integer;
use shofar_logic::{Op, Sort, SortKind, Substitution, Term, TermStore, Value};

use super::context::Context;
use super::datatypes::{has_more_values, sorts_within};
use super::fresh::Fresh;
use super::{ProjectError, define, implicant, replace, substitute};

/// The greatest number of numbers as indices of one variable for which all pairs are said to be different. More are
/// ordered.
const MOST_PAIRED: usize = 8;

/// Eliminates variables of arrays, and takes other variables out of writes. Returns whether anything changed.
pub(super) fn eliminate(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
    fresh: &mut Fresh,
) -> Result<bool, ProjectError> {
    if !has_arrays(context, literals) {
        return Ok(false);
    }
    let mut is_changed = false;
    while read(context, literals)?
        || solve(context, literals, fresh)?
        || differ(context, literals)?
        || elements(context, literals, fresh)?
    {
        is_changed = true;
    }
    Ok(is_changed)
}

fn has_arrays(context: &mut Context<'_, '_>, literals: &[Term]) -> bool {
    literals.iter().any(|&literal| context.mentions(literal) && context.contents(literal).array)
}

fn is_array(store: &TermStore, term: Term) -> bool {
    store.array_parts(store.sort_of(term)).is_some()
}

/// The sides of a literal that compares arrays, and whether it says that they are equal.
fn comparison(store: &TermStore, literal: Term) -> Option<([Term; 2], bool)> {
    let (atom, holds) = store.literal(literal);
    match store.view(atom) {
        (Op::Eq, &[a, b]) if is_array(store, a) => Some(([a, b], holds)),
        _ => None,
    }
}

/// An array as writes to a root, which is no write.
struct Chain {
    root: Term,
    /// The indices and elements, the first write first.
    writes: Vec<(Term, Term)>,
}

impl Chain {
    fn of(store: &TermStore, array: Term) -> Self {
        let (mut root, mut writes) = (array, Vec::new());
        while let (Op::Store, &[below, index, element]) = store.view(root) {
            writes.push((index, element));
            root = below;
        }
        writes.reverse();
        Chain { root, writes }
    }

    fn term(&self, store: &TermStore) -> Term {
        self.writes
            .iter()
            .fold(self.root, |array, &(index, element)| store.store_array(array, index, element))
    }

    fn indices(&self) -> impl Iterator<Item = Term> + '_ {
        self.writes.iter().map(|&(index, _)| index)
    }
}

/// Replaces parts of the literals with variables, from the inside out: `image` tells what a part with new arguments
/// becomes, if anything else than the same operator applied to them. Returns whether anything changed.
fn rewrite<'c, 'a>(
    context: &mut Context<'c, 'a>,
    literals: &mut Vec<Term>,
    mut image: impl FnMut(&mut Context<'c, 'a>, Term, &[Term]) -> Result<Option<Term>, ProjectError>,
) -> Result<bool, ProjectError> {
    let store = context.store;
    let parts = store.subterms_until(literals, |part| !context.mentions(part));
    let mut images: FxHashMap<Term, Term> = FxHashMap::default();
    let mut is_changed = false;
    for part in parts {
        let mut found = part;
        if context.mentions(part) {
            let (op, args) = store.view(part);
            let new: Vec<Term> = args.iter().map(|arg| images[arg]).collect();
            found = match image(context, part, &new)? {
                Some(found) => found,
                None if new == args => part,
                None => store.build(op, &new).expect("images have the sorts of the parts"),
            };
            is_changed |= found != part;
        }
        images.insert(part, found);
    }
    if is_changed {
        let (same, changed): (Vec<Term>, Vec<Term>) =
            literals.iter().partition(|literal| images[literal] == **literal);
        let changed: Vec<Term> = changed.iter().map(|literal| images[literal]).collect();
        *literals = same;
        literals.extend(implicant(context, &changed)?);
    }
    Ok(is_changed)
}

/// Whether two terms are equal in the model, and the literal that says so.
fn compare(context: &mut Context<'_, '_>, a: Term, b: Term) -> Result<(bool, Term), ProjectError> {
    let store = context.store;
    let equality = store.eq(a, b);
    match context.truth(equality).map_err(ProjectError::NoValue)? {
        true => Ok((true, equality)),
        false => Ok((false, store.not(equality))),
    }
}

// ---- read --------------------------------------------------------------------------------------------

/// Resolves all reads from writes if variables occur in them. Returns whether there are any.
fn read(context: &mut Context<'_, '_>, literals: &mut Vec<Term>) -> Result<bool, ProjectError> {
    let store = context.store;
    let mut reasons = Vec::new();
    let is_changed = rewrite(context, literals, |context, part, args| match (store.op(part), args) {
        (Op::Select, &[array, index]) => element(context, array, index, &mut reasons).map(Some),
        _ => Ok(None),
    })?;
    literals.extend(implicant(context, &reasons)?);
    Ok(is_changed)
}

/// The element of an array at an index, without writes below it, and the reasons.
fn element(
    context: &mut Context<'_, '_>,
    mut array: Term,
    index: Term,
    reasons: &mut Vec<Term>,
) -> Result<Term, ProjectError> {
    let store = context.store;
    while let (Op::Store, &[below, written, element]) = store.view(array) {
        let (is_equal, reason) = compare(context, written, index)?;
        reasons.push(reason);
        if is_equal {
            return Ok(element);
        }
        array = below;
    }
    Ok(store.select(array, index))
}

// ---- solve -------------------------------------------------------------------------------------------

/// Uses one equality between arrays. Returns whether there is one to use.
fn solve(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
    fresh: &mut Fresh,
) -> Result<bool, ProjectError> {
    let store = context.store;
    let mut equalities = Vec::new();
    for (position, &literal) in literals.iter().enumerate() {
        if context.mentions(literal)
            && let Some((sides, true)) = comparison(store, literal)
        {
            equalities.push((position, sides));
        }
    }
    // A definition changes least.
    for &(_, sides) in &equalities {
        for side in sides {
            if context.is_variable(side) && define(context, literals, side)? {
                return Ok(true);
            }
        }
    }
    for (position, [left, right]) in equalities {
        let chains = [Chain::of(store, left), Chain::of(store, right)];
        let [one, other] = &chains;
        if one.root == other.root {
            let indices = one.indices().chain(other.indices());
            let equal = |index| store.eq(store.select(left, index), store.select(right, index));
            let formulas: Vec<Term> = indices.map(equal).collect();
            replace(context, literals, position, &formulas)?;
            return Ok(true);
        }
        for (one, other) in [(one, other), (other, one)] {
            if context.is_variable(one.root) && is_free_root(store, other.root, one.root) {
                solve_for_root(context, literals, position, one, other, fresh)?;
                return Ok(true);
            }
        }
        if take_out(context, literals, position, chains)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the variable occurs in a term.
fn occurs_in(store: &TermStore, variable: Term, term: Term) -> bool {
    store.subterms_until(&[term], |part| part == variable).contains(&variable)
}

/// Whether a variable occurs nowhere in a root but in an element or an index, which can get a name.
fn is_free_root(store: &TermStore, root: Term, variable: Term) -> bool {
    match store.view(root) {
        (Op::ConstArray(_), _) => true,
        (Op::Select, &[whole, _]) => !occurs_in(store, variable, whole),
        _ => !occurs_in(store, variable, root),
    }
}

/// Uses an equality to eliminate the root of one chain, which is free in the root of the other.
fn solve_for_root(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
    position: usize,
    one: &Chain,
    other: &Chain,
    fresh: &mut Fresh,
) -> Result<(), ProjectError> {
    let store = context.store;
    literals.remove(position);
    let mut formulas = Vec::new();
    // Elements of the array itself, in the writes, get names.
    let mut named = |context: &mut Context<'_, '_>, term: Term| -> Result<Term, ProjectError> {
        if !occurs_in(store, one.root, term) {
            return Ok(term);
        }
        let value = context.value(term)?;
        let name = fresh.variable(context, value);
        formulas.push(store.eq(name, term));
        Ok(name)
    };
    let mut name_all = |context: &mut Context<'_, '_>, chain: &Chain| -> Result<Chain, ProjectError> {
        let mut writes = Vec::with_capacity(chain.writes.len());
        for &(index, element) in &chain.writes {
            writes.push((named(context, index)?, named(context, element)?));
        }
        let root = match store.view(chain.root) {
            (Op::ConstArray(sort), &[element]) => store.const_array(sort, named(context, element)?),
            (Op::Select, &[whole, index]) => store.select(whole, named(context, index)?),
            _ => chain.root,
        };
        Ok(Chain { root, writes })
    };
    let (mut one, other) = (name_all(context, one)?, name_all(context, other)?);
    let mut image = other.term(store);
    while let Some((index, element)) = one.writes.pop() {
        formulas.push(store.eq(store.select(image, index), element));
        let value = context.value(store.select(one.term(store), index))?;
        image = store.store_array(image, index, fresh.variable(context, value));
    }
    literals.extend(implicant(context, &formulas)?);
    substitute(context, literals, &Substitution::from_iter([(one.root, image)]))
}

/// Takes variables out of the elements of an equality between chains on roots without variables, or on constant arrays.
/// Returns whether there are any.
fn take_out(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
    position: usize,
    [mut one, mut other]: [Chain; 2],
) -> Result<bool, ProjectError> {
    let store = context.store;
    if is_constant(store, one.root) {
        (one, other) = (other, one);
    }
    if has_open_root(context, &one) || has_open_root(context, &other) || !has_contents(context, &one, &other)
    {
        return Ok(false);
    }
    if is_constant(store, one.root) {
        return equate_constants(context, literals, position, &one, &other).map(|()| true);
    }
    let mut formulas = Vec::new();
    // All writes go to the other side.
    while let Some((index, element)) = one.writes.pop() {
        formulas.push(store.eq(store.select(other.term(store), index), element));
        other.writes.push((index, store.select(one.term(store), index)));
    }
    let mut kept: Vec<(Term, Term)> = Vec::new();
    while let Some((index, element)) = other.writes.pop() {
        if !context.mentions(element) {
            kept.push((index, element));
            continue;
        }
        // Whether it is overwritten.
        let mut reasons = Vec::new();
        let mut again = None;
        for &(above, _) in &kept {
            let (is_equal, reason) = compare(context, above, index)?;
            if is_equal {
                again = Some(reason);
                break;
            }
            reasons.push(reason);
        }
        match again {
            Some(reason) => formulas.push(reason),
            None => {
                formulas.extend(reasons);
                let known = store.select(one.root, index);
                formulas.push(store.eq(known, element));
                kept.push((index, known));
            }
        }
    }
    kept.reverse();
    other.writes = kept;
    if context.mentions(other.root) {
        let (Op::ConstArray(sort), &[element]) = store.view(other.root) else {
            unreachable!("only roots that are constant arrays have variables")
        };
        let indices: Vec<Term> = other.indices().collect();
        let known = match unwritten(context, sort, &indices, &mut formulas)? {
            Some(index) => store.select(one.root, index),
            None if has_terms(store, store.sort_of(element)) => {
                context.by_value = true;
                store.value_to_term(&context.value(element)?)
            }
            None => return Ok(false),
        };
        formulas.push(store.eq(known, element));
        other.root = store.const_array(sort, known);
    }
    formulas.push(store.eq(one.root, other.term(store)));
    replace(context, literals, position, &formulas)?;
    Ok(true)
}

/// Whether the root has variables and is no constant array.
fn has_open_root(context: &mut Context<'_, '_>, chain: &Chain) -> bool {
    !is_constant(context.store, chain.root) && context.mentions(chain.root)
}

/// Whether there are variables in elements of compared chains, apart from indices in `store(b, k, c[k])` beside `c`.
fn has_contents(context: &mut Context<'_, '_>, one: &Chain, other: &Chain) -> bool {
    let store = context.store;
    [(one, other), (other, one)].into_iter().any(|(chain, beside)| {
        is_constant(store, chain.root) && context.mentions(chain.root)
            || chain.writes.iter().any(|&(index, element)| {
                context.mentions(element) && element != store.select(beside.root, index)
            })
    })
}

fn is_constant(store: &TermStore, term: Term) -> bool {
    matches!(store.op(term), Op::ConstArray(_))
}

/// An index different from some others in the model, of finitely many candidates; the reasons are added.
fn unwritten(
    context: &mut Context<'_, '_>,
    array: Sort,
    written: &[Term],
    reasons: &mut Vec<Term>,
) -> Result<Option<Term>, ProjectError> {
    let store = context.store;
    let Some(candidates) = indices(store, array, written.len() + 1) else { return Ok(None) };
    for candidate in candidates {
        let mut different = Vec::with_capacity(written.len());
        for &index in written {
            let (is_equal, reason) = compare(context, index, candidate)?;
            if is_equal {
                break;
            }
            different.push(reason);
        }
        if different.len() == written.len() {
            reasons.extend(different);
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// The first values of the index sort, all if there are few; `None` if they are not numbers, truth values or of a simple
/// finite datatype.
fn indices(store: &TermStore, array: Sort, count: usize) -> Option<Vec<Term>> {
    let (index, _) = store.array_parts(array)?;
    match store.sort_kind(index) {
        SortKind::Bool => Some(vec![Term::FALSE, Term::TRUE]),
        SortKind::Int => Some((0..count).map(|number| store.int(Integer::from(number as u64))).collect()),
        SortKind::Real => Some((0..count).map(|number| store.real(Integer::from(number as u64))).collect()),
        SortKind::BitVec(width) => {
            let size = 1usize.checked_shl(*width).unwrap_or(usize::MAX);
            Some((0..count.min(size)).map(|number| store.bv(number as u64, *width)).collect())
        }
        SortKind::Datatype(_) => {
            let constructors = store.datatype(index)?.constructors();
            let is_simple = constructors.iter().all(|&id| store.constructor(id).fields.is_empty());
            let values = constructors.iter().map(|&id| store.construct_term(id, &[]));
            is_simple.then(|| values.collect())
        }
        SortKind::Array(..) | SortKind::Uninterpreted(..) => None,
    }
}

/// Replaces an equality between chains on constant arrays.
fn equate_constants(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
    position: usize,
    one: &Chain,
    other: &Chain,
) -> Result<(), ProjectError> {
    let store = context.store;
    let sort = store.sort_of(one.root);
    let mut written: Vec<Term> = one.indices().chain(other.indices()).collect();
    let mut formulas = Vec::new();
    if let (Some((index, _)), &[a], &[b]) =
        (store.array_parts(sort), store.args(one.root), store.args(other.root))
        && has_more_values(store, index, written.len())
    {
        formulas.push(store.eq(a, b));
    } else {
        written = indices(store, sort, usize::MAX).ok_or(ProjectError::Buried(literals[position]))?;
    }
    let (left, right) = (one.term(store), other.term(store));
    formulas.extend(written.into_iter().map(|k| store.eq(store.select(left, k), store.select(right, k))));
    replace(context, literals, position, &formulas)
}

// ---- differ ------------------------------------------------------------------------------------------

/// Replaces one disequality of arrays whose roots are no variables to eliminate. Returns whether there is one.
fn differ(context: &mut Context<'_, '_>, literals: &mut Vec<Term>) -> Result<bool, ProjectError> {
    let store = context.store;
    for position in 0..literals.len() {
        let literal = literals[position];
        let Some(([left, right], false)) = comparison(store, literal) else { continue };
        if !context.mentions(literal) {
            continue;
        }
        let [one, other] = [left, right].map(|side| Chain::of(store, side));
        let is_pending = has_open_root(context, &one) || has_open_root(context, &other);
        if one.root != other.root && (is_pending || !has_contents(context, &one, &other)) {
            continue;
        }
        let written: Vec<Term> = one.indices().chain(other.indices()).collect();
        let mut reason = None;
        for &index in &written {
            let (is_equal, difference) =
                compare(context, store.select(left, index), store.select(right, index))?;
            if !is_equal {
                reason = Some(difference);
                break;
            }
        }
        let reason = match reason {
            Some(reason) => reason,
            None if is_constant(store, one.root) && is_constant(store, other.root) => {
                // They differ at an index that is not written.
                store.not(store.eq(store.args(one.root)[0], store.args(other.root)[0]))
            }
            None => {
                let [one, other] = if is_constant(store, one.root) { [other, one] } else { [one, other] };
                let known = |&index: &Term| (index, store.select(one.root, index));
                let mut other = Chain { root: other.root, writes: written.iter().map(known).collect() };
                if let (Op::ConstArray(sort), &[element]) = store.view(other.root)
                    && context.mentions(element)
                {
                    if !has_terms(store, store.sort_of(element)) {
                        continue;
                    }
                    context.by_value = true;
                    let value = store.value_to_term(&context.value(element)?);
                    literals.extend(implicant(context, &[store.eq(element, value)])?);
                    other.root = store.const_array(sort, value);
                }
                store.not(store.eq(one.root, other.term(store)))
            }
        };
        replace(context, literals, position, &[reason])?;
        return Ok(true);
    }
    Ok(false)
}

// ---- elements ----------------------------------------------------------------------------------------

/// How variables of array sorts occur in a cube.
#[derive(Default)]
struct Occurrences {
    /// The variables whose elements are read or that are roots of a disequality, in order.
    found: Vec<Term>,
    /// The disequalities with the variable as a root, by their positions.
    compared: FxHashMap<Term, Vec<usize>>,
    /// The number of reads.
    reads: FxHashMap<Term, usize>,
    /// The variables that also occur elsewhere.
    bound: FxHashSet<Term>,
}

impl Occurrences {
    fn of(context: &mut Context<'_, '_>, literals: &[Term]) -> Self {
        let store = context.store;
        let mut occurrences = Occurrences::default();
        // The terms in which any occurrence counts.
        let mut open: Vec<Term> = Vec::new();
        for (position, &literal) in literals.iter().enumerate() {
            if !context.mentions(literal) {
                continue;
            }
            let Some((sides, false)) = comparison(store, literal) else {
                open.push(literal);
                continue;
            };
            for side in sides {
                let chain = Chain::of(store, side);
                open.extend(chain.writes.iter().flat_map(|&(index, element)| [index, element]));
                if context.is_variable(chain.root) {
                    occurrences.found.push(chain.root);
                    let positions = occurrences.compared.entry(chain.root).or_default();
                    positions.extend(Some(position).filter(|position| positions.last() != Some(position)));
                } else {
                    open.push(chain.root);
                }
            }
        }
        let is_concerned =
            |context: &Context<'_, '_>, term: Term| is_array(store, term) && context.is_variable(term);
        occurrences.bound.extend(open.iter().filter(|&&term| is_concerned(context, term)));
        for part in store.subterms_until(&open, |part| !context.mentions(part)) {
            for (place, &arg) in store.args(part).iter().enumerate() {
                if !is_concerned(context, arg) {
                    continue;
                }
                if store.op(part) == Op::Select && place == 0 {
                    occurrences.found.push(arg);
                    *occurrences.reads.entry(arg).or_default() += 1;
                } else {
                    occurrences.bound.insert(arg);
                }
            }
        }
        occurrences
    }
}

/// Eliminates one variable that is only read and compared. Returns whether there is one.
fn elements(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
    fresh: &mut Fresh,
) -> Result<bool, ProjectError> {
    let store = context.store;
    let occurrences = Occurrences::of(context, literals);
    for &array in occurrences.found.iter().filter(|array| !occurrences.bound.contains(array)) {
        let compared = occurrences.compared.get(&array).map_or(&[][..], Vec::as_slice);
        let sides = compared.iter().flat_map(|&position| {
            comparison(store, literals[position]).map_or([array; 2], |(sides, _)| sides)
        });
        // The indices that matter: those read or written, and one for each disequality.
        let writes: usize = sides.map(|side| Chain::of(store, side).writes.len()).sum();
        let count = occurrences.reads.get(&array).copied().unwrap_or(0) + writes + compared.len();
        let Some((index, _)) = store.array_parts(store.sort_of(array)) else { continue };
        if compared.is_empty() || has_more_values(store, index, count) {
            let mut position = 0;
            literals.retain(|_| {
                position += 1;
                !compared.contains(&(position - 1))
            });
            replace_reads(context, literals, array, fresh)?;
            return Ok(true);
        }
        // One of the few indices makes the difference.
        let Some(indices) = indices(store, store.sort_of(array), usize::MAX) else { continue };
        let Some(([left, right], _)) = comparison(store, literals[compared[0]]) else { continue };
        for index in indices {
            let (is_equal, reason) = compare(context, store.select(left, index), store.select(right, index))?;
            if !is_equal {
                replace(context, literals, compared[0], &[reason])?;
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The elements of a variable at the indices with one value.
struct Element {
    index: Term,
    value: Value,
    element: Term,
}

/// Replaces the elements of a variable by new variables.
fn replace_reads(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
    array: Term,
    fresh: &mut Fresh,
) -> Result<(), ProjectError> {
    let store = context.store;
    let mut known: Vec<Element> = Vec::new();
    let mut reasons = Vec::new();
    rewrite(context, literals, |context, part, args| {
        let (Op::Select, &[whole, index]) = (store.op(part), args) else { return Ok(None) };
        if whole != array {
            return Ok(None);
        }
        let value = context.value(index)?;
        // Values of finite sorts are no variables, and need no comparison with the same value.
        let same = known.iter().find(|same| same.value == value && context.is_variable(same.element));
        if let Some(same) = same {
            reasons.push(store.eq(index, same.index));
            return Ok(Some(same.element));
        }
        let of_model = context.value(store.select(array, index))?;
        let element = fresh.variable(context, of_model);
        known.push(Element { index, value, element });
        Ok(Some(element))
    })?;
    let is_ordered = known
        .first()
        .is_some_and(|one| store.sort_of(one.index).is_arithmetic() && context.is_variable(one.element));
    if is_ordered && known.len() > MOST_PAIRED {
        known.sort_by(|a, b| store.compare_values(&a.value, &b.value));
        reasons.extend(known.windows(2).map(|pair| store.lt(pair[0].index, pair[1].index)));
    } else {
        for (position, one) in known.iter().enumerate() {
            let others = known[..position].iter().filter(|other| other.element != one.element);
            reasons.extend(others.map(|other| store.not(store.eq(one.index, other.index))));
        }
    }
    literals.extend(implicant(context, &reasons)?);
    Ok(())
}

// ---- index -------------------------------------------------------------------------------------------

/// Takes the variables out of one index of an array: by a definition, otherwise by another term with the same value,
/// otherwise by the value. Returns whether there is one.
pub(super) fn fix_index(
    context: &mut Context<'_, '_>,
    literals: &mut Vec<Term>,
) -> Result<bool, ProjectError> {
    let store = context.store;
    if !has_arrays(context, literals) {
        return Ok(false);
    }
    let parts = store.subterms_until(literals, |part| !context.mentions(part));
    let found = parts.iter().find_map(|&part| match store.view(part) {
        (Op::Select | Op::Store, &[_, index, ..]) if context.mentions(index) => Some(index),
        _ => None,
    });
    let Some(index) = found else { return Ok(false) };
    for part in store.subterms_until(&[index], |part| !context.mentions(part)) {
        if context.is_variable(part) && define(context, literals, part)? {
            return Ok(true);
        }
    }
    let value = context.value(index)?;
    let image = match twin(context, &parts, index, &value)? {
        Some(twin) => twin,
        None if has_terms(store, store.sort_of(index)) => {
            context.by_value |=
                !matches!(store.sort_kind(store.sort_of(index)), SortKind::Bool | SortKind::BitVec(_));
            store.value_to_term(&value)
        }
        None => return Ok(false),
    };
    rewrite(context, literals, |_, part, _| Ok(Some(image).filter(|_| part == index)))?;
    literals.extend(implicant(context, &[store.eq(index, image)])?);
    Ok(true)
}

/// A term without variables, of those in the cube, that has the value of an index: preferably an index, then anything
/// that is not a number.
fn twin(
    context: &mut Context<'_, '_>,
    parts: &[Term],
    index: Term,
    value: &Value,
) -> Result<Option<Term>, ProjectError> {
    let store = context.store;
    let sort = store.sort_of(index);
    let all = store.subterms(parts);
    let mut indices: FxHashSet<Term> = FxHashSet::default();
    for &part in &all {
        if let (Op::Select | Op::Store, &[_, index, ..]) = store.view(part) {
            indices.insert(index);
        }
    }
    let mut best: Option<(u8, Term)> = None;
    for term in all {
        if store.sort_of(term) != sort || context.mentions(term) {
            continue;
        }
        let rank = if indices.contains(&term) { 0 } else { 1 + u8::from(store.numeral(term).is_some()) };
        if best.is_none_or(|(least, _)| rank < least) && context.value(term)? == *value {
            best = Some((rank, term));
        }
    }
    Ok(best.map(|(_, term)| term))
}

/// Whether the values of a sort are terms that mean the same in every interpretation.
fn has_terms(store: &TermStore, sort: Sort) -> bool {
    let sorts = sorts_within(store, sort);
    !sorts.into_iter().any(|part| matches!(store.sort_kind(part), SortKind::Uninterpreted(..)))
}
