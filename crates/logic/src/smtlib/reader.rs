//! Reads SMT-LIB terms directly into the store.
//!
//! There is no syntax tree in between: the reader is a stack machine whose stacks hold the open applications and their
//! arguments so far. So nesting uses the heap, never the call stack, and `let` is free, since terms are shared anyway.
//!
//! Terms are built as written (see [`TermStore::app`]), with these exceptions: `let` and `define-fun` are expanded
//! (into shared terms); `match` becomes a chain of `ite`; annotations are kept apart; `(- 1)` and `(/ 1.0 3.0)`, which
//! SMT-LIB has instead of negative and fractional literals, become numerals; an integer becomes a real if a real is
//! expected, as in other solvers.

use shofar_run::Poll;

use super::apply::Head;
use super::declare::Declaration;
use super::environment::{Environment, Meaning, Name, SortMeaning};
use super::lexer::{Lexer, Short, SyntaxError, Token};
use super::logic::Theories;
use crate::number::{Integer, Rational};
use crate::op::Op;
use crate::sort::{ConstructorId, Fun, MAX_WIDTH, Sort, Symbol};
use crate::term::{Term, TermStore};

/// Reads the commands and terms of one text.
pub struct Reader<'e, 't> {
    pub(super) store: &'e TermStore,
    pub(super) environment: &'e mut Environment,
    pub(super) lexer: Lexer<'t>,
    /// The open applications and binders, the innermost last.
    frames: Vec<Frame>,
    /// Arguments of the open frames, and their offsets in the text.
    pub(super) values: Vec<Term>,
    pub(super) offsets: Vec<usize>,
    /// Names bound by the open `let`s and quantifiers.
    binders: Vec<Name>,
    /// Finished cases of the open `match`es: the constructor, `None` for a variable, and the body.
    cases: Vec<(Option<ConstructorId>, Term)>,
    /// Terms named by `:named`, in the order of the text.
    named: Vec<(Symbol, Term)>,
    /// The other annotations of the current command, in the order of the text.
    annotations: Vec<Annotation<'t>>,
    /// The start of the current command.
    pub(super) command: usize,
    /// Earlier meanings of sort names, from before the current declaration.
    pub(super) sort_trail: Vec<(Name, SortMeaning)>,
    /// Whether an unknown sort may be a datatype that is declared later.
    pub(super) in_datatypes: bool,
    /// Declarations that the text uses without making them.
    pub(super) implicit: Vec<Declaration>,
}

/// An annotation of a term, as in `(! x :next y)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Annotation<'t> {
    /// The term.
    pub term: Term,
    /// The keyword, with its colon.
    pub keyword: &'t str,
    /// The value, if it is a symbol or a numeral.
    pub value: Option<&'t str>,
    /// The offset of the keyword in the text.
    pub offset: usize,
}

