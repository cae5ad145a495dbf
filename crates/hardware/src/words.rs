//! Words as lists of edges: the operators of BTOR2 as circuits.
//!
//! A word is its bits, the least significant one first. Operands of binary operators have the same width, except in a
//! concatenation. Signed operators read words in two's complement. Division by zero is that of SMT-LIB: the unsigned
//! quotient is all ones, the remainder is the dividend, and signed division is defined by the unsigned one on absolute
//! values. Shifts by the width or more leave only the filling; rotations are modulo the width.
//!
//! The circuits are the classic ones: ripple-carry adders, products by shift and add, restoring division, shifts in a
//! logarithmic number of stages. Operators: Niemetz, Preiner, Wolf & Biere, "Btor2, BtorMC and Boolector 3.0" (CAV 2018).

use crate::aig::{Builder, Edge};

/// A word: its bits, the least significant one first. It has at least one.
pub type Word = Vec<Edge>;

/// An operator of one argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// Complement.
    Not,
    /// Plus one.
    Inc,
    /// Minus one.
    Dec,
    /// Negation.
    Neg,
    /// Whether all bits are 1.
    Redand,
    /// Whether some bit is 1.
    Redor,
    /// Whether the number of bits that are 1 is odd.
    Redxor,
}

/// An operator of two arguments.
#[allow(missing_docs, reason = "the names of BTOR2")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    Iff,
    Implies,
    Eq,
    Neq,
    Sgt,
    Ugt,
    Sgte,
    Ugte,
    Slt,
    Ult,
    Slte,
    Ulte,
    And,
    Nand,
    Nor,
    Or,
    Xnor,
    Xor,
    Rol,
    Ror,
    Sll,
    Sra,
    Srl,
    Add,
    Mul,
    Sdiv,
    Udiv,
    Smod,
    Srem,
    Urem,
    Sub,
    Saddo,
    Uaddo,
    Sdivo,
    Udivo,
    Smulo,
    Umulo,
    Ssubo,
    Usubo,
    Concat,
}

impl Unary {
    /// All operators with their names.
    pub const ALL: &[(&str, Unary)] = &[
        ("not", Unary::Not),
        ("inc", Unary::Inc),
        ("dec", Unary::Dec),
        ("neg", Unary::Neg),
        ("redand", Unary::Redand),
        ("redor", Unary::Redor),
        ("redxor", Unary::Redxor),
    ];

    /// The width of the result.
    pub fn width(self, argument: usize) -> usize {
        match self {
            Unary::Not | Unary::Inc | Unary::Dec | Unary::Neg => argument,
            Unary::Redand | Unary::Redor | Unary::Redxor => 1,
        }
    }
}

impl Binary {
    /// All operators with their names.
    pub const ALL: &[(&str, Binary)] = &[
        ("iff", Binary::Iff),
        ("implies", Binary::Implies),
        ("eq", Binary::Eq),
        ("neq", Binary::Neq),
        ("sgt", Binary::Sgt),
        ("ugt", Binary::Ugt),
        ("sgte", Binary::Sgte),
        ("ugte", Binary::Ugte),
        ("slt", Binary::Slt),
        ("ult", Binary::Ult),
        ("slte", Binary::Slte),
        ("ulte", Binary::Ulte),
        ("and", Binary::And),
        ("nand", Binary::Nand),
        ("nor", Binary::Nor),
        ("or", Binary::Or),
        ("xnor", Binary::Xnor),
        ("xor", Binary::Xor),
        ("rol", Binary::Rol),
        ("ror", Binary::Ror),
        ("sll", Binary::Sll),
        ("sra", Binary::Sra),
        ("srl", Binary::Srl),
        ("add", Binary::Add),
        ("mul", Binary::Mul),
        ("sdiv", Binary::Sdiv),
        ("udiv", Binary::Udiv),
        ("smod", Binary::Smod),
        ("srem", Binary::Srem),
        ("urem", Binary::Urem),
        ("sub", Binary::Sub),
        ("saddo", Binary::Saddo),
        ("uaddo", Binary::Uaddo),
        ("sdivo", Binary::Sdivo),
        ("udivo", Binary::Udivo),
        ("smulo", Binary::Smulo),
        ("umulo", Binary::Umulo),
        ("ssubo", Binary::Ssubo),
        ("usubo", Binary::Usubo),
        ("concat", Binary::Concat),
    ];

