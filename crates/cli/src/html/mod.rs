//! Answers as pages for a browser.
//!
//! A page has the clause graph as a picture, and beside it what each predicate means, or the run that leads to `false`,
//! step by step, the clauses as rules, the clauses as a program, and the engines of the run. Steps show what they change; of many arguments a page shows those that a formula
//! mentions or a run changes, and the others on demand. It is one file without anything from elsewhere: styles, script and picture are inside, and its security
//! policy forbids it to load anything.
//!
//! - H1: every text of the input is escaped, by [`Escaped`] in the markup and by [`data`] in what the script reads; the
//!   script puts it into the page as text only.
//! - H2: what is long is cut, and the page says so. A page has some megabytes at most.
//! - H3: a page is written to a temporary file that then takes its name, so that there is a whole page or none.

mod automaton;
mod chains;
mod engines;
mod layout;
mod picture;
mod states;
pub(crate) mod wave;

use std::collections::{BTreeMap, HashSet};
use std::fmt::{self, Write as _};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use shofar_engines::Event;
use shofar_horn::infix::{Fit, Notation, ValueTexts};
use shofar_horn::witness::{
    Induction, Interpretation, Model, Premise, Recursion, Refutation, Saturation, Trace, clause_roles,
    in_words, parameters,
};
use shofar_horn::{Clause, HornSystem, PredicateId};
use shofar_logic::{Op, Term, TermStore, Value};

use picture::{Picture, node_of, picture};

const FRAME: &str = include_str!("frame.html");
const MAIN: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const BASICS: &str = include_str!("basics.js");
const SCRIPT: &str = include_str!("page.js");
const BUTTONS: &str = concat!(
    r#"<button id="all" aria-pressed="false" title="Show the values that stay the same, too (a)">All values</button>"#,
    "\n"
);

/// Steps of a run that a page has at its beginning and at its end.
const MOST_FIRST: usize = 1000;
const MOST_LAST: usize = 1000;

/// Predicates and clauses in lists, and bytes beyond which a list ends before.
const MOST_LISTED: usize = 4000;
const MOST_BYTES: usize = 2_000_000;

/// Characters of a formula or clause, and of a value.
const MOST_CHARACTERS: usize = 12_000;
const MOST_VALUE_CHARACTERS: usize = 200;

/// Changed elements of an array that a step shows.
const MOST_ELEMENTS: usize = 6;

/// Arguments of a predicate that are all shown.
const FEW_ARGUMENTS: usize = 6;

/// The space for a formula or clause in the list.
const FORMULA: Fit = Fit { width: 58, column: 0, symbols: 2500, arguments: usize::MAX };

/// Arguments of the atoms of a clause that are shown at once.
const MOST_ARGUMENTS: usize = 8;

