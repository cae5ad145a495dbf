//! Witnesses as JSON, for programs.
//!
//! A model is `{"answer": "sat", "model": [...]}` with an object for each predicate, a refutation is
//! `{"answer": "unsat", "steps": [...]}` with an object for each step; see [`JsonDefinition`] and [`JsonStep`]. Terms,
//! values and sorts are strings in the syntax of SMT-LIB. Steps and clauses are counted from one.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};
use shofar_logic::{Op, Term, TermStore};

use super::{Model, Refutation};
use crate::system::HornSystem;

/// A witness.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonWitness {
    pub(super) answer: String,
    pub(super) model: Option<Vec<JsonDefinition>>,
    pub(super) steps: Option<Vec<JsonStep>>,
}

/// What a predicate means.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonDefinition {
    pub(super) predicate: String,
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
    /// The predicate of the fact that is derived; none for `false`.
    pub(super) predicate: Option<String>,
    pub(super) arguments: Vec<String>,
    pub(super) clause: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) premises: Vec<usize>,
    /// The values of the clause's variables, by their names.
    pub(super) instance: BTreeMap<String, String>,
}

pub(super) fn write_model<W: io::Write>(
    store: &TermStore,
    system: &HornSystem,
    model: &Model,
    out: &mut W,
) -> io::Result<()> {
    let definitions = system.predicates().zip(&model.definitions).map(|((_, fun), definition)| {
        let parameter = |&parameter: &Term| JsonParameter {
            name: variable_name(store, parameter),
            sort: store.display_sort(store.sort_of(parameter)).to_string(),
        };
        JsonDefinition {
            predicate: store.name(store.fun_decl(fun).name).to_owned(),
            parameters: definition.parameters.iter().map(parameter).collect(),
            body: store.display(definition.body).to_string(),
        }
    });
    write_lines(r#"{"answer": "sat", "model": ["#, definitions, out)
}

pub(super) fn write_refutation<W: io::Write>(
    store: &TermStore,
    system: &HornSystem,
    refutation: &Refutation,
    out: &mut W,
) -> io::Result<()> {
    let steps = refutation.steps.iter().enumerate().map(|(number, step)| {
        let clause = &system.clauses[step.clause];
        let variables = clause.variables.iter().map(|&variable| variable_name(store, variable));
        let values = step.instantiation.iter().map(|value| store.display_value(value).to_string());
        let predicate = |fun| store.name(store.fun_decl(fun).name).to_owned();
        JsonStep {
            step: number + 1,
            predicate: clause.head.as_ref().map(|head| predicate(system.fun(head.predicate))),
            arguments: step.fact.iter().map(|value| store.display_value(value).to_string()).collect(),
            clause: step.clause + 1,
            name: clause.name.map(|name| store.name(name).to_owned()),
            premises: step.premises.iter().map(|premise| premise + 1).collect(),
            instance: variables.zip(values).collect(),
        }
    });
    write_lines(r#"{"answer": "unsat", "steps": ["#, steps, out)
}

/// One line for each item.
fn write_lines<W: io::Write>(
    opening: &str,
    items: impl Iterator<Item = impl Serialize>,
    out: &mut W,
) -> io::Result<()> {
    write!(out, "{opening}")?;
    for (position, item) in items.enumerate() {
        write!(out, "{}\n  ", if position == 0 { "" } else { "," })?;
        serde_json::to_writer(&mut *out, &item)?;
    }
    writeln!(out, "\n]}}")
}

/// The name of a variable, without bars.
pub(super) fn variable_name(store: &TermStore, variable: Term) -> String {
    match store.op(variable) {
        Op::Var(name) => store.name(name).to_owned(),
        _ => store.display(variable).to_string(),
    }
}
