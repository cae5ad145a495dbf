//! Evaluates terms as written.
//!
//! [`Evaluator`] computes the value of a term from the values that an [`Assignment`] gives to variables, constants and
//! functions. The evaluation is a loop over a stack of open terms with a table of finished ones. It computes each
//! subterm at most once, and only if it matters.
//!
//! *Partiality.* Symbols may be missing from the assignment, and SMT-LIB leaves division by zero and selectors on other
//! constructors to the model. A term whose value depends on something missing has an [`EvalError`] instead of a value.
//! Dependence is decided as far as it is cheap: `ite` evaluates only the branch taken, and `and`, `or` and `=>` have a
//! value as soon as one argument decides them, whatever the others are, in any order. All other operators need all of
//! their arguments.
//!
//! *Defined functions.* An application of a function that a definition interprets has the value of its body with the
//! parameters replaced by the arguments. Each such call has its own table, and calls with equal arguments are made
//! once.
//!
//! *Folds* (`fold.rs`) have their own meaning, whatever the assignment says. A fold of a value needs those of the fields, and a
//! value may be a hundred thousand constructors deep. So the calls for the parts of the value are made one after the
//! other, from the leaves up, and the result of each one is there when it is needed. If calls change ghosts, it is not known before
//! which calls there are. Then a call is made when it is needed, and waits on the stack of calls.
//!
//! *Arrays.* A chain of stores is evaluated at once, not store by store: its value is a sorted list, and
//! inserting n entries one at a time would copy it n times.

use std::cmp::Ordering;
use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::bv::{self, BvResult};
use crate::fold::Fold;
use crate::number::{Integer, Rational};
use crate::op::Op;
use crate::sort::{Fun, Sort};
use crate::term::{Term, TermStore};
use crate::value::Value;

/// The meaning of symbols: values of variables and constants, interpretations of functions, and the values of
/// applications that SMT-LIB leaves open.
#[derive(Clone, Default, Debug)]
pub struct Assignment {
    values: FxHashMap<Term, Value>,
    functions: FxHashMap<Fun, Interpretation>,
    open_cases: FxHashMap<(Op, Box<[Value]>), Value>,
    open_defaults: FxHashMap<Op, Value>,
}

/// The meaning of a declared function.
#[derive(Clone, Debug)]
pub enum Interpretation {
    /// The value of the body when the parameters, which are variables, have the values of the arguments. The body may
    /// mention other symbols of the assignment, but must not lead back to the function itself.
    Definition {
        /// One variable for each argument.
        params: Box<[Term]>,
        /// A term of the function's range.
        body: Term,
    },
    /// A value for each of some argument lists, and one for all others.
    Table {
        /// The values by argument lists.
        entries: FxHashMap<Box<[Value]>, Value>,
        /// The value for other arguments; without it the function is partial.
        default: Option<Value>,
    },
}

impl Assignment {
    /// The empty assignment.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a variable or declared constant, replacing any earlier one.
    pub fn set(&mut self, symbol: Term, value: Value) {
        self.values.insert(symbol, value);
    }

    /// The value of a variable or declared constant.
    pub fn get(&self, symbol: Term) -> Option<&Value> {
        self.values.get(&symbol)
    }

    /// Sets the meaning of a declared function, replacing any earlier one.
    pub fn set_function(&mut self, fun: Fun, interpretation: Interpretation) {
        self.functions.insert(fun, interpretation);
    }

    /// The meaning of a declared function.
    pub fn function(&self, fun: Fun) -> Option<&Interpretation> {
        self.functions.get(&fun)
    }

    /// Sets the value of an application that SMT-LIB leaves open: [`Op::RealDiv`], [`Op::IntDiv`] or [`Op::Mod`] with
    /// the arguments `[dividend, zero]`, or a selector on a value of another constructor.
    pub fn set_open_case(&mut self, op: Op, args: &[Value], value: Value) {
        self.open_cases.insert((op, args.into()), value);
    }

    /// Sets the value of all other applications of the operator that SMT-LIB leaves open.
    pub fn set_open_default(&mut self, op: Op, value: Value) {
        self.open_defaults.insert(op, value);
    }

    /// The value given to an application that SMT-LIB leaves open.
    pub fn open_case(&self, op: Op, args: &[Value]) -> Option<&Value> {
        let case = if self.open_cases.is_empty() { None } else { self.open_cases.get(&(op, args.into())) };
        case.or_else(|| self.open_defaults.get(&op))
    }
}

impl FromIterator<(Term, Value)> for Assignment {
    fn from_iter<I: IntoIterator<Item = (Term, Value)>>(values: I) -> Self {
        Assignment { values: values.into_iter().collect(), ..Self::default() }
    }
}

impl Extend<(Term, Value)> for Assignment {
    fn extend<I: IntoIterator<Item = (Term, Value)>>(&mut self, values: I) {
        self.values.extend(values);
    }
}

