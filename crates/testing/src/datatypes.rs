//! Random datatypes, and random formulas over them: enumerations, records, lists, trees and mutual recursion, with
//! numbers, a declared sort and functions; and, if asked for, arrays in, below and beside them.

use std::fmt::Write as _;

use shofar_logic::number::Rational;
use shofar_logic::{ConstructorId, ConstructorSpec, Fun, Op, Sort, SortKind, Term, TermStore};

use crate::Random;

/// Datatypes, symbols and functions of random formulas.
pub struct Datatypes<'s> {
    store: &'s TermStore,
    /// The datatypes.
    sorts: Vec<Sort>,
    /// The sorts of arrays.
    arrays: Vec<Sort>,
    symbols: Vec<Term>,
    functions: Vec<Fun>,
    /// The declarations of everything, as SMT-LIB text.
    pub declarations: String,
    /// A declared sort.
    declared: Sort,
    /// Whether there are reals and elements of the declared sort.
    is_mixed: bool,
    /// The number of names given.
    names: usize,
}

/// A field of a datatype that is being declared.
#[derive(Clone, Copy)]
enum Field {
    Of(Sort),
    /// A member of the group.
    Member(usize),
}

/// The constructors of a datatype: the fields of each.
type Shape = Vec<Vec<Field>>;

impl<'s> Datatypes<'s> {
    /// A few random datatypes with symbols and functions.
    pub fn some(store: &'s TermStore, random: &mut Random) -> Self {
        let mut datatypes = Datatypes::none(store, random);
        datatypes.declare_some(random);
        datatypes.add_symbols(random);
        datatypes
    }

    /// A few random sorts of arrays, with datatypes below or above some of them.
    pub fn with_arrays(store: &'s TermStore, random: &mut Random) -> Self {
        let mut datatypes = Datatypes::none(store, random);
        datatypes.add_arrays(random);
        if random.one_in(3) {
            datatypes.declare_some(random);
            datatypes.add_arrays(random);
        }
        datatypes.add_symbols(random);
        datatypes
    }

    fn none(store: &'s TermStore, random: &mut Random) -> Self {
        Datatypes {
            store,
            sorts: Vec::new(),
            arrays: Vec::new(),
            symbols: Vec::new(),
            functions: Vec::new(),
            declarations: "(declare-sort U 0)\n".to_owned(),
            declared: store.sort(SortKind::Uninterpreted(store.symbol("U"), Box::default())),
            is_mixed: random.one_in(4),
            names: 0,
        }
    }

    fn declare_some(&mut self, random: &mut Random) {
        for _ in 0..1 + random.below(3) {
            let group = self.shapes(random);
            self.declare(&group);
        }
    }

    /// Indices are infinitely many, truth values, or members of an enumeration.
    fn add_arrays(&mut self, random: &mut Random) {
        let store = self.store;
        for _ in 0..1 + random.below(2) {
            let is_index = |sort: &Sort| {
                let is_constant = |&it: &ConstructorId| store.constructor(it).fields.is_empty();
                self.constructors(*sort).iter().all(is_constant)
            };
            let enumerations: Vec<Sort> = self.sorts.iter().copied().filter(is_index).collect();
            let index = match random.below(8) {
                0 => Sort::BOOL,
                1 if !enumerations.is_empty() => *random.choose(&enumerations),
                2 | 3 => {
                    let is_infinite =
                        |sort: &Sort| store.array_parts(*sort).is_some_and(|(_, it)| it == Sort::INT);
                    let indices: Vec<Sort> = self.arrays.iter().copied().filter(is_infinite).collect();
                    if indices.is_empty() { Sort::INT } else { *random.choose(&indices) }
                }
                4 if self.is_mixed => *random.choose(&[Sort::REAL, self.declared]),
                _ => Sort::INT,
            };
            let element = match random.below(8) {
                0 | 1 => Sort::BOOL,
                2 | 3 if !self.arrays.is_empty() => *random.choose(&self.arrays),
                4 | 5 if !self.sorts.is_empty() => *random.choose(&self.sorts),
                6 if self.is_mixed => *random.choose(&[Sort::REAL, self.declared]),
                _ => Sort::INT,
            };
            let sort = store.array_sort(index, element);
            if !self.arrays.contains(&sort) {
                self.arrays.push(sort);
            }
        }
    }

    /// The shapes of a group of datatypes.
    fn shapes(&self, random: &mut Random) -> Vec<Shape> {
        let leaf = self.leaf(random);
        let (own, other) = (Field::Member(0), Field::Member(1));
        match random.below(9) {
            0 | 1 => vec![vec![Vec::new(); 2 + random.below(3)]],
            2 => vec![vec![(0..1 + random.below(3)).map(|_| self.leaf(random)).collect()]],
            3 => vec![vec![vec![], vec![leaf, own]]],
            4 => vec![vec![vec![], vec![own]]],
            5 => vec![vec![vec![leaf], vec![own, own]]],
            6 => vec![vec![vec![], vec![other]], vec![vec![], vec![own, other]]],
            7 => vec![vec![vec![leaf], vec![], vec![self.leaf(random), self.leaf(random)]]],
            _ => vec![vec![vec![leaf, other]], vec![vec![], vec![own], vec![leaf]]],
        }
    }

