//! Models for people: the same meaning, shorter and plainer.
//!
//! Engines and translations assemble definitions without simplifying the whole. Each definition passes through these
//! stages, all of which keep its meaning:
//!
//! ```text
//! structure    common members taken out, subsumed literals dropped      shofar_smt::interpolate::simplify
//! context      what literals say is used beside them: constants, equalities, bounds that join
//!              to intervals and values                                  the transformation `simplify`
//! borders      x <= 3 and x != 3 is x < 3; x <= 3 or x = 4 is x <= 4
//! redundancy   parts that the rest implies, by the solver               redundancy.rs
//! equivalences (a or -b) and (-a or b) is a = b
//! notation     comparisons as people write them, members in order       notation.rs
//! ```
//!
//! - R1: the new model is equivalent to the old one. A fresh solver proves each new definition equivalent to the old
//!   one, unless they have the same normal form. If it does not succeed in time, only the notation changes. Whoever
//!   prints the new model has the checker judge it: R1 explains why it is valid, but is not trusted.
//! - R2: the limits of the context bound all this. Each definition gets an equal share of the time that its
//!   predecessors left.

use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Sort, Term, TermStore};
use shofar_run::Limits;
use shofar_smt::interpolate::simplify;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::notation::written;
use super::redundancy::without_redundancy;
use super::{Definition, Interpretation, Model};
use crate::Context;
use crate::transform::by_context;

/// The maximal number of subterms of a formula whose junctions are simplified one by one, which takes quadratic time.
const MOST_SUBTERMS: usize = 2000;

/// Rounds of the stages before notation.
const MOST_ROUNDS: usize = 3;

impl Model {
    /// An equivalent model that is easier to read.
    pub fn readable(&self, context: &Context<'_>) -> Model {
        let mut left = self.definitions.len();
        let definitions = self.definitions.iter().map(|definition| {
            let context = with_share(context, left);
            left -= 1;
            let Definition { parameters, interpretation } = definition;
            let interpretation = match interpretation {
                Interpretation::Formula(formula) => {
                    readable(&context, parameters, *formula).unwrap_or(*formula).into()
                }
            };
            Definition { parameters: parameters.clone(), interpretation }
        });
        Model { definitions: definitions.collect(), lemmas: self.lemmas.clone() }
    }
}

/// The context with a share of the remaining time.
fn with_share<'a>(context: &Context<'a>, shares: usize) -> Context<'a> {
    let now = Instant::now();
    let share = |deadline: Instant| {
        let left = deadline.saturating_duration_since(now);
        now + left / u32::try_from(shares.max(1)).unwrap_or(u32::MAX)
    };
    let deadline = context.limits.deadline.map(share);
    Context { limits: Limits { deadline, ..context.limits }, ..*context }
}

/// An equivalent formula that is easier to read (R1): a simpler one, or at least a plainer one.
fn readable(context: &Context<'_>, parameters: &[Term], formula: Term) -> Option<Term> {
    let store = context.store;
    if store.is_quantified(formula) {
        return None;
    }
    let is_same = |candidate: &Term| is_same(context, formula, *candidate);
    let plain = || written(store, parameters, store.normalize(formula));
    simplified(context, parameters, formula).filter(is_same).or_else(|| Some(plain()).filter(is_same))
}

/// A simpler formula, unless the time is over. It uses half of the remaining time.
fn simplified(context: &Context<'_>, parameters: &[Term], formula: Term) -> Option<Term> {
    context.interrupted().is_none().then_some(())?;
    let (store, context) = (context.store, &with_share(context, 2));
    let mut formula = simplify::structural(store, formula).formula;
    for _ in 0..MOST_ROUNDS {
        let before = formula;
        if let Some(image) = junctions_in_context(context, formula) {
            formula = simplify::structural(store, image).formula;
        }
        formula = without_redundancy(context, formula);
        if formula == before || context.interrupted().is_some() {
            break;
        }
    }
    Some(written(store, parameters, with_equivalences(store, formula)))
}

