//! Random formulas, for parts that share only some of their symbols.
//!
//! Every symbol and function has a *window*, an interval of parts that may use it. Formulas of earlier calls recur,
//! unchanged, negated, or as subformulas, because a bug in a solver's memory of a formula shows only when it meets the
//! formula again.

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{ConstructorId, ConstructorSpec, Fun, Op, Sort, SortKind, Term, TermStore};
use shofar_testing::Random;

/// The symbols and operators of formulas.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Language {
    pub(crate) integers: bool,
    pub(crate) reals: bool,
    /// A declared sort.
    pub(crate) elements: bool,
    pub(crate) functions: bool,
    /// Lists and an enumeration.
    pub(crate) datatypes: bool,
    /// Arrays of integers, and of truth values or arrays.
    pub(crate) arrays: bool,
    /// `div`, `mod`, `abs`, `to_int` and the like.
    pub(crate) division: bool,
    /// Division by zero.
    pub(crate) open_division: bool,
    /// Numbers of many digits.
    pub(crate) big: bool,
    /// Linear forms between bounds that are near to each other.
    pub(crate) bands: bool,
    /// Occasionally a term that no theory supports.
    pub(crate) unsupported: bool,
    /// Occasionally a formula of some hundred subterms.
    pub(crate) huge: bool,
}

impl Language {
    /// A random language.
    pub(crate) fn some(random: &mut Random) -> Self {
        let mut language = Language::default();
        match random.below(12) {
            0 => {}
            1 | 2 => language.reals = true,
            3..=5 => language.integers = true,
            6 => (language.integers, language.reals) = (true, true),
            7 => (language.elements, language.functions) = (true, true),
            8 => (language.integers, language.functions) = (true, true),
            9 => (language.reals, language.functions) = (true, true),
            _ => {
                language = Language {
                    integers: true,
                    reals: random.below(2) == 0,
                    elements: random.below(2) == 0,
                    functions: true,
                    open_division: random.below(2) == 0,
                    ..language
                }
            }
        }
        language.datatypes = random.below(4) == 0;
        language.arrays = language.integers && random.below(3) == 0;
        language.division = random.below(2) == 0;
        language.bands = random.below(3) == 0;
        language.big = random.below(8) == 0;
        language.unsupported = random.below(16) == 0;
        language.huge = random.below(24) == 0;
        language
    }
}

/// A symbol or function with the parts that may use it.
#[derive(Clone, Copy)]
struct Windowed<T> {
    item: T,
    first: u32,
    last: u32,
}

impl<T: Copy> Windowed<T> {
    fn new(item: T, parts: u32, is_shared: bool, random: &mut Random) -> Self {
        let first = if is_shared { 0 } else { random.below(parts as usize) as u32 };
        let last = if is_shared { parts - 1 } else { (first + random.below(3) as u32).min(parts - 1) };
        Windowed { item, first, last }
    }

    fn is_in(&self, part: u32) -> bool {
        self.first <= part && part <= self.last
    }
}

pub(crate) struct Formulas<'s> {
    store: &'s TermStore,
    pub(crate) language: Language,
    symbols: Vec<Windowed<Term>>,
    functions: Vec<Windowed<Fun>>,
    datatypes: Vec<Sort>,
    arrays: Vec<Sort>,
    /// Earlier formulas, each with its part.
    pool: Vec<(Term, u32)>,
    /// The part of the current formula.
    part: u32,
}

