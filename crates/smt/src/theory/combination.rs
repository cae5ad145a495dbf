//! Theory combination: the theory that the search uses.
//!
//! **The problem.** Theories share terms. To arithmetic, `f(x)` is a number like any other; to congruence, `x` and
//! `f(x)` are nodes. Congruence is the hub: a term that two theories know is a node, and a node of a sort that another
//! theory owns is *shared* with this theory.
//!
//! **The idea.** Each theory has a candidate model: congruence has its classes, the others have values for the terms
//! they own. The candidates fit together if
//!
//! - M1: shared nodes in one class have the same value, and
//! - M2: functions are functions: two applications of one function whose arguments mean the same (the same value, or
//!   the same class if only congruence owns the argument) have results that mean the same.
//!
//! Then the values, with the functions as tables over them, are a model for all theories. Constructors of datatypes are
//! functions of congruence, too: by M2 different classes with the same constructor differ in the values of a field.
//! Otherwise some pair of shared nodes is to blame: two of one class with different values, or two at the same argument
//! position with the same value but in different classes. The pair gets an *interface equality*, a new atom of
//! congruence and of the owner of the sort, and the search must decide it. Testing `M1` and `M2` on the candidates,
//! instead of looking for pairs of equal values, avoids most pairs: in typical candidates many values are equal by
//! accident.
//!
//! ```text
//! check:
//!     congruence, then the others one by one: conflict?  stop
//! final check, where none has anything to add:
//!     terms of datatypes that need a constructor:        pause for lemmas (`datatypes/`)
//!     pairs that M1 blames, or if there are none M2:     make their interface equalities
//!     arrays that contradict an axiom:                   pause for lemmas (`arrays/`)
//!     none of these:                                     the candidates fit
//! ```
//!
//! **Why it is right.** Every atom `x = y` of congruence between shared nodes is an atom of the owner, too. *Sound*: an
//! atom has the same meaning in both. *Complete*: when all of them are assigned and no theory objects, an existing
//! interface equality violates neither M1 (if true, the owner has equal values) nor M2 (if true there is one class, if
//! false the values differ). So each check makes new ones or accepts, and there are finitely many pairs. A false
//! equation between owned terms holds by their values, and one between other nodes by their classes.
//!
//! **Routing.** A variable of the search has a set of owners, one byte whose bits are ids of theories. A literal is
//! asserted only to its owners, congruence first. A theory's levels are opened when something is asserted to it (C10 of
//! `component.rs`). Tokens and certificates carry the id of their theory in the upper bits, which the theories do not
//! see.
//!
//! Invariants:
//! - N1: a variable that was made an atom has owners; an atom that a theory made has this theory as an owner.
//! - N2: a theory has opened the levels of the search up to `opened`, which is not above `level`.
//! - N3: a node whose sort has an owner other than congruence is shared.
//!
//! **Where it comes from.** L. de Moura and N. Bjørner, *Model-based theory combination* (SMT 2007), for trying the
//! equalities of the current model; interface equalities as clauses are those of OpenSMT. Testing M2 directly, by
//! looking for applications with the same arguments, is ours.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Sort, SortKind, Term, TermStore, Value};

use super::arrays::{Arrays, Candidates, Solution, Verdict};
use super::certificate::{CongruenceArgument, EqualNodes};
use super::component::{Component, Handle, MOST_THEORIES, TermLemma, Terms, TheoryId, Values};
use super::congruence::Congruence;
use super::datatypes::model::Tree;
use super::datatypes::{Datatypes, axiom};
use super::euf::{self, Node, ProofWhy, Reason, Role};
use crate::proof::{CongruenceEdge, CongruenceProof, CycleProof, EdgeRule, Justification};
use crate::sat::{Answers, Certificate, Clash, Effort, Lit, Theory, Var};
use crate::theory::claims::is_application;

/// The nodes that are truth values.
const TRUTH_VALUES: usize = 2;

