//! Turns asserted formulas into Horn clauses.
//!
//! A clause is a set of formulas that must not hold together: the atoms of its body, its constraint, and the negation
//! of its head. So an assertion `F` starts as the one clause that forbids `¬F`, and is decomposed from the outside:
//!
//! ```text
//! forbidden together         becomes
//! ¬¬A                        A
//! A ∧ B                      A, B
//! A ∨ B                      two clauses, with A and with B
//! ∃x A  (also ¬∀x A)         A, and x is a variable of the clause
//! P(t)                       an atom of the body
//! ¬P(t)                      the head
//! C, without predicates      part of the constraint; also ∀x C and ¬∃x C
//! ```
//!
//! Implication, equivalence, exclusive or and if-then-else are decomposed by their definitions. Only formulas with
//! predicates or quantifiers are decomposed; constraints stay as written. Formulas that do not end in Horn clauses (two
//! heads, a predicate inside a term, a predicate below a quantifier alternation) are reported.
//!
//! A formula that occurs twice in one clause counts once, so shared subformulas do no harm. Disjunctions of predicates
//! multiply clauses; [`MOST_CLAUSES`] bounds the clauses of one assertion.

use std::fmt;

use rustc_hash::FxHashSet;
use shofar_logic::{Op, Sort, Substitution, Symbol, Term, TermStore};
use shofar_run::{Poll, Reason};

/// The maximal number of clauses of one assertion.
const MOST_CLAUSES: usize = 100_000;

/// Alternatives between two polls of the limits.
const STOP_INTERVAL: usize = 64;

/// A clause over terms: like [`Clause`](crate::Clause), with predicate applications for atoms.
#[derive(Clone, Default)]
pub(crate) struct RawClause {
    pub(crate) variables: Vec<Term>,
    pub(crate) body: Vec<Term>,
    pub(crate) constraint: Vec<Term>,
    pub(crate) head: Option<Term>,
}

/// The reason why a formula is not a set of Horn clauses.
#[derive(Debug)]
pub(crate) enum NotHorn {
    TwoHeads(Symbol, Symbol),
    PredicateInTerm(Symbol),
    QuantifierInTerm,
    UniversalInBody(Symbol),
    ExistentialInHead(Symbol),
    TooManyClauses,
    /// A limit was reached before this was decided.
    Interrupted(Reason),
}

impl NotHorn {
    pub(crate) fn display<'a>(&'a self, store: &'a TermStore) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| match self {
            NotHorn::TwoHeads(first, second) => {
                let (first, second) = (store.display_symbol(*first), store.display_symbol(*second));
                write!(f, "not a Horn clause: both `{first}` and `{second}` would be its head")
            }
            NotHorn::PredicateInTerm(name) => {
                let name = store.display_symbol(*name);
                write!(f, "not a Horn clause: predicate `{name}` occurs inside a term")
            }
            NotHorn::QuantifierInTerm => f.write_str("not a Horn clause: a quantifier occurs inside a term"),
            NotHorn::UniversalInBody(name) => {
                let name = store.display_symbol(*name);
                write!(f, "not a Horn clause: predicate `{name}` is below a universal quantifier of the body")
            }
            NotHorn::ExistentialInHead(name) => {
                let name = store.display_symbol(*name);
                write!(
                    f,
                    "not a Horn clause: predicate `{name}` is below an existential quantifier of the head"
                )
            }
            NotHorn::TooManyClauses => {
                write!(f, "the disjunctions of predicates make more than {MOST_CLAUSES} clauses")
            }
            NotHorn::Interrupted(reason) => write!(f, "{reason}"),
        })
    }
}

/// The clauses of an assertion. Free variables of the formula are universally quantified, in the order given. The
/// limits are polled if there are many clauses.
pub(crate) fn clausify(
    store: &TermStore,
    formula: Term,
    free_variables: &[Term],
    limits: &Poll<'_>,
) -> Result<Vec<RawClause>, NotHorn> {
    let mut clauses = Vec::new();
    let mut branches = vec![Branch::new(store, formula, free_variables)];
    while let Some(mut branch) = branches.pop() {
        match branch.decompose(store)? {
            None => {
                branch.rename_bound_variables(store);
                clauses.push(branch.clause);
            }
            Some(alternatives) => {
                if clauses.len() + branches.len() + alternatives.len() > MOST_CLAUSES {
                    return Err(NotHorn::TooManyClauses);
                }
                // The last alternative takes the branch, all others need a copy.
                let mut alternatives = alternatives.into_iter().rev().peekable();
                while let Some(alternative) = alternatives.next() {
                    let mut copy = if alternatives.peek().is_some() {
                        branch.clone()
                    } else {
                        std::mem::take(&mut branch)
                    };
                    copy.open.extend(alternative.into_iter().rev());
                    branches.push(copy);
                    if (clauses.len() + branches.len()).is_multiple_of(STOP_INTERVAL)
                        && let Some(reason) = limits.interruption()
                    {
                        return Err(NotHorn::Interrupted(reason));
                    }
                }
            }
        }
    }
    Ok(clauses)
}

