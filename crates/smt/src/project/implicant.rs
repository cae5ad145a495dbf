//! Implicants: computes from a formula and its model a cube, a few literals that are true in the model and imply the
//! formula.
//!
//! The formula is traversed twice, each subformula once in either direction:
//!
//! ```text
//! judge, bottom-up     the truth value of every subformula, and what it costs to establish it
//! take, top-down       a true conjunction needs all parts, a true disjunction the cheapest true part,
//!                      ite its condition and the branch taken, or both branches; equivalences both sides
//!                      false formulas the dual
//! ```
//!
//! The model fixes the polarity of every subformula, so none is visited under both. Conjunctions are taken before
//! disjunctions, and a part taken before costs nothing, so that literals are shared.
//!
//! *Costs.* A literal without the variables to eliminate costs 1: it stays unchanged. A literal with such a variable
//! costs 3 if it is an equality, which can be solved, and 6 otherwise; it must be projected and loses generality. An
//! `ite` inside adds its condition, for 2. Costs of parts are summed, ignoring sharing.
//!
//! *Literals.* The cube's literals are normal and contain no `ite`: the branch that the model takes replaces it, and
//! its condition is added to the formulas to establish. If normalising turns an atom into a compound formula, that
//! formula is decomposed again, so chains, `distinct`, `abs` and the like need no special treatment. `div`, `mod` and
//! `to_int` stay: if they contain variables to eliminate, the elimination of numbers handles them.
//!
//! Invariants:
//! - M1: everything taken has a truth value in the model. Parts without a value are never chosen.
//! - M2: the literals are true in the model, and together with the open formulas they imply the added formulas.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{EvalError, Op, Sort, Term};

use super::ProjectError;
use super::context::Context;

/// The cost of a literal that stays.
const KEPT: u32 = 1;
/// The cost of an equality with a variable to eliminate.
const SOLVED: u32 = 3;
/// The cost of another literal with a variable to eliminate.
const PROJECTED: u32 = 6;
/// The additional cost of an `ite` inside a literal.
const CHOICE: u32 = 2;

/// Collects literals that imply formulas.
#[derive(Default)]
pub(super) struct Implicant {
    judged: FxHashMap<Term, Judgement>,
    /// The formulas taken.
    taken: FxHashSet<Term>,
    /// Formulas that can be established in one way only.
    forced: Vec<Term>,
    /// Formulas that can be established in several ways.
    choices: Vec<Term>,
    /// Terms with each `ite` replaced by the branch that the model takes.
    resolved: FxHashMap<Term, Term>,
    literals: Vec<Term>,
}

/// The value of a formula in the model, and the cost of establishing it.
#[derive(Clone, Copy)]
struct Judgement {
    value: Result<bool, EvalError>,
    cost: u32,
}

impl Implicant {
    /// Adds literals that imply the formulas, which must be true in the model.
    pub(super) fn add(
        &mut self,
        context: &mut Context<'_, '_>,
        formulas: &[Term],
    ) -> Result<(), ProjectError> {
        for &formula in formulas {
            match self.judge(context, formula).value {
                Ok(true) => self.forced.push(formula),
                Ok(false) => return Err(ProjectError::NotSatisfied(formula)),
                Err(error) => return Err(ProjectError::NoValue(error)),
            }
        }
        loop {
            if let Some(formula) = self.forced.pop() {
                self.take(context, formula)?;
            } else if let Some(formula) = self.choices.pop() {
                self.choose(context, formula);
            } else {
                return Ok(());
            }
        }
    }

    /// The literals, each once.
    pub(super) fn into_literals(self) -> Vec<Term> {
        self.literals
    }

    // ---- bottom-up ---------------------------------------------------------------------------------------

    /// Judges a formula and its parts.
    fn judge(&mut self, context: &mut Context<'_, '_>, formula: Term) -> Judgement {
        let mut stack = vec![formula];
        while let Some(&top) = stack.last() {
            if self.judged.contains_key(&top) {
                stack.pop();
                continue;
            }
            let Some(parts) = parts(context, top) else {
                let judgement = self.judge_atom(context, top);
                self.judged.insert(top, judgement);
                stack.pop();
                continue;
            };
            let height = stack.len();
            stack.extend(parts.iter().filter(|part| !self.judged.contains_key(part)));
            if stack.len() == height {
                let judgement = self.judge_connective(context, top, parts);
                self.judged.insert(top, judgement);
                stack.pop();
            }
        }
        self.judged[&formula]
    }

    fn judge_atom(&self, context: &mut Context<'_, '_>, atom: Term) -> Judgement {
        let value = context.truth(atom);
        let contents = context.contents(atom);
        let is_equality = || context.store.op(atom) == Op::Eq && value == Ok(true);
        let cost = match contents.variable {
            false => KEPT,
            true if is_equality() => SOLVED,
            true => PROJECTED,
        };
        Judgement { value, cost: cost + if contents.choice { CHOICE } else { 0 } }
    }

