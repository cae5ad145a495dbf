//! Systems of constrained Horn clauses.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use shofar_cooperate::{driver, termination};
use shofar_engines::Run;
use shofar_horn::check::{Validity, checked};
use shofar_horn::{Context, Format, HornSystem, Info, ParseError, Position, PredicateId, Unread};
use shofar_horn::{declared_names, parse_all_within, parse_in, parse_within, witness};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;

use crate::answer::{Outcome, Witness};
use crate::error::{CheckError, Error, ForeignError};
use crate::options::{Limits, Options};
use crate::sort::Sort;
use crate::termination::Termination;
use crate::terms::{Term, Terms};

/// A system of constrained Horn clauses, with the terms that it consists of. A clone is the same system.
#[derive(Clone)]
pub struct System(Arc<Inner>);

struct Inner {
    id: SystemId,
    terms: Terms,
    system: HornSystem,
    /// What the names of the clauses mean, for texts that use them; `None` until it is needed for a system that was not
    /// read.
    environment: Mutex<Option<Environment>>,
}

/// Tells systems apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SystemId(u64);

impl SystemId {
    /// An id that no other system has.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        SystemId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A predicate of a [`System`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Predicate {
    pub(crate) system: SystemId,
    pub(crate) id: PredicateId,
}

impl System {
    /// Reads a system in the format of the CHC competition or in Z3's fixedpoint format. The text asks one question. `name` is
    /// what messages call the text, usually the name of its file.
    pub fn parse(name: &str, text: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        Self::parse_with(&Terms::new(), name, text)
    }

    /// Like [`parse`](System::parse), with terms that other systems may have as well. Terms of one can then be used with the
    /// other.
    pub fn parse_with(terms: &Terms, name: &str, text: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        let mut environment = Environment::new(terms.store());
        let system = parse_in(terms.store(), &mut environment, name, text)?;
        Ok(Self::new(terms.clone(), SystemId::new(), system, Some(environment)))
    }

    /// Reads a script that may ask several questions: a system for each, in their order, all with the same terms.
    pub fn parse_all(name: &str, text: impl AsRef<[u8]>) -> Result<Vec<Self>, ParseError> {
        Self::read_all(name, text.as_ref(), &Limits::new()).map_err(Unread::mistake)
    }

    /// Like [`parse`](System::parse), within limits. The error is [`Error::Parse`], or [`Error::Stop`] if a limit is reached.
    pub fn parse_within(name: &str, text: impl AsRef<[u8]>, limits: &Limits<'_>) -> Result<Self, Error> {
        let terms = Terms::new();
        let mut environment = Environment::new(terms.store());
        let context = Context { store: terms.store(), limits: limits.start() };
        let system = parse_within(&context, &mut environment, name, text.as_ref()).map_err(unread)?;
        Ok(Self::new(terms, SystemId::new(), system, Some(environment)))
    }

    /// Like [`parse_all`](System::parse_all), within limits. The error is [`Error::Parse`], or [`Error::Stop`] if a limit is
    /// reached.
    pub fn parse_all_within(
        name: &str,
        text: impl AsRef<[u8]>,
        limits: &Limits<'_>,
    ) -> Result<Vec<Self>, Error> {
        Self::read_all(name, text.as_ref(), limits).map_err(unread)
    }

    fn read_all(name: &str, text: &[u8], limits: &Limits<'_>) -> Result<Vec<Self>, Unread> {
        let terms = Terms::new();
        let systems =
            parse_all_within(&Context { store: terms.store(), limits: limits.start() }, name, text)?;
        let system = |system| Self::new(terms.clone(), SystemId::new(), system, None);
        Ok(systems.into_iter().map(system).collect())
    }

    pub(crate) fn new(
        terms: Terms,
        id: SystemId,
        system: HornSystem,
        environment: Option<Environment>,
    ) -> Self {
        System(Arc::new(Inner { id, terms, system, environment: Mutex::new(environment) }))
    }

    pub(crate) fn store(&self) -> &TermStore {
        self.0.terms.store()
    }

    pub(crate) fn inner(&self) -> &HornSystem {
        &self.0.system
    }

    pub(crate) fn predicate_of(&self, id: PredicateId) -> Predicate {
        Predicate { system: self.0.id, id }
    }

