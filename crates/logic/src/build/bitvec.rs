//! Bit-vectors in normal form (N17 and N18 of [`build`](super)).
//!
//! Operators on values are computed. Sums are polynomials over monomials with coefficients modulo `2^w`, collected
//! without visiting shared subterms twice, as in arithmetic. The bitwise operators are flat and sorted, `bvxor` with
//! its negations extracted. Operators that others can express are replaced by them:
//!
//! ```text
//! a - b        a + -b                                nand, nor, xnor    the complement of and, or, xor
//! a <u b       not (b <=u a), and so the others      zero_extend        concatenation with zeros
//! rotation     concatenation of two parts            repeat             concatenation
//! a << c       concatenation of a part with zeros    a >>u c            concatenation of zeros with a part
//! a >>s c      sign extension of a part              bvcomp a b         ite (a = b) #b1 #b0
//! ```
//!
//! and the signed divisions by their definitions in the standard. Multiplication overflow is kept: expressing it needs
//! a division or twice the width.

use crate::bv::{self, BvResult};
use crate::linear::Pending;
use crate::number::Integer;
use crate::op::Op;
use crate::term::{Term, TermStore};

/// The greatest number of parts up to which concatenations are flattened.
const MAX_PARTS: usize = 64;

/// Dispatch and constants.
impl TermStore {
    /// The normal form of a bit-vector operator.
    pub(super) fn build_bitvec(&self, op: Op, args: &[Term]) -> Term {
        if let Some(value) = self.fold_bitvec(op, args) {
            return value;
        }
        match (op, args) {
            (Op::BvNot, &[a]) => self.bv_not(a),
            (Op::BvNeg, &[a]) => self.bv_neg(a),
            (Op::BvAnd | Op::BvOr, _) => self.bv_junction(op, args.iter().copied()),
            (Op::BvXor, _) => self.bv_xor(args),
            (Op::BvNand, _) => self.bv_not(self.bv_junction(Op::BvAnd, args.iter().copied())),
            (Op::BvNor, _) => self.bv_not(self.bv_junction(Op::BvOr, args.iter().copied())),
            (Op::BvXnor, _) => self.left(args, |a, b| self.bv_not(self.bv_xor(&[a, b]))),
            (Op::BvAdd, _) => self.bv_add(args),
            (Op::BvSub, &[a, b]) => self.bv_sub(a, b),
            (Op::BvMul, _) => self.bv_mul(args),
            (Op::BvUdiv, &[a, b]) => self.bv_udiv(a, b),
            (Op::BvUrem, &[a, b]) => self.bv_urem(a, b),
            (Op::BvSdiv, &[a, b]) => self.bv_sdiv(a, b),
            (Op::BvSrem, &[a, b]) => self.bv_srem(a, b),
            (Op::BvSmod, &[a, b]) => self.bv_smod(a, b),
            (Op::BvShl, &[a, b]) => self.bv_shl(a, b),
            (Op::BvLshr, &[a, b]) => self.bv_lshr(a, b),
            (Op::BvAshr, &[a, b]) => self.bv_ashr(a, b),
            (Op::Concat, _) => self.concat(args),
            (Op::Extract { hi, lo }, &[a]) => self.extract(hi, lo, a),
            (Op::Repeat(times), &[a]) => self.repeat(times, a),
            (Op::ZeroExtend(by), &[a]) => self.zero_extend(by, a),
            (Op::SignExtend(by), &[a]) => self.sign_extend(by, a),
            (Op::RotateLeft(by), &[a]) => self.rotate_left(by, a),
            (Op::RotateRight(by), &[a]) => {
                let width = self.width(a);
                self.rotate_left(width - by % width, a)
            }
            (Op::BvComp, &[a, b]) => self.ite(self.eq(a, b), self.bv(1, 1), self.bv(0, 1)),
            (Op::BvUle, &[a, b]) => self.bv_ule(a, b),
            (Op::BvUlt | Op::BvUsubO, &[a, b]) => self.bv_ult(a, b),
            (Op::BvUge, &[a, b]) => self.bv_ule(b, a),
            (Op::BvUgt, &[a, b]) => self.bv_ult(b, a),
            (Op::BvSle, &[a, b]) => self.bv_sle(a, b),
            (Op::BvSlt, &[a, b]) => self.bv_slt(a, b),
            (Op::BvSge, &[a, b]) => self.bv_sle(b, a),
            (Op::BvSgt, &[a, b]) => self.bv_slt(b, a),
            (Op::BvNegO, &[a]) => self.eq(a, self.least_signed(self.width(a))),
            (Op::BvUaddO, &[a, b]) => self.bv_ult(self.bv_add(args), a.min(b)),
            (Op::BvSaddO, &[a, b]) => {
                let (a, b, sum) =
                    (self.is_negative(a), self.is_negative(b), self.is_negative(self.bv_add(args)));
                self.and2(self.iff(a, b), self.xor(a, sum))
            }
            (Op::BvSsubO, &[a, b]) => {
                let difference = self.is_negative(self.bv_sub(a, b));
                let (a, b) = (self.is_negative(a), self.is_negative(b));
                self.and2(self.xor(a, b), self.xor(a, difference))
            }
            (Op::BvSdivO, &[a, b]) => {
                let width = self.width(a);
                self.and2(self.eq(a, self.least_signed(width)), self.eq(b, self.bv(-1, width)))
            }
            (Op::BvUmulO, &[a, b]) => match self.as_naturals([a, b]) {
                Some([x, y]) => self.ge(self.mul(&[x, y]), self.int(Integer::pow2(self.width(a)))),
                None => self.raw(op, &[a.min(b), a.max(b)]),
            },
            (Op::BvSmulO, &[a, b]) => match self.as_integers([a, b]) {
                Some([x, y]) => {
                    let (product, bound) = (self.mul(&[x, y]), Integer::pow2(self.width(a) - 1));
                    self.or2(self.lt(product, self.int(-&bound)), self.ge(product, self.int(bound)))
                }
                None => self.raw(op, &[a.min(b), a.max(b)]),
            },
            (Op::UbvToInt, &[a]) => self.ubv_to_int(a),
            (Op::SbvToInt, &[a]) => self.sbv_to_int(a),
            (Op::IntToBv(width), &[a]) => self.int_to_bv(width, a),
            _ => self.raw(op, args),
        }
    }

