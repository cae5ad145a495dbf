//! Formulas and clauses in the notation for people.

use rustc_hash::FxHashMap;
use shofar_horn::infix::{Fit, Notation};
use shofar_horn::parse;
use shofar_logic::number::Integer;
use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{Assignment, Op, Sort, Substitution, Term, TermStore, Value};
use shofar_testing::Random;

const ALL: Fit = Fit { width: usize::MAX, column: 0, symbols: usize::MAX, arguments: usize::MAX };

/// A formula in SMT-LIB over a few variables, in mathematical notation.
fn shown(text: &str) -> String {
    in_notation(Notation::Math, text)
}

fn in_notation(notation: Notation, text: &str) -> String {
    let store = TermStore::new();
    let mut environment = Environment::new(&store);
    let script = format!(
        "f ((x Int) (y Int) (n Int) (s Int) (r Real) (b Bool) (c Bool) (a (Array Int Int)) \
         (v (_ BitVec 8)) (w (_ BitVec 8))) Bool {text})"
    );
    let mut reader = Reader::new(&store, &mut environment, script.as_bytes());
    let (_, _, body) = reader.interpretation().unwrap_or_else(|error| panic!("{text}: {error}"));
    notation.term(&store, body, ALL)
}

#[test]
fn formulas_are_written_as_in_mathematics() {
    let pairs = [
        ("(and (>= s 91) (or (>= n (+ s 10)) (<= s 91)))", "s ≥ 91 ∧ (n ≥ s + 10 ∨ s ≤ 91)"),
        ("(or (and b (< x 3)) c)", "b ∧ x < 3 ∨ c"),
        ("(=> b (=> c (= x 1)))", "b ⇒ c ⇒ x = 1"),
        ("(=> (=> b c) (= x 1))", "(b ⇒ c) ⇒ x = 1"),
        ("(= b (<= x y))", "b ⇔ x ≤ y"),
        ("(not (and b c))", "¬(b ∧ c)"),
        ("(and (not b) (not (= x y)) (not (< x y)))", "¬b ∧ x ≠ y ∧ x ≥ y"),
        ("(xor b c)", "b ⊕ c"),
        ("(<= 0 x y 10)", "0 ≤ x ≤ y ≤ 10"),
        ("(distinct x y n)", "distinct(x, y, n)"),
        ("(distinct x y)", "x ≠ y"),
        ("(= x (ite b 1 (+ y 1)))", "x = (if b then 1 else y + 1)"),
        ("(ite b (= x 1) (ite c (= x 2) (= x 3)))", "if b then x = 1 else if c then x = 2 else x = 3"),
        ("(exists ((k Int) (q Bool)) (and q (= x (* 2 k))))", "∃k: Int, q: Bool. q ∧ x = 2·k"),
        ("(and b (forall ((k Int)) (>= k x)))", "b ∧ (∀k: Int. k ≥ x)"),
        ("((_ divisible 3) x)", "3 ∣ x"),
    ];
    for (text, expected) in pairs {
        assert_eq!(shown(text), expected);
    }
}

#[test]
fn arithmetic_has_signs_in_their_places() {
    let pairs = [
        ("(= s (- n 10))", "s = n − 10"),
        ("(= x (+ y (* (- 1) n) (- 3)))", "x = y − n − 3"),
        ("(= x (- y (- n)))", "x = y + n"),
        ("(= x (- y (- n 1)))", "x = y − (n − 1)"),
        ("(= x (+ y (- n 1)))", "x = y + n − 1"),
        ("(= x (+ y (+ (- n) 1)))", "x = y + (−n + 1)"),
        ("(= x (* 2 (+ y 1)))", "x = 2·(y + 1)"),
        ("(= x (* (- 2) y n))", "x = −2·y·n"),
        ("(= x (* y (- 2)))", "x = y·(−2)"),
        ("(= x (- (+ y 1)))", "x = −(y + 1)"),
        ("(= x (+ (div y 2) (mod (* 2 n) 3)))", "x = y div 2 + (2·n) mod 3"),
        ("(= x (* 2 (mod n 3)))", "x = 2·(n mod 3)"),
        ("(= x (abs (- y n)))", "x = |y − n|"),
        ("(< r (* (/ 1 2) (to_real x)))", "r < (1/2)·x"),
        ("(= x (to_int (+ r 0.5)))", "x = ⌊r + 1/2⌋"),
        ("(= r (- 0.5))", "r = −1/2"),
    ];
    for (text, expected) in pairs {
        assert_eq!(shown(text), expected);
    }
}

