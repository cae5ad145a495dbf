//! Predicate abstraction: labels are sets of predicates and negated predicates.
//!
//! The successors of a label along an edge, for the tracked predicates:
//!
//! ```text
//! cartesian    one state: each predicate that all successors satisfy, the negation of each that none satisfies
//! boolean      one state: the disjunction of all combinations of predicates that successors have
//! split        one state for each of these combinations
//! ```
//!
//! All three start with the cartesian part. A predicate that is true in one example and false in another one is *mixed*; only
//! such predicates are enumerated. To prove the others, one query asks for a successor that violates any of them. Each answer
//! decides at least one predicate, and mostly many; the last one proves all that remain.
//!
//! If the solver does not decide a query, the predicate is left out: the label is weaker, and still right.
//!
//! S. Graf, H. Saïdi, "Construction of abstract state graphs with PVS" (CAV 1997); T. Ball, A. Podelski, S. Rajamani, "Boolean
//! and cartesian abstraction for model checking C programs" (TACAS 2001).

use std::rc::Rc;

use rustc_hash::FxHashSet;
use shofar_horn::cfa::CfaEdgeId;
use shofar_logic::{Term, TermStore};
use shofar_run::Stop;

use super::super::arg::{AbstractState, is_subset, label_of};
use super::super::precision::Splitting;
use super::super::program::Program;
use super::image::{Answer, Example, Image};
use super::{Domain, DomainKind};
use crate::Run;
use crate::implication::Implications;

/// The domain.
pub(super) struct Predicates<'a> {
    run: &'a Run<'a>,
    program: &'a Program<'a>,
    kind: DomainKind,
    /// Indexed by edge, created on demand.
    images: Vec<Option<Image<'a>>>,
    implications: Implications<'a>,
}

impl<'a> Predicates<'a> {
    pub(super) fn new(run: &'a Run<'a>, program: &'a Program<'a>, kind: DomainKind) -> Self {
        let images = program.cfa.edges().map(|_| None).collect();
        Predicates { run, program, kind, images, implications: Implications::new(run) }
    }
}

impl Domain for Predicates<'_> {
    fn post(
        &mut self,
        state: &AbstractState,
        edge: CfaEdgeId,
        tracked: &[Term],
    ) -> Result<Vec<AbstractState>, Stop> {
        let image = match &mut self.images[edge.index()] {
            Some(image) => image,
            none => none.insert(Image::new(self.run, self.program, edge)?),
        };
        let mut post = Post::new(self.program.store, image, &state.label, tracked);
        if !post.has_successors()? {
            return Ok(Vec::new());
        }
        post.cartesian()?;
        match self.kind {
            DomainKind::Boolean | DomainKind::Split => {
                let cubes = post.cubes()?;
                Ok(post.states(cubes, self.kind))
            }
            DomainKind::Cartesian | DomainKind::Explicit => Ok(post.states(Cubes::default(), self.kind)),
        }
    }

    fn contains(&mut self, larger: &AbstractState, smaller: &mut AbstractState) -> Result<bool, Stop> {
        if is_subset(&larger.label, &smaller.label) {
            return Ok(true);
        }
        for &conclusion in &larger.label {
            let AbstractState { label, example } = smaller;
            if !self.implications.holds(self.run, label, conclusion, example)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn terms(&self, formula: Term, splitting: Splitting) -> Vec<Term> {
        splitting.predicates(self.program.store, formula)
    }

    /// From cartesian to split abstraction.
    fn strengthen(&mut self) -> bool {
        let is_weaker = self.kind == DomainKind::Cartesian;
        if is_weaker {
            self.kind = DomainKind::Split;
        }
        is_weaker
    }

    fn queries(&self) -> u64 {
        self.implications.queries + self.images.iter().flatten().map(|image| image.queries).sum::<u64>()
    }
}

/// A tracked predicate.
struct Predicate {
    predicate: Term,
    /// As a formula over the edge's variables.
    before: Term,
    truth: Truth,
}

/// What is known about a predicate after the edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Truth {
    /// Nothing.
    Open,
    /// It is so in all examples.
    Seen(bool),
    /// It is so in all successors.
    Proved(bool),
    /// It is true in one example and false in another one.
    Mixed,
    /// The solver cannot decide it.
    Undecided,
}