/// The theories of a solver and their shared terms.
pub struct Combination {
    congruence: Congruence,
    datatypes: Datatypes,
    arrays: Arrays,
    /// The other theories. The id of each is its position plus one.
    others: Vec<Box<dyn Component>>,
    /// By variables of the search: the owners (N1).
    owners: Vec<u8>,
    /// The theories that own something.
    engaged: u8,
    /// The level of the search, and the levels that theories have opened (N2).
    level: u32,
    opened: [u32; MOST_THEORIES],
    /// Whether a theory has reported a clash since the last backtracking.
    has_clashed: bool,
    /// The nodes of symbols, values and applications.
    nodes: FxHashMap<Term, Node>,
    /// The term of each node but the truth values, which come first.
    terms: Vec<Term>,
    /// The congruence symbols of functions with arguments, by operator.
    functions: FxHashMap<Op, euf::Symbol>,
    /// The nodes that another theory owns, in the order in which they were shared.
    shared: Vec<Shared>,
    /// The position of each shared node in `shared`.
    positions: FxHashMap<Node, usize>,
    /// Applications with shared arguments.
    applications: Vec<Node>,
    /// Whether there are terms of datatypes.
    has_datatypes: bool,
    /// The interface equalities, by pairs with the smaller node first.
    equalities: FxHashMap<(Node, Node), Var>,
    /// The shortcuts: equalities that the search lacked.
    shortcuts: FxHashSet<Var>,
}

/// A node that another theory owns.
#[derive(Clone, Copy)]
struct Shared {
    node: Node,
    owner: TheoryId,
    handle: Handle,
}

impl Combination {
    /// Congruence with other theories, initially empty.
    ///
    /// # Panics
    ///
    /// If there are more than [`MOST_THEORIES`].
    pub fn new(others: Vec<Box<dyn Component>>) -> Self {
        assert!(others.len() < MOST_THEORIES, "sets of theories are bytes");
        Combination {
            congruence: Congruence::default(),
            datatypes: Datatypes::default(),
            arrays: Arrays::default(),
            others,
            owners: Vec::new(),
            engaged: 0,
            level: 0,
            has_clashed: false,
            opened: [0; MOST_THEORIES],
            nodes: FxHashMap::default(),
            terms: Vec::new(),
            functions: FxHashMap::default(),
            shared: Vec::new(),
            positions: FxHashMap::default(),
            applications: Vec::new(),
            has_datatypes: false,
            equalities: FxHashMap::default(),
            shortcuts: FxHashSet::default(),
        }
    }

    /// Stores arguments for proofs from now on.
    pub fn log_proofs(&mut self) {
        self.congruence.log_proofs();
        self.others.iter_mut().for_each(|theory| theory.log_proofs());
    }

    /// The theory that owns a sort. The sort is [supported](super::claims::supports_sort).
    fn owner(&self, store: &TermStore, sort: Sort) -> TheoryId {
        let position = self.others.iter().position(|theory| theory.owns_sort(store, sort));
        position.map_or(TheoryId::CONGRUENCE, |position| TheoryId(position as u8 + 1))
    }

    #[inline]
    fn theory(&mut self, id: TheoryId) -> &mut dyn Theory {
        self.leveled(id).0
    }

    /// A theory and the levels that it has opened (N2).
    #[inline]
    fn leveled(&mut self, id: TheoryId) -> (&mut dyn Theory, &mut u32) {
        let theory: &mut dyn Theory = match id {
            TheoryId::CONGRUENCE => &mut self.congruence,
            TheoryId(position) => &mut *self.others[usize::from(position) - 1],
        };
        (theory, &mut self.opened[usize::from(id.0)])
    }

    fn other(&self, TheoryId(position): TheoryId) -> &dyn Component {
        &*self.others[usize::from(position) - 1]
    }

    /// The theories other than congruence that own something.
    fn engaged(&self) -> impl Iterator<Item = TheoryId> + use<> {
        members(self.engaged & !TheoryId::CONGRUENCE.bit())
    }

    fn own(&mut self, var: Var, owner: TheoryId) {
        if self.owners.len() <= var.index() {
            self.owners.resize(var.index() + 1, 0);
        }
        self.owners[var.index()] |= owner.bit();
        self.engaged |= owner.bit();
    }

