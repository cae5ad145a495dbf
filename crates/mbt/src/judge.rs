//! Judges of answers. None of them uses the solver under test.
//!
//! ```text
//! satisfiable       its model is evaluated, formula by formula, as they were written
//! contradictory     a fresh solver refutes it, and the proof checker replays the proof; and a search among small
//!                   assignments, which knows neither normal forms nor the solver, finds no model (explicit.rs)
//! ```
//!
//! All other claims reduce to these two: `p` implies `q` if `p` and `not q` are unsatisfiable, and values for variables
//! exist if the formula with all other symbols replaced by their values is satisfiable. If a formula with quantifiers
//! would have to be refuted, some of its instances are judged instead: values from models of the premise, spread by
//! random bounds. All other verdicts are complete, within the limits of the fresh solver.

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Assignment, Fun, Interpretation, Op, Sort, Substitution, Term, TermStore, Value};
use shofar_run::Limits;
use shofar_smt::proof::{self, Part, Proof};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::Random;
use std::time::{Duration, Instant};

use crate::explicit;

/// The number of models of a premise that are completed.
const SAMPLES: usize = 3;

/// The time limit of a fresh solver for one query.
const PATIENCE: Duration = Duration::from_secs(5);

/// A wrong answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its kind.
    pub kind: Kind,
    /// Its description.
    pub message: String,
}

/// The kind of a fault. Shrinking keeps it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A wrong model.
    Model,
    /// `Unsat` although there is a model.
    Unsat,
    /// A wrong core.
    Core,
    /// A wrong proof, or one of something else.
    Proof,
    /// `Unknown` without a reason, or late.
    Unknown,
    /// Wrong interpolants, or an unexpected error.
    Interpolant,
    /// A cube that is not a projection or implicant.
    Projection,
    /// A wrong elimination.
    Elimination,
    /// An impossible state of the solver, after calls that retract answers.
    State,
    /// A panic.
    Panic,
}

/// Judges the answers of solvers over one store.
pub(crate) struct Judge<'s> {
    store: &'s TermStore,
    random: Random,
}

/// The status of formulas.
#[derive(Clone, Debug)]
pub(crate) enum Judgement {
    /// They are unsatisfiable.
    Refuted,
    /// They have this model.
    Satisfied(Assignment),
    /// It is unknown.
    Undecided,
}

type Judged<T = ()> = Result<T, Fault>;

impl<'s> Judge<'s> {
    /// A judge whose samples depend on the seed.
    pub(crate) fn new(store: &'s TermStore, seed: u64) -> Self {
        Judge { store, random: Random::new(seed) }
    }

    /// Checks that the model satisfies all formulas.
    pub(crate) fn model(&self, formulas: &[Term], model: &Assignment) -> Judged {
        for &formula in formulas {
            match self.store.eval(formula, model) {
                Ok(Value::Bool(true)) => {}
                Ok(_) => return fault(Kind::Model, format!("{} is false", self.store.display(formula))),
                Err(error) => return fault(Kind::Model, error.display(self.store).to_string()),
            }
        }
        Ok(())
    }

    /// Decides formulas by a fresh solver.
    pub(crate) fn decide(&mut self, formulas: &[Term]) -> Judged<Judgement> {
        if let Some(model) = explicit::search(self.store, formulas, &mut self.random) {
            return Ok(Judgement::Satisfied(model));
        }
        let mut solver = Solver::with_proofs(self.store);
        for &formula in formulas {
            if solver.assert(formula).is_err() {
                return Ok(Judgement::Undecided);
            }
        }
        match solver.check(&[], &patience()) {
            Ok(Outcome::Unsat) => {
                let given: Vec<(Term, Part)> = formulas.iter().map(|&it| (it, Part::default())).collect();
                let Some(proof) = solver.proof() else {
                    return fault(Kind::Proof, "a fresh solver has no proof");
                };
                let is_shown = self.proof(&proof, &given, &[])?;
                Ok(if is_shown { Judgement::Refuted } else { Judgement::Undecided })
            }
            Ok(Outcome::Sat) => {
                let model = solver.model(formulas);
                self.model(formulas, &model)?;
                Ok(Judgement::Satisfied(model))
            }
            Ok(Outcome::Unknown(_)) | Err(_) => Ok(Judgement::Undecided),
        }
    }

