//! The arrays of one sort in a candidate model: what is known of their elements, and which of them are equal.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::Sort;

use super::axiom::Lemma;
use super::sorts::Indices;
use super::weak::{Edge, Slots, WeakGraph};
use super::{ArraySort, BEYOND_NODES, Candidates, Operation};
use crate::theory::euf::{EGraph, Node};

/// The relevant nodes of one sort of arrays, ascending.
#[derive(Default)]
pub(super) struct Content {
    /// The roots of their classes.
    arrays: Vec<Node>,
    selects: Vec<Node>,
    stores: Vec<Node>,
    constants: Vec<Node>,
}

impl Content {
    /// Adds an array, or a read of one.
    pub(super) fn add(&mut self, graph: &EGraph, operation: Operation, node: Node) {
        match operation {
            Operation::Select => return self.selects.push(node),
            Operation::Store => self.stores.push(node),
            Operation::Constant => self.constants.push(node),
            Operation::Other => {}
        }
        self.arrays.push(graph.root(node));
    }
}

/// What the parts ask for.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) lemmas: Vec<Lemma>,
    /// Pairs of indices with one meaning that must be equal or not.
    pub(super) undecided: Vec<(Node, Node)>,
    /// Whether a contradiction depends on the number of indices.
    pub(super) is_open: bool,
}

/// What is known of an element.
#[derive(Clone, Copy, Debug)]
struct Reading {
    meaning: u32,
    /// The element.
    node: Node,
    /// The vertex of the array.
    vertex: u32,
    from: From,
}

/// How an element is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum From {
    Select(Node),
    Store(Node),
    Constant(Node),
}

/// An element in the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Element {
    /// That of this node.
    Of(Node),
    /// A new one, with its number.
    New(u32),
    /// Any one, always the same: no array of the sort has an element that is known.
    Any,
}

/// The arrays of one sort.
pub(super) struct Part {
    /// The sort.
    pub(super) sort: Sort,
    /// The indices that are known from the start, by their meanings, if they are nodes.
    known: Option<Vec<Option<u32>>>,
    /// The roots of classes, by vertices.
    arrays: Vec<Node>,
    vertices: FxHashMap<Node, u32>,
    graph: WeakGraph,
    slots: Slots<Reading>,
    /// The labels of components, ascending, and their defaults, by their roots.
    labels: FxHashMap<u32, Vec<u32>>,
    defaults: FxHashMap<u32, (u32, Element)>,
    /// An index for each label.
    indices: FxHashMap<u32, Node>,
    /// By vertices: equal arrays have equal numbers.
    numbers: Vec<u32>,
}

