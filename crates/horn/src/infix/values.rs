//! Values as people write them.
//!
//! | value | text |
//! |---|---|
//! | `cons(1, cons(2, nil))` | `[1, 2]` |
//! | `succ(succ(zero))` | `2` |
//! | `entry(1, true, end)` | `[(1, true)]` |
//! | `node(leaf, succ(zero), leaf)` | `node(leaf, 1, leaf)` |
//! | a list of 100 numbers | `[0, 1, 2, …, 98, 99] (100 elements)` |
//! | a tree of 4000 symbols | `node(node(…), 7, leaf) (4000 symbols)` |
//!
//! Lists and Peano numbers are recognised by the shape of their datatypes ([`List`], `Peano`), not by names. All texts for
//! people show values through [`ValueTexts`].
//!
//! - V1: a value that needs more characters than allowed is shortened in the middle, and its text says how long it is.
//! - V2: work and memory are linear in the distinct terms of all values, also if their trees are exponentially larger. Every
//!   term is measured once.
//!
//! In SMT-LIB there is no shorter text: a long value is cut behind its first symbols.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{ConstructorId, List, Op, Peano, Sort, Term, TermStore, Value};

use super::{Fit, Notation, terms};
use crate::system::HornSystem;

/// The symbols of a value that is not to be shortened. Beyond that it is shortened all the same: a tree may be exponentially
/// larger than its graph.
const MOST_SYMBOLS: u32 = 1_000_000;

/// The most elements that are shown behind those that are left out.
const MOST_LAST: u32 = 64;

/// The characters of an index in the name of an element.
const MOST_INDEX_CHARACTERS: usize = 30;

/// The texts of values in a notation.
pub struct ValueTexts<'a> {
    store: &'a TermStore,
    notation: Notation,
    /// The measures of all terms of datatypes in the values so far.
    measures: RefCell<FxHashMap<Term, Measure>>,
}

/// The size of a value.
#[derive(Clone, Copy)]
struct Measure {
    /// Symbols of its text.
    symbols: u32,
    /// Symbols of its term, as a tree.
    size: u32,
    /// The number or the length, for Peano numbers and lists.
    length: u32,
    /// For lists, the cell from which on [`MOST_LAST`] elements or fewer follow.
    end: Term,
    /// Whether it has lists or Peano numbers in it.
    is_told: bool,
}

/// The shape of a datatype.
#[derive(Clone, Copy)]
enum Shape {
    Number,
    List(List),
    Other,
}

/// What is still to be written.
enum Part {
    Text(String),
    /// A value with at most so many symbols.
    Value(Term, u32),
}

impl<'a> ValueTexts<'a> {
    /// Texts of values of the store.
    pub fn new(store: &'a TermStore, notation: Notation) -> Self {
        ValueTexts { store, notation, measures: RefCell::default() }
    }

    /// The text of a value with at most so many characters (V1). It is longer only if names or numbers are;
    /// `usize::MAX` asks for the whole value.
    pub fn text(&self, value: &Value, characters: usize) -> String {
        let (store, notation) = (self.store, self.notation);
        let Value::Term(term) = *value else {
            return match (notation, value) {
                (Notation::Smtlib, Value::Int(number)) => number.to_string(),
                (Notation::Smtlib, Value::Real(number)) => number.to_string(),
                _ => notation.term(store, store.value_to_term(value), Fit::line(usize::MAX)),
            };
        };
        let most = u32::try_from(characters).unwrap_or(MOST_SYMBOLS);
        let Measure { symbols, size, .. } = self.measure(term);
        if notation == Notation::Smtlib {
            return match size > most && characters < usize::MAX {
                true => format!("{}{}", self.first_symbols(term, most), notation.ellipsis()),
                false => notation.term(store, term, Fit::line(usize::MAX)),
            };
        }
        if !matches!(store.op(term), Op::Construct(_)) {
            return notation.term(store, term, Fit::line(characters));
        }
        // A symbol takes about two characters with what separates it from the next one, and three in a list.
        let mut most = match characters {
            usize::MAX => most.min(symbols),
            _ if symbols <= most / 2 => symbols,
            _ => most / 3,
        };
        loop {
            let text = self.shortened(term, most);
            // With so few symbols nothing but the names is left.
            if most <= 4 || text.chars().count() <= characters {
                return text;
            }
            most -= (most / 8).max(1);
        }
    }