    /// The width of the result, if the operator takes arguments of these widths.
    pub fn width(self, left: usize, right: usize) -> Option<usize> {
        use Binary::*;
        match self {
            Concat => left.checked_add(right),
            _ if left != right => None,
            Iff | Implies => (left == 1).then_some(1),
            And | Nand | Nor | Or | Xnor | Xor | Rol | Ror | Sll | Sra | Srl | Add | Mul | Sdiv | Udiv
            | Smod | Srem | Urem | Sub => Some(left),
            Eq | Neq | Sgt | Ugt | Sgte | Ugte | Slt | Ult | Slte | Ulte | Saddo | Uaddo | Sdivo | Udivo
            | Smulo | Umulo | Ssubo | Usubo => Some(1),
        }
    }

    /// A bound on the number of gates that the operator needs.
    pub fn cost(self, width: usize) -> usize {
        let square = width.saturating_mul(width);
        match self {
            Binary::Mul => square.saturating_mul(16),
            Binary::Sdiv | Binary::Udiv | Binary::Smod | Binary::Srem | Binary::Urem => {
                square.saturating_mul(24).saturating_add(width.saturating_mul(64))
            }
            Binary::Smulo | Binary::Umulo => square.saturating_mul(64),
            Binary::Rol | Binary::Ror if width.is_power_of_two() => width.saturating_mul(256),
            Binary::Rol | Binary::Ror => square.saturating_mul(4),
            _ => width.saturating_mul(256),
        }
    }
}

/// The word of a unary operator.
pub fn unary(builder: &mut Builder, operator: Unary, argument: &[Edge]) -> Word {
    match operator {
        Unary::Not => complement(argument),
        Unary::Inc => add(builder, argument, &constant(argument.len(), false), Edge::TRUE).0,
        Unary::Dec => add(builder, argument, &constant(argument.len(), true), Edge::FALSE).0,
        Unary::Neg => negate(builder, argument),
        Unary::Redand => vec![builder.and_all(argument.iter().copied())],
        Unary::Redor => vec![builder.or_all(argument.iter().copied())],
        Unary::Redxor => {
            vec![argument.iter().fold(Edge::FALSE, |parity, &bit| builder.xor(parity, bit))]
        }
    }
}