/// A formula that must hold (`true`) or fail (`false`) for the body to hold.
type Signed = (Term, bool);

/// A clause under construction.
#[derive(Clone, Default)]
struct Branch {
    clause: RawClause,
    /// The formulas to decompose, the next one last.
    open: Vec<Signed>,
    /// The decomposed formulas.
    seen: FxHashSet<Signed>,
    /// The names of the clause's variables.
    names: FxHashSet<Symbol>,
}

impl Branch {
    fn new(store: &TermStore, formula: Term, free_variables: &[Term]) -> Self {
        let mut branch = Branch { open: vec![(formula, false)], ..Branch::default() };
        branch.names.extend(free_variables.iter().map(|&v| variable_name(store, v)));
        branch.clause.variables.extend_from_slice(free_variables);
        branch
    }

    /// Decomposes formulas until the clause is complete, or until one leaves a choice. Then the alternatives are
    /// returned, each a list of formulas that hold together.
    fn decompose(&mut self, store: &TermStore) -> Result<Option<Vec<Vec<Signed>>>, NotHorn> {
        while let Some((term, sign)) = self.open.pop() {
            let (op, args) = store.view(term);
            if op == Op::Not {
                self.open.push((args[0], !sign));
                continue;
            }
            if !self.seen.insert((term, sign)) {
                continue;
            }
            // Also an implication without predicates is decomposed, to become a clause like all others.
            if op == Op::Implies && !sign {
                self.open.extend(implication(args).rev().map(|(part, holds)| (part, !holds)));
                continue;
            }
            if !store.has_predicate(term) && !store.is_quantified(term) {
                self.add_constraint(store, term, sign);
                continue;
            }
            match op {
                Op::Apply(_) => self.add_atom(store, term, sign)?,
                Op::And if sign => self.open.extend(args.iter().rev().map(|&arg| (arg, true))),
                Op::Or if !sign => self.open.extend(args.iter().rev().map(|&arg| (arg, false))),
                Op::And | Op::Or | Op::Implies => return Ok(Some(one_of(store, (term, sign)))),
                Op::Ite => {
                    let then = vec![(args[0], true), (args[1], sign)];
                    let otherwise = vec![(args[0], false), (args[2], sign)];
                    return Ok(Some(vec![then, otherwise]));
                }
                Op::Eq | Op::Xor | Op::Distinct if store.sort_of(args[0]) == Sort::BOOL => {
                    return Ok(Some(equivalence(store, op, args, sign)));
                }
                Op::Exists if sign => self.open_quantifier(store, args, sign),
                Op::Forall if !sign => self.open_quantifier(store, args, sign),
                // The quantifier is interpreted, as all that is below it.
                _ if !store.has_predicate(term) => self.add_constraint(store, term, sign),
                Op::Forall | Op::Exists => return Err(alternated(store, op, args)),
                _ => return Err(misplaced(store, args)),
            }
        }
        Ok(None)
    }

    fn add_constraint(&mut self, store: &TermStore, term: Term, sign: bool) {
        match (term, sign) {
            (Term::TRUE, true) | (Term::FALSE, false) => {}
            (Term::TRUE, false) => self.clause.constraint.push(Term::FALSE),
            _ => self.clause.constraint.push(signed(store, (term, sign))),
        }
    }

    fn add_atom(&mut self, store: &TermStore, atom: Term, sign: bool) -> Result<(), NotHorn> {
        let args = store.args(atom);
        if args.iter().any(|&arg| store.has_predicate(arg) || store.is_quantified(arg)) {
            return Err(misplaced(store, args));
        }
        if sign {
            self.clause.body.push(atom);
            return Ok(());
        }
        match self.clause.head.replace(atom) {
            Some(head) => Err(NotHorn::TwoHeads(predicate_name(store, head), predicate_name(store, atom))),
            None => Ok(()),
        }
    }

