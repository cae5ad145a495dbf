//! Checks proofs by induction on derivations.
//!
//! A joint lemma `P1, ..., Pn => C` is proved as follows. Each premise that it marks is unfolded: for all combinations of
//! clauses with these heads there is a *case*, whose *context* has the premises, the constraints of the clauses and the
//! facts of their bodies. In each case `C` must follow from the constraints and from instances of lemmas about facts of
//! the context. If it does not, a further fact of the context is unfolded: one that at most one clause derives, one of a predicate
//! that does not depend on itself, or one whose clauses recur on an argument with a known constructor.
//!
//! An instance may be used if its facts are smaller than the premises:
//!
//! - *kept*: a premise itself, once in the instance;
//! - *below*: a fact of the body of a clause that derives a premise which is not kept, or of a clause below it.
//!
//! Not all premises are kept.
//!
//! Why the lemmas are true: take the multiset of the heights of the least derivations of `P1, ..., Pn`. Unfold each fact
//! by the clause of its least derivation. A fact below is less high than its premise, which is missing in the instance.
//! So the multiset of the instance is smaller in the multiset order of Dershowitz and Manna, which is well-founded. Thus
//! all lemmas hold together, by induction on this order. Facts of the bodies of queries may be used without condition,
//! because the lemmas are proved then.
//!
//! Solver and evaluation find the instances: a counterexample to a case makes an instance false, or there is no instance
//! that helps. Conclusions may apply folds: their definitions are added, and lemmas about them after they are proved
//! (`folds.rs`). With [`Trust::Proofs`] the refutation of each case is proved, and the proof replayed.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Assignment, ConstructorId, Fun, Op, Sort, Substitution, Term, TermStore, Value};
use shofar_run::Stop;
use shofar_smt::purify::Unsupported;
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;

use super::quantifiers::without_quantifiers;
use super::{Fault, Trust, Validity, folds, replay};
use crate::Context;
use crate::scc::components;
use crate::system::{Atom, Clause, HornSystem, PredicateId};
use crate::witness::{Induction, JointLemma, Premise};

/// The maximal number of cases of a lemma or a query.
const MOST_CASES: usize = 5_000;

/// The maximal number of facts of a case that are unfolded in addition to marked premises.
const MOST_UNFOLDED: usize = 24;

/// The instances added after a counterexample.
const INSTANCES_PER_ROUND: usize = 8;

/// The maximal number of combinations of facts looked at after a counterexample.
const MOST_COMBINATIONS: usize = 200_000;

/// The reason to neither accept nor reject a proof.
const TOO_LARGE: &str = "the cases of a proof by induction are too many to check";

/// Checks that a proof by induction shows that the clauses of a system have a model.
pub fn check_induction(
    context: &Context<'_>,
    system: &HornSystem,
    proof: &Induction,
    trust: Trust,
) -> Validity {
    let checked = Checker::new(context, system, proof, trust).and_then(|checker| checker.check());
    checked.err().unwrap_or(Validity::Valid)
}

/// What a case is, and formulas that contradict each other by the definitions of folds and the lemmas about folds.
pub(super) type RefutedCase = (String, Vec<Term>);

/// The cases of a proof. The error is the judgement of a proof that is not valid.
pub(super) fn cases(
    context: &Context<'_>,
    system: &HornSystem,
    proof: &Induction,
) -> Result<Vec<RefutedCase>, Validity> {
    let cases = Some(RefCell::default());
    let checker = Checker { refuted: cases, ..Checker::new(context, system, proof, Trust::Solver)? };
    checker.check()?;
    Ok(checker.refuted.map(RefCell::into_inner).unwrap_or_default())
}

