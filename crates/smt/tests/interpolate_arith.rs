//! Interpolants of single arithmetic conflicts: worked examples, and generated conflicts checked by the solver and Z3.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Op, Sort, Term, TermStore};
use shofar_run::Limits;
use shofar_smt::interpolate::decomposed::{decompose, decomposed, dual_decomposed};
use shofar_smt::interpolate::divisibility::{Confined, divisibility};
use shofar_smt::interpolate::farkas::{Strength, Summand, dual_farkas, farkas, flexible, is_refutation};
use shofar_smt::interpolate::verify::{Entailment, implies, separates};
use shofar_smt::proof::{Inequality, Sign};
use shofar_smt::theory::arith::{self, Budget, Config, DeltaRational, Outcome, Reason, Side, Simplex};
use shofar_testing::Random;
use shofar_testing::z3;

fn number(value: i64) -> Rational {
    Rational::from(Integer::from(value))
}

fn ratio(num: i64, den: i64) -> Rational {
    Rational::new(num.into(), den.into())
}

fn vars<const N: usize>(store: &TermStore, names: [&str; N], sort: Sort) -> [Term; N] {
    names.map(|name| store.var(store.symbol(name), sort))
}

/// The atom of a literal, and whether it is the literal.
fn split_literal(store: &TermStore, literal: Term) -> (Term, bool) {
    match store.view(literal) {
        (Op::Not, &[atom]) => (atom, false),
        _ => (literal, true),
    }
}

/// The sum of multiples.
fn poly(terms: &[(Term, i64)], constant: i64) -> LinearPoly {
    LinearPoly::from_pairs(
        terms.iter().map(|&(var, factor)| (var, number(factor))).collect(),
        number(constant),
    )
}

/// `terms <= bound`, as a summand.
fn at_most(terms: &[(Term, i64)], bound: i64, weight: i64, in_a: bool) -> Summand {
    let inequality = Inequality { form: -poly(terms, -bound), is_strict: false };
    Summand { inequality, weight: number(weight), in_a }
}

/// `terms <= 0` as a formula.
fn formula(store: &TermStore, terms: &[(Term, i64)]) -> Term {
    Inequality { form: -poly(terms, 0), is_strict: false }.to_term(store)
}

fn monomials(summands: &[Summand], in_a: bool) -> BTreeSet<Term> {
    let mine = summands.iter().filter(|summand| summand.in_a == in_a);
    mine.flat_map(|summand| summand.inequality.form.terms()).map(|(monomial, _)| *monomial).collect()
}

/// All procedures, from the strongest to the weakest. What is local is decided by the conflict.
fn procedures(store: &TermStore, summands: &[Summand]) -> [Term; 5] {
    let (of_a, of_b) = (monomials(summands, true), monomials(summands, false));
    let half = Strength::new(ratio(1, 2)).unwrap();
    [
        decomposed(store, summands, |term| !of_b.contains(&term)),
        farkas(store, summands),
        flexible(store, summands, &half),
        dual_farkas(store, summands),
        dual_decomposed(store, summands, |term| !of_a.contains(&term)),
    ]
}

/// Checks that all procedures give interpolants, in the order of strength.
fn check(store: &TermStore, summands: &[Summand]) -> [Term; 5] {
    assert!(is_refutation(summands));
    let found = procedures(store, summands);
    let limits = Limits::default();
    let side = |in_a: bool| -> Vec<Term> {
        let mine = summands.iter().filter(|summand| summand.in_a == in_a);
        mine.map(|summand| summand.inequality.to_term(store)).collect()
    };
    let shown = || found.map(|formula| store.display(formula).to_string());
    for formula in found {
        let symbols = store.free_vars(&[formula]);
        let of = |in_a: bool| store.free_vars(&side(in_a));
        assert!(symbols.iter().all(|var| of(true).contains(var) && of(false).contains(var)), "{:?}", shown());
    }
    assert_eq!(implies(store, &side(true), found[0], &limits), Ok(Entailment::Holds), "{:?}", shown());
    for pair in found.windows(2) {
        assert_eq!(implies(store, &[pair[0]], pair[1], &limits), Ok(Entailment::Holds), "{:?}", shown());
    }
    let mut b = side(false);
    b.push(found[4]);
    assert_eq!(implies(store, &b, Term::FALSE, &limits), Ok(Entailment::Holds), "{:?}", shown());
    found
}

