//! What users see when something is wrong: excerpts of the input, hints, colours, and the debug trace.

use std::path::Path;
use std::process::Output;

use program::{example, feed, program, shofar, spawn, text};

mod program;

/// Runs the program with some environment variables.
fn shofar_with(variables: &[(&str, &str)], arguments: &[&str], input: &[u8]) -> Output {
    feed(spawn(program().envs(variables.iter().copied()).args(arguments)), input)
}

/// A folder with one file in it.
fn file(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path.to_str().unwrap().to_owned())
}

#[test]
fn a_mistake_is_shown_in_its_line_with_a_hint() {
    let clauses =
        "(declare-fun Inv (Int) Bool)\n(assert (Inv 0))\n(assert (forall ((x Int)) (=> (Inv x) (Inw x))))\n";
    let output = shofar(&["-"], clauses);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    assert_eq!(
        text(&output.stderr),
        "<stdin>:3:40: undeclared symbol `Inw`\n  |\n\
         3 | (assert (forall ((x Int)) (=> (Inv x) (Inw x))))\n  \
         |                                        ^^^\n  |\n  \
         = help: did you mean `Inv`?\n"
    );
}

#[test]
fn one_input_is_not_two_files() {
    let output = shofar(&["check", "-", "-"], "(assert true)");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    assert_eq!(text(&output.stderr), "shofar: standard input is the clauses or the witness, not both\n");
}

/// In names, file names and hints, of commands that read clauses.
#[test]
fn messages_about_the_input_do_not_control_the_terminal() {
    let name = "a\x1b]0;title\x07b\u{9b}31m\r\n\x7f";
    let undeclared = format!("(assert |{name}|)");
    let misspelt = format!("(declare-fun |{name}c| () Bool)\n(assert |{name}d|)");
    let ill_sorted = format!("(declare-fun |{name}| (Int) Bool)(assert (|{name}| true))");
    let (folder, script) = file("script\x1b[2J.smt2", &undeclared);
    let witness = folder.path().join("witness");
    std::fs::write(&witness, format!("sat (define-fun loop ((x Int)) Bool |{name}|)")).unwrap();
    let runs: [(&[&str], &str); 8] = [
        (&["-"], &undeclared),
        (&["-"], &misspelt),
        (&["-"], &ill_sorted),
        (&["info", "-"], &undeclared),
        (&[&script], ""),
        (&["smt", &script], ""),
        (&["check", &example("counter"), witness.to_str().unwrap()], ""),
        (&["no\x1b]0;title\x07file"], ""),
    ];
    for (arguments, input) in runs {
        let output = shofar(&[arguments, &["--color", "always"]].concat(), input);
        let told = text(&output.stderr);
        let mut sequences = told.split('\x1b').skip(1);
        let is_colour = |sequence: &str| {
            let style = sequence.strip_prefix('[').and_then(|rest| rest.split_once('m'));
            style.is_some_and(|(style, _)| style.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'))
        };
        assert!(sequences.all(is_colour), "{arguments:?}: {told:?}");
        assert!(
            !told.contains(|c: char| c.is_control() && c != '\n' && c != '\x1b'),
            "{arguments:?}: {told:?}"
        );
        assert!(told.contains("\\u{1b}"), "{arguments:?}: {told:?}");
    }
    // The first line has the whole message, for editors.
    let told = text(&shofar(&["-"], &undeclared).stderr).to_owned();
    let first = r"<stdin>:1:9: undeclared symbol `a\u{1b}]0;title\u{7}b\u{9b}31m\u{d}\u{a}\u{7f}`";
    assert_eq!(told.lines().next(), Some(first));
}

/// Standard output is for programs.
#[test]
fn the_output_has_names_with_control_characters_unchanged() {
    let name = "a\x1b]0;title\x07b";
    let clauses = format!("(declare-fun |{name}| (Int) Bool)(assert (|{name}| 0))");
    for arguments in [&["-", "-w"][..], &["convert", "-"]] {
        let output = shofar(arguments, &clauses);
        assert!(text(&output.stdout).contains(&format!("|{name}|")), "{:?}", text(&output.stdout));
    }
}

#[test]
fn mistakes_in_witnesses_are_shown() {
    let (_folder, witness) = file("witness", "sat\n(define-fun loop ((x Int)) Bool (<= x ture))\n");
    let output = shofar(&["check", &example("counter"), &witness], "");
    let told = text(&output.stderr);
    assert!(told.starts_with(&format!("{witness}:2:39: undeclared symbol `ture`\n")), "{told}");
    assert!(told.contains("                 ^^^^\n") && told.contains("did you mean `true`?"), "{told}");
    let (_folder, witness) = file("witness.json", "{\"answer\": sat}");
    let told = text(&shofar(&["check", &example("counter"), &witness], "").stderr).to_owned();
    assert!(told.starts_with(&format!("{witness}:1:12: expected value\n")), "{told}");
    assert!(told.contains("1 | {\"answer\": sat}\n"), "{told}");
}

/// Standard output has what SMT-LIB asks for, standard error the excerpt.
#[test]
fn mistakes_in_smt_scripts_are_answered_and_shown() {
    let script = "(declare-const count Int)\n(assert (> count 0)) (assert\n  (< cuont 3))\n(check-sat)\n";
    let (_folder, path) = file("script.smt2", script);
    let output = shofar(&["smt", &path], "");
    assert_eq!(text(&output.stdout), "(error \"undeclared symbol `cuont`\")\nunknown\n");
    assert_eq!(
        text(&output.stderr),
        format!(
            "{path}:3:6: undeclared symbol `cuont`\n  |\n3 |   (< cuont 3))\n  |      ^^^^^\n  |\n  \
             = help: did you mean `count`?\n"
        )
    );
    // A program that writes to a pipe knows what it has written.
    assert_eq!(text(&shofar(&["smt"], script).stderr), "");
}

#[test]
fn json_has_an_event_for_a_mistake_in_the_input() {
    let output = shofar(&["-", "--json"], "(declare-fun P (Int) Bool)\n(assert (P true))");
    let last: serde_json::Value = serde_json::from_str(text(&output.stdout).lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["file"]), (&"error".into(), &"<stdin>".into()));
    assert_eq!((&last["line"], &last["column"]), (&2.into(), &12.into()));
    assert_eq!(last["message"], "argument 1 of P has sort Bool, expected Int");
    assert!(last["at"].is_number() && text(&output.stderr).starts_with("<stdin>:2:12: "));
    let output = shofar(&["no/such/file.smt2", "--json"], "");
    let last: serde_json::Value = serde_json::from_str(text(&output.stdout).lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "error");
    assert!(last["message"].as_str().unwrap().contains("cannot read no/such/file.smt2"));
}

