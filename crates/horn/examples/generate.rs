//! Writes a large system of Horn clauses to standard output, to measure reading with.
//!
//! `generate MEGABYTES [SEED]`: clauses over a thousand predicates in the shape of those of program verifiers,
//! with `let`, conjunctions, disjunctions, `ite` and linear arithmetic. The same arguments give the same text.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write as _};

use shofar_testing::Random;

const PREDICATES: usize = 1000;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().unwrap_or(1));
    let wanted = arguments.next().unwrap_or(1) * 1_000_000;
    let mut random = Random::new(arguments.next().unwrap_or(1));
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "(set-logic HORN)")?;
    for predicate in 0..PREDICATES {
        writeln!(out, "(declare-fun |loop@{predicate}| ({}) Bool)", "Int ".repeat(arity(predicate)))?;
    }
    let mut written = 0;
    let mut clause = String::new();
    while written < wanted {
        clause.clear();
        write_clause(&mut random, &mut clause);
        out.write_all(clause.as_bytes())?;
        written += clause.len() as u64;
    }
    writeln!(out, "(check-sat)")?;
    out.flush()
}

fn arity(predicate: usize) -> usize {
    3 + predicate % 6
}

fn write_clause(random: &mut Random, out: &mut String) {
    let (from, to) = (random.below(PREDICATES), random.below(PREDICATES));
    let variables = arity(from) + arity(to);
    out.push_str("(assert\n  (forall (");
    for variable in 0..variables {
        let _ = write!(out, " (x{variable} Int)");
    }
    let _ = write!(out, " )\n    (=>\n      (and\n        (|loop@{from}|");
    for variable in 0..arity(from) {
        let _ = write!(out, " x{variable}");
    }
    out.push_str(")\n        (let ((a!1 ");
    comparison(random, variables, out);
    out.push_str("))\n          (and (or a!1 ");
    comparison(random, variables, out);
    out.push(')');
    for variable in arity(from)..variables {
        let _ = write!(out, "\n            (= x{variable} (ite a!1 ");
        sum(random, variables, out);
        out.push(' ');
        sum(random, variables, out);
        out.push_str("))");
    }
    let _ = write!(out, "))\n      )\n      (|loop@{to}|");
    for variable in arity(from)..variables {
        let _ = write!(out, " x{variable}");
    }
    out.push_str("))))\n");
}

fn comparison(random: &mut Random, variables: usize, out: &mut String) {
    let operator = ["<=", "<", ">=", ">", "="][random.below(5)];
    let _ = write!(out, "({operator} ");
    sum(random, variables, out);
    let _ = write!(out, " {})", random.below(1000));
}

fn sum(random: &mut Random, variables: usize, out: &mut String) {
    let (x, y) = (random.below(variables), random.below(variables));
    let _ = match random.below(4) {
        0 => write!(out, "x{x}"),
        1 => write!(out, "(+ x{x} {})", random.below(100)),
        2 => write!(out, "(+ x{x} (* (- {}) x{y}))", random.below(10)),
        _ => write!(out, "(- x{x} x{y})"),
    };
}
