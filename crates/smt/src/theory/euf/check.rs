//! Checks the invariants of the [module](super), item by item. For tests: it visits everything.

use std::collections::BTreeMap;

use super::explain::{Edge, Why};
use super::{EGraph, Node, Propagation, Symbol, Token};

impl EGraph {
    /// Verifies I1 to I9. In conflict they need not hold, and nothing is checked.
    ///
    /// # Panics
    /// If one is violated.
    pub fn check_invariants(&self) {
        if self.conflict.is_some() {
            return;
        }
        self.check_classes();
        self.check_signatures();
        self.check_forest();
        self.check_groups();
        self.check_equations();
        self.check_reductions();
    }

    /// I9.
    fn check_reductions(&self) {
        for node in self.all_nodes() {
            if let &[arg] = self.args(node)
                && let Some(made) = self.value_of_class(arg)
                && let Some(reduced) = self.reduced(node, made)
            {
                assert!(self.are_equal(node, reduced), "I9: {node:?}");
            }
        }
    }

    fn all_nodes(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.node_count() as u32).map(Node)
    }

    /// I1, I3, I5.
    fn check_classes(&self) {
        let mut members: BTreeMap<Node, Vec<u32>> = BTreeMap::new();
        let mut uses: BTreeMap<Node, Vec<u32>> = BTreeMap::new();
        for node in self.all_nodes() {
            let root = self.root(node);
            assert_eq!(self.root(root), root, "I1: {node:?}");
            members.entry(root).or_default().push(node.0);
        }
        for (position, &arg) in self.args.iter().enumerate() {
            uses.entry(self.root(arg)).or_default().push(position as u32);
            assert!(self.args(self.arg_of[position]).contains(&arg), "I3: {position}");
        }
        for (&root, expected) in &members {
            assert_eq!(&sorted(self.members.iter(self.class(root).members)), expected, "I1: {root:?}");
            assert_eq!(self.class(root).members.len(), expected.len(), "I1: {root:?}");
            let expected_uses = uses.remove(&root).unwrap_or_default();
            assert_eq!(sorted(self.uses.iter(self.class(root).uses)), expected_uses, "I3: {root:?}");
            assert_eq!(self.class(root).uses.len(), expected_uses.len(), "I3: {root:?}");
            let values =
                expected.iter().map(|&node| Node(node)).filter(|node| self.nodes[node.index()].is_value);
            let values: Vec<Node> = values.collect();
            let known = self.value_of_class(root);
            assert!(known.map_or(values.is_empty(), |known| values.contains(&known)), "I5: {root:?}");
            for pair in values.windows(2) {
                assert_eq!(self.symbol(pair[0]), self.symbol(pair[1]), "I5: {values:?}");
                let mut args = std::iter::zip(self.args(pair[0]), self.args(pair[1]));
                assert!(args.all(|(&a, &b)| self.are_equal(a, b)), "I5: {values:?}");
            }
        }
    }

    /// I2.
    fn check_signatures(&self) {
        let mut owners: BTreeMap<(Symbol, Vec<Node>), Node> = BTreeMap::new();
        for node in self.all_nodes().filter(|node| !self.args(*node).is_empty()) {
            let owner = self.signature_owner(node).expect("I2: no owner");
            assert!(self.are_equal(owner, node), "I2: {owner:?} and {node:?} are congruent");
            assert_eq!(owner == node, self.nodes[node.index()].is_owner, "I2: {owner:?} owns {node:?}");
            let args = self.args(node).iter().map(|&arg| self.root(arg)).collect();
            let expected = *owners.entry((self.symbol(node), args)).or_insert(owner);
            assert_eq!(owner, expected, "I2: two owners");
        }
        assert_eq!(self.signature_count(), owners.len(), "I2: entries");
    }

    /// I4.
    fn check_forest(&self) {
        // Adds the edges again, from the oldest on, in a separate structure.
        let mut roots: Vec<usize> = (0..self.node_count()).collect();
        let find = |roots: &[usize], mut node: usize| {
            while roots[node] != node {
                node = roots[node];
            }
            node
        };
        for edge @ Edge { left, right, why } in &self.forest.edges {
            match why {
                Why::Input(_) => {}
                Why::Congruence => {
                    assert_eq!(self.symbol(*left), self.symbol(*right), "I4: congruence");
                    assert_eq!(self.args(*left).len(), self.args(*right).len(), "I4: congruence");
                }
                Why::Injection(first, second) => {
                    assert_eq!(self.symbol(*first), self.symbol(*second), "I4: injection");
                    let mut args = std::iter::zip(self.args(*first), self.args(*second));
                    let is_edge = |(a, b)| (a, b) == (left, right) || (b, a) == (left, right);
                    assert!(args.any(is_edge), "I4: injection");
                }
                Why::Reduction { operator, made } => {
                    let reduced = if left == operator { right } else { left };
                    assert_eq!(self.reduced(*operator, *made), Some(*reduced), "I4: reduction");
                }
            }
            self.for_premises(edge, |first, second| {
                let ends = [first, second].map(|node| find(&roots, node.index()));
                assert_eq!(ends[0], ends[1], "I4: premise of {left:?} and {right:?}");
            });
            let ends = [left, right].map(|node| find(&roots, node.index()));
            assert_ne!(ends[0], ends[1], "I4: cycle");
            assert!(self.are_equal(*left, *right), "I4: edge between classes");
            roots[ends[0]] = ends[1];
        }
        let classes = self.all_nodes().filter(|&node| self.root(node) == node).count();
        assert_eq!(self.forest.edges.len() + classes, self.node_count(), "I4: spanning");
        let mut linked: Vec<u32> = Vec::new();
        for node in self.all_nodes() {
            let link = self.forest.links[node.index()];
            if let Some(edge) = self.forest.edges.get(link.edge as usize) {
                let ends = [edge.left, edge.right];
                assert!(ends.contains(&node) && ends.contains(&Node(link.parent)), "I4: link of {node:?}");
                linked.push(link.edge);
            }
        }
        linked.sort_unstable();
        assert!(linked.iter().copied().eq(0..self.forest.edges.len() as u32), "I4: links");
    }

    /// I7.
    fn check_groups(&self) {
        let mut listed = 0;
        for root in self.all_nodes().filter(|&node| self.root(node) == node) {
            let slots = sorted(self.apart.memberships_of.iter(self.class(root).memberships));
            listed += slots.len();
            for slot in slots {
                let membership = self.apart.memberships[slot as usize];
                assert_eq!(self.root(membership.member), root, "I7: {membership:?}");
                assert_eq!(self.apart.in_group.get(&(membership.group, root)), Some(&slot), "I7");
            }
        }
        assert_eq!(listed, self.apart.memberships_of.slot_count(), "I7: memberships");
    }

    /// I6 and I8.
    fn check_equations(&self) {
        let mut told: BTreeMap<(Token, Node, Node), Vec<bool>> = BTreeMap::new();
        for propagation in &self.apart.told {
            let &Propagation { token, left, right, apart } = propagation;
            told.entry((token, left, right)).or_default().push(apart.is_none());
            match apart {
                None => assert!(self.are_equal(left, right), "I8: {propagation:?}"),
                Some(apart) => {
                    assert!(self.are_equal(left, apart.left), "I8: {propagation:?}");
                    assert!(self.are_equal(right, apart.right), "I8: {propagation:?}");
                }
            }
        }
        let mut expected: BTreeMap<(Token, Node, Node), Vec<bool>> = BTreeMap::new();
        for (at, equation) in self.apart.equations.iter().enumerate() {
            let (left, right) = (self.root(equation.left), self.root(equation.right));
            let mut truth = (left == right).then_some(true);
            if left != right {
                let owner = *self.apart.pairs.get(&(left.min(right), left.max(right))).expect("I6: no owner");
                let found = self.apart.equations[owner as usize];
                assert!(found.is_owner, "I6: {found:?}");
                assert!(self.apart.ring(owner).any(|member| member == at as u32), "I6: ring of {found:?}");
                assert_eq!(found.apart.is_some(), self.are_apart_slowly(left, right), "I6: {found:?}");
                if owner == at as u32 {
                    for (slot, root) in [(2 * owner, left), (2 * owner + 1, right)] {
                        assert!(
                            self.apart.sides.iter(self.class(root).sides).any(|side| side == slot),
                            "I6: sides"
                        );
                    }
                }
                truth = found.apart.map(|_| false);
            }
            if let (Some(token), Some(truth)) = (equation.token, truth) {
                expected.entry((token, equation.left, equation.right)).or_default().push(truth);
            }
        }
        assert_eq!(told, expected, "I8");
    }

    /// Whether the roots are apart, by scanning all assertions.
    fn are_apart_slowly(&self, left: Node, right: Node) -> bool {
        let is_pair = |first: Node, second: Node| {
            let (first, second) = (self.root(first), self.root(second));
            (first, second) == (left, right) || (second, first) == (left, right)
        };
        let is_asserted = self.apart.equations.iter().any(|equation| {
            equation.apart.is_some_and(|apart| apart.reason.is_some() && is_pair(apart.left, apart.right))
        });
        let have_values = self.value_of_class(left).is_some() && self.value_of_class(right).is_some();
        let memberships = &self.apart.memberships;
        let in_group = memberships.iter().any(|first| {
            memberships
                .iter()
                .any(|second| first.group == second.group && is_pair(first.member, second.member))
        });
        is_asserted || have_values || in_group
    }
}

fn sorted(slots: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut slots: Vec<u32> = slots.collect();
    slots.sort_unstable();
    slots
}
