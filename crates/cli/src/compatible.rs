//! Options of Eldarica and Z3, and calls by their names: `eld` and `z3`.
//!
//! Tools that run one of these solvers, such as the Solidity compiler, can run Shofar in its place. [`Call::new`] translates
//! the options that have a meaning here, before the command line is parsed. It leaves out those that only tune the other
//! solver, and [`Call::note`] names them. A program that is called by the name of another solver takes only that solver's
//! options; `shofar` also takes its own, so there it is a fixed list that counts as foreign.
//!
//! A program in the place of another solver also has to print what that one prints: models and proofs if the script says
//! `get-model` and `get-proof`, and mistakes as `(error "...")`. `z3` executes a script that is not about Horn clauses as `shofar smt` does. The words of
//! answers are those of Horn clauses, which is what both solvers use after `(set-logic HORN)`. In Z3's fixedpoint format Z3
//! uses them in the opposite sense; a script in that format is refused.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use shofar_smt::script::Commands;

use crate::arguments::Arguments;
use crate::input::{peek_stdin_within, read_text_within};
use crate::parse::{is_command, solve_parser};
use crate::{Failure, escape, smt, solve};

/// Z3 counts elementary steps for `rlimit`. On usual machines it makes about so many of them in a second.
const STEPS_PER_SECOND: f64 = 1e6;

/// The options of Eldarica that only say what is the case here.
const ELDARICA_ALWAYS: &[&str] = &["-horn", "-hsmt"];

/// The options of Eldarica that choose how it works. If there is a colon, a value follows it.
const ELDARICA_TUNING: &[&str] = &[
    "-abstract",
    "-abstract:",
    "-abstractPO",
    "-abstractTO:",
    "-arithMode:",
    "-arrayQuans:",
    "-assert",
    "-cexSimplified",
    "-cloneArrays",
    "-disj",
    "-dotCEX",
    "-dynac",
    "-eogCEX",
    "-glb",
    "-hints:",
    "-lbe",
    "-log",
    "-log:",
    "-logPreds:",
    "-logSimplified",
    "-logSimplifiedSMT",
    "-minePredicates",
    "-noIntervals",
    "-noSlicing",
    "-pHints",
    "-pngNo",
    "-portfolio",
    "-postHints:",
    "-princess",
    "-splitClauses:",
    "-stac",
    "-sym",
    "-sym:",
    "-symDepth:",
    "-unap",
    "-verifyInterpolants",
];

/// The options of Eldarica for other inputs and outputs, which would change what the answer means.
const ELDARICA_OTHER: &[&str] = &["-conc", "-hin", "-ints", "-p", "-sp", "-pIntermediate"];

/// The options of Z3 for other formats.
const Z3_OTHER: &[&str] = &["-dl", "-dimacs", "-wcnf", "-opb", "-lp"];

/// The parameters of Z3 without a module in front.
const Z3_GLOBALS: &[&str] = &[
    "auto_config",
    "debug_ref_count",
    "dump_models",
    "memory_high_watermark",
    "memory_max_alloc_count",
    "memory_max_size",
    "model",
    "model_validate",
    "proof",
    "rlimit",
    "timeout",
    "trace",
    "type_check",
    "unsat_core",
    "verbose",
    "warning",
    "well_sorted_check",
];

/// A solver that Shofar stands in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Solver {
    Eldarica,
    Z3,
}

/// For which answer the witness is printed; both by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Of {
    Sat,
    Unsat,
}

impl Of {
    /// The word of the answer.
    pub(crate) fn answer(self) -> &'static str {
        match self {
            Of::Sat => "sat",
            Of::Unsat => "unsat",
        }
    }
}

/// How the program was called.
#[derive(Default, Debug)]
pub(crate) struct Call {
    /// The name of the program and its arguments, as Shofar writes them.
    pub(crate) arguments: Vec<OsString>,
    /// The solver by whose name the program is called.
    pub(crate) solver: Option<Solver>,
    /// The foreign options that have no meaning here.
    ignored: Vec<String>,
    /// The first option that asks for something that Shofar does not do.
    refused: Option<String>,
}

