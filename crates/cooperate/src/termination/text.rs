//! Certificates as text and as JSON.
//!
//! ```text
//! (certificate ranking)
//! (define-fun |rank 1 of loop| ((x Int) (y Int)) Int x)
//! (
//!   (define-fun loop ((x Int) (y Int)) Bool
//!     (<= 1 y))
//! )
//! ```
//!
//! The kind comes first, then functions and choices, then the run as steps of the clauses as in refutations, then the model of what must
//! be proved ([`obligations`](super::obligations)). `(bound N)` is the factor of a bound, `(loop N)` the number of the step to
//! which a lasso comes back, and `|choice 1 of x in clause 2|` the value of the variable `x` of clause 2 in the first choice,
//! which is meant for facts with `|choice 1 in clause 2|`, or else for all.

use std::fmt::Write as _;
use std::io::Write as _;

use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};
use shofar_horn::witness::{Definition, Model, Refutation, Witness, WitnessFormat, read_within};
use shofar_horn::{Context, HornSystem, ParseError, Unread};
use shofar_logic::smtlib::{Environment, Item, Reader, SyntaxError};
use shofar_logic::{Magnitudes, Op, Sort, Substitution, Term, TermStore};
use shofar_run::{Poll, Stop};

use super::certificate::{Certificate, Choice, Ranks};
use super::check::obligation;
use super::problem::Problem;

/// The maximal number of bits of numbers. Computing with larger ones would take too long.
const MOST_BITS: u64 = 1 << 22;

/// A definition of the text: its parameters and its body.
type Defined = (Box<[Term]>, Term);

impl Certificate {
    fn run(&self) -> Option<&Refutation> {
        match self {
            Certificate::Lasso { run, .. } | Certificate::Recurrence { run, .. } => Some(run),
            _ => None,
        }
    }

    fn model(&self) -> Option<&Model> {
        match self {
            Certificate::Ranking { model, .. }
            | Certificate::Disjunctive { model, .. }
            | Certificate::Bound { model, .. }
            | Certificate::Recurrence { model, .. } => Some(model),
            Certificate::Lasso { .. } => None,
        }
    }
}

/// The text of a certificate for a system.
pub fn to_text(store: &TermStore, system: &HornSystem, certificate: &Certificate) -> Result<String, Stop> {
    let problem = Problem::of(store, system)?;
    let mut text = format!("(certificate {})\n", certificate.kind());
    for (name, parameters, body) in functions(&problem, certificate) {
        let sorted = parameters.iter().map(|&parameter| {
            format!("({} {})", store.display(parameter), store.display_sort(store.sort_of(parameter)))
        });
        let sorted = sorted.collect::<Vec<String>>().join(" ");
        let (name, sort) =
            (store.display_symbol(store.symbol(&name)), store.display_sort(store.sort_of(body)));
        let _ = writeln!(text, "(define-fun {name} ({sorted}) {sort} {})", store.display(body));
    }
    match certificate {
        Certificate::Bound { factor, .. } => text.push_str(&format!("(bound {factor})\n")),
        Certificate::Lasso { start, .. } => text.push_str(&format!("(loop {})\n", start + 1)),
        _ => {}
    }
    let mut out = text.into_bytes();
    let written = match certificate.run() {
        Some(run) => run.write(store, system, WitnessFormat::Text, &mut out),
        None => Ok(()),
    };
    let made = obligation(&problem, certificate, certificate.run())?;
    let written = match (made, certificate.model()) {
        (Some(made), Some(model)) => {
            written.and_then(|()| model.write(store, &made.system, WitnessFormat::Text, &mut out))
        }
        _ => written,
    };
    written.and_then(|()| out.flush()).map_err(|error| Stop::Internal(error.to_string()))?;
    String::from_utf8(out).map_err(|error| Stop::Internal(error.to_string()))
}

