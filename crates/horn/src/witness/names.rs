//! Names for the arguments of predicates.
//!
//! SMT-LIB declares predicates by sorts alone, but the variables of clauses have names. An argument gets the name that
//! most atoms give it: the variable that occurs most often in its position, among equals the shortest, then the first.
//! A step `Inv(x, y) -> Inv(x', y')` votes for both, the query and the fact for the plain names. An argument without
//! any variable is called `x0`, `x1` and so on, by its position.
//!
//! - A1: the names of one predicate are different simple symbols that need no bars, and have no other meaning in a
//!   script with these declarations, so any solver reads them.

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Fun, Op, Symbol, Term, TermStore};

use crate::system::HornSystem;

/// Variables for the arguments of all predicates, indexed by predicate.
pub fn parameters(store: &TermStore, system: &HornSystem) -> Vec<Box<[Term]>> {
    let stems = stems(store, system);
    let free = FreeNames::new(store, system);
    let of_predicate = |fun: Fun, stems: Vec<Option<Symbol>>| {
        let mut used: FxHashSet<Symbol> = FxHashSet::default();
        let sorts = &store.fun_decl(fun).domain;
        let parameters = std::iter::zip(stems, sorts).enumerate().map(|(position, (stem, &sort))| {
            let stem = stem.map(|stem| store.name(stem));
            store.var(free.choose(stem, &format!("x{position}"), &mut used), sort)
        });
        parameters.collect()
    };
    system.predicates().zip(stems).map(|((_, fun), stems)| of_predicate(fun, stems)).collect()
}

/// Chooses names that have no other meaning in a script with the declarations of a system (A1).
pub(crate) struct FreeNames<'a> {
    store: &'a TermStore,
    declared: FxHashSet<Symbol>,
}

impl<'a> FreeNames<'a> {
    pub(crate) fn new(store: &'a TermStore, system: &HornSystem) -> Self {
        FreeNames { store, declared: declared_names(store, system) }
    }

    /// A name like the stem that is not used, or like `otherwise` if nothing of the stem can be kept.
    pub(crate) fn choose(&self, stem: Option<&str>, otherwise: &str, used: &mut FxHashSet<Symbol>) -> Symbol {
        let stem = stem.and_then(simple).unwrap_or_else(|| otherwise.to_owned());
        let candidates = (0..).map(|attempt| match attempt {
            0 => self.store.symbol(&stem),
            _ => self.store.symbol(&format!("{stem}_{attempt}")),
        });
        let mut free = candidates.filter(|name| !self.declared.contains(name));
        free.find(|&name| used.insert(name)).expect("there are more names than taken ones")
    }
}

/// The number of times that a variable occurs in a position, and the index of the first atom where it does.
type Votes = FxHashMap<Symbol, (usize, usize)>;

/// The most frequent variables in the argument positions, indexed by predicate.
fn stems(store: &TermStore, system: &HornSystem) -> Vec<Vec<Option<Symbol>>> {
    let arity = |fun: Fun| store.fun_decl(fun).domain.len();
    let mut votes: Vec<Vec<Votes>> =
        system.predicates().map(|(_, fun)| vec![Votes::default(); arity(fun)]).collect();
    let atoms = system.clauses.iter().flat_map(|clause| clause.head.iter().chain(&clause.body));
    for (number, atom) in atoms.enumerate() {
        for (votes, &arg) in votes[atom.predicate.index()].iter_mut().zip(&atom.args) {
            if let Op::Var(variable) = store.op(arg) {
                votes.entry(variable).or_insert((0, number)).0 += 1;
            }
        }
    }
    let winner = |votes: &Votes| {
        let candidates = votes.iter().map(|(&name, &(count, first))| (count, first, name));
        let best = candidates
            .min_by_key(|&(count, first, name)| (usize::MAX - count, store.name(name).len(), first));
        best.map(|(_, _, name)| name)
    };
    votes.iter().map(|votes| votes.iter().map(winner).collect()).collect()
}

/// A similar name that is a simple symbol; `None` if nothing of the name can be kept.
fn simple(name: &str) -> Option<String> {
    let kept = |c: char| c.is_ascii_alphanumeric() || "_.!@$%~?".contains(c);
    let mut simple: String = name.chars().map(|c| if kept(c) { c } else { '_' }).collect();
    if simple.starts_with(|c: char| c.is_ascii_digit()) {
        simple.insert(0, 'x');
    }
    let says_something = simple.contains(|c: char| c.is_ascii_alphanumeric());
    // Elements of declared sorts have such names.
    let is_taken = simple.contains("!val!");
    (says_something && !is_taken).then_some(simple)
}

/// All names that have another meaning in a script with these declarations.
fn declared_names(store: &TermStore, system: &HornSystem) -> FxHashSet<Symbol> {
    let mut names = system.declared_names(store);
    names.extend(RESERVED.iter().map(|name| store.symbol(name)));
    names
}

/// Words with a meaning in formulas of models that look like names of variables.
const RESERVED: &[&str] = &[
    "_",
    "!",
    "as",
    "let",
    "par",
    "match",
    "forall",
    "exists",
    "true",
    "false",
    "not",
    "and",
    "or",
    "xor",
    "ite",
    "distinct",
    "div",
    "mod",
    "rem",
    "abs",
    "divisible",
    "to_real",
    "to_int",
    "is_int",
    "select",
    "store",
    "const",
    "concat",
    "extract",
    "repeat",
    "is",
    "Int",
    "Real",
    "Bool",
    "Array",
    "BitVec",
    "NUMERAL",
    "DECIMAL",
    "STRING",
    "BINARY",
    "HEXADECIMAL",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn names(text: &str) -> String {
        let store = TermStore::new();
        let system = parse(&store, "test", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        let of_predicate = |parameters: Box<[Term]>| {
            let names: Vec<String> = parameters.iter().map(|&p| store.display(p).to_string()).collect();
            names.join(" ")
        };
        parameters(&store, &system).into_iter().map(of_predicate).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn arguments_have_the_names_that_most_clauses_give_them() {
        let text = "(declare-fun Inv (Int Int) Bool) (declare-fun Out (Int Int Int) Bool)
            (assert (forall ((a Int)) (=> (= a 0) (Inv a 0))))
            (assert (forall ((x Int) (y Int) (x2 Int) (y2 Int))
                (=> (and (Inv x y) (= x2 (+ x 1)) (= y2 y)) (Inv x2 y2))))
            (assert (forall ((x Int) (n Int)) (=> (and (Inv x n) (> x n)) (Out n n 7))))
            (assert (forall ((x Int) (y Int) (z Int)) (=> (and (Out x x z) (Inv x y)) false)))";
        assert_eq!(names(text), "x y; n n_1 z", "the shorter one, or the first, where there is a draw");
    }

    #[test]
    fn names_are_simple_and_free() {
        let text = "(declare-fun P (Int Int Int Int Int Int) Bool)
            (assert (forall ((|x'| Int) (|1 a| Int) (|'| Int) (|mod| Int) (|P!| Int) (|S!val!1| Int))
                (P |x'| |1 a| |'| |mod| |P!| |S!val!1|)))";
        assert_eq!(names(text), "x_ x1_a x2 mod!1 P! x5");
        assert_eq!(
            names("(declare-fun x () Bool)(declare-fun Q (Int) Bool)(assert (forall ((x Int)) (Q x)))"),
            "; x!1"
        );
    }
}
