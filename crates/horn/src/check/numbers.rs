//! Facts about folds that number the values of a datatype.
//!
//! A datatype is *monadic* if each constructor has no field, or one field of the datatype itself: Peano numbers, binary numbers.
//! A fold *numbers* it if, with one base `b > 0`,
//!
//! - N1: constants have different numbers `k`;
//! - N2: the number of `c(x)` is `b n(x) + d`, and the digits `d` of different constructors differ modulo `b`;
//! - N3: `b k + d` exceeds all numbers of constants, for the least `k` of them and all digits.
//!
//! By induction on the values and N3, all numbers are at least the least `k`, and those of constants are less than the others.
//! With N1 and N2, different values have different numbers. So these facts are true for all terms of the datatype in a query, and a
//! refutation with them is one:
//!
//! - `n(t)` is at least the least `k`; and `n(t) = k` exactly if `t` is the constant with number `k`;
//! - `n(s) = n(t)` only if `s = t`.
//!
//! For Peano numbers, `n(zero) = 0` and `n(succ(x)) = n(x) + 1`, they are also enough: if a query over the datatype and numbers has a model
//! with the facts, then the values of `n` for its terms respect equality, `zero`, `succ` and `pred`, so the values of these numbers
//! satisfy the query.

use rustc_hash::FxHashMap;
use shofar_logic::number::Integer;
use shofar_logic::{
    Assignment, ConstructorId, Fun, Interpretation, LinearPoly, Op, Sort, Term, TermStore, Value,
};

/// The maximal number of terms of a datatype that are compared with each other.
const MOST_COMPARED: usize = 100;

/// The greatest number of constructors in a value of a counterexample.
const MOST_CONSTRUCTORS: usize = 10_000;

/// A fold that numbers the values of a datatype.
pub(super) struct Numbering {
    pub(super) fun: Fun,
    pub(super) sort: Sort,
    pub(super) base: Integer,
    /// The constants and their numbers.
    pub(super) constants: Vec<(ConstructorId, Integer)>,
    /// The other constructors and their digits.
    pub(super) digits: Vec<(ConstructorId, Integer)>,
    /// The least number.
    pub(super) least: Integer,
}

impl Numbering {
    /// The fold, if it numbers the values of its datatype: N1 to N3 hold.
    pub(super) fn of(store: &TermStore, fun: Fun) -> Option<Self> {
        let fold = store.fold(fun)?;
        let sort = fold.sort(store);
        if !fold.ghosts.is_empty() || store.fun_decl(fun).range != Sort::INT {
            return None;
        }
        let (mut constants, mut digits) = (Vec::new(), Vec::new());
        let mut base: Option<Integer> = None;
        for case in &fold.cases {
            let value = LinearPoly::from_term(store, case.value);
            let constant = value.constant().to_integer()?;
            match (&*case.fields, value.terms()) {
                ([], []) => constants.push((case.constructor, constant)),
                (&[field], [(below, factor)]) => {
                    let factor = factor.to_integer()?;
                    let is_number = store.view(*below) == (Op::Apply(fun), &[field]);
                    if !is_number || base.as_ref().is_some_and(|base| *base != factor) {
                        return None;
                    }
                    base = Some(factor);
                    digits.push((case.constructor, constant));
                }
                _ => return None,
            }
        }
        let base = base.filter(Integer::is_positive)?;
        let least = constants.iter().map(|(_, number)| number).min()?.clone();
        let greatest = constants.iter().map(|(_, number)| number).max()?;
        let are_different = |numbers: &mut Vec<Integer>| {
            numbers.sort_unstable();
            numbers.windows(2).all(|pair| pair[0] != pair[1])
        };
        let is_numbering = are_different(&mut constants.iter().map(|(_, number)| number.clone()).collect())
            && are_different(&mut digits.iter().map(|(_, digit)| digit.rem_euclid(&base)).collect())
            && digits.iter().all(|(_, digit)| &base * &least + digit > *greatest);
        is_numbering.then_some(Numbering { fun, sort, base, constants, digits, least })
    }

    /// The folds of formulas that number their datatypes.
    pub(super) fn all(store: &TermStore, formulas: &[Term]) -> Vec<Self> {
        store.folds_in(formulas).into_iter().filter_map(|fun| Numbering::of(store, fun)).collect()
    }

    /// The value with this number, if there is one that is not too large.
    fn value(&self, store: &TermStore, mut number: Integer) -> Option<Term> {
        let mut outer: Vec<ConstructorId> = Vec::new();
        loop {
            if let Some(&(constant, _)) = self.constants.iter().find(|(_, known)| *known == number) {
                let innermost = store.construct_term(constant, &[]);
                let wrap = |below, &constructor: &ConstructorId| store.construct_term(constructor, &[below]);
                return Some(outer.iter().rev().fold(innermost, wrap));
            }
            let is_made =
                |(_, digit): &&(ConstructorId, Integer)| (&number - digit).rem_euclid(&self.base).is_zero();
            let (constructor, digit) = self.digits.iter().find(is_made)?;
            number = (&number - digit).div_euclid(&self.base);
            outer.push(*constructor);
            if number < self.least || outer.len() > MOST_CONSTRUCTORS {
                return None;
            }
        }
    }
}