/// The certificate for programs: the parts, and the whole as [text](to_text).
pub fn to_json(store: &TermStore, system: &HornSystem, certificate: &Certificate) -> Result<Json, Stop> {
    let problem = Problem::of(store, system)?;
    let function = |(name, parameters, body): (String, Box<[Term]>, Term)| {
        let parameters: Vec<String> =
            parameters.iter().map(|&parameter| store.display(parameter).to_string()).collect();
        json!({"name": name, "parameters": parameters, "body": store.display(body).to_string()})
    };
    let mut object = json!({
        "kind": certificate.kind(),
        "functions": functions(&problem, certificate).into_iter().map(function).collect::<Vec<Json>>(),
        "text": to_text(store, system, certificate)?,
    });
    let part = |witness: Witness, system: &HornSystem, name: &str| {
        let json = serde_json::to_value(witness.to_json(store, system));
        json.map(|json| json[name].clone()).map_err(|error| Stop::Internal(error.to_string()))
    };
    if let Some(run) = certificate.run() {
        object["run"] = part(Witness::Refutation(run.clone()), system, "steps")?;
    }
    let made = obligation(&problem, certificate, certificate.run())?;
    if let (Some(made), Some(model)) = (made, certificate.model()) {
        object["model"] = part(Witness::Model(model.clone()), &made.system, "model")?;
    }
    match certificate {
        Certificate::Bound { factor, .. } => object["bound"] = json!(factor),
        Certificate::Lasso { start, .. } => object["loop"] = json!(start + 1),
        _ => {}
    }
    Ok(object)
}

/// The functions and choices, with their names.
fn functions(problem: &Problem<'_>, certificate: &Certificate) -> Vec<(String, Box<[Term]>, Term)> {
    match certificate {
        Certificate::Ranking { ranks, .. } | Certificate::Disjunctive { ranks, .. } => {
            let of_predicate = |(index, functions): (usize, &Vec<Term>)| {
                let named = functions.iter().enumerate().map(move |(number, &function)| {
                    (rank_name(problem, number, index), problem.parameters[index].clone(), function)
                });
                named.collect::<Vec<_>>()
            };
            ranks.iter().enumerate().flat_map(of_predicate).collect()
        }
        Certificate::Recurrence { choices, .. } => {
            let of_choice = |(number, choice): (usize, &Choice)| {
                let rule = problem.rules.iter().find(|rule| rule.clause == choice.clause);
                let parameters =
                    rule.map_or_else(Box::default, |rule| problem.parameters[rule.source].clone());
                let variables = problem.clause(choice.clause).variables.iter().zip(&choice.values);
                let mut named: Vec<_> = variables
                    .map(|(&variable, &value)| {
                        (
                            choice_name(problem.store, number, variable, choice.clause),
                            parameters.clone(),
                            value,
                        )
                    })
                    .collect();
                if named.is_empty() || choice.when != Term::TRUE {
                    named.insert(0, (condition_name(number, choice.clause), parameters, choice.when));
                }
                named
            };
            choices.iter().enumerate().flat_map(of_choice).collect()
        }
        Certificate::Bound { .. } | Certificate::Lasso { .. } => Vec::new(),
    }
}

fn rank_name(problem: &Problem<'_>, number: usize, predicate: usize) -> String {
    format!("rank {} of {}", number + 1, problem.name(predicate))
}

fn choice_name(store: &TermStore, number: usize, variable: Term, clause: usize) -> String {
    let Op::Var(name) = store.op(variable) else { return condition_name(number, clause) };
    format!("choice {} of {} in clause {}", number + 1, store.name(name), clause + 1)
}

/// The name of the facts for which a choice is meant.
fn condition_name(number: usize, clause: usize) -> String {
    format!("choice {} in clause {}", number + 1, clause + 1)
}

/// Whether a text may be a certificate: it names a kind in the beginning, perhaps after the answer.
pub fn is_certificate(text: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&text[..text.len().min(1 << 12)]).into_owned();
    let mut words = start.split_whitespace();
    let first = words.next();
    let first = if matches!(first, Some("terminating" | "nonterminating")) { words.next() } else { first };
    first == Some("(certificate")
}

/// Reads a certificate for a system that was read in the same environment. `file` is the name of the text in messages.
pub fn read(
    context: &Context<'_>,
    environment: &mut Environment,
    system: &HornSystem,
    file: &str,
    text: &[u8],
) -> Result<Certificate, Unread> {
    let unread = |error: SyntaxError| match error.interruption {
        Some(reason) => Unread::Interrupted(reason),
        None => Unread::Wrong(ParseError::of(file, text, error)),
    };
    let whole = |message: String| unread(SyntaxError::new(0, message));
    let problem = Problem::of(context.store, system).map_err(|stop| whole(stop.to_string()))?;
    let limits = Poll::new(&context.limits);
    let steps = steps(context.store, environment, text, &limits).map_err(unread)?;
    // Definitions may hide predicates, so steps come first.
    let run = if steps.is_empty() {
        Refutation::default()
    } else {
        match read_within(context, environment, system, file, &steps)? {
            Witness::Refutation(run) => run,
            _ => return Err(whole("the steps are no run".to_owned())),
        }
    };
    let mut parts = Parts { run, ..Parts::default() };
    parts.read(context.store, environment, text, &limits).map_err(unread)?;
    parts.certificate(&problem).map_err(whole)
}

