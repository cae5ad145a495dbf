//! Folds: what is defined, what is refused, and their values.

use shofar_logic::smtlib::{Environment, Item, Reader, SyntaxError};
use shofar_logic::{Assignment, Fun, Op, Sort, Term, TermStore, Value};
use shofar_testing::Random;

const SORTS: &str = "(declare-datatypes ((list 0)) (((nil) (cons (head Int) (tail list)))))
    (declare-datatypes ((nat 0)) (((zero) (succ (pred nat)))))
    (declare-datatypes ((tree 0) (forest 0)) (((leaf (label Int)) (node (children forest)))
        ((none) (more (first tree) (others forest)))))\n";

/// Reads declarations and definitions.
fn read(store: &TermStore, environment: &mut Environment, text: &str) -> Result<(), SyntaxError> {
    let mut reader = Reader::new(store, environment, text.as_bytes());
    loop {
        match reader.item()? {
            Item::End => return Ok(()),
            Item::Command("define-fun-rec") => reader.define_fold()?,
            Item::Command("define-funs-rec") => reader.define_folds()?,
            Item::Command(command) => {
                reader.declaration(command)?.expect("it is a declaration");
            }
            other => panic!("{other:?}"),
        }
    }
}

fn term(store: &TermStore, environment: &mut Environment, text: &str) -> Term {
    Reader::new(store, environment, text.as_bytes()).term().unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// An environment with the sorts and definitions.
fn with(store: &TermStore, text: &str) -> Environment {
    let mut environment = Environment::new(store);
    read(store, &mut environment, SORTS).unwrap();
    read(store, &mut environment, text).unwrap_or_else(|error| panic!("{error}: {text}"));
    environment
}

fn applied(store: &TermStore, term: Term) -> Fun {
    match store.op(term) {
        Op::Apply(fun) => fun,
        op => panic!("{op:?}"),
    }
}

const LEN: &str = "(define-fun-rec len ((l list)) Int (match l ((nil 0) ((cons h t) (+ 1 (len t))))))";
const COUNT: &str = "(define-fun-rec count ((l list) (g Int)) Int
    (ite ((_ is nil) l) 0 (+ (count (tail l) g) (ite (= (head l) g) 1 0))))";
const EVEN_ODD: &str = "(define-funs-rec ((even ((n nat)) Bool) (odd ((n nat)) Bool))
    ((match n ((zero true) ((succ m) (odd m)))) (match n ((zero false) ((succ m) (even m))))))";
const LEAVES: &str = "(define-funs-rec ((leaves ((t tree)) Int) (all ((f forest)) Int))
    ((match t (((leaf l) 1) ((node c) (all c)))) (match f ((none 0) ((more t r) (+ (leaves t) (all r)))))))";

#[test]
fn folds_have_the_values_of_their_definitions() {
    let store = TermStore::new();
    let parity = "(define-fun-rec st ((n nat)) Int (match n ((zero 0) ((succ m) (ite (= (st m) 0) 1 0)))))";
    let mut environment = with(&store, &[LEN, COUNT, EVEN_ODD, LEAVES, parity].concat());
    for (text, value) in [
        ("(len (cons 7 (cons 8 nil)))", Value::Int(2.into())),
        ("(count (cons 7 (cons 8 (cons 7 nil))) 7)", Value::Int(2.into())),
        ("(+ (count (cons 7 nil) 8) (len nil))", Value::Int(0.into())),
        ("(- 10 (st (succ (succ (succ zero)))))", Value::Int(9.into())),
        ("(even (succ (succ zero)))", Value::Bool(true)),
        ("(odd (succ (succ zero)))", Value::Bool(false)),
        (
            "(leaves (node (more (leaf 1) (more (node (more (leaf 2) (more (leaf 3) none))) none))))",
            Value::Int(3.into()),
        ),
    ] {
        let term = term(&store, &mut environment, text);
        assert_eq!(store.eval(term, &Assignment::new()), Ok(value), "{text}");
    }
}

