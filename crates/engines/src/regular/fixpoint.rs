//! The least fixpoint of Horn clauses in a finite algebra.
//!
//! In a finite algebra, clauses over constructor terms are a Datalog program over states. Constructors are given by
//! tables, so a term `c(x, y)` in a clause is a variable `v` with the *application* `v = c(x, y)`. The program has a least
//! model; the algebra is an invariant if and only if no query fires in it.
//!
//! *Evaluation* is semi-naive: in each round, one body atom of a clause ranges over the facts of the last round, the
//! atoms before it over all facts, those after it over the facts of earlier rounds. So no combination of facts is
//! tried twice. A clause has a plan for each of its atoms. A plan binds variables step by step, and tests whatever is bound as
//! early as possible.
//!
//! *Reads.* Each fact records the cells that its first derivation read, and the states that it chose for variables
//! without any atom or application. If these cells have the same values in another algebra, and the states exist there, then
//! the fact is derivable there too. If a query fires, its reads are the reason. In the same round other instances may fire with
//! smaller reasons.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_run::{Poll, Reason};

use super::automaton::{Algebra, Signature, State, Tuple};

/// The greatest number of arguments: a key has four bits for each.
pub(super) const MOST_ARGUMENTS: usize = 32;

/// Steps between two polls of the limits.
const POLL_INTERVAL: u64 = 1 << 12;

/// The greatest number of facts.
const MOST_FACTS: usize = 1 << 18;

/// The number of violated queries that are kept in a round.
const MOST_VIOLATIONS: usize = 64;

/// A predicate applied to variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Atom {
    pub(super) predicate: usize,
    pub(super) arguments: Box<[usize]>,
}

/// The variable `result` is the value of a constructor for the variables `fields`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Application {
    pub(super) constructor: usize,
    pub(super) fields: Box<[usize]>,
    pub(super) result: usize,
}

/// The variables have one of these tuples of states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Constraint {
    pub(super) variables: Box<[usize]>,
    pub(super) tuples: Vec<Tuple>,
    keys: FxHashSet<u128>,
}

impl Constraint {
    pub(super) fn new(variables: &[usize], tuples: Vec<Tuple>) -> Self {
        let keys = tuples.iter().map(|tuple| key(tuple.iter().copied())).collect();
        Constraint { variables: variables.into(), tuples, keys }
    }
}

/// A clause. Variables are numbered; a query has no head.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Rule {
    /// The sorts of the variables.
    pub(super) sorts: Vec<usize>,
    pub(super) applications: Vec<Application>,
    pub(super) constraints: Vec<Constraint>,
    pub(super) body: Vec<Atom>,
    pub(super) head: Option<Atom>,
}

/// Rules with their plans.
pub(super) struct Program {
    predicates: usize,
    rules: Vec<(Rule, Vec<Plan>)>,
}

/// The order in which a rule binds and tests its variables. The atom that ranges over new facts comes first.
struct Plan {
    new: Option<usize>,
    steps: Vec<Step>,
    /// Variables that range over all states and occur in no application.
    chosen: Vec<usize>,
}

/// Binds variables in all possible ways, or tests bound ones. `bound` says which arguments are bound before.
enum Step {
    Scan { atom: usize, bound: Box<[bool]> },
    Compute { application: usize },
    Invert { application: usize, bound: Box<[bool]>, is_result_bound: bool },
    Select { constraint: usize, bound: Box<[bool]> },
    Test { constraint: usize },
    Choose { variable: usize },
}

impl Program {
    pub(super) fn new(predicates: usize, rules: Vec<Rule>) -> Self {
        let with_plans = |rule: Rule| {
            let plans = match rule.body.len() {
                0 => vec![Plan::of(&rule, None)],
                atoms => (0..atoms).map(|atom| Plan::of(&rule, Some(atom))).collect(),
            };
            (rule, plans)
        };
        Program { predicates, rules: rules.into_iter().map(with_plans).collect() }
    }
}

