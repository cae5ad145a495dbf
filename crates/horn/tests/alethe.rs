//! Alethe proofs of refutations: what they assume, and that Z3 believes each of their steps.

#[path = "common/refutations.rs"]
mod refutations;

use std::collections::{BTreeSet, HashMap};

use refutations::{context, counting, derivation, doubling, ints, locations, read};
use shofar_horn::check::{Validity, check_refutation};
use shofar_horn::witness::{Refutation, Step, Witness, WitnessFormat};
use shofar_horn::{Clause, HornGraph, HornSystem};
use shofar_logic::{Op, Term, TermStore, Value};
use shofar_testing::datatype_systems::{self, Family};
use shofar_testing::explicit::Saturation;
use shofar_testing::systems::{self, Shape};
use shofar_testing::{Random, scale, z3};

/// The parts of a list, as text.
fn parts(text: &str) -> Vec<&str> {
    let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap();
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, None);
    for (at, byte) in inside.bytes().enumerate() {
        if depth == 0 && byte == b' ' {
            parts.extend(start.take().map(|start| &inside[start..at]));
            continue;
        }
        start.get_or_insert(at);
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
    }
    parts.extend(start.map(|start| &inside[start..]));
    parts
}

/// The result of resolving clauses one after the other, each on the one literal in common with the result so far.
fn resolved(clauses: &[&Vec<String>]) -> BTreeSet<String> {
    let mut result: BTreeSet<String> = clauses[0].iter().cloned().collect();
    for clause in &clauses[1..] {
        // A literal meets one with a negation more or less.
        let opposite = |literal: &String| {
            let atom = literal.strip_prefix("(not ").and_then(|atom| atom.strip_suffix(')'));
            let opposites = atom.map(str::to_owned).into_iter().chain([format!("(not {literal})")]);
            opposites.into_iter().find(|literal| result.contains(literal))
        };
        let pivots: Vec<(&String, String)> =
            clause.iter().filter_map(|literal| Some((literal, opposite(literal)?))).collect();
        assert_eq!(pivots.len(), 1, "{result:?} and {clause:?}");
        let (pivot, opposite) = pivots[0].clone();
        result.remove(&opposite);
        result.extend(clause.iter().filter(|&literal| literal != pivot).cloned());
    }
    result
}

/// The text with names in the place of the formulas that it names, which are defined in a script. Z3 takes names that start
/// with `@` for its own.
fn unnamed(text: &str, script: &mut String) -> String {
    let mut text = text.to_owned();
    while let Some(start) = text.find("(! ") {
        let depths = text[start..].bytes().scan(0, |depth, byte| {
            *depth += i32::from(byte == b'(') - i32::from(byte == b')');
            Some(*depth)
        });
        let end = start + 1 + depths.take_while(|&depth| depth > 0).count();
        let named = parts(&text[start..end]);
        let (formula, name) = (named[1].replace('@', ""), named[3].replace('@', ""));
        *script += &format!("(define-fun {name} () Bool {formula})");
        text.replace_range(start..end, &name);
    }
    text.replace('@', "")
}

/// The definitions of a proof, by names: parameters and what they stand for.
type Definitions = HashMap<String, (Vec<String>, String)>;

/// The text with definitions applied and without names for formulas.
fn expanded(text: &str, definitions: &Definitions) -> String {
    if !text.starts_with('(') {
        return definitions.get(text).map_or(text.to_owned(), |(_, body)| expanded(body, definitions));
    }
    let parts = parts(text);
    match (parts[0], definitions.get(parts[0])) {
        ("!", _) => expanded(parts[1], definitions),
        (_, Some((parameters, body))) => {
            let values: HashMap<&str, &str> = std::iter::zip(parameters, &parts[1..])
                .map(|(name, value)| (name.as_str(), *value))
                .collect();
            expanded(&replaced(body, &values), definitions)
        }
        _ => {
            let parts: Vec<String> = parts.iter().map(|part| expanded(part, definitions)).collect();
            format!("({})", parts.join(" "))
        }
    }
}

