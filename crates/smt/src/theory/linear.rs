//! Linear arithmetic as a theory of the search: atoms are bounds, and the simplex kernel decides conjunctions.
//!
//! An atom `p <= c` or `p < c` is a bound on the kernel's variable for the linear form `p`, and so is its negation.
//! Asserting either asserts a bound with the literal as its reason. A conflict of the kernel is a set of reasons, and
//! so directly a conflict of literals.
//!
//! The atoms of one variable are *thresholds* on one line: a bound `x <= 3` settles all thresholds to its right, which
//! a sorted list finds (*unate* propagation). Bounds that the kernel derives from an equation settle atoms in the same
//! way. Both are explained on request.
//!
//! The purpose of propagation is to prevent conflicts. A query is *calm* until its first conflict: nothing is
//! propagated. Atoms are then decided such that the current assignment satisfies them, so most of them need no check.
//! Most small queries are calm to their end.
//!
//! An *equation* `p = c` comes with the literals of `p <= c` and `p >= c`, and clauses tie it to them. So learnt
//! clauses mention one of the two if one is enough. Deciding these as well would be a waste: if the equation is true
//! they follow, and if it is *denied*, the assignment mostly has another value for `p`. Only if it does not, the search
//! must decide which one is false.
//!
//! `numbers.rs` maps terms to numbers, and atoms, arguments and values back to terms.
//!
//! If integer variables have fractional values, the folder `arith/integer` determines the next action. A refutation is
//! a conflict of the literals of its bounds, and an implied bound is a lemma about a new atom. A split is an atom `y <=
//! floor(v)` or its negation `y >= floor(v) + 1`, which the search must decide. Atoms are permanent, but those of
//! splits need no value in later queries: they are decided again only if a query meets the same split. Clauses learnt
//! with them stay useful.
//!
//! Invariants:
//! - L1: the kernel has one level for each level of this theory.
//! - L2: the reason of every bound is the code of the true literal that asserted it.
//! - L3: the thresholds of a variable are sorted, and there is one for each bound that is an atom.
//! - L4: `causes` has an entry for each token given out on a level that is still open.
//! - L5: in the assignment after a final check without an answer, no denied equation holds.

use shofar_logic::number::{Integer, Rational};

use super::arith::{
    self, Budget, Config, Conflict, DeltaRational, ImpliedBound, Integers, Multiple, Outcome, Reason, Side,
    Simplex, Step,
};
use super::certificate::{ArithmeticArgument, ArithmeticArguments, Confined, PLAIN_SUM};
use super::numbers::Numbers;
use crate::sat::{Answers, Certificate, Clash, Effort, Lit, Theory, Var};

/// The greatest number of split atoms that the search must decide at a time; older ones are dropped until they are
/// needed again. Without a limit a long search spends its time deciding atoms that add nothing, again after each
/// restart: on the knapsack cuww1 it ran 13 s without an end, now it gives up after 0.3 s. If only the newest were
/// decided, 0-1 problems would suffer, which have few atoms and need each of them repeatedly.
const MOST_SPLITS: usize = 200;

/// The comparison of an atom's linear form with its constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

/// Linear arithmetic over reals and integers.
pub struct LinearArithmetic {
    /// Boxed: otherwise the struct would be too large for the allocator's fast path.
    simplex: Box<Simplex>,
    /// By variables of the search: the meaning of their atoms.
    atoms: Vec<Option<Atom>>,
    /// By variables of the kernel: the bounds that are atoms (L3).
    lines: Vec<Line>,
    /// Literals implied by asserted ones, to be propagated in the next check.
    implied: Vec<(Lit, Cause)>,
    /// The causes of propagated literals, by token (L4).
    causes: Vec<Cause>,
    /// The equations currently denied.
    denied: Vec<Var>,
    /// The lengths of `causes` and `denied` when the levels were opened.
    marks: Vec<(usize, usize)>,
    /// The integer reasoning.
    integers: Integers,
    /// The atoms that the search must decide in this query for the theory.
    splits: Vec<Var>,
    /// The atoms of formulas that the search must decide in this query, although they were exempt.
    reopened: Vec<Var>,
    /// The conflict found when a literal was asserted.
    conflict: Option<Conflict>,
    /// Whether this query had no conflict yet.
    is_calm: bool,
    /// The arguments for conflicts, explanations and lemmas, if proofs are logged.
    arguments: ArithmeticArguments,
    /// The terms of the numbers.
    pub(super) numbers: Numbers,
    /// Used within a check.
    rows: Vec<ImpliedBound>,
}

