//! Says in words what formulas mean: "the length of x is even".
//!
//! A recursive function has a name for people if its definition shows what it computes: the length of a list, the number of
//! nodes of a tree, the sum of the integers in a value, how often an element occurs in it, or the remainder of such a number. A formula
//! is put in words if it is short and all its functions have such names; the words say exactly what the formula says.

use shofar_logic::{ConstructorId, Fold, FoldCase, Op, Sort, Term, TermStore};

use super::automaton::TreeAutomaton;
use crate::infix::{Fit, Notation};

/// Characters of a text in words.
const MOST_CHARACTERS: usize = 240;

/// Levels of conjunctions and disjunctions that words can express.
const MOST_LEVELS: usize = 2;

/// What a recursive function computes of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Quantity {
    /// The number of elements of a list.
    Length,
    /// How often a constructor occurs.
    Count(ConstructorId),
    /// How often all constructors occur together.
    Size,
    /// The sum of all integers right below the constructors.
    Sum,
    /// How often the ghost occurs right below the constructors.
    Occurrences,
    /// The number that a value of a Peano datatype is.
    Number,
}

/// A formula in words; `None` if there are no good words for it, or if it needs none.
pub fn in_words(store: &TermStore, notation: Notation, formula: Term) -> Option<String> {
    let applies_functions = store
        .subterms(&[formula])
        .iter()
        .any(|&term| store.applied_fold(term).is_some() || store.op(term) == Op::Mod);
    let words = Words { store, notation };
    let text = applies_functions.then(|| words.formula(formula, MOST_LEVELS))??;
    (text.chars().count() <= MOST_CHARACTERS).then_some(text)
}

struct Words<'a> {
    store: &'a TermStore,
    notation: Notation,
}