impl Call {
    /// Translates a command line, which starts with the name of the program.
    pub(crate) fn new(words: impl IntoIterator<Item = OsString>) -> Self {
        let mut words = words.into_iter();
        let program = words.next();
        let stem = program.as_ref().and_then(|name| Path::new(name).file_stem()?.to_str());
        let solver = match stem {
            Some("eld") => Some(Solver::Eldarica),
            Some("z3") => Some(Solver::Z3),
            _ => None,
        };
        let words: Vec<OsString> = words.collect();
        let mut call = Call { arguments: vec!["shofar".into()], solver, ..Call::default() };
        // Most calls have no option that could be somebody else's.
        let own = LazyCell::new(Own::new);
        if solver.is_none() && words.first().and_then(|word| word.to_str()).is_some_and(is_command) {
            call.arguments.extend(words);
            return call;
        }
        let mut wishes = Wishes::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_str().unwrap_or_default();
            if text == "--" {
                call.arguments.push(word);
                break;
            }
            if call.understands(text, &mut wishes) {
                continue;
            }
            let has_value = text.starts_with('-') && own.takes_value(text);
            call.arguments.push(word);
            if has_value {
                call.arguments.extend(words.next());
            }
        }
        // Files may follow whose names look like options.
        let files: Vec<OsString> = words.collect();
        wishes.append_to(&mut call);
        call.arguments.extend(files);
        call
    }

    /// What was left out, for standard error.
    pub(crate) fn note(&self) -> Option<String> {
        let solvers = match self.solver {
            Some(Solver::Eldarica) => "Eldarica",
            Some(Solver::Z3) => "Z3",
            None => "other solvers",
        };
        (!self.ignored.is_empty()).then(|| {
            format!("shofar: options of {solvers} without a meaning here: {}", self.ignored.join(" "))
        })
    }

    /// Refuses options that ask for something else.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match &self.refused {
            Some(option) => Err(Failure::Input(format!(
                "shofar: `{option}` asks for something that Shofar does not do in the place of another solver"
            ))),
            None => Ok(()),
        }
    }

    /// Whether a word is an option of another solver; if so, it is translated or ignored.
    fn understands(&mut self, word: &str, wishes: &mut Wishes) -> bool {
        let is_eldarica = self.solver != Some(Solver::Z3);
        let is_z3 = self.solver != Some(Solver::Eldarica);
        let is_one_of = |options: &[&str]| options.iter().any(|option| is_option(word, option));
        let value = word.split_once([':', '=']).map_or("", |(_, value)| value);
        match word {
            "-in" => wishes.stdin = true,
            _ if word.starts_with("-t:") => wishes.soft_timeout = Some(value.to_owned()),

            "-sol" | "-ssol" if is_eldarica => wishes.model = true,
            "-cex" | "-scex" if is_eldarica => wishes.derivation = true,
            "-statistics" if is_eldarica => wishes.add("--stats"),
            _ if is_eldarica && is_one_of(ELDARICA_ALWAYS) => {}
            _ if is_eldarica && is_one_of(ELDARICA_OTHER) => self.refuse(word),
            _ if is_eldarica && is_one_of(ELDARICA_TUNING) => self.ignored.push(word.to_owned()),

            "-smt2" if is_z3 => wishes.is_z3 = true,
            "-model" if is_z3 => wishes.model = true,
            "-st" if is_z3 => wishes.add("--stats"),
            "-nw" if is_z3 => {}
            _ if is_z3 && word.starts_with("-v:") => {}
            _ if is_z3 && word.starts_with("-T:") => {
                wishes.is_z3 = true;
                wishes.timeout = Some(value.to_owned());
            }
            _ if is_z3 && word.starts_with("-memory:") => wishes.memory = Some(value.to_owned()),
            _ if is_z3 && word.starts_with("-file:") => wishes.file = Some(value.to_owned()),
            _ if is_z3 && is_one_of(Z3_OTHER) => self.refuse(word),
            _ if is_z3 && is_parameter(word) => {
                wishes.is_z3 = true;
                self.parameter(word, value, wishes);
            }

            "-h" | "-?" | "-version" if self.solver.is_some() => {
                wishes.add(if word == "-version" { "--version" } else { "--help" });
            }
            _ if self.solver.is_some() && word.starts_with('-') && !word.starts_with("--") && word != "-" => {
                self.ignored.push(word.to_owned());
            }
            _ => return false,
        }
        true
    }

    /// Translates a parameter of Z3.
    fn parameter(&mut self, word: &str, value: &str, wishes: &mut Wishes) {
        match (word.split('=').next().unwrap_or_default(), value) {
            ("timeout", _) => wishes.soft_timeout = Some(value.to_owned()),
            ("rlimit", _) => wishes.steps = Some(value.to_owned()),
            ("memory_max_size", _) => wishes.memory = Some(value.to_owned()),
            ("model", "true") | ("proof", _) => {}
            ("fp.engine", "spacer" | "bmc") => wishes.add(&format!("--engine={value}")),
            _ => self.ignored.push(word.to_owned()),
        }
    }

    fn refuse(&mut self, word: &str) {
        self.refused.get_or_insert_with(|| word.to_owned());
    }
}

