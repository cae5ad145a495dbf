//! Samples, the clause instances between them, and what follows for their labels.
//!
//! A *sample* is a predicate with values for its arguments; its label says whether the sample belongs to the predicate. Instances of
//! clauses constrain labels: if all premises are positive, so is the conclusion. These constraints are propositional Horn clauses, with
//! samples as variables.
//!
//! - L1: after [`Samples::propagate`] without conflict, labels are closed under unit propagation: an instance whose premises are all
//!   positive has a positive conclusion, and an instance with one premise open and a negative conclusion has a negative premise.
//! - L2: so all samples without a label can be negative together: then each instance has a premise that is not positive, or a positive
//!   conclusion.
//! - L3: a positive sample comes later on the trail than the premises of its reason.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_horn::graph::{EdgeId, NodeId};
use shofar_horn::witness::{Derivation, GraphStep};
use shofar_logic::Value;

/// The index of a sample.
pub(super) type SampleId = usize;

type InstanceId = usize;

/// A predicate with values for its arguments.
pub(super) type Fact = (NodeId, Box<[Value]>);

/// A sample and the instances that it occurs in.
pub(super) struct Sample {
    pub(super) values: Box<[Value]>,
    /// Its position among the samples of its node.
    pub(super) position: usize,
    as_premise: Vec<InstanceId>,
    as_conclusion: Vec<InstanceId>,
}

/// An instance of a clause. A query has no conclusion.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Instance {
    edge: EdgeId,
    premises: Box<[SampleId]>,
    conclusion: Option<SampleId>,
}

/// Instances that contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Conflict(InstanceId);

/// Labels for some samples, in the order in which they were found.
#[derive(Clone, Default)]
pub(super) struct Labels {
    of: Vec<Option<bool>>,
    /// The instance that makes a sample positive, unless it was chosen.
    reasons: Vec<Option<InstanceId>>,
    trail: Vec<SampleId>,
    /// The labels on the trail that were propagated.
    done: usize,
}

impl Labels {
    pub(super) fn get(&self, sample: SampleId) -> Option<bool> {
        self.of[sample]
    }

    fn set(&mut self, sample: SampleId, label: bool, reason: Option<InstanceId>) {
        self.of[sample] = Some(label);
        self.reasons[sample] = reason;
        self.trail.push(sample);
    }

    fn undo(&mut self, length: usize) {
        for sample in self.trail.drain(length..) {
            self.of[sample] = None;
        }
        self.done = length;
    }
}

/// All samples and instances.
pub(super) struct Samples {
    samples: Vec<Sample>,
    by_node: Vec<Vec<SampleId>>,
    ids: FxHashMap<Fact, SampleId>,
    instances: Vec<Instance>,
    known: FxHashSet<Instance>,
    /// What follows from the instances.
    labels: Labels,
}

impl Samples {
    pub(super) fn new(nodes: usize) -> Self {
        Samples {
            samples: Vec::new(),
            by_node: vec![Vec::new(); nodes],
            ids: FxHashMap::default(),
            instances: Vec::new(),
            known: FxHashSet::default(),
            labels: Labels::default(),
        }
    }

    pub(super) fn get(&self, sample: SampleId) -> &Sample {
        &self.samples[sample]
    }

    pub(super) fn of(&self, node: NodeId) -> &[SampleId] {
        &self.by_node[node.index()]
    }

    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// The labels that all solutions have.
    pub(super) fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Adds an instance of a clause. An instance of a query has no `conclusion`. Returns whether the instance is new, or the conflict
    /// that it causes.
    pub(super) fn add(
        &mut self,
        edge: EdgeId,
        premises: Vec<Fact>,
        conclusion: Option<Fact>,
    ) -> Result<bool, Conflict> {
        let premises: Box<[SampleId]> = premises.into_iter().map(|fact| self.sample(fact)).collect();
        let conclusion = conclusion.map(|fact| self.sample(fact));
        let instance = Instance { edge, premises, conclusion };
        if !self.known.insert(instance.clone()) {
            return Ok(false);
        }
        let id = self.instances.len();
        for &premise in &instance.premises {
            self.samples[premise].as_premise.push(id);
        }
        if let Some(conclusion) = conclusion {
            self.samples[conclusion].as_conclusion.push(id);
        }
        self.instances.push(instance);
        let mut labels = std::mem::take(&mut self.labels);
        let settled = self.settle(&mut labels, id, true).and_then(|()| self.propagate(&mut labels, true));
        self.labels = labels;
        settled.map(|()| true)
    }