/// Checks the form of a lemma; the error says what is wrong.
fn well_formed(store: &TermStore, system: &HornSystem, lemma: &JointLemma) -> Result<(), String> {
    let variables: FxHashSet<Term> = lemma.variables.iter().copied().collect();
    if variables.len() < lemma.variables.len()
        || lemma.variables.iter().any(|&variable| !matches!(store.op(variable), Op::Var(_)))
    {
        return Err("its variables are not different variables".to_owned());
    }
    if !lemma.premises.iter().any(|premise| premise.is_unfolded) {
        return Err("no premise is unfolded".to_owned());
    }
    for Premise { atom, .. } in &lemma.premises {
        if atom.predicate.index() >= system.predicates().len() {
            return Err("a premise has no predicate of the system".to_owned());
        }
        let sorts = atom.args.iter().map(|&argument| store.sort_of(argument));
        if !sorts.eq(system.sorts(store, atom.predicate).iter().copied()) {
            return Err("a premise does not have the sorts of its predicate".to_owned());
        }
        if !atom.args.iter().all(|argument| variables.contains(argument)) {
            return Err("the arguments of a premise are not variables of the lemma".to_owned());
        }
    }
    if store.sort_of(lemma.conclusion) != Sort::BOOL || store.is_quantified(lemma.conclusion) {
        return Err("the conclusion is not a formula without quantifiers".to_owned());
    }
    let mentioned = store.symbols(&[lemma.conclusion]);
    let arguments: FxHashSet<Term> =
        lemma.premises.iter().flat_map(|premise| premise.atom.args.iter().copied()).collect();
    if let Some(&other) = mentioned.vars.iter().find(|variable| !arguments.contains(variable)) {
        return Err(format!("the conclusion mentions {}, which no premise does", store.display(other)));
    }
    let is_known = |fun: &Fun| system.functions.contains(fun) || store.fold(*fun).is_some();
    match mentioned.funs.iter().find(|fun| !is_known(fun)) {
        Some(&other) => {
            let name = store.display_symbol(store.fun_decl(other).name);
            Err(format!("the conclusion mentions {name}, which is not a function of the clauses"))
        }
        None => Ok(()),
    }
}

/// How a fact of a context relates to the premises of the lemma.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// It belongs to a query; there is no lemma to prove.
    Query,
    /// It is this premise.
    Premise(usize),
    /// It is below this premise.
    Below(usize),
}

/// A fact of a context.
#[derive(Clone)]
struct Known {
    predicate: PredicateId,
    arguments: Box<[Term]>,
    origin: Origin,
    is_unfolded: bool,
}

/// A case: the facts, and the formulas that hold.
#[derive(Clone, Default)]
struct Case {
    facts: Vec<Known>,
    formulas: Vec<Term>,
    /// The number of facts that were unfolded without a mark.
    further: usize,
}

struct Checker<'a> {
    context: &'a Context<'a>,
    system: &'a HornSystem,
    proof: &'a Induction,
    trust: Trust,
    /// The constraints of the clauses, without quantifiers.
    constraints: Vec<Term>,
    /// The clauses of each predicate.
    clauses: Vec<Vec<usize>>,
    /// Whether each predicate depends on itself.
    is_recursive: Vec<bool>,
    /// Whether predicates recur on positions, as far as it was asked.
    recursion: RefCell<FxHashMap<(PredicateId, usize), bool>>,
    /// The refuted cases, if they are asked for.
    refuted: Option<RefCell<Vec<RefutedCase>>>,
}

impl<'a> Checker<'a> {
    fn new(
        context: &'a Context<'a>,
        system: &'a HornSystem,
        proof: &'a Induction,
        trust: Trust,
    ) -> Result<Self, Validity> {
        let constraint = |clause: &Clause| without_quantifiers(context, trust, clause.constraint);
        let constraints = system.clauses.iter().map(constraint).collect::<Result<_, _>>();
        let mut clauses = vec![Vec::new(); system.predicates().len()];
        for (number, clause) in system.clauses.iter().enumerate() {
            if let Some(head) = &clause.head {
                clauses[head.predicate.index()].push(number);
            }
        }
        let constraints = constraints.map_err(Validity::Unknown)?;
        let is_recursive = is_recursive(system, &clauses);
        let (recursion, refuted) = (RefCell::default(), None);
        Ok(Checker { context, system, proof, trust, constraints, clauses, is_recursive, recursion, refuted })
    }

    fn check(&self) -> Result<(), Validity> {
        for (number, lemma) in self.proof.lemmas.iter().enumerate() {
            well_formed(self.context.store, self.system, lemma)
                .map_err(|message| Validity::Invalid(Fault::Induction { lemma: number, message }))?;
        }
        folds::prove(self.context, self.trust, &self.proof.fold_lemmas)?;
        for number in 0..self.proof.lemmas.len() {
            self.check_lemma(number)?;
        }
        let queries = self.system.clauses.iter().enumerate().filter(|(_, clause)| clause.is_query());
        for (number, _) in queries {
            self.check_query(number)?;
        }
        Ok(())
    }

