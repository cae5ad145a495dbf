//! Terms, atoms and clauses of the engine, and unification.
//!
//! Terms are hash-consed in a [`Bank`]: equal terms have equal numbers. Variables are numbers of a clause. Two
//! clauses are renamed apart by [`SIDE`], which is added to the variables of one of them. Nothing recurs on terms.

use rustc_hash::{FxHashMap, FxHashSet};

/// The distance of the variables of a side clause.
pub(super) const SIDE: u32 = 1 << 24;

/// A term of a bank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Id(u32);

/// The top of a term.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Node {
    Variable(u32),
    /// A constructor or a value with its fields.
    Application(u32, Box<[Id]>),
}

/// An atom: a relation by its number, applied to terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Atom {
    pub(super) relation: usize,
    pub(super) arguments: Box<[Id]>,
}

/// A Horn clause without a constraint. Its variables are numbered from zero in the order of their occurrence.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Clause {
    pub(super) body: Vec<Atom>,
    pub(super) head: Option<Atom>,
}

impl Clause {
    pub(super) fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.head.iter().chain(&self.body)
    }
}

/// The terms.
#[derive(Default)]
pub(super) struct Bank {
    nodes: Vec<Node>,
    /// The numbers of symbols and variables in terms.
    sizes: Vec<u32>,
    ids: FxHashMap<Node, Id>,
}

impl Bank {
    pub(super) fn term(&mut self, node: Node) -> Id {
        if let Some(&known) = self.ids.get(&node) {
            return known;
        }
        let id = Id(u32::try_from(self.nodes.len()).expect("a bank has less than 2^32 terms"));
        let size = match &node {
            Node::Variable(_) => 1,
            Node::Application(_, fields) => {
                fields.iter().fold(1u32, |size, field| size.saturating_add(self.sizes[field.0 as usize]))
            }
        };
        self.nodes.push(node.clone());
        self.sizes.push(size);
        self.ids.insert(node, id);
        id
    }

    pub(super) fn variable(&mut self, number: u32) -> Id {
        self.term(Node::Variable(number))
    }

    pub(super) fn node(&self, term: Id) -> &Node {
        &self.nodes[term.0 as usize]
    }

    pub(super) fn size(&self, term: Id) -> u32 {
        self.sizes[term.0 as usize]
    }

    /// The number of terms.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The numbers of the variables of terms, each once, in the order of their occurrence.
    pub(super) fn variables<'t>(&self, terms: impl IntoIterator<Item = &'t Id>) -> Vec<u32> {
        let mut found = Vec::new();
        let mut open: Vec<Id> = terms.into_iter().copied().collect();
        open.reverse();
        while let Some(term) = open.pop() {
            match self.node(term) {
                Node::Variable(number) => {
                    if !found.contains(number) {
                        found.push(*number);
                    }
                }
                Node::Application(_, fields) => open.extend(fields.iter().rev()),
            }
        }
        found
    }

    /// A term with each variable replaced by its image.
    fn mapped(&mut self, term: Id, known: &mut FxHashMap<Id, Id>, image: &impl Fn(u32) -> Image) -> Id {
        let mut open = vec![term];
        while let Some(&term) = open.last() {
            if known.contains_key(&term) {
                open.pop();
                continue;
            }
            let result = match self.node(term) {
                &Node::Variable(number) => match image(number) {
                    Image::Variable(number) => self.variable(number),
                    Image::Term(bound) => match known.get(&bound) {
                        Some(&result) => result,
                        None => {
                            open.push(bound);
                            continue;
                        }
                    },
                },
                Node::Application(symbol, fields) => {
                    let before = open.len();
                    open.extend(fields.iter().filter(|field| !known.contains_key(field)));
                    if open.len() > before {
                        continue;
                    }
                    let node = Node::Application(*symbol, fields.iter().map(|field| known[field]).collect());
                    self.term(node)
                }
            };
            known.insert(term, result);
            open.pop();
        }
        known[&term]
    }

    /// The clause with variables that are greater by [`SIDE`].
    pub(super) fn shifted(&mut self, clause: &Clause) -> Clause {
        self.mapped_clause(clause, &|number| Image::Variable(number + SIDE))
    }

    /// The clause with variables numbered in the order of their occurrence, head first.
    pub(super) fn numbered(&mut self, clause: &Clause) -> Clause {
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let variables = self.variables(clause.atoms().flat_map(|atom| atom.arguments.iter()));
        numbers.extend(variables.into_iter().zip(0..));
        self.mapped_clause(clause, &|number| Image::Variable(numbers[&number]))
    }

    fn mapped_clause(&mut self, clause: &Clause, image: &impl Fn(u32) -> Image) -> Clause {
        let mut known = FxHashMap::default();
        let mut atom = |atom: &Atom| Atom {
            relation: atom.relation,
            arguments: atom.arguments.iter().map(|&term| self.mapped(term, &mut known, image)).collect(),
        };
        Clause {
            head: clause.head.as_ref().map(&mut atom),
            body: clause.body.iter().map(&mut atom).collect(),
        }
    }
}

