//! Random systems of Horn clauses over arrays, as text.

use std::fmt::Write;

use crate::Random;

/// A system over zero and one, and arrays with indices of a sort, `Int` or `Bool`, whose elements are read only if they
/// are these numbers or truth values. With indices of two values, explicit solving is exact.
pub fn system(random: &mut Random, index: &str) -> String {
    let element = if random.one_in(3) { "Bool" } else { "Int" };
    let array = format!("(Array {index} {element})");
    let mut text = String::new();
    for (name, sorts) in [("P", format!("Int {array}")), ("Q", format!("{array} {array} Int"))] {
        let _ = writeln!(text, "(declare-fun {name} ({sorts}) Bool)");
    }
    let variables = format!(
        "(i Int) (j Int) (k Int) (s {index}) (t {index}) (e {element}) (f {element}) \
         (a {array}) (b {array}) (c {array})"
    );
    let mut bounds: Vec<String> = ["i", "j", "k"].map(|name| format!("(<= 0 {name} 1)")).into();
    for (sort, names) in [(index, ["s", "t"]), (element, ["e", "f"])] {
        if sort == "Int" {
            bounds.extend(names.map(|name| format!("(<= 0 {name} 1)")));
        }
    }
    let bounds = bounds.join(" ");
    let number = |random: &mut Random| *random.choose(&["i", "j", "k", "0", "1"]);
    let place = |random: &mut Random| {
        let constants: &[&str] =
            if index == "Int" { &["s", "t", "i", "0", "1"] } else { &["s", "t", "true"] };
        *random.choose(constants)
    };
    let content = |random: &mut Random| {
        let constants: &[&str] = if element == "Int" { &["e", "f", "i", "1"] } else { &["e", "f", "false"] };
        *random.choose(constants)
    };
    let which = |random: &mut Random| *random.choose(&["a", "b", "c"]);
    let literal = |random: &mut Random| match random.below(8) {
        0 => format!("(< {} {})", number(random), number(random)),
        1 | 2 => format!("(= {} (+ {} 1))", *random.choose(&["i", "j", "k"]), number(random)),
        3 | 4 => format!("(= {} (select {} {}))", *random.choose(&["e", "f"]), which(random), place(random)),
        5 => format!("(not (= {} {}))", place(random), place(random)),
        6 => format!("(= {} (store {} {} {}))", which(random), which(random), place(random), content(random)),
        _ => format!("(= {} ((as const {array}) {}))", which(random), content(random)),
    };
    let atom = |random: &mut Random| match random.bool() {
        true => format!("(P {} {})", number(random), which(random)),
        false => format!("(Q {} {} {})", which(random), which(random), number(random)),
    };
    let clauses = 4 + random.below(3);
    for clause in 0..clauses {
        let mut body: Vec<String> = (0..1 + random.below(4)).map(|_| literal(random)).collect();
        let is_fact = clause < 2;
        let sources = if is_fact { 0 } else { 1 + usize::from(random.one_in(4)) };
        body.extend((0..sources).map(|_| atom(random)));
        let head = if clause + 1 == clauses { "false".to_owned() } else { atom(random) };
        let _ =
            writeln!(text, "(assert (forall ({variables}) (=> (and {bounds} {}) {head})))", body.join(" "));
    }
    text
}
