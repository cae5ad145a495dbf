//! Reads systems of Horn clauses.
//!
//! There are three formats, one file each: [`chc`], the format of the CHC competition, where clauses are asserted,
//! [`fixedpoint`], Z3's format with rules and queries over declared relations, and [`vmt`], transition systems as
//! annotated formulas. All are SMT-LIB scripts and share all declaration commands. The commands and annotations of a file
//! determine its format, so nobody has to name it.
//!
//! A script may have several *questions*: each `check-sat`, `check-sat-assuming` and `query` asks about the clauses
//! before it that no `pop` or `reset` has removed. Each question gives one system ([`parse_all`]). A script without
//! questions gives one system of all its clauses. Most scripts have one question, and [`parse`] reads these.

mod chc;
mod fixedpoint;
mod vmt;

use std::fmt;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::smtlib::{Declaration, Environment, Reader, SyntaxError};
use shofar_logic::{Fun, Op, Sort, Symbol, Term, TermStore};
use shofar_run::{Limits, Poll, Reason, did_you_mean, nearest};

use crate::Context;
use crate::clausify::{NotHorn, RawClause, clausify};
use crate::system::{Atom, Clause, HornSystem, Position, PredicateId};

/// The maximal number of levels that `push` may open.
const MOST_LEVELS: usize = 1_000_000;

/// An error in an input, with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ParseError {
    /// The name of the input.
    pub file: String,
    /// The position of the error.
    pub position: Position,
    /// The part of the text with the error, in bytes, if it can be shown. It is empty at the end of the text.
    pub span: Option<Range<usize>>,
    /// The description of the error.
    pub message: String,
    /// What the user may have meant, as a sentence.
    pub hint: Option<String>,
    /// The kind of the error, for programs that have advice of their own.
    pub kind: ParseErrorKind,
}

/// The kind of an error in an input.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// A mistake in the text.
    #[default]
    Mistake,
    /// The script asks several questions, and none of them is chosen.
    SeveralQuestions,
    /// The script cannot be read as clauses and is probably one for an SMT solver. The hint says why.
    SmtScript,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.position, self.message)
    }
}

impl std::error::Error for ParseError {}

impl ParseError {
    /// The mistake that a reader has found in a text.
    pub fn of(file: &str, text: &[u8], error: SyntaxError) -> Self {
        ParseError {
            file: file.to_owned(),
            position: Position::of(text, error.offset),
            span: Some(error.span(text)),
            message: error.message,
            hint: error.hint,
            kind: ParseErrorKind::Mistake,
        }
    }
}

/// Reads the system of Horn clauses of a script with one question, in any of the formats. `file` is the name of the
/// input in error messages.
pub fn parse(store: &TermStore, file: &str, text: impl AsRef<[u8]>) -> Result<HornSystem, ParseError> {
    parse_in(store, &mut Environment::new(store), file, text)
}

/// Reads the systems of Horn clauses of a script, in the order of its questions. There is at least one.
pub fn parse_all(
    store: &TermStore,
    file: &str,
    text: impl AsRef<[u8]>,
) -> Result<Vec<HornSystem>, ParseError> {
    let limits = Limits::default();
    parse_all_within(&Context { store, limits }, file, text.as_ref()).map_err(Unread::mistake)
}

/// Like [`parse`], and leaves the names declared at the question in the environment, for texts that refer to them.
pub fn parse_in(
    store: &TermStore,
    environment: &mut Environment,
    file: &str,
    text: impl AsRef<[u8]>,
) -> Result<HornSystem, ParseError> {
    let limits = Limits::default();
    parse_within(&Context { store, limits }, environment, file, text).map_err(Unread::mistake)
}

/// Like [`parse_in`], within limits.
pub fn parse_within(
    context: &Context<'_>,
    environment: &mut Environment,
    file: &str,
    text: impl AsRef<[u8]>,
) -> Result<HornSystem, Unread> {
    parse_question_within(context, environment, file, text.as_ref(), None)
}

/// Like [`parse_all`], within limits.
pub fn parse_all_within(context: &Context<'_>, file: &str, text: &[u8]) -> Result<Vec<HornSystem>, Unread> {
    let mut systems = Vec::new();
    parse_each_within(context, file, text, &mut |system| systems.push(system))?;
    Ok(systems)
}

