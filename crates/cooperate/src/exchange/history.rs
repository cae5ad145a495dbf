//! The history of a run with exchange: written by a recorder, and replayed for one engine.
//!
//! A run in which engines tell each other what they learn depends on timing. A recording has what each engine received at each of its
//! import points, so that a bug of such a run can be debugged in one thread: the engine alone, with the same facts at the same points,
//! does the same search. Engines of recorded and replayed runs work apart, each in a branch of the store.
//!
//! A recording is a file with a JSON object on each line: first a header, then the import points at which an engine got something.
//!
//! ```json
//! {"recording":1,"version":"0.4.0","task":"5f0c…","seed":0,"settings":[],"engines":["invariants","spacer"]}
//! {"engine":"spacer","point":7,"facts":[{"id":3,"fact":{"k":"depth","h":12}}],"assumed":[{"p":0,"a":["Int"],"f":"(>= x0 0)"}]}
//! ```
//!
//! `assumed` has the formulas that the engine depends on from now on (rule E4), apart from those of earlier points.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};
use shofar_engines::{Fact, FactId, Fate, Label, Port};
use shofar_horn::HornGraph;
use shofar_horn::transform::Lemma;
use shofar_horn::witness::GraphModel;
use shofar_logic::TermStore;

use super::text::{Bounds, Texts};
use super::with_lemmas;

/// The format that this program writes and reads.
const FORMAT: u64 = 1;

/// What to do with the history of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum History {
    /// Nothing.
    #[default]
    Forget,
    /// Record it.
    Record(Arc<Recorder>),
    /// Run one engine with the facts that it received in a recorded run.
    Replay(Arc<Recording>),
}

/// What a recording is about. Only a run with the same circumstances does the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Circumstances {
    /// The [name](name_of) of the graph of the clauses after the transformations.
    task: String,
    seed: u64,
    /// The settings of engines that labels do not show.
    settings: Vec<String>,
}

impl Circumstances {
    pub(crate) fn new(store: &TermStore, graph: &HornGraph, seed: u64, settings: Vec<String>) -> Self {
        Circumstances { task: name_of(store, graph), seed, settings }
    }
}

/// A name of a graph. Graphs with the same name are the same, in stores of the same history.
pub(super) fn name_of(store: &TermStore, graph: &HornGraph) -> String {
    let mut hasher = DefaultHasher::new();
    for (_, edge) in graph.edges() {
        store.display(edge.label()).to_string().hash(&mut hasher);
        let nodes = edge.sources().iter().copied().chain(edge.target());
        nodes.for_each(|node| node.index().hash(&mut hasher));
    }
    format!("{:016x}", hasher.finish())
}

/// Writes a recording.
pub struct Recorder(Mutex<Writing>);

struct Writing {
    out: Box<dyn Write + Send>,
    /// By engines: the number of import points so far, and what was written of what they assume.
    engines: FxHashMap<Label, (usize, FxHashSet<String>)>,
    error: Option<io::Error>,
}

impl Recorder {
    /// A recorder that writes here.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Recorder(Mutex::new(Writing { out: Box::new(out), engines: FxHashMap::default(), error: None }))
    }

    /// The first error of writing, if there was one; the recording is of no use then.
    pub fn error(&self) -> Option<io::Error> {
        self.writing().error.take()
    }

    fn writing(&self) -> std::sync::MutexGuard<'_, Writing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a run of these engines.
    pub(crate) fn begin(&self, circumstances: &Circumstances, engines: &[Label]) {
        let Circumstances { task, seed, settings } = circumstances;
        let engines: Vec<&str> = engines.iter().map(|label| &**label).collect();
        let version = env!("CARGO_PKG_VERSION");
        self.writing().line(&json!({
            "recording": FORMAT, "version": version, "task": task, "seed": seed, "settings": settings, "engines": engines,
        }));
    }

    /// An import point of an engine.
    pub(super) fn received(&self, engine: &Label, facts: &[(FactId, Value)], assumed: Vec<Value>) {
        let mut writing = self.writing();
        let (points, written) = writing.engines.entry(engine.clone()).or_default();
        let point = *points;
        *points += 1;
        if facts.is_empty() {
            return;
        }
        let assumed: Vec<Value> =
            assumed.into_iter().filter(|lemma| written.insert(lemma.to_string())).collect();
        let facts: Vec<Value> = facts.iter().map(|(id, fact)| json!({"id": id.0, "fact": fact})).collect();
        writing.line(&json!({"engine": &**engine, "point": point, "facts": facts, "assumed": assumed}));
    }
}

impl Writing {
    fn line(&mut self, object: &Value) {
        // Each line goes out at once: the run may end by a crash, and then it is needed most.
        let written = writeln!(self.out, "{object}").and_then(|()| self.out.flush());
        if let Err(error) = written {
            self.error.get_or_insert(error);
        }
    }
}

