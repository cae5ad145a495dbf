//! Clauses over constructor terms.
//!
//! A finite algebra interprets constructors and predicates; it knows no equality, selectors and testers. So an edge of the
//! graph becomes clauses whose constraint is solved:
//!
//! | in the label | in the clauses |
//! |---|---|
//! | `or`, `ite`, equivalence | one clause for each case |
//! | `t = u` of a datatype | the most general unifier, applied to the clause; terms that do not unify remove the clause |
//! | `is-c(x)` | `x` becomes `c(y, ..)`; its negation one case for each other constructor |
//! | `sel(x)` of constructor `c` | `x` becomes `c(y, ..)`; or one case for each other constructor, where the field has any value |
//! | `t != u` of a datatype | a case for each pair of fields until one side is a variable, then `t != u` remains |
//! | formulas over other sorts | remain as they are |
//!
//! Equations must be solved, not weakened: `x = succ(x)` has no solution among terms, but has one among states. An
//! application of any other operator (elements of arrays, declared functions) becomes a fresh variable. This
//! weakens the constraint, so a model of the clauses still is one of the graph.
//!
//! *Source.* Kostyukov, Mordvinov, Fedyukovich (PLDI 2021), section 4; selectors are total here, as in SMT-LIB.

use rustc_hash::FxHashMap;
use shofar_horn::HornGraph;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_logic::{ConstructorId, Op, Sort, Substitution, Term, TermStore};
use shofar_run::Stop;

use crate::Run;

/// The greatest number of cases of a clause that are looked at.
const MOST_CASES: usize = 4096;

/// A clause over constructor terms. Terms of other sorts are arbitrary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PureClause {
    /// The edge of which this is a case.
    pub(crate) edge: EdgeId,
    pub(crate) body: Vec<(NodeId, Vec<Term>)>,
    pub(crate) head: Option<(NodeId, Vec<Term>)>,
    /// Pairs of constructor terms that differ. One of each pair is a variable.
    pub(crate) unequal: Vec<(Term, Term)>,
    /// Formulas without terms of datatypes.
    pub(crate) scalar: Vec<Term>,
}

/// The clauses of a graph.
pub(crate) fn pure_clauses(run: &Run<'_>, graph: &HornGraph) -> Result<Vec<PureClause>, Stop> {
    let mut clauses = Vec::new();
    for (edge, _) in graph.edges() {
        run.go_on()?;
        Purifier::new(run.store, graph, edge).clauses(run, &mut clauses)?;
    }
    Ok(clauses)
}

/// A case of a clause: what is known, and what is to be solved.
#[derive(Clone)]
struct Case {
    /// The arguments of sources and target.
    arguments: Vec<Term>,
    open: Vec<Term>,
    unequal: Vec<(Term, Term)>,
    scalar: Vec<Term>,
}

struct Purifier<'a> {
    store: &'a TermStore,
    graph: &'a HornGraph,
    edge: EdgeId,
    /// Whether a term contains terms of datatypes.
    is_structured: FxHashMap<Term, bool>,
}

impl<'a> Purifier<'a> {
    fn new(store: &'a TermStore, graph: &'a HornGraph, edge: EdgeId) -> Self {
        Purifier { store, graph, edge, is_structured: FxHashMap::default() }
    }

    fn clauses(mut self, run: &Run<'_>, clauses: &mut Vec<PureClause>) -> Result<(), Stop> {
        let edge = self.graph.edge(self.edge);
        let sources = 0..edge.sources().len();
        let arguments = sources.flat_map(|source| self.graph.source_variables(self.edge, source));
        let arguments = arguments.chain(self.graph.target_variables(self.edge)).copied().collect();
        let label = self.store.normalize(edge.label());
        let mut cases = vec![Case { arguments, open: vec![label], unequal: vec![], scalar: vec![] }];
        let mut looked_at = 0;
        while let Some(mut case) = cases.pop() {
            looked_at += 1;
            if looked_at > MOST_CASES {
                return Err(Stop::Exhausted("a clause has too many cases"));
            }
            if looked_at % 64 == 0 {
                run.go_on()?;
            }
            let mut is_possible = true;
            while let Some(formula) = case.open.pop() {
                match self.step(&mut case, formula) {
                    Progress::Done => {}
                    Progress::Impossible => {
                        is_possible = false;
                        break;
                    }
                    Progress::Cases(more) => {
                        // The last one is continued with.
                        cases.extend(more);
                        is_possible = false;
                        break;
                    }
                }
            }
            if is_possible {
                clauses.push(self.clause(case));
            }
        }
        Ok(())
    }

