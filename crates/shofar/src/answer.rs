//! Answers, and the witnesses that prove them.

use std::fmt;
use std::io;

use shofar_cooperate::driver;
use shofar_engines::Label;
use shofar_horn::witness;
use shofar_horn::witness::{Interpretation, WitnessFormat};
use shofar_run::Stop;

use crate::error::ForeignError;
use crate::system::{Clause, Predicate, System};
use crate::terms::Term;
use crate::value::Value;

/// An answer, and the engine that found it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The label of the engine that found the answer.
    pub engine: Option<Label>,
}

impl Outcome {
    pub(crate) fn of(system: &System, outcome: driver::Outcome) -> Self {
        let verdict = match outcome.verdict {
            driver::Verdict::Sat(inner) => Verdict::Sat(Model { system: system.clone(), inner }),
            driver::Verdict::Proved(inner) => Verdict::Proved(Induction { system: system.clone(), inner }),
            driver::Verdict::Saturated(inner) => {
                Verdict::Saturated(Saturation { system: system.clone(), inner })
            }
            driver::Verdict::Unsat(inner) => Verdict::Unsat(Refutation { system: system.clone(), inner }),
            driver::Verdict::Unknown(stop) => Verdict::Unknown(stop),
        };
        Outcome { verdict, engine: outcome.engine }
    }
}

/// The answer to whether clauses are satisfiable.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The clauses have this model.
    Sat(Model),
    /// The clauses have a model, by this proof. Only clauses over recursive datatypes get it.
    Proved(Induction),
    /// The clauses have a model, because these clauses are saturated. Only clauses over datatypes get it.
    Saturated(Saturation),
    /// The clauses have this refutation.
    Unsat(Refutation),
    /// Nothing is known, for this reason.
    Unknown(Stop),
}

impl Verdict {
    /// The answer in a word: `sat`, `unsat` or `unknown`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Sat(_) | Verdict::Proved(_) | Verdict::Saturated(_) => "sat",
            Verdict::Unsat(_) => "unsat",
            Verdict::Unknown(_) => "unknown",
        }
    }

    /// What proves the answer.
    pub fn witness(self) -> Option<Witness> {
        match self {
            Verdict::Sat(model) => Some(Witness::Model(model)),
            Verdict::Proved(proof) => Some(Witness::Induction(proof)),
            Verdict::Saturated(proof) => Some(Witness::Saturation(proof)),
            Verdict::Unsat(refutation) => Some(Witness::Refutation(refutation)),
            Verdict::Unknown(_) => None,
        }
    }
}

/// A model, a proof by induction, a saturation or a refutation: what proves an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Witness {
    /// For `sat`.
    Model(Model),
    /// For `sat`, where no formulas are a model.
    Induction(Induction),
    /// For `sat`, as well.
    Saturation(Saturation),
    /// For `unsat`.
    Refutation(Refutation),
}

impl Witness {
    pub(crate) fn of(system: &System, witness: witness::Witness) -> Self {
        let system = system.clone();
        match witness {
            witness::Witness::Model(inner) => Witness::Model(Model { system, inner }),
            witness::Witness::Induction(inner) => Witness::Induction(Induction { system, inner }),
            witness::Witness::Saturation(inner) => Witness::Saturation(Saturation { system, inner }),
            witness::Witness::Refutation(inner) => Witness::Refutation(Refutation { system, inner }),
        }
    }

    pub(crate) fn inner(&self) -> witness::Witness {
        match self {
            Witness::Model(model) => witness::Witness::Model(model.inner.clone()),
            Witness::Induction(proof) => witness::Witness::Induction(proof.inner.clone()),
            Witness::Saturation(proof) => witness::Witness::Saturation(proof.inner.clone()),
            Witness::Refutation(refutation) => witness::Witness::Refutation(refutation.inner.clone()),
        }
    }

    /// The system that the witness belongs to.
    pub fn system(&self) -> &System {
        match self {
            Witness::Model(model) => &model.system,
            Witness::Induction(proof) => &proof.system,
            Witness::Saturation(proof) => &proof.system,
            Witness::Refutation(refutation) => &refutation.system,
        }
    }

    /// The witness as text.
    pub fn to_text(&self, format: WitnessFormat) -> String {
        text(|out| self.write(format, out))
    }

    /// Writes the witness as text.
    pub fn write(&self, format: WitnessFormat, mut out: impl io::Write) -> io::Result<()> {
        let system = self.system();
        let (store, clauses) = (system.store(), system.inner());
        match self {
            Witness::Model(model) => model.inner.write(store, clauses, format, &mut out),
            Witness::Induction(proof) => proof.inner.write(store, clauses, format, &mut out),
            Witness::Saturation(proof) => proof.inner.write(store, clauses, format, &mut out),
            Witness::Refutation(refutation) => refutation.inner.write(store, clauses, format, &mut out),
        }
    }
}

/// Collects written text.
fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("writing to memory does not fail");
    String::from_utf8(out).expect("only text is written")
}

/// In the format `Text`.
impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(WitnessFormat::Text))
    }
}

impl From<Model> for Witness {
    fn from(model: Model) -> Self {
        Witness::Model(model)
    }
}

impl From<Refutation> for Witness {
    fn from(refutation: Refutation) -> Self {
        Witness::Refutation(refutation)
    }
}

