//! What certificates must prove, as systems of clauses.
//!
//! Let the *rules* be the clauses `P(s) and C => Q(t)`. The queries of the original clauses are left out everywhere. The models
//! of these systems prove that all runs end:
//!
//! ```text
//! ranking      the clauses, and for each rule
//!                  P(s) and C and not decreases(ranks of P(s), ranks of Q(t))   =>  false
//! bound        C => P(t, c)   if c is at least the factor times (1 + the sum of |t|)    for the facts C => P(t)
//!              P(s, c) and C                                                    =>  Q(t, c - 1)
//!              P(s, c) and c < 0                                                =>  false
//! pairs        the clauses, and for each rule and each predicate X whose facts are looked at
//!                  X(s) and C                                                   =>  X:Q(s, t)     if X is P
//!                  X:P(u, s) and C                                              =>  X:Q(u, t)
//!                  X:X(u, v) and not covered(u, v)                              =>  false
//! ```
//!
//! O1: `decreases(f, g)` says that for some position `j` `g_j <= f_j - 1`, `0 <= f_j`, and `g_i <= f_i` for all `i < j`. In an
//! infinite run let `j` be the least position that occurs infinitely often. From some step on, no smaller one occurs, so the
//! `j`-th function never grows again. It falls by one infinitely often, always from a number that is not negative: impossible.
//!
//! O2: The bound is right because a run from `t` can begin with the least such `c` and can then have at most `c` steps.
//!
//! O3: A cycle of rules stays in one strongly connected component. If every cycle has a predicate that is looked at, an infinite
//! run has infinitely many facts of one such `X`. The model contains each pair of them in the order of the run. If `covered`
//! says that one of finitely many functions decreases by one from a number that is not negative, Ramsey's theorem gives
//! infinitely many of these facts such that each pair decreases the same function: impossible. (A. Podelski, A. Rybalchenko,
//! "Transition invariants", LICS 2004.) If `covered(u, v)` is `u != v`, a refutation is a run that comes back to a fact.
//!
//! The last system is about runs that do not end. Its model is a set of facts with the last one of a run, and each
//! fact of it has a successor in it:
//!
//! ```text
//! recurrence   P(v)                                     for the last fact of the run
//!              P(x) and W(x) and C[s(x)]  =>  Q(t[s(x)])  for each choice s of a rule, meant for W, if P(x) is its body then
//!              P(x) and not (W1(x) and C1[s1(x)] or ..)  =>  false
//! ```

use shofar_horn::builder::{BuildError, SystemBuilder};
use shofar_horn::{Clause, HornSystem, PredicateId};
use shofar_logic::{Sort, Term, TermStore, Value};
use shofar_run::Stop;

use super::certificate::{Choice, Ranks};
use super::problem::Problem;

type Builder<'a> = SystemBuilder<&'a TermStore>;

/// The system, and for each of its clauses the original one, if there is one.
pub(crate) struct Obligation {
    pub(crate) system: HornSystem,
    pub(crate) origins: Vec<Option<usize>>,
}

/// When a pair of facts of one predicate in one run is as it should be.
#[derive(Clone, Copy)]
pub(crate) enum Covered<'r> {
    /// The facts are different.
    Different,
    /// One of the functions decreases.
    By(&'r Ranks),
}

/// The construction of a system.
struct Making<'a, 'p> {
    problem: &'p Problem<'a>,
    builder: Builder<'a>,
    origins: Vec<Option<usize>>,
}

/// The clauses for lexicographic functions. Only rules in the given component count, if there is one.
pub(crate) fn ranking(
    problem: &Problem<'_>,
    ranks: &Ranks,
    component: Option<usize>,
) -> Result<Obligation, Stop> {
    let mut making = Making::new(problem);
    let predicates = making.predicates(&[])?;
    making.clauses(&predicates)?;
    for rule in &problem.rules {
        if component.is_some_and(|component| problem.component_of_rule(rule) != Some(component)) {
            continue;
        }
        let (body, head) = (problem.body(rule), problem.head(rule));
        let before = problem.at(&ranks[rule.source], rule.source, body);
        let after = problem.at(&ranks[rule.target], rule.target, head);
        let fails = problem.store.not(decreases(problem.store, &before, &after));
        let constraint = problem.clause(rule.clause).constraint;
        let clause = making.builder.clause().atom(predicates[rule.source], body);
        let added = clause.when(constraint).when(fails).implies_false();
        making.added(added, Some(rule.clause))?;
    }
    Ok(making.finish())
}