    fn leaf(&self, random: &mut Random) -> Field {
        Field::Of(match random.below(8) {
            0..=2 => Sort::INT,
            3 => Sort::BOOL,
            4 if self.is_mixed => *random.choose(&[Sort::REAL, self.declared]),
            5 | 6 if !self.arrays.is_empty() => *random.choose(&self.arrays),
            _ if self.sorts.is_empty() => Sort::INT,
            _ => *random.choose(&self.sorts),
        })
    }

    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn declare(&mut self, group: &[Shape]) {
        let store = self.store;
        let names: Vec<String> = group.iter().map(|_| self.name("D")).collect();
        let sorts: Vec<Sort> = names.iter().map(|name| store.new_datatype(store.symbol(name), &[])).collect();
        let heads: Vec<String> = names.iter().map(|name| format!("({name} 0)")).collect();
        let mut text = format!("(declare-datatypes ({}) (", heads.join(" "));
        let mut specs = Vec::new();
        for (shape, &sort) in std::iter::zip(group, &sorts) {
            text.push('(');
            let mut constructors = Vec::new();
            for fields in shape {
                let name = self.name("c");
                let _ = write!(text, "({name}");
                let mut selectors = Vec::new();
                for &field in fields {
                    let selector = self.name("s");
                    let sort = match field {
                        Field::Of(sort) => sort,
                        Field::Member(member) => sorts[member],
                    };
                    let _ = write!(text, " ({selector} {})", store.display_sort(sort));
                    selectors.push((store.symbol(&selector), sort));
                }
                text.push(')');
                constructors.push(ConstructorSpec { name: store.symbol(&name), fields: selectors });
            }
            text.push(')');
            specs.push((sort, constructors));
        }
        text.push_str("))\n");
        self.declarations.push_str(&text);
        let defined = store.define_datatypes(&specs).expect("the shapes are inhabited");
        self.sorts.extend(defined.iter().copied());
    }

    fn add_symbols(&mut self, random: &mut Random) {
        let store = self.store;
        let mut sorts = self.sorts.clone();
        sorts.extend([Sort::INT, Sort::BOOL]);
        sorts.extend(&self.arrays);
        if self.is_mixed {
            sorts.extend([Sort::REAL, self.declared]);
        }
        for &sort in &sorts {
            for _ in 0..2 + random.below(3) {
                let name = self.name("x");
                let _ = writeln!(self.declarations, "(declare-const {name} {})", store.display_sort(sort));
                let constant = store.fun(store.symbol(&name), &[], sort);
                self.symbols.push(store.apply(constant, &[]).expect("it takes no arguments"));
            }
        }
        for _ in 0..random.below(3) {
            let name = self.name("f");
            let domain: Vec<Sort> = (0..1 + random.below(2)).map(|_| *random.choose(&sorts)).collect();
            let range = *random.choose(&sorts);
            let written: Vec<String> =
                domain.iter().map(|&sort| store.display_sort(sort).to_string()).collect();
            let _ = writeln!(
                self.declarations,
                "(declare-fun {name} ({}) {})",
                written.join(" "),
                store.display_sort(range)
            );
            self.functions.push(store.fun(store.symbol(&name), &domain, range));
        }
    }

    fn app(&self, op: Op, args: &[Term]) -> Term {
        self.store.app(op, args).expect("well-sorted")
    }

