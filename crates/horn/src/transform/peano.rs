//! Represents Peano numbers by integers.
//!
//! | before | after |
//! |---|---|
//! | `P(zero, y)`; `P(x, y) => P(succ(x), succ(y))` | `x' = 0 and x' >= 0 and y' >= 0 => P(x', y')`; `P(x, y) and x' = x + 1 and y' = y + 1 and ... => P(x', y')` |
//! | `x = pred(y)`; `y` is `zero`; `x != y` | `x = (ite (>= y 1) (- y 1) w)`; `y = 0`; `x != y` |
//! | `l = cons(succ(x), m)`, lists of numbers | `l = cons'(x + 1, m)`, lists of integers |
//!
//! A datatype with a constant and a unary constructor on itself is the natural numbers, whatever the names. There may be
//! several such sorts; each is represented apart from the others. A value becomes its number, and labels say that the
//! numbers of all their variables are not negative, also those of the head (`resort.rs`). Engines for arithmetic then solve
//! clauses without other datatypes.
//!
//! *Fields.* A datatype with numbers in its fields, at any depth, becomes one with integers there, under new names. No
//! formula without quantifiers says that no element of a list is negative, and labels need not say it. They say it of the
//! elements that they *touch*: terms in the fields of constructors, which are made of the label's variables, and fields
//! that selectors read. Why this suffices:
//!
//! - From a model of the new graph to one of the old graph: let `e` map each old value to the new one with the same
//!   numbers. A predicate holds for `x` if the new one holds for `e(x)`. The image of an instance of an old clause
//!   satisfies the new label, since all of its numbers are in range.
//! - From a derivation in the new graph to one in the old graph: only finitely many integers occur in it. Let `r` keep
//!   those that are not negative and map the others one-to-one to natural numbers that do not occur. Elements that a label
//!   touches are not negative, so `r` keeps them. Other elements occur only inside of values that are passed on, taken
//!   apart or compared as a whole, and `r` preserves all of this, also disequalities. So `r` maps the derivation to
//!   another one, in which no number is negative. It is the image under `e` of a derivation in the old graph.
//!
//! So the answer stays. Sorts that an array mentions stay as they are, too.
//!
//! *The way back.* Derivations are renumbered by `r`; a number becomes as many successors, whose terms are shared, up to
//! [`MOST_SUCCESSORS`]. In a model, the number of an argument is the value of the number function of its sort (`Peano` in the
//! logic crate), which a model defines by recursion. Most models do not need it: comparisons with constants and of two
//! numbers at a fixed distance are written with constructors and testers. Equations between structures are written field
//! by field where they mention integers that are no numbers of terms. A fold of structures becomes the fold of the old structures
//! with numbers of the fields for integers; so do the lemmas about it. Concatenation and reversal of lists are those of the old lists.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::number::{Integer, Rational};
use shofar_logic::{
    ConstructorId, ConstructorSpec, FoldCase, FoldLemma, FoldSpec, Fun, FunDecl, LinearPoly, Op, Peano, Sort,
    Symbol, Term, TermStore, Value,
};
use shofar_run::Stop;

use super::resort::{Component, Read, Representation, resort};
use super::sorts::{Sorts, parts_of};
use crate::Context;
use crate::graph::{EdgeId, HornGraph, NodeId};
use crate::transform::{Image, Lemma, Transformation, Transformed, Translation};
use crate::witness::{Derivation, GraphModel, claims};

/// The greatest number that a derivation may contain as a Peano number.
const MOST_SUCCESSORS: u64 = 1_000_000;

/// The greatest constant for which a comparison in a model is written with constructors and testers.
const MOST_TESTERS: i64 = 8;

/// Represents Peano numbers by integers.
#[derive(Clone, Copy, Default, Debug)]
pub struct PeanoNumbers;