/// The clauses for a number of steps.
pub(crate) fn bound(problem: &Problem<'_>, factor: u32) -> Result<Obligation, Stop> {
    let store = problem.store;
    let mut making = Making::new(problem);
    let predicates = making.predicates(&[Sort::INT])?;
    let count = store.var(store.fresh_symbol("steps"), Sort::INT);
    for &fact in &problem.facts {
        let Clause { constraint, head: Some(head), .. } = problem.clause(fact) else { continue };
        let is_enough = store.ge(at_sort(store, count, Sort::REAL), unit_sum(store, &head.args, factor));
        let args = [&head.args, &[count][..]].concat();
        let clause = making.builder.clause().when(*constraint).when(is_enough);
        let added = clause.implies(predicates[head.predicate.index()], &args);
        making.added(added, Some(fact))?;
    }
    for rule in &problem.rules {
        let before = [problem.body(rule), &[count]].concat();
        let after = [problem.head(rule), &[store.sub(count, store.int(1u64))]].concat();
        let clause = making.builder.clause().atom(predicates[rule.source], &before);
        let clause = clause.when(problem.clause(rule.clause).constraint);
        let added = clause.implies(predicates[rule.target], &after);
        making.added(added, Some(rule.clause))?;
    }
    for (index, &predicate) in predicates.iter().enumerate() {
        let args = [&problem.parameters[index], &[count][..]].concat();
        let is_exhausted = store.lt(count, store.int(0u64));
        let added = making.builder.clause().atom(predicate, &args).when(is_exhausted).implies_false();
        making.added(added, None)?;
    }
    Ok(making.finish())
}

/// The clauses for pairs of facts of the given predicates.
pub(crate) fn pairs(
    problem: &Problem<'_>,
    looked_at: &[usize],
    covered: Covered<'_>,
) -> Result<Obligation, Stop> {
    let store = problem.store;
    let mut making = Making::new(problem);
    let predicates = making.predicates(&[])?;
    making.clauses(&predicates)?;
    for &start in looked_at {
        let Some(component) = problem.loops_of[start] else { continue };
        let members: Vec<usize> =
            (0..predicates.len()).filter(|&index| problem.loops_of[index] == Some(component)).collect();
        let from = problem.copies(start);
        let mut pair_of: Vec<Option<PredicateId>> = vec![None; predicates.len()];
        for &member in &members {
            let name = format!("{}:{}", problem.name(start), problem.name(member));
            let sorts: Vec<Sort> = problem.sorts(start).into_iter().chain(problem.sorts(member)).collect();
            pair_of[member] = Some(making.predicate(&name, &sorts)?);
        }
        for rule in &problem.rules {
            let (Some(before), Some(after)) = (pair_of[rule.source], pair_of[rule.target]) else { continue };
            let constraint = problem.clause(rule.clause).constraint;
            let (body, head) = (problem.body(rule), problem.head(rule));
            if rule.source == start {
                let clause = making.builder.clause().atom(predicates[start], body).when(constraint);
                let added = clause.implies(after, &[body, head].concat());
                making.added(added, Some(rule.clause))?;
            }
            let clause = making.builder.clause().atom(before, &[&from[..], body].concat()).when(constraint);
            let added = clause.implies(after, &[&from[..], head].concat());
            making.added(added, Some(rule.clause))?;
        }
        let to = problem.copies(start);
        let holds = match covered {
            Covered::Different => {
                store.not(store.and_of(from.iter().zip(&to).map(|(&from, &to)| store.eq(from, to))))
            }
            Covered::By(ranks) => {
                let before = problem.at(&ranks[start], start, &from);
                let after = problem.at(&ranks[start], start, &to);
                let steps = before.iter().zip(&after);
                store.or_of(steps.map(|(&before, &after)| decreases(store, &[before], &[after])))
            }
        };
        let pair = pair_of[start].ok_or_else(|| Stop::Internal("a loop without its predicate".to_owned()))?;
        let clause = making.builder.clause().atom(pair, &[&from[..], &to[..]].concat());
        let added = clause.when(store.not(holds)).implies_false();
        making.added(added, None)?;
    }
    Ok(making.finish())
}

/// The clauses for a set of facts that can be stayed in. `entry` are facts in it: a predicate, its arguments and a constraint.
pub(crate) fn recurrence(
    problem: &Problem<'_>,
    entry: &[(usize, Vec<Term>, Term)],
    choices: &[Choice],
) -> Result<Obligation, Stop> {
    let store = problem.store;
    let mut making = Making::new(problem);
    let predicates = making.predicates(&[])?;
    for (number, (predicate, args, constraint)) in entry.iter().enumerate() {
        let added = making.builder.clause().when(*constraint).implies(predicates[*predicate], args);
        making.added(added, Some(number))?;
    }
    let mut possible: Vec<Vec<Term>> = vec![Vec::new(); predicates.len()];
    for (number, choice) in choices.iter().enumerate() {
        let Some(rule) = problem.rules.iter().find(|rule| rule.clause == choice.clause) else {
            return Err(Stop::Internal("a choice of a clause that is no rule".to_owned()));
        };
        let (guard, after) = problem.chosen(rule, choice);
        possible[rule.source].push(guard);
        let clause = making.builder.clause().atom(predicates[rule.source], &problem.parameters[rule.source]);
        let added = clause.when(guard).implies(predicates[rule.target], &after);
        making.added(added, Some(number))?;
    }
    for (index, guards) in possible.iter().enumerate() {
        let is_stuck = store.not(store.or(guards));
        let clause = making.builder.clause().atom(predicates[index], &problem.parameters[index]);
        let added = clause.when(is_stuck).implies_false();
        making.added(added, None)?;
    }
    Ok(making.finish())
}

