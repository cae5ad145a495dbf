//! Random formulas over Booleans, numbers and functions.

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Op, Sort, SortKind, Term, TermStore};

use crate::Random;

/// The sorts and functions that occur.
#[derive(Clone, Copy, PartialEq)]
pub enum Language {
    /// Only Booleans.
    Booleans,
    /// Linear arithmetic over reals.
    Reals,
    /// Linear arithmetic over integers, with division by constants.
    Integers,
    /// Integers and reals, with conversions.
    Mixed,
    /// Functions over a declared sort and Booleans.
    Declared,
    /// Functions over integers, with arithmetic.
    IntegerFunctions,
    /// Functions over reals, with arithmetic.
    RealFunctions,
    /// Everything, with functions between all sorts and division by zero.
    Everything,
}

impl Language {
    /// Whether there are functions.
    pub fn has_functions(self) -> bool {
        self.has_elements() || matches!(self, Language::IntegerFunctions | Language::RealFunctions)
    }

    /// Whether there is the declared sort.
    pub fn has_elements(self) -> bool {
        matches!(self, Language::Declared | Language::Everything)
    }

    /// Whether there are numbers.
    pub fn has_numbers(self) -> bool {
        !matches!(self, Language::Booleans | Language::Declared)
    }

    /// Whether there are integers and reals.
    pub fn mixes_numbers(self) -> bool {
        matches!(self, Language::Mixed | Language::Everything)
    }
}

/// The functions: name, domain and range, where `U` is the declared sort.
pub const FUNCTIONS: [(&str, &[char], char); 12] = [
    ("f", &['I'], 'I'),
    ("g", &['I', 'I'], 'I'),
    ("h", &['R'], 'R'),
    ("fr", &['I', 'R'], 'R'),
    ("fu", &['I'], 'U'),
    ("ui", &['U'], 'I'),
    ("u1", &['U'], 'U'),
    ("u2", &['U', 'U'], 'U'),
    ("pu", &['U'], 'B'),
    ("pi", &['I', 'U'], 'B'),
    ("bu", &['B', 'U'], 'U'),
    ("bi", &['B'], 'I'),
];

/// Draws formulas of a language.
pub struct Generator<'a> {
    /// The store of the formulas.
    pub store: &'a TermStore,
    /// The source of randomness.
    pub random: Random,
    /// The language.
    pub language: Language,
}

