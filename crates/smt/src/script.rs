//! Executes SMT-LIB scripts: the interface of the solver for other programs.
//!
//! A [`Script`] executes one command after the other and writes the answers. It answers an error with `(error "...")`
//! and continues; the wrong command has no effect. If that command was meant to change the formula, the formula is no
//! longer the user's, and `check-sat` answers `unknown`, never a verdict about another formula. This lasts as long as the
//! effect of the command would have lasted: a failed assertion until its level is popped or the assertions are reset, a
//! failed declaration until its level is popped, a failed `push`, `pop` or unknown command until `reset`.
//!
//! [`Commands`] splits a stream into commands, so that a command is answered as soon as its last parenthesis arrives.

use std::cmp::Ordering;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Write};

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::smtlib::{
    Declaration, DisplaySymbol, Environment, Lexer, Reader, SyntaxError, Theories, Token,
};
use shofar_logic::{
    Assignment, EvalError, Fun, Interpretation, Magnitudes, Op, Sort, Symbol, Term, TermStore, Value,
};
use shofar_run::{Limits, Reason};

use crate::groups;
use crate::interpolate::{self, Interpolator};
use crate::options::{self, Flag, Number, Options, Refusal};
use crate::project::{self, Bounds, Elimination, Status};
use crate::proof::{Part, Proof, write_alethe};
use crate::purify::Unsupported;
use crate::sat::Outcome;
use crate::solver::Solver;

/// The greatest number of bits of a number. Larger ones would take too long to compute with.
const MOST_BITS: u64 = 1 << 22;

/// Whether to continue the script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Read the next command.
    Continue,
    /// The script executed `exit`.
    Exit,
}

/// A script being executed.
pub struct Script<'a> {
    store: &'a TermStore,
    environment: Environment,
    magnitudes: Magnitudes,
    /// The logic, once it is set.
    logic: Option<String>,
    solver: Solver<'a>,
    frames: Vec<Frame>,
    /// The assertions of the innermost frame that the solver does not have yet.
    pending: Vec<(Term, Part)>,
    options: Options,
    /// The file that answers go to, if it is not the output of the caller.
    channel: Option<File>,
    /// The number of asserted formulas: each is its own part in proofs.
    assertions: u32,
    state: State,
    /// The mistake in the text of the last command.
    mistake: Option<SyntaxError>,
}

/// The assertions and declarations of one level.
#[derive(Default)]
struct Frame {
    assertions: Vec<Term>,
    /// Assertions with a name that may occur in a core: they are assumed, not asserted.
    named: Vec<(Symbol, Term)>,
    /// With interpolants, the parts of assertions, and their names.
    parts: Vec<(Part, Option<Symbol>)>,
    /// The formulas inside of assertions that have a name.
    labels: Vec<(Symbol, Term)>,
    declared: Vec<Fun>,
    /// The first assertion that the solver does not support.
    unsupported: Option<Unsupported>,
    /// The error message of the first failed assertion.
    unasserted: Option<String>,
    /// The error message of the first failed command that would have changed more than the assertions of the frame:
    /// declarations, or in the first frame the number of levels.
    lost: Option<String>,
}

/// The result of the last query, if nothing has changed since.
enum State {
    Open,
    Sat { assumptions: Vec<Term> },
    Unsat { assumptions: Vec<Term> },
    Unknown(String),
}

/// Why a command is not executed.
enum Failure {
    Message(String),
    /// A mistake at a place in the text of the command.
    Syntax(SyntaxError),
    /// Answered with `unsupported`.
    Unsupported,
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

impl From<SyntaxError> for Failure {
    fn from(error: SyntaxError) -> Self {
        Failure::Syntax(error)
    }
}

type Result<T> = std::result::Result<T, Failure>;

fn failure<T>(message: impl Into<String>) -> Result<T> {
    Err(Failure::Message(message.into()))
}

impl<'a> Script<'a> {
    /// A script without commands.
    pub fn new(store: &'a TermStore) -> Self {
        Script {
            store,
            environment: Environment::new(store),
            magnitudes: Magnitudes::default(),
            logic: None,
            solver: Solver::new(store),
            frames: vec![Frame::default()],
            pending: Vec::new(),
            options: Options::default(),
            channel: None,
            assertions: 0,
            state: State::Open,
            mistake: None,
        }
    }

    /// The mistake in the last command, with its place in the text of that command; none if the text was understood.
    pub fn mistake(&self) -> Option<&SyntaxError> {
        self.mistake.as_ref()
    }

