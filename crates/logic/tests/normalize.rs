//! The normalising builders on generated terms: they keep the meaning, reach the normal form, and are fast on deep,
//! wide or shared terms.
//!
//! A little machine generates terms. It has a pool of terms for each sort; an instruction applies an operator, without
//! normalisation, to members of the pools, and adds the result. So subterms are shared as in practice, and removing
//! instructions shrinks a failure.

use std::ops::Range;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rustc_hash::FxHashMap;
use shofar_logic::build::MAX_FACTORS;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{
    Assignment, ConstructorId, ConstructorSpec, EvalError, Fun, Interpretation, LinearPoly, Op, Sort,
    SortKind, Term, TermStore, Value,
};

// ---- the machine -----------------------------------------------------------------------------------------

/// One instruction: an operator, the arguments, and a number for operators that have one.
type Instruction = (u16, [u16; 4], u8);

/// Variables of each sort that are there from the start.
const VARIABLES: usize = 3;
const MAX_WIDTH: u32 = 8;

struct Machine {
    store: TermStore,
    bools: Vec<Term>,
    ints: Vec<Term>,
    reals: Vec<Term>,
    /// By width, from one.
    vectors: Vec<Vec<Term>>,
    arrays: Vec<Term>,
    /// Arrays from vectors of two bits to truth values.
    small_arrays: Vec<Term>,
    lists: Vec<Term>,
    pairs: Vec<Term>,
    colors: Vec<Term>,
    /// All of them in the order of their creation.
    all: Vec<Term>,
    nil: ConstructorId,
    cons: ConstructorId,
    pair: ConstructorId,
    hues: [ConstructorId; 3],
    function: Fun,
    predicate: Fun,
}

/// The name of a constructor, and the names and sorts of its fields; without a sort, a field is of the datatype.
type Shape<'a> = (&'a str, &'a [(&'a str, Option<Sort>)]);

