//! Reading terms and declarations: the results, and the positions of errors.

use std::sync::atomic::{AtomicBool, Ordering};

use shofar_logic::number::Rational;
use shofar_logic::smtlib::{Declaration, Environment, Reader, SyntaxError};
use shofar_logic::{Sort, SortKind, Term, TermStore};
use shofar_run::{Limits, Poll, Reason};

type Result<T> = std::result::Result<T, SyntaxError>;

/// Reads a script of declarations that ends with `(assert T)`, and returns T.
fn read(store: &TermStore, script: &str) -> Result<Term> {
    let mut environment = Environment::new(store);
    let mut reader = Reader::new(store, &mut environment, script.as_bytes());
    loop {
        let command = reader.command()?.expect("an assertion");
        if command == "assert" {
            let term = reader.term()?;
            reader.close()?;
            return Ok(term);
        }
        reader.declaration(command)?.expect("a declaration");
    }
}

/// The term in the script as it is printed again.
fn shown(script: &str) -> String {
    let store = TermStore::new();
    let term = read(&store, script).unwrap();
    store.display(term).to_string()
}

/// As `read`, where names of theories may be declared.
fn read_overloaded(store: &TermStore, script: &str) -> Result<Term> {
    let mut environment = Environment::new(store);
    environment.allow_overloading(store);
    let mut reader = Reader::new(store, &mut environment, script.as_bytes());
    loop {
        let command = reader.command()?.expect("an assertion");
        if command == "assert" {
            return reader.term();
        }
        reader.declaration(command)?.expect("a declaration");
    }
}

/// The message and the text that it points to.
fn mistake(script: &str) -> (String, &str) {
    let error = read(&TermStore::new(), script).unwrap_err();
    (error.message, &script[error.offset.min(script.len())..])
}

#[test]
fn terms_stay_as_written() {
    let declarations = "(declare-const x Int)(declare-const p Bool)(declare-fun f (Int Bool) Int)";
    for term in [
        "(=> p (>= (+ x 1 (* 2 x)) (- x) (f x (not p))) false)",
        "(ite (distinct x 1 2) (div x 2 3) (mod x (- 5)))",
        "(forall ((y Int) (q Bool)) (exists ((z Int)) (xor q (< z y x) p)))",
        "((_ divisible 3) x)",
    ] {
        assert_eq!(shown(&format!("{declarations}(assert {term})")), term);
    }
}

#[test]
fn bit_vectors_and_arrays() {
    let declarations = "(declare-const b (_ BitVec 8))(declare-const a (Array Int (_ BitVec 8)))";
    for term in [
        "(bvult (concat ((_ extract 7 4) b) #xa) ((_ zero_extend 0) #b00000101))",
        "(= (select (store a 0 b) 1) ((_ int_to_bv 8) (ubv_to_int b)))",
        "(= ((as const (Array Int (_ BitVec 8))) #x00) a)",
    ] {
        assert_eq!(shown(&format!("{declarations}(assert {term})")), term.replace("#b00000101", "#x05"));
    }
    assert_eq!(shown("(assert (_ bv13 5))"), "#b01101");
}

#[test]
fn literals_with_sign_and_fraction() {
    let store = TermStore::new();
    let value = |text: &str| {
        let term = read(&store, &format!("(assert {text})")).unwrap();
        (store.numeral(term).unwrap().clone(), store.sort_of(term))
    };
    let rational = |n: i64, d: i64| Rational::new(n.into(), d.into());
    assert_eq!(value("(- 5)"), (rational(-5, 1), Sort::INT));
    assert_eq!(value("(- 2.50)"), (rational(-5, 2), Sort::REAL));
    assert_eq!(value("(/ 1.0 3.0)"), (rational(1, 3), Sort::REAL));
    assert_eq!(value("(/ 1 3)"), (rational(1, 3), Sort::REAL));
    assert_eq!(value("(- (/ 1 3))"), (rational(-1, 3), Sort::REAL));
    let thousand_digits = "7".repeat(1000);
    assert_eq!(value(&thousand_digits).0.to_string(), thousand_digits);
    assert_eq!(shown("(assert (/ 1.0 0.0))"), "(/ 1.0 0.0)");
}

