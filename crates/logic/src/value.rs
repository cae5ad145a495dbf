//! Values: what terms evaluate to.
//!
//! Truth values, numbers and bit-vectors are stored directly. A value of any other sort is a ground term of the store
//! in a canonical form, so comparing, copying and dropping it takes constant time however large it is:
//!
//! - a datatype value is a constructor applied to values;
//! - an array value is a chain of `store`s over `(as const ..)`, `(store (store ((as const A) d) i e) j f)`;
//! - an element of an uninterpreted sort `S` is the variable `S!val!n` for a number `n`.
//!
//! Invariant I1: equal values are equal terms. For datatypes this is hash-consing. For arrays, the indices must ascend
//! from the inside out in the [order of values](TermStore::compare_values), no element may equal the default, and the
//! default itself must be determined: it is the most frequent element, the least of these if there are several. With
//! infinitely many indices only the written default can be that. With finitely many, another element can win only if at
//! least half of the indices are written explicitly, so listing the others takes no more work than the written ones.
//!
//! Nothing here recurses: neither long lists nor long chains of datatype declarations can exhaust the stack.

use std::cmp::Ordering;
use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::number::{Integer, Rational};
use crate::op::Op;
use crate::smtlib::DisplayTerm;
use crate::sort::{ConstructorId, Sort, SortKind};
use crate::term::{Term, TermStore};
use crate::typing::SortError;

/// A value: the result of evaluating a term. Equal values denote the same thing and compare in constant time, since
/// large ones are canonical terms of the store.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(Integer),
    /// A rational number of sort `Real`.
    Real(Rational),
    /// A bit-vector.
    BitVec {
        /// The natural number below two to the width with its bits.
        value: Integer,
        /// Its width.
        width: u32,
    },
    /// A datatype value, an array or an element of an uninterpreted sort, as a canonical term.
    Term(Term),
}

