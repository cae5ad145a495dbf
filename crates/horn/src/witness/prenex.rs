//! Universal quantifiers in front of definitions.
//!
//! A definition with ghosts is `forall g. F`. The ways back of transformations add conjuncts and disjuncts to it: the argument is a
//! list that is not empty, *and* `forall g. F`. Here the quantifiers come to the front again, as the checker needs them.
//!
//! - Conjuncts share bound variables: `(forall g. F) and (forall h. G)` is `forall g. F and G[g/h]`.
//! - Disjuncts do not: `(forall g. F) or (forall h. G)` is `forall g, h. F or G`.
//!
//! Quantifiers elsewhere stay where they are.

use shofar_logic::{Op, Substitution, Term, TermStore};

/// The formula with its universal quantifiers below conjunctions and disjunctions in front, and with short names for their
/// variables.
pub(crate) fn prenex(store: &TermStore, formula: Term) -> Term {
    if !store.is_quantified(formula) {
        return formula;
    }
    let pulled = store.rewrite(formula, &mut |op, args| match op {
        Op::And | Op::Or if args.iter().any(|&arg| store.op(arg) == Op::Forall) => pull(store, op, args),
        _ => store.build(op, args).expect("the arguments have the sorts of those before"),
    });
    match store.view(pulled) {
        (Op::Forall, [bound @ .., body]) => {
            let names = short_names(store, pulled, bound);
            let renaming: Substitution = bound.iter().copied().zip(names.iter().copied()).collect();
            quantify(store, &names, store.substitute(*body, &renaming))
        }
        _ => pulled,
    }
}

/// A conjunction or disjunction with the quantifiers of its arguments in front.
fn pull(store: &TermStore, op: Op, args: &[Term]) -> Term {
    let mut bound: Vec<Term> = Vec::new();
    let mut parts: Vec<Term> = Vec::with_capacity(args.len());
    for &arg in args {
        let (Op::Forall, [own @ .., body]) = store.view(arg) else {
            parts.push(arg);
            continue;
        };
        let shared = if op == Op::And { bound.clone() } else { Vec::new() };
        let mut free = shared.into_iter();
        let mut renaming = Substitution::new();
        for &variable in own {
            let sort = store.sort_of(variable);
            let known = free.find(|&other| store.sort_of(other) == sort);
            let new = known.unwrap_or_else(|| {
                let new = store.var(store.fresh_symbol("g"), sort);
                bound.push(new);
                new
            });
            renaming.insert(variable, new);
        }
        parts.push(store.substitute(*body, &renaming));
    }
    let body = store.build(op, &parts).expect("the parts are formulas");
    quantify(store, &bound, body)
}

fn quantify(store: &TermStore, bound: &[Term], body: Term) -> Term {
    let args: Vec<Term> = bound.iter().copied().chain([body]).collect();
    store.app(Op::Forall, &args).expect("the body is a formula")
}

/// Names for bound variables that no free variable has: `g`, `g1`, and so on.
fn short_names(store: &TermStore, formula: Term, bound: &[Term]) -> Vec<Term> {
    let free = store.free_vars(&[formula]);
    let is_taken = |name: &str| {
        free.iter().any(|&variable| matches!(store.op(variable), Op::Var(other) if store.name(other) == name))
    };
    let candidates =
        (0_usize..).map(|number| if number == 0 { "g".to_owned() } else { format!("g{number}") });
    let names = candidates.filter(|name| !is_taken(name));
    bound
        .iter()
        .zip(names)
        .map(|(&variable, name)| store.var(store.symbol(&name), store.sort_of(variable)))
        .collect()
}

#[cfg(test)]
mod tests {
    use shofar_logic::Sort;

    use super::*;

    #[test]
    fn conjuncts_share_bound_variables_and_disjuncts_do_not() {
        let store = TermStore::new();
        let [x, g, h] = ["x", "a", "b"].map(|name| store.var(store.symbol(name), Sort::INT));
        let less = |bound: Term| {
            let body = store.app(Op::Le, &[x, bound]).unwrap();
            store.app(Op::Forall, &[bound, body]).unwrap()
        };
        let is_positive = store.app(Op::Ge, &[x, store.int(0)]).unwrap();
        let bound = |op: Op, args: &[Term]| {
            let formula = prenex(&store, store.app(op, args).unwrap());
            let (Op::Forall, [bound @ .., body]) = store.view(formula) else {
                panic!("a quantifier in front")
            };
            assert!(!store.is_quantified(*body) && store.free_vars(&[formula]) == [x]);
            let shown = bound.iter().map(|&variable| store.display(variable).to_string());
            shown.collect::<Vec<String>>()
        };
        assert_eq!(bound(Op::And, &[is_positive, less(g), less(h)]), ["g"]);
        assert_eq!(bound(Op::Or, &[is_positive, less(g), less(h)]), ["g", "g1"]);
        assert_eq!(prenex(&store, is_positive), is_positive);
    }

    #[test]
    fn bound_variables_are_not_captured() {
        let store = TermStore::new();
        let [x, bound] = ["g", "b"].map(|name| store.var(store.symbol(name), Sort::INT));
        let body = store.app(Op::Le, &[x, bound]).unwrap();
        let formula = store.app(Op::Forall, &[bound, body]).unwrap();
        assert_eq!(
            store.display(prenex(&store, formula)).to_string(),
            "(forall ((g1 Int)) (<= (+ g (* (- 1) g1)) 0))"
        );
    }
}
