//! Values of datatypes as people read them, and refutations whose values share their parts.

use std::time::Instant;

use shofar_horn::check::{Validity, check_refutation};
use shofar_horn::infix::{Notation, ValueTexts};
use shofar_horn::witness::{Explanation, Refutation, Step, Witness, WitnessFormat, read as read_witness};
use shofar_horn::{Context, HornSystem, parse_in};
use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{Op, Sort, Term, TermStore, Value};
use shofar_run::Limits;

/// Numbers, lists of them, lists of lists with another order of constructors and fields, lists of pairs of fields, trees,
/// pairs, and names that mean nothing.
const DATATYPES: &str = "(declare-datatypes ((N 0) (L 0) (LL 0) (Map 0) (T 0) (Pair 0))
    (((zero) (succ (pred N)))
     ((nil) (cons (head N) (tail L)))
     ((glue (rest LL) (first L)) (hollow))
     ((end) (entry (key Int) (next Map) (value Bool)))
     ((leaf) (node (left T) (label N) (right T)))
     ((pair (fst N) (snd L)))))";

/// The term of a text over the datatypes.
fn value(store: &TermStore, text: &str) -> Value {
    let mut environment = Environment::new(store);
    let script = format!("{DATATYPES} {text}");
    let mut reader = Reader::new(store, &mut environment, script.as_bytes());
    let command = reader.command().unwrap().unwrap();
    reader.declaration(command).unwrap();
    store.term_to_value(reader.term().unwrap()).expect("it is a value")
}

fn told(text: &str, characters: usize) -> String {
    let store = TermStore::new();
    let value = value(&store, text);
    Notation::Math.value(&store, &value, characters)
}

/// A list of the numbers below `length`.
fn list(length: usize) -> String {
    let numbers =
        (0..length).map(|number| format!("(cons {}zero{} ", "(succ ".repeat(number), ")".repeat(number)));
    format!("{}nil{}", numbers.collect::<String>(), ")".repeat(length))
}

#[test]
fn values_are_recognised_by_their_shape() {
    for (text, expected) in [
        ("zero", "0"),
        ("(succ (succ zero))", "2"),
        ("nil", "[]"),
        ("(cons zero (cons (succ zero) nil))", "[0, 1]"),
        ("(glue (glue hollow nil) (cons zero nil))", "[[0], []]"),
        ("(entry 1 (entry (- 2) end false) true)", "[(1, true), (−2, false)]"),
        ("(node leaf (succ zero) (node leaf zero leaf))", "node(leaf, 1, node(leaf, 0, leaf))"),
        ("(pair (succ zero) (cons zero nil))", "pair(1, [0])"),
    ] {
        assert_eq!(told(text, 60), expected);
    }
    let store = TermStore::new();
    let numbers = value(&store, "(cons (succ zero) nil)");
    assert_eq!(Notation::Smtlib.value(&store, &numbers, 60), "(cons (succ zero) nil)");
}

/// How an array `a` changes, with at most three texts.
fn changes(before: &str, after: &str, notation: Notation) -> Option<Vec<String>> {
    let store = TermStore::new();
    let numbers = "(as const (Array Int Int))";
    let [before, after] = [before, after].map(|text| {
        let text =
            text.replace("(zeros)", &format!("({numbers} 0)")).replace("(ones)", &format!("({numbers} 1)"));
        value(
            &store,
            &text.replace("(rows)", &format!("((as const (Array Bool (Array Int Int))) ({numbers} 0))")),
        )
    });
    ValueTexts::new(&store, notation).changes("a", &before, &after, 20, 3)
}

#[test]
fn arrays_change_in_elements() {
    for (before, after, expected) in [
        ("(zeros)", "(store (zeros) 3 7)", vec!["a[3]: 0 → 7"]),
        ("(store (zeros) 3 7)", "(store (zeros) (- 1) 2)", vec!["a[−1]: 0 → 2", "a[3]: 7 → 0"]),
        (
            "(store (zeros) 3 7)",
            "(store (store (store (store (zeros) 1 1) 3 7) 5 2) 9 1)",
            vec!["a[1]: 0 → 1", "a[5]: 0 → 2", "a[9]: 0 → 1"],
        ),
        (
            "(zeros)",
            "(store (store (store (store (zeros) 1 1) 3 7) 5 2) 9 1)",
            vec!["a[1]: 0 → 1", "a[3]: 0 → 7", "a[5] and 1 more"],
        ),
        (
            "(rows)",
            "(store (rows) true (store (store (zeros) 1 1) 2 2))",
            vec!["a[true][1]: 0 → 1", "a[true][2]: 0 → 2"],
        ),
        ("(rows)", "(store (rows) true (ones))", vec!["a[true]: const(0) → const(1)"]),
    ] {
        let told = changes(before, after, Notation::Math).expect("some elements change");
        assert_eq!(told, expected, "{before} to {after}");
    }
    assert_eq!(changes("(zeros)", "(ones)", Notation::Math), None);
    assert_eq!(changes("1", "2", Notation::Math), None);
    let told = changes("(zeros)", "(store (zeros) 3 7)", Notation::Smtlib);
    assert_eq!(told, Some(vec!["(select a 3): 0 -> 7".to_owned()]));
}

