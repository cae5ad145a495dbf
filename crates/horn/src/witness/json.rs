//! Witnesses as JSON, for programs.
//!
//! A model is `{"answer": "sat", "model": [...]}` with an object for each predicate, in front of it the recursive functions and
//! lemmas if there are any; a proof by induction is
//! `{"answer": "sat", "induction": [...]}`; a saturation is
//! `{"answer": "sat", "saturation": {"order": ..., "clauses": [...]}}`; a refutation is
//! `{"answer": "unsat", "steps": [...]}` with an object for each step; see [`JsonDefinition`] and [`JsonStep`]. Terms,
//! values and sorts are strings in the syntax of SMT-LIB. Steps and clauses are counted from one. Large values that share
//! parts have names, which `definitions` define (`shared.rs`). A step with lists or Peano numbers also has them `readable`, as
//! people write them; long ones are shortened there. Readers ignore this part.
//!
//! The same types serve for reading, writing, and embedding in other JSON ([`JsonWitness`]). A file has one line for
//! each definition or step. The writer produces them one by one: a refutation may have millions.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};
use shofar_logic::{Fun, Op, Term, TermStore, Value};

use super::folds::{NamedLemma, RecursiveFunction};
use super::induction::JsonJointLemma;
use super::saturation::JsonSaturation;
use super::shared::{NamedValue, SharedValues};
use super::{Definition, Induction, Interpretation, Model, Printer, Recursion, Refutation, Step, Witness};
use crate::infix::{Notation, ValueTexts};
use crate::system::HornSystem;

/// The maximal number of characters of a readable value.
const MOST_CHARACTERS: usize = 200;

/// A witness as JSON; see [`Witness::to_json`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JsonWitness {
    pub(super) answer: String,
    /// The recursive functions that the model applies: lists of functions that call each other, callees first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) functions: Vec<Vec<JsonFunction>>,
    /// Lemmas about these functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) lemmas: Vec<JsonLemma>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<Vec<JsonDefinition>>,
    /// The lemmas of a proof by induction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) induction: Option<Vec<JsonJointLemma>>,
    /// The order and the clauses of a saturation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) saturation: Option<JsonSaturation>,
    /// The named values of the refutation, in the order of their use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) definitions: Vec<JsonValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) steps: Option<Vec<JsonStep>>,
}

/// The definition of a value, or of a function of values.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonValue {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parameters: Vec<JsonParameter>,
    pub(super) sort: String,
    pub(super) body: String,
    /// The value for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    readable: Option<String>,
}

/// The definition of a predicate.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonDefinition {
    pub(super) predicate: String,
    pub(super) parameters: Vec<JsonParameter>,
    /// The formula, if the interpretation is one.
    pub(super) body: String,
}

/// The definition of a recursive function.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonFunction {
    pub(super) function: String,
    pub(super) parameters: Vec<JsonParameter>,
    pub(super) sort: String,
    pub(super) body: String,
}

/// A lemma about recursive functions.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonLemma {
    pub(super) lemma: String,
    pub(super) parameters: Vec<JsonParameter>,
    pub(super) body: String,
}

/// A parameter of a definition.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonParameter {
    pub(super) name: String,
    pub(super) sort: String,
}

/// A ground instance of a clause.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonStep {
    pub(super) step: usize,
    /// The predicate of the derived fact; `None` for `false`.
    pub(super) predicate: Option<String>,
    pub(super) arguments: Vec<String>,
    pub(super) clause: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) premises: Vec<usize>,
    /// The values of the clause's variables, by name.
    pub(super) instance: BTreeMap<String, String>,
    /// The values for people, if there are lists or Peano numbers among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    readable: Option<JsonReadable>,
}

/// The values of a step for people.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonReadable {
    arguments: Vec<String>,
    instance: BTreeMap<String, String>,
}

