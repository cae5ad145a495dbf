//! Evaluation, values and substitution against slow but obvious procedures.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{
    Assignment, ConstructorId, ConstructorSpec, EvalError, Evaluator, Interpretation, Op, Sort, Substitution,
    Term, TermStore, Value,
};

// ---- random terms ----------------------------------------------------------------------------------------

/// A store with some variables of each sort that the random terms use.
struct World {
    store: TermStore,
    bits: Sort,
    array: Sort,
    list: Sort,
    nil: ConstructorId,
    cons: ConstructorId,
    vars: HashMap<Sort, Vec<Term>>,
}

impl World {
    fn new() -> Self {
        let store = TermStore::new();
        let bits = store.bitvec_sort(2);
        let array = store.array_sort(bits, Sort::INT);
        let list = store.new_datatype(store.symbol("List"), &[]);
        let [head, tail] = ["head", "tail"].map(|name| store.symbol(name));
        let constructors = vec![
            ConstructorSpec { name: store.symbol("nil"), fields: vec![] },
            ConstructorSpec { name: store.symbol("cons"), fields: vec![(head, Sort::INT), (tail, list)] },
        ];
        let list = store.define_datatypes(&[(list, constructors)]).unwrap()[0];
        let [nil, cons] = *store.datatype(list).unwrap().constructors() else { unreachable!() };
        let mut vars = HashMap::new();
        for (prefix, sort) in
            [("p", Sort::BOOL), ("i", Sort::INT), ("r", Sort::REAL), ("b", bits), ("a", array), ("l", list)]
        {
            let names = (0..3).map(|n| store.var(store.symbol(&format!("{prefix}{n}")), sort));
            vars.insert(sort, names.collect());
        }
        World { store, bits, array, list, nil, cons, vars }
    }

    fn sorts(&self) -> [Sort; 6] {
        [Sort::BOOL, Sort::INT, Sort::REAL, self.bits, self.array, self.list]
    }

    fn app(&self, op: Op, args: &[Term]) -> Term {
        self.store.app(op, args).unwrap()
    }

    /// The term of this sort that the bytes choose.
    fn term(&self, sort: Sort, depth: u32, bytes: &mut Bytes<'_>) -> Term {
        let kind = if depth == 0 { bytes.below(2) } else { bytes.below(16) };
        if kind == 0 {
            return self.store.value_to_term(&self.simple_value(sort, bytes));
        }
        if kind == 1 {
            return self.vars[&sort][bytes.below(3)];
        }
        if kind == 2 {
            let condition = self.term(Sort::BOOL, depth - 1, bytes);
            let [yes, no] = [(); 2].map(|()| self.term(sort, depth - 1, bytes));
            return self.app(Op::Ite, &[condition, yes, no]);
        }
        if kind == 3 && sort == Sort::INT {
            let element = [self.term(self.array, depth - 1, bytes), self.term(self.bits, depth - 1, bytes)];
            return self.app(Op::Select, &element);
        }
        if kind == 4 && (sort == Sort::INT || sort == self.list) {
            let field = u32::from(sort == self.list);
            let list = self.term(self.list, depth - 1, bytes);
            return self.app(Op::Selector { constructor: self.cons, field }, &[list]);
        }
        let (op, arg_sorts): (Op, Vec<Sort>) = match sort {
            Sort::BOOL => self.predicate(bytes),
            Sort::INT => {
                let op = [Op::Add, Op::Sub, Op::Mul, Op::Neg, Op::IntDiv, Op::Mod, Op::Abs, Op::ToInt]
                    [bytes.below(8)];
                let count = match op {
                    Op::Neg | Op::Abs | Op::ToInt => 1,
                    Op::Mul | Op::Mod => 2,
                    _ => 2 + bytes.below(2),
                };
                (op, vec![if op == Op::ToInt { Sort::REAL } else { Sort::INT }; count])
            }
            Sort::REAL => {
                let op = [Op::Add, Op::Sub, Op::Mul, Op::Neg, Op::RealDiv, Op::ToReal][bytes.below(6)];
                let count = if matches!(op, Op::Neg | Op::ToReal) { 1 } else { 2 };
                (op, vec![if op == Op::ToReal { Sort::INT } else { Sort::REAL }; count])
            }
            sort if sort == self.bits => {
                let op = [Op::BvAdd, Op::BvMul, Op::BvNot, Op::BvUdiv, Op::IntToBv(2)][bytes.below(5)];
                match op {
                    Op::BvNot => (op, vec![sort]),
                    Op::IntToBv(_) => (op, vec![Sort::INT]),
                    _ => (op, vec![sort; 2]),
                }
            }
            sort if sort == self.array => match bytes.below(4) {
                0 => (Op::ConstArray(sort), vec![Sort::INT]),
                _ => (Op::Store, vec![sort, self.bits, Sort::INT]),
            },
            sort => (Op::Construct(self.cons), vec![Sort::INT, sort]),
        };
        let args: Vec<Term> = arg_sorts.into_iter().map(|sort| self.term(sort, depth - 1, bytes)).collect();
        self.app(op, &args)
    }

