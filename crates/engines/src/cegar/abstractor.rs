//! The abstractor: builds the abstract reachability graph for a precision.
//!
//! ```text
//! check        while a node n is open:  close n; if n is not covered, expand n
//!              a target: unsafe; no open node: safe
//! close n      a node of the same location whose label n's label implies covers n
//! expand n     for each edge: add the successors, unless a child by the same edge contains them
//! ```

use shofar_run::Stop;

use super::arg::{AbstractState, Arg, ArgNodeId, is_subset};
use super::domain::Domain;
use super::precision::Precision;
use super::program::Program;
use crate::Run;

/// The result of a check.
pub(super) enum Abstraction {
    /// The graph is complete and has no target.
    Safe,
    /// The graph has this target.
    Unsafe(ArgNodeId),
}

/// The abstractor.
pub(super) struct Abstractor<'a> {
    run: &'a Run<'a>,
    program: &'a Program<'a>,
    pub(super) domain: Box<dyn Domain + 'a>,
}

impl<'a> Abstractor<'a> {
    pub(super) fn new(run: &'a Run<'a>, program: &'a Program<'a>, domain: Box<dyn Domain + 'a>) -> Self {
        Abstractor { run, program, domain }
    }

    /// Completes the graph, up to the first target.
    pub(super) fn check(
        &mut self,
        arg: &mut Arg<'_>,
        precision: &Precision<'_>,
    ) -> Result<Abstraction, Stop> {
        while arg.target().is_none() {
            let Some(node) = arg.next_open() else { return Ok(Abstraction::Safe) };
            self.run.go_on()?;
            self.close(arg, node)?;
            if !arg.is_covered(node) {
                self.expand(arg, node, precision)?;
            }
        }
        Ok(arg.target().map_or(Abstraction::Safe, Abstraction::Unsafe))
    }

    /// Lets another node cover a leaf if labels permit. The solver is asked only if no label is a part of the leaf's.
    fn close(&mut self, arg: &mut Arg<'_>, node: ArgNodeId) -> Result<(), Stop> {
        if !arg.is_leaf(node) {
            return Ok(());
        }
        let candidates = arg.candidates(node);
        let is_part = |&&other: &&ArgNodeId| is_subset(&arg[other].state.label, &arg[node].state.label);
        if let Some(&other) = candidates.iter().find(is_part) {
            arg.cover(node, other);
            return Ok(());
        }
        for other in candidates {
            if self.contains(arg, other, node)? {
                arg.cover(node, other);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether a node's state contains that of another one.
    fn contains(&mut self, arg: &mut Arg<'_>, larger: ArgNodeId, smaller: ArgNodeId) -> Result<bool, Stop> {
        let mut state = AbstractState {
            label: std::mem::take(&mut arg[smaller].state.label),
            example: arg[smaller].state.example.take(),
        };
        let contains = self.domain.contains(&arg[larger].state, &mut state);
        arg[smaller].state = state;
        contains
    }

    /// Adds the successors of a node, up to the first target.
    fn expand(&mut self, arg: &mut Arg<'_>, node: ArgNodeId, precision: &Precision<'_>) -> Result<(), Stop> {
        while arg.target().is_none()
            && let Some(edge) = arg.next_edge(node)
        {
            let location = self.program.cfa.edge(edge).target;
            let tracked = precision.at(location);
            let states = self.domain.post(&arg[node].state, edge, tracked)?;
            for mut state in states {
                let mut is_contained = false;
                let children: Vec<ArgNodeId> = arg.children(node, edge).collect();
                for child in children {
                    is_contained = is_contained || self.domain.contains(&arg[child].state, &mut state)?;
                }
                if !is_contained {
                    arg.add(location, state, tracked.len(), Some((node, edge)));
                }
            }
        }
        Ok(())
    }
}
