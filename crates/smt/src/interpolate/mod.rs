//! Interpolants of every kind from one refutation.
//!
//! **What it computes.** Formulas were asserted in *parts* and found to be contradictory. For a *cut*, the parts of A
//! against those of B, an interpolant `I` has
//!
//! - I1: A implies `I`,
//! - I2: `I` contradicts B,
//! - I3: every symbol of `I` occurs in A and in B.
//!
//! A *sequence* for parts `1, .., n` has an interpolant `I_i` for each prefix `1, .., i`, and a *tree* one for each subtree,
//! where
//!
//! - I4: `I_{i-1}` and part `i` imply `I_i`; the interpolants of the children of a node and its part imply its own.
//!
//! **How.** A proof is frozen, so that any number of interpolants can be read off it. Those of a sequence or tree share
//! what does not depend on the cut, and from one cut to the next only what changes is made again:
//!
//! ```text
//! cuts        sets of cuts, for which questions are asked at once         cuts.rs
//! colours     which side may speak of a term                              colour.rs
//! leaves      of theory lemmas                                            lemmas.rs: farkas.rs, decomposed.rs,
//!                                                                         divisibility.rs, congruence.rs
//! pass        partial interpolants of clauses, by labels                  labelled.rs, occurrence.rs
//! symbols     fresh symbols and gates become what they stand for
//! form        simplification                                              simplify.rs, factor.rs
//! check       I3 always; I1 and I2 in debug builds                        verify.rs
//! ```
//!
//! **Where it ends.** A proof may have a literal that mixes symbols of both sides, such as an integer split on a form over
//! both, or a proof step that has no interpolant of the kind wanted. Then the error says so, and [`fallback`] finds an
//! interpolant without a proof; the methods with that name do so by themselves. For sequences and trees they ask for
//! another proof at each node first (`stepwise.rs`).
//!
//! **Sequences and trees.** All cuts share proof, labelling and certificates, which move from B to A with the parts (S1
//! of `labelled.rs`). This gives I4 for sequences with each labelling, and with Farkas sums, their duals, and any fixed
//! strength. For trees it needs a labelling other than the dual one, for a shared pivot would be A's in two siblings at
//! a time, and Farkas sums: the slack of duals would be counted once for each child. *Decomposed* interpolants have the
//! property because each cut decomposes what the cuts below it left (`decomposed.rs`).
//!
//! The colouring of congruence conflicts is another one at each cut. In 47,502 sequences and 15,834 trees of generated
//! conflicts no violation of I4 was found, but this is no proof: sequences and trees of proofs with such lemmas are checked
//! by the solver, and given only if I4 is found to hold. Weak ones are not offered for trees.

mod arrange;
pub mod colour;
pub mod congruence;
pub mod cuts;
pub mod decomposed;
pub mod divisibility;
mod factor;
pub mod fallback;
pub mod farkas;
mod labelled;
mod lemmas;
mod occurrence;
pub mod simplify;
mod stepwise;
pub mod verify;

use std::collections::BTreeSet;
use std::fmt;

use rustc_hash::FxHashMap;
use shofar_logic::{Term, TermStore};

use crate::proof::{Justification, Part, Proof, Rule, StepId};
use colour::{Colours, Origins, Vocabulary};
use cuts::Cuts;
use farkas::Strength;
use labelled::Pass;
use shofar_run::Limits;
use simplify::Simplifier;
use verify::{Verdict, implies};

pub use labelled::Labelling;

/// Conflicts and propagations that a check by the solver may take, and the greatest size of what is checked.
const CHECK_CONFLICTS: u64 = 2_000;
const CHECK_PROPAGATIONS: u64 = 1_000_000;
const CHECK_SIZE: usize = 10_000;

/// How arithmetic conflicts are interpolated.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Arithmetic {
    /// The weighted sum of A.
    #[default]
    Farkas,
    /// The negation of the weighted sum of B.
    DualFarkas,
    /// The sum of A, taken apart into a conjunction: the strongest.
    Decomposed,
    /// The negation of the sum of B, taken apart into a disjunction: the weakest.
    DualDecomposed,
    /// Between the sum of A and the negation of the sum of B.
    Flexible(Strength),
}

/// How conflicts of equality are interpolated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Equality {
    /// What A contributes.
    #[default]
    Strong,
    /// The negation of what B contributes.
    Weak,
}

/// How the interpolant is made smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Simplification {
    /// By normalising it.
    Normal,
    /// By looking at its structure.
    #[default]
    Structural,
    /// By asking the solver, too; the number bounds the conflicts of each query.
    Solver(u64),
}