/// The steps of a text, with spaces in the place of all else.
fn steps(
    store: &TermStore,
    environment: &mut Environment,
    text: &[u8],
    limits: &Poll<'_>,
) -> Result<Vec<u8>, SyntaxError> {
    let mut reader = Reader::new(store, environment, text).within(limits);
    let mut steps: Vec<u8> = Vec::new();
    loop {
        match reader.item()? {
            Item::End => return Ok(steps),
            Item::Command("step") => {
                let start = text[..reader.offset()].iter().rposition(|&byte| byte == b'(').unwrap_or(0);
                reader.skip_rest()?;
                // Positions in messages are those of the text.
                let blank =
                    text[steps.len()..start].iter().map(|&byte| if byte == b'\n' { b'\n' } else { b' ' });
                steps.extend(blank.collect::<Vec<u8>>());
                steps.extend_from_slice(&text[start..reader.position()]);
            }
            Item::Command(_) => reader.skip_rest()?,
            Item::Open | Item::Close | Item::Word(_) => {}
        }
    }
}

/// What a text has besides steps.
#[derive(Default)]
struct Parts {
    kind: String,
    answer: Option<String>,
    number: Option<usize>,
    definitions: FxHashMap<String, Defined>,
    /// The names of the definitions in their order.
    names: Vec<String>,
    magnitudes: Magnitudes,
    run: Refutation,
}

impl Parts {
    fn read(
        &mut self,
        store: &TermStore,
        environment: &mut Environment,
        text: &[u8],
        limits: &Poll<'_>,
    ) -> Result<(), SyntaxError> {
        let mut reader = Reader::new(store, environment, text).within(limits);
        let mut depth = 0u64;
        loop {
            let item = reader.item()?;
            let offset = reader.offset();
            let wrong = |message: &str| Err(SyntaxError::new(offset, message));
            match item {
                Item::End if depth == 0 => return Ok(()),
                Item::End => return wrong("expected `)`, found the end of the file"),
                Item::Open => depth += 1,
                Item::Close if depth > 0 => depth -= 1,
                Item::Close => return wrong("unexpected `)`"),
                Item::Word(answer @ ("terminating" | "nonterminating")) => {
                    self.answer = Some(answer.to_owned())
                }
                Item::Word(_) => return wrong("expected `terminating` or `nonterminating`"),
                Item::Command("certificate") => {
                    self.kind = reader.symbol()?.to_owned();
                    reader.close()?;
                }
                Item::Command("bound" | "loop") => {
                    self.number = reader.optional_numeral()?;
                    reader.close()?;
                }
                Item::Command("step") => reader.skip_rest()?,
                Item::Command("define-fun") => {
                    let (name, parameters, body) = reader.interpretation()?;
                    let name = store.name(name).to_owned();
                    if self.magnitudes.of(store, body) > MOST_BITS {
                        return wrong("the numbers in a definition are too large");
                    }
                    self.names.push(name.clone());
                    self.definitions.insert(name, (parameters, body));
                }
                Item::Command(_) => return wrong("expected `certificate`, `define-fun` or `step`"),
            }
        }
    }

