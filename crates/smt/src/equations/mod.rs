//! Elimination of symbols that asserted equations define.
//!
//! Unrollings of programs are full of asserted equations such as `x = y + 1` and `p = not q`. If nothing else is known
//! about the symbol on one side, the other side can replace it; a model later gives it the value of its *definition*.
//! So the search has fewer atoms, and the simplex kernel fewer rows.
//!
//! ```text
//! solve(conjuncts):
//!     repeat, while there are new definitions:
//!         candidates = the small equations among the conjuncts: first the linear ones, then all others
//!         in rounds, while there are new definitions:
//!             choose candidates x = t such that no chosen x is in a chosen t
//!             replace each x by its t in the other candidates and in the definitions so far
//!         replace each x by its t in all other conjuncts
//! ```
//!
//! Each round halves a chain of equations, so few rounds are needed. All other conjuncts, which are far more, are
//! traversed once, or once more if that produced new equations. Only equations that make nothing bigger are taken: with
//! at most two summands, and between truth values with a small other side.
//!
//! Frames: a definition ends with the frame of its equation. Formulas changed by it belong to the same frame, or to
//! inner ones, so they end as well.
//!
//! - Q1: no defined symbol is in a definition, or known to the search.
//! - Q2: symbols in the definitions of finished batches are not defined later.
//!
//! By Q1 and Q2 one pass replaces all defined symbols. The method is that of the preprocessors of Yices and Z3.

mod linear;

use std::cmp::Reverse;

use rustc_hash::FxHashSet;
use shofar_logic::definitions::{Definition, Round, few_symbols};
use shofar_logic::{Op, Sort, Substitution, Substitutor, Term, TermStore};

use self::linear::LinearEquation;
use crate::solver::Instance;

/// The greatest number of rounds for one batch of formulas.
const MOST_ROUNDS: usize = 8;
/// The greatest number of summands, other than the symbol and a number, in an equation that defines a symbol.
const MOST_SUMMANDS: usize = 2;
/// The greatest number of subterms of a formula that defines a truth value.
const MOST_SUBTERMS: usize = 64;

/// The definitions in force.
pub(crate) struct Equations<'a> {
    store: &'a TermStore,
    substitution: Substitution,
    /// The defined symbols, in the order of the frames.
    symbols: Vec<Term>,
    /// The number of them defined by finished batches whose symbols are kept.
    finished: usize,
    /// Symbols that must not be replaced (Q2), in the order of the frames.
    kept: Vec<Term>,
    is_kept: FxHashSet<Term>,
    /// The lengths of both lists when the frames were opened.
    frames: Vec<(usize, usize)>,
    /// Whether definitions replace symbols round by round everywhere, as proofs are replayed. Otherwise they all do at
    /// once if the result is the same, which is faster.
    in_rounds: bool,
}

/// The result for a batch of formulas.
pub(crate) struct Solved {
    /// The remaining conjuncts, each with the position of its formula in the batch, in this order.
    pub(crate) conjuncts: Vec<(usize, Term)>,
    /// For proofs, the definitions as they were taken: those of earlier rounds still contain symbols of later ones.
    pub(crate) rounds: Vec<Vec<Taken>>,
}

/// A definition that was taken.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) symbol: Term,
    pub(crate) definition: Term,
    /// The position in the batch of the formula that contains the equation as a conjunct.
    pub(crate) source: usize,
}

impl<'a> Equations<'a> {
    pub(crate) fn new(store: &'a TermStore) -> Self {
        Equations {
            store,
            substitution: Substitution::new(),
            symbols: Vec::new(),
            finished: 0,
            kept: Vec::new(),
            is_kept: FxHashSet::default(),
            frames: Vec::new(),
            in_rounds: false,
        }
    }

    /// Keeps the data that proofs need.
    pub(crate) fn log_proofs(&mut self) {
        self.in_rounds = true;
    }

    pub(crate) fn push(&mut self) {
        self.keep_symbols();
        self.frames.push((self.symbols.len(), self.kept.len()));
    }

    /// Ends the innermost frame. Returns whether definitions ended with it.
    pub(crate) fn pop(&mut self) -> bool {
        let Some((symbols, kept)) = self.frames.pop() else { return false };
        let is_news = symbols < self.symbols.len();
        for symbol in self.symbols.drain(symbols..) {
            self.substitution.remove(symbol);
        }
        for symbol in self.kept.drain(kept..) {
            self.is_kept.remove(&symbol);
        }
        self.finished = symbols;
        is_news
    }

    /// The defined symbols of formulas, with their definitions.
    pub(crate) fn definitions(&self, formulas: &[Term]) -> Vec<(Term, Term)> {
        if self.symbols.is_empty() {
            return Vec::new();
        }
        let mentioned = symbols(self.store, formulas).into_iter();
        mentioned.filter_map(|symbol| Some((symbol, self.substitution.get(symbol)?))).collect()
    }