/// The choices of a query.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// What shared variables count for.
    pub labelling: Labelling,
    /// The procedure for arithmetic.
    pub arithmetic: Arithmetic,
    /// The procedure for equality.
    pub equality: Equality,
    /// What is done with the result.
    pub simplification: Simplification,
}

/// Why there is no interpolant from the proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// Neither side has all symbols of this formula or term, on which the proof relies. [`fallback`] may help.
    Mixed(Term),
    /// The certificate of a step does not prove its clause, or does so in a way that has no interpolant.
    Invalid(StepId),
    /// The last step of the proof is not the empty clause.
    NoRefutation,
    /// A symbol that is not shared would be left in this formula.
    Leak(Term),
    /// The proof uses a part that was not given formulas or a place.
    Unlisted(Part),
    /// Interpolants of the chosen kind for the subtrees of a tree are no tree interpolants.
    NoTreeProperty,
    /// Every node but the last must come before its parent.
    NotATree,
    /// The interpolants are right one by one, but not known to be a sequence or tree at this position.
    NotInductive(usize),
    /// There is no interpolant from the proof, and none was found without it.
    Fallback(fallback::Failure),
}

impl Error {
    /// Whether it is the proof that is at fault, and not the question.
    fn is_of_proof(self) -> bool {
        matches!(self, Error::Mixed(_) | Error::Invalid(_) | Error::Leak(_) | Error::NotInductive(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Mixed(_) => write!(f, "the proof uses a term that mixes symbols of both sides"),
            Error::Invalid(StepId(step)) => write!(f, "step {step} of the proof has no interpolant"),
            Error::NoRefutation => write!(f, "the proof does not end with the empty clause"),
            Error::Leak(_) => write!(f, "the interpolant has a symbol that is not shared"),
            Error::Unlisted(Part(part)) => write!(f, "part {part} of the proof is not listed"),
            Error::NoTreeProperty => {
                write!(f, "tree interpolants need the labelling of McMillan or Pudlak and Farkas sums of A")
            }
            Error::NotATree => write!(f, "a node of the tree comes after its parent"),
            Error::NotInductive(position) => {
                write!(f, "the interpolant at position {position} does not follow from those before")
            }
            Error::Fallback(_) => {
                write!(f, "there is no interpolant from the proof, and none was found without")
            }
        }
    }
}

impl std::error::Error for Error {}

/// An interpolant, and how large it was before it was simplified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interpolant {
    /// The formula. It is in normal form, unless it was so large that the budget for that ended.
    pub formula: Term,
    /// The number of different subterms of what came out of the proof.
    pub raw_size: usize,
    /// The number of different subterms of the formula.
    pub size: usize,
}

/// Reads interpolants off one proof.
pub struct Interpolator<'a> {
    store: &'a TermStore,
    proof: &'a Proof,
    /// The formulas of each part, as they were asserted or assumed.
    parts: Vec<(Part, Vec<Term>)>,
    options: Options,
    vocabulary: Vocabulary,
    origins: Origins,
    /// Which steps the empty clause rests on.
    is_needed: Vec<bool>,
    /// The parts that definitions and splits were made for, by steps.
    made_for: Vec<Box<[Part]>>,
}

impl<'a> Interpolator<'a> {
    /// For a proof and the formulas of its parts, which have to include all that was asserted and assumed.
    pub fn new(
        store: &'a TermStore,
        proof: &'a Proof,
        parts: Vec<(Part, Vec<Term>)>,
        options: Options,
    ) -> Result<Self, Error> {
        let mut vocabulary = Vocabulary::default();
        for (part, formulas) in &parts {
            vocabulary.add(store, *part, formulas);
        }
        let is_needed = needed_steps(proof)?;
        let origins = Origins::new(proof.origins());
        let made_for = occurrence::made_for(store, proof, &origins, &is_needed);
        let interpolator =
            Interpolator { store, proof, parts, options, vocabulary, origins, is_needed, made_for };
        let listed: Vec<Part> = interpolator.parts.iter().map(|&(part, _)| part).collect();
        interpolator.check_listed(&listed)?;
        Ok(interpolator)
    }

    /// The interpolant where the given parts are A and all others B.
    pub fn binary(&self, in_a: &[Part]) -> Result<Interpolant, Error> {
        Ok(self.at_cuts(&Cuts::single(in_a))?[0])
    }

    /// As [`binary`](Self::binary), and without the proof where it has no interpolant.
    pub fn binary_with_fallback(
        &self,
        in_a: &[Part],
        bounds: &fallback::Bounds<'_>,
    ) -> Result<Interpolant, Error> {
        match self.binary(in_a) {
            Err(error) if error.is_of_proof() => {
                let side = |is_a: bool| self.side(|part| in_a.contains(&part) == is_a);
                let found = fallback::any_interpolant(self.store, &side(true), &side(false), bounds);
                Ok(self.simplified(&mut Simplifier::new(self.store), found.map_err(Error::Fallback)?))
            }
            found => found,
        }
    }