    fn sample(&mut self, fact: Fact) -> SampleId {
        if let Some(&known) = self.ids.get(&fact) {
            return known;
        }
        let id = self.samples.len();
        let of_node = &mut self.by_node[fact.0.index()];
        let (as_premise, as_conclusion) = (Vec::new(), Vec::new());
        self.samples.push(Sample {
            values: fact.1.clone(),
            position: of_node.len(),
            as_premise,
            as_conclusion,
        });
        of_node.push(id);
        self.ids.insert(fact, id);
        self.labels.of.push(None);
        self.labels.reasons.push(None);
        id
    }

    /// Gives a label to a sample, with all that follows. If that is a conflict, nothing changes, and the result is false.
    pub(super) fn assume(&self, labels: &mut Labels, sample: SampleId, label: bool) -> bool {
        if let Some(known) = labels.get(sample) {
            return known == label;
        }
        let before = labels.trail.len();
        labels.set(sample, label, None);
        let is_possible = self.propagate(labels, true).is_ok();
        if !is_possible {
            labels.undo(before);
        }
        is_possible
    }

    /// Makes all samples positive that have no label, if they can be.
    pub(super) fn assume_positive(&self, labels: &mut Labels, samples: &[SampleId]) -> bool {
        let before = labels.trail.len();
        let is_possible = samples
            .iter()
            .all(|&sample| labels.get(sample) == Some(true) || self.assume(labels, sample, true));
        if !is_possible {
            labels.undo(before);
        }
        is_possible
    }

    /// Closes labels under unit propagation (L1); only positive ones, if that is all that is wanted.
    fn propagate(&self, labels: &mut Labels, with_negative: bool) -> Result<(), Conflict> {
        while let Some(&sample) = labels.trail.get(labels.done) {
            labels.done += 1;
            let Sample { as_premise, as_conclusion, .. } = &self.samples[sample];
            let instances = if labels.get(sample) == Some(true) { as_premise } else { as_conclusion };
            for &instance in instances {
                self.settle(labels, instance, with_negative)?;
            }
        }
        Ok(())
    }

    /// Gives the label that follows from one instance.
    fn settle(&self, labels: &mut Labels, instance: InstanceId, with_negative: bool) -> Result<(), Conflict> {
        let Instance { premises, conclusion, .. } = &self.instances[instance];
        let mut open = premises.iter().copied().filter(|&premise| labels.get(premise) != Some(true));
        let first = open.next();
        // The same sample may be several premises.
        let is_last = open.all(|premise| Some(premise) == first);
        let conclusion_label = conclusion.map_or(Some(false), |conclusion| labels.get(conclusion));
        match (first, conclusion_label) {
            (None, Some(false)) => return Err(Conflict(instance)),
            (None, None) => {
                let conclusion = conclusion.expect("a query has a label");
                labels.set(conclusion, true, Some(instance));
            }
            (Some(premise), Some(false)) if with_negative && is_last && labels.get(premise).is_none() => {
                labels.set(premise, false, None);
            }
            _ => {}
        }
        Ok(())
    }

