//! The runner for Solidity contracts with the real compiler. Skipped if there is no Node.js, or the compiler cannot be
//! installed.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use program::{EXAMPLES, text};
use serde_json::Value as Json;

mod program;

const SHOFAR: &str = env!("CARGO_BIN_EXE_shofar");

/// The folder with the runner and the compiler; `None` if they cannot be had.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn runner() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("solidity");
        fs::create_dir_all(&folder).unwrap();
        for entry in fs::read_dir(format!("{EXAMPLES}/solidity")).unwrap() {
            let file = entry.unwrap().path();
            if file.is_file() {
                fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
            }
        }
        let compiles = || {
            let mut node = Command::new("node");
            let run = node.args(["-e", "require('solc').version()"]).current_dir(&folder).output();
            run.is_ok_and(|output| output.status.success())
        };
        let install = || {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock"])
                .current_dir(&folder)
                .output()
        };
        (compiles() || (install().is_ok() && compiles())).then_some(folder)
    });
    if made.is_none() {
        eprintln!("skipped: node and the package solc are not to be had");
    }
    made.as_deref()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("node").arg(folder.join("check.js")).args(arguments).env("SHOFAR", SHOFAR).output().unwrap()
}

/// Runs the program on these sources, with `--json`.
fn checked(folder: &Path, arguments: &[&str], files: &[PathBuf]) -> Json {
    let base = format!("{EXAMPLES}/solidity/contracts");
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let output = run(folder, &[&["--json", "--base", &base], arguments, &files[..]].concat());
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What is true of a contract, as the comments at its head say: status, and kind with text. Behind `open` stands what may be
/// undecided.
fn told_at_head(source: &str, word: &str) -> BTreeSet<(String, String)> {
    let lines = source.lines().filter_map(|line| line.strip_prefix("// ")?.strip_prefix(word));
    let split = |line: &str| {
        let (status, what) = line.trim().split_once(' ').unwrap();
        (status.to_owned(), what.trim().to_owned())
    };
    lines.map(split).collect()
}

fn found(report: &Json, file: &str) -> BTreeSet<(String, String)> {
    let findings = report["findings"].as_array().unwrap().iter().filter(|finding| finding["file"] == file);
    let word = |finding: &Json, field: &str| finding[field].as_str().unwrap().to_owned();
    findings
        .map(|finding| {
            (word(finding, "status"), format!("{}: {}", word(finding, "kind"), word(finding, "text")))
        })
        .collect()
}

/// The contracts with their sources, in order.
fn contracts() -> Vec<(PathBuf, String)> {
    let folder = format!("{EXAMPLES}/solidity/contracts");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: PathBuf| {
        let source = fs::read_to_string(&file).unwrap();
        (file, source)
    };
    files.into_iter().map(read).collect()
}

fn targets(source: &str) -> Option<&str> {
    source.lines().find_map(|line| line.strip_prefix("// targets: "))
}

#[test]
fn contracts_have_the_expected_findings() {
    let contracts = contracts();
    assert!(contracts.len() >= 10);
    let Some(folder) = runner() else { return };
    let groups: BTreeSet<Option<&str>> = contracts.iter().map(|(_, source)| targets(source)).collect();
    for group in groups {
        let here: Vec<_> = contracts.iter().filter(|(_, source)| targets(source) == group).collect();
        let files: Vec<PathBuf> = here.iter().map(|(file, _)| file.clone()).collect();
        let arguments = group.map_or(vec![], |names| vec!["--targets", names]);
        let report = checked(folder, &[&["-t", "8"], &arguments[..]].concat(), &files);
        assert_eq!(report["errors"], Json::Array(vec![]));
        for (file, source) in here {
            let name = file.file_name().unwrap().to_str().unwrap();
            let (expected, open) = (told_at_head(source, "expect:"), told_at_head(source, "open:"));
            let mut found = found(&report, name);
            for (status, what) in open {
                let undecided = found.remove(&("undecided".to_owned(), what.clone()));
                assert!(found.remove(&(status, what.clone())) != undecided, "{name}: {what}");
            }
            assert_eq!(found, expected, "{name}");
        }
        for finding in report["findings"].as_array().unwrap() {
            // Each violation comes with the calls that lead to it, from the constructor on.
            let calls = finding["calls"].as_array();
            assert_eq!(finding["status"] == "violated", calls.is_some(), "{finding}");
            if let Some(calls) = calls {
                assert_eq!(calls[0]["function"], "constructor", "{finding}");
                assert!(calls.len() >= 2, "{finding}");
            }
        }
    }
}

/// A source of one contract in a file of its own.
fn written(body: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".sol").tempfile().unwrap();
    fs::write(file.path(), format!("// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\n{body}"))
        .unwrap();
    file
}

