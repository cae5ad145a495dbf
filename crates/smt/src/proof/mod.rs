//! Proofs: why what was asserted and assumed has no model.
//!
//! A [`Proof`] is a list of clauses that ends in the empty one, each with the [`Rule`] that it holds by: it was asserted
//! or assumed, it says what a gate or a fresh symbol means, a theory vouches for it with an argument that can be
//! checked, or it follows from earlier ones by resolution. It contains what the refutation needs, and nothing else.
//!
//! ```text
//! search             logs chains and leaves                               sat/log.rs
//! theories           store the argument of each clause when they make it  theory/certificate.rs
//! extraction         trims, renumbers, says in terms what literals mean   extract.rs
//! checker            replays every step                                   check.rs, definitions.rs
//! comparison         shows that formulas entail what became of them       meaning/
//! Alethe             prints the proof for other checkers                  alethe/
//! ```
//!
//! - Y1: the premises of a step come before it, and the last step is the empty clause.
//! - Y2: every variable of a clause has a formula. Activation literals of frames do not occur.
//! - Y3: the formula of an atom of arithmetic is normal, or the negation of a normal atom, so that the literals of an
//!   argument have coprime integer coefficients, and integer atoms integer constants. That an integer is equal to a
//!   fraction is said as it stands, not as `false`: arguments by congruence are about the two sides.
//!
//! **Definitions.** Where an assertion is an equation `x = t`, or has it as a conjunct, the symbol may have been replaced
//! in all that came with it or later (`equations/`). The proof is one about what came of that; so it lists these
//! [definitions](Proof::definitions), and the checker verifies that the assertions entail them. An assertion is as good as
//! its image only together with those that define symbols for it, which may be in other parts.
//!
//! Proofs speak about terms and literals only, so that they outlive what the solver does next.

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

/// A part of what was asserted. Each assertion and each assumption belongs to one; the user of the solver numbers them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Part(pub u32);

/// A clause with its justification. Literals are those of the search; [`Proof::formula`] says what they mean.
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
    /// It holds by the definition of a gate or of a fresh symbol: it is valid once gates are read as their formulas
    /// and fresh symbols as their origins.
    Definition,
    /// The theory vouches for it: the negations of its literals contradict each other.
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
    /// [`Proof::inequality`] says which inequality a literal stands for.
    Farkas(Box<[FarkasTerm]>),
    /// Equalities of the conflict and congruences connect two terms that differ.
    Congruence(CongruenceProof),
    /// A linear form is an integer, but the conflict confines it to an interval without one.
    Integer(IntegerRefutation),
    /// The literals compare one linear form with numbers, and no number satisfies all of them.
    Split,
    /// The clause is an instance of a rule of a theory.
    Axiom(Axiom),
}

/// An instance of a rule of a theory: a clause that is valid by what it says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axiom {
    /// The rule.
    pub rule: AxiomRule,
    /// The terms that it is an instance for, as the rule has them.
    pub terms: Box<[Term]>,
}

/// A rule by which clauses are valid in a theory. This is all that the checker needs to know of a theory, and
/// interpolation takes the clause for one of the side that may speak of it.
#[derive(Clone, Copy)]
pub struct AxiomRule {
    /// Its name, which no other rule has.
    pub name: &'static str,
    /// Whether a clause, atoms with whether they are affirmed, is an instance for the terms.
    pub check: AxiomCheck,
}

/// Checks whether a clause is an instance of a rule for terms; if not, says why.
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

/// The part of a literal in a sum of inequalities.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FarkasTerm {
    /// The literal, which is true in the conflict.
    pub lit: Lit,
    /// Which of the two inequalities of an equation is meant. Of other literals it says what they say anyway.
    pub side: Sign,
    /// The positive multiplier.
    pub coefficient: Rational,
}

/// From which side an inequality bounds the linear form `p` of its atom.
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
    /// The linear form. Its monomials are not casts: an integer stands for itself among reals.
    pub form: LinearPoly,
    /// Whether zero is excluded.
    pub is_strict: bool,
}

