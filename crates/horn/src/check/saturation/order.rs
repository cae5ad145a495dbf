//! The order of Knuth and Bendix on atoms.
//!
//! An atom is greater than another one if no variable occurs more often in the other one and
//!
//! - its weight, the sum of the weights of its symbols, is greater; or
//! - the weights are equal, and its first symbol is greater; or the first symbols are equal, and among the arguments at the
//!   first position where they differ, its own is greater.
//!
//! The order is *admissible* if variables have a positive weight, constants are not lighter than variables, and a
//! constructor with one field and without weight is the greatest constructor. Then it is well-founded, it is total on atoms
//! without variables, and instances keep it. Constructors that occur in no clause get the weight of variables and are
//! lower than others. Values of other sorts are constants with the weight of variables. They are ordered somehow, and count as
//! incomparable here.

use rustc_hash::FxHashMap;
use shofar_logic::{ConstructorId, Op, Symbol, Term, TermStore};
use shofar_run::Stop;

use super::unify::Work;
use crate::system::PredicateId;
use crate::witness::{PureAtom, Relation, Weights};

/// An admissible order.
pub(super) struct KnuthBendix {
    variable: u64,
    distinct: u64,
    /// The weights and the places in the precedence.
    constructors: FxHashMap<Symbol, (u64, usize)>,
    predicates: FxHashMap<PredicateId, (u64, usize)>,
}

impl KnuthBendix {
    /// The order for clauses with these constructors and predicates. The error says why it is not admissible.
    pub(super) fn new(
        store: &TermStore,
        weights: &Weights,
        constructors: &[ConstructorId],
        predicates: &[PredicateId],
    ) -> Result<Self, String> {
        let order = KnuthBendix {
            variable: weights.variable.into(),
            distinct: weights.distinct.into(),
            constructors: ranked(&weights.constructors),
            predicates: ranked(&weights.predicates),
        };
        if order.constructors.len() < weights.constructors.len()
            || order.predicates.len() < weights.predicates.len()
        {
            return Err("the order has a symbol twice".to_owned());
        }
        if predicates.iter().any(|predicate| !order.predicates.contains_key(predicate)) {
            return Err("the order has no weight for a predicate of the clauses".to_owned());
        }
        if order.variable == 0 {
            return Err("the order is not admissible: variables have no weight".to_owned());
        }
        for &constructor in constructors {
            let constructor = store.constructor(constructor);
            let name = store.display_symbol(constructor.name);
            let Some(&(weight, place)) = order.constructors.get(&constructor.name) else {
                return Err(format!("the order has no weight for {name}"));
            };
            match constructor.fields.len() {
                0 if weight < order.variable => {
                    return Err(format!("the order is not admissible: {name} is lighter than variables"));
                }
                1 if weight == 0 && place + 1 < order.constructors.len() => {
                    return Err(format!(
                        "the order is not admissible: {name} has no weight and is not the greatest constructor"
                    ));
                }
                _ => {}
            }
        }
        Ok(order)
    }

    /// Whether an atom is greater than another one.
    pub(super) fn is_greater(&self, work: &Work<'_>, a: &PureAtom, b: &PureAtom) -> Result<bool, Stop> {
        let weight = |relation: Relation| match relation {
            Relation::Distinct(_) => self.distinct,
            Relation::Predicate(predicate) => self.predicates[&predicate].0,
        };
        let start = [weight(a.relation), weight(b.relation)];
        let Some([left, right]) = self.weights(work, start, &a.arguments, &b.arguments)? else {
            return Ok(false);
        };
        match (a.relation, b.relation) {
            _ if left != right => Ok(left > right),
            (a_relation, b_relation) if a_relation == b_relation => {
                self.are_greater(work, &a.arguments, &b.arguments)
            }
            (Relation::Predicate(a), Relation::Predicate(b)) => {
                Ok(self.predicates[&a].1 > self.predicates[&b].1)
            }
            // Disequalities are lower than predicates, and incomparable if their sorts differ.
            (Relation::Predicate(_), Relation::Distinct(_)) => Ok(true),
            (Relation::Distinct(_), _) => Ok(false),
        }
    }

    /// Whether arguments of the same symbol are greater.
    fn are_greater<'s>(&self, work: &Work<'s>, mut a: &'s [Term], mut b: &'s [Term]) -> Result<bool, Stop> {
        let store = work.store;
        loop {
            work.go_on()?;
            let Some((&s, &t)) = a.iter().zip(b).find(|(s, t)| s != t) else { return Ok(false) };
            let Some([left, right]) = self.weights(work, [0, 0], &[s], &[t])? else { return Ok(false) };
            if left != right {
                return Ok(left > right);
            }
            match (store.view(s), store.view(t)) {
                // The variable occurs in the other term.
                (_, (Op::Var(_), _)) => return Ok(true),
                ((Op::Construct(c), fields), (Op::Construct(d), others)) => {
                    if c != d {
                        let place = |id: ConstructorId| self.constructors[&store.constructor(id).name].1;
                        return Ok(place(c) > place(d));
                    }
                    (a, b) = (fields, others);
                }
                _ => return Ok(false),
            }
        }
    }

    /// The weights of two sequences of terms, added to given ones; `None` if a variable occurs more often in the second one.
    fn weights(
        &self,
        work: &Work<'_>,
        start: [u64; 2],
        a: &[Term],
        b: &[Term],
    ) -> Result<Option<[u64; 2]>, Stop> {
        let store = work.store;
        let mut surplus: FxHashMap<Term, i64> = FxHashMap::default();
        let mut weights = start;
        for (side, terms) in [a, b].into_iter().enumerate() {
            let mut open = terms.to_vec();
            while let Some(term) = open.pop() {
                work.go_on()?;
                weights[side] += match store.view(term) {
                    (Op::Construct(constructor), fields) => {
                        open.extend(fields);
                        self.constructors[&store.constructor(constructor).name].0
                    }
                    (Op::Var(_), _) => {
                        *surplus.entry(term).or_default() += if side == 0 { 1 } else { -1 };
                        self.variable
                    }
                    _ => self.variable,
                };
            }
        }
        Ok(surplus.values().all(|&surplus| surplus >= 0).then_some(weights))
    }
}

fn ranked<K: Copy + Eq + std::hash::Hash>(weights: &[(K, u32)]) -> FxHashMap<K, (u64, usize)> {
    let ranked = weights.iter().enumerate();
    ranked.map(|(place, &(symbol, weight))| (symbol, (u64::from(weight), place))).collect()
}
