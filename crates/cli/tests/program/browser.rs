//! Looks at pages with a browser, for the tests beside this folder.

use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

/// The page as a browser without a window leaves it after its scripts ran, and what they complained about.
pub(crate) fn in_browser(page: &Path) -> Option<(String, String)> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let profile = tempfile::tempdir().unwrap();
    let output = names.iter().find_map(|name| {
        Command::new(name)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
            .args(["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--window-size=1400,900"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("file://{}", page.display()))
            .output()
            .ok()
    })?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    let complaints: Vec<&str> = complaints.lines().filter(|line| line.contains("CONSOLE")).collect();
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), complaints.join("\n")))
}

/// What a script finds in a page once the page's own script has run; `None` without a browser.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn found(page: &str, script: &str) -> Option<Json> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let probe = format!(
        "<script>(() => {{ {HELPERS} const found = (() => {{ {script} }})();
        document.documentElement.dataset.found = encodeURIComponent(JSON.stringify(found)); }})();</script></body>"
    );
    std::fs::write(&path, page.replace("</body>", &probe)).unwrap();
    let Some((dom, complaints)) = in_browser(&path) else {
        eprintln!("skipped: there is no browser");
        return None;
    };
    assert_eq!(complaints, "");
    let found =
        dom.split("data-found=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("the script ran");
    Some(serde_json::from_str(&decoded(found)).unwrap())
}

/// The text without the escapes of URIs.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(code, 16).unwrap());
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8(bytes).unwrap()
}

/// What several scripts need: whether a box is inside of another, whether all boxes of the graph are in its window, and
/// how many pixels the small text of boxes has.
const HELPERS: &str = "
    const one = (selector) => document.querySelector(selector);
    const all = (selector) => [...document.querySelectorAll(selector)];
    const isInside = (inner, outer) => {
        const [a, b] = [inner, outer].map((element) => element.getBoundingClientRect());
        return a.width > 0 && a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
    };
    const isWhole = () => all('.node').every((node) => isInside(node, one('#stage')));
    const pixels = () => 12 * one('#graph').getScreenCTM().a;
    const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    const seek = (text) => {
        one('#search').value = text;
        one('#search').dispatchEvent(new Event('input'));
        return all('.hit.current').map((hit) => [hit.textContent, isInside(hit, one('aside'))]);
    };";
