//! Procedures: all clauses, nonlinear ones included, as programs with calls.
//!
//! A predicate `P` is a procedure with its arguments as parameters. It returns exactly if its arguments are a derivable fact.
//! A clause is a path:
//!
//! | clause | path |
//! |---|---|
//! | `Q(s), R(t), guard -> P(x)` | `P.entry` to `P.1`: `havoc locals; assume guard`; to `P.2`: `Q(s)`; to `P.exit`: `R(t)` |
//! | `guard -> P(x)` | `P.entry` to `P.exit`: `havoc locals; assume guard` |
//! | `Q(s), R(t), guard -> false` | the first path, in `main`, from `entry` to `error` |
//! | `guard -> false` | `entry` to `error`: `havoc locals; assume guard` |
//!
//! - R1: `P` returns for some arguments exactly if they are a derivable fact of `P`: by induction on the number of executed
//!   edges, or on the size of the derivation.
//! - R2: a procedure with no feasible path blocks. It never returns a refusal, so there is no result to test.
//! - R3: at the locations of a path the parameters and the variables of later calls are live.
//!
//! M. Somorjai, "Abstraction Based Techniques for Constrained Horn Clause Solving" (BME, 2022), Section 4.3, after the
//! translation to Boogie of Unihorn (Ultimate). There, each procedure has a Boolean result that is always true (R2), each
//! query is a program of its own, and the formal rules leave out the arguments of heads and the locals. The thesis negates
//! the values of calls to get a model, which is wrong if procedures return in a safe program, as they do for nonlinear
//! clauses; see [`Automaton::model_of_contexts`].

use rustc_hash::FxHashSet;
use shofar_logic::{Substitution, Term, TermStore, Value};
use shofar_run::Stop;

use super::block::Block;
use super::run::{Steps, follow, wrong};
use super::{Automaton, Builder, CfaEdgeId, Direction, LocationId, ProcedureId, Statement};
use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::witness::Derivation;

/// The automaton with a procedure for each predicate.
pub fn procedures(store: &TermStore, graph: &HornGraph) -> Automaton {
    let mut builder = Builder::new(store);
    let mut places = Vec::with_capacity(graph.nodes().len());
    for (_, node) in graph.nodes() {
        let procedure = builder.add_procedure(store.name(node.name), node.variables());
        places.push(builder.cfa.procedure(procedure).entry);
    }
    // The number of locations in the paths of each procedure so far.
    let mut numbers = vec![0; builder.cfa.procedures.len()];
    for (id, edge) in graph.edges() {
        let procedure = edge.target().map_or(builder.cfa.main(), |node| ProcedureId::new(node.index() + 1));
        let block = renamed_block(store, graph, id);
        let calls = calls(graph, id, &block);
        let live = live_variables(store, &builder.cfa.procedure(procedure).parameters, &calls);
        let content = builder.cfa.procedure(procedure);
        let (name, mut source) = (content.name.clone(), content.entry);
        let end = content.exit.unwrap_or(builder.cfa.error());
        let statements = std::iter::once(block.head()).chain(calls.into_iter().map(|call| vec![call]));
        let last = live.len() - 1;
        for (position, (statements, live)) in statements.zip(live).enumerate() {
            let target = if position == last {
                end
            } else {
                let number = &mut numbers[procedure.index()];
                *number += 1;
                builder.add_location(&format!("{name}.{number}"), procedure, &live)
            };
            builder.add_edge(id, source, target, statements);
            source = target;
        }
    }
    builder.finish(Direction::Procedures, places)
}