// ---- worked examples -------------------------------------------------------------------------------------

/// Figure 3.1 of the thesis on decomposed interpolants: the decomposed one is inductive.
#[test]
fn two_trivial_elements() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::REAL);
    let mut summands = vec![at_most(&[(x, -1)], 0, 1, true), at_most(&[(y, -1)], 0, 1, true)];
    let below = Inequality { form: -poly(&[(x, 1), (y, 1)], 0), is_strict: true };
    summands.push(Summand { inequality: below, weight: number(1), in_a: false });
    let [strongest, sum, half, dual, weakest] = check(&store, &summands);
    let zero = store.real(Rational::ZERO);
    assert_eq!(sum, store.ge(store.add(&[x, y]), zero));
    assert_eq!(strongest, store.and2(store.ge(x, zero), store.ge(y, zero)));
    assert_eq!([half, dual, weakest], [sum; 3]);
}

/// Example 3.3, in the order in which the algorithm gives the elements.
#[test]
fn a_decomposition_of_size_two() {
    let store = TermStore::new();
    let [x1, x2, x3] = vars(&store, ["x1", "x2", "x3"], Sort::REAL);
    let summands = [
        at_most(&[(x1, 1), (x2, 1)], 0, 1, true),
        at_most(&[(x1, 1), (x3, 1)], 0, 1, true),
        at_most(&[(x1, -1)], 0, 2, true),
        at_most(&[(x2, -1), (x3, -1)], -1, 1, false),
    ];
    let [strongest, sum, half, dual, _] = check(&store, &summands);
    assert_eq!(sum, formula(&store, &[(x2, 1), (x3, 1)]));
    assert_eq!(strongest, store.and2(formula(&store, &[(x2, 1)]), formula(&store, &[(x3, 1)])));
    let total = store.add(&[x2, x3]);
    assert_eq!(half, store.le(total, store.real(ratio(1, 2))));
    assert_eq!(dual, store.lt(total, store.real(Rational::ONE)));
    let weights = [1, 1, 2].map(number);
    let expected = [[0, 1, 1], [1, 0, 1]].map(|vector| vector.map(number).to_vec());
    assert_eq!(decompose(vec![[1, 1, -1].map(number).to_vec()], &weights), expected);
}

/// Examples 3.11 and 3.12: three elements, which depend on the order of the inequalities.
#[test]
fn a_decomposition_of_size_three_and_its_permutations() {
    let store = TermStore::new();
    let [x1, x2, x3, x4, x5] = vars(&store, ["x1", "x2", "x3", "x4", "x5"], Sort::REAL);
    let rows = [(x1, 1, x2), (x1, -1, x3), (x1, 1, x4), (x1, -1, x5)];
    let system = |order: [usize; 4]| {
        let row = |at: usize| at_most(&[(rows[at].0, rows[at].1), (rows[at].2, 1)], 0, 1, true);
        let mut summands: Vec<Summand> = order.into_iter().map(row).collect();
        summands.push(at_most(&[(x2, -1), (x3, -1), (x4, -1), (x5, -1)], -1, 1, false));
        summands
    };
    let conjunction = |parts: [&[(Term, i64)]; 3]| store.and_of(parts.map(|part| formula(&store, part)));
    for (order, expected) in [
        ([0, 1, 2, 3], conjunction([&[(x2, 1), (x3, 1)], &[(x3, 1), (x4, 2), (x5, 1)], &[(x2, 1), (x5, 1)]])),
        ([0, 2, 1, 3], conjunction([&[(x2, 1), (x3, 1)], &[(x3, 1), (x4, 2), (x5, 1)], &[(x2, 1), (x5, 1)]])),
        ([2, 1, 0, 3], conjunction([&[(x4, 1), (x3, 1)], &[(x3, 1), (x2, 2), (x5, 1)], &[(x4, 1), (x5, 1)]])),
        ([1, 0, 2, 3], conjunction([&[(x2, 1), (x4, 1), (x5, 2)], &[(x3, 1), (x4, 1)], &[(x3, 1), (x2, 1)]])),
    ] {
        let [strongest, sum, ..] = check(&store, &system(order));
        assert_eq!(strongest, expected, "{}", store.display(strongest));
        assert_eq!(sum, formula(&store, &[(x2, 1), (x3, 1), (x4, 1), (x5, 1)]));
    }
    for code in 0..256 {
        let order = [code % 4, code / 4 % 4, code / 16 % 4, code / 64];
        if order.iter().collect::<BTreeSet<_>>().len() == 4 {
            let [strongest, ..] = check(&store, &system(order));
            assert_eq!(store.args(strongest).len(), 3);
        }
    }
}

