//! Unfolds control flow that clauses keep in arguments: program counters, flags, and states of machines.
//!
//! | before | after |
//! |---|---|
//! | `P(true, 0)`; `P(b, x) and (b and x < 9 and b' and x' = x + 1 or b and x >= 9 and not b' and x' = x) => P(b', x')`; `P(b, x) and not b and x != 9 => false` | `P1(0)`; `P1(x) and x < 9 => P1(x + 1)`; `P1(x) and x >= 9 => P2(x)`; `P2(x) and x != 9 => false` |
//!
//! A whole program is often written as one loop: its program counter is in a few Booleans, and one clause is the disjunction of
//! all of its steps. Engines then carry all steps in each query. `split.rs` needs a clause for each step, to see from it which
//! value the counter gets. Here the solver finds out which steps there are.
//!
//! ```text
//! choose the candidates, arguments that clauses test and that have few values
//! leave out the inputs, candidates that the clauses leave open nearly everywhere
//! repeat, until the unfolding is within its bounds:
//!     unfold: explore the *locations*, pairs of a node and values of its candidates, from the facts on:
//!         put the values of the location into the label of each edge from it
//!         enumerate the values of the target's candidates: while the solver finds some, make an edge for them and exclude them
//!     on a bound, drop the candidates without which the fewest of the locations so far remain
//! ```
//!
//! *Candidates* are the Booleans that a clause uses for more than to pass them on, and numbers that are always one of a few
//! constants. The constants are those that clauses compare such a number with, and the solver confirms that no other value is
//! derived.
//!
//! *Inputs* would multiply locations and say nothing of control. One location says little, since a program branches and a
//! counter is open there. But a counter is determined at many locations, and an input almost nowhere.
//!
//! *Which candidates are dropped.* Program counters depend on each other, so the program has few of their combinations, and
//! without one of its bits it has hardly fewer. A flag for data has both values nearly everywhere, and without it, half of the
//! locations remain.
//!
//! - C1: the solver has shown that an edge leads from a location to no other locations than those that it has edges to.
//!
//! If the solver is interrupted or does not decide, C1 does not hold, and the graph stays unchanged. So it does if there are several
//! predicates in one body. `states.rs` makes the new graph and has the way back, which rests on C1.
//!
//! Infinite-state model checkers explore such control state apart from data as a matter of course: Theta as a product of explicit
//! values and predicates (Tóth et al., FMCAD 2017), Kratos by an abstract reachability tree over the control-flow graph (Cimatti et
//! al., CAV 2011). Here it is a transformation, so that all engines can have it.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Relation, Sort, Substitution, Term, TermStore, Value, Walker};
use shofar_run::Limits;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::simplify::simplified;
use super::states::{Instance, State, split_into};
use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::transform::{Size, Transformation, Transformed};

/// The maximal number of locations, and of edges between them, more than the graph has nodes and edges.
const MOST_LOCATIONS: usize = 64;
const MOST_EDGES: usize = 256;
/// The maximal number of locations that one edge leads to from one location. A choice between many cases has as many; inputs have far
/// more, and this bound soon stops their enumeration.
const MOST_SUCCESSORS: usize = 16;
/// All labels together have at most this multiple of the number of terms before, plus a constant for small systems.
const MOST_GROWTH: (usize, usize) = (4, 1000);
/// The maximal number of values of a number.
const MOST_VALUES: usize = 8;
/// The number of locations by which inputs are recognised.
const SCOUTED: usize = 16;
/// An argument is an input if it is open at more than three in four locations.
const OPEN: (usize, usize) = (3, 4);
/// The maximal number of unfoldings that are tried.
const MOST_ROUNDS: usize = 16;
/// The conflict limit for one query.
const MOST_CONFLICTS: u64 = 10_000;

/// Unfolds program counters and other control flow in arguments.
#[derive(Clone, Copy, Default, Debug)]
pub struct Control;

impl Transformation for Control {
    fn name(&self) -> &'static str {
        "control"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        if !graph.is_linear() {
            return None;
        }
        let mut split = without_inputs(context, graph, &candidates(context, graph)?)?;
        for _ in 0..MOST_ROUNDS {
            if split.iter().all(Vec::is_empty) {
                return None;
            }
            let mut unfolding = Unfolding::new(context, graph, &split);
            match unfolding.run() {
                Ok(()) => {
                    let Unfolding { locations, instances, .. } = unfolding;
                    // If each node has one location, all candidates are constants.
                    let is_useful = locations.states.len() > graph.nodes().len();
                    let unfolded = || split_into(context.store, graph, &split, locations.states, &instances);
                    return is_useful.then(unfolded);
                }
                Err(Failure::Undecided) => return None,
                Err(Failure::TooLarge(states)) => drop_some(&mut split, states),
            }
        }
        None
    }
}

