//! BTOR2: circuits over words.
//!
//! The format: Niemetz, Preiner, Wolf & Biere, "Btor2, BtorMC and Boolector 3.0" (CAV 2018). Each line defines
//! something under a number; a negative number is the complement. A state has the value of its `init` in step 0 and
//! that of its `next` afterwards; where one is missing, it has any value: without `next`, in each step anew. The value
//! of an `init` is defined before its state, so that initial values can be computed in the order of the file.
//!
//! * `mod.rs`: the file as read, and the reader;
//! * [`blast`]: its [`Circuit`](crate::circuit::Circuit), and the way back of traces;
//! * [`evaluate`]: its meaning in integers, by which counterexamples are checked;
//! * [`witness`]: counterexamples as text.
//!
//! Arrays are not supported. The reader trusts nothing: it refuses words and files that would take too much memory. It
//! polls the limits while it reads.

pub mod blast;
pub mod evaluate;
pub mod witness;

use std::iter::TakeWhile;
use std::str::SplitAsciiWhitespace;

use dashu_int::UBig;
use rustc_hash::FxHashMap;
use shofar_run::{Limits, Poll};

use crate::aiger::{INTERVAL, Mistake, Place, Unread};
use crate::words::{Binary, Unary};

/// The greatest width of a word.
const GREATEST_WIDTH: usize = 1 << 20;

/// The greatest number of bits of all words of a file.
const GREATEST_SIZE: usize = 1 << 27;

/// What a file says.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Model {
    /// All values, each after those it depends on in the same step.
    pub nodes: Vec<Node>,
    /// The nodes of inputs.
    pub inputs: Vec<usize>,
    /// The states.
    pub states: Vec<State>,
    /// What is never wanted: safety properties.
    pub bads: Vec<Operand>,
    /// What holds in all steps.
    pub constraints: Vec<Operand>,
    /// Outputs.
    pub outputs: Vec<Operand>,
    /// Justice properties.
    pub justice: Vec<Vec<Operand>>,
    /// Fairness constraints.
    pub fairness: Vec<Operand>,
    /// The names of bads, outputs and constraints; empty for those without a name.
    pub names: PropertyNames,
}

/// The names of lines that define no value.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct PropertyNames {
    /// Of bads.
    pub bads: Vec<String>,
    /// Of constraints.
    pub constraints: Vec<String>,
    /// Of outputs.
    pub outputs: Vec<String>,
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// The number in the file.
    pub id: u64,
    /// The line, counted from 1.
    pub line: usize,
    /// The number of bits.
    pub width: usize,
    /// What it is.
    pub kind: Kind,
    /// The name; empty if the file gives no name.
    pub name: String,
}

/// How a value is computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The input with this number.
    Input(usize),
    /// The state with this number.
    State(usize),
    /// A constant.
    Constant(UBig),
    /// An operator of one argument.
    Unary(Unary, Operand),
    /// An operator of two arguments.
    Binary(Binary, [Operand; 2]),
    /// The first operand of the pair if the condition holds, else the second.
    Ite(Operand, [Operand; 2]),
    /// The bits from this one on.
    Slice(Operand, usize),
    /// More bits: with copies of the sign if the flag is set, else with zeros.
    Extend(Operand, bool),
}

/// A node or its complement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// The node.
    pub node: usize,
    /// Whether it is complemented.
    pub negated: bool,
}

/// A word of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    /// Its node.
    pub node: usize,
    /// The value in step 0; `None` stands for any value.
    pub init: Option<Operand>,
    /// The value in the next step; `None` stands for any value.
    pub next: Option<Operand>,
}

/// A run: the values that determine it.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Run {
    /// The steps, at least one.
    pub steps: Vec<Step>,
}

/// The values of a step.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Step {
    /// By states: the value if it is given. States without `init` in step 0, and those without `next` later, have any
    /// value, and 0 if none is given.
    pub states: Vec<Option<UBig>>,
    /// By inputs: the value.
    pub inputs: Vec<UBig>,
}

impl Model {
    /// The width of an operand.
    pub fn width(&self, operand: Operand) -> usize {
        self.nodes[operand.node].width
    }

    /// The name of a node, or what stands for it.
    pub fn name(&self, node: usize) -> String {
        let node = &self.nodes[node];
        if node.name.is_empty() { format!("node{}", node.id) } else { node.name.clone() }
    }
}

