//! Reading witnesses: the formats that [`Witness::write`] writes for programs, and the models of other solvers.
//!
//! A text that starts with `{` is JSON. Any other text consists of S-expressions: `define-fun`s make a model,
//! `lemma`s a proof by induction, an `order` with `clause`s a saturation and `step`s a refutation, with or without lists around them, such as `(model ...)`, and with the answer `sat` or `unsat`
//! in front. Commands such as `set-info` are skipped. A definition may refer to previous definitions, also of auxiliary
//! functions, and of recursive ones, which `define-fun-rec` and `define-funs-rec` define. An auxiliary function whose name starts with
//! `lemma` claims a lemma about these (`folds.rs`). Steps may refer to definitions of values and of functions.
//!
//! The reader only ensures that a witness is well-sorted and complete: predicates in clauses are defined, variables
//! have values. The checker decides whether it proves anything.

use std::cell::Cell;
use std::io::{self, BufReader};

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::smtlib::{Declaration, Environment, Item, Lexer, Reader, SyntaxError, Token};
use shofar_logic::{FoldLemma, Fun, KnownValues, Magnitudes, Op, Sort, Symbol, Term, TermStore, Value};
use shofar_run::{Limits, Poll, Reason, Stop};

use super::folds::lemma_of;
use super::json::{
    JsonDefinition, JsonFunction, JsonLemma, JsonParameter, JsonStep, JsonValue, JsonWitness, variable_name,
};
use super::saturation::{JsonOrder, JsonSaturation, JsonWeight};
use super::{
    AtomOrder, Definition, Induction, Interpretation, JointLemma, Model, PureClause, Refutation, Saturation,
    Step, Weights, Witness,
};
use crate::Context;
use crate::frontend::{ParseError, Unread};
use crate::system::HornSystem;

/// The maximal number of bits of numbers. Computing with larger ones would take too long.
const MOST_BITS: u64 = 1 << 22;

/// The length in bytes from which texts inside of JSON are read within limits.
const LONG_TEXT: usize = 1 << 12;

/// Definitions or steps in JSON between two polls of the limits.
const STOP_INTERVAL: usize = 64;

/// Reads a witness of a system that was read in the same [environment](crate::parse_in). `file` is the name of the text
/// in error messages.
pub fn read(
    store: &TermStore,
    environment: &mut Environment,
    system: &HornSystem,
    file: &str,
    text: impl AsRef<[u8]>,
) -> Result<Witness, ParseError> {
    read_polling(store, environment, system, file, text.as_ref(), &Poll::new(&Limits::default()))
        .map_err(Unread::mistake)
}

/// Like [`read`], within limits.
pub fn read_within(
    context: &Context<'_>,
    environment: &mut Environment,
    system: &HornSystem,
    file: &str,
    text: impl AsRef<[u8]>,
) -> Result<Witness, Unread> {
    read_polling(context.store, environment, system, file, text.as_ref(), &Poll::new(&context.limits))
}

fn read_polling(
    store: &TermStore,
    environment: &mut Environment,
    system: &HornSystem,
    file: &str,
    text: &[u8],
    limits: &Poll<'_>,
) -> Result<Witness, Unread> {
    let located = |error: SyntaxError| Unread::of(file, text, error);
    let mut builder = Builder::new(store, system, limits);
    let is_json = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if is_json {
        let witness = json(file, text, limits)?;
        // Positions inside of strings would mislead; messages name the item instead.
        let start =
            |error: SyntaxError| located(SyntaxError { offset: 0, end: Some(0), ..error }).without_span();
        builder.json(environment, witness).map_err(start)?;
        return builder.finish().map_err(|message| start(error(0, message)));
    }
    builder.declare_elements(environment, text).map_err(located)?;
    builder.text(&mut Reader::new(store, environment, text).within(limits)).map_err(located)?;
    builder.finish().map_err(|message| located(error(text.len(), message)).without_span())
}