/// Like [`parse_all_within`], but passes one system after the other to a function and keeps none. All systems together take
/// memory for the clauses of the script times its questions. A mistake is found after the questions before it.
pub fn parse_each_within(
    context: &Context<'_>,
    file: &str,
    text: &[u8],
    each: &mut dyn FnMut(HornSystem),
) -> Result<(), Unread> {
    read(context, &mut Environment::new(context.store), file, text, Wanted::All, each).map(|_| ())
}

/// Reads a whole script within limits. Returns the system of the first question, and the number of questions.
pub fn parse_first_within(
    context: &Context<'_>,
    file: &str,
    text: &[u8],
) -> Result<(HornSystem, usize), Unread> {
    let environment = &mut Environment::new(context.store);
    let mut first = HornSystem::default();
    let questions = read(context, environment, file, text, Wanted::First, &mut |system| first = system)?;
    Ok((first, questions.offsets.len()))
}

/// Like [`parse_within`], for one question of a script that may have several, by its number counted from one.
pub fn parse_question_within(
    context: &Context<'_>,
    environment: &mut Environment,
    file: &str,
    text: &[u8],
    question: Option<usize>,
) -> Result<HornSystem, Unread> {
    let mistake = |offset: usize, message: String| Unread::of(file, text, error(offset, message));
    let wanted = question.map_or(Wanted::First, Wanted::Number);
    let mut wanted_system = HornSystem::default();
    let Questions { offsets, is_current } =
        read(context, environment, file, text, wanted, &mut |system| wanted_system = system)?;
    let count = offsets.len();
    let number = match question {
        None if count > 1 => {
            let message = format!("the script asks {count} questions, of which this is the second");
            return Err(mistake(offsets[1], message).of_kind(ParseErrorKind::SeveralQuestions));
        }
        Some(number) if number == 0 || number > count => {
            let questions = if count == 1 { "question" } else { "questions" };
            let message = format!("there is no question {number}: the script asks {count} {questions}");
            return Err(mistake(text.len(), message).without_span());
        }
        question => question.unwrap_or(1),
    };
    if !is_current {
        // Commands after the question have changed the declarations.
        environment.reset(context.store);
        read(context, environment, file, text, Wanted::Number(number), &mut |_| ())?;
    }
    Ok(wanted_system)
}

/// The names that a system declares, for texts that refer to them, if the system was not [read](parse_within). `file` is
/// the name of such a text, which gets the blame if a name cannot be written.
pub fn declared_names(context: &Context<'_>, system: &HornSystem, file: &str) -> Result<Environment, Unread> {
    let mut environment = Environment::new(context.store);
    let declarations = system.declarations_text(context.store);
    match parse_within(context, &mut environment, file, &declarations) {
        Ok(_) => Ok(environment),
        Err(Unread::Wrong(ParseError { file, message, .. })) => {
            let message = format!("no text can name all that the clauses declare: {message}");
            let position = Position { line: 1, column: 1 };
            Err(Unread::Wrong(ParseError {
                file,
                position,
                span: None,
                message,
                hint: None,
                kind: ParseErrorKind::Mistake,
            }))
        }
        Err(interrupted) => Err(interrupted),
    }
}

/// The reason why a system or a witness was not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unread {
    /// The input has an error.
    Wrong(ParseError),
    /// A limit was reached.
    Interrupted(Reason),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unread::Wrong(error) => error.fmt(f),
            Unread::Interrupted(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for Unread {}

impl Unread {
    /// Converts an error of a reader.
    pub(crate) fn of(file: &str, text: &[u8], error: SyntaxError) -> Self {
        match error.interruption {
            Some(reason) => Unread::Interrupted(reason),
            None => Unread::Wrong(ParseError::of(file, text, error)),
        }
    }

    /// The same error without a span.
    pub(crate) fn without_span(mut self) -> Self {
        if let Unread::Wrong(error) = &mut self {
            error.span = None;
        }
        self
    }

    /// The same error with this kind.
    fn of_kind(mut self, kind: ParseErrorKind) -> Self {
        if let Unread::Wrong(error) = &mut self {
            error.kind = kind;
        }
        self
    }

    /// The mistake, if there were no limits.
    pub fn mistake(self) -> ParseError {
        match self {
            Unread::Wrong(error) => error,
            Unread::Interrupted(_) => unreachable!("without limits nothing is interrupted"),
        }
    }
}

/// The questions whose systems are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    All,
    /// Question number one. The others are counted.
    First,
    /// The question with a number counted from one. The script is read until there.
    Number(usize),
}