    /// The value of a bit-vector operator, if all arguments are values.
    fn fold_bitvec(&self, op: Op, args: &[Term]) -> Option<Term> {
        let result = match (op, args) {
            (Op::IntToBv(_), &[a]) => bv::fold(op, &[(&self.numeral(a)?.to_integer()?, 0)])?,
            _ => {
                let value = |&arg: &Term| Some((self.bv_numeral(arg)?, self.width(arg)));
                bv::fold(op, &args.iter().map(value).collect::<Option<Vec<_>>>()?)?
            }
        };
        Some(match result {
            BvResult::Bv(value, width) => self.bv(value, width),
            BvResult::Bool(value) => self.bool(value),
            BvResult::Int(value) => self.int(value),
        })
    }

    /// The width of a bit-vector.
    fn width(&self, a: Term) -> u32 {
        self.bv_width(self.sort_of(a)).expect("operators on bit-vectors get bit-vectors")
    }

    /// The value with only the sign bit set.
    fn least_signed(&self, width: u32) -> Term {
        self.bv(Integer::pow2(width - 1), width)
    }

    fn is_bv_value(&self, a: Term, value: i32) -> bool {
        self.bv_numeral(a).is_some_and(|number| match value {
            -1 => bv::all_ones(number, self.width(a)),
            _ => *number == Integer::from(value),
        })
    }
}

/// Bitwise operators.
impl TermStore {
    /// Bitwise complement.
    pub fn bv_not(&self, a: Term) -> Term {
        match self.view(a) {
            (Op::BvNot, &[inner]) => inner,
            _ => self.fold_bitvec(Op::BvNot, &[a]).unwrap_or_else(|| self.raw(Op::BvNot, &[a])),
        }
    }

    /// Bitwise and of at least one term, all of one width.
    pub fn bv_and(&self, args: &[Term]) -> Term {
        self.bv_junction(Op::BvAnd, args.iter().copied())
    }

    /// Bitwise or of at least one term, all of one width.
    pub fn bv_or(&self, args: &[Term]) -> Term {
        self.bv_junction(Op::BvOr, args.iter().copied())
    }

    /// Bitwise exclusive or of at least one term, all of one width.
    pub fn bv_xor(&self, args: &[Term]) -> Term {
        self.bv_xor_of(args.iter().copied())
    }