    fn constructors(&self, sort: Sort) -> &'s [ConstructorId] {
        self.store.datatype(sort).map_or(&[], |datatype| datatype.constructors())
    }

    fn some_sort(&self, random: &mut Random) -> Sort {
        if !self.arrays.is_empty() && (self.sorts.is_empty() || random.chance(60)) {
            return *random.choose(&self.arrays);
        }
        *random.choose(&self.sorts)
    }

    /// A term of a sort, of at most this depth or a little more.
    pub fn term(&self, sort: Sort, depth: usize, random: &mut Random) -> Term {
        let store = self.store;
        let symbols: Vec<Term> =
            self.symbols.iter().copied().filter(|&it| store.sort_of(it) == sort).collect();
        if depth == 0 || random.chance(30) {
            return match sort {
                Sort::INT if random.one_in(3) => store.int(random.between(-2, 3)),
                Sort::REAL if random.one_in(3) => {
                    store.real(Rational::new(random.between(-2, 3).into(), random.between(1, 2).into()))
                }
                Sort::BOOL if random.one_in(4) => store.bool(random.bool()),
                _ => *random.choose(&symbols),
            };
        }
        let depth = depth - 1;
        match random.below(10) {
            0..=3 if !self.constructors(sort).is_empty() => {
                let &constructor = random.choose(self.constructors(sort));
                let fields = store.constructor(constructor).fields.iter();
                let fields: Vec<Term> = fields.map(|(_, field)| self.term(*field, depth, random)).collect();
                self.app(Op::Construct(constructor), &fields)
            }
            3 if sort == Sort::REAL => {
                let number = self.term(Sort::INT, depth, random);
                self.app(Op::ToReal, &[number])
            }
            0..=2 if sort.is_arithmetic() => {
                let op = *random.choose(&[Op::Add, Op::Sub]);
                let args = [self.term(sort, depth, random), self.term(sort, depth, random)];
                self.app(op, &args)
            }
            0..=3 if store.array_parts(sort).is_some() => self.array(sort, depth, random),
            4..=6 => {
                let is_fit = |array: &&Sort| store.array_parts(**array).is_some_and(|(_, it)| it == sort);
                let arrays: Vec<Sort> = self.arrays.iter().filter(is_fit).copied().collect();
                if !arrays.is_empty() && random.chance(70) {
                    let array = *random.choose(&arrays);
                    let (index, _) = store.array_parts(array).expect("it is a sort of arrays");
                    let args = [self.term(array, depth, random), self.term(index, depth.min(1), random)];
                    return self.app(Op::Select, &args);
                }
                match self.selector(sort, depth, random) {
                    Some(selector) => selector,
                    None => *random.choose(&symbols),
                }
            }
            7 => {
                let condition = self.atom(depth.min(1), random);
                let args = [condition, self.term(sort, depth, random), self.term(sort, depth, random)];
                self.app(Op::Ite, &args)
            }
            _ => {
                let is_fit = |fun: &&Fun| store.fun_decl(**fun).range == sort;
                let functions: Vec<&Fun> = self.functions.iter().filter(is_fit).collect();
                if functions.is_empty() {
                    return *random.choose(&symbols);
                }
                let fun = **random.choose(&functions);
                let domain = store.fun_decl(fun).domain.iter();
                let args: Vec<Term> = domain.map(|&sort| self.term(sort, depth, random)).collect();
                store.apply(fun, &args).expect("well-sorted")
            }
        }
    }

    /// A write or a constant array. Solvers differ about constant arrays with finitely many indices.
    fn array(&self, sort: Sort, depth: usize, random: &mut Random) -> Term {
        let (index, element) = self.store.array_parts(sort).expect("it is a sort of arrays");
        let has_constants = index.is_arithmetic() || self.store.array_parts(index).is_some();
        if has_constants && random.one_in(6) {
            return self.app(Op::ConstArray(sort), &[self.term(element, depth.min(1), random)]);
        }
        let args = [
            self.term(sort, depth, random),
            self.term(index, depth.min(1), random),
            self.term(element, depth.min(1), random),
        ];
        self.app(Op::Store, &args)
    }

    /// A selector with values of the sort, if there is one.
    fn selector(&self, sort: Sort, depth: usize, random: &mut Random) -> Option<Term> {
        let store = self.store;
        let mut selectors = Vec::new();
        for &owner in &self.sorts {
            for &constructor in self.constructors(owner) {
                let fields = store.constructor(constructor).fields.iter().enumerate();
                let fields = fields.filter(|(_, (_, field))| *field == sort);
                selectors.extend(fields.map(|(field, _)| (owner, constructor, field as u32)));
            }
        }
        if selectors.is_empty() {
            return None;
        }
        let &(owner, constructor, field) = random.choose(&selectors);
        let argument = self.term(owner, depth, random);
        Some(self.app(Op::Selector { constructor, field }, &[argument]))
    }

    /// An atom, possibly negated.
    pub fn atom(&self, depth: usize, random: &mut Random) -> Term {
        let atom = match random.below(10) {
            0..=3 => {
                let sort = self.some_sort(random);
                self.app(Op::Eq, &[self.term(sort, depth, random), self.term(sort, depth, random)])
            }
            4 | 5 if !self.sorts.is_empty() => {
                let sort = *random.choose(&self.sorts);
                let &constructor = random.choose(self.constructors(sort));
                self.app(Op::Tester(constructor), &[self.term(sort, depth, random)])
            }
            6 | 7 => {
                let sort = if self.is_mixed && random.bool() { Sort::REAL } else { Sort::INT };
                let op = *random.choose(&[Op::Le, Op::Lt, Op::Eq]);
                self.app(op, &[self.term(sort, depth, random), self.term(sort, depth, random)])
            }
            8 => {
                let sort = self.some_sort(random);
                let args: Vec<Term> =
                    (0..2 + random.below(4)).map(|_| self.term(sort, depth.min(1), random)).collect();
                self.app(Op::Distinct, &args)
            }
            _ => self.term(Sort::BOOL, depth, random),
        };
        if random.one_in(3) { self.app(Op::Not, &[atom]) } else { atom }
    }

    /// A formula of a few atoms.
    pub fn formula(&self, random: &mut Random) -> Term {
        let depth = 1 + random.below(3);
        match random.below(8) {
            0..=4 => self.atom(depth, random),
            5 | 6 => {
                let args: Vec<Term> = (0..2 + random.below(2)).map(|_| self.atom(depth, random)).collect();
                self.app(Op::Or, &args)
            }
            _ => {
                let args = [self.atom(depth, random), self.atom(depth, random)];
                self.app(*random.choose(&[Op::And, Op::Eq, Op::Implies, Op::Xor]), &args)
            }
        }
    }
}
