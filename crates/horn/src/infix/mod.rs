//! Formulas and clauses as people write them.
//!
//! ```text
//! (and (>= s 91) (or (>= n (+ s 10)) (<= s 91)))       s ≥ 91 ∧ (n ≥ s + 10 ∨ s ≤ 91)
//! (=> (and (> n 100) (= s (- n 10))) (m n s))          m(n, s) ← n > 100, s = n − 10
//! ```
//!
//! [`Notation`] selects mathematical signs, the same in ASCII, or SMT-LIB. `terms.rs` turns terms into tokens and decides
//! on parentheses; `lines.rs` breaks the tokens into lines; `values.rs` writes values, and shortens long ones. A text is for reading only: no solver takes it, and it is cut
//! after [`Fit::symbols`].

mod lines;
mod terms;
mod values;

use shofar_logic::{Op, Sort, SortKind, Symbol, Term, TermStore};

use crate::system::HornSystem;
use lines::{Token, broken};
use terms::Writer;

pub use values::ValueTexts;

/// How formulas, clauses and values are written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Notation {
    /// Mathematical notation: `x ≥ 0 ∧ y ≠ 1`.
    #[default]
    Math,
    /// Mathematical notation in ASCII: `x >= 0 and y != 1`.
    Ascii,
    /// SMT-LIB: `(and (>= x 0) (not (= y 1)))`.
    Smtlib,
}

/// The space that a text may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fit {
    /// Columns of a line.
    pub width: usize,
    /// The column in which the text starts. Further lines are indented as far.
    pub column: usize,
    /// Symbols after which the text is cut. It ends in an ellipsis there.
    pub symbols: usize,
    /// Arguments of the atoms of a clause that are shown.
    pub arguments: usize,
}

impl Fit {
    /// A single line, however long, of at most so many symbols.
    pub fn line(symbols: usize) -> Self {
        Fit { width: usize::MAX, column: 0, symbols, arguments: usize::MAX }
    }
}

/// Subterms of so many symbols are named where they occur more than once.
const LEAST_NAMED: usize = 12;

impl Notation {
    /// A term.
    pub fn term(self, store: &TermStore, term: Term, fit: Fit) -> String {
        match self {
            Notation::Smtlib => smtlib(store, term, fit),
            _ => {
                let mut writer = Writer::new(store, self, &[term], &[], fit.symbols);
                writer.root(term);
                writer.definitions();
                broken(&writer.tokens, fit)
            }
        }
    }

    /// The members of a conjunction, or else the formula itself, each with as many symbols as fit.
    pub fn conjuncts(self, store: &TermStore, formula: Term, fit: Fit) -> Vec<String> {
        match (self, store.view(formula)) {
            // A line for each would repeat the names of what they share.
            (Notation::Smtlib, _) => vec![smtlib(store, formula, fit)],
            (_, (Op::And, members)) if members.len() > 1 => {
                let mut writer = Writer::new(store, self, members, &[], fit.symbols);
                let mut lines: Vec<String> = Vec::new();
                for &member in members {
                    if writer.is_cut {
                        break;
                    }
                    writer.tokens.clear();
                    writer.root(member);
                    lines.push(broken(&writer.tokens, fit));
                }
                writer.tokens.clear();
                writer.definitions();
                let definitions = broken(&writer.tokens, fit);
                lines.extend(definitions.lines().filter(|line| !line.is_empty()).map(str::to_owned));
                lines
            }
            _ => vec![self.term(store, formula, fit)],
        }
    }