#[test]
fn integers_become_reals_where_reals_are_expected() {
    let declarations = "(declare-const r Real)(declare-const i Int)(declare-fun P (Real) Bool)";
    let shown = |term: &str| shown(&format!("{declarations}(assert {term})"));
    assert_eq!(shown("(< (+ r 1) i)"), "(< (+ r 1.0) (to_real i))");
    assert_eq!(shown("(P (- 2))"), "(P (- 2.0))");
    assert_eq!(shown("(= (ite true r 0) (/ i 2))"), "(= (ite true r 0.0) (/ (to_real i) 2.0))");
}

#[test]
fn let_is_parallel_and_shadows() {
    let script = "(declare-const x Int)(assert (let ((x 1) (y x)) (let ((x y)) (= x y 2))))";
    assert_eq!(shown(script), "(= x x 2)");
}

#[test]
fn an_inner_variable_does_not_capture_an_outer_one() {
    let script = "(assert (forall ((x Int)) (let ((y x)) (exists ((x Int)) (< x y)))))";
    assert_eq!(shown(script), "(forall ((x Int)) (exists ((x!1 Int)) (< x!1 x)))");
}

#[test]
fn a_variable_is_told_apart_from_declared_symbols() {
    let script = "(declare-fun p () Bool)(assert (or p (forall ((p Bool) (and Bool)) (= p and))))";
    assert_eq!(shown(script), "(or p (forall ((p!1 Bool) (and!1 Bool)) (= p!1 and!1)))");
}

#[test]
fn definitions_are_expanded() {
    let script = "(define-fun twice ((x Int)) Int (+ x x))(define-fun one () Int 1)\
                  (define-fun half ((x Real)) Real (/ x 2))(declare-const y Int)\
                  (assert (and (= (twice (twice y)) one) (< (half y) 0)))";
    assert_eq!(shown(script), "(let ((a!1 (+ y y))) (and (= (+ a!1 a!1) 1) (< (/ (to_real y) 2.0) 0.0)))");
}

#[test]
fn annotations_are_dropped_and_names_kept() {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let text = b"(! (! true :foo (a (b)) :bar) :named |the fact|) (! false :pattern ((f x)) :named n)";
    let mut reader = Reader::new(&store, &mut environment, text);
    assert_eq!(reader.term(), Ok(Term::TRUE));
    assert_eq!(reader.take_named(), [(store.symbol("the fact"), Term::TRUE)]);
    assert_eq!(reader.term(), Ok(Term::FALSE));
    assert_eq!(reader.take_named(), [(store.symbol("n"), Term::FALSE)]);
}

const LIST: &str = "(declare-datatypes ((List 1)) ((par (T) ((nil) (cons (head T) (tail (List T)))))))";

#[test]
fn both_syntaxes_of_datatypes_declare_the_same() {
    let store = TermStore::new();
    let declare = |text: &str| {
        let mut environment = Environment::new(&store);
        let mut reader = Reader::new(&store, &mut environment, text.as_bytes());
        let command = reader.command().unwrap().unwrap();
        match reader.declaration(command).unwrap() {
            Some(Declaration::Datatypes(sorts)) => sorts,
            other => panic!("{other:?}"),
        }
    };
    let nat = declare("(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))");
    assert_eq!(declare("(declare-datatypes () ((Nat zero (succ (pred Nat)))))"), nat);
    assert_eq!(declare("(declare-datatype Nat ((zero) (succ (pred Nat))))"), nat);
    let list = declare(LIST);
    assert_eq!(declare("(declare-datatypes (T) ((List nil (cons (head T) (tail (List T))))))"), list);
    assert_eq!(declare("(declare-datatype List (par (T) ((nil) (cons (head T) (tail (List T))))))"), list);
    let both = "(declare-datatypes ((Tree 0) (Forest 0)) (((leaf) (node (sub Forest))) \
                ((none) (some (first Tree) (rest Forest)))))";
    assert_eq!(declare(both).len(), 2);
}

