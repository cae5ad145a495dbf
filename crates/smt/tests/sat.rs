//! The SAT core against brute force, alone and with a small theory, and on problems with known answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use shofar_run::{Limits, Reason};
use shofar_smt::sat::{Answers, Certificate, Clash, Effort, Lit, NoTheory, Outcome, Solver, Theory, Var};
use shofar_testing::Random;
use shofar_testing::families::random_3_clauses;

// ---- scripts, run on the solver and on a truth table ---------------------------------------------------------

/// A literal of a script: the number of a variable, and whether it is positive.
type ScriptLit = (usize, bool);

#[derive(Clone, Debug)]
enum Step {
    Add(Vec<ScriptLit>),
    Solve(Vec<ScriptLit>),
    Push,
    Pop,
}

/// A constraint on some variables that is left to the theory.
#[derive(Clone, Debug)]
enum Constraint {
    AtMost(usize, Vec<usize>),
    Even(Vec<usize>),
}

impl Constraint {
    fn holds(&self, assignment: u32) -> bool {
        let count = |vars: &[usize]| vars.iter().filter(|&&var| assignment >> var & 1 == 1).count();
        match self {
            Constraint::AtMost(bound, vars) => count(vars) <= *bound,
            Constraint::Even(vars) => count(vars) % 2 == 0,
        }
    }
}

/// What the solver is compared with.
struct Reference {
    num_vars: usize,
    constraints: Vec<Constraint>,
    frames: Vec<Vec<Vec<ScriptLit>>>,
    /// The variables without which a model is none; other ones may be left open.
    demanded: usize,
}

impl Reference {
    fn is_model(&self, assignment: u32, assumptions: &[ScriptLit]) -> bool {
        let holds = |&(var, sign): &ScriptLit| (assignment >> var & 1 == 1) == sign;
        assumptions.iter().all(holds)
            && self.frames.iter().flatten().all(|clause| clause.iter().any(holds))
            && self.constraints.iter().all(|constraint| constraint.holds(assignment))
    }

    fn has_model(&self, assumptions: &[ScriptLit]) -> bool {
        (0..1 << self.num_vars).any(|assignment| self.is_model(assignment, assumptions))
    }
}

fn run<T: Theory>(
    solver: Solver<T>,
    vars: &[Var],
    constraints: Vec<Constraint>,
    steps: &[Step],
) -> Solver<T> {
    let demanded = vars.len();
    run_against(
        Reference { num_vars: vars.len(), constraints, frames: vec![vec![]], demanded },
        solver,
        vars,
        steps,
    )
}

fn run_against<T: Theory>(
    mut reference: Reference,
    mut solver: Solver<T>,
    vars: &[Var],
    steps: &[Step],
) -> Solver<T> {
    let lits =
        |lits: &[ScriptLit]| -> Vec<Lit> { lits.iter().map(|&(var, sign)| vars[var].lit(sign)).collect() };
    for step in steps {
        match step {
            Step::Add(clause) => {
                solver.add_clause(&lits(clause));
                reference.frames.last_mut().unwrap().push(clause.clone());
            }
            Step::Push => {
                solver.push();
                reference.frames.push(vec![]);
            }
            Step::Pop => {
                if solver.depth() > 0 {
                    solver.pop();
                    reference.frames.pop();
                }
            }
            Step::Solve(assumptions) => check_query(&mut solver, vars, &reference, assumptions, lits),
        }
        solver.check_invariants();
    }
    solver
}

fn check_query<T: Theory>(
    solver: &mut Solver<T>,
    vars: &[Var],
    reference: &Reference,
    assumptions: &[ScriptLit],
    lits: impl Fn(&[ScriptLit]) -> Vec<Lit>,
) {
    match solver.solve(&lits(assumptions)) {
        Outcome::Sat => {
            let demanded = &vars[..reference.demanded];
            assert!(demanded.iter().all(|&var| solver.value(var).is_some()), "values are missing");
            for rest in [false, true] {
                let value = |var: &Var| u32::from(solver.value(*var).unwrap_or(rest));
                let model = vars.iter().enumerate().map(|(index, var)| value(var) << index).sum();
                assert!(reference.is_model(model, assumptions), "{model:b} is no model");
            }
        }
        Outcome::Unsat => {
            let core: Vec<ScriptLit> = solver
                .core()
                .iter()
                .map(|lit| (vars.iter().position(|&var| var == lit.var()).unwrap(), lit.is_positive()))
                .collect();
            assert!(core.iter().all(|lit| assumptions.contains(lit)), "{core:?} is not assumed");
            assert!(!reference.has_model(&core), "{core:?} is no core");
        }
        Outcome::Unknown(reason) => panic!("{reason:?}"),
    }
    for (index, &var) in vars.iter().enumerate() {
        if let Some(value) = solver.fixed(var) {
            assert!(!reference.has_model(&[(index, !value)]), "{var:?} is not fixed");
        }
    }
}

