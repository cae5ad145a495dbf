//! Unfolding: a program with procedures as one without, for stacks of a limited height.
//!
//! A location of the unfolding is a *stack of locations*: where the program is, and where it goes on after each return. Each
//! activation has instances of its own of the procedure's variables. They belong to the stack and not to a run, so that
//! formulas about them keep their meaning.
//!
//! | edge | unfolding |
//! |---|---|
//! | statements | the same over the instances |
//! | a call | pushes the callee's entry; assigns the arguments to the instances of its parameters |
//! | into an exit | pops, as long as an exit is on top |
//!
//! - U1: the live variables of a stack are those of all its locations.
//! - U2: procedures have no cycles, so neither has the unfolding.
//! - U3: the runs of the unfolding are those of the program, as long as no stack is higher than the limit.
//!
//! M. Somorjai, "Abstraction Based Techniques for Constrained Horn Clause Solving" (BME, 2022), Section 5.2, makes stacks and
//! instances during the search. The program is the same; here it is one that all searches can run.

use rustc_hash::FxHashMap;
use shofar_logic::{Substitution, Term, Value};
use shofar_run::Stop;

use super::run::wrong;
use super::{Automaton, Builder, Cfa, CfaEdgeId, LocationId, Statement};
use crate::Context;

/// What becomes of calls that would exceed the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooDeep {
    /// They do not return.
    Block,
    /// They lead to the error location.
    Error,
}

/// A step of a run: an edge and the values of the live variables after it.
type Step = (CfaEdgeId, Box<[Value]>);

/// A program with procedures, unfolded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfolding {
    /// The program without calls.
    pub cfa: Cfa,
    /// Whether no call exceeds the limit.
    pub is_complete: bool,
    /// Indexed by edge of the unfolding: the edge it was made of, and the instances of the variables of that edge's target.
    origins: Vec<(CfaEdgeId, Box<[Term]>)>,
}

impl Unfolding {
    /// The run of the original program, from a run of the unfolding without a call that is too deep.
    pub fn fold(&self, run: &[Step]) -> Result<Vec<Step>, Stop> {
        let mut values: FxHashMap<Term, &Value> = FxHashMap::default();
        let mut folded = Vec::with_capacity(run.len());
        for (edge, after) in run {
            let target = self.cfa.location(self.cfa.edge(*edge).target);
            values.extend(target.variables.iter().copied().zip(after));
            let (origin, variables) = &self.origins[edge.index()];
            let value = |variable: &Term| values.get(variable).map(|&value| value.clone());
            let after = variables.iter().map(value).collect::<Option<_>>();
            folded.push((*origin, after.ok_or_else(|| wrong("a run without the value of a live variable"))?));
        }
        Ok(folded)
    }
}

/// Unfolds procedures; the stack has at most `height` activations besides that of `main`.
pub fn unfold(
    context: &Context<'_>,
    automaton: &Automaton,
    height: usize,
    too_deep: TooDeep,
) -> Result<Unfolding, Stop> {
    let cfa = &automaton.cfa;
    let mut unfolder = Unfolder {
        automaton,
        builder: Builder::new(context.store),
        activations: vec![Activation { caller: None, height: 0, instances: FxHashMap::default() }],
        places: FxHashMap::default(),
        open: vec![(0, cfa.entry())],
    };
    unfolder.places.insert((0, cfa.entry()), unfolder.builder.cfa.entry());
    let (mut origins, mut is_complete) = (Vec::new(), true);
    while let Some((activation, location)) = unfolder.open.pop() {
        context.go_on()?;
        let source = unfolder.place(activation, location);
        for &id in cfa.outgoing(location) {
            let edge = cfa.edge(id);
            let (statements, target) = match &*edge.statements {
                [Statement::Call(..)] if unfolder.activations[activation].height == height => {
                    is_complete = false;
                    if too_deep == TooDeep::Block {
                        continue;
                    }
                    (Vec::new(), unfolder.builder.cfa.error())
                }
                [Statement::Call(callee, arguments)] => {
                    let callee = cfa.procedure(*callee);
                    let arguments = arguments.iter().map(|&term| unfolder.renamed(activation, term));
                    let arguments: Vec<Term> = arguments.collect();
                    let inner = unfolder.activate(activation, edge.target);
                    let parameters = callee.parameters.iter().map(|&it| unfolder.instance(inner, it));
                    let assignment: Vec<(Term, Term)> = parameters.zip(arguments).collect();
                    let assignment = (!assignment.is_empty()).then(|| Statement::Assign(assignment.into()));
                    (assignment.into_iter().collect(), unfolder.place(inner, callee.entry))
                }
                statements => {
                    let renamed = statements.iter().map(|it| unfolder.renamed_statement(activation, it));
                    (renamed.collect(), unfolder.place(activation, edge.target))
                }
            };
            let variables = &cfa.location(edge.target).variables;
            let variables = variables.iter().map(|&it| unfolder.instance(activation, it)).collect();
            origins.push((id, variables));
            unfolder.builder.add_edge(automaton.clause(id), source, target, statements);
        }
    }
    debug_assert_eq!(unfolder.builder.cfa.check_invariants(context.store), Ok(()));
    Ok(Unfolding { cfa: unfolder.builder.cfa, is_complete, origins })
}

