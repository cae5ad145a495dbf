//! Interpolation abstraction: interpolants that speak of chosen terms only, the *templates*.
//!
//! An interpolant of a long path may state the values on that path: `x = 3 and y = 6` after three rounds of a loop. Such
//! formulas exclude one path after the other. The relation `y = 2x` excludes all.
//!
//! **The idea.** At a cut between A and B, the shared variables `s` are doubled: `s1` where A derives them, and `s2` where B uses them.
//! Templates `t` connect both, each by a variable `z` of its own:
//!
//! ```text
//! A(s1), z = t(s1)     |     z = t(s2), B(s2)            for each chosen template t
//! ```
//!
//! With the variables themselves as templates this is the query as it was. With fewer templates it says less; but if it is still
//! unsatisfiable, its interpolants speak of the `z` alone. With `t(s)` in the place of `z` they are interpolants of `A(s)` and `B(s)`,
//! because `s1 = s2 = s` and `z = t(s)` make both sides those of the original query. The same holds for all cuts of a path or tree together.
//!
//! - `choice.rs` searches the templates;
//! - `loops.rs` finds templates of loops: sums that a round preserves. `../invariants` has others, for `pa`.
//!
//! All searches end after a number of conflicts, so that results do not depend on the clock. Then interpolants are plain ones.
//!
//! P. Rümmer and P. Subotić, "Exploring interpolants" (FMCAD 2013); J. Leroux, P. Rümmer, P. Subotić, "Guiding Craig
//! interpolation with domain-specific abstractions" (Acta Informatica 2016). There, a lattice of templates is searched for all minimal
//! choices; here, one is enough.

mod choice;
mod loops;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use shofar_horn::graph::{Node, NodeId, rename};
use shofar_horn::{HornGraph, TransitionSystem};
use shofar_logic::{Op, Substitution, Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::interpolate::Options;

use crate::Run;
use crate::separation::Parts;
use crate::unroll::fresh_vector;
use choice::Choice;
pub(crate) use loops::Step;

/// The conflicts of a query for interpolants.
const CONFLICTS: u64 = 10_000;

/// The costs of templates.
type Cost = u32;

/// Sums, and arguments that do not change.
const CHEAP: Cost = 1;

/// Arguments that change by constants.
const STRIDE: Cost = 10;

/// Arguments that change in other ways.
const DEAR: Cost = 100;

/// The templates of a place: terms over its variables, with their costs.
type Weighted = Vec<(Term, Cost)>;

/// A template: its place, and its position there.
pub(crate) type TemplateId = (usize, usize);

/// The templates of each place where paths are cut: nodes of a graph, or locations of a program.
pub(crate) struct Templates {
    /// All arguments are among them.
    by_place: Vec<Weighted>,
    variables: Vec<Box<[Term]>>,
    /// Whether cuts at the place are abstract.
    is_abstract: Vec<bool>,
}

/// A cut, with the arguments of its place where they are derived and where they are used.
#[derive(Clone, Copy)]
pub(crate) struct Cut<'c> {
    pub(crate) place: usize,
    pub(crate) derived: &'c [Term],
    pub(crate) used: &'c [Term],
}

/// What a template adds to both sides of a cut.
pub(crate) struct Link {
    /// A formula for the side where the arguments are derived.
    pub(crate) derived: Term,
    /// A formula for the side where they are used.
    pub(crate) used: Term,
    /// The shared variable, and the template where the arguments are derived.
    pub(crate) shared: (Term, Term),
}

impl Templates {
    /// Takes sums for each node as templates, besides its arguments.
    pub(crate) fn of_sums(graph: &HornGraph, sums: Vec<Vec<Term>>) -> Self {
        let of_node = |((_, node), sums): ((NodeId, &Node), Vec<Term>)| {
            let arguments: BTreeSet<Term> = node.variables().iter().copied().collect();
            let sums = sums.into_iter().filter(|sum| !arguments.contains(sum)).map(|sum| (sum, CHEAP));
            sums.chain(node.variables().iter().map(|&variable| (variable, STRIDE))).collect()
        };
        Templates {
            by_place: graph.nodes().zip(sums).map(of_node).collect(),
            variables: graph.nodes().map(|(_, node)| node.variables().into()).collect(),
            is_abstract: vec![true; graph.nodes().len()],
        }
    }

    /// The templates of loops, for places with variables and the steps between them. Cuts elsewhere are not abstract.
    pub(crate) fn of_loops(
        run: &Run<'_>,
        variables: Vec<Box<[Term]>>,
        steps: &[Step<'_>],
    ) -> Result<Self, Stop> {
        let found = loops::templates(run, &variables, steps)?;
        let is_abstract = found.iter().map(Option::is_some).collect();
        let by_place = found.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Templates { by_place, variables, is_abstract })
    }

    /// The templates of the loops of a graph.
    pub(crate) fn of_graph(run: &Run<'_>, graph: &HornGraph) -> Result<Self, Stop> {
        let mut steps = Vec::new();
        for (id, edge) in graph.edges() {
            let Some(target) = edge.target() else { continue };
            let step = |(source, node): (usize, &NodeId)| Step {
                from: node.index(),
                to: target.index(),
                before: graph.source_variables(id, source),
                after: graph.target_variables(id),
                formula: edge.label(),
            };
            steps.extend(edge.sources().iter().enumerate().map(step));
        }
        let variables = graph.nodes().map(|(_, node)| node.variables().into()).collect();
        Self::of_loops(run, variables, &steps)
    }

