//! Reduces the language of normal terms to what the theory solvers decide.
//!
//! Linear arithmetic knows sums, multiples and comparisons; everything else that normal terms have for numbers
//! is compiled away here with fresh symbols and *definitions*, formulas that say what the symbols mean:
//!
//! ```text
//! term                      becomes     with the definition
//! ite(c, a, b), not Bool    k           (c => k = a) and (not c => k = b)
//! x div n, n >= 2           q           n*q <= x  and  x <= n*q + n-1
//! x mod n, n >= 2           x - n*q     with the q of x div n
//! to_int(x)                 q           to_real(q) <= x  and  x < to_real(q) + 1
//! x div 0, x mod 0, x / 0   f(x)        none: f is an uninterpreted function
//! distinct(a, b, ...)       a != b and ...
//! ```
//!
//! Definitions are satisfiable extensions: every model of the original formula has exactly one extension to the
//! fresh symbols (of the numbers and choices above), and the definitions hold in it. So they may be asserted
//! once and for all, whatever happens to the formula that they came with. Equal terms get the same symbol.
//!
//! Products and quotients of terms that are not constant are refused, and so are the theories that have no
//! solver yet.

use std::fmt;

use rustc_hash::FxHashMap;
use shofar_logic::number::Rational;
use shofar_logic::{Fun, Op, Sort, SortKind, Term, TermStore};

/// A term that no theory solver understands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The term.
    pub term: Term,
    /// What it would take.
    pub feature: Feature,
}

/// What a solver would have to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// Products or quotients of terms that are not constant.
    NonlinearArithmetic,
    /// Arrays.
    Arrays,
    /// Bit-vectors.
    BitVectors,
    /// Algebraic datatypes.
    Datatypes,
    /// Quantifiers.
    Quantifiers,
    /// Uninterpreted functions and sorts.
    Functions,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feature::NonlinearArithmetic => "non-linear arithmetic",
            Feature::Arrays => "arrays",
            Feature::BitVectors => "bit-vectors",
            Feature::Datatypes => "datatypes",
            Feature::Quantifiers => "quantifiers",
            Feature::Functions => "uninterpreted functions and sorts",
        })
    }
}

/// What became of a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Purified {
    /// The formula over the remaining operators, in normal form.
    pub formula: Term,
    /// The definitions that were not handed out before, in an order in which each only uses earlier symbols.
    pub definitions: Vec<Term>,
}

/// Compiles formulas over one store, and remembers the symbols it made.
pub struct Purifier<'a> {
    store: &'a TermStore,
    /// The images of terms. By construction they are pure.
    images: FxHashMap<Term, Term>,
    /// The symbols made for compiled applications, keyed by operator and pure arguments.
    symbols: FxHashMap<(Op, Box<[Term]>), Term>,
    /// What each symbol stands for, in the order of their making.
    origins: Vec<(Term, Term)>,
    /// Definitions not handed out yet.
    pending: Vec<Term>,
}