fn replaced(text: &str, values: &HashMap<&str, &str>) -> String {
    if !text.starts_with('(') {
        return values.get(text).map_or(text, |value| value).to_owned();
    }
    let parts: Vec<String> = parts(text).iter().map(|part| replaced(part, values)).collect();
    format!("({})", parts.join(" "))
}

/// Clauses in several of the shapes that users write.
const WRITTEN: [&str; 4] = [
    "(forall ((x Int) (y Int)) (=> (and (= x 0) (or (= y 1) (> y 5))) (P x y)))",
    "(forall ((x Int) (y Int)) (=> (and (P x y) (< x 2) (not (= x 7))) (P (+ x 1) (* 2 y))))",
    "(forall ((x Int) (y Int)) (or (not (P x y)) (< x 2) (Q (+ x y))))",
    "(not (exists ((z Int)) (and (Q z) (>= z 6))))",
];

fn written(store: &TermStore) -> (HornSystem, Refutation) {
    let assertions: String = WRITTEN.iter().map(|formula| format!("(assert {formula})")).collect();
    let declarations = "(declare-fun P (Int Int) Bool)(declare-fun Q (Int) Bool)";
    let system = read(store, &format!("{declarations}{assertions}"));
    let step = |clause, instantiation: &[i64], premises: &[usize], fact: &[i64]| Step {
        clause,
        instantiation: instantiation.iter().map(|&value| Value::Int(value.into())).collect(),
        premises: premises.into(),
        fact: fact.iter().map(|&value| Value::Int(value.into())).collect(),
    };
    let steps = vec![
        step(0, &[0, 1], &[], &[0, 1]),
        step(1, &[0, 1], &[0], &[1, 2]),
        step(1, &[1, 2], &[1], &[2, 4]),
        step(2, &[2, 4], &[2], &[6]),
        step(3, &[6], &[3], &[]),
    ];
    (system, Refutation { steps })
}

#[test]
fn alethe_proofs_assume_what_was_written_and_have_no_holes_about_sums() {
    let store = TermStore::new();
    let (system, refutation) = written(&store);
    assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
    let proof = Witness::Refutation(refutation).to_text(&store, &system, WitnessFormat::Alethe);
    let mut steps: BTreeSet<String> = BTreeSet::new();
    for line in proof.lines().filter(|line| !line.starts_with("(define-fun")) {
        let command = parts(line);
        if let Some(at) = command.iter().position(|part| *part == ":premises") {
            assert!(parts(command[at + 1]).iter().all(|premise| steps.contains(*premise)), "{line}");
        }
        assert!(command[0] == "assume" || command[4] != "hole", "{line}");
        steps.insert(command[1].to_owned());
    }
    assert_eq!(assumptions(&proof), WRITTEN.map(str::to_owned).into());
}

/// Each step of an Alethe proof follows from its premises, or is true; a hole without using what predicates mean.
#[test]
fn z3_believes_each_step_of_alethe() {
    if !z3::is_installed() {
        return;
    }
    let store = TermStore::new();
    let arguments = "(declare-fun P (Int Bool) Bool)(declare-fun R () Bool)
        (assert (P (+ 1 1) true))
        (assert (forall ((x Int) (b Bool)) (=> (and (P x b) (P (* 2 (- x 1)) (not (not b)))) R)))
        (assert (=> (and R (P 2 true)) false))";
    let system = read(&store, arguments);
    let int = |value: i64| Value::Int(value.into());
    let steps = vec![
        step(0, &[], &[], &[int(2), Value::Bool(true)]),
        step(1, &[int(2), Value::Bool(true)], &[0, 0], &[]),
        step(2, &[], &[1, 0], &[]),
    ];
    let refutation = Refutation { steps };
    assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
    for (system, refutation) in
        [(system, refutation), locations(&store), counting(&store, 3), doubling(&store), written(&store)]
    {
        z3_believes_each_step(&store, &system, refutation);
    }
}

