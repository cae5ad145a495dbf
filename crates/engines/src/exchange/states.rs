//! Facts about the states of a transition system.
//!
//! An engine that works on a [`TransitionForm`] of the meeting graph, perhaps with a flag ([`Flagged`]), knows one vector of states.
//! Its port translates in both directions:
//!
//! ```text
//! meeting graph, node v                        states
//! phi(x) in all facts [up to height h]         at v -> phi(slots of v), or the flag is set      [up to h steps]
//! from cube(x), d steps to a violated query    at v, cube(slots of v), and no flag: d steps to a bad state, d + 1 with a flag
//! ```
//!
//! From states to a node, a formula is read at the counter of the node, with the arguments for its slots, fixed values for slots that
//! it does not use, and without flag. For a lemma this is sound because unused slots have every value in reached states; for a
//! counterexample, because it says that each of its states leads to a bad one, those with the fixed values included.
//!
//! A derivation of height `h` is a path of `h` steps, so heights need no translation.

use shofar_horn::graph::NodeId;
use shofar_horn::transform::{Image, Lemma};
use shofar_logic::{Substitution, Term};

use super::{Cex, Fact, FactId, Fate, Port};
use crate::Run;
use crate::flag::Flagged;
use crate::forms::TransitionForm;

/// A fact about states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StateFact {
    /// The states that satisfy it contain all reached ones and are closed under transitions.
    Closed(Term),
    /// It holds in all states that are reached in at most `steps` steps.
    Bounded { lemma: Term, steps: usize, cex: Option<Cex> },
    /// No bad state is reached in at most this many steps.
    Depth(usize),
}

/// The port of an engine on a transition system.
#[derive(Clone, Copy)]
pub(crate) struct StatePort<'a> {
    run: &'a Run<'a>,
    port: &'a dyn Port,
    form: &'a TransitionForm,
    /// Means that a bad state was left, in the last step.
    flag: Option<Term>,
}

impl<'a> StatePort<'a> {
    /// The port of a run on a transition form, if it has one.
    pub(crate) fn of(run: &'a Run<'a>, form: &'a TransitionForm) -> Option<Self> {
        run.port().map(|port| StatePort { run, port, form, flag: None })
    }

    /// The same port for the system with a flag.
    pub(crate) fn flagged(self, flagged: &Flagged) -> Self {
        StatePort { flag: flagged.flag(), ..self }
    }

    /// The facts that others have sent since the last call. Those that say nothing about states are left out.
    pub(crate) fn receive(&self) -> Vec<(FactId, StateFact)> {
        let translated = |(id, fact)| Some((id, self.down(fact)?));
        self.port.receive().into_iter().filter_map(translated).collect()
    }

    /// Sends a fact about states, as facts of the nodes that it concerns.
    pub(crate) fn send(&self, fact: StateFact) {
        self.up(fact).into_iter().for_each(|fact| self.port.send(fact));
    }

    /// See [`Port::rate`].
    pub(crate) fn rate(&self, fact: FactId, fate: Fate) {
        self.port.rate(fact, fate);
    }

    fn down(&self, fact: Fact) -> Option<StateFact> {
        let store = self.run.store;
        match fact {
            Fact::Closed(set) => {
                let formula = store.and_of(set.into_iter().filter_map(|lemma| self.lemma_down(lemma)));
                (formula != Term::TRUE).then_some(StateFact::Closed(formula))
            }
            Fact::Bounded { lemma, height, cex } => {
                let cex = cex.and_then(|cex| self.cex_down(lemma, cex));
                Some(StateFact::Bounded { lemma: self.lemma_down(lemma)?, steps: height, cex })
            }
            Fact::Depth(height) => {
                // The flag is set one step after the bad state.
                Some(StateFact::Depth(height + usize::from(self.flag.is_some())))
            }
            // No engine on transition systems tries formulas without a claim.
            Fact::Atom(_) => None,
        }
    }

    /// A formula that holds of a node, about states.
    fn lemma_down(&self, lemma: Lemma) -> Option<Term> {
        let store = self.run.store;
        let Image::Lemmas(images) = self.form.forward(self.run, lemma) else { return None };
        let formula = store.and_of(images.into_iter().map(|image| image.formula));
        Some(self.flag.map_or(formula, |flag| store.or2(flag, formula)))
    }

    fn cex_down(&self, lemma: Lemma, Cex { states, distance }: Cex) -> Option<Cex> {
        let store = self.run.store;
        // The image of "not in these states" is "not at the node, or not in these states".
        let outside = Lemma { node: lemma.node, formula: store.not(states) };
        let states = store.not(self.lemma_down(outside)?);
        Some(Cex { states, distance: distance + usize::from(self.flag.is_some()) })
    }

    fn up(&self, fact: StateFact) -> Vec<Fact> {
        let lemma = |(node, formula)| Lemma { node, formula };
        match fact {
            StateFact::Closed(formula) => {
                let set: Vec<Lemma> = self.at_nodes(formula).into_iter().map(lemma).collect();
                if set.is_empty() { Vec::new() } else { vec![Fact::Closed(set)] }
            }
            StateFact::Bounded { lemma: formula, steps, cex } => {
                let excluded = cex.and_then(|Cex { states, distance }| {
                    let distance = distance.checked_sub(usize::from(self.flag.is_some()))?;
                    Some((self.all_nodes(states)?, distance))
                });
                let fact = |(node, formula): (NodeId, Term)| {
                    let cex = excluded.as_ref().and_then(|(formulas, distance)| {
                        let states = formulas[node.index()];
                        (states != Term::FALSE).then_some(Cex { states, distance: *distance })
                    });
                    Fact::Bounded { lemma: Lemma { node, formula }, height: steps, cex }
                };
                self.at_nodes(formula).into_iter().map(fact).collect()
            }
            StateFact::Depth(steps) => {
                let height = steps.checked_sub(usize::from(self.flag.is_some()));
                height.map(Fact::Depth).into_iter().collect()
            }
        }
    }