    /// The changes of an array, one text for each element: `a[3]: 0 → 7`, or `a[3][4]: 1 → 2` for an array of arrays. If there are
    /// more than `most` texts, the last one counts those that are left out. `None` if the values are no arrays, or if they have
    /// different defaults.
    pub fn changes(
        &self,
        name: &str,
        before: &Value,
        after: &Value,
        characters: usize,
        most: usize,
    ) -> Option<Vec<String>> {
        let mut open = self.changed_elements(name, before, after)?;
        let mut texts = Vec::new();
        while let Some((name, before, after)) = open.pop() {
            if let Some(elements) = self.changed_elements(&name, &before, &after) {
                open.extend(elements);
            } else if texts.len() + 1 < most || open.is_empty() {
                let [before, after] = [before, after].map(|value| self.text(&value, characters));
                texts.push(format!("{name}: {before} {} {after}", self.notation.arrow()));
            } else {
                texts.push(format!("{name} and {} more", open.len()));
                break;
            }
        }
        Some(texts)
    }

    /// The elements in which two arrays differ, the last first, with names and values, if these are finitely many.
    fn changed_elements(
        &self,
        name: &str,
        before: &Value,
        after: &Value,
    ) -> Option<Vec<(String, Value, Value)>> {
        let (old, default) = self.store.array_entries(before)?;
        let (new, same) = self.store.array_entries(after)?;
        if default != same {
            return None;
        }
        let mut old: FxHashMap<Value, Value> = old.into_iter().collect();
        let mut changed = Vec::new();
        for (index, element) in new {
            let before = old.remove(&index).unwrap_or_else(|| default.clone());
            if before != element {
                changed.push((index, before, element));
            }
        }
        let reset = old.into_iter().map(|(index, before)| (index, before, default.clone()));
        changed.extend(reset);
        changed.sort_by(|(a, ..), (b, ..)| self.store.compare_values(b, a));
        Some(
            changed
                .into_iter()
                .map(|(index, before, after)| (self.element(name, &index), before, after))
                .collect(),
        )
    }

    /// The name of an element of an array.
    fn element(&self, array: &str, index: &Value) -> String {
        let index = self.text(index, MOST_INDEX_CHARACTERS);
        match self.notation {
            Notation::Smtlib => format!("(select {array} {index})"),
            _ => format!("{array}[{index}]"),
        }
    }

    /// Whether the text of a value differs from its term because there are lists or Peano numbers in it.
    pub fn is_told(&self, value: &Value) -> bool {
        match *value {
            Value::Term(term) => self.notation != Notation::Smtlib && self.measure(term).is_told,
            _ => false,
        }
    }

    fn shape(&self, term: Term) -> Shape {
        let (store, sort) = (self.store, self.store.sort_of(term));
        if !matches!(store.op(term), Op::Construct(_)) {
            return Shape::Other;
        }
        match (store.peano(sort), store.list(sort)) {
            (Some(_), _) => Shape::Number,
            (None, Some(list)) => Shape::List(list),
            (None, None) => Shape::Other,
        }
    }

    /// The measure of a term; those of its parts become known, too.
    fn measure(&self, root: Term) -> Measure {
        let store = self.store;
        let mut measures = self.measures.borrow_mut();
        if let Some(&known) = measures.get(&root) {
            return known;
        }
        for term in store.subterms_until(&[root], |term| measures.contains_key(&term)) {
            if measures.contains_key(&term) {
                continue;
            }
            let args = store.args(term);
            let sum = |of: fn(&Measure) -> u32| {
                args.iter().map(|arg| of(&measures[arg])).fold(1, u32::saturating_add)
            };
            let shape = self.shape(term);
            let (symbols, length, end) = match shape {
                Shape::Number => {
                    (1, args.first().map_or(0, |arg| measures[arg].length.saturating_add(1)), term)
                }
                Shape::List(list) => match list.tail(store, term).map(|tail| measures[&tail]) {
                    Some(Measure { length, end, .. }) => {
                        let end = if length < MOST_LAST { term } else { end };
                        (sum(|measure| measure.symbols) - 1, length.saturating_add(1), end)
                    }
                    None => (1, 0, term),
                },
                Shape::Other => (sum(|measure| measure.symbols), 0, term),
            };
            let size = sum(|measure| measure.size);
            let is_told = !matches!(shape, Shape::Other) || args.iter().any(|arg| measures[arg].is_told);
            measures.insert(term, Measure { symbols, size, length, end, is_told });
        }
        measures[&root]
    }