    /// Executes one command and writes its answer.
    pub fn execute(
        &mut self,
        command: &[u8],
        limits: &Limits<'_>,
        out: &mut impl Write,
    ) -> io::Result<Progress> {
        if self.channel.is_none() {
            return self.execute_to(command, limits, out);
        }
        // The command may change the channel.
        let mut answer = Vec::new();
        let progress = self.execute_to(command, limits, &mut answer)?;
        match &mut self.channel {
            Some(file) => file.write_all(&answer)?,
            None => out.write_all(&answer)?,
        }
        Ok(progress)
    }

    fn execute_to(
        &mut self,
        command: &[u8],
        limits: &Limits<'_>,
        out: &mut impl Write,
    ) -> io::Result<Progress> {
        let executed = self.command(command, limits, out);
        self.mistake = match &executed {
            Err(Failure::Syntax(error)) => Some(error.clone()),
            _ => None,
        };
        match executed {
            Ok(progress) => Ok(progress),
            Err(Failure::Output(error)) => Err(error),
            Err(Failure::Message(message) | Failure::Syntax(SyntaxError { message, .. })) => {
                writeln!(out, "(error \"{}\")", message.replace('"', "\"\""))?;
                self.remember_failure(command, message);
                Ok(Progress::Continue)
            }
            Err(Failure::Unsupported) => {
                writeln!(out, "unsupported")?;
                Ok(Progress::Continue)
            }
        }
    }

    /// Remembers a failed command that would have changed the formula, in the frame whose end undoes what is missing.
    fn remember_failure(&mut self, command: &[u8], message: String) {
        let Some(name) = changing_command(command) else { return };
        self.state = State::Open;
        let is_declaration = name.starts_with("declare-") || name.starts_with("define-");
        if name == "assert" {
            self.frame().unasserted.get_or_insert(message);
        } else if is_declaration && !self.options.has(Flag::GlobalDeclarations) {
            self.frame().lost.get_or_insert(message);
        } else {
            // After a failed `push` or `pop`, the next `pop` ends another level than the script means.
            self.frames[0].lost.get_or_insert(message);
        }
    }

