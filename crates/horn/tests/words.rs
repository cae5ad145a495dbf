//! Models with words and polynomials: checked, rejected with counterexamples, and random formulas against evaluation.

#[path = "common/models.rs"]
mod models;

use models::read;
use shofar_horn::Context;
use shofar_horn::check::{Fault, Trust, Validity, check_model, contradict, export_model};
use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{Assignment, List, ListFunctions, Sort, Term, TermStore, Value};
use shofar_testing::{Random, scale, z3};

/// The judgement about a model, which does not depend on the trust.
fn judged(system: &str, model: &str) -> Validity {
    let store = TermStore::new();
    let context = Context::new(&store);
    let (system, model) = read(&store, system, model);
    let validity = check_model(&context, &system, &model, Trust::Solver);
    assert_eq!(
        check_model(&context, &system, &model, Trust::Proofs) == Validity::Valid,
        validity == Validity::Valid
    );
    validity
}

#[track_caller]
fn assert_violated(system: &str, model: &str, clause: usize) {
    match judged(system, model) {
        Validity::Invalid(Fault::Violated { clause: found, .. }) => assert_eq!(found + 1, clause),
        other => panic!("{other:?}"),
    }
}

const LISTS: &str = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
    (declare-fun app (L L L) Bool) (declare-fun rev (L L) Bool)
    (assert (forall ((l L)) (app nil l l)))
    (assert (forall ((x Int) (k L) (l L) (m L)) (=> (app k l m) (app (cons x k) l (cons x m)))))
    (assert (rev nil nil))
    (assert (forall ((x Int) (k L) (l L) (m L)) (=> (and (rev k l) (app l (cons x nil) m)) (rev (cons x k) m))))
    (assert (forall ((a L) (b L) (c L) (d L) (e L) (f L) (g L))
        (=> (and (app a b c) (rev c d) (rev a e) (rev b f) (app f e g) (not (= d g))) false)))";

const FUNCTIONS: &str = "
    (define-fun-rec join ((x L) (y L)) L (match x ((nil y) ((cons h t) (cons h (join t y))))))
    (define-fun-rec turn ((x L)) L (match x ((nil nil) ((cons h t) (join (turn t) (cons h nil))))))\n";

#[test]
fn the_checker_knows_the_laws_of_words() {
    let model = |app: &str, rev: &str| {
        format!(
            "{FUNCTIONS}(define-fun app ((x L) (y L) (r L)) Bool {app})
            (define-fun rev ((x L) (r L)) Bool {rev})"
        )
    };
    assert_eq!(judged(LISTS, &model("(= r (join x y))", "(= r (turn x))")), Validity::Valid);
    assert_eq!(
        judged(LISTS, &model("(= (turn r) (join (turn y) (turn x)))", "(= x (turn r))")),
        Validity::Valid
    );
    // The other order of a word, one more element, no reversal, and too little for the query.
    assert_violated(LISTS, &model("(= r (join y x))", "(= r (turn x))"), 2);
    assert_violated(LISTS, &model("(= r (join x (join y (cons 0 nil))))", "(= r (turn x))"), 1);
    assert_violated(LISTS, &model("(= r (join x y))", "(= r x)"), 4);
    assert_violated(LISTS, &model("true", "true"), 5);
}

/// Other solvers prove the laws by induction, and the clauses with them.
#[test]
fn z3_confirms_exported_models_with_words() {
    if !z3::is_installed() {
        return;
    }
    let model = format!(
        "{FUNCTIONS}(define-fun app ((x L) (y L) (r L)) Bool (= r (join x y)))
        (define-fun rev ((x L) (r L)) Bool (= r (turn x)))"
    );
    let store = TermStore::new();
    let (system, model) = read(&store, LISTS, &model);
    let mut script = Vec::new();
    export_model(&store, &system, &model, &mut script).unwrap();
    let script = format!("(set-option :timeout 20000)\n{}", String::from_utf8(script).unwrap());
    // Seven laws with two cases, one with four, and five clauses.
    assert_eq!(z3::answers(&script).expect("it is installed"), vec!["unsat"; 23], "{script}");
}

