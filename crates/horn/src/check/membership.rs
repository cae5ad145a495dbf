//! A second way to decide formulas over states, without the solver.
//!
//! Formulas here have equations between terms of datatypes, testers, selectors and folds that are tables: a deterministic tree automaton
//! (`automata.rs`). Such formulas are decidable:
//!
//! ```text
//! choose a constructor for each variable below a tester or selector
//! choose for each equation: the terms are unified, or they differ
//! choose a state for each variable; the automaton computes the states of terms, and the formula is true or false
//! if it is true: choose a value for each variable whose state has finitely many
//!     no two terms that must differ are identical: the formula is satisfiable
//! ```
//!
//! *Why the last step is right.* Terms that must differ and are not identical have a solved form, unless they never are equal. One of its
//! equations, `x = t` where `x` is not in `t`, may be false. Give values to all variables, one after the other. The last variable of
//! `x = t` has infinitely many values left, and at most one of them makes it true. So finitely many differences hold together.
//!
//! *What it is for.* The checker's verdicts are those of the solver. Debug builds compare them with this one, which shares with the
//! solver only terms and their normal form, and with the lemmas of `languages.rs` the states and their values.
//!
//! *Source.* H. Comon, C. Delor, "Equational formulae with membership constraints" (1994).

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, ConstructorId, Op, Sort, Substitution, Term, TermStore};

use super::automata;
use super::languages::{Automaton, Language};

/// Choices of one decision.
const MOST_CHOICES: usize = 5000;

/// Whether formulas are satisfiable together; `None` if they are not of the form above, if they depend on a selector of another
/// constructor than its own, or if there are too many choices.
pub(super) fn are_satisfiable(store: &TermStore, formulas: &[Term]) -> Option<bool> {
    if formulas.iter().any(|&formula| store.is_quantified(formula)) {
        return None;
    }
    let formula = store.normalize(store.and(formulas));
    let folds = store.folds_in(&[formula]);
    if automata::tables(store, &folds).len() < folds.len() {
        return None;
    }
    let mut tables: Vec<(Sort, Vec<_>)> = Vec::new();
    for term in store.subterms(&[formula]) {
        let sort = store.sort_of(term);
        if store.datatype(sort).is_some() && !tables.iter().any(|(of, _)| *of == sort) {
            let of_sort = folds.iter().copied().filter(|&fun| store.fun_decl(fun).domain[0] == sort);
            tables.push((sort, of_sort.collect()));
        }
    }
    // Folds of sorts below those of the terms.
    for &fun in &folds {
        let sort = store.fun_decl(fun).domain[0];
        match tables.iter_mut().find(|(of, _)| *of == sort) {
            Some((_, known)) if known.contains(&fun) => {}
            Some((_, known)) => known.push(fun),
            None => tables.push((sort, vec![fun])),
        }
    }
    let automaton = Automaton::new(store, tables)?;
    let languages = automaton.languages();
    let transitions = automaton.transitions.iter().map(|made| ((made.constructor, &*made.fields), made.to));
    let membership =
        Membership { store, languages, transitions: transitions.collect(), automaton: &automaton };
    membership.decide(formula)
}

/// A formula and terms that must differ, with the choices so far.
#[derive(Clone)]
struct Case {
    formula: Term,
    differences: Vec<(Term, Term)>,
    states: FxHashMap<Term, usize>,
}

/// What equates two terms.
enum Unifier {
    /// Nothing does.
    None,
    /// They are equal for these terms, each variable of which is not in another; the terms are identical if there are none.
    Solution(Substitution),
}

struct Membership<'a> {
    store: &'a TermStore,
    automaton: &'a Automaton<'a>,
    /// The values of states.
    languages: Vec<Language>,
    transitions: FxHashMap<(ConstructorId, &'a [usize]), usize>,
}

