//! Linear arithmetic among other theories: maps terms to numbers, and numbers and atoms back to terms.
//!
//! A kernel variable stands for a term that is not a sum: a symbol, or an application of a function. A cast integer is
//! the integer. An equation between numbers is the conjunction of two inequalities, and clauses tie it to them. Numbers
//! that congruence knows are *quantities*: kernel variables or numerals.

use rustc_hash::FxHashMap;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{LinearPoly, Op, Sort, SortKind, Term, TermStore, Value};
use smallvec::SmallVec;

use super::arith::{self, DeltaRational, Side};
use super::certificate::{ArithmeticArgument, ORDER};
use super::component::{Component, Handle, Terms, Values};
use super::linear::{AtomMeaning, Comparison, LinearArithmetic};
use crate::proof::{FarkasTerm, IntegerRefutation, IntegerTerm, Justification, Sign};
use crate::sat::{Answers, Certificate, Lit, Var};

/// The arithmetic view of terms.
#[derive(Default)]
pub(super) struct Numbers {
    /// The variables of the kernel.
    vars: FxHashMap<Term, arith::Var>,
    /// Their terms, if proofs are logged.
    terms: FxHashMap<arith::Var, Term>,
    /// The shared numbers, by handle.
    quantities: Vec<Quantity>,
}

/// A shared number.
enum Quantity {
    Variable(arith::Var),
    Numeral(Rational),
}

/// A linear form and the constant it is compared with.
type Comparands = (SmallVec<[(arith::Var, Rational); 4]>, Rational);

impl LinearArithmetic {
    /// The kernel's variable for a symbol or an application.
    fn number(&mut self, store: &TermStore, term: Term) -> arith::Var {
        let term = without_cast(store, term);
        if let Some(&var) = self.numbers.vars.get(&term) {
            return var;
        }
        let var = self.new_var(store.sort_of(term) == Sort::INT);
        self.numbers.vars.insert(term, var);
        if self.stores_arguments() {
            self.numbers.terms.insert(var, term);
        }
        var
    }

    /// The linear form and the constant of a normal atom.
    fn linear_form(&mut self, store: &TermStore, sum: Term, constant: Term) -> Comparands {
        let constant = store.numeral(constant).expect("normal atoms have a numeral on the right");
        let poly = LinearPoly::from_term(store, sum);
        let sum = poly.terms().iter().map(|(term, factor)| (self.number(store, *term), factor.clone()));
        (sum.collect(), constant.clone())
    }

    fn define_comparison(
        &mut self,
        var: Var,
        (sum, comparison, constant): (Term, Comparison, Term),
        store: &TermStore,
    ) {
        let (sum, constant) = self.linear_form(store, sum, constant);
        self.define_atom(var, &sum, comparison, &constant);
    }

    /// Defines an equation. The search need not decide its inequalities.
    fn define_equality_of(&mut self, var: Var, equation: Term, terms: &mut Terms<'_, '_>) {
        let store = terms.store();
        let [le, ge] = store.halves(equation).map(|half| terms.dispensable_literal(half));
        tie(var, le, ge, terms.answers());
        let &[sum, constant] = store.args(equation) else { unreachable!("an equation has two sides") };
        let (sum, constant) = self.linear_form(store, sum, constant);
        self.define_equation(var, &sum, &constant, [le, ge]);
    }

    /// The value of a number in the current assignment.
    fn value_of(&self, quantity: &Quantity) -> DeltaRational {
        match quantity {
            Quantity::Variable(var) => self.value(*var),
            Quantity::Numeral(value) => DeltaRational::from(value.clone()),
        }
    }

    /// A model in which shared numbers differ if they differ in the assignment. Neighbours in the order of the
    /// assignment stay in order, hence all do.
    fn model(&self) -> Vec<Rational> {
        let variable = |quantity: &Quantity| match quantity {
            Quantity::Variable(var) => Some(*var),
            Quantity::Numeral(_) => None,
        };
        let shared = self.numbers.quantities.iter();
        let mut valued: Vec<(DeltaRational, Option<arith::Var>)> =
            shared.map(|quantity| (self.value_of(quantity), variable(quantity))).collect();
        // Variables come before numerals of the same value, because one of two neighbours must be a variable.
        valued.sort_unstable_by(|a, b| (&a.0, a.1.is_none(), a.1).cmp(&(&b.0, b.1.is_none(), b.1)));
        valued.dedup_by(|next, kept| next.0 == kept.0);
        let neighbours = valued.windows(2).filter_map(|neighbours| match neighbours {
            [(value, None), (_, Some(var))] | [(_, Some(var)), (value, _)] => Some((*var, value.clone())),
            _ => None,
        });
        self.model_apart(neighbours.collect())
    }