/// The word of a binary operator.
///
/// # Panics
/// Perhaps, if the operator does not take arguments of these widths.
pub fn binary(builder: &mut Builder, operator: Binary, left: &[Edge], right: &[Edge]) -> Word {
    let bitwise = |builder: &mut Builder, gate: fn(&mut Builder, Edge, Edge) -> Edge| -> Word {
        left.iter().zip(right).map(|(&a, &b)| gate(builder, a, b)).collect()
    };
    match operator {
        Binary::And => bitwise(builder, Builder::and),
        Binary::Or => bitwise(builder, Builder::or),
        Binary::Xor => bitwise(builder, Builder::xor),
        Binary::Nand => bitwise(builder, |builder, a, b| !builder.and(a, b)),
        Binary::Nor => bitwise(builder, |builder, a, b| !builder.or(a, b)),
        Binary::Xnor | Binary::Iff => bitwise(builder, Builder::iff),
        Binary::Implies => bitwise(builder, |builder, a, b| builder.or(!a, b)),
        Binary::Eq => vec![equal(builder, left, right)],
        Binary::Neq => vec![!equal(builder, left, right)],
        Binary::Ult => vec![less(builder, left, right)],
        Binary::Ugt => vec![less(builder, right, left)],
        Binary::Ulte => vec![!less(builder, right, left)],
        Binary::Ugte => vec![!less(builder, left, right)],
        Binary::Slt => vec![signed_less(builder, left, right)],
        Binary::Sgt => vec![signed_less(builder, right, left)],
        Binary::Slte => vec![!signed_less(builder, right, left)],
        Binary::Sgte => vec![!signed_less(builder, left, right)],
        Binary::Sll => {
            let reversed: Word = left.iter().rev().copied().collect();
            let mut shifted = shift_right(builder, &reversed, right, Edge::FALSE);
            shifted.reverse();
            shifted
        }
        Binary::Srl => shift_right(builder, left, right, Edge::FALSE),
        Binary::Sra => shift_right(builder, left, right, sign(left)),
        Binary::Rol => {
            let reversed: Word = left.iter().rev().copied().collect();
            let mut rotated = rotate_right(builder, &reversed, right);
            rotated.reverse();
            rotated
        }
        Binary::Ror => rotate_right(builder, left, right),
        Binary::Add => add(builder, left, right, Edge::FALSE).0,
        Binary::Sub => subtract(builder, left, right).0,
        Binary::Mul => multiply(builder, left, right),
        Binary::Udiv => divide(builder, left, right).0,
        Binary::Urem => divide(builder, left, right).1,
        Binary::Sdiv => {
            let quotient = divide_absolute(builder, left, right).0;
            let differ = builder.xor(sign(left), sign(right));
            negate_if(builder, differ, &quotient)
        }
        Binary::Srem => {
            let remainder = divide_absolute(builder, left, right).1;
            negate_if(builder, sign(left), &remainder)
        }
        Binary::Smod => {
            // The remainder with the dividend's sign; if signs differ and it is not 0, the divisor is added.
            let remainder = divide_absolute(builder, left, right).1;
            let is_positive = builder.or_all(remainder.iter().copied());
            let remainder = negate_if(builder, sign(left), &remainder);
            let differ = builder.xor(sign(left), sign(right));
            let adds = builder.and(differ, is_positive);
            let divisor: Word = right.iter().map(|&bit| builder.and(adds, bit)).collect();
            add(builder, &remainder, &divisor, Edge::FALSE).0
        }
        Binary::Uaddo => vec![add(builder, left, right, Edge::FALSE).1],
        Binary::Usubo => vec![less(builder, left, right)],
        Binary::Saddo => {
            let sum = add(builder, left, right, Edge::FALSE).0;
            let agree = builder.iff(sign(left), sign(right));
            let flips = builder.xor(sign(left), sign(&sum));
            vec![builder.and(agree, flips)]
        }
        Binary::Ssubo => {
            let difference = subtract(builder, left, right).0;
            let differ = builder.xor(sign(left), sign(right));
            let flips = builder.xor(sign(left), sign(&difference));
            vec![builder.and(differ, flips)]
        }
        Binary::Umulo => {
            let (wide_left, wide_right) =
                (extend(left, 2 * left.len(), false), extend(right, 2 * right.len(), false));
            let product = multiply(builder, &wide_left, &wide_right);
            vec![builder.or_all(product[left.len()..].iter().copied())]
        }
        Binary::Smulo => {
            let (wide_left, wide_right) =
                (extend(left, 2 * left.len(), true), extend(right, 2 * right.len(), true));
            let product = multiply(builder, &wide_left, &wide_right);
            // It fits if the upper half repeats the sign.
            let top = product[left.len() - 1];
            let flips: Word = product[left.len()..].iter().map(|&bit| builder.xor(bit, top)).collect();
            vec![builder.or_all(flips)]
        }
        Binary::Udivo => vec![Edge::FALSE],
        Binary::Sdivo => {
            // The least number by minus one.
            let (top, rest) = (sign(left), &left[..left.len() - 1]);
            let least = builder.and_all(rest.iter().map(|&bit| !bit).chain([top]));
            let minus_one = builder.and_all(right.iter().copied());
            vec![builder.and(least, minus_one)]
        }
        Binary::Concat => right.iter().chain(left).copied().collect(),
    }
}

/// `then` where the condition holds, `other` elsewhere.
pub fn ite(builder: &mut Builder, condition: Edge, then: &[Edge], other: &[Edge]) -> Word {
    then.iter().zip(other).map(|(&then, &other)| builder.ite(condition, then, other)).collect()
}

/// The word in more bits: with copies of its sign, or with zeros.
pub fn extend(word: &[Edge], width: usize, signed: bool) -> Word {
    let fill = if signed { sign(word) } else { Edge::FALSE };
    word.iter().copied().chain(std::iter::repeat(fill)).take(width).collect()
}

fn constant(width: usize, value: bool) -> Word {
    vec![Edge::from(value); width]
}

fn complement(word: &[Edge]) -> Word {
    word.iter().map(|&bit| !bit).collect()
}

fn sign(word: &[Edge]) -> Edge {
    word[word.len() - 1]
}

/// The sum and the carry.
fn add(builder: &mut Builder, left: &[Edge], right: &[Edge], carry: Edge) -> (Word, Edge) {
    let mut carry = carry;
    let mut sum = Vec::with_capacity(left.len());
    for (&a, &b) in left.iter().zip(right) {
        let differ = builder.xor(a, b);
        let both = builder.and(a, b);
        let passes = builder.and(differ, carry);
        sum.push(builder.xor(differ, carry));
        carry = builder.or(both, passes);
    }
    (sum, carry)
}

