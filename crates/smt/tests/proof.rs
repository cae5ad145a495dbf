//! Proofs of generated scripts: the checker accepts each, they use only asserted formulas, and the checker rejects
//! others.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use shofar_logic::number::Rational;
use shofar_logic::{Op, Sort, Term, TermStore, Value};
use shofar_run::{Limits, Reason};
use shofar_smt::proof::{
    CongruenceProof, Definition, Justification, Part, Proof, Rule, Step, StepId, check, check_within,
    is_false, write_alethe,
};
use shofar_smt::sat::Outcome;
use shofar_smt::solver::Solver;
use shofar_testing::Random;
use shofar_testing::formulas::{FUNCTIONS, Generator, Language};
use shofar_testing::scale;
use shofar_testing::scripts::execute;
use shofar_testing::z3;

/// Runs scripts with frames, assumptions and several queries, and hands over each proof.
fn for_each_proof(language: Language, scripts: u64, seed: u64, look: impl FnMut(&TermStore, &Proof)) {
    for_each_proof_of(language, scripts, 24, false, seed * 1_000_000, look);
}

/// As above, where formulas come together, and some of them define symbols.
fn for_each_proof_with_definitions(
    language: Language,
    scripts: u64,
    seed: u64,
    look: impl FnMut(&TermStore, &Proof),
) {
    for_each_proof_of(language, scripts, 24, true, seed * 1_000_000, look);
}

/// As above, with scripts of so many commands, where formulas are asserted together or one by one.
fn for_each_proof_of(
    language: Language,
    scripts: u64,
    commands: usize,
    together: bool,
    seed: u64,
    mut look: impl FnMut(&TermStore, &Proof),
) {
    let mut proofs = 0;
    for number in 0..scripts {
        let store = TermStore::new();
        let random = Random::new(seed + number);
        let mut generator = Generator { store: &store, random, language };
        let mut solver = Solver::with_proofs(&store);
        let mut asserted: Vec<Vec<(Part, Term)>> = vec![Vec::new()];
        let mut part = 0;
        for _ in 0..commands {
            match generator.random.below(10) {
                0 => {
                    solver.push();
                    asserted.push(Vec::new());
                }
                1 if asserted.len() > 1 => {
                    solver.pop();
                    asserted.pop();
                }
                2..=4 => {
                    let count = generator.random.below(4);
                    let assumptions: Vec<(Term, Part)> =
                        (0..count).map(|index| (generator.formula(1), Part(1000 + index as u32))).collect();
                    let outcome = solver.check_in(&assumptions, &Limits::default());
                    if outcome == Ok(Outcome::Sat) {
                        let asserted = asserted.iter().flatten().map(|it| it.1);
                        let all: Vec<Term> = asserted.chain(assumptions.iter().map(|it| it.0)).collect();
                        let model = solver.model(&all);
                        assert!(all.iter().all(|&it| store.eval(it, &model) == Ok(Value::Bool(true))));
                    }
                    if outcome != Ok(Outcome::Unsat) {
                        assert!(solver.proof().is_none());
                        continue;
                    }
                    if generator.random.below(4) == 0 {
                        solver.minimize_core(&Limits::default());
                    }
                    let proof = solver.proof().expect("an unsatisfiable query has a proof");
                    assert_eq!(check(&store, &proof), Ok(()));
                    let is_asserted = |part: Part, formula: Term| {
                        asserted.iter().flatten().any(|it| *it == (part, formula))
                    };
                    assert!(proof.assertions().iter().all(|it| is_asserted(it.part, it.formula)));
                    let core = solver.core();
                    for assumption in proof.assumptions() {
                        assert!(assumptions.contains(&(assumption.formula, assumption.part)));
                        assert!(core.contains(&assumption.formula));
                    }
                    proofs += 1;
                    look(&store, &proof);
                    // What is contradictory by itself would stay so.
                    if proof.assumptions().is_empty() && asserted.len() > 1 {
                        solver.pop();
                        asserted.pop();
                    }
                }
                _ => {
                    if asserted.len() == 1 && commands > 100 {
                        solver.push();
                        asserted.push(Vec::new());
                    }
                    if together && generator.random.below(3) > 0 {
                        let batch: Vec<(Term, Part)> =
                            generator.batch().into_iter().zip((part + 1..).map(Part)).collect();
                        part += batch.len() as u32;
                        solver.assert_all_in(&batch).unwrap();
                        asserted.last_mut().unwrap().extend(batch.iter().map(|&(term, part)| (part, term)));
                        continue;
                    }
                    let depth = generator.random.below(3);
                    let formula = generator.formula(depth);
                    part += 1;
                    solver.assert_in(formula, Part(part)).unwrap();
                    asserted.last_mut().unwrap().push((Part(part), formula));
                }
            }
        }
    }
    assert!(proofs > scripts / 4, "{proofs} proofs");
}