/// Decomposed interpolants of two cuts of one conflict that are no sequence.
#[test]
fn decomposed_interpolants_do_not_have_the_path_property() {
    let store = TermStore::new();
    let [a, b, c, d, e, f, g] = vars(&store, ["a", "b", "c", "d", "e", "f", "g"], Sort::REAL);
    let first: [&[(Term, i64)]; 4] = [
        &[(a, 1), (c, 1), (e, -1)],
        &[(a, -1), (b, -1), (c, -1), (e, -1), (g, 1)],
        &[(a, 1), (d, -1)],
        &[(a, -1), (c, -1), (d, -1), (f, -1)],
    ];
    let second: [&[(Term, i64)]; 2] = [&[(d, 1), (e, -1), (f, -1)], &[(b, 1), (c, 1), (g, -1)]];
    let third: &[(Term, i64)] = &[(d, 1), (e, 3), (f, 2)];
    let cut = |with_second: bool| {
        let mut summands: Vec<Summand> = first.iter().map(|row| at_most(row, 0, 1, true)).collect();
        summands.extend(second.iter().map(|row| at_most(row, 0, 1, with_second)));
        summands.push(at_most(third, -1, 1, false));
        check(&store, &summands)
    };
    let (early, late) = (cut(false), cut(true));
    let conjunction = |parts: [&[(Term, i64)]; 3]| store.and_of(parts.map(|part| formula(&store, part)));
    let expected = conjunction([
        &[(b, -1), (e, -2), (g, 1)],
        &[(b, -1), (c, -2), (d, -3), (e, -1), (f, -1), (g, 1)],
        &[(d, -1), (e, -1), (f, -1)],
    ]);
    assert_eq!(early[0], expected, "{}", store.display(early[0]));
    let expected =
        conjunction([&[(d, 1), (e, -1), (f, -1)], &[(d, -1), (e, -1), (f, -1)], &[(d, -1), (e, -1)]]);
    assert_eq!(late[0], expected, "{}", store.display(late[0]));
    let mut premises: Vec<Term> = second.iter().map(|row| formula(&store, row)).collect();
    premises.push(early[0]);
    assert_eq!(implies(&store, &premises, late[0], &Limits::default()), Ok(Entailment::Fails));
    for procedure in 1..4 {
        *premises.last_mut().unwrap() = early[procedure];
        let verdict = implies(&store, &premises, late[procedure], &Limits::default());
        assert_eq!(verdict, Ok(Entailment::Holds), "Farkas, its dual and those between are sequences");
    }
}

/// A strict inequality of A makes the sum strict, and it need not have a local variable.
#[test]
fn strictness_is_exact() {
    let store = TermStore::new();
    let [x, y, l] = vars(&store, ["x", "y", "l"], Sort::REAL);
    let strict = Inequality { form: poly(&[(l, 1), (x, -1)], 0), is_strict: true };
    let summands = [
        Summand { inequality: strict, weight: number(1), in_a: true },
        at_most(&[(l, 1), (y, -1)], 0, 1, true),
        at_most(&[(y, 1), (x, -1)], 0, 1, false),
    ];
    assert_eq!(check(&store, &summands), [store.lt(x, y); 5]);
}

#[test]
fn sides_without_inequalities_are_trivial() {
    let store = TermStore::new();
    let [x] = vars(&store, ["x"], Sort::REAL);
    for in_a in [true, false] {
        let summands = [at_most(&[(x, 1)], 0, 1, in_a), at_most(&[(x, -1)], -1, 1, in_a)];
        assert_eq!(check(&store, &summands), [store.bool(!in_a); 5]);
    }
}

/// What an atom or its negation says.
fn read(store: &TermStore, atom: Term, holds: bool) -> Option<Inequality> {
    let on_side = |side| Inequality::read(store, atom, holds, side);
    on_side(Sign::Positive).or_else(|| on_side(Sign::Negative))
}