/// Why a term has no value under an assignment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EvalError {
    /// The variable, constant or function application has no value.
    Unassigned(Term),
    /// Neither SMT-LIB nor the assignment defines the value of this application.
    Unspecified(Term),
    /// Quantifiers are not evaluated.
    Quantifier(Term),
    /// The definition of the function applied here refers back to the function.
    Recursive(Term),
    /// The assignment gives a value, or a definition, of the wrong sort.
    WrongSort(Term),
}

impl EvalError {
    /// The subterm that caused the error.
    pub fn term(self) -> Term {
        match self {
            EvalError::Unassigned(term)
            | EvalError::Unspecified(term)
            | EvalError::Quantifier(term)
            | EvalError::Recursive(term)
            | EvalError::WrongSort(term) => term,
        }
    }

    /// Displays the error with its term.
    pub fn display(self, store: &TermStore) -> DisplayEvalError<'_> {
        DisplayEvalError { store, error: self }
    }
}

/// The error without its term, for which [`EvalError::display`] needs the store.
impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EvalError::Unassigned(_) => "no value is given to a symbol",
            EvalError::Unspecified(_) => "the value of an application is left open",
            EvalError::Quantifier(_) => "a quantifier is not evaluated",
            EvalError::Recursive(_) => "the definition of a function refers to itself",
            EvalError::WrongSort(_) => "the interpretation of a symbol is of another sort",
        })
    }
}

impl std::error::Error for EvalError {}

/// An error to be printed; see [`EvalError::display`].
#[derive(Clone, Copy)]
pub struct DisplayEvalError<'a> {
    store: &'a TermStore,
    error: EvalError,
}

impl fmt::Display for DisplayEvalError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let term = self.store.display(self.error.term());
        match self.error {
            EvalError::Unassigned(_) => write!(f, "no value is given to {term}"),
            EvalError::Unspecified(_) => write!(f, "the value of {term} is left open"),
            EvalError::Quantifier(_) => write!(f, "the quantifier {term} is not evaluated"),
            EvalError::Recursive(_) => write!(f, "the definition of the function in {term} refers to itself"),
            EvalError::WrongSort(_) => write!(f, "what interprets {term} is of another sort"),
        }
    }
}

impl TermStore {
    /// The value of a term. Use an [`Evaluator`] for several terms under one assignment.
    pub fn eval(&self, term: Term, assignment: &Assignment) -> Result<Value, EvalError> {
        Evaluator::new(self, assignment).eval(term)
    }
}

type Outcome = Result<Value, EvalError>;

/// Evaluates terms under one assignment, caching values.
pub struct Evaluator<'a> {
    store: &'a TermStore,
    assignment: &'a Assignment,
    /// The values of terms other than leaves, of the parameters in a call, and of additional variables.
    known: FxHashMap<Term, Outcome>,
    /// The results of calls of defined functions.
    results: FxHashMap<(Fun, Box<[Value]>), Outcome>,
    /// The active calls, innermost last, and the functions called.
    calls: Vec<Call>,
    active: FxHashSet<Fun>,
    /// The open terms of all active calls, and the values of their arguments so far.
    open: Vec<Frame>,
    values: Vec<Value>,
    /// The value that the topmost open term has waited for.
    delivered: Option<Outcome>,
}

/// The evaluation of a definition's body.
struct Call {
    fun: Fun,
    args: Box<[Value]>,
    body: Term,
    /// The application that waits for the result.
    application: Term,
    /// The values known outside, set aside during the call.
    outside: FxHashMap<Term, Outcome>,
    /// The number of open terms outside.
    base: usize,
    /// The calls of folds that follow. The application waits for the first of these, which is made last.
    rest: Vec<(Fun, Box<[Value]>)>,
}

/// An open term.
struct Frame {
    term: Term,
    /// The position of the next argument to evaluate.
    next: usize,
    /// Where the values of its arguments start in [`Evaluator::values`].
    base: usize,
    /// Whether the argument at `next` is being evaluated for it.
    waiting: bool,
    /// Why an argument of a connective has no value; it matters unless another one decides.
    missing: Option<EvalError>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator without cached values.
    pub fn new(store: &'a TermStore, assignment: &'a Assignment) -> Self {
        Evaluator {
            store,
            assignment,
            known: FxHashMap::default(),
            results: FxHashMap::default(),
            calls: Vec::new(),
            active: FxHashSet::default(),
            open: Vec::new(),
            values: Vec::new(),
            delivered: None,
        }
    }

    /// Forgets all values and evaluates under another assignment from now on.
    pub fn reset(&mut self, assignment: &'a Assignment) {
        self.assignment = assignment;
        self.known.clear();
        self.results.clear();
    }

    /// Gives a value to a variable that the assignment does not interpret, until the evaluator is reset. Definitions of
    /// functions do not refer to it.
    pub fn define(&mut self, variable: Term, value: Value) {
        self.known.insert(variable, Ok(value));
    }

    /// The value of a term.
    pub fn eval(&mut self, term: Term) -> Result<Value, EvalError> {
        if let Some(outcome) = self.outcome(term) {
            return outcome;
        }
        self.push(term);
        loop {
            let base = self.calls.last().map_or(0, |call| call.base);
            if self.open.len() > base {
                self.step();
            } else if let Some(call) = self.calls.pop() {
                self.finish_call(call);
            } else {
                break;
            }
        }
        self.outcome(term).unwrap_or(Err(EvalError::Unassigned(term)))
    }

