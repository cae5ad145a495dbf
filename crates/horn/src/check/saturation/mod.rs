//! Checks saturations: sets of pure clauses, *members*, from which ordered resolution derives nothing new.
//!
//! The checker requires:
//!
//! 1. No member is empty.
//! 2. Members cover the clauses of the system, and the axioms of disequalities (`cover.rs`).
//! 3. Each conclusion of an inference between members is a tautology, or a member subsumes it: an instance of the member is
//!    part of the conclusion, with different atoms for different atoms (`unify.rs`).
//!
//! In the order by derivations, conclusions are rewritten first by members that are *equations*: goals
//! `A1, ..., An, distinct(s, t) => false` with `n > 0` predicates, whose variables are those of the predicates. If the conclusion has an instance of
//! `A1, ..., An`, its sides are equal: their most general unifier is applied to the conclusion. If they have no unifier, the conclusion is
//! redundant. This needs that the inference resolves a predicate, or that the conclusion has more predicates than the equation.
//!
//! An inference takes a *main* member with an eligible atom in its body, and a *side* member with an eligible head that unifies
//! with the atom. In the main member, the body of the side member replaces the atom.
//!
//! | order | eligible heads | eligible atoms of a body |
//! |---|---|---|
//! | Knuth and Bendix | no atom of the body is selected, and none is as great as the head | the selected one; if none is, those without a greater atom in the clause |
//! | derivations | all | the selected one of a goal; a goal must have one, other clauses have none |
//!
//! For other sorts than datatypes, the facts `distinct(a, b)` for all different values are side members, too. An inference
//! with them drops an eligible disequality, unless both sides are the same term. Dropping more than these facts allow is right:
//! a member that subsumes the shorter conclusion subsumes its instances.
//!
//! **Why the system has a model then.** Take as universe the terms of constructors and the values of other sorts, which
//! are constants. There is an interpretation `I` of predicates and disequalities in it that satisfies all members and the given
//! facts.
//!
//! - *Knuth and Bendix* (`order.rs`): ordered resolution with selection is refutationally complete, and a saturated set without the
//!   empty clause has a model of terms (Bachmair and Ganzinger, "Resolution theorem proving", Handbook of Automated
//!   Reasoning, 2001). Horn clauses need no factoring. A conclusion is smaller than its main premise; an instance of a
//!   member that is part of it is not greater, so the inference is redundant. This is why different atoms of the member
//!   must be different atoms of the conclusion.
//! - *Derivations*: `I` is the least interpretation that satisfies the members with heads and the given facts. Suppose that it
//!   violates a goal. Then all atoms of an instance of its body have derivations. Choose goal, instance and derivations such that the
//!   multiset of the heights of the derivations of predicates is minimal, and among these that of the disequalities. The last
//!   step of the derivation of the selected atom uses a member or a given fact, and gives an inference. In its conclusion,
//!   lower derivations replace that of the selected atom; a disequality is derived from disequalities only, which is
//!   checked. So the multisets of the conclusion are smaller, and those of the goal that subsumes it are not greater: they were not
//!   minimal. (A goal can only be subsumed by a goal.) If the sides of an equation are different in the instance of the
//!   conclusion, then the instance of the equation is a violated goal. The multiset of its predicates is smaller: it is part of that of
//!   the conclusion, and either the inference made that smaller, or the conclusion has more predicates. So the sides are
//!   equal, and the instance is one of the rewritten conclusion.
//!
//! In `I` disequalities hold for all pairs of different values, by the axioms and induction on values. So an instance of a
//! clause of the system that satisfies its constraint is true in `I`, because the part of it that is an instance of a
//! member is. Hence the predicates of `I` are a model of the system, with constructors, numbers and equality as they are.

mod cover;
mod order;
mod unify;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{ConstructorId, Op, Substitution, Term, TermStore, Value};
use shofar_run::{Poll, Stop};

use self::order::KnuthBendix;
use self::unify::{Matcher, Unifier, Work, any_match, subsumes};
use super::{Fault, Trust, Validity};
use crate::Context;
use crate::system::{HornSystem, PredicateId};
use crate::witness::{AtomOrder, PureAtom, PureClause, Relation, Saturation};

/// Checks that a saturation shows that the clauses of a system have a model.
pub fn check_saturation(
    context: &Context<'_>,
    system: &HornSystem,
    proof: &Saturation,
    trust: Trust,
) -> Validity {
    check(context, system, proof, trust).err().unwrap_or(Validity::Valid)
}