/// Reads JSON within limits.
fn json(file: &str, text: &[u8], limits: &Poll<'_>) -> Result<JsonWitness, Unread> {
    let interruption = Cell::new(None);
    let read = serde_json::from_reader(BufReader::new(Bounded { text, limits, interruption: &interruption }));
    if let Some(reason) = interruption.get() {
        return Err(Unread::Interrupted(reason));
    }
    // The stream reader looks ahead and reports a position behind the error; the slice reader reports the exact one.
    read.or_else(|_| serde_json::from_slice(text)).map_err(|error| {
        let message = error.to_string();
        let message = message.split_once(" at line ").map_or(&*message, |(message, _)| message);
        Unread::of(file, text, self::error(offset_of(text, error.line(), error.column()), message))
    })
}

/// The offset of a line and a column in bytes, both counted from one; column zero is the end of the line before.
fn offset_of(text: &[u8], line: usize, column: usize) -> usize {
    let newlines = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let start = newlines.map(|(newline, _)| newline + 1).nth(line.wrapping_sub(2)).unwrap_or(0);
    (start + column).saturating_sub(1).min(text.len())
}

/// A text that ends with an error at the limits. The error cannot carry the reason through `serde_json`, so it is
/// stored separately.
struct Bounded<'a> {
    text: &'a [u8],
    limits: &'a Poll<'a>,
    interruption: &'a Cell<Option<Reason>>,
}

impl io::Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interruption.set(self.limits.interruption());
        match self.interruption.get() {
            Some(reason) => Err(io::Error::other(Stop::from(reason))),
            None => self.text.read(buffer),
        }
    }
}

type Result<T, E = SyntaxError> = std::result::Result<T, E>;

fn error(offset: usize, message: impl Into<String>) -> SyntaxError {
    SyntaxError::new(offset, message)
}

/// The state of reading a witness.
struct Builder<'a> {
    store: &'a TermStore,
    system: &'a HornSystem,
    limits: &'a Poll<'a>,
    /// The predicates and other functions, by name.
    functions: FxHashMap<Symbol, (Fun, Option<usize>)>,
    answer: Option<bool>,
    /// The definitions, indexed by predicate.
    definitions: Vec<Option<Definition>>,
    /// Whether there is any definition, also of an auxiliary function.
    has_definitions: bool,
    values: KnownValues,
    magnitudes: Magnitudes,
    lemmas: Vec<FoldLemma>,
    joint_lemmas: Vec<JointLemma>,
    order: Option<AtomOrder>,
    pure_clauses: Vec<PureClause>,
    steps: Vec<Step>,
    /// The positions of steps, by number.
    numbers: FxHashMap<usize, usize>,
}

/// The parts of a step before its assembly.
struct Parts {
    number: usize,
    /// The predicate's function; `None` for `false`.
    predicate: Option<Fun>,
    fact: Vec<Term>,
    clause: Option<usize>,
    name: Option<String>,
    premises: Vec<usize>,
    instance: Vec<(String, Term)>,
}

