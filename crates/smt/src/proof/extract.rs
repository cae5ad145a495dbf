//! From the log of the search to a proof in terms.
//!
//! The search gives the trimmed refutation over its literals. What is left to do is to say what variables and arguments
//! mean: an atom or gate that a formula had is in the table of the translation to clauses; an atom that a theory made is
//! a comparison of a linear form of the kernel, whose variables have terms; and nodes of congruence have terms, too.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Sort, Term, TermStore};

use super::definitions::Definitions;
use super::{
    Assertion, CongruenceEdge, CongruenceProof, Definition, EdgeRule, FarkasTerm, IntegerRefutation,
    IntegerTerm, Justification, Part, Proof, Rule, Sign, Step, StepId,
};
use crate::cnf::Cnf;
use crate::model::Symbols;
use crate::sat::{Lit, LoggedRule, LoggedStep, Origin, Var};
use crate::theory::arith::{self, Side};
use crate::theory::certificate::{ArithmeticArgument, CongruenceArgument};
use crate::theory::combination::{Argument, Combination};
use crate::theory::linear::AtomMeaning;

/// What a refutation over literals is read with.
pub(crate) struct Extraction<'s> {
    pub(crate) store: &'s TermStore,
    pub(crate) cnf: &'s Cnf<'s>,
    pub(crate) symbols: &'s Symbols,
    pub(crate) theory: &'s Combination,
    pub(crate) origins: &'s [(Term, Term)],
    /// What assertions define symbols by at present, in the order of rounds.
    pub(crate) definitions: &'s [Definition],
    /// All that is asserted at present.
    pub(crate) assertions: &'s [Assertion],
    /// The assumptions of the query with their literals.
    pub(crate) assumptions: &'s [(Assertion, Lit)],
}

impl Extraction<'_> {
    /// The proof.
    pub(crate) fn proof(&self, refutation: Vec<LoggedStep>) -> Proof {
        let mut proof = Proof {
            steps: Vec::with_capacity(refutation.len()),
            formulas: FxHashMap::default(),
            origins: self.origins.to_vec(),
            definitions: Vec::new(),
            assertions: Vec::new(),
            assumptions: Vec::new(),
        };
        // Of assumptions that come to the same the first one counts.
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
                LoggedRule::Leaf(Origin::Order) => Rule::Lemma(Justification::Split),
                LoggedRule::Leaf(Origin::Lemma(certificate)) => {
                    Rule::Lemma(self.justification(&proof, &clause, self.theory.argument(certificate)))
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

    /// What a variable means.
    fn formula(&self, var: Var) -> Term {
        if let Some(formula) = self.cnf.formula(var) {
            return formula;
        }
        let store = self.store;
        let (form, meaning) = self
            .theory
            .arithmetic()
            .meaning(var)
            .expect("a variable without formula is an atom of arithmetic");
        let form = self.poly(&form);
        let constant = match meaning {
            AtomMeaning::Bound(_, bound) => bound.real(),
            AtomMeaning::Equation(value) => value,
        };
        let is_int = |term: Term| store.sort_of(term) == Sort::INT;
        let (left, right) = if form.terms().iter().all(|(term, _)| is_int(*term)) && constant.is_integer() {
            (form.to_term(store, Sort::INT), store.int(constant.numer()))
        } else {
            let cast = |term: Term| if is_int(term) { store.to_real(term) } else { term };
            let terms = form.terms().iter().map(|(term, factor)| (cast(*term), factor.clone()));
            let form = LinearPoly::from_pairs(terms.collect(), Rational::ZERO);
            (form.to_term(store, Sort::REAL), store.real(constant.clone()))
        };
        match meaning {
            AtomMeaning::Equation(_) => store.eq(left, right),
            AtomMeaning::Bound(Side::Upper, bound) if bound.delta().is_negative() => store.lt(left, right),
            AtomMeaning::Bound(Side::Upper, _) => store.le(left, right),
            AtomMeaning::Bound(Side::Lower, bound) if bound.delta().is_positive() => store.gt(left, right),
            AtomMeaning::Bound(Side::Lower, _) => store.ge(left, right),
        }
    }

    /// A form of the kernel over terms that are not casts.
    fn poly(&self, form: &[(arith::Var, Integer)]) -> LinearPoly {
        let term = |var: arith::Var| self.symbols.number_terms[&var];
        let terms = form.iter().map(|(var, factor)| (term(*var), Rational::from(factor.clone())));
        LinearPoly::from_pairs(terms.collect(), Rational::ZERO)
    }

    fn justification(&self, proof: &Proof, clause: &[Lit], argument: Argument<'_>) -> Justification {
        let term = |lit: Lit, coefficient: Rational| {
            let (_, holds) = proof.atom(self.store, lit);
            FarkasTerm { lit, side: if holds { Sign::Negative } else { Sign::Positive }, coefficient }
        };
        match argument {
            // The kernel's form and that of the atom are both primitive, hence the same but for the sign, and a
            // coefficient for the one is a coefficient for the other.
            Argument::Arithmetic(ArithmeticArgument::PlainSum) => {
                Justification::Farkas(clause.iter().map(|&lit| term(!lit, Rational::ONE)).collect())
            }
            Argument::Arithmetic(ArithmeticArgument::Sum(terms)) => {
                Justification::Farkas(terms.iter().map(|(lit, factor)| term(*lit, factor.clone())).collect())
            }
            Argument::Arithmetic(ArithmeticArgument::Integer(terms)) => {
                let terms = terms.iter().map(|confined| IntegerTerm {
                    form: self.poly(&self.theory.arithmetic().form(confined.var)),
                    multiplier: confined.multiplier.clone(),
                    lower: confined.bounds[0],
                    upper: confined.bounds[1],
                });
                Justification::Integer(IntegerRefutation { terms: terms.collect() })
            }
            Argument::Congruence(CongruenceArgument { edges, apart: (left, right), distinct }) => {
                let node = |node| self.symbols.node_terms[&node];
                let edges = edges.iter().map(|edge| CongruenceEdge {
                    left: node(edge.left),
                    right: node(edge.right),
                    why: edge.literal.map_or(EdgeRule::Congruence, EdgeRule::Literal),
                });
                Justification::Congruence(CongruenceProof {
                    edges: edges.collect(),
                    apart: (node(left), node(right)),
                    distinct,
                })
            }
        }
    }
}