fn check(
    context: &Context<'_>,
    system: &HornSystem,
    proof: &Saturation,
    trust: Trust,
) -> Result<(), Validity> {
    let store = context.store;
    for (number, clause) in proof.clauses.iter().enumerate() {
        well_formed(store, system, clause).map_err(|message| fault(number, message))?;
    }
    let order = match &proof.order {
        AtomOrder::Derivations => {
            for (number, clause) in proof.clauses.iter().enumerate() {
                let is_distinct = |atom: &PureAtom| matches!(atom.relation, Relation::Distinct(_));
                let message = match (clause.head.is_some(), clause.selected.is_some()) {
                    _ if clause.head.as_ref().is_some_and(is_distinct)
                        && !clause.body.iter().all(is_distinct) =>
                    {
                        "in the order by derivations, disequalities follow from disequalities only"
                    }
                    (true, true) => "the order by derivations allows to select atoms of goals only",
                    (false, false) => "it is a goal without a selected atom",
                    _ => continue,
                };
                return Err(fault(number, message));
            }
            None
        }
        AtomOrder::KnuthBendix(weights) => {
            let (constructors, predicates) = symbols(store, &proof.clauses);
            let order = KnuthBendix::new(store, weights, &constructors, &predicates);
            Some(order.map_err(|message| Validity::Invalid(Fault::Shape(message)))?)
        }
    };
    let work = Work { store, poll: Poll::new(&context.limits) };
    for number in 0..system.clauses.len() {
        cover::check_clause(context, system, number, &proof.clauses, trust)?;
    }
    cover::check_axioms(&work, &proof.clauses)?;
    Closure::new(&work, &proof.clauses, order).check()
}

fn fault(member: usize, message: impl Into<String>) -> Validity {
    Validity::Invalid(Fault::Member { member, message: message.into() })
}

/// Checks the form of a clause; the error says what is wrong.
fn well_formed(store: &TermStore, system: &HornSystem, clause: &PureClause) -> Result<(), String> {
    if clause.body.is_empty() && clause.head.is_none() {
        return Err("it is empty".to_owned());
    }
    if clause.selected.is_some_and(|selected| selected >= clause.body.len()) {
        return Err("the selected atom does not exist".to_owned());
    }
    let variables: FxHashSet<Term> = clause.variables.iter().copied().collect();
    if variables.len() < clause.variables.len()
        || clause.variables.iter().any(|&variable| !matches!(store.op(variable), Op::Var(_)))
    {
        return Err("its variables are not different variables".to_owned());
    }
    for PureAtom { relation, arguments } in clause.atoms() {
        let sorts = arguments.iter().map(|&argument| store.sort_of(argument));
        let fits = match *relation {
            Relation::Predicate(predicate) if predicate.index() >= system.predicates().len() => {
                return Err("an atom has no predicate of the system".to_owned());
            }
            Relation::Predicate(predicate) => sorts.eq(system.sorts(store, predicate).iter().copied()),
            Relation::Distinct(sort) => sorts.eq([sort, sort]),
        };
        if !fits {
            return Err("an atom does not have the sorts of its predicate".to_owned());
        }
    }
    let arguments: Vec<Term> = clause.atoms().flat_map(|atom| atom.arguments.iter().copied()).collect();
    for term in store.subterms(&arguments) {
        let is_pure = match store.op(term) {
            Op::Var(_) => variables.contains(&term),
            Op::Construct(_) => true,
            // Equal terms of other sorts must be equal as they stand.
            _ => match store.term_to_value(term) {
                Some(value @ (Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::BitVec { .. })) => {
                    store.value_to_term(&value) == term
                }
                _ => false,
            },
        };
        if !is_pure {
            let shown = store.display(term);
            return Err(format!("{shown} is not a variable of the clause, a constructor or a value"));
        }
    }
    Ok(())
}

/// The constructors and predicates of clauses.
fn symbols(store: &TermStore, clauses: &[PureClause]) -> (Vec<ConstructorId>, Vec<PredicateId>) {
    let atoms = || clauses.iter().flat_map(PureClause::atoms);
    let arguments: Vec<Term> = atoms().flat_map(|atom| atom.arguments.iter().copied()).collect();
    let constructors = store.subterms(&arguments).into_iter().filter_map(|term| match store.op(term) {
        Op::Construct(constructor) => Some(constructor),
        _ => None,
    });
    let predicates = atoms().filter_map(|atom| match atom.relation {
        Relation::Predicate(predicate) => Some(predicate),
        Relation::Distinct(_) => None,
    });
    (constructors.collect(), predicates.collect())
}