    fn check_lemma(&self, number: usize) -> Result<(), Validity> {
        let store = self.context.store;
        let JointLemma { premises, conclusion, .. } = &self.proof.lemmas[number];
        let fact = |(index, premise): (usize, &Premise)| Known {
            predicate: premise.atom.predicate,
            arguments: premise.atom.args.clone(),
            origin: Origin::Premise(index),
            is_unfolded: false,
        };
        let facts: Vec<Known> = premises.iter().enumerate().map(fact).collect();
        let violated = store.app(Op::Not, &[*conclusion]).expect("the conclusion is a formula");
        let start = Case { facts, formulas: vec![violated], further: 0 };
        let mut cases = vec![start];
        for (index, _) in premises.iter().enumerate().filter(|(_, premise)| premise.is_unfolded) {
            let mut unfolded = Vec::new();
            for case in &cases {
                // Combinations that contradict each other are left out here, and cost nothing later.
                for case in self.unfold(case, index) {
                    if !self.is_refuted(&case.formulas, number)? {
                        unfolded.push(case);
                    }
                }
                if unfolded.len() > MOST_CASES {
                    return Err(Validity::Unknown(Stop::Exhausted(TOO_LARGE)));
                }
            }
            cases = unfolded;
        }
        let unproved =
            || Fault::Induction { lemma: number, message: "it does not follow by induction".to_owned() };
        self.close_all(cases, &format!("counterexamples to lemma {}", number + 1), unproved)
    }

    fn check_query(&self, number: usize) -> Result<(), Validity> {
        let (formulas, facts) = self.body(number, None, Origin::Query);
        let case = Case { facts, formulas, further: 0 };
        let unproved = || Fault::Query { clause: number };
        self.close_all(vec![case], &format!("the body of clause {}", number + 1), unproved)
    }

    /// Refutes all cases, after further unfolding if necessary.
    fn close_all(
        &self,
        mut cases: Vec<Case>,
        refuted: &str,
        unproved: impl Fn() -> Fault,
    ) -> Result<(), Validity> {
        let mut count = cases.len();
        while let Some(mut case) = cases.pop() {
            if let Some(reason) = self.context.interrupted() {
                return Err(Validity::Unknown(reason.into()));
            }
            let Some(model) = self.close(&mut case, refuted)? else { continue };
            let Some(fact) = self.determined(&case, &model)? else {
                return Err(Validity::Invalid(unproved()));
            };
            case.further += 1;
            let unfolded = self.unfold(&case, fact);
            count += unfolded.len();
            if case.further > MOST_UNFOLDED || count > MOST_CASES {
                return Err(Validity::Unknown(Stop::Exhausted(TOO_LARGE)));
            }
            cases.extend(unfolded);
        }
        Ok(())
    }

    // ---- unfolding ---------------------------------------------------------------------------------------------

    /// The cases in which one clause after the other derives a fact.
    fn unfold(&self, case: &Case, fact: usize) -> Vec<Case> {
        let Known { predicate, arguments, origin, .. } = &case.facts[fact];
        let origin = match *origin {
            Origin::Premise(premise) => Origin::Below(premise),
            other => other,
        };
        let by_clause = |&number: &usize| {
            let (formulas, facts) = self.body(number, Some(arguments), origin);
            let mut case = case.clone();
            case.facts[fact].is_unfolded = true;
            case.formulas.extend(formulas);
            case.facts.extend(facts);
            case
        };
        self.clauses[predicate.index()].iter().map(by_clause).collect()
    }

    /// The constraint and the body of a clause with fresh variables. The arguments are those of its head.
    fn body(&self, number: usize, arguments: Option<&[Term]>, origin: Origin) -> (Vec<Term>, Vec<Known>) {
        let store = self.context.store;
        let clause = &self.system.clauses[number];
        let fresh =
            |&variable: &Term| (variable, store.var(store.fresh_symbol("v"), store.sort_of(variable)));
        let renaming: Substitution = clause.variables.iter().map(fresh).collect();
        let renamed = |term: Term| store.substitute(term, &renaming);
        let head = clause.head.iter().flat_map(|head| head.args.iter().copied());
        let equal = |(argument, term): (&Term, Term)| {
            store.app(Op::Eq, &[*argument, renamed(term)]).expect("a fact has the sorts of its predicate")
        };
        let equations = arguments.unwrap_or_default().iter().zip(head).map(equal);
        let formulas = equations.chain([renamed(self.constraints[number])]).collect();
        let fact = |atom: &Atom| Known {
            predicate: atom.predicate,
            arguments: atom.args.iter().map(|&argument| renamed(argument)).collect(),
            origin,
            is_unfolded: false,
        };
        (formulas, clause.body.iter().map(fact).collect())
    }