impl Transformation for PeanoNumbers {
    fn name(&self) -> &'static str {
        "peano"
    }

    fn apply(&self, context: &Context<'_>, graph: &HornGraph) -> Option<Transformed> {
        let store = context.store;
        if !store.has_datatypes() {
            return None;
        }
        let naturals = Arc::new(Naturals::of(store, graph)?);
        let Transformed { graph: new, translation } = resort(context, graph, Arc::clone(&naturals))?;
        let variables = |graph: &HornGraph| graph.nodes().map(|(_, node)| node.variables().into()).collect();
        let translation = Numbered {
            old: variables(graph),
            new: variables(&new),
            targets: graph.edges().map(|(_, edge)| edge.target()).collect(),
            resorted: translation,
            naturals: Arc::clone(&naturals),
        };
        let graph = naturals.with_reads_in_range(store, &new);
        Some(Transformed { graph, translation: Box::new(translation) })
    }
}

// ---- sorts and terms -----------------------------------------------------------------------------------------

/// Integers instead of Peano numbers, also in the fields of other datatypes.
struct Naturals {
    numbers: FxHashMap<Sort, Peano>,
    /// The component of each represented sort: an integer, or a value of a datatype with integers in its fields.
    components: FxHashMap<Sort, Component>,
    /// The constructors of datatypes with integers for those of datatypes with numbers.
    images: FxHashMap<ConstructorId, ConstructorId>,
    origins: FxHashMap<ConstructorId, ConstructorId>,
    old_values: Mutex<OldValues>,
}

impl Naturals {
    /// The numbers of a graph; `None` if it has none.
    fn of(store: &TermStore, graph: &HornGraph) -> Option<Self> {
        let sorts = Sorts::of(store, graph);
        let mut in_arrays: FxHashSet<Sort> = FxHashSet::default();
        let mut open: Vec<Sort> = sorts.iter().filter(|&sort| store.array_parts(sort).is_some()).collect();
        while let Some(sort) = open.pop() {
            open.extend(parts_of(store, sort).into_iter().filter(|&part| in_arrays.insert(part)));
        }
        let is_free = |&sort: &Sort| !in_arrays.contains(&sort);
        let numbers = sorts.iter().filter(is_free).filter_map(|sort| Some((sort, store.peano(sort)?)));
        let numbers: FxHashMap<Sort, Peano> = numbers.collect();
        if numbers.is_empty() {
            return None;
        }
        let integer = || Component { name: "number".to_owned(), sort: Sort::INT };
        let mut naturals = Naturals {
            components: numbers.keys().map(|&sort| (sort, integer())).collect(),
            numbers,
            images: FxHashMap::default(),
            origins: FxHashMap::default(),
            old_values: Mutex::default(),
        };
        naturals.represent_structures(store, &sorts);
        Some(naturals)
    }

    /// Defines datatypes with integers for those with numbers in their fields, at any depth.
    fn represent_structures(&mut self, store: &TermStore, sorts: &Sorts) {
        let mut found: Vec<Sort> = Vec::new();
        loop {
            let is_new = |sort: &Sort| {
                let is_datatype = store.datatype(*sort).is_some() && !self.components.contains_key(sort);
                is_datatype && parts_of(store, *sort).iter().any(|part| self.components.contains_key(part))
            };
            let new: Vec<Sort> = sorts.iter().filter(is_new).collect();
            if new.is_empty() {
                break;
            }
            for &sort in &new {
                let name = store.datatype(sort).map_or("structure", |datatype| store.name(datatype.name));
                let image = store.new_datatype(fresh(store, name), &[]);
                self.components.insert(sort, Component { name: "numbers".to_owned(), sort: image });
            }
            found.extend(new);
        }
        let image = |sort: Sort| self.components.get(&sort).map_or(sort, |component| component.sort);
        let spec = |&id: &ConstructorId| {
            let constructor = store.constructor(id);
            let field = |&(name, sort): &(Symbol, Sort)| (fresh(store, store.name(name)), image(sort));
            let fields = constructor.fields.iter().map(field).collect();
            ConstructorSpec { name: fresh(store, store.name(constructor.name)), fields }
        };
        let group: Vec<(Sort, Vec<ConstructorSpec>)> = found
            .iter()
            .map(|&sort| (image(sort), constructors(store, sort).iter().map(spec).collect()))
            .collect();
        // The old datatypes have finite values, so the new ones have their images.
        store.define_datatypes(&group).expect("each datatype has a value");
        for sort in found {
            let new = constructors(store, self.components[&sort].sort);
            for (&old, &new) in constructors(store, sort).iter().zip(new) {
                self.images.insert(old, new);
                self.origins.insert(new, old);
            }
        }
    }

