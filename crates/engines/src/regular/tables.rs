//! The search for constructor tables, by the SAT solver.
//!
//! Only tables are searched: they determine the predicates (`fixpoint.rs`). The variables of the formula are
//!
//! ```text
//! value[c, a, b]   the cell of constructor c for the states a has the value b
//! used[s, b]       state b of sort s exists
//! ```
//!
//! and its clauses say, for each cell `(c, a)` of a constructor of sort `s`:
//!
//! ```text
//! T1  value[c, a, b] => used[s, b] and used[a]         values and fields exist
//! T2  not value[c, a, b] or not value[c, a, b']        at most one value
//! T3  used[a] => value[c, a, 0] or .. or value[c, a, n - 1] or used[s, n]      some value, below the bound n
//! T4  used[s, b] => used[s, b - 1];  used[s, 0]        states are a prefix
//! T5  used[s, b] => some cell without fields of sort s, or with such fields below b, has the value b
//! T6  the cells of s in order: a value is at most one greater than all values before
//! ```
//!
//! *Bounds.* A query assumes `not used[s, n]` for the bound `n` of each sort. If there are no tables, the core names
//! the sorts whose bounds are to blame, and one of them grows. T1 to T4 stay true for greater bounds: T3 is replaced by
//! a weaker clause where it says too much. T5 and T6 speak of all cells there are, so a literal that is assumed guards them, a new
//! one for each vector of bounds.
//!
//! *Symmetry.* Every algebra whose states are all values of terms satisfies T5 and T6 after renaming of states, in exactly one way: number
//! the states in the order in which cells first have them, where cells are ordered by their greatest field of sort `s`. If sorts are
//! mutually recursive, the order would mix states of different sorts; there T6 is left out, and T5 allows all cells.
//!
//! *Exclusion.* A violated query depends on cells and states. Their conjunction is excluded for all bounds.
//!
//! *Source.* The encoding follows K. Claessen, N. Sörensson, "New techniques that improve MACE-style finite model finding" (MODEL 2003),
//! without predicates; sizes are bounds as in G. Reger, M. Suda, A. Voronkov, "Finding finite models in multi-sorted
//! first-order logic" (SAT 2016).

use rustc_hash::FxHashMap;
use shofar_run::{Limits, Reason};
use shofar_smt::sat::{Lit, Outcome, Solver, Var};

use super::automaton::{Algebra, Signature, State};
use super::fixpoint::Reads;

/// The greatest number of states of all sorts together.
const MOST_STATES: usize = 24;

/// The greatest number of cells.
const MOST_CELLS: usize = 1 << 14;

/// The tables of a signature.
pub(super) struct TableSearch {
    signature: Signature,
    /// By sorts: the strongly connected component, or `None` for classes of values, whose tables are fixed.
    components: Vec<Option<usize>>,
    /// The greatest bound of a sort.
    most_states: usize,
    solver: Solver,
    /// The bounds; the number of classes for fixed sorts.
    bounds: Vec<usize>,
    /// By sorts and states up to the bound, inclusive. Empty for fixed sorts.
    used: Vec<Vec<Var>>,
    /// By constructors: the cells with the variables of their values. Empty for fixed sorts.
    cells: Vec<FxHashMap<Box<[State]>, Vec<Var>>>,
    /// Guards the clauses for the present bounds.
    guard: Option<Var>,
}

/// The answer for the present bounds.
pub(super) enum Candidate {
    Tables(Algebra),
    /// No tables within the bounds.
    None,
}