/// Equal words with a common beginning or end are equal without it. The clauses are like injectivity of concatenation.
#[test]
fn z3_confirms_exported_models_that_need_cancellation() {
    if !z3::is_installed() {
        return;
    }
    let clauses = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
        (declare-fun app (L L L) Bool)
        (assert (forall ((y L)) (app nil y y)))
        (assert (forall ((h Int) (x L) (y L) (r L)) (=> (app x y r) (app (cons h x) y (cons h r)))))
        (assert (forall ((x L) (y L) (z L) (r L)) (=> (and (app x y r) (app x z r) (not (= y z))) false)))
        (assert (forall ((x L) (y L) (z L) (r L)) (=> (and (app x y r) (app z y r) (not (= x z))) false)))";
    let model = "(define-fun-rec join ((x L) (y L)) L (match x ((nil y) ((cons h t) (cons h (join t y))))))
        (define-fun app ((x L) (y L) (r L)) Bool (= r (join x y)))";
    let store = TermStore::new();
    let (system, model) = read(&store, clauses, model);
    assert_eq!(check_model(&Context::new(&store), &system, &model, Trust::Proofs), Validity::Valid);
    let mut script = Vec::new();
    export_model(&store, &system, &model, &mut script).unwrap();
    let script = format!("(set-option :timeout 20000)\n{}", String::from_utf8(script).unwrap());
    // Five laws with two cases, one with four, and four clauses.
    assert_eq!(z3::answers(&script).expect("it is installed"), vec!["unsat"; 18], "{script}");
}

#[test]
fn functions_that_are_similar_to_concatenation_do_not_have_its_laws() {
    // It drops its second argument.
    let functions = FUNCTIONS.replace("((nil y)", "((nil nil)");
    let model = format!(
        "{functions}(define-fun app ((x L) (y L) (r L)) Bool (= r (join x y)))
        (define-fun rev ((x L) (r L)) Bool (= r (turn x)))"
    );
    assert_violated(LISTS, &model, 1);
}

const PRODUCTS: &str = "(declare-fun mul (Int Int Int) Bool)
    (assert (forall ((y Int)) (mul 0 y 0)))
    (assert (forall ((x Int) (y Int) (r Int)) (=> (mul x y r) (mul (+ x 1) y (+ r y)))))
    (assert (forall ((a Int) (b Int) (c Int) (d Int)) (=> (and (mul a b c) (mul b a d) (not (= c d))) false)))";

#[test]
fn the_checker_compares_polynomials() {
    let model = |formula: &str| format!("(define-fun mul ((x Int) (y Int) (r Int)) Bool {formula})");
    assert_eq!(judged(PRODUCTS, &model("(= r (* x y))")), Validity::Valid);
    assert_eq!(judged(PRODUCTS, &model("(= (* 2 r) (- (* (+ x 1) (+ y y)) (* 2 y)))")), Validity::Valid);
    assert_violated(PRODUCTS, &model("(= r (+ (* x y) 1))"), 1);
    assert_violated(PRODUCTS, &model("(= r (* x x y))"), 2);
    assert_violated(PRODUCTS, &model("(>= (* x r) 0)"), 2);
    assert_violated(PRODUCTS, &model("(=> (= x (* y y)) (= r (* x y)))"), 2);
}

struct Lists<'a> {
    store: &'a TermStore,
    sort: Sort,
    list: List,
    functions: ListFunctions,
}

impl<'a> Lists<'a> {
    fn new(store: &'a TermStore) -> Self {
        let mut environment = Environment::new(store);
        let script = b"(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))";
        let mut reader = Reader::new(store, &mut environment, script);
        let command = reader.command().unwrap().unwrap();
        reader.declaration(command).unwrap();
        let sort = Reader::new(store, &mut environment, b"L").sort().unwrap();
        let (list, functions) = (store.list(sort).unwrap(), store.list_functions(sort).unwrap());
        Lists { store, sort, list, functions }
    }