fn define(store: &TermStore, name: &str, constructors: &[Shape<'_>]) -> Vec<ConstructorId> {
    let sort = store.new_datatype(store.symbol(name), &[]);
    let specs = constructors.iter().map(|(name, fields)| ConstructorSpec {
        name: store.symbol(name),
        fields: fields.iter().map(|(field, of)| (store.symbol(field), of.unwrap_or(sort))).collect(),
    });
    let sort = store.define_datatypes(&[(sort, specs.collect())]).unwrap()[0];
    store.datatype(sort).unwrap().constructors().to_vec()
}

impl Machine {
    fn new() -> Machine {
        let store = TermStore::new();
        let list =
            define(&store, "List", &[("nil", &[]), ("cons", &[("head", Some(Sort::INT)), ("tail", None)])]);
        let pair =
            define(&store, "Pair", &[("pair", &[("fst", Some(Sort::INT)), ("snd", Some(Sort::BOOL))])]);
        let hues = define(&store, "Color", &[("red", &[]), ("green", &[]), ("blue", &[])]);
        let vars = |prefix: &str, sort: Sort| -> Vec<Term> {
            (0..VARIABLES).map(|i| store.var(store.symbol(&format!("{prefix}{i}")), sort)).collect()
        };
        let array = store.array_sort(Sort::INT, Sort::INT);
        let small_array = store.array_sort(store.bitvec_sort(2), Sort::BOOL);
        let sort_of = |constructor: ConstructorId| store.constructor(constructor).sort;
        let mut machine = Machine {
            bools: vars("p", Sort::BOOL),
            ints: vars("x", Sort::INT),
            reals: vars("r", Sort::REAL),
            vectors: (1..=MAX_WIDTH).map(|w| vars(&format!("v{w}_"), store.bitvec_sort(w))).collect(),
            arrays: vars("a", array),
            small_arrays: vars("b", small_array),
            lists: vars("l", sort_of(list[0])),
            pairs: vars("q", sort_of(pair[0])),
            colors: vars("c", sort_of(hues[0])),
            all: Vec::new(),
            nil: list[0],
            cons: list[1],
            pair: pair[0],
            hues: [hues[0], hues[1], hues[2]],
            function: store.fun(store.symbol("f"), &[Sort::INT], Sort::INT),
            predicate: store.fun(store.symbol("P"), &[Sort::INT, Sort::BOOL], Sort::BOOL),
            store,
        };
        machine.bools.extend([Term::TRUE, Term::FALSE]);
        for i in [0, 1, 2, 3, 6, -1, -3] {
            machine.ints.push(machine.store.int(i));
            machine.reals.push(machine.store.real(Rational::from(Integer::from(i))));
        }
        machine.reals.push(machine.store.real(Rational::new(Integer::from(1), Integer::from(2))));
        machine.reals.push(machine.store.real(Rational::new(Integer::from(-7), Integer::from(3))));
        for width in 1..=MAX_WIDTH {
            for value in [0, 1, 2, 3, -1, -2, 1 << (width - 1)] {
                let value = machine.store.bv(value, width);
                machine.vectors[width as usize - 1].push(value);
            }
        }
        machine
    }

    fn run(&mut self, program: &[Instruction]) {
        for instruction in program {
            if let Some(term) = self.step(*instruction) {
                self.pool(self.store.sort_of(term)).push(term);
                self.all.push(term);
            }
        }
    }

    fn pool(&mut self, sort: Sort) -> &mut Vec<Term> {
        match self.store.sort_kind(sort) {
            SortKind::Bool => &mut self.bools,
            SortKind::Int => &mut self.ints,
            SortKind::Real => &mut self.reals,
            SortKind::BitVec(width) => {
                let width = *width as usize;
                while self.vectors.len() < width {
                    self.vectors.push(Vec::new());
                }
                &mut self.vectors[width - 1]
            }
            SortKind::Array(Sort::INT, _) => &mut self.arrays,
            SortKind::Array(..) => &mut self.small_arrays,
            _ if sort == self.store.constructor(self.nil).sort => &mut self.lists,
            _ if sort == self.store.constructor(self.pair).sort => &mut self.pairs,
            _ => &mut self.colors,
        }
    }

    fn step(&self, (choice, at, number): Instruction) -> Option<Term> {
        let store = &self.store;
        let from = |pool: &[Term], position: usize| pool[at[position] as usize % pool.len()];
        let several = |pool: &[Term]| -> Vec<Term> {
            let count = 2 + number as usize % 3;
            (0..count).map(|i| pool[(at[i] as usize) % pool.len()]).collect()
        };
        let width = u32::from(number) % MAX_WIDTH + 1;
        let vectors = &self.vectors[width as usize - 1];
        let small = u32::from(number) / 8;
        let v = |position: usize| from(vectors, position);
        let (b, i, r) = (|p| from(&self.bools, p), |p| from(&self.ints, p), |p| from(&self.reals, p));
        let (a, s) = (|p| from(&self.arrays, p), |p| from(&self.small_arrays, p));
        let (l, q, c) = (|p| from(&self.lists, p), |p| from(&self.pairs, p), |p| from(&self.colors, p));
        let two_bits = |p| from(&self.vectors[1], p);
        let selector = |constructor, field| Op::Selector { constructor, field };
        let (op, args): (Op, Vec<Term>) = match choice {
            0 => (Op::Not, vec![b(0)]),
            1 | 2 => (Op::And, several(&self.bools)),
            3 | 4 => (Op::Or, several(&self.bools)),
            5 => (Op::Xor, several(&self.bools)),
            6 => (Op::Implies, several(&self.bools)),
            7 => (Op::Eq, several(&self.bools)),
            8 => (Op::Distinct, several(&self.bools)),
            9 | 10 => (Op::Ite, vec![b(0), b(1), b(2)]),
            11 => (Op::Ite, vec![b(0), i(1), i(2)]),
            12 => (Op::Ite, vec![b(0), r(1), r(2)]),
            13 => (Op::Ite, vec![b(0), v(1), v(2)]),
            14 => (Op::Ite, vec![b(0), a(1), a(2)]),
            15 => (Op::Ite, vec![b(0), l(1), l(2)]),
            16 | 17 => (Op::Add, several(&self.ints)),
            18 | 19 => (Op::Add, several(&self.reals)),
            20 => (Op::Sub, several(&self.ints)),
            21 => (Op::Sub, several(&self.reals)),
            22 => (Op::Neg, vec![i(0)]),
            23 => (Op::Neg, vec![r(0)]),
            24 | 25 => (Op::Mul, several(&self.ints)),
            26 | 27 => (Op::Mul, several(&self.reals)),
            28 => (Op::RealDiv, several(&self.reals)),
            29 | 30 => (Op::IntDiv, several(&self.ints)),
            31 | 32 => (Op::Mod, vec![i(0), i(1)]),
            33 => (Op::Abs, vec![i(0)]),
            34 => (Op::Abs, vec![r(0)]),
            35 => (Op::Le, several(&self.ints)),
            36 => (Op::Lt, several(&self.ints)),
            37 => (Op::Ge, several(&self.ints)),
            38 => (Op::Gt, several(&self.ints)),
            39 => (Op::Le, several(&self.reals)),
            40 => (Op::Lt, several(&self.reals)),
            41 => (Op::Ge, several(&self.reals)),
            42 => (Op::Gt, several(&self.reals)),
            43 => (Op::Eq, several(&self.ints)),
            44 => (Op::Eq, several(&self.reals)),
            45 => (Op::Distinct, several(&self.ints)),
            46 | 47 => (Op::ToReal, vec![i(0)]),
            48 | 49 => (Op::ToInt, vec![r(0)]),
            50 => (Op::IsInt, vec![r(0)]),
            51 => (store.divisible_op(Integer::from(small % 5 + 1)), vec![i(0)]),
            52 | 53 => (Op::Select, vec![a(0), i(1)]),
            54 => (Op::Select, vec![s(0), two_bits(1)]),
            55 | 56 => (Op::Store, vec![a(0), i(1), i(2)]),
            57 => (Op::Store, vec![s(0), two_bits(1), b(2)]),
            58 => (Op::ConstArray(store.sort_of(self.arrays[0])), vec![i(0)]),
            59 => (Op::ConstArray(store.sort_of(self.small_arrays[0])), vec![b(0)]),
            60 => (Op::Eq, vec![a(0), a(1)]),
            61 => (Op::Eq, vec![s(0), s(1)]),
            62 => (Op::Construct(self.nil), vec![]),
            63 | 64 => (Op::Construct(self.cons), vec![i(0), l(1)]),
            65 => (Op::Construct(self.pair), vec![i(0), b(1)]),
            66 => (Op::Construct(self.hues[number as usize % 3]), vec![]),
            67 => (selector(self.cons, 0), vec![l(0)]),
            68 => (selector(self.cons, 1), vec![l(0)]),
            69 => (selector(self.pair, u32::from(number) % 2), vec![q(0)]),
            70 => (Op::Tester(if number % 2 == 0 { self.nil } else { self.cons }), vec![l(0)]),
            71 => (Op::Tester(self.pair), vec![q(0)]),
            72 => (Op::Tester(self.hues[number as usize % 3]), vec![c(0)]),
            73 => (Op::Eq, several(&self.lists)),
            74 => (Op::Eq, vec![q(0), q(1)]),
            75 => (Op::Distinct, several(&self.colors)),
            76 => (Op::Apply(self.function), vec![i(0)]),
            77 => (Op::Apply(self.predicate), vec![i(0), b(1)]),
            78 => (Op::Eq, vec![v(0), v(1)]),
            79 => {
                let ops = [Op::BvNot, Op::BvNeg, Op::BvNegO, Op::UbvToInt, Op::SbvToInt];
                (ops[small as usize % ops.len()], vec![v(0)])
            }
            80..=83 => {
                let ops = [Op::BvAnd, Op::BvOr, Op::BvXor, Op::BvXnor, Op::BvAdd, Op::BvMul];
                (ops[small as usize % ops.len()], vec![v(0), v(1), v(2)])
            }
            84..=90 => {
                let ops = [
                    Op::BvNand,
                    Op::BvNor,
                    Op::BvComp,
                    Op::BvSub,
                    Op::BvUdiv,
                    Op::BvUrem,
                    Op::BvSdiv,
                    Op::BvSrem,
                    Op::BvSmod,
                    Op::BvShl,
                    Op::BvLshr,
                    Op::BvAshr,
                    Op::BvAdd,
                    Op::BvMul,
                    Op::BvXor,
                ];
                (ops[(at[3] as usize) % ops.len()], vec![v(0), v(1)])
            }
            91..=94 => {
                let ops = [
                    Op::BvUlt,
                    Op::BvUle,
                    Op::BvUgt,
                    Op::BvUge,
                    Op::BvSlt,
                    Op::BvSle,
                    Op::BvSgt,
                    Op::BvSge,
                    Op::BvUaddO,
                    Op::BvSaddO,
                    Op::BvUsubO,
                    Op::BvSsubO,
                    Op::BvUmulO,
                    Op::BvSmulO,
                    Op::BvSdivO,
                ];
                (ops[(at[3] as usize) % ops.len()], vec![v(0), v(1)])
            }
            95..=98 => {
                let other = from(&self.vectors[small as usize % MAX_WIDTH as usize], 1);
                (Op::Concat, vec![v(0), other])
            }
            99..=102 => {
                let pool = &self.vectors[at[3] as usize % self.vectors.len()];
                let vector = *pool.get(at[0] as usize % pool.len().max(1))?;
                let width = store.bv_width(store.sort_of(vector))?;
                let (x, y) = (u32::from(number) % width, u32::from(at[1]) % width);
                (Op::Extract { hi: x.max(y), lo: x.min(y) }, vec![vector])
            }
            103 => (Op::Repeat(small % 3 + 1), vec![v(0)]),
            104 => (Op::ZeroExtend(small % 5), vec![v(0)]),
            105 => (Op::SignExtend(small % 5), vec![v(0)]),
            106 => (Op::RotateLeft(small % 10), vec![v(0)]),
            107 => (Op::RotateRight(small % 10), vec![v(0)]),
            108 => (Op::IntToBv(width), vec![i(0)]),
            _ => {
                let ops = [Op::UbvToInt, Op::SbvToInt];
                (ops[small as usize % 2], vec![v(0)])
            }
        };
        let term = store.app(op, &args).unwrap();
        // Wide vectors arise by concatenation and are used by `extract` only; keep them at bay.
        (store.bv_width(store.sort_of(term)).unwrap_or(1) <= 4 * MAX_WIDTH).then_some(term)
    }

    /// An assignment to all symbols and, if asked for, to what SMT-LIB leaves open.
    fn assignment(&self, mut numbers: impl Iterator<Item = i64>, open_cases: bool) -> Assignment {
        let store = &self.store;
        let mut next = || numbers.next().unwrap_or(1);
        let mut assignment = Assignment::new();
        for i in 0..VARIABLES {
            assignment.set(self.bools[i], Value::Bool(next() % 2 == 0));
            assignment.set(self.ints[i], Value::Int(next().into()));
            let real = Rational::new(Integer::from(next()), Integer::from(next().abs() % 4 + 1));
            assignment.set(self.reals[i], Value::Real(real));
            for width in 1..=MAX_WIDTH {
                let value = Integer::from(next() * 7).modulo_pow2(width);
                assignment.set(self.vectors[width as usize - 1][i], Value::BitVec { value, width });
            }
            let mut array =
                store.app(Op::ConstArray(store.sort_of(self.arrays[0])), &[store.int(next())]).unwrap();
            for _ in 0..2 {
                array = store.app(Op::Store, &[array, store.int(next()), store.int(next())]).unwrap();
            }
            assignment.set(self.arrays[i], store.eval(array, &Assignment::new()).unwrap());
            let small_sort = store.sort_of(self.small_arrays[0]);
            let mut array = store.app(Op::ConstArray(small_sort), &[store.bool(next() % 2 == 0)]).unwrap();
            for _ in 0..2 {
                let write = [array, store.bv(next(), 2), store.bool(next() % 2 == 0)];
                array = store.app(Op::Store, &write).unwrap();
            }
            assignment.set(self.small_arrays[i], store.eval(array, &Assignment::new()).unwrap());
            let mut list = store.app(Op::Construct(self.nil), &[]).unwrap();
            for _ in 0..next().rem_euclid(3) {
                list = store.app(Op::Construct(self.cons), &[store.int(next()), list]).unwrap();
            }
            assignment.set(self.lists[i], Value::Term(list));
            let pair = [store.int(next()), store.bool(next() % 2 == 0)];
            assignment.set(self.pairs[i], Value::Term(store.app(Op::Construct(self.pair), &pair).unwrap()));
            let hue = self.hues[next().rem_euclid(3) as usize];
            assignment.set(self.colors[i], Value::Term(store.app(Op::Construct(hue), &[]).unwrap()));
        }
        let entries = (-3..=3_i64).map(|i| ([Value::Int(i.into())].into(), Value::Int(next().into())));
        let entries: FxHashMap<Box<[Value]>, Value> = entries.collect();
        let default = Some(Value::Int(5.into()));
        assignment.set_function(self.function, Interpretation::Table { entries, default });
        let entries = [([Value::Int(1.into()), Value::Bool(true)].into(), Value::Bool(true))];
        let (entries, default) = (FxHashMap::from_iter(entries), Some(Value::Bool(false)));
        assignment.set_function(self.predicate, Interpretation::Table { entries, default });
        if open_cases {
            for i in -40..=40_i64 {
                let args = [Value::Int(i.into()), Value::Int(0.into())];
                assignment.set_open_case(Op::IntDiv, &args, Value::Int((i * i % 7 - 3).into()));
                assignment.set_open_case(Op::Mod, &args, Value::Int((i * 5 % 11).into()));
                for d in 1..=6_i64 {
                    let dividend = Rational::new(Integer::from(i), Integer::from(d));
                    let result = Value::Real(Rational::from(Integer::from((i * d) % 5)));
                    assignment.set_open_case(
                        Op::RealDiv,
                        &[Value::Real(dividend), Value::Real(Rational::ZERO)],
                        result,
                    );
                }
            }
            let nil = store.app(Op::Construct(self.nil), &[]).unwrap();
            let one = store.app(Op::Construct(self.cons), &[store.int(1), nil]).unwrap();
            let select = |field| Op::Selector { constructor: self.cons, field };
            assignment.set_open_case(select(0), &[Value::Term(nil)], Value::Int(4.into()));
            assignment.set_open_case(select(1), &[Value::Term(nil)], Value::Term(one));
        }
        assignment
    }
}

fn programs() -> impl Strategy<Value = Vec<Instruction>> {
    let theory = prop::sample::select(THEORIES.to_vec());
    let program = prop::collection::vec((any::<u16>(), any::<[u16; 4]>(), any::<u8>()), 1..60);
    (theory, program).prop_map(|(operators, mut program)| {
        for (choice, _, _) in &mut program {
            *choice = operators.start + *choice % (operators.end - operators.start);
        }
        program
    })
}

/// The numbers of the operators of some theories: of all, formulas, arithmetic, arrays and datatypes,
/// bit-vectors.
const THEORIES: [Range<u16>; 5] = [0..110, 0..11, 9..52, 43..79, 78..110];

/// Small numbers mostly, so that equalities hold now and then.
fn numbers() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(prop_oneof![4 => -3..=3_i64, 1 => -40..=40_i64], 120)
}

