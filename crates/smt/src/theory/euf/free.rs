//! Free constructors, with their selectors and testers: the theory of finite trees.
//!
//! A symbol may have a [`Role`]. An application of a *constructor* is a value: it differs from the applications of all
//! other constructors, and from other values. The graph is closed under
//!
//! ```text
//! injection   c(s1, .., sn) = c(t1, .., tn)     gives   si = ti
//! reduction   x = c(t1, .., tn)                 gives   sel_i(x) = ti,  is_c(x) = true,  is_d(x) = false
//! ```
//!
//! for the selectors `sel_i` and the tester `is_c` of `c`, and the tester `is_d` of another constructor. A selector of
//! another constructor is an uninterpreted function, as in SMT-LIB.
//!
//! Both rules are edges of the proof forest whose premise is an older path, as for congruence. Injection applies when
//! two classes with values of one constructor are joined; if the constructors differ, the union is a conflict.
//! Reduction applies when a class gets its first value: its uses are searched for selectors and testers.
//!
//! Trees are finite. So no tree contains itself, and [`EGraph::cycle`] finds classes that would. This is a separate
//! question, because it takes a search.
//!
//! Source: C. Barrett, I. Shikanian, C. Tinelli, "An abstract decision procedure for a theory of inductive data types"
//! (JSAT 2007), for the rules; the edges are ours.

use super::egraph::EGraph;
use super::explain::Why;
use super::ring::List;
use super::{Node, Symbol};

/// What is known of a function symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A free constructor.
    Constructor,
    /// The argument of this constructor at a position.
    Selector(Symbol, u32),
    /// Whether the argument is an application of this constructor.
    Tester(Symbol),
}

/// The roles of symbols, and the applications of constructors.
#[derive(Clone, Default, Debug)]
pub(super) struct Free {
    /// By symbols; those beyond the end have none.
    roles: Vec<Option<Role>>,
    /// The applications of constructors to arguments, in the order of creation.
    made: Vec<Node>,
}

impl Free {
    pub(super) fn role(&self, symbol: Symbol) -> Option<Role> {
        self.roles.get(symbol.0 as usize).copied().flatten()
    }

    /// Records a new application of a constructor.
    pub(super) fn add(&mut self, node: Node) {
        self.made.push(node);
    }

    /// Forgets the node, which is the last one of the graph.
    pub(super) fn remove(&mut self, node: Node) {
        self.made.pop_if(|last| *last == node);
    }
}

/// How far the search for a cycle has come with a class.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    New,
    Open,
    Done,
}

impl EGraph {
    /// Sets the role of a symbol that has no applications yet. It is kept for good.
    pub fn set_role(&mut self, symbol: Symbol, role: Role) {
        let place = symbol.0 as usize;
        if self.free.roles.len() <= place {
            self.free.roles.resize(place + 1, None);
        }
        self.free.roles[place] = Some(role);
    }

    /// The role of a symbol.
    pub fn role(&self, symbol: Symbol) -> Option<Role> {
        self.free.role(symbol)
    }

    /// Queues the arguments of two equal values for merging.
    pub(super) fn inject(&mut self, left: Node, right: Node) {
        for position in 0..self.args(left).len() {
            let [a, b] = [left, right].map(|node| self.args(node)[position]);
            self.enqueue(a, b, Why::Injection(left, right));
        }
    }

    /// Queues the selectors and testers over a class that now equals the value.
    pub(super) fn reduce_uses(&mut self, uses: List, made: Node) {
        if self.role(self.symbol(made)) != Some(Role::Constructor) {
            return;
        }
        let mut next = uses.first();
        while let Some(slot) = next {
            let user = self.arg_of[slot as usize];
            if self.nodes[user.index()].is_owner {
                self.reduce(user, made);
            }
            next = self.uses.after(uses, slot);
        }
    }

