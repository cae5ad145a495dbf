//! The driver: from clauses to a proved answer.
//!
//! ```text
//! clauses -> graph -> transformations -> engines, side by side:
//!     engine -> ways back -> witness, made readable on request -> checker -> answer
//! ```
//!
//! D1: the driver returns `sat` or `unsat` only with a witness of the clauses as they were read, in exactly the form that the
//! checker accepted. A refused witness is a bug of Shofar: the answer is `unknown`, and the reason says so. The answer is also
//! `unknown` if a limit ends the check.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use shofar_engines::{Engine, Event, Evidence, InterpolationMethod, Label, Run};
use shofar_horn::check::{self, Fault, Trust, check_induction, check_refutation, check_saturation};
use shofar_horn::transform::{Passes, standard};
use shofar_horn::witness::{Induction, Model, Refutation, Saturation, Witness};
use shofar_horn::{HornGraph, HornSystem};
use shofar_logic::{Term, TermStore};
use shofar_run::{Gate, Stop};
use shofar_smt::supports;

use crate::exchange::history::History;
use crate::exchange::outside::Outside;
use crate::exchange::{Branches, Company, Exchanging};
use crate::graphs::Graphs;
use crate::instances::variants;
use crate::portfolio::{Contender, Turns, race};
use crate::readable::{ModelForm, check_forms};
use crate::rounds::rounds;
use crate::schedule::Features;
use crate::slot::{Setting, Slot, labels};

/// The choices of the user.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// The engines to run side by side; if there are none, the clauses choose.
    pub engines: Vec<Slot>,
    /// Whether engines tell each other what they learn.
    pub exchange: Exchanging,
    /// Whether the exchange is recorded, or an engine gets the facts of a recording.
    pub history: History,
    /// Other processes that solve the same clauses, and tell and are told what engines learn. Runs in rounds and recorded runs have none.
    pub outside: Option<Arc<Outside>>,
    /// How many engines may run at the same time; by default as many as the machine has cores.
    pub jobs: Option<usize>,
    /// How long the turns of engines are.
    pub turns: Turns,
    /// How all engines interpolate; by default each engine has its own method.
    pub interpolation: Option<InterpolationMethod>,
    /// Settings for all slots of an engine.
    pub settings: Vec<Setting>,
    /// The transformations to start with; by default the standard ones.
    pub passes: Option<Passes>,
    /// Whether the checker replays the solver's proofs that a model satisfies the clauses.
    pub validate: bool,
    /// The form in which a model is checked and returned. Simplifying it is wasted if nobody reads it.
    pub model: ModelForm,
}

impl Options {
    /// A slot with the settings that these options make for all slots.
    pub fn explicit(&self, slot: &Slot) -> Slot {
        slot.with(|engine| set(engine, self))
    }
}

/// The answer to whether clauses are satisfiable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The clauses have this model.
    Sat(Model),
    /// The clauses have a model, by this proof.
    Proved(Induction),
    /// The clauses have a model, because these clauses are saturated.
    Saturated(Saturation),
    /// The clauses have this refutation.
    Unsat(Refutation),
    /// Nothing is known, for this reason.
    Unknown(Stop),
}

impl Verdict {
    /// The answer in a word: `sat`, `unsat` or `unknown`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Sat(_) | Verdict::Proved(_) | Verdict::Saturated(_) => "sat",
            Verdict::Unsat(_) => "unsat",
            Verdict::Unknown(_) => "unknown",
        }
    }

    /// The witness that proves the answer.
    pub fn witness(self) -> Option<Witness> {
        match self {
            Verdict::Sat(model) => Some(Witness::Model(model)),
            Verdict::Proved(proof) => Some(Witness::Induction(proof)),
            Verdict::Saturated(proof) => Some(Witness::Saturation(proof)),
            Verdict::Unsat(refutation) => Some(Witness::Refutation(refutation)),
            Verdict::Unknown(_) => None,
        }
    }
}

/// The answer that a checked witness proves.
impl From<Witness> for Verdict {
    fn from(witness: Witness) -> Self {
        match witness {
            Witness::Model(model) => Verdict::Sat(model),
            Witness::Induction(proof) => Verdict::Proved(proof),
            Witness::Saturation(proof) => Verdict::Saturated(proof),
            Witness::Refutation(refutation) => Verdict::Unsat(refutation),
        }
    }
}

/// An answer, and the engine that found it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The label of the engine that found the answer.
    pub engine: Option<Label>,
}

/// Decides a system of clauses.
pub fn solve(system: &HornSystem, options: &Options, run: &Run<'_>) -> Outcome {
    solve_and_tell(system, options, run, |_, _| ())
}

/// Decides a system of clauses. `tell` gets the answer and its engine at once, before the other engines have ended.
pub fn solve_and_tell(
    system: &HornSystem,
    options: &Options,
    run: &Run<'_>,
    tell: impl Fn(&Verdict, &Label),
) -> Outcome {
    match decide(system, options, run, tell) {
        Ok((verdict, engine)) => Outcome { verdict, engine: Some(engine) },
        Err(stop) => Outcome { verdict: Verdict::Unknown(stop), engine: None },
    }
}

