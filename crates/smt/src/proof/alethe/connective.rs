//! The clauses of connectives: Alethe's clausification without premises.

use rustc_hash::FxHashSet;
use shofar_logic::{Op, Sort, Term, TermStore};

use super::derive::{Derivation, Source, literal, negation};
use super::steps::Arg;

/// Offers the clauses of all connectives of the formulas, which may be written in any way. Returns the atoms below.
pub(super) fn explain(
    store: &TermStore,
    derivation: &mut Derivation<'_>,
    known: &mut FxHashSet<Term>,
    formulas: impl IntoIterator<Item = Term>,
) -> Vec<Term> {
    let mut atoms = Vec::new();
    let mut open: Vec<Term> = formulas.into_iter().collect();
    while let Some(formula) = open.pop() {
        let ((formula, _), _) = literal(store, formula);
        if !known.insert(formula) {
            continue;
        }
        let (op, args) = store.view(formula);
        let clauses = clauses(store, formula);
        if clauses.is_empty() {
            if op == Op::Distinct && store.sort_of(args[0]) != Sort::BOOL {
                open.push(without_distinct(store, derivation, formula));
            } else if args.len() > 2 && matches!(op, Op::Eq | Op::Le | Op::Lt | Op::Ge | Op::Gt) {
                open.push(without_chain(store, derivation, formula));
            } else if let Some((equation, _)) = integrality(store, formula) {
                derivation.offer(vec![equation], Source::Rule("hole", Vec::new()));
                open.push(equation);
            } else {
                atoms.push(formula);
            }
            continue;
        }
        for (rule, args, clause) in clauses {
            derivation.offer(clause, Source::Rule(rule, args));
        }
        open.extend_from_slice(args);
    }
    atoms
}

/// A rule with its arguments, and the clause that it gives.
pub(super) type RuleClause = (&'static str, Vec<Arg>, Vec<Term>);

/// The clauses of a connective; none for other operators.
fn clauses(store: &TermStore, formula: Term) -> Vec<RuleClause> {
    let not = |formula: Term| negation(store, formula);
    let plain = |rule: &'static str, clause: Vec<Term>| (rule, Vec::new(), clause);
    let denied = not(formula);
    match store.view(formula) {
        (Op::True, _) => vec![plain("true", vec![formula])],
        (Op::False, _) => vec![plain("false", vec![denied])],
        (Op::And | Op::Or, args) => {
            let wide = junction_clause(store, formula);
            let narrow = (0..args.len()).map(|position| argument_clause(store, formula, position));
            [wide].into_iter().chain(narrow).collect()
        }
        (Op::Implies, &[a, b]) => vec![
            plain("implies_pos", vec![denied, not(a), b]),
            plain("implies_neg1", vec![formula, a]),
            plain("implies_neg2", vec![formula, not(b)]),
        ],
        (Op::Xor, &[a, b]) => vec![
            plain("xor_pos1", vec![denied, a, b]),
            plain("xor_pos2", vec![denied, not(a), not(b)]),
            plain("xor_neg1", vec![formula, a, not(b)]),
            plain("xor_neg2", vec![formula, not(a), b]),
        ],
        (Op::Eq, &[a, b]) if store.sort_of(a) == Sort::BOOL => vec![
            plain("equiv_pos1", vec![denied, a, not(b)]),
            plain("equiv_pos2", vec![denied, not(a), b]),
            plain("equiv_neg1", vec![formula, not(a), not(b)]),
            plain("equiv_neg2", vec![formula, a, b]),
        ],
        (Op::Ite, &[c, a, b]) if store.sort_of(a) == Sort::BOOL => vec![
            plain("ite_pos1", vec![denied, c, b]),
            plain("ite_pos2", vec![denied, not(c), a]),
            plain("ite_neg1", vec![formula, c, not(b)]),
            plain("ite_neg2", vec![formula, not(c), not(a)]),
        ],
        _ => Vec::new(),
    }
}

/// The clause of a conjunction or disjunction with all its arguments.
pub(super) fn junction_clause(store: &TermStore, junction: Term) -> RuleClause {
    let (op, args) = store.view(junction);
    let not = |formula: &Term| negation(store, *formula);
    match op {
        Op::And => ("and_neg", Vec::new(), [junction].into_iter().chain(args.iter().map(not)).collect()),
        _ => ("or_pos", Vec::new(), [not(&junction)].into_iter().chain(args.iter().copied()).collect()),
    }
}

/// The clause of a conjunction or disjunction with one of its arguments.
pub(super) fn argument_clause(store: &TermStore, junction: Term, position: usize) -> RuleClause {
    let (op, args) = store.view(junction);
    let position_arg = vec![Arg::position(position)];
    match op {
        Op::And => ("and_pos", position_arg, vec![negation(store, junction), args[position]]),
        _ => ("or_neg", position_arg, vec![junction, negation(store, args[position])]),
    }
}

/// The equation that expresses that a number is divisible, or an integer, and the remainder or the integer in it.
pub(super) fn integrality(store: &TermStore, formula: Term) -> Option<(Term, Term)> {
    let (op, &[number]) = store.view(formula) else { return None };
    let (part, meaning) = match op {
        Op::Divisible(divisor) => {
            let rest = store.app(Op::Mod, &[number, store.int(store.integer(divisor).clone())]).ok()?;
            (rest, store.app(Op::Eq, &[rest, store.int(0)]).ok()?)
        }
        Op::IsInt => {
            let floor = store.app(Op::ToInt, &[number]).ok()?;
            (floor, store.app(Op::Eq, &[store.app(Op::ToReal, &[floor]).ok()?, number]).ok()?)
        }
        _ => return None,
    };
    Some((store.app(Op::Eq, &[formula, meaning]).ok()?, part))
}

/// Offers that a chain of comparisons is the conjunction of those between neighbours, and returns this equation.
fn without_chain(store: &TermStore, derivation: &mut Derivation<'_>, chain: Term) -> Term {
    let (op, args) = store.view(chain);
    let app = |op: Op, args: &[Term]| store.app(op, args).expect("arguments of one sort are compared");
    let links: Vec<Term> = args.windows(2).map(|pair| app(op, pair)).collect();
    let equation = app(Op::Eq, &[chain, app(Op::And, &links)]);
    derivation.offer(vec![equation], Source::Rule("nary_elim", Vec::new()));
    equation
}

/// Offers that `distinct` is a conjunction of disequalities, and returns this equation.
fn without_distinct(store: &TermStore, derivation: &mut Derivation<'_>, distinct: Term) -> Term {
    let args = store.args(distinct);
    let app = |op: Op, args: &[Term]| store.app(op, args).expect("arguments of one sort are compared");
    let pairs = (0..args.len()).flat_map(|i| (i + 1..args.len()).map(move |j| (i, j)));
    let mut different: Vec<Term> =
        pairs.map(|(i, j)| negation(store, app(Op::Eq, &[args[i], args[j]]))).collect();
    let meaning = if different.len() == 1 { different.swap_remove(0) } else { app(Op::And, &different) };
    let equation = app(Op::Eq, &[distinct, meaning]);
    derivation.offer(vec![equation], Source::Rule("distinct_elim", Vec::new()));
    equation
}