    /// Queues a new selector or tester if its argument has a constructor.
    pub(super) fn reduce_new(&mut self, node: Node) {
        if let &[arg] = self.args(node)
            && let Some(made) = self.value_of_class(arg)
        {
            self.reduce(node, made);
        }
    }

    /// Queues an application to a class that equals the value, if this decides it.
    fn reduce(&mut self, operator: Node, made: Node) {
        if let Some(reduced) = self.reduced(operator, made) {
            self.enqueue(operator, reduced, Why::Reduction { operator, made });
        }
    }

    /// The value of a selector or tester whose argument equals the application of a constructor, if it is decided.
    pub(super) fn reduced(&self, operator: Node, made: Node) -> Option<Node> {
        let made_by = self.symbol(made);
        match (self.role(self.symbol(operator))?, self.role(made_by)?) {
            (Role::Selector(constructor, field), Role::Constructor) if constructor == made_by => {
                Some(self.args(made)[field as usize])
            }
            (Role::Tester(constructor), Role::Constructor) if constructor == made_by => Some(Node::TRUE),
            (Role::Tester(_), Role::Constructor) => Some(Node::FALSE),
            _ => None,
        }
    }

    /// Applications of constructors such that each has an argument equal to the next one, and the last an argument
    /// equal to the first. A state with such a cycle is contradictory.
    pub fn cycle(&self) -> Option<Vec<Node>> {
        if self.free.made.is_empty() {
            return None;
        }
        let mut progress = vec![Progress::New; self.node_count()];
        // The path to the current class: its application, and the position of the next argument.
        let mut path: Vec<(Node, usize)> = Vec::new();
        for &start in &self.free.made {
            let mut next = self.value_of_class(start);
            loop {
                if let Some(made) = next.take() {
                    match std::mem::replace(&mut progress[self.root(made).index()], Progress::Open) {
                        Progress::New => path.push((made, 0)),
                        Progress::Open => {
                            let first = path.iter().position(|&(other, _)| self.are_equal(other, made))?;
                            return Some(path[first..].iter().map(|&(made, _)| made).collect());
                        }
                        Progress::Done => progress[self.root(made).index()] = Progress::Done,
                    }
                }
                let Some((made, position)) = path.last_mut() else { break };
                match self.args(*made).get(*position) {
                    Some(&arg) => {
                        *position += 1;
                        next = self.value_of_class(arg);
                    }
                    None => {
                        progress[self.root(*made).index()] = Progress::Done;
                        path.pop();
                    }
                }
            }
        }
        None
    }