fn script_lits(
    num_vars: usize,
    len: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = Vec<ScriptLit>> {
    prop::collection::vec((0..num_vars, any::<bool>()), len)
}

fn script(num_vars: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        40 => script_lits(num_vars, 2..=4).prop_map(Step::Add),
        2 => script_lits(num_vars, 0..=1).prop_map(Step::Add),
        10 => script_lits(num_vars, 0..=4).prop_map(Step::Solve),
        3 => Just(Step::Push),
        3 => Just(Step::Pop),
    ];
    prop::collection::vec(step, 1..120)
}

/// A script with many queries that share a prefix of assumptions.
fn prefix_script(num_vars: usize) -> impl Strategy<Value = Vec<Step>> {
    let queries =
        prop::collection::vec((0_usize..6, script_lits(num_vars, 0..3), script_lits(num_vars, 1..4)), 1..40);
    (script_lits(num_vars, 6), queries).prop_map(|(base, queries)| {
        let mut steps = Vec::new();
        for (prefix, suffix, clause) in queries {
            steps.push(Step::Add(clause));
            steps.push(Step::Solve([&base[..prefix], &suffix].concat()));
        }
        steps
    })
}

fn plain(num_vars: usize, seed: u64) -> (Solver, Vec<Var>) {
    let mut solver = Solver::with_theory(NoTheory, seed);
    // With so few variables no jump is far by itself.
    if let Some(levels) = seed.checked_sub(1) {
        solver.set_longest_jump(levels as u32);
    }
    let vars = (0..num_vars).map(|_| solver.new_var()).collect();
    (solver, vars)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scripts_are_answered_as_by_truth_table(steps in script(8), seed in 0_u64..3) {
        let (solver, vars) = plain(8, seed);
        run(solver, &vars, vec![], &steps);
    }

    #[test]
    fn partial_models_are_models_whatever_they_leave_open(
        steps in prop_oneof![script(8), prefix_script(8)],
        demanded in 0_usize..3,
    ) {
        let mut solver = Solver::new();
        solver.allow_partial_models();
        let vars: Vec<Var> = (0..8).map(|_| solver.new_var()).collect();
        vars[..demanded].iter().for_each(|&var| solver.demand_value(var));
        let reference = Reference { num_vars: 8, constraints: vec![], frames: vec![vec![]], demanded };
        run_against(reference, solver, &vars, &steps);
    }

    #[test]
    fn shared_prefixes_do_not_change_answers(steps in prefix_script(10), seed in 0_u64..3) {
        let (solver, vars) = plain(10, seed);
        run(solver, &vars, vec![], &steps);
    }

    #[test]
    fn hard_small_formulas_are_answered_as_by_truth_table(clauses in prop::collection::vec(script_lits(12, 3), 40..60)) {
        let mut steps: Vec<Step> = clauses.into_iter().map(Step::Add).collect();
        steps.push(Step::Solve(vec![]));
        steps.push(Step::Solve(vec![(0, true), (1, false)]));
        let (solver, vars) = plain(12, 0);
        run(solver, &vars, vec![], &steps);
    }
}

// ---- a theory of counting ------------------------------------------------------------------------------------

/// How the theory tells that too many variables are true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// At once, by a clash.
    Clash,
    /// In the next check, by a conflict.
    Conflict,
    /// In the next check, by propagating a literal that is false.
    Propagate,
    /// In the final check only.
    Lazy,
}

/// At-most-k constraints propagate with lazy explanations; parity is looked at in final checks, and brought about by
/// a conflict or, the first time, by clauses over new variables.
struct Counting {
    style: Style,
    at_most: Vec<(usize, Vec<Var>)>,
    even: Vec<Vec<Var>>,
    /// Whether the clauses for a parity constraint have been stated. Those that are not stated use conflicts.
    stated: Vec<bool>,
    asserted: Vec<Lit>,
    levels: Vec<usize>,
    /// The constraint that is known to be violated by the last assertion.
    violated: Option<usize>,
    explained: u32,
}

