//! Facts as text, for other processes and for later.
//!
//! A fact is a JSON object, its formulas are [canonical texts](TermStore::canonical_text) over the arguments `x0`, `x1`, .. of a
//! predicate. Both sides have the same graph, so a predicate is the number of its node, with the sorts of its arguments:
//!
//! ```json
//! {"k":"closed","set":[{"p":0,"a":["Int","Int"],"f":"(>= x1 0)"}]}
//! {"k":"bounded","p":0,"a":["Int","Int"],"f":"(>= x0 0)","h":12,"c":"(<= x0 (- 3))","d":2}
//! {"k":"depth","h":12}
//! {"k":"atom","p":0,"a":["Int","Int"],"f":"(>= x1 x0)"}
//! ```
//!
//! A fact from outside may be wrong, by mistake or by malice. [`read`](Texts::read) refuses what is too large, does not fit
//! the graph, or is not a formula without quantifiers that the solver understands; it takes time in proportion to the text. Whether a
//! fact is true is another question, which a text cannot answer.

use std::fmt;

use serde_json::{Value, json};
use shofar_engines::{Cex, Fact};
use shofar_horn::HornGraph;
use shofar_horn::graph::NodeId;
use shofar_horn::transform::Lemma;
use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{Term, TermStore};
use shofar_smt::supports;

/// How large facts may be.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most bytes of a formula.
    pub bytes: usize,
    /// The most subterms that a formula has when it was read.
    pub subterms: usize,
    /// The most digits of a number.
    pub digits: usize,
    /// The most formulas of a closed set.
    pub formulas: usize,
}

impl Bounds {
    /// For facts from outside.
    pub const FOREIGN: Bounds = Bounds { bytes: 16 << 10, subterms: 200, digits: 256, formulas: 1000 };
    /// For facts that this program has written itself.
    pub const OWN: Bounds =
        Bounds { bytes: 1 << 20, subterms: usize::MAX, digits: usize::MAX, formulas: usize::MAX };
}

/// Why a text is not a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It is not an object of a known kind, or a member is missing or of the wrong type.
    Malformed,
    /// It is too large.
    TooLarge,
    /// There is no such predicate, or its arguments have other sorts.
    Unfit,
    /// It is not a formula about the arguments that the solver understands.
    NoFormula,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Malformed => "it is not of the form of a fact",
            Refusal::TooLarge => "it is too large",
            Refusal::Unfit => "it does not fit the predicates",
            Refusal::NoFormula => "it is not a supported formula over the arguments of its predicate",
        })
    }
}

/// Facts about a graph whose terms are in a store.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    /// The terms.
    pub store: &'a TermStore,
    /// The graph.
    pub graph: &'a HornGraph,
    /// How large facts may be.
    pub bounds: Bounds,
}

