//! Queries that no finite algebra excludes, because they state a law.
//!
//! Most queries about functions deny an equation that always holds:
//!
//! ```text
//! append(x, y, a), append(x, y, b), a != b  =>  false
//! reverse(x, y), reverse(y, z), x != z      =>  false
//! ```
//!
//! **The criterion.** Let a query have the atoms `A`, a condition `y != t` and further conditions `C`, where the variable `y` occurs
//! neither in `t` nor in `C`, and in `A` only below constructors. If the clauses derive `A` for values that satisfy `C` and `y = t`, for
//! more values of `y` than there are states for its sort, then there is no regular invariant with these states.
//!
//! **Why.** A regular invariant divides the values of each sort into classes, one for each state. The predicates know only the
//! classes of their arguments, and the class of a constructor term depends on the classes of its fields. Of all these values
//! of `y`, two are in one class, `v` and `w`. Take the values that satisfy `A`, `C` and `y = t` with `v` for `y`, and replace `v` by
//! `w`. Every atom of `A` still holds in the invariant, since its arguments have the same classes; `C` and `t` do not mention `y`. But
//! now `y != t`, so the query fires.
//!
//! **How it is applied.** Facts with variables (`words/facts.rs`) are put in the place of the atoms, and the equations are solved. If a
//! variable is left in the term for `y`, and can have infinitely many values by the remaining conditions, no number of
//! states suffices. Otherwise the different values of a datatype are counted.
//! The criterion only saves time. Without it the search goes through all bounds on the number of states.

use std::time::Duration;

use rustc_hash::FxHashSet;
use shofar_horn::HornGraph;
use shofar_horn::transform::solve_equations;
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Relation, Sort, Substitution, Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::Outcome;

use super::clauses::PureClause;
use crate::Run;
use crate::unroll::fresh_vector;
use crate::words::facts::{Fact, facts};

/// Time for facts; an eighth of the remaining time, if that is less.
const TIME: Duration = Duration::from_millis(300);

/// Choices of facts that are tried for all queries.
const MOST_CHOICES: usize = 600;

/// The conflict limit for the question whether the remaining conditions can be true.
const CONFLICTS: u64 = 100;

