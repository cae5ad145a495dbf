//! An answer comes with exactly the witness that the checker saw, also as text.

use std::time::Duration;

use shofar_cooperate::driver::{Options, Verdict, solve};
use shofar_cooperate::{ModelForm, Run};
use shofar_horn::check::{Trust, check_model, check_refutation};
use shofar_horn::witness::{Witness, WitnessFormat, read};
use shofar_horn::{Context, check, parse_within};
use shofar_logic::TermStore;
use shofar_logic::smtlib::Environment;
use shofar_run::Stop;
use shofar_testing::Random;
use shofar_testing::systems::{Shape, system};

#[test]
fn the_text_of_a_witness_is_the_witness_that_the_checker_finds_valid() {
    let mut random = Random::new(16);
    let (mut models, mut refutations) = (0, 0);
    for round in 0..60 {
        let shape = if round % 3 == 0 { Shape::NONLINEAR } else { Shape::LINEAR };
        let text = system(&mut random, &shape);
        let store = TermStore::new();
        let context = Context::new(&store);
        let parse = |environment: &mut Environment| {
            parse_within(&context, environment, "test", text.as_bytes()).expect("the clauses are right")
        };
        let system = parse(&mut Environment::new(&store));
        let model = if round % 2 == 0 { ModelForm::Readable } else { ModelForm::Plain };
        let options = Options { model, ..Options::default() };
        let run = Run::new(&store).with_timeout(Duration::from_secs(10));
        let witness = match solve(&system, &options, &run).verdict {
            Verdict::Sat(model) => {
                models += 1;
                assert_eq!(check_model(&context, &system, &model, Trust::Proofs), check::Validity::Valid);
                Witness::Model(model)
            }
            Verdict::Proved(_) | Verdict::Saturated(_) => panic!("numbers have models"),
            Verdict::Unsat(refutation) => {
                refutations += 1;
                assert_eq!(check_refutation(&context, &system, &refutation), check::Validity::Valid);
                Witness::Refutation(refutation)
            }
            Verdict::Unknown(Stop::Internal(what)) => panic!("{what}"),
            Verdict::Unknown(_) => continue,
        };
        for format in [WitnessFormat::Text, WitnessFormat::Json] {
            let written = witness.to_text(&store, &system, format);
            // A witness is read with the names that the clauses have declared.
            let mut environment = Environment::new(&store);
            let system = parse(&mut environment);
            let again = read(&store, &mut environment, &system, "witness", written.as_bytes());
            assert_eq!(again.as_ref(), Ok(&witness), "{written}");
        }
    }
    assert!(models >= 10 && refutations >= 10, "{models} and {refutations}");
}
