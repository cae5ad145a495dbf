//! Deterministic, complete, bottom-up tree automata over many-sorted signatures, and the relations that they define.
//!
//! An [`Algebra`] gives each sort finitely many *states* and each constructor a table. It maps every term to a state. A
//! [`Relation`] is a set of tuples of states; a tuple of terms belongs to its language if the tuple of their states
//! belongs to the set. So all components of a tuple are read independently, by one table.
//!
//! Sorts other than datatypes take part as sorts with constants only: one for each class of values.
//!
//! Invariants: tables are complete; the value of a cell is a state of the constructor's sort.
//!
//! *Source.* H. Comon et al., "Tree Automata Techniques and Applications", chapters 1 and 3; Yu. Kostyukov, D. Mordvinov,
//! G. Fedyukovich, "Beyond the elementary representations of program invariants over algebraic data types" (PLDI 2021)
//! for tuples.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

/// A state of a sort.
pub type State = u8;

/// A constructor: the sort of its values and those of its fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constructor {
    /// The sort of its values.
    pub sort: usize,
    /// The sorts of its fields.
    pub fields: Box<[usize]>,
}

/// Sorts `0..sorts` and their constructors.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Signature {
    /// The number of sorts.
    pub sorts: usize,
    /// The constructors.
    pub constructors: Vec<Constructor>,
}

/// A tuple of states.
pub type Tuple = Box<[State]>;

/// A table for each constructor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Algebra {
    /// The number of states of each sort.
    sizes: Vec<usize>,
    /// By constructors: the values of all cells, the last field changing fastest.
    tables: Vec<Vec<State>>,
}

/// Tuples of states of these sorts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relation {
    /// The sorts of the components.
    pub sorts: Box<[usize]>,
    /// The accepted tuples.
    pub tuples: BTreeSet<Tuple>,
}

/// By sorts: the pairs of states behind the states of a product.
pub type Pairs = Vec<Vec<(State, State)>>;

/// Where the states of an algebra went, by sorts. `None` for states that no term has.
type Image = Vec<Vec<Option<State>>>;

impl Algebra {
    /// The algebra with the given numbers of states whose cells have the values that the function gives.
    pub fn new(
        signature: &Signature,
        sizes: Vec<usize>,
        mut value: impl FnMut(usize, &[State]) -> State,
    ) -> Self {
        let mut tables = Vec::with_capacity(signature.constructors.len());
        for (number, constructor) in signature.constructors.iter().enumerate() {
            let cells = tuples(&constructor.fields, &sizes);
            tables.push(cells.map(|cell| value(number, &cell)).collect());
        }
        Algebra { sizes, tables }
    }

    /// The numbers of states by sorts.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// All tuples of states of the given sorts, the last component changing fastest.
    pub(super) fn tuples<'a>(&'a self, sorts: &'a [usize]) -> impl Iterator<Item = Tuple> + 'a {
        tuples(sorts, &self.sizes)
    }

    /// The values of a constructor's cells.
    pub(super) fn table(&self, constructor: usize) -> &[State] {
        &self.tables[constructor]
    }

    /// The position of a cell in the table of its constructor.
    pub(super) fn cell(&self, constructor: &Constructor, fields: impl IntoIterator<Item = State>) -> usize {
        let place =
            |place: usize, (field, &sort): (State, &usize)| place * self.sizes[sort] + usize::from(field);
        fields.into_iter().zip(&constructor.fields).fold(0, place)
    }

    /// The state of a constructor's value.
    pub fn apply(&self, signature: &Signature, constructor: usize, fields: &[State]) -> State {
        let cell = self.cell(&signature.constructors[constructor], fields.iter().copied());
        self.tables[constructor][cell]
    }