    /// The judgement of a formula from those of its parts.
    fn judge_connective(&self, context: &Context<'_, '_>, formula: Term, parts: &[Term]) -> Judgement {
        let of = |part: Term| self.judged[&part];
        let op = context.store.op(formula);
        if matches!(op, Op::And | Op::Or | Op::Implies) {
            if let Some(cost) = self.decisive(op, parts).map(|part| of(part).cost).min() {
                return Judgement { value: Ok(op != Op::And), cost };
            }
            let error = parts.iter().find_map(|&part| of(part).value.err());
            return Judgement { value: error.map_or(Ok(op == Op::And), Err), cost: self.total(parts) };
        }
        if op == Op::Ite {
            let value = match of(parts[0]).value {
                Ok(true) => of(parts[1]).value,
                Ok(false) => of(parts[2]).value,
                Err(error) => Err(error),
            };
            let ways = self.ways(context, formula, value);
            return Judgement { value, cost: ways.iter().map(|way| self.total(way)).min().unwrap_or(0) };
        }
        let mut truths = Vec::with_capacity(parts.len());
        for &part in parts {
            match of(part).value {
                Ok(truth) => truths.push(truth),
                Err(error) => return Judgement { value: Err(error), cost: 0 },
            }
        }
        let value = match op {
            Op::Not => !truths[0],
            Op::Xor => truths.iter().filter(|&&truth| truth).count() % 2 == 1,
            Op::Eq => truths.windows(2).all(|pair| pair[0] == pair[1]),
            Op::Distinct => truths.len() < 3 && truths.windows(2).all(|pair| pair[0] != pair[1]),
            _ => unreachable!("`parts` knows no other connectives"),
        };
        Judgement { value: Ok(value), cost: self.total(parts) }
    }

    fn total(&self, formulas: &[Term]) -> u32 {
        formulas.iter().fold(0, |sum: u32, part| sum.saturating_add(self.judged[part].cost))
    }

    // ---- top-down ----------------------------------------------------------------------------------------

    /// Establishes the value of a judged formula.
    fn take(&mut self, context: &mut Context<'_, '_>, formula: Term) -> Result<(), ProjectError> {
        if !self.taken.insert(formula) {
            return Ok(());
        }
        let value = self.judge(context, formula).value.map_err(ProjectError::NoValue)?;
        let Some(parts) = parts(context, formula) else {
            return self.take_atom(context, formula, value);
        };
        match context.store.op(formula) {
            // All parts have the value that does not decide.
            op @ (Op::And | Op::Or | Op::Implies) if value == (op == Op::And) => {
                self.forced.extend(parts);
            }
            Op::And | Op::Or | Op::Implies | Op::Ite => self.choices.push(formula),
            _ => self.forced.extend(parts),
        }
        Ok(())
    }

    /// Takes the cheapest way to establish the value of a formula.
    fn choose(&mut self, context: &Context<'_, '_>, formula: Term) {
        let value = self.judged[&formula].value;
        let ways = self.ways(context, formula, value);
        let open = |part: &Term| !self.taken.contains(part);
        let cost = |way: &&Vec<Term>| {
            way.iter()
                .filter(|part| open(part))
                .fold(0, |sum: u32, part| sum.saturating_add(self.judged[part].cost))
        };
        if let Some(cheapest) = ways.iter().min_by_key(cost) {
            self.forced.extend(cheapest);
        }
    }

    /// The alternative sets of parts that establish the value of a junction with a decisive part, or of an `ite`.
    fn ways(
        &self,
        context: &Context<'_, '_>,
        formula: Term,
        value: Result<bool, EvalError>,
    ) -> Vec<Vec<Term>> {
        let (op, parts) = context.store.view(formula);
        let of = |part: Term| self.judged[&part].value;
        if op == Op::Ite {
            let mut ways = Vec::with_capacity(2);
            match of(parts[0]) {
                Ok(true) => ways.push(vec![parts[0], parts[1]]),
                Ok(false) => ways.push(vec![parts[0], parts[2]]),
                Err(_) => {}
            }
            if value.is_ok() && of(parts[1]) == value && of(parts[2]) == value {
                ways.push(vec![parts[1], parts[2]]);
            }
            return ways;
        }
        self.decisive(op, parts).map(|part| vec![part]).collect()
    }

