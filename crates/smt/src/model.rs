//! Models of formulas, from what the search and its theories found.
//!
//! Numbers have the values that arithmetic gives them. A class of nodes is a number, a truth value, or an element of
//! its declared sort, different classes being different elements. A function is a table with one line for each of
//! its applications, and the default value of its range elsewhere; the combination of theories sees to it that no two
//! lines contradict each other. Division by zero is such a function too.

use rustc_hash::FxHashMap;
use shofar_logic::number::Rational;
use shofar_logic::{Assignment, Fun, Interpretation, Op, Sort, Term, TermStore, Value};

use crate::sat::Var;
use crate::theory::combination::CombinedModel;
use crate::theory::{arith, euf};

/// What symbols are to the search and to the theories.
#[derive(Default)]
pub(crate) struct Symbols {
    /// The variables of arithmetic for symbols and applications.
    pub(crate) numbers: FxHashMap<Term, arith::Var>,
    /// Boolean variables and constants, with their variables in the search.
    pub(crate) booleans: Vec<(Term, Var)>,
    /// The nodes of symbols and applications.
    pub(crate) nodes: FxHashMap<Term, euf::Node>,
    /// The symbols of congruence for functions with arguments, which are operators.
    pub(crate) functions: FxHashMap<Op, euf::Symbol>,
    /// The terms of variables of arithmetic and of nodes, casts aside, if proofs are wanted.
    pub(crate) number_terms: FxHashMap<arith::Var, Term>,
    pub(crate) node_terms: FxHashMap<euf::Node, Term>,
}

impl Symbols {
    /// Meanings for the symbols of the formulas, and for division by zero.
    pub(crate) fn model(
        &self,
        store: &TermStore,
        formulas: &[Term],
        theories: &CombinedModel,
        truth: impl Fn(Var) -> bool,
    ) -> Assignment {
        let mut model = Assignment::new();
        let mut elements =
            Elements { store, theories, numbers: FxHashMap::default(), used: FxHashMap::default() };
        let mentioned = store.symbols(formulas);
        let (constants, functions): (Vec<Fun>, Vec<Fun>) =
            mentioned.funs.iter().partition(|&&fun| store.fun_decl(fun).domain.is_empty());
        let constants = constants.iter().map(|&fun| store.apply(fun, &[]).expect("it takes no arguments"));
        for symbol in mentioned.vars.iter().copied().chain(constants) {
            let sort = store.sort_of(symbol);
            let value = match (self.numbers.get(&symbol), self.nodes.get(&symbol)) {
                (Some(var), _) => number(sort, &theories.numbers[var.index()]),
                (None, Some(node)) => elements.value(theories.classes.class_of[node.0 as usize], sort),
                (None, None) => store.default_value(sort),
            };
            model.set(symbol, value);
        }
        for &(term, var) in &self.booleans {
            if model.get(term).is_some() {
                model.set(term, Value::Bool(truth(var)));
            }
        }
        for fun in functions {
            let decl = store.fun_decl(fun);
            let entries = self.table(Op::Apply(fun), &decl.domain, decl.range, &mut elements).collect();
            let default = Some(store.default_value(decl.range));
            model.set_function(fun, Interpretation::Table { entries, default });
        }
        for (op, sort) in [(Op::IntDiv, Sort::INT), (Op::Mod, Sort::INT), (Op::RealDiv, Sort::REAL)] {
            model.set_open_default(op, number(sort, &Rational::ZERO));
            for (args, value) in self.table(op, &[sort, sort], sort, &mut elements) {
                model.set_open_case(op, &args, value);
            }
        }
        model
    }

    /// The lines of a function's table.
    fn table(
        &self,
        function: Op,
        domain: &[Sort],
        range: Sort,
        elements: &mut Elements<'_>,
    ) -> impl Iterator<Item = (Box<[Value]>, Value)> {
        let classes = &elements.theories.classes;
        let rows = self.functions.get(&function).map_or(&[][..], |&symbol| classes.table(symbol));
        rows.iter().map(move |row| {
            let args = std::iter::zip(&row.args, domain);
            let args = args.map(|(&class, &sort)| elements.value(class, sort)).collect();
            (args, elements.value(row.result, range))
        })
    }
}

/// What the classes of congruence are.
struct Elements<'a> {
    store: &'a TermStore,
    theories: &'a CombinedModel,
    /// The numbers of the elements that classes are.
    numbers: FxHashMap<u32, u32>,
    /// How many elements of each declared sort there are.
    used: FxHashMap<Sort, u32>,
}

impl Elements<'_> {
    /// The value of a class as one of the sort. An integer that is cast to a real number has values of both sorts.
    fn value(&mut self, class: u32, sort: Sort) -> Value {
        let theories = self.theories;
        match sort {
            Sort::BOOL => Value::Bool(theories.classes.values[class as usize] == Some(euf::Node::TRUE)),
            Sort::INT | Sort::REAL => {
                let quantity = theories.quantities[class as usize].as_ref();
                number(sort, quantity.expect("classes of arithmetic sorts have shared members"))
            }
            _ => {
                let used = self.used.entry(sort).or_default();
                let element = *self.numbers.entry(class).or_insert_with(|| {
                    *used += 1;
                    *used - 1
                });
                self.store.uninterpreted_value(sort, element)
            }
        }
    }
}

fn number(sort: Sort, value: &Rational) -> Value {
    match sort {
        Sort::INT => Value::Int(value.to_integer().expect("integer variables have integer values")),
        _ => Value::Real(value.clone()),
    }
}