#[test]
fn arrays_and_bit_vectors_have_brackets_and_marks() {
    let pairs = [
        ("(= (select a (+ x 1)) 5)", "a[x + 1] = 5"),
        ("(= a (store (store a 0 x) 1 y))", "a = a[0 := x][1 := y]"),
        ("(= a ((as const (Array Int Int)) 0))", "a = const(0)"),
        ("(= (select (store a x 1) y) 2)", "a[x := 1][y] = 2"),
        ("(bvult (bvadd v #x01) w)", "v + #x01 <ᵤ w"),
        ("(not (bvsle v w))", "v >ₛ w"),
        ("(= ((_ extract 3 0) v) #x5)", "v[3:0] = #x5"),
        ("(= (bvand v (bvor w #x0f)) w)", "v & (w | #x0f) = w"),
        ("(= (bvlshr v w) (bvudiv v w))", "v >>ᵤ w = bvudiv(v, w)"),
        ("(= ((_ zero_extend 8) v) ((_ sign_extend 8) w))", "zero_extend[8](v) = sign_extend[8](w)"),
    ];
    for (text, expected) in pairs {
        assert_eq!(shown(text), expected);
    }
}

#[test]
fn ascii_needs_no_other_characters() {
    let text =
        "(and (>= s 91) (or (not b) (=> c (= x (* 2 (- y))))) (exists ((k Int)) (distinct k (abs x))))";
    let shown = in_notation(Notation::Ascii, text);
    assert_eq!(shown, "s >= 91 and (not b or (c => x = 2*(-y))) and (exists k: Int. k != abs(x))");
    assert!(shown.is_ascii());
    assert_eq!(in_notation(Notation::Smtlib, "(and b (> x 1))"), "(and b (> x 1))");
}

fn rules(text: &str) -> Vec<String> {
    let store = TermStore::new();
    let system = parse(&store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let clauses = 0..system.clauses.len();
    clauses.map(|clause| Notation::Math.clause(&store, &system, clause, ALL)).collect()
}

#[test]
fn clauses_are_rules() {
    let text = "(declare-fun m (Int Int) Bool) (declare-fun |a b| () Bool)
        (assert (forall ((n Int) (s Int)) (=> (and (> n 100) (= s (- n 10))) (m n s))))
        (assert (forall ((n Int) (t Int) (s Int)) (=> (and (<= n 100) (m (+ n 11) t) (m t s)) (m n s))))
        (assert |a b|)
        (assert (m 0 1))
        (assert (forall ((n Int) (s Int)) (=> (and (m n s) (or (< s 91) |a b|)) false)))";
    assert_eq!(
        rules(text)[..4],
        ["m(n, s) ← n > 100, s = n − 10", "m(n, s) ← m(n + 11, t), m(t, s), n ≤ 100", "`a b`", "m(0, 1)",]
    );
    assert!(rules(text)[4].starts_with("false ← m(n, s), "));
}

#[test]
fn datatypes_are_applied_to_arguments() {
    let text =
        "(declare-datatypes ((T 0) (C 0)) (((leaf) (one (it Int)) (node (left T) (right T))) ((red) (blue))))
        (declare-fun P (T C) Bool)
        (assert (forall ((t T) (c C)) (=> (and (P t c) ((_ is node) t) (not ((_ is one) (left t)))
            (not ((_ is leaf) (left t))) ((_ is red) c)) (P (node (one 1) (right t)) blue))))";
    let rule =
        "P(node(one(1), right(t)), blue) ← P(t, c), t is node, ¬(left(t) is one), left(t) ≠ leaf, c = red";
    assert_eq!(rules(text), [rule]);
}

#[test]
fn lists_and_peano_numbers_have_their_own_notation() {
    let text = "(declare-datatypes ((N 0) (L 0) (M 0)) (((z) (s (p N))) ((cons (tail L) (head N)) (nil))
            ((end) (entry (key Int) (rest M) (value L)))))
        (declare-fun P (N L M) Bool)
        (assert (P (s (s z)) nil (entry 1 end (cons nil z))))
        (assert (forall ((n N) (l L) (m M)) (=> (and (P n l m) ((_ is cons) l) (not ((_ is nil) (tail l))) (not ((_ is s) n)))
            (P (s n) (cons (cons nil (s n)) z) m))))
        (assert (forall ((n N) (l L) (m M)) (=> (and (P (s (s (s (s n)))) (cons l n) m) (= n (p n)) ((_ is z) n)) false)))";
    assert_eq!(
        rules(text),
        [
            "P(2, [], [(1, [0])])",
            "P(s(n), [0, s(n)], m) ← P(n, l, m), l ≠ [], tail(l) ≠ [], n = 0",
            "false ← P(s^4(n), cons(l, n), m), n = p(n), n = 0",
        ]
    );
}

