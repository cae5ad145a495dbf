//! Models as texts: reading.

use shofar_horn::witness::{self, Model, Witness};
use shofar_horn::{HornSystem, parse_in};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;

pub(crate) fn read(store: &TermStore, system: &str, model: &str) -> (HornSystem, Model) {
    let mut environment = Environment::new(store);
    let system =
        parse_in(store, &mut environment, "system", system).unwrap_or_else(|error| panic!("{error}"));
    match witness::read(store, &mut environment, &system, "model", model) {
        Ok(Witness::Model(model)) => (system, model),
        other => panic!("{other:?}"),
    }
}