#[test]
fn json_has_an_event_for_a_mistake_in_the_options() {
    let counter = example("counter");
    let check = |variables: &[(&str, &str)], arguments: &[&str], part: &str| {
        let output = shofar_with(variables, &[arguments, &["--json"]].concat(), b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let last = text(&output.stdout).lines().last().unwrap_or("null");
        let last: serde_json::Value = serde_json::from_str(last).unwrap();
        assert_eq!(last["event"], "error", "{arguments:?}: {last}");
        let message = last["message"].as_str().unwrap();
        assert!(message.contains(part) && last["at"].is_number(), "{arguments:?}: {last}");
        assert_eq!(text(&output.stderr), format!("{message}\n"));
    };
    check(&[], &["chek"], "did you mean `check`?");
    check(&[], &[&counter, "second.smt2"], "one file at a time");
    check(&[], &[&counter, "--html", "-"], "standard output cannot take both");
    check(&[], &["explain", &counter, "second.smt2"], "one file at a time");
    check(&[("RUST_LOG", "a=b=c")], &[&counter], "RUST_LOG=a=b=c");
}

#[test]
fn a_misspelt_command_and_a_second_file_are_explained() {
    let complaint = |arguments: &[&str]| {
        let output = shofar(arguments, "");
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{arguments:?}");
        text(&output.stderr).to_owned()
    };
    let counter = example("counter");
    assert_eq!(
        complaint(&["chek", &counter, "witness"]),
        "shofar: there is no command or file `chek`; did you mean `check`?\n"
    );
    assert_eq!(
        complaint(&["-t", "5", "infos", &counter]),
        "shofar: there is no command or file `infos`; did you mean `info`?\n"
    );
    assert_eq!(complaint(&["chek"]), "shofar: there is no command or file `chek`; did you mean `check`?\n");
    for arguments in [&["--color", "never", "info", &counter][..], &[&counter, "info"]] {
        assert_eq!(complaint(arguments), "shofar: the command stands first: `shofar info ...`\n");
    }
    let told = complaint(&[&counter, "second.smt2"]);
    assert!(
        told.contains("one file at a time") && told.contains(&format!("shofar check {counter} second.smt2")),
        "{told}"
    );
}

#[test]
fn options_without_a_meaning_are_explained() {
    for (options, part) in [
        (["-j", "0"], "at least one engine has to run"),
        (["-j", "many"], "write a whole number"),
        (["-e", "auto,bmc"], "`auto` chooses all engines itself"),
        (["-e", "bmc, auto"], "`auto` chooses all engines itself"),
        (["-e", "spaser"], "`spacer`"),
        (["--passes", "inlin"], "`inline`"),
    ] {
        let output = shofar(&[&example("counter"), options[0], options[1]], "");
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(text(&output.stderr).contains(part), "{options:?}: {}", text(&output.stderr));
    }
}

#[test]
fn an_smt_script_gets_the_hint_to_use_the_smt_solver() {
    let script = "(set-logic QF_LIA)(declare-const x Int)(assert (> x 0))(check-sat)";
    let output = shofar(&["-"], script);
    assert_eq!(text(&output.stdout), "unknown\n");
    assert!(
        text(&output.stderr).ends_with("`shofar smt` executes SMT scripts\n"),
        "{}",
        text(&output.stderr)
    );
    let script = "(set-logic QF_UF)(declare-fun p (Bool) Bool)(assert (or (p true) (p false)))(check-sat)";
    let output = shofar(&["-"], script);
    assert!(
        text(&output.stderr)
            .contains("help: the logic is QF_UF, not HORN; `shofar smt` executes SMT scripts")
    );
}

#[test]
fn a_page_that_cannot_be_written_costs_the_page_only() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing/page.html");
    let output = shofar(&[&example("overshoot"), "--html", missing.to_str().unwrap()], "");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), "unsat\n"));
    let parent = folder.path().join("missing");
    assert_eq!(
        text(&output.stderr),
        format!("shofar: cannot write {}: there is no folder {}\n", missing.display(), parent.display())
    );
    let output = shofar(&[&example("overshoot"), "--html", folder.path().to_str().unwrap()], "");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), "unsat\n"));
    let told = text(&output.stderr);
    assert!(
        told.contains(": it is a folder; name a file, as in ") && told.ends_with("page.html\n"),
        "{told}"
    );
}

