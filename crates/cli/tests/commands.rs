//! Commands as users see them: output, messages and exit status.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use program::{EXAMPLES, example, feed, program, shofar, spawn, text};

mod program;

fn stdout(output: &Output) -> &str {
    text(&output.stdout)
}

fn stderr(output: &Output) -> &str {
    text(&output.stderr)
}

/// The clause systems among the examples.
fn examples() -> Vec<PathBuf> {
    let files = std::fs::read_dir(EXAMPLES).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.is_file()).collect()
}

#[test]
fn info_for_people() {
    let output = shofar(&["info", &example("counter")], b"");
    assert!(output.status.success());
    assert_eq!(
        stdout(&output),
        "predicates  1, 1 of them recursive in 1 loop\n            loop (Int Int Int)  recursive\n\
         clauses     3: 1 fact, 1 rule, 1 query\n\
         largest     the one in line 10: 3 variables, 0 atoms in the body, 7 terms\n\
         theories    integers\nshape       linear, a transition system\ntrack       LIA-Lin\n"
    );
}

#[test]
fn info_for_programs() {
    let output = shofar(&["info", "--json", "-"], std::fs::read(example("counter")).unwrap());
    assert!(output.status.success());
    let info: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(info["track"], "LIA-Lin");
    assert_eq!(info["transition_system"], true);
    assert_eq!(info["predicates"][0]["sorts"], serde_json::json!(["Int", "Int", "Int"]));
    assert_eq!(info["theories"]["integers"], true);
    assert_eq!(info["theories"]["arrays"], false);
}

#[test]
fn a_mistake_has_its_place_and_exit_status_2() {
    let output = shofar(&["info", "-"], b"(declare-fun P (Int) Bool)\n(assert (P true))");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stdout(&output), "");
    assert_eq!(
        stderr(&output),
        "<stdin>:2:12: argument 1 of P has sort Bool, expected Int\n  |\n2 | (assert (P true))\n  |            ^^^^\n"
    );
}

