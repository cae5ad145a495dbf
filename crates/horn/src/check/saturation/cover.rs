//! Checks that the clauses of a system follow from pure clauses.
//!
//! A clause of the system is *covered* if each of its instances that satisfies the constraint has a part that is an instance of
//! a pure clause: the head, if the pure clause has one, and for each atom of the pure body an atom of the body; disequalities of
//! the pure body must be true of the values.
//!
//! Whether a clause `A1, ..., An, C => H` is covered is a question to the solver. That values of its variables match a pure clause is
//! a formula: testers and selectors take the arguments apart as the terms of the pure clause demand, and equal variables
//! must have equal values. `C` must contradict the negations of some of these formulas. Counterexamples find them: in each one,
//! a pure clause matches the values, or the clause is not covered. So integers, selectors of wrong constructors and
//! functions mean what they mean to the solver, and no constraint is solved here.
//!
//! Disequalities are covered if the pure clauses have the axioms that make them hold for all different values: different
//! constructors make different values, and so do different fields. For other sorts than datatypes, there are no axioms: all
//! facts `distinct(a, b)` for different values are given.

use rustc_hash::FxHashSet;
use shofar_logic::{Assignment, ConstructorId, Op, Sort, Substitution, Symbol, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::unify::{Work, subsumes};
use crate::Context;
use crate::check::quantifiers::without_quantifiers;
use crate::check::{Fault, Trust, Validity, replay};
use crate::system::{Atom, HornSystem};
use crate::witness::{PureAtom, PureClause, Relation};

/// Checks that pure clauses cover a clause of the system.
pub(super) fn check_clause(
    context: &Context<'_>,
    system: &HornSystem,
    number: usize,
    members: &[PureClause],
    trust: Trust,
) -> Result<(), Validity> {
    let store = context.store;
    let clause = &system.clauses[number];
    let unsupported = |unsupported: Unsupported| Validity::Unknown(unsupported.stop(store));
    let constraint = without_quantifiers(context, trust, clause.constraint).map_err(Validity::Unknown)?;
    let mut formulas = vec![constraint];
    // Arguments that are not variables get a name.
    let mut named = |argument: Term| {
        if matches!(store.op(argument), Op::Var(_)) {
            return argument;
        }
        let name = store.var(store.fresh_symbol("argument"), store.sort_of(argument));
        formulas.push(store.app(Op::Eq, &[name, argument]).expect("the sorts are equal"));
        name
    };
    let mut atom = |atom: &Atom| PureAtom {
        relation: Relation::Predicate(atom.predicate),
        arguments: atom.args.iter().map(|&argument| named(argument)).collect(),
    };
    let body: Vec<PureAtom> = clause.body.iter().map(&mut atom).collect();
    let head = clause.head.as_ref().map(&mut atom);
    let arguments = body.iter().chain(&head).flat_map(|atom| atom.arguments.iter().copied());
    let variables: FxHashSet<Term> = arguments.chain(clause.variables.iter().copied()).collect();
    let mut variables: Vec<Term> = variables.into_iter().collect();
    variables.sort_unstable();

    let mut solver = Solver::new(store);
    solver.assert_all(&formulas).map_err(unsupported)?;
    loop {
        match solver.check(&[], &context.limits).map_err(unsupported)? {
            Outcome::Unsat => break,
            Outcome::Unknown(reason) => return Err(Validity::Unknown(reason.into())),
            Outcome::Sat => {}
        }
        let mut model = solver.model(&formulas);
        for &variable in &variables {
            if model.get(variable).is_none() {
                model.set(variable, store.default_value(store.sort_of(variable)));
            }
        }
        let instance = Instance { context, variables: &variables, model: &model, body: &body, head: &head };
        let mut matched = None;
        for member in members {
            matched = instance.matched(member).map_err(Validity::Unknown)?;
            if matched.is_some() {
                break;
            }
        }
        let Some(matched) = matched else {
            let value = |&variable: &Term| Some((variable, model.get(variable)?.clone()));
            let counterexample = clause.variables.iter().filter_map(value).collect();
            return Err(Validity::Invalid(Fault::Uncovered { clause: number, counterexample }));
        };
        let excluded = negated(store, &matched);
        if formulas.contains(&excluded) {
            let message = "the solver gives a counterexample that was excluded".to_owned();
            return Err(Validity::Unknown(Stop::Internal(message)));
        }
        formulas.push(excluded);
        solver.assert(excluded).map_err(unsupported)?;
    }
    if trust == Trust::Solver {
        return Ok(());
    }
    let mut solver = Solver::with_proofs(store);
    solver.assert_all(&formulas).map_err(unsupported)?;
    let refuted = format!("instances of clause {} that no pure clause covers", number + 1);
    match solver.check(&[], &context.limits).map_err(unsupported)? {
        Outcome::Unsat => replay(context, &solver, &formulas, refuted).map_err(Validity::Unknown),
        Outcome::Unknown(reason) => Err(Validity::Unknown(reason.into())),
        Outcome::Sat => {
            let message = format!("the solver refutes {refuted} only without a proof");
            Err(Validity::Unknown(Stop::Internal(message)))
        }
    }
}

/// The negation of a conjunction.
fn negated(store: &TermStore, conjuncts: &[Term]) -> Term {
    let not = |term: Term| store.app(Op::Not, &[term]).expect("this is a formula");
    match conjuncts {
        [] => Term::FALSE,
        &[conjunct] => not(conjunct),
        _ => not(store.app(Op::And, conjuncts).expect("these are formulas")),
    }
}

/// An instance of a clause of the system, whose atoms are applied to variables.
struct Instance<'a> {
    context: &'a Context<'a>,
    variables: &'a [Term],
    model: &'a Assignment,
    body: &'a [PureAtom],
    head: &'a Option<PureAtom>,
}