    fn command(&mut self, text: &[u8], limits: &Limits<'_>, out: &mut impl Write) -> Result<Progress> {
        let store = self.store;
        if Lexer::new(text).next_token() == Ok(Token::End) {
            return Ok(Progress::Continue);
        }
        let awaits_datatypes = self.environment.awaits_datatypes();
        let mut reader = Reader::new(store, &mut self.environment, text);
        let name = match reader.command() {
            Err(error) if awaits_datatypes && !reader.environment().awaits_datatypes() => {
                // The mistake is in an earlier command, and its declarations are missing from now on.
                self.state = State::Open;
                self.frames[0].lost.get_or_insert_with(|| error.message.clone());
                return failure(error.message);
            }
            name => name?,
        };
        let Some(name) = name else { return Ok(Progress::Continue) };
        tracing::debug!(name, "command");
        match name {
            "exit" => {
                reader.close()?;
                return Ok(Progress::Exit);
            }
            "set-logic" => {
                let logic = reader.symbol()?;
                reader.close()?;
                self.set_logic(logic)?;
            }
            "set-info" => reader.skip_rest()?,
            "set-option" => {
                let name = reader.keyword()?;
                reader.skip_rest()?;
                self.set_option(name, options::Value::read(text))?;
            }
            "get-option" => {
                let name = reader.keyword()?;
                reader.close()?;
                let value = self.options.get(name).ok_or(Failure::Unsupported)?;
                writeln!(out, "{value}")?;
                return Ok(Progress::Continue);
            }
            "echo" => {
                let text = reader.string()?;
                reader.close()?;
                writeln!(out, "\"{text}\"")?;
                return Ok(Progress::Continue);
            }
            "assert" => {
                let formula = reader.formula()?;
                reader.close()?;
                check_magnitude(&mut self.magnitudes, store, &[formula])?;
                let named = reader.take_named();
                let name = named.iter().find(|&&(_, term)| term == formula).map(|&(name, _)| name);
                self.frame()
                    .labels
                    .extend(named.into_iter().filter(|&(_, term)| store.sort_of(term) == Sort::BOOL));
                self.assert(formula, name);
            }
            "push" | "pop" => {
                let count = reader.optional_numeral()?.unwrap_or(1);
                reader.close()?;
                if name == "push" { self.push(count) } else { self.pop(count)? }
            }
            "check-sat" => {
                reader.close()?;
                self.check(Vec::new(), limits, out)?;
                return Ok(Progress::Continue);
            }
            "check-sat-assuming" => {
                let assumptions = reader.terms()?;
                reader.close()?;
                check_magnitude(&mut self.magnitudes, store, &assumptions)?;
                if assumptions.iter().any(|&term| store.sort_of(term) != Sort::BOOL) {
                    return failure("assumptions must be formulas");
                }
                self.check(assumptions, limits, out)?;
                return Ok(Progress::Continue);
            }
            "get-value" => {
                let terms = reader.terms()?;
                reader.close()?;
                check_magnitude(&mut self.magnitudes, store, &terms)?;
                self.get_value(&terms, out)?;
                return Ok(Progress::Continue);
            }
            "get-interpolants" => {
                reader.skip_rest()?;
                self.get_interpolants(text, limits, out)?;
                return Ok(Progress::Continue);
            }
            "get-projection" => {
                let (vars, formula) = (reader.terms()?, reader.formula()?);
                reader.close()?;
                check_magnitude(&mut self.magnitudes, store, &[formula])?;
                self.get_projection(&vars, formula, out)?;
                return Ok(Progress::Continue);
            }
            "get-qe" => {
                let formula = reader.formula()?;
                reader.close()?;
                check_magnitude(&mut self.magnitudes, store, &[formula])?;
                self.get_qe(formula, limits, out)?;
                return Ok(Progress::Continue);
            }
            "get-info" => {
                let keyword = reader.keyword()?;
                reader.close()?;
                self.get_info(keyword, out)?;
                return Ok(Progress::Continue);
            }
            "get-assignment"
            | "get-model"
            | "get-unsat-core"
            | "get-unsat-assumptions"
            | "get-assertions"
            | "get-proof" => {
                reader.close()?;
                match name {
                    "get-assignment" => self.get_assignment(out)?,
                    "get-model" => self.get_model(out)?,
                    "get-unsat-core" => self.get_unsat_core(out)?,
                    "get-unsat-assumptions" => self.get_unsat_assumptions(out)?,
                    "get-proof" => self.get_proof(out)?,
                    _ => self.get_assertions(out)?,
                }
                return Ok(Progress::Continue);
            }
            "reset" => {
                reader.close()?;
                *self = Script::new(store);
            }
            "reset-assertions" => {
                reader.close()?;
                let Frame { declared, lost, .. } = std::mem::take(&mut self.frames[0]);
                if !self.options.has(Flag::GlobalDeclarations) {
                    (1..self.frames.len()).for_each(|_| self.environment.pop());
                }
                self.frames = vec![Frame { declared, lost, ..Frame::default() }];
                self.pending.clear();
                self.solver = new_solver(store, &self.options);
                self.assertions = 0;
                self.state = State::Open;
            }
            _ => match reader.declaration(name)? {
                Some(Declaration::Fun(fun)) if self.options.has(Flag::GlobalDeclarations) => {
                    self.frames[0].declared.push(fun);
                }
                Some(Declaration::Fun(fun)) => self.frame().declared.push(fun),
                Some(_) => {}
                None => return failure(format!("unknown command `{name}`")),
            },
        }
        if self.options.has(Flag::PrintSuccess) {
            writeln!(out, "success")?;
        }
        Ok(Progress::Continue)
    }

    /// All counters of the solver, by name.
    pub fn statistics(&self) -> Vec<(&'static str, u64)> {
        self.solver.all_statistics()
    }

    /// Restricts the predefined names to those of the logic. Declarations read before do not know the logic, so it must
    /// come first. An unknown logic is `unsupported`, and all theories keep their names.
    fn set_logic(&mut self, name: &str) -> Result<()> {
        if let Some(logic) = &self.logic {
            return failure(format!("the logic is {logic} already"));
        }
        let frame = &self.frames[0];
        if self.frames.len() > 1 || !frame.assertions.is_empty() || !self.environment.is_pristine() {
            return failure("the logic must be set before the first declaration and assertion");
        }
        let theories = Theories::of_logic(name).ok_or(Failure::Unsupported)?;
        self.environment = Environment::with_theories(self.store, theories);
        self.logic = Some(name.to_owned());
        Ok(())
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("there is always a frame")
    }

