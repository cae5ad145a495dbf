//! The incremental solver for formulas: booleans, linear arithmetic over reals and integers, functions and declared
//! sorts.
//!
//! A formula passes these stages, each in its own file:
//!
//! ```text
//! normalise            the store's normal form
//! equations            symbols that are defined by equations are replaced     equations/
//! units                literals decide members of what comes with them      units.rs
//! purify               ite, div, mod and the like become fresh symbols with definitions
//! clauses              gates and atoms                                     cnf.rs
//! search               CDCL modulo the theories                            sat/, theory/combination.rs
//! ```
//!
//! The theory that owns an atom defines its meaning (`theory/component.rs`). When the search has paused, a theory may
//! state lemmas about new terms; they pass the stages like formulas.
//!
//! Frames are those of the search. Definitions of fresh symbols and gates always hold, so they are added to the search
//! outside of all frames; the stages cache them and do not add them twice. The search must decide only the atoms and
//! gates that are currently relevant (`relevance.rs`).

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Assignment, Term, TermStore};
use shofar_run::{Limits, Reason};

use crate::cnf::{Clauses, Cnf};
use crate::equations::{Equations, Solved, Taken};
use crate::interpolate::{self, Interpolator, Options};
use crate::model;
use crate::proof::extract::Extraction;
use crate::proof::{self, Assertion, Definition, Part, Proof};
use crate::purify::{Purified, Purifier, Unsupported};
use crate::relevance::{Relevance, Scope};
use crate::renewal::{Earlier, History, Renewal};
use crate::sat::{self, Lit, Origin, Outcome, Var};
use crate::theory::combination::Combination;
use crate::theory::component::{Component, TermLemma, Terms};
use crate::{theory, units};

/// The conflict budget of [`Solver::minimize_core`] for one assumption.
const CORE_CONFLICTS: u64 = 1000;

/// A formula with all its symbols replaced by terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The formula, as written or normal.
    pub formula: Term,
    /// The symbols, each with its replacement.
    pub arguments: Vec<(Term, Term)>,
}

impl Instance {
    /// The instance as a term, as written.
    pub fn term(&self, store: &TermStore) -> Term {
        store.substitute(self.formula, &self.arguments.iter().copied().collect())
    }
}

/// An incremental solver over one store.
pub struct Solver<'a> {
    store: &'a TermStore,
    purifier: Purifier<'a>,
    cnf: Cnf<'a>,
    search: sat::Solver<Combination>,
    equations: Equations<'a>,
    /// A frame for each frame of the search, and one for the last query while `in_query` holds.
    relevance: Relevance,
    /// The results of [`Solver::prepare`].
    prepared: FxHashMap<Term, Term>,
    /// Boolean variables and constants, with their variables in the search.
    booleans: Vec<(Term, Var)>,
    /// The assumptions of the last query, as formulas and as literals.
    assumptions: Vec<(Assertion, Lit)>,
    /// The assertions and their definitions, and the lengths of both when each frame was opened; only if proofs are
    /// logged.
    asserted: Vec<Assertion>,
    defined: Vec<Definition>,
    before: Vec<(usize, usize)>,
    /// The number of batches of formulas so far.
    batches: u32,
    /// The clauses that theories stated over formulas. They hold for good.
    stated: FxHashSet<Box<[Lit]>>,
    /// Whether the last query was unsatisfiable.
    is_refuted: bool,
    /// The literals of the core of the last query, if it was unsatisfiable.
    core: Vec<Lit>,
    /// Whether nothing has changed since the last query.
    in_query: bool,
    /// The seed, for solvers that replace this one.
    seed: u64,
    makes_theories: Option<MakeTheories<'a>>,
    /// The history, from which a cluttered solver is rebuilt.
    history: History,
}

/// Makes the theories of a solver with other than the standard ones.
type MakeTheories<'a> = Arc<dyn Fn() -> Vec<Box<dyn Component>> + Send + Sync + 'a>;

