//! Represents the values of datatypes that are not recursive by a tag and their fields.
//!
//! | sort | components |
//! |---|---|
//! | `pair(first: Int, second: Bool)` | `first`, `second` |
//! | `none` or `some(value: Int)` | a truth value for the tag, `value` |
//! | `a(x: Int)` or `b(y: Int)` or `c` | a number below three for the tag, `x`, `y` |
//! | arrays of pairs | an array of `first`, an array of `second` |
//!
//! Fields of represented sorts have components themselves. A sort with one constructor needs no tag, and one without
//! fields, either, has no components at all. Two constructors are told apart by a truth value, which is true for the
//! first one, and more by their number.
//!
//! - F1: in range, the fields of all constructors but that of the tag have a default value, which is the same for all
//!   values of the sort. So each value has one vector, and equality is equality of all components.
//!
//! Arrays of a sort are represented only if each vector of the sort is in range. For other sorts the range would have to
//! hold for all elements, which needs quantifiers; such arrays stay as they are, and their elements are unpacked.

use rustc_hash::FxHashMap;
use shofar_logic::{ConstructorId, Op, Sort, Term, TermStore, Value};

use super::resort::{Component, Part, Read, Representation};
use super::sorts::Sorts;

/// The maximal number of components of a sort. Nested fields can be exponentially many.
const MOST_COMPONENTS: usize = 256;
/// The maximal depth of nested fields, which also bounds recursion.
const MOST_DEPTH: usize = 64;

/// The components of datatypes and arrays.
pub(super) struct Fields {
    layouts: FxHashMap<Sort, Layout>,
}

/// The components of a sort.
struct Layout {
    components: Vec<Component>,
    kind: Kind,
    /// The vector of the value that absent fields of this sort have; `None` if no terms express it.
    default: Option<Vec<Term>>,
    /// Whether all vectors are in range.
    is_total: bool,
    depth: usize,
}

enum Kind {
    Datatype {
        /// The constructors, with their fields.
        constructors: Vec<(ConstructorId, Vec<Field>)>,
    },
    Array {
        element: Sort,
    },
}

/// The place of a field in the vectors.
struct Field {
    sort: Sort,
    start: usize,
    length: usize,
}

impl Field {
    fn of<'t, T>(&self, vector: &'t [T]) -> &'t [T] {
        &vector[self.start..self.start + self.length]
    }
}

impl Fields {
    /// Represents the chosen datatypes, and arrays of them on request. Sorts with too many components stay.
    pub(super) fn new(
        store: &TermStore,
        sorts: &Sorts,
        is_chosen: impl Fn(&[ConstructorId]) -> bool,
        with_arrays: bool,
    ) -> Self {
        let mut fields = Fields { layouts: FxHashMap::default() };
        for sort in sorts.iter().filter(|&sort| !sorts.is_recursive(sort)) {
            let layout = match (store.datatype(sort), store.array_parts(sort)) {
                (Some(datatype), _) => {
                    let constructors = datatype.constructors();
                    let is_chosen = !constructors.is_empty() && is_chosen(constructors);
                    if is_chosen { fields.datatype(store, constructors) } else { None }
                }
                (None, Some((index, element))) if with_arrays => fields.array(store, index, element),
                _ => None,
            };
            if let Some(layout) = layout {
                fields.layouts.insert(sort, layout);
            }
        }
        fields
    }

    /// Whether no sort is represented.
    pub(super) fn is_empty(&self) -> bool {
        self.layouts.is_empty()
    }

    fn datatype(&self, store: &TermStore, constructors: &[ConstructorId]) -> Option<Layout> {
        let mut components: Vec<Component> = Vec::new();
        let mut default: Option<Vec<Term>> = Some(Vec::new());
        let tag = match constructors.len() {
            1 => None,
            2 => Some((Sort::BOOL, Term::TRUE)),
            _ => Some((Sort::INT, store.int(0))),
        };
        if let Some((sort, first)) = tag {
            components.push(Component { name: "tag".to_owned(), sort });
            default = Some(vec![first]);
        }
        let (mut depth, mut is_total) = (0, tag.is_none());
        let mut places = Vec::with_capacity(constructors.len());
        for &constructor in constructors {
            let mut fields = Vec::new();
            for &(selector, sort) in &store.constructor(constructor).fields {
                let start = components.len();
                let name = store.name(selector);
                let here = match self.layouts.get(&sort) {
                    Some(layout) => {
                        components.extend(layout.components.iter().map(|component| Component {
                            name: format!("{name}.{}", component.name),
                            sort: component.sort,
                        }));
                        depth = depth.max(layout.depth + 1);
                        is_total &= layout.is_total;
                        layout.default.clone()
                    }
                    None => {
                        components.push(Component { name: name.to_owned(), sort });
                        default_term(store, sort).map(|term| vec![term])
                    }
                };
                default = default.zip(here).map(|(before, here)| [before, here].concat());
                fields.push(Field { sort, start, length: components.len() - start });
                if components.len() > MOST_COMPONENTS || depth > MOST_DEPTH {
                    return None;
                }
            }
            places.push((constructor, fields));
        }
        // The fields that other constructors do not have need a default.
        if tag.is_some() && default.is_none() {
            return None;
        }
        Some(Layout { components, kind: Kind::Datatype { constructors: places }, default, is_total, depth })
    }