    /// As [`sequence`](Self::sequence), and node by node where the proof has none.
    pub fn sequence_with_fallback(
        &self,
        order: &[Part],
        bounds: &fallback::Bounds<'_>,
    ) -> Result<Vec<Interpolant>, Error> {
        match self.sequence(order) {
            Err(error) if error.is_of_proof() => {
                let nodes: Vec<_> = order.iter().enumerate().map(|(at, &part)| (part, at + 1)).collect();
                let mut interpolants = self.tree_node_by_node(&nodes, bounds)?;
                interpolants.pop();
                Ok(interpolants)
            }
            found => found,
        }
    }

    /// As [`tree`](Self::tree), and node by node where the proof has none.
    pub fn tree_with_fallback(
        &self,
        nodes: &[(Part, usize)],
        bounds: &fallback::Bounds<'_>,
    ) -> Result<Vec<Interpolant>, Error> {
        match self.tree(nodes) {
            Err(error) if error.is_of_proof() => self.tree_node_by_node(nodes, bounds),
            found => found,
        }
    }

    fn tree_node_by_node(
        &self,
        nodes: &[(Part, usize)],
        bounds: &fallback::Bounds<'_>,
    ) -> Result<Vec<Interpolant>, Error> {
        let nodes: Vec<_> =
            nodes.iter().map(|&(part, parent)| (self.formulas(part).collect(), parent)).collect();
        let found = stepwise::tree(self.store, &nodes, &self.options, bounds).map_err(Error::Fallback)?;
        let mut simplifier = Simplifier::new(self.store);
        Ok(found.into_iter().map(|formula| self.simplified(&mut simplifier, formula)).collect())
    }

    /// The interpolants of the prefixes of the parts in this order, from the first part alone to all but the last.
    pub fn sequence(&self, order: &[Part]) -> Result<Vec<Interpolant>, Error> {
        self.check_listed(order)?;
        let cuts = Cuts::sequence(order);
        let interpolants = self.at_cuts(&cuts)?;
        self.check_inductive(&cuts, order, &interpolants)?;
        Ok(interpolants)
    }

    /// The interpolants of the subtrees of a tree whose nodes are parts, each with the position of its parent. Children
    /// come before their parents, and the root, whose interpolant is `false`, is the last.
    pub fn tree(&self, nodes: &[(Part, usize)]) -> Result<Vec<Interpolant>, Error> {
        let order: Vec<Part> = nodes.iter().map(|&(part, _)| part).collect();
        self.check_listed(&order)?;
        let has_dual = !matches!(self.options.arithmetic, Arithmetic::Farkas | Arithmetic::Decomposed)
            || self.options.labelling == Labelling::DualMcMillan
            || self.options.equality == Equality::Weak && self.has_congruence();
        if has_dual {
            return Err(Error::NoTreeProperty);
        }
        let cuts = Cuts::tree(nodes)?;
        let interpolants = self.at_cuts(&cuts)?;
        self.check_inductive(&cuts, &order, &interpolants)?;
        Ok(interpolants)
    }

    /// Where congruences take part, asks the solver whether I4 holds.
    fn check_inductive(
        &self,
        cuts: &Cuts,
        order: &[Part],
        interpolants: &[Interpolant],
    ) -> Result<(), Error> {
        if !self.has_congruence() {
            return Ok(());
        }
        for (cut, interpolant) in interpolants.iter().enumerate() {
            let below = cuts.below(cut).iter().map(|&below| interpolants[below].formula);
            let premises: Vec<Term> = self.formulas(order[cut]).chain(below).collect();
            if !cuts.below(cut).is_empty() && !self.follows(&premises, interpolant.formula) {
                return Err(Error::NotInductive(cut));
            }
        }
        Ok(())
    }

