//! Refutations as Alethe proofs, for other checkers.
//!
//! Alethe is the format of veriT and cvc5 (H. Barbosa et al., "The Alethe Proof Format: A Specification and Reference
//! Manual"). The proof assumes the assertions of the user's file that it needs, as they were written. Clauses made in
//! memory, and assertions that the rules below cannot take apart, are assumed as clauses.
//!
//! A step of the refutation instantiates its assertion (`forall_inst`). Under the facts of the step's premises, the values of
//! constraints and the denial of the step's fact, this instance is false. Each subformula that this depends on has a
//! clause, by the rule of its connective; one resolution derives the fact from all of them:
//!
//! ```text
//! (step t3.i (cl (or (not @a3) (part.3.2 1 2))) :rule forall_inst :args (1 2))
//! (step t3.o (cl (not @a3) (part.3.2 1 2)) :rule or :premises (t3.i))
//! (step t3.2 (cl (not (part.3.2 1 2)) (not (part.3.1 1 2)) (L2 2)) :rule implies_pos)
//! (step t3.1 (cl (part.3.1 1 2) (not (L1 1)) (not (D 1 2))) :rule and_neg)
//! (step t3 (cl (L2 2)) :rule resolution :premises (t3.2 t3.o a3 t3.1 t1 t2))
//! ```
//!
//! Sums evaluate by `la_generic`, and terms over datatypes by rules of ours (`datatypes.rs`). A *hole*, which a checker has
//! to believe or compute, is only the value of another ground term: that a constraint with `mod` or with a quantifier is
//! true, or that the argument `(select a 1)` is `2`.
//!
//! Each step of the refutation has its step in the proof. A step that the checker rejects is a hole as a whole, so that the proof
//! claims no more than the refutation does.
//!
//! Subformulas are defined first and applied to values, so each step takes a few lines however large its clause is. The proof
//! is larger than the refutation as text by a small factor, plus the assertions once.

mod datatypes;

use std::io;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Assignment, Op, Sort, Substitution, Term, TermStore, Value};

use super::{Printer, Refutation, Step};
use crate::print::sorted_variables;
use crate::system::{Atom, Clause, HornSystem};

/// The number of parts up to which constraints are taken apart. Larger ones are evaluated as a whole.
const MOST_PARTS: usize = 40;

impl<W: io::Write> Printer<'_, W> {
    pub(super) fn alethe(&mut self, refutation: &Refutation) -> io::Result<()> {
        let Printer { store, system, out } = self;
        let mut proof = Proof {
            store,
            system,
            refutation,
            mark: mark(store, system),
            sources: FxHashMap::default(),
            names: Vec::with_capacity(refutation.steps.len()),
            out,
        };
        let mut steps = refutation.steps.iter().enumerate();
        steps.try_for_each(|(number, step)| proof.step(number + 1, step))
    }
}

/// Dots that keep the names of definitions apart from those that the clauses use. A variable of that name would hide one.
fn mark(store: &TermStore, system: &HornSystem) -> String {
    let variable = |term: Term| match store.op(term) {
        Op::Var(name) => Some(name),
        _ => None,
    };
    let variables = system.clauses.iter().flat_map(|clause| clause.variables.iter().copied());
    let quantified = system.clauses.iter().map(|clause| clause.constraint);
    let quantified: Vec<Term> = quantified.filter(|&constraint| store.is_quantified(constraint)).collect();
    let variables = variables.chain(store.subterms(&quantified)).filter_map(variable);
    let names = system.declared_names(store).into_iter().chain(variables).map(|name| store.name(name));
    let dots = names.filter_map(|name| {
        let rest = name.strip_prefix("part")?;
        Some(rest.len() - rest.trim_start_matches('.').len())
    });
    ".".repeat(dots.max().unwrap_or(0) + 1)
}

/// How the variables of an assumption are bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefix {
    None,
    ForAll,
    NotExists,
}

/// An assumption, and the parts of the formula behind its quantifier.
struct Source {
    /// The name of the assumption.
    name: String,
    prefix: Prefix,
    /// The bound variables, as declarations.
    variables: String,
    /// Parts without negations; arguments come before the parts that they belong to. The last one is the formula.
    parts: Vec<Part>,
    /// Whether the formula behind the quantifier is the negation of the last part.
    is_negated: bool,
    /// Whether the proof has the assumption.
    is_assumed: bool,
}