/// The meaning of an atom over a variable of the kernel.
struct Atom {
    var: arith::Var,
    meaning: Meaning,
}

enum Meaning {
    /// The bound of the atom, and the bound of its negation.
    Bound { positive: (Side, DeltaRational), negative: (Side, DeltaRational) },
    /// The variable has this value. The literals say that it is at most and at least this.
    Equation { value: DeltaRational, halves: [Lit; 2] },
}

/// The bounds on one variable that are atoms, in ascending order.
#[derive(Default)]
struct Line(Vec<Threshold>);

/// The position on a variable's line where an atom changes its truth value: the literal is true iff the variable is at
/// most `upper`, and false iff it is at least `lower`.
struct Threshold {
    upper: DeltaRational,
    lower: DeltaRational,
    lit: Lit,
    /// Whether the atom was made for a split, and occurs in no formula.
    is_split: bool,
}

/// The meaning of an atom for its form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomMeaning<'a> {
    /// The form is at least, or at most, the bound.
    Bound(Side, &'a DeltaRational),
    /// The form equals the number.
    Equation(&'a Rational),
}

/// The cause of an implied literal.
#[derive(Clone, Copy)]
enum Cause {
    /// The literal of a stronger bound on the same variable.
    Bound(Lit),
    /// A bound that the kernel can explain.
    Row(arith::Var, Side, arith::Token),
}

impl Default for LinearArithmetic {
    fn default() -> Self {
        LinearArithmetic {
            simplex: Box::new(Simplex::new(Config::default())),
            atoms: Vec::new(),
            lines: Vec::new(),
            implied: Vec::new(),
            causes: Vec::new(),
            denied: Vec::new(),
            marks: Vec::new(),
            integers: Integers::default(),
            splits: Vec::new(),
            reopened: Vec::new(),
            conflict: None,
            is_calm: true,
            arguments: ArithmeticArguments::default(),
            numbers: Numbers::default(),
            rows: Vec::new(),
        }
    }
}

impl Line {
    /// The literals that a bound settles and the bound in force on the same side does not.
    fn settled<'l>(
        &'l self,
        side: Side,
        bound: &DeltaRational,
        in_force: Option<&DeltaRational>,
    ) -> impl Iterator<Item = Lit> + use<'l> {
        let Line(thresholds) = self;
        let settled = match side {
            Side::Upper => {
                let reached = |bound: &DeltaRational| thresholds.partition_point(|t| t.upper < *bound);
                reached(bound)..in_force.map_or(thresholds.len(), reached)
            }
            Side::Lower => {
                let reached = |bound: &DeltaRational| thresholds.partition_point(|t| t.lower <= *bound);
                in_force.map_or(0, reached)..reached(bound)
            }
        };
        // A weaker bound gives a range whose end is before its start.
        let settled = thresholds.get(settled).unwrap_or_default().iter();
        settled.map(move |t| if side == Side::Upper { t.lit } else { !t.lit })
    }

    /// Whether a stronger bound on this side could settle an atom.
    fn has_open(&self, side: Side, in_force: Option<&DeltaRational>) -> bool {
        let Line(thresholds) = self;
        match (side, in_force) {
            (_, None) => !thresholds.is_empty(),
            (Side::Upper, Some(bound)) => thresholds.first().is_some_and(|t| t.upper < *bound),
            (Side::Lower, Some(bound)) => thresholds.last().is_some_and(|t| t.lower > *bound),
        }
    }
}