/// Runs scripts; `SHOFAR_TEST_SCALE=100` in the environment makes it a hundred times as many.
fn accepted(language: Language, scripts: u64, seed: u64) {
    for_each_proof(language, scripts * scale(), seed, |_, _| {});
}

#[test]
fn proofs_about_booleans_are_accepted() {
    accepted(Language::Booleans, 300, 1);
}

#[test]
fn proofs_about_reals_are_accepted() {
    accepted(Language::Reals, 300, 2);
}

#[test]
fn proofs_about_integers_are_accepted() {
    accepted(Language::Integers, 300, 3);
}

#[test]
fn proofs_about_reals_and_integers_are_accepted() {
    accepted(Language::Mixed, 300, 4);
}

#[test]
fn proofs_about_functions_are_accepted() {
    accepted(Language::Declared, 300, 5);
    accepted(Language::IntegerFunctions, 200, 6);
    accepted(Language::RealFunctions, 200, 7);
}

#[test]
fn proofs_about_everything_are_accepted() {
    accepted(Language::Everything, 300, 8);
}

#[test]
fn proofs_with_definitions_are_accepted() {
    for (language, seed) in [
        (Language::Booleans, 61),
        (Language::Reals, 62),
        (Language::Integers, 63),
        (Language::Mixed, 64),
        (Language::Declared, 65),
        (Language::IntegerFunctions, 66),
        (Language::RealFunctions, 67),
        (Language::Everything, 68),
    ] {
        let (mut proofs, mut defining, mut rounds) = (0, 0, 0);
        for_each_proof_with_definitions(language, 100 * scale(), seed, |_, proof| {
            proofs += 1;
            defining += u64::from(!proof.definitions().is_empty());
            rounds = rounds.max(proof.definitions().iter().map(|it| it.round).max().unwrap_or_default());
        });
        assert!(defining * 8 > proofs && rounds > 0, "{defining} of {proofs} have definitions");
    }
}

/// The definitions of a proof with one change, if there is something to change.
fn with_other_definitions(store: &TermStore, proof: &Proof, random: &mut Random) -> Option<Vec<Definition>> {
    let mut definitions = proof.definitions().to_vec();
    let place = random.below(definitions.len().max(1));
    let chosen = definitions.get_mut(place)?;
    match random.below(4) {
        0 => {
            let sort = store.sort_of(chosen.symbol);
            chosen.definition = match sort {
                Sort::BOOL => store.not(chosen.definition),
                Sort::INT => store.add(&[chosen.definition, store.int(1)]),
                _ => store.add(&[chosen.definition, store.real(1)]),
            };
        }
        1 => _ = definitions.remove(place),
        2 => {
            let other = proof.assertions().iter().find(|it| it.formula != chosen.formula)?;
            (chosen.part, chosen.formula) = (other.part, other.formula);
        }
        _ => {
            let twice = *chosen;
            definitions.push(twice);
        }
    }
    Some(definitions)
}

/// Whether each definition follows from its formula and the definitions before it, as the solver says.
fn are_entailed(store: &TermStore, definitions: &[Definition]) -> bool {
    let equation = |it: &Definition| store.app(Op::Eq, &[it.symbol, it.definition]).unwrap();
    definitions.iter().enumerate().all(|(place, definition)| {
        let mut solver = Solver::new(store);
        solver.assert(definition.formula).unwrap();
        definitions[..place].iter().for_each(|earlier| solver.assert(equation(earlier)).unwrap());
        solver.assert(store.app(Op::Not, &[equation(definition)]).unwrap()).unwrap();
        solver.check(&[], &Limits::default()) == Ok(Outcome::Unsat)
    })
}

