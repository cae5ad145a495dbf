//! The checker's comparison of terms: it accepts the normal form of a term as equivalent, and rejects a wrong normal
//! form.

use std::time::{Duration, Instant};

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Assignment, Fun, Interpretation, Op, Sort, Term, TermStore, Value};
use shofar_smt::proof::entails;
use shofar_testing::{Random, scale};

/// Makes terms of all operators on truth values, numbers and functions, as they are written.
struct Machine {
    store: TermStore,
    bools: Vec<Term>,
    ints: Vec<Term>,
    reals: Vec<Term>,
    variables: usize,
    function: Fun,
    predicate: Fun,
}

impl Machine {
    fn new() -> Self {
        let store = TermStore::new();
        let vars = |names: &[&str], sort: Sort| {
            names.iter().map(|name| store.var(store.symbol(name), sort)).collect::<Vec<_>>()
        };
        let mut bools = vars(&["p", "q", "r"], Sort::BOOL);
        let mut ints = vars(&["x", "y", "z"], Sort::INT);
        let mut reals = vars(&["u", "v", "w"], Sort::REAL);
        bools.extend([Term::TRUE, Term::FALSE]);
        ints.extend([0, 1, 2, 3, 6, -1, -4].map(|number| store.int(number)));
        reals.extend([0, 1, 2, -3].map(|number| store.real(Rational::from(number))));
        reals.extend([(1, 2), (-7, 3)].map(|(a, b)| store.real(Rational::new(a.into(), b.into()))));
        let function = store.fun(store.symbol("f"), &[Sort::INT, Sort::REAL], Sort::INT);
        let predicate = store.fun(store.symbol("P"), &[Sort::INT, Sort::BOOL], Sort::BOOL);
        Machine { store, bools, ints, reals, variables: 3, function, predicate }
    }

    /// Makes another term.
    fn step(&mut self, random: &mut Random) {
        let store = &self.store;
        // Young terms are chosen more often, so that they become large.
        let pick = |random: &mut Random, pool: &[Term]| {
            let places = [0; 2].map(|_| random.below(pool.len()));
            pool[places[0].max(places[1])]
        };
        let [p, q, r] = [0; 3].map(|_| pick(random, &self.bools));
        let [x, y, z] = [0; 3].map(|_| pick(random, &self.ints));
        let [u, v, w] = [0; 3].map(|_| pick(random, &self.reals));
        let divisor = store.int([2, 3, 6, -2, -5, 1, 4, 0][random.below(8)]);
        let divisible = store.app(Op::Mul, &[divisor, divisor]).unwrap();
        let app = |op: Op, args: &[Term]| store.app(op, args).unwrap();
        let number = |random: &mut Random| store.int([1, 2, 3, 5][random.below(4)]);
        let term = match random.below(48) {
            0 => app(Op::Not, &[p]),
            1 => app(Op::And, &[p, q, r]),
            2 => app(Op::Or, &[p, q, r]),
            3 => app(Op::Implies, &[p, q, r]),
            4 => app(Op::Xor, &[p, q, r]),
            5 => app(Op::Eq, &[p, q]),
            6 => app(Op::Eq, &[p, q, r]),
            7 => app(Op::Distinct, &[p, q]),
            8..=9 => app(Op::Ite, &[p, q, r]),
            10..=11 => app(Op::Le, &[x, y]),
            12 => app(Op::Lt, &[x, y, z]),
            13 => app(Op::Ge, &[u, v]),
            14 => app(Op::Gt, &[u, v]),
            15 => app(Op::Le, &[u, v, w]),
            16..=17 => app(Op::Eq, &[x, y]),
            18 => app(Op::Eq, &[u, v]),
            19 => app(Op::Distinct, &[x, y, z]),
            20 => app(Op::IsInt, &[u]),
            21 => app(store.divisible_op(Integer::from([2, 3, 4, 6][random.below(4)])), &[x]),
            22 => app(Op::Apply(self.predicate), &[x, p]),
            23..=24 => app(Op::Add, &[x, y, z]),
            25 => app(Op::Sub, &[x, y]),
            26 => app(Op::Neg, &[x]),
            27 => app(Op::Mul, &[number(random), x]),
            28 => app(Op::Mul, &[x, y]),
            29..=31 => app(Op::IntDiv, &[x, divisor]),
            32..=34 => app(Op::Mod, &[x, divisor]),
            35 => app(Op::IntDiv, &[x, y]),
            36 => app(Op::Abs, &[x]),
            37 => app(Op::Ite, &[p, x, y]),
            38 => app(Op::ToInt, &[u]),
            39 => app(Op::Apply(self.function), &[x, u]),
            40 => app(Op::Add, &[u, v]),
            41 => app(Op::Sub, &[u, v, w]),
            42 => app(Op::Mul, &[u, v]),
            43 => app(Op::RealDiv, &[u, v]),
            44 => app(Op::RealDiv, &[u, app(Op::ToReal, &[number(random)])]),
            45 => app(Op::ToReal, &[x]),
            46 => app(Op::Mod, &[x, divisible]),
            _ => app(Op::Ite, &[p, u, v]),
        };
        let pool = match store.sort_of(term) {
            Sort::BOOL => &mut self.bools,
            Sort::INT => &mut self.ints,
            _ => &mut self.reals,
        };
        pool.push(term);
    }

