//! Circuits of all families, with and without their bug: the engines find what is known by construction.

mod families;

use std::time::{Duration, Instant};

use families::FAMILIES;
use shofar_hardware::btor2::blast::Blasted;
use shofar_hardware::btor2::evaluate::check_run;
use shofar_hardware::btor2::{Model, read};
use shofar_hardware::circuit::Property;
use shofar_hardware::solve::{ENGINES, Options, Verdict, solve};
use shofar_run::Limits;

fn circuit(text: &str) -> (Model, Blasted) {
    let model = read(text.as_bytes()).unwrap_or_else(|mistake| panic!("{mistake:?}\n{text}"));
    let blasted = Blasted::new(&model, &Limits::default()).unwrap();
    (model, blasted)
}

/// Whether the circuit is safe, if that is found out in the time. Counterexamples are evaluated over words as well.
fn verdict(model: &Model, blasted: &Blasted, options: &Options, time: Duration) -> Option<bool> {
    let limits = Limits { deadline: Some(Instant::now() + time), ..Limits::default() };
    match solve(&blasted.circuit, &blasted.circuit.bads, options, &limits).verdict {
        Verdict::Safe(_) => Some(true),
        Verdict::Unsafe(trace, fired) => {
            check_run(model, &[Property::Bad(fired)], &blasted.run(model, &trace)).unwrap();
            Some(false)
        }
        Verdict::Unknown(_) => None,
    }
}

#[test]
fn all_families_have_their_known_answers() {
    for family in FAMILIES {
        for size in [*family.sizes.start(), family.small] {
            for is_safe in [true, false] {
                let (model, blasted) = circuit(&family.text(size, is_safe));
                let found = verdict(&model, &blasted, &Options::default(), Duration::from_secs(120));
                assert_eq!(found, Some(is_safe), "{}, size {size}", family.name);
            }
        }
    }
}

/// By itself no engine says anything wrong, and each decides some of them.
#[test]
fn single_engines_are_never_wrong() {
    let mut decided = vec![0; ENGINES.len()];
    for family in FAMILIES {
        for is_safe in [true, false] {
            let (model, blasted) = circuit(&family.text(family.small, is_safe));
            for (engine, decided) in ENGINES.iter().zip(&mut decided) {
                let options = Options { engines: vec![*engine], jobs: Some(1) };
                let found = verdict(&model, &blasted, &options, Duration::from_millis(500));
                assert!(found.is_none_or(|found| found == is_safe), "{}: {}", engine.name, family.name);
                *decided += usize::from(found.is_some());
            }
        }
    }
    assert!(decided.iter().all(|&count| count >= 5), "{decided:?}");
}

/// The largest sizes are readable circuits too.
#[test]
fn large_designs_are_written_and_read() {
    for family in FAMILIES {
        let size = (*family.sizes.end()).min(if family.name == "fifo" { 8 } else { 60 });
        for is_safe in [true, false] {
            let (_, blasted) = circuit(&family.text(size, is_safe));
            let latches = blasted.circuit.latches.len();
            assert!(latches >= size, "{}: {latches} latches", family.name);
        }
    }
}
