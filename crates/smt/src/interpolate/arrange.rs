//! Projection of formulas with function applications, by an arrangement of their arguments read off a model.
//!
//! To eliminate the local symbols of a cube of A, applications become variables, as in Ackermann's reduction. The model
//! decides which arguments are equal:
//!
//! ```text
//! cube          literals that imply A in the model, with a name for each application
//! faces         p <= c becomes p = c or p < c, whichever is true, so that equalities between numbers become explicit
//! arrangement   for applications of one function: their arguments and names are equal, or some argument differs
//! definitions   a local symbol that an equality defines is replaced, in the arguments of applications, too
//! shared        an application is shared if its function and by now its arguments are
//! project       the other names and local symbols are eliminated; shared names become applications again
//! ```
//!
//! By the definitions, if an argument `x` of A must equal one of B, a shared term `t` with `x = t` in A replaces `x`.
//! Real arithmetic has such a term for each implied equality, and on a face of the cube it can be read off the
//! equations. Over the integers it may be hidden in a divisibility. Facts about an application at an argument without
//! such a term are lost.
//!
//! The result is true in the model and over shared symbols. The caller must check that it contradicts B.
//!
//! Equalities between theories by shared terms: G. Yorsh, M. Musuvathi, "A combination method for generating
//! interpolants" (CADE 2005).

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, Evaluator, Op, Substitution, Term, TermStore, Value};

use super::colour::Colours;
use crate::project::definition::definition;
use crate::project::{ProjectError, Projector, supports_sort};
use crate::theory::claims::is_application;

/// Whether a function is applied in a normal formula.
pub(super) fn has_applications(store: &TermStore, formula: Term) -> bool {
    store.subterms(&[formula]).iter().any(|&term| is_arranged(store, term))
}

/// Whether the term is an application that projection does not know: of a function other than those of datatypes and
/// arrays.
fn is_arranged(store: &TermStore, term: Term) -> bool {
    let is_of_datatype = matches!(store.op(term), Op::Construct(_) | Op::Selector { .. } | Op::Tester(_));
    let is_of_arrays = matches!(store.op(term), Op::Select | Op::Store | Op::ConstArray(_));
    !is_of_datatype && !is_of_arrays && is_application(store, term)
}

/// Projects `formula`, a normal formula of A, in its model: returns a cube over shared symbols that is true in the
/// model. `locals` are the variables local to A.
pub(super) fn project(
    projector: &mut Projector<'_>,
    colours: &mut Colours<'_>,
    store: &TermStore,
    formula: Term,
    model: &Assignment,
    locals: &[Term],
) -> Result<Vec<Term>, ProjectError> {
    let literals = projector.implicant(formula, model, locals)?;
    let mut cube = Cube::new(store, &literals, model)?;
    cube.restrict_to_faces()?;
    cube.arrange()?;
    let names: Vec<Term> = cube.applications.iter().map(|application| application.name).collect();
    cube.define(locals);
    loop {
        let (shared, equations) = cube.shared(colours);
        let others: Vec<Term> = names.iter().copied().filter(|name| shared.get(*name).is_none()).collect();
        if cube.define(&others) {
            continue;
        }
        let gone: Vec<Term> = locals.iter().copied().chain(others).collect();
        cube.formulas.extend(equations);
        cube.forget_elements(&gone);
        let result = projector.project_cube(&cube.formulas, &cube.model, &gone)?.literals;
        return Ok(store.instantiate_all(&result, &shared));
    }
}

/// An application of a function to arguments over names.
struct Application {
    function: Op,
    args: Vec<Term>,
    /// The variable that stands for it.
    name: Term,
    /// The name, or the term that replaced it.
    value: Term,
}

/// Formulas without applications that are true in the model.
struct Cube<'s> {
    store: &'s TermStore,
    formulas: Vec<Term>,
    applications: Vec<Application>,
    /// The model, with values for the names.
    model: Assignment,
}

impl<'s> Cube<'s> {
    fn new(store: &'s TermStore, literals: &[Term], model: &Assignment) -> Result<Self, ProjectError> {
        let mut cube = Cube { store, formulas: Vec::new(), applications: Vec::new(), model: model.clone() };
        let mut evaluator = Evaluator::new(store, model);
        let mut images: FxHashMap<Term, Term> = FxHashMap::default();
        let mut known: FxHashMap<(Op, Vec<Term>), Term> = FxHashMap::default();
        for term in store.subterms(literals) {
            let args: Vec<Term> = store.args(term).iter().map(|arg| images[arg]).collect();
            let image = match store.op(term) {
                function if is_arranged(store, term) => match known.get(&(function, args.clone())) {
                    Some(&name) => name,
                    None => {
                        let value = evaluator.eval(term).map_err(ProjectError::NoValue)?;
                        let name = store.var(store.fresh_symbol("application"), store.sort_of(term));
                        cube.model.set(name, value);
                        known.insert((function, args.clone()), name);
                        cube.applications.push(Application { function, args, name, value: name });
                        name
                    }
                },
                _ if args == store.args(term) => term,
                op => store.build(op, &args).expect("names have the sorts of their applications"),
            };
            images.insert(term, image);
        }
        cube.formulas = literals.iter().map(|literal| images[literal]).collect();
        Ok(cube)
    }