impl TableSearch {
    /// Starts with one state of each sort. `components` numbers the strongly connected components of sorts; it is `None` for
    /// sorts with constants only whose states are these constants.
    pub(super) fn new(signature: &Signature, components: Vec<Option<usize>>, most_states: usize) -> Self {
        let classes = |sort: usize| signature.constructors.iter().filter(|c| c.sort == sort).count();
        let bounds = (0..signature.sorts).map(|sort| match components[sort] {
            None => classes(sort),
            Some(_) => 0,
        });
        let mut search = TableSearch {
            signature: signature.clone(),
            bounds: bounds.collect(),
            used: vec![Vec::new(); signature.sorts],
            cells: vec![FxHashMap::default(); signature.constructors.len()],
            components,
            most_states,
            solver: Solver::new(),
            guard: None,
        };
        for sort in (0..signature.sorts).filter(|&sort| search.components[sort].is_some()) {
            let first = search.solver.new_var();
            search.solver.add_clause(&[first.positive()]);
            search.used[sort].push(first);
        }
        let sorts: Vec<usize> =
            (0..signature.sorts).filter(|&sort| search.components[sort].is_some()).collect();
        sorts.iter().for_each(|&sort| search.raise(sort));
        search.make_cells();
        search.guard_order();
        search
    }

    /// The bounds of the sorts that are searched.
    pub(super) fn bounds(&self) -> Vec<usize> {
        (0..self.signature.sorts)
            .filter(|&sort| self.components[sort].is_some())
            .map(|s| self.bounds[s])
            .collect()
    }

    /// Tables within the bounds that are not excluded.
    pub(super) fn candidate(&mut self, limits: &Limits<'_>) -> Result<Candidate, Reason> {
        let mut assumptions: Vec<Lit> = self.guard.iter().map(|guard| guard.positive()).collect();
        assumptions.extend(self.used.iter().filter_map(|used| used.last()).map(|unused| unused.negative()));
        match self.solver.solve_within(&assumptions, limits) {
            Outcome::Sat => Ok(Candidate::Tables(self.tables())),
            Outcome::Unsat => Ok(Candidate::None),
            Outcome::Unknown(reason) => Err(reason),
        }
    }

    fn tables(&self) -> Algebra {
        let is_true = |var: &Var| self.solver.value(*var) == Some(true);
        let size = |sort: usize| match self.components[sort] {
            None => self.bounds[sort],
            Some(_) => self.used[sort].iter().filter(|used| is_true(used)).count(),
        };
        let sizes: Vec<usize> = (0..self.signature.sorts).map(size).collect();
        let fixed = fixed_values(&self.signature, &self.components);
        Algebra::new(&self.signature, sizes, |constructor, fields| match fixed[constructor] {
            Some(state) => state,
            None => {
                let value = self.cells[constructor][fields].iter().position(is_true);
                value.expect("cells of existing states have values, by T3") as State
            }
        })
    }

    /// Excludes all tables that agree with these in the cells and states that were read.
    pub(super) fn exclude(&mut self, algebra: &Algebra, reads: &Reads) {
        let mut clause = Vec::new();
        for &(constructor, cell) in &reads.cells {
            let of = &self.signature.constructors[constructor];
            if self.components[of.sort].is_none() {
                continue;
            }
            let fields = fields_of(&of.fields, algebra.sizes(), cell);
            let value = algebra.table(constructor)[cell];
            clause.push(self.cells[constructor][&fields][usize::from(value)].negative());
        }
        for &(sort, state) in &reads.states {
            if self.components[sort].is_some() {
                clause.push(self.used[sort][usize::from(state)].negative());
            }
        }
        self.solver.add_clause(&clause);
    }

    /// Raises a bound after there were no tables; `false` if no bound can be raised that matters.
    pub(super) fn grow(&mut self) -> bool {
        let core = self.solver.core().to_vec();
        if core.is_empty() {
            return false;
        }
        let is_blamed =
            |sort: usize| self.used[sort].last().is_some_and(|unused| core.contains(&unused.negative()));
        let searched = (0..self.signature.sorts).filter(|&sort| self.components[sort].is_some());
        let may_grow: Vec<usize> = searched.filter(|&sort| self.bounds[sort] < self.most_states).collect();
        let total: usize = self.bounds().iter().sum();
        // Without a sort in the core, the order of cells is to blame, which is another one for other bounds.
        let sort = may_grow.into_iter().min_by_key(|&sort| (!is_blamed(sort), self.bounds[sort], sort));
        let Some(sort) = sort.filter(|_| total < MOST_STATES) else { return false };
        self.raise(sort);
        self.make_cells();
        self.guard_order();
        self.cells.iter().map(FxHashMap::len).sum::<usize>() <= MOST_CELLS
    }

