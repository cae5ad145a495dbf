//! Runs the program as a user does, for the tests beside this folder.

#![allow(dead_code, reason = "each test uses a part")]

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

/// The folder with the examples.
pub(crate) const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// The program, with none of the environment variables set that change its output.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shofar"));
    for variable in ["RUST_LOG", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command
}

/// Starts a command with pipes for its input and output.
pub(crate) fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Writes the whole input and waits for the end.
pub(crate) fn feed(mut child: Child, input: impl AsRef<[u8]>) -> Output {
    // A program that rejects its options does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    child.wait_with_output().unwrap()
}

/// Runs the program with an input.
pub(crate) fn shofar(arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
    feed(spawn(program().args(arguments)), input)
}

/// The path of an example.
pub(crate) fn example(name: &str) -> String {
    format!("{EXAMPLES}/{name}.smt2")
}

/// Bytes as text.
pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
