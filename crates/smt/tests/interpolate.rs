//! Interpolants from whole refutations: propositional ones by a small prover, conflicts of the congruence kernel, and
//! worked examples with proofs written by hand. All conditions are checked for every interpolant.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Op, Sort, SortKind, Term, TermStore};
use shofar_run::Limits;
use shofar_smt::interpolate::fallback::Failure;
use shofar_smt::interpolate::farkas::Strength;
use shofar_smt::interpolate::{
    Arithmetic, Defect, Equality, Error, Fallback, Interpolant, Interpolator, Labelling, Options,
};
use shofar_smt::proof::{
    CongruenceEdge, CongruenceProof, EdgeRule, FarkasTerm, Inequality, IntegerRefutation, IntegerTerm,
    Justification, Part, Proof, Rule, Sign, Step, StepId,
};
use shofar_smt::sat::{Lit, Var};
use shofar_smt::theory::euf::{EGraph, Node, ProofWhy, Reason, Symbol};
use shofar_testing::refutations::{Prover, Refuted, holds, random_numbers, random_tree};
use shofar_testing::{Random, scale};

const LABELLINGS: [Labelling; 3] = [Labelling::McMillan, Labelling::Pudlak, Labelling::DualMcMillan];

// ---- propositional refutations ---------------------------------------------------------------------------

/// Random clauses in parts, if they are contradictory.
fn random_clauses(store: &TermStore, random: &mut Random, parts: usize) -> Option<Refuted> {
    let vars = 4 + random.below(3);
    let formulas: Vec<Term> =
        (0..vars).map(|var| store.var(store.symbol(&format!("p{var}")), Sort::BOOL)).collect();
    let mut steps = Vec::new();
    let mut clauses: Vec<Vec<Term>> = vec![Vec::new(); parts];
    for _ in 0..vars * 5 {
        let part = random.below(parts);
        let length = if random.below(3) == 0 { 2 } else { 3 };
        let lits: BTreeSet<Var> = (0..length).map(|_| Var::from_index(random.below(vars))).collect();
        let clause: Box<[Lit]> = lits.into_iter().map(|var| var.lit(random.bool())).collect();
        let literal = |lit: &Lit| {
            let formula = formulas[lit.var().index()];
            if lit.is_positive() { formula } else { store.not(formula) }
        };
        clauses[part].push(store.or_of(clause.iter().map(literal)));
        steps.push(Step { clause, rule: Rule::Assertion(Part(part as u32)) });
    }
    let leaves = steps.len();
    let mut prover = Prover { random, steps, leaves, assignment: vec![None; vars], lemma: None };
    let last = prover.refute()?;
    let mut steps = prover.steps;
    steps.truncate(last + 1);
    Some(Refuted { parts: clauses, proof: Proof::new(steps, formulas, Vec::new()) })
}

#[test]
fn propositional_refutations_have_interpolants_of_all_kinds() {
    let (mut refuted_count, mut different) = (0, 0);
    for seed in 1..=2000 * scale() {
        let mut random = Random::new(seed);
        let store = TermStore::new();
        let parts = 2 + random.below(4);
        let Some(refuted) = random_clauses(&store, &mut random, parts) else { continue };
        refuted_count += 1;
        let in_a: Vec<bool> = (0..parts).map(|_| random.bool()).collect();
        let parts_of_a: Vec<Part> =
            refuted.order().into_iter().filter(|part| in_a[part.0 as usize]).collect();
        let shape = random_tree(&mut random, parts);
        let mut by_strength = Vec::new();
        for labelling in LABELLINGS {
            let options = Options { labelling, ..Options::default() };
            let interpolator = refuted.interpolator(&store, options);
            let interpolant = interpolator.binary(&parts_of_a, &Limits::default()).unwrap();
            refuted.check(&store, |part| in_a[part], interpolant.formula);
            by_strength.push(interpolant.formula);
            refuted.check_sequence(
                &store,
                &interpolator.sequence(&refuted.order(), &Limits::default()).unwrap(),
            );
            match interpolator.tree(&shape, &Limits::default()) {
                Ok(tree) => refuted.check_tree(&store, &shape, &tree),
                Err(error) => {
                    assert_eq!((error, labelling), (Error::NoTreeProperty, Labelling::DualMcMillan))
                }
            }
        }
        assert!(by_strength.windows(2).all(|pair| holds(&store, &pair[..1], pair[1])));
        different += usize::from(by_strength[0] != by_strength[2]);
    }
    assert!(
        refuted_count > 1000 && different > 200,
        "{refuted_count} refutations, {different} with a choice"
    );
}

