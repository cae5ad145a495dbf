//! Purification: reduces the language of normal terms to what the theory solvers decide.
//!
//! Linear arithmetic supports sums, multiples and comparisons. Purification replaces all other numeric operators of
//! normal terms by fresh symbols with *definitions*, formulas that define the symbols:
//!
//! ```text
//! term                      becomes     with the definition
//! ite(c, a, b), not Bool    k           (c => k = a) and (not c => k = b); with few cases see cases.rs
//! x div n, n >= 2           q           n*q <= x  and  x <= n*q + n-1
//! x mod n, n >= 2           x - n*q     with the q of x div n
//! to_int(x)                 q           to_real(q) <= x  and  x < to_real(q) + 1
//! x div 0, x mod 0, x / 0   k div 0, .. k = x, as for functions: an uninterpreted function of x
//! f(.., t, ..)              f(.., k, ..)  k = t, unless t is a symbol, an application, a numeral or a truth value
//! distinct(a, b, ...)       a != b and ...
//! ```
//!
//! Definitions are satisfiable extensions: every model of the original formula has exactly one extension to the fresh
//! symbols (of the numbers and choices above), and the definitions hold in it. So they may be asserted permanently,
//! whatever happens to the formula they were made for. Equal terms get the same symbol.
//!
//! So the arguments of functions are terms that congruence represents directly; a cast integer counts as the integer.
//! Division by zero is a function of the dividend, as in SMT-LIB, and stays unchanged: congruence treats the operator
//! like a declared function. So each side that has the dividend can express it, in proofs and interpolants, too.
//!
//! Products and quotients of terms that are not constant are refused, and so are the theories that have no solver yet.

use std::fmt;

use rustc_hash::FxHashMap;
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Sort, Term, TermStore};
use shofar_run::Stop;

use crate::cases::CaseTable;
use crate::theory::claims::{Role, is_application, role};

/// A term that no theory solver supports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The term.
    pub term: Term,
    /// The missing feature.
    pub feature: Feature,
}

impl Unsupported {
    /// The reason why a computation that needs this term ends. Shows only the beginning of a large term.
    pub fn stop(self, store: &TermStore) -> Stop {
        const MOST_CHARACTERS: usize = 200;
        let term = store.display(self.term).to_string();
        let cut: String = term.chars().take(MOST_CHARACTERS).collect();
        let dots = if cut.len() < term.len() { "..." } else { "" };
        Stop::Unsupported(format!("{} in {cut}{dots}", self.feature))
    }

    /// Whether a computation ended because of a term that needs the same feature.
    pub fn explains(self, stop: &Stop) -> bool {
        matches!(stop, Stop::Unsupported(what) if what.starts_with(&format!("{} in ", self.feature)))
    }
}

/// A feature that the solver lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// Products or quotients of terms that are not constant.
    NonlinearArithmetic,
    /// Arrays whose indices are finitely many values of a kind that the theory does not enumerate, or which are within
    /// themselves.
    Arrays,
    /// Bit-vectors.
    BitVectors,
    /// Quantifiers.
    Quantifiers,
}

/// The missing feature; [`Unsupported::stop`] also displays the term.
impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not supported: {}", self.feature)
    }
}

impl std::error::Error for Unsupported {}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feature::NonlinearArithmetic => "non-linear arithmetic",
            Feature::Arrays => "arrays of this sort",
            Feature::BitVectors => "bit-vectors",
            Feature::Quantifiers => "quantifiers",
        })
    }
}

/// A purified formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Purified {
    /// The formula over the remaining operators, in normal form.
    pub formula: Term,
    /// The definitions not returned before, in an order in which each uses only earlier symbols.
    pub definitions: Vec<Term>,
}

/// Purifies formulas over one store, and caches the symbols it made.
pub struct Purifier<'a> {
    store: &'a TermStore,
    /// The images of terms that are not basic. They are pure except for numbers with cases, which occur only in sums.
    images: FxHashMap<Term, Term>,
    cases: CaseTable<'a>,
    /// The symbols made for compiled applications, keyed by operator and pure arguments.
    symbols: FxHashMap<(Op, Box<[Term]>), Term>,
    /// The symbols made for arguments of functions.
    names: FxHashMap<Term, Term>,
    /// The origin of each symbol, in the order of creation.
    origins: Vec<(Term, Term)>,
    /// Applications of functions to arguments that were not returned yet.
    applications: Vec<Term>,
    /// Definitions not returned yet.
    pending: Vec<Term>,
}

