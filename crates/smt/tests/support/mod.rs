//! What generated inputs are made with: numbers that are the same in every run, and how many inputs there are to be. And
//! how scripts are executed and answers taken apart.

#![allow(dead_code, reason = "each user of this module needs a part of it")]

use std::ops::Range;

use shofar_logic::TermStore;
use shofar_run::Limits;
use shofar_smt::script::{Commands, Script};

/// Xorshift, so that inputs are the same in every run.
pub(crate) struct Random(u64);

impl Random {
    /// Seeds that are near to each other give numbers that are not.
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number from zero on, below the bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// A position in a list of this length.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// A number that is none of those outside.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// Coefficients of so many variables, none greater in size.
    pub(crate) fn form(&mut self, vars: usize, size: i64) -> Vec<i64> {
        (0..vars).map(|_| self.between(-size, size)).collect()
    }
}

/// How many times as many inputs are to be generated: `SHOFAR_TEST_SCALE` in the environment.
pub(crate) fn scale() -> u64 {
    setting("SHOFAR_TEST_SCALE", 1)
}

/// The numbers of inputs, of which there are usually so many. `SHOFAR_TEST_FROM` in the environment leaves out those
/// before, so that a long run can be made in pieces.
pub(crate) fn numbers(count: u64) -> Range<u64> {
    setting("SHOFAR_TEST_FROM", 0)..count * scale()
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// What a script answers.
pub(crate) fn execute(script: &str) -> String {
    let store = TermStore::new();
    let mut runner = Script::new(&store);
    let mut commands = Commands::new(script.as_bytes());
    let mut out = Vec::new();
    while let Some(command) = commands.next_command().unwrap() {
        runner.execute(&command, &Limits::default(), &mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}

/// The text from a parenthesis to the one that closes it, and what comes after.
pub(crate) fn group(text: &str) -> Option<(&str, &str)> {
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
pub(crate) fn members(mut text: &str) -> Vec<&str> {
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
