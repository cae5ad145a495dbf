//! Termination: whether all runs of linear clauses end.
//!
//! A run begins with a fact `C => P(t)`, and each step applies a clause `P(s) and C => Q(t)` to the fact before. Queries do not
//! matter. [`decide`] looks for a [`Certificate`], which [`check`](fn@check) confirms before it is the answer.
//!
//! ```text
//! for slices of 0.3, 0.6, 1.2, .. seconds, each technique in turn:
//!     ranking       lexicographic linear ranking functions                   ranking.rs, farkas.rs
//!     lasso         a run that comes back to a fact                          pairs.rs
//!     recurrence    sets of facts in which a run can stay                    recurrence.rs
//!     disjunctive   functions one of which decreases between any two facts   pairs.rs
//!     bound         a bound of the number of steps, doubled up to 64         below
//! until one finds a certificate, or all have given up
//! ```
//!
//! Except where the invariant `true` suffices for a ranking, they ask questions of safety: clauses that `obligations.rs` makes,
//! decided by the engines of the [driver](crate::driver), whose models become invariants of the certificate.
//!
//! T1: The check shares with the search only the construction of these clauses (`obligations.rs`) and the analysis of the rules and
//! their cycles (`problem.rs`).

mod certificate;
mod check;
mod farkas;
mod obligations;
mod pairs;
mod problem;
mod ranking;
mod recurrence;
mod relation;
mod search;
mod text;

use std::time::Duration;

use shofar_engines::Run;
use shofar_horn::HornSystem;
use shofar_horn::check::{Trust, Validity};
use shofar_run::{Reason, Stop};

use crate::driver::Options;
use pairs::Disjunctive;
use problem::Problem;
use ranking::Ranking;
use relation::Relations;
use search::{Answer, Engines};

pub use certificate::{Certificate, Choice, Ranks};
pub use check::check;
pub use text::{is_certificate, read, to_json, to_text};

/// The time of each technique in the first round.
const FIRST_SLICE: Duration = Duration::from_millis(300);

/// The time of functions without invariants, in times of that of other techniques: most loops need nothing else.
const PATIENCE: u32 = 4;

/// The longest time of a technique in one round.
const LONGEST_SLICE: Duration = Duration::from_secs(60);

/// The greatest factor of a bound.
const GREATEST_FACTOR: u32 = 64;

/// The answer to whether all runs end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All runs end, or one does not: as the certificate says.
    Known(Certificate),
    /// Nothing is known, for this reason.
    Unknown(Stop),
}

impl Verdict {
    /// The answer in a word: `terminating`, `nonterminating` or `unknown`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Known(certificate) => certificate.answer(),
            Verdict::Unknown(_) => "unknown",
        }
    }
}

/// Decides whether all runs of the clauses end. The options are those of the engines that decide questions of safety.
pub fn decide(system: &HornSystem, options: &Options, run: &Run<'_>) -> Verdict {
    let trust = if options.validate { Trust::Proofs } else { Trust::Solver };
    let found =
        search(system, options, run).and_then(|certificate| match check(run, system, &certificate, trust) {
            Validity::Valid => Ok(certificate),
            Validity::Invalid(fault) => {
                let kind = certificate.kind();
                Err(Stop::Internal(format!(
                    "the certificate ({kind}) is wrong: {}",
                    fault.display(run.store, system)
                )))
            }
            Validity::Unknown(stop) => Err(stop),
        });
    found.map_or_else(Verdict::Unknown, Verdict::Known)
}

/// A technique with what it has found so far.
enum Technique {
    Ranking(Ranking),
    Recurrence,
    Lasso,
    Disjunctive(Disjunctive),
    Bound(u32),
}

fn search(system: &HornSystem, options: &Options, run: &Run<'_>) -> Result<Certificate, Stop> {
    let problem = Problem::of(run.store, system)?;
    let relations = Relations::of(&problem);
    let engines = Engines { options };
    let mut techniques = vec![Technique::Ranking(Ranking::new(&problem))];
    if !problem.loops().is_empty() {
        techniques.extend([
            Technique::Lasso,
            Technique::Recurrence,
            Technique::Disjunctive(Disjunctive::new(&problem)),
            Technique::Bound(1),
        ]);
    }
    let mut slice = FIRST_SLICE;
    let mut last = Stop::Exhausted("neither an argument for termination nor one against it was found");
    while !techniques.is_empty() {
        let mut left = Vec::new();
        for mut technique in techniques {
            run.go_on()?;
            match technique.attempt(run, slice, &problem, &relations, &engines) {
                Ok(certificate) => return Ok(certificate),
                Err(Stop::Interrupted(Reason::Cancelled | Reason::Memory)) => run.go_on()?,
                Err(Stop::Interrupted(Reason::Deadline)) => left.push(technique),
                // More time does not help: the solver or the method has given up. Mistakes are told if nothing else is found.
                Err(stop @ (Stop::Unsupported(_) | Stop::Internal(_))) => {
                    if !matches!(last, Stop::Internal(_)) {
                        last = stop;
                    }
                }
                Err(_) => {}
            }
        }
        techniques = left;
        slice = (slice * 2).min(LONGEST_SLICE);
    }
    Err(last)
}

