//! Sequence interpolants of an unrolling, from its refutation.
//!
//! The parts of an unrolling with tied latches meet in latches only: at *cut* `c`, the parts before `c` (side A) and
//! those from `c` on (side B) share latches of position `c`. So the interpolant of cut `c` is a set of states, an edge
//! over latches: the states that side A can reach at position `c` are in it, and from none of them side B can go on.
//! Interpolants of one refutation at several cuts are a sequence: with the clauses of part `c`, that of cut `c` implies
//! that of cut `c + 1`.
//!
//! One pass over the refutation computes partial interpolants by the labelled rules, at all cuts:
//!
//! ```text
//! clause of A           the disjunction of its literals with label b
//! clause of B           the negation of the disjunction of its literals with label a
//! resolution on p       label a: I1 ∨ I2     label b: I1 ∧ I2
//!                       label ab: (p ∨ I1) ∧ (¬p ∨ I2), where I1 belongs to the clause with p
//! ```
//!
//! A variable has label a (b) if only clauses of A (B) have it; the [`Labelling`] says what shared variables have. A
//! derived clause whose leaves lie in parts `first..=last` counts as a clause of B for cuts up to `first`, and as one of
//! A for cuts after `last`: there A implies it. So a step stores the cuts in between only, which are few.
//!
//! V. D'Silva, D. Kroening, M. Purandare, G. Weissenbacher, "Interpolant strength" (VMCAI 2010); Y. Vizel, O. Grumberg,
//! "Interpolation-Sequence Based Model Checking" (FMCAD 2009).

use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;
use shofar_run::{Limits, Poll, Stop};
use shofar_smt::sat::{LoggedRule, LoggedStep, Origin, Var};

use crate::aig::{Builder, Edge, Node};
use crate::unroll::Unrolling;

/// The label of shared variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Labelling {
    /// Label b: the strongest interpolants.
    #[default]
    McMillan,
    /// Label ab.
    Pudlak,
    /// Label a: the weakest interpolants.
    Inverse,
}

/// The interpolants at some cuts of an unrolling that was refuted, by cuts. The unrolling must tie its latches, log
/// proofs, and have been refuted without assumptions. Latches and inputs in the builder have the numbers that they have
/// in the system; inputs do not occur.
pub fn interpolants(
    unrolling: &Unrolling<'_>,
    cuts: RangeInclusive<usize>,
    labelling: Labelling,
    builder: &mut Builder,
    limits: &Limits<'_>,
) -> Result<Vec<Edge>, Stop> {
    let steps = unrolling.solver().refutation().ok_or_else(|| internal("there is no refutation"))?;
    let mut pass = Pass {
        builder,
        labelling,
        cuts: cuts.clone(),
        occurrences: occurrences(&steps)?,
        latches: unrolling.latch_variables(),
        partial: Vec::with_capacity(steps.len()),
        steps: &steps,
    };
    pass.run(limits)?;
    let last = steps.len() - 1;
    cuts.map(|cut| pass.at(last, cut)).collect()
}

fn internal(what: &str) -> Stop {
    Stop::Internal(format!("interpolation: {what}"))
}

/// By variables of leaves: the first and last part that has it.
fn occurrences(steps: &[LoggedStep]) -> Result<FxHashMap<Var, (usize, usize)>, Stop> {
    let mut occurrences: FxHashMap<Var, (usize, usize)> = FxHashMap::default();
    for step in steps {
        if let LoggedRule::Leaf(origin) = &step.rule {
            let part = part_of(origin)?;
            for lit in &step.clause {
                let (first, last) = occurrences.entry(lit.var()).or_insert((part, part));
                (*first, *last) = ((*first).min(part), (*last).max(part));
            }
        }
    }
    Ok(occurrences)
}

fn part_of(origin: &Origin) -> Result<usize, Stop> {
    match origin {
        Origin::Assertion(part) => Ok(*part as usize),
        _ => Err(internal("a leaf of the refutation belongs to no part")),
    }
}

/// The side that a variable counts for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    A,
    B,
    AB,
}

/// The partial interpolants of a step.
struct Partial {
    /// The parts of its leaves lie between these.
    first: usize,
    last: usize,
    /// At cuts above `first` and up to `last`, as far as they are asked for.
    edges: Vec<Edge>,
}

