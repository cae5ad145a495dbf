//! `shofar explain` and `--html` as their users see them.

use std::collections::BTreeSet;
use std::process::{Command, Output, Stdio};

use browser::{found, in_browser};
use program::{example, text};
use serde_json::Value as Json;

#[path = "program/browser.rs"]
mod browser;
mod program;

/// Counts to a bound that must not be reached.
fn counter(bound: usize) -> String {
    format!(
        "(declare-fun Inv (Int Int) Bool)
(assert (forall ((y Int)) (=> (= y 7) (Inv 0 y))))
(assert (! (forall ((x Int) (y Int) (z Int)) (=> (and (Inv x y) (= z (+ x 1))) (Inv z y))) :named step))
(assert (forall ((x Int) (y Int)) (=> (and (Inv x y) (>= x {bound})) false)))
"
    )
}

/// A safe system with two predicates, and names that mean something to browsers and terminals.
const HOSTILE: &str = "(declare-fun |<script>alert(1)</script>| (Int) Bool)
(declare-fun |a\"'&\u{1b}[31m{{data}}| (Int Int) Bool)
(assert (forall ((|<b>| Int)) (=> (= |<b>| 0) (|<script>alert(1)</script>| |<b>|))))
(assert (forall ((|<b>| Int)) (=> (|<script>alert(1)</script>| |<b>|) (|a\"'&\u{1b}[31m{{data}}| |<b>| 1))))
(assert (! (forall ((x Int) (y Int)) (=> (and (|a\"'&\u{1b}[31m{{data}}| x y) (> x y)) false)) :named |</svg>|))
";

fn shofar(arguments: &[&str]) -> Output {
    program::shofar(arguments, "")
}

/// A folder with a file of clauses in it.
fn folder(clauses: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clauses.smt2");
    std::fs::write(&file, clauses).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (folder, file)
}

#[test]
fn a_run_is_told_in_program_order_with_its_changes() {
    let (_folder, file) = folder(&counter(2));
    let output = shofar(&["explain", &file, "--locals"]);
    let expected = "unsat
The clauses contradict each other: a run of 4 steps leads to false.

1  Inv  x = 0, y = 7  (clause 1 at 2:2)
2  Inv  x: 0 → 1, y = 7  (clause 2 `step` at 3:2)
3  Inv  x: 1 → 2, y = 7  (clause 2 `step` at 3:2)
4  false  (clause 3 at 4:2)

clause 1      Inv(0, y) ← y = 7
clause 2      Inv(z, y) ← Inv(x, y), z = x + 1
clause 3      false ← Inv(x, y), x ≥ 2
";
    let told: String = text(&output.stdout)
        .lines()
        .filter(|line| !line.contains("with"))
        .fold(String::new(), |told, line| told + line + "\n");
    assert_eq!(told, expected);
    assert!(text(&output.stdout).contains("with  x = 1"), "{}", text(&output.stdout));
}

/// A step shows only those elements of an array that it changes, in the text and in the page.
#[test]
fn changes_of_arrays_are_told_by_elements() {
    let (folder, file) = folder(
        "(declare-fun Inv ((Array Int Int) Int) Bool)
(assert (Inv ((as const (Array Int Int)) 0) 0))
(assert (forall ((a (Array Int Int)) (i Int)) (=> (Inv a i) (Inv (store a (* 2 i) (+ 5 i)) (+ i 1)))))
(assert (forall ((a (Array Int Int)) (i Int)) (=> (and (Inv a i) (= (select a 2) 6)) false)))
",
    );
    let page = folder.path().join("page.html");
    let output = shofar(&["explain", &file, "--html", page.to_str().unwrap()]);
    let told = text(&output.stdout);
    assert!(told.contains("2  Inv  a[0]: 0 → 5, i: 0 → 1  (clause 2 at 3:2)"), "{told}");
    assert!(told.contains("3  Inv  a[2]: 0 → 6, i: 1 → 2  (clause 2 at 3:2)"), "{told}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("a[2]: 0 → 6"));
}

/// Reverses a list and counts; the query is wrong about the first element.
const REVERSE: &str = "(declare-datatypes ((N 0)) (((z) (s (p N)))))
(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
(declare-fun rev (L L N) Bool)
(assert (rev (cons 1 (cons 2 (cons (- 3) nil))) nil z))
(assert (forall ((x Int) (l L) (r L) (n N)) (=> (rev (cons x l) r n) (rev l (cons x r) (s n)))))
(assert (forall ((r L) (n N)) (=> (rev nil r n) (= (hd r) 1))))
";

#[test]
fn lists_and_numbers_are_written_as_people_do() {
    let (folder, file) = folder(REVERSE);
    let output = shofar(&["explain", &file]);
    let told = text(&output.stdout);
    assert!(told.contains("3  rev  l: [2, −3] → [−3], r: [1] → [2, 1], n: 1 → 2  (clause 2"), "{told}");
    assert!(told.contains("clause 3      false ← rev([], r, n), hd(r) ≠ 1\n"), "{told}");
    assert!(told.contains("notation      [] is nil, [x, y] is cons(x, cons(y, nil))\n"), "{told}");
    let output = shofar(&["explain", &file, "--notation", "smtlib"]);
    let told = text(&output.stdout);
    assert!(
        told.contains("r: (cons 1 nil) -> (cons 2 (cons 1 nil))") && !told.contains("notation"),
        "{told}"
    );

    let output = shofar(&[&file, "--witness-format", "json"]);
    let json: Json = serde_json::from_str(text(&output.stdout).split_once('\n').unwrap().1).unwrap();
    let step = &json["steps"][2];
    assert_eq!(step["arguments"][1], "(cons 2 (cons 1 nil))");
    assert_eq!(step["readable"]["arguments"][1], "[2, 1]");
    assert_eq!(step["readable"]["instance"]["n"], "1");

    let (page, _) = page(&[&file]);
    checked(&page);
    assert!(page.contains(r#"[1,"[2, 1]","(cons 2 (cons 1 nil))"]"#), "{page}");
    assert!(page.contains("<p class=\"note\">0 is z, 2 is s(s(z))</p>"), "{page}");

    let wrong = folder.path().join("wrong.model");
    let definition = "(define-fun rev ((l L) (r L) (n N)) Bool
        (and (not (= l nil)) (=> (= n (s z)) (not (= l (cons 2 (cons (- 3) nil)))))))";
    std::fs::write(&wrong, definition).unwrap();
    let output = shofar(&["check", &file, wrong.to_str().unwrap()]);
    assert_eq!(text(&output.stdout), "invalid\n");
    let complaint = text(&output.stderr);
    assert!(complaint.contains(" = nil\n") || complaint.contains(", that is ["), "{complaint}");
}

/// A counterexample needs a Peano number of 100,000. Its text is short, and it is read again.
#[test]
fn large_peano_numbers_are_answered_told_and_checked() {
    let powers = [
        ("s5", "S", 5),
        ("s25", "s5", 5),
        ("s100", "s25", 4),
        ("s2500", "s100", 25),
        ("s50000", "s2500", 20),
    ];
    let power = |(name, below, times): (&str, &str, usize)| {
        let (start, end) = (format!("({below} ").repeat(times), ")".repeat(times));
        format!("(define-fun {name} ((n Nat)) Nat {start}n{end})\n")
    };
    let powers: String = powers.into_iter().map(power).collect();
    let clauses = format!(
        "(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))\n{powers}(declare-fun P (Nat) Bool)
(assert (P Z))
(assert (forall ((n Nat)) (=> (P n) (P (s2500 n)))))
(assert (forall ((n Nat)) (=> (and (P n) (= n (s50000 (s50000 Z)))) false)))
"
    );
    let (folder, file) = folder(&clauses);
    let output = shofar(&[&file, "--witness"]);
    let witness = text(&output.stdout);
    assert!(witness.starts_with("unsat\n") && witness.len() < 20_000, "{}", witness.len());
    assert!(witness.contains(" ; 100000\n"), "{witness}");
    let written = folder.path().join("witness");
    std::fs::write(&written, witness).unwrap();
    assert_eq!(text(&shofar(&["check", &file, written.to_str().unwrap()]).stdout), "valid\n");
    let (page, output) = page(&["explain", &file]);
    let told = text(&output.stdout);
    assert!(told.contains("41  P  n: 97500 → 100000  (clause 2"), "{told}");
    assert!(told.contains("false ← P(n), n = 100000"), "{told}");
    assert!(page.contains(r#"[0,"100000","#) && page.len() < 300_000, "{}", page.len());
}

#[test]
fn colours_are_for_terminals() {
    let (_folder, file) = folder(&counter(2));
    let is_coloured = |when: &[&str]| {
        let output = shofar(&[&["explain", &file], when].concat());
        text(&output.stdout).contains("\x1b[1m\x1b[33mx: 0 → 1,\x1b[0m")
    };
    assert!(is_coloured(&["--color", "always"]));
    assert!(!is_coloured(&["--color", "never"]) && !is_coloured(&[]));
}

#[test]
fn long_runs_are_cut_in_the_middle() {
    let (_folder, file) = folder(&counter(90));
    // Others may find a longer run.
    let output = shofar(&["explain", &file, "-e", "bmc"]);
    let told = text(&output.stdout);
    let note = "\n... 52 steps are left out; --full shows them\n";
    assert!(told.contains("a run of 92 steps") && told.contains(note), "{told}");
    assert_eq!(told.lines().count(), 3 + 25 + 1 + 15 + 4);
    let output = shofar(&["explain", &file, "-e", "bmc", "--full"]);
    assert_eq!(text(&output.stdout).lines().count(), 3 + 92 + 4);
}

#[test]
fn a_model_is_told_with_the_clauses_that_it_makes_true() {
    let output = shofar(&["explain", &example("counter")]);
    let told = text(&output.stdout);
    assert!(told.starts_with(
        "sat\nAll clauses are true if the predicates mean this:\n\nloop(x, y, n: Int)\n    x = y\n"
    ));
    let roles: Vec<&str> = told.lines().filter(|line| line.contains("(clause ")).collect();
    let expected = [("  init", "clause 1"), ("  preserved by", "clause 2"), ("  excludes", "clause 3")];
    assert_eq!(roles.len(), expected.len());
    for (line, (role, clause)) in roles.iter().zip(expected) {
        assert!(line.starts_with(role) && line.contains(clause), "{told}");
    }
    assert!(told.contains("excludes      false ← loop(x, y, n), x ≥ n, y ≠ x  (clause 3 at 14:2)"), "{told}");
}

#[test]
fn formulas_have_the_notation_that_is_asked_for() {
    let told = |notation: &[&str]| {
        let output = shofar(&[&["explain", &example("mccarthy91")], notation].concat());
        text(&output.stdout).lines().nth(4).unwrap_or_default().trim().to_owned()
    };
    assert_eq!(told(&[]), "s ≥ 91 ∧ (n ≥ s + 10 ∨ s ≤ 91)");
    assert_eq!(told(&["--notation", "ascii"]), "s >= 91 and (n >= s + 10 or s <= 91)");
    assert_eq!(told(&["--notation", "smtlib"]), "(and (>= s 91) (or (>= n (+ s 10)) (<= s 91)))");
    let (math, _) = page(&[&example("mccarthy91")]);
    assert!(math.contains("s ≥ 91 ∧ (n ≥ s + 10 ∨ s ≤ 91)") && math.contains("m(n, n − 10) ← n &gt; 100"));
    let (smtlib, _) = page(&[&example("mccarthy91"), "--notation", "smtlib"]);
    assert!(
        smtlib.contains("(and (&gt;= s 91) (or (&gt;= n (+ s 10)) (&lt;= s 91)))") && !smtlib.contains('∧')
    );
}

#[test]
fn witnesses_of_others_are_explained_if_they_are_right() {
    let (folder, file) = folder(
        "(declare-fun P (Int) Bool)(assert (P 0))
        (assert (forall ((x Int)) (=> (and (P x) (< x 7)) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (and (P x) (> x 9)) false)))",
    );
    let witness = folder.path().join("witness");
    let explain = |model: &str| {
        std::fs::write(&witness, model).unwrap();
        shofar(&["explain", &file, "--witness-file", witness.to_str().unwrap()])
    };
    let output = explain("(define-fun P ((a Int)) Bool (and (not (< 8 a)) (< a 9) (<= a 12)))");
    assert!(text(&output.stdout).contains("P(a: Int)\n    a ≤ 8\n"), "{}", text(&output.stdout));
    // A name that a solver has made up gives way to that of the clauses.
    let output = explain("(define-fun P ((x!0 Int)) Bool (<= x!0 8))");
    assert!(text(&output.stdout).contains("P(x: Int)\n    x ≤ 8\n"), "{}", text(&output.stdout));
    let output = explain("(define-fun P ((a Int)) Bool (<= a 5))");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
    assert!(text(&output.stderr).contains("the model violates clause 2"), "{}", text(&output.stderr));
}

#[test]
fn what_the_input_is_called_does_not_control_terminals() {
    let (_folder, file) = folder(HOSTILE);
    let output = shofar(&["explain", &file]);
    let told = text(&output.stdout);
    assert!(told.starts_with("sat\n") && !told.contains('\u{1b}'), "{told}");
}

/// Writes a page, and returns it with the rest of the output.
fn page(arguments: &[&str]) -> (String, Output) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let output = shofar(&[arguments, &["--html", path.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(files.len(), 1, "no temporary file is left");
    (std::fs::read_to_string(path).unwrap(), output)
}

/// The elements of a page and their attributes. Fails where tags are not balanced.
fn elements(page: &str) -> Vec<(String, String)> {
    const VOID: [&str; 3] = ["meta", "input", "!doctype"];
    let mut elements = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("each tag is closed");
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "no tag in a tag: {tag}");
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "tags are balanced");
            continue;
        }
        let (name, attributes) = tag.split_once([' ', '\n']).unwrap_or((tag, ""));
        let name = name.trim_end_matches('/').to_owned();
        elements.push((name.clone(), attributes.to_owned()));
        if matches!(&*name, "script" | "style") {
            let end = rest.find(&format!("</{name}>")).expect("it is closed");
            rest = &rest[end..];
        }
        if !tag.ends_with('/') && !VOID.contains(&&*name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} is not closed");
    elements
}

/// Checks what holds for every page, and returns its elements.
fn checked(page: &str) -> Vec<(String, String)> {
    let elements = elements(page);
    for (name, attributes) in &elements {
        assert!(
            !["link", "img", "iframe", "a", "base", "object", "image", "use"].contains(&&**name),
            "{name}"
        );
        for loading in ["src=", "href=", "url(", "onload", "onerror", "style="] {
            assert!(!attributes.contains(loading), "{name} {attributes}");
        }
    }
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("@import"));
    assert_eq!(elements.iter().filter(|(name, _)| name == "script").count(), 2);
    let ids: Vec<&str> = elements
        .iter()
        .filter_map(|(_, attributes)| attributes.split("id=\"").nth(1)?.split('"').next())
        .collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids are unique");
    elements
}

#[test]
fn pages_are_well_formed_and_load_nothing() {
    for (name, answer) in [("counter", "sat"), ("overshoot", "unsat"), ("mccarthy91", "sat")] {
        let (page, output) = page(&[&example(name)]);
        assert_eq!(text(&output.stdout), format!("{answer}\n"));
        let elements = checked(&page);
        let count = |class: &str| {
            elements.iter().filter(|(_, attributes)| attributes.contains(&format!("class=\"{class}"))).count()
        };
        assert!(count("node predicate") > 0 && count("arrow") > 2 && count("node false") == 1);
        assert_eq!(elements.iter().any(|(name, _)| name == "section"), answer == "sat");
    }
    let (page, output) = page(&["explain", &example("overshoot")]);
    checked(&page);
    assert!(text(&output.stdout).starts_with("unsat\nThe clauses contradict"));
}

#[test]
fn names_of_the_input_are_no_markup() {
    let (_folder, file) = folder(HOSTILE);
    let (page, _) = page(&[&file]);
    checked(&page);
    assert!(
        page.contains("&lt;script&gt;alert(1)") && page.contains("{{data}}") && !page.contains("alert(1)</s")
    );
    let unsafe_file = HOSTILE.replace("> x y", "< x y");
    let (_folder, file) = folder(&unsafe_file);
    let (page, output) = self::page(&[&file]);
    assert_eq!(text(&output.stdout), "unsat\n");
    checked(&page);
    assert!(page.contains("\\u003cscript\\u003ealert(1)"));
}

#[test]
fn the_automaton_is_drawn_and_written() {
    let panel = |page: &str| page.split("data-tab=\"Automaton\"").nth(1).unwrap().to_owned();
    let (linear, _) = page(&[&example("overshoot")]);
    let elements = checked(&linear);
    let count = |class: &str| {
        elements.iter().filter(|(_, attributes)| attributes.contains(&format!("class=\"{class}"))).count()
    };
    assert_eq!((count("place"), count("statements"), count("flow")), (3, 3, 6));
    let panel_of_linear = panel(&linear);
    assert_eq!(panel_of_linear.matches("<svg").count(), 1);
    for part in ["assume x ≤ 15", "x := x + 3", "data-clause=\"1\"", "    to loop\n"] {
        assert!(panel_of_linear.contains(part), "{part} is not in {panel_of_linear}");
    }

    let (nonlinear, _) = page(&[&example("mccarthy91"), "--notation", "ascii"]);
    checked(&nonlinear);
    let panel_of_nonlinear = panel(&nonlinear);
    assert_eq!(panel_of_nonlinear.matches("<svg").count(), 2, "main and m");
    assert!(panel_of_nonlinear.contains("call m(n + 11, s_1)"), "{panel_of_nonlinear}");

    for (length, is_drawn, is_written) in [(20, true, true), (100, false, true), (500, false, false)] {
        let (_folder, file) = folder(&chain(length));
        let (long, _) = page(&[&file]);
        checked(&long);
        let panel = panel(&long);
        assert_eq!((panel.contains("<svg"), panel.contains("procedure main()")), (is_drawn, is_written));
        assert_eq!(panel.contains("too large for a page"), !is_written);
    }
}

#[test]
fn the_automaton_fills_the_window_on_demand() {
    let (page, _) = page(&[&example("counter")]);
    let script = "const drawing = document.querySelector('.automaton');
        const sizes = [drawing.getBoundingClientRect().width];
        const button = document.getElementById('enlarge');
        button.click();
        sizes.push(drawing.getBoundingClientRect().width);
        drawing.querySelector('.statements').dispatchEvent(new MouseEvent('click', { bubbles: true }));
        sizes.push(drawing.getBoundingClientRect().width);
        const clause = document.querySelector('.clause.here');
        return [sizes[1] === innerWidth, sizes[0] === sizes[2] && sizes[0] < innerWidth, clause && clause.id];";
    let Some(found) = found(&page, script) else { return };
    assert_eq!(found, serde_json::json!([true, true, "c0"]));
}

#[test]
fn the_automaton_follows_the_run() {
    let (page, _) = page(&[&example("overshoot")]);
    let script = "const clauses = (kind) => [...document.querySelectorAll('.statements.' + kind)].map((box) => box.dataset.clause);
        const first = clauses('now');
        document.getElementById('last').click();
        return [clauses('used'), first, clauses('now')];";
    let Some(found) = found(&page, script) else { return };
    assert_eq!(found, serde_json::json!([["0", "1", "2"], ["0"], ["2"]]));
}

/// So many predicates one behind the other, and each behind itself, too, so that they are no chain that becomes one box.
fn loops(length: usize) -> String {
    let again = |number| format!("(assert (forall ((x Int)) (=> (P{number} x) (P{number} x))))\n");
    chain(length) + &(0..length).map(again).collect::<String>()
}

/// So many predicates one behind the other.
fn chain(length: usize) -> String {
    let mut clauses = String::new();
    for number in 0..length {
        clauses += &format!("(declare-fun P{number} (Int) Bool)\n");
    }
    clauses += "(assert (P0 0))\n";
    for number in 1..length {
        clauses += &format!("(assert (forall ((x Int)) (=> (P{} x) (P{number} x))))\n", number - 1);
    }
    clauses + &format!("(assert (forall ((x Int)) (=> (P{} x) (= x 0))))", length - 1)
}

#[test]
fn graphs_that_are_too_large_for_a_picture_are_listed() {
    let (_folder, file) = folder(&loops(450));
    let (page, _) = page(&[&file]);
    let elements = checked(&page);
    assert!(page.contains("too large for a picture") && !elements.iter().any(|(name, _)| name == "svg"));
    assert_eq!(elements.iter().filter(|(name, _)| name == "section").count(), 450);
}

#[test]
fn boxes_are_small_where_there_are_many() {
    for (length, is_small) in [(40, false), (60, true)] {
        let (_folder, file) = folder(&loops(length));
        let (page, _) = page(&[&file]);
        checked(&page);
        let picture = &page[page.find("<svg").unwrap()..page.find("</svg>").unwrap()];
        assert_eq!(picture.matches("class=\"formula\"").count(), if is_small { 0 } else { length });
        assert_eq!(picture.matches("<title>P").count(), if is_small { length } else { 0 });
    }
}

#[test]
fn long_chains_are_boxes_that_open() {
    for (clauses, answer, shown) in [
        (chain(300), "sat", "<b>P17</b><span></span><pre>x = 0</pre>"),
        (chain(300).replace("(= x 0)", "(> x 0)"), "unsat", "<b>P17</b><span> x = 0</span>"),
    ] {
        let (folder, file) = folder(&clauses);
        let (content, output) = page(&[&file]);
        assert_eq!(text(&output.stdout), format!("{answer}\n"));
        let elements = checked(&content);
        let boxes = elements.iter().filter(|(_, attributes)| attributes.contains("class=\"node "));
        assert_eq!(boxes.count(), 3, "the chain between the start and false");
        assert!(content.contains("P0 … P299") && content.contains("300 in a row"));
        // A click on the box, and one on the member in which the run is to be seen.
        let clicks = "document.querySelector('.node.chain').dispatchEvent(new MouseEvent('click'));
            document.querySelectorAll('#chain li')[17].click();";
        let path = folder.path().join("clicked.html");
        std::fs::write(&path, content.replace("</body>", &format!("<script>{clicks}</script></body>")))
            .unwrap();
        let Some((dom, complaints)) = in_browser(&path) else {
            eprintln!("skipped: there is no browser");
            return;
        };
        assert_eq!(complaints, "");
        assert!(dom.contains(shown), "{answer}: {dom}");
        let marked = dom.matches("class=\"here\"").count() + dom.matches("class=\"level0 here\"").count();
        assert_eq!(marked, 2, "in the list and beside it");
    }
}

#[test]
fn a_page_without_an_answer_shows_the_clauses() {
    let (_folder, file) = folder(
        "(declare-fun P ((Array Int Int)) Bool)(declare-fun f (Int) Int)
        (assert (forall ((a (Array Int Int))) (=> (= (select a 0) (f 1)) (P a))))",
    );
    let (page, output) = page(&[&file]);
    assert_eq!(text(&output.stdout), "unknown\n");
    checked(&page);
    assert!(page.contains("Nothing is known"));
}

/// The answer is printed, the message says what is wrong, and no half page is left.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_the_page_only() {
    let output = shofar(&[&example("overshoot"), "--html", "/dev/full"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), "unsat\n"));
    assert!(text(&output.stderr).starts_with("shofar: cannot write /dev/full: No space left"));
    // A limit on the size of files ends in the same way as a full disk does.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    std::fs::write(&path, "old").unwrap();
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"";
    let shofar = env!("CARGO_BIN_EXE_shofar");
    let arguments = ["-c", script, shofar, &example("overshoot"), "--html", path.to_str().unwrap()];
    let output = Command::new("sh").args(arguments).stdin(Stdio::null()).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), "unsat\n"));
    assert!(text(&output.stderr).starts_with("shofar: cannot write "), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn scripts_run_in_a_browser() {
    let hostile = HOSTILE.replace("> x y", "< x y");
    let (folder, file) = folder(&hostile);
    let path = folder.path().join("page.html");
    assert!(shofar(&[&file, "--html", path.to_str().unwrap()]).status.success());
    let Some((dom, complaints)) = in_browser(&path) else {
        eprintln!("skipped: there is no browser");
        return;
    };
    assert_eq!(complaints, "");
    assert!(dom.contains("max=\"2\"") && dom.contains("node predicate used now"), "{dom}");
    assert_eq!(dom.matches("<script").count(), 2, "nothing of the input became a script");
}

/// A loop over many variables of which three matter.
fn wide(arguments: usize, query: &str) -> String {
    let list = |item: &dyn Fn(usize) -> String| (0..arguments).map(item).collect::<Vec<String>>().join(" ");
    let [sorts, bound] = [list(&|_| "Int".to_owned()), list(&|place| format!("(x{place} Int)"))];
    let variables = list(&|place| format!("x{place}"));
    let next = list(&|place| match place {
        3 => "(+ x3 1)".to_owned(),
        5 => "(+ x5 2)".to_owned(),
        _ => format!("x{place}"),
    });
    format!(
        "(declare-fun state ({sorts}) Bool)
(assert (forall ({bound}) (=> (and (= x3 0) (= x5 0) (= x7 3)) (state {variables}))))
(assert (! (forall ({bound}) (=> (and (state {variables}) (< x3 x7)) (state {next}))) :named step))
(assert (forall ({bound}) (=> (and (state {variables}) {query}) false)))
"
    )
}

#[test]
fn a_graph_opens_whole_and_readable() {
    let (_folder, unsafe_file) = folder(&wide(62, "(= x3 3)"));
    let (_other, safe_file) = folder(&wide(62, "(< x5 x3)"));
    for (file, answer) in [
        (example("mccarthy91"), "sat"),
        (example("overshoot"), "unsat"),
        (safe_file, "sat"),
        (unsafe_file, "unsat"),
    ] {
        let (page, output) = page(&[&file]);
        assert_eq!(text(&output.stdout), format!("{answer}\n"));
        let script = "const before = [isWhole(), pixels()];
            one('#larger').click(); one('#larger').click(); one('#larger').click(); one('#larger').click();
            const larger = pixels();
            one('#graph').dispatchEvent(new WheelEvent('wheel', { deltaY: -100, clientX: 300, clientY: 400 }));
            const wheel = pixels();
            press('0');
            return { before, larger, wheel, after: [isWhole(), pixels()],
                clauses: all('.clause pre').map((rule) => [rule.textContent, rule.checkVisibility()]) };";
        let Some(found) = found(&page, script) else { return };
        let size = found["before"][1].as_f64().unwrap();
        assert!(found["before"][0] == true && (10.0..=20.0).contains(&size), "{file}: {found}");
        assert!(
            found["larger"].as_f64().unwrap() > 2.0 * size
                && found["wheel"].as_f64() > found["larger"].as_f64()
        );
        assert_eq!(found["after"], found["before"], "the key 0 shows all of it again");
        let rules = found["clauses"].as_array().unwrap();
        // Wide ones have all their arguments in a second rule that opens.
        let open = rules.iter().filter(|rule| rule[1] == true);
        assert_eq!(open.count(), 3, "the rules are open: {found}");
        let is_query = |rule: &str| rule.split_whitespace().take(2).eq(["false", "←"]);
        assert!(rules.iter().any(|rule| is_query(rule[0].as_str().unwrap())), "{found}");
    }
}

#[test]
fn a_box_names_the_arguments_that_matter() {
    let (_folder, file) = folder(&wide(62, "(< x5 x3)"));
    let (page, _) = page(&[&file]);
    let script = "const node = one('.node.predicate');
        const texts = [...node.querySelectorAll('text')].map((text) => text.textContent).join(' ');
        const details = one('section details');
        const before = details.querySelector('p').checkVisibility();
        details.open = true;
        return { texts, hint: node.querySelector('title').textContent, before,
            all: details.textContent, after: details.querySelector('p').checkVisibility() };";
    let Some(found) = found(&page, script) else { return };
    let texts = found["texts"].as_str().unwrap();
    assert!(texts.contains("x5") && texts.contains("… +") && !texts.contains("x40"), "{found}");
    assert!(
        found["hint"].as_str().unwrap().contains("x40") && found["all"].as_str().unwrap().contains("x40")
    );
    assert!(found["before"] == false && found["after"] == true, "{found}");
}

#[test]
fn steps_show_changes_and_the_rest_on_demand() {
    let (_folder, file) = folder(&wide(62, "(= x3 3)"));
    let (page, _) = page(&[&file]);
    let script = "const steps = () => all('#steps li').map((step) => step.innerText);
        const before = steps();
        all('#steps .rest')[1].click();
        const opened = steps()[1];
        all('#steps .rest')[1].click();
        press('a');
        const every = steps();
        one('#all').click();
        const again = steps();
        press('ArrowRight'); press('ArrowRight');
        const values = [...one('.node.predicate').querySelectorAll('.value')].map((row) => row.textContent);
        return { before, opened, every, again, values: values.filter((text) => text), now: one('#now').textContent,
            here: all('#steps li.here').map((step) => step.value), marked: one('.node.predicate.now') !== null };";
    let Some(found) = found(&page, script) else { return };
    let step = found["before"][1].as_str().unwrap();
    assert!(step.contains("x3: 0 → 1") && step.contains("x5: 0 → 2") && step.contains("+60"), "{found}");
    assert!(!step.contains("x4") && !step.contains(" = "), "{found}");
    let first = found["before"][0].as_str().unwrap();
    assert!(
        first.contains("x3 = 0") && first.contains("+60"),
        "of the first values those that change: {found}"
    );
    assert!(found["opened"].as_str().unwrap().contains("x61 = "), "{found}");
    for step in found["every"].as_array().unwrap().iter().take(4) {
        assert!(
            step.as_str().unwrap().contains("x61 = ") && step.as_str().unwrap().contains("x7 = 3"),
            "{found}"
        );
    }
    assert_eq!(found["again"], found["before"]);
    assert_eq!(found["values"], serde_json::json!(["x3 = 2", "x5 = 4"]), "{found}");
    assert!(found["now"].as_str().unwrap().contains("Step 3 of 5: state  x3: 1 → 2"), "{found}");
    assert!(found["here"] == serde_json::json!([3]) && found["marked"] == true, "{found}");
}

#[test]
fn a_search_finds_predicates_arguments_and_clauses() {
    let (_folder, file) = folder(&loops(120));
    let (page, _) = page(&[&file]);
    let script = "const predicate = seek('P117');
        const box = isInside(one('#n117'), one('#stage')) && one('#n117').classList.contains('hit');
        const count = one('#found').textContent;
        one('#search').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
        const next = one('#found').textContent;
        const clause = seek('P118(x) ← P117(x)');
        const nothing = [seek('P120'), one('#found').textContent];
        one('#search').dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
        return { predicate, box, count, next, clause, nothing, left: all('.hit').length };";
    let Some(result) = found(&page, script) else { return };
    assert!(result["predicate"][0][0].as_str().unwrap().starts_with("P117(x)"), "{result}");
    assert!(result["predicate"][0][1] == true && result["box"] == true, "both are in view: {result}");
    assert!(
        result["count"].as_str().unwrap().starts_with("1 of ")
            && result["next"].as_str().unwrap().starts_with("2 of ")
    );
    assert!(result["clause"][0][0].as_str().unwrap().contains("← P117(x)") && result["clause"][0][1] == true);
    assert_eq!(result["nothing"], serde_json::json!([[], "not found"]));
    assert_eq!(result["left"], 0);
    let (_folder, file) = folder(&wide(62, "(= x3 3)"));
    let (page, _) = self::page(&[&file]);
    let Some(result) = found(&page, "return seek('x5: 4 → 6');") else { return };
    assert_eq!((result.as_array().unwrap().len(), &result[0][1]), (1, &Json::Bool(true)), "{result}");
}

/// Text is never too small to be read; what does not fit is on a map.
#[test]
fn large_graphs_open_at_their_beginning() {
    let (_folder, file) = folder(&loops(350));
    let (page, _) = page(&[&file]);
    assert!(page.len() < 1_000_000, "{}", page.len());
    let script = "const opened = [isWhole(), pixels(), isInside(one('.node.start'), one('#stage')),
            one('#overview').getBoundingClientRect().height];
        one('#fit').click();
        return { opened, fitted: isWhole(), map: one('#overview').getBoundingClientRect().height };";
    let Some(found) = found(&page, script) else { return };
    let opened = &found["opened"];
    assert!(opened[0] == false && opened[1].as_f64() >= Some(9.9) && opened[2] == true, "{found}");
    assert!(opened[3].as_f64() > Some(50.0) && found["map"] == 0.0 && found["fitted"] == true, "{found}");
}
