//! The clauses whose runs are asked for: facts and rules, and the loops of rules.
//!
//! A *run* begins with a fact `C => P(t)`; each step applies a *rule* `P(s) and C => Q(t)` to the fact before. Queries are no
//! part of it. So all runs end exactly if no sequence of derived facts, each from the one before, is infinite.

use shofar_horn::witness::parameters;
use shofar_horn::{Clause, HornSystem, scc};
use shofar_logic::{Op, Sort, Substitution, Term, TermStore};
use shofar_run::Stop;
use shofar_smt::supports;

use super::certificate::Choice;

/// Facts and rules of linear clauses over integers, reals and Booleans.
pub(crate) struct Problem<'a> {
    pub(crate) store: &'a TermStore,
    pub(crate) system: &'a HornSystem,
    /// Variables for the arguments of each predicate.
    pub(crate) parameters: Vec<Box<[Term]>>,
    /// The clauses that are facts.
    pub(crate) facts: Vec<usize>,
    pub(crate) rules: Vec<Rule>,
    /// The component of each predicate. No rule leads to a component of higher number.
    pub(crate) components: Vec<usize>,
    /// The component of each predicate that is on a cycle of rules.
    pub(crate) loops_of: Vec<Option<usize>>,
}

/// A clause from one predicate to another or to itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    pub(crate) clause: usize,
    pub(crate) source: usize,
    pub(crate) target: usize,
}

impl<'a> Problem<'a> {
    /// The problem of a system, if it is linear and has supported sorts only.
    pub(crate) fn of(store: &'a TermStore, system: &'a HornSystem) -> Result<Self, Stop> {
        if let Some(&function) = system.functions.first() {
            let name = store.display_symbol(store.fun_decl(function).name);
            return Err(Stop::Unsupported(format!("declared functions other than predicates, as {name}")));
        }
        let (mut facts, mut rules) = (Vec::new(), Vec::new());
        for (number, clause) in system.clauses.iter().enumerate() {
            let Some(head) = &clause.head else { continue };
            is_supported(store, system, number)?;
            match &*clause.body {
                [] => facts.push(number),
                [body] => rules.push(Rule {
                    clause: number,
                    source: body.predicate.index(),
                    target: head.predicate.index(),
                }),
                _ => {
                    let title = system.clause_title(store, number);
                    return Err(Stop::Unsupported(format!("several predicates in the body of {title}")));
                }
            }
        }
        let mut successors = vec![Vec::new(); system.predicates().len()];
        rules.iter().for_each(|rule| successors[rule.source].push(rule.target));
        let (components, _) = scc::components(&successors);
        let mut loops_of = vec![None; components.len()];
        for rule in &rules {
            if components[rule.source] == components[rule.target] {
                loops_of[rule.source] = Some(components[rule.source]);
                loops_of[rule.target] = Some(components[rule.source]);
            }
        }
        let parameters = parameters(store, system);
        Ok(Problem { store, system, parameters, facts, rules, components, loops_of })
    }