    /// Checks that the proof is valid and uses only what was asserted and assumed. Returns whether the checker could
    /// show it: its comparison of formulas with their preprocessed form is incomplete.
    pub(crate) fn proof(
        &self,
        proof: &Proof,
        asserted: &[(Term, Part)],
        assumed: &[(Term, Part)],
    ) -> Judged<bool> {
        let is_shown = match proof::check(self.store, proof) {
            Ok(()) => true,
            Err(found) if found.may_hold => false,
            Err(found) => return fault(Kind::Proof, found.to_string()),
        };
        for (given, used, word) in
            [(asserted, proof.assertions(), "asserted"), (assumed, proof.assumptions(), "assumed")]
        {
            for assertion in used {
                if !given.contains(&(assertion.formula, assertion.part)) {
                    let formula = self.store.display(assertion.formula);
                    return fault(Kind::Proof, format!("{formula} of {:?} is not {word}", assertion.part));
                }
            }
        }
        Ok(is_shown)
    }

    /// Checks that formulas are unsatisfiable. Returns whether this was decided.
    pub(crate) fn refuted(&mut self, formulas: &[Term], kind: Kind, claim: &str) -> Judged<bool> {
        match self.decide(formulas)? {
            Judgement::Refuted => Ok(true),
            Judgement::Undecided => Ok(false),
            Judgement::Satisfied(model) => fault(kind, format!("{claim}: {}", self.tell(formulas, &model))),
        }
    }

    /// Checks that the premises imply the conclusion. Returns whether this was decided.
    pub(crate) fn implies(
        &mut self,
        premises: &[Term],
        conclusion: Term,
        kind: Kind,
        claim: &str,
    ) -> Judged<bool> {
        let negation = self.store.app(Op::Not, &[conclusion]).expect("conclusions are formulas");
        let formulas: Vec<Term> = premises.iter().copied().chain([negation]).collect();
        self.refuted(&formulas, kind, claim)
    }

    /// Checks that the cube implies `exists vars. formula`, by some models of the cube. Returns their number.
    pub(crate) fn implies_existence(
        &mut self,
        cube: &[Term],
        formula: Term,
        vars: &[Term],
        kind: Kind,
    ) -> Judged<usize> {
        let store = self.store;
        if has_open_terms(store, formula) {
            return Ok(0);
        }
        let mut terms = cube.to_vec();
        terms.push(formula);
        let symbols = store.subterms(&terms).into_iter().filter(|&term| store.is_symbol(term));
        let kept: Vec<Term> = symbols.filter(|term| !vars.contains(term)).collect();
        let mut judged = 0;
        for _ in 0..SAMPLES {
            let Some(model) = self.spread_model(cube, &terms, &kept)? else { break };
            let instance = self.instance(formula, &model, &kept);
            if let Judgement::Refuted = self.decide(&instance)? {
                let values = self.tell(&kept, &model);
                return fault(kind, format!("no values of the variables fit to {values}"));
            }
            judged += 1;
        }
        Ok(judged)
    }

    /// A model of formulas with values close to random ones, as far as the formulas permit.
    fn spread_model(
        &mut self,
        formulas: &[Term],
        terms: &[Term],
        symbols: &[Term],
    ) -> Judged<Option<Assignment>> {
        let store = self.store;
        let mut solver = Solver::new(store);
        if formulas.iter().any(|&formula| solver.assert(formula).is_err()) {
            return Ok(None);
        }
        let mut wishes: Vec<Term> = symbols
            .iter()
            .filter_map(|&symbol| match store.sort_of(symbol) {
                Sort::BOOL => Some(if self.random.below(2) == 0 { symbol } else { store.not(symbol) }),
                Sort::INT => Some(store.eq(symbol, store.int(self.random.between(-9, 9)))),
                Sort::REAL => {
                    let value = Rational::new(self.random.between(-19, 19).into(), Integer::from(2));
                    Some(store.eq(symbol, store.real(value)))
                }
                _ => None,
            })
            .collect();
        loop {
            match solver.check(&wishes, &patience()) {
                Ok(Outcome::Sat) => {
                    let model = solver.model(terms);
                    self.model(formulas, &model)?;
                    return Ok(Some(model));
                }
                Ok(Outcome::Unsat) if !wishes.is_empty() => {
                    let core = solver.core();
                    wishes.retain(|wish| !core.contains(wish));
                    if core.is_empty() {
                        return Ok(None);
                    }
                }
                _ => return Ok(None),
            }
        }
    }

