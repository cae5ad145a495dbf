//! Abstraction refinement in all its configurations: the worked examples of the literature, its known mistakes, and random
//! systems.

mod common;

use std::time::Duration;

use common::{Counters, IN_STEP, counter, read, solve};
use shofar_engines::cegar::{
    Cegar, Direction, DomainKind, Granularity, InitialPrecision, Options, Pruning, Search, Splitting,
    Technique,
};
use shofar_engines::{Evidence, InterpolationMethod, Run};
use shofar_horn::check::check_graph_model;
use shofar_horn::graph::NodeId;
use shofar_horn::witness::GraphModel;
use shofar_horn::{HornGraph, parse};
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::explicit::Saturation;
use shofar_testing::systems::{Shape, system};
use shofar_testing::{Random, scale};

const DOMAINS: [DomainKind; 4] =
    [DomainKind::Explicit, DomainKind::Cartesian, DomainKind::Boolean, DomainKind::Split];
const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Backward];

/// The answer of an engine for a system. Witnesses are checked.
fn answer_of(options: Options, text: &str, time: Duration) -> Result<Evidence, Stop> {
    answer_with_counters(options, text, time).0
}

fn answer_with_counters(options: Options, text: &str, time: Duration) -> (Result<Evidence, Stop>, Counters) {
    let store = TermStore::new();
    let counters = Counters::default();
    let run = Run::new(&store).with_timeout(time).with_events(&counters);
    let answer = solve(&Cegar { options }, &read(&store, text), &run);
    (answer, counters)
}

/// All directions, domains and refinements.
fn configurations() -> Vec<Options> {
    let mut all = Vec::new();
    for direction in DIRECTIONS {
        for domain in DOMAINS {
            for &refinement in Technique::all() {
                let options = Options::default().direction(direction).domain(domain);
                all.push(options.refinement(refinement));
            }
        }
    }
    all
}

/// The default configuration and configurations that differ from it in one of the other options.
fn variants() -> Vec<Options> {
    let mut all = vec![Options::default()];
    for direction in DIRECTIONS {
        for domain in DOMAINS {
            let options = Options::default().direction(direction).domain(domain);
            all.extend([Search::Breadth, Search::Depth, Search::Error].map(|it| options.search(it)));
            all.push(options.pruning(Pruning::Full));
            all.push(options.precision(Granularity::Global));
            all.extend([Splitting::Whole, Splitting::Conjuncts].map(|it| options.pred_split(it)));
            let initial = [InitialPrecision::Property, InitialPrecision::Assumptions];
            all.extend(initial.map(|it| options.init_prec(it)));
            all.push(options.large_blocks(true));
            all.push(options.templates(1));
            all.extend(InterpolationMethod::ALL.map(|it| options.interpolation(it)));
        }
    }
    all
}

const TIME: Duration = Duration::from_secs(60);
/// For configurations that need not find the answer.
const SHORT: Duration = Duration::from_millis(100);

#[track_caller]
fn assert_sat(options: Options, text: &str) {
    let found = answer_of(options, text, TIME);
    assert!(matches!(found, Ok(Evidence::Sat(_))), "{options:?}: {found:?}\n{text}");
}

#[track_caller]
fn assert_unsat(options: Options, text: &str) {
    let found = answer_of(options, text, TIME);
    assert!(matches!(found, Ok(Evidence::Unsat(_))), "{options:?}: {found:?}\n{text}");
}

/// The chosen configurations find the answer, and the others give no other one.
#[track_caller]
fn assert_by(text: &str, is_safe: bool, is_chosen: impl Fn(Options) -> bool) {
    for options in configurations() {
        if is_chosen(options) {
            if is_safe { assert_sat(options, text) } else { assert_unsat(options, text) }
        } else if let Ok(found) = answer_of(options, text, SHORT) {
            assert_eq!(matches!(found, Evidence::Sat(_)), is_safe, "{options:?}\n{text}");
        }
    }
}

/// All configurations with predicates find the answer.
#[track_caller]
fn assert_by_all(text: &str, is_safe: bool) {
    assert_by(text, is_safe, |options| options.domain != DomainKind::Explicit);
}