// ---- the properties --------------------------------------------------------------------------------------

/// The value of `after` is that of `before`, wherever that has one.
fn same_value(
    store: &TermStore,
    before: Term,
    after: Term,
    assignment: &Assignment,
) -> Result<(), TestCaseError> {
    let value = match store.eval(before, assignment) {
        Err(EvalError::Unspecified(_)) => return Ok(()),
        value => value.map_err(|error| TestCaseError::fail(error.display(store).to_string()))?,
    };
    let found = store.eval(after, assignment);
    prop_assert!(
        found.as_ref() == Ok(&value),
        "{}\nis {:?}, but\n{}\nis {:?}",
        store.display(before),
        value,
        store.display(after),
        found
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_normal_form_means_the_same(program in programs(), values in numbers(), open_cases: bool) {
        let mut machine = Machine::new();
        machine.run(&program);
        let assignment = machine.assignment(values.into_iter(), open_cases);
        for &term in &machine.all {
            let normal = machine.store.normalize(term);
            prop_assert_eq!(machine.store.sort_of(normal), machine.store.sort_of(term));
            same_value(&machine.store, term, normal, &assignment)?;
        }
    }

    #[test]
    fn the_normal_form_has_the_shapes_it_promises(program in programs()) {
        let mut machine = Machine::new();
        machine.run(&program);
        let store = &machine.store;
        let normal: Vec<Term> = machine.all.iter().map(|&term| store.normalize(term)).collect();
        for (&term, &normal) in machine.all.iter().zip(&normal) {
            // What was asked before makes no difference.
            store.forget_normal_forms();
            prop_assert_eq!(store.normalize(term), normal, "{}", store.display(term));
            store.forget_normal_forms();
            prop_assert_eq!(
                store.normalize(normal), normal,
                "{}\nbecame\n{}", store.display(term), store.display(normal)
            );
        }
        if let Err(message) = check_normal(store, &normal) {
            prop_assert!(false, "{}", message);
        }
    }

    #[test]
    fn negation_normal_form_means_the_same(program in programs(), values in numbers(), open_cases: bool) {
        let mut machine = Machine::new();
        machine.run(&program);
        let store = &machine.store;
        let assignment = machine.assignment(values.into_iter(), open_cases);
        for &term in machine.all.iter().filter(|&&term| store.sort_of(term) == Sort::BOOL) {
            let normal = store.normalize(term);
            let nnf = store.nnf(normal);
            same_value(store, normal, nnf, &assignment)?;
            same_value(store, normal, store.not(store.nnf(store.not(normal))), &assignment)?;
            prop_assert!(is_nnf(store, nnf), "{}", store.display(nnf));
            prop_assert_eq!(store.nnf(nnf), nnf);
            if let Err(message) = check_normal(store, &[nnf]) {
                prop_assert!(false, "{}", message);
            }
        }
    }

    #[test]
    fn builders_mean_the_same_as_the_operators(program in programs(), values in numbers(), open_cases: bool) {
        let mut machine = Machine::new();
        machine.run(&program);
        let store = &machine.store;
        let assignment = machine.assignment(values.into_iter(), open_cases);
        let mut built: FxHashMap<Term, Term> = FxHashMap::default();
        for &term in &machine.all {
            let (op, args) = store.view(term);
            let args: Vec<Term> = args.iter().map(|arg| *built.get(arg).unwrap_or(arg)).collect();
            let result = store.build(op, &args).unwrap();
            same_value(store, term, result, &assignment)?;
            prop_assert_eq!(store.normalize(result), result, "{}", store.display(result));
            if let Err(message) = check_normal(store, &[result]) {
                prop_assert!(false, "{}", message);
            }
            built.insert(term, result);
        }
    }
}

/// Instructions for the pools of integers and reals alone, with small constants: an operator, two arguments, a
/// number. So divisions are nested, and comparisons have coefficients and bounds with divisors in common.
type LinearInstruction = (u8, u8, u8, i64);

fn run_linear(store: &TermStore, variables: [Term; 2], program: &[LinearInstruction]) -> Vec<Term> {
    let mut ints = variables.to_vec();
    let mut reals = vec![store.app(Op::ToReal, &[variables[0]]).unwrap()];
    let mut all = Vec::new();
    for &(op, first, second, number) in program {
        let pick = |pool: &[Term], at: u8| pool[at as usize % pool.len()];
        let (a, b) = (pick(&ints, first), pick(&ints, second));
        let (r, s) = (pick(&reals, first), pick(&reals, second));
        let constant = store.int(number);
        let divisor = store.int(if number == 0 { 7 } else { number });
        let denominator = Integer::from(u32::from(second) % 4 + 1);
        let fraction = store.real(Rational::new(Integer::from(number), denominator));
        let (op, args) = match op % 18 {
            0 => (Op::Add, vec![a, b]),
            1 => (Op::Add, vec![a, constant]),
            2 => (Op::Sub, vec![a, b]),
            3 | 4 => (Op::Mul, vec![constant, a]),
            5 | 6 => (Op::IntDiv, vec![a, divisor]),
            7 | 8 => (Op::Mod, vec![a, divisor]),
            9 => (Op::ToReal, vec![a]),
            10 => (Op::Add, vec![r, s]),
            11 => (Op::Add, vec![r, fraction]),
            12 => (Op::Mul, vec![fraction, r]),
            13 => (Op::ToInt, vec![r]),
            14 => ([Op::Le, Op::Lt, Op::Eq, Op::Ge, Op::Gt][second as usize % 5], vec![a, b]),
            15 => ([Op::Le, Op::Lt, Op::Eq, Op::Ge, Op::Gt][second as usize % 5], vec![a, constant]),
            16 => ([Op::Le, Op::Lt, Op::Eq, Op::Ge, Op::Gt][first as usize % 5], vec![r, s]),
            _ => ([Op::Le, Op::Lt, Op::Eq, Op::Ge, Op::Gt][second as usize % 5], vec![r, fraction]),
        };
        let term = store.app(op, &args).unwrap();
        all.push(term);
        match store.sort_of(term) {
            Sort::INT => ints.push(term),
            Sort::REAL => reals.push(term),
            _ => {}
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn linear_arithmetic_with_division_means_the_same(
        program in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), -6..=6_i64), 1..20),
        points in prop::collection::vec((-15..=15_i64, -15..=15_i64), 12),
    ) {
        let store = TermStore::new();
        let variables = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
        let terms = run_linear(&store, variables, &program);
        let normal: Vec<Term> = terms.iter().map(|&term| store.normalize(term)).collect();
        for (x, y) in points {
            let values = [Value::Int(x.into()), Value::Int(y.into())];
            let assignment: Assignment = variables.into_iter().zip(values).collect();
            for (&term, &normal) in terms.iter().zip(&normal) {
                same_value(&store, term, normal, &assignment)?;
            }
        }
        if let Err(message) = check_normal(&store, &normal) {
            prop_assert!(false, "{}", message);
        }
        store.forget_normal_forms();
        for &normal in &normal {
            prop_assert_eq!(store.normalize(normal), normal, "{}", store.display(normal));
        }
    }
}

