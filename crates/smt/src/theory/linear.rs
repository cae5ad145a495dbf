//! Linear arithmetic as a theory of the search: atoms are bounds, the simplex kernel decides conjunctions.
//!
//! An atom `p <= c` or `p < c` is a bound on the kernel's variable for the linear form `p`, and so is its
//! negation; asserting either is asserting a bound with the literal as its reason. A conflict of the kernel is a
//! set of reasons, so it is a conflict of literals as it stands.
//!
//! The atoms of one variable are *thresholds* on one line: a bound `x <= 3` settles all that lie to the right of it,
//! which a sorted list finds (*unate* propagation). Bounds that the kernel reads off an equation settle atoms in the
//! same way. Both are explained when they are asked for.
//!
//! Propagation is to prevent conflicts. A query is *calm* until it has the first one: nothing is propagated, and as the
//! atoms are decided such that the present assignment satisfies them, it is not even asked about most of them. Most
//! small queries are calm to their end.
//!
//! An *equation* `p = c` comes with the literals of `p <= c` and `p >= c` and is tied to them by clauses. So what is
//! learnt speaks of one of the two where one is enough. To decide these as well would be waste: if the equation is
//! true they follow, and if it is *denied*, the assignment mostly has another value for `p`. Only where it has not,
//! the search has to decide which one is false.
//!
//! What terms mean here, and what atoms, arguments and values mean in terms, is in `numbers.rs`.
//!
//! Where the kernel is content with fractions for integer variables, the folder `arith/integer` says what to do.
//! A refutation is a conflict of the literals of its bounds, a bound that follows is a lemma about a new atom, and a
//! split is an atom `y <= floor(v)`, whose negation is `y >= floor(v) + 1`, which the search has to decide. Atoms are
//! for ever, but those of splits need no value in later queries: they are decided again only where a query comes upon
//! the same split. Clauses learnt with them stay of use.
//!
//! Invariants:
//! - L1: the kernel has one level for each level of the search.
//! - L2: the reason of every bound is the code of the true literal that asserted it.
//! - L3: the thresholds of a variable are sorted, and there is one for each bound that is an atom.
//! - L4: `causes` has an entry for each token given out on a level that is still open.
//! - L5: in the assignment after a final check that found nothing, no denied equation holds.

use shofar_logic::number::{Integer, Rational};

use super::arith::{
    self, Budget, Config, Conflict, DeltaRational, ImpliedBound, Integers, Multiple, Outcome, Reason, Side,
    Simplex, Step,
};
use super::certificate::{ArithmeticArgument, ArithmeticArguments, Confined, PLAIN_SUM};
use super::numbers::Numbers;
use crate::sat::{Answers, Certificate, Clash, Effort, Lit, Theory, Var};

/// How many atoms of splits the search has to decide at a time; older ones wait until they are needed again. Without
/// a limit a long search spends its time on deciding atoms that say nothing new, again after each restart: on the
/// knapsack cuww1 13 s without an end, now it gives up after 0.3 s. With none to decide but the newest, 0-1 problems
/// suffer, which have few atoms and need each of them again and again.
const MOST_SPLITS: usize = 200;

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
    /// In a place of its own: together they would be more than what allocators hand out fast.
    simplex: Box<Simplex>,
    /// By variables of the search: what their atoms say.
    atoms: Vec<Option<Atom>>,
    /// By variables of the kernel: the bounds that are atoms (L3).
    lines: Vec<Line>,
    /// Literals that follow from asserted ones, to be told in the next check.
    implied: Vec<(Lit, Cause)>,
    /// Why literals were propagated, by token (L4).
    causes: Vec<Cause>,
    /// The equations that are denied at present.
    denied: Vec<Var>,
    /// The heights of `causes` and `denied` when the levels were opened.
    marks: Vec<(usize, usize)>,
    /// What is to be done about integer variables.
    integers: Integers,
    /// The atoms that the search has to decide in this query for the sake of the theory.
    splits: Vec<Var>,
    /// The atoms of formulas that the search has to decide in this query, although it was told that it need not.
    reopened: Vec<Var>,
    /// The conflict found when a literal was asserted.
    conflict: Option<Conflict>,
    /// Whether this query had no conflict yet.
    is_calm: bool,
    /// Why conflicts, explanations and lemmas hold, if proofs are wanted.
    arguments: ArithmeticArguments,
    /// What terms the numbers are.
    pub(super) numbers: Numbers,
    /// Used within a check.
    rows: Vec<ImpliedBound>,
}

/// What an atom says of a variable of the kernel.
struct Atom {
    var: arith::Var,
    meaning: Meaning,
}

enum Meaning {
    /// The bound that the atom stands for, and the one that its negation stands for.
    Bound { positive: (Side, DeltaRational), negative: (Side, DeltaRational) },
    /// That the variable has this value, with the literals that say that it is at most and at least this.
    Equation { value: DeltaRational, halves: [Lit; 2] },
}