impl Part {
    /// Collects what is known, and numbers the arrays. Contradictions become findings.
    pub(super) fn new(
        sort: &ArraySort,
        content: Content,
        candidates: &Candidates<'_>,
        meaning: &dyn Fn(Node, bool) -> u32,
        findings: &mut Findings,
    ) -> Self {
        let graph = candidates.graph;
        let Content { mut arrays, selects, stores, constants } = content;
        arrays.sort_unstable();
        arrays.dedup();
        let vertices: FxHashMap<Node, u32> =
            arrays.iter().enumerate().map(|(vertex, &root)| (root, vertex as u32)).collect();
        let vertex = |node: Node| vertices[&graph.root(node)];
        let label = |node: Node| meaning(node, sort.is_indexed_by_truth);
        let element = |node: Node| meaning(node, sort.has_truth);

        let edge = |&write: &Node| {
            let args = graph.args(write);
            Edge { ends: [vertex(args[0]), vertex(write)], label: label(args[1]), write }
        };
        let weak = WeakGraph::new(arrays.len(), stores.iter().map(edge).collect());
        let known = match &sort.indices {
            Indices::Known(values) => {
                let label = |node: Node| label(node);
                Some(values.iter().map(|&value| (candidates.node)(value).map(label)).collect())
            }
            _ => None,
        };
        let slots = Slots::new(&weak);
        let mut part = Part {
            sort: sort.sort,
            known,
            vertices: FxHashMap::default(),
            graph: weak,
            slots,
            labels: FxHashMap::default(),
            defaults: FxHashMap::default(),
            indices: FxHashMap::default(),
            numbers: Vec::new(),
            arrays: Vec::new(),
        };
        // Reads come first: for them alone, no instance is needed.
        let mut contradictions: Vec<(u32, Reading, Reading)> = Vec::new();
        let mut fallback: Option<(u32, Node)> = None;
        let mut add = |part: &mut Part, label: u32, reading: Reading| {
            fallback.get_or_insert((reading.meaning, reading.node));
            if let Some(before) = part.slots.add(&part.graph, reading.vertex, label, reading)
                && before.meaning != reading.meaning
            {
                contradictions.push((label, before, reading));
            }
        };
        let mut places: Vec<(u32, u32)> = Vec::new();
        let mut first_reads: FxHashMap<(u32, u32), (Node, u32)> = FxHashMap::default();
        for &select in &selects {
            let args = graph.args(select);
            let (vertex, label) = (vertex(args[0]), label(args[1]));
            places.push((part.graph.root(vertex), label));
            part.indices.entry(label).or_insert(args[1]);
            let reading =
                Reading { meaning: element(select), node: select, vertex, from: From::Select(select) };
            add(&mut part, label, reading);
            let first = *first_reads.entry((vertex, label)).or_insert((args[1], reading.meaning));
            if first.1 != reading.meaning {
                findings.undecided.push((first.0.min(args[1]), first.0.max(args[1])));
            }
        }
        for &store in &stores {
            let args = graph.args(store);
            let (vertex, label) = (vertex(store), label(args[1]));
            places.push((part.graph.root(vertex), label));
            part.indices.entry(label).or_insert(args[1]);
            let reading =
                Reading { meaning: element(args[2]), node: args[2], vertex, from: From::Store(store) };
            add(&mut part, label, reading);
        }
        places.sort_unstable();
        places.dedup();
        for (root, label) in places {
            part.labels.entry(root).or_default().push(label);
        }
        for &constant in &constants {
            let arg = graph.args(constant)[0];
            let vertex = vertex(constant);
            let reading =
                Reading { meaning: element(arg), node: arg, vertex, from: From::Constant(constant) };
            let root = part.graph.root(vertex);
            for label in part.labels.get(&root).cloned().unwrap_or_default() {
                add(&mut part, label, reading);
            }
        }
        let of_constants = constants.first().map(|&constant| graph.args(constant)[0]);
        let fallback = fallback.or_else(|| of_constants.map(|node| (element(node), node)));
        let fallback = fallback.map(|(meaning, node)| (meaning, Element::Of(node)));
        part.find_defaults(sort, &constants, &vertices, graph, candidates, &element, fallback, findings);
        let is_consistent = contradictions.is_empty();
        let mut stated: FxHashSet<Lemma> = FxHashSet::default();
        for (label, left, right) in contradictions {
            part.contradiction(candidates, label, left, right, &mut stated);
        }
        let mut stated: Vec<Lemma> = stated.into_iter().collect();
        stated.sort_unstable();
        findings.lemmas.extend(stated);
        part.arrays = arrays;
        part.vertices = vertices;
        part.number(is_consistent);
        part
    }

