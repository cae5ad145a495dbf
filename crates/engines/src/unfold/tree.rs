//! The unfolding: atoms, and for each expanded atom the ways to derive it.
//!
//! The atoms form a graph without cycles, whose root stands for `false`. Each atom has a literal `holds`, and each way a
//! literal `taken`. Expanding an atom asserts
//!
//! ```text
//! holds  ->  some way is taken
//! taken  ->  the constraint of the way, and holds for each of its open goals
//! ```
//!
//! Only this direction is needed. Goals that a way resolves at once (`resolve.rs`) are *inner* atoms: they hold if the way is
//! taken.
//!
//! - T1: no atom is above itself. So an assignment in which no open atom holds has a finite derivation of each atom that holds.
//! - T2: two atoms with the same predicate and the same terms as arguments are one, unless one is above the other. They have the
//!   same meaning in each assignment, since all variables are global. If a predicate has an output (`functions.rs`), equal inputs
//!   are enough: the output of such an atom is a variable of its own. Only the atom's ways constrain it, so each way that has the
//!   atom as a goal can state that its own term is equal to it.
//! - T3: the depth of an atom is at most one more than that of an atom directly above it had when that one was expanded.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::witness::{Derivation, GraphStep};
use shofar_logic::{Assignment, Op, Sort, Substitution, Term, TermStore, Value};
use shofar_run::Stop;

use super::Options;
use super::resolve::{Goal, GoalState, Resolution, resolve};
use crate::Run;
use crate::functions::outputs;
use crate::rule::Rule;

/// Arguments with more subterms than this are named by a variable.
const MOST_SUBTERMS: usize = 100;

/// The index of an atom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct AtomId(u32);

/// `false`.
pub(super) const ROOT: AtomId = AtomId(0);

/// An atom of the unfolding.
pub(super) struct Atom {
    /// Its predicate; `None` for the root.
    pub(super) node: Option<NodeId>,
    arguments: Box<[Term]>,
    holds: Term,
    pub(super) depth: u32,
    /// The expanded atoms that it is a goal of.
    parents: Vec<AtomId>,
    /// The ways to derive it; `None` if it is open.
    pub(super) ways: Option<Vec<Way>>,
}

/// A clause to derive an atom.
pub(super) struct Way {
    pub(super) edge: EdgeId,
    /// `None` if it is dead.
    taken: Option<Term>,
    pub(super) premises: Box<[AtomId]>,
}

/// How much the arguments of an open atom decide. The less choice there is, the earlier an atom is expanded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Choice {
    /// At most one clause applies.
    None,
    /// The arguments exclude some clauses: the atom consumes what is known.
    Some,
    /// All clauses apply: the atom generates.
    All,
}

/// The unfolding of a graph.
pub(super) struct Tree<'a> {
    store: &'a TermStore,
    options: Options,
    /// The rules for each node, and those for `false`. Clauses with premises that cannot be derived are left out.
    rules: Vec<Vec<Rule>>,
    queries: Vec<Rule>,
    atoms: Vec<Atom>,
    /// Open atoms by their literals, in the order of their creation.
    open: Vec<AtomId>,
    by_literal: FxHashMap<Term, AtomId>,
    /// The output of predicates that are functions, the last of several; indexed by node.
    outputs: Vec<Option<usize>>,
    /// What holds of all facts, indexed by node, with the variables; empty if nothing is known.
    summaries: Vec<(Box<[Term]>, Term)>,
    /// Atoms by predicate and arguments, without the output if that is a variable of its own.
    by_content: FxHashMap<(NodeId, Box<[Term]>), Vec<AtomId>>,
    /// The resolutions of open atoms whose choice was asked for.
    prepared: FxHashMap<AtomId, Vec<Resolution>>,
    pub(super) expanded: u64,
    pub(super) shared: u64,
    /// How many of the shared atoms have an output.
    pub(super) calls: u64,
    pub(super) resolved: u64,
}