/// Combinations of mixed predicates.
#[derive(Default)]
struct Cubes {
    /// Each with an example. Without mixed predicates there is one, which is empty.
    cubes: Vec<(Vec<Term>, Rc<Example>)>,
    /// Whether there may be others.
    is_incomplete: bool,
}

/// The computation of the successors of a label.
struct Post<'p, 'a> {
    store: &'a TermStore,
    image: &'p mut Image<'a>,
    label: &'p [Term],
    predicates: Vec<Predicate>,
    /// Examples of successors.
    examples: Vec<Rc<Example>>,
}

impl<'p, 'a> Post<'p, 'a> {
    fn new(store: &'a TermStore, image: &'p mut Image<'a>, label: &'p [Term], tracked: &[Term]) -> Self {
        let predicates = tracked.iter().map(|&predicate| {
            let before = image.before(predicate);
            let truth = match before {
                Term::TRUE => Truth::Proved(true),
                Term::FALSE => Truth::Proved(false),
                _ => Truth::Open,
            };
            Predicate { predicate, before, truth }
        });
        let predicates = predicates.collect();
        Post { store, image, label, predicates, examples: Vec::new() }
    }

    /// Whether there may be successors.
    fn has_successors(&mut self) -> Result<bool, Stop> {
        if self.image.is_known(self.label, Term::FALSE) {
            return Ok(false);
        }
        for example in self.image.examples(self.label) {
            self.learn(example);
        }
        if self.examples.is_empty() {
            match self.image.ask(self.label, &[], &[Term::FALSE])? {
                Answer::None => return Ok(false),
                Answer::Some(example) => self.learn(example),
                Answer::Unknown => {}
            }
        }
        Ok(true)
    }

    /// Takes note of the predicates that are true or false in a successor.
    fn learn(&mut self, example: Rc<Example>) {
        for predicate in &mut self.predicates {
            if let Some(truth) = example.satisfies(self.store, predicate.before) {
                predicate.truth = match predicate.truth {
                    Truth::Open => Truth::Seen(truth),
                    Truth::Seen(other) if other != truth => Truth::Mixed,
                    known => known,
                };
            }
        }
        self.examples.push(example);
    }

    /// Decides all predicates: which ones are the same in all successors?
    fn cartesian(&mut self) -> Result<(), Stop> {
        self.use_cores();
        loop {
            let seen = self.predicates.iter().filter_map(|predicate| match predicate.truth {
                Truth::Seen(truth) => Some(self.store.signed(predicate.before, truth)),
                _ => None,
            });
            let seen: Vec<Term> = seen.collect();
            if seen.is_empty() {
                break;
            }
            let violates = self.store.or_of(seen.iter().map(|&literal| self.store.not(literal)));
            match self.image.ask(self.label, &[violates], &seen)? {
                Answer::None => {
                    for predicate in &mut self.predicates {
                        if let Truth::Seen(truth) = predicate.truth {
                            predicate.truth = Truth::Proved(truth);
                        }
                    }
                }
                Answer::Some(example) => {
                    let mixed = self.mixed();
                    self.learn(example);
                    if self.mixed() == mixed {
                        self.decide_one_by_one()?;
                    }
                }
                Answer::Unknown => self.decide_one_by_one()?,
            }
        }
        // No example says anything about the predicates that are still open.
        self.decide_one_by_one()
    }

    fn mixed(&self) -> usize {
        self.predicates.iter().filter(|predicate| predicate.truth == Truth::Mixed).count()
    }

    /// Proves what is known to follow from the label.
    fn use_cores(&mut self) {
        for predicate in &mut self.predicates {
            if let Truth::Seen(truth) = predicate.truth
                && self.image.is_known(self.label, self.store.signed(predicate.before, truth))
            {
                predicate.truth = Truth::Proved(truth);
            }
        }
    }