/// In clauses for which the dual labelling would give interpolants of the two leaves that are true together.
#[test]
fn a_tree_with_an_empty_root() {
    let store = TermStore::new();
    let [p, q, r, s] = ["p", "q", "r", "s"].map(|name| store.var(store.symbol(name), Sort::BOOL));
    let [vp, vq, vr, vs] = [0, 1, 2, 3].map(Var::from_index);
    let clauses: [(&[Lit], u32); 5] = [
        (&[vp.positive()], 0),
        (&[vq.positive(), vp.negative()], 0),
        (&[vr.positive(), vs.negative()], 0),
        (&[vs.positive(), vq.negative()], 1),
        (&[vs.negative(), vr.negative(), vp.negative()], 1),
    ];
    let mut steps: Vec<Step> = clauses
        .iter()
        .map(|&(clause, part)| Step { clause: clause.into(), rule: Rule::Assertion(Part(part)) })
        .collect();
    let others = [(2, vr), (3, vs), (1, vq), (0, vp)].map(|(step, pivot)| (StepId(step), pivot));
    let rule = Rule::Resolution { first: StepId(4), others: Box::new(others) };
    steps.push(Step { clause: Box::new([]), rule });
    let not = |term| store.not(term);
    let left = vec![p, store.or2(q, not(p)), store.or2(r, not(s))];
    let right = vec![store.or2(s, not(q)), store.or_of([not(s), not(r), not(p)])];
    let proof = Proof::new(steps, vec![p, q, r, s], Vec::new());
    let refuted = Refuted { parts: vec![left, right, Vec::new()], proof };
    let shape = [(Part(0), 2), (Part(1), 2), (Part(2), 2)];
    for labelling in [Labelling::McMillan, Labelling::Pudlak] {
        let interpolator = refuted.interpolator(&store, Options { labelling, ..Options::default() });
        refuted.check_tree(&store, &shape, &interpolator.tree(&shape, &Limits::default()).unwrap());
    }
    let dual = Options { labelling: Labelling::DualMcMillan, ..Options::default() };
    assert_eq!(
        refuted.interpolator(&store, dual).tree(&shape, &Limits::default()),
        Err(Error::NoTreeProperty)
    );
    let interpolator = refuted.interpolator(&store, Options::default());
    assert_eq!(
        interpolator.tree(&[(Part(0), 1), (Part(1), 1), (Part(2), 2)], &Limits::default()),
        Err(Error::NotATree)
    );
    assert_eq!(interpolator.sequence(&[Part(0)], &Limits::default()), Err(Error::Unlisted(Part(1))));
}

/// A chain of implications: linear, however it is cut into steps.
#[test]
fn long_chains_of_implications() {
    let store = TermStore::new();
    let length = 20_000;
    let formulas: Vec<Term> =
        (0..=length).map(|at| store.var(store.symbol(&format!("p{at}")), Sort::BOOL)).collect();
    let var = Var::from_index;
    let mut clauses: Vec<(Box<[Lit]>, u32)> = vec![(Box::new([var(0).positive()]), 0)];
    clauses.extend((0..length).map(|at| {
        let clause: Box<[Lit]> = Box::new([var(at).negative(), var(at + 1).positive()]);
        (clause, at as u32 / 100 % 2)
    }));
    clauses.push((Box::new([var(length).negative()]), 1));
    let literal = |lit: &Lit| {
        let formula = formulas[lit.var().index()];
        if lit.is_positive() { formula } else { store.not(formula) }
    };
    let of_part = |part: u32| {
        let clauses = clauses.iter().filter(move |clause| clause.1 == part);
        (Part(part), clauses.map(|(clause, _)| store.or_of(clause.iter().map(literal))).collect::<Vec<_>>())
    };
    let leaves: Vec<Step> = clauses
        .iter()
        .map(|(clause, part)| Step { clause: clause.clone(), rule: Rule::Assertion(Part(*part)) })
        .collect();
    let others = (0..=length).map(|at| (StepId(at as u32 + 1), var(at)));
    let mut in_one_step = leaves.clone();
    let rule = Rule::Resolution { first: StepId(0), others: others.clone().collect() };
    in_one_step.push(Step { clause: Box::new([]), rule });
    let mut step_by_step = leaves;
    let mut first = StepId(0);
    for (at, other) in others.enumerate() {
        let clause: Box<[Lit]> = if at == length { Box::new([]) } else { Box::new([var(at + 1).positive()]) };
        step_by_step.push(Step { clause, rule: Rule::Resolution { first, others: Box::new([other]) } });
        first = StepId(step_by_step.len() as u32 - 1);
    }
    let mut found = BTreeSet::new();
    for steps in [in_one_step, step_by_step] {
        let proof = Proof::new(steps, formulas.clone(), Vec::new());
        for labelling in LABELLINGS {
            let options = Options { labelling, ..Options::default() };
            let interpolator =
                Interpolator::new(&store, proof.clone(), vec![of_part(0), of_part(1)], options).unwrap();
            found.insert((
                labelling as usize,
                interpolator.binary(&[Part(0)], &Limits::default()).unwrap().formula,
            ));
        }
    }
    assert_eq!(found.len(), 3, "cutting the chain into steps changes nothing");
}

// ---- refutations of literals -----------------------------------------------------------------------------

