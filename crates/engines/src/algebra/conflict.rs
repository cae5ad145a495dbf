//! Why the clauses of a derivation have no values of datatypes: which components may tell.
//!
//! Most conjuncts of the constraints are equations between terms. Unification finds what is wrong with them:
//!
//! | conflict | components that tell |
//! |---|---|
//! | *difference*: without disequalities there are values | only numbers of the values: components of different values may be equal |
//! | *clash*: different constructors at a place of two equal terms | the constructors up to the depth of the place |
//! | *cycle*: a term is a part of itself | sizes |
//! | other: numbers, or choices | numbers in the values, or what a template finds |
//!
//! A difference is certain: values that satisfy everything but disequalities have components that satisfy the abstract constraints, in any
//! algebra. The other conflicts are guesses that save attempts: `refine.rs` takes no components that do not exclude the derivation.

use rustc_hash::FxHashMap;
use shofar_logic::{Op, Substitution, Term, TermStore};
use shofar_run::Stop;

use crate::Run;

/// What is wrong with equations between terms of datatypes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Conflict {
    /// Values that must differ.
    Difference,
    /// Different constructors at this depth; 0 is the outermost one.
    Clash { depth: usize },
    /// A term that is part of itself.
    Cycle,
    /// Something else.
    Other,
}

impl Conflict {
    /// The conflict of formulas without common solution.
    pub(super) fn of(run: &Run<'_>, formulas: &[Term]) -> Result<Conflict, Stop> {
        let mut solver = run.solver();
        let weaker = formulas.iter().map(|&formula| without_disequalities(run.store, formula));
        run.assert(&mut solver, &weaker.collect::<Vec<Term>>())?;
        match run.is_satisfiable(&mut solver, &[])? {
            true => Ok(Conflict::Difference),
            false => Ok(Conflict::of_equations(run.store, formulas)),
        }
    }

    /// The conflict of the equations among conjuncts. Terms that are not variables and constructor terms are left out.
    fn of_equations(store: &TermStore, formulas: &[Term]) -> Conflict {
        let mut solved: Vec<(Term, Term)> = Vec::new();
        let mut open: Vec<(Term, Term, usize)> = Vec::new();
        for conjunct in formulas.iter().flat_map(|&formula| store.conjuncts(formula)) {
            match store.view(conjunct) {
                (Op::Eq, &[a, b]) if store.datatype(store.sort_of(a)).is_some() => open.push((a, b, 0)),
                (Op::Tester(constructor), &[value]) => {
                    let sorts = store.constructor(constructor).fields.iter();
                    let fields: Vec<Term> =
                        sorts.map(|&(_, sort)| store.var(store.fresh_symbol("field"), sort)).collect();
                    open.push((value, store.construct_term(constructor, &fields), 0));
                }
                _ => {}
            }
        }
        while let Some((a, b, depth)) = open.pop() {
            let solution: Substitution = solved.iter().copied().collect();
            let (a, b) = (store.instantiate(a, &solution), store.instantiate(b, &solution));
            match (store.view(a), store.view(b)) {
                _ if a == b || store.datatype(store.sort_of(a)).is_none() => {}
                ((Op::Var(_), _), _) | (_, (Op::Var(_), _)) => {
                    let (variable, term) = if matches!(store.op(a), Op::Var(_)) { (a, b) } else { (b, a) };
                    if store.free_vars(&[term]).contains(&variable) {
                        match store.op(term) {
                            Op::Construct(_) => return Conflict::Cycle,
                            _ => continue,
                        }
                    }
                    let one = Substitution::from_iter([(variable, term)]);
                    solved.iter_mut().for_each(|(_, term)| *term = store.instantiate(*term, &one));
                    solved.push((variable, term));
                }
                ((Op::Construct(left), these), (Op::Construct(right), those)) => {
                    if left != right {
                        return Conflict::Clash { depth };
                    }
                    open.extend(these.iter().zip(those).map(|(&a, &b)| (a, b, depth + 1)));
                }
                _ => {}
            }
        }
        Conflict::Other
    }
}

/// The formula without the disequalities between values that components may not tell apart: neither value is a constructor without
/// fields, and not all constructors of the sort are.
fn without_disequalities(store: &TermStore, formula: Term) -> Term {
    let is_constant =
        |term: Term| matches!(store.view(term), (Op::Construct(_), fields) if fields.is_empty());
    let is_enumeration = |term: Term| {
        let datatype = store.datatype(store.sort_of(term));
        datatype.is_none_or(|datatype| {
            datatype
                .constructors()
                .iter()
                .all(|&constructor| store.constructor(constructor).fields.is_empty())
        })
    };
    let normal = store.nnf(formula);
    let is_literal = |term: Term| !matches!(store.op(term), Op::And | Op::Or);
    let mut meanings: FxHashMap<Term, Term> = FxHashMap::default();
    for part in store.subterms_until(&[normal], is_literal) {
        let meaning = match store.view(part) {
            (Op::And, args) => store.and_of(args.iter().map(|arg| meanings[arg])),
            (Op::Or, args) => store.or_of(args.iter().map(|arg| meanings[arg])),
            _ => match (store.literal(part), store.view(store.literal(part).0)) {
                ((_, false), (Op::Eq, &[a, b]))
                    if !(is_enumeration(a) || is_constant(a) || is_constant(b)) =>
                {
                    Term::TRUE
                }
                _ => part,
            },
        };
        meanings.insert(part, meaning);
    }
    meanings[&normal]
}

#[cfg(test)]
mod tests {
    use shofar_horn::parse;
    use shofar_logic::Sort;

    use super::*;

    #[test]
    fn clashes_have_a_depth_and_cycles_are_found() {
        let store = TermStore::new();
        let text = "(declare-datatypes ((N 0)) (((z) (s (p N))))) (declare-fun P (N) Bool)";
        let system = parse(&store, "test", text.as_bytes()).unwrap();
        let sort = store.fun_decl(system.predicates().next().unwrap().1).domain[0];
        let &[z, s] = store.datatype(sort).unwrap().constructors() else { panic!("two constructors") };
        let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), sort));
        let zero = store.construct_term(z, &[]);
        let next = |term: Term| store.construct_term(s, &[term]);
        let run = Run::new(&store);
        let conflict_of = |formulas: &[Term]| Conflict::of(&run, formulas).unwrap();
        let conflict = |equations: &[(Term, Term)]| {
            conflict_of(&equations.iter().map(|&(a, b)| store.eq(a, b)).collect::<Vec<Term>>())
        };
        assert_eq!(conflict(&[(x, zero), (x, next(y))]), Conflict::Clash { depth: 0 });
        assert_eq!(conflict(&[(x, next(zero)), (x, next(next(y)))]), Conflict::Clash { depth: 1 });
        assert_eq!(conflict(&[(x, next(y)), (y, next(next(x)))]), Conflict::Cycle);
        let tested = [store.tester(z, x), store.eq(x, next(y))];
        assert_eq!(conflict_of(&tested), Conflict::Clash { depth: 0 });
        let n = store.var(store.symbol("n"), Sort::INT);
        let numbers = [store.eq(x, next(y)), store.lt(n, store.int(0)), store.lt(store.int(0), n)];
        assert_eq!(conflict_of(&numbers), Conflict::Other);
        let differ = |a: Term, b: Term| store.not(store.eq(a, b));
        assert_eq!(conflict_of(&[store.eq(x, next(y)), differ(next(y), x)]), Conflict::Difference);
        assert_eq!(conflict_of(&[store.eq(x, zero), differ(x, zero)]), Conflict::Other);
    }
}
