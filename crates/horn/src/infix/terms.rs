//! Terms in infix notation, as tokens.
//!
//! Operators bind in the order of [`Level`], the loosest first; an operand that binds less than its place demands stands in
//! parentheses, and no other does. Conjunctions, disjunctions, sums and products are associative, implication groups to
//! the right. Four rules go beyond operators:
//!
//! ```text
//! signs      x + (−1)·y is x − y; the negation of a comparison is the opposite one
//! silent     to_real, the number functions of Peano datatypes, and conjunctions and disjunctions of one member
//! datatypes  a list that ends is [x, y], a Peano number is a numeral, and more than three successors are S^5(x); `is nil`
//!            is `= []`, `is cons` is `≠ []`, and `is red` is `= red` for a constant (`values.rs` tells what lists are)
//! sharing    a subterm of several symbols that occurs more than once is named. It is defined on a line behind the formula:
//!                x ≥ t1 ∧ y ≤ t1
//!                where t1 = ...
//!            or, below a quantifier, behind its body, in parentheses: ∃x: Int. (x ≥ t1 ∧ y ≤ t1 where t1 = ...; t2 = ...)
//! ```
//!
//! - I1: a text is as long as the graph of the term is large, not its tree. It is cut after a given number of symbols: nothing
//!   follows the ellipsis.
//! - I2: names of definitions occur nowhere in the text. A name that could be read as something else stands in backquotes.
//! - I3: a text that is not cut can be read in one way only. Definitions, too, are formulas of the levels below.
//!
//! Work waits on a stack; nothing here is recursive.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{ConstructorId, List, Op, Peano, Sort, Symbol, Term, TermStore};

use super::lines::Token;
use super::{LEAST_NAMED, Notation};

/// Successors of a term that are written one by one.
const MOST_SUCCESSORS: u64 = 3;

/// Elements of a list that is written in brackets.
const MOST_CELLS: usize = 4096;

/// How tightly an operator binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    /// Quantifiers and choices, which extend as far to the right as they can.
    Open,
    Iff,
    Implies,
    Or,
    Xor,
    And,
    Not,
    Comparison,
    Bitwise,
    /// Sums, and what starts with a minus.
    Sum,
    /// Products, quotients and remainders.
    Product,
    /// What can be multiplied.
    Factor,
    /// What has no operator outside of brackets.
    Atom,
}

/// What is still to be written, the next last.
enum Task {
    Token(Token),
    /// A term in a place that demands a level; by its name, if it has one.
    Term(Term, Level),
    /// The same, but its definition.
    Expanded(Term, Level),
    /// The term without the minus that it starts with, in a place that demands a level.
    Magnitude(Term, Level),
    /// The body of a quantifier with the definitions of what it shares.
    Scope(Term),
    /// The next definition of the innermost scope.
    Definitions,
    /// The end of the innermost scope.
    Leave,
}

impl From<&'static str> for Task {
    fn from(text: &'static str) -> Self {
        Task::Token(Token::Text(text.to_owned()))
    }
}

impl From<String> for Task {
    fn from(text: String) -> Self {
        Task::Token(Token::Text(text))
    }
}

impl From<Token> for Task {
    fn from(token: Token) -> Self {
        Task::Token(token)
    }
}

/// The part of a formula in which definitions hold.
#[derive(Default)]
struct Scope {
    /// Subterms that are named, with their names once they were mentioned.
    names: FxHashMap<Term, Option<String>>,
    /// Those that were mentioned and wait for their definition.
    open: VecDeque<Term>,
    /// Whether there was a definition.
    is_started: bool,
}

pub(super) struct Writer<'a> {
    store: &'a TermStore,
    notation: Notation,
    pub(super) tokens: Vec<Token>,
    /// Whether the text ended early.
    pub(super) is_cut: bool,
    /// Symbols that may still be written.
    left: usize,
    scopes: Vec<Scope>,
    /// What names of definitions start with, and how many there are.
    stem: String,
    count: usize,
}

impl<'a> Writer<'a> {
    /// A writer of a text that consists of the given terms and further names, with so many symbols at most.
    pub(super) fn new(
        store: &'a TermStore,
        notation: Notation,
        roots: &[Term],
        others: &[Symbol],
        symbols: usize,
    ) -> Self {
        let stem = stem(store, roots, others);
        let scopes = vec![scope(store, roots)];
        Writer { store, notation, tokens: Vec::new(), is_cut: false, left: symbols, scopes, stem, count: 0 }
    }

    pub(super) fn text(&mut self, text: impl Into<String>) {
        self.tokens.push(Token::Text(text.into()));
    }