impl Plan {
    fn of(rule: &Rule, new: Option<usize>) -> Self {
        let mut is_bound = vec![false; rule.sorts.len()];
        let mut open_atoms: Vec<usize> = (0..rule.body.len()).collect();
        let mut open_applications: Vec<usize> = (0..rule.applications.len()).collect();
        let mut open_constraints: Vec<usize> = (0..rule.constraints.len()).collect();
        let mut steps = Vec::new();
        let mut chosen = Vec::new();
        let bound = |is_bound: &[bool], variables: &[usize]| -> Box<[bool]> {
            let mut seen: Vec<usize> = Vec::new();
            let of = variables.iter().map(|&variable| {
                // A variable that occurs twice is bound by its first occurrence.
                let is_bound = is_bound[variable] || seen.contains(&variable);
                seen.push(variable);
                is_bound
            });
            of.collect()
        };
        if let Some(atom) = new {
            let variables = &rule.body[atom].arguments;
            steps.push(Step::Scan { atom, bound: bound(&is_bound, variables) });
            variables.iter().for_each(|&variable| is_bound[variable] = true);
            open_atoms.retain(|&open| open != atom);
        }
        loop {
            let all = |is_bound: &[bool], variables: &[usize]| variables.iter().all(|&v| is_bound[v]);
            // What binds at most one value comes first.
            if let Some(at) =
                open_constraints.iter().position(|&c| all(&is_bound, &rule.constraints[c].variables))
            {
                steps.push(Step::Test { constraint: open_constraints.remove(at) });
                continue;
            }
            if let Some(at) =
                open_applications.iter().position(|&a| all(&is_bound, &rule.applications[a].fields))
            {
                let application = open_applications.remove(at);
                let result = rule.applications[application].result;
                if is_bound[result] {
                    let fields = vec![true; rule.applications[application].fields.len()];
                    steps.push(Step::Invert { application, bound: fields.into(), is_result_bound: true });
                } else {
                    steps.push(Step::Compute { application });
                    is_bound[result] = true;
                }
                continue;
            }
            // Then atoms and constraints that share variables with what is bound, the most first; then applications
            // backwards; then whatever is left.
            let score = |is_bound: &[bool], variables: &[usize]| {
                let count = variables.iter().filter(|&&variable| is_bound[variable]).count();
                (variables.len() - count, variables.len())
            };
            let is_connected = |is_bound: &[bool], variables: &[usize]| {
                variables.is_empty() || variables.iter().any(|&variable| is_bound[variable])
            };
            let best_atom = open_atoms.iter().copied().min_by_key(|&atom| {
                let variables = &rule.body[atom].arguments;
                (!is_connected(&is_bound, variables), score(&is_bound, variables))
            });
            let best_constraint = open_constraints.iter().copied().min_by_key(|&constraint| {
                let variables = &rule.constraints[constraint].variables;
                (!is_connected(&is_bound, variables), score(&is_bound, variables))
            });
            let inverted = open_applications
                .iter()
                .copied()
                .find(|&application| is_bound[rule.applications[application].result]);
            let atom_is_connected =
                best_atom.is_some_and(|atom| is_connected(&is_bound, &rule.body[atom].arguments));
            let constraint_is_connected = best_constraint
                .is_some_and(|constraint| is_connected(&is_bound, &rule.constraints[constraint].variables));
            if let Some(atom) = best_atom.filter(|_| atom_is_connected || inverted.is_none()) {
                let variables = &rule.body[atom].arguments;
                steps.push(Step::Scan { atom, bound: bound(&is_bound, variables) });
                variables.iter().for_each(|&variable| is_bound[variable] = true);
                open_atoms.retain(|&open| open != atom);
            } else if let Some(application) = inverted.filter(|_| !constraint_is_connected) {
                let fields = &rule.applications[application].fields;
                let bound = bound(&is_bound, fields);
                steps.push(Step::Invert { application, bound, is_result_bound: true });
                fields.iter().for_each(|&variable| is_bound[variable] = true);
                open_applications.retain(|&open| open != application);
            } else if let Some(constraint) = best_constraint {
                let variables = &rule.constraints[constraint].variables;
                steps.push(Step::Select { constraint, bound: bound(&is_bound, variables) });
                variables.iter().for_each(|&variable| is_bound[variable] = true);
                open_constraints.retain(|&open| open != constraint);
            } else if let Some(&application) = open_applications.first() {
                let fields = &rule.applications[application].fields;
                let bound = bound(&is_bound, fields);
                steps.push(Step::Invert { application, bound, is_result_bound: false });
                fields.iter().for_each(|&variable| is_bound[variable] = true);
                is_bound[rule.applications[application].result] = true;
                open_applications.remove(0);
            } else if let Some(variable) = is_bound.iter().position(|&is_bound| !is_bound) {
                steps.push(Step::Choose { variable });
                chosen.push(variable);
                is_bound[variable] = true;
            } else {
                break;
            }
        }
        // A constraint chooses states as well.
        let in_atoms: FxHashSet<usize> =
            rule.body.iter().flat_map(|atom| atom.arguments.iter().copied()).collect();
        let in_applications: FxHashSet<usize> = rule
            .applications
            .iter()
            .flat_map(|application| application.fields.iter().chain([&application.result]).copied())
            .collect();
        for variable in rule.constraints.iter().flat_map(|constraint| constraint.variables.iter().copied()) {
            if !in_atoms.contains(&variable)
                && !in_applications.contains(&variable)
                && !chosen.contains(&variable)
            {
                chosen.push(variable);
            }
        }
        Plan { new, steps, chosen }
    }
}

