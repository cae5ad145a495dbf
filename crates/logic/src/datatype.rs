//! Declares algebraic datatypes.
//!
//! Datatypes may refer to each other, so declaring them takes two steps: [`TermStore::new_datatype`] makes a sort that
//! can be mentioned, [`TermStore::define_datatypes`] defines the constructors of a group of them. Defining a group
//! equal to an earlier one returns the earlier sorts: datatypes are hash-consed like everything else, and reading a
//! script twice gives the same terms.
//!
//! A parametric datatype is declared over uninterpreted sorts that represent its parameters;
//! [`TermStore::instantiate_datatype`] replaces them by other sorts.

use std::fmt;
use std::fmt::Write as _;
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fold::FamilyKey;
use crate::sort::{
    Constructor, ConstructorId, ConstructorSpec, Datatype, DatatypeId, Definition, Fun, Sort, SortKind,
    Symbol,
};
use crate::term::TermStore;

/// Why a group of datatypes is invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DatatypeError {
    /// The datatype has no constructor.
    NoConstructor(String),
    /// The datatype has no finite value, because each constructor needs another value of it.
    NotWellFounded(String),
}

impl fmt::Display for DatatypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatatypeError::NoConstructor(name) => write!(f, "datatype {name} has no constructor"),
            DatatypeError::NotWellFounded(name) => write!(f, "datatype {name} has no finite value"),
        }
    }
}

impl std::error::Error for DatatypeError {}

impl TermStore {
    /// Whether there is any datatype.
    pub fn has_datatypes(&self) -> bool {
        !self.datatypes.is_empty()
    }

    /// Whether values of a sort may lie inside of other values of it: the sort is a recursive datatype.
    pub fn is_recursive_datatype(&self, sort: Sort) -> bool {
        let mut seen: FxHashSet<Sort> = FxHashSet::default();
        let mut open = vec![sort];
        while let Some(next) = open.pop() {
            let Some(datatype) = self.datatype(next) else { continue };
            for &(_, field) in
                datatype.constructors().iter().flat_map(|&id| self.constructor(id).fields.iter())
            {
                if field == sort {
                    return true;
                }
                if seen.insert(field) {
                    open.push(field);
                }
            }
        }
        false
    }

    /// A datatype whose constructors are defined later.
    pub fn new_datatype(&self, name: Symbol, params: &[Sort]) -> Sort {
        self.new_datatype_of(name, params, None)
    }

    fn new_datatype_of(&self, name: Symbol, params: &[Sort], template: Option<Sort>) -> Sort {
        let datatype = Datatype { name, params: params.into(), template, definition: OnceLock::new() };
        let id = u32::try_from(self.datatypes.push(datatype)).expect("memory ends long before");
        self.sort(SortKind::Datatype(DatatypeId(id)))
    }

    /// Defines the constructors of datatypes made by [`new_datatype`](Self::new_datatype), and returns the sorts to use
    /// from now on: those of an equal group defined before, otherwise the given ones.
    ///
    /// # Panics
    /// If one of the sorts is not a datatype or is defined already.
    pub fn define_datatypes(
        &self,
        group: &[(Sort, Vec<ConstructorSpec>)],
    ) -> Result<Box<[Sort]>, DatatypeError> {
        self.check_inhabited(group)?;
        let key = self.group_key(group);
        let mut definitions = self.definitions();
        if let Some(known) = definitions.groups.get(&key) {
            return Ok(known.clone());
        }
        let sorts: Box<[Sort]> = group.iter().map(|(sort, _)| *sort).collect();
        for (sort, constructors) in group {
            self.define(*sort, constructors, &sorts);
        }
        definitions.groups.insert(key, sorts.clone());
        Ok(sorts)
    }

