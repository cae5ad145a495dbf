//! Applies names to arguments: operators, definitions, overloaded names, and symbols of parametric datatypes.
//!
//! The reader calls [`Reader::apply`] at the end of an application, with the arguments on its stack. An integer becomes a real if a
//! real is expected. An overloaded name means the declared symbol if the arguments have exactly its sorts, else the
//! theory's. A constructor of a parametric datatype finds its instance by the sorts of its fields, a selector or tester
//! by that of its argument.

use super::environment::{Meaning, Overload};
use super::lexer::SyntaxError;
use super::reader::{Reader, Result};
use crate::op::Op;
use crate::sort::{ConstructorId, Sort};
use crate::subst::Substitution;
use crate::term::Term;
use crate::typing::SortError;

/// The head of an application.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    Op(Op),
    Macro(u32),
    AnyConstructor(ConstructorId),
    AnySelector(ConstructorId, u32),
    Tester(ConstructorId),
    Overloaded(u32),
}

impl Head {
    /// The meaning of a name at the head of an application; `None` for a term and for a name without meaning.
    pub(super) fn of(meaning: Meaning) -> Option<Head> {
        Some(match meaning {
            Meaning::Op(op) => Head::Op(op),
            Meaning::Macro(index) => Head::Macro(index),
            Meaning::AnyConstructor(constructor) => Head::AnyConstructor(constructor),
            Meaning::AnySelector(constructor, field) => Head::AnySelector(constructor, field),
            Meaning::Tester(constructor) => Head::Tester(constructor),
            Meaning::Overloaded(index) => Head::Overloaded(index),
            Meaning::Term(_) | Meaning::Undeclared => return None,
        })
    }
}

impl Reader<'_, '_> {
    /// Applies a head to the values above the given height, and removes them.
    #[inline]
    pub(super) fn apply(&mut self, head: Head, values: usize, offset: usize) -> Result<Term> {
        let term = match head {
            Head::Op(op) => self.apply_op(op, values, offset)?,
            Head::Overloaded(index) => self.apply_overloaded(index, values, offset)?,
            head => self.applied(head, values, offset)?,
        };
        self.values.truncate(values);
        self.offsets.truncate(values);
        Ok(term)
    }

    /// A head applied to the values above the given height.
    fn applied(&self, head: Head, values: usize, offset: usize) -> Result<Term> {
        match head {
            Head::Op(op) => self.apply_op(op, values, offset),
            Head::Macro(index) => self.expand(index, values, offset),
            Head::AnyConstructor(id) => {
                let id = self.instance_by_fields(id, values, offset)?;
                self.apply_op(Op::Construct(id), values, offset)
            }
            Head::AnySelector(id, field) => {
                let constructor = self.instance_by_argument(id, values, offset)?;
                self.apply_op(Op::Selector { constructor, field }, values, offset)
            }
            Head::Tester(id) => {
                let id = self.instance_by_argument(id, values, offset)?;
                self.apply_op(Op::Tester(id), values, offset)
            }
            Head::Overloaded(index) => self.apply_overloaded(index, values, offset),
        }
    }

    /// Applies an overloaded name: the declaration, if the arguments have its sorts; otherwise the theory's symbol, if
    /// they have those; otherwise the one of the two that accepts them with integers as reals.
    #[cold]
    fn apply_overloaded(&self, index: u32, values: usize, offset: usize) -> Result<Term> {
        let Overload { declared, builtin } = self.environment.overload(index);
        let (declared, builtin) = (Head::of(declared), Head::of(builtin));
        let exactly = |head: Option<Head>| head.and_then(|head| self.applied_exactly(head, values, offset));
        if let Some(term) = exactly(declared).or_else(|| exactly(builtin)) {
            return Ok(term);
        }
        let applied = |head: Option<Head>| head.map(|head| self.applied(head, values, offset));
        match (applied(declared), applied(builtin)) {
            (Some(Ok(_)), Some(Ok(_))) => {
                let message = "this may be the declared symbol or that of the theory: both take the arguments, \
                               with integers as reals";
                Err(SyntaxError::new(offset, message))
            }
            (Some(Ok(term)), _) | (_, Some(Ok(term))) => Ok(term),
            (Some(error), _) | (None, Some(error)) => error,
            (None, None) => Err(SyntaxError::new(offset, "this symbol is not a function")),
        }
    }