/// The cells and states that a derivation depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reads {
    /// Constructors with the numbers of cells in their tables.
    pub(super) cells: Vec<(usize, usize)>,
    /// Sorts with their states.
    pub(super) states: Vec<(usize, State)>,
}

/// The least model, or why a query fires.
#[derive(Debug)]
pub(super) enum Outcome {
    /// No query fires. By predicates: the facts.
    Model(Vec<Vec<Tuple>>),
    /// Reasons for violated queries, smallest first.
    Violated(Vec<Reads>),
    /// There are too many facts or steps.
    TooLarge,
}

/// Computes the least model of a program in an algebra.
pub(super) fn least_model(
    program: &Program,
    signature: &Signature,
    algebra: &Algebra,
    most_steps: u64,
    poll: &Poll<'_>,
) -> Result<Outcome, Reason> {
    let mut evaluation = Evaluation::new(program, signature, algebra, most_steps, poll);
    evaluation.run()
}

/// The facts of a predicate: first those of earlier rounds, then the new ones.
#[derive(Default)]
struct Facts {
    tuples: Vec<Tuple>,
    numbers: FxHashMap<u128, usize>,
    /// One row of words for each fact.
    reads: Vec<u64>,
    old: usize,
    /// Facts that this round derives come after these.
    known: usize,
}

struct Evaluation<'a> {
    program: &'a Program,
    signature: &'a Signature,
    algebra: &'a Algebra,
    poll: &'a Poll<'a>,
    facts: Vec<Facts>,
    /// The first bit of each constructor's cells, then that of each sort's states.
    cell_bits: Vec<usize>,
    state_bits: Vec<usize>,
    words: usize,
    steps: u64,
    most_steps: u64,
    facts_in_all: usize,
    violations: Vec<Box<[u64]>>,
    is_too_large: bool,
}

impl<'a> Evaluation<'a> {
    fn new(
        program: &'a Program,
        signature: &'a Signature,
        algebra: &'a Algebra,
        most_steps: u64,
        poll: &'a Poll<'a>,
    ) -> Self {
        let mut bits = 0;
        let mut take = |count: usize| {
            bits += count;
            bits - count
        };
        let constructors = 0..signature.constructors.len();
        let cell_bits = constructors.map(|number| take(algebra.table(number).len())).collect();
        let state_bits = algebra.sizes().iter().map(|&size| take(size)).collect();
        Evaluation {
            program,
            signature,
            algebra,
            poll,
            facts: (0..program.predicates).map(|_| Facts::default()).collect(),
            cell_bits,
            state_bits,
            words: bits.div_ceil(64),
            steps: 0,
            most_steps,
            facts_in_all: 0,
            violations: Vec::new(),
            is_too_large: false,
        }
    }

    fn run(&mut self) -> Result<Outcome, Reason> {
        let program = self.program;
        let mut is_first = true;
        loop {
            for (rule, plans) in &program.rules {
                for plan in plans.iter().filter(|plan| is_first || plan.new.is_some()) {
                    self.execute(rule, plan)?;
                    if self.is_too_large {
                        return Ok(Outcome::TooLarge);
                    }
                }
            }
            is_first = false;
            if !self.violations.is_empty() {
                return Ok(Outcome::Violated(self.reasons()));
            }
            let mut changed = false;
            for facts in &mut self.facts {
                facts.old = facts.known;
                facts.known = facts.tuples.len();
                changed |= facts.old < facts.known;
            }
            if !changed {
                let tuples = self.facts.iter_mut().map(|facts| std::mem::take(&mut facts.tuples));
                return Ok(Outcome::Model(tuples.collect()));
            }
        }
    }