    fn assignment(&self, random: &mut Random) -> Assignment {
        let mut assignment = Assignment::new();
        let half = |random: &mut Random| Rational::new(random.between(-9, 9).into(), 2.into());
        for place in 0..self.variables {
            assignment.set(self.bools[place], Value::Bool(random.bool()));
            assignment.set(self.ints[place], Value::Int(random.between(-7, 7).into()));
            assignment.set(self.reals[place], Value::Real(half(random)));
        }
        let table =
            |value: Value| Interpretation::Table { entries: Default::default(), default: Some(value) };
        assignment.set_function(self.function, table(Value::Int(random.between(-3, 3).into())));
        assignment.set_function(self.predicate, table(Value::Bool(random.bool())));
        assignment.set_open_default(Op::IntDiv, Value::Int(random.between(-3, 3).into()));
        assignment.set_open_default(Op::Mod, Value::Int(random.between(-3, 3).into()));
        assignment.set_open_default(Op::RealDiv, Value::Real(half(random)));
        assignment
    }
}

fn terms(machine: &Machine) -> impl Iterator<Item = Term> {
    [&machine.bools, &machine.ints, &machine.reals].into_iter().flatten().copied()
}

#[test]
fn normal_forms_are_known_to_mean_the_same() {
    for seed in 0..300 * scale() {
        let mut random = Random::new(seed);
        let mut machine = Machine::new();
        for _ in 0..40 {
            machine.step(&mut random);
        }
        let store = &machine.store;
        for term in terms(&machine) {
            let normal = store.normalize(term);
            let equal = store.app(Op::Eq, &[term, normal]).unwrap();
            assert!(
                entails(store, Term::TRUE, equal),
                "seed {seed}: {} and {}",
                store.display(term),
                store.display(normal)
            );
        }
    }
}

