//! The options of a script: names, types, current values.
//!
//! `set-option` accepts a value of the option's type and refuses every other value with an error. An unknown option is
//! answered with `unsupported`. `get-option` returns the current value. The table in `docs/smt.md` lists all options, and
//! a test compares it with [`names`].
//!
//! A flag is `true` or `false`; OpenSMT's scripts write `1` and `0`. OpenSMT also numbers its interpolation algorithms.
//! These options exist under OpenSMT's names and set the same values as ours:
//!
//! ```text
//! :interpolation-bool-algorithm  0 mcmillan   1 pudlak   2 dual-mcmillan   (3 to 5, proof-sensitive, are refused)
//! :interpolation-euf-algorithm   0 strong     2 weak                       (3, random, is refused)
//! :interpolation-lra-algorithm   0 farkas     2 dual     3 flexible   4 decomposed   5 dual-decomposed
//! :interpolation-lra-factor      the strength of flexible interpolants, as a string: "1/2"
//! ```

use shofar_logic::number::Rational;
use shofar_logic::smtlib::{Lexer, Token};

use crate::interpolate::farkas::Strength;
use crate::interpolate::{self, Arithmetic, Equality, Labelling, Simplification};

/// An option that is true or false.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flag {
    GlobalDeclarations,
    MinimalCores,
    PrintSuccess,
    Assertions,
    Assignments,
    Interpolants,
    Models,
    Proofs,
    UnsatAssumptions,
    UnsatCores,
}

/// An option that is a natural number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number {
    Seed,
    /// The conflicts that each query may take; zero for any number.
    ResourceLimit,
    Verbosity,
}

/// The flags, in the order of the enumeration, with their defaults.
const FLAGS: [(&str, Flag, bool); 10] = [
    (":global-declarations", Flag::GlobalDeclarations, false),
    (":minimal-unsat-cores", Flag::MinimalCores, false),
    (":print-success", Flag::PrintSuccess, false),
    (":produce-assertions", Flag::Assertions, true),
    (":produce-assignments", Flag::Assignments, false),
    (":produce-interpolants", Flag::Interpolants, false),
    (":produce-models", Flag::Models, true),
    (":produce-proofs", Flag::Proofs, false),
    (":produce-unsat-assumptions", Flag::UnsatAssumptions, true),
    (":produce-unsat-cores", Flag::UnsatCores, false),
];

/// The numbers, in the order of the enumeration. All are zero at first.
const NUMBERS: [(&str, Number); 3] = [
    (":random-seed", Number::Seed),
    (":reproducible-resource-limit", Number::ResourceLimit),
    (":verbosity", Number::Verbosity),
];

/// The options with values of other types.
const OTHERS: [&str; 11] = [
    ":diagnostic-output-channel",
    ":interpolation-bool",
    ":interpolation-bool-algorithm",
    ":interpolation-euf",
    ":interpolation-euf-algorithm",
    ":interpolation-lra",
    ":interpolation-lra-algorithm",
    ":interpolation-lra-factor",
    ":interpolation-strength",
    ":regular-output-channel",
    ":simplify-interpolants",
];

/// The names of all options.
pub fn names() -> impl Iterator<Item = &'static str> {
    let flags = FLAGS.iter().map(|&(name, ..)| name);
    flags.chain(NUMBERS.iter().map(|&(name, _)| name)).chain(OTHERS)
}

/// The value of every option.
pub(crate) struct Options {
    flags: [bool; FLAGS.len()],
    numbers: [u64; NUMBERS.len()],
    regular_channel: String,
    pub(crate) interpolation: interpolate::Options,
    /// The factor of flexible interpolants, also while others are chosen.
    strength: Strength,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            flags: FLAGS.map(|(_, _, default)| default),
            numbers: [0; NUMBERS.len()],
            regular_channel: "stdout".to_owned(),
            interpolation: interpolate::Options::default(),
            strength: Strength::default(),
        }
    }
}

