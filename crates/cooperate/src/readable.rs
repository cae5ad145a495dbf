//! Readable models, checked in exactly the form in which they are printed.
//!
//! ```text
//! model from the way back -> readable form -> checker -> answer
//!                        \-> checker -> answer, if the checker accepts no readable form in time
//! ```
//!
//! Usually a model is checked only once. Enough time is always left for the plain form.

use std::time::Duration;

use shofar_horn::check::{Trust, Validity, check_model};
use shofar_horn::witness::Model;
use shofar_horn::{Context, HornSystem};

/// The part of the solving time that simplifying a model may take, and bounds on it.
const SHARE: u32 = 4;
const LEAST_TIME: Duration = Duration::from_millis(100);
const MOST_TIME: Duration = Duration::from_millis(400);

/// The least time for checking the readable form. The check may take as long as solving.
const LEAST_CHECK_TIME: Duration = Duration::from_secs(1);

/// The form in which a model is checked and returned.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ModelForm {
    /// As engines and translations built it.
    #[default]
    Plain,
    /// Simplified for people ([`Model::readable`]), if that does not take long.
    Readable,
}

impl ModelForm {
    /// The model in this form, or `None` if it has this form already. `time` is the solving time.
    pub fn of(self, context: &Context<'_>, model: &Model, time: Duration) -> Option<Model> {
        match self {
            ModelForm::Plain => None,
            ModelForm::Readable => {
                let budget = (time / SHARE).clamp(LEAST_TIME, MOST_TIME);
                Some(model.readable(&context.for_part(4, budget))).filter(|readable| readable != model)
            }
        }
    }
}

/// A checked model of another solver as people see it: readable and with the names of the clauses, if the checker accepts
/// that form, too. `time` is the time that the first check took.
pub fn for_people(context: &Context<'_>, system: &HornSystem, model: Model, time: Duration) -> Model {
    let named = model.with_names_of(context.store, system);
    let readable = ModelForm::Readable.of(context, &named, time);
    match check_forms(context, system, (named, readable), Trust::Proofs, time) {
        (form, Validity::Valid) => form,
        _ => model,
    }
}

/// Checks the other form of a model, if there is one, and the model itself if that fails. Returns the checked form.
pub(crate) fn check_forms(
    context: &Context<'_>,
    system: &HornSystem,
    (model, form): (Model, Option<Model>),
    trust: Trust,
    time: Duration,
) -> (Model, Validity) {
    if let Some(form) = form {
        let soon = context.for_part(2, time.max(LEAST_CHECK_TIME));
        if check_model(&soon, system, &form, trust) == Validity::Valid {
            return (form, Validity::Valid);
        }
    }
    let validity = check_model(context, system, &model, trust);
    (model, validity)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use shofar_horn::parse;
    use shofar_horn::witness::{Definition, parameters};
    use shofar_logic::{Term, TermStore};
    use shofar_run::Limits;

    use super::*;

    const CLAUSES: &[u8] = b"(declare-fun P (Int) Bool)
        (assert (P 0))
        (assert (forall ((x Int)) (=> (and (P x) (< x 5)) (P (+ x 1)))))
        (assert (forall ((x Int)) (=> (and (P x) (> x 5)) false)))";

    fn model(parameters: &[Term], body: Term) -> Model {
        Model {
            definitions: vec![Definition { parameters: parameters.into(), interpretation: body.into() }],
            ..Model::default()
        }
    }

    #[test]
    fn the_form_that_is_given_is_one_that_the_checker_found_valid() {
        let store = TermStore::new();
        let system = parse(&store, "test", CLAUSES).unwrap();
        let context = Context::new(&store);
        let parameters = parameters(&store, &system).remove(0);
        let at_most = |number: i64| store.le(parameters[0], store.int(number));
        let plain =
            model(&parameters, store.and2(at_most(5), store.not(store.gt(parameters[0], store.int(7)))));
        let check = |form: Option<Model>, context: &Context<'_>| {
            check_forms(context, &system, (plain.clone(), form), Trust::Proofs, Duration::ZERO)
        };
        assert!(ModelForm::Plain.of(&context, &plain, Duration::ZERO).is_none());
        let readable = ModelForm::Readable.of(&context, &plain, Duration::ZERO).expect("it is shorter");
        assert_eq!(check(Some(readable.clone()), &context), (readable, Validity::Valid));
        // A form that violates a clause, or is no definition at all, is not given.
        for wrong in [
            at_most(6),
            at_most(4),
            store.le(store.int(0), store.var(store.symbol("y"), store.sort_of(parameters[0]))),
        ] {
            assert_eq!(check(Some(model(&parameters, wrong)), &context), (plain.clone(), Validity::Valid));
        }
        assert_eq!(check(None, &context), (plain.clone(), Validity::Valid));
        let over = context.within(Limits { deadline: Some(Instant::now()), ..Limits::default() });
        assert!(matches!(check(Some(plain.clone()), &over), (_, Validity::Unknown(_))));
    }

    #[test]
    fn a_model_of_another_solver_is_shown_in_a_form_that_the_checker_accepts() {
        let store = TermStore::new();
        let system = parse(&store, "test", CLAUSES).unwrap();
        let context = Context::new(&store);
        let (x, made_up) = (parameters(&store, &system).remove(0), store.symbol("x!0"));
        let made_up: [Term; 1] = [store.var(made_up, store.sort_of(x[0]))];
        let at_most = |variable: Term, number: i64| store.le(variable, store.int(number));
        let body = store.and2(at_most(made_up[0], 5), store.not(store.gt(made_up[0], store.int(7))));
        let shown = |model: Model, context: &Context<'_>| for_people(context, &system, model, Duration::ZERO);
        assert_eq!(shown(model(&made_up, body), &context), model(&x, at_most(x[0], 5)));
        // If the checker accepts no other form, the model stays as it is.
        let wrong = model(&made_up, at_most(made_up[0], 4));
        assert_eq!(shown(wrong.clone(), &context), wrong);
        let over = context.within(Limits { deadline: Some(Instant::now()), ..Limits::default() });
        assert_eq!(shown(model(&made_up, body), &over), model(&made_up, body));
    }
}