/// A recorder equals itself only.
impl PartialEq for Recorder {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Recorder {}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

/// A recording that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    circumstances: Circumstances,
    /// The engine to replay.
    engine: String,
    /// Its import points, by their numbers.
    points: FxHashMap<usize, Point>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Point {
    facts: Vec<(FactId, Value)>,
    assumed: Vec<Value>,
}

impl Recording {
    /// Reads what a recorder has written, for one of its engines. The error says what is wrong.
    pub fn read(text: &str, engine: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate().map(|(number, line)| {
            let object: Result<Value, _> = serde_json::from_str(line);
            object.map(|object| (number + 1, object)).map_err(|error| format!("line {}: {error}", number + 1))
        });
        let (_, header) = lines.next().ok_or("the recording is empty")??;
        let texts = |name: &str| -> Option<Vec<String>> {
            header[name].as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let read = || {
            let task = header["task"].as_str()?.to_owned();
            let circumstances =
                Circumstances { task, seed: header["seed"].as_u64()?, settings: texts("settings")? };
            Some((circumstances, texts("engines")?))
        };
        if header["recording"] != FORMAT {
            return Err("it is not a recording".to_owned());
        }
        if header["version"] != env!("CARGO_PKG_VERSION") {
            return Err(format!("it was recorded by another version, {}", header["version"]));
        }
        let (circumstances, engines) = read().ok_or("line 1: the header is not complete")?;
        if !engines.iter().any(|other| other == engine) {
            return Err(format!("`{engine}` has not taken part; the engines are {}", engines.join(", ")));
        }
        let mut points = FxHashMap::default();
        for line in lines {
            let (number, object) = line?;
            if object["engine"] != engine {
                continue;
            }
            let fact = |fact: &Value| {
                let id = fact["id"].as_u64().and_then(|id| u32::try_from(id).ok())?;
                Some((FactId(id), fact["fact"].clone()))
            };
            let facts = object["facts"].as_array().and_then(|facts| facts.iter().map(fact).collect());
            let (Some(point), Some(facts), Some(assumed)) =
                (object["point"].as_u64(), facts, object["assumed"].as_array())
            else {
                return Err(format!("line {number}: it is not an import point"));
            };
            points.insert(point as usize, Point { facts, assumed: assumed.clone() });
        }
        Ok(Recording { circumstances, engine: engine.to_owned(), points })
    }

    /// Why a run of these engines is not the recorded one of the engine, if it is not.
    pub(crate) fn difference(&self, circumstances: &Circumstances, engines: &[Label]) -> Option<String> {
        let Recording { circumstances: recorded, engine, .. } = self;
        let difference = if !matches!(engines, [only] if **only == **engine) {
            "the run is not one of this engine alone"
        } else if recorded.task != circumstances.task {
            "the recording is about other clauses, or they were transformed otherwise"
        } else if recorded.seed != circumstances.seed {
            "the recording has another seed"
        } else if recorded.settings != circumstances.settings {
            "the recording has other settings of engines"
        } else {
            return None;
        };
        Some(format!("replaying `{engine}`: {difference}"))
    }
}

/// The port of an engine that gets recorded facts. It makes the same terms, in the same order, as [`Apart`](super::apart::Apart) does.
pub(crate) struct Replayed<'a> {
    recording: &'a Recording,
    texts: Texts<'a>,
    /// The next import point.
    next: AtomicUsize,
    /// The closed sets that the engine has sent.
    sent: Mutex<Vec<Lemma>>,
    /// Whether the engine had to fall silent.
    is_mute: AtomicBool,
}

impl<'a> Replayed<'a> {
    /// A port for an engine on this graph, whose terms are in this store.
    pub(crate) fn new(recording: &'a Recording, store: &'a TermStore, graph: &'a HornGraph) -> Self {
        let texts = Texts { store, graph, bounds: Bounds::OWN };
        let (next, is_mute) = (AtomicUsize::new(0), AtomicBool::new(false));
        Replayed { recording, texts, next, sent: Mutex::default(), is_mute }
    }

    /// The model of the engine, with all that it may depend on.
    pub(crate) fn complete(&self, model: GraphModel) -> GraphModel {
        let reached = self.next.load(Ordering::Relaxed);
        let points = self.recording.points.iter().filter(|&(&point, _)| point < reached);
        let received = points.flat_map(|(_, point)| &point.assumed);
        let received = received.filter_map(|lemma| self.texts.read_lemma(lemma).ok());
        let mut lemmas: Vec<Lemma> = received.collect();
        lemmas.extend(self.sent.lock().unwrap_or_else(PoisonError::into_inner).iter());
        with_lemmas(self.texts.store, model, lemmas)
    }
}

impl Port for Replayed<'_> {
    fn send(&self, fact: Fact) {
        if self.is_mute.load(Ordering::Relaxed) {
            return;
        }
        let has_text = self.texts.write(&fact).is_some();
        if let Fact::Closed(set) = fact {
            self.is_mute.store(!has_text, Ordering::Relaxed);
            self.sent.lock().unwrap_or_else(PoisonError::into_inner).extend(set);
        }
    }

    fn receive(&self) -> Vec<(FactId, Fact)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(point) = self.recording.points.get(&number) else { return Vec::new() };
        let read = |(id, fact): &(FactId, Value)| Some((*id, self.texts.read(fact).ok()?));
        point.facts.iter().filter_map(read).collect()
    }

    fn rate(&self, _: FactId, _: Fate) {}
}