impl<'s> Formulas<'s> {
    /// Symbols for formulas of the given number of parts.
    pub(crate) fn new(store: &'s TermStore, language: Language, parts: u32, random: &mut Random) -> Self {
        let is_shared = random.below(2) == 0;
        let element = store.sort(SortKind::Uninterpreted(store.symbol("U"), [].into()));
        let mut sorts = vec![(Sort::BOOL, "p")];
        sorts.extend(language.integers.then_some((Sort::INT, "i")));
        sorts.extend(language.reals.then_some((Sort::REAL, "x")));
        sorts.extend(language.elements.then_some((element, "a")));
        let datatypes = if language.datatypes { declare(store, language) } else { Vec::new() };
        sorts.extend(datatypes.iter().copied().zip(["l", "c"]));
        let mut arrays = Vec::new();
        if language.arrays {
            let simple = store.array_sort(Sort::INT, Sort::INT);
            let others = [(Sort::INT, Sort::BOOL), (Sort::INT, simple), (simple, Sort::INT)];
            let (index, element) = *random.choose(&others);
            arrays = vec![simple, store.array_sort(index, element)];
        }
        sorts.extend(arrays.iter().copied().zip(["m", "n"]));
        let mut symbols = Vec::new();
        for &(sort, name) in &sorts {
            // One symbol that all parts may use, so that none has none.
            let count = 2 + random.below(if is_shared { 4 } else { 2 + 2 * parts as usize });
            for number in 0..count {
                let name = store.symbol(&format!("{name}{number}"));
                let symbol = match random.below(2) {
                    0 => store.var(name, sort),
                    _ => store.apply(store.fun(name, &[], sort), &[]).expect("it takes no arguments"),
                };
                symbols.push(Windowed::new(symbol, parts, is_shared || number == 0, random));
            }
        }
        let mut functions = Vec::new();
        if language.functions {
            for number in 0..1 + random.below(4) {
                let domain: Vec<Sort> =
                    (0..1 + random.below(2)).map(|_| sorts[random.below(sorts.len())].0).collect();
                let range = sorts[random.below(sorts.len())].0;
                let fun = store.fun(store.symbol(&format!("f{number}")), &domain, range);
                functions.push(Windowed::new(fun, parts, is_shared || number == 0, random));
            }
        }
        Formulas { store, language, symbols, functions, datatypes, arrays, pool: Vec::new(), part: 0 }
    }

    /// A formula for a part.
    pub(crate) fn formula(&mut self, part: u32, random: &mut Random) -> Term {
        self.part = part;
        let known: Vec<Term> =
            self.pool.iter().filter(|(_, other)| *other == part).map(|&(formula, _)| formula).collect();
        let known = (!known.is_empty()).then(|| known[random.below(known.len())]);
        let formula = match (random.below(12), known) {
            (0, Some(known)) => return known,
            (1, Some(known)) => return self.app(Op::Not, &[known]),
            (2, Some(known)) => {
                let (op, other) = ([Op::And, Op::Or, Op::Eq][random.below(3)], self.some_formula(1, random));
                self.app(op, &[known, other])
            }
            (3, _) if self.language.huge => self.huge(random),
            (4, _) if self.language.unsupported => self.unsupported(random),
            (0..=6, _) => self.some_formula(0, random),
            (7..=9, _) => self.some_formula(1, random),
            _ => self.some_formula(2, random),
        };
        self.pool.push((formula, part));
        formula
    }

    /// An equation of a symbol that the part may use and a term of its sort without it.
    pub(crate) fn equation(&mut self, part: u32, random: &mut Random) -> Term {
        self.part = part;
        let symbols: Vec<Term> = self.visible().collect();
        let symbol = symbols[random.below(symbols.len())];
        let term = self.term(self.store.sort_of(symbol), 2, random);
        let formula = self.app(Op::Eq, &[symbol, term]);
        self.pool.push((formula, part));
        formula
    }

    /// Bounds for all integers, which make most queries fast to decide.
    pub(crate) fn bounds(&self, random: &mut Random) -> Vec<(Term, u32)> {
        let store = self.store;
        let integers = self.symbols.iter().filter(|symbol| store.sort_of(symbol.item) == Sort::INT);
        let bound = store.int(2 + random.below(12) as i64);
        integers
            .map(|symbol| {
                let least = self.app(Op::Neg, &[bound]);
                let low = self.app(Op::Le, &[least, symbol.item]);
                (self.app(Op::And, &[low, self.app(Op::Le, &[symbol.item, bound])]), symbol.first)
            })
            .collect()
    }