    fn value(&self, term: Term) -> Result<Value, ProjectError> {
        self.store.eval(term, &self.model).map_err(ProjectError::NoValue)
    }

    /// Compares two terms in the model: whether they are equal, and a true literal that says so or orders them.
    fn comparison(&self, left: Term, right: Term) -> Result<(bool, Term), ProjectError> {
        let store = self.store;
        let (left_value, right_value) = (self.value(left)?, self.value(right)?);
        Ok(match (&left_value, &right_value) {
            _ if left_value == right_value => (true, store.eq(left, right)),
            (Value::Int(low), Value::Int(high)) if low < high => (false, store.lt(left, right)),
            (Value::Real(low), Value::Real(high)) if low < high => (false, store.lt(left, right)),
            (Value::Int(_) | Value::Real(_), _) => (false, store.lt(right, left)),
            _ => (false, store.not(store.eq(left, right))),
        })
    }

    fn restrict_to_faces(&mut self) -> Result<(), ProjectError> {
        for at in 0..self.formulas.len() {
            let formula = self.formulas[at];
            let (atom, holds) = self.store.literal(formula);
            let is_equation = holds && self.store.op(atom) == Op::Eq;
            if let (Op::Le | Op::Lt | Op::Eq, &[left, right]) = self.store.view(atom)
                && self.store.sort_of(left).is_arithmetic()
                && !is_equation
            {
                self.formulas[at] = self.comparison(left, right)?.1;
            }
        }
        Ok(())
    }

    fn arrange(&mut self) -> Result<(), ProjectError> {
        let mut arrangement = Vec::new();
        for (at, one) in self.applications.iter().enumerate() {
            for other in self.applications[..at].iter().filter(|other| other.function == one.function) {
                let pairs = std::iter::zip(&one.args, &other.args);
                let pairs = pairs.map(|(&left, &right)| self.comparison(left, right));
                let pairs = pairs.collect::<Result<Vec<(bool, Term)>, ProjectError>>()?;
                match pairs.iter().find(|(is_equal, _)| !is_equal) {
                    Some(&(_, difference)) => arrangement.push(difference),
                    None => {
                        arrangement.extend(pairs.into_iter().map(|(_, equality)| equality));
                        arrangement.push(self.store.eq(one.name, other.name));
                    }
                }
            }
        }
        self.formulas.extend(arrangement);
        Ok(())
    }

    /// Replaces the given variables that equalities define. Returns whether it replaced one.
    fn define(&mut self, vars: &[Term]) -> bool {
        let store = self.store;
        let mut is_changed = false;
        for &var in vars {
            let mut formulas = self.formulas.iter().enumerate();
            let found = formulas.find_map(|(at, &formula)| Some((at, definition(store, formula, var)?)));
            let Some((at, term)) = found else { continue };
            self.formulas.remove(at);
            let image = Substitution::from_iter([(var, term)]);
            self.formulas = store.instantiate_all(&self.formulas, &image);
            for application in &mut self.applications {
                application.args = store.instantiate_all(&application.args, &image);
                application.value = store.instantiate_all(&[application.value], &image)[0];
            }
            is_changed = true;
        }
        is_changed
    }

    /// Maps each name in use whose application has become shared to that application. For other shared applications,
    /// returns an equation with their value.
    fn shared(&self, colours: &mut Colours<'_>) -> (Substitution, Vec<Term>) {
        let store = self.store;
        let (mut shared, mut equations) = (Substitution::new(), Vec::new());
        let mut open: Vec<&Application> = self.applications.iter().collect();
        loop {
            let before = open.len();
            open.retain(|Application { function, args, name, value }| {
                let args = store.instantiate_all(args, &shared);
                let term =
                    store.app(*function, &args).expect("arguments are replaced by terms of their sorts");
                if !colours.at(0, term).b {
                    return true;
                }
                if name == value {
                    shared.insert(*name, term);
                } else {
                    equations.push(store.eq(term, *value));
                }
                false
            });
            if open.len() == before {
                return (shared, equations);
            }
        }
    }

    /// Drops formulas about variables of sorts without elimination: disequalities with other elements.
    fn forget_elements(&mut self, vars: &[Term]) {
        let store = self.store;
        let has_elimination = |var: &Term| supports_sort(store, store.sort_of(*var));
        let elements: Vec<Term> = vars.iter().copied().filter(|var| !has_elimination(var)).collect();
        if !elements.is_empty() {
            self.formulas
                .retain(|&formula| !store.subterms(&[formula]).iter().any(|part| elements.contains(part)));
        }
    }
}
