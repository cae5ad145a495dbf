//! `get-interpolants` as users see it: all forms of groups, all options, levels and assumptions, and errors. Z3 judges
//! the answers.

use shofar_testing::scripts::members;
use shofar_testing::z3;
use std::fmt::Write as _;

/// What a script answers, line by line.
fn execute(script: &str) -> Vec<String> {
    shofar_testing::scripts::execute(script).lines().map(str::to_owned).collect()
}

/// The members of a list.
fn listed(list: &str) -> Vec<String> {
    let inner = list.strip_prefix('(').and_then(|list| list.strip_suffix(')'));
    let members = members(inner.unwrap_or_else(|| panic!("{list}")));
    members.into_iter().map(str::to_owned).collect()
}

/// Named formulas that contradict each other.
struct Problem {
    declarations: &'static str,
    formulas: &'static [(&'static str, &'static str)],
    /// The symbols that only one formula has.
    locals: &'static [&'static str],
}

impl Problem {
    fn formula(&self, name: &str) -> &str {
        self.formulas.iter().find(|(other, _)| *other == name).unwrap().1
    }

    fn script(&self, commands: &str) -> String {
        let mut script = format!("(set-option :produce-interpolants true)\n{}\n", self.declarations);
        for (name, formula) in self.formulas {
            let _ = writeln!(script, "(assert (! {formula} :named {name}))");
        }
        script + "(check-sat)\n" + commands
    }

    /// Asks for interpolants, and asks Z3 about the answer. A node is a group of names, with the position of its parent.
    fn check(&self, judge: &mut Judge, options: &str, command: &str, nodes: &[(&[&str], usize)]) {
        let answers = execute(&self.script(&format!("{options}\n{command}")));
        let [answer, list] = &answers[..] else { panic!("{command}: {answers:?}") };
        assert_eq!(answer, "unsat");
        let mut interpolants = listed(list);
        assert_eq!(interpolants.len() + 1, nodes.len(), "{options} {command}: {list}");
        interpolants.push("false".to_owned());
        for (at, (names, _)) in nodes.iter().enumerate() {
            let children =
                (0..at).filter(|&child| nodes[child].1 == at).map(|child| interpolants[child].as_str());
            let premises: Vec<&str> = names.iter().map(|name| self.formula(name)).chain(children).collect();
            judge.ask(
                &format!(
                    "{} (assert (and true {})) (assert (not {}))",
                    self.declarations,
                    premises.join(" "),
                    interpolants[at]
                ),
                format!("{options} {command}: {list}"),
            );
            for symbol in self.locals {
                let is_there = interpolants[at].split(['(', ')', ' ']).any(|token| token == *symbol);
                assert!(!is_there, "{options} {command}: {symbol} in {}", interpolants[at]);
            }
        }
    }
}

/// Collects questions, so that one process answers all.
#[derive(Default)]
struct Judge {
    script: String,
    asked: Vec<String>,
}

impl Judge {
    fn ask(&mut self, contradictory: &str, context: String) {
        let _ = writeln!(self.script, "(push 1) {contradictory} (check-sat) (pop 1)");
        self.asked.push(context);
    }

    fn settle(self) {
        let Some(verdicts) = z3::answers(&self.script) else { return };
        assert_eq!(verdicts.len(), self.asked.len(), "{verdicts:?}");
        for (verdict, context) in std::iter::zip(verdicts, self.asked) {
            assert_eq!(verdict, "unsat", "{context}");
        }
    }
}

const NUMBERS: Problem = Problem {
    declarations: "(declare-const x Int) (declare-const y Int) (declare-const z Int) (declare-const u Int)",
    formulas: &[
        ("a", "(and (<= 3 u) (<= u x))"),
        ("b", "(= y (+ x 1))"),
        ("c", "(<= z 2)"),
        ("d", "(or (< y z) (and (< y 2) (< z 9)))"),
    ],
    locals: &["u"],
};