    fn assert(&mut self, formula: Term, name: Option<Symbol>) {
        self.state = State::Open;
        self.frame().assertions.push(formula);
        if let Some(name) = name.filter(|_| self.options.has(Flag::UnsatCores)) {
            self.frame().named.push((name, formula));
            return;
        }
        self.assertions += 1;
        let part = Part(self.assertions);
        if !self.options.has(Flag::Interpolants) {
            self.pending.push((formula, part));
            return;
        }
        // Symbols are not replaced, because interpolants must use the symbols of the groups of assertions.
        self.frame().parts.push((part, name));
        if let Err(unsupported) = self.solver.assert_in(formula, part) {
            self.frame().unsupported.get_or_insert(unsupported);
        }
    }

    /// Asserts all pending formulas, which are of the innermost frame, at once.
    fn flush(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        if let Err(unsupported) = self.solver.assert_all_in(&pending) {
            self.frame().unsupported.get_or_insert(unsupported);
        }
    }

    /// Sets an option. Some are about all assertions, so that the solver is made anew with them.
    fn set_option(&mut self, name: &str, value: options::Value<'_>) -> Result<()> {
        let is_early = Options::is_early(name);
        if is_early && (self.frames.len() > 1 || !self.frames[0].assertions.is_empty()) {
            return failure(format!("`{name}` must be set before the first assertion"));
        }
        let before = self.options.regular_channel().to_owned();
        self.options.set(name, value).map_err(|refusal| match refusal {
            Refusal::Unknown => Failure::Unsupported,
            Refusal::Value(message) => Failure::Message(message),
        })?;
        let channel = self.options.regular_channel();
        if channel != before {
            match open_channel(channel) {
                Ok(opened) => self.channel = opened,
                Err(error) => {
                    let message = format!("cannot write to {channel}: {error}");
                    self.options.set(name, options::Value::String(&before)).expect("it was the value before");
                    return failure(message);
                }
            }
        }
        if is_early {
            self.solver = new_solver(self.store, &self.options);
            self.state = State::Open;
        }
        Ok(())
    }

    fn push(&mut self, count: usize) {
        self.state = State::Open;
        self.flush();
        for _ in 0..count {
            self.solver.push();
            if !self.options.has(Flag::GlobalDeclarations) {
                self.environment.push();
            }
            self.frames.push(Frame::default());
        }
    }

    fn pop(&mut self, count: usize) -> Result<()> {
        if count >= self.frames.len() {
            return failure(format!("cannot pop {count} of {} levels", self.frames.len() - 1));
        }
        self.state = State::Open;
        if count > 0 {
            // They belong to the innermost frame.
            self.pending.clear();
        }
        for _ in 0..count {
            self.solver.pop();
            if !self.options.has(Flag::GlobalDeclarations) {
                self.environment.pop();
            }
            self.frames.pop();
        }
        Ok(())
    }

    fn check(&mut self, assumptions: Vec<Term>, limits: &Limits<'_>, out: &mut impl Write) -> Result<()> {
        self.flush();
        let named = self.frames.iter().flat_map(|frame| frame.named.iter().map(|&(_, term)| term));
        let all: Vec<Term> = named.chain(assumptions.iter().copied()).collect();
        if let Some(message) =
            self.frames.iter().find_map(|frame| frame.lost.as_ref().or(frame.unasserted.as_ref()))
        {
            self.state = State::Unknown(format!("a command failed: {message}"));
            return Ok(writeln!(out, "unknown")?);
        }
        let unsupported = self.frames.iter().find_map(|frame| frame.unsupported);
        let outcome = match unsupported {
            Some(unsupported) => Err(unsupported),
            None => {
                let all: Vec<(Term, Part)> = std::iter::zip(all, assumed_parts()).collect();
                let most = self.options.number(Number::ResourceLimit);
                let conflicts = (most > 0).then_some(most).or(limits.conflicts);
                self.solver.check_in(&all, &Limits { conflicts, ..*limits })
            }
        };
        if self.options.has(Flag::MinimalCores) && matches!(outcome, Ok(Outcome::Unsat)) {
            self.solver.minimize_core(limits);
        }
        self.state = match outcome {
            Ok(Outcome::Sat) => State::Sat { assumptions },
            Ok(Outcome::Unsat) => State::Unsat { assumptions },
            Ok(Outcome::Unknown(reason)) => State::Unknown(words(reason).to_owned()),
            Err(Unsupported { term, feature }) => {
                State::Unknown(format!("{feature}: not supported, as in {}", self.store.display(term)))
            }
        };
        let answer = match self.state {
            State::Sat { .. } => "sat",
            State::Unsat { .. } => "unsat",
            State::Open | State::Unknown(_) => "unknown",
        };
        Ok(writeln!(out, "{answer}")?)
    }

