//! Sort rules: the sort of an application, or why it has none.

use std::fmt;

use crate::op::Op;
use crate::sort::{MAX_WIDTH, Sort, SortKind};
use crate::term::{Term, TermStore};

/// An application that has no sort.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SortError {
    message: String,
    argument: Option<usize>,
}

impl SortError {
    /// The argument at fault, counted from zero, if it is a single one.
    pub fn argument(&self) -> Option<usize> {
        self.argument
    }
}

impl fmt::Display for SortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SortError {}

impl TermStore {
    /// The sort of the operator applied to these arguments.
    pub(crate) fn result_sort(&self, op: Op, args: &[Term]) -> Result<Sort, SortError> {
        let check = Application { store: self, op, args };
        match op {
            Op::Var(_) | Op::Numeral(_) | Op::BvNumeral(_) => {
                Err(check.error(None, "a variable or number is not an operator".to_owned()))
            }
            Op::Apply(fun) => {
                let decl = self.fun_decl(fun);
                check.arity(decl.domain.len(), Some(decl.domain.len()))?;
                check.sorts(decl.domain.iter().copied())?;
                Ok(decl.range)
            }
            Op::Forall | Op::Exists => check.quantifier(),

            Op::True | Op::False => check.all(Sort::BOOL, 0, Some(0), Sort::BOOL),
            Op::Not => check.all(Sort::BOOL, 1, Some(1), Sort::BOOL),
            Op::And | Op::Or => check.all(Sort::BOOL, 0, None, Sort::BOOL),
            Op::Xor | Op::Implies => check.all(Sort::BOOL, 2, None, Sort::BOOL),
            Op::Eq | Op::Distinct => {
                check.same(2, None)?;
                Ok(Sort::BOOL)
            }
            Op::Ite => {
                check.arity(3, Some(3))?;
                check.argument(0, Sort::BOOL)?;
                check.argument(2, self.sort_of(args[1]))?;
                Ok(self.sort_of(args[1]))
            }

            Op::Add | Op::Mul => check.arithmetic(1, None),
            Op::Sub => check.arithmetic(2, None),
            Op::Neg => check.arithmetic(1, Some(1)),
            Op::RealDiv => check.all(Sort::REAL, 2, None, Sort::REAL),
            Op::IntDiv => check.all(Sort::INT, 2, None, Sort::INT),
            Op::Mod => check.all(Sort::INT, 2, Some(2), Sort::INT),
            Op::Abs => check.arithmetic(1, Some(1)),
            Op::Le | Op::Lt | Op::Ge | Op::Gt => {
                check.arithmetic(2, None)?;
                Ok(Sort::BOOL)
            }
            Op::ToReal => check.all(Sort::INT, 1, Some(1), Sort::REAL),
            Op::ToInt => check.all(Sort::REAL, 1, Some(1), Sort::INT),
            Op::IsInt => check.all(Sort::REAL, 1, Some(1), Sort::BOOL),
            Op::Divisible(divisor) => {
                if !self.integer(divisor).is_positive() {
                    return Err(check.error(None, "the divisor of `divisible` must be positive".to_owned()));
                }
                check.all(Sort::INT, 1, Some(1), Sort::BOOL)
            }

            Op::Select => {
                check.arity(2, Some(2))?;
                let (index, element) = check.array(self.sort_of(args[0]), 0)?;
                check.argument(1, index)?;
                Ok(element)
            }
            Op::Store => {
                check.arity(3, Some(3))?;
                let (index, element) = check.array(self.sort_of(args[0]), 0)?;
                check.argument(1, index)?;
                check.argument(2, element)?;
                Ok(self.sort_of(args[0]))
            }
            Op::ConstArray(sort) => {
                check.arity(1, Some(1))?;
                let Some((_, element)) = self.array_parts(sort) else {
                    let found = self.display_sort(sort);
                    return Err(check.error(None, format!("`as const` needs an array sort, not {found}")));
                };
                check.argument(0, element)?;
                Ok(sort)
            }

            Op::BvNot | Op::BvNeg => check.bitvectors(1, Some(1)),
            Op::BvAnd | Op::BvOr | Op::BvXor | Op::BvXnor | Op::BvAdd | Op::BvMul => {
                check.bitvectors(2, None)
            }
            Op::BvNand
            | Op::BvNor
            | Op::BvSub
            | Op::BvUdiv
            | Op::BvUrem
            | Op::BvSdiv
            | Op::BvSrem
            | Op::BvSmod
            | Op::BvShl
            | Op::BvLshr
            | Op::BvAshr => check.bitvectors(2, Some(2)),
            Op::BvUlt
            | Op::BvUle
            | Op::BvUgt
            | Op::BvUge
            | Op::BvSlt
            | Op::BvSle
            | Op::BvSgt
            | Op::BvSge
            | Op::BvUaddO
            | Op::BvSaddO
            | Op::BvUsubO
            | Op::BvSsubO
            | Op::BvUmulO
            | Op::BvSmulO
            | Op::BvSdivO => {
                check.bitvectors(2, Some(2))?;
                Ok(Sort::BOOL)
            }
            Op::BvNegO => {
                check.bitvectors(1, Some(1))?;
                Ok(Sort::BOOL)
            }
            Op::BvComp => {
                check.bitvectors(2, Some(2))?;
                Ok(self.bitvec_sort(1))
            }
            Op::Concat => {
                check.arity(1, None)?;
                let mut width = Some(0u32);
                for position in 0..args.len() {
                    width = width.and_then(|w| w.checked_add(check.width(position).ok()?));
                    check.width(position)?;
                }
                check.result_width(width)
            }
            Op::Extract { hi, lo } => {
                check.arity(1, Some(1))?;
                let width = check.width(0)?;
                if lo <= hi && hi < width {
                    return Ok(self.bitvec_sort(hi - lo + 1));
                }
                Err(check.error(None, format!("cannot extract bits {hi} to {lo} of {width} bits")))
            }
            Op::Repeat(times) => {
                check.arity(1, Some(1))?;
                check.result_width(check.width(0)?.checked_mul(times).filter(|w| *w > 0))
            }
            Op::ZeroExtend(by) | Op::SignExtend(by) => {
                check.arity(1, Some(1))?;
                check.result_width(check.width(0)?.checked_add(by))
            }
            Op::RotateLeft(_) | Op::RotateRight(_) => check.bitvectors(1, Some(1)),
            Op::UbvToInt | Op::SbvToInt => {
                check.bitvectors(1, Some(1))?;
                Ok(Sort::INT)
            }
            Op::IntToBv(width) => {
                check.all(Sort::INT, 1, Some(1), Sort::INT)?;
                check.result_width(Some(width).filter(|w| *w > 0))
            }

            Op::Construct(constructor) => {
                let constructor = self.constructor(constructor);
                check.arity(constructor.fields.len(), Some(constructor.fields.len()))?;
                check.sorts(constructor.fields.iter().map(|(_, sort)| *sort))?;
                Ok(constructor.sort)
            }
            Op::Selector { constructor, field } => {
                let constructor = self.constructor(constructor);
                check.arity(1, Some(1))?;
                check.argument(0, constructor.sort)?;
                match constructor.fields.get(field as usize) {
                    Some((_, sort)) => Ok(*sort),
                    None => Err(check.error(None, "the constructor has no such field".to_owned())),
                }
            }
            Op::Tester(constructor) => {
                check.arity(1, Some(1))?;
                check.argument(0, self.constructor(constructor).sort)?;
                Ok(Sort::BOOL)
            }
        }
    }
}