    /// The formula with the model's values for symbols and functions. Further formulas make elements of declared sorts
    /// different.
    fn instance(&self, formula: Term, model: &Assignment, symbols: &[Term]) -> Vec<Term> {
        let store = self.store;
        let value = |&symbol: &Term| Some((symbol, store.value_to_term(model.get(symbol)?)));
        let values: Substitution = symbols.iter().filter_map(value).collect();
        let formula = store.substitute(formula, &values);
        let formula = store.rewrite(formula, &mut |op, args| match op {
            Op::Apply(fun) if !args.is_empty() => self.look_up(fun, args, model),
            _ => store.app(op, args).expect("what is rewritten was well-sorted"),
        });
        let mut elements: Vec<Term> = store.subterms(&[formula]);
        elements.retain(|&term| {
            store.array_parts(store.sort_of(term)).is_none()
                && store.term_to_value(term).is_some_and(|it| matches!(it, Value::Term(_)))
        });
        let mut formulas = vec![formula];
        for (at, &left) in elements.iter().enumerate() {
            for &right in &elements[at + 1..] {
                if store.sort_of(left) == store.sort_of(right) {
                    formulas.push(store.not(store.eq(left, right)));
                }
            }
        }
        formulas
    }

    /// The matching entry of a function's table, as a chain of cases.
    fn look_up(&self, fun: Fun, args: &[Term], model: &Assignment) -> Term {
        let store = self.store;
        let Some(Interpretation::Table { entries, default }) = model.function(fun) else {
            return store.apply(fun, args).expect("the arguments fit");
        };
        let range = store.fun_decl(fun).range;
        let default = default.clone().unwrap_or_else(|| store.default_value(range));
        let mut result = store.value_to_term(&default);
        let mut lines: Vec<_> = entries.iter().collect();
        lines.sort_by(|(left, _), (right, _)| {
            let mut orders =
                std::iter::zip(left.iter(), right.iter()).map(|(a, b)| store.compare_values(a, b));
            orders.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        for (line, value) in lines {
            let equations = std::iter::zip(args, line.iter());
            let equations = equations.map(|(&arg, value)| store.eq(arg, store.value_to_term(value)));
            result = store.ite(store.and_of(equations), store.value_to_term(value), result);
        }
        result
    }

    fn tell(&self, terms: &[Term], model: &Assignment) -> String {
        let store = self.store;
        let symbols = store.subterms(terms).into_iter().filter(|&term| store.is_symbol(term));
        let values = symbols.filter_map(|symbol| {
            Some(format!("{} = {}", store.display(symbol), store.display_value(model.get(symbol)?)))
        });
        values.collect::<Vec<String>>().join(", ")
    }
}

fn patience() -> Limits<'static> {
    Limits { deadline: Instant::now().checked_add(PATIENCE), ..Limits::default() }
}

/// A fault as an error.
pub(crate) fn fault<T>(kind: Kind, message: impl Into<String>) -> Judged<T> {
    Err(Fault { kind, message: message.into() })
}

/// Whether a divisor is zero or not constant, or a selector may meet another constructor.
fn has_open_terms(store: &TermStore, formula: Term) -> bool {
    store.subterms(&[formula]).into_iter().any(|term| match store.view(term) {
        (Op::RealDiv | Op::IntDiv | Op::Mod, args) => {
            args[1..].iter().any(|&arg| store.numeral(store.normalize(arg)).is_none_or(Rational::is_zero))
        }
        (Op::Selector { .. }, _) => true,
        _ => false,
    })
}