    fn predicate(&self, bytes: &mut Bytes<'_>) -> (Op, Vec<Sort>) {
        let any = self.sorts()[bytes.below(6)];
        let number = [Sort::INT, Sort::REAL][bytes.below(2)];
        match bytes.below(16) {
            0 => (Op::Not, vec![Sort::BOOL]),
            1 => (Op::And, vec![Sort::BOOL; bytes.below(4)]),
            2 => (Op::Or, vec![Sort::BOOL; bytes.below(4)]),
            3 => (Op::Xor, vec![Sort::BOOL; 2 + bytes.below(2)]),
            4 => (Op::Implies, vec![Sort::BOOL; 2 + bytes.below(2)]),
            5 | 6 => (Op::Eq, vec![any; 2 + bytes.below(2)]),
            7 => (Op::Distinct, vec![any; 2 + bytes.below(2)]),
            8 => (Op::Le, vec![number; 2 + bytes.below(2)]),
            9 => (Op::Lt, vec![number; 2 + bytes.below(2)]),
            10 => (Op::Ge, vec![number; 2]),
            11 => (Op::Gt, vec![number; 2]),
            12 => (Op::IsInt, vec![Sort::REAL]),
            13 => (self.store.divisible_op(Integer::from(3)), vec![Sort::INT]),
            14 => (Op::Tester(if bytes.below(2) == 0 { self.nil } else { self.cons }), vec![self.list]),
            _ => (Op::BvUle, vec![self.bits; 2]),
        }
    }

    /// A small value that the bytes choose.
    fn simple_value(&self, sort: Sort, bytes: &mut Bytes<'_>) -> Value {
        let small = |bytes: &mut Bytes<'_>| Value::Int(Integer::from(bytes.below(9) as i64 - 4));
        match sort {
            Sort::BOOL => Value::Bool(bytes.below(2) == 1),
            Sort::INT => small(bytes),
            Sort::REAL => {
                let (num, den) = (bytes.below(9) as i64 - 4, 1 + bytes.below(3) as i64);
                Value::Real(Rational::new(Integer::from(num), Integer::from(den)))
            }
            sort if sort == self.bits => {
                Value::BitVec { value: Integer::from(bytes.below(4) as i64), width: 2 }
            }
            sort if sort == self.array => {
                let entries =
                    (0..bytes.below(5)).map(|_| (self.simple_value(self.bits, bytes), small(bytes)));
                let entries: Vec<_> = entries.collect();
                self.store.array_value(sort, &small(bytes), entries)
            }
            _ => {
                let nil = self.app(Op::Construct(self.nil), &[]);
                let numbers: Vec<Value> = (0..bytes.below(3)).map(|_| small(bytes)).collect();
                Value::Term(numbers.iter().fold(nil, |tail, number| {
                    self.app(Op::Construct(self.cons), &[self.store.value_to_term(number), tail])
                }))
            }
        }
    }

