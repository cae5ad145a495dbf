//! Answers as pages for a browser.
//!
//! A page has the clause graph as a picture, and beside it what each predicate means, or the run that leads to `false`,
//! step by step. It is one file without anything from elsewhere: styles, script and picture are inside, and its security
//! policy forbids it to load anything.
//!
//! - H1: every text of the input is escaped, by [`Escaped`] in the markup and by [`data`] in what the script reads; the
//!   script puts it into the page as text only.
//! - H2: what is long is cut, and the page says so. A page has some megabytes at most.
//! - H3: a page is written to a temporary file that then takes its name, so that there is a whole page or none.

mod chains;
mod layout;
mod picture;

use std::fmt::{self, Write as _};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use shofar_horn::HornSystem;
use shofar_horn::witness::{Interpretation, Model, Refutation, Trace, clause_roles, parameters, value_text};
use shofar_logic::{Term, TermStore};

use picture::{Picture, node_of, picture};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Steps of a run that a page has at its beginning and at its end.
const MOST_FIRST: usize = 1000;
const MOST_LAST: usize = 1000;

/// Predicates and clauses in lists, and bytes beyond which a list ends before.
const MOST_LISTED: usize = 4000;
const MOST_BYTES: usize = 2_000_000;

/// Characters of a formula or clause, and of a value.
const MOST_CHARACTERS: usize = 6000;
const MOST_VALUE_CHARACTERS: usize = 200;

/// Subterms of so many symbols are named where they occur more than once.
const LEAST_NAMED: u32 = 12;

