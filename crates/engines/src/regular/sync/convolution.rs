//! Full convolution: tuples of terms as terms over tuples of constructors.
//!
//! A synchronous automaton reads several terms at the same time. Its input is their *full convolution*: the root is the tuple of
//! the roots, and there is a child for each choice of one field from every component. Components without fields are dropped:
//!
//! ```text
//! (node(a, b), succ(c))   =   <node, succ>((a, c), (b, c))          (zero, succ(c))   =   <zero, succ>((c))
//! ```
//!
//! A *shape* is the tuple of the sorts of the components. Shapes are the sorts of a many-sorted signature, and the *letters*,
//! tuples of constructors, are its constructors. So an algebra over this signature is a synchronous automaton, and the search for
//! tables stays the same. Fields that are not datatypes are children of their own, and have classes as states; those with one
//! class only are left out.
//!
//! Convolution is one-to-one, but not every term over letters is a convolution: its children have common components. What is
//! computed for all terms over letters holds of convolutions.
//!
//! *Source.* Yu. Kostyukov, thesis, section 3.1; there, components that have ended are padded. Dropping them is as expressive,
//! since states may say which components are left.

use rustc_hash::FxHashMap;
use shofar_logic::{ConstructorId, Sort, TermStore};

use super::super::automaton::{Constructor, Signature};
use super::super::classes::Partition;
use super::super::encode::components;

/// The greatest number of children of a letter.
pub(super) const MOST_CHILDREN: usize = 8;

/// The greatest numbers of shapes and letters.
const MOST_SHAPES: usize = 48;
const MOST_LETTERS: usize = 512;

/// The sorts of the components: datatypes, or one other sort.
pub(super) type Shape = Box<[Sort]>;

/// One field of some components, or one field that is not of a datatype.
pub(super) type Child = Vec<(usize, u32)>;

/// A tuple of constructors.
pub(super) struct Letter {
    pub(super) constructors: Box<[ConstructorId]>,
    pub(super) children: Vec<Child>,
}

/// The shapes that occur in the convolutions of some tuples.
pub(super) struct Convolution {
    pub(super) partition: Partition,
    pub(super) signature: Signature,
    /// By shapes: the strongly connected component, `None` for other sorts than datatypes.
    pub(super) components: Vec<Option<usize>>,
    pub(super) shapes: Vec<Shape>,
    /// By the signature's constructors: the letter, `None` for classes.
    pub(super) letters: Vec<Option<Letter>>,
    numbers: FxHashMap<Shape, usize>,
    by_constructors: FxHashMap<Box<[ConstructorId]>, usize>,
}

impl Convolution {
    /// The convolution of tuples of these shapes; `None` if it is too large.
    pub(super) fn new(store: &TermStore, partition: Partition, roots: &[Shape]) -> Option<Self> {
        let mut convolution = Convolution {
            partition,
            signature: Signature::default(),
            components: Vec::new(),
            shapes: Vec::new(),
            letters: Vec::new(),
            numbers: FxHashMap::default(),
            by_constructors: FxHashMap::default(),
        };
        for shape in roots {
            convolution.add(shape);
        }
        let mut next = 0;
        while next < convolution.shapes.len() {
            if next >= MOST_SHAPES || convolution.letters.len() > MOST_LETTERS {
                return None;
            }
            let shape = convolution.shapes[next].clone();
            convolution.add_letters(store, next, &shape)?;
            next += 1;
        }
        convolution.signature.sorts = next;
        let is_datatype: Vec<bool> =
            convolution.shapes.iter().map(|shape| store.datatype(shape[0]).is_some()).collect();
        convolution.components = components(&convolution.signature, &is_datatype);
        Some(convolution)
    }

    fn add(&mut self, shape: &Shape) -> usize {
        let next = self.shapes.len();
        let number = *self.numbers.entry(shape.clone()).or_insert(next);
        if number == next {
            self.shapes.push(shape.clone());
        }
        number
    }