    /// Lets a theory answer. It owns the variables that it makes (N1).
    fn answering(
        &mut self,
        id: TheoryId,
        answers: &mut Answers<'_>,
        answer: impl FnOnce(&mut dyn Component, &mut Answers<'_>),
    ) {
        answers.set_mark(id.mark());
        let first = answers.next_var();
        answer(&mut *self.others[usize::from(id.0) - 1], answers);
        for index in first.index()..answers.next_var().index() {
            self.own(Var::from_index(index), id);
        }
    }

    // ---- terms -------------------------------------------------------------------------------------------------

    /// Whether no theory knows a symbol.
    pub fn is_new(&self, symbol: Term) -> bool {
        !self.nodes.contains_key(&symbol) && !self.others.iter().any(|theory| theory.knows(symbol))
    }

    /// Defines a variable as a normal atom. An atom that is a symbol has no owner. The literal of an application was
    /// defined with its node.
    pub fn define(&mut self, var: Var, atom: Term, terms: &mut Terms<'_, '_>) {
        self.define_atom(var, atom, terms);
        if self.has_datatypes {
            self.datatypes.add_atom(terms.store(), var, atom, |term| self.nodes.get(&term).copied());
        }
        self.arrays.add_atom(terms.store(), var, atom, |term| self.nodes.get(&term).copied());
    }

    fn define_atom(&mut self, var: Var, atom: Term, terms: &mut Terms<'_, '_>) {
        let store = terms.store();
        match store.view(atom) {
            (_, []) => {}
            (Op::Eq, &[left, right]) => match self.owner(store, store.sort_of(left)) {
                TheoryId::CONGRUENCE => {
                    let (left, right) = (self.node(left, terms), self.node(right, terms));
                    self.congruence.define_equation(var, left, right);
                    self.own(var, TheoryId::CONGRUENCE);
                    terms.answers().make_atom(var);
                }
                owner => self.define_owned_equality(var, atom, owner, terms),
            },
            _ => {
                for position in 0..self.others.len() {
                    let id = TheoryId(position as u8 + 1);
                    terms.answers().set_mark(id.mark());
                    if self.others[position].define(var, atom, terms) {
                        self.own(var, id);
                        terms.answers().make_atom(var);
                    }
                }
            }
        }
    }

    /// Defines an equality of an owned sort. It is also an atom of congruence if one of its sides is a node.
    fn define_owned_equality(&mut self, var: Var, atom: Term, owner: TheoryId, terms: &mut Terms<'_, '_>) {
        let store = terms.store();
        terms.answers().set_mark(owner.mark());
        let theory = &mut self.others[usize::from(owner.0) - 1];
        let is_defined = theory.define(var, atom, terms);
        debug_assert!(is_defined, "a theory defines the equalities of its sorts (C7)");
        self.own(var, owner);
        if !self.nodes.is_empty()
            && let Some((left, right)) = self.other(owner).sides(store, atom)
            && [left, right].iter().any(|&side| self.known_node(side, owner, store).is_some())
        {
            let (left, right) = (self.node(left, terms), self.node(right, terms));
            self.congruence.define_equation(var, left, right);
            self.own(var, TheoryId::CONGRUENCE);
            self.equalities.entry(pair(left, right)).or_insert(var);
        }
        terms.answers().make_atom(var);
    }

    fn known_node(&self, term: Term, owner: TheoryId, store: &TermStore) -> Option<Node> {
        self.nodes.get(&self.other(owner).representative(store, term)).copied()
    }

    /// The node of a term that congruence represents: a symbol, a value, or an application of a function to such terms,
    /// which already have nodes.
    pub fn node(&mut self, term: Term, terms: &mut Terms<'_, '_>) -> Node {
        match term {
            Term::TRUE => return Node::TRUE,
            Term::FALSE => return Node::FALSE,
            _ => {}
        }
        let store = terms.store();
        let sort = store.sort_of(term);
        let owner = self.owner(store, sort);
        let term = match owner {
            TheoryId::CONGRUENCE => term,
            _ => self.other(owner).representative(store, term),
        };
        if let Some(&node) = self.nodes.get(&term) {
            return node;
        }
        let node = if is_application(store, term) {
            let (function, args) = store.view(term);
            args.iter().for_each(|&arg| demand_argument(store, arg, terms));
            let args: Vec<Node> = args.iter().map(|&arg| self.node(arg, terms)).collect();
            let symbol = self.function(function);
            self.congruence.node(symbol, &args)
        } else if owner != TheoryId::CONGRUENCE && self.other(owner).is_value(store, term) {
            self.congruence.new_value()
        } else {
            let symbol = self.congruence.new_symbol();
            self.congruence.node(symbol, &[])
        };
        self.nodes.insert(term, node);
        // Terms with the same representatives as arguments have one node.
        match self.terms.get_mut(node.0 as usize - TRUTH_VALUES) {
            Some(known) => *known = term,
            None => self.terms.push(term),
        }
        self.has_datatypes |= matches!(store.sort_kind(sort), SortKind::Datatype(_));
        if owner != TheoryId::CONGRUENCE {
            self.share(node, term, owner, terms);
        } else if sort == Sort::BOOL {
            let is_dispensable = is_dispensable(store, term);
            let literal = if is_dispensable { terms.dispensable_literal(term) } else { terms.literal(term) };
            let var = literal.var();
            self.congruence.define_truth(var, node);
            self.own(var, TheoryId::CONGRUENCE);
            terms.answers().make_atom(var);
            if !is_dispensable {
                // The node may be an argument. Without a value it would differ from both truth values.
                terms.answers().demand_value(var);
            }
            if let Op::Tester(constructor) = store.op(term) {
                self.datatypes.add_tester(store, node, constructor, var);
            }
        }
        self.arrays.add_node(store, self.congruence.graph(), node, term);
        // Arrays are tested by themselves.
        if !matches!(store.op(term), Op::Select | Op::Store | Op::ConstArray(_))
            && self.congruence.graph().args(node).iter().any(|arg| self.positions.contains_key(arg))
        {
            self.applications.push(node);
        }
        node
    }

    /// The symbol of a function in congruence.
    fn function(&mut self, function: Op) -> euf::Symbol {
        if let Some(&symbol) = self.functions.get(&function) {
            return symbol;
        }
        let symbol = match function {
            Op::Construct(_) => self.congruence.new_symbol_with(Role::Constructor),
            Op::Selector { constructor, field } => {
                let constructor = self.function(Op::Construct(constructor));
                self.congruence.new_symbol_with(Role::Selector(constructor, field))
            }
            Op::Tester(constructor) => {
                let constructor = self.function(Op::Construct(constructor));
                self.congruence.new_symbol_with(Role::Tester(constructor))
            }
            _ => self.congruence.new_symbol(),
        };
        self.functions.insert(function, symbol);
        symbol
    }

    /// Shares a node with the theory that owns the term (N3).
    fn share(&mut self, node: Node, term: Term, owner: TheoryId, terms: &mut Terms<'_, '_>) {
        let handle = self.others[usize::from(owner.0) - 1].share(terms.store(), term);
        self.engaged |= owner.bit();
        self.positions.insert(node, self.shared.len());
        self.shared.push(Shared { node, owner, handle });
    }

    /// Starts a query. Theories no longer need the returned variables to be decided.
    pub(crate) fn start_query(&mut self) -> Vec<Var> {
        let mut released = Vec::new();
        self.congruence.start_query();
        self.arrays.start_query();
        self.others.iter_mut().for_each(|theory| theory.start_query(&mut released));
        released
    }

    /// The lemmas of theories over formulas, after a query that has paused, with certificates of the combination.
    pub fn take_lemmas(&mut self, store: &TermStore) -> Vec<TermLemma> {
        let Self { congruence, datatypes, arrays, terms, .. } = self;
        let mut lemmas = datatypes.take_lemmas(store, |node| terms[node.0 as usize - TRUTH_VALUES]);
        lemmas.extend(arrays.take_lemmas(store, congruence.arguments_mut()));
        for (position, theory) in self.others.iter_mut().enumerate() {
            let mark = TheoryId(position as u8 + 1).mark();
            lemmas.extend(theory.take_lemmas(store).into_iter().map(|lemma| {
                let Certificate(number) = lemma.certificate;
                TermLemma { certificate: Certificate(mark | number), ..lemma }
            }));
        }
        lemmas
    }

    /// After a query that has paused: the sides of equalities that the search lacks (`shortcuts.rs`).
    pub fn take_shortcuts(&mut self, store: &TermStore) -> Vec<(Term, Term)> {
        let pairs = self.congruence.take_shortcuts().into_iter();
        let pairs = pairs.map(|(left, right)| (self.term(left), self.term(right)));
        pairs.filter(|&(left, _)| store.sort_of(left) != Sort::BOOL).collect()
    }

    /// Makes the search try an equality as false first.
    pub fn set_shortcut(&mut self, var: Var) {
        self.shortcuts.insert(var);
    }

    /// The counters of theories, by name.
    pub fn statistics(&self) -> Vec<(&'static str, u64)> {
        let mut counters = vec![("datatype-cycles", self.congruence.cycles())];
        self.datatypes.statistics(&mut counters);
        self.arrays.statistics(&mut counters);
        self.others.iter().for_each(|theory| theory.statistics(&mut counters));
        counters
    }

    // ---- proofs ------------------------------------------------------------------------------------------------

    /// The formula of a variable that a theory made.
    pub fn formula(&self, store: &TermStore, var: Var) -> Option<Term> {
        let owners = self.owners.get(var.index())?;
        let others = members(owners & !TheoryId::CONGRUENCE.bit());
        others.filter_map(|id| self.other(id).formula(store, var)).next().or_else(|| {
            let (left, right) = self.congruence.sides(var)?;
            Some(store.eq(self.term(left), self.term(right)))
        })
    }

    /// The justification of a clause of a theory. Each literal is given as its atom and whether it affirms the atom.
    pub fn justification(
        &self,
        store: &TermStore,
        Certificate(number): Certificate,
        clause: &[Lit],
        atom: &dyn Fn(Lit) -> (Term, bool),
    ) -> Justification {
        let (id, number) = TheoryId::of_marked(number);
        if id != TheoryId::CONGRUENCE {
            return self.other(id).justification(store, Certificate(number), clause, atom);
        }
        match self.congruence.argument(Certificate(number)) {
            CongruenceArgument::Axiom => axiom::justification(store, clause.iter().map(|&lit| atom(lit))),
            CongruenceArgument::Instance(axiom) => Justification::Axiom(axiom.clone()),
            CongruenceArgument::Apart { edges, apart: (left, right), distinct } => {
                Justification::Congruence(CongruenceProof {
                    edges: self.edges(edges),
                    apart: (self.term(left), self.term(right)),
                    distinct,
                })
            }
            CongruenceArgument::Cycle { edges, cycle } => Justification::Cycle(CycleProof {
                edges: self.edges(edges),
                cycle: cycle.iter().map(|&node| self.term(node)).collect(),
            }),
        }
    }

    fn edges(&self, edges: &[EqualNodes]) -> Box<[CongruenceEdge]> {
        let edges = edges.iter().map(|edge| CongruenceEdge {
            left: self.term(edge.left),
            right: self.term(edge.right),
            why: match edge.why {
                ProofWhy::Input(Reason(code)) => EdgeRule::Literal(Lit::from_code(code)),
                ProofWhy::Congruence => EdgeRule::Congruence,
                ProofWhy::Injection(first, second) => {
                    EdgeRule::Injection(self.term(first), self.term(second))
                }
                ProofWhy::Reduction { operator, made } => {
                    EdgeRule::Reduction { operator: self.term(operator), made: self.term(made) }
                }
            },
        });
        edges.collect()
    }

    fn term(&self, node: Node) -> Term {
        term_of(&self.terms, node)
    }

    // ---- models ------------------------------------------------------------------------------------------------

    /// After a final check without an answer: the parts of the model.
    pub fn model(&self) -> CombinedModel<'_> {
        let classes = self.congruence.model();
        let mut shared = vec![None; classes.first.len()];
        for it in &self.shared {
            shared[classes.class_of[it.node.0 as usize] as usize].get_or_insert((it.owner, it.handle));
        }
        let values = self.others.iter().map(|theory| theory.values()).collect();
        CombinedModel { theories: self, classes, shared, values }
    }