/// A subformula.
struct Part {
    term: Term,
    kind: Kind,
    /// The name of its definition. Atoms have none.
    name: Option<String>,
}

/// How a subformula is proved or refuted.
enum Kind {
    And(Vec<Literal>),
    Or(Vec<Literal>),
    Implies([Literal; 2]),
    Atom,
    /// A constraint, which is evaluated.
    Constraint,
}

/// A part, by its position, and whether it is not negated.
type Literal = (usize, bool);

impl Source {
    /// The assumption of a formula; `None` if the variables behind its quantifier are others, or if the rules of this file do
    /// not prove what the formula says.
    fn new(store: &TermStore, name: String, formula: Term, variables: &[Term]) -> Option<Source> {
        let (prefix, bound, matrix) = match store.view(formula) {
            (Op::Forall, [bound @ .., matrix]) => (Prefix::ForAll, bound, *matrix),
            (Op::Not, &[inner]) => match store.view(inner) {
                (Op::Exists, [bound @ .., matrix]) => (Prefix::NotExists, bound, *matrix),
                _ => (Prefix::None, &[][..], formula),
            },
            _ => (Prefix::None, &[][..], formula),
        };
        if bound != variables {
            return None;
        }
        let variables = sorted_variables(store, bound);
        let is_large = store.subterms(&[matrix]).len() > MOST_PARTS;
        let (last, is_negated) = unnegated(store, matrix);
        let parts = parts(store, last, is_large)?;
        Some(Source { name, prefix, variables, parts, is_negated, is_assumed: false })
    }
}

/// The formula without a negation, and whether there is one.
fn unnegated(store: &TermStore, formula: Term) -> (Term, bool) {
    match store.view(formula) {
        (Op::Not, &[inner]) => (inner, true),
        _ => (formula, false),
    }
}

/// The part that an argument of a connective is or negates, and whether it negates it. A constraint with two negations is a part
/// as it is, because resolution takes only one of them away.
fn literal(store: &TermStore, arg: Term) -> (Term, bool) {
    let (part, is_negated) = unnegated(store, arg);
    let is_doubled = is_negated && store.op(part) == Op::Not;
    if is_doubled && !store.has_predicate(arg) { (arg, false) } else { (part, is_negated) }
}

/// The parts of a formula; `None` if a predicate is below another operator than those that have rules.
fn parts(store: &TermStore, formula: Term, is_large: bool) -> Option<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    let mut positions: FxHashMap<Term, usize> = FxHashMap::default();
    let mut open = vec![formula];
    while let Some(&term) = open.last() {
        if positions.contains_key(&term) {
            open.pop();
            continue;
        }
        let (op, args) = store.view(term);
        let has_predicate = store.has_predicate(term);
        let is_connective = match op {
            Op::And | Op::Or => args.len() > 1,
            Op::Implies => args.len() == 2,
            _ => false,
        };
        // A predicate below two negations has no rule here.
        let is_doubled =
            |&arg: &Term| store.has_predicate(arg) && store.op(unnegated(store, arg).0) == Op::Not;
        let is_split = match has_predicate {
            true => !args.iter().any(is_doubled),
            false => !is_large && !store.is_quantified(term),
        };
        let kind = if is_connective && is_split {
            let missing: Vec<Term> = args
                .iter()
                .map(|&arg| literal(store, arg).0)
                .filter(|arg| !positions.contains_key(arg))
                .collect();
            if !missing.is_empty() {
                open.extend(missing);
                continue;
            }
            let signed = |&arg: &Term| {
                let (part, is_negated) = literal(store, arg);
                (positions[&part], !is_negated)
            };
            let literals: Vec<Literal> = args.iter().map(signed).collect();
            match op {
                Op::And => Kind::And(literals),
                Op::Or => Kind::Or(literals),
                _ => Kind::Implies([literals[0], literals[1]]),
            }
        } else if matches!(op, Op::Apply(_)) && store.sort_of(term) == Sort::BOOL && has_predicate {
            Kind::Atom
        } else if has_predicate {
            return None;
        } else {
            Kind::Constraint
        };
        open.pop();
        positions.insert(term, parts.len());
        parts.push(Part { term, kind, name: None });
    }
    Some(parts)
}

