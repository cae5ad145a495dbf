//! Refutations of systems: ground derivations of `false`.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, Op, Term, TermStore, Value};
use shofar_run::Stop;

use crate::Context;
use crate::ground;
use crate::quantifiers::without_quantifiers;
use crate::system::{Atom, Clause, HornSystem};
use crate::witness::Derivation;

/// A ground instance of a clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The index of the clause in the system.
    pub clause: usize,
    /// Values for the variables of the clause.
    pub instantiation: Box<[Value]>,
    /// The steps that derive the atoms of the body, in order.
    pub premises: Box<[usize]>,
    /// The arguments of the head; empty for a query.
    pub fact: Box<[Value]>,
}

/// A refutation of a system: steps in topological order, the last one by a query. It is a shared DAG without duplicate
/// steps.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Refutation {
    /// The steps. Premises precede the steps that use them.
    pub steps: Vec<Step>,
}

impl Refutation {
    /// The refutation of a system from a derivation in [its graph](crate::HornGraph::of). The values of the clauses'
    /// variables are read off the facts; the solver finds the others.
    pub fn of_graph(
        context: &Context<'_>,
        system: &HornSystem,
        derivation: Derivation,
    ) -> Result<Self, Stop> {
        let mut steps: Vec<Step> = Vec::with_capacity(derivation.steps.len());
        // The constraints of clauses without quantifiers, as far as they were needed.
        let mut constraints: FxHashMap<usize, Term> = FxHashMap::default();
        for step in derivation.steps {
            context.go_on()?;
            let number = step.edge.index();
            let clause = system
                .clauses
                .get(number)
                .ok_or_else(|| Stop::Internal("the derivation is of another system".to_owned()))?;
            let mut facts: Vec<&[Value]> = Vec::with_capacity(step.premises.len() + 1);
            for &premise in &step.premises {
                let earlier = steps.get(premise);
                let wrong = || Stop::Internal("a premise is not an earlier step".to_owned());
                facts.push(&earlier.ok_or_else(wrong)?.fact);
            }
            facts.push(&step.fact);
            let constraint = || match constraints.entry(number) {
                Entry::Occupied(known) => Ok(*known.get()),
                Entry::Vacant(new) => Ok(*new.insert(without_quantifiers(context, clause.constraint)?)),
            };
            let instantiation = instantiation(context, clause, constraint, &facts)?;
            steps.push(Step { clause: number, instantiation, premises: step.premises, fact: step.fact });
        }
        Ok(Refutation { steps })
    }
}

/// Values for the variables of a clause whose atoms, the head last, are the given facts. `constraint` gives its constraint without
/// quantifiers.
fn instantiation(
    context: &Context<'_>,
    clause: &Clause,
    constraint: impl FnOnce() -> Result<Term, Stop>,
    facts: &[&[Value]],
) -> Result<Box<[Value]>, Stop> {
    let store = context.store;
    let mut known = Assignment::new();
    let mut others: Vec<(Term, &Value)> = Vec::new();
    for (atom, fact) in atoms(clause).zip(facts) {
        for (&arg, value) in atom.args.iter().zip(*fact) {
            match store.op(arg) {
                Op::Var(_) if known.get(arg).is_none() => known.set(arg, value.clone()),
                Op::Var(_) => {}
                _ => others.push((arg, value)),
            }
        }
    }
    let is_known = |variable: &Term| known.get(*variable).is_some();
    if !clause.variables.iter().all(is_known) {
        let equations = others.iter().map(|&(arg, value)| equation(store, arg, value));
        let formula = store.and_of([constraint()?].into_iter().chain(equations));
        let given =
            clause.variables.iter().filter_map(|&variable| Some((variable, known.get(variable)?.clone())));
        return Ok(ground::complete(context, formula, given, &clause.variables)?.into());
    }
    Ok(clause.variables.iter().filter_map(|&variable| known.get(variable).cloned()).collect())
}

fn atoms(clause: &Clause) -> impl Iterator<Item = &Atom> {
    clause.body.iter().chain(&clause.head)
}

fn equation(store: &TermStore, arg: Term, value: &Value) -> Term {
    store.app(Op::Eq, &[arg, store.value_to_term(value)]).unwrap_or(Term::FALSE)
}
