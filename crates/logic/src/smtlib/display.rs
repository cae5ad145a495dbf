//! Prints symbols, sorts and operators in SMT-LIB syntax.

use std::fmt;

use crate::op::Op;
use crate::sort::{Sort, SortKind, Symbol};
use crate::term::TermStore;

impl TermStore {
    /// The symbol, in bars if SMT-LIB requires them.
    pub fn display_symbol(&self, symbol: Symbol) -> DisplaySymbol<'_> {
        DisplaySymbol(self.name(symbol))
    }

    /// The sort in SMT-LIB syntax.
    pub fn display_sort(&self, sort: Sort) -> DisplaySort<'_> {
        DisplaySort { store: self, sort }
    }

    /// The operator as an SMT-LIB identifier, without arguments.
    pub fn display_op(&self, op: Op) -> DisplayOp<'_> {
        DisplayOp { store: self, op }
    }
}

/// A symbol to be printed; see [`TermStore::display_symbol`].
#[derive(Clone, Copy)]
pub struct DisplaySymbol<'a>(pub &'a str);

impl fmt::Display for DisplaySymbol<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_simple_symbol(self.0) { f.write_str(self.0) } else { write!(f, "|{}|", self.0) }
    }
}

/// Whether a symbol needs no bars: it consists of letters, digits and the punctuation that SMT-LIB lists, does not
/// start with a digit, and is not a reserved word.
pub(crate) fn is_simple_symbol(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(is_symbol_byte)
        && !RESERVED.contains(&name)
}

/// Whether a simple symbol may contain the byte.
pub(crate) const fn is_symbol_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'~' | b'!'
                | b'@'
                | b'$'
                | b'%'
                | b'^'
                | b'&'
                | b'*'
                | b'_'
                | b'-'
                | b'+'
                | b'='
                | b'<'
                | b'>'
                | b'.'
                | b'?'
                | b'/'
        )
}

/// Words with a meaning in the grammar; they are names only within bars. Command names are reserved too, but only at
/// the head of a command, where a script has no other symbols.
const RESERVED: &[&str] = &[
    "!",
    "_",
    "as",
    "BINARY",
    "DECIMAL",
    "exists",
    "HEXADECIMAL",
    "forall",
    "let",
    "match",
    "NUMERAL",
    "par",
    "STRING",
];

/// A sort to be printed; see [`TermStore::display_sort`].
#[derive(Clone, Copy)]
pub struct DisplaySort<'a> {
    store: &'a TermStore,
    sort: Sort,
}

impl fmt::Display for DisplaySort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.store;
        let applied = |f: &mut fmt::Formatter<'_>, name, params: &[Sort]| {
            let name = store.display_symbol(name);
            if params.is_empty() {
                return write!(f, "{name}");
            }
            write!(f, "({name}")?;
            for &param in params {
                write!(f, " {}", store.display_sort(param))?;
            }
            f.write_str(")")
        };
        match store.sort_kind(self.sort) {
            SortKind::Bool => f.write_str("Bool"),
            SortKind::Int => f.write_str("Int"),
            SortKind::Real => f.write_str("Real"),
            SortKind::BitVec(width) => write!(f, "(_ BitVec {width})"),
            SortKind::Array(index, element) => {
                write!(f, "(Array {} {})", store.display_sort(*index), store.display_sort(*element))
            }
            SortKind::Datatype(_) => {
                let datatype = store.datatype(self.sort).expect("its kind is datatype");
                applied(f, datatype.name, &datatype.params)
            }
            SortKind::Uninterpreted(name, params) => applied(f, *name, params),
        }
    }
}

/// An operator to be printed; see [`TermStore::display_op`].
#[derive(Clone, Copy)]
pub struct DisplayOp<'a> {
    store: &'a TermStore,
    op: Op,
}

impl fmt::Display for DisplayOp<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.store;
        match self.op {
            Op::Var(name) => write!(f, "{}", store.display_symbol(name)),
            Op::Apply(fun) => write!(f, "{}", store.display_symbol(store.fun_decl(fun).name)),
            Op::Numeral(number) => write!(f, "{}", store.rational(number)),
            Op::BvNumeral(number) => write!(f, "{}", store.integer(number)),
            Op::Divisible(divisor) => write!(f, "(_ divisible {})", store.integer(divisor)),
            Op::ConstArray(sort) => write!(f, "(as const {})", store.display_sort(sort)),
            Op::Extract { hi, lo } => write!(f, "(_ extract {hi} {lo})"),
            Op::Repeat(n)
            | Op::ZeroExtend(n)
            | Op::SignExtend(n)
            | Op::RotateLeft(n)
            | Op::RotateRight(n)
            | Op::IntToBv(n) => write!(f, "(_ {} {n})", self.op.name().expect("it has a stem")),
            Op::Construct(id) => {
                let constructor = store.constructor(id);
                let name = store.display_symbol(constructor.name);
                // Arguments do not always determine the instance of a parametric datatype.
                match store.datatype(constructor.sort) {
                    Some(datatype) if !datatype.params.is_empty() => {
                        write!(f, "(as {name} {})", store.display_sort(constructor.sort))
                    }
                    _ => write!(f, "{name}"),
                }
            }
            Op::Selector { constructor, field } => {
                let (name, _) = store.constructor(constructor).fields[field as usize];
                write!(f, "{}", store.display_symbol(name))
            }
            Op::Tester(id) => write!(f, "(_ is {})", store.display_symbol(store.constructor(id).name)),
            op => f.write_str(op.name().expect("all others are named")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_where_they_are_needed() {
        let show = |name| DisplaySymbol(name).to_string();
        assert_eq!(show("x_1!a"), "x_1!a");
        assert_eq!(show("main@entry"), "main@entry");
        for quoted in ["", "1x", "a b", "let", "a;b", "ü", "a:b"] {
            assert_eq!(show(quoted), format!("|{quoted}|"));
        }
    }

    #[test]
    fn sorts_and_indexed_operators() {
        let store = TermStore::new();
        let bytes = store.bitvec_sort(8);
        let memory = store.array_sort(Sort::INT, bytes);
        assert_eq!(store.display_sort(memory).to_string(), "(Array Int (_ BitVec 8))");
        assert_eq!(
            store.display_op(Op::ConstArray(memory)).to_string(),
            "(as const (Array Int (_ BitVec 8)))"
        );
        assert_eq!(store.display_op(Op::Extract { hi: 7, lo: 0 }).to_string(), "(_ extract 7 0)");
    }
}
