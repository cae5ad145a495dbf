//! Words and closed forms: predicates that are functions on lists or numbers, by equations for their results.
//!
//! **What it decides.** Satisfiable systems whose predicates compute words or polynomials: append, reversal with or without an
//! accumulator, queues of two lists, multiplication by repeated addition. It cannot find a derivation of `false`, and ends if its
//! equations do not suffice.
//!
//! **The idea.** Lists are words, elements of a free monoid: `append(x, y, r)` means `r = x·y`, and `rev(x, r)` means that `r` is the
//! reversal of `x`. Such equations are read off a few facts and checked by induction over derivations: clause by clause, with the
//! equations of the body, the equation of the head is an identity of words or polynomials. The same laws then refute the queries.
//!
//! ```text
//! facts := some facts of each predicate, with variables                              facts.rs
//! for each kind of candidates: words, polynomials, both
//!     candidates := formulas that the facts satisfy                                  learn.rs, closed.rs
//!     repeat: remove candidates of a head that do not follow from those of the body, until nothing changes
//!     if the candidates refute all queries: sat
//! ```
//!
//! **Why the answer is right.** The remaining candidates are inductive, so their conjunctions are a model. Words are written with
//! two folds, `append` and `reverse` (`shofar_logic::ListFunctions`), whose laws the checker knows.
//!
//! **Where it comes from.** Candidates that are removed until they are inductive: C. Flanagan, K. R. M. Leino, "Houdini, an
//! annotation assistant for ESC/Java" (FME 2001). Polynomial equations as the kernel of the values of monomials: R. Sharma et al.,
//! "A data driven approach for algebraic loop invariants" (ESOP 2013). Learning words from facts with variables is our own.

mod closed;
pub(crate) mod facts;
mod learn;

use std::time::{Duration, Instant};

use shofar_horn::check::contradict;
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::witness::GraphModel;
use shofar_horn::{Context, HornGraph};
use shofar_logic::{Sort, Term, TermStore};
use shofar_run::{Limits, Stop};
use shofar_smt::supports;

use crate::{Engine, Evidence, Run, fragment};
use facts::{Fact, cases, facts};
use learn::{Kinds, candidates};

/// Time for facts; a third of the remaining time, if that is less.
const TIME_FOR_FACTS: Duration = Duration::from_secs(10);

/// Time for one kind of candidates; half of the remaining time, if that is less.
const TIME: Duration = Duration::from_secs(30);

/// Candidates of one predicate.
const MOST_CANDIDATES: usize = 24;

/// The conflict limit of a query.
const CONFLICTS: u64 = 500;

/// The kinds of candidates, cheap ones first.
const KINDS: [Kinds; 3] = [
    Kinds { words: true, polynomials: false },
    Kinds { words: false, polynomials: true },
    Kinds { words: true, polynomials: true },
];

/// The engine of words and closed forms.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Words;

impl Engine for Words {
    fn name(&self) -> &'static str {
        "words"
    }

    fn description(&self) -> &'static str {
        "results of functions as words over lists and as polynomials, for proofs; all systems"
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_interpolable(store, graph)
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let labels: Vec<Term> = graph.edges().map(|(_, edge)| edge.label()).collect();
        supports(run.store, &labels).map_err(|unsupported| unsupported.stop(run.store))?;
        let facts = facts(&run.context().for_part(3, TIME_FOR_FACTS), graph)?;
        let mut counters = vec![("facts", facts.iter().map(Vec::len).sum::<usize>() as u64)];
        let mut answer = Err(Stop::Exhausted("no words and polynomials give an invariant"));
        let mut tried = 0;
        for kinds in KINDS.into_iter().filter(|&kinds| is_sensible(run.store, graph, kinds)) {
            run.go_on()?;
            let context = run.context().for_part(2, TIME);
            let mut houdini = Houdini::new(&context, graph, &facts, kinds);
            tried += houdini.candidates.iter().map(Vec::len).sum::<usize>() as u64;
            match houdini.is_model() {
                Ok(false) => {}
                Ok(true) => {
                    answer = Ok(Evidence::Sat(houdini.model()));
                    break;
                }
                Err(stop @ Stop::Internal(_)) => {
                    answer = Err(stop);
                    break;
                }
                // This kind is too hard, or its queries are outside of the solver's theories.
                Err(_) => {}
            }
        }
        counters.push(("candidates", tried));
        run.tell_statistics(counters, start);
        answer
    }
}