    /// The old sort of a field of a new constructor, if it is one of numbers.
    fn number_field(&self, store: &TermStore, constructor: ConstructorId, field: usize) -> Option<Sort> {
        let (_, sort) = store.constructor(*self.origins.get(&constructor)?).fields[field];
        self.numbers.contains_key(&sort).then_some(sort)
    }

    /// The graph whose labels say that no element that a selector reads is negative.
    fn with_reads_in_range(&self, store: &TermStore, graph: &HornGraph) -> HornGraph {
        let mut new = graph.without_edges();
        for (_, edge) in graph.edges() {
            let mut conjuncts = vec![edge.label()];
            for term in store.subterms(&[edge.label()]) {
                if let (Op::Selector { constructor, field }, &[value]) = store.view(term)
                    && self.number_field(store, constructor, field as usize).is_some()
                {
                    let in_range = store.ge(term, store.int(0));
                    conjuncts.push(store.implies(store.tester(constructor, value), in_range));
                }
            }
            new.add_edge(edge.sources(), edge.target(), store.and(&conjuncts));
        }
        new
    }
}

fn constructors(store: &TermStore, sort: Sort) -> &[ConstructorId] {
    store.datatype(sort).map_or(&[], |datatype| datatype.constructors())
}

/// A new name, without the number that made the old one fresh.
fn fresh(store: &TermStore, name: &str) -> Symbol {
    store.fresh_symbol(name.split('!').next().unwrap_or(name))
}

impl Representation for Arc<Naturals> {
    fn components(&self, sort: Sort) -> Option<&[Component]> {
        self.components.get(&sort).map(std::slice::from_ref)
    }

    fn range(&self, store: &TermStore, sort: Sort, vector: &[Term]) -> Term {
        if self.numbers.contains_key(&sort) { store.ge(vector[0], store.int(0)) } else { Term::TRUE }
    }

    fn construct(&self, store: &TermStore, constructor: ConstructorId, fields: &[&[Term]]) -> Vec<Term> {
        let fields: Vec<Term> = fields.iter().map(|field| field[0]).collect();
        vec![match (self.images.get(&constructor), fields.first()) {
            (Some(&image), _) => store.construct_term(image, &fields),
            (None, Some(&number)) => store.add(&[number, store.int(1)]),
            (None, None) => store.int(0),
        }]
    }

    fn select(&self, store: &TermStore, constructor: ConstructorId, field: usize, vector: &[Term]) -> Read {
        let value = vector[0];
        match self.images.get(&constructor) {
            Some(&image) => Read {
                field: vec![store.selector(image, field as u32, value)],
                is_present: store.tester(image, value),
            },
            None => Read {
                field: vec![store.sub(value, store.int(1))],
                is_present: store.ge(value, store.int(1)),
            },
        }
    }

    fn test(&self, store: &TermStore, constructor: ConstructorId, vector: &[Term]) -> Term {
        let value = vector[0];
        match self.images.get(&constructor) {
            Some(&image) => store.tester(image, value),
            None if store.constructor(constructor).fields.is_empty() => store.eq(value, store.int(0)),
            None => store.ge(value, store.int(1)),
        }
    }

    fn unpack(&self, store: &TermStore, term: Term) -> Option<Vec<Term>> {
        self.numbers.contains_key(&store.sort_of(term)).then(|| vec![store.number_of(term)])
    }

    fn pack(&self, store: &TermStore, sort: Sort, vector: &[Term]) -> Option<Term> {
        self.numbers.get(&sort).and_then(|peano| self.term_of_number(store, *peano, vector[0]))
    }

    fn value(&self, store: &TermStore, sort: Sort, vector: &[Value]) -> Option<Value> {
        let mut old_values = self.old_values.lock().unwrap_or_else(PoisonError::into_inner);
        old_values.of(store, self, sort, vector.first()?).map(Value::Term)
    }
}

// ---- values --------------------------------------------------------------------------------------------------

/// The old values of new ones, each made once.
#[derive(Default)]
struct OldValues {
    /// The numbers from zero on.
    numbers: FxHashMap<Sort, Vec<Term>>,
    structures: FxHashMap<Term, Term>,
}

