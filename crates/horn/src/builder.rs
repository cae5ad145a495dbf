//! Builds systems of Horn clauses in memory, without any text.
//!
//! ```
//! use shofar_horn::SystemBuilder;
//! use shofar_logic::{Sort, TermStore};
//!
//! let store = TermStore::new();
//! let mut clauses = SystemBuilder::new(&store);
//! let count = clauses.predicate("count", &[Sort::INT])?;
//! let x = clauses.variable("x", Sort::INT);
//! clauses.clause().implies(count, &[store.int(0)])?;
//! clauses.clause().atom(count, &[x]).implies(count, &[store.add(&[x, store.int(2)])])?;
//! clauses.clause().atom(count, &[x]).when(store.eq(x, store.int(7))).implies_false()?;
//! let system = clauses.finish();
//! assert_eq!(system.info(&store).track, Some("LIA-Lin"));
//!
//! let mut clauses = SystemBuilder::new(&store);
//! let count = clauses.predicate("count", &[Sort::INT])?;
//! let error = clauses.clause().implies(count, &[store.bool(true)]).unwrap_err();
//! assert_eq!(error.to_string(), "argument 1 of count has sort Bool, expected Int");
//! # Ok::<(), shofar_horn::BuildError>(())
//! ```
//!
//! A built system is like one that was read: B1, it is well-sorted; B2, it has no quantifiers and no predicates inside
//! of terms; B3, the variables of a clause have different names; B4, the sorts and functions that occur in it are
//! declared, sorts after their components. The user need not declare sorts and functions: the builder declares all that
//! are used.

use std::fmt;
use std::ops::Deref;

use rustc_hash::FxHashSet;
use shofar_logic::smtlib::Declaration;
use shofar_logic::{Fun, Op, Sort, SortError, SortKind, Symbol, Term, TermStore};

use crate::system::{Atom, Clause, HornSystem, Position, PredicateId};

/// The reason why a part of a system is rejected. Nothing of it is added then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// There already is a predicate of this name.
    Declared(String),
    /// Another builder made the predicate.
    Stranger,
    /// The arguments of an atom do not fit its predicate.
    Arguments(SortError),
    /// A constraint is not a formula but has this sort.
    NotAFormula(String),
    /// An argument or a constraint contains quantifiers or predicates.
    NotHorn(Term),
    /// Two variables of a clause have this name.
    Ambiguous(String),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Declared(name) => write!(f, "predicate {name} is declared already"),
            BuildError::Stranger => f.write_str("a predicate of another system"),
            BuildError::Arguments(error) => error.fmt(f),
            BuildError::NotAFormula(sort) => write!(f, "a constraint has sort {sort}, expected Bool"),
            BuildError::NotHorn(_) => f.write_str("a term has quantifiers or predicates in it"),
            BuildError::Ambiguous(name) => write!(f, "two variables of a clause are called {name}"),
        }
    }
}

impl std::error::Error for BuildError {}

/// Builds a [`HornSystem`]; see the [module](self).
pub struct SystemBuilder<S> {
    store: S,
    system: HornSystem,
    /// The names of the predicates.
    names: FxHashSet<Symbol>,
    /// The sorts that are declared or need no declaration.
    sorts: FxHashSet<Sort>,
    /// The functions that are declared.
    functions: FxHashSet<Fun>,
    /// The terms whose sorts and functions are declared.
    terms: FxHashSet<Term>,
}

impl<S: Deref<Target = TermStore>> SystemBuilder<S> {
    /// A system without clauses over the terms of a store, to which the builder has any kind of reference.
    pub fn new(store: S) -> Self {
        SystemBuilder {
            store,
            system: HornSystem::default(),
            names: FxHashSet::default(),
            sorts: FxHashSet::default(),
            functions: FxHashSet::default(),
            terms: FxHashSet::default(),
        }
    }

