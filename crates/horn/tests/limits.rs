//! Limits hold in all work before and after solving: reading, building the graph, checking.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use shofar_horn::Context;
use shofar_horn::check::{Validity, check_refutation};
use shofar_horn::witness::{Refutation, Step, Witness, read_within as read_witness_within};
use shofar_horn::{
    HornGraph, HornSystem, ParseError, Unread, parse, parse_each_within, parse_first_within, parse_in,
    parse_question_within, parse_within,
};
use shofar_logic::smtlib::Environment;
use shofar_logic::{TermStore, Value};
use shofar_run::{Limits, Reason, Stop, memory_in_use};

const MANY: usize = 50_000;

/// Clauses for which each phase takes longer than [`soon`].
fn many_clauses() -> String {
    let rule = |number: usize| {
        format!("(assert (forall ((x Int)(y Int)) (=> (and (P x) (< x (+ y {number}))) (P (+ x y 1)))))\n")
    };
    let rules: String = (0..MANY).map(rule).collect();
    format!("(declare-fun P (Int) Bool)(assert (P 0)){rules}")
}

fn soon() -> Limits<'static> {
    Limits { deadline: Instant::now().checked_add(Duration::from_millis(5)), ..Limits::default() }
}

fn read_within(store: &TermStore, text: &str, limits: Limits<'_>) -> Result<HornSystem, Unread> {
    parse_within(&Context { store, limits }, &mut Environment::new(store), "test", text.as_bytes())
}

#[test]
fn limits_end_in_the_middle_of_each_phase() {
    let text = many_clauses();
    let store = TermStore::new();
    let system = match read_within(&store, &text, soon()) {
        Err(Unread::Interrupted(Reason::Deadline)) => parse(&store, "test", text.as_bytes()).unwrap(),
        other => panic!("{:?}", other.map(|system| system.clauses.len())),
    };
    let graph = HornGraph::within(&Context { store: &store, limits: soon() }, &system);
    assert_eq!(graph.map(|graph| graph.edges().len()), Err(Stop::Interrupted(Reason::Deadline)));

    // The fact repeated many times is a long refutation, though of nothing.
    let fact = Step {
        clause: 0,
        instantiation: [].into(),
        premises: [].into(),
        fact: [Value::Int(0.into())].into(),
    };
    let refutation = Refutation { steps: vec![fact; 20 * MANY] };
    let verdict = check_refutation(&Context { store: &store, limits: soon() }, &system, &refutation);
    assert_eq!(verdict, Validity::Unknown(Stop::Interrupted(Reason::Deadline)));
}

/// A script with 6000 clauses, and questions about these and one more.
fn many_questions(questions: usize) -> String {
    let clauses: String = (0..6000).map(|number| format!("(assert (P {number}))\n")).collect();
    let questions = "(push)(assert (not (P 7)))(check-sat)(pop)\n".repeat(questions);
    format!("(declare-fun P (Int) Bool){clauses}{questions}")
}

/// The systems of all questions together would take several gigabytes.
#[test]
fn systems_of_many_questions_are_made_one_after_the_other() {
    const QUESTIONS: usize = 2000;
    let text = many_questions(QUESTIONS);
    let store = TermStore::new();
    let memory = memory_in_use().map(|bytes| bytes + (1 << 30));
    let context = Context { store: &store, limits: Limits { memory, ..Limits::default() } };
    let first = parse_first_within(&context, "test", text.as_bytes());
    assert_eq!(first.map(|(system, count)| (system.clauses.len(), count)), Ok((6001, QUESTIONS)));
    let mut sizes = Vec::new();
    let mut each = |system: HornSystem| sizes.push(system.clauses.len());
    assert_eq!(parse_each_within(&context, "test", text.as_bytes(), &mut each), Ok(()));
    assert_eq!(sizes, [6001; QUESTIONS]);
}