impl OldValues {
    fn of(&mut self, store: &TermStore, naturals: &Naturals, sort: Sort, value: &Value) -> Option<Term> {
        let root = match value {
            Value::Int(number) => return self.number(store, naturals, sort, number),
            Value::Term(root) => *root,
            Value::Bool(_) | Value::Real(_) | Value::BitVec { .. } => return None,
        };
        for term in store.subterms_until(&[root], |term| self.structures.contains_key(&term)) {
            let (Op::Construct(constructor), fields) = store.view(term) else { continue };
            let Some(&origin) = naturals.origins.get(&constructor) else { continue };
            if self.structures.contains_key(&term) {
                continue;
            }
            let sorts = &store.constructor(origin).fields;
            let fields: Option<Vec<Term>> = fields
                .iter()
                .zip(sorts)
                .map(|(&field, &(_, sort))| match store.numeral(field) {
                    Some(number) if naturals.numbers.contains_key(&sort) => {
                        self.number(store, naturals, sort, &number.floor())
                    }
                    _ => Some(self.structures.get(&field).copied().unwrap_or(field)),
                })
                .collect();
            self.structures.insert(term, store.construct_term(origin, &fields?));
        }
        self.structures.get(&root).copied()
    }

    /// The number of a sort; `None` if it is negative or beyond [`MOST_SUCCESSORS`].
    fn number(
        &mut self,
        store: &TermStore,
        naturals: &Naturals,
        sort: Sort,
        number: &Integer,
    ) -> Option<Term> {
        let Peano { zero, successor } = *naturals.numbers.get(&sort)?;
        let number = number.to_u64().filter(|&number| number <= MOST_SUCCESSORS)? as usize;
        let known = self.numbers.entry(sort).or_insert_with(|| vec![store.construct_term(zero, &[])]);
        while known.len() <= number {
            let last = known[known.len() - 1];
            known.push(store.construct_term(successor, &[last]));
        }
        Some(known[number])
    }
}

// ---- formulas ------------------------------------------------------------------------------------------------

/// One side of an equation between structures.
#[derive(Clone, Copy)]
enum Side {
    /// A term over the new variables.
    New(Term),
    /// A term over the old variables.
    Old(Term),
}

impl Naturals {
    /// The formula over old variables that means the same as one over new variables. `None` if it compares structures
    /// that no term over the old variables denotes.
    fn formula_back(
        &self,
        store: &TermStore,
        formula: Term,
        variables: &FxHashMap<Term, Term>,
    ) -> Option<Term> {
        let folds = self.folds_back(store, formula)?;
        let formula = self.term_back(store, formula, variables, &folds)?;
        Some(without_number_functions(store, formula))
    }

    /// The folds of old structures for those of new ones that a formula applies. Their lemmas are claimed, too.
    fn folds_back(&self, store: &TermStore, formula: Term) -> Option<FxHashMap<Fun, Fun>> {
        let mut folds: FxHashMap<Fun, Fun> = FxHashMap::default();
        if store.folds_in(&[formula]).is_empty() {
            return Some(folds);
        }
        let lemmas = claims(store, vec![formula]);
        let formulas = lemmas.iter().map(|lemma| lemma.formula).chain([formula]);
        for fun in store.folds_in(&formulas.collect::<Vec<Term>>()) {
            let family = &store.fold(fun)?.family;
            let has_structures =
                |&member: &Fun| self.old_structure(store, store.fun_decl(member).domain[0]).is_some();
            if !folds.contains_key(&fun) && family.iter().any(has_structures) {
                self.family_back(store, family, &mut folds)?;
            }
        }
        for lemma in lemmas {
            let FoldLemma { parameters, formula } = &lemma;
            if !self.is_structure(store, parameters[0]) {
                continue;
            }
            let old = parameters.iter().map(|&parameter| (parameter, self.old_variable(store, parameter)));
            let variables: FxHashMap<Term, Term> = old.collect();
            if let Some(formula) = self.term_back(store, *formula, &variables, &folds) {
                let parameters = parameters.iter().map(|parameter| variables[parameter]).collect();
                store.claim_lemma(&FoldLemma { parameters, formula });
            }
        }
        Some(folds)
    }

