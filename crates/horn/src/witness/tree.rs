//! Refutations as a tree for people, from `false` down to the facts.
//!
//! ```text
//! 4. false  <- 3  (clause 4 at 5:6)
//! 3. (L2 2)  <- 1, 2  (clause 3 at 4:6)
//! | 1. (L1 1)  (clause 1 at 2:6)
//! | 2. (D 1 2)  (clause 2 at 3:6)
//! ```
//!
//! The premises of a step stand below it: a single one in the same column, so that a path runs straight down, several
//! ones indented. A step that is used again is not unfolded again; its number refers to it. Indentation ends at some
//! depth and long facts are cut, so the text stays linear in the number of steps; no program reads it.

use std::io;

use super::{Printer, Refutation};

/// The maximal number of shown levels of indentation.
const MOST_LEVELS: usize = 24;

/// The maximal number of shown characters of a fact.
const MOST_CHARACTERS: usize = 200;

impl<W: io::Write> Printer<'_, W> {
    pub(super) fn tree(&mut self, refutation: &Refutation) -> io::Result<()> {
        let mut shown = vec![false; refutation.steps.len()];
        // The steps to show with their levels, the next one last.
        let mut open: Vec<(usize, usize)> = Vec::new();
        open.extend(refutation.steps.len().checked_sub(1).map(|last| (last, 0)));
        while let Some((number, level)) = open.pop() {
            let step = &refutation.steps[number];
            let mut fact = Vec::new();
            Printer { store: self.store, system: self.system, out: &mut fact }.fact(step)?;
            let fact = String::from_utf8_lossy(&fact);
            let cut: String = fact.chars().take(MOST_CHARACTERS).collect();
            let dots = if cut.len() < fact.len() { "..." } else { "" };
            write!(self.out, "{}{}. {cut}{dots}", "| ".repeat(level.min(MOST_LEVELS)), number + 1)?;
            if std::mem::replace(&mut shown[number], true) {
                writeln!(self.out, "  (see above)")?;
                continue;
            }
            for (position, premise) in step.premises.iter().enumerate() {
                write!(self.out, "{}{}", if position == 0 { "  <- " } else { ", " }, premise + 1)?;
            }
            writeln!(self.out, "  ({})", self.system.clause_title(self.store, step.clause))?;
            let below = if step.premises.len() > 1 { level + 1 } else { level };
            for (position, &premise) in step.premises.iter().enumerate().rev() {
                if !step.premises[..position].contains(&premise) {
                    open.push((premise, below));
                }
            }
        }
        Ok(())
    }
}
