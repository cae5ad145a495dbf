//! Tests the translation of lemmas: a lemma that holds for all facts of one graph holds, translated, for all facts of
//! the other.

use shofar_horn::graph::NodeId;
use shofar_horn::transform::{Image, Lemma, Translation};
use shofar_horn::witness::GraphModel;
use shofar_horn::{Context, HornGraph};
use shofar_logic::{Assignment, Sort, Term, TermStore, Value};

use crate::Random;
use crate::explicit::{Ends, Saturation};

/// Translates lemmas of the old graph forward, and lemmas of the new graph back if that is a renaming. Both systems are
/// safe, so all their facts are known. Returns the number of nontrivial lemmas in the new graph.
///
/// Panics if a fact of the other graph violates a lemma.
pub fn lemmas_stay_true(
    context: &Context<'_>,
    translation: &dyn Translation,
    old: (&HornGraph, &Saturation<'_>),
    new: (&HornGraph, &Saturation<'_>),
    random: &mut Random,
) -> usize {
    let store = context.store;
    let mut arrived = 0;
    let lemmas = weakened(store, old.0, &old.1.least_model(Ends::Closed), random);
    for (number, &formula) in lemmas.iter().enumerate() {
        let lemma = Lemma { node: NodeId::new(number), formula };
        let Image::Lemmas(images) = translation.forward(context, lemma) else { continue };
        for image in images {
            let violated = violating(store, new, image);
            assert!(violated.is_none(), "{}: {violated:?}", store.display(image.formula));
            arrived += usize::from(image.formula != Term::TRUE);
        }
    }
    if translation.is_renaming() {
        let lemmas = weakened(store, new.0, &new.1.least_model(Ends::Closed), random);
        let back = translation.model_back(context, GraphModel::of_formulas(lemmas));
        let back = back.expect("a renaming needs no model");
        for (node, _) in old.0.nodes() {
            let formula = back.formula(node).expect("lemmas are formulas");
            let violated = violating(store, old, Lemma { node, formula });
            assert!(violated.is_none(), "back: {}: {violated:?}", store.display(formula));
        }
    }
    arrived
}

/// For each node a formula that holds for all its facts: exactly for them, or weakened by a random bound.
fn weakened(store: &TermStore, graph: &HornGraph, model: &GraphModel, random: &mut Random) -> Vec<Term> {
    let lemma = |(node, content): (NodeId, &shofar_horn::graph::Node)| {
        let facts = model.formula(node).expect("the explicit model consists of formulas");
        if content.arity() == 0 || random.one_in(3) {
            return facts;
        }
        let argument = *random.choose(content.variables());
        let case = match store.sort_of(argument) {
            Sort::BOOL => argument,
            Sort::INT => store.le(argument, store.int(random.below(3) as u64)),
            _ => Term::FALSE,
        };
        store.or2(facts, case)
    };
    graph.nodes().map(lemma).collect()
}

/// A fact that violates a formula.
fn violating(
    store: &TermStore,
    (graph, saturation): (&HornGraph, &Saturation<'_>),
    lemma: Lemma,
) -> Option<Vec<Value>> {
    let variables = graph.node(lemma.node).variables();
    let is_violated = |values: &[Value]| {
        let assignment: Assignment = variables.iter().copied().zip(values.iter().cloned()).collect();
        store.eval(lemma.formula, &assignment) != Ok(Value::Bool(true))
    };
    saturation.facts_of(lemma.node).find(|values| is_violated(values)).map(<[Value]>::to_vec)
}
