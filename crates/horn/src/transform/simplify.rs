//! Simplifies the constraints of clauses, and eliminates local variables if nothing becomes larger.
//!
//! A label is a formula with existential variables, its locals. Nodes and edges stay unchanged. Four steps are repeated
//! while something changes, up to a bound:
//!
//! | step | before | after |
//! |---|---|---|
//! | context | `x <= 5 and (x <= 7 or p)`; `x = 2 and y < x + z` | `x <= 5`; `x = 2 and y < z + 2` |
//! | equations | `l = x + 1 and y < l` | `y < x + 1` |
//! | monotone variables | `x < l and (p or y < l)` | `true` |
//! | Fourier-Motzkin | `x < l and l <= y and l <= z`, over the reals | `x < y and x < z` |
//!
//! - Context: literals that are conjuncts also hold in the other conjuncts, as do their bounds on sums. They themselves
//!   stay.
//! - Equations are solved for locals (`equations.rs`).
//! - A local is *monotone* if all atoms that mention it become true together, in the polarity in which they occur, when
//!   it is large enough, or all when it is small enough; or if it is a Boolean and occurs in one polarity. This is the
//!   pure literal rule, extended to arithmetic.
//! - Fourier-Motzkin elimination applies to locals that occur only in bounds, if the number of bounds does not grow
//!   (`shofar_logic::fourier_motzkin`). For integers it is exact if in each pair of bounds one coefficient is a unit.
//!
//! The way back: each new label is equivalent to the old one for all arguments, after quantification of the locals. So
//! models stay models, and derivations, which do not give values to locals, stay derivations.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::fourier_motzkin::{Inequality, Side, VariableBound, shadow, sides};
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Op, Relation, Sort, Term, TermStore};
use shofar_smt::known_literals::{Interval, KnownLiterals};

use super::equations::solve;
use super::subgraph::{Edges, SameNodes};
use crate::Context;
use crate::graph::HornGraph;
use crate::transform::{Transformation, Transformed};

/// The maximal number of rounds on one label.
const MOST_ROUNDS: usize = 6;
/// The number of summands by which eliminating one variable may lengthen all bounds together.
const MOST_GROWTH: usize = 8;

/// Simplifies labels and eliminates local variables.
#[derive(Clone, Copy, Default, Debug)]
pub struct Simplify;

impl Transformation for Simplify {
    fn name(&self) -> &'static str {
        "simplify"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        let mut new = graph.without_edges();
        let mut is_changed = false;
        for (id, edge) in graph.edges() {
            let mut label = edge.label();
            if context.interrupted().is_none() {
                let locals: FxHashSet<Term> = graph.locals(store, id).into_iter().collect();
                label = simplified(store, label, &locals);
                is_changed |= label != edge.label();
            }
            new.add_edge(edge.sources(), edge.target(), label);
        }
        let origins = graph.edges().map(|(id, _)| id).collect();
        is_changed.then(|| Transformed { graph: new, translation: Box::new(SameNodes(Edges { origins })) })
    }
}

/// A normal formula that is equivalent to the given normal formula under existential quantification of the locals.
pub(super) fn simplified(store: &TermStore, formula: Term, locals: &FxHashSet<Term>) -> Term {
    let mut formula = formula;
    for _ in 0..MOST_ROUNDS {
        let before = formula;
        formula = by_context(store, formula);
        if !locals.is_empty() {
            let rest = solve(store, formula, |variable| locals.contains(&variable).then_some(0)).rest;
            formula = without_monotone(store, store.and(&rest), locals);
            formula = without_bounded(store, formula, locals);
        }
        if formula == before {
            break;
        }
    }
    formula
}

// ---- context -----------------------------------------------------------------------------------------------

/// The normal formula after the literals among its conjuncts are used in the others and bounds on the same sum are
/// joined.
///
/// A fact is used only in terms larger than itself, so no two facts justify each other.
pub(crate) fn by_context(store: &TermStore, formula: Term) -> Term {
    let conjuncts: Vec<Term> = store.conjuncts(formula).collect();
    let mut facts = KnownLiterals::new(store);
    for &conjunct in &conjuncts {
        if !matches!(store.op(store.literal(conjunct).0), Op::And | Op::Or | Op::Ite) {
            facts.add(conjunct);
        }
    }
    if facts.is_contradictory() {
        return Term::FALSE;
    }
    if facts.is_empty() {
        return formula;
    }
    let mut images = Images { store, facts: &facts, images: FxHashMap::default() };
    images.add(&conjuncts);
    let others = conjuncts.iter().filter(|&&conjunct| Interval::of(store, conjunct).is_none());
    let others = others.map(|&conjunct| match store.literal(conjunct) {
        // For the fact itself, only the arguments are simplified.
        (atom, true) if facts.contains(atom) => images.rebuilt(atom),
        (atom, false) if facts.contains(atom) => store.not(images.rebuilt(atom)),
        _ => images.image(conjunct),
    });
    let bounds = facts.intervals().flat_map(|(sum, interval)| {
        // The image of a variable with a known value would be the value.
        let image = if matches!(store.op(sum), Op::Var(_)) { sum } else { images.image(sum) };
        interval.literals(store, image)
    });
    store.and_of(others.chain(bounds).collect::<Vec<Term>>())
}

