//! The format of the CHC competition: an SMT-LIB script that asserts clauses.
//!
//! Declared functions of range `Bool` are the predicates, each `assert` is one clause or several, and the script ends
//! with `check-sat`. The competition's own files all have one shape,
//! `(assert (forall (...) (=> (and P Q constraint) head)))`; other shapes are read as well, see
//! [`clausify`](crate::clausify).

use super::{Result, Script};

impl Script<'_, '_> {
    /// The rest of `(assert F)`.
    pub(super) fn assert(&mut self) -> Result<()> {
        let offset = self.reader.offset();
        let formula = self.reader.formula()?;
        self.reader.close()?;
        let name = self.name_of(formula);
        let before = self.system.clauses.len();
        self.add_formula(formula, &[], name, offset)?;
        for clause in &mut self.system.clauses[before..] {
            clause.written = Some(formula);
        }
        Ok(())
    }
}