impl<'a> Tree<'a> {
    /// The root alone.
    pub(super) fn new(store: &'a TermStore, graph: &HornGraph, options: Options) -> Self {
        let is_usable = graph.derivable().edges;
        let rules = |edges: Vec<EdgeId>| -> Vec<Rule> {
            let usable = edges.into_iter().filter(|edge| is_usable[edge.index()]);
            usable.map(|edge| Rule::new(store, graph, edge)).collect()
        };
        let (incoming, queries) = graph.incoming();
        let root = Atom {
            node: None,
            arguments: Box::default(),
            holds: Term::TRUE,
            depth: 0,
            parents: Vec::new(),
            ways: None,
        };
        Tree {
            store,
            options,
            rules: incoming.into_iter().map(&rules).collect(),
            queries: rules(queries),
            atoms: vec![root],
            open: Vec::new(),
            by_literal: FxHashMap::default(),
            outputs: vec![None; graph.nodes().len()],
            summaries: Vec::new(),
            by_content: FxHashMap::default(),
            prepared: FxHashMap::default(),
            expanded: 0,
            shared: 0,
            calls: 0,
            resolved: 0,
        }
    }

    /// Uses that predicates are functions.
    pub(super) fn find_functions(&mut self, run: &Run<'_>, graph: &HornGraph) -> Result<(), Stop> {
        let outputs = outputs(run, graph, &self.rules)?;
        self.outputs = outputs.iter().map(|outputs| outputs.last().copied()).collect();
        Ok(())
    }

    /// Uses formulas that hold of all facts, by nodes. Returns what they say about the atoms so far.
    pub(super) fn learn(&mut self, graph: &HornGraph, summaries: &[Term]) -> Vec<Term> {
        let variables = graph.nodes().map(|(_, node)| node.variables().into());
        self.summaries = variables.zip(summaries.iter().copied()).collect();
        let about = |atom: &Atom| {
            let summary = self.summary(atom.node?, &atom.arguments)?;
            Some(self.store.implies(atom.holds, summary))
        };
        self.atoms.iter().filter_map(about).collect()
    }

    /// What is known about an atom.
    fn summary(&self, node: NodeId, arguments: &[Term]) -> Option<Term> {
        let (variables, summary) = self.summaries.get(node.index())?;
        let values: Substitution = variables.iter().copied().zip(arguments.iter().copied()).collect();
        Some(self.store.instantiate(*summary, &values)).filter(|&formula| formula != Term::TRUE)
    }

    /// An atom.
    pub(super) fn atom(&self, atom: AtomId) -> &Atom {
        &self.atoms[atom.0 as usize]
    }

    fn atom_mut(&mut self, atom: AtomId) -> &mut Atom {
        &mut self.atoms[atom.0 as usize]
    }

    /// The number of atoms.
    pub(super) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// The clauses for an atom's predicate.
    fn rules_of(&self, atom: AtomId) -> &[Rule] {
        self.atom(atom).node.map_or(&self.queries, |node| &self.rules[node.index()])
    }