    /// The sign of the notation.
    pub(super) fn sign(&self, math: &'static str, ascii: &'static str) -> &'static str {
        if self.notation == Notation::Ascii { ascii } else { math }
    }

    /// Writes a term that stands alone.
    pub(super) fn root(&mut self, term: Term) {
        self.run(vec![Task::Term(term, Level::Open)]);
    }

    /// Writes a member of a list, which ends before the next comma.
    pub(super) fn member(&mut self, term: Term) {
        self.run(vec![Task::Term(term, Level::Iff)]);
    }

    /// Writes a predicate applied to arguments, of which at most so many are shown.
    pub(super) fn atom(&mut self, predicate: Symbol, args: &[Term], most: usize) {
        let shown = &args[..most.min(args.len())];
        let mut tasks = self.applied(name(self.store.name(predicate)), shown);
        if shown.len() < args.len() {
            let rest = format!("{} +{}", self.notation.ellipsis(), args.len() - shown.len());
            match shown {
                [] => tasks.push(format!("({rest})").into()),
                // Before the group and the parenthesis that end it.
                _ => tasks.insert(tasks.len() - 2, format!(", {rest}").into()),
            }
        }
        tasks.reverse();
        self.run(tasks);
    }

    /// Writes what was named so far, each on a line of its own.
    pub(super) fn definitions(&mut self) {
        self.run(vec![Task::Definitions]);
    }

    fn run(&mut self, mut tasks: Vec<Task>) {
        while let Some(task) = tasks.pop()
            && !self.is_cut
        {
            match task {
                Task::Token(token) => self.tokens.push(token),
                // Whatever writes a symbol counts it.
                Task::Term(..) | Task::Expanded(..) | Task::Magnitude(..) if self.left == 0 => {
                    self.is_cut = true;
                    self.text(self.notation.ellipsis());
                }
                Task::Term(term, level) => {
                    self.left -= 1;
                    if !self.mention(term) {
                        self.expand(term, level, &mut tasks);
                    }
                }
                Task::Expanded(term, level) => {
                    self.left -= 1;
                    self.expand(term, level, &mut tasks);
                }
                Task::Magnitude(term, level) => {
                    self.left -= 1;
                    let parts = self.magnitude(term, level);
                    tasks.extend(parts.into_iter().rev());
                }
                Task::Scope(body) => {
                    let scope = scope(self.store, &[body]);
                    let has_definitions = !scope.names.is_empty();
                    self.scopes.push(scope);
                    tasks.push(Task::Leave);
                    if has_definitions {
                        // The parentheses show where its definitions end.
                        self.tokens.extend([Token::Text("(".to_owned()), Token::Open(0)]);
                        tasks.extend([")".into(), Token::Close.into()]);
                        tasks.extend([Task::Definitions, Task::Expanded(body, Level::Iff)]);
                    } else {
                        tasks.push(Task::Expanded(body, Level::Open));
                    }
                }
                Task::Definitions => self.define(&mut tasks),
                Task::Leave => {
                    self.scopes.pop();
                }
            }
        }
    }

    /// Writes the name of a term, if it has one.
    fn mention(&mut self, term: Term) -> bool {
        let scope = self.scopes.last_mut().expect("the outermost scope stays");
        let Some(name) = scope.names.get_mut(&term) else { return false };
        let name = name.get_or_insert_with(|| {
            self.count += 1;
            scope.open.push_back(term);
            format!("{}{}", self.stem, self.count)
        });
        self.tokens.push(Token::Text(name.clone()));
        true
    }

    fn define(&mut self, tasks: &mut Vec<Task>) {
        let is_outermost = self.scopes.len() == 1;
        let scope = self.scopes.last_mut().expect("the outermost scope stays");
        let Some(term) = scope.open.pop_front() else { return };
        let name = scope.names[&term].clone().unwrap_or_default();
        let (end, start) = match (std::mem::replace(&mut scope.is_started, true), is_outermost) {
            (false, _) => ("", "where "),
            (true, true) => ("", "      "),
            (true, false) => (";", ""),
        };
        self.text(end);
        self.tokens.push(if is_outermost { Token::Line } else { Token::Break });
        let (equals, level) = match self.store.sort_of(term) {
            Sort::BOOL => (self.sign("⇔", "<=>"), Level::Implies),
            _ => ("=", Level::Bitwise),
        };
        self.text(format!("{start}{name} {equals} "));
        tasks.extend([Task::Definitions, Task::Expanded(term, level)]);
    }

    // ---- terms -------------------------------------------------------------------------------------------

    /// Puts the parts of a term on the stack, in parentheses if its place demands them.
    fn expand(&mut self, term: Term, demanded: Level, tasks: &mut Vec<Task>) {
        let (level, parts) = self.parts(term, demanded);
        let is_enclosed = level < demanded;
        if is_enclosed {
            tasks.push(")".into());
        }
        tasks.extend(parts.into_iter().rev());
        if is_enclosed {
            self.text("(");
        }
    }

    /// The level of a term and what it consists of.
    fn parts(&self, term: Term, demanded: Level) -> (Level, Vec<Task>) {
        let store = self.store;
        let (op, args) = store.view(term);
        let is_bool = |term: Term| store.sort_of(term) == Sort::BOOL;
        match (op, args) {
            (Op::Var(symbol), _) => (Level::Atom, vec![name(store.name(symbol)).into()]),
            (Op::Numeral(number), _) => self.numeral(store.rational(number)),
            (Op::BvNumeral(_), _) => (Level::Atom, vec![store.display(term).to_string().into()]),
            (Op::Apply(fun), &[arg]) if store.number_function_sort(fun).is_some() => {
                (demanded, vec![Task::Term(arg, demanded)])
            }
            (Op::Apply(fun), _) => {
                (Level::Atom, self.applied(name(store.name(store.fun_decl(fun).name)), args))
            }
            (Op::Construct(id), _) => (Level::Atom, self.construction(id, term, args)),
            (Op::Selector { constructor, field }, _) => {
                let (selector, _) = store.constructor(constructor).fields[field as usize];
                (Level::Atom, self.applied(name(store.name(selector)), args))
            }
            (Op::Tester(id), &[arg]) => {
                let test = match self.constant_test(id) {
                    Some((true, constant)) => format!(" = {constant}"),
                    Some((false, constant)) => format!(" {} {constant}", self.sign("≠", "!=")),
                    None => format!(" is {}", name(store.name(store.constructor(id).name))),
                };
                (Level::Comparison, vec![Task::Term(arg, Level::Bitwise), test.into()])
            }

            (Op::And, []) => (Level::Atom, vec!["true".into()]),
            (Op::Or, []) => (Level::Atom, vec!["false".into()]),
            (Op::And | Op::Or | Op::Xor | Op::Add | Op::Mul | Op::ToReal, &[arg]) => {
                (demanded, vec![Task::Term(arg, demanded)])
            }
            (Op::Not, &[arg]) => self.negation(arg),
            (Op::And, _) => self.joined(Level::And, Level::And, args, self.sign("∧", "and")),
            (Op::Or, _) => self.joined(Level::Or, Level::Or, args, self.sign("∨", "or")),
            (Op::Xor, _) => self.joined(Level::Xor, Level::Xor, args, self.sign("⊕", "xor")),
            (Op::Implies, _) => self.implication(args),
            (Op::Eq, &[first, ..]) if is_bool(first) => {
                self.joined(Level::Iff, Level::Implies, args, self.sign("⇔", "<=>"))
            }
            (Op::Distinct, &[a, b]) if is_bool(a) => {
                self.joined(Level::Xor, Level::And, &[a, b], self.sign("⊕", "xor"))
            }
            (Op::Distinct, [_, _]) => self.compared(args, self.sign("≠", "!=")),
            (Op::Eq | Op::Le | Op::Lt | Op::Ge | Op::Gt, [_, _, ..]) => {
                self.compared(args, self.relation(op))
            }
            (
                Op::BvUlt | Op::BvUle | Op::BvUgt | Op::BvUge | Op::BvSlt | Op::BvSle | Op::BvSgt | Op::BvSge,
                _,
            ) => self.compared(args, self.relation(op)),
            (Op::Divisible(divisor), &[arg]) => {
                let divides = self.sign("∣", "divides");
                let divisor = format!("{} {divides} ", store.integer(divisor));
                (Level::Comparison, vec![divisor.into(), Task::Term(arg, Level::Bitwise)])
            }
            (Op::Ite, &[condition, then, otherwise]) => (
                Level::Open,
                vec![
                    Token::Open(0).into(),
                    "if ".into(),
                    Task::Term(condition, Level::Iff),
                    Token::Break.into(),
                    "then ".into(),
                    Task::Term(then, Level::Iff),
                    Token::Break.into(),
                    "else ".into(),
                    // A chain of choices reads as one.
                    Task::Term(otherwise, Level::Open),
                    Token::Close.into(),
                ],
            ),
            (Op::Forall | Op::Exists, [variables @ .., body]) => {
                let sign =
                    if op == Op::Forall { self.sign("∀", "forall ") } else { self.sign("∃", "exists ") };
                let mut tasks: Vec<Task> = vec![Token::Open(2).into(), sign.into()];
                tasks.extend(self.bound(variables));
                tasks.extend([".".into(), Token::Break.into(), Task::Scope(*body), Token::Close.into()]);
                (Level::Open, tasks)
            }

            (Op::Add | Op::Sub, _) => self.sum(op, args),
            (Op::Neg, &[arg]) => {
                let minus = self.sign("−", "-");
                (Level::Sum, vec![minus.into(), Task::Term(arg, Level::Product)])
            }
            (Op::Mul, _) => self.product(term, args),
            (Op::RealDiv, _) => self.quotient(args, "/"),
            (Op::IntDiv, _) => self.quotient(args, "div"),
            (Op::Mod, _) => self.quotient(args, "mod"),
            (Op::Abs, &[arg]) if self.notation == Notation::Math => {
                (Level::Atom, vec!["|".into(), Task::Term(arg, Level::Sum), "|".into()])
            }
            (Op::ToInt, &[arg]) if self.notation == Notation::Math => {
                (Level::Atom, vec!["⌊".into(), Task::Term(arg, Level::Sum), "⌋".into()])
            }

            (Op::Select, &[array, index]) => (
                Level::Atom,
                vec![Task::Term(array, Level::Atom), "[".into(), Task::Term(index, Level::Open), "]".into()],
            ),
            (Op::Store, &[array, index, element]) => (
                Level::Atom,
                vec![
                    Task::Term(array, Level::Atom),
                    "[".into(),
                    Token::Open(0).into(),
                    Task::Term(index, Level::Iff),
                    " :=".into(),
                    Token::Break.into(),
                    Task::Term(element, Level::Open),
                    Token::Close.into(),
                    "]".into(),
                ],
            ),
            (Op::ConstArray(_), _) => (Level::Atom, self.applied("const".to_owned(), args)),

            (Op::Extract { hi, lo }, &[arg]) => {
                (Level::Atom, vec![Task::Term(arg, Level::Atom), format!("[{hi}:{lo}]").into()])
            }
            (Op::BvAdd, _) => self.joined(Level::Sum, Level::Product, args, "+"),
            (Op::BvSub, _) => self.joined(Level::Sum, Level::Product, args, self.sign("−", "-")),
            (Op::BvMul, _) => self.joined(Level::Product, Level::Factor, args, self.sign("·", "*")),
            (Op::BvAnd, _) => self.joined(Level::Bitwise, Level::Sum, args, "&"),
            (Op::BvOr, _) => self.joined(Level::Bitwise, Level::Sum, args, "|"),
            (Op::BvXor, _) => self.joined(Level::Bitwise, Level::Sum, args, "^"),
            (Op::BvShl, _) => self.joined(Level::Bitwise, Level::Sum, args, "<<"),
            (Op::BvLshr, _) => self.joined(Level::Bitwise, Level::Sum, args, self.sign(">>ᵤ", ">>u")),
            (Op::BvAshr, _) => self.joined(Level::Bitwise, Level::Sum, args, self.sign(">>ₛ", ">>s")),
            (Op::BvNot, &[arg]) => (Level::Factor, vec!["~".into(), Task::Term(arg, Level::Atom)]),
            (Op::BvNeg, &[arg]) => {
                (Level::Sum, vec![self.sign("−", "-").into(), Task::Term(arg, Level::Product)])
            }
            (
                Op::Repeat(n)
                | Op::ZeroExtend(n)
                | Op::SignExtend(n)
                | Op::RotateLeft(n)
                | Op::RotateRight(n)
                | Op::IntToBv(n),
                _,
            ) => {
                let stem = op.name().expect("it has a stem");
                (Level::Atom, self.applied(format!("{stem}[{n}]"), args))
            }
            (op, _) => {
                let name = op.name().map_or_else(|| store.display_op(op).to_string(), str::to_owned);
                (Level::Atom, self.applied(name, args))
            }
        }
    }

    fn numeral(&self, number: &Rational) -> (Level, Vec<Task>) {
        let level = match (number.is_negative(), number.is_integer()) {
            (true, _) => Level::Sum,
            (false, false) => Level::Product,
            (false, true) => Level::Atom,
        };
        let minus = if number.is_negative() { self.sign("−", "-") } else { "" };
        (level, vec![format!("{minus}{}", number.abs()).into()])
    }

    /// A name and arguments in parentheses, or the name alone.
    fn applied(&self, name: String, args: &[Term]) -> Vec<Task> {
        if args.is_empty() {
            return vec![name.into()];
        }
        let mut tasks: Vec<Task> = vec![format!("{name}(").into(), Token::Open(0).into()];
        for (position, &arg) in args.iter().enumerate() {
            if position > 0 {
                tasks.extend([",".into(), Token::Fill.into()]);
            }
            tasks.push(Task::Term(arg, Level::Open));
        }
        tasks.extend([Token::Close.into(), ")".into()]);
        tasks
    }

    // ---- datatypes ---------------------------------------------------------------------------------------

    /// A constructor applied to arguments: a Peano number, a list, or anything else.
    fn construction(&self, id: ConstructorId, term: Term, args: &[Term]) -> Vec<Task> {
        let (store, sort) = (self.store, self.store.sort_of(term));
        if let Some(peano) = store.peano(sort) {
            return self.number(peano, term);
        }
        let list = store.list(sort).and_then(|list| self.list(list, term));
        list.unwrap_or_else(|| self.applied(name(store.name(store.constructor(id).name)), args))
    }

    /// A numeral, or successors of another term.
    fn number(&self, peano: Peano, term: Term) -> Vec<Task> {
        let store = self.store;
        let (mut below, mut successors) = (term, 0_u64);
        while let (Op::Construct(constructor), &[field]) = store.view(below)
            && constructor == peano.successor
            && (successors == 0 || !self.is_named(below))
        {
            (below, successors) = (field, successors + 1);
        }
        if store.op(below) == Op::Construct(peano.zero) {
            return vec![successors.to_string().into()];
        }
        let successor = name(store.name(store.constructor(peano.successor).name));
        let (start, end) = match successors {
            0..=MOST_SUCCESSORS => {
                let count = successors as usize;
                (format!("{successor}(").repeat(count), ")".repeat(count))
            }
            _ => (format!("{successor}^{successors}("), ")".to_owned()),
        };
        vec![start.into(), Task::Term(below, Level::Open), end.into()]
    }

    /// The elements of a list in brackets; `None` if its end is another term than the empty list, or far away.
    fn list(&self, list: List, term: Term) -> Option<Vec<Task>> {
        let store = self.store;
        let mut cells: Vec<Term> = Vec::new();
        let mut rest = term;
        while let Some(tail) = list.tail(store, rest) {
            cells.push(rest);
            rest = tail;
            if self.is_named(rest) || cells.len() == MOST_CELLS {
                return None;
            }
        }
        if store.op(rest) != Op::Construct(list.empty) {
            return None;
        }
        let mut tasks: Vec<Task> = vec!["[".into(), Token::Open(0).into()];
        for (position, &cell) in cells.iter().enumerate() {
            if position > 0 {
                tasks.extend([",".into(), Token::Fill.into()]);
            }
            let fields: Vec<Term> = list.element(store, cell).collect();
            match fields[..] {
                [field] => tasks.push(Task::Term(field, Level::Open)),
                _ => tasks.extend(self.applied(String::new(), &fields)),
            }
        }
        tasks.extend([Token::Close.into(), "]".into()]);
        Some(tasks)
    }

    /// A constant such that a tester says that a term equals it, or, for lists and Peano numbers, that it does not.
    fn constant_test(&self, id: ConstructorId) -> Option<(bool, String)> {
        let store = self.store;
        let constructor = store.constructor(id);
        if let Some(Peano { zero, .. }) = store.peano(constructor.sort) {
            return Some((id == zero, "0".to_owned()));
        }
        if let Some(List { empty, .. }) = store.list(constructor.sort) {
            return Some((id == empty, "[]".to_owned()));
        }
        constructor.fields.is_empty().then(|| (true, name(store.name(constructor.name))))
    }

    /// Variables of a quantifier with their sorts: `x, y: Int, b: Bool`.
    fn bound(&self, variables: &[Term]) -> Vec<Task> {
        let mut tasks: Vec<Task> = Vec::new();
        for group in variables.chunk_by(|&a, &b| self.store.sort_of(a) == self.store.sort_of(b)) {
            for &variable in group {
                let comma = if tasks.is_empty() { "" } else { ", " };
                tasks.extend([comma.into(), Task::Term(variable, Level::Atom)]);
            }
            let sort = self.notation.sort(self.store, self.store.sort_of(group[0]));
            tasks.push(format!(": {sort}").into());
        }
        tasks
    }

    // ---- formulas ----------------------------------------------------------------------------------------

    /// Operands with an operator between them. The first may have the level of the whole, the others bind at least as
    /// tightly as `others`.
    fn joined(
        &self,
        level: Level,
        others: Level,
        args: &[Term],
        operator: &'static str,
    ) -> (Level, Vec<Task>) {
        // The operands of `⇔` and of shifts are not grouped to the left.
        let first = if matches!(level, Level::Iff | Level::Bitwise) { others } else { level };
        // Literals fill lines, anything larger has its own.
        let space = if args.iter().all(|&arg| self.is_literal(arg)) { Token::Fill } else { Token::Break };
        let mut tasks: Vec<Task> = vec![Token::Open(0).into()];
        for (position, &arg) in args.iter().enumerate() {
            if position > 0 {
                tasks.extend([space.clone().into(), format!("{operator} ").into()]);
            }
            tasks.push(Task::Term(arg, if position == 0 { first } else { others }));
        }
        tasks.push(Token::Close.into());
        (level, tasks)
    }

    fn is_literal(&self, term: Term) -> bool {
        let is_atom = |term: Term| {
            let is_junction = matches!(
                self.store.op(term),
                Op::And | Op::Or | Op::Xor | Op::Implies | Op::Ite | Op::Forall | Op::Exists
            );
            self.is_named(term) || !is_junction
        };
        match self.store.view(term) {
            (Op::Not, &[inner]) => is_atom(inner),
            _ => is_atom(term),
        }
    }

    fn implication(&self, args: &[Term]) -> (Level, Vec<Task>) {
        let implies = self.sign("⇒", "=>");
        let mut tasks: Vec<Task> = vec![Token::Open(0).into()];
        for (position, &arg) in args.iter().enumerate() {
            if position > 0 {
                tasks.extend([Token::Break.into(), format!("{implies} ").into()]);
            }
            let is_last = position + 1 == args.len();
            tasks.push(Task::Term(arg, if is_last { Level::Implies } else { Level::Or }));
        }
        tasks.push(Token::Close.into());
        (Level::Implies, tasks)
    }

    fn compared(&self, args: &[Term], relation: &'static str) -> (Level, Vec<Task>) {
        let mut tasks: Vec<Task> = vec![Token::Open(2).into()];
        for (position, &arg) in args.iter().enumerate() {
            if position > 0 {
                tasks.extend([Token::Break.into(), format!("{relation} ").into()]);
            }
            tasks.push(Task::Term(arg, Level::Bitwise));
        }
        tasks.push(Token::Close.into());
        (Level::Comparison, tasks)
    }

    fn relation(&self, op: Op) -> &'static str {
        match op {
            Op::Le => self.sign("≤", "<="),
            Op::Lt => "<",
            Op::Ge => self.sign("≥", ">="),
            Op::Gt => ">",
            Op::BvUlt => self.sign("<ᵤ", "<u"),
            Op::BvUle => self.sign("≤ᵤ", "<=u"),
            Op::BvUgt => self.sign(">ᵤ", ">u"),
            Op::BvUge => self.sign("≥ᵤ", ">=u"),
            Op::BvSlt => self.sign("<ₛ", "<s"),
            Op::BvSle => self.sign("≤ₛ", "<=s"),
            Op::BvSgt => self.sign(">ₛ", ">s"),
            Op::BvSge => self.sign("≥ₛ", ">=s"),
            _ => "=",
        }
    }

    fn negation(&self, arg: Term) -> (Level, Vec<Task>) {
        if !self.is_named(arg)
            && let (op, sides @ &[left, _]) = self.store.view(arg)
            && self.store.sort_of(left) != Sort::BOOL
            && let Some(opposite) = self.opposite(op)
        {
            return self.compared(sides, opposite);
        }
        if !self.is_named(arg)
            && let (Op::Tester(id), &[tested]) = self.store.view(arg)
            && let Some((is_equal, constant)) = self.constant_test(id)
        {
            let relation = if is_equal { self.sign("≠", "!=") } else { "=" };
            let test = format!(" {relation} {constant}");
            return (Level::Comparison, vec![Task::Term(tested, Level::Bitwise), test.into()]);
        }
        let not = self.sign("¬", "not ");
        // Only what is plainly one thing stands behind the sign without parentheses.
        (Level::Not, vec![not.into(), Task::Term(arg, Level::Atom)])
    }

    /// The relation that holds where the given one does not.
    fn opposite(&self, op: Op) -> Option<&'static str> {
        Some(match op {
            Op::Eq => self.sign("≠", "!="),
            Op::Distinct => "=",
            Op::Le => self.relation(Op::Gt),
            Op::Lt => self.relation(Op::Ge),
            Op::Ge => self.relation(Op::Lt),
            Op::Gt => self.relation(Op::Le),
            Op::BvUlt => self.relation(Op::BvUge),
            Op::BvUle => self.relation(Op::BvUgt),
            Op::BvUgt => self.relation(Op::BvUle),
            Op::BvUge => self.relation(Op::BvUlt),
            Op::BvSlt => self.relation(Op::BvSge),
            Op::BvSle => self.relation(Op::BvSgt),
            Op::BvSgt => self.relation(Op::BvSle),
            Op::BvSge => self.relation(Op::BvSlt),
            _ => return None,
        })
    }

    // ---- arithmetic --------------------------------------------------------------------------------------

    fn sum(&self, op: Op, args: &[Term]) -> (Level, Vec<Task>) {
        let mut tasks: Vec<Task> = vec![Token::Open(0).into()];
        for (position, &arg) in args.iter().enumerate() {
            if position == 0 {
                tasks.push(Task::Term(arg, Level::Sum));
                continue;
            }
            let is_negative = self.has_minus(arg);
            let is_subtracted = (op == Op::Sub) != is_negative;
            let sign = if is_subtracted { self.sign("− ", "- ") } else { "+ " };
            tasks.extend([Token::Break.into(), sign.into()]);
            let shown = match self.store.view(arg) {
                (Op::Neg, &[inner]) | (Op::Mul, &[_, inner]) if is_negative => inner,
                _ => arg,
            };
            // What follows a plus may be a sum itself, unless it starts with a minus.
            let may_be_sum = !is_subtracted && !self.starts_with_minus(shown);
            let level = if may_be_sum { Level::Sum } else { Level::Product };
            tasks.push(if is_negative { Task::Magnitude(arg, level) } else { Task::Term(arg, level) });
        }
        tasks.push(Token::Close.into());
        (Level::Sum, tasks)
    }

    fn product(&self, term: Term, args: &[Term]) -> (Level, Vec<Task>) {
        if self.negative_factor(term).is_some() {
            return (Level::Sum, vec![self.sign("−", "-").into(), Task::Magnitude(term, Level::Product)]);
        }
        (Level::Product, self.factors(args))
    }

    fn factors(&self, args: &[Term]) -> Vec<Task> {
        let mut tasks: Vec<Task> = Vec::new();
        for (position, &arg) in args.iter().enumerate() {
            if position > 0 {
                tasks.push(self.sign("·", "*").into());
            }
            let is_product = matches!(self.store.view(arg), (Op::Mul, [_, _, ..])) && !self.has_minus(arg);
            tasks.push(Task::Term(arg, if is_product { Level::Product } else { Level::Factor }));
        }
        tasks
    }

    fn quotient(&self, args: &[Term], operator: &'static str) -> (Level, Vec<Task>) {
        let mut tasks: Vec<Task> = Vec::new();
        for (position, &arg) in args.iter().enumerate() {
            if position > 0 {
                tasks.push(format!(" {operator} ").into());
            }
            tasks.push(Task::Term(arg, Level::Factor));
        }
        (Level::Product, tasks)
    }

    /// The term without its minus, in a place that demands a level.
    fn magnitude(&self, term: Term, level: Level) -> Vec<Task> {
        let store = self.store;
        match store.view(term) {
            (Op::Numeral(number), _) => vec![store.rational(number).abs().to_string().into()],
            (Op::Neg, &[arg]) => vec![Task::Term(arg, level)],
            (Op::Mul, &[_, ref others @ ..]) => {
                let size = self.negative_factor(term).map_or(Rational::ONE, Rational::abs);
                let (_, factor) = match size.is_one() {
                    true => (Level::Atom, Vec::new()),
                    false => self.numeral(&size),
                };
                let is_fraction = !size.is_integer();
                let mut tasks: Vec<Task> = Vec::new();
                if !factor.is_empty() {
                    let dot = self.sign("·", "*");
                    let (open, close) = if is_fraction { ("(", ")") } else { ("", "") };
                    tasks.push(open.into());
                    tasks.extend(factor);
                    tasks.extend([close.into(), dot.into()]);
                }
                match others {
                    [one] if size.is_one() => tasks.push(Task::Term(*one, level)),
                    _ => tasks.extend(self.factors(others)),
                }
                tasks
            }
            _ => vec![Task::Term(term, level)],
        }
    }

    /// Whether a term is written by its name.
    pub(super) fn is_named(&self, term: Term) -> bool {
        self.scopes.last().is_some_and(|scope| scope.names.contains_key(&term))
    }

    /// Whether the text of a term is a minus and its magnitude.
    fn has_minus(&self, term: Term) -> bool {
        !self.is_named(term)
            && match self.store.view(term) {
                (Op::Numeral(number), _) => self.store.rational(number).is_negative(),
                (Op::Neg, _) => true,
                _ => self.negative_factor(term).is_some(),
            }
    }

    /// The number that a product of several factors starts with, if it is negative.
    fn negative_factor(&self, term: Term) -> Option<&'a Rational> {
        let (Op::Mul, &[first, _, ..]) = self.store.view(term) else { return None };
        self.store.numeral(first).filter(|number| number.is_negative())
    }

    /// Whether the first summand has a minus.
    fn starts_with_minus(&self, mut term: Term) -> bool {
        const DEEPEST: usize = 16;
        for _ in 0..DEEPEST {
            if self.is_named(term) {
                return false;
            }
            match self.store.view(term) {
                (Op::Add | Op::Sub, &[first, ..]) => term = first,
                (Op::ToReal, &[arg]) => term = arg,
                _ => return self.has_minus(term),
            }
        }
        true
    }
}