fn is_nnf(store: &TermStore, formula: Term) -> bool {
    let is_connective = |term: Term| match store.view(term) {
        (Op::And | Op::Or | Op::Not | Op::Ite | Op::Forall | Op::Exists, _) => true,
        (Op::Eq, args) => store.sort_of(args[0]) == Sort::BOOL,
        _ => false,
    };
    let is_junction = |term: Term| matches!(store.op(term), Op::And | Op::Or | Op::Forall | Op::Exists);
    store.subterms_until(&[formula], |term| !is_junction(term)).into_iter().all(|term| {
        match store.view(term) {
            (Op::Not, &[atom]) => !is_connective(atom),
            _ => is_junction(term) || !is_connective(term),
        }
    })
}

// ---- the normal form, checked --------------------------------------------------------------------------

/// Checks the invariants N1 to N19 of the builders on all subterms.
fn check_normal(store: &TermStore, roots: &[Term]) -> Result<(), String> {
    for term in store.subterms(roots) {
        if let Err(what) = check_node(store, term) {
            return Err(format!("{what}: {}", store.display(term)));
        }
    }
    Ok(())
}

fn ensure(holds: bool, what: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(what) }
}

fn check_node(store: &TermStore, term: Term) -> Result<(), &'static str> {
    let (op, args) = store.view(term);
    let is = |term: Term, op: Op| store.op(term) == op;
    let is_number = |term: Term| store.numeral(term).is_some();
    let is_bits = |term: Term| store.bv_numeral(term).is_some();
    let atom = |term: Term| if is(term, Op::Not) { store.args(term)[0] } else { term };
    let sorted = |terms: &[Term]| terms.is_sorted_by(|a, b| a < b);
    let is_constant = |t: Term| t == Term::TRUE || t == Term::FALSE;
    let is_negation_of = |t: Term, head: Op| is(t, Op::Not) && is(atom(t), head);
    let sort = store.sort_of(args.first().copied().unwrap_or(term));
    let width = store.bv_width(sort).unwrap_or(0);
    if store.bv_width(store.sort_of(term)).is_some() || width > 0 {
        ensure(args.is_empty() || !args.iter().all(|&arg| is_bits(arg)), "N17: only values")?;
    }
    match op {
        Op::Var(_) | Op::Apply(_) | Op::Numeral(_) | Op::BvNumeral(_) | Op::True | Op::False => Ok(()),
        Op::Construct(_) | Op::ConstArray(_) => Ok(()),
        Op::Not => ensure(!is(args[0], Op::Not) && !is_constant(args[0]), "N2: negation"),
        Op::And | Op::Or => {
            let dual = if op == Op::And { Op::Or } else { Op::And };
            let atoms: Vec<Term> = args.iter().map(|&arg| atom(arg)).collect();
            ensure(args.len() >= 2 && sorted(&atoms), "N3: order")?;
            ensure(!atoms.iter().any(|&atom| is_constant(atom)), "N3: constant")?;
            ensure(!args.iter().any(|&arg| is(arg, op) || is_negation_of(arg, dual)), "N3: not flat")?;
            let absorbed = args.iter().any(|&arg| {
                let parts = store.args(atom(arg));
                let literals = |&part: &Term| if is(arg, Op::Not) { store.not(part) } else { part };
                let is_dual = is(arg, dual) || is_negation_of(arg, op);
                is_dual && parts.len() <= 8 && parts.iter().map(literals).any(|part| args.contains(&part))
            });
            ensure(!absorbed, "N3: absorption")
        }
        Op::Eq if sort == Sort::BOOL => {
            ensure(sorted(args) && args.len() == 2, "N4: order")?;
            ensure(!args.iter().any(|&arg| is(arg, Op::Not) || is_constant(arg)), "N4: polarity")
        }
        Op::Ite => {
            let (condition, a, b) = (args[0], args[1], args[2]);
            ensure(!is(condition, Op::Not) && !is_constant(condition) && a != b, "N5: ite")?;
            let same = |branch: Term| is(branch, Op::Ite) && store.args(branch)[0] == condition;
            ensure(!same(atom(a)) && !same(atom(b)), "N5: nested condition")?;
            if store.sort_of(term) == Sort::BOOL {
                ensure(!is(a, Op::Not), "N5: first branch")?;
                ensure(!is_constant(a) && !is_constant(b), "N5: constant branch")?;
                ensure(a != condition && atom(b) != condition && atom(b) != a, "N5: branches")?;
            }
            Ok(())
        }
        Op::Distinct => ensure(args.len() > 16 && sorted(args) && sort != Sort::BOOL, "N6: distinct"),
        Op::Forall | Op::Exists => {
            let (body, variables) = args.split_last().unwrap();
            let free = store.free_vars(&[*body]);
            ensure(!variables.is_empty() && sorted(variables), "N7: variables")?;
            ensure(variables.iter().all(|variable| free.contains(variable)), "N7: unused variable")
        }
        Op::Add => {
            let poly = LinearPoly::from_term(store, term);
            ensure(args.len() >= 2 && poly.to_term(store, sort) == term, "N8: sum")?;
            ensure(poly.terms().iter().all(|(m, _)| is_monomial(store, *m)), "N8: monomial")
        }
        Op::Mul if is_number(args[0]) => {
            let factor = store.numeral(args[0]).unwrap();
            ensure(args.len() == 2 && !factor.is_zero() && !factor.is_one(), "N8: coefficient")?;
            ensure(is_monomial(store, args[1]), "N8: multiple")
        }
        Op::Mul => {
            ensure(
                args.len() >= 2 && args.is_sorted() && !args.iter().any(|&arg| is_number(arg)),
                "N9: order",
            )?;
            ensure(args.iter().filter(|&&arg| is(arg, Op::ToReal)).count() <= 1, "N9: casts")?;
            for &factor in args {
                let poly = LinearPoly::from_term(store, factor);
                let common = poly.content().gcd(poly.constant());
                ensure(common.is_one() && poly.terms()[0].1.is_positive(), "N9: factor not primitive")?;
            }
            check_flat(store, op, args)
        }
        Op::Le | Op::Lt | Op::Eq if sort.is_arithmetic() => {
            let (poly, bound) = (LinearPoly::from_term(store, args[0]), store.numeral(args[1]));
            let bound = bound.ok_or("N10: no numeral on the right")?;
            ensure(args.len() == 2 && !poly.is_constant() && poly.constant().is_zero(), "N10: left side")?;
            ensure(poly.content().is_one() && poly.terms()[0].1.is_positive(), "N10: not primitive")?;
            ensure(sort == Sort::REAL || op != Op::Lt, "N10: < on Int")?;
            ensure(sort == Sort::INT || !poly.terms().iter().all(|(m, _)| is(*m, Op::ToReal)), "N10: casts")?;
            match (poly.as_monomial().map(|m| store.view(m)), store.op(args[0])) {
                (Some((Op::Ite, parts)), _) => {
                    ensure(!is_number(parts[1]) || !is_number(parts[2]), "N10: ite between numerals")
                }
                (Some((Op::Mod, parts)), _) if store.numeral(parts[1]).is_some_and(|k| !k.is_zero()) => {
                    let greatest = store.numeral(parts[1]).unwrap() - Rational::ONE;
                    let inside = !bound.is_negative() && *bound <= greatest;
                    ensure(inside && (op == Op::Eq || *bound != greatest), "N10: range of mod")
                }
                _ => Ok(()),
            }
        }
        Op::IntDiv | Op::Mod => {
            let Some(k) = store.numeral(args[1]).filter(|k| !k.is_zero()) else {
                return ensure(args.len() == 2, "N11: two arguments");
            };
            ensure(*k > Rational::ONE, "N11: divisor")?;
            let poly = LinearPoly::from_term(store, args[0]);
            let two = Rational::from(Integer::from(2));
            let small = |c: &Rational| c * &two <= *k && c * &two > -k;
            ensure(poly.terms().iter().all(|(_, c)| small(c)), "N11: coefficients")?;
            ensure(poly.content().gcd(k).is_one(), "N11: common divisor")?;
            ensure(!poly.constant().is_negative() && poly.constant() < k, "N11: constant")?;
            let inner = |(m, c): &(Term, Rational)| match store.view(*m) {
                (Op::Mod, &[_, n]) => {
                    store.numeral(n).is_some_and(|n| !n.is_zero() && (n * c / k).is_integer())
                }
                _ => false,
            };
            ensure(op == Op::IntDiv || !poly.terms().iter().any(inner), "N11: nested mod")
        }
        Op::RealDiv => ensure(
            args.len() == 2 && store.numeral(args[1]).is_none_or(|divisor| divisor.is_zero()),
            "N12: division",
        ),
        Op::ToReal => ensure(!is_number(args[0]) && is_monomial(store, args[0]), "N13: to_real"),
        Op::ToInt => {
            let poly = LinearPoly::from_term(store, args[0]);
            let two = Rational::from(Integer::from(2));
            let small = |c: &Rational| c * &two <= Rational::ONE && c * &two > -Rational::ONE;
            let casts = |(m, _): &&(Term, Rational)| is(*m, Op::ToReal);
            ensure(poly.terms().iter().filter(casts).all(|(_, c)| small(c)), "N13: coefficients")?;
            ensure(!poly.terms().iter().all(|pair| casts(&pair)), "N13: integer")?;
            ensure(!poly.constant().is_negative() && *poly.constant() < Rational::ONE, "N13: constant")
        }
        Op::Select => {
            ensure(!matches!(store.op(args[0]), Op::ConstArray(_)), "N14: constant array")?;
            if is(args[0], Op::Store) {
                let written = store.args(args[0])[1];
                ensure(written != args[1], "N14: read at write")?;
                ensure(!(is_number(written) && is_number(args[1])), "N14: read at other index")?;
                ensure(!(is_bits(written) && is_bits(args[1])), "N14: read at other index")?;
            }
            Ok(())
        }
        Op::Store => {
            let below = store.view(args[0]);
            ensure(!(below.0 == Op::Store && below.1[1] == args[1]), "N14: write over write")?;
            ensure(store.view(args[2]) != (Op::Select, &args[..2]), "N14: write of what is there")?;
            ensure(!(matches!(below.0, Op::ConstArray(_)) && below.1[0] == args[2]), "N14: write of constant")
        }
        Op::Selector { constructor, .. } => ensure(!is(args[0], Op::Construct(constructor)), "N15: selector"),
        Op::Tester(constructor) => {
            let constructors = store.datatype(sort).unwrap().constructors();
            ensure(!matches!(store.op(args[0]), Op::Construct(_)), "N15: tester on constructor")?;
            let redundant =
                constructors.len() == 1 || constructors.len() == 2 && constructors[1] == constructor;
            ensure(!redundant, "N15: tester")
        }
        Op::Eq if width == 0 => {
            ensure(args.len() == 2 && sorted(args), "N16: order")?;
            let both = |test: &dyn Fn(Op) -> bool| args.iter().all(|&arg| test(store.op(arg)));
            ensure(!both(&|op| matches!(op, Op::Construct(_))), "N16: constructors")?;
            ensure(!both(&|op| matches!(op, Op::ConstArray(_))), "N16: constant arrays")
        }
        Op::Eq => {
            ensure(args.len() == 2 && args[0] != args[1] && !is_bits(args[0]), "N18: equality")?;
            if !is_bits(args[1]) {
                return ensure(sorted(args), "N18: order");
            }
            ensure(!matches!(store.op(args[0]), Op::BvNot | Op::BvNeg), "N18: invertible")?;
            let constant = is(args[0], Op::BvAdd) && store.args(args[0]).last().is_some_and(|&c| is_bits(c));
            ensure(!constant, "N18: constant summand")?;
            ensure(width != 1 || store.bv_numeral(args[1]).unwrap().is_one(), "N18: one bit")
        }
        Op::BvAnd | Op::BvOr => {
            let (constants, literals): (Vec<Term>, Vec<Term>) = args.iter().partition(|&&arg| is_bits(arg));
            let inner = |&t: &Term| if is(t, Op::BvNot) { store.args(t)[0] } else { t };
            let atoms: Vec<Term> = literals.iter().map(inner).collect();
            ensure(sorted(&atoms) && !args.iter().any(|&arg| is(arg, op)), "N17: order")?;
            ensure(
                constants.len() <= 1 && constants.iter().all(|c| args.last() == Some(c)),
                "N17: constant",
            )?;
            let trivial = [store.bv(0, width), store.bv(-1, width)];
            ensure(!constants.iter().any(|c| trivial.contains(c)), "N17: trivial constant")
        }
        Op::BvXor => {
            let atoms: Vec<Term> = args.iter().copied().filter(|&arg| !is_bits(arg)).collect();
            let ones = store.bv(-1, width);
            ensure(sorted(&atoms) && args.len() - atoms.len() <= 1, "N17: order")?;
            ensure(args[..args.len() - 1].iter().all(|&arg| !is_bits(arg)), "N17: constant first")?;
            ensure(!args.iter().any(|&t| is(t, Op::BvNot) || is(t, Op::BvXor) || t == ones), "N17: xor")
        }
        Op::BvAdd => {
            let monomial = |&t: &Term| match store.view(t) {
                (Op::BvNeg, parts) => parts[0],
                (Op::BvMul, parts) if is_bits(parts[0]) => parts[1],
                _ => t,
            };
            let constant = is_bits(*args.last().unwrap());
            let multiples = &args[..args.len() - usize::from(constant)];
            let monomials: Vec<Term> = multiples.iter().map(monomial).collect();
            ensure(args.len() >= 2 && sorted(&monomials), "N17: sum")?;
            ensure(monomials.iter().all(|&t| is_bv_monomial(store, t)), "N17: monomial")
        }
        Op::BvNeg => ensure(is_bv_monomial(store, args[0]) && width > 1, "N17: negation"),
        Op::BvMul if is_bits(args[0]) => {
            let trivial = [0, 1, -1].map(|value| store.bv(value, width));
            ensure(args.len() == 2 && !trivial.contains(&args[0]), "N17: coefficient")?;
            ensure(is_bv_monomial(store, args[1]), "N17: multiple")
        }
        Op::BvMul => {
            let factors = args.iter().all(|&arg| !is_bits(arg) && !is(arg, Op::BvNeg));
            ensure(args.len() >= 2 && args.is_sorted() && factors, "N17: product")?;
            check_flat(store, op, args)
        }
        Op::BvNot => ensure(!is(args[0], Op::BvNot), "N17: complement"),
        Op::BvUdiv | Op::BvUrem => {
            let power = |value: &Integer| value.is_zero() || (value & (value - Integer::ONE)).is_zero();
            ensure(!store.bv_numeral(args[1]).is_some_and(power), "N17: division")
        }
        Op::BvShl | Op::BvLshr | Op::BvAshr => ensure(!is_bits(args[1]), "N17: shift"),
        Op::BvUle | Op::BvSle => {
            ensure(args[0] != args[1] && !is_bits(args[0]), "N18: constant on the left")?;
            let greatest = if op == Op::BvUle { -1 } else { (1 << (width - 1)) - 1 };
            let trivial = [greatest, greatest - 1, greatest + 1].map(|value| store.bv(value, width));
            ensure(!trivial.contains(&args[1]), "N18: bound")
        }
        Op::BvUmulO | Op::BvSmulO => ensure(args.is_sorted(), "N17: order"),
        Op::Concat => {
            let parts: usize =
                args.iter().map(|&t| if is(t, Op::Concat) { store.args(t).len() } else { 1 }).sum();
            ensure(args.len() >= 2, "N19: one part")?;
            ensure(parts > 64 || !args.iter().any(|&t| is(t, Op::Concat)), "N19: not flat")?;
            let joined = args.windows(2).any(|pair| match (store.view(pair[0]), store.view(pair[1])) {
                ((Op::BvNumeral(_), _), (Op::BvNumeral(_), _)) => true,
                ((Op::Extract { lo, .. }, a), (Op::Extract { hi, .. }, b)) => a == b && lo == hi + 1,
                _ => false,
            });
            ensure(!joined, "N19: neighbours")
        }
        Op::Extract { hi, lo } => {
            ensure(hi - lo + 1 < width && !is(args[0], Op::Concat), "N19: extract")?;
            match store.view(args[0]) {
                (Op::Extract { .. }, _) => Err("N19: extract of extract"),
                (Op::SignExtend(by), _) => ensure(hi >= width - by, "N19: extract of extension"),
                _ => Ok(()),
            }
        }
        Op::SignExtend(by) => {
            ensure(by > 0 && !matches!(store.op(args[0]), Op::SignExtend(_)), "N19: sign extension")
        }
        Op::UbvToInt | Op::SbvToInt | Op::IntToBv(_) => Ok(()),
        _ => Err("N1: operator"),
    }
}