/// The difference, and whether there is no borrow: whether left is at least right.
fn subtract(builder: &mut Builder, left: &[Edge], right: &[Edge]) -> (Word, Edge) {
    add(builder, left, &complement(right), Edge::TRUE)
}

fn negate(builder: &mut Builder, word: &[Edge]) -> Word {
    add(builder, &complement(word), &constant(word.len(), false), Edge::TRUE).0
}

fn negate_if(builder: &mut Builder, condition: Edge, word: &[Edge]) -> Word {
    let flipped: Word = word.iter().map(|&bit| builder.xor(bit, condition)).collect();
    add(builder, &flipped, &constant(word.len(), false), condition).0
}

fn equal(builder: &mut Builder, left: &[Edge], right: &[Edge]) -> Edge {
    let same: Word = left.iter().zip(right).map(|(&a, &b)| builder.iff(a, b)).collect();
    builder.and_all(same)
}

/// Unsigned: the highest bit in which they differ decides.
fn less(builder: &mut Builder, left: &[Edge], right: &[Edge]) -> Edge {
    let mut less = Edge::FALSE;
    for (&a, &b) in left.iter().zip(right) {
        let differ = builder.xor(a, b);
        less = builder.ite(differ, b, less);
    }
    less
}

/// Signed: as unsigned with the sign bits exchanged.
fn signed_less(builder: &mut Builder, left: &[Edge], right: &[Edge]) -> Edge {
    let (mut low, mut high) = (left.to_vec(), right.to_vec());
    if let (Some(a), Some(b)) = (low.last_mut(), high.last_mut()) {
        std::mem::swap(a, b);
    }
    less(builder, &low, &high)
}

fn multiply(builder: &mut Builder, left: &[Edge], right: &[Edge]) -> Word {
    let mut product = constant(left.len(), false);
    for (place, &digit) in right.iter().enumerate() {
        if digit == Edge::FALSE {
            continue;
        }
        let row: Word = left[..left.len() - place].iter().map(|&bit| builder.and(bit, digit)).collect();
        let sum = add(builder, &product[place..], &row, Edge::FALSE).0;
        product.splice(place.., sum);
    }
    product
}

/// The unsigned quotient and remainder, by restoring division. If the divisor is 0 it always fits: the quotient is all
/// ones and the remainder the dividend, as SMT-LIB wants.
fn divide(builder: &mut Builder, left: &[Edge], right: &[Edge]) -> (Word, Word) {
    let width = left.len();
    let divisor = extend(right, width + 1, false);
    let mut remainder = constant(width, false);
    let mut quotient = constant(width, false);
    for place in (0..width).rev() {
        let shifted: Word = std::iter::once(left[place]).chain(remainder).collect();
        let (difference, fits) = subtract(builder, &shifted, &divisor);
        quotient[place] = fits;
        remainder = ite(builder, fits, &difference[..width], &shifted[..width]);
    }
    (quotient, remainder)
}

/// The quotient and remainder of the absolute values.
fn divide_absolute(builder: &mut Builder, left: &[Edge], right: &[Edge]) -> (Word, Word) {
    let dividend = negate_if(builder, sign(left), left);
    let divisor = negate_if(builder, sign(right), right);
    divide(builder, &dividend, &divisor)
}

fn shift_right(builder: &mut Builder, word: &[Edge], amount: &[Edge], fill: Edge) -> Word {
    let width = word.len();
    let mut word = word.to_vec();
    let mut stages = 0;
    while stages < amount.len() && 1 << stages < width {
        let moved: Word =
            (0..width).map(|bit| word.get(bit + (1 << stages)).copied().unwrap_or(fill)).collect();
        word = ite(builder, amount[stages], &moved, &word);
        stages += 1;
    }
    let beyond = builder.or_all(amount[stages..].iter().copied());
    word.iter().map(|&bit| builder.ite(beyond, fill, bit)).collect()
}

/// Bit i of the amount rotates by 2^i modulo the width: rotations add up.
fn rotate_right(builder: &mut Builder, word: &[Edge], amount: &[Edge]) -> Word {
    let width = word.len();
    let mut word = word.to_vec();
    let mut distance = 1 % width;
    for &bit in amount {
        if distance != 0 {
            let moved: Word = (0..width).map(|place| word[(place + distance) % width]).collect();
            word = ite(builder, bit, &moved, &word);
        }
        distance = distance * 2 % width;
    }
    word
}