    /// Adds the images of a family of folds.
    fn family_back(&self, store: &TermStore, family: &[Fun], folds: &mut FxHashMap<Fun, Fun>) -> Option<()> {
        if let Some(sort) = store.list_function_sort(family[0]) {
            let new = store.list_functions(sort)?;
            let old = store.list_functions(self.old_structure(store, sort)?)?;
            folds.extend([(new.append, old.append), (new.reverse, old.reverse)]);
            return Some(());
        }
        for &fun in family {
            let FunDecl { name, domain, range } = store.fun_decl(fun);
            if self.old_structure(store, *range).is_some() {
                return None;
            }
            let old = |&sort: &Sort| self.old_structure(store, sort).unwrap_or(sort);
            let ghosts: Vec<Sort> = domain[1..].iter().map(old).collect();
            let stem = store.name(*name).split('!').next().unwrap_or_default();
            folds.insert(fun, store.new_fold(store.fresh_symbol(stem), old(&domain[0]), &ghosts, *range));
        }
        let spec = |&fun: &Fun| {
            let fold = store.fold(fun)?;
            let ghosts: Vec<(Term, Term)> =
                fold.ghosts.iter().map(|&ghost| (ghost, self.old_variable(store, ghost))).collect();
            let case = |case: &FoldCase| {
                let constructor = *self.origins.get(&case.constructor).unwrap_or(&case.constructor);
                let sorts = store.constructor(constructor).fields.iter();
                let fields = sorts.map(|&(_, sort)| store.var(store.fresh_symbol("field"), sort));
                let fields: Box<[Term]> = fields.collect();
                let variables = case.fields.iter().copied().zip(fields.iter().copied());
                let variables = variables.chain(ghosts.iter().copied()).collect();
                let value = self.term_back(store, case.value, &variables, folds)?;
                Some(FoldCase { constructor, fields, value })
            };
            let cases = fold.cases.iter().map(case).collect::<Option<_>>()?;
            let ghosts = ghosts.iter().map(|&(_, old)| old).collect();
            Some(FoldSpec { fun: folds[&fun], ghosts, cases })
        };
        let specs = family.iter().map(spec).collect::<Option<Vec<FoldSpec>>>()?;
        let defined = store.define_folds(&specs).ok()?;
        folds.extend(family.iter().copied().zip(defined));
        Some(())
    }

    /// A variable of the old sort for a variable of a new structure; any other variable itself.
    fn old_variable(&self, store: &TermStore, variable: Term) -> Term {
        let sort = self.old_structure(store, store.sort_of(variable));
        sort.map_or(variable, |sort| store.var(store.fresh_symbol("value"), sort))
    }

    /// The old sort of new structures.
    fn old_structure(&self, store: &TermStore, sort: Sort) -> Option<Sort> {
        let first = constructors(store, sort).first()?;
        Some(store.constructor(*self.origins.get(first)?).sort)
    }

    /// [`formula_back`](Self::formula_back) of any term, with the images of folds.
    fn term_back(
        &self,
        store: &TermStore,
        formula: Term,
        variables: &FxHashMap<Term, Term>,
        folds: &FxHashMap<Fun, Fun>,
    ) -> Option<Term> {
        // The images of all terms but structures that no old term denotes.
        let mut images: FxHashMap<Term, Term> = FxHashMap::default();
        for term in store.subterms(&[formula]) {
            let (op, args) = store.view(term);
            let is_structure = |term: Term| self.is_structure(store, term);
            let image = match (op, args) {
                (Op::Var(_), _) => match variables.get(&term) {
                    Some(&old) if self.numbers.contains_key(&store.sort_of(old)) => store.number_of(old),
                    Some(&old) => old,
                    None => term,
                },
                (Op::Construct(constructor), _) if is_structure(term) => {
                    match self.construct_back(store, constructor, args, &images) {
                        Some(image) => image,
                        None => continue,
                    }
                }
                (Op::Selector { constructor, field }, [value]) if is_structure(*value) => {
                    let origin = *self.origins.get(&constructor)?;
                    let field = store.selector(origin, field, *images.get(value)?);
                    if self.numbers.contains_key(&store.sort_of(field)) {
                        store.number_of(field)
                    } else {
                        field
                    }
                }
                (Op::Tester(constructor), [value]) if is_structure(*value) => {
                    store.tester(*self.origins.get(&constructor)?, *images.get(value)?)
                }
                (Op::Eq, &[a, b]) if is_structure(a) => self.equation_back(store, a, b, &images)?,
                (Op::Distinct, &[first, ..]) if is_structure(first) => {
                    let pairs =
                        args.iter().enumerate().flat_map(|(n, &a)| args[..n].iter().map(move |&b| (a, b)));
                    let equations: Option<Vec<Term>> =
                        pairs.map(|(a, b)| self.equation_back(store, a, b, &images)).collect();
                    store.and_of(equations?.into_iter().map(|equation| store.not(equation)))
                }
                (Op::Ite, [condition, a, b]) if is_structure(term) => match (images.get(a), images.get(b)) {
                    (Some(&a), Some(&b)) => store.ite(*images.get(condition)?, a, b),
                    _ => continue,
                },
                (_, []) => term,
                _ => {
                    let args: Option<Vec<Term>> = args.iter().map(|arg| images.get(arg).copied()).collect();
                    let op = match op {
                        Op::Apply(fun) => Op::Apply(*folds.get(&fun).unwrap_or(&fun)),
                        _ => op,
                    };
                    store.build(op, &args?).ok()?
                }
            };
            images.insert(term, image);
        }
        images.get(&formula).copied()
    }

