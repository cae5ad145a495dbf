//! Linear arithmetic and equality with functions together: the theory that the search is given.
//!
//! **The problem.** The two theories speak about the same numbers. To arithmetic, `f(x)` is a number like any other;
//! to congruence, `x` and `f(x)` are nodes. A node that is also a number is *shared*. A numeral is a node too, and a
//! value: different numerals differ.
//!
//! **The idea.** Each theory has a candidate for a model: arithmetic its assignment, congruence its classes. They fit
//! together if
//!
//! - M1: shared nodes in one class have the same number in the assignment, and
//! - M2: functions are functions: two applications of one function whose arguments mean the same (the same number,
//!   or the same class where the argument is no number) have results that mean the same.
//!
//! Then the model of arithmetic, with the functions as tables over its numbers, is a model of all. Where they do not
//! fit, some pair of shared nodes is to blame: two of one class with different numbers, or two at the same argument
//! position with the same number but in different classes. The pair gets an *interface equality*, a new atom of both
//! theories, and the search has to settle it. That `M1` and `M2` are asked of the candidates, and not whether there are pairs
//! of equal numbers, saves most of the pairs: in typical assignments many numbers are equal by accident.
//!
//! ```text
//! final check:
//!     congruence: conflict?                              stop
//!     arithmetic: conflict, or an integer to branch on?  stop
//!     pairs that M1 blames, or if there are none M2:     make their interface equalities
//!     no pairs:                                          the candidates fit
//! ```
//!
//! **Why it is right.** Every atom `x = y` of congruence between shared nodes is an atom of arithmetic, too. *Sound*:
//! an atom has the same meaning in both. *Complete*: when all of them are assigned and neither
//! theory objects, an existing interface equality violates neither M1 (if true, arithmetic has equal numbers) nor M2
//! (if true there is one class, if false the numbers differ). So each check makes new ones or accepts, and there are
//! finitely many pairs. A false equation between numbers is true of the numbers, and one between other nodes is true
//! of classes.
//!
//! **The model.** The assignment may tell two numbers apart by an infinitesimal only. Shared numbers that differ there
//! differ in the model (otherwise one line of a table could contradict another).
//!
//! **Where it comes from.** L. de Moura and N. Bjørner, *Model-based theory combination* (SMT 2007), for trying the
//! equalities of the current model; interface equalities as clauses are those of OpenSMT. That M2 is tested as it
//! stands, by looking for applications with the same arguments, is ours.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use shofar_logic::number::Rational;

use super::arith::{self, DeltaRational};
use super::certificate::{ArithmeticArgument, CongruenceArgument};
use super::congruence::Congruence;
use super::euf::{self, Node};
use super::linear::{Comparison, LinearArithmetic};
use crate::sat::{Answers, Certificate, Clash, Effort, Lit, Origin, Theory, Var};

/// Set in the tokens and certificates of congruence, and in none of arithmetic.
const OF_CONGRUENCE: u32 = 1 << 31;

/// The two theories and what they share.
#[derive(Default)]
pub struct Combination {
    arithmetic: LinearArithmetic,
    congruence: Congruence,
    /// The nodes that are numbers, in the order in which they were shared, and what arithmetic knows them as.
    shared: Vec<(Node, Quantity)>,
    /// For shared nodes their position in `shared`.
    positions: FxHashMap<Node, usize>,
    numerals: FxHashMap<Rational, Node>,
    /// Applications with shared arguments.
    applications: Vec<Node>,
    /// The interface equalities, by pairs with the smaller node first.
    equalities: FxHashMap<(Node, Node), Var>,
}

/// A number as arithmetic knows it.
enum Quantity {
    Variable(arith::Var),
    Numeral(Rational),
}