    fn push(&mut self, term: Term) {
        self.open.push(Frame { term, next: 0, base: self.values.len(), waiting: false, missing: None });
    }

    /// Processes the topmost open term: computes it, or opens the next argument it needs.
    fn step(&mut self) {
        let Some(frame) = self.open.pop() else { return };
        let term = frame.term;
        let outcome = match self.store.op(term) {
            Op::And => self.connective(frame, false, |_| false),
            Op::Or => self.connective(frame, true, |_| true),
            Op::Implies => {
                let last = self.store.args(term).len() - 1;
                self.connective(frame, true, |position| position == last)
            }
            Op::Ite => self.choice(frame),
            Op::Forall | Op::Exists => Some(Err(EvalError::Quantifier(term))),
            Op::Store => self.stores(frame),
            op if is_leaf(op) => self.leaf(term),
            _ => self.strict(frame),
        };
        if let Some(outcome) = outcome {
            self.finish(term, outcome);
        }
    }

    /// Stores the result of a term, and passes it to the term that waits for it.
    fn finish(&mut self, term: Term, outcome: Outcome) {
        if self.open.last().is_some_and(|frame| frame.waiting) {
            self.delivered = Some(outcome.clone());
        }
        self.known.insert(term, outcome);
    }

    /// The value of an argument; if it has none yet, it is opened, and the frame goes back to wait for it.
    fn argument(&mut self, mut frame: Frame, arg: Term) -> Result<(Frame, Outcome), Waiting> {
        let outcome = match self.delivered.take() {
            None => self.outcome(arg),
            delivered => delivered,
        };
        frame.waiting = outcome.is_none();
        match outcome {
            Some(outcome) => Ok((frame, outcome)),
            None => {
                self.open.push(frame);
                self.push(arg);
                Err(Waiting)
            }
        }
    }

    /// The value of a leaf, or the cached value of another term.
    fn outcome(&self, term: Term) -> Option<Outcome> {
        match self.leaf(term) {
            None => self.known.get(&term).cloned(),
            leaf => leaf,
        }
    }

    fn leaf(&self, term: Term) -> Option<Outcome> {
        Some(match self.store.op(term) {
            Op::Var(_) => self.symbol(term),
            Op::Numeral(_) | Op::BvNumeral(_) | Op::True | Op::False => Ok(self.store.component(term)),
            _ => return None,
        })
    }

    /// The value of a variable: an argument of the current call, or given by the assignment or in addition to it, or
    /// itself if it is an element of an uninterpreted sort.
    fn symbol(&self, variable: Term) -> Outcome {
        if !self.calls.is_empty()
            && let Some(outcome) = self.known.get(&variable)
        {
            return outcome.clone();
        }
        match self.assignment.get(variable) {
            Some(value) => self.checked(variable, value),
            None => match self.known.get(&variable) {
                Some(outcome) => outcome.clone(),
                None if self.store.uninterpreted_index(variable).is_some() => Ok(Value::Term(variable)),
                None => Err(EvalError::Unassigned(variable)),
            },
        }
    }

    fn checked(&self, term: Term, value: &Value) -> Outcome {
        let sort = self.store.sort_of(term);
        let right = match value {
            Value::Bool(_) => sort == Sort::BOOL,
            Value::Int(_) => sort == Sort::INT,
            Value::Real(_) => sort == Sort::REAL,
            Value::BitVec { width, .. } => self.store.bv_width(sort) == Some(*width),
            Value::Term(value) => self.store.sort_of(*value) == sort,
        };
        if right { Ok(value.clone()) } else { Err(EvalError::WrongSort(term)) }
    }

    /// A connective that has the value `result` as soon as some argument has the value that `deciding` gives for its
    /// position, and the other value if no argument has. `None` if it waits for an argument.
    fn connective(
        &mut self,
        mut frame: Frame,
        result: bool,
        deciding: impl Fn(usize) -> bool,
    ) -> Option<Outcome> {
        let args = self.store.args(frame.term);
        while let Some(&arg) = args.get(frame.next) {
            let outcome;
            (frame, outcome) = self.argument(frame, arg).ok()?;
            match outcome.and_then(|value| truth(arg, &value)) {
                Ok(value) if value == deciding(frame.next) => return Some(Ok(Value::Bool(result))),
                Ok(_) => {}
                Err(error) => frame.missing = frame.missing.or(Some(error)),
            }
            frame.next += 1;
        }
        Some(frame.missing.map_or(Ok(Value::Bool(!result)), Err))
    }

    /// `ite`: evaluates the condition, then the branch taken, whose position becomes the next one.
    fn choice(&mut self, mut frame: Frame) -> Option<Outcome> {
        let args = self.store.args(frame.term);
        let mut outcome;
        if frame.next == 0 {
            (frame, outcome) = self.argument(frame, args[0]).ok()?;
            match outcome.and_then(|value| truth(args[0], &value)) {
                Ok(value) => frame.next = if value { 1 } else { 2 },
                Err(error) => return Some(Err(error)),
            }
        }
        let branch = args[frame.next];
        (_, outcome) = self.argument(frame, branch).ok()?;
        Some(outcome)
    }

