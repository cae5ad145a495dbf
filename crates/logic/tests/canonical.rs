//! Canonical texts are read back as the same formula (N1), and do not depend on the order in which a store met its terms (N2).

use shofar_logic::smtlib::{Environment, Reader};
use shofar_logic::{Sort, Term, TermStore};
use shofar_testing::formulas::{Generator, Language};
use shofar_testing::{Random, scale};

const MOST: usize = 1 << 16;

/// The formula of a text over `x0`, `x1`, ..
fn read(store: &TermStore, text: &str, variables: &[Term]) -> Term {
    let mut environment = Environment::new(store);
    for (position, &variable) in variables.iter().enumerate() {
        environment.bind_free_variable(store, store.symbol(&format!("x{position}")), variable);
    }
    let mut reader = Reader::new(store, &mut environment, text.as_bytes());
    let formula = reader.formula().unwrap_or_else(|error| panic!("{text}: {error:?}"));
    store.normalize(formula)
}

/// A store that has met variables in another order, and sums of them with other signs.
fn other_store(sorts: &[Sort], random: &mut Random) -> (TermStore, Vec<Term>) {
    let store = TermStore::new();
    let mut variables: Vec<Option<Term>> = vec![None; sorts.len()];
    while let Some(missing) = variables.iter().position(Option::is_none) {
        let position = random.below(sorts.len());
        let position = if variables[position].is_none() { position } else { missing };
        let name = store.symbol(&format!("y{position}"));
        variables[position] = Some(store.var(name, sorts[position]));
    }
    let variables: Vec<Term> = variables.into_iter().flatten().collect();
    for _ in 0..10 {
        let (a, b) = (*random.choose(&variables), *random.choose(&variables));
        if store.sort_of(a) == store.sort_of(b) && store.sort_of(a).is_arithmetic() {
            store.normalize(store.lt(b, a));
        }
    }
    (store, variables)
}

#[test]
fn texts_are_the_same_in_every_store() {
    let mut compared = 0;
    for language in [Language::Booleans, Language::Reals, Language::Integers, Language::Mixed] {
        for seed in 0..300 * scale() {
            let store = TermStore::new();
            let mut generator = Generator { store: &store, random: Random::new(seed), language };
            let formula = generator.formula(3);
            let formula = store.normalize(formula);
            let variables = store.free_vars(&[formula]);
            if variables.is_empty() {
                continue;
            }
            let Some(text) = store.canonical_text(formula, &variables, MOST) else { continue };
            assert_eq!(read(&store, &text, &variables), formula, "N1: {text}\n{}", store.display(formula));
            let sorts: Vec<Sort> = variables.iter().map(|&variable| store.sort_of(variable)).collect();
            for _ in 0..3 {
                let (other, renamed) = other_store(&sorts, &mut generator.random);
                let copy = read(&other, &text, &renamed);
                let again = other.canonical_text(copy, &renamed, MOST);
                assert_eq!(again.as_deref(), Some(&*text), "N2, seed {seed}: {}", other.display(copy));
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn what_others_cannot_read_has_no_text() {
    let store = TermStore::new();
    let [x, y] = ["x", "y"].map(|name| store.var(store.symbol(name), Sort::INT));
    let less = store.lt(x, y);
    assert_eq!(store.canonical_text(less, &[x, y], MOST).as_deref(), Some("(<= (+ x0 (* (- 1) x1)) (- 1))"));
    assert_eq!(store.canonical_text(less, &[y, x], MOST).as_deref(), Some("(>= (+ x0 (* (- 1) x1)) 1)"));
    assert_eq!(store.canonical_text(less, &[x], MOST), None, "there is another variable");
    assert_eq!(store.canonical_text(less, &[x, y], 10), None, "it is too long");
    // Each term occurs twice in the next one.
    let mut variables: Vec<Term> = Vec::new();
    let mut fresh = || {
        variables.push(store.var(store.symbol(&format!("b{}", variables.len())), Sort::BOOL));
        variables[variables.len() - 1]
    };
    let mut doubled = fresh();
    for _ in 0..60 {
        let (a, b) = (store.and2(doubled, fresh()), store.or2(doubled, fresh()));
        doubled = store.eq(a, b);
    }
    assert_eq!(store.canonical_text(doubled, &variables, MOST), None);
}