/// Whether bytes look like a file in BTOR2: after comments, a line with a number and a sort.
pub fn is_btor2(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with(b";"));
    let Some(line) = line.and_then(|line| str::from_utf8(line).ok()) else { return false };
    let mut words = line.split_ascii_whitespace();
    words.next().is_some_and(|word| word.parse::<u64>().is_ok()) && words.next() == Some("sort")
}

/// Reads a file.
pub fn read(bytes: &[u8]) -> Result<Model, Mistake> {
    read_within(bytes, &Limits::default()).map_err(Unread::into_mistake)
}

/// Reads a file within limits.
pub fn read_within(bytes: &[u8], limits: &Limits<'_>) -> Result<Model, Unread> {
    let poll = Poll::new(limits);
    let mut reader = Reader::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if index % INTERVAL == 0
            && let Some(reason) = poll.interruption()
        {
            return Err(reason.into());
        }
        let text = String::from_utf8_lossy(line);
        let mut words = Words::of(&text);
        let Some(id) = words.words.next() else { continue };
        reader
            .line(index + 1, id, words)
            .map_err(|message| Mistake { place: Place::Line(index + 1), message })?;
    }
    Ok(reader.model)
}

/// What a number stands for.
#[derive(Clone, Copy)]
enum Meaning {
    /// A sort of words of this width.
    Sort(usize),
    Node(usize),
    /// A line that defines no value.
    Other,
}

/// An operator on words.
#[derive(Clone, Copy)]
enum Operator {
    Unary(Unary),
    Binary(Binary),
}

struct Reader {
    model: Model,
    meanings: FxHashMap<u64, Meaning>,
    /// By keywords.
    operators: FxHashMap<&'static str, Operator>,
    /// The bits of all nodes.
    size: usize,
}

/// The words of a line that are not read yet. A comment ends the line.
struct Words<'a> {
    words: TakeWhile<SplitAsciiWhitespace<'a>, fn(&&str) -> bool>,
}

impl<'a> Words<'a> {
    fn of(line: &'a str) -> Self {
        Self { words: line.split_ascii_whitespace().take_while(|word| !word.starts_with(';')) }
    }

    fn next(&mut self, expected: &str) -> Result<&'a str, String> {
        self.words.next().ok_or_else(|| format!("the line ends where {expected} should be"))
    }

    fn number(&mut self, expected: &str) -> Result<usize, String> {
        let word = self.next(expected)?;
        word.parse().map_err(|_| format!("`{}` where {expected} should be", shown(word)))
    }

    /// The symbol that may end a line.
    fn symbol(mut self) -> Result<String, String> {
        let symbol = self.words.next().unwrap_or_default();
        match self.words.next() {
            Some(word) => Err(format!("`{}` where the line should end", shown(word))),
            None => Ok(symbol.to_owned()),
        }
    }
}

/// A word of a message, shortened.
fn shown(word: &str) -> String {
    let mut text: String = word.chars().take(40).flat_map(char::escape_debug).collect();
    if word.chars().nth(40).is_some() {
        text.push_str("...");
    }
    text
}

impl Reader {
    fn new() -> Self {
        let unary = Unary::ALL.iter().map(|&(name, operator)| (name, Operator::Unary(operator)));
        let binary = Binary::ALL.iter().map(|&(name, operator)| (name, Operator::Binary(operator)));
        Self {
            model: Model::default(),
            meanings: FxHashMap::default(),
            operators: unary.chain(binary).collect(),
            size: 0,
        }
    }