    /// Raises the bound of a sort by one.
    fn raise(&mut self, sort: usize) {
        let next = self.solver.new_var();
        self.solver.set_phase(next.negative());
        let last = *self.used[sort].last().expect("there is a state beyond the bound");
        self.solver.add_clause(&[next.negative(), last.positive()]);
        self.used[sort].push(next);
        self.bounds[sort] += 1;
    }

    /// Makes the cells within the bounds, and gives all cells the values within the bounds (T1 to T3).
    fn make_cells(&mut self) {
        for (number, constructor) in self.signature.constructors.iter().enumerate() {
            if self.components[constructor.sort].is_none() {
                continue;
            }
            let count: usize = constructor.fields.iter().map(|&sort| self.bounds[sort]).product();
            for cell in 0..count {
                let fields = fields_of(&constructor.fields, &self.bounds, cell);
                let arguments: Vec<Lit> = fields
                    .iter()
                    .zip(&constructor.fields)
                    .filter(|&(_, &sort)| self.components[sort].is_some())
                    .map(|(&state, &sort)| self.used[sort][usize::from(state)].positive())
                    .collect();
                let used = &self.used[constructor.sort];
                let bound = self.bounds[constructor.sort];
                let values = self.cells[number].entry(fields).or_default();
                if values.len() == bound {
                    continue;
                }
                for exists in &used[values.len()..bound] {
                    let value = self.solver.new_var();
                    self.solver.set_phase(value.negative());
                    self.solver.add_clause(&[value.negative(), exists.positive()]);
                    for &argument in &arguments {
                        self.solver.add_clause(&[value.negative(), argument]);
                    }
                    for &other in values.iter() {
                        self.solver.add_clause(&[value.negative(), other.negative()]);
                    }
                    values.push(value);
                }
                let mut clause: Vec<Lit> = arguments.iter().map(|&argument| !argument).collect();
                clause.extend(values.iter().map(|value| value.positive()));
                clause.push(used[bound].positive());
                self.solver.add_clause(&clause);
            }
        }
    }

    /// Replaces the clauses T5 and T6 by those for the present bounds.
    fn guard_order(&mut self) {
        if let Some(old) = self.guard {
            self.solver.add_clause(&[old.negative()]);
        }
        let guard = self.solver.new_var();
        self.guard = Some(guard);
        for sort in (0..self.signature.sorts).filter(|&sort| self.components[sort].is_some()) {
            let is_alone = self.components.iter().filter(|&&of| of == self.components[sort]).count() == 1;
            // The cells with their greatest field of the sort, in order.
            let mut cells: Vec<OrderedCell<'_>> = Vec::new();
            for (number, constructor) in self.signature.constructors.iter().enumerate() {
                if constructor.sort == sort {
                    for (fields, values) in sorted(&self.cells[number]) {
                        let own = fields.iter().zip(&constructor.fields).filter(|&(_, &of)| of == sort);
                        cells.push((own.map(|(&state, _)| state).max(), number, fields, values));
                    }
                }
            }
            cells.sort_unstable_by_key(|&(greatest, number, fields, _)| (greatest, number, fields));
            for state in 1..self.bounds[sort] {
                let is_below = |greatest: Option<State>| greatest.is_none_or(|of| usize::from(of) < state);
                let sources = cells.iter().filter(|&&(greatest, ..)| !is_alone || is_below(greatest));
                let mut clause = vec![guard.negative(), self.used[sort][state].negative()];
                clause.extend(sources.map(|(.., values)| values[state].positive()));
                self.solver.add_clause(&clause);
            }
            if !is_alone {
                continue;
            }
            // seen[b]: some cell so far has the value b.
            let mut seen: Vec<Option<Var>> = vec![None; self.bounds[sort]];
            for (.., values) in &cells {
                for state in 1..self.bounds[sort] {
                    let mut clause = vec![guard.negative(), values[state].negative()];
                    clause.extend(seen[state - 1].map(|seen| seen.positive()));
                    self.solver.add_clause(&clause);
                }
                for (seen, value) in seen.iter_mut().zip(*values) {
                    let now = self.solver.new_var();
                    let mut clause = vec![now.negative(), value.positive()];
                    clause.extend(seen.map(|before| before.positive()));
                    self.solver.add_clause(&clause);
                    *seen = Some(now);
                }
            }
        }
    }
}