    /// A cycle of comparisons, each in a part that may use both its sides: `x <= y - 2`, `y < z`, `z <= x + 2`. Most
    /// are unsatisfiable, just because one of them is strict. Symbols of few parts meet others in each of them, so both
    /// sides of a cut have symbols of their own.
    pub(crate) fn circle(&mut self, sort: Sort, random: &mut Random) -> Vec<(Term, u32)> {
        let store = self.store;
        let of_sort: Vec<Windowed<Term>> =
            self.symbols.iter().filter(|symbol| store.sort_of(symbol.item) == sort).copied().collect();
        // All parts may use the first symbol, so any part can close the cycle.
        let (start, length) = (of_sort[0], 2 + random.below(5));
        let strict = if random.below(8) == 0 { length } else { random.below(length) };
        let (mut last, mut climbed, mut circle) = (start, 0, Vec::new());
        for at in 0..length {
            let part = last.first + random.below((last.last - last.first + 1) as usize) as u32;
            let visible: Vec<&Windowed<Term>> = of_sort.iter().filter(|symbol| symbol.is_in(part)).collect();
            let is_end = at + 1 == length;
            let next = if is_end { start } else { *visible[random.below(visible.len())] };
            let step = if is_end { -climbed } else { random.below(2) as i64 * random.between(-3, 3) };
            climbed += step;
            let step = if sort == Sort::INT { store.int(step) } else { store.real(step) };
            let raised = self.app(Op::Add, &[last.item, step]);
            let op = if at == strict || random.below(8) == 0 { Op::Lt } else { Op::Le };
            circle.push((self.app(op, &[raised, next.item]), part));
            last = next;
        }
        random.shuffle(&mut circle);
        circle
    }

    /// Some of the symbols.
    pub(crate) fn some_symbols(&self, random: &mut Random) -> Vec<Term> {
        let density = 1 + random.below(3);
        let chosen = self.symbols.iter().filter(|_| random.below(4) < density);
        chosen.map(|symbol| symbol.item).collect()
    }

    /// A term of the sort for a part.
    pub(crate) fn argument(&mut self, sort: Sort, part: u32, random: &mut Random) -> Term {
        self.part = part;
        self.term(sort, 1, random)
    }

    fn visible(&self) -> impl Iterator<Item = Term> {
        let part = self.part;
        self.symbols.iter().filter(move |symbol| symbol.is_in(part)).map(|symbol| symbol.item)
    }

    fn app(&self, op: Op, args: &[Term]) -> Term {
        self.store.app(op, args).expect("what is generated is well-sorted")
    }

    fn some_formula(&mut self, depth: u32, random: &mut Random) -> Term {
        if depth == 0 {
            let atom = self.atom(2, random);
            return if random.below(4) == 0 { self.app(Op::Not, &[atom]) } else { atom };
        }
        let (op, count) = match random.below(14) {
            0..=2 => (Op::And, 2 + random.below(2)),
            3..=7 => (Op::Or, 2 + random.below(2)),
            8 => (Op::Eq, 2),
            9 => (Op::Ite, 3),
            10 => (Op::Implies, 2),
            11 => (Op::Xor, 2),
            12 => (Op::Not, 1),
            _ => (Op::Distinct, 2),
        };
        let args: Vec<Term> = (0..count).map(|_| self.some_formula(depth - 1, random)).collect();
        self.app(op, &args)
    }

