//! Checks answers of workers, by C1.
//!
//! The text that the client has read is parsed again, in a store of its own: what a witness adds to it is gone afterwards,
//! so hostile witnesses cannot fill the memory. The witness itself says whether the answer is `sat` or `unsat`.
//!
//! The checker replays the solver's proofs, as for witnesses of other programs. If some proof cannot be replayed, and nothing
//! is wrong with it, it believes our own solver, as for a local answer.

use std::panic::{self, AssertUnwindSafe};
use std::time::Instant;

use shofar_cooperate::readable::for_people;
use shofar_horn::check::{Trust, Validity, check_induction, check_model, check_saturation, checked};
use shofar_horn::witness::{self, Witness};
use shofar_horn::{Context, HornSystem, Unread};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_run::{Limits, Stop};

use crate::message::{Answer, Word};

/// A witness that the checker has accepted, with the clauses that it is about.
pub struct Confirmed {
    /// The home of all terms.
    pub store: TermStore,
    /// The clauses.
    pub system: HornSystem,
    /// The witness.
    pub witness: Witness,
}

impl Confirmed {
    /// The answer that the witness proves.
    pub fn word(&self) -> Word {
        word_of(&self.witness)
    }
}

/// The answer that a witness proves.
fn word_of(witness: &Witness) -> Word {
    match witness {
        Witness::Model(_) | Witness::Induction(_) | Witness::Saturation(_) => Word::Sat,
        Witness::Refutation(_) => Word::Unsat,
    }
}

/// The judgement about an answer.
pub enum Judgement {
    /// It is right.
    Confirmed(Box<Confirmed>),
    /// Its witness is wrong, for this reason.
    Refused(String),
    /// The check has not ended, for this reason. Nobody is to blame.
    Open(String),
}

/// How models are given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As the worker sent them.
    Plain,
    /// Simplified for people.
    Readable,
}

/// Checks the answer to a question of a task.
pub fn confirm(text: &[u8], answer: &Answer, form: Form, limits: Limits<'_>) -> Judgement {
    // The checker panics on no witness that we know. If it does, that is our mistake and not the sender's.
    let check = || judge(text, answer, form, limits);
    panic::catch_unwind(AssertUnwindSafe(check))
        .unwrap_or_else(|_| Judgement::Open("the checker has failed".to_owned()))
}

fn judge(text: &[u8], answer: &Answer, form: Form, limits: Limits<'_>) -> Judgement {
    let start = Instant::now();
    let Some(claim) = &answer.witness else { return Judgement::Refused("there is no witness".to_owned()) };
    let store = TermStore::new();
    let context = Context { store: &store, limits };
    let environment = &mut Environment::new(&store);
    let system =
        match shofar_horn::parse_question_within(&context, environment, "task", text, answer.id.query) {
            Ok(system) => system,
            Err(Unread::Wrong(error)) => return Judgement::Open(format!("the task cannot be read: {error}")),
            Err(Unread::Interrupted(reason)) => return Judgement::Open(Stop::from(reason).to_string()),
        };
    let witness = match witness::read_within(&context, environment, &system, "witness", claim) {
        Ok(witness) => witness,
        Err(Unread::Wrong(error)) => return Judgement::Refused(error.to_string()),
        Err(Unread::Interrupted(reason)) => return Judgement::Open(Stop::from(reason).to_string()),
    };
    if word_of(&witness) != answer.verdict {
        return Judgement::Refused(format!("the witness does not prove `{}`", answer.verdict.name()));
    }
    let witness = match checked(&context, &system, witness.clone()) {
        Ok(witness) => witness,
        Err(Validity::Unknown(stop)) if !matches!(stop, Stop::Interrupted(_)) => {
            match with_our_solver(&context, &system, &witness) {
                Validity::Valid => witness,
                Validity::Invalid(fault) => {
                    return Judgement::Refused(fault.display(&store, &system).to_string());
                }
                Validity::Unknown(stop) => return Judgement::Open(stop.to_string()),
            }
        }
        Err(Validity::Unknown(stop)) => return Judgement::Open(stop.to_string()),
        Err(Validity::Invalid(fault)) => {
            return Judgement::Refused(fault.display(&store, &system).to_string());
        }
        Err(Validity::Valid) => return Judgement::Open("the checker contradicts itself".to_owned()),
    };
    let witness = match (form, witness) {
        (Form::Readable, Witness::Model(model)) => {
            Witness::Model(for_people(&context, &system, model, start.elapsed()))
        }
        (_, witness) => witness,
    };
    Judgement::Confirmed(Box::new(Confirmed { store, system, witness }))
}

