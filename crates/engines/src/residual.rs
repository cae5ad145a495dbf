//! Residual systems: what is missing to a candidate model.
//!
//! A *candidate* gives lemmas `φ_1 .. φ_k` to each predicate, such as the lemmas of a frame of Spacer. It need not be
//! inductive. The residual system asks by how much each lemma must be weakened:
//!
//! ```text
//! P(x)   becomes   (φ_1(x) or L_1(x)) and .. and (φ_k(x) or L_k(x))         L_i: a new predicate, the rest of φ_i
//! ```
//!
//! | clause | residual clauses |
//! |---|---|
//! | `.. => P(t)` | for each `i`: `.. and not φ_i(t) => L_i(t)` |
//! | `P(t) and .. => ..` | for each set of lemmas: `φ_i(t)` for those in it, `L_i(t)` for the others |
//!
//! - With the one lemma `false` a predicate is only renamed, with no lemma it is `true`, and with the conjunction of all lemmas
//!   as the only one it becomes `φ or L`.
//! - A lemma that is *proved* for all facts has no rest. Clauses that violate it become queries, which have no instances. A body may
//!   leave it out, since clauses only become stronger.
//!
//! **Cases.** A case is kept only if the solver finds its constraint satisfiable. `L_i(t)` is left out if `φ_i(t)` is implied.
//! Where `L_i(t)` is chosen, `φ_i(t)` is false, and the equations and bounds among the conjuncts of `not φ_i(t)` join the constraint:
//! this only says that the rest of a lemma lies outside of it. All this is exact, and it matters: automata know no
//! equality, so a clause must be unified before they see it. If a clause has more than [`MOST_CASES`] cases,
//! its atoms `P(t)` become `D_1(t) and .. and D_k(t)`, with definitions `φ_i(x) => D_i(x)` and `L_i(x) => D_i(x)`. These hide
//! equations from automata, but are few.
//!
//! **Ways back.** Each residual clause is an instance of the replacement, so if `L_i` are a model of the residual system, the
//! formulas `φ_i or L_i` are a model of the original one, whatever the candidate is. A derivation in the residual system gives
//! an *abstract counterexample* ([`Residual::recover`]): a derivation in the original system in which facts of the candidate are
//! assumed. A step that derives `L_i(t)` is an application of the original clause, and derives `P(t)`. A body atom without
//! any `L_i(t)` satisfies all lemmas, so it is assumed.
//!
//! *Source.* Yu. Kostyukov's thesis (2022), sections 4.2.2 to 4.2.5: RESIDUALCHCS and RECOVERCEX. The thesis recovers
//! counterexamples only for `φ or L`; for several lemmas any `L_i(t)` will do, since each of its derivations derives `P(t)`.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::graph::{EdgeId, Node, NodeId, rename};
use shofar_horn::ground::complete;
use shofar_horn::transform::{Simplify, Transformation, solve_equations};
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_horn::{Context, HornGraph};
use shofar_logic::{Substitution, Term, TermStore, Value};
use shofar_run::{Limits, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use crate::FrameLemmas;

/// The greatest number of cases of one clause and one lemma of its head.
pub const MOST_CASES: usize = 256;

/// The greatest number of proved lemmas in a clause that are not literals. Each of them doubles the cases of the clause for engines that
/// need conjunctions of literals. All of them take part in the decision which cases are possible.
const MOST_DISJUNCTIONS: usize = 4;

/// The conflict limit for one case. An undecided case is kept.
const MOST_CONFLICTS: u64 = 1000;

/// A residual system and its ways back.
pub struct Residual {
    /// The residual clauses.
    pub graph: HornGraph,
    /// By predicates of the original system: its lemmas and their rests.
    parts: Vec<Vec<Part>>,
    /// By edges of the residual graph.
    origins: Vec<Origin>,
}

/// A lemma over the variables of its predicate.
struct Part {
    lemma: Term,
    /// The predicate that weakens the lemma; `None` if the lemma is proved.
    rest: Option<NodeId>,
}

/// Where a residual clause comes from.
enum Origin {
    Clause {
        edge: EdgeId,
        /// The constraint over the variables of `edge`.
        constraint: Term,
        /// By sources of the residual clause: the source of `edge` that it belongs to.
        sources: Vec<usize>,
    },
    /// `φ_i(x) => D_i(x)` or `L_i(x) => D_i(x)`.
    Definition,
}

impl Residual {
    /// The residual system for a candidate, which is indexed by predicates.
    pub fn new(context: &Context<'_>, graph: &HornGraph, candidate: &[FrameLemmas]) -> Result<Self, Stop> {
        let mut builder = Builder::new(context, graph, candidate);
        for (edge, _) in graph.edges() {
            builder.add_clause(edge)?;
        }
        let Builder { residual, parts, origins, .. } = builder;
        // Clauses keep their numbers.
        let graph = match Simplify.apply(context, &residual) {
            Some(simple) => simple.graph,
            None => residual,
        };
        Ok(Residual { graph, parts, origins })
    }

    /// Whether some clause had too many cases.
    pub fn has_definitions(&self) -> bool {
        self.origins.iter().any(|origin| matches!(origin, Origin::Definition))
    }

    /// The model of the original graph for a model of the residual one.
    pub fn model_back(
        &self,
        store: &TermStore,
        graph: &HornGraph,
        model: &GraphModel,
    ) -> Result<GraphModel, Stop> {
        let mut formulas = Vec::with_capacity(self.parts.len());
        for ((_, node), parts) in graph.nodes().zip(&self.parts) {
            let mut conjuncts = Vec::with_capacity(parts.len());
            for &Part { lemma, rest } in parts {
                let Some(rest) = rest else {
                    conjuncts.push(lemma);
                    continue;
                };
                let formula = model.formula(rest)?;
                if lemma != Term::FALSE && store.is_quantified(formula) {
                    return Err(Stop::Unsupported("quantifiers in the rest of a lemma".to_owned()));
                }
                let weaker = rename(store, formula, self.graph.node(rest).variables(), node.variables());
                conjuncts.push(store.or2(lemma, weaker));
            }
            formulas.push(store.and(&conjuncts));
        }
        Ok(GraphModel::of_formulas(formulas))
    }

    /// The abstract counterexample for a derivation in the residual graph.
    pub fn recover(
        &self,
        context: &Context<'_>,
        graph: &HornGraph,
        derivation: &Derivation,
    ) -> Result<AbstractCounterexample, Stop> {
        let mut steps = Steps::default();
        // By residual steps: the step that derives the same fact; `None` for a definition by a lemma.
        let mut images: Vec<Option<usize>> = Vec::with_capacity(derivation.steps.len());
        for step in &derivation.steps {
            context.go_on()?;
            let image = match &self.origins[step.edge.index()] {
                Origin::Definition => step.premises.first().and_then(|&premise| images[premise]),
                Origin::Clause { edge, constraint, sources } => {
                    let premises = step.premises.iter().map(|&premise| &*derivation.steps[premise].fact);
                    let known = sources.iter().copied().zip(premises);
                    let facts = facts_of_sources(context, graph, *edge, *constraint, known, &step.fact)?;
                    let is_query = self.graph.edge(step.edge).target().is_none();
                    if is_query && graph.edge(*edge).target().is_some() {
                        return Err(Stop::Internal("a lemma is not proved".to_owned()));
                    }
                    let mut derived: Vec<Option<usize>> = vec![None; facts.len()];
                    for (&source, &premise) in sources.iter().zip(&step.premises) {
                        derived[source] = derived[source].or(images[premise]);
                    }
                    let nodes = graph.edge(*edge).sources().iter();
                    let premises = derived.into_iter().zip(nodes).zip(facts).map(|((step, &node), fact)| {
                        step.unwrap_or_else(|| steps.add(Some(node), AbstractStep::Assumed { node, fact }))
                    });
                    let premises = premises.collect();
                    let target = graph.edge(*edge).target();
                    let step = GraphStep { edge: *edge, premises, fact: step.fact.clone() };
                    Some(steps.add(target, AbstractStep::Derived(step)))
                }
            };
            images.push(image);
        }
        Ok(AbstractCounterexample { steps: steps.used() })
    }
}

/// The facts of a clause's sources: some are known, and the constraint determines the others.
fn facts_of_sources<'f>(
    context: &Context<'_>,
    graph: &HornGraph,
    edge: EdgeId,
    constraint: Term,
    known: impl Iterator<Item = (usize, &'f [Value])>,
    derived: &[Value],
) -> Result<Vec<Box<[Value]>>, Stop> {
    let target = graph.target_variables(edge).iter().copied().zip(derived.iter().cloned());
    let mut given: Vec<(Term, Value)> = target.collect();
    for (source, fact) in known {
        given.extend(graph.source_variables(edge, source).iter().copied().zip(fact.iter().cloned()));
    }
    let sources = 0..graph.edge(edge).sources().len();
    let variables: Vec<Term> =
        sources.clone().flat_map(|source| graph.source_variables(edge, source)).copied().collect();
    let mut values = complete(context, constraint, given, &variables)?.into_iter();
    let arity = |source: usize| graph.source_variables(edge, source).len();
    Ok(sources.map(|source| values.by_ref().take(arity(source)).collect()).collect())
}

/// A derivation of `false` from clauses and from facts that satisfy the candidate. The last step is by a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AbstractCounterexample {
    /// The steps; premises precede the steps that use them.
    pub steps: Vec<AbstractStep>,
}

