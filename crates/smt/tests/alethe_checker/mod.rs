//! A checker for proofs in the Alethe format: it reads the text, and replays each step by its rule.
//!
//! It knows the rules in this file, and nothing about how proofs are found. Terms are compared syntactically, with
//! `let` and definitions expanded. A cast integer counts as the integer in sums.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use shofar_logic::number::{Integer, Rational};
use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{Assignment, LinearPoly, Op, Sort, Term, TermStore, Value};

use shofar_testing::scripts::group;

/// The key of holes with premises. Those without are identities, and are looked at.
pub(crate) const OPEN: &str = "hole with premises";

/// How often each rule was used.
pub(crate) type Tally = BTreeMap<String, usize>;

/// Checks the text of a proof from assertions, with the declarations of what they are made of.
pub(crate) fn check(declarations: &str, assertions: &[String], proof: &str) -> Result<Tally, String> {
    let store = TermStore::new();
    let mut checker = Checker {
        store: &store,
        environment: Environment::new(&store),
        asserted: BTreeSet::new(),
        clauses: HashMap::new(),
        tally: Tally::new(),
    };
    for line in declarations.lines() {
        checker.declare(line)?;
    }
    for assertion in assertions {
        let formulas = checker.terms(assertion)?;
        checker.asserted.extend(formulas);
    }
    let mut last = None;
    for line in proof.lines() {
        last = checker.command(line).map_err(|error| format!("{error}\n{line}"))?;
    }
    if last.is_some_and(|clause| clause.is_empty()) {
        return Ok(checker.tally);
    }
    Err("the last clause is not empty".to_owned())
}

struct Checker<'s> {
    store: &'s TermStore,
    environment: Environment,
    asserted: BTreeSet<Term>,
    clauses: HashMap<String, Vec<Term>>,
    tally: Tally,
}