/// The checker's judgement without proofs.
fn with_our_solver(context: &Context<'_>, system: &HornSystem, witness: &Witness) -> Validity {
    match witness {
        Witness::Model(model) => check_model(context, system, model, Trust::Solver),
        Witness::Induction(proof) => check_induction(context, system, proof, Trust::Solver),
        Witness::Saturation(proof) => check_saturation(context, system, proof, Trust::Solver),
        // Refutations are evaluated: there was no proof that could not be replayed.
        Witness::Refutation(_) => Validity::Unknown(Stop::Exhausted("the refutation could not be checked")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::solve;
    use crate::work::tests::{SAFE, order, unsafe_counter};

    fn answer(verdict: Word, witness: Option<String>) -> Answer {
        Answer {
            id: order(SAFE, &[]).job.id,
            verdict,
            engine: None,
            witness,
            reason: None,
            seconds: 0.1,
            from: "w".parse().unwrap(),
        }
    }

    fn judge(text: &str, answer: &Answer) -> Judgement {
        let deadline = Instant::now().checked_add(std::time::Duration::from_secs(20));
        confirm(text.as_bytes(), answer, Form::Readable, Limits { deadline, ..Limits::default() })
    }

    #[test]
    fn right_witnesses_are_confirmed_and_wrong_ones_refused() {
        let (safe, broken) = (SAFE, unsafe_counter());
        let model = solve(&order(safe, &["spacer"])).witness;
        let refutation = solve(&order(&broken, &["spacer"])).witness;
        for (text, verdict, witness) in [(safe, Word::Sat, &model), (&*broken, Word::Unsat, &refutation)] {
            let Judgement::Confirmed(confirmed) = judge(text, &answer(verdict, witness.clone())) else {
                panic!("{text}: {witness:?}")
            };
            assert_eq!(confirmed.word(), verdict);
        }
        let digits = "7".repeat(1_000_000);
        let deep = format!("{}true{}", "(not ".repeat(100_000), ")".repeat(100_000));
        let definition = |formula: &str| format!("((define-fun P ((x Int)) Bool {formula}))");
        for (text, verdict, witness) in [
            // Of the other system.
            (safe, Word::Unsat, refutation.clone()),
            (&*broken, Word::Sat, model.clone()),
            // It proves something else.
            (safe, Word::Unsat, model.clone()),
            (&*broken, Word::Sat, refutation.clone()),
            (safe, Word::Sat, None),
            (safe, Word::Sat, Some(definition("true"))),
            (safe, Word::Sat, Some(definition("(= x true)"))),
            (safe, Word::Sat, Some("((define-fun Q ((x Int)) Bool true))".to_owned())),
            (safe, Word::Sat, Some("garbage".to_owned())),
            (safe, Word::Sat, Some(definition(&format!("(< x {digits})")))),
            (safe, Word::Sat, Some(definition(&deep))),
        ] {
            let start: String = witness.as_deref().unwrap_or_default().chars().take(60).collect();
            let judgement = judge(text, &answer(verdict, witness));
            assert!(matches!(judgement, Judgement::Refused(_)), "{verdict:?} {start}");
        }
    }

    /// A limit is nobody's fault.
    #[test]
    fn a_check_that_does_not_end_is_open() {
        let model = solve(&order(SAFE, &["spacer"])).witness;
        let limits = Limits { deadline: Some(Instant::now()), ..Limits::default() };
        let judgement = confirm(SAFE.as_bytes(), &answer(Word::Sat, model), Form::Plain, limits);
        assert!(matches!(judgement, Judgement::Open(_)));
    }
}
