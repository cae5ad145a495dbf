//! Splitting: a property whose bad states are a union becomes several properties with smaller cones.
//!
//! Often bad says that two words differ: it is a disjunction over bits, perhaps under a common guard. Each disjunct
//! depends on its own bit of every register, so its system is smaller by the width of the words. If one disjunct is
//! reachable, bad is. If none is, the conjunction of their invariants is an invariant for bad.
//!
//! Bad is expanded to a disjunction of conjunctions, step by step: the disjunct that depends on the most latches is
//! distributed over the disjunction in it that depends on the most latches. Disjuncts that depend on the same latches
//! stay together.
//!
//! Bits of a word have circuits of the same shape, and most likely the same answer. So parts come in an order that shows
//! each shape early: the first of every shape, then the second of every shape, and so on.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::aig::{Builder, Edge, Node};
use crate::reduce::{Back, cone};
use crate::system::BitSystem;

/// The greatest number of disjuncts.
const MOST_DISJUNCTS: usize = 2048;

/// The greatest number of expansions.
const MOST_EXPANSIONS: usize = 8;

/// The greatest number of nodes of all parts' graphs together, before their cones are taken.
const MOST_NODES: usize = 1 << 25;

/// A system for some of the bad states, and the way back.
#[derive(Clone, Debug)]
pub struct Part {
    /// The system.
    pub system: BitSystem,
    /// The way back.
    pub back: Back,
}

/// The parts of a system; empty unless each has at most two thirds of the latches. The first ones of all shapes come
/// first, and of these the ones with few latches.
pub fn split(system: &BitSystem) -> Vec<Part> {
    let mut groups: BTreeMap<(usize, Vec<u64>), Vec<Vec<Edge>>> = BTreeMap::new();
    for disjunct in expand(system) {
        groups.entry((disjunct.num_latches, disjunct.latches)).or_default().push(disjunct.conjuncts);
    }
    let most_latches = groups.keys().next_back().map_or(0, |&(num_latches, _)| num_latches);
    if groups.len() < 2
        || 3 * most_latches > 2 * system.num_latches()
        || groups.len().saturating_mul(system.aig.len()) > MOST_NODES
    {
        return Vec::new();
    }
    let mut builder = Builder::on(system.aig.clone());
    let bads: Vec<Edge> = groups
        .into_values()
        .map(|disjuncts| {
            let disjuncts: Vec<Edge> = disjuncts.into_iter().map(|edges| builder.and_all(edges)).collect();
            builder.or_all(disjuncts)
        })
        .collect();
    let mut all = BitSystem { aig: builder.into_aig(), ..system.clone() };
    let parts = bads.into_iter().map(|bad| {
        all.bad = bad;
        let (system, back) = cone(&all);
        Part { system, back }
    });
    by_shape(parts.collect())
}

/// Sorts parts by how many of the same shape come before. The sizes stand for the shape.
fn by_shape(parts: Vec<Part>) -> Vec<Part> {
    let mut seen: FxHashMap<[usize; 3], usize> = FxHashMap::default();
    let mut ranked: Vec<(usize, Part)> = parts
        .into_iter()
        .map(|part| {
            let system = &part.system;
            let shape = [system.num_latches(), system.num_inputs, system.aig.num_ands()];
            let before = seen.entry(shape).or_default();
            *before += 1;
            (*before, part)
        })
        .collect();
    ranked.sort_by_key(|&(rank, _)| rank);
    ranked.into_iter().map(|(_, part)| part).collect()
}

/// Who works next on a system and its parts, and for how long.
///
/// The parts may be many, and the whole proves only once what they share. So the whole gets a third of the work, in turns
/// of growing length. Of the rest the first open part gets half, the second a quarter, and so on.
pub(crate) struct Turns {
    /// The length of the whole's turns.
    length: u64,
    /// The turns of parts so far.
    of_parts: u32,
    /// The turns of parts before the next one of the whole.
    left: u32,
}

impl Turns {
    /// The turns of parts for one of the whole, each half as long.
    const OF_PARTS: u32 = 4;

    /// Turns, the first of which is the whole's and has this length.
    pub(crate) fn new(length: u64) -> Self {
        Self { length, of_parts: 0, left: 0 }
    }

    /// The next turn and its length; empty for the whole. There are so many open parts, at least one.
    pub(crate) fn next(&mut self, open: usize) -> (Option<usize>, u64) {
        let length = self.length;
        if self.left == 0 {
            self.left = Self::OF_PARTS;
            return (None, length);
        }
        self.left -= 1;
        if self.left == 0 {
            self.length += length / 2;
        }
        self.of_parts = self.of_parts.wrapping_add(1);
        (Some((self.of_parts.trailing_zeros() as usize).min(open - 1)), length / 2)
    }
}

