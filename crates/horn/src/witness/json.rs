//! Witnesses as JSON, for programs.
//!
//! A model is `{"answer": "sat", "model": [...]}` with an object for each predicate, a refutation is
//! `{"answer": "unsat", "steps": [...]}` with an object for each step; see [`JsonDefinition`] and [`JsonStep`]. Terms,
//! values and sorts are strings in the syntax of SMT-LIB. Steps and clauses are counted from one.
//!
//! The same types serve for reading, writing, and embedding in other JSON ([`JsonWitness`]). A file has one line for
//! each definition or step. The writer produces them one by one: a refutation may have millions.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};
use shofar_logic::{Fun, Op, Term, TermStore};

use super::model::NumberFunction;
use super::{Definition, Interpretation, Model, Printer, Refutation, Step, Witness};
use crate::system::HornSystem;

/// A witness as JSON; see [`Witness::to_json`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JsonWitness {
    pub(super) answer: String,
    /// The number functions of Peano datatypes that the model applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) functions: Vec<JsonFunction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<Vec<JsonDefinition>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) steps: Option<Vec<JsonStep>>,
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

/// The recursive definition of a number function of a Peano datatype.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonFunction {
    pub(super) function: String,
    pub(super) parameter: JsonParameter,
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
}

impl JsonWitness {
    pub(super) fn new(store: &TermStore, system: &HornSystem, witness: &Witness) -> Self {
        let (mut functions, mut model, mut steps) = Default::default();
        let answer = match witness {
            Witness::Model(content) => {
                functions = number_functions(store, content);
                model = Some(definitions(store, system, content).collect());
                "sat"
            }
            Witness::Refutation(content) => {
                steps = Some(numbered_steps(store, system, content).collect());
                "unsat"
            }
        };
        JsonWitness { answer: answer.to_owned(), functions, model, steps }
    }
}

fn number_functions(store: &TermStore, model: &Model) -> Vec<JsonFunction> {
    let function = |NumberFunction { fun, parameter, body }: NumberFunction| JsonFunction {
        function: store.name(store.fun_decl(fun).name).to_owned(),
        parameter: JsonParameter::new(store, parameter),
        body: store.display(body).to_string(),
    };
    model.number_functions(store).into_iter().map(function).collect()
}

fn definitions<'a>(
    store: &'a TermStore,
    system: &'a HornSystem,
    model: &'a Model,
) -> impl Iterator<Item = JsonDefinition> + 'a {
    let definitions = system.predicates().zip(&model.definitions);
    definitions.map(|((_, fun), definition)| JsonDefinition::new(store, fun, definition))
}

fn numbered_steps<'a>(
    store: &'a TermStore,
    system: &'a HornSystem,
    refutation: &'a Refutation,
) -> impl Iterator<Item = JsonStep> + 'a {
    let steps = refutation.steps.iter().enumerate();
    steps.map(|(position, step)| JsonStep::new(store, system, position + 1, step))
}

impl JsonDefinition {
    fn new(store: &TermStore, fun: Fun, definition: &Definition) -> Self {
        let parameter = |&parameter: &Term| JsonParameter::new(store, parameter);
        match &definition.interpretation {
            Interpretation::Formula(formula) => JsonDefinition {
                predicate: store.name(store.fun_decl(fun).name).to_owned(),
                parameters: definition.parameters.iter().map(parameter).collect(),
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
    fn new(store: &TermStore, system: &HornSystem, number: usize, step: &Step) -> Self {
        let clause = &system.clauses[step.clause];
        let variables = clause.variables.iter().map(|&variable| variable_name(store, variable));
        let values = step.instantiation.iter().map(|value| store.display_value(value).to_string());
        let predicate = |fun| store.name(store.fun_decl(fun).name).to_owned();
        JsonStep {
            step: number,
            predicate: clause.head.as_ref().map(|head| predicate(system.fun(head.predicate))),
            arguments: step.fact.iter().map(|value| store.display_value(value).to_string()).collect(),
            clause: step.clause + 1,
            name: clause.name.map(|name| store.name(name).to_owned()),
            premises: step.premises.iter().map(|premise| premise + 1).collect(),
            instance: variables.zip(values).collect(),
        }
    }
}

impl<W: io::Write> Printer<'_, W> {
    pub(super) fn json_model(&mut self, model: &Model) -> io::Result<()> {
        let definitions = definitions(self.store, self.system, model);
        let functions = number_functions(self.store, model);
        if functions.is_empty() {
            return self.json_lines(r#"{"answer": "sat", "model": ["#, definitions);
        }
        let functions = serde_json::to_string(&functions)?;
        self.json_lines(&format!(r#"{{"answer": "sat", "functions": {functions}, "model": ["#), definitions)
    }

    pub(super) fn json_refutation(&mut self, refutation: &Refutation) -> io::Result<()> {
        let steps = numbered_steps(self.store, self.system, refutation);
        self.json_lines(r#"{"answer": "unsat", "steps": ["#, steps)
    }

    /// Writes one line for each item.
    fn json_lines(&mut self, opening: &str, items: impl Iterator<Item = impl Serialize>) -> io::Result<()> {
        write!(self.out, "{opening}")?;
        for (position, item) in items.enumerate() {
            write!(self.out, "{}\n  ", if position == 0 { "" } else { "," })?;
            serde_json::to_writer(&mut *self.out, &item)?;
        }
        writeln!(self.out, "\n]}}")
    }
}

/// The name of a variable, without bars.
pub(super) fn variable_name(store: &TermStore, variable: Term) -> String {
    match store.op(variable) {
        Op::Var(name) => store.name(name).to_owned(),
        _ => store.display(variable).to_string(),
    }
}