#[test]
fn long_values_are_shortened_in_the_middle() {
    assert_eq!(
        told(&list(20), 100),
        "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]"
    );
    assert_eq!(told(&list(20), 40), "[0, 1, 2, 3, 4, …, 18, 19] (20 elements)");
    let long = told(&list(300), 40);
    assert!(long.starts_with("[0, 1, ") && long.ends_with("299] (300 elements)"), "{long}");
    assert!(long.contains(", …, ") && long.chars().count() <= 40, "{long}");
    let nested = told(&format!("(glue (glue hollow nil) {})", list(50)), 45);
    assert!(nested.starts_with("[[0, 1, ") && nested.ends_with("49] (50 elements), []]"), "{nested}");
    assert!(nested.contains(", …, ") && nested.chars().count() <= 45, "{nested}");
    let tree =
        |levels: usize| (0..levels).fold("leaf".to_owned(), |tree, _| format!("(node {tree} zero {tree})"));
    let short = told(&tree(8), 60);
    assert!(
        short.ends_with(" (766 symbols)") && short.contains('…') && short.chars().count() <= 60,
        "{short}"
    );
    let store = TermStore::new();
    let many = value(&store, &list(30));
    let cut = Notation::Smtlib.value(&store, &many, 12);
    assert!(cut.starts_with("(cons zero (cons (succ zero") && cut.ends_with("..."), "{cut}");
    assert!(cut.split_whitespace().count() <= 12, "{cut}");
    let whole = Notation::Math.value(&store, &many, usize::MAX);
    assert!(whole.starts_with("[0, 1, 2, ") && whole.ends_with(", 28, 29]"), "{whole}");
}

/// As trees these values have more symbols than there are atoms in the world.
#[test]
fn values_are_measured_as_graphs() {
    let store = TermStore::new();
    let leaf = value(&store, "(node leaf zero leaf)");
    let Value::Term(mut tree) = leaf else { panic!("it is a term") };
    let node = store.op(tree);
    let number = store.args(tree)[1];
    let texts = ValueTexts::new(&store, Notation::Math);
    for _ in 0..1000 {
        tree = store.app(node, &[tree, number, tree]).unwrap();
        assert!(texts.text(&Value::Term(tree), 60).chars().count() <= 60);
    }
    assert!(texts.text(&Value::Term(tree), usize::MAX).ends_with(" (billions of symbols)"));
    let many = Value::Term(store.successors(number, 1_000_000));
    assert_eq!(texts.text(&many, 60), "1000000");
    assert!(Notation::Smtlib.value(&store, &many, 60).len() < 1000);
}

/// A run by steps of 12,500 to the number 100,000, with the numbers in a list.
const HIGH: &str = "(declare-datatypes ((N 0)) (((Z) (S (p N)))))(declare-datatypes ((L 0)) (((nil) (cons (hd N) (tl L)))))
    (define-fun s5 ((n N)) N (S (S (S (S (S n))))))
    (define-fun s25 ((n N)) N (s5 (s5 (s5 (s5 (s5 n))))))
    (define-fun s125 ((n N)) N (s25 (s25 (s25 (s25 (s25 n))))))
    (define-fun s2500 ((n N)) N (s125 (s125 (s125 (s125 (s125 (s125 (s125 (s125 (s125 (s125
                                (s125 (s125 (s125 (s125 (s125 (s125 (s125 (s125 (s125 (s125 n)))))))))))))))))))))
    (define-fun s12500 ((n N)) N (s2500 (s2500 (s2500 (s2500 (s2500 n))))))
    (declare-fun P (N L) Bool)
    (assert (P Z nil))
    (assert (forall ((n N) (l L)) (=> (P n l) (P (s12500 n) (cons n l)))))
    (assert (forall ((n N) (l L)) (=> (P n l) false)))";