/// A conjunction of edges, and what it depends on.
#[derive(Clone, Debug)]
struct Disjunct {
    conjuncts: Vec<Edge>,
    /// The latches that it and the constraints depend on, in any number of steps, as a set of bits.
    latches: Vec<u64>,
    num_latches: usize,
}

/// Disjuncts whose disjunction is bad: those of the last expansion after which the largest depends on fewer latches.
fn expand(system: &BitSystem) -> Vec<Disjunct> {
    let mut cones = Cones::new(system);
    let mut disjuncts = vec![cones.disjunct(vec![system.bad])];
    let mut best = disjuncts.clone();
    let largest = |disjuncts: &[Disjunct]| (0..disjuncts.len()).max_by_key(|&i| disjuncts[i].num_latches);
    for _ in 0..MOST_EXPANSIONS {
        let Some(at) = largest(&disjuncts) else { break };
        let disjunct = disjuncts.swap_remove(at);
        let choices = disjunct.conjuncts.iter().copied().filter(|&edge| is_disjunction(system, edge));
        let Some(choice) = choices.max_by_key(|&edge| cones.disjunct(vec![edge]).num_latches) else { break };
        let rest: Vec<Edge> = disjunct.conjuncts.into_iter().filter(|&edge| edge != choice).collect();
        let alternatives = conjuncts(system, !choice);
        if disjuncts.len() + alternatives.len() > MOST_DISJUNCTS {
            break;
        }
        for alternative in alternatives {
            let mut edges = rest.clone();
            edges.push(!alternative);
            disjuncts.push(cones.disjunct(edges));
        }
        let size = |disjuncts: &[Disjunct]| largest(disjuncts).map(|at| disjuncts[at].num_latches);
        if size(&disjuncts) < size(&best) {
            best.clone_from(&disjuncts);
        }
    }
    best
}

fn is_disjunction(system: &BitSystem, edge: Edge) -> bool {
    edge.is_negated() && system.aig.is_and(edge.node())
}