fn is_monomial(store: &TermStore, term: Term) -> bool {
    match store.view(term) {
        (Op::Add | Op::Numeral(_), _) => false,
        (Op::Mul, factors) => store.numeral(factors[0]).is_none(),
        _ => true,
    }
}

fn is_bv_monomial(store: &TermStore, term: Term) -> bool {
    match store.view(term) {
        (Op::BvAdd | Op::BvNeg | Op::BvNumeral(_), _) => false,
        (Op::BvMul, factors) => store.bv_numeral(factors[0]).is_none(),
        _ => true,
    }
}

/// No factor is a product that could have been flattened.
fn check_flat(store: &TermStore, op: Op, factors: &[Term]) -> Result<(), &'static str> {
    let parts = |&f: &Term| if store.op(f) == op { store.args(f).len() } else { 1 };
    let nested = |f: &Term| store.op(*f) == op;
    let deeper = |f: &Term| nested(f) && store.args(*f).iter().any(nested);
    let length: usize = factors.iter().map(parts).sum();
    ensure(
        !factors.iter().any(nested) || length > MAX_FACTORS || factors.iter().any(deeper),
        "N9: product of products",
    )
}

// ---- deep, wide and shared terms -------------------------------------------------------------------------

const MILLION: usize = 1_000_000;

