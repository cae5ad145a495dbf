//! The context of one projection: the store, the model, the variables to eliminate, and facts about terms.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{Assignment, EvalError, Evaluator, Op, Sort, Term, TermStore, Value};

use super::ProjectError;
use super::datatypes::is_datatype;

/// The state shared by all stages of one projection.
pub(super) struct Context<'c, 'a: 'c> {
    pub(super) store: &'a TermStore,
    model: &'c Assignment,
    pub(super) evaluator: Evaluator<'c>,
    /// The variables and constants to eliminate, those given first, as a list and as a set.
    pub(super) vars: Vec<Term>,
    set: FxHashSet<Term>,
    /// Whether a variable was replaced by its value, of infinitely many.
    pub(super) by_value: bool,
    /// The contents of terms other than leaves.
    contents: FxHashMap<Term, Contents>,
}

/// The kinds of subterms in a term.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Contents {
    /// A variable to eliminate.
    pub(super) variable: bool,
    /// An `ite` that is not `Bool`.
    pub(super) choice: bool,
    /// `div`, `mod` or `to_int`.
    pub(super) rounding: bool,
    /// An operator of a datatype, or an equality between terms of one.
    pub(super) datatype: bool,
    /// An operator of arrays, or an equality between arrays.
    pub(super) array: bool,
}

impl<'c, 'a> Context<'c, 'a> {
    pub(super) fn new(store: &'a TermStore, model: &'c Assignment, vars: &[Term]) -> Self {
        Context {
            store,
            model,
            evaluator: Evaluator::new(store, model),
            vars: vars.to_vec(),
            set: vars.iter().copied().collect(),
            by_value: false,
            contents: FxHashMap::default(),
        }
    }

    /// Adds a variable to eliminate, which occurs nowhere yet, with its value.
    pub(super) fn add_variable(&mut self, variable: Term, value: Value) {
        self.vars.push(variable);
        self.set.insert(variable);
        self.evaluator.define(variable, value);
    }

    /// Whether the term is a variable to eliminate.
    pub(super) fn is_variable(&self, term: Term) -> bool {
        self.set.contains(&term)
    }

    /// Whether a variable to eliminate occurs in the term.
    pub(super) fn mentions(&mut self, term: Term) -> bool {
        self.contents(term).variable
    }

    /// The kinds of subterms in the term.
    pub(super) fn contents(&mut self, term: Term) -> Contents {
        if let Some(contents) = self.known_contents(term) {
            return contents;
        }
        let store = self.store;
        let mut stack = vec![term];
        while let Some(&top) = stack.last() {
            let (op, args) = store.view(top);
            let mut contents = Contents {
                variable: false,
                choice: op == Op::Ite && store.sort_of(top) != Sort::BOOL,
                rounding: matches!(op, Op::IntDiv | Op::Mod | Op::ToInt),
                datatype: match op {
                    Op::Construct(_) | Op::Selector { .. } | Op::Tester(_) => true,
                    Op::Eq => is_datatype(store, store.sort_of(args[0])),
                    _ => false,
                },
                array: match op {
                    Op::Select | Op::Store | Op::ConstArray(_) => true,
                    Op::Eq => store.array_parts(store.sort_of(args[0])).is_some(),
                    _ => false,
                },
            };
            let height = stack.len();
            for &arg in args {
                match self.known_contents(arg) {
                    Some(part) => {
                        contents.variable |= part.variable;
                        contents.choice |= part.choice;
                        contents.rounding |= part.rounding;
                        contents.datatype |= part.datatype;
                        contents.array |= part.array;
                    }
                    None => stack.push(arg),
                }
            }
            if stack.len() == height {
                self.contents.insert(top, contents);
                stack.pop();
            }
        }
        self.contents[&term]
    }

    fn known_contents(&self, term: Term) -> Option<Contents> {
        // A multiple of a symbol is so frequent that recomputing is cheaper than caching.
        let leaf = match self.store.view(term) {
            (_, []) => term,
            (Op::Mul, &[factor, leaf]) if self.store.numeral(factor).is_some() && self.is_leaf(leaf) => leaf,
            _ => return self.contents.get(&term).copied(),
        };
        Some(Contents { variable: self.is_variable(leaf), ..Contents::default() })
    }

    fn is_leaf(&self, term: Term) -> bool {
        self.store.args(term).is_empty()
    }

    /// The truth value of a formula, if the model gives it one.
    pub(super) fn truth(&mut self, formula: Term) -> Result<bool, EvalError> {
        if let Some(truth) = self.linear_truth(formula) {
            return Ok(truth);
        }
        let value = self.evaluator.eval(formula)?;
        value.as_bool().ok_or(EvalError::WrongSort(formula))
    }

    /// The truth value of a normal comparison of symbols. Most atoms are of this kind, and need no caching.
    fn linear_truth(&self, formula: Term) -> Option<bool> {
        let store = self.store;
        let bound = store.bound(formula)?;
        let summands = match store.view(bound.sum) {
            (Op::Add, summands) => summands,
            _ => std::slice::from_ref(&bound.sum),
        };
        let mut sum = Rational::ZERO;
        let one = Rational::ONE;
        for &summand in summands {
            let (factor, symbol) = match store.view(summand) {
                (Op::Mul, &[factor, symbol]) => (store.numeral(factor)?, symbol),
                _ => (&one, summand),
            };
            match (self.model.get(symbol)?, store.sort_of(symbol)) {
                (Value::Int(value), Sort::INT) => sum.add_mul(factor, &Rational::from(value.clone())),
                (Value::Real(value), Sort::REAL) => sum.add_mul(factor, value),
                _ => return None,
            }
        }
        Some(bound.relation.holds(&sum, bound.number))
    }

    /// The value of a term.
    pub(super) fn value(&mut self, term: Term) -> Result<Value, ProjectError> {
        self.evaluator.eval(term).map_err(ProjectError::NoValue)
    }

    /// The value of a number.
    pub(super) fn number(&mut self, term: Term) -> Result<Rational, ProjectError> {
        match self.evaluator.eval(term) {
            Ok(Value::Int(value)) => Ok(Rational::from(value)),
            Ok(Value::Real(value)) => Ok(value),
            Ok(_) => Err(ProjectError::NoValue(EvalError::WrongSort(term))),
            Err(error) => Err(ProjectError::NoValue(error)),
        }
    }
}