/// The variables of cases have fixed names, and users may use them too.
#[test]
fn a_fold_does_not_depend_on_variables_outside() {
    let store = TermStore::new();
    let mut environment =
        with(&store, "(define-fun-rec last ((l list)) Int (match l ((nil 0) ((cons h t) h))))");
    let term = term(&store, &mut environment, "(last (cons 5 nil))");
    let user = store.var(store.symbol("field0"), Sort::INT);
    let assignment = Assignment::from_iter([(user, Value::Int(9.into()))]);
    assert_eq!(store.eval(term, &assignment), Ok(Value::Int(5.into())));
}

#[test]
fn long_lists_and_deep_trees_are_folded_without_recursion() {
    let store = TermStore::new();
    let mut environment = with(&store, &[LEN, COUNT, LEAVES].concat());
    let sample = term(&store, &mut environment, "(cons 1 nil)");
    let Op::Construct(cons) = store.op(sample) else { panic!("a list") };
    let nil = store.args(sample)[1];
    let list = (0..100_000).fold(nil, |rest, at| store.construct_term(cons, &[store.int(at % 10), rest]));
    let [len, count] = ["(len nil)", "(count nil 3)"].map(|text| term(&store, &mut environment, text));
    let len = store.apply(applied(&store, len), &[list]).unwrap();
    let count = store.apply(applied(&store, count), &[list, store.int(3)]).unwrap();
    assert_eq!(store.eval(len, &Assignment::new()), Ok(Value::Int(100_000.into())));
    assert_eq!(store.eval(count, &Assignment::new()), Ok(Value::Int(10_000.into())));
    let tree = term(&store, &mut environment, "(node (more (leaf 1) none))");
    let (Op::Construct(node), &[forest]) = store.view(tree) else { panic!("a tree") };
    let (Op::Construct(more), &[leaf, none]) = store.view(forest) else { panic!("a forest") };
    let deep = (0..100_000).fold(leaf, |tree, _| {
        let forest = store.construct_term(more, &[tree, none]);
        store.construct_term(node, &[forest])
    });
    let leaves = term(&store, &mut environment, "(leaves (leaf 0))");
    let leaves = store.apply(applied(&store, leaves), &[deep]).unwrap();
    assert_eq!(store.eval(leaves, &Assignment::new()), Ok(Value::Int(1.into())));
}

const LT: &str = "(define-fun-rec lt ((x nat) (y nat)) Int (match x (
    (zero (ite ((_ is succ) y) 1 2))
    ((succ a) (ite ((_ is succ) y) (lt a (pred y)) 2)))))";
const REVERSE: &str =
    "(define-fun-rec rev ((l list) (acc list)) list (match l ((nil acc) ((cons h t) (rev t (cons h acc))))))";

/// A synchronous automaton, an accumulator, and calls that meet again: without a table there were 2^200 of them.
#[test]
fn calls_may_change_ghosts() {
    let store = TermStore::new();
    let meeting = "(define-fun-rec meet ((x nat) (y nat) (z nat)) Int (match x (
        (zero (ite ((_ is zero) y) 1 0))
        ((succ a) (ite (= (meet a (pred y) z) (meet a z (pred y))) (meet a (pred y) z) 2)))))";
    let mut environment = with(&store, &[LT, REVERSE, meeting].concat());
    let number = |n: usize| format!("{}zero{}", "(succ ".repeat(n), ")".repeat(n));
    for (m, n) in (0..6).flat_map(|m| (0..6).map(move |n| (m, n))) {
        let text = format!("(lt {} {})", number(m), number(n));
        let term = term(&store, &mut environment, &text);
        assert!(store.applied_fold(term).is_some_and(|fold| fold.changes_ghosts));
        let expected = if m < n { 1 } else { 2 };
        assert_eq!(store.eval(term, &Assignment::new()), Ok(Value::Int(expected.into())), "{text}");
    }
    let reversed = term(&store, &mut environment, "(rev (cons 1 (cons 2 nil)) nil)");
    let expected = term(&store, &mut environment, "(cons 2 (cons 1 nil))");
    assert_eq!(store.eval(reversed, &Assignment::new()), Ok(Value::Term(expected)));
    let text = format!("(meet {} {} {})", number(200), number(200), number(200));
    let meet = term(&store, &mut environment, &text);
    assert!(store.eval(meet, &Assignment::new()).is_ok());
}