/// The value that a script gives to an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value<'t> {
    Symbol(&'t str),
    Number(&'t str),
    String(&'t str),
    /// Anything else, or nothing.
    Other,
}

impl<'t> Value<'t> {
    /// The value in the text of a `set-option` command, whose syntax is right.
    pub(crate) fn read(text: &'t [u8]) -> Self {
        let mut lexer = Lexer::new(text);
        let mut tokens = std::iter::from_fn(|| lexer.next_token().ok());
        let value = match tokens.nth(3) {
            Some(Token::Symbol(name) | Token::Quoted(name)) => Value::Symbol(name),
            Some(Token::Numeral(digits) | Token::Decimal(digits)) => Value::Number(digits),
            Some(Token::String(bytes)) => std::str::from_utf8(bytes).map_or(Value::Other, Value::String),
            _ => Value::Other,
        };
        if tokens.next() == Some(Token::Close) { value } else { Value::Other }
    }
}

/// Why an option was not set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// There is no such option.
    Unknown,
    /// The option has no such value.
    Value(String),
}

impl Options {
    /// Whether the flag is true.
    pub(crate) fn has(&self, flag: Flag) -> bool {
        self.flags[flag as usize]
    }

    /// The value of the number.
    pub(crate) fn number(&self, number: Number) -> u64 {
        self.numbers[number as usize]
    }

    /// Where answers go: `stdout`, or the name of a file.
    pub(crate) fn regular_channel(&self) -> &str {
        &self.regular_channel
    }

    /// Whether the solver has to log proofs.
    pub(crate) fn log_proofs(&self) -> bool {
        self.has(Flag::Proofs) || self.has(Flag::Interpolants)
    }

    /// Whether the option can change only before the first assertion.
    pub(crate) fn is_early(name: &str) -> bool {
        let early = [
            ":global-declarations",
            ":produce-interpolants",
            ":produce-proofs",
            ":produce-unsat-cores",
            ":random-seed",
        ];
        early.contains(&name)
    }

    /// Sets an option. On a refusal nothing changes.
    pub(crate) fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), Refusal> {
        if let Some(&(_, flag, _)) = FLAGS.iter().find(|entry| entry.0 == name) {
            self.flags[flag as usize] = match value {
                Value::Symbol("true") | Value::Number("1") => true,
                Value::Symbol("false") | Value::Number("0") => false,
                _ => return refuse(name, "is true or false"),
            };
            return Ok(());
        }
        if let Some(&(_, number)) = NUMBERS.iter().find(|entry| entry.0 == name) {
            let Value::Number(digits) = value else { return refuse(name, "is a natural number") };
            self.numbers[number as usize] =
                digits.parse().or_else(|_| refuse(name, "is a natural number below 2^64"))?;
            return Ok(());
        }
        let interpolation = &mut self.interpolation;
        match (name, value) {
            (":regular-output-channel", Value::String(channel)) => self.regular_channel = channel.to_owned(),
            (":regular-output-channel", _) => return refuse(name, "is a string, \"stdout\" or a file"),
            // No diagnostics are written, so there is no other channel.
            (":diagnostic-output-channel", Value::String("stderr")) => {}
            (":diagnostic-output-channel", _) => return refuse(name, "is \"stderr\""),
            (":interpolation-bool", Value::Symbol("mcmillan"))
            | (":interpolation-bool-algorithm", Value::Number("0")) => {
                interpolation.labelling = Labelling::McMillan;
            }
            (":interpolation-bool", Value::Symbol("pudlak"))
            | (":interpolation-bool-algorithm", Value::Number("1")) => {
                interpolation.labelling = Labelling::Pudlak;
            }
            (":interpolation-bool", Value::Symbol("dual-mcmillan"))
            | (":interpolation-bool-algorithm", Value::Number("2")) => {
                interpolation.labelling = Labelling::DualMcMillan;
            }
            (":interpolation-bool", _) => return refuse(name, "is mcmillan, pudlak or dual-mcmillan"),
            (":interpolation-bool-algorithm", _) => {
                return refuse(name, "is 0 (McMillan), 1 (Pudlak) or 2 (dual McMillan)");
            }
            (":interpolation-euf", Value::Symbol("strong"))
            | (":interpolation-euf-algorithm", Value::Number("0")) => {
                interpolation.equality = Equality::Strong;
            }
            (":interpolation-euf", Value::Symbol("weak"))
            | (":interpolation-euf-algorithm", Value::Number("2")) => {
                interpolation.equality = Equality::Weak;
            }
            (":interpolation-euf", _) => return refuse(name, "is strong or weak"),
            (":interpolation-euf-algorithm", _) => return refuse(name, "is 0 (strong) or 2 (weak)"),
            (":interpolation-lra", Value::Symbol("farkas"))
            | (":interpolation-lra-algorithm", Value::Number("0")) => {
                interpolation.arithmetic = Arithmetic::Farkas;
            }
            (":interpolation-lra", Value::Symbol("dual"))
            | (":interpolation-lra-algorithm", Value::Number("2")) => {
                interpolation.arithmetic = Arithmetic::DualFarkas;
            }
            (":interpolation-lra", Value::Symbol("flexible"))
            | (":interpolation-lra-algorithm", Value::Number("3")) => {
                interpolation.arithmetic = Arithmetic::Flexible(self.strength.clone());
            }
            (":interpolation-lra", Value::Symbol("decomposed"))
            | (":interpolation-lra-algorithm", Value::Number("4")) => {
                interpolation.arithmetic = Arithmetic::Decomposed;
            }
            (":interpolation-lra", Value::Symbol("dual-decomposed"))
            | (":interpolation-lra-algorithm", Value::Number("5")) => {
                interpolation.arithmetic = Arithmetic::DualDecomposed;
            }
            (":interpolation-lra", _) => {
                return refuse(name, "is farkas, dual, decomposed, dual-decomposed or flexible");
            }
            (":interpolation-lra-algorithm", _) => {
                return refuse(
                    name,
                    "is 0 (Farkas), 2 (dual), 3 (flexible), 4 (decomposed) or 5 (dual decomposed)",
                );
            }
            (":interpolation-strength", Value::Number(text))
            | (":interpolation-lra-factor", Value::Number(text) | Value::String(text)) => {
                let Some(strength) = strength(text) else {
                    return refuse(name, "is a number between 0 and 1");
                };
                if matches!(interpolation.arithmetic, Arithmetic::Flexible(_)) {
                    interpolation.arithmetic = Arithmetic::Flexible(strength.clone());
                }
                self.strength = strength;
            }
            (":interpolation-strength" | ":interpolation-lra-factor", _) => {
                return refuse(name, "is a number between 0 and 1");
            }
            (":simplify-interpolants", Value::Symbol("false") | Value::Number("0")) => {
                interpolation.simplification = Simplification::Normal;
            }
            (":simplify-interpolants", Value::Symbol("true") | Value::Number("1" | "2" | "3" | "4")) => {
                interpolation.simplification = Simplification::Structural;
            }
            (":simplify-interpolants", _) => return refuse(name, "is true or false"),
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    /// The current value of an option, as `get-option` prints it; `None` if there is no such option.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        if let Some(&(_, flag, _)) = FLAGS.iter().find(|entry| entry.0 == name) {
            return Some(self.has(flag).to_string());
        }
        if let Some(&(_, number)) = NUMBERS.iter().find(|entry| entry.0 == name) {
            return Some(self.number(number).to_string());
        }
        let is_numbered = name.ends_with("-algorithm");
        let named = |word: &str, number: u8| if is_numbered { number.to_string() } else { word.to_owned() };
        let quoted = |text: &str| format!("\"{text}\"");
        Some(match name {
            ":regular-output-channel" => quoted(&self.regular_channel),
            ":diagnostic-output-channel" => quoted("stderr"),
            ":interpolation-bool" | ":interpolation-bool-algorithm" => match self.interpolation.labelling {
                Labelling::McMillan => named("mcmillan", 0),
                Labelling::Pudlak => named("pudlak", 1),
                Labelling::DualMcMillan => named("dual-mcmillan", 2),
            },
            ":interpolation-euf" | ":interpolation-euf-algorithm" => match self.interpolation.equality {
                Equality::Strong => named("strong", 0),
                Equality::Weak => named("weak", 2),
            },
            ":interpolation-lra" | ":interpolation-lra-algorithm" => match self.interpolation.arithmetic {
                Arithmetic::Farkas => named("farkas", 0),
                Arithmetic::DualFarkas => named("dual", 2),
                Arithmetic::Flexible(_) => named("flexible", 3),
                Arithmetic::Decomposed => named("decomposed", 4),
                Arithmetic::DualDecomposed => named("dual-decomposed", 5),
            },
            ":interpolation-strength" => self.strength.factor().to_string(),
            ":interpolation-lra-factor" => quoted(&self.strength.factor().to_string()),
            ":simplify-interpolants" => {
                (self.interpolation.simplification != Simplification::Normal).to_string()
            }
            _ => return None,
        })
    }
}

