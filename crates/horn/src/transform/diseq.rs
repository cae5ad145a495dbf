//! Replaces predicates that mean "different" by disequalities.
//!
//! | before | after |
//! |---|---|
//! | `D(zero, succ(y))`; `D(succ(x), zero)`; `D(x, y) => D(succ(x), succ(y))`; `P(x, y) and D(x, y) => false` | `P(x, y) and x != y => false` |
//!
//! Tools that know no disequality of datatypes axiomatise it by Horn clauses: for each sort a predicate `D(x, y)` with
//! the following rules, where all variables are different.
//!
//! - *Clash*: `D(c(..), d(..))`, for two constructors.
//! - *Step*: `E(u, v) => D(c(.., u, ..), c(.., v, ..))`, at one position, where `E` is such a predicate for the field.
//! - *Native*: `u != v => D(c(.., u, ..), c(.., v, ..))`, at one position.
//!
//! A binary predicate is *recognised* if all clauses with it in the head are such rules, there is a clash for each
//! ordered pair of different constructors, and each position of each constructor has a step or a native rule. The
//! predicates of steps have to be recognised too, so the greatest set is computed. A predicate with other or with
//! missing rules stays.
//!
//! Why the answer stays: by induction on derivations, each derivable pair is a pair of different values. By induction
//! on the size of the terms, each pair of different values is derivable. So the least model of `D` is exactly `!=`. No
//! clause with another head needs more than the least model of `D` in its body.
//!
//! The way back: in a model `D(x, y)` is `x != y`, which satisfies the rules. In a derivation, the solver finds the
//! values of the removed atoms. Their derivation descends to the first difference.
//!
//! The axiomatisation is that of Kostyukov, Mordvinov and Fedyukovich (Beyond the Elementary Representations of Program
//! Invariants over Algebraic Data Types, PLDI 2021).

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{ConstructorId, Op, Sort, Substitution, Term, TermStore, Value};
use shofar_run::Stop;

use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::ground;
use crate::transform::{Image, Lemma, Transformation, Transformed, Translation};
use crate::witness::{Derivation, GraphModel, GraphStep};

/// Replaces predicates that mean "different" by disequalities.
#[derive(Clone, Copy, Default, Debug)]
pub struct RecogniseDisequality;

impl Transformation for RecogniseDisequality {
    fn name(&self) -> &'static str {
        "diseq"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        let rules = recognised(context, graph)?;
        let mut new = HornGraph::new();
        let mut images = Vec::with_capacity(graph.nodes().len());
        for (id, node) in graph.nodes() {
            let is_kept = !rules.contains_key(&id);
            images.push(is_kept.then(|| new.add_node(node.clone())));
        }
        let mut origins = Vec::new();
        for (id, edge) in graph.edges() {
            if edge.target().is_some_and(|node| rules.contains_key(&node)) {
                continue;
            }
            let sources: Vec<NodeId> =
                edge.sources().iter().filter_map(|node| images[node.index()]).collect();
            let target = edge.target().and_then(|node| images[node.index()]);
            new.add_edge(&sources, target, native_label(store, graph, id, &rules));
            origins.push(id);
        }
        let translation = Recognised { graph: graph.clone(), rules, images, origins };
        Some(Transformed { graph: new, translation: Box::new(translation) })
    }
}

/// The label of an edge with disequalities for its recognised sources, whose variables become locals.
fn native_label(store: &TermStore, graph: &HornGraph, id: EdgeId, rules: &Rules) -> Term {
    let edge = graph.edge(id);
    let differences = differences(store, graph, id, rules);
    if differences.is_empty() {
        return edge.label();
    }
    let mut locals = Substitution::new();
    for (source, _) in edge.sources().iter().enumerate().filter(|(_, node)| rules.contains_key(node)) {
        for &variable in graph.source_variables(id, source) {
            locals.insert(variable, store.var(store.fresh_symbol("local"), store.sort_of(variable)));
        }
    }
    store.instantiate(store.and_of(differences.into_iter().chain([edge.label()])), &locals)
}