#[test]
fn a_missing_file_and_a_wrong_option() {
    let output = shofar(&["convert", "no/such/file.smt2"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("shofar: cannot read no/such/file.smt2: "));
    assert_eq!(shofar(&["convert", &example("counter"), "--to", "latin"], b"").status.code(), Some(2));
}

#[test]
fn conversion_is_the_identity_on_its_own_output() {
    for file in examples() {
        let once = shofar(&["convert", file.to_str().unwrap(), "--to", "smtlib"], b"");
        assert!(once.status.success(), "{}", stderr(&once));
        let twice = shofar(&["convert", "-"], &once.stdout);
        assert_eq!(stdout(&twice), stdout(&once));
    }
}

#[test]
fn transformed_clauses_can_be_read_again() {
    for file in examples() {
        for passes in ["standard", "chains,inline,single-loop"] {
            let output = shofar(&["transform", file.to_str().unwrap(), "--passes", passes], b"");
            assert!(output.status.success(), "{}", stderr(&output));
            let again = shofar(&["convert", "-"], &output.stdout);
            assert_eq!(stdout(&again), stdout(&output));
        }
    }
    let output = shofar(&["transform", &example("counter"), "--passes", "merge,magic"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no transformation `magic`: there are diseq, "));
    let output = shofar(&["transform", &example("counter"), "--stats"], b"");
    assert!(stderr(&output).starts_with("pass "));
}

#[test]
fn the_graph_shows_predicates_and_hyperedges() {
    let output = shofar(&["convert", &format!("{EXAMPLES}/mccarthy91.smt2"), "--to", "dot"], b"");
    let graph = stdout(&output);
    assert!(graph.starts_with("digraph clauses {") && graph.ends_with("}\n"));
    for line in [
        "p0 [label=\"m(Int, Int)\"];",
        "start -> p0 [label=\"(m n (- n 10))\\l(> n 100)\\l\"];",
        "p0 -> c1 [arrowhead=none, label=\"2\"];",
        "c1 -> p0 [label=\"(m n s) :-\\l(m (+ n 11) r)\\l(m r s)\\l(<= n 100)\\l\"];",
    ] {
        assert!(graph.lines().any(|found| found.trim() == line), "{line} is not in {graph}");
    }
}

#[test]
fn automata_run_in_the_direction_that_is_asked_for() {
    let convert = |name: &str, options: &[&str]| {
        shofar(&[&["convert", &example(name), "--to", "cfa", "--notation", "ascii"], options].concat(), b"")
    };
    let loops = "  loop(x: Int)
    to loop
      assume x <= 15
      x := x + 3
    to error
      assume x >= 17
  error
";
    assert!(stdout(&convert("overshoot", &[])).ends_with(loops));
    assert_eq!(convert("overshoot", &[]).stdout, convert("overshoot", &["--direction", "forward"]).stdout);
    let backward = convert("overshoot", &["--direction", "backward"]);
    let loops = "    to error
      assume x = 0
    to loop
      assume x <= 18
      x := x - 3
  error
";
    assert!(stdout(&backward).ends_with(loops), "{}", stdout(&backward));
    let calls = convert("overshoot", &["--direction", "procedures"]);
    assert!(stdout(&calls).contains("      call loop(x - 3)\n"), "{}", stdout(&calls));
    assert_eq!(
        convert("mccarthy91", &[]).stdout,
        convert("mccarthy91", &["--direction", "procedures"]).stdout,
        "clauses that are not linear need procedures"
    );
    for direction in ["forward", "backward"] {
        let refused = convert("mccarthy91", &["--direction", direction]);
        assert_eq!((refused.status.code(), stdout(&refused)), (Some(2), ""));
        let message = stderr(&refused);
        assert!(
            message.contains("mccarthy91.smt2: clause 2 at 9:2 has 2 predicates in its body"),
            "{message}"
        );
        assert!(message.ends_with("pass `--direction procedures`\n"), "{message}");
    }
    let drawing = shofar(&["convert", &example("mccarthy91"), "--to", "cfa-dot"], b"");
    assert!(stdout(&drawing).starts_with("digraph automaton {") && stdout(&drawing).ends_with("}\n"));
    for option in [["--direction", "forward"], ["--notation", "math"]] {
        let useless = shofar(&[&["convert", &example("counter")][..], &option].concat(), b"");
        assert_eq!(useless.status.code(), Some(2));
        assert!(stderr(&useless).contains("add `--to cfa`"), "{}", stderr(&useless));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_shofar"))
        .args(["convert", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let clauses = "(assert (P 1))".repeat(100_000);
    child.stdin.take().unwrap().write_all(format!("(declare-fun P (Int) Bool){clauses}").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
}

/// Z3 reads what is written in both formats, and answers as the example says.
#[test]
fn z3_agrees_on_converted_examples() {
    if Command::new("z3").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: z3 is not installed (pip install z3-solver)");
        return;
    }
    for (example, answer) in
        [("counter", "sat"), ("overshoot", "unsat"), ("mccarthy91", "sat"), ("barrier", "sat")]
    {
        let file = format!("{EXAMPLES}/{example}.smt2");
        for (format, swapped) in [("smtlib", false), ("datalog", true)] {
            let converted = shofar(&["convert", &file, "--to", format], b"");
            let mut input = tempfile::Builder::new().suffix(".smt2").tempfile().unwrap();
            input.write_all(&converted.stdout).unwrap();
            let z3 = Command::new("z3").arg("-T:60").arg(input.path()).output().unwrap();
            // A query that can be derived is `sat` to Z3.
            let expected = match (answer, swapped) {
                ("sat", false) | ("unsat", true) => "sat",
                _ => "unsat",
            };
            assert_eq!(stdout(&z3).lines().next(), Some(expected), "{example} as {format}: {}", stdout(&z3));
        }
    }
}

#[test]
fn a_script_is_answered_command_by_command() {
    let script = b"(set-logic QF_LIRA)(set-option :produce-unsat-cores true)
        (declare-const x Int)(declare-const |y z| Real)(define-fun twice ((n Int)) Int (* 2 n))
        (assert (! (> (twice x) 7) :named big))(assert (! (< |y z| (to_real x)) :named below))
        (check-sat)(get-value (x (+ x 1)))
        (push 1)(declare-const b Bool)(assert (! (< x 3) :named small))(check-sat)(get-unsat-core)(pop 1)
        (check-sat-assuming ((= (mod x 5) 2) (< x 6)))(get-unsat-assumptions)
        (check-sat-assuming ((= x 4) (= |y z| 3.5)))(get-model)
        (assert (b 1))(assert (> x \"a\"))(foo)(pop 3)
        (assert (= (* x x) 2))(check-sat)(get-info :reason-unknown)
        (echo \"say \"\"x\"\"\")(get-info :name)(reset)(assert x)(exit)(check-sat)";
    let output = shofar(&["smt"], script);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "sat\n((x 4)\n ((+ x 1) 5))\nunsat\n(big small)\nunsat\n((= (mod x 5) 2) (< x 6))\nsat\n(\n  \
         (define-fun x () Int 4)\n  (define-fun |y z| () Real (/ 7.0 2.0))\n)\n\
         (error \"undeclared symbol `b`\")\n(error \"expected a term, found a string\")\n\
         (error \"unknown command `foo`\")\n(error \"cannot pop 3 of 0 levels\")\nunknown\n\
         (:reason-unknown \"a command failed: unknown command `foo`\")\n\
         \"say \"\"x\"\"\"\n(:name \"Shofar\")\n(error \"undeclared symbol `x`\")\n"
    );
}

#[test]
fn an_answer_comes_before_the_next_command_is_there() {
    use std::io::{BufRead, BufReader};
    let mut child = Command::new(env!("CARGO_BIN_EXE_shofar"))
        .args(["smt", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (command, answer) in [
        ("(declare-const x Real) (assert (< x 0.0)) (check-sat)", "sat"),
        ("(check-sat-assuming\n  ((>= x 1.0)))", "unsat"),
        ("stray", "(error \"expected a command, found `stray`\")"),
        ("(get-info :error-behavior)", "(:error-behavior continued-execution)"),
    ] {
        writeln!(stdin, "{command}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), answer);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn numbers_that_nobody_can_compute_are_refused() {
    let mut script = String::from("(declare-const x Int)(assert (let ((a0 9999)) ");
    for level in 1..80 {
        script.push_str(&format!("(let ((a{level} (* a{0} a{0}))) ", level - 1));
    }
    script.push_str(&format!("(< x a79){})(check-sat)", ")".repeat(80)));
    let output = shofar(&["smt"], script.as_bytes());
    assert_eq!(
        stdout(&output),
        "(error \"the numbers in this term are too large to compute with\")\nunknown\n"
    );
}

#[test]
fn limits_and_statistics_of_scripts() {
    let script = b"(set-option :produce-unsat-cores true)(set-option :minimal-unsat-cores true)
        (declare-const x Int)(declare-const p Bool)(declare-const q Bool)
        (assert (! (or p (> x 3)) :named a))(assert (! (or (not p) (> x 3)) :named b))
        (assert (! (or q (> x 5)) :named c))(assert (! (< x 2) :named d))
        (check-sat)(get-unsat-core)(get-info :reason-unknown)(get-info :all-statistics)";
    let output = shofar(&["smt", "--stats"], script);
    let answers = stdout(&output);
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers[..3], ["unsat", "(a b d)", "(error \"the last answer was not unknown\")"]);
    assert!(
        answers[3].starts_with("(:queries ") && answers[3].contains(" :simplex-pivots "),
        "{}",
        answers[3]
    );
    let statistics = stderr(&output);
    assert!(statistics.lines().any(|line| line.starts_with("theory-checks ")), "{statistics}");
    for (limit, reason) in [(["-m", "1"], "memout"), (["-t", "0"], "timeout")] {
        let output = shofar(&["smt", limit[0], limit[1]], script);
        let reason = format!("(:reason-unknown \"{reason}\")");
        assert_eq!(stdout(&output).lines().next(), Some("unknown"));
        assert_eq!(stdout(&output).lines().nth(2), Some(&*reason));
    }
}

#[test]
fn a_million_levels_in_a_script() {
    let script = format!(
        "(declare-const p Bool)(declare-const q Bool)(assert {}p{})(check-sat)(get-value (p))",
        "(and (or p q) (not (not ".repeat(300_000),
        ")))".repeat(300_000)
    );
    let output = shofar(&["smt", "-"], script.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "sat\n((p true))\n");
}

#[test]
fn check_confirms_witnesses_and_explains_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let overshoot = format!("{EXAMPLES}/overshoot.smt2");
    for format in ["text", "json"] {
        let solved = shofar(&[&overshoot, "--witness-format", format], b"");
        let witness = stdout(&solved).strip_prefix("unsat\n").unwrap();
        let checked = shofar(&["check", &overshoot, &save("right", witness.as_bytes())], b"");
        assert_eq!((stdout(&checked), checked.status.code()), ("valid\n", Some(0)), "{}", stderr(&checked));
        let wrong = witness.replacen("18", "17", 1);
        let checked = shofar(&["check", &overshoot, &save("wrong", wrong.as_bytes())], b"");
        assert_eq!((stdout(&checked), checked.status.code()), ("invalid\n", Some(1)));
        assert!(stderr(&checked).contains("wrong: step 7: the fact is not what the head says"));
    }
    let model = b"sat\n((define-fun loop ((x Int) (y Int) (n Int)) Bool (= x y)))";
    let checked = shofar(&["check", &example("counter"), "-"], model);
    assert_eq!((stdout(&checked), checked.status.code()), ("valid\n", Some(0)), "{}", stderr(&checked));
    let checked = shofar(
        &["check", &example("counter"), "-"],
        b"(define-fun loop ((x Int) (y Int) (n Int)) Bool (<= x y))",
    );
    assert_eq!((stdout(&checked), checked.status.code()), ("invalid\n", Some(1)));
    let message = stderr(&checked);
    assert!(message.starts_with("<stdin>: the model violates clause 3 at 14:2\n  x = "), "{message}");
    assert!(message.contains("counter.smt2:14:2:\n(assert\n"), "{message}");
    let checked = shofar(&["check", &example("counter"), "-"], b"sat\n");
    assert_eq!((stdout(&checked), checked.status.code()), ("", Some(2)));
    assert_eq!(stderr(&checked), "<stdin>:2:1: the model does not define loop\n");
    let arrays = b"(define-fun loop ((x Int) (y Int) (n Int)) Bool
                     (forall ((a (Array Int Int))) (or (= x y) (> (select a x) 0))))";
    let checked = shofar(&["check", &example("counter"), "-"], arrays);
    assert_eq!((stdout(&checked), checked.status.code()), ("unknown\n", Some(1)), "{}", stderr(&checked));
}

/// A script with three questions, of which the second one has another answer.
const QUESTIONS: &[u8] = b"(set-logic HORN)(declare-fun P (Int) Bool)(assert (P 0))(check-sat)\n\
    (push)(assert (forall ((x Int)) (=> (P x) (> x 3))))(check-sat)(pop)\n\
    (assert (forall ((x Int)) (=> (P x) (P (+ x 2)))))(assert (not (P 7)))(check-sat)\n";

#[test]
fn every_question_of_a_script_is_answered() {
    let output = shofar(&["-"], QUESTIONS);
    assert_eq!((stdout(&output), stderr(&output)), ("sat\nunsat\nsat\n", ""));
    assert!(output.status.success());
    let output = shofar(&["-", "--witness", "--query", "2"], QUESTIONS);
    assert!(stdout(&output).starts_with("unsat\n"), "{}", stdout(&output));
    let output = shofar(&["-", "--witness"], QUESTIONS);
    assert_eq!(stdout(&output).matches("(define-fun P ").count(), 2);
    let output = shofar(&["-", "--json"], QUESTIONS);
    let answers = stdout(&output).lines().filter_map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        (event["event"] == "answer").then(|| (event["query"].clone(), event["answer"].clone()))
    });
    assert_eq!(
        answers.collect::<Vec<_>>(),
        [(1.into(), "sat".into()), (2.into(), "unsat".into()), (3.into(), "sat".into())]
    );
}

/// The clauses come late, so that the first question takes longer than the others.
#[test]
fn statistics_are_those_of_each_question() {
    let late = |options: &[&str]| {
        let child = spawn(program().arg("-").args(options));
        thread::sleep(Duration::from_secs(1));
        feed(child, QUESTIONS)
    };
    let assert_times = |times: &[f64]| {
        assert!(times.len() == 3 && times[0] > 0.9, "{times:?}");
        assert!(times[1] < times[0] && times[2] < times[0], "{times:?}");
    };
    let output = late(&["--stats"]);
    let rows = |name: &str| {
        let row = |line: &str| line.strip_prefix(name).map(|value| value.trim().to_owned());
        stderr(&output).lines().filter_map(row).collect::<Vec<String>>()
    };
    assert_eq!(rows("query "), ["1", "2", "3"]);
    assert_eq!(rows("  time.graph ").len(), 3);
    let seconds = |time: &String| time.strip_suffix(" s").unwrap().parse().unwrap();
    assert_times(&rows("time ").iter().map(seconds).collect::<Vec<f64>>());
    let events = late(&["--json"]);
    let seconds = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        (event["event"] == "answer").then(|| event["seconds"].as_f64().unwrap())
    };
    assert_times(&stdout(&events).lines().filter_map(seconds).collect::<Vec<f64>>());
}

#[test]
fn commands_about_one_system_want_to_know_which_question_is_meant() {
    for command in
        [&["info", "-"][..], &["convert", "-"], &["transform", "-"], &["check", "-", &example("counter")]]
    {
        let output = shofar(command, QUESTIONS);
        assert_eq!(output.status.code(), Some(2));
        let question = "<stdin>:2:54: the script asks 3 questions, of which this is the second\n";
        let hint = "= help: choose one by its number, as in `--query 1`\n";
        let told = stderr(&output);
        assert!(told.starts_with(question) && told.ends_with(hint), "{told}");
    }
    let output = shofar(&["convert", "-", "--query", "2"], QUESTIONS);
    assert_eq!(stdout(&output).matches("(assert").count(), 2);
    let output = shofar(&["info", "-", "--query", "4"], QUESTIONS);
    assert!(stderr(&output).contains("there is no question 4: the script asks 3 questions"));
    let output = shofar(&["-", "--html", "/dev/null"], QUESTIONS);
    assert!(stderr(&output).contains("choose it with --query"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_model_with_recursive_functions_is_checked_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let clauses = folder.path().join("even.smt2");
    let text = "(declare-datatypes ((nat 0)) (((zero) (succ (pred nat)))))
        (declare-fun even (nat) Bool)
        (assert (even zero))
        (assert (forall ((x nat)) (=> (even x) (even (succ (succ x))))))
        (assert (forall ((x nat)) (=> (and (even x) (even (succ x))) false)))";
    std::fs::write(&clauses, text).unwrap();
    let clauses = clauses.to_str().unwrap();
    let model = "(define-fun-rec st ((n nat)) Int (match n ((zero 0) ((succ m) (ite (= (st m) 0) 1 0)))))
        (define-fun even ((n nat)) Bool (= (st n) 0))";
    let checked = shofar(&["check", clauses, "-"], model.as_bytes());
    assert_eq!((stdout(&checked), checked.status.code()), ("valid\n", Some(0)), "{}", stderr(&checked));
    let exported = shofar(&["check", clauses, "-", "--export"], model.as_bytes());
    assert_eq!(exported.status.code(), Some(0), "{}", stderr(&exported));
    let script = stdout(&exported);
    assert!(
        script.contains("(define-fun-rec st ((x nat)) Int") && script.contains("(check-sat)"),
        "{script}"
    );
    let wrong = model.replace("(= (st n) 0))", "(= (st n) 1))");
    let checked = shofar(&["check", clauses, "-"], wrong.as_bytes());
    assert_eq!((stdout(&checked), checked.status.code()), ("invalid\n", Some(1)));
    assert!(stderr(&checked).starts_with("<stdin>: the model violates clause 1"), "{}", stderr(&checked));
    let endless = model.replace("(st m) 0)", "(st n) 0)");
    let refused = shofar(&["check", clauses, "-"], endless.as_bytes());
    assert_eq!((stdout(&refused), refused.status.code()), ("", Some(2)));
    assert!(
        stderr(&refused).starts_with("<stdin>:1:17: the recursion of `st` is not structural"),
        "{}",
        stderr(&refused)
    );
    let refutation = shofar(&["check", &example("overshoot"), "-", "--export"], b"unsat\n");
    assert_eq!((stdout(&refutation), refutation.status.code()), ("", Some(2)));
}
