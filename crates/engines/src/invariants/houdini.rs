//! Houdini: the largest inductive subset of many candidates.
//!
//! ```text
//! candidates := atoms of the labels over the arguments of one node, their negations, and b => atom for Boolean arguments b
//! while a clause derives a fact that violates a candidate of its target from facts that violate none:
//!     drop all candidates that the fact violates
//! ```
//!
//! Candidates of the sources are assumed although they may be dropped later; then the clause is asked again. So what is left in the end
//! is inductive, and no inductive subset has lost a candidate: at the first one to be lost, all others of the subset were assumed, and
//! so the clause cannot have violated it.
//!
//! C. Flanagan, K. R. M. Leino, "Houdini, an annotation assistant for ESC/Java" (FME 2001).

use std::collections::BTreeSet;

use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, Node, NodeId};
use shofar_logic::{Sort, Substitution, Term, TermStore, Value};
use shofar_run::Stop;

use super::{Questions, occurrences};
use crate::Run;

/// Atoms and candidates of one node.
const MOST_ATOMS: usize = 40;
const MOST_CANDIDATES: usize = 200;

/// Boolean arguments that are premises of candidates.
const MOST_PREMISES: usize = 4;

/// By nodes: literals and clauses that are inductive, together with what is known; none for a node without facts.
pub(super) fn houdini(questions: &mut Questions<'_>) -> Result<Vec<Option<Vec<Term>>>, Stop> {
    let candidates = candidates(questions)?;
    let largest = largest_inductive(questions, candidates)?;
    let known = questions.known.clone();
    let of_node = |(known, left): (Option<Vec<Term>>, Vec<Term>)| {
        let Some(known) = known else { return Ok(None) };
        questions.run.go_on()?;
        without_implied(questions, &known, left).map(Some)
    };
    std::iter::zip(known, largest).map(of_node).collect()
}

/// By nodes: the atoms of labels over the arguments of one occurrence of the node, as formulas over its variables. Of an atom and its
/// negation one is there.
pub(crate) fn atoms(run: &Run<'_>, graph: &HornGraph) -> Result<Vec<Vec<Term>>, Stop> {
    let store = run.store;
    let mut atoms: Vec<Vec<Term>> = vec![Vec::new(); graph.nodes().len()];
    for (edge, content) in graph.edges() {
        run.go_on()?;
        let of_label: Vec<(Term, Vec<Term>)> = store
            .subterms(&[content.label()])
            .into_iter()
            .filter(|&term| is_atom(store, term))
            .map(|term| (term, store.free_vars(&[term])))
            .collect();
        for (node, variables) in occurrences(graph, edge) {
            run.go_on()?;
            let names: Substitution =
                variables.iter().copied().zip(graph.node(node).variables().iter().copied()).collect();
            for (atom, used) in &of_label {
                let place = &mut atoms[node.index()];
                if place.len() < MOST_ATOMS
                    && !used.is_empty()
                    && used.iter().all(|variable| variables.contains(variable))
                {
                    let atom = store.substitute(*atom, &names);
                    if !place.contains(&atom) && !place.contains(&store.not(atom)) {
                        place.push(atom);
                    }
                }
            }
        }
    }
    Ok(atoms)
}

/// By nodes: formulas over the arguments.
fn candidates(questions: &Questions<'_>) -> Result<Vec<Vec<Term>>, Stop> {
    let (run, graph) = (questions.run, questions.graph);
    let store = run.store;
    let atoms = atoms(run, graph)?;
    let of_node = |((_, node), atoms): ((NodeId, &Node), Vec<Term>)| {
        let literals: Vec<Term> = atoms.iter().flat_map(|&atom| [atom, store.not(atom)]).collect();
        let flags = node
            .variables()
            .iter()
            .filter(|variable| store.sort_of(**variable) == Sort::BOOL)
            .take(MOST_PREMISES);
        let premises: Vec<Term> = flags.flat_map(|&flag| [flag, store.not(flag)]).collect();
        let clauses = literals
            .iter()
            .flat_map(|&literal| premises.iter().map(move |&premise| store.or2(premise, literal)));
        let mut all: Vec<Term> =
            literals.iter().copied().chain(premises.iter().copied()).chain(clauses).collect();
        let mut seen = BTreeSet::from([Term::TRUE, Term::FALSE]);
        all.retain(|candidate| seen.insert(*candidate));
        all.truncate(MOST_CANDIDATES);
        all
    };
    Ok(std::iter::zip(graph.nodes(), atoms).map(of_node).collect())
}

/// Whether a term is a Boolean variable or a comparison of other terms.
fn is_atom(store: &TermStore, term: Term) -> bool {
    let are_none_boolean = || store.args(term).iter().all(|&arg| store.sort_of(arg) != Sort::BOOL);
    store.sort_of(term) == Sort::BOOL && ![Term::TRUE, Term::FALSE].contains(&term) && are_none_boolean()
}