#[test]
fn an_application_unfolds_to_its_case() {
    let store = TermStore::new();
    let mut environment = with(&store, &[LEN, COUNT].concat());
    read(&store, &mut environment, "(declare-const l list)(declare-const x Int)").unwrap();
    let mut unfolded = |text: &str| {
        let term = term(&store, &mut environment, text);
        store.display(store.unfold(term).unwrap()).to_string()
    };
    assert_eq!(unfolded("(len nil)"), "0");
    assert_eq!(unfolded("(len (cons x l))"), "(+ (len l) 1)");
    assert_eq!(unfolded("(count (cons x l) (+ x 1))"), "(count l (+ x 1))");
    assert_eq!(unfolded("(len l)"), "(ite ((_ is nil) l) 0 (+ (len (tail l)) 1))");
}

#[test]
fn equal_families_are_one_family() {
    let store = TermStore::new();
    let mut environment = with(&store, &[LEN, EVEN_ODD].concat());
    let again = LEN.replace("len", "size").replace(
        "match l ((nil 0) ((cons h t) (+ 1 (size t))))",
        "ite ((_ is cons) l) (+ (size (tail l)) 1) 0",
    );
    read(&store, &mut environment, &again).unwrap();
    read(&store, &mut environment, &EVEN_ODD.replace("even", "e").replace("odd", "o")).unwrap();
    for (a, b) in [("(len nil)", "(size nil)"), ("(even zero)", "(e zero)"), ("(odd zero)", "(o zero)")] {
        assert_eq!(term(&store, &mut environment, a), term(&store, &mut environment, b));
    }
    let other = LEN.replace("len", "twice").replace("+ 1", "+ 2");
    read(&store, &mut environment, &other).unwrap();
    assert_ne!(term(&store, &mut environment, "(len nil)"), term(&store, &mut environment, "(twice nil)"));
    // The number function of a Peano datatype is such a fold.
    let number = "(define-fun-rec n ((x nat)) Int (match x ((zero 0) ((succ y) (+ (n y) 1)))))";
    read(&store, &mut environment, number).unwrap();
    let zero = term(&store, &mut environment, "zero");
    let fun = applied(&store, term(&store, &mut environment, "(n zero)"));
    assert_eq!(store.number_function(store.sort_of(zero)), fun);
    assert_eq!(store.number_function_sort(fun), Some(store.sort_of(zero)));
}