    /// A chain of stores down to the first array that is known or not a store.
    fn stores(&mut self, frame: Frame) -> Option<Outcome> {
        let store = self.store;
        let mut base = frame.term;
        let mut writes: Vec<(Term, Term)> = Vec::new();
        while let (Op::Store, &[array, index, element]) = store.view(base) {
            if self.known.contains_key(&base) {
                break;
            }
            writes.push((index, element));
            base = array;
        }
        if writes.is_empty() {
            // It was opened twice, for different terms.
            return self.outcome(base);
        }
        writes.reverse();
        let wanted = writes.iter().flat_map(|&(index, element)| [index, element]).chain([base]);
        let wanted: Vec<Term> = wanted.filter(|&part| self.outcome(part).is_none()).collect();
        if !wanted.is_empty() {
            self.open.push(frame);
            wanted.into_iter().for_each(|part| self.push(part));
            return None;
        }
        Some(self.write_all(frame.term, base, &writes))
    }

    fn write_all(&self, term: Term, base: Term, writes: &[(Term, Term)]) -> Outcome {
        let store = self.store;
        let part = |term: Term| match self.outcome(term) {
            Some(outcome) => outcome.map(|value| store.value_to_term(&value)),
            None => Err(EvalError::Unassigned(term)),
        };
        let (mut entries, default) = store.written_entries(part(base)?).ok_or(EvalError::WrongSort(base))?;
        for &(index, element) in writes {
            entries.push((part(index)?, part(element)?));
        }
        Ok(Value::Term(store.canonical_array(store.sort_of(term), default, entries)))
    }

    /// An operator that needs all of its arguments.
    fn strict(&mut self, mut frame: Frame) -> Option<Outcome> {
        let (op, args) = self.store.view(frame.term);
        while let Some(&arg) = args.get(frame.next) {
            let outcome;
            (frame, outcome) = self.argument(frame, arg).ok()?;
            match outcome {
                Ok(value) => self.values.push(value),
                Err(error) => {
                    self.values.truncate(frame.base);
                    return Some(Err(error));
                }
            }
            frame.next += 1;
        }
        let outcome = match op {
            Op::Apply(fun) => self.application(&frame, fun),
            _ => Some(self.compute(frame.term, op, &self.values[frame.base..])),
        };
        self.values.truncate(frame.base);
        outcome
    }

    // ---- functions ---------------------------------------------------------------------------------------

    fn application(&mut self, frame: &Frame, fun: Fun) -> Option<Outcome> {
        let term = frame.term;
        if let Some(fold) = self.store.fold(fun) {
            let args: Box<[Value]> = self.values.drain(frame.base..).collect();
            return self.fold(term, fold, args);
        }
        if let Some(value) = self.assignment.get(term) {
            return Some(self.checked(term, value));
        }
        let args: Box<[Value]> = self.values.drain(frame.base..).collect();
        match self.assignment.function(fun) {
            None => Some(Err(EvalError::Unassigned(term))),
            Some(Interpretation::Table { entries, default }) => {
                let value = entries.get(&args).or(default.as_ref());
                Some(value.map_or(Err(EvalError::Unassigned(term)), |value| self.checked(term, value)))
            }
            Some(Interpretation::Definition { params, body }) => {
                if self.active.contains(&fun) {
                    return Some(Err(EvalError::Recursive(term)));
                }
                if params.len() != args.len() || self.store.sort_of(*body) != self.store.sort_of(term) {
                    return Some(Err(EvalError::WrongSort(term)));
                }
                if let Some(result) = self.results.get(&(fun, args.clone())) {
                    return Some(result.clone());
                }
                let inside =
                    params.iter().zip(&args).map(|(&param, value)| (param, self.checked(param, value)));
                let inside = inside.collect();
                let outside = std::mem::replace(&mut self.known, inside);
                let base = self.open.len();
                self.active.insert(fun);
                let rest = Vec::new();
                self.calls.push(Call { fun, args, body: *body, application: term, outside, base, rest });
                self.push(*body);
                None
            }
        }
    }

