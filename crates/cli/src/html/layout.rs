//! Layered drawings of directed graphs.
//!
//! ```text
//! acyclic      edges that close a cycle in a search in depth are turned around
//! ranks        the longest path to a node; nodes without predecessors stand right above their first successor
//! chains       an edge over several ranks becomes a chain of edges with a virtual node on each rank between
//! order        sweeps down and up sort each rank by the barycentres of the neighbours; the order with the fewest
//!              crossings is kept
//! coordinates  sweeps place each rank as near to the mean of the neighbours as order and distances allow
//! routes       edges leave and enter at ports of their own, in the order of where they lead
//! ```
//!
//! - L1: nodes of one rank stand in one line and keep their distance.
//! - L2: an edge that is not turned around leads downwards.
//! - L3: the drawing is a function of the graph; there are no random numbers and no floats.
//!
//! Where it comes from: Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System Structures",
//! 1981; Gansner, Koutsofios, North and Vo, "A Technique for Drawing Directed Graphs", 1993. To place a rank best for
//! a given order is isotonic regression, which pooling adjacent violators solves exactly.

/// Sweeps in each direction.
const SWEEPS: usize = 12;

/// Distance between neighbours of one rank, and between ranks.
const GAP: i64 = 28;
const RANK_GAP: i64 = 64;

/// The width of a virtual node.
const VIRTUAL_WIDTH: i64 = 12;

/// Space around the drawing.
const MARGIN: i64 = 16;

/// The greatest distance between two ports of a node.
const PORT_GAP: i64 = 18;

/// How much a virtual node insists on its place, compared to a real one: long edges become straight.
const VIRTUAL_WEIGHT: i64 = 4;

/// A point or a size.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Point {
    pub(super) x: i64,
    pub(super) y: i64,
}

/// A graph to be drawn. An edge does not lead from a node to itself.
#[derive(Default)]
pub(super) struct Graph {
    /// Sizes of the nodes.
    pub(super) sizes: Vec<Point>,
    /// Edges between nodes.
    pub(super) edges: Vec<(usize, usize)>,
}

/// A drawing of a graph.
pub(super) struct Drawing {
    pub(super) size: Point,
    /// The centres of the nodes.
    pub(super) centres: Vec<Point>,
    /// The points that edges go through, from their source to their target. The first two and the last two stand on one
    /// vertical line each, at the border of the node and at that of its rank.
    pub(super) routes: Vec<Vec<Point>>,
}

impl Graph {
    pub(super) fn draw(&self) -> Drawing {
        let turned = self.turned();
        let edges: Vec<(usize, usize)> = self
            .edges
            .iter()
            .zip(&turned)
            .map(|(&(from, to), &turned)| if turned { (to, from) } else { (from, to) })
            .collect();
        let ranks = ranks(self.sizes.len(), &edges);
        let mut layers = Layers::new(&self.sizes, &ranks, &edges);
        layers.order();
        layers.place();
        layers.drawing(&turned)
    }

    /// Which edges close a cycle in a search in depth, which starts at the first nodes.
    fn turned(&self) -> Vec<bool> {
        let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); self.sizes.len()];
        for (edge, &(from, _)) in self.edges.iter().enumerate() {
            outgoing[from].push(edge);
        }
        let mut turned = vec![false; self.edges.len()];
        let (mut is_seen, mut is_open) = (vec![false; self.sizes.len()], vec![false; self.sizes.len()]);
        for root in 0..self.sizes.len() {
            let mut path: Vec<(usize, usize)> = Vec::new();
            if !std::mem::replace(&mut is_seen[root], true) {
                path.push((root, 0));
                is_open[root] = true;
            }
            while let Some((node, next)) = path.last_mut() {
                let Some(&edge) = outgoing[*node].get(*next) else {
                    is_open[*node] = false;
                    path.pop();
                    continue;
                };
                *next += 1;
                let target = self.edges[edge].1;
                turned[edge] = is_open[target];
                if !std::mem::replace(&mut is_seen[target], true) {
                    is_open[target] = true;
                    path.push((target, 0));
                }
            }
        }
        turned
    }
}

/// The length of the longest path to each node of an acyclic graph.
fn ranks(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut missing = vec![0usize; count];
    for &(from, to) in edges {
        outgoing[from].push(to);
        missing[to] += 1;
    }
    let sources: Vec<usize> = (0..count).filter(|&node| missing[node] == 0).collect();
    let mut ranks = vec![0usize; count];
    let mut ready = sources.clone();
    while let Some(node) = ready.pop() {
        for &successor in &outgoing[node] {
            ranks[successor] = ranks[successor].max(ranks[node] + 1);
            missing[successor] -= 1;
            if missing[successor] == 0 {
                ready.push(successor);
            }
        }
    }
    for source in sources {
        let below = outgoing[source].iter().map(|&successor| ranks[successor]).min();
        ranks[source] = below.map_or(0, |below| below.saturating_sub(1));
    }
    ranks
}