/// What a page is about.
pub(crate) enum Answer<'a> {
    Sat(&'a Model),
    Proved(&'a Induction),
    Saturated(&'a Saturation),
    Unsat(&'a Refutation),
    /// Why nothing is known.
    Unknown(&'a str),
}

/// A page about the clauses of a file. The events are those of the run, if there was one.
pub(crate) fn page(
    store: &TermStore,
    system: &HornSystem,
    file: &str,
    notation: Notation,
    answer: &Answer<'_>,
    events: &[Event],
) -> String {
    let parameters = parameters(store, system);
    let trace = match answer {
        Answer::Unsat(refutation) => Some(Trace::new(store, system, refutation)),
        _ => None,
    };
    let shown = shown_arguments(store, &parameters, answer, trace.as_ref());
    let picture = picture(store, system, notation, answer, &parameters, &shown);
    let [values, exact] = [notation, Notation::Smtlib].map(|notation| ValueTexts::new(store, notation));
    let writer = Writer { store, system, notation, values, exact, parameters, shown, picture };
    let (word, summary) = match answer {
        Answer::Sat(_) => ("sat", "These invariants make all clauses true.".to_owned()),
        Answer::Proved(_) => {
            ("sat", "These lemmas are true by induction on derivations, and exclude all queries.".to_owned())
        }
        Answer::Saturated(_) => (
            "sat",
            "These clauses cover all clauses, and resolution derives nothing new from them.".to_owned(),
        ),
        Answer::Unsat(_) => ("unsat", "This run leads to false.".to_owned()),
        Answer::Unknown(reason) => ("unknown", format!("Nothing is known: {reason}.")),
    };
    let (listing, list, data) = match (answer, &trace) {
        (Answer::Sat(model), _) => ("Invariants", writer.predicates(Some(model)), json!({ "steps": [] })),
        (Answer::Proved(proof), _) => ("Lemmas", writer.lemmas(proof), json!({ "steps": [] })),
        (Answer::Saturated(proof), _) => ("Saturation", writer.members(proof), json!({ "steps": [] })),
        (_, Some(trace)) => {
            let (list, data) = writer.steps(trace);
            ("Run", list, data)
        }
        _ => ("Predicates", writer.predicates(None), json!({ "steps": [] })),
    };
    let data = with(data, "chains", writer.picture.chains.clone().into());
    let (drawing, note) = match &writer.picture.svg {
        Ok(svg) => (svg.as_str(), String::new()),
        Err(why) => ("", format!("<p class=\"note\">{}</p>\n", Escaped::new(why))),
    };
    let main = filled(MAIN, |hole| match hole {
        "listing" => listing.to_owned(),
        "picture" => drawing.to_owned(),
        "list" => format!("{note}{list}{}", writer.legend()),
        "clauses" => writer.clauses(),
        "automaton" => automaton::automaton(store, system, notation),
        "engines" => engines::engines(events),
        _ => String::new(),
    });
    let (predicates, clauses) = (system.predicates().len(), system.clauses.len());
    Frame {
        file,
        answer: word,
        shape: if drawing.is_empty() { "list" } else { "drawn" },
        summary: &summary,
        counts: &format!("{}, {}", counted(predicates, "predicate"), counted(clauses, "clause")),
        style: "",
        script: SCRIPT,
        searched: "predicates, arguments and clauses",
        buttons: BUTTONS,
        main: &main,
        data: &data,
    }
    .page()
}

/// What a page has around its main part.
struct Frame<'a> {
    file: &'a str,
    answer: &'a str,
    shape: &'a str,
    summary: &'a str,
    counts: &'a str,
    /// Styles and a script beyond those of all pages.
    style: &'a str,
    script: &'a str,
    /// What a search looks through.
    searched: &'a str,
    /// Buttons beside those for steps.
    buttons: &'a str,
    main: &'a str,
    data: &'a Json,
}

impl Frame<'_> {
    /// The page.
    fn page(&self) -> String {
        let name = Path::new(self.file).file_name().map_or(self.file.into(), |name| name.to_string_lossy());
        filled(FRAME, |hole| match hole {
            "name" => Escaped::new(&name).0,
            "answer" => self.answer.to_owned(),
            "shape" => self.shape.to_owned(),
            "summary" => Escaped::new(self.summary).0,
            "counts" => self.counts.to_owned(),
            "style" => format!("{STYLE}{}", self.style),
            "script" => format!("{BASICS}{}", self.script),
            "searched" => self.searched.to_owned(),
            "buttons" => self.buttons.to_owned(),
            "main" => self.main.to_owned(),
            "data" => data(self.data),
            _ => String::new(),
        })
    }
}

/// A number of things.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
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

/// An object of JSON with one more member.
fn with(mut object: Json, name: &str, value: Json) -> Json {
    object[name] = value;
    object
}

/// The arguments of each predicate that pages show at once: all if they are few, otherwise those that its invariant
/// mentions or that the run changes.
fn shown_arguments(
    store: &TermStore,
    parameters: &[Box<[Term]>],
    answer: &Answer<'_>,
    trace: Option<&Trace<'_>>,
) -> Vec<Vec<usize>> {
    let mut is_wanted: Vec<Vec<bool>> =
        parameters.iter().map(|own| vec![own.len() <= FEW_ARGUMENTS; own.len()]).collect();
    if let Answer::Sat(model) = answer {
        for (definition, wanted) in model.definitions.iter().zip(&mut is_wanted) {
            let mentioned: HashSet<Term> = match definition.interpretation {
                Interpretation::Formula(formula) => store.free_vars(&[formula]).into_iter().collect(),
            };
            for (wanted, parameter) in wanted.iter_mut().zip(&definition.parameters) {
                *wanted |= mentioned.contains(parameter);
            }
        }
    }
    if let Some(trace) = trace {
        for line in 0..trace.lines().len() {
            let Some(predicate) = trace.predicate(line) else { continue };
            let arguments = trace.arguments(line);
            for (wanted, argument) in is_wanted[predicate.index()].iter_mut().zip(&arguments) {
                *wanted |= argument.is_changed();
            }
        }
    }
    let places = |wanted: Vec<bool>| (0..wanted.len()).filter(|&place| wanted[place]).collect();
    is_wanted.into_iter().map(places).collect()
}

struct Writer<'a> {
    store: &'a TermStore,
    system: &'a HornSystem,
    notation: Notation,
    /// The texts of values, and their terms.
    values: ValueTexts<'a>,
    exact: ValueTexts<'a>,
    parameters: Vec<Box<[Term]>>,
    /// The places of the arguments that are shown at once.
    shown: Vec<Vec<usize>>,
    picture: Picture,
}

impl Writer<'_> {
    /// The name of a predicate.
    fn name(&self, predicate: PredicateId) -> String {
        let name = self.store.fun_decl(self.system.fun(predicate)).name;
        cut(&self.notation.name(self.store, name), MOST_VALUE_CHARACTERS)
    }

    /// The predicates with what they mean and the clauses that this makes true.
    fn lemmas(&self, proof: &Induction) -> String {
        let mut html = String::new();
        let mut listed = 0;
        let shown = |term: Term| {
            let text = self.notation.term(self.store, term, FORMULA);
            Escaped::new(&cut(&text, MOST_CHARACTERS)).0
        };
        for (number, lemma) in proof.lemmas.iter().enumerate() {
            if listed == MOST_LISTED || html.len() > MOST_BYTES {
                break;
            }
            listed += 1;
            let _ = write!(html, "<section><h3>Lemma {}</h3><pre class=\"long\">", number + 1);
            for Premise { atom, .. } in &lemma.premises {
                let fact = self.store.apply(self.system.fun(atom.predicate), &atom.args);
                let _ = writeln!(html, "{}", shown(fact.expect("the sorts of a premise fit")));
            }
            let _ = write!(
                html,
                "</pre><p>imply</p><pre class=\"long\">{}</pre></section>",
                shown(lemma.conclusion)
            );
        }
        if listed < proof.lemmas.len() {
            let more = proof.lemmas.len() - listed;
            let _ = write!(html, "<p class=\"note\">{more} lemmas are left out.</p>");
        }
        self.recursion(&proof.recursion(self.store, self.system), &mut html);
        html
    }

    /// The clauses of a saturation.
    fn members(&self, proof: &Saturation) -> String {
        let mut html = String::new();
        let mut listed = 0;
        for (number, clause) in proof.clauses.iter().enumerate() {
            if listed == MOST_LISTED || html.len() > MOST_BYTES {
                break;
            }
            listed += 1;
            let formula = clause.to_formula(self.store, self.system);
            let matrix = match self.store.view(formula) {
                (Op::Forall, [.., matrix]) => *matrix,
                _ => formula,
            };
            let text = self.notation.term(self.store, matrix, FORMULA);
            let _ = write!(
                html,
                "<section><h3>Clause {}</h3><pre class=\"long\">{}</pre>",
                number + 1,
                Escaped::new(&cut(&text, MOST_CHARACTERS))
            );
            if let Some(selected) = clause.selected {
                let _ = write!(html, "<p>Atom {} is selected.</p>", selected + 1);
            }
            html.push_str("</section>");
        }
        if listed < proof.clauses.len() {
            let more = proof.clauses.len() - listed;
            let _ = write!(html, "<p class=\"note\">{more} clauses are left out.</p>");
        }
        html
    }

    fn predicates(&self, model: Option<&Model>) -> String {
        let mut html = String::new();
        // Writing to a string does not fail, here and below.
        let mut listed = 0;
        for ((predicate, _), roles) in self.system.predicates().zip(clause_roles(self.system)) {
            if listed == MOST_LISTED || html.len() > MOST_BYTES {
                break;
            }
            listed += 1;
            let parameters = &self.parameters[predicate.index()];
            let shown = &self.shown[predicate.index()];
            let names: Vec<String> =
                shown.iter().map(|&place| variable(self.store, self.notation, parameters[place])).collect();
            let hidden = parameters.len() - shown.len();
            let dots = if hidden > 0 { vec![self.notation.ellipsis().to_owned()] } else { Vec::new() };
            let listing = cut(&[names, dots].concat().join(", "), MOST_CHARACTERS);
            let _ = write!(
                html,
                "<section data-node=\"{}\"><h3>{}<span class=\"parameters\">({})</span></h3>",
                node_of(predicate),
                Escaped::new(&self.name(predicate)),
                Escaped::new(&listing)
            );
            if let Some(model) = model {
                let Interpretation::Formula(formula) = model.definition(predicate).interpretation;
                let text = self.notation.term(self.store, formula, FORMULA);
                let _ =
                    write!(html, "<pre class=\"long\">{}</pre>", Escaped::new(&cut(&text, MOST_CHARACTERS)));
                if let Some(words) = in_words(self.store, self.notation, formula) {
                    let _ = write!(html, "<p class=\"note\">In words: {}.</p>", Escaped::new(&words));
                }
            }
            if hidden > 0 {
                let all = signature(self.store, self.notation, parameters);
                let _ = write!(
                    html,
                    "<details><summary>All {} arguments</summary>\
                     <p class=\"parameters\">{}</p></details>",
                    parameters.len(),
                    Escaped::new(&all)
                );
            }
            html.push_str("<ul>");
            for (role, clause) in roles.iter().take(MOST_LISTED) {
                let title =
                    Escaped::new(&cut(&self.system.clause_title(self.store, *clause), MOST_VALUE_CHARACTERS));
                let _ = write!(
                    html,
                    "<li><span class=\"role\">{}</span> \
                     <button class=\"link\" data-clause=\"{clause}\">{title}</button></li>",
                    role.name()
                );
            }
            html.push_str("</ul></section>\n");
        }
        more(self.system.predicates().len() - listed, "predicates", &mut html);
        if let Some(model) = model {
            self.recursion(&model.recursion(self.store, self.system), &mut html);
        }
        html
    }

    /// How lists and Peano numbers are written.
    fn legend(&self) -> String {
        let legend = self.notation.legend(self.store, self.system);
        let line = |line: &String| {
            format!("<p class=\"note\">{}</p>\n", Escaped::new(&cut(line, MOST_VALUE_CHARACTERS)))
        };
        legend.iter().map(line).collect()
    }

    /// A value, and its term if the value is written in another way.
    fn value(&self, value: &Value) -> Shown {
        let text = |texts: &ValueTexts<'_>| texts.text(value, MOST_VALUE_CHARACTERS);
        let term = self.values.is_told(value).then(|| cut(&text(&self.exact), MOST_VALUE_CHARACTERS));
        Shown { text: cut(&text(&self.values), MOST_VALUE_CHARACTERS), term }
    }

    /// The recursive functions that formulas apply, and the lemmas about them.
    fn recursion(&self, recursion: &Recursion<'_>, html: &mut String) {
        let equations = recursion.equations(self.notation);
        let lemmas = recursion.lemma_formulas();
        for (title, formulas) in [("where", equations), ("and by induction", lemmas)] {
            if formulas.is_empty() {
                continue;
            }
            let lines: Vec<String> =
                formulas.iter().map(|&formula| self.notation.term(self.store, formula, FORMULA)).collect();
            let text = cut(&lines.join("\n"), MOST_CHARACTERS);
            let _ = writeln!(
                html,
                "<section><h3>{title}</h3><pre class=\"long\">{}</pre></section>",
                Escaped::new(&text)
            );
        }
        html.push_str(&states::states(self.store, self.notation, recursion));
    }

    /// The place for the steps of a run, and what the script fills it with.
    fn steps(&self, trace: &Trace<'_>) -> (String, Json) {
        let count = trace.lines().len();
        let is_cut = count > MOST_FIRST + MOST_LAST;
        let first = if is_cut { MOST_FIRST } else { count };
        let mut html = String::from("<ol id=\"steps\">\n");
        let mut lines: Vec<usize> = (0..first).collect();
        if is_cut {
            let left_out = count - MOST_FIRST - MOST_LAST;
            let _ = writeln!(html, "<li class=\"note\">{left_out} steps are left out here.</li>");
            lines.extend(count - MOST_LAST..count);
        }
        html.push_str("</ol>\n");
        let mut last: BTreeMap<PredicateId, Vec<Shown>> = BTreeMap::new();
        let steps: Vec<Json> = lines.iter().map(|&line| self.step(trace, line, &mut last)).collect();
        let predicate = |predicate: PredicateId| {
            let names: Vec<String> = self.parameters[predicate.index()]
                .iter()
                .map(|&parameter| variable(self.store, self.notation, parameter))
                .collect();
            let about = json!({ "names": names, "shown": self.shown[predicate.index()] });
            (node_of(predicate).to_string(), about)
        };
        let predicates: serde_json::Map<String, Json> = last.into_keys().map(predicate).collect();
        let arrow = self.notation.arrow();
        let data = json!({ "steps": steps, "first": first, "predicates": predicates, "arrow": arrow });
        (html, data)
    }

    /// A step: the values that differ from those of the last step with the same predicate, and what they replace.
    fn step(&self, trace: &Trace<'_>, line: usize, last: &mut BTreeMap<PredicateId, Vec<Shown>>) -> Json {
        let step = trace.step(line);
        let predicate = trace.predicate(line);
        let name = predicate.map_or_else(|| "false".to_owned(), |predicate| self.name(predicate));
        let title = match self.system.clauses[step.clause].name {
            Some(name) => self.notation.name(self.store, name),
            None => format!("clause {}", step.clause + 1),
        };
        let arguments = trace.arguments(line);
        let now: Vec<Shown> = arguments.iter().map(|argument| self.value(argument.value)).collect();
        let before = predicate.and_then(|predicate| last.insert(predicate, now.clone())).unwrap_or_default();
        let is_set = |place: &usize| before.get(*place) != Some(&now[*place]);
        let set = |place: usize| match &now[place] {
            Shown { text, term: None } => json!([place, text]),
            Shown { text, term } => json!([place, text, term]),
        };
        let set: Vec<Json> = (0..now.len()).filter(is_set).map(set).collect();
        let changed: Vec<Json> = arguments
            .iter()
            .enumerate()
            .filter(|(_, argument)| argument.is_changed())
            .filter_map(|(place, argument)| {
                let before = argument.before?;
                let name = variable(self.store, self.notation, argument.parameter);
                let elements =
                    self.values.changes(&name, before, argument.value, MOST_VALUE_CHARACTERS, MOST_ELEMENTS);
                let text = self.value(before).text;
                Some(match elements {
                    Some(elements) => json!([place, text, cut(&elements.join(", "), MOST_CHARACTERS)]),
                    None => json!([place, text]),
                })
            })
            .collect();
        let is_new = |place: &usize| arguments[*place].before.is_none();
        let fresh: Vec<usize> = (0..arguments.len()).filter(is_new).collect();
        let fresh = if fresh.len() == arguments.len() { json!(true) } else { json!(fresh) };
        let from: Vec<usize> = trace.premises(line).iter().map(|premise| premise + 1).collect();
        json!({
            "line": line + 1,
            "level": trace.lines()[line].level.min(12),
            "node": predicate.map(node_of).or(self.picture.end),
            "box": predicate.map(|predicate| self.picture.boxes[node_of(predicate)]).or(self.picture.end),
            "arrows": self.picture.arrows[step.clause],
            "name": name,
            "clause": step.clause,
            "title": cut(&title, MOST_VALUE_CHARACTERS),
            "from": from,
            "set": set,
            "changed": changed,
            "fresh": fresh,
        })
    }

    /// The clauses as rules.
    fn clauses(&self) -> String {
        let mut html = String::new();
        let mut listed = 0;
        for number in 0..self.system.clauses.len() {
            if listed == MOST_LISTED || html.len() > MOST_BYTES {
                break;
            }
            listed += 1;
            let Clause { name, position, head, body, .. } = &self.system.clauses[number];
            let name = name.map(|name| self.notation.name(self.store, name)).unwrap_or_default();
            let text = |arguments| {
                let fit = Fit { arguments, ..FORMULA };
                let text = self.notation.clause(self.store, self.system, number, fit);
                Escaped::new(&cut(&text, MOST_CHARACTERS))
            };
            let arity = head.iter().chain(body).map(|atom| atom.args.len()).max().unwrap_or(0);
            // SMT-LIB has no way to leave arguments out.
            let is_short = arity > MOST_ARGUMENTS && self.notation != Notation::Smtlib;
            let _ = write!(
                html,
                "<div class=\"clause\" id=\"c{number}\"><span class=\"number\">{}</span>\
                 <div><pre class=\"long\">{}</pre>",
                number + 1,
                text(if is_short { MOST_ARGUMENTS } else { usize::MAX }),
            );
            if is_short {
                let all = text(usize::MAX);
                let _ = write!(
                    html,
                    "<details><summary>All {arity} arguments</summary><pre>{all}</pre></details>"
                );
            }
            let name = Escaped::new(&cut(&name, MOST_VALUE_CHARACTERS));
            let _ = writeln!(html, "</div><small>{name} {position}</small></div>");
        }
        more(self.system.clauses.len() - listed, "clauses", &mut html);
        html
    }
}

/// A value as a page shows it.
#[derive(Clone, PartialEq, Eq)]
struct Shown {
    text: String,
    term: Option<String>,
}

/// The name of a parameter.
fn variable(store: &TermStore, notation: Notation, parameter: Term) -> String {
    let name = match store.op(parameter) {
        Op::Var(name) => notation.name(store, name),
        _ => store.display(parameter).to_string(),
    };
    cut(&name, MOST_VALUE_CHARACTERS)
}

/// Parameters with their sorts: `x, y: Int, b: Bool`.
fn signature(store: &TermStore, notation: Notation, parameters: &[Term]) -> String {
    let groups = parameters.chunk_by(|&a, &b| store.sort_of(a) == store.sort_of(b)).map(|group| {
        let names: Vec<String> =
            group.iter().map(|&parameter| variable(store, notation, parameter)).collect();
        format!("{}: {}", names.join(", "), notation.sort(store, store.sort_of(group[0])))
    });
    cut(&groups.collect::<Vec<String>>().join(", "), MOST_CHARACTERS)
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