#[test]
fn datatypes_may_be_mentioned_before_they_are_declared() {
    let script = "(declare-datatypes ((A 0)) (((a (b B)))))(declare-datatypes ((C 0)) (((c (a2 A)))))\
                  (declare-datatypes ((B 0)) (((b0) (b1 (c1 (Array Int C))))))";
    assert_eq!(shown(&format!("{script}(assert (b (a b0)))")), "(b (a b0))");
    let (message, place) = mistake("(declare-datatypes ((A 0)) (((a (b B)))))(assert true)");
    assert_eq!(message, "undeclared sort `B`");
    assert!(place.starts_with("B)"));
}

#[test]
fn instances_of_parametric_datatypes() {
    let script = format!(
        "{LIST}(declare-const l (List Int))\
         (assert (= (tail (cons 1 l)) ((as cons (List Int)) (head l) (as nil (List Int)))))"
    );
    let store = TermStore::new();
    let term = read(&store, &script).unwrap();
    let sort = store.sort_of(store.args(term)[0]);
    assert_eq!(store.display_sort(sort).to_string(), "(List Int)");
    assert!(matches!(store.sort_kind(sort), SortKind::Datatype(_)));
    let (message, _) = mistake(&format!("{LIST}(assert nil)"));
    assert_eq!(message, "the sort of `nil` is not clear here: write (as nil SORT)");
    let (message, _) = mistake(&format!("{LIST}(declare-const l (List Int))(assert (cons true l))"));
    assert_eq!(message, "argument 2 of (as cons (List Bool)) has sort (List Int), expected (List Bool)");
}

#[test]
fn the_only_instance_of_a_datatype_is_what_a_constructor_without_fields_belongs_to() {
    let script = format!("{LIST}(declare-const l (List Int))");
    assert_eq!(
        shown(&format!("{script}(assert (= l (cons 1 nil)))")),
        "(= l ((as cons (List Int)) 1 (as nil (List Int))))"
    );
    let several = format!("{script}(declare-const m (List Bool))(assert (= l nil))");
    let (message, place) = mistake(&several);
    assert_eq!(message, "the sort of `nil` is not clear here: write (as nil SORT)");
    assert!(place.starts_with("nil"));
}

#[test]
fn lists_are_known_unless_they_are_declared() {
    let script = "(declare-const l (List Int))";
    assert_eq!(
        shown(&format!("{script}(assert (= (tail l) (insert (+ (head l) 1) nil)))")),
        "(= (tail l) ((as insert (List Int)) (+ (head l) 1) (as nil (List Int))))"
    );
    assert_eq!(shown(&format!("{script}(assert (is-insert l))")), "((_ is insert) l)");
    let scoped = "(assert (forall ((head Int) (l (List Int))) (= (head l) head)))";
    assert_eq!(shown(scoped), "(forall ((head Int) (l (List Int))) (= (head l) head))");
    // Names of lists may be declared, before and after the sort is used.
    assert_eq!(
        shown(&format!(
            "(declare-fun head (Int) Int){script}(declare-const nil Int)(assert (= (head l) (head nil)))"
        )),
        "(= (head l) (head nil))"
    );
    let own = "(declare-datatypes () ((List nil (cons (head Int) (tail List)))))(declare-const l List)";
    assert_eq!(shown(&format!("{own}(assert (cons (head l) nil))")), "(cons (head l) nil)");
}