    fn value(&self, random: &mut Random) -> Value {
        let empty = self.store.construct_term(self.list.empty, &[]);
        let add = |list: Term, element: usize| {
            self.store.construct_term(self.list.cell, &[self.store.int(element as u64), list])
        };
        Value::Term((0..random.below(4)).map(|_| random.below(2)).fold(empty, add))
    }

    /// A random term over lists and integers.
    fn term(&self, random: &mut Random, lists: &[Term], integers: &[Term]) -> Term {
        let store = self.store;
        let mut terms: Vec<Term> = lists.to_vec();
        terms.push(store.construct_term(self.list.empty, &[]));
        for _ in 0..1 + random.below(5) {
            let (a, b) = (*random.choose(&terms), *random.choose(&terms));
            terms.push(match random.below(3) {
                0 => store.apply(self.functions.append, &[a, b]).unwrap(),
                1 => store.apply(self.functions.reverse, &[a]).unwrap(),
                _ => store.construct_term(self.list.cell, &[*random.choose(integers), a]),
            });
        }
        *terms.last().expect("there is a term")
    }
}

#[test]
fn words_have_the_values_of_their_terms() {
    let store = TermStore::new();
    let lists = Lists::new(&store);
    let variables = ["x", "y", "z"].map(|name| store.var(store.symbol(name), lists.sort));
    let integers = ["i", "j"].map(|name| store.var(store.symbol(name), Sort::INT));
    for seed in 0..300 * scale() {
        let random = &mut Random::new(seed);
        let term = lists.term(random, &variables, &integers);
        let word = store.word_term(lists.sort, &store.word(term).unwrap());
        let mut assignment: Assignment =
            variables.iter().map(|&variable| (variable, lists.value(random))).collect();
        for variable in integers {
            assignment.set(variable, Value::Int(random.between(0, 1).into()));
        }
        assert_eq!(
            store.eval(term, &assignment).unwrap(),
            store.eval(word, &assignment).unwrap(),
            "seed {seed}: {}",
            store.display(term)
        );
    }
}

/// Formulas with a solution have no contradiction, so the facts about words and products are true.
#[test]
fn true_formulas_about_words_and_products_do_not_contradict_each_other() {
    let mut equations = 0;
    for seed in 0..150 * scale() {
        let store = TermStore::new();
        let context = Context::new(&store);
        let lists = Lists::new(&store);
        let random = &mut Random::new(seed);
        let variables = ["x", "y", "z"].map(|name| store.var(store.symbol(name), lists.sort));
        let integers = ["i", "j", "k"].map(|name| store.var(store.symbol(name), Sort::INT));
        let mut assignment: Assignment =
            variables.iter().map(|&variable| (variable, lists.value(random))).collect();
        for variable in integers {
            assignment.set(variable, Value::Int(random.between(-1, 2).into()));
        }
        let mut formulas = Vec::new();
        for _ in 0..6 {
            let literal = if random.chance(60) {
                let [a, b] = [(); 2].map(|()| lists.term(random, &variables, &integers));
                store.eq(a, b)
            } else {
                let mut sum = || {
                    let [a, b, c] = [(); 3].map(|()| *random.choose(&integers));
                    store.add(&[store.mul(&[a, b]), c, store.int(random.between(-1, 1))])
                };
                store.eq(sum(), sum())
            };
            let holds = store.eval(literal, &assignment) == Ok(Value::Bool(true));
            equations += u64::from(holds);
            formulas.push(if holds { literal } else { store.not(literal) });
        }
        assert_eq!(contradict(&context, &formulas), Ok(false), "seed {seed}");
    }
    assert!(equations >= 20 * scale(), "{equations} equations");
}