    // ---- candidates --------------------------------------------------------------------------------------------

    /// Finds pairs to blame for M1 or M2, and makes their interface equalities. If there are none, tests the arrays.
    fn combine(&mut self, answers: &mut Answers<'_>) {
        if self.shared.is_empty() && self.arrays.is_idle() {
            return;
        }
        let values = self.candidates();
        let mut blamed = self.split_classes(&values);
        if blamed.is_empty() {
            blamed = self.ambiguous_arguments(&values);
        }
        if blamed.is_empty() && !self.arrays.is_idle() {
            match self.check_arrays(&values) {
                Verdict::Model => {}
                Verdict::Undecided(pairs) => blamed = pairs,
                Verdict::Instances => answers.postpone(),
                Verdict::Unknown => answers.give_up(),
            }
        }
        for &(left, right) in &blamed {
            self.new_equality(left, right, answers);
        }
        if !blamed.is_empty() {
            answers.set_mark(TheoryId::CONGRUENCE.mark());
            self.congruence.check(Effort::Final, answers);
        }
    }

    fn check_arrays(&mut self, values: &[u32]) -> Verdict {
        let Self { congruence, arrays, positions, terms, nodes, .. } = self;
        arrays.check(&Candidates {
            graph: congruence.graph(),
            value: &|node| positions.get(&node).map(|&position| values[position]),
            term: &|node| term_of(terms, node),
            node: &|term| match term {
                Term::TRUE => Some(Node::TRUE),
                Term::FALSE => Some(Node::FALSE),
                term => nodes.get(&term).copied(),
            },
        })
    }