/// All configurations with predicates from sequence and backward binary interpolants find the answer. Weakest preconditions
/// and strongest postconditions may go on for ever.
#[track_caller]
fn assert_by_interpolants(text: &str, is_safe: bool) {
    assert_by(text, is_safe, |options| {
        let is_weak = matches!(options.refinement, Technique::Sequence | Technique::Backward);
        options.domain != DomainKind::Explicit && is_weak
    });
}

#[test]
fn the_counter() {
    assert_by_all(&counter("(> x 2)"), true);
    assert_by_all(&counter("(>= x 2)"), false);
    for options in variants() {
        // From infinitely many values there is no way back by values alone.
        let has_values = options.domain == DomainKind::Explicit && options.direction == Direction::Backward;
        if !has_values {
            assert_sat(options, &counter("(> x 2)"));
            assert_unsat(options, &counter("(>= x 2)"));
        }
    }
    // Forward, values are enough.
    for &refinement in Technique::all() {
        let options = Options::default().domain(DomainKind::Explicit).refinement(refinement);
        assert_sat(options, &counter("(> x 2)"));
        assert_unsat(options, &counter("(>= x 2)"));
    }
}

/// Where values cannot exclude a counterexample, the engine says so.
#[test]
fn values_that_are_not_enough_end_the_run() {
    let options = Options::default().domain(DomainKind::Explicit);
    let text = "(declare-fun P (Int Int) Bool)
        (assert (forall ((x Int)) (P x x)))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x y)) false)))";
    assert!(matches!(answer_of(options, text, TIME), Err(Stop::Exhausted(_))));
    assert_sat(options.domain(DomainKind::Cartesian), text);
}

/// Examples 7 and 8 of the thesis. It claims that the loop is safe, but a remainder may become zero, and `a mod 0` is any
/// number. The remainder is described by its bounds, as the solver has no division by variables.
#[test]
fn the_program_with_remainders() {
    let text = |guard: &str| {
        format!(
            "(declare-fun L (Int Int) Bool)
             (assert (forall ((a Int)) (L a (mod a 10))))
             (assert (forall ((a Int) (b Int) (r Int))
                (=> (and (L a b) (> a 100) {guard} (=> (> b 0) (and (<= 0 r) (< r b)))) (L (- a 1) r))))
             (assert (forall ((a Int) (b Int)) (=> (and (L a b) (<= a 100) (>= b 10)) false)))"
        )
    };
    for direction in DIRECTIONS {
        for domain in [DomainKind::Cartesian, DomainKind::Boolean, DomainKind::Split] {
            let options = Options::default().direction(direction).domain(domain);
            assert_sat(options, &text("(not (= b 0))"));
            assert_unsat(options, &text(""));
        }
    }
}

/// Example 9 of the thesis, with its remainder or with the bounds of the remainder.
fn motivating(fact: &str, remainder: &str) -> String {
    format!(
        "(declare-fun A (Int) Bool) (declare-fun B (Int Int) Bool) (declare-fun C (Int Int) Bool)
         (assert (forall ((n Int)) (=> {fact} (A n))))
         (assert (forall ((n Int) (x Int)) (=> (and (A n) (> x 0)) (B n x))))
         (assert (forall ((n Int) (x Int) (y Int)) (=> (and (B n x) (= y (- n x)) (> y 0)) (C y x))))
         (assert (forall ((n Int) (x Int) (y Int) (r Int)) (=> (and (C y x) {remainder} (= n (+ y r))) (A n))))
         (assert (forall ((n Int)) (=> (and (A n) (>= n 100)) false)))"
    )
}

const BELOW_100: &str = "(and (> n 0) (< n 100))";
const UP_TO_100: &str = "(and (> n 0) (<= n 100))";
const BOUNDS: &str = "(=> (> x 0) (and (<= 0 r) (< r x)))";

#[test]
fn the_motivating_example_is_safe() {
    assert_by_interpolants(&motivating(BELOW_100, BOUNDS), true);
}

