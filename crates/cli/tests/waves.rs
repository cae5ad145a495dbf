//! Pages about circuits as their users see them: `shofar FILE.aig --html PAGE`.

use std::fs;

use browser::{found, in_browser};
use program::{shofar, text};
use serde_json::json;

#[path = "program/browser.rs"]
mod browser;
mod program;

/// Counts by steps of 5 while it is enabled. `noise` follows an input without any influence. `b0` is true at 20, `b1`
/// never.
const COUNTER: &str = "1 sort bitvec 1
2 sort bitvec 8
3 zero 2
4 input 1 core.enable
5 state 2 core.count
6 init 2 5 3
7 constd 2 5
8 add 2 5 7 sum
9 ite 2 4 8 5
10 next 2 5 9
11 input 2 random
12 state 2 noise
13 init 2 12 3
14 next 2 12 11
15 constd 2 20
16 eq 1 5 15
17 bad 16 twenty
18 and 1 16 -16
19 bad 18 impossible
";

/// The page about a file, with the answer and the messages.
fn page(name: &str, content: &str, options: &[&str]) -> (String, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path(name), content).unwrap();
    let output = shofar(&[&[&*path(name), "--html", &*path("page.html")], options].concat(), "");
    let page = fs::read_to_string(path("page.html")).unwrap();
    (page, text(&output.stdout).to_owned(), text(&output.stderr).to_owned())
}

/// The rows of names: the class, the name or title, and the value.
const ROWS: &str = "const rows = () => all('#names > div:not(.head)').map((row) =>
        [row.className, row.querySelector('.name, button').textContent, row.querySelector('.value')?.textContent]);
    const values = () => all('#drawing text.value').map((text) => text.textContent);";