fn read(store: &TermStore, text: &str) -> (Environment, HornSystem) {
    let mut environment = Environment::new(store);
    let system = parse_in(store, &mut environment, "test", text.as_bytes()).unwrap();
    (environment, system)
}

/// The refutation by a fact, so many applications of a rule, and a query. The rule maps the facts by `next`.
fn run(first: &[Value], steps: usize, next: impl Fn(&[Value]) -> Vec<Value>) -> Refutation {
    let mut fact: Vec<Value> = first.to_vec();
    let mut all =
        vec![Step { clause: 0, instantiation: [].into(), premises: [].into(), fact: fact.clone().into() }];
    for number in 0..steps {
        let new = next(&fact);
        let premises = [number].into();
        all.push(Step { clause: 1, instantiation: fact.into(), premises, fact: new.clone().into() });
        fact = new;
    }
    all.push(Step { clause: 2, instantiation: fact.into(), premises: [steps].into(), fact: [].into() });
    Refutation { steps: all }
}

/// The constants and the recursive constructors of the datatypes of the first predicate's arguments.
fn constructors(store: &TermStore, system: &HornSystem) -> Vec<(Term, Op)> {
    let sorts = &store.fun_decl(system.predicates().next().unwrap().1).domain;
    let of_sort = |&sort: &Sort| {
        let &[constant, recursive] = store.datatype(sort)?.constructors() else { return None };
        Some((store.construct_term(constant, &[]), Op::Construct(recursive)))
    };
    sorts.iter().filter_map(of_sort).collect()
}