/// Examples 16 and 22: with one more start value, the query follows from it at once.
#[test]
fn the_motivating_example_with_one_more_value_is_unsafe() {
    assert_by_all(&motivating(UP_TO_100, BOUNDS), false);
    for direction in DIRECTIONS {
        let options = Options::default().direction(direction);
        match answer_of(options, &motivating(UP_TO_100, "(= r (mod y x))"), TIME) {
            Ok(Evidence::Unsat(derivation)) => assert_eq!(derivation.steps.len(), 2),
            other => panic!("{other:?}"),
        }
    }
}

/// The model that the thesis prints lacks `x > 0` in `C`, since its labels are about variables of other predicates.
#[test]
fn the_printed_model_of_the_motivating_example_is_wrong() {
    let store = TermStore::new();
    let clauses =
        parse(&store, "test", motivating(BELOW_100, BOUNDS).as_bytes()).expect("the clauses are right");
    let graph = HornGraph::of(&store, &clauses);
    let variables = |node: usize| graph.node(NodeId::new(node)).variables();
    let number = |value: i64| store.int(value);
    let (n, b, c) = (variables(0)[0], variables(1), variables(2));
    let a = store.lt(n, number(100));
    let b = store.and2(store.le(b[0], number(100)), store.gt(b[1], number(0)));
    let printed = store.and2(store.gt(c[0], number(0)), store.le(store.add(c), number(100)));
    let is_model = |c| {
        let model = GraphModel::of_formulas([a, b, c]);
        check_graph_model(&Run::new(&store).context(), &graph, &model) == Ok(())
    };
    assert!(!is_model(printed));
    assert!(is_model(store.and2(printed, store.gt(c[1], number(0)))));
}

/// Theta's demonstration.
#[test]
fn the_demonstration() {
    assert_by_all(
        "(declare-fun Inv (Int) Bool)
         (assert (forall ((x Int)) (=> (= x 0) (Inv x))))
         (assert (forall ((x Int) (y Int)) (=> (and (Inv x) (<= x 10) (= y (+ x 1))) (Inv y))))
         (assert (forall ((x Int)) (=> (and (Inv x) (> x 15)) false)))",
        true,
    );
}

/// Systems that the transformations and proofs of the thesis get wrong, or that need care.
#[test]
fn pitfalls() {
    // A variable that is repeated in a body is an equation.
    assert_by_all(
        "(declare-fun P (Int Int) Bool) (declare-fun Q (Int) Bool)
         (assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y 1)) (P x y))))
         (assert (forall ((z Int)) (=> (P z z) (Q z))))
         (assert (forall ((z Int)) (=> (Q z) false)))",
        true,
    );
    // Arguments are terms.
    for (query, is_safe) in [(7, true), (5, false)] {
        assert_by_all(
            &format!(
                "(declare-fun P (Int) Bool)
                 (assert (forall ((x Int)) (=> (= x 0) (P x))))
                 (assert (forall ((x Int)) (=> (and (P x) (< x 5)) (P (+ x 1)))))
                 (assert (=> (P {query}) false))"
            ),
            is_safe,
        );
    }
    // Each execution of an edge has its own values of the clause's variables.
    assert_by_all(
        "(declare-fun P (Int Int) Bool)
         (assert (P 0 0))
         (assert (forall ((x Int) (c Int) (z Int))
            (=> (and (P x c) (or (= z 1) (= z 2)) (< c 2)) (P (+ x z) (+ c 1)))))
         (assert (=> (P 3 2) false))",
        false,
    );
    // Predicates without arguments.
    let chain = "(declare-fun p () Bool) (declare-fun q () Bool) (assert (=> p q)) (assert (=> q false))";
    assert_by_all(&format!("{chain} (assert p)"), false);
    assert_by_all(chain, true);
    // Queries without predicates, predicates without facts or queries, and several queries.
    assert_by_all("(assert (=> (> 1 0) false))", false);
    assert_by_all("(assert (=> (< 1 0) false))", true);
    assert_by_all("(declare-fun P (Int) Bool) (assert (forall ((x Int)) (=> (P x) false)))", true);
    assert_by_all("(declare-fun P (Int) Bool) (assert (P 1))", true);
    assert_by_all(
        "(declare-fun P (Int) Bool) (assert (P 1))
         (assert (forall ((x Int)) (=> (and (P x) (> x 3)) false)))
         (assert (forall ((x Int)) (=> (and (P x) (> x 0)) false)))",
        false,
    );
}