    fn define(&self, sort: Sort, constructors: &[ConstructorSpec], group: &[Sort]) {
        let constructors = constructors.iter().enumerate().map(|(index, constructor)| {
            let id = self.constructors.push(Constructor {
                name: constructor.name,
                sort,
                index: index as u32,
                fields: constructor.fields.as_slice().into(),
            });
            ConstructorId(u32::try_from(id).expect("memory ends long before"))
        });
        let definition = Definition { group: group.into(), constructors: constructors.collect() };
        let datatype = self.datatype(sort).expect("only datatypes are defined");
        datatype.definition.set(definition).expect("a datatype is defined once");
    }

    /// The instance of `template`, declared with parameters, for the given sorts.
    ///
    /// # Panics
    /// If `template` is not a defined datatype or the number of sorts is not that of its parameters.
    pub fn instantiate_datatype(&self, template: Sort, params: &[Sort]) -> Sort {
        let mut definitions = self.definitions();
        let sort = self.instance(template, params, &mut definitions);
        self.complete_instances(&mut definitions);
        sort
    }

    /// The sort with the sorts of parameters replaced.
    pub fn substitute_sort(&self, sort: Sort, map: &FxHashMap<Sort, Sort>) -> Sort {
        let mut definitions = self.definitions();
        let sort = self.substituted(sort, map, &mut definitions);
        self.complete_instances(&mut definitions);
        sort
    }

    /// The instance of one datatype, together with those declared with it.
    /// [`complete_instances`](Self::complete_instances) defines new ones.
    fn instance(&self, template: Sort, params: &[Sort], definitions: &mut Definitions) -> Sort {
        let declared = self.datatype(template).expect("an instance has a datatype");
        assert_eq!(declared.params.len(), params.len(), "one sort for each parameter");
        if *declared.params == *params {
            return template;
        }
        if let Some(&sort) = definitions.instances.get(&(template, params.into())) {
            return sort;
        }
        let group: Box<[Sort]> = declared
            .group()
            .iter()
            .map(|&member| {
                let name = self.datatype(member).expect("a group consists of datatypes").name;
                let sort = self.new_datatype_of(name, params, Some(member));
                definitions.instances.insert((member, params.into()), sort);
                sort
            })
            .collect();
        definitions.open.push(group);
        definitions.instances[&(template, params.into())]
    }

    /// Defines all new instances; translating their fields may require further ones.
    fn complete_instances(&self, definitions: &mut Definitions) {
        while let Some(group) = definitions.open.pop() {
            for &sort in &group {
                let instance = self.datatype(sort).expect("an instance is a datatype");
                let template = instance.template.expect("an instance has a template");
                let template = self.datatype(template).expect("a template is a datatype");
                let map = template.params.iter().copied().zip(instance.params.iter().copied()).collect();
                let constructors = template.constructors().iter().map(|&id| {
                    let Constructor { name, fields, .. } = self.constructor(id);
                    let fields = fields.iter();
                    let fields =
                        fields.map(|&(name, field)| (name, self.substituted(field, &map, definitions)));
                    ConstructorSpec { name: *name, fields: fields.collect() }
                });
                let constructors = constructors.collect::<Vec<_>>();
                self.define(sort, &constructors, &group);
            }
        }
    }

    fn substituted(&self, sort: Sort, map: &FxHashMap<Sort, Sort>, definitions: &mut Definitions) -> Sort {
        if let Some(&image) = map.get(&sort) {
            return image;
        }
        match self.sort_kind(sort) {
            SortKind::Array(index, element) => {
                let index = self.substituted(*index, map, definitions);
                let element = self.substituted(*element, map, definitions);
                self.array_sort(index, element)
            }
            SortKind::Uninterpreted(name, params) => {
                let params = params.iter().map(|&p| self.substituted(p, map, definitions)).collect();
                self.sort(SortKind::Uninterpreted(*name, params))
            }
            SortKind::Datatype(id) => {
                let datatype = &self.datatypes[id.0 as usize];
                let params: Vec<Sort> =
                    datatype.params.iter().map(|&p| self.substituted(p, map, definitions)).collect();
                if *params == *datatype.params {
                    return sort;
                }
                self.instance(datatype.template.unwrap_or(sort), &params, definitions)
            }
            SortKind::Bool | SortKind::Int | SortKind::Real | SortKind::BitVec(_) => sort,
        }
    }

