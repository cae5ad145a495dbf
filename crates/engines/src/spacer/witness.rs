//! Witnesses: the model of an inductive frame, and the derivation from reach facts.
//!
//! *Derivations.* A reach fact is a set of points. Each point has premises (R1), but different points have different
//! ones. So points are chosen from the top down: the youngest reach fact with wanted points comes first (R2). Its
//! clause is solved for each of them, and the solution gives points of its premises. With several premises, already
//! wanted points are reused if a solution permits it; otherwise the number of points might double from reach fact to
//! reach fact.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use shofar_horn::graph::EdgeId;
use shofar_horn::ground::complete;
use shofar_horn::witness::{Derivation, GraphModel, GraphStep};
use shofar_logic::{Term, Value};
use shofar_run::Stop;

use super::Search;
use super::facts::FactId;
use super::frames::Level;
use super::renaming::Place;

/// A ground fact.
type Point = Box<[Value]>;

/// A point with its premises, which are points of older reach facts.
struct Step {
    fact: FactId,
    point: Point,
    premises: Vec<(FactId, usize)>,
}

impl Search<'_> {
    /// The model that interprets each predicate by its frame at an inductive level.
    pub(super) fn model(&self, level: Level) -> GraphModel {
        let predicates = self.graph.nodes().filter(|&(node, _)| node != self.goal);
        let formulas =
            predicates.map(|(node, _)| self.store.and_of(self.frames[node.index()].conjuncts(level)));
        GraphModel::of_formulas(formulas)
    }

    /// The derivation of `false` from its reach fact.
    pub(super) fn derivation(&mut self) -> Result<Derivation, Stop> {
        let Some(&root) = self.facts.of(self.goal).first() else {
            return Err(Stop::Internal("the goal was reached without a reach fact".into()));
        };
        let mut wanted: BTreeMap<FactId, Vec<Point>> = BTreeMap::from([(root, vec![Point::default()])]);
        let mut steps: Vec<Step> = Vec::new();
        let mut places: FxHashMap<(FactId, usize), usize> = FxHashMap::default();
        while let Some((fact, points)) = wanted.pop_last() {
            for (index, point) in points.into_iter().enumerate() {
                self.run.go_on()?;
                let premises = self.premises(fact, &point, &mut wanted)?;
                places.insert((fact, index), steps.len());
                steps.push(Step { fact, point, premises });
            }
        }
        // From the facts to `false`.
        let last = steps.len() - 1;
        let steps = steps.iter().rev().map(|step| GraphStep {
            edge: self.facts.get(step.fact).edge,
            premises: step.premises.iter().map(|premise| last - places[premise]).collect(),
            fact: step.point.clone(),
        });
        Ok(Derivation { steps: steps.collect() })
    }

    /// Points from which the clause of a reach fact derives a point of it. New ones are added to `wanted`.
    fn premises(
        &mut self,
        fact: FactId,
        point: &Point,
        wanted: &mut BTreeMap<FactId, Vec<Point>>,
    ) -> Result<Vec<(FactId, usize)>, Stop> {
        let edge = self.facts.get(fact).edge;
        let premises = self.facts.get(fact).premises.clone();
        if premises.is_empty() {
            return Ok(Vec::new());
        }
        let points = self.solve_body(edge, &premises, point, wanted)?;
        let mut places = Vec::with_capacity(premises.len());
        for (&premise, point) in premises.iter().zip(points) {
            let known = wanted.entry(premise).or_default();
            let index = known.iter().position(|other| *other == point).unwrap_or_else(|| {
                known.push(point);
                known.len() - 1
            });
            places.push((premise, index));
        }
        Ok(places)
    }

    /// Points of the premises, given that of the head.
    fn solve_body(
        &mut self,
        edge: EdgeId,
        premises: &[FactId],
        head: &Point,
        wanted: &BTreeMap<FactId, Vec<Point>>,
    ) -> Result<Vec<Point>, Stop> {
        let (store, graph) = (self.store, self.graph);
        let clause = graph.edge(edge);
        let mut formulas = vec![clause.label()];
        let mut body: Vec<Term> = Vec::new();
        for (source, &premise) in premises.iter().enumerate() {
            let node = clause.sources()[source];
            let place = Place::Source(clause.occurrence(source));
            let literals = self.facts.get(premise).cube.iter();
            formulas.extend(literals.map(|&literal| self.renaming.to(node, place, literal)));
            body.extend(graph.source_variables(edge, source));
        }
        let context = self.run.context();
        let target = graph.target_variables(edge).iter().copied();
        let mut given: Vec<(Term, Value)> = target.zip(head.iter().cloned()).collect();
        let formula = store.and(&formulas);
        let mut values = complete(&context, formula, given.iter().cloned(), &body)?;
        if premises.len() > 1 {
            let mut start = 0;
            let mut starts = Vec::with_capacity(premises.len());
            for (source, premise) in premises.iter().enumerate() {
                let variables = graph.source_variables(edge, source);
                let range = start..start + variables.len();
                start = range.end;
                // The same reach fact may also occur further to the left.
                let twin = premises[..source].iter().position(|other| other == premise);
                let twin = twin.map(|twin| starts[twin]..starts[twin] + variables.len());
                let latest = wanted.get(premise).and_then(|points| points.last());
                let known =
                    twin.map(|twin| values[twin].to_vec()).or_else(|| latest.map(|point| point.to_vec()));
                starts.push(range.start);
                if let Some(known) = known
                    && known != values[range.clone()]
                {
                    let fixed: Vec<(Term, Value)> = variables.iter().copied().zip(known).collect();
                    match complete(&context, formula, given.iter().chain(&fixed).cloned(), &body) {
                        Ok(found) => values = found,
                        Err(Stop::Internal(_)) => {}
                        Err(stop) => return Err(stop),
                    }
                }
                given.extend(variables.iter().copied().zip(values[range].iter().cloned()));
            }
        }
        let mut rest = values.as_slice();
        let arities = clause.sources().iter().map(|&node| graph.node(node).arity());
        let points = arities.map(|arity| {
            let (point, others) = rest.split_at(arity);
            rest = others;
            point.into()
        });
        Ok(points.collect())
    }
}