impl Technique {
    /// Works on for this time, or until the limits of the run.
    fn attempt(
        &mut self,
        run: &Run<'_>,
        slice: Duration,
        problem: &Problem<'_>,
        relations: &Relations,
        engines: &Engines<'_>,
    ) -> Result<Certificate, Stop> {
        let within = |time: Duration| run.clone().with_limits(run.context().for_part(1, time).limits);
        let limited = &within(slice);
        match self {
            Technique::Ranking(ranking) => {
                ranking.search(&within(slice * PATIENCE), slice, problem, relations, engines)
            }
            Technique::Recurrence => recurrence::search(limited, problem, relations, engines),
            Technique::Lasso => pairs::lasso(limited, problem, engines),
            Technique::Disjunctive(disjunctive) => disjunctive.search(limited, problem, relations, engines),
            Technique::Bound(factor) => bounded(limited, problem, engines, factor),
        }
    }
}

/// Looks for a bound of the number of steps, with factors from this one on.
fn bounded(
    run: &Run<'_>,
    problem: &Problem<'_>,
    engines: &Engines<'_>,
    factor: &mut u32,
) -> Result<Certificate, Stop> {
    while *factor <= GREATEST_FACTOR {
        let obligation = obligations::bound(problem, *factor)?;
        match engines.ask(run, &obligation.system)? {
            Answer::Model(model) => return Ok(Certificate::Bound { factor: *factor, model }),
            Answer::Refutation(_) => *factor *= 2,
        }
    }
    Err(Stop::Exhausted("the number of steps has no linear bound with a small factor"))
}

#[cfg(test)]
mod tests {
    use shofar_horn::parse;
    use shofar_logic::TermStore;
    use shofar_testing::{Random, scale};

    use super::*;

    const DOWN: &str = "(declare-fun P (Int) Bool) (assert (forall ((x Int)) (P x)))
        (assert (forall ((x Int)) (=> (and (P x) (> x 0)) (P (- x 1)))))";

    const UP: &str = "(declare-fun P (Int) Bool) (assert (forall ((x Int)) (P x)))
        (assert (forall ((x Int)) (=> (and (P x) (> x 0)) (P (+ x 1)))))";