    /// Fires a rule for all combinations of facts with a new one at the place that the plan names.
    fn execute(&mut self, rule: &Rule, plan: &Plan) -> Result<(), Reason> {
        let mut values: Vec<State> = vec![0; rule.sorts.len()];
        let mut parents: Vec<usize> = vec![0; rule.body.len()];
        // The next alternative of each step.
        let mut alternatives: Vec<usize> = vec![0; plan.steps.len() + 1];
        let mut level = 0;
        loop {
            self.steps += 1;
            if self.steps.is_multiple_of(POLL_INTERVAL)
                && let Some(reason) = self.poll.interruption()
            {
                return Err(reason);
            }
            if self.steps > self.most_steps || self.facts_in_all > MOST_FACTS {
                self.is_too_large = true;
                return Ok(());
            }
            let is_bound = match plan.steps.get(level) {
                None => {
                    self.fire(rule, plan, &values, &parents);
                    false
                }
                Some(step) => {
                    self.next(rule, plan, step, &mut alternatives[level], &mut values, &mut parents)
                }
            };
            if is_bound {
                level += 1;
                alternatives[level] = 0;
            } else if level == 0 {
                return Ok(());
            } else {
                level -= 1;
            }
        }
    }

    /// Goes to the next alternative of a step. Returns whether there is one.
    fn next(
        &mut self,
        rule: &Rule,
        plan: &Plan,
        step: &Step,
        alternative: &mut usize,
        values: &mut [State],
        parents: &mut [usize],
    ) -> bool {
        match step {
            Step::Scan { atom, bound } => {
                let Atom { predicate, arguments } = &rule.body[*atom];
                let facts = &self.facts[*predicate];
                let (first, end) = match plan.new {
                    Some(new) if *atom == new => (facts.old, facts.known),
                    Some(new) if *atom < new => (0, facts.known),
                    _ => (0, facts.old),
                };
                if bound.iter().all(|&is_bound| is_bound) {
                    if std::mem::replace(alternative, 1) == 1 {
                        return false;
                    }
                    let number = facts.numbers.get(&key(arguments.iter().map(|&variable| values[variable])));
                    let Some(&number) = number.filter(|&&number| (first..end).contains(&number)) else {
                        return false;
                    };
                    parents[*atom] = number;
                    return true;
                }
                let mut number = first + *alternative;
                while number < end {
                    if bind(arguments, bound, &facts.tuples[number], values) {
                        parents[*atom] = number;
                        *alternative = number + 1 - first;
                        return true;
                    }
                    number += 1;
                    self.steps += 1;
                }
                false
            }
            Step::Compute { application } => {
                let Application { constructor, fields, result } = &rule.applications[*application];
                values[*result] = self.value(*constructor, fields, values);
                std::mem::replace(alternative, 1) == 0
            }
            Step::Invert { application, bound, is_result_bound } => {
                let Application { constructor, fields, result } = &rule.applications[*application];
                if bound.iter().all(|&is_bound| is_bound) {
                    return std::mem::replace(alternative, 1) == 0
                        && values[*result] == self.value(*constructor, fields, values);
                }
                let table = self.algebra.table(*constructor);
                let sorts = &self.signature.constructors[*constructor].fields;
                while *alternative < table.len() {
                    let (cell, value) = (*alternative, table[*alternative]);
                    *alternative += 1;
                    self.steps += 1;
                    if *is_result_bound && values[*result] != value {
                        continue;
                    }
                    let fits = bind_cell(fields, bound, sorts, self.algebra.sizes(), cell, values);
                    // The result may be one of the fields: a cyclic equation of states.
                    let is_field = !*is_result_bound && fields.contains(result);
                    if fits && !(is_field && values[*result] != value) {
                        values[*result] = value;
                        return true;
                    }
                }
                false
            }
            Step::Select { constraint, bound } => {
                let Constraint { variables, tuples, .. } = &rule.constraints[*constraint];
                while let Some(tuple) = tuples.get(*alternative) {
                    *alternative += 1;
                    self.steps += 1;
                    if bind(variables, bound, tuple, values) {
                        return true;
                    }
                }
                false
            }
            Step::Test { constraint } => {
                let Constraint { variables, keys, .. } = &rule.constraints[*constraint];
                std::mem::replace(alternative, 1) == 0
                    && keys.contains(&key(variables.iter().map(|&variable| values[variable])))
            }
            Step::Choose { variable } => {
                let state = *alternative;
                *alternative += 1;
                values[*variable] = state as State;
                state < self.algebra.sizes()[rule.sorts[*variable]]
            }
        }
    }