/// Literals of parts that contradict each other by one lemma.
fn refute_literals(
    store: &TermStore,
    literals: &[(Term, usize)],
    parts: usize,
    origins: Vec<(Term, Term)>,
    lemma: impl FnOnce(&[Lit]) -> (Vec<usize>, Justification),
) -> Refuted {
    let mut formulas: Vec<Term> = Vec::new();
    let mut lits: Vec<Lit> = Vec::new();
    for &(literal, _) in literals {
        let (atom, is_positive) = match store.view(literal) {
            (Op::Not, &[atom]) => (atom, false),
            _ => (literal, true),
        };
        let index = formulas.iter().position(|&other| other == atom).unwrap_or_else(|| {
            formulas.push(atom);
            formulas.len() - 1
        });
        lits.push(Var::from_index(index).lit(is_positive));
    }
    let mut steps: Vec<Step> = std::iter::zip(&lits, literals)
        .map(|(&lit, &(_, part))| Step { clause: Box::new([lit]), rule: Rule::Assumption(Part(part as u32)) })
        .collect();
    let (used, justification) = lemma(&lits);
    let clause: BTreeSet<Lit> = used.iter().map(|&at| !lits[at]).collect();
    let others = clause.iter().map(|&lit| {
        let unit = used.iter().find(|&&at| lits[at] == !lit).unwrap();
        (StepId(*unit as u32), lit.var())
    });
    let others: Box<[(StepId, Var)]> = others.collect();
    let first = StepId(steps.len() as u32);
    steps.push(Step { clause: clause.into_iter().collect(), rule: Rule::Lemma(justification) });
    steps.push(Step { clause: Box::new([]), rule: Rule::Resolution { first, others } });
    let in_part =
        |part: usize| literals.iter().filter(move |literal| literal.1 == part).map(|literal| literal.0);
    let parts = (0..parts).map(|part| in_part(part).collect()).collect();
    Refuted { parts, proof: Proof::new(steps, formulas, origins) }
}

/// Literals that contradict each other by a weighted sum.
fn refute_sum(
    store: &TermStore,
    literals: &[(Term, usize, i64, Sign)],
    parts: usize,
    origins: Vec<(Term, Term)>,
) -> Refuted {
    let plain: Vec<(Term, usize)> = literals.iter().map(|&(literal, part, ..)| (literal, part)).collect();
    refute_literals(store, &plain, parts, origins, |lits| {
        let terms = std::iter::zip(lits, literals).map(|(&lit, &(literal, _, coefficient, side))| {
            let (atom, holds) = match store.view(literal) {
                (Op::Not, &[atom]) => (atom, false),
                _ => (literal, true),
            };
            // An equation bounds from both sides, all others from one.
            let is_bounded = Inequality::read(store, atom, holds, side).is_some();
            let side = match side {
                Sign::Positive if !is_bounded => Sign::Negative,
                side => side,
            };
            FarkasTerm { lit, side, coefficient: Rational::from(Integer::from(coefficient)) }
        });
        ((0..literals.len()).collect(), Justification::Farkas(terms.collect()))
    })
}

#[test]
fn a_sequence_of_equations_and_a_tree_of_bounds() {
    let store = TermStore::new();
    let [x0, x1, y] = ["x0", "x1", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let int = |value: i64| store.int(value);
    let next = store.eq(x1, store.add(&[x0, int(1)]));
    // The first monomial of the normal form decides which half is which.
    let leads_with_x1 = x1 < x0;
    let half = if leads_with_x1 { Sign::Negative } else { Sign::Positive };
    let refuted = refute_sum(
        &store,
        &[
            (store.eq(x0, int(0)), 0, 1, Sign::Negative),
            (next, 1, 1, half),
            (store.ge(x1, int(2)), 2, 1, Sign::Positive),
        ],
        3,
        Vec::new(),
    );
    let sequence = refuted
        .interpolator(&store, Options::default())
        .sequence(&refuted.order(), &Limits::default())
        .unwrap();
    refuted.check_sequence(&store, &sequence);
    let expected = [store.le(x0, int(0)), store.le(x1, int(1))];
    assert_eq!([sequence[0].formula, sequence[1].formula], expected);

    let refuted = refute_sum(
        &store,
        &[
            (store.ge(x0, int(1)), 0, 1, Sign::Positive),
            (store.ge(y, int(1)), 1, 1, Sign::Positive),
            (store.le(store.add(&[x0, y]), int(1)), 2, 1, Sign::Positive),
        ],
        3,
        Vec::new(),
    );
    let shape = [(Part(0), 2), (Part(1), 2), (Part(2), 2)];
    for arithmetic in [Arithmetic::Farkas, Arithmetic::Decomposed] {
        let tree = refuted
            .interpolator(&store, Options { arithmetic, ..Options::default() })
            .tree(&shape, &Limits::default())
            .unwrap();
        refuted.check_tree(&store, &shape, &tree);
        assert_eq!([tree[0].formula, tree[1].formula], [store.ge(x0, int(1)), store.ge(y, int(1))]);
    }
    let half = Strength::new(Rational::new(1.into(), 2.into())).unwrap();
    for arithmetic in [Arithmetic::DualFarkas, Arithmetic::Flexible(half), Arithmetic::DualDecomposed] {
        let interpolator = refuted.interpolator(&store, Options { arithmetic, ..Options::default() });
        assert_eq!(interpolator.tree(&shape, &Limits::default()), Err(Error::NoTreeProperty));
        refuted.check_sequence(&store, &interpolator.sequence(&refuted.order(), &Limits::default()).unwrap());
    }
    assert_eq!(Strength::new(Rational::from(Integer::from(2))), None);
}

/// Literals over shared symbols that only A has are A's: what the procedures make of them is more general.
#[test]
fn literals_of_one_side_are_summed_up() {
    let store = TermStore::new();
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::REAL));
    let zero = store.real(Rational::ZERO);
    let sum = store.add(&[x, y]);
    let literals = [
        (store.eq(x, zero), 0, 1, Sign::Positive),
        (store.eq(y, zero), 0, 1, Sign::Positive),
        (store.lt(sum, zero), 1, 1, Sign::Positive),
    ];
    let refuted = refute_sum(&store, &literals, 2, Vec::new());
    let both = store.and2(store.ge(x, zero), store.ge(y, zero));
    for (arithmetic, expected) in [(Arithmetic::Farkas, store.ge(sum, zero)), (Arithmetic::Decomposed, both)]
    {
        let interpolator = refuted.interpolator(&store, Options { arithmetic, ..Options::default() });
        let interpolant = interpolator.binary(&[Part(0)], &Limits::default()).unwrap();
        refuted.check(&store, |part| part == 0, interpolant.formula);
        assert_eq!(interpolant.formula, expected);
    }
}