/// The disequalities that the recognised sources of an edge mean.
fn differences(store: &TermStore, graph: &HornGraph, id: EdgeId, rules: &Rules) -> Vec<Term> {
    let sources = graph.edge(id).sources().iter().enumerate();
    let recognised = sources.filter(|(_, node)| rules.contains_key(node));
    let pairs = recognised.map(|(source, _)| graph.source_variables(id, source));
    pairs.map(|pair| store.not(store.eq(pair[0], pair[1]))).collect()
}

// ---- recognition ---------------------------------------------------------------------------------------------

/// How pairs of different values are derived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    /// By different constructors.
    Clash(ConstructorId, ConstructorId),
    /// By different fields at a position of a constructor.
    Native(ConstructorId, usize),
    /// By different fields at a position of a constructor, which a predicate derives.
    Step(ConstructorId, usize, NodeId),
}

/// The recognised predicates with their rules.
type Rules = FxHashMap<NodeId, Vec<(EdgeId, Rule)>>;

/// The greatest set of predicates that mean "different"; `None` if it is empty.
fn recognised(context: &Context<'_>, graph: &HornGraph) -> Option<Rules> {
    let store = context.store;
    let is_binary = |id: NodeId| match *graph.node(id).next() {
        [x, y] => store.sort_of(x) == store.sort_of(y) && store.datatype(store.sort_of(x)).is_some(),
        _ => false,
    };
    let candidates: Vec<NodeId> = graph.nodes().map(|(id, _)| id).filter(|&id| is_binary(id)).collect();
    if candidates.is_empty() {
        return None;
    }
    let mut rules: Rules = candidates.into_iter().map(|id| (id, Vec::new())).collect();
    for (id, edge) in graph.edges() {
        if context.interrupted().is_some() {
            return None;
        }
        let Some(node) = edge.target() else { continue };
        let Some(known) = rules.get_mut(&node) else { continue };
        match rule(store, graph, id) {
            Some(rule) => known.push((id, rule)),
            None => drop(rules.remove(&node)),
        }
    }
    rules.retain(|&node, known| is_complete(store, store.sort_of(graph.node(node).next()[0]), known));
    loop {
        let others: FxHashSet<NodeId> = rules.keys().copied().collect();
        let is_closed = |&(_, rule): &(EdgeId, Rule)| match rule {
            Rule::Step(_, _, node) => others.contains(&node),
            Rule::Clash(..) | Rule::Native(..) => true,
        };
        rules.retain(|_, known| known.iter().all(is_closed));
        if rules.len() == others.len() {
            return (!rules.is_empty()).then_some(rules);
        }
    }
}

/// Whether rules derive all pairs of different values of a sort, if the predicates of steps do so for the fields.
fn is_complete(store: &TermStore, sort: Sort, rules: &[(EdgeId, Rule)]) -> bool {
    let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
    let has = |wanted: &dyn Fn(Rule) -> bool| rules.iter().any(|&(_, rule)| wanted(rule));
    let descends = |c: ConstructorId, at: usize| {
        has(&|rule| match rule {
            Rule::Native(constructor, position) | Rule::Step(constructor, position, _) => {
                (constructor, position) == (c, at)
            }
            Rule::Clash(..) => false,
        })
    };
    constructors.iter().all(|&c| {
        constructors.iter().all(|&d| c == d || has(&|rule| rule == Rule::Clash(c, d)))
            && (0..store.constructor(c).fields.len()).all(|at| descends(c, at))
    })
}

