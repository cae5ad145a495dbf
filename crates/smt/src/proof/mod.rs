//! Proofs: refutations of assertions and assumptions.
//!
//! A [`Proof`] is a list of clauses that ends in the empty one, each with its [`Rule`]: the clause was asserted or
//! assumed, it defines a gate or a fresh symbol, a theory justifies it by a checkable certificate, or it follows from
//! earlier clauses by resolution. A proof contains only the steps that the refutation needs.
//!
//! ```text
//! search             logs chains and leaves                               sat/log.rs
//! theories           store the certificate of each clause they make       theory/certificate.rs
//! extraction         trims, renumbers, replaces literals by terms         extract.rs
//! checker            replays every step                                   check.rs, definitions.rs
//! comparison         shows that formulas entail their images              meaning/
//! Alethe             prints the proof for other checkers                  alethe/
//! ```
//!
//! - Y1: the premises of a step come before it, and the last step is the empty clause.
//! - Y2: every variable of a clause has a formula. Activation literals of frames do not occur.
//! - Y3: the formula of an atom of arithmetic is normal, or the negation of a normal atom. So the literals of a
//!   certificate have coprime integer coefficients, and integer atoms have integer constants. An equation of an integer
//!   with a fraction stays as it is and does not become `false`, because congruence certificates refer to its two
//!   sides.
//!
//! **Definitions.** If an assertion is an equation `x = t`, or has it as a conjunct, the symbol may have been replaced
//! in everything asserted with it or later (`equations/`). The proof refutes the result. So it lists these
//! [definitions](Proof::definitions), and the checker verifies that the assertions entail them. An assertion is
//! equivalent to its image only together with those that define symbols for it, which may be in other parts.
//!
//! Proofs contain only terms and literals, so they stay valid whatever the solver does next.

mod alethe;
mod check;
mod definitions;
pub(crate) mod extract;
mod meaning;

pub use alethe::write_alethe;
pub use check::{Fault, check, check_within, entails, is_false};

use std::fmt;

use rustc_hash::FxHashMap;
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Sort, Term, TermStore};

use crate::sat::{Lit, Var};

/// The number of a step in a proof.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StepId(pub u32);

/// A part of the assertions. Each assertion and each assumption belongs to one; the caller numbers them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Part(pub u32);

/// A clause with its justification. Literals are those of the search; [`Proof::formula`] gives their formulas.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The literals, ascending, each once.
    pub clause: Box<[Lit]>,
    /// Why the clause holds.
    pub rule: Rule,
}

/// Why a clause holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rule {
    /// It is a clause of a formula that was asserted in this part.
    Assertion(Part),
    /// It is an assumption of the query, which belongs to this part.
    Assumption(Part),
    /// It defines a gate or a fresh symbol: it is valid once gates are replaced by their formulas and fresh symbols by
    /// their origins.
    Definition,
    /// A theory lemma: the negations of its literals contradict each other.
    Lemma(Justification),
    /// By resolution, from left to right: the first step with each of the others on the pivot.
    Resolution {
        /// The first step.
        first: StepId,
        /// The others, with their pivots.
        others: Box<[(StepId, Var)]>,
    },
}

/// Why the negations of the literals of a clause, the *conflict*, contradict each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Justification {
    /// The sum of inequalities, each multiplied by its coefficient, is `0 <= c` for a negative `c`, or `0 < 0`.
    /// [`Proof::inequality`] gives the inequality of a literal.
    Farkas(Box<[FarkasTerm]>),
    /// Equalities of the conflict and congruences connect two terms that differ.
    Congruence(CongruenceProof),
    /// Equalities of the conflict make a term of a datatype contain itself.
    Cycle(CycleProof),
    /// A linear form is an integer, but the conflict confines it to an interval without integers.
    Integer(IntegerRefutation),
    /// The literals compare one linear form with numbers, and no number satisfies all of them.
    Split,
    /// The clause is an instance of an axiom of a theory.
    Axiom(Axiom),
}

/// An instance of an axiom of a theory: a valid clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axiom {
    /// The rule.
    pub rule: AxiomRule,
    /// The terms that instantiate the rule, in its order.
    pub terms: Box<[Term]>,
}