/// Backward, with a stack of calls, the first system ends because no demand is met; the second has a derivation of ten steps;
/// in the third the demand recurs for ever, and only its cover ends the run.
#[test]
fn demands() {
    let text = |fact: i64, guard: &str| {
        format!(
            "(declare-fun P (Int) Bool) (assert (P {fact}))
             (assert (forall ((x Int)) (=> (and (P x) {guard}) (P (+ x 1)))))
             (assert (=> (P 10) false))"
        )
    };
    assert_by_all(&text(0, "(< x 3)"), true);
    assert_by_all(&text(0, "true"), false);
    assert_by_interpolants(&text(20, "true"), true);
}

/// Locals that a clause chooses anew each time, with an unbounded number of iterations: predicates must not mention them.
#[test]
fn refutations_are_about_live_variables() {
    assert_by_interpolants(
        "(declare-fun P (Int Int) Bool) (declare-fun Q (Int) Bool)
         (assert (forall ((x Int) (z Int)) (=> (and (= x 0) (> z 5)) (P x z))))
         (assert (forall ((x Int) (z Int) (u Int)) (=> (and (P x z) (<= 0 u 2)) (P (+ x u) (+ z u)))))
         (assert (forall ((x Int) (z Int) (u Int)) (=> (and (P x z) (= u (- z x))) (Q u))))
         (assert (forall ((u Int)) (=> (and (Q u) (< u 3)) false)))",
        true,
    );
}

/// An interpolant that is a disjunction says nothing by its atoms in cartesian abstraction; there is progress all the same.
#[test]
fn atoms_of_disjunctions_make_progress() {
    let text = "(declare-fun P (Int) Bool)
        (assert (forall ((x Int)) (=> (or (< x 0) (> x 10)) (P x))))
        (assert (forall ((x Int)) (=> (and (P x) (<= 2 x 5)) false)))";
    for direction in DIRECTIONS {
        for &refinement in Technique::all() {
            let options = Options::default().domain(DomainKind::Cartesian).pred_split(Splitting::Atoms);
            assert_sat(options.direction(direction).refinement(refinement), text);
        }
    }
}

/// Refutations by Newton exclude the path by themselves. They do not if an edge that reads a variable before it writes it makes
/// the variable dead, or if the wrong quantifier eliminates what an edge leaves open: then the refiner falls back on
/// interpolants.
#[test]
fn newton_refutes_loops_without_help() {
    let with_locals = "(declare-fun P (Int Int) Bool)
        (assert (forall ((x Int) (y Int)) (=> (and (<= 0 x 3) (= y (+ x 5))) (P x y))))
        (assert (forall ((x Int) (y Int) (u Int)) (=> (and (P x y) (< x 2) (<= 1 u 2)) (P (+ x u) (+ y u)))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< y x)) false)))";
    let systems = [counter("(> x 2)"), motivating(UP_TO_100, BOUNDS), with_locals.to_owned()];
    let newton = Technique::all().iter().filter(|technique| matches!(technique, Technique::Newton(_)));
    let mut refinements = 0;
    for &refinement in newton {
        for direction in DIRECTIONS {
            for text in &systems {
                let options = Options::default().refinement(refinement).direction(direction);
                let (_, counters) = answer_with_counters(options, text, Duration::from_secs(1));
                assert_eq!(counters.get("fallbacks"), 0, "{options:?}\n{text}");
                refinements += counters.get("refinements");
            }
        }
    }
    assert!(refinements > 50, "{refinements}");
}

/// Coverings, refinements and predicates are counted.
#[test]
fn the_counters_tell_what_happened() {
    let (_, counters) = answer_with_counters(Options::default(), &counter("(> x 2)"), TIME);
    for name in ["nodes", "coverings", "refinements", "predicates", "solver.queries"] {
        assert!(counters.get(name) > 0, "{name}");
    }
}

