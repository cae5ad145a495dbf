//! Linear ranking functions by Farkas' lemma.
//!
//! A linear function `f` for each predicate ranks a convex set of pairs `(u, v)` if `f(v) <= f(u) - 1` and `0 <= f(u)` on it. An
//! inequality follows from those of the set exactly if it is a combination of them with non-negative multipliers and a
//! non-negative constant. So coefficients and multipliers are the solutions of linear constraints, which the SMT solver finds.
//!
//! [`lexicographic`] repeats that: a function that no part increases and that ranks as many parts as possible is next in the
//! list, and these parts are done. Leaving parts out never makes it harder to rank the others, so this is complete for lists of
//! linear functions. (C. Alias, A. Darte, P. Feautrier, L. Gonnord, "Multi-dimensional rankings, program termination, and
//! complexity bounds of flowchart programs", SAS 2010; A. Bradley, Z. Manna, H. Sipma, "Linear ranking with reachability", CAV
//! 2005.)
//!
//! Small integers as coefficients come first: they are found again in the sources, and generalise.

use std::collections::BTreeSet;

use shofar_engines::Run;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Assignment, LinearPoly, Sort, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::solver::Solver;

use super::relation::{Part, Row};

/// A linear function for each predicate: coefficients of the arguments, and a constant.
pub(crate) type Functions = Vec<(Vec<Rational>, Rational)>;

/// The bounds of integer coefficients that are tried; at last any rational numbers.
const BOUNDS: [Option<i64>; 3] = [Some(1), Some(6), None];

/// Functions that rank parts lexicographically, the most significant one first, and the parts that are not ranked.
pub(crate) fn lexicographic(
    run: &Run<'_>,
    arities: &[usize],
    parts: &[&Part],
) -> Result<(Vec<Functions>, Vec<usize>), Stop> {
    let mut open: Vec<usize> = (0..parts.len()).collect();
    let mut found = Vec::new();
    while !open.is_empty() {
        let rest: Vec<&Part> = open.iter().map(|&index| parts[index]).collect();
        let Some((functions, ranked)) = next_functions(run, arities, &rest)? else { break };
        found.push(functions);
        open = open
            .into_iter()
            .enumerate()
            .filter(|(at, _)| !ranked.contains(at))
            .map(|(_, index)| index)
            .collect();
    }
    Ok((found, open))
}