    /// The interpolants at cuts.
    fn at_cuts(&self, cuts: &Cuts) -> Result<Vec<Interpolant>, Error> {
        let store = self.store;
        let mut colours = Colours::new(store, &self.vocabulary, &self.origins, cuts);
        // A side as it was asserted entails what became of it only if it defines by itself the symbols that were replaced.
        for definition in self.proof.definitions() {
            if (0..cuts.len()).any(|cut| colours.at(cut, definition.symbol).is_shared()) {
                return Err(Error::Mixed(definition.symbol));
            }
        }
        let mut pass = Pass {
            store,
            proof: self.proof,
            labelling: self.options.labelling,
            arithmetic: &self.options.arithmetic,
            equality: self.options.equality,
            cuts,
            colours: &mut colours,
            is_needed: &self.is_needed,
            made_for: &self.made_for,
        };
        let raw = pass.run()?;
        let (mut expanded, mut simplifier) = (FxHashMap::default(), Simplifier::new(store));
        let mut interpolants = Vec::with_capacity(raw.len());
        for (cut, raw) in raw.into_iter().enumerate() {
            let raw = self.origins.expand(store, raw, &mut expanded);
            let interpolant = self.simplified(&mut simplifier, raw);
            if !colours.at(cut, interpolant.formula).is_shared() {
                return Err(Error::Leak(interpolant.formula));
            }
            debug_assert!(
                self.separates(cuts, cut, interpolant.formula),
                "{}",
                store.display(interpolant.formula)
            );
            interpolants.push(interpolant);
        }
        Ok(interpolants)
    }

    fn simplified(&self, simplifier: &mut Simplifier<'_>, raw: Term) -> Interpolant {
        let simplify::Simplified { formula, before, after } = match self.options.simplification {
            Simplification::Normal => simplifier.normal(raw),
            Simplification::Structural => simplifier.structural(raw),
            Simplification::Solver(conflicts) => {
                let limits = Limits { conflicts: Some(conflicts), ..Limits::default() };
                simplifier.with_solver(raw, &limits)
            }
        };
        Interpolant { formula, raw_size: before, size: after }
    }

    /// Whether I1 and I2 are not found to be wrong.
    fn separates(&self, cuts: &Cuts, cut: usize, interpolant: Term) -> bool {
        let side = |is_a: bool| self.side(|part| cuts.of_part(part).contains(cut) == is_a);
        verify::separates(self.store, &side(true), interpolant, &side(false), &check_limits())
            != Ok(Verdict::Fails)
    }

    /// The formulas of the parts that are meant.
    fn side(&self, is_meant: impl Fn(Part) -> bool) -> Vec<Term> {
        let parts = self.parts.iter().filter(|(part, _)| is_meant(*part));
        parts.flat_map(|(_, formulas)| formulas).copied().collect()
    }

    /// Whether it is known that the premises imply the conclusion.
    fn follows(&self, premises: &[Term], conclusion: Term) -> bool {
        let terms: Vec<Term> = premises.iter().copied().chain([conclusion]).collect();
        self.store.subterms(&terms).len() <= CHECK_SIZE
            && implies(self.store, premises, conclusion, &check_limits()) == Ok(Verdict::Holds)
    }

    fn formulas(&self, part: Part) -> impl Iterator<Item = Term> {
        let parts = self.parts.iter().filter(move |(other, _)| *other == part);
        parts.flat_map(|(_, formulas)| formulas).copied()
    }

    fn needed(&self) -> impl Iterator<Item = &'a Rule> {
        let steps = std::iter::zip(self.proof.steps(), &self.is_needed);
        steps.filter(|(_, is_needed)| **is_needed).map(|(step, _)| &step.rule)
    }

    /// Whether equality with functions takes part.
    fn has_congruence(&self) -> bool {
        self.needed().any(|rule| matches!(rule, Rule::Lemma(Justification::Congruence(_))))
    }

    fn check_listed(&self, listed: &[Part]) -> Result<(), Error> {
        let listed: BTreeSet<Part> = listed.iter().copied().collect();
        let used = self.needed().filter_map(|rule| match rule {
            Rule::Assertion(part) | Rule::Assumption(part) => Some(*part),
            _ => None,
        });
        match used.into_iter().find(|part| !listed.contains(part)) {
            Some(part) => Err(Error::Unlisted(part)),
            None => Ok(()),
        }
    }
}

fn check_limits() -> Limits<'static> {
    Limits { conflicts: Some(CHECK_CONFLICTS), propagations: Some(CHECK_PROPAGATIONS), ..Limits::default() }
}

/// The steps that the last one rests on. Each rests on earlier ones only.
fn needed_steps(proof: &Proof) -> Result<Vec<bool>, Error> {
    let steps = proof.steps();
    let mut is_needed = vec![false; steps.len()];
    let Some(last) = is_needed.last_mut() else { return Err(Error::NoRefutation) };
    *last = true;
    for (at, step) in steps.iter().enumerate().rev() {
        let Rule::Resolution { first, others } = &step.rule else { continue };
        if !is_needed[at] {
            continue;
        }
        for id in others.iter().map(|(other, _)| other).chain([first]) {
            if id.0 as usize >= at {
                return Err(Error::Invalid(StepId(at as u32)));
            }
            is_needed[id.0 as usize] = true;
        }
    }
    Ok(is_needed)
}