    /// Numbers the values of the shared nodes, by position: equal values of one theory have equal numbers.
    fn candidates(&self) -> Vec<u32> {
        let mut by_theory: [Vec<u32>; MOST_THEORIES] = Default::default();
        self.engaged().for_each(|id| by_theory[usize::from(id.0)] = self.other(id).candidate());
        let number = |it: &Shared| by_theory[usize::from(it.owner.0)][it.handle.0 as usize];
        self.shared.iter().map(number).collect()
    }

    /// Pairs in one class with different values (M1).
    fn split_classes(&self, values: &[u32]) -> Vec<(Node, Node)> {
        let graph = self.congruence.graph();
        let mut first_of_class: FxHashMap<Node, usize> = FxHashMap::default();
        let mut blamed = Vec::new();
        for (position, &Shared { node, .. }) in self.shared.iter().enumerate() {
            let first = *first_of_class.entry(graph.root(node)).or_insert(position);
            if values[first] != values[position] {
                blamed.push((self.shared[first].node, node));
            }
        }
        blamed
    }

    /// Pairs of arguments with the same value but in different classes, of applications that are the same by their
    /// values but have different results (M2).
    fn ambiguous_arguments(&self, values: &[u32]) -> Vec<(Node, Node)> {
        let graph = self.congruence.graph();
        let value = |node: Node| self.positions.get(&node).map(|&position| values[position]);
        // The arguments of a function at one position have one owner, so values and classes do not mix.
        let meaning = |node: Node| value(node).unwrap_or_else(|| graph.root(node).0);
        let mut first_of_line: FxHashMap<Vec<u32>, Node> = FxHashMap::default();
        let mut blamed = Vec::new();
        for &application in &self.applications {
            let args = graph.args(application).iter().map(|&arg| meaning(arg));
            let line: Vec<u32> = std::iter::once(graph.symbol(application).0).chain(args).collect();
            let first = *first_of_line.entry(line).or_insert(application);
            if meaning(first) == meaning(application) {
                continue;
            }
            let args = std::iter::zip(graph.args(first), graph.args(application));
            blamed.extend(args.filter(|(a, b)| !graph.are_equal(**a, **b)).map(|(&a, &b)| pair(a, b)));
        }
        blamed.sort_unstable();
        blamed.dedup();
        blamed
    }