    /// Values for the symbols of all assertions and assumptions, and of the given terms.
    fn model(&self, terms: &[Term]) -> Result<Assignment> {
        let State::Sat { assumptions } = &self.state else {
            return failure("a model is there after the answer sat only");
        };
        if !self.options.has(Flag::Models) {
            return failure("models need the option :produce-models");
        }
        let asserted = self.frames.iter().flat_map(|frame| frame.assertions.iter().copied());
        let all: Vec<Term> =
            asserted.chain(assumptions.iter().copied()).chain(terms.iter().copied()).collect();
        Ok(self.solver.model(&all))
    }

    fn get_model(&self, out: &mut impl Write) -> Result<()> {
        let store = self.store;
        let declared: Vec<Fun> = self.frames.iter().flat_map(|frame| &frame.declared).copied().collect();
        let constants = declared.iter().filter_map(|&fun| store.apply(fun, &[]).ok());
        let model = self.model(&constants.collect::<Vec<Term>>())?;
        writeln!(out, "(")?;
        for fun in declared {
            let decl = store.fun_decl(fun);
            let (name, range) = (store.display_symbol(decl.name), store.display_sort(decl.range));
            let parameters = decl.domain.iter().enumerate();
            let parameters = parameters.map(|(i, &sort)| format!("(x!{i} {})", store.display_sort(sort)));
            writeln!(
                out,
                "  (define-fun {name} ({}) {range} {})",
                joined(parameters),
                self.body(&model, fun)
            )?;
        }
        Ok(writeln!(out, ")")?)
    }

    /// The definition of a declared function in a model, as a term over the parameters `x!0`, `x!1`, ...
    fn body(&self, model: &Assignment, fun: Fun) -> String {
        let store = self.store;
        let written = |value: &Value| DisplayValue { store, value }.to_string();
        let decl = store.fun_decl(fun);
        if let Ok(constant) = store.apply(fun, &[])
            && let Some(value) = model.get(constant)
        {
            return written(value);
        }
        let otherwise = store.default_value(decl.range);
        let Some(Interpretation::Table { entries, default }) = model.function(fun) else {
            return written(&otherwise);
        };
        let otherwise = default.as_ref().unwrap_or(&otherwise);
        let mut lines: Vec<(&[Value], &Value)> =
            entries.iter().map(|(args, value)| (&**args, value)).filter(|line| line.1 != otherwise).collect();
        lines.sort_by(|(a, _), (b, _)| {
            let orders = std::iter::zip(*a, *b).map(|(a, b)| store.compare_values(a, b));
            orders.fold(Ordering::Equal, Ordering::then)
        });
        let mut body = String::new();
        for (args, value) in &lines {
            let tests = args.iter().enumerate().map(|(i, arg)| format!("(= x!{i} {})", written(arg)));
            let test = match args {
                [_] => joined(tests),
                _ => format!("(and {})", joined(tests)),
            };
            body.push_str(&format!("(ite {test} {} ", written(value)));
        }
        body.push_str(&written(otherwise));
        body.push_str(&")".repeat(lines.len()));
        body
    }

    /// Prints the truth values of the formulas that have names.
    fn get_assignment(&self, out: &mut impl Write) -> Result<()> {
        if !self.options.has(Flag::Assignments) {
            return failure("assignments need the option :produce-assignments");
        }
        let labels: Vec<(Symbol, Term)> =
            self.frames.iter().flat_map(|frame| &frame.labels).copied().collect();
        let model = self.model(&labels.iter().map(|&(_, term)| term).collect::<Vec<Term>>())?;
        let pairs = labels.iter().filter_map(|&(name, term)| match self.store.eval(term, &model) {
            Ok(Value::Bool(truth)) => Some(format!("({} {truth})", self.store.display_symbol(name))),
            // A formula below a quantifier has no value outside of it.
            _ => None,
        });
        Ok(writeln!(out, "({})", joined(pairs))?)
    }

    fn get_value(&self, terms: &[Term], out: &mut impl Write) -> Result<()> {
        let store = self.store;
        let model = self.model(terms)?;
        let mut answer = String::new();
        for (position, &term) in terms.iter().enumerate() {
            let value = store.eval(term, &model);
            let value =
                value.map_err(|error: EvalError| Failure::Message(error.display(store).to_string()))?;
            let space = if position == 0 { "" } else { "\n " };
            let value = DisplayValue { store, value: &value };
            answer.push_str(&format!("{space}({} {value})", store.display(term)));
        }
        Ok(writeln!(out, "({answer})")?)
    }