    /// Renames the variables of quantifiers that stay in the constraint apart from the variables of the clause, as reading the
    /// printed clause would.
    fn rename_bound_variables(&mut self, store: &TermStore) {
        let is_quantified = |&&part: &&Term| store.is_quantified(part);
        let parts: Vec<Term> = self.clause.constraint.iter().filter(is_quantified).copied().collect();
        if parts.is_empty() {
            return;
        }
        let mut taken: FxHashSet<Symbol> = FxHashSet::default();
        for term in store.subterms(&parts) {
            if let (Op::Forall | Op::Exists, [variables @ .., _]) = store.view(term) {
                taken.extend(variables.iter().map(|&variable| variable_name(store, variable)));
            }
        }
        let names = &self.names;
        for part in self.clause.constraint.iter_mut().filter(|part| store.is_quantified(**part)) {
            *part = store.rewrite(*part, &mut |op, args| {
                let (Op::Forall | Op::Exists, [variables @ .., body]) = (op, args) else {
                    return store.app(op, args).expect("only names have changed");
                };
                let mut renaming = Substitution::default();
                let mut renamed: Vec<Term> = Vec::with_capacity(args.len());
                for &variable in variables {
                    let name = variable_name(store, variable);
                    let mut fresh = name;
                    let mut suffix = 0;
                    while names.contains(&fresh) || fresh != name && !taken.insert(fresh) {
                        suffix += 1;
                        fresh = store.symbol(&format!("{}!{suffix}", store.name(name)));
                    }
                    let image = store.var(fresh, store.sort_of(variable));
                    if image != variable {
                        renaming.insert(variable, image);
                    }
                    renamed.push(image);
                }
                renamed.push(store.substitute(*body, &renaming));
                store.app(op, &renamed).expect("only names have changed")
            });
        }
    }

    /// Adds the quantifier's variables to the clause, renamed if their names are taken.
    fn open_quantifier(&mut self, store: &TermStore, args: &[Term], sign: bool) {
        let Some((&body, variables)) = args.split_last() else { return };
        let mut renaming = Substitution::default();
        for &variable in variables {
            let name = variable_name(store, variable);
            let mut fresh = name;
            let mut suffix = 0;
            while !self.names.insert(fresh) {
                suffix += 1;
                fresh = store.symbol(&format!("{}!{suffix}", store.name(name)));
            }
            let mut renamed = variable;
            if fresh != name {
                renamed = store.var(fresh, store.sort_of(variable));
                renaming.insert(variable, renamed);
            }
            self.clause.variables.push(renamed);
        }
        let body = if renaming.is_empty() { body } else { store.substitute(body, &renaming) };
        self.open.push((body, sign));
    }
}

/// The disjuncts of an implication.
fn implication(args: &[Term]) -> impl DoubleEndedIterator<Item = Signed> {
    let last = args.len() - 1;
    args.iter().enumerate().map(move |(position, &arg)| (arg, position == last))
}

/// One alternative for each disjunct with predicates, and one for all others together. Nested disjunctions are
/// decomposed as well, so each disjunct counts once, however deep it is nested.
fn one_of(store: &TermStore, disjunction: Signed) -> Vec<Vec<Signed>> {
    let mut choices: Vec<Vec<Signed>> = Vec::new();
    let mut constraints: Vec<Signed> = Vec::new();
    let mut seen: FxHashSet<Signed> = FxHashSet::default();
    let mut open: Vec<Signed> = vec![disjunction];
    while let Some((term, sign)) = open.pop() {
        let (op, args) = store.view(term);
        if op == Op::Not {
            open.push((args[0], !sign));
            continue;
        }
        if !seen.insert((term, sign)) {
            continue;
        }
        if !store.has_predicate(term) && !store.is_quantified(term) {
            constraints.push((term, sign));
            continue;
        }
        match op {
            Op::Or if sign => open.extend(args.iter().rev().map(|&arg| (arg, true))),
            Op::And if !sign => open.extend(args.iter().rev().map(|&arg| (arg, false))),
            Op::Implies if sign => open.extend(implication(args).rev()),
            _ => choices.push(vec![(term, sign)]),
        }
    }
    match *constraints {
        [] => {}
        [only] => choices.insert(0, vec![only]),
        _ => {
            let terms: Vec<Term> = constraints.iter().map(|&disjunct| signed(store, disjunct)).collect();
            let together = store.app(Op::Or, &terms).expect("disjuncts are formulas");
            choices.insert(0, vec![(together, true)]);
        }
    }
    choices
}