    /// Declares a predicate by its name and the sorts of its arguments. Any name is possible, but printed clauses
    /// cannot be read again if the name belongs to SMT-LIB's core theory, such as `and`, or if it hides an operator that
    /// clauses use.
    pub fn predicate(&mut self, name: &str, sorts: &[Sort]) -> Result<PredicateId, BuildError> {
        let symbol = self.store.symbol(name);
        if !self.names.insert(symbol) {
            return Err(BuildError::Declared(name.to_owned()));
        }
        sorts.iter().for_each(|&sort| self.declare_sort(sort));
        let id = PredicateId(self.system.predicates.len() as u32);
        self.system.predicates.push(self.store.fun(symbol, sorts, Sort::BOOL));
        Ok(id)
    }

    /// A variable. It belongs to no clause: each clause universally quantifies the variables that occur in it.
    pub fn variable(&self, name: &str, sort: Sort) -> Term {
        self.store.var(self.store.symbol(name), sort)
    }

    /// Starts a clause, which [`ClauseBuilder::implies`] or [`ClauseBuilder::implies_false`] completes.
    pub fn clause(&mut self) -> ClauseBuilder<'_, S> {
        ClauseBuilder { builder: self, name: None, position: None, body: Vec::new(), constraint: Vec::new() }
    }

    /// The system. Clauses that were given the same name are told apart by a suffix.
    pub fn finish(mut self) -> HornSystem {
        self.system.name_clauses_apart(&self.store);
        self.system
    }

    fn add(&mut self, clause: Clause) -> Result<usize, BuildError> {
        let Clause { body, constraint, head, variables, .. } = &clause;
        for atom in body.iter().chain(head) {
            let fun = self.system.predicates.get(atom.predicate.index()).ok_or(BuildError::Stranger)?;
            self.store.apply(*fun, &atom.args).map_err(BuildError::Arguments)?;
        }
        let sort = self.store.sort_of(*constraint);
        if sort != Sort::BOOL {
            return Err(BuildError::NotAFormula(self.store.display_sort(sort).to_string()));
        }
        let terms = terms(body, *constraint, head.as_ref());
        let is_simple = |term: Term| !self.store.is_quantified(term) && !self.store.has_predicate(term);
        if let Some(&term) = terms.iter().find(|&&term| !is_simple(term)) {
            return Err(BuildError::NotHorn(term));
        }
        let mut names = FxHashSet::default();
        for &variable in variables {
            if let Op::Var(name) = self.store.op(variable)
                && !names.insert(name)
            {
                return Err(BuildError::Ambiguous(self.store.name(name).to_owned()));
            }
        }
        self.declare_terms(terms);
        self.system.clauses.push(clause);
        Ok(self.system.clauses.len() - 1)
    }

    /// Declares the sorts and functions that occur in terms (B4).
    fn declare_terms(&mut self, mut open: Vec<Term>) {
        while let Some(term) = open.pop() {
            if !self.terms.insert(term) {
                continue;
            }
            self.declare_sort(self.store.sort_of(term));
            let (op, arguments) = self.store.view(term);
            if let Op::Apply(fun) = op
                && self.functions.insert(fun)
            {
                self.system.functions.push(fun);
            }
            open.extend_from_slice(arguments);
        }
    }

    /// Declares a sort after its components.
    fn declare_sort(&mut self, sort: Sort) {
        let mut open = vec![(sort, false)];
        while let Some((sort, are_parts_declared)) = open.pop() {
            if are_parts_declared {
                self.system.sorts.extend(self.declaration(sort));
            } else if self.sorts.insert(sort) {
                open.push((sort, true));
                open.extend(self.parts(sort).into_iter().map(|part| (part, false)));
            }
        }
    }

    /// The sorts to be declared before this one. From now on, datatypes that are declared together and the parameters
    /// of their declaration count as declared.
    fn parts(&mut self, sort: Sort) -> Vec<Sort> {
        match self.store.sort_kind(sort) {
            SortKind::Bool | SortKind::Int | SortKind::Real | SortKind::BitVec(_) => Vec::new(),
            &SortKind::Array(index, element) => vec![index, element],
            SortKind::Uninterpreted(_, parameters) => parameters.to_vec(),
            SortKind::Datatype(_) => {
                let Some(datatype) = self.store.datatype(sort) else { return Vec::new() };
                if let Some(template) = datatype.template {
                    return datatype.params.iter().copied().chain([template]).collect();
                }
                self.sorts.extend(datatype.group());
                self.sorts.extend(&datatype.params);
                let members = datatype.group().iter().filter_map(|&member| self.store.datatype(member));
                let constructors = members.flat_map(|member| member.constructors());
                let fields =
                    constructors.flat_map(|&constructor| &self.store.constructor(constructor).fields);
                fields.map(|&(_, sort)| sort).collect()
            }
        }
    }

    /// The command that declares a sort; `None` if it needs none or has one.
    fn declaration(&self, sort: Sort) -> Option<Declaration> {
        let declaration = match self.store.sort_kind(sort) {
            SortKind::Uninterpreted(name, parameters) => Declaration::Sort(*name, parameters.len()),
            SortKind::Datatype(_) => {
                let datatype = self.store.datatype(sort).filter(|datatype| datatype.template.is_none())?;
                Declaration::Datatypes(datatype.group().into())
            }
            SortKind::Bool | SortKind::Int | SortKind::Real | SortKind::BitVec(_) | SortKind::Array(..) => {
                return None;
            }
        };
        (!self.system.sorts.contains(&declaration)).then_some(declaration)
    }
}