#[test]
fn a_peano_number_stands_for_its_number() {
    let store = TermStore::new();
    let text = "(declare-datatypes ((N 0)) (((z) (s (p N)))))(declare-fun P (N N) Bool)";
    let system = parse(&store, "test", text.as_bytes()).unwrap();
    let sort = store.fun_decl(system.predicates().next().unwrap().1).domain[0];
    let [n, m] = ["n", "m"].map(|name| store.var(store.symbol(name), sort));
    let sum = store.add(&[store.number_of(n), store.number_of(store.successors(m, 2))]);
    let shown = Notation::Math.term(&store, store.le(sum, store.int(7)), ALL);
    assert_eq!(shown, "n + m ≤ 5");
    // A large number is one symbol, so it is not named although it occurs twice.
    let many = store.successors(store.construct_term(store.peano(sort).unwrap().zero, &[]), 1000);
    let both = store.and(&[store.eq(n, many), store.eq(m, many)]);
    assert_eq!(Notation::Ascii.term(&store, both, ALL), "n = 1000 and m = 1000");
}

#[test]
fn long_texts_are_broken_at_the_outermost_operators() {
    let store = TermStore::new();
    let text = "(declare-fun P (Int Int Int Int Int Int) Bool)
        (assert (forall ((aaa Int) (bbb Int) (ccc Int) (ddd Int) (eee Int) (fff Int))
          (=> (and (P aaa bbb ccc ddd eee fff) (or (> aaa 1) (and (> bbb 2) (> ccc 3))) (= ddd 4))
              (P bbb aaa ccc ddd eee fff))))";
    let system = parse(&store, "test", text.as_bytes()).unwrap();
    let fit = Fit { width: 34, column: 2, ..ALL };
    let rule = Notation::Math.clause(&store, &system, 0, fit);
    assert_eq!(
        rule,
        "P(bbb, aaa, ccc, ddd, eee, fff)
    ← P(aaa, bbb, ccc, ddd, eee,
        fff),
      aaa > 1 ∨ bbb > 2 ∧ ccc > 3,
      ddd = 4"
    );
    let rule = Notation::Math.clause(&store, &system, 0, Fit { arguments: 2, ..ALL });
    assert_eq!(rule, "P(bbb, aaa, … +4) ← P(aaa, bbb, … +4), aaa > 1 ∨ bbb > 2 ∧ ccc > 3, ddd = 4");
    let formula = Notation::Math.term(&store, system.clauses[0].constraint, Fit { width: 20, ..fit });
    assert_eq!(formula, "(aaa > 1\n   ∨ bbb > 2\n     ∧ ccc > 3)\n  ∧ ddd = 4");
}