impl Counting {
    fn new(style: Style, constraints: &[Constraint], vars: &[Var], state_parity: bool) -> Self {
        let select = |chosen: &[usize]| chosen.iter().map(|&var| vars[var]).collect::<Vec<_>>();
        let mut at_most = Vec::new();
        let mut even = Vec::new();
        for constraint in constraints {
            match constraint {
                Constraint::AtMost(bound, chosen) => at_most.push((*bound, select(chosen))),
                Constraint::Even(chosen) => even.push(select(chosen)),
            }
        }
        let stated = vec![!state_parity; even.len()];
        Self { style, at_most, even, stated, asserted: vec![], levels: vec![], violated: None, explained: 0 }
    }

    /// The first `bound + 1` true literals of a constraint, in the order of assertion, within a prefix.
    fn true_lits(&self, constraint: usize, prefix: usize) -> Vec<Lit> {
        let (bound, vars) = &self.at_most[constraint];
        let is_counted = |lit: &&Lit| lit.is_positive() && vars.contains(&lit.var());
        self.asserted[..prefix].iter().filter(is_counted).take(bound + 1).copied().collect()
    }

    fn check_bounds(&mut self, answers: &mut Answers<'_>) {
        for constraint in 0..self.at_most.len() {
            let lits = self.true_lits(constraint, self.asserted.len());
            let (bound, vars) = &self.at_most[constraint];
            if lits.len() > *bound {
                if self.style == Style::Propagate {
                    // The explanation may use only what was true before the last of them.
                    let last = lits[*bound];
                    let before = self.asserted.iter().position(|&lit| lit == last).unwrap();
                    answers.propagate(!last, (constraint * 1000 + before) as u32);
                } else {
                    answers.conflict(&lits, Certificate(constraint as u32));
                }
            } else if lits.len() == *bound {
                for &var in vars.iter().filter(|&&var| !self.asserted.iter().any(|lit| lit.var() == var)) {
                    answers.propagate(var.negative(), (constraint * 1000 + self.asserted.len()) as u32);
                }
            }
        }
    }

    fn check_parity(&mut self, answers: &mut Answers<'_>) {
        for index in 0..self.even.len() {
            let vars = &self.even[index];
            let lits: Vec<Lit> =
                self.asserted.iter().filter(|lit| vars.contains(&lit.var())).copied().collect();
            assert_eq!(lits.len(), vars.len(), "final checks see all atoms");
            if lits.iter().filter(|lit| lit.is_positive()).count() % 2 == 0 {
                continue;
            }
            if std::mem::replace(&mut self.stated[index], true) {
                answers.conflict(&lits, Certificate(u32::MAX));
                continue;
            }
            // A chain of exclusive ors; the sum of none is false.
            let certificate = Certificate(index as u32);
            let mut sum = answers.new_var();
            answers.lemma(&[sum.negative()], certificate);
            for (position, &var) in vars.iter().enumerate() {
                let next = if position % 2 == 0 { answers.new_var() } else { answers.new_atom() };
                for signs in 0..4_u32 {
                    let (a, b) = (signs & 1 == 1, signs & 2 == 2);
                    answers.lemma(&[sum.lit(!a), var.lit(!b), next.lit(a != b)], certificate);
                }
                sum = next;
            }
            answers.lemma(&[sum.negative()], certificate);
        }
    }
}

impl Theory for Counting {
    fn assert(&mut self, lit: Lit) -> Result<(), Clash> {
        assert!(self.violated.is_none(), "nothing is asserted after a clash");
        assert!(!self.asserted.contains(&lit) && !self.asserted.contains(&!lit));
        self.asserted.push(lit);
        if self.style == Style::Clash && lit.is_positive() {
            let is_violated = |&index: &usize| {
                let (bound, vars) = &self.at_most[index];
                vars.contains(&lit.var()) && self.true_lits(index, self.asserted.len()).len() > *bound
            };
            self.violated = (0..self.at_most.len()).find(is_violated);
        }
        if self.violated.is_some() { Err(Clash) } else { Ok(()) }
    }

    fn push_level(&mut self) {
        assert!(self.violated.is_none());
        self.levels.push(self.asserted.len());
    }

    fn pop_levels(&mut self, count: u32) {
        let level = self.levels.len() - count as usize;
        self.asserted.truncate(self.levels[level]);
        self.levels.truncate(level);
        self.violated = None;
    }