impl Membership<'_> {
    fn decide(&self, formula: Term) -> Option<bool> {
        let first = Case { formula, differences: Vec::new(), states: FxHashMap::default() };
        let mut open = vec![first];
        let mut choices = 0;
        while let Some(case) = open.pop() {
            choices += 1;
            if choices > MOST_CHOICES {
                return None;
            }
            match case.formula {
                Term::FALSE => {}
                Term::TRUE => match self.choose_value(&case)? {
                    Some(cases) => open.extend(cases),
                    None => return Some(true),
                },
                _ => open.extend(self.choose(&case)?),
            }
        }
        Some(false)
    }

    /// The cases of a formula that is not decided.
    fn choose(&self, case: &Case) -> Option<Vec<Case>> {
        let store = self.store;
        let terms = store.subterms(&[case.formula]);
        for &term in &terms {
            match (store.view(term), store.sort_of(term)) {
                ((Op::Selector { .. } | Op::Tester(_), &[value]), _) => match store.op(value) {
                    Op::Var(_) => return Some(self.choose_constructor(case, value)),
                    // Innermost terms come first, so this is a selector of another constructor.
                    _ => return None,
                },
                ((Op::Ite, &[condition, a, b]), sort) if sort != Sort::BOOL => {
                    let chosen = |condition: Term, value: Term| Case {
                        formula: store.and2(condition, self.replace(case.formula, term, value)),
                        ..case.clone()
                    };
                    return Some(vec![chosen(condition, a), chosen(store.not(condition), b)]);
                }
                ((Op::Var(_), _), Sort::BOOL) => {
                    let chosen = |value: Term| self.with(case, &Substitution::from_iter([(term, value)]));
                    return Some(vec![chosen(Term::TRUE), chosen(Term::FALSE)]);
                }
                _ => {}
            }
        }
        for &term in &terms {
            if let (Op::Eq, &[a, b]) = store.view(term)
                && (store.datatype(store.sort_of(a)).is_some() || self.are_numbers(a, b))
            {
                return self.choose_equation(case, term, a, b);
            }
        }
        self.choose_state(case)
    }

    /// Whether two integers are variables or constants.
    fn are_numbers(&self, a: Term, b: Term) -> bool {
        let is_symbol = |term: Term| matches!(self.store.op(term), Op::Var(_) | Op::Numeral(_));
        let is_variable = |term: Term| matches!(self.store.op(term), Op::Var(_));
        self.store.sort_of(a) == Sort::INT
            && is_symbol(a)
            && is_symbol(b)
            && (is_variable(a) || is_variable(b))
    }

    fn choose_constructor(&self, case: &Case, variable: Term) -> Vec<Case> {
        let store = self.store;
        let constructors =
            store.datatype(store.sort_of(variable)).map_or(&[][..], |datatype| datatype.constructors());
        let chosen = |&constructor: &ConstructorId| {
            let sorts = store.constructor(constructor).fields.iter();
            let fields: Vec<Term> =
                sorts.map(|&(_, sort)| store.var(store.fresh_symbol("field"), sort)).collect();
            let value = store.construct_term(constructor, &fields);
            self.with(case, &Substitution::from_iter([(variable, value)]))
        };
        constructors.iter().map(chosen).collect()
    }

    /// The equation is true, or it is false.
    fn choose_equation(&self, case: &Case, equation: Term, a: Term, b: Term) -> Option<Vec<Case>> {
        let decided = |value: Term| self.replace(case.formula, equation, value);
        Some(match self.unify(a, b)? {
            Unifier::None => vec![Case { formula: decided(Term::FALSE), ..case.clone() }],
            Unifier::Solution(solution) if solution.is_empty() => {
                vec![Case { formula: decided(Term::TRUE), ..case.clone() }]
            }
            Unifier::Solution(solution) => {
                let mut differ = Case { formula: decided(Term::FALSE), ..case.clone() };
                differ.differences.push((a, b));
                let equal = Case { formula: decided(Term::TRUE), ..case.clone() };
                vec![self.with(&equal, &solution), differ]
            }
        })
    }

    /// Computes the states of terms whose variables have states. If that does not decide the formula, chooses the state of another
    /// variable.
    fn choose_state(&self, case: &Case) -> Option<Vec<Case>> {
        let store = self.store;
        let value = |op: Op, args: &[Term]| match (op, args) {
            (Op::Apply(fun), &[term]) if store.fold(fun).is_some() => {
                let state = &self.automaton.states[self.state(term, &case.states)?];
                let (_, folds) = self.automaton.sorts.iter().find(|(sort, _)| *sort == state.sort)?;
                let position = folds.iter().position(|&known| known == fun)?;
                Some(store.value_to_term(&state.components[position]))
            }
            _ => None,
        };
        let formula = store.rewrite(case.formula, &mut |op, args| {
            value(op, args).unwrap_or_else(|| {
                store.build(op, args).expect("values of folds have the sorts of applications")
            })
        });
        let case = Case { formula, ..case.clone() };
        if matches!(formula, Term::TRUE | Term::FALSE) {
            return Some(vec![case]);
        }
        let variables = store.free_vars(&[formula]);
        let &open = variables.iter().find(|variable| !case.states.contains_key(variable))?;
        self.states(&case, open)
    }

    /// The cases for the state of a variable; none if it is not of a datatype.
    fn states(&self, case: &Case, variable: Term) -> Option<Vec<Case>> {
        let sort = self.store.sort_of(variable);
        self.store.datatype(sort)?;
        let states = &self.automaton.states;
        let of_sort = (0..states.len()).filter(|&state| states[state].sort == sort);
        let chosen = |state: usize| {
            let mut case = case.clone();
            case.states.insert(variable, state);
            case
        };
        Some(of_sort.map(chosen).collect())
    }

    /// The state of a term.
    fn state(&self, term: Term, states: &FxHashMap<Term, usize>) -> Option<usize> {
        let store = self.store;
        let mut known: FxHashMap<Term, usize> = FxHashMap::default();
        for part in store.subterms(&[term]) {
            let state = match store.view(part) {
                _ if store.datatype(store.sort_of(part)).is_none() => continue,
                (Op::Var(_), _) => *states.get(&part)?,
                (Op::Construct(constructor), fields) => {
                    let fields: Vec<usize> =
                        fields.iter().filter_map(|field| known.get(field).copied()).collect();
                    *self.transitions.get(&(constructor, &*fields))?
                }
                _ => return None,
            };
            known.insert(part, state);
        }
        known.get(&term).copied()
    }

    /// For a true formula: the cases for the value of a variable of the differences; `None` inside if there is no choice, and
    /// all differences hold.
    fn choose_value(&self, case: &Case) -> Option<Option<Vec<Case>>> {
        let store = self.store;
        let mut open: Vec<Term> = Vec::new();
        for &(a, b) in &case.differences {
            match self.unify(a, b)? {
                Unifier::Solution(solution) if solution.is_empty() => return Some(Some(Vec::new())),
                Unifier::Solution(_) => open.extend([a, b]),
                Unifier::None => {}
            }
        }
        for variable in store.free_vars(&open) {
            if store.sort_of(variable) == Sort::BOOL {
                let chosen = |value: Term| self.with(case, &Substitution::from_iter([(variable, value)]));
                return Some(Some(vec![chosen(Term::TRUE), chosen(Term::FALSE)]));
            }
            if store.datatype(store.sort_of(variable)).is_none() {
                continue;
            }
            let Some(&state) = case.states.get(&variable) else {
                return self.states(case, variable).map(Some);
            };
            match &self.languages[state] {
                Language::Infinite => {}
                Language::Large => return None,
                Language::Values(values) => {
                    let chosen =
                        |&value: &Term| self.with(case, &Substitution::from_iter([(variable, value)]));
                    return Some(Some(values.iter().map(chosen).collect()));
                }
            }
        }
        Some(None)
    }

    fn with(&self, case: &Case, substitution: &Substitution) -> Case {
        let store = self.store;
        let at = |term: Term| store.instantiate(term, substitution);
        Case {
            formula: at(case.formula),
            differences: case.differences.iter().map(|&(a, b)| (at(a), at(b))).collect(),
            states: case.states.clone(),
        }
    }

    /// A formula with another term in place of all occurrences of one.
    fn replace(&self, formula: Term, old: Term, new: Term) -> Term {
        let store = self.store;
        store.rewrite(formula, &mut |op, args| {
            if store.view(old) == (op, args) {
                return new;
            }
            store.build(op, args).expect("the new term has the sort of the old one")
        })
    }

    /// Unifies terms of variables, constructors and constants; `None` if there is anything else in them.
    fn unify(&self, a: Term, b: Term) -> Option<Unifier> {
        let store = self.store;
        let mut solved: Vec<(Term, Term)> = Vec::new();
        let mut open = vec![(a, b)];
        while let Some((a, b)) = open.pop() {
            let solution = solved.iter().copied().collect();
            let (a, b) = (store.instantiate(a, &solution), store.instantiate(b, &solution));
            match (store.view(a), store.view(b)) {
                _ if a == b => {}
                ((Op::Var(_), _), _) | (_, (Op::Var(_), _)) => {
                    let (variable, term) = if matches!(store.op(a), Op::Var(_)) { (a, b) } else { (b, a) };
                    if !self.is_syntactic(term) {
                        return None;
                    }
                    if store.free_vars(&[term]).contains(&variable) {
                        return Some(Unifier::None);
                    }
                    let one = Substitution::from_iter([(variable, term)]);
                    solved.iter_mut().for_each(|(_, term)| *term = store.instantiate(*term, &one));
                    solved.push((variable, term));
                }
                ((Op::Construct(left), these), (Op::Construct(right), those)) => {
                    if left != right {
                        return Some(Unifier::None);
                    }
                    open.extend(these.iter().copied().zip(those.iter().copied()));
                }
                ((Op::Numeral(_) | Op::True | Op::False, _), (Op::Numeral(_) | Op::True | Op::False, _)) => {
                    return Some(Unifier::None);
                }
                _ => return None,
            }
        }
        Some(Unifier::Solution(solved.into_iter().collect()))
    }

    /// Whether a term has variables, constructors and constants only, and all numbers are integers.
    fn is_syntactic(&self, term: Term) -> bool {
        let store = self.store;
        store.subterms(&[term]).into_iter().all(|part| match store.op(part) {
            Op::Var(_) | Op::Numeral(_) => {
                let sort = store.sort_of(part);
                matches!(sort, Sort::INT | Sort::BOOL) || store.datatype(sort).is_some()
            }
            Op::Construct(_) | Op::True | Op::False => true,
            _ => false,
        })
    }
}