/// The tightened forms of two literals on integers are each other's atoms.
#[test]
fn literals_on_integers_are_read_as_tightened_forms() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::INT);
    let le = |a: Term, b: Term| store.app(Op::Le, &[a, b]).unwrap();
    let difference = |a: Term, b: Term| store.app(Op::Sub, &[a, b]).unwrap();
    let first = read(&store, le(store.int(0), difference(x, y)), false).unwrap();
    let second = read(&store, le(store.int(1), difference(y, x)), false).unwrap();
    assert!(!first.is_strict && !second.is_strict);
    let summand = |inequality: Inequality, in_a| Summand { inequality, weight: number(1), in_a };
    let summands = [summand(first, true), summand(second, false)];
    assert_eq!(check(&store, &summands), [store.le(store.int(1), store.sub(y, x)); 5]);
    assert_eq!(read(&store, store.eq(x, y), false), None);
}

#[test]
fn sums_of_integers_and_reals_are_cast() {
    let store = TermStore::new();
    let [i] = vars(&store, ["i"], Sort::INT);
    let [x, l] = vars(&store, ["x", "l"], Sort::REAL);
    let summand = |literal: Term, in_a| {
        let (atom, is_positive) = split_literal(&store, literal);
        let inequality = read(&store, atom, is_positive).unwrap();
        Summand { inequality, weight: number(1), in_a }
    };
    let mut summands = vec![
        summand(store.ge(i, store.int(1)), true),
        summand(store.le(store.to_real(i), l), true),
        summand(store.le(l, x), true),
        summand(store.lt(x, store.real(Rational::ONE)), false),
    ];
    assert!(is_refutation(&summands));
    assert_eq!(farkas(&store, &summands), store.ge(x, store.real(Rational::ONE)));
    summands[0].in_a = false;
    assert_eq!(farkas(&store, &summands), store.le(store.to_real(i), x));
}

// ---- generated conflicts ---------------------------------------------------------------------------------

/// A conflict that the simplex kernel finds among random literals, with random sides.
fn random_conflict(store: &TermStore, random: &mut Random, sort: Sort) -> Option<Vec<Summand>> {
    let names = ["u", "v", "w", "x", "y", "z"];
    let mut simplex = Simplex::new(Config::default());
    let kernel: Vec<arith::Var> = names.iter().map(|_| simplex.new_var(sort == Sort::INT)).collect();
    let terms = vars(store, names, sort);
    let mut inequalities: Vec<Inequality> = Vec::new();
    let outcome = loop {
        if inequalities.len() > 40 {
            return None;
        }
        let count = 1 + random.below(3);
        let pairs = (0..count).map(|_| (terms[random.below(6)], random.between(-3, 3)));
        let sum = poly(&pairs.collect::<Vec<_>>(), 0);
        let left = sum.to_term(store, sort);
        let right = LinearPoly::from_constant(number(random.between(-6, 4))).to_term(store, sort);
        let atom = if random.below(3) == 0 { store.lt(left, right) } else { store.le(left, right) };
        let (atom, is_positive) = split_literal(store, atom);
        let Some(inequality) = read(store, atom, is_positive) else { continue };
        let form: Vec<(arith::Var, Rational)> = inequality
            .form
            .terms()
            .iter()
            .map(|(term, factor)| {
                (kernel[terms.iter().position(|other| other == term).unwrap()], factor.clone())
            })
            .collect();
        let (slack, factor) = simplex.new_row(&form).unwrap();
        assert!(factor.abs().is_one());
        let bound = -(inequality.form.constant() / &factor);
        let (side, bound) = match (factor.is_positive(), inequality.is_strict) {
            (true, false) => (Side::Lower, DeltaRational::from(bound)),
            (true, true) => (Side::Lower, DeltaRational::just_above(bound)),
            (false, false) => (Side::Upper, DeltaRational::from(bound)),
            (false, true) => (Side::Upper, DeltaRational::just_below(bound)),
        };
        inequalities.push(inequality);
        let reason = Reason(inequalities.len() as u32 - 1);
        if let Err(conflict) = simplex.assert_bound(slack, side, &bound, reason) {
            break conflict;
        }
        if let Outcome::Infeasible(conflict) = simplex.check(&Budget::default()) {
            break conflict;
        }
    };
    let summand = |term: &arith::Weighted| Summand {
        inequality: inequalities[term.reason.0 as usize].clone(),
        weight: term.coefficient.clone(),
        in_a: random.bool(),
    };
    Some(outcome.terms.iter().map(summand).collect())
}

