//! Random refuted formulas in parts, refuted by a small prover, and the conditions on their interpolants.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Sort, Term, TermStore};
use shofar_run::Limits;
use shofar_smt::cnf::{Clauses, Cnf};
use shofar_smt::interpolate::verify::{Entailment, implies, separates};
use shofar_smt::interpolate::{Fallback, Interpolant, Interpolator, Options};
use shofar_smt::proof::{FarkasTerm, Inequality, Justification, Part, Proof, Rule, Sign, Step, StepId};
use shofar_smt::purify::{Purified, Purifier};
use shofar_smt::sat::{Lit, Var};
use shofar_smt::theory::arith::{self, Budget, Config, DeltaRational, Side, Simplex};

use crate::Random;

/// Whether the premises imply the conclusion, by a fresh solver.
pub fn holds(store: &TermStore, premises: &[Term], conclusion: Term) -> bool {
    implies(store, premises, conclusion, &Limits::default()) == Ok(Entailment::Holds)
}

/// Formulas in parts `0, 1, ..`, with a refutation.
pub struct Refuted {
    /// The formulas of each part.
    pub parts: Vec<Vec<Term>>,
    /// The refutation of all of them together.
    pub proof: Proof,
}

impl Refuted {
    /// An interpolator for the proof, without fallback.
    pub fn interpolator<'a>(&self, store: &'a TermStore, options: Options) -> Interpolator<'a> {
        let options = Options { fallback: Fallback::Off, ..options };
        let parts =
            self.parts.iter().enumerate().map(|(part, formulas)| (Part(part as u32), formulas.clone()));
        Interpolator::new(store, self.proof.clone(), parts.collect(), options).unwrap()
    }

    /// The formulas of the wanted parts.
    pub fn formulas(&self, wanted: impl Fn(usize) -> bool) -> Vec<Term> {
        (0..self.parts.len()).filter(|&part| wanted(part)).flat_map(|part| self.parts[part].clone()).collect()
    }

    /// The parts in order.
    pub fn order(&self) -> Vec<Part> {
        (0..self.parts.len() as u32).map(Part).collect()
    }

    /// Checks the three conditions of an interpolant.
    pub fn check(&self, store: &TermStore, in_a: impl Fn(usize) -> bool, formula: Term) {
        let (a, b) = (self.formulas(&in_a), self.formulas(|part| !in_a(part)));
        let shown = store.display(formula);
        assert_eq!(separates(store, &a, formula, &b, &Limits::default()), Ok(Entailment::Holds), "{shown}");
        let symbols = store.symbols(&[formula]);
        for side in [a, b] {
            let known = store.symbols(&side);
            assert!(symbols.vars.iter().all(|var| known.vars.contains(var)), "{shown}");
            assert!(symbols.funs.iter().all(|fun| known.funs.contains(fun)), "{shown}");
        }
    }

    /// Checks that each interpolant of a sequence follows from the previous one and the part between.
    pub fn check_sequence(&self, store: &TermStore, sequence: &[Interpolant]) {
        assert_eq!(sequence.len() + 1, self.parts.len());
        let mut before = Term::TRUE;
        for (at, interpolant) in sequence.iter().enumerate() {
            self.check(store, |part| part <= at, interpolant.formula);
            let premises = [&self.parts[at][..], &[before]].concat();
            assert!(holds(store, &premises, interpolant.formula), "not a sequence at {at}");
            before = interpolant.formula;
        }
    }

    /// Checks that each interpolant of a tree follows from those of its children and the part at its node.
    pub fn check_tree(&self, store: &TermStore, nodes: &[(Part, usize)], tree: &[Interpolant]) {
        assert_eq!(tree.last().map(|root| root.formula), Some(Term::FALSE));
        for (at, interpolant) in tree.iter().enumerate() {
            let children = (0..at).filter(|&child| nodes[child].1 == at);
            let mut premises: Vec<Term> = children.map(|child| tree[child].formula).collect();
            premises.extend(&self.parts[nodes[at].0.0 as usize]);
            assert!(holds(store, &premises, interpolant.formula), "not a tree at {at}");
        }
    }
}

/// A random tree over all parts: each has a later one as its parent.
pub fn random_tree(random: &mut Random, parts: usize) -> Vec<(Part, usize)> {
    let parent = |at: usize, random: &mut Random| at + 1 + random.below((parts - at - 1).max(1));
    (0..parts).map(|at| (Part(at as u32), parent(at, random))).collect()
}

/// Finds a lemma that is false in an assignment.
pub type Lemmas<'r> = dyn Fn(&[Option<bool>]) -> Option<Step> + 'r;

/// Refutes clauses by splitting on variables: a tree of resolutions, some of them joined into chains.
pub struct Prover<'r> {
    /// Chooses variables and shapes.
    pub random: &'r mut Random,
    /// The given clauses, then the derived ones.
    pub steps: Vec<Step>,
    /// The number of given clauses.
    pub leaves: usize,
    /// The values of the splits.
    pub assignment: Vec<Option<bool>>,
    /// A lemma that is false in the assignment, if the theory has one.
    pub lemma: Option<&'r Lemmas<'r>>,
}

