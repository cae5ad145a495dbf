//! Reach facts: cubes of a predicate all of whose points are derivable.
//!
//! A reach fact is the projection of a clause whose body is true by earlier reach facts. The clause and these facts are
//! its *justification*.
//!
//! - R1: for each point of a reach fact there are points of its premises from which its clause derives it.
//! - R2: premises are older than the facts they justify, so justifications have no cycles.

use rustc_hash::FxHashMap;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::{Assignment, Term};

/// The index of a reach fact, in order of age.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct FactId(u32);

/// A cube of derivable facts.
pub(super) struct Fact {
    /// Literals over the predicate's variables.
    pub(super) cube: Box<[Term]>,
    /// The clause that derives it.
    pub(super) edge: EdgeId,
    /// The reach facts that make the clause's sources true.
    pub(super) premises: Box<[FactId]>,
    /// A point of the cube.
    pub(super) point: Assignment,
}

/// All reach facts.
pub(super) struct ReachFacts {
    all: Vec<Fact>,
    by_node: Vec<Vec<FactId>>,
    known: FxHashMap<(NodeId, Box<[Term]>), FactId>,
}

impl ReachFacts {
    /// No reach facts, for the given number of predicates.
    pub(super) fn new(nodes: usize) -> Self {
        ReachFacts { all: Vec::new(), by_node: vec![Vec::new(); nodes], known: FxHashMap::default() }
    }

    /// A fact.
    pub(super) fn get(&self, fact: FactId) -> &Fact {
        &self.all[fact.0 as usize]
    }

    /// The facts of a predicate, the oldest first.
    pub(super) fn of(&self, node: NodeId) -> &[FactId] {
        &self.by_node[node.index()]
    }

    /// The number of all facts.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Adds a fact unless it is known.
    pub(super) fn add(&mut self, node: NodeId, fact: Fact) -> FactId {
        debug_assert!(fact.premises.iter().all(|premise| (premise.0 as usize) < self.all.len()), "R2");
        let id = FactId(u32::try_from(self.all.len()).expect("memory ends before facts are 2^32"));
        let known = *self.known.entry((node, fact.cube.clone())).or_insert(id);
        if known == id {
            self.by_node[node.index()].push(id);
            self.all.push(fact);
        }
        known
    }
}