/// The systems of all questions together would take several gigabytes.
#[test]
fn one_of_many_questions_takes_the_memory_of_one() {
    const QUESTIONS: usize = 6000;
    let text = many_questions(QUESTIONS);
    let memory = memory_in_use().map(|bytes| bytes + (1 << 30));
    let store = TermStore::new();
    let question = |number| {
        let context = Context { store: &store, limits: Limits { memory, ..Limits::default() } };
        let environment = &mut Environment::new(&store);
        parse_question_within(&context, environment, "test", text.as_bytes(), number)
    };
    for number in [1, QUESTIONS] {
        assert_eq!(question(Some(number)).map(|system| system.clauses.len()), Ok(6001));
    }
    let message = |number| match question(number) {
        Err(Unread::Wrong(error)) => error.message,
        other => panic!("{:?}", other.map(|system| system.clauses.len())),
    };
    assert!(message(None).starts_with("the script asks 6000 questions"));
    for number in [0, QUESTIONS + 1] {
        let expected = format!("there is no question {number}: the script asks 6000 questions");
        assert_eq!(message(Some(number)), expected);
    }
}

/// The result of reading a witness of one fact within limits.
fn witness_within(store: &TermStore, text: &str, limits: Limits<'_>) -> Result<Witness, Unread> {
    let mut environment = Environment::new(store);
    let clauses = b"(declare-sort U 0)(declare-fun P (Int) Bool)(assert (P 0))";
    let system = parse_in(store, &mut environment, "clauses", clauses).unwrap();
    let context = Context { store, limits };
    read_witness_within(&context, &mut environment, &system, "witness", text.as_bytes())
}

#[test]
fn limits_end_in_the_middle_of_each_witness() {
    let sum: String = (0..MANY).map(|number| format!(" (* {number} x)")).collect();
    let body = format!("(>= (+ 0{sum}) 0)");
    let one_step =
        r#"{"step": N, "predicate": "P", "arguments": ["0"], "clause": 1, "premises": [], "instance": {}}"#;
    let steps: Vec<String> = (0..2 * MANY).map(|number| one_step.replace('N', &number.to_string())).collect();
    for text in [
        format!("(define-fun P ((x Int)) Bool {body})"),
        format!(
            r#"{{"answer": "sat", "model": [{{"predicate": "P", "parameters": [{{"name": "x", "sort": "Int"}}], "body": "{body}"}}]}}"#
        ),
        format!(r#"{{"answer": "unsat", "steps": [{}]}}"#, steps.join(",")),
        (0..2 * MANY).map(|number| format!("(step {number} (P 0) :clause 1)")).collect(),
    ] {
        let witness = witness_within(&TermStore::new(), &text, Limits::default());
        assert!(witness.is_ok(), "{witness:?}");
        let unread = witness_within(&TermStore::new(), &text, soon());
        assert_eq!(unread, Err(Unread::Interrupted(Reason::Deadline)), "{}", &text[..80]);
    }
}

#[test]
fn each_limit_is_told() {
    let store = TermStore::new();
    let text = "(declare-fun P (Int) Bool)(assert (P 0))";
    let is_cancelled = AtomicBool::new(true);
    for (limits, reason) in [
        (Limits { cancel: Some(&is_cancelled), ..Limits::default() }, Reason::Cancelled),
        (Limits { memory: Some(1), ..Limits::default() }, Reason::Memory),
        (Limits { deadline: Some(Instant::now()), ..Limits::default() }, Reason::Deadline),
    ] {
        assert_eq!(read_within(&store, text, limits).map(|_| ()), Err(Unread::Interrupted(reason)));
        let system = parse(&store, "test", text.as_bytes()).unwrap();
        let context = Context { store: &store, limits };
        assert_eq!(HornGraph::within(&context, &system).map(|_| ()), Err(reason.into()));
    }
}

#[test]
fn within_limits_all_is_as_without() {
    let limits =
        Limits { deadline: Instant::now().checked_add(Duration::from_secs(3600)), ..Limits::default() };
    let text = "(declare-fun P (Int) Bool)(assert (P 0))(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))";
    let store = TermStore::new();
    let system = read_within(&store, text, limits).unwrap();
    assert_eq!(system.clauses.len(), parse(&store, "test", text.as_bytes()).unwrap().clauses.len());
    let graph = HornGraph::within(&Context { store: &store, limits }, &system).unwrap();
    assert_eq!(graph.edges().len(), HornGraph::of(&store, &system).edges().len());
    // An error is reported whatever the limits are.
    let Err(Unread::Wrong(ParseError { message, .. })) = read_within(&store, "(assert (Q 0))", limits) else {
        panic!("there is a mistake");
    };
    assert_eq!(message, "undeclared symbol `Q`");
}