    /// Decides the remaining predicates by a query for each.
    fn decide_one_by_one(&mut self) -> Result<(), Stop> {
        for at in 0..self.predicates.len() {
            let truths: &[bool] = match self.predicates[at].truth {
                Truth::Open => &[true, false],
                Truth::Seen(true) => &[true],
                Truth::Seen(false) => &[false],
                _ => continue,
            };
            self.predicates[at].truth = Truth::Undecided;
            for &truth in truths {
                let literal = self.store.signed(self.predicates[at].before, truth);
                match self.image.ask(self.label, &[self.store.not(literal)], &[literal])? {
                    Answer::None => {
                        self.predicates[at].truth = Truth::Proved(truth);
                        break;
                    }
                    Answer::Some(example) => self.learn(example),
                    Answer::Unknown => {}
                }
            }
        }
        Ok(())
    }

    /// All combinations of mixed predicates that successors have.
    fn cubes(&mut self) -> Result<Cubes, Stop> {
        let is_mixed = |predicate: &&Predicate| predicate.truth == Truth::Mixed;
        let mixed = self.predicates.iter().filter(is_mixed);
        let mixed: Vec<(Term, Term)> =
            mixed.map(|predicate| (predicate.predicate, predicate.before)).collect();
        if mixed.is_empty() {
            return Ok(Cubes::default());
        }
        self.image.push();
        let cubes = self.enumerate(&mixed);
        self.image.pop();
        cubes
    }

    /// Enumerates the combinations of predicates in an open frame. Each predicate comes with its formula over the edge's
    /// variables.
    fn enumerate(&mut self, mixed: &[(Term, Term)]) -> Result<Cubes, Stop> {
        let mut cubes = Cubes::default();
        let mut seen: FxHashSet<Vec<Term>> = FxHashSet::default();
        for example in self.examples.clone() {
            self.exclude(mixed, example, &mut seen, &mut cubes)?;
        }
        loop {
            let answer = self.image.ask(self.label, &[], &[])?;
            let is_new = match answer {
                Answer::None => return Ok(cubes),
                Answer::Some(example) => self.exclude(mixed, example, &mut seen, &mut cubes)?,
                Answer::Unknown => false,
            };
            if !is_new {
                cubes.is_incomplete = true;
                return Ok(cubes);
            }
        }
    }

    /// Adds the combination of predicates in an example, and excludes it from further ones. Returns whether it is new.
    fn exclude(
        &mut self,
        mixed: &[(Term, Term)],
        example: Rc<Example>,
        seen: &mut FxHashSet<Vec<Term>>,
        cubes: &mut Cubes,
    ) -> Result<bool, Stop> {
        let (mut cube, mut before) = (Vec::new(), Vec::new());
        for &(predicate, formula) in mixed {
            let Some(truth) = example.satisfies(self.store, formula) else { return Ok(false) };
            cube.push(self.store.signed(predicate, truth));
            before.push(self.store.signed(formula, truth));
        }
        let is_new = seen.insert(cube.clone());
        if is_new {
            self.image.exclude(&before)?;
            cubes.cubes.push((cube, example));
        }
        Ok(is_new)
    }

    /// The abstract states for cubes of mixed predicates.
    fn states(&mut self, cubes: Cubes, kind: DomainKind) -> Vec<AbstractState> {
        let store = self.store;
        let proved = self.predicates.iter().filter_map(|predicate| match predicate.truth {
            Truth::Proved(truth) => Some(store.signed(predicate.predicate, truth)),
            _ => None,
        });
        let proved: Vec<Term> = proved.flat_map(|literal| store.conjuncts(literal)).collect();
        if cubes.cubes.is_empty() || cubes.is_incomplete {
            let example = self.examples.first().cloned();
            let example = example.and_then(|example| self.image.state(&example));
            return vec![AbstractState { label: label_of(proved), example }];
        }
        if kind == DomainKind::Boolean {
            let any = store.or_of(cubes.cubes.iter().map(|(cube, _)| store.and(cube)));
            let label = label_of(proved.into_iter().chain(store.conjuncts(any)));
            let example = self.image.state(&cubes.cubes[0].1);
            return vec![AbstractState { label, example }];
        }
        let state = |(cube, example): (Vec<Term>, Rc<Example>)| {
            let members = cube.into_iter().flat_map(|literal| store.conjuncts(literal));
            let label = label_of(proved.iter().copied().chain(members));
            AbstractState { label, example: self.image.state(&example) }
        };
        cubes.cubes.into_iter().map(state).collect()
    }
}