/// A node of a layer, real or virtual.
struct Item {
    width: i64,
    height: i64,
    is_virtual: bool,
    rank: usize,
    /// Neighbours on the ranks above and below.
    above: Vec<usize>,
    below: Vec<usize>,
    x: i64,
}

struct Layers {
    /// Real nodes first.
    items: Vec<Item>,
    /// How many are real.
    count: usize,
    /// The items of each rank, from left to right.
    ranks: Vec<Vec<usize>>,
    /// The items of each edge, from its upper to its lower end.
    chains: Vec<Vec<usize>>,
}

#[derive(Clone, Copy)]
enum Direction {
    Down,
    Up,
}

impl Layers {
    fn new(sizes: &[Point], node_ranks: &[usize], edges: &[(usize, usize)]) -> Self {
        let item = |width, height, is_virtual, rank| Item {
            width,
            height,
            is_virtual,
            rank,
            above: Vec::new(),
            below: Vec::new(),
            x: 0,
        };
        let mut items: Vec<Item> =
            sizes.iter().zip(node_ranks).map(|(size, &rank)| item(size.x, size.y, false, rank)).collect();
        let mut chains: Vec<Vec<usize>> = Vec::with_capacity(edges.len());
        for &(from, to) in edges {
            let mut chain = vec![from];
            for rank in node_ranks[from] + 1..node_ranks[to] {
                chain.push(items.len());
                items.push(item(VIRTUAL_WIDTH, 0, true, rank));
            }
            chain.push(to);
            for pair in chain.windows(2) {
                items[pair[0]].below.push(pair[1]);
                items[pair[1]].above.push(pair[0]);
            }
            chains.push(chain);
        }
        let depth = items.iter().map(|item| item.rank + 1).max().unwrap_or(0);
        let mut ranks: Vec<Vec<usize>> = vec![Vec::new(); depth];
        for (number, item) in items.iter().enumerate() {
            ranks[item.rank].push(number);
        }
        Layers { items, count: sizes.len(), ranks, chains }
    }

    // ---- order -------------------------------------------------------------------------------------------