    /// The usable clauses for a predicate, or the queries.
    pub(super) fn edges(&self, node: Option<NodeId>) -> impl Iterator<Item = EdgeId> + '_ {
        node.map_or(&self.queries, |node| &self.rules[node.index()]).iter().map(|rule| rule.edge)
    }

    /// That no open atom holds, one formula for each.
    pub(super) fn assumptions(&self) -> Vec<Term> {
        self.open.iter().map(|&atom| self.store.not(self.atom(atom).holds)).collect()
    }

    /// The open atoms of some assumptions.
    pub(super) fn open_atoms(&self, assumptions: &[Term]) -> Vec<AtomId> {
        assumptions.iter().map(|&assumption| self.by_literal[&self.store.not(assumption)]).collect()
    }

    /// How much the arguments of an open atom decide.
    pub(super) fn choice(&mut self, atom: AtomId) -> Choice {
        let resolutions = match self.prepared.remove(&atom) {
            Some(resolutions) => resolutions,
            None => self.resolutions(atom),
        };
        let live = resolutions.iter().filter(|resolution| !resolution.is_dead).count();
        let choice = match live {
            0 | 1 => Choice::None,
            _ if live < resolutions.len() => Choice::Some,
            _ => Choice::All,
        };
        self.prepared.insert(atom, resolutions);
        choice
    }

    /// Resolves an atom with all its clauses.
    fn resolutions(&mut self, atom: AtomId) -> Vec<Resolution> {
        let steps = self.options.evaluation as usize;
        let arguments = &self.atom(atom).arguments;
        let resolve = |rule| resolve(self.store, &self.rules, rule, arguments, steps);
        let resolutions: Vec<Resolution> = self.rules_of(atom).iter().map(resolve).collect();
        self.resolved += resolutions.iter().map(|resolution| resolution.resolved as u64).sum::<u64>();
        resolutions
    }

    /// Expands an open atom. Returns the formulas to be asserted.
    pub(super) fn expand(&mut self, atom: AtomId) -> Vec<Term> {
        let resolutions = match self.prepared.remove(&atom) {
            Some(resolutions) => resolutions,
            None => self.resolutions(atom),
        };
        self.expanded += 1;
        self.open.retain(|&other| other != atom);
        let (store, holds) = (self.store, self.atom(atom).holds);
        let above = self.above(atom);
        let live = resolutions.iter().filter(|resolution| !resolution.is_dead).count();
        let mut formulas = Vec::with_capacity(live + 1);
        let mut choices = Vec::with_capacity(live);
        let mut ways = Vec::with_capacity(resolutions.len());
        for resolution in resolutions {
            if resolution.is_dead {
                ways.push(self.dead_way(resolution));
                continue;
            }
            let taken = if live == 1 { holds } else { self.fresh_bool("way") };
            choices.push(taken);
            let (way, consequences) = self.live_way(atom, &above, taken, resolution);
            formulas.push(store.implies(taken, store.and(&consequences)));
            ways.push(way);
        }
        formulas.push(store.implies(holds, store.or(&choices)));
        self.atom_mut(atom).ways = Some(ways);
        formulas
    }

    /// The atoms above an atom, and itself.
    fn above(&self, atom: AtomId) -> FxHashSet<AtomId> {
        let mut above = FxHashSet::default();
        let mut open = vec![atom];
        while let Some(atom) = open.pop() {
            if above.insert(atom) {
                open.extend_from_slice(&self.atom(atom).parents);
            }
        }
        above
    }

    /// The way of a resolution, and what follows if it is taken.
    fn live_way(
        &mut self,
        atom: AtomId,
        above: &FxHashSet<AtomId>,
        taken: Term,
        resolution: Resolution,
    ) -> (Way, Vec<Term>) {
        let Resolution { edge, constraint, goals, body, .. } = resolution;
        let mut consequences = vec![constraint];
        let mut ids: Vec<AtomId> = vec![ROOT; goals.len()];
        // Goals come before those of their bodies.
        for (index, goal) in goals.into_iter().enumerate().rev() {
            ids[index] = match goal.state {
                GoalState::Open => {
                    let arguments = self.named(goal.arguments, &mut consequences);
                    self.open_atom(atom, above, goal.node, arguments, &mut consequences)
                }
                GoalState::Resolved(..) | GoalState::Refuted => self.inner_atom(goal, Some(taken), &ids),
            };
        }
        (
            Way { edge, taken: Some(taken), premises: body.iter().map(|&goal| ids[goal]).collect() },
            consequences,
        )
    }

    /// The way of a dead resolution. Its atoms are only there for the model.
    fn dead_way(&mut self, resolution: Resolution) -> Way {
        let mut ids: Vec<AtomId> = vec![ROOT; resolution.goals.len()];
        for (index, goal) in resolution.goals.into_iter().enumerate().rev() {
            ids[index] = self.inner_atom(goal, None, &ids);
        }
        let premises = resolution.body.iter().map(|&goal| ids[goal]).collect();
        Way { edge: resolution.edge, taken: None, premises }
    }

    /// An atom that belongs to a way.
    fn inner_atom(&mut self, goal: Goal, taken: Option<Term>, ids: &[AtomId]) -> AtomId {
        let ways = match goal.state {
            GoalState::Open => None,
            GoalState::Refuted => Some(Vec::new()),
            GoalState::Resolved(edge, body) => {
                Some(vec![Way { edge, taken, premises: body.iter().map(|&goal| ids[goal]).collect() }])
            }
        };
        let holds = taken.unwrap_or(Term::FALSE);
        self.add(Atom {
            node: Some(goal.node),
            arguments: goal.arguments,
            holds,
            depth: 0,
            parents: Vec::new(),
            ways,
        })
    }

    /// The open or expanded atom with the given content that is not above its new parent, or a new one. If its output is a
    /// variable of its own, the equation is added to the consequences.
    fn open_atom(
        &mut self,
        parent: AtomId,
        above: &FxHashSet<AtomId>,
        node: NodeId,
        mut arguments: Box<[Term]>,
        consequences: &mut Vec<Term>,
    ) -> AtomId {
        let store = self.store;
        let depth = self.atom(parent).depth + 1;
        // The clauses that a known output excludes would not be seen.
        let output = self.outputs[node.index()].filter(|&output| !is_known(store, arguments[output]));
        let content: Box<[Term]> = match output {
            Some(output) => [&arguments[..output], &arguments[output + 1..]].concat().into(),
            None => arguments.clone(),
        };
        if self.options.sharing {
            let same = self.by_content.get(&(node, content.clone()));
            let same = same.and_then(|same| same.iter().copied().find(|other| !above.contains(other)));
            if let Some(same) = same {
                self.shared += 1;
                self.calls += u64::from(output.is_some());
                let atom = self.atom_mut(same);
                atom.parents.push(parent);
                atom.depth = atom.depth.min(depth);
                consequences.extend(output.map(|output| store.eq(arguments[output], atom.arguments[output])));
                consequences.push(atom.holds);
                return same;
            }
        }
        if let Some(output) = output {
            let name = store.var(store.fresh_symbol("r"), store.sort_of(arguments[output]));
            consequences.push(store.eq(arguments[output], name));
            arguments[output] = name;
        }
        let holds = self.fresh_bool("holds");
        consequences.push(holds);
        consequences.extend(self.summary(node, &arguments));
        let parents = vec![parent];
        let id = self.add(Atom { node: Some(node), arguments, holds, depth, parents, ways: None });
        self.by_content.entry((node, content)).or_default().push(id);
        self.by_literal.insert(holds, id);
        self.open.push(id);
        id
    }

    fn add(&mut self, atom: Atom) -> AtomId {
        let id = AtomId(u32::try_from(self.atoms.len()).expect("memory ends long before"));
        self.atoms.push(atom);
        id
    }

    /// The arguments, with variables for large ones; their definitions are added to the consequences.
    fn named(&self, mut arguments: Box<[Term]>, consequences: &mut Vec<Term>) -> Box<[Term]> {
        for argument in &mut arguments {
            if self.store.subterms(&[*argument]).len() > MOST_SUBTERMS {
                let name = self.store.var(self.store.fresh_symbol("a"), self.store.sort_of(*argument));
                consequences.push(self.store.eq(name, *argument));
                *argument = name;
            }
        }
        arguments
    }

    fn fresh_bool(&self, name: &str) -> Term {
        self.store.var(self.store.fresh_symbol(name), Sort::BOOL)
    }

    /// The terms whose values make a derivation.
    pub(super) fn terms(&self) -> Vec<Term> {
        let mut terms = Vec::new();
        for atom in &self.atoms {
            terms.extend_from_slice(&atom.arguments);
            terms.extend(atom.ways.iter().flatten().filter_map(|way| way.taken));
        }
        terms
    }

    /// The derivation of `false` in an assignment in which no open atom holds. Premises of an atom are derived first (T1).
    pub(super) fn derivation(&self, model: &Assignment) -> Result<Derivation, Stop> {
        let mut steps: Vec<GraphStep> = Vec::new();
        let mut position: FxHashMap<AtomId, usize> = FxHashMap::default();
        let mut open = vec![ROOT];
        while let Some(&atom) = open.last() {
            let way = self.way_taken(atom, model)?;
            let before = open.len();
            open.extend(way.premises.iter().copied().filter(|premise| !position.contains_key(premise)));
            if open.len() > before {
                continue;
            }
            open.pop();
            // A premise of two atoms may have been opened twice.
            if position.contains_key(&atom) {
                continue;
            }
            let premises = way.premises.iter().map(|premise| position[premise]).collect();
            let fact = self.atom(atom).arguments.iter().map(|&argument| {
                let value = self.store.eval(argument, model);
                value.map_err(|error| Stop::Unsupported(error.display(self.store).to_string()))
            });
            let fact: Box<[Value]> = fact.collect::<Result<_, Stop>>()?;
            position.insert(atom, steps.len());
            steps.push(GraphStep { edge: way.edge, premises, fact });
        }
        Ok(Derivation { steps })
    }

    /// The way to derive an atom that holds.
    fn way_taken(&self, atom: AtomId, model: &Assignment) -> Result<&Way, Stop> {
        let is_taken = |way: &&Way| match way.taken {
            Some(Term::TRUE) => true,
            Some(taken) => model.get(taken).and_then(Value::as_bool) == Some(true),
            None => false,
        };
        let way = self.atom(atom).ways.iter().flatten().find(is_taken);
        way.ok_or_else(|| Stop::Internal("an atom that holds has no derivation".to_owned()))
    }
}

/// Whether a term says what a clause may look at: a value, or how a value of a datatype is constructed.
fn is_known(store: &TermStore, term: Term) -> bool {
    matches!(store.op(term), Op::Construct(_)) || store.args(term).is_empty() && !store.is_symbol(term)
}
