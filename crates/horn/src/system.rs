//! Systems of constrained Horn clauses, as the user wrote them.
//!
//! A clause states: for all values of its variables, if the body's atoms and the constraint hold, then the head holds.
//! A clause without head is a query and states that its body never holds. The system is satisfiable if some
//! interpretation of the predicates satisfies all clauses.
//!
//! A [`HornSystem`] never changes after it was read. Answers are checked against it, independently of engines and
//! transformations.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::smtlib::Declaration;
use shofar_logic::{Fun, Sort, Symbol, Term, TermStore};

/// A position in a text, counted from one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

impl Position {
    /// The position of a byte offset.
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        // Bytes of the form 10xxxxxx continue a character.
        let column = before[line_start..].iter().filter(|&&b| b & 0xc0 != 0x80).count() + 1;
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}

impl Position {
    /// The position after a text that starts at this one.
    pub fn after(self, text: &[u8]) -> Self {
        let step = Position::of(text, text.len());
        let column = if step.line == 1 { self.column.saturating_add(step.column - 1) } else { step.column };
        Position { line: self.line.saturating_add(step.line - 1), column }
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A predicate of a system.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PredicateId(pub(crate) u32);

impl PredicateId {
    /// Its index among the predicates of the system.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A predicate applied to arguments, which are arbitrary terms without predicates.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Atom {
    /// The predicate.
    pub predicate: PredicateId,
    /// The arguments.
    pub args: Box<[Term]>,
}

/// A constrained Horn clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clause {
    /// The universally quantified variables. Unused ones are kept as written.
    pub variables: Box<[Term]>,
    /// The atoms of the body.
    pub body: Box<[Atom]>,
    /// The interpreted part of the body.
    pub constraint: Term,
    /// The head; `None` for a query.
    pub head: Option<Atom>,
    /// The name that the clause was given. No other clause and no declaration of the system has it.
    pub name: Option<Symbol>,
    /// The position of the clause in the text.
    pub position: Position,
    /// The closed formula that it comes from, as it was asserted; `None` for a clause made in memory, and for
    /// rules, queries and assumptions.
    pub written: Option<Term>,
}

impl Clause {
    /// Whether the clause has a head and no atoms in its body.
    pub fn is_fact(&self) -> bool {
        self.head.is_some() && self.body.is_empty()
    }

    /// Whether the clause has no head.
    pub fn is_query(&self) -> bool {
        self.head.is_none()
    }

    /// Whether the body has at most one atom.
    pub fn is_linear(&self) -> bool {
        self.body.len() <= 1
    }

    /// Whether both clauses are syntactically equal, wherever they were read.
    pub fn same_as(&self, other: &Clause) -> bool {
        let Clause { variables, body, constraint, head, name, position: _, written: _ } = self;
        *variables == other.variables
            && *body == other.body
            && *constraint == other.constraint
            && *head == other.head
            && *name == other.name
    }
}

/// A system of constrained Horn clauses.
#[derive(Clone, Debug, Default)]
pub struct HornSystem {
    /// Declared sorts and datatypes, in the order of the text.
    pub sorts: Vec<Declaration>,
    /// Declared functions and constants other than predicates. They are existential: the system is satisfiable if some
    /// interpretation of them, too, exists.
    pub functions: Vec<Fun>,
    pub(crate) predicates: Vec<Fun>,
    /// The clauses, in the order of the text.
    pub clauses: Vec<Clause>,
}

impl HornSystem {
    /// The predicates in the order of their declaration.
    pub fn predicates(&self) -> impl ExactSizeIterator<Item = (PredicateId, Fun)> + '_ {
        self.predicates.iter().enumerate().map(|(index, &fun)| (PredicateId(index as u32), fun))
    }

    /// The function symbol of a predicate.
    pub fn fun(&self, predicate: PredicateId) -> Fun {
        self.predicates[predicate.index()]
    }

    /// The names of predicates and functions, and of constructors, testers and selectors of datatypes.
    pub(crate) fn declared_names(&self, store: &TermStore) -> FxHashSet<Symbol> {
        let functions = self.predicates.iter().chain(&self.functions);
        let mut names: FxHashSet<Symbol> = functions.map(|&fun| store.fun_decl(fun).name).collect();
        let groups = self.sorts.iter().filter_map(|declaration| match declaration {
            Declaration::Datatypes(group) => Some(group),
            Declaration::Sort(..) | Declaration::Fun(_) | Declaration::Definition => None,
        });
        let datatypes = groups.flatten().filter_map(|&sort: &Sort| store.datatype(sort));
        for &id in datatypes.flat_map(|datatype| datatype.constructors()) {
            let constructor = store.constructor(id);
            names.insert(constructor.name);
            names.insert(store.symbol(&format!("is-{}", store.name(constructor.name))));
            names.extend(constructor.fields.iter().map(|&(selector, _)| selector));
        }
        names
    }

    /// Makes the names of clauses unique in the system: clauses may come from one assertion, and rules may have the
    /// name of a relation. The first clause of a name keeps it, unless a declaration has it.
    pub(crate) fn name_clauses_apart(&mut self, store: &TermStore) {
        let mut taken = self.declared_names(store);
        // Given names are not used for other clauses, wherever they occur.
        let given: FxHashSet<Symbol> = self.clauses.iter().filter_map(|clause| clause.name).collect();
        let mut suffixes: FxHashMap<Symbol, usize> = FxHashMap::default();
        for clause in &mut self.clauses {
            let Some(name) = clause.name else { continue };
            if taken.insert(name) {
                continue;
            }
            let suffix = suffixes.entry(name).or_default();
            clause.name = Some(loop {
                *suffix += 1;
                let fresh = store.symbol(&format!("{}!{suffix}", store.name(name)));
                if !given.contains(&fresh) && taken.insert(fresh) {
                    break fresh;
                }
            });
        }
    }

    /// The name of a predicate, without quoting bars.
    pub fn name<'s>(&self, store: &'s TermStore, predicate: PredicateId) -> &'s str {
        store.name(store.fun_decl(self.fun(predicate)).name)
    }

    /// The sorts of the arguments of a predicate.
    pub fn sorts<'s>(&self, store: &'s TermStore, predicate: PredicateId) -> &'s [Sort] {
        &store.fun_decl(self.fun(predicate)).domain
    }

    /// The title of a clause in messages: its number counted from one, its name and its position.
    pub fn clause_title(&self, store: &TermStore, clause: usize) -> String {
        let Clause { name, position, .. } = &self.clauses[clause];
        let name = name.map_or(String::new(), |name| format!(" `{}`", store.display_symbol(name)));
        format!("clause {}{name} at {position}", clause + 1)
    }

    /// Whether both systems have the same declarations and clauses, wherever they were read.
    pub fn same_as(&self, other: &HornSystem) -> bool {
        self.sorts == other.sorts
            && self.functions == other.functions
            && self.predicates == other.predicates
            && self.clauses.len() == other.clauses.len()
            && self.clauses.iter().zip(&other.clauses).all(|(a, b)| a.same_as(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let text = "ab\n\u{fc}x\n".as_bytes();
        let at = |offset| Position::of(text, offset).to_string();
        assert_eq!(at(0), "1:1");
        assert_eq!(at(2), "1:3");
        assert_eq!(at(3), "2:1");
        assert_eq!(at(5), "2:2");
        assert_eq!(at(7), "3:1");
        assert_eq!(at(100), "3:1");
    }
}
