//! Formulas and clauses in the notation for people.

use rustc_hash::FxHashMap;
use shofar_horn::infix::{Fit, Notation};
use shofar_horn::parse;
use shofar_logic::number::Integer;
use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{Assignment, Op, Sort, Term, TermStore, Value};
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
    let text = "(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
        (declare-fun P (L) Bool)
        (assert (forall ((l L)) (=> (and (P l) ((_ is cons) l) (> (head l) 0)) (P (cons 1 (tail l))))))";
    assert_eq!(rules(text), ["P(cons(1, tail(l))) ← P(l), l is cons, head(l) > 0"]);
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
    assert!(text.len() < 6000 && text.starts_with("∃x: Int. t_1 + t_1 + t_1"), "{text}");
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

#[test]
fn names_that_are_no_identifiers_stand_in_quotes() {
    let store = TermStore::new();
    let shown = |name: &str| Notation::Math.name(&store, store.symbol(name));
    for plain in ["x", "x'", "main@entry", "loop-head", "ä", "x!1", "_G"] {
        assert_eq!(shown(plain), plain);
    }
    for odd in ["a b", "1x", "+", "x+1", "if", "mod", "-x", ""] {
        assert_eq!(shown(odd), format!("`{odd}`"));
    }
}

// ---- what is written can be read --------------------------------------------------------------------------

/// Formulas as they are written, with any operator in any place.
fn formula(store: &TermStore, random: &mut Random, depth: usize) -> Term {
    let bools = ["b", "c"].map(|name| store.var(store.symbol(name), Sort::BOOL));
    if depth == 0 {
        return *random.choose(&bools);
    }
    let app = |op, args: &[Term]| store.app(op, args).unwrap();
    let some = |random: &mut Random| {
        let depth = random.below(depth);
        formula(store, random, depth)
    };
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
        let mut names = FxHashMap::default();
        // Definitions use what is defined after them.
        for definition in definitions.lines().rev() {
            let (name, term) = definition.trim_start().split_once(' ')?;
            let term = term.trim_start_matches(['=', '⇔', ' ']);
            let mut grammar = Grammar { store, tokens: tokens(term), next: 0, names };
            let term = grammar.whole()?;
            names = grammar.names;
            names.insert(name.to_owned(), term);
        }
        Grammar { store, tokens: tokens(formula), next: 0, names }.whole()
    }

    fn whole(&mut self) -> Option<Term> {
        let term = self.open()?;
        (self.next == self.tokens.len()).then_some(term)
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
            "b" | "c" => Sort::BOOL,
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
    generated(1, |store, random, term, text| {
        let read = Grammar::read(store, text).unwrap_or_else(|| panic!("{text}"));
        for _ in 0..20 {
            let mut assignment = Assignment::new();
            for name in ["x", "y", "z"] {
                let value = Value::Int(Integer::from(random.between(-5, 5)));
                assignment.set(store.var(store.symbol(name), Sort::INT), value);
            }
            for name in ["b", "c"] {
                assignment.set(store.var(store.symbol(name), Sort::BOOL), Value::Bool(random.bool()));
            }
            let [written, read] = [term, read].map(|term| store.eval(term, &assignment));
            assert_eq!(written, read, "{text}");
        }
    });
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