/// The check that inferences between members give nothing new.
struct Closure<'a> {
    work: &'a Work<'a>,
    members: &'a [PureClause],
    /// The order of Knuth and Bendix; `None` for derivations.
    order: Option<KnuthBendix>,
    /// The members with heads of a relation and without a selected atom, by number, with other variables.
    sides: FxHashMap<Relation, Vec<(usize, PureClause)>>,
    /// The relations of the bodies, sorted.
    relations: Vec<Vec<Relation>>,
    /// The equations among the members.
    equations: Vec<Equation<'a>>,
}

/// A goal that says when two terms are equal.
struct Equation<'a> {
    predicates: Vec<&'a PureAtom>,
    sides: [Term; 2],
}

impl<'a> Equation<'a> {
    /// The equation that a goal is, if it is one.
    fn of(store: &TermStore, goal: &'a PureClause) -> Option<Self> {
        let is_predicate = |atom: &&PureAtom| matches!(atom.relation, Relation::Predicate(_));
        let predicates: Vec<&PureAtom> = goal.body.iter().filter(is_predicate).collect();
        let mut others = goal.body.iter().filter(|atom| !is_predicate(atom));
        let (Some(unequal), None, None) = (others.next(), others.next(), &goal.head) else { return None };
        let arguments = predicates.iter().flat_map(|atom| atom.arguments.iter().copied());
        let bound = store.free_vars(&arguments.collect::<Vec<Term>>());
        let are_bound = store.free_vars(&unequal.arguments).iter().all(|variable| bound.contains(variable));
        let sides = [unequal.arguments[0], unequal.arguments[1]];
        (are_bound && !predicates.is_empty()).then_some(Equation { predicates, sides })
    }
}

impl<'a> Closure<'a> {
    fn new(work: &'a Work<'a>, members: &'a [PureClause], order: Option<KnuthBendix>) -> Self {
        let mut sides: FxHashMap<Relation, Vec<(usize, PureClause)>> = FxHashMap::default();
        for (number, member) in members.iter().enumerate().filter(|(_, member)| member.selected.is_none()) {
            if let Some(head) = &member.head {
                sides.entry(head.relation).or_default().push((number, apart(work.store, member)));
            }
        }
        let relations = members.iter().map(|member| relations(&member.body)).collect();
        let is_by_derivations = order.is_none();
        let equations = members.iter().filter(|_| is_by_derivations);
        let equations = equations.filter_map(|member| Equation::of(work.store, member)).collect();
        Closure { work, members, order, sides, relations, equations }
    }

    fn check(&self) -> Result<(), Validity> {
        for (number, main) in self.members.iter().enumerate() {
            let eligible = match (main.selected, &self.order) {
                (Some(selected), _) => selected..selected + 1,
                (None, Some(_)) => 0..main.body.len(),
                (None, None) => continue,
            };
            for position in eligible {
                self.check_atom(number, position).map_err(Validity::Unknown)?.map_or(Ok(()), Err)?;
            }
        }
        Ok(())
    }

    /// Checks the inferences with an atom of the body of a main member.
    fn check_atom(&self, number: usize, position: usize) -> Result<Option<Validity>, Stop> {
        let main = &self.members[number];
        let atom = &main.body[position];
        let without = |body: &[PureAtom]| -> Vec<PureAtom> {
            let others = body.iter().enumerate().filter(|&(other, _)| other != position);
            others.map(|(_, atom)| atom.clone()).collect()
        };
        let missing = |rule: &str| {
            let message =
                format!("no clause subsumes the conclusion from its atom {} and {rule}", position + 1);
            Some(fault(number, message))
        };
        if let Relation::Distinct(sort) = atom.relation
            && self.work.store.datatype(sort).is_none()
            && atom.arguments[0] != atom.arguments[1]
            && self.is_maximal(main, position)?
            && !self.follows(without(&main.body), main.head.as_ref(), false)?
        {
            return Ok(missing("a disequality of values"));
        }
        for (source, side) in self.sides.get(&atom.relation).map_or(&[][..], Vec::as_slice) {
            self.work.go_on()?;
            let Some(head) = &side.head else { continue };
            let Some(mut unifier) = Unifier::of(self.work, &atom.arguments, &head.arguments)? else {
                continue;
            };
            let mut all = |atoms: &[PureAtom]| -> Result<Vec<PureAtom>, Stop> {
                atoms.iter().map(|atom| unifier.atom(atom)).collect()
            };
            let (body, premises) = (all(&main.body)?, all(&side.body)?);
            let head = all(main.head.as_slice())?.pop();
            let instance = PureClause { body, head, ..main.clone() };
            if !self.is_maximal(&instance, position)?
                || self.is_exceeded(&instance.body[position], &premises)?
            {
                continue;
            }
            let mut conclusion = without(&instance.body);
            conclusion.extend(premises);
            let is_lower = matches!(atom.relation, Relation::Predicate(_));
            if !self.follows(conclusion, instance.head.as_ref(), is_lower)? {
                return Ok(missing(&format!("the head of clause {}", source + 1)));
            }
        }
        Ok(None)
    }