    fn check(&mut self, effort: Effort, answers: &mut Answers<'_>) {
        if let Some(constraint) = self.violated {
            answers.conflict(&self.true_lits(constraint, self.asserted.len()), Certificate(0));
            return;
        }
        if effort == Effort::Final || self.style != Style::Lazy {
            self.check_bounds(answers);
        }
        if effort == Effort::Final {
            self.check_parity(answers);
        }
    }

    fn explain(&mut self, lit: Lit, token: u32, out: &mut Vec<Lit>) -> Certificate {
        self.explained += 1;
        let (constraint, prefix) = (token as usize / 1000, token as usize % 1000);
        let bound = self.at_most[constraint].0;
        assert!(!lit.is_positive() && self.at_most[constraint].1.contains(&lit.var()));
        out.extend(self.true_lits(constraint, prefix).into_iter().take(bound));
        Certificate(token)
    }

    fn suggest_phase(&mut self, atom: Var) -> Option<bool> {
        // Against the constraints, so that they matter.
        (!atom.index().is_multiple_of(3)).then_some(true)
    }
}

fn counting(
    style: Style,
    constraints: &[Constraint],
    num_vars: usize,
    state: bool,
) -> (Solver<Counting>, Vec<Var>) {
    let vars: Vec<Var> = (0..num_vars).map(Var::from_index).collect();
    let mut solver = Solver::with_theory(Counting::new(style, constraints, &vars, state), 0);
    if state {
        solver.set_longest_jump(0);
    }
    for &var in &vars {
        let is_atom = constraints.iter().any(|constraint| match constraint {
            Constraint::AtMost(_, chosen) | Constraint::Even(chosen) => chosen.contains(&var.index()),
        });
        // Every other one becomes an atom only afterwards.
        let made = if is_atom && var.index() % 2 == 0 { solver.new_atom() } else { solver.new_var() };
        assert_eq!(made, var);
        if is_atom {
            solver.make_atom(var);
        }
    }
    (solver, vars)
}

