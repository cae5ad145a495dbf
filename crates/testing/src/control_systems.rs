//! Random programs over small finite domains that are one loop with a program counter, as text.
//!
//! The counter is in two or three Booleans, and one clause is the disjunction of all steps. Further arguments are a mode, which is
//! one of a few constants, a flag for data, a free input, and a number.

use std::fmt::Write;

use crate::Random;

/// The greatest number of the programs. All numbers are between zero and this one.
pub const GREATEST: i64 = 2;

/// A program. It has a second predicate, which only leaves the loop, in some cases.
pub fn system(random: &mut Random) -> String {
    let bits = 2 + random.below(2);
    let has_end = random.one_in(3);
    let names: Vec<String> = (0..bits).map(|bit| format!("b{bit}")).collect();
    let state = |mark: &str| -> String {
        let all = names.iter().map(String::as_str).chain(["flag", "input", "mode", "x"]);
        all.map(|name| format!("{name}{mark} ")).collect()
    };
    let at = |place: usize, mark: &str| -> String {
        let bit = |(bit, name): (usize, &String)| match place >> bit & 1 {
            1 => format!("{name}{mark} "),
            _ => format!("(not {name}{mark}) "),
        };
        names.iter().enumerate().map(bit).collect()
    };
    let places = 1 << bits;
    let sorts = format!("{}Bool Bool Int Int", "Bool ".repeat(bits));
    let mut text = format!("(set-logic HORN)\n(declare-fun Loop ({sorts}) Bool)\n");
    if has_end {
        let _ = writeln!(text, "(declare-fun End ({sorts}) Bool)");
    }
    let variables = |mark: &str| -> String {
        let booleans: String = names.iter().map(|name| format!("({name}{mark} Bool) ")).collect();
        format!("{booleans}(flag{mark} Bool) (input{mark} Bool) (mode{mark} Int) (x{mark} Int) ")
    };
    let within = |mark: &str| format!("(<= 0 mode{mark} {GREATEST}) (<= 0 x{mark} {GREATEST})");
    let start = random.below(places);
    let open = if random.one_in(3) { "" } else { "(= x 0) (not flag)" };
    let _ = writeln!(
        text,
        "(assert (forall ({}) (=> (and {} {} (= mode 0) {open}) (Loop {}))))",
        variables(""),
        at(start, ""),
        within(""),
        state("")
    );
    let mut steps = String::new();
    let mut from = start;
    for _ in 0..3 + random.below(5) {
        let to = random.below(places);
        let guard = match random.below(6) {
            0 => format!("(= x {})", random.below(3)),
            1 => "(< x 2)".to_owned(),
            2 => format!("(= mode {})", random.below(3)),
            3 => "flag".to_owned(),
            4 => "input".to_owned(),
            _ => String::new(),
        };
        let x = *random.choose(&["(= x! x)", "(= x! (+ x 1))", "(= x! 0)", "(= x! mode)"]);
        let mode = match random.below(3) {
            0 => format!("(= mode! {})", random.below(3)),
            _ => "(= mode! mode)".to_owned(),
        };
        let flag = *random.choose(&["(= flag! flag)", "(= flag! flag)", "flag!", "(= flag! (> x 0))", ""]);
        let _ = write!(steps, "(and {} {guard} {x} {mode} {flag} {})\n  ", at(from, ""), at(to, "!"));
        // Mostly onwards from where the last step led.
        from = if random.one_in(4) { random.below(places) } else { to };
    }
    let both = format!("{}{}", variables(""), variables("!"));
    let _ = writeln!(
        text,
        "(assert (forall ({both}) (=> (and (Loop {}) {} {} (or {steps})) (Loop {}))))",
        state(""),
        within(""),
        within("!"),
        state("!")
    );
    let query = if has_end {
        let _ = writeln!(
            text,
            "(assert (forall ({}) (=> (and (Loop {}) {}) (End {}))))",
            variables(""),
            state(""),
            at(random.below(places), ""),
            state("")
        );
        "End"
    } else {
        "Loop"
    };
    let bad = *random.choose(&["(= x 2)", "(= mode 1)", "flag", "(and input (= x mode))", ""]);
    let _ = writeln!(
        text,
        "(assert (forall ({}) (=> (and ({query} {}) {} {bad}) false)))",
        variables(""),
        state(""),
        at(random.below(places), "")
    );
    text
}
