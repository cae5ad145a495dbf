//! Words as numbers: the evaluation of operators, and of whole files step by step.
//!
//! This is the meaning of BTOR2 that counterexamples are checked by. It shares no code with the circuits of
//! [`words`](crate::words): words are integers here, and operators are those of arithmetic.

use dashu_int::{IBig, UBig};
use rustc_hash::FxHashMap;

use super::{Kind, Model, Operand, Run, State, Step};
use crate::check::Fault;
use crate::circuit::Property;
use crate::words::{Binary, Unary};

/// The number whose bits below the width are 1.
fn mask(width: usize) -> UBig {
    (UBig::ONE << width) - UBig::ONE
}

/// The bits of an integer below the width.
fn wrap(value: IBig, width: usize) -> UBig {
    let modulus = IBig::from(UBig::ONE << width);
    let mut rest = value % &modulus;
    if rest < IBig::ZERO {
        rest += modulus;
    }
    UBig::try_from(rest).unwrap_or_default()
}

/// The number in two's complement.
fn signed(value: &UBig, width: usize) -> IBig {
    match is_negative(value, width) {
        true => IBig::from(value.clone()) - IBig::from(UBig::ONE << width),
        false => IBig::from(value.clone()),
    }
}

fn is_negative(value: &UBig, width: usize) -> bool {
    *value >= UBig::ONE << (width - 1)
}

fn truth(value: bool) -> UBig {
    if value { UBig::ONE } else { UBig::ZERO }
}

/// The value of a unary operator.
pub fn unary(operator: Unary, argument: &UBig, width: usize) -> UBig {
    let number = || IBig::from(argument.clone());
    match operator {
        Unary::Not => mask(width) - argument,
        Unary::Inc => wrap(number() + IBig::ONE, width),
        Unary::Dec => wrap(number() - IBig::ONE, width),
        Unary::Neg => wrap(-number(), width),
        Unary::Redand => truth(*argument == mask(width)),
        Unary::Redor => truth(!argument.is_zero()),
        Unary::Redxor => truth(argument.count_ones() % 2 == 1),
    }
}

/// The value of a binary operator. The width is that of the left argument; `right_width` matters to concatenation only.
pub fn binary(operator: Binary, left: &UBig, right: &UBig, width: usize, right_width: usize) -> UBig {
    let (a, b) = (|| IBig::from(left.clone()), || IBig::from(right.clone()));
    let (s, t) = (|| signed(left, width), || signed(right, width));
    let fits = |value: IBig| {
        let half = IBig::from(UBig::ONE << (width - 1));
        -&half <= value && value < half
    };
    let flip = |value: UBig| mask(width) - value;
    // A shift of at least the width is the same as one by the width.
    let amount = || usize::try_from(right).map_or(width, |amount| amount.min(width));
    let rotation = || usize::try_from(right % UBig::from(width)).unwrap_or(0);
    let rotate_left = |by: usize| ((left << by) & mask(width)) | (left >> (width - by));
    match operator {
        Binary::Iff | Binary::Eq => truth(left == right),
        Binary::Implies => truth(left.is_zero() || !right.is_zero()),
        Binary::Neq => truth(left != right),
        Binary::Sgt => truth(s() > t()),
        Binary::Ugt => truth(left > right),
        Binary::Sgte => truth(s() >= t()),
        Binary::Ugte => truth(left >= right),
        Binary::Slt => truth(s() < t()),
        Binary::Ult => truth(left < right),
        Binary::Slte => truth(s() <= t()),
        Binary::Ulte => truth(left <= right),
        Binary::And => left & right,
        Binary::Nand => flip(left & right),
        Binary::Nor => flip(left | right),
        Binary::Or => left | right,
        Binary::Xnor => flip(left ^ right),
        Binary::Xor => left ^ right,
        Binary::Rol => rotate_left(rotation()),
        Binary::Ror => rotate_left(width - rotation()),
        Binary::Sll => (left << amount()) & mask(width),
        Binary::Srl => left >> amount(),
        Binary::Sra => wrap(s() >> amount(), width),
        Binary::Add => wrap(a() + b(), width),
        Binary::Sub => wrap(a() - b(), width),
        Binary::Mul => wrap(a() * b(), width),
        Binary::Udiv if right.is_zero() => mask(width),
        Binary::Udiv => left / right,
        Binary::Urem | Binary::Srem | Binary::Smod if right.is_zero() => left.clone(),
        Binary::Urem => left % right,
        Binary::Sdiv if right.is_zero() => match is_negative(left, width) {
            true => UBig::ONE,
            false => mask(width),
        },
        Binary::Sdiv => wrap(s() / t(), width),
        Binary::Srem => wrap(s() % t(), width),
        // The result has the divisor's sign.
        Binary::Smod => wrap((s() % t() + t()) % t(), width),
        Binary::Saddo => truth(!fits(s() + t())),
        Binary::Uaddo => truth(left + right > mask(width)),
        Binary::Sdivo => truth(!right.is_zero() && !fits(s() / t())),
        Binary::Udivo => UBig::ZERO,
        Binary::Smulo => truth(!fits(s() * t())),
        Binary::Umulo => truth(left * right > mask(width)),
        Binary::Ssubo => truth(!fits(s() - t())),
        Binary::Usubo => truth(left < right),
        Binary::Concat => (left << right_width) | right,
    }
}

