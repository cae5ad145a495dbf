//! What a caller may choose about solving: engines, transformations, limits, and who listens.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use shofar_cooperate::exchange::Exchanging;
use shofar_cooperate::slot::{Setting, Slot};
use shofar_cooperate::{ModelForm, driver};
use shofar_engines::{Engine, EventSink, InterpolationMethod};
use shofar_run as run;
use shofar_run::OptionError;

/// Bounds on time and memory, and a flag to cancel. Without limits, work goes on until it has a result.
///
/// Work that reaches a limit ends soon after with [`Stop::Interrupted`](crate::Stop::Interrupted).
#[derive(Clone, Copy, Default, Debug)]
pub struct Limits<'a> {
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    memory: Option<usize>,
    cancel: Option<&'a AtomicBool>,
}

impl<'a> Limits<'a> {
    /// No limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends each call after this time, counted from its start.
    pub fn timeout(self, time: Duration) -> Self {
        Limits { timeout: Some(time), ..self }
    }

    /// Ends each call at this moment.
    pub fn deadline(self, moment: Instant) -> Self {
        Limits { deadline: Some(moment), ..self }
    }

    /// Ends work when the process has more than so many bytes of resident memory, if the system tells how many it has.
    pub fn memory(self, bytes: usize) -> Self {
        Limits { memory: Some(bytes), ..self }
    }

    /// Ends work soon after another thread has set the flag.
    pub fn cancel(self, flag: &'a AtomicBool) -> Self {
        Limits { cancel: Some(flag), ..self }
    }

    /// The limits of a call that starts now.
    pub(crate) fn start(&self) -> run::Limits<'a> {
        let end = self.timeout.and_then(|time| Instant::now().checked_add(time));
        let deadline = match (end, self.deadline) {
            (Some(end), Some(deadline)) => Some(end.min(deadline)),
            (end, deadline) => end.or(deadline),
        };
        run::Limits { deadline, memory: self.memory, cancel: self.cancel, ..run::Limits::default() }
    }
}

/// How to solve a system. The default chooses engines by the shape of the clauses and has no limits.
///
/// Names and values are checked where they are given: an engine, option or transformation that does not exist, or a value that
/// an option cannot have, is an [`OptionError`].
///
/// ```
/// use shofar::Options;
/// use shofar::engines::Spacer;
/// use std::time::Duration;
///
/// let mut spacer = Spacer::default();
/// spacer.options.guidance = false;
/// let options = Options::new()
///     .timeout(Duration::from_secs(10))
///     .engine(spacer)?
///     .engines("pdkind,split-tpa:chains=no")?
///     .set("pdkind", "depth", "growing")?
///     .passes("standard,no-inline")?;
///
/// let error = Options::new().engines("spaser").unwrap_err();
/// assert_eq!(error.suggestion(), Some("spacer"));
/// # Ok::<(), shofar::OptionError>(())
/// ```
#[derive(Clone)]
#[must_use = "options do nothing by themselves; `System::solve` takes them"]
pub struct Options<'a> {
    pub(crate) driver: driver::Options,
    pub(crate) limits: Limits<'a>,
    pub(crate) seed: u64,
    pub(crate) events: &'a dyn EventSink,
}

impl Default for Options<'_> {
    fn default() -> Self {
        let driver = driver::Options { model: ModelForm::Readable, ..driver::Options::default() };
        Options { driver, limits: Limits::new(), seed: 0, events: &() }
    }
}

impl<'a> Options<'a> {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs this engine, one of [`engines`](crate::engines), beside those that were named before. It runs as its fields say: no
    /// other setting changes them. A field that is out of range is an error.
    pub fn engine(mut self, engine: impl Engine) -> Result<Self, OptionError> {
        self.driver.engines.push(Slot::of(engine)?);
        Ok(self)
    }

    /// Runs these engines, separated by commas, beside those that were named before. An engine may have settings, as in
    /// `spacer,pdkind:depth=growing`.
    pub fn engines(mut self, names: &str) -> Result<Self, OptionError> {
        for name in names.split(',') {
            self.driver.engines.push(name.parse()?);
        }
        Ok(self)
    }

    /// Sets an option of an engine, wherever the engine runs. A setting of [`engine`](Options::engine) or
    /// [`engines`](Options::engines) counts more.
    pub fn set(mut self, engine: &str, option: &str, value: &str) -> Result<Self, OptionError> {
        self.driver.settings.push(Setting::new(engine, option, value)?);
        Ok(self)
    }

    /// Applies these transformations before solving, separated by commas, instead of the standard ones. `standard` stands for
    /// those, and `no-NAME` removes one from the names before it.
    pub fn passes(mut self, names: &str) -> Result<Self, OptionError> {
        self.driver.passes = Some(names.parse()?);
        Ok(self)
    }

    /// Makes all engines interpolate by this method, apart from those with a setting of their own.
    pub fn interpolation(mut self, method: InterpolationMethod) -> Self {
        self.driver.interpolation = Some(method);
        self
    }

    /// Runs at most so many engines at the same time; by default as many as the machine has cores. Engines beyond that take
    /// turns.
    pub fn jobs(mut self, jobs: NonZeroUsize) -> Self {
        self.driver.jobs = Some(jobs.get());
        self
    }

    /// Whether engines tell each other what they learn; by default where it pays. In rounds the same call gives the same answer with
    /// the same witness.
    pub fn exchange(mut self, exchange: Exchanging) -> Self {
        self.driver.exchange = exchange;
        self
    }

    /// Replays the SMT solver's proofs when a model is checked. By default the checker trusts the solver.
    pub fn validate(mut self, validate: bool) -> Self {
        self.driver.validate = validate;
        self
    }

    /// Simplifies models for people, and checks the simplified form; the default. Without it, nothing is spent on that.
    pub fn readable(mut self, readable: bool) -> Self {
        self.driver.model = if readable { ModelForm::Readable } else { ModelForm::Plain };
        self
    }

    /// Sets the seed by which engines choose at random and the SMT solver breaks ties.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Reports what happens to a listener, from any thread. A closure with one argument is a listener.
    pub fn events(mut self, listener: &'a dyn EventSink) -> Self {
        self.events = listener;
        self
    }

    /// Sets all limits.
    pub fn limits(mut self, limits: Limits<'a>) -> Self {
        self.limits = limits;
        self
    }

    /// Gives up after this time, counted from the call of [`System::solve`](crate::System::solve).
    pub fn timeout(mut self, time: Duration) -> Self {
        self.limits = self.limits.timeout(time);
        self
    }

    /// Gives up when the process has more than so many bytes of resident memory.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.limits = self.limits.memory(bytes);
        self
    }

    /// Gives up soon after another thread has set the flag.
    pub fn cancel(mut self, flag: &'a AtomicBool) -> Self {
        self.limits = self.limits.cancel(flag);
        self
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { driver, limits, seed, events: _ } = self;
        let mut text = f.debug_struct("Options");
        text.field("driver", driver).field("limits", limits).field("seed", seed).finish_non_exhaustive()
    }
}