impl Value {
    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<&Integer> {
        match self {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The real number, if it is one.
    pub fn as_real(&self) -> Option<&Rational> {
        match self {
            Value::Real(value) => Some(value),
            _ => None,
        }
    }
}

/// Recognises the values among many terms. It visits a subterm that they share once.
#[derive(Default)]
pub struct KnownValues {
    /// Values, and all of their subterms that are values.
    known: FxHashSet<Term>,
}

impl KnownValues {
    /// The value of a canonical term; `None` for all other terms.
    pub fn value(&mut self, store: &TermStore, term: Term) -> Option<Value> {
        let mut new: Vec<Term> = Vec::new();
        let is_value = store.is_value(term, &mut self.known, &mut new);
        if !is_value {
            new.iter().for_each(|term| {
                self.known.remove(term);
            });
        }
        is_value.then(|| store.component(term))
    }
}

impl TermStore {
    // ---- values and terms --------------------------------------------------------------------------------

    /// The canonical term that denotes the value.
    pub fn value_to_term(&self, value: &Value) -> Term {
        match value {
            Value::Bool(value) => self.bool(*value),
            Value::Int(value) => self.int(value.clone()),
            Value::Real(value) => self.real(value.clone()),
            Value::BitVec { value, width } => self.bv(value.clone(), *width),
            Value::Term(term) => *term,
        }
    }

    /// The value of a canonical term; `None` for all other terms. [Evaluate](Self::eval) a ground term that may not be
    /// canonical.
    pub fn term_to_value(&self, term: Term) -> Option<Value> {
        KnownValues::default().value(self, term)
    }

    /// The sort of the value.
    pub fn value_sort(&self, value: &Value) -> Sort {
        match value {
            Value::Bool(_) => Sort::BOOL,
            Value::Int(_) => Sort::INT,
            Value::Real(_) => Sort::REAL,
            Value::BitVec { width, .. } => self.bitvec_sort(*width),
            Value::Term(term) => self.sort_of(*term),
        }
    }

    /// The value in SMT-LIB syntax.
    pub fn display_value(&self, value: &Value) -> DisplayTerm<'_> {
        self.display(self.value_to_term(value))
    }

    /// The value of a canonical term, without a check.
    pub(crate) fn component(&self, term: Term) -> Value {
        match self.op(term) {
            Op::True => Value::Bool(true),
            Op::False => Value::Bool(false),
            Op::Numeral(id) if self.sort_of(term) == Sort::INT => Value::Int(self.rational(id).floor()),
            Op::Numeral(id) => Value::Real(self.rational(id).clone()),
            Op::BvNumeral(id) => Value::BitVec {
                value: self.integer(id).clone(),
                width: self.bv_width(self.sort_of(term)).unwrap_or_default(),
            },
            _ => Value::Term(term),
        }
    }

    /// Whether a term is a value, given that the known ones are. Visited terms join the known ones, and `new` lists them.
    fn is_value(&self, term: Term, known: &mut FxHashSet<Term>, new: &mut Vec<Term>) -> bool {
        let mut arrays: Vec<Term> = Vec::new();
        let mut open = vec![term];
        while let Some(term) = open.pop() {
            if !known.insert(term) {
                continue;
            }
            new.push(term);
            match self.op(term) {
                Op::True | Op::False | Op::Numeral(_) | Op::BvNumeral(_) => {}
                Op::Construct(_) => open.extend_from_slice(self.args(term)),
                Op::Var(_) if self.uninterpreted_index(term).is_some() => {}
                Op::Store | Op::ConstArray(_) => {
                    let Some((entries, default)) = self.written_entries(term) else { return false };
                    arrays.push(term);
                    open.push(default);
                    open.extend(entries.iter().flat_map(|&(index, element)| [index, element]));
                }
                _ => return false,
            }
        }
        // Indices and elements can be ordered only after all are known to be values.
        arrays.into_iter().all(|array| {
            self.written_entries(array).is_some_and(|(entries, default)| {
                self.canonical_array(self.sort_of(array), default, entries) == array
            })
        })
    }

    // ---- the order of values -----------------------------------------------------------------------------

    /// A total order on the values of each sort: numbers by size, bit-vectors as natural numbers, datatype values by
    /// constructor and then field by field, arrays with fewer explicit entries first. It depends only on the values,
    /// not on when their terms were built.
    pub fn compare_values(&self, a: &Value, b: &Value) -> Ordering {
        match (a, b) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Real(a), Value::Real(b)) => a.cmp(b),
            (Value::BitVec { value: a, width: v }, Value::BitVec { value: b, width: w }) => {
                (v, a).cmp(&(w, b))
            }
            (Value::Term(a), Value::Term(b)) => self.compare_terms(*a, *b),
            _ => variant(a).cmp(&variant(b)),
        }
    }

    /// The order of values on their terms. Equal values are equal terms (I1), so the first differing argument decides,
    /// and only one path is followed.
    fn compare_terms(&self, mut a: Term, mut b: Term) -> Ordering {
        while a != b {
            let ((op_a, args_a), (op_b, args_b)) = (self.view(a), self.view(b));
            let order = match (op_a, op_b) {
                (Op::Numeral(m), Op::Numeral(n)) => self.rational(m).cmp(self.rational(n)),
                (Op::BvNumeral(m), Op::BvNumeral(n)) => self.integer(m).cmp(self.integer(n)),
                (Op::Construct(c), Op::Construct(d)) => {
                    self.constructor(c).index.cmp(&self.constructor(d).index)
                }
                (Op::Var(x), Op::Var(y)) => {
                    let (x, y) = (self.name(x), self.name(y));
                    (x.len(), x).cmp(&(y.len(), y))
                }
                _ => rank(op_a).cmp(&rank(op_b)),
            };
            let next = args_a.iter().zip(args_b).find(|(x, y)| x != y);
            match next {
                Some((&x, &y)) if order.is_eq() => (a, b) = (x, y),
                _ => return order,
            }
        }
        Ordering::Equal
    }

    // ---- arrays ------------------------------------------------------------------------------------------

    /// The array of this sort with the given elements at the given indices, later ones replacing earlier ones, and the
    /// default everywhere else.
    ///
    /// # Panics
    /// If a value does not have the sort that the array's sort requires.
    pub fn array_value(
        &self,
        sort: Sort,
        default: &Value,
        entries: impl IntoIterator<Item = (Value, Value)>,
    ) -> Value {
        let entries = entries.into_iter();
        let entries =
            entries.map(|(index, element)| (self.value_to_term(&index), self.value_to_term(&element)));
        let entries = entries.collect();
        Value::Term(self.canonical_array(sort, self.value_to_term(default), entries))
    }

    /// The explicit entries of an array value, indices ascending, and its default; `None` for other values.
    pub fn array_entries(&self, array: &Value) -> Option<(Vec<(Value, Value)>, Value)> {
        let Value::Term(array) = array else { return None };
        let (entries, default) = self.written_entries(*array)?;
        let entries = entries.into_iter();
        let entries = entries.map(|(index, element)| (self.component(index), self.component(element)));
        Some((entries.collect(), self.component(default)))
    }

    /// The element of an array value.
    pub(crate) fn array_element(&self, mut array: Term, index: Term) -> Option<Term> {
        loop {
            match (self.op(array), self.args(array)) {
                (Op::Store, &[_, i, element]) if i == index => return Some(element),
                (Op::Store, &[base, ..]) => array = base,
                (Op::ConstArray(_), &[default]) => return Some(default),
                _ => return None,
            }
        }
    }

    /// The indices and elements of a chain of stores, innermost first, and the default below.
    pub(crate) fn written_entries(&self, mut array: Term) -> Option<(Vec<(Term, Term)>, Term)> {
        let mut entries = Vec::new();
        loop {
            match (self.op(array), self.args(array)) {
                (Op::Store, &[base, index, element]) => {
                    entries.push((index, element));
                    array = base;
                }
                (Op::ConstArray(_), &[default]) => {
                    entries.reverse();
                    return Some((entries, default));
                }
                _ => return None,
            }
        }
    }

    /// The canonical term (I1) of an array, given by a default and entries; later entries replace earlier ones.
    pub(crate) fn canonical_array(
        &self,
        sort: Sort,
        mut default: Term,
        mut entries: Vec<(Term, Term)>,
    ) -> Term {
        entries.sort_by(|(a, _), (b, _)| self.compare_terms(*a, *b));
        entries.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = later.1;
            }
            same
        });
        entries.retain(|(_, element)| *element != default);
        if !entries.is_empty()
            && let Some((index, _)) = self.array_parts(sort)
            && let Some(size) = self.domain_size(index)
            && size <= 2 * entries.len() as u64
        {
            let winner = self.most_frequent(default, size, &entries);
            if winner != default {
                let written: FxHashSet<Term> = entries.iter().map(|(index, _)| *index).collect();
                let others = self.domain(index).into_iter().filter(|index| !written.contains(index));
                entries.extend(others.map(|index| (index, default)));
                entries.retain(|(_, element)| *element != winner);
                entries.sort_by(|(a, _), (b, _)| self.compare_terms(*a, *b));
                default = winner;
            }
        }
        self.store_chain(sort, default, &entries).expect("the entries have the sorts of the array's parts")
    }

    fn store_chain(&self, sort: Sort, default: Term, entries: &[(Term, Term)]) -> Result<Term, SortError> {
        let constant = self.app(Op::ConstArray(sort), &[default])?;
        entries.iter().try_fold(constant, |array, &(i, element)| self.app(Op::Store, &[array, i, element]))
    }

    /// The most frequent element over the `size` indices, the least of these if there are several. The entries are at
    /// different indices, and none of them is the default.
    fn most_frequent(&self, default: Term, size: u64, entries: &[(Term, Term)]) -> Term {
        let mut elements: Vec<Term> = entries.iter().map(|(_, element)| *element).collect();
        elements.sort_unstable();
        let mut best = (size - entries.len() as u64, default);
        for group in elements.chunk_by(|a, b| a == b) {
            let count = group.len() as u64;
            if count > best.0 || count == best.0 && self.compare_terms(group[0], best.1).is_lt() {
                best = (count, group[0]);
            }
        }
        best.1
    }

    // ---- finite sorts ------------------------------------------------------------------------------------

    /// The number of values of a sort, if it is finite and fits. Uninterpreted sorts count as infinite, since no model
    /// limits the elements that can be named.
    fn domain_size(&self, sort: Sort) -> Option<u64> {
        match self.sort_kind(sort) {
            SortKind::Array(..) | SortKind::Datatype(_) => {
                self.domain_sizes(&self.sorts_below(sort)).get(&sort).copied()
            }
            _ => self.simple_size(sort),
        }
    }

    fn simple_size(&self, sort: Sort) -> Option<u64> {
        match self.sort_kind(sort) {
            SortKind::Bool => Some(2),
            SortKind::BitVec(width) => 1u64.checked_shl(*width),
            SortKind::Int | SortKind::Real | SortKind::Uninterpreted(..) => None,
            SortKind::Array(..) | SortKind::Datatype(_) => None,
        }
    }

    /// The sizes of the finite sorts. Each sort comes after its parts unless it is recursive, and then it is infinite.
    fn domain_sizes(&self, sorts: &[Sort]) -> FxHashMap<Sort, u64> {
        let mut sizes: FxHashMap<Sort, u64> = FxHashMap::default();
        for &sort in sorts {
            let size = match self.sort_kind(sort) {
                SortKind::Array(index, element) => match (sizes.get(index), sizes.get(element)) {
                    (_, Some(1)) => Some(1),
                    (Some(&indices), Some(elements)) => {
                        u32::try_from(indices).ok().and_then(|indices| elements.checked_pow(indices))
                    }
                    _ => None,
                },
                SortKind::Datatype(_) => {
                    let constructors = self.constructors_of(sort).iter();
                    let mut sizes = constructors.map(|&id| {
                        let fields = self.constructor(id).fields.iter();
                        fields
                            .map(|(_, field)| sizes.get(field).copied())
                            .try_fold(1u64, |n, m| n.checked_mul(m?))
                    });
                    sizes.try_fold(0u64, |n, m| n.checked_add(m?))
                }
                _ => self.simple_size(sort),
            };
            if let Some(size) = size.filter(|size| *size > 0) {
                sizes.insert(sort, size);
            }
        }
        sizes
    }

    /// All values of a sort that has a [size](Self::domain_size). Making arrays of them canonical calls this again for
    /// their indices. An array sort of two or more elements has exponentially more values than indices, so this ends
    /// after a few levels.
    fn domain(&self, sort: Sort) -> Vec<Term> {
        let sorts = self.sorts_below(sort);
        let sizes = self.domain_sizes(&sorts);
        let Some(&most) = sizes.get(&sort) else { return Vec::new() };
        let mut domains: FxHashMap<Sort, Vec<Term>> = FxHashMap::default();
        // A part has no more values than the whole, except the indices of an array sort with one value.
        for sort in sorts.into_iter().filter(|sort| sizes.get(sort).is_some_and(|size| *size <= most)) {
            let domain = match self.sort_kind(sort) {
                SortKind::Bool => vec![Term::FALSE, Term::TRUE],
                SortKind::BitVec(width) => (0..sizes[&sort]).map(|value| self.bv(value, *width)).collect(),
                SortKind::Array(_, element) if sizes[&sort] == 1 => match domains.get(element) {
                    Some(only) => vec![self.canonical_array(sort, only[0], Vec::new())],
                    None => continue,
                },
                SortKind::Array(index, element) => {
                    let (Some(indices), Some(elements)) = (domains.get(index), domains.get(element)) else {
                        continue;
                    };
                    let factors = vec![elements.as_slice(); indices.len()];
                    product(&factors, |choice| {
                        let entries = indices.iter().copied().zip(choice.iter().copied()).collect();
                        self.canonical_array(sort, choice[0], entries)
                    })
                }
                SortKind::Datatype(_) => {
                    let mut domain = Vec::new();
                    for &id in self.constructors_of(sort) {
                        let fields = self.constructor(id).fields.iter();
                        let factors: Option<Vec<&[Term]>> =
                            fields.map(|(_, field)| domains.get(field).map(Vec::as_slice)).collect();
                        let Some(factors) = factors else { continue };
                        domain.extend(product(&factors, |fields| self.constructor_term(id, fields)));
                    }
                    domain
                }
                SortKind::Int | SortKind::Real | SortKind::Uninterpreted(..) => continue,
            };
            domains.insert(sort, domain);
        }
        domains.remove(&sort).unwrap_or_default()
    }

    fn constructor_term(&self, constructor: ConstructorId, fields: &[Term]) -> Term {
        self.app(Op::Construct(constructor), fields).expect("the fields have their sorts")
    }

    fn constructors_of(&self, sort: Sort) -> &[ConstructorId] {
        self.datatype(sort).map_or(&[], |datatype| datatype.constructors())
    }

    /// The sorts of the parts of a sort's values.
    fn sort_parts(&self, sort: Sort) -> Vec<Sort> {
        match self.sort_kind(sort) {
            SortKind::Array(index, element) => vec![*index, *element],
            SortKind::Datatype(_) => {
                let constructors = self.constructors_of(sort).iter();
                constructors
                    .flat_map(|&id| self.constructor(id).fields.iter().map(|(_, field)| *field))
                    .collect()
            }
            SortKind::Bool | SortKind::Int | SortKind::Real | SortKind::BitVec(_) => Vec::new(),
            SortKind::Uninterpreted(..) => Vec::new(),
        }
    }

    /// The sorts of the parts of a sort's values, transitively, including itself. Each comes after the sorts of its
    /// parts, unless they are recursive.
    fn sorts_below(&self, sort: Sort) -> Vec<Sort> {
        let mut seen: FxHashSet<Sort> = FxHashSet::default();
        let mut order = Vec::new();
        let mut open = vec![(sort, self.sort_parts(sort))];
        seen.insert(sort);
        while let Some((sort, parts)) = open.last_mut() {
            match parts.pop() {
                Some(part) if seen.insert(part) => open.push((part, self.sort_parts(part))),
                Some(_) => {}
                None => {
                    order.push(*sort);
                    open.pop();
                }
            }
        }
        order
    }

    // ---- some value of each sort -------------------------------------------------------------------------

    /// Some value of the sort: `false`, zero, the constant array, the constructor term of least depth. For a datatype
    /// without finite values, or not yet defined, it is an element as of an uninterpreted sort.
    pub fn default_value(&self, sort: Sort) -> Value {
        match self.sort_kind(sort) {
            SortKind::Array(..) | SortKind::Datatype(_) => match self.least_deep_term(sort) {
                Some(term) => Value::Term(term),
                None => self.uninterpreted_value(sort, 0),
            },
            _ => self.component(self.simple_default(sort)),
        }
    }

    fn simple_default(&self, sort: Sort) -> Term {
        match self.sort_kind(sort) {
            SortKind::Bool => Term::FALSE,
            SortKind::Int => self.int(0),
            SortKind::Real => self.real(0),
            SortKind::BitVec(width) => self.bv(0, *width),
            SortKind::Uninterpreted(..) | SortKind::Array(..) | SortKind::Datatype(_) => {
                self.value_to_term(&self.uninterpreted_value(sort, 0))
            }
        }
    }

    /// Finds values of the sorts below, in the order of the depth of their terms: a constructor or a constant array has
    /// one as soon as all its arguments have one.
    fn least_deep_term(&self, wanted: Sort) -> Option<Term> {
        let mut values: FxHashMap<Sort, Term> = FxHashMap::default();
        let mut applications: Vec<Application> = Vec::new();
        let mut users: FxHashMap<Sort, Vec<usize>> = FxHashMap::default();
        let mut ready: VecDeque<Sort> = VecDeque::new();
        for sort in self.sorts_below(wanted) {
            let mut add = |op: Op, parts: Vec<Sort>| {
                for &part in &parts {
                    users.entry(part).or_default().push(applications.len());
                }
                applications.push(Application { op, sort, missing: parts.len(), parts });
            };
            match self.sort_kind(sort) {
                SortKind::Array(_, element) => add(Op::ConstArray(sort), vec![*element]),
                SortKind::Datatype(_) => {
                    for &id in self.constructors_of(sort) {
                        let fields = self.constructor(id).fields.iter();
                        add(Op::Construct(id), fields.map(|(_, field)| *field).collect());
                    }
                }
                _ => {
                    values.insert(sort, self.simple_default(sort));
                    ready.push_back(sort);
                }
            }
        }
        let mut built: Vec<usize> =
            (0..applications.len()).filter(|&i| applications[i].missing == 0).collect();
        loop {
            for Application { op, sort, parts, .. } in built.drain(..).map(|i| &applications[i]) {
                if !values.contains_key(sort) {
                    let args: Vec<Term> = parts.iter().map(|part| values[part]).collect();
                    values.insert(*sort, self.app(*op, &args).ok()?);
                    ready.push_back(*sort);
                }
            }
            let Some(sort) = ready.pop_front() else { break };
            for &user in users.get(&sort).into_iter().flatten() {
                applications[user].missing -= 1;
                if applications[user].missing == 0 {
                    built.push(user);
                }
            }
        }
        values.get(&wanted).copied()
    }

    /// The element with this number of an uninterpreted sort. Elements with different numbers differ.
    pub fn uninterpreted_value(&self, sort: Sort, number: u32) -> Value {
        let name = format!("{}{ELEMENT}{number}", self.display_sort(sort));
        Value::Term(self.var(self.symbol(&name), sort))
    }

    /// The number of an element of an uninterpreted sort; `None` for other terms.
    pub(crate) fn uninterpreted_index(&self, term: Term) -> Option<u32> {
        let Op::Var(name) = self.op(term) else { return None };
        let (_, digits) = self.name(name).rsplit_once(ELEMENT)?;
        let number = digits.parse().ok()?;
        (self.uninterpreted_value(self.sort_of(term), number) == Value::Term(term)).then_some(number)
    }
}