/// Runs a file step by step.
pub struct Evaluator<'a> {
    model: &'a Model,
    /// By nodes: the value in the current step.
    values: Vec<UBig>,
    /// The number of steps so far.
    steps: usize,
}

impl<'a> Evaluator<'a> {
    /// Before step 0.
    pub fn new(model: &'a Model) -> Self {
        Self { model, values: vec![UBig::ZERO; model.nodes.len()], steps: 0 }
    }

    /// The value of an operand in the current step.
    pub fn value(&self, operand: Operand) -> UBig {
        let value = &self.values[operand.node];
        match operand.negated {
            true => mask(self.model.nodes[operand.node].width) - value,
            false => value.clone(),
        }
    }

    /// Whether an operand of one bit is true in the current step.
    fn holds(&self, operand: Operand) -> bool {
        !self.value(operand).is_zero()
    }

    /// By states: the value in the next step, if the state has a `next`.
    fn next_states(&self) -> Vec<Option<UBig>> {
        self.model.states.iter().map(|state| state.next.map(|next| self.value(next))).collect()
    }

    /// Goes on by a step, with the values of inputs and of states that have any value in it. A value that is given for
    /// a state whose value follows is compared with that; the error is the state's number.
    pub fn step(&mut self, given: &Step) -> Result<(), usize> {
        let model = self.model;
        // Next values are computed from those of the step before, initial values in the order of the file.
        let next = match self.steps {
            0 => vec![None; model.states.len()],
            _ => self.next_states(),
        };
        for (index, node) in model.nodes.iter().enumerate() {
            self.values[index] = match &node.kind {
                Kind::Input(input) => given.inputs.get(*input).cloned().unwrap_or_default(),
                Kind::State(state) => {
                    let init = model.states[*state].init.filter(|_| self.steps == 0);
                    let follows = init.map(|init| self.value(init)).or_else(|| next[*state].clone());
                    let given = given.states.get(*state).cloned().flatten();
                    match (follows, given) {
                        (Some(value), Some(given)) if value != given => return Err(*state),
                        (Some(value), _) | (None, Some(value)) => value,
                        (None, None) => UBig::ZERO,
                    }
                }
                Kind::Constant(value) => value.clone(),
                Kind::Unary(operator, argument) => {
                    unary(*operator, &self.value(*argument), model.width(*argument))
                }
                Kind::Binary(operator, [left, right]) => binary(
                    *operator,
                    &self.value(*left),
                    &self.value(*right),
                    model.width(*left),
                    model.width(*right),
                ),
                Kind::Ite(condition, [then, other]) => {
                    self.value(if self.value(*condition).is_zero() { *other } else { *then })
                }
                Kind::Slice(argument, low) => (self.value(*argument) >> *low) & mask(node.width),
                Kind::Extend(argument, false) => self.value(*argument),
                Kind::Extend(argument, true) => {
                    wrap(signed(&self.value(*argument), model.width(*argument)), node.width)
                }
            };
        }
        self.steps += 1;
        Ok(())
    }
}