    fn certificate(mut self, problem: &Problem<'_>) -> Result<Certificate, String> {
        let empty = Model::default();
        let run = std::mem::take(&mut self.run);
        let number = |what: &str| self.number.ok_or_else(|| format!("`({what} N)` is missing"));
        let mut certificate = match &*self.kind {
            "ranking" => Certificate::Ranking { ranks: self.ranks(problem)?, model: empty },
            "disjunctive" => Certificate::Disjunctive { ranks: self.ranks(problem)?, model: empty },
            "bound" => {
                let factor =
                    u32::try_from(number("bound")?).map_err(|_| "the bound is too large".to_owned())?;
                Certificate::Bound { factor, model: empty }
            }
            "lasso" => {
                let start = number("loop")?.checked_sub(1).ok_or("steps count from one")?;
                Certificate::Lasso { run, start }
            }
            "recurrence" => Certificate::Recurrence { run, choices: self.choices(problem)?, model: empty },
            "" => return Err("the text is not a certificate".to_owned()),
            other => return Err(format!("there is no kind of certificate `{}`", other.escape_default())),
        };
        if self.answer.as_ref().is_some_and(|answer| answer != certificate.answer()) {
            return Err(format!("a {} proves another answer", certificate.kind()));
        }
        let made = obligation(problem, &certificate, certificate.run()).map_err(|stop| match stop {
            Stop::Internal(message) => message,
            stop => stop.to_string(),
        })?;
        let found = made.map(|made| self.model(problem.store, &made.system)).transpose()?;
        match &mut certificate {
            Certificate::Ranking { model, .. }
            | Certificate::Disjunctive { model, .. }
            | Certificate::Bound { model, .. }
            | Certificate::Recurrence { model, .. } => *model = found.unwrap_or_default(),
            Certificate::Lasso { .. } => {}
        }
        Ok(certificate)
    }

    /// A definition over the parameters of a predicate.
    fn function(&self, problem: &Problem<'_>, name: &str, predicate: usize) -> Result<Option<Term>, String> {
        let Some((parameters, body)) = self.definitions.get(name) else { return Ok(None) };
        let sorts: Vec<Sort> = parameters.iter().map(|&parameter| problem.store.sort_of(parameter)).collect();
        if sorts != problem.sorts(predicate) {
            return Err(format!("`{name}` does not have the arguments of its predicate"));
        }
        let images = parameters.iter().copied().zip(problem.parameters[predicate].iter().copied());
        Ok(Some(problem.store.substitute(*body, &images.collect::<Substitution>())))
    }

    fn ranks(&self, problem: &Problem<'_>) -> Result<Ranks, String> {
        let mut ranks: Ranks = Vec::new();
        for predicate in 0..problem.parameters.len() {
            let mut functions = Vec::new();
            while let Some(function) =
                self.function(problem, &rank_name(problem, functions.len(), predicate), predicate)?
            {
                functions.push(function);
            }
            ranks.push(functions);
        }
        Ok(ranks)
    }

    fn choices(&self, problem: &Problem<'_>) -> Result<Vec<Choice>, String> {
        let mut choices = Vec::new();
        loop {
            let prefix = format!("choice {} ", choices.len() + 1);
            let Some(name) = self.names.iter().find(|name| name.starts_with(&prefix)) else {
                return Ok(choices);
            };
            let clause = name.rsplit_once(" in clause ").and_then(|(_, number)| number.parse::<usize>().ok());
            let clause = clause.and_then(|number| number.checked_sub(1));
            let rule = problem.rules.iter().find(|rule| Some(rule.clause) == clause);
            let rule =
                rule.ok_or_else(|| format!("`{name}` is not about a clause with predicates on both sides"))?;
            let value = |&variable: &Term| {
                let name = choice_name(problem.store, choices.len(), variable, rule.clause);
                self.function(problem, &name, rule.source)?.ok_or_else(|| format!("`{name}` is missing"))
            };
            let variables = &problem.clause(rule.clause).variables;
            let values = variables.iter().map(value).collect::<Result<_, String>>()?;
            let when = self.function(problem, &condition_name(choices.len(), rule.clause), rule.source)?;
            choices.push(Choice { clause: rule.clause, when: when.unwrap_or(Term::TRUE), values });
        }
    }

    fn model(&self, store: &TermStore, system: &HornSystem) -> Result<Model, String> {
        let mut definitions = Vec::new();
        for (predicate, fun) in system.predicates() {
            let name = system.name(store, predicate);
            let defined = self.definitions.get(name);
            let (parameters, body) = defined.ok_or_else(|| format!("the model does not define `{name}`"))?;
            let sorts: Vec<Sort> = parameters.iter().map(|&parameter| store.sort_of(parameter)).collect();
            if store.sort_of(*body) != Sort::BOOL || sorts != store.fun_decl(fun).domain.to_vec() {
                return Err(format!("the definition of `{name}` does not have the sorts of the predicate"));
            }
            definitions.push(Definition { parameters: parameters.clone(), interpretation: (*body).into() });
        }
        Ok(Model { definitions, lemmas: Vec::new() })
    }
}