/// Decomposed interpolants of the two cuts are no sequence; what is given is one, and has as many members.
#[test]
fn sequences_of_decomposed_interpolants_are_gradual() {
    let store = TermStore::new();
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let symbols = names.map(|name| store.var(store.symbol(name), Sort::REAL));
    let row = |factors: [i64; 7], bound: i64| {
        let terms = std::iter::zip(factors, symbols)
            .map(|(factor, var)| store.mul_const(&Rational::from(Integer::from(factor)), var));
        store.le(store.add(&terms.collect::<Vec<_>>()), store.real(Rational::from(Integer::from(bound))))
    };
    let rows = [
        (row([1, 0, 1, 0, -1, 0, 0], 0), 0),
        (row([-1, -1, -1, 0, -1, 0, 1], 0), 0),
        (row([1, 0, 0, -1, 0, 0, 0], 0), 0),
        (row([-1, 0, -1, -1, 0, -1, 0], 0), 0),
        (row([0, 0, 0, 1, -1, -1, 0], 0), 1),
        (row([0, 1, 1, 0, 0, 0, -1], 0), 1),
        (row([0, 0, 0, 1, 3, 2, 0], -1), 2),
    ];
    let literals: Vec<_> = rows.iter().map(|&(literal, part)| (literal, part, 1, Sign::Positive)).collect();
    let refuted = refute_sum(&store, &literals, 3, Vec::new());
    let with = |arithmetic| refuted.interpolator(&store, Options { arithmetic, ..Options::default() });
    let dual = with(Arithmetic::DualDecomposed).sequence(&refuted.order(), &Limits::default()).unwrap();
    refuted.check_sequence(&store, &dual);
    let gradual = with(Arithmetic::Decomposed).sequence(&refuted.order(), &Limits::default()).unwrap();
    refuted.check_sequence(&store, &gradual);
    let [early, late] = [&[Part(0)][..], &[Part(0), Part(1)]]
        .map(|in_a| with(Arithmetic::Decomposed).binary(in_a, &Limits::default()).unwrap().formula);
    assert_eq!(gradual[0].formula, early);
    let premises: Vec<Term> = refuted.formulas(|part| part == 1).into_iter().chain([early]).collect();
    assert!(!holds(&store, &premises, late));
    assert_eq!(store.op(late), Op::And);
    assert_eq!(store.args(gradual[1].formula).len(), store.args(late).len());
}

#[test]
fn fresh_symbols_do_not_leak() {
    let store = TermStore::new();
    let x = store.var(store.symbol("x"), Sort::INT);
    let q = store.var(store.fresh_symbol("div"), Sort::INT);
    let rest = store.sub(x, store.mul_const(&Rational::from(Integer::from(10)), q));
    let quotient = store.app(Op::IntDiv, &[x, store.int(10)]).unwrap();
    let literals = [
        (store.lt(rest, store.int(5)), 0, 1, Sign::Positive),
        (store.gt(rest, store.int(6)), 1, 1, Sign::Positive),
    ];
    let mut refuted = refute_sum(&store, &literals, 2, vec![(q, quotient)]);
    let modulo = store.modulo(x, store.int(10));
    refuted.parts = vec![vec![store.lt(modulo, store.int(5))], vec![store.gt(modulo, store.int(6))]];
    let interpolant =
        refuted.interpolator(&store, Options::default()).binary(&[Part(0)], &Limits::default()).unwrap();
    refuted.check(&store, |part| part == 0, interpolant.formula);
}

#[test]
fn parity_from_a_proof() {
    let store = TermStore::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT));
    let twice = |var: Term| store.mul_const(&Rational::from(Integer::from(2)), var);
    let literals = [
        (store.le(z, twice(x)), 0),
        (store.ge(z, twice(x)), 0),
        (store.eq(z, store.add(&[twice(y), store.int(1)])), 1),
    ];
    // The form of the lower bound decides the sign of the multiplier.
    let form = |literal: Term| {
        let atom = if store.op(literal) == Op::Not { store.args(literal)[0] } else { literal };
        LinearPoly::from_term(&store, store.args(atom)[0])
    };
    let sign = |literal: Term| form(literal).coefficient(z);
    let refuted = refute_literals(&store, &literals, 2, Vec::new(), |lits| {
        let half = Rational::new(1.into(), 2.into());
        let is_lower = |at: usize| !lits[at].is_positive();
        let (lower, upper) = if is_lower(0) { (lits[0], lits[1]) } else { (lits[1], lits[0]) };
        let terms = [
            IntegerTerm { form: form(literals[0].0), multiplier: &half * &sign(literals[0].0), lower, upper },
            IntegerTerm {
                form: form(literals[2].0),
                multiplier: -(&half * &sign(literals[2].0)),
                lower: lits[2],
                upper: lits[2],
            },
        ];
        (vec![0, 1, 2], Justification::Integer(IntegerRefutation { terms: Box::new(terms) }))
    });
    let interpolant =
        refuted.interpolator(&store, Options::default()).binary(&[Part(0)], &Limits::default()).unwrap();
    refuted.check(&store, |part| part == 0, interpolant.formula);
    assert_eq!(interpolant.formula, store.eq(store.modulo(z, store.int(2)), store.int(0)));
}

