//! Statistics of a system: size, theories, shape, and its competition track.

use rustc_hash::FxHashSet;
use serde::Serialize;
use shofar_logic::{Op, Sort, SortKind, Term, TermStore, Walker};

use crate::scc::components;
use crate::system::{Clause, HornSystem};

/// Statistics of a system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Info {
    /// The predicates in the order of their declaration.
    pub predicates: Vec<PredicateInfo>,
    /// Number of clauses with a head and no atoms in the body.
    pub facts: usize,
    /// Number of clauses with a head and atoms in the body.
    pub rules: usize,
    /// Number of clauses without head.
    pub queries: usize,
    /// The theories that occur.
    pub theories: Theories,
    /// Whether no clause has more than one atom in its body.
    pub linear: bool,
    /// Whether the system is a transition system: all clauses are linear over one predicate.
    pub transition_system: bool,
    /// Number of groups of mutually recursive predicates.
    pub loops: usize,
    /// The clause with the largest constraint and atoms; `None` if there are no clauses.
    pub largest_clause: Option<LargestClause>,
    /// The track of the CHC competition, if the system belongs to one.
    pub track: Option<&'static str>,
}

/// Statistics of a predicate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct PredicateInfo {
    /// Its name, without quoting bars.
    pub name: String,
    /// The sorts of its arguments.
    pub sorts: Vec<String>,
    /// Whether it may depend on itself.
    pub recursive: bool,
}

/// The theories of the clauses and of the predicates' sorts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Theories {
    /// Integers.
    pub integers: bool,
    /// Reals.
    pub reals: bool,
    /// Products or quotients of non-constant terms.
    pub nonlinear: bool,
    /// Arrays.
    pub arrays: bool,
    /// Bit-vectors.
    pub bitvectors: bool,
    /// Algebraic datatypes.
    pub datatypes: bool,
    /// Declared sorts and functions, other than predicates.
    pub uninterpreted: bool,
}

/// The largest clause of a system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct LargestClause {
    /// The line where it starts.
    pub line: u32,
    /// Number of variables.
    pub variables: usize,
    /// Number of atoms in the body.
    pub atoms: usize,
    /// Number of different terms.
    pub terms: usize,
}

impl HornSystem {
    /// Analyses the system.
    pub fn info(&self, store: &TermStore) -> Info {
        let recursion = self.recursion();
        let predicates = self.predicates().map(|(id, fun)| {
            let decl = store.fun_decl(fun);
            PredicateInfo {
                name: store.name(decl.name).to_owned(),
                sorts: decl.domain.iter().map(|&sort| store.display_sort(sort).to_string()).collect(),
                recursive: recursion.recursive[id.index()],
            }
        });
        let linear = self.clauses.iter().all(Clause::is_linear);
        Info {
            predicates: predicates.collect(),
            facts: self.clauses.iter().filter(|c| c.is_fact()).count(),
            rules: self.clauses.iter().filter(|c| !c.is_fact() && !c.is_query()).count(),
            queries: self.clauses.iter().filter(|c| c.is_query()).count(),
            theories: self.theories(store),
            linear,
            transition_system: linear && self.has_one_predicate(),
            loops: recursion.loops,
            largest_clause: self.largest_clause(store),
            track: self.track(store),
        }
    }

    fn has_one_predicate(&self) -> bool {
        let mut atoms = self.clauses.iter().flat_map(|c| c.head.iter().chain(&c.body)).map(|a| a.predicate);
        match atoms.next() {
            Some(first) => atoms.all(|predicate| predicate == first),
            None => false,
        }
    }

    fn recursion(&self) -> Recursion {
        let count = self.predicates.len();
        let mut successors = vec![Vec::new(); count];
        let mut recursive = vec![false; count];
        for clause in &self.clauses {
            let Some(head) = clause.head.as_ref().map(|atom| atom.predicate.index()) else { continue };
            for atom in &clause.body {
                successors[atom.predicate.index()].push(head);
                recursive[head] |= atom.predicate.index() == head;
            }
        }
        let (component, components) = components(&successors);
        let mut sizes = vec![0; components];
        component.iter().for_each(|&c| sizes[c] += 1);
        let mut looping = vec![false; components];
        for predicate in 0..count {
            recursive[predicate] |= sizes[component[predicate]] > 1;
            looping[component[predicate]] |= recursive[predicate];
        }
        Recursion { recursive, loops: looping.iter().filter(|&&l| l).count() }
    }

    fn largest_clause(&self, store: &TermStore) -> Option<LargestClause> {
        let mut walker = Walker::new(store);
        let sizes = self.clauses.iter().map(|clause| {
            let mut terms = 0;
            walker.reset();
            walker.visit(clause.terms(), |_| terms += 1);
            (terms, clause)
        });
        // The first one of clauses of the same size.
        let (terms, clause) = sizes.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        Some(LargestClause {
            line: clause.position.line,
            variables: clause.variables.len(),
            atoms: clause.body.len(),
            terms,
        })
    }