    /// Prints a formula without the variables that is true in the model and implies that some values of the variables
    /// make `formula` true.
    fn get_projection(&self, vars: &[Term], formula: Term, out: &mut impl Write) -> Result<()> {
        let model = self.model(&[formula])?;
        match project::project(self.store, formula, &model, vars) {
            Ok(projection) => Ok(writeln!(out, "{}", self.store.display(projection.formula(self.store)))?),
            Err(error) => failure(error.display(self.store).to_string()),
        }
    }

    /// Prints a quantifier-free formula that is equivalent to the quantified one.
    fn get_qe(&self, formula: Term, limits: &Limits<'_>, out: &mut impl Write) -> Result<()> {
        let store = self.store;
        let bounds = Bounds { limits: *limits, ..Bounds::default() };
        let result = match store.view(formula) {
            (Op::Exists, [vars @ .., body]) => project::eliminate(store, *body, vars, &bounds),
            (Op::Forall, [vars @ .., body]) => project::eliminate_forall(store, *body, vars, &bounds),
            _ => return failure("`get-qe` wants a formula with a quantifier in front"),
        };
        match result {
            Ok(Elimination { formula, status: Status::Complete, .. }) => {
                Ok(writeln!(out, "{}", store.display(formula))?)
            }
            Ok(Elimination { status: Status::TooManyDisjuncts, .. }) => failure("there are too many cases"),
            Ok(Elimination { status: Status::Unknown(reason), .. }) => failure(words(reason)),
            Err(error) => failure(error.display(store).to_string()),
        }
    }

    fn get_unsat_core(&self, out: &mut impl Write) -> Result<()> {
        if !self.options.has(Flag::UnsatCores) {
            return failure("cores need the option :produce-unsat-cores");
        }
        let State::Unsat { .. } = &self.state else {
            return failure("a core is there after the answer unsat only");
        };
        let core: FxHashSet<Term> = self.solver.core().into_iter().collect();
        let named = self.frames.iter().flat_map(|frame| &frame.named);
        let names = named.filter(|(_, term)| core.contains(term)).map(|&(name, _)| self.store.name(name));
        Ok(writeln!(out, "({})", joined(names.map(DisplaySymbol)))?)
    }

    /// After the answer `unsat`, if the option `:produce-proofs` is set: the proof.
    pub fn proof(&self) -> Option<Proof> {
        matches!(self.state, State::Unsat { .. }).then(|| self.solver.proof()).flatten()
    }

    /// After the answer `unsat`, if the option `:produce-interpolants` is set: interpolants between the assertions,
    /// each of which is its own part.
    pub fn interpolator(
        &self,
        options: interpolate::Options,
    ) -> std::result::Result<Interpolator<'a>, interpolate::Error> {
        self.solver.interpolator(options)
    }

    fn get_proof(&self, out: &mut impl Write) -> Result<()> {
        if !self.options.has(Flag::Proofs) {
            return failure("proofs need the option :produce-proofs");
        }
        let State::Unsat { .. } = &self.state else {
            return failure("a proof is there after the answer unsat only");
        };
        let Some(proof) = self.proof() else { return failure("there is no proof") };
        writeln!(out, "(")?;
        write_alethe(self.store, &proof, out)?;
        Ok(writeln!(out, ")")?)
    }

    /// Prints the interpolants of a sequence or tree of groups of assertions. Assertions in no group belong to the last
    /// one.
    fn get_interpolants(&self, text: &[u8], limits: &Limits<'_>, out: &mut impl Write) -> Result<()> {
        if !self.options.has(Flag::Interpolants) {
            return failure("interpolants need the option :produce-interpolants");
        }
        let State::Unsat { assumptions } = &self.state else {
            return failure("interpolants are there after the answer unsat only");
        };
        let nodes = groups::read(text).map_err(Failure::Message)?;
        let named = self.frames.iter().flat_map(|frame| &frame.named);
        let assumed = named.map(|&(name, _)| Some(name)).chain(assumptions.iter().map(|_| None));
        let assumed = std::iter::zip(assumed_parts(), assumed);
        let asserted = self.frames.iter().flat_map(|frame| frame.parts.iter().copied());
        let last = nodes.len() - 1;
        let mut known = FxHashSet::default();
        let mut node_of: FxHashMap<Part, usize> = FxHashMap::default();
        for (part, name) in asserted.chain(assumed) {
            let Some(name) = name.map(|name| self.store.name(name)) else { continue };
            known.insert(name);
            if let Some(node) = nodes.iter().position(|group| group.names.contains(&name)) {
                node_of.insert(part, node);
            }
        }
        if let Some(name) = nodes.iter().flat_map(|group| &group.names).find(|name| !known.contains(**name)) {
            return failure(format!("no assertion has the name `{name}`"));
        }
        let node = |part: Part| Part(node_of.get(&part).map_or(last, |&node| node) as u32);
        let options = self.options.interpolation.clone();
        let interpolator = self.interpolator(options).and_then(|it| it.regroup(node));
        let found = interpolator.and_then(|interpolator| {
            if nodes.iter().enumerate().all(|(position, group)| group.parent == position + 1) {
                let order: Vec<Part> = (0..=last as u32).map(Part).collect();
                return interpolator.sequence(&order, limits);
            }
            let tree: Vec<(Part, usize)> =
                nodes.iter().enumerate().map(|(node, group)| (Part(node as u32), group.parent)).collect();
            let mut interpolants = interpolator.tree(&tree, limits)?;
            // The interpolant of the root is `false`.
            interpolants.pop();
            Ok(interpolants)
        });
        match found {
            Ok(found) => {
                let found = found.iter().map(|interpolant| self.store.display(interpolant.formula));
                Ok(writeln!(out, "({})", joined(found))?)
            }
            Err(error) => failure(error.to_string()),
        }
    }