    /// Reads a line: its number, and the words behind it.
    fn line(&mut self, line: usize, id: &str, mut words: Words<'_>) -> Result<(), String> {
        let id: u64 = id
            .parse()
            .ok()
            .filter(|&id| id > 0)
            .ok_or_else(|| format!("`{}` where a positive number should be", shown(id)))?;
        if self.meanings.contains_key(&id) {
            return Err(format!("{id} is defined twice"));
        }
        let keyword = words.next("a keyword")?;
        let meaning = match keyword {
            "sort" => self.sort(words)?,
            "bad" => {
                let (operand, name) = self.property(words, keyword)?;
                self.model.bads.push(operand);
                self.model.names.bads.push(name);
                Meaning::Other
            }
            "constraint" => {
                let (operand, name) = self.property(words, keyword)?;
                self.model.constraints.push(operand);
                self.model.names.constraints.push(name);
                Meaning::Other
            }
            "fair" => {
                let (operand, _) = self.property(words, keyword)?;
                self.model.fairness.push(operand);
                Meaning::Other
            }
            "output" => {
                let operand = self.operand(&mut words)?;
                self.model.outputs.push(operand);
                self.model.names.outputs.push(words.symbol()?);
                Meaning::Other
            }
            "justice" => {
                let count = words.number("the number of conditions")?;
                let mut conditions = Vec::new();
                for _ in 0..count {
                    conditions.push(self.truth(&mut words, keyword)?);
                }
                words.symbol()?;
                self.model.justice.push(conditions);
                Meaning::Other
            }
            "init" | "next" => {
                self.transition(words, keyword)?;
                Meaning::Other
            }
            _ => {
                let width = match keyword {
                    "read" | "write" => return Err(arrays()),
                    _ if !self.is_value(keyword) => {
                        return Err(format!("`{}` is no keyword of BTOR2", shown(keyword)));
                    }
                    _ => self.sort_of(&mut words)?,
                };
                self.size += width;
                if self.size > GREATEST_SIZE {
                    return Err(format!("the words of the file have more than {GREATEST_SIZE} bits"));
                }
                let kind = self.value(keyword, width, &mut words)?;
                let name = words.symbol()?;
                let node = self.model.nodes.len();
                match kind {
                    Kind::Input(_) => self.model.inputs.push(node),
                    Kind::State(_) => self.model.states.push(State { node, init: None, next: None }),
                    _ => {}
                }
                self.model.nodes.push(Node { id, line, width, kind, name });
                Meaning::Node(node)
            }
        };
        self.meanings.insert(id, meaning);
        Ok(())
    }

    fn sort(&self, mut words: Words<'_>) -> Result<Meaning, String> {
        match words.next("`bitvec`")? {
            "bitvec" => {
                let width = words.number("a width")?;
                if width == 0 {
                    return Err("a word has at least one bit".to_owned());
                }
                if width > GREATEST_WIDTH {
                    return Err(format!("words of {width} bits: at most {GREATEST_WIDTH} are supported"));
                }
                words.symbol()?;
                Ok(Meaning::Sort(width))
            }
            "array" => Err(arrays()),
            word => Err(format!("`{}` where `bitvec` should be", shown(word))),
        }
    }

    fn sort_of(&self, words: &mut Words<'_>) -> Result<usize, String> {
        let word = words.next("a sort")?;
        match word.parse().ok().and_then(|id: u64| self.meanings.get(&id)) {
            Some(&Meaning::Sort(width)) => Ok(width),
            _ => Err(format!("`{}` is no sort", shown(word))),
        }
    }

    fn operand(&self, words: &mut Words<'_>) -> Result<Operand, String> {
        let word = words.next("an operand")?;
        let (digits, negated) = match word.strip_prefix('-') {
            Some(digits) => (digits, true),
            None => (word, false),
        };
        match digits.parse().ok().and_then(|id: u64| self.meanings.get(&id)) {
            Some(&Meaning::Node(node)) => Ok(Operand { node, negated }),
            Some(_) => Err(format!("`{}` has no value", shown(word))),
            None => Err(format!("`{}` is not defined before this line", shown(word))),
        }
    }

    /// An operand of one bit.
    fn truth(&self, words: &mut Words<'_>, keyword: &str) -> Result<Operand, String> {
        let operand = self.operand(words)?;
        match self.model.width(operand) {
            1 => Ok(operand),
            width => Err(format!("`{keyword}` takes one bit, not {width}")),
        }
    }

    fn property(&self, mut words: Words<'_>, keyword: &str) -> Result<(Operand, String), String> {
        let operand = self.truth(&mut words, keyword)?;
        Ok((operand, words.symbol()?))
    }

    fn transition(&mut self, mut words: Words<'_>, keyword: &str) -> Result<(), String> {
        let width = self.sort_of(&mut words)?;
        let target = self.operand(&mut words)?;
        let value = self.operand(&mut words)?;
        words.symbol()?;
        let Kind::State(state) = self.model.nodes[target.node].kind else {
            return Err(format!("`{keyword}` is for states"));
        };
        if target.negated {
            return Err(format!("`{keyword}` of a complement"));
        }
        for operand in [target, value] {
            self.expect(operand, width)?;
        }
        if keyword == "init" && value.node >= target.node {
            return Err("the value of `init` must be defined before the state".to_owned());
        }
        let state = &mut self.model.states[state];
        let place = if keyword == "init" { &mut state.init } else { &mut state.next };
        if place.replace(value).is_some() {
            return Err(format!("the state has two lines `{keyword}`"));
        }
        Ok(())
    }