/// A pass over a refutation.
struct Pass<'a> {
    builder: &'a mut Builder,
    labelling: Labelling,
    cuts: RangeInclusive<usize>,
    occurrences: FxHashMap<Var, (usize, usize)>,
    /// By variables of latches: the latch.
    latches: FxHashMap<Var, usize>,
    steps: &'a [LoggedStep],
    /// By steps.
    partial: Vec<Partial>,
}

impl Pass<'_> {
    fn run(&mut self, limits: &Limits<'_>) -> Result<(), Stop> {
        let poll = Poll::new(limits);
        let steps = self.steps;
        for (number, step) in steps.iter().enumerate() {
            if number % 256 == 0
                && let Some(reason) = poll.interruption()
            {
                return Err(reason.into());
            }
            let partial = match &step.rule {
                LoggedRule::Leaf(origin) => {
                    let part = part_of(origin)?;
                    Partial { first: part, last: part, edges: Vec::new() }
                }
                LoggedRule::Chain { first, others } => self.chain(*first as usize, others)?,
            };
            self.partial.push(partial);
        }
        Ok(())
    }

    /// The cuts that a step with leaves in these parts stores.
    fn stored(&self, first: usize, last: usize) -> RangeInclusive<usize> {
        (first + 1).max(*self.cuts.start())..=last.min(*self.cuts.end())
    }

    fn chain(&mut self, start: usize, others: &[(u32, Var)]) -> Result<Partial, Stop> {
        let (mut first, mut last) = (self.partial[start].first, self.partial[start].last);
        for &(other, _) in others {
            first = first.min(self.partial[other as usize].first);
            last = last.max(self.partial[other as usize].last);
        }
        let mut edges = Vec::new();
        for cut in self.stored(first, last) {
            let mut edge = self.at(start, cut)?;
            for &(other, pivot) in others {
                let beside = self.at(other as usize, cut)?;
                edge = match self.label(pivot, cut) {
                    Label::A => self.builder.or(edge, beside),
                    Label::B => self.builder.and(edge, beside),
                    Label::AB => {
                        let latch = self.latch(pivot)?;
                        let is_in_other = self.steps[other as usize].clause.contains(&pivot.positive());
                        let (with, without) = if is_in_other { (beside, edge) } else { (edge, beside) };
                        let with = self.builder.or(latch, with);
                        let without = self.builder.or(!latch, without);
                        self.builder.and(with, without)
                    }
                };
            }
            edges.push(edge);
        }
        Ok(Partial { first, last, edges })
    }

    /// The partial interpolant of a step at a cut.
    fn at(&mut self, step: usize, cut: usize) -> Result<Edge, Stop> {
        let Partial { first, last, ref edges } = self.partial[step];
        if cut <= first {
            return Ok(!self.restricted(step, cut, Label::A)?);
        }
        if cut <= last {
            return Ok(edges[cut - self.stored(first, last).start()]);
        }
        self.restricted(step, cut, Label::B)
    }

    /// The disjunction of the literals of a step's clause that have a label.
    fn restricted(&mut self, step: usize, cut: usize, label: Label) -> Result<Edge, Stop> {
        let steps = self.steps;
        let mut edge = Edge::FALSE;
        for &lit in &steps[step].clause {
            if self.label(lit.var(), cut) == label {
                let latch = self.latch(lit.var())?.negate_if(!lit.is_positive());
                edge = self.builder.or(edge, latch);
            }
        }
        Ok(edge)
    }

    fn label(&self, var: Var, cut: usize) -> Label {
        match self.occurrences.get(&var) {
            Some(&(_, last)) if last < cut => Label::A,
            Some(&(first, _)) if first < cut => match self.labelling {
                Labelling::McMillan => Label::B,
                Labelling::Pudlak => Label::AB,
                Labelling::Inverse => Label::A,
            },
            _ => Label::B,
        }
    }

    /// The leaf of a shared variable.
    fn latch(&self, var: Var) -> Result<Edge, Stop> {
        let latch = self.latches.get(&var).ok_or_else(|| internal("a shared variable is no latch"))?;
        Ok(Node::from_index(1 + latch).into())
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;
    use shofar_testing::scale::numbers;

    use super::*;
    use crate::aig::{Aig, edge_value};
    use crate::explicit::{allowed_values, counter, random_system};
    use crate::system::BitSystem;
    use crate::unroll::{Links, Start};

    const LABELLINGS: [Labelling; 3] = [Labelling::McMillan, Labelling::Pudlak, Labelling::Inverse];

    /// The interpolants of the unrolling up to a bad last position; `None` if it is satisfiable.
    fn sequence(system: &BitSystem, last: usize, labelling: Labelling) -> Option<(Aig, Vec<Edge>)> {
        let mut unrolling = Unrolling::with_proofs(system, Start::Reset, Links::Tied);
        (0..=last).for_each(|position| unrolling.assert_constraints(position));
        unrolling.assert(last, system.bad);
        if unrolling.is_satisfiable(&[], &Limits::default()).unwrap() {
            return None;
        }
        let mut builder = Builder::with_leaves(system.num_latches() + system.num_inputs);
        let edges = interpolants(&unrolling, 1..=last, labelling, &mut builder, &Limits::default()).unwrap();
        Some((builder.into_aig(), edges))
    }

    /// The sequence property, tried in all states.
    fn check(system: &BitSystem, aig: &Aig, edges: &[Edge]) {
        let cone = aig.cone(edges.iter().copied());
        assert!((0..system.num_inputs).all(|input| !cone[system.input(input).index()]), "over latches only");
        let holds = |edge: Edge, state: &[bool]| {
            let values = aig.evaluate(|leaf| system.latch_index(leaf).is_some_and(|latch| state[latch]));
            edge_value(&values, edge)
        };
        let latches = system.num_latches();
        for state in 0..1u64 << latches {
            let state: Vec<bool> = (0..latches).map(|latch| state >> latch & 1 != 0).collect();
            let is_initial =
                system.resets.iter().zip(&state).all(|(reset, it)| reset.is_none_or(|r| r == *it));
            for values in allowed_values(system, &state) {
                let next: Vec<bool> = system.next.iter().map(|&edge| edge_value(&values, edge)).collect();
                if is_initial {
                    assert!(holds(edges[0], &next), "the first of {edges:?}: {system:?}");
                }
                for pair in edges.windows(2) {
                    assert!(!holds(pair[0], &state) || holds(pair[1], &next), "{pair:?}: {system:?}");
                }
                let is_last = edges.last().is_some_and(|&edge| holds(edge, &state));
                assert!(!is_last || !edge_value(&values, system.bad), "the last of {edges:?}: {system:?}");
            }
        }
    }

    #[test]
    fn interpolants_are_sequences_over_latches() {
        let mut random = Random::new(3);
        let mut proper = [0; 3];
        for _ in numbers(1500) {
            let system = random_system(&mut random, 4, 2, 20);
            for (index, labelling) in LABELLINGS.into_iter().enumerate() {
                let last = 1 + random.below(5);
                let Some((aig, edges)) = sequence(&system, last, labelling) else { continue };
                assert_eq!(edges.len(), last);
                check(&system, &aig, &edges);
                proper[index] += edges.iter().filter(|edge| edge.as_constant().is_none()).count();
            }
        }
        assert!(proper.iter().all(|&count| count > 100), "{proper:?}");
    }

    #[test]
    fn a_counter_has_interpolants_at_all_cuts() {
        for labelling in LABELLINGS {
            let system = counter(4, true);
            let (aig, edges) = sequence(&system, 14, labelling).expect("all ones needs 15 steps");
            check(&system, &aig, &edges);
            assert!(edges.iter().all(|edge| edge.as_constant().is_none()));
            assert!(sequence(&system, 15, labelling).is_none());
        }
    }

    #[test]
    fn assumptions_belong_to_no_part() {
        let system = counter(2, true);
        let mut unrolling = Unrolling::with_proofs(&system, Start::Reset, Links::Tied);
        let bad = unrolling.literal(1, system.bad);
        let limits = Limits::default();
        assert!(!unrolling.is_satisfiable(&[bad], &limits).unwrap());
        let mut builder = Builder::with_leaves(3);
        let answer = interpolants(&unrolling, 1..=1, Labelling::McMillan, &mut builder, &limits);
        assert!(matches!(answer, Err(Stop::Internal(_))));
    }
}
