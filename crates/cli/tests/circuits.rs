//! Circuits as users see them: answers, exit status, witnesses, and their check.

use std::fs;
use std::path::{Path, PathBuf};

use program::{example, program, shofar, text};

mod program;

/// A latch that toggles: `b0` is true in step 1, `b1` never.
const TOGGLE: &str = "aag 2 0 2 0 0 2\n2 3\n4 4\n2\n4\n";

/// A latch that keeps its value 1; its negation is the only output.
const OLD: &str = "aag 1 0 1 1 0\n2 2 1\n3\n";

/// A latch that follows an input, which a constraint keeps false.
const CONSTRAINED: &str = "aag 2 1 1 0 0 1 1\n2\n4 2\n4\n3\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).unwrap();
        self.name(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }
}

/// Standard output, standard error and exit status.
fn run(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = shofar(arguments, "");
    (text(&output.stdout).to_owned(), text(&output.stderr).to_owned(), output.status.code())
}

#[test]
fn answers_have_their_exit_status() {
    let folder = Folder::new();
    let toggle = folder.write("toggle.aag", TOGGLE);
    // Of several properties, the one that fails is named.
    assert_eq!(run(&[&toggle]), ("unsafe\n".into(), "shofar: b0 fails\n".into(), Some(10)));
    assert_eq!(run(&[&toggle, "-q"]), ("unsafe\n".into(), String::new(), Some(10)));
    assert_eq!(run(&[&toggle, "--property", "0"]), ("unsafe\n".into(), String::new(), Some(10)));
    assert_eq!(run(&[&toggle, "--property", "1"]), ("safe\n".into(), String::new(), Some(20)));
    let constrained = folder.write("constrained.aag", CONSTRAINED);
    assert_eq!(run(&[&constrained]), ("safe\n".into(), String::new(), Some(20)));
    let (answer, reason, status) = run(&[&toggle, "-t", "0"]);
    assert_eq!((answer.as_str(), status), ("unknown\n", Some(0)));
    assert!(reason.contains("the time limit was reached"), "{reason}");
}

#[test]
fn outputs_are_bads_where_there_are_none() {
    let folder = Folder::new();
    // The content says what it is.
    let old = folder.write("old.circuit", OLD);
    let (answer, message, status) = run(&[&old]);
    assert_eq!((answer.as_str(), status), ("safe\n", Some(20)));
    assert!(message.contains("its outputs are taken as bads"), "{message}");
    assert_eq!(run(&[&old, "-q"]), ("safe\n".into(), String::new(), Some(20)));
}

#[test]
fn witnesses_are_written_and_checked() {
    let folder = Folder::new();
    let toggle = folder.write("toggle.aag", TOGGLE);
    let (run_file, wave) = (folder.name("run.cex"), folder.name("run.vcd"));
    assert_eq!(run(&[&toggle, "--certificate", &run_file, "--vcd", &wave]).2, Some(10));
    assert_eq!(fs::read_to_string(&run_file).unwrap(), "1\nb0\n00\n\n\n.\n");
    assert!(fs::read_to_string(&wave).unwrap().contains("$enddefinitions"));
    assert_eq!(run(&["check", &toggle, &run_file]), ("valid\n".into(), String::new(), Some(0)));
    assert_eq!(run(&[&toggle, "-w"]).0, "unsafe\n1\nb0\n00\n\n\n.\n");

    for name in ["proof.aag", "proof.aig"] {
        let proof = folder.name(name);
        assert_eq!(run(&[&toggle, "--property", "1", "--certificate", &proof]).2, Some(20));
        let begin = &fs::read(&proof).unwrap()[..3];
        assert_eq!(begin, &name.as_bytes()[6..9], "the encoding follows the name");
        assert_eq!(run(&["check", &toggle, &proof, "--property", "1"]).0, "valid\n");
        // It is no proof of the other property, and so not of both.
        for property in [&["--property", "0"][..], &[]] {
            let (answer, message, status) = run(&[&["check", &toggle, &proof], property].concat());
            assert_eq!((answer.as_str(), status), ("invalid\n", Some(1)), "{message}");
            assert!(message.contains("property: the witness circuit does not simulate"), "{message}");
        }
    }
}