/// The rule that an edge is.
fn rule(store: &TermStore, graph: &HornGraph, id: EdgeId) -> Option<Rule> {
    let edge = graph.edge(id);
    let &[x, y] = graph.target_variables(id) else { return None };
    let mut sides = [None; 2];
    let mut others = Vec::new();
    for conjunct in store.conjuncts(edge.label()) {
        let side = match store.view(conjunct) {
            (Op::Eq, &[a, b]) if a == x || a == y => Some((a, b)),
            (Op::Eq, &[b, a]) if a == x || a == y => Some((a, b)),
            _ => None,
        };
        match side {
            Some((variable, value)) => {
                let side = &mut sides[usize::from(variable == y)];
                if side.replace(value).is_some() {
                    return None;
                }
            }
            None => others.push(conjunct),
        }
    }
    let [Some(left), Some(right)] = sides else { return None };
    let ((Op::Construct(c), left), (Op::Construct(d), right)) = (store.view(left), store.view(right)) else {
        return None;
    };
    // The fields are different variables, and neither side.
    let mut seen: FxHashSet<Term> = [x, y].into_iter().collect();
    let is_new = |&field: &Term| matches!(store.op(field), Op::Var(_)) && seen.insert(field);
    if !left.iter().chain(right).all(is_new) {
        return None;
    }
    match (edge.sources(), &others[..]) {
        ([], []) if c != d => Some(Rule::Clash(c, d)),
        ([], &[other]) if c == d => {
            let mut fields = left.iter().zip(right);
            let position = fields.position(|(&u, &v)| store.not(store.eq(u, v)) == other)?;
            Some(Rule::Native(c, position))
        }
        (&[node], []) if c == d => {
            let source = graph.source_variables(id, 0);
            let mut fields = left.iter().zip(right);
            let position = fields.position(|(&u, &v)| source == [u, v])?;
            Some(Rule::Step(c, position, node))
        }
        _ => None,
    }
}

// ---- the translation -----------------------------------------------------------------------------------------

struct Recognised {
    /// The old graph.
    graph: HornGraph,
    rules: Rules,
    /// The new node of each old one that was not recognised.
    images: Vec<Option<NodeId>>,
    /// The old edge of each new one.
    origins: Vec<EdgeId>,
}

impl Translation for Recognised {
    fn forward(&self, _: &Context<'_>, lemma: Lemma) -> Image {
        match self.images[lemma.node.index()] {
            Some(node) => Lemma { node, ..lemma }.into(),
            None => Image::Removed,
        }
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let store = context.store;
        let nodes = self.graph.nodes().zip(&self.images);
        let interpretation = |((_, node), image): ((_, &crate::graph::Node), &Option<NodeId>)| match *image {
            Some(image) => model.interpretation(image).cloned(),
            None => Ok(store.not(store.eq(node.variables()[0], node.variables()[1])).into()),
        };
        Ok(GraphModel { interpretations: nodes.map(interpretation).collect::<Result<_, Stop>>()? })
    }

    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        let mut descent = Descent {
            store: context.store,
            translation: self,
            steps: Vec::new(),
            known: FxHashMap::default(),
        };
        let mut images: Vec<usize> = Vec::with_capacity(derivation.steps.len());
        for (number, step) in derivation.steps.into_iter().enumerate() {
            context.go_on()?;
            let wrong = || Stop::Internal(format!("step {number} is no application of a clause"));
            let edge = *self.origins.get(step.edge.index()).ok_or_else(wrong)?;
            let premises: Option<Vec<usize>> =
                step.premises.iter().map(|&premise| images.get(premise).copied()).collect();
            let premises =
                self.premises(context, edge, &premises.ok_or_else(wrong)?, &step.fact, &mut descent)?;
            images.push(descent.steps.len());
            descent.steps.push(GraphStep { edge, premises, fact: step.fact });
        }
        Ok(Derivation { steps: descent.steps })
    }
}

impl Recognised {
    /// The premises of an old edge, from those that are not recognised.
    fn premises(
        &self,
        context: &Context<'_>,
        id: EdgeId,
        kept: &[usize],
        fact: &[Value],
        descent: &mut Descent<'_>,
    ) -> Result<Box<[usize]>, Stop> {
        let graph = &self.graph;
        let sources = graph.edge(id).sources();
        let wrong = || Stop::Internal(format!("a step by edge {} has other premises", id.index()));
        if sources.iter().filter(|node| !self.rules.contains_key(node)).count() != kept.len() {
            return Err(wrong());
        }
        if sources.len() == kept.len() {
            return Ok(kept.into());
        }
        let mut given: Vec<(Term, Value)> =
            graph.target_variables(id).iter().copied().zip(fact.iter().cloned()).collect();
        let mut wanted: Vec<Term> = Vec::new();
        let mut rest = kept.iter();
        for (source, node) in sources.iter().enumerate() {
            let variables = graph.source_variables(id, source);
            if self.rules.contains_key(node) {
                wanted.extend_from_slice(variables);
            } else {
                let &premise = rest.next().ok_or_else(wrong)?;
                given.extend(variables.iter().copied().zip(descent.steps[premise].fact.iter().cloned()));
            }
        }
        let mut values = self.differing(context, id, given, &wanted)?.into_iter();
        let mut rest = kept.iter();
        let premise = |node: &NodeId| match self.rules.contains_key(node) {
            true => {
                let (a, b) = values.next().zip(values.next()).ok_or_else(wrong)?;
                descent.derive(*node, [a, b])
            }
            false => rest.next().copied().ok_or_else(wrong),
        };
        sources.iter().map(premise).collect()
    }