/// What a page is about.
pub(crate) enum Answer<'a> {
    Sat(&'a Model),
    Unsat(&'a Refutation),
    /// Why nothing is known.
    Unknown(&'a str),
}

/// A page about the clauses of a file.
pub(crate) fn page(store: &TermStore, system: &HornSystem, file: &str, answer: &Answer<'_>) -> String {
    let parameters = parameters(store, system);
    let picture = picture(store, system, answer, &parameters);
    let writer = Writer { store, system, parameters, picture };
    let (word, summary) = match answer {
        Answer::Sat(_) => {
            ("sat", "All clauses are true if the predicates mean what stands in the boxes.".to_owned())
        }
        Answer::Unsat(_) => {
            ("unsat", "The clauses contradict each other: the run leads to false.".to_owned())
        }
        Answer::Unknown(reason) => ("unknown", format!("Nothing is known: {reason}.")),
    };
    let (list, data) = match answer {
        Answer::Sat(model) => (writer.predicates(Some(model)), Vec::new()),
        Answer::Unsat(refutation) => writer.steps(refutation),
        Answer::Unknown(_) => (writer.predicates(None), Vec::new()),
    };
    let data = json!({ "steps": data, "chains": writer.picture.chains });
    let (drawing, note) = match &writer.picture.svg {
        Ok(svg) => (svg.as_str(), String::new()),
        Err(why) => ("", format!("<p class=\"note\">{}</p>", Escaped::new(why))),
    };
    let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
    filled(PAGE, |hole| match hole {
        "name" => Escaped::new(&name).0,
        "answer" => word.to_owned(),
        "summary" => Escaped::new(&summary).0,
        "counts" => {
            let (predicates, clauses) = (system.predicates().len(), system.clauses.len());
            let counted =
                |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
            format!("{}, {}", counted(predicates, "predicate"), counted(clauses, "clause"))
        }
        "style" => STYLE.to_owned(),
        "script" => SCRIPT.to_owned(),
        "picture" => format!("{note}{drawing}"),
        "list" => list.clone(),
        "clauses" => writer.clauses(),
        "data" => self::data(&data),
        _ => String::new(),
    })
}

/// Writes a page to a file, whole or not at all.
pub(crate) fn save(path: &Path, page: &str) -> io::Result<()> {
    // A link stays a link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&path).is_ok_and(|known| !known.is_file()) {
        // A device or a pipe cannot be replaced by a file.
        let mut out = OpenOptions::new().write(true).open(&path)?;
        return out.write_all(page.as_bytes());
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let temporary: PathBuf = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = OpenOptions::new().write(true).create_new(true).open(&temporary).and_then(|mut out| {
        out.write_all(page.as_bytes())?;
        // Some systems find out only now that the disk is full.
        out.sync_all()?;
        fs::rename(&temporary, &path)
    });
    if written.is_err() {
        // Nothing is lost where there is no such file.
        let _ = fs::remove_file(&temporary);
    }
    written
}

struct Writer<'a> {
    store: &'a TermStore,
    system: &'a HornSystem,
    parameters: Vec<Box<[Term]>>,
    picture: Picture,
}

impl Writer<'_> {
    /// The predicates with what they mean and the clauses that this makes true.
    fn predicates(&self, model: Option<&Model>) -> String {
        let mut html = String::new();
        // Writing to a string does not fail, here and below.
        let mut listed = 0;
        for ((predicate, fun), roles) in self.system.predicates().zip(clause_roles(self.system)) {
            if listed == MOST_LISTED || html.len() > MOST_BYTES {
                break;
            }
            listed += 1;
            let name =
                Escaped::new(&cut(self.store.name(self.store.fun_decl(fun).name), MOST_VALUE_CHARACTERS));
            let _ = write!(html, "<section data-node=\"{}\"><h3>{name}</h3>", node_of(predicate));
            let sorted = |&parameter: &Term| {
                let sort = self.store.display_sort(self.store.sort_of(parameter));
                format!("{} {sort}", self.store.display(parameter))
            };
            let parameters: Vec<String> = self.parameters[predicate.index()].iter().map(sorted).collect();
            let parameters = cut(&parameters.join(", "), MOST_CHARACTERS);
            let _ = write!(html, "<p class=\"parameters\">{}</p>", Escaped::new(&parameters));
            if let Some(model) = model {
                let text = match model.definition(predicate).interpretation {
                    Interpretation::Formula(formula) => {
                        self.store.display(formula).pretty(64, 2).naming_from(LEAST_NAMED).to_string()
                    }
                };
                let text = cut(&text, MOST_CHARACTERS);
                let _ = write!(html, "<pre>{}</pre>", Escaped::new(&text));
            }
            html.push_str("<ul>");
            for (role, clause) in roles.iter().take(MOST_LISTED) {
                let title =
                    Escaped::new(&cut(&self.system.clause_title(self.store, *clause), MOST_VALUE_CHARACTERS));
                let _ = write!(html, "<li><span class=\"role\">{}</span> {title}</li>", role.name());
            }
            html.push_str("</ul></section>\n");
        }
        more(self.system.predicates().len() - listed, "predicates", &mut html);
        html
    }

    /// The steps of a run as a list, and what the script is to know of them.
    fn steps(&self, refutation: &Refutation) -> (String, Vec<Json>) {
        let trace = Trace::new(self.store, self.system, refutation);
        let count = trace.lines().len();
        let is_cut = count > MOST_FIRST + MOST_LAST;
        let first = if is_cut { MOST_FIRST } else { count };
        let mut html = String::from("<ol id=\"steps\">\n");
        let mut data: Vec<Json> = Vec::new();
        for line in 0..first {
            data.push(self.step(&trace, line, data.len(), &mut html));
        }
        if is_cut {
            let left_out = count - MOST_FIRST - MOST_LAST;
            let _ = writeln!(html, "<li class=\"note\">{left_out} steps are left out here.</li>");
            for line in count - MOST_LAST..count {
                data.push(self.step(&trace, line, data.len(), &mut html));
            }
        }
        html.push_str("</ol>\n");
        (html, data)
    }

    fn step(&self, trace: &Trace<'_>, line: usize, position: usize, html: &mut String) -> Json {
        let step = trace.step(line);
        let predicate = trace.predicate(line);
        let name = match predicate {
            Some(predicate) => cut(
                self.store.name(self.store.fun_decl(self.system.fun(predicate)).name),
                MOST_VALUE_CHARACTERS,
            ),
            None => "false".to_owned(),
        };
        let level = trace.lines()[line].level.min(12);
        let title = cut(&self.system.clause_title(self.store, step.clause), MOST_VALUE_CHARACTERS);
        let _ = write!(
            html,
            "<li value=\"{}\" data-step=\"{position}\" class=\"level{level}\"><b>{}</b> ",
            line + 1,
            Escaped::new(&name)
        );
        let value = |value| cut(&value_text(self.store, value), MOST_VALUE_CHARACTERS);
        let mut values: Vec<Json> = Vec::new();
        for argument in trace.arguments(line) {
            let name = self.store.display(argument.parameter).to_string();
            let (now, before) = (value(argument.value), argument.before.map(value));
            let shown = match &before {
                Some(before) if argument.is_changed() => {
                    format!(
                        "<span class=\"changed\">{}</span>",
                        Escaped::new(&format!("{name}: {before} \u{2192} {now}"))
                    )
                }
                _ => format!("<span>{}</span>", Escaped::new(&format!("{name} = {now}"))),
            };
            let _ = write!(html, "{shown} ");
            values.push(json!([name, now, argument.is_changed()]));
        }
        let premises: Vec<String> =
            trace.premises(line).iter().map(|premise| (premise + 1).to_string()).collect();
        let from = match premises.len() {
            0 | 1 => String::new(),
            _ => format!("from {}, ", premises.join(" and ")),
        };
        let _ = writeln!(html, "<small>{from}{}</small></li>", Escaped::new(&title));
        json!({
            "line": line + 1,
            "node": predicate.map(node_of).or(self.picture.end),
            "box": predicate.map(|predicate| self.picture.boxes[node_of(predicate)]).or(self.picture.end),
            "arrows": self.picture.arrows[step.clause],
            "name": name,
            "values": values,
            "clause": title,
        })
    }

    /// The clauses as they are written.
    fn clauses(&self) -> String {
        let mut html = String::new();
        let mut listed = 0;
        for number in 0..self.system.clauses.len() {
            if listed == MOST_LISTED || html.len() > MOST_BYTES {
                break;
            }
            listed += 1;
            let title = cut(&self.system.clause_title(self.store, number), MOST_VALUE_CHARACTERS);
            let text = self.system.clause_text(self.store, number);
            let text = cut(text.trim_end(), MOST_CHARACTERS);
            let (title, text) = (Escaped::new(&title), Escaped::new(&text));
            let _ = writeln!(
                html,
                "<details id=\"c{number}\"><summary>{title}</summary><pre>{text}</pre></details>"
            );
        }
        more(self.system.clauses.len() - listed, "clauses", &mut html);
        html
    }
}