fn constraint(num_vars: usize) -> impl Strategy<Value = Constraint> {
    let subset = prop::sample::subsequence((0..num_vars).collect::<Vec<_>>(), 1..=num_vars.min(6));
    prop_oneof![
        2 => (0_usize..4, subset.clone()).prop_map(|(bound, vars)| Constraint::AtMost(bound, vars)),
        1 => subset.prop_map(Constraint::Even),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scripts_with_a_theory_are_answered_as_by_truth_table(
        steps in script(9),
        constraints in prop::collection::vec(constraint(9), 1..4),
        style in prop::sample::select(vec![Style::Clash, Style::Conflict, Style::Propagate, Style::Lazy]),
        state in any::<bool>(),
    ) {
        let (solver, vars) = counting(style, &constraints, 9, state);
        run(solver, &vars, constraints, &steps);
    }
}

#[test]
fn all_ways_of_the_theory_are_taken() {
    // Any four of ten variables, at most three in total, evenly many of the last five.
    let constraints = vec![Constraint::AtMost(3, (0..10).collect()), Constraint::Even((5..10).collect())];
    let mut clauses: Vec<Step> = Vec::new();
    for skipped in 0..4 {
        clauses.push(Step::Add((0..10).filter(|var| var % 4 == skipped).map(|var| (var, true)).collect()));
    }
    clauses.push(Step::Solve(vec![]));
    clauses.push(Step::Solve(vec![(3, false), (6, true)]));
    for style in [Style::Clash, Style::Conflict, Style::Propagate, Style::Lazy] {
        for state in [false, true] {
            let (solver, vars) = counting(style, &constraints, 10, state);
            let solver = run(solver, &vars, constraints.clone(), &clauses);
            let statistics = solver.statistics();
            assert!(statistics.theory_checks > 0 && statistics.conflicts > 0);
            assert!(style == Style::Lazy || statistics.theory_propagations > 0);
            assert!(style == Style::Lazy || statistics.theory_explanations > 0);
            assert_eq!(statistics.theory_explanations, u64::from(solver.theory().explained));
        }
    }
    let constraints = vec![Constraint::Even((0..6).collect())];
    let odd = vec![
        Step::Add(vec![(0, true), (1, true)]),
        Step::Add(vec![(0, false), (1, false)]),
        Step::Solve((2..6).map(|var| (var, false)).collect()),
        Step::Solve(vec![]),
    ];
    let (solver, vars) = counting(Style::Lazy, &constraints, 6, true);
    let solver = run(solver, &vars, constraints, &odd);
    assert!(solver.statistics().theory_lemmas > 20 && solver.num_vars() > 6);
}

#[test]
fn a_theory_may_give_up() {
    struct Helpless;
    impl Theory for Helpless {
        fn assert(&mut self, _lit: Lit) -> Result<(), Clash> {
            Ok(())
        }
        fn push_level(&mut self) {}
        fn pop_levels(&mut self, _count: u32) {}
        fn check(&mut self, effort: Effort, answers: &mut Answers<'_>) {
            if effort == Effort::Final {
                answers.give_up();
            }
        }
        fn explain(&mut self, _lit: Lit, _token: u32, _out: &mut Vec<Lit>) -> Certificate {
            unreachable!("nothing is propagated")
        }
    }
    let mut solver = Solver::with_theory(Helpless, 0);
    let x = solver.new_atom();
    assert_eq!(solver.solve(&[x.positive()]), Outcome::Unknown(Reason::Incomplete));
    solver.add_clause(&[x.negative()]);
    assert_eq!(solver.solve(&[x.positive()]), Outcome::Unsat);
}

// ---- problems of known answer --------------------------------------------------------------------------------

/// More pigeons than holes.
fn pigeons(solver: &mut Solver, holes: usize) {
    let at: Vec<Vec<Var>> = (0..=holes).map(|_| (0..holes).map(|_| solver.new_var()).collect()).collect();
    for (pigeon, choices) in at.iter().enumerate() {
        solver.add_clause(&choices.iter().map(|var| var.positive()).collect::<Vec<_>>());
        for other in &at[..pigeon] {
            for (x, y) in choices.iter().zip(other) {
                solver.add_clause(&[x.negative(), y.negative()]);
            }
        }
    }
}

fn random_3_sat(variables: usize, clauses: usize, seed: u64) -> Vec<[Lit; 3]> {
    let literal = |(variable, is_positive)| Var::from_index(variable).lit(is_positive);
    let clauses = random_3_clauses(variables, clauses, seed).into_iter();
    clauses.map(|clause| clause.map(literal)).collect()
}

#[test]
fn pigeons_do_not_fit() {
    for holes in 1..=8 {
        let mut solver = Solver::new();
        pigeons(&mut solver, holes);
        assert_eq!(solver.solve(&[]), Outcome::Unsat, "{holes} holes");
    }
}

#[test]
fn random_formulas_at_the_threshold_are_decided() {
    let mut answers = [0, 0];
    for seed in 0..20 {
        let clauses = random_3_sat(150, 639, seed);
        let (mut solver, vars) = plain(150, 0);
        for clause in &clauses {
            solver.add_clause(clause);
        }
        match solver.solve(&[]) {
            Outcome::Sat => {
                answers[0] += 1;
                let is_true = |lit: &Lit| solver.value(vars[lit.var().index()]) == Some(lit.is_positive());
                assert!(clauses.iter().all(|clause| clause.iter().any(is_true)));
            }
            Outcome::Unsat => answers[1] += 1,
            Outcome::Unknown(reason) => panic!("{reason:?}"),
        }
    }
    assert!(answers[0] > 2 && answers[1] > 2, "{answers:?}");
}

#[test]
fn runs_are_repeatable() {
    let statistics = [(); 2].map(|()| {
        let (mut solver, _) = plain(120, 7);
        for clause in random_3_sat(120, 511, 3) {
            solver.add_clause(&clause);
        }
        let outcome = solver.solve(&[]);
        (outcome, *solver.statistics())
    });
    assert_eq!(statistics[0], statistics[1]);
}

#[test]
fn a_million_implications_are_followed_and_analysed() {
    const LENGTH: usize = 1_000_000;
    let (mut solver, chain) = plain(LENGTH, 0);
    for pair in chain.windows(2) {
        solver.add_clause(&[pair[0].negative(), pair[1].positive()]);
    }
    let (first, last) = (chain[0], chain[LENGTH - 1]);
    assert_eq!(solver.solve(&[first.positive()]), Outcome::Sat);
    assert_eq!(solver.value(last), Some(true));
    assert_eq!(solver.solve(&[first.positive(), last.negative()]), Outcome::Unsat);
    assert_eq!(solver.core().len(), 2);
    // Under the decision of `d` follow `y` from the last variable and `-y` from the first. The clause learnt is `-d`
    // without the last variable: minimisation has to follow the chain.
    let (d, y) = (solver.new_var(), solver.new_var());
    solver.add_clause(&[d.negative(), last.negative(), y.positive()]);
    solver.add_clause(&[d.negative(), first.negative(), y.negative()]);
    let before = solver.statistics().minimized_literals;
    assert_eq!(solver.solve(&[first.positive(), d.positive()]), Outcome::Unsat);
    assert_eq!(solver.statistics().minimized_literals, before + 1);
}

#[test]
fn parities_of_long_chains_are_decided() {
    // x[i+1] = x[i] xor y[i], with the y given as assumptions.
    const LENGTH: usize = 2000;
    let mut solver = Solver::new();
    let x: Vec<Var> = (0..=LENGTH).map(|_| solver.new_var()).collect();
    let y: Vec<Var> = (0..LENGTH).map(|_| solver.new_var()).collect();
    for index in 0..LENGTH {
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            solver.add_clause(&[x[index].lit(!a), y[index].lit(!b), x[index + 1].lit(a != b)]);
        }
    }
    let mut random = Random::new(1);
    for _ in 0..10 {
        let mut assumptions: Vec<Lit> = y.iter().map(|var| var.lit(random.bool())).collect();
        let parity = assumptions.iter().filter(|lit| lit.is_positive()).count() % 2 == 1;
        assumptions.push(x[0].negative());
        assert_eq!(solver.solve(&assumptions), Outcome::Sat);
        assert_eq!(solver.value(x[LENGTH]), Some(parity));
        assumptions.push(x[LENGTH].lit(!parity));
        assert_eq!(solver.solve(&assumptions), Outcome::Unsat);
        assert_eq!(solver.core().len(), LENGTH + 2);
    }
}

