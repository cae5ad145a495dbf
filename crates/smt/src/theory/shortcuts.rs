//! Shortcuts: equalities that make refutations of diamonds short.
//!
//! **The problem.** In a chain of diamonds
//!
//! ```text
//! (x0 = y0 and y0 = x1) or (x0 = z0 and z0 = x1),  (x1 = y1 and y1 = x2) or (x1 = z1 and z1 = x2),  ...,  x0 != xn
//! ```
//!
//! each conflict is a path from `x0` to `xn` through one of the middles of each diamond, and there are `2^n` paths. No
//! clause over the atoms of the formula covers more than one of them. With the atoms `x0 = x1`, `x1 = x2`, ... a
//! refutation of linear length exists: each diamond refutes the negation of its own equality. So the search needs atoms
//! that the formula lacks.
//!
//! **Which ones.** An explanation is a set of edges of the proof forest (`euf/explain.rs`), and each edge has the level
//! of the search at which it was added. Connected edges of one level form a path. The nodes at its ends became equal by
//! one decision and its consequences, and the explanation uses only their equality. This pair is a *candidate*: in the
//! diamonds it is `(x0, x1)`, however many nodes are between the two, whereas `(y0, z1)` is not one. Applications that
//! one level makes congruent are candidates, too. A single asserted edge is not, because it has an atom.
//!
//! **When.** Each explanation that uses a candidate counts for it. After [`ENOUGH`] of them the pair becomes a
//! shortcut: the search pauses, gets the equality as an atom, and decides it first, as false. If the formula implies
//! the equality, the next conflicts refute the negation and leave the equality as a fact; otherwise the atom is one
//! case split like any other. The first [`FREE`] explanations of a query are not counted, so that small queries pay
//! nothing, and there are at most half as many shortcuts as atoms.
//!
//! **Why it is right.** A shortcut is an atom and asserts nothing. Proofs need no new rule. For interpolants the solver
//! makes shortcuts only between terms that occur together in one part, so that no literal mixes two sides.
//!
//! **Where it comes from.** L. de Moura and N. Bjørner, "Model-based theory combination" (SMT 2007) and Z3 have
//! *dynamic Ackermannisation*: equalities and congruences that conflicts use often become clauses with new atoms.
//! Rozanov and Strichman, "Generating minimum transitivity constraints in P-time for deciding equality logic" (SMT
//! 2007), discuss diamonds. Candidates by levels are ours: Z3 counts triples of nodes on paths, and long middles have
//! many of these.

use rustc_hash::FxHashMap;

use super::euf::{LevelledEdge, Node};

/// The number of uses in explanations that makes a candidate a shortcut.
const ENOUGH: u32 = 8;

/// Candidates with at least this many uses become shortcuts together with the first one, to save pauses.
const NEARLY_ENOUGH: u32 = ENOUGH / 2;

/// The number of explanations at the start of a query that are not counted.
const FREE: u32 = 24;

/// Counts candidates, and chooses shortcuts among them.
#[derive(Default)]
pub(super) struct Shortcuts {
    /// The number of explanations in this query.
    explanations: u32,
    /// The number of explanations that used a candidate, by pairs with the smaller node first.
    uses: FxHashMap<(Node, Node), u32>,
    /// Whether there is a candidate with enough uses.
    is_due: bool,
    /// The number of shortcuts made in this query.
    made: usize,
    /// Scratch: the nodes on the edges of one level, with the number of their edges and the leader of their component.
    nodes: Vec<(Node, u32, u32)>,
}

impl Shortcuts {
    /// Starts a query.
    pub(super) fn start_query(&mut self) {
        self.explanations = 0;
        self.made = 0;
        self.is_due = false;
        self.uses.clear();
    }

    /// Whether the next explanation counts.
    #[inline]
    pub(super) fn is_counting(&mut self) -> bool {
        self.explanations += 1;
        self.explanations > FREE
    }

    /// Whether some candidate must become a shortcut.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Counts the candidates in an explanation, whose edges ascend by age, hence by level.
    pub(super) fn count(&mut self, edges: &[LevelledEdge]) {
        for level in edges.chunk_by(|a, b| a.level == b.level) {
            if level[0].level > 0 && (level.len() > 1 || level[0].is_derived) {
                self.count_level(level);
            }
        }
    }