fn decide(
    system: &HornSystem,
    options: &Options,
    run: &Run<'_>,
    tell: impl Fn(&Verdict, &Label),
) -> Result<(Verdict, Label), Stop> {
    if let Some(&function) = system.functions.first() {
        let name = run.store.display_symbol(run.store.fun_decl(function).name);
        return Err(Stop::Unsupported(format!("declared functions other than predicates, as {name}")));
    }
    let start = Instant::now();
    let mut clock = Clock::new(run, None);
    let original = HornGraph::within(run, system)?;
    clock.phase("graph");

    let pipeline = match &options.passes {
        Some(passes) => passes.pipeline(),
        None => standard(),
    };
    let (meeting, reports) = pipeline.run(run, original.clone());
    reports.into_iter().for_each(|report| run.tell(Event::Pass(report)));
    run.go_on()?;

    let jobs = options.jobs.or_else(|| thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let features = Features::of(run.store, &meeting.graph);
    let slots = slots(options, &features, jobs);
    let graphs = Graphs::new(original, meeting, slots.iter().map(|(slot, _)| slot));
    if options.exchange == Exchanging::Rounds {
        graphs.prepare(run);
    }
    clock.phase("transform");
    run.go_on()?;

    let (contenders, slots) = contenders(options, &graphs, &slots, run)?;
    let exchanges = tell_schedule(options, &features, &contenders, jobs, run);
    let branches = Branches::new(run, options, &contenders);
    let company = Company::new(run, branches.as_ref(), options, graphs.meeting(), &contenders, exchanges)?;
    // Engines may have stores of their own; the graphs are in that of the run.
    let view_of = |engine: &Run<'_>| {
        let index = contenders.iter().position(|contender| contender.label == *engine.label());
        let index = index.expect("runs have the labels of contenders");
        let run = run.clone().with_limits(engine.limits);
        graphs.view(&*contenders[index].engine, &slots[index], &run)
    };
    let attempt = |engine: &dyn Engine, run: &Run<'_>| {
        let mut clock = Clock::new(run, Some(run.label()));
        let answer = view_of(run).and_then(|view| company.solve(engine, view.graph, run));
        clock.phase("solve");
        answer.map_err(|stop| in_clauses(stop, system, run.store))
    };
    let trust = if options.validate { Trust::Proofs } else { Trust::Solver };
    let confirm = |evidence, run: &Run<'_>| {
        let mut clock = Clock::new(run, Some(run.label()));
        match company.home(run.label(), evidence)? {
            Evidence::Sat(model) => {
                let model = view_of(run)?.model_back(run, model)?;
                let model = Model::of_graph(run.store, system, graphs.original(), &model);
                clock.phase("way back");
                let form = options.model.of(run, &model, start.elapsed());
                if options.model != ModelForm::Plain {
                    clock.phase("readable");
                }
                let forms = (model, form);
                let (model, verdict) = check_forms(run, system, forms, trust, start.elapsed());
                clock.phase("check");
                is_valid(verdict, system, run).map(|()| Verdict::Sat(model))
            }
            Evidence::Induction(proof) => {
                let proof = proof.with_names(run.store, system);
                let verdict = check_induction(run, system, &proof, trust);
                clock.phase("check");
                is_valid(verdict, system, run).map(|()| Verdict::Proved(proof))
            }
            Evidence::Saturation(proof) => {
                let proof = proof.with_names(run.store, system);
                let verdict = check_saturation(run, system, &proof, trust);
                clock.phase("check");
                is_valid(verdict, system, run).map(|()| Verdict::Saturated(proof))
            }
            Evidence::Unsat(derivation) => {
                let derivation = view_of(run)?.derivation_back(run, derivation)?;
                let refutation = Refutation::of_graph(run, system, derivation)?;
                clock.phase("way back");
                let verdict = check_refutation(run, system, &refutation);
                clock.phase("check");
                is_valid(verdict, system, run).map(|()| Verdict::Unsat(refutation))
            }
        }
    };
    let found = if options.exchange == Exchanging::Rounds {
        let found = rounds(&contenders, jobs, run, attempt, confirm, || company.end_round());
        found.inspect(|(verdict, engine)| tell(verdict, engine))
    } else {
        company.work(|| race(&contenders, (jobs, options.turns), run, attempt, confirm, tell))
    };
    company.tell_help();
    found
}

/// The reason in the user's terms. An engine shows an unsupported term over variables of its own; this shows the first
/// one of the clauses that needs the same feature.
fn in_clauses(stop: Stop, system: &HornSystem, store: &TermStore) -> Stop {
    let found = system.clauses.iter().enumerate().find_map(|(number, clause)| {
        let atoms = clause.body.iter().chain(&clause.head);
        let mut terms: Vec<Term> = atoms.flat_map(|atom| atom.args.iter().copied()).collect();
        terms.push(clause.constraint);
        let unsupported = supports(store, &terms).err()?;
        unsupported.explains(&stop).then(|| (unsupported.stop(store), system.clause_title(store, number)))
    });
    match found {
        Some((Stop::Unsupported(what), title)) => Stop::Unsupported(format!("{what} of {title}")),
        _ => stop,
    }
}