/// An application to check.
struct Application<'a> {
    store: &'a TermStore,
    op: Op,
    args: &'a [Term],
}

impl Application<'_> {
    /// All arguments have one given sort.
    fn all(&self, each: Sort, least: usize, most: Option<usize>, result: Sort) -> Result<Sort, SortError> {
        self.arity(least, most)?;
        for position in 0..self.args.len() {
            self.argument(position, each)?;
        }
        Ok(result)
    }

    /// All arguments have the sort of the first, which is returned.
    fn same(&self, least: usize, most: Option<usize>) -> Result<Sort, SortError> {
        self.arity(least, most)?;
        let first = self.store.sort_of(self.args[0]);
        for position in 1..self.args.len() {
            self.argument(position, first)?;
        }
        Ok(first)
    }

    fn arithmetic(&self, least: usize, most: Option<usize>) -> Result<Sort, SortError> {
        self.arity(least, most)?;
        if !self.store.sort_of(self.args[0]).is_arithmetic() {
            return Err(self.unexpected(0, "Int or Real"));
        }
        self.same(least, most)
    }

    fn bitvectors(&self, least: usize, most: Option<usize>) -> Result<Sort, SortError> {
        self.arity(least, most)?;
        self.width(0)?;
        self.same(least, most)
    }

    fn quantifier(&self) -> Result<Sort, SortError> {
        let Some((&body, variables)) = self.args.split_last() else {
            return Err(self.error(None, "a quantifier needs a body".to_owned()));
        };
        if let Some(position) = variables.iter().position(|&v| !matches!(self.store.op(v), Op::Var(_))) {
            return Err(self.error(Some(position), "only variables can be quantified".to_owned()));
        }
        if self.store.sort_of(body) != Sort::BOOL {
            return Err(self.error(Some(variables.len()), "the body of a quantifier must be Bool".to_owned()));
        }
        Ok(Sort::BOOL)
    }

    fn arity(&self, least: usize, most: Option<usize>) -> Result<(), SortError> {
        let found = self.args.len();
        if found >= least && most.is_none_or(|most| found <= most) {
            return Ok(());
        }
        let wanted = match most {
            Some(most) if most == least => least.to_string(),
            _ => format!("at least {least}"),
        };
        let plural = if least == 1 { "argument" } else { "arguments" };
        let name = self.store.display_op(self.op);
        Err(self.error(None, format!("{name} takes {wanted} {plural}, but has {found}")))
    }

    fn sorts(&self, sorts: impl Iterator<Item = Sort>) -> Result<(), SortError> {
        sorts.enumerate().try_for_each(|(position, sort)| self.argument(position, sort))
    }

    fn argument(&self, position: usize, sort: Sort) -> Result<(), SortError> {
        if self.store.sort_of(self.args[position]) == sort {
            return Ok(());
        }
        Err(self.unexpected(position, &self.store.display_sort(sort).to_string()))
    }

    fn array(&self, sort: Sort, position: usize) -> Result<(Sort, Sort), SortError> {
        self.store.array_parts(sort).ok_or_else(|| self.unexpected(position, "an array"))
    }

    fn width(&self, position: usize) -> Result<u32, SortError> {
        match self.store.sort_kind(self.store.sort_of(self.args[position])) {
            SortKind::BitVec(width) => Ok(*width),
            _ => Err(self.unexpected(position, "a bit-vector")),
        }
    }

    fn result_width(&self, width: Option<u32>) -> Result<Sort, SortError> {
        match width {
            Some(width) if width <= MAX_WIDTH => Ok(self.store.bitvec_sort(width)),
            _ => Err(self.error(None, "the width of the bit-vector is zero or too large".to_owned())),
        }
    }

    #[cold]
    fn unexpected(&self, position: usize, wanted: &str) -> SortError {
        let found = self.store.display_sort(self.store.sort_of(self.args[position]));
        let name = self.store.display_op(self.op);
        let message = format!("argument {} of {name} has sort {found}, expected {wanted}", position + 1);
        self.error(Some(position), message)
    }

    #[cold]
    fn error(&self, argument: Option<usize>, message: String) -> SortError {
        SortError { message, argument }
    }
}