    fn order(&mut self) {
        let mut best = (self.crossings(), self.ranks.clone());
        for sweep in 0..2 * SWEEPS {
            let direction = if sweep % 2 == 0 { Direction::Down } else { Direction::Up };
            for rank in self.sweep(direction) {
                self.sort_by_barycentre(rank, direction);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.ranks.clone());
            }
        }
        self.ranks = best.1;
    }

    /// The ranks that a sweep changes, in its order.
    fn sweep(&self, direction: Direction) -> Vec<usize> {
        match direction {
            Direction::Down => (1..self.ranks.len()).collect(),
            Direction::Up => (0..self.ranks.len().saturating_sub(1)).rev().collect(),
        }
    }

    fn neighbours(&self, item: usize, direction: Direction) -> &[usize] {
        match direction {
            Direction::Down => &self.items[item].above,
            Direction::Up => &self.items[item].below,
        }
    }

    /// Where items stand on their ranks.
    fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.items.len()];
        for rank in &self.ranks {
            rank.iter().enumerate().for_each(|(position, &item)| positions[item] = position);
        }
        positions
    }

    fn sort_by_barycentre(&mut self, rank: usize, direction: Direction) {
        let positions = self.positions();
        // As fractions; an item without neighbours wants to stay.
        let barycentre = |item: usize| {
            let neighbours = self.neighbours(item, direction);
            match neighbours.len() {
                0 => (positions[item], 1),
                count => (neighbours.iter().map(|&neighbour| positions[neighbour]).sum(), count),
            }
        };
        let mut keyed: Vec<((usize, usize), usize)> =
            self.ranks[rank].iter().map(|&item| (barycentre(item), item)).collect();
        keyed.sort_by(|((a, m), _), ((b, n), _)| (a * n).cmp(&(b * m)));
        self.ranks[rank] = keyed.into_iter().map(|(_, item)| item).collect();
    }

    fn crossings(&self) -> usize {
        let positions = self.positions();
        let mut crossings = 0;
        for rank in &self.ranks {
            // Lower ends in the order of the upper ones: each inversion is a crossing.
            let mut ends: Vec<usize> = Vec::new();
            for &item in rank {
                let mut below: Vec<usize> =
                    self.items[item].below.iter().map(|&end| positions[end]).collect();
                below.sort_unstable();
                ends.extend(below);
            }
            crossings += inversions(&ends);
        }
        crossings
    }

    // ---- coordinates -------------------------------------------------------------------------------------

    fn place(&mut self) {
        for rank in 0..self.ranks.len() {
            self.place_rank(rank, |_, _| None);
        }
        for sweep in 0..2 * SWEEPS {
            let direction = if sweep % 2 == 0 { Direction::Down } else { Direction::Up };
            for rank in self.sweep(direction) {
                self.place_rank(rank, |layers, item| {
                    mean(
                        layers.neighbours(item, direction).iter().map(|&neighbour| layers.items[neighbour].x),
                    )
                });
            }
        }
        for rank in 0..self.ranks.len() {
            self.place_rank(rank, |layers, item| {
                let Item { above, below, .. } = &layers.items[item];
                mean(above.iter().chain(below).map(|&neighbour| layers.items[neighbour].x))
            });
        }
        let left = self.items.iter().map(|item| item.x - item.width / 2).min().unwrap_or(0);
        self.items.iter_mut().for_each(|item| item.x += MARGIN - left);
    }

    /// Places a rank as near to what its items wish as their order and distances (L1) allow, by least squares.
    fn place_rank(&mut self, rank: usize, wish: impl Fn(&Layers, usize) -> Option<i64>) {
        // The leftmost place that each item can have, if the first one is at zero.
        let mut offsets: Vec<i64> = Vec::new();
        let mut blocks: Vec<Block> = Vec::new();
        let mut right = 0;
        for (position, &number) in self.ranks[rank].iter().enumerate() {
            let item = &self.items[number];
            let gap = if item.is_virtual { GAP / 2 } else { GAP };
            let offset = if position == 0 { 0 } else { right + gap + item.width / 2 };
            right = offset + item.width / 2;
            offsets.push(offset);
            let weight = if item.is_virtual { VIRTUAL_WEIGHT } else { 1 };
            let wished = wish(self, number).unwrap_or(item.x.max(offset));
            blocks.push(Block { sum: (wished - offset) * weight, weight, length: 1 });
            while let [.., before, last] = &mut *blocks
                && before.mean() > last.mean()
            {
                before.sum += last.sum;
                before.weight += last.weight;
                before.length += last.length;
                blocks.pop();
            }
        }
        let shifts = blocks.iter().flat_map(|block| std::iter::repeat_n(block.mean(), block.length));
        let places: Vec<i64> = shifts.zip(offsets).map(|(shift, offset)| shift + offset).collect();
        for (&item, x) in self.ranks[rank].iter().zip(places) {
            self.items[item].x = x;
        }
    }

    // ---- the drawing -------------------------------------------------------------------------------------

    fn drawing(&self, turned: &[bool]) -> Drawing {
        let mut tops: Vec<i64> = Vec::new();
        let mut heights: Vec<i64> = Vec::new();
        let mut y = MARGIN;
        for rank in &self.ranks {
            let height = rank.iter().map(|&item| self.items[item].height).max().unwrap_or(0);
            tops.push(y);
            heights.push(height);
            y += height + RANK_GAP;
        }
        let centre = |item: &Item| Point { x: item.x, y: tops[item.rank] + heights[item.rank] / 2 };
        let route = |chain: &Vec<usize>| {
            let mut points = Vec::with_capacity(2 * chain.len());
            for (position, &number) in chain.iter().enumerate() {
                let item = &self.items[number];
                let (top, bottom) = (tops[item.rank], tops[item.rank] + heights[item.rank]);
                // Beside the nodes of a rank edges run straight, so that they do not cross them.
                let ys = match position {
                    0 => [centre(item).y, bottom],
                    _ if position + 1 == chain.len() => [top, centre(item).y],
                    _ => [top, bottom],
                };
                points.extend(ys.map(|y| Point { x: item.x, y }));
            }
            points
        };
        let mut routes: Vec<Vec<Point>> = self.chains.iter().map(route).collect();
        self.ports(&mut routes);
        for (route, _) in routes.iter_mut().zip(turned).filter(|(_, turned)| **turned) {
            route.reverse();
        }
        let right = self.items.iter().map(|item| item.x + item.width / 2).max().unwrap_or(0);
        Drawing {
            size: Point { x: right + MARGIN, y: y - RANK_GAP + MARGIN },
            centres: self.items[..self.count].iter().map(centre).collect(),
            routes,
        }
    }

    /// Lets edges end at the borders of their nodes, side by side.
    fn ports(&self, routes: &mut [Vec<Point>]) {
        let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); self.count];
        let mut entering: Vec<Vec<usize>> = vec![Vec::new(); self.count];
        for (edge, chain) in self.chains.iter().enumerate() {
            leaving[chain[0]].push(edge);
            entering[chain[chain.len() - 1]].push(edge);
        }
        for node in 0..self.count {
            let Item { width, height, .. } = self.items[node];
            for (edges, is_leaving) in [(&mut leaving[node], true), (&mut entering[node], false)] {
                edges.sort_by_key(|&edge| {
                    let chain = &self.chains[edge];
                    self.items[if is_leaving { chain[1] } else { chain[chain.len() - 2] }].x
                });
                let count = edges.len() as i64;
                let gap = PORT_GAP.min(width / (count + 1));
                for (position, &edge) in edges.iter().enumerate() {
                    let route = &mut routes[edge];
                    let last = route.len() - 1;
                    let shift = gap * (2 * position as i64 - count + 1) / 2;
                    let (end, next) = if is_leaving { (0, 1) } else { (last, last - 1) };
                    route[end].x += shift;
                    route[end].y += if is_leaving { height / 2 } else { -height / 2 };
                    route[next].x += shift;
                }
            }
        }
    }
}