    /// The value of a fold, or the calls that lead to it.
    fn fold(&mut self, term: Term, fold: &Fold, args: Box<[Value]>) -> Option<Outcome> {
        let store = self.store;
        if let Some(result) = self.results.get(&(fold.fun, args.clone())) {
            return Some(result.clone());
        }
        let Value::Term(argument) = args[0] else { return Some(Err(EvalError::WrongSort(term))) };
        if fold.changes_ghosts {
            let outside = std::mem::take(&mut self.known);
            let (base, rest) = (self.open.len(), vec![(fold.fun, args.clone())]);
            self.call_fold(Call { fun: fold.fun, args, body: term, application: term, outside, base, rest });
            return None;
        }
        let call = |fun: Fun, part: Term| {
            let mut args = args.clone();
            args[0] = Value::Term(part);
            (fun, args)
        };
        let members: Vec<(Fun, Sort)> =
            fold.family.iter().map(|&fun| (fun, store.fun_decl(fun).domain[0])).collect();
        let is_known = |part: Term| {
            let sort = store.sort_of(part);
            let mut of_sort = members.iter().filter(|(_, of)| *of == sort);
            of_sort.all(|&(fun, _)| self.results.contains_key(&call(fun, part)))
        };
        let parts = store.subterms_until(&[argument], |part| part != argument && is_known(part));
        // The parts come from the leaves up, and calls are taken from the end.
        let mut rest: Vec<(Fun, Box<[Value]>)> = vec![(fold.fun, args.clone())];
        for &part in parts.iter().rev().filter(|&&part| part != argument && !is_known(part)) {
            let sort = store.sort_of(part);
            rest.extend(members.iter().filter(|(_, of)| *of == sort).map(|&(fun, _)| call(fun, part)));
        }
        let outside = std::mem::take(&mut self.known);
        let base = self.open.len();
        self.call_fold(Call { fun: fold.fun, args, body: term, application: term, outside, base, rest });
        None
    }

    /// Begins the next call of a fold.
    fn call_fold(&mut self, mut call: Call) {
        let Some((fun, args)) = call.rest.pop() else { return };
        let store = self.store;
        self.known.clear();
        if let (Some(fold), Value::Term(value)) = (store.fold(fun), &args[0])
            && let (Op::Construct(constructor), fields) = store.view(*value)
        {
            let case = fold.case(store, constructor);
            let fields = fields.iter().map(|&field| store.component(field));
            let fields = case.fields.iter().copied().zip(fields);
            let ghosts = fold.ghosts.iter().copied().zip(args[1..].iter().cloned());
            self.known.extend(fields.chain(ghosts).map(|(variable, value)| (variable, Ok(value))));
            call.body = case.value;
            self.push(call.body);
        } else {
            // Values of datatypes are made by constructors.
            self.known.insert(call.body, Err(EvalError::WrongSort(call.application)));
        }
        (call.fun, call.args) = (fun, args);
        self.calls.push(call);
    }

    fn finish_call(&mut self, mut call: Call) {
        let outcome = self.known.remove(&call.body).unwrap_or(Err(EvalError::Unassigned(call.application)));
        self.active.remove(&call.fun);
        // The open term outside waits for the application, not for the body of a call.
        self.delivered = None;
        let args = std::mem::take(&mut call.args);
        self.results.insert((call.fun, args), outcome.clone());
        if !call.rest.is_empty() {
            return self.call_fold(call);
        }
        self.known = call.outside;
        self.finish(call.application, outcome);
    }

    // ---- operators ---------------------------------------------------------------------------------------

    /// The value of an operator, given those of its arguments.
    fn compute(&self, term: Term, op: Op, args: &[Value]) -> Outcome {
        let store = self.store;
        let wrong = EvalError::WrongSort(term);
        Ok(match (op, args) {
            (Op::Not, [Value::Bool(a)]) => Value::Bool(!a),
            (Op::Xor, _) => {
                Value::Bool(args.iter().filter(|value| **value == Value::Bool(true)).count() % 2 == 1)
            }
            (Op::Eq, _) => Value::Bool(args.windows(2).all(|pair| pair[0] == pair[1])),
            (Op::Distinct, [a, b]) => Value::Bool(a != b),
            (Op::Distinct, _) => {
                let mut seen: FxHashSet<&Value> = FxHashSet::default();
                Value::Bool(args.iter().all(|value| seen.insert(value)))
            }

            (Op::Add, _) => combine(args, |a, b| *a += b, |a, b| *a += b).ok_or(wrong)?,
            (Op::Sub, _) => combine(args, |a, b| *a -= b, |a, b| *a -= b).ok_or(wrong)?,
            (Op::Mul, _) => combine(args, |a, b| *a *= b, |a, b| *a *= b).ok_or(wrong)?,
            (Op::Neg, [Value::Int(a)]) => Value::Int(-a),
            (Op::Neg, [Value::Real(a)]) => Value::Real(-a),
            (Op::Abs, [Value::Int(a)]) => Value::Int(a.abs()),
            (Op::Abs, [Value::Real(a)]) => Value::Real(a.abs()),
            (Op::Le, _) => chain(args, Ordering::is_le).ok_or(wrong)?,
            (Op::Lt, _) => chain(args, Ordering::is_lt).ok_or(wrong)?,
            (Op::Ge, _) => chain(args, Ordering::is_ge).ok_or(wrong)?,
            (Op::Gt, _) => chain(args, Ordering::is_gt).ok_or(wrong)?,
            (Op::RealDiv | Op::IntDiv | Op::Mod, [first, rest @ ..]) => self.divide(term, op, first, rest)?,
            (Op::ToReal, [Value::Int(a)]) => Value::Real(Rational::from(a.clone())),
            (Op::ToInt, [Value::Real(a)]) => Value::Int(a.floor()),
            (Op::IsInt, [Value::Real(a)]) => Value::Bool(a.is_integer()),
            (Op::Divisible(divisor), [Value::Int(a)]) => Value::Bool(store.integer(divisor).divides(a)),

            (Op::Select, [Value::Term(array), index]) => {
                store.component(store.array_element(*array, store.value_to_term(index)).ok_or(wrong)?)
            }
            (Op::ConstArray(sort), [element]) => {
                Value::Term(store.canonical_array(sort, store.value_to_term(element), Vec::new()))
            }

            (Op::Construct(_), _) => {
                let fields: SmallVec<[Term; 4]> =
                    args.iter().map(|value| store.value_to_term(value)).collect();
                Value::Term(store.app(op, &fields).map_err(|_| wrong)?)
            }
            (Op::Selector { constructor, field }, [Value::Term(value)]) => match store.view(*value) {
                (Op::Construct(id), fields) if id == constructor => store.component(fields[field as usize]),
                _ => self.open_case(term, op, args)?,
            },
            (Op::Tester(constructor), [Value::Term(value)]) => {
                Value::Bool(store.op(*value) == Op::Construct(constructor))
            }

            _ => bitvector(op, args).ok_or(wrong)?,
        })
    }