    fn is_structure(&self, store: &TermStore, term: Term) -> bool {
        self.old_structure(store, store.sort_of(term)).is_some()
    }

    /// The old term of a constructor's application; `None` if a field is no number of an old term.
    fn construct_back(
        &self,
        store: &TermStore,
        constructor: ConstructorId,
        fields: &[Term],
        images: &FxHashMap<Term, Term>,
    ) -> Option<Term> {
        let origin = *self.origins.get(&constructor)?;
        let sorts = &store.constructor(origin).fields;
        let field = |(field, &(_, sort)): (&Term, &(Symbol, Sort))| {
            let image = *images.get(field)?;
            match self.numbers.get(&sort) {
                Some(&peano) => self.term_of_number(store, peano, image),
                None => Some(image),
            }
        };
        let fields: Option<Vec<Term>> = fields.iter().zip(sorts).map(field).collect();
        Some(store.construct_term(origin, &fields?))
    }

    /// The term whose number an integer is: so many successors of zero, or of another term.
    fn term_of_number(&self, store: &TermStore, peano: Peano, number: Term) -> Option<Term> {
        let sum = LinearPoly::from_term(store, number);
        let successors = sum.constant().is_integer().then(|| sum.constant().floor())?;
        let successors = successors.to_u64().filter(|&number| number <= MOST_SUCCESSORS)?;
        let below = match sum.terms() {
            [] => store.construct_term(peano.zero, &[]),
            [(monomial, factor)] if factor.is_one() => {
                let below = numbered(store, *monomial)?;
                (store.sort_of(below) == store.constructor(peano.zero).sort).then_some(below)?
            }
            _ => return None,
        };
        Some(store.successors(below, successors))
    }

    /// An equation between structures: of old terms where they exist, and otherwise field by field.
    fn equation_back(
        &self,
        store: &TermStore,
        a: Term,
        b: Term,
        images: &FxHashMap<Term, Term>,
    ) -> Option<Term> {
        let old = |side: Side| match side {
            Side::New(term) => images.get(&term).copied().map_or(side, Side::Old),
            Side::Old(_) => side,
        };
        let mut conjuncts = Vec::new();
        let mut open = vec![(Side::New(a), Side::New(b))];
        while let Some((a, b)) = open.pop() {
            match (old(a), old(b)) {
                (Side::Old(a), Side::Old(b)) => conjuncts.push(store.eq(a, b)),
                (Side::New(a), Side::New(b)) => match (store.view(a), store.view(b)) {
                    ((Op::Construct(c), left), (Op::Construct(d), right)) if c == d => {
                        let fields = left.iter().zip(right);
                        open.extend(fields.map(|(&a, &b)| (Side::New(a), Side::New(b))));
                    }
                    ((Op::Construct(_), _), (Op::Construct(_), _)) => return Some(Term::FALSE),
                    _ => return None,
                },
                (Side::New(new), Side::Old(old)) | (Side::Old(old), Side::New(new)) => {
                    let (Op::Construct(constructor), fields) = store.view(new) else { return None };
                    let origin = *self.origins.get(&constructor)?;
                    conjuncts.push(store.tester(origin, old));
                    for (position, &field) in fields.iter().enumerate() {
                        let read = store.selector(origin, position as u32, old);
                        let is_number = self.numbers.contains_key(&store.sort_of(read));
                        let read = if is_number { store.number_of(read) } else { read };
                        open.push((Side::New(field), Side::Old(read)));
                    }
                }
            }
        }
        Some(store.and(&conjuncts))
    }
}