    fn array(&self, store: &TermStore, index: Sort, element: Sort) -> Option<Layout> {
        let layout = self.layouts.get(&element).filter(|layout| layout.is_total)?;
        let component = |component: &Component| Component {
            name: component.name.clone(),
            sort: store.array_sort(index, component.sort),
        };
        let components: Vec<Component> = layout.components.iter().map(component).collect();
        let constant = |(array, &element): (&Component, &Term)| store.const_array(array.sort, element);
        let default = layout.default.as_ref();
        let default = default.map(|default| components.iter().zip(default).map(constant).collect());
        let depth = layout.depth + 1;
        let kind = Kind::Array { element };
        (depth <= MOST_DEPTH).then_some(Layout { components, kind, default, is_total: true, depth })
    }

    /// The constructor of a represented datatype.
    fn constructor(&self, store: &TermStore, constructor: ConstructorId) -> Place<'_> {
        let declared = store.constructor(constructor);
        let Layout { kind, default, .. } = &self.layouts[&declared.sort];
        let Kind::Datatype { constructors } = kind else { unreachable!("arrays have no constructors") };
        let position = declared.index as usize;
        let default = default.as_deref().unwrap_or_default();
        Place { fields: &constructors[position].1, position, constructors: constructors.len(), default }
    }
}

/// A constructor of a represented datatype.
struct Place<'a> {
    fields: &'a [Field],
    /// Its position among so many constructors.
    position: usize,
    constructors: usize,
    /// The default vector of the datatype; needed only if there is a tag.
    default: &'a [Term],
}

/// Whether the constructor at a position, of so many, made the value of a vector.
fn has_tag(store: &TermStore, vector: &[Term], position: usize, constructors: usize) -> Term {
    match constructors {
        1 => Term::TRUE,
        2 if position == 0 => vector[0],
        2 => store.not(vector[0]),
        _ => store.eq(vector[0], store.int(position as u64)),
    }
}

/// The tag of the constructor at a position.
fn tag(store: &TermStore, position: usize, constructors: usize) -> Option<Term> {
    match constructors {
        1 => None,
        2 => Some(store.bool(position == 0)),
        _ => Some(store.int(position as u64)),
    }
}

/// The default value of a sort as a term without variables: elements of declared sorts have no names.
pub(super) fn default_term(store: &TermStore, sort: Sort) -> Option<Term> {
    let term = store.value_to_term(&store.default_value(sort));
    let is_named = store.subterms(&[term]).into_iter().all(|term| !matches!(store.op(term), Op::Var(_)));
    is_named.then_some(term)
}

impl Representation for Fields {
    fn components(&self, sort: Sort) -> Option<&[Component]> {
        self.layouts.get(&sort).map(|layout| &*layout.components)
    }

    fn range(&self, store: &TermStore, sort: Sort, vector: &[Term]) -> Term {
        let Some(Layout { kind: Kind::Datatype { constructors }, default, is_total: false, .. }) =
            self.layouts.get(&sort)
        else {
            return Term::TRUE;
        };
        let mut conjuncts = Vec::new();
        if constructors.len() > 2 {
            conjuncts.push(store.le(store.int(0), vector[0]));
            conjuncts.push(store.lt(vector[0], store.int(constructors.len() as u64)));
        }
        for (position, (_, fields)) in constructors.iter().enumerate() {
            let is_present = has_tag(store, vector, position, constructors.len());
            for field in fields {
                conjuncts.push(self.range(store, field.sort, field.of(vector)));
                let absent =
                    default.iter().flat_map(|default| field.of(vector).iter().zip(field.of(default)));
                let absent = store.and_of(absent.map(|(&component, &default)| store.eq(component, default)));
                conjuncts.push(store.or2(is_present, absent));
            }
        }
        store.and(&conjuncts)
    }

    fn construct(&self, store: &TermStore, constructor: ConstructorId, fields: &[&[Term]]) -> Vec<Term> {
        let place = self.constructor(store, constructor);
        let Some(tag) = tag(store, place.position, place.constructors) else { return fields.concat() };
        let mut vector = place.default.to_vec();
        vector[0] = tag;
        for (place, field) in place.fields.iter().zip(fields) {
            vector[place.start..place.start + place.length].copy_from_slice(field);
        }
        vector
    }

    fn select(&self, store: &TermStore, constructor: ConstructorId, field: usize, vector: &[Term]) -> Read {
        let place = self.constructor(store, constructor);
        Read {
            field: place.fields[field].of(vector).to_vec(),
            is_present: has_tag(store, vector, place.position, place.constructors),
        }
    }