/// A step of an abstract counterexample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AbstractStep {
    /// An application of a clause. Its premises are steps of any kind.
    Derived(GraphStep),
    /// A fact that satisfies all lemmas of its predicate.
    Assumed {
        /// The predicate.
        node: NodeId,
        /// Its arguments.
        fact: Box<[Value]>,
    },
}

impl AbstractCounterexample {
    /// The derivation, if clauses without body derive all facts that are assumed.
    pub fn derivation(&self, context: &Context<'_>, graph: &HornGraph) -> Result<Option<Derivation>, Stop> {
        let (incoming, _) = graph.incoming();
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            match step {
                AbstractStep::Derived(step) => steps.push(step.clone()),
                AbstractStep::Assumed { node, fact } => {
                    let mut clause = None;
                    for &edge in &incoming[node.index()] {
                        if !graph.edge(edge).sources().is_empty() {
                            continue;
                        }
                        let label = graph.edge(edge).label();
                        match facts_of_sources(context, graph, edge, label, [].into_iter(), fact) {
                            Ok(_) => clause = Some(edge),
                            // It has no such instance.
                            Err(Stop::Internal(_)) => continue,
                            Err(stop) => return Err(stop),
                        }
                        break;
                    }
                    let Some(edge) = clause else { return Ok(None) };
                    steps.push(GraphStep { edge, premises: [].into(), fact: fact.clone() });
                }
            }
        }
        Ok(Some(Derivation { steps }))
    }
}