/// The simplified forms of terms under the facts.
struct Images<'a> {
    store: &'a TermStore,
    facts: &'a KnownLiterals<'a>,
    /// Only for terms that change.
    images: FxHashMap<Term, Term>,
}

impl Images<'_> {
    fn add(&mut self, roots: &[Term]) {
        for term in self.store.subterms(roots) {
            let image = match self.facts.truth(term) {
                Some(truth) => self.store.bool(truth),
                None => match self.value(term) {
                    Some(value) => value,
                    None => self.rebuilt(term),
                },
            };
            if image != term {
                self.images.insert(term, image);
            }
        }
    }

    /// The known numeric value of a variable.
    fn value(&self, term: Term) -> Option<Term> {
        if !matches!(self.store.op(term), Op::Var(_)) {
            return None;
        }
        let value = self.facts.interval(term)?.value()?;
        Some(LinearPoly::from_constant(value.clone()).to_term(self.store, self.store.sort_of(term)))
    }

    fn image(&self, term: Term) -> Term {
        self.images.get(&term).copied().unwrap_or(term)
    }

    /// The term with its arguments replaced.
    fn rebuilt(&self, term: Term) -> Term {
        let (op, args) = self.store.view(term);
        let images: Vec<Term> = args.iter().map(|&arg| self.image(arg)).collect();
        if images == args {
            return term;
        }
        self.store.build(op, &images).expect("images have the sorts of the terms")
    }
}

// ---- monotone variables --------------------------------------------------------------------------------

/// The direction in which a variable must go for atoms to become true.
const UP: u8 = 1;
const DOWN: u8 = 2;
const BOTH: u8 = UP | DOWN;

/// The formula without monotone locals: the atoms that mention one become true.
fn without_monotone(store: &TermStore, formula: Term, locals: &FxHashSet<Term>) -> Term {
    let polarities = polarities(store, formula);
    // The directions of locals; a Boolean goes up to become true.
    let mut directions: FxHashMap<Term, u8> = FxHashMap::default();
    let mut opaque: Vec<Term> = Vec::new();
    for &(atom, polarity) in &polarities {
        if locals.contains(&atom) {
            *directions.entry(atom).or_default() |= polarity;
        } else if let Some(bound) = store.bound(atom) {
            let poly = bound.poly(store);
            for (monomial, factor) in poly.terms() {
                if !locals.contains(monomial) {
                    opaque.push(*monomial);
                    continue;
                }
                // A sum bounded from above goes down. A sum in a disequality may go anywhere.
                let wanted = match (bound.relation, polarity) {
                    (Relation::Equal, DOWN) => 0,
                    (Relation::Equal, _) | (_, BOTH) => BOTH,
                    (_, polarity) => {
                        if factor.is_positive() {
                            BOTH ^ polarity
                        } else {
                            polarity
                        }
                    }
                };
                *directions.entry(*monomial).or_default() |= wanted;
            }
        } else {
            opaque.extend_from_slice(store.args(atom));
        }
    }
    for part in store.subterms(&opaque) {
        directions.remove(&part);
    }
    directions.retain(|_, direction| *direction != BOTH);
    if directions.is_empty() {
        return formula;
    }
    let mut truths: FxHashMap<Term, Term> = FxHashMap::default();
    for &(atom, polarity) in &polarities {
        let is_monotone = directions.contains_key(&atom)
            || store.bound(atom).is_some_and(|bound| {
                bound.poly(store).terms().iter().any(|(monomial, _)| directions.contains_key(monomial))
            });
        if is_monotone {
            truths.insert(atom, store.bool(polarity == UP));
        }
    }
    with_truths(store, formula, truths)
}

