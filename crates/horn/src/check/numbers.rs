//! Facts about the number functions of Peano datatypes.
//!
//! The function `n` that maps `zero` to 0 and `succ(x)` to `n(x) + 1` is a fold (`folds.rs`). In addition, for all terms of the
//! datatype in a query:
//!
//! - `n(t) >= 0`; and `n(t) = 0` exactly if `t` is `zero`;
//! - `n(s) = n(t)` only if `s = t`.
//!
//! By induction on its values, `n` maps the datatype one-to-one to the natural numbers. So the facts are true, and a
//! refutation with them is one. They are also enough: if a query over the datatype and numbers has a model with the facts,
//! then the values of `n` for its terms respect equality, `zero`, `succ` and `pred`, so the values `succ(.. succ(zero))` of
//! these numbers satisfy the query.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Assignment, Interpretation, Op, Peano, Sort, Term, TermStore, Value};

/// The maximal number of terms of a datatype that are compared with each other.
const MOST_COMPARED: usize = 100;

/// The greatest number of successors in a counterexample.
const MOST_SUCCESSORS: u64 = 10_000;

/// The facts about the number functions in formulas; none if they apply no such function.
pub(super) fn facts(store: &TermStore, formulas: &[Term]) -> Vec<Term> {
    let mut all: Vec<Term> = formulas.to_vec();
    all.extend(formulas.iter().map(|&formula| store.normalize(formula)));
    let subterms = store.subterms(&all);
    let folds = store.folds_in(&all);
    let sorts: FxHashSet<Sort> =
        folds.into_iter().filter_map(|fun| store.number_function_sort(fun)).collect();
    let mut facts = Vec::new();
    let mut terms: FxHashMap<Sort, Vec<Term>> = FxHashMap::default();
    for &term in subterms.iter().filter(|&&term| sorts.contains(&store.sort_of(term))) {
        terms.entry(store.sort_of(term)).or_default().push(term);
    }
    let mut sorts: Vec<Sort> = sorts.into_iter().collect();
    sorts.sort_unstable();
    for sort in sorts {
        let (Some(terms), Some(peano)) = (terms.get(&sort), store.peano(sort)) else { continue };
        of_terms(store, peano, sort, terms, &mut facts);
    }
    facts
}

fn of_terms(store: &TermStore, peano: Peano, sort: Sort, terms: &[Term], facts: &mut Vec<Term>) {
    let function = store.number_function(sort);
    let number = |term: Term| store.apply(function, &[term]).expect("the term has the sort of the function");
    let is_made = |term: Term| matches!(store.op(term), Op::Construct(_));
    for &term in terms {
        facts.push(store.ge(number(term), store.int(0)));
        if !is_made(term) {
            let is_zero = store.tester(peano.zero, term);
            facts.push(store.iff(is_zero, store.eq(number(term), store.int(0))));
        }
    }
    let compared = &terms[..terms.len().min(MOST_COMPARED)];
    for (position, &a) in compared.iter().enumerate() {
        // Two successors are equal if the terms below are.
        for &b in compared[..position].iter().filter(|&&b| !is_made(a) || !is_made(b)) {
            facts.push(store.implies(store.eq(number(a), number(b)), store.eq(a, b)));
        }
    }
}

/// The assignment in which variables of Peano datatypes are the numbers that their number functions have. The solver
/// gives values to the variables and to the functions independently of each other.
pub(super) fn with_numbers(store: &TermStore, assignment: &Assignment, variables: &[Term]) -> Assignment {
    let mut numbered = assignment.clone();
    for &variable in variables {
        let sort = store.sort_of(variable);
        let (Some(peano), Some(value)) = (store.peano(sort), assignment.get(variable)) else { continue };
        let Some(Interpretation::Table { entries, default }) =
            assignment.function(store.number_function(sort))
        else {
            continue;
        };
        let number = entries.get(std::slice::from_ref(value)).or(default.as_ref());
        let number = number.and_then(Value::as_int).and_then(|number| number.to_u64());
        if let Some(number) = number.filter(|&number| number <= MOST_SUCCESSORS) {
            let zero = store.construct_term(peano.zero, &[]);
            numbered.set(variable, Value::Term(store.successors(zero, number)));
        }
    }
    numbered
}