/// Steps of an abstract counterexample, at most one for a fact.
#[derive(Default)]
struct Steps {
    steps: Vec<AbstractStep>,
    by_fact: FxHashMap<(Option<NodeId>, Box<[Value]>), usize>,
}

impl Steps {
    /// Adds a step that derives a fact of a predicate, or `false`. An earlier step that derives it is used instead.
    fn add(&mut self, node: Option<NodeId>, step: AbstractStep) -> usize {
        let fact = match &step {
            AbstractStep::Derived(step) => step.fact.clone(),
            AbstractStep::Assumed { fact, .. } => fact.clone(),
        };
        let steps = &mut self.steps;
        *self.by_fact.entry((node, fact)).or_insert_with(|| {
            steps.push(step);
            steps.len() - 1
        })
    }

    /// The steps that the last one needs.
    fn used(self) -> Vec<AbstractStep> {
        let mut is_used = vec![false; self.steps.len()];
        if let Some(last) = is_used.last_mut() {
            *last = true;
        }
        for (index, step) in self.steps.iter().enumerate().rev() {
            if let AbstractStep::Derived(step) = step
                && is_used[index]
            {
                step.premises.iter().for_each(|&premise| is_used[premise] = true);
            }
        }
        let mut places = Vec::with_capacity(is_used.len());
        let mut kept = 0;
        for &used in &is_used {
            places.push(kept);
            kept += usize::from(used);
        }
        let mut steps = Vec::with_capacity(kept);
        for (mut step, _) in self.steps.into_iter().zip(is_used).filter(|&(_, used)| used) {
            if let AbstractStep::Derived(step) = &mut step {
                step.premises.iter_mut().for_each(|premise| *premise = places[*premise]);
            }
            steps.push(step);
        }
        steps
    }
}

/// The construction of a residual graph.
struct Builder<'a> {
    context: &'a Context<'a>,
    graph: &'a HornGraph,
    parts: Vec<Vec<Part>>,
    residual: HornGraph,
    origins: Vec<Origin>,
    /// The predicates `D_i`, by predicate and lemma.
    definitions: FxHashMap<(NodeId, usize), NodeId>,
}