    /// The text with about so many symbols at most.
    fn shortened(&self, root: Term, most: u32) -> String {
        let mut text = String::new();
        let mut open = vec![Part::Value(root, most)];
        while let Some(part) = open.pop() {
            match part {
                Part::Text(part) => text.push_str(&part),
                Part::Value(term, most) => open.extend(self.parts(term, most).into_iter().rev()),
            }
        }
        let symbols = self.measure(root).symbols;
        if symbols > most
            && matches!((self.shape(root), self.store.op(root)), (Shape::Other, Op::Construct(_)))
        {
            let count = match symbols {
                u32::MAX => "billions of".to_owned(),
                _ => symbols.to_string(),
            };
            text.push_str(&format!(" ({count} symbols)"));
        }
        text
    }

    fn parts(&self, term: Term, most: u32) -> Vec<Part> {
        let store = self.store;
        match (self.shape(term), store.view(term)) {
            (Shape::Number, _) => vec![Part::Text(self.measure(term).length.to_string())],
            (Shape::List(list), _) => self.list(list, term, most),
            (Shape::Other, (Op::Construct(_), [_, ..])) if most < 2 => {
                vec![Part::Text(self.notation.ellipsis().to_owned())]
            }
            (Shape::Other, (Op::Construct(id), fields)) => {
                let name = terms::name(store.name(store.constructor(id).name));
                if fields.is_empty() {
                    return vec![Part::Text(name)];
                }
                let mut parts = vec![Part::Text(format!("{name}("))];
                parts.extend(self.separated(fields, most - 1));
                parts.push(Part::Text(")".to_owned()));
                parts
            }
            (_, (Op::Numeral(number), _)) => {
                let number = store.rational(number);
                let minus = match self.notation {
                    _ if !number.is_negative() => "",
                    Notation::Math => "−",
                    Notation::Ascii | Notation::Smtlib => "-",
                };
                vec![Part::Text(format!("{minus}{}", number.abs()))]
            }
            _ => vec![Part::Text(self.notation.term(store, term, Fit::line(most.max(1) as usize)))],
        }
    }

    /// Values with commas between them. Small ones get the symbols that they need, large ones share the rest.
    fn separated(&self, values: &[Term], most: u32) -> Vec<Part> {
        let mut by_size: Vec<(u32, usize)> =
            values.iter().enumerate().map(|(place, &value)| (self.measure(value).symbols, place)).collect();
        by_size.sort_unstable();
        let mut shares = vec![0; values.len()];
        let (mut left, mut others) = (most, values.len() as u32);
        for (symbols, place) in by_size {
            shares[place] = symbols.min(left / others);
            left -= shares[place];
            others -= 1;
        }
        let mut parts = Vec::new();
        for (place, (&value, share)) in values.iter().zip(shares).enumerate() {
            if place > 0 {
                parts.push(Part::Text(", ".to_owned()));
            }
            parts.push(Part::Value(value, share));
        }
        parts
    }

    /// A list: all elements, or the first and the last ones and their number.
    fn list(&self, list: List, term: Term, most: u32) -> Vec<Part> {
        let store = self.store;
        let Measure { symbols, length, end, .. } = self.measure(term);
        // An element has at least one symbol, so no more cells than symbols are needed.
        let cells_from = |start: Term, count: u32| -> Vec<Term> {
            let next = |&cell: &Term| list.tail(store, cell);
            let cells = std::iter::successors(Some(start), next);
            cells.take_while(|&cell| list.tail(store, cell).is_some()).take(count as usize).collect()
        };
        let is_short = symbols <= most;
        let weight = |cell: Term| {
            list.element(store, cell).map(|part| self.measure(part).symbols).fold(0, u32::saturating_add)
        };
        // No single element takes all of the space.
        let largest = if is_short { u32::MAX } else { (most / 4).max(2) };
        let fitting = |cells: &mut dyn Iterator<Item = &Term>, most: u32| {
            let sums = cells.scan(0_u32, |sum, &cell| {
                *sum = sum.saturating_add(weight(cell).min(largest));
                Some(*sum)
            });
            sums.take_while(|&sum| sum <= most).count()
        };
        let (first, last) = match is_short {
            true => (cells_from(term, length), Vec::new()),
            false => {
                let mut last = cells_from(end, MOST_LAST);
                last.drain(..last.len() - fitting(&mut last.iter().rev(), most / 3));
                let mut first = cells_from(term, most.min(length - last.len() as u32));
                first.truncate(fitting(&mut first.iter(), most - most / 3));
                (first, last)
            }
        };
        let mut parts = vec![Part::Text("[".to_owned())];
        let element = |parts: &mut Vec<Part>, cell: Term| {
            if parts.len() > 1 {
                parts.push(Part::Text(", ".to_owned()));
            }
            let fields: Vec<Term> = list.element(store, cell).collect();
            match fields[..] {
                [field] => parts.push(Part::Value(field, largest)),
                _ => {
                    parts.push(Part::Text("(".to_owned()));
                    parts.extend(self.separated(&fields, largest));
                    parts.push(Part::Text(")".to_owned()));
                }
            }
        };
        first.iter().for_each(|&cell| element(&mut parts, cell));
        let is_cut = first.len() + last.len() < length as usize;
        if is_cut {
            let comma = if parts.len() > 1 { ", " } else { "" };
            parts.push(Part::Text(format!("{comma}{}", self.notation.ellipsis())));
        }
        last.iter().for_each(|&cell| element(&mut parts, cell));
        parts.push(Part::Text(if is_cut { format!("] ({length} elements)") } else { "]".to_owned() }));
        parts
    }

