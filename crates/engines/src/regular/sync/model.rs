//! Synchronous automata as models: folds, formulas and joint lemmas.
//!
//! The state of a tuple of values is a fold over the first value whose ghosts are the others. Its case for a constructor
//! distinguishes the constructors of the others by testers, and calls the folds of the children, with selectors for their fields.
//! If the first value has no fields, the children have fewer components, so they belong to an earlier family. As for other
//! automata, a fold with two states has range `Bool`, and otherwise the last state is "none of the others".
//!
//! The facts of a `joint` predicate (`clauses.rs`) are a lemma about a tuple of values: which states of its parts are possible
//! together. The lemma for values made by constructors follows from the lemmas for their fields, by the rules of `joint`. So all
//! of them are inductive together, and the checker proves them.

use std::collections::BTreeMap;

use shofar_horn::HornGraph;
use shofar_horn::witness::GraphModel;
use shofar_logic::{ConstructorId, FoldCase, FoldLemma, FoldSpec, Fun, Sort, Term, TermStore};
use shofar_run::Stop;

use super::super::automaton::{Algebra, State, Tuple};
use super::super::model::any_of;
use super::Invariant;
use super::clauses::{Configuration, Key, Obligation, Part, Tree};
use super::convolution::{Convolution, Letter, structured_fields};

/// The model of a graph that an invariant is. Claims the joint lemmas.
pub(super) fn model(store: &TermStore, graph: &HornGraph, invariant: &Invariant) -> Result<GraphModel, Stop> {
    let Invariant { convolution, algebra, .. } = invariant;
    let mut states = States { store, convolution, algebra, functions: vec![None; convolution.shapes.len()] };
    states.define_folds()?;
    let formulas = graph.nodes().map(|(node, of)| {
        let blocks = &invariant.blocks[node.index()];
        let terms: Vec<Vec<Term>> =
            blocks.iter().map(|block| block.iter().map(|&at| of.variables()[at]).collect()).collect();
        states.any_of(&terms, &invariant.facts[node.index()])
    });
    let model = GraphModel::of_formulas(formulas);
    states.lemmas(invariant).iter().for_each(|lemma| store.claim_lemma(lemma));
    Ok(model)
}

/// The states of tuples, as formulas.
struct States<'a> {
    store: &'a TermStore,
    convolution: &'a Convolution,
    algebra: &'a Algebra,
    /// By shapes: the fold.
    functions: Vec<Option<Fun>>,
}

