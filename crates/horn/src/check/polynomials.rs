//! Products of variables in queries to the linear solver.
//!
//! A model may say `r = x * y`, but the solver knows linear arithmetic only. So each product becomes a new variable, which
//! stands for a monomial. These facts about the variables, written as monomials, are added:
//!
//! - *normal forms*: if equations of the query define factors, the monomial is equal to the sum of monomials after replacing
//!   them: with `x = u + 1`, `x*y = u*y + y`;
//! - `x = 0` implies `x*y = 0`;
//! - `x >= 0` and `y >= 0` imply `x*y >= 0`.
//!
//! A model of the query gives each new variable the value of its product, and then the facts hold. So a refutation of the linear
//! query refutes the query; only identities of polynomials are ever proved. This is no procedure for nonlinear arithmetic. For a
//! counterexample, factors are restricted to a few values, so that products are linear case by case.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{Monomial, Op, Polynomial, Sort, Term, TermStore};

/// Products that are named in one query.
const MOST_PRODUCTS: usize = 150;

/// Rounds of solving equations for factors.
const MOST_ROUNDS: usize = 12;

/// The values of factors in counterexamples.
const SMALL: [i64; 6] = [0, 1, 2, 3, -1, 5];

/// Whether formulas multiply variables.
pub(super) fn occur(store: &TermStore, formulas: &[Term]) -> bool {
    let is_product = |&term: &Term| {
        let (op, factors) = store.view(term);
        op == Op::Mul && factors.iter().filter(|&&factor| store.numeral(factor).is_none()).nth(1).is_some()
    };
    store.subterms(formulas).iter().any(is_product)
}

/// A query without products of variables.
pub(super) struct Linear {
    /// Formulas that follow from the query.
    pub(super) formulas: Vec<Term>,
    /// In addition, products are right and their factors small.
    pub(super) small: Vec<Term>,
}

/// Replaces the products in a query.
pub(super) fn linear(store: &TermStore, query: &[Term]) -> Linear {
    let mut products = Products { store, names: FxHashMap::default(), monomials: FxHashMap::default() };
    let mut formulas: Vec<Term> =
        query.iter().map(|&formula| products.without_products(store.normalize(formula))).collect();
    let definitions = products.definitions(&formulas);
    // Facts may name further products.
    let mut done: FxHashSet<Monomial> = FxHashSet::default();
    let mut small = Vec::new();
    let mut factors: FxHashSet<Term> = FxHashSet::default();
    while let Some(monomial) = products.next(&done) {
        let product = products.names[&monomial];
        let sort = store.sort_of(product);
        let mut reduced = Some(Polynomial::monomial(monomial.clone()));
        for (factor, definition) in &definitions {
            reduced = reduced.and_then(|reduced| reduced.replaced(*factor, definition));
        }
        if let Some(value) = reduced.and_then(|reduced| products.term(&reduced, sort)) {
            formulas.push(store.eq(product, value));
        }
        let (&first, others) = monomial.split_first().expect("products have factors");
        if let Some(others) = products.term(&Polynomial::monomial(others.to_vec()), sort) {
            let zero = store.number(&Rational::ZERO, sort);
            let is_zero = |term: Term| store.eq(term, zero);
            let is_positive = |term: Term| store.ge(term, zero);
            formulas.push(store.implies(store.or2(is_zero(first), is_zero(others)), is_zero(product)));
            formulas.push(
                store.implies(store.and2(is_positive(first), is_positive(others)), is_positive(product)),
            );
            for value in SMALL.map(Rational::from) {
                let is_value = store.eq(first, store.number(&value, sort));
                small.push(store.implies(is_value, store.eq(product, store.mul_const(&value, others))));
            }
            if factors.insert(first) {
                let values = SMALL.map(Rational::from);
                small.push(store.or_of(values.map(|value| store.eq(first, store.number(&value, sort)))));
            }
        }
        done.insert(monomial);
    }
    Linear { formulas, small }
}

/// Variables for products.
struct Products<'a> {
    store: &'a TermStore,
    names: FxHashMap<Monomial, Term>,
    monomials: FxHashMap<Term, Monomial>,
}

