//! Transition systems in VMT: their clauses, mistakes with positions, and texts that are broken at random.

use shofar_horn::check::{Validity, checked};
use shofar_horn::witness::read_within;
use shofar_horn::{Context, Format, HornGraph, HornSystem, parse, parse_all, parse_in};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_testing::Random;
use shofar_testing::explicit::Saturation;
use shofar_testing::scale::numbers;

/// All sorts, an input, two properties, a definition that formulas use, and commands that do not count.
const MIXED: &str = "(set-logic QF_LIRA)
(declare-fun n () Int) (declare-fun n.next () Int)
(declare-fun r () Real) (declare-fun |r next| () Real)
(declare-const b Bool) (declare-const b.next Bool)
(declare-fun go () Bool)
(define-fun sv0 () Int (! n :next n.next))
(define-fun sv1 () Real (! r :next |r next|))
(define-fun sv2 () Bool (! b :next b.next))
(define-fun start () Bool (and (= sv0 0) (= sv1 0.5) (not b)))
(define-fun init () Bool (! start :init true))
(define-fun trans () Bool
  (! (and (= n.next (ite go (+ n 1) n)) (= |r next| (* 2.0 r)) (= b.next (not b))) :trans true))
(assert true)
(define-fun positive () Bool (! (> r 0.0) :invar-property 0))
(define-fun few () Bool (! (< n 5) :invar-property 1))
(assert (< n 0))
(check-sat)
";

const MIXED_CLAUSES: &str = "(set-logic HORN)
(declare-fun state (Int Real Bool) Bool)
(assert (!
  (forall ((n Int) (r Real) (b Bool))
    (=>
      (and (= n 0) (= r (/ 1.0 2.0)) (not b))
      (state n r b))) :named init))
(assert (!
  (forall ((n Int) (r Real) (b Bool) (n.next Int) (|r next| Real) (b.next Bool) (go Bool))
    (=>
      (and
        (state n r b)
        (and (= n.next (ite go (+ n 1) n)) (= |r next| (* 2.0 r)) (= b.next (not b))))
      (state n.next |r next| b.next))) :named trans))
(assert (!
  (forall ((n Int) (r Real) (b Bool))
    (=>
      (and
        (state n r b)
        (not (> r 0.0)))
      false)) :named property-0))
(assert (!
  (forall ((n Int) (r Real) (b Bool))
    (=>
      (and
        (state n r b)
        (not (< n 5)))
      false)) :named property-1))
(check-sat)
";

