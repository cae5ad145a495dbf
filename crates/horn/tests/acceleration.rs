//! Acceleration: closed forms of loops by hand, and random loops beside their unrolling.

use shofar_horn::acceleration::{Acceleration, MOST_STEPS};
use shofar_horn::check::check_derivation;
use shofar_horn::graph::EdgeId;
use shofar_horn::transform::{Accelerate, Transformation, Transformed};
use shofar_horn::witness::{Derivation, GraphStep};
use shofar_horn::{Context, HornGraph, parse};
use shofar_logic::{Assignment, Substitution, Term, TermStore, Value};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::{Random, scale};

/// A loop over three integers and a truth value, whose successors are `u`, `v`, `w` and `c`.
struct Looped<'a> {
    store: &'a TermStore,
    state: Vec<Term>,
    next: Vec<Term>,
    literals: Vec<Term>,
}

impl<'a> Looped<'a> {
    fn new(store: &'a TermStore, literals: &str) -> Self {
        let text = format!(
            "(declare-fun P (Int Int Int Bool) Bool)
             (assert (forall ((x Int) (y Int) (z Int) (b Bool) (u Int) (v Int) (w Int) (c Bool))
                 (=> (and (P x y z b) {literals}) (P u v w c))))"
        );
        let system = parse(store, "test", text.as_bytes()).expect("the test's clauses are right");
        let graph = HornGraph::of(store, &system);
        let (_, node) = graph.nodes().next().expect("there is a predicate");
        let (id, _) = graph.edges().next().expect("there is a clause");
        let (state, next) = (node.variables().to_vec(), node.next().to_vec());
        let literals = store.conjuncts(graph.edge(id).label()).collect();
        Looped { store, state, next, literals }
    }

    fn accelerated(&self) -> Option<Acceleration> {
        Acceleration::of(&Context::new(self.store), &self.state, &self.next, &self.literals)
    }

    /// The loop from the first to the last one of some vectors.
    fn unrolled(&self, states: &[Vec<Term>]) -> Term {
        let steps = states.windows(2).flat_map(|pair| {
            let variables = self.state.iter().chain(&self.next).copied();
            let step: Substitution = variables.zip(pair.concat()).collect();
            self.store.instantiate_all(&self.literals, &step)
        });
        self.store.and_of(steps.collect::<Vec<Term>>())
    }

    /// Vectors for the states of this many rounds, from the state to its successor.
    fn vectors(&self, rounds: u64) -> Vec<Vec<Term>> {
        let between = |_| {
            let fresh = |&x: &Term| self.store.var(self.store.fresh_symbol("between"), self.store.sort_of(x));
            self.state.iter().map(fresh).collect()
        };
        let mut states = vec![self.state.clone()];
        states.extend((1..rounds).map(between));
        states.push(self.next.clone());
        states
    }

    /// After so many rounds the formula is right: it holds if the unrolling does, for all integers; and for some of its models
    /// the unrolling holds as well, and the states in between are those of the loop.
    #[track_caller]
    fn confirm(&self, acceleration: &Acceleration, rounds: u64, models: usize) {
        let (store, context) = (self.store, Context::new(self.store));
        let unrolled = self.unrolled(&self.vectors(rounds));
        let after = acceleration.after(store, rounds);
        let missing = model(store, &[unrolled, store.not(after)]);
        let text = store.display(acceleration.formula());
        assert!(missing.is_none(), "{rounds} rounds are missing in {text}");
        let mut found = vec![after];
        for _ in 0..models {
            let Some(model) = model(store, &found) else { break };
            let values = |variables: &[Term]| -> Vec<Value> {
                let value =
                    |&x: &Term| model.get(x).cloned().unwrap_or(store.default_value(store.sort_of(x)));
                variables.iter().map(value).collect()
            };
            let (first, last) = (values(&self.state), values(&self.next));
            let ends = self.state.iter().chain(&self.next).zip(first.iter().chain(&last));
            let ends = store.and_of(ends.map(|(&x, value)| store.eq(x, store.value_to_term(value))));
            assert!(
                self::model(store, &[unrolled, ends]).is_some(),
                "{rounds} rounds do not exist in {text}"
            );
            let mut before = first.clone();
            let mut budget = MOST_STEPS;
            for state in acceleration.rounds(&context, &first, &last, &mut budget).expect("there are few") {
                let state = state.expect("there are no limits");
                let variables = self.state.iter().chain(&self.next).copied();
                let values = before.iter().chain(&state).cloned();
                let step: Assignment = variables.zip(values).collect();
                for &literal in &self.literals {
                    assert_eq!(store.eval(literal, &step), Ok(Value::Bool(true)), "{text}");
                }
                before = state.into();
            }
            assert_eq!(before, last);
            found.push(store.not(ends));
        }
    }