#[test]
fn generated_conflicts_have_interpolants_in_the_order_of_strength() {
    let mut questions = String::new();
    let (mut count, mut larger, mut script_size) = (0, 0, 0);
    for seed in 0.. {
        if count == 10_000 {
            break;
        }
        let store = TermStore::new();
        let mut random = Random::new(seed + 1);
        let sort = if seed % 2 == 0 { Sort::REAL } else { Sort::INT };
        let Some(summands) = random_conflict(&store, &mut random, sort) else { continue };
        count += 1;
        let found = check(&store, &summands);
        if found[0] != found[1] {
            larger += 1;
        }
        if found[0] != found[1] && script_size < 200 {
            script_size += 1;
            ask_z3(&store, &summands, &found, &mut questions);
        }
    }
    assert!(larger > 500, "only {larger} of {count} could be decomposed");
    run_z3(&questions, 7 * script_size);
}

/// Appends the questions whether the interpolants are some, each to be answered by `unsat`.
fn ask_z3(store: &TermStore, summands: &[Summand], found: &[Term; 5], script: &mut String) {
    let side = |in_a: bool| -> Vec<Term> {
        let mine = summands.iter().filter(move |summand| summand.in_a == in_a);
        mine.map(|summand| summand.inequality.to_term(store)).collect()
    };
    declare(store, &[side(true), side(false)].concat(), script);
    ask(store, &side(true), found[0], script);
    for pair in found.windows(2) {
        ask(store, &pair[..1], pair[1], script);
    }
    for weak in [found[4], found[1]] {
        ask(store, &[&side(false)[..], &[weak]].concat(), Term::FALSE, script);
    }
    script.push_str("(pop 1)\n");
}

/// Opens a frame with the variables of the formulas.
fn declare(store: &TermStore, formulas: &[Term], script: &mut String) {
    script.push_str("(push 1)\n");
    for var in store.free_vars(formulas) {
        let sort = if store.sort_of(var) == Sort::INT { "Int" } else { "Real" };
        writeln!(script, "(declare-const {} {sort})", store.display(var)).unwrap();
    }
}

/// The question whether premises without a conclusion are satisfiable.
fn ask(store: &TermStore, premises: &[Term], conclusion: Term, script: &mut String) {
    script.push_str("(push 1)\n");
    for &premise in premises {
        writeln!(script, "(assert {})", store.display(premise)).unwrap();
    }
    writeln!(script, "(assert (not {}))(check-sat)(pop 1)", store.display(conclusion)).unwrap();
}

fn run_z3(script: &str, questions: usize) {
    let Some(answers) = z3::answers(script) else { return };
    assert!(answers.iter().all(|answer| answer == "unsat"), "{answers:?}");
    assert_eq!(answers.len(), questions);
}

#[test]
fn decompositions_are_in_the_kernel_and_sum_up() {
    let mut random = Random::new(77);
    for _ in 0..2_000 {
        let (rows, columns) = (1 + random.below(3), 2 + random.below(5));
        let v: Vec<Rational> =
            (0..columns).map(|_| ratio(random.between(1, 4), random.between(1, 3))).collect();
        // The last column is chosen such that v is in the kernel.
        let matrix: Vec<Vec<Rational>> = (0..rows)
            .map(|_| {
                let mut row: Vec<Rational> = (1..columns).map(|_| number(random.between(-2, 2))).collect();
                let mut rest = Rational::ZERO;
                std::iter::zip(&row, &v).for_each(|(entry, v)| rest.sub_mul(entry, v));
                row.push(&rest / &v[columns - 1]);
                row
            })
            .collect();
        let vectors = decompose(matrix.clone(), &v);
        let product = |row: &[Rational], vector: &[Rational]| {
            let mut sum = Rational::ZERO;
            std::iter::zip(row, vector).for_each(|(a, b)| sum.add_mul(a, b));
            sum
        };
        for vector in &vectors {
            assert!(vector.iter().all(|entry| !entry.is_negative()));
            assert!(vector.iter().any(Rational::is_positive));
            assert!(matrix.iter().all(|row| product(row, vector).is_zero()));
        }
        for column in 0..columns {
            let mut sum = Rational::ZERO;
            vectors.iter().for_each(|vector| sum += &vector[column]);
            assert_eq!(sum, v[column]);
        }
        assert_eq!(vectors.len(), columns - rank(matrix));
    }
}