/// An axiom scheme of a theory. The checker needs to know nothing else of the theory. Interpolation assigns the clause
/// to a side that can express it.
#[derive(Clone, Copy)]
pub struct AxiomRule {
    /// Its unique name, which is that of the rule in Alethe.
    pub name: &'static str,
    /// Checks whether a clause (atoms, each with whether it is affirmed) is the instance for the terms.
    pub check: AxiomCheck,
    /// If instances need not be valid, but hold for a function of a certain meaning: the name of this meaning. The last
    /// term is an application of the function. No formula may mention it, and it has no other meaning.
    pub introduces: Option<&'static str>,
}

/// Checks whether a clause is the instance of a rule for terms; returns the reason if not.
pub type AxiomCheck = fn(&TermStore, &[(Term, bool)], &[Term]) -> Result<(), String>;

impl PartialEq for AxiomRule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for AxiomRule {}

impl fmt::Debug for AxiomRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The share of a literal in a sum of inequalities.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FarkasTerm {
    /// The literal, which is true in the conflict.
    pub lit: Lit,
    /// Selects one of the two inequalities of an equation. For other literals it is the side that they bound.
    pub side: Sign,
    /// The positive multiplier.
    pub coefficient: Rational,
}

/// The side from which an inequality bounds the linear form `p` of its atom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sign {
    /// `p - c >= 0`, or `p - c > 0`.
    Positive,
    /// `c - p >= 0`, or `c - p > 0`.
    Negative,
}

/// An inequality `0 <= form`, or `0 < form`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Inequality {
    /// The linear form. Its monomials are not casts: an integer represents itself among reals.
    pub form: LinearPoly,
    /// Whether zero is excluded.
    pub is_strict: bool,
}

/// Terms that equalities connect although they differ. An integer represents its cast, and numerals are equal if their
/// values are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CongruenceProof {
    /// The equalities. They form a forest. A congruence edge comes after those that its arguments need.
    pub edges: Box<[CongruenceEdge]>,
    /// Two terms that the edges connect.
    pub apart: (Term, Term),
    /// The literal of the conflict that says that the two differ, or `None` if they are different numerals, true and
    /// false, or made by different constructors.
    pub distinct: Option<Lit>,
}

/// Terms of datatypes, each of which is part of the one before. Such a cycle is impossible: values of datatypes are
/// finite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CycleProof {
    /// The equalities, as for a [`CongruenceProof`].
    pub edges: Box<[CongruenceEdge]>,
    /// Applications of constructors. Each has an argument that the edges connect with the next one, and the last with
    /// the first.
    pub cycle: Box<[Term]>,
}

/// An equality in a congruence proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CongruenceEdge {
    /// The left side.
    pub left: Term,
    /// The right side.
    pub right: Term,
    /// Why they are equal.
    pub why: EdgeRule,
}

/// Why two terms are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeRule {
    /// A literal of the conflict says so. The literal of a predicate says that it equals a truth value.
    Literal(Lit),
    /// They are applications of one function to arguments that are equal, by earlier edges.
    Congruence,
    /// They are arguments at one position of two applications of a constructor, which are equal by earlier edges.
    Injection(Term, Term),
    /// One is a selector or tester whose argument equals an application of a constructor, by earlier edges, and the
    /// other one is its value there.
    Reduction {
        /// The selector or tester.
        operator: Term,
        /// The application of the constructor.
        made: Term,
    },
}