/// Division by zero is a function of the dividend that all parts know, whether they mention it or not.
const DIVISIONS: [Problem; 4] = [
    Problem {
        declarations: "(declare-const x Int) (declare-const y Int) (declare-const z Int)",
        formulas: &[
            ("a", "(and (= x y) (= (div x 0) 1))"),
            ("b", "(= z (+ y 0))"),
            ("c", "(= (div z 0) 2)"),
            ("d", "(<= 0 z)"),
        ],
        locals: &["x"],
    },
    Problem {
        declarations: "(declare-const x Int) (declare-const y Int) (declare-const z Int)",
        formulas: &[
            ("a", "(distinct (mod x 0) (mod y 0))"),
            ("b", "(<= x z)"),
            ("c", "(<= z y)"),
            ("d", "(<= y x)"),
        ],
        locals: &[],
    },
    Problem {
        declarations: "(declare-const x Real) (declare-const y Real) (declare-const z Real)",
        formulas: &[
            ("a", "(< (/ (+ x 1.0) 0.0) 3.0)"),
            ("b", "(= x (+ y 2.0))"),
            ("c", "(= z (* 2.0 (+ y 3.0)))"),
            ("d", "(> (/ (/ z 2.0) 0.0) 4.0)"),
        ],
        locals: &[],
    },
    Problem {
        declarations: "(declare-const x Int) (declare-const y Int) (declare-fun f (Int) Int) (declare-fun g (Int) Int)",
        formulas: &[
            ("a", "(and (= (f (div x 0)) 1) (= (g x) 5))"),
            ("b", "(= x y)"),
            ("c", "(= (f (div y 0)) 2)"),
            ("d", "(> y 0)"),
        ],
        locals: &["g"],
    },
];

fn problems() -> impl Iterator<Item = &'static Problem> {
    [&NUMBERS].into_iter().chain(&DIVISIONS)
}

const SEQUENCE: [(&[&str], usize); 3] = [(&["a"], 1), (&["b"], 2), (&["c", "d"], 3)];
const TREE: [(&[&str], usize); 4] = [(&["a"], 1), (&["b"], 3), (&["c"], 3), (&["d"], 4)];

#[test]
fn every_form_of_groups_has_its_interpolants() {
    let mut judge = Judge::default();
    for problem in problems() {
        problem.check(
            &mut judge,
            "",
            "(get-interpolants a (and b c d))",
            &[(&["a"], 1), (&["b", "c", "d"], 2)],
        );
        problem.check(
            &mut judge,
            "",
            "(get-interpolants (and a c) (and b d))",
            &[(&["a", "c"], 1), (&["b", "d"], 2)],
        );
        problem.check(&mut judge, "", "(get-interpolants a b (and c d))", &SEQUENCE);
        problem.check(
            &mut judge,
            "",
            "(get-interpolants a b c d)",
            &[(&["a"], 1), (&["b"], 2), (&["c"], 3), (&["d"], 4)],
        );
        problem.check(&mut judge, "", "(get-interpolants a b (c) d)", &TREE);
        problem.check(&mut judge, "", "(get-interpolants (a b) (c) d)", &TREE);
        // What is in no group belongs to the last.
        problem.check(
            &mut judge,
            "",
            "(get-interpolants a b c)",
            &[(&["a"], 1), (&["b"], 2), (&["c", "d"], 3)],
        );
    }
    judge.settle();
}

#[test]
fn every_option_gives_interpolants() {
    let mut judge = Judge::default();
    for problem in problems() {
        for labelling in ["mcmillan", "pudlak", "dual-mcmillan"] {
            for arithmetic in ["farkas", "dual", "decomposed", "dual-decomposed", "flexible"] {
                let options = format!(
                    "(set-option :interpolation-bool {labelling}) (set-option :interpolation-lra {arithmetic})"
                );
                problem.check(&mut judge, &options, "(get-interpolants a b (and c d))", &SEQUENCE);
                if labelling != "dual-mcmillan" && matches!(arithmetic, "farkas" | "decomposed") {
                    problem.check(&mut judge, &options, "(get-interpolants (a b) (c) d)", &TREE);
                }
            }
        }
        for strength in ["0", "1", "0.25", "0.999"] {
            let options = format!(
                "(set-option :interpolation-strength {strength}) (set-option :interpolation-lra flexible)"
            );
            problem.check(&mut judge, &options, "(get-interpolants a b (and c d))", &SEQUENCE);
        }
    }
    judge.settle();
}