    /// Values for the variables of the recognised sources, which differ pair by pair.
    fn differing(
        &self,
        context: &Context<'_>,
        id: EdgeId,
        given: Vec<(Term, Value)>,
        wanted: &[Term],
    ) -> Result<Vec<Value>, Stop> {
        let (store, label) = (context.store, self.graph.edge(id).label());
        // The equations of a label mostly determine the values; then no solver is needed.
        if let Ok(values) = ground::complete(context, label, given.iter().cloned(), wanted)
            && values.chunks(2).all(|pair| pair[0] != pair[1])
        {
            return Ok(values);
        }
        let differences = differences(store, &self.graph, id, &self.rules);
        ground::complete(context, store.and_of(differences.into_iter().chain([label])), given, wanted)
    }
}

/// Derives pairs of different values, each once.
struct Descent<'a> {
    store: &'a TermStore,
    translation: &'a Recognised,
    steps: Vec<GraphStep>,
    known: FxHashMap<Fact, usize>,
}

/// A recognised predicate with a pair of different values.
type Fact = (NodeId, [Value; 2]);

impl Descent<'_> {
    /// The step that derives a pair: descends to the first difference, and returns from it.
    fn derive(&mut self, node: NodeId, pair: [Value; 2]) -> Result<usize, Stop> {
        let mut open: Vec<(EdgeId, NodeId, [Value; 2])> = Vec::new();
        let mut next = Some((node, pair));
        let mut derived = None;
        while let Some((node, pair)) = next.take() {
            if let Some(&step) = self.known.get(&(node, pair.clone())) {
                derived = Some(step);
                break;
            }
            let (edge, below) = self
                .rule(node, &pair)
                .ok_or_else(|| Stop::Internal("equal values were to be derived as different".to_owned()))?;
            open.push((edge, node, pair));
            next = below;
        }
        while let Some((edge, node, pair)) = open.pop() {
            let step = self.steps.len();
            self.steps.push(GraphStep {
                edge,
                premises: derived.into_iter().collect(),
                fact: pair.clone().into(),
            });
            self.known.insert((node, pair), step);
            derived = Some(step);
        }
        derived.ok_or_else(|| Stop::Internal("a derivation without steps".to_owned()))
    }

    /// The edge that derives a pair, and the pair that it needs.
    fn rule(&self, node: NodeId, pair: &[Value; 2]) -> Option<(EdgeId, Option<Fact>)> {
        let [Value::Term(a), Value::Term(b)] = *pair else { return None };
        let ((Op::Construct(c), left), (Op::Construct(d), right)) = (self.store.view(a), self.store.view(b))
        else {
            return None;
        };
        let rules = &self.translation.rules[&node];
        let differs = |at: usize| c == d && left[at] != right[at];
        let at_once = rules.iter().find(|&&(_, rule)| match rule {
            Rule::Clash(one, other) => (one, other) == (c, d),
            Rule::Native(constructor, at) => constructor == c && differs(at),
            Rule::Step(..) => false,
        });
        if let Some(&(edge, _)) = at_once {
            return Some((edge, None));
        }
        rules.iter().find_map(|&(edge, rule)| match rule {
            Rule::Step(constructor, at, below) if constructor == c && differs(at) => {
                // Parts of a value are values; looking through them again and again would take quadratic time.
                let field = |term: Term| match self.store.op(term) {
                    Op::Construct(_) => Some(Value::Term(term)),
                    _ => self.store.term_to_value(term),
                };
                Some((edge, Some((below, [field(left[at])?, field(right[at])?]))))
            }
            _ => None,
        })
    }
}