/// The counterexample by `Q` gives a predicate to `R`, too, where sorts agree.
#[test]
fn templates_relate_what_loops_change_in_step() {
    for direction in DIRECTIONS {
        let options = Options::default().direction(direction).templates(1);
        let (found, counters) = answer_with_counters(options, IN_STEP, TIME);
        assert!(matches!(found, Ok(Evidence::Sat(_))), "{direction:?}: {found:?}");
        assert!(counters.get("refinements") <= 3, "{direction:?}: {}", counters.get("refinements"));
    }
    let (_, counters) = answer_with_counters(Options::default(), IN_STEP, Duration::from_secs(1));
    assert!(counters.get("refinements") > 10, "{}", counters.get("refinements"));
}

#[test]
fn a_global_precision_tracks_predicates_at_the_same_positions() {
    let text = "(declare-fun P (Int) Bool)(declare-fun Q (Int) Bool)(declare-fun R (Int Bool) Bool)(declare-fun S (Bool) Bool)
        (assert (P 0))(assert (forall ((x Int)) (=> (and (P x) (< x 9)) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (P x) (Q x))))(assert (forall ((x Int)) (=> (and (Q x) (> x 9)) false)))
        (assert (forall ((x Int)) (=> (P x) (R x true))))(assert (forall ((x Int) (b Bool)) (=> (R x b) (S b))))";
    let predicates = |precision: Granularity| {
        let (found, counters) = answer_with_counters(Options::default().precision(precision), text, TIME);
        assert!(matches!(found, Ok(Evidence::Sat(_))), "{found:?}");
        counters.get("predicates")
    };
    assert_eq!(predicates(Granularity::Location), 2);
    assert_eq!(predicates(Granularity::Global), 3);
}

#[test]
fn non_linear_clauses_are_rejected() {
    let text = "(declare-fun A (Int) Bool) (declare-fun B (Int) Bool) (assert (A 0)) (assert (B 1))
        (assert (forall ((x Int)) (=> (and (A x) (B x)) false)))";
    for direction in DIRECTIONS {
        let answer = answer_of(Options::default().direction(direction), text, TIME);
        assert!(matches!(answer, Err(Stop::Unsupported(_))));
    }
}

/// With every domain, refinement and direction, answers on random systems agree with saturation, and most are decided.
fn agrees_with_saturation(shape: &Shape, all: &[Options], systems: u64) {
    let mut decided = vec![(0, 0); all.len()];
    for (seed, (at, options)) in (1000..1000 + systems * scale()).zip(all.iter().enumerate().cycle()) {
        let text = system(&mut Random::new(seed), shape);
        let store = TermStore::new();
        let clauses = parse(&store, "test", text.as_bytes()).expect("the generator makes clauses");
        let graph = HornGraph::of(&store, &clauses);
        let is_safe = Saturation::of(&store, &graph, 0..=shape.greatest).is_safe();
        let found = answer_of(*options, &text, Duration::from_secs(2));
        let found = found.ok().map(|evidence| matches!(evidence, Evidence::Sat(_)));
        assert!(found.is_none_or(|found| found == is_safe), "{options:?} on {seed}:\n{text}");
        decided[at].0 += u64::from(found.is_some());
        decided[at].1 += 1;
    }
    for (options, (decided, asked)) in all.iter().zip(decided) {
        assert!(10 * decided >= 9 * asked, "{decided} of {asked} decided by {options:?}");
    }
}

#[test]
fn random_linear_systems() {
    agrees_with_saturation(&Shape::LINEAR, &configurations(), 880);
}

#[test]
fn random_linear_systems_with_other_options() {
    agrees_with_saturation(&Shape::LINEAR, &variants(), 500);
}

/// With more states than the others, so that paths are longer.
#[test]
fn random_transition_systems() {
    let shape = Shape { predicates: 1, rules: 4, greatest: 7, ..Shape::LINEAR };
    agrees_with_saturation(&shape, &configurations(), 440);
}