    /// A kernel form over terms that are not casts.
    fn poly(&self, form: &[(arith::Var, Integer)]) -> LinearPoly {
        let term = |var: arith::Var| self.numbers.terms[&var];
        let terms = form.iter().map(|(var, factor)| (term(*var), Rational::from(factor.clone())));
        LinearPoly::from_pairs(terms.collect(), Rational::ZERO)
    }
}

impl Component for LinearArithmetic {
    fn owns_sort(&self, store: &TermStore, sort: Sort) -> bool {
        match store.sort_kind(sort) {
            SortKind::Int | SortKind::Real => true,
            SortKind::Bool
            | SortKind::BitVec(_)
            | SortKind::Array(..)
            | SortKind::Datatype(_)
            | SortKind::Uninterpreted(..) => false,
        }
    }

    fn knows(&self, symbol: Term) -> bool {
        self.numbers.vars.contains_key(&symbol)
    }

    fn define(&mut self, var: Var, atom: Term, terms: &mut Terms<'_, '_>) -> bool {
        let store = terms.store();
        match store.view(atom) {
            (Op::Le, &[sum, constant]) => {
                self.define_comparison(var, (sum, Comparison::AtMost, constant), store);
            }
            (Op::Lt, &[sum, constant]) => {
                self.define_comparison(var, (sum, Comparison::Below, constant), store);
            }
            (Op::Eq, &[sum, _]) if store.sort_of(sum).is_arithmetic() => {
                self.define_equality_of(var, atom, terms);
            }
            _ => return false,
        }
        true
    }

    /// Two symbols, or a symbol and a numeral.
    fn sides(&self, store: &TermStore, equality: Term) -> Option<(Term, Term)> {
        let &[sum, constant] = store.args(equality) else { return None };
        let poly = LinearPoly::from_term(store, sum);
        let is_zero = store.numeral(constant).is_some_and(Rational::is_zero);
        match poly.terms() {
            [(left, one)] if one.is_one() => Some((*left, constant)),
            [(left, a), (right, b)] if is_zero && (a + b).is_zero() => Some((*left, *right)),
            _ => None,
        }
    }

    /// The argument of a cast, and one term for all numerals of the same value.
    fn representative(&self, store: &TermStore, term: Term) -> Term {
        let term = without_cast(store, term);
        match store.numeral(term).and_then(|value| value.to_integer()) {
            Some(value) => store.int(value),
            None => term,
        }
    }

    fn is_value(&self, store: &TermStore, term: Term) -> bool {
        store.numeral(term).is_some()
    }

    fn share(&mut self, store: &TermStore, term: Term) -> Handle {
        let quantity = match store.numeral(term) {
            Some(value) => Quantity::Numeral(value.clone()),
            None => Quantity::Variable(self.number(store, term)),
        };
        self.numbers.quantities.push(quantity);
        Handle(self.numbers.quantities.len() as u32 - 1)
    }

    fn candidate(&self) -> Vec<u32> {
        let mut known: FxHashMap<DeltaRational, u32> = FxHashMap::default();
        let mut number = |value: DeltaRational| {
            let next = known.len() as u32;
            *known.entry(value).or_insert(next)
        };
        self.numbers.quantities.iter().map(|quantity| number(self.value_of(quantity))).collect()
    }

    fn define_equality(&mut self, var: Var, left: Handle, right: Handle, answers: &mut Answers<'_>) {
        let mut sum: Vec<(arith::Var, Rational)> = Vec::new();
        let mut constant = Rational::ZERO;
        for (Handle(number), factor) in [(left, Rational::ONE), (right, -Rational::ONE)] {
            match &self.numbers.quantities[number as usize] {
                Quantity::Variable(var) => sum.push((*var, factor)),
                Quantity::Numeral(value) => constant -= &(&factor * value),
            }
        }
        let [at_most, at_least] = [(); 2].map(|()| answers.new_atom());
        self.define_atom(at_most, &sum, Comparison::AtMost, &constant);
        let negated: Vec<_> = sum.iter().map(|(var, factor)| (*var, -factor)).collect();
        self.define_atom(at_least, &negated, Comparison::AtMost, &-&constant);
        let [le, ge] = [at_most, at_least].map(Var::positive);
        self.define_equation(var, &sum, &constant, [le, ge]);
        tie(var, le, ge, answers);
    }