/// Arithmetic proves an equality from which congruence goes on.
#[test]
fn an_interface_equality_joins_two_lemmas() {
    let store = TermStore::new();
    let [x, z] = ["x", "z"].map(|name| store.var(store.symbol(name), Sort::REAL));
    let fun = store.fun(store.symbol("f"), &[Sort::REAL], Sort::REAL);
    let f = |arg: Term| store.apply(fun, &[arg]).unwrap();
    let (zero, one) = (store.real(Rational::ZERO), store.real(Rational::ONE));
    let atoms = [store.le(x, z), store.ge(x, z), store.eq(f(x), one), store.eq(f(z), zero), store.eq(x, z)];
    let mut formulas = Vec::new();
    let mut lits = Vec::new();
    for literal in atoms {
        let (atom, is_positive) = match store.view(literal) {
            (Op::Not, &[atom]) => (atom, false),
            _ => (literal, true),
        };
        lits.push(Var::from_index(formulas.len()).lit(is_positive));
        formulas.push(atom);
    }
    let [le, ge, fx, fz, equal] = lits[..] else { unreachable!("there are five atoms") };
    let edge = |left: Term, right: Term, input: Option<Lit>| {
        let why = input.map_or(EdgeRule::Congruence, EdgeRule::Literal);
        CongruenceEdge { left, right, why }
    };
    let edges = [
        edge(x, z, Some(equal)),
        edge(f(x), store.int(1), Some(fx)),
        edge(f(z), zero, Some(fz)),
        edge(f(x), f(z), None),
    ];
    let congruence = CongruenceProof { edges: Box::new(edges), apart: (one, store.int(0)), distinct: None };
    let unit = |lit: Lit, part: u32| Step { clause: Box::new([lit]), rule: Rule::Assertion(Part(part)) };
    let units = [(le, 0), (ge, 0), (fx, 0), (fz, 1)].map(|(lit, part)| unit(lit, part));
    let mut steps = units.to_vec();
    steps.push(Step { clause: Box::new([equal, !le, !ge]), rule: Rule::Lemma(Justification::Split) });
    let rule = Rule::Lemma(Justification::Congruence(congruence));
    steps.push(Step { clause: Box::new([!equal, !fx, !fz]), rule });
    let others = [(4, equal), (0, le), (1, ge), (2, fx), (3, fz)];
    let others = others.map(|(step, lit)| (StepId(step), lit.var()));
    let rule = Rule::Resolution { first: StepId(5), others: Box::new(others) };
    steps.push(Step { clause: Box::new([]), rule });
    let proof = Proof::new(steps, formulas, Vec::new());
    let refuted = Refuted { parts: vec![atoms[..3].to_vec(), vec![atoms[3]]], proof };
    for labelling in LABELLINGS {
        for equality in [Equality::Strong, Equality::Weak] {
            let options = Options { labelling, equality, ..Options::default() };
            let interpolant =
                refuted.interpolator(&store, options).binary(&[Part(0)], &Limits::default()).unwrap();
            refuted.check(&store, |part| part == 0, interpolant.formula);
        }
    }
    let interpolant =
        refuted.interpolator(&store, Options::default()).binary(&[Part(0)], &Limits::default()).unwrap();
    assert_eq!(interpolant.formula, store.eq(f(z), one), "{}", store.display(interpolant.formula));
}

/// Bounds in parts that confine an integer to an interval without one.
fn random_integers(store: &TermStore, random: &mut Random, parts: usize) -> Option<Refuted> {
    let symbols = ["u", "v", "w", "x", "y", "z"].map(|name| store.var(store.symbol(name), Sort::INT));
    let number = |value: i64| Rational::from(Integer::from(value));
    let divisor = 2 + random.below(5) as i64;
    let small = |random: &mut Random| {
        let pairs = (0..2).map(|_| (symbols[random.below(6)], number(random.between(-2, 2))));
        LinearPoly::from_pairs(pairs.collect(), Rational::ZERO)
    };
    // The last form completes the sum to an integer one, and its value makes the sum a fraction.
    let mut forms: Vec<(LinearPoly, i64)> =
        (0..2 + random.below(2)).map(|_| (small(random), 1 + random.below(3) as i64)).collect();
    let mut last = small(random) * &number(divisor);
    forms.iter().for_each(|(form, factor)| last.add_scaled(form, &number(-factor)));
    forms.push((last, 1));
    let values: Vec<i64> = forms.iter().map(|_| random.between(-3, 3)).collect();
    let total: i64 = std::iter::zip(&forms, &values).map(|((_, factor), value)| factor * value).sum();
    if forms.iter().any(|(form, _)| form.is_constant()) || total.rem_euclid(divisor) == 0 {
        return None;
    }
    let mut literals = Vec::new();
    for ((form, _), &value) in std::iter::zip(&forms, &values) {
        let (form, value) = (form.to_term(store, Sort::INT), store.int(value));
        let part = random.below(parts);
        let other = if random.bool() { random.below(parts) } else { part };
        literals.extend([(store.ge(form, value), part), (store.le(form, value), other)]);
    }
    if literals.iter().any(|(literal, _)| [Term::TRUE, Term::FALSE].contains(literal)) {
        return None;
    }
    Some(refute_literals(store, &literals, parts, Vec::new(), |lits| {
        let terms = forms.iter().enumerate().map(|(at, (form, factor))| IntegerTerm {
            form: form.clone(),
            multiplier: Rational::new((*factor).into(), divisor.into()),
            lower: lits[2 * at],
            upper: lits[2 * at + 1],
        });
        ((0..lits.len()).collect(), Justification::Integer(IntegerRefutation { terms: terms.collect() }))
    }))
}

