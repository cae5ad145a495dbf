//! Mistakes in the options of a run: a misspelt engine, option, value or transformation.
//!
//! [`OptionError`] says what was written, the nearest name that exists, and all names that exist. The library and the command
//! line report the same error in the same words.

use std::fmt;

use crate::{did_you_mean, nearest};

/// A mistake in the options of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OptionError {
    /// No engine has this name.
    UnknownEngine {
        /// The name as it was written.
        name: String,
        /// The names of all engines.
        known: Vec<&'static str>,
    },
    /// The engine has no option of this name.
    UnknownOption {
        /// The engine.
        engine: &'static str,
        /// The name as it was written.
        name: String,
        /// The names of all options of the engine.
        known: Vec<&'static str>,
    },
    /// The option cannot have this value.
    ImpossibleValue {
        /// The option, for example `spacer.guidance`.
        option: String,
        /// The value as it was written.
        value: String,
        /// The possible values in words, for example `yes, no`.
        possible: String,
        /// The value that the option has if nobody sets it, if there is one.
        default: Option<String>,
    },
    /// No transformation has this name.
    UnknownPass {
        /// The name as it was written.
        name: String,
        /// The names of all transformations, and `standard`.
        known: Vec<&'static str>,
    },
    /// The text does not have the expected form.
    Malformed {
        /// The text.
        text: String,
        /// The form, for example `ENGINE.OPTION=VALUE`.
        form: &'static str,
    },
}

impl OptionError {
    /// The name that was probably meant, if one is near.
    pub fn suggestion(&self) -> Option<&str> {
        match self {
            OptionError::UnknownEngine { name, known }
            | OptionError::UnknownOption { name, known, .. }
            | OptionError::UnknownPass { name, known } => nearest(name, known.iter().copied()),
            OptionError::ImpossibleValue { value, possible, .. } => nearest(value, possible.split(", ")),
            OptionError::Malformed { .. } => None,
        }
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mistake, known) = match self {
            OptionError::UnknownEngine { name, known } => {
                (format!("there is no engine `{name}`"), format!("the engines are {}", known.join(", ")))
            }
            OptionError::UnknownOption { engine, name, known } => {
                let known = match known[..] {
                    [] => "it has no options".to_owned(),
                    _ => format!("its options are {}", known.join(", ")),
                };
                (format!("{engine} has no option `{name}`"), known)
            }
            OptionError::ImpossibleValue { option, value, possible, default } => {
                let default =
                    default.as_ref().map_or(String::new(), |default| format!("; the default is {default}"));
                (format!("{option} cannot be `{value}`"), format!("possible are {possible}{default}"))
            }
            OptionError::UnknownPass { name, known } => {
                (format!("there is no transformation `{name}`"), format!("there are {}", known.join(", ")))
            }
            OptionError::Malformed { text, form } => return write!(f, "`{text}` is not of the form {form}"),
        };
        match self.suggestion() {
            Some(meant) => write!(f, "{mistake}, {} ({known})", did_you_mean(meant)),
            None => write!(f, "{mistake}: {known}"),
        }
    }
}

impl std::error::Error for OptionError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_what_was_meant_and_what_exists() {
        let engine = |name: &str| OptionError::UnknownEngine {
            name: name.to_owned(),
            known: vec!["spacer", "split-tpa", "tpa", "bmc"],
        };
        assert_eq!(
            engine("Spaser").to_string(),
            "there is no engine `Spaser`, did you mean `spacer`? (the engines are spacer, split-tpa, tpa, bmc)"
        );
        assert_eq!(engine("magic").suggestion(), None);
        assert_eq!(engine("").suggestion(), None);
        assert_eq!(engine("tap").suggestion(), Some("tpa"));
        assert_eq!(engine(&"x".repeat(1 << 20)).suggestion(), None);
        let option =
            OptionError::UnknownOption { engine: "bmc", name: "depth".to_owned(), known: Vec::new() };
        assert_eq!(option.to_string(), "bmc has no option `depth`: it has no options");
        let value = OptionError::ImpossibleValue {
            option: "spacer.guidance".to_owned(),
            value: "yse".to_owned(),
            possible: "yes, no".to_owned(),
            default: Some("yes".to_owned()),
        };
        assert_eq!(
            value.to_string(),
            "spacer.guidance cannot be `yse`, did you mean `yes`? (possible are yes, no; the default is yes)"
        );
    }
}