/// Functions that rank some of the parts and increase on none.
fn next_functions(
    run: &Run<'_>,
    arities: &[usize],
    parts: &[&Part],
) -> Result<Option<(Functions, BTreeSet<usize>)>, Stop> {
    for bound in BOUNDS {
        run.go_on()?;
        if let Some(found) = Template::new(run, arities, bound, parts)?.solve()? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Functions with unknown coefficients.
struct Template<'a> {
    run: &'a Run<'a>,
    solver: Solver<'a>,
    /// The coefficients and the constant of each predicate.
    unknown: Vec<(Vec<Term>, Term)>,
    /// Whether each part is ranked.
    ranked: Vec<Term>,
    formulas: Vec<Term>,
}

impl<'a> Template<'a> {
    fn new(run: &'a Run<'a>, arities: &[usize], bound: Option<i64>, parts: &[&Part]) -> Result<Self, Stop> {
        let store = run.store;
        let sort = if bound.is_some() { Sort::INT } else { Sort::REAL };
        let variable = |name: &str, sort: Sort| store.var(store.fresh_symbol(name), sort);
        let unknown: Vec<(Vec<Term>, Term)> = arities
            .iter()
            .map(|&arity| {
                ((0..arity).map(|_| variable("coefficient", sort)).collect(), variable("constant", sort))
            })
            .collect();
        let ranked = parts.iter().map(|_| variable("ranked", Sort::BOOL)).collect();
        let mut template = Template { run, solver: run.solver(), unknown, ranked, formulas: Vec::new() };
        for &coefficient in template.unknown.iter().flat_map(|(coefficients, _)| coefficients) {
            if let Some(bound) = bound {
                let [low, high] = [store.int(-bound), store.int(bound)];
                template.formulas.extend([store.le(low, coefficient), store.le(coefficient, high)]);
            }
        }
        for (part, ranked) in parts.iter().zip(template.ranked.clone()) {
            template.constrain(part, ranked);
        }
        run.assert(&mut template.solver, &template.formulas)?;
        Ok(template)
    }

    /// The part does not increase the function, and if it is ranked, it decreases it and the function is bounded.
    fn constrain(&mut self, part: &Part, ranked: Term) {
        let store = self.run.store;
        let by = store.ite(ranked, store.real(1u64), store.real(0u64));
        let before = self.function(part.ends.0, &part.before);
        let mut difference = before.clone();
        for (variable, coefficient) in self.function(part.ends.1, &part.after) {
            difference.push((variable, store.neg(coefficient)));
        }
        difference.push((None, store.neg(by)));
        let never_grows = self.follows(part, &part.rows, &difference);
        let is_bounded = self.follows(part, part.wide.as_ref().unwrap_or(&part.rows), &before);
        self.formulas.extend([never_grows, store.implies(ranked, is_bounded)]);
    }

    /// The function at these variables: coefficients with their variables, and the constant.
    fn function(&self, predicate: usize, variables: &[Term]) -> Vec<(Option<Term>, Term)> {
        let store = self.run.store;
        let (coefficients, constant) = &self.unknown[predicate];
        let real = |term: Term| if store.sort_of(term) == Sort::INT { store.to_real(term) } else { term };
        let terms =
            variables.iter().zip(coefficients).map(|(&variable, &unknown)| (Some(variable), real(unknown)));
        terms.chain([(None, real(*constant))]).collect()
    }

    /// The sum, of which an entry without a variable is the constant, is not negative where the rows hold: it is a combination of them.
    fn follows(&self, part: &Part, rows: &[Row], sum: &[(Option<Term>, Term)]) -> Term {
        let store = self.run.store;
        let multipliers: Vec<Term> =
            rows.iter().map(|_| store.var(store.fresh_symbol("multiplier"), Sort::REAL)).collect();
        let mut conditions = Vec::new();
        for (row, &multiplier) in rows.iter().zip(&multipliers) {
            if !row.is_zero {
                conditions.push(store.ge(multiplier, store.real(0u64)));
            }
        }
        let combined = |of_row: &dyn Fn(&LinearPoly) -> Rational| {
            let rows = rows.iter().zip(&multipliers);
            let summands: Vec<Term> =
                rows.map(|(row, &multiplier)| store.mul_const(&of_row(&row.poly), multiplier)).collect();
            store.add(&[summands, vec![store.real(0u64)]].concat())
        };
        let wanted = |variable: Option<Term>| {
            let same =
                sum.iter().filter(|(other, _)| *other == variable).map(|&(_, coefficient)| coefficient);
            store.add(&same.chain([store.real(0u64)]).collect::<Vec<Term>>())
        };
        let variables: BTreeSet<Term> = part.before.iter().chain(&part.after).copied().collect();
        for variable in variables {
            conditions.push(store.eq(combined(&|poly| poly.coefficient(variable)), wanted(Some(variable))));
        }
        conditions.push(store.le(combined(&|poly| poly.constant().clone()), wanted(None)));
        store.and(&conditions)
    }

    /// Coefficients that rank as many parts as possible.
    fn solve(mut self) -> Result<Option<(Functions, BTreeSet<usize>)>, Stop> {
        let store = self.run.store;
        let mut best = None;
        let mut done: BTreeSet<usize> = BTreeSet::new();
        while done.len() < self.ranked.len() {
            let more = (0..self.ranked.len()).filter(|index| !done.contains(index));
            let more = store.or_of(more.map(|index| self.ranked[index]));
            let kept = done.iter().map(|&index| self.ranked[index]);
            let wanted: Vec<Term> = kept.chain([more]).collect();
            if !self.run.is_satisfiable(&mut self.solver, &wanted)? {
                break;
            }
            let all: Vec<Term> = self.formulas.iter().chain(&self.ranked).copied().collect();
            let model = self.solver.model(&all);
            done = (0..self.ranked.len()).filter(|&index| is_true(&model, self.ranked[index])).collect();
            best = Some(self.functions(&model));
        }
        Ok(best.map(|functions| (functions, done)))
    }

    /// The functions of a model, with integers as coefficients.
    fn functions(&self, model: &Assignment) -> Functions {
        let value = |&term: &Term| match model.get(term) {
            Some(Value::Int(number)) => Rational::from(number.clone()),
            Some(Value::Real(number)) => number.clone(),
            _ => Rational::ZERO,
        };
        let of_predicate = |(coefficients, constant): &(Vec<Term>, Term)| {
            (coefficients.iter().map(value).collect(), value(constant))
        };
        let mut functions: Functions = self.unknown.iter().map(of_predicate).collect();
        let numbers =
            functions.iter().flat_map(|(coefficients, constant)| coefficients.iter().chain([constant]));
        // Multiples of ranking functions by a number that is not less than one are ranking functions.
        let common = numbers.fold(Integer::from(1u64), |common, number| common.lcm(&number.denom()));
        let common = Rational::from(common);
        for (coefficients, constant) in &mut functions {
            for number in coefficients.iter_mut().chain([constant]) {
                *number = &*number * &common;
            }
        }
        functions
    }
}

fn is_true(model: &Assignment, term: Term) -> bool {
    matches!(model.get(term), Some(Value::Bool(true)))
}

/// The value of a function at terms, as a term of this sort.
pub(crate) fn at(store: &TermStore, function: &(Vec<Rational>, Rational), args: &[Term], sort: Sort) -> Term {
    let (coefficients, constant) = function;
    let [zero, one] = [Rational::ZERO, Rational::ONE].map(|number| store.number(&number, sort));
    let summand = |(&arg, coefficient): (&Term, &Rational)| {
        let number = match store.sort_of(arg) {
            Sort::BOOL => store.ite(arg, one, zero),
            Sort::INT if sort == Sort::REAL => store.to_real(arg),
            _ => arg,
        };
        store.mul_const(coefficient, number)
    };
    let used = args.iter().zip(coefficients).filter(|(_, coefficient)| !coefficient.is_zero());
    let summands: Vec<Term> = used.map(summand).chain([store.number(constant, sort)]).collect();
    store.add(&summands)
}
