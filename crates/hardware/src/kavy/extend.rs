//! The extension of a trace at a strong extension level (i, k).
//!
//! The property is a part of all frames, so R = C ∧ ¬bad ∧ T is the step from one. The sequence interpolants
//! I_{i-k+2}..I_N of the refuted path satisfy
//!
//! ```text
//! F_i ∧ R ⇒ I'_{i-k+2}
//! F_i ∧ I_j ∧ R ⇒ I'_{j+1}        for i-k+2 <= j <= i, j < N
//! F_j ∧ I_j ∧ R ⇒ I'_{j+1}        for i < j < N
//! F_N ∧ I_N ∧ R ∧ C' ⇒ ¬bad'
//! ```
//!
//! Lemmas then make one frame after the other imply P_j = G_j ∨ (G_t ∧ I_{j+1}), where G is the trace so far and t is
//! the frame to be strengthened: i + 1 for j <= i, j + 1 after that. In the end G_N ⇒ G_{N-1} ∨ I_N. Steps from G_{N-1}
//! lead to G_N, where the property holds; steps from I_N lead to states that are not bad. So frame N + 1 may have the
//! property, and needs no lemma of its own. The implications count where a step can follow: in states with inputs that
//! satisfy C ∧ ¬bad.
//!
//! * E1: no step from G_{t-1} leaves F_j ∨ (G_t ∧ I_{j+1}), where F is the trace before the extension. A state of G_{t-1}
//!   is in P_{j-1}. If it is in F_{j-1}, the step leads to F_j; otherwise to I_{j+1}, by the interpolants, and to G_t. So
//!   a state of G_t outside can be blocked at t, whatever else is added to the frames.
//! * E2: the same holds for P_j, with G_j instead of F_j, if each lemma was added to all frames up to i + 1. The lemmas
//!   of counterexamples to generalisation and of propagation may be in lower frames only; if they make a difference,
//!   F_j serves instead.

use shofar_run::Stop;
use shofar_smt::levels::Level;
use shofar_smt::sat::Lit;

use super::justify::justification;
use super::property::exclude;
use crate::aig::{Aig, Builder, Edge};
use crate::interpolate::{Labelling, interpolants};
use crate::pdr::Pdr;
use crate::pdr::cube::Cube;
use crate::system::BitSystem;
use crate::unroll::{Links, Start, Unrolling};

/// Extends a trace by a frame. PDR's system is the given one without steps from bad states.
pub(super) fn extend<'a>(
    system: &'a BitSystem,
    pdr: &mut Pdr<'a>,
    level: Level,
    labelling: Labelling,
) -> Result<(), Stop> {
    let (last, i) = (pdr.last(), level.i);
    if level.start() == last {
        // One step from the last frame keeps the property.
        pdr.add_frame();
        return Ok(());
    }
    let mut extension = Extension::new(system, pdr, level, labelling)?;
    extension.pdr.add_frame();
    for j in level.start()..last {
        extension.strengthen(j.max(i) + 1, j)?;
        if j > i {
            extension.pdr.propagate()?;
        }
    }
    Ok(())
}

struct Extension<'p, 'a> {
    pdr: &'p mut Pdr<'a>,
    /// The cubes that F excludes, by their highest frame.
    before: Vec<Vec<Cube>>,
    /// The graph of the interpolants.
    aig: Aig,
    /// The first interpolant's position, and the interpolants.
    first: usize,
    interpolants: Vec<Edge>,
}

impl<'p, 'a> Extension<'p, 'a> {
    fn new(
        system: &'a BitSystem,
        pdr: &'p mut Pdr<'a>,
        level: Level,
        labelling: Labelling,
    ) -> Result<Self, Stop> {
        let before: Vec<Vec<Cube>> =
            pdr.frames.iter().map(|lemmas| lemmas.iter().map(|lemma| lemma.cube.clone()).collect()).collect();
        // Position 0 of the unrolling is where the paths of the level begin.
        let start = if level.i == 0 { Start::Reset } else { Start::Any };
        let mut unrolling = Unrolling::with_proofs(system, start, Links::Tied);
        for position in level.start()..=pdr.last() {
            let at = position - level.start();
            unrolling.assert_constraints(at);
            unrolling.assert(at, !system.bad);
            let frames = before[level.frame(position)..].iter().flatten();
            for cube in frames.chain(pdr.infinity.iter().map(|lemma| &lemma.cube)) {
                let clause: Vec<Lit> = cube.lits().iter().map(|&lit| unrolling.literal(at, !lit)).collect();
                unrolling.add_clause(at, &clause);
            }
        }
        let end = pdr.last() + 1 - level.start();
        unrolling.assert_constraints(end);
        unrolling.assert(end, system.bad);
        if unrolling.is_satisfiable(&[], pdr.limits)? {
            return Err(Stop::Internal("a path through the frames was refuted before".into()));
        }
        let mut builder = Builder::with_leaves(system.num_latches() + system.num_inputs);
        let interpolants = interpolants(&unrolling, 1..=end - 1, labelling, &mut builder, pdr.limits)?;
        Ok(Self { pdr, before, aig: builder.into_aig(), first: level.start() + 1, interpolants })
    }

