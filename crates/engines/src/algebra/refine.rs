//! Abstraction refinement on algebras: Spacer decides the abstract clauses, and derivations tell which component is missing.
//!
//! Hulls are one invariant of the abstract clauses, and often not the right one. Here the abstract clauses, with the hulls as known
//! invariants, are a problem for Spacer.
//!
//! ```text
//! loop
//!     Spacer has a model of the abstract clauses: sat, by the model and the hulls, applied to components
//!     Spacer has a derivation: replay its clauses on values of datatypes
//!         there are such values: unsat
//!         no values: it is spurious; add components that exclude all spurious derivations so far
//!             values that must differ: numbers of values, or end
//!             a clash of constructors below the outermost ones: shapes
//!             a term that is part of itself: sizes
//!             numbers: fields, sums, heights, the least and the greatest
//!             otherwise: a template with parameters that are searched for (`cegis.rs`)
//!             nothing helps: end
//! ```
//!
//! What is wrong with a spurious derivation (`conflict.rs`) decides what is tried first. Components of a template are searched
//! anew for all spurious derivations, and replace those of an earlier template.
//!
//! **Why the answer is right.** Models are right as those of hulls are: what the body of a clause knows in addition, the hulls, is part
//! of the model. A derivation is one of the given clauses, with the values of a model of all its labels.
//!
//! **Where it comes from.** E. Clarke, O. Grumberg, S. Jha, Y. Lu, H. Veith, "Counterexample-guided abstraction refinement" (CAV
//! 2000). Here an abstraction is an algebra, and a refinement has more components.

use std::time::Duration;

use shofar_horn::graph::HornGraph;
use shofar_horn::hull::{Analysis, Division};
use shofar_horn::witness::GraphModel;
use shofar_logic::{Sort, Term, TermStore};
use shofar_run::Stop;

use super::abstraction::{Abstraction, Images};
use super::cegis::{allowed, synthesize};
use super::components::{Algebra, Digits, Extreme, Profile};
use super::conflict::Conflict;
use super::{COUNTERS, QUERIES, lemmas};
use crate::replay::{DEPENDS_ON_SELECTORS, Replay};
use crate::{Engine, Evidence, Run, Spacer};

/// Time for Spacer with one algebra; a quarter of the remaining time, if that is less.
const TIME: Duration = Duration::from_secs(4);

/// Steps of a derivation that is replayed.
const MOST_STEPS: usize = 300;

/// Time for the search of a template; an eighth of the remaining time, if that is less.
const TEMPLATE_TIME: Duration = Duration::from_secs(3);

/// Algebras, one after the other.
const MOST_ROUNDS: usize = 16;

/// The greatest depth of shapes.
const MOST_DEPTH: usize = 4;

/// Where refinement begins, and which components it may add.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Refinement {
    start: Profile,
    shapes: bool,
    sizes: bool,
    numbers: bool,
    templates: bool,
}

impl Refinement {
    /// All components.
    pub(super) const ALL: Refinement =
        Refinement { start: COUNTERS, shapes: true, sizes: true, numbers: true, templates: true };

    /// The profile with numbers of values.
    fn numbered(profile: Profile) -> Profile {
        Profile { numbers: Some(Digits::Ascending), ..profile }
    }

    /// Profiles with more components than the given one, the most promising first.
    fn candidates(self, profile: Profile, conflict: Conflict) -> Vec<Profile> {
        let depth = match conflict {
            Conflict::Clash { depth } => depth + 1,
            Conflict::Difference => {
                return self.numbers.then_some(Self::numbered(profile)).into_iter().collect();
            }
            Conflict::Cycle | Conflict::Other => 2,
        };
        let shapes = (depth..=depth + 1).filter(|&depth| depth > profile.shapes && depth <= MOST_DEPTH);
        let shapes: Vec<Profile> = shapes.map(|shapes| Profile { shapes, ..profile }).collect();
        let sizes = vec![Profile { sizes: true, ..profile }];
        let measures = Profile { sums: true, heights: true, ..profile };
        let all = Profile { fields: true, ..measures };
        let numbers = vec![
            Self::numbered(profile),
            Profile { fields: true, ..profile },
            measures,
            Profile { extreme: Some(Extreme::Least), ..all },
            Profile { extreme: Some(Extreme::Greatest), ..all },
        ];
        let [shapes, sizes, numbers] = [(self.shapes, shapes), (self.sizes, sizes), (self.numbers, numbers)]
            .map(|(is_allowed, profiles)| if is_allowed { profiles } else { Vec::new() });
        match conflict {
            Conflict::Clash { depth } if depth > 0 => [shapes, numbers, sizes].concat(),
            Conflict::Cycle => [sizes, numbers, shapes].concat(),
            _ => [numbers, shapes, sizes].concat(),
        }
    }
}