/// Whether a word is an option; one that ends in a colon is followed by a value.
fn is_option(word: &str, option: &str) -> bool {
    if option.ends_with(':') { word.starts_with(option) } else { word == option }
}

/// Whether a word sets a parameter of Z3, as in `fp.engine=spacer`, and is no file.
fn is_parameter(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let is_known = if name.contains('.') { name.split('.').all(is_name) } else { Z3_GLOBALS.contains(&name) };
    is_known && !Path::new(word).exists()
}

/// What the foreign options ask for.
#[derive(Default)]
struct Wishes {
    /// Whether an option is written that only Z3 has.
    is_z3: bool,
    stdin: bool,
    file: Option<String>,
    /// In seconds.
    timeout: Option<String>,
    /// The value of `-t:`, which is in seconds for Eldarica and in milliseconds for Z3.
    soft_timeout: Option<String>,
    /// Z3's limit of elementary steps.
    steps: Option<String>,
    /// In mebibytes.
    memory: Option<String>,
    model: bool,
    derivation: bool,
    /// Options that are already translated.
    others: Vec<OsString>,
}

impl Wishes {
    fn add(&mut self, option: &str) {
        self.others.push(option.into());
    }

    /// Appends them as Shofar's options.
    fn append_to(self, call: &mut Call) {
        let is_z3 = match call.solver {
            Some(solver) => solver == Solver::Z3,
            None => self.is_z3,
        };
        let scaled = |value: String, per_second: f64| match value.parse::<f64>() {
            Ok(number) => (number / per_second).to_string(),
            // Shofar's own message says what is wrong.
            Err(_) => value,
        };
        // For Z3, zero is no limit.
        let limits = |value: &Option<String>| value.as_ref().is_some_and(|value| !is_z3 || value != "0");
        let timeout = if limits(&self.timeout) {
            self.timeout
        } else if limits(&self.soft_timeout) {
            self.soft_timeout.map(|value| if is_z3 { scaled(value, 1000.0) } else { value })
        } else if limits(&self.steps) {
            self.steps.map(|value| scaled(value, STEPS_PER_SECOND))
        } else {
            None
        };
        call.arguments.extend(self.others);
        call.arguments.extend(timeout.map(|value| format!("--timeout={value}").into()));
        let memory = self.memory.filter(|value| !is_z3 || value != "0");
        call.arguments.extend(memory.map(|value| format!("--memory={value}").into()));
        if self.model || self.derivation {
            call.arguments.push("--witness".into());
        }
        if self.model != self.derivation {
            let of = if self.model { Of::Sat } else { Of::Unsat };
            call.arguments.push(format!("--witness-of={}", of.answer()).into());
        }
        call.arguments.extend(self.file.map(OsString::from));
        if self.stdin {
            call.arguments.push("-".into());
        }
    }
}

/// Shofar's own command line.
struct Own {
    /// The options whose value may be the next word.
    long: HashSet<String>,
    short: HashSet<char>,
}

impl Own {
    fn new() -> Self {
        let program = solve_parser();
        let with_values = || program.get_arguments().filter(|option| option.get_action().takes_values());
        Own {
            long: with_values().filter_map(|option| Some(format!("--{}", option.get_long()?))).collect(),
            short: with_values().filter_map(clap::Arg::get_short).collect(),
        }
    }