    fn expect(&self, operand: Operand, width: usize) -> Result<(), String> {
        match self.model.width(operand) {
            found if found == width => Ok(()),
            found => Err(format!("an operand of {found} bits where {width} should be")),
        }
    }

    /// The value that a line defines.
    fn value(&self, keyword: &str, width: usize, words: &mut Words<'_>) -> Result<Kind, String> {
        let result = |found: usize| match found == width {
            true => Ok(()),
            false => Err(format!("the value has {found} bits, its sort {width}")),
        };
        Ok(match keyword {
            "input" => Kind::Input(self.model.inputs.len()),
            "state" => Kind::State(self.model.states.len()),
            "zero" => Kind::Constant(UBig::ZERO),
            "one" => Kind::Constant(UBig::ONE),
            "ones" => Kind::Constant((UBig::ONE << width) - UBig::ONE),
            "const" | "constd" | "consth" => {
                Kind::Constant(constant(keyword, width, words.next("a number")?)?)
            }
            "ite" => {
                let condition = self.truth(words, keyword)?;
                let branches = [self.operand(words)?, self.operand(words)?];
                for branch in branches {
                    self.expect(branch, width)?;
                }
                Kind::Ite(condition, branches)
            }
            "slice" => {
                let argument = self.operand(words)?;
                let (high, low) = (words.number("the upper bit")?, words.number("the lower bit")?);
                if high < low || high >= self.model.width(argument) {
                    let of = self.model.width(argument);
                    return Err(format!("bits {high} to {low} of a word of {of} bits"));
                }
                result(high - low + 1)?;
                Kind::Slice(argument, low)
            }
            "sext" | "uext" => {
                let argument = self.operand(words)?;
                let more = words.number("the number of new bits")?;
                result(self.model.width(argument).saturating_add(more))?;
                Kind::Extend(argument, keyword == "sext")
            }
            _ => match self.operators.get(keyword) {
                Some(&Operator::Unary(operator)) => {
                    let argument = self.operand(words)?;
                    result(operator.width(self.model.width(argument)))?;
                    Kind::Unary(operator, argument)
                }
                Some(&Operator::Binary(operator)) => {
                    let operands = [self.operand(words)?, self.operand(words)?];
                    let [left, right] = operands.map(|operand| self.model.width(operand));
                    let found = operator.width(left, right);
                    result(found.ok_or_else(|| format!("`{keyword}` of {left} and {right} bits"))?)?;
                    Kind::Binary(operator, operands)
                }
                None => return Err(format!("`{}` is no keyword of BTOR2", shown(keyword))),
            },
        })
    }

    /// Whether a line with this keyword defines a value, so that a sort follows.
    fn is_value(&self, keyword: &str) -> bool {
        let others = [
            "input", "state", "zero", "one", "ones", "const", "constd", "consth", "ite", "slice", "sext",
            "uext",
        ];
        others.contains(&keyword) || self.operators.contains_key(keyword)
    }
}

fn arrays() -> String {
    "arrays are not supported".to_owned()
}

/// A constant as written: `const` in binary, `constd` in decimal, perhaps negative, `consth` in hexadecimal.
fn constant(keyword: &str, width: usize, word: &str) -> Result<UBig, String> {
    let (digits, is_negative) = match word.strip_prefix('-') {
        Some(digits) if keyword == "constd" => (digits, true),
        _ => (word, false),
    };
    let radix = match keyword {
        "const" => 2,
        "constd" => 10,
        _ => 16,
    };
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    let wrong = || format!("`{}` is no number of `{keyword}`", shown(word));
    if !is_number {
        return Err(wrong());
    }
    let too_great = || format!("`{}` does not fit into {width} bits", shown(word));
    let digits = digits.trim_start_matches('0');
    // A digit takes at least one bit.
    if digits.len() > width {
        return Err(too_great());
    }
    let value = match digits {
        "" => UBig::ZERO,
        _ => UBig::from_str_radix(digits, radix).map_err(|_| wrong())?,
    };
    let modulus = UBig::ONE << width;
    match is_negative {
        true if value > UBig::ONE << (width - 1) => Err(too_great()),
        true if value.is_zero() => Ok(value),
        true => Ok(modulus - value),
        false if value >= modulus => Err(too_great()),
        false => Ok(value),
    }
}