    /// A head applied to the values above the given height, if their sorts are those that it takes.
    fn applied_exactly(&self, head: Head, values: usize, offset: usize) -> Option<Term> {
        let args = &self.values[values..];
        match head {
            Head::Op(op) => {
                let op = if op == Op::Sub && args.len() == 1 { Op::Neg } else { op };
                let literal =
                    if matches!(op, Op::Neg | Op::RealDiv) { self.signed_literal(op, args) } else { None };
                literal.or_else(|| self.store.app(op, args).ok())
            }
            Head::Macro(index) => {
                let parameters = &self.environment.get_macro(index).parameters;
                let sort = |&term: &Term| self.store.sort_of(term);
                let fits = parameters.iter().map(sort).eq(args.iter().map(sort));
                if fits { self.applied(head, values, offset).ok() } else { None }
            }
            head => self.applied(head, values, offset).ok(),
        }
    }

    #[inline]
    fn apply_op(&self, op: Op, values: usize, offset: usize) -> Result<Term> {
        let args = &self.values[values..];
        let op = if op == Op::Sub && args.len() == 1 { Op::Neg } else { op };
        if matches!(op, Op::Neg | Op::RealDiv)
            && let Some(numeral) = self.signed_literal(op, args)
        {
            return Ok(numeral);
        }
        self.store.app(op, args).or_else(|error| self.apply_coerced(op, values, offset, error))
    }

    /// `(- n)` and `(/ m n)` on literals: SMT-LIB's syntax for numbers other than naturals.
    fn signed_literal(&self, op: Op, args: &[Term]) -> Option<Term> {
        let store = self.store;
        let literal = |term| store.numeral(term).filter(|value| !value.is_negative());
        match (op, args) {
            (Op::Neg, &[term]) => {
                let value = -literal(term)?;
                Some(store.number(&value, store.sort_of(term)))
            }
            (Op::RealDiv, &[numerator, denominator]) => {
                Some(store.real(literal(numerator)?.checked_div(literal(denominator)?)?))
            }
            _ => None,
        }
    }

    /// Retries a failed application with integers converted to reals where that may have been the problem.
    #[cold]
    fn apply_coerced(&self, op: Op, values: usize, offset: usize, error: SortError) -> Result<Term> {
        let store = self.store;
        let args = &self.values[values..];
        let expected = |position: usize| -> Option<Sort> {
            let has_real = |args: &[Term]| args.iter().any(|&arg| store.sort_of(arg) == Sort::REAL);
            match op {
                Op::Apply(fun) => store.fun_decl(fun).domain.get(position).copied(),
                Op::Construct(id) => store.constructor(id).fields.get(position).map(|(_, sort)| *sort),
                Op::ConstArray(sort) => store.array_parts(sort).map(|(_, element)| element),
                Op::Select | Op::Store => {
                    let (index, element) = store.array_parts(store.sort_of(*args.first()?))?;
                    [None, Some(index), Some(element)].get(position).copied()?
                }
                Op::RealDiv | Op::ToInt | Op::IsInt => Some(Sort::REAL),
                Op::Ite if position > 0 && has_real(&args[1..]) => Some(Sort::REAL),
                Op::Add | Op::Sub | Op::Mul | Op::Le | Op::Lt | Op::Ge | Op::Gt | Op::Eq | Op::Distinct
                    if has_real(args) =>
                {
                    Some(Sort::REAL)
                }
                _ => None,
            }
        };
        let coerced: Vec<Term> = args
            .iter()
            .enumerate()
            .map(|(position, &arg)| match expected(position) {
                Some(sort) => self.coerce(arg, sort),
                None => arg,
            })
            .collect();
        if let Some(numeral) = self.signed_literal(op, &coerced) {
            return Ok(numeral);
        }
        store.app(op, &coerced).map_err(|_| {
            let place = error.argument().and_then(|position| self.offsets.get(values + position));
            SyntaxError::new(*place.unwrap_or(&offset), error.to_string())
        })
    }

    /// An integer as a real if a real is expected; everything else unchanged.
    pub(super) fn coerce(&self, term: Term, sort: Sort) -> Term {
        if sort != Sort::REAL || self.store.sort_of(term) != Sort::INT {
            return term;
        }
        match self.store.numeral(term) {
            Some(value) => self.store.real(value.clone()),
            None => self.store.app(Op::ToReal, &[term]).expect("the argument is an integer"),
        }
    }

