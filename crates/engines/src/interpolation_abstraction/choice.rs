//! The choice of templates: a minimal set with which a query is still unsatisfiable, made of cheap templates if possible.
//!
//! The sets form a lattice. With all templates the query is unsatisfiable, with fewer ones it says less. All are assumed at first;
//! those outside of a core are not needed. Then the search goes down: it tries to do without each of the others, the expensive ones
//! first, while all cheaper ones may take its place. So the set is minimal in the end, and it has an expensive template only if no
//! cheaper ones suffice, whatever their number.
//!
//! A template is chosen for a place, that is, for all cuts there: an invariant has to hold in all rounds.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use shofar_logic::{Sort, Term};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::{Cut, TemplateId, Templates};
use crate::Run;

/// The conflicts of the query with all templates.
const FIRST_CONFLICTS: u64 = 10_000;

/// The conflicts of a query that tries to do without a template.
const CONFLICTS: u64 = 500;

/// Such queries in one search.
const ATTEMPTS: usize = 50;

/// The search for one query.
pub(super) struct Choice<'r, 'a> {
    run: &'r Run<'a>,
    solver: Solver<'a>,
    /// The cheap ones first; each with the literal that switches it on.
    templates: Vec<(TemplateId, Term)>,
}

impl<'r, 'a> Choice<'r, 'a> {
    /// A query: formulas with separate arguments on both sides of each cut.
    pub(super) fn new(
        run: &'r Run<'a>,
        templates: &Templates,
        formulas: &[Term],
        cuts: &[Cut<'_>],
    ) -> Result<Self, Stop> {
        let store = run.store;
        let mut solver = run.solver();
        run.assert(&mut solver, formulas)?;
        let places: BTreeSet<usize> = cuts.iter().map(|cut| cut.place).collect();
        let switch = || store.var(store.fresh_symbol("template"), Sort::BOOL);
        let templates_of: Vec<(TemplateId, Term)> =
            templates.of(&places).into_iter().map(|template| (template, switch())).collect();
        for &(template, switch) in &templates_of {
            for cut in cuts.iter().filter(|cut| cut.place == template.0) {
                let [derived, used] = templates.on_both_sides(store, template, cut);
                run.assert(&mut solver, &[store.implies(switch, store.eq(derived, used))])?;
            }
        }
        Ok(Choice { run, solver, templates: templates_of })
    }

    /// Templates with which the query is unsatisfiable; `None` if it is not with all of them, or if that takes too long.
    pub(super) fn choose(&mut self) -> Result<Option<BTreeSet<TemplateId>>, Stop> {
        let all: Vec<Term> = self.templates.iter().map(|&(_, switch)| switch).collect();
        if self.check(&all, FIRST_CONFLICTS)? != Outcome::Unsat {
            return Ok(None);
        }
        let position: FxHashMap<Term, usize> =
            self.templates.iter().enumerate().map(|(at, &(_, switch))| (switch, at)).collect();
        let positions =
            |core: Vec<Term>| -> BTreeSet<usize> { core.iter().map(|term| position[term]).collect() };
        let mut needed = positions(self.solver.core());
        let mut tried = needed.clone();
        for _ in 0..ATTEMPTS {
            let Some(without) = tried.pop_last() else { break };
            // All cheaper ones may take its place, not only those that are needed at present.
            let others = (0..without).chain(needed.range(without + 1..).copied());
            let others: Vec<Term> = others.map(|at| self.templates[at].1).collect();
            if self.check(&others, CONFLICTS)? == Outcome::Unsat {
                needed = positions(self.solver.core());
                tried = needed.range(..without).copied().collect();
            }
        }
        Ok(Some(needed.into_iter().map(|at| self.templates[at].0).collect()))
    }

    /// A query with some of the templates. The error says why the run has to end.
    fn check(&mut self, switches: &[Term], conflicts: u64) -> Result<Outcome, Stop> {
        let limits = Limits { conflicts: Some(conflicts), ..self.run.limits };
        let outcome = self.solver.check(switches, &limits);
        let outcome = outcome.map_err(|unsupported| unsupported.stop(self.run.store))?;
        if let Outcome::Unknown(_) = outcome {
            self.run.go_on()?;
        }
        Ok(outcome)
    }
}