#[test]
fn levels_and_assumptions() {
    let answers = execute(
        "(set-option :produce-interpolants true) (set-option :produce-unsat-cores true)
         (declare-const x Int) (declare-const y Int)
         (assert (! (<= x y) :named a))
         (push 1)
         (assert (! (<= y 0) :named b)) (assert (! (<= 1 x) :named c))
         (check-sat) (get-interpolants (and a b) c)
         (pop 1)
         (get-interpolants a b)
         (check-sat)
         (push 1)
         (assert (! (<= y 5) :named b))
         (check-sat-assuming ((<= 6 x))) (get-interpolants a b) (get-interpolants b a)
         (pop 1)
         (check-sat-assuming ((<= 6 x) (<= y 5))) (get-interpolants a c)",
    );
    let [first, of_first, popped, open, second, ab, ba, third, unknown_name] = &answers[..] else {
        panic!("{answers:#?}")
    };
    assert_eq!([first, second, third], ["unsat"; 3]);
    assert_eq!(open, "sat");
    assert_eq!(of_first, "((<= x 0))");
    assert!(popped.starts_with("(error"), "{popped}");
    // Assumptions count as in the last group.
    assert_eq!([ab.as_str(), ba.as_str()], ["((<= (+ x (* (- 1) y)) 0))", "((<= y 5))"]);
    assert_eq!(unknown_name, "(error \"no assertion has the name `c`\")");
}

#[test]
fn mistakes_are_told() {
    let told = |command: &str| {
        let answers = execute(&NUMBERS.script(command));
        answers.last().unwrap().clone()
    };
    for (command, expected) in [
        ("(get-interpolants)", "(error \"a tree needs a group at its root\")"),
        ("(get-interpolants a)", "(error \"two groups at least are needed\")"),
        ("(get-interpolants a nobody)", "(error \"no assertion has the name `nobody`\")"),
        ("(get-interpolants a b a)", "(error \"`a` is listed twice\")"),
        ("(get-interpolants (and a a) b)", "(error \"`a` is listed twice\")"),
        ("(get-interpolants (and) b)", "(error \"a group `(and ...)` lists names of assertions\")"),
        ("(get-interpolants (and a 5) b)", "(error \"a group `(and ...)` lists names of assertions\")"),
        (
            "(get-interpolants (and a (or b c)) d)",
            "(error \"a group `(and ...)` lists names of assertions\")",
        ),
        ("(get-interpolants a (b c))", "(error \"a tree needs a group at its root\")"),
        ("(get-interpolants a 7)", "(error \"a name, a group `(and ...)` or a subtree is expected\")"),
        (
            "(set-option :interpolation-bool best)",
            "(error \"`:interpolation-bool` is mcmillan, pudlak or dual-mcmillan\")",
        ),
        (
            "(set-option :interpolation-lra)",
            "(error \"`:interpolation-lra` is farkas, dual, decomposed, dual-decomposed or flexible\")",
        ),
        (
            "(set-option :interpolation-strength 2)",
            "(error \"`:interpolation-strength` is a number between 0 and 1\")",
        ),
        (
            "(assert true) (get-interpolants a b)",
            "(error \"interpolants are there after the answer unsat only\")",
        ),
    ] {
        assert_eq!(told(command), expected, "{command}");
    }
    let no_tree =
        "(error \"tree interpolants need the labelling of McMillan or Pudlak and Farkas sums of A\")";
    for option in
        [":interpolation-bool dual-mcmillan", ":interpolation-lra dual", ":interpolation-lra flexible"]
    {
        assert_eq!(told(&format!("(set-option {option}) (get-interpolants (a b) (c) d)")), no_tree);
    }
    let answers = execute(
        "(set-option :produce-interpolants true) (assert (! true :named a)) (assert (! true :named b))
         (get-interpolants a b) (check-sat) (get-interpolants a b)",
    );
    let after_unsat = "(error \"interpolants are there after the answer unsat only\")";
    assert_eq!(answers, [after_unsat, "sat", after_unsat]);
    let answers = execute("(assert (! false :named a)) (check-sat) (get-interpolants a a)");
    assert_eq!(answers, ["unsat", "(error \"interpolants need the option :produce-interpolants\")"]);
    let answers = execute("(assert false) (set-option :produce-interpolants true)");
    assert!(answers[0].starts_with("(error"), "{answers:?}");
}