    /// Bitwise and, or bitwise or, of at least one term.
    pub(super) fn bv_junction(&self, op: Op, args: impl IntoIterator<Item = Term>) -> Term {
        let mut args = args.into_iter().peekable();
        let width = self.width(*args.peek().expect("bitwise operators have arguments"));
        let ones = self.bv(-1, width);
        let (neutral, absorbing) = match op {
            Op::BvAnd => (ones, self.bv(0, width)),
            _ => (self.bv(0, width), ones),
        };
        let mut constant = neutral;
        let mut literals: Vec<(Term, bool, Term)> = Vec::new();
        let mut add = |arg: Term| match self.view(arg) {
            (Op::BvNumeral(_), _) => {
                constant = self.fold_bitvec(op, &[constant, arg]).expect("both are values");
            }
            (Op::BvNot, &[atom]) => literals.push((atom, true, arg)),
            _ => literals.push((arg, false, arg)),
        };
        for arg in args {
            match self.view(arg) {
                (head, parts) if head == op => parts.iter().for_each(|&part| add(part)),
                _ => add(arg),
            }
        }
        literals.sort_unstable();
        literals.dedup();
        if constant == absorbing || literals.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return absorbing;
        }
        let mut args: Vec<Term> = literals.iter().map(|literal| literal.2).collect();
        if constant != neutral {
            args.push(constant);
        }
        match args[..] {
            [] => neutral,
            [one] => one,
            _ => self.raw(op, &args),
        }
    }

    /// Bitwise exclusive or of at least one term.
    pub(super) fn bv_xor_of(&self, args: impl IntoIterator<Item = Term>) -> Term {
        let mut args = args.into_iter().peekable();
        let width = self.width(*args.peek().expect("bitwise operators have arguments"));
        let mut constant = Integer::ZERO;
        let mut atoms: Vec<Term> = Vec::new();
        let mut add = |arg: Term| match self.bv_numeral(arg) {
            Some(value) => constant = &constant ^ value,
            None => atoms.push(arg),
        };
        for arg in args {
            let inner = match self.view(arg) {
                (Op::BvNot, &[inner]) => {
                    add(self.bv(-1, width));
                    inner
                }
                _ => arg,
            };
            match self.view(inner) {
                (Op::BvXor, parts) => parts.iter().for_each(|&part| add(part)),
                _ => add(inner),
            }
        }
        atoms.sort_unstable();
        let odd = atoms.chunk_by(|a, b| a == b).filter(|same| same.len() % 2 == 1);
        let mut args: Vec<Term> = odd.map(|same| same[0]).collect();
        let complement = !args.is_empty() && bv::all_ones(&constant, width);
        if !complement && !constant.is_zero() {
            args.push(self.bv(constant, width));
        }
        let positive = match args[..] {
            [] => self.bv(0, width),
            [one] => one,
            _ => self.raw(Op::BvXor, &args),
        };
        if complement { self.bv_not(positive) } else { positive }
    }
}

/// Sums and products.
impl TermStore {
    /// The sum of at least one term, all of one width.
    pub fn bv_add(&self, args: &[Term]) -> Term {
        self.bv_sum(self.width(args[0]), args.iter().map(|&arg| (arg, Integer::ONE)), Integer::ZERO)
    }

    /// The difference.
    pub fn bv_sub(&self, a: Term, b: Term) -> Term {
        self.bv_sum(self.width(a), [(a, Integer::ONE), (b, Integer::from(-1))], Integer::ZERO)
    }

    /// The negation.
    pub fn bv_neg(&self, a: Term) -> Term {
        self.bv_sum(self.width(a), [(a, Integer::from(-1))], Integer::ZERO)
    }

    /// The linear combination of terms of a width.
    pub(super) fn bv_sum(
        &self,
        width: u32,
        args: impl IntoIterator<Item = (Term, Integer)>,
        constant: Integer,
    ) -> Term {
        let (mut leaves, more) = self.bv_leaves(width, args.into_iter().collect(), |_| false);
        let constant = (constant + more).modulo_pow2(width);
        leaves.reverse();
        let mut summands: Vec<Term> = leaves
            .into_iter()
            .map(|(monomial, coefficient)| self.bv_multiple(monomial, coefficient, width))
            .collect();
        if !constant.is_zero() {
            summands.push(self.bv(constant, width));
        }
        match summands[..] {
            [] => self.bv(0, width),
            [one] => one,
            _ => self.raw(Op::BvAdd, &summands),
        }
    }

    /// The multiple of a monomial by a nonzero number.
    fn bv_multiple(&self, monomial: Term, coefficient: Integer, width: u32) -> Term {
        if coefficient.is_one() {
            monomial
        } else if bv::all_ones(&coefficient, width) {
            self.raw(Op::BvNeg, &[monomial])
        } else {
            self.raw(Op::BvMul, &[self.bv(coefficient, width), monomial])
        }
    }

    /// The linear structure of terms as written: the subterms of which they are a linear combination, in descending
    /// order and with coefficients that are nonzero modulo the width, and the constant. Does not enter terms for which
    /// `stop` holds.
    pub(super) fn bv_leaves(
        &self,
        width: u32,
        mut pending: Pending<Integer>,
        stop: impl Fn(Term) -> bool,
    ) -> (Vec<(Term, Integer)>, Integer) {
        let mut leaves = Vec::new();
        let mut constant = Integer::ZERO;
        while let Some((term, coefficient)) = pending.pop() {
            let coefficient = coefficient.modulo_pow2(width);
            if coefficient.is_zero() {
                continue;
            }
            match self.view(term) {
                _ if stop(term) => leaves.push((term, coefficient)),
                (Op::BvNumeral(value), _) => constant += self.integer(value) * coefficient,
                (Op::BvAdd, args) => args.iter().for_each(|&arg| pending.push(arg, coefficient.clone())),
                (Op::BvNeg, &[arg]) => pending.push(arg, -coefficient),
                (Op::BvSub, &[a, b]) => {
                    pending.push(b, -&coefficient);
                    pending.push(a, coefficient);
                }
                (Op::BvMul, factors) if self.is_bv_linear(term) => {
                    let mut product = coefficient;
                    let mut variable = None;
                    for &factor in factors {
                        match self.bv_numeral(factor) {
                            Some(value) => product = (product * value).modulo_pow2(width),
                            None => variable = Some(factor),
                        }
                    }
                    match variable {
                        Some(factor) => pending.push(factor, product),
                        None => constant += product,
                    }
                }
                _ => leaves.push((term, coefficient)),
            }
        }
        (leaves, constant)
    }