    fn get_unsat_assumptions(&self, out: &mut impl Write) -> Result<()> {
        if !self.options.has(Flag::UnsatAssumptions) {
            return failure("assumptions at fault need the option :produce-unsat-assumptions");
        }
        let State::Unsat { assumptions } = &self.state else {
            return failure("assumptions at fault are there after the answer unsat only");
        };
        let core: FxHashSet<Term> = self.solver.core().into_iter().collect();
        let failed = assumptions.iter().filter(|term| core.contains(term));
        Ok(writeln!(out, "({})", joined(failed.map(|&term| self.store.display(term))))?)
    }

    fn get_assertions(&self, out: &mut impl Write) -> Result<()> {
        if !self.options.has(Flag::Assertions) {
            return failure("assertions need the option :produce-assertions");
        }
        let assertions = self.frames.iter().flat_map(|frame| &frame.assertions);
        Ok(writeln!(out, "({})", joined(assertions.map(|&term| self.store.display(term))))?)
    }

    fn get_info(&self, keyword: &str, out: &mut impl Write) -> Result<()> {
        let value = match (keyword, &self.state) {
            (":name", _) => "\"Shofar\"".to_owned(),
            (":version", _) => format!("\"{}\"", env!("CARGO_PKG_VERSION")),
            (":authors", _) => "\"The Shofar developers\"".to_owned(),
            (":error-behavior", _) => "continued-execution".to_owned(),
            (":assertion-stack-levels", _) => (self.frames.len() - 1).to_string(),
            (":reason-unknown", State::Unknown(reason)) => format!("\"{}\"", reason.replace('"', "\"\"")),
            (":all-statistics", _) => {
                let statistics = self.statistics().into_iter();
                return Ok(writeln!(
                    out,
                    "({})",
                    joined(statistics.map(|(name, value)| format!(":{name} {value}")))
                )?);
            }
            (":reason-unknown", _) => return failure("the last answer was not unknown"),
            _ => return Ok(writeln!(out, "unsupported")?),
        };
        Ok(writeln!(out, "({keyword} {value})")?)
    }
}

/// A value to be printed. The elements of declared sorts are abstract values, as SMT-LIB calls them:
/// `(as @U!val!0 U)`.
struct DisplayValue<'a> {
    store: &'a TermStore,
    value: &'a Value,
}

impl fmt::Display for DisplayValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.store;
        let Value::Term(element) = *self.value else {
            return write!(f, "{}", store.display_value(self.value));
        };
        let Op::Var(name) = store.op(element) else {
            return write!(f, "{}", store.display(element));
        };
        let (name, sort) = (format!("@{}", store.name(name)), store.display_sort(store.sort_of(element)));
        write!(f, "(as {} {sort})", DisplaySymbol(&name))
    }
}

/// The name of a command that would have changed the formula; `None` if it only asks, or sets an option. Text that is not a
/// command may have been meant as anything.
fn changing_command(command: &[u8]) -> Option<&str> {
    const ASKING: &[&str] = &[
        "apply",
        "display",
        "echo",
        "eval",
        "exit",
        "help",
        "labels",
        "maximize",
        "minimize",
        "set-info",
        "set-logic",
        "set-option",
        "simplify",
    ];
    let mut lexer = Lexer::new(command);
    match (lexer.next_token(), lexer.next_token()) {
        (Ok(Token::Open), Ok(Token::Symbol(name))) => {
            let is_asking = ASKING.contains(&name) || name.starts_with("get-") || name.starts_with("check-");
            (!is_asking).then_some(name)
        }
        _ => Some(""),
    }
}

