//! `shofar terminate` as its users see it: answers, messages, limits and exit status.

use std::time::{Duration, Instant};

use program::{example, shofar, text};
use serde_json::Value as Json;

mod program;

/// Counts down.
const DOWN: &str = "(declare-fun P (Int) Bool) (assert (forall ((x Int)) (P x)))
    (assert (forall ((x Int)) (=> (and (P x) (> x 0)) (P (- x 1)))))";

#[test]
fn the_answer_is_on_standard_output_and_the_status_is_0() {
    let file = example("termination/lasso");
    let output = shofar(&["terminate", &file], "");
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("nonterminating\n", ""));
    assert_eq!(output.status.code(), Some(0));
    let output = shofar(&["terminate", "-"], DOWN);
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("terminating\n", ""));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn queries_are_ignored_with_a_message() {
    let input = format!("{DOWN} (assert (forall ((x Int)) (=> (P x) false)))");
    let output = shofar(&["terminate", "-"], &input);
    assert_eq!(text(&output.stdout), "terminating\n");
    assert_eq!(text(&output.stderr), "shofar: 1 query is ignored: the question is whether all runs end\n");
    assert_eq!(text(&shofar(&["terminate", "-", "-q"], &input).stderr), "");
}

#[test]
fn transition_systems_have_runs() {
    let system = |step: &str| {
        format!(
            "(declare-fun x () Int) (declare-fun x1 () Int)
             (define-fun sv () Int (! x :next x1))
             (define-fun init () Bool (! (> x 3) :init true))
             (define-fun trans () Bool (! (and (> x 0) (= x1 (+ x {step}))) :trans true))
             (define-fun p () Bool (! (> x 7) :invar-property 0))"
        )
    };
    assert_eq!(text(&shofar(&["terminate", "-"], system("1")).stdout), "nonterminating\n");
    assert_eq!(text(&shofar(&["terminate", "-"], system("(- 2)")).stdout), "terminating\n");
}

#[test]
fn json_has_the_certificate_if_it_is_wanted() {
    let last = |options: &[&str]| -> Json {
        let output = shofar(&[&["terminate", "-", "--json"], options].concat(), DOWN);
        serde_json::from_str(text(&output.stdout).lines().last().unwrap()).unwrap()
    };
    let event = last(&["-w"]);
    assert_eq!((&event["event"], &event["answer"]), (&"answer".into(), &"terminating".into()));
    assert_eq!(event["certificate"]["kind"], "ranking");
    assert_eq!(event["certificate"]["functions"][0]["body"], "x");
    assert_eq!(event["certificate"]["model"][0]["predicate"], "P");
    assert_eq!(last(&[]).get("certificate"), None);
    let output = shofar(&["terminate", "-", "--json"], "(assert (P 1))");
    let event: Json = serde_json::from_str(text(&output.stdout).lines().last().unwrap()).unwrap();
    assert_eq!((&event["event"], output.status.code()), (&"error".into(), Some(2)));
}

#[test]
fn certificates_are_checked_again() {
    let folder = tempfile::tempdir().unwrap();
    let written = folder.path().join("certificate");
    let file = written.to_str().unwrap();
    for name in
        ["nested", "disjunctive", "lasso", "upwards", "demon"].map(|name| format!("termination/{name}"))
    {
        let output = shofar(&["terminate", &example(&name), "-w", "-t", "60"], "");
        std::fs::write(&written, &output.stdout).unwrap();
        assert_eq!(text(&shofar(&["check", &example(&name), file], "").stdout), "valid\n", "{name}");
        // The same for clauses of another file is no proof.
        let other = shofar(&["check", &example("termination/collatz"), file], "");
        assert_ne!(text(&other.stdout), "valid\n", "{name}");
        assert_ne!(other.status.code(), Some(0), "{name}");
    }
    let export = shofar(&["check", &example("termination/lasso"), file, "--export"], "");
    assert_eq!(export.status.code(), Some(2));
}

#[test]
fn limits_and_mistakes_have_messages() {
    let start = Instant::now();
    let output = shofar(&["terminate", &example("termination/collatz"), "-t", "0.5"], "");
    assert_eq!(text(&output.stdout), "unknown\n");
    assert_eq!(text(&output.stderr), "shofar: unknown: the time limit was reached\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(10));

    let output = shofar(&["terminate", &example("termination/countdown"), "-t", "0"], "");
    assert_eq!((text(&output.stdout), output.status.code()), ("unknown\n", Some(0)));
    assert_eq!(text(&output.stderr), "shofar: unknown: the time limit was reached\n");

    let output = shofar(&["terminate", "-"], "(declare-fun P (Int) Bool) (assert (P true))");
    assert_eq!((text(&output.stdout), output.status.code()), ("", Some(2)));
    assert!(text(&output.stderr).starts_with("<stdin>:1:"), "{}", text(&output.stderr));
    let output = shofar(&["terminate", &example("mccarthy91")], "");
    assert_eq!(text(&output.stdout), "unknown\n");
    assert!(text(&output.stderr).contains("not supported: several predicates in the body of clause"));
    let output = shofar(&["terminate", "-"], "aag 0 0 0 0 0\n");
    assert_eq!((text(&output.stdout), output.status.code()), ("", Some(2)));
    assert!(text(&output.stderr).contains("is a circuit"));
    assert_eq!(shofar(&["terminate", "no/such/file"], "").status.code(), Some(2));
}
