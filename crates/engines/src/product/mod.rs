//! Products of predicates, for proofs by induction.
//!
//! Most properties of programs over lists and trees compare the results of several functions for the same input:
//!
//! ```text
//! append(x, y, a), append(x, y, b), a != b  =>  false
//! ```
//!
//! The invariant of `append` alone that implies this is the whole graph of the function, which no formula expresses. But
//! the invariant of both atoms *together* is just `a = b`. A *product* is a predicate for a conjunction of atoms, which
//! recur at the same time:
//!
//! ```text
//! y = a, y = b                            =>  App2(nil, y, a, b)
//! App2(t, y, a', b')                      =>  App2(cons(h, t), y, cons(h, a'), cons(h, b'))
//! App2(x, y, a, b), a != b                =>  false
//! ```
//!
//! Predicates that are functions are found first (`functions.rs`): their atoms with the same inputs are one. So are summaries of
//! predicates (`algebra/summaries.rs`), which exclude clauses of products: lists of different lengths are not equal. `build.rs` makes
//! products by unfolding and folding. Their clauses are simplified like any others, and Spacer decides
//! them. A model of the products is a proof by induction of the original clauses: a lemma for each product. The clauses
//! themselves have a model then, too, but there may be no formulas for it.
//!
//! The engine works on clauses as they were read: a lemma about several facts cannot be translated by the ways back of
//! models.
//!
//! Sources: predicate pairing (De Angelis, Fioravanti, Pettorossi and Proietti, TPLP 2018), and induction on derivations
//! (Unno, Torii and Sakamoto, CAV 2017).

mod build;
mod pattern;

use std::time::Instant;

use shofar_horn::HornGraph;
use shofar_horn::graph::{NodeId, rename};
use shofar_horn::transform::{Transformed, standard};
use shofar_horn::witness::{Induction, JointLemma, Premise};
use shofar_logic::{Term, TermStore};
use shofar_run::Stop;

use self::build::{Product, ProductGraph, build, is_structure};
use crate::{Engine, Evidence, Run, Spacer, fragment};

/// The engine of products.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Products;

impl Engine for Products {
    fn name(&self) -> &'static str {
        "product"
    }

    fn description(&self) -> &'static str {
        "products of predicates over datatypes, for proofs by induction; systems with recursive datatypes"
    }

    fn works_on_clauses_as_read(&self) -> bool {
        true
    }

    fn accepts(&self, store: &TermStore, graph: &HornGraph) -> Result<(), Stop> {
        fragment::is_interpolable(store, graph)?;
        let sorts = graph.nodes().flat_map(|(_, node)| node.sorts(store));
        if sorts.into_iter().any(|sort| is_structure(store, sort)) {
            return Ok(());
        }
        Err(Stop::Unsupported("products of predicates without recursive datatypes".to_owned()))
    }

    fn solve(&self, graph: &HornGraph, run: &Run<'_>) -> Result<Evidence, Stop> {
        let start = Instant::now();
        let ProductGraph { graph: products, products: patterns, functions, summaries, fold_lemmas } =
            build(run, graph)?;
        let counters = vec![
            ("products", patterns.iter().filter(|product| product.pattern.atoms.len() > 1).count() as u64),
            ("predicates", products.nodes().len() as u64),
            ("clauses", products.edges().len() as u64),
        ];
        run.tell_statistics(counters, start);
        let (Transformed { graph: simple, translation }, _) = standard().run(run, products.clone());
        run.go_on()?;
        // Lemmas about products mean nothing to engines on other graphs.
        let alone = Run::new(run.store).with_limits(run.limits).with_label(run.label().clone());
        match Spacer::default().solve(&simple, &alone)? {
            Evidence::Sat(model) => {
                let model = translation.model_back(run, model)?;
                let is_function =
                    |&(node, output): &(NodeId, usize)| function(run.store, graph, node, output);
                let mut lemmas: Vec<JointLemma> = functions.iter().map(is_function).collect();
                lemmas.extend(
                    summaries.iter().map(|&(node, formula)| summary(run.store, graph, node, formula)),
                );
                fold_lemmas.iter().for_each(|lemma| run.store.claim_lemma(lemma));
                for ((id, node), product) in products.nodes().zip(&patterns) {
                    let conclusion = model.formula(id)?;
                    if conclusion != Term::TRUE {
                        lemmas.push(lemma(run.store, product, node.variables(), conclusion));
                    }
                }
                Ok(Evidence::Induction(Induction::new(run.store, lemmas)))
            }
            Evidence::Unsat(_) | Evidence::Induction(_) | Evidence::Saturation(_) => {
                Err(Stop::Exhausted("products have a derivation of false, which other engines find"))
            }
        }
    }
}

/// Says that other arguments determine the output of a predicate.
fn function(store: &TermStore, graph: &HornGraph, node: NodeId, output: usize) -> JointLemma {
    let named = |(position, &variable): (usize, &Term)| {
        let name = if position == output { "y".to_owned() } else { format!("x{position}") };
        store.var(store.fresh_symbol(&name), store.sort_of(variable))
    };
    let first: Vec<Term> = graph.node(node).variables().iter().enumerate().map(named).collect();
    let mut second = first.clone();
    second[output] = store.var(store.fresh_symbol("z"), store.sort_of(first[output]));
    JointLemma {
        premises: vec![Premise::new(node, &first, true), Premise::new(node, &second, true)],
        conclusion: store.eq(first[output], second[output]),
        variables: first.iter().copied().chain([second[output]]).collect(),
    }
}

/// Says that a formula holds for all facts of a predicate.
fn summary(store: &TermStore, graph: &HornGraph, node: NodeId, formula: Term) -> JointLemma {
    let arguments = graph.node(node).variables();
    let named = |(position, &variable): (usize, &Term)| {
        store.var(store.fresh_symbol(&format!("x{position}")), store.sort_of(variable))
    };
    let variables: Vec<Term> = arguments.iter().enumerate().map(named).collect();
    JointLemma {
        premises: vec![Premise::new(node, &variables, true)],
        conclusion: rename(store, formula, arguments, &variables),
        variables: variables.into(),
    }
}

/// What the model says about a product.
fn lemma(store: &TermStore, product: &Product, arguments: &[Term], conclusion: Term) -> JointLemma {
    let Product { pattern, unfolded } = product;
    let named = |(number, &argument): (usize, &Term)| {
        store.var(store.fresh_symbol(&format!("x{number}")), store.sort_of(argument))
    };
    let variables: Vec<Term> = arguments.iter().enumerate().map(named).collect();
    let premises = pattern.atoms.iter().enumerate().map(|(index, (node, numbers)): (usize, &(NodeId, _))| {
        let arguments: Vec<Term> = numbers.iter().map(|&number: &usize| variables[number]).collect();
        Premise::new(*node, &arguments, unfolded.contains(&index))
    });
    JointLemma {
        premises: premises.collect(),
        conclusion: rename(store, conclusion, arguments, &variables),
        variables: variables.into(),
    }
}
