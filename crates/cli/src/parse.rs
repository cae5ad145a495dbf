//! Parses the command line.
//!
//! The complete parser knows the options of all commands, and making it takes as long as a small task. So `shofar FILE` and
//! `shofar smt FILE` have parsers with their own options only. What these refuse goes to the complete parser: mistakes and
//! questions for help, which it answers itself.

use std::ffi::OsString;

use clap::{Args, FromArgMatches, Parser, Subcommand};

use crate::arguments::Arguments;
use crate::{Color, Colors, Command, CommandLine, smt};

/// What a command line asks for.
#[expect(clippy::large_enum_variant, reason = "a process has one job")]
pub(crate) enum Job {
    /// To solve a file.
    Solve(Box<Arguments>),
    /// To execute another command.
    Command(Command),
}

impl Job {
    /// Parses a command line, which starts with the name of the program. Ends the program after mistakes and help.
    pub(crate) fn read(words: &[OsString]) -> (Self, Color) {
        if let Some(read) = Self::read_alone(words) {
            return read;
        }
        let CommandLine { command, solve, colors } = CommandLine::parse_from(words);
        (command.map_or_else(|| Job::Solve(Box::new(solve)), Job::Command), colors.color)
    }

    /// Parses a frequent command line without mistakes.
    fn read_alone(words: &[OsString]) -> Option<(Self, Color)> {
        let (parser, words, is_smt) = match words {
            [_, command, ..] if command == "smt" => (smt_parser(), &words[1..], true),
            [_, words @ ..] if words.iter().any(|word| word.to_str().is_none_or(is_command)) => return None,
            _ => (solve_parser(), words, false),
        };
        let matches = parser.try_get_matches_from(words).ok()?;
        let job = if is_smt {
            Job::Command(Command::Smt(smt::Arguments::from_arg_matches(&matches).ok()?))
        } else {
            Job::Solve(Box::new(Arguments::from_arg_matches(&matches).ok()?))
        };
        Some((job, Colors::from_arg_matches(&matches).ok()?.color))
    }

    /// The options of a command that solves.
    pub(crate) fn solving(&self) -> Option<&Arguments> {
        match self {
            Job::Solve(arguments) => Some(arguments),
            Job::Command(Command::Explain(arguments)) => Some(&arguments.solve),
            Job::Command(_) => None,
        }
    }

    /// Whether events are printed as JSON, errors too.
    pub(crate) fn prints_json(&self) -> bool {
        match self {
            Job::Command(Command::Terminate(arguments)) => arguments.json,
            _ => self.solving().is_some_and(|solving| solving.json),
        }
    }

    /// How many times `-v` is given.
    pub(crate) fn verbosity(&self) -> u8 {
        match self {
            Job::Command(Command::Smt(arguments)) => arguments.verbosity(),
            _ => self.solving().map_or(0, |solving| solving.verbose),
        }
    }
}

/// Whether a word is the name of a command.
pub(crate) fn is_command(word: &str) -> bool {
    word == "help" || Command::has_subcommand(word)
}

/// The parser for `shofar FILE`, without help and the names of commands.
pub(crate) fn solve_parser() -> clap::Command {
    Colors::augment_args(Arguments::augment_args(clap::Command::new("shofar")))
}

fn smt_parser() -> clap::Command {
    Colors::augment_args(smt::Arguments::augment_args(clap::Command::new("smt")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(words: &str) -> Option<Job> {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        Job::read_alone(&words).map(|(job, _)| job)
    }

    #[test]
    fn frequent_command_lines_need_no_complete_parser() {
        let Some(Job::Solve(arguments)) = alone("shofar -vv --color never a.smt2 --seed 7") else {
            panic!("it is a file to solve")
        };
        assert_eq!((arguments.file(), arguments.verbose, arguments.seed), ("a.smt2", 2, 7));
        let job = alone("shofar smt -v a.smt2 --color always").expect("it is a script");
        assert!(
            matches!(job, Job::Command(Command::Smt(_))) && job.verbosity() == 1 && job.solving().is_none()
        );
    }

    #[test]
    fn help_mistakes_and_other_commands_are_left_to_the_complete_parser() {
        let others = [
            "shofar",
            "shofar --help",
            "shofar -h",
            "shofar --version",
            "shofar help smt",
            "shofar smt --help",
            "shofar smt --seed 7 a.smt2",
            "shofar check a.smt2 b.txt",
            "shofar a.smt2 smt",
            "shofar --color never smt a.smt2",
            "shofar --sed 7 a.smt2",
            "shofar -v -q a.smt2",
        ];
        for words in others {
            assert!(alone(words).is_none(), "{words}");
        }
    }

    /// Both parsers read the same from what the short one accepts.
    #[test]
    fn the_parsers_agree() {
        for words in ["shofar -", "shofar -t 3 -w -e spacer,pdkind a.smt2", "shofar -i a.smt2 --json"] {
            let Some(Job::Solve(alone)) = alone(words) else { panic!("{words}") };
            let whole = CommandLine::parse_from(words.split(' '));
            assert!(whole.command.is_none());
            let texts = [&*alone, &whole.solve].map(|it| (it.file().to_owned(), it.limits.timeout, it.json));
            assert_eq!(texts[0], texts[1], "{words}");
        }
    }
}