    fn values<'v>(&'v self) -> Box<dyn Values + 'v> {
        Box::new(NumberValues { numbers: &self.numbers, values: self.model() })
    }

    fn start_query(&mut self, released: &mut Vec<Var>) {
        self.release_splits(released);
    }

    fn log_proofs(&mut self) {
        self.store_arguments();
    }

    fn formula(&self, store: &TermStore, var: Var) -> Option<Term> {
        let (form, meaning) = self.meaning(var)?;
        let form = self.poly(&form);
        let constant = match meaning {
            AtomMeaning::Bound(_, bound) => bound.real(),
            AtomMeaning::Equation(value) => value,
        };
        let is_int = |term: Term| store.sort_of(term) == Sort::INT;
        let (left, right) = if form.terms().iter().all(|(term, _)| is_int(*term)) && constant.is_integer() {
            (form.to_term(store, Sort::INT), store.int(constant.numer()))
        } else {
            let cast = |term: Term| if is_int(term) { store.to_real(term) } else { term };
            let terms = form.terms().iter().map(|(term, factor)| (cast(*term), factor.clone()));
            let form = LinearPoly::from_pairs(terms.collect(), Rational::ZERO);
            (form.to_term(store, Sort::REAL), store.real(constant.clone()))
        };
        Some(match meaning {
            AtomMeaning::Equation(_) => match store.eq(left, right) {
                // An integer and a fraction, which a congruence argument may equate (Y3 of `proof/`).
                Term::FALSE => store.app(Op::Eq, &[left, right]).expect("both sides are of one sort"),
                equation => equation,
            },
            AtomMeaning::Bound(Side::Upper, bound) if bound.delta().is_negative() => store.lt(left, right),
            AtomMeaning::Bound(Side::Upper, _) => store.le(left, right),
            AtomMeaning::Bound(Side::Lower, bound) if bound.delta().is_positive() => store.gt(left, right),
            AtomMeaning::Bound(Side::Lower, _) => store.ge(left, right),
        })
    }

    fn justification(
        &self,
        _store: &TermStore,
        certificate: Certificate,
        clause: &[Lit],
        atom: &dyn Fn(Lit) -> (Term, bool),
    ) -> Justification {
        // The kernel's linear form and the atom's are both primitive, so they differ at most in sign, and a Farkas
        // coefficient fits both.
        let term = |lit: Lit, coefficient: Rational| {
            let (_, holds) = atom(lit);
            FarkasTerm { lit, side: if holds { Sign::Negative } else { Sign::Positive }, coefficient }
        };
        match self.argument(certificate) {
            ArithmeticArgument::PlainSum => {
                Justification::Farkas(clause.iter().map(|&lit| term(!lit, Rational::ONE)).collect())
            }
            ArithmeticArgument::Sum(terms) => {
                Justification::Farkas(terms.iter().map(|(lit, factor)| term(*lit, factor.clone())).collect())
            }
            ArithmeticArgument::Integer(terms) => {
                let terms = terms.iter().map(|confined| IntegerTerm {
                    form: self.poly(&self.form(confined.var)),
                    multiplier: confined.multiplier.clone(),
                    lower: confined.bounds[0],
                    upper: confined.bounds[1],
                });
                Justification::Integer(IntegerRefutation { terms: terms.collect() })
            }
            ArithmeticArgument::Order => Justification::Split,
        }
    }

    fn statistics(&self, counters: &mut Vec<(&'static str, u64)>) {
        let simplex = LinearArithmetic::statistics(self);
        counters.extend([
            ("simplex-checks", simplex.checks),
            ("simplex-conflicts", simplex.conflicts),
            ("simplex-pivots", simplex.pivots),
            ("simplex-bland-pivots", simplex.bland_pivots),
            ("simplex-row-additions", simplex.row_additions),
            ("simplex-woken-rows", simplex.woken),
            ("simplex-implied-bounds", simplex.implied),
            ("numbers", self.numbers.vars.len() as u64),
        ]);
    }
}

/// Adds the clauses that make an equation the conjunction of two inequalities.
fn tie(equation: Var, le: Lit, ge: Lit, answers: &mut Answers<'_>) {
    let equation = equation.positive();
    for clause in [&[!equation, le][..], &[!equation, ge], &[equation, !le, !ge]] {
        answers.lemma(clause, ORDER);
    }
}

fn without_cast(store: &TermStore, term: Term) -> Term {
    match store.view(term) {
        (Op::ToReal, &[inner]) => inner,
        _ => term,
    }
}

/// The numbers of a model.
struct NumberValues<'v> {
    numbers: &'v Numbers,
    /// By variables of the kernel.
    values: Vec<Rational>,
}

impl Values for NumberValues<'_> {
    fn symbol(&self, store: &TermStore, symbol: Term) -> Option<Value> {
        let var = self.numbers.vars.get(&symbol)?;
        Some(number(store.sort_of(symbol), &self.values[var.index()]))
    }

    fn shared(&self, _store: &TermStore, Handle(position): Handle, sort: Sort) -> Value {
        match &self.numbers.quantities[position as usize] {
            Quantity::Variable(var) => number(sort, &self.values[var.index()]),
            Quantity::Numeral(value) => number(sort, value),
        }
    }
}

/// A number as a value of one of the two sorts.
fn number(sort: Sort, value: &Rational) -> Value {
    if sort == Sort::INT {
        Value::Int(value.to_integer().expect("integer variables have integer values"))
    } else {
        Value::Real(value.clone())
    }
}
