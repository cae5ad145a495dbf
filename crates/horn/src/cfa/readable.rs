//! Automata for people: names as in the clauses, and assignments one by one.
//!
//! ```text
//! havoc z!7; assume z!7 > 0; P.0!2, P.1!3 := P.1!3 + 1, z!7 + 1         havoc z; assume z > 0; x := y + 1; y := z + 1
//! ```
//!
//! - *Variables* of predicates have the names of [`parameters`]. Those of two predicates may have the same name. So locations
//!   share variables, as in a program: only the live ones have values (C2), and a location's live variables have different
//!   names. Havocked variables have the name of the variable or the parameter that gets their value, or their own one, unless
//!   the edge still needs another variable of this name.
//! - *Assignments* of variables to themselves are left out. The others are ordered so that each term is read before its
//!   variables are written. Assignments in a cycle, as in `x, y := y, x`, stay simultaneous (C3).
//! - *Terms* are written as in models, not normal (C6 does not hold).
//!
//! Variables of different procedures may have the same name, so C1 holds only by the scope of procedures.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Substitution, Symbol, Term, TermStore};

use super::{Automaton, Cfa, CfaEdge, Statement};
use crate::graph::HornGraph;
use crate::system::HornSystem;
use crate::witness::{FreeNames, parameters, written};

impl Automaton {
    /// The automaton for people. Its graph is that of the system: nodes are the system's predicates.
    pub fn readable(&self, store: &TermStore, graph: &HornGraph, system: &HornSystem) -> Cfa {
        let mut names = FxHashMap::default();
        for ((_, node), parameters) in graph.nodes().zip(parameters(store, system)) {
            names.extend(node.variables().iter().copied().zip(parameters));
        }
        let mut naming = Naming { store, automaton: self, free: FreeNames::new(store, system), names };
        let mut cfa = self.cfa.clone();
        for procedure in &mut cfa.procedures {
            procedure.parameters = naming.all(&procedure.parameters);
        }
        for (index, edge) in self.cfa.edges.iter().enumerate() {
            naming.name_unknown(index, edge);
            cfa.edges[index].statements = naming.statements(edge);
            // Locations inside of paths have the names of the only edge that leads there.
            let target = edge.target.index();
            cfa.locations[target].variables = naming.all(&self.cfa.locations[target].variables);
        }
        // Some locations are never entered.
        for (named, location) in cfa.locations.iter_mut().zip(&self.cfa.locations) {
            named.variables = naming.all(&location.variables);
        }
        cfa
    }
}

struct Naming<'a> {
    store: &'a TermStore,
    automaton: &'a Automaton,
    free: FreeNames<'a>,
    /// The variables with the names for people.
    names: FxHashMap<Term, Term>,
}

impl Naming<'_> {
    fn of(&self, variable: Term) -> Term {
        self.names.get(&variable).copied().unwrap_or(variable)
    }

    fn all(&self, variables: &[Term]) -> Box<[Term]> {
        variables.iter().map(|&variable| self.of(variable)).collect()
    }

    /// Names the variables that an edge havocs.
    fn name_unknown(&mut self, index: usize, edge: &CfaEdge) {
        let Some(Statement::Havoc(unknown)) = edge.statements.first() else { return };
        let mut used = self.used_names(edge);
        let wishes = self.wishes(index);
        let (wanted, others): (Vec<Term>, Vec<Term>) =
            unknown.iter().partition(|variable| wishes.contains_key(variable));
        for variable in wanted.into_iter().chain(others) {
            let stem = match wishes.get(&variable) {
                Some(&wish) => self.store.name(wish),
                None => stem(self.store.name(symbol(self.store, variable))),
            };
            let name = self.free.choose(Some(stem), "x", &mut used);
            self.names.insert(variable, self.store.var(name, self.store.sort_of(variable)));
        }
    }

    /// The names of the variables before an edge whose values the edge or its target still needs.
    fn used_names(&self, edge: &CfaEdge) -> FxHashSet<Symbol> {
        let cfa = &self.automaton.cfa;
        let terms: Vec<Term> = edge.statements.iter().flat_map(Statement::terms).collect();
        let written: FxHashSet<Term> = edge.statements.iter().flat_map(Statement::writes).collect();
        let read = self.store.free_vars(&terms);
        let kept = cfa.location(edge.target).variables.iter().filter(|variable| !written.contains(variable));
        let needed: FxHashSet<Term> = read.into_iter().chain(kept.copied()).collect();
        let before = cfa.location(edge.source).variables.iter().filter(|variable| needed.contains(variable));
        before.map(|&variable| symbol(self.store, self.of(variable))).collect()
    }

    /// The names of the variables or parameters that get the value of a variable in the path that starts with this edge.
    fn wishes(&self, index: usize) -> FxHashMap<Term, Symbol> {
        let cfa = &self.automaton.cfa;
        let mut wishes = FxHashMap::default();
        let mut wish = |parameter: Term, value: Term| {
            wishes.entry(value).or_insert_with(|| symbol(self.store, self.of(parameter)));
        };
        let clauses = &self.automaton.clauses;
        let path = (index..clauses.len()).take_while(|&edge| clauses[edge] == clauses[index]);
        for statement in path.flat_map(|edge| &cfa.edges[edge].statements) {
            match statement {
                Statement::Assign(assignments) => {
                    assignments.iter().for_each(|&(variable, value)| wish(variable, value));
                }
                Statement::Call(callee, arguments) => {
                    let parameters = cfa.procedure(*callee).parameters.iter();
                    parameters.zip(arguments).for_each(|(&parameter, &value)| wish(parameter, value));
                }
                Statement::Havoc(_) | Statement::Assume(_) => {}
            }
        }
        wishes
    }

    fn statements(&self, edge: &CfaEdge) -> Box<[Statement]> {
        let terms: Vec<Term> = edge.statements.iter().flat_map(Statement::terms).collect();
        let mut renaming = Substitution::new();
        for variable in self.store.free_vars(&terms) {
            renaming.insert(variable, self.of(variable));
        }
        let source = &self.automaton.cfa.location(edge.source).variables;
        let havocked = edge.statements.iter().flat_map(Statement::writes);
        let order: Vec<Term> = source.iter().copied().chain(havocked).map(|v| self.of(v)).collect();
        let mut terms = self.store.instantiate_all(&terms, &renaming).into_iter().map(|term| {
            if self.store.is_quantified(term) { term } else { written(self.store, &order, term) }
        });
        let mut next = || terms.next().expect("each statement has as many terms as before");
        let mut statements = Vec::new();
        for statement in &edge.statements {
            match statement {
                Statement::Havoc(variables) => statements.push(Statement::Havoc(self.all(variables))),
                Statement::Assume(_) => statements.push(Statement::Assume(next())),
                Statement::Assign(assignments) => {
                    let assignments = assignments.iter().map(|&(variable, _)| (self.of(variable), next()));
                    statements.extend(in_order(self.store, assignments.collect()));
                }
                Statement::Call(callee, arguments) => {
                    let arguments = arguments.iter().map(|_| next()).collect();
                    statements.push(Statement::Call(*callee, arguments));
                }
            }
        }
        statements.into()
    }
}