/// The term of a Peano datatype whose number this is.
fn numbered(store: &TermStore, number: Term) -> Option<Term> {
    match store.view(number) {
        (Op::Apply(fun), &[term]) if store.number_function_sort(fun).is_some() => Some(term),
        _ => None,
    }
}

/// The formula with comparisons of numbers written by constructors and testers, as far as this is short.
fn without_number_functions(store: &TermStore, formula: Term) -> Term {
    let mut images: FxHashMap<Term, Term> = FxHashMap::default();
    for term in store.subterms(&[formula]) {
        let (op, args) = store.view(term);
        if let Some(image) = comparison(store, op, args) {
            images.insert(term, image);
        } else if args.iter().any(|arg| images.contains_key(arg)) {
            let args: Vec<Term> = args.iter().map(|arg| images.get(arg).copied().unwrap_or(*arg)).collect();
            if let Ok(image) = store.build(op, &args) {
                images.insert(term, image);
            }
        }
    }
    images.get(&formula).copied().unwrap_or(formula)
}

/// A comparison of a number with a small constant, or of two numbers at a small distance.
fn comparison(store: &TermStore, op: Op, args: &[Term]) -> Option<Term> {
    let (&[sum, bound], Op::Eq | Op::Le) = (args, op) else { return None };
    let bound = store.numeral(bound)?.floor().to_i64()?;
    let sum = LinearPoly::from_term(store, sum);
    match (op, sum.terms()) {
        (_, [(number, factor)]) if factor.is_one() && bound <= MOST_TESTERS => {
            let term = numbered(store, *number)?;
            let peano = store.peano(store.sort_of(term))?;
            Some(match (op, u64::try_from(bound)) {
                (_, Err(_)) => Term::FALSE,
                (Op::Eq, Ok(bound)) => {
                    store.eq(term, store.successors(store.construct_term(peano.zero, &[]), bound))
                }
                (_, Ok(bound)) => store.not(is_at_least(store, peano, term, bound + 1)),
            })
        }
        (Op::Eq, [(a, positive), (b, negative)])
            if positive.is_one() && *negative == -Rational::ONE && bound.abs() <= MOST_TESTERS =>
        {
            let (a, b) = (numbered(store, *a)?, numbered(store, *b)?);
            let (above, below) = if bound >= 0 { (a, b) } else { (b, a) };
            let is_one_sort = store.sort_of(a) == store.sort_of(b);
            is_one_sort.then(|| store.eq(above, store.successors(below, bound.unsigned_abs())))
        }
        _ => None,
    }
}

/// Whether a term has so many successors.
fn is_at_least(store: &TermStore, peano: Peano, term: Term, bound: u64) -> Term {
    let mut below = term;
    let mut conjuncts = Vec::new();
    for _ in 0..bound {
        conjuncts.push(store.tester(peano.successor, below));
        below = store.selector(peano.successor, 0, below);
    }
    store.and(&conjuncts)
}

// ---- the translation -----------------------------------------------------------------------------------------

struct Numbered {
    naturals: Arc<Naturals>,
    resorted: Box<dyn Translation>,
    /// The variables of the old and of the new nodes, one for one.
    old: Vec<Box<[Term]>>,
    new: Vec<Box<[Term]>>,
    /// The targets of the edges.
    targets: Vec<Option<NodeId>>,
}

impl Translation for Numbered {
    fn forward(&self, context: &Context<'_>, lemma: Lemma) -> Image {
        self.resorted.forward(context, lemma)
    }

    fn is_renaming(&self) -> bool {
        true
    }

