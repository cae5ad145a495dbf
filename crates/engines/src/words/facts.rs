//! Facts with variables, from the bottom up.
//!
//! A fact is a vector of arguments with a constraint: all its instances that satisfy the constraint are derivable. A clause is
//! applied to facts by solving the equations of its label, so facts stay as general as the clauses allow:
//!
//! ```text
//! app(nil, x, x)    app(cons(a, nil), x, cons(a, x))    app(cons(a, cons(b, nil)), x, cons(a, cons(b, x)))
//! ```
//!
//! An equation that holds of these three facts holds of infinitely many ground ones. The number of facts is limited; they are
//! examples to learn from, and prove nothing.

use rustc_hash::FxHashMap;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::transform::solve_equations;
use shofar_horn::{Context, HornGraph};
use shofar_logic::{Op, Sort, Substitution, Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

/// Rounds in which all clauses are applied.
const ROUNDS: usize = 7;

/// Facts of a predicate, and those that one round may add.
const MOST_FACTS: usize = 24;
const MOST_NEW: usize = 8;

/// Choices of facts for the body of a clause in one round, and those that are considered.
const MOST_APPLIED: usize = 60;
const MOST_CHOICES: usize = 4000;

/// Cases of a label.
const MOST_CASES: usize = 24;

/// Subterms of the arguments of a fact.
const MOST_SUBTERMS: usize = 300;

/// The conflict limit of a query whether a constraint can be true.
const CONFLICTS: u64 = 100;

/// Derivable arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fact {
    pub(crate) arguments: Vec<Term>,
    pub(crate) constraint: Term,
}

/// Some facts of each node.
pub(crate) fn facts(context: &Context<'_>, graph: &HornGraph) -> Result<Vec<Vec<Fact>>, Stop> {
    let mut derivation = Derivation {
        context,
        graph,
        names: FxHashMap::default(),
        facts: vec![Vec::new(); graph.nodes().len()],
        known: vec![0; graph.nodes().len()],
    };
    let rules: Vec<(EdgeId, NodeId, Vec<Term>)> = graph
        .edges()
        .filter_map(|(id, edge)| Some((id, edge.target()?, cases(context.store, edge.label()))))
        .collect();
    for round in 0..ROUNDS {
        let before: Vec<usize> = derivation.facts.iter().map(Vec::len).collect();
        for (edge, node, cases) in &rules {
            for choice in derivation.choices(*edge, round) {
                for &case in cases {
                    context.go_on()?;
                    let limit = MOST_FACTS.min(before[node.index()] + MOST_NEW);
                    if derivation.facts[node.index()].len() < limit {
                        derivation.apply(*edge, *node, case, &choice);
                    }
                }
            }
        }
        let is_closed = derivation.facts.iter().zip(&before).all(|(facts, &before)| facts.len() == before);
        derivation.known = before;
        if is_closed {
            break;
        }
    }
    Ok(derivation.facts)
}

/// The cases of a label: its disjunctions, distributed. With too many of them, the rest stays as it is.
pub(super) fn cases(store: &TermStore, label: Term) -> Vec<Term> {
    let mut open = vec![label];
    let mut closed = Vec::new();
    while let Some(case) = open.pop() {
        let conjuncts: Vec<Term> = store.conjuncts(case).collect();
        let is_or = |&conjunct: &Term| store.op(conjunct) == Op::Or;
        match conjuncts.iter().position(is_or) {
            Some(position) if open.len() + closed.len() < MOST_CASES => {
                let mut others = conjuncts;
                let disjunction = others.remove(position);
                let rest = store.and(&others);
                open.extend(store.disjuncts(disjunction).map(|disjunct| store.and2(rest, disjunct)));
            }
            _ => closed.push(case),
        }
    }
    closed.retain(|&case| case != Term::FALSE);
    closed.reverse();
    closed
}

struct Derivation<'a> {
    context: &'a Context<'a>,
    graph: &'a HornGraph,
    /// The variables of facts: of the fact itself, and of its copies for the sources of a clause.
    names: FxHashMap<(usize, Sort, usize), Term>,
    /// Indexed by node.
    facts: Vec<Vec<Fact>>,
    /// The number of facts of each node before the last round.
    known: Vec<usize>,
}

