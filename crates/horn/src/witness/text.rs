//! Witnesses as S-expressions.
//!
//! A model is a list of definitions in the format of the CHC competition:
//!
//! ```text
//! (
//!   (define-fun Inv ((x Int)) Bool
//!     (<= x 5))
//! )
//! ```
//!
//! In front of them are the recursive functions that the definitions apply, and lemmas about these (`folds.rs`).
//!
//! A refutation is a list of numbered ground facts with their premises, as in Eldarica and Golem. Each step also has
//! all that is needed to check it alone: the clause, by its number and its name if it has one, and the values of its
//! variables.
//!
//! ```text
//! (step 1 (L1 1) :clause 1 :instance ((x 1)))
//! (step 2 (D 1 2) :clause 2 :instance ((x 1) (y 2)))
//! (step 3 (L2 2) :clause 3 :premises (1 2) :instance ((x 1) (y 2)))
//! (step 4 false :clause 4 :name query :premises (3) :instance ((x 2)))
//! ```
//!
//! Large values of datatypes that share parts have names, which `define-fun`s in front of the steps define (`shared.rs`). A
//! comment says which list or number a name stands for.

use std::{fmt, io};

use shofar_logic::{Term, TermStore, Value};

use super::folds::{NamedLemma, Recursion, family_text};
use super::shared::{NamedValue, SharedValues};
use super::{Interpretation, Model, Printer, Refutation, Step};
use crate::infix::{Notation, ValueTexts};
use crate::print::sorted_variables;

/// The line width of models.
pub(super) const WIDTH: usize = 100;

/// The least size of subterms that get a name if they occur more than once.
const LEAST_NAMED: u32 = 12;

/// The maximal number of characters of a comment about a value.
const MOST_CHARACTERS: usize = 60;

impl<W: io::Write> Printer<'_, W> {
    pub(super) fn text_model(&mut self, model: &Model) -> io::Result<()> {
        let store = self.store;
        writeln!(self.out, "(")?;
        self.text_recursion(&model.recursion(store, self.system), 2)?;
        for ((_, fun), definition) in self.system.predicates().zip(&model.definitions) {
            let name = store.display_symbol(store.fun_decl(fun).name);
            match &definition.interpretation {
                Interpretation::Formula(body) => {
                    let parameters = sorted_variables(store, &definition.parameters);
                    writeln!(self.out, "  (define-fun {name} ({parameters}) Bool")?;
                    writeln!(self.out, "    {})", formula(store, *body, 4))?;
                }
            }
        }
        writeln!(self.out, ")")
    }

    /// The definitions of recursive functions, and the lemmas about them.
    pub(super) fn text_recursion(&mut self, recursion: &Recursion<'_>, column: usize) -> io::Result<()> {
        let (store, indent) = (self.store, " ".repeat(column));
        for family in recursion.functions() {
            writeln!(self.out, "{indent}{}", family_text(store, &family, column, WIDTH))?;
        }
        for NamedLemma { name, lemma } in recursion.named_lemmas() {
            let (name, parameters) = (store.display_symbol(name), sorted_variables(store, &lemma.parameters));
            writeln!(self.out, "{indent}(define-fun {name} ({parameters}) Bool")?;
            writeln!(self.out, "{indent}  {})", formula(store, lemma.formula, column + 2))?;
        }
        Ok(())
    }

    pub(super) fn text_refutation(&mut self, refutation: &Refutation) -> io::Result<()> {
        let store = self.store;
        let shared = SharedValues::new(store, self.system, refutation);
        self.named_values(&shared)?;
        for (number, step) in refutation.steps.iter().enumerate() {
            let clause = &self.system.clauses[step.clause];
            write!(self.out, "(step {} ", number + 1)?;
            self.fact(step, &shared)?;
            write!(self.out, " :clause {}", step.clause + 1)?;
            if let Some(name) = clause.name {
                write!(self.out, " :name {}", store.display_symbol(name))?;
            }
            if !step.premises.is_empty() {
                write!(self.out, " :premises (")?;
                for (position, premise) in step.premises.iter().enumerate() {
                    write!(self.out, "{}{}", if position == 0 { "" } else { " " }, premise + 1)?;
                }
                write!(self.out, ")")?;
            }
            if !clause.variables.is_empty() {
                write!(self.out, " :instance (")?;
                let values = clause.variables.iter().zip(&step.instantiation);
                for (position, (&variable, value)) in values.enumerate() {
                    let space = if position == 0 { "" } else { " " };
                    let value = store.display(shared.term(value));
                    write!(self.out, "{space}({} {value})", store.display(variable))?;
                }
                write!(self.out, ")")?;
            }
            writeln!(self.out, ")")?;
        }
        Ok(())
    }

    fn named_values(&mut self, shared: &SharedValues<'_>) -> io::Result<()> {
        let store = self.store;
        let told = ValueTexts::new(store, Notation::Ascii);
        for NamedValue { name, parameter, sort, body, value } in &shared.definitions {
            let name = store.display_symbol(*name);
            let parameters = sorted_variables(store, parameter.as_slice());
            let (sort, body) = (store.display_sort(*sort), store.display(*body));
            write!(self.out, "(define-fun {name} ({parameters}) {sort} {body})")?;
            if let Some(value) = value.as_ref().filter(|value| told.is_told(value)) {
                // A name of the input could end the line.
                let text = told.text(value, MOST_CHARACTERS).replace(char::is_control, " ");
                write!(self.out, " ; {text}")?;
            }
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// The fact of a step, as an application to values.
    fn fact(&mut self, step: &Step, shared: &SharedValues<'_>) -> io::Result<()> {
        let store = self.store;
        let Some(head) = &self.system.clauses[step.clause].head else { return write!(self.out, "false") };
        let name = store.display_symbol(store.fun_decl(self.system.fun(head.predicate)).name);
        if step.fact.is_empty() {
            return write!(self.out, "{name}");
        }
        write!(self.out, "({name}")?;
        let mut values = step.fact.iter().map(|value: &Value| store.display(shared.term(value)));
        values.try_for_each(|value| write!(self.out, " {value}"))?;
        write!(self.out, ")")
    }
}

/// A formula for people, on its own line that starts in a column.
pub(super) fn formula(store: &TermStore, formula: Term, column: usize) -> impl fmt::Display {
    store.display(formula).pretty(WIDTH, 2).at(column).naming_from(LEAST_NAMED)
}