impl LinearArithmetic {
    /// A new number.
    pub fn new_var(&mut self, is_int: bool) -> arith::Var {
        let var = self.simplex.new_var(is_int);
        if is_int {
            self.integers.add_var(var);
        }
        var
    }

    /// Defines a variable of the search as the comparison of the sum, which is not constant, with the constant.
    pub(crate) fn define_atom(
        &mut self,
        atom: Var,
        sum: &[(arith::Var, Rational)],
        comparison: Comparison,
        constant: &Rational,
    ) {
        let (var, factor) = self.simplex.new_row(sum).expect("the sum of an atom is not constant");
        let constant = constant / &factor;
        let bound = match (comparison, factor.is_positive()) {
            (Comparison::AtMost, true) => (Side::Upper, DeltaRational::from(constant)),
            (Comparison::AtMost, false) => (Side::Lower, DeltaRational::from(constant)),
            (Comparison::Below, true) => (Side::Upper, DeltaRational::just_below(constant)),
            (Comparison::Below, false) => (Side::Lower, DeltaRational::just_above(constant)),
        };
        self.add_bound(atom, var, bound, false);
    }

    fn add_bound(&mut self, atom: Var, var: arith::Var, positive: (Side, DeltaRational), is_split: bool) {
        let negative = self.simplex.negation(var, positive.0, &positive.1);
        let (upper, lower) = (positive.1.clone(), negative.1.clone());
        let threshold = match positive.0 {
            Side::Upper => Threshold { upper, lower, lit: atom.positive(), is_split },
            Side::Lower => Threshold { upper: lower, lower: upper, lit: atom.negative(), is_split },
        };
        let Line(thresholds) = self.line(var);
        thresholds.insert(thresholds.partition_point(|t| t.upper < threshold.upper), threshold);
        self.add_atom(atom, var, Meaning::Bound { positive, negative });
    }

    /// Defines a variable of the search as the equality of the sum with the constant. The literals say that the sum is
    /// at most and at least the constant. The caller must add the clauses that make the equation their conjunction.
    pub(crate) fn define_equation(
        &mut self,
        atom: Var,
        sum: &[(arith::Var, Rational)],
        constant: &Rational,
        halves: [Lit; 2],
    ) {
        let (var, factor) = self.simplex.new_row(sum).expect("the sum of an atom is not constant");
        let value = DeltaRational::from(constant / &factor);
        self.add_atom(atom, var, Meaning::Equation { value, halves });
    }

    fn add_atom(&mut self, atom: Var, var: arith::Var, meaning: Meaning) {
        if self.atoms.len() <= atom.index() {
            self.atoms.resize_with(atom.index() + 1, || None);
        }
        self.atoms[atom.index()] = Some(Atom { var, meaning });
    }

    /// The line of a variable, which may be new.
    fn line(&mut self, var: arith::Var) -> &mut Line {
        if self.lines.len() <= var.index() {
            self.lines.resize_with(var.index() + 1, Line::default);
        }
        &mut self.lines[var.index()]
    }

    /// Starts a query: resets the count of splits. Appends the atoms that the search had to decide in the last query;
    /// it need not decide them until told again.
    pub(super) fn release_splits(&mut self, released: &mut Vec<Var>) {
        self.integers.start_query();
        self.is_calm = true;
        released.append(&mut self.splits);
        released.append(&mut self.reopened);
    }

    /// The value of a number in the current assignment.
    pub fn value(&self, var: arith::Var) -> DeltaRational {
        self.simplex.value(var).into_owned()
    }

    /// The values of all numbers, by index, after a final check without an answer. Each given variable differs from its
    /// number, on the same side as in the current assignment.
    pub fn model_apart(&self, mut different: Vec<(arith::Var, DeltaRational)>) -> Vec<Rational> {
        let denied = self.denied.iter().map(|&var| self.equation(var));
        different.extend(denied.map(|(var, value)| (var, value.clone())));
        self.simplex.model_apart(&different)
    }