/// Decides clauses over datatypes by abstraction refinement. It ends if an algebra is too hard, or if none suffices.
pub(super) fn refine(
    run: &Run<'_>,
    graph: &HornGraph,
    sorts: &[Sort],
    ghost: Term,
    refinement: Refinement,
) -> Result<Evidence, Stop> {
    match rounds(run, graph, sorts, ghost, refinement) {
        Err(Stop::Interrupted(_)) if run.interrupted().is_none() => {
            Err(Stop::Exhausted("an algebra that may give an invariant is too hard"))
        }
        answer => answer,
    }
}

fn rounds(
    run: &Run<'_>,
    graph: &HornGraph,
    sorts: &[Sort],
    ghost: Term,
    refinement: Refinement,
) -> Result<Evidence, Stop> {
    let store = run.store;
    let mut refiner = Refiner {
        run,
        sorts,
        ghost,
        refinement,
        labels: graph.edges().map(|(_, edge)| edge.label()).collect(),
        profile: refinement.start,
        spurious: Vec::new(),
    };
    let mut next = Some(Algebra::new(store, sorts, refinement.start, ghost));
    for _ in 0..MOST_ROUNDS {
        let Some(algebra) = next.take() else { break };
        run.go_on()?;
        let round = run.context().for_part(4, TIME);
        let images = Images::new(round, &algebra, sorts)?;
        let abstraction = Abstraction::new(round, graph, &algebra, &images)?;
        let limited = Run::new(store).with_limits(round.limits).with_label(run.label().clone());
        let hulls = hulls(&limited, &abstraction);
        let strengthened = strengthened(store, &abstraction.graph, &hulls);
        match Spacer::default().solve(&strengthened, &limited)? {
            Evidence::Sat(model) => {
                let mut formulas = Vec::new();
                for ((node, _), &hull) in graph.nodes().zip(&hulls) {
                    let formula = store.and2(hull, model.formula(node)?);
                    formulas.push(abstraction.back(store, node, formula));
                }
                lemmas(store, sorts, &algebra, &images).iter().for_each(|lemma| store.claim_lemma(lemma));
                return Ok(Evidence::Sat(GraphModel::of_formulas(formulas)));
            }
            Evidence::Unsat(derivation) => {
                if derivation.steps.len() > MOST_STEPS {
                    break;
                }
                let replay = Replay::new(store, graph, &derivation);
                if let Some(values) = replay.values(&limited)? {
                    let real = replay.derivation(store, &derivation, &values);
                    return real.map(Evidence::Unsat).ok_or(DEPENDS_ON_SELECTORS);
                }
                next = refiner.next(replay.into_labels())?;
            }
            Evidence::Induction(_) | Evidence::Saturation(_) => break,
        }
    }
    Err(Stop::Exhausted("no known function of datatypes gives an invariant"))
}

/// Chooses the algebras of refinement, one after the other.
struct Refiner<'a> {
    run: &'a Run<'a>,
    sorts: &'a [Sort],
    ghost: Term,
    refinement: Refinement,
    /// The constraints of the clauses.
    labels: Vec<Term>,
    /// The components of the last algebra, besides those of a template.
    profile: Profile,
    /// The constraints of the derivations without values.
    spurious: Vec<Vec<Term>>,
}