#[test]
fn wrong_witnesses_are_refused() {
    let folder = Folder::new();
    let constrained = folder.write("constrained.aag", CONSTRAINED);
    for (stimulus, message) in [
        ("1\nb0\n1\n0\n.\n", "latch 0 does not begin with its reset value"),
        ("1\nb0\n0\n1\n0\n.\n", "constraint 0 does not hold in step 0"),
        ("1\nb0\n0\n0\n0\n.\n", "step 1, the last one, is not bad"),
        ("1\nb0\n00\n0\n0\n.\n", "the trace has 2 latches, the circuit 1"),
    ] {
        let witness = folder.write("witness", stimulus);
        let (answer, complaint, status) = run(&["check", &constrained, &witness]);
        assert_eq!((answer.as_str(), status), ("invalid\n", Some(1)), "{complaint}");
        assert!(complaint.contains(message), "{complaint}");
    }
    for (witness, status) in [("0\n", 1), ("2\n", 1), ("hello\n", 2), ("1\nb7\n0\n0\n.\n", 2), ("aag 1\n", 2)]
    {
        let witness = folder.write("witness", witness);
        assert_eq!(run(&["check", &constrained, &witness]).2, Some(status));
    }
}

#[test]
fn the_competition_has_its_own_words() {
    let folder = Folder::new();
    let toggle = folder.write("toggle.aag", TOGGLE);
    let constrained = folder.write("constrained.aag", CONSTRAINED);
    let (run_file, proof) = (folder.name("run.cex"), folder.name("proof.aig"));
    assert_eq!(run(&["hwmcc", &toggle, &run_file, &proof]), ("sat\n".into(), String::new(), Some(10)));
    assert!(!Path::new(&proof).exists());
    assert_eq!(run(&["check", &toggle, &run_file]).0, "valid\n");
    assert_eq!(run(&["hwmcc", &constrained, &run_file, &proof]), ("unsat\n".into(), String::new(), Some(20)));
    assert_eq!(run(&["check", &constrained, &proof]).0, "valid\n");
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let folder = Folder::new();
    let broken = folder.write("broken.aag", "aag 3 1 0 0 1 1\n2\n4\n4 2 6\n");
    let (answer, message, status) = run(&[&broken]);
    assert_eq!((answer.as_str(), status), ("", Some(2)));
    assert_eq!(message, format!("{broken}:4: literal 6 is not defined\n"));
    let toggle = folder.write("toggle.aag", TOGGLE);
    for (arguments, part) in [
        (&[toggle.as_str(), "--property", "2"][..], "has safety properties up to b1, not b2"),
        (&[&toggle, "--passes", "standard"], "`--passes` is for Horn clauses"),
        (&[&toggle, &toggle], "one file at a time"),
        (&[&folder.write("none.aag", "aag 0 0 0 0 0\n")], "has no property"),
        (&[&toggle, "--property", "j0"], "has no justice property; it has b0"),
        (&[&toggle, "--property", "x0"], "properties are written as 0, b0 or j0"),
        (&[&example("counter"), "--vcd", "x"], "`--vcd` is for circuits"),
        (&[&folder.name("missing.aig")], "cannot read"),
    ] {
        let (_, message, status) = run(arguments);
        assert!(status == Some(2) && message.contains(part), "{arguments:?}: {message}");
    }
}

/// A client that waits for the input. `b0`: never true. `j0`: it waits for ever. `j1`: it does, although the input is true
/// again and again.
const CLIENT: &str = "aag 3 1 1 0 1 1 0 2\n2\n4 6 1\n0\n1\n2\n4\n4\n2\n6 4 3\n";

/// The same over words, without `b0`.
const CLIENT_OF_WORDS: &str = "1 sort bitvec 1\n2 one 1\n3 input 1 grant\n4 state 1 waits\n5 init 1 4 2\n6 and 1 4 -3\n\
                               7 next 1 4 6\n8 justice 1 4\n9 justice 2 4 3\n";