impl<'a> Purifier<'a> {
    /// A purifier without symbols.
    pub fn new(store: &'a TermStore) -> Self {
        Purifier {
            store,
            images: FxHashMap::default(),
            cases: CaseTable::new(store),
            symbols: FxHashMap::default(),
            names: FxHashMap::default(),
            origins: Vec::new(),
            applications: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Purifies a normal formula.
    pub fn purify(&mut self, formula: Term) -> Result<Purified, Unsupported> {
        // Ascending indices are bottom-up; terms with an image, and those below them, are skipped.
        let subterms = self.store.subterms_until(&[formula], |term| self.known(term).is_some());
        let uses = self.count_uses(&subterms);
        for term in subterms {
            if self.known(term).is_none() {
                let image = self.image(term, &uses)?;
                self.images.insert(term, image);
            }
        }
        let formula = self.known(formula).expect("all subterms have images");
        Ok(Purified { formula, definitions: std::mem::take(&mut self.pending) })
    }

    /// The image of a term, if it is cached or the term itself.
    fn known(&self, term: Term) -> Option<Term> {
        if self.store.is_basic(term) { Some(term) } else { self.images.get(&term).copied() }
    }

    /// The fresh symbols with their origins, in the order of creation. An origin may mention earlier symbols.
    pub fn origins(&self) -> &[(Term, Term)] {
        &self.origins
    }

    /// The applications in purified formulas and definitions that were not returned before. Arguments that are
    /// applications come before their application.
    pub(crate) fn take_applications(&mut self) -> Vec<Term> {
        std::mem::take(&mut self.applications)
    }

    /// In how many atoms each number occurs, counted along all paths. Empty if no numeric `ite` needs it.
    fn count_uses(&self, subterms: &[Term]) -> FxHashMap<Term, u32> {
        let store = self.store;
        let is_number = |term: Term| store.sort_of(term).is_arithmetic();
        let mut uses: FxHashMap<Term, u32> = FxHashMap::default();
        if !subterms.iter().any(|&term| store.op(term) == Op::Ite && is_number(term)) {
            return uses;
        }
        for &term in subterms.iter().rev() {
            let own = if is_number(term) { uses.get(&term).copied().unwrap_or(0) } else { 1 };
            for &arg in store.args(term).iter().filter(|&&arg| is_number(arg)) {
                let count = uses.entry(arg).or_default();
                *count = count.saturating_add(own);
            }
        }
        uses
    }

    /// The image of a term whose arguments have images.
    fn image(&mut self, term: Term, uses: &FxHashMap<Term, u32>) -> Result<Term, Unsupported> {
        let store = self.store;
        let (op, args) = store.view(term);
        let role = role(store, term)?;
        let args: Vec<Term> =
            args.iter().map(|&arg| self.known(arg).expect("arguments come before the term")).collect();
        Ok(match op {
            _ if role == Role::Function => self.application(op, args),
            Op::Var(_) | Op::Numeral(_) | Op::True | Op::False => term,
            Op::Ite if store.sort_of(term).is_arithmetic() => {
                let cased = self.cases.choose(&args, uses.get(&term) == Some(&1));
                cased.unwrap_or_else(|| self.choice(&args))
            }
            Op::Ite if store.sort_of(term) != Sort::BOOL => self.choice(&args),
            Op::Eq | Op::Le | Op::Lt if store.sort_of(args[0]).is_arithmetic() => {
                self.comparison(op, args[0], args[1])
            }
            Op::IntDiv | Op::Mod => {
                let dividend = self.without_cases(args[0]);
                let divisor = store.numeral(args[1]).expect("it is supported");
                self.quotient_or_rest(op, dividend, divisor)
            }
            Op::ToInt => {
                let number = self.without_cases(args[0]);
                self.floor(number)
            }
            Op::Distinct => {
                let pairs = (0..args.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
                let equal: Vec<Term> = pairs.map(|(i, j)| self.equation(args[i], args[j])).collect();
                store.and_of(equal.into_iter().map(|equal| store.not(equal)))
            }
            // Some theory supports all others directly (`theory/claims.rs`).
            _ => store.build(op, &args).expect("images have the sorts of the terms"),
        })
    }

    /// `k` with `(c => k = a) and (not c => k = b)`.
    fn choice(&mut self, args: &[Term]) -> Term {
        let store = self.store;
        let &[condition, then, otherwise] = args else { unreachable!("ite has three arguments") };
        self.symbol(Op::Ite, args, store.sort_of(then), |purifier, k| {
            let chosen = store.implies(condition, purifier.equation(k, then));
            vec![chosen, store.or2(condition, purifier.equation(k, otherwise))]
        })
    }

    fn equation(&mut self, a: Term, b: Term) -> Term {
        if self.store.sort_of(a).is_arithmetic() {
            self.comparison(Op::Eq, a, b)
        } else {
            self.store.eq(a, b)
        }
    }

    /// The atom `a op b` between numbers, by case distinction.
    fn comparison(&mut self, op: Op, a: Term, b: Term) -> Term {
        let store = self.store;
        let atom = |a: Term, b: Term| store.build(op, &[a, b]).expect("both sides are numbers of one sort");
        if self.cases.is_empty() {
            return atom(a, b);
        }
        let sort = store.sort_of(a);
        let mut poly = LinearPoly::from_term(store, a);
        poly.add_scaled(&LinearPoly::from_term(store, b), &-Rational::ONE);
        let (cases, rest) = self.cases.combine(&poly);
        if cases.len() == 1 && rest.is_empty() {
            return atom(a, b);
        }
        let rest = rest.into_iter().map(|(number, factor)| (self.without_case(number), factor)).collect();
        let rest = LinearPoly::from_pairs(rest, Rational::ZERO);
        let zero = LinearPoly::default().to_term(store, sort);
        store.or_of(cases.into_iter().map(|(when, mut value)| {
            value.add_scaled(&rest, &Rational::ONE);
            store.and2(when, atom(value.to_term(store, sort), zero))
        }))
    }

    /// The number with symbols for the summands that have cases.
    fn without_cases(&mut self, number: Term) -> Term {
        let store = self.store;
        if self.cases.is_empty() {
            return number;
        }
        let poly = LinearPoly::from_term(store, number);
        let summands = poly.terms().iter();
        let summands = summands.map(|(term, factor)| (self.without_case(*term), factor.clone())).collect();
        LinearPoly::from_pairs(summands, poly.constant().clone()).to_term(store, store.sort_of(number))
    }

    /// The symbol for a monomial with cases; other monomials are returned unchanged. If the definition of the symbol
    /// contains a sum of numbers with cases, it may need further symbols. A sum of cases has more cases than its
    /// summands, so the depth is at most the greatest length of a list of cases.
    fn without_case(&mut self, monomial: Term) -> Term {
        match self.store.view(monomial) {
            _ if !self.cases.contains(monomial) => monomial,
            (Op::ToReal, &[inner]) => {
                let symbol = self.choice(self.store.args(inner));
                self.store.to_real(symbol)
            }
            (_, args) => self.choice(args),
        }
    }

    /// `q` with `n*q <= x <= n*q + n-1` for the quotient, `x - n*q` for the rest.
    fn quotient_or_rest(&mut self, op: Op, x: Term, divisor: &Rational) -> Term {
        let store = self.store;
        let divisor_term = store.int(divisor.numer());
        let quotient = self.symbol(Op::IntDiv, &[x, divisor_term], Sort::INT, |_, q| {
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
        self.symbol(Op::ToInt, &[x], Sort::INT, |_, q| {
            let real = store.to_real(q);
            let next = store.add(&[real, store.real(Rational::ONE)]);
            vec![store.le(real, x), store.lt(x, next)]
        })
    }

    /// The function applied to the arguments, or to names of them.
    fn application(&mut self, function: Op, mut args: Vec<Term>) -> Term {
        args.iter_mut().for_each(|arg| *arg = self.named(*arg));
        let application = self.store.app(function, &args).expect("names have the sorts of what they name");
        self.applications.push(application);
        application
    }

    /// A term that congruence represents directly and that equals the pure term: `k` with `k = t` if necessary.
    fn named(&mut self, term: Term) -> Term {
        let store = self.store;
        let inner = match store.view(term) {
            (Op::ToReal, &[inner]) => inner,
            _ => term,
        };
        let is_plain = matches!(store.view(inner), (Op::Var(_) | Op::Apply(_) | Op::Numeral(_), []))
            || matches!(inner, Term::TRUE | Term::FALSE);
        if is_plain || is_application(store, inner) {
            return term;
        }
        if let Some(&name) = self.names.get(&term) {
            return name;
        }
        let name = store.var(store.fresh_symbol("arg"), store.sort_of(term));
        self.names.insert(term, name);
        self.origins.push((name, term));
        let definition = self.equation(name, term);
        self.pending.push(definition);
        name
    }

    /// The symbol for an application to pure arguments, with its definition when it is new.
    fn symbol(
        &mut self,
        op: Op,
        args: &[Term],
        sort: Sort,
        definition: impl FnOnce(&mut Self, Term) -> Vec<Term>,
    ) -> Term {
        let key = (op, args.into());
        if let Some(&symbol) = self.symbols.get(&key) {
            return symbol;
        }
        let symbol = self.store.var(self.store.fresh_symbol(stem(op)), sort);
        let origin = self.store.app(op, args).expect("the application is well-sorted");
        self.symbols.insert(key, symbol);
        self.origins.push((symbol, origin));
        let definition = definition(self, symbol);
        self.pending.extend(definition);
        symbol
    }
}

/// The prefix of the names of fresh symbols.
fn stem(op: Op) -> &'static str {
    match op {
        Op::Ite => "ite",
        Op::IntDiv => "div",
        Op::ToInt => "floor",
        _ => unreachable!("nothing else is compiled away with a symbol"),
    }
}