/// The clauses, with a query that a fact violates.
pub(crate) fn reaching(
    store: &TermStore,
    system: &HornSystem,
    predicate: PredicateId,
    fact: &[Value],
) -> HornSystem {
    let args = fact.iter().map(|value| store.value_to_term(value)).collect();
    let mut system = system.clone();
    system.clauses.push(Clause {
        variables: Box::default(),
        body: [shofar_horn::Atom { predicate, args }].into(),
        constraint: Term::TRUE,
        head: None,
        name: None,
        position: shofar_horn::Position { line: 1, column: 1 },
        written: None,
    });
    system
}

/// Whether functions decrease (O1).
pub(crate) fn decreases(store: &TermStore, before: &[Term], after: &[Term]) -> Term {
    let mut never_grew = Vec::new();
    let mut cases = Vec::new();
    for (&before, &after) in before.iter().zip(after) {
        let sort = store.sort_of(before);
        let falls = store.le(after, store.sub(before, at_sort(store, store.int(1u64), sort)));
        let is_bounded = store.ge(before, at_sort(store, store.int(0u64), sort));
        cases.push(store.and_of(never_grew.iter().copied().chain([falls, is_bounded])));
        never_grew.push(store.le(after, before));
    }
    store.or(&cases)
}

/// The factor times one more than the sum of absolute values, as a real number.
fn unit_sum(store: &TermStore, args: &[Term], factor: u32) -> Term {
    let numbers = args.iter().map(|&arg| store.normalize(arg));
    let numbers = numbers.filter(|&arg| store.sort_of(arg).is_arithmetic());
    let magnitude = |arg: Term| {
        let arg = at_sort(store, arg, Sort::REAL);
        store.ite(store.ge(arg, store.real(0u64)), arg, store.neg(arg))
    };
    let sum: Vec<Term> = numbers.map(magnitude).chain([store.real(1u64)]).collect();
    store.mul_const(&u64::from(factor).into(), store.add(&sum))
}

/// The number as a number of this sort.
fn at_sort(store: &TermStore, number: Term, sort: Sort) -> Term {
    if sort == Sort::REAL && store.sort_of(number) == Sort::INT { store.to_real(number) } else { number }
}

impl<'a, 'p> Making<'a, 'p> {
    fn new(problem: &'p Problem<'a>) -> Self {
        Making { problem, builder: SystemBuilder::new(problem.store), origins: Vec::new() }
    }

    /// The predicates of the original system, with further arguments.
    fn predicates(&mut self, more: &[Sort]) -> Result<Vec<PredicateId>, Stop> {
        let indices = 0..self.problem.parameters.len();
        indices
            .map(|index| {
                let sorts: Vec<Sort> =
                    self.problem.sorts(index).into_iter().chain(more.iter().copied()).collect();
                self.predicate(&self.problem.name(index), &sorts)
            })
            .collect()
    }

    fn predicate(&mut self, name: &str, sorts: &[Sort]) -> Result<PredicateId, Stop> {
        // Another predicate may have the name.
        let candidates =
            (0..).map(|attempt| if attempt == 0 { name.to_owned() } else { format!("{name}:{attempt}") });
        for name in candidates {
            match self.builder.predicate(&name, sorts) {
                Err(BuildError::Declared(_)) => {}
                other => return other.map_err(stop),
            }
        }
        Err(Stop::Internal("there are more names than taken ones".to_owned()))
    }

    /// The facts and rules of the original system.
    fn clauses(&mut self, predicates: &[PredicateId]) -> Result<(), Stop> {
        let numbers =
            self.problem.facts.iter().copied().chain(self.problem.rules.iter().map(|rule| rule.clause));
        for number in numbers {
            let Clause { body, constraint, head: Some(head), .. } = self.problem.clause(number) else {
                continue;
            };
            let mut clause = self.builder.clause().when(*constraint);
            for atom in body {
                clause = clause.atom(predicates[atom.predicate.index()], &atom.args);
            }
            let added = clause.implies(predicates[head.predicate.index()], &head.args);
            self.added(added, Some(number))?;
        }
        Ok(())
    }

    fn added(&mut self, added: Result<usize, BuildError>, origin: Option<usize>) -> Result<(), Stop> {
        added.map_err(stop)?;
        self.origins.push(origin);
        Ok(())
    }

    fn finish(self) -> Obligation {
        Obligation { system: self.builder.finish(), origins: self.origins }
    }
}

fn stop(error: BuildError) -> Stop {
    match error {
        BuildError::NotHorn(_) => Stop::Unsupported("quantifiers in clauses".to_owned()),
        error => Stop::Internal(error.to_string()),
    }
}