    /// A fact to unfold: one that at most one clause derives in this case, one of a predicate that does not recur, or one that
    /// recurs on an argument whose constructor is known. The model is one of the case.
    fn determined(&self, case: &Case, model: &Assignment) -> Result<Option<usize>, Validity> {
        let store = self.context.store;
        let open = || case.facts.iter().enumerate().filter(|(_, fact)| !fact.is_unfolded);
        for (index, fact) in open() {
            let mut possible = 0;
            for &number in &self.clauses[fact.predicate.index()] {
                let (formulas, _) = self.body(number, Some(&fact.arguments), fact.origin);
                possible += usize::from(!self.contradict(&[&case.formulas, &formulas])?);
                if possible > 1 {
                    break;
                }
            }
            if possible <= 1 {
                return Ok(Some(index));
            }
        }
        if let Some((index, _)) = open().find(|(_, fact)| !self.is_recursive[fact.predicate.index()]) {
            return Ok(Some(index));
        }
        for (index, fact) in open() {
            for (position, &argument) in fact.arguments.iter().enumerate() {
                let Some(constructor) = constructor_of(store, argument, model) else { continue };
                let other = store.not(store.tester(constructor, argument));
                if self.recurs_on(fact.predicate, position)?
                    && (matches!(store.op(argument), Op::Construct(_))
                        || self.contradict(&[&case.formulas, &[other]])?)
                {
                    return Ok(Some(index));
                }
            }
        }
        Ok(None)
    }

    /// Whether each clause of a predicate that has facts in its body determines the constructor of an argument.
    fn recurs_on(&self, predicate: PredicateId, position: usize) -> Result<bool, Validity> {
        let store = self.context.store;
        if let Some(&known) = self.recursion.borrow().get(&(predicate, position)) {
            return Ok(known);
        }
        let mut recurs = true;
        for &number in &self.clauses[predicate.index()] {
            let clause = &self.system.clauses[number];
            let Some(head) = clause.head.as_ref().filter(|_| !clause.body.is_empty()) else { continue };
            let (argument, constraint) = (head.args[position], self.constraints[number]);
            let constructors =
                store.datatype(store.sort_of(argument)).map_or(&[][..], |it| it.constructors());
            let mut is_determined = false;
            for &constructor in constructors {
                let other = store.not(store.tester(constructor, store.normalize(argument)));
                is_determined |= self.contradict(&[&[constraint, other]])?;
            }
            recurs &= is_determined;
        }
        self.recursion.borrow_mut().insert((predicate, position), recurs);
        Ok(recurs)
    }

    /// Whether the solver refutes formulas. Nothing rests on it but the choice of what to unfold.
    fn contradict(&self, formulas: &[&[Term]]) -> Result<bool, Validity> {
        let store = self.context.store;
        let unsupported = |unsupported: Unsupported| Validity::Unknown(unsupported.stop(store));
        let mut solver = Solver::new(store);
        for formulas in formulas {
            solver.assert_all(formulas).map_err(unsupported)?;
        }
        Ok(solver.check(&[], &self.context.limits).map_err(unsupported)? == Outcome::Unsat)
    }

    // ---- closing -----------------------------------------------------------------------------------------------

    /// Whether formulas contradict each other without any lemma. The proof, if needed, is checked at once.
    fn is_refuted(&self, formulas: &[Term], number: usize) -> Result<bool, Validity> {
        let mut case = Case { facts: Vec::new(), formulas: formulas.to_vec(), further: 0 };
        Ok(self.close(&mut case, &format!("a case of lemma {}", number + 1))?.is_none())
    }