/// The edges whose conjunction is the edge, none of them a conjunction.
fn conjuncts(system: &BitSystem, edge: Edge) -> Vec<Edge> {
    let mut all = Vec::new();
    let mut stack = vec![edge];
    while let Some(edge) = stack.pop() {
        match system.aig.and_fanins(edge.node()) {
            Some(fanins) if !edge.is_negated() => stack.extend(fanins),
            _ => all.push(edge),
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Finds what edges depend on.
struct Cones<'a> {
    system: &'a BitSystem,
    /// By nodes: the last search that came by.
    stamp: Vec<u32>,
    searches: u32,
    stack: Vec<Node>,
}

impl<'a> Cones<'a> {
    fn new(system: &'a BitSystem) -> Self {
        Self { system, stamp: vec![0; system.aig.len()], searches: 0, stack: Vec::new() }
    }

    /// The conjunction of edges.
    fn disjunct(&mut self, edges: Vec<Edge>) -> Disjunct {
        let system = self.system;
        let mut conjuncts: Vec<Edge> = edges.into_iter().flat_map(|edge| conjuncts(system, edge)).collect();
        conjuncts.sort_unstable();
        conjuncts.dedup();
        self.searches += 1;
        self.stack.extend(conjuncts.iter().chain(&system.constraints).map(|edge| edge.node()));
        let mut latches = vec![0; system.num_latches().div_ceil(64)];
        let mut num_latches = 0;
        while let Some(node) = self.stack.pop() {
            if std::mem::replace(&mut self.stamp[node.index()], self.searches) == self.searches {
                continue;
            }
            if let Some(fanins) = system.aig.and_fanins(node) {
                self.stack.extend(fanins.map(Edge::node));
            } else if let Some(latch) = system.latch_index(node) {
                latches[latch / 64] |= 1 << (latch % 64);
                num_latches += 1;
                self.stack.push(system.next[latch].node());
            }
        }
        Disjunct { conjuncts, latches, num_latches }
    }
}

#[cfg(test)]
mod tests {
    use shofar_run::Limits;
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::common::shortest_in_system;
    use crate::evidence::Evidence;
    use crate::exchange::Exchange;
    use crate::explicit::{is_counterexample, is_inductive, random_system};
    use crate::pdr::{self, Options, Variant};

    /// Systems side by side; bad if one of them is bad, under a guard that they share.
    fn side_by_side(random: &mut Random, number: usize) -> BitSystem {
        let systems: Vec<BitSystem> = (0..number).map(|_| random_system(random, 3, 1, 10)).collect();
        let latches: usize = systems.iter().map(BitSystem::num_latches).sum();
        let inputs: usize = systems.iter().map(|system| system.num_inputs).sum();
        let mut builder = Builder::with_leaves(latches + inputs);
        let (mut resets, mut next, mut bads, mut constraints) = (vec![], vec![], vec![], vec![]);
        let (mut first_latch, mut first_input) = (1, 1 + latches);
        for system in &systems {
            let map = builder.copy_cones(&system.aig, system.roots(), |leaf| {
                let index = match system.latch_index(leaf) {
                    Some(latch) => first_latch + latch,
                    None => first_input + system.input_index(leaf).expect("an input"),
                };
                Node::from_index(index).into()
            });
            let mapped = |edge: &Edge| crate::aig::mapped(&map, *edge);
            resets.extend_from_slice(&system.resets);
            next.extend(system.next.iter().map(mapped));
            constraints.extend(system.constraints.iter().take(random.below(2)).map(mapped));
            bads.push(mapped(&system.bad));
            first_latch += system.num_latches();
            first_input += system.num_inputs;
        }
        let guard = Edge::from(Node::from_index(1 + random.below(latches + inputs)));
        let any = builder.or_all(bads);
        let bad = builder.and(any, guard);
        BitSystem { aig: builder.into_aig(), resets, next, num_inputs: inputs, bad, constraints }
    }

    /// The shortest counterexample of the whole is the shortest one of a part. PDR, which works on parts, is right about
    /// the whole.
    #[test]
    fn parts_are_the_whole() {
        let mut random = Random::new(61);
        let (mut safe, mut reached) = (0, 0);
        for number in numbers(600) {
            let system = side_by_side(&mut random, 3);
            let parts = split(&system);
            if parts.is_empty() {
                continue;
            }
            assert!(parts.iter().all(|part| 3 * part.system.num_latches() <= 2 * system.num_latches()));
            let lengths = parts.iter().filter_map(|part| shortest_in_system(&part.system));
            let shortest = shortest_in_system(&system);
            assert_eq!(lengths.min(), shortest, "system {number}");
            for variant in [Variant::Plain, Variant::Local] {
                let options = Options { variant, ..Options::default() };
                match pdr::run(&system, options, &Exchange::default(), &Limits::default()) {
                    Ok(Evidence::Unsafe(trace)) => {
                        reached += 1;
                        assert!(is_counterexample(&system, &trace), "system {number}, {variant:?}");
                    }
                    Ok(Evidence::Safe(invariant)) => {
                        safe += 1;
                        assert_eq!(shortest, None, "system {number}, {variant:?}");
                        assert!(is_inductive(&system, &invariant), "system {number}, {variant:?}");
                    }
                    Err(stop) => panic!("system {number}, {variant:?}: {stop}"),
                }
            }
        }
        assert!(safe > 20 && reached > 20, "{safe} {reached}");
    }

    #[test]
    fn the_whole_has_a_third_of_the_work_and_each_part_half_of_what_those_before_left() {
        let mut turns = Turns::new(1000);
        let mut work = [0; 4];
        for _ in 0..5 * 16 {
            let (who, length) = turns.next(3);
            // Turns that become longer would hide the shares.
            turns.length = 1000;
            work[who.map_or(0, |part| 1 + part)] += length;
        }
        assert_eq!(work, [16_000, 16_000, 8_000, 8_000]);
        assert_eq!(turns.next(3).1, 1000);
        (0..4).for_each(|_| assert_eq!(turns.next(3).1, 500));
        assert_eq!(turns.next(3), (None, 1500));
    }

    /// Two words of eight bits, each copied into another one: a part has the latches of one bit.
    #[test]
    fn words_are_compared_bit_by_bit() {
        let width = 8;
        let mut builder = Builder::with_leaves(4 * width + 1);
        let leaf = |index: usize| Edge::from(Node::from_index(1 + index));
        let enable = leaf(4 * width);
        let mut next = Vec::new();
        for word in 0..4 {
            for bit in 0..width {
                let from =
                    if word % 2 == 0 { leaf(word * width + bit) } else { leaf((word - 1) * width + bit) };
                next.push(builder.ite(enable, from, leaf(word * width + bit)));
            }
        }
        let differences: Vec<Edge> =
            (0..width).map(|bit| builder.xor(leaf(width + bit), leaf(3 * width + bit))).collect();
        let differ = builder.or_all(differences);
        let bad = builder.and(enable, differ);
        let system = BitSystem {
            aig: builder.into_aig(),
            resets: vec![Some(false); 4 * width],
            next,
            num_inputs: 1,
            bad,
            constraints: Vec::new(),
        };
        let parts = split(&system);
        let latches: Vec<usize> = parts.iter().map(|part| part.system.num_latches()).collect();
        assert_eq!(latches, [4; 8]);
        // One bit is different: it is among the first two parts.
        let mut system = system;
        let mut builder = Builder::on(system.aig);
        system.next[width + 5] = builder.and(system.next[width + 5], leaf(5));
        system.aig = builder.into_aig();
        let sizes: Vec<usize> = split(&system).iter().map(|part| part.system.aig.num_ands()).collect();
        assert!(sizes[0] != sizes[1] && sizes[1..].iter().filter(|&&size| size != sizes[2]).count() <= 1);
        assert_eq!(sizes.len(), 8);
    }
}