#[test]
fn changed_definitions_are_rejected_or_follow_all_the_same() {
    for (language, seed) in [(Language::Booleans, 71), (Language::Mixed, 72), (Language::Everything, 73)] {
        let mut random = Random::new(seed);
        let (mut tried, mut survived) = (0, 0);
        for_each_proof_with_definitions(language, 200, seed, |store, proof| {
            for _ in 0..4 {
                let Some(other) = with_other_definitions(store, proof, &mut random) else { continue };
                tried += 1;
                if check(store, &proof.clone().with_definitions(other.clone())).is_ok() {
                    assert!(are_entailed(store, &other));
                    survived += 1;
                }
            }
        });
        // A contradictory formula says everything, and a symbol may be defined that does not matter.
        assert!(tried > 100 && survived * 2 <= tried, "{survived} of {tried} changes are accepted");
    }
}

/// One change to a step of a proof, if there is something to change.
fn mutated(step: &Step, change: u64, random: &mut Random) -> Option<Step> {
    let mut step = step.clone();
    let at = |length: usize, random: &mut Random| random.below(length.max(1));
    match change {
        0 => {
            let index = at(step.clause.len(), random);
            let mut clause = step.clause.to_vec();
            (index < clause.len()).then(|| clause.remove(index))?;
            step.clause = clause.into();
        }
        1 => {
            let index = at(step.clause.len(), random);
            let lit = step.clause.get_mut(index)?;
            *lit = !*lit;
            step.clause.sort_unstable();
        }
        _ => match &mut step.rule {
            Rule::Lemma(Justification::Farkas(terms)) => {
                let index = at(terms.len(), random);
                let term = terms.get_mut(index)?;
                term.coefficient = &term.coefficient * &Rational::from(7);
            }
            Rule::Lemma(Justification::Integer(refutation)) => {
                let index = at(refutation.terms.len(), random);
                let term = refutation.terms.get_mut(index)?;
                term.multiplier = &term.multiplier / &Rational::from(1_000_003);
            }
            Rule::Lemma(Justification::Congruence(CongruenceProof { edges, .. })) => {
                let index = at(edges.len(), random);
                let mut rest = edges.to_vec();
                (index < rest.len()).then(|| rest.remove(index))?;
                *edges = rest.into();
            }
            Rule::Resolution { first, others } => {
                let index = at(others.len(), random);
                let other = others.get_mut(index)?;
                std::mem::swap(first, &mut other.0);
                if index == 0 {
                    // The two premises of a single resolution may change places.
                    other.0 = StepId(other.0.0 + 1);
                }
            }
            _ => return None,
        },
    }
    Some(step)
}

#[test]
fn changed_proofs_are_rejected() {
    // Dropped and negated literals of clauses, other coefficients, multipliers, edges and premises.
    for (language, seed) in [
        (Language::Booleans, 11),
        (Language::Reals, 12),
        (Language::Integers, 13),
        (Language::Declared, 14),
        (Language::Everything, 15),
    ] {
        let mut random = Random::new(seed);
        let (mut tried, mut survived) = (0, 0);
        for_each_proof(language, 100, seed, |store, proof| {
            for change in [0, 1, 2, 2, 2] {
                let index = random.below(proof.steps().len());
                let Some(step) = mutated(&proof.steps()[index], change, &mut random) else { continue };
                let mut steps = proof.steps().to_vec();
                steps[index] = step;
                tried += 1;
                survived += u64::from(check(store, &proof.clone().with_steps(steps)).is_ok());
            }
        });
        // A few changes do no harm: a sum may be a contradiction with several coefficients, for instance.
        assert!(tried > 50 && survived * 20 <= tried, "{survived} of {tried} changes are accepted");
    }
}

#[test]
fn all_kinds_of_steps_occur() {
    let mut counts = [0; 8];
    for (language, seed) in [(Language::Integers, 21), (Language::Everything, 22), (Language::Mixed, 23)] {
        for_each_proof(language, 200, seed, |_, proof| {
            for step in proof.steps() {
                counts[match &step.rule {
                    Rule::Assertion(_) => 0,
                    Rule::Assumption(_) => 1,
                    Rule::Definition => 2,
                    Rule::Lemma(Justification::Farkas(_)) => 3,
                    Rule::Lemma(Justification::Congruence(_)) => 4,
                    Rule::Lemma(Justification::Integer(_)) => 5,
                    Rule::Lemma(Justification::Split) => 6,
                    Rule::Lemma(Justification::Cycle(_) | Justification::Axiom(_)) => {
                        unreachable!("there are no datatypes")
                    }
                    Rule::Resolution { .. } => 7,
                }] += 1;
            }
        });
    }
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
}

