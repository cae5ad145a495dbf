//! The sorts of a graph: those of its variables and terms, and of the parts of their values.

use rustc_hash::FxHashMap;
use shofar_logic::{Sort, SortKind, TermStore, Walker};

use crate::graph::HornGraph;
use crate::scc;

/// The sorts of a graph, parts first: a sort comes after the sorts of its fields, indices and elements, except those
/// with which it is mutually recursive.
pub(super) struct Sorts {
    sorts: Vec<Sort>,
    is_recursive: FxHashMap<Sort, bool>,
}

impl Sorts {
    /// The sorts of a graph.
    pub(super) fn of(store: &TermStore, graph: &HornGraph) -> Self {
        let mut found: Vec<Sort> = Vec::new();
        let mut numbers: FxHashMap<Sort, usize> = FxHashMap::default();
        let mut find = |sort: Sort, found: &mut Vec<Sort>| {
            *numbers.entry(sort).or_insert_with(|| {
                found.push(sort);
                found.len() - 1
            })
        };
        for (_, node) in graph.nodes() {
            for &variable in node.variables() {
                find(store.sort_of(variable), &mut found);
            }
        }
        let labels = graph.edges().map(|(_, edge)| edge.label());
        Walker::new(store).visit(labels, |term| {
            find(store.sort_of(term), &mut found);
        });
        let mut parts: Vec<Vec<usize>> = Vec::new();
        while let Some(&sort) = found.get(parts.len()) {
            parts.push(parts_of(store, sort).into_iter().map(|part| find(part, &mut found)).collect());
        }
        let (component, _) = scc::components(&parts);
        let mut sizes: FxHashMap<usize, usize> = FxHashMap::default();
        for &component in &component {
            *sizes.entry(component).or_default() += 1;
        }
        let is_recursive = |number: usize| sizes[&component[number]] > 1 || parts[number].contains(&number);
        let is_recursive = found.iter().enumerate().map(|(number, &sort)| (sort, is_recursive(number)));
        let is_recursive = is_recursive.collect();
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|&number| component[number]);
        Sorts { sorts: order.into_iter().map(|number| found[number]).collect(), is_recursive }
    }

    /// The sorts, parts first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Sort> + '_ {
        self.sorts.iter().copied()
    }

    /// Whether values of this sort have parts of the same sort, at any depth.
    pub(super) fn is_recursive(&self, sort: Sort) -> bool {
        self.is_recursive.get(&sort).copied().unwrap_or(false)
    }
}

/// The sorts of the parts of a sort's values.
pub(super) fn parts_of(store: &TermStore, sort: Sort) -> Vec<Sort> {
    match store.sort_kind(sort) {
        SortKind::Array(index, element) => vec![*index, *element],
        SortKind::Datatype(_) => {
            let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
            let fields = constructors.iter().flat_map(|&constructor| &store.constructor(constructor).fields);
            fields.map(|&(_, field)| field).collect()
        }
        SortKind::Bool
        | SortKind::Int
        | SortKind::Real
        | SortKind::BitVec(_)
        | SortKind::Uninterpreted(..) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn parts_come_first_and_recursion_goes_through_arrays() {
        let store = TermStore::new();
        let text = "(declare-datatypes ((Pair 0) (Tree 0) (Box 0)) (((pair (first Int) (second Bool)))
                       ((leaf) (tree (label Pair) (sons (Array Int Box)))) ((box (content Tree)))))
                    (declare-datatypes ((Outer 0)) (((outer (inner Tree) (p Pair)))))
                    (declare-fun P (Outer) Bool)
                    (assert (forall ((x Outer)) (=> (P x) false)))";
        let system = parse(&store, "test", text.as_bytes()).unwrap();
        let sorts = Sorts::of(&store, &HornGraph::of(&store, &system));
        let named = |name: &str| {
            let found = sorts.iter().position(|sort| store.display_sort(sort).to_string() == name);
            found.unwrap_or_else(|| panic!("{name} is missing"))
        };
        for (part, whole) in [("Int", "Pair"), ("Pair", "Tree"), ("Tree", "Outer"), ("Box", "Outer")] {
            assert!(named(part) < named(whole), "{part} and {whole}");
        }
        let recursive: Vec<String> = sorts
            .iter()
            .filter(|&sort| sorts.is_recursive(sort))
            .map(|sort| store.display_sort(sort).to_string())
            .collect();
        for name in ["Tree", "Box", "(Array Int Box)"] {
            assert!(recursive.contains(&name.to_owned()), "{name}");
        }
        assert_eq!(recursive.len(), 3);
    }
}