impl Prover<'_> {
    /// The step with a clause that is false in the assignment; `None` if the assignment satisfies all clauses.
    pub fn refute(&mut self) -> Option<usize> {
        let is_false = |lit: &Lit| self.assignment[lit.var().index()] == Some(!lit.is_positive());
        if let Some(at) = (0..self.leaves).find(|&at| self.steps[at].clause.iter().all(is_false)) {
            return Some(at);
        }
        if let Some(lemma) = self.lemma.and_then(|lemma| lemma(&self.assignment)) {
            self.steps.push(lemma);
            return Some(self.steps.len() - 1);
        }
        let open: Vec<usize> =
            (0..self.assignment.len()).filter(|&var| self.assignment[var].is_none()).collect();
        let var = Var::from_index(*open.get(self.random.below(open.len().max(1)))?);
        let mut halves = Vec::new();
        for value in [true, false] {
            self.assignment[var.index()] = Some(value);
            let half = self.refute()?;
            self.assignment[var.index()] = None;
            if !self.steps[half].clause.contains(&var.lit(!value)) {
                return Some(half);
            }
            halves.push(half);
        }
        if self.random.bool() {
            halves.reverse();
        }
        let [left, right] = halves[..] else { unreachable!("there are two values") };
        let clause = self.steps[left].clause.iter().chain(&*self.steps[right].clause);
        let clause: BTreeSet<Lit> = clause.copied().filter(|lit| lit.var() != var).collect();
        let last = (StepId(right as u32), var);
        let rule = match &self.steps[left].rule {
            Rule::Resolution { first, others } if self.random.bool() => {
                Rule::Resolution { first: *first, others: others.iter().copied().chain([last]).collect() }
            }
            _ => Rule::Resolution { first: StepId(left as u32), others: Box::new([last]) },
        };
        self.steps.push(Step { clause: clause.into_iter().collect(), rule });
        Some(self.steps.len() - 1)
    }
}

/// Clauses of formulas, with the meanings of variables.
#[derive(Default)]
struct Sink {
    vars: usize,
    steps: Vec<Step>,
    /// The part of an assertion; `None` for definitions.
    part: Option<Part>,
}

impl Clauses for Sink {
    fn new_var(&mut self) -> Var {
        self.vars += 1;
        Var::from_index(self.vars - 1)
    }

    fn define(&mut self, clause: &[Lit]) {
        self.steps.push(Step { clause: clause.into(), rule: Rule::Definition });
    }

    fn assert(&mut self, clause: &[Lit]) {
        let rule = self.part.map_or(Rule::Definition, Rule::Assertion);
        self.steps.push(Step { clause: clause.into(), rule });
    }

    fn require(&mut self, _var: Var) -> bool {
        false
    }
}

/// A conflict among the literals of an assignment, by a weighted sum.
fn weighted_conflict(store: &TermStore, formulas: &[Term], assignment: &[Option<bool>]) -> Option<Step> {
    let mut simplex = Simplex::new(Config::default());
    let mut kernel: FxHashMap<Term, arith::Var> = FxHashMap::default();
    let mut bounds: Vec<(Inequality, Lit, Sign)> = Vec::new();
    for (index, value) in assignment.iter().enumerate() {
        let Some(value) = *value else { continue };
        for sign in [Sign::Positive, Sign::Negative] {
            if let Some(inequality) = Inequality::read(store, formulas[index], value, sign) {
                bounds.push((inequality, Var::from_index(index).lit(value), sign));
            }
        }
    }
    let mut conflict = None;
    for (reason, (inequality, ..)) in bounds.iter().enumerate() {
        let form: Vec<(arith::Var, Rational)> = inequality
            .form
            .terms()
            .iter()
            .map(|(term, factor)| {
                let is_int = store.sort_of(*term) == Sort::INT;
                (*kernel.entry(*term).or_insert_with(|| simplex.new_var(is_int)), factor.clone())
            })
            .collect();
        let (slack, factor) = simplex.new_row(&form).unwrap();
        let bound = -(inequality.form.constant() / &factor);
        let (side, bound) = match (factor.is_positive(), inequality.is_strict) {
            (true, false) => (Side::Lower, DeltaRational::from(bound)),
            (true, true) => (Side::Lower, DeltaRational::just_above(bound)),
            (false, false) => (Side::Upper, DeltaRational::from(bound)),
            (false, true) => (Side::Upper, DeltaRational::just_below(bound)),
        };
        conflict = simplex.assert_bound(slack, side, &bound, arith::Reason(reason as u32)).err();
        if conflict.is_some() {
            break;
        }
    }
    let conflict = conflict.or_else(|| match simplex.check(&Budget::default()) {
        arith::Outcome::Infeasible(conflict) => Some(conflict),
        _ => None,
    })?;
    let term = |term: &arith::Weighted| {
        let (_, lit, sign) = bounds[term.reason.0 as usize];
        FarkasTerm { lit, side: sign, coefficient: term.coefficient.clone() }
    };
    let terms: Box<[FarkasTerm]> = conflict.terms.iter().map(term).collect();
    let clause: BTreeSet<Lit> = terms.iter().map(|term| !term.lit).collect();
    Some(Step { clause: clause.into_iter().collect(), rule: Rule::Lemma(Justification::Farkas(terms)) })
}