#[test]
fn proofs_after_many_queries_are_accepted() {
    // The log of such a script is compacted a few times. Frames are popped often enough for answers to vary.
    for (language, seed) in [(Language::Mixed, 31), (Language::Everything, 32), (Language::Integers, 33)] {
        for_each_proof_of(language, 3, 400, false, seed * 1_000_000, |_, _| {});
        for_each_proof_of(language, 2, 400, true, seed * 1_000_000, |_, _| {});
    }
}

/// The declarations of what formulas are made of.
fn declarations() -> String {
    let mut script = String::from("(declare-sort U 0)\n");
    let sort = |letter: char| match letter {
        'I' => "Int",
        'R' => "Real",
        'B' => "Bool",
        _ => "U",
    };
    for (name, domain, range) in FUNCTIONS {
        let domain: Vec<&str> = domain.iter().map(|&letter| sort(letter)).collect();
        let _ = writeln!(script, "(declare-fun {name} ({}) {})", domain.join(" "), sort(range));
    }
    for (names, letter) in [("pqrs", 'B'), ("ijk", 'I'), ("xyz", 'R'), ("abcd", 'U')] {
        names.chars().for_each(|name| _ = writeln!(script, "(declare-const {name} {})", sort(letter)));
    }
    script
}

#[test]
fn definitions_lemmas_and_images_of_assertions_are_valid_for_z3() {
    let mut script = declarations();
    let mut asked: Vec<String> = Vec::new();
    for (language, seed) in [
        (Language::Reals, 41),
        (Language::Integers, 42),
        (Language::Mixed, 43),
        (Language::Declared, 44),
        (Language::IntegerFunctions, 45),
    ] {
        let mut look = |store: &TermStore, proof: &Proof| {
            let _ = writeln!(script, "(push)");
            for &(symbol, origin) in proof.origins() {
                let sort = store.display_sort(store.sort_of(symbol));
                let _ = writeln!(
                    script,
                    "(define-fun {} () {sort} {})",
                    store.display(symbol),
                    store.display(origin)
                );
            }
            let mut ask = |formula: String| {
                let _ = writeln!(script, "(push) (assert (not {formula})) (check-sat) (pop)");
                asked.push(formula);
            };
            for step in proof.steps() {
                if matches!(step.rule, Rule::Definition | Rule::Lemma(_)) {
                    let literals = step.clause.iter().map(|&lit| proof.literal(store, lit));
                    let literals: Vec<String> =
                        literals.map(|term| store.display(term).to_string()).collect();
                    ask(format!("(or {})", literals.join(" ")));
                }
            }
            let equation = |it: &Definition| {
                format!("(= {} {})", store.display(it.symbol), store.display(it.definition))
            };
            let equations: Vec<String> = proof.definitions().iter().map(equation).collect();
            let equations = format!("(and true {})", equations.join(" "));
            for assertion in proof.assertions().iter().chain(proof.assumptions()) {
                let (formula, image) = (store.display(assertion.formula), store.display(assertion.image));
                ask(format!("(=> {equations} (= {formula} {image}))"));
            }
            let sources = proof.definitions().iter().map(|it| store.display(it.formula).to_string());
            ask(format!("(=> (and true {}) {equations})", sources.collect::<Vec<String>>().join(" ")));
            let _ = writeln!(script, "(pop)");
        };
        for_each_proof(language, 30, seed, &mut look);
        for_each_proof_with_definitions(language, 30, seed, &mut look);
    }
    let Some(answers) = z3::answers(&script) else { return };
    assert_eq!(answers.len(), asked.len(), "{:?}", answers.iter().find(|answer| answer.contains("error")));
    for (answer, formula) in std::iter::zip(answers, asked) {
        assert_eq!(answer, "unsat", "{formula}");
    }
}