/// Why an unfolding is not complete.
enum Failure {
    /// The solver does not support a label, does not decide it, or is interrupted.
    Undecided,
    /// A bound is exceeded, by these locations among others.
    TooLarge(Vec<State>),
}

/// Removes arguments, always the one without which the fewest of the given locations remain, until at most half of them are left.
fn drop_some(split: &mut [Vec<usize>], mut states: Vec<State>) {
    let most = states.len() / 2;
    loop {
        let mut best: Option<(usize, (NodeId, usize))> = None;
        let mut nodes: Vec<NodeId> = states.iter().map(|state| state.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            // Counters are often declared before data, so among equals the last one goes.
            for index in 0..split[node.index()].len() {
                let left = without(&states, node, index).len();
                if best.is_none_or(|(least, _)| left <= least) {
                    best = Some((left, (node, index)));
                }
            }
        }
        let Some((left, (node, index))) = best else { return };
        states = without(&states, node, index);
        split[node.index()].remove(index);
        if left <= most {
            return;
        }
    }
}

/// The states without the value of the n-th split argument of a node.
fn without(states: &[State], node: NodeId, index: usize) -> Vec<State> {
    let mut seen = FxHashSet::default();
    let image = |state: &State| {
        let mut state = state.clone();
        if state.node == node {
            state.values.remove(index);
        }
        state
    };
    states.iter().map(image).filter(|state| seen.insert(state.clone())).collect()
}

// ---- candidates --------------------------------------------------------------------------------------------

/// The arguments that may be split, for each node. `None` if there are none, or the work is interrupted.
fn candidates(context: &Context<'_>, graph: &HornGraph) -> Option<Vec<Vec<usize>>> {
    let uses = Uses::of(context, graph)?;
    let mut finite = uses.finite(graph);
    keep_confirmed(context, graph, &mut finite)?;
    let is_tested = uses.tested(graph);
    let of_node = |(id, node): (NodeId, &crate::graph::Node)| -> Vec<usize> {
        let is_candidate = |&position: &usize| {
            let has_few_values = context.store.sort_of(node.next()[position]) == Sort::BOOL
                || finite.contains_key(&(id, position));
            has_few_values && is_tested[id.index()][position]
        };
        (0..node.arity()).filter(is_candidate).collect()
    };
    let split: Vec<Vec<usize>> = graph.nodes().map(of_node).collect();
    (!split.iter().all(Vec::is_empty)).then_some(split)
}

/// How clauses use variables.
struct Uses<'a> {
    store: &'a TermStore,
    /// Variables that occur otherwise than in equations with other variables.
    tested: FxHashSet<Term>,
    /// Pairs of terms that equations make equal, and pairs of an argument before and after a step.
    equal: Vec<(Term, Term)>,
    /// The numbers that terms are compared with.
    constants: Vec<(Term, Rational)>,
    /// Numbers that are part of sums or of other terms, so that they are data.
    data: FxHashSet<Term>,
}

impl<'a> Uses<'a> {
    /// The uses in all labels. `None` if the work is interrupted.
    fn of(context: &Context<'a>, graph: &HornGraph) -> Option<Self> {
        let store = context.store;
        let (tested, equal, constants, data) = Default::default();
        let mut uses = Uses { store, tested, equal, constants, data };
        for (_, node) in graph.nodes() {
            uses.equal.extend(node.variables().iter().copied().zip(node.next().iter().copied()));
        }
        for (_, edge) in graph.edges() {
            if context.interrupted().is_some() {
                return None;
            }
            if uses.is_variable(edge.label()) {
                uses.tested.insert(edge.label());
            }
            for term in store.subterms(&[edge.label()]) {
                uses.visit(term);
            }
        }
        Some(uses)
    }

    fn is_variable(&self, term: Term) -> bool {
        matches!(self.store.op(term), Op::Var(_))
    }