#[test]
fn integer_refutations_have_sequences_and_trees() {
    let (mut count, mut nontrivial) = (0, 0);
    for seed in 1..=1500 * scale() {
        let mut random = Random::new(seed);
        let store = TermStore::new();
        let parts = 2 + random.below(3);
        let Some(refuted) = random_integers(&store, &mut random, parts) else { continue };
        let shape = random_tree(&mut random, parts);
        for labelling in LABELLINGS {
            let interpolator = refuted.interpolator(&store, Options { labelling, ..Options::default() });
            let sequence = match interpolator.sequence(&refuted.order(), &Limits::default()) {
                // A bound and its complement: the two are one variable, and no integers are needed.
                Err(Error::NotFound(Defect::Invalid(_), None)) => continue,
                sequence => sequence.unwrap(),
            };
            count += 1;
            let is_trivial = |found: &Interpolant| [Term::TRUE, Term::FALSE].contains(&found.formula);
            nontrivial += usize::from(!sequence.iter().all(is_trivial));
            refuted.check_sequence(&store, &sequence);
            match interpolator.tree(&shape, &Limits::default()) {
                Ok(tree) => refuted.check_tree(&store, &shape, &tree),
                Err(error) => {
                    assert_eq!((error, labelling), (Error::NoTreeProperty, Labelling::DualMcMillan))
                }
            }
        }
    }
    assert!(count > 1000 && nontrivial > count / 2, "{nontrivial} of {count}");
}

#[test]
fn invalid_certificates_and_mixed_literals_are_errors() {
    let store = TermStore::new();
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::REAL));
    let zero = store.real(Rational::ZERO);
    let literals = [(store.gt(x, zero), 0, 1, Sign::Positive), (store.gt(y, zero), 1, 1, Sign::Positive)];
    let refuted = refute_sum(&store, &literals, 2, Vec::new());
    let found = refuted.interpolator(&store, Options::default()).binary(&[Part(0)], &Limits::default());
    assert_eq!(found, Err(Error::NotFound(Defect::Invalid(StepId(2)), None)));

    // A split on a form over both sides.
    let mixed = store.le(store.add(&[x, y]), zero);
    let var = Var::from_index(0);
    let unit = |lit: Lit, rule: Rule| Step { clause: Box::new([lit]), rule };
    let split = Rule::Lemma(Justification::Split);
    let rule = Rule::Resolution { first: StepId(0), others: Box::new([(StepId(1), var)]) };
    let steps = vec![
        unit(var.positive(), split.clone()),
        unit(var.negative(), split),
        Step { clause: Box::new([]), rule },
    ];
    let proof = Proof::new(steps, vec![mixed], Vec::new());
    let parts = vec![(Part(0), vec![store.gt(x, zero)]), (Part(1), vec![store.gt(y, zero)])];
    let mut interpolator = Interpolator::new(&store, proof, parts, Options::default()).unwrap();
    let satisfiable = Error::NotFound(Defect::Mixed(mixed), Some(Failure::Satisfiable));
    let found = interpolator.binary(&[Part(0)], &Limits::default());
    assert_eq!(found, Err(satisfiable), "the proof is wrong");
    interpolator.set_options(Options { fallback: Fallback::Off, ..Options::default() });
    let found = interpolator.binary(&[Part(0)], &Limits::default());
    assert_eq!(found, Err(Error::NotFound(Defect::Mixed(mixed), None)));
    let empty = Proof::new(Vec::new(), Vec::new(), Vec::new());
    let made = Interpolator::new(&store, empty, Vec::new(), Options::default());
    assert_eq!(made.err(), Some(Error::NoRefutation));
}

// ---- equality --------------------------------------------------------------------------------------------

/// Terms of one declared sort, over constants and two functions, and a predicate.
struct Language<'a> {
    store: &'a TermStore,
    sort: Sort,
    constants: usize,
}

impl<'a> Language<'a> {
    fn new(store: &'a TermStore, constants: usize) -> Self {
        let sort = store.sort(SortKind::Uninterpreted(store.symbol("U"), Box::new([])));
        Language { store, sort, constants }
    }

    fn apply(&self, name: &str, args: &[Term], range: Sort) -> Term {
        let domain = vec![self.sort; args.len()];
        self.store.apply(self.store.fun(self.store.symbol(name), &domain, range), args).unwrap()
    }

    fn term(&self, random: &mut Random, depth: usize) -> Term {
        match if depth == 0 { 0 } else { random.below(4) } {
            0 | 1 => self.apply(&format!("c{}", random.below(self.constants)), &[], self.sort),
            2 => self.apply("f", &[self.term(random, depth - 1)], self.sort),
            _ => {
                let args = [self.term(random, depth - 1), self.term(random, depth - 1)];
                self.apply("g", &args, self.sort)
            }
        }
    }

