//! Operators: the heads of terms, and their names in SMT-LIB.

use crate::sort::{ConstructorId, Fun, Sort, Symbol};

/// An interned number, the payload of numerals.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NumberId(pub(crate) u32);

/// The head of a term.
///
/// All operators of SMT-LIB's theories Core, Ints, Reals, Reals_Ints, ArraysEx and FixedSizeBitVectors, the datatype
/// operators and quantifiers. [`TermStore::app`](crate::TermStore::app) keeps each of them as written; the normalising
/// builders express most of them by a few (see [`build`](crate::build)).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// A variable; its sort is the term's sort.
    Var(Symbol),
    /// A declared function applied to arguments; without arguments a declared constant.
    Apply(Fun),
    /// An `Int` or `Real` constant of any sign; its sort is the term's sort.
    Numeral(NumberId),
    /// A bit-vector constant, as a natural number; its width is the term's sort.
    BvNumeral(NumberId),
    /// Universal quantification; the arguments are the variables, then the body.
    Forall,
    /// Existential quantification; the arguments are the variables, then the body.
    Exists,

    /// `true`.
    True,
    /// `false`.
    False,
    /// Negation.
    Not,
    /// Conjunction of any number of arguments.
    And,
    /// Disjunction of any number of arguments.
    Or,
    /// Exclusive or, left-associative.
    Xor,
    /// Implication, right-associative.
    Implies,
    /// Equality, chainable.
    Eq,
    /// Pairwise difference.
    Distinct,
    /// If-then-else at any sort.
    Ite,

    /// Sum.
    Add,
    /// Difference, left-associative.
    Sub,
    /// Arithmetic negation.
    Neg,
    /// Product.
    Mul,
    /// Division of reals, left-associative.
    RealDiv,
    /// Division of integers with non-negative remainder, left-associative.
    IntDiv,
    /// Non-negative remainder of integer division.
    Mod,
    /// Absolute value of an integer.
    Abs,
    /// `<=`, chainable.
    Le,
    /// `<`, chainable.
    Lt,
    /// `>=`, chainable.
    Ge,
    /// `>`, chainable.
    Gt,
    /// The integer as a real.
    ToReal,
    /// The largest integer not above the real.
    ToInt,
    /// Whether the real is an integer.
    IsInt,
    /// Whether the integer is a multiple of a positive constant.
    Divisible(NumberId),

    /// Array read.
    Select,
    /// Array write.
    Store,
    /// The array of this sort whose elements all are the argument.
    ConstArray(Sort),

    /// Concatenation; the first argument has the higher bits.
    Concat,
    /// The bits from `hi` down to `lo`.
    Extract {
        /// Highest bit.
        hi: u32,
        /// Lowest bit.
        lo: u32,
    },
    /// Bitwise complement.
    BvNot,
    /// Two's-complement negation.
    BvNeg,
    /// Bitwise and.
    BvAnd,
    /// Bitwise or.
    BvOr,
    /// Bitwise exclusive or.
    BvXor,
    /// Complement of bitwise and.
    BvNand,
    /// Complement of bitwise or.
    BvNor,
    /// Complement of bitwise exclusive or.
    BvXnor,
    /// One bit: whether the arguments are equal.
    BvComp,
    /// Sum modulo the width.
    BvAdd,
    /// Difference modulo the width.
    BvSub,
    /// Product modulo the width.
    BvMul,
    /// Unsigned quotient; all ones for a zero divisor.
    BvUdiv,
    /// Unsigned remainder; the dividend for a zero divisor.
    BvUrem,
    /// Signed quotient, rounded to zero.
    BvSdiv,
    /// Signed remainder with the dividend's sign.
    BvSrem,
    /// Signed remainder with the divisor's sign.
    BvSmod,
    /// Shift left.
    BvShl,
    /// Logical shift right.
    BvLshr,
    /// Arithmetic shift right.
    BvAshr,
    /// Repeated concatenation with itself.
    Repeat(u32),
    /// Extension by zeros.
    ZeroExtend(u32),
    /// Extension by the sign bit.
    SignExtend(u32),
    /// Rotation to the left.
    RotateLeft(u32),
    /// Rotation to the right.
    RotateRight(u32),
    /// Unsigned less.
    BvUlt,
    /// Unsigned less or equal.
    BvUle,
    /// Unsigned greater.
    BvUgt,
    /// Unsigned greater or equal.
    BvUge,
    /// Signed less.
    BvSlt,
    /// Signed less or equal.
    BvSle,
    /// Signed greater.
    BvSgt,
    /// Signed greater or equal.
    BvSge,
    /// Whether negation overflows.
    BvNegO,
    /// Whether unsigned addition overflows.
    BvUaddO,
    /// Whether signed addition overflows.
    BvSaddO,
    /// Whether unsigned subtraction overflows.
    BvUsubO,
    /// Whether signed subtraction overflows.
    BvSsubO,
    /// Whether unsigned multiplication overflows.
    BvUmulO,
    /// Whether signed multiplication overflows.
    BvSmulO,
    /// Whether signed division overflows.
    BvSdivO,
    /// The bit-vector as a natural number.
    UbvToInt,
    /// The bit-vector as a two's-complement integer.
    SbvToInt,
    /// The integer modulo two to the given width.
    IntToBv(u32),

    /// A constructor applied to its fields.
    Construct(ConstructorId),
    /// A field; any value on terms of other constructors.
    Selector {
        /// The constructor that has the field.
        constructor: ConstructorId,
        /// The position of the field.
        field: u32,
    },
    /// Whether this constructor made the value.
    Tester(ConstructorId),
}