/// The cases in which `=`, `xor` or `distinct` over formulas holds (or fails).
fn equivalence(store: &TermStore, op: Op, args: &[Term], sign: bool) -> Vec<Vec<Signed>> {
    let equal = |a, b| [vec![(a, true), (b, true)], vec![(a, false), (b, false)]];
    let different = |a, b| [vec![(a, true), (b, false)], vec![(a, false), (b, true)]];
    match (op, args) {
        (Op::Eq, _) if sign => {
            vec![
                args.iter().map(|&arg| (arg, true)).collect(),
                args.iter().map(|&arg| (arg, false)).collect(),
            ]
        }
        (Op::Eq, _) => args.windows(2).flat_map(|pair| different(pair[0], pair[1])).collect(),
        // There are no three different truth values.
        (Op::Distinct, [_, _, _, ..]) => vec![vec![(store.bool(!sign), true)]],
        (_, &[a, b]) => if sign { different(a, b) } else { equal(a, b) }.into(),
        (_, [rest @ .., last]) => {
            let rest = store.app(Op::Xor, rest).expect("exclusive or is left-associative");
            if sign { different(rest, *last) } else { equal(rest, *last) }.into()
        }
        (_, []) => Vec::new(),
    }
}

fn signed(store: &TermStore, (term, sign): Signed) -> Term {
    if sign { term } else { store.app(Op::Not, &[term]).expect("constraints are formulas") }
}

/// The error for a predicate below a quantifier that cannot be one of the clause.
fn alternated(store: &TermStore, op: Op, args: &[Term]) -> NotHorn {
    match (op, misplaced(store, args)) {
        (Op::Forall, NotHorn::PredicateInTerm(name)) => NotHorn::UniversalInBody(name),
        (_, NotHorn::PredicateInTerm(name)) => NotHorn::ExistentialInHead(name),
        (_, other) => other,
    }
}

/// The error for a misplaced predicate or quantifier below these terms.
fn misplaced(store: &TermStore, terms: &[Term]) -> NotHorn {
    let subterms = store.subterms(terms);
    let predicate = subterms
        .iter()
        .rev()
        .find(|&&t| matches!(store.op(t), Op::Apply(_)) && store.sort_of(t) == Sort::BOOL);
    match predicate {
        Some(&atom) => NotHorn::PredicateInTerm(predicate_name(store, atom)),
        None => NotHorn::QuantifierInTerm,
    }
}

fn predicate_name(store: &TermStore, atom: Term) -> Symbol {
    match store.op(atom) {
        Op::Apply(fun) => store.fun_decl(fun).name,
        _ => unreachable!("atoms are applications of predicates"),
    }
}

fn variable_name(store: &TermStore, variable: Term) -> Symbol {
    match store.op(variable) {
        Op::Var(name) => name,
        _ => unreachable!("quantifiers bind variables"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use shofar_logic::smtlib::{Environment, Reader};
    use shofar_run::Limits;

    use super::*;

    #[test]
    fn many_alternatives_can_be_interrupted() {
        let store = TermStore::new();
        let mut environment = Environment::new(&store);
        let atoms: String = (0..1000).map(|number| format!("(P {number})")).collect();
        let text = format!("(declare-fun P (Int) Bool) (assert (=> (or {atoms}) (P 0)))");
        let mut reader = Reader::new(&store, &mut environment, text.as_bytes());
        assert!(reader.command().is_ok_and(|command| command == Some("declare-fun")));
        assert!(reader.declaration("declare-fun").is_ok() && reader.command().is_ok());
        let formula = reader.formula().expect("this is a formula");
        let within = |limits: &Limits<'_>| {
            clausify(&store, formula, &[], &Poll::new(limits)).map(|clauses| clauses.len())
        };
        let cancelled = AtomicBool::new(true);
        let limits = Limits { cancel: Some(&cancelled), ..Limits::default() };
        assert!(matches!(within(&limits), Err(NotHorn::Interrupted(Reason::Cancelled))));
        assert!(matches!(within(&Limits::default()), Ok(1000)));
    }
}