/// Whether predicates have arguments for these kinds of candidates.
fn is_sensible(store: &TermStore, graph: &HornGraph, kinds: Kinds) -> bool {
    let has = |is_fit: &dyn Fn(Sort) -> bool| {
        graph.nodes().any(|(_, node)| node.sorts(store).into_iter().any(is_fit))
    };
    (!kinds.words || has(&|sort| store.datatype(sort).is_some()))
        && (!kinds.polynomials || has(&|sort| sort == Sort::INT))
}

/// Candidates, and the edges whose heads they must hold of.
struct Houdini<'a> {
    context: Context<'a>,
    graph: &'a HornGraph,
    /// Over the variables of each node.
    candidates: Vec<Vec<Term>>,
    /// The cases of each label.
    cases: Vec<Vec<Term>>,
}

impl<'a> Houdini<'a> {
    fn new(context: &Context<'a>, graph: &'a HornGraph, facts: &[Vec<Fact>], kinds: Kinds) -> Self {
        let store = context.store;
        let of_node = |(id, node): (NodeId, &shofar_horn::graph::Node)| {
            // Without facts, nothing is derivable.
            let mut learnt = match facts[id.index()].is_empty() {
                true => vec![Term::FALSE],
                false => candidates(store, node.variables(), &facts[id.index()], kinds),
            };
            learnt.truncate(MOST_CANDIDATES);
            learnt
        };
        Houdini {
            context: Context { limits: Limits { conflicts: Some(CONFLICTS), ..context.limits }, ..*context },
            graph,
            candidates: graph.nodes().map(of_node).collect(),
            cases: graph.edges().map(|(_, edge)| cases(store, edge.label())).collect(),
        }
    }

    /// Removes candidates until they are inductive. Returns whether they refute the queries.
    fn is_model(&mut self) -> Result<bool, Stop> {
        let graph = self.graph;
        let (rules, queries): (Vec<EdgeId>, Vec<EdgeId>) =
            graph.edges().map(|(id, _)| id).partition(|&id| graph.edge(id).target().is_some());
        // If these candidates do not suffice, no subset of them does.
        if !self.refute(&queries)? {
            return Ok(false);
        }
        let mut open = rules;
        let (outgoing, _) = graph.outgoing();
        while let Some(edge) = open.pop() {
            let Some(node) = graph.edge(edge).target() else { continue };
            if self.weaken(edge, node)? {
                for &user in &outgoing[node.index()] {
                    if graph.edge(user).target().is_some() && !open.contains(&user) {
                        open.push(user);
                    }
                }
                if !self.refute(&queries)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether the candidates contradict the bodies of all queries.
    fn refute(&self, queries: &[EdgeId]) -> Result<bool, Stop> {
        for &query in queries {
            if !self.follows(query, Term::FALSE)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes the candidates of a head that do not follow. Returns whether there are any.
    fn weaken(&mut self, edge: EdgeId, node: NodeId) -> Result<bool, Stop> {
        let store = self.context.store;
        let all = store.and(&self.candidates[node.index()]);
        if self.follows(edge, all)? {
            return Ok(false);
        }
        let mut kept = Vec::new();
        for &candidate in &self.candidates[node.index()] {
            if self.follows(edge, candidate)? {
                kept.push(candidate);
            }
        }
        let is_weaker = kept.len() < self.candidates[node.index()].len();
        self.candidates[node.index()] = kept;
        Ok(is_weaker)
    }

    /// Whether a formula about the head follows from the candidates of the body.
    fn follows(&self, edge: EdgeId, formula: Term) -> Result<bool, Stop> {
        let (store, graph) = (self.context.store, self.graph);
        if formula == Term::TRUE {
            return Ok(true);
        }
        let sources = graph.edge(edge).sources().iter().enumerate();
        let mut formulas: Vec<Term> = sources
            .map(|(source, node)| {
                let candidates = store.and(&self.candidates[node.index()]);
                graph.at_source(store, edge, source, candidates)
            })
            .collect();
        formulas.push(match graph.edge(edge).target() {
            Some(_) => store.not(graph.at_target(store, edge, formula)),
            None => Term::TRUE,
        });
        if formulas.contains(&Term::FALSE) {
            return Ok(true);
        }
        for &case in &self.cases[edge.index()] {
            self.context.go_on()?;
            formulas.push(case);
            let is_refuted = match contradict(&self.context, &formulas) {
                Ok(is_refuted) => is_refuted,
                Err(stop) => self.context.interrupted().map_or(Ok(false), |_| Err(stop))?,
            };
            if !is_refuted {
                return Ok(false);
            }
            formulas.pop();
        }
        Ok(true)
    }

    fn model(&self) -> GraphModel {
        let formula = |candidates: &Vec<Term>| self.context.store.and(candidates);
        GraphModel::of_formulas(self.candidates.iter().map(formula))
    }
}