impl Op {
    /// The SMT-LIB symbol of this operator, or the stem of its indexed identifier (`extract`). `None` for operators
    /// that a declaration names or that have their own syntax.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Op::Var(_)
            | Op::Apply(_)
            | Op::Numeral(_)
            | Op::BvNumeral(_)
            | Op::ConstArray(_)
            | Op::Construct(_)
            | Op::Selector { .. }
            | Op::Tester(_) => return None,
            Op::Forall => "forall",
            Op::Exists => "exists",
            Op::True => "true",
            Op::False => "false",
            Op::Not => "not",
            Op::And => "and",
            Op::Or => "or",
            Op::Xor => "xor",
            Op::Implies => "=>",
            Op::Eq => "=",
            Op::Distinct => "distinct",
            Op::Ite => "ite",
            Op::Add => "+",
            Op::Sub | Op::Neg => "-",
            Op::Mul => "*",
            Op::RealDiv => "/",
            Op::IntDiv => "div",
            Op::Mod => "mod",
            Op::Abs => "abs",
            Op::Le => "<=",
            Op::Lt => "<",
            Op::Ge => ">=",
            Op::Gt => ">",
            Op::ToReal => "to_real",
            Op::ToInt => "to_int",
            Op::IsInt => "is_int",
            Op::Divisible(_) => "divisible",
            Op::Select => "select",
            Op::Store => "store",
            Op::Concat => "concat",
            Op::Extract { .. } => "extract",
            Op::BvNot => "bvnot",
            Op::BvNeg => "bvneg",
            Op::BvAnd => "bvand",
            Op::BvOr => "bvor",
            Op::BvXor => "bvxor",
            Op::BvNand => "bvnand",
            Op::BvNor => "bvnor",
            Op::BvXnor => "bvxnor",
            Op::BvComp => "bvcomp",
            Op::BvAdd => "bvadd",
            Op::BvSub => "bvsub",
            Op::BvMul => "bvmul",
            Op::BvUdiv => "bvudiv",
            Op::BvUrem => "bvurem",
            Op::BvSdiv => "bvsdiv",
            Op::BvSrem => "bvsrem",
            Op::BvSmod => "bvsmod",
            Op::BvShl => "bvshl",
            Op::BvLshr => "bvlshr",
            Op::BvAshr => "bvashr",
            Op::Repeat(_) => "repeat",
            Op::ZeroExtend(_) => "zero_extend",
            Op::SignExtend(_) => "sign_extend",
            Op::RotateLeft(_) => "rotate_left",
            Op::RotateRight(_) => "rotate_right",
            Op::BvUlt => "bvult",
            Op::BvUle => "bvule",
            Op::BvUgt => "bvugt",
            Op::BvUge => "bvuge",
            Op::BvSlt => "bvslt",
            Op::BvSle => "bvsle",
            Op::BvSgt => "bvsgt",
            Op::BvSge => "bvsge",
            Op::BvNegO => "bvnego",
            Op::BvUaddO => "bvuaddo",
            Op::BvSaddO => "bvsaddo",
            Op::BvUsubO => "bvusubo",
            Op::BvSsubO => "bvssubo",
            Op::BvUmulO => "bvumulo",
            Op::BvSmulO => "bvsmulo",
            Op::BvSdivO => "bvsdivo",
            Op::UbvToInt => "ubv_to_int",
            Op::SbvToInt => "sbv_to_int",
            Op::IntToBv(_) => "int_to_bv",
        })
    }
}

