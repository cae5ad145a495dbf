//! Writes an SMT-LIB script that asks, for each formula in a file of clauses, whether its normal form and the
//! negation normal form of that mean something else. A solver must answer `unsat` each time.
//!
//! `equivalence FILE | z3 -in`

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use shofar_horn::{Format, parse};
use shofar_logic::{Sort, TermStore};

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else { return ExitCode::from(2) };
    let Ok(text) = std::fs::read(&file) else { return ExitCode::from(2) };
    match write_script(&file, &text, &mut BufWriter::new(io::stdout().lock())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn write_script(file: &str, text: &[u8], out: &mut impl Write) -> io::Result<()> {
    let store = TermStore::new();
    let system = parse(&store, file, text).map_err(io::Error::other)?;
    writeln!(out, "(set-option :timeout 2000)")?;
    for command in system.to_text(&store, Format::Smtlib).split("\n(") {
        if command.starts_with("declare-datatypes") || command.starts_with("declare-sort") {
            writeln!(out, "({command}")?;
        }
    }
    for term in system.clauses.iter().flat_map(|clause| clause.terms()) {
        let normal = store.normalize(term);
        let negated = if store.sort_of(term) == Sort::BOOL { store.nnf(normal) } else { normal };
        if normal == term && negated == term {
            continue;
        }
        writeln!(out, "(push)")?;
        for variable in store.free_vars(&[term, normal]) {
            let sort = store.display_sort(store.sort_of(variable));
            writeln!(out, "(declare-const {} {sort})", store.display(variable))?;
        }
        let (term, normal, negated) = (store.display(term), store.display(normal), store.display(negated));
        writeln!(out, "(assert (not (= {term} {normal} {negated})))\n(check-sat)\n(pop)")?;
    }
    Ok(())
}
