//! Executes scripts and parses answers.

use shofar_logic::TermStore;
use shofar_run::Limits;
use shofar_smt::script::{Commands, Script};

/// The output of a script.
pub fn execute(script: &str) -> String {
    let store = TermStore::new();
    let mut runner = Script::new(&store);
    let mut commands = Commands::new(script.as_bytes());
    let mut out = Vec::new();
    while let Some(command) = commands.next_command().unwrap() {
        runner.execute(&command, &Limits::default(), &mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}

/// The text from a parenthesis to its closing one, and the rest.
pub fn group(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let (mut depth, mut is_quoted) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'|' => is_quoted = !is_quoted,
            b'(' if !is_quoted => depth += 1,
            b')' if !is_quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(text.split_at(at + 1));
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The expressions of a text.
pub fn members(mut text: &str) -> Vec<&str> {
    let mut members = Vec::new();
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return members;
        }
        let (member, rest) =
            group(text).unwrap_or_else(|| text.split_at(text.find(' ').unwrap_or(text.len())));
        members.push(member);
        text = rest;
    }
}