/// The remainder has the sign of the divisor, and for zero it is what `mod` is.
#[test]
fn the_remainder_of_z3() {
    let integers = "(declare-const x Int)(declare-const y Int)";
    assert_eq!(
        shown(&format!("{integers}(assert (rem x y))")),
        "(let ((a!1 (mod x y))) (ite (>= y 0) a!1 (- a!1)))"
    );
    let store = TermStore::new();
    for (x, y, remainder) in [("7", "2", 1), ("7", "(- 2)", -1), ("(- 7)", "2", 1), ("(- 7)", "(- 2)", -1)] {
        let term = read(&store, &format!("(assert (rem {x} {y}))")).unwrap();
        assert_eq!(store.normalize(term), store.int(remainder), "rem {x} {y}");
    }
    assert_eq!(shown("(declare-fun rem (Bool) Bool)(assert (rem true))"), "(rem true)");
}

#[test]
fn a_declared_name_of_a_theory_is_told_from_the_operator_by_the_arguments() {
    let store = TermStore::new();
    let declarations = "(declare-fun select (Int) Bool)(declare-fun mod (Int Int) Bool)(declare-fun + (Bool) Int)\
        (declare-fun implies (Int Int) Bool)(declare-const store Int)(define-fun abs ((x Bool)) Int (ite x 1 0))\
        (declare-const a (Array Int Int))(declare-datatype D ((concat (bvadd Int))))";
    for (term, text) in [
        ("(=> (select (select a 0)) (select 1))", "(=> (select (select a 0)) (select 1))"),
        ("(implies (mod 1 2) (implies 1 2))", "(=> (mod 1 2) (implies 1 2))"),
        ("(= (+ true) (+ 1 2) store)", "(= (+ true) (+ 1 2) store)"),
        ("(= a (store a store 1))", "(= a (store a store 1))"),
        ("(= (abs (- 1)) (abs true))", "(= (abs (- 1)) (ite true 1 0))"),
        ("(= #x12 (concat #x1 #x2))", "(= #x12 (concat #x1 #x2))"),
        ("(= 1 (bvadd (concat 1)))", "(= 1 (bvadd (concat 1)))"),
        (
            "(forall ((select Int)) (= (select a 0) select))",
            "(forall ((select!1 Int)) (= (select a 0) select!1))",
        ),
    ] {
        let read = read_overloaded(&store, &format!("{declarations}(assert {term})"));
        let read = read.unwrap_or_else(|error| panic!("{term}: {}", error.message));
        assert_eq!(store.display(read).to_string(), text, "{term}");
    }
    for (script, message, place) in [
        (
            "(declare-fun and (Int) Bool)",
            "`and` is reserved: it is a symbol of SMT-LIB's core theory",
            "and (Int)",
        ),
        (
            "(declare-const true Int)",
            "`true` is reserved: it is a symbol of SMT-LIB's core theory",
            "true Int",
        ),
        ("(declare-const div Int)(declare-const div Int)", "`div` is declared already", "div Int)"),
        (
            "(declare-fun / (Real Int) Bool)(declare-const x Int)(assert (/ x x))",
            "this may be the declared symbol or that of the theory: both take the arguments, with integers as reals",
            "(/ x x)",
        ),
        (
            "(declare-fun select (Int) Bool)(assert (select true))",
            "argument 1 of select has sort Bool, expected Int",
            "true",
        ),
    ] {
        let error = read_overloaded(&store, script).unwrap_err();
        assert_eq!(error.message, message, "{script}");
        assert!(script[error.offset..].starts_with(place), "{script}");
    }
}

#[test]
fn testers_in_all_spellings() {
    let script = format!("{LIST}(declare-const l (List Int))");
    let expected = "((_ is cons) l)";
    for test in ["((_ is cons) l)", "(is-cons l)", "((_ is (cons (Int (List Int)) (List Int))) l)"] {
        assert_eq!(shown(&format!("{script}(assert {test})")), expected);
    }
}

#[test]
fn match_is_a_chain_of_ite() {
    let script = format!("{LIST}(declare-const l (List Int))");
    let shown = |term: &str| shown(&format!("{script}(assert {term})"));
    assert_eq!(shown("(match l ((nil 0) ((cons h t) (+ h 1))))"), "(ite ((_ is nil) l) 0 (+ (head l) 1))");
    assert_eq!(
        shown("(match l (((cons h t) (match t ((nil h) (other (head other))))) (x 7)))"),
        "(let ((a!1 (tail l))) (ite ((_ is cons) l) (ite ((_ is nil) a!1) (head l) (head a!1)) 7))"
    );
    let (message, _) = mistake(&format!("{script}(assert (match l (((cons h t) h))))"));
    assert_eq!(message, "`match` has no case for `nil`");
}