/// The questions of a script.
struct Questions {
    /// The offset of each question that was read.
    offsets: Vec<usize>,
    /// Whether the declarations are those of the last question.
    is_current: bool,
}

/// Reads a script, and passes the systems of the wanted questions to a function.
fn read(
    context: &Context<'_>,
    environment: &mut Environment,
    file: &str,
    text: &[u8],
    wanted: Wanted,
    each: &mut dyn FnMut(HornSystem),
) -> Result<Questions, Unread> {
    let limits = Poll::new(&context.limits);
    environment.allow_overloading(context.store);
    let mut script = Script {
        store: context.store,
        reader: Reader::new(context.store, environment, text).within(&limits),
        limits: &limits,
        system: HornSystem::default(),
        predicates: FxHashMap::default(),
        levels: Vec::new(),
        hiding: Vec::new(),
        wanted,
        each,
        questions: Vec::new(),
        is_asked: false,
        is_current: true,
        logic: None,
        vmt: vmt::Annotations::of_file(file),
        vmt_declarations: None,
        places: Places { text, offset: 0, position: Position { line: 1, column: 1 } },
    };
    let is_read = script.read();
    match is_read {
        Ok(()) => {
            let questions = Questions { offsets: script.questions, is_current: script.is_current };
            if let Some(declarations) = script.vmt_declarations {
                // The names of the transition system are variables of its clauses.
                environment.reset(context.store);
                read(
                    context,
                    environment,
                    "declarations",
                    declarations.as_bytes(),
                    Wanted::First,
                    &mut |_| (),
                )?;
            }
            Ok(questions)
        }
        Err(error) => {
            let hint = if error.hint.is_none() { script.hint() } else { None };
            let kind = if hint.is_some() { ParseErrorKind::SmtScript } else { ParseErrorKind::Mistake };
            Err(Unread::of(file, text, error.with_hint(hint)).of_kind(kind))
        }
    }
}

type Result<T, E = SyntaxError> = std::result::Result<T, E>;

/// The commands that a script of clauses may have, for hints. Of the commands that ask for information after an answer,
/// which are all skipped, these are the ones of the standard.
const COMMANDS: [&str; 33] = [
    "assert",
    "check-sat",
    "check-sat-assuming",
    "declare-const",
    "declare-datatype",
    "declare-datatypes",
    "declare-fun",
    "declare-rel",
    "declare-sort",
    "declare-var",
    "define-const",
    "define-fun",
    "define-sort",
    "echo",
    "exit",
    "get-assertions",
    "get-assignment",
    "get-info",
    "get-model",
    "get-option",
    "get-proof",
    "get-unsat-assumptions",
    "get-unsat-core",
    "get-value",
    "pop",
    "push",
    "query",
    "reset",
    "reset-assertions",
    "rule",
    "set-info",
    "set-logic",
    "set-option",
];

/// The state of reading a script.
struct Script<'e, 't> {
    store: &'e TermStore,
    reader: Reader<'e, 't>,
    limits: &'t Poll<'t>,
    /// The current declarations and clauses.
    system: HornSystem,
    predicates: FxHashMap<Fun, PredicateId>,
    /// The sizes of the system when the open levels were opened.
    levels: Vec<Size>,
    /// Functions that hide operators of theories, with the offsets of their declarations.
    hiding: Vec<(Fun, Op, usize)>,
    wanted: Wanted,
    /// Gets the system of each wanted question, at the latest when the next command would change it.
    each: &'e mut dyn FnMut(HornSystem),
    /// The offset of each question.
    questions: Vec<usize>,
    /// Whether `system` is the system of the last question, and this one is wanted.
    is_asked: bool,
    /// Whether the declarations are those of the last question.
    is_current: bool,
    /// The logic of the script.
    logic: Option<&'t str>,
    /// The annotations of a transition system.
    vmt: vmt::Annotations<'t>,
    /// The declarations of the clauses of a transition system.
    vmt_declarations: Option<String>,
    places: Places<'t>,
}