/// Separates the sort from the number in the name of an element.
const ELEMENT: &str = "!val!";

/// An operator that builds values of a sort from values of its parts.
struct Application {
    op: Op,
    sort: Sort,
    parts: Vec<Sort>,
    /// The number of parts without a value.
    missing: usize,
}

/// The results for all choices of one member from each factor.
fn product(factors: &[&[Term]], mut make: impl FnMut(&[Term]) -> Term) -> Vec<Term> {
    if factors.iter().any(|factor| factor.is_empty()) {
        return Vec::new();
    }
    let mut positions = vec![0; factors.len()];
    let mut choice: Vec<Term> = factors.iter().map(|factor| factor[0]).collect();
    let mut results = Vec::new();
    loop {
        results.push(make(&choice));
        let Some(next) = (0..factors.len()).rev().find(|&i| positions[i] + 1 < factors[i].len()) else {
            return results;
        };
        positions[next] += 1;
        positions[next + 1..].fill(0);
        for i in next..factors.len() {
            choice[i] = factors[i][positions[i]];
        }
    }
}

fn variant(value: &Value) -> u8 {
    match value {
        Value::Bool(_) => 0,
        Value::Int(_) => 1,
        Value::Real(_) => 2,
        Value::BitVec { .. } => 3,
        Value::Term(_) => 4,
    }
}

