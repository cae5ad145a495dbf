//! Printed terms read back as the same terms.

use std::collections::HashSet;

use proptest::prelude::*;
use shofar_logic::number::{Integer, Rational};
use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{ConstructorId, Op, Sort, Term, TermStore};

const DECLARATIONS: &str = "
    (declare-sort U 0)
    (declare-datatypes ((List 1)) ((par (T) ((nil) (cons (head T) (tail (List T)))))))
    (declare-const a!1 Int)
    (declare-const |a b| Int)
    (declare-const real Real)
    (declare-const bits (_ BitVec 3))
    (declare-const array (Array Int (_ BitVec 3)))
    (declare-const list (List Int))
    (declare-const element U)
    (declare-fun f (Int Real) Int)
    (declare-fun P (Int U) Bool)
    (declare-fun |let| () Bool)";

/// Reads a term after the declarations.
fn read(store: &TermStore, text: &str) -> Term {
    let script = format!("{DECLARATIONS}(assert {text})");
    let mut environment = Environment::new(store);
    let mut reader = Reader::new(store, &mut environment, script.as_bytes());
    while let Some(command) = reader.command().unwrap() {
        if command == "assert" {
            let term = reader.term().unwrap_or_else(|error| panic!("{error:?} in {text}"));
            reader.close().unwrap();
            assert_eq!(reader.command().unwrap(), None);
            return term;
        }
        reader.declaration(command).unwrap();
    }
    panic!("there is an assertion")
}

/// Terms that grow by applying operators to what is there, so that much is shared.
struct Pool<'a> {
    store: &'a TermStore,
    terms: Vec<Term>,
    variables: [Term; 4],
    cons: ConstructorId,
    /// Whether a quantifier may bind a variable that a quantifier in its body binds again.
    rebinding: bool,
}

impl<'a> Pool<'a> {
    fn new(store: &'a TermStore, rebinding: bool) -> Self {
        let constants = [
            "a!1",
            "|a b|",
            "real",
            "bits",
            "array",
            "list",
            "element",
            "|let|",
            "#x0f",
            "(as nil (List Int))",
        ];
        let mut terms: Vec<Term> = constants.iter().map(|text| read(store, text)).collect();
        let list = store.sort_of(terms[5]);
        let cons = store.datatype(list).unwrap().constructors()[1];
        let variables = [("x", Sort::INT), ("y", Sort::INT), ("q", Sort::BOOL), ("", list)];
        let variables = variables.map(|(name, sort)| store.var(store.symbol(name), sort));
        terms.extend(variables);
        terms.extend([Term::TRUE, store.int(0), store.int(-7), store.int(i64::MAX)]);
        for (num, den) in [(0, 1), (5, 2), (-3, 1), (-1, 3)] {
            terms.push(store.real(Rational::new(Integer::from(num), Integer::from(den))));
        }
        Pool { store, terms, variables, cons, rebinding }
    }

    /// Adds the application that four bytes choose, if there is one.
    fn grow(&mut self, bytes: [u8; 4]) {
        let store = self.store;
        let first = self.pick(bytes[0], |_| true);
        let sort = store.sort_of(first);
        let second = self.pick(bytes[1], |t| store.sort_of(t) == sort);
        let int = self.pick(bytes[2], |t| store.sort_of(t) == Sort::INT);
        let bool = self.pick(bytes[2], |t| store.sort_of(t) == Sort::BOOL);
        let choice = usize::from(bytes[3]);
        let negative = store.numeral(first).is_some_and(|n| !n.is_negative());
        let (op, args) = match sort {
            _ if choice >= 240 => (Op::Ite, vec![bool, first, second]),
            _ if choice >= 220 => ([Op::Eq, Op::Distinct][choice % 2], vec![first, second, first]),
            Sort::BOOL if choice < 60 => {
                let mut args: Vec<Term> = self.variables[choice % 4..=(choice % 4 + 1).min(3)].to_vec();
                if !self.rebinding && args.iter().any(|&variable| self.binds(first, variable)) {
                    return;
                }
                args.push(first);
                ([Op::Forall, Op::Exists][choice % 2], args)
            }
            Sort::BOOL => {
                let op = [Op::And, Op::Or, Op::Xor, Op::Implies, Op::Not][choice % 5];
                (op, if op == Op::Not { vec![first] } else { vec![first, second, bool] })
            }
            Sort::INT => match choice % 8 {
                0 if !negative => (Op::Neg, vec![first]),
                1 => (Op::ToReal, vec![first]),
                2 => (store.divisible_op(Integer::from(choice + 1)), vec![first]),
                3 => (Op::IntToBv(3), vec![first]),
                4 => (Op::Construct(self.cons), vec![first, self.pick(bytes[2], |t| self.is_list(t))]),
                n => ([Op::Add, Op::Sub, Op::Mul, Op::Le][n % 4], vec![first, second, int]),
            },
            Sort::REAL => match choice % 4 {
                0 if !negative => (Op::Neg, vec![first]),
                1 => (Op::ToInt, vec![first]),
                n => ([Op::Add, Op::Lt][n % 2], vec![first, second]),
            },
            _ if store.bv_width(sort).is_some() => match choice % 4 {
                0 => (Op::Extract { hi: 1, lo: 0 }, vec![first]),
                1 => (Op::RotateLeft(choice as u32), vec![first]),
                2 => (Op::BvUlt, vec![first, second]),
                _ => (Op::BvAdd, vec![first, second]),
            },
            _ if self.is_list(first) => match choice % 3 {
                0 => {
                    (Op::Selector { constructor: self.cons, field: u32::from(choice % 2 == 0) }, vec![first])
                }
                _ => (Op::Tester(self.cons), vec![first]),
            },
            _ if store.array_parts(sort).is_some() => (Op::Select, vec![first, int]),
            _ => (Op::Eq, vec![first, second]),
        };
        self.terms.extend(store.app(op, &args));
    }