    fn visit(&mut self, term: Term) {
        let store = self.store;
        let (op, args) = store.view(term);
        match op {
            Op::Eq if store.sort_of(args[0]) == Sort::BOOL => match *args {
                [a, b] if self.is_variable(a) && self.is_variable(b) => self.equal.push((a, b)),
                _ => self.test(args),
            },
            Op::Le | Op::Lt | Op::Eq if store.sort_of(args[0]).is_arithmetic() => self.compare(term),
            // The atom or the `ite` that a sum belongs to takes it apart.
            Op::Add => {}
            Op::Mul if store.numeral(args[0]).is_some() => {}
            Op::Ite if store.sort_of(term).is_arithmetic() => {
                self.test(&args[..1]);
                for &branch in &args[1..] {
                    match store.numeral(branch) {
                        Some(number) => self.constants.push((term, number.clone())),
                        None if self.is_unknown(branch) => self.equal.push((term, branch)),
                        None => self.spoil(&[term, branch]),
                    }
                }
            }
            _ => {
                self.test(args);
                let is_number = |&&arg: &&Term| store.sort_of(arg).is_arithmetic();
                let numbers: Vec<Term> = args.iter().filter(is_number).copied().collect();
                self.spoil(&numbers);
            }
        }
    }

    /// Whether a number is a variable or a choice between numbers.
    fn is_unknown(&self, number: Term) -> bool {
        matches!(self.store.op(number), Op::Var(_) | Op::Ite)
    }

    fn test(&mut self, terms: &[Term]) {
        self.tested.extend(terms.iter().copied().filter(|&term| matches!(self.store.op(term), Op::Var(_))));
    }

    fn compare(&mut self, atom: Term) {
        let Some(bound) = self.store.bound(atom) else {
            return self.spoil(self.store.args(atom));
        };
        let poly = bound.poly(self.store);
        match poly.terms() {
            [(x, factor)] if self.is_unknown(*x) => {
                self.test(&[*x]);
                self.constants.push((*x, &-poly.constant() / factor));
            }
            [(x, a), (y, b)]
                if self.is_unknown(*x)
                    && self.is_unknown(*y)
                    && poly.constant().is_zero()
                    && *a == -b.clone() =>
            {
                self.equal.push((*x, *y));
                if bound.relation != Relation::Equal {
                    self.test(&[*x, *y]);
                }
            }
            _ => self.spoil(&[bound.sum]),
        }
    }

    /// Records that these numbers, or the summands of these sums, are data.
    fn spoil(&mut self, sums: &[Term]) {
        for &sum in sums {
            let poly = LinearPoly::from_term(self.store, sum);
            let monomials: Vec<Term> = poly.terms().iter().map(|&(monomial, _)| monomial).collect();
            self.test(&monomials);
            self.data.extend(monomials);
        }
    }

    /// The constants of the arguments that are only compared with a few constants, and with such arguments.
    fn finite(&self, graph: &HornGraph) -> FxHashMap<(NodeId, usize), Vec<Rational>> {
        let mut classes = Classes::default();
        for &(a, b) in &self.equal {
            classes.join(a, b);
        }
        let data: FxHashSet<Term> = self.data.iter().map(|&term| classes.of(term)).collect();
        let mut constants: FxHashMap<Term, Vec<Rational>> = FxHashMap::default();
        for (term, number) in &self.constants {
            let known = constants.entry(classes.of(*term)).or_default();
            if known.len() <= MOST_VALUES && !known.contains(number) {
                known.push(number.clone());
            }
        }
        let mut finite = FxHashMap::default();
        for (id, node) in graph.nodes() {
            for (position, &variable) in node.variables().iter().enumerate() {
                let class = classes.of(variable);
                if let Some(known) = constants.get(&class)
                    && known.len() <= MOST_VALUES
                    && !data.contains(&class)
                {
                    finite.insert((id, position), known.clone());
                }
            }
        }
        finite
    }

    /// For each argument, whether a clause tests it, or passes it on to an argument that another clause tests.
    fn tested(&self, graph: &HornGraph) -> Vec<Vec<bool>> {
        let mut sources: FxHashMap<Term, (NodeId, usize)> = FxHashMap::default();
        let mut targets = sources.clone();
        for (id, node) in graph.nodes() {
            for position in 0..node.arity() {
                sources.insert(node.variables()[position], (id, position));
                targets.insert(node.next()[position], (id, position));
            }
        }
        let mut from: FxHashMap<(NodeId, usize), Vec<(NodeId, usize)>> = FxHashMap::default();
        for &(a, b) in &self.equal {
            for (a, b) in [(a, b), (b, a)] {
                if let (Some(&source), Some(&target)) = (sources.get(&a), targets.get(&b)) {
                    from.entry(target).or_default().push(source);
                }
            }
        }
        let mut is_tested: Vec<Vec<bool>> =
            graph.nodes().map(|(_, node)| vec![false; node.arity()]).collect();
        let mut open: Vec<(NodeId, usize)> = sources
            .iter()
            .filter(|(variable, _)| self.tested.contains(variable))
            .map(|(_, &at)| at)
            .collect();
        while let Some((node, position)) = open.pop() {
            if !std::mem::replace(&mut is_tested[node.index()][position], true) {
                open.extend(from.get(&(node, position)).into_iter().flatten());
            }
        }
        is_tested
    }
}