    fn value(&self, constructor: usize, fields: &[usize], values: &[State]) -> State {
        let of = &self.signature.constructors[constructor];
        let cell = self.algebra.cell(of, fields.iter().map(|&variable| values[variable]));
        self.algebra.table(constructor)[cell]
    }

    fn fire(&mut self, rule: &Rule, plan: &Plan, values: &[State], parents: &[usize]) {
        let fact = rule.head.as_ref().map(|atom| {
            let tuple: Tuple = atom.arguments.iter().map(|&variable| values[variable]).collect();
            (atom.predicate, key(tuple.iter().copied()), tuple)
        });
        if let Some((predicate, key, _)) = &fact
            && self.facts[*predicate].numbers.contains_key(key)
        {
            return;
        }
        let mut reads = vec![0_u64; self.words];
        for (atom, &parent) in rule.body.iter().zip(parents) {
            let of_parent = &self.facts[atom.predicate].reads[parent * self.words..][..self.words];
            reads.iter_mut().zip(of_parent).for_each(|(word, &more)| *word |= more);
        }
        let mut read = |bit: usize| reads[bit / 64] |= 1 << (bit % 64);
        for Application { constructor, fields, .. } in &rule.applications {
            let of = &self.signature.constructors[*constructor];
            let cell = self.algebra.cell(of, fields.iter().map(|&variable| values[variable]));
            read(self.cell_bits[*constructor] + cell);
        }
        for &variable in &plan.chosen {
            read(self.state_bits[rule.sorts[variable]] + usize::from(values[variable]));
        }
        match fact {
            Some((predicate, key, tuple)) => {
                let facts = &mut self.facts[predicate];
                facts.numbers.insert(key, facts.tuples.len());
                facts.tuples.push(tuple);
                facts.reads.extend(reads);
                self.facts_in_all += 1;
            }
            None if self.violations.len() < MOST_VIOLATIONS => self.violations.push(reads.into()),
            None => {}
        }
    }

    /// The reasons for violated queries, smallest first.
    fn reasons(&mut self) -> Vec<Reads> {
        let mut violations = std::mem::take(&mut self.violations);
        violations.sort_by_key(|bits| bits.iter().map(|word| word.count_ones()).sum::<u32>());
        violations.dedup();
        let has = |bits: &[u64], bit: usize| bits[bit / 64] & (1 << (bit % 64)) != 0;
        let reason = |bits: &[u64]| {
            let constructors = 0..self.signature.constructors.len();
            let cells = constructors.flat_map(|constructor| {
                (0..self.algebra.table(constructor).len()).map(move |cell| (constructor, cell))
            });
            let sorts = 0..self.signature.sorts;
            let states = sorts
                .flat_map(|sort| (0..self.algebra.sizes()[sort]).map(move |state| (sort, state as State)));
            Reads {
                cells: cells.filter(|&(of, cell)| has(bits, self.cell_bits[of] + cell)).collect(),
                states: states.filter(|&(of, at)| has(bits, self.state_bits[of] + usize::from(at))).collect(),
            }
        };
        violations.iter().map(|bits| reason(bits)).collect()
    }
}

/// Binds variables to a tuple, if it agrees with those that are bound.
fn bind(variables: &[usize], bound: &[bool], tuple: &[State], values: &mut [State]) -> bool {
    for ((&variable, &is_bound), &state) in variables.iter().zip(bound).zip(tuple) {
        if !is_bound {
            values[variable] = state;
        } else if values[variable] != state {
            return false;
        }
    }
    true
}

/// Binds variables to the fields of a cell, if they agree with those that are bound.
fn bind_cell(
    variables: &[usize],
    bound: &[bool],
    sorts: &[usize],
    sizes: &[usize],
    cell: usize,
    values: &mut [State],
) -> bool {
    let mut weight: usize = sorts.iter().map(|&sort| sizes[sort]).product();
    let mut rest = cell;
    for ((&variable, &is_bound), &sort) in variables.iter().zip(bound).zip(sorts) {
        weight /= sizes[sort];
        let state = (rest / weight) as State;
        rest %= weight;
        if !is_bound {
            values[variable] = state;
        } else if values[variable] != state {
            return false;
        }
    }
    true
}

/// A number for a tuple of at most [`MOST_ARGUMENTS`] states below 16.
fn key(states: impl Iterator<Item = State>) -> u128 {
    states.fold(0, |key, state| key << 4 | u128::from(state))
}