/// What is known while a pure clause is matched: the terms of its variables, and the conditions, all true in the model.
#[derive(Clone, Default)]
struct Match {
    terms: Substitution,
    conditions: Vec<Term>,
}

impl Instance<'_> {
    /// The conditions under which a pure clause matches, if it does so in the model.
    fn matched(&self, member: &PureClause) -> Result<Option<Vec<Term>>, Stop> {
        let mut start = Match::default();
        if let Some(pattern) = &member.head {
            let Some(head) = self.head else { return Ok(None) };
            if !self.fits(&mut start, pattern, head)? {
                return Ok(None);
            }
        }
        let is_predicate = |atom: &&PureAtom| matches!(atom.relation, Relation::Predicate(_));
        let patterns: Vec<&PureAtom> = member.body.iter().filter(is_predicate).collect();
        let unequal: Vec<&PureAtom> = member.body.iter().filter(|atom| !is_predicate(atom)).collect();
        let bound = member.head.iter().chain(patterns.iter().copied()).flat_map(|atom| atom.arguments.iter());
        let store = self.context.store;
        let bound: FxHashSet<Term> =
            store.free_vars(&bound.copied().collect::<Vec<Term>>()).into_iter().collect();
        // Variables that only disequalities mention may be any of the clause.
        let others = unequal.iter().flat_map(|atom| atom.arguments.iter().copied());
        let others = store.free_vars(&others.collect::<Vec<Term>>());
        let others: Vec<Term> = others.into_iter().filter(|variable| !bound.contains(variable)).collect();

        // For each choice made, the state in front of it and the choice: an atom of the body, or a variable.
        let mut choices: Vec<(Match, usize)> = Vec::new();
        let (mut state, mut next) = (start, 0);
        loop {
            self.context.go_on()?;
            let depth = choices.len();
            let mut found = None;
            if let Some(pattern) = patterns.get(depth) {
                for (position, atom) in self.body.iter().enumerate().skip(next) {
                    let mut extended = state.clone();
                    if self.fits(&mut extended, pattern, atom)? {
                        found = Some((position, extended));
                        break;
                    }
                }
            } else if let Some(&other) = others.get(depth - patterns.len()) {
                let same_sort = |&variable: &Term| store.sort_of(variable) == store.sort_of(other);
                let mut candidates = self.variables.iter().enumerate().skip(next);
                if let Some((position, &variable)) = candidates.find(|(_, variable)| same_sort(variable)) {
                    let mut extended = state.clone();
                    extended.terms.insert(other, variable);
                    found = Some((position, extended));
                }
            } else if let Some(conditions) = self.differ(&state, &unequal) {
                return Ok(Some(conditions));
            }
            match (found, choices.pop()) {
                (Some((position, extended)), last) => {
                    choices.extend(last);
                    choices.push((std::mem::replace(&mut state, extended), position));
                    next = 0;
                }
                (None, Some((before, position))) => (state, next) = (before, position + 1),
                (None, None) => return Ok(None),
            }
        }
    }

    /// Matches an atom, whose arguments are variables of the clause.
    fn fits(&self, state: &mut Match, pattern: &PureAtom, atom: &PureAtom) -> Result<bool, Stop> {
        let store = self.context.store;
        if pattern.relation != atom.relation {
            return Ok(false);
        }
        let app = |op: Op, args: &[Term]| store.app(op, args).expect("the sorts fit");
        let pairs = pattern.arguments.iter().copied().zip(atom.arguments.iter().copied());
        let mut open: Vec<(Term, Term)> = pairs.rev().collect();
        while let Some((pattern, term)) = open.pop() {
            self.context.go_on()?;
            let condition = match store.view(pattern) {
                (Op::Var(_), _) => match state.terms.get(pattern) {
                    None => {
                        state.terms.insert(pattern, term);
                        continue;
                    }
                    Some(first) if first == term => continue,
                    Some(first) => app(Op::Eq, &[first, term]),
                },
                (Op::Construct(constructor), fields) => {
                    for (field, &part) in fields.iter().enumerate().rev() {
                        let field = u32::try_from(field).expect("the number of a field");
                        open.push((part, app(Op::Selector { constructor, field }, &[term])));
                    }
                    app(Op::Tester(constructor), &[term])
                }
                _ => app(Op::Eq, &[term, pattern]),
            };
            if !self.holds(condition) {
                return Ok(false);
            }
            state.conditions.push(condition);
        }
        Ok(true)
    }

    /// The conditions of a match, if disequalities are true, too.
    fn differ(&self, state: &Match, unequal: &[&PureAtom]) -> Option<Vec<Term>> {
        let store = self.context.store;
        let mut conditions = state.conditions.clone();
        for atom in unequal {
            let terms = atom.arguments.iter().map(|&term| store.substitute(term, &state.terms));
            let equation = store.app(Op::Eq, &terms.collect::<Vec<Term>>()).expect("the sorts are equal");
            let condition = store.app(Op::Not, &[equation]).expect("this is a formula");
            if !self.holds(condition) {
                return None;
            }
            conditions.push(condition);
        }
        Some(conditions)
    }

    fn holds(&self, condition: Term) -> bool {
        self.context.store.eval(condition, self.model) == Ok(Value::Bool(true))
    }
}