    /// An assignment that leaves out some of the variables, and some of the open cases.
    fn assignment(&self, bytes: &mut Bytes<'_>) -> Assignment {
        let mut assignment = Assignment::new();
        for sort in self.sorts() {
            for &variable in &self.vars[&sort] {
                if bytes.below(8) > 0 {
                    assignment.set(variable, self.simple_value(sort, bytes));
                }
            }
        }
        let [zero, seven] = [0, 7].map(|n| Value::Int(Integer::from(n)));
        for dividend in -4..=4 {
            let args = [Value::Int(Integer::from(dividend)), zero.clone()];
            assignment.set_open_case(Op::IntDiv, &args, seven.clone());
        }
        let nil = Value::Term(self.app(Op::Construct(self.nil), &[]));
        assignment.set_open_case(Op::Selector { constructor: self.cons, field: 0 }, &[nil], seven);
        assignment
    }
}

/// Choices read from random bytes, all zero at the end.
struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn below(&mut self, bound: usize) -> usize {
        usize::from(*self.0.next().unwrap_or(&0)) % bound
    }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..400)
}

// ---- the obvious evaluation ------------------------------------------------------------------------------

/// What a term means, in terms of Rust's own types.
#[derive(Clone, PartialEq, Debug)]
enum Meaning {
    Bool(bool),
    Int(i128),
    Real(Rational),
    Bits(i128),
    Array([i128; 4]),
    List(Vec<i128>),
}

impl World {
    fn meaning(&self, value: &Value) -> Meaning {
        let int = |value: &Value| value.as_int().unwrap().to_i64().unwrap().into();
        match value {
            Value::Bool(value) => Meaning::Bool(*value),
            Value::Int(value) => Meaning::Int(value.to_string().parse().unwrap()),
            Value::Real(value) => Meaning::Real(value.clone()),
            Value::BitVec { value, .. } => Meaning::Bits(value.to_i64().unwrap().into()),
            Value::Term(term) if self.store.sort_of(*term) == self.array => {
                let (entries, default) = self.store.array_entries(value).unwrap();
                let mut elements = [expect_int(self.meaning(&default)); 4];
                for (index, element) in entries {
                    let Value::BitVec { value: index, .. } = index else { unreachable!() };
                    elements[index.to_usize().unwrap()] = expect_int(self.meaning(&element));
                }
                Meaning::Array(elements)
            }
            Value::Term(term) => {
                let mut list = Vec::new();
                let mut rest = *term;
                while let &[head, tail] = self.store.args(rest) {
                    list.push(int(&self.store.term_to_value(head).unwrap()));
                    rest = tail;
                }
                Meaning::List(list)
            }
        }
    }