/// Simplifies each junction of a normal formula by the context of its members, from the leaves up. A disjunction is the
/// negation of the conjunction of the negations. A subformula of several junctions may become different in each of
/// them: `None` if the result would be larger, or takes too long.
fn junctions_in_context(context: &Context<'_>, formula: Term) -> Option<Term> {
    let store = context.store;
    let is_inner = |term: Term| matches!(store.op(term), Op::And | Op::Or | Op::Not);
    let subterms = store.subterms_until(&[formula], |term| !is_inner(term));
    if subterms.len() > MOST_SUBTERMS {
        return Some(by_context(store, formula));
    }
    let mut images: FxHashMap<Term, Term> = FxHashMap::default();
    for term in subterms {
        context.interrupted().is_none().then_some(())?;
        let (op, args) = store.view(term);
        let image = if is_inner(term) {
            let args: Vec<Term> = args.iter().map(|arg| images[arg]).collect();
            match op {
                Op::And => conjunction_in_context(store, store.and(&args)),
                Op::Or => store.not(conjunction_in_context(store, store.not(store.or(&args)))),
                _ => store.not(args[0]),
            }
        } else {
            term
        };
        images.insert(term, image);
    }
    let size = |formula: Term| store.subterms(&[formula]).len();
    Some(images[&formula]).filter(|&image| size(image) <= size(formula))
}

fn conjunction_in_context(store: &TermStore, conjunction: Term) -> Term {
    without_borders(store, by_context(store, conjunction))
}

/// The normal conjunction with bounds made strict if their border is excluded.
fn without_borders(store: &TermStore, conjunction: Term) -> Term {
    let (Op::And, members) = store.view(conjunction) else { return conjunction };
    let mut members = members.to_vec();
    let mut is_member: FxHashSet<Term> = members.iter().copied().collect();
    let mut is_changed = false;
    // A bound that became strict may end at the next border.
    let mut next = 0;
    while next < members.len() {
        let member = members[next];
        next += 1;
        let (Op::Not, &[equation]) = store.view(member) else { continue };
        let (Op::Eq, &[sum, number]) = store.view(equation) else { continue };
        if !matches!(store.sort_of(sum), Sort::INT | Sort::REAL) {
            continue;
        }
        let sides =
            [(store.le(sum, number), store.lt(sum, number)), (store.ge(sum, number), store.gt(sum, number))];
        if let Some(&(bound, strict)) = sides.iter().find(|(bound, _)| is_member.contains(bound)) {
            members.retain(|&other| other != member && other != bound);
            is_member.remove(&member);
            is_member.remove(&bound);
            if is_member.insert(strict) {
                members.push(strict);
            }
            is_changed = true;
            next = 0;
        }
    }
    if is_changed { store.and(&members) } else { conjunction }
}

/// Replaces pairs of implications in both directions by equivalences.
fn with_equivalences(store: &TermStore, formula: Term) -> Term {
    store.rewrite(formula, &mut |op, args| {
        let built = || store.build(op, args).expect("formulas are replaced by formulas");
        if !matches!(op, Op::And | Op::Or) {
            return built();
        }
        let dual = if op == Op::And { Op::Or } else { Op::And };
        let pair = |member: Term| match store.view(member) {
            (kind, &[a, b]) if kind == dual => Some((a, b)),
            (Op::Not, &[inner]) => match store.view(inner) {
                (kind, &[a, b]) if kind == op => Some((store.not(a), store.not(b))),
                _ => None,
            },
            _ => None,
        };
        let mut members: Vec<Term> = Vec::new();
        // Pairs that wait for their counterparts, with their positions among the members.
        let mut waiting: FxHashMap<(Term, Term), usize> = FxHashMap::default();
        for &member in args {
            let place = members.len();
            members.push(member);
            let Some((a, b)) = pair(member) else { continue };
            let counterparts = [(store.not(a), store.not(b)), (store.not(b), store.not(a))];
            if let Some(other) = counterparts.iter().find_map(|pair| waiting.remove(pair)) {
                // (a or b) and (-a or -b) means that exactly one of them holds.
                let difference = store.iff(a, store.not(b));
                members[other] = if op == Op::And { difference } else { store.not(difference) };
                members.pop();
            } else {
                waiting.insert((a, b), place);
            }
        }
        if members.len() == args.len() {
            return built();
        }
        if op == Op::And { store.and(&members) } else { store.or(&members) }
    })
}