fn step(clause: usize, instantiation: &[Value], premises: &[usize], fact: &[Value]) -> Step {
    Step { clause, instantiation: instantiation.into(), premises: premises.into(), fact: fact.into() }
}

/// Selectors, testers and equations of lists have steps with rules of their own.
#[test]
fn alethe_proofs_about_lists_have_no_holes() {
    let store = TermStore::new();
    let system = read(
        &store,
        "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
         (declare-fun P (L) Bool)(declare-fun Q (L Int) Bool)
         (assert (P (cons 1 (cons (+ 1 1) nil))))
         (assert (forall ((x L)) (=> (and (P x) ((_ is cons) x) (not ((_ is nil) (tl x))) (not (= x (tl x)))
            (not (= (tl x) nil)) (< (hd x) 2)) (Q (tl x) (+ (hd x) 1)))))
         (assert (forall ((x L) (n Int)) (=> (and (Q x n) (= (hd x) n) (not (= (hd x) 3)) (= (tl x) nil)
            (= (cons n nil) (cons (hd x) (tl x)))) false)))",
    );
    let sort = store.fun_decl(system.fun(system.clauses[0].head.as_ref().unwrap().predicate)).domain[0];
    let constructors = store.datatype(sort).unwrap().constructors();
    let nil = store.construct_term(constructors[0], &[]);
    let list = |elements: &[i64]| {
        let cons = |rest, &number: &i64| store.construct_term(constructors[1], &[store.int(number), rest]);
        Value::Term(elements.iter().rev().fold(nil, cons))
    };
    let two = Value::Int(2.into());
    let steps = vec![
        step(0, &[], &[], &[list(&[1, 2])]),
        step(1, &[list(&[1, 2])], &[0], &[list(&[2]), two.clone()]),
        step(2, &[list(&[2]), two], &[1], &[]),
    ];
    let refutation = Refutation { steps };
    assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
    let proof = Witness::Refutation(refutation.clone()).to_text(&store, &system, WitnessFormat::Alethe);
    for rule in ["dt_select", "dt_test", "dt_inject", "dt_clash"] {
        assert!(proof.contains(&format!(":rule {rule}")), "{rule} in\n{proof}");
    }
    assert!(!proof.contains(":rule hole"), "{proof}");
    z3_believes_each_step(&store, &system, refutation);
}

#[test]
fn z3_believes_each_step_about_generated_datatypes() {
    let (mut proofs, mut steps) = (0, 0);
    for seed in 0..60 * scale() {
        let store = TermStore::new();
        let family = [Family::Lists, Family::Sums, Family::Records][(seed % 3) as usize];
        // Z3 has lists of its own.
        let text = datatype_systems::system(&mut Random::new(seed), family).replace("List", "Stack");
        let system = read(&store, &text);
        let graph = HornGraph::of(&store, &system);
        let facts = Saturation::of(&store, &graph, 0..=datatype_systems::GREATEST);
        let Some(derivation) = facts.derivation() else { continue };
        let Ok(refutation) = Refutation::of_graph(&context(&store), &system, derivation) else { continue };
        let proof = Witness::Refutation(refutation.clone()).to_text(&store, &system, WitnessFormat::Alethe);
        proofs += 1;
        steps += proof.matches(":rule dt_").count();
        z3_believes_each_step(&store, &system, refutation);
    }
    assert!(proofs >= 10 && steps >= 10, "{steps} steps about datatypes in {proofs} proofs");
}