impl<'a> Purifier<'a> {
    /// A purifier that has made no symbols yet.
    pub fn new(store: &'a TermStore) -> Self {
        Purifier {
            store,
            images: FxHashMap::default(),
            symbols: FxHashMap::default(),
            origins: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Compiles a normal formula.
    pub fn purify(&mut self, formula: Term) -> Result<Purified, Unsupported> {
        // Ascending indices are bottom-up; what has an image needs no second look, nor what is below it.
        for term in self.store.subterms_until(&[formula], |term| self.images.contains_key(&term)) {
            if !self.images.contains_key(&term) {
                let image = self.image(term)?;
                self.images.insert(term, image);
            }
        }
        Ok(Purified { formula: self.images[&formula], definitions: std::mem::take(&mut self.pending) })
    }

    /// The fresh symbols with the terms that they stand for, in the order of their making. A term may mention
    /// symbols made before.
    pub fn origins(&self) -> &[(Term, Term)] {
        &self.origins
    }

    /// The image of a term whose arguments have images.
    fn image(&mut self, term: Term) -> Result<Term, Unsupported> {
        let store = self.store;
        let (op, args) = store.view(term);
        self.check_theory(term, op)?;
        let nonlinear = Unsupported { term, feature: Feature::NonlinearArithmetic };
        let args: Vec<Term> = args.iter().map(|arg| self.images[arg]).collect();
        let numeral = |position: usize| store.numeral(args[position]).cloned();
        Ok(match op {
            Op::Var(_) | Op::Numeral(_) | Op::True | Op::False => term,
            Op::Ite if store.sort_of(term) != Sort::BOOL => self.choice(&args),
            Op::IntDiv | Op::Mod => match numeral(1) {
                Some(zero) if zero.is_zero() => self.open_case(op, args[0]),
                Some(divisor) => self.quotient_or_rest(op, args[0], &divisor),
                None => return Err(nonlinear),
            },
            Op::RealDiv => match numeral(1) {
                Some(zero) if zero.is_zero() => self.open_case(op, args[0]),
                _ => return Err(nonlinear),
            },
            Op::ToInt => self.floor(args[0]),
            Op::Mul if !args.iter().any(|&arg| store.numeral(arg).is_some()) => return Err(nonlinear),
            Op::Distinct => {
                let pairs = (0..args.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
                store.and_of(pairs.map(|(i, j)| store.not(store.eq(args[i], args[j]))))
            }
            _ => store.build(op, &args).expect("images have the sorts of the terms"),
        })
    }

    fn check_theory(&self, term: Term, op: Op) -> Result<(), Unsupported> {
        let feature = match op {
            Op::Forall | Op::Exists => Feature::Quantifiers,
            _ => match self.store.sort_kind(self.store.sort_of(term)) {
                SortKind::Array(..) => Feature::Arrays,
                SortKind::BitVec(_) => Feature::BitVectors,
                SortKind::Datatype(_) => Feature::Datatypes,
                SortKind::Bool | SortKind::Int | SortKind::Real | SortKind::Uninterpreted(..) => {
                    return Ok(());
                }
            },
        };
        Err(Unsupported { term, feature })
    }

    /// `k` with `(c => k = a) and (not c => k = b)`.
    fn choice(&mut self, args: &[Term]) -> Term {
        let store = self.store;
        let &[condition, then, otherwise] = args else { unreachable!("ite has three arguments") };
        self.symbol(Op::Ite, args, store.sort_of(then), |k| {
            let chosen = store.implies(condition, store.eq(k, then));
            vec![chosen, store.or2(condition, store.eq(k, otherwise))]
        })
    }

    /// `q` with `n*q <= x <= n*q + n-1` for the quotient, `x - n*q` for the rest.
    fn quotient_or_rest(&mut self, op: Op, x: Term, divisor: &Rational) -> Term {
        let store = self.store;
        let divisor_term = store.int(divisor.numer());
        let quotient = self.symbol(Op::IntDiv, &[x, divisor_term], Sort::INT, |q| {
            let multiple = store.mul_const(divisor, q);
            let largest_rest = store.int(&divisor.numer() - &1.into());
            vec![store.le(multiple, x), store.le(x, store.add(&[multiple, largest_rest]))]
        });
        if op == Op::IntDiv {
            return quotient;
        }
        store.sub(x, store.mul_const(divisor, quotient))
    }

    /// `q` with `to_real(q) <= x < to_real(q) + 1`.
    fn floor(&mut self, x: Term) -> Term {
        let store = self.store;
        self.symbol(Op::ToInt, &[x], Sort::INT, |q| {
            let real = store.to_real(q);
            let next = store.add(&[real, store.real(Rational::ONE)]);
            vec![store.le(real, x), store.lt(x, next)]
        })
    }

    /// Division by zero: any function of the dividend, as SMT-LIB has it.
    fn open_case(&self, op: Op, dividend: Term) -> Term {
        let store = self.store;
        let fun = open_case_function(store, op, store.sort_of(dividend));
        store.build(Op::Apply(fun), &[dividend]).expect("the function is declared for the dividend's sort")
    }

    /// The symbol for an application to pure arguments, with its definition when it is new.
    fn symbol(
        &mut self,
        op: Op,
        args: &[Term],
        sort: Sort,
        definition: impl FnOnce(Term) -> Vec<Term>,
    ) -> Term {
        let key = (op, args.into());
        if let Some(&symbol) = self.symbols.get(&key) {
            return symbol;
        }
        let symbol = self.store.var(self.store.fresh_symbol(stem(op)), sort);
        let origin = self.store.app(op, args).expect("the application is well-sorted");
        self.symbols.insert(key, symbol);
        self.origins.push((symbol, origin));
        self.pending.extend(definition(symbol));
        symbol
    }
}

/// The function that stands for division by zero.
pub fn open_case_function(store: &TermStore, op: Op, sort: Sort) -> Fun {
    store.fun(store.symbol(&format!("{}!zero", stem(op))), &[sort], sort)
}

/// What the names of fresh symbols begin with.
fn stem(op: Op) -> &'static str {
    match op {
        Op::Ite => "ite",
        Op::IntDiv => "div",
        Op::Mod => "mod",
        Op::RealDiv => "quot",
        _ => "floor",
    }
}