    /// A formula about states at the nodes where it says something.
    fn at_nodes(&self, formula: Term) -> Vec<(NodeId, Term)> {
        let formulas = self.all_nodes(formula).unwrap_or_default();
        let numbered = formulas.into_iter().enumerate();
        let numbered = numbered.map(|(index, formula)| (NodeId::new(index), formula));
        numbered.filter(|&(_, formula)| formula != Term::TRUE).collect()
    }

    /// A formula about states at all nodes, without flag.
    fn all_nodes(&self, formula: Term) -> Option<Vec<Term>> {
        let store = self.run.store;
        let lowered: Substitution = self.flag.iter().map(|&flag| (flag, Term::FALSE)).collect();
        let formula = store.instantiate(formula, &lowered);
        let model = self.form.renamed_back(self.run, formula)?;
        let count = model.interpretations.len();
        (0..count).map(|index| model.formula(NodeId::new(index)).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use shofar_horn::HornGraph;
    use shofar_horn::graph::Node;
    use shofar_horn::parse;
    use shofar_logic::{Assignment, Sort, TermStore, Value};
    use shofar_testing::explicit::Saturation;
    use shofar_testing::systems::{Shape, system};
    use shofar_testing::{Random, scale};

    use super::*;

    /// Keeps what is sent, and delivers what is put into it.
    #[derive(Default)]
    struct Mail(Mutex<Vec<Fact>>);

    impl Port for Mail {
        fn send(&self, fact: Fact) {
            self.0.lock().expect("no one panics with the lock").push(fact);
        }

        fn receive(&self) -> Vec<(FactId, Fact)> {
            (0..).map(FactId).zip(self.taken()).collect()
        }

        fn rate(&self, _: FactId, _: Fate) {}
    }

    impl Mail {
        fn taken(&self) -> Vec<Fact> {
            std::mem::take(&mut self.0.lock().expect("no one panics with the lock"))
        }
    }

    fn holds(store: &TermStore, formula: Term, node: &Node, values: &[Value]) -> bool {
        let assignment: Assignment = node.variables().iter().copied().zip(values.iter().cloned()).collect();
        store.eval(formula, &assignment) == Ok(Value::Bool(true))
    }

    /// A formula that holds exactly for the facts of a node up to a height, or for a few more.
    fn lemma(
        store: &TermStore,
        graph: &HornGraph,
        facts: &Saturation<'_>,
        node: NodeId,
        height: usize,
        random: &mut Random,
    ) -> Term {
        let variables = graph.node(node).variables();
        let point = |values: &[Value]| {
            let equations = variables.iter().zip(values);
            store.and_of(equations.map(|(&variable, value)| store.eq(variable, store.value_to_term(value))))
        };
        let exact = store.or_of(facts.facts_up_to(node, height).map(point));
        let integers = variables.iter().copied().filter(|&v| store.sort_of(v) == Sort::INT);
        let integers: Vec<Term> = integers.collect();
        if integers.is_empty() || random.one_in(2) {
            return exact;
        }
        store.or2(exact, store.le(*random.choose(&integers), store.int(random.below(3) as u64)))
    }

    /// Bounded facts stay true with the same height, in both directions.
    #[test]
    fn bounded_facts_stay_true_in_both_forms() {
        let mut translated = 0;
        for seed in 0..200 * scale() {
            let mut random = Random::new(seed);
            let shape = Shape::LINEAR;
            let text = system(&mut random, &shape);
            let store = TermStore::new();
            let clauses = parse(&store, "test", text.as_bytes()).expect("the clauses are right");
            let graph = HornGraph::of(&store, &clauses);
            let facts = Saturation::of(&store, &graph, 0..=shape.greatest);
            if !facts.is_safe() {
                continue;
            }
            let mail = Mail::default();
            let run = Run::new(&store).with_port(&mail);
            let form = TransitionForm::of(&run, &graph).expect("the system is linear");
            let states = Saturation::of(&store, form.graph(), 0..=shape.greatest);
            let port = StatePort::of(&run, &form).expect("the run has a port");
            for height in 0..4 {
                for (node, _) in graph.nodes() {
                    let formula = lemma(&store, &graph, &facts, node, height, &mut random);
                    mail.send(Fact::Bounded { lemma: Lemma { node, formula }, height, cex: None });
                    for (_, fact) in port.receive() {
                        let StateFact::Bounded { lemma, steps, .. } = fact else { panic!("{fact:?}") };
                        translated += usize::from(lemma != Term::TRUE);
                        let only = NodeId::new(0);
                        for values in states.facts_up_to(only, steps) {
                            assert!(holds(&store, lemma, form.graph().node(only), values), "{seed}:\n{text}");
                        }
                        assert_eq!(steps, height);
                    }
                }
                let formula = lemma(&store, form.graph(), &states, NodeId::new(0), height, &mut random);
                port.send(StateFact::Bounded { lemma: formula, steps: height, cex: None });
                for fact in mail.taken() {
                    let Fact::Bounded { lemma: Lemma { node, formula }, height, .. } = fact else {
                        panic!("{fact:?}")
                    };
                    translated += 1;
                    for values in facts.facts_up_to(node, height) {
                        assert!(holds(&store, formula, graph.node(node), values), "{seed}:\n{text}");
                    }
                }
            }
        }
        assert!(translated > 500, "{translated}");
    }
}