    /// The variable and the value of an equation.
    fn equation(&self, atom: Var) -> (arith::Var, &DeltaRational) {
        match &self.atoms[atom.index()] {
            Some(Atom { var, meaning: Meaning::Equation { value, .. } }) => (*var, value),
            _ => unreachable!("{atom:?} is no equation"),
        }
    }

    /// The counters of the kernel.
    pub fn statistics(&self) -> arith::Statistics {
        self.simplex.statistics()
    }

    /// Stores arguments for proofs from now on.
    pub(super) fn store_arguments(&mut self) {
        self.arguments.switch_on();
    }

    /// Whether arguments are stored.
    pub(super) fn stores_arguments(&self) -> bool {
        self.arguments.is_on()
    }

    /// The argument behind a certificate of this theory.
    pub fn argument(&self, certificate: Certificate) -> ArithmeticArgument<'_> {
        self.arguments.get(certificate)
    }

    /// The meaning of an atom: a linear form over variables of the problem, and its comparison.
    pub fn meaning(&self, atom: Var) -> Option<(Vec<(arith::Var, Integer)>, AtomMeaning<'_>)> {
        let Atom { var, meaning } = self.atoms.get(atom.index())?.as_ref()?;
        let meaning = match meaning {
            Meaning::Bound { positive: (side, bound), .. } => AtomMeaning::Bound(*side, bound),
            Meaning::Equation { value, .. } => AtomMeaning::Equation(value.real()),
        };
        Some((self.form(*var), meaning))
    }

    /// The form of a kernel variable over variables of the problem.
    pub fn form(&self, var: arith::Var) -> Vec<(arith::Var, Integer)> {
        self.simplex.form_of(var)
    }

    fn report(&mut self, conflict: &Conflict, answers: &mut Answers<'_>) {
        let lits: Vec<Lit> = conflict.terms.iter().map(|term| literal(term.reason)).collect();
        let weighted = conflict.terms.iter().map(|term| (literal(term.reason), term.coefficient.clone()));
        let certificate = self.arguments.add_sum(weighted);
        answers.conflict(&lits, certificate);
    }

    /// Propagates the literals that follow from bounds on the same variable, and those that follow from equations.
    fn propagate(&mut self, answers: &mut Answers<'_>) {
        if self.is_calm {
            return;
        }
        self.propagate_rows();
        for (lit, cause) in self.implied.drain(..) {
            answers.propagate(lit, self.causes.len() as u32);
            self.causes.push(cause);
        }
    }

    /// Collects the literals that follow from equations.
    fn propagate_rows(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        let lines = &self.lines;
        self.simplex.propagate(
            |simplex, var, side| {
                let bound = simplex.bound(var, side).map(|(bound, _)| bound);
                lines.get(var.index()).is_some_and(|line| line.has_open(side, bound))
            },
            &mut rows,
        );
        for ImpliedBound { var, side, value, token, .. } in rows.drain(..) {
            let in_force = self.simplex.bound(var, side).map(|(bound, _)| bound);
            let settled = self.lines[var.index()].settled(side, &value, in_force);
            self.implied.extend(settled.map(|lit| (lit, Cause::Row(var, side, token))));
        }
        self.rows = rows;
    }

    /// Makes the search decide the denied equations that hold in the assignment.
    fn decide_denied(&mut self, answers: &mut Answers<'_>) {
        for &atom in &self.denied {
            if let Some(Atom { var, meaning: Meaning::Equation { value, halves } }) =
                &self.atoms[atom.index()]
                && *self.simplex.value(*var) == *value
            {
                // By the clauses one half is false. Neither has a value, or the assignment would respect it.
                let half = halves[0].var();
                self.reopened.push(half);
                answers.set_decision(half, true);
            }
        }
    }

    /// Performs the next action for integer variables with fractional values.
    fn step_integers(&mut self, answers: &mut Answers<'_>) {
        match self.integers.step(&mut self.simplex) {
            Step::Content => {}
            Step::GiveUp => answers.give_up(),
            Step::Refuted(refutation) => {
                let lits: Vec<Lit> = refutation.reasons().into_iter().map(literal).collect();
                let certificate = self.arguments.add_form(refutation.terms.iter().map(confined));
                answers.conflict(&lits, certificate);
            }
            Step::Tightened(tightening) => {
                let bound = match tightening.side {
                    Side::Upper => {
                        self.split_literal(tightening.var, tightening.bound.clone(), Side::Lower, answers)
                    }
                    Side::Lower => {
                        let below = &tightening.bound - Integer::ONE;
                        !self.split_literal(tightening.var, below, Side::Upper, answers)
                    }
                };
                let premises = tightening.reasons();
                let mut clause: Vec<Lit> = premises.into_iter().map(|reason| !literal(reason)).collect();
                clause.push(bound);
                let weaker = literal(tightening.weaker);
                let own = Confined {
                    var: tightening.var,
                    multiplier: tightening.multiplier.clone(),
                    bounds: match tightening.side {
                        Side::Lower => [weaker, !bound],
                        Side::Upper => [!bound, weaker],
                    },
                };
                let terms = tightening.fixed.iter().map(confined).chain([own]);
                let certificate = self.arguments.add_form(terms);
                answers.lemma(&clause, certificate);
            }
            Step::Split { var, floor, first } => {
                self.split_literal(var, floor, first, answers);
            }
        }
    }

    /// The literal for `var <= floor`, which the search must decide. The search first tries a new atom with false, so
    /// the atom is the side to try second.
    ///
    /// The literal must be unassigned. The caller knows this, because a final check found a value that the literal
    /// would exclude.
    fn split_literal(
        &mut self,
        var: arith::Var,
        floor: Integer,
        first: Side,
        answers: &mut Answers<'_>,
    ) -> Lit {
        if self.splits.len() >= MOST_SPLITS {
            for atom in self.splits.drain(..MOST_SPLITS / 2) {
                answers.set_decision(atom, false);
            }
        }
        let upper = DeltaRational::from(floor);
        let Line(thresholds) = self.line(var);
        if let Ok(found) = thresholds.binary_search_by(|t| t.upper.cmp(&upper)) {
            let Threshold { lit, is_split, .. } = thresholds[found];
            if is_split { &mut self.splits } else { &mut self.reopened }.push(lit.var());
            answers.set_decision(lit.var(), true);
            return lit;
        }
        let atom = answers.new_atom();
        self.splits.push(atom);
        match first {
            Side::Upper => {
                let lower = self.simplex.negation(var, Side::Upper, &upper);
                self.add_bound(atom, var, lower, true);
                atom.negative()
            }
            Side::Lower => {
                self.add_bound(atom, var, (Side::Upper, upper), true);
                atom.positive()
            }
        }
    }
}