#[test]
fn a_page_for_standard_output_is_alone_there() {
    for arguments in [&[][..], &["explain"]] {
        let file = example("overshoot");
        let output = shofar(&[arguments, &[&file, "--html", "-"]].concat(), "");
        assert!(output.status.success());
        assert!(text(&output.stdout).starts_with("<!doctype html>"));
        assert!(text(&output.stderr).starts_with("unsat\n"), "{}", text(&output.stderr));
        assert!(!Path::new("-").exists());
    }
    let output = shofar(&[&example("overshoot"), "--html", "-", "--json"], "");
    assert!(output.status.code() == Some(2) && !text(&output.stdout).contains("<!doctype html>"));
}

#[test]
fn colours_follow_the_option_and_the_environment() {
    let is_coloured = |variables: &[(&str, &str)], options: &[&str]| {
        let output = shofar_with(variables, &[&["info", "-"], options].concat(), b"(assert x)");
        assert!(text(&output.stderr).contains("undeclared symbol `x`"));
        text(&output.stderr).contains('\x1b')
    };
    assert!(!is_coloured(&[], &[]));
    assert!(is_coloured(&[], &["--color", "always"]));
    assert!(is_coloured(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!is_coloured(&[("CLICOLOR_FORCE", "1")], &["--color", "never"]));
    assert!(!is_coloured(&[("NO_COLOR", "1")], &[]));
    assert!(is_coloured(&[("NO_COLOR", "1")], &["--color", "always"]));
}

#[test]
fn the_debug_trace_is_switched_on_by_v_and_by_rust_log() {
    let counter = example("counter");
    let trace = |variables: &[(&str, &str)], options: &[&str]| {
        let output = shofar_with(variables, &[&[&*counter, "-e", "spacer"], options].concat(), b"");
        assert_eq!(text(&output.stdout), "sat\n");
        text(&output.stderr).to_owned()
    };
    assert_eq!(trace(&[], &[]), "");
    assert!(!trace(&[], &["-v"]).contains("DEBUG"));
    let told = trace(&[], &["-vv"]);
    assert!(
        told.contains("DEBUG") && told.contains("shofar_engines::spacer") && !told.contains("TRACE"),
        "{told}"
    );
    let told = trace(&[("RUST_LOG", "shofar_smt=trace")], &[]);
    assert!(
        told.contains("TRACE") && told.contains("shofar_smt::solver") && !told.contains("spacer::"),
        "{told}"
    );
    let output = shofar_with(&[("RUST_LOG", "a=b=c")], &[&counter], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("shofar: RUST_LOG=a=b=c: "), "{}", text(&output.stderr));
    let output = shofar_with(&[], &["smt", "-vv"], b"(check-sat)");
    assert!(
        text(&output.stderr).contains("shofar_smt::script: command name=\"check-sat\""),
        "{}",
        text(&output.stderr)
    );
}