/// The facts about the folds in formulas that number datatypes; none if they apply no such function.
pub(super) fn facts(store: &TermStore, formulas: &[Term]) -> Vec<Term> {
    let mut all: Vec<Term> = formulas.to_vec();
    all.extend(formulas.iter().map(|&formula| store.normalize(formula)));
    let numberings = Numbering::all(store, &all);
    if numberings.is_empty() {
        return Vec::new();
    }
    let mut terms: FxHashMap<Sort, Vec<Term>> = FxHashMap::default();
    for term in store.subterms(&all) {
        terms.entry(store.sort_of(term)).or_default().push(term);
    }
    let mut facts = Vec::new();
    for numbering in &numberings {
        if let Some(terms) = terms.get(&numbering.sort) {
            of_terms(store, numbering, terms, &mut facts);
        }
    }
    facts
}

fn of_terms(store: &TermStore, numbering: &Numbering, terms: &[Term], facts: &mut Vec<Term>) {
    let apply = |term: Term| store.apply(numbering.fun, &[term]);
    let number = |term: Term| apply(term).expect("the term has the sort of the function");
    let is_made = |term: Term| matches!(store.op(term), Op::Construct(_));
    for &term in terms {
        facts.push(store.ge(number(term), store.int(numbering.least.clone())));
        if !is_made(term) {
            for (constant, known) in &numbering.constants {
                let is_constant = store.tester(*constant, term);
                facts.push(store.iff(is_constant, store.eq(number(term), store.int(known.clone()))));
            }
        }
    }
    let compared = &terms[..terms.len().min(MOST_COMPARED)];
    for (position, &a) in compared.iter().enumerate() {
        // Two constructor terms are equal if the terms below are.
        for &b in compared[..position].iter().filter(|&&b| !is_made(a) || !is_made(b)) {
            facts.push(store.implies(store.eq(number(a), number(b)), store.eq(a, b)));
        }
    }
}

/// The assignment in which variables of numbered datatypes are the values whose numbers the solver gave. The solver gives
/// values to the variables and to the functions independently of each other.
pub(super) fn with_numbers(
    store: &TermStore,
    formulas: &[Term],
    assignment: &Assignment,
    variables: &[Term],
) -> Assignment {
    let mut numbered = assignment.clone();
    for numbering in Numbering::all(store, formulas) {
        let of_sort = variables.iter().filter(|&&variable| store.sort_of(variable) == numbering.sort);
        for &variable in of_sort {
            let Some(value) = assignment.get(variable) else { continue };
            let Some(Interpretation::Table { entries, default }) = assignment.function(numbering.fun) else {
                continue;
            };
            let number = entries.get(std::slice::from_ref(value)).or(default.as_ref());
            let number = number.and_then(Value::as_int).cloned();
            if let Some(value) = number.and_then(|number| numbering.value(store, number)) {
                numbered.set(variable, Value::Term(value));
            }
        }
    }
    numbered
}

#[cfg(test)]
mod tests {
    use shofar_logic::{FoldCase, FoldSpec};

    use super::*;
    use crate::parse;

    /// All small choices of numbers, base and digits for two constants and two digits.
    #[test]
    fn a_fold_that_numbers_a_datatype_is_one_to_one() {
        let store = TermStore::new();
        let text = "(declare-datatypes ((D 0)) (((a) (u (v D)) (b) (x (y D))))) (declare-fun P (D) Bool)";
        let system = parse(&store, "test", text.as_bytes()).unwrap();
        let sort = store.fun_decl(system.predicates[0]).domain[0];
        let constructors = store.datatype(sort).unwrap().constructors();
        let mut values: Vec<Term> = vec![];
        for _ in 0..5 {
            let below = values.clone();
            values = [0, 2].map(|at| store.construct_term(constructors[at], &[])).to_vec();
            for at in [1, 3] {
                values.extend(below.iter().map(|&value| store.construct_term(constructors[at], &[value])));
            }
        }
        let field = store.var(store.symbol("field"), sort);
        let mut accepted = 0;
        for choice in 0..4 * 4_i64.pow(4) {
            let number = |at: u32| choice / 4_i64.pow(at) % 4;
            let (base, offsets) = (number(0), [1, 2, 3, 4].map(|at| number(at) - 1));
            let fun = store.new_fold(store.fresh_symbol("n"), sort, &[], Sort::INT);
            let below = store.apply(fun, &[field]).unwrap();
            let case = |(&constructor, &offset): (&ConstructorId, &i64)| {
                let has_field = !store.constructor(constructor).fields.is_empty();
                let scaled = store.mul_const(&base.into(), below);
                let (fields, rest) = if has_field { (vec![field], scaled) } else { (vec![], store.int(0)) };
                FoldCase { constructor, fields: fields.into(), value: store.add(&[rest, store.int(offset)]) }
            };
            let cases = constructors.iter().zip(&offsets).map(case).collect();
            let fun = store.define_folds(&[FoldSpec { fun, ghosts: Vec::new(), cases }]).unwrap()[0];
            let Some(numbering) = Numbering::of(&store, fun) else { continue };
            accepted += 1;
            let mut numbers: Vec<Integer> = Vec::new();
            for &value in &values {
                let number = store.eval(store.apply(fun, &[value]).unwrap(), &Assignment::new()).unwrap();
                let number = number.as_int().unwrap().clone();
                assert_eq!(numbering.value(&store, number.clone()), Some(value));
                numbers.push(number);
            }
            numbers.sort_unstable();
            assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{offsets:?} with base {base}");
        }
        assert!(accepted >= 16, "{accepted}");
    }
}