/// Whether a solver proves two formulas equivalent.
fn is_same(context: &Context<'_>, old: Term, new: Term) -> bool {
    let store = context.store;
    let difference = store.xor(store.normalize(old), store.normalize(new));
    if difference == Term::FALSE {
        return true;
    }
    let mut solver = Solver::new(store);
    solver.assert(difference).is_ok() && solver.check(&[], &context.limits) == Ok(Outcome::Unsat)
}

#[cfg(test)]
mod tests {
    use shofar_logic::Value;

    use super::*;

    fn parameters(store: &TermStore) -> Vec<Term> {
        let int = |name: &str| store.var(store.symbol(name), Sort::INT);
        vec![int("x"), int("y"), int("n"), store.var(store.symbol("b"), Sort::BOOL)]
    }

    fn model(parameters: Vec<Term>, body: Term) -> Model {
        Model {
            definitions: vec![Definition { parameters: parameters.into(), interpretation: body.into() }],
            ..Model::default()
        }
    }

    fn shown(text: &str) -> String {
        let store = TermStore::new();
        let parameters = parameters(&store);
        let mut environment = shofar_logic::smtlib::Environment::new(&store);
        let script = format!("f ((x Int) (y Int) (n Int) (b Bool)) Bool {text})");
        let mut reader = shofar_logic::smtlib::Reader::new(&store, &mut environment, script.as_bytes());
        let (_, _, body) = reader.interpretation().unwrap();
        let context = Context { store: &store, limits: Limits::default() };
        let readable = model(parameters, body).readable(&context).definitions[0].interpretation.formula();
        let readable = readable.expect("it is a formula");
        assert!(is_same(&context, body, readable));
        store.display(readable).to_string()
    }

    #[test]
    fn bounds_and_values() {
        assert_eq!(shown("(and (<= x 3) (not (<= x (- 1))) (<= x 5))"), "(and (>= x 0) (<= x 3))");
        assert_eq!(shown("(and (<= x 3) (>= x 3) (< y x))"), "(and (= x 3) (<= y 2))");
        assert_eq!(shown("(or (< x 3) (> x 3))"), "(not (= x 3))");
        assert_eq!(shown("(or (and (<= 0 x) (<= x 4)) (and (<= 0 x) (<= x 9)))"), "(and (>= x 0) (<= x 9))");
    }

    #[test]
    fn borders_and_equivalences() {
        assert_eq!(shown("(and (<= x 3) (not (= x 3)) (not (= x 2)))"), "(<= x 1)");
        assert_eq!(shown("(or (<= x 3) (= x 4))"), "(<= x 4)");
        assert_eq!(shown("(and (=> b (<= x y)) (=> (<= x y) b) (>= n 0))"), "(and (= b (<= x y)) (>= n 0))");
        assert_eq!(shown("(or (and b (<= x y)) (and (not b) (> x y)))"), "(= b (<= x y))");
    }

    /// A shared subformula differs in each context, and is far larger without sharing.
    #[test]
    fn shared_parts_stay_shared() {
        let store = TermStore::new();
        let parameters = parameters(&store);
        let mut formula = parameters[3];
        for step in 0..24 {
            let bound = store.le(parameters[step % 3], store.int(step as i64));
            let [both, neither] =
                [store.and2(bound, formula), store.and2(store.not(bound), store.not(formula))];
            formula = store.or2(both, neither);
        }
        let context = Context { store: &store, limits: Limits::default() };
        let size = |formula: Term| store.subterms(&[formula]).len();
        assert_eq!(junctions_in_context(&context, formula), None);
        let readable = readable(&context, &parameters, formula).expect("there are no quantifiers");
        // Notation writes formulas that occur in both polarities twice.
        assert!(size(readable) <= 3 * size(formula), "{} and {}", size(formula), size(readable));
    }