/// The order of values of different operators.
fn rank(op: Op) -> u8 {
    match op {
        Op::False => 0,
        Op::True => 1,
        Op::ConstArray(_) => 2,
        Op::Store => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::ConstructorSpec;

    fn spec(store: &TermStore, name: &str, fields: &[(&str, Sort)]) -> ConstructorSpec {
        let fields = fields.iter().map(|(name, sort)| (store.symbol(name), *sort)).collect();
        ConstructorSpec { name: store.symbol(name), fields }
    }

    fn datatype(store: &TermStore, name: &str, constructors: &[(&str, &[(&str, Sort)])]) -> Sort {
        let sort = store.new_datatype(store.symbol(name), &[]);
        let constructors = constructors.iter().map(|(name, fields)| spec(store, name, fields)).collect();
        store.define_datatypes(&[(sort, constructors)]).unwrap()[0]
    }

    fn show(store: &TermStore, value: &Value) -> String {
        store.display_value(value).to_string()
    }

    fn bool(value: bool) -> Value {
        Value::Bool(value)
    }

    fn int(value: i64) -> Value {
        Value::Int(Integer::from(value))
    }

    #[test]
    fn a_term_that_is_no_value_makes_none_of_its_parts_known() {
        let store = TermStore::new();
        let mut known = KnownValues::default();
        let sort = store.array_sort(Sort::INT, Sort::INT);
        let zero = store.int(0);
        let zeros = store.app(Op::ConstArray(sort), &[zero]).unwrap();
        let x = store.var(store.symbol("x"), Sort::INT);
        let wrong = store.app(Op::Store, &[zeros, x, zero]).unwrap();
        // Writing the default is not canonical.
        let redundant = store.app(Op::Store, &[zeros, zero, zero]).unwrap();
        for _ in 0..2 {
            assert_eq!(known.value(&store, wrong), None);
            assert_eq!(known.value(&store, redundant), None);
            assert_eq!(known.value(&store, zeros), Some(Value::Term(zeros)));
        }
    }

    #[test]
    fn a_value_takes_three_words() {
        assert_eq!(size_of::<Value>(), 24);
    }

    #[test]
    fn entries_are_sorted_and_differ_from_the_default() {
        let store = TermStore::new();
        let sort = store.array_sort(Sort::INT, Sort::INT);
        let entries = [(3, 1), (-1, 2), (7, 0), (3, 5), (9, 9), (9, 0)].map(|(i, e)| (int(i), int(e)));
        let array = store.array_value(sort, &int(0), entries);
        assert_eq!(show(&store, &array), "(store (store ((as const (Array Int Int)) 0) (- 1) 2) 3 5)");
        let (entries, default) = store.array_entries(&array).unwrap();
        assert_eq!((entries, default), (vec![(int(-1), int(2)), (int(3), int(5))], int(0)));
    }

    #[test]
    fn the_default_of_a_finite_array_is_its_most_frequent_element() {
        let store = TermStore::new();
        let sort = store.array_sort(Sort::BOOL, Sort::INT);
        let one_zero = store.array_value(sort, &int(0), [(bool(true), int(1))]);
        let zero_one = store.array_value(sort, &int(1), [(bool(false), int(0))]);
        assert_eq!(one_zero, zero_one);
        assert_eq!(show(&store, &one_zero), "(store ((as const (Array Bool Int)) 0) true 1)");
        let all = [(bool(true), int(4)), (bool(false), int(4))];
        assert_eq!(store.array_value(sort, &int(0), all), store.array_value(sort, &int(4), []));
        let wide = store.array_sort(store.bitvec_sort(64), Sort::INT);
        let entry = [(Value::BitVec { value: Integer::ONE, width: 64 }, int(1))];
        assert_eq!(store.array_entries(&store.array_value(wide, &int(0), entry)).unwrap().1, int(0));
    }

    #[test]
    fn all_sixteen_arrays_of_two_bits_to_bool_have_one_form() {
        let store = TermStore::new();
        let index = store.bitvec_sort(2);
        let inner = store.array_sort(index, Sort::BOOL);
        assert_eq!(store.domain_size(inner), Some(16));
        let domain = store.domain(inner);
        assert_eq!(domain.iter().collect::<FxHashSet<_>>().len(), 16);
        let outer = store.array_sort(inner, Sort::BOOL);
        for &term in &domain {
            assert_eq!(store.term_to_value(term), Some(Value::Term(term)));
        }
        let trues = domain[1..].iter().map(|&index| (Value::Term(index), bool(true)));
        let majority = store.array_value(outer, &bool(false), trues);
        assert_eq!(majority, store.array_value(outer, &bool(true), [(Value::Term(domain[0]), bool(false))]));
    }

    #[test]
    fn finite_datatypes_have_a_size_and_recursive_ones_have_not() {
        let store = TermStore::new();
        let color = datatype(&store, "Color", &[("red", &[]), ("green", &[]), ("blue", &[])]);
        let pair =
            datatype(&store, "Pair", &[("pair", &[("first", color), ("second", Sort::BOOL)]), ("no", &[])]);
        let unit = datatype(&store, "Unit", &[("unit", &[])]);
        let nat = store.new_datatype(store.symbol("Nat"), &[]);
        let constructors = vec![spec(&store, "zero", &[]), spec(&store, "succ", &[("pred", nat)])];
        let nat = store.define_datatypes(&[(nat, constructors)]).unwrap()[0];
        assert_eq!(store.domain_size(color), Some(3));
        assert_eq!(store.domain_size(pair), Some(7));
        assert_eq!(store.domain(pair).len(), 7);
        assert_eq!(store.domain_size(nat), None);
        assert_eq!(store.domain_size(store.array_sort(nat, unit)), Some(1));
        assert_eq!(store.domain_size(store.array_sort(nat, color)), None);
        assert_eq!(store.domain_size(store.array_sort(color, color)), Some(27));
    }

    #[test]
    fn only_canonical_terms_are_values() {
        let store = TermStore::new();
        let sort = store.array_sort(Sort::INT, Sort::INT);
        let zeros = store.app(Op::ConstArray(sort), &[store.int(0)]).unwrap();
        let write =
            |array, i: i64, e: i64| store.app(Op::Store, &[array, store.int(i), store.int(e)]).unwrap();
        let good = write(write(zeros, 1, 2), 2, 3);
        assert_eq!(store.term_to_value(good), Some(Value::Term(good)));
        for bad in [write(write(zeros, 2, 3), 1, 2), write(zeros, 1, 0), write(write(zeros, 1, 2), 1, 3)] {
            assert_eq!(store.term_to_value(bad), None);
        }
        assert_eq!(store.term_to_value(store.int(-3)), Some(int(-3)));
        assert_eq!(store.term_to_value(store.var(store.symbol("x"), Sort::INT)), None);
        let u = store.sort(SortKind::Uninterpreted(store.symbol("U"), [].into()));
        let element = store.uninterpreted_value(u, 12);
        assert_eq!(show(&store, &element), "U!val!12");
        assert_eq!(store.term_to_value(store.value_to_term(&element)), Some(element));
        for name in ["U!val!", "U!val!01", "V!val!1", "U!val!+1"] {
            assert_eq!(store.term_to_value(store.var(store.symbol(name), u)), None);
        }
    }

    #[test]
    fn the_order_is_by_number_constructor_and_field() {
        let store = TermStore::new();
        let list = store.new_datatype(store.symbol("List"), &[]);
        let constructors =
            vec![spec(&store, "nil", &[]), spec(&store, "cons", &[("head", Sort::INT), ("tail", list)])];
        let list = store.define_datatypes(&[(list, constructors)]).unwrap()[0];
        let [nil, cons] = *store.constructors_of(list) else { unreachable!() };
        let build = |numbers: &[i64]| {
            let empty = store.constructor_term(nil, &[]);
            Value::Term(
                numbers
                    .iter()
                    .rev()
                    .fold(empty, |tail, &n| store.constructor_term(cons, &[store.int(n), tail])),
            )
        };
        let ascending = [build(&[]), build(&[-2]), build(&[-2, 5]), build(&[1]), build(&[1, 1])];
        let u = store.sort(SortKind::Uninterpreted(store.symbol("U"), [].into()));
        let elements = [2, 10].map(|n| store.uninterpreted_value(u, n));
        for values in [&ascending[..], &elements, &[int(-1), int(3)], &[bool(false), bool(true)]] {
            for (i, a) in values.iter().enumerate() {
                for (j, b) in values.iter().enumerate() {
                    assert_eq!(store.compare_values(a, b), i.cmp(&j));
                }
            }
        }
    }

    #[test]
    fn every_sort_has_a_default() {
        let store = TermStore::new();
        let u = store.sort(SortKind::Uninterpreted(store.symbol("U"), [].into()));
        let tree = store.new_datatype(store.symbol("Tree"), &[]);
        let forest = store.array_sort(Sort::INT, tree);
        let constructors = vec![spec(&store, "node", &[("sons", forest)]), spec(&store, "leaf", &[("u", u)])];
        let tree = store.define_datatypes(&[(tree, constructors)]).unwrap()[0];
        assert_eq!(show(&store, &store.default_value(tree)), "(leaf U!val!0)");
        assert_eq!(
            show(&store, &store.default_value(forest)),
            "((as const (Array Int Tree)) (leaf U!val!0))"
        );
        for sort in [Sort::BOOL, Sort::INT, Sort::REAL, store.bitvec_sort(5), u, tree, forest] {
            let value = store.default_value(sort);
            assert_eq!(store.value_sort(&value), sort);
            assert_eq!(store.term_to_value(store.value_to_term(&value)), Some(value));
        }
        let undefined = store.new_datatype(store.symbol("Undefined"), &[]);
        assert_eq!(store.value_sort(&store.default_value(undefined)), undefined);
    }

    #[test]
    fn long_values_and_long_chains_of_datatypes() {
        let store = TermStore::new();
        let mut sort = Sort::BOOL;
        for i in 0..20_000 {
            sort = datatype(&store, &format!("D{i}"), &[("none", &[("deeper", sort)])]);
        }
        assert_eq!(store.domain_size(sort), Some(2));
        assert_eq!(store.domain(sort).len(), 2);
        assert_eq!(store.value_sort(&store.default_value(sort)), sort);
        let nat = store.new_datatype(store.symbol("Nat"), &[]);
        let constructors = vec![spec(&store, "zero", &[]), spec(&store, "succ", &[("pred", nat)])];
        let nat = store.define_datatypes(&[(nat, constructors)]).unwrap()[0];
        let [zero, succ] = *store.constructors_of(nat) else { unreachable!() };
        let numbers = std::iter::successors(Some(store.constructor_term(zero, &[])), |&n| {
            Some(store.constructor_term(succ, &[n]))
        });
        let large: Vec<Value> = numbers.take(500_001).map(Value::Term).collect();
        assert_eq!(store.compare_values(&large[499_999], &large[500_000]), Ordering::Less);
        assert!(store.term_to_value(store.value_to_term(&large[500_000])).is_some());
    }
}