    /// The normal formula with defined symbols replaced by their definitions.
    pub(crate) fn apply(&self, normal: Term) -> Term {
        if let Some(definition) = self.substitution.get(normal) {
            return definition;
        }
        if self.substitution.is_empty() || self.store.args(normal).is_empty() {
            return normal;
        }
        Substitutor::normal(self.store, &self.substitution).apply(normal)
    }

    /// Takes equations from normal formulas of the innermost frame that hold together and contain no defined symbol.
    /// The remaining formulas are equivalent to the given ones under the new definitions. Only `open` symbols, of which
    /// nothing else is known, are defined.
    ///
    /// Instances are built after the first definitions. Their positions follow those of the formulas.
    pub(crate) fn solve(
        &mut self,
        formulas: &[Term],
        instances: &[Instance],
        open: impl Fn(Term) -> bool,
    ) -> Solved {
        self.keep_symbols();
        let store = self.store;
        let mut conjuncts = conjuncts(store, formulas.iter().copied().enumerate().collect());
        let mut rounds: Vec<Vec<Taken>> = Vec::new();
        let first = self.symbols.len();
        for stage in 0..MOST_ROUNDS {
            // The other conjuncts no longer matter.
            if conjuncts.iter().any(|&(_, conjunct)| conjunct == Term::FALSE) {
                break;
            }
            if stage == 1 {
                let mut made = Vec::with_capacity(instances.len());
                for (source, instance) in std::iter::zip(formulas.len().., instances) {
                    made.push((source, self.instance(instance)));
                    if made.last().is_some_and(|&(_, formula)| formula == Term::FALSE) {
                        return Solved { conjuncts: vec![(source, Term::FALSE)], rounds };
                    }
                }
                conjuncts.extend(self::conjuncts(store, made));
            }
            let (defined, logged) = (self.symbols.len(), rounds.len());
            let mut equations: Vec<LinearEquation> = Vec::new();
            conjuncts.retain(|&(source, conjunct)| {
                let equation = LinearEquation::over_symbols(store, source, conjunct);
                equation.map(|equation| equations.push(equation)).is_none()
            });
            self.solve_linear(&mut equations, first, &mut rounds, &open);
            let (small, others): (Vec<_>, Vec<_>) =
                conjuncts.into_iter().partition(|&(_, conjunct)| is_candidate(store, conjunct));
            let mut candidates: Vec<_> = equations.iter().map(|equation| equation.write(store)).collect();
            candidates.extend(self.replace(small, defined, &rounds[logged..]));
            for _ in 0..MOST_ROUNDS {
                let Some(taken) = self.round(&mut candidates, first, &open) else { break };
                if self.in_rounds {
                    rounds.push(taken);
                }
            }
            conjuncts = candidates;
            conjuncts.extend(self.replace(others, defined, &rounds[logged..]));
            let are_all_there = stage > 0 || instances.is_empty();
            if self.symbols.len() == defined && are_all_there {
                break;
            }
        }
        conjuncts.sort_by_key(|&(source, _)| source);
        Solved { conjuncts, rounds }
    }

    /// Records the symbols in the definitions of finished batches. Many solvers answer only one query and do not need
    /// this.
    fn keep_symbols(&mut self) {
        let finished = std::mem::replace(&mut self.finished, self.symbols.len());
        if finished == self.symbols.len() {
            return;
        }
        let definitions = self.symbols[finished..].iter().filter_map(|&symbol| self.substitution.get(symbol));
        for symbol in symbols(self.store, &definitions.collect::<Vec<Term>>()) {
            if self.is_kept.insert(symbol) {
                self.kept.push(symbol);
            }
        }
    }

    /// An instance with symbols replaced by their definitions: those of its arguments, and those of its formula that no argument
    /// replaces, such as declared constants.
    fn instance(&self, instance: &Instance) -> Term {
        let store = self.store;
        let arguments = instance.arguments.iter();
        let mut replaced = self.substitution.clone();
        replaced.extend(arguments.map(|&(symbol, argument)| (symbol, self.apply(store.normalize(argument)))));
        Substitutor::normal(store, &replaced).apply(store.normalize(instance.formula))
    }

    /// Turns linear equations into definitions, and replaces the defined symbols in the other equations and in the
    /// batch's definitions, which are those of the symbols from `first` on.
    fn solve_linear(
        &mut self,
        equations: &mut Vec<LinearEquation>,
        first: usize,
        rounds: &mut Vec<Vec<Taken>>,
        open: impl Fn(Term) -> bool,
    ) {
        let store = self.store;
        let open = |symbol: Term| open(symbol) && !self.is_kept.contains(&symbol);
        let definitions = linear::solve(equations, open, |round| {
            if self.in_rounds {
                rounds.push(round.iter().map(|definition| definition.taken(store)).collect());
            }
        });
        let taken: Vec<Taken> = definitions.iter().map(|definition| definition.taken(store)).collect();
        self.define(&taken, first);
    }

