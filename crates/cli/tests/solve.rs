//! `shofar FILE` as its users see it: answers, messages, limits and exit status.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Output};
use std::time::{Duration, Instant};

use program::{example, program, shofar, spawn, text};
use shofar_horn::Context;
use shofar_horn::witness::{self, Witness, WitnessFormat};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;

mod program;

/// Two multiplications that always agree: satisfiable, but no model can be said in linear arithmetic.
const ENDLESS: &str = "(declare-fun A (Int Int Int) Bool) (declare-fun B (Int Int Int) Bool)
    (assert (forall ((y Int)) (A 0 y 0)))
    (assert (forall ((x Int) (y Int) (z Int)) (=> (A x y z) (A (+ x 1) y (+ z y)))))
    (assert (forall ((y Int)) (B 0 y 0)))
    (assert (forall ((x Int) (y Int) (z Int)) (=> (B x y z) (B (+ x 1) y (+ z y)))))
    (assert (forall ((x Int) (y Int) (z Int) (w Int)) (=> (and (A x y z) (B x y w) (not (= z w))) false)))";

/// A loop that stays one.
const LOOP: &str = "(declare-fun P (Int) Bool)(assert (P 0))
    (assert (forall ((x Int)) (=> (and (P x) (< x 7)) (P (+ x 1)))))
    (assert (forall ((x Int)) (=> (and (P x) (> x 9)) false)))";

fn start(arguments: &[&str]) -> Child {
    spawn(program().args(arguments))
}

fn first_line(output: &Output) -> &str {
    text(&output.stdout).lines().next().unwrap_or_default()
}

#[test]
fn an_answer_is_the_first_line() {
    let output = shofar(&[&example("overshoot")], "");
    assert!(output.status.success());
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("unsat\n", ""));
    let input = std::fs::read_to_string(example("overshoot")).unwrap();
    assert_eq!(text(&shofar(&["-"], &input).stdout), "unsat\n");
    assert_eq!(text(&shofar(&["-", "--engine", "bmc"], &input).stdout), "unsat\n");
}

/// What is printed is what `shofar check` takes for valid, and all formats say the same: each is what the witness that was
/// read from the text is written as.
#[test]
fn witnesses_of_all_formats_are_checked_again() {
    let directory = tempfile::tempdir().unwrap();
    let [clauses, witness] = ["clauses.smt2", "witness"].map(|name| directory.path().join(name));
    let of_example = |name: &str| std::fs::read_to_string(example(name)).unwrap();
    for (input, answer) in [
        (of_example("overshoot"), "unsat"),
        (of_example("counter"), "sat"),
        (of_example("mccarthy91"), "sat"),
        (of_example("barrier"), "sat"),
        (LOOP.to_owned(), "sat"),
    ] {
        std::fs::write(&clauses, &input).unwrap();
        let [clauses, file] = [&clauses, &witness].map(|path| path.to_str().unwrap());
        let printed = |options: &[&str]| {
            // One engine, so that it is the same witness each time.
            let output = shofar(&[&[clauses, "-e", "spacer", "-t", "60"], options].concat(), "");
            text(&output.stdout).to_owned()
        };
        let store = TermStore::new();
        let mut environment = Environment::new(&store);
        let context = Context::new(&store);
        let system =
            shofar_horn::parse_within(&context, &mut environment, clauses, input.as_bytes()).unwrap();
        // A parameter with the name of a declared variable is read under another name.
        let written = |witness: &Witness, format| witness.to_text(&store, &system, format).replace("!1", "");
        let mut read = None;
        for (name, format) in [
            ("text", WitnessFormat::Text),
            ("json", WitnessFormat::Json),
            ("tree", WitnessFormat::Tree),
            ("alethe", WitnessFormat::Alethe),
            ("hyper", WitnessFormat::Hyper),
        ] {
            let output = printed(&["--witness-format", name]);
            let (first, rest) = output.split_once('\n').unwrap();
            assert_eq!(first, answer, "{input}");
            if matches!(format, WitnessFormat::Text | WitnessFormat::Json) {
                std::fs::write(&witness, rest).unwrap();
                let checked = shofar(&["check", clauses, file], "");
                assert_eq!(text(&checked.stdout), "valid\n", "{rest}{}", text(&checked.stderr));
            }
            let witness = &*read.get_or_insert_with(|| {
                witness::read(&store, &mut environment, &system, "witness", rest.as_bytes()).unwrap()
            });
            assert_eq!(rest.replace("!1", ""), written(witness, format), "{name}");
        }
        let printed = printed(&["--json", "--witness"]);
        let last: serde_json::Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
        let expected = written(&read.unwrap(), WitnessFormat::Json);
        assert_eq!(last["witness"], serde_json::from_str::<serde_json::Value>(&expected).unwrap());
    }
}