    fn literal(&self, random: &mut Random) -> Term {
        let store = self.store;
        match random.below(12) {
            0 => self.apply("p", &[self.term(random, 2)], Sort::BOOL),
            1 => store.not(self.apply("p", &[self.term(random, 2)], Sort::BOOL)),
            2 | 3 => store.not(store.eq(self.term(random, 2), self.term(random, 2))),
            _ => store.eq(self.term(random, 2), self.term(random, 2)),
        }
    }
}

/// The congruence kernel, with terms as nodes.
#[derive(Default)]
struct Kernel {
    graph: EGraph,
    nodes: FxHashMap<Term, Node>,
    terms: FxHashMap<Node, Term>,
    symbols: FxHashMap<Op, Symbol>,
}

impl Kernel {
    fn node(&mut self, store: &TermStore, root: Term) -> Node {
        for term in store.subterms(&[root]) {
            if self.nodes.contains_key(&term) {
                continue;
            }
            let (op, args) = store.view(term);
            let node = match op {
                Op::True => Node::TRUE,
                Op::False => Node::FALSE,
                _ => {
                    let fresh = Symbol(self.symbols.len() as u32);
                    let symbol = *self.symbols.entry(op).or_insert(fresh);
                    let args: Vec<Node> = args.iter().map(|arg| self.nodes[arg]).collect();
                    self.graph.new_node(symbol, &args)
                }
            };
            self.nodes.insert(term, node);
            self.terms.insert(node, term);
        }
        self.nodes[&root]
    }
}

/// The two sides of a literal, and whether they are equal.
fn sides(store: &TermStore, literal: Term) -> (Term, Term, bool) {
    match store.view(literal) {
        (Op::Eq, &[left, right]) => (left, right, true),
        (Op::Not, &[atom]) => match store.view(atom) {
            (Op::Eq, &[left, right]) => (left, right, false),
            _ => (atom, Term::FALSE, true),
        },
        _ => (literal, Term::TRUE, true),
    }
}

/// Literals of parts that contradict each other by congruence, if they do.
fn refute_equalities(store: &TermStore, literals: &[(Term, usize)], parts: usize) -> Option<Refuted> {
    let mut kernel = Kernel::default();
    for truth in [Term::TRUE, Term::FALSE] {
        kernel.node(store, truth);
    }
    let found = literals.iter().enumerate().find_map(|(at, &(literal, _))| {
        let (left, right, are_equal) = sides(store, literal);
        let (left, right) = (kernel.node(store, left), kernel.node(store, right));
        let reason = Reason(at as u32);
        let result = if are_equal {
            kernel.graph.merge(left, right, reason)
        } else {
            kernel.graph.distinct(left, right, reason)
        };
        result.err()
    });
    let apart = found?.0;
    let proof = kernel.graph.prove(&[(apart.left, apart.right)]);
    Some(refute_literals(store, literals, parts, Vec::new(), |lits| {
        let lit = |reason: Reason| lits[reason.0 as usize];
        let edges = proof.edges().iter().map(|edge| CongruenceEdge {
            left: kernel.terms[&edge.left],
            right: kernel.terms[&edge.right],
            why: match edge.why {
                ProofWhy::Input(reason) => EdgeRule::Literal(lit(reason)),
                ProofWhy::Congruence => EdgeRule::Congruence,
                ProofWhy::Injection(..) | ProofWhy::Reduction { .. } => unreachable!("no symbol has a role"),
            },
        });
        let mut used: Vec<usize> = proof.reasons().iter().map(|reason| reason.0 as usize).collect();
        used.extend(apart.reason.map(|reason| reason.0 as usize));
        let proof = CongruenceProof {
            edges: edges.collect(),
            apart: (kernel.terms[&apart.left], kernel.terms[&apart.right]),
            distinct: apart.reason.map(lit),
        };
        (used, Justification::Congruence(proof))
    }))
}

#[test]
fn worked_examples_of_equality() {
    let store = TermStore::new();
    let language = Language::new(&store, 0);
    let [a, b, s, t, u, v, x, y, p] =
        ["a", "b", "s", "t", "u", "v", "x", "y", "p"].map(|name| language.apply(name, &[], language.sort));
    let f = |arg: Term| language.apply("f", &[arg], language.sort);
    let differ = |left: Term, right: Term| store.not(store.eq(left, right));
    for (literals, expected) in [
        // A function that is local to A: what A contributes has a condition.
        (
            vec![(store.eq(u, f(s)), 0), (store.eq(v, f(t)), 0), (store.eq(s, t), 1), (differ(u, v), 1)],
            store.implies(store.eq(s, t), store.eq(u, v)),
        ),
        // A new term over shared symbols.
        (
            vec![(store.eq(a, x), 0), (store.eq(f(a), p), 0), (store.eq(b, x), 1), (differ(f(b), p), 1)],
            store.eq(f(x), p),
        ),
        // A disequality of A.
        (
            vec![(differ(f(a), f(b)), 0), (store.eq(a, x), 0), (store.eq(b, y), 0), (store.eq(x, y), 1)],
            differ(x, y),
        ),
    ] {
        let refuted = refute_equalities(&store, &literals, 2).unwrap();
        let interpolant =
            refuted.interpolator(&store, Options::default()).binary(&[Part(0)], &Limits::default()).unwrap();
        refuted.check(&store, |part| part == 0, interpolant.formula);
        assert_eq!(interpolant.formula, expected, "{}", store.display(interpolant.formula));
    }
}