    fn clause(&self, case: Case) -> PureClause {
        let edge = self.graph.edge(self.edge);
        let mut arguments = case.arguments.into_iter();
        let mut take = |node: NodeId| {
            let arity = self.graph.node(node).arity();
            (node, arguments.by_ref().take(arity).collect::<Vec<Term>>())
        };
        PureClause {
            edge: self.edge,
            body: edge.sources().iter().map(|&node| take(node)).collect(),
            head: edge.target().map(&mut take),
            unequal: case.unequal,
            scalar: case.scalar,
        }
    }

    /// Solves one formula of a case.
    fn step(&mut self, case: &mut Case, formula: Term) -> Progress {
        let store = self.store;
        if formula == Term::TRUE {
            return Progress::Done;
        }
        if formula == Term::FALSE {
            return Progress::Impossible;
        }
        if !self.has_structure(formula) {
            case.scalar.push(formula);
            return Progress::Done;
        }
        let (atom, is_positive) = store.literal(formula);
        match (store.op(atom), store.args(atom)) {
            (Op::And, parts) if is_positive => {
                case.open.extend_from_slice(parts);
                Progress::Done
            }
            (Op::Or, parts) if !is_positive => {
                case.open.extend(parts.iter().map(|&part| store.not(part)));
                Progress::Done
            }
            (Op::And | Op::Or, parts) => {
                let part = |&part: &Term| vec![store.signed(part, is_positive)];
                Progress::cases(case, parts.iter().map(part))
            }
            (Op::Ite, &[condition, yes, no]) => {
                let [yes, no] = [yes, no].map(|branch| store.signed(branch, is_positive));
                Progress::cases(case, [vec![condition, yes], vec![store.not(condition), no]])
            }
            (Op::Eq, &[a, b]) if store.sort_of(a) == Sort::BOOL => {
                let (with, without) = (store.signed(b, is_positive), store.signed(b, !is_positive));
                Progress::cases(case, [vec![a, with], vec![store.not(a), without]])
            }
            _ => match self.impurity(atom) {
                Some(impure) => self.split(case, formula, impure),
                None => self.literal(case, atom, is_positive),
            },
        }
    }

    /// Solves an equation of constructor terms or its negation.
    fn literal(&self, case: &mut Case, atom: Term, is_positive: bool) -> Progress {
        let store = self.store;
        let (Op::Eq, &[a, b]) = (store.op(atom), store.args(atom)) else {
            // An atom of another theory around terms of datatypes. Without it the constraint is weaker.
            return Progress::Done;
        };
        let is_variable = |term: Term| matches!(store.op(term), Op::Var(_));
        let (variable, term) = if is_variable(a) { (a, b) } else { (b, a) };
        if !is_variable(variable) {
            // Normal equations between constructor terms have a variable on one side.
            return Progress::Done;
        }
        let is_inside = store.free_vars(&[term]).contains(&variable);
        match (is_positive, is_inside) {
            // A term is no proper part of itself.
            (true, true) => Progress::Impossible,
            (false, true) => Progress::Done,
            (true, false) => {
                self.bind(case, variable, term);
                Progress::Done
            }
            (false, false) => {
                case.unequal.push((variable, term));
                Progress::Done
            }
        }
    }

    /// Replaces a variable in the whole case. Disequalities are looked at again.
    fn bind(&self, case: &mut Case, variable: Term, term: Term) {
        let store = self.store;
        let binding: Substitution = [(variable, term)].into_iter().collect();
        let unequal = std::mem::take(&mut case.unequal);
        case.open.extend(unequal.into_iter().map(|(a, b)| store.not(store.eq(a, b))));
        case.open = store.instantiate_all(&case.open, &binding);
        case.scalar = store.instantiate_all(&case.scalar, &binding);
        case.arguments = store.instantiate_all(&case.arguments, &binding);
    }