    /// Makes the interface equality of two shared nodes.
    fn new_equality(&mut self, left: Node, right: Node, answers: &mut Answers<'_>) {
        if let Some(&equality) = self.equalities.get(&pair(left, right)) {
            // Congruence may know its value without propagating it: it propagated the literal at a level that is gone,
            // while the premises remain. The search now decides the atom as congruence suggests, and so the owner
            // learns of it.
            answers.set_decision(equality, true);
            return;
        }
        let [left_side, right_side] = [left, right].map(|node| self.shared[self.positions[&node]]);
        let equality = answers.new_atom();
        self.congruence.define_equation(equality, left, right);
        self.equalities.insert(pair(left, right), equality);
        self.own(equality, TheoryId::CONGRUENCE);
        self.own(equality, left_side.owner);
        self.answering(left_side.owner, answers, |theory, answers| {
            theory.define_equality(equality, left_side.handle, right_side.handle, answers);
        });
    }
}

impl Theory for Combination {
    #[inline]
    fn assert(&mut self, lit: Lit) -> Result<(), Clash> {
        let level = self.level;
        for id in members(self.owners[lit.var().index()]) {
            let (theory, opened) = self.leveled(id);
            while *opened < level {
                *opened += 1;
                theory.push_level();
            }
            if let Err(clash) = theory.assert(lit) {
                self.has_clashed = true;
                return Err(clash);
            }
        }
        if !self.datatypes.is_idle() {
            self.datatypes.assign(level, lit.var());
        }
        if !self.arrays.is_idle() {
            self.arrays.assign(level, lit.var(), lit.is_positive());
        }
        Ok(())
    }