/// Part numbers for assumptions, which no assertion reaches.
fn assumed_parts() -> impl Iterator<Item = Part> {
    (0..=u32::MAX).rev().map(Part)
}

fn new_solver<'a>(store: &'a TermStore, options: &Options) -> Solver<'a> {
    let solver = if options.log_proofs() { Solver::with_proofs(store) } else { Solver::new(store) };
    solver.with_seed(options.number(Number::Seed))
}

/// Opens the file of an output channel; `None` is the output of the caller.
fn open_channel(channel: &str) -> io::Result<Option<File>> {
    if channel == "stdout" {
        Ok(None)
    } else {
        File::options().create(true).append(true).open(channel).map(Some)
    }
}

fn check_magnitude(magnitudes: &mut Magnitudes, store: &TermStore, terms: &[Term]) -> Result<()> {
    if terms.iter().any(|&term| magnitudes.of(store, term) > MOST_BITS) {
        return failure("the numbers in this term are too large to compute with");
    }
    Ok(())
}

fn words(reason: Reason) -> &'static str {
    match reason {
        Reason::Budget => "the budget is used up",
        Reason::Cancelled => "cancelled",
        Reason::Deadline => "timeout",
        Reason::Memory => "memout",
        _ => "incomplete",
    }
}

fn joined(items: impl Iterator<Item = impl fmt::Display>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}

/// The commands of a stream, one by one.
pub struct Commands<R> {
    input: R,
    /// The bytes read; those from `start` on are not returned yet.
    buffer: Vec<u8>,
    start: usize,
    /// How far the buffer was scanned, and what was open there.
    position: usize,
    depth: usize,
    inside: Inside,
}

/// What the text before a position leaves open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    Comment,
    String,
    Quoted,
}

impl<R: BufRead> Commands<R> {
    /// The commands of an input.
    pub fn new(input: R) -> Self {
        Commands { input, buffer: Vec::new(), start: 0, position: 0, depth: 0, inside: Inside::Nothing }
    }

    /// The text of the next command, or the rest at the end of the input; `None` after that.
    pub fn next_command(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if self.finds_end() {
                return Ok(Some(self.take()));
            }
            let chunk = self.input.fill_buf()?;
            if chunk.is_empty() {
                let rest = self.take();
                return Ok((!rest.is_empty()).then_some(rest));
            }
            // Make room by removing returned bytes; this moves each byte once.
            self.buffer.drain(..self.start);
            self.position -= self.start;
            self.start = 0;
            let length = chunk.len();
            self.buffer.extend_from_slice(chunk);
            self.input.consume(length);
        }
    }

    fn take(&mut self) -> Vec<u8> {
        let command = self.buffer[self.start..self.position].to_vec();
        self.start = self.position;
        self.depth = 0;
        command
    }

    /// Scans the buffer up to the end of a command, or of the buffer. Outside of parentheses each line is a command, so a
    /// stray symbol is answered at once.
    fn finds_end(&mut self) -> bool {
        let Commands { buffer, position, depth, inside, .. } = self;
        let matters = |inside: Inside, byte: u8| match inside {
            Inside::Nothing => matches!(byte, b'(' | b')' | b'\n' | b'"' | b';' | b'|'),
            Inside::Comment => byte == b'\n',
            Inside::String => byte == b'"',
            Inside::Quoted => byte == b'|',
        };
        while let Some(skipped) = buffer[*position..].iter().position(|&byte| matters(*inside, byte)) {
            let byte = buffer[*position + skipped];
            *position += skipped + 1;
            match (*inside, byte) {
                (Inside::Nothing, b';') => *inside = Inside::Comment,
                (Inside::Nothing, b'"') => *inside = Inside::String,
                (Inside::Nothing, b'|') => *inside = Inside::Quoted,
                (Inside::Nothing, b'(') => *depth += 1,
                (Inside::Nothing, b')') => {
                    *depth = depth.saturating_sub(1);
                    if *depth == 0 {
                        return true;
                    }
                }
                (Inside::Nothing, _) => {
                    if *depth == 0 {
                        return true;
                    }
                }
                _ => *inside = Inside::Nothing,
            }
        }
        *position = buffer.len();
        false
    }
}