#[test]
fn what_is_shared_is_defined_once() {
    let store = TermStore::new();
    let var = |name: &str| store.var(store.symbol(name), Sort::INT);
    let [x, t1] = [var("x"), var("t1")];
    let mut sum = store.app(Op::Add, &[x, t1]).unwrap();
    for _ in 0..200 {
        sum = store.app(Op::Add, &[sum, sum]).unwrap();
    }
    let formula = store.app(Op::Le, &[sum, x]).unwrap();
    let text = Notation::Math.term(&store, formula, Fit { width: 100, ..ALL });
    assert!(text.len() < 5000, "{} bytes for 200 levels of sharing", text.len());
    assert!(text.contains("where t_1 = t_2 + t_2 + t_2"), "names are free: {text}");
    // In the body of a quantifier, too.
    let quantified = store.app(Op::Exists, &[x, formula]).unwrap();
    let text = Notation::Math.term(&store, quantified, ALL);
    assert!(text.len() < 6000 && text.starts_with("∃x: Int. (t_1 + t_1 + t_1"), "{text}");
}

/// Below a quantifier, parentheses show which definitions belong to it, and no definition can be read as a conjunct.
#[test]
fn definitions_below_a_quantifier_end_with_it() {
    let store = TermStore::new();
    let [b, c, p, q] = ["b", "c", "p", "q"].map(|name| store.var(store.symbol(name), Sort::BOOL));
    let app = |op, args: &[Term]| store.app(op, args).unwrap();
    let shared = |p: Term| app(Op::Or, &[b, c, p, b, c, p, b, c, p, b, c, p]);
    let twice = |part: Term, other: Term| app(Op::Or, &[app(Op::And, &[part, other]), app(Op::Not, &[part])]);
    let inner = app(Op::Exists, &[q, twice(shared(q), p)]);
    let outer = app(Op::Forall, &[p, app(Op::And, &[twice(shared(p), inner), c])]);
    let list = |p: &str| format!("b ∨ c ∨ {p} ∨ b ∨ c ∨ {p} ∨ b ∨ c ∨ {p} ∨ b ∨ c ∨ {p}");
    assert_eq!(
        Notation::Math.term(&store, outer, ALL),
        format!(
            "∀p: Bool. ((t1 ∧ (∃q: Bool. (t2 ∧ p ∨ ¬t2 where t2 ⇔ {})) ∨ ¬t1) ∧ c where t1 ⇔ {})",
            list("q"),
            list("p")
        )
    );
    // Several definitions, one of which is a choice and one an equivalence.
    let choice = app(Op::Ite, &[b, shared(p), c]);
    let both = app(Op::Eq, &[shared(c), b]);
    let body = app(Op::And, &[twice(choice, b), twice(both, c)]);
    let text = Notation::Ascii.term(&store, app(Op::Exists, &[p, body]), ALL);
    let list = |p: &str| list(p).replace('∨', "or");
    assert_eq!(
        text.replace(&list("p"), "A").replace(&list("c"), "B"),
        "exists p: Bool. ((t1 and b or not t1) and (t2 and c or not t2) \
         where t1 <=> (if b then A else c); t2 <=> (B <=> b))"
    );
}

#[test]
fn depth_costs_no_stack_and_length_is_cut() {
    let store = TermStore::new();
    let b = store.var(store.symbol("b"), Sort::BOOL);
    let mut formula = b;
    for _ in 0..300_000 {
        formula = store.app(Op::Not, &[formula]).unwrap();
    }
    let text = Notation::Math.term(&store, formula, Fit { width: 100, symbols: 20, ..ALL });
    assert!(text.ends_with('…') && text.chars().count() < 60, "{text}");
    let text = Notation::Math.term(&store, formula, ALL);
    assert_eq!(text.matches('¬').count(), 300_000);
}