/// The block of a clause that computes the arguments of its body from those of its head, over variables of the head's
/// procedure (C1): its parameters, locals, and fresh variables for unknown arguments.
fn renamed_block(store: &TermStore, graph: &HornGraph, id: EdgeId) -> Block {
    let edge = graph.edge(id);
    let sources = 0..edge.sources().len();
    let arguments: Vec<Term> =
        sources.flat_map(|source| graph.source_variables(id, source)).copied().collect();
    let mut block = Block::of(store, edge.label(), graph.target_variables(id), &arguments);
    let mut renaming = Substitution::new();
    if let Some(node) = edge.target().map(|node| graph.node(node)) {
        for (&next, &parameter) in node.next().iter().zip(node.variables()) {
            renaming.insert(next, parameter);
        }
    }
    let is_argument: FxHashSet<Term> = arguments.into_iter().collect();
    for &unknown in block.unknown.iter().filter(|unknown| is_argument.contains(unknown)) {
        let fresh = store.var(store.fresh_symbol("argument"), store.sort_of(unknown));
        renaming.insert(unknown, fresh);
    }
    block.rename(store, &renaming);
    block
}

/// The calls of a clause, in the order of its body.
fn calls(graph: &HornGraph, id: EdgeId, block: &Block) -> Vec<Statement> {
    let mut values = block.values.iter().copied();
    let call = |node: &NodeId| {
        let arguments = values.by_ref().take(graph.node(*node).arity()).collect();
        Statement::Call(ProcedureId::new(node.index() + 1), arguments)
    };
    graph.edge(id).sources().iter().map(call).collect()
}

/// The live variables after the guard and after each call (R3).
fn live_variables(store: &TermStore, parameters: &[Term], calls: &[Statement]) -> Vec<Vec<Term>> {
    let is_parameter: FxHashSet<Term> = parameters.iter().copied().collect();
    let after = |position: usize| {
        let later: Vec<Term> = calls[position..].iter().flat_map(Statement::terms).collect();
        let others = store.free_vars(&later).into_iter().filter(|variable| !is_parameter.contains(variable));
        parameters.iter().copied().chain(others).collect()
    };
    (0..=calls.len()).map(after).collect()
}

/// An activation of a procedure.
struct Frame {
    location: LocationId,
    /// The edge that has led to the location, with the values there.
    arrival: Option<(CfaEdgeId, Box<[Value]>)>,
    /// The steps that derive the facts of its calls.
    premises: Vec<usize>,
}

impl Frame {
    fn start(location: LocationId) -> Self {
        Frame { location, arrival: None, premises: Vec::new() }
    }
}

/// Each return is a step, and so is the arrival at the error location. The values of the parameters at the exit are the
/// derived fact.
pub(super) fn derivation(
    automaton: &Automaton,
    context: &Context<'_>,
    graph: &HornGraph,
    run: &[(CfaEdgeId, Box<[Value]>)],
) -> Result<Derivation, Stop> {
    let cfa = &automaton.cfa;
    let is_end = |location: LocationId| {
        location == cfa.error() || cfa.procedure(cfa.location(location).procedure).exit == Some(location)
    };
    let mut steps = Steps::new(graph);
    let mut stack = vec![Frame::start(cfa.entry())];
    for (edge, values) in run {
        context.go_on()?;
        let Some(frame) = stack.last_mut() else {
            return Err(wrong("a run goes on after the error location"));
        };
        frame.location = follow(cfa, frame.location, *edge, values)?;
        frame.arrival = Some((*edge, values.clone()));
        if let [Statement::Call(callee, _)] = &*cfa.edge(*edge).statements {
            stack.push(Frame::start(cfa.procedure(*callee).entry));
        }
        // A return ends the caller, too, if the call was its last one.
        while let Some(frame) = stack.pop_if(|frame| is_end(frame.location)) {
            let Some((edge, values)) = frame.arrival else { return Err(wrong("a run ends where it starts")) };
            let step = steps.add(automaton.clause(edge), &frame.premises, &values)?;
            if let Some(caller) = stack.last_mut() {
                caller.premises.push(step);
            }
        }
    }
    if !stack.is_empty() {
        return Err(wrong("a run ends before the error location"));
    }
    steps.finish()
}