    /// Left-associative division; each step checks for a zero divisor.
    fn divide(&self, term: Term, op: Op, first: &Value, divisors: &[Value]) -> Outcome {
        let mut result = first.clone();
        for divisor in divisors {
            let quotient = match (&result, divisor) {
                (Value::Real(a), Value::Real(b)) => a.checked_div(b).map(Value::Real),
                (Value::Int(a), Value::Int(b)) => {
                    let parts = a.checked_div_rem_euclid(b);
                    parts.map(|(quotient, rest)| Value::Int(if op == Op::Mod { rest } else { quotient }))
                }
                _ => return Err(EvalError::WrongSort(term)),
            };
            result = match quotient {
                Some(quotient) => quotient,
                None => self.open_case(term, op, &[result, divisor.clone()])?,
            };
        }
        Ok(result)
    }

    /// The value that the assignment gives to an application that SMT-LIB leaves open.
    fn open_case(&self, term: Term, op: Op, args: &[Value]) -> Outcome {
        let value = self.assignment.open_case(op, args).ok_or(EvalError::Unspecified(term))?;
        self.checked(term, value)
    }
}

/// The term is open again, below an argument that it waits for.
struct Waiting;

fn is_leaf(op: Op) -> bool {
    matches!(op, Op::Var(_) | Op::Numeral(_) | Op::BvNumeral(_) | Op::True | Op::False)
}

fn truth(term: Term, value: &Value) -> Result<bool, EvalError> {
    value.as_bool().ok_or(EvalError::WrongSort(term))
}

/// A left-associative operation on numbers of one sort.
fn combine(
    args: &[Value],
    ints: impl Fn(&mut Integer, &Integer),
    reals: impl Fn(&mut Rational, &Rational),
) -> Option<Value> {
    let (first, rest) = args.split_first()?;
    match first {
        Value::Int(first) => {
            let mut result = first.clone();
            for value in rest {
                ints(&mut result, value.as_int()?);
            }
            Some(Value::Int(result))
        }
        Value::Real(first) => {
            let mut result = first.clone();
            for value in rest {
                reals(&mut result, value.as_real()?);
            }
            Some(Value::Real(result))
        }
        _ => None,
    }
}

/// Whether all neighbours satisfy `ordered`.
fn chain(args: &[Value], ordered: impl Fn(Ordering) -> bool) -> Option<Value> {
    let mut all = true;
    for pair in args.windows(2) {
        let order = match (&pair[0], &pair[1]) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Real(a), Value::Real(b)) => a.cmp(b),
            _ => return None,
        };
        all &= ordered(order);
    }
    Some(Value::Bool(all))
}