#[test]
fn justice_properties_are_decided() {
    let folder = Folder::new();
    let client = folder.write("client.aag", CLIENT);
    let (witness, proof, wave) = (folder.name("run.cex"), folder.name("proof.aag"), folder.name("run.vcd"));
    // All properties together, and one by one.
    assert_eq!(run(&[&client]), ("unsafe\n".into(), "shofar: j0 fails\n".into(), Some(10)));
    let named = folder.write("named.aag", format!("{CLIENT}j0 stuck\n"));
    assert_eq!(run(&[&named]).1, "shofar: j0 (stuck) fails\n");
    for (property, answer, status) in [("0", "safe\n", 20), ("b0", "safe\n", 20), ("j0", "unsafe\n", 10)] {
        let arguments = [client.as_str(), "--property", property, "--certificate", &witness, "--vcd", &wave];
        assert_eq!(run(&arguments), (answer.into(), String::new(), Some(status)));
    }
    assert_eq!(fs::read_to_string(&witness).unwrap(), "1\nj0\n1\n0\n.\n");
    assert!(fs::read_to_string(&wave).unwrap().contains(" loop $end"));
    assert_eq!(run(&["check", &client, &witness]).0, "valid\n");
    let (event, _, _) = run(&[&client, "--json"]);
    for field in ["\"kind\":\"justice\"", "\"property\":0", "\"loop\":0"] {
        assert!(event.contains(field), "{event}");
    }
    for (stimulus, message) in [
        ("1\nj0\n0\n0\n.\n", "latch 0 does not begin with its reset value"),
        ("1\nj0\n1\n1\n.\n", "the trace has no loop: no state occurs twice"),
        ("1\nj0\n1\n1\n0\n.\n", "no loop of the trace makes each edge of the property"),
        ("1\nj1\n1\n0\n.\n", "no loop of the trace makes each edge of the property"),
        ("1\nb0\n1\n0\n.\n", "step 0, the last one, is not bad"),
    ] {
        let wrong = folder.write("wrong.cex", stimulus);
        let (answer, complaint, status) = run(&["check", &client, &wrong]);
        assert_eq!((answer.as_str(), status), ("invalid\n", Some(1)), "{complaint}");
        assert!(complaint.contains(message), "{complaint}");
    }

    assert_eq!(run(&[&client, "--property", "j1", "--certificate", &proof]).2, Some(20));
    assert_eq!(run(&["check", &client, &proof, "--property", "j1"]).0, "valid\n");
    let text = fs::read_to_string(&proof).unwrap();
    let (_, monitors) = text.split_once("MONITORS\n").unwrap();
    for (wrong, property) in [
        (text.clone(), "j0"),
        (text.replace("MONITORS", "monitors"), "j1"),
        (text.replace(monitors, "j1 rounds 0\n"), "j1"),
        (text.replace(monitors, "j0 rounds 9\n"), "j0"),
    ] {
        let wrong = folder.write("wrong.aag", wrong);
        let (answer, message, status) = run(&["check", &client, &wrong, "--property", property]);
        assert_eq!((answer.as_str(), status), ("invalid\n", Some(1)), "{message}");
    }

    let competition = run(&["hwmcc", &client, &witness, &proof]);
    assert_eq!(competition, ("sat\n".into(), String::new(), Some(10)));
    assert_eq!(run(&["check", &client, &witness]).0, "valid\n");
}

/// A proof of a safety property and of two justice properties is one witness circuit.
#[test]
fn all_properties_have_one_proof() {
    let folder = Folder::new();
    // As above, with the second property twice.
    let client = folder.write("client.aag", CLIENT.replace("0\n1\n2\n4\n4\n2\n", "0\n2\n2\n4\n2\n2\n4\n"));
    let (witness, proof) = (folder.name("run.cex"), folder.name("proof.aag"));
    let competition = run(&["hwmcc", &client, &witness, &proof]);
    assert_eq!(competition, ("unsat\n".into(), String::new(), Some(20)));
    assert_eq!(run(&["check", &client, &proof]), ("valid\n".into(), String::new(), Some(0)));
    assert_eq!(run(&["check", &client, &proof, "--property", "j1"]).0, "valid\n");
}