/// The greatest field of the cell's own sort, the constructor, the fields, and the variables of the values.
type OrderedCell<'a> = (Option<State>, usize, &'a [State], &'a [Var]);

/// By constructors: the state of a constant of a sort whose states are its constants.
fn fixed_values(signature: &Signature, components: &[Option<usize>]) -> Vec<Option<State>> {
    let mut next: Vec<State> = vec![0; signature.sorts];
    let value = |constructor: &super::automaton::Constructor| {
        components[constructor.sort].is_none().then(|| {
            next[constructor.sort] += 1;
            next[constructor.sort] - 1
        })
    };
    signature.constructors.iter().map(value).collect()
}

/// Cells in the order of their fields.
fn sorted(cells: &FxHashMap<Box<[State]>, Vec<Var>>) -> Vec<(&[State], &[Var])> {
    let mut cells: Vec<(&[State], &[Var])> = cells.iter().map(|(f, v)| (&**f, v.as_slice())).collect();
    cells.sort_unstable_by_key(|&(fields, _)| fields);
    cells
}

/// The fields of a cell, by its number in a table of the given sizes.
fn fields_of(sorts: &[usize], sizes: &[usize], mut cell: usize) -> Box<[State]> {
    let mut fields: Box<[State]> = vec![0; sorts.len()].into();
    for (state, &sort) in fields.iter_mut().zip(sorts).rev() {
        *state = (cell % sizes[sort]) as State;
        cell /= sizes[sort];
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::super::automaton::Constructor;
    use super::*;

    /// The number of different tables up to a number of states, for one sort with constructors of these arities.
    fn count(arities: &[usize], states: usize) -> usize {
        let constructors =
            arities.iter().map(|&arity| Constructor { sort: 0, fields: vec![0; arity].into() });
        let signature = Signature { sorts: 1, constructors: constructors.collect() };
        let mut search = TableSearch::new(&signature, vec![Some(0)], states);
        let mut found = 0;
        loop {
            match search.candidate(&Limits::default()).unwrap() {
                Candidate::Tables(algebra) => {
                    assert!(algebra.reachable(&signature)[0].iter().all(|&is_reached| is_reached));
                    let cells = (0..arities.len()).flat_map(|constructor| {
                        (0..algebra.table(constructor).len()).map(move |cell| (constructor, cell))
                    });
                    // An algebra with fewer states is another one.
                    let states = vec![(0, algebra.sizes()[0] as State - 1)];
                    search.exclude(&algebra, &Reads { cells: cells.collect(), states });
                    found += 1;
                }
                Candidate::None => {
                    if !search.grow() {
                        return found;
                    }
                }
            }
        }
    }

    /// A constant and a unary function: the algebra with `n` states is a path of `n` states that returns to one of them, so
    /// there are `n` of them.
    #[test]
    fn each_algebra_is_found_once() {
        assert_eq!(count(&[0, 1], 1), 1);
        assert_eq!(count(&[0, 1], 5), 1 + 2 + 3 + 4 + 5);
        // Two constants: equal or different.
        assert_eq!(count(&[0, 0], 4), 2);
        // Initially connected deterministic automata with two letters: 1, 12, 216.
        assert_eq!(count(&[0, 1, 1], 3), 1 + 12 + 216);
        // A constant and a binary function: with two states f(0, 0) = 1, and the other three cells are free.
        assert_eq!(count(&[0, 2], 2), 1 + 8);
    }
}
