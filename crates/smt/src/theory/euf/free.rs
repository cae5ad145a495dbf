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
//! Both rules are edges of the proof forest whose premise is an older path, as for congruence. A union gives a class its
//! constructor at most once until it is undone; then the uses of the class are searched for selectors and testers. If
//! both classes have constructors, the same one or the union is a conflict, injection applies.
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

    /// The value of a selector or tester whose argument equals the application of a constructor.
    pub(super) fn reduced(&self, operator: Node, made: Node) -> Option<Node> {
        let constructor_of_value = self.symbol(made);
        match self.role(self.symbol(operator))? {
            Role::Selector(constructor, field) if constructor == constructor_of_value => {
                Some(self.args(made)[field as usize])
            }
            Role::Tester(constructor) if constructor == constructor_of_value => Some(Node::TRUE),
            Role::Tester(_) => Some(Node::FALSE),
            Role::Selector(..) | Role::Constructor => None,
        }
    }

    /// Applications of constructors such that each has an argument equal to the next one, and the last an argument equal to
    /// the first. A state with such a cycle is contradictory.
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