    /// The templates of a loop.
    pub(crate) fn of_system(run: &Run<'_>, system: &TransitionSystem) -> Result<Self, Stop> {
        let TransitionSystem { state, next, transition, .. } = system;
        let step = Step { from: 0, to: 0, before: state, after: next, formula: *transition };
        Self::of_loops(run, vec![state.clone()], &[step])
    }

    /// A template over the arguments of a cut, where they are derived and where they are used.
    fn on_both_sides(&self, store: &TermStore, (place, template): TemplateId, cut: &Cut<'_>) -> [Term; 2] {
        let (term, _) = self.by_place[place][template];
        [cut.derived, cut.used].map(|there| rename(store, term, &self.variables[place], there))
    }

    /// What connects both sides of a cut by a template.
    pub(crate) fn link(&self, store: &TermStore, template: TemplateId, cut: &Cut<'_>) -> Link {
        let [derived, used] = self.on_both_sides(store, template, cut);
        if matches!(store.op(derived), Op::Var(_)) {
            return Link { derived: Term::TRUE, used: store.eq(derived, used), shared: (derived, derived) };
        }
        let value = store.var(store.fresh_symbol("template"), store.sort_of(derived));
        Link { derived: store.eq(value, derived), used: store.eq(value, used), shared: (value, derived) }
    }

    /// The arguments of all places as templates: with them, values are used as they are derived.
    pub(crate) fn arguments(&self) -> BTreeSet<TemplateId> {
        let all = (0..self.by_place.len())
            .flat_map(|place| (0..self.by_place[place].len()).map(move |at| (place, at)));
        all.filter(|&(place, at)| self.variables[place].contains(&self.by_place[place][at].0)).collect()
    }

    /// The templates of places, the cheap ones first.
    fn of(&self, places: &BTreeSet<usize>) -> Vec<TemplateId> {
        let of_place = |&place: &usize| (0..self.by_place[place].len()).map(move |at| (place, at));
        let mut all: Vec<TemplateId> = places.iter().flat_map(of_place).collect();
        all.sort_by_key(|&(place, at)| (self.by_place[place][at].1, at, place));
        all
    }

    /// Templates with which formulas with separate arguments on both sides of each cut are unsatisfiable. `None` if they are not even
    /// with all templates, or if that takes too long.
    pub(crate) fn choose(
        &self,
        run: &Run<'_>,
        formulas: &[Term],
        cuts: &[Cut<'_>],
    ) -> Result<Option<BTreeSet<TemplateId>>, Stop> {
        Choice::new(run, self, formulas, cuts)?.choose()
    }

    /// Interpolants for all cuts of an unsatisfiable path, which speak of templates only, and are a chain: each follows from the
    /// previous one and the part between. A cut between two parts has a place and its variables, unless there is none.
    /// `None` if the search ends without such interpolants.
    pub(crate) fn sequence(
        &self,
        run: &Run<'_>,
        mut parts: Vec<Vec<Term>>,
        cuts: &[Option<(usize, &[Term])>],
        options: Options,
    ) -> Result<Option<Vec<Term>>, Stop> {
        let store = run.store;
        let mut used: Vec<Option<Box<[Term]>>> = vec![None; cuts.len()];
        for (at, cut) in cuts.iter().enumerate() {
            let Some((place, variables)) = *cut else { continue };
            if self.is_abstract[place] {
                let there = fresh_vector(store, variables, "u");
                parts[at + 1].iter_mut().for_each(|part| *part = rename(store, *part, variables, &there));
                used[at] = Some(there);
            }
        }
        let doubled = |at: usize| {
            let ((place, derived), used) = (cuts[at]?, used[at].as_deref()?);
            Some((at, Cut { place, derived, used }))
        };
        let doubled: Vec<(usize, Cut<'_>)> = (0..cuts.len()).filter_map(doubled).collect();
        let all: Vec<Cut<'_>> = doubled.iter().map(|&(_, cut)| cut).collect();
        let chosen = if all.is_empty() { None } else { self.choose(run, &parts.concat(), &all)? };
        let Some(chosen) = chosen else { return Ok(None) };
        let mut shared = Substitution::new();
        for (at, cut) in &doubled {
            for &template in chosen.range((cut.place, 0)..=(cut.place, usize::MAX)) {
                let link = self.link(store, template, cut);
                parts[*at].push(link.derived);
                parts[at + 1].push(link.used);
                shared.insert(link.shared.0, link.shared.1);
            }
        }
        let limited = run.clone().with_limits(Limits { conflicts: Some(CONFLICTS), ..run.limits });
        match interpolants(&limited, parts, options) {
            Ok(found) => Ok(Some(store.instantiate_all(&found, &shared))),
            Err(stop @ (Stop::Unsupported(_) | Stop::Internal(_))) => Err(stop),
            Err(_) => run.go_on().map(|()| None).map_err(Stop::from),
        }
    }
}

fn interpolants(run: &Run<'_>, parts: Vec<Vec<Term>>, options: Options) -> Result<Vec<Term>, Stop> {
    let mut parts = Parts::new(run, parts)?;
    if parts.is_satisfiable()? {
        return Err(Stop::Internal("a core has a model".to_owned()));
    }
    parts.sequence_by(options)
}