impl Texts<'_> {
    /// The object of a fact; `None` if a formula is too long.
    pub fn write(&self, fact: &Fact) -> Option<Value> {
        Some(match fact {
            Fact::Closed(set) => {
                let set: Option<Vec<Value>> = set.iter().map(|&lemma| self.write_lemma(lemma)).collect();
                json!({"k": "closed", "set": set?})
            }
            Fact::Bounded { lemma, height, cex } => {
                let mut object = self.write_lemma(*lemma)?;
                object["k"] = "bounded".into();
                object["h"] = (*height).into();
                if let Some(Cex { states, distance }) = cex {
                    object["c"] = self.write_formula(lemma.node, *states)?.into();
                    object["d"] = (*distance).into();
                }
                object
            }
            Fact::Depth(height) => json!({"k": "depth", "h": height}),
            Fact::Atom(lemma) => {
                let mut object = self.write_lemma(*lemma)?;
                object["k"] = "atom".into();
                object
            }
        })
    }

    /// The object of a formula about a node; `None` if it is too long.
    pub(super) fn write_lemma(&self, lemma: Lemma) -> Option<Value> {
        let formula = self.write_formula(lemma.node, lemma.formula)?;
        Some(json!({"p": lemma.node.index(), "a": self.sorts(lemma.node), "f": formula}))
    }

    fn write_formula(&self, node: NodeId, formula: Term) -> Option<String> {
        self.store.canonical_text(formula, self.graph.node(node).variables(), self.bounds.bytes)
    }

    fn sorts(&self, node: NodeId) -> Vec<String> {
        let sorts = self.graph.node(node).sorts(self.store);
        sorts.into_iter().map(|sort| self.store.display_sort(sort).to_string()).collect()
    }

    /// The fact of an object. Unknown members are ignored.
    pub fn read(&self, object: &Value) -> Result<Fact, Refusal> {
        match object["k"].as_str() {
            Some("closed") => Ok(Fact::Closed(self.read_set(&object["set"])?)),
            Some("bounded") => {
                let lemma = self.read_lemma(object)?;
                let cex = match &object["c"] {
                    Value::Null => None,
                    states => {
                        let states = self.read_formula(lemma.node, states)?;
                        Some(Cex { states, distance: number(object, "d")? })
                    }
                };
                Ok(Fact::Bounded { lemma, height: number(object, "h")?, cex })
            }
            Some("depth") => Ok(Fact::Depth(number(object, "h")?)),
            Some("atom") => Ok(Fact::Atom(self.read_lemma(object)?)),
            _ => Err(Refusal::Malformed),
        }
    }

    /// The formulas about nodes of a list of objects.
    fn read_set(&self, set: &Value) -> Result<Vec<Lemma>, Refusal> {
        let set = set.as_array().ok_or(Refusal::Malformed)?;
        if set.len() > self.bounds.formulas {
            return Err(Refusal::TooLarge);
        }
        set.iter().map(|lemma| self.read_lemma(lemma)).collect()
    }

    /// The formula about a node of an object.
    pub(super) fn read_lemma(&self, object: &Value) -> Result<Lemma, Refusal> {
        let node = number(object, "p")?;
        if node >= self.graph.nodes().len() {
            return Err(Refusal::Unfit);
        }
        let node = NodeId::new(node);
        let given = object["a"].as_array().ok_or(Refusal::Malformed)?;
        let expected = self.sorts(node);
        let fits = |(given, expected): (&Value, &String)| given.as_str() == Some(expected);
        if given.len() != expected.len() || !given.iter().zip(&expected).all(fits) {
            return Err(Refusal::Unfit);
        }
        Ok(Lemma { node, formula: self.read_formula(node, &object["f"])? })
    }

    fn read_formula(&self, node: NodeId, text: &Value) -> Result<Term, Refusal> {
        let Texts { store, graph, bounds } = *self;
        let text = text.as_str().ok_or(Refusal::Malformed)?;
        let is_long = |digits: &str| digits.len() > bounds.digits;
        if text.len() > bounds.bytes || text.split(|c: char| !c.is_ascii_digit()).any(is_long) {
            return Err(Refusal::TooLarge);
        }
        let variables = graph.node(node).variables();
        let mut environment = Environment::new(store);
        for (position, &variable) in variables.iter().enumerate() {
            environment.bind_free_variable(store, store.symbol(&format!("x{position}")), variable);
        }
        let mut reader = Reader::new(store, &mut environment, text.as_bytes());
        let formula = reader.formula().map_err(|_| Refusal::NoFormula)?;
        reader.end().map_err(|_| Refusal::NoFormula)?;
        if store.subterms(&[formula]).len() > bounds.subterms {
            return Err(Refusal::TooLarge);
        }
        let formula = store.normalize(formula);
        let is_known = |variable: &Term| variables.contains(variable);
        let is_about_arguments = store.free_vars(&[formula]).iter().all(is_known);
        if !is_about_arguments || store.is_quantified(formula) || supports(store, &[formula]).is_err() {
            return Err(Refusal::NoFormula);
        }
        Ok(formula)
    }
}

/// A member that is a number of 32 bits.
fn number(object: &Value, name: &str) -> Result<usize, Refusal> {
    let number = object[name].as_u64().and_then(|number| u32::try_from(number).ok());
    number.map(|number| number as usize).ok_or(Refusal::Malformed)
}

#[cfg(test)]
mod tests {
    use shofar_horn::parse;
    use shofar_testing::systems::{Shape, system};
    use shofar_testing::{Random, scale};

    use super::*;

    fn graph(store: &TermStore, text: &str) -> HornGraph {
        HornGraph::of(store, &parse(store, "test", text.as_bytes()).expect("the clauses are right"))
    }

    fn foreign<'a>(store: &'a TermStore, graph: &'a HornGraph) -> Texts<'a> {
        Texts { store, graph, bounds: Bounds::FOREIGN }
    }