/// Why a clause of the theory holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument<'a> {
    /// By arithmetic.
    Arithmetic(ArithmeticArgument<'a>),
    /// By congruence.
    Congruence(CongruenceArgument<'a>),
}

/// What the two theories say of a model.
pub struct CombinedModel {
    /// The values of all numbers, by index.
    pub numbers: Vec<Rational>,
    /// Classes, and what functions do on them.
    pub classes: euf::Model,
    /// For each class its number, if it has one.
    pub quantities: Vec<Option<Rational>>,
}

impl Combination {
    /// Linear arithmetic.
    pub fn arithmetic(&self) -> &LinearArithmetic {
        &self.arithmetic
    }

    /// Linear arithmetic, to be told of atoms.
    pub fn arithmetic_mut(&mut self) -> &mut LinearArithmetic {
        &mut self.arithmetic
    }

    /// Equality with functions.
    pub fn congruence_mut(&mut self) -> &mut Congruence {
        &mut self.congruence
    }

    /// Stores arguments for proofs from now on.
    pub fn log_proofs(&mut self) {
        self.arithmetic.log_proofs();
        self.congruence.log_proofs();
    }

    /// The argument behind a certificate.
    pub fn argument(&self, certificate: Certificate) -> Argument<'_> {
        if certificate.0 & OF_CONGRUENCE != 0 {
            Argument::Congruence(self.congruence.argument(Certificate(certificate.0 & !OF_CONGRUENCE)))
        } else {
            Argument::Arithmetic(self.arithmetic.argument(certificate))
        }
    }

    /// Says that a node is a number.
    pub fn share(&mut self, node: Node, var: arith::Var) {
        self.add_shared(node, Quantity::Variable(var));
    }

    /// The node of a numeral.
    pub fn numeral(&mut self, value: &Rational) -> Node {
        if let Some(&node) = self.numerals.get(value) {
            return node;
        }
        let node = self.congruence.new_value();
        self.numerals.insert(value.clone(), node);
        self.add_shared(node, Quantity::Numeral(value.clone()));
        node
    }

    fn add_shared(&mut self, node: Node, quantity: Quantity) {
        if let Entry::Vacant(place) = self.positions.entry(node) {
            place.insert(self.shared.len());
            self.shared.push((node, quantity));
        }
    }

    /// Says that a node is an application some arguments of which are numbers: all of those have been shared.
    pub fn add_application(&mut self, node: Node) {
        self.applications.push(node);
    }

    /// Says what a variable of the search means: that two shared nodes are equal. It is an atom of arithmetic with the
    /// same meaning.
    pub fn define_equality(&mut self, atom: Var, left: Node, right: Node) {
        self.congruence.define_equation(atom, left, right);
        self.equalities.entry(pair(left, right)).or_insert(atom);
    }

    /// After a final check that found nothing: what the model is made of.
    pub fn model(&self) -> CombinedModel {
        let numbers = self.numbers();
        let classes = self.congruence.model();
        let mut quantities = vec![None; classes.first.len()];
        for (node, quantity) in &self.shared {
            let value = match quantity {
                Quantity::Variable(var) => &numbers[var.index()],
                Quantity::Numeral(value) => value,
            };
            quantities[classes.class_of[node.0 as usize] as usize].get_or_insert_with(|| value.clone());
        }
        CombinedModel { numbers, classes, quantities }
    }

    /// A model of arithmetic in which shared numbers differ that differ in the assignment. Neighbours in the order of
    /// the assignment stay in order, hence all do.
    fn numbers(&self) -> Vec<Rational> {
        let variable = |quantity: &Quantity| match quantity {
            Quantity::Variable(var) => Some(*var),
            Quantity::Numeral(_) => None,
        };
        let shared = self.shared.iter();
        let mut valued: Vec<(DeltaRational, Option<arith::Var>)> =
            shared.map(|(_, quantity)| (self.value(quantity), variable(quantity))).collect();
        // Variables come before numerals of the same value, for one of two neighbours has to be a variable.
        valued.sort_unstable_by(|a, b| (&a.0, a.1.is_none(), a.1).cmp(&(&b.0, b.1.is_none(), b.1)));
        valued.dedup_by(|next, kept| next.0 == kept.0);
        let neighbours = valued.windows(2).filter_map(|neighbours| match neighbours {
            [(value, None), (_, Some(var))] | [(_, Some(var)), (value, _)] => Some((*var, value.clone())),
            _ => None,
        });
        self.arithmetic.model_apart(neighbours.collect())
    }

    /// The number in the present assignment.
    fn value(&self, quantity: &Quantity) -> DeltaRational {
        match quantity {
            Quantity::Variable(var) => self.arithmetic.value(*var),
            Quantity::Numeral(value) => DeltaRational::from(value.clone()),
        }
    }

    /// Looks for pairs to blame for M1 or M2, and makes their interface equalities.
    fn combine(&mut self, answers: &mut Answers<'_>) {
        if self.shared.is_empty() {
            return;
        }
        let numbers = self.number_values();
        let mut blamed = self.split_classes(&numbers);
        if blamed.is_empty() {
            blamed = self.ambiguous_arguments(&numbers);
        }
        for &(left, right) in &blamed {
            self.new_equality(left, right, answers);
        }
        if !blamed.is_empty() {
            self.congruence.check(OF_CONGRUENCE, answers);
        }
    }

    /// Numbers the values of the shared nodes, by position: equal values have equal numbers.
    fn number_values(&self) -> Vec<u32> {
        let mut known: FxHashMap<DeltaRational, u32> = FxHashMap::default();
        let mut number = |value: DeltaRational| {
            let next = known.len() as u32;
            *known.entry(value).or_insert(next)
        };
        self.shared.iter().map(|(_, quantity)| number(self.value(quantity))).collect()
    }

    /// Pairs in one class with different numbers (M1).
    fn split_classes(&self, numbers: &[u32]) -> Vec<(Node, Node)> {
        let graph = self.congruence.graph();
        let mut first_of_class: FxHashMap<Node, usize> = FxHashMap::default();
        let mut blamed = Vec::new();
        for (position, &(node, _)) in self.shared.iter().enumerate() {
            let first = *first_of_class.entry(graph.root(node)).or_insert(position);
            if numbers[first] != numbers[position] {
                blamed.push((self.shared[first].0, node));
            }
        }
        blamed
    }

    /// Pairs of arguments with the same number but in different classes, of applications that are the same by their
    /// numbers but have different results (M2).
    fn ambiguous_arguments(&self, numbers: &[u32]) -> Vec<(Node, Node)> {
        let graph = self.congruence.graph();
        let number = |node: Node| self.positions.get(&node).map(|&position| numbers[position]);
        // A function has numbers at all its applications in a position, or at none, so the two do not mix.
        let meaning = |node: Node| number(node).unwrap_or_else(|| graph.root(node).0);
        let mut first_of_line: FxHashMap<Vec<u32>, Node> = FxHashMap::default();
        let mut blamed = Vec::new();
        for &application in &self.applications {
            let args = graph.args(application).iter().map(|&arg| meaning(arg));
            let line: Vec<u32> = std::iter::once(graph.symbol(application).0).chain(args).collect();
            let first = *first_of_line.entry(line).or_insert(application);
            if meaning(first) == meaning(application) {
                continue;
            }
            let args = std::iter::zip(graph.args(first), graph.args(application));
            blamed.extend(args.filter(|(a, b)| !graph.are_equal(**a, **b)).map(|(&a, &b)| pair(a, b)));
        }
        blamed.sort_unstable();
        blamed.dedup();
        blamed
    }

    /// Makes the interface equality of two shared nodes.
    fn new_equality(&mut self, left: Node, right: Node, answers: &mut Answers<'_>) {
        if let Some(&equality) = self.equalities.get(&pair(left, right)) {
            // Congruence may know its value and not have told: the literal was told at a level that is gone, while what it
            // follows from is still there. Arithmetic hears of it when it is decided, as congruence has it.
            answers.set_decision(equality, true);
            return;
        }
        let mut sum: Vec<(arith::Var, Rational)> = Vec::new();
        let mut constant = Rational::ZERO;
        for (node, factor) in [(left, Rational::ONE), (right, -Rational::ONE)] {
            match &self.shared[self.positions[&node]].1 {
                Quantity::Variable(var) => sum.push((*var, factor)),
                Quantity::Numeral(value) => constant -= &(&factor * value),
            }
        }
        let equality = answers.new_atom();
        self.define_equality(equality, left, right);
        let at_most = answers.new_atom();
        self.arithmetic.define_atom(at_most, &sum, Comparison::AtMost, &constant);
        let at_least = answers.new_atom();
        let negated: Vec<_> = sum.iter().map(|(var, factor)| (*var, -factor)).collect();
        self.arithmetic.define_atom(at_least, &negated, Comparison::AtMost, &-&constant);
        let [e, le, ge] = [equality, at_most, at_least].map(Var::positive);
        self.arithmetic.define_equation(equality, &sum, &constant, [le, ge]);
        for lemma in [&[e, !le, !ge][..], &[!e, le], &[!e, ge]] {
            answers.lemma_from(lemma, Origin::Order);
        }
    }
}