    /// Whether an atom of a body is eligible: it is selected, or no atom of the clause is greater.
    fn is_maximal(&self, clause: &PureClause, position: usize) -> Result<bool, Stop> {
        let Some(order) = self.order.as_ref().filter(|_| clause.selected.is_none()) else { return Ok(true) };
        for atom in clause.atoms() {
            if order.is_greater(self.work, atom, &clause.body[position])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether some atom is as great as a head.
    fn is_exceeded(&self, head: &PureAtom, body: &[PureAtom]) -> Result<bool, Stop> {
        let Some(order) = &self.order else { return Ok(false) };
        for atom in body {
            if atom == head || order.is_greater(self.work, atom, head)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a conclusion is redundant, after equations have rewritten it. `is_lower` says that its predicates have lower
    /// derivations than those of the premise.
    fn follows(
        &self,
        mut body: Vec<PureAtom>,
        head: Option<&PureAtom>,
        is_lower: bool,
    ) -> Result<bool, Stop> {
        loop {
            if self.is_redundant(&body, head)? {
                return Ok(true);
            }
            match self.rewritten(&body, is_lower)? {
                Rewritten::Same => return Ok(false),
                Rewritten::Contradiction => return Ok(true),
                Rewritten::Body(next) => body = next,
            }
        }
    }

    /// Rewrites the body of a goal by an equation. Each step replaces a variable, so there are finitely many.
    fn rewritten(&self, body: &[PureAtom], is_lower: bool) -> Result<Rewritten, Stop> {
        let store = self.work.store;
        let predicates = body.iter().filter(|atom| matches!(atom.relation, Relation::Predicate(_))).count();
        let mut result = Rewritten::Same;
        for equation in &self.equations {
            if !is_lower && equation.predicates.len() >= predicates {
                continue;
            }
            let mut matcher = Matcher::default();
            let is_applied = any_match(self.work, &mut matcher, &equation.predicates, body, |matcher| {
                let [a, b] = equation.sides.map(|side| matcher.instance(store, side));
                if a == b {
                    return Ok(false);
                }
                result = match Unifier::of(self.work, &[a], &[b])? {
                    None => Rewritten::Contradiction,
                    Some(mut unifier) => {
                        let atoms = body.iter().map(|atom| unifier.atom(atom));
                        Rewritten::Body(atoms.collect::<Result<_, Stop>>()?)
                    }
                };
                Ok(true)
            })?;
            if is_applied {
                break;
            }
        }
        Ok(result)
    }

    /// Whether a clause is a tautology, or a member subsumes it.
    fn is_redundant(&self, body: &[PureAtom], head: Option<&PureAtom>) -> Result<bool, Stop> {
        if head.is_some_and(|head| body.contains(head)) {
            return Ok(true);
        }
        let all = relations(body);
        for (member, relations) in self.members.iter().zip(&self.relations) {
            if is_part(relations, &all) && subsumes(self.work, member, body, head)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What equations make of a goal.
enum Rewritten {
    Same,
    /// Its body is contradictory.
    Contradiction,
    Body(Vec<PureAtom>),
}

/// The clause with other variables.
fn apart(store: &TermStore, clause: &PureClause) -> PureClause {
    let fresh = |&variable: &Term| (variable, store.var(store.fresh_symbol("v"), store.sort_of(variable)));
    let names: Substitution = clause.variables.iter().map(fresh).collect();
    let renamed = |terms: &[Term]| terms.iter().map(|&term| store.substitute(term, &names)).collect();
    let atom = |atom: &PureAtom| PureAtom { relation: atom.relation, arguments: renamed(&atom.arguments) };
    PureClause {
        variables: renamed(&clause.variables),
        body: clause.body.iter().map(atom).collect(),
        head: clause.head.as_ref().map(atom),
        selected: clause.selected,
    }
}

fn relations(atoms: &[PureAtom]) -> Vec<Relation> {
    let mut relations: Vec<Relation> = atoms.iter().map(|atom| atom.relation).collect();
    relations.sort_unstable();
    relations
}

/// Whether a sorted list is part of another one.
fn is_part(part: &[Relation], all: &[Relation]) -> bool {
    let mut rest = all.iter();
    part.iter().all(|relation| rest.any(|other| other == relation))
}