    /// The id of a predicate that must be one of this system.
    pub(crate) fn own(&self, predicate: Predicate) -> Result<PredicateId, ForeignError> {
        if predicate.system == self.0.id { Ok(predicate.id) } else { Err(ForeignError::PREDICATE) }
    }

    /// The home of the terms in the clauses.
    pub fn terms(&self) -> &Terms {
        &self.0.terms
    }

    /// The predicates, in the order of their declaration.
    pub fn predicates(&self) -> impl ExactSizeIterator<Item = Predicate> + '_ {
        self.inner().predicates().map(|(id, _)| self.predicate_of(id))
    }

    /// The predicate with this name.
    pub fn predicate(&self, name: &str) -> Option<Predicate> {
        self.predicates().find(|predicate| self.inner().name(self.store(), predicate.id) == name)
    }

    /// The name of a predicate.
    pub fn name(&self, predicate: Predicate) -> Result<&str, ForeignError> {
        Ok(self.inner().name(self.store(), self.own(predicate)?))
    }

    /// The sorts of the arguments of a predicate.
    pub fn sorts(&self, predicate: Predicate) -> Result<Vec<Sort>, ForeignError> {
        let sorts = self.inner().sorts(self.store(), self.own(predicate)?);
        Ok(sorts.iter().map(|&sort| Sort::of(self.terms(), sort)).collect())
    }

    /// The clauses, in the order of the text or of their making.
    pub fn clauses(&self) -> impl ExactSizeIterator<Item = Clause<'_>> {
        (0..self.inner().clauses.len()).map(|index| Clause { system: self, index })
    }

    /// Size, theories, shape, and the competition track that the system belongs to.
    pub fn info(&self) -> Info {
        self.inner().info(self.store())
    }

    /// The system as text.
    pub fn to_text(&self, format: Format) -> String {
        self.inner().to_text(self.store(), format)
    }

    /// Writes the system as text.
    pub fn write(&self, format: Format, mut out: impl io::Write) -> io::Result<()> {
        self.inner().write(self.store(), format, &mut out)
    }

    /// Decides the system. The answer comes with a witness that the checker has accepted; without one it is
    /// [`Verdict::Unknown`](crate::Verdict::Unknown) with the reason.
    pub fn solve(&self, options: &Options<'_>) -> Outcome {
        let run = Run::new(self.store())
            .with_limits(options.limits.start())
            .with_seed(options.seed)
            .with_events(options.events);
        Outcome::of(self, driver::solve(self.inner(), &options.driver, &run))
    }

    /// Decides whether all runs of linear clauses end. The answer comes with a certificate that was checked; without one it is
    /// [`Termination::Unknown`] with the reason. The options are those of the engines that answer questions of safety.
    ///
    /// ```
    /// # use shofar::{Options, System, Termination};
    /// let text = "(declare-fun loop (Int) Bool)
    ///             (assert (forall ((x Int)) (loop x)))
    ///             (assert (forall ((x Int)) (=> (and (loop x) (> x 0)) (loop (- x 1)))))";
    /// let answer = System::parse("countdown.smt2", text)?.terminates(&Options::new());
    /// let Termination::Terminating(certificate) = answer else { panic!() };
    /// assert_eq!(certificate.kind(), "ranking");
    /// assert!(certificate.to_string().contains("(define-fun |rank 1 of loop| ((x Int)) Int x)"));
    /// # Ok::<(), shofar::ParseError>(())
    /// ```
    pub fn terminates(&self, options: &Options<'_>) -> Termination {
        let run = Run::new(self.store()).with_limits(options.limits.start()).with_seed(options.seed);
        Termination::of(self, termination::decide(self.inner(), &options.driver, &run))
    }

    /// Reads a witness of this system, as [`Witness::to_text`] writes it in the formats `Text` and `Json`, or a model of another
    /// solver. [`check`](System::check) tells whether it proves anything.
    pub fn parse_witness(&self, name: &str, text: impl AsRef<[u8]>) -> Result<Witness, ParseError> {
        self.read_witness(name, text.as_ref(), &Limits::new()).map_err(Unread::mistake)
    }

    /// Like [`parse_witness`](System::parse_witness), within limits. The error is [`Error::Parse`], or [`Error::Stop`] if a
    /// limit is reached.
    pub fn parse_witness_within(
        &self,
        name: &str,
        text: impl AsRef<[u8]>,
        limits: &Limits<'_>,
    ) -> Result<Witness, Error> {
        self.read_witness(name, text.as_ref(), limits).map_err(unread)
    }

    fn read_witness(&self, name: &str, text: &[u8], limits: &Limits<'_>) -> Result<Witness, Unread> {
        let context = Context { store: self.store(), limits: limits.start() };
        let mut environment = self.0.environment.lock().unwrap_or_else(PoisonError::into_inner);
        let environment = match &mut *environment {
            Some(environment) => environment,
            none => none.insert(declared_names(&context, self.inner(), name)?),
        };
        // The definitions of a model are taken back: they are no part of the clauses.
        environment.push();
        let read = witness::read_within(&context, environment, self.inner(), name, text);
        environment.pop();
        Ok(Witness::of(self, read?))
    }

    /// Whether a witness proves its answer: the checker looks at every clause or step again, and the SMT solver has to give
    /// proofs. [`solve`](System::solve) has done that for its own witnesses.
    pub fn check(&self, witness: &Witness, limits: &Limits<'_>) -> Result<(), CheckError> {
        if witness.system().0.id != self.0.id {
            return Err(CheckError::Foreign(ForeignError::WITNESS));
        }
        let context = Context { store: self.store(), limits: limits.start() };
        match checked(&context, self.inner(), witness.inner()) {
            Ok(_) | Err(Validity::Valid) => Ok(()),
            Err(Validity::Invalid(fault)) => {
                Err(CheckError::Invalid(fault.display(self.store(), self.inner()).to_string()))
            }
            Err(Validity::Unknown(stop)) => Err(CheckError::Unknown(stop)),
        }
    }
}