/// The plain symbols of the standard theories.
const NAMES: &[(&str, Op)] = &[
    ("*", Op::Mul),
    ("+", Op::Add),
    ("-", Op::Sub),
    ("/", Op::RealDiv),
    ("<", Op::Lt),
    ("<=", Op::Le),
    ("=", Op::Eq),
    ("=>", Op::Implies),
    (">", Op::Gt),
    (">=", Op::Ge),
    ("abs", Op::Abs),
    ("and", Op::And),
    ("bvadd", Op::BvAdd),
    ("bvand", Op::BvAnd),
    ("bvashr", Op::BvAshr),
    ("bvcomp", Op::BvComp),
    ("bvlshr", Op::BvLshr),
    ("bvmul", Op::BvMul),
    ("bvnand", Op::BvNand),
    ("bvneg", Op::BvNeg),
    ("bvnego", Op::BvNegO),
    ("bvnor", Op::BvNor),
    ("bvnot", Op::BvNot),
    ("bvor", Op::BvOr),
    ("bvsaddo", Op::BvSaddO),
    ("bvsdiv", Op::BvSdiv),
    ("bvsdivo", Op::BvSdivO),
    ("bvsge", Op::BvSge),
    ("bvsgt", Op::BvSgt),
    ("bvshl", Op::BvShl),
    ("bvsle", Op::BvSle),
    ("bvslt", Op::BvSlt),
    ("bvsmod", Op::BvSmod),
    ("bvsmulo", Op::BvSmulO),
    ("bvsrem", Op::BvSrem),
    ("bvssubo", Op::BvSsubO),
    ("bvsub", Op::BvSub),
    ("bvuaddo", Op::BvUaddO),
    ("bvudiv", Op::BvUdiv),
    ("bvuge", Op::BvUge),
    ("bvugt", Op::BvUgt),
    ("bvule", Op::BvUle),
    ("bvult", Op::BvUlt),
    ("bvumulo", Op::BvUmulO),
    ("bvurem", Op::BvUrem),
    ("bvusubo", Op::BvUsubO),
    ("bvxnor", Op::BvXnor),
    ("bvxor", Op::BvXor),
    ("concat", Op::Concat),
    ("distinct", Op::Distinct),
    ("div", Op::IntDiv),
    ("false", Op::False),
    ("is_int", Op::IsInt),
    ("ite", Op::Ite),
    ("mod", Op::Mod),
    ("not", Op::Not),
    ("or", Op::Or),
    ("sbv_to_int", Op::SbvToInt),
    ("select", Op::Select),
    ("store", Op::Store),
    ("to_int", Op::ToInt),
    ("to_real", Op::ToReal),
    ("true", Op::True),
    ("ubv_to_int", Op::UbvToInt),
    ("xor", Op::Xor),
];

/// Older and solver-specific names. Z3 prints divisions as `bvsdiv_i` and the like if it knows that the divisor is not
/// zero.
const ALIASES: &[(&str, Op)] = &[
    ("implies", Op::Implies),
    ("iff", Op::Eq),
    ("if", Op::Ite),
    ("bv2nat", Op::UbvToInt),
    ("bv2int", Op::UbvToInt),
    ("bvudiv_i", Op::BvUdiv),
    ("bvurem_i", Op::BvUrem),
    ("bvsdiv_i", Op::BvSdiv),
    ("bvsrem_i", Op::BvSrem),
    ("bvsmod_i", Op::BvSmod),
];

/// All operators named by a plain symbol, with that symbol. `-` is listed as [`Op::Sub`]; with one argument it means
/// [`Op::Neg`].
pub(crate) fn named_operators() -> impl Iterator<Item = (&'static str, Op)> {
    NAMES.iter().chain(ALIASES).copied()
}

/// Whether the symbol is an alias of the operator, which SMT-LIB does not reserve.
pub(crate) fn is_alias(name: &str, op: Op) -> bool {
    ALIASES.contains(&(name, op))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_listed_once_with_its_operator() {
        for (name, op) in NAMES {
            assert_eq!(op.name(), Some(*name));
        }
        let mut names: Vec<&str> = named_operators().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), named_operators().count());
    }
}