/// Nothing follows the ellipsis, and mentions of definitions and bound variables count, too.
#[test]
fn nothing_follows_a_cut() {
    let store = TermStore::new();
    let text = "(declare-fun P (Int Int) Bool) (declare-fun Q (Int) Bool)
        (assert (forall ((x Int) (y Int) (z Int))
          (=> (and (P x y) (P y z) (Q x) (Q y) (Q z) (> x y) (forall ((k Int)) (> k z))) (P (+ x 1) (+ y 1)))))";
    let system = parse(&store, "test", text.as_bytes()).unwrap();
    let cut = |symbols| Notation::Math.clause(&store, &system, 0, Fit { symbols, ..ALL });
    assert_eq!(cut(5), "P(x + 1, y + …");
    assert_eq!(cut(7), "P(x + 1, y + 1) ← P(x, …");
    assert_eq!(cut(11), "P(x + 1, y + 1) ← P(x, y), P(y, z), Q(x), Q(…");
    assert!(cut(100).ends_with("x > y, (∀k: Int. k > z)"), "{}", cut(100));

    let int = |name: &str| store.var(store.symbol(name), Sort::INT);
    let variables: Vec<Term> = (0..1000).map(|number| int(&format!("x{number}"))).collect();
    let sum = store.app(Op::Add, &variables[..20]).unwrap();
    let many = store.app(Op::Mul, &vec![sum; 1000]).unwrap();
    let body = store.app(Op::Le, &[many, many]).unwrap();
    let bound: Vec<Term> = variables.iter().copied().chain([body]).collect();
    let quantified = store.app(Op::Exists, &bound).unwrap();
    let negative = store.app(Op::Add, &vec![store.int(-1); 1000]).unwrap();
    for term in [many, quantified, negative] {
        let text = Notation::Math.term(&store, term, Fit { symbols: 20, ..ALL });
        assert!(text.ends_with('…') && text.chars().count() < 150, "{text}");
    }
    let none = Notation::Math.clause(&store, &system, 0, Fit { arguments: 0, ..ALL });
    assert!(none.starts_with("P(… +2) ← P(… +2), P(… +2), Q(… +1), "), "{none}");
}

/// A definition has no name that a predicate, a selector or a constructor has.
#[test]
fn names_of_definitions_are_free() {
    let shared = "(* (+ x y x y x y x y x y x y) (+ x y x y x y x y x y x y))";
    let text = format!(
        "(declare-datatypes ((D 0)) (((t_1 (t__1 Int)) (t___1))))
         (declare-fun t1 (Int) Bool) (declare-fun t2 (D Int) Bool)
         (assert (forall ((x Int) (y Int) (d D)) (=> (and (t2 d {shared}) (= (t__1 d) x) ((_ is t___1) d) (= d (t_1 y))) (t1 {shared}))))"
    );
    let rule = &rules(&text)[0];
    assert!(
        rule.starts_with(
            "t1(t____1·t____1) ← t2(d, t____1·t____1), t__1(d) = x, d = t___1, d = t_1(y)\nwhere"
        ),
        "{rule}"
    );
}

#[test]
fn names_that_are_no_identifiers_stand_in_quotes() {
    let store = TermStore::new();
    let shown = |name: &str| Notation::Math.name(&store, store.symbol(name));
    for plain in ["x", "x'", "main@entry", "loop_head", "ä", "x!1", "_G", "bvar", "select"] {
        assert_eq!(shown(plain), plain);
    }
    for odd in
        ["a b", "1x", "+", "x+1", "if", "mod", "-x", "", "loop-head", "x-1", "~x", "x~1", "#x0f", "#b1", "x#"]
    {
        assert_eq!(shown(odd), format!("`{odd}`"));
    }
    // Operators that are written as functions.
    for odd in ["abs", "const", "distinct", "zero_extend", "bvudiv"] {
        assert_eq!(shown(odd), format!("`{odd}`"));
    }
    assert_eq!(shown("a`b"), "`a``b`");
    assert_eq!(shown("`"), "````");
}

// ---- what is written can be read --------------------------------------------------------------------------