    fn theories(&self, store: &TermStore) -> Theories {
        let mut theories = Theories::default();
        let mut sorts = self.declared_sorts(store);
        let mut terms: Vec<Term> = Vec::new();
        Walker::new(store).visit(self.clauses.iter().flat_map(Clause::terms), |term| terms.push(term));
        // Bottom-up, so that constant arguments are known before the term is visited.
        terms.sort_unstable();
        let mut constant: FxHashSet<Term> = FxHashSet::default();
        for term in terms {
            let (op, args) = store.view(term);
            let sort = store.sort_of(term);
            if sorts.last() != Some(&sort) {
                sorts.push(sort);
            }
            theories.uninterpreted |= matches!(op, Op::Apply(_));
            let varying = |args: &[Term]| args.iter().filter(|arg| !constant.contains(arg)).count();
            match op {
                Op::Mul => theories.nonlinear |= varying(args) > 1,
                Op::IntDiv | Op::Mod | Op::RealDiv => theories.nonlinear |= varying(&args[1..]) > 0,
                _ => {}
            }
            if !matches!(op, Op::Var(_) | Op::Apply(_)) && args.iter().all(|arg| constant.contains(arg)) {
                constant.insert(term);
            }
        }
        theories.add_sorts(store, sorts);
        theories
    }

    /// The track of the CHC competition.
    ///
    /// As for its organisers, the sorts of predicates and variables decide: a system over reals may use integers in
    /// subterms, and one over integers may use bit-vectors. A clause is linear if it has at most one atom with
    /// arguments, besides any number of nullary atoms.
    fn track(&self, store: &TermStore) -> Option<&'static str> {
        let mut theories = Theories::default();
        theories.add_sorts(store, self.declared_sorts(store));
        let is_quantified = |clause: &Clause| store.is_quantified(clause.constraint);
        if theories.uninterpreted || !self.functions.is_empty() || self.clauses.iter().any(is_quantified) {
            return None;
        }
        let has_one_atom = |clause: &Clause| clause.body.iter().filter(|a| !a.args.is_empty()).count() <= 1;
        let linear = self.clauses.iter().all(has_one_atom);
        let Theories { integers, reals, arrays, bitvectors, datatypes, .. } = theories;
        match (bitvectors, reals) {
            (true, false) => (!integers && !arrays && !datatypes).then_some("BV"),
            (false, true) => (!integers && !arrays && !datatypes && linear).then_some("LRA-Lin"),
            (true, true) => None,
            (false, false) => Some(match (datatypes, arrays, linear) {
                (true, true, _) => "ADT-LIA-Arrays",
                (true, false, _) => "ADT-LIA",
                (false, true, true) => "LIA-Lin-Arrays",
                (false, true, false) => "LIA-Arrays",
                (false, false, true) => "LIA-Lin",
                (false, false, false) => "LIA",
            }),
        }
    }

    /// The sorts of the predicates' arguments and of the clauses' variables.
    fn declared_sorts(&self, store: &TermStore) -> Vec<Sort> {
        let arguments = self.predicates().flat_map(|(_, fun)| store.fun_decl(fun).domain.iter().copied());
        let variables = self.clauses.iter().flat_map(|c| c.variables.iter().map(|&v| store.sort_of(v)));
        let mut seen: FxHashSet<Sort> = FxHashSet::default();
        arguments.chain(variables).filter(|&sort| seen.insert(sort)).collect()
    }
}

struct Recursion {
    recursive: Vec<bool>,
    loops: usize,
}

impl Theories {
    /// Adds the theories of these sorts and their components.
    fn add_sorts(&mut self, store: &TermStore, mut open: Vec<Sort>) {
        let mut seen: FxHashSet<Sort> = FxHashSet::default();
        while let Some(sort) = open.pop() {
            if !seen.insert(sort) {
                continue;
            }
            match store.sort_kind(sort) {
                SortKind::Bool => {}
                SortKind::Int => self.integers = true,
                SortKind::Real => self.reals = true,
                SortKind::BitVec(_) => self.bitvectors = true,
                SortKind::Array(index, element) => {
                    self.arrays = true;
                    open.extend([index, element]);
                }
                SortKind::Datatype(_) => {
                    self.datatypes = true;
                    let constructors = store.datatype(sort).map_or(&[][..], |d| d.constructors());
                    for &id in constructors {
                        open.extend(store.constructor(id).fields.iter().map(|(_, field)| *field));
                    }
                }
                SortKind::Uninterpreted(..) => self.uninterpreted = true,
            }
        }
    }

    /// The names of the theories, for people.
    pub fn names(self) -> Vec<&'static str> {
        let Theories { integers, reals, nonlinear, arrays, bitvectors, datatypes, uninterpreted } = self;
        let arithmetic = match (integers, reals) {
            (true, true) => Some("integers and reals"),
            (true, false) => Some("integers"),
            (false, true) => Some("reals"),
            (false, false) => None,
        };
        let others = [
            (nonlinear, "non-linear arithmetic"),
            (arrays, "arrays"),
            (bitvectors, "bit-vectors"),
            (datatypes, "datatypes"),
            (uninterpreted, "uninterpreted sorts or functions"),
        ];
        let others = others.into_iter().filter(|(occurs, _)| *occurs).map(|(_, name)| name);
        arithmetic.into_iter().chain(others).collect()
    }
}

impl Clause {
    /// The constraint and the arguments of all atoms.
    pub fn terms(&self) -> impl Iterator<Item = Term> + '_ {
        let atoms = self.head.iter().chain(&self.body);
        std::iter::once(self.constraint).chain(atoms.flat_map(|atom| atom.args.iter().copied()))
    }
}