#[test]
fn sort_definitions() {
    let script = format!(
        "{LIST}(declare-sort S 1)(define-sort Pairs (A) (Array A (List (S A))))\
         (declare-const p (Pairs Int))(assert (select p 0))"
    );
    let store = TermStore::new();
    let term = read(&store, &script).unwrap();
    assert_eq!(store.display_sort(store.sort_of(term)).to_string(), "(List (S Int))");
}

#[test]
fn sorts_cannot_grow_for_ever() {
    let mut script = String::from("(define-sort S0 () Int)");
    for i in 1..100 {
        script.push_str(&format!("(define-sort S{i} () (Array S{} S{}))", i - 1, i - 1));
    }
    let (message, _) = mistake(&format!("{script}(assert true)"));
    assert_eq!(message, "the sort is too large");
    let deep = format!("(declare-const x {}", "(Array Int ".repeat(1_000_000));
    assert_eq!(mistake(&deep).0, "the sort is too large");
}

#[test]
fn mistakes_are_located() {
    for (script, message, place) in [
        ("(assert (and true x))", "undeclared symbol `x`", "x))"),
        ("(assert (+ 1 true))", "argument 2 of + has sort Bool, expected Int", "true))"),
        ("(assert (not))", "not takes 1 argument, but has 0", "(not))"),
        ("(declare-fun f (Int) Int)(assert (f 1 2))", "f takes 1 argument, but has 2", "(f 1 2))"),
        ("(declare-fun f (Foo) Int)", "undeclared sort `Foo`", "Foo) Int)"),
        ("(declare-const x Int)(declare-fun x () Bool)", "`x` is declared already", "x () Bool)"),
        ("(assert ((f) x))", "expected `_` or `as`, found `f`", "f) x))"),
        ("(assert (", "expected a function, found the end of the file", ""),
        ("(assert (and true", "expected a term, found the end of the file", ""),
        ("(assert (let ((x 1)) (x 2)))", "`x` is not a function and takes no arguments", "x 2)))"),
        ("(assert ())", "expected a function, found `)`", "))"),
        ("(assert (forall ((x Int)) 1))", "the body of a quantifier must be Bool", "1))"),
        ("(assert ((_ extract 9 0) #x00))", "cannot extract bits 9 to 0 of 8 bits", "((_ extract"),
        ("(declare-const s String)", "undeclared sort `String` (this theory is not supported)", "String)"),
        ("(declare-const v (_ BitVec 2000000))", "the largest width is 1048576", "2000000"),
        (
            "(assert ((_ repeat 2000000) #x0))",
            "the width of the bit-vector is zero or too large",
            "((_ repeat 2000000)",
        ),
        ("(assert let)", "unexpected reserved word `let`", "let)"),
    ] {
        let (found, at) = mistake(script);
        assert_eq!(found, message, "{script}");
        assert!(at.starts_with(place) && (!place.is_empty() || at.is_empty()), "{script}: {at}");
    }
}

#[test]
fn mistakes_come_with_what_may_have_been_meant() {
    let hint = |script: &str| read(&TermStore::new(), script).unwrap_err().hint;
    for (script, expected) in [
        ("(declare-const count Int)(assert (> cuont 0))", "did you mean `count`?"),
        ("(assert (forall ((value Int)) (= vale 0)))", "did you mean `value`?"),
        ("(assert (adn true true))", "did you mean `and`?"),
        ("(declare-const x Itn)", "did you mean `Int`?"),
        ("(assert (== 1 1))", "SMT-LIB writes `=` for equality"),
        (
            "(declare-const p Bool)\n(assert (and p\n(assert p)",
            "is a `)` missing in the command that starts in line 2?",
        ),
        ("\n(assert (and true", "is a `)` missing in the command that starts in line 2?"),
    ] {
        assert_eq!(hint(script).as_deref(), Some(expected), "{script}");
    }
    // What is out of scope is not meant.
    assert_eq!(hint("(assert (and (forall ((value Int)) true) (= vale 0)))"), None);
    assert_eq!(hint("(assert (+ 1 true))"), None);
}

