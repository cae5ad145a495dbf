//! From a text to a printed and checked invariant, and what the library says about each misuse.

use shofar::{Limits, Options, Sort, System, SystemBuilder, Verdict};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = String::from(
        "(declare-fun count (Int) Bool)
         (assert (count 0))
         (assert (forall ((x Int)) (=> (and (count x) (< x 5)) (count (+ x 1)))))
         (assert (forall ((x Int)) (=> (and (count x) (> x 5)) false)))",
    );
    let system = System::parse("count.smt2", &text)?;
    let Verdict::Sat(model) = system.solve(&Options::new()).verdict else { return Err("not decided".into()) };
    print!("{model}");
    system.check(&model.clone().into(), &Limits::new())?;
    println!("The checker accepts the model.");

    let (other, mut clauses) = (System::parse("other.smt2", &text)?, SystemBuilder::new());
    let (p, x) = (clauses.predicate("p", &[Sort::Int])?, system.terms().variable("x", &Sort::Int)?);
    let count = system.predicate("count").ok_or("count is declared")?;
    println!("engine: {}", Options::new().engines("spaser").unwrap_err());
    println!("option: {}", Options::new().set("bmc", "depth", "3").unwrap_err());
    println!("value: {}", Options::new().set("imc", "rounds", "many").unwrap_err());
    println!("pass: {}", Options::new().passes("standart").unwrap_err());
    println!("text: {}", System::parse("wrong.smt2", "(assert\n  (missing 1))").unwrap_err());
    println!("term: {}", clauses.clause().atom(p, &[&x]).implies_false().unwrap_err());
    println!("sort: {}", x.add(true).unwrap_err());
    println!("predicate: {}", other.name(count).unwrap_err());
    println!("system: {}", other.check(&model.into(), &Limits::new()).unwrap_err());
    Ok(())
}
