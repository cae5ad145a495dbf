//! The solver for formulas: booleans and linear arithmetic over reals and integers, incremental.
//!
//! A formula goes through these stages, each in a file of its own:
//!
//! ```text
//! normalise            the store's normal form
//! purify               ite, div, mod and the like become fresh symbols with definitions
//! no equalities        p = c becomes p <= c and p >= c
//! clauses              gates and atoms                                     cnf.rs
//! search               CDCL, with linear arithmetic as its theory          sat/, theory/linear.rs
//! ```
//!
//! Frames are those of the search. Definitions of fresh symbols and gates hold in any case, so they go to the search
//! outside of all frames; the stages remember them and do not give them twice.

use rustc_hash::FxHashMap;
use shofar_logic::build::Normalizer;
use shofar_logic::number::Rational;
use shofar_logic::{Assignment, LinearPoly, Op, Sort, SortKind, Term, TermStore, Value};

use crate::cnf::{Clauses, Cnf};
use crate::purify::{Feature, Purified, Purifier, Unsupported};
use crate::sat::{self, Limits, Lit, Outcome, Var};
use crate::theory::arith;
use crate::theory::linear::{Comparison, LinearArithmetic};

/// An incremental solver over one store.
pub struct Solver<'a> {
    store: &'a TermStore,
    normalizer: Normalizer<'a>,
    purifier: Purifier<'a>,
    cnf: Cnf<'a>,
    search: sat::Solver<LinearArithmetic>,
    /// The numbers of arithmetic variables and constants.
    numbers: FxHashMap<Term, arith::Var>,
    /// Boolean variables and constants, with their variables in the search.
    booleans: Vec<(Term, Var)>,
    /// The assumptions of the last query, as formulas and as literals.
    assumptions: Vec<(Term, Lit)>,
}

impl<'a> Solver<'a> {
    /// A solver to which nothing is asserted.
    pub fn new(store: &'a TermStore) -> Self {
        Solver {
            store,
            normalizer: Normalizer::new(store),
            purifier: Purifier::new(store),
            cnf: Cnf::new(store),
            search: sat::Solver::with_theory(LinearArithmetic::default(), 0),
            numbers: FxHashMap::default(),
            booleans: Vec::new(),
            assumptions: Vec::new(),
        }
    }

    /// Opens a frame.
    pub fn push(&mut self) {
        self.search.push();
    }

    /// Takes back what was asserted since the innermost frame was opened. Without an open frame nothing happens.
    pub fn pop(&mut self) {
        if self.search.depth() > 0 {
            self.search.pop();
        }
    }

    /// Asserts a formula, as written or normal, in the innermost open frame.
    pub fn assert(&mut self, formula: Term) -> Result<(), Unsupported> {
        let formula = self.prepare(formula)?;
        self.cnf.assert(formula, &mut Sink { search: &mut self.search, permanent: false });
        self.define_atoms();
        Ok(())
    }

    /// Whether the asserted formulas and the assumptions can be true together.
    pub fn check(&mut self, assumptions: &[Term], limits: &Limits<'_>) -> Result<Outcome, Unsupported> {
        self.assumptions.clear();
        for &assumption in assumptions {
            let formula = self.prepare(assumption)?;
            let literal = self.cnf.literal(formula, &mut Sink { search: &mut self.search, permanent: true });
            self.define_atoms();
            self.assumptions.push((assumption, literal));
        }
        self.search.theory_mut().start_query();
        let literals: Vec<Lit> = self.assumptions.iter().map(|&(_, literal)| literal).collect();
        Ok(self.search.solve_within(&literals, limits))
    }

    /// After `Sat`: values for the free symbols of the given formulas with which all that is asserted and assumed is
    /// true. Symbols that do not matter have the default value of their sort.
    pub fn model(&self, formulas: &[Term]) -> Assignment {
        let values = self.search.theory().model();
        let mut model = Assignment::new();
        let number = |term: Term, value: &Rational| match self.store.sort_of(term) {
            Sort::INT => Value::Int(value.to_integer().expect("integer variables have integer values")),
            _ => Value::Real(value.clone()),
        };
        let symbols = self.store.symbols(formulas);
        let constants = symbols.funs.iter().filter_map(|&fun| self.store.apply(fun, &[]).ok());
        for symbol in symbols.vars.iter().copied().chain(constants) {
            let value = match self.numbers.get(&symbol) {
                Some(var) => number(symbol, &values[var.index()]),
                None => self.store.default_value(self.store.sort_of(symbol)),
            };
            model.set(symbol, value);
        }
        for &(term, var) in &self.booleans {
            if model.get(term).is_some() {
                model.set(term, Value::Bool(self.search.value(var).unwrap_or(false)));
            }
        }
        model
    }