/// Classes of equal terms, as a forest.
#[derive(Default)]
struct Classes {
    parents: FxHashMap<Term, Term>,
}

impl Classes {
    /// The representative of the class of a term.
    fn of(&mut self, term: Term) -> Term {
        let mut root = term;
        while let Some(&parent) = self.parents.get(&root) {
            root = parent;
        }
        if root != term {
            self.parents.insert(term, root);
        }
        root
    }

    fn join(&mut self, a: Term, b: Term) {
        let (a, b) = (self.of(a), self.of(b));
        if a != b {
            self.parents.insert(a, b);
        }
    }
}

/// Keeps the numbers that edges give one of their constants, if the numbers of the source have one of theirs. `None` if the solver
/// does not decide it.
fn keep_confirmed(
    context: &Context<'_>,
    graph: &HornGraph,
    finite: &mut FxHashMap<(NodeId, usize), Vec<Rational>>,
) -> Option<()> {
    let store = context.store;
    let mut is_changed = true;
    while std::mem::take(&mut is_changed) {
        for (id, edge) in graph.edges() {
            let Some(target) = edge.target() else { continue };
            let next = graph.target_variables(id);
            let is_one_of = |variable: Term, constants: &[Rational]| {
                let sort = store.sort_of(variable);
                store.or_of(constants.iter().map(|constant| {
                    let constant = LinearPoly::from_constant(constant.clone()).to_term(store, sort);
                    store.eq(variable, constant)
                }))
            };
            let positions: Vec<usize> =
                (0..next.len()).filter(|&position| finite.contains_key(&(target, position))).collect();
            if positions.is_empty() {
                continue;
            }
            let mut solver = Solver::new(store);
            let known = edge.sources().iter().enumerate().flat_map(|(source, &node)| {
                let variables = graph.source_variables(id, source).iter().enumerate();
                variables.map(move |(position, &variable)| (variable, (node, position)))
            });
            let known = known.filter_map(|(variable, at)| Some(is_one_of(variable, finite.get(&at)?)));
            let mut formulas: Vec<Term> = known.collect();
            formulas.push(edge.label());
            solver.assert_all(&formulas).ok()?;
            let mut left: Vec<(usize, Term)> =
                positions.into_iter().map(|at| (at, is_one_of(next[at], &finite[&(target, at)]))).collect();
            // The numbers of the source may be those of the target, so what is dropped changes what is known.
            while is_satisfiable(
                context,
                &mut solver,
                store.or_of(left.iter().map(|&(_, fits)| store.not(fits))),
            )? {
                let formulas: Vec<Term> = left.iter().map(|&(_, fits)| fits).collect();
                let model = solver.model(&formulas);
                left.retain(|&(position, fits)| {
                    let holds = store.eval(fits, &model).is_ok_and(|value| value == Value::Bool(true));
                    if !holds {
                        finite.remove(&(target, position));
                    }
                    holds
                });
                is_changed = true;
            }
        }
    }
    Some(())
}

/// Whether the assertions have a model in which the formula is true. `None` if the solver does not decide it.
fn is_satisfiable(context: &Context<'_>, solver: &mut Solver<'_>, formula: Term) -> Option<bool> {
    let limits = Limits { conflicts: Some(MOST_CONFLICTS), ..context.limits };
    match solver.check(&[formula], &limits) {
        Ok(Outcome::Sat) => Some(true),
        Ok(Outcome::Unsat) => Some(false),
        Ok(Outcome::Unknown(_)) | Err(_) => None,
    }
}

// ---- locations ---------------------------------------------------------------------------------------------

/// The steps between locations.
struct Steps<'a> {
    context: &'a Context<'a>,
    graph: &'a HornGraph,
    /// The positions of the split arguments of each node.
    split: &'a [Vec<usize>],
    outgoing: Vec<Vec<EdgeId>>,
    facts: Vec<EdgeId>,
    /// The local variables of each edge.
    locals: Vec<FxHashSet<Term>>,
}