    /// An atom over terms of this depth.
    fn atom(&mut self, depth: u32, random: &mut Random) -> Term {
        let Language { integers, reals, elements, functions, datatypes, arrays, bands, .. } = self.language;
        loop {
            match random.below(15) {
                0 => return self.term(Sort::BOOL, 0, random),
                1 if functions => {
                    if let Some(application) = self.application(Sort::BOOL, depth, random) {
                        return application;
                    }
                }
                2 | 3 if elements => return self.equation_of(self.element_sort(), depth, random),
                4 if integers && bands => return self.band(random),
                5 if integers => return self.comparison(Sort::INT, depth, random),
                6 if reals => return self.comparison(Sort::REAL, depth, random),
                7 if !integers && !reals && !elements => return self.term(Sort::BOOL, 0, random),
                10 | 11 if datatypes => {
                    let sort = *random.choose(&self.datatypes);
                    return self.equation_of(sort, depth, random);
                }
                13 | 14 if arrays => {
                    let sort = *random.choose(&self.arrays);
                    return self.equation_of(sort, depth, random);
                }
                12 if datatypes => {
                    let sort = *random.choose(&self.datatypes);
                    let constructor = *random.choose(self.constructors(sort));
                    let argument = self.term(sort, depth, random);
                    return self.app(Op::Tester(constructor), &[argument]);
                }
                8 if integers && self.language.division => {
                    let divisor = Integer::from(2 + random.below(4) as i64);
                    let number = self.term(Sort::INT, depth, random);
                    return self.app(self.store.divisible_op(divisor), &[number]);
                }
                9 if reals && self.language.division => {
                    let number = self.term(Sort::REAL, depth, random);
                    return self.app(Op::IsInt, &[number]);
                }
                _ => {}
            }
        }
    }

    /// Terms of a sort that are equal, or different.
    fn equation_of(&mut self, sort: Sort, depth: u32, random: &mut Random) -> Term {
        let is_distinct = random.below(4) == 0;
        let count = if is_distinct { 2 + random.below(3) } else { 2 };
        let args: Vec<Term> = (0..count).map(|_| self.term(sort, depth, random)).collect();
        self.app(if is_distinct { Op::Distinct } else { Op::Eq }, &args)
    }

    fn element_sort(&self) -> Sort {
        self.store.sort(SortKind::Uninterpreted(self.store.symbol("U"), [].into()))
    }

    fn comparison(&mut self, sort: Sort, depth: u32, random: &mut Random) -> Term {
        let op = [Op::Le, Op::Lt, Op::Ge, Op::Gt, Op::Eq, Op::Distinct][random.below(6)];
        let right = depth.min(random.below(2) as u32);
        let args = [self.term(sort, depth, random), self.term(sort, right, random)];
        self.app(op, &args)
    }

    /// A linear form over integers between two numbers that are close to each other.
    fn band(&mut self, random: &mut Random) -> Term {
        let store = self.store;
        let integers: Vec<Term> = self.visible().filter(|&it| store.sort_of(it) == Sort::INT).collect();
        let summands: Vec<Term> = (0..2 + random.below(2))
            .map(|_| {
                let (factor, symbol) = (random.between(-6, 6), integers[random.below(integers.len())]);
                self.app(Op::Mul, &[store.int(factor), symbol])
            })
            .collect();
        let (form, bound, width) =
            (self.app(Op::Add, &summands), random.between(-10, 10), random.between(0, 2));
        let low = self.app(Op::Le, &[store.int(bound), form]);
        self.app(Op::And, &[low, self.app(Op::Le, &[form, store.int(bound + width)])])
    }

    /// An application of a function with this range, if the part may use one.
    fn application(&mut self, range: Sort, depth: u32, random: &mut Random) -> Option<Term> {
        let store = self.store;
        let fitting = self.functions.iter().filter(|fun| fun.is_in(self.part));
        let fitting: Vec<Fun> =
            fitting.map(|fun| fun.item).filter(|&fun| store.fun_decl(fun).range == range).collect();
        if fitting.is_empty() {
            return None;
        }
        let fun = fitting[random.below(fitting.len())];
        let domain = &store.fun_decl(fun).domain;
        let args: Vec<Term> =
            domain.iter().map(|&sort| self.term(sort, depth.saturating_sub(1), random)).collect();
        Some(store.apply(fun, &args).expect("the arguments fit"))
    }