impl<'a> Solver<'a> {
    /// A solver without assertions.
    pub fn new(store: &'a TermStore) -> Self {
        Self::made_of(store, theory::standard(), None)
    }

    /// A solver without assertions, with congruence and the given theories: those of [`theory::standard`], which define
    /// the accepted sorts and operators, and possibly more. They are made again when the solver renews itself.
    pub fn with_theories(
        store: &'a TermStore,
        theories: impl Fn() -> Vec<Box<dyn Component>> + Send + Sync + 'a,
    ) -> Self {
        Self::made_of(store, theories(), Some(Arc::new(theories)))
    }

    fn made_of(
        store: &'a TermStore,
        theories: Vec<Box<dyn Component>>,
        makes_theories: Option<MakeTheories<'a>>,
    ) -> Self {
        let mut search = sat::Solver::with_theory(Combination::new(theories), 0);
        search.allow_partial_models();
        Solver {
            store,
            purifier: Purifier::new(store),
            cnf: Cnf::new(store),
            search,
            equations: Equations::new(store),
            relevance: Relevance::default(),
            prepared: FxHashMap::default(),
            booleans: Vec::new(),
            assumptions: Vec::new(),
            asserted: Vec::new(),
            defined: Vec::new(),
            before: Vec::new(),
            batches: 0,
            stated: FxHashSet::default(),
            is_refuted: false,
            core: Vec::new(),
            in_query: false,
            seed: 0,
            makes_theories,
            history: History::default(),
        }
    }

    /// As [`new`](Self::new), with proofs of unsatisfiable queries: see [`proof`](Self::proof).
    pub fn with_proofs(store: &'a TermStore) -> Self {
        Solver::new(store).logging_proofs()
    }

    /// Makes a solver without assertions log [proofs](Self::proof).
    pub fn logging_proofs(mut self) -> Self {
        self.search.log_proofs();
        self.search.theory_mut().log_proofs();
        self.equations.log_proofs();
        self
    }