/// Checks that pure clauses cover the axioms of the disequalities that occur in their bodies.
pub(super) fn check_axioms(work: &Work<'_>, members: &[PureClause]) -> Result<(), Validity> {
    let store = work.store;
    let in_bodies = members.iter().flat_map(|member| &member.body).filter_map(|atom| match atom.relation {
        Relation::Distinct(sort) => Some(sort),
        Relation::Predicate(_) => None,
    });
    let mut open: Vec<Sort> = in_bodies.collect();
    let mut known: FxHashSet<Sort> = FxHashSet::default();
    while let Some(sort) = open.pop() {
        let Some(datatype) = store.datatype(sort).filter(|_| known.insert(sort)) else { continue };
        for axiom in axioms(store, sort, datatype.constructors()) {
            open.extend(axiom.body.iter().map(|atom| store.sort_of(atom.arguments[0])));
            let mut is_covered = false;
            for member in members {
                is_covered |=
                    subsumes(work, member, &axiom.body, axiom.head.as_ref()).map_err(Validity::Unknown)?;
            }
            if !is_covered {
                let sort = store.display_sort(sort);
                let message = format!("the clauses have no axiom of the disequality of {sort} for {}", {
                    let head = axiom.head.iter().flat_map(|head| head.arguments.iter());
                    let shown: Vec<String> = head.map(|&term| constructor_name(store, term)).collect();
                    shown.join(" and ")
                });
                return Err(Validity::Invalid(Fault::Shape(message)));
            }
        }
    }
    Ok(())
}

fn constructor_name(store: &TermStore, term: Term) -> String {
    match store.op(term) {
        Op::Construct(constructor) => store.display_symbol(store.constructor(constructor).name).to_string(),
        _ => store.display(term).to_string(),
    }
}

/// The axioms of the disequality of a datatype.
fn axioms(store: &TermStore, sort: Sort, constructors: &[ConstructorId]) -> Vec<PureClause> {
    let fields = |constructor: ConstructorId| {
        let fresh = |&(name, sort): &(Symbol, Sort)| store.var(store.fresh_symbol(store.name(name)), sort);
        store.constructor(constructor).fields.iter().map(fresh).collect::<Vec<Term>>()
    };
    let mut axioms = Vec::new();
    for &c in constructors {
        for &d in constructors {
            let (a, b) = (fields(c), fields(d));
            let head = [store.construct_term(c, &a), store.construct_term(d, &b)];
            let variables: Box<[Term]> = a.iter().chain(&b).copied().collect();
            let mut axiom = |body: Vec<PureAtom>| {
                let head = Some(PureAtom::distinct(sort, head));
                axioms.push(PureClause { variables: variables.clone(), body, head, selected: None });
            };
            if c != d {
                axiom(Vec::new());
                continue;
            }
            for (&x, &y) in a.iter().zip(&b) {
                axiom(vec![PureAtom::distinct(store.sort_of(x), [x, y])]);
            }
        }
    }
    axioms
}
