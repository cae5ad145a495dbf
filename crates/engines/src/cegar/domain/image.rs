//! Images of labels along one edge.
//!
//! Each edge has a solver, in which its guard is asserted; labels and predicates are assumed. What the solver has found is
//! used again:
//!
//! - *Examples*: models of the guard. An example that satisfies a label shows that there is a successor, and it refutes each
//!   predicate that is false there. One example decides many predicates.
//! - *Cores*: sets of formulas from which a literal follows at the target, or which have no successor. They hold for every
//!   label with these formulas.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use shofar_horn::cfa::CfaEdgeId;
use shofar_logic::{Assignment, Term, TermStore, Value};
use shofar_run::{Reason, Stop};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::super::arg::{Label, is_subset, label_of};
use super::super::program::Program;
use crate::Run;

/// The greatest number of examples of an edge. The least recently used ones are forgotten.
const MOST_EXAMPLES: usize = 64;

/// The greatest number of cores of one literal.
const MOST_CORES: usize = 64;

/// A model of an edge.
pub(super) struct Example {
    model: Assignment,
    /// The truth of formulas, as far as asked for.
    truth: RefCell<FxHashMap<Term, Option<bool>>>,
}

impl Example {
    /// Whether a formula over the edge's variables is true; `None` if the model does not say.
    pub(super) fn satisfies(&self, store: &TermStore, formula: Term) -> Option<bool> {
        *self.truth.borrow_mut().entry(formula).or_insert_with(|| match store.eval(formula, &self.model) {
            Ok(Value::Bool(truth)) => Some(truth),
            _ => None,
        })
    }

    /// The value of a term over the edge's variables; `None` if the model leaves it open.
    pub(super) fn value(&self, store: &TermStore, term: Term) -> Option<Value> {
        store.eval(term, &self.model).ok()
    }
}

/// The answer to a query.
pub(super) enum Answer {
    /// There is a successor.
    Some(Rc<Example>),
    /// No successor exists.
    None,
    /// The solver does not decide it.
    Unknown,
}

/// An edge with its solver.
pub(super) struct Image<'a> {
    run: &'a Run<'a>,
    program: &'a Program<'a>,
    edge: CfaEdgeId,
    solver: Solver<'a>,
    /// Formulas at the target, as formulas at the source.
    instances: FxHashMap<Term, Term>,
    /// The most recently used one first.
    examples: VecDeque<Rc<Example>>,
    /// For each literal over the edge's variables, the sets of formulas from which it follows. Those of `false` have no
    /// successor.
    cores: FxHashMap<Term, Vec<Label>>,
    pub(super) queries: u64,
}

impl<'a> Image<'a> {
    pub(super) fn new(run: &'a Run<'a>, program: &'a Program<'a>, edge: CfaEdgeId) -> Result<Self, Stop> {
        let mut solver = run.solver();
        run.assert(&mut solver, &program.relation(edge).guard)?;
        let (instances, cores) = Default::default();
        Ok(Image { run, program, edge, solver, instances, examples: VecDeque::new(), cores, queries: 0 })
    }

    /// A formula over the target's variables as one over the edge's variables.
    pub(super) fn before(&mut self, formula: Term) -> Term {
        let (store, relation) = (self.program.store, self.program.relation(self.edge));
        *self.instances.entry(formula).or_insert_with(|| relation.before(store, formula))
    }

    /// The known examples that satisfy a label.
    pub(super) fn examples(&mut self, label: &[Term]) -> Vec<Rc<Example>> {
        let store = self.program.store;
        let satisfies = |example: &Rc<Example>| {
            label.iter().all(|&formula| example.satisfies(store, formula) == Some(true))
        };
        self.examples.iter().filter(|example| satisfies(example)).cloned().collect()
    }

    /// Whether a literal is known to follow from a label, `false` if the label has no successor.
    pub(super) fn is_known(&self, label: &[Term], literal: Term) -> bool {
        self.cores.get(&literal).is_some_and(|cores| cores.iter().any(|core| is_subset(core, label)))
    }

    /// Asks for a successor of a label that satisfies further formulas over the edge's variables. If no
    /// successor does, the literals follow from the label.
    pub(super) fn ask(
        &mut self,
        label: &[Term],
        further: &[Term],
        literals: &[Term],
    ) -> Result<Answer, Stop> {
        self.queries += 1;
        let assumptions = [label, further].concat();
        let outcome = self.solver.check(&assumptions, &self.run.limits);
        match outcome.map_err(|unsupported| unsupported.stop(self.run.store))? {
            Outcome::Sat => {
                let model = self.solver.model(&self.program.relation(self.edge).variables);
                let example = Rc::new(Example { model, truth: Default::default() });
                self.examples.truncate(MOST_EXAMPLES - 1);
                self.examples.push_front(example.clone());
                Ok(Answer::Some(example))
            }
            Outcome::Unsat => {
                let core = label_of(self.solver.core().into_iter().filter(|formula| label.contains(formula)));
                for &literal in literals {
                    let cores = self.cores.entry(literal).or_default();
                    if cores.len() == MOST_CORES {
                        cores.remove(0);
                    }
                    cores.push(core.clone());
                }
                Ok(Answer::None)
            }
            Outcome::Unknown(Reason::Incomplete | Reason::Budget) => Ok(Answer::Unknown),
            Outcome::Unknown(reason) => Err(reason.into()),
        }
    }

    /// Opens a frame for [`exclude`](Self::exclude).
    pub(super) fn push(&mut self) {
        self.solver.push();
    }

    /// Removes what was excluded since the frame was opened.
    pub(super) fn pop(&mut self) {
        self.solver.pop();
    }

    /// Excludes all successors that satisfy these formulas over the edge's variables.
    pub(super) fn exclude(&mut self, formulas: &[Term]) -> Result<(), Stop> {
        let store = self.program.store;
        let clause = store.or_of(formulas.iter().map(|&formula| store.not(formula)));
        self.run.assert(&mut self.solver, &[clause])
    }

    /// The state after the edge in an example, unless the example leaves it open.
    pub(super) fn state(&mut self, example: &Example) -> Option<Assignment> {
        let target = self.program.variables(self.program.cfa.edge(self.edge).target);
        let mut state = Assignment::new();
        for &variable in target {
            let term = self.before(variable);
            state.set(variable, example.value(self.program.store, term)?);
        }
        Some(state)
    }
}