    /// The parts of a junction that decide its value alone: false ones of `and`, true ones of `or`, false premises and
    /// a true conclusion of an implication.
    fn decisive<'p>(&self, op: Op, parts: &'p [Term]) -> impl Iterator<Item = Term> + use<'p, '_> {
        let last = parts.len() - 1;
        let decides = move |position: usize| match op {
            Op::And => false,
            Op::Implies => position == last,
            _ => true,
        };
        let parts = parts.iter().copied().enumerate();
        parts
            .filter(move |&(position, part)| self.judged[&part].value == Ok(decides(position)))
            .map(|(_, part)| part)
    }

    /// Takes an atom as a literal, or decomposes its normal form.
    fn take_atom(
        &mut self,
        context: &mut Context<'_, '_>,
        atom: Term,
        value: bool,
    ) -> Result<(), ProjectError> {
        let normal = context.store.normalize(atom);
        if normal == atom {
            self.take_normal(context, atom, value)
        } else {
            self.replace(context, normal, value)
        }
    }

    /// Establishes the value that a normal formula has in the model.
    fn replace(
        &mut self,
        context: &mut Context<'_, '_>,
        formula: Term,
        value: bool,
    ) -> Result<(), ProjectError> {
        let (atom, holds) = context.store.literal(formula);
        let value = value == holds;
        if parts(context, atom).is_some() {
            self.judge(context, atom).value.map_err(ProjectError::NoValue)?;
            self.forced.push(atom);
            return Ok(());
        }
        if self.taken.insert(atom) { self.take_normal(context, atom, value) } else { Ok(()) }
    }

    /// Takes a normal atom as a literal.
    fn take_normal(
        &mut self,
        context: &mut Context<'_, '_>,
        atom: Term,
        value: bool,
    ) -> Result<(), ProjectError> {
        let store = context.store;
        if matches!(atom, Term::TRUE | Term::FALSE) {
            return Ok(());
        }
        if context.contents(atom).choice {
            let resolved = self.resolve(context, atom)?;
            return self.replace(context, resolved, value);
        }
        if store.op(atom) == Op::Distinct && (!value || context.mentions(atom)) {
            return self.take_distinct(context, atom, value);
        }
        self.literals.push(store.signed(atom, value));
        Ok(())
    }

    /// `distinct` on many terms. If it is false: two equal terms. Otherwise: neighbours in the order of their values if
    /// the sort has an order, and all pairs if not.
    fn take_distinct(
        &mut self,
        context: &mut Context<'_, '_>,
        atom: Term,
        value: bool,
    ) -> Result<(), ProjectError> {
        let store = context.store;
        let mut ordered = Vec::new();
        for &arg in store.args(atom) {
            ordered.push((context.evaluator.eval(arg).map_err(ProjectError::NoValue)?, arg));
        }
        ordered.sort_by(|(a, _), (b, _)| store.compare_values(a, b));
        for (position, pair) in ordered.windows(2).enumerate() {
            let [(value_a, a), (value_b, b)] = pair else { continue };
            if !value {
                if value_a == value_b {
                    return self.replace(context, store.eq(*a, *b), true);
                }
            } else if store.sort_of(*a).is_arithmetic() {
                self.replace(context, store.lt(*a, *b), true)?;
            } else {
                for (_, other) in &ordered[position + 1..] {
                    self.replace(context, store.eq(*a, *other), false)?;
                }
            }
        }
        Ok(())
    }

    /// A normal term with each `ite` replaced by the branch that the model takes. The conditions are added to the
    /// formulas to establish.
    fn resolve(&mut self, context: &mut Context<'_, '_>, term: Term) -> Result<Term, ProjectError> {
        let store = context.store;
        let mut stack = vec![term];
        while let Some(&top) = stack.last() {
            if self.resolved.contains_key(&top) {
                stack.pop();
                continue;
            }
            if !context.contents(top).choice {
                self.resolved.insert(top, top);
                stack.pop();
                continue;
            }
            let (op, args) = store.view(top);
            let image = if op == Op::Ite && store.sort_of(top) != Sort::BOOL {
                let condition = context.truth(args[0]).map_err(ProjectError::NoValue)?;
                let branch = if condition { args[1] } else { args[2] };
                let Some(&image) = self.resolved.get(&branch) else {
                    stack.push(branch);
                    continue;
                };
                self.judge(context, args[0]);
                self.forced.push(args[0]);
                image
            } else {
                let height = stack.len();
                stack.extend(args.iter().filter(|arg| !self.resolved.contains_key(arg)));
                if stack.len() > height {
                    continue;
                }
                let args: Vec<Term> = args.iter().map(|arg| self.resolved[arg]).collect();
                store.build(op, &args).expect("branches have the sort of the choice")
            };
            self.resolved.insert(top, image);
            stack.pop();
        }
        Ok(self.resolved[&term])
    }
}

/// The parts of a formula whose operator is a connective; `None` for atoms.
fn parts<'a>(context: &Context<'_, 'a>, formula: Term) -> Option<&'a [Term]> {
    let (op, args) = context.store.view(formula);
    match op {
        Op::Not | Op::And | Op::Or | Op::Xor | Op::Implies | Op::Ite if !args.is_empty() => Some(args),
        Op::Eq | Op::Distinct if context.store.sort_of(args[0]) == Sort::BOOL => Some(args),
        _ => None,
    }
}