    fn push_level(&mut self) {
        self.level += 1;
    }

    fn pop_levels(&mut self, count: u32) {
        self.level -= count;
        self.has_clashed = false;
        let level = self.level;
        for id in members(self.engaged) {
            let (theory, opened) = self.leveled(id);
            if *opened > level {
                theory.pop_levels(*opened - level);
                *opened = level;
            }
        }
        self.datatypes.pop_to(level);
        self.arrays.pop_to(level);
    }

    fn check(&mut self, effort: Effort, answers: &mut Answers<'_>) {
        if self.engaged & TheoryId::CONGRUENCE.bit() != 0 {
            answers.set_mark(TheoryId::CONGRUENCE.mark());
            self.congruence.check(effort, answers);
            if answers.has_conflict() {
                return;
            }
            // The conflict of a clash cannot wait.
            if self.congruence.lacks_shortcuts() && !self.has_clashed {
                answers.postpone();
                return;
            }
        }
        for id in self.engaged() {
            self.answering(id, answers, |theory, answers| theory.check(effort, answers));
            if answers.has_conflict() || effort == Effort::Final && answers.is_decisive() {
                return;
            }
        }
        if effort == Effort::Final {
            if !self.datatypes.is_idle() && self.datatypes.lacks_constructors(self.congruence.graph()) {
                answers.postpone();
                return;
            }
            self.combine(answers);
        }
    }

    fn explain(&mut self, lit: Lit, token: u32, out: &mut Vec<Lit>) -> Certificate {
        let (id, token) = TheoryId::of_marked(token);
        let Certificate(number) = self.theory(id).explain(lit, token, out);
        Certificate(id.mark() | number)
    }

    fn agrees(&mut self, lit: Lit) -> bool {
        let owners = self.owners[lit.var().index()];
        members(owners).all(|id| self.theory(id).agrees(lit))
    }

    fn retain_certificates(&mut self, kept: &mut [Certificate]) {
        let theory_of = |certificate: &Certificate| TheoryId::of_marked(certificate.0).0;
        let mut rest = kept;
        // They ascend, so those of one theory are contiguous. A theory without any is called as well.
        for position in 0..=self.others.len() {
            let id = TheoryId(position as u8);
            let (own, others) = rest.split_at_mut(rest.partition_point(|it| theory_of(it) <= id));
            own.iter_mut().for_each(|certificate| certificate.0 &= !id.mark());
            self.theory(id).retain_certificates(own);
            own.iter_mut().for_each(|certificate| certificate.0 |= id.mark());
            rest = others;
        }
    }

    /// The value that congruence knows, or else the value in the current candidates, or that of the simplest
    /// constructor.
    fn suggest_phase(&mut self, atom: Var) -> Option<bool> {
        let owners = *self.owners.get(atom.index())?;
        if !self.shortcuts.is_empty() && self.shortcuts.contains(&atom) {
            return self.congruence.known(atom).or(Some(false));
        }
        let suggestion = members(owners).find_map(|id| self.theory(id).suggest_phase(atom));
        suggestion.or_else(|| self.datatypes.phase(atom))
    }
}

/// The model, as the theories provide it.
pub struct CombinedModel<'t> {
    theories: &'t Combination,
    /// Classes, and the functions on them.
    classes: euf::ClassModel,
    /// For each class a shared member.
    shared: Vec<Option<(TheoryId, Handle)>>,
    /// By theory, without congruence.
    values: Vec<Box<dyn Values + 't>>,
}

