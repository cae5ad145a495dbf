//! Propagation: lemmas move to higher frames where they still hold.
//!
//! A lemma that cannot move remembers the state that stops it, and is asked again only after a lemma excludes that
//! state (Suda, "Triggered Clause Pushing for IC3", 2013).

use shofar_run::Stop;

use super::Pdr;
use super::cube::Cube;
use super::frames::Stopped;

impl Pdr<'_> {
    /// Moves lemmas up as far as they hold.
    pub(crate) fn propagate(&mut self) -> Result<(), Stop> {
        (1..self.last()).try_for_each(|frame| self.propagate_from(frame))
    }

    /// Moves lemmas of one frame to the next.
    pub(crate) fn propagate_from(&mut self, frame: usize) -> Result<(), Stop> {
        let mut cubes: Vec<Cube> = self.frames[frame].iter().map(|lemma| lemma.cube.clone()).collect();
        cubes.sort_by_key(|cube| cube.lits().len());
        for cube in cubes {
            self.go_on()?;
            let Some(at) = self.frames[frame].iter().position(|lemma| lemma.cube == cube) else {
                // A lemma that moved up subsumed it.
                continue;
            };
            if let Some(stopped) = &self.frames[frame][at].stopped_by
                && !self.excludes(&self.frames[frame..], stopped)
            {
                let since = self.serial;
                self.frames[frame][at].stopped_by.iter_mut().for_each(|stopped| stopped.since = since);
                continue;
            }
            if self.blocked(&cube, frame + 1, false)? {
                let core = self.core.clone();
                self.add_lemma(core, frame + 1);
            } else {
                let state = self.lifting.state(&self.probes[frame], &self.variables);
                self.frames[frame][at].stopped_by = Some(Stopped { state, since: self.serial });
            }
        }
        Ok(())
    }
}