#[test]
fn generated_conflicts_of_equality_have_interpolants() {
    let (mut conflicts, mut nontrivial) = (0, 0);
    for seed in 1..=1000 * scale() {
        let mut random = Random::new(seed);
        let store = TermStore::new();
        let parts = 2 + random.below(3);
        let language = Language::new(&store, 3 + random.below(4));
        let literals: Vec<(Term, usize)> = (0..30)
            .map(|_| (language.literal(&mut random), random.below(parts)))
            .filter(|literal| ![Term::TRUE, Term::FALSE].contains(&literal.0))
            .collect();
        // Only what the conflict needs, so that not all symbols are shared.
        let Some(refuted) = refute_equalities(&store, &literals, parts) else { continue };
        let lemma = &refuted.proof.steps()[literals.len()].clause;
        let units = refuted.proof.steps()[..literals.len()].iter().map(|step| step.clause[0]);
        let literals: Vec<(Term, usize)> = std::iter::zip(units, literals)
            .filter(|(unit, _)| lemma.contains(&!*unit))
            .map(|(_, literal)| literal)
            .collect();
        let Some(refuted) = refute_equalities(&store, &literals, parts) else { continue };
        conflicts += 1;
        let shape = random_tree(&mut random, parts);
        for labelling in LABELLINGS {
            for equality in [Equality::Strong, Equality::Weak] {
                let interpolator =
                    refuted.interpolator(&store, Options { labelling, equality, ..Options::default() });
                let interpolant = interpolator.binary(&[Part(0)], &Limits::default()).unwrap();
                refuted.check(&store, |part| part == 0, interpolant.formula);
                nontrivial += usize::from(![Term::TRUE, Term::FALSE].contains(&interpolant.formula));
                refuted.check_sequence(
                    &store,
                    &interpolator.sequence(&refuted.order(), &Limits::default()).unwrap(),
                );
                let is_dual = labelling == Labelling::DualMcMillan || equality == Equality::Weak;
                match interpolator.tree(&shape, &Limits::default()) {
                    Ok(tree) => refuted.check_tree(&store, &shape, &tree),
                    Err(error) => assert_eq!((error, is_dual), (Error::NoTreeProperty, true)),
                }
            }
        }
    }
    assert!(
        conflicts > 800 && nontrivial > 3 * conflicts,
        "{nontrivial} of {conflicts} conflicts, six times each"
    );
}

/// Three thousand instances of congruence inside of each other.
#[test]
fn deep_nests_of_functions() {
    let store = TermStore::new();
    let language = Language::new(&store, 0);
    let [a, b] = ["a", "b"].map(|name| language.apply(name, &[], language.sort));
    let nest = |mut term: Term| {
        for _ in 0..3000 {
            term = language.apply("f", &[term], language.sort);
        }
        term
    };
    let literals = [(store.eq(a, b), 0), (store.not(store.eq(nest(a), nest(b))), 1)];
    let refuted = refute_equalities(&store, &literals, 2).unwrap();
    for equality in [Equality::Strong, Equality::Weak] {
        let options = Options { equality, ..Options::default() };
        let interpolant =
            refuted.interpolator(&store, options).binary(&[Part(0)], &Limits::default()).unwrap();
        assert_eq!(interpolant.formula, store.eq(a, b));
    }
}

// ---- refutations of formulas over numbers ----------------------------------------------------------------

#[test]
fn refutations_over_numbers_have_interpolants_of_all_kinds() {
    let half = Strength::new(Rational::new(1.into(), 2.into())).unwrap();
    let procedures = [
        Arithmetic::Farkas,
        Arithmetic::DualFarkas,
        Arithmetic::Decomposed,
        Arithmetic::DualDecomposed,
        Arithmetic::Flexible(half),
    ];
    let (mut refuted_count, mut with_symbols, mut sizes) = (0, 0, (0, 0));
    for seed in 1..=2500 * scale() {
        let mut random = Random::new(seed);
        let store = TermStore::new();
        let parts = 2 + random.below(3);
        let Some(refuted) = random_numbers(&store, &mut random, parts) else { continue };
        refuted_count += 1;
        with_symbols += usize::from(!refuted.proof.origins().is_empty());
        let in_a: Vec<bool> = (0..parts).map(|_| random.bool()).collect();
        let parts_of_a: Vec<Part> =
            refuted.order().into_iter().filter(|part| in_a[part.0 as usize]).collect();
        let shape = random_tree(&mut random, parts);
        for arithmetic in &procedures {
            for labelling in LABELLINGS {
                let options = Options { labelling, arithmetic: arithmetic.clone(), ..Options::default() };
                let interpolator = refuted.interpolator(&store, options);
                let interpolant = interpolator.binary(&parts_of_a, &Limits::default()).unwrap();
                refuted.check(&store, |part| in_a[part], interpolant.formula);
                sizes = (sizes.0 + interpolant.raw_size, sizes.1 + interpolant.size);
                refuted.check_sequence(
                    &store,
                    &interpolator.sequence(&refuted.order(), &Limits::default()).unwrap(),
                );
                match interpolator.tree(&shape, &Limits::default()) {
                    Ok(tree) => refuted.check_tree(&store, &shape, &tree),
                    Err(error) => assert_eq!(error, Error::NoTreeProperty),
                }
            }
        }
    }
    assert!(refuted_count > 300 && with_symbols > 100, "{refuted_count}, {with_symbols} with fresh symbols");
    assert!(sizes.0 > sizes.1, "{sizes:?}");
}
