//! Which sorts and operators the theories of this crate know.
//!
//! All sorts and operators are listed, so that one that is added somewhere is not taken for one that a theory knows. What no
//! theory knows has a [`Feature`], the name of what is missing.
//!
//! ```text
//! Bool, connectives, equality, ite          the search and congruence
//! declared sorts and functions              congruence
//! Int, Real and their operators             linear arithmetic; products and quotients only by numerals
//! ```

use shofar_logic::{Op, Sort, SortKind, Term, TermStore};

use crate::purify::{Feature, Unsupported};

/// Whether the theories know all that occurs in the formulas, as written or normal.
///
/// # Errors
///
/// A subterm that they do not know.
pub fn supports(store: &TermStore, formulas: &[Term]) -> Result<(), Unsupported> {
    let normal: Vec<Term> = formulas.iter().map(|&formula| store.normalize(formula)).collect();
    store.subterms(&normal).into_iter().try_for_each(|term| supports_operator(store, term))
}

/// Whether the theories know the sort.
///
/// # Errors
///
/// What it would take.
pub fn supports_sort(store: &TermStore, sort: Sort) -> Result<(), Feature> {
    match store.sort_kind(sort) {
        SortKind::Bool | SortKind::Int | SortKind::Real | SortKind::Uninterpreted(..) => Ok(()),
        SortKind::Array(..) => Err(Feature::Arrays),
        SortKind::BitVec(_) => Err(Feature::BitVectors),
        SortKind::Datatype(_) => Err(Feature::Datatypes),
    }
}

/// Whether the theories know the operator of a normal term, for its arguments, and its sort. Whether they know the
/// arguments is not looked at.
pub(crate) fn supports_operator(store: &TermStore, term: Term) -> Result<(), Unsupported> {
    let (op, args) = store.view(term);
    let is_numeral = |arg: &Term| store.numeral(*arg).is_some();
    let known = match op {
        Op::Var(_) | Op::Apply(_) | Op::Numeral(_) | Op::True | Op::False => Ok(()),
        Op::Not | Op::And | Op::Or | Op::Xor | Op::Implies => Ok(()),
        Op::Eq | Op::Distinct | Op::Ite => Ok(()),
        Op::Add | Op::Sub | Op::Neg | Op::Abs | Op::Le | Op::Lt | Op::Ge | Op::Gt => Ok(()),
        Op::ToReal | Op::ToInt | Op::IsInt | Op::Divisible(_) => Ok(()),
        Op::Mul if args.iter().any(is_numeral) => Ok(()),
        Op::RealDiv | Op::IntDiv | Op::Mod if args.last().is_some_and(is_numeral) => Ok(()),
        Op::Mul | Op::RealDiv | Op::IntDiv | Op::Mod => Err(Feature::NonlinearArithmetic),
        Op::Forall | Op::Exists => Err(Feature::Quantifiers),
        Op::Select | Op::Store | Op::ConstArray(_) => Err(Feature::Arrays),
        Op::Construct(_) | Op::Selector { .. } | Op::Tester(_) => Err(Feature::Datatypes),
        Op::BvNumeral(_)
        | Op::Concat
        | Op::Extract { .. }
        | Op::BvNot
        | Op::BvNeg
        | Op::BvAnd
        | Op::BvOr
        | Op::BvXor
        | Op::BvNand
        | Op::BvNor
        | Op::BvXnor
        | Op::BvComp
        | Op::BvAdd
        | Op::BvSub
        | Op::BvMul
        | Op::BvUdiv
        | Op::BvUrem
        | Op::BvSdiv
        | Op::BvSrem
        | Op::BvSmod
        | Op::BvShl
        | Op::BvLshr
        | Op::BvAshr
        | Op::Repeat(_)
        | Op::ZeroExtend(_)
        | Op::SignExtend(_)
        | Op::RotateLeft(_)
        | Op::RotateRight(_)
        | Op::BvUlt
        | Op::BvUle
        | Op::BvUgt
        | Op::BvUge
        | Op::BvSlt
        | Op::BvSle
        | Op::BvSgt
        | Op::BvSge
        | Op::BvNegO
        | Op::BvUaddO
        | Op::BvSaddO
        | Op::BvUsubO
        | Op::BvSsubO
        | Op::BvUmulO
        | Op::BvSmulO
        | Op::BvSdivO
        | Op::UbvToInt
        | Op::SbvToInt
        | Op::IntToBv(_) => Err(Feature::BitVectors),
    };
    let known = known.and_then(|()| supports_sort(store, store.sort_of(term)));
    known.map_err(|feature| Unsupported { term, feature })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_theory_owns_is_refused_with_its_name() {
        let store = TermStore::new();
        let var = |name: &str, sort| store.var(store.symbol(name), sort);
        let (x, y) = (var("x", Sort::INT), var("y", Sort::INT));
        let declared = store.sort(SortKind::Uninterpreted(store.symbol("S"), Box::default()));
        let array = var("a", store.array_sort(Sort::INT, declared));
        let word = var("w", store.bitvec_sort(8));
        let feature = |formula: Term| supports(&store, &[formula]).err().map(|error| error.feature);
        let app = |op, args: &[Term]| store.app(op, args).expect("well-sorted");
        assert_eq!(feature(app(Op::Le, &[x, app(Op::Mul, &[store.int(2), y])])), None);
        assert_eq!(feature(app(Op::Eq, &[var("s", declared), var("t", declared)])), None);
        assert_eq!(feature(app(Op::Le, &[x, app(Op::Mul, &[x, y])])), Some(Feature::NonlinearArithmetic));
        assert_eq!(feature(app(Op::Eq, &[array, var("b", store.sort_of(array))])), Some(Feature::Arrays));
        assert_eq!(
            feature(app(Op::BvUlt, &[word, var("v", store.sort_of(word))])),
            Some(Feature::BitVectors)
        );
        assert_eq!(feature(app(Op::Forall, &[x, app(Op::Lt, &[x, y])])), Some(Feature::Quantifiers));
        assert_eq!(supports_sort(&store, declared), Ok(()));
    }
}