/// The rank, by elimination from the bottom up.
fn rank(mut rows: Vec<Vec<Rational>>) -> usize {
    let mut rank = 0;
    while let Some(row) = rows.pop() {
        let Some(column) = row.iter().position(|entry| !entry.is_zero()) else { continue };
        rank += 1;
        for other in &mut rows {
            let factor = &other[column] / &row[column];
            std::iter::zip(other, &row).for_each(|(entry, mine)| entry.sub_mul(mine, &factor));
        }
    }
    rank
}

// ---- divisibility ----------------------------------------------------------------------------------------

/// A form between bounds: `low <= form <= high`.
fn confined(form: &LinearPoly, low: i64, high: i64, multiplier: Rational, sides: (bool, bool)) -> Confined {
    let lower = Inequality { form: form.clone() - &LinearPoly::from_constant(number(low)), is_strict: false };
    let upper = Inequality { form: LinearPoly::from_constant(number(high)) - form, is_strict: false };
    Confined { multiplier, lower: (lower, sides.0), upper: (upper, sides.1) }
}

#[test]
fn parity() {
    let store = TermStore::new();
    let [x, y, z] = vars(&store, ["x", "y", "z"], Sort::INT);
    let terms = [
        confined(&poly(&[(z, 1), (x, -2)], 0), 0, 0, ratio(1, 2), (true, true)),
        confined(&poly(&[(z, 1), (y, -2)], 0), 1, 1, ratio(-1, 2), (false, false)),
    ];
    let even = store.eq(store.modulo(z, store.int(2)), store.int(0));
    assert_eq!(divisibility(&store, &terms, |term| term == x), Some(even));
    let one_only = [terms[0].clone()];
    assert_eq!(divisibility(&store, &one_only, |term| term == x), None, "no certificate");
}

/// A real number between integers of both sides: that it is an integer is what the one knows of it.
#[test]
fn integrality() {
    let store = TermStore::new();
    let [x, y] = vars(&store, ["x", "y"], Sort::INT);
    let [z] = vars(&store, ["z"], Sort::REAL);
    let terms = [
        confined(&poly(&[(z, 2), (x, -2)], 0), 0, 0, ratio(1, 2), (true, true)),
        confined(&poly(&[(z, 2), (y, -2)], 0), 1, 1, ratio(-1, 2), (false, false)),
    ];
    let floor = store.to_real(store.to_int(store.neg(z)));
    assert_eq!(divisibility(&store, &terms, |term| term == x), Some(store.le(store.neg(z), floor)));
    assert_eq!(divisibility(&store, &terms, |term| term == x || term == z), None, "a local real number");
}

/// `z >= 1` in A and `z <= 1` in B are an equation of B, and the bound goes to the interpolant.
#[test]
fn an_equation_of_both_sides() {
    let store = TermStore::new();
    let [x, z] = vars(&store, ["x", "z"], Sort::INT);
    let terms = [
        confined(&poly(&[(z, 1), (x, -2)], 0), 0, 0, ratio(1, 2), (true, true)),
        confined(&poly(&[(z, 1)], 0), 1, 1, ratio(-1, 2), (true, false)),
    ];
    let even = store.eq(store.modulo(z, store.int(2)), store.int(0));
    let found = divisibility(&store, &terms, |term| term == x);
    assert_eq!(found, Some(store.and2(even, store.ge(z, store.int(1)))));
}