#[test]
fn a_waveform_has_the_signals_that_matter_first() {
    let (page, answer, _) = page("counter.btor2", COUNTER, &["--property", "0"]);
    assert_eq!(answer, "unsafe\n");
    let script = format!(
        "{ROWS}
        const opened = rows();
        const boxes = values();
        press('Home');
        const first = rows();
        const now = one('#now').textContent;
        press('ArrowRight'); one('#next').click();
        const third = rows();
        all('#names .group button')[2].click();
        const unfolded = rows().map((row) => row[1]);
        return {{ opened, boxes, first, now, third, unfolded, last: one('#names .head').textContent }};"
    );
    let Some(found) = found(&page, &script) else { return };
    let opened = &found["opened"];
    assert_eq!(opened[0], json!(["group", "▾ Signals that matter", null]), "{found}");
    assert_eq!(opened[1], json!(["bad needed", "twenty", "1"]), "{found}");
    assert_eq!(opened[2], json!(["latch needed", "core.count[7:0]", "14"]), "{found}");
    assert_eq!([&opened[3][1], &opened[4][1]], ["sum[7:0]", "core.enable"], "{found}");
    let folded = ["▸ Other properties (1)", "▸ Other inputs (1)", "▸ Other latches (1)"];
    for title in folded {
        assert!(opened.as_array().unwrap().iter().any(|row| row[1] == title), "{found}");
    }
    let boxes: Vec<&str> =
        found["boxes"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert!(["00", "05", "0a", "0f", "14"].iter().all(|value| boxes.contains(value)), "{found}");
    assert_eq!(found["first"][2], json!(["latch needed", "core.count[7:0]", "00"]), "{found}");
    assert_eq!(found["now"], "Step 0 of 4", "{found}");
    assert_eq!(found["third"][2][2], "0a", "{found}");
    assert_eq!(found["last"], "Step 2", "{found}");
    let unfolded = found["unfolded"].as_array().unwrap();
    assert!(unfolded.contains(&json!("random[7:0]")) && !unfolded.contains(&json!("noise[7:0]")), "{found}");
}

#[test]
fn a_waveform_can_be_searched_and_zoomed() {
    let (page, _, _) = page("counter.btor2", COUNTER, &["--property", "0"]);
    let script = format!(
        "{ROWS}
        const width = () => one('#space').getBoundingClientRect().width;
        const usual = width();
        for (let times = 0; times < 8; times++) one('#larger').click();
        const larger = width();
        press('0');
        const fitted = [width(), one('#waves').clientWidth];
        const type = (text) => {{ one('#search').value = text; one('#search').dispatchEvent(new Event('input')); }};
        type('NOISE');
        const hits = [rows().map((row) => row[1]), one('#found').textContent];
        type('nothing');
        const misses = [rows().length, one('#found').textContent];
        one('#search').dispatchEvent(new KeyboardEvent('keydown', {{ key: 'Escape' }}));
        return {{ usual, larger, fitted, hits, misses, after: rows()[1][1] }};"
    );
    let Some(found) = found(&page, &script) else { return };
    assert!(found["larger"].as_f64() > found["usual"].as_f64(), "{found}");
    assert_eq!(found["fitted"][0], found["fitted"][1], "all steps are in view: {found}");
    assert_eq!(found["hits"], json!([["▾ Other latches (1)", "noise[7:0]"], "1 found"]), "{found}");
    assert_eq!(found["misses"], json!([0, "not found"]), "{found}");
    assert_eq!(found["after"], "twenty", "{found}");
}

#[test]
fn names_are_never_markup() {
    let evil = "</script><script>alert(1)</script>&\"'{{data}}";
    let circuit = format!("aag 2 1 1 0 0 1\n2\n4 2\n4\ni0 {evil}\nl0 <b>\nb0 <img src=x>\n");
    let (page, answer, _) = page("evil.aag", &circuit, &[]);
    assert_eq!(answer, "unsafe\n");
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img") && !page.contains("<b>"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    fs::write(&path, &page).unwrap();
    let Some((dom, complaints)) = in_browser(&path) else { return };
    assert_eq!(complaints, "");
    assert_eq!(dom.matches("<script").count(), 2, "nothing of the input became a script");
    let names = "return all('#names .name').map((name) => name.textContent);";
    let Some(found) = found(&page, names) else { return };
    assert!(found.as_array().unwrap().contains(&json!(evil)), "{found}");
}

#[test]
fn a_proof_is_a_list_of_clauses() {
    // A latch that follows another, which keeps 0.
    let circuit = "aag 3 1 2 0 0 1\n2\n4 4\n6 4\n6\nl0 quiet\nl1 after\n";
    let engine = ["-e", "pdr"];
    for (notation, clause) in [("math", "¬after"), ("ascii", "not after"), ("smtlib", "(not after)")] {
        let options = [&engine[..], &["--notation", notation]].concat();
        let (page, answer, _) = page("safe.aag", circuit, &options);
        assert_eq!(answer, "safe\n");
        assert!(page.contains(&format!("<pre>{clause}</pre>")), "{page}");
        assert!(page.contains("These clauses hold in all steps"));
    }
    let (page, _, _) = page("safe.aag", circuit, &engine);
    let script = "one('#search').value = 'quiet'; one('#search').dispatchEvent(new Event('input'));
        return [all('.clause').filter((clause) => clause.checkVisibility()).map((clause) => clause.textContent),
            one('#waves').checkVisibility()];";
    let Some(found) = found(&page, script) else { return };
    let shown = found[0].as_array().unwrap();
    assert!(shown.iter().all(|clause| clause.as_str().unwrap().contains("quiet")), "{found}");
    assert_eq!(found[1], false, "{found}");
}

/// A client that waits for the input once the run has begun. `stuck`: it waits for ever; `overlooked`: although the input
/// is true again and again.
const CLIENT: &str = "aag 6 2 2 0 2 0 0 2\n2\n4\n6 13\n8 1\n1\n2\n6\n6\n2\n10 6 3\n12 11 8\n\
                      i0 grant\ni1 noise\nl0 waits\nl1 later\nj0 stuck\nj1 overlooked\n";

#[test]
fn a_lasso_is_a_waveform_with_a_loop() {
    let (page, answer, _) = page("client.aag", CLIENT, &["--property", "j0"]);
    assert_eq!(answer, "unsafe\n");
    assert!(page.contains("stuck fails: step 1 repeats for ever."), "{page}");
    let script = format!(
        "{ROWS}
        const band = one('#drawing .band').getAttribute('width');
        return {{ rows: rows(), now: one('#now').textContent, band }};"
    );
    let Some(found) = found(&page, &script) else { return };
    assert_eq!(found["now"], "Step 1 of 1: back to step 1", "{found}");
    assert_eq!(found["rows"][1], json!(["recurring needed", "stuck", "1"]), "{found}");
    let names: Vec<&str> =
        found["rows"].as_array().unwrap().iter().map(|row| row[1].as_str().unwrap()).collect();
    let folded = names.iter().position(|name| name.starts_with('▸')).unwrap();
    assert!(names[..folded].contains(&"waits") && names[..folded].contains(&"loop"), "{found}");
    assert!(!names[..folded].contains(&"noise"), "{found}");
}

#[test]
fn a_proof_of_liveness_names_its_monitors() {
    let (page, answer, _) = page("client.aag", CLIENT, &["--property", "j1"]);
    assert_eq!(answer, "safe\n");
    assert!(page.contains("The circuit has monitors for justice properties: j1 "), "{page}");
    assert!(page.contains("j1."), "{page}");
}

#[test]
fn a_page_goes_where_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toggle.aag");
    fs::write(&file, "aag 1 0 1 0 0 1\n2 3\n2\n").unwrap();
    let file = file.to_str().unwrap();
    let output = shofar(&[file, "--html", "-", "-w"], "");
    assert!(text(&output.stdout).starts_with("<!doctype html>"));
    assert_eq!((text(&output.stderr), output.status.code()), ("unsafe\n1\nb0\n0\n\n\n.\n", Some(10)));
    let output = shofar(&[file, "--html", "-", "--json"], "");
    assert_eq!(output.status.code(), Some(2));
    let output = shofar(&[file, "--html", "/no/such/folder/page.html"], "");
    assert_eq!((text(&output.stdout), output.status.code()), ("unsafe\n", Some(2)));
    assert!(text(&output.stderr).contains("there is no folder"), "{}", text(&output.stderr));
    let page = folder.path().join("page.html");
    let output = shofar(&[file, "--html", page.to_str().unwrap(), "-e", "kind"], "");
    assert_eq!(output.status.code(), Some(10));
    assert!(fs::read_to_string(&page).unwrap().contains("b0 fails in step 1."));
}
