//! Many machines, as users see them: workers, batches, passwords, and what is told if there is no broker.
//! `shofar-cluster` has the tests with processes that die or lie.

#![cfg(feature = "cluster")]

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Output};
use std::time::{Duration, Instant};

use program::{example, feed, program, shofar, spawn, text};
use shofar_testing::server::{Server, wait_for};

mod program;

/// A loop that `spacer` proves, and `bmc` does not.
const LOOP: &str = "(set-logic HORN)(declare-fun P (Int Int) Bool)
    (assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y 0)) (P x y))))
    (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (+ y x)))))
    (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< y 0)) false)))(check-sat)";

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, impl Fn(&str) -> String + use<>) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = PathBuf::from(folder.path());
    (folder, move |name| path.join(name).to_str().unwrap().to_owned())
}

/// A worker that ends with the test.
struct Worker(Child);

impl Worker {
    fn start(arguments: &[&str]) -> Self {
        Worker(spawn(program().arg("worker").args(arguments)))
    }

    /// Waits for the end, and returns what it printed.
    fn end(mut self) -> String {
        let mut told = String::new();
        self.0.wait().unwrap();
        self.0.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        told
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn status(url: &str) -> String {
    text(&shofar(&["cluster", "status", "--cluster", url], "").stdout).to_owned()
}

#[test]
fn a_worker_finds_what_the_engines_here_do_not() {
    let Some(server) = Server::start(&[]) else { return };
    let (_folder, path) = folder(&[("loop.smt2", LOOP)]);
    let url = server.url();
    let _worker = Worker::start(&["--cluster", &url, "-j", "2", "--name", "helper"]);
    wait_for("the worker", || status(&url).starts_with("workers  1, with 2 places"));
    assert!(status(&url).contains("\nhelper-"), "{}", status(&url));
    let file = path("loop.smt2");
    let options = ["--cluster", &url, "-e", "bmc", "--cluster-engine", "bmc,spacer", "-t", "40"];
    let start = Instant::now();
    let output = shofar(&[&[&file, "--witness"], &options[..]].concat(), "");
    assert!(text(&output.stdout).starts_with("sat\n(\n  (define-fun P "), "{output:?}");
    assert!(start.elapsed() < Duration::from_secs(30), "the answer did not end the engine here");
    // Without the first line it is the witness.
    let witness = text(&output.stdout).split_once('\n').unwrap().1;
    assert_eq!(text(&shofar(&["check", &file, "-"], witness).stdout), "valid\n");
    // The answer of `--json` names the worker, and so do the notes.
    let output = shofar(&[&[&file, "--json", "-w"], &options[..]].concat(), "");
    let events: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = events.last().unwrap();
    assert_eq!(answer["answer"], "sat", "{answer}");
    assert!(answer["engine"].as_str().unwrap().starts_with("spacer of helper-"), "{answer}");
    assert!(answer["witness"].is_object(), "{answer}");
    assert!(events.iter().any(|event| event["event"] == "cluster"), "{events:?}");
    // Workers have been told the end: nothing is left on the broker.
    wait_for("the end of all jobs", || {
        status(&url).contains("jobs     0 waiting, 0 not finished, 0 given up")
    });
    let json = shofar(&["cluster", "status", "--json", "--cluster", &url], "");
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((json["jobs"].as_u64(), json["workers"][0]["places"].as_u64()), (Some(0), Some(2)));
}

#[test]
fn without_a_broker_the_answer_is_that_of_a_local_run() {
    // Nobody listens at this port.
    let url = "redis://127.0.0.1:1";
    for (name, answer) in [("counter", "sat\n"), ("overshoot", "unsat\n")] {
        let output = shofar(&[&example(name), "--cluster", url], "");
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), answer));
    }
    let (_folder, path) = folder(&[("loop.smt2", LOOP)]);
    let output = shofar(&[&path("loop.smt2"), "--cluster", url, "-e", "bmc", "-t", "1"], "");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "unknown\n"));
    let told = text(&output.stderr);
    assert_eq!(told.matches("shofar: no broker answers at 127.0.0.1:1: ").count(), 1, "{told}");
    let failed = shofar(&["cluster", "status", "--cluster", url], "");
    assert_eq!(failed.status.code(), Some(2));
    assert!(text(&failed.stderr).starts_with("shofar: no broker answers at 127.0.0.1:1"));
}

#[test]
fn a_client_goes_on_alone_when_the_broker_dies() {
    let Some(mut server) = Server::start(&[]) else { return };
    let (_folder, path) = folder(&[("loop.smt2", LOOP)]);
    let url = server.url();
    let client = spawn(program().args([&path("loop.smt2"), "--cluster", &url, "-e", "bmc", "-t", "3"]));
    wait_for("the job", || status(&url).contains("1 not finished"));
    server.kill();
    let output = feed(client, "");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "unknown\n"));
    let told = text(&output.stderr);
    assert!(told.contains("no broker answers") && told.contains("the time limit was reached"), "{told}");
}

