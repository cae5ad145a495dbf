//! Equality with uninterpreted functions as a theory of the search: atoms are equations between nodes, and the
//! congruence-closure kernel decides conjunctions.
//!
//! An atom is an equation `a = b`, or says that a node with a truth value is [`Node::TRUE`]. A true equation joins two
//! classes and a false one keeps them apart; a node with a truth value is joined with one of the two. The graph watches
//! each atom: when the graph settles its equation, the literal is propagated. The token identifies the graph's
//! propagation, which pins the nodes that an explanation starts from. Explanations are read off the proof forest on
//! request.
//!
//! The applications of free constructors form trees, which are finite. A final check looks for one that contains
//! itself.
//!
//! Nodes and atoms may be added at any time, even during a search. They stay when levels are popped.
//!
//! Congruence is the hub of all theories: a term that two of them know is a node here. The combination makes the nodes
//! and records their terms (`combination.rs`).
//!
//! Invariants:
//! - E1: the graph has one level for each level of this theory.
//! - E2: the reason of every assertion to the graph is the code of the true literal behind it.
//! - E3: a token is an index into the list of propagations. The list is truncated with the level of the graph in which
//!   it grew, hence not before the level of the propagated literal is popped.
//!
//! If a watch was added late, a literal may be propagated at a higher level than the one at which the graph settled it.
//! When that level is popped, the graph does not report it again. No answer depends on this: if the literal is then
//! decided against the graph, its assertion is a conflict.

use super::certificate::{CongruenceArgument, CongruenceArguments, EqualNodes};
use super::euf::{
    Apart, ClassModel, Conflict, EGraph, LevelledEdge, Node, ProofWhy, Propagation, Reason, Role, Symbol,
    Token,
};
use super::shortcuts::Shortcuts;
use crate::sat::{Answers, Certificate, Clash, Effort, Lit, Theory, Var};

/// Equality with uninterpreted functions.
#[derive(Default)]
pub struct Congruence {
    graph: EGraph,
    /// By variables of the search: the equations of their atoms.
    atoms: Vec<Option<Atom>>,
    /// The number of symbols created.
    symbols: u32,
    /// The propagations that tokens index (E3).
    told: Vec<Propagation>,
    /// The length of `told` at the start of each level of the graph.
    told_before: Vec<usize>,
    /// The arguments for conflicts and explanations, if proofs are logged.
    arguments: CongruenceArguments,
    /// The number of trees found that contain themselves.
    cycles: u64,
    /// Finds equalities that the search lacks.
    shortcuts: Shortcuts,
    /// Scratch for explanations.
    reasons: Vec<Reason>,
    edges: Vec<LevelledEdge>,
}

/// The equation that an atom stands for.
#[derive(Clone, Copy)]
struct Atom {
    left: Node,
    right: Node,
    /// Whether the left side has a truth value, and the right side is true.
    is_truth: bool,
}

impl Congruence {
    /// A new function symbol.
    pub(crate) fn new_symbol(&mut self) -> Symbol {
        self.symbols += 1;
        Symbol(self.symbols - 1)
    }

    /// A new function symbol with a role.
    pub(crate) fn new_symbol_with(&mut self, role: Role) -> Symbol {
        let symbol = self.new_symbol();
        self.graph.set_role(symbol, role);
        symbol
    }

    /// The application of the symbol to the arguments, found or made.
    pub fn node(&mut self, symbol: Symbol, args: &[Node]) -> Node {
        self.graph.new_node(symbol, args)
    }

    /// A constant that differs from all others made by this function.
    pub fn new_value(&mut self) -> Node {
        let symbol = self.new_symbol();
        self.graph.new_value(symbol)
    }

    /// Defines a variable of the search as the equality of the nodes.
    pub(crate) fn define_equation(&mut self, atom: Var, left: Node, right: Node) {
        self.define(atom, Atom { left, right, is_truth: false });
    }

    /// Defines a variable of the search as the truth of the node, which has a truth value.
    pub(crate) fn define_truth(&mut self, atom: Var, node: Node) {
        self.define(atom, Atom { left: node, right: Node::TRUE, is_truth: true });
    }

    fn define(&mut self, var: Var, atom: Atom) {
        if self.atoms.len() <= var.index() {
            self.atoms.resize(var.index() + 1, None);
        }
        self.atoms[var.index()] = Some(atom);
        self.graph.watch(atom.left, atom.right, Token(var.index() as u32));
    }