/// An activation of a procedure.
struct Activation {
    /// The activation of the caller, and where it goes on.
    caller: Option<(usize, LocationId)>,
    /// How many activations are below.
    height: usize,
    instances: FxHashMap<Term, Term>,
}

struct Unfolder<'a> {
    automaton: &'a Automaton,
    builder: Builder<'a>,
    /// The first one is that of `main`, which has the variables themselves.
    activations: Vec<Activation>,
    places: FxHashMap<(usize, LocationId), LocationId>,
    /// The locations whose edges are to be unfolded.
    open: Vec<(usize, LocationId)>,
}

impl Unfolder<'_> {
    /// A new activation, by a call that goes on at a location.
    fn activate(&mut self, caller: usize, after: LocationId) -> usize {
        let height = self.activations[caller].height + 1;
        let instances = FxHashMap::default();
        self.activations.push(Activation { caller: Some((caller, after)), height, instances });
        self.activations.len() - 1
    }

    /// The location of the unfolding for one of an activation. Exits return.
    fn place(&mut self, mut activation: usize, mut location: LocationId) -> LocationId {
        let cfa = &self.automaton.cfa;
        while let Some((caller, after)) = self.activations[activation].caller
            && cfa.procedure(cfa.location(location).procedure).exit == Some(location)
        {
            (activation, location) = (caller, after);
        }
        if location == cfa.error() {
            return self.builder.cfa.error();
        }
        if let Some(&known) = self.places.get(&(activation, location)) {
            return known;
        }
        let mut variables = Vec::new();
        let mut frame = Some((activation, location));
        while let Some((of, at)) = frame {
            variables.extend(cfa.location(at).variables.iter().map(|&it| self.instance(of, it)));
            frame = self.activations[of].caller;
        }
        let main = self.builder.cfa.main();
        let place = self.builder.add_location(&cfa.location(location).name, main, &variables);
        self.places.insert((activation, location), place);
        self.open.push((activation, location));
        place
    }

    /// The instance of a variable in an activation.
    fn instance(&mut self, activation: usize, variable: Term) -> Term {
        if activation == 0 {
            return variable;
        }
        let store = self.builder.store;
        let fresh = || store.var(store.fresh_symbol("instance"), store.sort_of(variable));
        *self.activations[activation].instances.entry(variable).or_insert_with(fresh)
    }

    fn renamed(&mut self, activation: usize, term: Term) -> Term {
        let store = self.builder.store;
        let variables = store.free_vars(&[term]);
        let renaming: Substitution =
            variables.into_iter().map(|variable| (variable, self.instance(activation, variable))).collect();
        store.instantiate(term, &renaming)
    }

    fn renamed_statement(&mut self, activation: usize, statement: &Statement) -> Statement {
        match statement {
            Statement::Havoc(variables) => {
                Statement::Havoc(variables.iter().map(|&it| self.instance(activation, it)).collect())
            }
            Statement::Assume(condition) => Statement::Assume(self.renamed(activation, *condition)),
            Statement::Assign(assignments) => {
                let mut renamed = |&(variable, term): &(Term, Term)| {
                    (self.instance(activation, variable), self.renamed(activation, term))
                };
                Statement::Assign(assignments.iter().map(&mut renamed).collect())
            }
            Statement::Call(callee, arguments) => {
                let renamed = arguments.iter().map(|&term| self.renamed(activation, term)).collect();
                Statement::Call(*callee, renamed)
            }
        }
    }
}