    fn numeral(&self, sort: Sort, random: &mut Random) -> Term {
        let mut number = Integer::from(random.between(-5, 5));
        if self.language.big && random.below(3) == 0 {
            for _ in 0..1 + random.below(3) {
                number = &(&number * &Integer::from(1_000_000_007)) + &Integer::from(random.between(-9, 9));
            }
        }
        match sort {
            Sort::INT => self.store.int(number),
            _ => {
                let denominator = Integer::from([1, 1, 2, 3][random.below(4)]);
                self.store.real(Rational::new(number, denominator))
            }
        }
    }

    /// A term of the sort.
    fn term(&mut self, sort: Sort, depth: u32, random: &mut Random) -> Term {
        if depth > 0
            && self.language.functions
            && random.below(2) == 0
            && let Some(application) = self.application(sort, depth, random)
        {
            return application;
        }
        let store = self.store;
        if depth == 0 || random.below(3) == 0 {
            if sort.is_arithmetic() && random.below(4) == 0 {
                return self.numeral(sort, random);
            }
            let symbols: Vec<Term> = self.visible().filter(|&it| store.sort_of(it) == sort).collect();
            return symbols[random.below(symbols.len())];
        }
        if random.below(6) == 0 {
            let condition = self.atom(depth - 1, random);
            let (then, otherwise) = (self.term(sort, depth - 1, random), self.term(sort, 0, random));
            return self.app(Op::Ite, &[condition, then, otherwise]);
        }
        if random.below(3) == 0
            && let Some(selector) = self.selector(sort, depth, random)
        {
            return selector;
        }
        if random.below(3) == 0
            && let Some(read) = self.read(sort, depth, random)
        {
            return read;
        }
        match sort {
            _ if self.arrays.contains(&sort) => self.array(sort, depth, random),
            _ if self.datatypes.contains(&sort) => {
                let constructor = *random.choose(self.constructors(sort));
                let fields = store.constructor(constructor).fields.iter();
                let fields: Vec<Term> =
                    fields.map(|(_, field)| self.term(*field, depth - 1, random)).collect();
                self.app(Op::Construct(constructor), &fields)
            }
            Sort::BOOL => self.atom(depth - 1, random),
            Sort::INT | Sort::REAL => self.number(sort, depth, random),
            _ => self.term(sort, depth - 1, random),
        }
    }