impl Products<'_> {
    /// A formula with variables for products.
    fn without_products(&mut self, formula: Term) -> Term {
        let store = self.store;
        store.rewrite(formula, &mut |op, args| {
            let term = store.build(op, args).expect("the arguments have the sorts of those before");
            if op != Op::Mul || !occur(store, &[term]) {
                return term;
            }
            let polynomial = self.polynomial(term);
            polynomial.and_then(|polynomial| self.term(&polynomial, store.sort_of(term))).unwrap_or(term)
        })
    }

    /// A polynomial over the factors of products.
    fn polynomial(&self, term: Term) -> Option<Polynomial> {
        Polynomial::from_term(self.store, term, |term| self.monomials.get(&term).cloned())
    }

    /// The linear term of a polynomial, with names for products; `None` if there are too many, or fractions of integers.
    fn term(&mut self, polynomial: &Polynomial, sort: Sort) -> Option<Term> {
        let is_fit = |coefficient: &Rational| sort != Sort::INT || coefficient.is_integer();
        if self.names.len() > MOST_PRODUCTS || !polynomial.monomials().all(|(_, factor)| is_fit(factor)) {
            return None;
        }
        let store = self.store;
        Some(polynomial.to_term(store, sort, |factors| {
            *self.names.entry(factors.to_vec()).or_insert_with(|| {
                let name = store.var(store.fresh_symbol("product"), sort);
                self.monomials.insert(name, factors.to_vec());
                name
            })
        }))
    }

    /// A named product that is not done.
    fn next(&self, done: &FxHashSet<Monomial>) -> Option<Monomial> {
        self.names.keys().filter(|&monomial| !done.contains(monomial)).min().cloned()
    }

    /// Definitions of factors by polynomials, from equations of the query. No definition mentions a factor that an earlier or
    /// the same definition defines, so replacing them one after the other leaves no defined factor.
    fn definitions(&self, formulas: &[Term]) -> Vec<(Term, Polynomial)> {
        let store = self.store;
        let equation = |conjunct: Term| match store.view(conjunct) {
            (Op::Eq, &[left, right]) if store.sort_of(left).is_arithmetic() => {
                let mut difference = self.polynomial(left)?;
                difference.add_scaled(&self.polynomial(right)?, &-Rational::ONE);
                Some(difference)
            }
            _ => None,
        };
        let conjuncts = formulas.iter().flat_map(|&formula| store.conjuncts(formula));
        let mut equations: Vec<Polynomial> = conjuncts.filter_map(equation).collect();
        let mut factors: FxHashSet<Term> = self.names.keys().flatten().copied().collect();
        let mut definitions: Vec<(Term, Polynomial)> = Vec::new();
        for _ in 0..MOST_ROUNDS {
            let before = definitions.len();
            for position in 0..equations.len() {
                let Some((factor, definition)) = solved(&equations[position], &factors) else { continue };
                factors.extend(definition.monomials().flat_map(|(monomial, _)| monomial.iter().copied()));
                let replace = |equation: &Polynomial| equation.replaced(factor, &definition);
                let Some(replaced) = equations.iter().map(replace).collect::<Option<Vec<_>>>() else {
                    continue;
                };
                equations = replaced;
                definitions.push((factor, definition));
            }
            if definitions.len() == before {
                break;
            }
        }
        definitions
    }
}

/// An equation solved for a factor of products, which occurs in it only once and with coefficient one or minus one.
fn solved(equation: &Polynomial, factors: &FxHashSet<Term>) -> Option<(Term, Polynomial)> {
    let mut candidates = equation.monomials().filter_map(|(monomial, coefficient)| match *monomial {
        [factor] if factors.contains(&factor) && coefficient.abs().is_one() => Some((factor, coefficient)),
        _ => None,
    });
    candidates.find_map(|(factor, coefficient)| {
        let mut rest = equation.clone();
        rest.add_scaled(&Polynomial::monomial(vec![factor]), &-coefficient);
        if rest.mentions(factor) {
            return None;
        }
        let mut definition = Polynomial::default();
        definition.add_scaled(&rest, &-coefficient);
        Some((factor, definition))
    })
}