/// Whether a query among the clauses states a law, so that the clauses have no regular invariant with so many states for each datatype.
pub(super) fn has_law(
    run: &Run<'_>,
    graph: &HornGraph,
    clauses: &[PureClause],
    states: usize,
) -> Result<bool, Stop> {
    let store = run.store;
    let queries = clauses.iter().filter(|clause| clause.head.is_none());
    let laws: Vec<Law<'_>> = queries.flat_map(|query| Law::all(store, query)).collect();
    if laws.is_empty() {
        return Ok(false);
    }
    let facts = match facts(&run.context().for_part(8, TIME), graph) {
        Ok(facts) => facts,
        Err(_) => {
            run.go_on()?;
            return Ok(false);
        }
    };
    let mut choices = MOST_CHOICES;
    for law in laws {
        if law.holds_often(run, &facts, states, &mut choices)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A query with one of its disequalities.
struct Law<'c> {
    query: &'c PureClause,
    /// The variable `y`.
    variable: Term,
    /// The equation `y = t` and the further conditions.
    conditions: Term,
}

impl<'c> Law<'c> {
    /// The ways to read a query as a law.
    fn all(store: &TermStore, query: &'c PureClause) -> Vec<Self> {
        let unequal = query.unequal.iter().map(|&(a, b)| store.not(store.eq(a, b)));
        let conditions: Vec<Term> =
            unequal.chain(query.scalar.iter().flat_map(|&formula| store.conjuncts(formula))).collect();
        let arguments = query.body.iter().flat_map(|(_, arguments)| arguments);
        let leaves: FxHashSet<Term> = arguments.flat_map(|&argument| leaves(store, argument)).collect();
        let is_below_constructors = |&variable: &Term| {
            leaves.contains(&variable)
                && !leaves.iter().any(|&leaf| leaf != variable && mentions(store, leaf, variable))
        };
        let mut laws = Vec::new();
        for (position, &condition) in conditions.iter().enumerate() {
            let mut others = conditions.clone();
            others.remove(position);
            let is_alone = |&variable: &Term| !others.iter().any(|&it| mentions(store, it, variable));
            for variable in sides(store, condition).into_iter().filter(is_below_constructors).filter(is_alone)
            {
                let conditions = store.and2(store.not(condition), store.and(&others));
                laws.push(Law { query, variable, conditions });
            }
        }
        laws
    }

    /// Whether facts derive the atoms, with more values of the variable than states.
    fn holds_often(
        &self,
        run: &Run<'_>,
        facts: &[Vec<Fact>],
        states: usize,
        choices: &mut usize,
    ) -> Result<bool, Stop> {
        let store = run.store;
        let is_structure = store.datatype(store.sort_of(self.variable)).is_some();
        let mut values: FxHashSet<Term> = FxHashSet::default();
        // What the first atoms of the query and their facts say, and the number of these atoms.
        let mut open: Vec<(Term, usize)> = vec![(self.conditions, 0)];
        while let Some((formula, atoms)) = open.pop() {
            run.go_on()?;
            let Some((node, arguments)) = self.query.body.get(atoms) else {
                match self.values(run, formula)? {
                    Values::Infinite => return Ok(true),
                    Values::One(value) if is_structure => drop(values.insert(value)),
                    Values::One(_) | Values::Unknown => {}
                }
                if values.len() > states {
                    return Ok(true);
                }
                continue;
            };
            // From the last one on, so that the first and most general ones are tried first.
            for fact in facts[node.index()].iter().rev() {
                let Some(left) = choices.checked_sub(1) else { return Ok(false) };
                *choices = left;
                let terms: Vec<Term> = fact.arguments.iter().copied().chain([fact.constraint]).collect();
                let variables: Vec<Term> = store.free_vars(&terms).into_iter().collect();
                let fresh = fresh_vector(store, &variables, "law");
                let renaming: Substitution = variables.into_iter().zip(fresh.iter().copied()).collect();
                let mut renamed = store.instantiate_all(&terms, &renaming);
                renamed.push(formula);
                let equations = arguments.iter().zip(&renamed).map(|(&a, &b)| store.eq(a, b));
                let equations: Vec<Term> = equations.collect();
                let formula =
                    store.and_of(equations.into_iter().chain(renamed[arguments.len()..].iter().copied()));
                if !solve_equations(store, formula, |_| Some(0)).rest.contains(&Term::FALSE) {
                    open.push((formula, atoms + 1));
                }
            }
        }
        Ok(false)
    }

    /// The values of the variable in the solutions of a formula.
    fn values(&self, run: &Run<'_>, formula: Term) -> Result<Values, Stop> {
        let store = run.store;
        let solved = solve_equations(store, formula, |_| Some(0));
        let definition = solved.definitions.iter().find(|&&(variable, _)| variable == self.variable);
        let term = definition.map_or(self.variable, |&(_, term)| term);
        let values = match leaves(store, term) {
            leaves if leaves.iter().any(|&leaf| is_free(store, leaf, &solved.rest)) => Values::Infinite,
            leaves if leaves.iter().all(|&leaf| store.term_to_value(leaf).is_some()) => Values::One(term),
            _ => return Ok(Values::Unknown),
        };
        if solved.rest.is_empty() {
            return Ok(values);
        }
        let mut solver = run.solver();
        if solver.assert_all(&solved.rest).is_err() {
            return Ok(Values::Unknown);
        }
        let limits = Limits { conflicts: Some(CONFLICTS), ..run.limits };
        let outcome = solver.check(&[], &limits);
        run.go_on()?;
        Ok(if matches!(outcome, Ok(Outcome::Sat)) { values } else { Values::Unknown })
    }
}

/// What is known about the values of a variable.
enum Values {
    /// There are infinitely many.
    Infinite,
    /// This is one of them.
    One(Term),
    Unknown,
}

/// The variables of a disequality that occur on one side only, as that side or as a summand.
fn sides(store: &TermStore, condition: Term) -> Vec<Term> {
    let (atom, is_positive) = store.literal(condition);
    let (Op::Eq, &[a, b]) = (store.op(atom), store.args(atom)) else { return Vec::new() };
    if is_positive || store.sort_of(a) == Sort::BOOL {
        return Vec::new();
    }
    if let Some(bound) = store.bound(condition) {
        return summands(store, &bound.poly(store));
    }
    let is_side =
        |(own, other): &(Term, Term)| matches!(store.op(*own), Op::Var(_)) && !mentions(store, *other, *own);
    [(a, b), (b, a)].into_iter().filter(is_side).map(|(own, _)| own).collect()
}

/// The variables that are summands and occur in no other summand.
fn summands(store: &TermStore, poly: &LinearPoly) -> Vec<Term> {
    let all = || poly.terms().iter().map(|&(summand, _)| summand);
    let is_simple = |&summand: &Term| {
        matches!(store.op(summand), Op::Var(_))
            && all().all(|other| other == summand || !mentions(store, other, summand))
    };
    all().filter(is_simple).collect()
}

/// The parts of a term below its constructors.
fn leaves(store: &TermStore, term: Term) -> Vec<Term> {
    let mut leaves = Vec::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![term];
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        match store.view(term) {
            (Op::Construct(_), fields) => open.extend_from_slice(fields),
            _ => leaves.push(term),
        }
    }
    leaves
}

fn mentions(store: &TermStore, term: Term, variable: Term) -> bool {
    store.free_vars(&[term]).contains(&variable)
}

/// Whether a leaf can have infinitely many values if the conditions can be true: it has a variable of an infinite sort, and the
/// conditions on that exclude finitely many values, or all values on one side.
fn is_free(store: &TermStore, leaf: Term, conditions: &[Term]) -> bool {
    let variables = match store.sort_of(leaf) {
        Sort::INT | Sort::REAL => summands(store, &LinearPoly::from_term(store, leaf)),
        _ if matches!(store.op(leaf), Op::Var(_)) => vec![leaf],
        _ => Vec::new(),
    };
    variables.into_iter().any(|variable| {
        if !is_infinite(store, store.sort_of(variable)) {
            return false;
        }
        let mut directions = FxHashSet::default();
        let leaves_many = |&condition: &Term| {
            if sides(store, condition).contains(&variable) {
                return true;
            }
            let Some(bound) = store.bound(condition) else { return false };
            let poly = bound.poly(store);
            let is_upwards = match bound.relation {
                Relation::AtLeast | Relation::Above => true,
                Relation::AtMost | Relation::Below => false,
                Relation::Equal | Relation::Different => return false,
            };
            directions.insert(is_upwards == (poly.coefficient(variable) > Rational::from(0)));
            summands(store, &poly).contains(&variable)
        };
        let mut on_variable = conditions.iter().filter(|&&condition| mentions(store, condition, variable));
        on_variable.all(leaves_many) && directions.len() <= 1
    })
}

/// Whether a sort certainly has infinitely many values: numbers, and datatypes inside of themselves.
fn is_infinite(store: &TermStore, sort: Sort) -> bool {
    matches!(sort, Sort::INT | Sort::REAL) || store.is_recursive_datatype(sort)
}
