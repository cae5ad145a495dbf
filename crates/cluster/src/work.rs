//! The work of a job: from the text of a task to a verdict and a witness.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use shofar_cooperate::driver::{self, Options, Verdict};
use shofar_cooperate::exchange::outside::Outside;
use shofar_cooperate::slot::Slot;
use shofar_cooperate::{ModelForm, Run};
use shofar_horn::transform::Passes;
use shofar_horn::witness::WitnessFormat;
use shofar_horn::{Context, Unread};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_run::{Limits, OptionError, Stop};

use crate::message::{Job, MOST_ANSWER, Word};

/// What a worker has to do.
#[derive(Clone, Debug)]
pub struct Order {
    /// The text of the task.
    pub text: Vec<u8>,
    /// The job.
    pub job: Job,
    /// When to end.
    pub deadline: Option<Instant>,
    /// The greatest memory of the process, in bytes.
    pub memory: Option<usize>,
    /// Set if nobody needs the answer any more.
    pub cancel: Arc<AtomicBool>,
    /// Others that work on the task, if facts are exchanged.
    pub outside: Option<Arc<Outside>>,
}

/// The result of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Word,
    /// The slot that found it.
    pub engine: Option<String>,
    /// The witness as text.
    pub witness: Option<String>,
    /// The reason of `unknown`.
    pub reason: Option<String>,
}

impl Outcome {
    /// No answer, for a reason.
    pub fn unknown(reason: String) -> Self {
        Outcome { verdict: Word::Unknown, engine: None, witness: None, reason: Some(reason) }
    }
}

/// Does a job. Engines take turns in one place, so that a worker with several places can do as many jobs.
pub fn solve(order: &Order) -> Outcome {
    let slots: Result<Vec<Slot>, _> = order.job.slots.iter().map(|text| text.parse()).collect();
    let engines = match slots {
        Ok(engines) => engines,
        Err(error) => return Outcome::unknown(error.to_string()),
    };
    let store = TermStore::new();
    let limits = Limits {
        deadline: order.deadline,
        memory: order.memory,
        cancel: Some(&order.cancel),
        ..Limits::default()
    };
    let context = Context { store: &store, limits };
    let environment = &mut Environment::new(&store);
    let read =
        shofar_horn::parse_question_within(&context, environment, "task", &order.text, order.job.id.query);
    let system = match read {
        Ok(system) => system,
        Err(Unread::Wrong(error)) => return Outcome::unknown(format!("the task cannot be read: {error}")),
        Err(Unread::Interrupted(reason)) => return Outcome::unknown(Stop::from(reason).to_string()),
    };
    let passes = match order.job.passes.as_deref().map(str::parse).transpose() {
        Ok(passes) => passes,
        Err(error) => return Outcome::unknown(OptionError::to_string(&error)),
    };
    let outside = order.outside.clone();
    let options =
        Options { engines, passes, outside, jobs: Some(1), model: ModelForm::Plain, ..Options::default() };
    let run = Run::new(&store).with_limits(limits).with_seed(order.job.seed);
    let outcome = driver::solve(&system, &options, &run);
    let verdict = match outcome.verdict {
        Verdict::Sat(_) | Verdict::Proved(_) | Verdict::Saturated(_) => Word::Sat,
        Verdict::Unsat(_) => Word::Unsat,
        Verdict::Unknown(stop) => return Outcome::unknown(stop.to_string()),
    };
    let witness =
        outcome.verdict.witness().map(|witness| witness.to_text(&store, &system, WitnessFormat::Text));
    let size = witness.as_ref().map_or(0, String::len);
    // Escapes may make the text longer, line breaks above all.
    if size > MOST_ANSWER / 2 {
        return Outcome::unknown(format!("the witness has {size} bytes, which is too much for a message"));
    }
    Outcome { verdict, engine: outcome.engine.map(|engine| engine.to_string()), witness, reason: None }
}

/// Why this worker cannot do a job, if it cannot: it does not know the slots or the transformations.
pub fn refusal(job: &Job) -> Option<String> {
    let slots = job.slots.iter().find_map(|text| text.parse::<Slot>().err());
    let passes = || job.passes.as_ref().and_then(|text| text.parse::<Passes>().err());
    slots.or_else(passes).map(|error| error.to_string())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::message::{JobId, TaskId};

    /// A counter that never reaches -1.
    pub(crate) const SAFE: &str = "(set-logic HORN)(declare-fun P (Int) Bool)(assert (forall ((x Int)) (=> (= x 0) (P x))))
        (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))(assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))(check-sat)";

    /// A counter that reaches 3.
    pub(crate) fn unsafe_counter() -> String {
        SAFE.replace("(< x 0)", "(> x 2)")
    }

    pub(crate) fn order(text: &str, slots: &[&str]) -> Order {
        let id =
            JobId { task: TaskId::of(text.as_bytes()), query: None, run: "r".parse().unwrap(), number: 0 };
        let slots = slots.iter().map(|&slot| slot.to_owned()).collect();
        let job =
            Job { id, slots, seed: 0, seconds: None, mib: None, passes: None, share: false, attempt: 1 };
        Order {
            text: text.as_bytes().to_vec(),
            job,
            deadline: None,
            memory: None,
            cancel: Arc::default(),
            outside: None,
        }
    }

    #[test]
    fn answers_have_witnesses_and_other_results_reasons() {
        let sat = solve(&order(SAFE, &["spacer"]));
        assert_eq!((sat.verdict, sat.engine.as_deref(), sat.reason), (Word::Sat, Some("spacer"), None));
        assert!(sat.witness.is_some_and(|witness| witness.contains("define-fun P")));
        let unsat = solve(&order(&unsafe_counter(), &[]));
        assert!(unsat.verdict == Word::Unsat && unsat.witness.is_some());
        let wrong = solve(&order("(assert", &[]));
        assert!(wrong.reason.is_some_and(|reason| reason.starts_with("the task cannot be read: task:1:")));
        let cancelled = order(SAFE, &["bmc"]);
        cancelled.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(solve(&cancelled).verdict, Word::Unknown);
    }

    #[test]
    fn unknown_slots_are_refused() {
        assert_eq!(refusal(&order(SAFE, &["spacer", "pdkind:depth=2"]).job), None);
        assert!(
            refusal(&order(SAFE, &["spacer", "oracle"]).job).is_some_and(|reason| reason.contains("oracle"))
        );
        assert!(refusal(&order(SAFE, &["spacer:../../etc/passwd"]).job).is_some());
    }
}
