//! Proofs by induction on derivations.
//!
//! A model says something about each single fact of a predicate. A *joint lemma* says something about several facts
//! together, which need not be of the same predicate: all facts that its *premises* describe satisfy its *conclusion*.
//!
//! ```text
//! append(x, y, a) and append(x, y, b)  imply  a = b
//! ```
//!
//! A proof is a set of such lemmas. They are proved together, by induction on the derivations of the premises: premises
//! marked as *unfolded* are the heads of clauses, and the lemmas hold for the facts in the bodies. With the lemmas the
//! bodies of all queries are contradictory, so `false` has no derivation. The checker (`check/induction.rs`) says
//! precisely which instances of lemmas may be used.
//!
//! As text, a lemma is a closed formula with the numbers of the unfolded premises, counted from one:
//!
//! ```text
//! (lemma
//!   (forall ((x L) (y L) (a L) (b L)) (=> (and (append x y a) (append x y b)) (= a b)))
//!   :unfold (1 2))
//! ```
//!
//! Conclusions may apply recursive functions, as the formulas of models may: the length of `a` is the sum of the others. Lemmas
//! about single values of such functions belong to the proof, too.
//!
//! This is the induction on derivations of Unno, Torii and Sakamoto (Automating Induction for Solving Horn Clauses, CAV
//! 2017), with lemmas in the place of a search for proofs.

use std::io;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use shofar_logic::{FoldLemma, Op, Substitution, Term, TermStore};

use super::text::formula;
use super::{FreeNames, Printer, claims, written};
use crate::graph::NodeId;
use crate::system::{Atom, HornSystem, PredicateId};

/// A proof that clauses have a model, by induction on derivations.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Induction {
    /// The lemmas. Their order does not matter.
    pub lemmas: Vec<JointLemma>,
    /// Lemmas about the recursive functions that conclusions apply.
    pub fold_lemmas: Vec<FoldLemma>,
}

/// A property of several facts together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JointLemma {
    /// The distinct variables of premises and conclusion.
    pub variables: Box<[Term]>,
    /// The facts that the lemma is about; at least one.
    pub premises: Vec<Premise>,
    /// The formula that holds for them, without quantifiers.
    pub conclusion: Term,
}

/// A fact that a joint lemma is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Premise {
    /// The fact; its arguments are variables of the lemma.
    pub atom: Atom,
    /// Whether the proof looks at all clauses that derive the fact. This holds for some premise of each lemma.
    pub is_unfolded: bool,
}

impl Induction {
    /// A proof by these lemmas, with the claimed lemmas about the recursive functions that they apply.
    pub fn new(store: &TermStore, lemmas: Vec<JointLemma>) -> Self {
        let fold_lemmas = claims(store, lemmas.iter().map(|lemma| lemma.conclusion).collect());
        Induction { lemmas, fold_lemmas }
    }

    /// The same proof for people: with simple names for variables, which mean nothing else in the clauses, and with
    /// conclusions that are not in normal form.
    pub fn with_names(self, store: &TermStore, system: &HornSystem) -> Self {
        let free = FreeNames::new(store, system);
        let named = |lemma: JointLemma| {
            let mut used = FxHashSet::default();
            let name = |&variable: &Term| {
                let stem = match store.op(variable) {
                    Op::Var(name) => store.name(name).split('!').next(),
                    _ => None,
                };
                (variable, store.var(free.choose(stem, "x", &mut used), store.sort_of(variable)))
            };
            let names: Substitution = lemma.variables.iter().map(name).collect();
            let renamed = |terms: &[Term]| terms.iter().map(|&it| store.substitute(it, &names)).collect();
            let premise = |premise: Premise| {
                let Atom { predicate, args } = premise.atom;
                Premise { atom: Atom { predicate, args: renamed(&args) }, ..premise }
            };
            let variables: Box<[Term]> = renamed(&lemma.variables);
            let conclusion = store.normalize(store.substitute(lemma.conclusion, &names));
            JointLemma {
                premises: lemma.premises.into_iter().map(premise).collect(),
                conclusion: written(store, &variables, conclusion),
                variables,
            }
        };
        Induction { lemmas: self.lemmas.into_iter().map(named).collect(), ..self }
    }
}