/// Loose enough for a slow machine, and far below what a quadratic walk over a million levels would take.
const LIMIT: Duration = Duration::from_secs(60);

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    let elapsed = start.elapsed();
    assert!(elapsed < LIMIT, "{what} took {elapsed:?}");
    result
}

fn vars(store: &TermStore, count: usize, sort: Sort) -> Vec<Term> {
    (0..count).map(|i| store.var(store.symbol(&format!("y{i}")), sort)).collect()
}

/// The chain of a binary operator over the terms, grouped to the left or to the right.
fn chain(store: &TermStore, op: Op, terms: &[Term], left: bool) -> Term {
    let step = |a: Term, b: Term| store.app(op, &if left { [a, b] } else { [b, a] }).unwrap();
    terms.iter().copied().reduce(step).unwrap()
}

#[test]
fn chains_of_a_million_levels_become_flat() {
    let store = TermStore::new();
    for (op, sort) in [
        (Op::And, Sort::BOOL),
        (Op::Or, Sort::BOOL),
        (Op::Add, Sort::INT),
        (Op::Add, Sort::REAL),
        (Op::BvAdd, store.bitvec_sort(8)),
        (Op::BvAnd, store.bitvec_sort(8)),
        (Op::BvXor, store.bitvec_sort(8)),
    ] {
        let terms = vars(&store, MILLION, sort);
        let expected = store.app(op, &terms).unwrap();
        for left in [true, false] {
            let nested = chain(&store, op, &terms, left);
            let side = if left { "left" } else { "right" };
            let normal = timed(&format!("{op:?} nested to the {side}"), || store.normalize(nested));
            assert_eq!(normal, expected);
        }
    }
}