#[test]
fn justice_properties_of_words_are_decided() {
    let folder = Folder::new();
    let client = folder.write("client.btor2", CLIENT_OF_WORDS);
    let (witness, proof) = (folder.name("run.wit"), folder.name("proof.aig"));
    let found = run(&[&client, "--certificate", &witness]);
    assert_eq!(found, ("unsafe\n".into(), "shofar: j0 fails\n".into(), Some(10)));
    assert_eq!(fs::read_to_string(&witness).unwrap(), "sat\nj0\n#0\n@0\n0 0 grant@0\n.\n");
    assert_eq!(run(&["check", &client, &witness]), ("valid\n".into(), String::new(), Some(0)));
    for (steps, message) in [
        ("sat\nj0\n#0\n@0\n0 1\n.\n", "the trace has no loop: no state occurs twice"),
        ("sat\nj0\n#0\n@0\n0 1\n@1\n0 1\n.\n", "no loop of the trace makes each edge"),
    ] {
        let wrong = folder.write("wrong.wit", steps);
        let (answer, complaint, status) = run(&["check", &client, &wrong]);
        assert_eq!((answer.as_str(), status), ("invalid\n", Some(1)), "{complaint}");
        assert!(complaint.contains(message), "{complaint}");
    }
    assert_eq!(run(&[&client, "--property", "j1", "--certificate", &proof]).2, Some(20));
    assert_eq!(run(&["check", &client, &proof, "--property", "j1"]).0, "valid\n");
}

#[test]
fn statistics_and_json_are_about_the_circuit() {
    let folder = Folder::new();
    let toggle = folder.write("toggle.aag", TOGGLE);
    let (_, table, _) = run(&[&toggle, "--stats"]);
    for row in ["engine", "time.search", "extracted.latches", "reduced.gates"] {
        assert!(table.contains(row), "{table}");
    }
    let (event, _, status) = run(&[&toggle, "--json"]);
    for field in ["\"event\":\"answer\"", "\"answer\":\"unsafe\"", "\"property\":0", "\"length\":1"] {
        assert!(event.contains(field), "{event}");
    }
    assert_eq!(status, Some(10));
}

/// The answer is printed although its certificate cannot be written.
#[test]
fn a_certificate_that_cannot_be_written_is_reported() {
    let folder = Folder::new();
    let toggle = folder.write("toggle.aag", TOGGLE);
    let output = program().args([&toggle, "--certificate", "/dev/null/x"]).output().unwrap();
    assert_eq!((text(&output.stdout), output.status.code()), ("unsafe\n", Some(2)));
}

/// A counter of eight bits: `b0` is true if it is 2, `b1` if it is below 0.
const COUNTER: &str = "1 sort bitvec 1\n2 sort bitvec 8\n3 zero 2\n4 input 1 enable\n5 state 2 count\n6 init 2 5 3\n\
                       7 inc 2 5\n8 ite 2 4 7 5\n9 next 2 5 8\n10 constd 2 2\n11 eq 1 5 10\n12 bad 11\n\
                       13 ult 1 5 3\n14 bad 13\n15 output 5\n";

#[test]
fn words_are_decided_and_their_witnesses_checked() {
    let folder = Folder::new();
    // By its content, and by its name.
    for name in ["counter", "counter.btor", "counter.btor2"] {
        let counter = folder.write(name, COUNTER);
        let (witness, proof) = (folder.name("run.wit"), folder.name("proof.aig"));
        let found = run(&[&counter, "--certificate", &witness]);
        assert_eq!(found, ("unsafe\n".into(), "shofar: b0 fails\n".into(), Some(10)));
        let text = fs::read_to_string(&witness).unwrap();
        assert!(text.starts_with("sat\nb0\n#0\n@0\n0 1 enable@0\n@1\n0 1 enable@1\n@2\n"), "{text}");
        assert_eq!(run(&["check", &counter, &witness]), ("valid\n".into(), String::new(), Some(0)));
        fs::write(&witness, text.replace("0 1 enable@1", "0 0 enable@1")).unwrap();
        let (answer, message, status) = run(&["check", &counter, &witness]);
        assert_eq!((answer.as_str(), status), ("invalid\n", Some(1)), "{message}");

        let arguments = [counter.as_str(), "--property", "1", "--certificate", &proof];
        assert_eq!(run(&arguments), ("safe\n".into(), String::new(), Some(20)));
        assert_eq!(run(&["check", &counter, &proof, "--property", "1"]).0, "valid\n");
        assert_eq!(run(&["check", &counter, &proof, "--property", "0"]).0, "invalid\n");
        assert_eq!(run(&["hwmcc", &counter, &witness, &proof]), ("sat\n".into(), String::new(), Some(10)));
        assert_eq!(fs::read_to_string(&witness).unwrap().lines().next(), Some("sat"));
    }
}