    #[test]
    fn redundant_parts_are_dropped() {
        assert_eq!(shown("(and (<= x y) (<= y n) (<= x n))"), "(and (<= x y) (<= y n))");
        assert_eq!(shown("(or (and b (<= x 3)) (and (not b) (<= x 3)))"), "(<= x 3)");
        assert_eq!(shown("(or (<= x 3) (>= x 2))"), "true");
        assert_eq!(shown("(and (<= (+ x y) 3) (>= x 2) (>= y 2))"), "false");
        assert_eq!(
            shown("(and (>= x 0) (or (< x 0) (and b (<= y n)) (and (not b) (<= y n))))"),
            "(and (>= x 0) (<= y n))"
        );
    }

    #[test]
    fn sides_and_implications() {
        assert_eq!(shown("(>= (+ x (* (- 1) y)) 1)"), "(> x y)");
        assert_eq!(shown("(= (+ (* 2 n) 3 (- y)) (- x))"), "(= y (+ x (* 2 n) 3))");
        assert_eq!(shown("(or (not b) (<= x n))"), "(=> b (<= x n))");
        assert_eq!(shown("(or (not (= x 1)) b (<= y 7))"), "(=> (= x 1) (or (<= y 7) b))");
    }

    /// Without time nothing is simplified, but the notation is plain.
    #[test]
    fn without_time_there_is_notation_only() {
        let store = TermStore::new();
        let parameters = parameters(&store);
        let [x, y] = [parameters[0], parameters[1]];
        let body = store.and(&[store.gt(x, y), store.le(x, store.int(3)), store.le(x, store.int(4))]);
        let deadline = Some(Instant::now());
        let context = Context { store: &store, limits: Limits { deadline, ..Limits::default() } };
        let body = model(parameters, body).readable(&context).definitions[0].interpretation.formula();
        assert_eq!(store.display(body.unwrap()).to_string(), "(and (<= x 3) (<= x 4) (> x y))");
    }

    /// Random formulas keep their meaning, by evaluation.
    #[test]
    fn random_formulas_keep_their_meaning() {
        let mut state = 0x2545_f491_4f6c_dd1du64;
        let mut random = move |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        for _ in 0..150 {
            let store = TermStore::new();
            let parameters = parameters(&store);
            let mut formulas: Vec<Term> = vec![parameters[3]];
            for _ in 0..12 {
                let term = |random: &mut dyn FnMut(u64) -> u64| {
                    let [a, b] = [parameters[random(3) as usize], parameters[random(3) as usize]];
                    let factor = store.int(random(5) as i64 - 2);
                    store.add(&[a, store.mul(&[factor, b])])
                };
                let (a, b) = (term(&mut random), store.int(random(7) as i64 - 3));
                let some =
                    |random: &mut dyn FnMut(u64) -> u64| formulas[random(formulas.len() as u64) as usize];
                formulas.push(match random(8) {
                    0 => store.le(a, b),
                    1 => store.gt(a, b),
                    2 => store.eq(a, b),
                    3 => store.iff(some(&mut random), some(&mut random)),
                    4 => store.not(some(&mut random)),
                    5 => store.ite(some(&mut random), some(&mut random), some(&mut random)),
                    6 => store.and(&[some(&mut random), some(&mut random), some(&mut random)]),
                    _ => store.or(&[some(&mut random), some(&mut random), some(&mut random)]),
                });
            }
            let body = formulas[formulas.len() - 1];
            let context = Context { store: &store, limits: Limits::default() };
            let new = simplified(&context, &parameters, body).unwrap();
            for _ in 0..40 {
                let mut assignment = shofar_logic::Assignment::new();
                for &parameter in &parameters[..3] {
                    assignment.set(parameter, Value::Int((random(9) as i64 - 4).into()));
                }
                assignment.set(parameters[3], Value::Bool(random(2) == 0));
                let [old, new] = [body, new].map(|formula| store.eval(formula, &assignment));
                assert_eq!(old, new, "{}", store.display(body));
            }
        }
    }
}