    /// Whether a term, as written, is a linear combination of its arguments.
    pub(super) fn is_bv_linear(&self, term: Term) -> bool {
        match self.view(term) {
            (Op::BvAdd | Op::BvSub | Op::BvNeg, _) => true,
            (Op::BvMul, factors) => {
                factors.iter().filter(|&&factor| self.bv_numeral(factor).is_none()).nth(1).is_none()
            }
            _ => false,
        }
    }

    /// The product of at least one term, all of one width. Numbers are multiplied into sums; sums are not multiplied
    /// with each other.
    pub fn bv_mul(&self, args: &[Term]) -> Term {
        let width = self.width(args[0]);
        let mut coefficient = Integer::ONE;
        let mut factors: Vec<Term> = Vec::with_capacity(args.len());
        for &arg in args {
            match self.view(arg) {
                (Op::BvNumeral(value), _) => coefficient *= self.integer(value),
                (Op::BvNeg, &[inner]) => {
                    coefficient = -coefficient;
                    factors.push(inner);
                }
                (Op::BvMul, &[factor, inner]) if self.bv_numeral(factor).is_some() => {
                    coefficient *= self.bv_numeral(factor).expect("just seen");
                    factors.push(inner);
                }
                _ => factors.push(arg),
            }
            coefficient = coefficient.modulo_pow2(width);
        }
        self.flatten_product(Op::BvMul, &mut factors);
        factors.sort_unstable();
        let product = match factors[..] {
            _ if coefficient.is_zero() => return self.bv(0, width),
            [] => return self.bv(coefficient, width),
            [one] => one,
            _ => self.raw(Op::BvMul, &factors),
        };
        self.bv_sum(width, [(product, coefficient)], Integer::ZERO)
    }
}

/// Division.
impl TermStore {
    /// The unsigned quotient; all ones for a zero divisor.
    pub fn bv_udiv(&self, a: Term, b: Term) -> Term {
        if let Some(value) = self.fold_bitvec(Op::BvUdiv, &[a, b]) {
            return value;
        }
        let width = self.width(a);
        match self.bv_numeral(b) {
            Some(divisor) if divisor.is_zero() => self.bv(-1, width),
            Some(divisor) if is_power_of_two(divisor) => {
                self.bv_lshr(a, self.bv(divisor.bit_len() - 1, width))
            }
            _ => self.raw(Op::BvUdiv, &[a, b]),
        }
    }

    /// The unsigned remainder; the dividend for a zero divisor.
    pub fn bv_urem(&self, a: Term, b: Term) -> Term {
        if let Some(value) = self.fold_bitvec(Op::BvUrem, &[a, b]) {
            return value;
        }
        let width = self.width(a);
        match self.bv_numeral(b) {
            _ if a == b || self.is_bv_value(a, 0) => self.bv(0, width),
            Some(divisor) if divisor.is_zero() => a,
            Some(divisor) if divisor.is_one() => self.bv(0, width),
            Some(divisor) if is_power_of_two(divisor) => {
                let kept = divisor.bit_len() as u32 - 1;
                self.zero_extend(width - kept, self.extract(kept - 1, 0, a))
            }
            _ => self.raw(Op::BvUrem, &[a, b]),
        }
    }

    /// The signed quotient, rounded to zero.
    pub fn bv_sdiv(&self, a: Term, b: Term) -> Term {
        let quotient = self.bv_udiv(self.bv_abs(a), self.bv_abs(b));
        self.ite(self.iff(self.is_negative(a), self.is_negative(b)), quotient, self.bv_neg(quotient))
    }

    /// The signed remainder with the sign of the dividend.
    pub fn bv_srem(&self, a: Term, b: Term) -> Term {
        let remainder = self.bv_urem(self.bv_abs(a), self.bv_abs(b));
        self.ite(self.is_negative(a), self.bv_neg(remainder), remainder)
    }

    /// The signed remainder with the sign of the divisor.
    pub fn bv_smod(&self, a: Term, b: Term) -> Term {
        let remainder = self.bv_urem(self.bv_abs(a), self.bv_abs(b));
        let (negative_a, negative_b) = (self.is_negative(a), self.is_negative(b));
        let signed = self.ite(negative_a, self.bv_neg(remainder), remainder);
        let shift = self
            .and2(self.not(self.eq(remainder, self.bv(0, self.width(a)))), self.xor(negative_a, negative_b));
        self.ite(shift, self.bv_add(&[signed, b]), signed)
    }