impl<'a> Steps<'a> {
    fn new(context: &'a Context<'a>, graph: &'a HornGraph, split: &'a [Vec<usize>]) -> Self {
        let (outgoing, facts) = graph.outgoing();
        let locals = graph.edges().map(|(id, _)| graph.locals(context.store, id).into_iter().collect());
        Steps { context, graph, split, outgoing, facts, locals: locals.collect() }
    }

    /// The label of an edge from a location.
    fn label_from(&self, edge: EdgeId, source: Option<&State>) -> Term {
        let label = self.graph.edge(edge).label();
        match source {
            Some(state) => self.label_at(edge, label, state, self.graph.source_variables(edge, 0)),
            None => label,
        }
    }

    /// A label with the values of a location for these variables of its node.
    fn label_at(&self, edge: EdgeId, label: Term, state: &State, variables: &[Term]) -> Term {
        if state.values.is_empty() {
            return label;
        }
        let store = self.context.store;
        let mut known = Substitution::new();
        state.put(&mut known, self.split, variables);
        simplified(store, store.instantiate(label, &known), &self.locals[edge.index()])
    }

    /// The split variables of an edge's target.
    fn next(&self, edge: EdgeId) -> Vec<Term> {
        let Some(node) = self.graph.edge(edge).target() else { return Vec::new() };
        let next = self.graph.target_variables(edge);
        self.split[node.index()].iter().map(|&position| next[position]).collect()
    }

    /// A solver for a label. `None` if the label is not supported.
    fn solver(&self, label: Term) -> Option<Solver<'a>> {
        let mut solver = Solver::new(self.context.store);
        solver.assert_all(&[label]).ok()?;
        Some(solver)
    }

    /// The values of variables in the model that the solver has found.
    fn values(&self, solver: &Solver<'_>, variables: &[Term]) -> Vec<Term> {
        let store = self.context.store;
        let model = solver.model(variables);
        let value = |&variable: &Term| {
            let value = store.eval(variable, &model).expect("the model has values for all variables");
            store.value_to_term(&value)
        };
        variables.iter().map(value).collect()
    }
}

/// Numbered locations.
#[derive(Default)]
struct Locations {
    states: Vec<State>,
    numbers: FxHashMap<State, usize>,
}

impl Locations {
    fn number(&mut self, state: State) -> usize {
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        let number = self.states.len();
        self.numbers.insert(state.clone(), number);
        self.states.push(state);
        number
    }
}

// ---- inputs ------------------------------------------------------------------------------------------------

/// The candidates without inputs. `None` if the solver does not decide what is open.
fn without_inputs(context: &Context<'_>, graph: &HornGraph, split: &[Vec<usize>]) -> Option<Vec<Vec<usize>>> {
    let steps = Steps::new(context, graph, split);
    let mut locations = Locations::default();
    // For each candidate: the number of locations seen before a step to its node, and of those where it was open.
    let mut counts: Vec<Vec<(usize, usize)>> =
        split.iter().map(|positions| vec![(0, 0); positions.len()]).collect();
    for &fact in &steps.facts {
        look_around(&steps, fact, None, &mut locations)?;
    }
    let mut next = 0;
    while next < locations.states.len().min(SCOUTED) {
        let state = locations.states[next].clone();
        for &edge in &steps.outgoing[state.node.index()] {
            let Some(target) = graph.edge(edge).target() else { continue };
            let is_open = look_around(&steps, edge, Some(&state), &mut locations)?;
            for ((seen, open), is_open) in counts[target.index()].iter_mut().zip(is_open) {
                *seen += 1;
                *open += usize::from(is_open);
            }
        }
        next += 1;
    }
    let is_input = |&(seen, open): &(usize, usize)| open * OPEN.1 > seen * OPEN.0;
    let kept = |(positions, counts): (&Vec<usize>, &Vec<(usize, usize)>)| {
        let kept = positions.iter().zip(counts).filter(|(_, counts)| !is_input(counts));
        kept.map(|(&position, _)| position).collect()
    };
    Some(split.iter().zip(&counts).map(kept).collect())
}