/// A normal term with one mistake somewhere in it, made without the builders.
fn mistaken(store: &TermStore, term: Term, random: &mut Random) -> Option<Term> {
    let subterms = store.subterms(&[term]);
    let victim = *random.choose(&subterms);
    let (op, args) = store.view(victim);
    let mut args = args.to_vec();
    let sort = store.sort_of(victim);
    let changed = match op {
        Op::Numeral(id) => {
            let value = match random.below(2) {
                0 => store.rational(id) + &Rational::ONE,
                _ => -store.rational(id),
            };
            if sort == Sort::INT { store.int(value.numer()) } else { store.real(value) }
        }
        Op::Le => store.app(Op::Lt, &args).ok()?,
        Op::Lt => store.app(Op::Le, &args).ok()?,
        Op::And | Op::Or if random.bool() => {
            args.remove(random.below(args.len()));
            store.app(op, &args).ok()?
        }
        Op::And => store.app(Op::Or, &args).ok()?,
        Op::Or => store.app(Op::And, &args).ok()?,
        Op::Ite => store.app(op, &[args[0], args[2], args[1]]).ok()?,
        Op::IntDiv => store.app(Op::Mod, &args).ok()?,
        Op::Add => {
            let place = random.below(args.len());
            args[place] = store.app(Op::Neg, &[args[place]]).ok()?;
            store.app(op, &args).ok()?
        }
        _ if sort == Sort::BOOL => store.app(Op::Not, &[victim]).ok()?,
        _ => store.app(Op::Add, &[victim, victim]).ok()?,
    };
    // What is above the victim is made again.
    let mut images: std::collections::BTreeMap<Term, Term> = [(victim, changed)].into();
    for &subterm in &subterms {
        let (op, args) = store.view(subterm);
        if subterm > victim && args.iter().any(|arg| images.contains_key(arg)) {
            let args: Vec<Term> = args.iter().map(|arg| *images.get(arg).unwrap_or(arg)).collect();
            images.insert(subterm, store.app(op, &args).ok()?);
        }
    }
    images.get(&term).copied()
}

#[test]
fn mistaken_normal_forms_are_rejected_unless_they_mean_the_same() {
    let (mut tried, mut accepted) = (0, 0);
    for seed in 0..200 * scale() {
        let mut random = Random::new(1_000_000 + seed);
        let mut machine = Machine::new();
        for _ in 0..40 {
            machine.step(&mut random);
        }
        let store = &machine.store;
        let assignments: Vec<Assignment> = (0..300).map(|_| machine.assignment(&mut random)).collect();
        for term in terms(&machine).skip(5) {
            let Some(mistaken) = mistaken(store, store.normalize(term), &mut random) else { continue };
            tried += 1;
            let equal = store.app(Op::Eq, &[term, mistaken]).unwrap();
            let are_equal = entails(store, Term::TRUE, equal);
            accepted += usize::from(are_equal);
            let is_formula = store.sort_of(term) == Sort::BOOL;
            let follows = is_formula && entails(store, term, mistaken);
            for assignment in &assignments {
                let [Ok(a), Ok(b)] = [term, mistaken].map(|it| store.eval(it, assignment)) else { continue };
                let place = || format!("seed {seed}: {} {}", store.display(term), store.display(mistaken));
                assert!(!are_equal || a == b, "{}", place());
                assert!(!follows || a == Value::Bool(false) || b == Value::Bool(true), "{}", place());
            }
        }
    }
    assert!(tried > 1000 && accepted * 5 < tried, "{accepted} of {tried} are accepted");
}

#[test]
fn bounds_of_one_number_are_in_an_order() {
    let store = TermStore::new();
    for sort in [Sort::INT, Sort::REAL] {
        let x = store.var(store.symbol("x"), sort);
        let [zero, one] = [0, 1].map(|number| store.number(&Rational::from(number), sort));
        let compare = |op: Op, bound: Term| store.app(op, &[x, bound]).unwrap();
        let [at_most_0, at_most_1] = [zero, one].map(|bound| compare(Op::Le, bound));
        let [below_0, equal_0, at_least_0] = [Op::Lt, Op::Eq, Op::Ge].map(|op| compare(op, zero));
        let between = store.app(Op::And, &[at_most_0, at_least_0]).unwrap();
        for (stronger, weaker) in [
            (at_most_0, at_most_1),
            (below_0, at_most_0),
            (equal_0, at_most_0),
            (equal_0, at_least_0),
            (equal_0, at_most_1),
        ] {
            assert!(entails(&store, stronger, weaker));
            assert!(!entails(&store, weaker, stronger));
        }
        assert!(entails(&store, between, equal_0) && entails(&store, equal_0, between));
        assert!(!entails(&store, below_0, equal_0));
    }
}