    fn bv_abs(&self, a: Term) -> Term {
        self.ite(self.is_negative(a), self.bv_neg(a), a)
    }

    /// Whether the sign bit is set.
    fn is_negative(&self, a: Term) -> Term {
        self.bv_slt(a, self.bv(0, self.width(a)))
    }
}

fn is_power_of_two(number: &Integer) -> bool {
    number.is_positive() && (number & (number - Integer::ONE)).is_zero()
}

/// Shifts and parts.
impl TermStore {
    /// Shift left.
    pub fn bv_shl(&self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let Some(amount) = self.bv_numeral(b) else {
            return if self.is_bv_value(a, 0) { a } else { self.raw(Op::BvShl, &[a, b]) };
        };
        match bv::shift_amount(amount, width) {
            Some(0) => a,
            Some(by) => self.concat(&[self.extract(width - 1 - by, 0, a), self.bv(0, by)]),
            None => self.bv(0, width),
        }
    }

    /// Logical shift right.
    pub fn bv_lshr(&self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let Some(amount) = self.bv_numeral(b) else {
            return if self.is_bv_value(a, 0) { a } else { self.raw(Op::BvLshr, &[a, b]) };
        };
        match bv::shift_amount(amount, width) {
            Some(by) => self.zero_extend(by, self.extract(width - 1, by, a)),
            None => self.bv(0, width),
        }
    }

    /// Arithmetic shift right.
    pub fn bv_ashr(&self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let Some(amount) = self.bv_numeral(b) else {
            let unchanged = self.is_bv_value(a, 0) || self.is_bv_value(a, -1);
            return if unchanged { a } else { self.raw(Op::BvAshr, &[a, b]) };
        };
        let by = bv::shift_amount(amount, width).unwrap_or(width - 1);
        self.sign_extend(by, self.extract(width - 1, by, a))
    }

    /// Concatenation of at least one part; the first one has the highest bits.
    pub fn concat(&self, args: &[Term]) -> Term {
        let mut parts: Vec<Term> = Vec::with_capacity(args.len());
        args.iter().for_each(|&arg| self.push_part(&mut parts, arg));
        let inner = |part: &Term| match self.view(*part) {
            (Op::Concat, inner) => Some(inner),
            _ => None,
        };
        let length: usize = parts.iter().map(|part| inner(part).map_or(1, <[Term]>::len)).sum();
        if (parts.len() + 1..=MAX_PARTS).contains(&length) {
            let mut flat: Vec<Term> = Vec::with_capacity(length);
            for part in &parts {
                let inner = inner(part).unwrap_or(std::slice::from_ref(part));
                inner.iter().for_each(|&part| self.push_part(&mut flat, part));
            }
            parts = flat;
        }
        match parts[..] {
            [one] => one,
            _ => self.raw(Op::Concat, &parts),
        }
    }

    /// Appends a part to a concatenation, joined with the previous one if both are values or neighbours in one vector.
    fn push_part(&self, parts: &mut Vec<Term>, part: Term) {
        let joined = parts.last().and_then(|&last| match (self.view(last), self.view(part)) {
            ((Op::BvNumeral(_), _), (Op::BvNumeral(_), _)) => self.fold_bitvec(Op::Concat, &[last, part]),
            ((Op::Extract { hi, lo }, &[a]), (Op::Extract { hi: next, lo: end }, &[b]))
                if a == b && lo == next + 1 =>
            {
                Some(self.extract(hi, end, a))
            }
            _ => None,
        });
        match joined {
            Some(joined) => *parts.last_mut().expect("it was joined") = joined,
            None => parts.push(part),
        }
    }

    /// The bits from `hi` down to `lo`.
    pub fn extract(&self, hi: u32, lo: u32, a: Term) -> Term {
        let mut parts = Vec::new();
        let mut open = vec![(hi, lo, a)];
        while let Some((hi, lo, a)) = open.pop() {
            let width = self.width(a);
            debug_assert!(lo <= hi && hi < width, "bits {hi} to {lo} of {width}");
            match self.view(a) {
                _ if hi - lo + 1 == width => self.push_part(&mut parts, a),
                (Op::BvNumeral(_), _) => {
                    let value = self.fold_bitvec(Op::Extract { hi, lo }, &[a]).expect("it is a value");
                    self.push_part(&mut parts, value);
                }
                (Op::Extract { lo: base, .. }, &[inner]) => open.push((hi + base, lo + base, inner)),
                (Op::SignExtend(_), &[inner]) if hi < self.width(inner) => open.push((hi, lo, inner)),
                (Op::Concat, inner) => {
                    let mut start = 0;
                    for &part in inner.iter().rev() {
                        let end = start + (self.width(part) - 1);
                        if start <= hi && lo <= end {
                            open.push((hi.min(end) - start, lo.max(start) - start, part));
                        }
                        if end >= hi {
                            break;
                        }
                        start = end + 1;
                    }
                }
                _ => self.push_part(&mut parts, self.raw(Op::Extract { hi, lo }, &[a])),
            }
        }
        self.concat(&parts)
    }