/// Whether the solver's verdict about formulas is right as far as it can be decided here: that they contradict what is given, or that
/// there are values for which they are true.
pub(super) fn agrees<E>(
    store: &TermStore,
    formulas: &[Term],
    given: &[Term],
    verdict: &Result<Option<Assignment>, E>,
) -> bool {
    match verdict {
        Ok(None) => are_satisfiable(store, &[formulas, given].concat()) != Some(true),
        Ok(Some(_)) => are_satisfiable(store, formulas) != Some(false),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use shofar_logic::{FoldCase, FoldLemma, FoldSpec, Fun, Value};
    use shofar_run::Limits;
    use shofar_testing::{Random, scale};

    use super::*;
    use crate::check::{Trust, folds};
    use crate::{Context, parse};

    /// `D` has infinite values. A `pair` has finitely many, and a `box` as many as its content.
    const DATATYPES: &str = "(declare-datatypes ((D 0)) (((a) (u (v D)) (b (l D) (r D)))))
        (declare-datatypes ((C 0)) (((red) (blue))))
        (declare-datatypes ((E 0)) (((pair (first C) (flag Bool)) (box (content D)))))
        (declare-fun P (D C E) Bool)";

    fn sorts(store: &TermStore) -> [Sort; 3] {
        let system = parse(store, "test", DATATYPES.as_bytes()).unwrap();
        let domain = &store.fun_decl(system.predicates[0]).domain;
        [domain[0], domain[1], domain[2]]
    }

    fn constructors(store: &TermStore, sort: Sort) -> &[ConstructorId] {
        store.datatype(sort).unwrap().constructors()
    }

    /// An automaton with a table for each constructor of each sort. Its folds are integers below the number of states.
    fn automaton(
        store: &TermStore,
        sorts: &[Sort],
        states: i64,
        entry: &mut dyn FnMut(ConstructorId, &[i64]) -> i64,
    ) -> Vec<Fun> {
        let new = |&sort: &Sort| store.new_fold(store.fresh_symbol("state"), sort, &[], Sort::INT);
        let functions: Vec<Fun> = sorts.iter().map(new).collect();
        let mut specs = Vec::new();
        for (&sort, &fun) in sorts.iter().zip(&functions) {
            let mut cases = Vec::new();
            for &constructor in constructors(store, sort) {
                let variable = |&(_, sort): &(_, Sort)| store.var(store.fresh_symbol("field"), sort);
                let fields: Box<[Term]> =
                    store.constructor(constructor).fields.iter().map(variable).collect();
                let of_field = |&field: &Term| {
                    let at = sorts.iter().position(|&sort| sort == store.sort_of(field))?;
                    store.apply(functions[at], &[field]).ok()
                };
                let calls: Vec<Term> = fields.iter().filter_map(of_field).collect();
                let mut value = store.int(0);
                for choice in 0..states.pow(calls.len() as u32) {
                    let digits: Vec<i64> =
                        (0..calls.len()).map(|at| choice / states.pow(at as u32) % states).collect();
                    let is_choice = calls.iter().zip(&digits).map(|(&call, &q)| store.eq(call, store.int(q)));
                    let result = store.int(entry(constructor, &digits));
                    value = store.ite(store.and_of(is_choice), result, value);
                }
                cases.push(FoldCase { constructor, fields, value });
            }
            specs.push(FoldSpec { fun, ghosts: Vec::new(), cases });
        }
        store.define_folds(&specs).unwrap().to_vec()
    }

    /// The verdict of the solver, with the lemmas about states that the checker uses; none if it does not decide.
    fn by_solver(context: &Context<'_>, formulas: &[Term]) -> Option<bool> {
        let store = context.store;
        let applied = store.folds_in(formulas);
        let mut lemmas: Vec<FoldLemma> = automata::lemmas(store, &applied);
        lemmas.extend(automata::language_lemmas(store, &applied));
        folds::prove(context, Trust::Solver, &lemmas).unwrap();
        let found = folds::refute(context, Trust::Solver, formulas, &[], &lemmas, "nothing").ok()?;
        Some(found.is_some())
    }

    /// Values of a sort up to a height.
    fn values(store: &TermStore, sort: Sort, height: usize) -> Vec<Term> {
        if sort == Sort::BOOL {
            return vec![Term::FALSE, Term::TRUE];
        }
        let mut found = Vec::new();
        for &constructor in if height == 0 { &[] } else { constructors(store, sort) } {
            let mut choices: Vec<Vec<Term>> = vec![Vec::new()];
            for &(_, field) in &store.constructor(constructor).fields {
                let below = values(store, field, height - 1);
                let extended = |choice: &Vec<Term>| {
                    let extend = |&value: &Term| choice.iter().copied().chain([value]).collect();
                    below.iter().map(extend).collect::<Vec<Vec<Term>>>()
                };
                choices = choices.iter().flat_map(extended).collect();
            }
            found.extend(choices.iter().map(|fields| store.construct_term(constructor, fields)));
        }
        found
    }

    /// Whether small values satisfy a formula.
    fn by_trial(store: &TermStore, formula: Term) -> bool {
        let mut assignments = vec![Assignment::new()];
        for variable in store.free_vars(&[formula]) {
            let values = values(store, store.sort_of(variable), 3);
            let extended = |assignment: &Assignment| {
                let extend = |&value: &Term| {
                    let mut assignment = assignment.clone();
                    assignment.set(variable, store.term_to_value(value).unwrap());
                    assignment
                };
                values.iter().map(extend).collect::<Vec<Assignment>>()
            };
            assignments = assignments.iter().flat_map(extended).collect();
        }
        assignments.iter().any(|assignment| store.eval(formula, assignment) == Ok(Value::Bool(true)))
    }

    fn random_term(random: &mut Random, store: &TermStore, sort: Sort, height: usize) -> Term {
        if sort == Sort::BOOL {
            return store.bool(random.bool());
        }
        if height == 0 || random.chance(60) {
            let name = format!("x{}", random.below(2));
            return store.var(store.symbol(&name), sort);
        }
        let constructor = *random.choose(constructors(store, sort));
        let fields: Vec<Sort> = store.constructor(constructor).fields.iter().map(|&(_, sort)| sort).collect();
        let fields: Vec<Term> =
            fields.into_iter().map(|sort| random_term(random, store, sort, height - 1)).collect();
        store.construct_term(constructor, &fields)
    }

    #[test]
    fn enumeration_solver_and_trial_agree_on_random_automata() {
        let (mut satisfiable, mut contradictory, mut solved) = (0, 0, 0);
        for seed in 0..150 * scale() {
            let random = &mut Random::new(seed);
            let store = TermStore::new();
            let context = Context { store: &store, limits: Limits::default() };
            let sorts = sorts(&store);
            let states = random.between(2, 3);
            let folds = automaton(&store, &sorts, states, &mut |_, _| random.between(0, states - 1));
            let literal = |random: &mut Random| {
                let at = *random.choose(&[0, 0, 1, 2]);
                let term = random_term(random, &store, sorts[at], 2);
                let atom = match random.below(5) {
                    0 | 1 => {
                        let state = store.int(random.between(0, states - 1));
                        store.eq(store.apply(folds[at], &[term]).unwrap(), state)
                    }
                    2 => store.tester(*random.choose(constructors(&store, sorts[at])), term),
                    _ => store.eq(term, random_term(random, &store, sorts[at], 2)),
                };
                if random.bool() { store.not(atom) } else { atom }
            };
            let clause = |random: &mut Random| store.or2(literal(random), literal(random));
            let mut conjuncts: Vec<Term> = (0..2 + random.below(4)).map(|_| literal(random)).collect();
            conjuncts.extend((0..random.below(3)).map(|_| clause(random)));
            let formula = store.and(&conjuncts);
            let Some(decided) = are_satisfiable(&store, &[formula]) else {
                panic!("seed {seed} is not decided: {}", store.display(formula))
            };
            if let Some(solver) = by_solver(&context, &[formula]) {
                assert_eq!(decided, solver, "seed {seed}: {}", store.display(formula));
                solved += 1;
            }
            if store.free_vars(&[formula]).len() <= 2 && by_trial(&store, formula) {
                assert!(decided, "seed {seed}: {}", store.display(formula));
            }
            *if decided { &mut satisfiable } else { &mut contradictory } += 1;
        }
        assert!(satisfiable >= 20 && contradictory >= 20, "{satisfiable}, {contradictory}");
        assert!(2 * solved >= satisfiable + contradictory, "{solved}");
    }

    /// Left branches of even length: the automaton proves the clauses of a system that needs it, and nearly no other does.
    #[test]
    fn faults_in_an_automaton_are_found_by_enumeration_and_by_the_solver() {
        let store = TermStore::new();
        let context = Context { store: &store, limits: Limits::default() };
        let [sort, ..] = sorts(&store);
        let [a, _, b] = constructors(&store, sort) else { panic!("three constructors") };
        let variable = |name: &str| store.var(store.symbol(name), sort);
        let [x, y, z] = ["x", "y", "z"].map(variable);
        let clauses_hold = |fun: Fun, accepted: i64, judge: &dyn Fn(&[Term]) -> Option<bool>| {
            let even = |term: Term| store.eq(store.apply(fun, &[term]).unwrap(), store.int(accepted));
            let node = |left: Term, right: Term| store.construct_term(*b, &[left, right]);
            let counterexamples = [
                vec![store.not(even(store.construct_term(*a, &[])))],
                vec![even(x), store.not(even(node(node(x, y), z)))],
                vec![even(x), even(node(x, y))],
            ];
            let found = counterexamples.map(|formulas| judge(&formulas));
            found
                .contains(&Some(true))
                .then_some(false)
                .or(found.iter().all(|one| *one == Some(false)).then_some(true))
        };
        let mut faults = 0;
        // Two states and a sink for `u`. The entry with this number is changed.
        for fault in 0..14 {
            for changed in 0..3 {
                let mut number = 0;
                let folds = automaton(&store, &[sort], 3, &mut |constructor, states| {
                    number += 1;
                    let right = match states {
                        [] => 0,
                        [left, _] if *left < 2 && constructor == *b => 1 - left,
                        _ => 2,
                    };
                    if number == fault { changed } else { right }
                });
                let enumerated = clauses_hold(folds[0], 0, &|formulas| are_satisfiable(&store, formulas));
                let solved = clauses_hold(folds[0], 0, &|formulas| by_solver(&context, formulas));
                assert!(enumerated.is_some());
                assert!(
                    solved.is_none() || solved == enumerated,
                    "{fault}, {changed}: {enumerated:?}, {solved:?}"
                );
                assert!(fault > 0 || enumerated == Some(true));
                faults += u64::from(enumerated == Some(false));
            }
        }
        assert!(faults >= 10, "{faults}");
    }

    /// The state has the values `a` and `u(a)` only, so three variables with it are not all different.
    #[test]
    fn variables_of_finite_languages_are_enumerated() {
        let store = TermStore::new();
        let context = Context { store: &store, limits: Limits::default() };
        let [sort, ..] = sorts(&store);
        let [a, u, _] = constructors(&store, sort) else { panic!("three constructors") };
        // `a` has the state 0, `u(a)` the state 1, and all others the state 2.
        let folds = automaton(&store, &[sort], 3, &mut |constructor, states| match states {
            [] => 0,
            [0] if constructor == *u => 1,
            _ => 2,
        });
        let variable = |name: &str| store.var(store.symbol(name), sort);
        let [x, y, z] = ["x", "y", "z"].map(variable);
        let state = |term: Term| store.apply(folds[0], &[term]).unwrap();
        let differ = |s: Term, t: Term| store.not(store.eq(s, t));
        let all_differ = [differ(x, y), differ(y, z), differ(x, z)];
        let small = |term: Term| store.le(state(term), store.int(1));
        let large = |term: Term| store.eq(state(term), store.int(2));
        let three = [&all_differ[..], &[small(x), small(y), small(z)]].concat();
        assert_eq!(are_satisfiable(&store, &three), Some(false));
        assert_eq!(by_solver(&context, &three), Some(false));
        let two = [&all_differ[..], &[small(x), small(y), large(z)]].concat();
        assert_eq!(are_satisfiable(&store, &two), Some(true));
        let many = [&all_differ[..], &[large(x), large(y), large(z)]].concat();
        assert_eq!(are_satisfiable(&store, &many), Some(true));
        let constant = store.construct_term(*a, &[]);
        assert_eq!(
            are_satisfiable(&store, &[store.le(state(x), store.int(0)), differ(x, constant)]),
            Some(false)
        );
    }

    #[test]
    fn a_wrong_verdict_is_noticed() {
        let store = TermStore::new();
        let [sort, ..] = sorts(&store);
        let folds = automaton(&store, &[sort], 2, &mut |_, states| i64::from(states.is_empty()));
        let x = store.var(store.symbol("x"), sort);
        let state = store.apply(folds[0], &[x]).unwrap();
        let (possible, impossible) = (store.eq(state, store.int(1)), store.ge(state, store.int(2)));
        let refuted: Result<Option<Assignment>, ()> = Ok(None);
        let found: Result<Option<Assignment>, ()> = Ok(Some(Assignment::new()));
        assert!(agrees(&store, &[possible], &[], &found) && !agrees(&store, &[possible], &[], &refuted));
        assert!(agrees(&store, &[impossible], &[], &refuted) && !agrees(&store, &[impossible], &[], &found));
        assert!(agrees(&store, &[possible], &[impossible], &refuted));
    }
}