#[test]
fn words_are_converted_to_bits() {
    let folder = Folder::new();
    let counter = folder.write("counter.btor2", COUNTER);
    let (text, message, status) = run(&["convert", &counter, "--to", "aag"]);
    assert_eq!((message.as_str(), status), ("", Some(0)));
    assert!(
        text.starts_with("aag ") && text.contains("\nl3 count[3]\n") && text.contains("\ni0 enable\n"),
        "{text}"
    );
    let bits = folder.write("counter.aag", &text);
    assert_eq!(run(&[&bits]).0, "unsafe\n");
    assert_eq!(run(&[&bits, "--property", "1"]).0, "safe\n");
    assert_eq!(run(&["convert", &counter, "--to", "aig", "--query", "1"]).2, Some(2));
    assert_eq!(run(&["convert", &counter, "--to", "aig", "--property", "0"]).2, Some(2));
}

#[test]
fn mistakes_in_words_are_reported_by_line() {
    let folder = Folder::new();
    let arrays = folder.write("arrays.btor2", "1 sort bitvec 1\n2 sort array 1 1\n");
    let (answer, message, status) = run(&[&arrays]);
    assert_eq!((answer.as_str(), status), ("", Some(2)));
    assert!(message.contains("arrays.btor2:2: arrays are not supported"), "{message}");
    let outputs = folder.write("outputs.btor2", "1 sort bitvec 1\n2 input 1\n3 output 2\n");
    let (_, message, status) = run(&[&outputs]);
    assert_eq!(status, Some(2));
    assert!(message.contains("has no property"), "{message}");
}

/// The clauses of a circuit have the opposite words: `sat` is safe.
#[test]
fn circuits_become_clauses() {
    let folder = Folder::new();
    let toggle = folder.write("toggle.aag", TOGGLE);
    let solved = |options: &[&str]| {
        let (clauses, message, status) = run(&[&["convert", &toggle], options].concat());
        assert_eq!((message.as_str(), status), ("", Some(0)), "{clauses}");
        text(&shofar(&["-"], &clauses).stdout).to_owned()
    };
    assert_eq!(solved(&[]), "unsat\n");
    assert_eq!(solved(&["--to", "smt2", "--property", "0"]), "unsat\n");
    assert_eq!(solved(&["--to", "smtlib", "--property", "1"]), "sat\n");
    assert_eq!(solved(&["--to", "datalog", "--property", "1"]), "sat\n");
    let constrained = folder.write("constrained.aag", CONSTRAINED);
    let (clauses, ..) = run(&["convert", &constrained]);
    assert_eq!(text(&shofar(&["-"], &clauses).stdout), "sat\n");

    let (nothing, message, status) = run(&["convert", &toggle, "--property", "2"]);
    assert_eq!((nothing.as_str(), status), ("", Some(2)));
    assert!(message.contains("has safety properties up to b1, not b2"), "{message}");
    let old = folder.write("old.aag", OLD);
    let (clauses, message, status) = run(&["convert", &old]);
    assert!(message.contains("its outputs are taken as bads"), "{message}");
    assert_eq!((text(&shofar(&["-"], &clauses).stdout), status), ("sat\n", Some(0)));
}

/// So do those of justice properties.
#[test]
fn justice_properties_become_clauses() {
    let folder = Folder::new();
    let client = folder.write("client.aag", CLIENT);
    for (options, answer) in
        [(&[][..], "unsat\n"), (&["--property", "j0"], "unsat\n"), (&["--property", "j1"], "sat\n")]
    {
        let (clauses, message, status) = run(&[&["convert", &client], options].concat());
        assert_eq!((message.as_str(), status), ("", Some(0)), "{clauses}");
        assert_eq!(text(&shofar(&["-"], &clauses).stdout), answer, "{clauses}");
    }
}

