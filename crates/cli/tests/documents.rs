//! The manual page, the completions, and the commands that the documents show.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use shofar_cooperate::schedule::{CLASSES, Class};
use shofar_engines::InterpolationMethod;
use shofar_hardware::solve::ENGINES;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SHOFAR: &str = env!("CARGO_BIN_EXE_shofar");

/// The commands for many machines.
#[cfg(feature = "cluster")]
const CLUSTER: &[&[&str]] = &[&["worker"], &["batch"], &["cluster", "status"]];
#[cfg(not(feature = "cluster"))]
const CLUSTER: &[&[&str]] = &[];

fn shofar(arguments: &[&str]) -> Output {
    Command::new(SHOFAR).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether there is such a program.
fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// The long options that the help text of a command has.
fn long_options(command: &[&str]) -> Vec<String> {
    let help = shofar(&[command, &["--help"]].concat());
    let words = text(&help.stdout);
    let mut options: Vec<String> = words
        .lines()
        .filter(|line| line.trim_start().starts_with('-'))
        .flat_map(str::split_whitespace)
        .filter(|word| word.starts_with("--"))
        .map(|word| word.trim_end_matches([',', '.']).to_owned())
        .collect();
    options.dedup();
    assert!(options.len() >= 2, "{words}");
    options
}

/// Programs that use the libraries have other options, or none.
#[test]
fn libraries_do_not_speak_of_options_of_the_program() {
    let commands = [
        &[][..],
        &["check"],
        &["convert"],
        &["explain"],
        &["info"],
        &["smt"],
        &["terminate"],
        &["transform"],
    ];
    let others = CLUSTER.iter().map(|command| &command[..]);
    let options: Vec<String> = commands.into_iter().chain(others).flat_map(long_options).collect();
    let mut folders: Vec<PathBuf> =
        ["logic", "smt", "hardware", "horn", "engines", "cooperate", "cluster", "run", "shofar"]
            .map(|library| Path::new(ROOT).join("crates").join(library).join("src"))
            .into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let code = fs::read_to_string(&path).unwrap();
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                let named = options.iter().find(|option| line.contains(&***option));
                let is_command = line.contains("`shofar ");
                assert!(named.is_none() && !is_command, "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn manual_pages_have_all_options_and_can_be_shown() {
    let folder = tempfile::tempdir().unwrap();
    assert!(shofar(&["man", "--folder", folder.path().to_str().unwrap()]).status.success());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let page = read("shofar.1");
    assert_eq!(text(&shofar(&["man"]).stdout), page);
    let plain = page.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "").replace("\\fI", "");
    for option in long_options(&[]) {
        assert!(plain.contains(&option), "{option} is not in {plain}");
    }
    for part in ["spacer", "split-tpa", "-O pdkind.depth", "EXIT STATUS", "shofar-check(1)", "EXAMPLES"] {
        assert!(plain.contains(part), "{part} is not in {plain}");
    }
    let others = CLUSTER.iter().filter(|command| command.len() == 1).map(|command| command[0]);
    for command in ["check", "info", "convert", "transform", "smt", "terminate"].into_iter().chain(others) {
        let plain = read(&format!("shofar-{command}.1")).replace("\\-", "-");
        assert_eq!(text(&shofar(&["man", command]).stdout).replace("\\-", "-"), plain);
        for option in long_options(&[command]) {
            assert!(plain.contains(&option), "{option} is not in {plain}");
        }
    }
    let wrong = shofar(&["man", "magic"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).starts_with("shofar: the commands are info, "), "{}", text(&wrong.stderr));
    assert_eq!(shofar(&["man", "--folder", "/dev/null/man"]).status.code(), Some(2));

    if is_installed("man") {
        for entry in fs::read_dir(folder.path()).unwrap() {
            let page = entry.unwrap().path();
            let shown = Command::new("man").args(["--warnings", "-l"]).arg(&page).output().unwrap();
            assert!(shown.status.success() && shown.stderr.is_empty(), "{}", text(&shown.stderr));
            assert!(text(&shown.stdout).contains("SYNOPSIS"), "{}", text(&shown.stdout));
        }
    } else {
        println!("skipped: man is not installed");
    }
}

#[test]
fn completions_have_all_options_and_can_be_loaded() {
    let folder = tempfile::tempdir().unwrap();
    for (shell, check) in [("bash", &["-n"][..]), ("zsh", &["-n"]), ("fish", &["--no-execute"])] {
        let made = shofar(&["completions", shell]);
        assert!(made.status.success());
        let script = text(&made.stdout);
        for option in long_options(&[]) {
            let name = option.trim_start_matches('-');
            assert!(script.contains(name), "{option} is not in the completions for {shell}");
        }
        for value in ["split-tpa", "dual-decomposed", "pdkind.depth=", "transform", "alethe"] {
            assert!(script.contains(value), "{value} is not in the completions for {shell}");
        }
        let file = folder.path().join(shell);
        fs::write(&file, script).unwrap();
        if is_installed(shell) {
            let loaded = Command::new(shell).args(check).arg(&file).output().unwrap();
            assert!(loaded.status.success() && loaded.stderr.is_empty(), "{}", text(&loaded.stderr));
        } else {
            println!("skipped: {shell} is not installed");
        }
    }
    if is_installed("bash") {
        let ask = format!(
            "source {}; COMP_WORDS=(shofar --engine spl); COMP_CWORD=2; _shofar shofar spl --engine; echo ${{COMPREPLY[@]}}",
            folder.path().join("bash").display()
        );
        let answer = Command::new("bash").args(["--norc", "-c", &ask]).output().unwrap();
        assert_eq!(text(&answer.stdout), "split-tpa\n", "{}", text(&answer.stderr));
    }
    let script = fs::read_to_string(folder.path().join("fish")).unwrap();
    // What is mended in the generated text, for those who have no fish.
    assert!(
        script.contains("    or begin\n") && script.contains("if contains -- \"$argv[1]\" info convert ")
    );
    if is_installed("fish") {
        for (line, completed) in [
            ("--engine spl", "split-tpa"),
            ("--engine=spl", "--engine=split-tpa"),
            ("-t 3 -e spl", "split-tpa"),
            ("clauses.smt2 --engine spl", "split-tpa"),
            ("check --tim", "--timeout"),
            ("convert --to sm", "smtlib"),
        ] {
            let ask = format!("source {}; complete -C 'shofar {line}'", folder.path().join("fish").display());
            let answer = Command::new("fish").args(["--no-config", "-c", &ask]).output().unwrap();
            let found = text(&answer.stdout);
            assert_eq!(found.split_whitespace().next(), Some(completed), "{line}: {}", text(&answer.stderr));
        }
    }
}

/// A fenced block of a document: what stands behind the fence, and the lines.
struct Block {
    info: String,
    lines: Vec<String>,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for line in document.lines() {
        if let Some(info) = line.strip_prefix("```") {
            if !is_open {
                blocks.push(Block { info: info.to_owned(), lines: Vec::new() });
            }
            is_open = !is_open;
        } else if is_open && let Some(block) = blocks.last_mut() {
            block.lines.push(line.to_owned());
        }
    }
    blocks
}

/// Whether lines are as expected, where `...` stands for any number of them.
fn matches(found: &[&str], expected: &[String]) -> bool {
    match expected {
        [] => found.is_empty(),
        [dots, rest @ ..] if dots == "..." => {
            (0..=found.len()).any(|skipped| matches(&found[skipped..], rest))
        }
        [line, rest @ ..] => found.first() == Some(&line.as_str()) && matches(&found[1..], rest),
    }
}

/// Runs what a document shows. A block ```` ```console ```` has commands behind `$` and what they print, errors last; a block
/// with the name of a file behind its language is that file. Returns the number of commands.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn run_document(document: &Path) -> usize {
    let folder = tempfile::tempdir().unwrap();
    for examples in ["examples", "examples/hardware", "examples/termination"] {
        for entry in fs::read_dir(format!("{ROOT}/{examples}")).unwrap() {
            let file = entry.unwrap().path();
            if file.is_file() {
                fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
            }
        }
    }
    let programs = Path::new(SHOFAR).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut count = 0;
    for Block { info, lines } in blocks(&fs::read_to_string(document).unwrap()) {
        if let Some((_, name)) = info.split_once(' ') {
            fs::write(folder.path().join(name), lines.join("\n") + "\n").unwrap();
        }
        if info != "console" {
            continue;
        }
        // What yosys makes is used in the same block.
        if lines.iter().any(|line| line.starts_with("$ yosys")) && !is_installed("yosys") {
            println!("skipped: yosys is not installed");
            continue;
        }
        let mut rest = &lines[..];
        while let [command, output @ ..] = rest {
            let command = command.strip_prefix("$ ").expect("a console starts with a command");
            let end = output.iter().position(|line| line.starts_with("$ ")).unwrap_or(output.len());
            let expected = &output[..end];
            rest = &output[end..];
            if command.starts_with("python3") && !is_installed("python3") {
                continue;
            }
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).current_dir(folder.path()).env("PATH", &path).stdin(Stdio::null());
            let done = shell.output().unwrap();
            let found = text(&done.stdout) + &text(&done.stderr);
            let found: Vec<&str> = found.lines().collect();
            let place = document.display();
            assert!(matches(&found, expected), "{place}: `{command}` prints\n{}", found.join("\n"));
            count += 1;
        }
    }
    count
}