/// The subformulas with quantifiers whose truth follows from that of a constraint without further reasoning. Evaluation cannot
/// decide them, but the checker has found that the constraint holds.
fn quantified_units(store: &TermStore, constraint: Term) -> FxHashMap<Term, bool> {
    let mut units: FxHashMap<Term, bool> = FxHashMap::default();
    let mut open = vec![(constraint, true)];
    while let Some((term, holds)) = open.pop() {
        if !store.is_quantified(term) || units.insert(term, holds).is_some() {
            continue;
        }
        match (store.view(term), holds) {
            ((Op::Not, &[inner]), _) => open.push((inner, !holds)),
            ((Op::And, members), true) | ((Op::Or, members), false) => {
                open.extend(members.iter().map(|&member| (member, holds)));
            }
            ((Op::Implies, [premises @ .., conclusion]), false) => {
                open.extend(premises.iter().map(|&premise| (premise, true)));
                open.push((*conclusion, false));
            }
            _ => {}
        }
    }
    units
}

/// The proof that a refutation becomes.
struct Proof<'p, W> {
    store: &'p TermStore,
    system: &'p HornSystem,
    refutation: &'p Refutation,
    mark: String,
    /// The formulas that were tried so far, as assumptions. `None` if a formula cannot be taken apart.
    sources: FxHashMap<Term, Option<Source>>,
    /// The names of the steps that derive the facts of the refutation.
    names: Vec<String>,
    out: &'p mut W,
}

/// A step of the refutation while it is written.
struct Instance<'p> {
    number: usize,
    /// The values of the clause's variables, as text.
    values: Vec<String>,
    substitution: Substitution,
    assignment: Assignment,
    /// The atoms of the body, with the facts that they are.
    premises: FxHashMap<Term, usize>,
    head: Option<Term>,
    step: &'p Step,
}