fn refuse<T>(name: &str, expected: &str) -> Result<T, Refusal> {
    Err(Refusal::Value(format!("`{name}` {expected}")))
}

/// The strength that a text denotes: `0.5`, `1`, or `1/2`.
fn strength(text: &str) -> Option<Strength> {
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    let number = |text: &str| Rational::parse_decimal(text.as_bytes());
    Strength::new(number(numerator)?.checked_div(&number(denominator)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_numbers_are_listed_in_the_order_of_their_enumerations() {
        assert!(FLAGS.iter().enumerate().all(|(place, &(_, flag, _))| flag as usize == place));
        assert!(NUMBERS.iter().enumerate().all(|(place, &(_, number))| number as usize == place));
    }

    #[test]
    fn every_option_has_a_value_and_refuses_nonsense() {
        for name in names() {
            let mut options = Options::default();
            let before = options.get(name).expect("all options have values");
            assert!(matches!(options.set(name, Value::Symbol("nonsense")), Err(Refusal::Value(_))), "{name}");
            assert!(matches!(options.set(name, Value::Other), Err(Refusal::Value(_))), "{name}");
            assert_eq!(options.get(name), Some(before), "{name}");
        }
        assert_eq!(Options::default().set(":nonsense", Value::Symbol("true")), Err(Refusal::Unknown));
        assert_eq!(Options::default().get(":nonsense"), None);
    }

    #[test]
    fn numbers_of_algorithms_mean_what_they_mean_to_opensmt() {
        for (name, number, ours, value) in [
            (":interpolation-bool-algorithm", "0", ":interpolation-bool", "mcmillan"),
            (":interpolation-bool-algorithm", "1", ":interpolation-bool", "pudlak"),
            (":interpolation-bool-algorithm", "2", ":interpolation-bool", "dual-mcmillan"),
            (":interpolation-euf-algorithm", "0", ":interpolation-euf", "strong"),
            (":interpolation-euf-algorithm", "2", ":interpolation-euf", "weak"),
            (":interpolation-lra-algorithm", "0", ":interpolation-lra", "farkas"),
            (":interpolation-lra-algorithm", "2", ":interpolation-lra", "dual"),
            (":interpolation-lra-algorithm", "3", ":interpolation-lra", "flexible"),
            (":interpolation-lra-algorithm", "4", ":interpolation-lra", "decomposed"),
            (":interpolation-lra-algorithm", "5", ":interpolation-lra", "dual-decomposed"),
        ] {
            let mut options = Options::default();
            assert_eq!(options.set(name, Value::Number(number)), Ok(()), "{name} {number}");
            assert_eq!(options.get(ours).as_deref(), Some(value));
            assert_eq!(options.get(name).as_deref(), Some(number));
            let mut options = Options::default();
            assert_eq!(options.set(ours, Value::Symbol(value)), Ok(()), "{ours} {value}");
            assert_eq!(options.get(name).as_deref(), Some(number));
        }
    }

    #[test]
    fn a_strength_is_a_decimal_or_a_fraction() {
        for (text, factor) in [("0.5", (1, 2)), ("1/2", (1, 2)), ("1", (1, 1)), ("0", (0, 1))] {
            let factor = Rational::new(factor.0.into(), factor.1.into());
            assert_eq!(strength(text), Strength::new(factor), "{text}");
        }
        for text in ["2", "1/0", "-1", "half", ""] {
            assert_eq!(strength(text), None, "{text}");
        }
    }
}