#[test]
fn what_looks_alike_need_not_mean_the_same() {
    let store = TermStore::new();
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let u = store.var(store.symbol("u"), Sort::REAL);
    let app = |op: Op, args: &[Term]| store.app(op, args).unwrap();
    let int = |number: i64| store.int(number);
    let twice = |term: Term| app(Op::Mul, &[int(2), term]);
    let are_equal = |a: Term, b: Term| entails(&store, Term::TRUE, app(Op::Eq, &[a, b]));

    // 2x <= 5 is x <= 2 among integers, and not x <= 3; of reals it is u <= 5/2.
    let at_most = |term: Term, number: Term| app(Op::Le, &[term, number]);
    assert!(are_equal(at_most(twice(x), int(5)), at_most(x, int(2))));
    assert!(!are_equal(at_most(twice(x), int(5)), at_most(x, int(3))));
    assert!(!are_equal(at_most(twice(x), int(5)), app(Op::Lt, &[x, int(2)])));
    let twice_real = app(Op::Add, &[u, u]);
    assert!(!are_equal(at_most(twice_real, store.real(5)), at_most(u, store.real(2))));
    assert!(are_equal(
        at_most(twice_real, store.real(5)),
        at_most(u, store.real(Rational::new(5.into(), 2.into())))
    ));
    // Division.
    let div = |a: Term, k: i64| app(Op::IntDiv, &[a, int(k)]);
    let modulo = |a: Term, k: i64| app(Op::Mod, &[a, int(k)]);
    assert!(are_equal(div(div(x, 2), 3), div(x, 6)));
    assert!(are_equal(modulo(modulo(x, 6), 3), modulo(x, 3)));
    assert!(!are_equal(modulo(modulo(x, 6), 4), modulo(x, 4)));
    assert!(are_equal(div(x, -2), app(Op::Neg, &[div(x, 2)])));
    assert!(!are_equal(div(app(Op::Neg, &[x]), 2), app(Op::Neg, &[div(x, 2)])));
    assert!(!are_equal(modulo(x, 0), x) && !are_equal(div(int(0), 0), int(0)));
    // Distinct symbols and functions.
    assert!(!are_equal(x, y));
    let f = store.fun(store.symbol("f"), &[Sort::INT], Sort::INT);
    let sum = |a: Term, b: Term| app(Op::Add, &[a, b]);
    assert!(are_equal(app(Op::Apply(f), &[sum(x, y)]), app(Op::Apply(f), &[sum(y, x)])));
    assert!(!are_equal(app(Op::Apply(f), &[x]), app(Op::Apply(f), &[y])));
    // Quantifiers are refused, even where both sides are the same.
    let closed = app(Op::Forall, &[x, at_most(x, y)]);
    assert!(!entails(&store, closed, closed));
}

#[test]
fn division_by_a_negative_number_of_a_quotient_is_not_that_by_the_product() {
    let store = TermStore::new();
    let x = store.var(store.symbol("x"), Sort::INT);
    let div = |a: Term, k: i64| store.app(Op::IntDiv, &[a, store.int(k)]).unwrap();
    let negated = |a: Term| store.app(Op::Neg, &[a]).unwrap();
    let equal = |a: Term, b: Term| store.app(Op::Eq, &[a, b]).unwrap();
    assert!(!entails(&store, Term::TRUE, equal(div(negated(div(x, 2)), 3), negated(div(x, 6)))));
    assert!(entails(&store, Term::TRUE, equal(div(div(x, 2), -3), div(x, -6))));
}