impl CombinedModel<'_> {
    /// The value of a symbol, or its class; `None` if no theory knows the symbol.
    pub(crate) fn symbol(&self, store: &TermStore, symbol: Term) -> Option<Meaning> {
        let owner = self.theories.owner(store, store.sort_of(symbol));
        if owner == TheoryId::CONGRUENCE {
            let node = self.theories.nodes.get(&symbol)?;
            return Some(Meaning::Class(self.classes.class_of[node.0 as usize]));
        }
        Some(Meaning::Value(self.values[usize::from(owner.0) - 1].symbol(store, symbol)?))
    }

    /// The value of a class whose sort a theory other than congruence owns.
    pub(crate) fn shared(&self, store: &TermStore, class: u32, sort: Sort) -> Option<Value> {
        let (owner, handle) = self.shared[class as usize]?;
        Some(self.values[usize::from(owner.0) - 1].shared(store, handle, sort))
    }

    /// The arrays that matter, as the last final check has found them.
    pub(crate) fn arrays(&self) -> &Solution {
        self.theories.arrays.solution()
    }

    /// The class of a node.
    pub(crate) fn class_of(&self, node: Node) -> u32 {
        self.classes.class_of[node.0 as usize]
    }

    /// The root of a class.
    pub(crate) fn root(&self, class: u32) -> Node {
        self.theories.congruence.graph().root(self.classes.first[class as usize])
    }

    /// The classes of datatypes.
    pub(crate) fn trees(&self, store: &TermStore) -> Vec<Tree> {
        if !self.theories.has_datatypes {
            return Vec::new();
        }
        let graph = self.theories.congruence.graph();
        let classes = self.classes.first.iter().zip(&self.classes.values).enumerate();
        let trees = classes.filter_map(|(class, (&first, value))| {
            let sort = store.sort_of(self.theories.term(first));
            store.datatype(sort)?;
            let made = value.map(|made| {
                let args = graph.args(made).iter().map(|arg| self.classes.class_of[arg.0 as usize]);
                (store.op(self.theories.term(made)), args.collect())
            });
            Some(Tree { class: class as u32, sort, made })
        });
        trees.collect()
    }

    /// The classes of numbers, with the sort of a member.
    pub(crate) fn numbers(&self, store: &TermStore) -> Vec<(u32, Sort)> {
        let classes = self.shared.iter().zip(&self.classes.first).enumerate();
        let numbers = classes.filter_map(|(class, (shared, &first))| {
            let sort = store.sort_of(self.theories.term(first));
            (shared.is_some() && sort.is_arithmetic()).then_some((class as u32, sort))
        });
        numbers.collect()
    }

    /// Whether the class is that of `true`.
    pub(crate) fn is_true(&self, class: u32) -> bool {
        self.classes.values[class as usize] == Some(Node::TRUE)
    }

    /// The functions that congruence knows.
    pub(crate) fn functions(&self) -> impl Iterator<Item = Op> {
        self.theories.functions.keys().copied()
    }

    /// The rows of a function over classes.
    pub(crate) fn table(&self, function: Op) -> &[euf::Row] {
        let symbol = self.theories.functions.get(&function);
        symbol.map_or(&[], |&symbol| self.classes.table(symbol))
    }
}

/// The meaning of a symbol in a model.
pub(crate) enum Meaning {
    Value(Value),
    Class(u32),
}

/// Whether a term with a truth value needs none unless it is an argument or occurs in a formula.
fn is_dispensable(store: &TermStore, term: Term) -> bool {
    matches!(store.op(term), Op::Tester(_) | Op::Selector { .. })
}

/// Demands the value of an argument that would need none by itself: without one it would differ from both truth values.
fn demand_argument(store: &TermStore, arg: Term, terms: &mut Terms<'_, '_>) {
    if store.sort_of(arg) == Sort::BOOL && is_dispensable(store, arg) {
        let var = terms.literal(arg).var();
        terms.answers().demand_value(var);
    }
}

/// The term of a node.
fn term_of(terms: &[Term], node: Node) -> Term {
    match node {
        Node::TRUE => Term::TRUE,
        Node::FALSE => Term::FALSE,
        Node(number) => terms[number as usize - TRUTH_VALUES],
    }
}

/// The key of an unordered pair.
fn pair(left: Node, right: Node) -> (Node, Node) {
    (left.min(right), left.max(right))
}

/// The theories of a set, in ascending order.
fn members(mut set: u8) -> impl Iterator<Item = TheoryId> {
    std::iter::from_fn(move || {
        let lowest = (set != 0).then(|| TheoryId(set.trailing_zeros() as u8));
        set &= set.wrapping_sub(1);
        lowest
    })
}
