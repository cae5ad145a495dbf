//! Any bytes are read as a system or refused with a message; what is read can be analysed, normalised and
//! printed, and reading the print gives the same print again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use shofar_horn::{Format, parse};
use shofar_logic::TermStore;

fuzz_target!(|text: &[u8]| {
    let store = TermStore::new();
    let Ok(system) = parse(&store, "input", text) else { return };
    system.info(&store);
    system.to_text(&store, Format::Dot);
    for clause in &system.clauses {
        store.nnf(store.normalize(clause.constraint));
    }
    for format in [Format::Smtlib, Format::Datalog] {
        let printed = system.to_text(&store, format);
        let again = parse(&store, "print", printed.as_bytes())
            .unwrap_or_else(|error| panic!("{error}\n{printed}"));
        // Names of variables may be changed once, to tell them from names that are declared below them.
        let reprinted = again.to_text(&store, format);
        let third = parse(&store, "reprint", reprinted.as_bytes())
            .unwrap_or_else(|error| panic!("{error}\n{reprinted}"));
        assert_eq!(third.to_text(&store, format), reprinted);
    }
});
