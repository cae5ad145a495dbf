//! A circuit as a linear system of Horn clauses over `Bool`.
//!
//! The system has one predicate, `state`, over the latches, and three clauses:
//!
//! ```text
//! resets(l, i)                                   =>  state(l)
//! state(l)  and  constraints(l, i)  and  l' = next(l, i)  =>  state(l')
//! state(l)  and  constraints(l, i)  and  bad(l, i)        =>  false
//! ```
//!
//! * `state(l)` is derivable exactly if a run reaches `l` and satisfies the constraints in all steps *before*. The step that
//!   leaves `l`, or is bad in `l`, satisfies them too. So the constraints hold in all steps, the last one included.
//! * Reset functions see the inputs of step 0, and the rest of step 0 must see the same values. Inputs that reset functions
//!   depend on are therefore arguments of `state` too: each step has chosen their values for the next one.
//! * Each gate is one shared term, and a clause has one constraint. So the printed text is linear in the circuit: a gate with
//!   several uses is a `let`.

use rustc_hash::FxHashSet;
use shofar_hardware::aig::{Edge, Node};
use shofar_hardware::circuit::{Circuit, Reset};
use shofar_horn::{Context, HornSystem, SystemBuilder};
use shofar_logic::{Op, Sort, Term, TermStore};
use shofar_run::Reason;

/// The predicate of reachable states.
const STATE: &str = "state";

/// The names of the core theory. In a clause, a variable of this name would hide the operator.
const CORE: [&str; 10] = ["true", "false", "not", "and", "or", "xor", "=>", "=", "distinct", "ite"];

/// The clauses that are satisfiable exactly if none of the edges is ever true. The error is a limit.
pub fn clauses_of(context: &Context<'_>, circuit: &Circuit, bads: &[Edge]) -> Result<HornSystem, Reason> {
    let store = context.store;
    let held = inputs_of_resets(circuit);
    let leaves = Leaves::new(store, circuit, &held);
    context.go_on()?;
    let formulas = Formulas::new(store, circuit, bads, &leaves.now);
    context.go_on()?;

    let state: Vec<Node> =
        circuit.latches.iter().map(|latch| latch.node).chain(held.iter().copied()).collect();
    let now: Vec<Term> = state.iter().map(|&node| formulas.of(node.into())).collect();

    let mut clauses = SystemBuilder::new(store);
    let predicate = clauses.predicate(STATE, &vec![Sort::BOOL; state.len()]);
    let predicate = predicate.expect("the system has no other predicate");

    let mut init = clauses.clause().named("init");
    for latch in &circuit.latches {
        let value = formulas.of(latch.node.into());
        match latch.reset {
            Reset::Constant(true) => init = init.when(value),
            Reset::Constant(false) => init = init.when(negation(store, value)),
            Reset::Free => {}
            Reset::Function(edge) => init = init.when(equation(store, value, formulas.of(edge))),
        }
    }
    init.implies(predicate, &now).expect("clauses of circuits are Boolean");

    let mut step = clauses.clause().named("step").atom(predicate, &now);
    for &constraint in &circuit.constraints {
        step = step.when(formulas.of(constraint));
    }
    for (latch, &next) in circuit.latches.iter().zip(&leaves.next) {
        step = step.when(equation(store, next, formulas.of(latch.next)));
    }
    step.implies(predicate, &leaves.next).expect("clauses of circuits are Boolean");

    let mut query = clauses.clause().named("bad").atom(predicate, &now);
    for &constraint in &circuit.constraints {
        query = query.when(formulas.of(constraint));
    }
    let bads: Vec<Term> = bads.iter().map(|&bad| formulas.of(bad)).collect();
    query.when(disjunction(store, &bads)).implies_false().expect("clauses of circuits are Boolean");
    Ok(clauses.finish())
}

/// The inputs that reset functions depend on, in the order of the circuit.
fn inputs_of_resets(circuit: &Circuit) -> Vec<Node> {
    let cone = circuit.aig.cone(reset_functions(circuit));
    circuit.inputs.iter().copied().filter(|input| cone[input.index()]).collect()
}

fn reset_functions(circuit: &Circuit) -> impl Iterator<Item = Edge> + '_ {
    circuit.latches.iter().filter_map(|latch| match latch.reset {
        Reset::Function(edge) => Some(edge),
        Reset::Constant(_) | Reset::Free => None,
    })
}