/// Terms that are connected by equalities, but differ. An integer stands for its cast, and numerals are the same if
/// their values are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CongruenceProof {
    /// The equalities. They form a forest, and one by congruence comes after those that its arguments need.
    pub edges: Box<[CongruenceEdge]>,
    /// Two terms that the edges connect.
    pub apart: (Term, Term),
    /// The literal of the conflict that denies that they are equal; none if they are different numerals, or true and
    /// false.
    pub distinct: Option<Lit>,
}

/// An equality in an argument by congruence.
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
    /// A literal of the conflict says so. The literal of a predicate says that it is equal to a truth value.
    Literal(Lit),
    /// They are applications of one function to arguments that are equal, by earlier edges.
    Congruence,
}

impl CongruenceProof {
    /// The edges that lead from one term to the other, in order, with whether they are walked from right to left.
    /// `None` if the terms are not connected. Takes time in the number of all edges.
    pub fn path(&self, from: Term, to: Term) -> Option<Vec<(usize, bool)>> {
        let mut neighbours: FxHashMap<Term, Vec<(usize, bool)>> = FxHashMap::default();
        for (index, edge) in self.edges.iter().enumerate() {
            neighbours.entry(edge.left).or_default().push((index, false));
            neighbours.entry(edge.right).or_default().push((index, true));
        }
        let end = |(index, is_reversed): (usize, bool)| {
            let edge = &self.edges[index];
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
}

/// A linear form that is an integer, being one with integer coefficients over integers, and that the conflict confines to
/// an interval without integers: the sum of the forms of its terms, each times its multiplier.
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

/// A formula that a clause of the proof may come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assertion {
    /// The part.
    pub part: Part,
    /// The formula as it was given to the solver.
    pub formula: Term,
    /// What became of it: normal, without what the theories do not know and without defined symbols, perhaps over fresh
    /// symbols.
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
    /// What it is equal to. Symbols may be in it that are defined in later rounds.
    pub definition: Term,
    /// The batch of formulas that came together, and the round in which it was replaced. With earlier definitions in the
    /// place of their symbols, the formula has the equation as a conjunct.
    pub batch: u32,
    /// The round; see the batch.
    pub round: u32,
}

/// A refutation of what was asserted and assumed. See the module documentation.
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
    /// A proof from its steps, the formulas of the variables by number, and what fresh symbols stand for.
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

    /// What a variable of the proof means: an atom, or the formula of a gate. It may mention fresh symbols, and for
    /// atoms that theories made it may be the negation of a normal atom, or say that an integer is equal to a fraction.
    pub fn formula(&self, var: Var) -> Term {
        self.formulas[&var]
    }

    /// What fresh symbols stand for: each term may mention symbols before it. To be substituted, the last one first, in
    /// what is shown to users.
    pub fn origins(&self) -> &[(Term, Term)] {
        &self.origins
    }

    /// What symbols are by assertions, in the order of rounds: symbols that were replaced, and of which the clauses
    /// know nothing. A definition mentions neither its own symbol nor those before it. With all of them, each assertion
    /// and assumption means what its image means.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The proof with other definitions.
    pub fn with_definitions(self, definitions: Vec<Definition>) -> Proof {
        Proof { definitions, ..self }
    }

    /// What was asserted in the parts that occur in the proof, and what its definitions are from.
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

    /// The inequality that a literal stands for in a sum; see [`Inequality::read`].
    pub fn inequality(&self, store: &TermStore, lit: Lit, side: Sign) -> Option<Inequality> {
        let (atom, holds) = self.atom(store, lit);
        Inequality::read(store, atom, holds, side)
    }
}

impl Inequality {
    /// The inequality that an atom or its negation stands for in a sum, bounding the form of the atom from this side:
    ///
    /// ```text
    /// p <= c          0 <= c - p        negative
    /// p < c           0 < c - p         negative
    /// not (p <= c)    0 < p - c         positive; among integers 0 <= p - c - 1
    /// not (p < c)     0 <= p - c        positive
    /// p = c           0 <= p - c, or 0 <= c - p
    /// ```
    ///
    /// `None` if it stands for no inequality on this side.
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

/// The integer that is cast, or the term itself.
pub(crate) fn without_cast(store: &TermStore, term: Term) -> Term {
    match store.view(term) {
        (Op::ToReal, &[inner]) => inner,
        _ => term,
    }
}