#[test]
fn other_recursion_is_refused_with_a_reason_and_a_position() {
    for (text, expected) in [
        ("(define-fun-rec f ((l list)) Int (f l))", "not structural"),
        (
            "(define-fun-rec f ((l list)) Int (match l ((nil 0) ((cons h t) (f (cons 1 t))))))",
            "`(f (cons 1 field1))`",
        ),
        (
            "(define-fun-rec f ((l list) (g Int)) Int (match l ((nil g) ((cons h t) (f t (f t g))))))",
            "not structural",
        ),
        (
            "(define-fun-rec f ((l list) (g Int)) Int (match l ((nil g) ((cons h t) (f t (len t))))))",
            "not structural",
        ),
        (
            "(define-fun-rec f ((l list) (g list)) Int (match l ((nil 0) ((cons h t) (f g t)))))",
            "not structural",
        ),
        (
            "(define-fun-rec f ((l list) (g Int)) Int (match l ((nil g) ((cons h t) (f t (* g g))))))",
            "multiplies",
        ),
        (
            "(define-fun-rec f ((l list) (g Int)) Int
                 (match l ((nil g) ((cons h t) (+ (f t (+ g 1)) (f t (- g 2)))))))",
            "parameters grow",
        ),
        ("(define-fun-rec f ((n Int)) Int (f (- n 1)))", "must be of a datatype"),
        ("(define-fun-rec f () Int 1)", "must be of a datatype"),
        ("(define-fun-rec len ((l list)) Int 0)", "defined already"),
        ("(define-fun-rec f ((l list)) Bool 0)", "sort Int, but Bool"),
        ("(define-fun-rec f ((l list)) Bool (exists ((x Int)) (= x (len l))))", "quantifier"),
        ("(define-fun-rec f ((l list)) Int (match l ((nil 2) ((cons h t) (* (f t) (f t))))))", "multiplies"),
        ("(define-funs-rec ((f ((l list)) Int) (f ((l list)) Int)) (0 0))", "defined already"),
        ("(define-funs-rec ((f ((l list)) Int) (g ((l list)) Int)) (0))", "expected a term"),
        ("(declare-fun c () Int)(define-fun-rec f ((l list)) Int c)", "mentions `c`"),
    ] {
        let store = TermStore::new();
        let mut environment = with(&store, LEN);
        let error = read(&store, &mut environment, text).unwrap_err();
        assert!(error.to_string().contains(expected), "{text}: {error}");
        assert!(error.offset > 0 && error.offset < text.len(), "{text}: {}", error.offset);
        // Nothing stays from a refused definition.
        read(&store, &mut environment, "(define-fun-rec f ((l list)) Int (len l))").unwrap();
    }
}

/// A random fold of a list over smaller folds, as text.
fn random_fold(random: &mut Random, name: &str, earlier: &[String]) -> String {
    let mut atoms: Vec<String> = vec!["h".into(), "1".into(), "g".into(), format!("({name} t g)")];
    atoms.extend(earlier.iter().map(|fun| format!("({fun} t g)")));
    let mut sum = || {
        let mut parts: Vec<String> = Vec::new();
        for _ in 0..random.between(1, 3) {
            let atom = &atoms[random.below(atoms.len())];
            parts.push(match random.below(3) {
                0 => atom.clone(),
                1 => format!("(* 2 {atom})"),
                _ => format!("(ite (< {atom} h) (- {atom}) 3)"),
            });
        }
        format!("(+ 0 {})", parts.join(" "))
    };
    let (base, step) = (sum().replace("h)", "4)").replace(" h", " 4"), sum());
    let base = if base.contains(" t ") { "5".to_owned() } else { base };
    format!("(define-fun-rec {name} ((l list) (g Int)) Int (match l ((nil {base}) ((cons h t) {step}))))")
}

/// Evaluation of a fold is that of its unfolding, and unfolding it completely gives a number.
#[test]
fn random_folds_have_the_values_of_their_unfoldings() {
    let mut random = Random::new(7);
    for _ in 0..60 {
        let store = TermStore::new();
        let mut environment = with(&store, "");
        let mut names: Vec<String> = Vec::new();
        for at in 0..3 {
            let text = random_fold(&mut random, &format!("f{at}"), &names);
            read(&store, &mut environment, &text).unwrap_or_else(|error| panic!("{error}: {text}"));
            names.push(format!("f{at}"));
        }
        let list = (0..random.between(0, 5))
            .fold("nil".to_owned(), |rest, _| format!("(cons {} {rest})", random.between(0, 9)));
        let term = term(&store, &mut environment, &format!("(f2 {list} {})", random.between(0, 9)));
        let mut unfolded = term;
        while let Some(application) =
            store.subterms(&[unfolded]).into_iter().find(|&part| store.applied_fold(part).is_some())
        {
            let by = store.unfold(application).unwrap();
            let rebuilt = store.rewrite(unfolded, &mut |op, args| {
                let built = store.build(op, args).unwrap();
                if built == application { by } else { built }
            });
            unfolded = store.normalize(rebuilt);
        }
        let value = store.eval(term, &Assignment::new()).unwrap();
        assert_eq!(store.term_to_value(unfolded), Some(value), "{}", store.display(term));
    }
}