impl Theory for LinearArithmetic {
    fn assert(&mut self, lit: Lit) -> Result<(), Clash> {
        let Self { atoms, simplex, lines, implied, denied, conflict, is_calm, .. } = self;
        let atom = atoms[lit.var().index()].as_ref();
        match atom.expect("atoms are defined before they are asserted") {
            Atom { var, meaning: Meaning::Bound { positive, negative } } => {
                let (side, bound) = if lit.is_positive() { positive } else { negative };
                if !*is_calm {
                    let in_force = simplex.bound(*var, *side).map(|(bound, _)| bound);
                    let settled = lines[var.index()].settled(*side, bound, in_force);
                    let settled = settled.filter(|&other| other != lit);
                    implied.extend(settled.map(|other| (other, Cause::Bound(lit))));
                }
                simplex.assert_bound(*var, *side, bound, Reason(lit.code())).map_err(|found| {
                    *conflict = Some(found);
                    Clash
                })
            }
            Atom { meaning: Meaning::Equation { .. }, .. } => {
                if !lit.is_positive() {
                    denied.push(lit.var());
                }
                Ok(())
            }
        }
    }

    fn push_level(&mut self) {
        self.simplex.push();
        self.marks.push((self.causes.len(), self.denied.len()));
    }

    fn pop_levels(&mut self, count: u32) {
        self.simplex.pop(count as usize);
        let level = self.marks.len() - count as usize;
        let Some(&(causes, denied)) = self.marks.get(level) else { return };
        self.marks.truncate(level);
        self.causes.truncate(causes);
        self.denied.truncate(denied);
        self.implied.clear();
        self.conflict = None;
    }

