//! Chains of a graph: nodes in a row, each of which has one way in and one way out.
//!
//! Large systems consist of long ones, as programs of straight-line code, and in a picture a chain says as much as a box
//! with its length. Chains that are found are as long as can be, and no two have a node in common, as a node of a chain has
//! no choice of neighbours. A cycle that nothing leads into or out of is no chain: it has no first node.

/// Nodes of a chain that are worth a box of their own.
const LEAST_LENGTH: usize = 3;

/// The other ends of the edges at a node, on one side of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    None,
    One(usize),
    Many,
}

impl Ends {
    fn add(&mut self, end: usize) {
        *self = if *self == Ends::None { Ends::One(end) } else { Ends::Many };
    }
}

/// The chains among the nodes that may be part of one. There are no two edges with the same ends, and none from a node to
/// itself.
pub(super) fn chains(may_join: &[bool], edges: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut before = vec![Ends::None; may_join.len()];
    let mut behind = vec![Ends::None; may_join.len()];
    for (from, to) in edges {
        behind[from].add(to);
        before[to].add(from);
    }
    let neighbours = |node: usize| match (may_join[node], before[node], behind[node]) {
        (true, Ends::One(before), Ends::One(behind)) => Some((before, behind)),
        _ => None,
    };
    let is_first = |node: usize| neighbours(node).is_some_and(|(before, _)| neighbours(before).is_none());
    let chain = |first: usize| {
        let next = |&node: &usize| neighbours(node).map(|(_, behind)| behind);
        // The last one that is followed is the first one that is no member.
        let mut chain: Vec<usize> = std::iter::successors(Some(first), next).collect();
        chain.pop();
        chain
    };
    let firsts = (0..may_join.len()).filter(|&node| is_first(node));
    firsts.map(chain).filter(|chain| chain.len() >= LEAST_LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use shofar_testing::Random;

    use super::*;

    fn found(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
        chains(&vec![true; count], edges.iter().copied())
    }

    #[test]
    fn a_row_between_two_branches_is_a_chain() {
        // 0 leads to 1 and to 5; 1, 2, 3, 4 are in a row, and 5 and 4 meet in 6.
        let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 6), (0, 5), (5, 6)];
        assert_eq!(found(7, &edges), [[1, 2, 3, 4]]);
        assert!(chains(&[true, true, true, false, true, true, true], edges.into_iter()).is_empty());
    }

    #[test]
    fn a_row_that_leads_back_is_a_chain_and_a_cycle_of_its_own_is_none() {
        assert_eq!(found(5, &[(0, 1), (1, 2), (2, 3), (3, 0), (4, 0)]), [[1, 2, 3]]);
        assert!(found(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]).is_empty());
    }

    /// On generated graphs: each member has one way in and out, neighbours in a chain are neighbours in the graph, and
    /// neither end could be made longer.
    #[test]
    fn chains_are_as_long_as_can_be() {
        let mut random = Random::new(7);
        let mut total = 0;
        for _ in 0..300 {
            let count = 3 + random.below(20);
            let mut pairs: BTreeSet<(usize, usize)> = (1..count).map(|node| (node - 1, node)).collect();
            pairs.extend(
                (0..random.below(6))
                    .map(|_| (random.below(count), random.below(count)))
                    .filter(|(a, b)| a != b),
            );
            let edges: Vec<(usize, usize)> = pairs.iter().copied().collect();
            let is_inner = |node: usize| {
                edges.iter().filter(|edge| edge.0 == node).count() == 1
                    && edges.iter().filter(|edge| edge.1 == node).count() == 1
            };
            let chains = found(count, &edges);
            let members: Vec<usize> = chains.iter().flatten().copied().collect();
            assert_eq!(members.iter().collect::<BTreeSet<_>>().len(), members.len());
            // Three in a row are in a chain, unless all nodes are one cycle.
            let is_cycle = (0..count).all(is_inner);
            for (&(a, b), &(same, c)) in
                edges.iter().flat_map(|edge| edges.iter().map(move |next| (edge, next)))
            {
                let is_row = b == same && [a, b, c].into_iter().all(is_inner);
                assert!(!is_row || is_cycle || members.contains(&b));
            }
            for chain in &chains {
                total += 1;
                assert!(chain.len() >= LEAST_LENGTH && chain.iter().all(|&node| is_inner(node)));
                assert!(chain.windows(2).all(|pair| pairs.contains(&(pair[0], pair[1]))));
                let (first, last) = (chain[0], chain[chain.len() - 1]);
                assert!(edges.iter().all(|&(from, to)| to != first || !is_inner(from)));
                assert!(edges.iter().all(|&(from, to)| from != last || !is_inner(to)));
            }
        }
        assert!(total > 20, "{total}");
    }
}