    /// After `Unsat`: assumptions that cannot be true together with what is asserted.
    pub fn core(&self) -> Vec<Term> {
        let failed = self.search.core();
        let assumptions = self.assumptions.iter().filter(|(_, literal)| failed.contains(literal));
        assumptions.map(|&(term, _)| term).collect()
    }

    /// What the search has done so far.
    pub fn statistics(&self) -> &sat::Statistics {
        self.search.statistics()
    }

    /// The formula in the language of clauses. Definitions that come with it are asserted for good.
    fn prepare(&mut self, formula: Term) -> Result<Term, Unsupported> {
        let normal = self.normalizer.normalize(formula);
        self.check_language(normal)?;
        let Purified { formula, definitions } = self.purifier.purify(normal)?;
        for definition in definitions {
            let definition = self.without_equalities(definition);
            self.cnf.assert(definition, &mut Sink { search: &mut self.search, permanent: true });
        }
        self.define_atoms();
        Ok(self.without_equalities(formula))
    }

    /// There is no solver for functions and declared sorts yet. Division by zero is a function, too.
    fn check_language(&self, normal: Term) -> Result<(), Unsupported> {
        let store = self.store;
        let unsupported = store.subterms(&[normal]).into_iter().find(|&term| match store.view(term) {
            (Op::Apply(_), args) if !args.is_empty() => true,
            (Op::IntDiv | Op::Mod | Op::RealDiv, &[_, divisor]) => {
                store.numeral(divisor).is_some_and(Rational::is_zero)
            }
            _ => matches!(store.sort_kind(store.sort_of(term)), SortKind::Uninterpreted(..)),
        });
        match unsupported {
            Some(term) => Err(Unsupported { term, feature: Feature::Functions }),
            None => Ok(()),
        }
    }

    /// Equalities of numbers as pairs of inequalities, which is all that the kernel knows.
    fn without_equalities(&self, formula: Term) -> Term {
        let store = self.store;
        store.rewrite(formula, &mut |op, args| match (op, args) {
            (Op::Eq, &[a, b]) if store.sort_of(a).is_arithmetic() => {
                store.and2(store.le(a, b), store.ge(a, b))
            }
            _ => store.build(op, args).expect("the arguments have the sorts of those they replace"),
        })
    }

    /// Gives meaning to the atoms that the translation has met.
    fn define_atoms(&mut self) {
        for (term, var) in self.cnf.take_atoms() {
            let (comparison, args) = match self.store.view(term) {
                (Op::Le, args) => (Comparison::AtMost, args),
                (Op::Lt, args) => (Comparison::Below, args),
                _ => {
                    self.booleans.push((term, var));
                    continue;
                }
            };
            let constant =
                self.store.numeral(args[1]).expect("normal atoms have a numeral on the right").clone();
            let poly = LinearPoly::from_term(self.store, args[0]);
            let sum: Vec<_> =
                poly.terms().iter().map(|(term, factor)| (self.number(*term), factor.clone())).collect();
            self.search.theory_mut().define_atom(var, &sum, comparison, &constant);
            self.search.make_atom(var);
        }
    }

    /// The kernel's variable for a symbol. A cast integer is the integer.
    fn number(&mut self, term: Term) -> arith::Var {
        let symbol = match self.store.view(term) {
            (Op::ToReal, &[inner]) => inner,
            _ => term,
        };
        let is_int = self.store.sort_of(symbol) == Sort::INT;
        let search = &mut self.search;
        *self.numbers.entry(symbol).or_insert_with(|| search.theory_mut().new_var(is_int))
    }
}

/// Takes clauses to the search.
struct Sink<'s> {
    search: &'s mut sat::Solver<LinearArithmetic>,
    /// Whether what is asserted is asserted for good.
    permanent: bool,
}

impl Clauses for Sink<'_> {
    fn new_var(&mut self) -> Var {
        self.search.new_var()
    }

    fn define(&mut self, clause: &[Lit]) {
        self.search.add_permanent_clause(clause);
    }

    fn assert(&mut self, clause: &[Lit]) {
        if self.permanent {
            self.search.add_permanent_clause(clause);
        } else {
            self.search.add_clause(clause);
        }
    }
}