/// The scope of terms: what occurs more than once outside of quantifiers and is not small gets a name.
fn scope(store: &TermStore, roots: &[Term]) -> Scope {
    let is_quantified = |term: Term| matches!(store.op(term), Op::Forall | Op::Exists);
    let subterms = store.subterms_until(roots, is_quantified);
    let mut uses: FxHashMap<Term, usize> = FxHashMap::default();
    let args = |term: Term| if is_quantified(term) { &[][..] } else { store.args(term) };
    for &used in roots.iter().chain(subterms.iter().flat_map(|&term| args(term))) {
        *uses.entry(used).or_default() += 1;
    }
    let mut scope = Scope::default();
    let mut sizes: FxHashMap<Term, usize> = FxHashMap::default();
    let mut numerals: FxHashSet<Term> = FxHashSet::default();
    for term in subterms {
        let is_peano =
            matches!(store.op(term), Op::Construct(_)) && store.peano(store.sort_of(term)).is_some();
        if is_peano && args(term).iter().all(|arg| numerals.contains(arg)) {
            numerals.insert(term);
        }
        let size = match is_quantified(term) {
            // What it contains is a scope of its own.
            true => LEAST_NAMED,
            false if numerals.contains(&term) => 1,
            false => args(term).iter().map(|arg| sizes[arg]).fold(1, usize::saturating_add),
        };
        let is_named = size >= LEAST_NAMED && uses[&term] > 1;
        if is_named {
            scope.names.insert(term, None);
        }
        sizes.insert(term, if is_named { 1 } else { size });
    }
    scope
}