fn bitvector(op: Op, args: &[Value]) -> Option<Value> {
    let mut numbers: SmallVec<[(&Integer, u32); 2]> = SmallVec::new();
    for arg in args {
        numbers.push(match arg {
            Value::BitVec { value, width } => (value, *width),
            Value::Int(value) => (value, 0),
            _ => return None,
        });
    }
    Some(match bv::fold(op, &numbers)? {
        BvResult::Bv(value, width) => Value::BitVec { value, width },
        BvResult::Bool(value) => Value::Bool(value),
        BvResult::Int(value) => Value::Int(value),
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn var(store: &TermStore, name: &str, sort: Sort) -> Term {
        store.var(store.symbol(name), sort)
    }

    fn app(store: &TermStore, op: Op, args: &[Term]) -> Term {
        store.app(op, args).unwrap()
    }

    fn int(value: i64) -> Value {
        Value::Int(Integer::from(value))
    }

    fn definition(params: &[Term], body: Term) -> Interpretation {
        Interpretation::Definition { params: params.into(), body }
    }

    #[test]
    fn integer_division_leaves_a_non_negative_rest() {
        let store = TermStore::new();
        for (a, b, quotient, rest) in [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -3, 1), (-7, -2, 4, 1)] {
            let args = [store.int(a), store.int(b)];
            let eval = |op| store.eval(app(&store, op, &args), &Assignment::new());
            assert_eq!((eval(Op::IntDiv), eval(Op::Mod)), (Ok(int(quotient)), Ok(int(rest))));
        }
        let chain = app(&store, Op::IntDiv, &[store.int(100), store.int(7), store.int(-2)]);
        assert_eq!(store.eval(chain, &Assignment::new()), Ok(int(-7)));
    }

    #[test]
    fn what_smt_lib_leaves_open_comes_from_the_assignment() {
        let store = TermStore::new();
        let one_by_zero = app(&store, Op::IntDiv, &[store.int(1), store.int(0)]);
        let mut assignment = Assignment::new();
        assert_eq!(store.eval(one_by_zero, &assignment), Err(EvalError::Unspecified(one_by_zero)));
        assignment.set_open_case(Op::IntDiv, &[int(1), int(0)], int(8));
        assert_eq!(store.eval(one_by_zero, &assignment), Ok(int(8)));
        let chain = app(&store, Op::IntDiv, &[store.int(3), store.int(3), store.int(0), store.int(2)]);
        assert_eq!(store.eval(chain, &assignment), Ok(int(4)));
        let other = app(&store, Op::Mod, &[store.int(1), store.int(0)]);
        assert_eq!(store.eval(other, &assignment), Err(EvalError::Unspecified(other)));
    }

    #[test]
    fn a_deciding_argument_makes_up_for_missing_ones() {
        let store = TermStore::new();
        let unknown = var(&store, "unknown", Sort::BOOL);
        let eval = |op, args: &[Term]| store.eval(app(&store, op, args), &Assignment::new());
        let (yes, no) = (Ok(Value::Bool(true)), Ok(Value::Bool(false)));
        let missing = Err(EvalError::Unassigned(unknown));
        assert_eq!(eval(Op::And, &[unknown, Term::FALSE]), no);
        assert_eq!(eval(Op::And, &[Term::TRUE, unknown]), missing);
        assert_eq!(eval(Op::Or, &[unknown, unknown, Term::TRUE]), yes);
        assert_eq!(eval(Op::Or, &[Term::FALSE, unknown, Term::FALSE]), missing);
        assert_eq!(eval(Op::Implies, &[unknown, Term::FALSE, Term::FALSE]), yes);
        assert_eq!(eval(Op::Implies, &[unknown, Term::TRUE]), yes);
        assert_eq!(eval(Op::Implies, &[Term::TRUE, Term::TRUE, Term::FALSE]), no);
        assert_eq!(eval(Op::Implies, &[unknown, Term::FALSE]), missing);
        assert_eq!(eval(Op::Ite, &[Term::TRUE, Term::FALSE, unknown]), no);
        assert_eq!(eval(Op::Ite, &[unknown, Term::TRUE, Term::TRUE]), missing);
        assert_eq!(eval(Op::And, &[]), yes);
        assert_eq!(eval(Op::Or, &[]), no);
    }

    #[test]
    fn predicates_are_evaluated_by_their_definitions() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| var(&store, name, Sort::INT));
        let less = store.fun(store.symbol("less"), &[Sort::INT, Sort::INT], Sort::BOOL);
        let between = store.fun(store.symbol("between"), &[Sort::INT], Sort::BOOL);
        let mut assignment = Assignment::new();
        assignment.set_function(less, definition(&[x, y], app(&store, Op::Lt, &[x, y])));
        let bounds = [store.apply(less, &[y, x]).unwrap(), store.apply(less, &[x, store.int(9)]).unwrap()];
        assignment.set_function(between, definition(&[x], app(&store, Op::And, &bounds)));
        assignment.set(y, int(5));
        // The argument `y` is read outside of the call, where the parameter `y` means nothing.
        for (argument, expected) in
            [(store.int(5), false), (store.int(6), true), (store.int(9), false), (y, false)]
        {
            let term = store.apply(between, &[argument]).unwrap();
            assert_eq!(store.eval(term, &assignment), Ok(Value::Bool(expected)), "{}", store.display(term));
        }
        let missing = store.apply(between, &[x]).unwrap();
        assert_eq!(store.eval(missing, &assignment), Err(EvalError::Unassigned(x)));
    }

    #[test]
    fn a_body_can_be_a_parameter() {
        let store = TermStore::new();
        let x = var(&store, "x", Sort::INT);
        let identity = store.fun(store.symbol("id"), &[Sort::INT], Sort::INT);
        let mut assignment = Assignment::new();
        assignment.set_function(identity, definition(&[x], x));
        let term = store.apply(identity, &[store.apply(identity, &[store.int(4)]).unwrap()]).unwrap();
        assert_eq!(store.eval(term, &assignment), Ok(int(4)));
    }

    #[test]
    fn tables_have_entries_and_a_default() {
        let store = TermStore::new();
        let f = store.fun(store.symbol("f"), &[Sort::INT], Sort::INT);
        let mut assignment = Assignment::new();
        let entries: FxHashMap<Box<[Value]>, Value> = [([int(1)].into(), int(10))].into_iter().collect();
        assignment.set_function(f, Interpretation::Table { entries: entries.clone(), default: Some(int(0)) });
        let [one, two] = [1, 2].map(|n| store.apply(f, &[store.int(n)]).unwrap());
        assert_eq!(store.eval(one, &assignment), Ok(int(10)));
        assert_eq!(store.eval(two, &assignment), Ok(int(0)));
        assignment.set_function(f, Interpretation::Table { entries, default: None });
        assert_eq!(store.eval(two, &assignment), Err(EvalError::Unassigned(two)));
    }

    #[test]
    fn bad_assignments_are_errors() {
        let store = TermStore::new();
        let x = var(&store, "x", Sort::INT);
        let f = store.fun(store.symbol("f"), &[Sort::INT], Sort::INT);
        let g = store.fun(store.symbol("g"), &[Sort::INT], Sort::INT);
        let mut assignment = Assignment::new();
        assignment.set(x, Value::Bool(true));
        let sum = app(&store, Op::Add, &[x, x]);
        assert_eq!(store.eval(sum, &assignment), Err(EvalError::WrongSort(x)));
        let [f_x, g_x] = [f, g].map(|fun| store.apply(fun, &[x]).unwrap());
        assignment.set_function(f, definition(&[x], g_x));
        assignment.set_function(g, definition(&[x], f_x));
        let term = store.apply(f, &[store.int(1)]).unwrap();
        let error = store.eval(term, &assignment).unwrap_err();
        assert_eq!(error, EvalError::Recursive(f_x));
        assert_eq!(
            error.display(&store).to_string(),
            "the definition of the function in (f x) refers to itself"
        );
        assignment.set_function(f, definition(&[], store.int(1)));
        assert_eq!(store.eval(term, &assignment), Err(EvalError::WrongSort(term)));
        let quantifier = app(&store, Op::Forall, &[x, Term::TRUE]);
        assert_eq!(store.eval(quantifier, &assignment), Err(EvalError::Quantifier(quantifier)));
    }

    #[test]
    fn open_cases_without_a_value_of_their_own_have_the_default_of_the_operator() {
        let store = TermStore::new();
        let zero = store.int(0);
        let [one, two] = [1, 2].map(|n| app(&store, Op::IntDiv, &[store.int(n), zero]));
        let mut assignment = Assignment::new();
        let int = |n: i64| Value::Int(n.into());
        assignment.set_open_case(Op::IntDiv, &[int(1), int(0)], int(5));
        assert_eq!(store.eval(two, &assignment), Err(EvalError::Unspecified(two)));
        assignment.set_open_default(Op::IntDiv, int(7));
        assert_eq!((store.eval(one, &assignment), store.eval(two, &assignment)), (Ok(int(5)), Ok(int(7))));
        let rest = app(&store, Op::Mod, &[zero, zero]);
        assert_eq!(store.eval(rest, &assignment), Err(EvalError::Unspecified(rest)));
    }

    #[test]
    fn an_evaluator_takes_values_of_additional_variables() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| var(&store, name, Sort::INT));
        let (sum, twice) = (app(&store, Op::Add, &[x, y]), app(&store, Op::Add, &[y, y]));
        let int = |n: i64| Value::Int(n.into());
        let assignment: Assignment = [(x, int(1))].into_iter().collect();
        let mut evaluator = Evaluator::new(&store, &assignment);
        evaluator.define(y, int(2));
        assert_eq!((evaluator.eval(y), evaluator.eval(sum)), (Ok(int(2)), Ok(int(3))));
        evaluator.reset(&assignment);
        assert_eq!(evaluator.eval(twice), Err(EvalError::Unassigned(y)));
    }

    #[test]
    fn elements_of_uninterpreted_sorts_mean_themselves() {
        let store = TermStore::new();
        let u = store.sort(crate::sort::SortKind::Uninterpreted(store.symbol("U"), [].into()));
        let [a, b] = [0, 1].map(|n| store.value_to_term(&store.uninterpreted_value(u, n)));
        let same = app(&store, Op::Eq, &[a, b]);
        assert_eq!(store.eval(same, &Assignment::new()), Ok(Value::Bool(false)));
        let x = var(&store, "x", u);
        let assignment: Assignment = [(x, Value::Term(b))].into_iter().collect();
        assert_eq!(store.eval(app(&store, Op::Eq, &[x, b]), &assignment), Ok(Value::Bool(true)));
    }

    #[test]
    fn long_chains_of_definitions() {
        let store = TermStore::new();
        let start = Instant::now();
        let x = var(&store, "x", Sort::INT);
        let mut assignment = Assignment::new();
        let mut call = app(&store, Op::Add, &[x, store.int(1)]);
        for level in 0..50_000 {
            let fun = store.fun(store.symbol(&format!("f{level}")), &[Sort::INT], Sort::INT);
            assignment.set_function(fun, definition(&[x], app(&store, Op::Add, &[call, call])));
            call = store.apply(fun, &[store.int(level % 2)]).unwrap();
        }
        let top = app(&store, Op::Mod, &[call, store.int(5)]);
        assert!(store.eval(top, &assignment).is_ok());
        assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
    }
}