/// Formulas as they are written, with any operator in any place. Quantifiers bind truth values, and large subformulas may
/// occur twice.
fn formula(store: &TermStore, random: &mut Random, depth: usize) -> Term {
    let bools = ["b", "c", "p"].map(|name| store.var(store.symbol(name), Sort::BOOL));
    if depth == 0 {
        return *random.choose(&bools);
    }
    let app = |op, args: &[Term]| store.app(op, args).unwrap();
    let some = |random: &mut Random| {
        let depth = random.below(depth);
        formula(store, random, depth)
    };
    if depth > 2 && random.one_in(4) {
        let [part, other] = [0, 1].map(|_| formula(store, random, depth - 1));
        let parts = [app(Op::Implies, &[part, other]), app(Op::Not, &[part]), app(Op::Not, &[other])];
        let twice = app(Op::And, &parts);
        let bound = store.var(store.symbol(["b", "p"][random.below(2)]), Sort::BOOL);
        return match random.below(4) {
            0 => twice,
            1 => app(Op::Exists, &[bound, other]),
            _ => app(Op::Forall, &[bound, twice]),
        };
    }
    match random.below(9) {
        0 => app(Op::Not, &[some(random)]),
        1 => app(Op::And, &[some(random), some(random), some(random)]),
        2 => app(Op::Or, &[some(random), some(random)]),
        3 => app(Op::Implies, &[some(random), some(random)]),
        4 => app(Op::Eq, &[some(random), some(random)]),
        5 => app(Op::Ite, &[some(random), some(random), some(random)]),
        _ => {
            let op = *random.choose(&[Op::Le, Op::Lt, Op::Ge, Op::Gt, Op::Eq]);
            app(op, &[number(store, random, depth), number(store, random, depth)])
        }
    }
}

fn number(store: &TermStore, random: &mut Random, depth: usize) -> Term {
    let app = |op, args: &[Term]| store.app(op, args).unwrap();
    if depth == 0 || random.one_in(4) {
        return match random.below(3) {
            0 => store.int(random.between(-4, 4)),
            _ => store.var(store.symbol(["x", "y", "z"][random.below(3)]), Sort::INT),
        };
    }
    let some = |random: &mut Random| number(store, random, depth - 1);
    match random.below(8) {
        0 | 1 => app(Op::Add, &[some(random), some(random), some(random)]),
        2 => app(Op::Sub, &[some(random), some(random)]),
        3 => app(Op::Neg, &[some(random)]),
        4 => app(Op::Mul, &[store.int(random.between(-3, 3)), some(random)]),
        5 => app(Op::Mul, &[some(random), some(random)]),
        6 => {
            let op = *random.choose(&[Op::IntDiv, Op::Mod]);
            app(op, &[some(random), store.int(random.between(2, 5))])
        }
        _ => {
            let condition = formula(store, random, 1);
            app(Op::Ite, &[condition, some(random), some(random)])
        }
    }
}

/// A reader of the notation. Nested conjunctions, disjunctions, sums and products become one; `None` if it is no formula.
struct Grammar<'a> {
    store: &'a TermStore,
    tokens: Vec<String>,
    next: usize,
    names: FxHashMap<String, Term>,
}

