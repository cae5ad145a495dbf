//! Reads all clause files below a folder, and checks that printing and reading again gives the same system.
//!
//! `corpus DIR`: where the files stand in folders named as tracks of the CHC competition, the tracks are checked
//! too. Prints how fast the files were read, and fails if anything is wrong.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use shofar_horn::{Format, parse};
use shofar_logic::TermStore;

const TRACKS: [&str; 8] =
    ["LIA-Lin", "LIA", "LIA-Lin-Arrays", "LIA-Arrays", "ADT-LIA", "ADT-LIA-Arrays", "LRA-Lin", "BV"];

fn main() -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let Some(directory) = std::env::args().nth(1) else {
        writeln!(out, "usage: corpus DIR")?;
        return Ok(ExitCode::from(2));
    };
    let mut files = Vec::new();
    find(Path::new(&directory), &mut files);
    files.sort();
    let (mut bytes, mut reading, mut failed) = (0, Duration::ZERO, 0);
    for file in &files {
        match check(file) {
            Ok((size, time)) => {
                bytes += size;
                reading += time;
            }
            Err(message) => {
                failed += 1;
                writeln!(out, "{}: {message}", file.display())?;
            }
        }
    }
    let megabytes = bytes as f64 / 1e6;
    let speed = megabytes / reading.as_secs_f64().max(1e-9);
    writeln!(out, "{megabytes:.1} MB read in {:.2} s: {speed:.0} MB/s", reading.as_secs_f64())?;
    writeln!(out, "{} passed, {failed} failed", files.len() - failed)?;
    Ok(if failed > 0 || files.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn find(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "smt2") {
            files.push(path);
        }
    }
}

/// The size of the file and the time it took to read it, or what is wrong.
fn check(file: &Path) -> Result<(usize, Duration), String> {
    let text = std::fs::read(file).map_err(|error| error.to_string())?;
    let name = file.display().to_string();
    let store = TermStore::new();
    let start = Instant::now();
    let system = parse(&store, &name, &text).map_err(|error| error.to_string())?;
    let time = start.elapsed();
    let folder = file.parent().and_then(Path::file_name).and_then(|folder| folder.to_str());
    let track = system.info(&store).track;
    if folder.is_some_and(|folder| TRACKS.contains(&folder)) && track != folder {
        return Err(format!("classified as {}", track.unwrap_or("no track")));
    }
    let print = system.to_text(&store, Format::Smtlib);
    let again = parse(&store, "print", print.as_bytes()).map_err(|error| error.to_string())?;
    if !system.same_as(&again) {
        return Err("its print reads as another system".to_owned());
    }
    // As rules, variables that do not occur are dropped and queries are gathered in one; then nothing changes.
    let rules = system.to_text(&store, Format::Datalog);
    let again = parse(&store, "rules", rules.as_bytes()).map_err(|error| error.to_string())?;
    let rules = again.to_text(&store, Format::Datalog);
    let third = parse(&store, "rules", rules.as_bytes()).map_err(|error| error.to_string())?;
    if !again.same_as(&third) {
        return Err("its rules read as another system".to_owned());
    }
    Ok((text.len(), time))
}