    /// Whether the value of the option at the end of this word is the next word.
    fn takes_value(&self, word: &str) -> bool {
        if word.starts_with("--") {
            return self.long.contains(word);
        }
        let mut letters = word.strip_prefix('-').unwrap_or_default().chars();
        // What follows an option with a value in the same word is the value.
        letters.find(|letter| self.short.contains(letter)).is_some() && letters.next().is_none()
    }
}

/// Solves in the place of another solver: `arguments` are the translated ones.
pub(crate) fn run(
    solver: Solver,
    arguments: &Arguments,
    start: Instant,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let limits = arguments.limits.start(start);
    let mut script = None;
    if arguments.file() == "-" {
        peek_stdin_within(&limits, |text| {
            script = Some(Script::of(text));
            true
        });
    } else {
        script = Some(Script::of(&read_text_within(&limits, arguments.file())?));
    }
    // Without a text, solving says why.
    let script = script.unwrap_or_default();
    let mut arguments = arguments.clone();
    if let Some(timeout) = script.timeout {
        arguments.limits.tighten(timeout);
    }
    if solver == Solver::Z3 && script.is_fixedpoint {
        let message = "shofar: in the fixedpoint format, Z3 uses `sat` and `unsat` in the opposite sense of Shofar, \
                       which therefore does not answer by the name `z3`";
        return Err(Failure::Input(message.to_owned()));
    }
    if solver == Solver::Z3 && !script.is_horn {
        return smt::run(&smt::Arguments::new(arguments.file(), arguments.limits), out);
    }
    if script.model {
        arguments.print_witness_of(Of::Sat);
    }
    if solver == Solver::Z3 && script.proof {
        arguments.print_proofs_of_z3();
    }
    solve::run(&arguments, start, out)
}

/// Prints an error as other solvers do, unless the answer is printed or nothing can be.
pub(crate) fn print_error(failure: &Failure, out: &mut impl Write) -> Result<(), Failure> {
    let message = match failure {
        Failure::Mistake(mistake) => mistake.summary(),
        Failure::Input(message) | Failure::Refused(message) => message.clone(),
        Failure::Stopped(file, stop) => format!("{file}: {stop}"),
        Failure::Incomplete(_) | Failure::Output(_) => return Ok(()),
    };
    Ok(writeln!(out, "(error \"{}\")", escape::lines(&message).replace('"', "\"\""))?)
}

/// What a script asks for.
#[derive(Default, Debug, PartialEq)]
struct Script {
    is_horn: bool,
    is_fixedpoint: bool,
    /// Whether it asks for a model.
    model: bool,
    /// Whether it asks for a proof.
    proof: bool,
    /// The least value of the option `:timeout`.
    timeout: Option<Duration>,
}