#[test]
fn cases_of_choices_are_gone_through_where_that_is_needed() {
    let store = TermStore::new();
    let [c, d] = ["c", "d"].map(|name| store.var(store.symbol(name), Sort::BOOL));
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let ite = |c: Term, a: Term, b: Term| store.app(Op::Ite, &[c, a, b]).unwrap();
    let chosen = ite(c, store.int(2), ite(d, store.int(2), y));
    let atom = store.app(Op::Le, &[store.app(Op::Sub, &[chosen, x]).unwrap(), store.int(1)]).unwrap();
    let either = store.app(Op::Or, &[c, d]).unwrap();
    let neither = store.app(Op::Not, &[either]).unwrap();
    let case = |when: Term, number: Term| {
        store.app(Op::And, &[when, store.le(number, store.add(&[x, store.int(1)]))])
    };
    let cases = [case(either, store.int(2)).unwrap(), case(neither, y).unwrap()];
    let cases = store.app(Op::Or, &cases).unwrap();
    assert!(entails(&store, atom, cases) && entails(&store, cases, atom));
    let wrong = store.app(Op::Or, &[case(c, store.int(2)).unwrap(), case(neither, y).unwrap()]).unwrap();
    assert!(entails(&store, wrong, atom) && !entails(&store, atom, wrong));
}

/// Runs a test with a stack that recursion on a deep term would not fit into, and within some seconds.
fn within_limits(test: impl FnOnce() + Send + 'static) {
    let start = Instant::now();
    std::thread::Builder::new().stack_size(1 << 18).spawn(test).unwrap().join().unwrap();
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn terms_may_be_deep() {
    within_limits(|| {
        let store = TermStore::new();
        let app = |op: Op, args: &[Term]| store.app(op, args).unwrap();
        let vars = |names: [&str; 3], sort: Sort| names.map(|name| store.var(store.symbol(name), sort));
        let (atoms, numbers) = (vars(["p", "q", "r"], Sort::BOOL), vars(["x", "y", "z"], Sort::INT));
        let f = store.fun(store.symbol("f"), &[Sort::INT], Sort::INT);
        let (mut chain, mut formula, mut sum, mut nested, mut choice) =
            (atoms[0], atoms[0], numbers[0], numbers[0], numbers[0]);
        for level in 0..1_000_000 {
            chain = app(Op::And, &[chain, atoms[level % 3]]);
            formula = app(Op::Not, &[app(Op::Xor, &[formula, atoms[level % 3]])]);
        }
        for level in 0..100_000 {
            let number = numbers[level % 3];
            sum = app(Op::Sub, &[number, sum]);
            nested = app(Op::Apply(f), &[nested]);
            choice = app(Op::Ite, &[app(Op::Lt, &[number, store.int(level as i64)]), choice, numbers[0]]);
        }
        for formula in [chain, formula] {
            assert!(entails(&store, formula, formula));
        }
        assert!(entails(&store, chain, store.normalize(chain)));
        for number in [sum, nested, choice] {
            let equal = app(Op::Eq, &[number, store.normalize(number)]);
            assert!(entails(&store, Term::TRUE, equal));
        }
    });
}

#[test]
fn shared_terms_are_walked_once() {
    within_limits(|| {
        let store = TermStore::new();
        let app = |op: Op, args: &[Term]| store.app(op, args).unwrap();
        let x = store.var(store.symbol("x"), Sort::INT);
        let f = store.fun(store.symbol("f"), &[Sort::INT, Sort::INT], Sort::INT);
        let p = store.var(store.symbol("p"), Sort::BOOL);
        let (mut formula, mut nested, mut sum) = (p, x, x);
        for _ in 0..100_000 {
            formula = app(Op::Eq, &[app(Op::Or, &[formula, p]), app(Op::And, &[formula, p])]);
            nested = app(Op::Apply(f), &[nested, nested]);
        }
        // So the coefficient is a huge one.
        for _ in 0..2_000 {
            sum = app(Op::Add, &[sum, sum]);
        }
        assert!(entails(&store, formula, store.normalize(formula)));
        for number in [nested, sum] {
            assert!(entails(&store, Term::TRUE, app(Op::Eq, &[number, store.normalize(number)])));
        }
        let power = store.mul_const(&Rational::from(Integer::pow2(2_000)), x);
        assert!(entails(&store, Term::TRUE, app(Op::Eq, &[sum, power])));
        let other = store.mul_const(&Rational::from(Integer::pow2(2_000) - Integer::ONE), x);
        assert!(!entails(&store, Term::TRUE, app(Op::Eq, &[sum, other])));
    });
}
