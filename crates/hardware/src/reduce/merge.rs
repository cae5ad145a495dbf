//! Proves candidate equalities in one time frame, from the inputs up.
//!
//! The frame is built in a graph of its own, node by node. A node with a candidate is compared with it by a query; if
//! they are equal it is replaced, so that the nodes above are built from fewer gates and are often equal by hashing. A
//! counterexample splits the classes, and the node is compared with its next candidate.
//!
//! As all nodes below were compared before, replacing them is no assumption: the values of the frame are exact.
//!
//! A. Mishchenko, S. Chatterjee, R. Jiang, R. Brayton, "FRAIGs: A Unifying Representation for Logic Synthesis and
//! Verification" (ERL Technical Report, Berkeley 2005).

use shofar_run::{Limits, Reason};

use super::classes::Classes;
use super::cnf::Cnf;
use crate::aig::{Builder, Edge, Node};
use crate::system::BitSystem;

/// The conflicts that the comparison of two nodes may take.
const CONFLICTS: u64 = 100;

/// A graph with time frames of a system, and its clauses.
pub(super) struct Frames<'a> {
    pub(super) system: &'a BitSystem,
    pub(super) builder: Builder,
    pub(super) cnf: Cnf,
}

/// What a pass over a frame has shown.
pub(super) struct Pass {
    /// The number of nodes that were compared with their candidates: all, unless the limits interrupted the pass.
    pub(super) compared: usize,
    /// Whether all candidates were proved as they were.
    pub(super) is_stable: bool,
    /// Why the pass ended early.
    pub(super) interruption: Option<Reason>,
}

impl<'a> Frames<'a> {
    /// A graph without frames, with leaves that get the numbers from 1.
    pub(super) fn new(system: &'a BitSystem, leaves: usize) -> Self {
        Self { system, builder: Builder::with_leaves(leaves), cnf: Cnf::new() }
    }

    /// Builds a frame in which each node is assumed to be equal to its candidate. A leaf is just replaced: nothing else
    /// refers to it.
    pub(super) fn assume(
        &mut self,
        classes: &Classes,
        leaf: impl Fn(Node) -> Edge,
        limits: &Limits<'_>,
    ) -> Result<Vec<Edge>, Reason> {
        let mut map: Vec<Edge> = Vec::with_capacity(self.system.aig.len());
        for node in self.system.aig.nodes() {
            let edge = self.function(&map, node, &leaf);
            let edge = match classes.representative(node) {
                Some(other) => {
                    let other = image(&map, other);
                    if edge != other && self.system.aig.is_and(node) {
                        self.cnf.assert_equal(self.builder.aig(), edge, other, limits)?;
                    }
                    other
                }
                None => edge,
            };
            map.push(edge);
        }
        Ok(map)
    }

    /// Builds a frame and compares each node with its candidates. `refine` splits the classes by the last model.
    pub(super) fn compare(
        &mut self,
        classes: &mut Classes,
        leaf: impl Fn(Node) -> Edge,
        mut refine: impl FnMut(&Cnf, &mut Classes),
        limits: &Limits<'_>,
    ) -> Pass {
        let query = Limits { conflicts: Some(CONFLICTS), ..*limits };
        let mut map: Vec<Edge> = Vec::with_capacity(self.system.aig.len());
        let mut pass = Pass { compared: self.system.aig.len(), is_stable: true, interruption: None };
        let last = classes.last_member();
        for node in self.system.aig.nodes().take_while(|node| Some(*node) <= last) {
            let mut edge = self.function(&map, node, &leaf);
            while let Some(candidate) = classes.representative(node) {
                let other = image(&map, candidate);
                if edge == other {
                    break;
                }
                let answer = limits
                    .go_on()
                    .and_then(|()| self.cnf.can_differ(self.builder.aig(), edge, other, &query));
                let answer = answer.and_then(|differ| {
                    if !differ {
                        self.cnf.assert_equal(self.builder.aig(), edge, other, limits)?;
                    }
                    Ok(differ)
                });
                match answer {
                    Ok(false) => {
                        edge = other;
                        break;
                    }
                    Ok(true) => {
                        refine(&self.cnf, classes);
                        debug_assert_ne!(
                            classes.representative(node),
                            Some(candidate),
                            "the model splits them"
                        );
                    }
                    Err(Reason::Budget) => classes.remove(node),
                    Err(reason) => {
                        return Pass { compared: node.index(), is_stable: false, interruption: Some(reason) };
                    }
                }
                pass.is_stable = false;
            }
            map.push(edge);
        }
        pass
    }

    /// A node of the system as an edge of the graph, given the nodes below.
    fn function(&mut self, map: &[Edge], node: Node, leaf: impl Fn(Node) -> Edge) -> Edge {
        match self.system.aig.and_fanins(node) {
            Some([left, right]) => self.builder.and(image(map, left), image(map, right)),
            None if node == Node::FALSE => Edge::FALSE,
            None => leaf(node),
        }
    }
}

/// The image of an edge of the system.
pub(super) fn image(map: &[Edge], edge: Edge) -> Edge {
    map[edge.node().index()].negate_if(edge.is_negated())
}
