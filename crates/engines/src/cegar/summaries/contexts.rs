//! The table: contexts of procedures with the exits found so far, and who waits for them.
//!
//! A *context* is a procedure with an abstract entry, a set of predicates over its parameters. Its *exits* are sets of
//! predicates, too. Each exit knows the clause by which it was found and the exits with which the calls of the clause returned, so
//! it is an abstract fact with a derivation. An exit is *active* until a weaker one of the same context absorbs it; absorbed exits
//! stay for derivations.

use shofar_horn::graph::NodeId;
use shofar_logic::{Term, TermStore};

use super::Precision;
use crate::pa::facts::{Application, FactId};
use crate::pa::refine::AbstractFacts;
use crate::pa::set::Set;

/// Contexts of one procedure. Further demands are met by one context for all values: the entries are not worth their price.
const MOST_CONTEXTS: usize = 32;

/// The index of a context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ContextId(usize);

/// A clause in a context, after some of its calls have returned: the application has their exits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Path {
    pub(super) context: ContextId,
    pub(super) application: Application,
}

impl Path {
    /// The path after the next call returns.
    pub(super) fn after(&self, exit: FactId) -> Self {
        let Application { edge, premises } = &self.application;
        let premises = premises.iter().copied().chain([exit]).collect();
        Path { context: self.context, application: Application { edge: *edge, premises } }
    }
}

/// A procedure with an abstract entry.
pub(super) struct Context {
    /// `None` is `main`.
    pub(super) node: Option<NodeId>,
    pub(super) entry: Set,
    /// The active exits.
    pub(super) exits: Vec<FactId>,
    /// The paths whose next call the context answers.
    pub(super) waiting: Vec<Path>,
}

/// An exit of a context.
struct Exit {
    node: NodeId,
    predicates: Set,
    application: Application,
    depth: u32,
    is_active: bool,
}

/// All contexts and exits.
pub(super) struct Contexts {
    contexts: Vec<Context>,
    /// Indexed by node.
    of_node: Vec<Vec<ContextId>>,
    exits: Vec<Exit>,
}

impl std::ops::Index<ContextId> for Contexts {
    type Output = Context;

    fn index(&self, context: ContextId) -> &Context {
        &self.contexts[context.0]
    }
}

impl Contexts {
    pub(super) const MAIN: ContextId = ContextId(0);

    /// The table with `main` alone.
    pub(super) fn new(nodes: usize) -> Self {
        let main = Context { node: None, entry: Set::default(), exits: Vec::new(), waiting: Vec::new() };
        Contexts { contexts: vec![main], of_node: vec![Vec::new(); nodes], exits: Vec::new() }
    }

    /// How many contexts there are, without `main`.
    pub(super) fn len(&self) -> usize {
        self.contexts.len() - 1
    }

    /// How many exits were found.
    pub(super) fn exits(&self) -> usize {
        self.exits.len()
    }

    /// The contexts of a node.
    pub(super) fn of(&self, node: NodeId) -> impl Iterator<Item = &Context> + '_ {
        self.of_node[node.index()].iter().map(|&context| &self[context])
    }

    /// The context that answers calls with values in `entry`, and whether it is new.
    pub(super) fn demand(&mut self, node: NodeId, entry: Set) -> (ContextId, bool) {
        let known = &self.of_node[node.index()];
        let entry = if known.len() < MOST_CONTEXTS { entry } else { Set::default() };
        if let Some(&weaker) = known.iter().find(|&&other| self[other].entry.is_subset(&entry)) {
            return (weaker, false);
        }
        let context = ContextId(self.contexts.len());
        self.contexts.push(Context { node: Some(node), entry, exits: Vec::new(), waiting: Vec::new() });
        self.of_node[node.index()].push(context);
        (context, true)
    }

    /// Lets a path wait for the exits of a context; returns those that are known.
    pub(super) fn wait(&mut self, context: ContextId, path: Path) -> Vec<FactId> {
        let context = &mut self.contexts[context.0];
        context.waiting.push(path);
        context.exits.clone()
    }

    /// Adds an exit, unless an active one of the context absorbs it.
    pub(super) fn add_exit(&mut self, node: NodeId, path: Path, predicates: Set) -> Option<FactId> {
        let context = path.context;
        let of = |exit: FactId| &self.exits[exit.0 as usize].predicates;
        if self[context].exits.iter().any(|&old| of(old).is_subset(&predicates)) {
            return None;
        }
        let (absorbed, mut active): (Vec<FactId>, Vec<FactId>) =
            self[context].exits.iter().partition(|&&old| predicates.is_subset(of(old)));
        for old in absorbed {
            self.exits[old.0 as usize].is_active = false;
        }
        let exit = FactId(u32::try_from(self.exits.len()).expect("memory ends before"));
        active.push(exit);
        self.contexts[context.0].exits = active;
        let depth = self.depth(&path.application);
        self.exits.push(Exit { node, predicates, application: path.application, depth, is_active: true });
        Some(exit)
    }

    pub(super) fn is_active(&self, exit: FactId) -> bool {
        self.exits[exit.0 as usize].is_active
    }

    /// The predicates of an exit.
    pub(super) fn predicates(&self, exit: FactId) -> &Set {
        &self.exits[exit.0 as usize].predicates
    }

    /// The height of the derivation of an application.
    pub(super) fn depth(&self, application: &Application) -> u32 {
        let depths = application.premises.iter().map(|&exit| self.exits[exit.0 as usize].depth + 1);
        depths.max().unwrap_or(0)
    }
}

/// Exits with the predicates that they are made of.
pub(super) struct Described<'s> {
    pub(super) contexts: &'s Contexts,
    pub(super) precision: &'s Precision,
    /// Whether nothing is said about exits but how they are derived.
    pub(super) is_silent: bool,
}

impl AbstractFacts for Described<'_> {
    fn application(&self, exit: FactId) -> &Application {
        &self.contexts.exits[exit.0 as usize].application
    }

    fn formula(&self, store: &TermStore, exit: FactId) -> Term {
        if self.is_silent {
            return Term::TRUE;
        }
        let exit = &self.contexts.exits[exit.0 as usize];
        self.precision.exits[exit.node.index()].formula(store, &exit.predicates)
    }
}