impl Grammar<'_> {
    fn read(store: &TermStore, text: &str) -> Option<Term> {
        let (formula, definitions) = text.split_once("\nwhere ").unwrap_or((text, ""));
        let mut grammar = Grammar { store, tokens: Vec::new(), next: 0, names: FxHashMap::default() };
        // Definitions use what is defined after them.
        for definition in definitions.lines().rev() {
            grammar.tokens = tokens(definition);
            grammar.definition(0, grammar.tokens.len())?;
        }
        grammar.tokens = tokens(formula);
        grammar.within(0, grammar.tokens.len(), Grammar::open)
    }

    /// What a range of tokens is.
    fn within<T>(&mut self, from: usize, to: usize, read: impl Fn(&mut Self) -> Option<T>) -> Option<T> {
        self.next = from;
        let found = read(self)?;
        (self.next == to).then_some(found)
    }

    /// A range of tokens defines a name, by an equation or an equivalence.
    fn definition(&mut self, from: usize, to: usize) -> Option<()> {
        let name = self.tokens.get(from)?.clone();
        let term = match &**self.tokens.get(from + 1)? {
            "⇔" => self.within(from + 2, to, Grammar::implication)?,
            "=" => self.within(from + 2, to, Grammar::sum)?,
            _ => return None,
        };
        self.names.insert(name, term);
        Some(())
    }

    /// The body of a quantifier, which may be a formula with definitions in parentheses.
    fn scope(&mut self) -> Option<Term> {
        let start = self.next;
        // The word `where` and the semicolons that stand in the first parentheses only, and where these end.
        let mut ends: Vec<usize> = Vec::new();
        let mut depth = 0;
        for (position, token) in self.tokens.iter().enumerate().skip(start) {
            match &**token {
                "(" => depth += 1,
                ")" => depth -= 1,
                "where" | ";" if depth == 1 => ends.push(position),
                _ => {}
            }
            if depth == 0 {
                ends.push(position);
                break;
            }
        }
        let &[first, ref others @ .., _] = &*ends else { return self.open() };
        let ends: Vec<usize> = others.iter().chain(ends.last()).copied().collect();
        let starts = [first].into_iter().chain(others.iter().copied());
        for (from, to) in starts.zip(ends.iter().copied()).collect::<Vec<_>>().into_iter().rev() {
            self.definition(from + 1, to)?;
        }
        let formula = self.within(start + 1, first, Grammar::iff)?;
        self.next = ends.last()? + 1;
        Some(formula)
    }

    fn takes(&mut self, token: &str) -> bool {
        let is_next = self.tokens.get(self.next).is_some_and(|next| next == token);
        self.next += usize::from(is_next);
        is_next
    }

    fn app(&self, op: Op, args: &[Term]) -> Option<Term> {
        let is_flat = matches!(op, Op::And | Op::Or | Op::Add | Op::Mul);
        let args: Vec<Term> = args
            .iter()
            .flat_map(|&arg| match self.store.view(arg) {
                (inner, members) if inner == op && is_flat => members.to_vec(),
                _ => vec![arg],
            })
            .collect();
        if args.len() == 1 && is_flat { Some(args[0]) } else { self.store.app(op, &args).ok() }
    }

    fn open(&mut self) -> Option<Term> {
        for (sign, op) in [("∀", Op::Forall), ("∃", Op::Exists)] {
            if self.takes(sign) {
                let name = self.tokens.get(self.next)?.clone();
                self.next += 1;
                let is_bound = self.takes(":") && self.takes("Bool") && self.takes(".");
                let body = is_bound.then(|| self.scope())??;
                return self.app(op, &[self.store.var(self.store.symbol(&name), Sort::BOOL), body]);
            }
        }
        if !self.takes("if") {
            return self.iff();
        }
        let condition = self.iff()?;
        let then = self.takes("then").then(|| self.iff())??;
        let otherwise = self.takes("else").then(|| self.open())??;
        self.app(Op::Ite, &[condition, then, otherwise])
    }

    fn iff(&mut self) -> Option<Term> {
        let left = self.implication()?;
        if self.takes("⇔") {
            let right = self.implication()?;
            return self.app(Op::Eq, &[left, right]);
        }
        Some(left)
    }

    fn implication(&mut self) -> Option<Term> {
        let left = self.joined(Op::Or, "∨", |grammar| grammar.joined(Op::And, "∧", Grammar::negation))?;
        if self.takes("⇒") {
            let right = self.implication()?;
            return self.app(Op::Implies, &[left, right]);
        }
        Some(left)
    }

    fn joined(&mut self, op: Op, sign: &str, operand: impl Fn(&mut Self) -> Option<Term>) -> Option<Term> {
        let mut operands = vec![operand(self)?];
        while self.takes(sign) {
            operands.push(operand(self)?);
        }
        self.app(op, &operands)
    }

    fn negation(&mut self) -> Option<Term> {
        if self.takes("¬") {
            let atom = self.factor()?;
            return self.app(Op::Not, &[atom]);
        }
        let left = self.sum()?;
        let relations = [("≤", Op::Le), ("<", Op::Lt), ("≥", Op::Ge), (">", Op::Gt), ("=", Op::Eq)];
        if let Some(&(_, op)) = relations.iter().find(|(sign, _)| self.takes(sign)) {
            let right = self.sum()?;
            return self.app(op, &[left, right]);
        }
        if self.takes("≠") {
            let right = self.sum()?;
            let equation = self.app(Op::Eq, &[left, right])?;
            return self.app(Op::Not, &[equation]);
        }
        Some(left)
    }

    fn sum(&mut self) -> Option<Term> {
        let is_negative = self.takes("−");
        let first = self.product()?;
        let mut summands = vec![if is_negative { self.app(Op::Neg, &[first])? } else { first }];
        loop {
            if self.takes("+") {
                summands.push(self.product()?);
            } else if self.takes("−") {
                let summand = self.product()?;
                summands.push(self.app(Op::Neg, &[summand])?);
            } else {
                return self.app(Op::Add, &summands);
            }
        }
    }

    fn product(&mut self) -> Option<Term> {
        let first = self.factor()?;
        for (sign, op) in [("div", Op::IntDiv), ("mod", Op::Mod)] {
            if self.takes(sign) {
                let second = self.factor()?;
                return self.app(op, &[first, second]);
            }
        }
        let mut factors = vec![first];
        while self.takes("·") {
            factors.push(self.factor()?);
        }
        self.app(Op::Mul, &factors)
    }

    fn factor(&mut self) -> Option<Term> {
        if self.takes("(") {
            let inner = self.open()?;
            return self.takes(")").then_some(inner);
        }
        let token = self.tokens.get(self.next)?.clone();
        self.next += 1;
        if let Some(&term) = self.names.get(&token) {
            return Some(term);
        }
        if let Ok(number) = token.parse::<i64>() {
            return Some(self.store.int(number));
        }
        let sort = match &*token {
            "x" | "y" | "z" => Sort::INT,
            "b" | "c" | "p" => Sort::BOOL,
            _ => return None,
        };
        Some(self.store.var(self.store.symbol(&token), sort))
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    tokens
}