/// The edges that lead from one term to the other, in order, each with whether it is traversed from right to left.
/// `None` if the terms are not connected. Takes time in the number of all edges.
fn path(edges: &[CongruenceEdge], from: Term, to: Term) -> Option<Vec<(usize, bool)>> {
    let mut neighbours: FxHashMap<Term, Vec<(usize, bool)>> = FxHashMap::default();
    for (index, edge) in edges.iter().enumerate() {
        neighbours.entry(edge.left).or_default().push((index, false));
        neighbours.entry(edge.right).or_default().push((index, true));
    }
    let end = |(index, is_reversed): (usize, bool)| {
        let edge = &edges[index];
        if is_reversed { edge.left } else { edge.right }
    };
    let start = |(index, is_reversed): (usize, bool)| end((index, !is_reversed));
    let mut reached: FxHashMap<Term, Option<(usize, bool)>> = FxHashMap::from_iter([(from, None)]);
    let mut open = vec![from];
    while let Some(term) = open.pop() {
        if term == to {
            break;
        }
        for &step in neighbours.get(&term).into_iter().flatten() {
            if let std::collections::hash_map::Entry::Vacant(place) = reached.entry(end(step)) {
                place.insert(Some(step));
                open.push(end(step));
            }
        }
    }
    let mut path = Vec::new();
    let mut step = *reached.get(&to)?;
    while let Some(last) = step {
        path.push(last);
        step = reached[&start(last)];
    }
    path.reverse();
    Some(path)
}

/// A linear form with integer coefficients over integers that the conflict confines to an interval without integers.
/// The form is the sum of the forms of its terms, each times its multiplier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IntegerRefutation {
    /// The terms.
    pub terms: Box<[IntegerTerm]>,
}

/// A multiple in an [`IntegerRefutation`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IntegerTerm {
    /// A form without constant; its monomials are not casts.
    pub form: LinearPoly,
    /// Its multiplier.
    pub multiplier: Rational,
    /// The literal of the conflict that says `form >= l` for some number.
    pub lower: Lit,
    /// The literal of the conflict that says `form <= u` for some number.
    pub upper: Lit,
}

/// A formula that clauses of the proof may come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assertion {
    /// The part.
    pub part: Part,
    /// The formula as it was given to the solver.
    pub formula: Term,
    /// The processed formula: normal, without operators that the theories do not support, without defined symbols,
    /// possibly with fresh symbols.
    pub image: Term,
}

/// A symbol that an assertion defines by an equation, and that was replaced everywhere. See [`Proof::definitions`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Definition {
    /// The part of the assertion.
    pub part: Part,
    /// The assertion, as it was given to the solver.
    pub formula: Term,
    /// The symbol.
    pub symbol: Term,
    /// The term that it equals. It may mention symbols defined in later rounds.
    pub definition: Term,
    /// The batch of formulas asserted together. With earlier definitions in place of their symbols, the formula has the
    /// equation as a conjunct.
    pub batch: u32,
    /// The round of the batch in which the symbol was replaced.
    pub round: u32,
}

/// A refutation of the assertions and assumptions. See the module documentation.
#[derive(Clone, Debug)]
pub struct Proof {
    steps: Vec<Step>,
    formulas: FxHashMap<Var, Term>,
    origins: Vec<(Term, Term)>,
    definitions: Vec<Definition>,
    assertions: Vec<Assertion>,
    assumptions: Vec<Assertion>,
}

impl Proof {
    /// A proof from its steps, the formulas of the variables by number, and the origins of fresh symbols.
    pub fn new(steps: Vec<Step>, formulas: Vec<Term>, origins: Vec<(Term, Term)>) -> Proof {
        let formulas = formulas.into_iter().enumerate();
        let formulas = formulas.map(|(index, formula)| (Var::from_index(index), formula)).collect();
        Proof {
            steps,
            formulas,
            origins,
            definitions: Vec::new(),
            assertions: Vec::new(),
            assumptions: Vec::new(),
        }
    }

    /// The steps. Premises come before conclusions, and the last one is the empty clause.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The proof with other steps over the same variables.
    pub fn with_steps(self, steps: Vec<Step>) -> Proof {
        Proof { steps, ..self }
    }

    /// The proof with other numbers for the parts.
    pub fn with_parts(mut self, number: impl Fn(Part) -> Part) -> Proof {
        for step in &mut self.steps {
            if let Rule::Assertion(part) | Rule::Assumption(part) = &mut step.rule {
                *part = number(*part);
            }
        }
        for assertion in self.assertions.iter_mut().chain(&mut self.assumptions) {
            assertion.part = number(assertion.part);
        }
        for definition in &mut self.definitions {
            definition.part = number(definition.part);
        }
        self
    }

    /// A step by its number.
    pub fn step(&self, StepId(number): StepId) -> &Step {
        &self.steps[number as usize]
    }