    fn constructors(&self, sort: Sort) -> &'s [ConstructorId] {
        self.store.datatype(sort).map_or(&[], |datatype| datatype.constructors())
    }

    /// A field of this sort of a list, if lists have one.
    fn selector(&mut self, sort: Sort, depth: u32, random: &mut Random) -> Option<Term> {
        let &list = self.datatypes.first()?;
        let constructor = self.constructors(list)[1];
        let mut fields = self.store.constructor(constructor).fields.iter();
        let field = fields.position(|(_, field)| *field == sort)? as u32;
        let argument = self.term(list, depth - 1, random);
        Some(self.app(Op::Selector { constructor, field }, &[argument]))
    }

    /// An element of this sort of an array, if there are such arrays.
    fn read(&mut self, sort: Sort, depth: u32, random: &mut Random) -> Option<Term> {
        let parts = self.arrays.iter().filter_map(|&array| Some((array, self.store.array_parts(array)?)));
        let fitting: Vec<(Sort, Sort)> = parts
            .filter(|(_, (_, element))| *element == sort)
            .map(|(array, (index, _))| (array, index))
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let &(array, index) = random.choose(&fitting);
        let args = [self.term(array, depth - 1, random), self.term(index, depth - 1, random)];
        Some(self.app(Op::Select, &args))
    }

    /// An array that was written, or a constant one.
    fn array(&mut self, sort: Sort, depth: u32, random: &mut Random) -> Term {
        let (index, element) = self.store.array_parts(sort).expect("it is a sort of arrays");
        if random.below(4) == 0 {
            let element = self.term(element, depth - 1, random);
            return self.app(Op::ConstArray(sort), &[element]);
        }
        let args = [sort, index, element].map(|part| self.term(part, depth - 1, random));
        self.app(Op::Store, &args)
    }

    fn number(&mut self, sort: Sort, depth: u32, random: &mut Random) -> Term {
        let store = self.store;
        let Language { integers, reals, division, open_division, .. } = self.language;
        let is_int = sort == Sort::INT;
        let first = self.term(sort, depth - 1, random);
        match random.below(10) {
            0..=2 => {
                let second = self.term(sort, depth - 1, random);
                self.app(Op::Add, &[first, second])
            }
            3 => {
                let second = self.term(sort, depth - 1, random);
                self.app(Op::Sub, &[first, second])
            }
            4 | 5 => self.app(Op::Mul, &[self.numeral(sort, random), first]),
            6 if is_int && division => match random.below(3) {
                0 => self.app(Op::Abs, &[first]),
                kind => {
                    let divisor = store.int([-3, -2, 2, 3, 5, 7][random.below(6)]);
                    self.app(if kind == 1 { Op::IntDiv } else { Op::Mod }, &[first, divisor])
                }
            },
            7 if is_int && reals && division => {
                let number = self.term(Sort::REAL, depth - 1, random);
                self.app(Op::ToInt, &[number])
            }
            7 if !is_int && integers => {
                let number = self.term(Sort::INT, depth - 1, random);
                self.app(Op::ToReal, &[number])
            }
            8 if open_division && random.below(3) == 0 => match (is_int, random.below(2)) {
                (true, 0) => self.app(Op::IntDiv, &[first, store.int(0)]),
                (true, _) => self.app(Op::Mod, &[first, store.int(0)]),
                (false, _) => self.app(Op::RealDiv, &[first, store.real(0)]),
            },
            9 => self.app(Op::Neg, &[first]),
            _ => first,
        }
    }

    /// A formula of some hundred subterms: a deep one or a wide one.
    fn huge(&mut self, random: &mut Random) -> Term {
        let size = 20 + random.below(100);
        let mut formula = self.some_formula(0, random);
        if random.below(2) == 0 {
            for _ in 0..size {
                let (op, member) =
                    ([Op::And, Op::Or, Op::Xor][random.below(3)], self.some_formula(0, random));
                formula = self.app(op, &[formula, member]);
            }
            return formula;
        }
        let op = if random.below(2) == 0 { Op::And } else { Op::Or };
        let members: Vec<Term> = (0..size).map(|_| self.some_formula(1, random)).collect();
        self.app(op, &members)
    }

    /// A formula with a nonlinear product, if there are numbers.
    fn unsupported(&mut self, random: &mut Random) -> Term {
        let sort = match self.language {
            Language { integers: true, .. } => Sort::INT,
            Language { reals: true, .. } => Sort::REAL,
            _ => return self.some_formula(0, random),
        };
        let [left, right, other] = [(); 3].map(|()| self.term(sort, 0, random));
        let product = self.app(Op::Mul, &[left, right]);
        self.app(Op::Le, &[product, other])
    }
}

/// Lists of integers, or of truth values, and three colours.
fn declare(store: &TermStore, language: Language) -> Vec<Sort> {
    let list = store.new_datatype(store.symbol("List"), &[]);
    let colour = store.new_datatype(store.symbol("Colour"), &[]);
    let head = if language.integers { Sort::INT } else { Sort::BOOL };
    let spec = |name: &str, fields: &[(&str, Sort)]| ConstructorSpec {
        name: store.symbol(name),
        fields: fields.iter().map(|&(name, sort)| (store.symbol(name), sort)).collect(),
    };
    let lists = vec![spec("nil", &[]), spec("cons", &[("head", head), ("tail", list)])];
    let colours = ["red", "green", "blue"].map(|name| spec(name, &[])).to_vec();
    store.define_datatypes(&[(list, lists), (colour, colours)]).expect("they are inhabited").to_vec()
}