/// Adds some locations that an edge leads to, at least one with each candidate open. Returns which candidates are: those with
/// several values. `None` if the solver does not decide it.
fn look_around(
    steps: &Steps<'_>,
    edge: EdgeId,
    source: Option<&State>,
    locations: &mut Locations,
) -> Option<Vec<bool>> {
    let store = steps.context.store;
    let variables = steps.next(edge);
    let mut is_open = vec![false; variables.len()];
    let Some(node) = steps.graph.edge(edge).target() else { return Some(is_open) };
    let label = steps.label_from(edge, source);
    let mut solver = steps.solver(label)?;
    let mut first: Option<Vec<Term>> = None;
    let mut wanted = Term::TRUE;
    while is_satisfiable(steps.context, &mut solver, wanted)? {
        let values = steps.values(&solver, &variables);
        locations.number(State { node, values: values.clone() });
        let first = first.get_or_insert_with(|| values.clone());
        for (is_open, (first, value)) in is_open.iter_mut().zip(first.iter().zip(&values)) {
            *is_open |= first != value;
        }
        let determined = (0..variables.len()).filter(|&at| !is_open[at]);
        wanted = store.or_of(determined.map(|at| store.not(store.eq(variables[at], first[at]))));
    }
    Some(is_open)
}

// ---- the unfolding -----------------------------------------------------------------------------------------

/// The locations that are reached, and the edges between them.
struct Unfolding<'a> {
    steps: Steps<'a>,
    locations: Locations,
    instances: Vec<Instance>,
    /// The number of different terms in the labels, and its bound.
    size: usize,
    most_size: usize,
    walker: Walker<'a>,
}

impl<'a> Unfolding<'a> {
    fn new(context: &'a Context<'a>, graph: &'a HornGraph, split: &'a [Vec<usize>]) -> Self {
        let terms = Size::of(context.store, graph).terms;
        Unfolding {
            steps: Steps::new(context, graph, split),
            locations: Locations::default(),
            instances: Vec::new(),
            size: 0,
            most_size: terms.saturating_mul(MOST_GROWTH.0).saturating_add(MOST_GROWTH.1),
            walker: Walker::new(context.store),
        }
    }

    fn run(&mut self) -> Result<(), Failure> {
        for fact in self.steps.facts.clone() {
            self.follow(fact, None)?;
        }
        let mut next = 0;
        while next < self.locations.states.len() {
            let node = self.locations.states[next].node;
            for edge in self.steps.outgoing[node.index()].clone() {
                self.follow(edge, Some(next))?;
            }
            next += 1;
        }
        Ok(())
    }

    /// Adds all locations that an edge leads to from a location, with edges to them. This is where C1 comes from.
    fn follow(&mut self, edge: EdgeId, source: Option<usize>) -> Result<(), Failure> {
        let context = self.steps.context;
        let state = source.map(|source| self.locations.states[source].clone());
        let label = self.steps.label_from(edge, state.as_ref());
        let mut solver = self.steps.solver(label).ok_or(Failure::Undecided)?;
        let is_satisfiable =
            |solver: &mut Solver<'_>| is_satisfiable(context, solver, Term::TRUE).ok_or(Failure::Undecided);
        let sources: Vec<usize> = source.into_iter().collect();
        let Some(node) = self.steps.graph.edge(edge).target() else {
            if is_satisfiable(&mut solver)? {
                self.add(Instance { edge, sources, target: None, label })?;
            }
            return Ok(());
        };
        let variables = self.steps.next(edge);
        let mut found: Vec<State> = Vec::new();
        while is_satisfiable(&mut solver)? {
            let target = State { node, values: self.steps.values(&solver, &variables) };
            found.push(target.clone());
            if found.len() > MOST_SUCCESSORS {
                return Err(Failure::TooLarge(found));
            }
            let next = self.steps.graph.target_variables(edge);
            let label = self.steps.label_at(edge, label, &target, next);
            let differs = |(&variable, &value)| context.store.not(context.store.eq(variable, value));
            let others = context.store.or_of(variables.iter().zip(&target.values).map(differs));
            let target = Some(self.locations.number(target));
            self.add(Instance { edge, sources: sources.clone(), target, label })?;
            solver.assert(others).map_err(|_| Failure::Undecided)?;
        }
        Ok(())
    }

    /// Adds an edge, unless a bound is exceeded.
    fn add(&mut self, instance: Instance) -> Result<(), Failure> {
        let graph = self.steps.graph;
        self.walker.visit([instance.label], |_| self.size += 1);
        self.instances.push(instance);
        let is_too_large = self.locations.states.len() > graph.nodes().len() + MOST_LOCATIONS
            || self.instances.len() > graph.edges().len() + MOST_EDGES
            || self.size > self.most_size;
        if is_too_large { Err(Failure::TooLarge(self.locations.states.clone())) } else { Ok(()) }
    }
}
