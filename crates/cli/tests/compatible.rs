//! Calls by programs that expect Eldarica or Z3.

use std::path::PathBuf;
use std::process::Command;

use program::{example, feed, shofar, spawn, text};
use tempfile::TempDir;

mod program;

/// The program by the name of another solver.
struct Named {
    _folder: TempDir,
    path: PathBuf,
}

impl Named {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::hard_link(env!("CARGO_BIN_EXE_shofar"), &path)
            .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_shofar"), &path).map(|_| ()))
            .unwrap();
        Named { _folder: folder, path }
    }

    /// Standard output and standard error of a call with this input.
    fn run(&self, arguments: &str, input: &str) -> (String, String) {
        let output = feed(spawn(Command::new(&self.path).args(arguments.split_whitespace())), input);
        (text(&output.stdout).to_owned(), text(&output.stderr).to_owned())
    }
}

fn clauses(name: &str) -> String {
    std::fs::read_to_string(example(name)).unwrap()
}

/// The command line that the Solidity compiler writes for Eldarica.
#[test]
fn eld_prints_models_and_nothing_below_unsat() {
    let eld = Named::new("eld");
    let (out, errors) = eld.run("-hsmt -in -t:30 -ssol", &clauses("counter"));
    assert!(out.starts_with("sat\n(\n  (define-fun loop "), "{out}");
    assert_eq!(errors, "");
    assert_eq!(eld.run("-hsmt -in -t:30 -ssol", &clauses("overshoot")).0, "unsat\n");
    assert_eq!(eld.run("-horn -t:30 -in", &clauses("counter")).0, "sat\n");
    let (out, errors) = eld.run(&format!("-scex -abstract:off {}", example("overshoot")), "");
    assert!(out.starts_with("unsat\n(step 1 "), "{out}");
    assert_eq!(errors, "shofar: options of Eldarica without a meaning here: -abstract:off\n");
}

/// The command lines that the Solidity compiler and its JavaScript wrapper write for Z3.
#[test]
fn z3_answers_clauses() {
    let z3 = Named::new("z3");
    let line = "-in -smt2 -model -t:30000 rewriter.pull_cheap_ite=true fp.spacer.mbqi=false";
    let (out, errors) = z3.run(line, &clauses("counter"));
    assert!(out.starts_with("sat\n(\n  (define-fun loop "), "{out}");
    assert_eq!(
        errors,
        "shofar: options of Z3 without a meaning here: rewriter.pull_cheap_ite=true fp.spacer.mbqi=false\n"
    );
    let asks = format!("(set-option :produce-proofs true)\n{}\n(get-proof)\n", clauses("overshoot"));
    let (out, _) = z3.run("-in -smt2 -t:30000", &asks);
    assert!(
        out.starts_with("unsat\n((set-logic HORN)\n(declare-fun query!0 () Bool)\n(proof\n(mp "),
        "{out}"
    );
    assert!(out.contains("((_ hyper-res 0 0) (asserted clause!1) (loop 0)) (loop 3))"), "{out}");
    assert_eq!(out.matches('(').count(), out.matches(')').count());
    let line = format!("-smt2 rlimit=20000000 {}", example("counter"));
    assert_eq!(z3.run(&line, "").0, "sat\n");
    let asks = format!("{}\n(get-model)", clauses("counter"));
    assert!(z3.run("-in", &asks).0.contains("define-fun loop"));
}

#[test]
fn z3_executes_other_scripts() {
    let script = "(set-option :produce-models true)\n(declare-fun |x y| () Int)\n(assert (> |x y| 3))\n\
                  (assert (< |x y| 5))\n(check-sat)\n(get-value (|x y|))\n";
    let (out, errors) = Named::new("z3").run("-in -smt2 -t:30000", script);
    assert_eq!((&*out, &*errors), ("sat\n((|x y| 4))\n", ""));
}

/// Z3 says `sat` of a query that can be derived.
#[test]
fn z3_does_not_answer_in_the_opposite_sense() {
    let script = "(declare-rel P (Int))\n(rule (P 1))\n(query (P 1))";
    let (out, _) = Named::new("z3").run("-in", script);
    assert!(out.starts_with("(error \"shofar: in the fixedpoint format"), "{out}");
    assert_eq!(text(&shofar(&["-in"], script).stdout), "unsat\n");
}

#[test]
fn mistakes_are_answers() {
    let (out, errors) = Named::new("eld").run("-in", "(assert (= \"a\" 1))");
    assert!(out.starts_with("(error \"<stdin>:1:"), "{out}");
    assert!(errors.starts_with("<stdin>:1:"), "{errors}");
    assert!(
        Named::new("eld").run("-hin -in", "p(1).").0.starts_with("(error \"shofar: `-hin` asks"),
        "{out}"
    );
    assert_eq!(text(&shofar(&["-in", "-t:1"], "(assert (= \"a\" 1))").stdout), "");
}

#[test]
fn limits_and_standard_input_by_other_names() {
    let output = shofar(&["-in", "-horn", "-t:30", "-sol"], clauses("counter"));
    assert!(text(&output.stdout).starts_with("sat\n(\n  (define-fun loop"));
    assert_eq!(text(&output.stderr), "");
    let script = format!("(set-option :timeout 1)\n{}", clauses("mccarthy91"));
    assert_eq!(Named::new("z3").run("-in", &script).0, "unknown\n");
    assert_eq!(text(&shofar(&["-"], script).stdout), "sat\n");
}