    fn expand(&self, index: u32, values: usize, offset: usize) -> Result<Term> {
        let definition = self.environment.get_macro(index);
        let args = &self.values[values..];
        if args.len() != definition.parameters.len() {
            let message = format!(
                "the defined function takes {} arguments, but has {}",
                definition.parameters.len(),
                args.len()
            );
            return Err(SyntaxError::new(offset, message));
        }
        let mut map = Substitution::default();
        for (position, (&parameter, &arg)) in definition.parameters.iter().zip(args).enumerate() {
            let expected = self.store.sort_of(parameter);
            let arg = self.coerce(arg, expected);
            let found = self.store.sort_of(arg);
            if found != expected {
                let message = format!(
                    "argument {} of the defined function has sort {}, expected {}",
                    position + 1,
                    self.store.display_sort(found),
                    self.store.display_sort(expected)
                );
                return Err(SyntaxError::new(self.offsets[values + position], message));
            }
            map.insert(parameter, arg);
        }
        Ok(self.store.substitute(definition.body, &map))
    }

    // ---- parametric datatypes ----------------------------------------------------------------------------

    /// The constructor of an instance that corresponds to a constructor of its parametric datatype.
    pub(super) fn constructor_of(&self, id: ConstructorId, sort: Sort) -> Option<ConstructorId> {
        let declared = self.store.constructor(id);
        let datatype = self.store.datatype(sort)?;
        (sort == declared.sort || datatype.template == Some(declared.sort))
            .then(|| datatype.constructors()[declared.index as usize])
    }

    fn instance_by_argument(&self, id: ConstructorId, values: usize, offset: usize) -> Result<ConstructorId> {
        let argument = self.values.get(values).map(|&arg| self.store.sort_of(arg));
        argument.and_then(|sort| self.constructor_of(id, sort)).ok_or_else(|| {
            let name = self.store.display_sort(self.store.constructor(id).sort);
            let place = self.offsets.get(values).unwrap_or(&offset);
            SyntaxError::new(*place, format!("expected an argument of an instance of {name}"))
        })
    }

    fn instance_by_fields(&self, id: ConstructorId, values: usize, offset: usize) -> Result<ConstructorId> {
        let declared = self.store.constructor(id);
        let template = self.store.datatype(declared.sort).expect("a constructor belongs to a datatype");
        let mut params: Vec<Option<Sort>> = vec![None; template.params.len()];
        for (&(_, field), &arg) in declared.fields.iter().zip(&self.values[values..]) {
            self.match_sort(field, self.store.sort_of(arg), &template.params, &mut params);
        }
        let Some(params) = params.into_iter().collect::<Option<Vec<Sort>>>() else {
            // As in Z3, the instance is clear if the script mentions only one.
            if let &[instance] = self.environment.instances(declared.sort) {
                return Ok(self.constructor_of(id, instance).expect("it is an instance of the datatype"));
            }
            let name = self.store.display_symbol(declared.name);
            let message = format!("the sort of `{name}` is not clear here: write (as {name} SORT)");
            return Err(SyntaxError::new(offset, message));
        };
        let instance = self.store.instantiate_datatype(declared.sort, &params);
        Ok(self.constructor_of(id, instance).expect("it is an instance of the constructor's datatype"))
    }

    /// Finds the sorts of the parameters `names` for which `pattern` becomes `sort`.
    fn match_sort(&self, pattern: Sort, sort: Sort, names: &[Sort], params: &mut [Option<Sort>]) {
        if let Some(position) = names.iter().position(|&name| name == pattern) {
            params[position].get_or_insert(sort);
            return;
        }
        if let (Some(pattern), Some(sort)) = (self.store.array_parts(pattern), self.store.array_parts(sort)) {
            self.match_sort(pattern.0, sort.0, names, params);
            self.match_sort(pattern.1, sort.1, names, params);
        } else if let (Some(pattern), Some(sort)) = (self.store.datatype(pattern), self.store.datatype(sort))
            && pattern.name == sort.name
        {
            for (&pattern, &sort) in pattern.params.iter().zip(&sort.params) {
                self.match_sort(pattern, sort, names, params);
            }
        }
    }
}