#[cfg(unix)]
#[test]
fn commands_in_the_documents_do_what_is_shown() {
    let mut documents: Vec<PathBuf> =
        fs::read_dir(format!("{ROOT}/docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    documents.push(PathBuf::from(format!("{ROOT}/README.md")));
    documents.sort();
    let commands: usize = documents.iter().map(|document| run_document(document)).sum();
    assert!(commands >= 15, "{commands} commands only");
}

/// Engines, their interpolants and the schedule are described where they are documented. What `shofar engines` prints is
/// compared as the output of a command.
#[test]
fn tables_of_engines_are_those_of_the_program() {
    let page = fs::read_to_string(format!("{ROOT}/docs/solving.md")).unwrap();
    let has_line = |line: &str| page.lines().any(|other| other == line);
    let names: Vec<&str> = shofar_engines::all().iter().map(|engine| engine.name()).collect();
    let section = page.split("\n## Engines\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut documented: Vec<&str> = rows.collect();
    documented.sort_unstable();
    let mut all = names.clone();
    all.sort_unstable();
    assert_eq!(documented, all);

    let interpolating = shofar_engines::all().into_iter().filter_map(|mut engine| {
        let has_option = engine.options().iter().any(|option| option.name == "interpolation");
        has_option.then(|| engine.name())
    });
    let row = page.lines().find(|line| line.starts_with("| `--interpolation NAME`")).unwrap();
    let interpolations = InterpolationMethod::ALL.iter().map(|interpolation| interpolation.name());
    for name in interpolating.chain(interpolations) {
        assert!(row.contains(&format!("`{name}`")), "{name} is not in {row}");
    }

    for Class { name, description, engines, .. } in CLASSES {
        let engines: Vec<String> =
            engines.iter().map(|(engine, weight)| format!("`{engine}` {weight}")).collect();
        let row = format!("| {name} | {description} | {} |", engines.join(", "));
        assert!(has_line(&row), "{row}");
    }

    let page = fs::read_to_string(format!("{ROOT}/docs/hardware.md")).unwrap();
    for engine in ENGINES {
        let row = format!("| `{}` |", engine.name);
        assert!(page.lines().any(|line| line.starts_with(&row)), "{row}");
    }
}

/// Links between the documents lead to files that are there, and to headings that are in them.
#[test]
fn links_between_documents_lead_somewhere() {
    let mut documents = vec![PathBuf::from(format!("{ROOT}/README.md"))];
    documents.extend(fs::read_dir(format!("{ROOT}/docs")).unwrap().map(|entry| entry.unwrap().path()));
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    for document in &documents {
        let content = fs::read_to_string(document).unwrap();
        for link in content.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) =
                link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
            let target =
                if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link}", document.display());
            if let Some(heading) = heading {
                let target = fs::read_to_string(target).unwrap();
                let is_there =
                    target.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == heading);
                assert!(is_there, "{}: {link}", document.display());
            }
        }
    }
}

/// The name that a heading has in links.
fn anchor(heading: &str) -> String {
    let title = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = title.chars().filter(|&letter| letter.is_alphanumeric() || letter == ' ' || letter == '-');
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}