    /// Adds lemmas to frame t until it implies P_j.
    fn strengthen(&mut self, t: usize, j: usize) -> Result<(), Stop> {
        let interpolant = self.interpolants[j + 1 - self.first];
        let below = self.pdr.frames[j..t].iter().flatten().map(|lemma| lemma.cube.clone()).collect();
        let mut rest = Rest::new(self.pdr, t, j, below, &self.aig, interpolant);
        let mut is_weakened = false;
        while let Some(cube) = rest.cube(self.pdr)? {
            if self.pdr.blocked(&cube, t, true)? {
                let core = self.pdr.core.clone();
                let lemma = self.pdr.generalize(core, t, 0.0)?;
                exclude(&mut rest.unrolling, &lemma);
                self.pdr.add_lemma(lemma, t);
            } else if is_weakened {
                return Err(Stop::Internal("the successors of a frame leave its interpolant".into()));
            } else {
                is_weakened = true;
                let below = self.before[j..].iter().flatten().cloned().collect();
                rest = Rest::new(self.pdr, t, j, below, &self.aig, interpolant);
            }
        }
        Ok(())
    }
}

/// The states of G_t outside of a lower frame and of an interpolant.
struct Rest<'p, 'a> {
    unrolling: Unrolling<'a>,
    aig: &'p Aig,
    interpolant: Edge,
    /// Cubes outside of the lower frame, each with a literal that implies it.
    outside: Vec<(Lit, Cube)>,
}

impl<'p, 'a> Rest<'p, 'a> {
    /// `below` are the cubes that frame j excludes, without some that G_t excludes.
    fn new(pdr: &Pdr<'a>, t: usize, j: usize, below: Vec<Cube>, aig: &'p Aig, interpolant: Edge) -> Self {
        let system: &'a BitSystem = pdr.system;
        let mut unrolling = Unrolling::new(system, Start::Any, Links::Tied);
        let lemmas = pdr.frames[t..].iter().flatten().chain(&pdr.infinity);
        lemmas.for_each(|lemma| exclude(&mut unrolling, &lemma.cube));
        // Those of the system of PDR: the property is among them.
        unrolling.assert_constraints(0);
        let lit = unrolling.literal_over(0, aig, !interpolant);
        unrolling.add_clause(0, &[lit]);
        // Frame 0 is no set of lemmas, but the resets.
        let below = if j > 0 {
            below
        } else {
            let resets = system.resets.iter().enumerate();
            resets
                .filter_map(|(latch, reset)| Some(Cube::new(vec![system.latch(latch).edge((*reset)?)])))
                .collect()
        };
        let mut outside = Vec::new();
        for cube in below {
            let implied = unrolling.new_literal();
            for &lit in cube.lits() {
                let lit = unrolling.literal(0, lit);
                unrolling.add_clause(0, &[!implied, lit]);
            }
            outside.push((implied, cube));
        }
        let some: Vec<Lit> = outside.iter().map(|&(lit, _)| lit).collect();
        unrolling.add_clause(0, &some);
        Self { unrolling, aig, interpolant, outside }
    }

    /// A cube outside of the lower frame and of the interpolant that meets G_t.
    fn cube(&mut self, pdr: &Pdr<'_>) -> Result<Option<Cube>, Stop> {
        if !self.unrolling.is_satisfiable(&[], pdr.limits)? {
            return Ok(None);
        }
        let values = self.aig.evaluate(|leaf| self.unrolling.value(0, leaf.into()));
        let mut lits = justification(self.aig, &values, [!self.interpolant]);
        let is_outside = |cube: &Cube| cube.lits().iter().all(|lit| lits.contains(lit));
        if !self.outside.iter().any(|(_, cube)| is_outside(cube)) {
            let holds = |&&(lit, _): &&(Lit, Cube)| {
                self.unrolling.solver().value(lit.var()).is_some_and(|value| value == lit.is_positive())
            };
            let found = self.outside.iter().find(holds);
            let (_, cube) = found.ok_or_else(|| Stop::Internal("a state is in the lower frame".into()))?;
            lits.extend(cube.lits());
        }
        Ok(Some(Cube::new(lits)))
    }
}
