//! Transformations of datatypes preserve answers: the judge for random systems, and reading.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::ops::RangeInclusive;

use shofar_horn::check::{check_derivation, check_graph_model};
use shofar_horn::transform::{Pipeline, Transformed};
use shofar_horn::{Context, HornGraph, HornSystem, parse};
use shofar_logic::TermStore;
use shofar_run::Stop;
use shofar_testing::Random;
use shofar_testing::datatype_systems::{self, Family};
use shofar_testing::explicit::{Ends, Saturation};
use shofar_testing::lemmas::lemmas_stay_true;

pub(crate) const DOMAIN: RangeInclusive<i64> = 0..=datatype_systems::GREATEST;

pub(crate) fn system(store: &TermStore, text: &str) -> HornSystem {
    parse(store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

pub(crate) fn graph(store: &TermStore, text: &str) -> HornGraph {
    HornGraph::of(store, &system(store, text))
}

pub(crate) fn run(context: &Context<'_>, names: &str, graph: &HornGraph) -> Transformed {
    Pipeline::parse(names).expect("the test's names are right").run(context, graph.clone()).0
}

/// Transforms a system; checks that the answer stays, and that lemmas and witnesses are translated. The explicit search
/// judges the witnesses. So does the checker, unless it says that it does not support them and may say so. Returns
/// whether something changed, and the number of lemmas that arrive in the new graph.
#[track_caller]
pub(crate) fn keeps_the_answer(
    random: &mut Random,
    text: &str,
    names: &str,
    may_be_unsupported: bool,
) -> (bool, usize) {
    let store = TermStore::new();
    let context = Context::new(&store);
    let old = graph(&store, text);
    let Transformed { graph: new, translation } = run(&context, names, &old);
    let at = format!("{names}:\n{text}");
    let facts = Saturation::of(&store, &old, DOMAIN);
    let new_facts = Saturation::of(&store, &new, DOMAIN);
    assert_eq!(new_facts.is_safe(), facts.is_safe(), "the answer has changed, {at}");
    let is_fine = |checked: Result<(), Stop>| match checked {
        Ok(()) => {}
        Err(Stop::Unsupported(_)) if may_be_unsupported => {}
        Err(stop) => panic!("{stop}, {at}"),
    };
    let mut arrived = 0;
    match new_facts.derivation() {
        Some(derivation) => {
            let back = translation.derivation_back(&context, derivation);
            let back = back.unwrap_or_else(|stop| panic!("{stop}, {at}"));
            assert!(Saturation::confirms(&store, &old, DOMAIN, &back), "{back:?}, {at}");
            is_fine(check_derivation(&context, &old, &back));
        }
        None => {
            arrived = lemmas_stay_true(&context, &*translation, (&old, &facts), (&new, &new_facts), random);
            let attempts = *random.choose(&[0, 3, 30]);
            let model = new_facts.larger_model(random, attempts, Ends::Closed);
            assert_eq!(Saturation::violated(&store, &new, DOMAIN, &model), None, "{at}");
            // Clauses that do not bound their variables may be violated outside of the domain.
            let is_model = check_graph_model(&context, &new, &model).is_ok();
            let back = translation.model_back(&context, model);
            let back = back.unwrap_or_else(|stop| panic!("{stop}, {at}"));
            assert_eq!(Saturation::violated(&store, &old, DOMAIN, &back), None, "{back:?}, {at}");
            if is_model {
                is_fine(check_graph_model(&context, &old, &back));
            }
        }
    }
    (new != old, arrived)
}

/// How many of some random systems are safe.
pub(crate) fn safe_systems(family: Family, systems: u64) -> usize {
    let is_safe = |&seed: &u64| {
        let store = TermStore::new();
        let graph = graph(&store, &datatype_systems::system(&mut Random::new(seed), family));
        Saturation::of(&store, &graph, DOMAIN).is_safe()
    };
    (0..systems).filter(is_safe).count()
}