    fn check(&mut self, effort: Effort, answers: &mut Answers<'_>) {
        if let Some(conflict) = self.conflict.take() {
            self.is_calm = false;
            self.report(&conflict, answers);
            return;
        }
        let interrupted = || answers.interrupted();
        match self.simplex.check(&Budget { pivots: None, interrupted: Some(&interrupted) }) {
            Outcome::Infeasible(conflict) => {
                self.is_calm = false;
                self.report(&conflict, answers);
                return;
            }
            Outcome::Budget => {
                answers.give_up();
                return;
            }
            Outcome::Feasible => {}
        }
        self.propagate(answers);
        if effort == Effort::Final {
            self.step_integers(answers);
            if !answers.is_decisive() {
                self.decide_denied(answers);
            }
        }
    }

    fn explain(&mut self, lit: Lit, token: u32, out: &mut Vec<Lit>) -> Certificate {
        match self.causes[token as usize] {
            Cause::Bound(stronger) => {
                out.push(stronger);
                PLAIN_SUM
            }
            Cause::Row(var, side, token) => {
                let mut bounds = Vec::new();
                self.simplex.explain(var, side, token, &mut bounds);
                out.extend(bounds.iter().map(|bound| literal(bound.reason)));
                // If the implied bound was rounded, so is the bound of the literal's negation.
                let bounds = bounds.into_iter().map(|bound| (literal(bound.reason), bound.coefficient));
                self.arguments.add_sum(bounds.chain([(!lit, Rational::ONE)]))
            }
        }
    }

    fn retain_certificates(&mut self, kept: &mut [Certificate]) {
        self.arguments.retain(kept);
    }

    /// Until the first conflict of a query the assignment guides the decisions.
    fn agrees(&mut self, lit: Lit) -> bool {
        if !self.is_calm {
            return false;
        }
        let Some(Some(Atom { var, meaning })) = self.atoms.get(lit.var().index()) else { return false };
        let value = self.simplex.value(*var);
        match meaning {
            Meaning::Bound { positive, negative } => {
                let (side, bound) = if lit.is_positive() { positive } else { negative };
                side.admits(bound, &value)
            }
            Meaning::Equation { value: wanted, .. } => (*value == *wanted) == lit.is_positive(),
        }
    }

    fn suggest_phase(&mut self, atom: Var) -> Option<bool> {
        let Atom { var, meaning } = self.atoms.get(atom.index())?.as_ref()?;
        let value = self.simplex.value(*var);
        match meaning {
            // Equivalent to the kernel's `suggest`, which would have to compute the negation.
            Meaning::Bound { positive, negative } => {
                let holds = |(side, bound): &(Side, DeltaRational)| side.admits(bound, &value);
                if holds(positive) { Some(true) } else { holds(negative).then_some(false) }
            }
            Meaning::Equation { value: wanted, .. } => Some(*value == *wanted),
        }
    }
}

/// The literal that asserted a bound (L2).
fn literal(reason: Reason) -> Lit {
    Lit::from_code(reason.0)
}

fn confined(term: &Multiple) -> Confined {
    Confined { var: term.var, multiplier: term.multiplier.clone(), bounds: term.reasons.map(literal) }
}