impl States<'_> {
    fn size(&self, shape: usize) -> usize {
        self.algebra.sizes()[shape]
    }

    fn shape(&self, terms: &[Term]) -> usize {
        let sorts: Vec<Sort> = terms.iter().map(|&term| self.store.sort_of(term)).collect();
        self.convolution.shape(&sorts).expect("the convolution has the shapes of all tuples")
    }

    /// The formula that the states of tuples of terms are one of these.
    fn any_of(&self, terms: &[Vec<Term>], tuples: &[Tuple]) -> Term {
        let shapes: Vec<usize> = terms.iter().map(|terms| self.shape(terms)).collect();
        let sizes: Vec<usize> = shapes.iter().map(|&shape| self.size(shape)).collect();
        let has_state = |place: usize, state: State| self.has_state(shapes[place], &terms[place], state);
        let mut tuples: Vec<&[State]> = tuples.iter().map(|tuple| &**tuple).collect();
        tuples.sort_unstable();
        any_of(self.store, &sizes, has_state, &tuples)
    }

    /// The formula that a tuple of terms has a state.
    fn has_state(&self, shape: usize, terms: &[Term], state: State) -> Term {
        let store = self.store;
        if self.size(shape) == 1 {
            return Term::TRUE;
        }
        let Some(function) = self.functions[shape] else {
            return self.convolution.partition.formula(store, terms[0], state);
        };
        let value = store.apply(function, terms).expect("the fold has the sorts of the terms");
        match self.size(shape) {
            2 => store.signed(value, state == 1),
            size if usize::from(state) < size - 1 => store.eq(value, store.int(u64::from(state))),
            size => {
                store.not(store.or_of((0..size - 1).map(|other| store.eq(value, store.int(other as u64)))))
            }
        }
    }

    /// Defines folds for all shapes of datatypes with several states, callees first.
    fn define_folds(&mut self) -> Result<(), Stop> {
        let shapes = 0..self.convolution.shapes.len();
        let mut families: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for shape in shapes.filter(|&shape| self.size(shape) > 1) {
            if let Some(component) = self.convolution.components[shape] {
                families.entry(component).or_default().push(shape);
            }
        }
        let mut families: Vec<Vec<usize>> = families.into_values().collect();
        families.sort_by_key(|family| self.below(family[0]));
        families.iter().try_for_each(|family| self.define(family))
    }

    /// The number of shapes that occur below a shape.
    fn below(&self, shape: usize) -> usize {
        let mut seen = vec![shape];
        let mut next = 0;
        while let Some(&shape) = seen.get(next) {
            next += 1;
            let letters =
                self.convolution.signature.constructors.iter().filter(|letter| letter.sort == shape);
            for &child in letters.flat_map(|letter| &letter.fields) {
                if !seen.contains(&child) {
                    seen.push(child);
                }
            }
        }
        seen.len()
    }

    /// Defines the folds of shapes that call each other.
    fn define(&mut self, family: &[usize]) -> Result<(), Stop> {
        let store = self.store;
        for &shape in family {
            let sorts = &self.convolution.shapes[shape];
            let names: Vec<String> = sorts.iter().map(|&sort| store.display_sort(sort).to_string()).collect();
            let name = store.symbol(&format!("state-{}", names.join("-")));
            let range = if self.size(shape) == 2 { Sort::BOOL } else { Sort::INT };
            self.functions[shape] = Some(store.new_fold(name, sorts[0], &sorts[1..], range));
        }
        let specs: Vec<FoldSpec> = family.iter().map(|&shape| self.specification(shape)).collect();
        let functions = store.define_folds(&specs).map_err(|error| Stop::Internal(error.to_string()))?;
        for (&shape, &function) in family.iter().zip(&functions) {
            self.functions[shape] = Some(function);
        }
        Ok(())
    }

    fn specification(&self, shape: usize) -> FoldSpec {
        let store = self.store;
        let sorts = &self.convolution.shapes[shape];
        let ghosts: Vec<Term> =
            sorts[1..].iter().map(|&sort| store.var(store.fresh_symbol("other"), sort)).collect();
        let case = |&id: &ConstructorId| {
            let field = |&(name, sort)| store.var(store.fresh_symbol(store.name(name)), sort);
            let fields: Vec<Term> = store.constructor(id).fields.iter().map(field).collect();
            let value = self.choice(id, &fields, &ghosts);
            FoldCase { constructor: id, fields: fields.into(), value }
        };
        let datatype = store.datatype(sorts[0]).expect("folds are of datatypes");
        let fun = self.functions[shape].expect("the function was made");
        let cases = datatype.constructors().iter().map(case).collect();
        FoldSpec { fun, ghosts, cases }
    }

    /// The value for a constructor of the first component, by those of the others.
    fn choice(&self, first: ConstructorId, fields: &[Term], ghosts: &[Term]) -> Term {
        let store = self.store;
        let letters = self.convolution.letters.iter().enumerate();
        let letters = letters.filter_map(|(number, letter)| Some((number, letter.as_ref()?)));
        let mut is_first = true;
        let mut result = Term::TRUE;
        // The last letter is "none of the others".
        for (number, letter) in letters.collect::<Vec<_>>().into_iter().rev() {
            let sorts = letter.constructors[1..].iter().map(|&id| store.constructor(id).sort);
            if letter.constructors[0] != first || !sorts.eq(ghosts.iter().map(|&ghost| store.sort_of(ghost)))
            {
                continue;
            }
            let value = self.value(number, letter, fields, ghosts);
            let tests =
                letter.constructors[1..].iter().zip(ghosts).map(|(&id, &ghost)| store.tester(id, ghost));
            result = if is_first { value } else { store.ite(store.and_of(tests), value, result) };
            is_first = false;
        }
        result
    }

    /// The value for a letter.
    fn value(&self, number: usize, letter: &Letter, fields: &[Term], ghosts: &[Term]) -> Term {
        let store = self.store;
        let part = |&(component, field): &(usize, u32)| match component.checked_sub(1) {
            None => fields[field as usize],
            Some(ghost) => store.selector(letter.constructors[component], field, ghosts[ghost]),
        };
        let children: Vec<Vec<Term>> =
            letter.children.iter().map(|child| child.iter().map(part).collect()).collect();
        let of = &self.convolution.signature.constructors[number];
        let cells = self.algebra.tuples(&of.fields).zip(self.algebra.table(number));
        let cells: Vec<(Tuple, State)> = cells.map(|(cell, &value)| (cell, value)).collect();
        let has_value = |state: State| {
            let with = cells.iter().filter(|&&(_, value)| value == state).map(|(cell, _)| cell.clone());
            self.any_of(&children, &with.collect::<Vec<Tuple>>())
        };
        let last = self.size(of.sort) - 1;
        if last == 1 {
            return has_value(1);
        }
        let choose =
            |other: Term, state: usize| store.ite(has_value(state as State), store.int(state as u64), other);
        (0..last).rev().fold(store.int(last as u64), choose)
    }

    /// The lemmas that the facts of `joint` predicates are, without those that say nothing.
    fn lemmas(&self, invariant: &Invariant) -> Vec<FoldLemma> {
        let store = self.store;
        // Configurations that differ in trees only are cases of one lemma.
        let mut cases: BTreeMap<LemmaKey, Vec<(&Configuration, usize)>> = BTreeMap::new();
        let joint = invariant.joint.iter().map(|(configuration, &predicate)| (predicate, configuration));
        let mut joint: Vec<(usize, &Configuration)> = joint.collect();
        joint.sort_unstable_by_key(|&(predicate, _)| predicate);
        for (predicate, configuration) in joint {
            let sorts: Vec<Sort> = configuration.trees.iter().map(|tree| tree.sort(store)).collect();
            let key = (sorts, configuration.reading(), configuration.obligations.clone());
            cases.entry(key).or_default().push((configuration, predicate));
        }
        let mut lemmas = Vec::new();
        for ((sorts, _, obligations), mut cases) in cases {
            cases.sort_by(|(a, _), (b, _)| a.trees.cmp(&b.trees));
            let parameters: Vec<Term> =
                sorts.iter().map(|&sort| store.var(store.fresh_symbol("value"), sort)).collect();
            let case = |&(configuration, predicate): &(&Configuration, usize)| {
                self.case(configuration, &parameters, &invariant.facts[predicate])
            };
            let holds = store.or_of(cases.iter().map(case));
            let assumed = |obligation: &Obligation| {
                let (a, b) = obligation.variables;
                store.signed(store.eq(parameters[a], parameters[b]), obligation.are_equal)
            };
            let formula = store.implies(store.and_of(obligations.iter().map(assumed)), holds);
            let formula = store.normalize(formula);
            if formula != Term::TRUE {
                lemmas.push(FoldLemma { parameters: parameters.into(), formula });
            }
        }
        lemmas
    }

    /// The formula that parameters have the trees of a configuration and the states of a fact.
    fn case(&self, configuration: &Configuration, parameters: &[Term], facts: &[Tuple]) -> Term {
        let store = self.store;
        let mut tests: Vec<Term> = Vec::new();
        for (tree, &parameter) in configuration.trees.iter().zip(parameters) {
            for (path, id) in tree.nodes() {
                tests.push(store.tester(id, self.part(tree, parameter, &path)));
            }
        }
        let term = |variable: usize, path: &[u8]| {
            self.part(&configuration.trees[variable], parameters[variable], path)
        };
        let of_part = |part: &Part| match part {
            Part::Term(term) => *term,
            Part::At(variable, path) => term(*variable, path),
        };
        let of_key = |key: &Key| match key {
            Key::Tuple(parts) => parts.iter().map(of_part).collect(),
            Key::Field(variable, path, field) => {
                let value = term(*variable, path);
                match configuration.trees[*variable].at(path) {
                    Tree::Node(id, _) => vec![store.selector(*id, *field, value)],
                    Tree::Leaf(_) => vec![value],
                }
            }
            Key::Value(term) => vec![*term],
        };
        let keys = configuration.keys(self.convolution, store);
        let terms: Vec<Vec<Term>> = keys.iter().map(of_key).collect();
        store.and2(store.and_of(tests), self.any_of(&terms, facts))
    }

    /// The part of a value at a path.
    fn part(&self, tree: &Tree, value: Term, path: &[u8]) -> Term {
        let store = self.store;
        let step = |(value, depth): (Term, usize), &step: &u8| {
            let Tree::Node(id, _) = tree.at(&path[..depth]) else { return (value, depth + 1) };
            let field = structured_fields(store, *id)[usize::from(step)];
            (store.selector(*id, field, value), depth + 1)
        };
        path.iter().fold((value, 0), step).0
    }
}

/// The sorts of the values, what is read, and the obligations.
type LemmaKey = (Vec<Sort>, super::clauses::Reading, Vec<Obligation>);