    /// The two sides of an atom of this theory.
    pub fn sides(&self, var: Var) -> Option<(Node, Node)> {
        let atom = self.atoms.get(var.index())?.as_ref()?;
        Some((atom.left, atom.right))
    }

    /// The congruence closure of the assertions.
    pub fn graph(&self) -> &EGraph {
        &self.graph
    }

    /// After a final check without an answer: the classes, and the functions on them.
    pub fn model(&self) -> ClassModel {
        self.graph.model()
    }

    /// Stores arguments for proofs from now on.
    pub fn log_proofs(&mut self) {
        self.arguments.switch_on();
    }

    /// The table of arguments.
    pub(super) fn arguments_mut(&mut self) -> &mut CongruenceArguments {
        &mut self.arguments
    }

    /// The argument behind a certificate of this theory.
    pub fn argument(&self, certificate: Certificate) -> CongruenceArgument<'_> {
        self.arguments.get(certificate)
    }

    /// Starts a query.
    pub(super) fn start_query(&mut self) {
        self.shortcuts.start_query();
    }

    /// Whether the search lacks equalities that explanations use often.
    #[inline]
    pub(super) fn lacks_shortcuts(&self) -> bool {
        self.shortcuts.is_due()
    }

    /// The pairs of nodes whose equalities the search lacks.
    pub(super) fn take_shortcuts(&mut self) -> Vec<(Node, Node)> {
        let atoms = self.atoms.iter().flatten().count();
        self.shortcuts.take(atoms)
    }

    /// Counts the candidates of the explanation just made.
    #[inline]
    fn count_explanation(&mut self) {
        if self.shortcuts.is_counting() {
            self.graph.levelled_edges(&mut self.edges);
            self.shortcuts.count(&self.edges);
        }
    }

    /// The argument of the explanation just made, with one more equality if given: the nodes are connected, but differ.
    fn argue(&mut self, Apart { left, right, reason }: Apart, extra: Option<EqualNodes>) -> Certificate {
        if !self.arguments.is_on() {
            return Certificate(0);
        }
        let distinct = reason.map(|reason| Lit::from_code(reason.0));
        self.arguments.add_apart(explained(&self.graph).chain(extra), (left, right), distinct)
    }

    /// Reports a tree that contains itself, if there is one.
    fn check_acyclic(&mut self, answers: &mut Answers<'_>) {
        let Some(cycle) = self.graph.cycle() else { return };
        self.cycles += 1;
        self.reasons.clear();
        self.graph.explain_cycle(&cycle, &mut self.reasons);
        self.count_explanation();
        let lits: Vec<Lit> = self.reasons.iter().map(|reason| Lit::from_code(reason.0)).collect();
        let certificate = if self.arguments.is_on() {
            self.arguments.add_cycle(explained(&self.graph), &cycle)
        } else {
            Certificate(0)
        };
        answers.conflict(&lits, certificate);
    }

    /// The number of trees found that contain themselves.
    pub(super) fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The value of an atom of this theory that the graph knows.
    pub fn known(&self, atom: Var) -> Option<bool> {
        let (left, right) = self.sides(atom)?;
        if self.graph.are_equal(left, right) {
            return Some(true);
        }
        self.graph.are_distinct(left, right).then_some(false)
    }
}

impl Theory for Congruence {
    fn assert(&mut self, lit: Lit) -> Result<(), Clash> {
        let Some(&Some(Atom { left, right, is_truth })) = self.atoms.get(lit.var().index()) else {
            return Ok(());
        };
        let reason = Reason(lit.code());
        let result = match (lit.is_positive(), is_truth) {
            (true, _) => self.graph.merge(left, right, reason),
            (false, true) => self.graph.merge(left, Node::FALSE, reason),
            (false, false) => self.graph.distinct(left, right, reason),
        };
        result.map_err(|_| Clash)
    }

    fn push_level(&mut self) {
        self.graph.push();
        self.told_before.push(self.told.len());
    }

    /// Removes assertions, but neither nodes nor atoms.
    fn pop_levels(&mut self, count: u32) {
        self.graph.pop_assertions(count as usize);
        let level = self.graph.level();
        self.told.truncate(self.told_before[level]);
        self.told_before.truncate(level);
    }

