//! `shofar completions`: scripts that complete options and their values in shells.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use shofar_engines::InterpolationMethod;

use crate::{CommandLine, Failure};

/// Print completions for a shell, as in `shofar completions bash`. Save them in a file that the shell reads at its start.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    // The generator panics if it cannot write, so it writes to memory: a reader may close the pipe.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), "shofar", &mut script);
    if arguments.shell == Shell::Fish {
        script = for_fish(&String::from_utf8_lossy(&script)).into_bytes();
    }
    Ok(out.write_all(&script)?)
}

/// Corrects the generated script for fish, which completes the options of the program as long as there is no command. It
/// gives up if an option still lacks its value, and it takes the file for a command.
fn for_fish(script: &str) -> String {
    const GIVES_UP: &str = "-- $cmd 2>/dev/null\n    or return\n";
    const WAITS: &str = "-- $cmd 2>/dev/null
    or begin
        # The last option waits for its value, which is no command.
        set -e cmd[-1]
        argparse -s (__fish_shofar_global_optspecs) -- $cmd 2>/dev/null
        return
    end
";
    const ANY_WORD: &str = "if set -q argv[1]\n";
    let mut program = CommandLine::command();
    program.build();
    let commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
    let a_command = format!("if contains -- \"$argv[1]\" {}\n", commands.join(" "));
    script.replacen(GIVES_UP, WAITS, 1).replacen(ANY_WORD, &a_command, 1)
}

/// The command line with all possible values of the options whose parsers check names.
fn command() -> Command {
    let with = |values: Vec<String>| move |arg: Arg| arg.value_parser(PossibleValuesParser::new(values));
    let mut engines = vec!["auto".to_owned()];
    let mut settings = Vec::new();
    for mut engine in shofar_engines::all() {
        let name = engine.name();
        engines.push(name.to_owned());
        let options = engine.options().into_iter();
        settings.extend(options.map(|option| format!("{name}.{}={}", option.name, option.default)));
    }
    let interpolations = InterpolationMethod::ALL.map(|interpolation| interpolation.name().to_owned());
    CommandLine::command()
        .mut_arg("engine", with(engines))
        .mut_arg("settings", with(settings))
        .mut_arg("interpolation", with(interpolations.into()))
}