impl Words<'_> {
    fn formula(&self, formula: Term, levels: usize) -> Option<String> {
        let all = |parts: &[Term], word: &str| {
            let texts = parts.iter().map(|&part| self.formula(part, levels - 1));
            Some(texts.collect::<Option<Vec<String>>>()?.join(word))
        };
        match self.store.view(formula) {
            (Op::And, parts) if levels > 0 => all(parts, ", and "),
            // In a conjunction, a disjunction would have to be in parentheses.
            (Op::Or, parts) if levels == MOST_LEVELS => all(parts, "; or "),
            _ => self.literal(formula),
        }
    }

    fn literal(&self, literal: Term) -> Option<String> {
        let store = self.store;
        let (is_true, atom) = match store.view(literal) {
            (Op::Not, &[atom]) => (false, atom),
            _ => (true, literal),
        };
        let is = if is_true { "is" } else { "is not" };
        match store.view(atom) {
            (Op::Tester(constructor), &[value]) => {
                Some(format!("{} {is} {}", self.plain(value)?, self.shape(constructor)))
            }
            (Op::Eq, &[a, b]) if store.datatype(store.sort_of(a)).is_some() => {
                match (store.view(a), store.view(b)) {
                    ((Op::Construct(made), []), _) => {
                        Some(format!("{} {is} {}", self.plain(b)?, self.shape(made)))
                    }
                    (_, (Op::Construct(made), [])) => {
                        Some(format!("{} {is} {}", self.plain(a)?, self.shape(made)))
                    }
                    _ => Some(format!("{} {is} {}", self.plain(a)?, self.plain(b)?)),
                }
            }
            (Op::Eq, &[a, b]) if store.sort_of(a) == Sort::INT => match (store.view(a), store.view(b)) {
                ((Op::Mod, &[number, modulus]), (Op::Numeral(_), _)) => {
                    self.remainder(number, modulus, b, is)
                }
                ((Op::Numeral(_), _), (Op::Mod, &[number, modulus])) => {
                    self.remainder(number, modulus, a, is)
                }
                _ => Some(format!("{} {is} {}", self.number(a)?, self.number(b)?)),
            },
            (op @ (Op::Le | Op::Lt | Op::Ge | Op::Gt), &[a, b]) if store.sort_of(a) == Sort::INT => {
                let relation = match (op, is_true) {
                    (Op::Le, true) | (Op::Gt, false) => "at most",
                    (Op::Ge, true) | (Op::Lt, false) => "at least",
                    (Op::Lt, true) | (Op::Ge, false) => "less than",
                    _ => "greater than",
                };
                Some(format!("{} is {relation} {}", self.number(a)?, self.number(b)?))
            }
            (Op::Apply(fun), &[value]) => {
                let automaton = TreeAutomaton::of(store, fun)?;
                let (counted, states) = cycle(store, &automaton, 2)?;
                let is_odd = (states[1] == Term::TRUE) == is_true;
                let quantity = self.quantity(counted, value, None)?;
                Some(format!("{quantity} is {}", if is_odd { "odd" } else { "even" }))
            }
            _ => None,
        }
    }

    /// `number mod modulus = rest`.
    fn remainder(&self, number: Term, modulus: Term, rest: Term, is: &str) -> Option<String> {
        let (text, store) = (self.number(number)?, self.store);
        let is_even = (rest == store.int(0)) == (is == "is");
        if modulus == store.int(2) && (rest == store.int(0) || rest == store.int(1)) {
            return Some(format!("{text} is {}", if is_even { "even" } else { "odd" }));
        }
        if rest == store.int(0) {
            return Some(format!("{text} {is} divisible by {}", self.plain(modulus)?));
        }
        Some(format!("{text} modulo {} {is} {}", self.plain(modulus)?, self.plain(rest)?))
    }

    fn number(&self, term: Term) -> Option<String> {
        let store = self.store;
        match store.view(term) {
            (Op::Add, summands) => {
                let texts = summands.iter().map(|&summand| self.number(summand));
                Some(texts.collect::<Option<Vec<String>>>()?.join(" plus "))
            }
            (Op::Mul, &[factor, of]) if store.op(factor) != Op::Mul => {
                Some(format!("{} times {}", self.plain(factor)?, self.number(of)?))
            }
            (Op::Apply(fun), &[value, ref ghosts @ ..]) => {
                let fold = store.fold(fun)?;
                if let Some(quantity) = quantity(store, fold) {
                    return self.quantity(quantity, value, ghosts.first().copied());
                }
                let automaton = TreeAutomaton::of(store, fun)?;
                let (counted, states) = cycle(store, &automaton, automaton.states.len())?;
                let is_numbered = (0..).zip(&states).all(|(rest, &state)| store.int(rest) == state);
                let text = self.quantity(counted, value, None)?;
                is_numbered.then(|| format!("{text} modulo {}", states.len()))
            }
            _ => self.plain(term),
        }
    }

    fn quantity(&self, quantity: Quantity, value: Term, ghost: Option<Term>) -> Option<String> {
        let value = self.plain(value)?;
        Some(match quantity {
            Quantity::Length => format!("the length of {value}"),
            Quantity::Count(constructor) => {
                let name = self.notation.name(self.store, self.store.constructor(constructor).name);
                format!("the number of {name} in {value}")
            }
            Quantity::Size => format!("the size of {value}"),
            Quantity::Sum => format!("the sum of {value}"),
            Quantity::Occurrences => format!("the number of {} in {value}", self.plain(ghost?)?),
            Quantity::Number => value,
        })
    }

    /// `empty`, or the name of a constructor.
    fn shape(&self, constructor: ConstructorId) -> String {
        let constructor = self.store.constructor(constructor);
        let is_list = self.store.list(constructor.sort).is_some();
        match constructor.fields.is_empty() && is_list {
            true => "empty".to_owned(),
            false => self.notation.name(self.store, constructor.name),
        }
    }

    /// A variable or a numeral.
    fn plain(&self, term: Term) -> Option<String> {
        let is_numeral = |term: Term| matches!(self.store.op(term), Op::Numeral(_));
        let is_plain = match self.store.view(term) {
            (Op::Var(_) | Op::Numeral(_), _) => true,
            (Op::Neg, &[number]) => is_numeral(number),
            _ => false,
        };
        is_plain.then(|| self.notation.term(self.store, term, Fit::line(8)))
    }
}

/// What a fold computes, if its cases are sums of constants, fields and its own values at all fields of its sort.
fn quantity(store: &TermStore, fold: &Fold) -> Option<Quantity> {
    let sort = fold.sort(store);
    if store.number_function_sort(fold.fun).is_some() {
        return Some(Quantity::Number);
    }
    let sums = fold.cases.iter().map(|case| Sum::of(store, fold, case)).collect::<Option<Vec<Sum>>>()?;
    let counted: Vec<&Sum> = sums.iter().filter(|sum| sum.constant == 1).collect();
    let is_only = |is_term: fn(&Sum) -> bool| sums.iter().all(|sum| sum.constant == 0 && is_term(sum));
    if is_only(|sum| sum.fields == sum.integers && sum.equal == 0) && sums.iter().any(|sum| sum.fields > 0) {
        return Some(Quantity::Sum);
    }
    let has_ghost = !fold.ghosts.is_empty();
    if has_ghost && is_only(|sum| sum.fields == 0 && sum.equal == sum.elements) {
        return Some(Quantity::Occurrences);
    }
    let is_counter =
        |sum: &Sum| sum.fields == 0 && sum.equal == 0 && (sum.constant == 0 || sum.constant == 1);
    if has_ghost || !sums.iter().all(is_counter) {
        return None;
    }
    match counted[..] {
        [sum] if store.list(sort).is_some() && !store.constructor(sum.constructor).fields.is_empty() => {
            Some(Quantity::Length)
        }
        [sum] => Some(Quantity::Count(sum.constructor)),
        _ if counted.len() == sums.len() => Some(Quantity::Size),
        _ => None,
    }
}