/// Turns the checker's verdict on the witness of an engine into a `Stop` unless it is valid.
fn is_valid(verdict: check::Validity, system: &HornSystem, run: &Run<'_>) -> Result<(), Stop> {
    match verdict {
        check::Validity::Valid => Ok(()),
        // The engine is right for one interpretation, and does not know that it must hold in every one.
        check::Validity::Invalid(fault @ Fault::Open { .. }) => {
            let fault = fault.display(run.store, system);
            Err(Stop::Unsupported(format!("a refutation that depends on what is left open ({fault})")))
        }
        check::Validity::Invalid(fault) => {
            let fault = fault.display(run.store, system);
            Err(Stop::Internal(format!("the witness of engine {} is wrong: {fault}", run.label())))
        }
        check::Validity::Unknown(stop) => Err(stop),
    }
}

/// The slots that the user names, or else those of the class of the clauses, with their weights.
fn slots(options: &Options, features: &Features, jobs: usize) -> Vec<(Slot, u32)> {
    match &options.engines[..] {
        [] => with_instances(features.class().slots(), jobs),
        chosen => chosen.iter().map(|slot| (slot.clone(), 1)).collect(),
    }
}

/// The engines of these slots that accept the clauses, as far as that is known at the start, and their slots.
fn contenders(
    options: &Options,
    graphs: &Graphs,
    slots: &[(Slot, u32)],
    run: &Run<'_>,
) -> Result<(Vec<Contender>, Vec<Slot>), Stop> {
    let (slots, weights): (Vec<Slot>, Vec<u32>) = slots.iter().cloned().unzip();
    let mut contenders = Vec::new();
    let mut accepted = Vec::new();
    let mut refusal = Stop::Exhausted("there are no engines");
    for ((slot, label), weight) in slots.iter().zip(labels(&slots)).zip(weights) {
        let engine = slot.engine(|engine| set(engine, options));
        match graphs.accepts(&*engine, slot, run) {
            Ok(()) => {
                contenders.push(Contender { label, engine, weight });
                accepted.push(slot.clone());
            }
            Err(stop) => refusal = stop,
        }
    }
    if contenders.is_empty() { Err(refusal) } else { Ok((contenders, accepted)) }
}

/// Tells which engines run, and returns whether they exchange facts.
fn tell_schedule(
    options: &Options,
    features: &Features,
    contenders: &[Contender],
    jobs: usize,
    run: &Run<'_>,
) -> bool {
    let class = if options.engines.is_empty() { features.class().name } else { "chosen by name" };
    let engines = contenders.iter().map(|contender| (contender.label.clone(), contender.weight)).collect();
    run.tell(Event::Schedule { class, why: features.describe(), engines, jobs });
    let exchanges = match options.exchange {
        Exchanging::Auto => !options.engines.is_empty() || features.class().exchanges,
        Exchanging::On | Exchanging::Rounds => true,
        Exchanging::Off => false,
    };
    // An engine by itself has nobody to talk to.
    exchanges && (contenders.len() > 1 || options.outside.is_some())
}

/// The slots of a class, and instances of their engines if there are more places than slots that need one for long.
fn with_instances(mut slots: Vec<(Slot, u32)>, jobs: usize) -> Vec<(Slot, u32)> {
    let texts: Vec<String> = slots.iter().map(|(slot, _)| slot.to_string()).collect();
    let lasting = texts.iter().filter(|text| *text != "invariants").count();
    let more = variants(texts.iter().map(String::as_str)).into_iter().take(jobs.saturating_sub(lasting));
    slots.extend(more.map(|text| (text.parse().expect("a test reads all variants"), 1)));
    slots
}

/// Sets an engine by the options for all of its slots.
fn set(engine: &mut dyn Engine, options: &Options) {
    if let Some(interpolation) = options.interpolation
        && let Some(option) = engine.options().iter_mut().find(|option| option.name == "interpolation")
    {
        assert!(option.set(interpolation.name()), "every engine that interpolates knows every method");
    }
    options.settings.iter().for_each(|setting| setting.apply(engine));
}

/// Reports the duration of each phase, without the time in which the engine waited for its turn.
struct Clock<'a, 'r> {
    run: &'a Run<'r>,
    engine: Option<&'a Label>,
    start: Instant,
}

impl<'a, 'r> Clock<'a, 'r> {
    fn new(run: &'a Run<'r>, engine: Option<&'a Label>) -> Self {
        Clock { run, engine, start: Instant::now() }
    }

    fn phase(&mut self, name: &'static str) {
        let waited = self.run.limits.gate.map_or(Duration::ZERO, Gate::waited);
        let time = self.start.elapsed().saturating_sub(waited);
        self.run.tell(Event::Phase { name, engine: self.engine.cloned(), time });
        self.start = Instant::now();
    }
}