impl JsonWitness {
    pub(super) fn new(store: &TermStore, system: &HornSystem, witness: &Witness) -> Self {
        let (mut functions, mut lemmas, mut model, mut definitions, mut steps) = Default::default();
        let (mut induction, mut saturation) = Default::default();
        let answer = match witness {
            Witness::Model(content) => {
                let recursion = content.recursion(store, system);
                (functions, lemmas) = (json_functions(store, &recursion), json_lemmas(store, &recursion));
                model = Some(predicate_definitions(store, system, content).collect());
                "sat"
            }
            Witness::Induction(content) => {
                let recursion = content.recursion(store, system);
                (functions, lemmas) = (json_functions(store, &recursion), json_lemmas(store, &recursion));
                induction = Some(JsonJointLemma::of(store, system, content));
                "sat"
            }
            Witness::Saturation(content) => {
                saturation = Some(JsonSaturation::of(store, system, content));
                "sat"
            }
            Witness::Refutation(content) => {
                let values = Values::new(store, system, content);
                definitions = values.definitions();
                steps = Some(numbered_steps(&values, system, content).collect());
                "unsat"
            }
        };
        let answer = answer.to_owned();
        JsonWitness { answer, functions, lemmas, model, induction, saturation, definitions, steps }
    }
}

fn json_functions(store: &TermStore, recursion: &Recursion<'_>) -> Vec<Vec<JsonFunction>> {
    let function = |function: RecursiveFunction| JsonFunction {
        function: store.name(store.fun_decl(function.fun).name).to_owned(),
        parameters: json_parameters(store, &function.parameters),
        sort: store.display_sort(store.fun_decl(function.fun).range).to_string(),
        body: function.body(store, 0, usize::MAX),
    };
    let families = recursion.functions().into_iter();
    families.map(|family| family.into_iter().map(function).collect()).collect()
}

fn json_lemmas(store: &TermStore, recursion: &Recursion<'_>) -> Vec<JsonLemma> {
    let lemma = |NamedLemma { name, lemma }: NamedLemma| JsonLemma {
        lemma: store.name(name).to_owned(),
        parameters: json_parameters(store, &lemma.parameters),
        body: store.display(lemma.formula).to_string(),
    };
    recursion.named_lemmas().into_iter().map(lemma).collect()
}

fn json_parameters(store: &TermStore, parameters: &[Term]) -> Vec<JsonParameter> {
    parameters.iter().map(|&parameter| JsonParameter::new(store, parameter)).collect()
}

fn predicate_definitions<'a>(
    store: &'a TermStore,
    system: &'a HornSystem,
    model: &'a Model,
) -> impl Iterator<Item = JsonDefinition> + 'a {
    let definitions = system.predicates().zip(&model.definitions);
    definitions.map(|((_, fun), definition)| JsonDefinition::new(store, fun, definition))
}

fn numbered_steps<'a>(
    values: &'a Values<'a>,
    system: &'a HornSystem,
    refutation: &'a Refutation,
) -> impl Iterator<Item = JsonStep> + 'a {
    let steps = refutation.steps.iter().enumerate();
    steps.map(|(position, step)| JsonStep::new(values, system, position + 1, step))
}

/// The texts of the values of a refutation.
struct Values<'a> {
    store: &'a TermStore,
    shared: SharedValues<'a>,
    readable: ValueTexts<'a>,
}

impl<'a> Values<'a> {
    fn new(store: &'a TermStore, system: &HornSystem, refutation: &Refutation) -> Self {
        let shared = SharedValues::new(store, system, refutation);
        Values { store, shared, readable: ValueTexts::new(store, Notation::Math) }
    }

    fn definitions(&self) -> Vec<JsonValue> {
        let store = self.store;
        let definition = |known: &NamedValue| JsonValue {
            name: store.name(known.name).to_owned(),
            parameters: known
                .parameter
                .iter()
                .map(|&parameter| JsonParameter::new(store, parameter))
                .collect(),
            sort: store.display_sort(known.sort).to_string(),
            body: store.display(known.body).to_string(),
            readable: known
                .value
                .as_ref()
                .filter(|value| self.readable.is_told(value))
                .map(|value| self.told(value)),
        };
        self.shared.definitions.iter().map(definition).collect()
    }

    /// The exact text of a value.
    fn exact(&self, value: &Value) -> String {
        self.store.display(self.shared.term(value)).to_string()
    }

    /// The text of a value for people.
    fn told(&self, value: &Value) -> String {
        self.readable.text(value, MOST_CHARACTERS)
    }
}

impl JsonDefinition {
    fn new(store: &TermStore, fun: Fun, definition: &Definition) -> Self {
        match &definition.interpretation {
            Interpretation::Formula(formula) => JsonDefinition {
                predicate: store.name(store.fun_decl(fun).name).to_owned(),
                parameters: json_parameters(store, &definition.parameters),
                body: store.display(*formula).to_string(),
            },
        }
    }
}