/// The atoms of a formula with their polarities: `UP` if they help to make it true, `DOWN` if their negations do.
fn polarities(store: &TermStore, formula: Term) -> Vec<(Term, u8)> {
    let skeleton = store.subterms_until(&[formula], |term| !store.is_connective(term));
    let mut polarities: FxHashMap<Term, u8> = FxHashMap::from_iter([(formula, UP)]);
    let mut atoms = Vec::new();
    // Top down: arguments have smaller indices.
    for &term in skeleton.iter().rev() {
        let polarity = polarities.get(&term).copied().unwrap_or_default();
        if !store.is_connective(term) {
            atoms.push((term, polarity));
            continue;
        }
        let (op, args) = store.view(term);
        for (position, &arg) in args.iter().enumerate() {
            *polarities.entry(arg).or_default() |= match op {
                Op::And | Op::Or => polarity,
                Op::Ite if position > 0 => polarity,
                Op::Not if polarity != BOTH => BOTH ^ polarity,
                _ => BOTH,
            };
        }
    }
    atoms
}

/// Replaces atoms of the formula by truth values.
fn with_truths(store: &TermStore, formula: Term, truths: FxHashMap<Term, Term>) -> Term {
    let mut images = truths;
    for term in store.subterms_until(&[formula], |term| !store.is_connective(term)) {
        if images.contains_key(&term) || !store.is_connective(term) {
            continue;
        }
        let (op, args) = store.view(term);
        let replaced: Vec<Term> = args.iter().map(|arg| images.get(arg).copied().unwrap_or(*arg)).collect();
        if replaced != args {
            images.insert(term, store.build(op, &replaced).expect("truth values are formulas"));
        }
    }
    images.get(&formula).copied().unwrap_or(formula)
}

// ---- Fourier and Motzkin -------------------------------------------------------------------------------------

/// The formula without the locals that occur only in bounds and can be eliminated without growth.
fn without_bounded(store: &TermStore, formula: Term, locals: &FxHashSet<Term>) -> Term {
    let mut conjuncts: Vec<Term> = store.conjuncts(formula).collect();
    let inequalities: Vec<Option<Inequality>> =
        conjuncts.iter().map(|&conjunct| inequality(store, conjunct)).collect();
    let mut opaque: Vec<Term> = Vec::new();
    // The conjuncts that bound each local. `bounded` fixes the order, so that results do not depend on the hash table.
    let mut bounded: Vec<Term> = Vec::new();
    let mut places: FxHashMap<Term, Vec<usize>> = FxHashMap::default();
    for (place, (&conjunct, inequality)) in conjuncts.iter().zip(&inequalities).enumerate() {
        let Some(inequality) = inequality else {
            opaque.push(conjunct);
            continue;
        };
        for (monomial, _) in inequality.poly.terms() {
            if locals.contains(monomial) {
                let places = places.entry(*monomial).or_default();
                if places.is_empty() {
                    bounded.push(*monomial);
                }
                places.push(place);
            } else {
                opaque.push(*monomial);
            }
        }
    }
    for part in store.subterms(&opaque) {
        places.remove(&part);
    }
    let mut is_used = vec![false; conjuncts.len()];
    for local in bounded {
        let Some(places) = places.get(&local) else { continue };
        if places.iter().any(|&place| is_used[place]) {
            continue;
        }
        let bounds = places.iter().filter_map(|&place| inequalities[place].as_ref()?.bound_of(local));
        if let Some(results) = combined(store, bounds, store.sort_of(local)) {
            for &place in places {
                is_used[place] = true;
                conjuncts[place] = Term::TRUE;
            }
            conjuncts.extend(results);
        }
    }
    store.and(&conjuncts)
}

/// The conjunct as an inequality.
fn inequality(store: &TermStore, conjunct: Term) -> Option<Inequality> {
    let bound = store.bound(conjunct)?;
    let (relation, number) = bound.rounded(store);
    let mut poly = LinearPoly::from_term(store, bound.sum);
    poly.add_constant(&-number);
    match relation {
        Relation::Below | Relation::AtMost => {}
        Relation::Above | Relation::AtLeast => poly.scale(&-Rational::ONE),
        Relation::Equal | Relation::Different => return None,
    }
    let is_strict = matches!(relation, Relation::Below | Relation::Above);
    Some(Inequality { poly, is_strict })
}