    /// The meaning of a term, `None` if it depends on something that the assignment does not say.
    fn reference(&self, term: Term, assignment: &Assignment) -> Option<Meaning> {
        let (op, args) = self.store.view(term);
        let eval = |term: Term| self.reference(term, assignment);
        let bools = || args.iter().map(|&arg| Some(eval(arg)? == Meaning::Bool(true))).collect::<Vec<_>>();
        let any = |wanted: Vec<Option<bool>>| {
            if wanted.contains(&Some(true)) {
                return Some(Meaning::Bool(true));
            }
            (!wanted.contains(&None)).then_some(Meaning::Bool(false))
        };
        let negated =
            |values: Vec<Option<bool>>| values.into_iter().map(|v| v.map(|v| !v)).collect::<Vec<_>>();
        match op {
            Op::Var(_) => return assignment.get(term).map(|value| self.meaning(value)),
            Op::True | Op::False | Op::Numeral(_) | Op::BvNumeral(_) => {
                return Some(self.meaning(&self.store.term_to_value(term).unwrap()));
            }
            Op::Or => return any(bools()),
            Op::And => return any(negated(bools())).map(|m| Meaning::Bool(m == Meaning::Bool(false))),
            Op::Implies => {
                let mut values = bools();
                let last = values.pop().unwrap();
                let mut values = negated(values);
                values.push(last);
                return any(values);
            }
            Op::Ite => return eval(args[if eval(args[0])? == Meaning::Bool(true) { 1 } else { 2 }]),
            _ => {}
        }
        let values: Vec<Meaning> = args.iter().map(|&arg| eval(arg)).collect::<Option<_>>()?;
        let int = |i: usize| expect_int(values[i].clone());
        let real = |i: usize| match &values[i] {
            Meaning::Real(value) => value.clone(),
            other => panic!("{other:?} is not real"),
        };
        let sorted = |holds: &dyn Fn(std::cmp::Ordering) -> bool| {
            let compare = |a: &Meaning, b: &Meaning| match (a, b) {
                (Meaning::Int(a), Meaning::Int(b)) => a.cmp(b),
                (Meaning::Real(a), Meaning::Real(b)) => a.cmp(b),
                _ => panic!("not comparable"),
            };
            Meaning::Bool(values.windows(2).all(|pair| holds(compare(&pair[0], &pair[1]))))
        };
        let fold = |ints: &dyn Fn(i128, i128) -> i128, reals: &dyn Fn(Rational, Rational) -> Rational| {
            let combine = |a: Meaning, b: Meaning| match (a, b) {
                (Meaning::Int(a), Meaning::Int(b)) => Meaning::Int(ints(a, b)),
                (Meaning::Real(a), Meaning::Real(b)) => Meaning::Real(reals(a, b)),
                _ => panic!("not numbers"),
            };
            values.iter().cloned().reduce(combine).unwrap()
        };
        Some(match op {
            Op::Not => Meaning::Bool(values[0] == Meaning::Bool(false)),
            Op::Xor => Meaning::Bool(values.iter().filter(|v| **v == Meaning::Bool(true)).count() % 2 == 1),
            Op::Eq => Meaning::Bool(values.iter().all(|v| *v == values[0])),
            Op::Distinct => Meaning::Bool((0..values.len()).all(|i| !values[..i].contains(&values[i]))),
            Op::Add => fold(&|a, b| a + b, &|a, b| a + b),
            Op::Sub => fold(&|a, b| a - b, &|a, b| a - b),
            Op::Mul => fold(&|a, b| a * b, &|a, b| a * b),
            Op::Neg => match &values[0] {
                Meaning::Int(value) => Meaning::Int(-value),
                _ => Meaning::Real(-real(0)),
            },
            Op::Abs => Meaning::Int(int(0).abs()),
            Op::IntDiv => {
                let mut quotient = int(0);
                for i in 1..values.len() {
                    quotient = match int(i) {
                        0 if (-4..=4).contains(&quotient) => 7,
                        0 => return None,
                        divisor => quotient.div_euclid(divisor),
                    };
                }
                Meaning::Int(quotient)
            }
            Op::Mod => Meaning::Int(int(0).checked_rem_euclid(int(1))?),
            Op::RealDiv => Meaning::Real(real(0).checked_div(&real(1))?),
            Op::Le => sorted(&|order| order.is_le()),
            Op::Lt => sorted(&|order| order.is_lt()),
            Op::Ge => sorted(&|order| order.is_ge()),
            Op::Gt => sorted(&|order| order.is_gt()),
            Op::ToReal => Meaning::Real(Rational::from(int(0))),
            Op::ToInt => Meaning::Int(real(0).floor().to_string().parse().unwrap()),
            Op::IsInt => Meaning::Bool(real(0).denom().is_one()),
            Op::Divisible(_) => Meaning::Bool(int(0) % 3 == 0),
            Op::Select => match (&values[0], &values[1]) {
                (Meaning::Array(elements), Meaning::Bits(index)) => Meaning::Int(elements[*index as usize]),
                _ => panic!("not an array"),
            },
            Op::Store => match (&values[0], &values[1]) {
                (Meaning::Array(elements), Meaning::Bits(index)) => {
                    let mut elements = *elements;
                    elements[*index as usize] = int(2);
                    Meaning::Array(elements)
                }
                _ => panic!("not an array"),
            },
            Op::ConstArray(_) => Meaning::Array([int(0); 4]),
            Op::Construct(_) => match &values[..] {
                [] => Meaning::List(vec![]),
                [_, Meaning::List(tail)] => Meaning::List([&[int(0)], &tail[..]].concat()),
                _ => panic!("not a list"),
            },
            Op::Selector { field, .. } => match (&values[0], field) {
                (Meaning::List(list), 0) => Meaning::Int(list.first().copied().unwrap_or(7)),
                (Meaning::List(list), _) => Meaning::List(list.get(1..)?.to_vec()),
                _ => panic!("not a list"),
            },
            Op::Tester(constructor) => {
                Meaning::Bool((values[0] == Meaning::List(vec![])) == (constructor == self.nil))
            }
            Op::IntToBv(_) => Meaning::Bits(int(0).rem_euclid(4)),
            Op::BvUle | Op::BvAdd | Op::BvMul | Op::BvUdiv | Op::BvNot => {
                let bits: Vec<i128> = values
                    .iter()
                    .map(|value| match value {
                        Meaning::Bits(value) => *value,
                        other => panic!("{other:?} is not a bit-vector"),
                    })
                    .collect();
                match op {
                    Op::BvUle => Meaning::Bool(bits[0] <= bits[1]),
                    Op::BvAdd => Meaning::Bits((bits[0] + bits[1]) % 4),
                    Op::BvMul => Meaning::Bits(bits[0] * bits[1] % 4),
                    Op::BvUdiv => Meaning::Bits(bits[0].checked_div(bits[1]).unwrap_or(3)),
                    _ => Meaning::Bits(3 - bits[0]),
                }
            }
            other => panic!("{other:?} is not generated"),
        })
    }
}