/// Says that a list goes on.
fn more(more: usize, what: &str, html: &mut String) {
    if more > 0 {
        let _ = writeln!(html, "<p class=\"note\">{more} more {what} are not listed.</p>");
    }
}

/// A text for people with so many characters at most.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text as it stands in markup and attributes.
struct Escaped(String);

impl Escaped {
    fn new(text: &str) -> Self {
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\'' => escaped.push_str("&#39;"),
                '\n' => escaped.push(c),
                c if c.is_control() => escaped.push('\u{fffd}'),
                c => escaped.push(c),
            }
        }
        Escaped(escaped)
    }
}

impl fmt::Display for Escaped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// JSON as it stands in a script element, which nothing in it can end.
fn data(json: &Json) -> String {
    json.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// A template with its holes, `{{name}}`, filled. What is filled in has no holes.
fn filled(template: &str, content: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for (position, part) in template.split("{{").enumerate() {
        match part.split_once("}}").filter(|_| position > 0) {
            Some((hole, rest)) => {
                text.push_str(&content(hole));
                text.push_str(rest);
            }
            None => text.push_str(part),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_input_is_markup() {
        let evil = "</script><script>alert('&\"')\u{1b}";
        assert_eq!(Escaped::new(evil).0, "&lt;/script&gt;&lt;script&gt;alert(&#39;&amp;&quot;&#39;)\u{fffd}");
        let safe = data(&json!({ "name": evil }));
        assert!(!safe.contains('<') && !safe.contains('>') && !safe.contains('&'));
        assert_eq!(serde_json::from_str::<Json>(&safe).unwrap()["name"], evil);
    }

    #[test]
    fn holes_are_filled_once() {
        let content = |hole: &str| if hole == "a" { "{{b}}".to_owned() } else { "no".to_owned() };
        assert_eq!(filled("x{{a}}y{{b}}z", content), "x{{b}}ynoz");
    }

    #[test]
    fn a_page_replaces_a_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        save(&path, "old").unwrap();
        save(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(save(&folder.path().join("missing/page.html"), "new").is_err());
    }
}