    /// Every datatype must have a finite value: some constructor whose fields all have one, where sorts outside the
    /// group count as inhabited. An array has one if its elements have.
    fn check_inhabited(&self, group: &[(Sort, Vec<ConstructorSpec>)]) -> Result<(), DatatypeError> {
        let name = |sort| self.display_sort(sort).to_string();
        if let Some((sort, _)) = group.iter().find(|(_, constructors)| constructors.is_empty()) {
            return Err(DatatypeError::NoConstructor(name(*sort)));
        }
        let mut open: FxHashMap<Sort, &Vec<ConstructorSpec>> = group.iter().map(|(s, c)| (*s, c)).collect();
        loop {
            let has_value = |mut sort: Sort| {
                while let Some((_, element)) = self.array_parts(sort) {
                    sort = element;
                }
                !open.contains_key(&sort)
            };
            let inhabited = |sort: &Sort| {
                open[sort]
                    .iter()
                    .any(|constructor| constructor.fields.iter().all(|(_, field)| has_value(*field)))
            };
            let found: Vec<Sort> =
                group.iter().map(|(s, _)| *s).filter(|s| open.contains_key(s) && inhabited(s)).collect();
            if found.is_empty() {
                break;
            }
            for sort in found {
                open.remove(&sort);
            }
        }
        match group.iter().find(|(sort, _)| open.contains_key(sort)) {
            Some((sort, _)) => Err(DatatypeError::NotWellFounded(name(*sort))),
            None => Ok(()),
        }
    }

    /// A text that two groups share exactly if their declarations are equal. It names members by their position,
    /// instances by their template and parameters, and all other sorts by their index.
    fn group_key(&self, group: &[(Sort, Vec<ConstructorSpec>)]) -> String {
        let members: FxHashMap<Sort, usize> =
            group.iter().enumerate().map(|(position, (sort, _))| (*sort, position)).collect();
        let mut key = String::new();
        for (sort, constructors) in group {
            let datatype = self.datatype(*sort).expect("only datatypes are defined");
            let _ = write!(key, "{}{:?}(", datatype.name.0, datatype.template);
            datatype.params.iter().for_each(|&param| self.write_sort_key(param, &members, &mut key));
            for constructor in constructors {
                let _ = write!(key, ")({}", constructor.name.0);
                for (selector, field) in &constructor.fields {
                    let _ = write!(key, " {}:", selector.0);
                    self.write_sort_key(*field, &members, &mut key);
                }
            }
            key.push(';');
        }
        key
    }

    fn write_sort_key(&self, sort: Sort, members: &FxHashMap<Sort, usize>, key: &mut String) {
        if let Some(position) = members.get(&sort) {
            let _ = write!(key, "#{position}");
            return;
        }
        match self.sort_kind(sort) {
            SortKind::Array(index, element) => {
                key.push('(');
                self.write_sort_key(*index, members, key);
                key.push('>');
                self.write_sort_key(*element, members, key);
                key.push(')');
            }
            SortKind::Uninterpreted(name, params) => {
                let _ = write!(key, "({}", name.0);
                for &param in params {
                    key.push(' ');
                    self.write_sort_key(param, members, key);
                }
                key.push(')');
            }
            SortKind::Datatype(id) if self.datatypes[id.0 as usize].template.is_some() => {
                let datatype = &self.datatypes[id.0 as usize];
                let _ = write!(key, "({:?}", datatype.template);
                for &param in &datatype.params {
                    key.push(' ');
                    self.write_sort_key(param, members, key);
                }
                key.push(')');
            }
            _ => {
                let _ = write!(key, "s{}", sort.0);
            }
        }
    }
}