/// Eliminates a variable from its bounds by combining each lower with each upper one. `None` if that is not exact or
/// too large.
fn combined(
    store: &TermStore,
    bounds: impl Iterator<Item = (Side, VariableBound)>,
    sort: Sort,
) -> Option<Vec<Term>> {
    let (lower, upper) = sides(bounds);
    let count = lower.len() + upper.len();
    if lower.len() * upper.len() > count {
        return None;
    }
    let summands =
        |bounds: &[VariableBound]| bounds.iter().map(|bound| bound.rest.terms().len()).sum::<usize>();
    let before = summands(&lower) + summands(&upper) + count;
    let after = summands(&lower) * upper.len() + summands(&upper) * lower.len();
    if after > before + MOST_GROWTH {
        return None;
    }
    let all_unit = |bounds: &[VariableBound]| bounds.iter().all(|bound| bound.factor.is_one());
    if sort == Sort::INT && !all_unit(&lower) && !all_unit(&upper) {
        return None;
    }
    let zero = LinearPoly::default().to_term(store, sort);
    let literal = |Inequality { poly, is_strict }: Inequality| {
        let sum = poly.to_term(store, sort);
        if is_strict { store.lt(sum, zero) } else { store.le(sum, zero) }
    };
    Some(shadow(&lower, &upper).map(literal).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture {
        store: TermStore,
    }

    impl Fixture {
        fn int(&self, name: &str) -> Term {
            self.store.var(self.store.symbol(name), Sort::INT)
        }

        fn real(&self, name: &str) -> Term {
            self.store.var(self.store.symbol(name), Sort::REAL)
        }

        fn bool(&self, name: &str) -> Term {
            self.store.var(self.store.symbol(name), Sort::BOOL)
        }

        fn simplified(&self, conjuncts: &[Term], locals: &[Term]) -> Term {
            simplified(&self.store, self.store.and(conjuncts), &locals.iter().copied().collect())
        }
    }

    /// The table in the module documentation.
    #[test]
    fn each_step_does_what_its_line_says() {
        let fixture = Fixture { store: TermStore::new() };
        let store = &fixture.store;
        let (x, y, z, l) = (fixture.int("x"), fixture.int("y"), fixture.int("z"), fixture.int("l"));
        let p = fixture.bool("p");
        let five = store.le(x, store.int(5));
        assert_eq!(fixture.simplified(&[five, store.or2(p, store.le(x, store.int(7)))], &[]), five);
        let two = store.eq(x, store.int(2));
        let expected = store.and2(two, store.lt(y, store.add(&[z, store.int(2)])));
        assert_eq!(fixture.simplified(&[two, store.lt(y, store.add(&[x, z]))], &[]), expected);
        let successor = store.add(&[x, store.int(1)]);
        assert_eq!(
            fixture.simplified(&[store.eq(l, successor), store.lt(y, l)], &[l]),
            store.lt(y, successor)
        );
        assert_eq!(fixture.simplified(&[store.lt(x, l), store.or2(p, store.lt(y, l))], &[l]), Term::TRUE);
        let (x, y, z, l) = (fixture.real("a"), fixture.real("b"), fixture.real("c"), fixture.real("d"));
        assert_eq!(
            fixture.simplified(&[store.lt(x, l), store.le(l, y), store.le(l, z)], &[l]),
            store.and2(store.lt(x, y), store.lt(x, z))
        );
    }

    #[test]
    fn an_integer_between_bounds_with_coefficients_stays() {
        let fixture = Fixture { store: TermStore::new() };
        let store = &fixture.store;
        let (x, y, l) = (fixture.int("x"), fixture.int("y"), fixture.int("l"));
        let (double, triple) = (store.add(&[l, l]), store.add(&[l, l, l]));
        let bounds = [store.le(x, double), store.le(triple, y)];
        assert_eq!(fixture.simplified(&bounds, &[l]), store.and(&bounds));
        assert_eq!(
            fixture.simplified(&[store.le(x, double), store.le(l, y)], &[l]),
            store.le(x, store.add(&[y, y]))
        );
    }

    #[test]
    fn contradictory_bounds_are_false_and_equal_ones_are_values() {
        let fixture = Fixture { store: TermStore::new() };
        let store = &fixture.store;
        let (x, y) = (fixture.int("x"), fixture.int("y"));
        let three = store.int(3);
        let bounds = [store.le(x, three), store.ge(x, three), store.lt(x, y)];
        assert_eq!(fixture.simplified(&bounds, &[]), store.and2(store.eq(x, three), store.lt(three, y)));
        let sum = store.add(&[x, y]);
        assert_eq!(fixture.simplified(&[store.lt(sum, three), store.gt(sum, three)], &[]), Term::FALSE);
    }
}