    /// A clause as a rule: its head, and the atoms and constraints that it follows from.
    pub fn clause(self, store: &TermStore, system: &HornSystem, clause: usize, fit: Fit) -> String {
        if self == Notation::Smtlib {
            let text = system.clause_text(store, clause);
            return indented(text.trim_end(), fit.column);
        }
        let clause = &system.clauses[clause];
        let atoms = || clause.head.iter().chain(&clause.body);
        let roots: Vec<Term> =
            atoms().flat_map(|atom| atom.args.iter().copied()).chain([clause.constraint]).collect();
        let name = |predicate| store.fun_decl(system.fun(predicate)).name;
        let predicates: Vec<Symbol> = atoms().map(|atom| name(atom.predicate)).collect();
        let mut writer = Writer::new(store, self, &roots, &predicates, fit.symbols);
        writer.tokens.push(Token::Open(2));
        match &clause.head {
            Some(head) => writer.atom(name(head.predicate), &head.args, fit.arguments),
            None => writer.text("false"),
        }
        let constraints = conjuncts(store, clause.constraint, |term| writer.is_named(term));
        let mut is_first = true;
        let mut next = |writer: &mut Writer<'_>| {
            if std::mem::take(&mut is_first) {
                writer.tokens.push(Token::Break);
                let arrow = writer.sign("←", "<-");
                writer.text(format!("{arrow} "));
                writer.tokens.push(Token::Open(0));
            } else {
                writer.text(",");
                writer.tokens.push(Token::Fill);
            }
        };
        for atom in &clause.body {
            if writer.is_cut {
                break;
            }
            next(&mut writer);
            writer.atom(name(atom.predicate), &atom.args, fit.arguments);
        }
        for constraint in constraints {
            if writer.is_cut {
                break;
            }
            next(&mut writer);
            writer.member(constraint);
        }
        // Groups that are still open end with the text, but definitions stand outside of them.
        if !is_first {
            writer.tokens.push(Token::Close);
        }
        writer.tokens.push(Token::Close);
        writer.definitions();
        broken(&writer.tokens, fit)
    }

    /// The name of a variable, predicate or function.
    pub fn name(self, store: &TermStore, name: Symbol) -> String {
        match self {
            Notation::Smtlib => store.display_symbol(name).to_string(),
            _ => terms::name(store.name(name)),
        }
    }

    /// A sort: `Int`, `Array(Int, Bool)`.
    pub fn sort(self, store: &TermStore, sort: Sort) -> String {
        if self == Notation::Smtlib {
            return store.display_sort(sort).to_string();
        }
        let applied = |name: String, params: &[Sort]| match params {
            [] => name,
            _ => {
                let params: Vec<String> = params.iter().map(|&param| self.sort(store, param)).collect();
                format!("{name}({})", params.join(", "))
            }
        };
        match store.sort_kind(sort) {
            SortKind::Bool | SortKind::Int | SortKind::Real => store.display_sort(sort).to_string(),
            SortKind::BitVec(width) => format!("BitVec({width})"),
            &SortKind::Array(index, element) => applied("Array".to_owned(), &[index, element]),
            SortKind::Datatype(_) => {
                let datatype = store.datatype(sort).expect("its kind is datatype");
                applied(self.name(store, datatype.name), &datatype.params)
            }
            SortKind::Uninterpreted(name, params) => applied(self.name(store, *name), params),
        }
    }

    /// The arrow from a value to the one that replaces it.
    pub fn arrow(self) -> &'static str {
        if self == Notation::Math { "→" } else { "->" }
    }

    /// The arrow from a conclusion to its premises.
    pub fn premise_arrow(self) -> &'static str {
        if self == Notation::Math { "←" } else { "<-" }
    }

    /// What stands for something that was left out.
    pub fn ellipsis(self) -> &'static str {
        if self == Notation::Math { "…" } else { "..." }
    }
}

/// The members of a conjunction and of those in it, but for the ones that are named.
fn conjuncts(store: &TermStore, formula: Term, is_named: impl Fn(Term) -> bool) -> Vec<Term> {
    let mut members: Vec<Term> = Vec::new();
    let mut open = vec![formula];
    while let Some(term) = open.pop() {
        match store.view(term) {
            (Op::True, _) => {}
            (Op::And, inner) if !is_named(term) => open.extend(inner.iter().rev()),
            _ => members.push(term),
        }
    }
    members
}

fn smtlib(store: &TermStore, term: Term, fit: Fit) -> String {
    let text = store.display(term).naming_from(LEAST_NAMED as u32);
    if fit.width == usize::MAX {
        text.to_string()
    } else {
        text.pretty(fit.width, 2).at(fit.column).to_string()
    }
}

/// The text with all lines but the first moved to the right.
fn indented(text: &str, column: usize) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| format!("{text}\n{:column$}{line}", ""))
}
