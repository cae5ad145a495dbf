//! Implications between labels.
//!
//! Labels are conjunctions, so each conjunct is checked separately; most occur literally. A point that satisfies one
//! label but not the other refutes the implication without the solver. The solver's answers are cached.

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::solver::Solver;

use crate::Run;

/// A cache of implications between formulas.
pub(crate) struct Implications<'a> {
    store: &'a TermStore,
    solver: Solver<'a>,
    known: FxHashMap<(Term, Term), bool>,
    pub(crate) queries: u64,
}

impl<'a> Implications<'a> {
    pub(crate) fn new(run: &Run<'a>) -> Self {
        Implications { store: run.store, solver: run.solver(), known: FxHashMap::default(), queries: 0 }
    }

    /// Whether a conjunction implies a formula. `example` may hold a model of the conjunction; a counterexample is
    /// stored there.
    pub(crate) fn holds(
        &mut self,
        run: &Run<'_>,
        premises: &[Term],
        conclusion: Term,
        example: &mut Option<Assignment>,
    ) -> Result<bool, Stop> {
        if conclusion == Term::TRUE || premises.contains(&conclusion) || premises.contains(&Term::FALSE) {
            return Ok(true);
        }
        if premises.is_empty() && conclusion == Term::FALSE {
            return Ok(false);
        }
        let key = (self.store.and(premises), conclusion);
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        if let Some(example) = example
            && self.store.eval(conclusion, example) == Ok(Value::Bool(false))
        {
            self.known.insert(key, false);
            return Ok(false);
        }
        let mut all = premises.to_vec();
        all.push(self.store.not(conclusion));
        self.queries += 1;
        let is_refuted = run.is_satisfiable(&mut self.solver, &all)?;
        if is_refuted {
            *example = Some(self.solver.model(&all));
        }
        self.known.insert(key, !is_refuted);
        Ok(!is_refuted)
    }
}
