//! Abstract facts, and which of them absorb which applications.
//!
//! A fact is *active* until a weaker one absorbs it. An absorbed fact takes part in no new application, but facts that follow
//! from it stay, and it stays for their derivations. A fact that is *removed* takes along all that follows from it; what
//! it has absorbed must be opened again. Numbers of facts are never used again, and premises have smaller numbers.

use std::collections::BTreeSet;
use std::ops::Index;

use shofar_horn::graph::{EdgeId, NodeId};

use super::set::Set;

/// The number of a fact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct FactId(pub(crate) u32);

/// A clause applied to facts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Application {
    pub(crate) edge: EdgeId,
    /// Indexed by source.
    pub(crate) premises: Box<[FactId]>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Active,
    Absorbed,
    Removed,
}

/// An abstract fact.
pub(super) struct Fact {
    pub(super) node: NodeId,
    /// The abstraction predicates that hold.
    pub(super) predicates: Set,
    /// How it was derived first.
    pub(super) application: Application,
    depth: u32,
    state: State,
    /// The applications whose results it absorbed.
    absorbed: Vec<Application>,
    /// The facts that have it as a premise.
    consequences: Vec<FactId>,
}

/// All facts.
pub(super) struct Facts {
    facts: Vec<Fact>,
    /// Indexed by node, ascending.
    active: Vec<Vec<FactId>>,
}

impl Index<FactId> for Facts {
    type Output = Fact;

    fn index(&self, fact: FactId) -> &Fact {
        &self.facts[fact.0 as usize]
    }
}

impl Facts {
    pub(super) fn new(nodes: usize) -> Self {
        Facts { facts: Vec::new(), active: vec![Vec::new(); nodes] }
    }

    /// The active facts of a node.
    pub(super) fn active(&self, node: NodeId) -> &[FactId] {
        &self.active[node.index()]
    }

    pub(super) fn is_active(&self, fact: FactId) -> bool {
        self[fact].state == State::Active
    }

    /// Whether the fact has not been removed.
    pub(super) fn exists(&self, fact: FactId) -> bool {
        self[fact].state != State::Removed
    }

    /// How many facts there ever were.
    pub(super) fn added(&self) -> u64 {
        self.facts.len() as u64
    }

    /// The height of the derivation tree of an application.
    pub(super) fn depth(&self, application: &Application) -> u32 {
        application.premises.iter().map(|&premise| self[premise].depth + 1).max().unwrap_or(0)
    }

    /// Adds a fact, unless an active one absorbs its application.
    pub(super) fn add(&mut self, node: NodeId, application: Application, predicates: Set) -> Option<FactId> {
        let weaker =
            self.active[node.index()].iter().find(|&&old| self[old].predicates.is_subset(&predicates));
        if let Some(&weaker) = weaker {
            self.facts[weaker.0 as usize].absorbed.push(application);
            return None;
        }
        let fact = FactId(u32::try_from(self.facts.len()).expect("memory ends before"));
        let (stronger, others): (Vec<FactId>, Vec<FactId>) =
            self.active[node.index()].iter().partition(|&&old| predicates.is_subset(&self[old].predicates));
        let mut absorbed = Vec::new();
        for old in stronger {
            let old = &mut self.facts[old.0 as usize];
            old.state = State::Absorbed;
            absorbed.push(old.application.clone());
            absorbed.append(&mut old.absorbed);
        }
        self.active[node.index()] = others;
        self.active[node.index()].push(fact);
        for premise in &application.premises {
            self.facts[premise.0 as usize].consequences.push(fact);
        }
        let depth = self.depth(&application);
        let consequences = Vec::new();
        self.facts.push(Fact {
            node,
            predicates,
            application,
            depth,
            state: State::Active,
            absorbed,
            consequences,
        });
        Some(fact)
    }

    /// The facts in the derivation of an application, premises first.
    pub(super) fn below(&self, application: &Application) -> BTreeSet<FactId> {
        let mut below: BTreeSet<FactId> = BTreeSet::new();
        let mut open: Vec<FactId> = application.premises.to_vec();
        while let Some(fact) = open.pop() {
            if below.insert(fact) {
                open.extend(&self[fact].application.premises);
            }
        }
        below
    }

    /// Removes a fact and all that follows from it. Returns the applications to be opened again.
    pub(super) fn remove(&mut self, fact: FactId) -> Vec<Application> {
        let mut open = vec![fact];
        let mut reopened = Vec::new();
        while let Some(fact) = open.pop() {
            let removed = &mut self.facts[fact.0 as usize];
            if removed.state == State::Active {
                reopened.push(removed.application.clone());
                self.active[removed.node.index()].retain(|&other| other != fact);
            }
            if removed.state != State::Removed {
                removed.state = State::Removed;
                reopened.append(&mut removed.absorbed);
                open.append(&mut removed.consequences);
            }
        }
        reopened.retain(|application| application.premises.iter().all(|&premise| self.is_active(premise)));
        reopened
    }
}