    /// Turns candidates into definitions, and replaces the defined symbols in the other candidates and in the batch's
    /// definitions, which are those of the symbols from `first` on.
    fn round(
        &mut self,
        candidates: &mut Vec<(usize, Term)>,
        first: usize,
        open: impl Fn(Term) -> bool,
    ) -> Option<Vec<Taken>> {
        let store = self.store;
        // Truth values, numbers, and datatypes, whose selectors and testers then see constructors. Among several symbols
        // the youngest: it belongs to the latest step.
        let rank = |symbol: Term, summands: usize| {
            let sort = store.sort_of(symbol);
            let is_fit = summands <= MOST_SUMMANDS
                && (sort == Sort::BOOL || sort.is_arithmetic() || store.datatype(sort).is_some())
                && open(symbol)
                && !self.is_kept.contains(&symbol);
            is_fit.then_some(Reverse(symbol))
        };
        let mut round = Round::new(MOST_SUBTERMS);
        let mut taken = Vec::new();
        candidates.retain(|&(source, conjunct)| match round.take(store, conjunct, rank) {
            Some(Definition { symbol, definition }) => {
                taken.push(Taken { symbol, definition, source });
                false
            }
            None => true,
        });
        if taken.is_empty() {
            return None;
        }
        let mut substitutor = Substitutor::normal(store, round.definitions());
        let replaced = candidates.iter().map(|&(source, conjunct)| (source, substitutor.apply(conjunct)));
        *candidates = conjuncts(store, replaced.collect());
        self.define(&taken, first);
        Some(taken)
    }

    /// Adds definitions that do not mention the symbols they define, and replaces these symbols in the batch's earlier
    /// definitions, which are those of the symbols from `first` on.
    fn define(&mut self, taken: &[Taken], first: usize) {
        if taken.is_empty() {
            return;
        }
        if first < self.symbols.len() {
            let definitions = substitution(taken);
            let mut substitutor = Substitutor::normal(self.store, &definitions);
            for &symbol in &self.symbols[first..] {
                let definition = self.substitution.get(symbol).expect("it is defined");
                self.substitution.insert(symbol, substitutor.apply(definition));
            }
        }
        self.substitution.extend(taken.iter().map(|taken| (taken.symbol, taken.definition)));
        self.symbols.extend(taken.iter().map(|taken| taken.symbol));
    }

    /// Conjuncts in which the symbols defined from a position on are replaced by their definitions: at once, or in
    /// their rounds.
    fn replace(
        &self,
        conjuncts: Vec<(usize, Term)>,
        defined: usize,
        rounds: &[Vec<Taken>],
    ) -> Vec<(usize, Term)> {
        if self.symbols.len() == defined {
            return conjuncts;
        }
        let replace = |conjuncts: Vec<(usize, Term)>, substitution: &Substitution| {
            let mut substitutor = Substitutor::normal(self.store, substitution);
            let replaced =
                conjuncts.into_iter().map(|(source, conjunct)| (source, substitutor.apply(conjunct)));
            self::conjuncts(self.store, replaced.collect())
        };
        if !self.in_rounds {
            return replace(conjuncts, &self.substitution);
        }
        rounds.iter().fold(conjuncts, |conjuncts, taken| replace(conjuncts, &substitution(taken)))
    }
}

fn substitution(taken: &[Taken]) -> Substitution {
    taken.iter().map(|taken| (taken.symbol, taken.definition)).collect()
}

/// The conjuncts of formulas, each with the position of its formula in the batch, without `true` and without repetition
/// within a formula.
fn conjuncts(store: &TermStore, formulas: Vec<(usize, Term)>) -> Vec<(usize, Term)> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut open = formulas;
    open.reverse();
    while let Some((source, formula)) = open.pop() {
        match store.view(formula) {
            (Op::And, args) => open.extend(args.iter().rev().map(|&arg| (source, arg))),
            (Op::True, _) => {}
            _ if seen.insert((source, formula)) => found.push((source, formula)),
            _ => {}
        }
    }
    found
}

/// Whether a conjunct is a small equation, or says that a symbol is true or false. Comparisons and disjunctions are
/// not, and replacing symbols seldom makes them so.
fn is_candidate(store: &TermStore, conjunct: Term) -> bool {
    let (op, args) = store.view(conjunct);
    let is_equation = |formula: Term| store.op(formula) == Op::Eq || store.is_symbol(formula);
    let is_literal = if op == Op::Not { is_equation(args[0]) } else { is_equation(conjunct) };
    is_literal && few_symbols(store, conjunct, MOST_SUBTERMS).is_some()
}

/// The symbols of terms.
fn symbols(store: &TermStore, terms: &[Term]) -> Vec<Term> {
    let mentioned = store.symbols(terms);
    let constants = mentioned.funs.iter().filter_map(|&fun| store.apply(fun, &[]).ok());
    mentioned.vars.iter().copied().chain(constants).collect()
}