#[test]
fn proofs_are_printed_in_alethe() {
    let answer = execute(
        "(set-option :produce-proofs true)
         (declare-const p Bool) (declare-const q Bool) (declare-const x Int) (declare-const y Int)
         (assert (or (not p) (<= x 2)))
         (assert (or p (and q (<= y 2))))
         (assert (not (<= (+ x y) 9)))
         (assert (<= y 3))
         (assert (or (not q) (<= 5 y)))
         (check-sat) (get-proof)",
    );
    assert!(answer.starts_with("unsat\n(\n(assume h0 "));
    assert!(answer.ends_with(")\n"));
    for expected in [
        "(cl (not p) (<= x 2)) :rule or :premises (h0))",
        ":rule and_pos :args (0))",
        "(cl (not (<= x 2)) (<= (+ x y) 9) (not (<= y 3))) :rule la_generic :args (1 1 1))",
        "(cl) :rule resolution",
    ] {
        assert!(answer.contains(expected), "{expected} in\n{answer}");
    }
    assert!(!answer.contains("hole"), "{answer}");
}

#[test]
fn proofs_must_be_asked_for_in_time() {
    let answer = execute("(assert false) (set-option :produce-proofs true) (check-sat) (get-proof)");
    let lines: Vec<&str> = answer.lines().collect();
    assert!(matches!(lines[..], [first, "unsat", last] if first.contains("error") && last.contains("error")));
    let answer = execute("(set-option :produce-proofs true) (check-sat) (get-proof)");
    assert!(answer.starts_with("sat\n(error"));
}

/// Votes counted one by one, for the one who leads and against: how far the leader is ahead, and who leads, with the votes.
fn count(store: &TermStore, votes: u32) -> (Term, Term, Vec<Term>) {
    let app = |op: Op, args: &[Term]| store.app(op, args).expect("well-sorted");
    let [zero, one] = [0, 1].map(|number| store.real(number));
    let votes = (0..votes).map(|vote| store.var(store.symbol(&format!("vote{vote}")), Sort::REAL));
    let votes: Vec<Term> = votes.collect();
    let (mut ahead, mut leader) = (zero, zero);
    for &vote in &votes {
        let is_open = app(Op::Eq, &[ahead, zero]);
        let [more, less] = [Op::Add, Op::Sub].map(|op| app(op, &[ahead, one]));
        let counted = app(Op::Ite, &[app(Op::Eq, &[vote, leader]), more, less]);
        ahead = app(Op::Ite, &[is_open, one, counted]);
        leader = app(Op::Ite, &[is_open, vote, leader]);
    }
    (ahead, leader, votes)
}

#[test]
fn counters_are_compared_case_by_case() {
    let store = TermStore::new();
    let (ahead, ..) = count(&store, 14);
    let is_at_least = |number: i64| store.app(Op::Ge, &[ahead, store.real(number)]).unwrap();
    assert!(is_false(&store, is_at_least(15)));
    assert!(!is_false(&store, is_at_least(14)));
}

/// The proof that the one who leads got a vote.
fn proof_about_votes(store: &TermStore, votes: u32) -> Proof {
    let (_, leader, votes) = count(store, votes);
    let mut solver = Solver::with_proofs(store);
    for vote in votes {
        solver.assert(store.app(Op::Distinct, &[vote, leader]).unwrap()).unwrap();
    }
    assert_eq!(solver.check(&[], &Limits::default()), Ok(Outcome::Unsat));
    solver.proof().expect("a refutation has a proof")
}

#[test]
fn proofs_about_nested_counters_are_accepted() {
    // More values than there are cases for, and less.
    for votes in [3, 14, 30] {
        let store = TermStore::new();
        assert_eq!(check(&store, &proof_about_votes(&store, votes)), Ok(()));
    }
}

#[test]
fn a_check_that_is_interrupted_says_so() {
    let store = TermStore::new();
    let proof = proof_about_votes(&store, 4);
    let cancel = AtomicBool::new(true);
    let limits = Limits { cancel: Some(&cancel), ..Limits::default() };
    assert_eq!(check_within(&store, &proof, &limits), Err(Reason::Cancelled));
}

#[test]
fn whatever_is_proved_can_be_printed() {
    let look = |store: &TermStore, proof: &Proof| {
        let mut text = Vec::new();
        write_alethe(store, proof, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let last = text.lines().last().unwrap();
        assert!(last.contains("(cl)"), "{last}");
        assert_eq!(text.matches('(').count(), text.matches(')').count());
    };
    for_each_proof(Language::Everything, 100, 51, look);
    for_each_proof_with_definitions(Language::Everything, 100, 52, look);
}

#[test]
fn an_interface_equality_that_congruence_knows_may_still_have_to_be_decided() {
    // Congruence had told it at a level that was taken back, and does not tell it again.
    for_each_proof_of(Language::RealFunctions, 4, 24, false, 437, |_, _| {});
}