fn expect_int(meaning: Meaning) -> i128 {
    match meaning {
        Meaning::Int(value) => value,
        other => panic!("{other:?} is not an integer"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn evaluation_agrees_with_the_obvious_one(bytes in bytes()) {
        let world = World::new();
        let mut bytes = Bytes(bytes.iter());
        let assignment = world.assignment(&mut bytes);
        let mut evaluator = Evaluator::new(&world.store, &assignment);
        for sort in world.sorts() {
            let term = world.term(sort, 4, &mut bytes);
            let value = evaluator.eval(term);
            let expected = world.reference(term, &assignment);
            prop_assert_eq!(
                value.as_ref().ok().map(|value| world.meaning(value)),
                expected,
                "{} gives {:?}", world.store.display(term), value
            );
            prop_assert_eq!(&world.store.eval(term, &assignment), &value);
            if let Ok(value) = value {
                prop_assert_eq!(world.store.value_sort(&value), sort);
                let canonical = world.store.value_to_term(&value);
                prop_assert_eq!(world.store.term_to_value(canonical), Some(value.clone()));
                prop_assert_eq!(world.store.eval(canonical, &Assignment::new()), Ok(value));
            }
        }
    }

    #[test]
    fn substituting_is_assigning(bytes in bytes()) {
        let world = World::new();
        let mut bytes = Bytes(bytes.iter());
        let assignment = world.assignment(&mut bytes);
        let sort = world.sorts()[bytes.below(6)];
        let term = world.term(Sort::BOOL, 4, &mut bytes);
        let replacement = world.term(sort, 2, &mut bytes);
        let variable = world.vars[&sort][0];
        let Ok(value) = world.store.eval(replacement, &assignment) else { return Ok(()) };
        let substitution: Substitution = [(variable, replacement)].into_iter().collect();
        let substituted = world.store.substitute(term, &substitution);
        let mut changed = assignment.clone();
        changed.set(variable, value);
        prop_assert_eq!(
            world.store.eval(substituted, &assignment).ok(),
            world.store.eval(term, &changed).ok(),
            "{} for {} in {}",
            world.store.display(replacement), world.store.display(variable), world.store.display(term)
        );
    }

    #[test]
    fn calling_is_substituting_arguments_for_parameters(bytes in bytes()) {
        let world = World::new();
        let store = &world.store;
        let mut bytes = Bytes(bytes.iter());
        let mut assignment = world.assignment(&mut bytes);
        let params: Vec<Term> = world.sorts().iter().map(|sort| world.vars[sort][0]).collect();
        let f = store.fun(store.symbol("f"), &world.sorts(), Sort::INT);
        let g = store.fun(store.symbol("g"), &world.sorts(), Sort::INT);
        // The definition of `g` calls `f`, whose definition calls nothing.
        let mut inlined = HashMap::new();
        for fun in [f, g] {
            let random = world.term(Sort::INT, 3, &mut bytes);
            let args: Vec<Term> = world.sorts().iter().map(|&sort| world.term(sort, 2, &mut bytes)).collect();
            let (body, plain) = match inlined.get(&f) {
                None => (random, random),
                Some(&inner) => {
                    let call = store.apply(f, &args).unwrap();
                    let substitution: Substitution = params.iter().copied().zip(args).collect();
                    [call, store.substitute(inner, &substitution)]
                        .map(|term| world.app(Op::Add, &[random, term, random]))
                        .into()
                }
            };
            let interpretation = Interpretation::Definition { params: params.clone().into(), body };
            assignment.set_function(fun, interpretation);
            inlined.insert(fun, plain);
        }
        let args: Vec<Term> = world.sorts().iter().map(|&sort| world.term(sort, 2, &mut bytes)).collect();
        if args.iter().any(|&arg| store.eval(arg, &assignment).is_err()) {
            return Ok(());
        }
        let substitution: Substitution = params.iter().copied().zip(args.clone()).collect();
        let call = store.apply(g, &args).unwrap();
        let twice = world.app(Op::Sub, &[args[1], call, args[1], call]);
        let expected = store.substitute(inlined[&g], &substitution);
        let expected = world.app(Op::Sub, &[args[1], expected, args[1], expected]);
        // A call needs all of its arguments, while a term in their place may do without some.
        if let Ok(value) = store.eval(twice, &assignment) {
            prop_assert_eq!(Ok(value), store.eval(expected, &assignment));
        }
    }

    #[test]
    fn equal_arrays_are_equal_values(
        writes in proptest::collection::vec((0..2_usize, 0..4_u32, 0..3_i64), 0..12),
        defaults in [0..3_i64, 0..3_i64],
    ) {
        let store = TermStore::new();
        let int = |n: i64| Value::Int(Integer::from(n));
        let bits = store.bitvec_sort(2);
        type ToIndex = fn(u32) -> Value;
        let indices: [(Sort, u32, ToIndex); 3] = [
            (Sort::BOOL, 2, |i| Value::Bool(i % 2 == 1)),
            (bits, 4, |i| Value::BitVec { value: Integer::from(i), width: 2 }),
            (Sort::INT, u32::MAX, |i| Value::Int(Integer::from(i))),
        ];
        for (index, size, to_index) in indices {
            let sort = store.array_sort(index, Sort::INT);
            let mut terms = defaults.map(|d| store.app(Op::ConstArray(sort), &[store.int(d)]).unwrap());
            let mut models: [HashMap<u32, i64>; 2] = [HashMap::new(), HashMap::new()];
            let mut values = defaults.map(|d| store.array_value(sort, &int(d), []));
            for &(which, i, element) in &writes {
                let i = i % size;
                let args = [terms[which], store.value_to_term(&to_index(i)), store.int(element)];
                terms[which] = store.app(Op::Store, &args).unwrap();
                models[which].insert(i, element);
                let (mut entries, default) = store.array_entries(&values[which]).unwrap();
                entries.push((to_index(i), int(element)));
                values[which] = store.array_value(sort, &default, entries);
            }
            let read = |which: usize, i: u32| *models[which].get(&i).unwrap_or(&defaults[which]);
            let same = (0..4.min(size)).all(|i| read(0, i) == read(1, i)) && (size <= 4 || defaults[0] == defaults[1]);
            prop_assert_eq!(values[0] == values[1], same);
            for which in 0..2 {
                prop_assert_eq!(&store.eval(terms[which], &Assignment::new()).unwrap(), &values[which]);
                for i in 0..4.min(size) {
                    let args = [terms[which], store.value_to_term(&to_index(i))];
                    let element = store.app(Op::Select, &args).unwrap();
                    prop_assert_eq!(store.eval(element, &Assignment::new()), Ok(int(read(which, i))));
                }
            }
        }
    }
}

// ---- bit-vectors -----------------------------------------------------------------------------------------

const WIDTH: u32 = 3;

fn signed(value: i64) -> i64 {
    if value >= 4 { value - 8 } else { value }
}

/// The definitions of the binary operators on numbers below 8; `Err` holds a truth value.
fn binary(op: Op, a: i64, b: i64) -> Result<i64, bool> {
    let (s, t) = (signed(a), signed(b));
    let overflows = |value: i64| Err(!(-4..4).contains(&value));
    let result = match op {
        Op::BvAnd => a & b,
        Op::BvOr => a | b,
        Op::BvXor => a ^ b,
        Op::BvNand => !(a & b),
        Op::BvNor => !(a | b),
        Op::BvXnor => !(a ^ b),
        Op::BvComp => return Ok(i64::from(a == b)),
        Op::BvAdd => a + b,
        Op::BvSub => a - b,
        Op::BvMul => a * b,
        Op::BvUdiv => a.checked_div(b).unwrap_or(7),
        Op::BvUrem => a.checked_rem(b).unwrap_or(a),
        Op::BvSdiv => s.checked_div(t).unwrap_or(if s < 0 { 1 } else { 7 }),
        Op::BvSrem => s.checked_rem(t).unwrap_or(s),
        Op::BvSmod if t == 0 => s,
        Op::BvSmod => {
            let rest = s % t;
            if rest != 0 && (rest < 0) != (t < 0) { rest + t } else { rest }
        }
        Op::BvShl => a << b,
        Op::BvLshr => a >> b,
        Op::BvAshr => s >> b,
        Op::BvUlt => return Err(a < b),
        Op::BvUle => return Err(a <= b),
        Op::BvUgt => return Err(a > b),
        Op::BvUge => return Err(a >= b),
        Op::BvSlt => return Err(s < t),
        Op::BvSle => return Err(s <= t),
        Op::BvSgt => return Err(s > t),
        Op::BvSge => return Err(s >= t),
        Op::BvUaddO => return Err(a + b > 7),
        Op::BvSaddO => return overflows(s + t),
        Op::BvUsubO => return Err(a < b),
        Op::BvSsubO => return overflows(s - t),
        Op::BvUmulO => return Err(a * b > 7),
        Op::BvSmulO => return overflows(s * t),
        Op::BvSdivO => return Err(s == -4 && t == -1),
        _ => unreachable!(),
    };
    Ok(result.rem_euclid(8))
}

#[test]
fn all_bit_vector_operators_of_width_three() {
    let store = TermStore::new();
    let eval = |op: Op, args: &[Term]| store.eval(store.app(op, args).unwrap(), &Assignment::new()).unwrap();
    let bits = |value: i64, width: u32| Value::BitVec { value: Integer::from(value), width };
    let operators = [
        Op::BvAnd,
        Op::BvOr,
        Op::BvXor,
        Op::BvNand,
        Op::BvNor,
        Op::BvXnor,
        Op::BvComp,
        Op::BvAdd,
        Op::BvSub,
        Op::BvMul,
        Op::BvUdiv,
        Op::BvUrem,
        Op::BvSdiv,
        Op::BvSrem,
        Op::BvSmod,
        Op::BvShl,
        Op::BvLshr,
        Op::BvAshr,
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
    for a in 0..8 {
        let x = store.bv(a, WIDTH);
        for b in 0..8 {
            let y = store.bv(b, WIDTH);
            for op in operators {
                let expected = match binary(op, a, b) {
                    Ok(value) => bits(value, if op == Op::BvComp { 1 } else { WIDTH }),
                    Err(truth) => Value::Bool(truth),
                };
                assert_eq!(eval(op, &[x, y]), expected, "{op:?} of {a} and {b}");
            }
            assert_eq!(eval(Op::Concat, &[x, y]), bits(a * 8 + b, 6));
            for c in 0..8 {
                let z = store.bv(c, WIDTH);
                for op in [Op::BvAnd, Op::BvOr, Op::BvXor, Op::BvAdd, Op::BvMul, Op::BvXnor] {
                    let left = binary(op, a, b).unwrap();
                    assert_eq!(eval(op, &[x, y, z]), bits(binary(op, left, c).unwrap(), WIDTH));
                }
            }
        }
        assert_eq!(eval(Op::BvNot, &[x]), bits(7 - a, WIDTH));
        assert_eq!(eval(Op::BvNeg, &[x]), bits((-a).rem_euclid(8), WIDTH));
        assert_eq!(eval(Op::BvNegO, &[x]), Value::Bool(a == 4));
        assert_eq!(eval(Op::UbvToInt, &[x]), Value::Int(Integer::from(a)));
        assert_eq!(eval(Op::SbvToInt, &[x]), Value::Int(Integer::from(signed(a))));
        for hi in 0..WIDTH {
            for lo in 0..=hi {
                let width = hi - lo + 1;
                assert_eq!(eval(Op::Extract { hi, lo }, &[x]), bits((a >> lo) % (1 << width), width));
            }
        }
        for n in 0..7 {
            let turn = n % WIDTH;
            let left = (a << turn | a >> (WIDTH - turn)) % 8;
            let right = (a >> turn | a << (WIDTH - turn)) % 8;
            assert_eq!(eval(Op::RotateLeft(n), &[x]), bits(left, WIDTH));
            assert_eq!(eval(Op::RotateRight(n), &[x]), bits(right, WIDTH));
            assert_eq!(eval(Op::ZeroExtend(n), &[x]), bits(a, WIDTH + n));
            assert_eq!(eval(Op::SignExtend(n), &[x]), bits(signed(a).rem_euclid(8 << n), WIDTH + n));
            let repeated = (0..n).fold(0, |value, _| value * 8 + a);
            if n > 0 {
                assert_eq!(eval(Op::Repeat(n), &[x]), bits(repeated, WIDTH * n));
            }
        }
    }
    for n in -20_i64..20 {
        assert_eq!(eval(Op::IntToBv(3), &[store.int(n)]), bits(n.rem_euclid(8), WIDTH));
    }
}

// ---- size ------------------------------------------------------------------------------------------------

#[test]
fn deep_and_shared_terms_evaluate_in_linear_time() {
    let store = TermStore::new();
    let start = Instant::now();
    let x = store.var(store.symbol("x"), Sort::INT);
    let p = store.var(store.symbol("p"), Sort::BOOL);
    let app = |op: Op, args: &[Term]| store.app(op, args).unwrap();
    let assignment: Assignment =
        [(x, Value::Int(Integer::from(3))), (p, Value::Bool(true))].into_iter().collect();

    let one = store.int(1);
    let sum = (0..1_000_000).fold(x, |sum, _| app(Op::Add, &[sum, one]));
    assert_eq!(store.eval(sum, &assignment), Ok(Value::Int(Integer::from(1_000_003))));

    let negations = (0..1_000_000).fold(p, |term, _| app(Op::Not, &[term]));
    assert_eq!(store.eval(negations, &assignment), Ok(Value::Bool(true)));

    let doubled = (0..100_000).fold(p, |term, _| app(Op::Xor, &[term, term, p]));
    assert_eq!(store.eval(doubled, &assignment), Ok(Value::Bool(true)));

    let chosen = (0..1_000_000).fold(x, |term, n| app(Op::Ite, &[p, term, store.int(n)]));
    assert_eq!(store.eval(chosen, &assignment), Ok(Value::Int(Integer::from(3))));

    let array = store.array_sort(Sort::INT, Sort::INT);
    let zeros = app(Op::ConstArray(array), &[store.int(0)]);
    let written = (0..300_000_i64)
        .fold(zeros, |term, n| app(Op::Store, &[term, store.int(n * 7919 % 300_007), store.int(n)]));
    let element = app(Op::Select, &[written, store.int(7919 * 5)]);
    assert_eq!(store.eval(element, &assignment), Ok(Value::Int(Integer::from(5))));

    let wide = app(Op::And, &vec![p; 1_000_000]);
    assert_eq!(store.eval(wide, &assignment), Ok(Value::Bool(true)));
    let unknown = store.var(store.symbol("unknown"), Sort::BOOL);
    assert_eq!(store.eval(unknown, &assignment), Err(EvalError::Unassigned(unknown)));
    assert!(start.elapsed() < Duration::from_secs(30), "took {:?}", start.elapsed());
}