/// The largest subset of candidates that is inductive together with what is known.
fn largest_inductive(
    questions: &mut Questions<'_>,
    mut candidates: Vec<Vec<Term>>,
) -> Result<Vec<Vec<Term>>, Stop> {
    let (store, graph) = (questions.run.store, questions.graph);
    let (outgoing, _) = graph.outgoing();
    let mut open: BTreeSet<EdgeId> = graph.edges().map(|(id, _)| id).collect();
    while let Some(edge) = open.pop_first() {
        let Some(target) = graph.edge(edge).target() else { continue };
        let mut is_less = false;
        while !candidates[target.index()].is_empty() {
            let Some(mut assumptions) = questions.known_at_sources(edge) else { break };
            for (source, &node) in graph.edge(edge).sources().iter().enumerate() {
                let at_source = candidates[node.index()].iter();
                assumptions
                    .extend(at_source.map(|&candidate| graph.at_source(store, edge, source, candidate)));
            }
            let at_target = |&candidate: &Term| graph.at_target(store, edge, candidate);
            let all = store.and_of(candidates[target.index()].iter().map(at_target));
            assumptions.push(store.not(all));
            let Some(model) = questions.model(edge, &assumptions, graph.target_variables(edge))? else {
                break;
            };
            let holds = |candidate: &Term| store.eval(at_target(candidate), &model) == Ok(Value::Bool(true));
            candidates[target.index()].retain(holds);
            is_less = true;
        }
        if is_less {
            open.extend(&outgoing[target.index()]);
        }
    }
    Ok(candidates)
}

/// The formulas without those that the others imply, together with what is known.
fn without_implied(
    questions: &mut Questions<'_>,
    known: &[Term],
    mut formulas: Vec<Term>,
) -> Result<Vec<Term>, Stop> {
    let run = questions.run;
    let mut solver = run.solver();
    run.assert(&mut solver, known)?;
    // Clauses come last, and are the first to be given up.
    for at in (0..formulas.len()).rev() {
        questions.pay()?;
        let others =
            formulas.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, &formula)| formula);
        let assumptions: Vec<Term> = others.chain([run.store.not(formulas[at])]).collect();
        if !run.is_satisfiable(&mut solver, &assumptions)? {
            formulas.remove(at);
        }
    }
    Ok(formulas)
}

#[cfg(test)]
mod tests {
    use shofar_horn::parse;
    use shofar_testing::Random;
    use shofar_testing::systems::{self, Shape};

    use super::*;

    /// The union of all inductive subsets, by trying all of them.
    fn union_of_inductive(questions: &mut Questions<'_>, candidates: &[Vec<Term>]) -> Vec<Vec<Term>> {
        let (store, graph) = (questions.run.store, questions.graph);
        let flat: Vec<(usize, Term)> = candidates
            .iter()
            .enumerate()
            .flat_map(|(node, candidates)| candidates.iter().map(move |&candidate| (node, candidate)))
            .collect();
        let mut union: BTreeSet<(usize, Term)> = BTreeSet::new();
        for subset in 0..1_u32 << flat.len() {
            let chosen = |node: NodeId| -> Vec<Term> {
                let all = flat.iter().enumerate();
                let chosen = all.filter(|(at, (of, _))| subset >> at & 1 == 1 && *of == node.index());
                chosen.map(|(_, &(_, candidate))| candidate).collect()
            };
            let is_inductive = graph.edges().all(|(edge, content)| {
                let Some(target) = content.target() else { return true };
                let sources = content.sources().iter().enumerate();
                let mut assumptions: Vec<Term> = sources
                    .flat_map(|(at, &node)| {
                        chosen(node).into_iter().map(move |formula| graph.at_source(store, edge, at, formula))
                    })
                    .collect();
                let head = store
                    .and_of(chosen(target).into_iter().map(|formula| graph.at_target(store, edge, formula)));
                assumptions.push(store.not(head));
                questions.left += 1;
                !questions.holds(edge, &assumptions).expect("nothing limits the question")
            });
            if is_inductive {
                let chosen = flat.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1);
                union.extend(chosen.map(|(_, &candidate)| candidate));
            }
        }
        let of_node = |node: usize| {
            candidates[node].iter().copied().filter(|&formula| union.contains(&(node, formula))).collect()
        };
        (0..candidates.len()).map(of_node).collect()
    }

    #[test]
    fn what_is_left_is_the_largest_inductive_subset() {
        let shape = Shape { predicates: 2, arity: 2, rules: 5, body: 2, greatest: 2, bounds_bodies: true };
        let (mut lost, mut left) = (0, 0);
        for seed in 0..60 {
            let random = &mut Random::new(seed);
            let text = systems::system(random, &shape);
            let store = TermStore::new();
            let system = parse(&store, "test", text.as_bytes()).expect("the test's clauses are right");
            let graph = HornGraph::of(&store, &system);
            let run = Run::new(&store);
            let mut questions = Questions::new(&run, &graph);
            let mut of_node = |(_, node): (NodeId, &Node)| -> Vec<Term> {
                let mut formulas = Vec::new();
                let numbers: Vec<Term> = node
                    .variables()
                    .iter()
                    .copied()
                    .filter(|&variable| store.sort_of(variable) == Sort::INT)
                    .collect();
                for &variable in &numbers {
                    let bound = store.le(variable, store.int(random.below(2) as i64));
                    formulas.push(if random.one_in(2) { bound } else { store.not(bound) });
                }
                if let [x, y, ..] = *numbers {
                    formulas.push(store.le(x, y));
                }
                formulas
            };
            let candidates: Vec<Vec<Term>> = graph.nodes().map(&mut of_node).collect();
            let expected = union_of_inductive(&mut questions, &candidates);
            let count = |all: &[Vec<Term>]| all.iter().map(Vec::len).sum::<usize>();
            lost += count(&candidates) - count(&expected);
            left += count(&expected);
            let found = largest_inductive(&mut questions, candidates).expect("nothing limits it");
            assert_eq!(found, expected, "seed {seed}:\n{text}");
        }
        assert!(lost > 20 && left > 20, "{lost} lost, {left} left");
    }
}
