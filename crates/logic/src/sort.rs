//! Sorts and declared symbols.

use std::sync::OnceLock;

/// A name, interned in a [`TermStore`](crate::TermStore).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(pub(crate) u32);

/// A sort, interned in a [`TermStore`](crate::TermStore).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sort(pub(crate) u32);

impl Sort {
    /// `Bool`, in every store.
    pub const BOOL: Sort = Sort(0);
    /// `Int`, in every store.
    pub const INT: Sort = Sort(1);
    /// `Real`, in every store.
    pub const REAL: Sort = Sort(2);

    /// Whether this is `Int` or `Real`.
    pub fn is_arithmetic(self) -> bool {
        self == Sort::INT || self == Sort::REAL
    }
}

/// The largest width of bit-vectors that is read or results from an operation. Without a bound, a script of a few bytes
/// could ask for gigabytes; numbers of this many bits are computable.
pub const MAX_WIDTH: u32 = 1 << 20;

/// The kind of a sort.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SortKind {
    /// Truth values.
    Bool,
    /// Mathematical integers.
    Int,
    /// Mathematical reals; all constants are rational.
    Real,
    /// Bit-vectors of a positive width.
    BitVec(u32),
    /// Extensional arrays from index to element sort.
    Array(Sort, Sort),
    /// An algebraic datatype.
    Datatype(DatatypeId),
    /// A declared sort without interpretation, applied to its parameters.
    Uninterpreted(Symbol, Box<[Sort]>),
}

/// A datatype of a [`TermStore`](crate::TermStore).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DatatypeId(pub(crate) u32);

/// A datatype. Each instance of a parametric datatype is a separate datatype.
#[derive(Clone, Debug)]
pub struct Datatype {
    /// Its name, without parameters.
    pub name: Symbol,
    /// The sorts it was instantiated with. In a parametric declaration they are uninterpreted sorts with the names of
    /// the parameters.
    pub params: Box<[Sort]>,
    /// The parametric declaration this is an instance of.
    pub template: Option<Sort>,
    pub(crate) definition: OnceLock<Definition>,
}

/// The definition of a datatype.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) group: Box<[Sort]>,
    pub(crate) constructors: Box<[ConstructorId]>,
}

impl Datatype {
    /// The datatypes declared together with this one, including itself, in the order of their declaration. Empty before
    /// [`define_datatypes`](crate::TermStore::define_datatypes).
    pub fn group(&self) -> &[Sort] {
        self.definition.get().map_or(&[], |d| &d.group)
    }

    /// The constructors in the order of their declaration. Empty before
    /// [`define_datatypes`](crate::TermStore::define_datatypes).
    pub fn constructors(&self) -> &[ConstructorId] {
        self.definition.get().map_or(&[], |d| &d.constructors)
    }
}

/// A constructor of a datatype.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConstructorId(pub(crate) u32);

/// A constructor with its fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constructor {
    /// Its name.
    pub name: Symbol,
    /// The datatype of its values.
    pub sort: Sort,
    /// Its position among the constructors of the datatype.
    pub index: u32,
    /// The selectors' names and the fields' sorts.
    pub fields: Box<[(Symbol, Sort)]>,
}

/// A constructor as an argument of [`define_datatypes`](crate::TermStore::define_datatypes).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConstructorSpec {
    /// Its name.
    pub name: Symbol,
    /// The selectors' names and the fields' sorts.
    pub fields: Vec<(Symbol, Sort)>,
}

/// A declared function symbol without interpretation. Horn predicates are such symbols with range `Bool`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fun(pub(crate) u32);

/// Name and sorts of a function symbol. Two declarations that agree in all of them are one symbol.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunDecl {
    /// Its name.
    pub name: Symbol,
    /// The sorts of its arguments; empty for a constant.
    pub domain: Box<[Sort]>,
    /// The sort of its values.
    pub range: Sort,
}