/// Simultaneous assignments one by one, as far as possible: a variable is written after all other terms that read it.
fn in_order(store: &TermStore, mut assignments: Vec<(Term, Term)>) -> Vec<Statement> {
    assignments.retain(|(variable, value)| variable != value);
    let writer: FxHashMap<Term, usize> =
        assignments.iter().enumerate().map(|(index, &(variable, _))| (variable, index)).collect();
    let reads: Vec<Vec<usize>> = (assignments.iter().enumerate())
        .map(|(index, &(_, value))| {
            let read =
                store.free_vars(&[value]).into_iter().filter_map(|variable| writer.get(&variable).copied());
            read.filter(|&other| other != index).collect()
        })
        .collect();
    // For each variable, the number of assignments that still have to read it.
    let mut readers = vec![0; assignments.len()];
    reads.iter().flatten().for_each(|&read| readers[read] += 1);
    let mut ready: BTreeSet<usize> = (0..assignments.len()).filter(|&index| readers[index] == 0).collect();
    let mut is_written = vec![false; assignments.len()];
    let mut statements = Vec::new();
    while let Some(index) = ready.pop_first() {
        is_written[index] = true;
        statements.push(Statement::Assign([assignments[index]].into()));
        for &read in &reads[index] {
            readers[read] -= 1;
            if readers[read] == 0 {
                ready.insert(read);
            }
        }
    }
    let cyclic: Box<[(Term, Term)]> =
        (0..assignments.len()).filter(|&index| !is_written[index]).map(|index| assignments[index]).collect();
    if !cyclic.is_empty() {
        statements.push(Statement::Assign(cyclic));
    }
    statements
}

fn symbol(store: &TermStore, variable: Term) -> Symbol {
    match store.op(variable) {
        Op::Var(symbol) => symbol,
        _ => panic!("automata write variables only"),
    }
}

/// The name that a fresh symbol was made of.
fn stem(name: &str) -> &str {
    match name.rsplit_once('!') {
        Some((stem, number)) if !stem.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use shofar_logic::Sort;

    use super::*;

    #[test]
    fn assignments_are_ordered_and_cycles_stay_simultaneous() {
        let store = TermStore::new();
        let [x, y, z, w] = ["x", "y", "z", "w"].map(|name| store.var(store.symbol(name), Sort::INT));
        let assign = |pairs: &[(Term, Term)]| Statement::Assign(pairs.into());
        assert_eq!(in_order(&store, vec![(x, y), (y, z), (z, z)]), [assign(&[(x, y)]), assign(&[(y, z)])]);
        assert_eq!(in_order(&store, vec![(y, z), (x, y)]), [assign(&[(x, y)]), assign(&[(y, z)])]);
        assert_eq!(
            in_order(&store, vec![(x, y), (y, x), (z, w), (w, x)]),
            [assign(&[(z, w)]), assign(&[(w, x)]), assign(&[(x, y), (y, x)])]
        );
        let next = store.add(&[x, store.int(1)]);
        assert_eq!(in_order(&store, vec![(x, next)]), [assign(&[(x, next)])]);
    }

    #[test]
    fn stems_are_names_without_the_number_of_a_fresh_symbol() {
        assert_eq!(["z!12", "z", "a!b", "!7", "a!1!2"].map(stem), ["z", "z", "a!b", "!7", "a!1"]);
    }
}
