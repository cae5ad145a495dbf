//! The infinity frame: lemmas that are inductive by themselves.
//!
//! After propagation, lemmas of the last frame are tried: is a lemma inductive relative to those of infinity? If a state
//! outside of the cube steps into it, a lemma of the last frame that excludes this state is tried first. So lemmas that
//! rest on each other in a chain, not in a circle, reach infinity. As in propagation, a lemma remembers the state that
//! stopped it.
//!
//! Lemmas of infinity go to the exchange.

use shofar_run::Stop;

use super::Pdr;
use super::cube::Cube;
use super::frames::{Lemma, Stopped};
use crate::aig::Edge;
use crate::exchange::Exchange;

impl<'a> Pdr<'a> {
    /// Takes part in an exchange.
    pub(crate) fn join(&mut self, exchange: &'a Exchange) {
        self.exchange = Some(exchange);
    }

    /// Moves lemmas of the last frame to infinity, as far as they are inductive there.
    pub(super) fn propagate_to_infinity(&mut self) -> Result<(), Stop> {
        let last = self.last();
        let mut open: Vec<Lemma> = self.frames[last].clone();
        open.retain(|lemma| {
            lemma.stopped_at_infinity.as_ref().is_none_or(|stopped| self.excludes(&[], stopped))
        });
        while let Some(first) = open.pop() {
            // Each lemma may help the one below it.
            let mut stack = vec![first.cube];
            while let Some(cube) = stack.last() {
                self.go_on()?;
                let cube = cube.clone();
                if self.holds_at_infinity(&cube)? {
                    let core = self.core.clone();
                    self.add_to_infinity(core.clone());
                    self.unshared.push(core);
                    stack.pop();
                    continue;
                }
                let state = self.lifting.state(&self.base, &self.variables);
                if let Some(helper) = open.iter().position(|lemma| lemma.cube.subsumes(&state)) {
                    stack.push(open.swap_remove(helper).cube);
                    continue;
                }
                let since = self.serial;
                if let Some(lemma) = self.frames[last].iter_mut().find(|lemma| lemma.cube == cube) {
                    lemma.stopped_at_infinity = Some(Stopped { state, since });
                }
                // The others in the stack wait for this one.
                break;
            }
        }
        self.tell();
        Ok(())
    }

    /// Tells the other engines what was found.
    fn tell(&mut self) {
        let Some(exchange) = self.exchange else { return };
        exchange.raise_bound(self.last());
        let clauses =
            self.unshared.drain(..).map(|cube| cube.lits().iter().map(|&lit| !lit).collect::<Vec<Edge>>());
        exchange.share(clauses);
    }

    /// Adds a lemma to all frames for good, and drops those that it subsumes.
    pub(super) fn add_to_infinity(&mut self, cube: Cube) {
        let clause: Vec<Edge> = cube.lits().iter().map(|&lit| !lit).collect();
        self.probes.iter_mut().chain([&mut self.base]).for_each(|probe| probe.add_clause(&clause));
        for lemmas in self.frames.iter_mut().chain([&mut self.infinity]) {
            lemmas.retain(|lemma| !cube.subsumes(&lemma.cube));
        }
        let lemma = self.number(cube);
        self.infinity.push(lemma);
    }
}