    /// The equalities that close a [cycle](Self::cycle): an argument of each application with the next application.
    pub(super) fn links_of_cycle(&self, cycle: &[Node]) -> Vec<(Node, Node)> {
        let next = cycle.iter().cycle().skip(1);
        let links = std::iter::zip(cycle, next).map(|(&made, &next)| {
            let mut args = self.args(made).iter();
            (*args.find(|&&arg| self.are_equal(arg, next)).expect("the cycle is closed"), next)
        });
        links.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::euf::Reason;
    use shofar_testing::{Random, scale};

    const NIL: Symbol = Symbol(0);
    const CONS: Symbol = Symbol(1);
    const ROLES: [(Symbol, Role); 6] = [
        (NIL, Role::Constructor),
        (CONS, Role::Constructor),
        (Symbol(2), Role::Selector(CONS, 0)),
        (Symbol(3), Role::Selector(CONS, 1)),
        (Symbol(4), Role::Tester(NIL)),
        (Symbol(5), Role::Tester(CONS)),
    ];
    /// A function without a role, and the first of the constants.
    const F: Symbol = Symbol(6);
    const CONSTANTS: u32 = 10;

    /// A graph with the nodes it has and the facts it was told.
    #[derive(Default)]
    struct Told {
        nodes: Vec<(Symbol, Vec<Node>)>,
        facts: Vec<(Node, Node, bool)>,
    }

    impl Told {
        fn graph() -> EGraph {
            let mut graph = EGraph::new();
            ROLES.iter().for_each(|&(symbol, role)| graph.set_role(symbol, role));
            graph
        }

        fn add(&mut self, graph: &mut EGraph, symbol: Symbol, args: &[Node]) {
            let before = graph.node_count();
            graph.new_node(symbol, args);
            if graph.node_count() > before {
                self.nodes.push((symbol, args.to_vec()));
            }
        }

        fn tell(&mut self, graph: &mut EGraph, left: Node, right: Node, is_equal: bool) {
            let reason = Reason(self.facts.len() as u32);
            self.facts.push((left, right, is_equal));
            let _ =
                if is_equal { graph.merge(left, right, reason) } else { graph.distinct(left, right, reason) };
        }

        /// A graph with all nodes that knows only these facts.
        fn replay(&self, reasons: &[Reason]) -> EGraph {
            let mut graph = Told::graph();
            self.nodes.iter().for_each(|(symbol, args)| _ = graph.new_node(*symbol, args));
            for &reason in reasons {
                let (left, right, is_equal) = self.facts[reason.0 as usize];
                let _ = if is_equal {
                    graph.merge(left, right, reason)
                } else {
                    graph.distinct(left, right, reason)
                };
            }
            graph
        }
    }

    #[test]
    fn the_closure_is_explained_and_survives_pops() {
        let (mut conflicts, mut cycles, mut equalities) = (0, 0, 0);
        for seed in 0..200 * scale() {
            let mut random = Random::new(seed);
            let (mut told, mut graph) = (Told::default(), Told::graph());
            (CONSTANTS..CONSTANTS + 4).for_each(|symbol| told.add(&mut graph, Symbol(symbol), &[]));
            told.add(&mut graph, NIL, &[]);
            for _ in 0..60 {
                let node =
                    |random: &mut Random, graph: &EGraph| Node(random.below(graph.node_count()) as u32);
                match random.below(10) {
                    0..=2 => {
                        let symbol = Symbol(1 + random.below(F.0 as usize) as u32);
                        let arity = if symbol == CONS { 2 } else { 1 };
                        let args: Vec<Node> = (0..arity).map(|_| node(&mut random, &graph)).collect();
                        told.add(&mut graph, symbol, &args);
                    }
                    3..=5 if graph.conflict().is_none() => {
                        let (left, right) = (node(&mut random, &graph), node(&mut random, &graph));
                        told.tell(&mut graph, left, right, !random.one_in(4));
                    }
                    6 | 7 => graph.push(),
                    8 if graph.level() > 0 => graph.pop_assertions(1 + random.below(graph.level())),
                    _ => {
                        let left = node(&mut random, &graph);
                        let members: Vec<Node> = graph.class_members(left).collect();
                        let &right = random.choose(&members);
                        if left != right && graph.conflict().is_none() {
                            equalities += 1;
                            let mut reasons = Vec::new();
                            graph.explain(left, right, &mut reasons);
                            assert!(told.replay(&reasons).are_equal(left, right), "{seed}");
                        }
                    }
                }
                graph.check_invariants();
                if let Some(conflict) = graph.conflict() {
                    conflicts += 1;
                    let mut reasons = Vec::new();
                    graph.explain_conflict(&conflict, &mut reasons);
                    assert!(told.replay(&reasons).conflict().is_some(), "{seed}");
                    if graph.level() == 0 {
                        break;
                    }
                    graph.pop_assertions(1);
                    graph.check_invariants();
                } else if let Some(cycle) = graph.cycle() {
                    cycles += 1;
                    let mut reasons = Vec::new();
                    graph.explain_cycle(&cycle, &mut reasons);
                    assert!(told.replay(&reasons).cycle().is_some(), "{seed}");
                }
            }
        }
        assert!(conflicts > 100 && cycles > 100 && equalities > 100, "{conflicts} {cycles} {equalities}");
    }
}