#[test]
fn names_that_users_of_golem_know() {
    let file = example("overshoot");
    let output =
        shofar(&["-l", "QF_LIA", "-e", "BMC", "--validate", "--print-witness", "--input", &file], "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(first_line(&output), "unsat");
    assert_eq!(first_line(&shofar(&["--validate", &example("mccarthy91")], "")), "sat");
}

#[test]
fn commands_and_files_of_the_same_name() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("info"), "(assert (=> true false))").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_shofar"))
        .arg("./info")
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), "unsat\n");
    let listed = shofar(&["engines"], "");
    for engine in ["bmc", "kind"] {
        assert!(text(&listed.stdout).lines().any(|line| line.starts_with(engine)));
    }
    let circuits = text(&listed.stdout).split_once("For circuits (AIGER, BTOR2):\n").unwrap().1;
    assert!(
        ["pdr ", "kavy "].iter().all(|name| circuits.lines().any(|line| line.starts_with(name))),
        "{circuits}"
    );
}

#[test]
fn mistakes_have_a_place_and_exit_status_2() {
    let output = shofar(&["-"], "(declare-fun P (Int) Bool)\n(assert (P true))");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).starts_with("<stdin>:2:12: argument 1 of P has sort Bool, expected Int\n"));
    let output = shofar(&["no/such/file.smt2"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("shofar: cannot read no/such/file.smt2: "));
    for arguments in [&["-", "--engine", "magic"][..], &["-", "-t", "soon"], &["-", "-q", "-v"], &[]] {
        assert_eq!(shofar(arguments, "").status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn what_is_not_supported_is_unknown() {
    let words =
        "(declare-fun P ((_ BitVec 8)) Bool) (assert (forall ((w (_ BitVec 8))) (=> (bvult w #x10) (P w))))
        (assert (forall ((w (_ BitVec 8))) (=> (P w) (bvult w #x20))))";
    let output = shofar(&["-"], words);
    assert!(output.status.success());
    assert_eq!(text(&output.stdout), "unknown\n");
    assert!(text(&output.stderr).starts_with("shofar: unknown: not supported: "), "{}", text(&output.stderr));
    assert_eq!(text(&shofar(&["-q", "-"], words).stderr), "");
    let output = shofar(&["-", "--engine", "kind"], std::fs::read_to_string(example("mccarthy91")).unwrap());
    assert_eq!((first_line(&output), output.status.code()), ("unknown", Some(0)));
}

#[test]
fn limits_end_with_unknown() {
    for (limit, reason) in [
        (["-t", "0.3"], "shofar: unknown: the time limit was reached\n"),
        (["-t", "0"], "shofar: unknown: the time limit was reached\n"),
        (["-m", "1"], "shofar: unknown: the memory limit was reached\n"),
    ] {
        let start = Instant::now();
        let output = shofar(&["-", limit[0], limit[1]], ENDLESS);
        assert!(output.status.success());
        assert_eq!((text(&output.stdout), text(&output.stderr)), ("unknown\n", reason));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

/// Multiplication by adding and back again, which has no linear invariant, beside so many truth values that each step takes
/// a megabyte.
fn hungry() -> String {
    const BITS: usize = 4000;
    let bits: String = (0..BITS).map(|bit| format!(" b{bit}")).collect();
    let next: String = (0..BITS).map(|bit| format!(" (xor b{bit} b{})", (bit + 1) % BITS)).collect();
    let bound: String = (0..BITS).map(|bit| format!("(b{bit} Bool)")).collect();
    let sorts = " Bool".repeat(BITS);
    let mut text =
        ["Up", "Down"].map(|name| format!("(declare-fun {name} (Int Int Int{sorts}) Bool)")).concat();
    for clause in [
        format!("(Up 0 y 0{bits})"),
        format!("(=> (Up x y z{bits}) (Up (+ x 1) y (+ z y){next}))"),
        format!("(=> (Up x y z{bits}) (Down x y z{bits}))"),
        format!("(=> (Down x y z{bits}) (Down (- x 1) y (- z y){next}))"),
        format!("(=> (and (Down x y z{bits}) (= x 0) (not (= z 0)) b0) false)"),
    ] {
        text += &format!("(assert (forall ((x Int)(y Int)(z Int){bound}) {clause}))");
    }
    text
}

/// The most mebibytes that a process had, as long as it is there.
#[cfg(target_os = "linux")]
fn peak(process: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? >> 10)
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_needs_more_memory_ends_near_the_limit() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(hungry().as_bytes()).unwrap();
    for engine in ["bmc", "auto"] {
        let mut child = start(&[file.path().to_str().unwrap(), "-m", "200", "-t", "300", "-e", engine]);
        let mut most = 0;
        while child.try_wait().unwrap().is_none() {
            most = most.max(peak(child.id()).unwrap_or(0));
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(text(&output.stdout), "unknown\n");
        assert_eq!(text(&output.stderr), "shofar: unknown: the memory limit was reached\n", "{engine}");
        assert!((150..300).contains(&most), "{engine}: {most} MiB");
    }
}

#[test]
fn limits_hold_while_a_file_is_read() {
    let clauses =
        "(assert (forall ((x Int) (y Int)) (=> (and (P x) (< x y)) (P (+ x y)))))\n".repeat(200_000);
    let input = format!("(declare-fun P (Int) Bool)\n{clauses}");
    for (option, limit, reason) in [("-t", "0.1", "time"), ("-m", "40", "memory")] {
        let start = Instant::now();
        let output = shofar(&["-", option, limit], &input);
        assert!(output.status.success());
        assert_eq!(first_line(&output), "unknown");
        assert_eq!(text(&output.stderr), format!("shofar: unknown: the {reason} limit was reached\n"));
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_unknown() {
    for signal in ["-INT", "-TERM"] {
        let mut child = start(&["-"]);
        child.stdin.take().unwrap().write_all(ENDLESS.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert_eq!(
            (text(&output.stdout), text(&output.stderr)),
            ("unknown\n", "shofar: unknown: interrupted\n")
        );
    }
}

/// A refutation with a long number in each step: found at once, but long to write.
fn long_numbers(steps: usize, digits: usize) -> String {
    let number = "7".repeat(digits);
    let mut text = format!("(declare-fun P0 (Int) Bool)(assert (P0 {number}))");
    for step in 1..steps {
        text += &format!("(declare-fun P{step} (Int) Bool)");
        text += &format!("(assert (forall ((x Int)) (=> (P{} x) (P{step} x))))", step - 1);
    }
    text + &format!("(assert (forall ((x Int)) (=> (and (P{} x) (> x 5)) false)))", steps - 1)
}

#[test]
fn an_answer_is_given_though_there_is_no_time_for_its_witness() {
    let output = shofar(&["-", "-t", "4", "-w"], long_numbers(500, 100_000));
    assert_eq!((text(&output.stdout), output.status.code()), ("unsat\n", Some(2)));
    assert_eq!(text(&output.stderr), "shofar: there was no time to make the witness\n");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_run_that_waits_for_its_reader() {
    let mut child = start(&["-", "-w"]);
    child.stdin.take().unwrap().write_all(long_numbers(30, 10_000).as_bytes()).unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "unsat\n");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// Nothing is written to the pipe, and it stays open.
#[test]
fn limits_hold_while_a_pipe_keeps_the_reader_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let clauses = folder.path().join("clauses.smt2");
    std::fs::write(&clauses, LOOP).unwrap();
    let clauses = clauses.to_str().unwrap();
    for (arguments, status) in [
        (&["-", "-t", "0.2"][..], 0),
        (&["check", clauses, "-", "-t", "0.2"], 1),
        (&["check", "-", clauses, "-t", "0.2"], 1),
    ] {
        let mut child = start(arguments);
        let open = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(open);
        assert_eq!((text(&output.stdout), output.status.code()), ("unknown\n", Some(status)));
    }
}

/// Commands that do not solve say what has ended them.
#[test]
fn limits_and_interrupts_end_other_commands_with_the_same_words() {
    let ended = |mut child: Child, open: Option<ChildStdin>, answer: &str, words: &str| {
        let limit = Instant::now() + Duration::from_secs(20);
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < limit, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = child.wait_with_output().unwrap();
        drop(open);
        assert_eq!((text(&output.stdout), output.status.code()), (answer, Some(1)));
        assert_eq!(text(&output.stderr), format!("<stdin>: {words}\n"));
    };
    let clauses = "(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))\n".repeat(200_000);
    let input = format!("(declare-fun P (Int) Bool)\n{clauses}");
    let counter = example("counter");
    for (command, answer) in [
        (&["info", "-"][..], ""),
        (&["convert", "-"], ""),
        (&["transform", "-"], ""),
        (&["check", "-", &counter], "unknown\n"),
    ] {
        // Nothing is written to the pipe, and it stays open.
        let mut waiting = start(&[command, &["-t", "0.2"]].concat());
        let open = waiting.stdin.take();
        ended(waiting, open, answer, "the time limit was reached");

        let mut reading = start(&[command, &["-m", "20"]].concat());
        // It may have ended before it has read all of it.
        let _ = reading.stdin.take().unwrap().write_all(input.as_bytes());
        ended(reading, None, answer, "the memory limit was reached");

        #[cfg(unix)]
        for signal in ["-INT", "-TERM"] {
            let mut waiting = start(command);
            let open = waiting.stdin.take();
            std::thread::sleep(Duration::from_millis(500));
            assert!(
                Command::new("kill").args([signal, &waiting.id().to_string()]).status().unwrap().success()
            );
            ended(waiting, open, answer, "interrupted");
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = start(&[&example("overshoot"), "--witness", "--json"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(text(&output.stderr), "");
}

/// As with `| head -1`.
#[test]
fn a_reader_that_has_seen_enough_ends_the_run() {
    let mut child = start(&["-", "--json"]);
    child.stdin.take().unwrap().write_all(ENDLESS.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with('{'), "{line}");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(text(&output.stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_is_full_is_reported() {
    for arguments in [&[][..], &["--json"], &["--witness"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_shofar"))
            .arg(example("overshoot"))
            .args(arguments)
            .stdout(full)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).starts_with("shofar: cannot write the output: "));
    }
}

#[test]
fn the_choice_of_engines_is_explained() {
    let text_of = |arguments: &[&str]| text(&shofar(arguments, LOOP).stderr).to_owned();
    let told = text_of(&["-", "-v", "-j", "1"]);
    let schedule = told.lines().find(|line| line.contains("schedule: ")).unwrap();
    assert!(schedule.contains("1 predicates") && schedule.contains("spacer ("), "{schedule}");
    assert!(schedule.ends_with("1 at a time"), "{schedule}");
    assert!(
        told.lines().any(|line| line.contains("ended after") && line.ends_with("has the answer")),
        "{told}"
    );
    let told = text_of(&["-", "-v", "-e", "kind,bmc"]);
    assert!(told.contains("chosen by name"), "{told}");
}

#[test]
fn statistics_for_people() {
    let output = shofar(&["--stats", &example("overshoot")], "");
    assert_eq!(text(&output.stdout), "unsat\n");
    let table: Vec<&str> = text(&output.stderr).lines().collect();
    let row = |name: &str| {
        let found = table.iter().position(|line| line.starts_with(name));
        found.unwrap_or_else(|| panic!("{name} in {table:#?}"))
    };
    // The run, and then the engine that has the answer, with what it has done.
    let rows = ["engine ", "time ", "memory ", "  time.read ", "  time.transform "].map(row);
    assert!(rows.is_sorted(), "{table:#?}");
    let winner = table[row("engine ")].split_whitespace().last().unwrap();
    let group = row(&format!("{winner} ("));
    assert!(table[group].ends_with("has the answer)"), "{table:#?}");
    let of_engine = ["  time.solve ", "  time.way-back ", "  time.check ", "  memory "];
    assert!(of_engine.map(row).iter().all(|&row| row > group));
}

fn events(output: &Output) -> Vec<serde_json::Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn programs_are_not_flooded() {
    let events = events(&shofar(&["-", "--json", "-t", "1"], ENDLESS));
    let engines: Vec<&str> = events
        .iter()
        .filter(|event| event["event"] == "started")
        .filter_map(|event| event["engine"].as_str())
        .collect();
    let answer = events.last().unwrap();
    assert_eq!(
        (&answer["answer"], &answer["reason"]),
        (&"unknown".into(), &"the time limit was reached".into())
    );
    let most = answer["seconds"].as_f64().unwrap() * 10.0 + 1.0;
    for engine in &engines {
        for kind in ["progress", "memory"] {
            let of_kind = |event: &&serde_json::Value| event["event"] == kind && event["engine"] == **engine;
            let number = events.iter().filter(of_kind).count();
            assert!(number as f64 <= most, "{number} of {kind} of {engine}");
        }
    }
    assert!(engines.contains(&"spacer"), "{engines:?}");
}

#[test]
fn events_for_programs() {
    let output = shofar(&["--json", "--witness", "--engine", "bmc", &example("overshoot")], "");
    let events = events(&output);
    let answer = events.last().unwrap();
    assert_eq!((&answer["answer"], &answer["engine"]), (&"unsat".into(), &"bmc".into()));
    assert!(answer["witness"].is_object());
    assert_eq!(
        (&events[0]["event"], &events[0]["version"]),
        (&"start".into(), &env!("CARGO_PKG_VERSION").into())
    );
    let of_kind = |kind: &'static str| events.iter().filter(move |event| event["event"] == kind);
    assert!(of_kind("progress").all(|event| event["engine"] == "bmc" && event["counters"].is_object()));
    assert_eq!(of_kind("progress").next().unwrap()["depth"], 0);
    assert_eq!(of_kind("schedule").next().unwrap()["engines"][0]["engine"], "bmc");
    assert_eq!(of_kind("started").count(), 1);
    let stopped = of_kind("stopped").next().unwrap();
    assert!(stopped["reason"].is_null() && stopped["bytes"].is_u64(), "{stopped}");
    let statistics = events.iter().find(|event| event["event"] == "statistics").unwrap();
    assert_eq!(statistics["counters"]["depth"], 7);
    let phases: Vec<&str> = events.iter().filter_map(|event| event["phase"].as_str()).collect();
    assert_eq!(phases, ["read", "graph", "transform", "solve", "way back", "check"]);
}

/// One engine with two settings, and one twice: each has its own events and its own part of the statistics.
#[test]
fn settings_side_by_side_have_names_of_their_own() {
    let slots = ["pdkind", "pdkind:interpolation=farkas:depth=2", "pdkind#2"];
    let engines = "pdkind,pdkind:interpolation=farkas:depth=2,pdkind";
    let output = shofar(&["-", "--json", "-j", "3", "-e", engines], LOOP);
    let events = events(&output);
    for kind in ["started", "stopped"] {
        let mut named: Vec<&str> = events
            .iter()
            .filter(|event| event["event"] == kind)
            .filter_map(|event| event["engine"].as_str())
            .collect();
        named.sort_by_key(|name| slots.iter().position(|slot| slot == name));
        assert_eq!(named, slots, "{kind}");
    }
    let schedule = events.iter().find(|event| event["event"] == "schedule").unwrap();
    assert!(slots.iter().enumerate().all(|(index, slot)| schedule["engines"][index]["engine"] == *slot));
    // Whoever has the answer has told its statistics.
    let winner = &events.last().unwrap()["engine"];
    assert!(slots.iter().any(|slot| winner == slot));
    assert!(events.iter().any(|event| event["event"] == "statistics" && event["engine"] == *winner));
    let output = shofar(&["-", "--stats", "-e", "bmc,bmc"], LOOP);
    for group in ["bmc (", "bmc#2 ("] {
        assert!(text(&output.stderr).lines().any(|line| line.starts_with(group)), "{}", text(&output.stderr));
    }
    for (engines, complaint) in [
        ("spacer:magic=1", "spacer has no option `magic`: its options are "),
        ("spacer:guidance", "is not of the form ENGINE:OPTION=VALUE"),
    ] {
        let output = shofar(&["-", "-e", engines], LOOP);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(complaint), "{}", text(&output.stderr));
    }
}

#[test]
fn options_of_engines_are_known_by_name() {
    let file = example("counter");
    let output = shofar(&[&file, "-e", "pdkind", "-O", "pdkind.depth=2", "-O", "pdkind.order=shallow"], "");
    assert_eq!(text(&output.stdout), "sat\n");
    let complaint = |option: &str| {
        let output = shofar(&[&file, "-O", option], "");
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr).to_owned()
    };
    assert!(complaint("pdkind.depth=deep").contains("full, growing, or a whole number from 1 to 1000000"));
    assert!(complaint("pdkind.colour=red").contains("interpolation, depth, order"));
    assert!(complaint("golem.depth=1").contains("the engines are spacer"));
    assert!(complaint("depth").contains("ENGINE.OPTION=VALUE"));
}

/// In rounds the output is the same each time; and an engine of a recorded run can be run again alone.
#[test]
fn runs_can_be_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let rounds = |jobs: &str| {
        let options =
            [&*example("counter"), "-w", "-e", "spacer,pdkind,kind", "--exchange", "rounds", "-j", jobs];
        text(&shofar(&options, "").stdout).to_owned()
    };
    let first = rounds("1");
    assert!(first.starts_with("sat\n("), "{first}");
    assert_eq!((rounds("1"), rounds("2")), (first.clone(), first));

    let (recording, input) = (path("run.jsonl"), example("counter"));
    let output = shofar(&[&input, "-e", "spacer,kind", "--record", &recording], "");
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("sat\n", ""));
    assert!(std::fs::read_to_string(&recording).unwrap().starts_with("{\"engines\":[\"spacer\",\"kind\"]"));
    let output = shofar(&[&input, "-e", "spacer", "--replay", &recording], "");
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("sat\n", ""));
    for (options, message) in [
        (&["--replay", &recording][..], "name the one engine to replay"),
        (
            &["-e", "pdkind", "--replay", &recording],
            "`pdkind` has not taken part; the engines are spacer, kind",
        ),
        (&["-e", "spacer", "--replay", &input], "line 1: "),
        (&["-e", "spacer", "--replay", &path("missing")], "missing: "),
        (&["-e", "spacer", "--record", &path("missing/run")], "missing/run: "),
    ] {
        let output = shofar(&[&[&*input], options].concat(), "");
        assert!(!output.status.success() && text(&output.stdout).is_empty(), "{options:?}");
        assert!(text(&output.stderr).contains(message), "{options:?}: {}", text(&output.stderr));
    }
    let output = shofar(&[&example("overshoot"), "-e", "spacer", "--replay", &recording], "");
    assert_eq!(first_line(&output), "unknown");
    assert!(text(&output.stderr).contains("about other clauses"), "{}", text(&output.stderr));
}

#[test]
fn the_page_of_a_run_has_its_engines() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("page.html");
    let options = [&*example("counter"), "-e", "spacer,kind", "--html", page.to_str().unwrap()];
    assert_eq!(text(&shofar(&options, "").stdout), "sat\n");
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("<h2>Engines</h2>") && page.contains("<th scope=\"row\">kind</th>"));
}