impl Premise {
    /// A fact of a node of a [system's graph](crate::HornGraph::of).
    pub fn new(node: NodeId, arguments: &[Term], is_unfolded: bool) -> Self {
        let predicate = PredicateId(u32::try_from(node.index()).expect("an index of a graph"));
        Premise { atom: Atom { predicate, args: arguments.into() }, is_unfolded }
    }
}

impl JointLemma {
    /// The lemma as a closed formula.
    pub fn to_formula(&self, store: &TermStore, system: &HornSystem) -> Term {
        let app = |op: Op, args: &[Term]| store.app(op, args).expect("the sorts of a lemma fit");
        let atoms = self.premises.iter().map(|Premise { atom, .. }| {
            store.apply(system.fun(atom.predicate), &atom.args).expect("the sorts of a premise fit")
        });
        let atoms: Vec<Term> = atoms.collect();
        let premises = if let &[atom] = &atoms[..] { atom } else { app(Op::And, &atoms) };
        let body = app(Op::Implies, &[premises, self.conclusion]);
        let bound: Vec<Term> = self.variables.iter().copied().chain([body]).collect();
        if bound.len() == 1 { body } else { app(Op::Forall, &bound) }
    }

    /// The lemma of a closed formula; `unfolded` has the positions of unfolded premises. The error says what is wrong.
    pub(super) fn of_formula(
        store: &TermStore,
        system: &HornSystem,
        formula: Term,
        unfolded: &[usize],
    ) -> Result<Self, String> {
        let (variables, body) = match store.view(formula) {
            (Op::Forall, [variables @ .., body]) => (variables, *body),
            _ => (&[][..], formula),
        };
        let (Op::Implies, &[premises, conclusion]) = store.view(body) else {
            return Err("a lemma is an implication below universal quantifiers".to_owned());
        };
        let atoms = match store.view(premises) {
            (Op::And, atoms) => atoms.to_vec(),
            _ => vec![premises],
        };
        if let Some(position) = unfolded.iter().find(|&&position| position >= atoms.len()) {
            return Err(format!("the lemma has no premise {}", position + 1));
        }
        let premise = |(position, &atom): (usize, &Term)| {
            let (Op::Apply(fun), arguments) = store.view(atom) else {
                return Err(format!("premise {} is not a predicate with arguments", position + 1));
            };
            let (predicate, _) = system.predicates().find(|&(_, other)| other == fun).ok_or_else(|| {
                format!("premise {} does not have a predicate of the clauses", position + 1)
            })?;
            let atom = Atom { predicate, args: arguments.into() };
            Ok(Premise { atom, is_unfolded: unfolded.contains(&position) })
        };
        let premises = atoms.iter().enumerate().map(premise).collect::<Result<_, String>>()?;
        Ok(JointLemma { variables: variables.into(), premises, conclusion })
    }

    /// The numbers of the unfolded premises, counted from one.
    fn unfolded(&self) -> Vec<usize> {
        let premises = self.premises.iter().enumerate();
        premises.filter(|(_, premise)| premise.is_unfolded).map(|(position, _)| position + 1).collect()
    }
}

/// A joint lemma as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonJointLemma {
    pub(super) lemma: String,
    pub(super) unfold: Vec<usize>,
}

impl JsonJointLemma {
    pub(super) fn of(store: &TermStore, system: &HornSystem, proof: &Induction) -> Vec<Self> {
        let json = |lemma: &JointLemma| JsonJointLemma {
            lemma: store.display(lemma.to_formula(store, system)).to_string(),
            unfold: lemma.unfolded(),
        };
        proof.lemmas.iter().map(json).collect()
    }
}

impl<W: io::Write> Printer<'_, W> {
    pub(super) fn text_induction(&mut self, proof: &Induction) -> io::Result<()> {
        self.text_recursion(&proof.recursion(self.store, self.system), 0)?;
        for lemma in &proof.lemmas {
            let unfolded: Vec<String> = lemma.unfolded().iter().map(usize::to_string).collect();
            let shown = lemma.to_formula(self.store, self.system);
            writeln!(self.out, "(lemma\n  {}", formula(self.store, shown, 2))?;
            writeln!(self.out, "  :unfold ({}))", unfolded.join(" "))?;
        }
        Ok(())
    }
}