/// Writes the refutation in a format and reads it again in a new environment.
fn read_again(store: &TermStore, text: &str, witness: &Witness, format: WitnessFormat) -> (String, Witness) {
    let (mut environment, system) = read(store, text);
    let written = witness.to_text(store, &system, format);
    let again = read_witness(store, &mut environment, &system, "witness", &written);
    (written, again.unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn a_refutation_with_large_numbers_is_small() {
    let start = Instant::now();
    let store = TermStore::new();
    let (_, system) = read(&store, HIGH);
    let [(zero, _), (nil, cons)] = constructors(&store, &system)[..] else { panic!("two datatypes") };
    let refutation = run(&[Value::Term(zero), Value::Term(nil)], 8, |fact| {
        let [Value::Term(number), Value::Term(list)] = *fact else { panic!("two terms") };
        let longer = store.app(cons, &[number, list]).unwrap();
        vec![Value::Term(store.successors(number, 12_500)), Value::Term(longer)]
    });
    let context = Context { store: &store, limits: Limits::default() };
    assert_eq!(check_refutation(&context, &system, &refutation), Validity::Valid);
    let witness = Witness::Refutation(refutation);
    let (text, again) = read_again(&store, HIGH, &witness, WitnessFormat::Text);
    assert_eq!(again, witness);
    assert!(text.len() < 4000, "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("(step ")).count(), 10);
    assert!(text.contains(" ; 100000\n"), "{text}");
    let (json, again) = read_again(&store, HIGH, &witness, WitnessFormat::Json);
    assert_eq!(again, witness);
    assert!(json.len() < 8000 && json.contains(r#""readable":{"arguments":["100000","["#), "{json}");
    let tree = witness.to_text(&store, &system, WitnessFormat::Tree);
    assert!(tree.contains("(P 25000 [12500, 0])"), "{tree}");
    let mut out = Vec::new();
    witness.explain(&store, &system, Explanation::default(), &mut out).unwrap();
    let told = String::from_utf8(out).unwrap();
    assert!(told.contains("3  P  n: 12500 → 25000, l: [0] → [12500, 0]  (clause 2"), "{told}");
    assert!(told.contains("clause 2      P(S^12500(n), cons(n, l)) ← P(n, l)\n"), "{told}");
    assert!(told.contains("notation      0 is Z, 2 is S(S(Z))\n"), "{told}");
    assert!(told.contains("              [] is nil, [x, y] is cons(x, cons(y, nil))\n"), "{told}");
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// Each value has the one of the step before as a part: as trees their texts would be quadratic.
#[test]
fn the_text_of_growing_values_is_linear() {
    const CLAUSES: &str = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
        (declare-datatypes ((N 0)) (((S (p N)) (Z))))
        (declare-fun P (L) Bool)
        (assert (P nil))(assert (forall ((l L)) (=> (P l) (P (cons 7 l)))))(assert (forall ((l L)) (=> (P l) false)))";
    let size = |clauses: &str, steps: usize| {
        let store = TermStore::new();
        let (_, system) = read(&store, clauses);
        let constant_first = clauses.contains("(P nil)");
        let sort = store.fun_decl(system.predicates().next().unwrap().1).domain[0];
        let &[a, b] = store.datatype(sort).unwrap().constructors() else { panic!("two constructors") };
        let (constant, recursive) = if constant_first { (a, b) } else { (b, a) };
        let first = Value::Term(store.construct_term(constant, &[]));
        let refutation = run(&[first], steps, |fact| {
            let Value::Term(last) = fact[0] else { panic!("a term") };
            let fields: &[Term] = if constant_first { &[store.int(7), last] } else { &[last] };
            vec![Value::Term(store.construct_term(recursive, fields))]
        });
        let context = Context { store: &store, limits: Limits::default() };
        assert_eq!(check_refutation(&context, &system, &refutation), Validity::Valid);
        let witness = Witness::Refutation(refutation);
        for format in [WitnessFormat::Text, WitnessFormat::Json] {
            assert_eq!(read_again(&store, clauses, &witness, format).1, witness);
        }
        witness.to_text(&store, &system, WitnessFormat::Text).len()
    };
    let numbers = CLAUSES.replace("(P (L)", "(P (N)").replace("declare-fun P (L)", "declare-fun P (N)");
    let numbers =
        numbers.replace("(P nil)", "(P Z)").replace("(l L)", "(l N)").replace("(cons 7 l)", "(S l)");
    for clauses in [CLAUSES, &numbers] {
        assert!(size(clauses, 5000) < 5000 * 250);
    }
}

#[test]
fn values_of_short_refutations_have_no_names() {
    let store = TermStore::new();
    let (_, system) = read(&store, HIGH);
    let [(zero, successor), (nil, _)] = constructors(&store, &system)[..] else { panic!("two datatypes") };
    let refutation = run(&[Value::Term(zero), Value::Term(nil)], 3, |fact| {
        let Value::Term(number) = fact[0] else { panic!("a term") };
        vec![Value::Term(store.app(successor, &[number]).unwrap()), fact[1].clone()]
    });
    let text = Witness::Refutation(refutation).to_text(&store, &system, WitnessFormat::Text);
    assert!(
        text.contains("(step 4 (P (S (S (S Z))) nil) :clause 2") && !text.contains("define-fun"),
        "{text}"
    );
}

#[test]
fn names_of_values_are_free() {
    const CLAUSES: &str = "(declare-datatypes ((N 0)) (((n) (S (v!1 N)))))
        (declare-fun P (N) Bool)(declare-fun S!10 (N) Bool)
        (assert (P n))(assert (forall ((x N)) (=> (P x) (P (S x)))))(assert (forall ((x N)) (=> (P x) false)))";
    let store = TermStore::new();
    let (_, system) = read(&store, CLAUSES);
    let [(zero, successor)] = constructors(&store, &system)[..] else { panic!("one datatype") };
    let refutation = run(&[Value::Term(zero)], 200, |fact| {
        let Value::Term(number) = fact[0] else { panic!("a term") };
        vec![Value::Term(store.app(successor, &[number]).unwrap())]
    });
    let witness = Witness::Refutation(refutation);
    for format in [WitnessFormat::Text, WitnessFormat::Json] {
        let (text, again) = read_again(&store, CLAUSES, &witness, format);
        assert_eq!(again, witness);
        assert!(text.contains("S!10_1") && text.contains("v!1_1"), "{text}");
    }
}

#[test]
fn a_refutation_defines_no_predicates() {
    let (store, text) = (TermStore::new(), "(declare-fun P (Int) Bool)(assert (not (P 0)))(assert (P 0))");
    let (mut environment, system) = read(&store, text);
    let witness = "(define-fun one () Int 0)(step 1 (P one) :clause 2)(define-fun P ((x Int)) Bool true)";
    let error = read_witness(&store, &mut environment, &system, "witness", witness).unwrap_err();
    assert!(error.to_string().contains("a witness of two answers"), "{error}");
    let (mut environment, system) = read(&store, text);
    let witness = "(define-fun one () Int 0)(step 1 (P one) :clause 2)(step 2 false :clause 1 :premises (1))";
    let read = read_witness(&store, &mut environment, &system, "witness", witness).unwrap();
    assert!(matches!(read, Witness::Refutation(refutation) if refutation.steps.len() == 2));
}