/// A model of a system: a definition of every predicate. For a program's clauses, these are inductive invariants.
#[derive(Clone, PartialEq, Eq)]
pub struct Model {
    system: System,
    inner: witness::Model,
}

/// When a predicate holds.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Definition {
    /// Variables for the arguments.
    pub parameters: Vec<Term>,
    /// A formula over the parameters: the predicate holds where the formula is true.
    pub formula: Term,
}

impl Model {
    /// The system that the model belongs to.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The definition of a predicate.
    pub fn definition(&self, predicate: Predicate) -> Result<Definition, ForeignError> {
        let definition = self.inner.definition(self.system.own(predicate)?);
        let terms = self.system.terms();
        let formula = match definition.interpretation {
            Interpretation::Formula(formula) => terms.term(formula),
        };
        Ok(Definition { parameters: terms.terms(&definition.parameters), formula })
    }
}

/// In the format `Text`: a `define-fun` for each predicate.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (store, system) = (self.system.store(), self.system.inner());
        f.write_str(&text(|out| self.inner.write(store, system, WitnessFormat::Text, out)))
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model({self})")
    }
}

/// A proof that a system has a model: lemmas about several facts at a time that are true for all facts that the clauses
/// derive, by induction on their derivations. They contradict the bodies of all queries.
#[derive(Clone, PartialEq, Eq)]
pub struct Induction {
    system: System,
    inner: witness::Induction,
}

impl Induction {
    /// The system that the proof belongs to.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The lemmas, as texts of closed formulas in the syntax of SMT-LIB.
    pub fn lemmas(&self) -> impl ExactSizeIterator<Item = String> {
        let (store, system) = (self.system.store(), self.system.inner());
        self.inner.lemmas.iter().map(|lemma| store.display(lemma.to_formula(store, system)).to_string())
    }
}

/// In the format `Text`: each lemma with the numbers of its premises that are unfolded.
impl fmt::Display for Induction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (store, system) = (self.system.store(), self.system.inner());
        f.write_str(&text(|out| self.inner.write(store, system, WitnessFormat::Text, out)))
    }
}

impl fmt::Debug for Induction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Induction({self})")
    }
}

impl From<Induction> for Witness {
    fn from(proof: Induction) -> Self {
        Witness::Induction(proof)
    }
}

/// A proof that a system has a model: clauses without constraints that cover those of the system, and from which ordered
/// resolution derives nothing new.
#[derive(Clone, PartialEq, Eq)]
pub struct Saturation {
    system: System,
    inner: witness::Saturation,
}

impl Saturation {
    /// The system that the proof belongs to.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The clauses, as texts of closed formulas in the syntax of SMT-LIB.
    pub fn clauses(&self) -> impl ExactSizeIterator<Item = String> {
        let (store, system) = (self.system.store(), self.system.inner());
        self.inner.clauses.iter().map(|clause| store.display(clause.to_formula(store, system)).to_string())
    }
}

/// In the format `Text`: the order, and each clause with the number of its selected atom.
impl fmt::Display for Saturation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (store, system) = (self.system.store(), self.system.inner());
        f.write_str(&text(|out| self.inner.write(store, system, WitnessFormat::Text, out)))
    }
}

impl fmt::Debug for Saturation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Saturation({self})")
    }
}

impl From<Saturation> for Witness {
    fn from(proof: Saturation) -> Self {
        Witness::Saturation(proof)
    }
}

/// A refutation of a system: instances of clauses that derive `false`. For a program's clauses, this is the run that goes
/// wrong.
#[derive(Clone, PartialEq, Eq)]
pub struct Refutation {
    system: System,
    inner: witness::Refutation,
}

impl Refutation {
    /// The system that the refutation belongs to.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The steps. Every step comes after its premises, and the last one derives `false`, except in a refutation that was read and
    /// that [`System::check`] rejects.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = Step<'_>> {
        self.inner.steps.iter().map(|inner| Step { system: &self.system, inner })
    }
}

/// In the format `Text`: one numbered line for each step.
impl fmt::Display for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (store, system) = (self.system.store(), self.system.inner());
        f.write_str(&text(|out| self.inner.write(store, system, WitnessFormat::Text, out)))
    }
}

impl fmt::Debug for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Refutation({self})")
    }
}

/// A step of a [`Refutation`]: a clause with values for its variables.
#[derive(Clone, Copy, Debug)]
pub struct Step<'r> {
    system: &'r System,
    inner: &'r witness::Step,
}

impl<'r> Step<'r> {
    /// The clause.
    pub fn clause(&self) -> Clause<'r> {
        Clause::of(self.system, self.inner.clause)
    }

    /// The variables of the clause with their values.
    pub fn values(&self) -> Vec<(Term, Value)> {
        let values = Value::all(self.system.terms(), &self.inner.instantiation);
        self.clause().variables().into_iter().zip(values).collect()
    }

    /// The positions of the steps that derive the atoms of the body, in the order of the body.
    pub fn premises(&self) -> &'r [usize] {
        &self.inner.premises
    }

    /// What the step derives: a predicate and its arguments, or `None` for `false`.
    pub fn fact(&self) -> Option<(Predicate, Vec<Value>)> {
        let head = self.clause().head()?;
        Some((head.predicate, Value::all(self.system.terms(), &self.inner.fact)))
    }
}