#[test]
fn alternation_of_a_million_levels_is_walked_once() {
    let store = TermStore::new();
    let atoms = vars(&store, 1000, Sort::BOOL);
    let mut formula = store.app(Op::Not, &[atoms[0]]).unwrap();
    for i in 1..MILLION {
        let atom = atoms[i % 1000];
        formula = match i % 6 {
            0 => store.app(Op::And, &[formula, atom]),
            1 => store.app(Op::Not, &[formula]),
            2 => store.app(Op::Or, &[atom, formula]),
            3 => store.app(Op::Eq, &[formula, atom]),
            4 => store.app(Op::Xor, &[atom, formula]),
            _ => store.app(Op::Ite, &[atom, formula, atoms[(i + 1) % 1000]]),
        }
        .unwrap();
    }
    let normal = timed("alternating connectives", || store.normalize(formula));
    let nnf = timed("their negation normal form", || store.nnf(normal));
    assert!(is_nnf(&store, nnf));
    let mut value = Assignment::new();
    atoms.iter().enumerate().for_each(|(i, &atom)| value.set(atom, Value::Bool(i % 3 == 0)));
    assert_eq!(store.eval(formula, &value), store.eval(normal, &value));
    assert_eq!(store.eval(formula, &value), store.eval(nnf, &value));
}

