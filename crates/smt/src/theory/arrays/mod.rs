//! Arrays with extensionality: `select`, `store`, constant arrays and equality.
//!
//! The operators are functions of congruence. When the candidates of all theories fit together, a final check tries to
//! read a model of the arrays off them, and instantiates an axiom where that fails (`axiom.rs`):
//!
//! ```text
//! collect what is known of elements, by index, in the weak graph            weak.rs
//!     two elements for one array and index:   their indices are equal, or the elements are
//!     two elements for arrays connected by writes elsewhere:                instances for the writes between them
//! number the arrays: equal values, equal numbers
//!     different by an assertion, with equal numbers:                        an index where they differ
//!     arguments of one function with different results, equal numbers:      equal, or an index where they differ
//! ```
//!
//! The element that a write has written, and that of a constant array, are known without instances. So an instance is
//! made only if something contradicts it. Instances are lemmas over formulas, because they introduce terms.
//!
//! **Meanings.** An index is what it means in the candidates: numbers are equal if their values are, and all other
//! classes differ. An array means its number. So arrays are numbered after those that are their indices or elements.
//!
//! **Why a model is right.** An array has the elements that are known of it, in its weak component, and elsewhere the
//! *default* of the component: the element of a constant array in it, or a new element that occurs nowhere else. Reads
//! and writes are right because arrays connected without an index have one element there. Arrays with different numbers
//! have different values. If the sort of elements has no new ones, the default is some element, and two arrays may turn
//! out equal that must differ; as above, they then get an index where they differ.
//!
//! **Why it ends.** An instance that is stated is true in the assignment, so that the same contradiction cannot come
//! again; the theory states none twice in a query. Instances are about the arrays and indices at hand, and introduce elements, which are of a smaller sort, and
//! one index for a pair of arrays. No sort of arrays is within itself (`sorts.rs`).
//!
//! If there are only some known indices, the table of an array is total. A constant array with such indices may be
//! connected with another one; the instances are then for an index that no term has yet. For declared sorts, the number
//! of indices is open: the theory gives up if two constant arrays are connected.
//!
//! Only terms in atoms that the search has assigned count, so that terms of earlier queries cost nothing.
//!
//! - AR1: `assigned` has the assigned atoms among those with arrays, with their levels, in the order of assertion.
//!
//! Sources: A. Stump, C. Barrett, D. Dill, J. Levitt, "A decision procedure for an extensional theory of arrays" (LICS
//! 2001); L. de Moura, N. Bjørner, "Generalized, efficient array decision procedures" (FMCAD 2009), for instances on
//! demand and defaults; J. Christ, J. Hoenicke, "Weakly equivalent arrays" (FroCoS 2015). Testing a candidate model,
//! instead of closing under the axioms, is ours.

mod axiom;
pub(crate) mod model;
mod part;
mod sorts;
mod weak;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Sort, Term, TermStore};

use self::axiom::{Functions, Lemma};
use self::part::{Content, Part};
use self::sorts::{Indices, indices};
pub(crate) use self::sorts::{Ranks, supports_arrays};
use super::certificate::CongruenceArguments;
use super::component::TermLemma;
use super::datatypes::sorts::Finiteness;
use super::euf::{EGraph, Node};
use crate::sat::Var;

/// The arrays of a solver.
#[derive(Default)]
pub(super) struct Arrays {
    sorts: Vec<ArraySort>,
    /// The positions in `sorts`.
    numbers: FxHashMap<Sort, u32>,
    ranks: Ranks,
    finiteness: Finiteness,
    /// By nodes; those beyond the end are of no interest.
    nodes: Vec<Info>,
    /// Applications of functions and constructors to arrays.
    applications: Vec<Node>,
    /// The highest nodes with arrays in or below them, by atoms.
    content: FxHashMap<Var, Box<[Node]>>,
    /// The two sides of equalities of arrays.
    equalities: FxHashMap<Var, (Node, Node)>,
    /// Assigned atoms and their values (AR1).
    assigned: Vec<(u32, Var, bool)>,
    functions: Functions,
    /// The lemmas that the last check asks for.
    pending: Vec<Lemma>,
    /// The lemmas of this query so far.
    stated: FxHashSet<Lemma>,
    /// What the last check has found.
    solution: Solution,
    counters: Counters,
}