#[test]
fn after_a_mistake_the_next_term_is_read_in_the_global_scope() {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let script = b"(forall ((x Int)) (let ((y x)) (match y";
    let mut reader = Reader::new(&store, &mut environment, script);
    assert!(reader.term().is_err());
    let mut reader = Reader::new(&store, &mut environment, b"(forall ((x Int)) (= x y))");
    assert_eq!(reader.term().unwrap_err().message, "undeclared symbol `y`");
    let mut reader = Reader::new(&store, &mut environment, b"(forall ((x Int)) (= x 1))");
    let term = reader.term().unwrap();
    assert_eq!(store.display(term).to_string(), "(forall ((x Int)) (= x 1))");
}

#[test]
fn a_million_levels() {
    const LEVELS: usize = 1_000_000;
    let declarations = "(declare-const p Bool)(declare-const x Int)";
    for (open, inside, close) in [
        ("(and p ", "p", ")"),
        ("(+ 1 ", "x", ")"),
        ("(let ((q p)) ", "q", ")"),
        ("(let ((y (+ x 1))) ", "y", ")"),
        ("(let ((y ", "x", ")) y)"),
        ("(not ", "p", ")"),
        ("(ite p x ", "x", ")"),
        ("(forall ((y Int)) ", "p", ")"),
        ("(! ", "p", " :a)"),
    ] {
        let script =
            format!("{declarations}(assert {}{inside}{})", open.repeat(LEVELS), close.repeat(LEVELS));
        assert!(read(&TermStore::new(), &script).is_ok(), "{open}");
        let cut = &script[..script.len() / 2];
        assert!(read(&TermStore::new(), cut).is_err(), "{open}");
    }
    assert!(read(&TermStore::new(), &"(".repeat(LEVELS)).is_err());
}

#[test]
fn declarations_of_a_level_are_forgotten_with_it() {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let declare = |environment: &mut Environment, text: &str| {
        let mut reader = Reader::new(&store, environment, text.as_bytes());
        let command = reader.command()?.expect("a command");
        reader.declaration(command)
    };
    declare(&mut environment, "(declare-const x Int)").unwrap();
    environment.push();
    declare(&mut environment, "(declare-datatype D ((c (x2 Int))))").unwrap();
    declare(&mut environment, "(declare-const y D)").unwrap();
    assert!(declare(&mut environment, "(declare-const x Bool)").is_err());
    environment.pop();
    declare(&mut environment, "(declare-const y Int)").unwrap();
    declare(&mut environment, "(declare-sort D 0)").unwrap();
    declare(&mut environment, "(declare-const c D)").unwrap();
    assert!(declare(&mut environment, "(declare-const x Bool)").is_err());
}

/// Also within a single term.
#[test]
fn reading_ends_where_limits_do() {
    let text = format!("(assert (and {}))", "true ".repeat(200_000));
    let cancel = AtomicBool::new(false);
    let limits = Limits { cancel: Some(&cancel), ..Limits::default() };
    let poll = Poll::new(&limits);
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let mut reader = Reader::new(&store, &mut environment, text.as_bytes()).within(&poll);
    assert_eq!(reader.command(), Ok(Some("assert")));
    cancel.store(true, Ordering::Relaxed);
    let error = reader.term().unwrap_err();
    assert_eq!(error.interruption, Some(Reason::Cancelled));
    assert!((1000..200_000).contains(&error.offset), "{}", error.offset);
    // The environment can be used again.
    assert_eq!(Reader::new(&store, &mut environment, b"(and true false)").term().map(|_| ()), Ok(()));
}