/// The terms of a clause, in the order of the clause.
fn terms(body: &[Atom], constraint: Term, head: Option<&Atom>) -> Vec<Term> {
    let (body, head) =
        (body.iter().flat_map(|atom| &atom.args), head.into_iter().flat_map(|atom| &atom.args));
    body.chain([&constraint]).chain(head).copied().collect()
}

/// A clause under construction: atoms and constraints of its body; the head comes last.
#[must_use = "a clause is added when it gets its head"]
pub struct ClauseBuilder<'b, S> {
    builder: &'b mut SystemBuilder<S>,
    name: Option<Symbol>,
    position: Option<Position>,
    body: Vec<Atom>,
    constraint: Vec<Term>,
}

impl<S: Deref<Target = TermStore>> ClauseBuilder<'_, S> {
    /// Gives the clause a name, which messages and witnesses mention.
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(self.builder.store.symbol(name));
        self
    }

    /// Sets the origin of the clause, for example in the program from which it was made. By default, each clause has
    /// its own line.
    pub fn at(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }

    /// Adds an atom to the body.
    pub fn atom(mut self, predicate: PredicateId, arguments: &[Term]) -> Self {
        self.body.push(Atom { predicate, args: arguments.into() });
        self
    }

    /// Adds a constraint to the body.
    pub fn when(mut self, constraint: Term) -> Self {
        self.constraint.push(constraint);
        self
    }

    /// Completes a fact or a rule with its head, and adds it. Returns its index among the clauses.
    pub fn implies(self, predicate: PredicateId, arguments: &[Term]) -> Result<usize, BuildError> {
        self.complete(Some(Atom { predicate, args: arguments.into() }))
    }

    /// Completes a query, which states that its body never holds, and adds it. Returns its index among the clauses.
    pub fn implies_false(self) -> Result<usize, BuildError> {
        self.complete(None)
    }

    fn complete(self, head: Option<Atom>) -> Result<usize, BuildError> {
        let ClauseBuilder { builder, name, position, body, constraint } = self;
        let constraint = match *constraint {
            [] => Term::TRUE,
            [only] => only,
            _ => builder.store.app(Op::And, &constraint).map_err(BuildError::Arguments)?,
        };
        let variables = builder.store.free_vars(&terms(&body, constraint, head.as_ref())).into();
        let line = u32::try_from(builder.system.clauses.len() + 1).unwrap_or(u32::MAX);
        let position = position.unwrap_or(Position { line, column: 1 });
        builder.add(Clause { variables, body: body.into(), constraint, head, name, position, written: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, parse};

    /// A built system stays the same after printing and reading.
    #[test]
    fn a_built_system_is_like_one_that_was_read() {
        let text = b"(declare-sort U 0)
            (declare-datatypes ((Tree 0) (Forest 0))
                (((leaf (mark U)) (node (below Forest))) ((none) (more (first Tree) (rest Forest)))))
            (declare-datatype Box (par (T) ((box (inside T)))))
            (declare-fun f (Int) Int)
            (declare-fun P ((Box (Array Int Tree)) Int) Bool) (declare-fun Q () Bool)
            (assert (forall ((b (Box (Array Int Tree))) (n Int))
                (=> (and Q (P b n) (> (f n) 0) (not (= n 3))) (P b (+ n 1)))))
            (assert Q) (assert (forall ((n Int)) (=> (and Q Q (= (f 1) n)) false)))";
        let store = TermStore::new();
        let read = parse(&store, "read", text).unwrap();
        let mut builder = SystemBuilder::new(&store);
        let same: Vec<PredicateId> = read
            .predicates()
            .map(|(_, fun)| {
                let declared = store.fun_decl(fun);
                builder.predicate(store.name(declared.name), &declared.domain).unwrap()
            })
            .collect();
        for (index, clause) in read.clauses.iter().enumerate() {
            let mut built = builder.clause().at(clause.position);
            for atom in &clause.body {
                built = built.atom(same[atom.predicate.index()], &atom.args);
            }
            let parts = match store.view(clause.constraint) {
                (Op::And, parts) => parts.to_vec(),
                _ if clause.constraint == Term::TRUE => Vec::new(),
                _ => vec![clause.constraint],
            };
            let built = parts.into_iter().fold(built, ClauseBuilder::when);
            let added = match &clause.head {
                Some(head) => built.implies(same[head.predicate.index()], &head.args),
                None => built.implies_false(),
            };
            assert_eq!(added, Ok(index));
        }
        let built = builder.finish();
        assert_eq!(built.functions, read.functions);
        assert!(built.clauses.iter().zip(&read.clauses).all(|(built, read)| built.same_as(read)));
        let positions =
            |system: &HornSystem| system.clauses.iter().map(|clause| clause.position).collect::<Vec<_>>();
        assert_eq!(positions(&built), positions(&read));
        let printed = built.to_text(&store, Format::Smtlib);
        let again = parse(&store, "built", printed.as_bytes()).unwrap();
        assert!(built.same_as(&again), "{printed}");
    }

    #[test]
    fn mistakes_are_errors_and_add_nothing() {
        let store = TermStore::new();
        let mut builder = SystemBuilder::new(&store);
        let p = builder.predicate("p", &[Sort::INT]).unwrap();
        assert_eq!(builder.predicate("p", &[]), Err(BuildError::Declared("p".to_owned())));
        let (x, other) = (builder.variable("x", Sort::INT), builder.variable("x", Sort::REAL));
        let mut strange = SystemBuilder::new(&store);
        strange.predicate("q", &[]).unwrap();
        let stranger = strange.predicate("r", &[]).unwrap();
        let quantified = store.app(Op::Exists, &[x, store.eq(x, store.int(1))]).unwrap();
        let nested = store.apply(store.fun(store.symbol("p"), &[Sort::INT], Sort::BOOL), &[x]).unwrap();
        let message = |added: Result<usize, BuildError>| added.unwrap_err().to_string();
        assert_eq!(message(builder.clause().implies(stranger, &[])), "a predicate of another system");
        assert_eq!(
            message(builder.clause().atom(p, &[x, x]).implies_false()),
            "p takes 1 argument, but has 2"
        );
        assert_eq!(
            message(builder.clause().when(x).implies_false()),
            "a constraint has sort Int, expected Bool"
        );
        assert!(message(builder.clause().when(x).when(Term::TRUE).implies_false()).contains("sort Int"));
        for term in [quantified, nested] {
            let added = builder.clause().when(term).implies_false();
            assert_eq!(added, Err(BuildError::NotHorn(term)));
        }
        let clause = builder.clause().atom(p, &[x]).when(store.lt(other, store.real(1)));
        assert_eq!(message(clause.implies_false()), "two variables of a clause are called x");
        assert!(builder.finish().clauses.is_empty());
    }
}