fn generated(seed: u64, check: impl Fn(&TermStore, &mut Random, Term, &str)) {
    let mut random = Random::new(seed);
    for round in 0..600 {
        let store = TermStore::new();
        let term = formula(&store, &mut random, 2 + round % 4);
        let text = Notation::Math.term(&store, term, ALL);
        check(&store, &mut random, term, &text);
    }
}

#[test]
fn what_is_read_back_means_the_same() {
    let scopes = std::cell::Cell::new(0);
    generated(1, |store, random, term, text| {
        scopes.set(scopes.get() + usize::from(text.contains(" where ") && text.contains(';')));
        let read = Grammar::read(store, text).unwrap_or_else(|| panic!("{text}"));
        for _ in 0..20 {
            let mut assignment = Assignment::new();
            for name in ["x", "y", "z"] {
                let value = Value::Int(Integer::from(random.between(-5, 5)));
                assignment.set(store.var(store.symbol(name), Sort::INT), value);
            }
            for name in ["b", "c", "p"] {
                assignment.set(store.var(store.symbol(name), Sort::BOOL), Value::Bool(random.bool()));
            }
            let [written, read] = [term, read].map(|term| store.eval(expanded(store, term), &assignment));
            assert!(written.is_ok(), "{text}");
            assert_eq!(written, read, "{text}");
        }
    });
    assert!(scopes.get() > 20, "only {} quantifiers with several definitions", scopes.get());
}

/// The formula with both cases instead of each quantifier.
fn expanded(store: &TermStore, formula: Term) -> Term {
    store.rewrite(formula, &mut |op, args| match (op, args) {
        (Op::Forall | Op::Exists, &[variable, body]) => {
            let cases = [Term::TRUE, Term::FALSE]
                .map(|value| store.substitute(body, &Substitution::from_iter([(variable, value)])));
            store.app(if op == Op::Forall { Op::And } else { Op::Or }, &cases).unwrap()
        }
        _ => store.app(op, args).unwrap(),
    })
}

/// Without any one pair of parentheses, the text is no formula or another one.
#[test]
fn parentheses_are_minimal() {
    let count = std::cell::Cell::new(0);
    generated(2, |store, _, _, text| {
        let read = Grammar::read(store, text);
        let mut open: Vec<usize> = Vec::new();
        for (position, c) in text.char_indices() {
            match c {
                '(' => open.push(position),
                ')' => {
                    let start = open.pop().expect("parentheses are balanced");
                    let without =
                        format!("{}{}{}", &text[..start], &text[start + 1..position], &text[position + 1..]);
                    count.set(count.get() + 1);
                    assert_ne!(Grammar::read(store, &without), read, "{text}\n{without}");
                }
                _ => {}
            }
        }
    });
    assert!(count.get() > 500, "{}", count.get());
}