/// Items that touch, and the shift that all of them have.
struct Block {
    sum: i64,
    weight: i64,
    length: usize,
}

impl Block {
    fn mean(&self) -> i64 {
        self.sum.div_euclid(self.weight)
    }
}

fn mean(numbers: impl Iterator<Item = i64>) -> Option<i64> {
    let (sum, count) = numbers.fold((0, 0), |(sum, count), number| (sum + number, count + 1));
    (count > 0).then(|| sum / count)
}

/// How many pairs stand in the wrong order, by a Fenwick tree.
fn inversions(numbers: &[usize]) -> usize {
    let mut tree = vec![0usize; numbers.iter().max().map_or(0, |most| most + 2)];
    let mut inversions = 0;
    for (before, &number) in numbers.iter().enumerate() {
        let (mut not_above, mut index) = (0, number + 1);
        while index > 0 {
            not_above += tree[index];
            index &= index - 1;
        }
        inversions += before - not_above;
        index = number + 1;
        while index < tree.len() {
            tree[index] += 1;
            index += index & index.wrapping_neg();
        }
    }
    inversions
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;

    use super::*;

    fn graph(count: usize, edges: &[(usize, usize)]) -> Graph {
        Graph { sizes: vec![Point { x: 60, y: 30 }; count], edges: edges.to_vec() }
    }

    #[test]
    fn a_path_is_a_straight_line() {
        let drawing = graph(3, &[(0, 1), (1, 2), (2, 1)]).draw();
        let [a, b, c] = *drawing.centres else { panic!() };
        assert!(a.y < b.y && b.y < c.y, "what closes the cycle is turned around");
        assert!((a.x - b.x).abs() <= 1 && (b.x - c.x).abs() <= 1, "{:?}", drawing.centres);
        let back = &drawing.routes[2];
        assert!(back[0].y > back[back.len() - 1].y, "and still leads from its source to its target");
        let there = &drawing.routes[1];
        assert_ne!(back[0].x, there[there.len() - 1].x, "each has its own ports");
    }

    #[test]
    fn crossings_that_need_not_be_are_none() {
        let layers = |edges: &[(usize, usize)]| {
            let graph = graph(6, edges);
            let mut layers = Layers::new(&graph.sizes, &ranks(6, edges), edges);
            layers.order();
            layers.crossings()
        };
        assert_eq!(layers(&[(0, 5), (1, 4), (2, 3)]), 0);
        assert_eq!(layers(&[(0, 3), (0, 4), (1, 3), (1, 4)]), 1);
    }

    /// Against counting pair by pair.
    #[test]
    fn inversions_are_counted() {
        let mut state = 12345u64;
        for length in 0..40 {
            let numbers: Vec<usize> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 33) as usize % 12
                })
                .collect();
            let pairs = (0..length).flat_map(|i| (i + 1..length).map(move |j| (i, j)));
            assert_eq!(inversions(&numbers), pairs.filter(|&(i, j)| numbers[i] > numbers[j]).count());
        }
    }

    /// L1 and L2 on generated graphs.
    #[test]
    fn nodes_keep_their_distance_and_edges_lead_down() {
        let mut random = Random::new(99);
        for count in [1, 2, 7, 40, 150] {
            let pairs = (0..2 * count).map(|_| (random.below(count), random.below(count)));
            let graph = graph(count, &pairs.filter(|(a, b)| a != b).collect::<Vec<_>>());
            let (drawing, turned) = (graph.draw(), graph.turned());
            for (a, first) in drawing.centres.iter().enumerate() {
                assert!(first.x >= 30 && first.x + 30 <= drawing.size.x && first.y + 15 <= drawing.size.y);
                for second in &drawing.centres[a + 1..] {
                    assert!(first.y != second.y || (first.x - second.x).abs() >= 60);
                }
            }
            for (&(from, to), turned) in graph.edges.iter().zip(turned) {
                assert_eq!(drawing.centres[from].y > drawing.centres[to].y, turned);
            }
        }
        assert!(graph(0, &[]).draw().centres.is_empty());
    }
}