    fn test(&self, store: &TermStore, constructor: ConstructorId, vector: &[Term]) -> Term {
        let place = self.constructor(store, constructor);
        has_tag(store, vector, place.position, place.constructors)
    }

    fn unpack(&self, store: &TermStore, term: Term) -> Option<Vec<Term>> {
        let Some(layout) = self.layouts.get(&store.sort_of(term)) else { return Some(vec![term]) };
        let Kind::Datatype { constructors } = &layout.kind else { return None };
        let mut vector = Vec::with_capacity(layout.components.len());
        // The tag of the last constructor, unless a tester tells another one.
        let mut found = tag(store, constructors.len() - 1, constructors.len());
        for (position, &(constructor, _)) in constructors.iter().enumerate().rev().skip(1) {
            let (here, below) = (tag(store, position, constructors.len()), found);
            found =
                here.zip(below).map(|(here, below)| store.ite(store.tester(constructor, term), here, below));
        }
        vector.extend(found);
        for &(constructor, ref fields) in constructors {
            let is_present = store.tester(constructor, term);
            for (number, field) in fields.iter().enumerate() {
                let value = self.unpack(store, store.selector(constructor, number as u32, term))?;
                match &layout.default {
                    Some(default) => {
                        let both = value.into_iter().zip(field.of(default));
                        vector.extend(both.map(|(value, &default)| store.ite(is_present, value, default)));
                    }
                    None => vector.extend(value),
                }
            }
        }
        Some(vector)
    }

    fn component(&self, store: &TermStore, mut term: Term, mut at: usize) -> Option<Part> {
        while let Some(layout) = self.layouts.get(&store.sort_of(term)) {
            match &layout.kind {
                Kind::Array { .. } => return Some(Part::Array(term, at)),
                Kind::Datatype { constructors } => {
                    let [(constructor, fields)] = &constructors[..] else {
                        return self.unpack(store, term)?.get(at).copied().map(Part::Term);
                    };
                    let number = fields.iter().position(|field| at < field.start + field.length)?;
                    term = store.selector(*constructor, number as u32, term);
                    at -= fields[number].start;
                }
            }
        }
        Some(Part::Term(term))
    }

    fn pack(&self, store: &TermStore, sort: Sort, vector: &[Term]) -> Option<Term> {
        let Some(layout) = self.layouts.get(&sort) else { return vector.first().copied() };
        let Kind::Datatype { constructors } = &layout.kind else { return None };
        let made = |(constructor, fields): &(ConstructorId, Vec<Field>)| -> Option<Term> {
            let fields: Option<Vec<Term>> =
                fields.iter().map(|field| self.pack(store, field.sort, field.of(vector))).collect();
            Some(store.construct_term(*constructor, &fields?))
        };
        let (last, others) = constructors.split_last()?;
        others.iter().enumerate().rev().try_fold(made(last)?, |below, (position, constructor)| {
            let is_here = has_tag(store, vector, position, constructors.len());
            Some(store.ite(is_here, made(constructor)?, below))
        })
    }

    fn value(&self, store: &TermStore, sort: Sort, vector: &[Value]) -> Option<Value> {
        let Some(layout) = self.layouts.get(&sort) else { return vector.first().cloned() };
        match &layout.kind {
            Kind::Datatype { constructors } => {
                let position = match (constructors.len(), vector.first()) {
                    (1, _) => 0,
                    (2, Some(tag)) => usize::from(!tag.as_bool()?),
                    (_, tag) => usize::try_from(tag?.as_int()?.to_i64()?).ok()?,
                };
                let (constructor, fields) = constructors.get(position)?;
                let field = |field: &Field| {
                    Some(store.value_to_term(&self.value(store, field.sort, field.of(vector))?))
                };
                let fields: Option<Vec<Term>> = fields.iter().map(field).collect();
                Some(Value::Term(store.construct_term(*constructor, &fields?)))
            }
            Kind::Array { element } => {
                let arrays: Option<Vec<_>> = vector.iter().map(|array| store.array_entries(array)).collect();
                let arrays = arrays?;
                let element_of = |components: Vec<Value>| self.value(store, *element, &components);
                let default = element_of(arrays.iter().map(|(_, default)| default.clone()).collect())?;
                let mut indices: Vec<&Value> =
                    arrays.iter().flat_map(|(entries, _)| entries.iter().map(|(index, _)| index)).collect();
                indices.sort_by(|a, b| store.compare_values(a, b));
                indices.dedup();
                let entry = |index: &Value| {
                    let at = |(entries, default): &(Vec<(Value, Value)>, Value)| {
                        let found = entries.binary_search_by(|(other, _)| store.compare_values(other, index));
                        found.map_or_else(|_| default.clone(), |found| entries[found].1.clone())
                    };
                    Some((index.clone(), element_of(arrays.iter().map(at).collect())?))
                };
                let entries: Option<Vec<(Value, Value)>> = indices.into_iter().map(entry).collect();
                Some(store.array_value(sort, &default, entries?))
            }
        }
    }
}