    /// Refutes the formulas of a case with instances of lemmas, which are added to the case. Returns a model if there is
    /// no refutation.
    fn close(&self, case: &mut Case, refuted: &str) -> Result<Option<Assignment>, Validity> {
        let store = self.context.store;
        let unsupported = |unsupported: Unsupported| Validity::Unknown(unsupported.stop(store));
        let mut solver = Solver::new(store);
        solver.assert_all(&case.formulas).map_err(unsupported)?;
        let mut facts_of_folds: FxHashSet<Term> = FxHashSet::default();
        let mut used: FxHashSet<Term> = FxHashSet::default();
        loop {
            let facts = folds::fold_facts(store, &case.formulas, &self.proof.fold_lemmas);
            let new: Vec<Term> = facts.into_iter().filter(|&fact| facts_of_folds.insert(fact)).collect();
            solver.assert_all(&new).map_err(unsupported)?;
            match solver.check(&[], &self.context.limits).map_err(unsupported)? {
                Outcome::Unsat => break,
                Outcome::Unknown(reason) => return Err(Validity::Unknown(reason.into())),
                Outcome::Sat => {}
            }
            let mut model = solver.model(&case.formulas);
            // Variables that no formula mentions may have any value.
            let arguments = case.facts.iter().flat_map(|fact| fact.arguments.iter().copied());
            for variable in store.free_vars(&arguments.collect::<Vec<Term>>()) {
                if model.get(variable).is_none() {
                    model.set(variable, store.default_value(store.sort_of(variable)));
                }
            }
            let instances = self.violated(case, &model)?;
            let instances: Vec<Term> = instances.into_iter().filter(|&term| used.insert(term)).collect();
            if instances.is_empty() {
                return Ok(Some(model));
            }
            solver.assert_all(&instances).map_err(unsupported)?;
            case.formulas.extend(instances);
        }
        if self.trust == Trust::Proofs {
            let mut solver = Solver::with_proofs(store);
            let mut formulas = case.formulas.clone();
            formulas.extend(facts_of_folds);
            solver.assert_all(&formulas).map_err(unsupported)?;
            match solver.check(&[], &self.context.limits).map_err(unsupported)? {
                Outcome::Unsat => {
                    replay(self.context, &solver, &formulas, refuted).map_err(Validity::Unknown)?
                }
                Outcome::Sat => {
                    let message = format!("the solver refutes {refuted} only without a proof");
                    return Err(Validity::Unknown(Stop::Internal(message)));
                }
                Outcome::Unknown(reason) => return Err(Validity::Unknown(reason.into())),
            }
        }
        if let Some(cases) = &self.refuted {
            cases.borrow_mut().push((refuted.to_owned(), case.formulas.clone()));
        }
        Ok(None)
    }

    // ---- instances ---------------------------------------------------------------------------------------------

    /// Some instances of lemmas about facts of a case that may be used and that a model makes false.
    fn violated(&self, case: &Case, model: &Assignment) -> Result<Vec<Term>, Validity> {
        let store = self.context.store;
        let premises = case.facts.iter().filter(|fact| matches!(fact.origin, Origin::Premise(_))).count();
        let values = case.facts.iter().map(|fact| {
            let value = |&argument: &Term| store.eval(argument, model).ok();
            fact.arguments.iter().map(value).collect::<Option<Vec<Value>>>()
        });
        let values: Vec<Option<Vec<Value>>> = values.collect();
        let mut found = Vec::new();
        let mut combinations = 0;
        for lemma in &self.proof.lemmas {
            let search = Search { store, case, values: &values, premises, lemma };
            search.collect(&mut combinations, &mut found);
            if found.len() >= INSTANCES_PER_ROUND {
                break;
            }
            if combinations > MOST_COMBINATIONS {
                return Err(Validity::Unknown(Stop::Exhausted(TOO_LARGE)));
            }
        }
        Ok(found)
    }
}

/// Whether each predicate depends on itself. The clauses are those of each predicate.
fn is_recursive(system: &HornSystem, clauses: &[Vec<usize>]) -> Vec<bool> {
    let below = |clauses: &Vec<usize>| -> Vec<usize> {
        let bodies = clauses.iter().map(|&number| &system.clauses[number].body);
        bodies.flatten().map(|atom| atom.predicate.index()).collect()
    };
    let below: Vec<Vec<usize>> = clauses.iter().map(below).collect();
    let (component, _) = components(&below);
    let recurs = |(predicate, below): (usize, &Vec<usize>)| {
        below.iter().any(|&other| component[other] == component[predicate])
    };
    below.iter().enumerate().map(recurs).collect()
}

/// The constructor that an argument has in a model; `None` if it is not of a datatype.
fn constructor_of(store: &TermStore, argument: Term, model: &Assignment) -> Option<ConstructorId> {
    match store.eval(argument, model) {
        Ok(Value::Term(value)) => match store.op(value) {
            Op::Construct(constructor) => Some(constructor),
            _ => None,
        },
        _ => None,
    }
}

