//! Turns the log of the search into a proof over terms.
//!
//! The search returns the trimmed refutation over its literals. Extraction adds the meaning of variables and
//! certificates. The table of the translation to clauses maps variables to the atoms and gates of formulas. Theories
//! explain the atoms and certificates that they made (C9 of `theory/component.rs`).

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Term, TermStore};

use super::definitions::Definitions;
use super::{Assertion, Definition, Part, Proof, Rule, Step, StepId};
use crate::cnf::Cnf;
use crate::sat::{Lit, LoggedRule, LoggedStep, Origin, Var};
use crate::theory::combination::Combination;

/// The tables needed to read a refutation over literals.
pub(crate) struct Extraction<'s> {
    pub(crate) store: &'s TermStore,
    pub(crate) cnf: &'s Cnf<'s>,
    pub(crate) theory: &'s Combination,
    pub(crate) origins: &'s [(Term, Term)],
    /// The current definitions of symbols by assertions, in the order of rounds.
    pub(crate) definitions: &'s [Definition],
    /// All current assertions.
    pub(crate) assertions: &'s [Assertion],
    /// The assumptions of the query with their literals.
    pub(crate) assumptions: &'s [(Assertion, Lit)],
}

impl Extraction<'_> {
    /// Builds the proof.
    pub(crate) fn proof(&self, refutation: Vec<LoggedStep>) -> Proof {
        let mut proof = Proof {
            steps: Vec::with_capacity(refutation.len()),
            formulas: FxHashMap::default(),
            origins: self.origins.to_vec(),
            definitions: Vec::new(),
            assertions: Vec::new(),
            assumptions: Vec::new(),
        };
        // Among assumptions with the same literal the first one counts.
        let assumptions: FxHashMap<Lit, Assertion> =
            self.assumptions.iter().rev().map(|&(assumption, lit)| (lit, assumption)).collect();
        let mut parts: FxHashSet<Part> = FxHashSet::default();
        for LoggedStep { clause, rule } in refutation {
            for lit in &clause {
                proof.formulas.entry(lit.var()).or_insert_with(|| self.formula(lit.var()));
            }
            let rule = match rule {
                LoggedRule::Leaf(Origin::Assertion(part)) => {
                    parts.insert(Part(part));
                    Rule::Assertion(Part(part))
                }
                LoggedRule::Leaf(Origin::Assumption) => {
                    let assumption = assumptions[&clause[0]];
                    proof.assumptions.push(assumption);
                    Rule::Assumption(assumption.part)
                }
                LoggedRule::Leaf(Origin::Definition) => Rule::Definition,
                LoggedRule::Leaf(Origin::Lemma(certificate)) => {
                    let atom = |lit: Lit| proof.atom(self.store, lit);
                    Rule::Lemma(self.theory.justification(self.store, certificate, &clause, &atom))
                }
                LoggedRule::Chain { first, others } => Rule::Resolution {
                    first: StepId(first),
                    others: others.iter().map(|&(step, pivot)| (StepId(step), pivot)).collect(),
                },
            };
            proof.steps.push(Step { clause, rule });
        }
        let used = self.assertions.iter().filter(|it| parts.contains(&it.part));
        let formulas: Vec<Term> = used.chain(&proof.assumptions).map(|it| it.formula).collect();
        let needed = Definitions::new(self.store, self.definitions).needed(&formulas, true);
        proof.definitions = needed.into_iter().copied().collect();
        let sources: FxHashSet<(Part, Term)> =
            proof.definitions.iter().map(|it| (it.part, it.formula)).collect();
        let is_used = |it: &&Assertion| parts.contains(&it.part) || sources.contains(&(it.part, it.formula));
        proof.assertions = self.assertions.iter().filter(is_used).copied().collect();
        proof
    }

    /// The formula of a variable.
    fn formula(&self, var: Var) -> Term {
        let made = || self.theory.formula(self.store, var);
        self.cnf.formula(var).or_else(made).expect("a variable without formula was made by a theory")
    }
}