/// What a variable becomes.
enum Image {
    Variable(u32),
    /// A term whose variables are replaced, too.
    Term(Id),
}

/// A most general unifier. Bindings may mention bound variables, but never in a cycle.
#[derive(Default)]
pub(super) struct Unifier {
    bindings: FxHashMap<u32, Id>,
}

impl Unifier {
    /// The most general unifier of two atoms of the same relation.
    pub(super) fn of(bank: &Bank, a: &Atom, b: &Atom) -> Option<Self> {
        let mut unifier = Unifier::default();
        let pairs = a.arguments.iter().copied().zip(b.arguments.iter().copied());
        unifier.unify(bank, pairs.collect()).then_some(unifier)
    }

    /// A unifier that starts with bindings of the variables of a side clause, given by their numbers before
    /// [`SIDE`] was added.
    pub(super) fn of_side(bindings: impl Iterator<Item = (u32, Id)>) -> Self {
        Unifier { bindings: bindings.map(|(number, term)| (number + SIDE, term)).collect() }
    }

    /// Whether pairs of terms can be made equal. If not, the bindings mean nothing, and the unifier must not be used again.
    pub(super) fn unify(&mut self, bank: &Bank, mut open: Vec<(Id, Id)>) -> bool {
        while let Some((a, b)) = open.pop() {
            let (a, b) = (self.walk(bank, a), self.walk(bank, b));
            if a == b {
                continue;
            }
            match (bank.node(a), bank.node(b)) {
                (&Node::Variable(number), _) => {
                    if self.occurs(bank, number, b) {
                        return false;
                    }
                    self.bindings.insert(number, b);
                }
                (_, &Node::Variable(number)) => {
                    if self.occurs(bank, number, a) {
                        return false;
                    }
                    self.bindings.insert(number, a);
                }
                (Node::Application(f, fields), Node::Application(g, others)) => {
                    if f != g {
                        return false;
                    }
                    open.extend(fields.iter().copied().zip(others.iter().copied()));
                }
            }
        }
        true
    }

    /// The number of bound variables.
    pub(super) fn len(&self) -> usize {
        self.bindings.len()
    }

    fn walk(&self, bank: &Bank, mut term: Id) -> Id {
        while let Node::Variable(number) = bank.node(term)
            && let Some(&next) = self.bindings.get(number)
        {
            term = next;
        }
        term
    }

    fn occurs(&self, bank: &Bank, variable: u32, term: Id) -> bool {
        let mut open = vec![term];
        let mut seen = FxHashSet::default();
        while let Some(term) = open.pop() {
            let term = self.walk(bank, term);
            match bank.node(term) {
                Node::Variable(number) if *number == variable => return true,
                Node::Variable(_) => {}
                Node::Application(_, fields) => {
                    if seen.insert(term) {
                        open.extend(fields);
                    }
                }
            }
        }
        false
    }

    /// The clause with all bindings applied.
    pub(super) fn apply(&self, bank: &mut Bank, clause: &Clause) -> Clause {
        bank.mapped_clause(clause, &|number| {
            self.bindings.get(&number).map_or(Image::Variable(number), |&bound| Image::Term(bound))
        })
    }
}
