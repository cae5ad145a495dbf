//! The engines of a run and what connects them.
//!
//! Usually they share a store, and have ports to one log if they exchange facts. In rounds, and if the run is recorded or replayed,
//! they work [apart](super::apart): each engine has a branch of the store, and so has the log. The store itself gets nothing but answers,
//! one after the other, so that these do not depend on timing either.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};

use shofar_engines::{Engine, Evidence, Label, Run};
use shofar_horn::HornGraph;
use shofar_logic::Branch;
use shofar_run::{Limits, Stop};

use super::apart::{Apart, to_origin};
use super::history::{Circumstances, History, Recorder, Recording, Replayed, name_of};
use super::log::{Exchange, Pace};
use super::outside::{Customs, Outside};
use super::text::{Bounds, Texts};
use super::{Exchanging, outside, with_lemmas};
use crate::driver::Options;
use crate::portfolio::Contender;

/// The stores of engines that work apart, and of their log.
pub(crate) struct Branches<'a> {
    log: Branch<'a>,
    engines: Vec<(Label, Branch<'a>)>,
}

impl<'a> Branches<'a> {
    /// The stores of engines, if they have to work apart.
    pub(crate) fn new(run: &Run<'a>, options: &Options, contenders: &[Contender]) -> Option<Self> {
        let is_apart = options.exchange == Exchanging::Rounds || options.history != History::Forget;
        let of_engine = |contender: &Contender| (contender.label.clone(), Branch::of(run.context().store));
        is_apart.then(|| Branches {
            log: Branch::of(run.context().store),
            engines: contenders.iter().map(of_engine).collect(),
        })
    }

    fn of(&self, label: &Label) -> Option<&Branch<'a>> {
        self.engines.iter().find(|(other, _)| other == label).map(|(_, branch)| branch)
    }
}

/// The connection between the engines of a run.
pub(crate) struct Company<'a> {
    run: &'a Run<'a>,
    /// The meeting graph.
    graph: &'a HornGraph,
    exchange: Option<Exchange<'a>>,
    branches: Option<&'a Branches<'a>>,
    recorder: Option<&'a Recorder>,
    recording: Option<&'a Recording>,
    outside: Option<&'a Outside>,
}

/// Ends a thread that looks at a flag now and then, also if the present thread panics.
struct Ending<'a> {
    is_over: &'a AtomicBool,
    thread: Thread,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}

impl<'a> Company<'a> {
    /// The company of these engines on the meeting graph.
    pub(crate) fn new(
        run: &'a Run<'a>,
        branches: Option<&'a Branches<'a>>,
        options: &'a Options,
        graph: &'a HornGraph,
        contenders: &[Contender],
        exchanges: bool,
    ) -> Result<Self, Stop> {
        let mut labels: Vec<Label> = contenders.iter().map(|contender| contender.label.clone()).collect();
        let is_in_rounds = options.exchange == Exchanging::Rounds;
        let circumstances = || {
            let interpolation =
                options.interpolation.map(|method| format!("interpolation={}", method.name()));
            let settings = options.settings.iter().map(|setting| setting.to_string());
            Circumstances::new(
                run.store,
                graph,
                run.seed(),
                interpolation.into_iter().chain(settings).collect(),
            )
        };
        let (mut recorder, mut recording) = (None, None);
        match &options.history {
            History::Forget => {}
            History::Record(to) => {
                to.begin(&circumstances(), &labels);
                recorder = Some(&**to);
            }
            History::Replay(from) => {
                if let Some(difference) = from.difference(&circumstances(), &labels) {
                    return Err(Stop::Unsupported(difference));
                }
                recording = Some(&**from);
            }
        }
        let outside = options.outside.as_deref().filter(|_| exchanges);
        if let Some(outside) = outside {
            outside.set_graph(name_of(run.store, graph));
            labels.push(outside::LABEL.into());
        }
        let pace = if is_in_rounds { Pace::in_rounds(labels.len()) } else { Pace::at_once() };
        let log_run =
            run.clone().with_store(branches.map_or(run.context().store, |branches| branches.log.store()));
        let exchange = exchanges.then(|| Exchange::new(log_run, labels, pace));
        Ok(Company { run, graph, exchange, branches, recorder, recording, outside })
    }

