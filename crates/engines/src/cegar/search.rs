//! Search orders: which node is expanded next.

use crate::option::Named;

/// The order in which nodes are expanded. Among equals the oldest comes first.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Search {
    /// Breadth first: the node with the shortest path from the root.
    #[default]
    Breadth,
    /// Depth first: the node with the longest path from the root.
    Depth,
    /// The node whose location is nearest to the error location.
    Error,
}

impl Named for Search {
    const ALL: &'static [Self] = &[Search::Breadth, Search::Depth, Search::Error];

    fn name(self) -> &'static str {
        match self {
            Search::Breadth => "bfs",
            Search::Depth => "dfs",
            Search::Error => "err",
        }
    }
}

/// The rank of a node; small ones come first.
pub(super) type Priority = u64;

impl Search {
    /// The rank of a node by its depth and by the distance of its location to the error location.
    pub(super) fn priority(self, depth: u64, distance: Option<u64>) -> Priority {
        match self {
            Search::Breadth => depth,
            Search::Depth => u64::MAX - depth,
            Search::Error => distance.unwrap_or(u64::MAX),
        }
    }
}