    /// Splits a case by the possible values of a term that is not a constructor term, and puts the formula back.
    fn split(&self, case: &Case, formula: Term, impure: Term) -> Progress {
        let store = self.store;
        let mut with = case.clone();
        with.open.push(formula);
        let branch = |condition: Term, value: Term| {
            let mut branch = with.clone();
            self.replace(&mut branch, impure, value);
            branch.open.push(condition);
            branch
        };
        let is_part = impure != store.literal(formula).0;
        match (store.op(impure), store.args(impure)) {
            (Op::Ite, &[condition, yes, no]) => {
                Progress::Cases(vec![branch(condition, yes), branch(store.not(condition), no)])
            }
            _ if is_part && store.sort_of(impure) == Sort::BOOL => {
                Progress::Cases(vec![branch(impure, Term::TRUE), branch(store.not(impure), Term::FALSE)])
            }
            (Op::Selector { .. } | Op::Tester(_), &[of]) if matches!(store.op(of), Op::Var(_)) => {
                let datatype = store.datatype(store.sort_of(of));
                let constructors = datatype.map_or(&[][..], |datatype| datatype.constructors());
                let made = |&constructor: &ConstructorId| {
                    let mut branch = with.clone();
                    self.bind(&mut branch, of, self.fresh_value(constructor));
                    branch
                };
                Progress::Cases(constructors.iter().map(made).collect())
            }
            _ => {
                let any = store.var(store.fresh_symbol("any"), store.sort_of(impure));
                self.replace(&mut with, impure, any);
                Progress::Cases(vec![with])
            }
        }
    }

    /// The constructor applied to fresh variables.
    fn fresh_value(&self, constructor: ConstructorId) -> Term {
        let store = self.store;
        let field = |&(name, sort)| store.var(store.fresh_symbol(store.name(name)), sort);
        let fields: Vec<Term> = store.constructor(constructor).fields.iter().map(field).collect();
        store.construct_term(constructor, &fields)
    }

    /// Replaces a term in the whole case. Arguments and disequalities are constructor terms and do not contain it.
    fn replace(&self, case: &mut Case, from: Term, to: Term) {
        let store = self.store;
        for formula in &mut case.open {
            *formula = store.rewrite(*formula, &mut |op, args| {
                let term = store.build(op, args).expect("the replacement has the same sort");
                if term == from { to } else { term }
            });
        }
    }

    /// An innermost subterm that is in the way of a constructor term or a formula without datatypes.
    fn impurity(&mut self, atom: Term) -> Option<Term> {
        let store = self.store;
        let subterms = store.subterms(&[atom]);
        subterms.into_iter().filter(|&term| term != atom || store.op(atom) != Op::Eq).find(|&term| {
            let is_structured = self.has_structure(term);
            match store.op(term) {
                Op::Var(_) | Op::Construct(_) => false,
                _ => is_structured,
            }
        })
    }

    fn has_structure(&mut self, term: Term) -> bool {
        if let Some(&known) = self.is_structured.get(&term) {
            return known;
        }
        for part in self.store.subterms(&[term]) {
            let is_structured = self.store.datatype(self.store.sort_of(part)).is_some()
                || self.store.args(part).iter().any(|argument| self.is_structured[argument]);
            self.is_structured.insert(part, is_structured);
        }
        self.is_structured[&term]
    }
}

/// The result of a step.
enum Progress {
    /// The case goes on.
    Done,
    /// The case has no solution.
    Impossible,
    /// The case splits into these.
    Cases(Vec<Case>),
}

impl Progress {
    /// The case with different further formulas.
    fn cases(case: &Case, more: impl IntoIterator<Item = Vec<Term>>) -> Self {
        let with = |formulas: Vec<Term>| {
            let mut branch = case.clone();
            branch.open.extend(formulas);
            branch
        };
        Progress::Cases(more.into_iter().map(with).collect())
    }
}