    /// Takes the default of each component, and reports those with several.
    #[expect(clippy::too_many_arguments, reason = "it is one step of making a part")]
    fn find_defaults(
        &mut self,
        sort: &ArraySort,
        constants: &[Node],
        vertices: &FxHashMap<Node, u32>,
        graph: &EGraph,
        candidates: &Candidates<'_>,
        element: &dyn Fn(Node) -> u32,
        fallback: Option<(u32, Element)>,
        findings: &mut Findings,
    ) {
        let mut first: FxHashMap<u32, (Node, u32)> = FxHashMap::default();
        for &constant in constants {
            let vertex = vertices[&graph.root(constant)];
            let root = self.graph.root(vertex);
            let meaning = element(graph.args(constant)[0]);
            let (other, of_other) = *first.entry(root).or_insert((constant, meaning));
            self.defaults.entry(root).or_insert((meaning, Element::Of(graph.args(constant)[0])));
            if of_other == meaning {
                continue;
            }
            let writes = self.graph.path(vertices[&graph.root(other)], vertex, None);
            let term = candidates.term;
            match &sort.indices {
                Indices::Infinite => {
                    let arrays = writes.iter().chain([&constant, &other]);
                    findings.lemmas.extend(arrays.map(|&array| Lemma::Default(term(array))));
                }
                Indices::Open => findings.is_open = true,
                Indices::Known(values) => {
                    let labels = self.labels.get(&root).map_or(&[][..], |labels| labels);
                    let labels_of_values = self.known.iter().flatten();
                    let unnamed = std::iter::zip(values, labels_of_values)
                        .find(|(_, label)| label.is_none_or(|label| labels.binary_search(&label).is_err()));
                    if let Some((&value, _)) = unnamed {
                        let writes = writes.iter().map(|&write| Lemma::Elsewhere(term(write), value));
                        let constants = [constant, other].map(|it| Lemma::Constant(term(it), value));
                        findings.lemmas.extend(writes.chain(constants));
                    }
                }
            }
        }
        let mut roots: Vec<u32> = self.graph.vertices().map(|(vertex, _)| self.graph.root(vertex)).collect();
        roots.sort_unstable();
        roots.dedup();
        for (number, root) in roots.into_iter().enumerate() {
            let number = number as u32;
            let new = || (BEYOND_NODES | number, Element::New(number));
            self.defaults.entry(root).or_insert_with(|| match fallback {
                _ if sort.has_new_elements => new(),
                Some(fallback) => fallback,
                None => (u32::MAX, Element::Any),
            });
        }
    }

    /// Two elements at one index for arrays that are equal there. If both are reads of one array, there is no instance,
    /// and their indices are undecided.
    fn contradiction(
        &self,
        candidates: &Candidates<'_>,
        label: u32,
        left: Reading,
        right: Reading,
        stated: &mut FxHashSet<Lemma>,
    ) {
        let (graph, term) = (candidates.graph, candidates.term);
        let index = [left.from, right.from].into_iter().find_map(|from| match from {
            From::Select(select) => Some(graph.args(select)[1]),
            _ => None,
        });
        let index = term(index.unwrap_or_else(|| self.indices[&label]));
        for from in [left.from, right.from] {
            match from {
                From::Select(_) => {}
                From::Store(write) => _ = stated.insert(Lemma::Write(term(write))),
                From::Constant(constant) => _ = stated.insert(Lemma::Constant(term(constant), index)),
            }
        }
        for write in self.graph.path(left.vertex, right.vertex, Some(label)) {
            stated.insert(Lemma::Elsewhere(term(write), index));
        }
    }

    /// What an array means at an index of its component, and the element.
    fn element(&self, vertex: u32, label: u32) -> (u32, Element) {
        match self.slots.get(&self.graph, vertex, label) {
            Some(reading) => (reading.meaning, Element::Of(reading.node)),
            None => self.defaults[&self.graph.root(vertex)],
        }
    }

    fn labels(&self, root: u32) -> &[u32] {
        self.labels.get(&root).map_or(&[], |labels| labels)
    }