impl<'a> Builder<'a> {
    fn new(store: &'a TermStore, system: &'a HornSystem, limits: &'a Poll<'a>) -> Self {
        let predicates = system.predicates().map(|(id, fun)| (fun, Some(id.index())));
        let others = system.functions.iter().map(|&fun| (fun, None));
        let named = |(fun, id): (Fun, Option<usize>)| (store.fun_decl(fun).name, (fun, id));
        Builder {
            store,
            system,
            limits,
            functions: predicates.chain(others).map(named).collect(),
            answer: None,
            definitions: vec![None; system.predicates().len()],
            has_definitions: false,
            values: KnownValues::default(),
            magnitudes: Magnitudes::default(),
            lemmas: Vec::new(),
            joint_lemmas: Vec::new(),
            order: None,
            pure_clauses: Vec::new(),
            steps: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    /// Declares the names of elements in the text, if the system declares sorts.
    fn declare_elements(&self, environment: &mut Environment, text: &[u8]) -> Result<()> {
        let has_elements =
            self.system.sorts.iter().any(|declaration| matches!(declaration, Declaration::Sort(..)));
        if !has_elements {
            return Ok(());
        }
        let mut known: FxHashSet<&str> = FxHashSet::default();
        let mut lexer = Lexer::new(text);
        if text.len() > LONG_TEXT {
            lexer = lexer.within(self.limits);
        }
        loop {
            match lexer.next_token()? {
                Token::End => return Ok(()),
                Token::Symbol(name) | Token::Quoted(name) => {
                    if let Some((sort, _)) = name.rsplit_once("!val!")
                        && known.insert(name)
                    {
                        // The name of an element contains its sort. Other names stay undeclared.
                        let declared = format!("|{name}| {sort})");
                        let _ = Reader::new(self.store, environment, declared.as_bytes()).declare_variable();
                    }
                }
                _ => {}
            }
        }
    }

    // ---- S-expressions -----------------------------------------------------------------------------------

    fn text(&mut self, reader: &mut Reader<'_, '_>) -> Result<()> {
        let mut depth = 0u64;
        loop {
            let item = reader.item()?;
            let offset = reader.offset();
            match item {
                Item::End if depth == 0 => return Ok(()),
                Item::End => return Err(error(offset, "expected `)`, found the end of the file")),
                Item::Open | Item::Command("model" | "refutation" | "saturation") => depth += 1,
                Item::Close if depth > 0 => depth -= 1,
                Item::Close => return Err(error(offset, "unexpected `)`")),
                Item::Word("sat") => self.set_answer(true).map_err(|message| error(offset, message))?,
                Item::Word("unsat") => self.set_answer(false).map_err(|message| error(offset, message))?,
                Item::Word(word) => {
                    return Err(error(offset, format!("`{}` proves nothing", shortened(word))));
                }
                Item::Command("define-fun") => self.definition(reader)?,
                Item::Command("define-fun-rec") => reader.define_fold()?,
                Item::Command("define-funs-rec") => reader.define_folds()?,
                Item::Command("lemma") => self.lemma(reader)?,
                Item::Command("order") => self.order(reader)?,
                Item::Command("clause") => self.pure_clause(reader)?,
                Item::Command("step") => self.step(reader)?,
                Item::Command("set-info" | "set-option" | "set-logic" | "echo") => reader.skip_rest()?,
                Item::Command("error") => return Err(error(offset, "the text is an error message")),
                Item::Command(name) => {
                    return Err(error(
                        offset,
                        format!("expected `define-fun` or `step`, found `{}`", shortened(name)),
                    ));
                }
            }
        }
    }

    fn set_answer(&mut self, is_sat: bool) -> Result<(), String> {
        match self.answer.replace(is_sat) {
            Some(other) if other != is_sat => Err("the text is a witness of two answers".to_owned()),
            _ => Ok(()),
        }
    }

    /// The rest of `(define-fun P ((x S)) Bool body)`.
    fn definition(&mut self, reader: &mut Reader<'_, '_>) -> Result<()> {
        let offset = reader.offset();
        self.has_definitions = true;
        let (name, parameters, body) = reader.interpretation()?;
        let shown = self.store.display_symbol(name);
        // A value computes nothing. Many values may share their parts, so each part is visited once.
        let is_value = self.values.value(self.store, body).is_some();
        if !is_value && self.magnitudes.of(self.store, body) > MOST_BITS {
            return Err(error(offset, format!("the numbers in the definition of {shown} are too large")));
        }
        // Other names are auxiliary functions and values, which the reader expands.
        let Some(&(fun, predicate)) = self.functions.get(&name) else {
            self.lemmas.extend(lemma_of(self.store, name, &parameters, body));
            return Ok(());
        };
        self.set_answer(true).map_err(|message| error(offset, message))?;
        let Some(predicate) = predicate else {
            let message =
                format!("{shown} is a function of the clauses: only predicates can be given a meaning");
            return Err(error(offset, message));
        };
        let sorts = parameters.iter().map(|&parameter| self.store.sort_of(parameter));
        let domain = &self.store.fun_decl(fun).domain;
        if self.store.sort_of(body) != Sort::BOOL || !sorts.eq(domain.iter().copied()) {
            return Err(error(offset, format!("the definition does not have the sorts of {shown}")));
        }
        self.definitions[predicate] = Some(Definition { parameters, interpretation: body.into() });
        Ok(())
    }

    /// The rest of `(step 3 (P 1 2) :clause 2 :premises (1 2) :instance ((x 1)))`.
    fn step(&mut self, reader: &mut Reader<'_, '_>) -> Result<()> {
        let offset = reader.offset();
        let located = |message| error(offset, message);
        self.set_answer(false).map_err(located)?;
        let number =
            reader.optional_numeral()?.ok_or_else(|| located("a step needs its number".to_owned()))?;
        let fact = reader.formula()?;
        let (predicate, fact) = match self.store.view(fact) {
            (Op::False, _) => (None, Vec::new()),
            (Op::Apply(fun), args) => (Some(fun), args.to_vec()),
            _ => return Err(located(format!("step {number} is neither a predicate's fact nor false"))),
        };
        let mut parts = Parts {
            number,
            predicate,
            fact,
            clause: None,
            name: None,
            premises: Vec::new(),
            instance: Vec::new(),
        };
        while let Some(attribute) = reader.optional_keyword()? {
            match attribute {
                ":clause" => parts.clause = reader.optional_numeral()?,
                ":name" => parts.name = Some(reader.symbol()?.to_owned()),
                ":premises" => {
                    reader.expect_open()?;
                    while let Some(premise) = reader.optional_numeral()? {
                        parts.premises.push(premise);
                    }
                    reader.close()?;
                }
                ":instance" => self.instance(reader, &mut parts)?,
                _ => return Err(located(format!("a step has no attribute {attribute}"))),
            }
        }
        reader.close()?;
        self.add_step(parts).map_err(located)
    }

    /// `((x 1) (y 2))`.
    fn instance(&self, reader: &mut Reader<'_, '_>, parts: &mut Parts) -> Result<()> {
        reader.expect_open()?;
        loop {
            match reader.item()? {
                Item::Command(name) => {
                    let value = reader.term()?;
                    reader.close()?;
                    parts.instance.push((name.to_owned(), value));
                }
                Item::Close => return Ok(()),
                _ => return Err(error(reader.offset(), "expected a variable with its value or `)`")),
            }
        }
    }

    /// The rest of `(lemma formula :unfold (1 2))`.
    fn lemma(&mut self, reader: &mut Reader<'_, '_>) -> Result<()> {
        let offset = reader.offset();
        let located = |message| error(offset, message);
        self.set_answer(true).map_err(located)?;
        let formula = reader.formula()?;
        let mut unfolded = Vec::new();
        while let Some(attribute) = reader.optional_keyword()? {
            if attribute != ":unfold" {
                return Err(located(format!("a lemma has no attribute {attribute}")));
            }
            reader.expect_open()?;
            while let Some(premise) = reader.optional_numeral()? {
                unfolded.push(premise);
            }
            reader.close()?;
        }
        reader.close()?;
        self.add_lemma(formula, &unfolded).map_err(located)
    }

    /// Adds a lemma whose unfolded premises are counted from one.
    fn add_lemma(&mut self, formula: Term, unfolded: &[usize]) -> Result<(), String> {
        if self.magnitudes.of(self.store, formula) > MOST_BITS {
            return Err("the numbers in the lemma are too large".to_owned());
        }
        let position = |&number: &usize| number.checked_sub(1).ok_or("premises are counted from one");
        let unfolded = unfolded.iter().map(position).collect::<Result<Vec<usize>, _>>()?;
        self.joint_lemmas.push(JointLemma::of_formula(self.store, self.system, formula, &unfolded)?);
        Ok(())
    }

    /// The rest of `(order derivations)` or `(order :variable 1 :constructors ((Z 1)) :distinct 1 :predicates ((P 1)))`.
    fn order(&mut self, reader: &mut Reader<'_, '_>) -> Result<()> {
        let offset = reader.offset();
        let located = |message: &str| error(offset, message);
        self.set_answer(true).map_err(|message| error(offset, message))?;
        let order = match reader.optional_word()? {
            Some("derivations") => AtomOrder::Derivations,
            Some(word) => return Err(error(offset, format!("there is no order {}", shortened(word)))),
            None => {
                let (mut variable, mut distinct, mut constructors, mut predicates) = Default::default();
                while let Some(attribute) = reader.optional_keyword()? {
                    match attribute {
                        ":variable" => variable = reader.optional_numeral()?,
                        ":distinct" => distinct = reader.optional_numeral()?,
                        ":constructors" => constructors = self.weights(reader)?,
                        ":predicates" => predicates = self.weights(reader)?,
                        _ => return Err(error(offset, format!("an order has no attribute {attribute}"))),
                    }
                }
                let (Some(variable), Some(distinct)) = (variable, distinct) else {
                    return Err(located("an order needs weights of variables and of `distinct`"));
                };
                let weight =
                    |weight: usize| u32::try_from(weight).map_err(|_| located("a weight is too large"));
                let (variable, distinct) = (weight(variable)?, weight(distinct)?);
                self.weights_of(variable, constructors, distinct, predicates)
                    .map_err(|message| error(offset, message))?
            }
        };
        reader.close()?;
        self.set_order(order).map_err(|message| error(offset, message))
    }

    /// `((Z 1) (S 2))`.
    fn weights(&self, reader: &mut Reader<'_, '_>) -> Result<Vec<JsonWeight>> {
        reader.expect_open()?;
        let mut weights = Vec::new();
        loop {
            match reader.item()? {
                Item::Command(name) => {
                    let weight = reader.optional_numeral()?.and_then(|weight| u32::try_from(weight).ok());
                    let weight = weight.ok_or_else(|| error(reader.offset(), "expected a weight"))?;
                    reader.close()?;
                    weights.push(JsonWeight { name: name.to_owned(), weight });
                }
                Item::Close => return Ok(weights),
                _ => return Err(error(reader.offset(), "expected a name with its weight or `)`")),
            }
        }
    }

    fn weights_of(
        &self,
        variable: u32,
        constructors: Vec<JsonWeight>,
        distinct: u32,
        predicates: Vec<JsonWeight>,
    ) -> Result<AtomOrder, String> {
        let constructors = constructors.into_iter().map(|it| (self.store.symbol(&it.name), it.weight));
        let predicate = |JsonWeight { name, weight }: JsonWeight| {
            let symbol = self.store.symbol(&name);
            let known = self.system.predicates().find(|&(_, fun)| self.store.fun_decl(fun).name == symbol);
            known
                .map(|(id, _)| (id, weight))
                .ok_or_else(|| format!("there is no predicate {}", shortened(&name)))
        };
        Ok(AtomOrder::KnuthBendix(Weights {
            variable,
            constructors: constructors.collect(),
            distinct,
            predicates: predicates.into_iter().map(predicate).collect::<Result<_, String>>()?,
        }))
    }

    fn set_order(&mut self, order: AtomOrder) -> Result<(), String> {
        match self.order.replace(order) {
            Some(_) => Err("the text has two orders".to_owned()),
            None => Ok(()),
        }
    }

    /// The rest of `(clause formula :select 1)`.
    fn pure_clause(&mut self, reader: &mut Reader<'_, '_>) -> Result<()> {
        let offset = reader.offset();
        let located = |message| error(offset, message);
        self.set_answer(true).map_err(located)?;
        let formula = reader.formula()?;
        let mut select = None;
        while let Some(attribute) = reader.optional_keyword()? {
            if attribute != ":select" {
                return Err(located(format!("a clause has no attribute {attribute}")));
            }
            let number = reader.optional_numeral()?;
            select = Some(number.ok_or_else(|| located("expected the number of an atom".to_owned()))?);
        }
        reader.close()?;
        self.add_pure_clause(formula, select).map_err(located)
    }

    /// Adds a pure clause whose selected atom is counted from one.
    fn add_pure_clause(&mut self, formula: Term, select: Option<usize>) -> Result<(), String> {
        if self.magnitudes.of(self.store, formula) > MOST_BITS {
            return Err("the numbers in the clause are too large".to_owned());
        }
        self.pure_clauses.push(PureClause::of_formula(self.store, self.system, formula, select)?);
        Ok(())
    }

    // ---- JSON --------------------------------------------------------------------------------------------

    fn json(&mut self, environment: &mut Environment, witness: JsonWitness) -> Result<()> {
        let whole = |message: String| error(0, message);
        self.set_answer(match &*witness.answer {
            "sat" => true,
            "unsat" => false,
            _ => return Err(error(0, "the answer is neither \"sat\" nor \"unsat\"")),
        })
        .map_err(whole)?;
        for family in &witness.functions {
            let name = family.first().map_or("", |function| &*function.function);
            let about = |error: SyntaxError| error.about(format!("the definition of {name}"));
            self.json_family(environment, family).map_err(about)?;
        }
        for lemma in &witness.lemmas {
            let JsonLemma { lemma: name, parameters, body } = lemma;
            let about = |error: SyntaxError| error.about(format!("the definition of {name}"));
            self.json_formula(environment, name, parameters, body).map_err(about)?;
        }
        for (position, definition) in witness.model.unwrap_or_default().into_iter().enumerate() {
            self.go_on(position)?;
            let about =
                |error: SyntaxError| error.about(format!("the definition of {}", definition.predicate));
            self.json_definition(environment, &definition).map_err(about)?;
        }
        for (position, value) in witness.definitions.iter().enumerate() {
            self.go_on(position)?;
            let about = |error: SyntaxError| error.about(format!("the definition of {}", value.name));
            self.json_value(environment, value).map_err(about)?;
        }
        for (position, lemma) in witness.induction.unwrap_or_default().into_iter().enumerate() {
            self.go_on(position)?;
            let about = |error: SyntaxError| error.about(format!("lemma {}", position + 1));
            let formula = self.json_closed(environment, &lemma.lemma).map_err(about)?;
            self.add_lemma(formula, &lemma.unfold).map_err(|message| about(error(0, message)))?;
        }
        if let Some(JsonSaturation { order, clauses }) = witness.saturation {
            let order = match order {
                JsonOrder::Derivations => AtomOrder::Derivations,
                JsonOrder::Weights(it) => self
                    .weights_of(it.variable, it.constructors, it.distinct, it.predicates)
                    .map_err(whole)?,
            };
            self.set_order(order).map_err(whole)?;
            for (position, clause) in clauses.into_iter().enumerate() {
                self.go_on(position)?;
                let about = |error: SyntaxError| error.about(format!("clause {}", position + 1));
                let formula = self.json_closed(environment, &clause.clause).map_err(about)?;
                let added = self.add_pure_clause(formula, clause.select);
                added.map_err(|message| about(error(0, message)))?;
            }
        }
        for (position, step) in witness.steps.unwrap_or_default().into_iter().enumerate() {
            self.go_on(position)?;
            self.set_answer(false).map_err(whole)?;
            let number = step.step;
            let about = |error: SyntaxError| error.about(format!("step {number}"));
            let parts = self.json_step(environment, step).map_err(about)?;
            self.add_step(parts).map_err(whole)?;
        }
        Ok(())
    }

    /// Polls the limits at every [`STOP_INTERVAL`]-th item.
    fn go_on(&self, position: usize) -> Result<()> {
        if !position.is_multiple_of(STOP_INTERVAL) {
            return Ok(());
        }
        self.limits.interruption().map_or(Ok(()), |reason| Err(SyntaxError::interrupted(0, reason)))
    }

    fn json_definition(&mut self, environment: &mut Environment, json: &JsonDefinition) -> Result<()> {
        let JsonDefinition { predicate, parameters, body } = json;
        self.json_formula(environment, predicate, parameters, body)
    }

    /// The definition of a predicate or a lemma.
    fn json_formula(
        &mut self,
        environment: &mut Environment,
        name: &str,
        parameters: &[JsonParameter],
        body: &str,
    ) -> Result<()> {
        let text = format!("{} ({}) Bool {body})", self.symbol(name), self.json_parameters(parameters));
        let mut reader = self.json_reader(environment, &text)?;
        self.definition(&mut reader)?;
        end(&mut reader)
    }

    fn json_value(&mut self, environment: &mut Environment, json: &JsonValue) -> Result<()> {
        let JsonValue { name, parameters, sort, body, .. } = json;
        let text = format!("{} ({}) {sort} {body})", self.symbol(name), self.json_parameters(parameters));
        let mut reader = self.json_reader(environment, &text)?;
        self.definition(&mut reader)?;
        end(&mut reader)
    }

    fn json_family(&self, environment: &mut Environment, family: &[JsonFunction]) -> Result<()> {
        let mut signatures = String::new();
        let mut bodies = String::new();
        for JsonFunction { function, parameters, sort, body } in family {
            let (name, parameters) = (self.symbol(function), self.json_parameters(parameters));
            signatures += &format!("({name} ({parameters}) {sort})");
            bodies += &format!("{body} ");
        }
        let text = format!("({signatures}) ({bodies}))");
        let mut reader = self.json_reader(environment, &text)?;
        reader.define_folds()?;
        end(&mut reader)
    }

    /// `(x Int) (y Bool)`.
    fn json_parameters(&self, parameters: &[JsonParameter]) -> String {
        let parameter =
            |JsonParameter { name, sort }: &JsonParameter| format!("({} {sort})", self.symbol(name));
        parameters.iter().map(parameter).collect()
    }

    /// The name as a symbol of SMT-LIB.
    fn symbol(&self, name: &str) -> String {
        self.store.display_symbol(self.store.symbol(name)).to_string()
    }

    fn json_step(&self, environment: &mut Environment, json: JsonStep) -> Result<Parts> {
        let predicate = match &json.predicate {
            Some(name) => match self.functions.get(&self.store.symbol(name)) {
                Some(&(fun, Some(_))) => Some(fun),
                _ => return Err(error(0, format!("there is no predicate {name}"))),
            },
            None => None,
        };
        let mut term = |text: &str| {
            let mut reader = self.json_reader(environment, text)?;
            let term = reader.term()?;
            end(&mut reader).map(|()| term)
        };
        let fact = json.arguments.iter().map(|text| term(text)).collect::<Result<_>>()?;
        let value = |(name, text): (String, String)| term(&text).map(|value| (name, value));
        Ok(Parts {
            number: json.step,
            predicate,
            fact,
            clause: Some(json.clause),
            name: json.name,
            premises: json.premises,
            instance: json.instance.into_iter().map(value).collect::<Result<_>>()?,
        })
    }

    /// A formula inside of JSON.
    fn json_closed(&self, environment: &mut Environment, text: &str) -> Result<Term> {
        let mut reader = self.json_reader(environment, text)?;
        let formula = reader.formula()?;
        end(&mut reader).map(|()| formula)
    }

    /// A reader for a text inside of JSON.
    fn json_reader<'t>(&self, environment: &'t mut Environment, text: &'t str) -> Result<Reader<'t, 't>>
    where
        'a: 't,
    {
        self.declare_elements(environment, text.as_bytes())?;
        let reader = Reader::new(self.store, environment, text.as_bytes());
        Ok(if text.len() > LONG_TEXT { reader.within(self.limits) } else { reader })
    }

    // ---- putting together --------------------------------------------------------------------------------

    /// Adds a step whose premises were added before.
    fn add_step(&mut self, parts: Parts) -> Result<(), String> {
        let Parts { number, predicate, fact, clause, name, premises, instance } = parts;
        let (store, system) = (self.store, self.system);
        let about = |message: String| format!("step {number}: {message}");
        let clause = clause.and_then(|clause| clause.checked_sub(1));
        let clause = clause.filter(|&clause| clause < system.clauses.len());
        let clause = clause.ok_or_else(|| about("there is no such clause".to_owned()))?;
        let content = &system.clauses[clause];
        if let Some(name) = name
            && content.name.map(|name| store.name(name)) != Some(&name)
        {
            return Err(about(format!("clause {} is not called {name}", clause + 1)));
        }
        if content.head.as_ref().map(|head| system.fun(head.predicate)) != predicate {
            return Err(about(format!("clause {} does not derive such a fact", clause + 1)));
        }
        let values = &mut self.values;
        let mut value = |term: Term, sort: Sort| {
            let value = match values.value(store, term) {
                Some(Value::Int(value)) if sort == Sort::REAL => Some(Value::Real(value.into())),
                value => value,
            };
            let fits = value.filter(|value| store.value_sort(value) == sort);
            let shown = || format!("expected a value of sort {}", store.display_sort(sort));
            fits.ok_or_else(|| about(shown()))
        };
        let domain = predicate.map_or(&[][..], |fun| &store.fun_decl(fun).domain);
        if domain.len() != fact.len() {
            return Err(about("the fact has another number of arguments than its predicate".to_owned()));
        }
        let fact = fact.into_iter().zip(domain).map(|(term, &sort)| value(term, sort));
        let fact = fact.collect::<Result<_, String>>()?;
        let count = instance.len();
        let given: FxHashMap<String, Term> = instance.into_iter().collect();
        if given.len() != count || count != content.variables.len() {
            return Err(about(format!("the instance is not one of clause {}", clause + 1)));
        }
        let instantiation = content.variables.iter().map(|&variable| {
            let name = variable_name(store, variable);
            let term = given.get(&name).ok_or_else(|| about(format!("there is no value of {name}")))?;
            value(*term, store.sort_of(variable))
        });
        let instantiation = instantiation.collect::<Result<_, String>>()?;
        let premises = premises.iter().map(|premise| {
            let position = self.numbers.get(premise).copied();
            position.ok_or_else(|| about(format!("the premise {premise} is not an earlier step")))
        });
        let premises = premises.collect::<Result<_, String>>()?;
        if self.numbers.insert(number, self.steps.len()).is_some() {
            return Err(about("the number is that of an earlier step, too".to_owned()));
        }
        self.steps.push(Step { clause, instantiation, premises, fact });
        Ok(())
    }

    fn finish(&mut self) -> Result<Witness, String> {
        match self.answer.or(self.has_definitions.then_some(true)) {
            None => Err("the text is not a witness".to_owned()),
            Some(true) if self.order.is_some() || !self.pure_clauses.is_empty() => {
                if self.definitions.iter().any(Option::is_some) || !self.joint_lemmas.is_empty() {
                    return Err("the text has a saturation and another proof".to_owned());
                }
                let order = self.order.take().ok_or("the saturation has no order")?;
                Ok(Witness::Saturation(Saturation { order, clauses: std::mem::take(&mut self.pure_clauses) }))
            }
            Some(true) if !self.joint_lemmas.is_empty() => {
                if self.definitions.iter().any(Option::is_some) {
                    return Err("the text has both a model and a proof by induction".to_owned());
                }
                let lemmas = std::mem::take(&mut self.joint_lemmas);
                Ok(Witness::Induction(Induction { lemmas, fold_lemmas: std::mem::take(&mut self.lemmas) }))
            }
            Some(true) => self.model().map(Witness::Model),
            Some(false) => Ok(Witness::Refutation(Refutation { steps: std::mem::take(&mut self.steps) })),
        }
    }

    /// The model. Predicates that occur in no clause need no definition.
    fn model(&mut self) -> Result<Model, String> {
        let store = self.store;
        let mut occurs = vec![false; self.definitions.len()];
        for clause in &self.system.clauses {
            clause.body.iter().chain(&clause.head).for_each(|atom| occurs[atom.predicate.index()] = true);
        }
        let mut missing: Vec<String> = Vec::new();
        let mut definitions = Vec::with_capacity(self.definitions.len());
        for ((id, fun), definition) in self.system.predicates().zip(std::mem::take(&mut self.definitions)) {
            let declaration = store.fun_decl(fun);
            if definition.is_none() && occurs[id.index()] {
                missing.push(store.display_symbol(declaration.name).to_string());
            }
            definitions.push(definition.unwrap_or_else(|| {
                let domain = declaration.domain.iter().enumerate();
                let parameter = |(position, &sort)| store.var(store.symbol(&format!("x{position}")), sort);
                Definition {
                    parameters: domain.map(parameter).collect(),
                    interpretation: Interpretation::TRUE,
                }
            }));
        }
        if missing.is_empty() {
            return Ok(Model { definitions, lemmas: std::mem::take(&mut self.lemmas) });
        }
        const MOST_SHOWN: usize = 10;
        let more = if missing.len() > MOST_SHOWN { " and others" } else { "" };
        missing.truncate(MOST_SHOWN);
        Err(format!("the model does not define {}{more}", missing.join(", ")))
    }
}

/// Expects the end of the text.
fn end(reader: &mut Reader<'_, '_>) -> Result<()> {
    match reader.item()? {
        Item::End => Ok(()),
        _ => Err(error(reader.offset(), "unexpected text after the term")),
    }
}

/// A name for messages, cut to a bounded length.
fn shortened(name: &str) -> String {
    const MOST_CHARACTERS: usize = 60;
    name.chars().take(MOST_CHARACTERS).collect()
}