/// Refutations of generated systems, with clauses as the generator writes them, assume assertions of the text only.
#[test]
fn alethe_proofs_of_generated_systems_assume_what_was_written() {
    let mut proofs = 0;
    for seed in 0..60 {
        let store = TermStore::new();
        let shape = if seed % 2 == 0 { Shape::LINEAR } else { Shape::NONLINEAR };
        let text = systems::system(&mut Random::new(seed), &shape);
        let system = read(&store, &text);
        let graph = HornGraph::of(&store, &system);
        let Some(derivation) = Saturation::of(&store, &graph, 0..=shape.greatest).derivation() else {
            continue;
        };
        let refutation = Refutation::of_graph(&context(&store), &system, derivation).unwrap();
        let proof = Witness::Refutation(refutation.clone()).to_text(&store, &system, WitnessFormat::Alethe);
        // Both texts may abbreviate with `let`, so their terms are compared.
        let declarations: String = text.lines().filter(|line| line.starts_with("(declare")).collect();
        for assumed in assumptions(&proof) {
            let again = read(&store, &format!("{declarations}(assert {assumed})"));
            let is_assumed = |clause: &Clause| clause.written == again.clauses[0].written;
            assert!(system.clauses.iter().any(is_assumed), "{assumed} is not in\n{text}");
        }
        if z3::is_installed() {
            z3_believes_each_step(&store, &system, refutation);
        }
        proofs += 1;
    }
    assert!(proofs >= 10, "only {proofs} systems have refutations");
}

/// A constraint with a quantifier, and one with two negations, is a hole; the step that it belongs to is there all the same.
#[test]
fn alethe_proofs_of_clauses_with_quantifiers_are_complete() {
    let store = TermStore::new();
    let (system, refutation) = with_quantifiers(&store);
    assert_eq!(check_refutation(&context(&store), &system, &refutation), Validity::Valid);
    let proof = Witness::Refutation(refutation.clone()).to_text(&store, &system, WitnessFormat::Alethe);
    let holes: Vec<&str> = proof.lines().filter(|line| line.contains(":rule hole")).collect();
    assert_eq!(holes.len(), 2, "{proof}");
    let written: Vec<Term> = system.clauses.iter().filter_map(|clause| clause.written).collect();
    let written: BTreeSet<String> = written.iter().map(|&term| store.display(term).to_string()).collect();
    assert_eq!(assumptions(&proof), written);
    z3_believes_each_step(&store, &system, refutation.clone());

    let mut system = system;
    let not = |term: Term| store.app(Op::Not, &[term]).unwrap();
    for clause in &mut system.clauses {
        clause.written = None;
        clause.constraint = not(not(clause.constraint));
    }
    z3_believes_each_step(&store, &system, refutation);
}

/// A proof of a wrong refutation says which step is not proved, and those after it have their premise.
#[test]
fn a_wrong_step_is_a_hole_of_the_alethe_proof() {
    let store = TermStore::new();
    let (system, mut refutation) = locations(&store);
    refutation.steps[0].instantiation = ints(&[-1]);
    let proof = Witness::Refutation(refutation).to_text(&store, &system, WitnessFormat::Alethe);
    assert!(proof.contains("(step t1 (cl (L1 1)) :rule hole)"), "{proof}");
    assert!(proof.lines().last().unwrap().starts_with("(step t4 (cl) :rule resolution"), "{proof}");
}

/// The proof defines names that no variable of the clauses hides.
#[test]
fn names_of_an_alethe_proof_are_free() {
    for clause in [
        "(forall ((|part.1.0| Int)) (=> (> |part.1.0| 0) (P |part.1.0|)))",
        "(forall ((x Int)) (=> (and (> x 0) (forall ((|part.1.1| Int)) (=> (< |part.1.1| x) (< |part.1.1| 7)))) (P x)))",
    ] {
        let store = TermStore::new();
        let query = "(forall ((x Int)) (=> (and (P x) (< x 9)) false))";
        let system = read(&store, &format!("(declare-fun P (Int) Bool)(assert {clause})(assert {query})"));
        let steps = derivation(&[(0, &[], &[1]), (1, &[0], &[])]);
        let refutation = Refutation::of_graph(&context(&store), &system, steps).unwrap();
        let proof = Witness::Refutation(refutation.clone()).to_text(&store, &system, WitnessFormat::Alethe);
        assert!(proof.contains("(define-fun part..") && !proof.contains("(define-fun part.1"), "{proof}");
        z3_believes_each_step(&store, &system, refutation);
    }
}