/// The bounds on one variable that are atoms, in ascending order.
#[derive(Default)]
struct Line(Vec<Threshold>);

/// The place on a variable's line where an atom changes its truth: the literal is true iff the variable is at most
/// `upper`, and false iff it is at least `lower`.
struct Threshold {
    upper: DeltaRational,
    lower: DeltaRational,
    lit: Lit,
    /// Whether the atom was made for a split, and stands in no formula.
    is_split: bool,
}

/// What an atom says of its form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomMeaning<'a> {
    /// That it is at least, or at most, the bound.
    Bound(Side, &'a DeltaRational),
    /// That it is the number.
    Equation(&'a Rational),
}

/// Why a literal follows.
#[derive(Clone, Copy)]
enum Cause {
    /// From the literal of a stronger bound on the same variable.
    Bound(Lit),
    /// From a bound that the kernel can explain.
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
    /// The literals that a bound settles and that the bound in force on the same side does not.
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
        // A weaker bound gives a range that ends before it begins.
        let settled = thresholds.get(settled).unwrap_or_default().iter();
        settled.map(move |t| if side == Side::Upper { t.lit } else { !t.lit })
    }

    /// Whether there is an atom that a stronger bound on this side could settle.
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

    /// Says what a variable of the search means: that the sum is the constant. The literals say that it is at most
    /// and at least the constant; that the equation is their conjunction, is for the
    /// caller to say.
    pub fn define_equation(
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

    /// A query begins: splits are counted anew. Appends the atoms that the search was told to decide in the last
    /// one; it need not do so any more until it is told again.
    pub(super) fn release_splits(&mut self, released: &mut Vec<Var>) {
        self.integers.start_query();
        self.is_calm = true;
        released.append(&mut self.splits);
        released.append(&mut self.reopened);
    }

    /// The value of a number in the present assignment.
    pub fn value(&self, var: arith::Var) -> DeltaRational {
        self.simplex.value(var).into_owned()
    }

    /// The values of all numbers, by index, after a final check that found nothing. Each of the given variables is on
    /// that side of the given number, which differs from its value, where it is in the present assignment.
    pub fn model_apart(&self, mut different: Vec<(arith::Var, DeltaRational)>) -> Vec<Rational> {
        let denied = self.denied.iter().map(|&var| self.equation(var));
        different.extend(denied.map(|(var, value)| (var, value.clone())));
        self.simplex.model_apart(&different)
    }

    /// What an equation says.
    fn equation(&self, atom: Var) -> (arith::Var, &DeltaRational) {
        match &self.atoms[atom.index()] {
            Some(Atom { var, meaning: Meaning::Equation { value, .. } }) => (*var, value),
            _ => unreachable!("{atom:?} is no equation"),
        }
    }

    /// What the kernel has done so far.
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

    /// What an atom says: a linear form over variables of the problem with what it is compared with.
    pub fn meaning(&self, atom: Var) -> Option<(Vec<(arith::Var, Integer)>, AtomMeaning<'_>)> {
        let Atom { var, meaning } = self.atoms.get(atom.index())?.as_ref()?;
        let meaning = match meaning {
            Meaning::Bound { positive: (side, bound), .. } => AtomMeaning::Bound(*side, bound),
            Meaning::Equation { value, .. } => AtomMeaning::Equation(value.real()),
        };
        Some((self.form(*var), meaning))
    }

    /// The form over variables of the problem that a number of the kernel stands for.
    pub fn form(&self, var: arith::Var) -> Vec<(arith::Var, Integer)> {
        self.simplex.form_of(var)
    }

    fn report(&mut self, conflict: &Conflict, answers: &mut Answers<'_>) {
        let lits: Vec<Lit> = conflict.terms.iter().map(|term| literal(term.reason)).collect();
        let weighted = conflict.terms.iter().map(|term| (literal(term.reason), term.coefficient.clone()));
        let certificate = self.arguments.add_sum(weighted);
        answers.conflict(&lits, certificate);
    }

    /// Tells the literals that follow from bounds on the same variable, and those that follow from equations.
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

    /// Takes note of the literals that follow from equations.
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

    /// Has the search decide about the denied equations that hold in the assignment.
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

    /// Does what is to be done about integer variables with fractional values.
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

    /// The literal for `var <= floor`, which the search has to decide. The search tries a new atom with false, so that
    /// the atom is the side that is to come second.
    ///
    /// That it is unassigned is for the caller to know: a final check found a value that it would exclude.
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
                // If the implied bound was rounded, so is the bound that the literal's negation stands for.
                let bounds = bounds.into_iter().map(|bound| (literal(bound.reason), bound.coefficient));
                self.arguments.add_sum(bounds.chain([(!lit, Rational::ONE)]))
            }
        }
    }

    fn retain_certificates(&mut self, kept: &mut [Certificate]) {
        self.arguments.retain(kept);
    }

    /// Until the first conflict of a query the assignment leads the way.
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
            // The same as the kernel's `suggest`, which would have to compute the negation.
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