/// The variables of the clauses.
struct Leaves {
    /// By nodes: the variable of a leaf; `FALSE` for other nodes.
    now: Vec<Term>,
    /// The variables of the next state, in the order of the arguments of `state`.
    next: Vec<Term>,
}

impl Leaves {
    fn new(store: &TermStore, circuit: &Circuit, held: &[Node]) -> Self {
        let mut names = Names { store, taken: FxHashSet::from_iter([STATE.to_owned()]) };
        let latches: Vec<Node> = circuit.latches.iter().map(|latch| latch.node).collect();
        let mut now = vec![Term::FALSE; circuit.aig.len()];
        let kinds = [("l", &latches, &circuit.names.latches), ("i", &circuit.inputs, &circuit.names.inputs)];
        for (kind, nodes, given) in kinds {
            for (index, node) in nodes.iter().enumerate() {
                let given = given.get(index).map_or("", String::as_str);
                now[node.index()] = names.variable(given, &format!("{kind}{index}"));
            }
        }
        let next = |node: &Node| {
            let name = format!("{}.next", names.name_of(now[node.index()]));
            names.variable(&name, &name)
        };
        let next = latches.iter().chain(held).map(next).collect();
        Leaves { now, next }
    }
}

/// Gives variables different names that can be printed.
struct Names<'a> {
    store: &'a TermStore,
    taken: FxHashSet<String>,
}

impl Names<'_> {
    /// A variable with the given name, or if that does not work, with the other name and perhaps a suffix.
    fn variable(&mut self, given: &str, other: &str) -> Term {
        let is_usable =
            !given.is_empty() && !given.contains(['|', '\\']) && !given.contains(char::is_control);
        let mut name = if is_usable { given } else { other }.to_owned();
        let mut suffix = 0;
        while CORE.contains(&&*name) || !self.taken.insert(name.clone()) {
            suffix += 1;
            name = format!("{other}!{suffix}");
        }
        self.store.var(self.store.symbol(&name), Sort::BOOL)
    }

    fn name_of(&self, variable: Term) -> &str {
        match self.store.op(variable) {
            Op::Var(name) => self.store.name(name),
            _ => unreachable!("a leaf is a variable"),
        }
    }
}

/// The formulas of the nodes that a circuit's functions depend on.
struct Formulas<'a> {
    store: &'a TermStore,
    /// By nodes; `FALSE` for gates that no function needs.
    of_nodes: Vec<Term>,
}

impl<'a> Formulas<'a> {
    fn new(store: &'a TermStore, circuit: &Circuit, bads: &[Edge], leaves: &[Term]) -> Self {
        let next = circuit.latches.iter().map(|latch| latch.next);
        let roots = reset_functions(circuit)
            .chain(next)
            .chain(circuit.constraints.iter().copied())
            .chain(bads.iter().copied());
        let needed = circuit.aig.cone(roots);
        let mut formulas = Formulas { store, of_nodes: leaves.to_vec() };
        for node in circuit.aig.nodes().filter(|node| needed[node.index()]) {
            if let Some(fanins) = circuit.aig.and_fanins(node) {
                let fanins = fanins.map(|edge| formulas.of(edge));
                formulas.of_nodes[node.index()] = application(store, Op::And, &fanins);
            }
        }
        formulas
    }

    /// The formula of an edge.
    fn of(&self, edge: Edge) -> Term {
        let formula = self.of_nodes[edge.node().index()];
        if edge.is_negated() { negation(self.store, formula) } else { formula }
    }
}

fn negation(store: &TermStore, formula: Term) -> Term {
    match formula {
        Term::FALSE => Term::TRUE,
        _ => application(store, Op::Not, &[formula]),
    }
}

fn equation(store: &TermStore, left: Term, right: Term) -> Term {
    application(store, Op::Eq, &[left, right])
}

fn disjunction(store: &TermStore, formulas: &[Term]) -> Term {
    match *formulas {
        [] => Term::FALSE,
        [only] => only,
        _ => application(store, Op::Or, formulas),
    }
}

/// An application as written: normal forms could be larger than the circuit.
fn application(store: &TermStore, op: Op, arguments: &[Term]) -> Term {
    store.app(op, arguments).expect("all arguments are formulas")
}
