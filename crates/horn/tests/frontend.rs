//! The front end: accepted scripts in all their variety, and reported errors.

use shofar_horn::{
    Context, Format, HornSystem, ParseErrorKind, Unread, parse, parse_all, parse_question_within,
};
use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{Op, TermStore};
use shofar_run::Limits;

const P: &str = "(declare-fun P (Int) Bool)(declare-fun Q (Int Bool) Bool)(declare-fun R () Bool)";

fn read(store: &TermStore, script: &str) -> HornSystem {
    parse(store, "test", script.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn questions(store: &TermStore, script: &str) -> Vec<HornSystem> {
    parse_all(store, "test", script.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// The clauses of a script over the predicates above, one line each, without the frame around them.
fn clauses(script: &str) -> Vec<String> {
    let store = TermStore::new();
    let system = read(&store, &format!("{P}{script}"));
    let text = system.to_text(&store, Format::Smtlib);
    let asserts = text.split("(assert").skip(1);
    let one_line = asserts.map(|clause| {
        let clause = clause.split("(check-sat)").next().unwrap_or_default();
        clause.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(")
    });
    one_line.map(|clause| clause.strip_suffix(')').unwrap_or_default().to_owned()).collect()
}

fn mistake(script: &str) -> String {
    match parse(&TermStore::new(), "test", script.as_bytes()) {
        Ok(system) => panic!("no mistake, but {} clauses", system.clauses.len()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_shape_of_the_competition() {
    let found = clauses(
        "(assert (forall ((x Int) (b Bool)) (=> (and (P x) (Q x b) (and (> x 0) b)) (P (+ x 1)))))\
         (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))(check-sat)(exit)",
    );
    assert_eq!(
        found,
        [
            "(forall ((x Int) (b Bool)) (=> (and (P x) (Q x b) (and (> x 0) b)) (P (+ x 1))))",
            "(forall ((x Int)) (=> (and (P x) (< x 0)) false))",
        ]
    );
}

#[test]
fn clauses_written_as_disjunctions() {
    let expected = ["(forall ((x Int)) (=> (and (P x) (> x 0)) (P (+ x 1))))"];
    for assertion in [
        "(forall ((x Int)) (or (not (P x)) (not (> x 0)) (P (+ x 1))))",
        "(forall ((x Int)) (or (P (+ x 1)) (not (and (P x) (> x 0)))))",
        "(forall ((x Int)) (=> (P x) (=> (> x 0) (P (+ x 1)))))",
        "(forall ((x Int)) (=> (P x) (> x 0) (P (+ x 1))))",
        "(not (exists ((x Int)) (and (P x) (> x 0) (not (P (+ x 1))))))",
        "(forall ((x Int)) (not (not (=> (and (P x) (not (not (> x 0)))) (P (+ x 1))))))",
        "(forall ((x Int)) (let ((p (P x)) (y (+ x 1))) (=> p (> x 0) (P y))))",
        "(forall ((x Int)) (ite (P x) (=> (> x 0) (P (+ x 1))) true))",
    ] {
        let found = clauses(&format!("(assert {assertion})"));
        assert_eq!(found[..1], expected, "{assertion}");
    }
}

#[test]
fn quantifiers_nested_absent_and_in_bodies() {
    let nested = "(assert (forall ((x Int)) (=> (P x) (forall ((y Int)) (=> (Q y true) (= x y) (P y))))))";
    assert_eq!(clauses(nested), ["(forall ((x Int) (y Int)) (=> (and (P x) (Q y true) (= x y)) (P y)))"]);
    assert_eq!(clauses("(assert (P 3))(assert R)"), ["(=> true (P 3))", "(=> true R)"]);
    let existential = "(assert (forall ((x Int)) (=> (exists ((y Int) (x Int)) (and (P y) (< x y))) (P x))))";
    assert_eq!(
        clauses(existential),
        ["(forall ((x Int) (y Int) (x!1 Int)) (=> (and (P y) (< x!1 y)) (P x)))"]
    );
}

#[test]
fn variables_of_different_quantifiers_stay_apart() {
    let twice =
        "(assert (=> (and (exists ((y Int)) (and (P y) (> y 0))) (exists ((y Int)) (and (P y) (< y 0)))) R))";
    assert_eq!(
        clauses(twice),
        ["(forall ((y Int) (y!1 Int)) (=> (and (P y) (P y!1) (and (> y 0) (< y!1 0))) R))"]
    );
    let by_macro = "(define-fun some ((a Int)) Bool (exists ((y Int)) (and (P y) (< y a))))\
                    (assert (=> (and (some 1) (some 2)) R))";
    assert_eq!(
        clauses(by_macro),
        ["(forall ((y Int) (y!1 Int)) (=> (and (P y) (P y!1) (and (< y 1) (< y!1 2))) R))"]
    );
    let by_sort = "(assert (=> (exists ((y Int)) (P y)) (forall ((y Bool)) (Q 0 y))))";
    assert_eq!(clauses(by_sort), ["(forall ((y Int) (y!1 Bool)) (=> (P y) (Q 0 y!1)))"]);
}

#[test]
fn disjunctions_of_predicates_make_several_clauses() {
    let found =
        clauses("(assert (forall ((x Int)) (=> (and (or (P x) (= x 0) R (= x 1)) (< x 9)) (Q x false))))");
    assert_eq!(
        found,
        [
            "(forall ((x Int)) (=> (and (or (= x 0) (= x 1)) (< x 9)) (Q x false)))",
            "(forall ((x Int)) (=> (and (P x) (< x 9)) (Q x false)))",
            "(forall ((x Int)) (=> (and R (< x 9)) (Q x false)))",
        ]
    );
    let conjunction = clauses("(assert (forall ((x Int)) (and (P x) (=> (P x) (Q x true) R))))");
    assert_eq!(
        conjunction,
        ["(forall ((x Int)) (=> true (P x)))", "(forall ((x Int)) (=> (and (P x) (Q x true)) R))"]
    );
    let equivalence = clauses("(assert (forall ((x Int)) (= (P x) (> x 0))))");
    assert_eq!(
        equivalence,
        ["(forall ((x Int)) (=> (and (P x) (not (> x 0))) false))", "(forall ((x Int)) (=> (> x 0) (P x)))"]
    );
    let exclusive = clauses("(assert (forall ((x Int)) (xor (P x) (> x 0) true)))");
    assert_eq!(exclusive.len(), 4);
    let ite = clauses("(assert (forall ((x Int)) (=> (ite (> x 0) (P x) (Q x true)) R)))");
    assert_eq!(
        ite,
        [
            "(forall ((x Int)) (=> (and (P x) (> x 0)) R))",
            "(forall ((x Int)) (=> (and (Q x true) (not (> x 0))) R))"
        ]
    );
}

#[test]
fn interpreted_quantifiers_are_kept_in_constraints() {
    let head = "(assert (forall ((x Int)) (=> (P x) (exists ((y Int)) (= x (* 2 y))))))";
    assert_eq!(
        clauses(head),
        ["(forall ((x Int)) (=> (and (P x) (not (exists ((y Int)) (= x (* 2 y))))) false))"]
    );
    let body =
        "(assert (forall ((x Int)) (=> (and (P x) (forall ((y Int)) (=> (< y x) (< y 9)))) (Q x true))))";
    assert_eq!(
        clauses(body),
        ["(forall ((x Int)) (=> (and (P x) (forall ((y Int)) (=> (< y x) (< y 9)))) (Q x true)))"]
    );
    // Variables of the clause and of quantifiers have different names.
    let twice = "(assert (=> (and (exists ((y Int)) (P y)) (forall ((y Bool)) (or y (= R R)))\
                 (forall ((y Int)) (exists ((y!1 Int)) (> y!1 y)))) (P 0)))";
    assert_eq!(
        mistake(&format!("{P}{twice}")).split_once(": ").unwrap().1,
        "not a Horn clause: predicate `R` is below a universal quantifier of the body"
    );
    let twice = "(declare-fun P (Int) Bool)(assert (=> (and (exists ((y Int)) (P y)) (forall ((y Bool)) (or y (= 1 1)))\
                 (forall ((y Int)) (exists ((y!1 Int)) (> y!1 y)))) (P 0)))";
    let store = TermStore::new();
    let system = returns(&store, twice);
    let text = store.display(system.clauses[0].constraint).to_string();
    assert_eq!(
        text,
        "(and (forall ((y!2 Bool)) (or y!2 (= 1 1))) (forall ((y!3 Int)) (exists ((y!1 Int)) (> y!1 y!3))))"
    );
}

#[test]
fn interpreted_heads_become_queries() {
    let found = clauses("(assert (forall ((x Int)) (=> (P x) (and (> x 0) (< x 9)))))(assert (not R))");
    assert_eq!(
        found,
        ["(forall ((x Int)) (=> (and (P x) (not (and (> x 0) (< x 9)))) false))", "(=> R false)"]
    );
    assert_eq!(clauses("(assert false)(assert true)"), ["(=> true false)", "(=> false false)"]);
}

#[test]
fn arguments_may_be_any_terms() {
    let found = clauses("(assert (forall ((x Int)) (=> (Q x (> x 0)) (Q (+ x x) (and (> x 0) (< x 5))))))");
    assert_eq!(found, ["(forall ((x Int)) (=> (Q x (> x 0)) (Q (+ x x) (and (> x 0) (< x 5)))))"]);
}

#[test]
fn commands_around_the_clauses() {
    let script = "(set-info :status sat)(set-option :produce-models true)(set-logic HORN)\
        (declare-const c Bool)(declare-const k Int)(define-fun big ((x Int)) Bool (> x 100))\
        (assert (forall ((x Int)) (! (=> (and c (big x)) (P x)) :named step)))\
        (set-info :notes |between|)(assert (=> (P k) false))(check-sat)(get-model)(get-info :reason-unknown)\
        (echo \"done\")(exit) whatever (";
    let store = TermStore::new();
    let system = read(&store, &format!("{P}{script}"));
    assert_eq!(system.predicates().len(), 4);
    assert_eq!(system.functions.len(), 1);
    assert_eq!(system.clauses.len(), 2);
    assert!(system.clauses[1].is_query() && system.clauses[1].name.is_none());
    let info = system.info(&store);
    assert!(info.theories.uninterpreted);
    assert_eq!(info.track, None);
}

#[test]
fn names_of_assertions_are_kept() {
    let store = TermStore::new();
    let system = read(&store, "(declare-fun P () Bool)(assert (! P :named |a b|))(rule (=> P false) r)");
    assert_eq!(system.clauses[0].name, Some(store.symbol("a b")));
    assert_eq!(system.clauses[1].name, Some(store.symbol("r")));
}

#[test]
fn a_name_is_that_of_a_formula_in_the_same_command() {
    let store = TermStore::new();
    let script = "(declare-fun P () Bool)(declare-fun Q () Bool)(check-sat-assuming ((! P :named q)))
        (define-fun F () Bool (! (=> P Q) :named f))(rule (! Q :named r))(assert P)(assert (=> P Q))(assert Q)(check-sat)";
    let systems = questions(&store, script);
    let names: Vec<_> = systems[1].clauses.iter().map(|clause| clause.name).collect();
    assert_eq!(names, [Some(store.symbol("r")), None, None, None]);
}

#[test]
fn only_assertions_are_formulas_that_the_script_asserts() {
    let store = TermStore::new();
    let script = "(declare-fun P () Bool)(declare-fun Q () Bool)(assert P)(rule Q)
        (check-sat-assuming ((not P)))(query Q)";
    let asserted = |system: &HornSystem| -> Vec<bool> {
        system.clauses.iter().map(|clause| clause.written.is_some()).collect()
    };
    let systems = questions(&store, script);
    assert_eq!(systems.iter().map(asserted).collect::<Vec<_>>(), [[true, false, false]; 2]);
}

#[test]
fn the_fixedpoint_format() {
    let script = "(set-option :fixedpoint.engine spacer)(declare-rel S (Int))(declare-rel T (Int Bool) interval_relation)\
        (declare-var x Int)(declare-var b Bool)(declare-var |y z| Int)\
        (rule (S 0) start)(rule (=> (and (S x) (< x 9)) (S (+ x 1))))(rule (=> (S |y z|) (T |y z| b)))\
        (query T)(query (and (S x) (> x 9)) :print-certificate true)(query S)";
    let store = TermStore::new();
    let systems = questions(&store, script);
    assert_eq!(systems.len(), 3);
    for system in &systems {
        let info = system.info(&store);
        assert_eq!((info.facts, info.rules, info.queries), (1, 2, 1));
        assert_eq!(system.clauses[1].variables.len(), 1);
        assert_eq!(system.clauses[2].variables.len(), 2);
    }
    let variables: Vec<usize> = systems.iter().map(|system| system.clauses[3].variables.len()).collect();
    assert_eq!(variables, [2, 1, 1]);
}

#[test]
fn each_check_asks_about_what_is_asserted_at_that_point() {
    let store = TermStore::new();
    let sizes = |script: &str| -> Vec<(usize, usize)> {
        let systems = questions(&store, script);
        systems.iter().map(|system| (system.predicates().len(), system.clauses.len())).collect()
    };
    let p = "(declare-fun P (Int) Bool)";
    assert_eq!(sizes(""), [(0, 0)]);
    assert_eq!(sizes(&format!("{p}(assert (P 0))")), [(1, 1)]);
    assert_eq!(sizes(&format!("{p}(assert (P 0))(check-sat)(assert (P 1))")), [(1, 1)]);
    assert_eq!(
        sizes(&format!("{p}(check-sat)(assert (P 0))(check-sat)(check-sat)")),
        [(1, 0), (1, 1), (1, 1)]
    );
    assert_eq!(
        sizes(&format!(
            "{p}(assert (P 0))(push)(declare-fun Q () Bool)(assert Q)(check-sat)(push 2)(assert (not Q))\
             (check-sat)(pop 3)(check-sat)(declare-fun Q (Int) Bool)(check-sat)"
        )),
        [(2, 2), (2, 3), (1, 1), (2, 1)]
    );
    assert_eq!(
        sizes(&format!("{p}(assert (P 0))(check-sat-assuming ((not (P 0)) (P 1)))(check-sat)")),
        [(1, 3), (1, 1)]
    );
    assert_eq!(
        sizes(&format!("{p}(assert (P 0))(check-sat)(reset){p}(check-sat)(assert (P 1))(check-sat)")),
        [(1, 1), (1, 0), (1, 1)]
    );
    assert_eq!(sizes(&format!("{p}(assert (P 0))(reset-assertions)(assert (P 1))(check-sat)")), [(1, 1)]);
    assert_eq!(sizes(&format!("{p}(push)(assert (P 0))(check-sat)(pop)(exit)")), [(1, 1)]);
    assert_eq!(mistake("(push)(pop 2)"), "test:1:8: `pop` of 2 levels, but 1 are open");
    assert_eq!(
        mistake("(reset)(declare-fun P () Bool)(push)(assert P)(pop)(assert (Q))"),
        "test:1:61: undeclared symbol `Q`"
    );
}

#[test]
fn one_question_is_read_with_the_names_that_it_knows() {
    let store = TermStore::new();
    let script = "(push)(declare-fun P (Int) Bool)(assert (P 0))(check-sat)(pop)\
                  (push)(declare-fun P (Bool) Bool)(assert (P true))(check-sat)(pop)";
    assert_eq!(mistake(script), "test:1:114: the script asks 2 questions, of which this is the second");
    assert_eq!(parse(&store, "test", script).unwrap_err().kind, ParseErrorKind::SeveralQuestions);
    let limits = Limits::default();
    let context = Context { store: &store, limits };
    for (question, argument) in [(1, "0"), (2, "true")] {
        let mut environment = Environment::new(&store);
        let system =
            parse_question_within(&context, &mut environment, "test", script.as_bytes(), Some(question));
        let system = system.unwrap();
        let text = format!("(assert (P {argument}))");
        let mut reader = Reader::new(&store, &mut environment, text.as_bytes());
        assert_eq!(reader.command().unwrap(), Some("assert"));
        let atom = reader.term().unwrap();
        assert_eq!(store.op(atom), Op::Apply(system.predicates().next().unwrap().1));
    }
    let missing =
        parse_question_within(&context, &mut Environment::new(&store), "test", b"(check-sat)", Some(2));
    let Err(Unread::Wrong(error)) = missing else { panic!("there is no second question") };
    assert_eq!(error.message, "there is no question 2: the script asks 1 question");
}

/// A system that is the same after it was printed and read again, and that Z3 reads in both formats.
fn returns(store: &TermStore, script: &str) -> HornSystem {
    let system = read(store, script);
    let text = system.to_text(store, Format::Smtlib);
    assert!(read(store, &text).same_as(&system), "{text}");
    let text = system.to_text(store, Format::Datalog);
    let datalog = read(store, &text);
    assert_eq!(datalog.to_text(store, Format::Datalog), text);
    for format in [Format::Smtlib, Format::Datalog] {
        // Z3 has to read it; what it answers is of no interest here.
        let text = system.to_text(store, format).replace("(check-sat)", "");
        let text = text.split("(query ").next().unwrap_or_default();
        let complaints = shofar_testing::z3::answers(text).unwrap_or_default();
        assert!(complaints.is_empty(), "{text}\n{complaints:?}");
    }
    system
}

#[test]
fn predicates_with_names_of_theories_are_read_and_printed() {
    let store = TermStore::new();
    let names = [
        "select", "store", "concat", "abs", "mod", "div", "rem", "implies", "iff", "if", "bvadd", "to_real",
        "is_int", "+", "<=", "nil", "insert", "head", "List",
    ];
    let mut script = String::from("(set-logic HORN)");
    for name in names {
        script += &format!(
            "(declare-fun {name} (Int Int Int) Bool)(assert (forall ((x Int)) ({name} x 1 2)))\
             (assert (forall ((x Int)) (=> (and ({name} x 1 1) (> x 0)) ({name} (- x 1) x x))))"
        );
    }
    script += "(declare-fun P ((Array Int Int) (List Int)) Bool)(assert (forall ((a (Array Int Int)) (l (List Int)))\
        (=> (and (P a l) (select (select a 0) (rem 7 2) (mod 3 2)) (= (head l) (abs 2))) (P (store a 1 2) (insert 1 nil)))))\
        (assert (forall ((x Int)) (=> (div x x x) false)))";
    let system = returns(&store, &script);
    assert_eq!(system.predicates().len(), names.len() + 1);
    let relation = "(declare-rel select (Int))(declare-var store Int)(rule (=> (> store 0) (select store)))(query select)";
    assert_eq!(returns(&store, relation).clauses.len(), 2);
}

#[test]
fn an_operator_that_a_declaration_hides_is_ambiguous() {
    let after = "(define-fun half ((x Int)) Int (div x 2))(declare-fun P (Int) Bool)\n\
                 (declare-fun div (Int Int) Bool)(assert (P (half 3)))";
    assert_eq!(
        mistake(after),
        "test:2:2: `div` is ambiguous: it is declared here with the arguments of the theory's operator, which clauses use \
         as well"
    );
    let store = TermStore::new();
    assert_eq!(read(&store, "(declare-fun div (Int Int) Bool)(assert (div 3 4))").clauses.len(), 1);
}

#[test]
fn lists_that_are_not_declared_are_printed_with_their_declaration() {
    let store = TermStore::new();
    let script = "(declare-fun P ((List Int)) Bool)(assert (P nil))\
        (assert (forall ((x (List Int)) (y Int)) (=> (P x) (P (insert y x)))))\
        (assert (forall ((x (List Int))) (=> (and (P x) (is-insert x) (> (head x) 3) (= (tail x) (as nil (List Int)))) false)))";
    let system = returns(&store, script);
    assert_eq!(system.sorts.len(), 1);
    let tree = "(declare-datatypes ((T 0)) (((leaf) (node (left T) (right T)))))(declare-fun P (T) Bool)\
        (assert (P (as leaf T)))(assert (forall ((t T)) (=> (P t) (P (node t (as leaf T))))))";
    returns(&store, tree);
}

#[test]
fn clauses_of_one_assertion_have_different_names() {
    let store = TermStore::new();
    let script = format!(
        "{P}(assert (! (forall ((x Int)) (= (P x) (> x 0))) :named a))(assert (! (P 1) :named a!1))\
         (rule (P 2) a)(rule (P 3) R)(rule (P 4) b)"
    );
    let system = returns(&store, &script);
    let names = system.clauses.iter().filter_map(|clause| clause.name);
    let names: Vec<&str> = names.map(|name| store.name(name)).collect();
    assert_eq!(names, ["a", "a!2", "a!1", "a!3", "R!1", "b"]);
}

#[test]
fn lines_of_a_constraint_are_indented_below_its_beginning() {
    let store = TermStore::new();
    let long = "(let ((a (+ x x 1234567890)) (b (- x 1234567890)))\
                (or (and (> a b) (= 1111111111 (+ a b 1))) (and (< a b) (= 2222222222 (+ a b 2)))))";
    let system = read(&store, &format!("{P}(assert (forall ((x Int)) (=> (and (P x) {long}) R)))"));
    let text = system.to_text(&store, Format::Smtlib);
    let expected = "
      (and
        (P x)
        (let ((a!1 (+ x x 1234567890)) (a!2 (- x 1234567890)))
        (or
          (and (> a!1 a!2) (= 1111111111 (+ a!1 a!2 1)))
          (and (< a!1 a!2) (= 2222222222 (+ a!1 a!2 2))))))
      R)))";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn queries_become_rules_for_one_relation_in_datalog() {
    let store = TermStore::new();
    let system =
        read(&store, &format!("{P}(declare-fun query!0 () Bool)(assert (not (P 1)))(assert (not R))"));
    let text = system.to_text(&store, Format::Datalog);
    assert!(text.ends_with("(rule (=>\n  R\n  query!1))\n(query query!1)\n"), "{text}");
    assert_eq!(read(&store, &text).to_text(&store, Format::Datalog), text);
}

#[test]
fn variables_of_one_name_and_several_sorts_in_datalog() {
    let store = TermStore::new();
    let script = "(declare-fun P (Int) Bool)(declare-fun Q (Bool) Bool)(declare-fun x!1 () Bool)\
        (assert (forall ((x Int)) (P x)))(assert (forall ((x Bool)) (=> (Q x) x!1)))";
    let text = read(&store, script).to_text(&store, Format::Datalog);
    let again = read(&store, &text);
    assert_eq!(again.clauses.len(), 2);
    assert!(again.same_as(&read(&store, &again.to_text(&store, Format::Datalog))));
}

#[test]
fn printing_and_reading_gives_the_same_system() {
    let datatypes = "(declare-sort S 0)(declare-datatypes ((L 1)(M 1)) ((par (T) ((nil) (cons (hd T) (tl (M T))))) \
         (par (T) ((m (l (L T)))))))\
         (declare-datatype C ((red) (|light green| (depth Int) (next C))))\
         (declare-fun D ((L Int) C S (Array Int (L Bool)) (_ BitVec 5) Real) Bool)";
    let assertions = "(assert (forall ((l (L Int)) (c C) (s S) (a (Array Int (L Bool))) (v (_ BitVec 5)) (r Real) (unused Int))\
           (=> (and (D l c s a v r) (= l ((as cons (L Int)) (- 3) (m l))) ((_ is cons) (select a 0)) (= v #b00001)\
                    (= r (/ 1.0 3.0) (- 2.5)) (= 1 (match c ((red 1) ((|light green| d n) d)))))\
               (D (as nil (L Int)) c s ((as const (Array Int (L Bool))) (as nil (L Bool))) (bvadd v v) r))))\
         (assert (forall ((x Int)) (=> (and (P x) (let ((y (+ x x))) (= (* y 2) (* y 3)))) (Q x (= (+ x x) 0)))))\
         (assert (! (forall ((|x y| Int)) (=> (P |x y|) R)) :named |n n|))(assert (not R))";
    let store = TermStore::new();
    let system = read(&store, &format!("{P}{datatypes}{assertions}"));
    let text = system.to_text(&store, Format::Smtlib);
    let again = read(&store, &text);
    assert!(system.same_as(&again), "{text}\n{}", again.to_text(&store, Format::Smtlib));
    let elsewhere = TermStore::new();
    assert_eq!(read(&elsewhere, &text).to_text(&elsewhere, Format::Smtlib), text);
}

#[test]
fn a_mistake_spans_the_text_it_is_about() {
    let spanned = |script: &str| {
        let error = parse(&TermStore::new(), "test", script.as_bytes()).unwrap_err();
        script[error.span.expect("it can be shown")].to_owned()
    };
    assert_eq!(spanned("(declare-fun P (Int) Bool)(assert (P (+ 1 true)))"), "true");
    assert_eq!(spanned("(declare-fun P (Int) Bool)(assert (P 1 (f\n 2)))"), "f");
    assert_eq!(spanned("(declare-fun P (Int) Bool)(assert (P (not false)))"), "(not false)");
    assert_eq!(spanned("(declare-fun P (Int) Bool)(assert (or (P 1) (P 2)))"), "assert (or (P 1) (P 2))");
    assert_eq!(spanned("(assert "), "");
}

#[test]
fn a_script_that_looks_like_one_for_an_smt_solver_is_recognised() {
    let error = |script: &str| parse(&TermStore::new(), "test", script.as_bytes()).unwrap_err();
    let hint = |script: &str| error(script).hint;
    assert_eq!(
        hint("(set-logic QF_UF)(declare-fun p (Bool) Bool)(assert (or (p true) (p false)))").as_deref(),
        Some("the logic is QF_UF, not HORN")
    );
    assert_eq!(
        hint("(declare-const x Int)(assert (> x 0))(get-abduct a)(minimize x)").as_deref(),
        Some("the file declares no predicate with arguments")
    );
    assert_eq!(error("(set-logic QF_UF)(assert x)").kind, ParseErrorKind::SmtScript);
    assert_eq!(error("(set-logic HORN)(asert true)").kind, ParseErrorKind::Mistake);
    assert_eq!(hint("(set-logic HORN)(asert true)").as_deref(), Some("did you mean `assert`?"));
    assert_eq!(hint("(set-logic HORN)(declare-fun P (Int) Bool)(assert (or (P 1) (P 2)))"), None);
}

#[test]
fn a_misspelt_command_gets_the_hint_of_its_name() {
    let commands = "assert check-sat check-sat-assuming declare-const declare-datatype declare-datatypes declare-fun \
        declare-rel declare-sort declare-var define-const define-fun define-sort echo exit get-assertions \
        get-assignment get-info get-model get-option get-proof get-unsat-assumptions get-unsat-core get-value pop \
        push query reset reset-assertions rule set-info set-logic set-option";
    for command in commands.split_whitespace() {
        let script = format!("(set-logic HORN)(x{command})");
        let error = parse(&TermStore::new(), "test", script).unwrap_err();
        assert_eq!(error.message, format!("unknown command `x{command}`"));
        assert_eq!(error.hint, Some(format!("did you mean `{command}`?")));
    }
}

#[test]
fn a_reset_forgets_the_logic() {
    let script = "(set-logic QF_UF)(reset)(declare-fun p (Bool) Bool)(assert (or (p true) (p false)))";
    assert_eq!(parse(&TermStore::new(), "test", script).unwrap_err().hint, None);
}

#[test]
fn suffixes_of_clauses_leave_the_names_of_later_questions_alone() {
    let store = TermStore::new();
    let script = "(declare-fun P () Bool)(declare-fun Q () Bool)(assert (! (and P Q) :named r))(check-sat)
        (assert (! (=> P Q) :named r!1))(check-sat)";
    let names = |system: &HornSystem| -> Vec<_> {
        system.clauses.iter().map(|clause| store.name(clause.name.unwrap())).collect()
    };
    let systems = questions(&store, script);
    assert_eq!(systems.iter().map(names).collect::<Vec<_>>(), [vec!["r", "r!1"], vec!["r", "r!2", "r!1"]]);
}

#[test]
fn names_of_clauses_are_not_those_of_datatypes() {
    let store = TermStore::new();
    let script = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (r!1 L)))))(declare-fun P () Bool)
        (declare-fun Q () Bool)(assert (! (and P Q) :named r))(rule P nil)(rule Q is-cons)(check-sat)";
    let system = returns(&store, script);
    let names: Vec<_> = system.clauses.iter().map(|clause| store.name(clause.name.unwrap())).collect();
    assert_eq!(names, ["r", "r!2", "nil!1", "is-cons!1"]);
}

#[test]
fn mistakes_are_reported_with_their_position() {
    for (script, message) in [
        (
            "(assert (forall ((x Int))\n  (or (P x) (P 1))))",
            "1:88: not a Horn clause: both `P` and `P` would be its head",
        ),
        ("(assert (Q 0 (P 1)))", "1:88: not a Horn clause: predicate `P` occurs inside a term"),
        (
            "(assert (=> (forall ((x Int)) (P x)) R))",
            "1:88: not a Horn clause: predicate `P` is below a universal quantifier of the body",
        ),
        (
            "(assert (exists ((x Int)) (P x)))",
            "1:88: not a Horn clause: predicate `P` is below an existential quantifier of the head",
        ),
        (
            "(assert (P (ite (exists ((x Int)) (> x 0)) 1 2)))",
            "1:88: not a Horn clause: a quantifier occurs inside a term",
        ),
        ("\n(assert\n (and (P 1) S))", "3:13: undeclared symbol `S`"),
        ("\n (assert (P 1 2))", "2:10: P takes 1 argument, but has 2"),
        ("\n (assert (P true))", "2:13: argument 1 of P has sort Bool, expected Int"),
        ("(assert (P 1)", "1:101: expected `)`, found the end of the file"),
        ("(assert (+ 1 2))", "1:96: expected a formula, found a term of sort Int"),
        ("(asert (P 1))", "1:82: unknown command `asert`"),
        ("(pop 1)", "1:82: `pop` of 1 levels, but 0 are open"),
    ] {
        let found = mistake(&format!("{P}{script}"));
        let found = found.strip_prefix("test:").unwrap();
        // Columns behind the declarations are counted from the end of these.
        assert_eq!(found.split_once(": ").unwrap().1, message.split_once(": ").unwrap().1, "{script}");
        if script.starts_with('\n') {
            assert_eq!(found, message);
        }
    }
}

#[test]
fn too_many_clauses_are_refused() {
    let choice = "(or (P 1) (Q 1 true))".repeat(40);
    assert_eq!(clauses(&format!("(assert (=> (and {choice}) R))")).len(), 2);
    let choices: String = (0..40).map(|i| format!("(or (P {i}) (Q {i} true))")).collect();
    assert!(mistake(&format!("{P}(assert (=> (and {choices}) R))")).contains("more than 100000 clauses"));
}

#[test]
fn shared_formulas_with_predicates_are_walked_once() {
    let mut script = String::from("(assert (let ((a0 (and (P 1) (P 2))))");
    for i in 1..1000 {
        script.push_str(&format!("(let ((a{i} (and a{} a{})))", i - 1, i - 1));
    }
    script.push_str("(=> a999 R)");
    script.push_str(&")".repeat(1001));
    assert_eq!(clauses(&script), ["(=> (and (P 1) (P 2)) R)"]);
}

#[test]
fn a_million_levels() {
    const LEVELS: usize = 1_000_000;
    for (open, inside, close) in [
        ("(and R ", "R", ")"),
        ("(or R ", "R", ")"),
        ("(not (not ", "R", "))"),
        ("(=> true ", "R", ")"),
        ("(exists ((x Int)) ", "R", ")"),
        ("(let ((a R)) (and a ", "R", "))"),
    ] {
        let body = format!("{}{inside}{}", open.repeat(LEVELS), close.repeat(LEVELS));
        let store = TermStore::new();
        let system = read(&store, &format!("{P}(assert (=> {body} false))"));
        let text = system.to_text(&store, Format::Smtlib);
        assert!(read(&store, &text).same_as(&system), "{open}");
        system.info(&store);
    }
}

#[test]
fn empty_and_broken_files() {
    let store = TermStore::new();
    assert_eq!(read(&store, "").clauses.len(), 0);
    assert_eq!(read(&store, "; nothing\n").info(&store).track, Some("LIA-Lin"));
    assert_eq!(mistake("x"), "test:1:1: expected a command, found `x`");
    assert_eq!(mistake("\n  )"), "test:2:3: expected a command, found `)`");
    let whole = format!("{P}(assert (forall ((x Int)) (=> (and (P x) (Q x |true|) (> x #x0f)) R)))");
    for end in 0..whole.len() {
        let _ = parse(&store, "cut", &whole.as_bytes()[..end]);
    }
}
