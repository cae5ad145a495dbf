//! Engines apart from each other: each has a [branch](Branch) of the store, and facts travel as text.
//!
//! What an engine does then depends on the clauses, the seed, and on which facts it has received at which of its calls of
//! [`receive`](Port::receive), its *import points*; it does not depend on what other threads have done with the terms. So it can be
//! [recorded](super::history) and done again.
//!
//! - A1: facts are translated by their canonical texts, which do not depend on the history of a store. The log is about terms of
//!   the origin.
//! - A2: a closed set that has no text of bearable size cannot be sent. Later facts may depend on it, so its sender sends nothing more.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use shofar_engines::{Evidence, Fact, FactId, Fate, Port};
use shofar_horn::HornGraph;
use shofar_horn::witness::Interpretation;
use shofar_logic::{Branch, Term, TermStore};
use shofar_run::Stop;

use super::history::Recorder;
use super::log::Member;
use super::text::{Bounds, Texts};

/// The port of an engine that works in a branch.
pub(crate) struct Apart<'a> {
    member: Member<'a>,
    log: Texts<'a>,
    own: Texts<'a>,
    /// By A2.
    is_mute: AtomicBool,
    recorder: Option<&'a Recorder>,
}

impl<'a> Apart<'a> {
    pub(crate) fn new(
        member: Member<'a>,
        graph: &'a HornGraph,
        [origin, own]: [&'a TermStore; 2],
        recorder: Option<&'a Recorder>,
    ) -> Self {
        let texts = |store| Texts { store, graph, bounds: Bounds::OWN };
        Apart { member, log: texts(origin), own: texts(own), is_mute: AtomicBool::new(false), recorder }
    }
}

impl Port for Apart<'_> {
    fn send(&self, fact: Fact) {
        if self.is_mute.load(Ordering::Relaxed) {
            return;
        }
        let text = self.own.write(&fact);
        match text.and_then(|text| self.log.read(&text).ok()) {
            Some(fact) => self.member.send(fact),
            None => self.is_mute.store(matches!(fact, Fact::Closed(_)), Ordering::Relaxed),
        }
    }

    fn receive(&self) -> Vec<(FactId, Fact)> {
        let text = |(id, fact): (FactId, Fact)| Some((id, self.log.write(&fact)?));
        let texts: Vec<(FactId, Value)> = self.member.receive().into_iter().filter_map(text).collect();
        if let Some(recorder) = self.recorder {
            let assumed = if texts.is_empty() { Vec::new() } else { self.member.assumed() };
            let assumed = assumed.into_iter().filter_map(|lemma| self.log.write_lemma(lemma)).collect();
            recorder.received(self.member.label(), &texts, assumed);
        }
        texts.into_iter().filter_map(|(id, text)| Some((id, self.own.read(&text).ok()?))).collect()
    }

    fn rate(&self, fact: FactId, fate: Fate) {
        self.member.rate(fact, fate);
    }
}

/// The evidence of an engine in a branch, as evidence in the origin.
pub(crate) fn to_origin(branch: &Branch<'_>, mut evidence: Evidence) -> Result<Evidence, Stop> {
    let mut is_complete = true;
    let mut image = |term: &mut Term| match branch.to_origin(*term) {
        Some(image) => *term = image,
        None => is_complete = false,
    };
    match &mut evidence {
        Evidence::Sat(model) => model.interpretations.iter_mut().for_each(|interpretation| {
            let Interpretation::Formula(formula) = interpretation;
            image(formula);
        }),
        Evidence::Unsat(derivation) => {
            let values = derivation.steps.iter_mut().flat_map(|step| step.fact.iter_mut());
            values.for_each(|value| {
                if let shofar_logic::Value::Term(term) = value {
                    image(term);
                }
            });
        }
        Evidence::Induction(proof) => {
            for lemma in &mut proof.lemmas {
                let atoms = lemma.premises.iter_mut().flat_map(|premise| premise.atom.args.iter_mut());
                lemma.variables.iter_mut().chain(atoms).chain([&mut lemma.conclusion]).for_each(&mut image);
            }
            for lemma in &mut proof.fold_lemmas {
                lemma.parameters.iter_mut().chain([&mut lemma.formula]).for_each(&mut image);
            }
        }
        Evidence::Saturation(proof) => {
            for clause in &mut proof.clauses {
                let atoms = clause.body.iter_mut().chain(&mut clause.head);
                let arguments = atoms.flat_map(|atom| atom.arguments.iter_mut());
                clause.variables.iter_mut().chain(arguments).for_each(&mut image);
            }
        }
    }
    if is_complete {
        Ok(evidence)
    } else {
        Err(Stop::Unsupported("functions or datatypes that an engine has defined in a branch".to_owned()))
    }
}