impl Script {
    fn of(text: &[u8]) -> Self {
        let mut script = Script::default();
        let mut commands = Commands::new(text);
        // Reading from memory cannot fail.
        while let Ok(Some(command)) = commands.next_command() {
            let command = String::from_utf8_lossy(&command);
            let lines = command.lines().map(|line| line.split(';').next().unwrap_or_default());
            let words: Vec<&str> = lines
                .flat_map(|line| line.split(|c: char| c.is_whitespace() || c == '(' || c == ')'))
                .filter(|word| !word.is_empty())
                .take(3)
                .collect();
            match words[..] {
                ["set-logic", "HORN", ..] => script.is_horn = true,
                ["declare-rel" | "rule" | "query", ..] => script.is_fixedpoint = true,
                ["get-model", ..] => script.model = true,
                ["get-proof", ..] => script.proof = true,
                ["set-option", ":timeout", milliseconds] => {
                    let timeout =
                        milliseconds.parse().ok().filter(|number| *number > 0).map(Duration::from_millis);
                    script.timeout = script.timeout.into_iter().chain(timeout).min();
                }
                _ => {}
            }
        }
        script
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The translated arguments, the ignored ones, and the refused one.
    fn translated(line: &str) -> (String, String, Option<String>) {
        let call = Call::new(line.split_whitespace().map(OsString::from));
        let arguments: Vec<&str> = call.arguments[1..].iter().map(|word| word.to_str().unwrap()).collect();
        (arguments.join(" "), call.ignored.join(" "), call.refused)
    }

    fn becomes(line: &str, arguments: &str) {
        let (found, ignored, refused) = translated(line);
        assert_eq!((&*found, &*ignored, refused), (arguments, "", None), "{line}");
    }

    #[test]
    fn calls_of_the_solidity_compiler() {
        becomes("eld -hsmt -in -t:10 -ssol", "--timeout=10 --witness --witness-of=sat -");
        becomes("eld -horn -t:10 q.smt2", "q.smt2 --timeout=10");
        let line = "/usr/bin/z3 -in -smt2 -model -t:2500 rewriter.pull_cheap_ite=true fp.spacer.mbqi=false";
        let (arguments, ignored, _) = translated(line);
        assert_eq!(arguments, "--timeout=2.5 --witness --witness-of=sat -");
        assert_eq!(ignored, "rewriter.pull_cheap_ite=true fp.spacer.mbqi=false");
        becomes("z3 -smt2 rlimit=20000000 q.smt2", "q.smt2 --timeout=20");
    }

    #[test]
    fn the_unit_of_a_limit_is_that_of_the_solver() {
        becomes("shofar -t:10 a.smt2", "a.smt2 --timeout=10");
        becomes("shofar -smt2 -t:10 a.smt2", "a.smt2 --timeout=0.01");
        becomes("shofar -T:10 a.smt2", "a.smt2 --timeout=10");
        becomes("shofar timeout=1500 a.smt2", "a.smt2 --timeout=1.5");
        becomes("z3 -T:10 -t:500 a.smt2", "a.smt2 --timeout=10");
        becomes("z3 -t:0 -memory:100 a.smt2", "a.smt2 --memory=100");
        becomes("eld -t:x a.smt2", "a.smt2 --timeout=x");
    }

    #[test]
    fn own_options_stay_as_they_are() {
        for line in [
            "-t 10 -wv a.smt2",
            "-O spacer.guidance=no -e bmc a.smt2",
            "-wO spacer.guidance=no a.smt2",
            "--option spacer.guidance=no a.smt2",
            "--option=spacer.guidance=no -",
            "-O fp.engine=bmc a.smt2",
            "smt -t:10",
            "-- -horn",
        ] {
            becomes(&format!("shofar {line}"), line);
        }
    }

    #[test]
    fn options_without_a_meaning_are_named_once() {
        let call = Call::new(["shofar", "-abstract:oct", "-lbe", "pp.max_depth=3"].map(OsString::from));
        assert_eq!(
            call.note().unwrap(),
            "shofar: options of other solvers without a meaning here: -abstract:oct -lbe pp.max_depth=3"
        );
        assert_eq!(Call::new(["shofar", "-v", "a"].map(OsString::from)).note(), None);
        assert_eq!(translated("eld -newOption a.smt2").1, "-newOption");
    }

    #[test]
    fn witnesses_are_those_that_the_options_ask_for() {
        becomes("shofar -sol -cex a.smt2", "a.smt2 --witness");
        becomes("shofar -scex a.smt2", "a.smt2 --witness --witness-of=unsat");
        becomes("z3 -st fp.engine=bmc a.smt2", "a.smt2 --stats --engine=bmc");
    }

    #[test]
    fn other_formats_are_refused() {
        assert_eq!(translated("eld -hin a.horn").2.as_deref(), Some("-hin"));
        assert_eq!(translated("z3 -dimacs a.cnf").2.as_deref(), Some("-dimacs"));
    }

    #[test]
    fn a_file_may_look_like_a_parameter() {
        assert!(is_parameter("fp.engine=spacer") && is_parameter("rlimit=3"));
        assert!(!is_parameter("a=b.smt2") && !is_parameter("Fp.x=3") && !is_parameter("fp..x=3"));
    }

    #[test]
    fn what_scripts_ask_for() {
        let text = "; (get-model)\n(set-option :timeout 1500) (set-logic |HORN|)\n(set-logic ; horn\n HORN)";
        let expected =
            Script { is_horn: true, timeout: Some(Duration::from_millis(1500)), ..Script::default() };
        assert_eq!(Script::of(text.as_bytes()), expected);
        assert!(Script::of(b"(check-sat)\n(get-model)").model);
        assert!(Script::of(b"(declare-rel P (Int))").is_fixedpoint);
        assert_eq!(Script::of(b"(echo \"(get-model)\") (set-option :timeout 0)"), Script::default());
    }
}