fn read(store: &TermStore, text: &str) -> HornSystem {
    parse(store, "test", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn mistake(text: &str) -> String {
    let error = parse(&TermStore::new(), "test", text).unwrap_err();
    assert_eq!(error.hint, None);
    error.to_string()
}

#[test]
fn annotations_become_clauses() {
    let store = TermStore::new();
    let system = read(&store, MIXED);
    assert_eq!(system.to_text(&store, Format::Smtlib), MIXED_CLAUSES);
    // Clauses stand where their annotations stand.
    let lines: Vec<u32> = system.clauses.iter().map(|clause| clause.position.line).collect();
    assert_eq!(lines, [10, 12, 14, 15]);
    assert!(read(&store, MIXED_CLAUSES).same_as(&system));
    // The script asks one question.
    assert_eq!(parse_all(&store, "test", MIXED).unwrap().len(), 1);
}

/// A text that refers to the clauses knows their predicate, and the constants are no names any more.
#[test]
fn models_of_a_transition_system_are_read_and_checked() {
    let store = TermStore::new();
    let text = MIXED.replace("(! (< n 5) :invar-property 1)", "true");
    for (formula, is_model) in [("(> r 0.0)", true), ("(> r 0.3)", true), ("(> r 0.7)", false)] {
        let mut environment = Environment::new(&store);
        let system = parse_in(&store, &mut environment, "test", &text).unwrap();
        let model = format!("sat\n(define-fun state ((n Int) (r Real) (b Bool)) Bool {formula})");
        let context = Context::new(&store);
        let read = read_within(&context, &mut environment, &system, "model", model.as_bytes());
        let witness = read.unwrap_or_else(|error| panic!("{error}"));
        let judged = checked(&context, &system, witness);
        assert!(
            if is_model { judged.is_ok() } else { matches!(judged, Err(Validity::Invalid(_))) },
            "{formula}"
        );
    }
}

/// Whether a system over `Bool` is satisfiable.
fn holds(text: &str) -> bool {
    let store = TermStore::new();
    let system = read(&store, text);
    Saturation::of(&store, &HornGraph::of(&store, &system), 0..=1).is_safe()
}

/// `i` is an input, and `:init` mentions it: in step 0 the property sees the same value.
#[test]
fn inputs_are_the_same_in_one_step_and_free_in_the_next() {
    let text = |property: &str| {
        format!(
            "(declare-fun x () Bool) (declare-fun y () Bool) (declare-fun i () Bool) (declare-fun first () Bool)
             (declare-fun later () Bool)
             (define-fun a () Bool (! x :next y))
             (define-fun b () Bool (! first :next later))
             (define-fun c () Bool (! (and first (= x i)) :init true))
             (define-fun d () Bool (! (and (= y x) (not later)) :trans true))
             (define-fun e () Bool (! {property} :invar-property 3))"
        )
    };
    assert!(holds(&text("(=> first (= x i))")));
    assert!(!holds(&text("(= x i)")));
    assert!(!holds(&text("x")));
}

/// The extension alone makes a script a transition system, which then has to be complete.
#[test]
fn a_file_is_recognised_by_its_name_too() {
    let store = TermStore::new();
    let empty = "(set-logic QF_LIA)\n(declare-fun x () Int)\n";
    assert_eq!(parse(&store, "test.smt2", empty).unwrap().clauses.len(), 0);
    let error = parse(&store, "test.vmt", empty).unwrap_err();
    assert_eq!(error.to_string(), "test.vmt:3:1: no formula is annotated with `:init`");
    // Assertions before the first annotation are ignored as well.
    let text = format!("(declare-fun p (Int) Bool) (assert (p 1)) (check-sat)\n{MIXED}");
    assert_eq!(parse(&store, "test.vmt", &text).unwrap().clauses.len(), 4);
    let error = parse(&store, "test.smt2", &text).unwrap_err();
    assert!(error.message.starts_with("assertions and questions must follow"), "{error}");
}

#[test]
fn mistakes_have_positions() {
    let declared = "(declare-fun x () Int)\n(declare-fun y () Int)\n(declare-fun b () Bool)\n";
    let rest = "(define-fun i () Bool (! (= x 0) :init true))
(define-fun t () Bool (! (= y x) :trans true))
(define-fun p () Bool (! (= x 0) :invar-property 0))\n";
    let next = "(define-fun v () Int (! x :next y))\n";
    let cases = [
        (
            "(define-fun l () Bool (! b :live-property 0))",
            "`:live-property` is not supported: only invariants are",
        ),
        ("(define-fun v () Int (! x :next z))", "`:next` needs the name of a declared constant"),
        ("(define-fun v () Int (! x :next (y)))", "`:next` needs the name of a declared constant"),
        (
            "(define-fun v () Int (! (+ x 1) :next y))",
            "`:next` annotates a term that is no declared constant",
        ),
        ("(define-fun v () Int (! x :next b))", "`x` and its next value `b` have different sorts"),
        ("(define-fun v () Int (! x :init true))", "`:init` annotates a term that is no formula"),
        (
            "(define-fun f ((a Int)) Bool (! (= a 0) :init true))",
            "`:init` annotates a term with parameters or bound variables",
        ),
        ("(define-fun v () Int (! x :next x))", "`x` is a state variable and a next value"),
    ];
    for (line, message) in cases {
        let column = line.find(" :").unwrap() + 2;
        let text = format!("{declared}{line}\n{rest}");
        assert_eq!(mistake(&text), format!("test:4:{column}: {message}"));
    }
    let second = [
        ("(define-fun w () Int (! x :next x))", "`x` has two next values"),
        ("(define-fun w () Int (! z :next y))", "`y` is the next value of two state variables"),
        ("(define-fun w () Bool (! (= x 1) :init true))", "a second formula is annotated with `:init`"),
        (
            "(define-fun w () Bool (! (= y 1) :invar-property 1))",
            "`:invar-property` mentions `y`, which is a value in the next step",
        ),
        (
            "(define-fun w () Bool (! (= (f x) 1) :invar-property 1))",
            "the declared function `f` is not supported in a transition system",
        ),
    ];
    for (line, message) in second {
        let column = line.find(" :").unwrap() + 2;
        let text = format!("(declare-fun z () Int) (declare-fun f (Int) Int) {declared}{next}{rest}{line}\n");
        assert_eq!(mistake(&text), format!("test:8:{column}: {message}"));
    }
    let whole = format!("{declared}{next}{rest}");
    assert_eq!(parse(&TermStore::new(), "test", &whole).unwrap().clauses.len(), 3);
    assert_eq!(
        mistake(&format!("{whole}(push)")),
        "test:8:2: `push` in a transition system is not supported"
    );
    assert_eq!(
        mistake(&format!("(declare-sort S 0)\n{whole}")),
        "test:9:1: a transition system with declared sorts is not supported"
    );
    for keyword in [":init", ":trans", ":invar-property"] {
        let text = whole.replace(keyword, ":other");
        assert_eq!(mistake(&text), format!("test:8:1: no formula is annotated with `{keyword}`"));
    }
}

#[test]
fn names_that_clauses_need_are_told_apart() {
    let store = TermStore::new();
    let text = "(declare-fun state () Int) (declare-fun next () Int) (declare-fun i () Int) (declare-fun i.next () Int)
        (define-fun v () Int (! state :next next))
        (define-fun a () Bool (! (= state i) :init true))
        (define-fun b () Bool (! (and (= next state) (> i.next 0)) :trans true))
        (define-fun c () Bool (! (= state 0) :invar-property 0))";
    let system = read(&store, text);
    let printed = system.to_text(&store, Format::Smtlib);
    assert!(read(&store, &printed).same_as(&system), "{printed}");
    assert!(printed.contains("(state!1 next i.next!1)"), "{printed}");
}

/// Broken texts are read or refused, never a panic; what is read is printed and read again.
#[test]
fn texts_broken_at_random_are_read_or_refused() {
    const PIECES: [&str; 16] = [
        "(",
        ")",
        " ",
        " ; a comment\n",
        ":next",
        ":init",
        ":trans",
        ":invar-property",
        "!",
        "x",
        "n.next",
        "|r next|",
        "true",
        " 0 ",
        "(check-sat)",
        "(define-fun q () Bool (! b :trans true))",
    ];
    let mut read_well = 0;
    for number in numbers(2_000) {
        let random = &mut Random::new(number);
        let mut text = MIXED.as_bytes().to_vec();
        for _ in 0..1 + random.below(2) {
            let (from, to) = (random.below(text.len()), random.below(text.len()));
            match random.below(6) {
                0 => drop(text.drain(from..(from + random.below(40)).min(text.len()))),
                1 => text[from] = random.below(256) as u8,
                2 => drop(text.splice(from..from, random.choose(&PIECES).bytes())),
                3 => text.swap(from, to),
                _ => exchange_words(random, &mut text),
            }
        }
        let store = TermStore::new();
        let Ok(system) = parse(&store, "broken.vmt", &text) else { continue };
        let printed = system.to_text(&store, Format::Smtlib);
        let again = parse(&store, "print", &printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert!(again.same_as(&system), "{printed}");
        read_well += 1;
    }
    assert!(read_well > 200, "{read_well}");
}

/// Replaces a word by one of the same kind, so that the text often stays a transition system.
fn exchange_words(random: &mut Random, text: &mut Vec<u8>) {
    const KINDS: [&[&str]; 6] = [
        &["<", ">", "=", "distinct"],
        &[" 0", " 1", " 5"],
        &["go", "b", "b.next"],
        &["and", "or", "=>"],
        &[":init", ":trans", ":invar-property", ":other"],
        &["assert", "check-sat", "exit"],
    ];
    let kind = random.choose(&KINDS);
    let (old, new) = (random.choose(kind).as_bytes(), random.choose(kind).as_bytes());
    let from = random.below(text.len());
    let found = text[from..].windows(old.len()).position(|word| word == old);
    if let Some(place) = found {
        text.splice(from + place..from + place + old.len(), new.iter().copied());
    }
}