    /// The kind of the certificate that a technique finds by itself, or why it gives up.
    fn found(text: &str, technique: impl FnOnce(&Problem<'_>) -> Technique) -> Result<&'static str, Stop> {
        let store = TermStore::new();
        let system = parse(&store, "test", text.as_bytes()).expect("the test's clauses are right");
        let problem = Problem::of(&store, &system).expect("the clauses are linear");
        let options = Options { jobs: Some(1), ..Options::default() };
        let run = Run::new(&store).with_timeout(Duration::from_secs(60));
        let engines = Engines { options: &options };
        let relations = Relations::of(&problem);
        let certificate =
            technique(&problem).attempt(&run, Duration::from_secs(60), &problem, &relations, &engines)?;
        assert_eq!(check(&run, &system, &certificate, Trust::Proofs), Validity::Valid);
        Ok(certificate.kind())
    }

    #[test]
    fn each_technique_finds_its_certificates() {
        let ranking = |problem: &Problem<'_>| Technique::Ranking(Ranking::new(problem));
        let disjunctive = |problem: &Problem<'_>| Technique::Disjunctive(Disjunctive::new(problem));
        assert_eq!(found(DOWN, ranking), Ok("ranking"));
        assert_eq!(found(DOWN, disjunctive), Ok("disjunctive"));
        assert_eq!(found(DOWN, |_| Technique::Bound(1)), Ok("bound"));
        assert_eq!(found(UP, |_| Technique::Recurrence), Ok("recurrence"));
        // A loop of two predicates; the way back doubles the steps.
        let twice = "(declare-fun P (Int) Bool) (declare-fun Q (Int) Bool)
            (assert (forall ((x Int)) (P x)))
            (assert (forall ((x Int)) (=> (and (P x) (> x 0)) (Q x))))
            (assert (forall ((x Int)) (=> (Q x) (P (- x 1)))))";
        assert_eq!(found(twice, ranking), Ok("ranking"));
        assert_eq!(found(twice, disjunctive), Ok("disjunctive"));
        assert_eq!(found(twice, |_| Technique::Bound(1)), Ok("bound"));
        let back = "(declare-fun P (Int) Bool) (assert (P 0))
            (assert (forall ((x Int)) (=> (and (P x) (< x 3)) (P (+ x 1)))))
            (assert (forall ((x Int)) (=> (and (P x) (= x 3)) (P 2))))";
        assert_eq!(found(back, |_| Technique::Lasso), Ok("lasso"));
        assert_eq!(found(back, disjunctive), Ok("lasso"));
        assert_eq!(found(back, |_| Technique::Recurrence), Ok("recurrence"));
    }

    /// Where a technique cannot succeed, it says so instead of going on for ever.
    #[test]
    fn techniques_give_up() {
        let ranking = |problem: &Problem<'_>| Technique::Ranking(Ranking::new(problem));
        for result in [
            found(UP, ranking),
            found(UP, |_| Technique::Lasso),
            found(DOWN, |_| Technique::Lasso),
            found(UP, |_| Technique::Bound(1)),
        ] {
            assert!(matches!(result, Err(Stop::Exhausted(_))), "{result:?}");
        }
    }

    /// Clauses for a random graph with nodes 0 to 4, of which the even ones are facts of one predicate and the odd ones of another, and
    /// whether there is an infinite path from node 0.
    fn random_graph(random: &mut Random) -> (String, bool) {
        const NODES: usize = 5;
        let mut text = "(declare-fun P0 (Int) Bool) (declare-fun P1 (Int) Bool) (assert (P0 0))".to_owned();
        let mut edges = Vec::new();
        for source in 0..NODES {
            for _ in 0..random.below(3) {
                // Few edges lead back, so that about half of the graphs have no cycle.
                let target = if random.one_in(5) {
                    random.below(NODES)
                } else {
                    (source + 1 + random.below(2)).min(NODES - 1)
                };
                if target == source && !random.one_in(4) {
                    continue;
                }
                edges.push((source, target));
                let places = [source, target].map(|node| node % 2);
                text.push_str(&format!(
                    "(assert (forall ((x Int)) (=> (and (P{} x) (= x {source})) (P{} {target}))))",
                    places[0], places[1]
                ));
            }
        }
        // After as many steps as there are nodes, a path has been somewhere twice.
        let step = |at: Vec<usize>| {
            edges.iter().filter(|(source, _)| at.contains(source)).map(|&(_, target)| target).collect()
        };
        let after = (0..NODES).fold(vec![0], |at, _| step(at));
        (text, !after.is_empty())
    }

    #[test]
    fn no_technique_contradicts_the_paths_of_random_graphs() {
        let mut answers = [0, 0];
        for seed in scale::numbers(8) {
            let (text, is_infinite) = random_graph(&mut Random::new(seed));
            let ranking = |problem: &Problem<'_>| Technique::Ranking(Ranking::new(problem));
            let disjunctive = |problem: &Problem<'_>| Technique::Disjunctive(Disjunctive::new(problem));
            for result in
                [found(&text, ranking), found(&text, disjunctive), found(&text, |_| Technique::Recurrence)]
            {
                let claim = result.map(|kind| ["lasso", "recurrence"].contains(&kind));
                assert!(
                    matches!(claim, Err(Stop::Exhausted(_))) || claim == Ok(is_infinite),
                    "{text}: {claim:?}"
                );
            }
            // Lassos and bounds are complete for finite graphs.
            let gave_up = |result: Result<_, Stop>| matches!(result, Err(Stop::Exhausted(_)));
            let (lasso, bound) = (found(&text, |_| Technique::Lasso), found(&text, |_| Technique::Bound(1)));
            let is_right = if is_infinite {
                lasso == Ok("lasso") && gave_up(bound)
            } else {
                bound == Ok("bound") && gave_up(lasso)
            };
            assert!(is_right, "{text}");
            answers[usize::from(is_infinite)] += 1;
        }
        assert!(answers[0] > 1 && answers[1] > 1, "{answers:?}");
    }

    /// The invariant `y >= 1` makes `x` fall.
    #[test]
    fn rankings_come_with_the_invariants_that_they_need() {
        let text = "(declare-fun P (Int Int) Bool)
            (assert (forall ((x Int) (y Int)) (=> (>= y 1) (P x y))))
            (assert (forall ((x Int) (y Int)) (=> (and (P x y) (>= x 0)) (P (- x y) (+ y 1)))))";
        let ranking = |problem: &Problem<'_>| Technique::Ranking(Ranking::new(problem));
        assert_eq!(found(text, ranking), Ok("ranking"));
    }
}