    /// The vector repeated at least once.
    pub fn repeat(&self, times: u32, a: Term) -> Term {
        if times as usize <= MAX_PARTS {
            return self.concat(&vec![a; times as usize]);
        }
        let half = self.repeat(times / 2, a);
        if times.is_multiple_of(2) { self.concat(&[half, half]) } else { self.concat(&[half, half, a]) }
    }

    /// Extension by zeros.
    pub fn zero_extend(&self, by: u32, a: Term) -> Term {
        if by == 0 { a } else { self.concat(&[self.bv(0, by), a]) }
    }

    /// Extension by the sign bit.
    pub fn sign_extend(&self, by: u32, a: Term) -> Term {
        match self.view(a) {
            _ if by == 0 => a,
            (Op::BvNumeral(_), _) => self.fold_bitvec(Op::SignExtend(by), &[a]).expect("it is a value"),
            (Op::SignExtend(inner), &[below]) => self.raw(Op::SignExtend(inner + by), &[below]),
            _ => self.raw(Op::SignExtend(by), &[a]),
        }
    }

    /// Rotation to the left.
    pub fn rotate_left(&self, by: u32, a: Term) -> Term {
        let width = self.width(a);
        match by % width {
            0 => a,
            by => self.concat(&[self.extract(width - 1 - by, 0, a), self.extract(width - 1, width - by, a)]),
        }
    }
}

/// Comparison.
impl TermStore {
    /// Unsigned less or equal.
    pub fn bv_ule(&self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        self.bv_compare(Op::BvUle, a, b, self.bv(0, width), self.bv(-1, width))
    }

    /// Unsigned less.
    pub fn bv_ult(&self, a: Term, b: Term) -> Term {
        self.not(self.bv_ule(b, a))
    }

    /// Signed less or equal.
    pub fn bv_sle(&self, a: Term, b: Term) -> Term {
        let least = self.least_signed(self.width(a));
        self.bv_compare(Op::BvSle, a, b, least, self.bv_not(least))
    }

    /// Signed less.
    pub fn bv_slt(&self, a: Term, b: Term) -> Term {
        self.not(self.bv_sle(b, a))
    }

    /// `a <= b` in the order that has the given least and greatest values.
    fn bv_compare(&self, op: Op, a: Term, b: Term, least: Term, greatest: Term) -> Term {
        if let Some(value) = self.fold_bitvec(op, &[a, b]) {
            return value;
        }
        if a == b || a == least || b == greatest {
            return Term::TRUE;
        }
        let numbers = if op == Op::BvUle { self.as_naturals([a, b]) } else { self.as_integers([a, b]) };
        if let Some([a, b]) = numbers {
            return self.le(a, b);
        }
        if b == least || a == greatest {
            return self.bv_eq(a, b);
        }
        let one = self.bv(1, self.width(a));
        // The constant is not the least value, so it has a predecessor: `c <= b` is `not (b <= c - 1)`.
        if self.bv_numeral(a).is_some() {
            return self.not(self.bv_compare(op, b, self.bv_sub(a, one), least, greatest));
        }
        if b == self.bv_sub(greatest, one) {
            return self.not(self.bv_eq(a, greatest));
        }
        self.raw(op, &[a, b])
    }

    /// Equality of bit-vectors.
    pub(super) fn bv_eq(&self, mut a: Term, mut b: Term) -> Term {
        if let Some([a, b]) = self.as_naturals([a, b]) {
            return self.eq(a, b);
        }
        loop {
            if self.bv_numeral(a).is_some() {
                (a, b) = (b, a);
            }
            let Some(value) = self.bv_numeral(b) else {
                match (self.view(a), self.view(b)) {
                    _ if a == b => return Term::TRUE,
                    ((Op::BvNot, &[inner_a]), (Op::BvNot, &[inner_b])) => (a, b) = (inner_a, inner_b),
                    _ => return self.raw(Op::Eq, &[a.min(b), a.max(b)]),
                }
                continue;
            };
            // Move everything around the unknown to the other side.
            match self.view(a) {
                (Op::BvNumeral(_), _) => return self.bool(a == b),
                (Op::BvNot, &[inner]) => (a, b) = (inner, self.bv_not(b)),
                (Op::BvNeg, &[inner]) => (a, b) = (inner, self.bv_neg(b)),
                (Op::BvAdd, &[.., constant]) if self.bv_numeral(constant).is_some() => {
                    (a, b) = (self.bv_sub(a, constant), self.bv_sub(b, constant));
                }
                (Op::Ite, &[condition, then, other])
                    if self.bv_numeral(then).is_some() && self.bv_numeral(other).is_some() =>
                {
                    return self.ite(condition, self.bool(then == b), self.bool(other == b));
                }
                _ if value.is_zero() && self.width(a) == 1 => {
                    return self.not(self.raw(Op::Eq, &[a, self.bv(1, 1)]));
                }
                _ => return self.raw(Op::Eq, &[a, b]),
            }
        }
    }
}

