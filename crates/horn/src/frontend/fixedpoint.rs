//! Z3's fixedpoint format: rules over declared relations, and queries.
//!
//! ```text
//! (declare-rel P (Int))
//! (declare-var x Int)
//! (rule (P 0))
//! (rule (=> (and (P x) (< x 9)) (P (+ x 1))) step)
//! (query (and (P x) (> x 9)))
//! ```
//!
//! Variables are declared once, and each rule universally quantifies those that it uses. A query asks whether the
//! formula is derivable; as a clause it states that it is not. So if Z3 answers a query with `sat`, because it found a
//! derivation, the clauses are unsatisfiable, and vice versa.

use shofar_logic::smtlib::{Declaration, SyntaxError};
use shofar_logic::{Op, Sort, Term};

use super::{Result, Script, error};

impl Script<'_, '_> {
    /// The rest of one of the format's commands.
    pub(super) fn fixedpoint_command(&mut self, command: &str) -> Result<(), SyntaxError> {
        match command {
            "declare-rel" => {
                let offset = self.reader.offset();
                let fun = self.reader.declare_relation()?;
                self.declare_implicit();
                self.declared(Declaration::Fun(fun), offset);
                Ok(())
            }
            "declare-var" => {
                self.reader.declare_variable()?;
                self.declare_implicit();
                Ok(())
            }
            "rule" => self.rule(),
            _ => self.query(),
        }
    }

    /// The rest of `(rule F)`, with a name and attributes that may follow.
    fn rule(&mut self) -> Result<()> {
        let offset = self.reader.offset();
        let formula = self.reader.formula()?;
        let name = self.reader.optional_symbol()?.or_else(|| self.name_of(formula));
        self.reader.skip_rest()?;
        let variables = self.store.free_vars(&[formula]);
        self.add_formula(formula, &variables, name, offset)
    }

    /// The rest of `(query F)`, where F may also be a relation by its name alone.
    fn query(&mut self) -> Result<()> {
        let offset = self.reader.offset();
        let goal = match self.reader.optional_function()? {
            Some(relation) => {
                let domain = &self.store.fun_decl(relation).domain;
                let fresh = |(position, &sort): (usize, &Sort)| {
                    self.store.var(self.store.symbol(&format!("x!{position}")), sort)
                };
                let args: Vec<Term> = domain.iter().enumerate().map(fresh).collect();
                self.store.apply(relation, &args).map_err(|e| error(offset, e.to_string()))?
            }
            None => self.reader.formula()?,
        };
        if self.store.sort_of(goal) != Sort::BOOL {
            return Err(error(offset, "a query needs a relation or a formula"));
        }
        self.reader.skip_rest()?;
        let never = self.store.app(Op::Not, &[goal]).map_err(|e| error(offset, e.to_string()))?;
        self.ask_with(&[never], offset)
    }
}