/// The number of lemmas of each kind.
#[derive(Clone, Copy, Default)]
struct Counters {
    writes: u64,
    constants: u64,
    differences: u64,
    defaults: u64,
}

/// A sort of arrays.
pub(super) struct ArraySort {
    pub(super) sort: Sort,
    rank: u32,
    indices: Indices,
    /// Whether indices and elements are truth values.
    is_indexed_by_truth: bool,
    has_truth: bool,
    /// Whether there are always more elements than those at hand.
    has_new_elements: bool,
}

/// What a node is to arrays.
#[derive(Clone, Copy, Default)]
struct Info {
    /// Whether an array is in or below it.
    reaches: bool,
    /// Its sort, if it is an array.
    sort: Option<u32>,
    operation: Operation,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Operation {
    Select,
    Store,
    Constant,
    #[default]
    Other,
}

/// The state of the other theories in a final check.
pub(super) struct Candidates<'c> {
    pub(super) graph: &'c EGraph,
    /// The number of the value of a shared node.
    pub(super) value: &'c dyn Fn(Node) -> Option<u32>,
    pub(super) term: &'c dyn Fn(Node) -> Term,
    pub(super) node: &'c dyn Fn(Term) -> Option<Node>,
}

/// The result of a final check.
pub(super) enum Verdict {
    /// There is a model.
    Model,
    /// The equalities of shared nodes must be decided first.
    Undecided(Vec<(Node, Node)>),
    /// [`Arrays::lemmas`] has instances.
    Instances,
    /// The theory cannot tell.
    Unknown,
}

/// A model of arrays.
#[derive(Default)]
pub(crate) struct Solution {
    /// By sorts of arrays.
    parts: Vec<Part>,
    /// For roots of classes: the part, and the number of the array.
    numbers: FxHashMap<Node, (u32, u32)>,
}

/// Numbers that stand for what is no node begin here.
const BEYOND_NODES: u32 = 1 << 31;

impl Arrays {
    /// Adds a node, whose arguments were added before.
    pub(super) fn add_node(&mut self, store: &TermStore, graph: &EGraph, node: Node, term: Term) {
        let sort = store.sort_of(term);
        let is_array = store.array_parts(sort).is_some();
        let reaches = |node: &Node| self.info(*node).reaches;
        if !is_array && !graph.args(node).iter().any(reaches) {
            return;
        }
        let sort = is_array.then(|| self.sort(store, sort));
        let op = store.op(term);
        let operation = match op {
            Op::Select => Operation::Select,
            Op::Store => Operation::Store,
            Op::ConstArray(_) => Operation::Constant,
            _ => Operation::Other,
        };
        let is_array = |node: &Node| self.info(*node).sort.is_some();
        let is_function = match op {
            Op::Apply(fun) => !self.functions.contains(fun),
            op => matches!(op, Op::Construct(_)),
        };
        if is_function && graph.args(node).iter().any(is_array) {
            self.applications.push(node);
        }
        let place = node.0 as usize;
        if self.nodes.len() <= place {
            self.nodes.resize(place + 1, Info::default());
        }
        self.nodes[place] = Info { reaches: true, sort, operation };
    }

    fn info(&self, node: Node) -> Info {
        self.nodes.get(node.0 as usize).copied().unwrap_or_default()
    }

    fn sort(&mut self, store: &TermStore, sort: Sort) -> u32 {
        if let Some(&number) = self.numbers.get(&sort) {
            return number;
        }
        let (index, element) = store.array_parts(sort).expect("it is a sort of arrays");
        let number = self.sorts.len() as u32;
        self.sorts.push(ArraySort {
            sort,
            rank: self.ranks.rank(store, sort),
            indices: indices(store, sort).expect("the sort is supported"),
            is_indexed_by_truth: index == Sort::BOOL,
            has_truth: element == Sort::BOOL,
            has_new_elements: !self.finiteness.is_finite(store, element),
        });
        self.numbers.insert(sort, number);
        number
    }