#[test]
fn implications_negations_and_choices_of_a_million_levels_are_one_clause() {
    let store = TermStore::new();
    let atoms = vars(&store, MILLION, Sort::BOOL);
    let mut clause = atoms[0];
    for (i, &atom) in atoms.iter().enumerate().skip(1) {
        clause = match i % 3 {
            0 => store.app(Op::Implies, &[atom, clause]),
            1 => store.app(Op::Ite, &[atom, Term::TRUE, clause]),
            _ => {
                let negated = store.app(Op::Not, &[clause]).unwrap();
                let both = store.app(Op::And, &[atom, negated]).unwrap();
                store.app(Op::Not, &[both])
            }
        }
        .unwrap();
    }
    let normal = timed("one clause", || store.normalize(clause));
    assert_eq!((store.op(normal), store.args(normal).len()), (Op::Or, MILLION));
}

#[test]
fn doubling_takes_as_many_steps_as_levels() {
    const LEVELS: usize = 100_000;
    let store = TermStore::new();
    let double = |op: Op, mut term: Term, levels: usize| {
        for _ in 0..levels {
            term = store.app(op, &[term, term]).unwrap();
        }
        term
    };
    let x = store.var(store.symbol("x"), Sort::INT);
    let sum = double(Op::Add, x, LEVELS);
    let normal = timed("doubled sum", || store.normalize(sum));
    let poly = timed("polynomial of a doubled sum", || LinearPoly::from_term(&store, sum));
    assert_eq!(poly.coefficient(x), Rational::from(Integer::pow2(LEVELS as u32)));
    assert_eq!(normal, poly.to_term(&store, Sort::INT));

    let p = store.var(store.symbol("p"), Sort::BOOL);
    assert_eq!(timed("doubled and", || store.normalize(double(Op::And, p, MILLION))), p);
    assert_eq!(timed("doubled or", || store.normalize(double(Op::Or, p, MILLION))), p);
    let v = store.var(store.symbol("v"), store.bitvec_sort(16));
    let zero = store.bv(0, 16);
    assert_eq!(timed("doubled bvadd", || store.normalize(double(Op::BvAdd, v, MILLION))), zero);
    assert_eq!(timed("doubled bvxor", || store.normalize(double(Op::BvXor, v, MILLION))), zero);
    assert_eq!(timed("doubled bvor", || store.normalize(double(Op::BvOr, v, MILLION))), v);
    let power = timed("repeated squaring", || store.normalize(double(Op::Mul, x, LEVELS)));
    assert_eq!(store.op(power), Op::Mul);
    check_normal(&store, &[power]).unwrap();
}

#[test]
fn long_lists_are_compared_without_recursion() {
    let store = TermStore::new();
    let list =
        define(&store, "List", &[("nil", &[]), ("cons", &[("head", Some(Sort::INT)), ("tail", None)])]);
    let heads = vars(&store, MILLION, Sort::INT);
    let build = |end: Term, shift: usize| {
        (0..MILLION).fold(end, |tail, i| {
            let head = heads[(i + shift) % MILLION];
            store.app(Op::Construct(list[1]), &[head, tail]).unwrap()
        })
    };
    let nil = store.app(Op::Construct(list[0]), &[]).unwrap();
    let (a, b) = (build(nil, 0), build(nil, 1));
    let equal = timed("equality of lists", || store.eq(a, b));
    assert_eq!((store.op(equal), store.args(equal).len()), (Op::And, MILLION));
    let longer = store.construct_term(list[1], &[heads[0], nil]);
    let different = timed("lists of different length", || store.eq(a, build(longer, 0)));
    assert_eq!(different, Term::FALSE);
}

#[test]
fn long_chains_of_writes_are_built_in_linear_time() {
    let store = TermStore::new();
    let mut array = store.var(store.symbol("a"), store.array_sort(Sort::INT, Sort::INT));
    for i in 0..MILLION {
        let [index, element] = [i as u64, i as u64 % 7].map(|n| store.int(n));
        array = store.app(Op::Store, &[array, index, element]).unwrap();
    }
    let normal = timed("writes", || store.normalize(array));
    assert_eq!(timed("read", || store.select(normal, store.int(3))), store.int(3));
}

#[test]
fn nested_quantifiers_keep_their_variables() {
    let store = TermStore::new();
    let variables = vars(&store, 100_000, Sort::INT);
    let mut formula = Term::TRUE;
    for (i, &variable) in variables.iter().enumerate() {
        let atom = store.app(Op::Le, &[variable, store.int(0)]).unwrap();
        let body = store.app(if i % 2 == 0 { Op::And } else { Op::Or }, &[atom, formula]).unwrap();
        formula = store.app(if i % 3 == 0 { Op::Forall } else { Op::Exists }, &[variable, body]).unwrap();
    }
    let normal = timed("nested quantifiers", || store.normalize(formula));
    let is_quantifier = |term: &Term| matches!(store.op(*term), Op::Forall | Op::Exists);
    assert_eq!(store.subterms(&[normal]).iter().filter(|term| is_quantifier(term)).count(), variables.len());
}