    /// Whether a quantifier in the term binds the variable.
    fn binds(&self, term: Term, variable: Term) -> bool {
        self.store.subterms(&[term]).iter().any(|&part| match self.store.view(part) {
            (Op::Forall | Op::Exists, args) => args[..args.len() - 1].contains(&variable),
            _ => false,
        })
    }

    fn is_list(&self, term: Term) -> bool {
        self.store.datatype(self.store.sort_of(term)).is_some()
    }

    /// One of the terms that qualify, rather a late one.
    fn pick(&self, byte: u8, qualifies: impl Fn(Term) -> bool) -> Term {
        let candidates: Vec<Term> = self.terms.iter().rev().copied().filter(|&t| qualifies(t)).collect();
        candidates[usize::from(byte) * usize::from(byte) * candidates.len() / (256 * 256)]
    }

    /// The last terms as one sentence without free variables; `None` if SMT-LIB cannot write or the reader
    /// would rename it.
    fn sentence(&self) -> Option<Term> {
        let last = self.terms.iter().rev().filter(|&&t| self.store.sort_of(t) == Sort::BOOL).take(6).copied();
        let all = self.store.app(Op::And, &last.collect::<Vec<_>>()).unwrap();
        let free = self.store.free_vars(&[all]);
        let rebound = !self.rebinding && free.iter().any(|&variable| self.binds(all, variable));
        if free.is_empty() || rebound {
            return None;
        }
        Some(self.store.app(Op::Forall, &[&free[..], &[all]].concat()).unwrap())
    }
}

/// Whether the terms differ in the names of bound variables at most, `bound` telling which correspond.
fn equivalent(
    store: &TermStore,
    a: Term,
    b: Term,
    bound: &mut Vec<(Term, Term)>,
    known: &mut HashSet<(Term, Term)>,
) -> bool {
    if known.contains(&(a, b)) {
        return true;
    }
    let ((op_a, args_a), (op_b, args_b)) = (store.view(a), store.view(b));
    let same = match (op_a, op_b) {
        (Op::Var(_), Op::Var(_)) => {
            let binders = bound.iter().rev();
            binders.clone().find(|(x, _)| *x == a) == binders.clone().find(|(_, y)| *y == b)
                && store.sort_of(a) == store.sort_of(b)
        }
        (Op::Forall | Op::Exists, _) if op_a == op_b && args_a.len() == args_b.len() => {
            let outside = bound.len();
            let (body_a, body_b) = (args_a[args_a.len() - 1], args_b[args_b.len() - 1]);
            bound.extend(args_a.iter().copied().zip(args_b.iter().copied()).take(args_a.len() - 1));
            let same = equivalent(store, body_a, body_b, bound, &mut HashSet::new());
            bound.truncate(outside);
            same
        }
        _ if args_a.is_empty() && args_b.is_empty() => a == b,
        _ => {
            op_a == op_b
                && args_a.len() == args_b.len()
                && args_a.iter().zip(args_b).all(|(&x, &y)| equivalent(store, x, y, bound, known))
        }
    };
    if same {
        known.insert((a, b));
    }
    same
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn printing_and_reading_are_inverse(
        steps in proptest::collection::vec(any::<[u8; 4]>(), 0..60),
        width in 1..120_usize,
        indent in 0..5_usize,
    ) {
        let store = TermStore::new();
        let mut pool = Pool::new(&store, false);
        steps.into_iter().for_each(|step| pool.grow(step));
        let Some(sentence) = pool.sentence() else { return Ok(()) };
        let plain = store.display(sentence).to_string();
        prop_assert_eq!(read(&store, &plain), sentence, "{}", plain);
        prop_assert!(!plain.contains('\n'));
        let pretty = store.display(sentence).pretty(width, indent).to_string();
        prop_assert_eq!(read(&store, &pretty), sentence, "{}", pretty);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert_eq!(words(&pretty), words(&plain));
    }

    #[test]
    fn variables_that_are_bound_again_keep_their_binders(
        steps in proptest::collection::vec(any::<[u8; 4]>(), 0..30),
    ) {
        let store = TermStore::new();
        let mut pool = Pool::new(&store, true);
        steps.into_iter().for_each(|step| pool.grow(step));
        let Some(sentence) = pool.sentence() else { return Ok(()) };
        let text = store.display(sentence).to_string();
        let back = read(&store, &text);
        prop_assert!(equivalent(&store, sentence, back, &mut Vec::new(), &mut HashSet::new()), "{}", text);
    }
}

#[test]
fn large_texts_read_back() {
    let store = TermStore::new();
    let seed = read(&store, "|let|");
    let tower = |levels: usize, step: &dyn Fn(usize, Term) -> (Op, Vec<Term>)| {
        (0..levels).fold(seed, |term, level| {
            let (op, args) = step(level, term);
            store.app(op, &args).unwrap()
        })
    };
    let quantified = |level: usize, term: Term| {
        let variable = store.var(store.symbol(&format!("x{level}")), Sort::BOOL);
        (Op::Forall, vec![variable, store.app(Op::Or, &[variable, term, variable]).unwrap()])
    };
    for term in [
        tower(1_000_000, &|_, term| (Op::Not, vec![term])),
        tower(100_000, &|_, term| (Op::And, vec![term, term])),
        tower(50_000, &quantified),
    ] {
        // Comparing without printing on failure, since the terms are large.
        assert!(read(&store, &store.display(term).to_string()) == term);
        assert!(read(&store, &store.display(term).pretty(80, 2).to_string()) == term);
    }
}
