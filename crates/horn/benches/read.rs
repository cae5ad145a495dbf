//! How fast clauses are read and printed.

use divan::Bencher;
use divan::counter::BytesCount;
use shofar_horn::{Format, parse};
use shofar_logic::TermStore;

fn main() {
    divan::main();
}

/// Clauses of a program with a thousand locations.
fn script() -> String {
    let mut text = String::from("(set-logic HORN)\n");
    for location in 0..=1000 {
        text.push_str(&format!("(declare-fun l{location} (Int Int Bool) Bool)\n"));
    }
    for location in 0..1000 {
        let next = location + 1;
        text.push_str(&format!(
            "(assert (forall ((x Int) (y Int) (b Bool) (x1 Int) (y1 Int))\n  (=> (and (l{location} x y b)\n    \
             (let ((a!1 (+ x (* {next} y)))) (and (= x1 (ite b a!1 (- a!1 {location}))) (or (< y1 a!1) b))))\n  \
             (l{next} x1 y1 (> x1 {location})))))\n"
        ));
    }
    text
}

#[divan::bench]
fn read(bencher: Bencher<'_, '_>) {
    let text = script();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| parse(&TermStore::new(), "script", text.as_bytes()).expect("the script is right"));
}

#[divan::bench]
fn print(bencher: Bencher<'_, '_>) {
    let store = TermStore::new();
    let text = script();
    let system = parse(&store, "script", text.as_bytes()).expect("the script is right");
    bencher.counter(BytesCount::of_str(&text)).bench(|| system.to_text(&store, Format::Smtlib));
}