/// A refutation by clauses with quantifiers in a body and in a head.
fn with_quantifiers(store: &TermStore) -> (HornSystem, Refutation) {
    let system = read(
        store,
        "(declare-fun P (Int) Bool)(assert (P 1))
         (assert (forall ((x Int)) (=> (and (P x) (< x 5) (forall ((y Int)) (=> (< y x) (< y 7)))) (P (+ x 2)))))
         (assert (forall ((x Int)) (=> (P x) (exists ((y Int)) (= x (* 2 y))))))",
    );
    let step = |clause, instantiation: &[i64], premises: &[usize], fact: &[i64]| Step {
        clause,
        instantiation: ints(instantiation),
        premises: premises.into(),
        fact: ints(fact),
    };
    let steps = vec![step(0, &[], &[], &[1]), step(1, &[1], &[0], &[3]), step(2, &[3], &[1], &[])];
    (system, Refutation { steps })
}

/// The formulas that a proof assumes, without the names that it defines.
fn assumptions(proof: &str) -> BTreeSet<String> {
    let mut definitions = Definitions::new();
    let mut assumed = BTreeSet::new();
    for command in proof.lines().map(parts) {
        match command[0] {
            "define-fun" => {
                let parameters = parts(command[2]).iter().map(|sorted| parts(sorted)[0].to_owned()).collect();
                definitions.insert(command[1].to_owned(), (parameters, command[4].to_owned()));
            }
            "assume" => {
                assumed.insert(expanded(command[2], &definitions));
            }
            _ => {}
        }
    }
    assumed
}

/// Resolves as a checker does, and asks Z3 whether each other step follows from its premises.
fn z3_believes_each_step(store: &TermStore, system: &HornSystem, refutation: Refutation) {
    let declarations = system.to_text(store, shofar_horn::Format::Smtlib);
    let declarations = declarations.lines().skip_while(|line| !line.starts_with("(declare"));
    let declarations: String = declarations.take_while(|line| !line.starts_with("(assert")).collect();
    let mut script = format!("(set-option :timeout 1000){declarations}");
    let mut clauses: HashMap<String, Vec<String>> = HashMap::new();
    let mut expected = 0;
    let proof = Witness::Refutation(refutation).to_text(store, system, WitnessFormat::Alethe);
    let mut last = String::new();
    for line in proof.lines() {
        let command = parts(line);
        match command[0] {
            "define-fun" => script += line,
            "assume" => {
                let formula = unnamed(command[2], &mut script);
                clauses.insert(command[1].to_owned(), vec![formula]);
            }
            _ => {
                let text = unnamed(command[2], &mut script);
                let clause: Vec<String> = parts(&text)[1..].iter().map(|&part| part.to_owned()).collect();
                let premises = command.iter().position(|part| *part == ":premises");
                let premises = premises.map_or(Vec::new(), |at| parts(command[at + 1]));
                let premises: Vec<&Vec<String>> = premises.iter().map(|&name| &clauses[name]).collect();
                if command[4] == "resolution" {
                    assert_eq!(resolved(&premises), clause.iter().cloned().collect(), "{proof}");
                } else {
                    script += "(push)";
                    premises
                        .iter()
                        .for_each(|premise| script += &format!("(assert (or false {}))", premise.join(" ")));
                    script += &format!("(assert (not (or false {})))(check-sat)(pop)", clause.join(" "));
                    expected += 1;
                }
                clauses.insert(command[1].to_owned(), clause);
                last = command[2].to_owned();
            }
        }
    }
    assert_eq!(last, "(cl)");
    if !z3::is_installed() {
        return;
    }
    let answers = z3::answers(&script).expect("it is installed");
    let unsat = answers.iter().filter(|answer| *answer == "unsat").count();
    // Z3 may give up on an instance of a quantifier.
    assert!(
        answers.len() == expected && !answers.contains(&"sat".to_owned()) && unsat * 10 >= expected * 9,
        "{:?}\n{proof}",
        answers.iter().find(|answer| *answer != "unsat")
    );
}