    /// The formula of a variable of the proof: an atom, or the formula of a gate. It may mention fresh symbols. For
    /// atoms made by theories it may be the negation of a normal atom, or equate an integer with a fraction.
    pub fn formula(&self, var: Var) -> Term {
        self.formulas[&var]
    }

    /// The origins of fresh symbols: each may mention earlier symbols. Substitute them, the last one first, before
    /// showing terms to users.
    pub fn origins(&self) -> &[(Term, Term)] {
        &self.origins
    }

    /// The symbols that were replaced by their definitions, in the order of rounds; they do not occur in clauses. A
    /// definition mentions neither its own symbol nor earlier ones. Under all definitions, each assertion and
    /// assumption is equivalent to its image.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The proof with other definitions.
    pub fn with_definitions(self, definitions: Vec<Definition>) -> Proof {
        Proof { definitions, ..self }
    }

    /// The assertions of the parts that occur in the proof, and those that its definitions come from.
    pub fn assertions(&self) -> &[Assertion] {
        &self.assertions
    }

    /// The assumptions that occur in the proof.
    pub fn assumptions(&self) -> &[Assertion] {
        &self.assumptions
    }

    /// The atom or gate of a literal, without a negation, and whether the literal affirms it.
    pub fn atom(&self, store: &TermStore, lit: Lit) -> (Term, bool) {
        let (atom, holds) = store.literal(self.formula(lit.var()));
        (atom, holds == lit.is_positive())
    }

    /// The literal as a formula.
    pub fn literal(&self, store: &TermStore, lit: Lit) -> Term {
        let (atom, holds) = self.atom(store, lit);
        store.signed(atom, holds)
    }

    /// The inequality of a literal in a sum; see [`Inequality::read`].
    pub fn inequality(&self, store: &TermStore, lit: Lit, side: Sign) -> Option<Inequality> {
        let (atom, holds) = self.atom(store, lit);
        Inequality::read(store, atom, holds, side)
    }
}

impl Inequality {
    /// The inequality of an atom or its negation in a sum, bounding the form of the atom from this side:
    ///
    /// ```text
    /// p <= c          0 <= c - p        negative
    /// p < c           0 < c - p         negative
    /// not (p <= c)    0 < p - c         positive; among integers 0 <= p - c - 1
    /// not (p < c)     0 <= p - c        positive
    /// p = c           0 <= p - c, or 0 <= c - p
    /// ```
    ///
    /// `None` if there is no inequality on this side.
    pub fn read(store: &TermStore, atom: Term, holds: bool, side: Sign) -> Option<Self> {
        let (op, &[left, right]) = store.view(atom) else { return None };
        if !store.sort_of(left).is_arithmetic() {
            return None;
        }
        let (natural, is_strict) = match (op, holds) {
            (Op::Le, _) => (if holds { Sign::Negative } else { Sign::Positive }, !holds),
            (Op::Lt, _) => (if holds { Sign::Negative } else { Sign::Positive }, holds),
            (Op::Eq, true) => (side, false),
            _ => return None,
        };
        if natural != side {
            return None;
        }
        let mut form = without_casts(store, left);
        form.add_scaled(&without_casts(store, right), &-Rational::ONE);
        if side == Sign::Negative {
            form.scale(&-Rational::ONE);
        }
        if is_strict && store.sort_of(left) == Sort::INT {
            form.add_constant(&-Rational::ONE);
            return Some(Inequality { form, is_strict: false });
        }
        Some(Inequality { form, is_strict })
    }
}

/// The polynomial of a number, over monomials that are not casts.
pub(crate) fn without_casts(store: &TermStore, number: Term) -> LinearPoly {
    let poly = LinearPoly::from_term(store, number);
    let terms = poly.terms().iter().map(|(term, factor)| (without_cast(store, *term), factor.clone()));
    LinearPoly::from_pairs(terms.collect(), poly.constant().clone())
}

/// The argument of a cast, or the term itself if it is not a cast.
pub(crate) fn without_cast(store: &TermStore, term: Term) -> Term {
    match store.view(term) {
        (Op::ToReal, &[inner]) => inner,
        _ => term,
    }
}
