//! The sorts and operators that the theories of this crate support.
//!
//! The matches are exhaustive, so a new sort or operator is not mistaken for a supported one. An unsupported one has a
//! [`Feature`], the name of the missing theory. The claim of an operator also determines whether congruence treats it
//! as a mere function; this is decided nowhere else.
//!
//! ```text
//! Bool, connectives, equality, ite          the search and congruence
//! declared sorts and functions              congruence
//! datatypes whose fields are supported      congruence with lemmas
//! arrays, see `arrays/sorts.rs`             congruence with lemmas
//! Int, Real and their operators             linear arithmetic; products and quotients only by numerals
//! ```

use shofar_logic::{Op, Sort, SortKind, Term, TermStore};

use super::arrays::supports_arrays;
use super::datatypes::sorts_below;
use crate::purify::{Feature, Unsupported};

/// Checks that the theories support everything in the formulas, as written or normal.
///
/// # Errors
///
/// An unsupported subterm.
pub fn supports(store: &TermStore, formulas: &[Term]) -> Result<(), Unsupported> {
    let normal: Vec<Term> = formulas.iter().map(|&formula| store.normalize(formula)).collect();
    store.subterms(&normal).into_iter().try_for_each(|term| role(store, term).map(|_| ()))
}

/// Checks that the theories support the sort.
///
/// # Errors
///
/// The missing feature.
pub fn supports_sort(store: &TermStore, sort: Sort) -> Result<(), Feature> {
    let supports = |sort: Sort| match store.sort_kind(sort) {
        SortKind::Bool | SortKind::Int | SortKind::Real | SortKind::Uninterpreted(..) => Ok(()),
        SortKind::BitVec(_) => Err(Feature::BitVectors),
        SortKind::Array(..) | SortKind::Datatype(_) => Ok(()),
    };
    match *store.sort_kind(sort) {
        SortKind::Array(Sort::INT, Sort::INT | Sort::BOOL | Sort::REAL) => Ok(()),
        SortKind::Array(..) | SortKind::Datatype(_) => {
            let sorts = sorts_below(store, sort);
            sorts.iter().copied().try_for_each(supports)?;
            supports_arrays(store, &sorts)
        }
        _ => supports(sort),
    }
}

/// How the theories treat a supported normal term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// A symbol, a value, or an operator interpreted by its theory or an earlier stage.
    Interpreted,
    /// A function application that congruence handles: of a declared function, of a constructor, selector or tester, of
    /// an operator of arrays, or division by zero.
    Function,
}

/// How the theories treat the operator of a normal term, with its arguments and its sort. Does not check the arguments
/// themselves.
pub(crate) fn role(store: &TermStore, term: Term) -> Result<Role, Unsupported> {
    let role = role_of_operator(store, term);
    let role = role.and_then(|role| supports_sort(store, store.sort_of(term)).map(|()| role));
    role.map_err(|feature| Unsupported { term, feature })
}

/// Whether congruence treats a normal term as an application of a function to arguments.
pub(crate) fn is_application(store: &TermStore, term: Term) -> bool {
    role_of_operator(store, term) == Ok(Role::Function)
}