impl Theory for Combination {
    fn assert(&mut self, lit: Lit) -> Result<(), Clash> {
        if self.congruence.is_atom(lit.var()) {
            self.congruence.assert(lit)?;
        }
        if self.arithmetic.is_atom(lit.var()) {
            self.arithmetic.assert(lit)?;
        }
        Ok(())
    }

    fn push_level(&mut self) {
        self.congruence.push_level();
        self.arithmetic.push_level();
    }

    fn pop_levels(&mut self, count: u32) {
        self.congruence.pop_levels(count);
        self.arithmetic.pop_levels(count);
    }

    fn check(&mut self, effort: Effort, answers: &mut Answers<'_>) {
        self.congruence.check(OF_CONGRUENCE, answers);
        if answers.has_conflict() {
            return;
        }
        self.arithmetic.check(effort, answers);
        if effort == Effort::Final && !answers.is_decisive() {
            self.combine(answers);
        }
    }

    fn explain(&mut self, lit: Lit, token: u32, out: &mut Vec<Lit>) -> Certificate {
        if token & OF_CONGRUENCE != 0 {
            let Certificate(number) = self.congruence.explain(token & !OF_CONGRUENCE, out);
            Certificate(number | OF_CONGRUENCE)
        } else {
            self.arithmetic.explain(lit, token, out)
        }
    }

    fn agrees(&mut self, lit: Lit) -> bool {
        !self.congruence.is_atom(lit.var()) && self.arithmetic.agrees(lit)
    }

    fn retain_certificates(&mut self, kept: &mut [Certificate]) {
        let of_arithmetic = kept.partition_point(|certificate| certificate.0 & OF_CONGRUENCE == 0);
        let (of_arithmetic, of_congruence) = kept.split_at_mut(of_arithmetic);
        self.arithmetic.retain_certificates(of_arithmetic);
        of_congruence.iter_mut().for_each(|certificate| certificate.0 &= !OF_CONGRUENCE);
        self.congruence.retain_certificates(of_congruence);
        of_congruence.iter_mut().for_each(|certificate| certificate.0 |= OF_CONGRUENCE);
    }

    /// What congruence knows, or else what is true of the present numbers.
    fn suggest_phase(&mut self, atom: Var) -> Option<bool> {
        self.congruence.known(atom).or_else(|| self.arithmetic.suggest_phase(atom))
    }
}

/// The key of an unordered pair.
fn pair(left: Node, right: Node) -> (Node, Node) {
    (left.min(right), left.max(right))
}