    /// Does the work of the engines, and meanwhile passes facts between them and the outside.
    pub(crate) fn work<T>(&self, work: impl FnOnce() -> T) -> T {
        let member = self.exchange.as_ref().and_then(|exchange| exchange.member(&outside::LABEL.into()));
        let (Some(outside), Some(member)) = (self.outside, member) else { return work() };
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let limits = Limits { cancel: Some(&is_over), memory: None, ..self.run.limits };
            let run = self.run.clone().with_label(outside::LABEL).with_limits(limits);
            let is_over = &is_over;
            let mut customs = Customs::new(run, self.graph, member);
            let builder = thread::Builder::new().name(outside::LABEL.to_owned());
            let spawned = builder.spawn_scoped(scope, move || customs.serve(outside, is_over));
            // Without the thread the run is one without an outside.
            let _ending = spawned.ok().map(|thread| Ending { is_over, thread: thread.thread().clone() });
            work()
        })
    }

    /// Lets an engine solve its graph in the company of others, if it is the meeting graph. The evidence has to be brought [home](Self::home).
    pub(crate) fn solve(
        &self,
        engine: &dyn Engine,
        graph: &HornGraph,
        run: &Run<'_>,
    ) -> Result<Evidence, Stop> {
        let exchange = self.exchange.as_ref().filter(|_| std::ptr::eq(graph, self.graph));
        let member = exchange.and_then(|exchange| exchange.member(run.label()));
        let Some((branches, branch)) = self.branch_of(run.label()) else {
            let run = member.iter().fold(run.clone(), |run, member| run.with_port(member));
            return engine.solve(graph, &run);
        };
        let run = run.clone().with_store(branch.store());
        match (self.recording, member) {
            (Some(recording), _) => {
                let port = Replayed::new(recording, branch.store(), graph);
                Ok(match engine.solve(graph, &run.with_port(&port))? {
                    Evidence::Sat(model) => Evidence::Sat(port.complete(model)),
                    other => other,
                })
            }
            (None, Some(member)) => {
                let stores = [branches.log.store(), branch.store()];
                let port = Apart::new(member, graph, stores, self.recorder);
                engine.solve(graph, &run.with_port(&port))
            }
            (None, None) => engine.solve(graph, &run),
        }
    }

    /// The evidence of an engine in the store of the clauses; a model together with all closed sets that it may depend on.
    pub(crate) fn home(&self, label: &Label, evidence: Evidence) -> Result<Evidence, Stop> {
        let branch = self.branch_of(label);
        let evidence = match branch {
            Some((_, branch)) => to_origin(branch, evidence)?,
            None => evidence,
        };
        let (Evidence::Sat(model), Some(exchange)) = (&evidence, &self.exchange) else { return Ok(evidence) };
        let mut lemmas = exchange.assumed(label);
        if let Some((branches, _)) = branch {
            let texts = |store| Texts { store, graph: self.graph, bounds: Bounds::OWN };
            let [there, here] = [branches.log.store(), self.run.store].map(texts);
            let image = |lemma| here.read_lemma(&there.write_lemma(lemma)?).ok();
            lemmas = lemmas.into_iter().filter_map(image).collect();
        }
        Ok(Evidence::Sat(with_lemmas(self.run.store, model.clone(), lemmas)))
    }

    fn branch_of(&self, label: &Label) -> Option<(&'a Branches<'a>, &'a Branch<'a>)> {
        self.branches.and_then(|branches| Some((branches, branches.of(label)?)))
    }

    /// Ends a round.
    pub(crate) fn end_round(&self) {
        self.exchange.iter().for_each(Exchange::end_round);
    }

    /// Tells who helped whom.
    pub(crate) fn tell_help(&self) {
        self.exchange.iter().flat_map(Exchange::help).for_each(|help| self.run.tell(help));
    }
}