fn unread(error: Unread) -> Error {
    match error {
        Unread::Wrong(error) => Error::Parse(error),
        Unread::Interrupted(reason) => Error::Stop(reason.into()),
    }
}

/// Whether both are the same system; systems that look the same may be different.
impl PartialEq for System {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for System {}

/// The clauses in the format of the CHC competition.
impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(Format::Smtlib))
    }
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (predicates, clauses) = (self.predicates().len(), self.clauses().len());
        write!(f, "System({predicates} predicates, {clauses} clauses)")
    }
}

/// A clause of a [`System`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clause<'s> {
    system: &'s System,
    index: usize,
}

impl<'s> Clause<'s> {
    pub(crate) fn of(system: &'s System, index: usize) -> Self {
        Clause { system, index }
    }

    fn inner(&self) -> &'s shofar_horn::Clause {
        &self.system.inner().clauses[self.index]
    }

    /// Its position among the clauses of the system.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The name that the clause was given.
    pub fn name(&self) -> Option<&'s str> {
        self.inner().name.map(|name| self.system.store().name(name))
    }

    /// Where the clause stands in the text.
    pub fn position(&self) -> Position {
        self.inner().position
    }

    /// The variables, for all of whose values the clause holds.
    pub fn variables(&self) -> Vec<Term> {
        self.system.terms().terms(&self.inner().variables)
    }

    /// The atoms of the body.
    pub fn body(&self) -> Vec<Atom> {
        self.inner().body.iter().map(|atom| Atom::of(self.system, atom)).collect()
    }

    /// The part of the body without predicates.
    pub fn constraint(&self) -> Term {
        self.system.terms().term(self.inner().constraint)
    }

    /// The head; `None` for a query, which says that its body never holds.
    pub fn head(&self) -> Option<Atom> {
        self.inner().head.as_ref().map(|atom| Atom::of(self.system, atom))
    }
}

/// The clause in the format of the CHC competition.
impl fmt::Display for Clause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.system.inner().clause_text(self.system.store(), self.index))
    }
}

/// A predicate applied to arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Atom {
    /// The predicate.
    pub predicate: Predicate,
    /// The arguments.
    pub arguments: Vec<Term>,
}

impl Atom {
    fn of(system: &System, atom: &shofar_horn::Atom) -> Self {
        Atom { predicate: system.predicate_of(atom.predicate), arguments: system.terms().terms(&atom.args) }
    }
}