    /// The labels of facts, which are formulas over the arguments of their predicates, travel between two stores and back.
    #[test]
    fn facts_come_back_as_they_were_sent() {
        let mut sent = 0;
        for seed in 0..100 * scale() {
            let mut random = Random::new(seed);
            let text = system(&mut random, &Shape::LINEAR);
            let stores = [TermStore::new(), TermStore::new()];
            // The other store has met other terms before.
            graph(&stores[1], &system(&mut random, &Shape::NONLINEAR));
            let graphs = stores.each_ref().map(|store| graph(store, &text));
            let texts = [0, 1].map(|side| foreign(&stores[side], &graphs[side]));
            for (id, edge) in graphs[0].edges() {
                let Some(node) = edge.target().filter(|_| edge.sources().is_empty()) else { continue };
                if !graphs[0].locals(&stores[0], id).is_empty() {
                    continue;
                }
                let content = graphs[0].node(node);
                let formula =
                    shofar_horn::graph::rename(&stores[0], edge.label(), content.next(), content.variables());
                let lemma = Lemma { node, formula };
                let cex = random
                    .one_in(2)
                    .then(|| Cex { states: stores[0].not(formula), distance: random.below(9) });
                let height = random.below(100);
                for fact in [
                    Fact::Bounded { lemma, height, cex },
                    Fact::Closed(vec![lemma]),
                    Fact::Depth(height),
                    Fact::Atom(lemma),
                ] {
                    let there = texts[0].write(&fact).expect("it is short");
                    assert_eq!(texts[0].read(&there), Ok(fact), "{there}");
                    let foreign = texts[1].read(&there).expect("it is a fact");
                    assert_eq!(texts[1].write(&foreign), Some(there));
                    sent += 1;
                }
            }
        }
        assert!(sent > 100, "{sent}");
    }

    #[test]
    fn texts_that_are_no_facts_are_refused() {
        let store = TermStore::new();
        let graph = graph(&store, "(declare-fun P (Int Real) Bool) (assert (P 0 0.0))");
        let about =
            |formula: &str| json!({"k": "bounded", "p": 0, "a": ["Int", "Real"], "f": formula, "h": 1});
        let deep = "(not ".repeat(100_000) + "true" + &")".repeat(100_000);
        let nested = "(not ".repeat(1000) + "(< x0 0)" + &")".repeat(1000);
        for (object, refusal) in [
            (json!("closed"), Refusal::Malformed),
            (json!({"k": "magic"}), Refusal::Malformed),
            (json!({"k": "depth"}), Refusal::Malformed),
            (json!({"k": "depth", "h": -1}), Refusal::Malformed),
            (json!({"k": "depth", "h": u64::MAX}), Refusal::Malformed),
            (json!({"k": "closed", "set": [7]}), Refusal::Malformed),
            (json!({"k": "closed", "set": vec![0; 2000]}), Refusal::TooLarge),
            (json!({"k": "bounded", "p": 1, "a": [], "f": "true", "h": 1}), Refusal::Unfit),
            (json!({"k": "bounded", "p": 0, "a": ["Int"], "f": "true", "h": 1}), Refusal::Unfit),
            (json!({"k": "bounded", "p": 0, "a": ["Int", "Int"], "f": "true", "h": 1}), Refusal::Unfit),
            (about(&deep), Refusal::TooLarge),
            (about(&nested), Refusal::TooLarge),
            (about(&format!("(< x0 {})", "9".repeat(1_000_000))), Refusal::TooLarge),
            (about(&format!("(< x0 {})", "9".repeat(300))), Refusal::TooLarge),
            (about("(< x0 x1"), Refusal::NoFormula),
            (about("(< x0 0) (exit)"), Refusal::NoFormula),
            (about("(< x0 x2)"), Refusal::NoFormula),
            (about("(< P 0)"), Refusal::NoFormula),
            (about("(+ x0 1)"), Refusal::NoFormula),
            (about("(< (* x0 x0) 0)"), Refusal::NoFormula),
            (about("(forall ((y Int)) (< y x0))"), Refusal::NoFormula),
        ] {
            let what = object.to_string();
            assert_eq!(
                foreign(&store, &graph).read(&object),
                Err(refusal),
                "{}",
                &what[..what.len().min(200)]
            );
        }
    }
}