impl Generator<'_> {
    /// A formula of this depth.
    pub fn formula(&mut self, depth: usize) -> Term {
        if depth == 0 {
            return self.atom();
        }
        match 6 + self.random.below(5) {
            6 => self.app(Op::Not, depth, 1),
            7 => self.app(Op::And, depth, 2),
            8 => self.app(Op::Or, depth, 3),
            9 => self.app(Op::Eq, depth, 2),
            _ => self.app(Op::Ite, depth, 3),
        }
    }

    fn app(&mut self, op: Op, depth: usize, count: usize) -> Term {
        let args: Vec<Term> = (0..count).map(|_| self.formula(depth - 1)).collect();
        self.store.app(op, &args).unwrap()
    }

    fn atom(&mut self) -> Term {
        let (elements, numbers) = (self.language.has_elements(), self.language.has_numbers());
        loop {
            match self.random.below(10) {
                0 => return self.boolean(),
                1..=3 if elements => {
                    let op = if self.random.below(4) == 0 { Op::Distinct } else { Op::Eq };
                    let count = if op == Op::Distinct { 2 + self.random.below(3) } else { 2 };
                    let args: Vec<Term> = (0..count).map(|_| self.element(2)).collect();
                    return self.store.app(op, &args).unwrap();
                }
                4 if self.language.has_functions() => {
                    if let Some(application) = self.application('B', 1) {
                        return application;
                    }
                }
                5.. if numbers => return self.comparison(),
                _ if !numbers && !elements => return self.boolean(),
                _ => {}
            }
        }
    }

    fn sort(&self, letter: char) -> Sort {
        match letter {
            'I' => Sort::INT,
            'R' => Sort::REAL,
            'B' => Sort::BOOL,
            _ => self.store.sort(SortKind::Uninterpreted(self.store.symbol("U"), [].into())),
        }
    }

    /// An application of some function of the language with this range.
    fn application(&mut self, range: char, depth: usize) -> Option<Term> {
        let language = self.language;
        let is_there = |letter: &char| match letter {
            'I' => language.mixes_numbers() || language == Language::IntegerFunctions,
            'R' => language.mixes_numbers() || language == Language::RealFunctions,
            'U' => language.has_elements(),
            _ => true,
        };
        let fitting = FUNCTIONS.iter().filter(|(_, domain, result)| {
            *result == range && domain.iter().all(is_there) && is_there(result)
        });
        let fitting: Vec<_> = fitting.collect();
        let (name, domain, _) = fitting.get(self.random.below(fitting.len().max(1)))?;
        let sorts: Vec<Sort> = domain.iter().map(|&letter| self.sort(letter)).collect();
        let fun = self.store.fun(self.store.symbol(name), &sorts, self.sort(range));
        let args: Vec<Term> =
            sorts.iter().map(|&sort| self.argument(sort, depth.saturating_sub(1))).collect();
        Some(self.store.apply(fun, &args).unwrap())
    }

    fn argument(&mut self, sort: Sort, depth: usize) -> Term {
        match sort {
            Sort::BOOL => {
                let depth = self.random.below(2).min(depth);
                self.formula(depth)
            }
            _ if sort.is_arithmetic() => self.number(sort, depth),
            _ => self.element(depth),
        }
    }

    /// A term of the declared sort.
    fn element(&mut self, depth: usize) -> Term {
        match if depth == 0 { 0 } else { self.random.below(6) } {
            0 | 1 => {
                let name = ["a", "b", "c", "d"][self.random.below(4)];
                self.store.var(self.store.symbol(name), self.sort('U'))
            }
            2 => {
                let args = [self.boolean(), self.element(depth - 1), self.element(depth - 1)];
                self.store.app(Op::Ite, &args).unwrap()
            }
            _ => self.application('U', depth).expect("there are functions to the declared sort"),
        }
    }

    fn boolean(&mut self) -> Term {
        let name = ["p", "q", "r", "s"][self.random.below(4)];
        self.store.var(self.store.symbol(name), Sort::BOOL)
    }

    fn comparison(&mut self) -> Term {
        let sort = match self.language {
            Language::Integers | Language::IntegerFunctions => Sort::INT,
            language if language.mixes_numbers() && self.random.bool() => Sort::INT,
            _ => Sort::REAL,
        };
        let op = [Op::Le, Op::Lt, Op::Ge, Op::Gt, Op::Eq, Op::Distinct][self.random.below(6)];
        let args = [self.number(sort, 2), self.number(sort, 1)];
        self.store.app(op, &args).unwrap()
    }

    fn number(&mut self, sort: Sort, depth: usize) -> Term {
        let store = self.store;
        let small = self.random.between(-5, 5);
        let literal = |sort, value: i64| match sort {
            Sort::INT => store.int(value),
            _ => store.real(Rational::new(value.into(), Integer::from(2))),
        };
        let op = |op, args: &[Term]| store.app(op, args).unwrap();
        if depth > 0
            && self.language.has_functions()
            && self.random.bool()
            && let Some(application) = self.application(if sort == Sort::INT { 'I' } else { 'R' }, depth)
        {
            return application;
        }
        if depth > 0 && self.language == Language::Everything && self.random.below(12) == 0 {
            let operator = if small % 2 == 0 { Op::IntDiv } else { Op::Mod };
            let (operator, zero) =
                if sort == Sort::INT { (operator, store.int(0)) } else { (Op::RealDiv, store.real(0)) };
            return op(operator, &[self.number(sort, depth - 1), zero]);
        }
        match if depth == 0 { self.random.below(3) } else { self.random.below(9) } {
            0 => literal(sort, small),
            1 | 2 => {
                let names = if sort == Sort::INT { ["i", "j", "k"] } else { ["x", "y", "z"] };
                store.var(store.symbol(names[self.random.below(3)]), sort)
            }
            3 | 4 => op(Op::Add, &[self.number(sort, depth - 1), self.number(sort, depth - 1)]),
            5 => op(Op::Sub, &[self.number(sort, depth - 1), self.number(sort, depth - 1)]),
            6 => op(Op::Mul, &[literal(sort, small), self.number(sort, depth - 1)]),
            7 => {
                let condition = self.comparison_or_boolean();
                op(Op::Ite, &[condition, self.number(sort, depth - 1), self.number(sort, 0)])
            }
            _ if sort == Sort::REAL && self.language.mixes_numbers() => {
                op(Op::ToReal, &[self.number(Sort::INT, depth - 1)])
            }
            _ if sort == Sort::REAL => self.number(sort, depth - 1),
            _ if self.language.mixes_numbers() && small > 0 => {
                op(Op::ToInt, &[self.number(Sort::REAL, depth - 1)])
            }
            _ => {
                let operator = if small % 2 == 0 { Op::IntDiv } else { Op::Mod };
                let divisor = store.int(if small == 0 { 7 } else { small });
                op(operator, &[self.number(sort, depth - 1), divisor])
            }
        }
    }

    /// Formulas as in unrollings: equations that define symbols, and a formula.
    pub fn batch(&mut self) -> Vec<Term> {
        let store = self.store;
        let mut batch: Vec<Term> = (0..self.random.below(4))
            .map(|_| {
                let (symbol, value) = match (self.language, self.random.below(3)) {
                    (language, 0) if language.has_numbers() => {
                        let is_int = !matches!(language, Language::Reals | Language::RealFunctions)
                            && self.random.below(3) > 0
                            || matches!(language, Language::Integers | Language::IntegerFunctions);
                        let sort = if is_int { Sort::INT } else { Sort::REAL };
                        let name = if is_int { "ijk" } else { "xyz" };
                        let place = self.random.below(3);
                        (store.var(store.symbol(&name[place..=place]), sort), self.number(sort, 1))
                    }
                    (_, 1) => (self.boolean(), self.formula(1)),
                    _ => return self.formula(0),
                };
                store.app(Op::Eq, &[symbol, value]).unwrap()
            })
            .collect();
        batch.push(self.formula(2));
        batch
    }

    fn comparison_or_boolean(&mut self) -> Term {
        if self.random.bool() { self.boolean() } else { self.formula(0) }
    }
}