    /// By sorts and states: whether a term has the state.
    pub fn reachable(&self, signature: &Signature) -> Vec<Vec<bool>> {
        let mut reached: Vec<Vec<bool>> = self.sizes.iter().map(|&size| vec![false; size]).collect();
        loop {
            let mut changed = false;
            for (number, constructor) in signature.constructors.iter().enumerate() {
                for (cell, &value) in tuples(&constructor.fields, &self.sizes).zip(&self.tables[number]) {
                    let mut fields = cell.iter().zip(&constructor.fields);
                    let state = usize::from(value);
                    if !reached[constructor.sort][state]
                        && fields.all(|(&field, &sort)| reached[sort][usize::from(field)])
                    {
                        reached[constructor.sort][state] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                return reached;
            }
        }
    }

    /// The algebra of pairs of states that some term has in both algebras, and the pairs behind its states.
    ///
    /// `None` if a sort has more states than [`State`] can number.
    pub fn product(&self, other: &Self, signature: &Signature) -> Option<(Self, Pairs)> {
        let mut pairs: Vec<Vec<(State, State)>> = vec![Vec::new(); signature.sorts];
        let mut known: Vec<FxHashMap<(State, State), State>> = vec![FxHashMap::default(); signature.sorts];
        loop {
            let sizes: Vec<usize> = pairs.iter().map(Vec::len).collect();
            let mut changed = false;
            for (number, constructor) in signature.constructors.iter().enumerate() {
                for cell in tuples(&constructor.fields, &sizes) {
                    let pair = self.pair_at(other, signature, number, &cell, &pairs);
                    if !known[constructor.sort].contains_key(&pair) {
                        let state = State::try_from(pairs[constructor.sort].len()).ok()?;
                        known[constructor.sort].insert(pair, state);
                        pairs[constructor.sort].push(pair);
                        changed = true;
                    }
                }
            }
            if !changed {
                let value = |number: usize, cell: &[State]| {
                    let pair = self.pair_at(other, signature, number, cell, &pairs);
                    known[signature.constructors[number].sort][&pair]
                };
                return Some((Algebra::new(signature, sizes, value), pairs));
            }
        }
    }

    /// The values of a constructor in both algebras, for fields that are numbers of pairs.
    fn pair_at(
        &self,
        other: &Self,
        signature: &Signature,
        number: usize,
        cell: &[State],
        pairs: &[Vec<(State, State)>],
    ) -> (State, State) {
        let constructor = &signature.constructors[number];
        let fields = || cell.iter().zip(&constructor.fields).map(|(&at, &sort)| pairs[sort][usize::from(at)]);
        let left = self.cell(constructor, fields().map(|(left, _)| left));
        let right = other.cell(constructor, fields().map(|(_, right)| right));
        (self.tables[number][left], other.tables[number][right])
    }

    /// The least algebra that defines the same languages: states that no term has are removed, and states that no
    /// context and no relation distinguishes are merged. The relations are translated.
    ///
    /// States are split until those of a class agree in all relations, whatever the other components, and in the classes
    /// of all cells (Moore's algorithm). So relations consist of whole classes, and classes are a congruence.
    pub fn minimised(&self, signature: &Signature, relations: &[Relation]) -> (Self, Vec<Relation>) {
        let reached = self.reachable(signature);
        let states_of = |sort: usize| (0..self.sizes[sort]).filter(|&state| reached[sort][state]).collect();
        let states: Vec<Vec<usize>> = (0..signature.sorts).map(states_of).collect();
        let mut classes: Image =
            reached.iter().map(|of| of.iter().map(|&is| is.then_some(0)).collect()).collect();
        let mut sizes: Vec<usize> = states.iter().map(|states| usize::from(!states.is_empty())).collect();
        loop {
            let mut finer: Image = classes.clone();
            for (sort, states) in states.iter().enumerate() {
                let mut known: FxHashMap<Behaviour, State> = FxHashMap::default();
                for &state in states {
                    let next = known.len() as State;
                    let behaviour = self.behaviour(signature, relations, &classes, sort, state);
                    finer[sort][state] = Some(*known.entry(behaviour).or_insert(next));
                }
                sizes[sort] = known.len();
            }
            if finer == classes {
                break;
            }
            classes = finer;
        }
        let representative = |sort: usize, class: State| {
            let state = classes[sort].iter().position(|&of| of == Some(class));
            state.expect("every class has a state") as State
        };
        let value = |number: usize, cell: &[State]| {
            let constructor = &signature.constructors[number];
            let fields =
                cell.iter().zip(&constructor.fields).map(|(&class, &sort)| representative(sort, class));
            let value = self.tables[number][self.cell(constructor, fields)];
            classes[constructor.sort][usize::from(value)].expect("values of reachable states are reachable")
        };
        let algebra = Algebra::new(signature, sizes, value);
        let translated = relations.iter().map(|relation| relation.image(&classes)).collect();
        (algebra, translated)
    }

    /// What distinguishes a state from others of its sort, given classes of states.
    fn behaviour(
        &self,
        signature: &Signature,
        relations: &[Relation],
        classes: &Image,
        sort: usize,
        state: usize,
    ) -> Behaviour {
        let class_of = |(&state, &sort): (&State, &usize)| classes[sort][usize::from(state)];
        let state_number = state as State;
        let mut contexts = Vec::new();
        for (number, relation) in relations.iter().enumerate() {
            for place in (0..relation.sorts.len()).filter(|&place| relation.sorts[place] == sort) {
                for tuple in relation.tuples.iter().filter(|tuple| tuple[place] == state_number) {
                    if tuple.iter().zip(&relation.sorts).all(|at| class_of(at).is_some()) {
                        let mut context = tuple.clone();
                        context[place] = 0;
                        contexts.push((number, place, context));
                    }
                }
            }
        }
        let mut cells = Vec::new();
        for (number, constructor) in signature.constructors.iter().enumerate() {
            for place in (0..constructor.fields.len()).filter(|&place| constructor.fields[place] == sort) {
                for mut cell in tuples(&constructor.fields, &self.sizes).filter(|cell| cell[place] == 0) {
                    cell[place] = state_number;
                    let is_used = cell.iter().zip(&constructor.fields).all(|at| class_of(at).is_some());
                    let value = self.tables[number][self.cell(constructor, cell.iter().copied())];
                    cells.push(if is_used { class_of((&value, &constructor.sort)) } else { None });
                }
            }
        }
        Behaviour { class: classes[sort][state], contexts, cells }
    }
}

/// What distinguishes a state from others: its class, the tuples of relations around it with the place that it has in
/// them, and the classes of the cells where it is a field.
#[derive(PartialEq, Eq, Hash)]
struct Behaviour {
    class: Option<State>,
    contexts: Vec<(usize, usize, Tuple)>,
    cells: Vec<Option<State>>,
}

impl Relation {
    /// Whether no tuple of terms belongs to the relation.
    pub fn is_empty(&self, algebra: &Algebra, signature: &Signature) -> bool {
        let reached = algebra.reachable(signature);
        let is_reached = |tuple: &Tuple| {
            tuple.iter().zip(&self.sorts).all(|(&state, &sort)| reached[sort][usize::from(state)])
        };
        !self.tuples.iter().any(is_reached)
    }

    /// The relation after a translation of states. Tuples with states that no term has are dropped.
    fn image(&self, image: &Image) -> Self {
        let of_tuple = |tuple: &Tuple| -> Option<Tuple> {
            tuple.iter().zip(&self.sorts).map(|(&state, &sort)| image[sort][usize::from(state)]).collect()
        };
        Relation { sorts: self.sorts.clone(), tuples: self.tuples.iter().filter_map(of_tuple).collect() }
    }

    /// The relation over a product in which a tuple belongs to both relations, one, or neither, as `accept` says.
    pub fn combined(
        &self,
        other: &Self,
        pairs: &[Vec<(State, State)>],
        accept: impl Fn(bool, bool) -> bool,
    ) -> Self {
        let sizes: Vec<usize> = pairs.iter().map(Vec::len).collect();
        let side = |tuple: &Tuple, of: fn((State, State)) -> State| -> Tuple {
            tuple.iter().zip(&self.sorts).map(|(&state, &sort)| of(pairs[sort][usize::from(state)])).collect()
        };
        let is_accepted = |tuple: &Tuple| {
            accept(
                self.tuples.contains(&side(tuple, |pair| pair.0)),
                other.tuples.contains(&side(tuple, |pair| pair.1)),
            )
        };
        Relation {
            sorts: self.sorts.clone(),
            tuples: tuples(&self.sorts, &sizes).filter(is_accepted).collect(),
        }
    }
}

/// Whether two automata accept the same tuples of terms; `None` if their product has too many states.
pub fn are_equivalent(
    signature: &Signature,
    left: (&Algebra, &Relation),
    right: (&Algebra, &Relation),
) -> Option<bool> {
    let (product, pairs) = left.0.product(right.0, signature)?;
    let difference = left.1.combined(right.1, &pairs, |left, right| left != right);
    Some(difference.is_empty(&product, signature))
}

/// All tuples of states of the given sorts, the last component changing fastest.
fn tuples<'a>(sorts: &'a [usize], sizes: &'a [usize]) -> impl Iterator<Item = Tuple> + 'a {
    let count = sorts.iter().map(|&sort| sizes[sort]).product::<usize>();
    (0..count).map(move |mut number| {
        let mut tuple: Tuple = vec![0; sorts.len()].into();
        for (state, &sort) in tuple.iter_mut().zip(sorts).rev() {
            *state = (number % sizes[sort]) as State;
            number /= sizes[sort];
        }
        tuple
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_testing::Random;

    /// Sort 0: a and b are constants, f and g have fields. Sort 1: lists of sort 0.
    fn signature() -> Signature {
        let constructor = |sort, fields: &[usize]| Constructor { sort, fields: fields.into() };
        Signature {
            sorts: 2,
            constructors: vec![
                constructor(0, &[]),
                constructor(0, &[]),
                constructor(0, &[0]),
                constructor(0, &[0, 0]),
                constructor(1, &[]),
                constructor(1, &[0, 1]),
            ],
        }
    }

    fn random_algebra(random: &mut Random, signature: &Signature) -> Algebra {
        let sizes: Vec<usize> = (0..signature.sorts).map(|_| 1 + random.below(4)).collect();
        let bounds = sizes.clone();
        Algebra::new(signature, sizes, |constructor, _| {
            random.below(bounds[signature.constructors[constructor].sort]) as State
        })
    }

    fn random_relation(random: &mut Random, algebra: &Algebra, sorts: &[usize]) -> Relation {
        let tuples = tuples(sorts, algebra.sizes()).filter(|_| random.one_in(2)).collect();
        Relation { sorts: sorts.into(), tuples }
    }

    /// The pairs of states that terms up to a height have in two algebras, by sorts.
    fn enumerated(
        signature: &Signature,
        algebras: [&Algebra; 2],
        height: usize,
    ) -> Vec<BTreeSet<(State, State)>> {
        let mut known: Vec<BTreeSet<(State, State)>> = vec![BTreeSet::new(); signature.sorts];
        for _ in 0..height {
            let before: Vec<Vec<(State, State)>> =
                known.iter().map(|of| of.iter().copied().collect()).collect();
            let sizes: Vec<usize> = before.iter().map(Vec::len).collect();
            for (number, constructor) in signature.constructors.iter().enumerate() {
                for cell in tuples(&constructor.fields, &sizes) {
                    let pair = |at: usize| before[constructor.fields[at]][usize::from(cell[at])];
                    let left: Vec<State> = (0..cell.len()).map(|at| pair(at).0).collect();
                    let right: Vec<State> = (0..cell.len()).map(|at| pair(at).1).collect();
                    known[constructor.sort].insert((
                        algebras[0].apply(signature, number, &left),
                        algebras[1].apply(signature, number, &right),
                    ));
                }
            }
        }
        known
    }

    /// Terms of height 20 have all states of such small algebras and all pairs of them.
    #[test]
    fn products_emptiness_and_equivalence_agree_with_enumeration() {
        let mut random = Random::new(4);
        let signature = signature();
        let mut found = [0; 2];
        for _ in 0..200 {
            let (a, b) = (random_algebra(&mut random, &signature), random_algebra(&mut random, &signature));
            let shapes: [&[usize]; 4] = [&[0], &[1], &[0, 1], &[0, 0]];
            let sorts = *random.choose(&shapes);
            let (ra, rb) = (random_relation(&mut random, &a, sorts), random_relation(&mut random, &b, sorts));
            let pairs = enumerated(&signature, [&a, &b], 20);
            let (product, of_product) = a.product(&b, &signature).unwrap();
            for (sort, pairs) in pairs.iter().enumerate() {
                assert_eq!(of_product[sort].iter().copied().collect::<BTreeSet<_>>(), *pairs);
            }
            let lists: Vec<Vec<(State, State)>> =
                pairs.iter().map(|of| of.iter().copied().collect()).collect();
            let sizes: Vec<usize> = lists.iter().map(Vec::len).collect();
            let memberships: Vec<(bool, bool)> = tuples(sorts, &sizes)
                .map(|tuple| {
                    let side = |of: fn((State, State)) -> State| -> Tuple {
                        tuple.iter().zip(sorts).map(|(&at, &sort)| of(lists[sort][usize::from(at)])).collect()
                    };
                    (ra.tuples.contains(&side(|pair| pair.0)), rb.tuples.contains(&side(|pair| pair.1)))
                })
                .collect();
            assert_eq!(ra.is_empty(&a, &signature), memberships.iter().all(|of| !of.0));
            let both = ra.combined(&rb, &of_product, |a, b| a && b);
            assert_eq!(both.is_empty(&product, &signature), memberships.iter().all(|of| !(of.0 && of.1)));
            let equal = are_equivalent(&signature, (&a, &ra), (&b, &rb)).unwrap();
            assert_eq!(equal, memberships.iter().all(|of| of.0 == of.1));
            found[usize::from(equal)] += 1;
        }
        assert!(found[0] > 0 && found[1] > 0, "{found:?}");
    }

    #[test]
    fn minimised_automata_are_equivalent_and_cannot_be_smaller() {
        let mut random = Random::new(5);
        let signature = signature();
        let mut smaller = 0;
        for _ in 0..200 {
            let algebra = random_algebra(&mut random, &signature);
            let relations: Vec<Relation> = [&[0][..], &[1, 0]]
                .iter()
                .map(|sorts| random_relation(&mut random, &algebra, sorts))
                .collect();
            let (least, translated) = algebra.minimised(&signature, &relations);
            for (before, after) in relations.iter().zip(&translated) {
                assert_eq!(are_equivalent(&signature, (&algebra, before), (&least, after)), Some(true));
            }
            smaller += usize::from(least.sizes() != algebra.sizes());
            assert_eq!(least.minimised(&signature, &translated), (least.clone(), translated.clone()));
            // Merging any two states changes a relation or is no congruence: all states are reachable, and the quotient of an
            // equivalent automaton is the same up to the names of states.
            let (product, _) = algebra.product(&least, &signature).unwrap();
            let both: Vec<Relation> = translated
                .iter()
                .zip(&relations)
                .map(|(after, before)| {
                    let (_, pairs) = algebra.product(&least, &signature).unwrap();
                    before.combined(after, &pairs, |before, _| before)
                })
                .collect();
            assert_eq!(product.minimised(&signature, &both).0.sizes(), least.sizes());
        }
        assert!(smaller > 50, "{smaller}");
    }

    /// Example 1 of the thesis: the formulas without variables that are true. Constructors: and, implies, true, false.
    #[test]
    fn true_formulas_are_accepted() {
        let constructor = |fields: usize| Constructor { sort: 0, fields: vec![0; fields].into() };
        let signature = Signature { sorts: 1, constructors: [2, 2, 0, 0].map(constructor).to_vec() };
        let algebra = Algebra::new(&signature, vec![2], |constructor, fields| match constructor {
            0 => fields[0] & fields[1],
            1 => (1 - fields[0]) | fields[1],
            2 => 1,
            _ => 0,
        });
        let apply = |constructor, fields: &[State]| algebra.apply(&signature, constructor, fields);
        let (yes, no) = (apply(2, &[]), apply(3, &[]));
        assert_eq!(apply(0, &[yes, apply(1, &[no, no])]), yes);
        assert_eq!(apply(1, &[apply(0, &[yes, yes]), no]), no);
        assert_eq!(algebra.reachable(&signature), [[true, true]]);
    }
}