    /// The loop is accelerated, and the first rounds are right.
    #[track_caller]
    fn is_exact(&self) -> Acceleration {
        let acceleration = self.accelerated().expect("the loop has a closed form");
        for rounds in 1..=7 {
            self.confirm(&acceleration, rounds, 3);
        }
        acceleration
    }
}

fn model(store: &TermStore, formulas: &[Term]) -> Option<Assignment> {
    let mut solver = Solver::new(store);
    solver.assert_all(formulas).expect("the formulas are linear");
    match solver.check(&[], &Limits::default()) {
        Ok(Outcome::Sat) => Some(solver.model(formulas)),
        Ok(Outcome::Unsat) => None,
        other => panic!("{other:?}"),
    }
}

const SAME_Y: &str = "(= v y)";
const SAME_Z: &str = "(= w z) (= c b)";

#[test]
fn an_upper_bound_is_checked_before_the_last_round() {
    let store = TermStore::new();
    let looped = Looped::new(&store, &format!("(< x 2000000) (= u (+ x 2)) {SAME_Y} {SAME_Z}"));
    let acceleration = looped.is_exact();
    let (n, x) = (acceleration.counter(), looped.state[0]);
    let twice = store.mul_const(&2.into(), n);
    let conjuncts: Vec<Term> = store.conjuncts(acceleration.formula()).collect();
    assert!(conjuncts.contains(&store.ge(n, store.int(1))));
    assert!(conjuncts.contains(&store.eq(looped.next[0], store.add(&[x, twice]))));
    let before_the_last = store.add(&[x, twice, store.int(-2)]);
    assert!(conjuncts.contains(&store.lt(before_the_last, store.int(2_000_000))));
}

#[test]
fn bounds_on_both_sides_are_checked_at_both_ends() {
    let store = TermStore::new();
    let looped = Looped::new(&store, &format!("(<= 0 x 9) (= u (+ x 1)) {SAME_Y} {SAME_Z}"));
    let acceleration = looped.is_exact();
    let (n, x) = (acceleration.counter(), looped.state[0]);
    let conjuncts: Vec<Term> = store.conjuncts(acceleration.formula()).collect();
    assert!(conjuncts.contains(&store.ge(x, store.int(0))));
    assert!(conjuncts.contains(&store.le(store.add(&[x, n, store.int(-1)]), store.int(9))));
}