/// The case of a fold as a sum, which has the values of the fold at all fields of its sort.
struct Sum {
    constructor: ConstructorId,
    constant: i64,
    /// How many integer fields the sum has, and how many the constructor has.
    fields: usize,
    integers: usize,
    /// How many fields are compared with the ghost, and how many have its sort.
    equal: usize,
    elements: usize,
}

impl Sum {
    fn of(store: &TermStore, fold: &Fold, case: &FoldCase) -> Option<Self> {
        let of_sort = |sort: Sort| case.fields.iter().filter(move |&&field| store.sort_of(field) == sort);
        let ghost = fold.ghosts.first().copied();
        let mut sum = Sum {
            constructor: case.constructor,
            constant: 0,
            fields: 0,
            integers: of_sort(Sort::INT).count(),
            equal: 0,
            elements: ghost.map_or(0, |ghost| of_sort(store.sort_of(ghost)).count()),
        };
        let mut below: Vec<Term> = Vec::new();
        let summands = match store.view(case.value) {
            (Op::Add, summands) => summands.to_vec(),
            _ => vec![case.value],
        };
        for summand in summands {
            match store.view(summand) {
                (Op::Numeral(_), _) => sum.constant = (-1..=1).find(|&it| store.int(it) == summand)?,
                (Op::Var(_), _) if case.fields.contains(&summand) => sum.fields += 1,
                (Op::Apply(fun), &[field, ref ghosts @ ..]) if fun == fold.fun && *ghosts == *fold.ghosts => {
                    below.push(field);
                }
                (Op::Ite, &[condition, then, other]) => {
                    let ghost = ghost?;
                    let is_compared = |&&field: &&Term| {
                        store.sort_of(field) == store.sort_of(ghost) && condition == store.eq(field, ghost)
                    };
                    case.fields.iter().find(is_compared)?;
                    if then != store.int(1) || other != store.int(0) {
                        return None;
                    }
                    sum.equal += 1;
                }
                _ => return None,
            }
        }
        let recursive: Vec<Term> = of_sort(fold.sort(store)).copied().collect();
        let is_whole = below.len() == recursive.len() && recursive.iter().all(|field| below.contains(field));
        is_whole.then_some(sum)
    }
}

/// What an automaton counts if it goes through its states in turn, and the states from that of the values without successor on.
fn cycle(store: &TermStore, automaton: &TreeAutomaton, length: usize) -> Option<(Quantity, Vec<Term>)> {
    let (starts, steps): (Vec<_>, Vec<_>) =
        automaton.rules.iter().partition(|rule| rule.sources.iter().all(Option::is_none));
    let first = starts.first()?.target;
    let constructor = steps.first()?.constructor;
    if length != automaton.states.len()
        || starts.iter().any(|rule| rule.target != first)
        || steps
            .iter()
            .any(|rule| rule.constructor != constructor || rule.sources.iter().flatten().count() != 1)
        || starts.iter().any(|rule| rule.constructor == constructor)
    {
        return None;
    }
    // Values have one successor each: the constructor has one field of its sort.
    let fields = &store.constructor(constructor).fields;
    if fields.iter().filter(|&&(_, sort)| sort == automaton.sort).count() != 1 {
        return None;
    }
    let mut order = vec![first];
    while order.len() < length {
        let last = *order.last()?;
        let next = steps.iter().find(|rule| rule.sources.contains(&Some(last)))?.target;
        if order.contains(&next) {
            return None;
        }
        order.push(next);
    }
    let closes =
        steps.iter().any(|rule| rule.sources.contains(&order.last().copied()) && rule.target == first);
    let states = order.into_iter().map(|state| automaton.states[state]).collect();
    let counted = match store.list(automaton.sort) {
        Some(_) => Quantity::Length,
        None if store.peano(automaton.sort).is_some() => Quantity::Number,
        None => Quantity::Count(constructor),
    };
    closes.then_some((counted, states))
}
