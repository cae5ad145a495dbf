//! Model search by trial: all assignments to a few Booleans, and some small ones to all other symbols.

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Assignment, ConstructorId, Evaluator, Interpretation, Op, Sort, Term, TermStore, Value};
use shofar_testing::Random;

/// Up to this many Booleans, all assignments are tried.
const MOST_EXHAUSTIVE: usize = 6;

/// The number of assignments tried otherwise.
const TRIES: u64 = 24;

/// The maximal number of subterms of formulas that are tried.
const LARGEST: usize = 400;

/// An assignment that satisfies all formulas, if a tried one does.
pub(crate) fn search(store: &TermStore, formulas: &[Term], random: &mut Random) -> Option<Assignment> {
    let subterms = store.subterms(formulas);
    if subterms.len() > LARGEST {
        return None;
    }
    let symbols = store.symbols(formulas);
    let constants = subterms.iter().filter(|&&term| matches!(store.view(term), (Op::Apply(_), []))).copied();
    let constants: Vec<Term> = symbols.vars.iter().copied().chain(constants).collect();
    let is_boolean = constants.iter().all(|&symbol| store.sort_of(symbol) == Sort::BOOL);
    let is_exhaustive = is_boolean && constants.len() <= MOST_EXHAUSTIVE;
    for number in 0..if is_exhaustive { 1 << constants.len() } else { TRIES } {
        // The first rounds use small numbers.
        let spread = 1 + number as i64 / 6;
        let mut assignment = Assignment::new();
        for (at, &symbol) in constants.iter().enumerate() {
            let value = match is_exhaustive {
                true => Value::Bool(number >> at & 1 == 1),
                false => value(store, store.sort_of(symbol), spread, random),
            };
            assignment.set(symbol, value);
        }
        for &fun in &symbols.funs {
            let decl = store.fun_decl(fun);
            if !decl.domain.is_empty() {
                let default = Some(value(store, decl.range, spread, random));
                let entries = Default::default();
                assignment.set_function(fun, Interpretation::Table { entries, default });
            }
        }
        for op in [Op::IntDiv, Op::Mod] {
            assignment.set_open_default(op, Value::Int(random.between(-spread, spread).into()));
        }
        assignment.set_open_default(Op::RealDiv, value(store, Sort::REAL, spread, random));
        for &term in &subterms {
            if let op @ Op::Selector { .. } = store.op(term) {
                assignment.set_open_default(op, value(store, store.sort_of(term), spread, random));
            }
        }
        let mut evaluator = Evaluator::new(store, &assignment);
        if formulas.iter().all(|&formula| evaluator.eval(formula) == Ok(Value::Bool(true))) {
            return Some(assignment);
        }
    }
    None
}

fn value(store: &TermStore, sort: Sort, spread: i64, random: &mut Random) -> Value {
    match sort {
        Sort::BOOL => Value::Bool(random.below(2) == 0),
        Sort::INT => Value::Int(random.between(-spread, spread).into()),
        Sort::REAL => {
            let (numerator, denominator) = (random.between(-2 * spread, 2 * spread), 1 + random.below(2));
            Value::Real(Rational::new(numerator.into(), Integer::from(denominator as i64)))
        }
        _ => match (store.datatype(sort), store.array_parts(sort)) {
            (Some(datatype), _) => tree(store, sort, datatype.constructors(), spread, random),
            (None, Some((index, element))) => array(store, sort, (index, element), spread, random),
            (None, None) => store.uninterpreted_value(sort, random.below(3) as u32),
        },
    }
}

/// The least value of a datatype, wrapped in a few constructors.
fn tree(
    store: &TermStore,
    sort: Sort,
    constructors: &[ConstructorId],
    spread: i64,
    random: &mut Random,
) -> Value {
    let mut last = store.default_value(sort);
    for _ in 0..random.below(4) {
        let &constructor = random.choose(constructors);
        let fields = store.constructor(constructor).fields.iter();
        let fields: Vec<Term> = fields
            .map(|&(_, field)| match () {
                () if field == sort => store.value_to_term(&last),
                () if store.datatype(field).is_some() => store.value_to_term(&store.default_value(field)),
                () => store.value_to_term(&value(store, field, spread, random)),
            })
            .collect();
        last = Value::Term(store.app(Op::Construct(constructor), &fields).expect("the fields fit"));
    }
    last
}

/// A constant array with a few writes.
fn array(
    store: &TermStore,
    sort: Sort,
    (index, element): (Sort, Sort),
    spread: i64,
    random: &mut Random,
) -> Value {
    let mut some = |sort: Sort| store.value_to_term(&value(store, sort, spread, random));
    let element_of_all = some(element);
    let mut array = store.app(Op::ConstArray(sort), &[element_of_all]).expect("the element fits");
    for _ in 0..2 {
        let args = [array, some(index), some(element)];
        array = store.app(Op::Store, &args).expect("the index and the element fit");
    }
    store.eval(array, &Assignment::new()).expect("it has no symbols")
}