impl<W: io::Write> Proof<'_, W> {
    fn step(&mut self, number: usize, step: &Step) -> io::Result<()> {
        let (store, clause) = (self.store, &self.system.clauses[step.clause]);
        let applied = |atom: &Atom| {
            store
                .apply(self.system.fun(atom.predicate), &atom.args)
                .expect("atoms of clauses are well-sorted")
        };
        let body: Vec<Term> = clause.body.iter().map(applied).collect();
        let head = clause.head.as_ref().map(applied);
        let position = body.iter().position(|&atom| Some(atom) == head);
        if let Some(&premise) = position.and_then(|position| step.premises.get(position)) {
            // The clause derives what it starts from.
            self.names.push(self.names[premise].clone());
            return Ok(());
        }
        let terms = step.instantiation.iter().map(|value| store.value_to_term(value));
        let instance = Instance {
            number,
            values: step.instantiation.iter().map(|value| store.display_value(value).to_string()).collect(),
            substitution: clause.variables.iter().copied().zip(terms).collect(),
            assignment: clause.variables.iter().copied().zip(step.instantiation.iter().cloned()).collect(),
            premises: body.iter().copied().zip(step.premises.iter().copied()).collect(),
            head,
            step,
        };
        let is_derived = match clause.written {
            Some(formula) => self.derive_from(formula, 'a', &instance)?,
            None => false,
        };
        if !is_derived && !self.derive_from(self.converted(clause, &body, head), 'c', &instance)? {
            self.unproved(&instance)?;
        }
        self.names.push(format!("t{number}"));
        Ok(())
    }

    /// Derives the fact of a step from the formula of its clause, if the rules of this file can.
    fn derive_from(&mut self, formula: Term, stem: char, instance: &Instance<'_>) -> io::Result<bool> {
        let number = instance.step.clause;
        let known = self.sources.remove(&formula);
        let mut source = known.unwrap_or_else(|| {
            let name = format!("{stem}{}", number + 1);
            Source::new(self.store, name, formula, &self.system.clauses[number].variables)
        });
        let mut is_derived = false;
        if let Some(source) = &mut source {
            let truth = self.truth(source, instance);
            let wanted = source.is_negated == (source.prefix != Prefix::NotExists);
            is_derived = truth.last() == Some(&Some(wanted));
            if is_derived {
                if !std::mem::replace(&mut source.is_assumed, true) {
                    self.assume(source, number + 1)?;
                }
                self.derive(source, &truth, instance)?;
            }
        }
        self.sources.insert(formula, source);
        Ok(is_derived)
    }

    /// Writes a step that does not follow from its clause.
    fn unproved(&mut self, instance: &Instance<'_>) -> io::Result<()> {
        let Instance { number, step, head, .. } = instance;
        let fact = head.map_or(String::new(), |_| format!(" {}", self.fact(step)));
        let premises: Vec<&str> = step.premises.iter().map(|&premise| &*self.names[premise]).collect();
        let premises = match &*premises {
            [] => String::new(),
            _ => format!(" :premises ({})", premises.join(" ")),
        };
        writeln!(self.out, "(step t{number} (cl{fact}) :rule hole{premises})")
    }

    /// The clause as a formula.
    fn converted(&self, clause: &Clause, body: &[Term], head: Option<Term>) -> Term {
        let store = self.store;
        let app = |op: Op, args: &[Term]| store.app(op, args).expect("parts of clauses are formulas");
        let mut conjuncts = body.to_vec();
        if clause.constraint != Term::TRUE || body.is_empty() {
            conjuncts.push(clause.constraint);
        }
        let body = if let [only] = conjuncts[..] { only } else { app(Op::And, &conjuncts) };
        let matrix = app(Op::Implies, &[body, head.unwrap_or(Term::FALSE)]);
        if clause.variables.is_empty() {
            return matrix;
        }
        let args: Vec<Term> = clause.variables.iter().copied().chain([matrix]).collect();
        app(Op::Forall, &args)
    }

    /// Defines the parts of a formula and assumes it.
    fn assume(&mut self, source: &mut Source, number: usize) -> io::Result<()> {
        let mut parameters: Vec<String> = Vec::new();
        if source.prefix != Prefix::None {
            let clause = &self.system.clauses[number - 1];
            parameters
                .extend(clause.variables.iter().map(|&variable| self.store.display(variable).to_string()));
        }
        let mut texts: Vec<String> = Vec::with_capacity(source.parts.len());
        let kind = &source.name[..1];
        for (position, part) in source.parts.iter_mut().enumerate() {
            let joined = |op: &str, literals: &[Literal]| {
                let texts: Vec<String> =
                    literals.iter().map(|&(at, holds)| signed(&texts[at], holds)).collect();
                format!("({op} {})", texts.join(" "))
            };
            let text = match &part.kind {
                Kind::And(literals) => joined("and", literals),
                Kind::Or(literals) => joined("or", literals),
                Kind::Implies(literals) => joined("=>", literals),
                Kind::Atom | Kind::Constraint => self.store.display(part.term).to_string(),
            };
            let is_short = matches!(part.kind, Kind::Atom) || matches!(part.term, Term::TRUE | Term::FALSE);
            if is_short {
                texts.push(text);
                continue;
            }
            let letter = if kind == "c" { "c" } else { "" };
            let name = format!("part{}{letter}{number}.{position}", self.mark);
            writeln!(self.out, "(define-fun {name} ({}) Bool {text})", source.variables)?;
            texts.push(applied(&name, &parameters));
            part.name = Some(name);
        }
        let matrix = signed(texts.last().expect("a formula has parts"), !source.is_negated);
        let Source { name, variables, .. } = source;
        match source.prefix {
            Prefix::None => writeln!(self.out, "(assume {name} {matrix})"),
            Prefix::ForAll => {
                writeln!(self.out, "(assume {name} (! (forall ({variables}) {matrix}) :named @{name}))")
            }
            Prefix::NotExists => {
                writeln!(
                    self.out,
                    "(assume {name} (not (! (exists ({variables}) {matrix}) :named @{name})))"
                )?;
                writeln!(
                    self.out,
                    "(step {name}.d (cl (= @{name} (not (! (forall ({variables}) (not {matrix})) :named @{name}.n)))) :rule connective_def)"
                )?;
                writeln!(
                    self.out,
                    "(step {name}.e (cl @{name} (not (not @{name}.n))) :rule equiv2 :premises ({name}.d))"
                )
            }
        }
    }

    /// The truth of each part, where it follows from the premises, the denial of the head and the values of constraints.
    fn truth(&self, source: &Source, instance: &Instance<'_>) -> Vec<Option<bool>> {
        let quantified = quantified_units(self.store, self.system.clauses[instance.step.clause].constraint);
        let mut truth: Vec<Option<bool>> = Vec::with_capacity(source.parts.len());
        for part in &source.parts {
            let is = |&(at, holds): &Literal| truth[at].map(|value| value == holds);
            let all = |literals: &[Literal], value: bool| {
                if literals.iter().any(|literal| is(literal) == Some(!value)) {
                    Some(!value)
                } else {
                    literals.iter().all(|literal| is(literal) == Some(value)).then_some(value)
                }
            };
            truth.push(match &part.kind {
                Kind::And(literals) => all(literals, true),
                Kind::Or(literals) => all(literals, false),
                Kind::Implies([premise, conclusion]) => all(&[(premise.0, !premise.1), *conclusion], false),
                Kind::Atom if instance.head == Some(part.term) => Some(false),
                Kind::Atom => instance.premises.contains_key(&part.term).then_some(true),
                Kind::Constraint => match self.store.eval(part.term, &instance.assignment) {
                    Ok(Value::Bool(value)) => Some(value),
                    _ => quantified.get(&part.term).copied(),
                },
            });
        }
        truth
    }

    /// Writes the steps from the assumption to the fact.
    fn derive(&mut self, source: &Source, truth: &[Option<bool>], instance: &Instance<'_>) -> io::Result<()> {
        let number = instance.number;
        let last = source.parts.len() - 1;
        let matrix = signed(&self.text(source, last, instance), !source.is_negated);
        // The first clause is that of the whole formula, or the unit that it is.
        let mut premises: Vec<String> = Vec::new();
        let mut facts: Vec<String> = Vec::new();
        let mut result = String::new();
        let mut is_needed = vec![false; source.parts.len()];
        is_needed[last] = true;
        // Parts that stand below two negations in a clause. One step removes these, because resolution takes only one form away.
        let mut is_doubled = vec![false; source.parts.len()];
        for position in (0..source.parts.len()).rev() {
            if !is_needed[position] {
                continue;
            }
            let Some(value) = truth[position] else { continue };
            let is = |&(at, holds): &Literal| truth[at].map(|value| value == holds);
            let this = self.text(source, position, instance);
            if is_doubled[position] {
                let name = format!("t{number}.{position}n");
                writeln!(self.out, "(step {name} (cl (not (not (not {this}))) {this}) :rule not_not)")?;
                premises.push(name);
            }
            let literal = |&(at, holds): &Literal| signed(&self.text(source, at, instance), holds);
            let denied = |child: &Literal| format!("(not {})", literal(child));
            let joined = |texts: Vec<String>| texts.join(" ");
            // Literals whose negations are in the clause, and literals that are themselves.
            let (mut below, mut children): (Vec<Literal>, Vec<Literal>) = (Vec::new(), Vec::new());
            let (rule, others, argument) = match (&source.parts[position].kind, value) {
                (Kind::And(literals), true) => {
                    below.extend(literals);
                    ("and_neg", joined(literals.iter().map(denied).collect()), None)
                }
                (Kind::Or(literals), false) => {
                    children.extend(literals);
                    ("or_pos", joined(literals.iter().map(literal).collect()), None)
                }
                (Kind::And(literals), false) | (Kind::Or(literals), true) => {
                    let Some(at) = literals.iter().position(|child| is(child) == Some(value)) else {
                        continue;
                    };
                    if value {
                        below.push(literals[at]);
                        ("or_neg", denied(&literals[at]), Some(at))
                    } else {
                        children.push(literals[at]);
                        ("and_pos", literal(&literals[at]), Some(at))
                    }
                }
                (Kind::Implies([premise, conclusion]), false) => {
                    below.push(*premise);
                    children.push(*conclusion);
                    ("implies_pos", format!("{} {}", denied(premise), literal(conclusion)), None)
                }
                (Kind::Implies([premise, conclusion]), true) => {
                    if is(premise) == Some(false) {
                        children.push(*premise);
                        ("implies_neg1", literal(premise), None)
                    } else {
                        below.push(*conclusion);
                        ("implies_neg2", denied(conclusion), None)
                    }
                }
                (Kind::Atom, true) => {
                    let premise = instance.premises[&source.parts[position].term];
                    let fact = self.fact(&self.refutation.steps[premise]);
                    if this != fact {
                        let name = format!("t{number}.{position}");
                        self.equal_atoms(
                            &name,
                            source.parts[position].term,
                            &self.refutation.steps[premise],
                            instance,
                        )?;
                        writeln!(
                            self.out,
                            "(step {name} (cl {this} (not {fact})) :rule equiv2 :premises ({name}e))"
                        )?;
                        premises.push(name);
                    }
                    facts.push(self.names[premise].clone());
                    continue;
                }
                (Kind::Atom, false) => {
                    let fact = self.fact(instance.step);
                    if this != fact {
                        let name = format!("t{number}.{position}");
                        self.equal_atoms(&name, source.parts[position].term, instance.step, instance)?;
                        writeln!(
                            self.out,
                            "(step {name} (cl (not {this}) {fact}) :rule equiv1 :premises ({name}e))"
                        )?;
                        facts.push(name);
                    }
                    result = format!(" {fact}");
                    continue;
                }
                (Kind::Constraint, _) => {
                    let name = format!("t{number}.{position}");
                    self.evaluate(&name, source.parts[position].term, &this, value, instance)?;
                    premises.push(name);
                    continue;
                }
            };
            let argument = argument.map_or(String::new(), |at| format!(" :args ({at})"));
            let this = signed(&this, value);
            writeln!(self.out, "(step t{number}.{position} (cl {this} {others}) :rule {rule}{argument})")?;
            premises.push(format!("t{number}.{position}"));
            for (at, holds) in below {
                is_needed[at] = true;
                is_doubled[at] |= !holds;
            }
            children.into_iter().for_each(|(at, _)| is_needed[at] = true);
        }
        // The assumption comes second, because it has a literal of the first clause; the facts come last, because one may be an
        // atom as it is and the value of another one.
        let name = &source.name;
        let mut start: Vec<String> = Vec::new();
        if source.prefix == Prefix::None {
            start.push(name.clone());
        } else {
            let (quantified, instantiated) = match source.prefix {
                Prefix::NotExists => (format!("@{name}.n"), format!("(not {matrix})")),
                _ => (format!("@{name}"), matrix),
            };
            writeln!(
                self.out,
                "(step t{number}.i (cl (or (not {quantified}) {instantiated})) :rule forall_inst :args ({}))",
                instance.values.join(" ")
            )?;
            writeln!(
                self.out,
                "(step t{number}.o (cl (not {quantified}) {instantiated}) :rule or :premises (t{number}.i))"
            )?;
            start.push(format!("t{number}.o"));
            if source.prefix == Prefix::NotExists {
                start.push(format!("{name}.e"));
            }
            start.push(name.clone());
        }
        let at = premises.len().min(1);
        premises.splice(at..at, start);
        let mut seen: FxHashSet<String> = FxHashSet::default();
        premises.extend(facts);
        premises.retain(|premise| seen.insert(premise.clone()));
        writeln!(
            self.out,
            "(step t{number} (cl{result}) :rule resolution :premises ({}))",
            premises.join(" ")
        )
    }

    /// A part with values for its variables.
    fn text(&self, source: &Source, position: usize, instance: &Instance<'_>) -> String {
        let part = &source.parts[position];
        match &part.name {
            Some(name) if source.prefix == Prefix::None => name.clone(),
            Some(name) => applied(name, &instance.values),
            None => self.store.display(self.store.substitute(part.term, &instance.substitution)).to_string(),
        }
    }

    /// The fact of a step.
    fn fact(&self, step: &Step) -> String {
        let values: Vec<String> =
            step.fact.iter().map(|value| self.store.display_value(value).to_string()).collect();
        match &self.system.clauses[step.clause].head {
            Some(atom) => {
                let name = self.store.fun_decl(self.system.fun(atom.predicate)).name;
                applied(&self.store.display_symbol(name).to_string(), &values)
            }
            None => "false".to_owned(),
        }
    }

    /// Proves, as the step `{name}e`, that an instance of an atom equals the fact of a step: by congruence.
    fn equal_atoms(
        &mut self,
        name: &str,
        atom: Term,
        step: &Step,
        instance: &Instance<'_>,
    ) -> io::Result<()> {
        let store = self.store;
        let atom = store.substitute(atom, &instance.substitution);
        let fact = self.fact(step);
        let mut premises = Vec::new();
        for (at, (&arg, value)) in store.args(atom).iter().zip(&step.fact).enumerate() {
            let value = store.value_to_term(value);
            if arg != value {
                let name = format!("{name}.{at}");
                let equation = format!("(= {} {})", store.display(arg), store.display(value));
                self.equal(&name, &equation, arg, value)?;
                premises.push(name);
            }
        }
        writeln!(
            self.out,
            "(step {name}e (cl (= {} {fact})) :rule cong :premises ({}))",
            store.display(atom),
            premises.join(" ")
        )
    }

    /// Proves that a ground term equals another one; `equation` is the text of that.
    fn equal(&mut self, name: &str, equation: &str, left: Term, right: Term) -> io::Result<()> {
        let store = self.store;
        let [a, b] = [left, right].map(|term| store.display(term).to_string());
        if left == right {
            return writeln!(self.out, "(step {name} (cl {equation}) :rule eq_reflexive)");
        }
        if !is_sum(store, left) || !is_sum(store, right) {
            if self.equal_values(name, equation, left, right)? {
                return Ok(());
            }
            return writeln!(self.out, "(step {name} (cl {equation}) :rule hole)");
        }
        let cases = format!("{equation} (not (<= {a} {b})) (not (<= {b} {a}))");
        writeln!(self.out, "(step {name}.d (cl (or {cases})) :rule la_disequality)")?;
        writeln!(self.out, "(step {name}.o (cl {cases}) :rule or :premises ({name}.d))")?;
        writeln!(self.out, "(step {name}.l (cl (<= {a} {b})) :rule la_generic :args (1))")?;
        writeln!(self.out, "(step {name}.g (cl (<= {b} {a})) :rule la_generic :args (1))")?;
        writeln!(
            self.out,
            "(step {name} (cl {equation}) :rule resolution :premises ({name}.o {name}.l {name}.g))"
        )
    }

    /// Proves a ground constraint, or its negation.
    fn evaluate(
        &mut self,
        name: &str,
        term: Term,
        text: &str,
        value: bool,
        instance: &Instance<'_>,
    ) -> io::Result<()> {
        let store = self.store;
        let ground = store.substitute(term, &instance.substitution);
        let literal = signed(text, value);
        let rule = match (store.view(ground), value) {
            ((Op::True, _), true) => "true",
            ((Op::False, _), false) => "false",
            ((Op::Eq, &[left, right]), true) => {
                // The definition of the part stands for this equation.
                return self.equal(name, text, left, right);
            }
            ((Op::Le | Op::Lt | Op::Ge | Op::Gt | Op::Eq, &[left, right]), _)
                if is_sum(store, left) && is_sum(store, right) =>
            {
                "la_generic :args (1)"
            }
            ((Op::Eq, &[left, right]), false) if self.different_values(name, text, left, right)? => {
                return Ok(());
            }
            ((Op::Le | Op::Lt | Op::Ge | Op::Gt | Op::Eq | Op::Tester(_), _), _)
                if self.valued(name, text, ground, value)? =>
            {
                return Ok(());
            }
            _ => "hole",
        };
        writeln!(self.out, "(step {name} (cl {literal}) :rule {rule})")
    }
}

/// Whether a ground term is a number that a checker of `la_generic` computes.
fn is_sum(store: &TermStore, term: Term) -> bool {
    store.sort_of(term).is_arithmetic()
        && store.subterms(&[term]).into_iter().all(|term| match store.view(term) {
            (Op::Numeral(_) | Op::Add | Op::Sub | Op::Neg, _) => true,
            (Op::Mul, &[left, right]) => [left, right].into_iter().any(|factor| is_number(store, factor)),
            (Op::RealDiv, &[left, right]) => is_number(store, left) && is_number(store, right),
            _ => false,
        })
}

/// Whether a term is a number, possibly negative.
fn is_number(store: &TermStore, term: Term) -> bool {
    match store.view(term) {
        (Op::Numeral(_), _) => true,
        (Op::Neg, &[inner]) => matches!(store.op(inner), Op::Numeral(_)),
        _ => false,
    }
}

fn signed(text: &str, holds: bool) -> String {
    if holds { text.to_owned() } else { format!("(not {text})") }
}

fn applied(name: &str, args: &[String]) -> String {
    if args.is_empty() { name.to_owned() } else { format!("({name} {})", args.join(" ")) }
}