/// Exit status and standard output for a contract.
fn told(folder: &Path, body: &str, arguments: &[&str]) -> (i32, String) {
    let file = written(body);
    let output = run(folder, &[arguments, &[file.path().to_str().unwrap()]].concat());
    (output.status.code().unwrap(), text(&output.stdout).to_owned())
}

#[test]
fn a_violation_is_told_by_calls() {
    let Some(folder) = runner() else { return };
    let body = "contract Counter {\n  uint count;\n  function add(uint by) external { require(by < 3); count += by; }\n  \
                function check() external view { assert(count != 4); }\n}";
    let (status, out) = told(folder, body, &["-t", "60"]);
    assert_eq!(status, 1, "{out}");
    let lines: Vec<&str> = out.lines().map(str::trim).collect();
    assert!(lines[0].ends_with(":6:36: violated: assertion in Counter"), "{out}");
    assert_eq!(lines[1..3], ["assert(count != 4)", "calls:"]);
    assert!(lines[3].starts_with("Counter.constructor()"), "{out}");
    let adds = lines.iter().filter(|line| line.starts_with("Counter.add(by = 2)")).count();
    let ones = lines.iter().filter(|line| line.starts_with("Counter.add(by = 1)")).count();
    assert_eq!(2 * adds + ones, 4, "{out}");
    assert!(lines.iter().any(|line| line.starts_with("count: ") && line.ends_with("→ 4")), "{out}");
    assert_eq!(*lines.last().unwrap(), "0 safe, 1 violated, 0 undecided");
}

#[test]
fn the_exit_status_is_for_continuous_integration() {
    let Some(folder) = runner() else { return };
    let safe = "contract C { function f(uint x) external pure { if (x < 3) assert(x < 4); } }";
    let (status, out) = told(folder, safe, &["-t", "60"]);
    assert_eq!((status, out.ends_with("1 safe, 0 violated, 0 undecided\n")), (0, true), "{out}");
    let (status, out) = told(folder, safe, &["-t", "0.000001"]);
    assert_eq!((status, out.contains("because: the time limit was reached")), (3, true), "{out}");
    let (status, out) = told(folder, "contract C { uint x; }", &[]);
    assert_eq!((status, out.starts_with("nothing to check")), (0, true), "{out}");
    let (status, out) = told(folder, "contract C { uint x = true; }", &[]);
    assert_eq!((status, out.contains("TypeError: ")), (2, true), "{out}");
    let output = run(folder, &["--shofar", "/no/such/program", "a.sol"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).starts_with("check.js: cannot run /no/such/program"),
        "{}",
        text(&output.stderr)
    );
    let output = run(folder, &["no/such/contract.sol"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("check.js: cannot read no/such/contract.sol"));
}

/// The program of the compiler's package runs `z3` and `eld` by their names.
#[test]
fn the_compilers_own_program_runs_shofar_by_other_names() {
    let Some(folder) = runner() else { return };
    let node = Command::new("sh").args(["-c", "command -v node"]).output().unwrap();
    let node = text(&node.stdout).trim().to_owned();
    let input = serde_json::json!({
        "language": "Solidity",
        "sources": {"C.sol": {"content": "pragma solidity ^0.8.0; contract C { uint x;\n\
            function f(uint y) external { require(y < 4); x = y; assert(x < 4); assert(x != 2); } }"}},
        "settings": {"modelChecker": {"engine": "chc", "solvers": ["smtlib2"], "showProvedSafe": true}},
    });
    for name in ["z3", "eld"] {
        let programs = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(SHOFAR, programs.path().join(name)).unwrap();
        let mut solcjs = Command::new(&node);
        solcjs
            .arg(folder.join("node_modules/solc/solc.js"))
            .arg("--standard-json")
            .env("PATH", programs.path());
        let output = program::feed(program::spawn(&mut solcjs), input.to_string());
        let output: Json = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let messages: Vec<&str> = output["errors"]
            .as_array()
            .map_or(vec![], |errors| errors.iter().filter_map(|error| error["message"].as_str()).collect());
        assert!(messages.contains(&"CHC: Assertion violation check is safe!"), "{name}: {output}");
        assert!(messages.contains(&"CHC: Assertion violation happens here."), "{name}: {output}");
    }
}