    /// Numbers the arrays. If the part is not consistent, the numbers are preliminary.
    fn number(&mut self, is_consistent: bool) {
        let mut digests = vec![0_u64; self.arrays.len()];
        let mut by_digest: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        let mut numbers = vec![0; self.arrays.len()];
        let order: Vec<(u32, Option<(u32, u32)>)> = self.graph.vertices().collect();
        for (vertex, parent) in order {
            let root = self.graph.root(vertex);
            let digest = match parent {
                Some((parent, label)) => digests[parent as usize]
                    .wrapping_sub(self.share(parent, label))
                    .wrapping_add(self.share(vertex, label)),
                None => self.digest(root),
            };
            digests[vertex as usize] = digest;
            let same = by_digest.entry(digest).or_default();
            let equal = match is_consistent {
                true => same.iter().copied().find(|&other| self.are_equal(other, vertex)),
                false => None,
            };
            numbers[vertex as usize] = match equal {
                Some(other) => numbers[other as usize],
                None => {
                    same.push(vertex);
                    self.arrays[vertex as usize].0
                }
            };
        }
        self.numbers = numbers;
    }

    /// The share of an element in the digest of an array. If there are more indices than the labels, the default has
    /// none.
    fn share(&self, vertex: u32, label: u32) -> u64 {
        let (meaning, _) = self.element(vertex, label);
        let default = self.defaults[&self.graph.root(vertex)].0;
        if self.known.is_none() && meaning == default { 0 } else { mixed(label, meaning) }
    }

    fn digest(&self, root: u32) -> u64 {
        let default = self.defaults[&root].0;
        match &self.known {
            Some(known) => {
                let named = known.iter().map(|label| label.map_or(0, |label| self.share(root, label)));
                named.fold(0, u64::wrapping_add)
            }
            None => {
                let shares = self.labels(root).iter().map(|&label| self.share(root, label));
                shares.fold(mixed(u32::MAX, default), u64::wrapping_add)
            }
        }
    }

    /// Whether two arrays have the same elements.
    fn are_equal(&self, left: u32, right: u32) -> bool {
        let agree = |&label: &u32| self.element(left, label).0 == self.element(right, label).0;
        let [left_root, right_root] = [left, right].map(|vertex| self.graph.root(vertex));
        if left_root == right_root {
            return self.graph.labels_between(left, right).iter().all(agree);
        }
        let are_same_defaults = self.defaults[&left_root].0 == self.defaults[&right_root].0;
        match &self.known {
            Some(known) => known.iter().all(|label| label.map_or(are_same_defaults, |label| agree(&label))),
            None => {
                are_same_defaults
                    && [left_root, right_root].iter().all(|&root| self.labels(root).iter().all(agree))
            }
        }
    }

    /// The roots of classes with the numbers of their arrays.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (Node, u32)> + '_ {
        std::iter::zip(self.arrays.iter().copied(), self.numbers.iter().copied())
    }

    /// The elements of an array in the model: at indices, and everywhere else. Indices that are known from the start are
    /// given by position.
    pub(super) fn table(&self, root: Node) -> Table {
        let vertex = self.vertices[&root];
        let component = self.graph.root(vertex);
        let (_, default) = self.defaults[&component];
        let entries = match &self.known {
            Some(known) => {
                let entry = |(position, label): (usize, &Option<u32>)| {
                    let element = label.map_or(default, |label| self.element(vertex, label).1);
                    (Index::Known(position), element)
                };
                known.iter().enumerate().map(entry).collect()
            }
            None => {
                let entry = |&label: &u32| (Index::Of(self.indices[&label]), self.element(vertex, label).1);
                self.labels(component).iter().map(entry).collect()
            }
        };
        Table { default, entries }
    }
}

/// An array in the model.
pub(super) struct Table {
    pub(super) default: Element,
    pub(super) entries: Vec<(Index, Element)>,
}

/// An index in the model.
#[derive(Clone, Copy)]
pub(super) enum Index {
    /// That of this node.
    Of(Node),
    /// The value at this position among all.
    Known(usize),
}

/// A random number for an index and an element.
fn mixed(label: u32, meaning: u32) -> u64 {
    let mut mixed = (u64::from(label) << 32 | u64::from(meaning)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