    pub(crate) fn clause(&self, number: usize) -> &'a Clause {
        &self.system.clauses[number]
    }

    /// The arguments of a rule's body.
    pub(crate) fn body(&self, rule: &Rule) -> &'a [Term] {
        &self.clause(rule.clause).body[0].args
    }

    /// The arguments of a rule's head.
    pub(crate) fn head(&self, rule: &Rule) -> &'a [Term] {
        self.clause(rule.clause).head.as_ref().map_or(&[], |head| &head.args)
    }

    /// The component in which a rule stays, if it does.
    pub(crate) fn component_of_rule(&self, rule: &Rule) -> Option<usize> {
        let component = self.components[rule.source];
        (component == self.components[rule.target]).then_some(component)
    }

    /// The components with cycles.
    pub(crate) fn loops(&self) -> Vec<usize> {
        let mut loops: Vec<usize> = self.loops_of.iter().flatten().copied().collect();
        loops.sort_unstable();
        loops.dedup();
        loops
    }

    /// The name of a predicate.
    pub(crate) fn name(&self, predicate: usize) -> String {
        let fun = self.system.predicates().nth(predicate).map(|(_, fun)| fun);
        fun.map_or_else(String::new, |fun| self.store.name(self.store.fun_decl(fun).name).to_owned())
    }

    /// The sorts of the arguments of a predicate.
    pub(crate) fn sorts(&self, predicate: usize) -> Vec<Sort> {
        self.parameters[predicate].iter().map(|&parameter| self.store.sort_of(parameter)).collect()
    }

    /// Terms over the parameters of a predicate, for its arguments.
    pub(crate) fn at(&self, terms: &[Term], predicate: usize, args: &[Term]) -> Vec<Term> {
        let parameters = self.parameters[predicate].iter().copied();
        let images: Substitution = parameters.zip(args.iter().copied()).collect();
        terms.iter().map(|&term| self.store.normalize(self.store.substitute(term, &images))).collect()
    }

    /// New variables for the arguments of a predicate.
    pub(crate) fn copies(&self, predicate: usize) -> Vec<Term> {
        let store = self.store;
        let copy = |&parameter: &Term| {
            let Op::Var(name) = store.op(parameter) else { return parameter };
            store.var(store.fresh_symbol(store.name(name)), store.sort_of(parameter))
        };
        self.parameters[predicate].iter().map(copy).collect()
    }

    /// When a choice is possible, and the arguments of the head then, over the parameters of the body's predicate.
    pub(crate) fn chosen(&self, rule: &Rule, choice: &Choice) -> (Term, Vec<Term>) {
        let store = self.store;
        let clause = self.clause(rule.clause);
        let values: Substitution =
            clause.variables.iter().copied().zip(choice.values.iter().copied()).collect();
        let image = |term: Term| store.normalize(store.substitute(term, &values));
        let arguments = self.parameters[rule.source].iter().zip(self.body(rule));
        let is_body = arguments.map(|(&parameter, &arg)| store.eq(parameter, image(arg)));
        let guard =
            store.and_of([store.normalize(choice.when), image(clause.constraint)].into_iter().chain(is_body));
        (guard, self.head(rule).iter().map(|&arg| image(arg)).collect())
    }

    /// Whether each cycle of rules has one of these predicates.
    pub(crate) fn are_on_all_cycles(&self, predicates: &[usize]) -> bool {
        let mut successors = vec![Vec::new(); self.parameters.len()];
        let others = |rule: &&Rule| !predicates.contains(&rule.source) && !predicates.contains(&rule.target);
        for rule in self.rules.iter().filter(others) {
            if rule.source == rule.target {
                return false;
            }
            successors[rule.source].push(rule.target);
        }
        scc::components(&successors).1 == successors.len()
    }

    /// Few predicates that are on all cycles: with the fewest neighbours left out first.
    pub(crate) fn cut_points(&self) -> Vec<usize> {
        let mut chosen: Vec<usize> =
            (0..self.parameters.len()).filter(|&index| self.loops_of[index].is_some()).collect();
        let degree = |&index: &usize| {
            self.rules.iter().filter(|rule| rule.source == index || rule.target == index).count()
        };
        let mut by_degree = chosen.clone();
        by_degree.sort_by_key(degree);
        for candidate in by_degree {
            let fewer: Vec<usize> = chosen.iter().copied().filter(|&index| index != candidate).collect();
            if self.are_on_all_cycles(&fewer) {
                chosen = fewer;
            }
        }
        chosen
    }
}

/// Refuses sorts other than numbers and Booleans, quantifiers, and what the solver does not know.
fn is_supported(store: &TermStore, system: &HornSystem, number: usize) -> Result<(), Stop> {
    let clause = &system.clauses[number];
    let title = || system.clause_title(store, number);
    if store.is_quantified(clause.constraint) {
        return Err(Stop::Unsupported(format!("quantifiers in {}", title())));
    }
    let atoms = clause.body.iter().chain(&clause.head);
    let terms: Vec<Term> =
        atoms.flat_map(|atom| atom.args.iter().copied()).chain([clause.constraint]).collect();
    let is_other = |term: &Term| {
        let sort = store.sort_of(*term);
        !sort.is_arithmetic() && sort != Sort::BOOL
    };
    let variables = store.free_vars(&terms);
    match terms.iter().chain(&variables).chain(&*clause.variables).find(|term| is_other(term)) {
        None => match supports(store, &terms).map_err(|unsupported| unsupported.stop(store)) {
            Err(Stop::Unsupported(what)) => Err(Stop::Unsupported(format!("{what} of {}", title()))),
            supported => supported,
        },
        Some(&term) => {
            let sort = store.display_sort(store.sort_of(term));
            Err(Stop::Unsupported(format!("values of sort {sort} in {}", title())))
        }
    }
}