    /// Reports the conflict, if there is one, or else everything that the graph has settled since the last check. A
    /// final check also looks for cycles.
    fn check(&mut self, effort: Effort, answers: &mut Answers<'_>) {
        if let Some(conflict) = self.graph.conflict() {
            self.reasons.clear();
            self.graph.explain_conflict(&conflict, &mut self.reasons);
            self.count_explanation();
            let lits: Vec<Lit> = self.reasons.iter().map(|reason| Lit::from_code(reason.0)).collect();
            let Conflict(apart) = conflict;
            let certificate = self.argue(apart, None);
            answers.conflict(&lits, certificate);
            return;
        }
        let first_new = self.told.len();
        self.told.extend_from_slice(self.graph.propagations());
        for (token, propagation) in self.told.iter().enumerate().skip(first_new) {
            let atom = Var::from_index(propagation.token.0 as usize);
            answers.propagate(atom.lit(propagation.holds()), token as u32);
        }
        if effort == Effort::Final {
            self.check_acyclic(answers);
        }
    }

    fn explain(&mut self, _lit: Lit, token: u32, out: &mut Vec<Lit>) -> Certificate {
        self.reasons.clear();
        let told = self.told[token as usize];
        self.graph.explain_propagation(&told, &mut self.reasons);
        self.count_explanation();
        out.extend(self.reasons.iter().map(|reason| Lit::from_code(reason.0)));
        // The argument is that of the conflict with the literal's negation, which adds an equality or a disequality.
        let atom = Var::from_index(told.token.0 as usize);
        let denial = !atom.lit(told.holds());
        let is_truth = self.atoms[atom.index()].is_some_and(|atom| atom.is_truth);
        match told.apart {
            Some(apart) => {
                let extra = EqualNodes {
                    left: told.left,
                    right: told.right,
                    why: ProofWhy::Input(Reason(denial.code())),
                };
                self.argue(apart, Some(extra))
            }
            None if is_truth => {
                let extra = EqualNodes {
                    left: told.left,
                    right: Node::FALSE,
                    why: ProofWhy::Input(Reason(denial.code())),
                };
                self.argue(Apart { left: Node::TRUE, right: Node::FALSE, reason: None }, Some(extra))
            }
            None => {
                let reason = Some(Reason(denial.code()));
                self.argue(Apart { left: told.left, right: told.right, reason }, None)
            }
        }
    }

    fn retain_certificates(&mut self, kept: &mut [Certificate]) {
        self.arguments.retain(kept);
    }

    /// The value that the graph knows.
    fn suggest_phase(&mut self, atom: Var) -> Option<bool> {
        self.known(atom)
    }
}

/// The equalities of the explanation just made.
fn explained(graph: &EGraph) -> impl Iterator<Item = EqualNodes> + use<> {
    graph.explained_edges().into_iter().map(|(left, right, why)| EqualNodes { left, right, why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sat::with_answers;

    #[test]
    fn what_is_made_at_a_level_outlives_it_and_what_is_asserted_does_not() {
        let mut congruence = Congruence::default();
        let (f, a, b) = (congruence.new_symbol(), congruence.new_symbol(), congruence.new_symbol());
        let [a, b] = [a, b].map(|symbol| congruence.node(symbol, &[]));
        let [same, images] = [0, 1].map(Var::from_index);
        congruence.define_equation(same, a, b);
        (0..3).for_each(|_| congruence.push_level());
        assert_eq!(congruence.assert(same.positive()), Ok(()));
        let [fa, fb] = [a, b].map(|node| congruence.node(f, &[node]));
        congruence.define_equation(images, fa, fb);
        with_answers(|answers| congruence.check(Effort::Fast, answers));
        let mut explanation = Vec::new();
        let token = congruence.told.iter().position(|told| told.token == Token(1)).expect("it is told");
        congruence.explain(images.positive(), token as u32, &mut explanation);
        assert_eq!(explanation, [same.positive()]);

        congruence.pop_levels(1);
        assert_eq!((congruence.known(images), congruence.told.len()), (None, 0));
        assert_eq!(congruence.assert(images.negative()), Ok(()));
        assert_eq!(congruence.known(same), None);
        assert_eq!(congruence.assert(same.positive()), Err(Clash));
        let in_conflict = with_answers(|answers| {
            congruence.check(Effort::Fast, answers);
            answers.has_conflict()
        });
        assert!(in_conflict);
    }
}