fn role_of_operator(store: &TermStore, term: Term) -> Result<Role, Feature> {
    let (op, args) = store.view(term);
    let is_numeral = |arg: &Term| store.numeral(*arg).is_some();
    match op {
        Op::Apply(_) if !args.is_empty() => Ok(Role::Function),
        Op::Construct(_) | Op::Selector { .. } | Op::Tester(_) => Ok(Role::Function),
        Op::Select | Op::Store | Op::ConstArray(_) => Ok(Role::Function),
        Op::Var(_) | Op::Apply(_) | Op::Numeral(_) | Op::True | Op::False => Ok(Role::Interpreted),
        Op::Not | Op::And | Op::Or | Op::Xor | Op::Implies => Ok(Role::Interpreted),
        Op::Eq | Op::Distinct | Op::Ite => Ok(Role::Interpreted),
        Op::Add | Op::Sub | Op::Neg | Op::Abs => Ok(Role::Interpreted),
        Op::Le | Op::Lt | Op::Ge | Op::Gt => Ok(Role::Interpreted),
        Op::ToReal | Op::ToInt | Op::IsInt | Op::Divisible(_) => Ok(Role::Interpreted),
        Op::Mul if args.iter().any(is_numeral) => Ok(Role::Interpreted),
        Op::Mul => Err(Feature::NonlinearArithmetic),
        Op::RealDiv | Op::IntDiv | Op::Mod => match args.last().and_then(|&divisor| store.numeral(divisor)) {
            Some(divisor) if divisor.is_zero() => Ok(Role::Function),
            Some(_) => Ok(Role::Interpreted),
            None => Err(Feature::NonlinearArithmetic),
        },
        Op::Forall | Op::Exists => Err(Feature::Quantifiers),
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_logic::ConstructorSpec;

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
        assert_eq!(feature(app(Op::Eq, &[array, var("b", store.sort_of(array))])), None);
        let of_words = var("w", store.array_sort(Sort::INT, store.sort_of(word)));
        assert_eq!(
            feature(app(Op::Eq, &[of_words, var("v", store.sort_of(of_words))])),
            Some(Feature::BitVectors)
        );
        let finite = store.array_sort(Sort::BOOL, Sort::BOOL);
        let by_finite = var("f", store.array_sort(finite, Sort::INT));
        assert_eq!(
            feature(app(Op::Eq, &[by_finite, var("g", store.sort_of(by_finite))])),
            Some(Feature::Arrays)
        );
        assert_eq!(
            feature(app(Op::BvUlt, &[word, var("v", store.sort_of(word))])),
            Some(Feature::BitVectors)
        );
        assert_eq!(feature(app(Op::Forall, &[x, app(Op::Lt, &[x, y])])), Some(Feature::Quantifiers));
        assert_eq!(supports_sort(&store, declared), Ok(()));
    }

    #[test]
    fn a_datatype_is_supported_if_all_its_fields_are() {
        let store = TermStore::new();
        let declare = |name: &str, below: Sort| {
            let sort = store.new_datatype(store.symbol(name), &[]);
            let end = ConstructorSpec { name: store.symbol(&format!("{name}-end")), fields: Vec::new() };
            let fields = vec![(store.symbol("field"), below), (store.symbol("rest"), sort)];
            let more = ConstructorSpec { name: store.symbol(&format!("{name}-more")), fields };
            store.define_datatypes(&[(sort, vec![end, more])]).expect("it is inhabited")[0]
        };
        let numbers = declare("Numbers", Sort::INT);
        let arrays = declare("Arrays", store.array_sort(Sort::INT, Sort::INT));
        assert_eq!(supports_sort(&store, declare("Nested", numbers)), Ok(()));
        assert_eq!(supports_sort(&store, declare("Above", arrays)), Ok(()));
        let words = declare("Words", store.array_sort(Sort::INT, store.bitvec_sort(8)));
        assert_eq!(supports_sort(&store, declare("AboveWords", words)), Err(Feature::BitVectors));
    }

    #[test]
    fn functions_are_applications_and_what_no_theory_knows_is_none() {
        let store = TermStore::new();
        let x = store.var(store.symbol("x"), Sort::INT);
        let f = store.fun(store.symbol("f"), &[Sort::INT], Sort::INT);
        let array = store.var(store.symbol("a"), store.array_sort(Sort::INT, Sort::INT));
        assert!(is_application(&store, store.apply(f, &[x]).expect("well-sorted")));
        assert!(is_application(&store, store.int_div(x, store.int(0))));
        assert!(!is_application(&store, store.int_div(x, store.int(2))));
        let select = store.select(array, x);
        assert!(is_application(&store, select));
        // The sort of a function is checked, too.
        let to_word = store.fun(store.symbol("g"), &[Sort::INT], store.bitvec_sort(8));
        assert!(role(&store, store.apply(to_word, &[x]).expect("well-sorted")).is_err());
    }
}