/// Checks that a run keeps the constraints and violates all the properties: that its last step is bad, or that it has a
/// loop with all conditions.
pub fn check_run(model: &Model, properties: &[Property], run: &Run) -> Result<(), Fault> {
    let Some(last) = run.steps.len().checked_sub(1) else {
        return Err(Fault::Shape("the witness has no steps".to_owned()));
    };
    if properties.is_empty() {
        return Err(Fault::Shape("the witness names no property".to_owned()));
    }
    for property in properties {
        match property {
            Property::Bad(index) => {
                let mut is_bad = false;
                evaluate(model, run, |evaluator, _| {
                    is_bad = model.bads.get(*index).is_some_and(|&bad| evaluator.holds(bad));
                })?;
                if !is_bad {
                    return Err(Fault::NotBad { step: last });
                }
            }
            Property::Justice(index) => match model.justice.get(*index) {
                Some(conditions) => check_lasso(model, conditions, run)?,
                None => return Err(Fault::Shape(format!("the circuit has no property {property}"))),
            },
        }
    }
    Ok(())
}

/// Checks that a run has a loop in which the conditions, and those of fairness, are each true at some time. States
/// without `next` may have any value after it, so they can begin it again.
fn check_lasso(model: &Model, conditions: &[Operand], run: &Run) -> Result<(), Fault> {
    let recurring: Vec<Operand> = conditions.iter().chain(&model.fairness).copied().collect();
    // By values of the states with `next`: the first step that begins with them. By conditions: the last step in which
    // it is true.
    let mut first: FxHashMap<Vec<Option<UBig>>, usize> = FxHashMap::default();
    let mut last: Vec<Option<usize>> = vec![None; recurring.len()];
    let (mut recurs, mut is_fair) = (false, false);
    evaluate(model, run, |evaluator, step| {
        if step == 0 {
            let state = |state: &State| state.next.map(|_| evaluator.values[state.node].clone());
            first.insert(model.states.iter().map(state).collect(), 0);
        }
        for (last, _) in last.iter_mut().zip(&recurring).filter(|(_, operand)| evaluator.holds(**operand)) {
            *last = Some(step);
        }
        let start = *first.entry(evaluator.next_states()).or_insert(step + 1);
        if start <= step {
            recurs = true;
            is_fair |= last.iter().all(|last| last.is_some_and(|last| last >= start));
        }
    })?;
    match (recurs, is_fair) {
        (_, true) => Ok(()),
        (true, false) => Err(Fault::NotFair),
        (false, false) => Err(Fault::NoLoop),
    }
}

/// Evaluates a run step by step, and checks its states and the constraints.
fn evaluate(model: &Model, run: &Run, mut each: impl FnMut(&Evaluator<'_>, usize)) -> Result<(), Fault> {
    let mut evaluator = Evaluator::new(model);
    for (step, given) in run.steps.iter().enumerate() {
        evaluator.step(given).map_err(|state| {
            let name = model.name(model.states[state].node);
            Fault::Shape(format!("the value of state {name} in step {step} is not the one that follows"))
        })?;
        if let Some(constraint) = model.constraints.iter().position(|&operand| !evaluator.holds(operand)) {
            return Err(Fault::Violated { step, constraint });
        }
        each(&evaluator, step);
    }
    Ok(())
}