/// The tables that give equal declarations equal sorts.
#[derive(Clone, Default)]
pub(crate) struct Definitions {
    /// The groups defined so far, by [key](TermStore::group_key).
    groups: FxHashMap<String, Box<[Sort]>>,
    /// The instances of parametric datatypes.
    instances: FxHashMap<(Sort, Box<[Sort]>), Sort>,
    /// Groups of instances that have no constructors yet. Empty whenever the lock is free.
    open: Vec<Box<[Sort]>>,
    /// The families of folds defined so far.
    pub(crate) families: FxHashMap<FamilyKey, Box<[Fun]>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(store: &TermStore, name: &str, fields: &[(&str, Sort)]) -> ConstructorSpec {
        let fields = fields.iter().map(|(name, sort)| (store.symbol(name), *sort)).collect();
        ConstructorSpec { name: store.symbol(name), fields }
    }

    fn nat(store: &TermStore) -> Sort {
        let nat = store.new_datatype(store.symbol("Nat"), &[]);
        let constructors = vec![spec(store, "zero", &[]), spec(store, "succ", &[("pred", nat)])];
        store.define_datatypes(&[(nat, constructors)]).unwrap()[0]
    }

    fn list_template(store: &TermStore) -> (Sort, Sort) {
        let t = store.sort(SortKind::Uninterpreted(store.symbol("T"), [].into()));
        let list = store.new_datatype(store.symbol("List"), &[t]);
        let constructors = vec![spec(store, "nil", &[]), spec(store, "cons", &[("head", t), ("tail", list)])];
        (store.define_datatypes(&[(list, constructors)]).unwrap()[0], t)
    }

    #[test]
    fn the_same_declaration_is_the_same_sort() {
        let store = TermStore::new();
        let first = nat(&store);
        assert_eq!(nat(&store), first);
        let other = store.new_datatype(store.symbol("Nat"), &[]);
        let constructors = vec![spec(&store, "zero", &[])];
        assert_ne!(store.define_datatypes(&[(other, constructors)]).unwrap()[0], first);
    }

    #[test]
    fn mutual_recursion_through_arrays() {
        let store = TermStore::new();
        let declare = || {
            let tree = store.new_datatype(store.symbol("Tree"), &[]);
            let forest = store.new_datatype(store.symbol("Forest"), &[]);
            let children = store.array_sort(Sort::INT, forest);
            let trees = vec![spec(&store, "leaf", &[]), spec(&store, "node", &[("children", children)])];
            let forests = vec![spec(&store, "one", &[("only", tree)])];
            store.define_datatypes(&[(tree, trees), (forest, forests)]).unwrap()
        };
        let first = declare();
        assert_eq!(declare(), first);
        assert_eq!(store.datatype(first[0]).unwrap().group(), &*first);
    }

    #[test]
    fn datatypes_without_finite_values_are_refused() {
        let store = TermStore::new();
        let stream = store.new_datatype(store.symbol("Stream"), &[]);
        let constructors = vec![spec(&store, "cons", &[("head", Sort::INT), ("tail", stream)])];
        let error = store.define_datatypes(&[(stream, constructors)]).unwrap_err();
        assert_eq!(error, DatatypeError::NotWellFounded("Stream".to_owned()));
        let tree = store.new_datatype(store.symbol("Tree"), &[]);
        let children = store.array_sort(Sort::INT, tree);
        let constructors = vec![spec(&store, "node", &[("children", children)])];
        assert!(store.define_datatypes(&[(tree, constructors)]).is_err());
    }

    #[test]
    fn instances_of_a_parametric_datatype() {
        let store = TermStore::new();
        let (list, t) = list_template(&store);
        let ints = store.instantiate_datatype(list, &[Sort::INT]);
        assert_eq!(store.instantiate_datatype(list, &[Sort::INT]), ints);
        assert_eq!(store.instantiate_datatype(list, &[t]), list);
        let cons = store.constructor(store.datatype(ints).unwrap().constructors()[1]);
        assert_eq!(cons.fields.iter().map(|(_, sort)| *sort).collect::<Vec<_>>(), [Sort::INT, ints]);
        let lists = store.instantiate_datatype(list, &[ints]);
        assert_ne!(lists, ints);
        assert_eq!(store.display_sort(lists).to_string(), "(List (List Int))");
    }
}