/// The result of [`Reader::item`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item<'t> {
    /// `(` and a name; the rest is not read yet.
    Command(&'t str),
    /// `(` before something other than a name.
    Open,
    /// `)`.
    Close,
    /// A name outside of parentheses.
    Word(&'t str),
    /// The end of the text.
    End,
}

/// An open construct that waits for its parts. The numbers are the heights of the reader's stacks when it was opened.
#[derive(Clone, Copy)]
enum Frame {
    /// An application; all values above are its arguments.
    Application { head: Head, values: usize, offset: usize },
    /// The bindings of a `let`; the values above belong to the binders above.
    Bindings { values: usize, binders: usize },
    /// The body of a `let`.
    LetBody { scope: usize },
    /// The body of a quantifier; the values above are its variables.
    Quantifier { op: Op, values: usize, binders: usize, scope: usize },
    /// An annotated term.
    Annotated,
    /// The scrutinee of a `match`.
    Scrutinee,
    /// A case of a `match` on the value below.
    Case { constructor: Option<ConstructorId>, cases: usize, scope: usize },
}

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

impl<'e, 't> Reader<'e, 't> {
    /// A reader at the start of a text.
    pub fn new(store: &'e TermStore, environment: &'e mut Environment, text: &'t [u8]) -> Self {
        Reader {
            store,
            environment,
            lexer: Lexer::new(text),
            frames: Vec::new(),
            values: Vec::new(),
            offsets: Vec::new(),
            binders: Vec::new(),
            cases: Vec::new(),
            named: Vec::new(),
            annotations: Vec::new(),
            command: 0,
            sort_trail: Vec::new(),
            in_datatypes: false,
            implicit: Vec::new(),
        }
    }

    /// Sets limits, which the reader checks regularly. If one is reached, reading ends with an
    /// [interruption](SyntaxError::interruption).
    pub fn within(mut self, limits: &'t Poll<'t>) -> Self {
        self.lexer = self.lexer.within(limits);
        self
    }

    /// The offset of the last token, in bytes from the start of the text.
    pub fn offset(&self) -> usize {
        self.lexer.offset()
    }

    /// The end of the last token, in bytes from the start of the text.
    pub fn position(&self) -> usize {
        self.lexer.position()
    }

    /// Opens the next command and returns its name; `None` at the end of the text. The caller must read the command to
    /// its end, with [`close`](Self::close) or [`skip_rest`](Self::skip_rest).
    pub fn command(&mut self) -> Result<Option<&'t str>> {
        let token = self.lexer.next_token()?;
        self.command = self.lexer.offset();
        self.annotations.clear();
        match token {
            Token::End => self.require_all_datatypes().map(|()| None),
            Token::Open => match self.lexer.next_token()? {
                Token::Symbol(name) => {
                    if !name.starts_with("declare-datatype") {
                        self.require_all_datatypes()?;
                    }
                    Ok(Some(name))
                }
                token => Err(self.expected("the name of a command", token)),
            },
            token => Err(self.expected("a command", token)),
        }
    }

    /// Reads the next item of a text that is a list of commands with words and lists around them, as solvers print
    /// models.
    pub fn item(&mut self) -> Result<Item<'t>> {
        match self.lexer.next_token()? {
            Token::Open => {
                let inside = self.lexer.clone();
                match self.lexer.next_token()? {
                    Token::Symbol(name) | Token::Quoted(name) => Ok(Item::Command(name)),
                    _ => {
                        self.lexer = inside;
                        Ok(Item::Open)
                    }
                }
            }
            Token::Close => Ok(Item::Close),
            Token::Symbol(word) => Ok(Item::Word(word)),
            Token::End => Ok(Item::End),
            token => Err(self.expected("a command", token)),
        }
    }

    /// Fails unless the whole text is read.
    pub fn end(&mut self) -> Result<()> {
        match self.lexer.next_token()? {
            Token::End => Ok(()),
            token => Err(self.expected("the end of the text", token)),
        }
    }

    /// Reads the parenthesis that ends a command.
    pub fn close(&mut self) -> Result<()> {
        match self.lexer.next_token()? {
            Token::Close => Ok(()),
            token => Err(self.expected("`)`", token)),
        }
    }

    /// Skips the rest of a command, including its closing parenthesis.
    pub fn skip_rest(&mut self) -> Result<()> {
        let mut depth = 1u64;
        while depth > 0 {
            match self.lexer.next_token()? {
                Token::Open => depth += 1,
                Token::Close => depth -= 1,
                Token::End => return Err(self.expected("`)`", Token::End)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The terms named by `(! t :named n)` since the last call.
    pub fn take_named(&mut self) -> Vec<(Symbol, Term)> {
        std::mem::take(&mut self.named)
    }

    /// The annotations of the current command, except `:named`.
    pub fn take_annotations(&mut self) -> Vec<Annotation<'t>> {
        std::mem::take(&mut self.annotations)
    }

    /// The current meanings of names.
    pub fn environment(&mut self) -> &mut Environment {
        self.environment
    }

    /// The declarations used but not made by the text since the last call: Z3's lists.
    pub fn take_implicit(&mut self) -> Vec<Declaration> {
        std::mem::take(&mut self.implicit)
    }

    /// Reads a term.
    pub fn term(&mut self) -> Result<Term> {
        let scope = self.environment.enter();
        let result = self.read_term();
        if result.is_err() {
            // Abandon everything open, so that the next command is read in the global scope.
            self.environment.leave(scope);
            while let Some(frame) = self.frames.pop() {
                if let Frame::Quantifier { binders, .. } = frame {
                    self.unbind(binders);
                } else if let Frame::Bindings { binders, .. } = frame {
                    self.binders.truncate(binders);
                }
            }
            self.values.clear();
            self.offsets.clear();
            self.cases.clear();
        }
        result
    }

    /// Reads a term of sort `Bool`.
    pub fn formula(&mut self) -> Result<Term> {
        let before = self.lexer.clone();
        let term = self.term()?;
        if self.store.sort_of(term) == Sort::BOOL {
            return Ok(term);
        }
        let mut lexer = before;
        lexer.next_token()?;
        let found = self.store.display_sort(self.store.sort_of(term));
        Err(SyntaxError::new(lexer.offset(), format!("expected a formula, found a term of sort {found}")))
    }

    fn read_term(&mut self) -> Result<Term> {
        loop {
            let token = self.lexer.next_token()?;
            let mut offset = self.lexer.offset();
            let value = match token {
                Token::Open => match self.open(offset)? {
                    Some(value) => value,
                    None => continue,
                },
                Token::Close => {
                    let value;
                    (value, offset) = self.finish_application()?;
                    value
                }
                Token::Symbol(text) | Token::Quoted(text) => self.nullary(text, token, offset)?,
                Token::Numeral(_) | Token::Decimal(_) | Token::Hex(_) | Token::Binary(_) => {
                    self.literal(token)?
                }
                Token::Keyword(_) | Token::String(_) | Token::End => {
                    return Err(self.expected("a term", token));
                }
            };
            if let Some(term) = self.deliver(value, offset)? {
                return Ok(term);
            }
        }
    }

    /// Passes a finished term to the innermost open frame, which may thereby be finished itself. Returns the term if no
    /// frame is open.
    fn deliver(&mut self, mut value: Term, offset: usize) -> Result<Option<Term>> {
        loop {
            let Some(&frame) = self.frames.last() else { return Ok(Some(value)) };
            match frame {
                Frame::Application { .. } => {
                    self.values.push(value);
                    self.offsets.push(offset);
                    return Ok(None);
                }
                Frame::Bindings { values, binders } => {
                    self.values.push(value);
                    self.offsets.push(offset);
                    self.close()?;
                    if !self.binding_or_end()? {
                        self.enter_let_body(values, binders);
                    }
                    return Ok(None);
                }
                Frame::LetBody { scope } => {
                    self.close()?;
                    self.environment.leave(scope);
                }
                Frame::Quantifier { op, values, binders, scope } => {
                    self.close()?;
                    self.values.push(value);
                    self.offsets.push(offset);
                    value = self.quantified(op, values, offset)?;
                    self.environment.leave(scope);
                    self.unbind(binders);
                }
                Frame::Annotated => self.attributes(value)?,
                Frame::Scrutinee => {
                    self.begin_match(value, offset)?;
                    return Ok(None);
                }
                Frame::Case { constructor, cases, scope } => {
                    self.close()?;
                    self.environment.leave(scope);
                    self.cases.push((constructor, value));
                    match self.lexer.next_token()? {
                        Token::Open => {
                            self.frames.pop();
                            self.begin_case(cases)?;
                            return Ok(None);
                        }
                        Token::Close => {
                            self.close()?;
                            value = self.finish_match(cases)?;
                        }
                        token => return Err(self.expected("a case of `match` or `)`", token)),
                    }
                }
            }
            self.frames.pop();
        }
    }

    // ---- atoms -------------------------------------------------------------------------------------------

    /// A symbol that is a term by itself.
    fn nullary(&mut self, text: &str, token: Token<'_>, offset: usize) -> Result<Term> {
        let name = self.environment.name(self.store, text);
        let meaning = match self.environment.meaning(name) {
            Meaning::Overloaded(index) => match self.environment.overload(index).declared {
                term @ Meaning::Term(_) => term,
                _ => Meaning::Overloaded(index),
            },
            meaning => meaning,
        };
        match (meaning, Head::of(meaning)) {
            (Meaning::Term(term), _) => Ok(term),
            (_, Some(head)) => self.apply(head, self.values.len(), offset),
            (_, None) => {
                let head = self.builtin_head(name, meaning, text, token)?;
                self.apply(head, self.values.len(), offset)
            }
        }
    }

    fn literal(&self, token: Token<'_>) -> Result<Term> {
        let offset = self.lexer.offset();
        let integer = |digits: &str, radix| {
            Integer::parse(digits.as_bytes(), radix)
                .ok_or_else(|| SyntaxError::new(offset, "a malformed number"))
        };
        let width = |digits: &str, bits: usize| match u32::try_from(digits.len() * bits) {
            Ok(width) if width <= MAX_WIDTH => Ok(width),
            _ => Err(SyntaxError::new(offset, "too many digits for a bit-vector")),
        };
        let theories = self.environment.theories();
        match token {
            Token::Hex(_) | Token::Binary(_) => self.require_theory(Theories::BIT_VECTORS)?,
            Token::Numeral(_) if theories.contains(Theories::INTS) => {}
            _ => self.require_theory(Theories::REALS)?,
        }
        match token {
            // In a logic of reals alone, numerals are reals.
            Token::Numeral(digits) if !theories.contains(Theories::INTS) => {
                Ok(self.store.real(Rational::from(integer(digits, 10)?)))
            }
            Token::Numeral(digits) => Ok(self.store.int(integer(digits, 10)?)),
            Token::Decimal(digits) => match Rational::parse_decimal(digits.as_bytes()) {
                Some(value) => Ok(self.store.real(value)),
                None => Err(SyntaxError::new(offset, "a malformed number")),
            },
            Token::Hex(digits) => Ok(self.store.bv(integer(digits, 16)?, width(digits, 4)?)),
            Token::Binary(digits) => Ok(self.store.bv(integer(digits, 2)?, width(digits, 1)?)),
            token => Err(self.expected("a number", token)),
        }
    }

    /// Returns an error unless the logic has the theory.
    pub(super) fn require_theory(&self, theory: Theories) -> Result<()> {
        if self.environment.theories().contains(theory) {
            return Ok(());
        }
        let what = match theory {
            Theories::INTS => "integers",
            Theories::REALS => "numbers",
            Theories::ARRAYS => "arrays",
            _ => "bit-vectors",
        };
        Err(SyntaxError::new(self.lexer.offset(), format!("the logic has no {what}")))
    }

    // ---- what follows an opening parenthesis -------------------------------------------------------------

    /// Reads the text after `(`: opens a frame, or returns a term that ends with the matching `)`.
    fn open(&mut self, offset: usize) -> Result<Option<Term>> {
        let token = self.lexer.next_token()?;
        let head = match token {
            Token::Symbol("let") => return self.open_let().map(|()| None),
            Token::Symbol("forall") => return self.open_quantifier(Op::Forall).map(|()| None),
            Token::Symbol("exists") => return self.open_quantifier(Op::Exists).map(|()| None),
            Token::Symbol("!") => {
                self.frames.push(Frame::Annotated);
                return Ok(None);
            }
            Token::Symbol("match") => {
                self.frames.push(Frame::Scrutinee);
                return Ok(None);
            }
            Token::Symbol("_") => return self.indexed_constant().map(Some),
            Token::Symbol("as") => {
                let head = self.qualified()?;
                return self.apply(head, self.values.len(), offset).map(Some);
            }
            Token::Symbol(text) | Token::Quoted(text) => {
                let name = self.environment.name(self.store, text);
                let meaning = self.environment.meaning(name);
                match Head::of(meaning) {
                    Some(head) => head,
                    None => self.builtin_head(name, meaning, text, token)?,
                }
            }
            Token::Open => match self.lexer.next_token()? {
                Token::Symbol("_") => self.indexed_head()?,
                Token::Symbol("as") => self.qualified()?,
                token => return Err(self.expected("`_` or `as`", token)),
            },
            token => return Err(self.expected("a function", token)),
        };
        self.frames.push(Frame::Application { head, values: self.values.len(), offset });
        Ok(None)
    }

    /// The head of an application whose name the script declared as a term, or not at all: the theory's meaning.
    #[cold]
    fn builtin_head(&self, name: Name, meaning: Meaning, text: &str, token: Token<'_>) -> Result<Head> {
        match self.environment.builtin(name).and_then(Head::of) {
            Some(head) => Ok(head),
            None if meaning == Meaning::Undeclared => Err(self.undeclared(text, token, self.lexer.offset())),
            None => {
                let message = format!("`{}` is not a function and takes no arguments", Short(text));
                Err(SyntaxError::new(self.lexer.offset(), message))
            }
        }
    }

    /// After `(_` in place of a term: `bv13 8)`.
    fn indexed_constant(&mut self) -> Result<Term> {
        let offset = self.lexer.offset();
        let stem = self.symbol()?;
        let value = stem.strip_prefix("bv").and_then(|digits| Integer::parse(digits.as_bytes(), 10));
        let Some(value) = value.filter(|_| !stem.contains(['+', '-', '_'])) else {
            let message = format!("unknown indexed constant `{}`", Short(stem));
            return Err(SyntaxError::new(offset, message));
        };
        self.require_theory(Theories::BIT_VECTORS)?;
        let width = self.width()?;
        self.close()?;
        Ok(self.store.bv(value, width))
    }

    /// After `((_`: an indexed operator and its `)`.
    fn indexed_head(&mut self) -> Result<Head> {
        let stem = self.symbol()?;
        let offset = self.lexer.offset();
        let op = match stem {
            "is" => return self.tester(),
            "extract" => Op::Extract { hi: self.index()?, lo: self.index()? },
            "repeat" => Op::Repeat(self.index()?),
            "zero_extend" => Op::ZeroExtend(self.index()?),
            "sign_extend" => Op::SignExtend(self.index()?),
            "rotate_left" => Op::RotateLeft(self.index()?),
            "rotate_right" => Op::RotateRight(self.index()?),
            "int_to_bv" | "int2bv" | "nat2bv" => Op::IntToBv(self.width()?),
            "divisible" => match self.lexer.next_token()? {
                Token::Numeral(digits) => {
                    let divisor = Integer::parse(digits.as_bytes(), 10).filter(|d| d.is_positive());
                    let error = || SyntaxError::new(self.lexer.offset(), "the divisor must be positive");
                    self.store.divisible_op(divisor.ok_or_else(error)?)
                }
                token => return Err(self.expected("a numeral", token)),
            },
            stem => {
                let message = format!("unknown indexed operator `{}`", Short(stem));
                return Err(SyntaxError::new(offset, message));
            }
        };
        if !self.environment.theories().have(op) {
            return Err(SyntaxError::new(offset, format!("the logic has no symbol `{stem}`")));
        }
        self.close()?;
        Ok(Head::Op(op))
    }

    /// After `((_ is`: the constructor, or its declaration as Z3 prints it, and the `)`.
    fn tester(&mut self) -> Result<Head> {
        let (text, nested) = match self.lexer.next_token()? {
            Token::Open => (self.symbol()?, true),
            Token::Symbol(text) | Token::Quoted(text) => (text, false),
            token => return Err(self.expected("a constructor", token)),
        };
        let head = self.tester_of(text)?;
        if nested {
            self.skip_rest()?;
        }
        self.close()?;
        Ok(head)
    }

    fn tester_of(&mut self, text: &str) -> Result<Head> {
        let name = self.environment.name(self.store, text);
        let tester = |meaning| match meaning {
            Meaning::Op(Op::Construct(constructor)) => Some(Head::Op(Op::Tester(constructor))),
            Meaning::AnyConstructor(constructor) => Some(Head::Tester(constructor)),
            _ => None,
        };
        self.environment.meanings(name).find_map(tester).ok_or_else(|| {
            let message = format!("`{}` is not a constructor", Short(text));
            SyntaxError::new(self.lexer.offset(), message)
        })
    }

    /// After `(as`: `f S)`, where `f` may be `const`.
    fn qualified(&mut self) -> Result<Head> {
        let text = self.symbol()?;
        let offset = self.lexer.offset();
        let name = self.environment.name(self.store, text);
        let sort = self.sort()?;
        self.close()?;
        let op = |meaning| match meaning {
            Meaning::Undeclared if text == "const" => Some(Op::ConstArray(sort)),
            Meaning::Op(op @ Op::Construct(constructor)) => {
                (self.store.constructor(constructor).sort == sort).then_some(op)
            }
            Meaning::Op(op @ Op::Apply(fun)) => (self.store.fun_decl(fun).range == sort).then_some(op),
            Meaning::AnyConstructor(constructor) => self.constructor_of(constructor, sort).map(Op::Construct),
            _ => None,
        };
        let op = self.environment.meanings(name).find_map(op);
        op.map(Head::Op).ok_or_else(|| self.not_of_sort(text, sort, offset))
    }

    #[cold]
    fn not_of_sort(&self, text: &str, sort: Sort, offset: usize) -> SyntaxError {
        let sort = self.store.display_sort(sort);
        SyntaxError::new(offset, format!("no function `{}` with values of sort {sort} is known", Short(text)))
    }

    // ---- binders -----------------------------------------------------------------------------------------

    fn open_let(&mut self) -> Result<()> {
        match self.lexer.next_token()? {
            Token::Open => {}
            token => return Err(self.expected("the bindings of `let`", token)),
        }
        let (values, binders) = (self.values.len(), self.binders.len());
        self.frames.push(Frame::Bindings { values, binders });
        if !self.binding_or_end()? {
            self.enter_let_body(values, binders);
        }
        Ok(())
    }

    /// Reads `(x` of the next binding of a `let`, or the `)` after the last.
    fn binding_or_end(&mut self) -> Result<bool> {
        match self.lexer.next_token()? {
            Token::Open => {
                let text = self.symbol()?;
                let name = self.environment.name(self.store, text);
                self.binders.push(name);
                Ok(true)
            }
            Token::Close => Ok(false),
            token => Err(self.expected("a binding of `let` or `)`", token)),
        }
    }

    fn enter_let_body(&mut self, values: usize, binders: usize) {
        let scope = self.environment.enter();
        for (&name, &value) in self.binders[binders..].iter().zip(&self.values[values..]) {
            self.environment.bind(name, Meaning::Term(value));
        }
        self.binders.truncate(binders);
        self.values.truncate(values);
        self.offsets.truncate(values);
        self.frames.pop();
        self.frames.push(Frame::LetBody { scope });
    }

    fn open_quantifier(&mut self, op: Op) -> Result<()> {
        let (values, binders) = (self.values.len(), self.binders.len());
        let scope = self.environment.enter();
        self.frames.push(Frame::Quantifier { op, values, binders, scope });
        let variables = self.sorted_variables()?;
        self.values.extend(variables);
        self.offsets.resize(self.values.len(), self.lexer.offset());
        Ok(())
    }

    /// Reads `((x S) (y T))` and binds the variables, which [`unbind`](Self::unbind) releases.
    pub(super) fn sorted_variables(&mut self) -> Result<Vec<Term>> {
        match self.lexer.next_token()? {
            Token::Open => {}
            token => return Err(self.expected("variables with their sorts", token)),
        }
        let mut variables = Vec::new();
        loop {
            match self.lexer.next_token()? {
                Token::Close => return Ok(variables),
                Token::Open => {
                    let text = self.symbol()?;
                    let name = self.environment.name(self.store, text);
                    let sort = self.sort()?;
                    self.close()?;
                    let (real, variable) = self.environment.bind_variable(self.store, name, sort);
                    self.binders.push(real);
                    variables.push(variable);
                }
                token => return Err(self.expected("a variable with its sort or `)`", token)),
            }
        }
    }

    /// Releases the names of the variables bound since the stack of binders had this height.
    pub(super) fn unbind(&mut self, binders: usize) {
        for name in self.binders.drain(binders..) {
            self.environment.unbind_variable(name);
        }
    }

    /// The height of the stack of binders, for [`unbind`](Self::unbind).
    pub(super) fn binders(&self) -> usize {
        self.binders.len()
    }

    /// The quantifier over the values above: its variables, then its body.
    fn quantified(&mut self, op: Op, values: usize, offset: usize) -> Result<Term> {
        let term = match &self.values[values..] {
            [body] if self.store.sort_of(*body) == Sort::BOOL => Ok(*body),
            args => self.store.app(op, args),
        };
        self.values.truncate(values);
        self.offsets.truncate(values);
        term.map_err(|error| SyntaxError::new(offset, error.to_string()))
    }

    /// Reads the attributes of an annotated term, up to its `)`.
    fn attributes(&mut self, term: Term) -> Result<()> {
        let mut token = self.lexer.next_token()?;
        loop {
            match token {
                Token::Close => return Ok(()),
                Token::Keyword(":named") => {
                    let text = self.symbol()?;
                    let name = self.environment.name(self.store, text);
                    self.named.push((self.environment.symbol(name), term));
                    // Only closed terms can be named; a term under a quantifier has no meaning outside of it.
                    if self.binders.is_empty() && self.environment.meaning(name) == Meaning::Undeclared {
                        self.environment.set_meaning(name, Meaning::Term(term));
                    }
                    token = self.lexer.next_token()?;
                }
                Token::Keyword(keyword) => {
                    let offset = self.lexer.offset();
                    token = self.lexer.next_token()?;
                    let value = match token {
                        Token::Symbol(value) | Token::Quoted(value) | Token::Numeral(value) => Some(value),
                        _ => None,
                    };
                    self.annotations.push(Annotation { term, keyword, value, offset });
                    match token {
                        Token::Keyword(_) | Token::Close => {}
                        Token::Open => {
                            self.skip_rest()?;
                            token = self.lexer.next_token()?;
                        }
                        Token::End => return Err(self.expected("`)`", token)),
                        _ => token = self.lexer.next_token()?,
                    }
                }
                token => return Err(self.expected("an attribute or `)`", token)),
            }
        }
    }

    // ---- match -------------------------------------------------------------------------------------------

    /// After the scrutinee of a `match`: keeps the term and opens the first case.
    fn begin_match(&mut self, scrutinee: Term, offset: usize) -> Result<()> {
        if self.store.datatype(self.store.sort_of(scrutinee)).is_none() {
            return Err(SyntaxError::new(offset, "`match` needs a term of a datatype"));
        }
        self.frames.pop();
        self.values.push(scrutinee);
        self.offsets.push(offset);
        for _ in 0..2 {
            match self.lexer.next_token()? {
                Token::Open => {}
                token => return Err(self.expected("the cases of `match`", token)),
            }
        }
        self.begin_case(self.cases.len())
    }

    /// Reads the pattern of a case and binds its variables to the fields.
    fn begin_case(&mut self, cases: usize) -> Result<()> {
        let scrutinee = *self.values.last().expect("the term under `match` is kept below its cases");
        let scope = self.environment.enter();
        let (text, has_fields) = match self.lexer.next_token()? {
            Token::Open => (self.symbol()?, true),
            Token::Symbol(text) | Token::Quoted(text) => (text, false),
            token => return Err(self.expected("a pattern", token)),
        };
        let offset = self.lexer.offset();
        let name = self.environment.name(self.store, text);
        let sort = self.store.sort_of(scrutinee);
        let constructor = self.environment.meanings(name).find_map(|meaning| match meaning {
            Meaning::Op(Op::Construct(id)) if self.store.constructor(id).sort == sort => Some(id),
            Meaning::AnyConstructor(id) => self.constructor_of(id, sort),
            _ => None,
        });
        match constructor {
            Some(id) => {
                let fields = &self.store.constructor(id).fields;
                for field in 0..if has_fields { fields.len() } else { 0 } {
                    let text = self.symbol()?;
                    let name = self.environment.name(self.store, text);
                    let selector = Op::Selector { constructor: id, field: field as u32 };
                    let value = self.store.app(selector, &[scrutinee]);
                    let value = value.map_err(|error| SyntaxError::new(offset, error.to_string()))?;
                    self.environment.bind(name, Meaning::Term(value));
                }
                if has_fields {
                    self.close()?;
                } else if !fields.is_empty() {
                    let message = format!("the pattern `{}` lacks the constructor's fields", Short(text));
                    return Err(SyntaxError::new(offset, message));
                }
            }
            None if has_fields => {
                let sort = self.store.display_sort(sort);
                let message = format!("`{}` is not a constructor of {sort}", Short(text));
                return Err(SyntaxError::new(offset, message));
            }
            None => self.environment.bind(name, Meaning::Term(scrutinee)),
        }
        self.frames.push(Frame::Case { constructor, cases, scope });
        Ok(())
    }

    /// `match` as a chain of `ite` over testers. The last case needs no test.
    fn finish_match(&mut self, cases: usize) -> Result<Term> {
        let offset = self.offsets.pop().expect("the term under `match` is kept below its cases");
        let scrutinee = self.values.pop().expect("the term under `match` is kept below its cases");
        let found: Vec<_> = self.cases.drain(cases..).collect();
        let datatype = self.store.datatype(self.store.sort_of(scrutinee)).expect("begin_match checks it");
        let covers = |id: ConstructorId| found.iter().any(|(c, _)| c.is_none_or(|c| c == id));
        if let Some(&missing) = datatype.constructors().iter().find(|&&id| !covers(id)) {
            let name = self.store.display_symbol(self.store.constructor(missing).name);
            return Err(SyntaxError::new(offset, format!("`match` has no case for `{name}`")));
        }
        // Cases after one for every value are unreachable.
        let last = found.iter().position(|(c, _)| c.is_none()).unwrap_or(found.len() - 1);
        let mut result = found[last].1;
        for &(constructor, body) in found[..last].iter().rev() {
            let constructor = constructor.expect("only the last case is for every value");
            let test = self.store.app(Op::Tester(constructor), &[scrutinee]);
            let ite = test.and_then(|test| self.store.app(Op::Ite, &[test, body, result]));
            result =
                ite.map_err(|_| SyntaxError::new(offset, "the cases of `match` have different sorts"))?;
        }
        Ok(result)
    }

    // ---- the end of an application ----------------------------------------------------------------------

    /// At `)`: builds the innermost open application, and returns its offset.
    fn finish_application(&mut self) -> Result<(Term, usize)> {
        match self.frames.last() {
            Some(&Frame::Application { head, values, offset }) => {
                let term = self.apply(head, values, offset)?;
                self.frames.pop();
                Ok((term, offset))
            }
            _ => Err(self.expected("a term", Token::Close)),
        }
    }

    // ---- small things ------------------------------------------------------------------------------------

    /// Reads a symbol, plain or within bars.
    pub fn symbol(&mut self) -> Result<&'t str> {
        match self.lexer.next_token()? {
            Token::Symbol(text) | Token::Quoted(text) => Ok(text),
            token => Err(self.expected("a symbol", token)),
        }
    }

    /// Reads a symbol if the next token is one.
    pub fn optional_symbol(&mut self) -> Result<Option<Symbol>> {
        Ok(self.optional_word()?.map(|text| self.store.symbol(text)))
    }

    /// Reads a symbol if the next token is one, and returns its text.
    pub fn optional_word(&mut self) -> Result<Option<&'t str>> {
        let before = self.lexer.clone();
        match self.lexer.next_token()? {
            Token::Symbol(text) | Token::Quoted(text) => Ok(Some(text)),
            _ => {
                self.lexer = before;
                Ok(None)
            }
        }
    }

    /// Reads a keyword, which starts with a colon.
    pub fn keyword(&mut self) -> Result<&'t str> {
        match self.lexer.next_token()? {
            Token::Keyword(text) => Ok(text),
            token => Err(self.expected("a keyword", token)),
        }
    }

    /// Reads a keyword if the next token is one.
    pub fn optional_keyword(&mut self) -> Result<Option<&'t str>> {
        let before = self.lexer.clone();
        match self.lexer.next_token()? {
            Token::Keyword(text) => Ok(Some(text)),
            _ => {
                self.lexer = before;
                Ok(None)
            }
        }
    }

    /// Reads a string, and returns it as written between its quotation marks.
    pub fn string(&mut self) -> Result<String> {
        match self.lexer.next_token()? {
            Token::String(text) => Ok(String::from_utf8_lossy(text).into_owned()),
            token => Err(self.expected("a string", token)),
        }
    }

    /// Reads a numeral if the next token is one.
    pub fn optional_numeral(&mut self) -> Result<Option<usize>> {
        let before = self.lexer.clone();
        match self.lexer.next_token()? {
            Token::Numeral(digits) => digits
                .parse()
                .map(Some)
                .map_err(|_| SyntaxError::new(self.lexer.offset(), "the number is too large")),
            _ => {
                self.lexer = before;
                Ok(None)
            }
        }
    }

    /// Reads `(t u ...)`.
    pub fn terms(&mut self) -> Result<Vec<Term>> {
        self.expect_open()?;
        let mut terms = Vec::new();
        loop {
            let before = self.lexer.clone();
            if self.lexer.next_token()? == Token::Close {
                return Ok(terms);
            }
            self.lexer = before;
            terms.push(self.term()?);
        }
    }

    /// Reads the name of a declared function if the next token is one.
    pub fn optional_function(&mut self) -> Result<Option<Fun>> {
        let before = self.lexer.clone();
        if let Token::Symbol(text) | Token::Quoted(text) = self.lexer.next_token()? {
            let name = self.environment.name(self.store, text);
            if let Meaning::Op(Op::Apply(fun)) = self.environment.declared(name) {
                return Ok(Some(fun));
            }
        }
        self.lexer = before;
        Ok(None)
    }

    pub(super) fn index(&mut self) -> Result<u32> {
        match self.lexer.next_token()? {
            Token::Numeral(digits) => {
                digits.parse().map_err(|_| SyntaxError::new(self.lexer.offset(), "the index is too large"))
            }
            token => Err(self.expected("an index", token)),
        }
    }

    /// Reads the width of a bit-vector, which is positive.
    pub(super) fn width(&mut self) -> Result<u32> {
        let message = match self.index()? {
            0 => "the width of a bit-vector must be positive".to_owned(),
            width if width <= MAX_WIDTH => return Ok(width),
            _ => format!("the largest width is {MAX_WIDTH}"),
        };
        Err(SyntaxError::new(self.lexer.offset(), message))
    }
}