/// A case of a clause: formulas beside its label, and for sources the parts whose rest is chosen.
#[derive(Clone)]
struct Case {
    formulas: Vec<Term>,
    rests: Vec<(usize, NodeId)>,
    /// The number of questions that are decided.
    decided: usize,
}

impl<'a> Builder<'a> {
    fn new(context: &'a Context<'a>, graph: &'a HornGraph, candidate: &[FrameLemmas]) -> Self {
        let store = context.store;
        let mut residual = HornGraph::new();
        let mut parts = Vec::with_capacity(candidate.len());
        for ((_, node), FrameLemmas { proved, bounded }) in graph.nodes().zip(candidate) {
            let sorts = node.sorts(store);
            let mut seen: FxHashSet<Term> = FxHashSet::default();
            let mut lemmas = Vec::new();
            for (lemma, is_proved) in
                proved.iter().map(|&lemma| (lemma, true)).chain(bounded.iter().map(|&lemma| (lemma, false)))
            {
                if lemma != Term::TRUE && seen.insert(lemma) {
                    let rest = (!is_proved).then(|| residual.add_node(Node::new(store, node.name, &sorts)));
                    lemmas.push(Part { lemma, rest });
                }
            }
            parts.push(lemmas);
        }
        Builder { context, graph, parts, residual, origins: Vec::new(), definitions: FxHashMap::default() }
    }

    /// Adds the residual clauses of a clause.
    fn add_clause(&mut self, edge: EdgeId) -> Result<(), Stop> {
        let (store, graph) = (self.context.store, self.graph);
        let clause = graph.edge(edge);
        let mut questions: Vec<(usize, usize)> = Vec::new();
        let mut proved: Vec<Term> = Vec::new();
        for (source, &node) in clause.sources().iter().enumerate() {
            for (index, part) in self.parts[node.index()].iter().enumerate() {
                match part.rest {
                    Some(_) => questions.push((source, index)),
                    None => proved.push(graph.at_source(store, edge, source, part.lemma)),
                }
            }
        }
        let all: Vec<Term> = [clause.label()].iter().chain(&proved).copied().collect();
        let Some(mut cases) = Cases::new(self.context, &all) else { return Ok(()) };
        let (literals, others): (Vec<Term>, Vec<Term>) =
            proved.into_iter().partition(|&lemma| store.is_literal(lemma));
        let proved = literals.into_iter().chain(others.into_iter().take(MOST_DISJUNCTIONS));
        let base: Vec<Term> = [clause.label()].into_iter().chain(proved).collect();
        let heads: Vec<(Term, Option<NodeId>)> = match clause.target() {
            None => vec![(Term::TRUE, None)],
            Some(node) => {
                let violated = |part: &Part| store.not(graph.at_target(store, edge, part.lemma));
                self.parts[node.index()].iter().map(|part| (violated(part), part.rest)).collect()
            }
        };
        for (violated, head) in heads {
            match self.cases_of(&mut cases, edge, &questions, violated)? {
                Some(found) => {
                    for Case { formulas, rests, .. } in found {
                        let constraint = store.and_of(base.iter().chain(&formulas).copied());
                        self.add(edge, constraint, &rests, head);
                    }
                }
                None => {
                    let defined =
                        |&(source, part): &(usize, usize)| (source, self.definition(edge, source, part));
                    let atoms: Vec<(usize, NodeId)> = questions.iter().map(defined).collect();
                    let constraint = store.and_of(base.iter().copied().chain([violated]));
                    self.add(edge, constraint, &atoms, head);
                }
            }
        }
        Ok(())
    }