/// Random formulas in parts, if they are unsatisfiable over the rationals. Some have `ite`, `div` and `mod`.
pub fn random_numbers(store: &TermStore, random: &mut Random, parts: usize) -> Option<Refuted> {
    let sort = [Sort::INT, Sort::REAL][random.below(2)];
    let mut purifier = Purifier::new(store);
    let mut cnf = Cnf::new(store);
    let mut sink = Sink::default();
    let (mut formulas_of_parts, mut translated) = (Vec::new(), Vec::new());
    let names: Vec<String> = (0..=parts).map(|index| format!("x{index}")).collect();
    for part in 0..parts {
        let known: Vec<&str> = names[part..part + 2].iter().map(String::as_str).chain(["y"]).collect();
        let mut formulas: Vec<Term> =
            (0..2).map(|_| random_formula(store, random, &known, sort, 1)).collect();
        if random.bool() {
            formulas.push(random_choice(store, random, &known, sort));
        }
        for &formula in &formulas {
            let Purified { formula, definitions } = purifier.purify(store.normalize(formula)).unwrap();
            for definition in definitions {
                sink.part = None;
                cnf.assert(definition, &mut sink);
                translated.push(definition);
            }
            sink.part = Some(Part(part as u32));
            cnf.assert(formula, &mut sink);
            translated.push(formula);
        }
        formulas_of_parts.push(formulas);
    }
    if sink.vars > 18 {
        return None;
    }
    let mut meanings = vec![Term::TRUE; sink.vars];
    for term in store.subterms(&translated) {
        if let Some(lit) =
            cnf.known(term).filter(|lit| store.sort_of(term) == Sort::BOOL && lit.is_positive())
        {
            meanings[lit.var().index()] = term;
        }
    }
    let leaves = sink.steps.len();
    let lemma = |assignment: &[Option<bool>]| weighted_conflict(store, &meanings, assignment);
    let mut prover =
        Prover { random, steps: sink.steps, leaves, assignment: vec![None; sink.vars], lemma: Some(&lemma) };
    let last = prover.refute()?;
    let mut steps = prover.steps;
    steps.truncate(last + 1);
    let proof = Proof::new(steps, meanings, purifier.origins().to_vec());
    Some(Refuted { parts: formulas_of_parts, proof })
}

/// A bound on a number that needs a fresh symbol.
fn random_choice(store: &TermStore, random: &mut Random, names: &[&str], sort: Sort) -> Term {
    let mut var = || store.var(store.symbol(names[random.below(names.len())]), sort);
    let (x, y) = (var(), var());
    let number = |value: i64| {
        if sort == Sort::INT { store.int(value) } else { store.real(Rational::from(Integer::from(value))) }
    };
    let term = match random.below(3) {
        0 if sort == Sort::INT => store.modulo(store.add(&[x, y]), number(3)),
        1 if sort == Sort::INT => store.int_div(x, number(2)),
        _ => store.ite(store.le(x, number(0)), x, store.add(&[y, number(1)])),
    };
    let bound = number(random.between(-2, 2));
    if random.bool() { store.le(term, bound) } else { store.ge(store.sub(term, y), bound) }
}

/// Random formulas over numbers and Booleans, with some symbols local to each side.
pub fn random_formula(
    store: &TermStore,
    random: &mut Random,
    names: &[&str],
    sort: Sort,
    depth: usize,
) -> Term {
    if depth == 0 {
        if random.below(5) == 0 {
            return store.var(store.symbol(["p", "q"][random.below(2)]), Sort::BOOL);
        }
        let term = |random: &mut Random| {
            let var = store.var(store.symbol(names[random.below(names.len())]), sort);
            store.mul_const(&Rational::from(Integer::from(random.between(-2, 2))), var)
        };
        let sum = store.add(&[term(random), term(random)]);
        let bound = random.between(-4, 4);
        let bound = if sort == Sort::INT {
            store.int(bound)
        } else {
            store.real(Rational::from(Integer::from(bound)))
        };
        return match random.below(3) {
            0 => store.eq(sum, bound),
            1 => store.lt(sum, bound),
            _ => store.le(sum, bound),
        };
    }
    let parts: Vec<Term> =
        (0..2 + random.below(2)).map(|_| random_formula(store, random, names, sort, depth - 1)).collect();
    match random.below(5) {
        0 | 1 => store.and(&parts),
        2 | 3 => store.or(&parts),
        _ => store.not(store.iff(parts[0], parts[1])),
    }
}