#[test]
fn generated_integer_refutations_have_interpolants() {
    let names = ["u", "v", "w", "x", "y"];
    let (mut shapes, mut left_open, mut questions) = ([0; 3], 0, String::new());
    let mut with_reals = 0;
    for seed in 1..=1500 {
        let store = TermStore::new();
        let mut random = Random::new(seed);
        let symbols = vars(&store, names, Sort::INT);
        let divisor = random.between(2, 7);
        let count = 2 + random.below(2);
        let small = |random: &mut Random| {
            let pairs: Vec<(Term, i64)> =
                (0..2).map(|_| (symbols[random.below(5)], random.between(-2, 2))).collect();
            poly(&pairs, 0)
        };
        // The last form completes the sum to an integer one.
        let mut forms: Vec<(LinearPoly, i64)> =
            (1..count).map(|_| (small(&mut random), random.between(-3, 3))).collect();
        let mut last = small(&mut random) * &number(divisor);
        forms.iter().for_each(|(form, factor)| last.add_scaled(form, &number(-factor)));
        forms.push((last, 1));
        // A real number that two of the forms have cancels out in the sum.
        let of_forms: Vec<usize> = (0..count).filter(|&at| forms[at].1 != 0).collect();
        if let (&[first, .., second], 0) = (&of_forms[..], seed % 3) {
            let real = poly(&[(store.var(store.symbol("r"), Sort::REAL), 1)], 0);
            let (of_first, of_second) = (forms[first].1, forms[second].1);
            forms[first].0.add_scaled(&real, &number(of_second));
            forms[second].0.add_scaled(&real, &number(-of_first));
        }
        let mut bounds: Vec<(i64, i64)> = Vec::new();
        let mut room = random.between(0, divisor - 2);
        let (mut least, mut greatest) = (0, 0);
        for (at, (_, factor)) in forms.iter().enumerate() {
            let low = random.between(-3, 3);
            let width = if *factor == 0 { 0 } else { random.between(0, room / factor.abs()) };
            room -= width * factor.abs();
            let mut high = low + width;
            let mut low = low;
            if at + 1 == forms.len() {
                // Moves the interval to where no multiple of the divisor is.
                let shift = 1 - (least + low).rem_euclid(divisor);
                (low, high) = (low + shift, high + shift);
            }
            least += factor * if *factor < 0 { high } else { low };
            greatest += factor * if *factor < 0 { low } else { high };
            bounds.push((low, high));
        }
        assert!(least.rem_euclid(divisor) + greatest - least < divisor);
        let terms: Vec<Confined> = std::iter::zip(&forms, &bounds)
            .filter(|((form, factor), _)| *factor != 0 && !form.is_constant())
            .map(|((form, factor), &(low, high))| {
                let mut side = || random.bool();
                let side = side();
                let sides = if random.below(3) == 0 { (side, !side) } else { (side, side) };
                confined(form, low, high, ratio(*factor, divisor), sides)
            })
            .collect();
        let of = |in_a: bool| -> Vec<Term> {
            let bounds = terms.iter().flat_map(|term| [&term.lower, &term.upper]);
            bounds.filter(|bound| bound.1 == in_a).map(|bound| bound.0.to_term(&store)).collect()
        };
        let (a, b) = (of(true), of(false));
        let known = |formulas: &[Term], term: Term| store.subterms(formulas).contains(&term);
        let Some(found) = divisibility(&store, &terms, |term| !known(&b, term)) else {
            assert!(terms.len() < forms.len(), "a form was left out");
            continue;
        };
        let has_real = |term: Term| store.subterms(&[term]).iter().any(|&term| store.op(term) == Op::ToInt);
        let shown = store.display(found);
        assert!(store.free_vars(&[found]).iter().all(|&var| known(&a, var) && known(&b, var)), "{shown}");
        let limits = Limits { conflicts: Some(1000), ..Limits::default() };
        match separates(&store, &a, found, &b, &limits) {
            Ok(Entailment::Holds) => {}
            Ok(Entailment::Unknown(_)) => {
                left_open += 1;
                let all: Vec<Term> = a.iter().chain(&b).copied().collect();
                declare(&store, &all, &mut questions);
                ask(&store, &[&b[..], &[found]].concat(), Term::FALSE, &mut questions);
                if has_real(found) {
                    // Where a real number has to be rounded, Z3 ends in a box only. It has all rests of the divisor.
                    for var in store.free_vars(&a).into_iter().filter(|&var| store.sort_of(var) == Sort::INT)
                    {
                        writeln!(questions, "(assert (<= (- 3) {0} 3))", store.display(var)).unwrap();
                    }
                }
                ask(&store, &a, found, &mut questions);
                questions.push_str("(pop 1)\n");
            }
            other => panic!("{other:?}: {shown}"),
        }
        with_reals += usize::from(has_real(found));
        let is_trivial = found == Term::TRUE || found == Term::FALSE;
        shapes[if is_trivial {
            0
        } else if store.op(found) == Op::And {
            1
        } else {
            2
        }] += 1;
    }
    assert!(shapes.iter().all(|&count| count > 50), "{shapes:?}");
    assert!(left_open < 250 && with_reals > 150, "{left_open}, {with_reals}");
    run_z3(&questions, 2 * left_open);
}