impl Checker<'_> {
    fn declare(&mut self, line: &str) -> Result<(), String> {
        let mut reader = Reader::new(self.store, &mut self.environment, line.as_bytes());
        let Some(name) = reader.command().map_err(|error| error.message)? else { return Ok(()) };
        reader.declaration(name).map_err(|error| error.message)?;
        Ok(())
    }

    /// The terms of a text.
    fn terms(&mut self, text: &str) -> Result<Vec<Term>, String> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let command = format!("(get-value ({text}))");
        let mut reader = Reader::new(self.store, &mut self.environment, command.as_bytes());
        reader.command().map_err(|error| error.message)?;
        reader.terms().map_err(|error| error.message)
    }

    fn command(&mut self, line: &str) -> Result<Option<Vec<Term>>, String> {
        if line.starts_with("(define-fun") {
            self.declare(line)?;
            return Ok(None);
        }
        let inner = line.strip_prefix('(').and_then(|line| line.strip_suffix(')')).ok_or("no command")?;
        let (kind, rest) = inner.split_once(' ').ok_or("no command")?;
        let (name, rest) = rest.split_once(' ').ok_or("no name")?;
        let clause = match kind {
            "assume" => {
                let formulas = self.terms(rest)?;
                if !formulas.iter().all(|formula| self.asserted.contains(formula)) {
                    return Err("this was not asserted".to_owned());
                }
                formulas
            }
            "step" => {
                let (clause, rest) = group(rest).ok_or("no clause")?;
                let literals = clause.strip_prefix("(cl").and_then(|clause| clause.strip_suffix(')'));
                let clause = self.terms(literals.ok_or("no clause")?)?;
                if clause.iter().any(|&literal| self.store.sort_of(literal) != Sort::BOOL) {
                    return Err("a literal is no formula".to_owned());
                }
                self.step(&clause, rest)?;
                clause
            }
            _ => return Err("an unknown command".to_owned()),
        };
        if self.clauses.insert(name.to_owned(), clause.clone()).is_some() {
            return Err("the name is not new".to_owned());
        }
        Ok(Some(clause))
    }

    fn step(&mut self, clause: &[Term], attributes: &str) -> Result<(), String> {
        let attribute = |name: &str| {
            let (_, rest) = attributes.split_once(name)?;
            Some(rest.trim_start())
        };
        let rule = attribute(":rule ").ok_or("no rule")?;
        let rule = rule.split(' ').next().ok_or("no rule")?.to_owned();
        let listed = |name: &str| -> Option<String> {
            let (list, _) = group(attribute(name)?)?;
            Some(list.get(1..list.len() - 1)?.to_owned())
        };
        let premises: Vec<Vec<Term>> = listed(":premises ")
            .unwrap_or_default()
            .split_whitespace()
            .map(|name| self.clauses.get(name).cloned().ok_or(format!("{name} is unknown")))
            .collect::<Result<_, String>>()?;
        let args = self.terms(&listed(":args ").unwrap_or_default())?;
        // What is left open of an assertion is more than an identity that is not proved.
        let kind = if rule == "hole" && !premises.is_empty() { OPEN } else { &rule };
        *self.tally.entry(kind.to_owned()).or_default() += 1;
        match self.holds(&rule, clause, &premises, &args) {
            Some(true) => Ok(()),
            Some(false) => Err("the clause does not follow".to_owned()),
            None => Err("the step does not have the form that its rule demands".to_owned()),
        }
    }

    /// Whether a clause follows by a rule; nothing if it does not have the form that the rule demands.
    fn holds(&self, rule: &str, clause: &[Term], premises: &[Vec<Term>], args: &[Term]) -> Option<bool> {
        let store = self.store;
        // What is no formula has no negation, and is in no clause.
        let not = |term: Term| store.app(Op::Not, &[term]).unwrap_or(term);
        let denied = |term: Term| match store.view(term) {
            (Op::Not, &[inner]) => Some(inner),
            _ => None,
        };
        // The formula of a connective that the first literal affirms or denies, as the rule says, with its arguments.
        let gate = |op: Op, is_denied: bool| {
            let first = *clause.first()?;
            let gate = if is_denied { denied(first)? } else { first };
            let (found, args) = store.view(gate);
            (found == op).then(|| args.to_vec())
        };
        let rest = || &clause[1..];
        let position = || {
            let number = store.numeral(*args.first()?)?;
            usize::try_from(number.to_integer()?.to_i64()?).ok()
        };
        let negations = |terms: &[Term]| terms.iter().map(|&term| not(term)).collect::<Vec<Term>>();
        Some(match (rule, premises) {
            ("hole", []) => self.is_true_at_points(clause),
            ("hole", _) => true,
            ("resolution", [first, others @ ..]) => self.resolution(clause, first, others, args)?,
            ("or", [premise]) => {
                let &[(Op::Or, args)] = &premise.iter().map(|&term| store.view(term)).collect::<Vec<_>>()[..]
                else {
                    return None;
                };
                args == clause
            }
            ("and", [premise]) => {
                let &[(Op::And, args)] =
                    &premise.iter().map(|&term| store.view(term)).collect::<Vec<_>>()[..]
                else {
                    return None;
                };
                args.get(position()?)? == clause.first()? && clause.len() == 1
            }
            ("weakening", [premise]) => clause.starts_with(premise),
            ("contraction", [premise]) => {
                premise.iter().collect::<BTreeSet<_>>() == clause.iter().collect::<BTreeSet<_>>()
            }
            (_, [_, ..]) => return None,
            ("true", []) => clause == [Term::TRUE],
            ("false", []) => clause == [not(Term::FALSE)],
            ("not_not", []) => {
                let &[triple, inner] = clause else { return None };
                triple == not(not(not(inner)))
            }
            ("and_pos", []) => rest() == [*gate(Op::And, true)?.get(position()?)?],
            ("and_neg", []) => rest() == negations(&gate(Op::And, false)?),
            ("or_pos", []) => rest() == gate(Op::Or, true)?,
            ("or_neg", []) => rest() == [not(*gate(Op::Or, false)?.get(position()?)?)],
            ("implies_pos" | "implies_neg1" | "implies_neg2", []) => {
                let &[a, b] = &gate(Op::Implies, rule == "implies_pos")?[..] else { return None };
                match rule {
                    "implies_pos" => rest() == [not(a), b],
                    "implies_neg1" => rest() == [a],
                    _ => rest() == [not(b)],
                }
            }
            ("equiv_pos1" | "equiv_pos2" | "equiv_neg1" | "equiv_neg2", []) => {
                let &[a, b] = &gate(Op::Eq, rule.contains("pos"))?[..] else { return None };
                match rule {
                    "equiv_pos1" => rest() == [a, not(b)],
                    "equiv_pos2" => rest() == [not(a), b],
                    "equiv_neg1" => rest() == [not(a), not(b)],
                    _ => rest() == [a, b],
                }
            }
            ("xor_pos1" | "xor_pos2" | "xor_neg1" | "xor_neg2", []) => {
                let &[a, b] = &gate(Op::Xor, rule.contains("pos"))?[..] else { return None };
                match rule {
                    "xor_pos1" => rest() == [a, b],
                    "xor_pos2" => rest() == [not(a), not(b)],
                    "xor_neg1" => rest() == [a, not(b)],
                    _ => rest() == [not(a), b],
                }
            }
            ("ite_pos1" | "ite_pos2" | "ite_neg1" | "ite_neg2", []) => {
                let &[c, a, b] = &gate(Op::Ite, rule.contains("pos"))?[..] else { return None };
                match rule {
                    "ite_pos1" => rest() == [c, b],
                    "ite_pos2" => rest() == [not(c), a],
                    "ite_neg1" => rest() == [c, not(b)],
                    _ => rest() == [not(c), not(a)],
                }
            }
            ("distinct_elim", []) => {
                let &[left, right] = &gate(Op::Eq, false)?[..] else { return None };
                let (Op::Distinct, args) = store.view(left) else { return None };
                let different = (0..args.len()).flat_map(|i| {
                    (i + 1..args.len()).map(move |j| not(store.app(Op::Eq, &[args[i], args[j]]).unwrap()))
                });
                match store.view(right) {
                    (Op::And, members) => members.iter().copied().eq(different),
                    _ => [right].into_iter().eq(different),
                }
            }
            ("nary_elim", []) => {
                let &[chain, links] = &gate(Op::Eq, false)?[..] else { return None };
                let (op, args) = store.view(chain);
                let (Op::And, links) = store.view(links) else { return None };
                let is_chain = matches!(op, Op::Eq | Op::Le | Op::Lt | Op::Ge | Op::Gt) && args.len() > 2;
                is_chain && links.iter().map(|&link| store.view(link)).eq(args.windows(2).map(|it| (op, it)))
            }
            ("ite_intro", []) => {
                let &[formula, both] = &gate(Op::Eq, false)?[..] else { return None };
                let (Op::And, &[same, choice]) = store.view(both) else { return None };
                let (Op::Ite, &[condition, then, otherwise]) = store.view(choice) else { return None };
                let (Op::Eq, &[term, a]) = store.view(then) else { return None };
                let (Op::Eq, &[again, b]) = store.view(otherwise) else { return None };
                let is_inside = store.subterms(&[formula]).contains(&term);
                formula == same
                    && term == again
                    && is_inside
                    && store.view(term) == (Op::Ite, &[condition, a, b])
            }
            ("eq_reflexive", []) => matches!(gate(Op::Eq, false)?[..], [a, b] if a == b) && clause.len() == 1,
            ("eq_symmetric", []) => {
                let &[one, other] = &gate(Op::Eq, false)?[..] else { return None };
                let ((Op::Eq, &[a, b]), (Op::Eq, &[c, d])) = (store.view(one), store.view(other)) else {
                    return None;
                };
                (a, b) == (d, c)
            }
            ("eq_transitive" | "eq_congruent", []) => {
                let (last, equalities) = clause.split_last()?;
                let equalities = equalities.iter().map(|&literal| match store.view(denied(literal)?) {
                    (Op::Eq, &[a, b]) => Some((a, b)),
                    _ => None,
                });
                let equalities = equalities.collect::<Option<Vec<(Term, Term)>>>()?;
                let (Op::Eq, &[left, right]) = store.view(*last) else { return None };
                if rule == "eq_congruent" {
                    let ((f, of_left), (g, of_right)) = (store.view(left), store.view(right));
                    let pairs = std::iter::zip(of_left.iter().copied(), of_right.iter().copied());
                    let is_meant =
                        |((a, b), pair): ((Term, Term), (Term, Term))| pair == (a, b) || pair == (b, a);
                    f == g
                        && equalities.len() == of_left.len()
                        && of_left.len() == of_right.len()
                        && std::iter::zip(equalities, pairs).all(is_meant)
                } else {
                    let mut here = left;
                    for (a, b) in equalities {
                        here = if here == a {
                            b
                        } else if here == b {
                            a
                        } else {
                            return Some(false);
                        };
                    }
                    here == right
                }
            }
            ("la_disequality", []) => {
                let &[only] = clause else { return None };
                let (Op::Or, &[equation, below, above]) = store.view(only) else { return None };
                let (Op::Eq, &[a, b]) = store.view(equation) else { return None };
                let at_most = |a: Term, b: Term| not(store.app(Op::Le, &[a, b]).unwrap());
                below == at_most(a, b) && above == at_most(b, a) && store.sort_of(a).is_arithmetic()
            }
            ("la_generic", []) => self.sum(clause, args)?,
            ("dt_inject" | "dt_select" | "dt_test", []) => {
                let (whole, part) = match *clause {
                    [whole, part] => (self.equation(denied(whole)?)?, self.equation(part)?),
                    // The argument is the application itself.
                    [part] => {
                        let (c, d) = self.equation(part)?;
                        let &[argument] = store.args(if store.args(c).len() == 1 { c } else { d }) else {
                            return None;
                        };
                        ((argument, argument), (c, d))
                    }
                    _ => return None,
                };
                let ((a, b), (c, d)) = (whole, part);
                let is_step = |(a, b): (Term, Term), (c, d): (Term, Term)| match rule {
                    "dt_inject" => {
                        let field = position()?;
                        let is_made = matches!(store.op(a), Op::Construct(_)) && store.op(a) == store.op(b);
                        let fields = [a, b].map(|made| store.args(made).get(field).copied());
                        Some(is_made && fields == [Some(c), Some(d)])
                    }
                    _ => {
                        let (Op::Construct(made), fields) = store.view(b) else { return None };
                        let value = match store.op(c) {
                            Op::Selector { constructor, field }
                                if constructor == made && rule == "dt_select" =>
                            {
                                *fields.get(field as usize)?
                            }
                            Op::Tester(tested) if rule == "dt_test" => store.bool(tested == made),
                            _ => return None,
                        };
                        Some(store.args(c) == [a] && d == value)
                    }
                };
                let turned = [((a, b), (c, d)), ((b, a), (c, d)), ((a, b), (d, c)), ((b, a), (d, c))];
                turned.into_iter().any(|(whole, part)| is_step(whole, part) == Some(true))
            }
            ("dt_clash", []) => {
                let &[only] = clause else { return None };
                let (a, b) = self.equation(denied(only)?)?;
                matches!((store.op(a), store.op(b)), (Op::Construct(c), Op::Construct(d)) if c != d)
            }
            ("dt_cycle", []) => {
                let are_made = args.iter().all(|&made| matches!(store.op(made), Op::Construct(_)));
                let is_next = |((&made, &next), &literal): ((&Term, &Term), &Term)| {
                    let (a, b) = self.equation(denied(literal)?)?;
                    let is_part = |part: Term, whole: Term| whole == next && store.args(made).contains(&part);
                    Some(is_part(a, b) || is_part(b, a))
                };
                let links = std::iter::zip(args, args.iter().cycle().skip(1));
                let mut links = std::iter::zip(links, clause);
                are_made
                    && !args.is_empty()
                    && args.len() == clause.len()
                    && links.all(|it| is_next(it) == Some(true))
            }
            ("dt_split" | "dt_expand", []) => {
                let &[x] = args else { return None };
                let constructors = store.datatype(store.sort_of(x))?.constructors();
                let tester = |&constructor: &_| store.app(Op::Tester(constructor), args).ok();
                let made = |&constructor: &_| {
                    let fields = 0..store.constructor(constructor).fields.len() as u32;
                    let fields = fields.map(|field| store.app(Op::Selector { constructor, field }, args));
                    store
                        .app(Op::Construct(constructor), &fields.collect::<Result<Vec<Term>, _>>().ok()?)
                        .ok()
                };
                let says = |constructor, literal: Term| {
                    self.equation(literal).is_some_and(|(a, b)| {
                        made(constructor).is_some_and(|made| [(a, b), (b, a)].contains(&(x, made)))
                    })
                };
                if rule == "dt_expand" {
                    let &[one, other] = clause else { return None };
                    let (tested, expansion) = match denied(one) {
                        Some(tested) => (tested, other),
                        None => (denied(other)?, one),
                    };
                    constructors.iter().any(|it| tester(it) == Some(tested) && says(it, expansion))
                } else {
                    let covers = |it, &literal: &Term| tester(it) == Some(literal) || says(it, literal);
                    let is_covered = |constructor| clause.iter().any(|literal| covers(constructor, literal));
                    clause.len() == constructors.len() && constructors.iter().all(is_covered)
                }
            }
            _ => return None,
        })
    }

    /// The sides of an equation.
    fn equation(&self, formula: Term) -> Option<(Term, Term)> {
        match self.store.view(formula) {
            (Op::Eq, &[left, right]) => Some((left, right)),
            _ => None,
        }
    }

    /// Whether a clause holds at a few points. Where it has functions, it is not looked at.
    fn is_true_at_points(&self, clause: &[Term]) -> bool {
        let store = self.store;
        let vars = store.free_vars(clause);
        (0_i64..40).all(|point| {
            let mut assignment = Assignment::new();
            for (at, &var) in (1..).zip(&vars) {
                let number = Integer::from((point * (2 * at + 5) + at * at) % 23 - 11);
                let value = match store.sort_of(var) {
                    Sort::INT => Value::Int(number),
                    Sort::REAL => Value::Real(Rational::new(number, Integer::from(1 + point % 4))),
                    Sort::BOOL => Value::Bool((point + at) % 2 == 0),
                    _ => return true,
                };
                assignment.set(var, value);
            }
            let values: Vec<_> = clause.iter().map(|&literal| store.eval(literal, &assignment)).collect();
            values.iter().any(|value| matches!(value, Ok(Value::Bool(true)) | Err(_)))
        })
    }

    fn resolution(
        &self,
        clause: &[Term],
        first: &[Term],
        others: &[Vec<Term>],
        args: &[Term],
    ) -> Option<bool> {
        let store = self.store;
        let mut resolvent: BTreeSet<Term> = first.iter().copied().collect();
        for (other, pivot) in std::iter::zip(others, args.chunks(2)) {
            let denied = store.app(Op::Not, &[pivot[0]]).ok()?;
            let (here, there) = match *pivot.get(1)? {
                Term::TRUE => (pivot[0], denied),
                Term::FALSE => (denied, pivot[0]),
                _ => return None,
            };
            if !resolvent.remove(&here) || !other.contains(&there) {
                return Some(false);
            }
            resolvent.extend(other.iter().filter(|literal| **literal != there));
        }
        Some(args.len() == 2 * others.len() && resolvent == clause.iter().copied().collect())
    }

    /// Whether the negations of the literals, multiplied by the numbers, sum up to a contradiction.
    fn sum(&self, clause: &[Term], args: &[Term]) -> Option<bool> {
        let store = self.store;
        let mut sum = LinearPoly::default();
        // What `0` is to the sum: equal, at most, or less.
        let (mut is_inequality, mut is_strict) = (false, false);
        if clause.len() != args.len() {
            return None;
        }
        for (&literal, &coefficient) in std::iter::zip(clause, args) {
            // A fraction of integers is ill-sorted for a checker that does not take these for reals.
            if store.sort_of(coefficient) != Sort::INT {
                return Some(false);
            }
            let coefficient = LinearPoly::from_term(store, coefficient).constant().clone();
            let (atom, is_denied) = match store.view(literal) {
                (Op::Not, &[atom]) => (atom, true),
                _ => (literal, false),
            };
            let (op, &[left, right]) = store.view(atom) else { return None };
            let poly = |term: Term| {
                let poly = LinearPoly::from_term(store, term);
                let without_cast = |term: Term| match store.view(term) {
                    (Op::ToReal, &[inner]) => inner,
                    _ => term,
                };
                let terms = poly.terms().iter().map(|(term, factor)| (without_cast(*term), factor.clone()));
                LinearPoly::from_pairs(terms.collect(), poly.constant().clone())
            };
            let mut form = poly(left);
            form.add_scaled(&poly(right), &-Rational::ONE);
            // The fact, as something that is zero, at least zero, or greater.
            let (is_at_least, is_greater) = match (op, is_denied) {
                (Op::Eq, true) => (true, false),
                (Op::Ge, true) | (Op::Lt, false) => (true, false),
                (Op::Gt, true) | (Op::Le, false) => (true, true),
                (Op::Le, true) | (Op::Gt, false) => (false, false),
                (Op::Lt, true) | (Op::Ge, false) => (false, true),
                _ => return None,
            };
            if !is_at_least {
                form.scale(&-Rational::ONE);
            }
            let is_int =
                |(term, factor): &(Term, Rational)| store.sort_of(*term) == Sort::INT && factor.is_integer();
            let is_tight = is_greater && form.terms().iter().all(is_int) && form.constant().is_integer();
            if is_tight {
                form.add_constant(&-Rational::ONE);
            }
            if op != Op::Eq {
                if coefficient.is_negative() {
                    return Some(false);
                }
                is_inequality |= !coefficient.is_zero();
                is_strict |= is_greater && !is_tight && !coefficient.is_zero();
            }
            sum.add_scaled(&form, &coefficient);
        }
        let constant = sum.constant();
        Some(
            sum.is_constant()
                && match is_inequality {
                    true => constant.is_negative() || constant.is_zero() && is_strict,
                    false => !constant.is_zero(),
                },
        )
    }
}