/// The size of a system.
#[derive(Clone, Copy)]
struct Size {
    sorts: usize,
    functions: usize,
    predicates: usize,
    clauses: usize,
    hiding: usize,
}

impl<'t> Script<'_, 't> {
    fn read(&mut self) -> Result<()> {
        while !self.is_done()
            && let Some(command) = self.reader.command()?
        {
            if command == "exit" {
                self.reader.close()?;
                break;
            }
            // A name that an earlier command has given is not one of this command's formula.
            self.reader.take_named();
            self.command(command)?;
            let annotations = self.reader.take_annotations();
            self.vmt.add(self.store, annotations)?;
        }
        if self.vmt.is_vmt {
            self.finish_vmt(self.reader.offset())?;
        }
        if self.questions.is_empty() {
            self.ask(self.reader.offset())?;
        }
        if self.is_asked {
            let system = std::mem::take(&mut self.system);
            self.pass_on(system);
        }
        Ok(())
    }

    /// Whether the last question is the one that the script is read for.
    fn is_done(&self) -> bool {
        !self.questions.is_empty() && self.wanted == Wanted::Number(self.questions.len())
    }

    fn command(&mut self, command: &str) -> Result<()> {
        let offset = self.reader.offset();
        match command {
            _ if self.vmt.is_vmt && vmt::is_ignored(command) => self.ignore(command),
            "push" | "pop" | "reset" | "declare-rel" | "rule" | "query" if self.vmt.is_vmt => {
                Err(error(offset, format!("`{command}` in a transition system is not supported")))
            }
            "assert" => self.assert(),
            "declare-rel" | "declare-var" | "rule" | "query" => self.fixedpoint_command(command),
            "check-sat" => {
                self.reader.close()?;
                self.ask(offset)
            }
            "check-sat-assuming" => self.check_sat_assuming(offset),
            "push" | "pop" => self.push_or_pop(command, offset),
            "reset" => {
                self.reader.close()?;
                self.change();
                self.is_current = false;
                self.shrink(Size { sorts: 0, functions: 0, predicates: 0, clauses: 0, hiding: 0 });
                self.levels.clear();
                self.logic = None;
                self.reader.environment().reset(self.store);
                self.reader.environment().allow_overloading(self.store);
                Ok(())
            }
            // As for Z3, declarations stay.
            "reset-assertions" => {
                self.reader.close()?;
                self.change();
                self.system.clauses.clear();
                self.levels.iter_mut().for_each(|level| level.clauses = 0);
                Ok(())
            }
            "set-logic" => {
                self.logic = self.reader.optional_word()?;
                self.reader.skip_rest()
            }
            "set-info" | "set-option" | "echo" => self.reader.skip_rest(),
            _ if command.starts_with("get-") => self.reader.skip_rest(),
            _ => match self.reader.declaration(command)? {
                Some(declaration) => {
                    self.declare_implicit();
                    self.declared(declaration, offset);
                    Ok(())
                }
                None => {
                    let hint = nearest(command, COMMANDS).map(did_you_mean);
                    Err(error(offset, format!("unknown command `{command}`")).with_hint(hint))
                }
            },
        }
    }

    /// A hint for a script that cannot be read as clauses: it may be a script for an SMT solver.
    fn hint(&self) -> Option<String> {
        match self.logic {
            _ if self.vmt.is_vmt => None,
            Some("HORN" | "ALL") => None,
            Some(logic) => Some(format!("the logic is {logic}, not HORN")),
            None => {
                let is_relation = |fun: &Fun| !self.store.fun_decl(*fun).domain.is_empty();
                let has_relations = self.system.predicates.iter().any(is_relation);
                let hint = "the file declares no predicate with arguments";
                (!has_relations && !self.system.functions.is_empty()).then(|| hint.to_owned())
            }
        }
    }

    // ---- questions ---------------------------------------------------------------------------------------

    /// Asks about the current clauses.
    fn ask(&mut self, offset: usize) -> Result<()> {
        self.change();
        self.questions.push(offset);
        self.is_current = true;
        self.is_asked = match self.wanted {
            Wanted::All => true,
            Wanted::First => self.questions.len() == 1,
            Wanted::Number(number) => self.questions.len() == number,
        };
        if let Some(reason) = self.limits.interruption() {
            return Err(SyntaxError::interrupted(offset, reason));
        }
        self.check_hidden_operators()
    }

    /// Called before the system changes: passes the system of the last question on, if it is wanted.
    fn change(&mut self) {
        if std::mem::take(&mut self.is_asked) {
            self.pass_on(self.system.clone());
        }
    }

    fn pass_on(&mut self, mut system: HornSystem) {
        system.name_clauses_apart(self.store);
        (self.each)(system);
    }

    /// The rest of `(check-sat-assuming (F ...))`.
    fn check_sat_assuming(&mut self, offset: usize) -> Result<()> {
        let assumptions = self.reader.terms()?;
        self.reader.close()?;
        self.ask_with(&assumptions, offset)
    }

    /// Asks about the current clauses together with formulas for this question only.
    fn ask_with(&mut self, formulas: &[Term], offset: usize) -> Result<()> {
        self.change();
        let clauses = self.system.clauses.len();
        for &formula in formulas {
            if self.store.sort_of(formula) != Sort::BOOL {
                return Err(error(offset, "a question needs formulas"));
            }
            let variables = self.store.free_vars(&[formula]);
            self.add_formula(formula, &variables, None, offset)?;
        }
        self.ask(offset)?;
        self.change();
        self.system.clauses.truncate(clauses);
        Ok(())
    }

    // ---- levels ------------------------------------------------------------------------------------------

    /// The rest of `(push n)` or `(pop n)`.
    fn push_or_pop(&mut self, command: &str, offset: usize) -> Result<()> {
        let number = self.reader.optional_numeral()?.unwrap_or(1);
        self.reader.close()?;
        if command == "pop" && number > self.levels.len() {
            let message = format!("`pop` of {number} levels, but {} are open", self.levels.len());
            return Err(error(offset, message));
        }
        if command == "push" && number > MOST_LEVELS - self.levels.len().min(MOST_LEVELS) {
            return Err(error(offset, format!("more than {MOST_LEVELS} levels")));
        }
        for _ in 0..number {
            if command == "push" {
                self.reader.environment().push();
                let HornSystem { sorts, functions, predicates, clauses } = &self.system;
                self.levels.push(Size {
                    sorts: sorts.len(),
                    functions: functions.len(),
                    predicates: predicates.len(),
                    clauses: clauses.len(),
                    hiding: self.hiding.len(),
                });
            } else if let Some(size) = self.levels.pop() {
                self.change();
                self.is_current = false;
                self.reader.environment().pop();
                self.shrink(size);
            }
        }
        Ok(())
    }

    /// Shrinks the system to an earlier size.
    fn shrink(&mut self, size: Size) {
        self.system.sorts.truncate(size.sorts);
        self.system.functions.truncate(size.functions);
        for fun in self.system.predicates.drain(size.predicates..) {
            self.predicates.remove(&fun);
        }
        self.system.clauses.truncate(size.clauses);
        self.hiding.truncate(size.hiding);
    }

    // ---- declarations and clauses ------------------------------------------------------------------------

    /// Declares the datatypes that the script uses without a declaration.
    fn declare_implicit(&mut self) {
        for declaration in self.reader.take_implicit() {
            self.change();
            self.system.sorts.push(declaration);
        }
    }

    /// Checks that no clause has an operator that a declared function hides: in print it would look like the function.
    fn check_hidden_operators(&self) -> Result<()> {
        if self.hiding.is_empty() {
            return Ok(());
        }
        let mut terms: Vec<Term> = Vec::new();
        for clause in &self.system.clauses {
            let atoms = clause.body.iter().chain(&clause.head);
            terms.extend(atoms.flat_map(|atom| &atom.args).chain([&clause.constraint]));
        }
        let used: FxHashSet<Op> =
            self.store.subterms(&terms).into_iter().map(|term| self.store.op(term)).collect();
        match self.hiding.iter().find(|(_, op, _)| used.contains(op)) {
            None => Ok(()),
            Some(&(fun, _, offset)) => {
                let name = self.store.display_symbol(self.store.fun_decl(fun).name);
                let message = format!(
                    "`{name}` is ambiguous: it is declared here with the arguments of the theory's operator, which \
                     clauses use as well"
                );
                Err(error(offset, message))
            }
        }
    }

    fn declared(&mut self, declaration: Declaration, offset: usize) {
        self.change();
        match declaration {
            Declaration::Fun(fun) => self.declared_function(fun, offset),
            Declaration::Datatypes(_) | Declaration::Sort(..) => self.system.sorts.push(declaration),
            Declaration::Definition => {}
        }
    }

    fn declared_function(&mut self, fun: Fun, offset: usize) {
        if let Some(op) = self.reader.environment().hidden_operator(self.store, fun) {
            self.hiding.push((fun, op, offset));
        }
        if self.store.fun_decl(fun).range != Sort::BOOL {
            self.system.functions.push(fun);
            return;
        }
        let id = PredicateId(self.system.predicates.len() as u32);
        self.system.predicates.push(fun);
        self.predicates.insert(fun, id);
    }

    /// Adds the clauses of a formula that was read at an offset.
    fn add_formula(
        &mut self,
        formula: Term,
        free_variables: &[Term],
        name: Option<Symbol>,
        offset: usize,
    ) -> Result<()> {
        self.declare_implicit();
        self.change();
        let clauses =
            clausify(self.store, formula, free_variables, self.limits).map_err(
                |not_horn| match not_horn {
                    NotHorn::Interrupted(reason) => SyntaxError::interrupted(offset, reason),
                    mistake => error(offset, mistake.display(self.store).to_string())
                        .until(self.reader.position().saturating_sub(1)),
                },
            )?;
        let position = self.places.position(offset);
        for clause in clauses {
            let clause = self.clause(clause, name, position);
            self.system.clauses.push(clause);
        }
        Ok(())
    }

    /// The name that the current command gives a formula by `(! F :named n)`.
    fn name_of(&mut self, formula: Term) -> Option<Symbol> {
        self.reader.take_named().into_iter().find(|&(_, term)| term == formula).map(|(name, _)| name)
    }

    fn clause(&self, clause: RawClause, name: Option<Symbol>, position: Position) -> Clause {
        let constraint = match *clause.constraint {
            [] => Term::TRUE,
            [only] => only,
            _ => self.store.app(Op::And, &clause.constraint).expect("constraints are formulas"),
        };
        Clause {
            variables: clause.variables.into(),
            body: clause.body.iter().map(|&atom| self.atom(atom)).collect(),
            constraint,
            head: clause.head.map(|atom| self.atom(atom)),
            name,
            position,
            written: None,
        }
    }

    fn atom(&self, term: Term) -> Atom {
        let (Op::Apply(fun), args) = self.store.view(term) else {
            unreachable!("atoms are applications of predicates")
        };
        Atom { predicate: self.predicates[&fun], args: args.into() }
    }
}

fn error(offset: usize, message: impl Into<String>) -> SyntaxError {
    SyntaxError::new(offset, message)
}

/// Finds the positions of growing offsets without counting lines from the beginning each time.
struct Places<'t> {
    text: &'t [u8],
    offset: usize,
    position: Position,
}

impl Places<'_> {
    /// The position of an offset, which must not be before the previous one.
    fn position(&mut self, offset: usize) -> Position {
        self.position = self.position.after(&self.text[self.offset..offset]);
        self.offset = offset;
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_of_the_hints_is_understood() {
        for command in COMMANDS {
            let script = format!("({command})");
            if let Err(error) = parse(&TermStore::new(), "test", script) {
                assert!(!error.message.contains("unknown command"), "{error}");
            }
        }
    }
}
