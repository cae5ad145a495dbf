//! Z3 as a judge: many queries in one process.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::process::{Command, Stdio};

use shofar_logic::{SortKind, Term, TermStore};
use shofar_smt::sat::Outcome;

/// Z3's answers to a script, one for each line; `None` if it is not installed.
pub fn answers(script: &str) -> Option<Vec<String>> {
    let child = Command::new("z3").arg("-in").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        println!("skipped: z3 is not installed (pip install z3-solver)");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let text = script.to_owned();
    // Z3 answers while it reads, so a thread writes to avoid a deadlock.
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

/// Compares the answers to the queries of a script with Z3's. At most one in fifty may be unknown.
///
/// # Panics
///
/// If one is sat and the other unsat.
pub fn compare(script: &str, found: &[Outcome]) {
    let unknown = found.iter().filter(|answer| matches!(answer, Outcome::Unknown(_))).count();
    assert!(unknown * 50 <= found.len(), "{unknown} of {} are unknown", found.len());
    let Some(expected) = answers(script) else { return };
    assert_eq!(expected.len(), found.len(), "{:?}", expected.iter().find(|line| line.contains("error")));
    for (number, (expected, answer)) in expected.iter().zip(found).enumerate() {
        let agree = match (expected.as_str(), answer) {
            ("sat", Outcome::Unsat) | ("unsat", Outcome::Sat) => false,
            ("sat" | "unsat" | "unknown", _) => true,
            _ => panic!("{expected}"),
        };
        assert!(agree, "query {number}: z3 says {expected}, we say {answer:?}");
    }
}

/// Whether Z3 is installed. Tests that need it are skipped, with a message, if it is not.
pub fn is_installed() -> bool {
    answers("").is_some()
}

/// Declarations of all symbols of the formulas, and of their sorts.
pub fn declarations(store: &TermStore, formulas: &[Term]) -> String {
    let symbols = store.symbols(formulas);
    let mut sorts = Vec::new();
    let mut text = String::new();
    for &var in &symbols.vars {
        sorts.push(store.sort_of(var));
        let _ = writeln!(
            text,
            "(declare-const {} {})",
            store.display(var),
            store.display_sort(sorts[sorts.len() - 1])
        );
    }
    for &fun in &symbols.funs {
        let decl = store.fun_decl(fun);
        let domain: Vec<String> =
            decl.domain.iter().map(|&sort| store.display_sort(sort).to_string()).collect();
        let name = store.display_symbol(decl.name);
        let range = store.display_sort(decl.range);
        let _ = writeln!(text, "(declare-fun {name} ({}) {range})", domain.join(" "));
        sorts.extend(decl.domain.iter().copied().chain([decl.range]));
    }
    sorts.sort_unstable();
    sorts.dedup();
    sorts.retain(|&sort| matches!(store.sort_kind(sort), SortKind::Uninterpreted(..)));
    let sorts: String =
        sorts.iter().map(|&sort| format!("(declare-sort {} 0)\n", store.display_sort(sort))).collect();
    sorts + &text
}

/// The greatest length of a script.
const BATCH: usize = 1 << 22;

/// Implications to be checked by Z3.
#[derive(Default)]
pub struct Implications {
    script: String,
    /// The start of the open frame, and each query with the start of its frame.
    frame: usize,
    asked: Vec<(usize, Range<usize>)>,
    /// The number of confirmed implications.
    pub confirmed: usize,
    /// The number of undecided implications.
    pub unknown: usize,
}

impl Implications {
    /// Begins a frame with the symbols of these formulas.
    pub fn begin(&mut self, store: &TermStore, formulas: &[Term]) {
        if self.script.is_empty() {
            self.script.push_str("(set-option :timeout 2000)\n");
        }
        self.frame = self.script.len();
        self.script.push_str("(push 1)\n");
        self.script.push_str(&declarations(store, formulas));
    }

    /// Adds the query whether the premises imply the conclusion.
    pub fn ask(&mut self, store: &TermStore, premises: &[Term], conclusion: Term) {
        let start = self.script.len();
        self.script.push_str("(push 1)");
        for &premise in premises {
            let _ = write!(self.script, "(assert {})", store.display(premise));
        }
        let _ = writeln!(self.script, "(assert (not {}))(check-sat)(pop 1)", store.display(conclusion));
        self.asked.push((self.frame, start..self.script.len()));
    }

    /// Ends the frame.
    pub fn end(&mut self) {
        self.script.push_str("(pop 1)\n");
        if self.script.len() > BATCH {
            self.settle();
        }
    }

    /// Sends the pending queries to Z3. Panics if an implication is wrong.
    pub fn settle(&mut self) {
        let (script, asked) = (std::mem::take(&mut self.script), std::mem::take(&mut self.asked));
        let Some(answers) = answers(&script) else { return };
        let errors = answers.iter().find(|answer| answer.contains("error"));
        assert_eq!(answers.len(), asked.len(), "{errors:?}");
        for (answer, (frame, question)) in std::iter::zip(&answers, asked) {
            match answer.as_str() {
                "unsat" => self.confirmed += 1,
                "unknown" | "timeout" => self.unknown += 1,
                _ => {
                    let declarations =
                        script[frame..question.start].lines().filter(|line| line.contains("declare"));
                    let declarations: Vec<&str> = declarations.collect();
                    let alone = format!("{}\n{}", declarations.join("\n"), &script[question]);
                    assert!(is_withdrawn(&alone), "z3 says {answer}:\n{alone}");
                    self.unknown += 1;
                }
            }
        }
    }
}

/// Whether Z3 answers differently if asked alone, or finds its model invalid. (4.16 has such models, of functions over
/// Booleans.)
fn is_withdrawn(question: &str) -> bool {
    let script = format!("(set-option :model_validate true)\n{question}");
    let Some(answers) = answers(&script) else { return false };
    answers == ["unsat"] || answers.iter().any(|answer| answer.contains("invalid model"))
}