    /// Records which nodes below an atom matter while it is assigned.
    pub(super) fn add_atom(
        &mut self,
        store: &TermStore,
        var: Var,
        atom: Term,
        node: impl Fn(Term) -> Option<Node>,
    ) {
        if self.sorts.is_empty() {
            return;
        }
        let (mut content, mut open) = (Vec::new(), vec![atom]);
        while let Some(term) = open.pop() {
            match node(term) {
                Some(node) if self.info(node).reaches => content.push(node),
                Some(_) => {}
                None => open.extend_from_slice(store.args(term)),
            }
        }
        if let (Op::Eq, &[left, right]) = store.view(atom)
            && let (Some(left), Some(right)) = (node(left), node(right))
            && self.info(left).sort.is_some()
        {
            self.equalities.insert(var, (left, right));
        }
        content.sort_unstable();
        content.dedup();
        if !content.is_empty() {
            self.content.insert(var, content.into());
        }
    }

    /// Whether no atom has arrays.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.content.is_empty()
    }

    /// An atom was assigned at a level.
    pub(super) fn assign(&mut self, level: u32, var: Var, value: bool) {
        if self.content.contains_key(&var) {
            self.assigned.push((level, var, value));
        }
    }

    /// Only the assignments up to this level remain.
    pub(super) fn pop_to(&mut self, level: u32) {
        self.assigned.truncate(self.assigned.partition_point(|&(at, ..)| at <= level));
    }

    /// Starts a query.
    pub(super) fn start_query(&mut self) {
        self.solution = Solution::default();
        self.stated.clear();
    }

    /// Looks for a model, when all candidates fit together.
    pub(super) fn check(&mut self, candidates: &Candidates<'_>) -> Verdict {
        self.pending.clear();
        self.solution = Solution::default();
        let graph = candidates.graph;
        let mut contents: FxHashMap<u32, Content> = FxHashMap::default();
        for node in self.relevant(graph) {
            let info = self.info(node);
            let args = graph.args(node);
            let sort = match info.operation {
                Operation::Select => self.info(args[0]).sort.expect("it reads an array"),
                _ => match info.sort {
                    Some(sort) => sort,
                    None => continue,
                },
            };
            contents.entry(sort).or_default().add(graph, info.operation, node);
            // A read may give an array.
            if let (Operation::Select, Some(sort)) = (info.operation, info.sort) {
                contents.entry(sort).or_default().add(graph, Operation::Other, node);
            }
        }
        let mut order: Vec<u32> = contents.keys().copied().collect();
        order.sort_unstable_by_key(|&number| (self.sorts[number as usize].rank, number));
        let mut findings = part::Findings::default();
        for number in order {
            let content = contents.remove(&number).expect("it is listed");
            let sort = &self.sorts[number as usize];
            let numbers = std::mem::take(&mut self.solution.numbers);
            let place = self.solution.parts.len() as u32;
            let meaning = |node: Node, is_truth: bool| {
                let root = graph.root(node);
                let known =
                    (candidates.value)(node).or_else(|| numbers.get(&root).map(|&(_, number)| number));
                known.unwrap_or_else(|| match is_truth && root != graph.root(Node::TRUE) {
                    true => graph.root(Node::FALSE).0,
                    false => root.0,
                })
            };
            let part = Part::new(sort, content, candidates, &meaning, &mut findings);
            self.solution.numbers = numbers;
            self.solution.numbers.extend(part.numbers().map(|(root, number)| (root, (place, number))));
            self.solution.parts.push(part);
        }
        let part::Findings { lemmas, mut undecided, is_open } = findings;
        // Arrays that are indices are decided by lemmas.
        let is_array = |pair: &mut (Node, Node)| self.info(pair.0).sort.is_some();
        let pairs: Vec<(Node, Node)> = undecided.extract_if(.., is_array).collect();
        self.pending.extend(pairs.into_iter().map(|(left, right)| difference(candidates, left, right)));
        if undecided.is_empty() {
            self.pending.extend(lemmas);
            if self.pending.is_empty() && !is_open {
                self.must_differ(candidates, &mut undecided);
            }
        }
        let is_consistent = self.pending.is_empty() && undecided.is_empty() && !is_open;
        let Self { pending, stated, .. } = self;
        pending.retain(|lemma| !stated.contains(lemma));
        match undecided.is_empty() {
            _ if is_consistent => Verdict::Model,
            false => {
                self.pending.clear();
                Verdict::Undecided(undecided)
            }
            true if !self.pending.is_empty() => Verdict::Instances,
            true => Verdict::Unknown,
        }
    }

    /// The nodes with arrays in or below them, in and below assigned atoms, ascending.
    fn relevant(&self, graph: &EGraph) -> Vec<Node> {
        let mut seen = vec![false; self.nodes.len()];
        let mut open: Vec<Node> =
            self.assigned.iter().flat_map(|(_, var, _)| self.content[var].iter().copied()).collect();
        while let Some(node) = open.pop() {
            let seen = &mut seen[node.0 as usize];
            if !std::mem::replace(seen, true) {
                open.extend(graph.args(node).iter().copied().filter(|&arg| self.info(arg).reaches));
            }
        }
        let seen = seen.into_iter().enumerate().filter(|(_, seen)| *seen);
        seen.map(|(node, _)| Node(node as u32)).collect()
    }

    /// Asks for indices where arrays differ that must not be equal in the model.
    fn must_differ(&mut self, candidates: &Candidates<'_>, undecided: &mut Vec<(Node, Node)>) {
        let graph = candidates.graph;
        let number = |node: Node| self.solution.numbers.get(&graph.root(node)).map(|&(_, number)| number);
        let mut pairs: Vec<(Node, Node)> = Vec::new();
        for (_, var, holds) in &self.assigned {
            if !holds
                && let Some(&(left, right)) = self.equalities.get(var)
                && number(left) == number(right)
            {
                pairs.push((left, right));
            }
        }
        // Functions are functions (M2 of `combination.rs`).
        let meaning = |node: Node| {
            let own = match self.info(node).sort {
                Some(_) => number(node),
                None => Some((candidates.value)(node).unwrap_or_else(|| graph.root(node).0)),
            };
            own.ok_or_else(|| BEYOND_NODES | graph.root(node).0)
        };
        let mut first_of_line: FxHashMap<Vec<u32>, Node> = FxHashMap::default();
        for &application in &self.applications {
            let args = graph.args(application).iter().map(|&arg| meaning(arg));
            // A line with an array that does not matter does not matter.
            let Ok(args) = args.collect::<Result<Vec<u32>, u32>>() else { continue };
            let line: Vec<u32> = std::iter::once(graph.symbol(application).0).chain(args).collect();
            let first = *first_of_line.entry(line).or_insert(application);
            if meaning(first) == meaning(application) {
                continue;
            }
            for (&left, &right) in std::iter::zip(graph.args(first), graph.args(application)) {
                if graph.are_equal(left, right) {
                    continue;
                }
                match self.info(left).sort {
                    Some(_) => pairs.push((left, right)),
                    None => undecided.push((left.min(right), left.max(right))),
                }
            }
        }
        undecided.sort_unstable();
        undecided.dedup();
        let seen: FxHashSet<Lemma> =
            pairs.into_iter().map(|(left, right)| difference(candidates, left, right)).collect();
        self.pending.extend(seen);
        self.pending.sort_unstable();
    }

    /// The lemmas that the last check has asked for.
    pub(super) fn take_lemmas(
        &mut self,
        store: &TermStore,
        arguments: &mut CongruenceArguments,
    ) -> Vec<TermLemma> {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_unstable();
        pending.dedup();
        let mut lemmas = Vec::with_capacity(pending.len());
        for lemma in pending {
            self.stated.insert(lemma);
            match lemma {
                Lemma::Write(_) | Lemma::Elsewhere(..) => self.counters.writes += 1,
                Lemma::Constant(..) => self.counters.constants += 1,
                Lemma::Difference(..) => self.counters.differences += 1,
                Lemma::Default(_) => self.counters.defaults += 1,
            }
            let (axiom, literals) = self.functions.instance(store, lemma);
            lemmas.push(TermLemma { literals, certificate: arguments.add_axiom(axiom) });
        }
        lemmas
    }

    /// The model that the last check has found.
    pub(super) fn solution(&self) -> &Solution {
        &self.solution
    }

    /// Appends its counters, by name.
    pub(super) fn statistics(&self, counters: &mut Vec<(&'static str, u64)>) {
        let Counters { writes, constants, differences, defaults } = self.counters;
        counters.extend([
            ("array-writes", writes),
            ("array-constants", constants),
            ("array-differences", differences),
            ("array-defaults", defaults),
        ]);
    }
}

/// The lemma that two arrays are equal or differ at an index.
fn difference(candidates: &Candidates<'_>, left: Node, right: Node) -> Lemma {
    let (left, right) = ((candidates.term)(left), (candidates.term)(right));
    Lemma::Difference(left.min(right), left.max(right))
}