/// The search for instances of a lemma that a model makes false.
struct Search<'a> {
    store: &'a TermStore,
    case: &'a Case,
    /// The values of the arguments of all facts, where evaluation knows them.
    values: &'a [Option<Vec<Value>>],
    /// The number of premises of the lemma that is proved; zero for a query.
    premises: usize,
    lemma: &'a JointLemma,
}

impl Search<'_> {
    /// Goes through all ways to choose facts for the premises, in order, whose values fit.
    fn collect(&self, combinations: &mut usize, found: &mut Vec<Term>) {
        let mut chosen: Vec<usize> = Vec::new();
        let mut next = 0;
        loop {
            *combinations += 1;
            if found.len() >= INSTANCES_PER_ROUND || *combinations > MOST_COMBINATIONS {
                return;
            }
            if chosen.len() == self.lemma.premises.len() {
                if self.is_smaller(&chosen)
                    && let Some(instance) = self.instance(&chosen)
                {
                    found.push(instance);
                }
            } else if let Some(fact) = (next..self.case.facts.len()).find(|&fact| self.fits(&chosen, fact)) {
                chosen.push(fact);
                next = 0;
                continue;
            }
            match chosen.pop() {
                Some(last) => next = last + 1,
                None => return,
            }
        }
    }

    /// Whether a fact can be the next one: it has the predicate, and equal variables have equal values.
    fn fits(&self, chosen: &[usize], fact: usize) -> bool {
        let atom = &self.lemma.premises[chosen.len()].atom;
        let Known { predicate, origin, .. } = self.case.facts[fact];
        if predicate != atom.predicate || (matches!(origin, Origin::Premise(_)) && chosen.contains(&fact)) {
            return false;
        }
        let Some(values) = &self.values[fact] else { return false };
        let mut bound: FxHashMap<Term, &Value> = FxHashMap::default();
        for (premise, &fact) in self.lemma.premises.iter().zip(chosen) {
            let Some(values) = &self.values[fact] else { return false };
            bound.extend(premise.atom.args.iter().copied().zip(values));
        }
        atom.args
            .iter()
            .zip(values)
            .all(|(&variable, value)| *bound.entry(variable).or_insert(value) == value)
    }

    /// Whether the chosen facts are smaller than the premises of the lemma that is proved.
    fn is_smaller(&self, chosen: &[usize]) -> bool {
        let origins = || chosen.iter().map(|&fact| self.case.facts[fact].origin);
        let kept = |premise: usize| origins().any(|origin| origin == Origin::Premise(premise));
        let is_dominated = |origin: Origin| match origin {
            Origin::Query | Origin::Premise(_) => true,
            Origin::Below(premise) => !kept(premise),
        };
        let count = origins().filter(|origin| matches!(origin, Origin::Premise(_))).count();
        origins().all(is_dominated) && (self.premises == 0 || count < self.premises)
    }

    /// The instance, if the model makes it false: equal arguments imply the conclusion.
    fn instance(&self, chosen: &[usize]) -> Option<Term> {
        let store = self.store;
        let mut values = Assignment::new();
        let mut arguments = Substitution::new();
        let mut equations = Vec::new();
        for (premise, &fact) in self.lemma.premises.iter().zip(chosen) {
            let known = self.case.facts[fact].arguments.iter().zip(self.values[fact].as_ref()?);
            for (&variable, (&argument, value)) in premise.atom.args.iter().zip(known) {
                match arguments.get(variable) {
                    Some(first) if first == argument => {}
                    Some(first) => equations.push(store.app(Op::Eq, &[first, argument]).ok()?),
                    None => {
                        arguments.insert(variable, argument);
                        values.set(variable, value.clone());
                    }
                }
            }
        }
        // The solver may give a fold another value than its definition does, so the instance can help though it is true.
        if !folds::occur(store, self.lemma.conclusion)
            && store.eval(self.lemma.conclusion, &values) == Ok(Value::Bool(true))
        {
            return None;
        }
        let conclusion = store.substitute(self.lemma.conclusion, &arguments);
        let mut disjuncts = Vec::with_capacity(equations.len() + 1);
        for equation in equations {
            disjuncts.push(store.app(Op::Not, &[equation]).ok()?);
        }
        disjuncts.push(conclusion);
        if disjuncts.len() == 1 { disjuncts.pop() } else { store.app(Op::Or, &disjuncts).ok() }
    }
}
