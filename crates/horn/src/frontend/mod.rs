//! Reading systems of Horn clauses.
//!
//! Two formats are read, one file each: [`chc`], the format of the CHC competition, where clauses are asserted,
//! and [`fixedpoint`], Z3's format with rules and queries over declared relations. Both are SMT-LIB scripts and
//! share all commands that declare something, so nothing needs to be told about a file beforehand: what its
//! commands are decides.

mod chc;
mod fixedpoint;

use std::fmt;
use std::ops::Range;

use rustc_hash::FxHashMap;
use shofar_logic::smtlib::{Declaration, Environment, Reader, SyntaxError};
use shofar_logic::{Fun, Op, Sort, Symbol, Term, TermStore, did_you_mean, nearest};
use shofar_run::{Limits, Poll, Reason};

use crate::Context;
use crate::clausify::{NotHorn, RawClause, clausify};
use crate::system::{Atom, Clause, HornSystem, Position, PredicateId};

/// A mistake in an input, and where it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The name of the input.
    pub file: String,
    /// The position of the error.
    pub position: Position,
    /// The part of the text that the mistake is about, in bytes, if it can be shown. It is empty at the end of the text.
    pub span: Option<Range<usize>>,
    /// The description of the error.
    pub message: String,
    /// What the user may have meant, as a sentence.
    pub hint: Option<String>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.position, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Reads a system of Horn clauses in any of the formats. `file` is what error messages call the input.
pub fn parse(store: &TermStore, file: &str, text: &[u8]) -> Result<HornSystem, ParseError> {
    parse_in(store, &mut Environment::new(store), file, text)
}

/// As [`parse`], and leaves the names that the text declares in the environment, for whatever refers to them.
pub fn parse_in(
    store: &TermStore,
    environment: &mut Environment,
    file: &str,
    text: &[u8],
) -> Result<HornSystem, ParseError> {
    read(store, environment, file, text, &Poll::new(&Limits::default())).map_err(Unread::mistake)
}

/// Like [`parse_in`], within limits.
pub fn parse_within(
    context: &Context<'_>,
    environment: &mut Environment,
    file: &str,
    text: &[u8],
) -> Result<HornSystem, Unread> {
    read(context.store, environment, file, text, &Poll::new(&context.limits))
}

/// The reason why a system or a witness was not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unread {
    /// The input has an error.
    Wrong(ParseError),
    /// A limit was reached.
    Interrupted(Reason),
}

impl Unread {
    /// Converts an error of a reader.
    pub(crate) fn of(file: &str, text: &[u8], error: SyntaxError) -> Self {
        if let Some(reason) = error.interruption {
            return Unread::Interrupted(reason);
        }
        Unread::Wrong(ParseError {
            file: file.to_owned(),
            position: Position::of(text, error.offset),
            span: Some(error.span(text)),
            message: error.message,
            hint: error.hint,
        })
    }

    /// The same, of a mistake that no part of the text shows.
    pub(crate) fn without_span(mut self) -> Self {
        if let Unread::Wrong(error) = &mut self {
            error.span = None;
        }
        self
    }

    /// The mistake, where there were no limits.
    pub(crate) fn mistake(self) -> ParseError {
        match self {
            Unread::Wrong(error) => error,
            Unread::Interrupted(_) => unreachable!("without limits nothing is interrupted"),
        }
    }
}

fn read(
    store: &TermStore,
    environment: &mut Environment,
    file: &str,
    text: &[u8],
    limits: &Poll<'_>,
) -> Result<HornSystem, Unread> {
    let mut script = Script {
        store,
        reader: Reader::new(store, environment, text).within(limits),
        limits,
        system: HornSystem::default(),
        predicates: FxHashMap::default(),
        checked: false,
        logic: None,
        places: Places { text, offset: 0, position: Position { line: 1, column: 1 } },
    };
    match script.read() {
        Ok(()) => Ok(script.system),
        Err(error) => {
            let hint = error.hint.is_none().then(|| script.hint()).flatten();
            Err(Unread::of(file, text, error.with_hint(hint)))
        }
    }
}

type Result<T, E = SyntaxError> = std::result::Result<T, E>;

/// The commands that a script of clauses may have, for hints.
const COMMANDS: [&str; 18] = [
    "assert",
    "check-sat",
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
    "exit",
    "query",
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
    system: HornSystem,
    predicates: FxHashMap<Fun, PredicateId>,
    /// Whether `check-sat` was read.
    checked: bool,
    /// The logic that the script names.
    logic: Option<&'t str>,
    places: Places<'t>,
}

impl<'t> Script<'_, 't> {
    fn read(&mut self) -> Result<()> {
        while let Some(command) = self.reader.command()? {
            if command == "exit" {
                return self.reader.close();
            }
            self.command(command)?;
        }
        Ok(())
    }

    fn command(&mut self, command: &str) -> Result<()> {
        let offset = self.reader.offset();
        match command {
            "assert" => self.assert(),
            "declare-rel" | "declare-var" | "rule" | "query" => self.fixedpoint_command(command),
            "check-sat" => {
                self.checked = true;
                self.reader.close()
            }
            "set-logic" => {
                self.logic = self.reader.optional_word()?;
                self.reader.skip_rest()
            }
            "set-info" | "set-option" | "echo" => self.reader.skip_rest(),
            _ if command.starts_with("get-") => self.reader.skip_rest(),
            "push" | "pop" | "reset" | "reset-assertions" | "check-sat-assuming" => Err(error(
                offset,
                format!("`{command}` is not supported: a file holds one system of clauses"),
            )),
            _ => match self.reader.declaration(command)? {
                Some(declaration) => {
                    self.declared(declaration);
                    Ok(())
                }
                None => {
                    let hint = nearest(command, COMMANDS).map(did_you_mean);
                    Err(error(offset, format!("unknown command `{command}`")).with_hint(hint))
                }
            },
        }
    }

    /// What to say about a script that cannot be read as clauses: it may be a script for an SMT solver.
    fn hint(&self) -> Option<String> {
        match self.logic {
            Some("HORN" | "ALL") => None,
            Some(logic) => Some(format!("the logic is {logic}, not HORN; `shofar smt` executes SMT scripts")),
            None => {
                let is_relation = |fun: &Fun| !self.store.fun_decl(*fun).domain.is_empty();
                let has_relations = self.system.predicates.iter().any(is_relation);
                let hint = "the file declares no predicate with arguments; `shofar smt` executes SMT scripts";
                (!has_relations && !self.system.functions.is_empty()).then(|| hint.to_owned())
            }
        }
    }

    fn declared(&mut self, declaration: Declaration) {
        match declaration {
            Declaration::Fun(fun) if self.store.fun_decl(fun).range == Sort::BOOL => self.add_predicate(fun),
            Declaration::Fun(fun) => self.system.functions.push(fun),
            Declaration::Datatypes(_) | Declaration::Sort(..) => self.system.sorts.push(declaration),
            Declaration::Definition => {}
        }
    }

    fn add_predicate(&mut self, fun: Fun) {
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
        if self.checked {
            return Err(error(offset, "a clause after the satisfiability of all clauses was asked for"));
        }
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
        let step = Position::of(&self.text[self.offset..], offset - self.offset);
        self.position = Position {
            line: self.position.line.saturating_add(step.line - 1),
            column: if step.line == 1 {
                self.position.column.saturating_add(step.column - 1)
            } else {
                step.column
            },
        };
        self.offset = offset;
        self.position
    }
}