    /// Sets the seed. It ranks the atoms that have not yet taken part in a conflict. The seed of a new solver is 0: the
    /// oldest come first. Answers do not depend on it; models, cores, proofs and the time do.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.search.set_seed(seed);
        self.seed = seed;
        self
    }

    /// Opens a frame.
    pub fn push(&mut self) {
        self.end_query();
        self.search.push();
        self.relevance.push();
        self.equations.push();
        self.before.push((self.asserted.len(), self.defined.len()));
        self.history.push();
    }

    /// Removes everything asserted since the innermost frame was opened. Does nothing without an open frame.
    pub fn pop(&mut self) {
        self.end_query();
        if self.search.depth() > 0 {
            self.search.pop();
            self.end_frame();
            if self.equations.pop() {
                self.prepared.clear();
            }
            let (asserted, defined) = self.before.pop().unwrap_or_default();
            self.asserted.truncate(asserted);
            self.defined.truncate(defined);
            self.history.pop();
        }
    }

    /// Asserts a formula, as written or normal, in the innermost open frame.
    pub fn assert(&mut self, formula: Term) -> Result<(), Unsupported> {
        self.assert_in(formula, Part::default())
    }

    /// As [`assert`](Self::assert), and assigns the formula to a part, for proofs. A formula already asserted in
    /// another part may count for that one.
    pub fn assert_in(&mut self, formula: Term, part: Part) -> Result<(), Unsupported> {
        self.end_query();
        let before = self.search.num_vars();
        let image = self.prepare(formula)?;
        if self.search.logs_proofs() {
            self.asserted.push(Assertion { part, formula, image });
        }
        self.assert_image(image, part);
        self.history.one(formula, part, self.search.num_vars() - before);
        Ok(())
    }

    fn assert_image(&mut self, image: Term, part: Part) {
        let (cnf, mut sink) = self.translation(Scope::Frame, Origin::Assertion(part.0));
        cnf.assert(image, &mut sink);
        self.define_atoms();
    }

    /// Asserts all formulas, as [`assert`](Self::assert) does, but uses that they come together: if one of them defines
    /// a new symbol by an equation, the symbol is replaced in the others and in everything asserted later.
    pub fn assert_all(&mut self, formulas: &[Term]) -> Result<(), Unsupported> {
        let formulas: Vec<(Term, Part)> =
            formulas.iter().map(|&formula| (formula, Part::default())).collect();
        self.assert_all_in(&formulas)
    }

    /// As [`assert_all`](Self::assert_all), and assigns the formulas to parts, for proofs. A symbol is replaced in all
    /// parts, whichever defines it: to interpolate between parts, assert formulas [one by one](Self::assert_in).
    pub fn assert_all_in(&mut self, formulas: &[(Term, Part)]) -> Result<(), Unsupported> {
        if formulas.is_empty() {
            return Ok(());
        }
        let before = self.search.num_vars();
        let result = self.assert_batch(formulas);
        self.history.batch(formulas, self.search.num_vars() - before, result);
        result
    }

    fn assert_batch(&mut self, formulas: &[(Term, Part)]) -> Result<(), Unsupported> {
        let Solved { conjuncts, rounds } =
            self.solve_equations(formulas.iter().map(|&(formula, _)| formula), &[]);
        if self.search.logs_proofs() {
            self.log_definitions(formulas, &rounds);
            return self.assert_rests(formulas, conjuncts);
        }
        self.assert_conjuncts(conjuncts)
    }

    /// As [`assert_all`](Self::assert_all) of the formulas and of the instances. An instance is built after symbols of
    /// the formulas were replaced, so it is traversed once and not twice.
    pub fn assert_instances(&mut self, formulas: &[Term], instances: &[Instance]) -> Result<(), Unsupported> {
        if self.search.logs_proofs() {
            let made = instances.iter().map(|instance| instance.term(self.store));
            let all: Vec<Term> = formulas.iter().copied().chain(made).collect();
            return self.assert_all(&all);
        }
        let before = self.search.num_vars();
        let Solved { conjuncts, .. } = self.solve_equations(formulas.iter().copied(), instances);
        let result = self.assert_conjuncts(conjuncts);
        self.history.instances(formulas, instances, self.search.num_vars() - before, result);
        result
    }

    /// Replaces symbols that formulas and instances define.
    fn solve_equations(&mut self, formulas: impl Iterator<Item = Term>, instances: &[Instance]) -> Solved {
        self.end_query();
        let normal: Vec<Term> =
            formulas.map(|formula| self.equations.apply(self.store.normalize(formula))).collect();
        let (theory, cnf) = (self.search.theory(), &self.cnf);
        let is_new = |symbol: Term| theory.is_new(symbol) && cnf.known(symbol).is_none();
        self.prepared.clear();
        self.equations.solve(&normal, instances, is_new)
    }

    /// Asserts the conjuncts that remain after replacing symbols.
    fn assert_conjuncts(&mut self, conjuncts: Vec<(usize, Term)>) -> Result<(), Unsupported> {
        for conjunct in units::propagate(self.store, conjuncts.iter().map(|&(_, conjunct)| conjunct)) {
            let image = self.purify(conjunct)?;
            self.assert_image(image, Part::default());
        }
        Ok(())
    }

    fn log_definitions(&mut self, formulas: &[(Term, Part)], rounds: &[Vec<Taken>]) {
        for (round, taken) in rounds.iter().enumerate() {
            self.defined.extend(taken.iter().map(|&Taken { symbol, definition, source }| {
                let (formula, part) = formulas[source];
                Definition { part, formula, symbol, definition, batch: self.batches, round: round as u32 }
            }));
        }
        self.batches += 1;
    }

    /// For proofs, asserts the formulas that remain after replacing symbols: each has one image. An unsupported formula
    /// may still define symbols, so it is logged, and later formulas are asserted.
    fn assert_rests(
        &mut self,
        formulas: &[(Term, Part)],
        conjuncts: Vec<(usize, Term)>,
    ) -> Result<(), Unsupported> {
        let mut rests: Vec<Vec<Term>> = vec![Vec::new(); formulas.len()];
        conjuncts.into_iter().for_each(|(source, conjunct)| rests[source].push(conjunct));
        let mut result = Ok(());
        for (&(formula, part), rest) in std::iter::zip(formulas, rests) {
            let rest = self.store.and_of(rest);
            let prepared = self.purify(rest);
            self.asserted.push(Assertion { part, formula, image: prepared.unwrap_or(rest) });
            match prepared {
                Ok(image) => self.assert_image(image, part),
                Err(unsupported) => result = result.and(Err(unsupported)),
            }
        }
        result
    }

    /// Whether the asserted formulas and the assumptions can be true together.
    pub fn check(&mut self, assumptions: &[Term], limits: &Limits<'_>) -> Result<Outcome, Unsupported> {
        let assumptions: Vec<(Term, Part)> =
            assumptions.iter().map(|&term| (term, Part::default())).collect();
        self.check_in(&assumptions, limits)
    }

    /// As [`check`](Self::check), and assigns the assumptions to parts, for proofs. Among assumptions with the same
    /// literal, the part of the first counts.
    pub fn check_in(
        &mut self,
        assumptions: &[(Term, Part)],
        limits: &Limits<'_>,
    ) -> Result<Outcome, Unsupported> {
        self.end_query();
        if self.history.is_cluttered(self.search.num_vars(), self.search.logs_proofs()) {
            self.renew();
        }
        self.relevance.push();
        self.in_query = true;
        for &(formula, part) in assumptions {
            let image = self.prepare(formula)?;
            let (cnf, mut sink) = self.translation(Scope::Frame, Origin::Assertion(part.0));
            let literal = cnf.literal(image, &mut sink);
            self.define_atoms();
            self.assumptions.push((Assertion { part, formula, image }, literal));
        }
        let literals: Vec<Lit> = self.assumptions.iter().map(|&(_, literal)| literal).collect();
        let outcome = self.search_under(&literals, limits);
        self.core.extend_from_slice(self.search.core());
        self.is_refuted = outcome == Outcome::Unsat;
        tracing::trace!(assumptions = literals.len(), ?outcome, "query");
        Ok(outcome)
    }

    /// Rebuilds the stages from the current assertions (`renewal.rs`).
    fn renew(&mut self) {
        let theories = self.makes_theories.as_ref().map_or_else(theory::standard, |make| make());
        let mut fresh = Solver::made_of(self.store, theories, self.makes_theories.clone());
        if self.search.logs_proofs() {
            fresh = fresh.logging_proofs();
        }
        fresh = fresh.with_seed(self.seed);
        if self.history.replay(&mut fresh).is_err() {
            return self.history.give_up();
        }
        let counted = Earlier {
            search: self.statistics(),
            theories: self.theory_statistics(),
            renewals: self.history.earlier().renewals,
        };
        fresh.history.succeed(&self.history, counted);
        *self = fresh;
    }

    /// Sets when the solver rebuilds itself, for tests: see [`Renewal`].
    pub fn set_renewal(&mut self, renewal: Renewal) {
        self.history.set_renewal(renewal);
    }

    /// After `Unsat`, if the solver was made [with proofs](Self::with_proofs): the proof. Debug builds check it.
    pub fn proof(&self) -> Option<Proof> {
        if !self.in_query || !self.is_refuted {
            return None;
        }
        let extraction = Extraction {
            store: self.store,
            cnf: &self.cnf,
            theory: self.search.theory(),
            origins: self.purifier.origins(),
            definitions: &self.defined,
            assertions: &self.asserted,
            assumptions: &self.assumptions,
        };
        let proof = extraction.proof(self.search.refutation()?);
        if cfg!(debug_assertions)
            && let Err(fault) = proof::check(self.store, &proof)
        {
            assert!(fault.may_hold, "{fault}");
        }
        Some(proof)
    }

    /// After `Unsat`, if the solver was made [with proofs](Self::with_proofs): interpolants between the parts of
    /// assertions and assumptions. The interpolator owns the proof, so the solver can answer other queries meanwhile.
    pub fn interpolator(&self, options: Options) -> Result<Interpolator<'a>, interpolate::Error> {
        let proof = self.proof().ok_or(interpolate::Error::NoRefutation)?;
        let mut parts: BTreeMap<Part, Vec<Term>> = BTreeMap::new();
        for assertion in self.asserted.iter().chain(self.assumptions.iter().map(|(assumed, _)| assumed)) {
            parts.entry(assertion.part).or_default().push(assertion.formula);
        }
        Interpolator::new(self.store, proof, parts.into_iter().collect(), options)
    }

    /// After `Sat`: values for the free symbols of the given formulas, and functions for their functions, that make all
    /// assertions and assumptions true. Division by zero gets total functions. Symbols that do not matter have the
    /// default value of their sort, and truth values that the search did not need are false.
    pub fn model(&self, formulas: &[Term]) -> Assignment {
        let theories = self.search.theory().model();
        let defined = self.equations.definitions(formulas);
        let all: Vec<Term> =
            formulas.iter().copied().chain(defined.iter().map(|&(_, definition)| definition)).collect();
        let truth = |var: Var| self.search.value(var).unwrap_or(false);
        let mut model = model::model(self.store, &all, &self.booleans, &theories, truth);
        for (symbol, definition) in defined {
            let value = self.store.eval(definition, &model).expect("the model is total");
            model.set(symbol, value);
        }
        model
    }

    /// After `Unsat`: assumptions that cannot be true together with the assertions. Among assumptions with the same
    /// literal, it contains the first.
    pub fn core(&self) -> Vec<Term> {
        let mut failed: FxHashSet<Lit> = self.core.iter().copied().collect();
        let assumptions = self.assumptions.iter().filter(|(_, literal)| failed.remove(literal));
        assumptions.map(|&(assumption, _)| assumption.formula).collect()
    }

    /// After `Unsat`: shrinks the core by omitting one assumption after the other and querying again. An assumption
    /// stays if the others have a model, or if a thousand conflicts do not decide; in the end no single one can be
    /// omitted, except for undecided ones. If the limits interrupt it, the result is still a core.
    pub fn minimize_core(&mut self, limits: &Limits<'_>) {
        // The first ones, which stay, keep their levels from query to query.
        let mut kept = 0;
        while kept < self.core.len() {
            let mut fewer = self.core.clone();
            fewer.remove(kept);
            let conflicts = limits.conflicts.map_or(CORE_CONFLICTS, |limit| limit.min(CORE_CONFLICTS));
            match self.search_under(&fewer, &Limits { conflicts: Some(conflicts), ..*limits }) {
                Outcome::Unsat => {
                    let smaller: FxHashSet<Lit> = self.search.core().iter().copied().collect();
                    kept = self.core[..kept].iter().filter(|literal| smaller.contains(literal)).count();
                    self.core.retain(|literal| smaller.contains(literal));
                }
                Outcome::Sat | Outcome::Unknown(Reason::Budget | Reason::Incomplete) => kept += 1,
                Outcome::Unknown(_) => return,
            }
        }
    }

    /// The counters of the search.
    pub fn statistics(&self) -> sat::Statistics {
        self.history.earlier().search + *self.search.statistics()
    }

    /// The counters of the theories, by name.
    fn theory_statistics(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.search.theory().statistics();
        for (name, count) in &mut counters {
            let earlier = self.history.earlier().theories.iter().filter(|(other, _)| other == name);
            *count += earlier.map(|(_, count)| count).sum::<u64>();
        }
        counters
    }

    /// All counters, by name: the search, the simplex kernel, and current sizes.
    pub fn all_statistics(&self) -> Vec<(&'static str, u64)> {
        let sat::Statistics {
            queries,
            kept_assumptions,
            decisions,
            propagations,
            conflicts,
            restarts,
            learnt,
            learnt_literals,
            minimized_literals,
            deleted,
            collections,
            theory_checks,
            theory_propagations,
            theory_explanations,
            theory_conflicts,
            theory_lemmas,
        } = self.statistics();
        let mut all = vec![
            ("queries", queries),
            ("kept-assumptions", kept_assumptions),
            ("decisions", decisions),
            ("propagations", propagations),
            ("conflicts", conflicts),
            ("restarts", restarts),
            ("learnt-clauses", learnt),
            ("learnt-literals", learnt_literals),
            ("minimized-literals", minimized_literals),
            ("deleted-clauses", deleted),
            ("collections", collections),
            ("theory-checks", theory_checks),
            ("theory-propagations", theory_propagations),
            ("theory-explanations", theory_explanations),
            ("theory-conflicts", theory_conflicts),
            ("theory-lemmas", theory_lemmas),
            ("renewals", self.history.earlier().renewals),
            ("variables", self.search.num_vars() as u64),
            ("clauses", self.search.num_clauses() as u64),
            ("redundant-clauses", self.search.num_redundant() as u64),
            ("terms", self.store.len() as u64),
        ];
        all.extend(self.theory_statistics());
        all
    }

    fn search_under(&mut self, assumptions: &[Lit], limits: &Limits<'_>) -> Outcome {
        // Atoms decided only for the theory need not be decided any more.
        for atom in self.search.theory_mut().start_query() {
            if !self.relevance.is_relevant(atom) {
                self.search.set_decision(atom, false);
            }
        }
        let mut outcome = self.search.solve_within(assumptions, limits);
        while outcome == Outcome::Unknown(Reason::Incomplete) && self.search.has_paused() {
            if !self.state_lemmas() {
                break;
            }
            self.add_shortcuts();
            outcome = self.search.resume(assumptions, limits);
        }
        outcome
    }

    /// Asserts the lemmas of theories over formulas for good. Returns `false` if a lemma is not supported: its theory
    /// cannot continue.
    fn state_lemmas(&mut self) -> bool {
        for TermLemma { literals, certificate } in self.search.theory_mut().take_lemmas(self.store) {
            let mut clause = Vec::with_capacity(literals.len());
            for formula in literals {
                let Ok(image) = self.purify(formula) else { return false };
                let (cnf, mut sink) = self.translation(Scope::Frame, Origin::Definition);
                clause.push(cnf.literal(image, &mut sink));
                self.define_atoms();
            }
            let is_news = self.stated.insert(clause.clone().into_boxed_slice());
            if is_news {
                self.search.add_permanent_clause_from(&clause, Origin::Lemma(certificate));
            }
        }
        true
    }

    /// Adds the equalities that the search lacks as atoms (`theory/shortcuts.rs`), and makes it decide them first.
    fn add_shortcuts(&mut self) {
        let pairs = self.search.theory_mut().take_shortcuts(self.store);
        if pairs.is_empty() {
            return;
        }
        self.search.backtrack_fully();
        let occurrences = self.search.logs_proofs().then(|| self.occurrences());
        let mut promoted = Vec::with_capacity(pairs.len());
        for (left, right) in pairs {
            let equality = self.store.eq(left, right);
            if self.store.is_connective(equality) || self.store.args(equality).is_empty() {
                continue;
            }
            // Interpolants can use a literal only if one part has both of its sides.
            let part_knows_both = |parts: &FxHashMap<Term, FxHashSet<Part>>| {
                let (left, right) = (parts.get(&left)?, parts.get(&right)?);
                (!left.is_disjoint(right)).then_some(())
            };
            if occurrences.as_ref().is_some_and(|parts| part_knows_both(parts).is_none()) {
                continue;
            }
            let (cnf, mut sink) = self.translation(Scope::Frame, Origin::Definition);
            let var = cnf.literal(equality, &mut sink).var();
            self.define_atoms();
            self.search.theory_mut().set_shortcut(var);
            promoted.push(var);
        }
        self.search.promote(&promoted);
    }

    /// The parts in which terms occur.
    fn occurrences(&self) -> FxHashMap<Term, FxHashSet<Part>> {
        let mut parts: FxHashMap<Term, FxHashSet<Part>> = FxHashMap::default();
        for assertion in self.asserted.iter().chain(self.assumptions.iter().map(|(assumed, _)| assumed)) {
            for term in self.store.subterms(&[assertion.image]) {
                parts.entry(term).or_default().insert(assertion.part);
            }
        }
        parts
    }

    /// Removes the assumptions of the last query.
    fn end_query(&mut self) {
        if std::mem::take(&mut self.in_query) {
            self.assumptions.clear();
            self.core.clear();
            self.is_refuted = false;
            self.end_frame();
        }
    }

    fn end_frame(&mut self) {
        let search = &mut self.search;
        self.relevance.pop(|var| search.set_decision(var, false));
    }

    /// As [`Solver::translate`], cached for each formula.
    fn prepare(&mut self, formula: Term) -> Result<Term, Unsupported> {
        if let Some(&prepared) = self.prepared.get(&formula) {
            return Ok(prepared);
        }
        let prepared = self.translate(formula)?;
        self.prepared.insert(formula, prepared);
        Ok(prepared)
    }

    /// The formula in the language of clauses.
    fn translate(&mut self, formula: Term) -> Result<Term, Unsupported> {
        let normal = self.equations.apply(self.store.normalize(formula));
        self.purify(normal)
    }

    /// A normal formula, or one whose terms are not normal, without defined symbols in the language of clauses. Asserts the definitions of its fresh
    /// symbols for good.
    fn purify(&mut self, normal: Term) -> Result<Term, Unsupported> {
        if self.store.is_basic(normal) {
            return Ok(normal);
        }
        let Purified { formula, definitions } = self.purifier.purify(normal)?;
        let applications = self.purifier.take_applications();
        self.tell(&applications);
        for definition in definitions {
            let (cnf, mut sink) = self.translation(Scope::Good, Origin::Definition);
            cnf.assert(definition, &mut sink);
        }
        self.define_atoms();
        Ok(formula)
    }

    /// The translation to clauses, and a sink that adds them to the search with this scope and origin.
    fn translation(&mut self, scope: Scope, origin: Origin) -> (&mut Cnf<'a>, Sink<'_>) {
        let Self { search, cnf, relevance, .. } = self;
        (cnf, Sink { search, relevance, scope, origin })
    }

    /// Defines the atoms that the translation has met.
    fn define_atoms(&mut self) {
        self.tell(&[]);
    }

    /// Adds applications, and the atoms that the translation has met, to the theories.
    fn tell(&mut self, applications: &[Term]) {
        if applications.is_empty() && !self.cnf.has_new_atoms() {
            return;
        }
        let Self { store, search, cnf, relevance, booleans, .. } = self;
        search.extend(|theory, answers| {
            let mut terms = Terms::new(store, cnf, relevance, answers);
            for &application in applications {
                theory.node(application, &mut terms);
            }
            while let Some((atom, var)) = terms.next_atom() {
                if store.args(atom).is_empty() {
                    booleans.push((atom, var));
                } else {
                    theory.define(var, atom, &mut terms);
                }
            }
        });
    }
}

/// Adds clauses to the search.
struct Sink<'s> {
    search: &'s mut sat::Solver<Combination>,
    relevance: &'s mut Relevance,
    /// How long the clauses hold.
    scope: Scope,
    /// The origin of the clauses.
    origin: Origin,
}

impl Clauses for Sink<'_> {
    fn new_var(&mut self) -> Var {
        let var = self.search.new_var();
        self.search.set_decision(var, false);
        var
    }

    fn define(&mut self, clause: &[Lit]) {
        self.search.add_permanent_clause_from(clause, Origin::Definition);
    }

    fn assert(&mut self, clause: &[Lit]) {
        match self.scope {
            Scope::Good => self.search.add_permanent_clause_from(clause, self.origin),
            Scope::Frame => self.search.add_clause_from(clause, self.origin),
        }
    }

    fn require(&mut self, var: Var) -> bool {
        let is_news = self.relevance.require(var, self.scope);
        if is_news {
            self.search.set_decision(var, true);
        }
        is_news
    }
}