    /// The derivation of `false` from instances that contradict each other. Forward chaining finds it, since they are Horn clauses.
    pub(super) fn refutation(&self) -> Option<Derivation> {
        let none = vec![None; self.samples.len()];
        let mut labels = Labels { of: vec![None; self.samples.len()], reasons: none, ..Labels::default() };
        let mut chain = || {
            (0..self.instances.len()).try_for_each(|instance| {
                self.settle(&mut labels, instance, false)?;
                self.propagate(&mut labels, false)
            })
        };
        let Err(Conflict(query)) = chain() else { return None };
        let mut needed = vec![false; self.samples.len()];
        self.instances[query].premises.iter().for_each(|&premise| needed[premise] = true);
        let reason = |sample: SampleId| labels.reasons[sample].map(|instance| &self.instances[instance]);
        for &sample in labels.trail.iter().rev().filter(|&&sample| labels.get(sample) == Some(true)) {
            if needed[sample] {
                reason(sample)?.premises.iter().for_each(|&premise| needed[premise] = true);
            }
        }
        let mut places = vec![0; self.samples.len()];
        let mut steps: Vec<GraphStep> = Vec::new();
        for &sample in labels.trail.iter().filter(|&&sample| needed[sample]) {
            let Instance { edge, premises, .. } = reason(sample)?;
            let premises = premises.iter().map(|&premise| places[premise]).collect();
            places[sample] = steps.len();
            steps.push(GraphStep { edge: *edge, premises, fact: self.samples[sample].values.clone() });
        }
        let Instance { edge, premises, .. } = &self.instances[query];
        let premises = premises.iter().map(|&premise| places[premise]).collect();
        steps.push(GraphStep { edge: *edge, premises, fact: Box::default() });
        Some(Derivation { steps })
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;

    use super::*;

    fn fact(number: i64) -> Fact {
        (NodeId::new(0), [Value::Int(number.into())].into())
    }

    fn instance(samples: &mut Samples, premises: &[i64], conclusion: Option<i64>) -> Result<bool, Conflict> {
        let premises = premises.iter().map(|&number| fact(number)).collect();
        samples.add(EdgeId::new(0), premises, conclusion.map(fact))
    }

    #[test]
    fn an_instance_with_one_open_premise_and_a_negative_conclusion_has_a_negative_premise() {
        let mut samples = Samples::new(1);
        assert_eq!(instance(&mut samples, &[0, 1, 1], Some(2)), Ok(true));
        assert_eq!(instance(&mut samples, &[0, 1, 1], Some(2)), Ok(false), "it is known");
        assert_eq!(instance(&mut samples, &[2, 0], None), Ok(true));
        let label = |samples: &Samples, sample: SampleId| samples.labels().get(sample);
        assert!((0..3).all(|sample| label(&samples, sample).is_none()));
        assert_eq!(instance(&mut samples, &[], Some(0)), Ok(true));
        assert_eq!([0, 1, 2].map(|sample| label(&samples, sample)), [Some(true), Some(false), Some(false)]);
        let mut labels = samples.labels().clone();
        assert!(!samples.assume(&mut labels, 1, true) && samples.assume(&mut labels, 1, false));
        let conflict = instance(&mut samples, &[], Some(1));
        assert!(conflict.is_err());
        let derivation = samples.refutation().expect("there is a conflict");
        let facts: Vec<&[Value]> = derivation.steps.iter().map(|step| &*step.fact).collect();
        assert_eq!(facts.len(), 4);
        assert_eq!(*facts[3], []);
        assert_eq!(derivation.steps.iter().map(|step| step.premises.len()).sum::<usize>(), 5);
    }

    /// Labels of random instances are those that all solutions have, as far as unit propagation finds them; and there is a conflict if
    /// and only if there is no solution.
    #[test]
    fn propagation_agrees_with_enumeration() {
        const SAMPLES: i64 = 5;
        let (mut conflicts, mut impossible) = (0, 0);
        for seed in 0..400 {
            let mut random = Random::new(seed);
            let mut samples = Samples::new(1);
            (0..SAMPLES).for_each(|number| {
                samples.sample(fact(number));
            });
            let mut clauses: Vec<(Vec<i64>, Option<i64>)> = Vec::new();
            let number = |random: &mut Random| random.below(SAMPLES as usize) as i64;
            let mut is_conflict = false;
            while !is_conflict && clauses.len() < 9 {
                let premises: Vec<i64> = (0..random.below(4)).map(|_| number(&mut random)).collect();
                let conclusion = if random.one_in(4) { None } else { Some(number(&mut random)) };
                is_conflict = instance(&mut samples, &premises, conclusion).is_err();
                clauses.push((premises, conclusion));
            }
            let holds = |solution: u32, number: i64| solution >> number & 1 == 1;
            let satisfies = |solution: u32| {
                clauses.iter().all(|(premises, conclusion)| {
                    !premises.iter().all(|&premise| holds(solution, premise))
                        || conclusion.is_some_and(|conclusion| holds(solution, conclusion))
                })
            };
            let solutions: Vec<u32> = (0..1 << SAMPLES).filter(|&solution| satisfies(solution)).collect();
            assert_eq!(is_conflict, solutions.is_empty(), "seed {seed}: {clauses:?}");
            assert_eq!(is_conflict, samples.refutation().is_some(), "seed {seed}: {clauses:?}");
            if is_conflict {
                conflicts += 1;
                continue;
            }
            for number in 0..SAMPLES {
                let sample = samples.ids[&fact(number)];
                let is_possible = |label: bool| solutions.iter().any(|&s| holds(s, number) == label);
                let label = samples.labels().get(sample);
                assert!(label.is_none_or(|label| !is_possible(!label)), "seed {seed}: {clauses:?}");
                // L2: a sample is positive in all solutions only if that is known.
                assert!(is_possible(false) || label == Some(true), "seed {seed}: {clauses:?}");
                let mut labels = samples.labels().clone();
                let before = labels.of.clone();
                if !samples.assume(&mut labels, sample, true) {
                    assert!(!is_possible(true) && labels.of == before, "seed {seed}: {clauses:?}");
                    impossible += 1;
                } else {
                    assert!(is_possible(true), "seed {seed}: {clauses:?}");
                }
            }
        }
        assert!(conflicts > 40 && impossible > 40, "{conflicts} conflicts, {impossible} impossible labels");
    }
}