#[test]
fn loops_with_closed_forms() {
    for literals in [
        // A swap, a change of sign, a rotation, and a truth value that alternates.
        "(= u y) (= v x) (= w z) (= c b)",
        "(= u (- x)) (= v (+ y 1)) (= w z) (= c b) (< y 4)",
        "(= u y) (= v z) (= w x) (= c b) (< x 7)",
        "(= u (+ x 1)) (= v y) (= w z) (= c (not b))",
        "(= u (+ x 1)) (= v y) (= w z) (= c (not b)) b",
        // Constants from the first or from a later round on.
        "(= u 5) (= v (+ y 1)) (= w z) (= c b) (< y 3)",
        "(= u (+ x y)) (= v z) (= w 2) (= c b) (< x 50)",
        "(= u (+ x y)) (= v 3) (= w y) c (< y 9)",
        // A change that a guard makes a number.
        "(= u (+ x y)) (= v y) (= y 3) (= w z) (= c b) (< x 20)",
        // Equations and disequalities of what changes, and of what does not.
        "(= u (+ x 1)) (= x 3) (= v y) (= w z) (= c b)",
        "(= u (+ x 1)) (= v (+ y 1)) (= x y) (= w z) (= c b)",
        "(= u (+ x 2)) (not (= x 6)) (= v y) (= w z) (= c b)",
        "(= u (- x 3)) (not (= x y)) (= v y) (= w z) (= c b)",
        // Remainders.
        "(= u (+ x 2)) (= (mod x 2) 0) (= v y) (= w z) (= c b) (< x y)",
        "(= u (+ x 1)) (= (mod (+ x y) 3) 0) (= v (- y 1)) (= w z) (= c b)",
        "(= u (+ x 1)) (not (= (mod x 4) 0)) (= v y) (= w z) (= c b)",
        // A literal that only a query treats: the quotient grows.
        "(= u (+ x 1)) (>= (div x 3) y) (= v y) (= w z) (= c b)",
        "(= u (+ x 1)) (<= (div x 3) y) (= v y) (= w z) (= c b)",
        // Bounded changes, and inputs with guards.
        "(<= 1 (- u x) 3) (= v (+ y 1)) (= w z) (= c b) (< y 8)",
        "(>= u (+ x 2)) (<= v y) (= w (+ z 1)) (= c b)",
        "(= v (+ y 1)) (= w z) (= c b) (< y 5)",
        "(= v (+ y 1)) (= w z) (= c b) (> x 3) (<= u 9)",
    ] {
        let store = TermStore::new();
        let looped = Looped::new(&store, literals);
        assert!(looped.accelerated().is_some(), "{literals}");
        looped.is_exact();
    }
}

/// Products, powers and guarded inputs are not linear in the number of rounds.
#[test]
fn loops_without_linear_closed_forms_are_refused() {
    for literals in [
        "(= u (* 2 x)) (= v y) (= w z) (= c b)",
        "(= u (+ x y)) (= v y) (= w z) (= c b)",
        "(= u (+ x y)) (= v (+ y 1)) (= w z) (= c b)",
        "(= u (+ x y)) (= v x) (= w z) (= c b)",
        "(>= u (+ x 1)) (< x 9) (= v y) (= w z) (= c b)",
        "(>= u x) (<= u y) (= v y) (= w z) (= c b)",
        "(= u (* x y)) (= v y) (= w z) (= c b)",
        // No second round has an input.
        "(= v (+ y 1)) (= w z) (= c b) (> x 3) (<= u 2)",
    ] {
        let store = TermStore::new();
        let found = Looped::new(&store, literals).accelerated();
        assert!(found.is_none(), "{literals}: {}", store.display(found.expect("it is some").formula()));
    }
}

/// The literals of a random loop, most of which have a closed form.
fn random_loop(random: &mut Random) -> String {
    let mut literals = Vec::new();
    for (at, next) in ["u", "v", "w"].into_iter().enumerate() {
        let [same, other] = [at, random.below(3)].map(|at| ["x", "y", "z"][at]);
        let number = random.between(-3, 3);
        literals.push(match random.below(12) {
            0..=4 => format!("(= {next} (+ {same} {number}))"),
            5 => format!("(= {next} {number})"),
            6 => format!("(= {next} {other})"),
            7 => format!("(= {next} (- {number} {same}))"),
            8 => format!("(= {next} (+ {other} {number}))"),
            9 => format!("(= {next} (+ {same} {other}))"),
            10 => format!("(<= {number} (- {next} {same}) {})", random.between(-1, 4)),
            _ => format!("(< {next} {number})"),
        });
    }
    literals
        .push(random.choose(&["(= c b)", "(= c (not b))", "c", "(= c b) b", "(= c (not b)) b"]).to_string());
    for _ in 0..random.below(3) {
        let form = random.form(3, 2);
        let sum = format!("(+ (* {} x) (* {} y) (* {} z))", form[0], form[1], form[2]);
        let number = random.between(-4, 8);
        let modulus = random.between(2, 4);
        literals.push(match random.below(6) {
            0 | 1 => format!("(<= {sum} {number})"),
            2 => format!("(>= {sum} {number})"),
            3 => format!("(not (= {sum} {number}))"),
            4 => format!("(= (mod {sum} {modulus}) {})", random.below(2)),
            _ => format!("(= {sum} {number})"),
        });
    }
    let text = literals.join(" ");
    // Negative numerals are applications.
    (1..=9).fold(text, |text, digit| text.replace(&format!("-{digit}"), &format!("(- {digit})")))
}