/// Conversion.
impl TermStore {
    /// The bit-vector as a natural number.
    pub fn ubv_to_int(&self, a: Term) -> Term {
        if let Some(value) = self.fold_bitvec(Op::UbvToInt, &[a]) {
            return value;
        }
        self.as_naturals([a]).map_or_else(|| self.raw(Op::UbvToInt, &[a]), |[natural]| natural)
    }

    /// The bit-vector as a two's-complement integer.
    pub fn sbv_to_int(&self, a: Term) -> Term {
        if let Some(value) = self.fold_bitvec(Op::SbvToInt, &[a]) {
            return value;
        }
        self.as_integers([a]).map_or_else(|| self.raw(Op::SbvToInt, &[a]), |[integer]| integer)
    }

    /// The integer modulo two to the width.
    pub fn int_to_bv(&self, width: u32, a: Term) -> Term {
        let op = Op::IntToBv(width);
        if let Some(value) = self.fold_bitvec(op, &[a]) {
            return value;
        }
        match self.view(a) {
            (Op::UbvToInt | Op::SbvToInt, &[vector]) if self.width(vector) == width => vector,
            _ => self.raw(op, &[a]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::Sort;

    fn vectors(store: &TermStore) -> [Term; 2] {
        ["x", "y"].map(|name| store.var(store.symbol(name), store.bitvec_sort(8)))
    }

    #[test]
    fn sums_are_polynomials_modulo_the_width() {
        let store = TermStore::new();
        let [x, y] = vectors(&store);
        let double = store.raw(Op::BvMul, &[store.bv(2, 8), x]);
        assert_eq!(store.bv_add(&[x, x]), double);
        assert_eq!(store.bv_sub(x, x), store.bv(0, 8));
        let difference = store.raw(Op::BvAdd, &[x, store.raw(Op::BvNeg, &[y]), store.bv(1, 8)]);
        assert_eq!(store.bv_sub(store.bv_add(&[x, store.bv(1, 8)]), y), difference);
        assert_eq!(store.bv_neg(store.bv_neg(x)), x);
        assert_eq!(store.bv_mul(&[store.bv(128, 8), double]), store.bv(0, 8));
    }

    #[test]
    fn bitwise_operators_know_neutral_and_absorbing_values() {
        let store = TermStore::new();
        let [x, y] = vectors(&store);
        let (zero, ones) = (store.bv(0, 8), store.bv(-1, 8));
        assert_eq!(store.bv_and(&[x, ones]), x);
        assert_eq!(store.bv_and(&[x, zero]), zero);
        assert_eq!(store.bv_or(&[x, zero, x]), x);
        assert_eq!(store.bv_or(&[x, store.bv_not(x)]), ones);
        assert_eq!(store.bv_and(&[x, store.bv_not(x)]), zero);
        assert_eq!(store.bv_xor(&[x, y, x]), y);
        assert_eq!(store.bv_xor(&[x, ones]), store.bv_not(x));
        assert_eq!(store.bv_xor(&[store.bv_not(x), y]), store.bv_not(store.bv_xor(&[y, x])));
        assert_eq!(store.bv_not(store.bv_not(x)), x);
    }

    #[test]
    fn division_by_special_values() {
        let store = TermStore::new();
        let [x, _] = vectors(&store);
        assert_eq!(store.bv_udiv(x, store.bv(0, 8)), store.bv(-1, 8));
        assert_eq!(store.bv_urem(x, store.bv(0, 8)), x);
        assert_eq!(store.bv_udiv(x, store.bv(1, 8)), x);
        assert_eq!(store.bv_urem(x, store.bv(1, 8)), store.bv(0, 8));
        assert_eq!(store.bv_udiv(x, store.bv(4, 8)), store.zero_extend(2, store.extract(7, 2, x)));
        assert_eq!(store.bv_urem(x, store.bv(4, 8)), store.zero_extend(6, store.extract(1, 0, x)));
        assert_eq!(store.bv_urem(x, x), store.bv(0, 8));
        assert_eq!(store.op(store.bv_udiv(x, x)), Op::BvUdiv);
    }

    #[test]
    fn comparisons_have_constants_on_the_right() {
        let store = TermStore::new();
        let [x, y] = vectors(&store);
        let [zero, five, six, ones] = [0, 5, 6, -1].map(|value| store.bv(value, 8));
        assert_eq!(store.bv_ult(x, six), store.raw(Op::BvUle, &[x, five]));
        assert_eq!(store.bv_ule(six, x), store.not(store.raw(Op::BvUle, &[x, five])));
        assert_eq!(store.bv_ule(x, ones), Term::TRUE);
        assert_eq!(store.bv_ule(zero, x), Term::TRUE);
        assert_eq!(store.bv_ule(x, zero), store.eq(x, zero));
        assert_eq!(store.bv_ult(zero, x), store.not(store.eq(x, zero)));
        assert_eq!(store.bv_ult(x, ones), store.not(store.eq(x, ones)));
        assert_eq!(store.bv_slt(x, y), store.not(store.raw(Op::BvSle, &[y, x])));
        assert_eq!(store.bv_sle(x, store.bv(127, 8)), Term::TRUE);
        assert_eq!(store.bv_sle(x, store.bv(128, 8)), store.eq(x, store.bv(128, 8)));
        assert_eq!(store.bv_ule(x, x), Term::TRUE);
    }

    #[test]
    fn equalities_move_constants_to_the_right() {
        let store = TermStore::new();
        let [x, y] = vectors(&store);
        let [one, five] = [1, 5].map(|value| store.bv(value, 8));
        let expected = store.raw(Op::Eq, &[x, store.bv(4, 8)]);
        assert_eq!(store.eq(five, store.bv_add(&[one, x])), expected);
        assert_eq!(store.eq(store.bv_not(x), store.bv(251, 8)), expected);
        assert_eq!(store.eq(store.bv_neg(x), store.bv(252, 8)), expected);
        assert_eq!(store.eq(store.bv_not(x), store.bv_not(y)), store.eq(x, y));
        assert_eq!(store.eq(one, five), Term::FALSE);
        let p = store.var(store.symbol("p"), Sort::BOOL);
        assert_eq!(store.eq(store.ite(p, one, five), five), store.not(p));
        let bit = store.var(store.symbol("b"), store.bitvec_sort(1));
        assert_eq!(store.eq(bit, store.bv(0, 1)), store.not(store.eq(bit, store.bv(1, 1))));
    }

    #[test]
    fn parts_of_parts_are_parts() {
        let store = TermStore::new();
        let [x, y] = vectors(&store);
        let low = store.extract(3, 0, x);
        assert_eq!(store.extract(2, 1, store.extract(5, 2, x)), store.extract(4, 3, x));
        assert_eq!(store.concat(&[store.extract(7, 4, x), low]), x);
        let both = store.concat(&[x, y]);
        assert_eq!(store.extract(15, 8, both), x);
        assert_eq!(store.extract(11, 4, both), store.concat(&[low, store.extract(7, 4, y)]));
        assert_eq!(store.concat(&[store.bv(1, 2), store.bv(2, 2)]), store.bv(6, 4));
        assert_eq!(store.extract(3, 0, store.sign_extend(4, x)), low);
        assert_eq!(store.sign_extend(1, store.sign_extend(2, x)), store.sign_extend(3, x));
    }

    #[test]
    fn shifts_and_rotations_by_constants_are_concatenations() {
        let store = TermStore::new();
        let [x, y] = vectors(&store);
        let three = store.bv(3, 8);
        assert_eq!(store.bv_shl(x, three), store.concat(&[store.extract(4, 0, x), store.bv(0, 3)]));
        assert_eq!(store.bv_lshr(x, three), store.concat(&[store.bv(0, 3), store.extract(7, 3, x)]));
        assert_eq!(store.bv_ashr(x, three), store.sign_extend(3, store.extract(7, 3, x)));
        assert_eq!(store.bv_shl(x, store.bv(8, 8)), store.bv(0, 8));
        assert_eq!(store.bv_ashr(x, store.bv(9, 8)), store.sign_extend(7, store.extract(7, 7, x)));
        assert_eq!(store.bv_lshr(x, store.bv(0, 8)), x);
        assert_eq!(store.rotate_left(3, x), store.concat(&[store.extract(4, 0, x), store.extract(7, 5, x)]));
        assert_eq!(store.build(Op::RotateRight(5), &[x]), Ok(store.rotate_left(3, x)));
        assert_eq!(store.op(store.bv_shl(x, y)), Op::BvShl);
    }

    #[test]
    fn long_concatenations_stay_nested() {
        let store = TermStore::new();
        let bit = store.var(store.symbol("b"), store.bitvec_sort(1));
        assert_eq!(store.args(store.repeat(64, bit)).len(), 64);
        let long = store.repeat(1_000_000, bit);
        assert_eq!(store.bv_width(store.sort_of(long)), Some(1_000_000));
        assert!(store.subterms(&[long]).len() < 100);
        assert_eq!(store.extract(777_777, 777_777, long), bit);
    }

    #[test]
    fn conversions_there_and_back() {
        let store = TermStore::new();
        let [x, _] = vectors(&store);
        let n = store.var(store.symbol("n"), Sort::INT);
        assert_eq!(store.int_to_bv(8, store.ubv_to_int(x)), x);
        assert_eq!(store.int_to_bv(8, store.sbv_to_int(x)), x);
        assert_eq!(store.op(store.int_to_bv(4, store.ubv_to_int(x))), Op::IntToBv(4));
        assert_eq!(store.ubv_to_int(store.int_to_bv(8, n)), store.modulo(n, store.int(256)));
        assert_eq!(store.sbv_to_int(store.bv(255, 8)), store.int(-1));
    }
}
