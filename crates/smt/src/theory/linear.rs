//! Linear arithmetic as a theory of the search: atoms are bounds, the simplex kernel decides conjunctions.
//!
//! An atom `p <= c` or `p < c` is a bound on the kernel's variable for the linear form `p`, and so is its
//! negation; asserting either is asserting a bound with the literal as its reason. A conflict of the kernel is a
//! set of reasons, so it is a conflict of literals as it stands.
//!
//! Integers are decided by branch and bound: where the kernel is content with a fraction `v` for an integer
//! variable `x`, the search gets the new atom `x <= floor(v)`, whose negation is `x >= floor(v) + 1`, and has to
//! decide it. Problems without bounds may branch for ever, so branches are counted, and beyond a limit the
//! answer is that nobody knows.
//!
//! Invariants:
//! - L1: the kernel has one level for each level of the search.
//! - L2: the reason of every bound is the code of the true literal that asserted it.

use shofar_logic::number::Rational;

use super::arith::{self, Budget, Config, Conflict, DeltaRational, Outcome, Reason, Side, Simplex};
use crate::sat::{Answers, Certificate, Clash, Effort, Lit, Theory, Var};

/// How many branches a query may take.
const MOST_BRANCHES: usize = 2000;

/// How an atom compares its linear form with its constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

/// Linear arithmetic over reals and integers.
pub struct LinearArithmetic {
    simplex: Simplex,
    /// By variables of the search: what their atoms say.
    atoms: Vec<Option<Atom>>,
    /// The integer variables that may have to be branched on.
    integers: Vec<arith::Var>,
    /// Branches since the query began.
    branched: usize,
    /// The conflict found when a literal was asserted.
    conflict: Option<Conflict>,
}

/// The bound that an atom stands for, and the one that its negation stands for.
struct Atom {
    var: arith::Var,
    positive: (Side, DeltaRational),
    negative: (Side, DeltaRational),
}

impl Default for LinearArithmetic {
    fn default() -> Self {
        LinearArithmetic {
            simplex: Simplex::new(Config::default()),
            atoms: Vec::new(),
            integers: Vec::new(),
            branched: 0,
            conflict: None,
        }
    }
}

impl LinearArithmetic {
    /// A new number.
    pub fn new_var(&mut self, is_int: bool) -> arith::Var {
        let var = self.simplex.new_var(is_int);
        if is_int {
            self.integers.push(var);
        }
        var
    }

    /// Says what a variable of the search means: that the sum, which is not constant, compares so with the
    /// constant.
    pub fn define_atom(
        &mut self,
        atom: Var,
        sum: &[(arith::Var, Rational)],
        comparison: Comparison,
        constant: &Rational,
    ) {
        let (var, factor) = self.simplex.new_row(sum).expect("the sum of an atom is not constant");
        let constant = constant / &factor;
        let positive = match (comparison, factor.is_positive()) {
            (Comparison::AtMost, true) => (Side::Upper, DeltaRational::from(constant)),
            (Comparison::AtMost, false) => (Side::Lower, DeltaRational::from(constant)),
            (Comparison::Below, true) => (Side::Upper, DeltaRational::just_below(constant)),
            (Comparison::Below, false) => (Side::Lower, DeltaRational::just_above(constant)),
        };
        self.add_atom(atom, var, positive);
    }

    fn add_atom(&mut self, atom: Var, var: arith::Var, positive: (Side, DeltaRational)) {
        let negative = self.simplex.negation(var, positive.0, &positive.1);
        if self.atoms.len() <= atom.index() {
            self.atoms.resize_with(atom.index() + 1, || None);
        }
        self.atoms[atom.index()] = Some(Atom { var, positive, negative });
    }

    /// A query begins: branches are counted anew.
    pub fn start_query(&mut self) {
        self.branched = 0;
    }

    /// The values of all numbers, by index, after a final check that found nothing.
    pub fn model(&self) -> Vec<Rational> {
        self.simplex.model()
    }

    fn report(conflict: &Conflict, answers: &mut Answers) {
        let lits: Vec<Lit> = conflict.terms.iter().map(|term| Lit::from_code(term.reason.0)).collect();
        answers.conflict(&lits, Certificate(0));
    }

    /// Splits on the first integer variable that has a fraction for its value.
    fn branch(&mut self, answers: &mut Answers) {
        let fractional = self.integers.iter().find(|&&var| !self.simplex.value(var).is_integer());
        let Some(&var) = fractional else { return };
        if self.branched == MOST_BRANCHES {
            answers.give_up();
            return;
        }
        self.branched += 1;
        // Had this atom been made before, it would be assigned, and the bound would exclude the fraction.
        let floor = self.simplex.value(var).floor();
        let atom = answers.new_atom();
        self.add_atom(atom, var, (Side::Upper, DeltaRational::from(Rational::from(floor))));
    }
}

impl Theory for LinearArithmetic {
    fn assert(&mut self, lit: Lit) -> Result<(), Clash> {
        let atom =
            self.atoms[lit.var().index()].as_ref().expect("atoms are defined before they are asserted");
        let (side, bound) = if lit.is_positive() { &atom.positive } else { &atom.negative };
        let result = self.simplex.assert_bound(atom.var, *side, bound.clone(), Reason(lit.code()));
        result.map_err(|conflict| {
            self.conflict = Some(conflict);
            Clash
        })
    }

    fn push_level(&mut self) {
        self.simplex.push();
    }

    fn pop_levels(&mut self, count: u32) {
        self.simplex.pop(count as usize);
        self.conflict = None;
    }

    fn check(&mut self, effort: Effort, answers: &mut Answers) {
        if let Some(conflict) = self.conflict.take() {
            Self::report(&conflict, answers);
            return;
        }
        match self.simplex.check(&Budget::UNLIMITED) {
            Outcome::Infeasible(conflict) => Self::report(&conflict, answers),
            Outcome::Budget => answers.give_up(),
            Outcome::Feasible if effort == Effort::Final => self.branch(answers),
            Outcome::Feasible => {}
        }
    }

    fn explain(&mut self, lit: Lit, _token: u32, _out: &mut Vec<Lit>) -> Certificate {
        unreachable!("{lit:?} was not propagated: this theory reports conflicts only")
    }

    fn suggest_phase(&mut self, atom: Var) -> Option<bool> {
        let atom = self.atoms.get(atom.index())?.as_ref()?;
        self.simplex.suggest(atom.var, atom.positive.0, &atom.positive.1)
    }
}