    fn add_letters(&mut self, store: &TermStore, number: usize, shape: &Shape) -> Option<()> {
        if store.datatype(shape[0]).is_none() {
            for _ in 0..self.partition.len(shape[0]) {
                self.signature.constructors.push(Constructor { sort: number, fields: [].into() });
                self.letters.push(None);
            }
            return Some(());
        }
        for constructors in letters(store, shape)? {
            let children = children(store, &self.partition, &constructors);
            if children.len() > MOST_CHILDREN {
                return None;
            }
            let sort = |&(component, field): &(usize, u32)| {
                store.constructor(constructors[component]).fields[field as usize].1
            };
            let shapes: Vec<Shape> = children.iter().map(|child| child.iter().map(sort).collect()).collect();
            let fields = shapes.iter().map(|shape| self.add(shape)).collect();
            self.by_constructors.insert(constructors.clone(), self.letters.len());
            self.signature.constructors.push(Constructor { sort: number, fields });
            self.letters.push(Some(Letter { constructors, children }));
        }
        Some(())
    }

    /// The number of a shape; `None` if it does not occur.
    pub(super) fn shape(&self, shape: &[Sort]) -> Option<usize> {
        self.numbers.get(shape).copied()
    }

    /// The letter of some constructors, with its number among the signature's constructors.
    pub(super) fn letter(&self, constructors: &[ConstructorId]) -> Option<(usize, &Letter)> {
        let &number = self.by_constructors.get(constructors)?;
        Some((number, self.letters[number].as_ref()?))
    }
}

/// The fields of a constructor that are of datatypes.
pub(super) fn structured_fields(store: &TermStore, constructor: ConstructorId) -> Vec<u32> {
    let fields = store.constructor(constructor).fields.iter().enumerate();
    let structured = fields.filter(|(_, (_, sort))| store.datatype(*sort).is_some());
    structured.map(|(field, _)| field as u32).collect()
}

/// The fields of a constructor whose classes are distinguished.
pub(super) fn scalar_fields(
    store: &TermStore,
    partition: &Partition,
    constructor: ConstructorId,
) -> Vec<u32> {
    let fields = store.constructor(constructor).fields.iter().enumerate();
    let is_scalar = |sort: Sort| store.datatype(sort).is_none() && partition.len(sort) > 1;
    fields.filter(|(_, (_, sort))| is_scalar(*sort)).map(|(field, _)| field as u32).collect()
}

/// All tuples of constructors of a shape; `None` if there are too many.
fn letters(store: &TermStore, shape: &[Sort]) -> Option<Vec<Box<[ConstructorId]>>> {
    let mut tuples: Vec<Vec<ConstructorId>> = vec![Vec::new()];
    for &sort in shape {
        let constructors = store.datatype(sort)?.constructors();
        if tuples.len() * constructors.len() > MOST_LETTERS {
            return None;
        }
        let longer = |tuple: &Vec<ConstructorId>| {
            let tuple = tuple.clone();
            constructors.iter().map(move |&id| tuple.iter().copied().chain([id]).collect::<Vec<_>>())
        };
        tuples = tuples.iter().flat_map(longer).collect();
    }
    Some(tuples.into_iter().map(Vec::into_boxed_slice).collect())
}

/// The children of a letter.
fn children(store: &TermStore, partition: &Partition, constructors: &[ConstructorId]) -> Vec<Child> {
    let mut tuples: Vec<Child> = vec![Vec::new()];
    for (component, &id) in constructors.iter().enumerate() {
        let fields = structured_fields(store, id);
        if !fields.is_empty() {
            let longer = |tuple: &Child| {
                let tuple = tuple.clone();
                fields
                    .iter()
                    .map(move |&field| tuple.iter().copied().chain([(component, field)]).collect::<Child>())
            };
            tuples = tuples.iter().flat_map(longer).take(MOST_CHILDREN + 1).collect();
        }
    }
    tuples.retain(|tuple| !tuple.is_empty());
    for (component, &id) in constructors.iter().enumerate() {
        tuples.extend(scalar_fields(store, partition, id).into_iter().map(|field| vec![(component, field)]));
    }
    tuples
}