impl JsonParameter {
    fn new(store: &TermStore, parameter: Term) -> Self {
        JsonParameter {
            name: variable_name(store, parameter),
            sort: store.display_sort(store.sort_of(parameter)).to_string(),
        }
    }
}

impl JsonStep {
    fn new(values: &Values<'_>, system: &HornSystem, number: usize, step: &Step) -> Self {
        let store = values.store;
        let clause = &system.clauses[step.clause];
        let instance = |text: &dyn Fn(&Value) -> String| {
            let variables = clause.variables.iter().map(|&variable| variable_name(store, variable));
            variables.zip(step.instantiation.iter().map(text)).collect()
        };
        let mut all = step.fact.iter().chain(&step.instantiation);
        let is_told = all.any(|value| values.readable.is_told(value));
        let readable = || JsonReadable {
            arguments: step.fact.iter().map(|value| values.told(value)).collect(),
            instance: instance(&|value| values.told(value)),
        };
        let predicate = |fun| store.name(store.fun_decl(fun).name).to_owned();
        JsonStep {
            step: number,
            predicate: clause.head.as_ref().map(|head| predicate(system.fun(head.predicate))),
            arguments: step.fact.iter().map(|value| values.exact(value)).collect(),
            clause: step.clause + 1,
            name: clause.name.map(|name| store.name(name).to_owned()),
            premises: step.premises.iter().map(|premise| premise + 1).collect(),
            instance: instance(&|value| values.exact(value)),
            readable: is_told.then(readable),
        }
    }
}

impl<W: io::Write> Printer<'_, W> {
    pub(super) fn json_model(&mut self, model: &Model) -> io::Result<()> {
        let definitions = predicate_definitions(self.store, self.system, model);
        let opening = self.json_recursion(&model.recursion(self.store, self.system))?;
        self.json_lines(&(opening + r#""model": ["#), definitions)
    }

    /// The beginning of the proof of `sat`, with the recursive functions and the lemmas about them, if there are any.
    fn json_recursion(&self, recursion: &Recursion<'_>) -> io::Result<String> {
        let mut opening = r#"{"answer": "sat", "#.to_owned();
        let functions = json_functions(self.store, recursion);
        if !functions.is_empty() {
            opening += &format!(r#""functions": {}, "#, serde_json::to_string(&functions)?);
        }
        let lemmas = json_lemmas(self.store, recursion);
        if !lemmas.is_empty() {
            opening += &format!(r#""lemmas": {}, "#, serde_json::to_string(&lemmas)?);
        }
        Ok(opening)
    }

    pub(super) fn json_induction(&mut self, proof: &Induction) -> io::Result<()> {
        let lemmas = JsonJointLemma::of(self.store, self.system, proof);
        let opening = self.json_recursion(&proof.recursion(self.store, self.system))?;
        self.json_lines(&(opening + r#""induction": ["#), lemmas.into_iter())
    }

    pub(super) fn json_refutation(&mut self, refutation: &Refutation) -> io::Result<()> {
        let values = Values::new(self.store, self.system, refutation);
        let steps = numbered_steps(&values, self.system, refutation);
        let definitions = values.definitions();
        if definitions.is_empty() {
            return self.json_lines(r#"{"answer": "unsat", "steps": ["#, steps);
        }
        write!(self.out, r#"{{"answer": "unsat", "definitions": ["#)?;
        self.json_items(definitions.iter())?;
        self.json_lines("\n], \"steps\": [", steps)
    }

    /// Writes one line for each item.
    fn json_lines(&mut self, opening: &str, items: impl Iterator<Item = impl Serialize>) -> io::Result<()> {
        write!(self.out, "{opening}")?;
        self.json_items(items)?;
        writeln!(self.out, "\n]}}")
    }

    pub(super) fn json_items(&mut self, items: impl Iterator<Item = impl Serialize>) -> io::Result<()> {
        for (position, item) in items.enumerate() {
            write!(self.out, "{}\n  ", if position == 0 { "" } else { "," })?;
            serde_json::to_writer(&mut *self.out, &item)?;
        }
        Ok(())
    }
}

/// The name of a variable, without bars.
pub(super) fn variable_name(store: &TermStore, variable: Term) -> String {
    match store.op(variable) {
        Op::Var(name) => store.name(name).to_owned(),
        _ => store.display(variable).to_string(),
    }
}
