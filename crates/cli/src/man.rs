//! `shofar man`: the manual pages, from the same declarations as the help texts.
//!
//! There is a page for the program and one for each command. The page of the program also lists the engines with their
//! options, the exit status, and examples.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, italic, roman};

use crate::{CommandLine, Failure};

/// Print the manual page, as in `shofar man | man -l -`, or write all pages to a folder.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print the page of this command, as in `shofar man check`.
    command: Option<String>,

    /// Write all pages to this folder, as in `--folder ~/.local/share/man/man1`.
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let mut program = CommandLine::command().disable_help_subcommand(true);
    program.build();
    let pages = || program.get_subcommands();
    if let Some(folder) = &arguments.folder {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("shofar.1"), program_page(&program)?)?;
        for command in pages() {
            let name = format!("shofar-{}", command.get_name());
            fs::write(folder.join(format!("{name}.1")), command_page(command)?)?;
            for part in command.get_subcommands() {
                fs::write(folder.join(format!("{name}-{}.1", part.get_name())), command_page(part)?)?;
            }
        }
        return Ok(());
    }
    let page = match &arguments.command {
        None => program_page(&program)?,
        Some(name) => match pages().find(|command| command.get_name() == name) {
            Some(command) => command_page(command)?,
            None => {
                let names: Vec<&str> = pages().map(Command::get_name).collect();
                return Err(Failure::Input(format!("shofar: the commands are {}", names.join(", "))));
            }
        },
    };
    Ok(out.write_all(&page)?)
}

fn command_page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).manual("Shofar").render(&mut page)?;
    Ok(page)
}

fn program_page(program: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(program.clone()).manual("Shofar");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    description().to_writer(&mut page)?;
    man.render_options_section(&mut page)?;
    man.render_subcommands_section(&mut page)?;
    engines().to_writer(&mut page)?;
    exit_status().to_writer(&mut page)?;
    examples().to_writer(&mut page)?;
    man.render_version_section(&mut page)?;
    Ok(page)
}

fn description() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["DESCRIPTION"]);
    roff.text([
        roman("Reads constrained Horn clauses, or a transition system in VMT, and prints "),
        bold("sat"),
        roman(" if they have a model (the program is safe), "),
        bold("unsat"),
        roman(" if "),
        italic("false"),
        roman(" can be derived from them (the program is unsafe), or "),
        bold("unknown"),
        roman(", with the reason on standard error. For a circuit in AIGER or BTOR2 the words are "),
        bold("safe"),
        roman(", "),
        bold("unsafe"),
        roman(" and "),
        bold("unknown"),
        roman(". Shofar checks every answer before it prints it."),
    ]);
    roff
}

fn engines() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["ENGINES"]);
    for mut engine in shofar_engines::all() {
        roff.control("TP", []);
        roff.text([bold(engine.name())]);
        roff.text([roman(format!("{}.", engine.description()))]);
        let name = engine.name();
        for option in engine.options() {
            roff.control("RS", []);
            roff.control("TP", []);
            roff.text([bold(format!("-O {name}.{}", option.name)), roman("="), italic(&option.default)]);
            roff.text([roman(format!("{} ({}).", option.meaning, option.values()))]);
            roff.control("RE", []);
        }
    }
    roff
}

fn exit_status() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (status, meaning) in [
        ("0", "The command has done its work, whatever the answer is."),
        ("10, 20", "The answer about a circuit is unsafe, safe."),
        (
            "1",
            "The checker does not confirm a witness, or a limit or Ctrl-C has ended a command other than solving.",
        ),
        (
            "2",
            "The input or an option is wrong, a file cannot be read or written, or there was no time to make the witness.",
        ),
        ("130", "You pressed Ctrl-C while the answer was being written, or twice."),
    ] {
        roff.control("TP", []);
        roff.text([bold(status)]);
        roff.text([roman(meaning)]);
    }
    roff
}

fn examples() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]);
    for (command, meaning) in [
        ("shofar program.smt2 --witness", "Print the answer, and the invariants or the derivation."),
        ("shofar program.smt2 -t 10", "Stop after ten seconds."),
        ("shofar program.smt2 -e spacer,pdkind", "Run two engines side by side."),
        (
            "shofar explain program.smt2 --html page.html",
            "Explain the answer, and write a page for a browser.",
        ),
        ("shofar check program.smt2 witness", "Check that a witness proves its answer."),
        ("shofar terminate program.smt2", "Decide whether all runs of the clauses end."),
        ("shofar circuit.aig --certificate proof.aig", "Decide a circuit, and write the witness."),
        ("shofar convert circuit.aig --to smtlib", "Write a circuit as Horn clauses."),
        (
            "RUST_LOG=shofar_smt=trace shofar program.smt2",
            "Trace the queries to the SMT solver on standard error.",
        ),
    ] {
        roff.control("TP", []);
        roff.text([bold(command)]);
        roff.text([roman(meaning)]);
    }
    roff
}
