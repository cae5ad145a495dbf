//! Listens to the engines, and ends the run from another thread.

use std::error::Error;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use shofar::{Event, Options, System, Verdict};

/// Two multiplications that agree. They have a model, but none in linear arithmetic: the search never ends.
const CLAUSES: &str = "
    (declare-fun A (Int Int Int) Bool) (declare-fun B (Int Int Int) Bool)
    (assert (forall ((y Int)) (A 0 y 0)))
    (assert (forall ((x Int) (y Int) (z Int)) (=> (A x y z) (A (+ x 1) y (+ z y)))))
    (assert (forall ((y Int)) (B 0 y 0)))
    (assert (forall ((x Int) (y Int) (z Int)) (=> (B x y z) (B (+ x 1) y (+ z y)))))
    (assert (forall ((x Int) (y Int) (z Int) (w Int)) (=> (and (A x y z) (B x y w) (not (= z w))) false)))";

pub(crate) fn run(patience: Duration, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let system = System::parse("product.smt2", CLAUSES)?;
    // The greatest depth that an engine has reported.
    let (deepest, cancel) = (AtomicU64::new(0), AtomicBool::new(false));
    let listener = |event: Event| {
        if let Event::Progress { depth, .. } = event {
            deepest.fetch_max(depth, Ordering::Relaxed);
        }
    };
    let options = Options::new().events(&listener).cancel(&cancel);
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(patience);
            cancel.store(true, Ordering::Relaxed);
        });
        system.solve(&options)
    });
    if let Verdict::Unknown(reason) = outcome.verdict {
        writeln!(out, "{reason} at depth {}", deepest.load(Ordering::Relaxed))?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(Duration::from_secs(2), &mut io::stdout().lock())
}