#[test]
fn diamonds_are_crossed_without_trying_all_paths() {
    // From each node one of two ways leads to the next: 2^10000 paths.
    const LENGTH: usize = 10_000;
    let mut solver = Solver::new();
    let nodes: Vec<Var> = (0..=LENGTH).map(|_| solver.new_var()).collect();
    for pair in nodes.windows(2) {
        let (left, right) = (solver.new_var(), solver.new_var());
        solver.add_clause(&[pair[0].negative(), left.positive(), right.positive()]);
        solver.add_clause(&[left.negative(), pair[1].positive()]);
        solver.add_clause(&[right.negative(), pair[1].positive()]);
    }
    assert_eq!(solver.solve(&[nodes[0].positive(), nodes[LENGTH].negative()]), Outcome::Unsat);
    assert_eq!(solver.core().len(), 2);
    assert_eq!(solver.solve(&[nodes[0].positive()]), Outcome::Sat);
}

#[test]
fn models_can_be_enumerated_by_blocking_clauses() {
    let (mut solver, vars) = plain(10, 0);
    for pair in vars.windows(2) {
        solver.add_clause(&[pair[0].negative(), pair[1].negative()]);
    }
    let mut count = 0;
    while solver.solve(&[]) == Outcome::Sat {
        count += 1;
        let blocking: Vec<Lit> = vars.iter().map(|&var| var.lit(!solver.value(var).unwrap())).collect();
        solver.add_clause(&blocking);
        solver.check_invariants();
    }
    // Words without two adjacent ones: the twelfth Fibonacci number.
    assert_eq!(count, 144);
}

#[test]
fn another_thread_can_cancel() {
    let cancel = AtomicBool::new(false);
    let mut solver = Solver::new();
    pigeons(&mut solver, 14);
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let outcome = solver.solve_within(&[], &Limits { cancel: Some(&cancel), ..Limits::default() });
            (outcome, Instant::now())
        });
        thread::sleep(Duration::from_millis(200));
        let start = Instant::now();
        cancel.store(true, Ordering::Relaxed);
        let (outcome, end) = worker.join().unwrap();
        assert_eq!(outcome, Outcome::Unknown(Reason::Cancelled));
        // Fifty milliseconds are promised; a loaded machine gets more.
        assert!(end.saturating_duration_since(start) < Duration::from_millis(500));
    });
}

#[test]
fn deadlines_are_kept() {
    let mut solver = Solver::new();
    pigeons(&mut solver, 14);
    let start = Instant::now();
    let limits = Limits { deadline: Some(start + Duration::from_millis(100)), ..Limits::default() };
    assert_eq!(solver.solve_within(&[], &limits), Outcome::Unknown(Reason::Deadline));
    assert!(start.elapsed() < Duration::from_millis(600));
}