    fn model_back(&self, context: &Context<'_>, model: GraphModel) -> Result<GraphModel, Stop> {
        let inexpressible =
            || Stop::Unsupported("a model that compares structures of integers with each other".to_owned());
        let formula = |node: usize| {
            context.go_on()?;
            let both = self.new[node].iter().copied().zip(self.old[node].iter().copied());
            let variables = both.filter(|(new, old)| new != old).collect();
            let formula = model.formula(NodeId::new(node))?;
            self.naturals.formula_back(context.store, formula, &variables).ok_or_else(inexpressible)
        };
        let formulas = (0..self.old.len()).map(formula);
        Ok(GraphModel::of_formulas(formulas.collect::<Result<Vec<Term>, Stop>>()?))
    }

    fn derivation_back(&self, context: &Context<'_>, derivation: Derivation) -> Result<Derivation, Stop> {
        let derivation = self.renumbered(context, derivation)?;
        self.resorted.derivation_back(context, derivation)
    }
}

impl Numbered {
    /// The derivation with natural numbers that do not occur in it instead of negative elements.
    fn renumbered(&self, context: &Context<'_>, mut derivation: Derivation) -> Result<Derivation, Stop> {
        let store = context.store;
        let mut negative: Vec<Integer> = Vec::new();
        let mut greatest = Integer::ZERO;
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        for step in &derivation.steps {
            context.go_on()?;
            for (value, sort) in step.fact.iter().zip(self.sorts(store, step.edge)) {
                if let (Value::Int(number), true) = (value, self.naturals.numbers.contains_key(&sort)) {
                    greatest = greatest.max(number.clone());
                }
                let Value::Term(value) = value else { continue };
                for term in store.subterms_until(&[*value], |term| seen.contains(&term)) {
                    if seen.insert(term) {
                        for (_, number) in self.elements(store, term) {
                            greatest = greatest.max(number.clone());
                            negative.extend((number < Integer::ZERO).then_some(number));
                        }
                    }
                }
            }
        }
        negative.sort_unstable();
        negative.dedup();
        let most = &greatest + &Integer::from(negative.len());
        if most > Integer::from(MOST_SUCCESSORS) {
            let message =
                format!("a Peano number with more than {MOST_SUCCESSORS} successors in a refutation");
            return Err(Stop::Unsupported(message));
        }
        if negative.is_empty() {
            return Ok(derivation);
        }
        let unused = (1_u64..).map(|above| &greatest + &Integer::from(above));
        let numbers: FxHashMap<Integer, Integer> = negative.into_iter().zip(unused).collect();
        let mut images: FxHashMap<Term, Term> = FxHashMap::default();
        for value in derivation.steps.iter_mut().flat_map(|step| &mut step.fact) {
            let Value::Term(root) = *value else { continue };
            for term in store.subterms_until(&[root], |term| images.contains_key(&term)) {
                let (op, args) = store.view(term);
                let mut args: Vec<Term> =
                    args.iter().map(|arg| images.get(arg).copied().unwrap_or(*arg)).collect();
                for (position, number) in self.elements(store, term) {
                    if let Some(number) = numbers.get(&number) {
                        args[position] = store.int(number.clone());
                    }
                }
                if let Op::Construct(constructor) = op {
                    images.insert(term, store.construct_term(constructor, &args));
                }
            }
            *value = Value::Term(images.get(&root).copied().unwrap_or(root));
        }
        Ok(derivation)
    }

    /// The sorts of the arguments that a step's fact has in the old graph.
    fn sorts(&self, store: &TermStore, edge: EdgeId) -> Vec<Sort> {
        let target = self.targets.get(edge.index()).copied().flatten();
        let variables = target.map_or(&[][..], |node| &*self.old[node.index()]);
        variables.iter().map(|&variable| store.sort_of(variable)).collect()
    }

    /// The integers that stand for numbers in the fields of a value.
    fn elements(&self, store: &TermStore, value: Term) -> Vec<(usize, Integer)> {
        let (Op::Construct(constructor), fields) = store.view(value) else { return Vec::new() };
        let number = |(position, &field): (usize, &Term)| {
            self.naturals.number_field(store, constructor, position)?;
            Some((position, store.numeral(field)?.floor()))
        };
        fields.iter().enumerate().filter_map(number).collect()
    }
}
