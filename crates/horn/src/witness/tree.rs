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
//! depth and long facts are cut, so the text stays linear in the number of steps; no program reads it. Values of
//! datatypes are written as [`ValueTexts`] does: lists as `[1, 2]`, Peano numbers as `3`.

use std::io;

use shofar_logic::Value;

use super::{Printer, Refutation, Step};
use crate::infix::{Notation, ValueTexts};

/// The maximal number of shown levels of indentation.
const MOST_LEVELS: usize = 24;

/// The number of shown characters of a value of a datatype.
const MOST_VALUE_CHARACTERS: usize = 60;

/// The maximal number of shown characters of a fact.
const MOST_CHARACTERS: usize = 200;

impl<W: io::Write> Printer<'_, W> {
    pub(super) fn tree(&mut self, refutation: &Refutation) -> io::Result<()> {
        let values = ValueTexts::new(self.store, Notation::Ascii);
        let mut shown = vec![false; refutation.steps.len()];
        // The steps to show with their levels, the next one last.
        let mut open: Vec<(usize, usize)> = Vec::new();
        open.extend(refutation.steps.len().checked_sub(1).map(|last| (last, 0)));
        while let Some((number, level)) = open.pop() {
            let step = &refutation.steps[number];
            let fact = self.told_fact(step, &values);
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

    /// The fact of a step for people.
    fn told_fact(&self, step: &Step, values: &ValueTexts<'_>) -> String {
        let store = self.store;
        let Some(head) = &self.system.clauses[step.clause].head else { return "false".to_owned() };
        let name = store.display_symbol(store.fun_decl(self.system.fun(head.predicate)).name).to_string();
        if step.fact.is_empty() {
            return name;
        }
        let text = |value: &Value| match value {
            Value::Term(_) => values.text(value, MOST_VALUE_CHARACTERS),
            _ => store.display_value(value).to_string(),
        };
        let arguments: Vec<String> = step.fact.iter().map(text).collect();
        format!("({name} {})", arguments.join(" "))
    }
}