impl Refiner<'_> {
    /// An algebra that excludes one more derivation, if there is any.
    fn next(&mut self, spurious: Vec<Term>) -> Result<Option<Algebra>, Stop> {
        let store = self.run.store;
        let conflict = Conflict::of(self.run, &spurious)?;
        self.spurious.push(spurious);
        let current = Algebra::new(store, self.sorts, self.profile, self.ghost);
        for profile in self.refinement.candidates(self.profile, conflict) {
            let algebra = Algebra::new(store, self.sorts, profile, self.ghost);
            if algebra != current && self.is_enough(&algebra)? {
                self.profile = profile;
                return Ok(Some(algebra));
            }
        }
        if !self.refinement.templates || conflict == Conflict::Difference {
            return Ok(None);
        }
        let context = self.run.context().for_part(8, TEMPLATE_TIME);
        synthesize(context, &current, self.sorts, &self.labels, &self.spurious)
    }

    /// Whether an algebra excludes all derivations so far.
    fn is_enough(&self, algebra: &Algebra) -> Result<bool, Stop> {
        let images = Images::new(self.run.context(), algebra, self.sorts)?;
        for spurious in self.spurious.iter().rev() {
            if allowed(self.run, algebra, &images, spurious)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The hulls of an abstract graph, by nodes; true if they are too hard.
fn hulls(run: &Run<'_>, abstraction: &Abstraction) -> Vec<Term> {
    let graph = &abstraction.graph;
    let mut analysis = Analysis::new(run.context().for_part(2, TIME), graph, QUERIES);
    for (node, _) in graph.nodes() {
        analysis.divide(node, Division { inequalities: true, ..Division::default() });
    }
    match analysis.close(&abstraction.rules) {
        Ok(()) => graph.nodes().map(|(node, _)| analysis.formula(node)).collect(),
        Err(_) => graph.nodes().map(|_| Term::TRUE).collect(),
    }
}

/// The graph whose bodies know what holds of their predicates.
pub(crate) fn strengthened(store: &TermStore, graph: &HornGraph, known: &[Term]) -> HornGraph {
    let mut new = HornGraph::new();
    for (_, node) in graph.nodes() {
        new.add_node(node.clone());
    }
    for (id, edge) in graph.edges() {
        let sources = edge.sources().iter().enumerate();
        let knowledge = sources.map(|(source, node)| graph.at_source(store, id, source, known[node.index()]));
        let label = store.normalize(store.and_of(knowledge.chain([edge.label()])));
        new.add_edge(edge.sources(), edge.target(), label);
    }
    new
}

#[cfg(test)]
mod tests {
    use shofar_horn::check::{Trust, Validity, check_model, check_refutation};
    use shofar_horn::parse;
    use shofar_horn::witness::{Model, Refutation};
    use shofar_testing::datatype_systems::{self, Family};
    use shofar_testing::explicit::Saturation;
    use shofar_testing::{Random, scale};

    use super::super::{TESTERS, datatypes};
    use super::*;

    const NOTHING: Refinement =
        Refinement { start: TESTERS, shapes: false, sizes: false, numbers: false, templates: false };
    const SHAPES: Refinement = Refinement { shapes: true, ..NOTHING };
    const SIZES: Refinement = Refinement { sizes: true, ..NOTHING };
    const NUMBERS: Refinement = Refinement { numbers: true, ..NOTHING };
    const TEMPLATES: Refinement = Refinement { templates: true, ..NOTHING };

    /// The verdict of refinement alone, with a witness that the checker accepts; none if refinement ends without one.
    fn verdict(store: &TermStore, text: &str, refinement: Refinement, time: Duration) -> Option<bool> {
        let system =
            parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
        let graph = HornGraph::of(store, &system);
        let run = Run::new(store).with_timeout(time);
        let variables = graph.nodes().flat_map(|(_, node)| node.variables().iter().copied());
        let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
        let terms = store.subterms(&labels).into_iter().chain(variables);
        let sorts = datatypes(store, terms.map(|term| store.sort_of(term)));
        let ghost = store.var(store.fresh_symbol("ghost"), Sort::INT);
        let unlimited = Run::new(store);
        match refine(&run, &graph, &sorts, ghost, refinement) {
            Ok(Evidence::Sat(model)) => {
                let model = Model::of_graph(store, &system, &graph, &model);
                let validity = check_model(&unlimited, &system, &model, Trust::Proofs);
                assert_eq!(validity, Validity::Valid, "{refinement:?}: {text}");
                Some(true)
            }
            Ok(Evidence::Unsat(derivation)) => {
                let refutation = Refutation::of_graph(&unlimited, &system, derivation).unwrap();
                assert_eq!(check_refutation(&unlimited, &system, &refutation), Validity::Valid, "{text}");
                Some(false)
            }
            Ok(other) => panic!("{other:?}"),
            Err(Stop::Exhausted(_) | Stop::Interrupted(_)) => None,
            Err(stop) => panic!("{stop}: {text}"),
        }
    }

    /// Refinement proves a system with these components, and not without them.
    #[track_caller]
    fn assert_needs(refinement: Refinement, text: &str) {
        let proves = |refinement| verdict(&TermStore::new(), text, refinement, Duration::from_secs(120));
        assert_eq!(proves(NOTHING), None, "{text}");
        assert_eq!(proves(refinement), Some(true), "{text}");
    }

    const PEANO: &str = "(declare-datatypes ((N 0)) (((z) (s (p N)))))\n";

    #[test]
    fn a_clash_below_the_outermost_constructor_adds_shapes() {
        let text = "(declare-fun P (N) Bool)
            (assert (P (s (s z))))
            (assert (forall ((x N)) (=> (P x) (P (s x)))))
            (assert (=> (P (s z)) false))";
        assert_needs(SHAPES, &format!("{PEANO}{text}"));
    }

    #[test]
    fn a_cycle_adds_sizes() {
        let text = "(declare-fun R (N N) Bool)
            (assert (forall ((x N)) (R x (s x))))
            (assert (forall ((x N) (y N)) (=> (R x y) (R x (s y)))))
            (assert (forall ((x N)) (=> (R x x) false)))";
        assert_needs(SIZES, &format!("{PEANO}{text}"));
    }

    const INCREMENT: &str = "(declare-fun inc (N N) Bool) (declare-fun dec (N N) Bool)
        (assert (inc z (s z)))
        (assert (forall ((x N) (y N)) (=> (inc x y) (inc (s x) (s y)))))
        (assert (dec (s z) z))
        (assert (forall ((x N) (y N)) (=> (dec x y) (dec (s x) (s y)))))
        (assert (forall ((x N) (y N)) (=> (and (inc x y) (dec x y)) false)))";

    const ORDER: &str = "(declare-fun lt (N N) Bool)
        (assert (forall ((x N)) (lt z (s x))))
        (assert (forall ((x N) (y N)) (=> (lt x y) (lt (s x) (s y)))))
        (assert (forall ((x N) (y N)) (=> (and (lt x y) (lt y x)) false)))";

    #[test]
    fn sizes_order_peano_numbers() {
        assert_needs(SIZES, &format!("{PEANO}{INCREMENT}"));
        assert_needs(SIZES, &format!("{PEANO}{ORDER}"));
    }

    #[test]
    fn integers_in_values_add_sums() {
        let text = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
            (declare-fun P (L Int) Bool)
            (assert (P nil 0))
            (assert (forall ((x Int) (l L) (n Int)) (=> (P l n) (P (cons x l) (+ n x)))))
            (assert (forall ((l L) (m Int) (n Int)) (=> (and (P l m) (P l n) (distinct m n)) false)))";
        assert_needs(NUMBERS, text);
    }

    #[test]
    fn templates_find_sums_and_factors() {
        assert_needs(TEMPLATES, &format!("{PEANO}{INCREMENT}"));
        assert_needs(TEMPLATES, &format!("{PEANO}{ORDER}"));
        let binary = "(declare-datatypes ((B 0)) (((one) (zero-and (x B)) (one-and (y B)))))
            (declare-fun next (B B) Bool)
            (assert (next one (zero-and one)))
            (assert (forall ((x B)) (next (zero-and x) (one-and x))))
            (assert (forall ((x B) (y B)) (=> (next x y) (next (one-and x) (zero-and y)))))
            (assert (forall ((x B) (y B)) (=> (and (next x y) (next y x)) false)))";
        assert_needs(TEMPLATES, binary);
    }

    #[test]
    fn templates_find_states() {
        let even = "(declare-fun even (N) Bool)
            (assert (even z))
            (assert (forall ((x N)) (=> (even x) (even (s (s x))))))
            (assert (forall ((x N)) (=> (and (even x) (even (s x))) false)))";
        assert_needs(TEMPLATES, &format!("{PEANO}{even}"));
        let even_left = "(declare-datatypes ((T 0)) (((leaf) (node (l T) (r T)))))
            (declare-fun even (T) Bool)
            (assert (even leaf))
            (assert (forall ((u T) (y T) (z T)) (=> (even u) (even (node (node u y) z)))))
            (assert (forall ((x T) (y T)) (=> (and (even x) (even (node x y))) false)))";
        assert_needs(TEMPLATES, even_left);
    }

    /// A list has an integer that is not positive, or not.
    #[test]
    fn templates_take_guards_from_clauses() {
        let text = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
            (declare-fun P (L) Bool) (declare-fun Q (L) Bool)
            (assert (P nil))
            (assert (forall ((x Int) (l L)) (=> (and (P l) (> x 0)) (P (cons x l)))))
            (assert (forall ((l L)) (Q (cons 0 l))))
            (assert (forall ((x Int) (l L)) (=> (Q l) (Q (cons x l)))))
            (assert (forall ((l L)) (=> (and (P l) (Q l)) false)))";
        assert_needs(TEMPLATES, text);
    }

    /// Programs that forking and joining changes. Neither automata nor formulas over terms alone are a model, but numbers of constructors
    /// are.
    #[test]
    fn counters_tell_programs_apart() {
        let text = "(declare-datatypes ((Prog 0)) (((Seq) (Fork (f Prog)) (Join (j Prog)))))
            (declare-fun ok (Prog) Bool) (declare-fun tr (Prog Prog) Bool)
            (assert (ok Seq))
            (assert (forall ((p Prog)) (=> (ok p) (ok (Fork (Join p))))))
            (assert (forall ((r Prog)) (tr Seq (Fork r))))
            (assert (forall ((p Prog)) (tr p (Join Seq))))
            (assert (forall ((p Prog) (t Prog)) (=> (tr p t) (tr (Fork (Join p)) (Fork (Join t))))))
            (assert (forall ((p Prog)) (=> (and (ok p) (tr p p)) false)))";
        assert_needs(Refinement::ALL, text);
    }

    /// The system has a model, but none over an algebra: it must compare values.
    #[test]
    fn refinement_ends_if_no_component_helps() {
        let text = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
            (declare-fun app (L L L) Bool)
            (assert (forall ((l L)) (app nil l l)))
            (assert (forall ((x Int) (k L) (l L) (m L)) (=> (app k l m) (app (cons x k) l (cons x m)))))
            (assert (forall ((k L) (l L) (m L) (n L)) (=> (and (app k l m) (app k l n) (distinct m n)) false)))";
        for refinement in [Refinement::ALL, TEMPLATES] {
            assert_eq!(verdict(&TermStore::new(), text, refinement, Duration::from_secs(60)), None);
        }
    }

    #[test]
    fn refinements_agree_with_saturation_on_random_systems() {
        let (mut proved, mut refuted) = (0, 0);
        for family in [Family::Lists, Family::Enumerations, Family::Numbers] {
            for seed in 0..8 * scale() {
                let text = datatype_systems::system(&mut Random::new(1000 + seed), family);
                let store = TermStore::new();
                let system = parse(&store, "test", text.as_bytes()).unwrap();
                let graph = HornGraph::of(&store, &system);
                let is_safe = Saturation::of(&store, &graph, 0..=datatype_systems::GREATEST).is_safe();
                for refinement in [Refinement::ALL, SHAPES, SIZES, NUMBERS, TEMPLATES] {
                    let Some(verdict) = verdict(&store, &text, refinement, Duration::from_secs(4)) else {
                        continue;
                    };
                    assert_eq!(verdict, is_safe, "seed {seed} of {family:?} with {refinement:?}:\n{text}");
                    *if verdict { &mut proved } else { &mut refuted } += 1;
                }
            }
        }
        assert!(proved >= 10 && refuted >= 10, "{proved}, {refuted}");
    }
}