    /// The cases of a clause whose head's lemma is violated; `None` if there are too many.
    fn cases_of(
        &self,
        solver: &mut Cases<'_>,
        edge: EdgeId,
        questions: &[(usize, usize)],
        violated: Term,
    ) -> Result<Option<Vec<Case>>, Stop> {
        let (store, graph) = (self.context.store, self.graph);
        let first = Case { formulas: vec![violated], rests: Vec::new(), decided: 0 };
        if !solver.may_hold(&first.formulas, Term::TRUE) {
            return Ok(Some(Vec::new()));
        }
        let mut open = vec![first];
        let mut done = Vec::new();
        while let Some(mut case) = open.pop() {
            self.context.go_on()?;
            let Some(&(source, index)) = questions.get(case.decided) else {
                done.push(case);
                continue;
            };
            if open.len() + done.len() >= MOST_CASES {
                return Ok(None);
            }
            case.decided += 1;
            let part = &self.parts[graph.edge(edge).sources()[source].index()][index];
            let Some(rest) = part.rest else { continue };
            let lemma = graph.at_source(store, edge, source, part.lemma);
            let outside = store.not(lemma);
            if !solver.may_hold(&case.formulas, outside) {
                open.push(case);
                continue;
            }
            let mut with_rest = case.clone();
            with_rest.rests.push((source, rest));
            if solver.may_hold(&case.formulas, lemma) {
                with_rest.formulas.extend(store.conjuncts(outside).filter(|&part| is_usable(store, part)));
                case.formulas.push(lemma);
                open.push(case);
            }
            open.push(with_rest);
        }
        done.reverse();
        Ok(Some(done))
    }

    /// Adds a residual clause. Its equations are solved.
    fn add(&mut self, edge: EdgeId, constraint: Term, atoms: &[(usize, NodeId)], head: Option<NodeId>) {
        let (store, graph) = (self.context.store, self.graph);
        let solved = solve_equations(store, constraint, |_| Some(0));
        let definitions: Substitution = solved.definitions.into_iter().collect();
        let arguments = |variables: &[Term]| store.instantiate_all(variables, &definitions);
        let atom =
            |&(source, node): &(usize, NodeId)| (node, arguments(graph.source_variables(edge, source)));
        let body: Vec<(NodeId, Vec<Term>)> = atoms.iter().map(atom).collect();
        let head = head.map(|node| (node, arguments(graph.target_variables(edge))));
        self.residual.add_clause(store, &body, store.and(&solved.rest), head.as_ref());
        let sources = atoms.iter().map(|&(source, _)| source).collect();
        self.origins.push(Origin::Clause { edge, constraint, sources });
    }

    /// The predicate `D_i` of a lemma of a source.
    fn definition(&mut self, edge: EdgeId, source: usize, index: usize) -> NodeId {
        let node = self.graph.edge(edge).sources()[source];
        if let Some(&known) = self.definitions.get(&(node, index)) {
            return known;
        }
        let store = self.context.store;
        let of = self.graph.node(node);
        let Part { lemma, rest } = self.parts[node.index()][index];
        let defined = self.residual.add_node(Node::new(store, of.name, &of.sorts(store)));
        let arguments = of.variables().to_vec();
        let head = (defined, arguments.clone());
        self.residual.add_clause(store, &[], lemma, Some(&head));
        self.origins.push(Origin::Definition);
        if let Some(rest) = rest {
            self.residual.add_clause(store, &[(rest, arguments)], Term::TRUE, Some(&head));
            self.origins.push(Origin::Definition);
        }
        self.definitions.insert((node, index), defined);
        defined
    }
}

/// Whether a formula helps unification, or bounds numbers. Disequalities and negated testers would only make further cases.
fn is_usable(store: &TermStore, formula: Term) -> bool {
    let (atom, is_positive) = store.literal(formula);
    let is_structured = |&argument: &Term| store.datatype(store.sort_of(argument)).is_some();
    store.is_literal(formula) && (is_positive || !store.args(atom).iter().any(is_structured))
}

/// Decides which cases of one clause are possible.
struct Cases<'a> {
    solver: Solver<'a>,
    limits: Limits<'a>,
}

impl<'a> Cases<'a> {
    /// The cases of a clause with these conjuncts; `None` if it has no instances.
    fn new(context: &Context<'a>, base: &[Term]) -> Option<Self> {
        let mut solver = Solver::new(context.store);
        // What the solver does not support may hold.
        let _ = solver.assert_all(base);
        let limits = Limits { conflicts: Some(MOST_CONFLICTS), ..context.limits };
        let mut cases = Cases { solver, limits };
        cases.may_hold(&[], Term::TRUE).then_some(cases)
    }

    /// Whether the formulas may be true together. `true` if the solver does not know.
    fn may_hold(&mut self, formulas: &[Term], further: Term) -> bool {
        let assumptions: Vec<Term> = formulas.iter().copied().chain([further]).collect();
        self.solver.check(&assumptions, &self.limits) != Ok(Outcome::Unsat)
    }
}