    fn count_level(&mut self, edges: &[LevelledEdge]) {
        let mut nodes = std::mem::take(&mut self.nodes);
        nodes.clear();
        nodes.extend(edges.iter().flat_map(|edge| [(edge.left, 0, 0), (edge.right, 0, 0)]));
        nodes.sort_unstable();
        nodes.dedup();
        for (place, node) in nodes.iter_mut().enumerate() {
            node.2 = place as u32;
        }
        let place = |nodes: &[(Node, u32, u32)], node: Node| {
            nodes.binary_search_by_key(&node, |entry| entry.0).expect("all ends of edges are there")
        };
        let leader = |nodes: &[(Node, u32, u32)], mut at: usize| {
            while nodes[at].2 as usize != at {
                at = nodes[at].2 as usize;
            }
            at
        };
        for edge in edges {
            let [left, right] = [edge.left, edge.right].map(|node| place(&nodes, node));
            nodes[left].1 += 1;
            nodes[right].1 += 1;
            let [left, right] = [left, right].map(|at| leader(&nodes, at));
            nodes[left.max(right)].2 = left.min(right) as u32;
        }
        // The ends of paths, by component. A component with more ends is not a path.
        let mut ends: Vec<(usize, Node)> = Vec::new();
        for (at, &(node, degree, _)) in nodes.iter().enumerate() {
            if degree == 1 {
                ends.push((leader(&nodes, at), node));
            }
        }
        ends.sort_unstable();
        for ends in ends.chunk_by(|a, b| a.0 == b.0) {
            if let &[(_, first), (_, second)] = ends
                && !is_asserted(edges, first, second)
            {
                let uses = self.uses.entry((first, second)).or_default();
                *uses += 1;
                self.is_due |= *uses == ENOUGH;
            }
        }
        self.nodes = nodes;
    }

    /// The pairs that become shortcuts now. Together with earlier ones they are at most half as many as the atoms.
    pub(super) fn take(&mut self, atoms: usize) -> Vec<(Node, Node)> {
        self.is_due = false;
        let ready = self.uses.iter().filter(|(_, uses)| (NEARLY_ENOUGH..u32::MAX / 2).contains(*uses));
        let mut pairs: Vec<(u32, (Node, Node))> = ready.map(|(&pair, &uses)| (uses, pair)).collect();
        // The most used ones first, then the oldest.
        pairs.sort_unstable_by_key(|&(uses, pair)| (std::cmp::Reverse(uses), pair));
        pairs.truncate((atoms / 2).saturating_sub(self.made));
        self.made += pairs.len();
        let mut pairs: Vec<(Node, Node)> = pairs.into_iter().map(|(_, pair)| pair).collect();
        pairs.sort_unstable();
        for pair in &pairs {
            // Exclude the pair from further counting.
            self.uses.insert(*pair, u32::MAX / 2);
        }
        pairs
    }
}

/// Whether the nodes are the ends of one asserted edge.
fn is_asserted(edges: &[LevelledEdge], first: Node, second: Node) -> bool {
    let joins = |edge: &LevelledEdge| {
        (edge.left, edge.right) == (first, second) || (edge.left, edge.right) == (second, first)
    };
    edges.iter().any(|edge| !edge.is_derived && joins(edge))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(left: u32, right: u32, level: usize, is_derived: bool) -> LevelledEdge {
        LevelledEdge { left: Node(left), right: Node(right), level, is_derived }
    }

    /// The candidates of an explanation.
    fn candidates(edges: &[LevelledEdge]) -> Vec<(u32, u32)> {
        let mut shortcuts = Shortcuts::default();
        shortcuts.count(edges);
        let mut pairs: Vec<(u32, u32)> = shortcuts.uses.keys().map(|(a, b)| (a.0, b.0)).collect();
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn the_ends_of_a_path_of_one_level_are_a_candidate() {
        // Two diamonds, with one and with two nodes in the middle.
        let edges = [
            edge(10, 20, 1, false),
            edge(20, 11, 1, false),
            edge(12, 31, 2, false),
            edge(11, 30, 2, false),
            edge(30, 31, 2, false),
        ];
        assert_eq!(candidates(&edges), [(10, 11), (11, 12)]);
    }

    #[test]
    fn asserted_edges_and_facts_are_no_candidates() {
        assert_eq!(candidates(&[edge(1, 2, 0, false), edge(2, 3, 0, false), edge(3, 4, 1, false)]), []);
    }

    #[test]
    fn congruent_applications_are_a_candidate() {
        assert_eq!(candidates(&[edge(1, 2, 1, false), edge(5, 6, 1, true)]), [(5, 6)]);
    }

    #[test]
    fn a_level_of_several_paths_has_a_candidate_for_each_and_a_star_has_none() {
        let edges = [edge(1, 2, 1, false), edge(2, 3, 1, false), edge(7, 8, 1, false), edge(8, 9, 1, false)];
        assert_eq!(candidates(&edges), [(1, 3), (7, 9)]);
        let star = [edge(1, 2, 1, false), edge(1, 3, 1, false), edge(1, 4, 1, false)];
        assert_eq!(candidates(&star), []);
    }

    #[test]
    fn candidates_with_enough_uses_are_taken_once_and_not_too_many() {
        let mut shortcuts = Shortcuts::default();
        let edges = [edge(1, 2, 1, false), edge(2, 3, 1, false), edge(3, 4, 2, false), edge(4, 5, 2, false)];
        for _ in 0..ENOUGH {
            assert!(!shortcuts.is_due());
            shortcuts.count(&edges);
        }
        assert!(shortcuts.is_due());
        assert_eq!(shortcuts.take(2), [(Node(1), Node(3))]);
        assert_eq!(shortcuts.take(2), []);
        assert_eq!(shortcuts.take(4), [(Node(3), Node(5))]);
        (0..ENOUGH).for_each(|_| shortcuts.count(&edges));
        assert!(!shortcuts.is_due());
    }
}
