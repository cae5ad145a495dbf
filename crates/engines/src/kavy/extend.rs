//! The extension of a trace at a strong extension level `(i, k)`.
//!
//! The paths of the level are refuted, and the interpolants `I_{i-k+2}, .., I_{N+1}` of the refutation satisfy
//!
//! ```text
//! F_i, T           imply I_{i-k+2} after the step
//! F_i, I_j, T      imply I_{j+1} after the step    for i-k+2 <= j <= i
//! F_j, I_j, T      imply I_{j+1} after the step    for i < j <= N
//! I_{N+1}          contradicts Bad
//! ```
//!
//! Let `G` be the trace so far. New lemmas make `G_t` imply `P_j = G_j or (G_t and I_{j+1})`, one `j` after the other, where
//! `t` is `i + 1` for `j <= i`, and `j + 1` after that:
//!
//! ```text
//! while G_t and not P_j has a model:  exclude an implicant of it from all frames up to t
//! ```
//!
//! *E1: the implicant can be excluded.* A state of `G_{t-1}` is in `P_{j-1}`. If it is in `G_{j-1}`, its successors are in
//! `G_j`. If not, it is in `I_j`, and its successors are in `I_{j+1}` and in `G_t`. So no step leads from `G_{t-1}` out of
//! `P_j`, and `P_j` contains the initial states, as `G_j` does. New lemmas do not change this, since each is added to all
//! frames up to `t`. Meanwhile lemmas are pushed from `G_t` only: what is pushed must not make `G_j` smaller than it was
//! when `G_t` was compared with it.
//!
//! *E2: the new frame is safe.* In the end `G_{N+1}` implies `G_N` or `I_{N+1}`.
//!
//! There are finitely many implicants, because their literals are atoms of `P_j`.

use shofar_logic::Term;
use shofar_run::Stop;
use shofar_smt::levels::Level;
use shofar_smt::project::Projector;

use super::frames::Frames;
use super::levels::Levels;
use crate::Run;
use crate::separation::{InterpolationMethod, Parts};

/// The interpolants of a level's paths, over the state variables.
pub(super) fn interpolants(
    run: &Run<'_>,
    levels: &mut Levels<'_>,
    frames: &Frames<'_>,
    level: Level,
    interpolation: InterpolationMethod,
) -> Result<Vec<Term>, Stop> {
    let mut path = Parts::new(run, levels.path(frames, level))?;
    if path.is_satisfiable()? {
        return Err(Stop::Internal("a path through the frames was refuted before".to_owned()));
    }
    let positions = level.start() + 1..;
    let interpolants = path.sequence(interpolation)?.into_iter().zip(positions);
    Ok(interpolants.map(|(interpolant, position)| levels.untimed(interpolant, position)).collect())
}

/// Extends a safe trace by a safe frame.
pub(super) fn extend(
    run: &Run<'_>,
    frames: &mut Frames<'_>,
    level: Level,
    interpolants: &[Term],
) -> Result<(), Stop> {
    let after = |j: usize| interpolants[j - level.start()];
    frames.add_frame();
    for j in level.start()..frames.last() {
        let t = j.max(level.i) + 1;
        strengthen(run, frames, t, j, after(j))?;
        if j >= level.i && t < frames.last() {
            frames.push_from(t)?;
        }
    }
    Ok(())
}

/// Makes `G_t` imply `G_j` or the interpolant `I_{j+1}`.
fn strengthen(
    run: &Run<'_>,
    frames: &mut Frames<'_>,
    t: usize,
    j: usize,
    interpolant: Term,
) -> Result<(), Stop> {
    let store = run.store;
    let (beyond, outside) = (store.not(interpolant), frames.outside(j, t));
    let mut projector = Projector::new(store);
    let mut rest = run.solver();
    let mut formulas = frames.conjuncts(t);
    formulas.extend([beyond, outside]);
    run.assert(&mut rest, &formulas)?;
    while run.is_satisfiable(&mut rest, &[])? {
        let model = rest.model(&[beyond, outside]);
        let mut implicant =
            |formula| projector.implicant(formula, &model, &[]).map_err(|error| error.stop(store));
        // Often the interpolant alone says enough.
        let mut cube = implicant(beyond)?;
        let mut lemma = frames.block(&cube, t)?;
        if lemma.is_none() {
            cube.extend(implicant(outside)?);
            lemma = frames.block(&cube, t)?;
        }
        let Some(lemma) = lemma else {
            return Err(Stop::Internal("the successors of a frame leave its interpolant".to_owned()));
        };
        run.assert(&mut rest, &[lemma])?;
    }
    Ok(())
}