#[test]
fn random_loops_have_the_rounds_of_their_unrolling() {
    let (mut accelerated, loops) = (0, 120 * scale());
    for seed in 0..loops {
        let mut random = Random::new(seed);
        let store = TermStore::new();
        let literals = random_loop(&mut random);
        let looped = Looped::new(&store, &literals);
        let Some(acceleration) = looped.accelerated() else { continue };
        accelerated += 1;
        for rounds in [1, 2, 3, random.between(4, 8).unsigned_abs()] {
            looped.confirm(&acceleration, rounds, 2);
        }
    }
    assert!(3 * accelerated > loops, "{accelerated} of {loops}");
}

#[test]
fn a_million_rounds_have_states_and_too_many_have_none() {
    let store = TermStore::new();
    let looped = Looped::new(&store, &format!("(= u (+ x 1)) (<= 1 (- v y) 3) {SAME_Z}"));
    let acceleration = looped.accelerated().expect("the loop has a closed form");
    let context = Context::new(&store);
    let state = |x: u64, y: u64| {
        [Value::Int(x.into()), Value::Int(y.into()), Value::Int(0.into()), Value::Bool(true)]
    };
    let mut budget = MOST_STEPS;
    let (first, last) = (state(0, 0), state(1_000_000, 2_345_678));
    let mut rounds = acceleration.rounds(&context, &first, &last, &mut budget).expect("the budget suffices");
    let middle = rounds.nth(499_999).expect("there are more").expect("there are no limits");
    assert_eq!(middle[..2], state(500_000, 1_172_839)[..2]);
    assert_eq!(rounds.last(), Some(Ok(last.into())));
    assert_eq!(budget, MOST_STEPS - 1_000_000);
    let last = state(MOST_STEPS, MOST_STEPS);
    let found = acceleration.rounds(&context, &first, &last, &mut budget).map(|_| ());
    assert!(matches!(found, Err(Stop::Exhausted(_))), "{found:?}");
}

/// A loop with two cases gets a clause for each. A derivation with their steps becomes one of the loop.
#[test]
fn steps_of_accelerated_clauses_are_rounds() {
    let store = TermStore::new();
    let context = Context::new(&store);
    let text = "(declare-fun P (Int Int) Bool) (assert (P 0 0))
        (assert (forall ((x Int) (y Int) (z Int))
            (=> (and (P x y) (or (and (< x 3000) (= z y)) (and (>= x 3000) (= z (+ y 1))))) (P (+ x 3) z))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (= y 2000)) false)))";
    let graph =
        HornGraph::of(&store, &parse(&store, "test", text.as_bytes()).expect("the clauses are right"));
    let Transformed { graph: new, translation } =
        Accelerate.apply(&context, &graph).expect("there is a loop");
    let added: Vec<EdgeId> = new.edges().map(|(id, _)| id).skip(3).collect();
    assert_eq!(added.len(), 2);
    let fact = |x: u64, y: u64| [Value::Int(x.into()), Value::Int(y.into())].into();
    let found = added.iter().flat_map(|&first| added.iter().map(move |&second| [first, second]));
    let found = found.filter_map(|[first, second]| {
        let step = |edge, premises: &[usize], fact| GraphStep { edge, premises: premises.into(), fact };
        let steps = vec![
            step(EdgeId::new(0), &[], fact(0, 0)),
            step(first, &[0], fact(3000, 0)),
            step(second, &[1], fact(9000, 2000)),
            step(EdgeId::new(2), &[2], [].into()),
        ];
        let short = Derivation { steps };
        check_derivation(&context, &new, &short).is_ok().then_some(short)
    });
    let found: Vec<Derivation> = found.collect();
    let [short] = &*found else { panic!("one order of the clauses is right, not {}", found.len()) };
    let long = translation.derivation_back(&context, short.clone()).expect("there are few steps");
    assert_eq!(long.steps.len(), 3002);
    assert_eq!(check_derivation(&context, &graph, &long), Ok(()));
}