    /// The first symbols of a term in SMT-LIB.
    fn first_symbols(&self, root: Term, most: u32) -> String {
        let store = self.store;
        let mut text = String::new();
        let mut open = vec![root];
        for _ in 0..most {
            let Some(term) = open.pop() else { break };
            let space = if text.is_empty() { "" } else { " " };
            match store.view(term) {
                (op, [_, ..]) => text.push_str(&format!("{space}({}", store.display_op(op))),
                _ => text.push_str(&format!("{space}{}", store.display(term))),
            }
            open.extend(store.args(term).iter().rev());
        }
        text
    }
}

impl Notation {
    /// A value with at most so many characters; see [`ValueTexts`], which is faster for many values.
    pub fn value(self, store: &TermStore, value: &Value, characters: usize) -> String {
        ValueTexts::new(store, self).text(value, characters)
    }

    /// How lists and Peano numbers of a system are written: `[x, y] is cons(x, cons(y, nil))`. Empty if there are none, and
    /// in SMT-LIB.
    pub fn legend(self, store: &TermStore, system: &HornSystem) -> Vec<String> {
        if self == Notation::Smtlib {
            return Vec::new();
        }
        let predicates = system.predicates().flat_map(|(_, fun)| store.fun_decl(fun).domain.iter().copied());
        let variables = system.clauses.iter().flat_map(|clause| &clause.variables);
        let mut open: Vec<Sort> =
            predicates.chain(variables.map(|&variable| store.sort_of(variable))).collect();
        open.reverse();
        let mut seen: FxHashSet<Sort> = FxHashSet::default();
        let mut legend = Vec::new();
        while let Some(sort) = open.pop() {
            if !seen.insert(sort) {
                continue;
            }
            let name = |id: ConstructorId| terms::name(store.name(store.constructor(id).name));
            if let Some(Peano { zero, successor }) = store.peano(sort) {
                let (zero, successor) = (name(zero), name(successor));
                legend.push(format!("0 is {zero}, 2 is {successor}({successor}({zero}))"));
            } else if let Some(List { empty, cell, tail }) = store.list(sort) {
                let (empty, cell_name) = (name(empty), name(cell));
                let width = store.constructor(cell).fields.len();
                let applied = |letter: &str, below: &str| {
                    let field = |place: usize| match width {
                        _ if place == tail => below.to_owned(),
                        2 => letter.to_owned(),
                        _ => format!("{letter}{}", if place < tail { place + 1 } else { place }),
                    };
                    let fields: Vec<String> = (0..width).map(field).collect();
                    format!("{cell_name}({})", fields.join(", "))
                };
                let element = |letter: &str| match width {
                    2 => letter.to_owned(),
                    _ => {
                        let fields: Vec<String> =
                            (1..width).map(|place| format!("{letter}{place}")).collect();
                        format!("({})", fields.join(", "))
                    }
                };
                let two = applied("x", &applied("y", &empty));
                legend.push(format!("[] is {empty}, [{}, {}] is {two}", element("x"), element("y")));
            }
            let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
            let fields = constructors.iter().flat_map(|&id| store.constructor(id).fields.iter());
            open.extend(fields.map(|&(_, sort)| sort).collect::<Vec<_>>().into_iter().rev());
            open.extend(store.array_parts(sort).into_iter().flat_map(|(index, element)| [element, index]));
        }
        legend
    }
}
