//! The fragments that engines accept: the shape and the sorts of clauses.

use rustc_hash::FxHashSet;
use shofar_horn::HornGraph;
use shofar_logic::{Sort, Term, TermStore};
use shofar_run::Stop;
use shofar_smt::{project, supports_sort};

/// Checks that no clause has several predicates in its body.
pub(crate) fn is_linear(graph: &HornGraph) -> Result<(), Stop> {
    if graph.is_linear() {
        Ok(())
    } else {
        Err(Stop::Unsupported("clauses with several predicates in the body".to_owned()))
    }
}

/// Checks that the solver supports all sorts. Operators are not checked: a clause with an unsupported one may not
/// matter for the answer.
pub(crate) fn is_decidable(store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
    has_sorts(store, graph, |sort| supports_sort(store, sort).is_ok())
}

/// As [`is_decidable`], without arrays: few formulas with arrays have interpolants without quantifiers.
pub(crate) fn is_interpolable(store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
    has_sorts(store, graph, |sort| supports_sort(store, sort).is_ok() && !has_arrays(store, sort))
}

/// Whether values of the sort are or contain arrays.
fn has_arrays(store: &TermStore, sort: Sort) -> bool {
    let mut seen: FxHashSet<Sort> = FxHashSet::from_iter([sort]);
    let mut open = vec![sort];
    while let Some(sort) = open.pop() {
        if store.array_parts(sort).is_some() {
            return true;
        }
        let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
        let fields = constructors.iter().flat_map(|&constructor| &store.constructor(constructor).fields);
        open.extend(fields.map(|&(_, field)| field).filter(|&field| seen.insert(field)));
    }
    false
}

/// Checks that the solver and projection support all sorts.
pub(crate) fn is_projectable(store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
    has_sorts(store, graph, |sort| supports_sort(store, sort).is_ok() && project::supports_sort(store, sort))
}

/// Checks that there are no values but truth values and integers.
pub(crate) fn is_discrete(store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
    has_sorts(store, graph, |sort| sort == Sort::BOOL || sort == Sort::INT)
}

/// Checks that there are no values but truth values and numbers.
pub(crate) fn is_numeric(store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
    has_sorts(store, graph, |sort| [Sort::BOOL, Sort::INT, Sort::REAL].contains(&sort))
}

/// Checks that the sorts of all terms of constraints and of all predicate arguments are known.
fn has_sorts(store: &TermStore, graph: &HornGraph, is_known: impl Fn(Sort) -> bool) -> Result<(), Stop> {
    let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
    let arguments = graph.nodes().flat_map(|(_, node)| node.variables());
    let terms = store.subterms(&labels).into_iter().chain(arguments.copied());
    let mut seen: FxHashSet<Sort> = FxHashSet::default();
    let mut sorts = terms.map(|term| store.sort_of(term)).filter(|&sort| seen.insert(sort));
    match sorts.find(|&sort| !is_known(sort)) {
        Some(sort) => Err(Stop::Unsupported(format!("terms of sort {}", store.display_sort(sort)))),
        None => Ok(()),
    }
}