#[test]
fn passwords_come_from_files_and_variables_and_are_never_shown() {
    let Some(server) = Server::start(&["--requirepass", "Sesame7"]) else { return };
    let url = server.url();
    let (_folder, path) = folder(&[("right", "Sesame7\n"), ("wrong", "Barley9\n"), ("loop.smt2", LOOP)]);
    let status = |options: &[&str], variable: &str| -> Output {
        let mut command = program();
        command.args([&["cluster", "status"], options].concat()).env("SHOFAR_CLUSTER_PASSWORD", variable);
        feed(spawn(&mut command), "")
    };
    let with_password = url.replace("//", "//:Sesame7@");
    let wrong_password = url.replace("//", "//:Barley9@");
    for (options, variable, is_right) in [
        (&["--cluster", &with_password][..], "", true),
        (&["--cluster", &with_password], "Barley9", true),
        (&["--cluster", &url], "Sesame7", true),
        (&["--cluster", &url, "--cluster-password-file", &path("right")], "Barley9", true),
        (&["--cluster", &url], "", false),
        (&["--cluster", &url], "Barley9", false),
        (&["--cluster", &wrong_password], "Sesame7", false),
        (&["--cluster", &url, "--cluster-password-file", &path("wrong")], "", false),
    ] {
        let output = status(options, variable);
        assert_eq!(output.status.success(), is_right, "{options:?} {output:?}");
        let told = text(&output.stderr);
        assert!(is_right || told.contains("refuses the password, or wants one"), "{told}");
        assert!(!told.contains("Sesame7") && !told.contains("Barley9"), "{told}");
    }
    // Solving goes on without the broker, and a worker ends.
    let output = shofar(&[&path("loop.smt2"), "--cluster", &wrong_password, "-e", "bmc", "-t", "1"], "");
    assert_eq!(text(&output.stdout), "unknown\n");
    let told = text(&output.stderr);
    assert!(told.contains("refuses the password") && !told.contains("Barley9"), "{told}");
    let told = Worker::start(&["--cluster", &wrong_password]).end();
    assert!(told.contains("refuses the password") && !told.contains("Barley9"), "{told}");
    for wrong in ["redis://:Sesame7@host:port", "http://:Sesame7@host", "rediss://:Sesame7@host"] {
        let output = shofar(&["worker", "--cluster", wrong], "");
        assert_eq!(output.status.code(), Some(2));
        assert!(!text(&output.stderr).contains("Sesame7"), "{}", text(&output.stderr));
    }
}

#[test]
fn a_batch_has_a_line_for_each_file_and_goes_on_later() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url();
    let broken = LOOP.replace("(< y 0)", "(> x 2)");
    let (_folder, path) =
        folder(&[("a.smt2", LOOP), ("b.smt2", &broken), ("list", "a.smt2\nb.smt2\nmissing.smt2\n")]);
    let worker = Worker::start(&["--cluster", &url, "--once", "-v"]);
    let results = path("results.jsonl");
    let batch = || {
        let list = path("list");
        let options = ["batch", &list, "--cluster", &url, "--results", &results, "-t", "20", "-w", "-q"];
        spawn(program().args(options))
    };
    let first = batch();
    // The first worker ends after one job, and another one does the rest.
    let told = worker.end();
    assert!(told.contains(" is answered after "), "{told}");
    let _second = Worker::start(&["--cluster", &url, "-q", "-m", "4000", "--max-time", "30"]);
    let output = feed(first, "");
    assert!(text(&output.stdout).starts_with("3 of 3 answered, 0 of them before, in "), "{output:?}");
    let lines = std::fs::read_to_string(&results).unwrap();
    let mut lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.sort_by_key(|line| line["file"].to_string());
    let answers: Vec<&str> = lines.iter().map(|line| line["answer"].as_str().unwrap()).collect();
    assert_eq!(answers, ["sat", "unsat", "error"]);
    for (line, file) in lines.iter().zip(["a.smt2", "b.smt2"]) {
        let checked = shofar(&["check", &path(file), "-"], line["witness"].as_str().unwrap());
        assert_eq!(text(&checked.stdout), "valid\n", "{line}");
    }
    let again = feed(batch(), "");
    assert!(text(&again.stdout).starts_with("3 of 3 answered, 3 of them before, in "), "{again:?}");
}

#[cfg(unix)]
#[test]
fn a_worker_that_is_terminated_leaves_at_once() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url();
    let mut worker = Worker::start(&["--cluster", &url, "-q"]);
    wait_for("the worker", || status(&url).starts_with("workers  1"));
    let terminated = std::process::Command::new("kill").arg(worker.0.id().to_string()).status().unwrap();
    assert!(terminated.success());
    wait_for("the end of the worker", || worker.0.try_wait().unwrap().is_some());
    assert!(worker.0.wait().unwrap().success());
    assert!(status(&url).starts_with("workers  0"), "{}", status(&url));
}

#[test]
fn clusters_are_for_clauses() {
    let (_folder, path) = folder(&[("a.aag", "aag 1 0 1 1 0\n2 3\n2\n")]);
    let output = shofar(&[&path("a.aag"), "--cluster", "redis://127.0.0.1:1"], "");
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("`--cluster` is for Horn clauses"), "{message}");
    let output = shofar(&[&example("counter"), "--cluster-engine", "spacer"], "");
    assert!(text(&output.stderr).contains("--cluster <URL>"), "{}", text(&output.stderr));
    let output = shofar(&["batch", "-", "--cluster", "redis://h", "--results", "r", "-e", "pdr"], "");
    assert!(text(&output.stderr).contains("the engine `pdr` is for circuits"), "{}", text(&output.stderr));
}