impl Derivation<'_> {
    /// Facts for the sources of an edge, at least one of them new, small numbers first.
    fn choices(&self, edge: EdgeId, round: usize) -> Vec<Vec<usize>> {
        let sources = self.graph.edge(edge).sources();
        if sources.is_empty() {
            return if round == 0 { vec![Vec::new()] } else { Vec::new() };
        }
        let is_too_many = |count: &usize| {
            let choices = (0..sources.len()).try_fold(1_usize, |choices, _| choices.checked_mul(*count));
            choices.is_none_or(|choices| choices > MOST_CHOICES)
        };
        let most = (2..=MOST_CHOICES).find(is_too_many).map_or(MOST_CHOICES, |count| count - 1);
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for source in sources {
            let count = self.facts[source.index()].len().min(most.max(2));
            let extended = choices.iter().flat_map(|choice| {
                (0..count).map(move |fact| choice.iter().copied().chain([fact]).collect::<Vec<usize>>())
            });
            choices = extended.take(MOST_CHOICES).collect();
        }
        let is_new = |choice: &Vec<usize>| {
            choice.iter().zip(sources).any(|(&fact, source)| fact >= self.known[source.index()])
        };
        choices.retain(is_new);
        choices.sort_by_key(|choice| choice.iter().sum::<usize>());
        choices.truncate(MOST_APPLIED);
        choices
    }

    /// Applies a case of a clause to facts.
    fn apply(&mut self, edge: EdgeId, node: NodeId, case: Term, choice: &[usize]) {
        let (store, graph) = (self.context.store, self.graph);
        let mut substitution = Substitution::new();
        let mut constraints: Vec<Term> = Vec::new();
        for (source, (&of, &fact)) in graph.edge(edge).sources().iter().zip(choice).enumerate() {
            let Fact { arguments, constraint } = self.facts[of.index()][fact].clone();
            let terms: Vec<Term> = arguments.iter().copied().chain([constraint]).collect();
            let renamed = self.renamed(source + 1, &terms);
            let (&constraint, arguments) = renamed.split_last().expect("there is a constraint");
            constraints.push(constraint);
            for (&variable, &argument) in graph.source_variables(edge, source).iter().zip(arguments) {
                substitution.insert(variable, argument);
            }
        }
        constraints.push(store.instantiate(case, &substitution));
        let solved = solve_equations(store, store.and(&constraints), |_| Some(0));
        if solved.rest.contains(&Term::FALSE) {
            return;
        }
        let constraint = store.and(&solved.rest);
        let definitions: Substitution = solved.definitions.into_iter().collect();
        let arguments = store.instantiate_all(graph.target_variables(edge), &definitions);
        let terms: Vec<Term> = arguments.into_iter().chain([constraint]).collect();
        if store.subterms(&terms).len() > MOST_SUBTERMS {
            return;
        }
        let mut terms = self.renamed(0, &terms);
        let constraint = terms.pop().expect("there is a constraint");
        let fact = Fact { arguments: terms, constraint };
        if !self.facts[node.index()].contains(&fact) && self.is_possible(constraint) {
            self.facts[node.index()].push(fact);
        }
    }

    /// Terms with the variables of a copy, in the order of their occurrence.
    fn renamed(&mut self, copy: usize, terms: &[Term]) -> Vec<Term> {
        let store = self.context.store;
        let mut counts: FxHashMap<Sort, usize> = FxHashMap::default();
        let mut renaming = Substitution::new();
        for variable in store.free_vars(terms) {
            let sort = store.sort_of(variable);
            let count = counts.entry(sort).or_default();
            let name = self.names.entry((copy, sort, *count));
            renaming.insert(variable, *name.or_insert_with(|| store.var(store.fresh_symbol("fact"), sort)));
            *count += 1;
        }
        store.instantiate_all(terms, &renaming)
    }

    fn is_possible(&self, constraint: Term) -> bool {
        if constraint == Term::TRUE {
            return true;
        }
        let mut solver = Solver::new(self.context.store);
        let limits = Limits { conflicts: Some(CONFLICTS), ..self.context.limits };
        solver.assert_all(&[constraint]).is_ok() && matches!(solver.check(&[], &limits), Ok(Outcome::Sat))
    }
}