#[test]
fn boolean_clauses_become_circuits() {
    let folder = Folder::new();
    let clauses = |bad: &str| {
        format!(
            "(declare-fun p (Bool Bool) Bool) (assert (p false true))
             (assert (forall ((a Bool) (b Bool)) (=> (p a b) (p b a))))
             (assert (forall ((a Bool) (b Bool)) (=> (and (p a b) {bad}) false)))"
        )
    };
    for (bad, answer, status) in [("a", "unsafe\n", 10), ("(= a b)", "safe\n", 20)] {
        let file = folder.write("clauses.smt2", clauses(bad));
        for encoding in ["aig", "aag"] {
            let output = shofar(&["convert", &file, "--to", encoding], "");
            assert_eq!(output.status.code(), Some(0));
            let circuit = folder.write("circuit", &output.stdout);
            assert_eq!(run(&[&circuit]), (answer.to_owned(), String::new(), Some(status)));
        }
    }
    let overshoot = example("overshoot");
    let (nothing, message, status) = run(&["convert", &overshoot, "--to", "aig"]);
    assert_eq!((nothing.as_str(), status), ("", Some(2)));
    assert!(
        message.ends_with("has a term of sort Int; only linear Boolean clauses make a circuit\n"),
        "{message}"
    );
    assert_eq!(run(&["convert", &overshoot, "--property", "0"]).2, Some(2));
}

/// Standard input is recognised as files are.
#[test]
fn circuits_are_read_from_standard_input() {
    let answer = |arguments: &[&str], input: &[u8]| {
        let output = shofar(arguments, input);
        (text(&output.stdout).to_owned(), output.status.code())
    };
    assert_eq!(answer(&["-"], TOGGLE.as_bytes()), ("unsafe\n".to_owned(), Some(10)));
    assert_eq!(answer(&["-", "--property", "1"], TOGGLE.as_bytes()), ("safe\n".to_owned(), Some(20)));
    let folder = Folder::new();
    let toggle = folder.write("toggle.aag", TOGGLE);
    let binary = shofar(&["convert", &toggle, "--to", "aig"], "").stdout;
    assert_eq!(answer(&["-"], &binary), ("unsafe\n".to_owned(), Some(10)));
    let words = "; a comment\n1 sort bitvec 1\n2 state 1\n3 bad 2\n";
    assert_eq!(answer(&["-"], words.as_bytes()), ("unsafe\n".to_owned(), Some(10)));
    assert_eq!(answer(&["-"], b"; a comment\n(set-logic HORN)\n"), ("sat\n".to_owned(), Some(0)));
    let (clauses, status) = answer(&["convert", "-", "--property", "1"], TOGGLE.as_bytes());
    assert_eq!(status, Some(0));
    assert_eq!(answer(&["-"], clauses.as_bytes()), ("sat\n".to_owned(), Some(0)));
    let stimulus = folder.write("run.cex", "1\nb0\n00\n\n\n.\n");
    assert_eq!(answer(&["check", "-", &stimulus], TOGGLE.as_bytes()), ("valid\n".to_owned(), Some(0)));
}

#[test]
fn transition_systems_in_vmt_are_answered_in_the_words_of_clauses() {
    let folder = Folder::new();
    let system = |bound: &str| {
        format!(
            "(declare-fun x () Int) (declare-fun x.next () Int)
             (define-fun sv () Int (! x :next x.next))
             (define-fun init () Bool (! (= x 0) :init true))
             (define-fun trans () Bool (! (= x.next (ite (< x 5) (+ x 1) 0)) :trans true))
             (define-fun low () Bool (! (<= x {bound}) :invar-property 0))
             (define-fun high () Bool (! (>= x 0) :invar-property 1))"
        )
    };
    for (bound, answer) in [("5", "sat\n"), ("4", "unsat\n")] {
        let file = folder.write("system.vmt", system(bound));
        assert_eq!(run(&[&file]), (answer.to_owned(), String::new(), Some(0)));
        assert_eq!(text(&shofar(&["-"], system(bound)).stdout), answer);
        let (clauses, ..) = run(&["convert", &file, "--to", "smt2"]);
        assert_eq!(text(&shofar(&["-"], &clauses).stdout), answer);
        let witness = folder.write("witness", run(&[&file, "-w"]).0);
        assert_eq!(run(&["check", &file, &witness]), ("valid\n".to_owned(), String::new(), Some(0)));
    }
    let live = folder.write("live.vmt", system("5").replace(":invar-property 1", ":live-property 1"));
    let (nothing, message, status) = run(&[&live]);
    assert_eq!((nothing.as_str(), status), ("", Some(2)));
    assert!(
        message.contains("live.vmt:6:") && message.contains("`:live-property` is not supported"),
        "{message}"
    );
}