/// What the names of definitions start with (I2).
fn stem(store: &TermStore, roots: &[Term], others: &[Symbol]) -> String {
    let mut stem = "t".to_owned();
    let mentioned = store.subterms(roots).into_iter().filter_map(|term| match store.op(term) {
        Op::Var(symbol) => Some(symbol),
        Op::Apply(fun) => Some(store.fun_decl(fun).name),
        Op::Construct(id) | Op::Tester(id) => Some(store.constructor(id).name),
        Op::Selector { constructor, field } => Some(store.constructor(constructor).fields[field as usize].0),
        _ => None,
    });
    let names = mentioned.chain(others.iter().copied()).map(|symbol| store.name(symbol));
    let names: Vec<&str> = names.filter(|name| name.starts_with('t')).collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    while names.iter().any(|name| name.strip_prefix(&*stem).is_some_and(is_number)) {
        stem.push('_');
    }
    stem
}

/// A name as it is, or in backquotes if it could be read as something else. Backquotes in it are doubled.
pub(super) fn name(name: &str) -> String {
    // Signs of operators are missing here: `-`, `~x` is a complement, and `#x0f` a number.
    let is_inner = |c: char| c.is_alphanumeric() || "_.!@$%?':".contains(c);
    let is_first = |c: char| c.is_alphabetic() || "_.!@$%?:".contains(c);
    let is_identifier =
        name.starts_with(is_first) && name.chars().all(is_inner) && !name.ends_with(['.', ':']);
    let is_word = WORDS.contains(&name) || FUNCTIONS.contains(&name);
    if is_identifier && !is_word { name.to_owned() } else { format!("`{}`", name.replace('`', "``")) }
}

/// Words that mean something in formulas.
const WORDS: &[&str] = &[
    "and", "div", "divides", "else", "exists", "false", "forall", "if", "is", "mod", "not", "or", "then",
    "true", "where", "xor",
];

/// Operators that are written as functions.
const FUNCTIONS: &[&str] = &[
    "abs",
    "bvcomp",
    "bvnand",
    "bvnego",
    "bvnor",
    "bvsaddo",
    "bvsdiv",
    "bvsdivo",
    "bvsmod",
    "bvsmulo",
    "bvsrem",
    "bvssubo",
    "bvuaddo",
    "bvudiv",
    "bvumulo",
    "bvurem",
    "bvusubo",
    "bvxnor",
    "concat",
    "const",
    "distinct",
    "int_to_bv",
    "is_int",
    "repeat",
    "rotate_left",
    "rotate_right",
    "sbv_to_int",
    "sign_extend",
    "to_int",
    "ubv_to_int",
    "zero_extend",
];
